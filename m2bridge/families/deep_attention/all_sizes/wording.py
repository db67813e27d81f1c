"""What verdicts for all sizes rest on, in words."""

from __future__ import annotations

from pathlib import Path

from m2bridge.certificate.wording import wording

WORDS = wording(Path(__file__).parent / "words.toml")

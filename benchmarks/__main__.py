"""All benchmarks in one go, each with its default number of rounds: ``python benchmarks``,
optionally ``--m2 PATH``.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

for benchmark in ("session", "conversation", "closures", "cross_check", "batch"):
    subprocess.run(
        [sys.executable, Path(__file__).with_name(f"{benchmark}.py"), *sys.argv[1:]], check=True
    )

"""What packages and folders of release 1.0 rely on: names of modules, and those of functions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import plug_in

PLUG_IN_1_0 = Path(__file__).parents[1] / "plug_in_1_0"


CERTIFY = """
from m2bridge import certify, verify
from m2bridge.families.registry import family
model = family("rational-normal-curve").from_options({"n": "3"})
certificate = certify(model, "dimension")
print(verify(certificate).outcome, certificate.answer["verdicts"][0]["verdict"])
"""


@pytest.mark.slow
def test_a_package_for_release_1_0_works(tmp_path: Path) -> None:
    """In a process of its own, where nothing was imported by its present name."""
    plug_in.install(tmp_path, PLUG_IN_1_0)
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{CERTIFY}"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["accepted", "CONFIRMED"], done.stderr

"""What names this release agrees, and where it does not, it is named."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from m2bridge._version import __version__
from tests.release import ROOT, problems

FILES = ("CHANGELOG.md", "CITATION.cff", "constraints.txt", "pyproject.toml")


def test_all_agrees() -> None:
    assert problems(tag=f"v{__version__}", released=True) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "problem"),
    [
        ("CHANGELOG.md", f"## {__version__}", "## 9.9.9", "CHANGELOG.md does not begin"),
        ("CITATION.cff", f"\nversion: {__version__}", "\nversion: 9.9.9", "CITATION.cff is of"),
        ("constraints.txt", "click==", "clack==", "no version of click"),
        ("constraints.txt", "click==8", "click==7", "has click 7"),
        (
            "constraints.txt",
            "passagemath-macaulay2==10.8.11",
            "passagemath-macaulay2==10.8.10",
            "pin",
        ),
    ],
)
def test_what_differs_is_named(tmp_path: Path, file: str, old: str, new: str, problem: str) -> None:
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path)
    text = (tmp_path / file).read_text(encoding="utf-8")
    assert old in text
    (tmp_path / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    (found,) = problems(tmp_path)
    assert problem in found


def test_another_tag_is_refused() -> None:
    assert problems(tag="v9.9.9") == [f"the tag v9.9.9 is not v{__version__}"]

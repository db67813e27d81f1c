"""The programs and notebooks of ``examples/`` run, and give what they say."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.events import PATIENCE
from tests.examples import ROOT

pytestmark = pytest.mark.slow

EXAMPLES = ROOT / "examples"
PROGRAMS = sorted(EXAMPLES.glob("*.py"))
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
SAID = "\n# It prints:\n"
"""What stands above the output of a program, at its end."""
VALUE = re.compile(r"  # (.*)\s*\Z")
"""The value of a cell, behind its last line."""


def words(text: str) -> list[str]:
    return text.split()


def test_there_are_eleven_programs_and_two_notebooks_and_the_gallery_has_all() -> None:
    gallery = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert (len(PROGRAMS), len(NOTEBOOKS)) == (11, 2)
    assert [file.name for file in PROGRAMS + NOTEBOOKS if f"`{file.name}`" not in gallery] == []


@pytest.mark.parametrize("file", PROGRAMS, ids=lambda file: file.stem)
def test_a_program_prints_what_it_says(
    file: Path, m2: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("M2BRIDGE_M2", m2)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    command = [sys.executable, str(file)]
    done = subprocess.run(command, timeout=PATIENCE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = file.read_text(encoding="utf-8").partition(SAID)[2]
    assert words(done.stdout) == words(re.sub("^#", "", said, flags=re.MULTILINE))


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_runs_and_its_cells_have_the_values_that_they_say(
    file: Path, m2: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("IPython", reason="IPython is not installed: pip install '.[notebook]'")
    from IPython.core.interactiveshell import InteractiveShell

    monkeypatch.setenv("M2BRIDGE_M2", m2)
    shell = InteractiveShell()
    compared = 0
    for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        source = "".join(cell["source"])
        result = shell.run_cell(source)
        assert result.success, source
        if said := VALUE.search(source):
            assert str(result.result) == said[1]
            compared += 1
    shell.run_cell("%unload_ext m2bridge")
    assert compared

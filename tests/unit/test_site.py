"""The pages of the documentation say what the program says; that they are built without warnings is for ``.ci/run``."""

from __future__ import annotations

import re
import signal
import subprocess
import tomllib
from pathlib import Path

import pytest

import m2bridge
import m2bridge.values
from m2bridge.cli import output

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def text(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def test_every_public_name_is_in_the_reference_once() -> None:
    pages = text("reference/api.rst").split(".. currentmodule:: m2bridge.values\n")
    own, values = (sorted(re.findall(r"^   (\w+)$", page, re.MULTILINE)) for page in pages)
    assert own == sorted(name for name in m2bridge.__all__ if name != "__version__")
    assert values == sorted(m2bridge.values.__all__)


def test_every_exit_code_is_in_the_reference() -> None:
    rows = re.findall(r"^\| ([0-9, ]+) \|", text("reference/exit-codes.md"), re.MULTILINE)
    codes = [int(code) for row in rows for code in row.split(",")]
    own = (output.DONE, output.REFUTED, output.USAGE, output.UNDECIDED, output.NO_ENGINE, output.FAILED)
    signals = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGPIPE)
    assert codes == [*own, *(128 + number for number in signals)]
    assert 128 + signal.SIGINT == output.INTERRUPTED


def test_documentation_and_examples_are_in_the_source_distribution() -> None:
    """What is in fact in it is looked at in ``.ci/run``, which builds it."""
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert {"docs", "examples"} <= set(options["tool"]["hatch"]["build"]["targets"]["sdist"]["include"])


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda path: path.stem)
def test_no_page_takes_anything_from_elsewhere(page: Path) -> None:
    """Links may lead elsewhere; pictures, scripts and styles may not."""
    assert not re.search(r"!\[[^]]*\]\(\w+:|(?:src|@import)\W+https?:", page.read_text(encoding="utf-8"))


def test_the_index_names_no_page_that_is_not_there() -> None:
    blocks = re.findall(r"```\{toctree\}\n(?::[^\n]*\n)*\n(.*?)```", text("index.md"), re.DOTALL)
    named = [line for block in blocks for line in block.split("\n") if line and line != "(other pages)"]
    assert len(named) == len(set(named)) > 15
    assert [name for name in named if not list(DOCS.glob(f"{name}.*"))] == []


def test_the_script_for_slurm_is_a_script() -> None:
    script = ROOT / "examples" / "slurm.sh"
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0

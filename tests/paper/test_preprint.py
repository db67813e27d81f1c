"""The preprint and the paper: every number is printed by the command that is named beside it; the preprint compiles."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from m2bridge.cli.commands import cli

PAPER = Path(__file__).parents[2] / "paper"
COMPUTED = re.compile(r"\\computed\{((?:[^{}]|\{[^{}]*\})*)\}\{m2bridge ([^{}]*)\}")
NAMED = re.compile(r"`m2bridge ([^`]*)`")


def numbers() -> dict[str, set[str]]:
    """Return what each command has to print: numbers of the preprint, and of the sentence before it in the paper."""
    printed: dict[str, set[str]] = {}
    for words, command in COMPUTED.findall((PAPER / "preprint.tex").read_text(encoding="utf-8")):
        printed.setdefault(command, set()).add(words.replace("$", "").replace("\\le", "≤").replace("  ", " "))
    text = (PAPER / "paper.md").read_text(encoding="utf-8")
    for item in re.findall(r"^\* .*(?:\n  .*)*", text, re.MULTILINE):
        end = 0
        for match in NAMED.finditer(item):
            sentence = re.sub(r"(Eq\.|Theorem|Conjecture) [\d.]+", "", item[end : match.start()])
            printed.setdefault(match[1], set()).update(re.findall(r"\b\d{2,}\b", sentence))
            end = match.end()
    return printed


def test_the_paper_names_commands_with_numbers() -> None:
    assert sum(bool(words) for words in numbers().values()) >= 6


@pytest.mark.engine
@pytest.mark.parametrize("command", sorted(numbers()))
def test_each_number_is_printed_by_its_command(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli, shlex.split(command))
    assert result.exit_code in (0, 1), result.output
    for words in numbers()[command]:
        assert re.search(rf"(?<![0-9]){re.escape(words)}(?![0-9])", result.output), (words, result.output)


def test_the_preprint_compiles(tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        reason = "pdflatex is not on PATH: apt-get install texlive-latex-base texlive-latex-recommended"
        pytest.fail(reason) if os.environ.get("M2BRIDGE_TEX") == "required" else pytest.skip(reason)
    command = [
        "pdflatex",
        "-interaction=nonstopmode",
        "-halt-on-error",
        f"-output-directory={tmp_path}",
        str(PAPER / "preprint.tex"),
    ]
    for _ in range(2):
        run = subprocess.run(
            [*command, str(PAPER / "preprint.tex")], capture_output=True, text=True, errors="replace", check=False
        )
        assert run.returncode == 0, run.stdout[-2000:]
    assert not re.search(r"undefined|multiply defined|Overfull \\hbox \(([1-9]\d)", run.stdout)
    pages = re.search(r"Output written on .*\((\d+) pages", run.stdout.replace("\n", ""))
    assert pages is not None
    assert 8 <= int(pages[1]) <= 15

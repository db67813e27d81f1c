"""Words of users and files are words everywhere: no markup, no commands to a terminal."""

import io
import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from m2bridge import reports as report
from m2bridge.certificates import files
from m2bridge.cli import commands
from m2bridge.cli.output import progress
from m2bridge.results import markup as escape

ACCEPTED = Path(__file__).parents[1] / "certificates" / "accepted"
NASTY = "\x1b]0;owned\x07\x1b[2J \x9b1m \u202e [/b] <b>&lt;</b> =1+1 | $x$ \\input{a}"


class Terminal(io.StringIO):
    """Standard error on a terminal."""

    def isatty(self) -> bool:
        return True


def test_words_of_a_user_are_no_markup_of_the_progress_display(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress("image of [/b] [red]:smile:\x1b]0;owned\x07"):
        pass
    shown = terminal.getvalue()
    assert "[/b] [red]:smile:\\x1b]0;owned\\x07" in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown).replace("\n", "")
    assert "\x1b]0;" not in shown


@pytest.mark.parametrize("form", report.FORMATS)
def test_what_certificates_trust_commands_no_terminal(form: str, tmp_path: Path) -> None:
    certificate = files.read(ACCEPTED / "d3-dout2-a2-t2-3.4.json")
    files.write(replace(certificate, trusted=[*certificate.trusted, NASTY]).sealed(), tmp_path)
    (tmp_path / f"{NASTY.replace('/', '')}.json").write_text("{}", encoding="utf-8")
    text = report.FORMATS[form](report.collect(tmp_path))
    assert not {"\x1b", "\x07"} & set(text)
    if form != "json":  # which is escaped when it is printed: escapes in it belong to the values
        assert all(sign.isprintable() or sign == "\n" for sign in text)
    assert "<b>" not in text or form not in ("html", "markdown")


def test_marks_of_markdown() -> None:
    assert escape.markdown("a*b_c|<i>&amp;$x$ `y` [z](w)") == r"a\*b\_c\|\<i\>\&amp;\$x\$ \`y\` \[z\](w)"
    for text, written in [
        ("- x", r"\- x"),
        ("# x", r"\# x"),
        ("1. x", r"1\. x"),
        ("0.123", "0.123"),
        ("a - b", "a - b"),
    ]:
        assert escape.markdown(text) == written


@pytest.mark.parametrize("sign", "=+-@＝＋－＠")
def test_cells_that_a_spreadsheet_would_compute(sign: str) -> None:
    assert escape.cell(f"{sign}1+1").startswith("'")
    assert escape.cell(f" {sign}1+1") == f" {sign}1+1"


def test_error_messages(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    case = ["--d", "2", "--d-out", "1"]
    for arguments in (
        ["closure", *case, "--field", NASTY],
        ["closure", *case, "--d", "9" * 4000],
        ["closure", *case, "--d", "9" * 5000],
        ["implicitize", NASTY],
        ["membership", *case, "--function", json.dumps({NASTY: 1})],
        [NASTY],
    ):
        monkeypatch.setattr(sys, "argv", ["m2bridge", *arguments])
        assert commands.run() == 2
        said = capsys.readouterr().err
        assert said.removesuffix("\n").isprintable()
        assert len(said) < 1000

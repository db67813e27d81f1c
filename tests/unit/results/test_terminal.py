"""What a terminal shows: help, completion, and tables that fit its width."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import click
import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner
from rich.cells import cell_len

from m2bridge.cli.commands import COMMANDS, SECTIONS, cli
from m2bridge.results.sheet import Facts, Finding, Findings, Polynomials, Sheet, Table
from m2bridge.results.terminal import terminal_text

CERTIFICATES = Path(__file__).parents[2] / "certificates"
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
WORDS = (
    "the rank attains an upper bound that is proved for all sizes at once by the lemma of the"
    " tangent space"
)
SHEET = Sheet(
    f"Title: {WORDS}",
    [
        Facts([("dimension", 5), ("computed by", WORDS), ("nothing", None)]),
        Table(
            ("rk A", "dimension of the orbit", "fibre", "Theorem 3.4 (iii) says", ""),
            [(1, 13, "= 20", "singular", WORDS), (22, 7, "–", "smooth", "[bold]no markup[/]")],
            "Orbits",
        ),
        Table(("empty",), []),
        Polynomials(
            2,
            lambda: ["x**2 - " + " + ".join(f"{n}*y_{n}" for n in range(30)), "[x]"],
            "generators",
        ),
        Findings([Finding("REFUTED", "3.4 (iii)", WORDS, [WORDS], ["witness: A = (1 0; 0 0)"])]),
    ],
)


def lines(text: str) -> list[str]:
    return ESCAPE.sub("", text).splitlines()


@pytest.mark.parametrize("width", [1, 20, 33, 40, 60])
def test_a_narrow_terminal_leaves_no_value_out(width: int) -> None:
    long_names = Facts([("redundant directions of the whole network", "1357"), ("short", "2468")])
    signs = "abcdefghijklmnopqrstuvwxyz"
    table = Table(["column"] * len(signs), [tuple(signs)])
    shown = lines(terminal_text(Sheet("Title", [long_names, table]), width=width))
    assert {"1357", "2468"} <= set(" ".join(shown).split())
    assert shown[-1].split() == list(signs)


@pytest.mark.parametrize("width", [40, 60, 80, 120, 300])
def test_every_line_fits_and_no_word_is_lost(width: int) -> None:
    shown = lines(terminal_text(SHEET, width=width))
    assert max(map(cell_len, shown)) <= width
    if width >= 60:  # where no word has to be broken
        missing = set(SHEET.text().replace("─", "").split()) - set(" ".join(shown).split())
        assert not missing


@pytest.mark.parametrize("width", [60, 80, 120, 300])
def test_columns_stay_columns(width: int) -> None:
    """What goes on in a cell begins where the cell begins."""
    shown = lines(terminal_text(SHEET, width=width))
    rows = [line for line in shown if re.match(r" +(1|22) +(13|7) +", line)]
    first, second = rows
    assert first.index("singular") == second.index("smooth")
    start = second.index("[bold]")
    assert first[start:].startswith("the rank")
    below = shown[shown.index(first) + 1 : shown.index(second)]
    assert all(not line[:start].strip() and line[start] != " " for line in below)
    assert bool(below) == (width < 200)


def test_all_polynomials_are_left_to_the_terminal() -> None:
    assert SHEET.blocks[3].text(None) in ESCAPE.sub("", terminal_text(SHEET, None, width=40))


def on_terminal(width: int, *arguments: str, **variables: str) -> str:
    """What a command writes to a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    command = [sys.executable, "-m", "m2bridge", *arguments]
    with subprocess.Popen(
        command, stdout=theirs, stdin=theirs, env={**environment, "TERM": "xterm", **variables}
    ):
        os.close(theirs)
        shown = b""
        while True:
            try:
                read = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not read:
                break
            shown += read
    os.close(ours)
    return shown.decode()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "arguments"),
    [
        (120, ["dimension", "--d", "2", "--d-out", "1"]),
        (80, ["verify", str(CERTIFICATES / "accepted")]),
        (80, ["report", str(CERTIFICATES)]),
        (80, ["doctor"]),
    ],
    ids=str,
)
def test_tables_of_commands_fit_a_terminal(width: int, arguments: list[str]) -> None:
    shown = on_terminal(width, *arguments)
    assert "\x1b[1m" in shown
    assert max(map(cell_len, lines(shown))) <= width
    assert sum("───" in line for line in lines(shown)) >= 1


@pytest.mark.slow
def test_what_is_no_terminal_gets_plain_tables() -> None:
    command = [sys.executable, "-m", "m2bridge", "dimension", "--d", "2", "--d-out", "1"]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "COLUMNS": "40"}
    )
    assert "\x1b" not in done.stdout
    assert "rank attains an upper bound" in done.stdout


@pytest.mark.parametrize("command", [cli, *COMMANDS], ids=lambda command: command.name)
def test_help_is_whole_in_80_columns(
    command: click.Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = CliRunner().invoke(command, ["--help"], terminal_width=80).output
    assert max(map(cell_len, shown.splitlines())) <= 80
    assert "..." not in shown.replace("[ARGS]...", "")


def test_each_command_has_one_line_in_the_help() -> None:
    lines = CliRunner().invoke(cli, ["--help"], terminal_width=80).output.splitlines()
    for commands in SECTIONS.values():
        for command, summary in commands.items():
            (line,) = [one for one in lines if one.split()[:1] == [command.name]]
            assert line.split(maxsplit=1)[1] == summary
            assert summary[0].isupper()
            assert summary.endswith(".")


def completed(*words: str) -> list[str]:
    complete = BashComplete(cli, {}, "m2bridge", "_M2BRIDGE_COMPLETE")
    return [item.value for item in complete.get_completions(list(words[:-1]), words[-1])]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["cl"], ["closure"]),
        (
            ["closure", "--strategy", ""],
            ["auto", "multigraded", "lattice", "elimination", "ungraded-elimination"],
        ),
        (["closure", "--weights", "f"], ["factored"]),
        (["singular-locus", "--method", "j"], ["jacobian"]),
        (["dimension", "--method", "f"], ["formula"]),
        (["dimension", "--family", "poly"], ["polynomial-network"]),
        (["dimension", "--family", "polynomial-network", "--deg"], ["--degree"]),
        (["cross-check", "3."], ["3.2", "3.3", "3.4"]),
        (["certify", "--check", "3.2,clo"], ["3.2,closure"]),
        (["certify", "--family", "polynomial-network", "--check", "a"], ["all"]),
        (["certify", "--family", "nonsense", "--check", "a"], []),
        (["certify", "--retry", "failed,t"], ["failed,timed-out"]),
        (["report", "--format", "latex"], ["latex", "latex-grid"]),
        (["cite", "--format", ""], ["text", "bibtex", "json"]),
        (["figure", "3"], ["3"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_the_shell_completes(words: list[str], expected: list[str]) -> None:
    assert completed(*words) == expected


def test_the_documented_line_completes() -> None:
    """As ``eval`` takes it; and what the shell asks of it then."""
    command = [
        sys.executable,
        "-c",
        "import sys; sys.argv[0] = 'm2bridge'; from m2bridge.cli.main import main; main()",
    ]
    variables = {**os.environ, "_M2BRIDGE_COMPLETE": "zsh_source"}
    assert (
        "#compdef m2bridge"
        in subprocess.run(command, capture_output=True, text=True, env=variables).stdout
    )
    asked = {
        **variables,
        "_M2BRIDGE_COMPLETE": "zsh_complete",
        "COMP_WORDS": "m2bridge closure --strat",
        "COMP_CWORD": "2",
    }
    assert "--strategy" in subprocess.run(command, capture_output=True, text=True, env=asked).stdout

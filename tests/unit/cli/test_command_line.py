"""The command line without Macaulay2."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner
from flint import arb

from m2bridge import QQ, CoefficientField
from m2bridge.cli import commands
from m2bridge.cli.cases import family_with_all_sizes, value_of
from m2bridge.cli.common import exit_code, finished
from m2bridge.cli.compute import closure_command
from m2bridge.cli.decide import has_decimals, membership_command
from m2bridge.cli.show import weights_command
from m2bridge.cli.tool_arguments import arguments_of
from m2bridge.errors import InvalidCaseError, TooLargeError
from m2bridge.training.critical_points import _loss_text
from tests.conftest import Invoke
from tests.events import PATIENCE
from tests.tiers import slow

EXAMPLES = Path(__file__).parents[3] / "examples"
CASE = ["--d", "2", "--d-out", "1"]
CERTIFICATES = Path(__file__).parents[2] / "certificates"


def run(command: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [command, *arguments],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **variables},
        timeout=PATIENCE,
        check=False,
    )


IMPATIENT = """
from m2bridge.cli.main import main
from m2bridge.engine import session
from tests.limits import limit_when
session._START_LIMIT = 1e6
with limit_when(lambda: True):
    main()
"""
"""The command; its limit is reached as soon as it waits for Macaulay2."""


@pytest.mark.slow
def test_a_macaulay2_that_never_starts_ends_with_the_limit(tmp_path: Path) -> None:
    """What needs no Macaulay2 is shown."""
    silent = tmp_path / "M2"
    silent.write_text('#!/bin/sh\n[ "$1" = --version ] && echo 1.26.06 && exit\nexec sleep 1000\n')
    silent.chmod(0o755)
    one_token = ["--d", "2", "--d-out", "2", "--t", "1"]
    done = run(
        sys.executable,
        "-c",
        IMPATIENT,
        "closure",
        *one_token,
        "--timeout",
        "3600",
        "--m2",
        str(silent),
    )
    assert done.returncode == 3, done.stderr
    assert "5 quartics" in done.stdout
    late = r"did not start in the 3\d+\.\d seconds\s+that it had of the limit of 3600 seconds"
    assert re.search(late, done.stdout), done.stdout


def test_the_help_of_a_number_without_bounds_names_none() -> None:
    """Of every command, and what is below it."""

    def shown(command: click.Command, above: click.Context | None) -> None:
        context = click.Context(command, info_name=command.name, parent=above)
        text = command.get_help(context)
        assert "None" not in text, command.name
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                assert below is not None
                shown(below, context)

    shown(commands.cli, None)


INTERRUPTED = """
import os, sys
sought = []
class Finder:
    def find_spec(self, name, path=None, target=None):
        sought.append(name)
        if name == sys.argv[1]:
            os.kill(os.getpid(), 2)
sys.meta_path.insert(0, Finder())
from m2bridge.cli.main import main
print(*sought[: sought.index("m2bridge.cli.main")])
main()
"""
"""The command; an interrupt comes when it imports a module for the first time."""


@pytest.mark.parametrize(
    "module", ["m2bridge.system", "m2bridge.errors", "m2bridge.limits", "typing", "click"]
)
def test_an_interrupt_of_imports_shows_no_traceback(module: str) -> None:
    done = run(sys.executable, "-c", INTERRUPTED, module)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


def test_nothing_is_imported_before_an_interrupt_is_handled() -> None:
    done = run(sys.executable, "-c", INTERRUPTED, "none")
    assert done.returncode == 2, "no command is named"
    assert set(done.stdout.split()) <= {
        "m2bridge",
        "__future__",
        "m2bridge._version",
        "m2bridge.cli",
    }


LATE = """
import sys, time
monotonic, event, sought = time.monotonic, sys.argv.pop(1), []
time.monotonic = lambda: monotonic() + 7200 * bool(sought)
class Finder:
    def find_spec(self, name, path=None, target=None):
        if sought or name == event:
            sought.append(name)
sys.meta_path.insert(0, Finder())
from m2bridge.cli.main import main
try:
    main()
finally:
    print(len(sought), "modules", file=sys.stderr)
"""
"""The command; two hours pass when it imports a module for the first time, and later ones are
counted.
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["cross-check", "--all-sizes"],
        ["cross-check", "generators", "--all-sizes"],
        ["cross-check", "--family", "deep-attention", "--widths", "4,4,4,4", "--a", "4"],
        ["closure", "--all-sizes", "--all"],
        ["closure", "--map", str(EXAMPLES / "twisted_cubic.toml")],
        ["figure", "3"],
    ],
)
def test_no_module_is_loaded_after_the_limit(arguments: list[str]) -> None:
    """On a slow machine seconds pass before anything is computed."""
    done = run(sys.executable, "-c", LATE, "sympy", *arguments, "--timeout", "3600")
    assert (done.returncode, done.stdout) == (3, ""), done.stderr
    said, modules = done.stderr.splitlines()
    assert (
        said
        == "Error: loading Python's modules did not finish within the limit of 3600 seconds; raise"
        " --timeout"
    )
    assert int(modules.split()[0]) < 10


@pytest.mark.slow
def test_a_picture_that_was_computed_in_time_is_drawn(tmp_path: Path) -> None:
    """The limit is reached when the picture is written."""
    line = ["figure", "3", "--out", str(picture := tmp_path / "figure.svg"), "--timeout", "3600"]
    done = run(sys.executable, "-c", LATE, "matplotlib.backends.backend_svg", *line)
    assert done.returncode == 0, done.stderr
    assert int(done.stderr.splitlines()[-1].split()[0]) > 1
    assert picture.read_text().rstrip().endswith("</svg>")


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", [["run"], ["implicitize"], ["closure"], ["singular-locus", "--ideal"]]
)
def test_a_pipe_into_which_nobody_writes_ends_with_the_limit(
    command: str, arguments: list[str], tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe.m2"
    os.mkfifo(pipe)
    done = run(command, *arguments, str(pipe), "--timeout", "1")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.endswith("did not finish within the limit of 1 second; raise --timeout\n")


@pytest.mark.slow
def test_a_pipe_of_cases_into_which_nobody_writes_ends_with_the_limit(
    command: str, tmp_path: Path
) -> None:
    pipe = tmp_path / "cases.toml"
    os.mkfifo(pipe)
    done = run(
        command,
        "certify",
        "--cases",
        str(pipe),
        "--out",
        str(tmp_path / "results"),
        "--timeout",
        "1",
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.endswith("did not finish within the limit of 1 second; raise --timeout\n")


@pytest.mark.slow
@pytest.mark.parametrize("endless", ["yes", "cat /dev/zero"])
def test_code_that_never_ends_is_not_read_for_ever(command: str, endless: str) -> None:
    done = run("sh", "-c", f"{endless} | {command} run -")
    assert (done.returncode, done.stderr) == (2, "Error: standard input: larger than 100 MB.\n")


@pytest.mark.parametrize(
    "arguments", [["run"], ["implicitize"], ["dimension"], ["singular-locus", "--ideal"]]
)
def test_devices_are_not_read(invoke: Invoke, arguments: list[str]) -> None:
    done = invoke(*arguments, "/dev/zero")
    assert (done.returncode, done.stderr) == (2, "Error: /dev/zero: neither a file nor a pipe.\n")


@pytest.mark.slow
def test_a_macaulay2_that_does_not_say_its_version(command: str, tmp_path: Path) -> None:
    silent = tmp_path / "M2"
    silent.write_text("#!/bin/sh\nexec sleep 1000\n")
    silent.chmod(0o755)
    done = run(command, "closure", *CASE, "--timeout", "1", "--m2", str(silent))
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.endswith("did not finish within the limit of 1 second; raise --timeout\n")


@pytest.mark.parametrize(
    "arguments",
    [
        [
            "dimension",
            "--family",
            "deep-attention",
            "--widths",
            "40,40",
            "--a",
            "40",
            "--heads",
            "2",
        ],
        slow(["closure", "--d", "12", "--d-out", "12", "--max-degree", "2", "--json"]),
        slow(["script", "singular-locus", "--d", "12", "--d-out", "12"]),
    ],
)
def test_large_cases_end_with_the_limit(command: str, arguments: list[str]) -> None:
    """They take minutes; the limit of the test leaves a busy machine a minute and more."""
    done = run(command, *arguments, "--timeout", "0.3")
    assert done.returncode == 3
    assert "the limit of 0.3 seconds" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["closure", "--d", "0", "--d-out", "1"], "Invalid value for '--d':"),
        (["closure", "--d", "2", "--d-out", "0"], "Invalid value for '--d-out':"),
        (["closure", "--d", "2"], "--d-out"),
        (["cross-check", "3.4"], "Option '--d' is missing"),
        *(
            (["cross-check", "--all-sizes", option, "3"], f"Option '{option}' has no effect")
            for option in ("--d", "--a", "--t")
        ),
        (["cross-check", "--all-sizes", "--field", "GF(7)"], "Option '--field' has no effect"),
        (
            ["cross-check", "--all-sizes", "--family", "polynomial-network"],
            "Invalid value for '--all-sizes': no statement about polynomial",
        ),
        (
            ["cross-check", "--all-sizes", "--map", str(EXAMPLES / "twisted_cubic.toml")],
            "Option '--map' has no effect",
        ),
        (
            ["cross-check", "3.4", "--family", "attention-all-sizes"],
            "Error: use --all-sizes to cross-check",
        ),
        (
            ["dimension", "--family", "attention-all-sizes"],
            "Invalid value for '--family': lightning self-attention for all d",
        ),
        *(
            (
                ["certify", "--all-sizes", "--out", "/none", *given],
                f"Option '{given[0]}' has no effect with --all-sizes",
            )
            for given in (["--d", "2"], ["--t", "2"], ["--all-a"], ["--cases", "x.csv"])
        ),
        (
            ["certify", "--all-sizes", "--out", "/none", "--check", "closure"],
            "Invalid value for '--check': unknown question 'closure'",
        ),
        (
            ["cross-check", "generators", "--all-sizes", "--d", "2"],
            "Option '--d' has no effect with --all-sizes",
        ),
        (
            ["cross-check", "hilbert", "--all-sizes"],
            "not stated for all sizes, but only for single cases: hilbert",
        ),
        (["closure", *CASE, "--a", "0"], "Invalid value for '--a':"),
        (["closure", *CASE, "--t", "0"], "Invalid value for '--t':"),
        (["closure", *CASE, "--field", "GF(6)"], "Invalid value for '--field':"),
        (["closure", *CASE, "--field", "RR"], "Invalid value for '--field':"),
        (["closure", *CASE, "--coordinates", "polar"], "--coordinates': 'polar' is not one of"),
        (["closure", *CASE, "--weights", "heavy"], "--weights': 'heavy' is not one of"),
        (["closure", *CASE, "--strategy", "luck"], "--strategy': 'luck' is not one of"),
        (["closure", *CASE, "--max-degree", "0"], "Invalid value for '--max-degree':"),
        (
            ["closure", *CASE, "--max-degree", "2", "--strategy", "elimination"],
            "Invalid value for '--max-degree':",
        ),
        (
            ["closure", *CASE, "--strategy", "multigraded", "--field", "GF(7)"],
            "Invalid value for '--field':",
        ),
        (["singular-locus", *CASE, "--method", "guess"], "--method': 'guess' is not one of"),
        (["singular-locus", *CASE, "--t", "1", "--method", "orbits"], "--method"),
        (["dimension", *CASE, "--method", "guess"], "--method': 'guess' is not one of"),
        (["script", "closure", *CASE, "--timeout", "0"], "--timeout"),
        (["report", str(CERTIFICATES), "--timeout", "nan"], "--timeout"),
        (["closure", *CASE, "--memory", "much"], "--memory"),
        (
            ["closure", *CASE, "--memory", "300M"],
            "Invalid value for '--memory': must be at least 640M: Macaulay2 takes",
        ),
        (
            ["cross-check", *CASE, "--memory", "1K"],
            "Invalid value for '--memory': must be at least 640M: Macaulay2 takes",
        ),
        (
            ["implicitize", __file__, "--memory", "639M"],
            "Invalid value for '--memory': must be at least 640M: Macaulay2 takes",
        ),
        (
            ["certify", *CASE, "--out", "/none", "--memory", "300M"],
            "Invalid value for '--memory': must be at least 640M: Macaulay2 takes",
        ),
        (
            ["closure", *CASE, "--memory", "99999999999T"],
            "Invalid value for '--memory': must be at most",
        ),
        (
            ["certify", *CASE, "--out", "/none", "--memory", "9" * 400],
            "Invalid value for '--memory': must be at most",
        ),
        *(
            (["closure", *CASE, "--timeout", bad], "--timeout")
            for bad in ("0", "-1", "nan", "inf", "1e400", "soon")
        ),
        *(
            (["certify", *CASE, "--out", "/none", "--timeout", bad], "--timeout")
            for bad in ("0", "nan", "inf")
        ),
        (["implicitize", __file__, "--timeout", "nan"], "--timeout"),
        (["certify", *CASE, "--out", ""], "--out"),
        (["certify", *CASE, "--out", __file__], "Invalid value for '--out': "),
        (["certify", *CASE, "--out", f"{__file__}/sub"], "Invalid value for '--out': "),
        (["certify", *CASE, "--out", "/proc/none"], "Invalid value for '--out': "),
        (["report", str(CERTIFICATES), "--out", ""], "--out"),
        (
            ["certify", *CASE, "--out", "/none", "--executor", "serial", "--workers", "3"],
            "Invalid value for '--workers': ",
        ),
        (
            ["certify", *CASE, "--out", "/none", "--scheduler", "tcp://x:1"],
            "Option '--scheduler' has no effect without --executor dask",
        ),
        (
            [
                "certify",
                *CASE,
                "--out",
                "/none",
                "--executor",
                "dask",
                "--scheduler",
                "tcp://x:1",
                "--workers",
                "3",
            ],
            "Option '--workers' has no effect with --scheduler",
        ),
        (["membership", *CASE, "--function", sys.executable], "Invalid value for '--function': "),
        (["closure", *CASE, "--d", "x"], "--d"),
        (["closure", *CASE, "--nonsense"], "--nonsense"),
    ],
)
def test_bad_input_is_refused_with_one_line_that_names_the_option(
    arguments: list[str],
    option: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["m2bridge", *arguments])
    assert commands.run() == 2
    said, complained = capfd.readouterr()
    assert said == ""
    assert len(complained.splitlines()) == 1
    assert option in complained


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["closure", "--d", "60", "--d-out", "60"],
            "this case has 6588000 coordinates; at most 20000",
        ),
        (
            ["closure", "--d", "99999", "--d-out", "99999"],
            "coordinates; at most 20000 can be stored",
        ),
        (["script", "fibres", "--d", "60", "--d-out", "60"], "39590 orbits"),
        (
            ["script", "closure", "--d", "400", "--d-out", "400"],
            "this case has 12832000000 coordinates",
        ),
        (["cross-check", "--d", "60", "--d-out", "60"], "too many to look at each"),
        (["figure", "orbits", "--d", "12", "--d-out", "12"], "orbits are too many for a picture"),
    ],
)
def test_what_is_too_large_is_no_mistake_of_the_user(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["m2bridge", *arguments])
    assert commands.run() == 3
    shown, complained = capfd.readouterr()
    assert (shown, len(complained.splitlines())) == ("", 1)
    assert said in complained
    assert ": " in complained.partition(said)[2] or "; " in complained.partition(said)[2], (
        "what to do instead"
    )


def test_named_program_that_is_not_macaulay2(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "M2"
    old.write_text("#!/bin/sh\necho 1.15\n")
    old.chmod(0o755)
    for program, said in [
        ("/bin/cat", "not Macaulay2"),
        ("/no/such/file", "not an executable"),
        (str(old), "needs 1.21"),
    ]:
        refused = invoke("closure", *CASE, "--m2", program)
        assert refused.returncode == 4
        assert said in refused.stderr
        assert "pip install" in refused.stderr
    monkeypatch.setenv("M2BRIDGE_M2", str(old))
    assert invoke("closure", *CASE).stderr == refused.stderr


def test_doctor_without_an_engine(invoke: Invoke) -> None:
    refused = invoke("doctor", "--m2", "/no/such/file")
    assert refused.returncode == 4
    assert "templates" in refused.stdout
    assert "pip install --no-deps 'passagemath-macaulay2==10.8.11'" in refused.stderr
    assert "apt-get install macaulay2" in refused.stderr


def test_dimension_by_rank_needs_no_engine(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("M2BRIDGE_M2", "/no/such/file")
    done = invoke("dimension", "--d", "3", "--d-out", "2", "--a", "2", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 0
    assert found["dimension"] == 13
    assert found["status"] == "proved"
    assert found["case"] == {"d": 3, "d_out": 2, "a": 2, "t": 2}
    assert {finding["method"] for finding in found["methods"]} == {
        "jacobian mod 2147483647",
        "jacobian over QQ",
    }


def test_generators_up_to_a_degree_need_no_engine(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("M2BRIDGE_M2", "/no/such/file")
    done = invoke("closure", "--d", "3", "--d-out", "1", "--max-degree", "3", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 0
    assert (found["complete"], found["generator_degrees"]) == ("up to degree 3", {"3": 20})
    assert (found["dimension"], found["dimension_status"], found["degree"]) == (11, "proved", None)


@pytest.mark.slow
def test_generators_are_left_out_where_nobody_asks_for_them(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """29 295 quintics are known by their representations, and not expanded."""
    monkeypatch.setenv("M2BRIDGE_M2", "/no/such/file")
    case = ("--d", "3", "--d-out", "3", "--max-degree", "5", "--no-generators")
    found = json.loads(invoke("closure", *case, "--json").stdout)
    degrees = {"2": 135, "3": 300, "4": 2700, "5": 29295}
    assert (found["generators"], found["generator_degrees"]) == (None, degrees)
    assert (found["complete"], found["dimension"]) == ("up to degree 5", 17)
    case = ("--d", "2", "--d-out", "1", "--max-degree", "4", "--no-generators")
    told = invoke("closure", *case).stdout
    assert "1 quartic" in told
    assert "c_1_1_1_1**2" not in told


def test_help_and_version(command: str) -> None:
    """The help of each command is read in ``test_terminal.py``, in one process."""
    assert "Exit codes" in run(command, "--help").stdout
    assert run(command, "--version").stdout.startswith("m2bridge, version")


def shell(line: str, command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command as a line of a shell, in which ``$B`` is m2bridge and ``$A`` a folder of
    certificates.
    """
    environment = {**os.environ, "B": command, "A": str(CERTIFICATES / "accepted"), **variables}
    return subprocess.run(
        ["sh", "-c", line],
        capture_output=True,
        text=True,
        errors="replace",
        env=environment,
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "target"),
    [
        ("$B report $A", ">/dev/full"),
        ("$B verify $A/d2-dout2-a2-t1-3.4.json", ">&-"),
        ("$B script closure --d 2 --d-out 1", ">/dev/full"),
        ("$B --help", ">&-"),
    ],
)
def test_results_that_cannot_be_written_are_a_failure(line: str, target: str, command: str) -> None:
    failed = shell(f"{line} {target}", command)
    assert failed.returncode == 5
    assert failed.stderr.startswith("Error: the results cannot be written to standard output: ")
    assert len(failed.stderr.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("line", ["$B dimension --d 2 --d-out 1", "$B --help"])
def test_results_for_nobody(line: str, command: str) -> None:
    """No stream is open; the reader has gone."""
    assert shell(f"{line} >&- 2>&- <&-", command).returncode == 5
    closed = shell(f"{{ {line}; echo $? >&2; }} | true", command)
    assert closed.stderr in ("0\n", "141\n"), "who reads may have waited for the end, or not"


@pytest.mark.slow
def test_a_reader_that_stops_reading_hears_nothing(command: str) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    with os.fdopen(theirs) as nobody:
        closed = subprocess.run(
            [command, "script", "closure", "--d", "3", "--d-out", "3"],
            stdout=nobody,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (closed.returncode, closed.stderr) == (141, b"")


@pytest.mark.slow
@pytest.mark.parametrize("target", ["2>/dev/full", "<&- 2>&-"])
def test_messages_that_cannot_be_written_are_dropped(target: str, command: str) -> None:
    assert shell(f"$B closure --d 0 --d-out 1 {target}", command).returncode == 2
    done = shell(f"$B dimension --d 2 --d-out 1 --json {target}", command)
    assert (done.returncode, json.loads(done.stdout)["dimension"]) == (0, 5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoding", "form"), [("latin-1", "csv"), ("ascii", "text"), ("cp437", "markdown")]
)
def test_an_encoding_without_the_signs_of_mathematics(
    encoding: str, form: str, command: str
) -> None:
    """All forms go through one stream, so that each encoding takes one of them."""
    done = shell(f"$B report $A --format {form}", command, PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_message_in_an_encoding_without_the_signs_of_mathematics(command: str) -> None:
    assert shell("$B report nowhere", command, PYTHONIOENCODING="ascii").returncode == 2


def test_a_mistake_of_ours_has_not_the_exit_code_of_a_refuted_statement(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def wrong(*arguments: object, **options: object) -> None:
        raise ZeroDivisionError("unforeseen")

    monkeypatch.setattr(commands.cli, "main", wrong)
    assert commands.run() == 5
    assert "ZeroDivisionError: unforeseen" in capsys.readouterr().err


@pytest.mark.slow
def test_weights_of_too_large_a_case_are_not_multiplied(monkeypatch: pytest.MonkeyPatch) -> None:
    """For (30, 30) that takes longer than anything else, and is refused afterwards."""
    monkeypatch.setattr("m2bridge.families.attention.orbits.membership.function_of", None)
    rows = json.dumps([[1] * 30] * 30)
    with pytest.raises(TooLargeError, match="418500 coordinates; at most"):
        membership_command.main(
            ["--d", "30", "--d-out", "30", "--A", rows, "--V", rows], standalone_mode=False
        )


@pytest.mark.parametrize(
    ("matrix", "has"),
    [
        ("[[1, 2]]", False),
        ('[["1/2", -3]]', False),
        ("[[1.5]]", True),
        ("[[1e2]]", True),
        ('[["2E-3"]]', True),
        ('[[".5"]]', True),
    ],
)
def test_decimals_among_weights_are_recognized(matrix: str, has: bool) -> None:
    assert has_decimals(["[[1]]", matrix]) is has


def test_options_as_usual_stand_beside_all_sizes() -> None:
    usual = {
        "t": 2,
        "field": QQ,
        "strategy": "auto",
        "weights": "attention",
        "max_degree": None,
        "coordinates": None,
    }
    family = family_with_all_sizes("attention", usual, without_effect=usual)
    assert family.all_sizes == "attention-all-sizes"
    others = {
        "t": 3,
        "field": CoefficientField(7),
        "strategy": "elimination",
        "weights": "factored",
        "max_degree": 2,
    }
    for option, value in others.items():
        with pytest.raises(InvalidCaseError, match="has no effect with --all-sizes"):
            family_with_all_sizes("attention", usual | {option: value}, without_effect=usual)


@pytest.mark.parametrize("written", ["1_0", "٣", "１", "0x10", "1e1"])
@pytest.mark.parametrize(
    "line",
    [
        "closure --d {} --d-out 1",
        "closure --d 2 --d-out 1 --max-degree {}",
        "certify --d {} --d-out 1 --out results",
        "certify --d 1 --d-out 1 --workers {} --out results",
        "weights examples/weights.npz --heads {}",
        "dimension --family deep-attention --widths 2,{} --a 1",
    ],
)
def test_integers_are_written_in_decimal_digits(invoke: Invoke, line: str, written: str) -> None:
    """Python's own ``int`` takes an underscore and digits of every script."""
    refused = invoke(*line.format(written).split())
    assert refused.returncode == 2
    assert written in refused.stderr


@pytest.mark.parametrize("written", ["1_0", "٥", "1_0.5", "nan", "inf"])
def test_seconds_and_tolerances_are_written_in_decimal_digits(invoke: Invoke, written: str) -> None:
    assert invoke("closure", *CASE, "--timeout", written).returncode == 2
    assert invoke("weights", "examples/weights.npz", "--tolerance", written).returncode == 2


def test_a_field_is_written_in_decimal_digits(invoke: Invoke) -> None:
    assert invoke("dimension", *CASE, "--field", "GF(٥)").returncode == 2


@pytest.mark.parametrize(
    ("refuted", "undecided", "exit_zero", "code"),
    [
        (False, False, False, 0),
        (True, False, False, 1),
        (True, True, False, 1),
        (False, True, False, 3),
        (True, False, True, 0),
        (True, True, True, 3),
    ],
)
def test_exit_codes_of_verdicts(refuted: bool, undecided: bool, exit_zero: bool, code: int) -> None:
    result: Any = SimpleNamespace(refuted=refuted, undecided=undecided)
    assert exit_code(result, exit_zero) == code


def test_a_result_that_is_not_finished_has_an_exit_code_of_its_own() -> None:
    done: Any = SimpleNamespace(unfinished="")
    cut: Any = SimpleNamespace(unfinished="the limit of 2 seconds")
    assert (finished(done), finished(cut)) == (0, 3)


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ([], None),
        (["--family", "a"], "a"),
        (["--family=a", "--family", "b"], "b"),
        (["--family", "b", "--family=a"], "a"),
        (["--family"], None),
    ],
)
def test_the_last_of_several_values_counts(arguments: list[str], found: str | None) -> None:
    """So click parses them later, with the options of the family that is found here."""
    assert value_of("--family", arguments) == found
    parser = click.Command("x", params=[click.Option(["--family"])])
    if arguments != ["--family"]:
        assert parser.make_context("x", list(arguments)).params == {"family": found}


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        ((0.0, 0.0), "0"),
        ((-1e-9, 1.4e-10), "at most 2e-10"),
        ((0.0, 9.5e-8), "at most 1e-07"),
        ((0.25, 0.25), "0.25"),
    ],
)
def test_a_loss_that_may_be_zero_is_rounded_up(loss: tuple[float, float], words: str) -> None:
    lower, upper = map(arb, loss)
    point: Any = SimpleNamespace(loss_interval=lower.union(upper))
    assert _loss_text(point) == words


@pytest.mark.parametrize(
    ("command", "former", "new", "parameter"),
    [
        (weights_command, "--norm", "--norm-before", "norm"),
        (weights_command, "--output", "--output-matrix", "output"),
        (closure_command, "--outputs", "--restrict-to", "outputs"),
    ],
)
def test_options_with_similar_names_have_new_ones_and_the_former_are_understood(
    command: click.Command, former: str, new: str, parameter: str
) -> None:
    """--norm and --normalization, and --out, --output and --outputs, were taken for each other."""
    shown = CliRunner().invoke(command, ["--help"]).output
    assert f"  {new} " in shown
    assert f"  {former} " not in shown
    path = str(EXAMPLES / "weights.npz")
    for name in (former, new):
        value = "rms" if parameter == "norm" else "x"
        context = command.make_context(command.name, [path, name, value])
        assert context.params[parameter] == value


def test_arguments_of_tools_keep_their_names() -> None:
    assert {"norm", "output"} <= arguments_of("weights").keys()
    assert "outputs" in arguments_of("closure")

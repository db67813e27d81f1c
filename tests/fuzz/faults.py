"""Commands on systems where something is missing, full, forbidden, ignored or killed.

``python -m tests.fuzz faults --count 300 --seed 1``. Whatever happens, a command ends by itself
with an exit code of the table, without a traceback, with one clear line where it failed; no process
and no file of it is left. What was killed cannot tidy up: then the next command does.
"""

from __future__ import annotations

import itertools
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import psutil

from tests.events import PATIENCE, SMALL_FILES, wait_for

ROOT = Path(__file__).parents[2]
M2BRIDGE = [sys.executable, "-c", "from m2bridge.cli.main import main; main()"]
MARK = "M2BRIDGE_TEST_MARK"
FAILED = {2, 3, 4, 5}
"""Exit codes of a command that could not do what it was asked."""

QUICK = ("--check", "3.2,3.3", "--quiet", "--out", "results")
COMMANDS: dict[str, tuple[int, list[str]]] = {
    "closure": (0, ["closure", "--d", "2", "--d-out", "1", "--strategy", "elimination"]),
    "singular-locus": (0, ["singular-locus", "--d", "2", "--d-out", "1", "--ideals"]),
    "cross-check": (1, ["cross-check", "--d", "3", "--d-out", "2", "--a", "2", "--json"]),
    "membership": (
        0,
        ["membership", "--d", "2", "--d-out", "1", "--A", "[[1, 2], [3, 4]]", "--V", "[[1, 2]]"],
    ),
    "dimension": (0, ["dimension", "--d", "3", "--d-out", "2"]),
    "script": (0, ["script", "closure", "--d", "3", "--d-out", "3"]),
    "implicitize": (0, ["implicitize", str(ROOT / "examples" / "segre.toml")]),
    "doctor": (0, ["doctor"]),
    "verify": (0, ["verify", str(ROOT / "tests" / "certificates" / "accepted"), "--workers", "2"]),
    "report": (0, ["report", str(ROOT / "tests" / "certificates" / "accepted"), "--format", "csv"]),
    "certify": (0, ["certify", "--d", "1..2", "--d-out", "1", *QUICK, "--workers", "2"]),
    "certify serial": (0, ["certify", "--d", "2", "--d-out", "1", *QUICK, "--executor", "serial"]),
}
"""What each is when nothing is wrong: its exit code, and its arguments."""


@dataclass(frozen=True)
class Fault:
    """Something that is wrong with a system, as a line of a shell around the command ``"$@"``.

    With ``harmless`` the command has to succeed all the same.
    """

    line: str
    harmless: bool = False
    codes: frozenset[int] = frozenset()


ON_A_DISK = """exec unshare --map-root-user --mount sh -c '
mount -t tmpfs -o size=4k none {folder} && cd . && head -c 8192 /dev/zero >{folder}/full 2>/dev/null
exec "$@"' sh "$@"
"""
"""In a namespace of its own, which ends with the command."""

FAULTS = {
    "nothing": Fault('exec "$@"', harmless=True),
    "no HOME": Fault('unset HOME; exec "$@"', harmless=True),
    "a HOME that is not there": Fault('export HOME=/nonexistent; exec "$@"', harmless=True),
    "no TMPDIR": Fault('unset TMPDIR; exec "$@"', harmless=True),
    "a TMPDIR that is not there": Fault('export TMPDIR=/nonexistent; exec "$@"'),
    "a TMPDIR that is not UTF-8": Fault(
        'TMPDIR="$TMPDIR/$(printf "\\377")"; mkdir "$TMPDIR"; "$@"; code=$?; rmdir "$TMPDIR"; exit'
        " $code"
    ),
    "a TMPDIR with a long name": Fault(
        'name=$(printf %0100d 0); TMPDIR="$TMPDIR/$name"; mkdir "$TMPDIR"; "$@"; code=$?; rmdir'
        ' "$TMPDIR"; exit $code',
        harmless=True,
    ),
    "no PATH": Fault('unset PATH; exec "$@"'),
    "an ASCII locale": Fault(
        'export LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0; exec "$@"', harmless=True
    ),
    "SIGHUP ignored": Fault("trap '' HUP; exec \"$@\"", harmless=True),
    "SIGCHLD ignored": Fault("trap '' CHLD; exec \"$@\"", harmless=True),
    "SIGPIPE at its default": Fault('trap - PIPE; exec "$@"', harmless=True),
    "SIGINT ignored": Fault("trap '' INT; exec \"$@\"", harmless=True),
    "no input": Fault('exec "$@" <&-', harmless=True),
    "no output": Fault('exec "$@" >&-', codes=frozenset({5})),
    "no error output": Fault('exec "$@" 2>&-', harmless=True),
    "nothing open": Fault('exec "$@" <&- >&- 2>&-', codes=frozenset({5})),
    "a full output": Fault('exec "$@" >/dev/full', codes=frozenset({5})),
    "a full error output": Fault('exec "$@" 2>/dev/full', harmless=True),
    "a hard limit on address space": Fault('ulimit -Hv 4000000; exec "$@"', harmless=True),
    "a soft limit on address space": Fault('ulimit -Sv 4000000; exec "$@"', harmless=True),
    "little address space": Fault('ulimit -v 600000; exec "$@"'),
    "hardly any address space": Fault('ulimit -v 300000; exec "$@"'),
    "14 descriptors": Fault('ulimit -n 14; exec "$@"'),
    "10 descriptors": Fault('ulimit -n 10; exec "$@"'),
    "no file may grow": Fault(SMALL_FILES.format(0) + '; exec "$@"'),
    "files of 4 kB": Fault(SMALL_FILES.format(8) + '; exec "$@"'),
    "a full disk": Fault(ON_A_DISK.format(folder="."), codes=frozenset({5})),
    "a full disk for temporary files": Fault(ON_A_DISK.format(folder='"$TMPDIR"')),
    "a folder that cannot be written": Fault('cd /proc; exec "$@"'),
}
TOGETHER = {
    "cross-check": (
        "no HOME",
        "SIGHUP ignored",
        "SIGCHLD ignored",
        "no input",
        "a hard limit on address space",
    ),
    "certify": (
        "a HOME that is not there",
        "a TMPDIR with a long name",
        "SIGPIPE at its default",
        "a full error output",
        "a soft limit on address space",
    ),
    "singular-locus": ("no TMPDIR", "an ASCII locale", "SIGINT ignored", "no error output"),
}
"""Harmless faults that a command takes all at once; each command has to succeed."""
NO_LINE = {"no error output", "nothing open", "a full error output"}
"""Where nobody can read what is wrong."""


@dataclass(frozen=True)
class Blow:
    """A signal at a moment, to the command or to its Macaulay2. What is stopped is then ended by
    SIGTERM.
    """

    moment: str
    number: signal.Signals
    to_macaulay2: bool = False

    def __str__(self) -> str:
        return (
            f"{self.number.name} to {'Macaulay2' if self.to_macaulay2 else 'the command'} at"
            f" {self.moment}"
        )

    @property
    def may_be_replaced(self) -> bool:
        """Whether another Macaulay2 may start, since the one that is killed may have been idle."""
        return self.to_macaulay2 and self.number is signal.SIGKILL and self.moment == "Macaulay2"


BLOWS = [
    *(
        Blow(moment, number)
        for moment in ("import of m2bridge.limits", "import of sympy.core", "Macaulay2", "run")
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL)
    ),
    *(Blow(moment, signal.SIGKILL, to_macaulay2=True) for moment in ("Macaulay2", "run")),
    Blow("run", signal.SIGSTOP, to_macaulay2=True),
    Blow("run", signal.SIGSTOP),
]
LONG = ["closure", "--d", "3", "--d-out", "2", "--strategy", "elimination"]
"""A computation of hours."""


@dataclass
class Trial:
    """One command in a folder of its own, which is its folder for temporary files too."""

    folder: Path
    m2: str
    arguments: list[str]
    line: str = 'exec "$@"'
    environment: dict[str, str] = field(default_factory=dict)

    def start(self) -> subprocess.Popen[str]:
        (self.folder / "work").mkdir()
        (self.folder / "tmp").mkdir()
        needed = (
            []
            if self.arguments[0] in ("verify", "report", "script", "dimension")
            else ["--m2", self.m2]
        )
        return subprocess.Popen(
            ["/bin/sh", "-c", self.line, "sh", *M2BRIDGE, *self.arguments, *needed],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
            cwd=self.folder / "work",
            env={
                **os.environ,
                MARK: str(self.folder),
                "TMPDIR": str(self.folder / "tmp"),
                "PYTHONPATH": str(ROOT),
                **self.environment,
            },
        )

    def processes(self) -> list[psutil.Process]:
        """What runs of it."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                if (
                    process.environ().get(MARK) == str(self.folder)
                    and process.status() != psutil.STATUS_ZOMBIE
                ):
                    found.append(process)
        return found

    def macaulay2(self) -> list[int]:
        """The process of its session, which is not the one that says its version."""
        found = []
        for process in self.processes():
            with suppress(psutil.Error):
                if "M2-binary" in process.name() and "session.m2" in "".join(
                    process.cmdline()[-1:]
                ):
                    found.append(process.pid)
        return found

    def left(self) -> str:
        """What is left when it has ended; waits for processes to end."""
        wait_for(lambda: not self.processes())
        files = [path.name for path in (self.folder / "tmp").iterdir()]
        return f"left in TMPDIR: {', '.join(files)}" if files else ""


def suffered(name: str, fault: Fault, command: str, trial: Trial) -> str:
    """What is wrong with how a command took a fault; empty if nothing is."""
    usual, _ = COMMANDS[command]
    process = trial.start()
    _, said = process.communicate(timeout=PATIENCE)
    code = process.returncode
    if left := trial.left():
        return left
    if code == usual:
        return ""
    allowed = fault.codes or (set() if fault.harmless else FAILED)
    if code not in allowed:
        return f"exit code {code}, not {usual}: {said[-600:]}"
    return "" if name in NO_LINE else unclear(said)


def unclear(said: str) -> str:
    """What is wrong with what a command that failed said."""
    lines = said.strip().splitlines()
    if "Traceback" in said or not lines:
        return f"no clear line: {said[-600:]!r}"
    return f"{len(lines)} lines: {said[-600:]}" if len(lines) > 2 else ""


def struck(blow: Blow, trial: Trial) -> str:
    """What is wrong with how a long computation took a signal; empty if nothing is."""
    process = trial.start()
    arrive(blow.moment, trial, process)
    target = process.pid
    if blow.to_macaulay2:
        (target,) = trial.macaulay2()
    os.kill(target, blow.number)
    number = blow.number
    if blow.may_be_replaced:
        wait_for(lambda: set(trial.macaulay2()) - {target} or process.poll() is not None)
        if process.poll() is None:  # another one computes: for hours, if it is not ended
            number = signal.SIGTERM
            process.send_signal(number)
    if blow.number is signal.SIGSTOP:
        wait_for(lambda: psutil.Process(target).status() == psutil.STATUS_STOPPED)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)
    _, said = process.communicate(timeout=PATIENCE)
    codes = expected(
        replace(blow, number=number, to_macaulay2=blow.to_macaulay2 and number is blow.number)
    )
    if process.returncode not in codes:
        return f"exit code {process.returncode}, not {codes}: {said[-600:]}"
    said = "\n".join(line for line in said.splitlines() if not line.startswith("import time:"))
    if process.returncode == 5 and (complaint := unclear(said)):
        return complaint
    if blow.number is signal.SIGKILL and not blow.to_macaulay2:
        wait_for(lambda: not trial.processes())
        subprocess.run(
            [*M2BRIDGE, *COMMANDS["closure"][1], "--m2", trial.m2],
            env={**os.environ, "TMPDIR": str(trial.folder / "tmp")},
            capture_output=True,
            check=True,
        )
    return trial.left()


def arrive(moment: str, trial: Trial, process: subprocess.Popen[str]) -> None:
    """Wait until a computation has come so far."""
    assert process.stderr is not None
    if moment.startswith("import of "):
        imported = moment.removeprefix("import of ")
        assert any(line.split()[-1] == imported for line in process.stderr)
        return
    come: Callable[[], object] = {
        "Macaulay2": trial.macaulay2,
        "run": lambda: list((trial.folder / "tmp").glob("**/*.jsonl")),
    }[moment]
    wait_for(lambda: come() or process.poll() is not None)
    assert process.poll() is None, process.communicate()


def expected(blow: Blow) -> set[int]:
    """Exit codes; before its first imports are done, a signal ends a program without a word."""
    if blow.to_macaulay2 and blow.number is signal.SIGKILL:
        return {5}
    number = signal.SIGTERM if blow.number is signal.SIGSTOP else blow.number
    return {-number} if number is signal.SIGKILL else {-number, 128 + number}


Suffering = Callable[[Path, str], str]
"""A trial in a folder with a Macaulay2; what is wrong with it."""


def each(seed: int) -> list[tuple[str, Suffering]]:
    """Each fault with some command, and each blow; in some order."""
    random = Random(seed)
    chosen: list[tuple[str, Suffering]] = []
    for name, fault in FAULTS.items():
        command = random.choice(list(COMMANDS))
        chosen.append((f"{command}, {name}", _suffering(name, fault, command)))
    chosen += [(str(blow), _striking(blow)) for blow in BLOWS]
    random.shuffle(chosen)
    return chosen


def together() -> list[tuple[str, Suffering]]:
    """Each command that takes several harmless faults, each of a shell that the shell of the fault
    before starts.
    """
    trials = []
    for command, names in TOGETHER.items():
        assert all(FAULTS[name].harmless for name in names)
        shells = [f"/bin/sh -c {shlex.quote(FAULTS[name].line)} sh" for name in names]
        name = " and ".join(names)
        trials.append(
            (
                f"{command}, {name}",
                _suffering(name, Fault(f'{" ".join(shells)} "$@"', harmless=True), command),
            )
        )
    return trials


def _suffering(name: str, fault: Fault, command: str) -> Suffering:
    return lambda folder, m2: suffered(
        name, fault, command, Trial(folder, m2, COMMANDS[command][1], fault.line)
    )


def _striking(blow: Blow) -> Suffering:
    timed = {"PYTHONPROFILEIMPORTTIME": "1"} if blow.moment.startswith("import") else {}
    return lambda folder, m2: struck(blow, Trial(folder, m2, LONG, environment=timed))


def run(count: int, seed: int, m2: str | None = None) -> int:
    """Try; the number of failures, each of which is shown."""
    from m2bridge.engine import locate

    program = m2 or str(locate().program)
    tally: Counter[str] = Counter()
    drawn = itertools.chain.from_iterable(each(seed + number) for number in itertools.count())
    for name, trial in itertools.islice(drawn, count):
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
            said = trial(Path(folder), program)
        tally["failures" if said else "passed"] += 1
        if said:
            print(f"{name}: {said}\n", flush=True)
    print(f"{count} trials, seed {seed}: {dict(tally)}")
    return tally["failures"]

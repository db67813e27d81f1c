"""The search for Macaulay2: candidate programs, and the one that is used.

A program is accepted as Macaulay2 by its answer to ``--version``, which is asked once. A program
that the user names is used or refused; otherwise the first usable candidate is used. The wheel is a
package of Python that contains Macaulay2.
"""

import errno
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from m2bridge.errors import EngineError, EngineNotFoundError, EngineVersionError
from m2bridge.limits import MIN_ENGINE_MEMORY_BYTES, clock
from m2bridge.results.sheet import printable, visible
from m2bridge.system import address_space, signal_of

OLDEST = (1, 21)
"""The oldest supported version, as in Debian 12; all tests run with it and with the newest."""

VARIABLE = "M2BRIDGE_M2"
WHEEL = "passagemath-macaulay2"
TESTED_WHEEL = f"{WHEEL}==10.8.11"
"""The tested wheel. 10.8.12 and 10.8.13 need AVX-512 and are killed by SIGILL on processors
without it.
"""

INSTALL_WHEEL = f"pip install --no-deps '{TESTED_WHEEL}'"

OTHER_PROCESSOR = (
    "was stopped by SIGILL: this build needs a processor with other instructions (AVX-512);"
    f" {INSTALL_WHEEL}"
)
"""The message, after the name of a program, if the processor lacks some of its instructions."""
PROBE_SECONDS = 30.0
"""The time for a program to answer ``--version``, or a question as small, on a busy machine."""

ONE_BLAS_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""OpenBLAS maps 32 MiB of address space for each core, and hangs if a limit forbids it."""

ADVICE = (
    f"Get Macaulay2 in one of two ways: {INSTALL_WHEEL} (no root needed), or your system's package"
    " (Debian and Ubuntu: apt-get install macaulay2). A program elsewhere is named by --m2 PATH or"
    f" the environment variable {VARIABLE}."
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible location of Macaulay2; ``program`` is ``None`` if there is none."""

    origin: str  # --m2, M2BRIDGE_M2, wheel passagemath-macaulay2 or PATH
    program: Path | None

    @property
    def version(self) -> str:
        """The version of this Macaulay2; an EngineError if there is no program, or it is not
        supported.
        """
        if self.program is None:
            raise EngineNotFoundError("nothing there")
        return _version(self.program)


def candidates(explicit: str | os.PathLike[str] | None = None) -> tuple[Candidate, ...]:
    """Return all candidates in the order of search; ``explicit`` is the program that follows
    ``--m2``, or that was given to ``Macaulay2()``.
    """
    places = []
    if explicit is not None:
        places.append(Candidate("--m2", _absolute(os.fspath(explicit))))
    named = os.environ.get(VARIABLE)
    if named:  # an empty variable counts as one that is not set
        places.append(Candidate(VARIABLE, _absolute(named)))
    places.append(Candidate(f"wheel {WHEEL}", in_wheel(WHEEL, "M2")))
    on_path = shutil.which("M2")
    places.append(Candidate("PATH", Path(on_path).absolute() if on_path else None))
    return tuple(places)


def locate(explicit: str | os.PathLike[str] | None = None) -> Candidate:
    """Find the Macaulay2 to use: ``--m2``, ``M2BRIDGE_M2``, the wheel's, or ``M2`` on PATH. If none
    is usable, the error is about the program that the user names, or the first that was found.
    """
    return first_usable(map(probed, candidates(explicit)))


@dataclass(frozen=True, slots=True)
class Probed:
    """A candidate after it was asked for its version."""

    candidate: Candidate
    refusal: EngineError | None  # why it cannot be used


def probed(candidate: Candidate) -> Probed:
    """Return the candidate together with the error, if any, at asking it for its version."""
    try:
        candidate.version  # noqa: B018  (asked for its exceptions)
    except EngineError as refusal:
        return Probed(candidate, refusal)
    return Probed(candidate, refusal=None)


def first_usable(places: Iterable[Probed]) -> Candidate:
    """Return the first usable candidate, unless the user names one that is refused; the iteration
    asks each for its version, and ends with the one that is returned.
    """
    refusals: list[EngineError] = []
    for place in places:
        if place.refusal is None:
            return place.candidate
        if place.candidate.origin in ("--m2", VARIABLE):  # the user named it
            raise place.refusal
        if place.candidate.program is not None:  # else there is nothing at this place
            refusals.append(place.refusal)
    if refusals:  # programs were found, but none works: say why of the first
        raise refusals[0]
    raise EngineNotFoundError(f"No Macaulay2 was found. {ADVICE}")


def _absolute(path: str) -> Path:
    """Return an absolute path, with the home folder in place of ``~``."""
    return Path(os.path.expanduser(path)).absolute()  # "~name" of an unknown user stays as it is


def in_wheel(wheel: str, name: str) -> Path | None:
    """Return the program of a wheel; ``None`` if it is not installed, or lacks the program."""
    from importlib import metadata  # slow to import

    try:
        file = metadata.distribution(wheel).locate_file(f"sage_wheels/bin/{name}")
    except metadata.PackageNotFoundError:
        return None
    program = Path(str(file)).absolute()
    return program if program.exists() else None


@cache
def _version(program: Path) -> str:
    """Return the version of a program, by its answer to ``--version``; an EngineError if it is no
    executable program, does not answer as Macaulay2, or is too old.
    """
    if not os.path.isfile(program) or not os.access(program, os.X_OK):
        raise EngineNotFoundError(f"{program} is not an executable program. {ADVICE}")
    answer = _probe(program)
    if answer.returncode < 0:  # a signal ended it, perhaps from outside: ask a second time
        answer = _probe(program)
    _check_program_works(program, answer)
    lines = answer.stdout.decode(errors="replace").strip().splitlines()
    text = lines[0] if lines else ""
    match = re.fullmatch(r"(\d+)\.(\d+)[\w.+-]*", text)
    if match is None:
        printed = f"printed '{visible(text[:60])}'"
        complaint = answer.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        if complaint:
            printed += f" and complained '{printable(complaint)[-160:]}'"
        raise EngineVersionError(_refusal(program, printed))
    major, minor = match.groups()
    if (int(major), int(minor)) < OLDEST:
        raise EngineVersionError(
            f"{program} is Macaulay2 {text}; m2bridge needs 1.21 or newer. {ADVICE}"
        )
    return text


def _check_program_works(program: Path, answer: subprocess.CompletedProcess[bytes]) -> None:
    """Check that no signal ended a program that was asked for its version, and that it found the
    programs that it calls; EngineVersionError if not.
    """
    killed = signal_of(answer.returncode)
    if killed == signal.SIGILL:
        raise EngineVersionError(f"{program} {OTHER_PROCESSOR}")
    if killed is not None:
        raise EngineVersionError(f"{program} was stopped by {killed.name} at '--version'. {ADVICE}")
    missing_program = _MISSING.search(answer.stderr.decode(errors="replace"))
    if missing_program is not None:
        needs = f"needs the program {missing_program[1]}, which is not on PATH"
        raise EngineVersionError(f"{program} {needs}: add its folder, usually /usr/bin, to PATH")


_MISSING = re.compile(
    r": (?:line )?\d+: ([\w-]+): (?:command not found|not found|No such file or directory)"
)
"""The message of bash and dash if a shell script calls a program that is not on PATH."""


def _probe(program: Path) -> subprocess.CompletedProcess[bytes]:
    """Run a program with ``--version``; return its answer, whatever its exit status.
    EngineVersionError if it cannot be started or gives no answer.
    """
    running = clock()
    running.check()
    seconds = PROBE_SECONDS if running.remaining is None else min(running.remaining, PROBE_SECONDS)
    try:
        return subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
            env={**ONE_BLAS_THREAD, **os.environ},
        )
    except subprocess.TimeoutExpired as reason:
        if seconds < PROBE_SECONDS:  # the limit of the computation was reached first
            raise running.late(f"'{program} --version'") from None
        raise EngineVersionError(_refusal(program, "gave no answer")) from reason
    except OSError as reason:
        why = f" ({reason.strerror})" if reason.strerror else ""
        message = _refusal(program, f"gave no answer{why}")
        if reason.errno in (errno.EMFILE, errno.ENFILE):
            message = f"{program} cannot be started, as too many files are open:"
            message += " raise the limit (ulimit -n)"
        raise EngineVersionError(message) from reason


def _refusal(program: Path, answer: str) -> str:
    """Return the message about a program whose ``answer`` is a clause such as ``gave no answer``; a
    limit on the address space may be the reason, and is then named.
    """
    allowed = address_space()
    if allowed is not None and allowed < MIN_ENGINE_MEMORY_BYTES:
        return (
            f"{program} does not start within the {allowed // 2**20}M of address space allowed here"
            f" (ulimit -v): '--version' {answer}. Macaulay2 takes up to 620M before it computes"
            " anything."
        )
    return f"{program} is not Macaulay2: '--version' {answer}. {ADVICE}"

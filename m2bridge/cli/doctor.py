"""The command that diagnoses the installation: which programs and packages are found, and where.

Macaulay2 is looked for in several places, in a fixed order; a candidate is a place, with the
program there if there is one. Each candidate is asked for its version, and the first that can be
used is taken.
"""

import json
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from m2bridge._version import __version__
from m2bridge.cli import DONE, NO_ENGINE, common
from m2bridge.cli.common import echo_json, fitted
from m2bridge.engine import Candidate, candidates, msolve
from m2bridge.engine.discovery import Probed, first_usable, probed
from m2bridge.errors import EngineError
from m2bridge.limits import asked_by, limited
from m2bridge.results.sheet import Block, Facts, Sheet, Table, line as on_one_line, shortened
from m2bridge.system import folder as resource_folder

PACKAGES = (
    "sympy",
    "python-flint",
    "jinja2",
    "pexpect",
    "click",
    "psutil",
    "rich",
    "passagemath-macaulay2",
)
FOLDERS = ("templates", "m2scripts")
NOT_FOUND = "not found"
UNUSABLE = "cannot be used"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundProgram:
    """A place where a program was looked for, and what is there.

    Parameters
    ----------
    origin : str
        Such as ``--m2``, ``M2BRIDGE_M2`` and ``PATH``.
    program : Path or None
        ``None`` if nothing is there.
    version : str
        Empty if it cannot be used.
    taken : bool
        Whether m2bridge uses this one.
    reason : str
        Why it cannot be used; empty if it can, or if there is nothing.
    """

    origin: str
    program: Path | None
    version: str
    taken: bool
    reason: str

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return {
            "origin": self.origin,
            "program": None if self.program is None else str(self.program),
            "version": self.version or None,
            "taken": self.taken,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What was found of the programs and packages that m2bridge uses.

    Parameters
    ----------
    macaulay2, msolve : sequence of FoundProgram
        In the order of search.
    packages : dict of str to str or None
        The versions of Python packages; ``None`` for one that is not installed.
    failure : EngineError or None
        Why there is no Macaulay2.
    """

    macaulay2: Sequence[FoundProgram]
    msolve: Sequence[FoundProgram]
    packages: dict[str, str | None]
    failure: EngineError | None

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``, whose names docs/installation.md explains."""
        return {
            "m2bridge": __version__,
            "python": platform.python_version(),
            "platform": platform.platform(terse=True),
            "folders": {name: str(resource_folder(name)) for name in FOLDERS},
            "macaulay2": [found.to_json() for found in self.macaulay2],
            "msolve": [found.to_json() for found in self.msolve],
            "packages": self.packages,
            "error": None if self.failure is None else str(self.failure),
        }

    def sheet(self) -> Sheet:
        """The tables for a terminal: folders, each Macaulay2 and msolve, and Python packages."""
        title = (
            f"m2bridge {__version__}, Python {platform.python_version()},"
            f" {platform.platform(terse=True)}"
        )
        packages = [(name, version or "not installed") for name, version in self.packages.items()]
        blocks: list[Block] = [
            Facts([(name, resource_folder(name)) for name in FOLDERS]),
            *self._macaulay2_blocks(),
            Table(("from", "version"), self._msolve_rows(), "msolve, which is optional"),
            Table(("package", "version"), packages),
        ]
        return Sheet(title, blocks)

    def _macaulay2_blocks(self) -> list[Block]:
        """The tables of each Macaulay2: which is taken, where they are, and why others are not.

        The first column is always the origin, which says where m2bridge looked.
        """
        versions = []
        paths = []
        reasons = []
        for found in self.macaulay2:
            versions.append((found.origin, _version_cell(found), "taken" if found.taken else ""))
            if found.program is not None:
                paths.append((found.origin, on_one_line(str(found.program))))
            # the reason that is the error itself is printed after the sheet, with advice
            if found.reason and not self._is_failure(found):
                reasons.append((found.origin, shortened(on_one_line(found.reason))))
        return [
            Table(("from", "version", ""), versions, "Macaulay2, in the order of search"),
            Facts(paths, "Where they are"),
            Facts(reasons, "Why others are not taken"),
        ]

    def _is_failure(self, found: FoundProgram) -> bool:
        """Whether ``failure`` is about this program: it begins with the reason, which is not empty.

        ``failure`` is about the program that the user named, or about the first where none works.
        """
        return self.failure is not None and str(self.failure).startswith(found.reason)

    def _msolve_rows(self) -> list[tuple[str, str]]:
        """The rows of the table of msolve: where it was found, and its version or why not.

        The reason of a program that does not work is a predicate, ``gave no answer``; the reason of
        one that works, but cannot be used, is a clause, ``Macaulay2 1.21 has no package for it``.
        """
        rows = []
        for found in self.msolve:
            cell = found.version
            if not found.version:
                cell = f"{UNUSABLE}: it {found.reason}"
            elif found.reason:
                cell += f", but {found.reason}"
            rows.append((found.origin, cell))
        return rows or [("", f"{NOT_FOUND}: {msolve.INSTALL}")]


def diagnosis(explicit: str | None, timeout: float) -> Diagnosis:
    """Look for programs and packages, and return what was found.

    Parameters
    ----------
    explicit : str or None
        The Macaulay2 program after ``--m2``, if it is given.
    timeout : float
        Seconds for each program to print its version.
    """
    asked = []  # all candidates, also after the first usable one, for the table
    for candidate in candidates(explicit):
        with limited(timeout), asked_by("--timeout"):
            asked.append(probed(candidate))
    failure: EngineError | None = None
    choice: Candidate | None = None
    try:
        choice = first_usable(asked)
    except EngineError as error:
        failure = error
    return Diagnosis(
        macaulay2=[_found(place, taken=place.candidate == choice) for place in asked],
        msolve=_found_msolve(choice),
        packages={name: _installed(name) for name in PACKAGES},
        failure=failure,
    )


def _found(place: Probed, *, taken: bool) -> FoundProgram:
    """Return what is known of a place whose program, a Macaulay2, was asked for its version.

    ``place.refusal`` is the error that it raised, ``None`` if it can be used.
    """
    return FoundProgram(
        origin=place.candidate.origin,
        program=place.candidate.program,
        version="" if place.refusal else place.candidate.version,
        taken=taken,
        reason="" if place.refusal is None else _reason(place.refusal),
    )


def _reason(refusal: EngineError) -> str:
    """Return why a program is not used, without the advice; empty if there is no program."""
    message = str(refusal).partition(". Get Macaulay2")[0]  # the advice begins so
    return "" if message == "nothing there" else message  # the words for a place without a program


def _found_msolve(macaulay2: Candidate | None) -> list[FoundProgram]:
    """Return the places of the program msolve, with its version or why it cannot be used.

    The first one that can be used is taken. ``macaulay2`` is the Macaulay2 that is used, whose
    package runs msolve; without it, ``None``, no msolve is taken.
    """
    program = None if macaulay2 is None else macaulay2.program
    places: list[FoundProgram] = []
    for found in msolve.candidates(program):
        reason = found.refusal
        if not reason and macaulay2 is not None and not msolve.has_package(macaulay2.version):
            reason = f"Macaulay2 {macaulay2.version} has no package for it"
        is_one_taken = any(place.taken for place in places)
        place = FoundProgram(
            origin=found.origin,
            program=found.program,
            version=found.version,
            taken=macaulay2 is not None and not reason and not is_one_taken,
            reason=reason,
        )
        places.append(place)
    return places


def _version_cell(found: FoundProgram) -> str:
    """Return the cell of the table for a program: its version, or that there is none."""
    if found.program is None:
        return NOT_FOUND
    return found.version or UNUSABLE


def _installed(name: str) -> str | None:
    """The version of a package; ``None`` if it is not installed."""
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


@click.command("doctor", epilog="Example: m2bridge doctor")
@common.engine_option
@click.option(
    "--timeout",
    type=common.seconds,
    default=10.0,
    show_default=True,
    help="Time limit for each program to print its version.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object instead of tables.")
def doctor_command(program: str | None, timeout: float, as_json: bool) -> int:
    """Show which Macaulay2 is used, and where programs and packages are found."""
    found = diagnosis(program, timeout)
    if as_json:
        echo_json(json.dumps(found.to_json(), ensure_ascii=False))
    else:
        click.echo(fitted(found.sheet()))
    if found.failure is not None:
        click.echo(f"\n{shortened(on_one_line(str(found.failure)))}", err=True)
        return NO_ENGINE
    return DONE

"""The command that diagnoses the installation: which programs and packages are found, and where.

What is found is first a JSON object, whose names docs/installation.md explains; the tables for a
terminal are made of it. A place has an ``origin`` such as ``PATH``, the ``program`` there or
``None``, its ``version``, whether it is ``taken``, and the ``reason`` why not.
"""

import json
import platform
from typing import Any

import click

from m2bridge._version import __version__
from m2bridge.cli import DONE, NO_ENGINE, common
from m2bridge.cli.common import echo_json, fitted
from m2bridge.engine import Candidate, candidates, msolve
from m2bridge.engine.discovery import Probed, first_usable, probed
from m2bridge.errors import EngineError
from m2bridge.limits import asked_by, limited
from m2bridge.results.sheet import Facts, Sheet, Table, line as on_one_line, shortened
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


def diagnosis(explicit: str | None, timeout: float) -> tuple[dict[str, Any], EngineError | None]:
    """Look for programs and packages; return the JSON object, and why there is no Macaulay2.

    ``explicit`` is the program after ``--m2``, if it is given; each program has ``timeout`` seconds
    to print its version.
    """
    places = []  # all candidates, also after the first usable one, for the table
    for candidate in candidates(explicit):
        with limited(timeout), asked_by("--timeout"):
            places.append(probed(candidate))
    choice, failure = None, None
    try:
        choice = first_usable(places)
    except EngineError as error:
        failure = error
    return {
        "m2bridge": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
        "folders": {name: str(resource_folder(name)) for name in FOLDERS},
        "macaulay2": [_macaulay2_json(place, choice) for place in places],
        "msolve": _msolve_json(choice),
        "packages": {name: _installed(name) for name in PACKAGES},
        "error": None if failure is None else str(failure),
    }, failure


def _macaulay2_json(place: Probed, choice: Candidate | None) -> dict[str, Any]:
    """Return a place in which Macaulay2 was looked for; ``choice`` is the one that is taken."""
    program = place.candidate.program
    # without the advice; for a place without a program there is no reason
    reason = "" if place.refusal is None else str(place.refusal).partition(". Get Macaulay2")[0]
    return {
        "origin": place.candidate.origin,
        "program": None if program is None else str(program),
        "version": None if place.refusal else place.candidate.version,
        "taken": place.candidate == choice,
        "reason": "" if program is None else reason,
    }


def _msolve_json(macaulay2: Candidate | None) -> list[dict[str, Any]]:
    """Return the places of msolve, of which the first that Macaulay2 can use is taken."""
    places: list[dict[str, Any]] = []
    for candidate in msolve.candidates(None if macaulay2 is None else macaulay2.program):
        reason = candidate.refusal
        if not reason and macaulay2 is not None and not msolve.has_package(macaulay2.version):
            reason = f"Macaulay2 {macaulay2.version} has no package for it"
        is_usable = macaulay2 is not None and not reason
        places.append(
            {
                "origin": candidate.origin,
                "program": str(candidate.program),
                "version": candidate.version or None,
                "taken": is_usable and not any(place["taken"] for place in places),
                "reason": reason,
            }
        )
    return places


def _installed(name: str) -> str | None:
    """The version of a package; ``None`` if it is not installed."""
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _sheet(report: dict[str, Any]) -> Sheet:
    """Return the tables for a terminal of what was found."""
    macaulay2 = report["macaulay2"]
    versions = []
    for place in macaulay2:
        version = NOT_FOUND if place["program"] is None else place["version"] or UNUSABLE
        versions.append((place["origin"], version, "taken" if place["taken"] else ""))
    paths = [(place["origin"], place["program"]) for place in macaulay2 if place["program"]]
    # the reason with which the error begins is printed after the tables, with advice
    reasons = [
        (place["origin"], shortened(on_one_line(place["reason"])))
        for place in macaulay2
        if place["reason"] and not (report["error"] or "").startswith(place["reason"])
    ]
    of_msolve = []
    for place in report["msolve"]:
        # The reason of a program that does not work is a predicate, ``gave no answer``; where it
        # works, but cannot be used, the reason is a clause.
        cell = f"{UNUSABLE}: it {place['reason']}"
        if place["version"]:
            cell = place["version"] + (f", but {place['reason']}" if place["reason"] else "")
        of_msolve.append((place["origin"], cell))
    packages = [(name, text or "not installed") for name, text in report["packages"].items()]
    return Sheet(
        f"m2bridge {report['m2bridge']}, Python {report['python']}, {report['platform']}",
        [
            Facts(list(report["folders"].items())),
            Table(("from", "version", ""), versions, "Macaulay2, in the order of search"),
            Facts([(origin, on_one_line(path)) for origin, path in paths], "Where they are"),
            Facts(reasons, "Why others are not taken"),
            Table(
                ("from", "version"),
                of_msolve or [("", f"{NOT_FOUND}: {msolve.INSTALL}")],
                "msolve, which is optional",
            ),
            Table(("package", "version"), packages),
        ],
    )


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
    report, failure = diagnosis(program, timeout)
    if as_json:
        echo_json(json.dumps(report, ensure_ascii=False))
    else:
        click.echo(fitted(_sheet(report)))
    if failure is not None:
        click.echo(f"\n{shortened(on_one_line(str(failure)))}", err=True)
        return NO_ENGINE
    return DONE

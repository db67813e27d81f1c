"""Check that all that names this release agrees: ``python -m tests.release [TAG]``.

It compares the version with the changelog, ``CITATION.cff``, the tag, the versions that were tested
with what the package needs, the pin of Macaulay2's wheel, and the certificates of the tests.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from m2bridge import citation
from m2bridge._version import __version__
from m2bridge.engine.discovery import TESTED_WHEEL

ROOT = Path(__file__).parents[1]
SAMPLES = ("accepted", "all-sizes", "deep", "networks")
"""Folders of certificates that this release verifies."""


def problems(root: Path = ROOT, tag: str | None = None, released: bool = False) -> list[str]:
    """What does not agree in a checkout; a date is demanded only of a release."""
    return [
        *_of_the_changelog(root, released),
        *_of_the_citation(root, released),
        *_of_the_tag(tag),
        *_of_the_constraints(root),
        *_of_the_samples(root),
    ]


def _of_the_changelog(root: Path, released: bool) -> Iterator[str]:
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    first = re.search(r"^## (\S+)(.*)$", text, re.MULTILINE)
    if first is None or first[1] != __version__:
        yield f"CHANGELOG.md does not begin with {__version__}"
    elif released and "unreleased" in first[2]:
        yield f"CHANGELOG.md calls {__version__} unreleased"


def _of_the_citation(root: Path, released: bool) -> Iterator[str]:
    cff = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    if cff["version"] != __version__:
        yield f"CITATION.cff is of {cff['version']}, and not of {__version__}"
    if cff.get("repository-code", "") != citation.ADDRESS:
        yield "CITATION.cff has another address than citation.py"
    date = cff.get("date-released")
    if released and date is None:
        yield "CITATION.cff has no date-released"
    if date is not None and str(date)[:4] != str(citation.YEAR):
        yield f"date-released is not in {citation.YEAR}, the year of citation.py"


def _of_the_tag(tag: str | None) -> Iterator[str]:
    if tag is not None and tag != f"v{__version__}":
        yield f"the tag {tag} is not v{__version__}"


def _of_the_constraints(root: Path) -> Iterator[str]:
    """Each package that is needed has one tested version, within what pyproject.toml allows."""
    tested = {}
    for line in (root / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        name, _, version = line.partition("==")
        tested[canonicalize_name(name)] = version
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [*project["dependencies"]]
    for extra in project["optional-dependencies"].values():
        needed += extra
    for text in needed:
        requirement = Requirement(text)
        name = canonicalize_name(requirement.name)
        if name == project["name"]:
            continue
        if name not in tested:
            yield f"constraints.txt has no version of {name}"
        elif not requirement.specifier.contains(tested[name]):
            yield f"constraints.txt has {name} {tested[name]}, pyproject.toml demands {text}"
    wheel, _, pin = TESTED_WHEEL.partition("==")
    if tested.get(canonicalize_name(wheel)) != pin:
        yield f"constraints.txt has not the pin {TESTED_WHEEL}"


def _of_the_samples(root: Path) -> Iterator[str]:
    """Samples may be of earlier releases, which this one verifies; of none that is to come."""
    for folder in SAMPLES:
        for path in sorted((root / "tests" / "certificates" / folder).rglob("*.json")):
            certificate = json.loads(path.read_text(encoding="utf-8"))
            release = certificate["reported"]["versions"]["m2bridge"]
            if _numbers(release) > _numbers(__version__):
                yield f"{path.relative_to(root)} is of the later release {release}"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))


def main() -> int:
    """Print what does not agree; with a tag, what a release needs is demanded too."""
    tag = sys.argv[1] if len(sys.argv) > 1 else None
    found = problems(tag=tag, released=tag is not None)
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Check that all that names this release agrees: ``python -m tests.release [TAG]``.

What is compared: the version, the changelog and ``CITATION.cff``; the tag; the versions that were
tested with what the package needs and with what is installed here; the pin of Macaulay2's wheel
wherever it stands; the Pythons of the metadata with those that the workflow and the pages name; the
promises of ``docs/stability.md`` and ``SECURITY.md`` with the commands; the certificates of the
release with the checker.
"""

from __future__ import annotations

import json
import re
import signal
import sys
import tomllib
from collections.abc import Iterator, Mapping
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from m2bridge import citation, cli
from m2bridge._version import __version__
from m2bridge.batch.verifying import verify_files
from m2bridge.cli.commands import COMMANDS
from m2bridge.engine.discovery import TESTED_WHEEL, WHEEL
from m2bridge.families import registry
from tests.certificates import COMPLETE

ROOT = Path(__file__).parents[1]


def problems(root: Path = ROOT, tag: str | None = None) -> list[str]:
    """What does not agree in a checkout; with a tag, what a release needs is demanded too."""
    return [
        *_of_the_changelog(root, released=tag is not None),
        *_of_the_citation(root, released=tag is not None),
        *_of_the_tag(tag),
        *_of_the_constraints(root),
        *_of_the_wheel(root),
        *_of_the_systems(root),
        *_of_the_promises(root),
        *_of_the_samples(root, released=tag is not None),
    ]


def _text(root: Path, name: str) -> str:
    return (root / name).read_text(encoding="utf-8")


def _project(root: Path) -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads(_text(root, "pyproject.toml"))["project"]
    return project


# What it is called.


def _of_the_changelog(root: Path, released: bool) -> Iterator[str]:
    """It begins with this version and its date, or with ``(unreleased)``. A heading without a
    version, such as "Not released", may stand before it while no release is demanded.
    """
    version, date = _newest(root)
    if version != __version__:
        yield f"CHANGELOG.md does not begin with {__version__}"
    elif date is None and released:
        yield f"CHANGELOG.md has no date of {__version__}"
    if released and _headings(root)[0] != _headings(root, VERSION)[0]:
        yield f"CHANGELOG.md begins with '{_headings(root)[0]}', and not with a version"


def _newest(root: Path) -> tuple[str, str | None]:
    """The version at the head of the changelog, and its date, if there is one."""
    first = re.match(r"(\S+)(?: \((\d{4}-\d\d-\d\d)\))?", _headings(root, VERSION)[0])
    assert first is not None
    return first[1], first[2]


VERSION = r"\d+\.\d+\.\d+"
"""How a heading of the changelog about a release begins."""


def _headings(root: Path, begin: str = "") -> list[str]:
    """The headings of the changelog that begin as the pattern says, the newest first."""
    found = re.findall(r"^## (.*)$", _text(root, "CHANGELOG.md"), re.MULTILINE)
    return [heading for heading in found if re.match(begin, heading)]


def _of_the_citation(root: Path, released: bool) -> Iterator[str]:
    cff = yaml.safe_load(_text(root, "CITATION.cff"))
    if cff["version"] != __version__:
        yield f"CITATION.cff is of {cff['version']}, and not of {__version__}"
    if cff["title"] != citation.PROGRAM:
        yield f"CITATION.cff has the title '{cff['title']}', and not '{citation.PROGRAM}'"
    if cff.get("repository-code", "") != citation.ADDRESS:
        yield "CITATION.cff has another address than citation.py"
    date = cff.get("date-released")
    if date is None:
        if released:
            yield "CITATION.cff has no date-released"
        return
    if str(date)[:4] != str(citation.YEAR):
        yield f"date-released is not in {citation.YEAR}, the year of citation.py"
    version, said = _newest(root)
    if version == __version__ and said is not None and said != str(date):
        yield f"CITATION.cff was released on {date}, CHANGELOG.md on {said}"


def _of_the_tag(tag: str | None) -> Iterator[str]:
    if tag is not None and tag != f"v{__version__}":
        yield f"the tag {tag} is not v{__version__}"


# What it was tested with.


def _tested(root: Path) -> dict[str, str]:
    """The tested version of each package, by its normal name."""
    tested = {}
    for line in _text(root, "constraints.txt").splitlines():
        if line.startswith("#"):
            continue
        name, _, version = line.partition("==")
        tested[canonicalize_name(name)] = version
    return tested


def _needed(root: Path, *extras: str) -> Iterator[Requirement]:
    """What the package needs, with some extras or, if none is named, with all."""
    project = _project(root)
    texts = [*project["dependencies"]]
    for name, extra in project["optional-dependencies"].items():
        if not extras or name in extras:
            texts += extra
    for text in texts:
        requirement = Requirement(text)
        if requirement.name != project["name"]:
            yield requirement


def _of_the_constraints(root: Path) -> Iterator[str]:
    """Each package that is needed has one tested version, within what pyproject.toml allows."""
    tested = _tested(root)
    for requirement in _needed(root):
        name = canonicalize_name(requirement.name)
        if name not in tested:
            yield f"constraints.txt has no version of {name}"
        elif not requirement.specifier.contains(tested[name]):
            yield f"constraints.txt has {name} {tested[name]}, pyproject.toml demands {requirement}"
    python = re.search(r"CPython (\d\.\d+)", _text(root, "constraints.txt"))
    if python is None or python[1] not in _pythons(root):
        yield "constraints.txt is of no Python that pyproject.toml names"


def of_the_environment(installed: Mapping[str, str], root: Path = ROOT) -> Iterator[str]:
    """What is installed, by normal names, is what constraints.txt says was tested."""
    tested = _tested(root)
    for name, version in sorted(installed.items()):
        if name in (_project(root)["name"], "pip", "setuptools", "wheel"):
            continue
        if name not in tested:
            yield f"{name} {version} is installed, and not in constraints.txt"
        elif tested[name] != version:
            yield f"{name} {version} is installed, {tested[name]} is in constraints.txt"
    for requirement in _needed(root, "test", "cluster", "mcp", "plot"):
        if canonicalize_name(requirement.name) not in installed:
            yield f"{requirement.name} is not installed: pip install -c constraints.txt -e '.[test]'"


def installed_here() -> dict[str, str]:
    """The versions of the packages of this Python, by their normal names."""
    return {canonicalize_name(one.metadata["Name"]): one.version for one in distributions()}


PINNING = (
    "README.md",
    "CONTRIBUTING.md",
    "docs/installation.md",
    "constraints.txt",
    "examples/Dockerfile",
    "examples/github-actions.yml",
)
"""Files that name the pin of Macaulay2's wheel."""


def _of_the_wheel(root: Path) -> Iterator[str]:
    """The wheel that is tested is the one that every text names, and the newest one allowed."""
    texts = {root / name for name in (*PINNING, "CHANGELOG.md")}
    for folder, ending in (("docs", "md"), ("m2bridge", "py"), (".github", "yml")):
        texts |= {*(root / folder).rglob(f"*.{ending}")}
    for path in sorted(texts):
        name = str(path.relative_to(root))
        text = path.read_text(encoding="utf-8")
        pins = set(re.findall(rf"{WHEEL}==[\w.]+\b", text))
        if pins - {TESTED_WHEEL} or (name in PINNING and not pins):
            yield f"{name} has not the pin {TESTED_WHEEL}"
        for command in re.findall(rf"pip install[^\n]*{WHEEL}[^\n]*", text):
            if f"--no-deps '{TESTED_WHEEL}'" not in command and "{" not in command:
                yield f"{name} installs the wheel otherwise than by --no-deps: {command}"
    version = TESTED_WHEEL.partition("==")[2]
    (extra,) = _project(root)["optional-dependencies"]["macaulay2"]
    if f"<={version}" not in extra:
        yield f"the extra macaulay2 does not end with {version}, the newest that is tested"


def _pythons(root: Path) -> list[str]:
    """The versions of Python of the metadata."""
    classifiers = "\n".join(_project(root)["classifiers"])
    return re.findall(r"^Programming Language :: Python :: (3\.\d+)$", classifiers, re.MULTILINE)


CLASSIFIED = {
    "Operating System": "POSIX :: Linux",  # others once they were run
    "Development Status": "4 - Beta",  # docs/stability.md says what is new
}


def _of_the_systems(root: Path) -> Iterator[str]:
    """The metadata, the workflow and the pages name the same Pythons, and Linux alone was run."""
    pythons = _pythons(root)
    jobs = yaml.safe_load(_text(root, ".github/workflows/ci.yml"))["jobs"]
    steps = [step["with"] for step in jobs["everything"]["steps"] if "with" in step]
    run = [
        *(step["python-version"] for step in steps),
        *jobs["tests"]["strategy"]["matrix"]["python"],
    ]
    if run != pythons:
        yield f"the workflow runs {', '.join(run)}, pyproject.toml names {', '.join(pythons)}"
    first, *_, last = pythons
    listed = f"{', '.join(pythons[:-1])} and {last}"
    for name, words in {
        "pyproject.toml": f'requires-python = ">={first}"',
        "README.md": f"Python ≥ {first}",
        "CONTRIBUTING.md": f"Python {first} to {last} on Linux",
        "docs/stability.md": f"Python {first} to {last} on Linux",
        "docs/installation.md": f"tested, with Python {listed}",
    }.items():
        if words not in " ".join(_text(root, name).split()):
            yield f"{name} does not say '{words}'"
    for kind, value in CLASSIFIED.items():
        said = [line for line in _project(root)["classifiers"] if line.startswith(kind)]
        if said != [f"{kind} :: {value}"]:
            yield f"pyproject.toml has {said}, and not {kind} :: {value}"


# What it promises.


def _of_the_promises(root: Path) -> Iterator[str]:
    """Commands, options, files and groups that the two pages name are there, and exit codes are."""
    options = {"--help"}
    for command in COMMANDS:
        for param in command.params:
            options |= {*param.opts, *param.secondary_opts}
    commands = {command.name for command in COMMANDS}
    for page in ("docs/stability.md", "SECURITY.md"):
        text = _text(root, page)
        for code in re.findall(r"`([^`]+)`", text):
            words = code.split()
            if words[0] == "m2bridge" and words[1:] and words[1] not in commands:
                yield f"{page} names the command '{words[1]}', which is not there"
            for word in words:
                if word.startswith("--") and word not in options:
                    yield f"{page} names the option {word}, which is not there"
            if re.fullmatch(r"[\w/]+\.(txt|py|toml|md)", code) and not (root / code).is_file():
                yield f"{page} names the file {code}, which is not there"
        folder = (root / page).parent
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            if not (folder / link).is_file():
                yield f"{page} leads to {link}, which is not there"
    groups = (
        f"entry-point groups `{registry.FAMILY_ENTRY_POINTS}` and `{registry.CHECKER_ENTRY_POINTS}`"
    )
    if groups not in _text(root, "docs/stability.md"):
        yield f"docs/stability.md does not name the {groups}"
    rows = re.findall(r"^\| ([0-9, ]+) \|", _text(root, "docs/guide/command-line.md"), re.M)
    codes = [int(code) for row in rows for code in row.split(",")]
    if codes != CODES:
        yield f"docs/guide/command-line.md has {codes}, the program has {CODES}"


CODES = [
    *(cli.DONE, cli.REFUTED, cli.USAGE, cli.UNDECIDED, cli.NO_ENGINE, cli.FAILED),
    *(cli.OTHER_RELEASE, cli.INTERRUPTED, 128 + signal.SIGHUP, 128 + signal.SIGTERM),
    cli.BROKEN_PIPE,
]
"""The exit codes of the program, in the order of their page."""


# What it made.


def _of_the_samples(root: Path, released: bool) -> Iterator[str]:
    """This release has a folder of certificates of all kinds, and none is of a later one."""
    folder = root / "tests" / "certificates"
    series = ".".join(__version__.split(".")[:2])
    kept = [path.name for path in folder.iterdir() if re.fullmatch(r"\d+\.\d+", path.name)]
    if released and series not in kept:
        yield f"tests/certificates has no folder {series}"
    kinds: dict[str, set[tuple[str, str]]] = {}
    for name in (*COMPLETE, *kept):
        kinds[name] = set()
        for path in sorted((folder / name).rglob("*.json")):
            certificate = json.loads(path.read_text(encoding="utf-8"))
            kinds[name].add((certificate["family"], certificate["question"]))
            release = certificate["reported"]["versions"]["m2bridge"]
            if _numbers(release) > _numbers(__version__):
                yield f"{path.relative_to(root)} is of the later release {release}"
            elif name in kept and not f"{release}.".startswith(f"{name}."):
                yield f"{path.relative_to(root)} was made by {release}"
    if released and series in kept:
        for family, question in sorted(set().union(*kinds.values()) - kinds[series]):
            yield f"tests/certificates/{series} has no certificate of {family} on {question}"


def of_the_checker(root: Path = ROOT) -> Iterator[str]:
    """Certificates of this release and of earlier ones are accepted by the checker of this one."""
    paths = sorted((root / "tests" / "certificates").glob("[0-9]*.[0-9]*/*.json"))
    for finding in verify_files(paths):
        if not finding.accepted:
            yield f"{finding.name}: {finding.outcome} ({finding.check})"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))


def main() -> int:
    """Print what does not agree, here and in what is installed."""
    tag = sys.argv[1] if len(sys.argv) > 1 else None
    found = [*problems(tag=tag), *of_the_environment(installed_here()), *of_the_checker()]
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Examples in docstrings, and commands and code in the documentation."""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import m2bridge
from m2bridge.engine import Engine
from m2bridge.workspace.macaulay2 import Macaulay2

# The examples in the docstrings of the public names, which are written as after ``from m2bridge
# import *``.

NAMES = tuple(name for name in m2bridge.__all__ if name != "__version__")
FORMS = re.compile("_[a-z]|__repr__|to_(sheet|json|macaulay2)")
VERBS = {
    f"Ideal.{name}": method
    for name, method in vars(m2bridge.Ideal).items()
    if inspect.isfunction(method) and method.__doc__ and not FORMS.match(name)
}
"""The methods of ideals, which are public, too, but those that all results have."""
WITH_ENGINE = frozenset(
    {
        "AllSizes",
        "Closure",
        "Component",
        "CrossCheck",
        "Engine",
        "EngineDiedError",
        "EngineError",
        "TimeLimitError",
        "IdealSingularLocus",
        "Evaluation",
        "Image",
        "IrreducibleComponent",
        "Limits",
        "Macaulay2",
        "Membership",
        "Observations",
        "OrbitFacts",
        "PackageError",
        "ScriptError",
        "SingularLocus",
        "Transcript",
        "UnknownSymbolError",
        "Verdict",
        "Workspace",
        "WorkspaceLostError",
        "HilbertFunction",
        "ProjectiveScheme",
        "OrbitDiagram",
        "SliceSurface",
        "hilbert_function",
        "polar_degrees",
        "CriticalPoints",
        "EDDegree",
        "RobustnessCount",
        "robustness_count",
        "ed_degree",
        "dimension",
        "critical_points",
        "orbit_diagram",
        "slice_surface",
        "cross_check_all_sizes",
        "fibres",
        "image",
        "implicitize",
        "membership",
        "observe",
        "parse_ideal",
        "read_ideal_file",
        "singular_locus",
    }
)
"""Those whose examples need Macaulay2."""
ASKING = frozenset(
    name for name, method in VERBS.items() if "engine" in inspect.signature(method).parameters
) | {"Ideal.projective"}
"""The methods that ask it, and one whose example does."""


def examples(name: str) -> doctest.DocTest:
    """The examples of a public name, or of the package; those of a constant are its class's."""
    value = m2bridge if name == "m2bridge" else VERBS.get(name) or getattr(m2bridge, name)
    found = doctest.DocTestFinder(recurse=False, exclude_empty=False).find(
        value if hasattr(value, "__name__") else type(value),
        name,
        module=ModuleType(name),
        globs=_names(),
    )
    return found[0]


def method_examples(*names: str) -> list[doctest.DocTest]:
    """The examples of the methods of public classes."""
    finder = doctest.DocTestFinder()
    found = [
        test
        for name in names
        for test in finder.find(getattr(m2bridge, name), name, globs=_names())
    ]
    return [test for test in found if "." in test.name and test.examples]


def failures(test: doctest.DocTest) -> str:
    """What an example gives instead of what it says; empty if all is right."""
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.append)
    return "".join(said)


def _names() -> dict[str, Any]:
    return {name: getattr(m2bridge, name) for name in NAMES}


@contextmanager
def shared(engine: Macaulay2, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The public names, where every ``with Macaulay2()`` without limits takes the same session and
    does not end it.
    """

    @contextmanager
    def session(*arguments: Any, **options: Any) -> Iterator[Engine]:
        if arguments or options:
            with Macaulay2(*arguments, **options) as own:
                yield own
        else:
            yield engine

    with monkeypatch.context() as patched:
        patched.setattr("m2bridge.engine.session.Session", session)
        patched.setattr("m2bridge.engine.session._shared", lambda _: engine)
        yield {**_names(), "Macaulay2": session}


# Commands of README and docs, which their blocks say that a shell runs; those that the site's build
# runs; Python.

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SHELL = ("", "sh", "bash", "console", "shell")
COMMAND = re.compile(r"(?:\$ )?((?:echo .*\| *)?m2bridge .*)")
COMMENT = re.compile(r"\s+#\s.*")
ON_SITE = re.compile(r"^```\{command-output\} (.*)$", re.MULTILINE)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DIALOGUE = re.compile(r"^```pycon\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCE = "```"


def blocks(text: str) -> Iterator[list[str]]:
    """The lines of each block, fenced (of a language that a shell runs, or of none) or indented."""
    inside: str | None = None
    block: list[str] = []
    for line in [*text.replace("\\\n", " ").splitlines(), "end"]:
        if line.startswith(FENCE):
            if inside in SHELL:
                yield block
            block, inside = [], line.removeprefix(FENCE).strip() if inside is None else None
        elif inside is not None or line.startswith("    "):
            block.append(line.strip())
        elif block and line.strip():
            yield block
            block = []


def commands(block: list[str]) -> list[str]:
    """The commands of m2bridge in a block, without comments."""
    return [COMMENT.sub("", found[1]) for line in block if (found := COMMAND.fullmatch(line))]


def outputs(block: list[str]) -> dict[str, list[str]]:
    """The lines that a block shows below a command with a prompt, as its output, by the command."""
    found: dict[str, list[str]] = {}
    command = None
    for line in block:
        if line.startswith("$ "):
            command = (commands([line]) or [None])[0]
        elif command and line:
            found.setdefault(command, []).append(line)
    return found


def shown() -> dict[str, list[list[str]]]:
    """The outputs that README and docs show, by the command; ``…`` stands for lines that are left
    out.
    """
    found: dict[str, list[list[str]]] = {}
    for path in DOCUMENTS:
        for block in blocks(path.read_text(encoding="utf-8")):
            for command, lines in outputs(block).items():
                found.setdefault(command, []).append(lines)
    return found


def documented() -> dict[str, list[str]]:
    """The commands of each block that has any, by a name for the block: that of its document, and
    its first command.
    """
    return {
        f"{path.relative_to(ROOT)}: {found[0]}": found
        for path in DOCUMENTS
        for block in blocks(path.read_text(encoding="utf-8"))
        if (found := commands(block))
    }


def on_site() -> set[str]:
    """The commands whose output the site shows: building it runs them, and a wrong exit code is an
    error.
    """
    return {
        command
        for path in DOCUMENTS
        for command in ON_SITE.findall(path.read_text(encoding="utf-8"))
    }


def to_run() -> dict[str, list[str]]:
    """The blocks of README, and what those of ``docs/`` have besides: neither the site runs it nor
    a block before.
    """
    elsewhere, found = on_site(), {}
    for name, block in documented().items():
        new = (
            block
            if name.startswith("README")
            else [command for command in block if command not in elsewhere]
        )
        elsewhere |= set(block)
        if new:
            found[name] = new
    return found


def programs() -> dict[str, str]:
    """The Python of each document that no cell of the site is, by the name and the place of the
    block.
    """
    return {
        f"{path.relative_to(ROOT)}: {number}": found[1]
        for path in DOCUMENTS
        for number, found in enumerate(PYTHON.finditer(path.read_text(encoding="utf-8")), 1)
    }


def dialogues() -> dict[str, str]:
    """The Python of each document that is shown with its output, by the name and the place of the
    block.
    """
    return {
        f"{path.relative_to(ROOT)}: {number}": found[1]
        for path in DOCUMENTS
        for number, found in enumerate(DIALOGUE.finditer(path.read_text(encoding="utf-8")), 1)
    }

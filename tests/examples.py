"""The examples in the docstrings of the public names, which are written as after ``from m2bridge import *``."""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import pytest

import m2bridge
from m2bridge.engine import Engine, locate
from m2bridge.workspace.macaulay2 import Macaulay2

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
        "OrbitDiagram",
        "SliceSurface",
        "hilbert_function",
        "orbit_diagram",
        "slice_surface",
        "cross_check_all_sizes",
        "fibres",
        "image",
        "implicitize",
        "membership",
        "observe",
        "read_ideal_file",
        "singular_locus",
    }
)
"""Those whose examples need Macaulay2."""
ASKING = frozenset(name for name, method in VERBS.items() if "engine" in inspect.signature(method).parameters)
"""The methods that ask it."""


def examples(name: str) -> doctest.DocTest:
    """The examples of a public name, or of the package; those of a constant are its class's."""
    value = m2bridge if name == "m2bridge" else VERBS.get(name) or getattr(m2bridge, name)
    found = doctest.DocTestFinder(recurse=False, exclude_empty=False).find(
        value if hasattr(value, "__name__") else type(value), name, module=ModuleType(name), globs=_names()
    )
    return found[0]


def method_examples(*names: str) -> list[doctest.DocTest]:
    """The examples of the methods of public classes."""
    finder = doctest.DocTestFinder()
    found = [test for name in names for test in finder.find(getattr(m2bridge, name), name, globs=_names())]
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
    """The public names, where every ``with Macaulay2()`` without limits takes the same session and does not end it."""

    @contextmanager
    def session(*arguments: Any, **options: Any) -> Iterator[Engine]:
        if arguments or options:
            with Macaulay2(*arguments, **options) as own:
                yield own
        else:
            yield engine

    with monkeypatch.context() as patched:
        patched.setattr("m2bridge.engine.session.Session", session)
        patched.setattr("m2bridge.engine.session._SESSIONS", {locate(): engine})
        yield {**_names(), "Macaulay2": session}

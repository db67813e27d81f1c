"""Every public name has an example in its docstring, and the examples are right; those with Macaulay2 elsewhere."""

import doctest
import inspect
from importlib import import_module
from pkgutil import walk_packages

import pytest

import m2bridge
from tests.examples import ASKING, NAMES, VERBS, WITH_ENGINE, examples, failures


def test_a_public_name_has_an_example() -> None:
    for name in (*NAMES, *VERBS):
        written = examples(name).examples
        assert any(example.want for example in written), name
        skipped = any(example.options.get(doctest.SKIP) for example in written)
        assert skipped == (name == "Ideal.to_sage"), (
            name
        )  # it needs Sage; test_ideals_without_engine tries it where Sage is


def test_examples_without_an_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("m2bridge.engine.session.Session.start")
    monkeypatch.delattr("m2bridge.engine.session.Session.run")
    for name in {*NAMES, *VERBS} - WITH_ENGINE - ASKING:
        assert not failures(examples(name))


def test_other_examples() -> None:
    """Of names that are not public; these are written as in their module, beside the public names."""
    public = {name: getattr(m2bridge, name) for name in NAMES}
    for module in (found.name for found in walk_packages(m2bridge.__path__, "m2bridge.")):
        room = import_module(module)
        for test in doctest.DocTestFinder().find(room, module, globs=public | vars(room)):
            name = test.name.removeprefix(f"{module}.")
            if name not in (*NAMES, *VERBS) and name.split(".")[0] not in WITH_ENGINE:
                assert not failures(test)


def test_a_wrong_example_is_noticed() -> None:
    planted = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "planted", None, 0)
    assert "Expected:\n    3\nGot:\n    2" in failures(planted)


def test_results_print_their_text() -> None:
    for name in NAMES:
        value = getattr(m2bridge, name)
        if inspect.isclass(value) and hasattr(value, "to_text"):
            assert value.__str__ is not object.__str__, name
            shown = object.__new__(type("Shown", (value,), {"to_text": lambda self: "the text"}))
            assert str(shown) == "the text", name

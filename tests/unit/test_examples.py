"""Every public name has an example in its docstring, and the examples are right; those with Macaulay2 elsewhere."""

import doctest
import inspect
from importlib import import_module
from pkgutil import walk_packages

import pytest

import m2bridge
from tests.examples import ASKING, NAMES, VERBS, WITH_ENGINE, examples, failures


@pytest.mark.parametrize("name", [*NAMES, *VERBS])
def test_a_public_name_has_an_example(name: str) -> None:
    written = examples(name).examples
    assert any(example.want for example in written)
    assert not any(example.options.get(doctest.SKIP) for example in written)


@pytest.mark.parametrize("name", [name for name in (*NAMES, *VERBS) if name not in WITH_ENGINE | ASKING])
def test_examples_without_an_engine(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("m2bridge.engine.session.Session.start")
    monkeypatch.delattr("m2bridge.engine.session.Session.run")
    assert not failures(examples(name))


@pytest.mark.parametrize("module", [m.name for m in walk_packages(m2bridge.__path__, "m2bridge.")])
def test_other_examples(module: str) -> None:
    """Of names that are not public; these are written as in their module, beside the public names."""
    room = import_module(module)
    names = {name: getattr(m2bridge, name) for name in NAMES} | vars(room)
    for test in doctest.DocTestFinder().find(room, module, globs=names):
        name = test.name.removeprefix(f"{module}.")
        if name not in (*NAMES, *VERBS) and name.split(".")[0] not in WITH_ENGINE:
            assert not failures(test)


def test_a_wrong_example_is_noticed() -> None:
    planted = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "planted", None, 0)
    assert "Expected:\n    3\nGot:\n    2" in failures(planted)


@pytest.mark.parametrize("name", NAMES)
def test_results_print_their_text(name: str) -> None:
    value = getattr(m2bridge, name)
    if inspect.isclass(value) and hasattr(value, "to_text"):
        assert value.__str__ is not object.__str__
        shown = object.__new__(type("Shown", (value,), {"to_text": lambda self: "the text"}))
        assert str(shown) == "the text"

"""Messages about an argument are sentences, in Python and on the command line; the errors that
public functions raise are public.
"""

import builtins
import inspect
import re
from collections.abc import Iterator

import pytest

import m2bridge
from m2bridge.cli import commands
from m2bridge.errors import (
    InvalidCaseError,
    alternatives,
    as_sentence,
    check_choice,
    class_with_article,
)
from m2bridge.maps.dimension import DimensionMethod

PREDICATE = InvalidCaseError("d_out", "must be at least 1, not 0")
CLAUSE = InvalidCaseError("d_out", "'x' is not a range: write 3 or 1..4")
OPTION = InvalidCaseError("all_a", "has no effect with --cases")


@pytest.mark.parametrize(
    ("error", "in_python", "on_the_command_line"),
    [
        (
            PREDICATE,
            "Argument 'd_out' must be at least 1, not 0.",
            "Error: Invalid value for '--d-out': must be at least 1, not 0.",
        ),
        (
            CLAUSE,
            "Argument 'd_out': 'x' is not a range: write 3 or 1..4.",
            "Error: Invalid value for '--d-out': 'x' is not a range: write 3 or 1..4.",
        ),
        (
            OPTION,
            "Argument 'all_a' has no effect with --cases.",
            "Error: Option '--all-a' has no effect with --cases.",
        ),
    ],
)
def test_a_message_names_its_argument_in_a_sentence(
    error: InvalidCaseError,
    in_python: str,
    on_the_command_line: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def refuse() -> None:
        raise error

    assert str(error) == in_python
    assert commands.run_reporting_errors(refuse) == 2
    assert capsys.readouterr().err == f"{on_the_command_line}\n"


def documented_functions() -> Iterator[tuple[str, object]]:
    """The public names, and the methods and properties of public classes, base classes included."""
    for name in m2bridge.__all__:
        value = getattr(m2bridge, name)
        yield name, value
        for base in value.__mro__ if inspect.isclass(value) else ():
            if base.__module__.startswith("m2bridge"):
                yield from ((f"{name}.{member}", each) for member, each in vars(base).items())


def test_errors_that_public_functions_raise_are_public() -> None:
    """Every error that is named where a public name is documented, as under ``Raises``."""
    with_errors = 0
    for name, value in documented_functions():
        for error in re.findall(r"\b[A-Z]\w*Error\b", inspect.getdoc(value) or ""):
            with_errors += 1
            assert error in m2bridge.__all__ or hasattr(builtins, error), (name, error)
    assert with_errors > 200


def test_what_a_user_catches_is_public() -> None:
    """The error of Macaulay2 that did not answer, and its kinds; what only m2bridge itself meets
    has a public base class.
    """
    for error in (m2bridge.EngineError, *m2bridge.EngineError.__subclasses__()):
        assert getattr(m2bridge, error.__name__) is error


def test_a_choice_lists_the_values() -> None:
    with pytest.raises(InvalidCaseError) as refused:
        check_choice("method", "guess", DimensionMethod)
    assert str(refused.value) == (
        "Argument 'method' must be auto, elimination, jacobian, formula or all, not 'guess'."
    )
    check_choice("method", "all", DimensionMethod)
    assert alternatives(["one"]) == "one"


def test_sentences_end_once() -> None:
    assert as_sentence("use orbits") == "use orbits."
    assert as_sentence("did you mean orbits?") == "did you mean orbits?"


def test_classes_have_their_articles() -> None:
    articles = map(class_with_article, (m2bridge.Ideal, int, str, type(None)))
    assert list(articles) == ["an Ideal", "an int", "a str", "a NoneType"]

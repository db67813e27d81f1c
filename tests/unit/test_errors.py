"""Messages about an argument are sentences, in Python and on the command line."""

import pytest

from m2bridge.cli import commands
from m2bridge.errors import InvalidCaseError, alternatives, as_sentence, check_choice
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

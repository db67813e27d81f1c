"""Coefficients on the wire: those that do not follow the format are named errors."""

from fractions import Fraction

import pytest

from m2bridge.convert.answers import Answer
from m2bridge.convert.bounded_io import read_json
from m2bridge.convert.decode import decode
from m2bridge.errors import ConversionError, ParseError
from m2bridge.system import integer


def _element(field: list[str], coefficient: str) -> list[object]:
    return ["RingElement", ["PolynomialRing", field, [["x"]]], [[[2], coefficient]]]


@pytest.mark.parametrize("field", [["ZZ"], ["QQ"], ["ZZ/p", "7"]], ids=str)
@pytest.mark.parametrize("text", ["1/0", "1/2/3", "", "/", "x", "0"])
def test_what_is_no_coefficient(field: list[str], text: str) -> None:
    with pytest.raises(ParseError):
        decode(_element(field, text))


def test_coefficients() -> None:
    assert Fraction(str(decode(_element(["QQ"], "-6/4")).LC)) == Fraction(-3, 2)
    assert decode(_element(["ZZ/p", "7"], "5")).LC == 5


def test_true_is_no_integer_of_an_answer() -> None:
    answer = Answer({"numbers": [1, True], "rows": [[1, True]], "number": True, "right": [1, 2]})
    assert answer.integers("right") == [1, 2]
    readers = {"numbers": answer.integers, "rows": answer.integer_lists, "number": answer.integer}
    for name, reader in readers.items():
        with pytest.raises(ParseError):
            reader(name)


@pytest.mark.parametrize("digits", [3, 5000])
def test_a_number_may_have_a_sign(digits: int) -> None:
    ones = "1" * digits
    assert 9 * integer(f"+{ones}") == -9 * integer(f"-{ones}") == 10**digits - 1


def test_a_sign_is_no_digit() -> None:
    assert read_json("-12", digits=2) == -12
    with pytest.raises(ConversionError, match="an integer of 3 digits"):
        read_json("-123", digits=2)

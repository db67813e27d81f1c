"""Coefficients on the wire: those that do not follow the format are named errors."""

from fractions import Fraction

import pytest

from m2bridge.convert.decode import decode
from m2bridge.errors import ParseError


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

"""Coordinates of functions that ``membership`` takes, without Macaulay2."""

from fractions import Fraction
from typing import Any

import pytest
from sympy import Integer, Rational, Symbol, nan, sqrt

from m2bridge import SingleLayerAttention, membership
from m2bridge.errors import InvalidCaseError
from m2bridge.trained_weights.heads.membership import exact_coordinates


def test_rational_numbers_in_any_form_are_taken() -> None:
    given = {"a": 3, "b": "1/2", "c": Fraction(-2, 3), "d": Rational(7, 5), "e": "0.25"}
    assert exact_coordinates(given) == {
        "a": Integer(3),
        "b": Rational(1, 2),
        "c": Rational(-2, 3),
        "d": Rational(7, 5),
        "e": Rational(1, 4),
    }


@pytest.mark.parametrize(
    "value", ["1/0", "abc", "nan", "inf", "", None, True, 1j, [1], sqrt(2), nan, Symbol("x")]
)
def test_what_is_no_rational_number_is_refused_with_its_coordinate(value: Any) -> None:
    model = SingleLayerAttention(d=2, d_out=1)
    with pytest.raises(InvalidCaseError, match="no rational number, given for 'c_1_1_1_1'"):
        membership(model, {"c_1_1_1_1": value})


def test_a_float_is_refused_with_the_exact_number_to_write() -> None:
    model = SingleLayerAttention(d=2, d_out=1)
    with pytest.raises(InvalidCaseError, match=r"write Fraction\('0.5'\) for 'c_1_1_1_1'"):
        membership(model, {"c_1_1_1_1": 0.5})

"""Terms of polynomials in the text of Macaulay2's engine."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from m2bridge.convert.wire import dense_exponents as dense
from m2bridge.convert.wire import sparse_terms as terms
from m2bridge.errors import ParseError

NAMES = ["x", "y", "z", "e'", "x_1", "x_12", "y_(1,2)", "y_(1,12)"]


def read(text: str, size: int) -> list[tuple[str, tuple[int, ...]]]:
    return [(number, dense(powers, len(NAMES))) for number, powers in terms(["Text", NAMES, size, text])]


def test_a_text_of_all_kinds_of_terms() -> None:
    assert read("-x2y_(1,2)^13+3/2xzx_1e'^4-x_12y_(1,12)-7/3", 4) == [
        ("-1", (2, 0, 0, 0, 0, 0, 13, 0)),
        ("3/2", (1, 0, 1, 4, 1, 0, 0, 0)),
        ("-1", (0, 0, 0, 0, 0, 1, 0, 1)),
        ("-7/3", (0,) * 8),
    ]
    assert read("x", 1) == [("1", (1, 0, 0, 0, 0, 0, 0, 0))]


MONOMIALS = st.lists(st.integers(0, 20), min_size=8, max_size=8).map(tuple)
NUMBERS = st.fractions().filter(bool)


def power(name: str, exponent: int) -> str:
    return name if exponent == 1 else f"{name}{exponent}" if len(name) == 1 else f"{name}^{exponent}"


@given(st.lists(st.tuples(NUMBERS, MONOMIALS), min_size=1))
def test_every_text_is_read_in_one_way(listed: list[tuple[object, tuple[int, ...]]]) -> None:
    text = ""
    for number, exponents in listed:
        powers = [power(name, e) for name, e in zip(NAMES, exponents, strict=True) if e]
        written = str(number).removesuffix("1") if str(number) in ("1", "-1") and powers else str(number)
        text += ("" if written.startswith("-") or not text else "+") + written + "".join(powers)
    assert read(text, len(listed)) == [(str(number), exponents) for number, exponents in listed]


@pytest.mark.parametrize("text", ["t", "2*x", "x^", "x y", "x^2^3", "3.5x", "x_(1;2)", "-", "3/x", "/2x"])
def test_what_is_no_polynomial_in_these_variables_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="not a"):
        read(f"{text}+x", 2)


@pytest.mark.parametrize("text", ["x", "x-y", "x+y+z+7", ""])
def test_a_text_that_is_cut_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="terms of 3"):
        read(text, 3)

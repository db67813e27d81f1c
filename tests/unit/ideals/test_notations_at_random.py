"""Polynomials written at random in the notations of people: each is read as it was made, or refused.

Letters without signs between them are one name where nothing says that they are a product.
"""

from random import Random

import pytest
from sympy import Expr, Integer, Rational, Symbol, expand

from m2bridge import ideal
from m2bridge.errors import ConversionError

_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_LETTERS = "xyzt"
_NUMBERS = {"2": 2, "7": 7, "1/3": Rational(1, 3), "5//4": Rational(5, 4), ".5": Rational(1, 2),
            "1.25": Rational(5, 4), "2.": 2}  # fmt: skip


def _factor(chance: Random, depth: int) -> tuple[Expr, str]:
    base, text = Symbol(letter := chance.choice(_LETTERS)), letter
    exponent = chance.choice([1, 1, 2, 3, 10])
    if depth == 0 and chance.random() < 0.2:
        base, text = _sum(chance, 1)
        text, exponent = f"({text})", chance.choice([1, 2])
    if exponent == 1:
        return base, text
    sign = chance.choice(["^", "**", " ^ ", ""])
    power = str(exponent) if sign else str(exponent).translate(_SUPERSCRIPTS)
    return base**exponent, f"{text}{sign}{power}"


def _product(chance: Random, depth: int) -> tuple[Expr, str]:
    value: Expr = Integer(1)
    parts = []
    if chance.random() < 0.4:
        number = chance.choice(list(_NUMBERS))
        value, parts = value * _NUMBERS[number], [number]
    for _ in range(chance.randrange(1, 4)):
        factor, text = _factor(chance, depth)
        value, parts = value * factor, [*parts, text]
    return value, chance.choice(["*", " * ", "·", "×", "", " "]).join(parts)


def _sum(chance: Random, depth: int) -> tuple[Expr, str]:
    value, text = Integer(0), ""
    for place in range(chance.randrange(1, 4)):
        summand, written = _product(chance, depth)
        sign = chance.choice(["+", "-", "−", " + ", " - ", "+ -"] if place else ["", "-", "+"])
        negative = sign.count("-") + sign.count("−")
        value, text = value + (-1) ** negative * summand, text + sign + written
    return value, text


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_each_is_read_as_it_was_made_or_refused(seed: int) -> None:
    chance = Random(seed)
    read = 0
    for _ in range(200 if seed > 1 else 40):
        (left, text), (right, other) = _sum(chance, 0), _sum(chance, 1)
        form = chance.choice(["{0}", "{0} = {1}", "{0} == {1}", "[{0}]", "Eq({0}, {1})"])
        try:
            found = ideal(form.format(text, other), variables=_LETTERS.replace("", " ").split())
        except ConversionError:
            continue
        expected = expand(left - right if "{1}" in form else left)
        assert expand(sum((g.as_expr() for g in found.generators), -expected)) == 0, text
        read += 1
    assert read > 10

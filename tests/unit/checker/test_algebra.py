"""Algebra of the checker, by examples that are known by hand."""

import flint
import pytest

from m2bridge.checker import algebra
from m2bridge.checker.algebra import (
    groebner_basis,
    hilbert_series,
    is_cohen_macaulay,
    is_in,
    leading_monomials,
    ring,
)
from m2bridge.errors import TooExpensiveError


@pytest.mark.parametrize(
    ("generators", "numerator", "expected"),
    [
        # complete intersections of a conic q = xy and a form without common factor
        (["q", "cubic"], [1, 2, 2, 1], True),
        (["q", "quartic"], [1, 2, 2, 2, 1], True),
        # in place of q its multiples by variables: q is killed by them, so that no linear form is
        # regular. The series has positive numbers only, and shows nothing: the restriction has the
        # dimensions 1, 2, 3, 1 where the series has 1, 2, 3, and 1, 2, 3, 2, 1 where it has
        # 1, 2, 3, 1, 1.
        (["qx", "qy", "qz", "cubic"], [1, 2, 3], False),
        (["qx", "qy", "qz", "quartic"], [1, 2, 3, 1, 1], False),
    ],
)
def test_cohen_macaulay_is_seen_from_every_dimension_of_the_restriction(
    generators: list[str], numerator: list[int], expected: bool
) -> None:
    context = ring(3)
    x, y, z = context.gens()
    q = x * y
    forms = {"q": q, "qx": q * x, "qy": q * y, "qz": q * z}
    forms |= {"cubic": x**3 + y**3 + z**3, "quartic": x**4 + y**4 + z**4}
    polynomials: list[flint.fmpz_mpoly] = [forms[name] for name in generators]
    basis = groebner_basis(polynomials, context)
    series = hilbert_series(leading_monomials(basis), 3)
    assert series == (numerator, 1)
    assert is_cohen_macaulay(polynomials, series, 3) is expected


def test_nothing_but_zero_is_in_the_zero_ideal() -> None:
    context = ring(2)
    x, _ = context.gens()
    of_zero = groebner_basis([], context)
    assert is_in(context.constant(0), of_zero)
    assert not is_in(x, of_zero)
    assert not is_in(context.constant(1), groebner_basis([x], context))
    assert is_in(x**2, groebner_basis([x], context))


def test_a_basis_that_is_not_finished_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    context = ring(2)
    x, y = context.gens()
    polynomials = [x**2 * y - 1, x * y**2 - x]
    assert len(groebner_basis(polynomials, context)) > 0
    monkeypatch.setattr(algebra, "LIMITS", (2, 100, 100))
    with pytest.raises(TooExpensiveError, match="not decided"):
        groebner_basis(polynomials, context)

"""Binomials of a lattice, checked at points of the image."""

from math import prod

import pytest

from m2bridge import PolynomialMap
from m2bridge.errors import MethodUnavailableError
from m2bridge.maps.toric import binomial, exponent_columns, lattice_basis

SCALARS = (2, 3, 5)
EXPONENTS = [(2, 0), (1, 1), (0, 2)]


@pytest.mark.parametrize("point", [(1, 1), (2, 7), (-3, 5)])
def test_binomials_vanish_on_a_map_with_coefficients(point: tuple[int, int]) -> None:
    """x = 2s², y = 3st, z = 5t² satisfy 9xz = 10y², and 10xz = 9y² nowhere but at zeros."""
    image = [
        c * prod(map(pow, point, powers)) for c, powers in zip(SCALARS, EXPONENTS, strict=True)
    ]
    (vector,) = lattice_basis(EXPONENTS)
    equation = binomial(vector, SCALARS)
    assert equation == {(1, 0, 1): 9, (0, 2, 0): -10}
    values = [c * prod(map(pow, image, exponents)) for exponents, c in equation.items()]
    assert sum(values) == 0


def test_the_zero_map_has_no_lattice() -> None:
    """It is refused with the way out: its linearly independent coordinates are none."""
    independent = PolynomialMap.from_terms(["s"], {})
    with pytest.raises(MethodUnavailableError, match="all coordinates are zero; use --strategy el"):
        exponent_columns(independent)

"""Polar degrees of toric varieties by volumes and by counting points in slices."""

from __future__ import annotations

import pytest
from sympy import Expr, symbols

from m2bridge import PolynomialMap, polar_degrees

pytestmark = pytest.mark.macaulay2("any")

s, t, u, v = symbols("s t u v")

CASES = {
    "a smooth quartic that is not normal as a cone": [s**4, s**3 * t, s * t**3, t**4],
    "Whitney's umbrella": [s**2, t, s * t],
    "a surface whose edges have sublattices": [u**4, s**2 * u**2, s**4, t * u**3, s * t * u**2],
    "a surface with two cusps": [u**4, s**2 * u**2, s**3 * u, t**2 * u**2, t**3 * u, s * t * u**2],
    "a Hirzebruch surface": [s * u, s * v, t * u**2, t * u * v, t * v**2],
    "a threefold with a dual variety of smaller dimension": [
        *(s**2 * v, s * t * v, t**3, u**3, s * u * v)
    ],
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.slow
def test_volumes_and_slices_agree(name: str) -> None:
    images: list[Expr] = CASES[name]
    used = sorted(set().union(*(image.free_symbols for image in images)), key=str)
    given = PolynomialMap.from_expressions(used, {f"x{i}": f for i, f in enumerate(images)})
    found = polar_degrees(given)
    counted = polar_degrees(given, method="slices")
    assert (found.method, counted.method) == ("theorem", "slices")
    assert found.degrees == counted.degrees
    assert (found.ambient, found.closure) == (counted.ambient, counted.closure)

"""Polar degrees of toric varieties against closed formulas."""

from itertools import combinations, product
from math import comb, factorial, gcd

import pytest
from sympy import symbols

from m2bridge import PolynomialMap, polar_degrees
from m2bridge.algebra import polytopes
from m2bridge.maps.degrees.toric_degrees import toric_polar_data, toric_polar_degrees

s, t, u = symbols("s t u")


def test_monomial_curves() -> None:
    """The class of a curve of degree d is 2d − 2 plus a correction at its two special points."""
    for degree in range(2, 8):
        for chosen in combinations(range(1, degree), 2):
            exponents = (0, *chosen, degree)
            if gcd(*exponents) > 1:
                continue
            # the multiplicity at a point is the least exponent there
            special = chosen[0], degree - chosen[1]
            expected = degree, 2 * degree - sum(special)
            assert toric_polar_degrees([(e,) for e in exponents]) == expected


@pytest.mark.parametrize(("size", "degree"), [(2, 2), (2, 3), (3, 2), (2, 4)])
def test_veronese_varieties(size: int, degree: int) -> None:
    """δ_0 is the degree of the discriminant of forms, (n + 1)(d − 1)^n."""
    points = [p for p in product(range(degree + 1), repeat=size) if sum(p) <= degree]
    found = toric_polar_degrees(points)
    assert found[0] == degree**size
    assert found[-1] == (size + 1) * (degree - 1) ** size


@pytest.mark.parametrize(
    "sizes", [(1, 1), (1, 2), (2, 2), (1, 1, 1), pytest.param((1, 1, 2), marks=pytest.mark.slow)]
)
def test_segre_varieties(sizes: tuple[int, ...]) -> None:
    """By integrals of Chern classes of a product of projective spaces, which is smooth."""
    simplices = [[tuple(int(i == j) for j in range(n)) for i in range(-1, n)] for n in sizes]
    points = [sum(corner, ()) for corner in product(*simplices)]
    assert toric_polar_degrees(points) == by_chern_classes(sizes)


def by_chern_classes(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """δ_i = Σ_j (−1)^j C(n + 1 − j, i + 1) ∫ c_j H^(n − j), with c = Π (1 + h_k)^(n_k + 1)."""
    last = sum(sizes)
    integrals = [0] * (last + 1)
    for classes in product(*(range(n + 1) for n in sizes)):
        chern = 1
        power = factorial(last - sum(classes))
        for n, k in zip(sizes, classes, strict=True):
            chern *= comb(n + 1, k)
            power //= factorial(n - k)
        integrals[sum(classes)] += chern * power
    degrees = []
    for i in range(last, -1, -1):
        terms = ((-1) ** j * comb(last + 1 - j, i + 1) * integrals[j] for j in range(last - i + 1))
        degrees.append(sum(terms))
    return tuple(degrees)


def test_a_map_of_monomials_needs_no_macaulay2() -> None:
    cuspidal = PolynomialMap.from_expressions([s], {"x": 3 * s**2, "y": s**3})
    found = polar_degrees(cuspidal)
    assert (found.degrees, found.method, found.closure) == ((3, 3), "theorem", True)
    assert (found.ambient, found.dimension, found.primes) == (2, 1, ())
    cubic = {"x": s**3, "y": s**2 * t, "z": s * t**2, "w": t**3 / 7}
    found = polar_degrees(PolynomialMap.from_expressions([s, t], cubic))
    assert (found.degrees, found.ambient, found.closure) == ((3, 4), 3, False)


def test_other_maps_have_no_such_theorem(monkeypatch: pytest.MonkeyPatch) -> None:
    assert toric_polar_data(PolynomialMap.from_expressions([s, t], {"x": s + t, "y": t})) is None
    square = PolynomialMap.from_expressions([s, t], {"x": s, "y": t, "z": s * t})
    assert toric_polar_data(square) is not None
    monkeypatch.setattr(polytopes, "MAX_FACES", 8)
    assert toric_polar_data(square) is None

"""Polar degrees of toric varieties against closed formulas."""

from itertools import combinations, product
from math import comb, factorial, gcd

import pytest
from sympy import symbols

from m2bridge import PolynomialMap, polar_degrees
from m2bridge.algebra import polytopes
from m2bridge.algebra.polytopes import faces, lattice_coordinates
from m2bridge.errors import TooLargeError
from m2bridge.maps.degrees import toric_degrees
from m2bridge.maps.degrees.toric_degrees import (
    euler_obstructions,
    smooth_faces,
    toric_polar_data,
    toric_polar_degrees,
)

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


@pytest.mark.parametrize(
    ("exponents", "degrees", "generic_ed_degree"),
    [
        (((3, 3, 0), (0, 5, 1), (0, 0, 2), (1, 2, 0), (1, 1, 2), (2, 3, 0)), (28, 81, 98, 45), 252),
        # one exponent is negative
        (
            ((3, 3, 0), (5, -2, 1), (2, 0, 2), (1, 2, 4), (1, -1, 2), (2, 3, 0)),
            (74, 236, 278, 121),
            709,
        ),
    ],
)
def test_threefolds_of_macaulay2s_package(
    exponents: tuple[tuple[int, ...], ...], degrees: tuple[int, ...], generic_ed_degree: int
) -> None:
    """Examples of the documentation and of the tests of Macaulay2's package ToricInvariants."""
    found = toric_polar_degrees(exponents)
    assert found == degrees
    assert sum(found) == generic_ed_degree


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


def test_linear_spaces_of_any_dimension(monkeypatch: pytest.MonkeyPatch) -> None:
    # they have a smooth orbit for each of 2^14 − 1 faces, which are not listed
    monkeypatch.setattr(polytopes, "MAX_FACES", 1)
    units = [tuple(int(i == j) for j in range(14)) for i in range(14)]
    assert toric_polar_degrees(units) == (1, *[0] * 13)


@pytest.mark.parametrize(
    "points",
    [
        list(product(range(2), repeat=3)),
        # cones, and surfaces that are not normal
        [(0, 0), (1, 0), (2, 0), (0, 1)],
        [(0, 0), (2, 0), (3, 0), (0, 1), (1, 1)],
        [(0, 0, 0), (1, 0, 0), (0, 1, 0), (2, -2, 1), (0, 0, 1)],
    ],
)
def test_smooth_orbits_have_the_obstruction_of_the_sum(
    points: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = lattice_coordinates([(1, *point) for point in points])
    dimensions = faces(vectors)
    found = euler_obstructions(vectors, dimensions)
    smooth = smooth_faces(vectors, dimensions)
    assert len(smooth) > 1
    whole = {max(dimensions, key=dimensions.__getitem__)}
    monkeypatch.setattr(toric_degrees, "smooth_faces", lambda *_: whole)
    assert euler_obstructions(vectors, dimensions) == found


def test_a_lattice_of_smaller_index_is_singular() -> None:
    """Along the double line of a Whitney umbrella the quotient is ℕ, and the variety not normal."""
    vectors = lattice_coordinates([(1, *point) for point in [(0, 0), (2, 0), (0, 1), (1, 1)]])
    dimensions = faces(vectors)
    assert frozenset({0, 1}) not in smooth_faces(vectors, dimensions)


def test_too_many_singular_orbits_are_counted_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toric_degrees, "MAX_PAIRS", 4)
    octahedron = [(0, 0, 0)]
    for i in range(3):
        octahedron += [tuple(sign * int(i == j) for j in range(3)) for sign in (1, -1)]
    with pytest.raises(TooLargeError, match="more than 4 pairs of orbits"):
        toric_polar_degrees(octahedron)

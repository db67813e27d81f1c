"""Exact mathematics against SymPy, closed formulas and values printed elsewhere."""

from fractions import Fraction
from math import comb, factorial

import pytest
from sympy import Matrix, symbols

from m2bridge.algebra.determinantal import determinantal_degree
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.hilbert_series import HilbertSeries, n
from m2bridge.algebra.jacobian import differential_rank, jacobian_at, random_point, tangent_dimension
from m2bridge.algebra.linear_algebra import pivot_columns, rank
from m2bridge.algebra.linear_span import in_sparse_coordinates, linear_isomorphism, reduce_linearly
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.errors import ConversionError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import (
    Orbit,
    flatten,
    maximal_orbits,
    orbit_closure_degree,
    orbit_closure_map,
    orbits,
    representative,
)
from m2bridge.families.attention.parametrization import function, sparse
from m2bridge.families.attention.shape import degree_formula, dimension_formula
from m2bridge.families.attention.tangents import orbit_dimension
from m2bridge.system import decimal, integer

CASES = [(1, 1), (1, 3), (2, 1), (2, 1, 1), (2, 2), (2, 3, 1), (3, 1), (3, 2, 2), (3, 3), (4, 1, 2), (4, 2, 3)]


@pytest.mark.parametrize("case", CASES)
def test_jacobian_rank_attains_the_dimension_formula(case: tuple[int, ...]) -> None:
    model = SingleLayerAttention(*case)
    factored = model.parametrization(weights="factored")
    point = random_point(factored, 1000, 1)
    assert differential_rank(factored, point) == dimension_formula(model)
    assert differential_rank(factored, point, field=CoefficientField(LARGE_PRIME)) == dimension_formula(model)


def test_jacobian_against_sympy() -> None:
    x, y, z = symbols("x y z")
    ring = PolynomialRing(QQ, ("x", "y", "z"))
    expressions = [x**3 * y / 2 - z / 3, x * y * z, z**2 + 5]
    polynomials = [ring.polynomial(e) for e in expressions]
    for point in [(2, 3, 5), (0, 3, 5), (0, 0, 5), (1, 0, 0)]:
        expected = Matrix(expressions).jacobian([x, y, z]).subs(dict(zip((x, y, z), point, strict=True)))
        found = jacobian_at(polynomials, point)
        assert [Fraction(v, 6) for v in found[0]] == [Fraction(int(e.p), int(e.q)) for e in expected.row(0)]
        assert found[1:] == [list(map(int, expected.row(i))) for i in (1, 2)]


def test_tangent_dimension_of_the_whitney_umbrella() -> None:
    ring = PolynomialRing(QQ, ("x", "y", "z"))
    x, y, z = ring.sympy_ring.gens
    umbrella = [x**2 - y**2 * z]
    assert tangent_dimension(umbrella, (0, 0, 5)) == 3
    assert tangent_dimension(umbrella, (2, 1, 4)) == 2


def test_reduction_finds_the_earliest_independent_coordinates() -> None:
    s, t = symbols("s t")
    planar = PolynomialMap.from_expressions([s, t], {"a": s, "b": 2 * s, "c": s + t / 3, "d": t, "e": 0})
    reduction = reduce_linearly(planar)
    assert reduction.basis == (0, 2)
    forms = [str(form) for form in reduction.linear_forms(planar, field=QQ)]
    assert forms == ["-2*a + b", "3*a - 3*c + d", "e"]


@pytest.mark.parametrize("t", [2, 3, 4])
@pytest.mark.parametrize("case", [(2, 1), (2, 2), (3, 2)])
def test_full_coordinates_are_isomorphic_to_reduced_ones_for_every_t(case: tuple[int, int], t: int) -> None:
    model = SingleLayerAttention(*case, t=t)
    reduced, full = model.parametrization("reduced"), model.parametrization("full")
    matrix = linear_isomorphism(reduced, full)
    assert matrix is not None
    for row, image in zip(matrix, full.images, strict=True):
        combined = sum(
            (c.numerator * i / c.denominator for c, i in zip(row, reduced.images, strict=True) if c), 0 * image
        )
        assert combined == image
    assert linear_isomorphism(full, reduced) is not None


def test_one_token_is_a_different_variety() -> None:
    one, two = SingleLayerAttention(2, 2, t=1), SingleLayerAttention(2, 2, t=2)
    assert linear_isomorphism(two.parametrization("reduced"), one.parametrization("full")) is None


def test_hilbert_series_of_the_twisted_cubic() -> None:
    series = HilbertSeries.from_numerator({0: 1, 2: -3, 3: 2}, 4)
    assert (series.numerator, series.dimension, series.degree) == ((1, 2), 2, 3)
    assert series.polynomial == 3 * n + 1
    assert [series.value(k) for k in range(5)] == [1, 4, 7, 10, 13]


def test_hilbert_series_of_extreme_ideals() -> None:
    whole = HilbertSeries.from_numerator({0: 1}, 3)
    assert (whole.dimension, whole.degree) == (3, 1)
    assert [whole.value(k) for k in range(4)] == [comb(k + 2, 2) for k in range(4)]
    point = HilbertSeries.from_numerator({0: 1, 1: -2, 2: 1}, 2)
    assert (point.dimension, point.degree, point.polynomial, point.value(1)) == (0, 1, 0, 0)
    unit = HilbertSeries.from_numerator({}, 3)
    assert (unit.dimension, unit.degree) == (-1, 0)


def test_degrees_printed_elsewhere() -> None:
    degrees = [degree_formula(SingleLayerAttention(*c)) for c in [(2, 1), (2, 2), (2, 2, 1), (3, 1), (1, 5)]]
    assert degrees == [4, 20, 20, 45, 1]
    assert determinantal_degree(3, 3, 2) == 3
    assert determinantal_degree(2, 3, 1) == 3
    assert determinantal_degree(4, 4, 2) == 20
    assert [determinantal_degree(1, k, 1) for k in (1, 4)] == [1, 1]
    assert determinantal_degree(3, 4, 1) == factorial(5) // (factorial(2) * factorial(3))


@pytest.mark.parametrize("case", [(2, 1), (2, 2), (3, 2, 2), (3, 3)])
def test_orbit_dimension_is_the_rank_of_its_parametrization(case: tuple[int, ...]) -> None:
    model = SingleLayerAttention(*case)
    for orbit in orbits(model):
        closure_map = orbit_closure_map(orbit, model)
        assert differential_rank(closure_map, random_point(closure_map, 1000, 3)) == orbit_dimension(orbit, model)


def test_sparse_functions_are_the_parametrization() -> None:
    model = SingleLayerAttention(3, 2)
    names = model.parametrization().coordinates
    for orbit in orbits(model):
        A, V = representative(orbit, model)
        found = {
            "_".join(map(str, ("c", *(i + 1 for i in key)))): v for key, v in function(sparse(A), sparse(V)).items()
        }
        values = dict(zip(names, model.parametrization().evaluate(flatten(A, V)), strict=True))
        assert found == {name: value for name, value in values.items() if value}


def test_closure_order() -> None:
    model = SingleLayerAttention(3, 2)
    every = orbits(model)
    assert maximal_orbits(every) == (Orbit(3, 2, 2),)
    assert maximal_orbits((Orbit(1, 1, 1), Orbit(1, 1, 0), Orbit(1, 2, 1))) == (Orbit(1, 2, 1),)
    assert maximal_orbits((Orbit(1, 2, 1), Orbit(2, 1, 1))) == (Orbit(1, 2, 1), Orbit(2, 1, 1))
    for small in every:
        for large in every:
            if small != large and small.in_closure_of(large):
                assert orbit_dimension(small, model) < orbit_dimension(large, model)
                assert not large.in_closure_of(small)


def test_degree_of_orbit_closures() -> None:
    assert orbit_closure_degree(Orbit(1, 1, 0), SingleLayerAttention(2, 1)) == 3
    assert orbit_closure_degree(Orbit(1, 1, 1), SingleLayerAttention(2, 1)) is None
    for case in [(2, 2), (3, 2)]:
        model = SingleLayerAttention(*case)
        generic = Orbit(model.d, model.d_out, model.d_out)
        assert orbit_closure_degree(generic, model) == degree_formula(model)


def test_points_off_the_source_are_refused() -> None:
    with pytest.raises(ConversionError):
        SingleLayerAttention(2, 1, 1).parametrization().evaluate((1, 0, 0, 1, 1, 0))


def test_numbers_of_any_size() -> None:
    huge = 3**50_000
    assert integer(decimal(huge)) == huge
    assert decimal(-12) == "-12"
    assert rank([[huge, 2 * huge], [1, 2]]) == 1
    assert pivot_columns([[0, 2, 4], [0, 1, 2]]) == ([1], [[0, 1, 2]])


@pytest.mark.parametrize("case", [(2, 1, 2), (3, 1, 1), (2, 2, 1)], ids=str)
def test_sparse_coordinates_span_the_same_by_fewer_terms(case: tuple[int, int, int]) -> None:
    """Of one token: sums of three products of weights become sums of two."""
    full = SingleLayerAttention(*case).parametrization("full")
    first_token = [i for i, name in enumerate(full.coordinates) if name.split("_")[2] == "1"]
    independent = reduce_linearly(full.restricted_to(first_token)).reduced
    sparse = in_sparse_coordinates(independent)
    assert linear_isomorphism(independent, sparse) is not None
    assert linear_isomorphism(sparse, independent) is not None
    before, after = (sum(map(len, given.images)) for given in (independent, sparse))
    assert after <= before
    assert sparse.coordinates == independent.coordinates
    assert all(len(given.images) == len(independent.images) for given in (sparse, reduce_linearly(sparse).reduced))

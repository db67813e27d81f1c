"""Implicitization: maps, elimination, and lifting."""

from dataclasses import replace
from itertools import combinations, combinations_with_replacement, islice
from math import comb, prod
from random import Random

import pytest
from hypothesis import given, settings, strategies as st
from sympy import Matrix, Poly, Rational, symbols

from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.linear_algebra import Quotient, combination, rank, rank_mod
from m2bridge.algebra.numbers import (
    LARGE_PRIME,
    is_prime,
    primes_from,
    rational_denominator,
    rational_reconstruction,
)
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.sparse_polynomial import fix_variables
from m2bridge.errors import InvalidCaseError, MethodUnavailableError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits.parametrization import multigraded_attention
from m2bridge.implicitization import elimination, generators
from m2bridge.implicitization.elimination import (
    Expansions,
    ModularElimination,
    Substitution,
    dense_slice,
)
from m2bridge.implicitization.implicitize import implicitize
from m2bridge.implicitization.multigraded_map import finest_grading, multigraded
from tests.exact_ideals import substituted
from tests.hilbert_by_ranks import hilbert_function, random_prime
from tests.tiers import examples

# Multigraded implicitization of classical maps and of maps that are awkward on purpose.

s, t, u, v = symbols("s t u v")


def _map(parameters, **images):
    return PolynomialMap.from_expressions(parameters, images)


def _segre():
    x, y = symbols("x0:2"), symbols("y0:3")
    images = {f"z_{i}_{j}": x[i] * y[j] for i in range(2) for j in range(3)}
    return PolynomialMap.from_expressions([*x, *y], images)


def _veronese(relations=False):
    x = symbols("x0:3")
    images = {f"z_{i}_{j}": x[i] * x[j] for i in range(3) for j in range(i, 3)}
    return PolynomialMap.from_expressions(x, images)


def _grassmannian(n):
    matrix = Matrix(2, n, lambda i, j: symbols(f"m_{i}_{j}"))
    images = {f"p_{i}_{j}": matrix[:, [i, j]].det() for i, j in combinations(range(n), 2)}
    return PolynomialMap.from_expressions(list(matrix), images)


def _monomials(ring, degree):
    products = combinations_with_replacement(ring.gens, degree)
    return [prod(factors, start=ring.one) for factors in products]


def _rank(polynomials):
    """Dimension over QQ of the span of polynomials with integer coefficients, without any
    grading.
    """
    columns = {
        monomial: j for j, monomial in enumerate(sorted({m for p in polynomials for m in p}))
    }
    rows = []
    for polynomial in polynomials:
        row = [0] * len(columns)
        for monomial, coefficient in polynomial.items():
            row[columns[monomial]] = int(coefficient)
        rows.append(row)
    return rank(rows)


CUBIC = _map([s, t], x=s**3, y=s**2 * t, z=s * t**2, w=t**3)


@pytest.mark.parametrize(
    ("polynomial_map", "counts", "hilbert"),
    [
        (CUBIC, {2: 3}, [3 * n + 1 for n in range(4)]),
        (_segre(), {2: 3}, [(n + 1) * comb(n + 2, 2) for n in range(4)]),
        (_veronese(), {2: 6}, [comb(2 * n + 2, 2) for n in range(4)]),
        (_grassmannian(4), {2: 1}, [comb(n + 5, 5) - comb(n + 3, 5) for n in range(4)]),
        (
            _grassmannian(5),
            {2: 5},
            [comb(n + 4, 4) ** 2 - comb(n + 5, 4) * comb(n + 3, 4) for n in range(4)],
        ),
    ],
    ids=["twisted cubic", "Segre", "Veronese", "Gr(2,4)", "Gr(2,5)"],
)
def test_classical_varieties(polynomial_map, counts, hilbert):
    result = implicitize(multigraded(polynomial_map), 3)
    assert result.generator_counts == counts
    assert list(result.hilbert_function) == hilbert
    assert result.exact
    assert hilbert_function(multigraded(polynomial_map), 3).values == result.hilbert_function


def test_secant_of_the_veronese_surface_is_the_determinant():
    a, b = symbols("a0:3"), symbols("b0:3")
    images = {f"z_{i}_{j}": a[i] * a[j] + b[i] * b[j] for i in range(3) for j in range(i, 3)}
    source = multigraded(
        PolynomialMap.from_expressions([*a, *b], images), [_swap("a0", "a1", "b0", "b1")]
    )
    result = implicitize(source, 4)
    assert result.generator_counts == {3: 1}
    (determinant,) = result.generators()
    x = dict(zip(result.ring.variables, result.ring.sympy_ring.gens, strict=True))
    expected = (
        x["z_0_0"] * x["z_1_1"] * x["z_2_2"]
        + 2 * x["z_0_1"] * x["z_1_2"] * x["z_0_2"]
        - x["z_0_0"] * x["z_1_2"] ** 2
        - x["z_1_1"] * x["z_0_2"] ** 2
        - x["z_2_2"] * x["z_0_1"] ** 2
    )
    assert determinant in (expected, -expected)


def test_hypersurface_without_any_symmetry_or_multigrading():
    images = {"x": s**2 + t * u, "y": s * t + 3 * u**2, "z": t**2 - s * u, "w": s * u + u**2}
    polynomial_map = PolynomialMap.from_expressions([s, t, u], images)
    assert len(finest_grading(polynomial_map).multidegrees[0]) == 1
    result = implicitize(multigraded(polynomial_map), 4)
    assert sum(result.generator_counts.values()) == 1
    (equation,) = result.generators()
    assert not substituted(equation, polynomial_map.images)


def _swap(*names):
    pairs = list(zip(names[::2], names[1::2], strict=True))
    return {**dict(pairs), **{b: a for a, b in pairs}}


def test_a_symmetry_identifies_weights():
    result = implicitize(multigraded(CUBIC, [_swap("s", "t")]), 2)
    assert [orbit.size for orbit in result.orbits] == [2, 1]
    assert len(set(result.generators())) == 3


@pytest.mark.parametrize("renaming", [{"s": "t"}, {"s": "r", "r": "s"}])
def test_what_does_not_permute_parameters_is_no_symmetry(renaming):
    with pytest.raises(MethodUnavailableError, match="permute the parameters"):
        multigraded(CUBIC, [renaming])


def test_what_does_not_permute_images_is_no_symmetry():
    with pytest.raises(MethodUnavailableError, match="permute the images"):
        multigraded(_map([s, t], x=s**3, y=s**2 * t), [_swap("s", "t")])


def test_whitney_umbrella_in_weighted_degree():
    result = implicitize(multigraded(_map([u, v], x=u * v, y=u, z=v**2)), 4)
    assert result.source.grading.degrees == (2, 1, 2)
    x, y, z = result.ring.sympy_ring.gens
    assert result.generators()[0] in (x**2 - y**2 * z, y**2 * z - x**2)
    assert result.generator_counts == {4: 1}


def test_a_positive_grading_that_is_not_the_degree_of_the_images():
    result = implicitize(multigraded(_map([s, t], x=s, y=s**2 + t, z=t**2)), 4)
    assert result.source.grading.degrees == (1, 2, 4)
    x, y, z = result.ring.sympy_ring.gens
    assert result.generators()[0] in ((y - x**2) ** 2 - z, z - (y - x**2) ** 2)


@pytest.mark.parametrize(
    "polynomial_map",
    [
        _map([s], x=s**2 + s, y=s**3 + 1),
        _map([s], x=s, y=s * 0 + 1),
        _map([s, t], x=s, y=s * 0),
        _map([s]),
    ],
    ids=["inhomogeneous", "constant", "zero", "no coordinates"],
)
def test_maps_without_positive_grading(polynomial_map):
    if polynomial_map.coordinates and not polynomial_map.images[-1]:
        assert implicitize(multigraded(polynomial_map), 2).generator_counts == {1: 1}
        return
    with pytest.raises(MethodUnavailableError):
        multigraded(polynomial_map)


def test_relations_among_parameters_are_refused():
    polynomial_map = PolynomialMap.from_expressions([s, t], {"x": s, "y": t}, [s - t])
    with pytest.raises(MethodUnavailableError, match="relations"):
        multigraded(polynomial_map)


def test_negative_degrees_are_refused():
    with pytest.raises(InvalidCaseError):
        implicitize(multigraded(CUBIC), -1)


@pytest.mark.parametrize(
    ("images", "equation"),
    [
        ({"x": s, "y": t, "z": 1000003 * s + 999983 * t}, (1000003, 999983, -1)),
        ({"x": s, "y": t, "z": s + LARGE_PRIME * t}, (1, LARGE_PRIME, -1)),
        ({"x": s / 3, "y": t, "z": s * Rational(7, 5) - t / 11}, (231, -5, -55)),
    ],
    ids=["large coefficients", "a coefficient divisible by the prime", "denominators"],
)
def test_the_exact_road_takes_over_when_the_guess_fails(images, equation):
    result = implicitize(multigraded(PolynomialMap.from_expressions([s, t], images)), 2)
    x, y, z = result.ring.sympy_ring.gens
    linear = equation[0] * x + equation[1] * y + equation[2] * z
    assert result.generators()[0] in (linear, -linear)
    assert result.generator_counts == {1: 1}


def test_an_image_divisible_by_the_prime_is_not_zero():
    result = implicitize(multigraded(_map([s, t], x=s, y=LARGE_PRIME * t)), 2)
    assert result.hilbert_function == (1, 2, 3)
    assert result.generator_counts == {}


@given(st.integers(-20000, 20000), st.integers(2, 20000))
def test_rational_reconstruction_finds_small_fractions(numerator, denominator):
    fraction = Rational(numerator, denominator)
    residue = int(fraction.p) * pow(int(fraction.q), -1, LARGE_PRIME) % LARGE_PRIME
    assert rational_denominator(residue, LARGE_PRIME) == fraction.q


def test_random_primes_lie_in_their_range():
    primes = {random_prime(Random(seed)) for seed in range(5)}
    assert len(primes) > 1
    assert all(1 << 30 < p < 1 << 31 and is_prime(p) for p in primes)


@settings(max_examples=examples(30))
@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=2, max_size=5))
def test_monomial_maps_have_as_many_functions_as_exponents(columns):
    # Homogenized with a fourth parameter; then H(n) counts the different sums of n exponent
    # vectors.
    parameters = symbols("r0:4")
    exponents = [(1, *column) for column in columns]
    images = {}
    for j, vector in enumerate(exponents):
        product = 1
        for parameter, exponent in zip(parameters, vector, strict=True):
            product *= parameter**exponent
        images[f"x_{j}"] = product
    result = implicitize(multigraded(PolynomialMap.from_expressions(parameters, images)), 3)
    sums = {(0, 0, 0, 0)}
    for n in range(4):
        assert result.hilbert_function[n] == len(sums)
        sums = {tuple(a + b for a, b in zip(x, y, strict=True)) for x in sums for y in exponents}
    assert all(len(g) == 2 for g in result.generators())


@settings(max_examples=examples(25))
@given(st.lists(st.lists(st.integers(-3, 3), min_size=6, max_size=6), min_size=3, max_size=5))
def test_random_quadratic_maps_against_elimination_of_all_monomials_at_once(coefficients):
    x = symbols("x0:3")
    quadrics = [a * b for a, b in combinations_with_replacement(x, 2)]
    images = {
        f"y_{j}": sum(c * q for c, q in zip(row, quadrics, strict=True))
        for j, row in enumerate(coefficients)
    }
    polynomial_map = PolynomialMap.from_expressions(x, images)
    result = implicitize(multigraded(polynomial_map), 3)
    generators = result.generators()
    assert all(not substituted(g, polynomial_map.images) for g in generators)
    for degree in range(1, 4):
        monomials = _monomials(result.ring.sympy_ring, degree)
        assert result.hilbert_function[degree] == _rank(
            [substituted(m, polynomial_map.images) for m in monomials]
        )
        # The generators found span the ideal up to this degree, and none can be left out.
        own = [g for g in generators if sum(next(iter(g))) == degree]
        lower = [(g, sum(next(iter(g)))) for g in generators if sum(next(iter(g))) < degree]
        multiples = [
            g * m for g, n in lower for m in _monomials(result.ring.sympy_ring, degree - n)
        ]
        dimension = len(monomials) - result.hilbert_function[degree]
        assert _rank(own + multiples) == dimension == len(own) + _rank(multiples)


@pytest.mark.parametrize("parameters", [[], [s]])
def test_the_zero_map(parameters):
    result = implicitize(multigraded(_map(parameters, x=s * 0, y=s * 0)), 2)
    assert result.generator_counts == {1: 2}
    assert result.hilbert_function == (1, 0, 0)
    assert set(result.generators()) == set(result.ring.sympy_ring.gens)
    assert hilbert_function(multigraded(_map(parameters, x=s * 0, y=s * 0)), 2).values == (1, 0, 0)


def test_linear_relations_beyond_the_last_degree_are_not_listed():
    result = implicitize(multigraded(_map([u, v], x=u, y=v**2, z=v**2 + u**2)), 1)
    assert result.generator_counts == {}
    assert result.hilbert_function == (1, 1)


# The parts of multigraded implicitization that eliminate modulo primes, each against dense linear
# algebra.

PRIME = 10007
s, t, u = symbols("s t u")


def _scaled_conic(first, second):
    return PolynomialMap.from_expressions(
        [s, t], {"x": first * s**2, "y": s * t, "z": second * t**2}
    )


@settings(max_examples=examples(200))
@given(
    st.lists(st.lists(st.sampled_from([0, 0, 0, 0, 1, -1, 2]), min_size=8, max_size=8), max_size=12)
)
def test_sparse_elimination_finds_the_rank_and_the_quotient(matrix):
    rows = [{j: c % PRIME for j, c in enumerate(row) if c} for row in matrix]
    quotient = Quotient.of(rows, PRIME)
    chosen = [matrix[i] for i in quotient.basis_rows]
    assert len(chosen) == len(quotient.forms) == rank_mod(matrix, PRIME) == rank_mod(chosen, PRIME)
    classes = dict(enumerate(quotient.classes(8)))
    assert all(not combination(row, classes, PRIME) for row in rows)
    assert all(not set(form) & set(quotient.forms) for form in quotient.forms.values())


@pytest.mark.parametrize(
    ("case", "dimension"), [((3, 2, 2), 13), ((3, 1, 2), 10), ((2, 2, 1), 6), ((2, 2, 2), 7)]
)
def test_a_slice_has_as_many_parameters_as_the_image_has_dimensions(case, dimension):
    source = multigraded_attention(SingleLayerAttention(*case))
    images = source.integral_images
    parameters = len(source.polynomial_map.source.variables)
    fixed = dense_slice(images, parameters, LARGE_PRIME, Random(0))
    assert parameters - len(fixed) == dimension
    assert (sum(len(fix_variables(image, fixed)) for image in images) < sum(map(len, images))) == (
        1 < case[2] < case[0]
    )


def test_fixing_parameters_can_make_terms_meet():
    assert (
        fix_variables({(1, 1, 0): 2, (0, 1, 0): 3, (0, 0, 1): 5, (2, 1, 0): -5}, {0: 1, 2: 0}) == {}
    )
    assert fix_variables({(1, 1, 0): 2, (0, 1, 0): 3}, {0: 1}) == {(0, 1, 0): 5}


def _elimination(polynomial_map, degree):
    return ModularElimination.of(multigraded(polynomial_map), degree, Random(0), LARGE_PRIME)


@pytest.mark.parametrize("size", [4, 12])
def test_points_and_expansions_have_the_same_echelon_form(size):
    matrix = [symbols(f"m_{i}_1:{size + 1}") for i in range(2)]
    pairs = list(combinations(range(size), 2))
    images = {
        f"p_{i}_{j}": matrix[0][i] * matrix[1][j] - matrix[0][j] * matrix[1][i] for i, j in pairs
    }
    elimination = _elimination(PolynomialMap.from_expressions([*matrix[0], *matrix[1]], images), 2)
    monomials = [(i, j) for i in range(len(pairs)) for j in range(i, len(pairs))][:200]
    rows = elimination.expansions.rows(monomials)
    expanded, pivots = elimination.expansions.echelon(rows, len(monomials))
    evaluated, same = elimination.points.echelon(monomials)
    height = range(len(pivots))
    assert pivots == same
    assert all(expanded[i, j] == evaluated[i, j] for i in height for j in range(len(monomials)))


def test_more_points_are_added_while_the_rank_is_the_number_of_points():
    # All monomials are independent, so half as many points are not enough.
    elimination = _elimination(
        PolynomialMap.from_expressions([s, t, u], {"x": s, "y": t, "z": u}), 5
    )
    monomials = [(0,) * i + (1,) * j + (2,) * (5 - i - j) for i in range(6) for j in range(6 - i)]
    assert elimination.points.echelon(monomials)[1] == tuple(range(len(monomials)))


def test_dense_images_are_evaluated_and_not_expanded(monkeypatch):
    form = sum(symbols("r0:6"))
    images = {
        f"x_{j}": form**2 + j * symbols("r0") ** 2 + symbols(f"r{j}") * form for j in range(6)
    }
    source = multigraded(PolynomialMap.from_expressions(symbols("r0:6"), images))
    monkeypatch.setattr(Expansions, "rows", lambda *_: pytest.fail("expanded"))
    assert implicitize(source, 2).hilbert_function == (1, 6, 21)


@pytest.mark.parametrize(
    ("scale", "moduli", "exact"),
    [((7, 11), 1, 0), ((30011, 30013), 1, 1), ((2**89 - 1, 3**50), 1, 1)],
    ids=["modulo a prime", "over QQ", "large numbers"],
)
def test_relations_with_large_coefficients_need_elimination_over_the_rationals(
    scale, moduli, exact, monkeypatch
):
    used, eliminated = [], []
    modular, rational = ModularElimination.echelon, Substitution.echelon

    def recorded(elimination, monomials):
        used.append(elimination.points.prime)
        return modular(elimination, monomials)

    def recorded_over_the_rationals(substitution, monomials):
        eliminated.append(len(monomials))
        return rational(substitution, monomials)

    monkeypatch.setattr(ModularElimination, "echelon", recorded)
    monkeypatch.setattr(Substitution, "echelon", recorded_over_the_rationals)
    result = implicitize(multigraded(_scaled_conic(*scale)), 2)
    assert len(set(used)) == moduli
    assert len(eliminated) == exact
    assert sorted(abs(c) for _, c in next(result.sparse_generators())) == [1, scale[0] * scale[1]]
    assert result.exact


@pytest.mark.parametrize("number", [1, 3, 6])
def test_unlucky_primes_for_products_are_replaced(number):
    """Modulo these primes generators are dependent that are not so over QQ; a twisted cubic in
    other coordinates.
    """
    n = prod(islice(primes_from(generators.FAST_MODULUS), number))
    images = {
        "x": s * t**2,
        "y": 2 * s**3 + (n + 1) * s**2 * t - s * t**2 - n * t**3,
        "z": (1 - n) * s * t**2 + t**3,
        "w": -n * s**3 - n * s * t**2,
    }
    source = multigraded(PolynomialMap.from_expressions([s, t], images))
    result = implicitize(source, 4)
    assert result.exact
    assert result.generator_counts == {2: 3}
    assert result.hilbert_function == hilbert_function(source, 4).values == (1, 4, 7, 10, 13)


def test_an_unlucky_prime_is_left_out():
    # x z = y² modulo the first prime only.
    first = next(primes_from(generators.FAST_MODULUS))
    images = {"x": s**2, "y": s * t, "z": t**2 + first * s * u, "w": u**2}
    polynomial_map = PolynomialMap.from_expressions([s, t, u], images)
    result = implicitize(multigraded(polynomial_map), 4)
    assert result.hilbert_function == hilbert_function(multigraded(polynomial_map), 4).values
    assert result.exact


# What is lifted from primes to QQ: against ranks over QQ, and with wrong lifts planted.

CASE = (2, 2, 2)


def test_a_polynomial_is_substituted_as_by_sympy():
    """With several terms that begin with one coordinate, and with one; with a constant."""
    source = multigraded(_map((s, t), x=s**2 - 3 * t**2, y=s * t, z=5 * t**2))
    substitution = Substitution.of(source)
    x, y, z = (image.as_expr() for image in source.polynomial_map.images)
    terms = [((0, 0, 1), 2), ((0, 0, 2), -7), ((0, 1, 1), 3), ((1, 2), 11), ((2,), -1), ((), 4)]
    expected = 2 * x**2 * y - 7 * x**2 * z + 3 * x * y**2 + 11 * y * z - z + 4
    found = substitution._substituted(terms)
    assert found.to_dict() == {
        exponents: int(c) for exponents, c in Poly(expected, s, t).as_dict().items()
    }


def test_a_polynomial_that_is_zero_at_the_random_point_alone_does_not_vanish():
    substitution = Substitution.of(multigraded(_map((s, t), x=s**2, y=s * t, z=t**2)))
    unlucky = replace(substitution, values=(0, 0, 0))
    assert unlucky.vanishes([((0, 2), 1), ((1, 1), -1)])
    assert not unlucky.vanishes([((0, 2), 2), ((1, 1), -1)])
    assert not unlucky.vanishes([((0, 0, 2), 1), ((0, 1, 1), -1), ((1, 1, 1), 1)])


def _wrong(residues, modulus):
    leading, others = rational_reconstruction(residues, modulus)
    return leading, [*others[:-1], others[-1] + 1]


def test_a_wrong_lift_is_noticed_and_the_result_computed_over_the_rationals(monkeypatch):
    roads = []
    method = (elimination.Substitution, "echelon")
    original = getattr(*method)
    monkeypatch.setattr(*method, lambda *arguments: (roads.append(1), original(*arguments))[1])
    source = multigraded_attention(SingleLayerAttention(*CASE))
    right = implicitize(source, 4)
    before = len(roads)
    monkeypatch.setattr(elimination, "rational_reconstruction", _wrong)
    found = implicitize(source, 4)
    assert len(roads) > 2 * before
    assert found.exact
    assert found.hilbert_function == right.hilbert_function
    assert found.generator_counts == right.generator_counts
    assert set(found.sparse_generators()) == set(right.sparse_generators())


def test_factors_of_a_series_are_cancelled() -> None:
    """The twisted cubic in four variables: (1 − 3T² + 2T³)/(1 − T)⁴ = (1 + 2T)/(1 − T)²."""
    assert HilbertSeries.from_numerator({0: 1, 2: -3, 3: 2}, 4) == HilbertSeries((1, 2), 2)
    assert HilbertSeries.from_values((1, 4, 7, 10), 4) == HilbertSeries((1, 2), 2)
    assert [HilbertSeries((1, 2), 2).value(n) for n in range(4)] == [1, 4, 7, 10]

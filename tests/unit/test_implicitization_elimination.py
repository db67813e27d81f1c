"""The parts of multigraded implicitization that eliminate modulo primes, each against dense linear algebra."""

from itertools import combinations, islice
from math import prod
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import symbols

from m2bridge.algebra.linear_algebra import Quotient, combination, rank_mod
from m2bridge.algebra.numbers import LARGE_PRIME, primes_from
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.sparse_polynomial import restricted
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.parametrization import multigraded_attention
from m2bridge.implicitization import generators
from m2bridge.implicitization.elimination import Expansions, ModularElimination, Substitution, dense_slice
from m2bridge.implicitization.implicitize import hilbert_function, implicitize
from m2bridge.implicitization.multigraded_map import multigraded

PRIME = 10007
s, t, u = symbols("s t u")


def _scaled_conic(first, second):
    return PolynomialMap.from_expressions([s, t], {"x": first * s**2, "y": s * t, "z": second * t**2})


@settings(max_examples=200)
@given(st.lists(st.lists(st.sampled_from([0, 0, 0, 0, 1, -1, 2]), min_size=8, max_size=8), max_size=12))
def test_sparse_elimination_finds_the_rank_and_the_quotient(matrix):
    rows = [({j: c % PRIME for j, c in enumerate(row) if c}, (0, i)) for i, row in enumerate(matrix)]
    quotient = Quotient.of(rows, PRIME)
    chosen = [matrix[i] for _, i in quotient.chosen]
    assert len(chosen) == len(quotient.forms) == rank_mod(matrix, PRIME) == rank_mod(chosen, PRIME)
    classes = dict(enumerate(quotient.classes(8)))
    assert all(not combination(row, classes, PRIME) for row, _ in rows)
    assert all(not set(form) & set(quotient.forms) for form in quotient.forms.values())


@pytest.mark.parametrize(("case", "dimension"), [((3, 2, 2), 13), ((3, 1, 2), 10), ((2, 2, 1), 6), ((2, 2, 2), 7)])
def test_a_slice_has_as_many_parameters_as_the_image_has_dimensions(case, dimension):
    source = multigraded_attention(SingleLayerAttention(*case))
    images = source.integral_images
    parameters = len(source.polynomial_map.source.variables)
    fixed = dense_slice(images, parameters, LARGE_PRIME, Random(0))
    assert parameters - len(fixed) == dimension
    assert (sum(len(restricted(image, fixed)) for image in images) < sum(map(len, images))) == (1 < case[2] < case[0])


def test_fixing_parameters_can_make_terms_meet():
    assert restricted({(1, 1, 0): 2, (0, 1, 0): 3, (0, 0, 1): 5, (2, 1, 0): -5}, {0: 1, 2: 0}) == {}
    assert restricted({(1, 1, 0): 2, (0, 1, 0): 3}, {0: 1}) == {(0, 1, 0): 5}


def _elimination(polynomial_map, degree):
    return ModularElimination.of(multigraded(polynomial_map), degree, Random(0), LARGE_PRIME)


@pytest.mark.parametrize("size", [4, 12])
def test_points_and_expansions_have_the_same_echelon_form(size):
    matrix = [symbols(f"m_{i}_1:{size + 1}") for i in range(2)]
    pairs = list(combinations(range(size), 2))
    images = {f"p_{i}_{j}": matrix[0][i] * matrix[1][j] - matrix[0][j] * matrix[1][i] for i, j in pairs}
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
    elimination = _elimination(PolynomialMap.from_expressions([s, t, u], {"x": s, "y": t, "z": u}), 5)
    monomials = [(0,) * i + (1,) * j + (2,) * (5 - i - j) for i in range(6) for j in range(6 - i)]
    assert elimination.points.echelon(monomials)[1] == tuple(range(len(monomials)))


def test_dense_images_are_evaluated_and_not_expanded(monkeypatch):
    form = sum(symbols("r0:6"))
    images = {f"x_{j}": form**2 + j * symbols("r0") ** 2 + symbols(f"r{j}") * form for j in range(6)}
    source = multigraded(PolynomialMap.from_expressions(symbols("r0:6"), images))
    monkeypatch.setattr(Expansions, "rows", lambda *_: pytest.fail("expanded"))
    assert implicitize(source, 2).hilbert_function == (1, 6, 21)


@pytest.mark.parametrize(
    ("scale", "moduli", "exact"),
    [((7, 11), 1, 0), ((30011, 30013), 2, 0), ((10**9 + 7, 10**12 + 39), 3, 0), ((2**89 - 1, 3**50), 3, 1)],
    ids=["one prime", "a larger prime", "several primes", "over QQ"],
)
def test_relations_with_large_coefficients_need_more_primes_or_elimination_over_the_rationals(
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
    """Modulo these primes generators are dependent that are not so over QQ; a twisted cubic in other coordinates."""
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

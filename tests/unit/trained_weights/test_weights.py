"""From trained weights to a verdict: exact ranks, distances, files, names, and what is refused;
sentences on heads near a lower rank, and the order of heads by distances.
"""

from __future__ import annotations

import csv
import json
import os
import re
import sys
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from io import BytesIO, StringIO
from itertools import pairwise, permutations, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import flint
import ml_dtypes
import numpy
import pytest
import sympy
from click.testing import CliRunner, Result
from hypothesis import given, settings, strategies as st
from mpmath import acos, eigsy, floor, log10, matrix, mp, mpf, sqrt, svd_r
from safetensors.numpy import save_file

from m2bridge import DeepAttention, SingleLayerAttention, dimension, weights
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.cli import commands
from m2bridge.cli.cases import RENAMED
from m2bridge.errors import (
    ConversionError,
    InvalidCaseError,
    M2BridgeError,
    MethodUnavailableError,
    TooLargeError,
)
from m2bridge.families.attention.orbits.orbits import orbits
from m2bridge.families.attention.orbits.singular_orbits import by_bounds
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.results.sheet import Facts
from m2bridge.results.terminal import terminal_text
from m2bridge.trained_weights.checkpoints.accounting import (
    StoredOptions,
    array_uses,
    kinds_left_out,
)
from m2bridge.trained_weights.checkpoints.architecture import configuration, number_in, text_model
from m2bridge.trained_weights.checkpoints.files import tensors
from m2bridge.trained_weights.checkpoints.find_layers import contents
from m2bridge.trained_weights.checkpoints.names import _sort_key, usual_layers
from m2bridge.trained_weights.checkpoints.norms import Norm
from m2bridge.trained_weights.checkpoints.tensors import LayerTensors
from m2bridge.trained_weights.heads import eigenvalues
from m2bridge.trained_weights.heads.membership import TAKEN, exact_weights
from m2bridge.trained_weights.heads.numerical import rounded
from m2bridge.trained_weights.heads.ranks import exact_ranks, integers, residues
from m2bridge.trained_weights.heads.shape import HeadShape
from m2bridge.trained_weights.heads.token_space import Tokens
from m2bridge.trained_weights.networks import network as at_weights
from m2bridge.trained_weights.options import OPTIONS
from m2bridge.trained_weights.result import Weights
from tests.fuzz.weight_files import HOSTILE, NASTY
from tests.tiers import examples, few, slow

TYPES = [numpy.float16, ml_dtypes.bfloat16, numpy.float32, numpy.float64]


def random_matrix(random: Any, rows: int, columns: int, kind: Any) -> Any:
    return (random.standard_normal((rows, columns)) * 10.0 ** random.integers(-3, 3)).astype(kind)


def fractions(array: Any) -> flint.fmpq_mat:
    """The exact entries, over QQ."""
    entries = [Fraction(float(entry)) for entry in array.flat]
    return flint.fmpq_mat(*array.shape, [flint.fmpq(f.numerator, f.denominator) for f in entries])


def planted(random: Any, rows: int, columns: int, kind: Any) -> Any:
    """A matrix of a random rank: rows are repeated, doubled or zero."""
    found = random_matrix(random, rows, columns, kind)
    for row in range(rows):
        choice = random.integers(0, 6)
        if choice == 0:
            found[row] = 0
        elif choice == 1:
            found[row] = found[random.integers(0, rows)] * kind(2)
    return found


def compare_with_flint(seed: int) -> None:
    """The ranks of a head against those of products over QQ, with planted ranks and common
    directions.
    """
    random = numpy.random.default_rng(seed)
    kind = TYPES[seed % 4]
    d, a, v, d_out = (int(n) for n in random.integers(1, 7, 4))
    K, Q, V, O = (planted(random, *size, kind) for size in ((a, d), (a, d), (v, d), (d_out, v)))
    for row in range(v):
        if random.integers(0, 3) == 0:
            V[row] = K[random.integers(0, a)]
    given = {"K": K, "Q": Q, "V": V} | ({"O": O} if seed % 3 else {})
    A, values = fractions(K).transpose() * fractions(Q), fractions(V)
    values = fractions(O) * values if "O" in given else values
    both = flint.fmpq_mat(d + values.nrows(), d, A.transpose().entries() + values.entries()).rank()
    found = exact_ranks(given)
    assert found.proved
    assert (found.r, found.s, found.m) == (A.rank(), values.rank(), A.rank() + values.rank() - both)


@given(st.integers(0, 10**6))
@settings(max_examples=examples(60), deadline=None)
def test_exact_ranks_are_those_over_qq(seed: int) -> None:
    compare_with_flint(seed)


def test_floats_are_dyadic_rationals() -> None:
    random = numpy.random.default_rng(1)
    for kind in TYPES:
        array = random_matrix(random, 3, 4, kind)
        exact = [Fraction(float(entry)) for entry in array.flat]
        expected = [f.numerator * pow(f.denominator, -1, LARGE_PRIME) % LARGE_PRIME for f in exact]
        assert [int(entry) for entry in residues(array).entries()] == expected
        whole = [int(entry) for entry in integers(array).entries()]
        assert all(w * exact[0] == f * whole[0] for w, f in zip(whole, exact, strict=True))


def test_fractions_are_themselves_modulo_the_prime() -> None:
    """And no multiples of them, which would be other weights of a network."""
    array = numpy.array([[Fraction(1, 3), Fraction(5)]])
    assert [int(entry) * 3 % LARGE_PRIME for entry in residues(array).entries()] == [1, 15]
    with pytest.raises(InvalidCaseError, match="denominator is divisible"):
        weights(A=[[Fraction(1, LARGE_PRIME)]], V=[[1]])


def test_a_rounded_product_has_full_rank_and_is_not_used() -> None:
    """The planted mistake: A by floating point."""
    random = numpy.random.default_rng(2)
    K, Q, V = (
        random.standard_normal(shape).astype(numpy.float32) for shape in ((1, 3), (1, 3), (2, 3))
    )
    assert weights(K=K, Q=Q, V=V).heads[0].ranks.r == 1
    head = weights(A=K.T @ Q, V=V, a=1).heads[0]
    assert (head.ranks.r, head.point, head.singular, head.regular) == (3, "outside", None, None)
    assert "within rounding of rank 1" in head.words()
    assert "give K and Q" in head.words()
    assert "rounding" not in weights(A=[[1, 2], [3, 4]], V=[[1, 0]], a=1).heads[0].words()
    # A tolerance for effective ranks says nothing of rounding.
    near = weights(A=[[1.0, 0], [0, 0.05]], V=[[1.0, 0]], a=1, tolerance=0.1)
    assert "rounding" not in near.heads[0].words()


@pytest.mark.parametrize(
    "case", [(d, e, a) for d, e, a in product((2, 3, 4), (1, 2, 3), (1, 2, 3, 4)) if a <= d]
)
def test_singular_and_boundary_points_are_those_of_the_statements(
    case: tuple[int, int, int],
) -> None:
    """Of heads without an output matrix, or one that bounds no rank; against the predictions, where
    they apply.
    """
    model = SingleLayerAttention(*case)
    named = {(s.key, s.part): s for s in REGISTRY}
    singular, boundary = named["singular-locus", ""], named["3.4", "ii"]
    for v in (None, 4):
        shape = HeadShape(case[0], case[1], case[2], v, True, False)
        assert shape.dimension == dimension(model, method="formula").dimension
        assert shape.parameters - shape.dimension == sum(size for _, size in shape.redundant())
        for orbit in orbits(model):
            if not singular.hypotheses(model):
                assert shape.is_singular(*orbit.cells) == singular.predict(orbit, model), orbit
            assert shape.is_boundary(*orbit.cells) == boundary.predict(orbit, model)


@pytest.mark.parametrize("d", [2, 3])
def test_singular_points_of_matrices_of_rank_one_are_those_of_tangent_spaces(d: int) -> None:
    """For a = d' = 1, where the statement does not apply; computed for each orbit."""
    shape = HeadShape(d, 1, 1, None, True, False)
    found = by_bounds(SingleLayerAttention(d, 1, 1))
    assert not found.unfinished
    for status in found.statuses:
        assert shape.is_singular(*status.orbit.cells) == status.singular, status.orbit


def coordinates(A: Any, V: Any) -> list[int]:
    """Reduced coordinates by the formula of the paper."""
    d = len(A)
    return [
        V[k][p] * A[q][i] + (V[k][q] * A[p][i] if p < q else 0)
        for k, i, p, q in product(range(len(V)), range(d), range(d), range(d))
        if p <= q
    ]


def differential_rank(given: dict[str, Any]) -> int:
    """The rank over QQ of the differential with respect to all entries of K, Q, O and V, or A and
    V.
    """
    rows = []
    for letter, array in given.items():
        for place in product(*map(range, array.shape)):
            unit = numpy.zeros(array.shape, dtype=int)
            unit[place] = 1
            moved = given | {letter: unit}
            A = [part["A"] if "A" in part else part["K"].T @ part["Q"] for part in (given, moved)]
            V = [part["O"] @ part["V"] if "O" in part else part["V"] for part in (given, moved)]
            rows.append(coordinates(A[letter in "KQA"].tolist(), V[letter in "OV"].tolist()))
    return int(flint.fmpz_mat(rows).rank())


@given(st.integers(0, 10**6))
@settings(max_examples=examples(60), deadline=None)
def test_regular_weights_have_a_differential_of_full_rank(seed: int) -> None:
    random = numpy.random.default_rng(seed)
    d, a, v, d_out = (int(n) for n in random.integers(1, 4, 4))
    given = {"A": random.integers(-1, 2, (d, d))} if seed % 4 == 0 else {}
    given = given or {"K": random.integers(-1, 2, (a, d)), "Q": random.integers(-1, 2, (a, d))}
    given["V"] = random.integers(-1, 2, (v, d))
    given |= {"O": random.integers(-1, 2, (d_out, v))} if seed % 3 else {}
    head = weights(**given).heads[0]
    # For d = 1 the functions are a linear space, and 0 may be a regular point.
    assert head.regular is (differential_rank(given) == head.shape.dimension), given


def test_products_of_full_rank_determine_their_factors_up_to_gl_and_others_up_to_more() -> None:
    whole, part = numpy.eye(2), numpy.diag([1.0, 0.0])
    pair = "A and OV are determined by the function up to the scaling (A, V) → (λA, V/λ)"
    clauses = {
        (2, 2): "K and Q by A up to GL(2), O and V by OV up to GL(2)",
        (1, 2): "K and Q up to more than GL(2), O and V by OV up to GL(2)",
        (2, 1): "K and Q by A up to GL(2), O and V up to more than GL(2)",
    }
    for (r, s), clause in clauses.items():
        K, V = (whole if rank == 2 else part for rank in (r, s))
        (head,) = weights(K=K, Q=whole, V=V, O=whole).heads
        assert head.words() == f"{pair}; {clause}"


# Numerical, against mpmath at 50 digits.


def correct(shown: float | None, true: Any) -> bool:
    """Whether every digit that is shown is right: the error is at most one unit of the last one."""
    if shown is None:
        return True
    if shown == 0:
        return bool(abs(true) < mpf(10) ** -30)
    digits = repr(shown).split("e")[0].replace(".", "").lstrip("0-").rstrip("0")
    unit = mpf(10) ** (floor(log10(abs(mpf(shown)))) - len(digits) + 1)
    return bool(abs(mpf(repr(shown)) - true) <= unit)


def exact(array: Any) -> Any:
    return matrix([[mpf(float(entry)) for entry in row] for row in array])


def norm(values: Any) -> Any:
    return sqrt(sum(value * value for value in values))


@pytest.mark.parametrize("seed", few(range(8), 3))
def test_every_digit_is_right(seed: int) -> None:
    random = numpy.random.default_rng(seed)
    d, d_out = (int(n) for n in random.integers(2, 5, 2))
    a = int(random.integers(1, d + 1))
    scales = numpy.exp(-random.uniform(0, 4) * numpy.arange(4))[:, None]
    K, Q, V = (random.standard_normal((n, d)) * scales[:n] for n in (a, a, d_out))
    K, Q, V = (array.astype(numpy.float32) for array in (K, Q, V))
    found = weights(K=K, Q=Q, V=V).heads[0].numerical
    with mp.workdps(50):
        A, W = exact(K).T * exact(Q), exact(V)
        left, S, _ = svd_r(A)
        _, T, right = svd_r(W)
        S, T = list(S)[:a], list(T)
        assert all(map(correct, found.singular_values_A, S))
        assert all(map(correct, found.singular_values_V, T))
        near = [[norm(s[k:]) / norm(s) for k in range(len(s) + 1)] for s in (S, T)]
        assert all(map(correct, found.distances_to_lower_rank_A, near[0]))
        assert all(map(correct, found.distances_to_lower_rank_V, near[1]))
        parts = [max(near[0][1], near[1][1])] + ([near[0][a - 1]] if 1 < a < d else [])
        assert correct(found.distance_to_singular_locus, min(parts))
        cosines = sorted(svd_r(right[: len(T), :] * left[:, :a], compute_uv=False), reverse=True)
        if (found.effective_rank_A, found.effective_rank_V) == (len(S), len(T)):
            pairs = zip(found.principal_angles, cosines, strict=True)
            assert all(correct(angle, acos(min(c, 1))) for angle, c in pairs if angle)
        M, N = A * A.T / norm(S) ** 2, W.T * W / norm(T) ** 2
        assert correct(found.distance_to_boundary, sqrt(1 - least_largest_eigenvalue(M, N)))


def least_largest_eigenvalue(M: Any, N: Any) -> Any:
    """By golden sections, which the program does not use."""

    def largest(x: Any) -> Any:
        return max(eigsy(x * M + (1 - x) * N, eigvals_only=True))

    low, high, golden = mpf(0), mpf(1), (sqrt(5) - 1) / 2
    for _ in range(50):
        x, y = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, y) if largest(x) < largest(y) else (x, high)
    return min(largest((low + high) / 2), largest(mpf(0)), largest(mpf(1)))


@pytest.mark.parametrize("seed", range(6))
def test_the_change_of_the_function_is_that_of_its_coefficients(seed: int) -> None:
    """In double precision, by all coefficients; those of y_p y_q with p < q count half."""
    random = numpy.random.default_rng(seed)
    d, a, d_out = 4, 2 + seed % 3, 3
    K, Q, V = (random.standard_normal((n, d)) for n in (a, a, d_out))
    found = weights(K=K, Q=Q, V=V).heads[0].numerical
    ranks = (a - 1, 3) if found.nearest_singular_locus == f"rk A ≤ {a - 1}" else (1, 1)
    cut = []
    for array, rank in zip((K.T @ Q, V), ranks, strict=True):
        u, s, w = numpy.linalg.svd(array)
        cut.append((u[:, :rank] * s[:rank]) @ w[:rank])
    places = [p < q for _, _, p, q in product(range(d_out), range(d), range(d), range(d)) if p <= q]
    weight = numpy.where(places, 0.5, 1.0)
    before, after = (numpy.array(coordinates(*pair)) for pair in ((K.T @ Q, V), cut))
    expected = numpy.sqrt((weight * (before - after) ** 2).sum() / (weight * before**2).sum())
    assert found.relative_change_of_function == pytest.approx(expected, rel=1e-5)


def test_the_boundary_distance_is_that_of_the_best_direction() -> None:
    """Of many directions, none is nearer, and one is nearly as near."""
    random = numpy.random.default_rng(3)
    K, Q, V = (random.standard_normal((2, 2)) for _ in range(3))
    found = weights(K=K, Q=Q, V=V).heads[0].numerical.distance_to_boundary
    A, angles = K.T @ Q, numpy.linspace(0, numpy.pi, 10**6)
    v = numpy.array([numpy.cos(angles), numpy.sin(angles)])
    near = [1 - (array**2).sum(0) / (whole**2).sum() for array, whole in ((A.T @ v, A), (V @ v, V))]
    assert found == pytest.approx(numpy.sqrt(numpy.maximum(*near).min()), rel=1e-5)


def test_the_boundary_distance_of_large_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    """In subspaces that grow, against all eigenvalues at once."""
    random = numpy.random.default_rng(9)
    decay = numpy.exp(-numpy.arange(120) / 40)[:, None]
    given = {
        "A": random.standard_normal((120, 120)),
        "V": random.standard_normal((120, 120)) * decay,
    }
    found = []
    for large in (1000, 10):
        monkeypatch.setattr(eigenvalues, "_LARGE", large)
        found.append(weights(**given).heads[0].numerical.distance_to_boundary)
    assert found[0] == pytest.approx(found[1], rel=1e-9)
    lower, upper = eigenvalues.least_largest_eigenvalue(
        numpy.diag([1.0] * 11), numpy.diag([1.0] * 11)
    )
    assert lower <= 1 <= upper <= 1 + 1e-9


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_the_fibre_where_two_weights_come_together_has_the_length_of_a_token(d: int) -> None:
    """Solved here by linear algebra: tangent vectors (A', V') of the fibre at A = v qᵀ, V = h vᵀ,
    up to the scaling, for all A and V. Their products vanish there, so that the length is one more.
    """
    symbols_of = [
        sympy.Symbol(f"{name}{i}") for name in "av" for i in range(d * (d if name == "a" else 1))
    ]
    A = sympy.Matrix(d, d, symbols_of[: d * d])
    V = sympy.Matrix(1, d, symbols_of[d * d :])
    # One output: the function has the coefficients of V_i A_jk + V_j A_ik, here at v = q = first.
    equations = []
    for i, j, k in product(range(d), repeat=3):
        first = int(j == k == 0) * V[i] + int(i == k == 0) * V[j]
        equations.append(first + int(i == 0) * A[j, k] + int(j == 0) * A[i, k])
    rank = sympy.Matrix([[e.coeff(x) for x in symbols_of] for e in equations]).rank()
    tangents = len(symbols_of) - rank - 1  # less the scaling
    unit = [1] + [0] * (d - 1)
    factor = [unit, [0] * d]
    head = weights(K=factor, Q=factor, V=[unit]).heads[0]
    assert (head.ranks.r, head.ranks.s, head.ranks.m) == (1, 1, 1)
    assert tangents == d - 1
    said = f"; the fibre is one point of length {tangents + 1}, and not reduced"
    assert (said in head.words()) is (d > 1)
    assert "double point" not in head.words()


def test_what_is_exact_makes_distances_exact() -> None:
    head = weights(
        K=[[1, 2, 3]], Q=[[1, 0, 1]], V=[[1, 2, 3], [2, 4, 6]], O=[[1, 0], [0, 1]]
    ).heads[0]
    n = head.numerical
    assert (head.ranks.r, head.ranks.s, head.ranks.m) == (1, 1, 1)
    assert (
        head.point,
        n.distance_to_singular_locus,
        n.distance_to_boundary,
        n.principal_angles,
    ) == ("singular, boundary", 0.0, 0.0, [0.0])
    assert rounded(1e-12, 1e-12) is None
    assert rounded(1.23456, 1e-3) == 1.23


def test_scales_do_not_matter() -> None:
    random = numpy.random.default_rng(4)
    K, Q, V = (random.standard_normal((3, 3)) for _ in range(3))
    one, other = (weights(K=K * 2.0**e, Q=Q, V=V).heads[0].numerical for e in (0, 500))
    names = ("distance_to_singular_locus", "distance_to_boundary", "relative_change_of_function")
    assert [getattr(one, name) for name in names] == [getattr(other, name) for name in names]
    huge = weights(K=[[10**400, 1], [0, 1]], Q=[[1, 0], [0, 1]], V=[[1, 1]]).heads[0]
    assert huge.ranks.r == 2
    assert huge.numerical.singular_values_A == [None, None]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("norm", ["none", "layer", "rms"])
def test_weights_times_a_power_of_two_have_the_same_distances(norm: str) -> None:
    random = numpy.random.default_rng(1)
    K, Q, V = (random.standard_normal((2, 3)) for _ in range(3))
    one = weights(K=K, Q=Q, V=V, norm=norm).heads[0].numerical
    assert one.relative_change_of_function is not None
    # Squares of these entries are beyond double precision, or 0 in it.
    for scale in (2.0**660, 2.0**-600):
        other = weights(K=K * scale, Q=Q * scale, V=V * scale, norm=norm).heads[0].numerical
        first, second = one.singular_values_V
        assert first is not None
        assert second is not None
        # with abs=0, as by default numbers below 1e-12 are all approximately equal
        values = [pytest.approx(scale * x, rel=1e-4, abs=0) for x in (first, second)]
        assert other.singular_values_V == values
        assert other.distances_to_lower_rank_A == one.distances_to_lower_rank_A
        assert other.distance_to_singular_locus == one.distance_to_singular_locus
        assert other.relative_change_of_function == one.relative_change_of_function


@pytest.mark.filterwarnings("error")
def test_products_with_a_norm_that_are_zero_in_floating_point_only() -> None:
    """W·diag(γ) is not 0, whatever its entries are in floating point; too large ones are refused."""
    names = {"Q": "q_proj", "K": "k_proj", "V": "v_proj", "O": "o_proj"}
    random = numpy.random.default_rng(1)
    given = {f"self_attn.{name}.weight": random.integers(1, 9, (3, 3)) for name in names.values()}

    def of_scale(scale: float, gamma: float) -> Weights:
        state = {name: matrix * scale for name, matrix in given.items()}
        state["input_layernorm.weight"] = numpy.full(3, gamma)
        return weights(state, heads=1, normalization="none", norm="layer")

    (head,) = of_scale(1e-200, 1e-200).heads
    assert (head.is_zero, head.ranks.proved, head.ranks.numbers) == (False, True, (2, 2, 2))
    assert head.numerical.singular_values_V == [None, None]
    assert head.numerical.singular_values_A == [None, None]
    assert head.numerical.distance_to_singular_locus is None
    (zero,) = of_scale(0.0, 1.0).heads
    assert zero.numerical.singular_values_V == [0.0, 0.0]
    with pytest.raises(InvalidCaseError, match="beyond double precision"):
        of_scale(1e200, 1e200)
    # A on both sides: the products with the first γ are not 0 in floating point, with both they are
    norm = Norm(kind="rms", gamma=numpy.full(3, 1e-170), beta=None, name="", place="pre")
    A, error = Tokens.of(3, norm, biases=False).numeric_on_both_sides(
        numpy.eye(3), rows_have_constant=False, columns_have_constant=False
    )
    assert not A.any()
    assert error > 0


@pytest.mark.filterwarnings("error")
def test_extreme_scales() -> None:
    """A distance is right or not given; 0 stands only where it is proved."""
    one = (
        weights(K=[[1, 0], [0, 1e-200]], Q=[[0, 1e-200], [1, 0]], V=numpy.eye(2)).heads[0].numerical
    )
    assert one.singular_values_A == [1e-200, 1e-200]
    assert one.distances_to_lower_rank_A == pytest.approx([1.0, 0.5**0.5, 0.0], rel=1e-13)
    other = weights(A=numpy.eye(3), V=numpy.diag([1e200, 1e200, 1e-200])[:2], a=3).heads[0]
    # that of A
    assert other.numerical.distance_to_singular_locus == pytest.approx((2 / 3) ** 0.5, abs=1e-6)
    head = weights(A=numpy.eye(3), V=numpy.diag([1e200, 1e-200, 1e-200]), a=3).heads[0]
    assert (head.point, head.numerical.singular_values_V) == ("smooth", [1e200, None, None])
    assert head.numerical.distances_to_lower_rank_V == [1.0, None, None, 0.0]
    # of rank 2 with one singular value whose square is 0 in floating point: the change is not 0
    near = weights(A=numpy.diag([1.0, 1e-200, 0.0]), V=numpy.eye(3), a=2).heads[0]
    assert (near.ranks.r, near.numerical.nearest_singular_locus) == (2, "rk A ≤ 1")
    assert near.numerical.distance_to_singular_locus is None
    assert near.numerical.relative_change_of_function is None
    # of rank 1 it is on that part, and nothing is cut off
    on_it = weights(A=numpy.diag([1.0, 0.0, 0.0]), V=numpy.eye(3), a=2).heads[0].numerical
    assert (on_it.distance_to_singular_locus, on_it.relative_change_of_function) == (0.0, 0.0)
    random = numpy.random.default_rng(5)
    turned, _ = numpy.linalg.qr(random.standard_normal((60, 60)))
    scales = numpy.where(numpy.arange(60) < 30, 1.0, 1e-250)[:, None]
    large = weights(K=turned * scales, Q=turned * scales[::-1], V=numpy.eye(60)).heads[0]
    assert (large.is_zero, large.point) == (False, "smooth")
    assert large.numerical.distance_to_singular_locus != 0
    assert large.numerical.distance_to_boundary != 0


def test_heads_of_a_layer_are_determined_each_alone() -> None:
    """(V_1, V_2; A_1, A_2) and (V_1, V_1 + V_2; A_1 − A_2, A_2) are weights of one function of a
    layer.
    """
    random = numpy.random.default_rng(11)
    A, V = (random.integers(-5, 6, (2, 2, 2)) for _ in range(2))
    B, W = numpy.stack([A[0] - A[1], A[1]]), numpy.stack([V[0], V[0] + V[1]])
    first = [coordinates(A[h].tolist(), V[h].tolist()) for h in range(2)]
    second = [coordinates(B[h].tolist(), W[h].tolist()) for h in range(2)]
    assert numpy.sum(first, 0).tolist() == numpy.sum(second, 0).tolist()
    found = weights(A=A, V=V)
    text = found.to_sheet().text()
    assert "2 heads, each alone" in text
    assert re.search(
        r"a layer +4 redundant directions, all of the listed symmetries: up to these", text
    )
    assert re.search(r"symmetries of a layer +GL\(2\) that mixes heads \(4\)", text)
    assert "alone" not in weights(A=A[0], V=V[0]).to_sheet().text()
    # The function is linear in A and in V, so these are its derivatives in the direction of each
    # entry.
    units = numpy.eye(4, dtype=int).reshape(4, 2, 2).tolist()
    derivatives = [coordinates(unit, V[h].tolist()) for h in range(2) for unit in units]
    derivatives += [coordinates(A[h].tolist(), unit) for h in range(2) for unit in units]
    assert 16 - numpy.linalg.matrix_rank(numpy.array(derivatives, dtype=float)) == 4
    known = {
        "parameters": 16,
        "dimension": 12,
        "redundant": 4,
        "redundant_at_least": 4,
        "listed_symmetries": 4,
        "other_symmetries": False,
        "symmetries": [{"name": "GL(2) that mixes heads", "dimension": 4}],
        "unnamed": 0,
    }
    content = found.to_json()
    (layer,) = content["layers"]
    assert layer.items() >= ({"layer": 1} | known).items()
    del known["dimension"]  # the network has bounds besides
    assert content["network"].items() >= known.items()


Heads = list[dict[str, Any]]


def drawn_layers(widths: Sequence[int], a: Sequence[int], heads: int) -> list[Heads]:
    """Random K, Q and V of each head of each layer."""
    random = numpy.random.default_rng(5)
    layers = []
    for d, after, rows in zip(widths, widths[1:], a, strict=False):
        sizes = {"K": (rows, d), "Q": (rows, d), "V": (after, d)}
        layers.append(
            [{x: random.integers(-9, 10, size) for x, size in sizes.items()} for _ in range(heads)]
        )
    return layers


def weights_of(layers: Sequence[Heads], **options: Any) -> Any:
    """What is found for these matrices, with the heads first in each array."""
    arrays = {
        f"l{k}.{x}": numpy.stack([h[x] for h in layer])
        for k, layer in enumerate(layers)
        for x in "KQV"
    }
    return weights(arrays, query="l*.Q", key="l*.K", value="l*.V", layout="heads-a-d", **options)


def orbit_dimension(layers: Sequence[Heads], skip: bool) -> int:
    """The rank of the action of the Lie algebra of the gauge group at these weights."""
    directions: list[dict[tuple[int, int, str], Any]] = []

    def units(size: int) -> Any:
        return numpy.eye(size * size, dtype=int).reshape(-1, size, size)

    for k, layer in enumerate(layers):
        for h, head in enumerate(layer):
            inner = units(len(head["K"]))
            directions.extend(
                {(k, h, "K"): X @ head["K"], (k, h, "Q"): -X.T @ head["Q"]} for X in inner
            )
            directions.append({(k, h, "K"): head["K"], (k, h, "V"): -head["V"]})
        # Heads with square K are mixed: det(K_g)·V_g is added to V_h, and A_h taken from A_g.
        square = layer[0]["K"].shape[0] == layer[0]["K"].shape[1]
        for g, h in permutations(range(len(layer)), 2) if square else ():
            K = flint.fmpz_mat(layer[g]["K"].tolist())
            A = layer[h]["K"].T @ layer[h]["Q"]
            determinant = int(K.det())
            adjugate = flint.fmpq_mat(K.transpose()).inv() * flint.fmpq_mat(
                flint.fmpz_mat(A.tolist())
            )
            moved = numpy.array([[-int(determinant * x) for x in row] for row in adjugate.table()])
            directions.append({(k, h, "V"): determinant * layer[g]["V"], (k, g, "Q"): moved})
        if not k or skip:
            continue
        for X in units(layer[0]["V"].shape[1]):
            before = {(k - 1, h, "V"): X @ head["V"] for h, head in enumerate(layers[k - 1])}
            after = {(k, h, x): -head[x] @ X for h, head in enumerate(layer) for x in "KQV"}
            directions.append(before | after)
    places = [
        (k, h, x) for k, layer in enumerate(layers) for h, head in enumerate(layer) for x in head
    ]
    rows = []
    for direction in directions:
        entries = [
            direction.get((k, h, x), numpy.zeros_like(layers[k][h][x])).ravel()
            for k, h, x in places
        ]
        rows.append(numpy.concatenate(entries))
    return int(numpy.linalg.matrix_rank(numpy.array(rows, dtype=float)))


@pytest.mark.parametrize(
    ("widths", "a", "heads", "skip", "others"),
    [
        ((2, 2), (2,), 2, False, False),
        ((4, 4), (4,), 4, False, False),
        ((3, 1), (3,), 2, False, True),
        ((3, 1), (2,), 2, False, True),
        ((4, 4), (2,), 2, False, False),
        ((2, 2, 2), (2, 2), 2, False, False),
        ((2, 2, 2), (2, 2), 2, True, False),
        ((3, 3, 3), (2, 2), 1, False, False),
        ((3, 2, 3), (2, 3), 1, False, False),
        ((2, 3, 2), (2, 2), 2, False, None),
        ((2, 4, 2), (1, 1), 1, False, None),
    ],
)
def test_listed_symmetries_and_others(
    widths: tuple[int, ...], a: tuple[int, ...], heads: int, skip: bool, others: bool | None
) -> None:
    """Orbits by the Lie algebra and the kernel of the differential, at random weights, decide the
    same.
    """
    layers = drawn_layers(widths, a, heads)
    network = weights_of(layers, skip=skip).network
    found, orbit, kernel = (
        network.symmetries,
        orbit_dimension(layers, skip),
        network.parameters - network.rank,
    )
    assert found.others is others
    assert found.listed.least <= orbit <= found.listed.most
    assert orbit <= kernel
    if others is not None:
        assert network.regular
        assert kernel == found.redundant.exact
        assert (kernel > orbit) is others
        assert found.unnamed == kernel - orbit


def test_outputs_of_heads_without_an_output_matrix_stand_side_by_side() -> None:
    """Rows of V are shared out among the heads, so that what each computes is seen; with O it is
    the sum.
    """
    random = numpy.random.default_rng(7)
    arrays = {x: random.integers(-9, 10, (4, 4)) for x in "KQV"}
    found = weights(arrays, heads=2)
    assert re.search(
        r"a layer +without an output matrix .* the function of each is known",
        found.to_sheet().text(),
    )
    assert found.network is None
    known = {
        "parameters": 48,
        "dimension": 38,
        "redundant": 10,
        "redundant_at_least": 10,
        "listed_symmetries": 10,
        "other_symmetries": False,
        "symmetries": [
            {"name": "GL(2) on K and Q", "dimension": 8},
            {"name": "rescaling of A against V", "dimension": 2},
        ],
        "unnamed": 0,
    }
    (layer,) = found.to_json()["layers"]
    assert layer.items() >= ({"layer": 1} | known).items()
    added = weights(arrays | {"O": random.integers(-9, 10, (4, 4))}, heads=2)
    assert added.to_json()["layers"][0]["redundant_at_least"] == 18
    assert "are concatenated" not in added.to_sheet().text()


def test_layers_of_a_network_have_words_and_json_of_their_own() -> None:
    found = weights_of(drawn_layers((3, 1, 3), (3, 3), 2))
    text = found.to_sheet().text()
    assert re.search(
        r"layer 1 +25 redundant directions, 22 of the listed symmetries: there are others, and"
        r" weights are not determined up to the listed ones; 3 further directions are not named",
        text,
    )
    first, _ = found.to_json()["layers"]
    known = {
        "redundant": 25,
        "redundant_at_least": 25,
        "listed_symmetries": 22,
        "other_symmetries": True,
        "unnamed": 3,
    }
    assert first.items() >= ({"layer": 1} | known).items()
    alone = weights_of(drawn_layers((3, 3, 3), (2, 2), 1))
    text = alone.to_sheet().text()
    assert re.search(r"the network +19 redundant directions, all of the listed symmetries", text)
    assert re.search(r"symmetries of the network .*GL\(3\) between layers \(9\)", text)
    assert [layer["unnamed"] for layer in alone.to_json()["layers"]] == [0, 0]


def test_softmax() -> None:
    head = weights(K=[[1, 0]], Q=[[1, 1]], V=[[1, 2]], normalization="softmax").heads[0]
    network = DeepAttention([2, 1], 1, normalization="softmax")
    assert head.shape.dimension == dimension(network).dimension == 5
    assert (
        head.singular,
        head.boundary,
        head.regular,
        head.numerical.distance_to_singular_locus,
    ) == (None, None, True, None)
    assert head.words().startswith("A and V are determined by the function (t ≥ 2)")
    mean = weights(A=[[0, 0], [0, 0]], V=[[1, 2]], normalization="softmax").heads[0]
    assert (mean.is_zero, mean.regular) == (False, True)
    assert mean.words() == "A and V are determined by the function (t ≥ 2)"
    zero = weights(A=[[1, 0], [0, 0]], V=[[0, 0]], normalization="softmax").heads[0]
    assert (zero.is_zero, zero.regular) == (True, False)
    assert zero.words() == "the zero function: all weights with V = 0 have it"


# Weights of one function, for membership.


def test_exact_weights() -> None:
    model = SingleLayerAttention(3, 2, 1)
    random = numpy.random.default_rng(8)
    K, Q, V = (
        random.standard_normal(shape).astype(numpy.float32) for shape in ((1, 3), (1, 3), (2, 3))
    )
    (A, values), remark = exact_weights(model, {"K": K, "Q": Q, "V": V}, None)
    assert [Fraction(entry.p, entry.q) for entry in A] == [
        Fraction(float(x)) * Fraction(float(y)) for x in K[0] for y in Q[0]
    ]
    assert remark == TAKEN
    assert exact_weights(model, {}, (K, Q, V))[0] == (A, values)
    assert exact_weights(model, {"A": A, "V": [[1, 2, Fraction(1, 3)], [0, 0, 0]]}, None)[1] == ""
    rounded_too = exact_weights(model, {"A": (K.T @ Q).tolist(), "V": V}, None)[1]
    assert "within rounding of rank 1" in rounded_too
    decimals = [[Fraction(repr(float(entry))) for entry in row] for row in K.T @ Q]
    assert "within rounding of rank 1" in exact_weights(model, {"A": decimals, "V": V}, None)[1]
    assert (
        exact_weights(
            model, {"K": [[1, 0.5, 2]], "Q": [[0, 1, 1]], "V": [[1, 2, 3], [4, 5, 6]]}, None
        )[1]
        == TAKEN
    )
    for other in (Fraction(1, 3), 2**70 + 1):  # beside a float they stay what they are
        given = {"K": [[other, 0.5, 2]], "Q": [[1, 0, 0]], "V": [[1, 2, 3], [4, 5, 6]]}
        (A, _), remark = exact_weights(model, given, None)
        assert [Fraction(entry.p, entry.q) for entry in A.col(0)] == [other, Fraction(1, 2), 2]
        assert remark == TAKEN
    far = exact_weights(model, {"A": [[1, 0, 0], [0, 1e-3, 0], [0, 0, 0]], "V": V}, None)[1]
    assert far.endswith("rk A = 2 > a = 1: not weights of this model")


@pytest.mark.parametrize("kind", [numpy.float16, numpy.float32])
def test_short_floats_in_lists_are_taken_exactly(kind: Any) -> None:
    """Beside a fraction or a float each is the dyadic rational that it is; alone they are read as
    an array of their type is.
    """
    model = SingleLayerAttention(3, 2, 1)
    tenth = kind(0.1)
    exact = Fraction(float(tenth))
    assert exact != Fraction(0.1)
    for other in (Fraction(1, 3), 0.1, 2):
        given = {"K": [[other, tenth, 2]], "Q": [[1, 0, 0]], "V": [[1, 2, 3], [4, 5, 6]]}
        (A, _), remark = exact_weights(model, given, None)
        assert [Fraction(entry.p, entry.q) for entry in A.col(0)] == [Fraction(other), exact, 2]
        assert remark == TAKEN
    rows = {"K": [[1, 0.5, 0.1]], "Q": [[0, 1, 0.25]], "V": [[1, 0.1, 0], [0, 1, 2]]}
    arrays = {letter: numpy.array(matrix, kind) for letter, matrix in rows.items()}
    lists = {letter: [list(row) for row in array] for letter, array in arrays.items()}
    assert isinstance(lists["K"][0][0], kind)
    assert weights(**lists).heads[0].to_json() == weights(**arrays).heads[0].to_json()


def test_floats_of_sympy_are_taken_exactly() -> None:
    """A Float of 50 digits is w·2^e with its own integers w and e, which no float64 holds."""
    long = sympy.Float("0.1", 50)
    sign, mantissa, exponent, _ = long._mpf_
    exact = Fraction(int(mantissa)) * Fraction(2) ** exponent
    assert sign == 0
    assert exact != Fraction(0.1)
    K = sympy.Matrix([[long, sympy.Float(0.1), sympy.Rational(1, 3)]])
    given = {"K": K, "Q": [[1, 0, 0]], "V": [[1, 2, 3], [4, 5, 6]]}
    (A, _), remark = exact_weights(SingleLayerAttention(3, 2, 1), given, None)
    found = [Fraction(int(entry.p), int(entry.q)) for entry in A.col(0)]
    assert found == [exact, Fraction(0.1), Fraction(1, 3)]
    assert remark == TAKEN


EXACT_MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "K transposed": (
        {"K": [[1], [2], [3]], "Q": [[1, 2, 3]], "V": numpy.eye(3)[:2]},
        "K is 3 × 1, Q is 1 × 3, .*; is one of them transposed",
    ),
    "another case": (
        {"A": numpy.eye(2), "V": numpy.eye(2)},
        r"those of \(d, d', a\) = \(2, 2, 1\), not of .*3, 2, 1",
    ),
    "NaN": (
        {"A": numpy.eye(3) * numpy.nan, "V": numpy.eye(3)[:2]},
        r"entry \(1, 1\) of 'A' is nan: not a finite number",
    ),
    "text": (
        {"A": [["x", 0, 0]] * 3, "V": numpy.eye(3)[:2]},
        "'A' is not a list of rows of numbers",
    ),
    "A alone": ({"A": numpy.eye(3)}, "give K, Q and V, or A and V; not A"),
    "a number": ({"A": 3, "V": 2}, "A is a number, V is a number: give matrices"),
    "ragged": (
        {"A": [[1, 2, 3], [1], [1, 2, 3]], "V": 2},
        "'A' is not a list of rows of numbers, all of one length",
    ),
}


@pytest.mark.parametrize("mistake", EXACT_MISTAKES)
def test_exact_weights_that_are_refused(mistake: str) -> None:
    weights_given, said = EXACT_MISTAKES[mistake]
    with pytest.raises(InvalidCaseError, match=said):
        exact_weights(SingleLayerAttention(3, 2, 1), weights_given, None)


def test_evaluation_at_fractions() -> None:
    parametrization = SingleLayerAttention(2, 1).parametrization()
    values = parametrization.evaluate([Fraction(1, 2), 1, 2, 3, Fraction(2, 3), 5])
    A, V = [[Fraction(1, 2), 1], [2, 3]], [[Fraction(2, 3), 5]]
    assert list(values) == [
        V[0][p] * A[q][i] + (V[0][q] * A[p][i] if p < q else 0)
        for i, p, q in product(range(2), repeat=3)
        if p <= q
    ]
    assert type(values[-1]) is int
    for wrong, said in (([0.5] * 6, "0.5 is not exact"), ([1, 2], "2 numbers for the 6 variables")):
        with pytest.raises(ConversionError, match=said):
            parametrization.evaluate(wrong)


# The network.


def test_a_network_of_unbounded_values_is_that_of_deep_attention() -> None:
    random = numpy.random.default_rng(5)
    state = {f"{n}.{x}": random.standard_normal((3, 3)) for n in range(2) for x in "KQV"}
    found = weights(state).network
    assert found.regular
    assert (
        found.dimension.lower
        == dimension(DeepAttention([3, 3, 3], 3)).dimension
        == 3 * 3 + 9 + 9 - 2
    )
    assert found.gauge == (
        "GL(3) on K and Q (2 times)",
        "GL(3) between layers",
        "R* on A and V (2 times)",
    )
    skip = weights(state, skip=True).network
    assert skip.regular
    assert skip.dimension.upper == dimension(DeepAttention([3, 3, 3], 3, skip=True)).dimension


def test_a_skip_connection_around_one_head_needs_equal_sizes() -> None:
    K, V = [[1, 2, 0]], numpy.eye(3)
    with pytest.raises(InvalidCaseError, match=r"Argument 'skip': .* these have 3 and 2 entries"):
        weights(K=K, Q=K, V=V[:2], skip=True)
    assert weights(K=K, Q=K, V=V, skip=True).heads[0].shape.d_out == 3


def test_what_is_not_seen_of_one_array_is_said() -> None:
    """Two heads with a = 1 and two values, or ones with a = 2 that share keys and values."""
    stacked = numpy.arange(24).reshape(8, 3) % 7
    given = {"x": stacked, "y": numpy.ones((3, 4))}
    found = weights(given, stacked="x", output="y", heads=2, layout="q-k-v")
    assert any("as if values had as many entries as keys" in remark for remark in found.remarks)
    squares = {"x": numpy.arange(27).reshape(9, 3) % 7}
    assert weights(squares, stacked="x", heads=3, layout="q-k-v").remarks == ()


def test_a_network_with_output_matrices() -> None:
    """One layer of two heads: the differential against the sum of the dimensions of the heads."""
    random = numpy.random.default_rng(6)
    given = {x: random.integers(-9, 9, (4, 5)).astype(float) for x in "KQV"} | {
        "O": random.integers(-9, 9, (5, 4)) * 1.0
    }
    found = weights(**given, heads=2)
    assert found.network.regular
    assert (
        found.network.dimension.lower == sum(head.shape.dimension for head in found.heads) == 2 * 31
    )
    given["K"][0] = given["K"][1]
    critical = weights(**given, heads=2)
    assert critical.network.regular is False
    assert critical.network.rank <= critical.network.most_rank < critical.network.dimension.lower
    assert critical.heads[0].regular is False
    assert critical.heads[1].regular is True
    assert weights(**{x: given[x] for x in "KQV"}, heads=2).network is None


@pytest.mark.parametrize(
    ("widths", "a", "v", "heads", "expected"),
    [((3, 3, 3), 1, 1, 2, 24), ((2, 5, 2), 1, 2, 1, None), ((4, 4, 3), 1, 1, 3, None)],
)
def test_width_that_heads_cannot_use_is_no_dimension(
    widths: tuple[int, ...], a: int, v: int, heads: int, expected: int | None
) -> None:
    """The rank of the differential at random weights attains the bound."""
    random = numpy.random.default_rng(2)
    state = {}
    for k, (before, after) in enumerate(pairwise(widths)):
        sizes = {"K": (heads * a, before), "Q": (heads * a, before)}
        sizes |= {"V": (heads * v, before), "O": (after, heads * v)}
        state |= {f"{k}.{x}": random.standard_normal(size) for x, size in sizes.items()}
    network = weights(state, heads=heads).network
    assert network.rank == network.dimension.upper
    assert expected in (None, network.dimension.exact)


@pytest.mark.parametrize("skip", [False, slow(True)])
@pytest.mark.parametrize("normalization", ["none", "softmax"])
def test_a_singular_head_makes_a_network_critical(skip: bool, normalization: str) -> None:
    """The rank at the weights is at most the sum of those of the heads."""
    layers = drawn_layers((3, 3, 3), (2, 2), 2)
    layers[0][1]["K"][1] = layers[0][1]["K"][0]
    network = weights_of(layers, skip=skip, normalization=normalization).network
    assert network.rank <= network.most_rank
    if network.dimension.exact is not None:
        assert network.regular is False


@pytest.mark.slow
@pytest.mark.parametrize("skip", [False, True])
def test_a_network_of_softmax(skip: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Theorem H says that small integer weights are regular, power series say so; and not the
    other way.
    """
    decided = 0
    for seed in range(8):
        random = numpy.random.default_rng(seed)
        state = {f"{n}.{x}": random.integers(-1, 2, (2, 2, 2)) for n in range(2) for x in "KQV"}
        if seed % 2:
            state |= {f"{n}.{x}": random.integers(-1, 2, (2, 1, 2)) for n in range(2) for x in "KQ"}
        found = weights(state, normalization="softmax", skip=skip).network
        assert found.dimension.exact is not None
        with monkeypatch.context() as patched:
            patched.setattr(at_weights, "separate_at_weights", lambda *_: False)
            other = weights(state, normalization="softmax", skip=skip).network
        assert not found.regular or other.regular
        assert other.note == ""
        decided += found.note == "Theorem H"
    assert 0 < decided < 8


# Files and names.


@pytest.fixture
def attention() -> dict[str, Any]:
    random = numpy.random.default_rng(7)
    return {x: random.standard_normal((6, 6)).astype(numpy.float32) for x in "QKVO"}


def named(template: dict[str, str], arrays: dict[str, Any]) -> dict[str, Any]:
    return {name: arrays[letter] for letter, name in template.items()}


NAMES = {
    "LLaMA": {x: f"model.layers.0.self_attn.{x.lower()}_proj.weight" for x in "QKVO"},
    "OPT": {
        x: f"layers.0.self_attn.{'out' if x == 'O' else x.lower()}_proj.weight" for x in "QKVO"
    },
    "BERT": {
        **{
            x: f"bert.encoder.layer.0.attention.self.{w}.weight"
            for x, w in zip("QKV", ("query", "key", "value"), strict=True)
        },
        "O": "bert.encoder.layer.0.attention.output.dense.weight",
    },
    "ViT": {
        **{
            x: f"layer.0.attention.attention.{w}.weight"
            for x, w in zip("QKV", ("query", "key", "value"), strict=True)
        },
        "O": "layer.0.attention.output.dense.weight",
    },
    "DistilBERT": {
        x: f"layer.0.attention.{'out' if x == 'O' else x.lower()}_lin.weight" for x in "QKVO"
    },
    "T5": {x: f"encoder.block.0.layer.0.SelfAttention.{x.lower()}.weight" for x in "QKVO"},
    "letters": {x: f"{x}_1" for x in "QKVO"},
    "diffusers": {x: f"attn1.to_{'out.0' if x == 'O' else x.lower()}.weight" for x in "QKVO"},
}


@pytest.mark.parametrize("convention", NAMES)
def test_usual_names(convention: str, attention: dict[str, Any]) -> None:
    found = weights(named(NAMES[convention], attention), heads=2)
    expected = weights(**attention, heads=2)
    assert found.to_json()["heads"] == expected.to_json()["heads"]
    assert (found.left_out, len(found.heads), found.heads[0].shape.v) == ((), 2, 3)


def test_stacked_names(attention: dict[str, Any]) -> None:
    expected = weights(**attention, heads=3).to_json()["heads"]
    stacked = numpy.vstack([attention[x] for x in "QKV"])
    for state in (
        {"attn.in_proj_weight": stacked, "attn.out_proj.weight": attention["O"]},
        {"blocks.0.attn.qkv.weight": stacked, "blocks.0.attn.proj.weight": attention["O"]},
        {
            "h.0.attn.c_attn.weight": stacked.T,
            "h.0.attn.c_proj.weight": attention["O"].T,
            "h.0.attn.bias": stacked,
        },
    ):
        found = weights(state, heads=3)
        assert found.to_json()["heads"] == expected
    assert found.left_out == ("masks (1)",)
    heads = {x: numpy.stack(numpy.split(attention[x], 3)) for x in "QKV"}
    heads["O"] = numpy.stack(numpy.split(attention["O"], 3, axis=1))
    assert weights(heads).to_json()["heads"] == expected


@pytest.mark.parametrize(
    "names", [("l.{}.W_Q", "l.{}.W_K", "l.{}.W_V"), ("Q{}", "K{}", "V{}"), ("{}.Q", "{}.K", "{}.V")]
)
def test_an_array_belongs_to_one_layer(names: tuple[str, ...], attention: dict[str, Any]) -> None:
    """Names without an output matrix, which several conventions fit."""
    state = {
        name.format(n): attention[x] for n in range(2) for name, x in zip(names, "QKV", strict=True)
    }
    layers = usual_layers(tensors(state))
    used = [part.name for layer in layers for part in layer.parts.values()]
    assert sorted(used) == sorted(state)
    found = weights(state)
    assert [head.layer for head in found.heads] == [1, 2]
    assert found.network is not None


def test_the_shape_says_how_q_k_and_v_are_stacked(
    attention: dict[str, Any], tmp_path: Path
) -> None:
    expected = weights(**{x: attention[x] for x in "QKV"}, heads=3).to_json()["heads"]
    stacked = numpy.vstack([attention[x] for x in "QKV"])
    for name in ("h.0.attn.c_attn.weight", "any"):
        for array in (stacked, stacked.T):
            # Of (3d, d), which StarCoder cuts in another way, it is asked for.
            is_of_gpt2 = "c_attn" in name and array is not stacked
            said = {"heads": 3, "layout": None if is_of_gpt2 else "q-k-v"}
            assert weights({name: array}, **said).to_json()["heads"] == expected
            found = weights({name: array, "x": I}, stacked=name, **said)
            assert found.to_json()["heads"] == expected
    for names in ({}, {"stacked": "any"}):
        # Nothing says how it is cut.
        with pytest.raises(InvalidCaseError, match=r"'layout': 'any' is .* give the layout, q-k-v"):
            weights({"any": stacked}, **names, heads=3)
    small = {"h.0.attn.c_attn.weight": numpy.ones((48, 144))}
    head, *_ = weights(small, heads=4).heads
    assert (head.shape.d, head.shape.d_out, head.shape.a) == (48, 12, 12)
    # nanoGPT, as its mask shows
    output = {
        "h.0.attn.bias": numpy.ones((1, 1, 5, 5)),
        "h.0.attn.c_attn.weight": stacked,
        "h.0.attn.c_proj.weight": attention["O"],
    }
    assert (
        weights(output, heads=3).to_json()["heads"]
        == weights(**attention, heads=3).to_json()["heads"]
    )
    numpy.save(tmp_path / "emb.npy", numpy.ones((300, 16)))
    with pytest.raises(
        InvalidCaseError,
        match=r"give the names of Q, K and V, or of a stacked array; it holds 'emb' \(300 × 16\)",
    ):
        weights(tmp_path / "emb.npy")
    shown = invoke("weights", tmp_path / "emb.npy")
    assert shown.return_value == 2
    assert "--stacked NAME" in shown.stderr
    with pytest.raises(
        InvalidCaseError, match=r"'x' is 32 × 96: 3 heads do not divide the 32 rows of Q"
    ):
        weights({"x": numpy.ones((32, 96))}, heads=3, layout="q-k-v")
    # 8 rows are not three times as many, nor are 8 rows beside the 3 of O, or the 8 of another O
    for number in (None, 3, 8):
        given = {"x": numpy.ones((8, 4))}
        if number is not None:
            given["o"] = numpy.ones((4, number))
        output = None if number is None else "o"
        with pytest.raises(
            InvalidCaseError, match="'x' is 8 × 4: 8 is not the number of rows of Q, K and V"
        ):
            weights(given, stacked="x", output=output, layout="q-k-v")
    with pytest.raises(InvalidCaseError, match="Argument 'key' is not given beside stacked"):
        weights({"x": stacked}, stacked="x", key="x")


def test_arrays_that_some_models_stack_head_by_head(attention: dict[str, Any]) -> None:
    """GPT-NeoX and BLOOM have the rows q, k, v of each head, under the name that others use too."""
    stacked = numpy.vstack([attention[x] for x in "QKV"])
    name = "h.0.self_attention.query_key_value.weight"
    (remark,) = weights({name: stacked}, stacked=name, heads=3).remarks
    assert "head by head" in remark
    assert weights({"qkv": stacked}, stacked="qkv", heads=3, layout="q-k-v").remarks == ()


def test_a_layer_that_is_not_in_the_file(attention: dict[str, Any]) -> None:
    state = {f"h.{k}.{x}": attention[x] for k in (3, 11) for x in "QKVO"}
    (remark,) = weights(state, heads=3).remarks
    assert "there is no layer 4 between them" in remark
    state = {f"h.{k}.{x}": attention[x] for k in (3, 4) for x in "QKVO"}
    assert weights(state, heads=3).remarks == ()


def test_keys_that_heads_share(attention: dict[str, Any]) -> None:
    few = attention | {x: attention[x][:4] for x in "KV"}
    found = weights(
        named(
            NAMES["LLaMA"],
            few
            | {
                "Q": numpy.vstack([attention["Q"], attention["Q"][:2]]),
                "O": attention["O"][:, :4].repeat(2, 1),
            },
        ),
        heads=4,
    )
    head = weights(
        K=few["K"][2:4],
        Q=attention["Q"][4:6],
        V=few["V"][2:4],
        O=attention["O"][:, :4].repeat(2, 1)[:, 4:6],
    )
    own = [{**part.to_json(), "head": 1} for part in found.heads]
    assert own[2] == head.heads[0].to_json()
    assert any("share their keys" in remark for remark in found.remarks)


def test_layers_are_in_their_order_and_the_rest_is_named(attention: dict[str, Any]) -> None:
    state = {}
    for layer in (10, 2, 1):
        state |= {
            name.replace("layers.0", f"layers.{layer}"): array * layer
            for name, array in named(NAMES["OPT"], attention).items()
        }
    state |= {
        f"layers.1.{name}": attention["O"] for name in ("fc1.weight", "encoder_attn.q_proj.weight")
    }
    state["layers.1.self_attn_layer_norm.weight"] = numpy.ones(len(attention["O"]))
    state["embed_positions.weight"] = state["what"] = attention["Q"]
    layers = usual_layers(tensors(state))
    assert [layer.name.split(".")[1] for layer in layers] == ["1", "2", "10"]
    expected = {"MLPs (1)", "norms (1)", "attention to other tokens (1)", "positions (1)", "'what'"}
    uses = array_uses(tensors(state), layers, StoredOptions())
    assert set(kinds_left_out(uses)) == expected
    starred = weights(
        state,
        query="layers.*.self_attn.q_proj.weight",
        key="layers.*.self_attn.k_proj.weight",
        value="layers.*.self_attn.v_proj.weight",
        heads=1,
    )
    assert [head.layer for head in starred.heads] == [1, 2, 3]
    assert starred.heads[0].shape.v is None


def test_a_star_crosses_dots_only_where_it_has_to(attention: dict[str, Any]) -> None:
    matrices = {x: attention[x] for x in "QKV"}
    state = {f"h.{k}.{x}": matrix for k in range(2) for x, matrix in matrices.items()}
    names = {"query": "h.*.Q", "key": "h.*.K", "value": "h.*.V"}
    plain = weights(state, heads=1, **names)
    # an array of another module is no array of a layer
    other = weights(state | {"h.0.cross.Q": attention["Q"]}, heads=1, **names, ignore="h.0.cross.*")
    assert other.to_json()["heads"] == plain.to_json()["heads"]
    long = weights(state, heads=1, query="*.Q", key="*.K", value="*.V")
    assert long.to_json()["heads"] == plain.to_json()["heads"]


@pytest.mark.parametrize("kind", TYPES)
def test_safetensors(kind: Any, attention: dict[str, Any], tmp_path: Path) -> None:
    state = {name: array.astype(kind) for name, array in named(NAMES["BERT"], attention).items()}
    save_file(state, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text('{"num_attention_heads": 2}')
    for source in (tmp_path / "model.safetensors", tmp_path):
        found = weights(source)
        assert len(found.heads) == 2
        assert found.heads[0].numerical.kind == numpy.dtype(kind).name
    exactly = weights(**{x: attention[x].astype(kind).astype(float) for x in "QKVO"}, heads=2)
    assert [head.ranks for head in found.heads] == [head.ranks for head in exactly.heads]
    values = [[h.numerical.singular_values_A for h in each.heads] for each in (found, exactly)]
    assert values[0] == values[1]
    assert number_in(text_model(configuration(tmp_path / "elsewhere" / "x.npz")), "heads") is None


def test_json_and_npy(tmp_path: Path) -> None:
    (tmp_path / "w.json").write_text(
        '{"layers": [{"K": [[1, 0.1]], "Q": [["1/3", 1]], "V": [[2, 1]]}]}'
    )
    (head,) = weights(tmp_path / "w.json").heads
    assert (head.ranks.r, head.numerical.kind) == (1, "exact")
    numpy.save(tmp_path / "all.npy", numpy.arange(12.0).reshape(3, 2, 2))
    (head,) = weights(tmp_path / "all.npy").heads
    assert (head.shape.a, head.shape.d, head.ranks.r) == (2, 2, 2)


class FakeTensor:
    """What is used of a tensor of PyTorch."""

    def __init__(self, array: Any) -> None:
        self.array, self.shape, self.dtype = array, array.shape, f"torch.{array.dtype.name}"

    def detach(self) -> FakeTensor:
        return self

    cpu = detach

    def numpy(self) -> Any:
        return self.array


def test_pytorch(
    attention: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loaded with weights_only=True and nothing else; files that torch.save does not write are not
    opened by it.
    """
    state = {
        "state_dict": {
            name: FakeTensor(array) for name, array in named(NAMES["OPT"], attention).items()
        },
        "epoch": 3,
    }
    content: list[Any] = [state]

    def load(path: Path, *, map_location: str, weights_only: bool, mmap: bool | None) -> Any:
        assert weights_only
        if isinstance(content[0], Exception):
            raise content[0]
        return content[0]

    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(load=load))
    path = tmp_path / "model.pt"
    empty_archive = b"PK\5\6" + bytes(18)
    path.write_bytes(empty_archive)
    assert len(weights(path, heads=2).heads) == 2
    for refused, said in (
        ([1], "a list and no state dict"),
        (RuntimeError("a\nb"), "refuses it: save model.state_dict()"),
    ):
        content[0] = refused
        with pytest.raises(ConversionError, match=said) as error:
            weights(path)
        assert "\n" not in str(error.value)
    path.write_bytes(b"PK")
    with pytest.raises(ConversionError, match="the download is incomplete"):
        weights(path)
    path.write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(ConversionError, match=r"not a file of torch.save"):
        weights(path)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MethodUnavailableError, match="need the package torch"):
        weights(path)


# What is refused.

I = numpy.eye(3)
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "NaN": ({"K": I * numpy.nan, "Q": I, "V": I}, r"entry \(1, 1\) of 'K' is nan"),
    "infinite": ({"A": I, "V": numpy.where(I > 0, numpy.inf, 0)}, r"entry \(1, 1\) of 'V' is inf"),
    "K transposed": (
        {"K": I[:, :2], "Q": I[:2], "V": I},
        "K is 3 × 2, Q is 2 × 3.*: K and Q must have the same shape, a × d; is one of them transposed",
    ),
    "V transposed": (
        {"K": I, "Q": I, "V": I[:, :2]},
        r"V is 3 × 2: V must have as many columns as K and Q, the dimension d of the tokens; is V"
        r" transposed\?",
    ),
    "V or K and Q transposed": (
        {"K": I[:2], "Q": I[:2], "V": I[:, :2]},
        "V must have as many columns as K and Q.*is V transposed, or are K and Q",
    ),
    "K and Q transposed": (
        {"K": I[:2], "Q": I[:2], "V": I[:2, :2]},
        r"V must have as many columns as K and Q[^;]*; are K and Q transposed\?",
    ),
    "V of other tokens": (
        {"A": I, "V": I[:2, :2]},
        r"V must have as many columns as A, the dimension d of the tokens(\.|$)",
    ),
    "A not square": ({"A": I[:2], "V": I}, "A is 2 × 3.*must be square"),
    "shared K": (
        {"K": I[:1], "Q": I[:2], "V": I[:1]},
        "where heads share keys and values, say how many heads there are",
    ),
    "O": ({"K": I, "Q": I, "V": I[:2], "O": I}, "O must have as many columns as V has rows"),
    "heads": (
        {"K": I, "Q": I, "V": I, "heads": 2},
        "Argument 'heads': Q has 3 rows, which are not those of 2 heads",
    ),
    "no rows": (
        {"K": I[:0], "Q": I[:0], "V": I, "heads": 2},
        "'K' is 0 × 3: a matrix has no entries",
    ),
    "no heads": ({"K": I, "Q": I, "V": I, "heads": 0}, "Argument 'heads' must be at least 1"),
    "a with K and Q": ({"K": I, "Q": I, "V": I, "a": 2}, "Argument 'a' is for weights A"),
    "tolerance": (
        {"A": I, "V": I, "tolerance": -1.0},
        "Argument 'tolerance' must be at least 0 and less than 1",
    ),
    "no V": ({"K": I, "Q": I}, "give K, Q and V, or A and V; not K, Q"),
    "nothing": ({}, "give a file or a dictionary, or K, Q and V"),
    "lengths": ({"A": [[1, 2], [3]], "V": I}, "'A' is not a list of rows of numbers"),
    "text": ({"A": [["a", 2], [3, 4]], "V": I}, "'A' is not a list of rows of numbers"),
    "complex": ({"A": I * 1j, "V": I}, "'A' holds complex128"),
    "a number": ({"A": 1.0, "V": I}, "give matrices"),
    "empty": ({"A": I, "V": I[:0]}, "a matrix has no entries"),
    "normalization": (
        {"A": I, "V": I, "normalization": "max"},
        "Argument 'normalization' must be none or softmax",
    ),
    "unknown names": ({"source": {"x": I, "y": I}}, r"no usual names are in it.*'x' \(3 × 3\)"),
    "missing": (
        {"source": {"x": I}, "query": "x", "key": "z", "value": "x"},
        "Argument 'key': there is no 'z'; there are 'x'",
    ),
    "one name": ({"source": {"x": I}, "query": "x"}, "Argument 'key' is missing"),
    "a source": (
        {"source": 5},
        "a model of PyTorch or a dictionary from names to arrays, not an int",
    ),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_what_is_refused(mistake: str) -> None:
    given, said = WRONG[mistake]
    with pytest.raises(InvalidCaseError, match=said) as error:
        weights(**given)
    assert "\n" not in str(error.value)


def test_files_that_are_refused(tmp_path: Path) -> None:
    def refused(
        name: str, content: bytes | None = None, kind: type[M2BridgeError] = ConversionError
    ) -> str:
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(kind) as error:
            weights(path)
        assert "\n" not in str(error.value)
        return str(error.value)

    assert "there is no file" in refused("none.npz")
    assert "is empty" in refused("empty.npz", b"")
    assert "does not end in .npz" in refused("x.pkl", b"x")
    numpy.savez(tmp_path / "objects.npz", K=numpy.array([None]))
    assert "never unpickled" in refused("objects.npz")
    numpy.savez(tmp_path / "good.npz", K=I)
    assert "cannot be read" in refused("cut.npz", (tmp_path / "good.npz").read_bytes()[:-40])
    assert "cannot be read" in refused("x.safetensors", b"\0" * 100)
    assert "not JSON" in refused("x.json", b"[1")
    for ending in ("npz", "npy", "safetensors", "pt", "json"):
        with (tmp_path / f"sparse.{ending}").open("wb") as file:
            file.truncate(10**10)
        refused(f"sparse.{ending}", None, M2BridgeError)
    header = numpy.lib.format.header_data_from_array_1_0(numpy.zeros((1, 1)))
    with (tmp_path / "large.npy").open("wb") as file:
        numpy.lib.format.write_array_header_1_0(file, header | {"shape": (3, 20000, 20000)})
        file.truncate(10**10)
    assert "at most" in refused("large.npy", None, TooLargeError)


def test_two_arrays_of_one_name_are_refused(tmp_path: Path) -> None:
    """Which of them is meant cannot be seen, and the last one was taken."""
    plain = {x: numpy.eye(2).tolist() for x in "QKV"}
    nested = {"a": plain, "a.Q": [[1, 1], [1, 1]]}
    with pytest.raises(ConversionError, match=r"two arrays have the name 'a\.Q'"):
        weights(nested)
    (tmp_path / "x.json").write_text(json.dumps(nested), encoding="utf-8")
    with pytest.raises(ConversionError, match=r"two arrays have the name 'a\.Q'"):
        weights(tmp_path / "x.json")
    members = BytesIO()
    numpy.save(members, I)
    for other in ("Q", "Q.npy"):
        with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a name is there already
            for name in ("Q.npy", "K.npy", "V.npy", other):
                archive.writestr(name, members.getvalue())
        with pytest.raises(ConversionError, match="two arrays have the name 'Q'"):
            weights(tmp_path / "x.npz")
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    for name in ("one.npz", "two.npz"):
        numpy.savez(folder / name, Q=I, K=I, V=I)
    with pytest.raises(ConversionError, match=r"'Q' is in 'one\.npz' and in 'two\.npz'"):
        weights(folder)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_in_one_line(name: str, tmp_path: Path) -> None:
    content, said = HOSTILE[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(M2BridgeError, match=said) as error:
        weights(tmp_path / name)
    assert "\n" not in str(error.value)


def test_a_configuration_that_cannot_be_read_is_not_waited_for(tmp_path: Path) -> None:
    """A test that hangs, or takes all memory, has failed."""
    file = tmp_path / "config.json"
    numpy.savez(tmp_path / "x.npz", K=I, Q=I, V=I)
    for text in ("[" * 50_000 + "]" * 50_000, "{" * 50_000, '{"n_head": 3', "\udc80"):
        file.write_bytes(text.encode("utf-8", "surrogateescape"))
        with pytest.raises(ConversionError, match=r"config.json' next to the weights"):
            weights(tmp_path / "x.npz")
    file.write_text('{"n_head": true}')
    assert number_in(text_model(configuration(tmp_path / "x.npz")), "heads") is None
    for make in (os.mkfifo, partial(os.symlink, "/dev/zero"), os.mkdir):
        file.unlink()
        make(file)
        assert number_in(text_model(configuration(tmp_path / "x.npz")), "heads") is None
        assert len(weights(tmp_path / "x.npz").heads) == 1


# On the command line.


@pytest.fixture
def file(attention: dict[str, Any], tmp_path: Path) -> Path:
    numpy.savez(tmp_path / "model.npz", **named(NAMES["BERT"], attention))
    return tmp_path / "model.npz"


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(commands.cli, list(map(str, arguments)), standalone_mode=False)


def test_the_command(file: Path) -> None:
    shown = invoke("weights", file, "--heads", "2,all")
    assert shown.return_value == 0
    assert "Exact (" in shown.stdout
    assert "Numerical (float32" in shown.stdout
    content = json.loads(invoke("weights", file, "--heads", 2, "--json").stdout)
    for number, head in enumerate(content["heads"], 1):
        assert (
            head["layer"],
            head["head"],
            head["rank_A"],
            head["rank_V"],
            head["dim_intersection"],
        ) == (1, number, 3, 3, 0)
        assert (head["singular"], head["boundary"], head["regular"]) == (False, False, True)
        assert head["redundant"] == head["parameters"] - head["dimension"] == 19
        assert head["ranks"]["rank_A"] == "proved"
        keys = {
            "singular_values_A",
            "singular_values_V",
            "distance_to_singular_locus",
            "distance_to_boundary",
        }
        assert keys <= head["numerical"].keys()
    assert content["network"]["regular"] is True
    asked = invoke("weights", file, "--format", "latex")
    assert isinstance(asked.exception, InvalidCaseError)
    assert "nothing says how many heads" in str(asked.exception)
    latex = invoke("weights", file, "--heads", 1, "--format", "latex")
    assert latex.return_value == 0


def test_a_file_without_usual_names_lists_what_it_holds(tmp_path: Path) -> None:
    numpy.savez(tmp_path / "odd.npz", first=I, second=I)
    shown = invoke("weights", tmp_path / "odd.npz")
    assert shown.return_value == 2
    assert "first    3 × 3   float64" in shown.stdout
    assert "--query NAME" in shown.stderr
    asked = ("--query", "first", "--key", "second", "--value", "first")
    assert invoke("weights", tmp_path / "odd.npz", *asked, "--heads", 1).return_value == 0


def unquoted(text: str) -> list[str]:
    """The strings of a list that Macaulay2 reads, by its rules; nothing may stand between them but
    commas.
    """
    assert text.startswith("names = {")
    assert text.endswith("}")
    found = []
    rest = text[len("names = {") : -1]
    while rest:
        match = re.match(r'"((?:[^"\\]|\\[0-7]{3})*)"(?:, |$)', rest)
        assert match, rest
        octal = re.sub(r"\\([0-7]{3})", lambda sign: chr(int(sign[1], 8)), match[1])
        found.append(octal.encode("latin-1").decode("utf-8", "surrogatepass"))
        rest = rest[match.end() :]
    return found


def test_names_of_arrays_are_no_commands(tmp_path: Path) -> None:
    """Neither of Macaulay2, nor of a terminal: in the list of names, among what is left out, and in
    messages.
    """
    found = contents(dict.fromkeys(NASTY, I))
    assert found is not None
    assert unquoted(found.to_macaulay2()) == list(NASTY)
    known = weights({"K": I, "Q": I, "V": I} | dict.fromkeys(NASTY, I))
    for sheet in (found.to_sheet(), known.to_sheet()):
        for text in (sheet.text(), re.sub(r"\x1b\[[0-9;]*m", "", terminal_text(sheet, width=200))):
            assert all(sign.isprintable() or sign == "\n" for sign in text)
            assert r"\x1b[2J\x07\r\u202e" in text
            assert r"a\nb" in text
    file = tmp_path / "x.json"
    file.write_text(json.dumps({name: [[1, 2]] for name in NASTY}))
    for form in ("text", "m2", "latex", "json"):
        shown = invoke("weights", file, "--format", form)
        assert shown.return_value == 2
        assert "\x1b" not in shown.stdout
        assert "\u202e" not in shown.stdout


def test_a_limit_on_time_shows_what_is_known(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("m2bridge.trained_weights.heads.ranks._MAX_SECONDS", -1.0)
    given = {"K": [[1, 1, 2], [1, 1, 2], [2, 2, 4]], "Q": I, "V": [[1, 0, 0]]}
    found = weights(**given)
    head = found.heads[0]
    assert (head.ranks.proved, head.singular, head.regular, head.point) == (
        False,
        None,
        None,
        "undecided",
    )
    assert found.unfinished == "the ranks of 1 head are not proved"
    assert head.to_json()["ranks"]["rank_A"] == "lower bound"


def test_zero_is_not_said_of_a_product_that_is_not_proved_to_be_zero(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # KᵀQ = 0, of which residues show only that the rank is at least 0
    given = {"K": [[1, 2, 3], [0, 0, 0]], "Q": [[0, 0, 0], [1, 0, 2]], "V": [[1, 0, 0]]}
    proved = weights(**given).heads[0]
    assert (proved.is_zero, proved.orbit, proved.point) == (True, None, "zero, singular, boundary")
    monkeypatch.setattr("m2bridge.trained_weights.heads.ranks._MAX_SECONDS", -1.0)
    found = weights(**given)
    head = found.heads[0]
    assert (head.ranks.proved, head.is_zero, head.point) == (False, False, "undecided")
    assert head.words().startswith("not decided")
    assert "zero" not in found.to_text()


def artists(figure: Any) -> Iterator[tuple[str, Any]]:
    for axes in figure.axes:
        for line in axes.lines:
            yield str(line.get_label()), line


@pytest.mark.slow
def test_the_picture(file: Path, tmp_path: Path) -> None:
    found = weights(file, heads=2)
    drawn = dict(artists(found.figure()))
    relative = [
        v / h.numerical.singular_values_A[0]
        for h in found.heads
        for v in h.numerical.singular_values_A
    ]
    assert list(drawn["singular values of A"].get_ydata()) == relative
    near = [h.numerical.distance_to_singular_locus for h in found.heads]
    assert list(drawn["distance to the singular locus"].get_ydata()) == near
    panels = [
        [list(line.get_ydata()) for line in axes.lines]
        for axes in found.figure().axes
        if axes.lines
    ]
    assert len(panels) == 2
    assert not any(values in panels[1] for values in panels[0] if len(values) > 1)
    single = weights(A=I + numpy.diag([1, 2, 3]), V=I[:2])
    drawn = dict(artists(single.figure()))
    assert list(drawn["singular values of A"].get_ydata()) == [1.0, 0.75, 0.5]
    rows = list(csv.DictReader(StringIO(found.to_csv())))
    assert [row["head"] for row in rows] == ["1", "2"]
    out = tmp_path / "w.svg"
    assert invoke("figure", "weights", file, "--heads", 2, "--out", out).return_value == 0
    assert out.read_text().startswith("<?xml")


# Heads near a lower rank.

D, RANK, SMALL = 6, 3, 2.0**-26


def _near_rank_two(layers: int = 3) -> dict[str, Any]:
    """Layers of one head with a = 3 < d; A of the second one has σ = 1, 1, and a small number."""
    arrays = {}
    for layer in range(layers):
        last = SMALL if layer == 1 else 0.25 / (layer + 1)
        K = numpy.eye(RANK, D)
        Q = numpy.diag([1.0, 1.0, last]) @ numpy.eye(RANK, D)
        for letter, array in {"K": K, "Q": Q, "V": numpy.eye(D)}.items():
            arrays[f"{letter}{layer}"] = array.astype("float32")
    return arrays


@pytest.fixture
def found() -> Weights:
    return weights(_near_rank_two())


def test_a_head_within_rounding_of_a_lower_rank_keeps_its_exact_verdict(found: Weights) -> None:
    head = found.to_json()["heads"][1]
    assert (head["rank_A"], head["singular"]) == (3, False)
    # ‖A‖ = √2 up to the small number, which is all that is cut off.
    (near,) = head["near"]
    assert near["stratum"] == "rk A ≤ 2"
    assert near["distance"] == pytest.approx(SMALL / 2**0.5, rel=1e-4)
    expected = (
        "head 1 of layer 2 is within rounding (float32) of rk A ≤ 2: its nearest singular function"
        " is at distance 1.1e-08"
    )
    assert head["near_words"] == expected
    assert expected in " ".join(str(found).split())


def test_other_heads_have_no_such_sentence(found: Weights) -> None:
    others = [head for head in found.to_json()["heads"] if head["layer"] != 2]
    assert [(head["near"], head["near_words"]) for head in others] == [([], None)] * 2


@pytest.mark.parametrize("tolerance", ["0.1", 1, -0.1, numpy.nan, [0.1]])
def test_a_tolerance_is_a_number_below_one(tolerance: Any) -> None:
    with pytest.raises(InvalidCaseError, match="'tolerance' must be at least 0 and less than 1"):
        weights(A=[[1]], V=[[1]], tolerance=tolerance)


def test_a_given_tolerance_is_no_rounding() -> None:
    head = weights(_near_rank_two(), tolerance=0.2).to_json()["heads"][2]
    assert head["near_words"].startswith("head 1 of layer 3 is within tolerance 0.2 of rk A ≤ 2")


def test_softmax_has_the_distance_to_the_stratum() -> None:
    head = weights(_near_rank_two(), normalization="softmax").to_json()["heads"][1]
    assert head["near_words"].endswith("of rk A ≤ 2: rk A ≤ 2 is at distance 1.1e-08")


def test_the_summary_has_the_nearest_head_of_each_locus(found: Weights) -> None:
    distances = {
        (h["layer"], h["head"]): h["numerical"]["distance_to_singular_locus"]
        for h in found.to_json()["heads"]
    }
    (locus,) = found.to_json()["nearest"]
    assert locus["heads"] == 3
    assert (locus["layer"], locus["head"]) == min(distances, key=lambda key: distances[key])
    words = " ".join(str(replace(found, all_heads=True)).split())
    assert "rk A ≤ 2: 3 heads, nearest head 1 of layer 2" in words


def test_text_is_short_and_has_ten_facts_and_more_on_request() -> None:
    """Of a network of two layers with biases, in which there is more to be said than that."""
    file = Path(__file__).parents[3] / "examples" / "weights.npz"
    found = weights(file, heads=4, normalization="softmax")
    (block,) = found.to_sheet().blocks
    assert isinstance(block, Facts)
    names = [name for name, _ in block.pairs]
    assert names[:3] == ["in short", "summary", "nearest to lower rank"]
    assert len(names) == 13
    assert {"the network", "dimension", "regular point", "left out", "remark"} <= set(names)
    assert names[-1] == "computed by"
    assert dict(block.pairs)["computed by"].endswith(
        "--heads all shows 10 more facts and tables of the heads"
    )
    everything, exact, numerical = replace(found, all_heads=True).to_sheet().blocks
    assert isinstance(everything, Facts)
    assert len(everything.pairs) == len(names) + 10
    assert len(exact.rows) == len(numerical.rows) == 8


def test_a_single_head_has_a_sentence_and_its_tables() -> None:
    one = weights(K=[[1, 0, 2]], Q=[[0, 1, 1]], V=[[1, 1, 0]])
    assert one.summary == (
        "The head is determined by its function up to GL(1) on K and Q, rescaling of A against V"
        " (2 dimensions) and exchange of k and v in A = k qᵀ, V = h vᵀ (S(2)), at generic weights:"
        " proved."
    )
    assert [type(block).__name__ for block in one.to_sheet().blocks] == ["Facts"] + ["Table"] * 3
    zero = weights(K=[[1, 0, 2]], Q=[[0, 1, 1]], V=[[0, 0, 0]])
    assert (
        zero.summary == "The head has the zero function: all weights with A = 0 or V = 0 have it."
    )


def _layers(*options: str) -> list[int]:
    words = ["weights", "w.npz", "--json", *options]
    answer = CliRunner().invoke(commands.cli, words, standalone_mode=False)
    assert answer.return_value == 0, answer.output
    return [head["layer"] for head in json.loads(answer.stdout)["heads"]]


def test_heads_are_sorted_by_distance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    numpy.savez("w.npz", **_near_rank_two())
    assert _layers() == [1, 2, 3]
    assert _layers("--sort", "distance") == [2, 3, 1]
    assert _layers("--worst", "2") == [2, 3]


def test_wrong_orders_are_named() -> None:
    with pytest.raises(InvalidCaseError, match="must be at least 1, not 0"):
        weights(_near_rank_two(), worst=0)
    with pytest.raises(InvalidCaseError, match="must be layer or distance"):
        weights(_near_rank_two(), sort="size")


def test_the_precision_in_the_picture_is_not_the_tolerance() -> None:
    small = numpy.diag([1, 2e-7]).astype("float32")
    found = weights(A=small, V=numpy.eye(2, dtype="float32"), tolerance=0.1)
    drawn = dict(artists(found.figure()))
    assert drawn["precision of float32"].get_ydata()[0] == 2.0**-23


def test_the_picture_has_a_map_of_distances_by_layers_and_heads(found: Weights) -> None:
    (image,) = [image for axes in found.figure().axes for image in axes.images]
    shown = image.get_array().filled(0).ravel()
    distances = [head.numerical.distance_to_singular_locus for head in found.heads]
    assert shown.tolist() == pytest.approx(distances)


def test_the_picture_has_the_heads_of_the_tables_and_a_map_of_all() -> None:
    """Of three heads two are drawn, the nearest first, and have frames in the map."""
    drawn = weights(_near_rank_two(), worst=2).figure()
    _, second, table, mapped, _ = drawn.axes
    assert [text.get_text() for text in second.get_xticklabels()] == ["2.1", "3.1"]
    assert table.get_title() == "the 2 heads nearest to the singular locus"
    assert (mapped.get_xlabel(), mapped.get_ylabel()) == ("head", "layer")
    (image,) = mapped.images
    assert image.get_array().count() == 3
    corners = [(min(line.get_xdata()), min(line.get_ydata())) for line in mapped.lines]
    assert corners == [(-0.5, 0.5), (-0.5, 1.5)]


def test_the_picture_of_all_heads_is_in_the_order_that_is_asked_for() -> None:
    drawn = weights(_near_rank_two(), sort="distance").figure()
    _, second, *_ = drawn.axes
    assert [text.get_text() for text in second.get_xticklabels()] == ["2.1", "3.1", "1.1"]
    assert not [line for axes in drawn.axes for line in axes.lines if axes.images]


@pytest.mark.slow
def test_the_parts_of_the_picture_do_not_touch() -> None:
    figure = weights(_near_rank_two(), worst=2).figure()
    _, _, table, mapped, bar = figure.axes
    renderer = figure.canvas.get_renderer()
    figure.draw(renderer)
    parts = [*(axes for axes in figure.axes if axes is not bar), *figure.legends]
    boxes = [part.get_tightbbox(renderer) for part in parts]
    assert not any(one.overlaps(other) for k, one in enumerate(boxes) for other in boxes[:k])
    assert bar.get_tightbbox(renderer).x0 > mapped.bbox.x1
    assert bar.get_position().y0 == mapped.get_position().y0
    assert table.get_position().y1 < mapped.get_position().y0


@pytest.mark.slow
def test_a_map_of_many_heads_fits_the_picture() -> None:
    random = numpy.random.default_rng(0)
    arrays = {f"{letter}_1": random.standard_normal((16, 2, 4)) for letter in "KQV"}
    figure = weights(arrays).figure()
    renderer = figure.canvas.get_renderer()
    figure.draw(renderer)
    for axes in figure.axes:
        box = axes.get_tightbbox(renderer)
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1
        assert box.y1 <= figure.bbox.y1


def test_the_table_has_the_colours_of_the_map() -> None:
    """Each head the colour of its square, on which its distance can be read."""
    figure = weights(_near_rank_two(), worst=2).figure()
    _, _, beside, mapped, bar = figure.axes
    (image,) = mapped.images
    (table,) = beside.tables
    for row, layer in ((1, 2), (2, 3)):
        cell = table[row, 3]
        assert cell.get_facecolor() == tuple(image.to_rgba(image.get_array()[layer - 1, 0]))
        assert cell.get_text().get_text() == f"{image.get_array()[layer - 1, 0]:.4g}"
    low, high = image.get_clim()
    ticks = bar.get_yticks()
    assert len(ticks) >= 2
    assert all(low <= tick <= high for tick in ticks)


def test_for_softmax_the_coloured_cell_is_the_distance_of_the_map() -> None:
    """That of A to a lower rank in the first head, and that of V in the second."""
    nearly = numpy.diag([1, 0.01])
    matrices = {"K": [nearly, numpy.eye(2)], "V": [numpy.eye(2), nearly]}
    arrays = {f"{letter}_1": numpy.array(heads) for letter, heads in matrices.items()}
    arrays["Q_1"] = numpy.array([numpy.eye(2)] * 2)
    figure = weights(arrays, as_="softmax").figure()
    _, _, beside, mapped, _ = figure.axes
    (image,) = mapped.images
    (table,) = beside.tables
    for row, column in ((1, 3), (2, 4)):
        cell = table[row, column]
        assert cell.get_facecolor() == tuple(image.to_rgba(image.get_array()[0, row - 1]))
        assert cell.get_text().get_text() == f"{image.get_array()[0, row - 1]:.4g}"
        other = table[row, 7 - column]
        assert other.get_facecolor() != cell.get_facecolor()


def test_the_legend_has_each_mark_once(found: Weights) -> None:
    (legend,) = found.figure().legends
    marks = [(line.get_marker(), line.get_color()) for line in legend.get_lines()]
    assert len(marks) == len(set(marks))
    assert [mark for mark, _ in marks].count("x") == 1


def test_a_figure_takes_the_options_of_the_heads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    numpy.savez("w.npz", **_near_rank_two())
    words = ["figure", "weights", "w.npz", "--csv", "--worst", "2"]
    answer = CliRunner().invoke(commands.cli, words, standalone_mode=False)
    assert answer.return_value == 0, answer.output
    assert [line[0] for line in answer.stdout.splitlines()[1:]] == ["2", "3"]


def test_a_head_without_a_type_says_why() -> None:
    state = {letter: numpy.array([[1.0, 2.0], [3.0, 5.0]]) for letter in "KQV"}

    def types(**more: Any) -> list[str]:
        facts = weights(state | more).to_sheet().blocks[0]
        return [str(value) for name, value in facts.rows if name == "stationary type"]

    (named,) = types()
    assert named.startswith("rk K = 2, rk Q = 2, rk V = 2, rk A = 2: ")
    (reason,) = types(V_bias=numpy.ones(2))
    assert reason.startswith(
        "not determined: the theorem on where training stops is about layers without"
    )


def test_a_name_with_a_digit_that_is_no_decimal_is_sorted() -> None:
    """Python calls ² a digit, and reads no number from it."""
    names = ["layers.10.²", "²", "layers.2.²"]
    layers = [LayerTensors(name, parts={}) for name in names]
    found = [layer.name for layer in sorted(layers, key=_sort_key)]
    assert found == ["layers.2.²", "layers.10.²", "²"]


def test_a_longdouble_is_exact_in_lists_and_arrays() -> None:
    """Two rows that differ in the last bit of a longdouble, which a float64 has not."""
    third = numpy.longdouble(1) / 3
    if numpy.finfo(numpy.longdouble).nmant <= numpy.finfo(float).nmant:
        pytest.skip("a longdouble is a float64 here")
    equal = [[third, numpy.longdouble(1)], [2 * third, numpy.longdouble(2)]]
    other = [equal[0], [numpy.nextafter(2 * third, numpy.longdouble(1)), numpy.longdouble(2)]]
    known = {"Q": [[1, 2], [0, 1]], "V": [[1, 2]]}
    for rows, rank in ((equal, 1), (other, 2)):
        for K in (rows, numpy.array(rows)):
            assert weights(K=K, **known).heads[0].ranks.r == rank
    assert weights(K=[[Decimal("0.1"), 1], [Decimal("0.2"), 2]], **known).heads[0].ranks.r == 1


@pytest.mark.parametrize(
    "entry", [True, None, 1j, numpy.longdouble("nan"), numpy.longdouble("inf")]
)
def test_an_entry_that_is_no_number_is_named(entry: Any) -> None:
    with pytest.raises(InvalidCaseError, match=r"'K' has the entry .* not a finite real number"):
        weights(K=[[entry, 2]], Q=[[1, 2]], V=[[1, 2]])


def test_the_picture_has_the_options_of_the_command_in_its_own_words() -> None:
    shown = (
        CliRunner()
        .invoke(commands.cli, ["figure", "weights", "--help"], terminal_width=10_000)
        .stdout
    )
    of_picture = " ".join(shown.split())
    for option in OPTIONS:
        name = option.name.rstrip("_")
        assert (f" --{RENAMED.get(name, name)} " in of_picture) is option.in_picture
    for word in ("the text has", "tables of all heads", "FILE determines", "next to FILE"):
        assert word not in of_picture
    assert "Values: lightning or softmax" in of_picture


def test_the_picture_takes_the_weights_as_the_command_does(tmp_path: Path) -> None:
    arrays = {"A": numpy.diag([1.0, 0.5, 1e-3]), "V": numpy.eye(3), "what": numpy.ones(2)}
    numpy.savez(tmp_path / "w.npz", **arrays)
    options = ["--as", "softmax", "--a", "2", "--tolerance", "0.01", "--ignore", "what"]
    words = ["figure", "weights", str(tmp_path / "w.npz"), "--json", *options]
    drawn = json.loads(CliRunner().invoke(commands.cli, words).stdout)
    said = weights(tmp_path / "w.npz", as_="softmax", a=2, tolerance=0.01, ignore="what").to_json()
    assert drawn["heads"] == said["heads"]


def test_pruned_heads_are_singular_where_the_page_says_so() -> None:
    """docs/weights.md: for d = d' = 2 a lower rank of V alone makes no singular point."""
    one, half = [[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 0.0]]
    for Q, V, is_singular in [
        (one, half, False),
        (half, one, False),
        (half, half, True),
        (one, [[0.0, 0.0], [0.0, 0.0]], True),
    ]:
        assert weights({"K": one, "Q": Q, "V": V}).heads[0].singular is is_singular
    # s < β < min(d, d') occurs with an output matrix only, and r < α < d for a < d
    identity = numpy.eye(3)
    two = numpy.diag([1.0, 1.0, 0.0])
    narrow = weights({"K": identity, "Q": identity, "O": two[:, :2], "V": two[:2] * [[1], [0]]})
    assert narrow.heads[0].singular is True
    low = weights({"K": two[:2], "Q": two[:2] * [[1], [0]], "V": identity})
    assert low.heads[0].singular is True
    full = weights({"K": identity, "Q": identity, "V": numpy.diag([1.0, 0.0, 0.0])})
    assert full.heads[0].singular is False

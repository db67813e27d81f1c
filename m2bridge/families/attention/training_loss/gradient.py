"""The gradient of the loss as a system of polynomial equations, in a chart of the weights.

The loss of a function with the reduced coordinates c is ½ cᵀGc − bᵀc + constant, where
c_{k,i,{p,q}} is A_pi V_kq + A_qi V_kp, or A_pi V_kp for p = q. d, d', a are in a LayerSizes,
``shape``, and α = min(a, d).

For a ≥ d the weights are (A, V), and (λA, V/λ) has the same function. A chart sets one linear form
in the entries of V to 1, or one in those of A for d' ≥ d: so the zero functions that are left out
(A = 0, or V = 0) are those that come in families. For a < d the weights are (K, Q, V) with
A = KᵀQ, and (gK, g⁻ᵀQ, V) has the same function: the chart has K = (1 | k) R with a square
matrix R of numbers, and a linear form in V that is 1.

All entries of the gradient are set to zero, those along the scaling too. They are equivalent to the
gradient in the chart: the loss is constant along the group, and the chart is transversal to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import gcd
from random import Random
from typing import Any

from sympy import ZZ
from sympy.polys.rings import PolyElement, PolyRing

from m2bridge.algebra.numbers import without_denominators
from m2bridge.families.attention.orbits.orbits import generic_orbit
from m2bridge.families.attention.orbits.parametrization import coordinate, indices
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.families.attention.training_loss.loss import Loss
from m2bridge.limits import check_deadline_in

Entries = list[list[Any]]
"""A matrix of polynomials, or of numbers, as a list of its rows."""


@dataclass(frozen=True, slots=True)
class WeightChart:
    """The numbers that a chart is made of.

    Parameters
    ----------
    form : tuple of int
        The coefficients of the linear form that is 1, in the entries of V, or of A where
        :func:`is_scaled_in_A`, row by row; without the first one, which is 1.
    turn : tuple of tuple of int
        The rows of the d×d matrix R for a < d; empty for a ≥ d.
    """

    form: tuple[int, ...]
    turn: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartWeights:
    """The matrices of weights in a chart, with entries that are polynomials in its coordinates.

    K and Q are ``None`` for a ≥ d.
    """

    ring: PolyRing
    A: Entries
    V: Entries
    K: Entries | None = None
    Q: Entries | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RankCondition:
    """A matrix with a rank: the largest, at functions of the dense orbit; or one to compare with.

    Where the matrices of :func:`dense_orbit` all have their ranks the function is in this orbit.
    """

    name: str
    matrix: Entries
    rank: int


def is_scaled_in_A(shape: LayerSizes) -> bool:
    """Whether the linear form that is 1 in a chart is one in A, and not in V: for a, d' ≥ d."""
    return shape.alpha == shape.d and shape.d_out >= shape.d


def random_chart(shape: LayerSizes, largest: int, random: Random) -> WeightChart:
    """A chart with random integers from 1 to ``largest``.

    For a < d its matrix R is lower triangular with ones on the diagonal, so invertible modulo all
    primes. A matrix K is in the chart, up to GL(a), if the first a columns of K R⁻¹ are
    independent. By the random numbers below the diagonal of R these mix all columns of K.
    """

    def random_number() -> int:
        """A random integer from 1 to ``largest``."""
        return random.randint(1, largest)

    entries = shape.d * shape.d if is_scaled_in_A(shape) else shape.d_out * shape.d
    # the first coefficient of the form is 1, and not listed
    form = tuple(random_number() for _ in range(entries - 1))
    turn: list[tuple[int, ...]] = []
    if shape.alpha < shape.d:
        for p in range(shape.d):
            below_diagonal = [random_number() for _ in range(p)]
            above_diagonal = [0] * (shape.d - p - 1)
            turn.append((*below_diagonal, 1, *above_diagonal))
    return WeightChart(form, tuple(turn))


def weights_in(shape: LayerSizes, chart: WeightChart) -> ChartWeights:
    """The weights in a chart, whose entries are unknowns but for those that the chart fixes.

    The first entry of V, or of A, is 1 less the other entries times the coefficients of the chart's
    linear form: so this form is 1. Where a < d, K is (1 | k) R with the unknowns k.
    """
    d, alpha, d_out = shape.d, shape.alpha, shape.d_out
    if alpha == d:
        names = _names("a", d, d) + _names("v", d_out, d)
        letter_of_form = "a" if is_scaled_in_A(shape) else "v"
    else:
        names = _names("k", alpha, d - alpha) + _names("q", alpha, d) + _names("v", d_out, d)
        letter_of_form = "v"
    first = f"{letter_of_form}_1_1"  # the entry that the chart expresses by the others
    ring = PolyRing([name for name in names if name != first], ZZ)
    entry_by_name = dict(zip(map(str, ring.symbols), ring.gens, strict=True))
    others = [name for name in names if name.startswith(letter_of_form) and name != first]
    # chart.form has the factors of all entries of this matrix but the first, whose factor is 1:
    # first + Σ factor · other = 1
    first_entry = ring.one
    for name, factor in zip(others, chart.form, strict=True):
        first_entry -= factor * entry_by_name[name]
    entry_by_name[first] = first_entry

    def matrix(letter: str, rows: int, columns: int) -> Entries:
        """The rows × columns matrix with the entries of this letter."""
        entries = iter(_names(letter, rows, columns))
        return [[entry_by_name[next(entries)] for _ in range(columns)] for _ in range(rows)]

    V = matrix("v", d_out, d)
    if alpha == d:
        return ChartWeights(ring=ring, A=matrix("a", d, d), V=V)
    k = matrix("k", alpha, d - alpha)
    Q = matrix("q", alpha, d)
    one_and_k = []  # the rows of (1 | k)
    for e in range(alpha):
        row_of_one = [ring(int(e == p)) for p in range(alpha)]
        one_and_k.append(row_of_one + k[e])
    K = multiply(one_and_k, chart.turn)
    A = multiply(transpose(K), Q)
    return ChartWeights(ring=ring, A=A, V=V, K=K, Q=Q)


def _names(letter: str, rows: int, columns: int) -> list[str]:
    """The names of the entries of a matrix, row by row, with indices from 1 on: ``v_1_2``."""
    return [f"{letter}_{i + 1}_{j + 1}" for i, j in product(range(rows), range(columns))]


def gradient(loss: Loss, weights: ChartWeights) -> list[PolyElement]:
    """The nonzero entries of the gradient, all times one number, with integer coefficients.

    First come the derivatives along the entries of A, or for a < d of K and of Q, then along those
    of V, as polynomials in the coordinates of the chart. The derivative along a weight w is the sum
    of error · ∂c/∂w over the coordinates c, with the errors G c − b.
    """
    shape = loss.shape
    errors = _errors(loss, weights)
    error_by_index = dict(zip(indices(shape), errors, strict=True))
    A, V, zero = weights.A, weights.V, weights.ring.zero
    d, d_out = range(shape.d), range(shape.d_out)
    # c_{k,i,{p,q}} contains A_pi V_kq and A_qi V_kp, each with coefficient 1.
    along_A = [[zero for _ in d] for _ in d]
    along_V = [[zero for _ in d] for _ in d_out]
    for k, i, p, q in check_deadline_in(product(d_out, d, d, d)):
        error = error_by_index[k, i, min(p, q), max(p, q)]
        along_A[p][i] += error * V[k][q]
        along_V[k][q] += error * A[p][i]
    blocks = [along_A, along_V]
    if weights.K is not None and weights.Q is not None:
        # A_pi = Σ_e K_ep Q_ei: with the matrix D of derivatives along A, those along K are Q Dᵀ,
        # and those along Q are K D
        blocks = [multiply(weights.Q, transpose(along_A)), multiply(weights.K, along_A), along_V]
    return [entry for block in blocks for row in block for entry in row if entry]


def _errors(loss: Loss, weights: ChartWeights) -> list[PolyElement]:
    """The entries of G c − b for the function c of the weights, as polynomials in the chart.

    They are multiplied by one number, such that the entries of G and b are integers without a
    common divisor.
    """
    shape = loss.shape
    count = shape.independent_count
    numbers = without_denominators([*loss.gram.entries(), *loss.linear.entries()])
    divisor = gcd(*numbers) or 1  # gcd is 0 if all numbers are 0
    numbers = [number // divisor for number in numbers]
    gram, linear = numbers[: count * count], numbers[count * count :]
    coordinates = []
    for index in indices(shape):
        c = coordinate(index, lambda p, i: weights.A[p][i], lambda k, q: weights.V[k][q])
        coordinates.append(c)
    errors = []
    for m in check_deadline_in(range(count)):
        error = weights.ring(-linear[m])
        row_of_gram = gram[m * count : (m + 1) * count]
        for factor, c in zip(row_of_gram, coordinates, strict=True):
            if factor:
                error += factor * c
        errors.append(error)
    return errors


def dense_orbit(shape: LayerSizes, weights: ChartWeights) -> tuple[RankCondition, ...]:
    """The conditions for weights to have a function in the dense orbit.

    These are that A has rank α, that V has the largest rank, and that the column space of A and the
    row space of V span as much as they can. For a ≥ d the last one is left out, as A of rank d has
    the column space R^d. For a < d it suffices for A = KᵀQ that Q has rank a, as K has; and the
    rows of K span the column space of A.
    """
    dense = generic_orbit(shape)
    conditions = [RankCondition(name="V", matrix=weights.V, rank=dense.s)]
    if weights.K is None or weights.Q is None:
        conditions.append(RankCondition(name="A", matrix=weights.A, rank=dense.r))
        return tuple(conditions)
    conditions.append(RankCondition(name="A", matrix=weights.Q, rank=dense.r))
    spanning = [*weights.K, *weights.V]
    conditions.append(RankCondition(name="A and V", matrix=spanning, rank=dense.span))
    return tuple(conditions)


def transpose(matrix: Entries) -> Entries:
    """The transpose of a matrix."""
    return [list(line) for line in zip(*matrix, strict=True)]


def multiply(left: Entries, right: Sequence[Sequence[Any]]) -> Entries:
    """The product of two matrices, which have a row and a column at least."""
    columns = list(zip(*right, strict=True))
    rows = []
    for row in left:
        entries = []
        for column in columns:
            first_term, *other_terms = [x * y for x, y in zip(row, column, strict=True)]
            # the sum starts with a polynomial, and not with 0, which belongs to no ring
            entries.append(sum(other_terms, start=first_term))
        rows.append(entries)
    return rows

"""The gradient of the loss as a system of polynomial equations, in a chart of the weights.

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
"""A matrix of polynomials, or of numbers."""


@dataclass(frozen=True, slots=True)
class WeightChart:
    """The numbers that a chart is made of.

    Parameters
    ----------
    form : tuple of int
        The coefficients of the linear form that is 1, without the first one, which is 1.
    turn : tuple of tuple of int
        The square matrix R for a < d; empty for a ≥ d.
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
    """A matrix whose rank is ``rank`` exactly on the dense orbit, and smaller elsewhere."""

    name: str
    matrix: Entries
    rank: int


def is_scaled_in_A(shape: LayerSizes) -> bool:
    """Whether the linear form of the chart is one in A, and not in V."""
    return shape.alpha == shape.d and shape.d_out >= shape.d


def random_chart(shape: LayerSizes, largest: int, random: Random) -> WeightChart:
    """A chart with random integers from 1 to the largest, and R invertible over QQ in general."""

    def number() -> int:
        return random.randint(1, largest)

    entries = shape.d * shape.d if is_scaled_in_A(shape) else shape.d_out * shape.d
    form = tuple(number() for _ in range(entries - 1))
    turn: tuple[tuple[int, ...], ...] = ()
    if shape.alpha < shape.d:
        # A triangular matrix with ones on the diagonal is invertible modulo all primes. Below the
        # diagonal there are numbers: the first a columns of K R⁻¹ mix all columns of K.
        size = range(shape.d)
        turn = tuple(tuple(int(p == q) if q >= p else number() for q in size) for p in size)
    return WeightChart(form, turn)


def weights_in(shape: LayerSizes, chart: WeightChart) -> ChartWeights:
    """The weights in a chart, whose entries are unknowns but for those that the chart fixes.

    The first entry of V, or of A, is what makes the linear form of the chart 1: its other factors
    are those of the chart. Where a < d, K is (1 | k) R with the unknowns k.
    """
    d, alpha, outputs = shape.d, shape.alpha, shape.d_out
    if alpha == d:
        names = _names("a", d, d) + _names("v", outputs, d)
        scaled = "a" if is_scaled_in_A(shape) else "v"
    else:
        names = _names("k", alpha, d - alpha) + _names("q", alpha, d) + _names("v", outputs, d)
        scaled = "v"
    first = f"{scaled}_1_1"
    ring = PolyRing([name for name in names if name != first], ZZ)
    variables = dict(zip(map(str, ring.symbols), ring.gens, strict=True))
    others = [name for name in names if name.startswith(scaled) and name != first]
    # first + Σ factor · other = 1
    form = ring.one
    for name, factor in zip(others, chart.form, strict=True):
        form -= factor * variables[name]
    variables[first] = form

    def matrix(letter: str, rows: int, columns: int) -> Entries:
        entries = iter(_names(letter, rows, columns))
        return [[variables[next(entries)] for _ in range(columns)] for _ in range(rows)]

    V = matrix("v", outputs, d)
    if alpha == d:
        return ChartWeights(ring=ring, A=matrix("a", d, d), V=V)
    free, Q = matrix("k", alpha, d - alpha), matrix("q", alpha, d)
    standard = [[ring(int(e == p)) for p in range(alpha)] + free[e] for e in range(alpha)]
    K = multiplied(standard, chart.turn)
    A = multiplied(transposed(K), Q)
    return ChartWeights(ring=ring, A=A, V=V, K=K, Q=Q)


def _names(letter: str, rows: int, columns: int) -> list[str]:
    return [f"{letter}_{i + 1}_{j + 1}" for i, j in product(range(rows), range(columns))]


def gradient(loss: Loss, weights: ChartWeights) -> list[PolyElement]:
    """All entries of the gradient, with integer coefficients: those for A (or K and Q), and V."""
    shape = loss.shape
    errors = _errors(loss, weights)
    by_index = dict(zip(indices(shape), errors, strict=True))
    A, V, zero = weights.A, weights.V, weights.ring.zero
    d, outputs = range(shape.d), range(shape.d_out)

    def error(k: int, i: int, p: int, q: int) -> PolyElement:
        return by_index[k, i, min(p, q), max(p, q)]

    # c_{k,i,{p,q}} contains A_pi V_kq and A_qi V_kp, each with coefficient 1.
    along_A = [[zero for _ in d] for _ in d]
    along_V = [[zero for _ in d] for _ in outputs]
    for k, i, p, q in check_deadline_in(product(outputs, d, d, d)):
        along_A[p][i] += error(k, i, p, q) * V[k][q]
        along_V[k][q] += error(k, i, p, q) * A[p][i]
    blocks = [along_A, along_V]
    if weights.K is not None and weights.Q is not None:
        # A = KᵀQ: the derivatives along K and Q, by the chain rule
        blocks = [
            multiplied(weights.Q, transposed(along_A)),
            multiplied(weights.K, along_A),
            along_V,
        ]
    return [entry for block in blocks for row in block for entry in row if entry]


def _errors(loss: Loss, weights: ChartWeights) -> list[PolyElement]:
    """G c − b, times the least number that makes all coefficients integers without divisor."""
    shape = loss.shape
    count = shape.independent_count
    numbers = without_denominators([*loss.gram.entries(), *loss.linear.entries()])
    divisor = gcd(*numbers) or 1
    numbers = [number // divisor for number in numbers]
    gram, linear = numbers[: count * count], numbers[count * count :]
    values = []
    for index in indices(shape):
        value = coordinate(index, lambda p, i: weights.A[p][i], lambda k, q: weights.V[k][q])
        values.append(value)
    errors = []
    for m in check_deadline_in(range(count)):
        error = weights.ring(-linear[m])
        for factor, value in zip(gram[m * count : (m + 1) * count], values, strict=True):
            if factor:
                error += factor * value
        errors.append(error)
    return errors


def dense_orbit(shape: LayerSizes, weights: ChartWeights) -> tuple[RankCondition, ...]:
    """The conditions for weights to have a function in the dense orbit.

    These are that A has rank α, that V has the largest rank, and that the column space of A and the
    row space of V span as much as they can. For a < d it suffices that Q has rank a, as K has.
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


def transposed(matrix: Entries) -> Entries:
    """The transposed matrix."""
    return [list(line) for line in zip(*matrix, strict=True)]


def multiplied(left: Entries, right: Sequence[Sequence[Any]]) -> Entries:
    """The product of two matrices, which have a row and a column at least."""
    columns = list(zip(*right, strict=True))
    rows = []
    for row in left:
        entries = []
        for line in columns:
            terms = [x * y for x, y in zip(row, line, strict=True)]
            entries.append(sum(terms[1:], start=terms[0]))
        rows.append(entries)
    return rows

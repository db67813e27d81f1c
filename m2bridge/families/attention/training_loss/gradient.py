"""The gradient of the loss as a system of polynomial equations, in a chart of the weights.

The loss of a function with the reduced coordinates c is ½ cᵀGc − bᵀc + constant. (Notation: the
docstring of families/attention.)

For a ≥ d the weights are (A, V), and (λA, V/λ) has the same function. A chart sets one linear form
in the entries of V, or for d' ≥ d in the entries of A, to 1: so only zero functions that come in
families (A = 0, or V = 0) are left out. For a < d the weights are (K, Q, V) with
A = KᵀQ, and (gK, g⁻ᵀQ, V) has the same function: the chart has K = (1 | k) R with a square
matrix R of numbers, and a linear form in V that is 1.

All entries of the gradient are set to zero, those along the scaling too. They are equivalent to the
gradient in the chart: the loss is constant along the group, and the chart is transversal to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice
from math import gcd
from random import Random
from typing import Any

from sympy import ZZ
from sympy.polys.rings import PolyElement, PolyRing

from m2bridge.algebra.numbers import without_denominators
from m2bridge.families.attention.orbits.coordinates import (
    bilinear_terms,
    entry_names,
    reduced_coordinates,
)
from m2bridge.families.attention.orbits.orbits import generic_orbit
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.families.attention.training_loss.loss import Loss
from m2bridge.limits import check_deadline_in

Entries = list[list[Any]]
"""A matrix of polynomials, or of numbers, as a list of its rows."""


@dataclass(frozen=True, slots=True)
class WeightChart:
    """The numbers that a chart is made of."""

    form: tuple[int, ...]  # the coefficients of the linear form, without the first one, which is 1
    turn: tuple[tuple[int, ...], ...] = ()  # the rows of R for a < d


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartWeights:
    """The matrices of weights in a chart, with polynomials as entries; no K and Q for a ≥ d."""

    ring: PolyRing
    A: Entries
    V: Entries
    K: Entries | None = None
    Q: Entries | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RankCondition:
    """A matrix of polynomials, and a number with which its rank at a point is compared."""

    name: str
    matrix: Entries
    rank: int


def is_scaled_in_A(shape: LayerSizes) -> bool:
    """Whether the linear form that is 1 in a chart is one in A, and not in V: for a, d' ≥ d."""
    # α = d exactly if a ≥ d
    return shape.alpha == shape.d and shape.d_out >= shape.d


def random_chart(shape: LayerSizes, largest: int, random: Random) -> WeightChart:
    """A chart with random integers from 1 to ``largest``.

    For a < d its matrix R is lower triangular with ones on the diagonal, so invertible modulo all
    primes. A matrix K is in the chart, up to GL(a), if the first a columns of K R⁻¹, which mix all
    columns of K, are independent.
    """

    def random_number() -> int:
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
    """The weights in a chart, whose entries are unknowns but for those that the chart fixes."""
    d, alpha, d_out = shape.d, shape.alpha, shape.d_out
    # the numbers of rows and columns of the matrices of unknowns, by the letters of their names
    sizes = {"k": (alpha, d - alpha), "q": (alpha, d), "v": (d_out, d)}
    if alpha == d:
        sizes = {"a": (d, d), "v": (d_out, d)}
    names_by_letter = {letter: entry_names(letter, *size) for letter, size in sizes.items()}
    first_name, *other_names = names_by_letter["a" if is_scaled_in_A(shape) else "v"]
    names = chain.from_iterable(names_by_letter.values())
    ring = PolyRing([name for name in names if name != first_name], ZZ)
    entry_by_name = dict(zip(map(str, ring.symbols), ring.gens, strict=True))
    # the first entry is 1 less the other entries times the coefficients: so the form is 1
    first_entry = ring.one
    for name, factor in zip(other_names, chart.form, strict=True):
        first_entry -= factor * entry_by_name[name]
    entry_by_name[first_name] = first_entry
    unknowns = {}
    for letter, (_, columns) in sizes.items():
        entries = [entry_by_name[name] for name in names_by_letter[letter]]
        row_starts = range(0, len(entries), columns)
        unknowns[letter] = [entries[start : start + columns] for start in row_starts]
    V = unknowns["v"]
    if alpha == d:
        return ChartWeights(ring=ring, A=unknowns["a"], V=V)
    one_and_k = []  # the rows of (1 | k)
    for e, row_of_k in enumerate(unknowns["k"]):
        row_of_one = [ring(int(e == p)) for p in range(shape.alpha)]
        one_and_k.append(row_of_one + row_of_k)
    K = multiply(one_and_k, chart.turn)
    Q = unknowns["q"]
    A = multiply(transpose(K), Q)
    return ChartWeights(ring=ring, A=A, V=V, K=K, Q=Q)


def gradient(loss: Loss, weights: ChartWeights) -> list[PolyElement]:
    """The nonzero entries of the gradient, all times one number, with integer coefficients.

    First come the derivatives along the entries of A, or for a < d of K and of Q, then along the
    entries of V. The derivative along a weight w is the sum of error · ∂c/∂w over the coordinates
    c, with the errors G c − b.
    """
    shape = loss.shape
    d, zero = shape.d, weights.ring.zero
    errors = _errors(loss, weights)
    along_A = [[zero] * d for _ in range(d)]
    along_V = [[zero] * d for _ in range(shape.d_out)]
    for number, of_A, of_V in check_deadline_in(bilinear_terms(shape)):
        p, i = divmod(of_A, d)
        k, q = divmod(of_V, d)
        along_A[p][i] += errors[number] * weights.V[k][q]
        along_V[k][q] += errors[number] * weights.A[p][i]
    blocks = [along_A, along_V]
    if weights.K is not None and weights.Q is not None:
        # A_pi = Σ_e K_ep Q_ei: with the matrix D of derivatives along A, those along K are Q Dᵀ,
        # and those along Q are K D
        blocks = [multiply(weights.Q, transpose(along_A)), multiply(weights.K, along_A), along_V]
    return [entry for block in blocks for row in block for entry in row if entry]


def _errors(loss: Loss, weights: ChartWeights) -> list[PolyElement]:
    """The entries of G c − b for the function c of the weights, as polynomials in the chart.

    G and b are multiplied by one number, such that they have integers without a common divisor.
    """
    multiples = without_denominators([*loss.gram.entries(), *loss.linear.entries()])
    divisor = gcd(*multiples) or 1  # gcd is 0 if all numbers are 0
    numbers = iter([multiple // divisor for multiple in multiples])
    count = loss.shape.independent_count
    gram = [list(islice(numbers, count)) for _ in range(count)]
    function = reduced_coordinates(loss.shape, weights.A, weights.V)
    errors = []
    for row_of_gram, entry_of_b in check_deadline_in(zip(gram, numbers, strict=True)):
        error = weights.ring(-entry_of_b)
        for factor, c in zip(row_of_gram, function, strict=True):
            if factor:
                error += factor * c
        errors.append(error)
    return errors


def dense_orbit(shape: LayerSizes, weights: ChartWeights) -> tuple[RankCondition, ...]:
    """The conditions for weights to have a function in the dense orbit, with the largest ranks.

    They are about A, about V, and about the columns of A with the rows of V. For a ≥ d the last one
    is left out, as A of rank d has the column space R^d. For a < d it suffices for A = KᵀQ that Q
    has rank a, as K has; and the rows of K span the column space of A.
    """
    dense = generic_orbit(shape)
    conditions = [RankCondition(name="V", matrix=weights.V, rank=dense.s)]
    if weights.K is None or weights.Q is None:
        conditions.append(RankCondition(name="A", matrix=weights.A, rank=dense.r))
        return tuple(conditions)
    conditions.append(RankCondition(name="A", matrix=weights.Q, rank=dense.r))
    spanning = [*weights.K, *weights.V]  # the rank of this matrix is the dimension ``span``
    conditions.append(RankCondition(name="A and V", matrix=spanning, rank=dense.span))
    return tuple(conditions)


def transpose(matrix: Entries) -> Entries:
    """The transpose of a matrix."""
    return [list(line) for line in zip(*matrix, strict=True)]


def multiply(left: Entries, right: Sequence[Sequence[Any]]) -> Entries:
    """The product of two matrices of polynomials or numbers."""
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

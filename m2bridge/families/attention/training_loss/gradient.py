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
from itertools import chain, islice, product
from math import gcd
from random import Random
from typing import Any, NamedTuple

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
    """A matrix of polynomials, and a number with which its rank at a point is compared.

    In those of :func:`dense_orbit` the number is the largest rank that the matrix has: where all
    these matrices have their largest ranks the function is in the dense orbit.
    """

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
    ring, unknowns = _unknown_matrices(shape, chart)
    V = unknowns["v"]
    if shape.alpha == shape.d:
        return ChartWeights(ring=ring, A=unknowns["a"], V=V)
    one_and_k = []  # the rows of (1 | k)
    for e, row_of_k in enumerate(unknowns["k"]):
        row_of_one = [ring(int(e == p)) for p in range(shape.alpha)]
        one_and_k.append(row_of_one + row_of_k)
    K = multiply(one_and_k, chart.turn)
    Q = unknowns["q"]
    A = multiply(transpose(K), Q)
    return ChartWeights(ring=ring, A=A, V=V, K=K, Q=Q)


def _sizes_of_unknown_matrices(shape: LayerSizes) -> dict[str, tuple[int, int]]:
    """The numbers of rows and columns of the matrices of unknowns of a chart, by their letters.

    The letter v is that of V. For a ≥ d the letter a is that of A; for a < d the letter q is that
    of Q, and k that of the last d − a columns of (1 | k), where K = (1 | k) R.
    """
    d, alpha, d_out = shape.d, shape.alpha, shape.d_out
    if alpha == d:
        return {"a": (d, d), "v": (d_out, d)}
    return {"k": (alpha, d - alpha), "q": (alpha, d), "v": (d_out, d)}


class _UnknownMatrices(NamedTuple):
    """The ring of the unknowns of a chart, and its matrices of unknowns, by their letters."""

    ring: PolyRing
    by_letter: dict[str, Entries]


def _unknown_matrices(shape: LayerSizes, chart: WeightChart) -> _UnknownMatrices:
    """The matrices of unknowns of a chart, whose linear form in one of these matrices is 1.

    The form is x_0 + Σ r_j x_j, where x_0, x_1, … are the entries of this matrix row by row, and
    the r_j are ``chart.form``. So x_0 is no unknown of the ring, but 1 − Σ r_j x_j.
    """
    sizes = _sizes_of_unknown_matrices(shape)
    names_by_letter = {letter: _names(letter, *size) for letter, size in sizes.items()}
    first_name, *other_names = names_by_letter["a" if is_scaled_in_A(shape) else "v"]
    names = list(chain.from_iterable(names_by_letter.values()))
    ring = PolyRing([name for name in names if name != first_name], ZZ)
    entry_by_name = dict(zip(map(str, ring.symbols), ring.gens, strict=True))
    first_entry = ring.one
    for name, factor in zip(other_names, chart.form, strict=True):
        first_entry -= factor * entry_by_name[name]
    entry_by_name[first_name] = first_entry
    matrices = {}
    for letter, (_, columns) in sizes.items():
        entries = [entry_by_name[name] for name in names_by_letter[letter]]
        row_starts = range(0, len(entries), columns)
        matrices[letter] = [entries[start : start + columns] for start in row_starts]
    return _UnknownMatrices(ring, matrices)


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
    ring = weights.ring
    form = _integral_form(loss)
    function = _function_of_weights(loss.shape, weights)
    errors = []
    for row_of_gram, entry_of_b in check_deadline_in(zip(form.gram, form.linear, strict=True)):
        error = ring(-entry_of_b)
        for factor, c in zip(row_of_gram, function, strict=True):
            if factor:
                error += factor * c
        errors.append(error)
    return errors


def _function_of_weights(shape: LayerSizes, weights: ChartWeights) -> list[PolyElement]:
    """The reduced coordinates c of the function of weights in a chart, in the order of ``indices``.

    They are polynomials in the coordinates of the chart.
    """
    A, V = weights.A, weights.V
    # ``coordinate`` takes A and V as functions, from the indices of an entry to the entry
    return [
        coordinate(index, lambda p, i: A[p][i], lambda k, q: V[k][q]) for index in indices(shape)
    ]


class _IntegralForm(NamedTuple):
    """G, by its rows, and b of a loss ½ cᵀGc − bᵀc + constant, both times one positive number.

    The number makes all entries integers without a common divisor.
    """

    gram: list[list[int]]
    linear: list[int]


def _integral_form(loss: Loss) -> _IntegralForm:
    """G and b of a loss, both times one positive number, with integers as entries."""
    count = loss.shape.independent_count
    multiples = without_denominators([*loss.gram.entries(), *loss.linear.entries()])
    divisor = gcd(*multiples) or 1  # gcd is 0 if all numbers are 0
    numbers = iter([multiple // divisor for multiple in multiples])
    gram = [list(islice(numbers, count)) for _ in range(count)]
    return _IntegralForm(gram, list(numbers))


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
    spanning = [*weights.K, *weights.V]  # the rank of this matrix is the dimension ``span``
    conditions.append(RankCondition(name="A and V", matrix=spanning, rank=dense.span))
    return tuple(conditions)


def transpose(matrix: Entries) -> Entries:
    """The transpose of a matrix."""
    return [list(line) for line in zip(*matrix, strict=True)]


def multiply(left: Entries, right: Sequence[Sequence[Any]]) -> Entries:
    """The product of two matrices of polynomials or numbers, with a row and a column at least."""
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

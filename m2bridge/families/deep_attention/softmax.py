"""Softmax: the number systems in which its networks are differentiated, and lower bounds for their dimensions.

Ranks are exact modulo a prime, or enclosed in balls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from operator import add, mul
from random import Random
from typing import Any

import flint

from m2bridge.algebra.linear_algebra import rank_mod
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.errors import InvalidCaseError, TooLargeError
from m2bridge.families.deep_attention.network import (
    DISTINCT_TOKENS,
    SEED,
    Block,
    EntryMatrix,
    Matrix,
    NumberSystem,
    Point,
    Residues,
    Rows,
    block_bound,
    certified_block,
    gradients,
    gradients_at,
    lightning_rank,
    random_block,
    rank_of_gradients,
    theorem_bound,
)
from m2bridge.families.deep_attention.shape import Shape
from m2bridge.limits import watched
from m2bridge.maps.model import LowerBound


@dataclass(frozen=True, slots=True)
class FormalSoftmax(Residues):
    """GF(p), with a random number for each exponential: softmax of two different tokens.

    Softmax is then (π_1, π_2; 1 − π_1, 1 − π_2) with random π_1, π_2, and only its derivative knows the scores. By Ax's
    theorem the exponentials are algebraically independent if no attention matrix is skew-symmetric, so that ranks are
    lower bounds (docs/deep-attention.md).
    """

    random: Random

    def normalized(self, scores: Matrix) -> Matrix:
        """Return the normalized scores σ(Z)."""
        first = [self.random.randrange(self.prime) for _ in range(2)]
        return self.matrix([first, [1 - value for value in first]])

    def scores_pullback(self, normalized: Matrix, covector: Matrix) -> Matrix:
        """Return the covector on the scores Z."""
        return self.matrix([list(map(int, row)) for row in _pullback(normalized.table(), covector.table(), mul)])


@dataclass(frozen=True, slots=True)
class Balls(NumberSystem):
    """Real numbers enclosed in balls, with softmax; the j-th token stands for ``multiplicities[j]`` equal ones.

    The precision is that of ``flint.ctx.prec``. The normalization of column i is w_j e^{Z_ji} / Σ_m w_m e^{Z_mi}.
    """

    multiplicities: tuple[int, ...]

    def matrix(self, rows: Rows) -> Matrix:
        """Return the matrix with these entries."""
        return flint.arb_mat([list(map(flint.arb, row)) for row in rows])

    def normalized(self, scores: Matrix) -> Matrix:
        """Return the normalized scores σ(Z)."""
        rows = zip(self.multiplicities, scores.table(), strict=True)
        exponentials = [[w * entry.exp() for entry in row] for w, row in rows]
        totals = [reduce(add, column) for column in zip(*exponentials, strict=True)]
        return flint.arb_mat([[e / total for e, total in zip(row, totals, strict=True)] for row in exponentials])

    def scores_pullback(self, normalized: Matrix, covector: Matrix) -> Matrix:
        """Return the covector on the scores Z."""
        return flint.arb_mat(_pullback(normalized.table(), covector.table(), mul))


@dataclass(frozen=True, slots=True)
class PowerSeries(NumberSystem):
    """GF(p)[h]/(h^length), with softmax, for inputs εX where h = ε².

    Tokens are kept divided by ε, so the scores are h times what the matrices say; all scores have constant term 0, so
    their exponentials are power series, with denominators below ``length``, which must not exceed p. The constant term
    of a column's total is t, which p must not divide.
    """

    prime: int
    length: int
    multiplicities: tuple[int, ...]

    def times(self, x: Any, y: Any) -> Any:
        """Return the product of two series."""
        return x.mul_low(y, self.length)

    def matrix(self, rows: Rows) -> EntryMatrix:
        """Return the matrix with these entries."""
        return EntryMatrix([[flint.nmod_poly([entry], self.prime) for entry in row] for row in rows], self.times)

    def normalized(self, scores: EntryMatrix) -> EntryMatrix:
        """Return the normalized scores σ(Z)."""
        rows = zip(self.multiplicities, scores.rows, strict=True)
        exponentials = [[w * self._exponential(self._shifted(entry)) for entry in row] for w, row in rows]
        totals = (reduce(add, column) for column in zip(*exponentials, strict=True))
        inverses = [total.inverse_series_trunc(self.length) for total in totals]
        return EntryMatrix([list(map(self.times, row, inverses)) for row in exponentials], self.times)

    def scores_pullback(self, normalized: EntryMatrix, covector: EntryMatrix) -> EntryMatrix:
        """Return the covector on the scores Z."""
        rows = _pullback(normalized.rows, covector.rows, self.times)
        return EntryMatrix([list(map(self._shifted, row)) for row in rows], self.times)

    def _shifted(self, series: Any) -> Any:
        """h times the series."""
        return series.left_shift(1).truncate(self.length)

    def _exponential(self, series: Any) -> Any:
        """e^Z for a series Z without constant term, by Newton's iteration E ← E(1 + Z − log E)."""
        one = flint.nmod_poly([1], self.prime)
        value, terms = one, 1
        while terms < self.length:
            terms = min(2 * terms, self.length)
            logarithm = value.derivative().mul_low(value.inverse_series_trunc(terms), terms).integral().truncate(terms)
            value = value.mul_low(one + series.truncate(terms) - logarithm, terms)
        return value


def _pullback(normalized: Any, covector: Any, times: Callable[[Any, Any], Any]) -> list[list[Any]]:
    """σ_ji (G_ji − Σ_m σ_mi G_mi), entry by entry."""
    columns = []
    for sigma, g in zip(zip(*normalized, strict=True), zip(*covector, strict=True), strict=True):
        products = list(map(times, sigma, g))
        mean = reduce(add, products)
        columns.append([product - times(s, mean) for s, product in zip(sigma, products, strict=True)])
    return [list(row) for row in zip(*columns, strict=True)]


SERIES_LAYERS = 6
"""Up to this depth power series are used; they have 3^(l−1) + 1 coefficients."""
BALL_LAYERS = 6
"""Up to this depth balls are used as a second way; their precision grows as the series do."""
MOST_PRECISION = 1 << 14
"""Bits of the balls."""
MOST_COEFFICIENTS = 20_000_000
"""All coefficients of the power series in the largest Jacobian matrix: about a minute."""
DOUBLINGS = 4
"""How often the number of orders is doubled where the rank stays below the upper bound."""


def softmax_bounds(network: Shape, characteristic: int) -> Iterator[LowerBound]:
    """Return lower bounds for softmax attention, each by a method of its own, the quickest first.

    Raises
    ------
    InvalidCaseError
        In positive characteristic.
    """
    if characteristic:
        raise InvalidCaseError("field", "softmax has no meaning over GF(p); use QQ")
    if network.t == 1:
        value = network.upper_bounds(0)[0].value
        reason = "every matrix of this rank is the function of a network"
        yield LowerBound(value, "matrices of bounded rank", reason)
    elif not network.is_plain:
        yield theorem_bound(network) or _full_by_series(network)
    else:
        block = certified_block(network)
        if network.layers <= SERIES_LAYERS:
            rank = _series_rank(block, network.t, network.layers)
            yield from block_bound(network, block, rank, f"block mod {LARGE_PRIME}, power series")
        yield from formal_block(network)
        if network.layers <= BALL_LAYERS:
            yield from _ball_block(network)


def formal_block(network: Shape) -> Iterator[LowerBound]:
    """Return the bound by the block with exponentials as unknowns, if it decides."""
    block = certified_block(network)
    yield from block_bound(network, block, _formal_rank(block), f"block mod {LARGE_PRIME}, exponentials as unknowns")


def block_rank(block: Block, t: int, layers: int, softmax: bool) -> int:
    """Return the rank of the differential of a block, by the quickest way that needs no hypothesis, if there is one."""
    if not softmax:
        return lightning_rank(block, t)
    return _series_rank(block, t, layers) if layers <= SERIES_LAYERS else _formal_rank(block)


def _formal_rank(block: Block) -> int:
    random = Random(SEED)
    return rank_of_gradients(block, FormalSoftmax(LARGE_PRIME, random), 2, random)


def _series_rank(block: Block, t: int, layers: int) -> int:
    """The rank of a row for each order at each input; inputs are added until it does not grow."""
    numbers = PowerSeries(LARGE_PRIME, int(3 ** (layers - 1)) + 1, (1, t - 1))
    return _growing_rank(gradients(block, numbers, 2, Random(SEED)), numbers.length)


def _ball_block(network: Shape) -> Iterator[LowerBound]:
    """The determinant of as many gradients as there are columns, enclosed in a ball without 0.

    Weights and tokens are rational numbers below 1 in size, so that no exponential is far from the others.
    """
    precision, tokens, unit = 128, min(network.t, 2), flint.fmpq(1, 1000)
    numbers = Balls((1, network.t - 1))
    while precision <= MOST_PRECISION:
        random = Random(SEED)
        block = random_block(network, random.randrange, unit)
        with flint.ctx.workprec(precision):
            rows = islice(watched(gradients(block, numbers, tokens, random, unit)), block.columns)
            determinant = flint.arb_mat(list(rows)).det()
        if not determinant.contains(0):
            yield from block_bound(network, block, block.columns, f"block in balls of {precision} bits")
            return
        precision *= 2


def _full_by_series(network: Shape) -> LowerBound:
    """The rank of the differential at random weights, with skip connections or several heads."""
    random = Random(SEED)
    parameters = [random.randrange(1, LARGE_PRIME) for _ in range(network.parameter_count)]
    upper = network.upper_bounds(0)[0].value
    rank, length = rank_by_series(network, lambda numbers: Point.read(network, parameters, numbers), upper)
    method = f"Jacobian mod {LARGE_PRIME}, power series"
    return LowerBound(rank, method, f"rank of {length} orders of the differential")


def rank_by_series(network: Shape, point: Callable[[NumberSystem], Point], upper: int) -> tuple[int, int]:
    """Return the rank of the whole differential at a point, a row for each order, and the number of orders.

    How many orders tell all heads apart is not known: their number is doubled some times.

    Raises
    ------
    TooLargeError
        If there are too many coefficients.
    """
    length = 3 if network.skip else int(3 ** (network.layers - 1)) + 1
    if length * network.parameter_count * upper > MOST_COEFFICIENTS:
        raise TooLargeError(
            "softmax with several heads or skip connections is computed by power series; here"
            f" {network.parameter_count} parameters and {length} orders are too many for that: take smaller numbers"
        )
    tokens = min(network.t, DISTINCT_TOKENS)
    multiplicities = (1,) * (tokens - 1) + (network.t - tokens + 1,)
    rank = 0
    for doubling in range(DOUBLINGS):
        numbers = PowerSeries(LARGE_PRIME, length << doubling, multiplicities)
        gradients = gradients_at(point(numbers), network, numbers, tokens, Random(SEED))
        rank = _growing_rank(gradients, numbers.length)
        if rank == upper:
            break
    return rank, numbers.length


def _growing_rank(gradients: Iterable[list[Any]], length: int) -> int:
    """The rank of all orders of gradients that are power series, once twice as many rows do not enlarge it."""
    rows: list[list[int]] = []
    rank, count = 0, 0
    for series in watched(gradients):
        coefficients = [[int(c) for c in entry.coeffs()] for entry in series]
        rows += [[c[j] if j < len(c) else 0 for c in coefficients] for j in range(length)]
        if len(rows) < 2 * count:
            continue
        before, rank, count = rank, rank_mod(rows, LARGE_PRIME), len(rows)
        if rank == before:
            break
    return rank

"""Lower bounds for the dimension of a network, by ranks modulo a prime or enclosed in balls.

With one head and no skip connections one block decides, a network with two inputs and one output. Virtual weights
A'_k = UᵀC_kU and M with first row mU, for 2 × 2 matrices C_k, a row m and a matrix U whose columns are pairwise
independent, look the same on every two inputs: a network with the virtual weights (C_1, …, C_l, m). If the kernel of
its differential is only what it always is, the same holds for the whole network at this point, and so at generic
weights. The proofs are in ``docs/deep-attention.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from random import Random
from typing import Any

import flint

from m2bridge.algebra.linear_algebra import rank_mod
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.errors import InvalidCaseError, TooLargeError
from m2bridge.families.deep_attention.network import (
    Balls,
    FormalSoftmax,
    Head,
    Layer,
    Network,
    NumberSystem,
    Point,
    PowerSeries,
    Residues,
    gradient,
    gradients_at,
)
from m2bridge.families.deep_attention.shape import THEOREM, Shape, are_separate, bound_by_ranks, seen_dimension
from m2bridge.limits import watched
from m2bridge.maps.model import LowerBound
from m2bridge.maps.rank import RankResult, rank_result

Scalar = Any
"""An integer, or a rational number of FLINT."""

_LARGEST_ENTRY = 1000


@dataclass(slots=True)
class MinimalStandard:
    """The generator x ↦ 48271·x modulo 2^31 − 1 (Park, Miller 1993), the same in every language.

    A certificate names the point of a block by the seed; its checker makes the numbers anew.
    """

    state: int

    def randrange(self, start: int, stop: int, /) -> int:
        """The next state modulo the size of the range."""
        self.state = self.state * 48271 % (2**31 - 1)
        return start + self.state % (stop - start)


@dataclass(frozen=True, slots=True)
class Block:
    """Virtual weights of a network with at most two inputs and one output.

    Parameters
    ----------
    matrices : tuple of matrices
        C_1, C_2, … for the layers whose tokens are not all parallel.
    scalars : tuple of numbers
        c_k for the layers after them, behind a hidden width 1, where C_k = c_k mᵀm.
    row : tuple of numbers
        m.
    """

    matrices: tuple[tuple[tuple[Scalar, ...], ...], ...]
    scalars: tuple[Scalar, ...]
    row: tuple[Scalar, ...]

    @property
    def size(self) -> int:
        """The number of inputs."""
        return len(self.row)

    @property
    def columns(self) -> int:
        """The number of entries of all C_k, of scalars, and of m."""
        return self.size**2 * len(self.matrices) + len(self.scalars) + self.size

    def network(self, numbers: NumberSystem) -> Network:
        """Return the network with value matrices 1, …, 1, m."""
        m = self.row
        behind = [[[c * x * y for y in m] for x in m] for c in self.scalars]
        identity = numbers.matrix([[int(i == j) for j in range(self.size)] for i in range(self.size)])
        attention = [numbers.matrix(rows) for rows in (*self.matrices, *behind)]
        values = [identity] * (len(attention) - 1) + [numbers.matrix([m])]
        return tuple((Head(A, V),) for A, V in zip(attention, values, strict=True))

    def flattened(self, layers: list[Layer], numbers: NumberSystem) -> list[Scalar]:
        """A gradient with respect to the C_k and m as one with respect to the parameters of the block."""
        covectors = [head.A for (head,) in layers]
        m, dm = numbers.matrix([self.row]), layers[-1][0].V
        entries = [entry for dC in covectors[: len(self.matrices)] for entry in dC.entries()]
        for c, dC in zip(self.scalars, covectors[len(self.matrices) :], strict=True):
            entries += (m * dC * m.transpose()).entries()
            dm = dm + numbers.matrix([[c]]) * (m * dC + m * dC.transpose())
        return [*entries, *dm.entries()]


def random_block(shape: Shape, draw: Callable[[int, int], int], unit: Scalar = 1) -> Block:
    """A block with the ranks of the shape, of random multiples of ``unit``; no matrix is skew-symmetric.

    Drawn in turn: the C_k row by row, or a column and a row where the rank is one; the c_k; m. All are positive.
    """
    size = min(shape.widths[0], 2)

    def row(length: int) -> tuple[Scalar, ...]:
        return tuple(draw(1, _LARGEST_ENTRY) * unit for _ in range(length))

    def matrix(rank: int) -> tuple[tuple[Scalar, ...], ...]:
        if rank == size:
            return tuple(row(size) for _ in range(size))
        k, q = row(size), row(size)
        return tuple(tuple(x * y for y in q) for x in k)

    alphas = [alpha for r, alpha in zip(shape.entering_ranks, shape.alphas, strict=True) if r > 1]
    matrices = tuple(matrix(min(alpha, size)) for alpha in alphas)
    return Block(matrices, row(shape.layers - len(alphas)), row(size))


def gradients(
    block: Block, numbers: NumberSystem, tokens: int, random: Random, unit: Scalar = 1
) -> Iterator[list[Any]]:
    """Gradients of the output at random inputs, each with a random covector on the tokens."""
    network = block.network(numbers)

    def matrix(rows: int) -> Any:
        return numbers.matrix(
            [[random.randrange(-_LARGEST_ENTRY, _LARGEST_ENTRY) * unit for _ in range(tokens)] for _ in range(rows)]
        )

    while True:
        yield block.flattened(gradient(network, matrix(block.size), matrix(1), numbers), numbers)


SEED = 20250417
SPARE_ROWS = 5
DISTINCT_TOKENS = 3
"""Tokens of a large t that are chosen; the others are zero in lightning attention, and equal to the last in softmax."""
MOST_PARAMETERS = 3000
"""The rank of the differential at given weights, and at random ones of several heads, takes half a minute then."""
FULL_PARAMETERS = 400
"""Up to this number of parameters the rank of the whole Jacobian matrix is computed as well: less than a second."""


def lightning_bounds(network: Shape, characteristic: int) -> Iterator[LowerBound]:
    """Return lower bounds for lightning attention, the quickest first."""
    if network.is_plain and not characteristic:
        yield from lightning_block(network)
    if characteristic or not network.is_plain or network.parameter_count <= FULL_PARAMETERS:
        yield (None if characteristic else theorem_bound(network)) or _full(network, characteristic)


def theorem_bound(network: Shape) -> LowerBound | None:
    """Return the bound by Theorem H, of a network that is too large for its rank to be computed."""
    betas = [min(d, after) for d, after, _ in network.layer_sizes]
    if network.is_plain or network.parameter_count <= MOST_PARAMETERS or not are_separate(network, betas):
        return None
    return LowerBound(bound_by_ranks(network, betas).value, THEOREM, "generic heads are separate")


def _full(network: Shape, characteristic: int) -> LowerBound:
    result = full_rank(network, characteristic)
    size = f"{result.rows} × {result.columns}"
    return LowerBound(result.lower, f"Jacobian mod {result.prime}", f"rank of {size} entries of the differential")


def full_rank(network: Shape, characteristic: int = 0) -> RankResult:
    """Return the rank of the differential at random weights, each row with random tokens of its own."""
    return rank_result(replace(network, t=min(network.t, DISTINCT_TOKENS)), characteristic)


def lightning_block(network: Shape) -> Iterator[LowerBound]:
    """Return the bound by the block, modulo a prime, if it decides."""
    return block_bound(network, lambda block: lightning_rank(block, network.t), f"block mod {LARGE_PRIME}")


def lightning_rank(block: Block, t: int) -> int:
    """Return the rank of the differential of a block of lightning attention."""
    return rank_of_gradients(block, Residues(LARGE_PRIME), min(t, 2), Random(SEED))


def rank_of_gradients(block: Block, numbers: NumberSystem, tokens: int, random: Random) -> int:
    """Return the rank of some more gradients of a block than it has columns."""
    rows = islice(watched(gradients(block, numbers, tokens, random)), block.columns + SPARE_ROWS)
    return rank_mod([list(map(int, row)) for row in rows], LARGE_PRIME)


def certified_block(network: Shape) -> Block:
    """Return the block whose rank is computed; it depends on the seed and the ranks only."""
    return random_block(network, MinimalStandard(SEED).randrange)


def block_bound(network: Shape, rank_of: Callable[[Block], int], method: str) -> Iterator[LowerBound]:
    """Return the dimension, if the kernel of the differential of the block is what is always there; else nothing."""
    block = certified_block(network)
    rank = rank_of(block)
    if rank == block.columns - network.kernel_dimension:
        reason = f"rank {rank} of a network with {block.size} inputs: one block decides"
        yield LowerBound(seen_dimension(network), method, reason)


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
        if network.layers <= SERIES_LAYERS:
            method = f"block mod {LARGE_PRIME}, power series"
            yield from block_bound(network, lambda block: _series_rank(block, network.t, network.layers), method)
        yield from formal_block(network)
        if network.layers <= BALL_LAYERS:
            yield from _ball_block(network)


def formal_block(network: Shape) -> Iterator[LowerBound]:
    """Return the bound by the block with exponentials as unknowns, if it decides."""
    return block_bound(network, _formal_rank, f"block mod {LARGE_PRIME}, exponentials as unknowns")


def columns_and_rank(network: Shape) -> tuple[int, int]:
    """Return the columns of the block and its rank, by the quickest way that needs no hypothesis, if there is one."""
    block = certified_block(network)
    return block.columns, _block_rank(block, network.t, network.layers, network.softmax)


@lru_cache(maxsize=1024)
def _block_rank(block: Block, t: int, layers: int, softmax: bool) -> int:
    """The rank; networks of many widths have one block."""
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
            yield from block_bound(network, lambda block: block.columns, f"block in balls of {precision} bits")
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

"""Lower bounds for the dimension of a network, by ranks modulo a prime or enclosed in balls.

With one head and no skip connections one block decides, a network with two inputs and one output.
Virtual weights A'_k = UᵀC_kU and M with first row mU, for 2 × 2 matrices C_k, a row m and a matrix
U whose columns are pairwise independent, look the same on every two inputs: a network with the
virtual weights (C_1, …, C_l, m). If the kernel of its differential is only what it always is, the
same holds for the whole network at this point, and so at generic weights. The proofs are in
``docs/deep-attention.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import islice
from random import Random
from typing import Any

import flint

from m2bridge.algebra.linear_algebra import rank_mod
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.errors import InvalidCaseError, TooLargeError
from m2bridge.families.deep_attention.network import (
    Balls,
    Draw,
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
    random_matrix,
)
from m2bridge.families.deep_attention.shape import (
    THEOREM,
    Shape,
    are_separate,
    bound_by_ranks,
    seen_dimension,
)
from m2bridge.limits import watched
from m2bridge.maps.model import MethodValue
from m2bridge.maps.rank import SPARE_ROWS, RankResult, rank_result
from m2bridge.results.known import Known

Scalar = Any
"""An integer, or a rational number of FLINT."""


def minimal_standard(state: int) -> Iterator[int]:
    """The states x ↦ 48271·x modulo 2^31 − 1 after this one (Park, Miller 1993), the same in every
    language.

    A certificate names the point of a block by the seed; its checker makes the numbers anew.
    """
    while True:
        yield (state := state * 48271 % (2**31 - 1))


@dataclass(frozen=True, slots=True)
class Block:
    """A network with at most two inputs and one output, by its virtual weights.

    Parameters
    ----------
    attention : tuple of matrices
        C_1, C_2, … for the layers whose tokens are not all parallel. For the layers after them,
        behind a hidden width 1, C_k = c_k mᵀm; here are the 1 × 1 matrices c_k, as tokens are
        multiplied by m before.
    row : tuple of numbers
        m.
    """

    attention: tuple[tuple[tuple[Scalar, ...], ...], ...]
    row: tuple[Scalar, ...]

    @property
    def size(self) -> int:
        """The number of inputs."""
        return len(self.row)

    @property
    def columns(self) -> int:
        """The number of entries of all C_k or c_k, and of m."""
        return sum(len(C) ** 2 for C in self.attention) + self.size

    @property
    def _last(self) -> int:
        """The place of the layer whose value matrix is m; those of the others are 1."""
        return sum(len(C) == self.size for C in self.attention) - 1

    def network(self, numbers: NumberSystem) -> Network:
        """Return the network."""
        values = [
            numbers.matrix([[int(i == j) for j in range(len(C))] for i in range(len(C))])
            for C in self.attention
        ]
        values[self._last] = numbers.matrix([self.row])
        return tuple(
            (Head(numbers.matrix(C), V),) for C, V in zip(self.attention, values, strict=True)
        )

    def flattened(self, layers: list[Layer]) -> list[Scalar]:
        """A gradient with respect to all matrices as one with respect to those of attention
        and m.
        """
        covectors = [*(head.A for (head,) in layers), layers[self._last][0].V]
        return [entry for covector in covectors for entry in covector.entries()]


def random_block(shape: Shape, draw: Draw) -> Block:
    """A block with the ranks of the shape.

    Drawn in turn: the C_k row by row, or a column and a row where the rank is one; the c_k; m.
    """

    def row(length: int) -> tuple[Scalar, ...]:
        return tuple(draw() for _ in range(length))

    def matrix(size: int, rank: int) -> tuple[tuple[Scalar, ...], ...]:
        if rank >= size:
            return tuple(row(size) for _ in range(size))
        k, q = row(size), row(size)
        return tuple(tuple(x * y for y in q) for x in k)

    sizes = [min(r, 2) for r in shape.entering_ranks]
    return Block(tuple(map(matrix, sizes, shape.alphas)), row(sizes[0]))


def gradients(block: Block, numbers: NumberSystem, tokens: int, draw: Draw) -> Iterator[list[Any]]:
    """Gradients of the output at random inputs, each with a random covector on the tokens."""
    network = block.network(numbers)
    while True:
        X, G = (random_matrix(numbers, rows, tokens, draw) for rows in (block.size, 1))
        yield block.flattened(gradient(network, X, G, numbers))


SEED = 20250417
DISTINCT_TOKENS = 3
"""Tokens of a large t that are chosen; the others are zero in lightning attention, and equal to the
last in softmax.
"""
MOST_PARAMETERS = 3000
"""The rank of the differential at given weights, and at random ones of several heads, takes half a
minute then.
"""
FULL_PARAMETERS = 400
"""Up to this number of parameters the rank of the whole Jacobian matrix is computed as well: less
than a second.
"""


def lightning_bounds(network: Shape, characteristic: int) -> Iterator[MethodValue]:
    """Return lower bounds for lightning attention, the quickest first."""
    if network.is_plain and not characteristic:
        yield from lightning_block(network)
    if characteristic or not network.is_plain or network.parameter_count <= FULL_PARAMETERS:
        yield (None if characteristic else theorem_bound(network)) or _full(network, characteristic)


def theorem_bound(network: Shape) -> MethodValue | None:
    """Return the bound by Theorem H, of a network that is too large for its rank to be computed."""
    betas = [min(d, after) for d, after, _ in network.layer_sizes]
    if (
        network.is_plain
        or network.parameter_count <= MOST_PARAMETERS
        or not are_separate(network, betas)
    ):
        return None
    dimension = bound_by_ranks(network, betas).value
    return MethodValue(THEOREM, Known.at_least(dimension, "generic heads are separate"))


def _full(network: Shape, characteristic: int) -> MethodValue:
    result = full_rank(network, characteristic)
    reason = f"rank of {result.rows} × {result.columns} entries of the differential"
    return MethodValue(f"Jacobian mod {result.prime}", Known.at_least(result.lower, reason))


def full_rank(network: Shape, characteristic: int = 0) -> RankResult:
    """Return the rank of the differential at random weights, each row with random tokens of its
    own.
    """
    return rank_result(replace(network, t=min(network.t, DISTINCT_TOKENS)), characteristic)


def lightning_block(network: Shape) -> Iterator[MethodValue]:
    """Return the bound by the block, modulo a prime, if it decides."""
    return block_bound(
        network, lambda block: _block_rank(block, network.t, False), f"block mod {LARGE_PRIME}"
    )


def residues() -> Draw:
    """Return a source of random residues, the same each time."""
    return partial(Random(SEED).randrange, LARGE_PRIME)


def rank_of_gradients(rows: Iterable[list[Any]], most: int) -> int:
    """Return the rank modulo the prime of some more gradients than it can be."""
    return rank_mod(list(islice(watched(rows), most + SPARE_ROWS)), LARGE_PRIME)


def certified_block(network: Shape) -> Block:
    """Return the block whose rank is computed; it depends on the seed and the ranks only.

    All numbers are from 1 to 999, so that no matrix is skew-symmetric.
    """
    numbers = (1 + state % 999 for state in minimal_standard(SEED))
    return random_block(network, partial(next, numbers))


def block_bound(
    network: Shape, rank_of: Callable[[Block], int], method: str
) -> Iterator[MethodValue]:
    """Return the dimension, if the kernel of the differential of the block is what is always there;
    else nothing.
    """
    block = certified_block(network)
    rank = rank_of(block)
    if rank == block.columns - network.kernel_dimension:
        reason = f"rank {rank} of a network with {block.size} inputs: one block decides"
        yield MethodValue(method, Known.at_least(seen_dimension(network), reason))


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


def softmax_bounds(network: Shape, characteristic: int) -> Iterator[MethodValue]:
    """Return lower bounds for softmax attention, each by a method of its own, the quickest first.

    Raises
    ------
    InvalidCaseError
        In positive characteristic.
    """
    if characteristic:
        raise InvalidCaseError("field", "softmax has no meaning over GF(p); use QQ")
    if network.t == 1:
        reason = "every matrix of this rank is the function of a network"
        dimension = Known.at_least(network.linear_dimension, reason)
        yield MethodValue("matrices of bounded rank", dimension)
    elif not network.is_plain:
        yield theorem_bound(network) or _full_by_series(network)
    else:
        if network.layers <= SERIES_LAYERS:
            method = f"block mod {LARGE_PRIME}, power series"
            yield from block_bound(
                network, lambda block: _block_rank(block, network.t, True), method
            )
        yield from formal_block(network)
        if network.layers <= BALL_LAYERS:
            yield from _ball_block(network)


def formal_block(network: Shape) -> Iterator[MethodValue]:
    """Return the bound by the block with exponentials as unknowns, if it decides."""
    return block_bound(network, _formal_rank, f"block mod {LARGE_PRIME}, exponentials as unknowns")


def columns_and_rank(network: Shape) -> tuple[int, int]:
    """Return the columns of the block and its rank, by the quickest way that needs no hypothesis,
    if there is one.
    """
    block = certified_block(network)
    return block.columns, _block_rank(block, network.t, network.softmax)


@lru_cache(maxsize=1024)
def _block_rank(block: Block, t: int, softmax: bool) -> int:
    """The rank; networks of many widths have one block."""
    if not softmax:
        return rank_of_gradients(
            gradients(block, Residues(LARGE_PRIME), min(t, 2), residues()), block.columns
        )
    return _series_rank(block, t) if len(block.attention) <= SERIES_LAYERS else _formal_rank(block)


def _formal_rank(block: Block) -> int:
    draw = residues()
    return rank_of_gradients(
        gradients(block, FormalSoftmax(LARGE_PRIME, draw), 2, draw), block.columns
    )


def _series_rank(block: Block, t: int) -> int:
    """The rank of a row for each order at each input; inputs are added until it does not grow."""
    numbers = PowerSeries(LARGE_PRIME, int(3 ** (len(block.attention) - 1)) + 1, (1, t - 1))
    return _growing_rank(gradients(block, numbers, 2, residues()), numbers.length)


def _ball_block(network: Shape) -> Iterator[MethodValue]:
    """The determinant of as many gradients as there are columns, enclosed in a ball without 0.

    Weights and tokens are rational numbers below 1 in size, so that no exponential is far from the
    others.
    """
    random, precision, numbers = Random(SEED), 128, Balls((1, network.t - 1))

    def draw() -> Scalar:
        return flint.fmpq(random.randrange(-1000, 1000), 1000)

    while precision <= MOST_PRECISION:
        block = random_block(network, draw)
        with flint.ctx.workprec(precision):
            rows = watched(gradients(block, numbers, 2, draw))
            determinant = numbers.matrix(list(islice(rows, block.columns))).det()
        if not determinant.contains(0):
            yield from block_bound(
                network, lambda block: block.columns, f"block in balls of {precision} bits"
            )
            return
        precision *= 2


def _full_by_series(network: Shape) -> MethodValue:
    """The rank of the differential at random weights, with skip connections or several heads."""
    random = Random(SEED)
    parameters = [random.randrange(1, LARGE_PRIME) for _ in range(network.parameter_count)]
    upper = network.upper_bounds(0)[0].value
    rank, length = rank_by_series(
        network, lambda numbers: Point.read(network, parameters, numbers), upper
    )
    dimension = Known.at_least(rank, f"rank of {length} orders of the differential")
    return MethodValue(f"Jacobian mod {LARGE_PRIME}, power series", dimension)


def rank_by_series(
    network: Shape, point: Callable[[NumberSystem], Point], upper: int
) -> tuple[int, int]:
    """Return the rank of the whole differential at a point, a row for each order, and the number of
    orders.

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
            f" {network.parameter_count} parameters and {length} orders are too many for that: take"
            " smaller numbers"
        )
    tokens = min(network.t, DISTINCT_TOKENS)
    multiplicities = (1,) * (tokens - 1) + (network.t - tokens + 1,)
    rank = 0
    for doubling in range(DOUBLINGS):
        numbers = PowerSeries(LARGE_PRIME, length << doubling, multiplicities)
        gradients = gradients_at(point(numbers), network, numbers, tokens, residues())
        rank = _growing_rank(gradients, numbers.length)
        if rank == upper:
            break
    return rank, numbers.length


def _growing_rank(gradients: Iterable[list[Any]], length: int) -> int:
    """The rank of all orders of gradients that are power series, once twice as many rows do not
    enlarge it.
    """
    rows: list[list[int]] = []
    rank = 0
    for count, series in enumerate(watched(gradients), 1):
        rows += [[entry[order] for entry in series] for order in range(length)]
        if count.bit_count() == 1:
            before, rank = rank, rank_mod(rows, LARGE_PRIME)
            if rank == before:
                break
    return rank

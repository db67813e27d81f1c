"""Lower bounds for the dimension by ranks, exact modulo a prime or enclosed in balls.

With one head and no skip connections one block decides, a network with two inputs and one output. Virtual weights
A'_k = UᵀC_kU and M with first row mU, for 2 × 2 matrices C_k, a row m and a matrix U whose columns are pairwise
independent, look the same on every two inputs: a network with the virtual weights (C_1, …, C_l, m). If the kernel of
its differential is only what it always is, the same holds for the whole network at this point, and so at generic
weights. The proofs are in ``docs/deep-attention.md``.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from random import Random
from typing import Any, Protocol

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
)
from m2bridge.families.deep_attention.shape import Shape, reduced_dimension
from m2bridge.limits import watched
from m2bridge.maps.model import LowerBound
from m2bridge.maps.rank import rank_result

Scalar = Any
"""An integer, or a rational number of FLINT."""
_LARGEST_ENTRY = 1000


class Draws(Protocol):
    """A source of numbers."""

    def randrange(self, start: int, stop: int, /) -> int:
        """A number from ``start`` on, below ``stop``."""
        ...


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

    def flattened(self, found: list[Layer], numbers: NumberSystem) -> list[Scalar]:
        """A gradient with respect to the C_k and m as one with respect to the parameters of the block."""
        covectors = [head.A for (head,) in found]
        m, dm = numbers.matrix([self.row]), found[-1][0].V
        entries = [entry for dC in covectors[: len(self.matrices)] for entry in dC.entries()]
        for c, dC in zip(self.scalars, covectors[len(self.matrices) :], strict=True):
            entries += (m * dC * m.transpose()).entries()
            dm = dm + numbers.matrix([[c]]) * (m * dC + m * dC.transpose())
        return [*entries, *dm.entries()]


def random_block(shape: Shape, random: Draws, unit: Scalar = 1) -> Block:
    """A block with the ranks of the shape, of random multiples of ``unit``; no matrix is skew-symmetric.

    Drawn in turn: the C_k row by row, or a column and a row where the rank is one; the c_k; m. All are positive.
    """
    size = min(shape.widths[0], 2)

    def row(length: int) -> tuple[Scalar, ...]:
        return tuple(random.randrange(1, _LARGEST_ENTRY) * unit for _ in range(length))

    def matrix(rank: int) -> tuple[tuple[Scalar, ...], ...]:
        if rank == size:
            return tuple(row(size) for _ in range(size))
        k, q = row(size), row(size)
        return tuple(tuple(x * y for y in q) for x in k)

    alphas = [alpha for r, alpha in zip(shape.entering_ranks, shape.alphas, strict=True) if r > 1]
    matrices = tuple(matrix(min(alpha, size)) for alpha in alphas)
    return Block(matrices, row(shape.layers - len(alphas)), row(size))


def kernel_dimension(shape: Shape) -> int:
    """Dimension of what the function of a block does not see: scalings, and skew-symmetric parts.

    In lightning attention A_k can be scaled against m in each layer, and only the symmetric part of A_k matters after a
    layer of rank one; for one token, nowhere else either.
    """
    if shape.softmax:
        return 0
    several = sum(r > 1 for r in shape.entering_ranks)
    return shape.layers + max(0, several - shape.whole_layers)


def seen_dimension(shape: Shape) -> int:
    """Dimension of the virtual weights less that of such a kernel, at generic weights."""
    if shape.softmax:
        return reduced_dimension(shape, shape.layers)
    return reduced_dimension(shape, shape.whole_layers) - shape.layers


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

SERIES_LAYERS = 6
"""Up to this depth power series are used for softmax; they have 3^(l−1) + 1 coefficients."""
BALL_LAYERS = 6
"""Up to this depth balls are used as a second way for softmax; their precision grows as the series do."""
MOST_PRECISION = 1 << 14
"""Bits of the balls."""
MOST_COEFFICIENTS = 20_000_000
"""All coefficients of the power series in the largest Jacobian matrix: about a minute."""
DOUBLINGS = 4
"""How often the number of orders is doubled where the rank stays below the upper bound."""
FULL_PARAMETERS = 400
"""Up to this number of parameters the rank of the whole Jacobian matrix is computed as well: less than a second."""


def lower_bounds(network: Shape, characteristic: int) -> Iterator[LowerBound]:
    """Lower bounds, each by a method of its own, the quickest first.

    Raises
    ------
    InvalidCaseError
        For softmax in positive characteristic.
    """
    if network.softmax and characteristic:
        raise InvalidCaseError("field", "softmax has no meaning over GF(p); use QQ")
    if characteristic:
        yield _full(network, characteristic)
    elif network.softmax and network.t == 1:
        yield _linear_functions(network)
    elif network.softmax:
        yield from _softmax(network)
    else:
        if network.is_plain:
            yield from _lightning_block(network)
        if not network.is_plain or network.parameter_count <= FULL_PARAMETERS:
            yield _full(network, 0)


def _softmax(network: Shape) -> Iterator[LowerBound]:
    if not network.is_plain:
        yield _full_by_series(network)
        return
    if network.layers <= SERIES_LAYERS:
        yield from _series_block(network)
    yield from _formal_block(network)
    if network.layers <= BALL_LAYERS:
        yield from _ball_block(network)


def _full(network: Shape, characteristic: int) -> LowerBound:
    """The rank of the differential at random weights, each row with random tokens of its own."""
    few = replace(network, t=min(network.t, DISTINCT_TOKENS))
    found = rank_result(few, characteristic)
    size = f"{found.rows} × {found.columns}"
    return LowerBound(found.lower, f"Jacobian mod {found.prime}", f"rank of {size} entries of the differential")


def _lightning_block(network: Shape) -> Iterator[LowerBound]:
    block = certified_block(network)
    yield from _decided(network, block, _lightning_rank(block, min(network.t, 2)), f"block mod {LARGE_PRIME}")


def _formal_block(network: Shape) -> Iterator[LowerBound]:
    block = certified_block(network)
    method = f"block mod {LARGE_PRIME}, exponentials as unknowns"
    yield from _decided(network, block, _formal_rank(block), method)


def _series_block(network: Shape) -> Iterator[LowerBound]:
    block = certified_block(network)
    rank = _series_rank(block, network.t, network.layers)
    yield from _decided(network, block, rank, f"block mod {LARGE_PRIME}, power series")


def block_rank(block: Block, t: int, layers: int, softmax: bool) -> int:
    """The rank of the differential of a block, by the quickest way that needs no hypothesis, if there is one."""
    if not softmax:
        return _lightning_rank(block, min(t, 2))
    return _series_rank(block, t, layers) if layers <= SERIES_LAYERS else _formal_rank(block)


def _lightning_rank(block: Block, tokens: int) -> int:
    found = watched(gradients(block, Residues(LARGE_PRIME), tokens, Random(SEED)))
    return rank_mod([_residues(row) for row in islice(found, block.columns + SPARE_ROWS)], LARGE_PRIME)


def _formal_rank(block: Block) -> int:
    random = Random(SEED)
    found = watched(gradients(block, FormalSoftmax(LARGE_PRIME, random), 2, random))
    return rank_mod([_residues(row) for row in islice(found, block.columns + SPARE_ROWS)], LARGE_PRIME)


def _series_rank(block: Block, t: int, layers: int) -> int:
    """Every input gives a row for each order; inputs are added until the rank does not grow."""
    numbers = PowerSeries(LARGE_PRIME, int(3 ** (layers - 1)) + 1, (1, t - 1))
    return _growing_rank(_orders(row, numbers.length) for row in gradients(block, numbers, 2, Random(SEED)))


def _ball_block(network: Shape) -> Iterator[LowerBound]:
    """The determinant of as many gradients as there are columns, enclosed in a ball without 0.

    Weights and tokens are rational numbers below 1 in size, so that no exponential is far from the others.
    """
    precision, tokens, unit = 128, min(network.t, 2), flint.fmpq(1, 1000)
    numbers = Balls((1, network.t - 1))
    while precision <= MOST_PRECISION:
        random = Random(SEED)
        block = random_block(network, random, unit)
        with flint.ctx.workprec(precision):
            found = watched(gradients(block, numbers, tokens, random, unit))
            determinant = flint.arb_mat(list(islice(found, block.columns))).det()
        if not determinant.contains(0):
            yield from _decided(network, block, block.columns, f"block in balls of {precision} bits")
            return
        precision *= 2


def certified_block(network: Shape) -> Block:
    """The block whose rank is found; it depends on the seed and the ranks only."""
    return random_block(network, MinimalStandard(SEED))


def _decided(network: Shape, block: Block, rank: int, method: str) -> Iterator[LowerBound]:
    """The dimension, if the kernel of the differential of the block is only what is always there; else nothing."""
    kernel = kernel_dimension(network)
    if rank == block.columns - kernel:
        value = seen_dimension(network)
        yield LowerBound(value, method, f"rank {rank} of a network with {block.size} inputs: one block decides")


def _full_by_series(network: Shape) -> LowerBound:
    """Softmax with skip connections or several heads: as in :func:`_full`, with a row for each order.

    How many orders tell all heads apart is not known: their number is doubled some times.
    """
    upper = network.upper_bounds(0)[0].value
    length = 3 if network.skip else int(3 ** (network.layers - 1)) + 1
    if length * network.parameter_count * upper > MOST_COEFFICIENTS:
        raise TooLargeError(
            "softmax with several heads or skip connections is computed by power series; here"
            f" {network.parameter_count} parameters and {length} orders are too many for that: take smaller numbers"
        )
    rank = 0
    for _ in range(DOUBLINGS):
        rank = _growing_rank(_orders_of_tokens(network, length))
        if rank == upper:
            break
        length *= 2
    method = f"Jacobian mod {LARGE_PRIME}, power series"
    return LowerBound(rank, method, f"rank of {length} orders of the differential")


def _orders_of_tokens(network: Shape, length: int) -> Iterator[list[list[int]]]:
    """For random tokens and a random covector on their images: the gradient, a row for each order."""
    random = Random(SEED)
    tokens = min(network.t, DISTINCT_TOKENS)
    numbers = PowerSeries(LARGE_PRIME, length, (1,) * (tokens - 1) + (network.t - tokens + 1,))
    parameters = [random.randrange(1, LARGE_PRIME) for _ in range(network.parameter_count)]
    point = Point.read(network, parameters, numbers)
    weights = point.network()
    while True:
        X, G = (
            numbers.matrix([[random.randrange(LARGE_PRIME) for _ in range(tokens)] for _ in range(rows)])
            for rows in (network.widths[0], network.widths[-1])
        )
        yield _orders(point.flattened(gradient(weights, X, G, numbers, network.skip)), length)


def _growing_rank(batches: Iterable[list[list[int]]]) -> int:
    """The rank of rows that come in batches, once twice as many of them do not enlarge it."""
    rows: list[list[int]] = []
    rank, looked = 0, 0
    for batch in watched(batches):
        rows += batch
        if len(rows) < 2 * looked:
            continue
        before, rank, looked = rank, rank_mod(rows, LARGE_PRIME), len(rows)
        if rank == before:
            break
    return rank


def _linear_functions(network: Shape) -> LowerBound:
    value = network.upper_bounds(0)[0].value
    return LowerBound(value, "matrices of bounded rank", "every matrix of this rank is the function of a network")


def _residues(row: list[Any]) -> list[int]:
    return [int(entry) for entry in row]


def _orders(row: list[Any], length: int) -> list[list[int]]:
    """The coefficients of a row of power series, a row for each order."""
    listed = [[int(c) for c in series.coeffs()] for series in row]
    return [[c[j] if j < len(c) else 0 for c in listed] for j in range(length)]

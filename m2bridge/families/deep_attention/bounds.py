"""Lower bounds for the dimension of a network, by ranks modulo a prime or enclosed in balls.

With one head and no skip connections one block decides, a network with two inputs and one output.
Virtual weights A'_k = UᵀC_kU and M with first row mU, for 2 × 2 matrices C_k, a row m and a matrix
U whose columns are pairwise independent, look the same on every two inputs: a network with the
virtual weights (C_1, …, C_l, m). If the kernel of its differential is only what it always is, the
same holds for the whole network at this point, and so at generic weights. The proofs are in
``docs/deep-attention.md``. Upper bounds, which need no computation, are in ``upper_bounds``.

The rank of a differential is found from *gradients*: the derivatives of ⟨G, output(X)⟩, the sum of
the products of the entries of G and of the output, with respect to all weights, as one row of
numbers, for random inputs X and a random matrix G (a covector on the output). For softmax the
entries may be power series, of which each order is a row. ``draw`` returns the next random number,
and ``numbers`` is the number system over which a network is evaluated. A
:class:`~m2bridge.maps.model.MethodValue` is the title of a method with the bound that it found.
d_k, a_k, α_k, r_k and ``kernel_dimension`` are defined in
:class:`~m2bridge.families.deep_attention.shape.NetworkSizes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import islice
from random import Random
from typing import Any, NamedTuple

import flint

from m2bridge.algebra.linear_algebra import rank_mod
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.errors import InvalidCaseError, TooLargeError
from m2bridge.families.deep_attention.network import (
    Balls,
    Draw,
    FormalSoftmax,
    HeadMatrices,
    LayerMatrices,
    Network,
    NetworkWeights,
    NumberSystem,
    PowerSeries,
    Residues,
    gradient,
    gradients_at,
    random_matrix,
)
from m2bridge.families.deep_attention.shape import THEOREM, NetworkSizes, determined_dimension
from m2bridge.families.deep_attention.upper_bounds import are_separate, bound_by_ranks, upper_bounds
from m2bridge.limits import check_deadline_in
from m2bridge.maps.jacobian_rank import SPARE_ROWS, RankResult, rank_result
from m2bridge.maps.model import MethodValue
from m2bridge.results.known import Bounds

# An integer, or a rational number of FLINT.
Scalar = Any


def minimal_standard(state: int) -> Iterator[int]:
    """Yield the states x ↦ 48271·x modulo 2^31 − 1 after the seed ``state``, without end (Park,
    Miller): the same in every language, as a certificate names the point of a block by the seed.
    """
    while True:
        state = state * 48271 % (2**31 - 1)
        yield state


@dataclass(frozen=True, slots=True)
class TwoInputNetwork:
    """A network with at most two inputs and one output, by its virtual weights."""

    # First C_1, C_2, … of the layers whose tokens are not all parallel. The layers after them are
    # after a hidden width 1 and have C_k = c_k mᵀm. Of these the 1 × 1 matrices c_k are listed, as
    # the tokens are multiplied by m before.
    attention: tuple[tuple[tuple[Scalar, ...], ...], ...]
    row: tuple[Scalar, ...]  # m

    @property
    def size(self) -> int:
        """The number of inputs."""
        return len(self.row)

    @property
    def columns(self) -> int:
        """The number of entries of all C_k or c_k, and of m: the columns of a Jacobian matrix."""
        return sum(len(C) ** 2 for C in self.attention) + self.size

    @property
    def _row_layer(self) -> int:
        """The index from 0 of the layer with value matrix m, the last one that all inputs enter."""
        # 1 for matrices of sizes 2, 2, 1, 1, and the last layer if ``size`` is 1
        return sum(len(C) == self.size for C in self.attention) - 1

    def network(self, numbers: NumberSystem) -> Network:
        """Return the network of one head in each layer, whose value matrices are m and
        identities.
        """
        layers = []
        for k, C in enumerate(self.attention):
            value_rows = [self.row] if k == self._row_layer else unit_rows(len(C))
            head = HeadMatrices(A=numbers.matrix(C), V=numbers.matrix(value_rows))
            layers.append((head,))
        return tuple(layers)

    def flattened(self, layers: list[LayerMatrices]) -> list[Scalar]:
        """Return the gradient with respect to all C_k or c_k, row by row, and then by m."""
        entries: list[Scalar] = []
        for (head,) in layers:
            entries += head.A.entries()
        (head_with_row,) = layers[self._row_layer]
        entries += head_with_row.V.entries()
        return entries


def unit_rows(size: int) -> list[tuple[Scalar, ...]]:
    """Return the rows of the size × size identity matrix."""
    return [tuple(int(i == j) for j in range(size)) for i in range(size)]


def random_block(shape: NetworkSizes, draw: Draw) -> TwoInputNetwork:
    """Return a block of random numbers whose C_k have the ranks min(α_k, 2) of the shape, drawn in
    turn, as a checker does: the C_k row by row, or a column and a row for rank one; the c_k; m.
    """

    def drawn_row(length: int) -> tuple[Scalar, ...]:
        """Draw ``length`` numbers."""
        return tuple(draw() for _ in range(length))

    def drawn_matrix(size: int, rank: int) -> tuple[tuple[Scalar, ...], ...]:
        """Draw a size × size matrix as its rows: any if ``rank`` ≥ ``size``, else of rank 1."""
        if rank >= size:
            return tuple(drawn_row(size) for _ in range(size))
        # a certificate's checker draws in this order
        k, q = drawn_row(size), drawn_row(size)
        return tuple(tuple(x * y for y in q) for x in k)

    # two inputs, of which one linear form is left after a width 1
    sizes = [min(r, 2) for r in shape.entering_ranks]
    # α_k may be above the size; then the matrix has full rank
    attention = tuple(map(drawn_matrix, sizes, shape.alphas))
    return TwoInputNetwork(attention=attention, row=drawn_row(sizes[0]))


def gradients(
    block: TwoInputNetwork, numbers: NumberSystem, tokens: int, draw: Draw
) -> Iterator[list[Any]]:
    """Yield gradients in the block's weights at random inputs X and covectors G, without end."""
    network = block.network(numbers)
    while True:
        X = random_matrix(numbers, block.size, tokens, draw)
        G = random_matrix(numbers, 1, tokens, draw)
        yield block.flattened(gradient(network, X, G, numbers))


# Of all random weights and tokens; certificates have it, so that a checker draws the same block.
RANK_POINT_SEED = 20250417
# How many tokens are random if there are more: the others are zero in lightning attention, and
# equal to the last random one in softmax.
MAX_DISTINCT_TOKENS = 3
# Up to this number of parameters the rank of the differential at given weights, and at random ones
# of several heads, is computed: half a minute.
MAX_DIFFERENTIATED_PARAMETERS = 3000


def lightning_bounds(network: NetworkSizes, characteristic: int) -> Iterator[MethodValue]:
    """Yield lower bounds for the dimension of lightning attention, the quickest first;
    TooLargeError if the matrix is too large and Theorem H is not about the network.

    In characteristic 0, for one head and no skip connections, the first bound is by one block, if
    it decides. The other is by the rank of the whole Jacobian matrix, or by Theorem H where this is
    too large; after a block it is found for small networks only.
    """
    # Theorem H and "one block decides" are proved in characteristic zero.
    one_block_decides = network.is_plain and not characteristic
    if one_block_decides:
        yield from lightning_block(network)
    # After a block, the whole Jacobian matrix is only a second way, and computed if it is quick:
    # up to 400 parameters take less than a second.
    if not one_block_decides or network.parameter_count <= 400:
        by_theorem = None if characteristic else theorem_bound(network)
        yield by_theorem or _jacobian_bound(network, characteristic)


def theorem_bound(network: NetworkSizes) -> MethodValue | None:
    """Return the lower bound by Theorem H, that generic heads are separate, so that the dimension
    is a sum over their matrices; ``None`` for a network small enough for its rank, or not of the
    theorem.
    """
    if network.is_plain or network.parameter_count <= MAX_DIFFERENTIATED_PARAMETERS:
        return None
    # the generic ranks of the value matrices
    betas = [min(d, outputs) for d, outputs, _ in network.layer_sizes]
    if not are_separate(network, betas):
        return None
    dimension = bound_by_ranks(network, betas).value
    return MethodValue(THEOREM, Bounds.at_least(dimension, "generic heads are separate"))


def _jacobian_bound(network: NetworkSizes, characteristic: int) -> MethodValue:
    """Return the rank of the whole Jacobian matrix as a lower bound for the dimension."""
    result = full_rank(network, characteristic)
    reason = f"rank of {result.rows} × {result.columns} entries of the differential"
    return MethodValue(f"Jacobian mod {result.prime}", Bounds.at_least(result.lower, reason))


def full_rank(network: NetworkSizes, characteristic: int = 0) -> RankResult:
    """Return the rank of the differential at random weights, each row at tokens of its own, of
    which three are enough: others can be zero, and then change nothing.
    """
    with_few_tokens = replace(network, t=min(network.t, MAX_DISTINCT_TOKENS))
    return rank_result(with_few_tokens, characteristic)


def lightning_block(network: NetworkSizes) -> Iterator[MethodValue]:
    """Return an iterator over one lower bound for lightning attention, by the block modulo a prime,
    or over none if the block does not decide.
    """
    method = f"block mod {LARGE_PRIME}"
    return block_bound(network, partial(_block_rank, t=network.t, softmax=False), method)


def random_residues() -> Draw:
    """Return a source of random residues modulo LARGE_PRIME; each source has the same numbers."""
    return partial(Random(RANK_POINT_SEED).randrange, LARGE_PRIME)


def rank_of_gradients(endless_gradients: Iterable[list[Any]], upper: int) -> int:
    """Return the rank modulo LARGE_PRIME of the first ``upper`` gradients, and a few more, since
    random ones may be dependent by chance.
    """
    first_gradients = islice(check_deadline_in(endless_gradients), upper + SPARE_ROWS)
    return rank_mod(list(first_gradients), LARGE_PRIME)


def certified_block(network: NetworkSizes) -> TwoInputNetwork:
    """Return the block whose rank is computed, with numbers from 1 to 999: no attention matrix is
    skew-symmetric, as such a matrix has zeros on its diagonal.
    """
    numbers = (1 + state % 999 for state in minimal_standard(RANK_POINT_SEED))
    draw = partial(next, numbers)
    return random_block(network, draw)


def block_bound(
    network: NetworkSizes, rank_of: Callable[[TwoInputNetwork], int], method: str
) -> Iterator[MethodValue]:
    """Yield the dimension as a lower bound, if the block's differential has the least kernel.

    The kernel always contains the directions in which the function does not change, of dimension
    ``network.kernel_dimension``. If it is no larger, the differential of the network at generic
    weights has its least kernel, too (theorem-block in docs/deep-attention.md). If it is larger,
    nothing is yielded, because at other weights it may be the least one.
    """
    block = certified_block(network)
    rank = rank_of(block)
    least_kernel = rank == block.columns - network.kernel_dimension
    if least_kernel:
        reason = f"rank {rank} of a network with {block.size} inputs: one block decides"
        yield MethodValue(method, Bounds.at_least(determined_dimension(network), reason))


# Up to this depth power series are used, which have 3^(l−1) + 1 coefficients, and balls, whose
# precision grows as the series do.
MAX_EXACT_SERIES_LAYERS = 6
# All coefficients of the power series in the largest Jacobian matrix: about a minute.
MAX_SERIES_COEFFICIENTS = 20_000_000


def softmax_bounds(network: NetworkSizes, characteristic: int) -> Iterator[MethodValue]:
    """Yield lower bounds for softmax attention, each by a method of its own, the quickest first.

    For one token functions are matrices, whose dimension is known. With several heads or skip
    connections there is one bound, by Theorem H, or by a rank if the network is small or the
    theorem is not about it. Otherwise one block decides, in up to three ways. When the iterator is
    advanced: InvalidCaseError in positive characteristic, TooLargeError if a rank is too large
    without theorem.
    """
    if characteristic:
        raise InvalidCaseError("field", "must be QQ for softmax, which has no meaning over GF(p)")
    if network.t == 1:
        reason = "every matrix of this rank is the function of a network"
        dimension = Bounds.at_least(network.linear_dimension, reason)
        yield MethodValue("matrices of bounded rank", dimension)
    elif not network.is_plain:
        yield theorem_bound(network) or _jacobian_bound_by_series(network)
    else:
        are_few_layers = network.layers <= MAX_EXACT_SERIES_LAYERS
        if are_few_layers:
            method = f"block mod {LARGE_PRIME}, power series"
            by_series = partial(_block_rank, t=network.t, softmax=True)
            yield from block_bound(network, by_series, method)
        yield from formal_block(network)
        if are_few_layers:
            yield from _ball_block(network)


def formal_block(network: NetworkSizes) -> Iterator[MethodValue]:
    """Return an iterator over one lower bound for softmax, by the block, exponentials as unknowns,
    or over none if the block does not decide.
    """
    return block_bound(network, _formal_rank, f"block mod {LARGE_PRIME}, exponentials as unknowns")


def columns_and_rank(network: NetworkSizes) -> tuple[int, int]:
    """Return the number of weights of the certified block, and the rank of its differential."""
    block = certified_block(network)
    return block.columns, _block_rank(block, network.t, network.softmax)


# networks of many widths have one block
@lru_cache(maxsize=1024)
def _block_rank(block: TwoInputNetwork, t: int, softmax: bool) -> int:
    """Return the rank modulo LARGE_PRIME of the differential of a block for t tokens, a lower
    bound.

    For softmax power series are used up to MAX_EXACT_SERIES_LAYERS layers, which need no theorem
    about exponentials; in deeper blocks exponentials are unknowns.
    """
    if not softmax:
        # two tokens show the whole function P(XXᵀ)X of at most two inputs, as XXᵀ may already be
        # any symmetric 2 × 2 matrix
        numbers = Residues(LARGE_PRIME)
        endless = gradients(block, numbers, tokens=min(t, 2), draw=random_residues())
        return rank_of_gradients(endless, upper=block.columns)
    layers = len(block.attention)
    if layers > MAX_EXACT_SERIES_LAYERS:
        return _formal_rank(block)
    # Gradients for t tokens εX, of which all but one are equal, are power series in h = ε². Layer k
    # shows its matrix in order 3^(k−1) after the first (theorem-S).
    orders = int(3 ** (layers - 1)) + 1
    # the second of the two tokens stands for t − 1 equal ones
    series = PowerSeries(LARGE_PRIME, length=orders, multiplicities=(1, t - 1))
    endless = gradients(block, series, tokens=2, draw=random_residues())
    return growing_rank(endless, length=orders)


def _formal_rank(block: TwoInputNetwork) -> int:
    """Return the rank modulo LARGE_PRIME for softmax at two tokens, with independent random numbers
    for the exponentials (:class:`FormalSoftmax`).
    """
    draw = random_residues()
    numbers = FormalSoftmax(prime=LARGE_PRIME, draw=draw)
    endless = gradients(block, numbers, tokens=2, draw=draw)
    return rank_of_gradients(endless, upper=block.columns)


def _ball_block(network: NetworkSizes) -> Iterator[MethodValue]:
    """Yield the lower bound by a block whose full rank is proved in balls, if it is: the ball of a
    determinant of gradients does not contain 0, at some precision, doubled from 128 bits on.
    """
    # Weights and tokens are rational numbers from −1 to 1, so that no exponential is far from the
    # others.
    random = Random(RANK_POINT_SEED)
    numbers = Balls(multiplicities=(1, network.t - 1))
    precision = 128

    def draw() -> Scalar:
        """Draw one of the numbers −1, −999/1000, …, 999/1000."""
        return flint.fmpq(random.randrange(-1000, 1000), 1000)

    while precision <= 2**14:
        block = random_block(network, draw)
        with flint.ctx.workprec(precision):
            endless = check_deadline_in(gradients(block, numbers, tokens=2, draw=draw))
            # a square matrix: as many gradients as each has entries
            rows = list(islice(endless, block.columns))
            determinant = numbers.matrix(rows).det()
        if not determinant.contains(0):
            # The rank of this block is the number of its columns, the largest that there is. So
            # generic blocks have the same rank, and none has to be computed for ``block_bound``.
            method = f"block in balls of {precision} bits"
            yield from block_bound(network, lambda block: block.columns, method)
            return
        precision *= 2


def _jacobian_bound_by_series(network: NetworkSizes) -> MethodValue:
    """Return the rank of the differential of softmax at random weights, by power series."""
    random = Random(RANK_POINT_SEED)
    parameters = [random.randrange(1, LARGE_PRIME) for _ in range(network.parameter_count)]
    upper = upper_bounds(network)[0].value
    weights_over = partial(NetworkWeights.read, network, parameters)
    by_series = rank_by_series(network, weights_over, upper)
    reason = f"rank of {by_series.orders} orders of the differential"
    dimension = Bounds.at_least(by_series.rank, reason)
    return MethodValue(f"Jacobian mod {LARGE_PRIME}, power series", dimension)


class RankOfOrders(NamedTuple):
    """A rank of the first orders of power series, and the number of these orders."""

    rank: int
    orders: int


def rank_by_series(
    network: NetworkSizes, weights_over: Callable[[NumberSystem], NetworkWeights], upper: int
) -> RankOfOrders:
    """Return a lower bound for the rank of the differential of softmax, and the number of orders
    behind it; TooLargeError if there are too many coefficients.

    ``weights_over`` takes a number system, and returns the weights over it. It is not known how
    many orders separate all heads: their number is doubled at most three times, until the rank is
    its upper bound.
    """
    # With one head 3^(l−1) + 1 orders are enough (theorem-S), as differences between tokens have
    # order 3^(k−1) in layer k. With skip connections these differences stay of order one.
    first_orders = 3 if network.skip else int(3 ** (network.layers - 1)) + 1
    if first_orders * network.parameter_count * upper > MAX_SERIES_COEFFICIENTS:
        raise TooLargeError(
            "softmax with several heads or skip connections is computed by power series; here"
            f" {network.parameter_count} parameters and {first_orders} orders are too many for"
            " that: take smaller numbers"
        )
    multiplicities = multiplicities_of_tokens(network.t)
    rank = 0
    for doubling in range(4):
        orders = int(first_orders * 2**doubling)
        numbers = PowerSeries(prime=LARGE_PRIME, length=orders, multiplicities=multiplicities)
        endless = gradients_at(
            weights_over(numbers),
            network,
            numbers,
            tokens=len(multiplicities),
            draw=random_residues(),
        )
        rank = growing_rank(endless, length=orders, upper=upper)
        if rank == upper:
            break
    return RankOfOrders(rank, orders)


def multiplicities_of_tokens(t: int) -> tuple[int, ...]:
    """Return how often each distinct token occurs if all after the first MAX_DISTINCT_TOKENS of t
    are equal to the last of these: (1, 1, 3) for t = 5.
    """
    distinct = min(t, MAX_DISTINCT_TOKENS)
    return (1,) * (distinct - 1) + (t - distinct + 1,)


def growing_rank(
    gradients: Iterable[list[Any]], length: int, upper: int | None = None, prime: int = LARGE_PRIME
) -> int:
    """Return a lower bound for the dimension of the span of all coefficients of power series, by a
    rank modulo ``prime``: each of the ``length`` orders of a gradient is a row.

    Gradients are added until the rank is ``upper``, or :data:`SPARE_ROWS` of them had no effect:
    while the span of random gradients is incomplete, each new one enlarges it.
    """
    rows: list[list[int]] = []
    rank = 0
    for count, gradient_series in enumerate(check_deadline_in(gradients), 1):
        # A row for each order, with the coefficients of all entries; many orders are 0 throughout.
        by_order = ([entry[order] for entry in gradient_series] for order in range(length))
        rows += [row for row in by_order if any(row)]
        # A rank for each power of two costs no more than twice the last one.
        is_power_of_two = count.bit_count() == 1
        if is_power_of_two:
            rank_of_half = rank
            rank = rank_mod(rows, prime) if rows else 0
            without_effect = count // 2 - (rank - rank_of_half)
            if rank == upper or without_effect >= SPARE_ROWS:
                break
    return rank

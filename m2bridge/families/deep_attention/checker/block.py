"""The rank of one block, which decides the dimension for one head and no skip connections.

*Theorem* (theorem-block in docs/deep-attention.md): if the kernel of the differential of a block,
a network with at most two inputs and one output, is no larger than it always is, every network with
as many layers and such ranks has the dimension of the upper bound.

*Checked here*: the rank of the differential at two points, each modulo a prime of its own. A kernel
modulo a prime is at least as large as that over QQ: so one that is as small as can be is proved.

*Taken on trust*: the theorem, and beyond six layers of softmax Ax's theorem ("Exponentials as
unknowns" in docs/deep-attention-programs.md). The program that makes certificates differentiates by
the chain rule; here derivatives come from dual numbers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

import flint

from m2bridge.checker.algebra import PRIME
from m2bridge.errors import ContradictionError, TooExpensiveError
from m2bridge.families.deep_attention.checker.matrices import Matrix, minimal_standard, transposed
from m2bridge.families.deep_attention.checker.predictions import Network

# The point of a certificate, and the prime of the program: numbers that are part of the evidence.
SEED = 20250417
STATED_PRIME = 2**31 - 1
# Up to this many layers softmax is expanded: six need 244 coefficients, seven would need 730.
SERIES_LAYERS = 6
# Columns, twice, times layers and coefficients: the order of the products for one input.
MOST_PRODUCTS = 10**8


@dataclass(frozen=True, kw_only=True)
class Block:
    """A block: φ(X) = m Y_{l+1}, with Y_1 = X and Y_{k+1} = Y_k σ(Y_kᵀ C_k Y_k).

    X has ``size`` rows, one or two. The first C_k are any matrices of the given ranks; in as many
    layers as are ``behind`` a hidden width one, C_k = c_k mᵀm. Of the t tokens x, y, …, y all but
    the first are equal.
    """

    size: int
    ranks: tuple[int, ...]
    behind: int
    t: int
    softmax: bool

    @property
    def layers(self) -> int:
        """The number of all layers."""
        return len(self.ranks) + self.behind

    @property
    def columns(self) -> int:
        """The number of entries of the C_k, of the c_k, and of entries of m."""
        return self.size**2 * len(self.ranks) + self.behind + self.size

    @property
    def length(self) -> int:
        """The number N of coefficients of the power series in h that numbers are here.

        Layer k of softmax shows its matrix in order 2·3^(k−1) + 1 of the inputs (theorem-S): so
        3^(l−1) + 1 coefficients in their squares are enough. Lightning attention is a polynomial,
        and needs no series.
        """
        if self.softmax and self.layers <= SERIES_LAYERS:
            orders: int = 3 ** (self.layers - 1)
            return orders + 1
        return 1


def unseen(network: Network) -> int:
    """The kernel that the differential of the block always has (theorem-block).

    For lightning attention that is the torus of dimension l, and the skew-symmetric part of each
    2 × 2 matrix C_k with k > ``network.whole``; for softmax nothing.
    """
    if network.softmax:
        return 0
    wide = sum(space > 1 for space in network.narrowest)
    return network.depth + max(0, wide - network.whole)


def columns_and_rank(network: Network) -> tuple[int, int]:
    """The number of columns of the differential of the block of a network, and its rank.

    Tokens that are zero change nothing in lightning attention, so that two stand for all t ≥ 2.
    """
    size = min(network.widths[0], 2)
    ranks = []
    for rank, space in zip(network.ranks, network.narrowest, strict=True):
        if space > 1:
            ranks.append(min(rank, size))
    block = Block(
        size=size,
        ranks=tuple(ranks),
        behind=network.depth - len(ranks),
        t=network.t if network.softmax else min(network.t, 2),
        softmax=network.softmax,
    )
    return block.columns, _rank(block, block.columns - unseen(network))


@cache
def _rank(block: Block, most: int) -> int:
    """The rank of a block, which is at most ``most``: the same at two points modulo two primes.

    The first point is that of the certificate, from its seed, modulo a prime that is not the
    program's. Its entries are positive, so that no C_k is skew-symmetric.
    """
    if block.columns**2 * block.layers * block.length > MOST_PRODUCTS:
        raise TooExpensiveError("case", f"a block of {block.layers} layers")
    stated = (1 + state % 999 for state in minimal_standard(SEED))
    random = Random(1)
    other = (random.randrange(1, STATED_PRIME) for _ in range(2 * block.columns))
    here = _rank_at(block, _parameters(block, stated), PRIME, most)
    elsewhere = _rank_at(block, _parameters(block, other), STATED_PRIME, most)
    if here != elsewhere:
        raise ContradictionError(f"ranks {here} and {elsewhere} of {block}")
    return here


def _parameters(block: Block, numbers: Iterator[int]) -> list[int]:
    """All C_k row by row, then the c_k, then m, from as many numbers as are needed."""
    parameters = list[int]()
    for rank in block.ranks:
        if rank == block.size:
            parameters += _taken(numbers, block.size**2)
        else:
            # rank one: a column times a row
            column = _taken(numbers, block.size)
            row = _taken(numbers, block.size)
            for entry in column:
                parameters += [entry * x for x in row]
    return parameters + _taken(numbers, block.behind + block.size)


def _taken(numbers: Iterator[int], count: int) -> list[int]:
    return [next(numbers) for _ in range(count)]


def _rank_at(block: Block, parameters: Sequence[int], prime: int, most: int) -> int:
    """The rank of the differential at a point: of the derivatives of the outputs for many inputs.

    The rank for some inputs is at most that for all; so inputs are added until it cannot grow.
    """
    random = Random(2)
    rows: list[list[int]] = []
    rank = -1
    for count in (3, 3, 6, 12, block.columns, block.columns, block.columns):
        for _ in range(count):
            rows += _rows(block, parameters, prime, random)
        entries = [x for row in rows for x in row]
        rank = int(flint.nmod_mat(len(rows), block.columns, entries, prime).rank())
        if rank >= most:
            break
    return rank


def _rows(
    block: Block, parameters: Sequence[int], prime: int, random: Random
) -> Iterator[list[int]]:
    """The derivatives of the outputs at random tokens by all parameters, order by order in h."""
    tokens = min(block.t, 2)
    X = [[random.randrange(prime) for _ in range(tokens)] for _ in range(block.size)]
    exponentials = [_nonzero(prime, random) for _ in range(block.layers)]
    dual = _DualNumbers(prime, block.length, block.t)
    derivatives = []
    for moving in range(block.columns):
        numbers = [dual.number(x) for x in parameters]
        numbers[moving] = dual.number(parameters[moving], slope=1)
        outputs = _outputs(block, dual, numbers, X, exponentials)
        derivatives.append([dual.slope(output) for output in outputs])
    for by_parameter in zip(*derivatives, strict=True):
        for order in range(block.length):
            yield [int(slope[order]) for slope in by_parameter]


def _nonzero(prime: int, random: Random) -> list[list[int]]:
    """A random 2 × 2 matrix without zeros."""
    return [[random.randrange(1, prime) for _ in range(2)] for _ in range(2)]


def _outputs(
    block: Block, dual: "_DualNumbers", numbers: list[Any], X: list[list[int]], exponentials: Any
) -> list[Any]:
    """The outputs m Y_{l+1} for all different tokens."""
    size = block.size
    wide = len(block.ranks)
    m = [numbers[-size:]]
    Y = [[dual.number(x) for x in row] for row in X]
    for k in range(block.layers):
        if k < wide:
            entries = numbers[k * size**2 : (k + 1) * size**2]
            C = [entries[size * i : size * (i + 1)] for i in range(size)]
            factor = Y
        else:
            # Yᵀ (c_k mᵀm) Y = (mY)ᵀ c_k (mY)
            C = [[numbers[wide * size**2 + k - wide]]]
            factor = dual.product(m, Y)
        scores = dual.product(dual.product(transposed(factor), C), factor)
        if block.softmax:
            scores = dual.softmax(scores, exponentials[k])
        Y = dual.product(Y, scores)
    return dual.product(m, Y)[0]


@dataclass(frozen=True)
class _DualNumbers:
    """Dual numbers v + s·δ with δ² = 0, where v and s are in GF(prime)[h]/(h^length).

    One is kept as the polynomial v + s·h^place in h. The place is 2·length − 1, above the degree of
    each product of two values; that of two slopes begins at twice the place, and is cut off.

    For softmax the inputs are εX with h = ε²: all tokens of all layers are multiples of ε, so that
    the scores are h times those of X. The second token stands for t − 1 equal ones.
    """

    prime: int
    length: int
    t: int

    @property
    def place(self) -> int:
        """The power of h at which the slope begins."""
        return 2 * self.length - 1

    def number(self, value: int, slope: int = 0) -> Any:
        """A constant with a constant slope."""
        return flint.nmod_poly([value, *[0] * (self.place - 1), slope], self.prime)

    def slope(self, x: Any) -> Any:
        """The series s of v + s·δ."""
        return x.right_shift(self.place)

    def times(self, x: Any, y: Any) -> Any:
        """The product: (v + s·δ)(v' + s'·δ) = vv' + (vs' + sv')·δ."""
        place = self.place
        product = x.mul_low(y, place + self.length)
        # what stands between is of order h^length in vv', and is zero
        return product.truncate(self.length) + product.right_shift(place).left_shift(place)

    def product(self, A: Matrix, B: Matrix) -> Matrix:
        """The product of matrices."""
        columns = list(zip(*B, strict=True))
        return [self._combinations(row, columns) for row in A]

    def _combinations(self, row: list[Any], columns: list[Any]) -> list[Any]:
        zero = self.number(0)
        return [sum(map(self.times, row, column), start=zero) for column in columns]

    def softmax(self, scores: Matrix, chosen: list[list[int]]) -> Matrix:
        """The softmax of each column, where the second row stands for t − 1 equal ones."""
        first, second = (
            [self._exponential(z, e) for z, e in zip(row, numbers, strict=True)]
            for row, numbers in zip(scores, chosen, strict=True)
        )
        second = [(self.t - 1) * x for x in second]
        inverses = [self._inverse(x + y) for x, y in zip(first, second, strict=True)]
        return [list(map(self.times, row, inverses)) for row in (first, second)]

    def _exponential(self, z: Any, chosen: int) -> Any:
        """The number e^(hz) = e^(hv)(1 + hs·δ) for z = v + s·δ.

        Where no series is used, e^z with a chosen number for its value: the exponentials of
        all layers are algebraically independent over the functions of the inputs (Ax).
        """
        value = z.truncate(self.length)
        slope = z - value
        if self.length == 1:
            return self.times(self.number(chosen), 1 + slope)
        h = flint.nmod_poly([0, 1], self.prime)
        exponential = self._series(value.mul_low(h, self.length))
        return self.times(exponential, 1 + self.times(h, slope))

    def _series(self, z: Any) -> Any:
        """The series E = e^z of a series z without constant term, from E′ = z′E.

        So k E_k is the sum of j z_j E_(k−j) for j from 1 to k, and k is not divisible by the prime,
        which is larger.
        """
        derivatives = [j * int(z[j]) for j in range(self.length)]
        coefficients = [1]
        for k in range(1, self.length):
            total = sum(derivatives[j] * coefficients[k - j] for j in range(1, k + 1))
            coefficients.append(total * pow(k, -1, self.prime) % self.prime)
        return flint.nmod_poly(coefficients, self.prime)

    def _inverse(self, x: Any) -> Any:
        """The inverse 1/(v + s·δ) = (v − s·δ)/v², where 2v − x is v − s·δ."""
        value = x.truncate(self.length)
        inverse = value.inverse_series_trunc(self.length)
        return self.times(self.times(inverse, inverse), 2 * value - x)

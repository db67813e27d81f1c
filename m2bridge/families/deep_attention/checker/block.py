"""The block that decides (docs/deep-attention.md#theorem-block), by dual numbers over power series
modulo a prime.

The output is m Y_{l+1} with Y_1 = X and Y_{k+1} = Y_k σ(Y_kᵀ C_k Y_k); behind a hidden width 1 it
is c_k between two factors mY_k. A number is a value and a slope, both in GF(p)[h]/(h^length), as
one polynomial: the slope stands at h^(2 length − 1), above all products of values. Softmax is that
of inputs εX, with h = ε²; beyond six layers each exponential is a random number, whose slope is
known (Ax's theorem).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

import flint

from m2bridge.checker.algebra import PRIME
from m2bridge.errors import ContradictionError, TooExpensiveError
from m2bridge.families.deep_attention.checker.fibres import minimal_standard, transposed
from m2bridge.families.deep_attention.checker.predictions import Case

SEED, STATED_PRIME = 20250417, 2**31 - 1
SERIES_LAYERS = 6
MOST = 10**8
Matrix = list[list[Any]]


@dataclass(frozen=True)
class Block:
    """``size`` inputs; the ranks of C_1, C_2, …; how many layers follow with C_k = c_k mᵀm; tokens
    x, y, …, y.
    """

    size: int
    ranks: tuple[int, ...]
    behind: int
    t: int
    softmax: bool

    @property
    def layers(self) -> int:
        """All of them."""
        return len(self.ranks) + self.behind

    @property
    def columns(self) -> int:
        """Entries of the C_k and m, and the c_k."""
        return self.size**2 * len(self.ranks) + self.behind + self.size

    @property
    def length(self) -> int:
        """The number of coefficients of the power series."""
        return 3 ** (self.layers - 1) + 1 if self.softmax and self.layers <= SERIES_LAYERS else 1


def unseen(case: Case) -> int:
    """The kernel that the differential of the block always has."""
    several = sum(space > 1 for space in case.narrowest)
    return 0 if case.softmax else len(case.a) + max(0, several - case.whole)


def columns_and_rank(case: Case) -> tuple[int, int]:
    """The columns and the rank at the point modulo a prime not its own, and at another point modulo
    its prime.
    """
    size = min(case.d[0], 2)
    ranks = tuple(
        min(rank, size) for rank, space in zip(case.ranks, case.narrowest, strict=True) if space > 1
    )
    t = case.t if case.softmax else min(case.t, 2)
    block = Block(size, ranks, len(case.a) - len(ranks), t, case.softmax)
    return block.columns, _rank(block, block.columns - unseen(case))


@cache
def _rank(block: Block, most: int) -> int:
    if block.columns**2 * block.layers * block.length > MOST:
        raise TooExpensiveError("case", f"a block of {block.layers} layers")
    random = Random(1)
    here = _rank_at(block, (1 + state % 999 for state in minimal_standard(SEED)), PRIME, most)
    other = (random.randrange(1, STATED_PRIME) for _ in range(2 * block.columns))
    elsewhere = _rank_at(block, other, STATED_PRIME, most)
    if here != elsewhere:
        raise ContradictionError(f"ranks {here} and {elsewhere} of {block}")
    return here


def _parameters(block: Block, numbers: Iterator[int]) -> list[int]:
    """All C_k row by row, the c_k, m."""
    parameters = list[int]()
    for rank in block.ranks:
        if rank == block.size:
            parameters += [next(numbers) for _ in range(block.size**2)]
        else:
            column, row = ([next(numbers) for _ in range(block.size)] for _ in range(2))
            parameters += [x * y for x in column for y in row]
    return parameters + [next(numbers) for _ in range(block.behind + block.size)]


def _rank_at(block: Block, point: Iterator[int], prime: int, most: int) -> int:
    """Inputs are added, twice as many each time, until the rank is all that it can be."""
    parameters, random, rows, rank = _parameters(block, point), Random(2), list[list[int]](), -1
    for count in (3, 3, 6, 12, *[block.columns] * 3):
        for _ in range(count):
            rows += _rows(block, parameters, prime, random)
        rank = flint.nmod_mat(
            len(rows), block.columns, [x for row in rows for x in row], prime
        ).rank()
        if rank >= most:
            break
    return int(rank)


def _rows(
    block: Block, parameters: Sequence[int], prime: int, random: Random
) -> Iterator[list[int]]:
    """The derivatives of each order of each output at random tokens, by all parameters."""
    tokens = min(block.t, 2)
    X = [[random.randrange(prime) for _ in range(tokens)] for _ in range(block.size)]
    chosen = [
        [[random.randrange(1, prime) for _ in "xy"] for _ in "xy"] for _ in range(block.layers)
    ]
    ring = _Ring(prime, block.length, block.t)
    slopes = []
    for i in range(block.columns):
        numbers = [ring.number(x, int(i == j)) for j, x in enumerate(parameters)]
        slopes.append(
            [output.right_shift(ring.place) for output in _output(block, ring, numbers, X, chosen)]
        )
    for output in zip(*slopes, strict=True):
        yield from ([int(slope[order]) for slope in output] for order in range(block.length))


def _output(
    block: Block, ring: "_Ring", numbers: list[Any], X: list[list[int]], chosen: Any
) -> list[Any]:
    size, square = block.size, block.size**2
    m = [numbers[-size:]]
    Y = [[ring.number(x) for x in row] for row in X]
    for k in range(block.layers):
        if k < len(block.ranks):
            C, tokens = (
                [numbers[square * k + size * i : square * k + size * (i + 1)] for i in range(size)],
                Y,
            )
        else:
            C, tokens = (
                [[numbers[square * len(block.ranks) + k - len(block.ranks)]]],
                ring.product(m, Y),
            )
        scores = ring.product(ring.product(transposed(tokens), C), tokens)
        Y = ring.product(Y, ring.softmax(scores, chosen[k]) if block.softmax else scores)
    return ring.product(m, Y)[0]


@dataclass(frozen=True)
class _Ring:
    """Dual numbers over GF(prime)[h]/(h^length); the second token stands for t − 1 equal ones."""

    prime: int
    length: int
    t: int

    @property
    def place(self) -> int:
        """The power of h at which the slope of a number stands."""
        return 2 * self.length - 1

    def number(self, value: int, slope: int = 0) -> Any:
        return flint.nmod_poly([value, *[0] * (self.place - 1), slope], self.prime)

    def times(self, x: Any, y: Any) -> Any:
        product = x.mul_low(y, self.place + self.length)
        return product.truncate(self.length) + product.right_shift(self.place).left_shift(
            self.place
        )

    def product(self, A: Matrix, B: Matrix) -> Matrix:
        columns, zero = list(zip(*B, strict=True)), self.number(0)
        return [[sum(map(self.times, row, column), start=zero) for column in columns] for row in A]

    def softmax(self, scores: Matrix, chosen: list[list[int]]) -> Matrix:
        """Return the softmax of each column, with the number of equal tokens."""
        exponentials = [
            [self._exponential(z, e) * count for z, e in zip(row, numbers, strict=True)]
            for row, numbers, count in zip(scores, chosen, (1, self.t - 1), strict=True)
        ]
        inverses = [self._inverse(x + y) for x, y in zip(*exponentials, strict=True)]
        return [list(map(self.times, row, inverses)) for row in exponentials]

    def _exponential(self, z: Any, chosen: int) -> Any:
        """The number e^(hz), or a random one instead of its value, whose slope is known."""
        value = z.truncate(self.length)
        slope = z - value
        if self.length == 1:
            return self.times(self.number(chosen), 1 + slope)
        h = flint.nmod_poly([0, 1], self.prime)
        return self.times(self._series(value.mul_low(h, self.length)), 1 + self.times(h, slope))

    def _series(self, z: Any) -> Any:
        """E = e^z from E′ = z′E, for z without constant term."""
        coefficients, slopes = [1], [j * int(z[j]) for j in range(self.length)]
        for k in range(1, self.length):
            total = sum(slopes[j] * coefficients[k - j] for j in range(1, k + 1))
            coefficients.append(total * pow(k, -1, self.prime) % self.prime)
        return flint.nmod_poly(coefficients, self.prime)

    def _inverse(self, x: Any) -> Any:
        """1/(v + s) = (v − s)/v² for a slope s."""
        value = x.truncate(self.length)
        inverse = value.inverse_series_trunc(self.length)
        return self.times(self.times(inverse, inverse), 2 * value - x)

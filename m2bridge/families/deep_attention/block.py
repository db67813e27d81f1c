"""The dimension of a network with one head and no skip connections from a network with two inputs and one output.

Virtual weights A'_k = UᵀC_kU and M with first row mU, for 2 × 2 matrices C_k, a row m and a matrix U whose columns are
pairwise independent, look the same on every two inputs: a network with the virtual weights (C_1, …, C_l, m). If the
kernel of its differential is only what it always is, the same holds for the whole network at this point, and so at
generic weights. The proof is in ``docs/deep-attention.md``, "One block decides".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from m2bridge.families.deep_attention.network import Head, Layer, Network, gradient
from m2bridge.families.deep_attention.number_systems import NumberSystem
from m2bridge.families.deep_attention.shape import Shape, reduced_dimension

Scalar = Any
"""An integer, or a rational number of FLINT."""
_SIZE = 1000


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
        """With value matrices 1, …, 1, m."""
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
        return tuple(random.randrange(1, _SIZE) * unit for _ in range(length))

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
    return shape.layers + max(0, several - _whole(shape))


def seen_dimension(shape: Shape) -> int:
    """Dimension of the virtual weights less that of such a kernel, at generic weights."""
    if shape.softmax:
        return reduced_dimension(shape, shape.layers)
    return reduced_dimension(shape, _whole(shape)) - shape.layers


def _whole(shape: Shape) -> int:
    """The last layer whose skew-symmetric part matters."""
    return shape.first_rank_one if shape.t > 1 else 0


def gradients(
    block: Block, numbers: NumberSystem, tokens: int, random: Random, unit: Scalar = 1
) -> Iterator[list[Any]]:
    """Gradients of the output at random inputs, each with a random covector on the tokens."""
    network = block.network(numbers)

    def matrix(rows: int) -> Any:
        return numbers.matrix([[random.randrange(-_SIZE, _SIZE) * unit for _ in range(tokens)] for _ in range(rows)])

    while True:
        yield block.flattened(gradient(network, matrix(block.size), matrix(1), numbers), numbers)

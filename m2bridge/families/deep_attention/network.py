"""A network evaluated and differentiated, and lower bounds for its dimension by ranks modulo a prime.

The entries may be integers, residues, or what :mod:`.softmax`, :mod:`.expansion` and :mod:`.observation` need. The
matrices of each number system know ``*``, ``+`` and ``transpose()``; the system makes them, and knows the
normalization σ of the scores.

With one head and no skip connections one block decides, a network with two inputs and one output. Virtual weights
A'_k = UᵀC_kU and M with first row mU, for 2 × 2 matrices C_k, a row m and a matrix U whose columns are pairwise
independent, look the same on every two inputs: a network with the virtual weights (C_1, …, C_l, m). If the kernel of
its differential is only what it always is, the same holds for the whole network at this point, and so at generic
weights. The proofs are in ``docs/deep-attention.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import islice
from operator import add, mul
from random import Random
from typing import Any

import flint

from m2bridge.algebra.linear_algebra import rank_mod
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.errors import InvalidCaseError
from m2bridge.families.deep_attention.shape import THEOREM, Shape, are_separate, bound_by_ranks, seen_dimension
from m2bridge.limits import watched
from m2bridge.maps.model import LowerBound
from m2bridge.maps.rank import RankResult, rank_result

Rows = Sequence[Sequence[Any]]
"""Rows of integers; for balls of rational numbers too."""
Matrix = Any
"""A matrix of FLINT, or an :class:`EntryMatrix`."""
Scalar = Any
"""An integer, or a rational number of FLINT."""


class NumberSystem:
    """Matrices over any ring, and the normalization σ of scores: the identity, where no subclass knows another one."""

    __slots__ = ()

    def matrix(self, rows: Rows) -> Matrix:
        """Return the matrix with these entries."""
        return EntryMatrix([list(row) for row in rows])

    def normalized(self, scores: Matrix) -> Matrix:
        """Return the normalized scores σ(Z)."""
        return scores

    def scores_pullback(self, normalized: Matrix, covector: Matrix) -> Matrix:
        """Return the covector on the scores Z that a covector on σ(Z) becomes; ``normalized`` is σ(Z)."""
        return covector


@dataclass(frozen=True, slots=True)
class Residues(NumberSystem):
    """GF(p)."""

    prime: int

    def matrix(self, rows: Rows) -> Matrix:
        """Return the matrix with these entries."""
        entries = [entry % self.prime for row in rows for entry in row]
        return flint.nmod_mat(len(rows), len(rows[0]), entries, self.prime)


@dataclass(frozen=True, slots=True)
class EntryMatrix:
    """A matrix over a ring whose matrices FLINT does not have.

    Parameters
    ----------
    rows : list of lists
    times : callable
        The product of two entries.
    """

    rows: list[list[Any]]
    times: Callable[[Any, Any], Any] = mul

    def __add__(self, other: EntryMatrix) -> EntryMatrix:
        pairs = zip(self.rows, other.rows, strict=True)
        return EntryMatrix([list(map(add, *pair)) for pair in pairs], self.times)

    def __mul__(self, other: EntryMatrix) -> EntryMatrix:
        columns = other.transpose().rows
        rows = [[reduce(add, map(self.times, row, column)) for column in columns] for row in watched(self.rows)]
        return EntryMatrix(rows, self.times)

    def transpose(self) -> EntryMatrix:
        """Return the transposed matrix."""
        return EntryMatrix(list(map(list, zip(*self.rows, strict=True))), self.times)

    def entries(self) -> list[Any]:
        """Return all entries, row by row."""
        return [entry for row in self.rows for entry in row]


@dataclass(frozen=True, slots=True)
class Point:
    """Parameters as matrices: for each layer and each head V, perhaps O, and either A or K and Q."""

    layers: Sequence[Sequence[Mapping[str, Matrix]]]

    @classmethod
    def read(cls, shape: Shape, parameters: Sequence[Any], numbers: NumberSystem) -> Point:
        """Cut the list of parameters into matrices.

        Raises
        ------
        InvalidCaseError
            If they are not as many as the network has.
        """
        if len(parameters) != shape.parameter_count:
            raise InvalidCaseError("parameters", f"are {shape.parameter_count} numbers, not {len(parameters)}")
        layers: list[list[dict[str, Matrix]]] = [[{} for _ in range(shape.heads)] for _ in shape.a]
        start = 0
        for matrix in shape.parameter_matrices():
            rows = [parameters[i : i + matrix.columns] for i in range(start, start + matrix.size, matrix.columns)]
            layers[matrix.layer - 1][matrix.head - 1][matrix.kind] = numbers.matrix(rows)
            start += matrix.size
        return cls(layers)

    def network(self) -> Network:
        """The attention and value matrices."""
        return tuple(
            tuple(
                Head(
                    head["A"] if "A" in head else head["K"].transpose() * head["Q"],
                    head["O"] * head["V"] if "O" in head else head["V"],
                )
                for head in layer
            )
            for layer in self.layers
        )

    def flattened(self, gradient: Sequence[Layer]) -> list[Any]:
        """A gradient with respect to all A and OV as one with respect to the parameters: dK = Q dAᵀ, dQ = K dA."""
        entries: list[Any] = []
        for layer, covectors in zip(self.layers, gradient, strict=True):
            for head, covector in zip(layer, covectors, strict=True):
                A, V = covector.A, covector.V
                parts = [A] if "A" in head else [head["Q"] * A.transpose(), head["K"] * A]
                parts += [V * head["V"].transpose(), head["O"].transpose() * V] if "O" in head else [V]
                entries += [entry for part in parts for entry in part.entries()]
        return entries


@dataclass(frozen=True, slots=True)
class Head:
    """The attention matrix A and the value matrix V of a head; or a covector on them."""

    A: Matrix
    V: Matrix


Layer = tuple[Head, ...]
Network = Sequence[Layer]


def output(network: Network, X: Matrix, numbers: NumberSystem, skip: bool = False) -> Matrix:
    """The tokens after the last layer."""
    for layer in network:
        heads = [head.V * X * numbers.normalized(X.transpose() * head.A * X) for head in layer]
        X = reduce(add, heads, X) if skip else reduce(add, heads)
    return X


def gradient(network: Network, X: Matrix, G: Matrix, numbers: NumberSystem, skip: bool = False) -> list[Layer]:
    """The gradient of ⟨G, output(X)⟩ with respect to all A and V.

    For C = Yσ(Z), Z = YᵀAY and a covector G on VC: dV = GCᵀ; Γ = VᵀG; dσ = YᵀΓ, from which dZ; dA = Y dZ Yᵀ; and
    Y gets Γσᵀ + AY dZᵀ + AᵀY dZ.
    """
    entering: list[tuple[Matrix, list[Matrix]]] = []
    for layer in network:
        sigmas = [numbers.normalized(X.transpose() * head.A * X) for head in layer]
        entering.append((X, sigmas))
        heads = [head.V * X * sigma for head, sigma in zip(layer, sigmas, strict=True)]
        X = reduce(add, heads, X) if skip else reduce(add, heads)
    layers: list[Layer] = []
    for layer, (Y, sigmas) in zip(reversed(network), reversed(entering), strict=True):
        pulled = [_pullback(head, Y, sigma, G, numbers) for head, sigma in zip(layer, sigmas, strict=True)]
        layers.append(tuple(head for head, _ in pulled))
        covectors = [covector for _, covector in pulled]
        G = reduce(add, covectors, G) if skip else reduce(add, covectors)
    return layers[::-1]


def gradients_at(point: Point, shape: Shape, numbers: NumberSystem, tokens: int, random: Random) -> Iterator[list[Any]]:
    """Gradients with respect to the parameters at random tokens, each with a random covector on their images."""
    weights = point.network()
    while True:
        X, G = (
            numbers.matrix([[random.randrange(LARGE_PRIME) for _ in range(tokens)] for _ in range(rows)])
            for rows in (shape.widths[0], shape.widths[-1])
        )
        yield point.flattened(gradient(weights, X, G, numbers, shape.skip))


def virtual_weights(network: Network) -> tuple[list[Matrix], Matrix]:
    """A'_k = M_kᵀ A_k M_k with M_k = V_{k−1}⋯V_1 for each layer, and M = V_l⋯V_1; for one head without skips."""
    matrices: list[Matrix] = []
    M: Any = None
    for (head,) in network:
        matrices.append(head.A if M is None else M.transpose() * head.A * M)
        M = head.V if M is None else head.V * M
    return matrices, M


def integer_virtual_weights(shape: Shape, parameters: Sequence[int]) -> tuple[list[list[list[int]]], list[list[int]]]:
    """Return A'_1, …, A'_l and M for integer parameters; for one head without skips."""
    matrices, M = virtual_weights(Point.read(shape, parameters, NumberSystem()).network())
    return [A.rows for A in matrices], M.rows


def _pullback(head: Head, Y: Matrix, sigma: Matrix, G: Matrix, numbers: NumberSystem) -> tuple[Head, Matrix]:
    """The covectors on (A, V) and on Y."""
    gamma = head.V.transpose() * G
    dZ = numbers.scores_pullback(sigma, Y.transpose() * gamma)
    dV = G * (Y * sigma).transpose()
    dA = Y * dZ * Y.transpose()
    dY = gamma * sigma.transpose() + head.A * Y * dZ.transpose() + head.A.transpose() * Y * dZ
    return Head(dA, dV), dY


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
    block = certified_block(network)
    yield from block_bound(network, block, lightning_rank(block, network.t), f"block mod {LARGE_PRIME}")


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


def block_bound(network: Shape, block: Block, rank: int, method: str) -> Iterator[LowerBound]:
    """Return the dimension, if the kernel of the differential of the block is what is always there; else nothing."""
    if rank == block.columns - network.kernel_dimension:
        reason = f"rank {rank} of a network with {block.size} inputs: one block decides"
        yield LowerBound(seen_dimension(network), method, reason)

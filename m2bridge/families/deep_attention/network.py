"""A network evaluated and differentiated, in several number systems.

The number systems are integers, residues, power series modulo a prime, real balls, and words in matrices of any size.
The matrices of each know ``*``, ``+`` and ``transpose()``; the number system makes them, and knows the normalization σ
of the scores.

A network of lightning attention is a sum of words in the A, the V, X and their transposes, so identities between words
hold for matrices of all sizes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add, mul
from random import Random
from typing import Any, Protocol

import flint

from m2bridge.errors import InvalidCaseError
from m2bridge.families.deep_attention.shape import Shape

Rows = Sequence[Sequence[Any]]
"""Rows of integers; for balls of rational numbers too."""
Matrix = Any
"""A matrix of FLINT, or a :class:`SeriesMatrix`."""


class NumberSystem(Protocol):
    """Matrices over a ring, and the normalization of scores."""

    def matrix(self, rows: Rows) -> Matrix:
        """The matrix with these entries."""
        ...

    def normalized(self, scores: Matrix) -> Matrix:
        """σ(Z)."""
        ...

    def scores_pullback(self, normalized: Matrix, covector: Matrix) -> Matrix:
        """The covector on Z that a covector on σ(Z) becomes; ``normalized`` is σ(Z)."""
        ...


class Lightning:
    """Scores are not normalized: σ is the identity."""

    __slots__ = ()

    def normalized(self, scores: Matrix) -> Matrix:
        """The scores."""
        return scores

    def scores_pullback(self, normalized: Matrix, covector: Matrix) -> Matrix:
        """The covector."""
        return covector


@dataclass(frozen=True, slots=True)
class Integers(Lightning):
    """ZZ."""

    def matrix(self, rows: Rows) -> Matrix:
        """Return the matrix with these entries."""
        return flint.fmpz_mat([list(row) for row in rows])


@dataclass(frozen=True, slots=True)
class Residues(Lightning):
    """GF(p)."""

    prime: int

    def matrix(self, rows: Rows) -> Matrix:
        """Return the matrix with these entries."""
        entries = [entry % self.prime for row in rows for entry in row]
        return flint.nmod_mat(len(rows), len(rows[0]), entries, self.prime)


@dataclass(frozen=True, slots=True)
class FormalSoftmax:
    """GF(p), with a random number for each exponential: softmax of two different tokens.

    Softmax is then (π_1, π_2; 1 − π_1, 1 − π_2) with random π_1, π_2, and only its derivative knows the scores. By Ax's
    theorem the exponentials are algebraically independent if no attention matrix is skew-symmetric, so that ranks are
    lower bounds (docs/deep-attention.md).
    """

    prime: int
    random: Random

    def matrix(self, rows: Rows) -> Matrix:
        """Return the matrix with these entries."""
        return Residues(self.prime).matrix(rows)

    def normalized(self, scores: Matrix) -> Matrix:
        """Return the normalized scores σ(Z)."""
        chosen = [self.random.randrange(self.prime) for _ in range(2)]
        return self.matrix([chosen, [1 - value for value in chosen]])

    def scores_pullback(self, normalized: Matrix, covector: Matrix) -> Matrix:
        """Return the covector on the scores Z."""
        rows = _softmax_pullback(normalized.table(), covector.table(), mul)
        return self.matrix([list(map(int, row)) for row in rows])


@dataclass(frozen=True, slots=True)
class Balls:
    """Real numbers enclosed in balls, with softmax; the j-th token stands for ``multiplicities[j]`` equal ones.

    The precision is that of ``flint.ctx.prec``. The normalization of column i is w_j e^{Z_ji} / Σ_m w_m e^{Z_mi}.
    """

    multiplicities: tuple[int, ...]

    def matrix(self, rows: Rows) -> Matrix:
        """Return the matrix with these entries."""
        return flint.arb_mat([list(map(flint.arb, row)) for row in rows])

    def normalized(self, scores: Matrix) -> Matrix:
        """Return the normalized scores σ(Z)."""
        exponentials = [[w * entry.exp() for entry in row] for w, row in self._rows(scores)]
        totals = [sum(column[1:], column[0]) for column in zip(*exponentials, strict=True)]
        return flint.arb_mat([[e / total for e, total in zip(row, totals, strict=True)] for row in exponentials])

    def scores_pullback(self, normalized: Matrix, covector: Matrix) -> Matrix:
        """Return the covector on the scores Z."""
        return flint.arb_mat(_softmax_pullback(normalized.table(), covector.table(), mul))

    def _rows(self, scores: Matrix) -> Any:
        return zip(self.multiplicities, scores.table(), strict=True)


@dataclass(frozen=True, slots=True)
class PowerSeries:
    """GF(p)[h]/(h^length), with softmax, for inputs εX where h = ε².

    Tokens are kept divided by ε, so the scores are h times what the matrices say; all scores have constant term 0, so
    their exponentials are power series, with denominators below ``length``, which must not exceed p. The constant term
    of a column's total is t, which p must not divide.
    """

    prime: int
    length: int
    multiplicities: tuple[int, ...]

    def matrix(self, rows: Rows) -> SeriesMatrix:
        """Return the matrix with these entries."""
        entries = [[flint.nmod_poly([entry], self.prime) for entry in row] for row in rows]
        return SeriesMatrix(entries, self.length)

    def normalized(self, scores: SeriesMatrix) -> SeriesMatrix:
        """Return the normalized scores σ(Z)."""
        n = self.length
        rows = zip(self.multiplicities, scores.rows, strict=True)
        exponentials = [[w * self._exponential(self._shifted(entry)) for entry in row] for w, row in rows]
        totals = [sum(column[1:], column[0]) for column in zip(*exponentials, strict=True)]
        inverses = [total.inverse_series_trunc(n) for total in totals]
        quotients = [[e.mul_low(inverse, n) for e, inverse in zip(row, inverses, strict=True)] for row in exponentials]
        return SeriesMatrix(quotients, n)

    def scores_pullback(self, normalized: SeriesMatrix, covector: SeriesMatrix) -> SeriesMatrix:
        """Return the covector on the scores Z."""
        n = self.length
        pulled = _softmax_pullback(normalized.rows, covector.rows, lambda x, y: x.mul_low(y, n))
        return SeriesMatrix([[self._shifted(entry) for entry in row] for row in pulled], n)

    def _shifted(self, series: Any) -> Any:
        """h times the series."""
        return series.left_shift(1).truncate(self.length)

    def _exponential(self, series: Any) -> Any:
        """e^Z for a series Z without constant term, by Newton's iteration E ← E(1 + Z − log E)."""
        one = flint.nmod_poly([1], self.prime)
        value, known = one, 1
        while known < self.length:
            known = min(2 * known, self.length)
            logarithm = value.derivative().mul_low(value.inverse_series_trunc(known), known).integral().truncate(known)
            value = value.mul_low(one + series.truncate(known) - logarithm, known)
        return value


def _softmax_pullback(normalized: Any, covector: Any, times: Any) -> list[list[Any]]:
    """σ_ji (G_ji − Σ_m σ_mi G_mi), entry by entry."""
    columns = []
    for sigma, g in zip(zip(*normalized, strict=True), zip(*covector, strict=True), strict=True):
        products = [times(s, entry) for s, entry in zip(sigma, g, strict=True)]
        mean = sum(products[1:], products[0])
        columns.append([product - times(s, mean) for s, product in zip(sigma, products, strict=True)])
    return [list(row) for row in zip(*columns, strict=True)]


@dataclass(frozen=True, slots=True)
class SeriesMatrix:
    """A matrix of power series modulo a prime, truncated to ``length`` coefficients; FLINT has none."""

    rows: list[list[Any]]
    length: int

    def __add__(self, other: SeriesMatrix) -> SeriesMatrix:
        pairs = zip(self.rows, other.rows, strict=True)
        return SeriesMatrix([list(map(add, row, other_row)) for row, other_row in pairs], self.length)

    def __mul__(self, other: SeriesMatrix) -> SeriesMatrix:
        n, columns = self.length, list(zip(*other.rows, strict=True))
        return SeriesMatrix([[_inner(row, column, n) for column in columns] for row in self.rows], n)

    def transpose(self) -> SeriesMatrix:
        """The transposed matrix."""
        return SeriesMatrix([list(row) for row in zip(*self.rows, strict=True)], self.length)

    def entries(self) -> list[Any]:
        """All entries, row by row."""
        return [entry for row in self.rows for entry in row]


def _inner(row: Sequence[Any], column: Sequence[Any], length: int) -> Any:
    products = [x.mul_low(y, length) for x, y in zip(row, column, strict=True)]
    return sum(products[1:], products[0])


@dataclass(frozen=True, slots=True)
class Point:
    """Parameters as matrices: for each layer and each head V and either A or K and Q."""

    layers: tuple[tuple[dict[str, Matrix], ...], ...]

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
        return cls(tuple(map(tuple, layers)))

    def network(self) -> Network:
        """The attention and value matrices."""
        return tuple(tuple(Head(_attention(head), head["V"]) for head in layer) for layer in self.layers)

    def flattened(self, gradient: Sequence[Layer]) -> list[Any]:
        """A gradient with respect to all A and V as one with respect to the parameters: dK = Q dAᵀ, dQ = K dA."""
        entries: list[Any] = []
        for layer, covectors in zip(self.layers, gradient, strict=True):
            for head, covector in zip(layer, covectors, strict=True):
                if "A" in head:
                    entries += covector.A.entries()
                else:
                    entries += (head["Q"] * covector.A.transpose()).entries() + (head["K"] * covector.A).entries()
                entries += covector.V.entries()
        return entries


def _attention(head: dict[str, Matrix]) -> Matrix:
    return head["A"] if "A" in head else head["K"].transpose() * head["Q"]


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
        heads = [head.V * X * numbers.normalized(_scores(head, X)) for head in layer]
        X = reduce(add, heads, X) if skip else reduce(add, heads)
    return X


def gradient(network: Network, X: Matrix, G: Matrix, numbers: NumberSystem, skip: bool = False) -> list[Layer]:
    """The gradient of ⟨G, output(X)⟩ with respect to all A and V.

    For C = Yσ(Z), Z = YᵀAY and a covector G on VC: dV = GCᵀ; Γ = VᵀG; dσ = YᵀΓ, from which dZ; dA = Y dZ Yᵀ; and
    Y gets Γσᵀ + AY dZᵀ + AᵀY dZ.
    """
    entering: list[tuple[Matrix, list[Matrix]]] = []
    for layer in network:
        sigmas = [numbers.normalized(_scores(head, X)) for head in layer]
        entering.append((X, sigmas))
        heads = [head.V * X * sigma for head, sigma in zip(layer, sigmas, strict=True)]
        X = reduce(add, heads, X) if skip else reduce(add, heads)
    found: list[Layer] = []
    for layer, (Y, sigmas) in zip(reversed(network), reversed(entering), strict=True):
        pulled = [_pullback(head, Y, sigma, G, numbers) for head, sigma in zip(layer, sigmas, strict=True)]
        found.append(tuple(head for head, _ in pulled))
        covectors = [covector for _, covector in pulled]
        G = reduce(add, covectors, G) if skip else reduce(add, covectors)
    return found[::-1]


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
    matrices, M = virtual_weights(Point.read(shape, parameters, Integers()).network())
    *attention, values = [[[int(entry) for entry in row] for row in A.table()] for A in (*matrices, M)]
    return attention, values


def _scores(head: Head, Y: Matrix) -> Matrix:
    return Y.transpose() * head.A * Y


def _pullback(head: Head, Y: Matrix, sigma: Matrix, G: Matrix, numbers: NumberSystem) -> tuple[Head, Matrix]:
    """The covectors on (A, V) and on Y."""
    gamma = head.V.transpose() * G
    dZ = numbers.scores_pullback(sigma, Y.transpose() * gamma)
    dV = G * (Y * sigma).transpose()
    dA = Y * dZ * Y.transpose()
    dY = gamma * sigma.transpose() + head.A * Y * dZ.transpose() + head.A.transpose() * Y * dZ
    return Head(dA, dV), dY


_TRANSPOSED = 1 << 19
"""The bit by which the letter of a transpose differs."""


@dataclass(frozen=True, slots=True)
class Words:
    """A sum of words with powers of a number c as coefficients.

    Parameters
    ----------
    terms : frozenset
        ((word, power of c), how often).
    """

    terms: frozenset[tuple[tuple[str, int], int]]

    @classmethod
    def letter(cls, number: int, power: int = 0) -> Words:
        """A matrix, times a power of c."""
        return cls.counted({(chr(number), power): 1})

    @classmethod
    def one(cls) -> Words:
        """The unit matrix, the empty word."""
        return cls.counted({("", 0): 1})

    @classmethod
    def counted(cls, terms: dict[tuple[str, int], int]) -> Words:
        """Return the sum in which each term occurs as often as given."""
        return cls(frozenset(terms.items()))

    def __mul__(self, other: Words) -> Words:
        found = Counter[tuple[str, int]]()
        for (first, power), count in self.terms:
            for (second, more), times in other.terms:
                found[first + second, power + more] += count * times
        return Words.counted(found)

    def __add__(self, other: Words) -> Words:
        return Words.counted(Counter(dict(self.terms)) + Counter(dict(other.terms)))

    @property
    def length(self) -> int:
        """The length of the longest word."""
        return max(len(word) for (word, _), _ in self.terms)

    def degree(self, letter: Words) -> int:
        """How often a letter, not transposed, is in a word, at most."""
        (((name, _), _),) = letter.terms
        return max(word.count(name) for (word, _), _ in self.terms)

    def transpose(self) -> Words:
        """Each word backwards, each letter transposed."""
        return Words.counted({(_transposed_word(word), power): count for (word, power), count in self.terms})


def _transposed_word(word: str) -> str:
    return "".join(chr(ord(letter) ^ _TRANSPOSED) for letter in reversed(word))


class WordSystem(Lightning):
    """The number system of words: matrices are letters, and have no entries."""

    __slots__ = ()

    def matrix(self, rows: object) -> Words:
        """Matrices are made by :meth:`Words.letter`."""
        raise TypeError("a word has no entries")


TOKENS = Words.letter(1)


def layer_of_letters(number: int, heads: int = 1, scaled: bool = False) -> Layer:
    """A layer, counted from 0, of letters; with c·V and A/c in place of those of the first head if ``scaled``."""
    names = [2 + 2 * (number * heads + h) for h in range(heads)]
    powers = [int(scaled and h == 0) for h in range(heads)]
    return tuple(Head(Words.letter(n, -p), Words.letter(n + 1, p)) for n, p in zip(names, powers, strict=True))

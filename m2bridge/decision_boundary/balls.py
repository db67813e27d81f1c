"""Matrices of balls with the operators of NumPy, so that a formula is written once for both.

A ball is an ``arb`` of FLINT: a number that is known up to a radius. What is computed with balls
contains what the exact numbers give. Formulas take NumPy's arrays where a point or a multiplier is
searched for, and ``BallMatrix`` where something is proved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from operator import mul
from typing import Any

import flint
import numpy

AnyNumber = Any
"""A float, or a ball (flint.arb); for lists of critical points also a rational number, or a
polynomial over them.
"""
AnyMatrix = Any
"""A two-dimensional array of floats, or ``BallMatrix``."""
Floats = numpy.ndarray[Any, Any]


class BallMatrix:
    """A matrix of balls."""

    __slots__ = ("entries",)

    def __init__(self, entries: flint.arb_mat) -> None:
        self.entries = entries

    @classmethod
    def of_rows(cls, rows: Sequence[Sequence[AnyNumber]]) -> BallMatrix:
        """A matrix by its rows; integers and floats are exact."""
        return cls(flint.arb_mat(rows) if rows else flint.arb_mat(0, 0))

    @property
    def shape(self) -> tuple[int, int]:
        return self.entries.nrows(), self.entries.ncols()

    @property
    def T(self) -> BallMatrix:
        return BallMatrix(self.entries.transpose())

    def __matmul__(self, other: BallMatrix) -> BallMatrix:
        return BallMatrix(self.entries * other.entries)

    def __add__(self, other: BallMatrix) -> BallMatrix:
        return BallMatrix(self.entries + other.entries)

    def __sub__(self, other: BallMatrix) -> BallMatrix:
        return BallMatrix(self.entries - other.entries)

    def __neg__(self) -> BallMatrix:
        return BallMatrix(self.entries * flint.arb(-1))

    def __rmul__(self, factor: AnyNumber) -> BallMatrix:
        return BallMatrix(self.entries * flint.arb(factor))

    def __getitem__(self, place: tuple[Any, Any]) -> Any:
        """The entry (i, j); or, as [:, [j]], the column j."""
        i, j = place
        if isinstance(j, list):
            return BallMatrix.of_rows([[row[k] for k in j] for row in self.rows()[i]])
        return self.entries[i, j]

    def times_power(self, shift: int) -> BallMatrix:
        """The matrix times 2^shift."""
        return BallMatrix(self.entries * flint.arb(2) ** shift)

    def rows(self) -> list[list[flint.arb]]:
        """The entries, row by row."""
        rows: list[list[flint.arb]] = self.entries.tolist()
        return rows

    def middles(self) -> Floats:
        """The middles of the balls, rounded to floats."""
        middles = [float(x.mid()) for x in self.entries.entries()]
        array: Floats = numpy.array(middles).reshape(self.shape)
        return array


@contextmanager
def working_precision(digits: int) -> Iterator[None]:
    """Compute with balls whose middles have so many binary digits."""
    before = flint.ctx.prec
    flint.ctx.prec = digits
    try:
        yield
    finally:
        flint.ctx.prec = before


def inner(left: AnyMatrix, right: AnyMatrix) -> AnyNumber:
    """The sum of the products of the entries of two matrices of the same shape."""
    if isinstance(left, BallMatrix):
        return sum(map(mul, left.entries.entries(), right.entries.entries()), flint.arb(0))
    return float((left * right).sum())


def root(number: AnyNumber) -> AnyNumber:
    """The square root of a number that is not negative."""
    return number.sqrt() if isinstance(number, flint.arb) else math.sqrt(number)


def stacked(matrices: Sequence[AnyMatrix]) -> AnyMatrix:
    """Matrices of the same width, one above the other."""
    if isinstance(matrices[0], BallMatrix):
        return BallMatrix.of_rows([row for matrix in matrices for row in matrix.rows()])
    return numpy.vstack(matrices)


def columns(matrix: AnyMatrix) -> list[AnyMatrix]:
    """The columns of a matrix, as matrices."""
    if isinstance(matrix, BallMatrix):
        return [BallMatrix.of_rows([[x] for x in column]) for column in matrix.T.rows()]
    return [matrix[:, [k]] for k in range(matrix.shape[1])]


def block_matrix(size: int, block: Callable[[int, int], AnyMatrix]) -> AnyMatrix:
    """The matrix of size × size blocks of the same shape."""
    rows = []
    for k in range(size):
        blocks = [block(k, l) for l in range(size)]
        rows.append(stacked([one.T for one in blocks]).T)
    return stacked(rows)


def symmetric_part(matrix: AnyMatrix) -> AnyMatrix:
    """Half the sum of a matrix and its transpose."""
    return 0.5 * (matrix + matrix.T)


def identity(like: AnyMatrix, size: int) -> AnyMatrix:
    """The identity matrix, of the kind of another matrix."""
    if isinstance(like, BallMatrix):
        return BallMatrix.of_rows(numpy.eye(size).tolist())
    return numpy.eye(size)


def inverse_form(matrix: AnyMatrix) -> Callable[[AnyMatrix], AnyMatrix] | None:
    """The map M ↦ matrix⁻¹ M of a symmetric matrix, if it is proved positive definite, else None.

    With floats nothing is proved, and Cholesky's algorithm decides. With balls an approximate
    inverse L of Cholesky's factor is taken exactly, and the sums of absolute values of the rows of
    L·matrix·Lᵀ − 1 must be less than 1; then all eigenvalues of L·matrix·Lᵀ are positive.
    """
    if not isinstance(matrix, BallMatrix):
        if not numpy.isfinite(matrix).all():
            return None
        try:
            numpy.linalg.cholesky(symmetric_part(matrix))
        except numpy.linalg.LinAlgError:
            return None
        inverse_of_floats = numpy.linalg.inv(matrix)
        return lambda right: inverse_of_floats @ right
    approximate = inverse_form_factor(matrix.middles())
    if approximate is None:
        return None
    factor = BallMatrix.of_rows(approximate.tolist())
    rest = factor @ matrix @ factor.T - identity(matrix, matrix.shape[0])
    if not all(_sum_of_sizes(row) < 1 for row in rest.rows()):
        return None
    inverse = BallMatrix(matrix.entries.inv())
    return lambda right: inverse @ right


def inverse_form_factor(matrix: Floats) -> Floats | None:
    """The inverse of Cholesky's factor of a matrix of floats, or None if there is none."""
    try:
        inverse: Floats = numpy.linalg.inv(numpy.linalg.cholesky(symmetric_part(matrix)))
    except numpy.linalg.LinAlgError:
        return None
    return inverse


def _sum_of_sizes(row: Iterable[flint.arb]) -> flint.arb:
    return sum((abs(x) for x in row), flint.arb(0))

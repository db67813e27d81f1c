"""Quadratic forms over QQ that measure distances, and how they and data points are read.

What is not exact, or not over QQ, is a ConversionError; what does not fit an InvalidCaseError.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import flint

from m2bridge.algebra.numbers import fraction
from m2bridge.algebra.ring import PolynomialRing, is_homogeneous, total_degree
from m2bridge.convert.bounded_io import read_rational
from m2bridge.convert.parsing import check_field, element
from m2bridge.convert.printing import polynomial_text
from m2bridge.errors import ConversionError, InvalidCaseError, elements

FormRows = tuple[tuple[Fraction, ...], ...]
"""The rows of a square matrix."""


@dataclass(frozen=True, slots=True)
class DistanceForm:
    """A nondegenerate quadratic form q(x) = xᵀ M x over QQ."""

    matrix: FormRows  # M, which is symmetric
    text: str  # as a polynomial

    @property
    def is_standard(self) -> bool:
        """Whether the form is the sum of the squares of the coordinates."""
        return self.matrix == _identity(len(self.matrix))

    def value_at(self, vector: Sequence[Fraction]) -> Fraction:
        """Return the value of the form at a vector."""
        total = Fraction(0)
        for row, x in zip(self.matrix, vector, strict=True):
            total += x * sum(c * y for c, y in zip(row, vector, strict=True))
        return total

    def in_scaled_coordinates(self, denominators: Sequence[int]) -> DistanceForm:
        """Return the form in new coordinates y_i = d_i x_i for positive integers d_i, here those by
        which the images of a map are multiplied. The matrix has the entries M_ij / (d_i d_j).
        """
        rows = []
        for row, d_i in zip(self.matrix, denominators, strict=True):
            entries = zip(row, denominators, strict=True)
            rows.append(tuple(entry / (d_i * d_j) for entry, d_j in entries))
        # the text remains the form in the coordinates x
        return DistanceForm(tuple(rows), self.text)

    @property
    def integer_rows(self) -> list[list[int]]:
        """The rows of a positive multiple of M with integer entries, which has the same critical
        points.
        """
        scale = lcm(*(c.denominator for row in self.matrix for c in row))
        return [[int(c * scale) for c in row] for row in self.matrix]


def read_quadratic(value: Any, ring: PolynomialRing) -> DistanceForm:
    """Return the quadratic form that a value defines, in the variables of a ring over QQ: a
    polynomial that :func:`m2bridge.ideal` takes, the rows of a symmetric matrix, or ``None`` for
    the sum of the squares.
    """
    size = len(ring.variables)
    if value is None:
        matrix = _identity(size)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        matrix = tuple(read_numbers(row, "quadratic", size) for row in value)
        columns = tuple(zip(*matrix, strict=True))
        if len(matrix) != size or matrix != columns:
            raise InvalidCaseError("quadratic", f"must be a symmetric {size} × {size} matrix")
    else:
        check_field(value, ring.field)
        matrix = _matrix_of(element(ring, value), size)
    form = DistanceForm(matrix, _form_text(matrix, ring))
    # the integer rows are a multiple of the matrix, which has the same rank; without
    # variables there is no matrix, and nothing that could be singular
    rank = flint.fmpz_mat(form.integer_rows).rank() if size else 0
    if rank < size:
        raise InvalidCaseError(
            "quadratic",
            f"{form.text} is singular, of rank {rank} in {size} variables: critical points come in"
            f" families; give a form of rank {size}",
        )
    return form


def _identity(size: int) -> FormRows:
    """Return the rows of the identity matrix."""
    return tuple(tuple(Fraction(i == j) for j in range(size)) for i in range(size))


def _matrix_of(polynomial: Any, size: int) -> FormRows:
    """Return the symmetric matrix of a quadratic form, given as a polynomial in ``size``
    variables.
    """
    if not is_homogeneous(polynomial) or total_degree(polynomial) != 2:
        text = polynomial_text(polynomial)
        raise InvalidCaseError(
            "quadratic", f"{text:.60} is not a homogeneous polynomial of degree 2"
        )
    rows = [[Fraction(0)] * size for _ in range(size)]
    for monomial, coefficient in polynomial.terms():
        # the monomial is x_i x_j; the index i is listed twice for x_i^2
        indices: list[int] = []
        for index, exponent in enumerate(monomial):
            indices += [index] * exponent
        i, j = indices
        # half of the coefficient at each of the two places; for i = j they are one place
        rows[i][j] += fraction(coefficient) / 2
        rows[j][i] += fraction(coefficient) / 2
    return tuple(map(tuple, rows))


def _form_text(matrix: FormRows, ring: PolynomialRing) -> str:
    """Return the quadratic form of a symmetric matrix as the text of a polynomial in the ring."""
    terms: dict[tuple[int, ...], Any] = {}
    for i, row in enumerate(matrix):
        for j, entry in enumerate(row[: i + 1]):  # j ≤ i: the matrix is symmetric
            exponents = [0] * len(matrix)
            exponents[i] += 1
            exponents[j] += 1
            if entry:
                terms[tuple(exponents)] = ring.number(entry if i == j else 2 * entry)
    return polynomial_text(ring.sympy_ring.from_dict(terms))


def read_numbers(values: Any, option: str, size: int) -> tuple[Fraction, ...]:
    """Return exact rational numbers, as many as there are coordinates, from a sequence of numbers
    or texts, or one text such as ``"[1, 2/3]"``; ``option`` is the argument in messages.
    """
    if isinstance(values, str):
        values = values.strip().removeprefix("[").removesuffix("]").split(",")
    numbers = []
    for value in elements(option, values, "a list of numbers"):
        if isinstance(value, str):
            numbers.append(read_rational(value.strip()))
        elif hasattr(value, "numerator") and hasattr(value, "denominator"):
            numbers.append(fraction(value))
        else:
            raise ConversionError(f"{value!r:.60} is not exact: give integers or fractions")
    if len(numbers) != size:
        raise InvalidCaseError(option, f"{len(numbers)} numbers for {size} coordinates")
    return tuple(numbers)

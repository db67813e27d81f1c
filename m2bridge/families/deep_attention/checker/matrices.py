"""Products of matrices of numbers or polynomials, as lists of rows, and the numbers of a seed.

*Notation.* A matrix is the list of its rows, each a list of entries, which may be of any ring:
integers, polynomials, dual numbers. A column vector is a matrix with rows of one entry.
"""

from collections.abc import Iterator
from typing import Any

Matrix = list[list[Any]]


def product(*factors: Matrix) -> Matrix:
    """The product of one or more matrices, multiplied from the left to the right."""
    result, *next_factors = factors
    for factor in next_factors:
        columns = list(zip(*factor, strict=True))
        result = [_row_times(row, columns) for row in result]
    return result


def _row_times(row: list[Any], columns: list[tuple[Any, ...]]) -> list[Any]:
    """The product of a row with a matrix that has these columns."""
    return [_entry(row, column) for column in columns]


def _entry(row: list[Any], column: tuple[Any, ...]) -> Any:
    """The product of a row and a column: the sum of the products of their entries."""
    return sum(x * y for x, y in zip(row, column, strict=True))


def transposed(A: Matrix) -> Matrix:
    """The matrix whose rows are the columns of A."""
    return [list(column) for column in zip(*A, strict=True)]


def minimal_standard(state: int) -> Iterator[int]:
    """Yield the states that follow ``state`` in the minimal standard generator, without end.

    A state x is followed by 48271·x modulo the prime 2³¹ − 1 (Park, Miller 1993).
    """
    while True:
        state = state * 48271 % (2**31 - 1)
        yield state

"""Products of matrices of numbers or polynomials, as lists of rows, and the numbers of a seed."""

from collections.abc import Iterator
from typing import Any

Matrix = list[list[Any]]


def product(*factors: Matrix) -> Matrix:
    """The product of matrices."""
    result, *others = factors
    for B in others:
        columns = list(zip(*B, strict=True))
        result = [[_entry(row, column) for column in columns] for row in result]
    return result


def _entry(row: list[Any], column: tuple[Any, ...]) -> Any:
    return sum(x * y for x, y in zip(row, column, strict=True))


def transposed(A: Matrix) -> Matrix:
    """The matrix whose rows are the columns of A."""
    return [list(column) for column in zip(*A, strict=True)]


def minimal_standard(state: int) -> Iterator[int]:
    """The states after this one of the minimal standard generator (Park, Miller 1993)."""
    while True:
        state = state * 48271 % (2**31 - 1)
        yield state

"""Products of matrices, which are lists of rows, with entries of any ring."""

from typing import Any

Matrix = list[list[Any]]


def product(*factors: Matrix) -> Matrix:
    """The product of one or more matrices, multiplied from the left to the right."""
    result, *next_factors = factors
    for factor in next_factors:
        columns = list(zip(*factor, strict=True))
        result = [
            [sum(x * y for x, y in zip(row, column, strict=True)) for column in columns]
            for row in result
        ]
    return result


def transposed(A: Matrix) -> Matrix:
    """The matrix whose rows are the columns of A."""
    return [list(column) for column in zip(*A, strict=True)]

"""Integer vectors: kernels of integer matrices, and short vectors with a given span, by FLINT."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

import flint

from m2bridge.algebra.linear_algebra import elimination_price
from m2bridge.clock import check

Vector = tuple[int, ...]


def integer_kernel(rows: Sequence[Vector], width: int) -> list[Vector]:
    """Integer vectors that form a QQ-basis of the common kernel of the rows."""
    if not rows:
        return [tuple(int(i == j) for j in range(width)) for i in range(width)]
    check(4 * elimination_price(len(rows), width))
    matrix, nullity = flint.fmpz_mat([list(row) for row in rows]).nullspace()
    return [tuple(int(matrix[i, j]) for i in range(width)) for j in range(nullity)]


def short_basis(rows: Sequence[Vector]) -> list[Vector]:
    """Short independent integer vectors with the same QQ-span."""
    if not rows:
        return []
    check(4 * elimination_price(len(rows), len(rows[0])))
    matrix = flint.fmpz_mat([list(row) for row in rows])
    echelon, _, height = matrix.rref()
    primitive = []
    for i in range(height):
        row = [int(echelon[i, j]) for j in range(len(rows[0]))]
        content = gcd(*row)
        primitive.append([entry // content for entry in row])
    if not primitive:
        return []
    short = flint.fmpz_mat(primitive).lll()
    return [tuple(int(entry) for entry in row) for row in short.tolist()]

"""Values and gradients of a polynomial network modulo a prime, by the chain rule."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from operator import mul

Row = Sequence[int]
Matrix = list[Row]


def matrices(widths: Row, parameters: Row) -> list[Matrix]:
    """The weights as matrices W_1, …, W_l; they are listed row by row."""
    result, start = [], 0
    for before, after in pairwise(widths):
        stop = start + before * after
        result.append([parameters[i : i + before] for i in range(start, stop, before)])
        start = stop
    return result


def output(weights: Sequence[Matrix], degree: int, x: Row, prime: int) -> list[int]:
    """The outputs at x."""
    sums = _product(weights[0], x, prime)
    for matrix in weights[1:]:
        sums = _product(matrix, [pow(z, degree, prime) for z in sums], prime)
    return sums


def gradient(weights: Sequence[Matrix], degree: int, x: Row, covector: Row, prime: int) -> list[int]:
    """The gradient of ⟨g, output(x)⟩ with respect to all weights.

    Forward: z_i = W_i y_{i−1}, y_i = z_i^r. Backward, from g_l = g: the derivative with respect to W_i is g_i y_{i−1}ᵀ,
    and g_{i−1} = r z_{i−1}^(r−1) ∘ W_iᵀ g_i.
    """
    entering, slopes = [list(x)], []
    for matrix in weights[:-1]:
        powers = [(z, pow(z, degree - 1, prime)) for z in _product(matrix, entering[-1], prime)]
        entering.append([z * power % prime for z, power in powers])
        slopes.append([degree * power % prime for _, power in powers])
    blocks: list[list[int]] = []
    g = list(covector)
    for i in range(len(weights) - 1, -1, -1):
        blocks.append([entry * y % prime for entry in g for y in entering[i]])
        if i:
            columns = zip(*weights[i], strict=True)
            g = [slope * sum(map(mul, column, g)) % prime for slope, column in zip(slopes[i - 1], columns, strict=True)]
    return [entry for block in reversed(blocks) for entry in block]


def _product(matrix: Matrix, vector: Row, prime: int) -> list[int]:
    return [sum(map(mul, row, vector)) % prime for row in matrix]

"""Deep attention once more, from its definition alone: values in SymPy, and Jacobian matrices over
QQ by tangents.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import Any

import flint
from sympy import Matrix, zeros

Heads = list[dict[str, Any]]
_NUMBERS = [*range(-50, 0), *range(1, 51)]
"""Among few small numbers too many weights are special."""


def random_weights(
    widths: Sequence[int], a: Sequence[int], heads: int, random: Random
) -> list[Heads]:
    """K, Q and V of each head of each layer, with integer entries other than 0; K and Q whatever a
    is.
    """

    def matrix(rows: int, columns: int) -> Any:
        return flint.fmpz_mat(
            [[random.choice(_NUMBERS) for _ in range(columns)] for _ in range(rows)]
        )

    return [
        [
            {"K": matrix(rank, before), "Q": matrix(rank, before), "V": matrix(after, before)}
            for _ in range(heads)
        ]
        for (before, after), rank in zip(pairwise(widths), a, strict=True)
    ]


def jacobian_rank(
    widths: Sequence[int],
    a: Sequence[int],
    t: int,
    heads: int = 1,
    skip: bool = False,
    inputs: int = 0,
    seed: int = 5,
) -> int:
    """The rank over QQ of the differential of (K, Q, V) ↦ (φ(X_1), φ(X_2), …), the weights and all
    X_i random.
    """
    random = Random(seed)
    weights = random_weights(widths, a, heads, random)
    places = [
        (k, h, name, i, j)
        for k, layer in enumerate(weights)
        for h, head in enumerate(layer)
        for name, matrix in head.items()
        for i in range(matrix.nrows())
        for j in range(matrix.ncols())
    ]
    columns: list[list[int]] = [[] for _ in places]
    for _ in range(inputs or len(places) // 2 + 2):
        X = flint.fmpz_mat([[random.choice(_NUMBERS) for _ in range(t)] for _ in range(widths[0])])
        combinations = [[random.randrange(-9, 10) for _ in range(widths[-1] * t)] for _ in range(2)]
        for column, place in zip(columns, places, strict=True):
            moved = tangent(weights, X, place, skip).entries()
            column += [sum(int(c * y) for c, y in zip(g, moved, strict=True)) for g in combinations]
    return int(flint.fmpz_mat(columns).rank())


def tangent(weights: list[Heads], X: Any, place: tuple[int, int, str, int, int], skip: bool) -> Any:
    """The derivative of φ(X) in the direction of one weight, by the product rule."""
    k0, h0, name0, i0, j0 = place
    Y, dY = X, 0 * X
    for k, layer in enumerate(weights):
        total, dtotal = (Y, dY) if skip else (None, None)
        for h, head in enumerate(layer):
            d = {name: 0 * matrix for name, matrix in head.items()}
            if (k, h) == (k0, h0):
                d[name0][i0, j0] = 1
            K, Q, V = head["K"], head["Q"], head["V"]
            left, right = K * Y, Q * Y
            dleft, dright = d["K"] * Y + K * dY, d["Q"] * Y + Q * dY
            scores = left.transpose() * right
            dscores = dleft.transpose() * right + left.transpose() * dright
            out = V * Y * scores
            dout = d["V"] * Y * scores + V * dY * scores + V * Y * dscores
            total, dtotal = (out, dout) if total is None else (total + out, dtotal + dout)
        Y, dY = total, dtotal
    return dY


def softmax_rank(
    widths: Sequence[int], a: Sequence[int], t: int, inputs: int, seed: int = 5
) -> int:
    """The rank modulo a prime of the differential for one head, softmax and tokens x, y, …, y.

    The exponentials of scores are numbers of their own, random for each input: they are independent
    of each other and of the tokens (Ax 1971). A gradient is a linear form of the tangents of one
    random input.
    """
    random, p = Random(seed), 2**31 - 1
    weights = [
        {
            name: _modulo(p, random, *size)
            for name, size in {"K": (r, m), "Q": (r, m), "V": (n, m)}.items()
        }
        for (m, n), r in zip(pairwise(widths), a, strict=True)
    ]
    places = [
        (k, name, i, j)
        for k, layer in enumerate(weights)
        for name, matrix in layer.items()
        for i in range(matrix.nrows())
        for j in range(matrix.ncols())
    ]
    rows = []
    for _ in range(inputs):
        X, form = (
            _modulo(p, random, widths[0], 2),
            [random.randrange(p) for _ in range(2 * widths[-1])],
        )
        seen = [
            (e, pow(e + t - 1, -1, p))
            for e in (random.randrange(1, p - t) for _ in range(2 * len(a)))
        ]
        parts = [e * inverse % p for e, inverse in seen]
        tangents = (_softmax_tangent(p, weights, X, parts, place).entries() for place in places)
        rows.append(
            [sum(c * int(y) for c, y in zip(form, moved, strict=True)) % p for moved in tangents]
        )
    return int(flint.nmod_mat(rows, p).rank())


def _softmax_tangent(
    p: int, weights: list[dict[str, Any]], X: Any, parts: list[int], place: Any
) -> Any:
    """Tokens y + π(z)δ for z = x, y, with δ = x − y and dπ = π(1 − π)dζ, ζ = δᵀKᵀQz; by the product
    rule.
    """
    apart, last = flint.nmod_mat([[1], [p - 1]], p), flint.nmod_mat([[0, 0], [1, 1]], p)
    Y, dY = X, 0 * X
    for k, layer in enumerate(weights):
        d = {name: 0 * matrix for name, matrix in layer.items()}
        if k == place[0]:
            d[place[1]][place[2], place[3]] = 1
        K, Q, V = layer["K"], layer["Q"], layer["V"]
        delta, ddelta = Y * apart, dY * apart
        left, dleft = (K * delta).transpose(), (d["K"] * delta + K * ddelta).transpose()
        dscores = dleft * (Q * Y) + left * (d["Q"] * Y + Q * dY)
        share = parts[2 * k : 2 * k + 2]
        dshare = [int(z) * q * (1 - q) % p for z, q in zip(dscores.entries(), share, strict=True)]
        pi, dpi = flint.nmod_mat([share], p), flint.nmod_mat([dshare], p)
        out, dout = Y * last + delta * pi, dY * last + ddelta * pi + delta * dpi
        Y, dY = V * out, d["V"] * out + V * dout
    return dY


def _modulo(p: int, random: Random, rows: int, columns: int) -> Any:
    return flint.nmod_mat(
        [[random.randrange(1, p) for _ in range(columns)] for _ in range(rows)], p
    )


def value(weights: list[Heads], X: Sequence[Sequence[int]], skip: bool) -> list[list[int]]:
    """φ(X) by SymPy."""
    Y = Matrix(X)
    for layer in weights:
        heads = [{name: as_sympy(matrix) for name, matrix in head.items()} for head in layer]
        start = Y if skip else zeros(heads[0]["V"].rows, Y.cols)
        Y = sum((head["V"] * Y * Y.T * head["K"].T * head["Q"] * Y for head in heads), start)
    return [[int(entry) for entry in Y.row(i)] for i in range(Y.rows)]


def as_sympy(matrix: Any) -> Matrix:
    """A matrix of FLINT as one of SymPy."""
    return Matrix(matrix.nrows(), matrix.ncols(), list(map(int, matrix.entries())))


def flattened(weights: list[Heads], widths: Sequence[int]) -> list[int]:
    """The weights as the parameters of the model: A = KᵀQ instead of K and Q where a_k ≥
    d_{k−1}.
    """
    entries: list[Any] = []
    for before, layer in zip(widths, weights, strict=False):
        for head in layer:
            if head["K"].nrows() >= before:
                entries += (head["K"].transpose() * head["Q"]).entries()
            else:
                entries += head["K"].entries() + head["Q"].entries()
            entries += head["V"].entries()
    return list(map(int, entries))

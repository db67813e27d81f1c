"""Weights of one function as exact matrices: A = KᵀQ is multiplied out exactly, floating-point numbers are dyadic."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isfinite, sqrt
from struct import pack, unpack
from typing import Any

from mpmath import mp
from sympy import Matrix, Rational

from m2bridge.errors import InvalidCaseError
from m2bridge.families.attention.shape import ROUNDINGS, Shape, rank_words

_DIGITS = 40
_MOST = 64
"""Columns of an A whose singular values are computed with so many digits."""

TAKEN = "the floating-point numbers are taken exactly, as the dyadic rationals that they are"


def exact_weights(model: Shape, given: dict[str, Any], weights: Sequence[Any] | None) -> tuple[Matrix, Matrix, str]:
    """A and V as exact matrices, and a remark about the numbers; empty if there is nothing to say.

    Parameters
    ----------
    given : dict
        Matrices by the letters K, Q, A, V; ``None`` for those that are not given.
    weights : sequence, optional
        (A, V) or (K, Q, V) in their place.

    Raises
    ------
    InvalidCaseError
        If they are not K, Q and V, or A and V, or do not have the shapes of the model.
    """
    letters = {letter: value for letter, value in given.items() if value is not None}
    if weights is not None and not letters and isinstance(weights, Sequence) and len(weights) in (2, 3):
        letters = dict(zip("AV" if len(weights) == 2 else "KQV", weights, strict=True))
    if set(letters) not in ({"K", "Q", "V"}, {"A", "V"}):
        named = ", ".join(letters) or repr(weights)[:60]
        raise InvalidCaseError("weights", f"give K, Q and V, or A and V; not {named}")
    sizes = {"K": model.a, "Q": model.a, "A": model.d, "V": model.d_out}
    found = {letter: exact_matrix(letter, value, sizes[letter], model.d) for letter, value in letters.items()}
    matrices = {letter: matrix for letter, (matrix, _) in found.items()}
    A = matrices["A"] if "A" in matrices else matrices["K"].T * matrices["Q"]
    remarks = [TAKEN] if any(inexact for _, inexact in found.values()) else []
    return A, matrices["V"], "; ".join([*remarks, *_about_rank(A, model)])


def exact_matrix(name: str, value: Any, rows: int, columns: int) -> tuple[Matrix, bool]:
    """A matrix of rational numbers from lists, arrays, tensors or SymPy, and whether a number was a float.

    Raises
    ------
    InvalidCaseError
        If it has another shape, or an entry is no finite real number.
    """
    listed = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(listed, Sequence) or any(not isinstance(row, Sequence) for row in listed):
        raise InvalidCaseError(name, f"a list of {rows} rows with {columns} numbers each, not {value!r:.60}")
    lengths = {len(row) for row in listed}
    if len(listed) != rows or lengths != {columns}:
        shape = f"{len(listed)} × {'/'.join(map(str, sorted(lengths)))}"
        turned = "; is it transposed?" if (rows, columns) == (max(lengths, default=0), len(listed)) else ""
        raise InvalidCaseError(name, f"is {shape}, not {rows} × {columns}{turned}")
    entries = [entry for row in listed for entry in row]
    exact = [_rational(name, entry) for entry in entries]
    return Matrix(rows, columns, exact), any(isinstance(entry, float) for entry in entries)


def _rational(name: str, entry: Any) -> Rational:
    if isinstance(entry, float) and not isfinite(entry):
        raise InvalidCaseError(name, f"{entry} is no finite number")
    if isinstance(entry, bool | str) or not (isinstance(entry, float) or hasattr(entry, "numerator")):
        raise InvalidCaseError(name, f"{entry!r:.60} is not a number")
    value = Fraction(entry) if isinstance(entry, float) else entry
    return Rational(int(value.numerator), int(value.denominator))


def _about_rank(A: Matrix, model: Shape) -> list[str]:
    """What to say of an A whose rank is larger than a; whether rounding explains it is found numerically."""
    rank = A.rank()
    if rank <= model.alpha:
        return []
    if model.d > _MOST:
        return [rank_words(rank, model.a, 1.0, False)]
    with mp.workdps(_DIGITS):
        entries = [[mp.mpf(int(x.p)) / int(x.q) for x in A.row(i)] for i in range(A.rows)]
        values = sorted(mp.svd_r(mp.matrix(entries), compute_uv=False), reverse=True)
        distance = float(mp.norm(values[model.alpha :]) / mp.norm(values))
    return [rank_words(rank, model.a, distance, distance <= ROUNDINGS * sqrt(model.d) * _precision(A))]


def _precision(A: Matrix) -> float:
    """The precision of float32 if all entries are such numbers and not all are integers; else that of float64."""
    numbers = [float(entry) for entry in A]
    try:
        single = all(unpack("f", pack("f", number))[0] == number for number in numbers)
    except OverflowError:
        single = False
    return 2.0**-23 if single and not all(entry.q == 1 for entry in A) else 2.0**-52

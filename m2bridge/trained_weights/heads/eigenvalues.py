"""The least of the largest eigenvalues of λM + (1 − λ)N, 0 ≤ λ ≤ 1, of two symmetric matrices.

They are positive semidefinite of trace 1, so that tolerances for eigenvalues are absolute.

The largest eigenvalue is a convex function of λ, and tangents of a convex function are below it.
Small matrices are treated as a whole. Of large ones the eigenvalues on a subspace are at most those
of the whole space, which gives a lower bound. The subspace is enlarged by powers of λM + (1 − λ)N
for the best λ there, applied to its eigenvector (Krylov), until this is nearly an eigenvector of
the whole. That the largest eigenvalue of the whole for this λ is at most a number is shown by a
Cholesky decomposition, which gives the upper bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy

EPSILON = 2.0**-52
"""The precision of double precision."""
_LARGE = 400
"""Largest eigenvalues of matrices with more rows are found in subspaces, which is faster then."""
_GAP = 1e-11
"""The distance of an eigenvalue in a subspace to its upper bound below which no digit is gained any
more.
"""


def least_largest_eigenvalue(M: Any, N: Any) -> tuple[float, float]:
    """Return a lower and an upper bound for the least of the largest eigenvalues."""
    if len(M) <= _LARGE:
        lower, tangent = _by_tangents(M, N)
        return lower, tangent.value
    # Any first subspace will do: here three columns span it.
    columns = numpy.stack([M[0] + N[0], M.sum(axis=0), N.sum(axis=0)], axis=1)
    basis, _ = numpy.linalg.qr(columns)
    for _ in range(12):  # three enlargements are the rule
        lower, tangent = _by_tangents(basis.T @ M @ basis, basis.T @ N @ basis)
        whole = tangent.weight * M + (1 - tangent.weight) * N
        v = basis @ tangent.vector
        # The largest eigenvalue on the subspace: the one of the whole is at least this.
        value = float(v @ whole @ v)
        # The error of an eigenvalue is about the square of the residual of its eigenvector.
        if numpy.linalg.norm(whole @ v - value * v) <= sqrt(_GAP * value):
            break
        basis = _with_powers(basis, whole, v, value)
    # All eigenvalues are less than b if b·1 − whole is positive definite. The loop ends: a margin
    # of more than the error of ``value`` and of rounding suffices.
    margin = _GAP
    while not _is_positive((value + margin) * numpy.identity(len(whole)) - whole):
        margin *= 10
    # Only by rounding is ``value``, the largest eigenvalue at one λ, less than the lower bound.
    return min(lower, value), value + margin


def _with_powers(basis: Any, matrix: Any, v: Any, value: float) -> Any:
    """Return an orthonormal basis, as columns, of the span of ``basis`` and of powers of a
    symmetric matrix, applied to a vector v of this span; ``value`` is about its largest eigenvalue.
    """
    for _ in range(30):
        v = matrix @ v
        for _ in range(2):  # once is not orthogonal enough
            v = v - basis @ (basis.T @ v)
        norm = numpy.linalg.norm(v)
        if norm <= EPSILON * value:  # the subspace is invariant
            break
        v = v / norm
        basis = numpy.column_stack([basis, v])
    return basis


def _is_positive(matrix: Any) -> bool:
    """Return whether a symmetric matrix is positive definite, in floating-point numbers."""
    try:
        numpy.linalg.cholesky(matrix)
    except numpy.linalg.LinAlgError:
        return False
    return True


@dataclass(frozen=True, slots=True, eq=False)
class _Tangent:
    """The tangent of the largest eigenvalue of λM + (1 − λ)N, as a function of λ."""

    weight: float  # λ
    value: float  # the eigenvalue
    slope: float  # its derivative vᵀ(M − N)v; a subgradient where it is multiple
    vector: Any  # the unit eigenvector v

    @classmethod
    def at(cls, weight: float, M: Any, N: Any) -> _Tangent:
        """Return the tangent at λ = ``weight``."""
        values, vectors = numpy.linalg.eigh(weight * M + (1 - weight) * N)
        v = vectors[:, -1]  # of the largest eigenvalue, as eigh has them in increasing order
        return cls(weight=weight, value=float(values[-1]), slope=float(v @ (M - N) @ v), vector=v)


def _by_tangents(M: Any, N: Any) -> tuple[float, _Tangent]:
    """Return a lower bound for the least value of the largest eigenvalue, and the tangent at the λ
    with the least value that was tried, an upper bound.

    The height at which the tangents at both ends of an interval cross is a lower bound. The next λ,
    ``weight``, is the place where they cross; it becomes an end of the interval.
    """
    left, right = _Tangent.at(0.0, M, N), _Tangent.at(1.0, M, N)
    best = min(left, right, key=lambda tangent: tangent.value)
    lower = 0.0  # replaced in the first step, unless that returns
    for _ in range(60):  # each tangent halves the interval, or better
        # The function grows, or falls, on the whole interval: the least value is at an end.
        if left.slope >= 0 or right.slope <= 0:
            return best.value, best
        # value + slope·(λ − weight) is equal for both.
        difference = right.value - left.value + left.slope * left.weight
        difference -= right.slope * right.weight
        crossing = difference / (left.slope - right.slope)
        # Rounding may take it out of the interval.
        weight = min(max(crossing, left.weight), right.weight)
        lower = left.value + left.slope * (weight - left.weight)
        if best.value - lower <= EPSILON:
            break
        tangent = _Tangent.at(weight, M, N)
        best = min(best, tangent, key=lambda tangent: tangent.value)
        # Where the function grows at the new λ, its least value is to the left of it.
        if tangent.slope >= 0:
            right = tangent
        else:
            left = tangent
    return lower, best

"""The least of the largest eigenvalues of λM + (1 − λ)N, 0 ≤ λ ≤ 1, of two symmetric matrices.

They are positive semidefinite of trace 1, so that tolerances for eigenvalues are absolute.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

import numpy

EPSILON = 2.0**-52
"""The precision of double precision."""
_LARGE = 400
"""Largest eigenvalues of matrices with more rows are found in subspaces, which is faster then."""
_MAX_ENLARGEMENTS = 12
"""The largest number of times that a subspace is enlarged; three times are the rule."""
_KRYLOV_STEPS = 30
"""The number of vectors by which it is enlarged."""
_GAP = 1e-11
"""The distance of an eigenvalue in a subspace to its upper bound below which no digit is gained any
more.
"""
_MAX_TANGENTS = 60
"""The largest number of tangents of a convex function: each halves the interval, or better."""


def least_largest_eigenvalue(M: Any, N: Any) -> tuple[float, float]:
    """Return a lower and an upper bound for the least of the largest eigenvalues of λM + (1 − λ)N,
    0 ≤ λ ≤ 1, of symmetric matrices M and N.

    Small matrices are treated as a whole. Of large ones the eigenvalues on a subspace are at most
    those of the whole space, which gives the lower bound. The subspace is enlarged by powers of
    λM + (1 − λ)N for the best λ there, applied to its eigenvector (Krylov), until this is nearly an
    eigenvector of the whole. That the largest eigenvalue of the whole for this λ is at most a
    number is shown by a Cholesky decomposition, which gives the upper bound.
    """
    if len(M) <= _LARGE:
        least = _by_tangents(M, N)
        return least.lower, least.tangent.value
    # Any first subspace will do: here it is that of three columns.
    columns = numpy.stack([M[0] + N[0], M.sum(axis=0), N.sum(axis=0)], axis=1)
    basis, _ = numpy.linalg.qr(columns)
    for _ in range(_MAX_ENLARGEMENTS):
        least = _by_tangents(basis.T @ M @ basis, basis.T @ N @ basis)
        weight = least.tangent.weight
        whole = weight * M + (1 - weight) * N
        v = basis @ least.tangent.vector
        # The largest eigenvalue on the subspace: that of the whole is at least this.
        value = float(v @ whole @ v)
        # The error of an eigenvalue is about the square of the residual of its eigenvector.
        if numpy.linalg.norm(whole @ v - value * v) <= sqrt(_GAP * value):
            break
        basis = _with_powers(basis, whole, v, value)
    # Only by rounding is ``value``, the largest eigenvalue at one λ, less than the lower bound.
    return min(least.lower, value), _bound_of_eigenvalues(whole, value)


def _with_powers(basis: Any, matrix: Any, v: Any, value: float) -> Any:
    """Return an orthonormal basis, as columns, of the span of the orthonormal columns of ``basis``
    and of the vectors that a symmetric matrix makes of v: up to 30 powers of it, applied to v.

    ``v`` is in the span, and ``value`` is about the largest eigenvalue of the matrix. A vector that
    is shorter than rounding against this value adds nothing, and ends the powers.
    """
    for _ in range(_KRYLOV_STEPS):
        v = matrix @ v
        for _ in range(2):  # once is not orthogonal enough
            v = v - basis @ (basis.T @ v)
        norm = numpy.linalg.norm(v)
        if norm <= EPSILON * value:  # the subspace is invariant
            break
        v = v / norm
        basis = numpy.column_stack([basis, v])
    return basis


def _bound_of_eigenvalues(matrix: Any, value: float) -> float:
    """Return an upper bound for all eigenvalues of a symmetric matrix, not far above ``value``,
    which is about the largest one: all are less than b if b·1 − matrix is positive definite.
    """
    # The loop ends: a margin of more than the error of ``value`` and of rounding suffices.
    margin = _GAP
    while not _is_positive((value + margin) * numpy.identity(len(matrix)) - matrix):
        margin *= 10
    return value + margin


def _is_positive(matrix: Any) -> bool:
    """Whether a symmetric matrix is positive definite, in floating-point numbers."""
    try:
        numpy.linalg.cholesky(matrix)
    except numpy.linalg.LinAlgError:
        return False
    return True


class _LeastByTangents(NamedTuple):
    """What tangents say of the least value of the largest eigenvalue of λM + (1 − λ)N, 0 ≤ λ ≤ 1.

    ``lower`` is a lower bound for it. ``tangent`` is that at the best λ that was tried: its value
    is an upper bound, and its vector the unit eigenvector there.
    """

    lower: float
    tangent: _Tangent


def _by_tangents(M: Any, N: Any) -> _LeastByTangents:
    """Return a lower bound for the least value of the largest eigenvalue of λM + (1 − λ)N,
    0 ≤ λ ≤ 1, and the tangent at the λ with the least value that was found, an upper bound.

    The largest eigenvalue is a convex function of λ, and tangents of a convex function are below
    it: the height at which those at both ends of an interval cross is a lower bound. The next λ,
    ``weight``, is the place where they cross; it becomes an end of the interval.
    """
    left, right = _Tangent.at(0.0, M, N), _Tangent.at(1.0, M, N)
    best = min(left, right, key=lambda tangent: tangent.value)
    lower = 0.0  # replaced in the first step, unless that returns
    for _ in range(_MAX_TANGENTS):
        # The function grows, or falls, on the whole interval: the least value is at an end.
        if left.slope >= 0 or right.slope <= 0:
            return _LeastByTangents(lower=best.value, tangent=best)
        # Rounding may take the place where they cross out of the interval.
        weight = min(max(left.crossing(right), left.weight), right.weight)
        lower = left.value + left.slope * (weight - left.weight)
        if best.value - lower <= EPSILON:
            break
        found = _Tangent.at(weight, M, N)
        best = min(best, found, key=lambda tangent: tangent.value)
        # Where the function grows at the new λ, its least value is to the left of it.
        if found.slope >= 0:
            right = found
        else:
            left = found
    return _LeastByTangents(lower=lower, tangent=best)


@dataclass(frozen=True, slots=True, eq=False)
class _Tangent:
    """The tangent of the largest eigenvalue of λM + (1 − λ)N, as a function of λ.

    Parameters
    ----------
    weight : float
        λ.
    value, slope : float
        The largest eigenvalue at λ, and its derivative with respect to λ, vᵀ(M − N)v; a
        subgradient where the eigenvalue is multiple.
    vector : array
        The unit eigenvector v.
    """

    weight: float
    value: float
    slope: float
    vector: Any

    @classmethod
    def at(cls, weight: float, M: Any, N: Any) -> _Tangent:
        """Return the tangent at λ = ``weight``."""
        values, vectors = numpy.linalg.eigh(weight * M + (1 - weight) * N)
        v = vectors[:, -1]  # of the largest eigenvalue, as eigh has them in increasing order
        return cls(weight=weight, value=float(values[-1]), slope=float(v @ (M - N) @ v), vector=v)

    def crossing(self, other: _Tangent) -> float:
        """Return the λ at which this tangent and the ``other``, of a different slope, have the same
        height.
        """
        # value + slope·(λ − weight) is equal for both.
        difference = other.value - self.value + self.slope * self.weight
        difference -= other.slope * other.weight
        return difference / (self.slope - other.slope)

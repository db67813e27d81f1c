"""Singular values of the matrices of a head, effective ranks and distances, all of it numerical.

A = KᵀQ and OV are never multiplied out: their singular values are those of small matrices, by QR
decompositions of the factors. Errors are bounded by the norm of the rounding (Weyl's inequality),
and only digits that this supports are kept. Distances are relative: a locus is at distance ε if
changes of A and of V by at most ε‖A‖ and ε‖V‖, in the norm of Frobenius, reach it, and no smaller
ones do. The proofs are in ``docs/weights-mathematics.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, inf, isfinite, log10, prod, sqrt
from operator import add
from typing import Any, NamedTuple

import numpy

from m2bridge.trained_weights.checkpoints.arrays import PRECISIONS
from m2bridge.trained_weights.heads.ranks import HeadShape, Ranks, factors
from m2bridge.trained_weights.heads.token_space import ReducedHead

EPSILON = 2.0**-52
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
_MAX_DIGITS = 6
"""The largest number of digits that are kept."""
_MAX_TANGENTS = 60
"""The largest number of tangents of a convex function: each halves the interval, or better."""
_CANCELLED = 1e-8
"""A product whose norm is a smaller part of that of its factors is computed exactly, unless
that takes more than ``_MAX_EXACT_PRODUCTS`` multiplications.
"""
_MAX_EXACT_PRODUCTS = 2**15
"""The largest number of multiplications of fractions in a product that is computed exactly."""
_ROUNDINGS = 4
"""A rounded product of rank a is at a distance to rank a of about this number of roundings for each
row and column.
"""

Measured = tuple[float, float]
"""A number, and a bound for its error."""


def rounded(value: float, error: float) -> float | None:
    """Return a value with the digits that its error supports; ``None`` if it may be 0.

    Examples
    --------
    >>> rounded(0.123456, 3e-4), rounded(1e-9, 1e-8), rounded(0.0, 0.0)
    (0.12, None, 0.0)
    """
    if value == 0 and error == 0:
        return 0.0
    if not (isfinite(value) and isfinite(error)) or abs(value) <= 2 * error:
        return None
    digits = _MAX_DIGITS
    if error:
        digits = max(1, min(digits, floor(log10(abs(value) / error))))
    return float(f"{value:.{digits}g}")


def rank_words(rank: int, most: int, size: int, distance: float | None, precision: float) -> str:
    """Return the words about an A of this size whose rank is too large.

    They say whether rounding may explain it, at this distance.
    """
    words = f"rk A = {rank} > a = {most}: not weights of this model"
    near = distance or 0.0
    if near > _ROUNDINGS * sqrt(size) * precision:
        return words
    return (
        f"{words}; but A is within rounding of rank {most} (relative distance {near:.1g}): a"
        " rounded product KᵀQ has full rank, so give K and Q instead of A"
    )


def precision(array: Any) -> float:
    """Return the precision of float32 if all entries are such numbers, else that of float64.

    Integers alone tell nothing of the type.
    """
    scaled, _ = _scaled(array)
    is_single = (scaled == scaled.astype("float32")).all()
    if is_single and (array % 1).any():
        return PRECISIONS["float32"]
    return PRECISIONS["float64"]


@dataclass(frozen=True, slots=True, eq=False)
class Spectrum:
    """Singular values of a matrix and its right singular vectors.

    Parameters
    ----------
    values : array
        In decreasing order, of the matrix times 2^−exponent; those beyond the exact rank are 0.
    vectors : array
        d × k.
    error : float
        Of each value.
    exponent : int
    rank : int or None
        The exact rank, where it is proved.
    """

    values: Any
    vectors: Any
    error: float
    exponent: int
    rank: int | None

    @classmethod
    def of(
        cls, product: list[Any], rank: int | None, errors: Sequence[float] = (0.0, 0.0)
    ) -> Spectrum:
        """Return the spectrum of one or two factors, with the rank if that is proved.

        The errors bound the norms of what is wrong in the factors.
        """
        scaled = [_scaled(matrix) for matrix in product]
        matrices = [matrix for matrix, _ in scaled]
        exponent = sum(shift for _, shift in scaled)
        basis, triangle = numpy.linalg.qr(matrices[-1].T)
        # The product is (orthonormal) · core · basisᵀ, and the core is small.
        core = triangle.T
        if len(matrices) == 2:
            core = numpy.linalg.qr(matrices[0], mode="r") @ core
        _, values, vectors = numpy.linalg.svd(core, full_matrices=False)
        norm = float(values[0])
        norms = [norm]
        if len(matrices) == 2:
            norms = [float(numpy.linalg.norm(factor, 2)) for factor in matrices]
            norm = prod(norms)
            cancelled = rank and values[0] <= _CANCELLED * norm
            if cancelled and not any(errors) and _is_small(product):
                # Nearly everything cancels in the product, as floating point has it.
                left, right = (numpy.frompyfunc(Fraction, 1, 1)(matrix) for matrix in product)
                return cls.of([left @ right], rank)
        size = max(max(factor.shape) for factor in matrices)
        error = 2 * sqrt(size) * EPSILON * norm
        if any(errors):
            wrong = [
                float(numpy.ldexp(error_of_factor, -shift))
                for error_of_factor, (_, shift) in zip(errors, scaled, strict=False)
            ]
            # The product of norms with errors, less that without.
            error += prod(map(add, norms, wrong)) - norm
        if rank is not None:
            values[rank:] = 0
        # The largest becomes about 1, so that no square of the others underflows.
        shift = int(numpy.frexp(values[0])[1])
        return cls(
            values=numpy.ldexp(values, -shift),
            vectors=basis @ vectors.T,
            error=float(numpy.ldexp(error, -shift)),
            exponent=exponent + shift,
            rank=rank,
        )

    @property
    def norm(self) -> float:
        """The norm of Frobenius."""
        return float(numpy.linalg.norm(self.values))

    @property
    def relative_error(self) -> float:
        """The relative error of all values together, by the norm."""
        whole = sqrt(len(self.values)) * self.error
        if self.norm:
            return whole / self.norm
        return inf if whole else 0.0

    def distance(self, rank: int) -> Measured:
        """Return the relative distance to the matrices of at most this rank, 0 only if proved.

        It is the norm of the singular values that are left out (Eckart, Young 1936).
        """
        if self.rank is not None and rank >= self.rank:
            return 0.0, 0.0
        value = 0.0
        if self.norm:
            value = float(numpy.linalg.norm(self.values[rank:])) / self.norm
        return value, 2 * self.relative_error + 8 * EPSILON

    def effective_rank(self, tolerance: float) -> int:
        """Return the number of singular values above the tolerance times the largest one."""
        return int((self.values > tolerance * self.values[0]).sum())

    def shown(self) -> list[float | None]:
        """Return the singular values in their own size, with the digits that are supported."""
        scale = float("nan")
        if abs(self.exponent) < 900:  # else there is no such float, or its error is none
            scale = 2.0**self.exponent
        shown: list[float | None] = []
        for i, value in enumerate(self.values.tolist()):
            proved_zero = self.rank is not None and i >= self.rank
            shown.append(0.0 if proved_zero else rounded(value * scale, self.error * scale))
        return shown


def _is_small(product: list[Any]) -> bool:
    """Whether two matrices of fractions can be multiplied."""
    left, right = product
    return bool(prod(left.shape) * right.shape[1] <= _MAX_EXACT_PRODUCTS)


def _scaled(array: Any) -> tuple[Any, int]:
    """The matrix in double precision times a power of two, entries below 1, and the exponent."""
    if array.dtype == object:
        largest = max(map(abs, array.flat))
        shift = 0
        if largest:
            bits = int(largest.numerator).bit_length() - int(largest.denominator).bit_length()
            shift = bits + 1
        scaled = [float(Fraction(entry) / Fraction(2) ** shift) for entry in array.flat]
        return numpy.array(scaled).reshape(array.shape), shift
    array = array.astype(float)
    shift = int(numpy.frexp(abs(array).max())[1])
    return numpy.ldexp(array, -shift), shift


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """The spectra of A and V, neither of which is 0.

    Of A they have the left singular vectors, which are those of its columns.

    Parameters
    ----------
    A, V : Spectrum
    cosines : array
        The inner products of the right singular vectors of V (rows) with the left ones of A
        (columns).
    """

    A: Spectrum
    V: Spectrum
    cosines: Any

    @property
    def error(self) -> float:
        """A bound for the error of a cosine: those of both spaces, and of the products."""
        return self.A.relative_error + self.V.relative_error + len(self.A.vectors) * EPSILON

    def angles(self, ranks: tuple[int, int], zeros: int) -> list[float | None]:
        """Return principal angles between the spaces of leading singular vectors, in radians.

        The smallest is first; as many as the spaces have dimensions in common are 0 exactly. Their
        sines are norms of what a projection leaves: cosines near 1 do not know small angles
        (Björck, Golub 1973).
        """
        left, right = self.A.vectors[:, : ranks[0]], self.V.vectors[:, : ranks[1]]
        if left.shape[1] > right.shape[1]:
            left, right = right, left
        _, cosines, turned = numpy.linalg.svd(right.T @ left)
        directions = left @ turned.T
        sines = numpy.linalg.norm(directions - right @ (right.T @ directions), axis=0)
        cosines = numpy.append(cosines, numpy.zeros(len(sines)))[: len(sines)]
        # A space turns by the error over the gap below its last singular value.
        spread = self.A.error / self.A.values[ranks[0] - 1]
        spread += self.V.error / self.V.values[ranks[1] - 1]
        error = 4 * spread + 8 * EPSILON
        angles = numpy.arctan2(sines, cosines).tolist()
        return [0.0] * zeros + [rounded(angle, error) for angle in angles[zeros:]]

    def boundary_distance(self) -> Measured:
        """Return the distance to A = v qᵀ, V = h vᵀ.

        For a unit vector v the nearest such matrices are v vᵀA and V v vᵀ, at the relative
        distances √(1 − vᵀMv) and √(1 − vᵀNv) with M = AAᵀ/‖A‖², N = VᵀV/‖V‖². The largest min(vᵀMv,
        vᵀNv) is the least of the largest eigenvalues of λM + (1 − λ)N, 0 ≤ λ ≤ 1 (Brickman 1961).
        """
        scaled = [part.vectors * (part.values / part.norm) for part in (self.A, self.V)]
        joined = numpy.hstack([self.A.vectors, self.V.vectors])
        if joined.shape[1] < joined.shape[0]:
            # All happens in the space that both span.
            basis, _ = numpy.linalg.qr(joined)
            scaled = [basis.T @ part for part in scaled]
        M, N = (part @ part.T for part in scaled)
        lower, upper = least_largest_eigenvalue(M, N)
        gap = max(1.0 - upper, 0.0)
        error = len(M) * EPSILON + 2 * self.error + (upper - lower)
        if gap == 0.0:
            return 0.0, sqrt(error)
        # |√x − √y| is at most √|x − y|, and at most |x − y| / √x.
        return sqrt(gap), min(sqrt(error), error / sqrt(gap))

    def change(self, rank_A: int, rank_V: int) -> Measured:
        """Return the relative change of the function where A and V are truncated to these ranks.

        In the norm that orthogonal changes of the tokens keep, ½(‖A‖²‖V‖² + ‖VA‖²) is the square of
        the function's norm. With A = A' + E and V = V' + F the change is φ(E, V) + φ(A', F), and
        the two are orthogonal.
        """
        S, T = self.A.values, self.V.values
        G = (T[:, None] * self.cosines * S) ** 2  # its sum is ‖VA‖²
        s, t = S**2, T**2
        lost = s[rank_A:].sum() * t.sum() + s[:rank_A].sum() * t[rank_V:].sum()
        lost += G[:, rank_A:].sum() + G[rank_V:, :rank_A].sum()
        value = sqrt(lost / (s.sum() * t.sum() + G.sum()))
        if value == 0:
            return 0.0, 0.0
        gaps = _instability(S, rank_A) + _instability(T, rank_V)
        return value, 4 * self.error * (1 + gaps)


def least_largest_eigenvalue(M: Any, N: Any) -> tuple[float, float]:
    """Return bounds for the least of the largest eigenvalues of λM + (1 − λ)N, 0 ≤ λ ≤ 1.

    In a subspace they are at most those of the whole. A subspace is enlarged by powers of the
    matrix with the best λ, applied to its eigenvector, until that eigenvalue plus a small number
    bounds all of the whole, by Cholesky.
    """
    if len(M) <= _LARGE:
        return _by_tangents(M, N)[:2]
    basis = numpy.linalg.qr(numpy.stack([M[0] + N[0], M.sum(0), N.sum(0)], 1))[0]
    for _ in range(_MAX_ENLARGEMENTS):
        lower, _, weight, vector = _by_tangents(basis.T @ M @ basis, basis.T @ N @ basis)
        whole = weight * M + (1 - weight) * N
        v = basis @ vector
        value = float(v @ whole @ v)
        if numpy.linalg.norm(whole @ v - value * v) <= sqrt(_GAP * value):
            break
        for _ in range(_KRYLOV_STEPS):
            v = whole @ v
            for _ in range(2):  # once is not orthogonal enough
                v = v - basis @ (basis.T @ v)
            norm = numpy.linalg.norm(v)
            if norm <= EPSILON * value:  # the subspace is invariant
                break
            v = v / norm
            basis = numpy.column_stack([basis, v])
    beyond = _GAP
    while not _is_positive((value + beyond) * numpy.identity(len(M)) - whole):
        beyond *= 10
    return min(lower, value), value + beyond


def _is_positive(matrix: Any) -> bool:
    """Whether a symmetric matrix is positive definite, in floating-point numbers."""
    try:
        numpy.linalg.cholesky(matrix)
    except numpy.linalg.LinAlgError:
        return False
    return True


def _by_tangents(M: Any, N: Any) -> tuple[float, float, float, Any]:
    """Bounds for the least of these eigenvalues, a convex function of λ; λ and its eigenvector.

    Tangents of a convex function are below it: where those at both ends meet is a lower bound.
    """
    left, right = _Tangent.at(0.0, M, N), _Tangent.at(1.0, M, N)
    best = min(left, right, key=lambda tangent: tangent.value)
    lower = 0.0
    for _ in range(_MAX_TANGENTS):
        if left.slope >= 0 or right.slope <= 0:  # the least value is at an end
            return best.value, best.value, best.weight, best.vector
        crossing = right.value - left.value + left.slope * left.weight - right.slope * right.weight
        weight = crossing / (left.slope - right.slope)
        weight = min(max(weight, left.weight), right.weight)
        lower = left.value + left.slope * (weight - left.weight)
        if best.value - lower <= EPSILON:
            break
        found = _Tangent.at(weight, M, N)
        best = min(best, found, key=lambda tangent: tangent.value)
        if found.slope >= 0:
            right = found
        else:
            left = found
    return lower, best.value, best.weight, best.vector


@dataclass(frozen=True, slots=True, eq=False)
class _Tangent:
    """The largest eigenvalue of λM + (1 − λ)N at one λ, its derivative, and its eigenvector."""

    weight: float
    value: float
    slope: float
    vector: Any

    @classmethod
    def at(cls, weight: float, M: Any, N: Any) -> _Tangent:
        values, vectors = numpy.linalg.eigh(weight * M + (1 - weight) * N)
        v = vectors[:, -1]
        return cls(weight=weight, value=float(values[-1]), slope=float(v @ (M - N) @ v), vector=v)


def _instability(values: Any, rank: int) -> float:
    """The factor by which a truncation to this rank changes with the matrix."""
    if not 0 < rank < len(values) or values[rank] == 0:  # nothing is cut off
        return 0.0
    gap = max(values[rank - 1] - values[rank], EPSILON * values[0])
    return float(values[0] / gap)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Numerical:
    """The numbers computed in floating point; ``None`` where rounding does not distinguish
    them from 0, or they are not computed.

    Parameters
    ----------
    kind : str
        The type in which the weights are stored.
    tolerance : float
        For effective ranks, times the largest singular value; the precision of the type.
    singular_values_A, singular_values_V : list of float
    effective_rank_A, effective_rank_V : int
    distances_to_lower_rank_A, distances_to_lower_rank_V : list of float
        To rank at most 0, 1, 2, …
    principal_angles : list of float
        Between the column space of A and the row space of V, in radians.
    distance_to_singular_locus, distance_to_boundary : float
    nearest_singular_locus : str
        The nearest part of it.
    relative_change_of_function : float
        By the truncations that reach it.
    """

    kind: str
    tolerance: float
    singular_values_A: list[float | None]
    singular_values_V: list[float | None]
    effective_rank_A: int
    effective_rank_V: int
    distances_to_lower_rank_A: list[float | None]
    distances_to_lower_rank_V: list[float | None]
    principal_angles: list[float | None]
    distance_to_singular_locus: float | None
    distance_to_boundary: float | None
    nearest_singular_locus: str
    relative_change_of_function: float | None

    @classmethod
    def of(
        cls, head: ReducedHead, shape: HeadShape, ranks: Ranks, tolerance: float | None
    ) -> Numerical:
        """Compute everything; the tolerance is the precision of the type when left out."""
        exact = (ranks.r, ranks.s) if ranks.proved else (None, None)
        matrices, bounds = head.rounded()
        products = factors(matrices)
        errors = []
        for letters in ("AQK", "OV"):
            given = [letter for letter in letters if letter in matrices]
            errors.append([bounds.get(letter, 0.0) for letter in given])
        A, V = map(Spectrum.of, products, exact, errors)
        if tolerance is None:
            tolerance = PRECISIONS[head.kind]
        effective = (A.effective_rank(tolerance), V.effective_rank(tolerance))
        pair = None
        angles: list[float | None] = []
        if all(effective):
            pair = Pair(A, V, cosines=V.vectors.T @ A.vectors)
            angles = pair.angles(effective, ranks.m if effective == exact else 0)
        boundary, nearest = None, NOWHERE
        # A product that is lost in rounding is not proved to be 0.
        if pair is not None or (ranks.proved and not (ranks.r and ranks.s)):
            boundary = _to_boundary(pair, shape, ranks)
            nearest = _to_singular(pair, shape, boundary)
        return cls(
            kind=head.kind,
            tolerance=tolerance,
            singular_values_A=A.shown(),
            singular_values_V=V.shown(),
            effective_rank_A=effective[0],
            effective_rank_V=effective[1],
            distances_to_lower_rank_A=_distances(A),
            distances_to_lower_rank_V=_distances(V),
            principal_angles=angles,
            distance_to_singular_locus=_shown(nearest.distance),
            distance_to_boundary=_shown(boundary),
            nearest_singular_locus=nearest.name,
            relative_change_of_function=_shown(nearest.change),
        )


def _shown(measured: Measured | None) -> float | None:
    return None if measured is None else rounded(*measured)


def _distances(spectrum: Spectrum) -> list[float | None]:
    """The distances to rank at most 0, 1, 2, …"""
    return [rounded(*spectrum.distance(rank)) for rank in range(len(spectrum.values) + 1)]


class NearestSingular(NamedTuple):
    """A part of the singular locus, its distance, and the change of the function on the way."""

    distance: Measured | None
    name: str
    change: Measured | None


NOWHERE = NearestSingular(None, "", None)
"""What is written where no part of the singular locus is known, or it is empty."""


def _to_boundary(pair: Pair | None, shape: HeadShape, ranks: Ranks) -> Measured | None:
    """The distance to A = v qᵀ, V = h vᵀ.

    There is no boundary for d = 1, and none is known for softmax.
    """
    if shape.d == 1 or shape.softmax:
        return None
    if pair is None or (ranks.proved and shape.is_boundary(ranks.r, ranks.s, ranks.m)):
        return 0.0, 0.0
    return pair.boundary_distance()


def _to_singular(pair: Pair | None, shape: HeadShape, boundary: Measured | None) -> NearestSingular:
    """The nearest part of the singular locus; its parts are in docs/weights-mathematics.md."""
    if shape.d == 1 or shape.softmax:
        return NOWHERE
    if pair is None:
        return NearestSingular((0.0, 0.0), "zero", (0.0, 0.0))
    zero = NearestSingular((1.0, EPSILON), "zero", (1.0, EPSILON))
    parts = [zero, *_parts(pair, shape, boundary)]
    return min(parts, key=lambda part: part.distance or (1.0, 0.0))


def _parts(pair: Pair, shape: HeadShape, boundary: Measured | None) -> Iterator[NearestSingular]:
    """The parts of the singular locus apart from zero."""
    A, V = pair.A, pair.V
    alpha, beta = shape.alpha, shape.beta
    if alpha == beta == 1:
        if shape.d >= 3 and boundary is not None:
            # The forms k and v, at the angle 2·arcsin of the distance, become one.
            half = 2 * boundary[0] ** 2
            change = half / sqrt((2 - half) ** 2 + half**2)
            yield NearestSingular(boundary, "A = vqᵀ, V = hvᵀ", (change, 4 * boundary[1]))
        return
    yield NearestSingular(max(A.distance(1), V.distance(1)), "rk A = rk V = 1", pair.change(1, 1))
    if 1 < alpha < shape.d:
        change_A = pair.change(alpha - 1, len(V.values))
        yield NearestSingular(A.distance(alpha - 1), f"rk A ≤ {alpha - 1}", change_A)
    if 1 < beta < shape.most_V:
        change_V = pair.change(len(A.values), beta - 1)
        yield NearestSingular(V.distance(beta - 1), f"rk V ≤ {beta - 1}", change_V)

"""Singular values of the matrices of a head, and what follows from them: all of this is numerical.

A = KᵀQ and OV are never multiplied out: their singular values are those of small matrices, by QR
decompositions of the factors. Errors are bounded by the norm of the rounding (Weyl's inequality),
and only digits that this supports are kept. Distances are relative: a locus is at distance ε if
changes of A and of V by at most ε‖A‖ and ε‖V‖, in the norm of Frobenius, reach it, and no smaller
ones do. The proofs are in ``docs/weights.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor, inf, isfinite, log10, prod, sqrt
from operator import itemgetter
from typing import Any

import numpy

from m2bridge.convert.weight_files import PRECISIONS
from m2bridge.families.attention.exact_weights import HeadShape, Ranks, factors
from m2bridge.families.attention.weight_names import Head

EPSILON = 2.0**-52
_LARGE = 400
"""Of matrices with more rows the largest eigenvalues are found in subspaces."""
_ROUNDS, _KRYLOV_STEPS = 12, 30
_GAP = 1e-11
"""Between an eigenvalue in a subspace and its upper bound, where digits cannot be gained
any more.
"""
_DIGITS = 6
"""At most so many are kept."""
_STEPS = 60
_CANCELLED = 1e-8
"""Of the norm of the factors: smaller products are computed exactly,"""
_MOST_EXACT = 2**15
"""for at most so many multiplications of fractions."""
_ROUNDINGS = 4
"""A product of rank a, rounded, is about as near to rank a as this many roundings for each row and
column.
"""

Measured = tuple[float, float]
"""A number and a bound for its error."""


def rounded(value: float, error: float) -> float | None:
    """The value with the digits that its error supports; ``None`` where it is not told apart from
    0.

    Examples
    --------
    >>> rounded(0.123456, 3e-4), rounded(1e-9, 1e-8), rounded(0.0, 0.0)
    (0.12, None, 0.0)
    """
    if value == 0 and error == 0:
        return 0.0
    if not (isfinite(value) and isfinite(error)) or abs(value) <= 2 * error:
        return None
    digits = min(_DIGITS, floor(log10(abs(value) / error))) if error else _DIGITS
    return float(f"{value:.{max(digits, 1)}g}")


def rank_words(rank: int, most: int, size: int, distance: float | None, precision: float) -> str:
    """The words about an A of this size whose rank is too large: at this distance rounding may
    explain it.
    """
    words = f"rk A = {rank} > a = {most}: not weights of this model"
    if (distance := distance or 0.0) > _ROUNDINGS * sqrt(size) * precision:
        return words
    return (
        f"{words}; but A is within rounding of rank {most} (relative distance {distance:.1g}): a"
        " rounded product KᵀQ has full rank, so give K and Q instead of A"
    )


def precision(array: Any) -> float:
    """That of float32 if all entries are such numbers and not all are integers; else that of
    float64.
    """
    scaled, _ = _scaled(array)
    single = (scaled == scaled.astype("float32")).all() and (array % 1).any()
    return PRECISIONS["float32" if single else "float64"]


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
    def of(cls, product: list[Any], rank: int | None) -> Spectrum:
        """The spectrum of a product of one or two matrices, with its rank if that is proved."""
        factors, exponents = zip(*map(_scaled, product), strict=True)
        *left, right = factors
        basis, triangle = numpy.linalg.qr(right.T)
        core = numpy.linalg.qr(left[0], mode="r") @ triangle.T if left else triangle.T
        _, values, vectors = numpy.linalg.svd(core, full_matrices=False)
        norm = (
            prod(float(numpy.linalg.norm(factor, 2)) for factor in factors)
            if left
            else float(values[0])
        )
        size = max(max(factor.shape) for factor in factors)
        error = 2 * sqrt(size) * EPSILON * norm
        multiplications = prod(product[0].shape) * product[-1].shape[1]
        if left and rank and values[0] <= _CANCELLED * norm and multiplications <= _MOST_EXACT:
            # Nearly everything cancels in the product, as floating point has it: it is computed
            # exactly.
            exact = [numpy.frompyfunc(Fraction, 1, 1)(factor) for factor in product]
            return cls.of([exact[0] @ exact[1]], rank)
        if rank is not None:
            values[rank:] = 0
        # The largest is about 1, so that no square of the others is less than the numbers that
        # there are.
        shift = int(numpy.frexp(values[0])[1])
        values, error = numpy.ldexp(values, -shift), float(numpy.ldexp(error, -shift))
        return cls(
            values=values,
            vectors=basis @ vectors.T,
            error=error,
            exponent=sum(exponents) + shift,
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
        """The relative distance to the matrices of at most this rank (Eckart, Young 1936); 0
        exactly if it is so.
        """
        if self.rank is not None and rank >= self.rank:
            return 0.0, 0.0
        value = float(numpy.linalg.norm(self.values[rank:])) / self.norm if self.norm else 0.0
        return value, 2 * self.relative_error + 8 * EPSILON

    def effective_rank(self, tolerance: float) -> int:
        """The number of singular values above the tolerance times the largest one."""
        return int((self.values > tolerance * self.values[0]).sum()) if self.values[0] else 0

    def shown(self) -> list[float | None]:
        """The singular values in their own size, with the digits that are supported."""
        scale = 2.0**self.exponent if abs(self.exponent) < 900 else float("nan")
        shown: list[float | None] = []
        for i, value in enumerate(self.values.tolist()):
            proved_zero = self.rank is not None and i >= self.rank
            shown.append(0.0 if proved_zero else rounded(value * scale, self.error * scale))
        return shown


def _scaled(array: Any) -> tuple[Any, int]:
    """The matrix in double precision, times a power of two so that its entries are below 1, and the
    exponent.
    """
    if array.dtype == object:
        largest = max(map(abs, array.flat))
        shift = (
            int(largest.numerator).bit_length() - int(largest.denominator).bit_length() + 1
            if largest
            else 0
        )
        scaled = [float(Fraction(entry) / Fraction(2) ** shift) for entry in array.flat]
        return numpy.array(scaled).reshape(array.shape), shift
    array = array.astype(float)
    shift = int(numpy.frexp(abs(array).max())[1])
    return numpy.ldexp(array, -shift), shift


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """The spectra of A and V, neither of which is 0: of A the left singular vectors, which are
    those of its columns.

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
        """Relative, of both together."""
        return self.A.relative_error + self.V.relative_error + len(self.A.vectors) * EPSILON

    def angles(self, ranks: tuple[int, int], zeros: int) -> list[float | None]:
        """Principal angles between the spaces of the leading singular vectors, in radians, the
        smallest first.

        As many as the spaces have dimensions in common are 0 exactly. Their sines are norms of what
        a projection leaves: cosines near 1 do not know small angles (Björck, Golub 1973).
        """
        left, right = self.A.vectors[:, : ranks[0]], self.V.vectors[:, : ranks[1]]
        if left.shape[1] > right.shape[1]:
            left, right = right, left
        _, cosines, turned = numpy.linalg.svd(right.T @ left)
        directions = left @ turned.T
        sines = numpy.linalg.norm(directions - right @ (right.T @ directions), axis=0)
        cosines = numpy.append(cosines, numpy.zeros(len(sines)))[: len(sines)]
        spread = sum(
            s.error / s.values[r - 1] for s, r in zip((self.A, self.V), ranks, strict=True)
        )
        angles = [
            rounded(float(angle), 4 * spread + 8 * EPSILON)
            for angle in numpy.arctan2(sines, cosines)
        ]
        return [0.0] * zeros + angles[zeros:]

    def boundary_distance(self) -> Measured:
        """The distance to A = v qᵀ, V = h vᵀ.

        For a unit vector v the nearest such matrices are v vᵀA and V v vᵀ, at the relative
        distances √(1 − vᵀMv) and √(1 − vᵀNv) with M = AAᵀ/‖A‖², N = VᵀV/‖V‖². The largest min(vᵀMv,
        vᵀNv) is the least of the largest eigenvalues of λM + (1 − λ)N, 0 ≤ λ ≤ 1 (Brickman 1961).
        """
        vectors, scaled = zip(
            *((s.vectors, s.vectors * (s.values / s.norm)) for s in (self.A, self.V)), strict=True
        )
        joined = numpy.hstack(vectors)
        if joined.shape[1] < joined.shape[0]:
            basis, _ = numpy.linalg.qr(joined)
            scaled = tuple(basis.T @ part for part in scaled)
        M, N = (part @ part.T for part in scaled)
        lower, upper = least_largest_eigenvalue(M, N)
        gap = max(1.0 - upper, 0.0)
        error = len(M) * EPSILON + 2 * self.error + (upper - lower)
        return sqrt(gap), min(sqrt(error), error / sqrt(gap) if gap else 1.0)

    def change(self, rank_A: int, rank_V: int) -> Measured:
        """The relative change of the function where A and V are truncated to these ranks.

        In the norm that orthogonal changes of the tokens keep, ½(‖A‖²‖V‖² + ‖VA‖²) is the square of
        the function's norm. With A = A' + E and V = V' + F the change is φ(E, V) + φ(A', F), and
        the two are orthogonal.
        """
        S, T = self.A.values, self.V.values
        G = (T[:, None] * self.cosines * S) ** 2
        s, t = S**2, T**2
        lost = s[rank_A:].sum() * t.sum() + s[:rank_A].sum() * t[rank_V:].sum()
        lost += G[:, rank_A:].sum() + G[rank_V:, :rank_A].sum()
        value = sqrt(lost / (s.sum() * t.sum() + G.sum()))
        gaps = sum(_instability(*part) for part in ((S, rank_A), (T, rank_V)))
        return value, 4 * self.error * (1 + gaps) if value else 0.0


def least_largest_eigenvalue(M: Any, N: Any) -> tuple[float, float]:
    """A lower and an upper bound for the least of the largest eigenvalues of λM + (1 − λ)N, 0 ≤ λ ≤
    1.

    In a subspace they are at most those of the whole. A subspace is enlarged by powers of the
    matrix with the best λ, applied to its eigenvector, until that eigenvalue plus a small number
    bounds all of the whole, by Cholesky.
    """
    if len(M) <= _LARGE:
        return _by_tangents(M, N)[:2]
    basis = numpy.linalg.qr(numpy.stack([M[0] + N[0], M.sum(0), N.sum(0)], 1))[0]
    for _ in range(_ROUNDS):
        lower, _, weight, vector = _by_tangents(basis.T @ M @ basis, basis.T @ N @ basis)
        whole, v = weight * M + (1 - weight) * N, basis @ vector
        value = float(v @ whole @ v)
        if numpy.linalg.norm(whole @ v - value * v) <= sqrt(_GAP * value):
            break
        for _ in range(_KRYLOV_STEPS):
            v = whole @ v
            for _ in range(2):  # once is not orthogonal enough
                v = v - basis @ (basis.T @ v)
            if (norm := numpy.linalg.norm(v)) <= EPSILON * value:
                break
            v = v / norm
            basis = numpy.column_stack([basis, v])
    beyond = _GAP
    while not _is_positive((value + beyond) * numpy.identity(len(M)) - whole):
        beyond *= 10
    return min(lower, value), value + beyond


def _is_positive(matrix: Any) -> bool:
    try:
        numpy.linalg.cholesky(matrix)
    except numpy.linalg.LinAlgError:
        return False
    return True


def _by_tangents(M: Any, N: Any) -> tuple[float, float, float, Any]:
    """Bounds for the least of these eigenvalues, by tangents of this convex function; and λ and its
    eigenvector.
    """

    def tangent(weight: float) -> tuple[float, float, float, Any]:
        values, vectors = numpy.linalg.eigh(weight * M + (1 - weight) * N)
        v = vectors[:, -1]
        return weight, float(values[-1]), float(v @ (M - N) @ v), v

    ends = [tangent(0.0), tangent(1.0)]
    best, lower = min(ends, key=itemgetter(1)), 0.0
    for _ in range(_STEPS):
        (x, f, slope, _), (y, g, other, _) = ends
        if slope >= 0 or other <= 0:
            return best[1], best[1], best[0], best[3]
        middle = min(max((g - f + slope * x - other * y) / (slope - other), x), y)
        lower = f + slope * (middle - x)
        if best[1] - lower <= EPSILON:
            break
        found = tangent(middle)
        best = min(best, found, key=itemgetter(1))
        ends[int(found[2] >= 0)] = found
    return lower, best[1], best[0], best[3]


def _instability(values: Any, rank: int) -> float:
    """The factor by which a truncation to this rank changes with the matrix."""
    truncates = 0 < rank < len(values) and values[rank]
    return (
        float(values[0] / max(values[rank - 1] - values[rank], EPSILON * values[0]))
        if truncates
        else 0.0
    )


@dataclass(frozen=True, slots=True, eq=False)
class Numerical:
    """The numbers computed in floating point; ``None`` is not told apart from 0, or not computed.

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
    def of(cls, head: Head, shape: HeadShape, ranks: Ranks, tolerance: float | None) -> Numerical:
        """Compute everything; the tolerance is the precision of the type when left out."""
        exact = (ranks.r, ranks.s) if ranks.proved else (None, None)
        A, V = map(Spectrum.of, factors(head.matrices), exact)
        level = PRECISIONS[head.kind] if tolerance is None else tolerance
        effective = A.effective_rank(level), V.effective_rank(level)
        pair = Pair(A, V, V.vectors.T @ A.vectors) if all(effective) else None
        boundary, to_singular, locus, change = None, None, "", None
        # A product that is lost in rounding is not proved to be 0.
        if pair is not None or (ranks.proved and not (ranks.r and ranks.s)):
            boundary = _to_boundary(pair, shape, ranks)
            to_singular, locus, change = _to_singular(A, V, pair, shape, boundary)
        lower_A, lower_V = (
            [rounded(*s.distance(k)) for k in range(len(s.values) + 1)] for s in (A, V)
        )
        return cls(
            kind=head.kind,
            tolerance=level,
            singular_values_A=A.shown(),
            singular_values_V=V.shown(),
            effective_rank_A=effective[0],
            effective_rank_V=effective[1],
            distances_to_lower_rank_A=lower_A,
            distances_to_lower_rank_V=lower_V,
            principal_angles=(
                pair.angles(effective, ranks.m if effective == exact else 0) if pair else []
            ),
            distance_to_singular_locus=rounded(*to_singular) if to_singular else None,
            distance_to_boundary=rounded(*boundary) if boundary else None,
            nearest_singular_locus=locus,
            relative_change_of_function=rounded(*change) if change else None,
        )


def _to_boundary(pair: Pair | None, shape: HeadShape, ranks: Ranks) -> Measured | None:
    """The distance to A = v qᵀ, V = h vᵀ; there is no boundary for d = 1, and none is known for
    softmax.
    """
    if shape.d == 1 or shape.softmax:
        return None
    if pair is None or (ranks.proved and shape.is_boundary(ranks.r, ranks.s, ranks.m)):
        return 0.0, 0.0
    return pair.boundary_distance()


def _to_singular(
    A: Spectrum, V: Spectrum, pair: Pair | None, shape: HeadShape, boundary: Measured | None
) -> tuple[Measured | None, str, Measured | None]:
    """The distance to the nearest part of the singular locus, its name, and the change of the
    function on the way.
    """
    alpha, beta, d = shape.alpha, shape.beta, shape.d
    if d == 1 or shape.softmax:
        return None, "", None
    if pair is None:
        return (0.0, 0.0), "zero", (0.0, 0.0)
    found: list[tuple[Measured | None, str, Measured | None]] = [
        ((1.0, EPSILON), "zero", (1.0, EPSILON))
    ]
    if alpha == beta == 1:
        # the forms k and v, at the angle 2·arcsin of the distance, become one
        if d >= 3 and boundary:
            half = 2 * boundary[0] ** 2
            found.append(
                (
                    boundary,
                    "A = vqᵀ, V = hvᵀ",
                    (half / sqrt((2 - half) ** 2 + half**2), 4 * boundary[1]),
                )
            )
    else:
        found.append((max(A.distance(1), V.distance(1)), "rk A = rk V = 1", pair.change(1, 1)))
    if 1 < alpha < d:
        found.append(
            (A.distance(alpha - 1), f"rk A ≤ {alpha - 1}", pair.change(alpha - 1, len(V.values)))
        )
    if 1 < beta < shape.most_V:
        found.append(
            (V.distance(beta - 1), f"rk V ≤ {beta - 1}", pair.change(len(A.values), beta - 1))
        )
    return min(found, key=lambda part: part[0] or (1.0, 0.0))

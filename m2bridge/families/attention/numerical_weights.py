"""Singular values of the matrices of a head, and what follows from them: all of this is numerical.

A = KᵀQ and OV are never multiplied out: their singular values are those of small matrices, by QR decompositions of
the factors. Errors are bounded by the norm of the rounding (Weyl's inequality), and only digits that this supports are
kept. Distances are relative: a locus is at distance ε if changes of A and of V by at most ε‖A‖ and ε‖V‖, in the norm of
Frobenius, reach it, and no smaller ones do. The proofs are in ``docs/weights.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor, isfinite, log10, sqrt
from typing import Any

import numpy

from m2bridge.convert.weight_files import PRECISIONS
from m2bridge.families.attention.exact_weights import HeadShape, Product, Ranks, factors
from m2bridge.families.attention.weight_names import Head

EPSILON = 2.0**-52
_MOST_DIMENSIONS = 2000
"""Of a matrix whose largest eigenvalue is found several times."""
_DIGITS = 6
"""At most so many are kept."""
_STEPS = 60

Measured = tuple[float, float]
"""A number and a bound for its error."""


def rounded(value: float, error: float) -> float | None:
    """The value with the digits that its error supports; ``None`` where it is not told apart from 0.

    Examples
    --------
    >>> rounded(0.123456, 3e-4), rounded(1e-9, 1e-8), rounded(0.0, 0.0)
    (0.12, None, 0.0)
    """
    if value == 0 and error == 0:
        return 0.0
    if not isfinite(value) or abs(value) <= 2 * error:
        return None
    digits = min(_DIGITS, floor(log10(abs(value) / error))) if error else _DIGITS
    return float(f"{value:.{max(digits, 1)}g}")


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
    """

    values: Any
    vectors: Any
    error: float
    exponent: int

    @classmethod
    def of(cls, product: Product, rank: int | None) -> Spectrum:
        """The spectrum of a product of one or two matrices, with its rank if that is proved."""
        factors, exponents = zip(*(_scaled(f) for f in (product.left, product.right) if f is not None), strict=True)
        values, vectors, norm = _decomposition(*factors)
        if rank is not None:
            values[rank:] = 0
        size = max(max(factor.shape) for factor in factors)
        return cls(values, vectors, 2 * sqrt(size) * EPSILON * norm, sum(exponents))

    @property
    def norm(self) -> float:
        """The norm of Frobenius."""
        return float(numpy.linalg.norm(self.values))

    @property
    def relative_error(self) -> float:
        """The relative error of all values together, by the norm."""
        return sqrt(len(self.values)) * self.error / self.norm if self.norm else 0.0

    def distance(self, rank: int) -> Measured:
        """The relative distance to the matrices of at most this rank (Eckart, Young 1936); 0 exactly if it is so."""
        value = float(numpy.linalg.norm(self.values[rank:])) / self.norm if self.norm else 0.0
        return value, 2 * self.relative_error + 8 * EPSILON if value else 0.0

    def effective_rank(self, tolerance: float) -> int:
        """The number of singular values above the tolerance times the largest one."""
        return int((self.values > tolerance * self.values[0]).sum()) if self.values[0] else 0

    def shown(self) -> list[float | None]:
        """The singular values in their own size, with the digits that are supported."""
        scale = 2.0**self.exponent if abs(self.exponent) < 900 else float("nan")
        return [rounded(v * scale, self.error * scale if v else 0.0) for v in self.values.tolist()]


def _scaled(array: Any) -> tuple[Any, int]:
    """The matrix in double precision, times a power of two so that its entries are below 1, and the exponent."""
    if array.dtype == object:
        largest = max(map(abs, array.flat))
        shift = int(largest.numerator).bit_length() - int(largest.denominator).bit_length() + 1 if largest else 0
        scaled = [float(Fraction(entry) / Fraction(2) ** shift) for entry in array.flat]
        return numpy.array(scaled).reshape(array.shape), shift
    array = array.astype(float)
    shift = int(numpy.frexp(abs(array).max())[1])
    return numpy.ldexp(array, -shift), shift


def _decomposition(first: Any, *second: Any) -> tuple[Any, Any, float]:
    """Singular values and right singular vectors of a product, and the product of the norms of its factors."""
    if not second:
        values, vectors = _singular(first)
        return values, vectors, float(values[0])
    (right,) = second
    norm = float(numpy.linalg.norm(first, 2) * numpy.linalg.norm(right, 2))
    if first.shape[1] > min(first.shape[0], right.shape[1]):  # the product is the smaller matrix
        return *_singular(first @ right), norm
    _, triangle = numpy.linalg.qr(first)
    basis, other = numpy.linalg.qr(right.T)
    values, vectors = _singular(triangle @ other.T)
    return values, basis @ vectors, norm


def _singular(matrix: Any) -> tuple[Any, Any]:
    """Singular values and right singular vectors; of a wide matrix by a QR decomposition first."""
    if matrix.shape[1] > 2 * matrix.shape[0]:
        basis, triangle = numpy.linalg.qr(matrix.T)
        _, values, vectors = numpy.linalg.svd(triangle.T, full_matrices=False)
        return values, basis @ vectors.T
    _, values, vectors = numpy.linalg.svd(matrix, full_matrices=False)
    return values, vectors.T


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """The spectra of A and V, neither of which is 0: of A the left singular vectors, which are those of its columns.

    Parameters
    ----------
    A, V : Spectrum
    cosines : array
        The inner products of the right singular vectors of V (rows) with the left ones of A (columns).
    """

    A: Spectrum
    V: Spectrum
    cosines: Any

    @classmethod
    def of(cls, A: Spectrum, V: Spectrum) -> Pair:
        """The Gram matrix: all inner products."""
        return cls(A, V, V.vectors.T @ A.vectors)

    @property
    def error(self) -> float:
        """Relative, of both together."""
        return self.A.relative_error + self.V.relative_error + len(self.A.vectors) * EPSILON

    def angles(self, ranks: tuple[int, int]) -> list[float | None]:
        """Principal angles between the spaces of the leading singular vectors, in radians, the smallest first.

        Their sines are norms of what a projection leaves: cosines near 1 do not know small angles (Björck, Golub 1973).
        """
        left, right = self.A.vectors[:, : ranks[0]], self.V.vectors[:, : ranks[1]]
        if left.shape[1] > right.shape[1]:
            left, right = right, left
        _, cosines, turned = numpy.linalg.svd(right.T @ left)
        directions = left @ turned.T
        sines = numpy.linalg.norm(directions - right @ (right.T @ directions), axis=0)
        cosines = numpy.append(cosines, numpy.zeros(len(sines)))[: len(sines)]
        spread = sum(s.error / s.values[r - 1] for s, r in zip((self.A, self.V), ranks, strict=True))
        return [rounded(float(angle), 4 * spread + 8 * EPSILON) for angle in numpy.arctan2(sines, cosines)]

    def boundary_distance(self) -> Measured | None:
        """The distance to A = v qᵀ, V = h vᵀ; ``None`` where the matrices are too large.

        For a unit vector v the nearest such matrices are v vᵀA and V v vᵀ, at the relative distances √(1 − vᵀMv) and
        √(1 − vᵀNv) with M = AAᵀ/‖A‖², N = VᵀV/‖V‖². The largest min(vᵀMv, vᵀNv) is the least of the largest
        eigenvalues of λM + (1 − λ)N, 0 ≤ λ ≤ 1 (Brickman 1961). Tangents of this convex function enclose its minimum.
        """
        S, T = self.A.values / self.A.norm, self.V.values / self.V.norm
        if min(len(S) + len(T), len(self.A.vectors)) > _MOST_DIMENSIONS:
            return None
        ends = [(0.0, *self._tangent(0.0, S, T)), (1.0, *self._tangent(1.0, S, T))]
        least, floor_ = min(value for _, value, _ in ends), 0.0
        for _ in range(_STEPS):
            (x, f, slope), (y, g, other) = ends
            if slope >= 0 or other <= 0:
                floor_ = least
                break
            middle = min(max((g - f + slope * x - other * y) / (slope - other), x), y)
            floor_ = f + slope * (middle - x)
            if least - floor_ <= EPSILON:
                break
            value, tangent = self._tangent(middle, S, T)
            least = min(least, value)
            ends[int(tangent >= 0)] = (middle, value, tangent)
        gap = max(1.0 - least, 0.0)
        error = len(S) * EPSILON + 2 * self.error + (least - floor_)
        return sqrt(gap), min(sqrt(error), error / sqrt(gap) if gap else 1.0)

    def _tangent(self, weight: float, S: Any, T: Any) -> tuple[float, float]:
        """The largest eigenvalue of λM + (1 − λ)N, and its derivative, in the smaller of two bases."""
        a, b = sqrt(weight), sqrt(1 - weight)
        if len(self.A.vectors) < len(S) + len(T):
            joined = numpy.hstack([a * self.A.vectors * S, b * self.V.vectors * T])
            values, vectors = numpy.linalg.eigh(joined @ joined.T)
            v = vectors[:, -1]
        else:
            cross = a * b * (T[:, None] * self.cosines * S)
            gram = numpy.block([[numpy.diag((a * S) ** 2), cross.T], [cross, numpy.diag((b * T) ** 2)]])
            values, vectors = numpy.linalg.eigh(gram)
            x, y = vectors[: len(S), -1], vectors[len(S) :, -1]
            v = self.A.vectors @ (a * S * x) + self.V.vectors @ (b * T * y)
            v = v / numpy.linalg.norm(v)
        first, second = (float(((v @ s.vectors * w) ** 2).sum()) for s, w in ((self.A, S), (self.V, T)))
        return float(values[-1]), first - second

    def change(self, rank_A: int, rank_V: int) -> Measured:
        """The relative change of the function where A and V are truncated to these ranks.

        In the norm that orthogonal changes of the tokens keep, ½(‖A‖²‖V‖² + ‖VA‖²) is the square of the function's
        norm. With A = A' + E and V = V' + F the change is φ(E, V) + φ(A', F), and the two are orthogonal.
        """
        S, T = self.A.values, self.V.values
        G = (T[:, None] * self.cosines * S) ** 2
        s, t = S**2, T**2
        lost = s[rank_A:].sum() * t.sum() + s[:rank_A].sum() * t[rank_V:].sum()
        lost += G[:, rank_A:].sum() + G[rank_V:, :rank_A].sum()
        value = sqrt(lost / (s.sum() * t.sum() + G.sum()))
        gaps = sum(_instability(*part) for part in ((S, rank_A), (T, rank_V)))
        return value, 4 * self.error * (1 + gaps) if value else 0.0


def _instability(values: Any, rank: int) -> float:
    """The factor by which a truncation to this rank changes with the matrix."""
    if rank >= len(values) or not values[rank]:
        return 0.0
    return float(values[0] / max(values[rank - 1] - values[rank], EPSILON * values[0])) if rank else 0.0


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
        products, exact = factors(head.matrices), (ranks.r, ranks.s) if ranks.proved else (None, None)
        A, V = (Spectrum.of(product, rank) for product, rank in zip(products, exact, strict=True))
        level = PRECISIONS[head.kind] if tolerance is None else tolerance
        effective = A.effective_rank(level), V.effective_rank(level)
        pair = Pair.of(A, V) if all(effective) else None
        boundary = _to_boundary(pair, shape, ranks)
        to_singular, locus, change = _to_singular(A, V, pair, shape, boundary)
        lower_A, lower_V = ([rounded(*s.distance(k)) for k in range(len(s.values) + 1)] for s in (A, V))
        return cls(
            kind=head.kind,
            tolerance=level,
            singular_values_A=A.shown(),
            singular_values_V=V.shown(),
            effective_rank_A=effective[0],
            effective_rank_V=effective[1],
            distances_to_lower_rank_A=lower_A,
            distances_to_lower_rank_V=lower_V,
            principal_angles=_angles(pair, effective, ranks),
            distance_to_singular_locus=rounded(*to_singular) if to_singular else None,
            distance_to_boundary=rounded(*boundary) if boundary else None,
            nearest_singular_locus=locus,
            relative_change_of_function=rounded(*change) if change else None,
        )


def _angles(pair: Pair | None, effective: tuple[int, int], ranks: Ranks) -> list[float | None]:
    """Principal angles; as many as the spaces have dimensions in common are 0 exactly."""
    if pair is None:
        return []
    zeros = ranks.m if ranks.proved and effective == (ranks.r, ranks.s) else 0
    return [0.0 if place < zeros else angle for place, angle in enumerate(pair.angles(effective))]


def _to_boundary(pair: Pair | None, shape: HeadShape, ranks: Ranks) -> Measured | None:
    """The distance to A = v qᵀ, V = h vᵀ; there is no boundary for d = 1, and none is known for softmax."""
    if shape.d == 1 or shape.softmax:
        return None
    if pair is None or (ranks.proved and shape.is_boundary(ranks.r, ranks.s, ranks.m)):
        return 0.0, 0.0
    return pair.boundary_distance()


def _to_singular(
    A: Spectrum, V: Spectrum, pair: Pair | None, shape: HeadShape, boundary: Measured | None
) -> tuple[Measured | None, str, Measured | None]:
    """The distance to the nearest part of the singular locus, its name, and the change of the function on the way."""
    alpha, beta, d = shape.alpha, shape.beta, shape.d
    if d == 1 or shape.softmax:
        return None, "", None
    if pair is None:
        return (0.0, 0.0), "zero", (0.0, 0.0)
    found: list[tuple[Measured | None, str, Measured | None]] = [((1.0, EPSILON), "zero", (1.0, EPSILON))]
    if alpha == beta == 1:
        if d >= 3 and boundary:  # the forms k and v, at the angle 2·arcsin of the distance, become one
            half = 2 * boundary[0] ** 2
            found.append((boundary, "A = vqᵀ, V = hvᵀ", (half / sqrt((2 - half) ** 2 + half**2), 4 * boundary[1])))
    else:
        found.append((max(A.distance(1), V.distance(1)), "rk A = rk V = 1", pair.change(1, 1)))
    if 1 < alpha < d:
        found.append((A.distance(alpha - 1), f"rk A ≤ {alpha - 1}", pair.change(alpha - 1, len(V.values))))
    if 1 < beta < shape.most_V:
        found.append((V.distance(beta - 1), f"rk V ≤ {beta - 1}", pair.change(len(A.values), beta - 1)))
    return min(found, key=lambda part: part[0] or (1.0, 0.0))

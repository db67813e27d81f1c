"""What floating-point numbers say of a head: singular values, effective ranks, distances.

A = KᵀQ and OV are never multiplied out: their singular values are found for small matrices, by QR
decompositions of the factors. V stands for OV where there is an output matrix. The *error* of a
number is how far it may be from the exact one: an estimate for rounding (worst cases are larger),
plus a bound for what errors of given matrices make; only digits that it supports are kept. A number
is ``None`` where rounding does not distinguish it from 0. *Norms* are spectral, the largest
singular value, unless the norm of Frobenius is named.

Distances are relative: a locus is at distance ε if changes of A and of V by at most ε‖A‖ and ε‖V‖,
in the norm of Frobenius, reach it, and no smaller ones do. The parts of the singular locus are, but
for the zero function: for α = β = 1 the boundary A = v qᵀ, V = h vᵀ, if d ≥ 3; else the pairs of
rank one, and ranks below α < d and below β < min(d, d'). Proofs are in
``docs/weights-mathematics.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, inf, isfinite, log10, prod, sqrt, ulp
from typing import Any, NamedTuple

import numpy

from m2bridge.results.sheet import in_brackets
from m2bridge.trained_weights.checkpoints.arrays import PRECISIONS
from m2bridge.trained_weights.heads.eigenvalues import EPSILON, least_largest_eigenvalue
from m2bridge.trained_weights.heads.ranks import Ranks, factors
from m2bridge.trained_weights.heads.shape import HeadShape
from m2bridge.trained_weights.heads.token_space import ReducedHead

Measured = tuple[float, float]
"""A number, and its error."""


def rounded(value: float, error: float) -> float | None:
    """Return a value with the digits that its error supports; ``None`` if it supports none.

    Examples
    --------
    >>> rounded(0.123456, 3e-4), rounded(1e-9, 1e-8), rounded(0.0, 0.0)
    (0.12, None, 0.0)
    """
    if value == 0 and error == 0:
        return 0.0
    if not (isfinite(value) and isfinite(error)):
        return None
    # The exact number is not 0 beyond one error; within two errors no digit would be right.
    if abs(value) <= 2 * error:
        return None
    digits = 15  # floating-point numbers have as many
    if error:
        digits = max(1, min(digits, floor(log10(abs(value) / error))))
    return float(f"{value:.{digits}g}")


def precision(array: Any) -> float:
    """Return the precision of float32 if all entries are such numbers, else of float64.

    Integers alone tell nothing of the type, and count as float64.
    """
    # Entries times a power of two, so that none is beyond the exponents of float32.
    entries, _exponent = scaled(array)
    is_single = (entries == entries.astype("float32")).all()
    has_fractions = (array % 1).any()
    return PRECISIONS["float32" if is_single and has_fractions else "float64"]


@dataclass(frozen=True, slots=True, eq=False)
class Spectrum:
    """Singular values of a matrix and its right singular vectors."""

    values: Any  # in decreasing order, of the matrix times 2^−exponent; 0 beyond the exact rank
    vectors: Any  # d × k for k values
    error: float  # of each value
    exponent: int  # the matrix is 2^exponent times one whose largest value is about 1
    rank: int | None  # where it is proved

    @classmethod
    def of(cls, product: list[Any], rank: int | None, errors: Sequence[float] = ()) -> Spectrum:
        """Return the spectrum of a matrix, m × d, or of a product of two, m × n and n × d, which is
        not multiplied out unless nearly everything cancels in it.

        ``rank`` is the exact rank of the product, if it is proved, and ``errors`` bounds the norms
        of the errors of the matrices; empty if they have none.
        """
        # A matrix is 2^exponent·W, with entries of W up to 1: no square of one is too large.
        matrices, exponents = zip(*map(scaled, product), strict=True)
        basis, triangle = numpy.linalg.qr(matrices[-1].T)
        # The product is P · core · basisᵀ, where P and ``basis`` have orthonormal columns. So the
        # core, a small matrix, has the singular values of the product.
        core = triangle.T
        if len(matrices) == 2:
            core = numpy.linalg.qr(matrices[0], mode="r") @ core
        _, values, rows = numpy.linalg.svd(core, full_matrices=False)
        norms = [float(values[0])]
        if len(matrices) == 2:
            norms = [float(numpy.linalg.norm(factor, 2)) for factor in matrices]
            # The product is proved not to be 0. If nearly everything cancels in it, so few digits
            # of the rounded product would be right that it is multiplied exactly, if few products
            # of fractions suffice.
            is_cancelled = rank and not any(errors) and values[0] <= 1e-8 * prod(norms)
            left, right = product
            if is_cancelled and prod(left.shape) * right.shape[1] <= 2**15:
                to_fractions = numpy.frompyfunc(Fraction, 1, 1)
                return cls.of([to_fractions(left) @ to_fractions(right)], rank)
        # By Weyl's inequality the error of a value is at most the norm of the change of the matrix
        # that rounding amounts to. For QR decompositions and singular values that is a small
        # multiple of EPSILON times the norm (Higham, *Accuracy and Stability of Numerical
        # Algorithms*, Theorem 19.4). The multiple is taken to be 2√size; worst cases are larger.
        size = max(max(factor.shape) for factor in matrices)
        error = 2 * sqrt(size) * EPSILON * prod(norms)
        if any(errors):
            norms_with_errors = []
            for norm, error_of_matrix, exponent in zip(norms, errors, exponents, strict=True):
                # W is the matrix divided by 2^exponent, and so is its error.
                norms_with_errors.append(norm + float(numpy.ldexp(error_of_matrix, -exponent)))
            error += prod(norms_with_errors) - prod(norms)
            # The product of positive errors may be 0 in floating point; the least positive number
            # is a bound, too.
            error = max(error, ulp(0.0))
        # Singular values beyond the exact rank are 0, and what is computed of them is rounding.
        if rank is not None:
            values[rank:] = 0
        # The largest value is made about 1, so that no square of the others underflows.
        exponent_of_largest = int(numpy.frexp(values[0])[1])
        return cls(
            values=numpy.ldexp(values, -exponent_of_largest),
            vectors=basis @ rows.T,
            error=float(numpy.ldexp(error, -exponent_of_largest)),
            exponent=sum(exponents) + exponent_of_largest,
            rank=rank,
        )

    @property
    def norm(self) -> float:
        """The norm of Frobenius of the matrix times 2^−exponent."""
        return float(numpy.linalg.norm(self.values))

    @property
    def relative_error(self) -> float:
        """The error of all values together, divided by the norm of Frobenius."""
        error_of_all = sqrt(len(self.values)) * self.error
        if self.norm > 0:
            return error_of_all / self.norm
        return inf if error_of_all > 0 else 0.0

    def distance(self, rank: int) -> Measured:
        """Return the relative distance to the matrices of at most this rank: the norm of the
        singular values that are left out (Eckart, Young 1936). Number and error are 0 only if it is
        proved that the matrix is one of these.
        """
        proved_bound = len(self.values) if self.rank is None else self.rank
        if rank >= proved_bound:
            return 0.0, 0.0
        value = 0.0
        if self.norm > 0:
            value = float(numpy.linalg.norm(self.values[rank:])) / self.norm
        # The norms of the values left out and of all values each change by at most the error of all
        # values. So their quotient, which is at most 1, changes by about two relative errors at
        # most; the 8 roundings are of the two norms and of the quotient.
        return value, 2 * self.relative_error + 8 * EPSILON

    def distances(self) -> list[float | None]:
        """Return the relative distances to rank at most 0, 1, 2, …."""
        return [rounded(*self.distance(rank)) for rank in range(len(self.values) + 1)]

    def effective_rank(self, tolerance: float) -> int:
        """Return the number of singular values above the tolerance times the largest one."""
        return int((self.values > tolerance * self.values[0]).sum())

    def shown(self) -> list[float | None]:
        """Return the singular values of the matrix with the digits that their errors support;
        ``None`` also for those that are beyond floating point.
        """
        # With larger exponents a value or its error is no floating-point number: of NaN
        # :func:`rounded` makes None.
        scale = 2.0**self.exponent if abs(self.exponent) < 900 else float("nan")
        error = self.error * scale
        # A positive error is not 0, whatever the product is in floating point.
        if self.error > 0:
            error = max(error, ulp(0.0))
        shown: list[float | None] = []
        for i, value in enumerate(self.values.tolist()):
            proved_zero = self.rank is not None and i >= self.rank
            shown.append(0.0 if proved_zero else rounded(value * scale, error))
        return shown


def scaled(array: Any) -> tuple[Any, int]:
    """Return a matrix W in double precision with entries of absolute value up to 1, and an exponent
    e, such that the array is about 2^e·W.
    """
    if array.dtype == object:
        largest = max(map(abs, array.flat))
        shift = 0
        if largest:
            # A fraction whose terms have m and n bits is less than 2^(m − n + 1).
            bits = int(largest.numerator).bit_length() - int(largest.denominator).bit_length()
            shift = bits + 1
        entries = [float(Fraction(entry) / Fraction(2) ** shift) for entry in array.flat]
        return numpy.array(entries).reshape(array.shape), shift
    array = array.astype(float)
    shift = int(numpy.frexp(abs(array).max())[1])
    return numpy.ldexp(array, -shift), shift


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """The spectra of A and V, neither of which is 0."""

    A: Spectrum  # of Aᵀ, so that its vectors are in the column space of A
    V: Spectrum
    cosines: Any  # inner products of the vectors of V (rows) and of A (columns)

    @property
    def error(self) -> float:
        """The error of a cosine: the relative errors of A and V, and rounding in d products."""
        return self.A.relative_error + self.V.relative_error + len(self.A.vectors) * EPSILON

    def angles(self, ranks: tuple[int, int], zeros: int) -> list[float | None]:
        """Return the principal angles between the spaces of as many leading singular vectors of A
        and of V, in radians, the smallest first; ``zeros`` of them are 0, as is proved.

        The principal vectors of the smaller space are projected to the larger one. A sine is the
        norm of what the projection leaves, as cosines near 1 do not tell small angles apart
        (Björck, Golub 1973).
        """
        rank_A, rank_V = ranks
        smaller, larger = self.A.vectors[:, :rank_A], self.V.vectors[:, :rank_V]
        if smaller.shape[1] > larger.shape[1]:
            smaller, larger = larger, smaller
        # as many cosines as the smaller space has dimensions
        _, cosines, right_vectors = numpy.linalg.svd(larger.T @ smaller)
        principal_vectors = smaller @ right_vectors.T
        projections = larger @ (larger.T @ principal_vectors)
        sines = numpy.linalg.norm(principal_vectors - projections, axis=0)
        # By rounding, the space of leading vectors turns by about the error divided by the last
        # value in it; the factors 4 and 8 are generous for the steps above, and not proved.
        turn = self.A.error / self.A.values[rank_A - 1]
        turn += self.V.error / self.V.values[rank_V - 1]
        error = 4 * turn + 8 * EPSILON
        angles = numpy.arctan2(sines, cosines).tolist()
        return [0.0] * zeros + [rounded(angle, error) for angle in angles[zeros:]]

    def boundary_distance(self) -> Measured:
        """Return the relative distance of (A, V) to the pairs A = v qᵀ, V = h vᵀ with a common v.

        For a unit vector v the nearest such matrices are v vᵀA and V v vᵀ, at the relative
        distances √(1 − vᵀMv) and √(1 − vᵀNv) with M = AAᵀ/‖A‖², N = VᵀV/‖V‖². The largest min(vᵀMv,
        vᵀNv) is the least of the largest eigenvalues of λM + (1 − λ)N, 0 ≤ λ ≤ 1 (Brickman 1961).
        """
        # Square roots of M and N: M = root·rootᵀ.
        spectra = (self.A, self.V)
        roots = [spectrum.vectors * (spectrum.values / spectrum.norm) for spectrum in spectra]
        vectors_of_both = numpy.hstack([self.A.vectors, self.V.vectors])
        if vectors_of_both.shape[1] < vectors_of_both.shape[0]:
            # M and N are 0 on what is orthogonal to the singular vectors of A and V, so smaller
            # matrices on the space that these span have the same largest eigenvalues.
            basis, _ = numpy.linalg.qr(vectors_of_both)
            roots = [basis.T @ root for root in roots]
        M, N = (root @ root.T for root in roots)
        lower, upper = least_largest_eigenvalue(M, N)
        # The square of the distance.
        squared = max(1.0 - upper, 0.0)
        # Errors of the products, of the singular vectors, and of the least largest eigenvalue.
        error = len(M) * EPSILON + 2 * self.error + (upper - lower)
        if squared == 0.0:
            return 0.0, sqrt(error)
        # |√x − √y| is at most √|x − y|, and at most |x − y| / √x.
        return sqrt(squared), min(sqrt(error), error / sqrt(squared))

    def change(self, rank_A: int, rank_V: int) -> Measured:
        """Return the relative change of the function φ(A, V) where A and V are truncated to these
        ranks; number and error are 0 only if it is proved that nothing is cut off.

        In a norm that orthogonal changes of the tokens preserve, ½(‖A‖²‖V‖² + ‖VA‖²) is the square
        of the norm of φ(A, V). Let A' and V' be the truncations, A = A' + E and V = V' + F. Then
        the change is φ(E, V) + φ(A', F). The two are orthogonal, since A'Eᵀ = 0, so that squares
        are added.
        """
        if self.A.distance(rank_A) == self.V.distance(rank_V) == (0.0, 0.0):
            return 0.0, 0.0
        S, T = self.A.values, self.V.values
        # The squares of the entries of VA on bases of singular vectors: their sum is ‖VA‖².
        squares_of_VA = (T[:, None] * self.cosines * S) ** 2
        s, t = S**2, T**2
        # ‖E‖²‖V‖² + ‖A'‖²‖F‖², and then ‖VE‖² + ‖FA'‖².
        square_of_change = s[rank_A:].sum() * t.sum() + s[:rank_A].sum() * t[rank_V:].sum()
        square_of_change += squares_of_VA[:, rank_A:].sum() + squares_of_VA[rank_V:, :rank_A].sum()
        value = sqrt(square_of_change / (s.sum() * t.sum() + squares_of_VA.sum()))
        # An error of a matrix changes its truncation by more than itself, by about these factors.
        instability = _instability(S, rank_A) + _instability(T, rank_V)
        # φ(A, V) changes by at most the error times ‖A‖‖V‖, which is at most √2 times the norm of
        # φ(A, V), and φ(A', V') by about that times the instability. For the quotient, at most 1,
        # the former counts twice: 2√2 (1 + instability) times the error, with 4 in place of 2√2.
        return value, 4 * self.error * (1 + instability)


def _instability(values: Any, rank: int) -> float:
    """Return about the factor by which a truncation to a rank changes more than the matrix: the
    largest singular value divided by the gap between the last one that is kept and the next.
    """
    if not 0 < rank < len(values) or values[rank] == 0:
        return 0.0
    gap = max(values[rank - 1] - values[rank], EPSILON * values[0])
    return float(values[0] / gap)


class MatrixNumbers(NamedTuple):
    """What is computed of A or V of a head."""

    singular_values: list[float | None]
    effective_rank: int
    distances: list[float | None]  # to rank at most 0, 1, 2, …


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Numerical:
    """The numbers of a head that are computed in floating point, as JSON has them."""

    kind: str  # the type in which the weights are stored
    tolerance: float  # singular values above it, times the largest, count for effective ranks
    singular_values_A: list[float | None]
    singular_values_V: list[float | None]
    effective_rank_A: int
    effective_rank_V: int
    distances_to_lower_rank_A: list[float | None]
    distances_to_lower_rank_V: list[float | None]
    principal_angles: list[float | None]  # of the column space of A and the row space of V
    distance_to_singular_locus: float | None
    distance_to_boundary: float | None
    nearest_singular_locus: str  # the name of its nearest part; empty where no part is known
    relative_change_of_function: float | None  # where A and V are moved to that part

    def __repr__(self) -> str:
        return in_brackets(self, "kind", "tolerance", "effective_rank_A", "effective_rank_V")

    @classmethod
    def of(
        cls, head: ReducedHead, shape: HeadShape, ranks: Ranks, tolerance: float | None
    ) -> Numerical:
        """Compute the singular values of A and V of a head, and what follows from them; by default
        with the precision of the stored type as tolerance.
        """
        kind = head.arrays.kind
        matrices, error_bounds = head.rounded()
        factors_of_A, factors_of_V = factors(matrices)
        # The errors of factors in the order in which :func:`factors` has them.
        errors_of_A = [error_bounds.get(letter, 0.0) for letter in "AQK" if letter in matrices]
        errors_of_V = [error_bounds.get(letter, 0.0) for letter in "OV" if letter in matrices]
        A = Spectrum.of(factors_of_A, ranks.r if ranks.proved else None, errors_of_A)
        V = Spectrum.of(factors_of_V, ranks.s if ranks.proved else None, errors_of_V)
        if tolerance is None:
            tolerance = PRECISIONS[kind]
        rank_A, rank_V = A.effective_rank(tolerance), V.effective_rank(tolerance)
        pair = None
        angles: list[float | None] = []
        # An effective rank is 0 if the product is 0, or is lost in rounding.
        if rank_A > 0 and rank_V > 0:
            pair = Pair(A, V, cosines=V.vectors.T @ A.vectors)
            # The exact dimension m is that of the intersection of the spaces of leading singular
            # vectors only if these have the exact ranks as dimensions.
            are_exact = ranks.proved and (rank_A, rank_V) == (ranks.r, ranks.s)
            angles = pair.angles((rank_A, rank_V), zeros=ranks.m if are_exact else 0)
        boundary = None
        nearest = _SingularPart("", None, None)
        # Nothing is said of a product that is lost in rounding, and not proved to be 0; there are
        # no singular functions for d = 1, and of softmax none are known; where one of K and V alone
        # has a bias, k and v are in different spaces, for which no distances are computed.
        is_proved_zero = ranks.proved and (ranks.r == 0 or ranks.s == 0)
        has_parts = shape.d > 1 and not shape.softmax and shape.keys == shape.values > 1
        if has_parts and pair is None and is_proved_zero:
            boundary = (0.0, 0.0)
            nearest = _SingularPart("zero", boundary, boundary)
        elif has_parts and pair is not None:
            boundary = (0.0, 0.0)
            if not (ranks.proved and shape.is_boundary(*ranks.numbers)):
                boundary = pair.boundary_distance()
            parts = _singular_parts(pair, shape, boundary)
            # All parts have a distance; for the type checker one that is None counts as far.
            nearest = min(parts, key=lambda part: part.distance or (1.0, 0.0))
        return cls(
            kind=kind,
            tolerance=tolerance,
            singular_values_A=A.shown(),
            singular_values_V=V.shown(),
            effective_rank_A=rank_A,
            effective_rank_V=rank_V,
            distances_to_lower_rank_A=A.distances(),
            distances_to_lower_rank_V=V.distances(),
            principal_angles=angles,
            distance_to_singular_locus=_shown(nearest.distance),
            distance_to_boundary=_shown(boundary),
            nearest_singular_locus=nearest.name,
            relative_change_of_function=_shown(nearest.change),
        )

    def numbers_of(self, letter: str) -> MatrixNumbers:
        """Return the numbers of A or V."""
        if letter == "A":
            return MatrixNumbers(
                self.singular_values_A, self.effective_rank_A, self.distances_to_lower_rank_A
            )
        return MatrixNumbers(
            self.singular_values_V, self.effective_rank_V, self.distances_to_lower_rank_V
        )


def _shown(measured: Measured | None) -> float | None:
    """Return a number with the digits that its error supports."""
    return None if measured is None else rounded(*measured)


class _SingularPart(NamedTuple):
    """A part of the singular locus, its distance, and the relative change of the function where A
    and V are moved to it; an empty name, and ``None``, where no part is known.
    """

    name: str
    distance: Measured | None
    change: Measured | None


def _singular_parts(pair: Pair, shape: HeadShape, boundary: Measured) -> Iterator[_SingularPart]:
    """Yield the parts of the singular locus; ``boundary`` is the distance to the boundary."""
    A, V = pair.A, pair.V
    alpha, beta = shape.alpha, shape.beta
    # The relative distance of A, and of V, to 0 is 1, and so is the change of the function.
    yield _SingularPart("zero", (1.0, EPSILON), (1.0, EPSILON))
    if alpha == beta == 1:
        if shape.common >= 3:
            yield _SingularPart("A = vqᵀ, V = hvᵀ", boundary, _change_to_boundary(boundary))
        return
    yield _SingularPart("rk A = rk V = 1", max(A.distance(1), V.distance(1)), pair.change(1, 1))
    # With as many values as it has, the other matrix is not truncated.
    if 1 < alpha < shape.most_A:
        change_A = pair.change(alpha - 1, len(V.values))
        yield _SingularPart(f"rk A ≤ {alpha - 1}", A.distance(alpha - 1), change_A)
    if 1 < beta < shape.most_V:
        change_V = pair.change(len(A.values), beta - 1)
        yield _SingularPart(f"rk V ≤ {beta - 1}", V.distance(beta - 1), change_V)


def _change_to_boundary(distance_to_boundary: Measured) -> Measured:
    """Return the relative change of the function of A = k qᵀ, V = h vᵀ where these are moved to the
    nearest pair A = u qᵀ, V = h uᵀ, computed from the distance to such pairs.

    The function at tokens x and y is k(x)v(x)·q(y)·h: the quadratic form kv is all that changes, to
    a multiple of u². The distance is the sine of half the angle θ between k and v: 1 − cos θ is
    twice the square of that. For unit vectors kv has the eigenvalues (cos θ ± 1)/2, and a square of
    a form has only one that is not 0: the change is the smaller eigenvalue, divided by the norm of
    both.
    """
    distance, error = distance_to_boundary
    one_minus_cosine = 2 * distance**2
    one_plus_cosine = 2 - one_minus_cosine
    change = one_minus_cosine / sqrt(one_plus_cosine**2 + one_minus_cosine**2)
    return change, 4 * error

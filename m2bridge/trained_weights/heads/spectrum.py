"""Singular values of matrices and of pairs of matrices, and distances by them, all numerical.

A = KᵀQ and OV are never multiplied out: their singular values are those of small matrices, by QR
decompositions of the factors. The *error* of a number is how far it may be from the exact one: an
estimate for rounding (worst cases are larger), plus a bound for what errors of given matrices make;
only digits that it supports are kept. *Norms* are spectral, the largest singular value, unless that
of Frobenius is named. Distances are relative: a locus is at distance ε if changes of A and of V by
at most ε‖A‖ and ε‖V‖, in the norm of Frobenius, reach it, and no smaller ones do. The proofs are in
``docs/weights-mathematics.md``.

V stands for OV where there is an output matrix O. A ``Measured`` quantity is a pair of a number and
its error. What follows for a head is in ``numerical``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, inf, isfinite, log10, prod, sqrt, ulp
from typing import Any

import numpy

from m2bridge.trained_weights.checkpoints.arrays import PRECISIONS
from m2bridge.trained_weights.heads.eigenvalues import EPSILON, least_largest_eigenvalue

_MAX_DIGITS = 6
"""The largest number of digits that are kept."""
_CANCELLED = 1e-8
"""A product whose norm is a smaller part of that of its factors is computed exactly if small."""
_MAX_EXACT_PRODUCTS = 2**15
"""The largest number of multiplications of fractions in a product that is computed exactly."""

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
    digits = _MAX_DIGITS
    if error:
        digits = max(1, min(digits, floor(log10(abs(value) / error))))
    return float(f"{value:.{digits}g}")


def precision(array: Any) -> float:
    """Return the precision of float32 if all entries are such numbers, else that of float64: the
    distance from 1 to the next number.

    Integers alone tell nothing of the type, and count as float64.
    """
    # Entries times a power of two, so that none is beyond the exponents of float32.
    scaled, _ = _scaled(array)
    is_single = (scaled == scaled.astype("float32")).all()
    has_fractions = (array % 1).any()
    if is_single and has_fractions:
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
        The right singular vectors as columns, d × k, with k values.
    error : float
        The error of each value.
    exponent : int
        The matrix is 2^exponent times one whose largest value is about 1.
    rank : int or None
        The exact rank, where it is proved.
    """

    values: Any
    vectors: Any
    error: float
    exponent: int
    rank: int | None

    @classmethod
    def of(cls, product: list[Any], rank: int | None, errors: Sequence[float] = ()) -> Spectrum:
        """Return the spectrum of a matrix, or of a product of two, which is not multiplied out
        unless nearly everything cancels in it.

        Parameters
        ----------
        product : list of array
            One matrix, m × d, or two factors, m × n and n × d.
        rank : int or None
            The exact rank of the product, if it is proved.
        errors : sequence of float
            For each of these matrices a bound for the norm of its error; empty, or all 0, where
            they have none.
        """
        # A matrix is 2^exponent·W, with entries of W up to 1: no square of one is too large.
        scaled = [_scaled(matrix) for matrix in product]
        matrices = [matrix for matrix, _ in scaled]
        exponents = [exponent for _, exponent in scaled]
        values, vectors = _singular_values_and_vectors(matrices)
        norms = _spectral_norms(matrices, values)
        if len(product) == 2 and rank and not any(errors):
            # The product is proved not to be 0. If nearly everything cancels in it, so few digits
            # of the rounded product would be right that it is multiplied exactly.
            is_cancelled = values[0] <= _CANCELLED * prod(norms)
            if is_cancelled and _is_small(product):
                return cls.of([_exact_product(*product)], rank)
        error = _error_of_rounding(matrices, norms)
        if any(errors):
            errors_of_scaled = []
            for error_of_matrix, exponent in zip(errors, exponents, strict=True):
                # W is the matrix divided by 2^exponent, and so is its error.
                errors_of_scaled.append(float(numpy.ldexp(error_of_matrix, -exponent)))
            error += _error_of_product(norms, errors_of_scaled)
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
            vectors=vectors,
            error=float(numpy.ldexp(error, -exponent_of_largest)),
            exponent=sum(exponents) + exponent_of_largest,
            rank=rank,
        )

    @property
    def norm(self) -> float:
        """The norm of Frobenius of the matrix times 2^−exponent, as that of :attr:`values`."""
        return float(numpy.linalg.norm(self.values))

    @property
    def relative_error(self) -> float:
        """The error of all values together, divided by the norm of Frobenius; infinite if that norm
        is 0 in floating point and the error is not.
        """
        error_of_all = sqrt(len(self.values)) * self.error
        if self.norm > 0:
            return error_of_all / self.norm
        return inf if error_of_all > 0 else 0.0

    def distance(self, rank: int) -> Measured:
        """Return the distance to the matrices of at most this rank, divided by the norm of
        Frobenius of the matrix, and its error. Both are 0 only if it is proved that it is one of
        these.

        It is the norm of the singular values that are left out (Eckart, Young 1936).
        """
        proved_bound = len(self.values) if self.rank is None else self.rank
        if rank >= proved_bound:
            return 0.0, 0.0
        value = 0.0
        if self.norm > 0:
            value = float(numpy.linalg.norm(self.values[rank:])) / self.norm
        # The norms of the values left out and of all values each change by at most the error of all
        # values. So their quotient, which is at most 1, changes by about two relative errors at
        # most; the 8 roundings are those of the two norms and of the quotient.
        return value, 2 * self.relative_error + 8 * EPSILON

    def effective_rank(self, tolerance: float) -> int:
        """Return the number of singular values above the tolerance times the largest one."""
        return int((self.values > tolerance * self.values[0]).sum())

    def shown(self) -> list[float | None]:
        """Return the singular values of the matrix, not scaled by 2^−exponent, with the digits that
        their errors support; ``None`` for those that may be 0, or that are beyond floating point.
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


def _singular_values_and_vectors(matrices: list[Any]) -> tuple[Any, Any]:
    """Return the singular values of a matrix, or of the product of two, in decreasing order, and
    the right singular vectors as columns. A product of two is not multiplied out.

    ``matrices`` has one matrix, m × d, or two factors, m × n and n × d.
    """
    basis, triangle = numpy.linalg.qr(matrices[-1].T)
    # The product is P · core · basisᵀ, where P and ``basis`` have orthonormal columns. So the core,
    # a small matrix, has the singular values of the product.
    core = triangle.T
    if len(matrices) == 2:
        core = numpy.linalg.qr(matrices[0], mode="r") @ core
    _, values, rows = numpy.linalg.svd(core, full_matrices=False)
    return values, basis @ rows.T


def _spectral_norms(matrices: list[Any], values: Any) -> list[float]:
    """Return the spectral norm of one matrix, or those of two factors. ``values`` are the singular
    values of the matrix, or of the product of the factors, which do not tell norms of the factors.
    """
    if len(matrices) == 1:
        return [float(values[0])]
    return [float(numpy.linalg.norm(factor, 2)) for factor in matrices]


def _error_of_rounding(matrices: list[Any], norms: list[float]) -> float:
    """Return an estimate of the error that rounding makes in each singular value of a matrix, or of
    a product of two.

    By Weyl's inequality the error is at most the norm of the change of the matrix that rounding
    amounts to. For QR decompositions and singular values that is a small multiple of EPSILON times
    the norm (Higham, *Accuracy and Stability of Numerical Algorithms*, Theorem 19.4), here times
    the product of the ``norms`` of the ``matrices``. The multiple is taken to be 2√size, where
    ``size`` is the largest number of rows or columns; bounds for the worst case are larger.
    """
    size = max(max(factor.shape) for factor in matrices)
    return 2 * sqrt(size) * EPSILON * prod(norms)


def _error_of_product(norms: list[float], errors: list[float]) -> float:
    """Return a bound for the norm of the error of a product whose factors have these norms, and
    errors of at most these norms: the product of norms with errors, less that without.
    """
    norms_with_errors = [norm + error for norm, error in zip(norms, errors, strict=True)]
    return prod(norms_with_errors) - prod(norms)


def _is_small(product: list[Any]) -> bool:
    """Return whether the product of two matrices takes few enough multiplications of fractions."""
    left, right = product
    return bool(prod(left.shape) * right.shape[1] <= _MAX_EXACT_PRODUCTS)


def _exact_product(left: Any, right: Any) -> Any:
    """Return the product of two matrices as an array of fractions, which are objects."""
    to_fractions = numpy.frompyfunc(Fraction, 1, 1)
    return to_fractions(left) @ to_fractions(right)


def _scaled(array: Any) -> tuple[Any, int]:
    """Return a matrix W in double precision with entries of absolute value up to 1, and an exponent
    e, such that the given ``array`` is about 2^e·W.
    """
    if array.dtype == object:
        largest = max(map(abs, array.flat))
        shift = 0
        if largest:
            # A fraction whose terms have m and n bits is less than 2^(m − n + 1).
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

    Parameters
    ----------
    A, V : Spectrum
        That of A is the spectrum of Aᵀ: its vectors are in the column space of A, and those of V in
        the row space of V.
    cosines : array
        The inner products of the right singular vectors of V (rows) with the left ones of A
        (columns).
    """

    A: Spectrum
    V: Spectrum
    cosines: Any

    @property
    def error(self) -> float:
        """The error of a cosine: the relative errors of A and V, and rounding in d products."""
        return self.A.relative_error + self.V.relative_error + len(self.A.vectors) * EPSILON

    def angles(self, ranks: tuple[int, int], zeros: int) -> list[float | None]:
        """Return principal angles between the spaces of leading singular vectors of A and V, in
        radians, the smallest first; ``None`` for those that rounding does not distinguish from 0.

        ``ranks`` are the dimensions of the two spaces, for A and V, and ``zeros`` is that of their
        intersection, as far as it is proved: as many angles are 0 exactly.

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
        """Return the relative distance of (A, V) to the pairs A = v qᵀ, V = h vᵀ with a common v,
        the functions at the boundary, and its error.

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
        """Return the relative change of the function φ(A, V) where A and V are truncated to the
        ranks ``rank_A`` and ``rank_V``, and its error.

        In a norm that orthogonal changes of the tokens preserve, ½(‖A‖²‖V‖² + ‖VA‖²) is the square
        of the norm of φ(A, V). Let A' and V' be the truncations, A = A' + E and V = V' + F. Then
        the change is φ(E, V) + φ(A', F). The two are orthogonal, since A'Eᵀ = 0, so that squares
        are added. Number and error are 0 only if it is proved that nothing is cut off.
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

    It is 0 where all values are cut off, or only zeros are.
    """
    if not 0 < rank < len(values) or values[rank] == 0:
        return 0.0
    gap = max(values[rank - 1] - values[rank], EPSILON * values[0])
    return float(values[0] / gap)

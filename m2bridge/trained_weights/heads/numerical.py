"""What floating-point numbers say of a head: singular values, effective ranks, distances.

Distances are relative: the singular locus or the boundary is at distance ε if changes of A and of V
by at most ε‖A‖ and ε‖V‖, in the norm of Frobenius, reach it, and no smaller ones do. V stands for
OV where there is an output matrix O. α and β are the largest ranks that A and V may have. A
``Measured`` quantity is a pair of a number and its error. The proofs are in
``docs/weights-mathematics.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

from m2bridge.trained_weights.checkpoints.arrays import PRECISIONS
from m2bridge.trained_weights.heads.eigenvalues import EPSILON
from m2bridge.trained_weights.heads.ranks import HeadShape, Ranks, factors
from m2bridge.trained_weights.heads.reduced_head import ReducedHead
from m2bridge.trained_weights.heads.spectrum import Measured, Pair, Spectrum, rounded


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Numerical:
    """The numbers computed in floating point; ``None`` where rounding does not distinguish
    them from 0, or they are not computed.

    Parameters
    ----------
    kind : str
        The type in which the weights are stored.
    tolerance : float
        Singular values above it, times the largest one, count for effective ranks. Where it is not
        given, it is the precision of the type ``kind``.
    singular_values_A, singular_values_V : list of float
    effective_rank_A, effective_rank_V : int
    distances_to_lower_rank_A, distances_to_lower_rank_V : list of float
        To rank at most 0, 1, 2, …
    principal_angles : list of float
        Between the column space of A and the row space of V, in radians.
    distance_to_singular_locus, distance_to_boundary : float
    nearest_singular_locus : str
        The name of its nearest part, as ``rk A ≤ 3``; empty where no part is known.
    relative_change_of_function : float
        How much the function changes where A and V are moved to that part.
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
        """Compute the singular values of A and V of a head, and what follows from them.

        Parameters
        ----------
        head : ReducedHead
            The head, with its matrices on the coordinates of tokens that it sees.
        shape : HeadShape
            Its sizes d, d', a, v, and α and β, the largest ranks of A and V.
        ranks : Ranks
            Its exact ranks, or lower bounds for them.
        tolerance : float or None
            ``None`` for the precision of the stored type.
        """
        A, V = _spectra(head, ranks)
        if tolerance is None:
            tolerance = PRECISIONS[head.kind]
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
        boundary, nearest = None, NOWHERE
        is_proved_zero = ranks.proved and (ranks.r == 0 or ranks.s == 0)
        # Of a product that is lost in rounding, and not proved to be 0, nothing is said.
        if pair is not None or is_proved_zero:
            boundary = _to_boundary(pair, shape, ranks)
            nearest = _to_singular(pair, shape, boundary)
        return cls(
            kind=head.kind,
            tolerance=tolerance,
            singular_values_A=A.shown(),
            singular_values_V=V.shown(),
            effective_rank_A=rank_A,
            effective_rank_V=rank_V,
            distances_to_lower_rank_A=_distances(A),
            distances_to_lower_rank_V=_distances(V),
            principal_angles=angles,
            distance_to_singular_locus=_shown(nearest.distance),
            distance_to_boundary=_shown(boundary),
            nearest_singular_locus=nearest.name,
            relative_change_of_function=_shown(nearest.change),
        )


class _Spectra(NamedTuple):
    """The singular values of Aᵀ, with vectors in the column space of A, and those of V, or OV."""

    A: Spectrum
    V: Spectrum


def _spectra(head: ReducedHead, ranks: Ranks) -> _Spectra:
    """Return the singular values of Aᵀ and of V, or OV, of a head; those beyond its exact ranks are
    0 where ``ranks`` proves these.
    """
    matrices, error_bounds = head.rounded()
    factors_of_A, factors_of_V = factors(matrices)
    # The errors of factors in the order in which :func:`factors` has them: Aᵀ, or Qᵀ and K; V, or O
    # and V. Matrices as they are in the file have no bound, as they have no error.
    errors_of_A = [error_bounds.get(letter, 0.0) for letter in "AQK" if letter in matrices]
    errors_of_V = [error_bounds.get(letter, 0.0) for letter in "OV" if letter in matrices]
    return _Spectra(
        A=Spectrum.of(factors_of_A, ranks.r if ranks.proved else None, errors_of_A),
        V=Spectrum.of(factors_of_V, ranks.s if ranks.proved else None, errors_of_V),
    )


def _shown(measured: Measured | None) -> float | None:
    """Return a number with the digits that its error supports; ``None`` if unknown, or maybe 0."""
    return None if measured is None else rounded(*measured)


def _distances(spectrum: Spectrum) -> list[float | None]:
    """Return the relative distances to rank at most 0, 1, 2, …, with the digits that are supported;
    ``None`` for those that may be 0.
    """
    return [rounded(*spectrum.distance(rank)) for rank in range(len(spectrum.values) + 1)]


class NearestSingular(NamedTuple):
    """A part of the singular locus, its distance, and the relative change of the function where A
    and V are moved to it; an empty name, and ``None`` for both numbers, where no part is known.
    """

    distance: Measured | None
    name: str
    change: Measured | None


NOWHERE = NearestSingular(None, "", None)
"""What is written where no part of the singular locus is known, or it is empty."""


def _to_boundary(pair: Pair | None, shape: HeadShape, ranks: Ranks) -> Measured | None:
    """Return the distance to A = v qᵀ, V = h vᵀ, the functions at the boundary; ``None`` for d = 1,
    where there are none, and for softmax, of which none are known.

    ``pair`` is ``None`` where A or V is 0: the zero function is at the boundary. The distance is 0
    where this, or the exact ranks, prove that the function is at the boundary.
    """
    if shape.d == 1 or shape.softmax:
        return None
    if pair is None or (ranks.proved and shape.is_boundary(ranks.r, ranks.s, ranks.m)):
        return 0.0, 0.0
    return pair.boundary_distance()


def _to_singular(pair: Pair | None, shape: HeadShape, boundary: Measured | None) -> NearestSingular:
    """Return the nearest part of the singular locus; its parts are those of
    docs/weights-mathematics.md, Heads with an output matrix.

    ``pair`` is ``None`` where A or V is 0, and ``boundary`` is the distance to the boundary.
    """
    if shape.d == 1 or shape.softmax:
        return NOWHERE
    if pair is None:
        return NearestSingular((0.0, 0.0), "zero", (0.0, 0.0))
    # The relative distance of A, and of V, to 0 is 1, and so is the change of the function.
    zero = NearestSingular((1.0, EPSILON), "zero", (1.0, EPSILON))
    parts = [zero, *_parts_but_zero(pair, shape, boundary)]
    # All of these parts have a distance; for the type checker one that is None counts as far.
    return min(parts, key=lambda part: part.distance or (1.0, 0.0))


def _parts_but_zero(
    pair: Pair, shape: HeadShape, boundary: Measured | None
) -> Iterator[NearestSingular]:
    """Yield the parts of the singular locus apart from the zero function, with their distances and
    the changes of the function on the way: for α = β = 1 the boundary, if d ≥ 3; else the pairs of
    rank one, and those of ranks below α < d and β < min(d, d').

    ``boundary`` is the distance to A = v qᵀ, V = h vᵀ; ``None``, if it is not known, leaves out
    that part.
    """
    A, V = pair.A, pair.V
    alpha, beta = shape.alpha, shape.beta
    if alpha == beta == 1:
        if shape.d >= 3 and boundary is not None:
            change = _change_to_boundary(boundary)
            yield NearestSingular(boundary, "A = vqᵀ, V = hvᵀ", change)
        return
    yield NearestSingular(max(A.distance(1), V.distance(1)), "rk A = rk V = 1", pair.change(1, 1))
    # With as many values as it has, the other matrix is not truncated.
    if 1 < alpha < shape.d:
        change_A = pair.change(alpha - 1, len(V.values))
        yield NearestSingular(A.distance(alpha - 1), f"rk A ≤ {alpha - 1}", change_A)
    if 1 < beta < shape.most_V:
        change_V = pair.change(len(A.values), beta - 1)
        yield NearestSingular(V.distance(beta - 1), f"rk V ≤ {beta - 1}", change_V)


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

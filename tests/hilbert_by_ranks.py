"""The Hilbert function of the closure of an image by ranks modulo a random prime, with a bound for
the probability.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log2
from random import Random

from m2bridge.algebra.numbers import is_prime
from m2bridge.implicitization.elimination import (
    ModularElimination,
    in_independent_coordinates,
    linear_part,
)
from m2bridge.implicitization.graded_pieces import (
    DegreePieces,
    GradedPiece,
    MonomialSpace,
    PackedGrading,
    complete_degrees,
)
from m2bridge.implicitization.multigraded_map import MultigradedMap

LOWEST_PRIME = 1 << 30
PRIMES_IN_RANGE = 50_000_000
"""There are more than that between 2^30 and 2^31 (50 697 537)."""


@dataclass(frozen=True, slots=True)
class HilbertFunction:
    """Dimensions of the coordinate ring of an image, computed at random points modulo a random
    prime.

    Parameters
    ----------
    values : tuple of int
        H(0), …, H(N). If no accident happened they are exact; after an accident they could be too
        small.
    requested_degree : int
        Larger than N if the time ended first.
    failure_probability : float
        Bound for the probability of an accident, for points and prime chosen uniformly. For a
        multidegree with M monomials of degree n, the matrix of their values has rank r ≤ M; some
        r×r minor, chosen before points and prime, is not zero. It has degree ≤ r·n·D in the
        parameters, D the degree of the images, so it vanishes at random points with probability ≤
        M·n·D/p (Schwartz, Zippel); all its coefficients are divisible by a random prime with
        probability ≤ log(bound of the coefficients)/log(2^30)/number of primes. Where no such minor
        vanishes, every rank is right: the first points give as many independent rows as there are
        points, up to r. Where monomials are expanded on a slice, no points are drawn, and the same
        bound holds: some r×r minor of the coefficients is not zero, an integer with a smaller
        bound. The slice is dense unless a minor of the Jacobian matrix of the images, of degree ≤ D
        for each of its rows, vanishes at one more point; that is counted like a multidegree of
        degree 1.
    """

    values: tuple[int, ...]
    requested_degree: int
    failure_probability: float


def hilbert_function(
    source: MultigradedMap, max_degree: int, *, seed: int | None = None
) -> HilbertFunction:
    """Values of the Hilbert function of the closure of the image; :func:`implicitize` gives them
    with proof.

    Within a limit of :mod:`m2bridge.limits`, those of the degrees that were completed.

    Parameters
    ----------
    source : MultigradedMap
    max_degree : int
    seed : int, optional
        For repeatable points; the bound for the probability holds without a seed, for random
        numbers of the system.
    """
    random = Random(seed)
    independent = in_independent_coordinates(source, linear_part(source))
    grading = PackedGrading.of(independent, max_degree)
    elimination = ModularElimination.of(independent, max_degree, random, random_prime(random))

    def compute(multidegree: int, degree: int, lower: Mapping[int, DegreePieces]) -> GradedPiece:
        space = MonomialSpace.of(multidegree, degree, grading=grading, lower=lower)
        pivots = elimination.echelon(space.candidates)[1]
        return GradedPiece(monomials=space.monomials, basis=pivots)

    completed = complete_degrees(grading, max_degree, compute)
    sizes = [
        (n, len(piece.monomials))
        for n, degree in completed.items()
        for piece in degree.pieces.values()
    ]
    values = tuple(degree.dimension for degree in completed.values())
    return HilbertFunction(values, max_degree, _failure_probability(independent, sizes))


def random_prime(random: Random) -> int:
    """A random prime between 2^30 and 2^31, all equally likely."""
    while not is_prime(candidate := random.randrange(LOWEST_PRIME, 2 * LOWEST_PRIME)):
        pass
    return candidate


def _failure_probability(source: MultigradedMap, sizes: Iterable[tuple[int, int]]) -> float:
    images = source.integral_images
    image_degree = max((sum(exponents) for image in images for exponents in image), default=0)
    # The sum of the absolute values of the coefficients is submultiplicative.
    norm = max([2, *(sum(abs(c) for c in image.values()) for image in images)])
    total = 0.0
    parameters = len(source.polynomial_map.source.variables)
    jacobian = (1, min(parameters, len(images)))
    # Derivatives have norm at most D times that of the images.
    norm *= max(image_degree, 1)
    for degree, size in [jacobian, *sizes]:
        bits = size * (log2(max(size, 2)) + degree * log2(norm))
        total += size * degree * image_degree / LOWEST_PRIME + bits / 30 / PRIMES_IN_RANGE
    return min(total, 1.0)

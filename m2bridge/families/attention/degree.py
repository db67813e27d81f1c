"""The degree of the closure by the projection formula: observed, without the closed formula that predicts it.

The projective parametrization P(D_α) × P(R^{d'×d}) → P^N is given by forms of bidegree (1, 1). If they have no common
zero, the degree of the image times the number of points of the generic fibre is (h_A + h_V)^(δ_A + δ_V) on the source,
C(δ_A + δ_V, δ_V)·deg P(D_α). This is not in the paper; it is proved in the documentation of m2bridge, section Degrees.
"""

from collections.abc import Sequence
from math import comb, factorial, prod
from typing import Any

import flint

from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.algebra.sparse_polynomial import WeightedAlgebra
from m2bridge.errors import ContradictionError
from m2bridge.families.attention.fibres import Fibre
from m2bridge.families.attention.parametrization import Index, coordinate
from m2bridge.families.attention.parametrization import reduced_indices as indices
from m2bridge.families.attention.shape import Shape


def degree_by_projection(shape: Shape, dimension: int, generic: Fibre) -> int:
    """The degree of the closure, from its affine dimension and the generic fibre. Hypothesis: the base locus is empty.

    Raises
    ------
    ContradictionError
        If the generic fibre is not reduced, which it is in characteristic 0, or its points do not divide the degree of
        the source.
    """
    of_V = shape.d * shape.d_out - 1
    source = comb(dimension - 1, of_V) * degree_of_low_rank(shape.d, shape.alpha)  # fibres are finite
    if not generic.reduced or source % generic.points:
        raise ContradictionError(f"the source has degree {source}, and the generic fibre is {generic}")
    return source // generic.points


def degree_of_low_rank(size: int, rank: int) -> int:
    """The degree of the projective variety of square matrices of rank at most ``rank``.

    The standard bitableaux are a basis of the polynomials on it. Their generating function is a determinant (Weyl's
    dimension formula, and that of Cauchy and Binet); the degree is its leading coefficient at 1.

    Examples
    --------
    >>> degree_of_low_rank(3, 2), degree_of_low_rank(4, 2)
    (3, 20)
    """
    corank = size - rank
    leading = [[factorial(2 * corank + j + k) for k in range(rank)] for j in range(rank)]
    return int(flint.fmpz_mat(leading).det()) // prod(map(factorial, range(corank, size))) ** 2


MOST_POINTS = 1500
"""Sections with more points are not counted."""

Factor = list[Any]
"""Coefficients of a polynomial in T, which are polynomials in the unknowns; the first is 1."""


def section_points(shape: Shape) -> int | None:
    """The number of points, with multiplicities, of the section in P(D_α) × P(R^{d'×d}).

    It is the degree of the closure times the length of the generic fibre. Hypothesis: t ≥ 2.

    Returns
    -------
    int or None
        ``None`` where they are not counted: for 1 < α < d, and where they seem to be more than :data:`MOST_POINTS`.
    """
    return section_algebra(shape).length() if is_counted(shape) else None


def is_counted(shape: Shape) -> bool:
    """Whether the points of the section are counted. This depends on the case alone."""
    return shape.alpha in (1, shape.d) and not _many_points(_sizes(shape))


def section_algebra(shape: Shape) -> WeightedAlgebra:
    """The functions on the section; the largest factor is eliminated, whose coefficients the first equations give."""
    sizes = _sizes(shape)
    solved = sizes.index(max(sizes))
    weights = tuple(e for j, size in enumerate(sizes) if j != solved for e in range(1, size))
    ring = flint.nmod_mpoly_ctx.get(("x", max(len(weights), 1)), LARGE_PRIME, flint.Ordering.lex)
    unknowns, zero, one = iter(ring.gens()), ring.constant(0), ring.constant(1)
    factors = [[one, *(zero if j == solved else next(unknowns) for _ in range(1, n))] for j, n in enumerate(sizes)]
    coordinates, relations = _coordinates(shape), []
    for e in range(1, _last_weight(sizes) + 1):
        equation = sum((_value(index, shape, factors) for index in coordinates[e]), start=zero)
        if e < sizes[solved]:
            factors[solved][e] = -equation  # in which it has the coefficient 1
        else:
            relations.append((e, {monomial: int(c) for monomial, c in equation.to_dict().items()}))
    return WeightedAlgebra(weights, tuple(relations))


def _sizes(shape: Shape) -> tuple[int, ...]:
    """The numbers of coefficients of the factors A and V; for α = 1, where A = k qᵀ, of k, q and V."""
    return (*((shape.d, shape.d) if shape.alpha == 1 else (shape.d**2,)), shape.d_out * shape.d)


def _last_weight(sizes: tuple[int, ...]) -> int:
    return sum(size - 1 for size in sizes)


def _many_points(sizes: tuple[int, ...]) -> bool:
    """Whether Bézout's theorem with weights expects more than :data:`MOST_POINTS`: a measure of the work."""
    weights = [weight for size in sorted(sizes)[:-1] for weight in range(1, size)]
    if len(weights) >= MOST_POINTS.bit_length():  # each unknown at least doubles the number
        return True
    return prod(range(max(sizes), _last_weight(sizes) + 1)) // prod(weights) > MOST_POINTS


def _coordinates(shape: Shape) -> dict[int, list[Index]]:
    """The indices (k, i, p, q) of the coordinates of each weight."""
    step = 1 if shape.alpha == 1 else shape.d
    places: dict[int, list[Index]] = {}
    for k, i, p, q in indices(shape):
        places.setdefault(p + q + step * i + shape.d * k, []).append((k, i, p, q))
    return places


def _value(index: Index, shape: Shape, factors: Sequence[Factor]) -> Any:
    """The coordinate c_{k,i,p,q} of the weights with these factors."""
    *first, last = factors

    def A(p: int, i: int) -> Any:
        return first[0][p] * first[1][i] if shape.alpha == 1 else first[0][p + shape.d * i]

    def V(k: int, q: int) -> Any:
        return last[q + shape.d * k]

    return coordinate(index, A, V)

"""The points of a linear section of the closure, counted in the weights: a second observation of the degree.

The section: for each e ≥ 1 the sum of the coordinates c_{k,i,p,q} with p + q + d (i + k) = e vanishes (indices from 0;
for α = 1 those with p + q + i + d k = e). With A(T) = Σ A_pi T^(p + d i), for α = 1 Σ A_pi T^(p + i), and
V(T) = Σ V_kq T^(q + d k) these sums are the coefficients of A(T) V(T), so the only point is the one where both are
constant. There all parameters have positive weights, and the multiplicity is the length of a graded algebra. This is
not in the paper; it is proved in the documentation of m2bridge, section Degrees.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import flint

from m2bridge.algebra.integers import LARGE_PRIME
from m2bridge.algebra.weighted_algebra import WeightedAlgebra
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.reduced_coordinates import Index, coordinate, indices

MOST_POINTS = 1500
"""Sections with more points are not counted."""

Factor = list[Any]
"""Coefficients of a polynomial in T, which are polynomials in the unknowns; the first is 1."""


def section_points(model: SingleLayerAttention) -> int | None:
    """The number of points, with multiplicities, of the section in P(D_α) × P(R^{d'×d}).

    It is the degree of the closure times the length of the generic fibre. Hypothesis: t ≥ 2.

    Returns
    -------
    int or None
        ``None`` where they are not counted: for 1 < α < d, and where they seem to be more than :data:`MOST_POINTS`.
    """
    return section_algebra(model).length() if is_counted(model) else None


def is_counted(model: SingleLayerAttention) -> bool:
    """Whether the points of the section are counted. This depends on the case alone."""
    return model.alpha in (1, model.d) and not _many_points(_sizes(model))


def section_algebra(model: SingleLayerAttention) -> WeightedAlgebra:
    """The functions on the section; the largest factor is eliminated, whose coefficients the first equations give."""
    sizes = _sizes(model)
    solved = sizes.index(max(sizes))
    weights = tuple(e for j, size in enumerate(sizes) if j != solved for e in range(1, size))
    ring = flint.nmod_mpoly_ctx.get(("x", max(len(weights), 1)), LARGE_PRIME, flint.Ordering.lex)
    unknowns, zero, one = iter(ring.gens()), ring.constant(0), ring.constant(1)
    factors = [[one, *(zero if j == solved else next(unknowns) for _ in range(1, n))] for j, n in enumerate(sizes)]
    coordinates, relations = _coordinates(model), []
    for e in range(1, _last_weight(sizes) + 1):
        equation = sum((_value(index, model, factors) for index in coordinates[e]), start=zero)
        if e < sizes[solved]:
            factors[solved][e] = -equation  # in which it has the coefficient 1
        else:
            relations.append((e, {monomial: int(c) for monomial, c in equation.to_dict().items()}))
    return WeightedAlgebra(weights, tuple(relations))


def _sizes(model: SingleLayerAttention) -> tuple[int, ...]:
    """How many coefficients the factors have: A and V; for α = 1, where A = k qᵀ, they are k, q and V."""
    return (*((model.d, model.d) if model.alpha == 1 else (model.d**2,)), model.d_out * model.d)


def _last_weight(sizes: tuple[int, ...]) -> int:
    return sum(size - 1 for size in sizes)


def _many_points(sizes: tuple[int, ...]) -> bool:
    """Whether Bézout's theorem with weights expects more than :data:`MOST_POINTS`: a measure of the work."""
    weights = [weight for size in sorted(sizes)[:-1] for weight in range(1, size)]
    if len(weights) >= MOST_POINTS.bit_length():  # each unknown at least doubles the number
        return True
    return prod(range(max(sizes), _last_weight(sizes) + 1)) // prod(weights) > MOST_POINTS


def _coordinates(model: SingleLayerAttention) -> dict[int, list[Index]]:
    """The indices (k, i, p, q) of the coordinates of each weight."""
    step = 1 if model.alpha == 1 else model.d
    found: dict[int, list[Index]] = {}
    for k, i, p, q in indices(model):
        found.setdefault(p + q + step * i + model.d * k, []).append((k, i, p, q))
    return found


def _value(index: Index, model: SingleLayerAttention, factors: Sequence[Factor]) -> Any:
    """The coordinate c_{k,i,p,q} of the weights with these factors."""
    *first, last = factors

    def A(p: int, i: int) -> Any:
        return first[0][p] * first[1][i] if model.alpha == 1 else first[0][p + model.d * i]

    def V(k: int, q: int) -> Any:
        return last[q + model.d * k]

    return coordinate(index, A, V)

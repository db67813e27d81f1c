"""A linear section of the closure, whose points are counted, as a second way to the degree.

At the points of the section the entries of A and V are the coefficients of two polynomials in T,
the *factors*, whose coefficients at T^0 are 1. In the first A_pi is the coefficient of T^(p + di),
in the second V_kq belongs to T^(q + dk). For α = 1 the entry A_pi = k_p q_i is a product, and the
factors are k, q and V, with the coefficients k_p of T^p and q_i of T^i. Indices begin with 0.

The *weight* of a coefficient is its power of T. A coordinate c_kipq is a sum of products of the
same weight, p + q + di + dk, or p + q + i + dk for α = 1. The section says for each weight ≥ 1 that
the sum of the coordinates of this weight is zero: that the product of the factors is 1.

The unknowns are the coefficients of all factors but the longest, without the first ones, which are
1. The equations of the first weights, one for each further coefficient of the longest factor,
express it by the unknowns; the equations of larger weights are relations of the unknowns.
"""

from collections import defaultdict
from itertools import islice
from math import prod
from typing import Any

import flint

from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.algebra.weighted_algebra import WeightedAlgebra
from m2bridge.families.attention.orbits.coordinates import Index, coordinate, indices
from m2bridge.families.attention.sizes import LayerSizes

MAX_SECTION_POINTS = 1500
"""Points of larger linear sections are not counted, since their linear algebra takes minutes."""

SeriesFactor = list[Any]
"""The coefficients of a factor at T^0, where it is 1, T^1, …: polynomials in the unknowns."""


def section_points(shape: LayerSizes) -> int | None:
    """Return the number of points, with multiplicities, of a section of the source; or ``None``.

    The section is the preimage of a linear section of the closure with as many equations as its
    projective dimension; so the number is the degree of the closure times the length of the generic
    fibre. Hypothesis: t ≥ 2.
    """
    if not is_section_counted(shape):
        return None
    return section_algebra(shape).length()


def is_section_counted(shape: LayerSizes) -> bool:
    """Return whether points are counted: for α = 1 and α = d, if they seem to be few enough.

    As many equations remain as there are unknowns. By Bézout's theorem with weights they have as
    many solutions as the product of their weights, divided by the product of the unknowns' weights.
    """
    if shape.alpha not in (1, shape.d):
        # the section of D_α is not given by products of polynomials in one variable
        return False
    lengths = _factor_lengths(shape)
    largest_length = max(lengths)
    weights = _weights_of_unknowns(lengths, lengths.index(largest_length))
    if len(weights) >= MAX_SECTION_POINTS.bit_length():
        # The quotient below is at least 2^n for n unknowns, and 2^n is too large: With m
        # unknown coefficients of the longest factor the remaining weights are m + 1, m + 2, …. The
        # unknowns of another factor have the weights 1, 2, …, up to m at most. So the quotient is a
        # product of n numbers, each at least (m + j)/j for some j ≤ m, which is at least 2.
        return False
    # weights of equations, up to the degree in T of the product of the factors
    remaining_weights = range(largest_length, sum(lengths) - len(lengths) + 1)
    return prod(remaining_weights) // prod(weights) <= MAX_SECTION_POINTS


def section_algebra(shape: LayerSizes) -> WeightedAlgebra:
    """Return the algebra of functions on the section, modulo a prime."""
    lengths = _factor_lengths(shape)
    longest = lengths.index(max(lengths))
    weights = _weights_of_unknowns(lengths, longest)
    # a ring has at least one variable, even if there are no unknowns
    ring = flint.nmod_mpoly_ctx.get(("x", max(len(weights), 1)), LARGE_PRIME, flint.Ordering.lex)
    # coefficients are the unknowns, each used once; zeros in the longest factor are replaced below
    unknowns = iter(ring.gens())
    factors: list[SeriesFactor] = []
    for number, length in enumerate(lengths):
        coefficients = [ring.constant(0)] * (length - 1)
        if number != longest:
            coefficients = list(islice(unknowns, length - 1))
        factors.append([ring.constant(1), *coefficients])
    *factors_of_A, factor_of_V = factors

    def entry_of_A(p: int, i: int) -> Any:
        if shape.alpha == 1:
            k_of_T, q_of_T = factors_of_A
            return k_of_T[p] * q_of_T[i]
        return factors_of_A[0][p + shape.d * i]

    def entry_of_V(k: int, q: int) -> Any:
        return factor_of_V[q + shape.d * k]

    step = 1 if shape.alpha == 1 else shape.d
    indices_of_weight: defaultdict[int, list[Index]] = defaultdict(list)
    for k, i, p, q in indices(shape):
        indices_of_weight[p + q + step * i + shape.d * k].append((k, i, p, q))
    relations = []
    for weight in range(1, sum(lengths) - len(lengths) + 1):
        equation = ring.constant(0)
        for index in indices_of_weight[weight]:
            equation += coordinate(index, entry_of_A, entry_of_V)
        if weight < lengths[longest]:
            # The coefficient of this weight in the longest factor occurs in the equation once, with
            # the factor 1. It was 0 when ``equation`` was computed; the equation says that it is
            # minus this sum of all other terms.
            factors[longest][weight] = -equation
        else:
            terms = {monomial: int(c) for monomial, c in equation.to_dict().items()}
            relations.append((weight, terms))
    return WeightedAlgebra(weights, tuple(relations))


def _factor_lengths(shape: LayerSizes) -> tuple[int, ...]:
    """Return the numbers of coefficients of the factors: A and V, or k, q and V for α = 1."""
    of_V = shape.d_out * shape.d
    if shape.alpha == 1:
        return shape.d, shape.d, of_V
    return shape.d**2, of_V


def _weights_of_unknowns(lengths: tuple[int, ...], longest: int) -> tuple[int, ...]:
    """Return the weights of the unknowns, for factors of these lengths."""
    weights: list[int] = []
    for number, length in enumerate(lengths):
        if number != longest:
            weights += range(1, length)
    return tuple(weights)

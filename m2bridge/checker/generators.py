"""Whether stored polynomials are minimal generators of the ideal of a closure, up to the largest of their degrees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement
from math import prod

from m2bridge.algebra.integers import LARGE_PRIME
from m2bridge.algebra.jacobian import random_point
from m2bridge.algebra.linear_algebra import sparse_rank
from m2bridge.algebra.sparse_polynomial import Terms
from m2bridge.certificate.difference import Difference, difference
from m2bridge.checker.completeness import redundant
from m2bridge.checker.price import check_monomials
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.structure import multigraded_attention
from m2bridge.implicitization import Implicitization, MultigradedMap, implicitize
from m2bridge.implicitization.relations import Substitution
from m2bridge.maps.multigraded_closure import default_max_degree

_SEED, _BOUND = 20240817, 1000


def wrong_generators(
    model: SingleLayerAttention, generators: Sequence[Terms], texts: Mapping[Terms, str]
) -> Difference | None:
    """The first check that fails for homogeneous polynomials; ``None`` if they are what they should be.

    A value at one point refuses most of what does not vanish. Then come low degrees, then multiples of what is there,
    then one degree after the other: what is wrong is noticed before the work of higher degrees.

    Parameters
    ----------
    model : SingleLayerAttention
    generators : sequence of Terms
    texts : mapping from Terms to str
        How they are stored.

    Raises
    ------
    TooExpensiveError
        If there are too many monomials of a degree of theirs.
    MethodUnavailableError
        If a Gröbner basis becomes too large.
    """
    source = multigraded_attention(model)
    size = len(source.polynomial_map.coordinates)
    values = _point_modulo_prime(source)
    if nonzero := next((terms for terms in generators if _value(terms, values)), None):
        return _not_zero(texts[nonzero])
    substitution, low = Substitution.of(source), default_max_degree(size)
    for last in range(low, max(map(_degree, generators), default=low) + 1):
        if last == low + 1:
            if multiple := _multiple(generators, low, size):
                return Difference("minimal generators", texts[multiple][:200], "in the ideal of those of lower degree")
            check_monomials(max(map(_degree, generators)), size)
        new = [terms for terms in generators if _degree(terms) == last or _degree(terms) < last == low]
        if nonzero := next((terms for terms in new if not substitution.vanishes(terms)), None):
            return _not_zero(texts[nonzero])
        known, there = _ideal_up_to(model, last), [terms for terms in generators if _degree(terms) <= last]
        if failure := _differs(there, set(map(_degree, new)), size, known):
            return failure
    return None


def _multiple(generators: Sequence[Terms], low: int, size: int) -> Terms | None:
    """A generator of degree above ``low`` that those of lower degree generate."""
    for n in sorted({n for n in map(_degree, generators) if n > low}):
        lower = [terms for terms in generators if _degree(terms) < n]
        if found := redundant((terms for terms in generators if _degree(terms) == n), lower, size):
            return found
    return None


def _point_modulo_prime(source: MultigradedMap) -> list[int]:
    point = random_point(source.polynomial_map, _BOUND, _SEED)
    return [int(value) % LARGE_PRIME for value in source.polynomial_map.evaluate(point)]


def _value(terms: Terms, values: Sequence[int]) -> int:
    """At a point modulo a prime; where it is not zero, the polynomial does not vanish identically."""
    return sum(coefficient * prod(map(values.__getitem__, monomial)) for monomial, coefficient in terms) % LARGE_PRIME


def _not_zero(text: str) -> Difference:
    return Difference("generator on the parametrization", text[:200], "not identically zero")


def _degree(terms: Terms) -> int:
    return len(terms[0][0])


@lru_cache(maxsize=64)
def _ideal_up_to(model: SingleLayerAttention, last: int) -> Implicitization:
    """The whole ideal up to a degree, by multigraded implicitization with proof."""
    return implicitize(multigraded_attention(model), last)


def _differs(generators: Sequence[Terms], degrees: set[int], size: int, known: Implicitization) -> Difference | None:
    """Whether generators are as many as there should be in each degree, and span the ideal in some degrees."""
    counts = dict(sorted(Counter(map(_degree, generators)).items()))
    if failure := difference(counts, known.generator_counts, "generators by degree"):
        return failure
    for n in sorted(degrees):
        spanned = sparse_rank(dict(product) for product in _multiples(generators, n, size))
        if spanned != known.ideal_dimensions[n]:
            return Difference(f"ideal in degree {n}", f"dimension {spanned}", f"{known.ideal_dimensions[n]}")
    return None


def _multiples(generators: Sequence[Terms], degree: int, size: int) -> Iterator[Terms]:
    """Monomials times generators, in one degree."""
    for terms in generators:
        missing = degree - _degree(terms)
        if missing >= 0:
            for factor in combinations_with_replacement(range(size), missing):
                yield tuple((tuple(sorted(monomial + factor)), c) for monomial, c in terms)

"""A stored Zariski closure once more, without Macaulay2."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations_with_replacement
from math import comb, lcm
from typing import Any

from sympy.polys.rings import PolyElement

from m2bridge.certificate.closures import checked_degree, closure_content
from m2bridge.certificate.completeness import hilbert_series, incomplete, leading_ideal
from m2bridge.certificate.difference import Difference, difference
from m2bridge.certificate.polynomials import read_polynomials
from m2bridge.certificate.recheck import recheck
from m2bridge.certificate.schema import Certificate
from m2bridge.certificate.statements import Content
from m2bridge.errors import CertificateError
from m2bridge.geometry.hilbert import HilbertSeries
from m2bridge.geometry.jacobian import differential_rank, random_point, tangent_dimension
from m2bridge.implicitization import Implicitization, implicitize, multigraded_attention
from m2bridge.implicitization.substitution import Substitution, Terms
from m2bridge.linear_algebra import sparse_rank
from m2bridge.model.attention import SingleLayerAttention
from m2bridge.model.field import QQ
from m2bridge.model.ring import Ideal, PolynomialRing, is_homogeneous

_SEED, _BOUND = 20240817, 1000

MOST_MONOMIALS = 1_000_000
"""A closure with more monomials in the degrees to be checked is out of reach."""


def recheck_closure(certificate: Certificate) -> Content | Difference:
    """The content that follows from the stored generators, or the first check that fails for them.

    Raises
    ------
    MethodUnavailableError
        If a Gröbner basis becomes too large.
    """
    model = certificate.model
    size = model.coordinate_count(model.default_coordinates)
    names = certificate.evidence.get("coordinates")
    if not isinstance(names, list) or len(names) != size:
        return Difference("evidence.coordinates", f"{names!r:.200}", f"{size} coordinates")
    try:
        ideal = _ideal(certificate, model)
    except CertificateError as reason:
        return Difference("form of the closure", str(reason), "text of polynomials")
    if failure := _form(ideal):
        return failure
    generators = [_terms(generator) for generator in ideal.generators]
    substitution = Substitution.of(multigraded_attention(model))
    for text, terms in zip(certificate.evidence["generators"], generators, strict=True):
        if not substitution.vanishes(terms):
            return Difference("generator on the parametrization", text[:200], "not identically zero")
    if failure := _low_degrees_differ(generators, ideal, _low_degrees(model, checked_degree(ideal))):
        return failure
    leading = leading_ideal(generators, size)
    if model.t > 1 and (failure := incomplete(model, generators, leading)):
        return failure
    return _content(model, ideal, hilbert_series(leading, size))


def _content(model: SingleLayerAttention, ideal: Ideal, series: HilbertSeries) -> Content | Difference:
    dimension, upper = _dimension(ideal, model)
    counted = recheck(model).degree if model.t > 1 else None
    degree = series.degree if counted is None else counted
    if not (dimension == upper == series.dimension and degree == series.degree):
        return Difference(
            "evidence.generators",
            f"dimension {series.dimension} ≤ {upper}, degree {series.degree}",
            f"dimension {dimension}, degree {degree}",
        )
    return closure_content(model, ideal, dimension, degree, series)


def _ideal(certificate: Certificate, model: SingleLayerAttention) -> Ideal:
    ring = PolynomialRing(QQ, model.parametrization().coordinates)
    return Ideal(ring, read_polynomials(certificate.evidence.get("generators"), ring))


def _form(ideal: Ideal) -> Difference | None:
    """What has to hold before generators are worth the work of the other checks."""
    if not all(map(is_homogeneous, ideal.generators)):
        return Difference("homogeneous generators", "inhomogeneous ones", "homogeneous ones")
    size, degree = len(ideal.ring.variables), checked_degree(ideal)
    if (count := comb(size + degree - 1, degree)) > MOST_MONOMIALS:
        return Difference(
            "degree of a generator", f"{degree}: {count} monomials", f"at most {MOST_MONOMIALS} monomials"
        )
    return None


def _terms(polynomial: PolyElement) -> Terms:
    """A multiple with integer coefficients, in the sparse form."""
    scale = lcm(*(int(c.denominator) for c in polynomial.values()))
    return tuple(
        (tuple(j for j, e in enumerate(monomial) for _ in range(e)), int(c * scale))
        for monomial, c in polynomial.items()
    )


@lru_cache(maxsize=64)
def _low_degrees(model: SingleLayerAttention, last: int) -> Implicitization:
    """The whole ideal up to a degree, by multigraded implicitization with proof."""
    return implicitize(multigraded_attention(model), last)


def _low_degrees_differ(generators: Sequence[Terms], ideal: Ideal, known: Implicitization) -> Difference | None:
    """Whether the generators, which are homogeneous, are minimal and span the ideal in each degree up to a bound."""
    if failure := difference(ideal.generator_degrees, known.generator_counts, "generators by degree"):
        return failure
    for n in ideal.generator_degrees:
        spanned = sparse_rank(dict(product) for product in _multiples(generators, n, len(ideal.ring.variables)))
        if spanned != known.ideal_dimensions[n]:
            return Difference(f"ideal in degree {n}", f"dimension {spanned}", f"{known.ideal_dimensions[n]}")
    return None


def _multiples(generators: Sequence[Terms], degree: int, size: int) -> Any:
    """Monomials times generators, in one degree."""
    for terms in generators:
        missing = degree - len(terms[0][0])
        if missing >= 0:
            for factor in combinations_with_replacement(range(size), missing):
                yield [(tuple(sorted(monomial + factor)), c) for monomial, c in terms]


def _dimension(ideal: Ideal, model: SingleLayerAttention) -> tuple[int, int]:
    """A lower bound, the rank of the differential, and an upper bound, the tangent space of the generators there."""
    free = model.parametrization(weights="factored")
    point = random_point(free, _BOUND, _SEED)
    return differential_rank(free, point), tangent_dimension(ideal.generators, free.evaluate(point))

"""A stored Zariski closure once more, without Macaulay2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement
from math import lcm
from typing import Any

from sympy.polys.rings import PolyElement

from m2bridge.certificate.closures import closure_content
from m2bridge.certificate.difference import Difference, difference
from m2bridge.certificate.polynomials import read_polynomial
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
from m2bridge.model.ring import Ideal, PolynomialRing, total_degree

_SEED, _BOUND = 20240817, 1000


@dataclass(frozen=True, slots=True)
class Stored:
    """What is read from a certificate before anything is checked."""

    ideal: Ideal
    series: HilbertSeries
    degree: int


def recheck_closure(certificate: Certificate) -> Content | Difference:
    """The content that follows from the stored generators, or the first check that fails for them."""
    model = certificate.model
    size = model.coordinate_count(model.default_coordinates)
    names = certificate.evidence.get("coordinates")
    if not isinstance(names, list) or len(names) != size:
        return Difference("evidence.coordinates", f"{names!r:.200}", f"{size} coordinates")
    try:
        stored = _stored(certificate, model)
    except CertificateError as reason:
        return Difference("form of the closure", str(reason), "text of polynomials, and a Hilbert series")
    generators = [_terms(generator) for generator in stored.ideal.generators]
    last = max(map(total_degree, stored.ideal.generators), default=0)
    substitution = Substitution.of(multigraded_attention(model))
    for text, terms in zip(certificate.evidence["generators"], generators, strict=True):
        if not substitution.vanishes(terms):
            return Difference("generator on the parametrization", text[:200], "not identically zero")
    failure = _complete(generators, stored, _low_degrees(model, last))
    if failure:
        return failure
    dimension, upper = _dimension(stored.ideal, model)
    if dimension != upper:
        return Difference("dimension", str(certificate.answer.get("dimension")), f"between {dimension} and {upper}")
    degree = recheck(model).degree if model.t > 1 else stored.degree
    if (stored.series.degree, stored.series.dimension) != (degree, dimension):
        return Difference("answer.hilbert_series", str(stored.series), f"degree {degree}, dimension {dimension}")
    return closure_content(model, stored.ideal, dimension, degree, stored.series)


def _stored(certificate: Certificate, model: SingleLayerAttention) -> Stored:
    ring = PolynomialRing(QQ, model.parametrization().coordinates)
    texts, series, degree = (
        certificate.evidence.get("generators"),
        certificate.answer.get("hilbert_series"),
        certificate.answer.get("degree"),
    )
    if not isinstance(texts, list) or not isinstance(series, dict) or type(degree) is not int:
        raise CertificateError("generators, degree or Hilbert series are missing")
    numerator, exponent = series.get("numerator"), series.get("denominator_exponent")
    if not isinstance(numerator, list) or any(type(h) is not int for h in numerator) or type(exponent) is not int:
        raise CertificateError("the Hilbert series is not one")
    ideal = Ideal(ring, tuple(read_polynomial(text, ring.sympy_ring) for text in texts))
    return Stored(ideal, HilbertSeries(tuple(numerator), exponent), degree)


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


def _complete(generators: Sequence[Terms], stored: Stored, known: Implicitization) -> Difference | None:
    """Whether the generators are minimal and span the ideal in each degree, and the Hilbert function is right there."""
    counts = {n: count for n, count in known.generator_counts.items() if count}
    if failure := difference(stored.ideal.generator_degrees, counts, "generators by degree"):
        return failure
    size = len(stored.ideal.ring.variables)
    for n in range(known.max_degree + 1):
        if stored.series.value(n) != known.hilbert_function[n]:
            return Difference(
                f"Hilbert function in degree {n}", str(stored.series.value(n)), str(known.hilbert_function[n])
            )
        if n in counts:
            spanned = sparse_rank(dict(product) for product in _multiples(generators, n, size))
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

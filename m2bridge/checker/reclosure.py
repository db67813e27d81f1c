"""A stored Zariski closure once more, without Macaulay2."""

from __future__ import annotations

from math import lcm

from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.jacobian import differential_rank, random_point, tangent_dimension
from m2bridge.algebra.ring import Ideal, PolynomialRing, is_homogeneous, total_degree
from m2bridge.algebra.sparse_polynomial import Terms
from m2bridge.certificate.closures import closure_content
from m2bridge.certificate.difference import Difference
from m2bridge.certificate.schema import Certificate
from m2bridge.certificate.statements import Content
from m2bridge.checker.completeness import hilbert_series, incomplete, leading_ideal
from m2bridge.checker.generators import wrong_generators
from m2bridge.checker.polynomials import read_polynomials
from m2bridge.checker.price import check_degree, check_length
from m2bridge.checker.recheck import recheck
from m2bridge.errors import CertificateError
from m2bridge.families.attention.model import SingleLayerAttention

_SEED, _BOUND = 20240817, 1000


def recheck_closure(certificate: Certificate) -> Content | Difference:
    """The content that follows from the stored generators, or the first check that fails for them.

    Raises
    ------
    TooExpensiveError, MethodUnavailableError, InvalidCaseError
        If generators, a Gröbner basis or the parametrization are too large.
    """
    model = _smallest(certificate.model)
    size = model.coordinate_count(model.default_coordinates)
    names = certificate.evidence.get("coordinates")
    if not isinstance(names, list) or len(names) != size:
        return Difference("evidence.coordinates", f"{names!r:.200}", f"{size} coordinates")
    check_length(certificate.evidence.get("generators"), size)
    try:
        ideal = _ideal(certificate, model)
    except CertificateError as reason:
        return Difference("form of the closure", str(reason), "text of polynomials")
    if not all(map(is_homogeneous, ideal.generators)):
        return Difference("homogeneous generators", "inhomogeneous ones", "homogeneous ones")
    check_degree(max(map(total_degree, ideal.generators), default=0))
    generators = [_terms(generator) for generator in ideal.generators]
    texts = dict(zip(generators, certificate.evidence["generators"], strict=True))
    if failure := wrong_generators(model, generators, texts):
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


def _smallest(model: SingleLayerAttention) -> SingleLayerAttention:
    """The case with the same functions and the smallest a and t: weights Q and K have α rows."""
    return SingleLayerAttention(model.d, model.d_out, model.alpha, min(model.t, 2))


def _terms(polynomial: PolyElement) -> Terms:
    """A multiple with integer coefficients, in the sparse form."""
    scale = lcm(*(int(c.denominator) for c in polynomial.values()))
    return tuple(
        (tuple(j for j, e in enumerate(monomial) for _ in range(e)), int(c * scale))
        for monomial, c in polynomial.items()
    )


def _dimension(ideal: Ideal, model: SingleLayerAttention) -> tuple[int, int]:
    """A lower bound, the rank of the differential, and an upper bound, the tangent space of the generators there."""
    free = model.parametrization(weights="factored")
    point = random_point(free, _BOUND, _SEED)
    return differential_rank(free, point), tangent_dimension(ideal.generators, free.evaluate(point))

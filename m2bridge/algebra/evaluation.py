"""Substituting a parametrization into polynomials, exactly."""

from __future__ import annotations

from collections.abc import Sequence

from sympy.polys.rings import PolyElement

from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import Ideal, PolynomialRing
from m2bridge.clock import watched


def substitute(polynomial: PolyElement, images: Sequence[PolyElement]) -> PolyElement:
    """The polynomial with its variables replaced by elements of another ring over the same field."""
    ring = images[0].ring
    powers: dict[tuple[int, int], PolyElement] = {}

    def power(index: int, exponent: int) -> PolyElement:
        key = (index, exponent)
        if key not in powers:
            powers[key] = images[index] ** exponent
        return powers[key]

    total = ring.zero
    for monomial, coefficient in watched(polynomial.items()):
        product = ring(coefficient)
        for index, exponent in enumerate(monomial):
            if exponent:
                product = product * power(index, exponent)
        total += product
    return total


def images_over(parametrization: PolynomialMap, ring: PolynomialRing) -> tuple[PolyElement, ...]:
    """The images of the coordinates with coefficients in the field of ``ring``."""
    source = PolynomialRing(ring.field, parametrization.source.variables).sympy_ring
    return tuple(image.set_ring(source) for image in parametrization.images)


def vanishes_on_image(ideal: Ideal, parametrization: PolynomialMap) -> bool:
    """Whether every generator is identically zero on the image; the source must have no relations.

    This proves that the closure of the image lies in the variety of the ideal.
    """
    images = images_over(parametrization, ideal.ring)
    return not any(substitute(generator, images) for generator in ideal.generators)

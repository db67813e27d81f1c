"""Polynomials by SymPy alone, independent of the code that is tested."""

from collections.abc import Sequence

from sympy.polys.rings import PolyElement


def substituted(polynomial: PolyElement, images: Sequence[PolyElement]) -> PolyElement:
    """The polynomial with the images in place of its variables."""
    total = images[0].ring.zero
    for exponents, coefficient in polynomial.items():
        product = images[0].ring.ground_new(coefficient)
        for image, exponent in zip(images, exponents, strict=True):
            product *= image**exponent if exponent else 1  # SymPy refuses 0**0
        total += product
    return total

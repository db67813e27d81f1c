"""Polynomial maps between affine spaces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from numbers import Rational

from sympy import Expr, Symbol
from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.linear_algebra import Row
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing, is_homogeneous, total_degree, variable_name
from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.limits import watched


@dataclass(frozen=True, slots=True)
class PolynomialMap:
    """A polynomial map from a subvariety of affine space to affine space, defined over the integers or rationals.

    Parameters
    ----------
    source : PolynomialRing
        Ring of the parameters, over QQ.
    coordinates : tuple of str
        Names of the coordinates of the target.
    images : tuple of PolyElement
        One element of the source ring for each coordinate.
    relations : tuple of PolyElement
        Equations of the source variety; empty when all parameter values are allowed. They define a set of points: where
        they do not generate a radical ideal, its radical takes their place. The source variety has to be irreducible
        for the closure of the image to be so.
    prime : bool
        Whether the relations are known to generate a prime ideal over every field, so that this need not be computed.

    Raises
    ------
    ConversionError
        If the numbers of coordinates and images differ, or a name is used twice.

    Examples
    --------
    >>> from sympy import symbols
    >>> s, t = symbols("s t")
    >>> cubic = PolynomialMap.from_expressions([s, t], {"x": s**3, "y": s**2 * t, "z": s * t**2, "w": t**3})
    >>> cubic.evaluate((1, 2))
    (1, 2, 4, 8)
    """

    source: PolynomialRing
    coordinates: tuple[str, ...]
    images: tuple[PolyElement, ...]
    relations: tuple[PolyElement, ...] = ()
    prime: bool = False

    def __post_init__(self) -> None:
        if len(self.coordinates) != len(self.images):
            raise ConversionError(f"{len(self.coordinates)} coordinates but {len(self.images)} images")
        if self.source.field != QQ:
            raise ConversionError("a polynomial map is defined over QQ; choose another field for the computation")
        PolynomialRing(QQ, self.source.variables + self.coordinates)

    @classmethod
    def from_expressions(
        cls,
        parameters: Sequence[str | Symbol],
        images: Mapping[str, Expr | Rational | int],
        relations: Sequence[Expr] = (),
        prime: bool = False,
    ) -> PolynomialMap:
        """Build a map from SymPy expressions.

        Parameters
        ----------
        parameters : sequence of str or sympy.Symbol
        images : mapping from coordinate name to expression in the parameters
        relations : expressions that vanish on the source variety
        prime : whether the relations are known to generate a prime ideal over every field

        Raises
        ------
        ConversionError
            If a name is not one, or something is not an exact polynomial in the parameters; text is never evaluated.

        Examples
        --------
        >>> from sympy import symbols
        >>> s, t = symbols("s t")
        >>> cubic = PolynomialMap.from_expressions([s, t], {"x": s**3, "y": s**2*t, "z": s*t**2, "w": t**3})
        >>> cubic.coordinates
        ('x', 'y', 'z', 'w')
        """
        if isinstance(parameters, str) or not isinstance(parameters, Iterable):
            raise ConversionError(f"parameters: a list is needed, such as [s, t], not {parameters!r:.60}")
        if not isinstance(images, Mapping):
            raise ConversionError(f'images: a dictionary is needed, such as {{"x": s**2}}, not {images!r:.60}')
        source = PolynomialRing(QQ, tuple(map(variable_name, parameters)))
        return cls(
            source,
            tuple(map(variable_name, images)),
            tuple(source.polynomial(image) for image in images.values()),
            tuple(filter(None, map(source.polynomial, relations))),
            prime,
        )

    def target(self, *, field: CoefficientField = QQ) -> PolynomialRing:
        """Ring of polynomial functions on the target, over ``field``."""
        return PolynomialRing(field, self.coordinates)

    @property
    def image_degrees(self) -> tuple[int, ...] | None:
        """Total degrees of the images if all images and relations are homogeneous and no image is constant."""
        if not all(is_homogeneous(polynomial) for polynomial in self.images + self.relations):
            return None
        degrees = tuple(total_degree(image) for image in self.images)
        return degrees if min(degrees, default=1) > 0 else None

    def evaluate(self, point: Row) -> tuple[int, ...]:
        """Values of the coordinates at an integer point of the source (in the order of ``source.variables``).

        Raises
        ------
        ConversionError
            If a value is not an integer, or the point does not satisfy the relations.
        """
        if any(evaluate(relation, point) for relation in self.relations):
            raise ConversionError("the point does not satisfy the relations of the source")
        values = tuple(evaluate(image, point) for image in self.images)
        if any(value.denominator != 1 for value in values):
            raise ConversionError("a coordinate of this point is not an integer")
        return tuple(int(value.numerator) for value in values)

    def restricted_to(self, indices: Sequence[int]) -> PolynomialMap:
        """The map followed by the projection to some of the coordinates."""
        coordinates, images = (tuple(items[i] for i in indices) for items in (self.coordinates, self.images))
        return replace(self, coordinates=coordinates, images=images)

    @property
    def maybe_reducible(self) -> bool:
        """Whether the source may be reducible, empty, or defined by an ideal that is not radical."""
        return bool(self.relations) and not self.prime

    def check_field(self, field: CoefficientField) -> None:
        """Raise InvalidCaseError if the map has no reduction modulo the characteristic of this field."""
        p = field.characteristic
        if not p:
            return
        parts = [f"the coordinate {name}" for name in self.coordinates] + ["a relation" for _ in self.relations]
        for part, polynomial in zip(parts, self.images + self.relations, strict=True):
            if any(int(coefficient.denominator) % p == 0 for coefficient in polynomial.values()):
                raise InvalidCaseError("field", f"{part} has no meaning over {field}: {p} divides a denominator")


def evaluate(polynomial: PolyElement, point: Row) -> PolyElement:
    """Value of a polynomial at an integer point, as an element of the polynomial's domain."""
    domain = polynomial.ring.domain
    values = (
        c * domain(prod(x**e for x, e in zip(point, monomial, strict=True) if e))
        for monomial, c in watched(polynomial.items())
    )
    return sum(values, domain.zero)


def substitute(polynomial: PolyElement, images: Sequence[PolyElement]) -> PolyElement:
    """The polynomial with its variables replaced by elements of another ring over the same field."""
    ring = images[0].ring

    @cache
    def power(index: int, exponent: int) -> PolyElement:
        return images[index] ** exponent

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


def relations_over(parametrization: PolynomialMap, source: PolynomialRing) -> tuple[PolyElement, ...]:
    """The relations of the source with coefficients in the field of ``source``."""
    return tuple(relation.set_ring(source.sympy_ring) for relation in parametrization.relations)


def vanishes_on_image(ideal: GeneratingSet, parametrization: PolynomialMap) -> bool:
    """Whether every generator is identically zero on the image; the source must have no relations.

    This proves that the closure of the image lies in the variety of the ideal.
    """
    images = images_over(parametrization, ideal.ring)
    return not any(substitute(generator, images) for generator in ideal.generators)

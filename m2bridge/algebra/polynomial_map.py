"""Polynomial maps from affine varieties to affine spaces, over QQ and modulo primes.

A map and its values; linear relations among its coordinates, and maps in fewer of them. Its
differential is in :mod:`m2bridge.algebra.differential`. A rational map has one more parameter, the
inverse of the common denominator. Images without common monomials do not depend on each other, so
linear algebra is done in blocks of images that are connected by common monomials. What cannot be
read is a ConversionError.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import chain, count
from math import prod
from numbers import Rational
from typing import Any

from sympy import Expr, Symbol
from sympy.polys.rings import PolyElement

from m2bridge.algebra.expressions import difference, numerator_and_denominator
from m2bridge.algebra.field import QQ, CoefficientField, prime_coefficients
from m2bridge.algebra.linear_algebra import connected_groups, pivot_columns, sparse_rank
from m2bridge.algebra.numbers import fraction, integer_coefficients, without_denominators
from m2bridge.algebra.ring import (
    GeneratingSet,
    PolynomialRing,
    check_characters,
    check_variable,
    is_homogeneous,
    total_degree,
    variable_name,
)
from m2bridge.errors import ConversionError, InvalidCaseError, check_flag, check_kind, elements
from m2bridge.limits import check_deadline_in
from m2bridge.results.sheet import in_brackets

UNDECLARED = (
    ". Every name in a map must be declared in parameters. How a parameter becomes a constant is"
    " said under 'Parameters as constants' in docs/maps.md"
)
"""What to do about a name in a map that is not one of its parameters; it ends a message."""


@dataclass(frozen=True, slots=True)
class PolynomialMap:
    """A polynomial map over QQ from a subvariety of an affine space to an affine space.

    Parameters
    ----------
    source : PolynomialRing
        Ring of the parameters, over QQ.
    coordinates : tuple of str
        Names of the coordinates of the target.
    images : tuple of PolyElement
        One element of the source ring for each coordinate.
    relations : tuple of PolyElement
        Equations of the source variety; empty when all parameter values are allowed. They define a
        set of points: where they do not generate a radical ideal, its radical takes their place.
        The source variety has to be irreducible for the closure of the image to be so.
    prime : bool
        Whether the relations are known to generate a prime ideal over every field, so that this
        need not be computed.

    Raises
    ------
    ConversionError
        If the numbers of coordinates and images differ, or a name is used twice.

    Examples
    --------
    >>> from sympy import symbols
    >>> s, t = symbols("s t")
    >>> powers = {"x": s**3, "y": s**2 * t, "z": s * t**2, "w": t**3}
    >>> cubic = PolynomialMap.from_expressions([s, t], powers)
    >>> cubic.evaluate((1, 2))
    (1, 2, 4, 8)
    """

    source: PolynomialRing
    coordinates: tuple[str, ...]
    images: tuple[PolyElement, ...]
    relations: tuple[PolyElement, ...] = ()
    prime: bool = False

    def __repr__(self) -> str:
        return in_brackets(self, "source", "coordinates", "images")

    def __post_init__(self) -> None:
        """Raise ConversionError for a wrong number of images, names used twice, or other fields."""
        check_kind("source", self.source, PolynomialRing, "a PolynomialRing")
        for name in ("coordinates", "images", "relations"):
            check_kind(name, getattr(self, name), tuple, "a tuple")
        for name in self.coordinates:
            check_kind("coordinates", name, str, "a tuple of names")
        check_flag("prime", self.prime)
        if len(self.coordinates) != len(self.images):
            raise ConversionError(
                f"{len(self.coordinates)} coordinates but {len(self.images)} images"
            )
        if self.source.field != QQ:
            raise ConversionError(
                "a polynomial map is defined over QQ; choose another field for the computation"
            )
        names = self.source.variables + self.coordinates
        for name in names:
            check_characters(name)
        for name in self.coordinates:
            if name in self.source.variables:
                raise ConversionError(
                    f"'{name}' names a parameter and a coordinate: give one of them a new name"
                )
        # Elimination needs a ring with parameters and coordinates as variables. It is made here to
        # refuse a name that occurs twice.
        PolynomialRing(QQ, names)

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
            Where one is a rational function, the source of the map has a further parameter, the
            inverse of the common denominator.
        relations : expressions that vanish on the source variety, or equations ``Eq(f, g)``
        prime : whether the relations are known to generate a prime ideal over every field

        Raises
        ------
        ConversionError
            If a name cannot be one of a variable, or something is not an exact polynomial in the
            parameters; text is never evaluated. A constant without a value is a parameter that is
            also a coordinate ("Parameters as constants" in ``docs/maps.md``).

        Examples
        --------
        >>> from sympy import symbols
        >>> s, t = symbols("s t")
        >>> powers = {"x": s**3, "y": s**2*t, "z": s*t**2, "w": t**3}
        >>> cubic = PolynomialMap.from_expressions([s, t], powers)
        >>> cubic.coordinates
        ('x', 'y', 'z', 'w')
        """
        try:
            names = elements("parameters", parameters, "a list")
        except InvalidCaseError:
            raise ConversionError(
                f"parameters: a list is needed, such as [s, t], not {parameters!r:.60}"
            ) from None
        if not isinstance(images, Mapping):
            raise ConversionError(
                f'images: a dictionary is needed, such as {{"x": s**2}}, not {images!r:.60}'
            )
        source = PolynomialRing(QQ, tuple(map(variable_name, names)))
        # the numerator and denominator of each coordinate
        fractions = {}
        for name, image in images.items():
            coordinate = variable_name(name)
            numerator, denominator = numerator_and_denominator(image)
            try:
                fractions[coordinate] = source.polynomial(numerator), source.polynomial(denominator)
            except ConversionError as reason:
                symbols_used = {str(symbol) for symbol in getattr(image, "free_symbols", ())}
                advice = UNDECLARED if symbols_used - set(source.variables) else ""
                raise ConversionError(f"{reason}{advice}") from None
        # Of an equation f = g the difference f − g vanishes on the source.
        listed = elements("relations", relations, "a list of expressions or equations")
        equations = [source.polynomial(difference(relation)) for relation in listed]
        nonzero_equations = tuple(filter(None, equations))
        return cls.from_fractions(source, fractions, nonzero_equations, prime)

    @classmethod
    def from_terms(
        cls, parameters: Sequence[str], images: Mapping[str, Mapping[Any, Any]]
    ) -> PolynomialMap:
        """Build a map from the terms of each image.

        ``images`` gives for each coordinate the rational coefficients of the image by exponents:
        ``{"x": {(2, 0): 1}}`` is x = s² for the parameters s and t.

        Raises
        ------
        ConversionError
            If a name cannot be one of a variable.
        """
        for name in (*parameters, *images):
            check_variable(name)
        source = PolynomialRing(QQ, tuple(parameters))
        elements = []
        for image in images.values():
            terms = {exponents: source.number(c) for exponents, c in image.items()}
            elements.append(source.sympy_ring.from_dict(terms))
        return cls(source, tuple(images), tuple(elements))

    @classmethod
    def from_fractions(
        cls,
        source: PolynomialRing,
        images: Mapping[str, tuple[PolyElement, PolyElement]],
        relations: Sequence[PolyElement] = (),
        prime: bool = False,
    ) -> PolynomialMap:
        """Build a map from numerators and denominators of its coordinates, in the source ring.

        Where a denominator is not a number, let q be the least common multiple of all denominators,
        with coprime integer coefficients. A further parameter w is its inverse: there is one more
        relation w*q = 1, and the source is the set of points where q does not vanish. w*q − 1 is
        irreducible over every field, since q is primitive and so not zero modulo any prime: where
        there are no other relations, they generate a prime ideal.
        """
        multiple = source.sympy_ring.one
        for _, denominator in images.values():
            multiple = multiple.lcm(denominator)
        _, integral = multiple.clear_denoms()
        _content, q = integral.primitive()  # without a common divisor of the coefficients
        if q.is_ground:  # all denominators are numbers
            polynomials = [
                numerator.quo_ground(denominator.LC) for numerator, denominator in images.values()
            ]
            return cls(source, tuple(images), tuple(polynomials), tuple(relations), prime)
        used_names = {*source.variables, *images}
        candidates = chain(["w"], map("w_{}".format, count(1)))  # w, w_1, w_2, …
        name = next(candidate for candidate in candidates if candidate not in used_names)
        extended = PolynomialRing(QQ, (*source.variables, name))
        w = extended.sympy_ring.gens[-1]  # the inverse of q
        # As w is 1/q on the source, a fraction f/g is f·(q/g)·w there.
        polynomials = []
        for numerator, denominator in images.values():
            multiple = numerator * q.exquo(denominator)
            polynomials.append(_with_last_variable(multiple, extended) * w)
        lifted_relations = [_with_last_variable(relation, extended) for relation in relations]
        return cls(
            source=extended,
            coordinates=tuple(images),
            images=tuple(polynomials),
            relations=(*lifted_relations, w * _with_last_variable(q, extended) - 1),
            prime=not relations,  # w*q − 1 alone generates a prime ideal
        )

    def target(self, *, field: CoefficientField | str = QQ) -> PolynomialRing:
        """Ring of polynomial functions on the target, over ``field``."""
        return PolynomialRing(field, self.coordinates)

    @property
    def image_degrees(self) -> tuple[int, ...] | None:
        """Total degrees of the images: with these weights the ideal of the image is homogeneous.

        ``None`` if an image or relation is not homogeneous, or an image is constant: then the
        degrees are no such weights, or not positive.
        """
        degrees = tuple(map(total_degree, self.images))
        is_graded = all(map(is_homogeneous, self.images + self.relations))
        are_positive = all(degree > 0 for degree in degrees)  # −1 is the degree of the image 0
        if not is_graded or not are_positive:
            return None
        return degrees

    def evaluate(self, point: Sequence[Rational | int]) -> tuple[Any, ...]:
        """The values of the coordinates at a rational point of the source.

        The numbers of the point are in the order of ``source.variables``, the values in the
        order of ``coordinates``. Values that are integers are of type ``int``, others fractions.

        Raises
        ------
        ConversionError
            If a number is not exact, the point has more or fewer numbers than there are variables,
            or it does not satisfy the relations.

        Examples
        --------
        >>> from sympy import symbols
        >>> s, t = symbols("s t")
        >>> monomials = PolynomialMap.from_expressions([s, t], {"x": s**2, "y": s * t})
        >>> monomials.evaluate((Fraction(1, 2), 4))
        (Fraction(1, 4), 2)
        """
        entries = elements("point", point, "a list of numbers")
        size = len(self.source.variables)
        if len(entries) != size:
            raise ConversionError(f"{len(entries)} numbers for the {size} variables of the source")
        for entry in entries:
            if not hasattr(entry, "numerator"):
                raise ConversionError(f"{entry!r:.60} is not exact: give integers or fractions")
        exact = list(map(self.source.number, entries))  # in SymPy's field QQ
        # ``evaluate`` is the function of this module, which takes one polynomial.
        if any(evaluate(relation, exact) for relation in self.relations):
            raise ConversionError("the point does not satisfy the relations of the source")
        values: list[int | Fraction] = []
        for image in self.images:
            value = fraction(evaluate(image, exact))
            if value.denominator == 1:
                values.append(int(value))
            else:
                values.append(value)
        return tuple(values)

    def restricted_to(self, indices: Sequence[int]) -> PolynomialMap:
        """The map followed by the projection to the coordinates at these positions."""
        coordinates = tuple(self.coordinates[i] for i in indices)
        images = tuple(self.images[i] for i in indices)
        return replace(self, coordinates=coordinates, images=images)

    @property
    def maybe_reducible(self) -> bool:
        """Whether the source may be reducible or empty, or its relations may not be radical.

        That is: there are relations, and they are not known to generate a prime ideal.
        """
        return bool(self.relations) and not self.prime

    def check_field(self, field: CoefficientField | str) -> None:
        """Raise InvalidCaseError if the map has no reduction to this field.

        That is so if the characteristic divides a denominator of a coordinate or a relation, so
        never over QQ.
        """
        field = prime_coefficients(field)
        check_kind("field", field, CoefficientField, "QQ, CoefficientField(p) or another field")
        p = field.characteristic
        if not p:
            return
        descriptions = [f"the coordinate {name}" for name in self.coordinates]
        descriptions += ["a relation"] * len(self.relations)
        polynomials = self.images + self.relations
        for description, polynomial in zip(descriptions, polynomials, strict=True):
            if any(int(coefficient.denominator) % p == 0 for coefficient in polynomial.values()):
                raise InvalidCaseError(
                    "field", f"{description} has no meaning over {field}: {p} divides a denominator"
                )


def _with_last_variable(polynomial: PolyElement, extended: PolynomialRing) -> PolyElement:
    """A polynomial in the ring ``extended``, which has one more variable, the last one."""
    terms = {(*monomial, 0): c for monomial, c in polynomial.items()}
    return extended.sympy_ring.from_dict(terms)


def evaluate(polynomial: PolyElement, point: Sequence[Any]) -> PolyElement:
    """The value of a polynomial at a point with exact entries, as an element of its domain."""
    domain = polynomial.ring.domain
    total = domain.zero
    for exponents, c in check_deadline_in(polynomial.items()):
        powers = [x**exponent for x, exponent in zip(point, exponents, strict=True) if exponent]
        total += c * domain(prod(powers))
    return total


def substitute(polynomial: PolyElement, images: Sequence[PolyElement]) -> PolyElement:
    """The value of a polynomial where each variable is replaced by its image, in a ring over the
    field.
    """
    ring = images[0].ring

    @cache
    def power(index: int, exponent: int) -> PolyElement:
        """The power of the image of the variable with this index."""
        return images[index] ** exponent

    total = ring.zero
    for monomial, coefficient in check_deadline_in(polynomial.items()):
        image = ring(coefficient)
        for index, exponent in enumerate(monomial):
            if exponent:
                image = image * power(index, exponent)
        total += image
    return total


def images_over(parametrization: PolynomialMap, ring: PolynomialRing) -> tuple[PolyElement, ...]:
    """The images of the coordinates in the ring of the map's parameters over ``ring.field``."""
    source = PolynomialRing(ring.field, parametrization.source.variables).sympy_ring
    return tuple(image.set_ring(source) for image in parametrization.images)


def relations_over(parametrization: PolynomialMap, field: CoefficientField) -> GeneratingSet:
    """The relations of the source over a field to which the map has a reduction."""
    parametrization.check_field(field)
    source = PolynomialRing(field, parametrization.source.variables)
    relations = (relation.set_ring(source.sympy_ring) for relation in parametrization.relations)
    return GeneratingSet.without_zeros(source, relations)


def vanishes_on_image(ideal: GeneratingSet, parametrization: PolynomialMap) -> bool:
    """Whether every generator of an ideal of the target vanishes on the image of a map without
    relations.

    This proves that the closure of the image lies in the variety of the ideal.
    """
    images = images_over(parametrization, ideal.ring)
    return not any(substitute(generator, images) for generator in ideal.generators)


@dataclass(frozen=True, slots=True)
class LinearReduction:
    """A polynomial map in linearly independent coordinates."""

    reduced: PolynomialMap  # the map followed by the projection to ``basis``
    basis: tuple[int, ...]  # positions of the independent coordinates among all
    # for each other coordinate its position, and its coefficients in the coordinates of the basis
    dependencies: tuple[tuple[int, Mapping[int, Fraction]], ...]

    def linear_forms(
        self, original: PolynomialMap, *, field: CoefficientField
    ) -> tuple[PolyElement, ...]:
        """The linear forms that vanish on the image of the map ``original`` that was reduced: each
        dependent coordinate minus its expression in the basis.
        """
        target = original.target(field=field)
        variables = target.sympy_ring.gens
        forms = []
        for position, coefficients in self.dependencies:
            form = variables[position]
            for index, c in coefficients.items():
                form -= target.number(c) * variables[index]
            forms.append(form)
        return tuple(forms)


def reduce_linearly(
    parametrization: PolynomialMap,
    *,
    field: CoefficientField = QQ,
    preference: Callable[[int], int] | None = None,
) -> LinearReduction:
    """Pick linearly independent coordinates, and express all others in them.

    Coordinates are tried in the order of ``preference`` (a sort key of positions), and picked if
    they do not depend on earlier ones. Over GF(p), where p must divide no denominator of the map,
    coordinates can be dependent that are independent over QQ.
    """
    basis: list[int] = []
    dependencies: dict[int, dict[int, Fraction]] = {}
    # A block has the positions of its coordinates; an image counts as the set of its monomials.
    for block in check_deadline_in(connected_groups(parametrization.images)):
        # Pivot columns do not depend on columns further left: the earliest coordinates are picked.
        block.sort(key=preference)
        images = [parametrization.images[j] for j in block]
        rows = []  # one for each monomial
        for monomial in check_deadline_in(sorted(set().union(*images))):
            coefficients = [image.get(monomial, 0) for image in images]
            rows.append(without_denominators(coefficients))
        pivots, echelon = pivot_columns(rows, field.characteristic)
        independent = [block[pivot] for pivot in pivots]
        basis += independent
        for column in set(range(len(block))).difference(pivots):
            # The entries of a column of the reduced echelon form are the coefficients of its
            # expression in the pivot columns, one for each row.
            entries = [row[column] for row in echelon]
            expression = dict(zip(independent, entries, strict=True))
            dependencies[block[column]] = {j: c for j, c in expression.items() if c}
    basis.sort()
    return LinearReduction(
        reduced=parametrization.restricted_to(basis),
        basis=tuple(basis),
        dependencies=tuple(sorted(dependencies.items())),
    )


def in_sparse_coordinates(parametrization: PolynomialMap) -> PolynomialMap:
    """Rewrite a map with linearly independent coordinates in others, for which elimination is
    faster.

    The new images are the rows of reduced echelon forms of the coefficients: each has a monomial
    that no other one has. The closures of both images correspond under a linear isomorphism.
    """
    new_images: dict[int, PolyElement] = {}
    # Row operations within a block of images, connected by common monomials, change no
    # span, of the block or of others. A block has the positions of its images.
    for block in check_deadline_in(connected_groups(parametrization.images)):
        old_images = [parametrization.images[j] for j in block]
        monomials = sorted(set().union(*old_images), reverse=True)
        rows = []
        for image in old_images:
            coefficients = [image.get(monomial, 0) for monomial in monomials]
            rows.append(without_denominators(coefficients))
        _, echelon = pivot_columns(rows)
        # There are as many rows as before, since the images are independent.
        for j, row in zip(block, echelon, strict=True):
            terms = zip(monomials, without_denominators(row), strict=True)
            new_images[j] = old_images[0].ring.from_dict(dict(terms))
    in_order = [new_images[j] for j in range(len(new_images))]
    return replace(parametrization, images=tuple(in_order))


def same_span(first: PolynomialMap, second: PolynomialMap) -> bool:
    """Whether the coordinates of two maps with the same parameters span one space of polynomials,
    so that the closures of the images correspond under a linear isomorphism.
    """
    # The spans U and V are equal exactly if dim U = dim V = dim (U + V).
    generators_of_spaces = first.images, second.images, first.images + second.images
    dimensions = set()
    for images in generators_of_spaces:  # of U, V and U + V
        # Integer multiples of the images, which have the same span; a column for each monomial.
        rows = map(integer_coefficients, images)
        dimensions.add(sparse_rank(rows))
    return len(dimensions) == 1

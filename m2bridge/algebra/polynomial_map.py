"""Polynomial maps from affine varieties to affine spaces, over QQ and modulo primes.

A map and its values; linear relations among its coordinates, and maps in fewer of them; Jacobian
matrices at points. The rank of the differential at a point is a lower bound for the dimension of
the image: that is all that points prove here, and no closure is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import chain, count
from math import prod
from numbers import Rational
from random import Random
from typing import Any

import flint
from sympy import Expr, Symbol
from sympy.polys.rings import PolyElement

from m2bridge.algebra.expressions import difference, numerator_and_denominator
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.linear_algebra import connected, pivot_columns, rank, rank_mod, sparse_rank
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
from m2bridge.algebra.sparse_polynomial import gradients
from m2bridge.errors import ConversionError, InvalidCaseError, MethodUnavailableError
from m2bridge.limits import check_deadline_in


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

    def __post_init__(self) -> None:
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
        # Elimination has a ring with both, which refuses a name that occurs twice.
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
            Rational functions have a further parameter, the inverse of their common denominator.
        relations : expressions that vanish on the source variety, or equations ``Eq(f, g)``
        prime : whether the relations are known to generate a prime ideal over every field

        Raises
        ------
        ConversionError
            If a name is not one, or something is not an exact polynomial in the parameters; text is
            never evaluated.

        Examples
        --------
        >>> from sympy import symbols
        >>> s, t = symbols("s t")
        >>> powers = {"x": s**3, "y": s**2*t, "z": s*t**2, "w": t**3}
        >>> cubic = PolynomialMap.from_expressions([s, t], powers)
        >>> cubic.coordinates
        ('x', 'y', 'z', 'w')
        """
        if isinstance(parameters, str) or not isinstance(parameters, Iterable):
            raise ConversionError(
                f"parameters: a list is needed, such as [s, t], not {parameters!r:.60}"
            )
        if not isinstance(images, Mapping):
            raise ConversionError(
                f'images: a dictionary is needed, such as {{"x": s**2}}, not {images!r:.60}'
            )
        source = PolynomialRing(QQ, tuple(map(variable_name, parameters)))
        fractions = {}
        for name, image in images.items():
            above, below = numerator_and_denominator(image)
            fractions[variable_name(name)] = (source.polynomial(above), source.polynomial(below))
        equations = tuple(filter(None, map(source.polynomial, map(difference, relations))))
        return cls.from_fractions(source, fractions, equations, prime)

    @classmethod
    def from_terms(
        cls, parameters: Sequence[str], images: Mapping[str, Mapping[Any, Any]]
    ) -> PolynomialMap:
        """Build a map from the exponents and rational coefficients of the terms of each image."""
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

        Where a denominator is no number, a further parameter is the inverse of the least common
        multiple q of all, and a relation says so: w*q = 1. The source is then the set of points
        where q does not vanish; w*q − 1 is irreducible over every field, since q is primitive.
        """
        common = source.sympy_ring.one
        for _, below in images.values():
            common = common.lcm(below)
        _, common = common.clear_denoms()
        _, common = common.primitive()
        if common.is_ground:
            polynomials = [above.quo_ground(below.LC) for above, below in images.values()]
            return cls(source, tuple(images), tuple(polynomials), tuple(relations), prime)
        taken = {*source.variables, *images}
        names = chain(["w"], map("w_{}".format, count(1)))
        name = next(candidate for candidate in names if candidate not in taken)
        extended = PolynomialRing(QQ, (*source.variables, name))
        inverse = extended.sympy_ring.gens[-1]

        def lifted(polynomial: PolyElement) -> PolyElement:
            terms = {(*monomial, 0): c for monomial, c in polynomial.items()}
            return extended.sympy_ring.from_dict(terms)

        polynomials = [
            lifted(above * common.exquo(below)) * inverse for above, below in images.values()
        ]
        defining = inverse * lifted(common) - 1
        return cls(
            source=extended,
            coordinates=tuple(images),
            images=tuple(polynomials),
            relations=(*map(lifted, relations), defining),
            prime=not relations,
        )

    def target(self, *, field: CoefficientField = QQ) -> PolynomialRing:
        """Ring of polynomial functions on the target, over ``field``."""
        return PolynomialRing(field, self.coordinates)

    @property
    def image_degrees(self) -> tuple[int, ...] | None:
        """Total degrees of the images.

        ``None`` if an image or relation is not homogeneous, or an image is constant.
        """
        degrees = tuple(map(total_degree, self.images))
        homogeneous = all(map(is_homogeneous, self.images + self.relations))
        if not homogeneous or min(degrees, default=1) <= 0:
            return None
        return degrees

    def evaluate(self, point: Sequence[Rational | int]) -> tuple[Any, ...]:
        """The values of the coordinates at a rational point, in the order of ``source.variables``.

        Values that are integers are of type ``int``, others fractions.

        Raises
        ------
        ConversionError
            If a number is not exact, there are more or fewer of them than variables, or the point
            does not satisfy the relations.

        Examples
        --------
        >>> from sympy import symbols
        >>> s, t = symbols("s t")
        >>> monomials = PolynomialMap.from_expressions([s, t], {"x": s**2, "y": s * t})
        >>> monomials.evaluate((Fraction(1, 2), 4))
        (Fraction(1, 4), 2)
        """
        if len(point) != len(self.source.variables):
            raise ConversionError(
                f"{len(point)} numbers for the {len(self.source.variables)} variables of the source"
            )
        for entry in point:
            if not hasattr(entry, "numerator"):
                raise ConversionError(f"{entry!r:.60} is not exact: give integers or fractions")
        exact = list(map(self.source.number, point))
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
        """The map followed by the projection to some of the coordinates."""
        coordinates = tuple(self.coordinates[i] for i in indices)
        images = tuple(self.images[i] for i in indices)
        return replace(self, coordinates=coordinates, images=images)

    @property
    def maybe_reducible(self) -> bool:
        """Whether the source may be reducible, empty, or defined by no radical ideal."""
        return bool(self.relations) and not self.prime

    def check_field(self, field: CoefficientField) -> None:
        """Raise InvalidCaseError if the map has no reduction to this field."""
        p = field.characteristic
        if not p:
            return
        parts = [f"the coordinate {name}" for name in self.coordinates]
        parts += ["a relation"] * len(self.relations)
        for part, polynomial in zip(parts, self.images + self.relations, strict=True):
            if any(int(coefficient.denominator) % p == 0 for coefficient in polynomial.values()):
                raise InvalidCaseError(
                    "field", f"{part} has no meaning over {field}: {p} divides a denominator"
                )


def evaluate(polynomial: PolyElement, point: Sequence[Any]) -> PolyElement:
    """The value of a polynomial at a point with exact entries, as an element of its domain."""
    domain = polynomial.ring.domain
    total = domain.zero
    for exponents, c in check_deadline_in(polynomial.items()):
        powers = [x**exponent for x, exponent in zip(point, exponents, strict=True) if exponent]
        total += c * domain(prod(powers))
    return total


def substitute(polynomial: PolyElement, images: Sequence[PolyElement]) -> PolyElement:
    """The polynomial with elements of another ring over the same field for its variables."""
    ring = images[0].ring

    @cache
    def power(index: int, exponent: int) -> PolyElement:
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
    """The images of the coordinates with coefficients in the field of ``ring``."""
    source = PolynomialRing(ring.field, parametrization.source.variables).sympy_ring
    return tuple(image.set_ring(source) for image in parametrization.images)


def relations_over(parametrization: PolynomialMap, field: CoefficientField) -> GeneratingSet:
    """The relations of the source over a field.

    Raises
    ------
    InvalidCaseError
        If the map has no reduction there.
    """
    parametrization.check_field(field)
    source = PolynomialRing(field, parametrization.source.variables)
    relations = (relation.set_ring(source.sympy_ring) for relation in parametrization.relations)
    return GeneratingSet.without_zeros(source, relations)


def vanishes_on_image(ideal: GeneratingSet, parametrization: PolynomialMap) -> bool:
    """Whether every generator vanishes on the image; the source must have no relations.

    This proves that the closure of the image lies in the variety of the ideal.
    """
    images = images_over(parametrization, ideal.ring)
    return not any(substitute(generator, images) for generator in ideal.generators)


@dataclass(frozen=True, slots=True)
class LinearReduction:
    """A polynomial map in linearly independent coordinates.

    Parameters
    ----------
    reduced : PolynomialMap
        The map followed by the projection to ``basis``; its coordinates are linearly independent
        functions.
    basis : tuple of int
        Positions of the independent coordinates among all coordinates.
    dependencies : tuple of (int, mapping from int to Fraction)
        For each other coordinate its position, and the coefficients of its expression in the basis,
        by position.
    """

    reduced: PolynomialMap
    basis: tuple[int, ...]
    dependencies: tuple[tuple[int, Mapping[int, Fraction]], ...]

    def linear_forms(
        self, original: PolynomialMap, *, field: CoefficientField
    ) -> tuple[PolyElement, ...]:
        """The linear generators: each dependent coordinate minus its expression in the basis."""
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
    """Pick linearly independent coordinates, the earliest possible, and express the others in them.

    Images without common monomials do not depend on each other, so each block of connected ones is
    treated alone. Modulo p, which must divide no denominator of the map, coordinates can be
    dependent that are not so over QQ.
    """
    basis: list[int] = []
    dependencies: dict[int, dict[int, Fraction]] = {}
    for block in check_deadline_in(connected(parametrization.images)):
        block.sort(key=preference)
        rows = _coefficient_rows([parametrization.images[j] for j in block])
        pivots, echelon = pivot_columns(rows, field.characteristic)
        independent = [block[pivot] for pivot in pivots]
        basis += independent
        for place in set(range(len(block))).difference(pivots):
            column = [row[place] for row in echelon]
            entries = zip(independent, column, strict=True)
            dependencies[block[place]] = {j: entry for j, entry in entries if entry}
    basis.sort()
    return LinearReduction(
        parametrization.restricted_to(basis), tuple(basis), tuple(sorted(dependencies.items()))
    )


def in_sparse_coordinates(parametrization: PolynomialMap) -> PolynomialMap:
    """Rewrite a map in other linear coordinates of the space that its image spans.

    Its coordinates are those of an echelon form: each has a monomial that no other one has. The
    closures of the images correspond under a linear isomorphism; elimination is faster here.

    Parameters
    ----------
    parametrization : PolynomialMap
        With linearly independent coordinates.
    """
    images: dict[int, PolyElement] = {}
    # Row operations within a block change neither the span of its images nor those of others.
    for block in check_deadline_in(connected(parametrization.images)):
        chosen = [parametrization.images[j] for j in block]
        monomials = sorted(set().union(*chosen), reverse=True)
        rows = []
        for image in chosen:
            coefficients = [image.get(monomial, 0) for monomial in monomials]
            rows.append(without_denominators(coefficients))
        _, echelon = pivot_columns(rows)
        for j, row in zip(block, echelon, strict=True):
            terms = zip(monomials, without_denominators(row), strict=True)
            images[j] = chosen[0].ring.from_dict(dict(terms))
    return replace(parametrization, images=tuple(images[j] for j in range(len(images))))


def same_span(first: PolynomialMap, second: PolynomialMap) -> bool:
    """Whether the coordinates of two maps with the same parameters span the same polynomials.

    The closures of the two images then correspond under a linear isomorphism of the spaces that
    they span.
    """
    families = first.images, second.images, first.images + second.images
    ranks = {sparse_rank(map(integer_coefficients, images)) for images in families}
    return len(ranks) == 1


def _coefficient_rows(images: Sequence[PolyElement]) -> list[list[int]]:
    """The coefficients without denominators: a row for each monomial, a column for each image."""
    rows = []
    for monomial in check_deadline_in(sorted(set().union(*images))):
        coefficients = [image.get(monomial, 0) for image in images]
        rows.append(without_denominators(coefficients))
    return rows


def jacobian_at(
    polynomials: Sequence[PolyElement], point: Sequence[int], prime: int = 0
) -> list[list[int]]:
    """The Jacobian matrix at an integer point, each row without its polynomial's denominators.

    Parameters
    ----------
    polynomials : sequence of PolyElement over QQ or GF(p)
    point : sequence of int
        One value for each variable of the polynomials' ring; elements of an extension of GF(p)
        serve as well.
    prime : int, optional
        Give the entries modulo this number, which is much faster where exponents are large.

    Returns
    -------
    list of rows of int, one for each polynomial; the rank is that of the Jacobian matrix.

    Source of the criterion: Hartshorne, *Algebraic Geometry*, section I.5; Eisenbud, *Commutative
    Algebra*, Theorem 16.19.
    """
    terms = map(integer_coefficients, polynomials)
    rows = []
    for gradient in gradients(terms, point, prime):
        row = [gradient.get(i, 0) for i in range(len(point))]
        if prime:
            row = [entry % prime for entry in row]
        rows.append(row)
    return rows


def tangent_dimension(
    generators: Sequence[PolyElement], point: Sequence[int], *, field: CoefficientField = QQ
) -> int:
    """The dimension of the tangent space at a point of the variety that these polynomials define.

    With all generators of a radical ideal this is the (affine) Zariski tangent dimension; with some
    of them, an upper bound for it.
    """
    # It is the kernel of the Jacobian matrix: further equations can only make it smaller.
    return len(point) - _jacobian_rank(generators, point, field)


def _jacobian_rank(
    polynomials: Sequence[PolyElement], point: Sequence[int], field: CoefficientField
) -> int:
    """The rank of the Jacobian matrix at a point, over QQ or GF(p)."""
    p = field.characteristic
    rows = jacobian_at(polynomials, point, p)
    return rank_mod(rows, p) if p else rank(rows)


def random_point(parametrization: PolynomialMap, bound: int, seed: int) -> tuple[int, ...]:
    """A point with entries uniform in [1, bound], the same for the same seed.

    The source must have no relations.
    """
    chance = Random(seed)
    return tuple(chance.randint(1, bound) for _ in parametrization.source.variables)


def differential_rank(
    parametrization: PolynomialMap, point: Sequence[int], *, field: CoefficientField = QQ
) -> int:
    """The rank of the differential at a point: a lower bound for the dimension of the image.

    The rank at a point is at most the generic rank. This is the dimension of the closure of the
    image in characteristic 0, and at most that in characteristic p, where it can be less (s ↦ s^p).
    The rank modulo any prime is a lower bound for the rank over QQ.

    Hypothesis: no relations. The source is then an affine space, which is smooth; at singular
    points of a source the differential on the Zariski tangent space can have larger rank than the
    dimension of the image.

    Raises
    ------
    MethodUnavailableError
        If the parameters satisfy relations.
    """
    if parametrization.relations:
        raise MethodUnavailableError(
            "the rank of the differential bounds the dimension where parameters are free"
        )
    return _jacobian_rank(parametrization.images, point, field)


MIN_FIELD_ELEMENTS = 1000
"""A field whose points are called random has at least this many elements."""
POINTS_PER_FIELD = 3
"""Points over each field; the largest of their ranks counts, so that one unlucky point is harmless.
"""
MAX_EXTENSION_ENTRIES = 1 << 22
"""The largest number of entries over GF(p) of a matrix over an extension."""
MAX_SPARE_ROWS = 32
"""The number of rows of such a matrix beyond the number that an upper bound requires."""

SEED = 20240817


def generic_rank(free: PolynomialMap, enough: int, *, field: CoefficientField) -> tuple[int, str]:
    """The largest rank found at some random points, and the field of the point where it was found.

    A lower bound for the dimension of the closure of the image; equal to the generic rank unless
    all the points are unlucky.

    Parameters
    ----------
    free : PolynomialMap
        Without relations.
    enough : int
        An upper bound for the rank: when it is reached, no other point is tried.
    """
    p = field.characteristic
    seeds = range(SEED, SEED + POINTS_PER_FIELD)
    best, place = -1, ""
    for seed in seeds:
        value = differential_rank(
            free, random_point(free, p or MIN_FIELD_ELEMENTS, seed), field=field
        )
        if value >= best:
            best, place = value, str(field)
        if value >= enough:
            return best, place
    if p == 0 or p >= MIN_FIELD_ELEMENTS:
        return best, place
    # In a small field all points can be special, as those with s^p = s.
    for seed in seeds:
        value = _extension_rank(free, p, seed=seed, enough=enough)
        if value >= best:
            best, place = value, f"GF({p}^{extension_degree(p)})"
        if value >= enough:
            break
    return best, place


def extension_degree(p: int) -> int:
    """The least k such that GF(p^k) has many elements."""
    return next(k for k in count(1) if p**k >= MIN_FIELD_ELEMENTS)


def _extension_rank(free: PolynomialMap, p: int, seed: int, enough: int) -> int:
    """The rank at a random point of GF(p^k); the rank of some rows is a lower bound, too.

    GF(p^k) is a space of dimension k over GF(p), on which each element acts by a k×k matrix, whose
    row i is its product with z^i. The matrix of these blocks has k times the rank.
    """
    degree = extension_degree(p)
    chance = Random(seed)
    field = flint.fq_default_ctx(p, degree)
    point = [field([chance.randrange(p) for _ in range(degree)]) for _ in free.source.variables]
    most = max(
        enough + MAX_SPARE_ROWS, MAX_EXTENSION_ENTRIES // max(1, degree * degree * len(point))
    )
    images = chance.sample(free.images, min(most, len(free.images)))  # rows of the matrix
    powers = [field.gen() ** i for i in range(degree)]
    rows = []
    for gradient in jacobian_at(images, point):
        for power in powers:
            row: list[int] = []
            for entry in gradient:
                if entry:
                    row += map(int, (power * entry).to_list())
                else:
                    row += [0] * degree
            rows.append(row)
    return rank_mod(rows, p) // degree

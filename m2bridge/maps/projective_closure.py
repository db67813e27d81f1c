"""Hypersurfaces parametrized by an inhomogeneous map: the equation of the projective closure.

With one more parameter the images become homogeneous of one degree, and 1 becomes the first of
them. The closure of this image is the cone over the projective closure of the affine variety (Cox,
Little, O'Shea, *Ideals, Varieties, and Algorithms*, § 8.4): generators of its ideal, with 1 in
place of the first coordinate, generate the ideal of the affine one. ``source`` is this homogenized
map, and ``dimension`` a lower bound for the dimension of the affine closure.
"""

from itertools import count, islice
from typing import NamedTuple

from sympy.polys.rings import PolyElement, PolyRing

from m2bridge.algebra.field import QQ
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.algebra.sparse_polynomial import Terms
from m2bridge.ideals.ideal import Ideal
from m2bridge.implicitization.elimination import linear_part
from m2bridge.implicitization.multigraded_map import MultigradedMap, multigraded
from m2bridge.limits import check_deadline_in
from m2bridge.maps.equations import hypersurface_equation


class ProvedHypersurface(NamedTuple):
    """An affine hypersurface that is the closure of an image."""

    ideal: Ideal  # in the coordinates of the map
    series: HilbertSeries  # of the ring of leading forms
    proof: str  # why no further generators are needed


def homogenize(polynomial_map: PolynomialMap) -> MultigradedMap:
    """Return the homogenized map: to the cone over the projective closure of the image.

    Its last parameter h is new. Its first coordinate is new too, with the image h^d, where d is the
    largest degree of an image; the other images are homogenized to degree d by h.

    Hypotheses: free parameters, and images that are not all constant.

    Examples
    --------
    >>> from sympy import symbols
    >>> t = symbols("t")
    >>> parabola = PolynomialMap.from_expressions([t], {"x": t, "y": t**2 + 1})
    >>> [str(image) for image in homogenize(parabola).polynomial_map.images]
    ['h**2', 't*h', 't**2 + h**2']
    """
    taken = {*polynomial_map.source.variables, *polynomial_map.coordinates}
    names = (f"h{number or ''}" for number in count())  # h, h1, …
    parameter, coordinate = islice((name for name in names if name not in taken), 2)
    source = PolynomialRing(QQ, (*polynomial_map.source.variables, parameter))
    ring = source.sympy_ring
    images = polynomial_map.images
    # the largest degree d of an image; not all images are constant, so there are monomials
    degree = max(sum(exponents) for image in images for exponents in image.monoms())
    new_parameter = ring.gens[-1]
    new_images = [new_parameter**degree]
    for image in check_deadline_in(images):
        # a factor h^e in each term, so that all terms have degree d
        terms = {(*exponents, degree - sum(exponents)): c for exponents, c in image.items()}
        new_images.append(ring.from_dict(terms))
    coordinates = (coordinate, *polynomial_map.coordinates)
    return multigraded(PolynomialMap(source, coordinates, tuple(new_images)))


def hypersurface_source(polynomial_map: PolynomialMap, dimension: int) -> MultigradedMap | None:
    """Return the homogenized map, if the parameters are free, not all images constant, and
    ``dimension`` shows that the closure is a hypersurface or a linear space.
    """
    is_constant = all(image.is_ground for image in polynomial_map.images)
    if polynomial_map.relations or is_constant:
        return None
    source = homogenize(polynomial_map)
    return source if is_hypersurface(source, dimension) else None


def is_hypersurface(source: MultigradedMap, dimension: int) -> bool:
    """Return whether ``dimension`` is one less than the dimension of the affine space that the
    linear equations of the closure define, so that it is a hypersurface in this space, or the whole
    of it.
    """
    independent_count = len(linear_part(source).basis)
    # the cone, and the linear space that it spans, have one dimension more than the affine ones
    cone_dimension_at_least = dimension + 1
    return cone_dimension_at_least == independent_count - 1


def affine_hypersurface(
    source: MultigradedMap, dimension: int, polynomial_map: PolynomialMap
) -> ProvedHypersurface | None:
    """Return the ideal of the closure if it is an affine hypersurface, by its projective closure;
    ``None`` if ``dimension`` does not show that, no equation is found in the degrees that are
    searched, or a limit is reached.
    """
    # the cone has one dimension more than the affine closure
    equations = hypersurface_equation(source, dimension + 1)
    if equations is None or equations.series is None:
        return None
    target = polynomial_map.target()
    cone_generators = equations.implicitization.sparse_generators()
    generators = [_dehomogenize(terms, target.sympy_ring) for terms in cone_generators]
    # `max_degree` is the degree of the equation of the cone, with which the search ended; the
    # leading form of the affine equation has the same degree. The first coordinate of the cone is
    # no variable of the affine ring.
    variable_count = len(linear_part(source).basis) - 1
    numerator = {0: 1, equations.implicitization.max_degree: -1}
    series = HilbertSeries.from_numerator(numerator, variable_count)
    return ProvedHypersurface(
        ideal=Ideal(target, tuple(generators)),
        series=series,
        proof=f"{equations.remark} (of the projective closure)",
    )


def _dehomogenize(polynomial: Terms, ring: PolyRing) -> PolyElement:
    """Return a polynomial in the coordinates 0, 1, … of the cone, with 1 in place of coordinate 0,
    in the ring of the affine coordinates 1, 2, …; a monomial lists its coordinates with repetition.
    """
    coefficients = {}
    for monomial, coefficient in polynomial:
        exponents = [0] * ring.ngens
        for number in monomial:
            if number > 0:  # coordinate 0 is 1
                exponents[number - 1] += 1
        coefficients[tuple(exponents)] = coefficient
    return ring.from_dict(coefficients)

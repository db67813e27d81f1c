"""The singular locus of a cone by double points of its parametrization, without its equations.

*Theorem.* Let the parameters fall into factors, such that all images are homogeneous of the same
positive degree in the parameters of each, and have no common zero where no factor is zero. They
define a map from a product of projective spaces, which is finite, since it contracts no curve. Let
it be birational onto its image Z. Then a point of Z is smooth exactly if its fibre is one reduced
point: if it is, the map is a closed embedding there by Nakayama's lemma, and the source is smooth;
and a smooth point is normal, so that a finite birational map is an isomorphism there.

So the singular locus of Z is the image of the pairs of points with the same image: pairs of
different points, and those where the scheme of all pairs is larger than the diagonal. The cone over
Z is singular in the cone over this locus, and in the origin unless it is a linear space. That there
are no base points, and that the map is birational, is computed and not assumed.

Source: Hartshorne, *Algebraic Geometry*, II.7.3 and its proof, and III.11.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from operator import mul

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.linear_algebra import IntegerVector, integer_kernel
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.convert import m2_syntax
from m2bridge.convert.answers import answer_to
from m2bridge.engine.script import Script, render
from m2bridge.errors import MethodUnavailableError
from m2bridge.ideals.ideal import Ideal
from m2bridge.ideals.measured_primes import MeasuredPrime, measured_primes_in
from m2bridge.limits import check_deadline_in
from m2bridge.maps.completeness import ideal_in_all_coordinates, linear_reduction
from m2bridge.maps.model import Model
from m2bridge.results.sheet import m2_list

MAX_CHARTS = 32
"""The largest number of charts of the source, a product of projective spaces.

All pairs of charts are examined.
"""

ParameterFactors = tuple[tuple[int, ...], ...]
"""The positions of the parameters in each factor."""


def projective_factors(parametrization: PolynomialMap) -> ParameterFactors:
    """Return the factors of the parameters in each of which all images have the same degree.

    The result is empty if there are no such factors; if the parameters satisfy relations, or one of
    them occurs in no image; and if the images are homogeneous in further gradings, with different
    weights of parameters of one factor.

    Examples
    --------
    >>> from sympy import symbols
    >>> s, t, u = symbols("s t u")
    >>> products = PolynomialMap.from_expressions([s, t, u], {"x": s**2 * u, "y": t**2 * u})
    >>> projective_factors(products)
    ((0, 1), (2,))
    """
    # all monomials of the images, as exponents of the parameters
    monomials = sorted({monomial for image in parametrization.images for monomial in image})
    if not monomials or not parametrization.source.variables or parametrization.relations:
        return ()
    first, *others = monomials
    parameter_count = len(first)
    differences = [tuple(a - b for a, b in zip(m, first, strict=True)) for m in others]
    # vectors of weights of the parameters for which all monomials have the same degree: a basis
    gradings = _gradings(differences, parameter_count)
    # two parameters are in one factor if they have the same weight in each of the gradings
    members: dict[tuple[int, ...], list[int]] = {}
    for j in range(parameter_count):
        weights_of_j = tuple(grading[j] for grading in gradings)
        members.setdefault(weights_of_j, []).append(j)
    factors = tuple(map(tuple, members.values()))
    # A grading gives one weight to all parameters of a factor. If there are as many independent
    # gradings as factors, every choice of weights of the factors is a grading, also the degree in
    # one factor alone.
    degrees = [sum(first[j] for j in factor) for factor in factors]
    if len(factors) != len(gradings) or min(degrees) <= 0:
        return ()
    return factors


def _gradings(differences: Sequence[IntegerVector], parameter_count: int) -> list[IntegerVector]:
    """Return a basis of the gradings, vectors of weights of the parameters, in which the
    differences of exponents of monomials have degree 0: the kernel of the matrix with these rows.

    Few of many rows determine the kernel; all others are only tested, and some are added if they
    fail the test. That ends, since each added row that fails makes the kernel smaller.
    """
    # about twice as many differences as parameters, evenly spread; the row of zeros, which changes
    # nothing, makes the matrix nonempty
    step = 1 + len(differences) // (2 * parameter_count)
    deciding_differences = [(0,) * parameter_count, *differences[::step]]
    while True:
        gradings = integer_kernel(deciding_differences, parameter_count)
        # differences of a degree other than 0 in one of these gradings
        violating = [
            difference
            for difference in check_deadline_in(differences)
            if any(sum(map(mul, difference, weights)) != 0 for weights in gradings)
        ]
        if not violating:
            return gradings
        deciding_differences += violating[:parameter_count]


def why_no_double_points(model: Model, field: CoefficientField) -> str:
    """Return why double points do not decide smoothness of the closure; empty if they may.

    Whether there are base points, and whether the map is birational, is examined by
    :func:`double_points`.
    """
    if field != QQ:
        return "double points are examined over QQ only"
    factors = projective_factors(model.polynomial_map)
    if not factors:
        return "the images are not homogeneous in the parameters of each factor of a product"
    charts = prod(map(len, factors))
    if charts > MAX_CHARTS:
        return f"the source has {charts} charts, of which at most {MAX_CHARTS} are examined"
    return ""


def closure_dimension(model: Model) -> int:
    """Return the dimension of the closure, a cone, of a map with :func:`projective_factors` and
    without base points: it is finite, so one more than the dimension of the product of projective
    spaces.
    """
    return 1 + sum(len(factor) - 1 for factor in projective_factors(model.polynomial_map))


def double_points_script(model: Model) -> Script:
    """Return the Macaulay2 program that finds the pairs of points with the same image.

    It has variables for both points of a pair, the coordinates of the target, and a variable
    ``multiple`` by which the image of a point is multiplied to give all points of the cone. Its
    answers are ``without_base_points``; then ``pairs_dimension``, the dimension of the set of pairs
    in the product of the source with itself; and, if that is less than the dimension of the source,
    ``minimal_primes`` of the singular locus with their ``dimensions`` and ``degrees``.
    """
    independent = linear_reduction(model).reduced
    source = independent.source.variables
    count = len(source)
    second_source = [f"{name}_second" for name in source]
    # all names together, so that no two of them become the same
    names = m2_syntax.all_to_macaulay2(
        (*source, *second_source, "multiple", *independent.coordinates)
    )
    first = names[:count]
    multiple, *coordinates = names[2 * count :]
    images = (m2_syntax.polynomial(image, first) for image in independent.images)
    factors = projective_factors(model.polynomial_map)
    values = {
        "title": model.title,
        "field": m2_syntax.field(QQ),
        "first": ", ".join(first),
        "second": ", ".join(names[count : 2 * count]),
        "multiple": multiple,
        "coordinates": ", ".join(coordinates),
        "images": m2_syntax.sequence(images),
        "factors": m2_list(map(m2_list, factors)),
        "dimension": closure_dimension(model) - 1,  # of the product of projective spaces
    }
    return render("double_points", values=values)


def double_points(model: Model) -> list[MeasuredPrime]:
    """Return the prime ideals of the components of the singular locus of the closure, a cone, with
    their dimensions and degrees; none if it is smooth. MethodUnavailableError if the map has base
    points, or is not birational onto its image.
    """
    answer = answer_to(double_points_script(model))
    if not answer.boolean("without_base_points"):
        raise MethodUnavailableError(
            f"the images of the {model.title} have common zeros where no factor is zero"
        )
    cone_dimension = closure_dimension(model)
    # If the pairs of points with the same image have at least the dimension of the source, then a
    # general point has the image of a second point.
    if answer.integer("pairs_dimension") >= cone_dimension - 1:
        raise MethodUnavailableError(f"the {model.title} is not birational onto its image")
    # triples of a prime ideal, in independent coordinates, its dimension and its degree
    components = measured_primes_in(answer, "minimal_primes", "dimensions", "degrees")
    # The closure lies in a linear space with the independent coordinates, and fills it if both have
    # the same dimension.
    is_linear = len(linear_reduction(model).basis) == cone_dimension
    # A cone is smooth at its vertex, the origin, only if it is a linear space. Components that were
    # found are cones too, and contain the origin.
    if not components and not is_linear:
        target = model.polynomial_map.target()
        return [(Ideal(target, target.sympy_ring.gens), 0, 1)]
    return [
        (ideal_in_all_coordinates(prime.generators, model), dimension, degree)
        for prime, dimension, degree in components
    ]

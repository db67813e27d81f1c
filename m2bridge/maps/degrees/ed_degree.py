"""The ED degree of a variety: how many critical points a quadratic distance has on it.

Critical points are counted modulo random primes (:mod:`.distance`). Definitions, and what the
numbers mean, are in docs/ed-degrees.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, Literal, Unpack

from m2bridge.algebra.field import QQ
from m2bridge.engine import RunOptions, computation, current
from m2bridge.errors import (
    InvalidCaseError,
    MemoryLimitError,
    MethodUnavailableError,
    TimeLimitError,
    TooLargeError,
    check_choice,
    check_flag,
    check_kind,
)
from m2bridge.ideals.ideal import Ideal
from m2bridge.limits import clock
from m2bridge.maps.closure import closure
from m2bridge.maps.degrees.distance import AgreedCount, ParametrizedImage, Variety
from m2bridge.maps.degrees.ed_result import DataPoint, EDDegree
from m2bridge.maps.degrees.polar_degrees import polar_degrees
from m2bridge.maps.degrees.quadratic_forms import read_numbers, read_quadratic
from m2bridge.maps.degrees.real_points import find_real_points
from m2bridge.maps.model import Model
from m2bridge.maps.polynomial_map_model import Case, as_model
from m2bridge.results.sheet import printable

EDMethod = Literal["auto", "ideal", "parametrization"]


@computation
def ed_degree(
    case: Case | Ideal,
    *,
    quadratic: Any = None,
    point: Any = None,
    method: EDMethod = "auto",
    generic: bool = True,
    title: str = "",
    **options: Unpack[RunOptions],
) -> EDDegree:
    """Count the critical points of a quadratic distance on a variety, its ED degree.

    The variety is affine, in the coordinates that are given; if it is a cone, the number is also
    the ED degree of its projective variety. It is reduced, and may be reducible.

    Parameters
    ----------
    case : an Ideal over QQ, a model or a PolynomialMap
        Of a map the variety is the Zariski closure of its image.
    quadratic : polynomial or rows of a symmetric matrix, optional
        A nondegenerate quadratic form, as a polynomial that :func:`m2bridge.ideal` takes, or by its
        matrix; else the sum of the squares of the coordinates.
    point : sequence of exact numbers, or one string such as "1, 2/3", optional
        A data point, in the order of the coordinates, whose real critical points are found.
    method : {"auto", "ideal", "parametrization"}
        ``ideal``: critical points on the variety of the ideal, of the closure for a map.
        ``parametrization``: the number of critical parameters of a map without relations, divided
        by the number of points of a general fibre; if the image is a point, ``ideal`` is used.
        ``auto`` is ``parametrization`` where there is such a map, else ``ideal``.
    generic : bool
        Whether to find the number for a general quadratic form too, and, unless the variety is a
        cone, that of its projective closure.
    engine : Engine, optional
        A Macaulay2 to use; without one, that of the ``with`` block around it, else one that the
        process shares.
    timeout : float, optional
        Seconds for the whole computation.
    title : str
        The variety of an ideal in words.

    Raises
    ------
    InvalidCaseError
        If the variety is empty, the field is not QQ, the form is singular or of another size, there
        are more or fewer numbers than coordinates, or the method is not for this case.
    ConversionError
        If the form or a number is not exact.
    MethodUnavailableError
        If too few primes have the same number, or the ideal of a closure is not known completely.
    TimeLimitError, MemoryLimitError
        If the ED degree is not found within the limits. A limit that is reached later leaves the
        result ``unfinished``.

    Examples
    --------
    >>> ellipse = ed_degree(ideal("x^2 + 4*y^2 - 4"), point=("1/10", "1/10"), generic=False)
    >>> ellipse.ed_degree, ellipse.critical_points, ellipse.real_critical_points
    (4, 4, 4)
    >>> ed_degree(ideal("x^2 + y^2 - 1")).ed_degree
    2
    """
    check_choice("method", method, EDMethod)
    variety: Variety | ParametrizedImage
    check_flag("generic", generic)
    check_kind("title", title, str, "a text")
    if isinstance(case, Ideal):
        model = None
        variety = _variety_of_ideal(case, method, printable(title))
    else:
        model = as_model(case)
        variety = _variety_of_model(model, method)
    form = read_quadratic(quadratic, variety.ring)
    variables = variety.ring.variables
    data = None if point is None else read_numbers(point, "point", len(variables))
    counted = _check_count(variety.count(form))  # raises unless the number is finite
    result = EDDegree(
        title=variety.title,
        case=None if model is None else model.case,
        variables=variables,
        dimension=counted.count.dimension,
        cone=variety.is_cone,
        quadratic=form,
        method="ideal" if isinstance(variety, Variety) else "parametrization",
        counted=counted,
        engine_version=current().version,
        seconds=clock().seconds,
    )
    # each further step adds to the result, or leaves it unfinished at a limit
    if data is not None:
        result = _try_step(result, partial(_add_point, variety=variety, model=model, point=data))
    if generic:
        result = _try_step(result, partial(_add_generic, variety=variety, model=model))
    # the generic number of a cone is that of its projective variety already
    if generic and not result.cone:
        result = _try_step(result, partial(_add_closure, case=case if model is None else model))
    return replace(result, seconds=clock().seconds)


def _variety_of_ideal(ideal: Ideal, method: EDMethod, title: str) -> Variety:
    """Return the variety of an ideal, in which critical points are counted.

    Raises
    ------
    InvalidCaseError
        If the method is not for ideals, or the field is not QQ.
    """
    if method == "parametrization":
        raise InvalidCaseError("method", "'parametrization' is not for ideals: use ideal")
    if ideal.ring.field != QQ:
        raise InvalidCaseError("field", f"must be QQ for ED degrees, not {ideal.ring.field}")
    return Variety(ideal, title or "variety of an ideal")


def _variety_of_model(model: Model, method: EDMethod) -> Variety | ParametrizedImage:
    """Return the closure of a model, in which critical points are counted as the method says.

    It is given by its ideal if the method is ``ideal``, if the image is a point, or if the method
    is ``auto`` and the parameters satisfy relations; else by its parametrization.

    Raises
    ------
    MethodUnavailableError
        If the method needs free parameters, or the ideal is not known completely.
    """
    free = model.free_map
    if method == "parametrization" and free.relations:
        raise MethodUnavailableError(
            "the parameters satisfy relations, and critical parameters need free ones: use ideal"
        )
    if method != "ideal" and not free.relations:
        image = ParametrizedImage.of(free, model.title)
        if image.spanning:  # else the image is a point
            return image
    return _variety_of_closure(model)


def _variety_of_closure(model: Model) -> Variety:
    """Return the closure of a model as the variety of its ideal.

    Raises
    ------
    MethodUnavailableError, TimeLimitError
        If the ideal is not proved to be found completely.
    """
    variety = closure(model)
    if variety.ideal is None or not variety.completeness.proved:
        raise variety.incomplete()
    # the closure of an image is irreducible if the source is, and then its ideal is prime
    is_prime = not model.polynomial_map.maybe_reducible
    return Variety(variety.ideal, model.title, prime=is_prime)


def _check_count(counted: AgreedCount) -> AgreedCount:
    """Return ``counted``, a count for a random data point, after checking that it is finite.

    Raises
    ------
    InvalidCaseError
        If the variety is empty.
    MethodUnavailableError
        If the critical points are not isolated.
    """
    if counted.count.dimension < 0:
        raise InvalidCaseError("ideal", "the variety is empty")
    if counted.count.points is None:
        raise MethodUnavailableError(
            "critical points for a random data point are not isolated modulo random primes"
        )
    return counted


def _try_step(result: EDDegree, step: Callable[[EDDegree], EDDegree]) -> EDDegree:
    """Return the result with what a further step adds.

    If the step reaches a limit or is not available, nothing is added, and ``unfinished`` says why.
    """
    try:
        return step(result)
    except (TimeLimitError, MemoryLimitError, MethodUnavailableError, TooLargeError) as reason:
        return _unfinished(result, str(reason))


def _unfinished(result: EDDegree, reason: str) -> EDDegree:
    """Return the result with a further reason why it is unfinished."""
    texts = [text for text in (result.unfinished, reason) if text]
    different_texts = dict.fromkeys(texts)  # in order
    return replace(result, unfinished="; ".join(different_texts))


def _add_point(
    result: EDDegree,
    variety: Variety | ParametrizedImage,
    model: Model | None,
    point: tuple[Fraction, ...],
) -> EDDegree:
    """Return the result with the critical points for a data point.

    They are counted on the variety of an ideal; where ``variety`` is the image of a model, on the
    variety of the ideal of its closure. Real points are added if the critical points are isolated.
    ``model`` is ``None`` if an ideal was given.
    """
    if not isinstance(variety, Variety):
        assert model is not None
        variety = _variety_of_closure(model)
    counted = variety.count(result.quadratic, point)
    result = replace(
        result,
        at_point=DataPoint(
            coordinates=point, count=counted.count, primes=counted.primes, real=None
        ),
    )
    complex_points = counted.count.points
    if complex_points is None:
        return result
    # if a limit is reached in this step, the result keeps the complex critical points
    step = partial(_add_real_points, variety=variety, complex_points=complex_points)
    return _try_step(result, step)


def _add_real_points(result: EDDegree, variety: Variety, complex_points: int) -> EDDegree:
    """Return the result with the real critical points for its data point.

    ``complex_points`` is the number of complex critical points, which are isolated.
    """
    at_point = result.at_point
    assert at_point is not None
    form, data = result.quadratic, at_point.coordinates
    real = find_real_points(variety, form, data, complex_points=complex_points)
    result = replace(result, at_point=replace(at_point, real=real))
    if real.points is None:
        return _unfinished(
            result,
            "coordinates of real critical points, or their q(x − u), are too large for"
            " floating-point numbers",
        )
    return result


def _add_generic(
    result: EDDegree, variety: Variety | ParametrizedImage, model: Model | None
) -> EDDegree:
    """Return the result with the ED degree for a general quadratic form.

    For a cone this number is the sum of its polar degrees, which a theorem of the family may give;
    else it is counted for a random form.
    """
    theorem = None if model is None else model.polar_theorem()
    # a theorem about the closure of an affine variety gives the sum for the closure only
    if theorem is not None and not theorem.closure:
        number = sum(theorem.degrees)
        return replace(result, generic_ed_degree=number, generic_known=theorem.known)
    counted = _check_count(variety.count(form=None))
    return replace(
        result,
        generic_ed_degree=counted.count.points,
        generic_known=f"by a random quadratic form, {counted.known}",
        generic_primes=counted.primes,
    )


def _add_closure(result: EDDegree, case: Case | Ideal) -> EDDegree:
    """Return the result with the generic ED degree of the closure in projective space.

    Raises
    ------
    TimeLimitError
        If the polar degrees of the closure were not all found in time.
    """
    polar = polar_degrees(case)
    if polar.unfinished:
        raise TimeLimitError(polar.unfinished)
    return replace(result, closure_generic_ed_degree=polar.generic_ed_degree)

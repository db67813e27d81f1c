"""The ED degree of a variety: how many critical points a quadratic distance has on it.

Critical points are counted modulo random primes (:mod:`.distance`). Definitions, and what the
numbers mean, are in docs/ed-degrees.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
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
)
from m2bridge.ideals.ideal import Ideal
from m2bridge.limits import clock
from m2bridge.maps.closure import closure
from m2bridge.maps.degrees.certified import count_proved_points
from m2bridge.maps.degrees.distance import (
    AgreedCount,
    CriticalCount,
    ParametrizedImage,
    RealCriticalPoints,
    Variety,
    find_real_points,
)
from m2bridge.maps.degrees.polar_degrees import polar_degrees
from m2bridge.maps.degrees.quadratic_forms import DistanceForm, read_numbers, read_quadratic
from m2bridge.maps.degrees.slices import parametrizes_cone
from m2bridge.maps.model import Model
from m2bridge.maps.polynomial_map_model import Case, as_model
from m2bridge.results.base import Result, result_json
from m2bridge.results.sheet import Block, Facts, Sheet, Table, computed_by, printable

MIN_SHOWN_NUMBER = 1e-12
"""Approximations with a smaller absolute value are shown as zero."""

EDMethod = Literal["auto", "ideal", "parametrization"]


@dataclass(frozen=True, slots=True)
class DataPoint:
    """The critical points for one data point, at regular points of the variety.

    Parameters
    ----------
    coordinates : tuple of Fraction
        The data point u.
    count : CriticalCount
        The complex critical points.
    primes : tuple of int
        The random primes modulo which they were counted.
    real : RealCriticalPoints or None
        The real ones; ``None`` if they are not isolated, or were not found within the limits.
    """

    coordinates: tuple[Fraction, ...]
    count: CriticalCount
    primes: tuple[int, ...]
    real: RealCriticalPoints | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EDDegree(Result):
    """The ED degree of an affine variety X, and what it would be for a general quadratic form.

    It is the number of critical points that the quadratic form q(x − u) has at regular points x of
    X, for a general complex data point u.

    Source: Draisma, Horobeț, Ottaviani, Sturmfels, Thomas, *The Euclidean distance degree of an
    algebraic variety*, Found. Comput. Math. 16, 2016, Section 2.

    Parameters
    ----------
    title : str
        The variety in words.
    case : dict or None
        The numbers that define the case, for JSON; ``None`` without a family.
    variables : tuple of str
        The coordinates of the ambient space.
    dimension : int
        The affine dimension of X.
    cone : bool
        Whether X is known to be a cone: its equations, or the images, are homogeneous.
    quadratic : DistanceForm
        q.
    method : {"ideal", "parametrization"}
    counted : AgreedCount
        The number, and the primes.
    generic_ed_degree : int or None
        The number for a general quadratic form; ``None`` if it was not asked for, or not found
        within the limits.
    generic_known : str
        How ``generic_ed_degree`` is known, in words.
    generic_primes : tuple of int
        The primes modulo which it was counted; none where a theorem gives it.
    closure_generic_ed_degree : int or None
        If X is not known to be a cone: the generic ED degree of its closure in projective space,
        the sum of the polar degrees.
    at_point : DataPoint or None
        The critical points for a data point; ``None`` if none is given.
    engine_version : str
    seconds : float
    unfinished : str

    Examples
    --------
    >>> parabola = ed_degree(ideal("y - x^2"))
    >>> parabola.ed_degree, parabola.generic_ed_degree, parabola.closure_generic_ed_degree
    (3, 3, 4)
    """

    title: str
    case: dict[str, Any] | None
    variables: tuple[str, ...]
    dimension: int
    cone: bool
    quadratic: DistanceForm
    method: str
    counted: AgreedCount
    generic_ed_degree: int | None = None
    generic_known: str = ""
    generic_primes: tuple[int, ...] = ()
    closure_generic_ed_degree: int | None = None
    at_point: DataPoint | None = None
    engine_version: str
    seconds: float
    unfinished: str = ""

    @property
    def ed_degree(self) -> int:
        """The number of complex critical points for a general data point."""
        number = self.counted.count.points  # None if the points are not isolated
        assert number is not None  # then the function ed_degree has raised an error
        return number

    @property
    def primes(self) -> tuple[int, ...]:
        """The random primes modulo which the ED degree was counted."""
        return self.counted.primes

    @property
    def critical_points(self) -> int | None:
        """The number of complex critical points for the given data point, with multiplicity.

        ``None`` if there is no data point, or the critical points are not isolated.
        """
        return None if self.at_point is None else self.at_point.count.points

    @property
    def real_critical_points(self) -> int | None:
        """The number of real critical points for the given data point, without multiplicity.

        ``None`` if there is no data point, or they were not found.
        """
        if self.at_point is None or self.at_point.real is None:
            return None
        return self.at_point.real.number

    @property
    def real_points(self) -> tuple[tuple[float, ...], ...] | None:
        """Approximations of the real critical points x, by increasing q(x − u).

        ``None`` if there is no data point, or they were not found.
        """
        if self.at_point is None or self.at_point.real is None:
            return None
        points = self.at_point.real.points
        return None if points is None else tuple(point.coordinates for point in points)

    @property
    def distances(self) -> tuple[float, ...] | None:
        """Approximations of q(x − u) for each x of :attr:`real_points`; ``None`` if that is."""
        if self.at_point is None or self.at_point.real is None:
            return None
        points = self.at_point.real.points
        return None if points is None else tuple(point.distance for point in points)

    def to_sheet(self) -> Sheet:
        """Return the numbers, how they are known, and a table of the real critical points."""
        blocks: list[Block] = [Facts(_facts(self))]
        if self.real_points and self.distances:
            pairs = zip(self.distances, self.real_points, strict=True)
            rows = [
                [_short_number_text(value), *map(_short_number_text, point)]
                for value, point in pairs
            ]
            header = ("q(x − u)", *self.variables)
            blocks.append(Table(header, rows, "Real critical points x"))
        formulas = [rf"\operatorname{{EDdegree}} = {self.ed_degree}"]
        return Sheet(f"ED degree of the {self.title}", blocks, formulas)

    def to_json(self) -> dict[str, Any]:
        """Return the numbers, how they are known, and the critical points for the data point."""
        return result_json(self.case, "QQ", self.engine_version, self.seconds) | {
            "title": self.title or None,
            "coordinates": list(self.variables),
            "dimension": self.dimension,
            "ambient_dimension": len(self.variables),
            "cone": self.cone,
            "quadratic": self.quadratic.text,
            "ed_degree": self.ed_degree,
            "method": self.method,
            "known": self.counted.known,
            "proved": False,
            "primes": list(self.primes),
            "generic_ed_degree": self.generic_ed_degree,
            "generic_known": self.generic_known or None,
            "generic_proved": self.generic_ed_degree is not None and not self.generic_primes,
            "generic_primes": list(self.generic_primes),
            "closure_generic_ed_degree": self.closure_generic_ed_degree,
            **_point_json(self),
            "unfinished": self.unfinished or None,
        }

    def to_macaulay2(self) -> str:
        """Return the ED degree as a Macaulay2 assignment."""
        return f"edDegree = {self.ed_degree}"


def _short_number_text(number: float) -> str:
    """Return an approximation in few digits; a tiny one, which stands for zero, is ``0``."""
    return "0" if abs(number) < MIN_SHOWN_NUMBER else f"{number:.6g}"


def _point_json(result: EDDegree) -> dict[str, Any]:
    """Return the critical points for the data point, for JSON.

    The values are ``None`` without a data point, or where the real points were not found.
    """
    at_point = result.at_point
    real = None if at_point is None else at_point.real
    real_points = None
    if result.real_points is not None and result.distances is not None:
        pairs = zip(result.distances, result.real_points, strict=True)
        real_points = [{"coordinates": list(point), "value": value} for value, point in pairs]
    return {
        "point": None if at_point is None else list(map(str, at_point.coordinates)),
        "critical_points": result.critical_points,
        "critical_dimension": None if at_point is None else at_point.count.critical_dimension,
        "critical_primes": None if at_point is None else list(at_point.primes),
        "real_critical_points": result.real_critical_points,
        "real_points": real_points,
        "isolated_by": None if real is None else real.isolated_by,
        "proved_real_points": None if real is None else real.proved,
    }


def _facts(result: EDDegree) -> list[tuple[str, object]]:
    """Return names and values for the summary; values ``None`` are not shown."""
    count = len(result.variables)
    variety = f"dimension {result.dimension} in affine space of dimension {count}"
    variety += "; a cone" if result.cone else "; not known to be a cone"
    form = result.quadratic.text
    if result.quadratic.is_standard:
        form = "the standard one, the sum of the squares of the coordinates"
    ed_degree = str(result.ed_degree)
    if result.ed_degree == 0:
        ed_degree += ": for a general data point there is no critical point"
    generic = result.generic_ed_degree
    return [
        ("variety", variety),
        ("quadratic form", form),
        ("ED degree", ed_degree),
        ("generic ED degree", generic),
        ("projective closure", _closure_text(result)),
        ("known", f"{_method_text(result)}, {result.counted.known}"),
        ("primes", ", ".join(map(str, result.primes))),
        ("known, generic", None if generic is None else result.generic_known),
        *_point_facts(result),
        ("not finished", result.unfinished or None),
        ("computed by", computed_by(result.engine_version, result.seconds)),
    ]


def _closure_text(result: EDDegree) -> str | None:
    """Return in words the generic ED degree of the projective closure; ``None`` if not known.

    Where it is not the ED degree of the affine variety, the text says so.
    """
    of_closure = result.closure_generic_ed_degree
    if of_closure is None:
        return None
    text = f"generic ED degree {of_closure}"
    if of_closure != result.ed_degree:
        text += ": not that of the affine variety"
    return text


def _method_text(result: EDDegree) -> str:
    """Return in words how critical points were counted."""
    if result.method == "ideal":
        return "by counting critical points for a random data point"
    fibre = result.counted.count.fibre
    fibre_text = f"{fibre} point{'s' if fibre > 1 else ''} of a general fibre"
    return f"by counting critical points of the parametrization, over the {fibre_text}"


def _point_facts(result: EDDegree) -> list[tuple[str, object]]:
    """Return names and values of the critical points for the data point; none without a point."""
    at_point = result.at_point
    if at_point is None:
        return []
    number = str(at_point.count.points)  # None if the points are not isolated
    if at_point.count.points is None:
        number = f"not isolated: they have dimension {at_point.count.critical_dimension}"
    primes = ", ".join(map(str, at_point.primes))
    facts: list[tuple[str, object]] = [
        ("data point", f"u = ({', '.join(map(str, at_point.coordinates))})"),
        ("complex critical points", f"{number}; modulo the primes {primes}"),
    ]
    if at_point.real is not None:
        real = at_point.real
        facts.append(("real critical points", f"{real.number}, isolated by {real.isolated_by}"))
        if real.proved:
            proof_text = f"existence of {real.proved} near the given numbers, by Krawczyk's test"
            facts.append(("proved", proof_text))
    return facts


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
        ``parametrization``: critical parameters of a map without relations, divided by the number
        of points of a general fibre. ``auto`` is the latter where there is such a map.
    generic : bool
        Whether to count for a general quadratic form, too, and of the projective closure.
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
        If the ED degree is not found within the limits. What follows it is left out then.

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
    if isinstance(case, Ideal):
        model = None
        variety = _variety_of_ideal(case, method, printable(title))
    else:
        model = as_model(case)
        variety = _variety_of_model(model, method)
    if isinstance(variety, Variety):
        ring = variety.ideal.ring
        cone = variety.is_cone
    else:
        ring = variety.parametrization.target()
        cone = parametrizes_cone(variety.parametrization)
    form = read_quadratic(quadratic, ring)
    data = None if point is None else read_numbers(point, "point", len(ring.variables))
    counted = _check_count(variety.count(form))  # raises unless the number is finite
    result = EDDegree(
        title=variety.title,
        case=None if model is None else model.case,
        variables=ring.variables,
        dimension=counted.count.dimension,
        cone=cone,
        quadratic=form,
        method="ideal" if isinstance(variety, Variety) else "parametrization",
        counted=counted,
        engine_version=current().version,
        seconds=clock().seconds,
    )
    # each step adds to the result, or leaves it unfinished at a limit
    steps: list[Callable[[EDDegree], EDDegree]] = []
    if data is not None:
        steps.append(partial(_add_point, variety=variety, model=model, point=data))
    if generic:
        steps.append(partial(_add_generic, variety=variety, model=model))
        if not cone:
            steps.append(partial(_add_closure, case=case if model is None else model))
    for step in steps:
        result = _try_step(result, step)
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

    It is given by its parametrization, or by its ideal if the method is ``ideal``, or if it is
    ``auto`` and the parameters satisfy relations or the image is a point.

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
        texts = [text for text in (result.unfinished, str(reason)) if text]
        different_texts = dict.fromkeys(texts)  # in order
        return replace(result, unfinished="; ".join(different_texts))


def _add_point(
    result: EDDegree,
    variety: Variety | ParametrizedImage,
    model: Model | None,
    point: tuple[Fraction, ...],
) -> EDDegree:
    """Return the result with the critical points for a data point.

    They are those on the variety of an ideal; where ``variety`` is the image of a model, on its
    closure. Real points are added if the critical points are isolated. ``model`` is ``None`` if an
    ideal was given.
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
    # the points x of the pairs (q(x − u), x); none if they were not found
    approximations = [point.coordinates for point in real.points or ()]
    proved = count_proved_points(variety.ideal, form.matrix, data=data, points=approximations)
    return replace(result, at_point=replace(at_point, real=replace(real, proved=proved)))


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

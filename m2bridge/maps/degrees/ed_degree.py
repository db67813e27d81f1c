"""The ED degree of a variety: how many critical points a quadratic distance has on it.

Critical points are counted modulo random primes (:mod:`.distance`), for a random data point and, if
one is given, for this point; the real ones are found by :mod:`.real_points`. Definitions, and what
the numbers mean, are in docs/ed-degrees.md. The ED degree itself is found or is an error; each
further step adds to the result, or leaves it ``unfinished`` at a limit, with ``None`` for what is
not known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Literal, Unpack

from m2bridge.algebra.field import QQ
from m2bridge.algebra.intervals import digits_text, float_bounds, middle
from m2bridge.convert.printing import variety_text
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
from m2bridge.maps.degrees.distance import (
    AgreedCount,
    CriticalCount,
    ParametrizedImage,
    Variety,
    variety_of_closure,
)
from m2bridge.maps.degrees.polar_degrees import polar_degrees
from m2bridge.maps.degrees.quadratic_forms import DistanceForm, read_numbers, read_quadratic
from m2bridge.maps.degrees.real_points import RealCriticalPoints, find_real_points
from m2bridge.maps.model import Model
from m2bridge.maps.polynomial_map_model import Case, as_model
from m2bridge.results.base import Proof, Result, result_json
from m2bridge.results.sheet import (
    Block,
    Facts,
    Sheet,
    Table,
    computed_by,
    in_brackets,
    printable,
    with_article,
)

MAX_DIGITS = 15
"""The largest number of digits of a coordinate or value that are shown: floating-point numbers
have them."""

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
    case : an Ideal over QQ, a model, a PolynomialMap or a mapping ``{"x": expression}``
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
        A Macaulay2 to use; without one, the Macaulay2 of the ``with`` block around it, else one
        that the process shares.
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
    check_flag("generic", generic)
    check_kind("title", title, str, "a text")
    variety: Variety | ParametrizedImage
    if isinstance(case, Ideal):
        if method == "parametrization":
            raise InvalidCaseError("method", "'parametrization' is not for ideals: use ideal")
        if case.ring.field != QQ:
            raise InvalidCaseError("field", f"must be QQ for ED degrees, not {case.ring.field}")
        model = None
        variety = Variety(case, printable(title) or variety_text(case))
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
    if data is not None:
        result = _try_step(result, partial(_add_point, variety=variety, model=model, point=data))
    if generic:
        result = _try_step(result, partial(_add_generic, variety=variety, model=model))
    # the generic number of a cone is that of its projective variety already
    if generic and not result.cone:
        result = _try_step(result, partial(_add_closure, variety=variety, model=model))
    return replace(result, seconds=clock().seconds)


def _variety_of_model(model: Model, method: EDMethod) -> Variety | ParametrizedImage:
    """Return the closure of a model, by its parametrization or, where the method or the map needs
    that, by its ideal.
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
    return variety_of_closure(model)


def _check_count(counted: AgreedCount) -> AgreedCount:
    """Return a count for a random data point, after checking that it is finite."""
    if counted.count.dimension < 0:
        raise InvalidCaseError("ideal", "the variety is empty")
    if counted.count.points is None:
        raise MethodUnavailableError(
            "critical points for a random data point are not isolated modulo random primes"
        )
    return counted


def _try_step(result: EDDegree, step: Callable[[EDDegree], EDDegree]) -> EDDegree:
    """Return the result with what a further step adds, or with the reason why it adds nothing."""
    try:
        return step(result)
    except (TimeLimitError, MemoryLimitError, MethodUnavailableError, TooLargeError) as reason:
        return _unfinished(result, str(reason))


def _unfinished(result: EDDegree, reason: str) -> EDDegree:
    """Return the result with a further reason why it is unfinished, unless it has it already."""
    texts = dict.fromkeys(text for text in (result.unfinished, reason) if text)  # in order
    return replace(result, unfinished="; ".join(texts))


def _add_point(
    result: EDDegree,
    variety: Variety | ParametrizedImage,
    model: Model | None,
    point: tuple[Fraction, ...],
) -> EDDegree:
    """Return the result with the critical points for a data point on the variety of an ideal, that
    of the closure where ``variety`` is the image of a model.
    """
    if not isinstance(variety, Variety):
        assert model is not None
        variety = variety_of_closure(model)
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
    """Return the result with the real critical points for its data point; the complex ones are
    isolated.
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
    """Return the result with the ED degree for a general quadratic form: for a cone the sum of its
    polar degrees, which a theorem of the family may give; else it is counted for a random form.
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


def _add_closure(
    result: EDDegree, variety: Variety | ParametrizedImage, model: Model | None
) -> EDDegree:
    """Return the result with the generic ED degree of the closure in projective space: by polar
    degrees where a theorem of the family or the parametrization gives them, else counted for a
    random form on the cone over it.
    """
    if model is not None and (
        isinstance(variety, ParametrizedImage) or model.polar_theorem() is not None
    ):
        polar = polar_degrees(model)
        if polar.unfinished:
            raise TimeLimitError(polar.unfinished)
        number, known = polar.generic_ed_degree, f"the sum of polar degrees: {polar.theorem.known}"
    else:
        assert isinstance(variety, Variety)
        counted = _check_count(variety.count_closure())
        number = counted.count.points
        known = f"by a random quadratic form on the cone over it, {counted.known}"
    return replace(result, closure_generic_ed_degree=number, closure_generic_known=known)


@dataclass(frozen=True, slots=True)
class DataPoint:
    """The critical points for one data point, at regular points of the variety."""

    coordinates: tuple[Fraction, ...]  # u
    count: CriticalCount
    primes: tuple[int, ...]
    real: RealCriticalPoints | None  # None if they are not isolated, or not found in time


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
        Where critical points were counted.
    counted : AgreedCount
        The ED degree, and the primes modulo which it was counted.
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
    closure_generic_known : str
        How ``closure_generic_ed_degree`` is known, in words.
    at_point : DataPoint or None
        The critical points for a data point; ``None`` if none is given.
    engine_version : str
    seconds : float
    unfinished : str
        Empty, or the limits and reasons why some of the values above are missing.

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
    closure_generic_known: str = ""
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

        ``None`` if there is no data point, or real points were not counted.
        """
        real = self._real
        return None if real is None else real.number

    @property
    def _real(self) -> RealCriticalPoints | None:
        """The real critical points for the data point."""
        return None if self.at_point is None else self.at_point.real

    @property
    def real_points(self) -> tuple[tuple[float, ...], ...] | None:
        """The middles of boxes around the real critical points x, by increasing q(x − u).

        ``None`` if there is no data point, or they were not found.
        """
        if self._real is None or self._real.points is None:
            return None
        return tuple(point.coordinates for point in self._real.points)

    @property
    def distances(self) -> tuple[float, ...] | None:
        """The middles of intervals for q(x − u), for each x of :attr:`real_points`, in their order.

        ``None`` if :attr:`real_points` is ``None``.
        """
        if self._real is None or self._real.points is None:
            return None
        return tuple(point.distance for point in self._real.points)

    def proof(self) -> Proof:
        """Return that the number is not proved: it is counted modulo primes."""
        return Proof(False, f"critical points are counted {self.counted.known}")

    def __repr__(self) -> str:
        return in_brackets(self, "title", "ed_degree", "generic_ed_degree", "real_critical_points")

    def to_sheet(self) -> Sheet:
        """Return the numbers, how they are known, and a table of the real critical points."""
        blocks: list[Block] = [Facts(_facts(self))]
        if self.at_point is not None and self._real is not None and self._real.points:
            blocks.append(_table_of_points(self.variables, self.at_point, self._real))
        formulas = [rf"\operatorname{{EDdegree}} = {self.ed_degree}"]
        return Sheet(f"ED degree of {with_article(self.title)}", blocks, formulas)

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
            "closure_generic_known": self.closure_generic_known or None,
            **_point_json(self.at_point),
            "unfinished": self.unfinished or None,
            **self.proof()._asdict(),
        }

    def to_macaulay2(self) -> str:
        """Return the ED degree as a Macaulay2 assignment."""
        return f"edDegree = {self.ed_degree}"


def _table_of_points(
    variables: Sequence[str], at_point: DataPoint, real: RealCriticalPoints
) -> Table:
    """Return a table of the real critical points, with the digits that their intervals prove."""
    rows = []
    largest_zero = Fraction(0)
    for point in real.points or ():
        scale = max(map(abs, [*at_point.coordinates, *map(middle, point.box)]))
        cells = [digits_text(point.value, MAX_DIGITS)]
        for low, high in point.box:
            radius = max(abs(low), abs(high))
            # a small interval that contains zero is shown as 0
            if low <= 0 <= high and radius <= Fraction(1, 10**12) * scale:
                cells.append("0")
                largest_zero = max(largest_zero, radius)
            else:
                cells.append(digits_text((low, high), MAX_DIGITS))
        rows.append(cells)
    caption = "Real critical points x"
    if largest_zero > 0:
        bound = digits_text((largest_zero, largest_zero), 2)
        caption += f" (0: its absolute value is below {bound})"
    return Table(("q(x − u)", *variables), rows, caption)


def _point_json(at_point: DataPoint | None) -> dict[str, Any]:
    """Return the critical points for the data point, for JSON; each field is ``None`` where it is
    not known, and ``real_points`` also where they were counted and not approximated.
    """
    real = None if at_point is None else at_point.real
    points = None
    # there may be a number of real points without approximations
    if real is not None and real.points is not None:
        points = [
            {
                "coordinates": list(point.coordinates),
                "value": point.distance,
                "box": list(map(float_bounds, point.box)),
                "value_bounds": float_bounds(point.value),
                "proved": point.proved,
            }
            for point in real.points
        ]
    return {
        "point": at_point and list(map(str, at_point.coordinates)),
        "critical_points": at_point and at_point.count.points,
        "critical_dimension": at_point and at_point.count.critical_dimension,
        "critical_primes": at_point and list(at_point.primes),
        "real_critical_points": real and real.number,
        "real_points": points,
        "isolated_by": real and real.isolated_by,
        "proved_real_points": real and real.proved,
    }


def _facts(result: EDDegree) -> list[tuple[str, object]]:
    """Return names and values for the summary; values ``None`` are not shown."""
    variety = f"dimension {result.dimension} in affine space of dimension {len(result.variables)}"
    variety += "; a cone" if result.cone else "; not homogeneous as given"
    form = result.quadratic.text
    if result.quadratic.is_standard:
        form = "the standard one, the sum of the squares of the coordinates"
    ed_degree = str(result.ed_degree)
    if result.ed_degree == 0:
        ed_degree = "0: for a general data point there is no critical point"
    closure = None
    if result.closure_generic_ed_degree is not None:
        closure = f"generic ED degree {result.closure_generic_ed_degree}"
        if result.closure_generic_ed_degree != result.ed_degree:
            closure += ": not that of the affine variety"
    method = "by counting critical points for a random data point"
    if result.method != "ideal":
        fibre = result.counted.count.fibre
        method = (
            "by counting critical points of the parametrization, over the"
            f" {fibre} point{'s' if fibre > 1 else ''} of a general fibre"
        )
    generic = result.generic_ed_degree
    return [
        ("variety", variety),
        ("quadratic form", form),
        ("ED degree", ed_degree),
        ("generic ED degree", generic),
        ("projective closure", closure),
        ("known", f"{method}, {result.counted.known}"),
        ("primes", ", ".join(map(str, result.primes))),
        ("known, generic", None if generic is None else result.generic_known),
        ("known, closure", result.closure_generic_known or None),
        *_point_facts(result.at_point),
        ("not finished", result.unfinished or None),
        ("computed by", computed_by(result.engine_version, result.seconds)),
    ]


def _point_facts(at_point: DataPoint | None) -> list[tuple[str, object]]:
    """Return names and values of the critical points for a data point; none for ``None``."""
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
    real = at_point.real
    if real is not None:
        facts.append(("real critical points", f"{real.number}, isolated by {real.isolated_by}"))
        if real.proved:
            proof = f"existence of {real.proved}, in boxes whose middles are listed, by Krawczyk's"
            facts.append(("proved", f"{proof} test"))
    return facts

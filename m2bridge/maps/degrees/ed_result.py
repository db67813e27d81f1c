"""The result of a computation of an ED degree: its numbers, and how it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from m2bridge.algebra.intervals import CoordinateSide, digits_text, float_bounds, middle
from m2bridge.maps.degrees.distance import AgreedCount, CriticalCount
from m2bridge.maps.degrees.quadratic_forms import DistanceForm
from m2bridge.maps.degrees.real_points import PointAtDistance, RealCriticalPoints
from m2bridge.results.base import Result, result_json
from m2bridge.results.sheet import Block, Facts, Sheet, Table, computed_by

MAX_DIGITS = 15
"""The largest number of digits of a coordinate or value that are shown: floating-point numbers
have them."""
MAX_RADIUS_OF_ZERO = Fraction(1, 10**12)
"""An interval that contains zero is shown as 0 if its ends, divided by the largest absolute value
of a coordinate of the point or of the data, are at most this number."""


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
        if self.at_point is None or self.at_point.real is None:
            return None
        return self.at_point.real.number

    @property
    def real_points(self) -> tuple[tuple[float, ...], ...] | None:
        """The middles of boxes around the real critical points x, by increasing q(x − u).

        ``None`` if there is no data point, or they were not found.
        """
        if self.at_point is None or self.at_point.real is None:
            return None
        points = self.at_point.real.points
        return None if points is None else tuple(point.coordinates for point in points)

    @property
    def distances(self) -> tuple[float, ...] | None:
        """The middles of intervals for q(x − u), for each x of :attr:`real_points`, in their order.

        ``None`` if :attr:`real_points` is ``None``.
        """
        if self.at_point is None or self.at_point.real is None:
            return None
        points = self.at_point.real.points
        return None if points is None else tuple(point.distance for point in points)

    def to_sheet(self) -> Sheet:
        """Return the numbers, how they are known, and a table of the real critical points."""
        blocks: list[Block] = [Facts(_facts(self))]
        if self.at_point is not None and self.at_point.real is not None:
            blocks += _table_of_points(self.variables, self.at_point, self.at_point.real)
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
            **_point_json(self.at_point),
            "unfinished": self.unfinished or None,
        }

    def to_macaulay2(self) -> str:
        """Return the ED degree as a Macaulay2 assignment."""
        return f"edDegree = {self.ed_degree}"


def _table_of_points(
    variables: Sequence[str], at_point: DataPoint, real: RealCriticalPoints
) -> list[Block]:
    """Return a table of the real critical points; nothing if there are none to be shown.

    Each number has the digits that its interval proves.
    """
    if not real.points:
        return []
    rows = []
    largest_zero = Fraction(0)
    for point in real.points:
        scale = _largest_coordinate(at_point, point)
        cells = [digits_text(point.value, MAX_DIGITS)]
        for side in point.box:
            radius = max(abs(side[0]), abs(side[1]))
            if _contains_zero(side) and radius <= MAX_RADIUS_OF_ZERO * scale:
                cells.append("0")
                largest_zero = max(largest_zero, radius)
            else:
                cells.append(digits_text(side, MAX_DIGITS))
        rows.append(cells)
    caption = "Real critical points x"
    if largest_zero > 0:
        bound = digits_text((largest_zero, largest_zero), 2)
        caption += f" (0: its absolute value is below {bound})"
    return [Table(("q(x − u)", *variables), rows, caption)]


def _contains_zero(side: CoordinateSide) -> bool:
    """Whether an interval contains zero."""
    low, high = side
    return low <= 0 <= high


def _largest_coordinate(at_point: DataPoint, point: PointAtDistance) -> Fraction:
    """Return the largest absolute value of a coordinate of the data, or of a point in a box."""
    numbers = [*at_point.coordinates, *map(middle, point.box)]
    return max(map(abs, numbers))


_FIELDS_OF_DATA_POINT = (
    "point",
    "critical_points",
    "critical_dimension",
    "critical_primes",
    "real_critical_points",
    "real_points",
    "isolated_by",
    "proved_real_points",
)


def _point_json(at_point: DataPoint | None) -> dict[str, Any]:
    """Return the critical points for the data point, for JSON.

    All of ``_FIELDS_OF_DATA_POINT`` are there in each case. Without a data point all values are
    ``None``. With one, ``critical_points`` is ``None`` where the complex points are not isolated;
    the last four are ``None`` where real points were not counted, and ``real_points`` also where
    they were counted and not approximated.
    """
    fields: dict[str, Any] = dict.fromkeys(_FIELDS_OF_DATA_POINT)
    if at_point is None:
        return fields
    fields["point"] = list(map(str, at_point.coordinates))
    fields["critical_points"] = at_point.count.points
    fields["critical_dimension"] = at_point.count.critical_dimension
    fields["critical_primes"] = list(at_point.primes)
    real = at_point.real
    if real is None:
        return fields
    fields["real_critical_points"] = real.number
    fields["isolated_by"] = real.isolated_by
    fields["proved_real_points"] = real.proved
    # there may be a number of real points without approximations
    if real.points is not None:
        fields["real_points"] = [
            {
                "coordinates": list(point.coordinates),
                "value": point.distance,
                "box": list(map(float_bounds, point.box)),
                "value_bounds": float_bounds(point.value),
                "proved": point.proved,
            }
            for point in real.points
        ]
    return fields


def _facts(result: EDDegree) -> list[tuple[str, object]]:
    """Return names and values for the summary; values ``None`` are not shown."""
    generic = result.generic_ed_degree
    return [
        ("variety", _variety_text(result)),
        ("quadratic form", _form_text(result.quadratic)),
        ("ED degree", _degree_text(result.ed_degree)),
        ("generic ED degree", generic),
        ("projective closure", _closure_text(result)),
        ("known", f"{_method_text(result)}, {result.counted.known}"),
        ("primes", ", ".join(map(str, result.primes))),
        ("known, generic", None if generic is None else result.generic_known),
        *_point_facts(result.at_point),
        ("not finished", result.unfinished or None),
        ("computed by", computed_by(result.engine_version, result.seconds)),
    ]


def _variety_text(result: EDDegree) -> str:
    """Return the dimensions of the variety and of its space in words, and whether it is a cone."""
    count = len(result.variables)
    text = f"dimension {result.dimension} in affine space of dimension {count}"
    return text + ("; a cone" if result.cone else "; not known to be a cone")


def _form_text(form: DistanceForm) -> str:
    """Return the quadratic form as a polynomial, or in words if it is the standard one."""
    if form.is_standard:
        return "the standard one, the sum of the squares of the coordinates"
    return form.text


def _degree_text(ed_degree: int) -> str:
    """Return the ED degree, for 0 with the words that say what it means."""
    if ed_degree == 0:
        return "0: for a general data point there is no critical point"
    return str(ed_degree)


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


def _point_facts(at_point: DataPoint | None) -> list[tuple[str, object]]:
    """Return names and values of the critical points for a data point; none for ``None``."""
    if at_point is None:
        return []
    number = str(at_point.count.points)  # None if the points are not isolated
    if at_point.count.points is None:
        number = f"not isolated: they have dimension {at_point.count.critical_dimension}"
    primes = ", ".join(map(str, at_point.primes))
    return [
        ("data point", f"u = ({', '.join(map(str, at_point.coordinates))})"),
        ("complex critical points", f"{number}; modulo the primes {primes}"),
        *_real_facts(at_point.real),
    ]


def _real_facts(real: RealCriticalPoints | None) -> list[tuple[str, object]]:
    """Return names and values of the real critical points; none if they were not found."""
    if real is None:
        return []
    facts: list[tuple[str, object]] = [
        ("real critical points", f"{real.number}, isolated by {real.isolated_by}")
    ]
    if real.proved:
        proof_text = (
            f"existence of {real.proved}, in boxes whose middles are listed, by Krawczyk's test"
        )
        facts.append(("proved", proof_text))
    return facts

"""The real critical points of a quadratic distance q(x − u) on a variety, for one data point u.

They are isolated in boxes by msolve, or, where there is no msolve, from exact matrices of
Macaulay2's RealRoots; docs/ed-degrees.md says how. A box has an interval for each coordinate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

import flint

from m2bridge.algebra.intervals import CoordinateSide, ends, interval_of_ends, middle
from m2bridge.algebra.numbers import flint_rational, integer_coefficients
from m2bridge.algebra.real_points import real_points
from m2bridge.convert.answers import Answer, answer_to
from m2bridge.engine import current, msolve
from m2bridge.errors import MethodUnavailableError, ParseError
from m2bridge.maps.degrees.certified import CoordinateBox, proved_boxes
from m2bridge.maps.degrees.counting_primes import primes_for, with_given_prime
from m2bridge.maps.degrees.distance import (
    Variety,
    critical_set_of,
    ideal_script,
    numbers_not_divisible,
)
from m2bridge.maps.degrees.quadratic_forms import DistanceForm
from m2bridge.results.sheet import quoted

MAX_TRACE_FORM_POINTS = 30
"""The largest number of complex points whose trace form is computed, without msolve."""
MAX_REAL_ATTEMPTS = 12
"""The largest number of random systems that are tried until one leaves no critical point out: with
numbers from 1 to 9 a determinant is zero at a critical point now and then."""


@dataclass(frozen=True, slots=True)
class PointAtDistance:
    """A real critical point x in a box, and the value q(x − u) for the data point u, by the ends of
    intervals and by their middles.
    """

    distance: float
    coordinates: tuple[float, ...]
    value: CoordinateSide
    box: tuple[CoordinateSide, ...]
    proved: bool  # whether Krawczyk's test proves that there is a critical point in the box


@dataclass(frozen=True, slots=True)
class RealCriticalPoints:
    """The real critical points for one data point, without multiplicity."""

    number: int
    # by increasing q(x − u); None if a number is too large for floating-point numbers
    points: tuple[PointAtDistance, ...] | None
    isolated_by: str  # the program
    proved: int = 0  # the number of points that are proved to exist in their boxes


def find_real_points(
    variety: Variety, form: DistanceForm, point: Sequence[Fraction], *, complex_points: int
) -> RealCriticalPoints:
    """Find the real critical points for the data point u, by msolve or by Macaulay2's RealRoots.

    Either isolates each in a box. Where Krawczyk's test proves that there is a critical point in a
    smaller box, by :mod:`.certified`, that is the box of the point.

    On a prime component P of codimension c, with the Jacobian matrix J of its generators, they are
    the x in the solutions (x, λ, s) of P = 0, (x − u)ᵀ M = λ A J, s · det(A J B) · f = 1, where A
    has c rows (A = 1 if J has c), B has c columns, and f is in the ideals of the other components.
    With random A, B and f, this *random system* has all critical points but those where det(A J B)
    or f is zero. For a hypersurface P that does not contain u, f alone is inverted: where J = 0, a
    solution would be x = u. Its real solutions are isolated over QQ; a prime serves only to check
    that no point is left out: modulo it there have to be ``complex_points`` solutions, with
    multiplicity.
    MethodUnavailableError if all random systems leave some out, or there are too many for
    RealRoots.
    """
    # `solver` is msolve, or None where RealRoots isolates points; `isolated_by` is the name
    solver, isolated_by = msolve.for_engine(current())
    # without complex points there is nothing to isolate
    if complex_points == 0:
        return RealCriticalPoints(number=0, points=(), isolated_by=isolated_by)
    if solver is None and complex_points > MAX_TRACE_FORM_POINTS:
        raise MethodUnavailableError(
            f"{complex_points} complex critical points are too many for Macaulay2's RealRoots (at"
            f" most {MAX_TRACE_FORM_POINTS}): install msolve ({msolve.INSTALL})"
        )
    # where Macaulay2 looks for msolve; an empty text is false in a template
    folder = "" if solver is None else quoted(f"{solver.program.parent}/")
    script = ideal_script(
        variety,
        "ed_degree_real",
        form,
        point,
        msolve="" if solver is None else "true",
        program=folder,
    )
    primes = primes_for(
        map(integer_coefficients, variety.ideal.generators), numbers_not_divisible(form, point)
    )
    # each run of the program draws a random system, and counts its solutions modulo the prime
    for prime in islice(primes, MAX_REAL_ATTEMPTS):
        answer = answer_to(with_given_prime(script, prime))
        if critical_set_of(answer).points != complex_points:
            continue  # some points are left out: the next run draws another system
        if solver is None:
            boxes = _boxes_by_trace_forms(answer)
        else:
            boxes = _boxes_by_msolve(answer, size=len(point))
        smaller_boxes = proved_boxes(variety.ideal, form.matrix, data=point, boxes=boxes)
        points = []
        for box, smaller_box in zip(boxes, smaller_boxes, strict=True):
            is_proved = smaller_box is not None
            points.append(_point_in(smaller_box or box, form, point, proved=is_proved))
        number_proved = sum(box is not None for box in smaller_boxes)
        return RealCriticalPoints(
            number=len(boxes),
            points=_by_increasing_value(points),
            isolated_by=isolated_by,
            proved=number_proved,
        )
    raise MethodUnavailableError(
        f"each of {MAX_REAL_ATTEMPTS} random systems leaves critical points out"
    )


def _point_in(
    box: CoordinateBox, form: DistanceForm, data: Sequence[Fraction], *, proved: bool
) -> PointAtDistance | None:
    """Return the point in a box, with q(x − u); ``None`` if a number is too large for
    floating-point numbers.
    """
    # a precision in which the sides of the box and the data are all but exact
    bits = 0
    for number in (*data, *(end for side in box for end in side)):
        bits = max(bits, number.numerator.bit_length() + number.denominator.bit_length())
    with flint.ctx.workprec(2 * bits + 64):
        differences = []
        for side, u in zip(box, data, strict=True):
            differences.append(interval_of_ends(*side) - flint.arb(flint_rational(u)))
        value = flint.arb(0)
        for row, x in zip(form.matrix, differences, strict=True):
            for entry, y in zip(row, differences, strict=True):
                value += x * y * flint.arb(flint_rational(entry))
    value_ends = ends(value)
    try:
        distance = float(middle(value_ends))
        coordinates = tuple(float(middle(side)) for side in box)
    except OverflowError:
        return None
    return PointAtDistance(
        distance=distance, coordinates=coordinates, value=value_ends, box=tuple(box), proved=proved
    )


def _by_increasing_value(
    points: Sequence[PointAtDistance | None],
) -> tuple[PointAtDistance, ...] | None:
    """Return the points sorted by the middle of the interval for q(x − u); ``None`` if one is."""
    known = [point for point in points if point is not None]
    if len(known) < len(points):
        return None
    return tuple(sorted(known, key=lambda point: (middle(point.value), point.coordinates)))


def _boxes_by_msolve(answer: Answer, size: int) -> list[CoordinateBox]:
    """Return the isolating boxes that msolve found; sides after the first ``size`` belong to
    multipliers, and are left out.
    """
    boxes: list[CoordinateBox] = []
    for boxes_of_component in answer.lists("boxes"):
        for box in boxes_of_component:
            sides = box[:size]
            if len(sides) != size or not all(isinstance(side, list) for side in sides):
                raise ParseError("the field 'boxes' is not a list of boxes")
            boxes.append([(Fraction(low), Fraction(high)) for low, high in sides])
    return boxes


def _boxes_by_trace_forms(answer: Answer) -> list[CoordinateBox]:
    """Return a box around each real point, from the trace form and the matrices of multiplication
    by the coordinates that the answer has for each component of the set of critical points.
    """
    boxes: list[CoordinateBox] = []
    forms = answer.lists("trace_forms")
    for form, matrices in zip(forms, answer.lists("multiplication"), strict=True):
        boxes += [list(map(ends, point)) for point in real_points(form, matrices)]
    return boxes

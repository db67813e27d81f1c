"""The real critical points of a quadratic distance q(x − u) on a variety, for one data point u.

They are isolated by msolve, or by Macaulay2's RealRoots where there is no msolve, and approximated;
docs/ed-degrees.md says how.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from random import Random
from typing import Any, NamedTuple

import numpy

from m2bridge.algebra.linear_algebra import signature
from m2bridge.algebra.numbers import flint_rational, integer_coefficients
from m2bridge.convert.answers import Answer, answer_to
from m2bridge.engine import current, msolve
from m2bridge.engine.script import Script
from m2bridge.errors import MethodUnavailableError, ParseError
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
numbers from 1 to 9, one of nine does for x y = 1 and the origin, where two of them are equal."""
MAX_IMAGINARY_PART = 1e-6
"""The imaginary part, relative to 1 + the absolute value, up to which an approximation may be that
of a real point.
"""


class PointAtDistance(NamedTuple):
    """Approximations of a real critical point x, and of the value q(x − u) for the data point u.

    Parameters
    ----------
    distance : float
        q(x − u).
    coordinates : tuple of float
        Those of x.
    """

    distance: float
    coordinates: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RealCriticalPoints:
    """The real critical points for one data point.

    Parameters
    ----------
    number : int
        The number of real critical points, without multiplicity.
    points : tuple of PointAtDistance, or None
        All real critical points, by increasing q(x − u); ``None`` if some have no approximation.
    isolated_by : str
        The program that isolated the points.
    proved : int
        The number of points whose existence near the approximation is proved by Krawczyk's test.
    """

    number: int
    points: tuple[PointAtDistance, ...] | None
    isolated_by: str
    proved: int = 0


def find_real_points(
    variety: Variety, form: DistanceForm, point: Sequence[Fraction], *, complex_points: int
) -> RealCriticalPoints:
    """Find the real critical points for a data point, by msolve or by Macaulay2's RealRoots.

    On a prime component P of codimension c, with the Jacobian matrix J of its generators, they are
    the x in the solutions (x, λ, s) of P = 0, (x − u)ᵀ M = λ A J, s · det(A J B) · f = 1, where A
    has c rows (A = 1 if J has c), B has c columns, and f is in the ideals of the other components.
    With random A, B and f, this *random system* has all critical points but those where det(A J B)
    or f is zero. Its real solutions are isolated over QQ; a prime serves only to check that no
    point is left out: modulo it there have to be ``complex_points`` solutions.

    Parameters
    ----------
    variety : Variety
    form : DistanceForm
        Its matrix is M.
    point : sequence of Fraction
        The data point u.
    complex_points : int
        The number of complex critical points, with multiplicity.

    Raises
    ------
    MethodUnavailableError
        If there are too many complex points for RealRoots, or all random systems leave some out.
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
    script = _real_points_script(variety, form, point, solver)
    primes = primes_for(
        map(integer_coefficients, variety.ideal.generators), numbers_not_divisible(form, point)
    )
    # each run of the program draws a random system, and counts its solutions modulo the prime
    for prime in islice(primes, MAX_REAL_ATTEMPTS):
        answer = answer_to(with_given_prime(script, prime))
        if critical_set_of(answer).points != complex_points:
            continue  # some points are left out: the next run draws another system
        if solver is None:
            found = _found_by_trace_forms(answer)
        else:
            found = _found_by_boxes(answer, size=len(point))
        return RealCriticalPoints(
            number=found.number, points=_with_distances(found, form, point), isolated_by=isolated_by
        )
    raise MethodUnavailableError(
        f"each of {MAX_REAL_ATTEMPTS} random systems leaves critical points out"
    )


def _real_points_script(
    variety: Variety, form: DistanceForm, point: Sequence[Fraction], solver: msolve.Msolve | None
) -> Script:
    """Return the Macaulay2 program that isolates the real critical points for a data point.

    It calls the msolve that is given as ``solver``, or RealRoots if ``solver`` is ``None``.
    """
    if solver is None:
        # an empty text is false in a template
        return ideal_script(variety, "ed_degree_real", form, point, msolve="", program="")
    # the folder of msolve, where Macaulay2 looks for it
    folder = quoted(f"{solver.program.parent}/")
    return ideal_script(variety, "ed_degree_real", form, point, msolve="true", program=folder)


class FoundPoints(NamedTuple):
    """The real critical points that a program found.

    Parameters
    ----------
    number : int
        The number of points, without multiplicity.
    approximations : list of points
        An approximation of each point, by its coordinates; fewer than ``number`` if some were not
        found.
    """

    number: int
    approximations: list[list[Fraction]]


def _with_distances(
    found: FoundPoints, form: DistanceForm, data: Sequence[Fraction]
) -> tuple[PointAtDistance, ...] | None:
    """Return each point x with q(x − u), in floating-point numbers, by increasing q(x − u).

    ``None`` if not all real points have approximations, or a value is too large for floating-point
    numbers. ``form`` is q, and ``data`` is the data point u.
    """
    if len(found.approximations) != found.number:
        return None
    points = []
    for point in found.approximations:
        value = form.value_at([x - u for x, u in zip(point, data, strict=True)])
        try:
            points.append(PointAtDistance(float(value), tuple(map(float, point))))
        except OverflowError:
            return None
    return tuple(sorted(points))


def _found_by_boxes(answer: Answer, size: int) -> FoundPoints:
    """Return the middles of the isolating boxes that msolve found, one for each real point.

    The first ``size`` sides of a box, each with its two ends, are those of the coordinates; further
    sides are those of multipliers, and left out.

    Raises
    ------
    ParseError
        If the answer has no boxes of this form.
    """
    points = []
    for boxes in answer.lists("boxes"):
        for box in boxes:
            sides = box[:size]
            if len(sides) != size or not all(isinstance(side, list) for side in sides):
                raise ParseError("the field 'boxes' is not a list of boxes")
            points.append([(Fraction(low) + Fraction(high)) / 2 for low, high in sides])
    return FoundPoints(number=len(points), approximations=points)


def _found_by_trace_forms(answer: Answer) -> FoundPoints:
    """Return the real points: their number by signatures, and approximations by eigenvalues.

    The answer has, for each component of the set of critical points, its trace form, whose
    signature is the number of its real points, and the matrices of multiplication by the
    coordinates. The approximations of a component are left out if they are not as many as its real
    points; so there may be fewer approximations than points.
    """
    number = 0
    points: list[list[Fraction]] = []
    forms = answer.lists("trace_forms")
    for form, matrices in zip(forms, answer.lists("multiplication"), strict=True):
        rational_form = [[flint_rational(Fraction(x)) for x in row] for row in form]
        real_points_of_component = signature(rational_form)
        number += real_points_of_component
        approximations = _points_by_eigenvalues(matrices)
        # else some approximations belong to points that are not real, or real ones are missing
        if len(approximations) == real_points_of_component:
            points += approximations
    return FoundPoints(number=number, approximations=points)


def _points_by_eigenvalues(matrices: Sequence[Sequence[Sequence[Any]]]) -> list[list[Fraction]]:
    """Return approximations of those points of a finite scheme that may be real.

    The scheme is given by the matrices of multiplication by the coordinates, one for each, on its
    ring of functions. If the points are simple, all matrices are diagonal in a basis of
    eigenvectors of a general combination of them, and the diagonal entries at one place are the
    coordinates of a point. The list is empty where numbers are too large for floating-point
    arithmetic.
    """
    random = Random(1)  # a fixed seed, so that results can be repeated
    try:
        arrays = list(map(_floating_matrix, matrices))
        combination: Any = sum(random.random() * array for array in arrays)
        _eigenvalues, vectors = numpy.linalg.eig(combination)  # the columns are eigenvectors
        # the pseudoinverse exists also where points are multiple and eigenvectors are no basis
        inverse = numpy.linalg.pinv(vectors)
    except (OverflowError, numpy.linalg.LinAlgError):
        return []
    # a list for each coordinate, with its value at each point
    diagonals = [numpy.diagonal(inverse @ array @ vectors) for array in arrays]
    points = zip(*diagonals, strict=True)
    return [[Fraction(float(x.real)) for x in point] for point in points if _may_be_real(point)]


def _floating_matrix(rows: Sequence[Sequence[Any]]) -> Any:
    """Return a matrix of exact numbers of an answer as an array of floating-point numbers.

    Raises
    ------
    OverflowError
        If a number is too large for them.
    """
    return numpy.array([[float(Fraction(number)) for number in row] for row in rows])


def _may_be_real(point: Sequence[Any]) -> bool:
    """Whether the imaginary parts of all coordinates are as small as errors of approximations.

    ``False`` if a coordinate is not a number (NaN), for which the comparison does not hold.
    """
    return all(abs(x.imag) <= MAX_IMAGINARY_PART * (1 + abs(x)) for x in point)

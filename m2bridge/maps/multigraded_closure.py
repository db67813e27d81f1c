"""Generators of the ideal of an image by multigraded implicitization."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb

from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.clock import share
from m2bridge.errors import EngineTimeoutError
from m2bridge.implicitization.implicitize import implicitize
from m2bridge.implicitization.linear_part import linear_part
from m2bridge.implicitization.multigraded_map import MultigradedMap, multigraded
from m2bridge.implicitization.result import Implicitization
from m2bridge.maps.subject import Subject

LARGEST_DEGREE = 4
MOST_MONOMIALS = 100_000


@dataclass(frozen=True, slots=True)
class Equations:
    """Minimal generators up to some degree, and what is known about generators of higher degree.

    Parameters
    ----------
    found : Implicitization
    series : HilbertSeries or None
        Set exactly when it is proved that these are all generators.
    engine_version : str
        Of the Macaulay2 that took part in the proof; empty if none was asked.
    remark : str
        How completeness was proved, or that it was not.
    unfinished : str
        Empty, or the limit that was reached.
    """

    found: Implicitization
    series: HilbertSeries | None = None
    engine_version: str = ""
    remark: str = ""
    unfinished: str = ""


def graded_source(subject: Subject) -> MultigradedMap:
    """The free parametrization of a subject with its finest grading, and the symmetries that the model knows.

    Raises
    ------
    MethodUnavailableError
        If the parameters satisfy relations or the map has no positive grading.
    """
    free, grading = subject.free_parametrization, subject.model.grading()
    renamings = [symmetry.renaming(free.source.variables) for symmetry in subject.model.symmetries()]
    return multigraded(free, renamings, None if grading is None else grading.coordinates)


def default_max_degree(coordinates: int, monomials: int = MOST_MONOMIALS) -> int:
    """The largest N ≤ 4 for which there are at most this many monomials of degree N; at least 1."""
    fitting = (n for n in range(LARGEST_DEGREE, 1, -1) if comb(coordinates + n - 1, n) <= monomials)
    return next(fitting, 1)


def equations(source: MultigradedMap, max_degree: int | None, part: float = 1.0) -> Equations:
    """All minimal generators of degree ≤ max_degree, or of the degrees that a part of the time left suffices for.

    Where a degree was not reached, ``unfinished`` says so.

    Raises
    ------
    EngineTimeoutError
        If the limit was reached before the first degree was begun.
    """
    degree = default_max_degree(len(linear_part(source).independent)) if max_degree is None else max_degree
    with share(part) as clock:
        found = implicitize(source, degree)
    late = str(clock.late(f"degree {found.max_degree + 1}")) if found.stopped_early else ""
    return Equations(found, remark=scope(found), unfinished=late)


def up_to(degree: int, known: Equations) -> Equations:
    """The generators up to a higher degree, or to the last one that is completed in time; no fewer than are known."""
    if degree <= known.found.max_degree:
        return known
    try:
        found = implicitize(known.found.source, degree)
    except EngineTimeoutError:
        return known
    if found.max_degree <= known.found.max_degree:
        return known
    return replace(known, found=found, remark=scope(found))


def scope(found: Implicitization) -> str:
    """What is claimed of generators up to a degree, in words."""
    degrees = found.source.grading.degrees
    weights = (
        "" if found.source.grading.is_standard else f", the coordinates having degrees {', '.join(map(str, degrees))}"
    )
    return f"all minimal generators of degree ≤ {found.max_degree}{weights}; nothing is claimed about higher degrees"

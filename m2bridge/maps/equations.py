"""Minimal generators of the ideal of a closure up to a degree, and what is known of the others.

The generators of low degree are found by linear algebra, in ``implicitization/``. Whether they are
all is asked in :mod:`m2bridge.maps.completeness`.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from m2bridge import errors
from m2bridge.algebra.determinantal import monomial_count
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.schur import Representation
from m2bridge.implicitization.elimination import linear_part
from m2bridge.implicitization.implicitize import Implicitization, implicitize
from m2bridge.implicitization.multigraded_map import MultigradedMap, multigraded
from m2bridge.limits import clock, share
from m2bridge.maps.model import Model

MAX_SEARCHED_DEGREE = 4
"""The last degree if none is given; the next one takes many times as long."""
MAX_SEARCHED_MONOMIALS = 100_000
"""Without a given degree, the last degree has at most this many monomials: it takes seconds."""


@dataclass(frozen=True, slots=True)
class Equations:
    """Minimal generators up to some degree, and the results about generators of higher degree.

    Parameters
    ----------
    implicitization : Implicitization
    series : HilbertSeries or None
        The series of the whole ideal, if it is proved.
    all_generators : bool
        Whether it is proved that there are no generators of higher degree.
    representations : tuple of Representation, optional
        All minimal generators but linear forms, where they are proved to be these.
    engine_version : str
        The version of Macaulay2 used in the proof; empty if it was not used.
    remark : str
        The proof of completeness, or the reason why there is none.
    unfinished : str
        Empty, or the limit that was reached.
    others : str
        The reason why there are generators of higher degree; empty if this is not known.
    """

    implicitization: Implicitization
    series: HilbertSeries | None = None
    all_generators: bool = False
    representations: tuple[Representation, ...] | None = None
    engine_version: str = ""
    remark: str = ""
    unfinished: str = ""
    others: str = ""

    def proved(self, series: HilbertSeries, reason: str) -> Equations:
        """Return these as all generators of the ideal with this series."""
        remark = f"all generators: {reason}"
        proved = replace(self, series=series, all_generators=True, remark=remark)
        return replace(proved, unfinished="", others="")

    def continued_by(self, series: HilbertSeries) -> bool:
        """Whether a series has the values of the Hilbert function over QQ that are known."""
        computed = self.implicitization.hilbert_function
        return computed == tuple(map(series.value, range(len(computed))))

    def but(self, others: str) -> Equations:
        """Return the equations with a reason for further generators, unless it is empty."""
        if not others:
            return self
        return replace(self, remark=scope(self.implicitization, others), others=others)


def graded_source(model: Model) -> MultigradedMap:
    """The free parametrization of a model, with its finest grading and the symmetries it knows.

    Raises
    ------
    MethodUnavailableError
        If the parameters satisfy relations or the map has no positive grading.
    """
    return multigraded(model.free_map, model.symmetries(), model.grading())


def default_max_degree(
    coordinates: int, monomials: int = MAX_SEARCHED_MONOMIALS, largest: int = MAX_SEARCHED_DEGREE
) -> int:
    """The largest N ≤ ``largest`` with at most this many monomials of degree N; at least 1."""
    for degree in range(largest, 1, -1):
        if monomial_count(coordinates, degree) <= monomials:
            return degree
    return 1


def low_degree_equations(
    source: MultigradedMap, max_degree: int | None, part: float = 1.0
) -> Equations:
    """All minimal generators of degree ≤ max_degree, as far as a part of the time suffices.

    Where a degree was not reached, ``unfinished`` says so.

    Raises
    ------
    TimeLimitError
        If the limit was reached before the first degree was begun.
    """
    if max_degree is None:
        max_degree = default_max_degree(len(linear_part(source).basis))
    # the caller keeps the rest of the time for a proof
    with share(part) as running:
        implicitization = implicitize(source, max_degree)
    late = ""
    if implicitization.stopped_early:
        late = str(running.late(f"degree {implicitization.max_degree + 1}"))
    return Equations(implicitization, remark=scope(implicitization), unfinished=late)


def up_to(degree: int, equations: Equations) -> Equations:
    """The generators up to a higher degree, as far as time suffices; no fewer than are known."""
    found = equations.implicitization
    if degree <= found.max_degree:
        return equations
    with suppress(errors.TimeLimitError):
        more = implicitize(found.source, degree)
        if more.max_degree > found.max_degree:
            # these may be all
            equations = replace(equations, implicitization=more, remark=scope(more), others="")
    late = ""
    if equations.implicitization.max_degree < degree:
        late = f"generators of degree {degree} may exist; {clock().more}"
    return replace(equations, unfinished=late)


def scope(implicitization: Implicitization, others: str = "") -> str:
    """Return the claim about generators in words, with the reason for further ones, if known."""
    grading = implicitization.source.grading
    claim = f"all minimal generators of degree ≤ {implicitization.max_degree}"
    if not grading.is_standard:
        claim += f", the coordinates having degrees {', '.join(map(str, grading.degrees))}"
    if others:
        return f"{claim}; there are others: {others}"
    return f"{claim}; nothing is claimed about higher degrees"

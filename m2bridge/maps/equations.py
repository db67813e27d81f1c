"""Minimal generators of the ideal of a closure up to a degree, and what is known of the others.

The generators of low degree are found by linear algebra, in ``implicitization/``, and stored as an
``Implicitization``: orbits of generators under symmetries, and the Hilbert function up to a degree.
Whether they are all is asked in :mod:`m2bridge.maps.completeness`. Representations belong to a
group that acts linearly on the coordinates and keeps the closure; linear forms are
left out. Where the time does not suffice, ``unfinished`` is the limit; a limit before the first
degree is a TimeLimitError. Findings that contradict each other are a ContradictionError.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import prod

from m2bridge import errors
from m2bridge.algebra.determinantal import monomial_count
from m2bridge.algebra.differential import random_point
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.linear_algebra import sparse_rank
from m2bridge.algebra.schur import Representation, generator_counts
from m2bridge.algebra.sparse_polynomial import gradient_of_terms
from m2bridge.implicitization.elimination import linear_part
from m2bridge.implicitization.implicitize import Implicitization, implicitize
from m2bridge.implicitization.multigraded_map import MultigradedMap, multigraded
from m2bridge.limits import check_deadline_in, clock, share, turn
from m2bridge.maps.model import Model
from m2bridge.results.known import Bounds, intersect_bounds

MAX_SEARCHED_DEGREE = 4
"""The last degree if none is given; the next one takes many times as long."""
MAX_SEARCHED_MONOMIALS = 100_000
"""Without a given degree, the last degree has at most this many monomials: it takes seconds."""

BY_HEIGHT = (
    "all generators: by a rank of the differential the closure is a hypersurface in the space that"
    " its linear equations define; it is irreducible, so that the equation of least degree"
    " generates its ideal"
)


@dataclass(frozen=True, slots=True)
class Equations:
    """Minimal generators up to some degree, and the results about generators of higher degree."""

    implicitization: Implicitization
    series: HilbertSeries | None = None  # of the whole ideal, if it is proved
    all_generators: bool = False  # whether it is proved that none have higher degree
    representations: tuple[Representation, ...] | None = None  # of all generators, if proved
    engine_version: str = ""  # empty if Macaulay2 was not used in the proof
    remark: str = ""  # the proof of completeness, or the reason why there is none
    unfinished: str = ""
    others: str = ""  # the reason why there are generators of higher degree, if known

    def as_complete(self, series: HilbertSeries, reason: str) -> Equations:
        """Return the equations, marked as all generators of the ideal, for a reason in words."""
        remark = f"all generators: {reason}"
        complete = replace(self, series=series, all_generators=True, remark=remark)
        return replace(complete, unfinished="", others="")

    def has_hilbert_function(self, series: HilbertSeries) -> bool:
        """Return whether a series begins with the values that were computed with the equations."""
        values = self.implicitization.hilbert_function
        return values == tuple(map(series.value, range(len(values))))

    def with_others(self, others: str) -> Equations:
        """Return the equations with the reason, unless it is empty, why there are generators of
        higher degree.
        """
        if not others:
            return self
        return replace(self, remark=scope(self.implicitization, others), others=others)


def graded_source(model: Model) -> MultigradedMap:
    """Return the free parametrization of a model, with its finest grading and its symmetries."""
    return multigraded(model.free_map, model.symmetries(), model.grading())


def default_max_degree(
    coordinates: int, monomials: int = MAX_SEARCHED_MONOMIALS, largest: int = MAX_SEARCHED_DEGREE
) -> int:
    """Return the largest N ≤ ``largest`` for which there are at most ``monomials`` monomials of
    degree N in this number of coordinates; at least 1.
    """
    for degree in range(largest, 1, -1):
        if monomial_count(coordinates, degree) <= monomials:
            return degree
    return 1


def low_degree_equations(
    source: MultigradedMap, max_degree: int | None, part: float = 1.0
) -> Equations:
    """Return all minimal generators of degree ≤ max_degree, as far as a fraction of the remaining
    time suffices; ``None`` for the last degree that is searched by default.
    """
    if max_degree is None:
        independent_count = len(linear_part(source).basis)
        max_degree = default_max_degree(independent_count)
    with share(part) as running_clock:
        implicitization = implicitize(source, max_degree)
    limit = ""  # or the text of the error for the first degree that was not finished
    if implicitization.stopped_early:
        limit = str(running_clock.late(f"degree {implicitization.max_degree + 1}"))
    claim = scope(implicitization)  # in words: all generators up to the degree that was reached
    return Equations(implicitization, remark=claim, unfinished=limit)


def extend_to_degree(degree: int, equations: Equations) -> Equations:
    """Return the equations, which are kept, with all generators up to a higher degree, as far as
    time suffices.
    """
    implicitization = equations.implicitization
    if degree <= implicitization.max_degree:
        return equations
    with suppress(errors.TimeLimitError):
        extended = implicitize(implicitization.source, degree)
        if extended.max_degree > implicitization.max_degree:
            # `others` was the reason for generators above the lower degree; now these may be all
            equations = replace(
                equations, implicitization=extended, remark=scope(extended), others=""
            )
    limit = ""
    if equations.implicitization.max_degree < degree:
        limit = f"generators of degree {degree} may exist; {clock().more}"
    return replace(equations, unfinished=limit)


def scope(implicitization: Implicitization, others: str = "") -> str:
    """Return in words what is claimed: all minimal generators up to a degree; of higher degrees
    nothing, or only that there are generators, for the reason ``others``.
    """
    grading = implicitization.source.grading
    claim = f"all minimal generators of degree ≤ {implicitization.max_degree}"
    if not grading.is_standard:
        claim += f", the coordinates having degrees {', '.join(map(str, grading.degrees))}"
    if others:
        return f"{claim}; there are others: {others}"
    return f"{claim}; nothing is claimed about higher degrees"


def hypersurface_equation(source: MultigradedMap, rank: int | None) -> Equations | None:
    """Return the equation of the closure, if a rank of the differential shows that one suffices.

    That is so if the rank, a lower bound for the dimension of the closure, is one less than the
    number of independent coordinates: an equation in these shows that the dimension is no larger,
    and the closure is irreducible, so its ideal is a prime of height 1. Such an ideal in a
    factorial ring is principal (Matsumura, *Commutative Ring Theory*, Theorem 20.1), and a
    polynomial of least degree in it is a multiple of the generator by a scalar. ``None`` if the
    rank shows nothing, or no equation is found up to the largest degree that is searched, or before
    a limit.
    """
    independent_count = len(linear_part(source).basis)
    if rank != independent_count - 1:
        return None
    try:
        with turn(0.5):  # the rest is for all generators
            largest = default_max_degree(independent_count, largest=100)  # within its other limits
            # with `first` the search ends with the first degree that has a nonlinear equation
            implicitization = implicitize(source, largest, first=True)
    except errors.TimeLimitError:
        return None
    degree = implicitization.max_degree
    # (1 − T^d) / (1 − T)^n, the series of one equation of this degree d in n coordinates
    series = HilbertSeries.from_numerator({0: 1, degree: -1}, independent_count)
    equations = Equations(implicitization, series, all_generators=True, remark=BY_HEIGHT)
    if all(orbit.degree == 1 for orbit in implicitization.orbits):
        return None  # only linear equations, which were split off, up to the largest degree
    if not equations.has_hilbert_function(series):
        raise errors.ContradictionError(
            "the closure is a hypersurface, but has several equations of least degree"
        )
    return equations


def dimension_by_equations(equations: Equations, ranks: Bounds) -> Bounds:
    """Return the dimension of the closure by the equations, else the bounds by ranks of the
    differential.

    The equations give the dimension by their Hilbert series, if all of them are known; else an
    upper bound, which counts if it meets the lower bound by ranks: at a point of the image the
    tangent space has at least the dimension of the closure, and lies in the kernel of the
    differentials of all equations.
    """
    if equations.series is not None:
        by_series = Bounds.exactly(equations.series.dimension, "the Hilbert series of the ideal")
        intersect_bounds(ranks, by_series)  # raises if they contradict each other
        return by_series
    if ranks.status != "lower bound":  # the dimension is known, or no bound to be met
        return ranks
    try:
        # three points of the image, since the rank can be smaller at a special one
        for seed in (1, 2, 3):
            dimension = intersect_bounds(ranks, _tangent_bound(equations.implicitization, seed))
            if dimension.exact is not None:
                return dimension
    except errors.TimeLimitError:
        pass  # then the bounds by ranks are what is known
    return ranks


def _tangent_bound(implicitization: Implicitization, seed: int) -> Bounds:
    """Return an upper bound for the dimension of the closure: the number of coordinates less the
    rank of the differentials of the equations at a random point of the image.
    """
    # generators of higher degree would have to be computed for this, which takes long
    low_degrees = replace(implicitization, higher=None)
    source = implicitization.source
    # random parameters from 1 to 9, and the point of the image that belongs to them
    parameters = random_point(source.polynomial_map, bound=9, seed=seed)
    point = []
    # images (exponents to coefficients) scaled to integers so that the same equations, which are
    # homogeneous in the grading, hold
    for image in source.integral_images:
        value = 0
        for exponents, c in image.items():
            powers = map(pow, parameters, exponents)
            value += c * prod(powers)
        point.append(value)
    generators = check_deadline_in(low_degrees.sparse_generators())
    gradients = (gradient_of_terms(generator, point) for generator in generators)
    return Bounds.at_most(len(point) - sparse_rank(gradients), "equations at a point")


def generator_representations(
    equations: Equations, model: Model
) -> tuple[Representation, ...] | None:
    """Return the irreducible representations of the space of minimal generators, with their
    multiplicities: of all generators, where they are proved and agree with the generators found;
    else of the generators found. ``None`` if the model knows no group.
    """
    representations = equations.representations
    implicitization = equations.implicitization
    # The number of generators by (degree, multidegree). An orbit is one of multidegrees, and its
    # polynomials are the generators in one of them.
    counts = {}
    for orbit in implicitization.orbits:
        counts[orbit.degree, orbit.multidegree] = len(orbit.polynomials)
    by_multidegrees = model.representations(counts)
    if representations is None or by_multidegrees is None:
        return by_multidegrees
    # In the degrees of linear algebra the proved representations must belong exactly to the
    # generators. In higher degrees generators may be known by their representations alone.
    computed_degrees = set(range(implicitization.max_degree + 1))
    if implicitization.higher is not None:
        computed_degrees -= set(implicitization.higher.counts)
    if set(by_multidegrees) != {one for one in representations if one.degree in computed_degrees}:
        raise errors.ContradictionError(
            "the core and the generators have different representations in some multidegree"
        )
    return representations


def check_representations(
    low: Implicitization, values: Sequence[int], representations: Iterable[Representation]
) -> None:
    """Raise ContradictionError if predicted values H(0), H(1), … and representations of all
    generators differ from what linear algebra computed.
    """
    low_values = tuple(values[: low.max_degree + 1])
    if low_values != low.hilbert_function:
        raise errors.ContradictionError(
            f"the Hilbert function {low_values} does not continue the values computed"
        )
    # linear forms are left out of the representations
    counts = generator_counts(representations)
    for n in range(2, low.max_degree + 1):
        count = low.generator_counts.get(n, 0)
        if counts[n] != count:
            predicted = f"representations have {counts[n]} generators of degree {n}"
            raise errors.ContradictionError(f"{predicted}, not {count}")

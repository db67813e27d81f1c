"""The proof that the generators found are all, by the ideal of a smaller map: linear algebra alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb

from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.clock import clock
from m2bridge.errors import ContradictionError, EngineTimeoutError
from m2bridge.implicitization.implicitize import implicitize, implicitize_and_look_ahead
from m2bridge.implicitization.result import Implicitization
from m2bridge.maps.core import Core
from m2bridge.maps.multigraded_closure import Equations, up_to

MOST_MONOMIALS = 10_000_000
"""Of the degree of the bound: more take longer than minutes."""


@dataclass(frozen=True, slots=True)
class CoreIdeal:
    """All generators of the ideal of a core.

    Parameters
    ----------
    largest_degree : int
        Of a generator.
    sections_from : int
        From this degree on the Hilbert function is the number of sections; in the degree before it is smaller.
    """

    largest_degree: int
    sections_from: int


def within_reach(core: Core) -> bool:
    """Whether the degree of the bound is not too large to be computed."""
    return bound_monomials(core) <= MOST_MONOMIALS


def bound_monomials(core: Core) -> int:
    """The number of monomials of the degree of the bound."""
    return comb(len(core.source.polynomial_map.coordinates) + core.bound - 1, core.bound)


def prove_by_core(known: Equations, core: Core) -> Equations:
    """Compute the ideal of the core up to the bound, and that of the closure as far as it shows to be necessary.

    Raises
    ------
    ContradictionError
        If a Hilbert function is not what the family vouches for.
    """
    if not within_reach(core):
        missing = f"all of the ideal of {core.name} up to degree {core.bound} would have to be computed"
        return replace(known, unfinished=f"{missing}, which is too much; --strategy elimination has no such bound")
    try:
        found = up_to_the_bound(core)
    except EngineTimeoutError as limit:
        return replace(known, unfinished=str(limit))
    ideal = core_ideal(found, core)
    if ideal is None:
        undecided = f"the Hilbert function of {core.name} in degree {core.bound - 1} decides nothing"
        return replace(known, unfinished=undecided)
    needed = max(ideal.largest_degree, core.least_degree, ideal.sections_from - 1)
    known = up_to(needed, known)
    if known.found.max_degree < needed:
        return replace(known, unfinished=str(clock().late(f"degree {needed}")))
    series = hilbert_series(known.found.hilbert_function, ideal.sections_from, core)
    if any(series.value(n) != value for n, value in enumerate(known.found.hilbert_function)):
        raise ContradictionError(f"the Hilbert series {series.expression} does not continue the values computed")
    return replace(known, series=series, remark=_remark(ideal, core), unfinished="")


def up_to_the_bound(core: Core) -> Implicitization:
    """The ideal of the core up to the degree before the bound, and further if there are generators of that degree.

    Raises
    ------
    EngineTimeoutError
        If the limit was reached.
    """
    found, beyond = implicitize_and_look_ahead(core.source, core.bound - 1, core.balanced(core.bound))
    if beyond:
        found = implicitize(core.source, core.bound)
    if found.stopped_early or beyond is None:
        raise clock().late(f"degree {found.max_degree + 1} of {core.name}")
    return found


def core_ideal(found: Implicitization, core: Core) -> CoreIdeal | None:
    """What the ideal up to the bound says of all generators of the core; ``None`` if it does not decide.

    In the degree of the bound ``found`` may be missing if there are no generators in it.

    Raises
    ------
    ContradictionError
        If the Hilbert function is larger than the number of sections.
    """
    excess = [core.sections(n) - value for n, value in enumerate(found.hilbert_function)]
    if min(excess) < 0:
        raise ContradictionError(f"{core.name} have a Hilbert function larger than their number of sections")
    if not found.exact or found.max_degree < core.bound - 1 or any(excess[core.bound - 1 :]):
        return None
    sections_from = max((n + 1 for n, number in enumerate(excess) if number), default=0)
    return CoreIdeal(max(found.generator_counts, default=0), sections_from)


def hilbert_series(values: tuple[int, ...], start: int, core: Core) -> HilbertSeries:
    """The Hilbert series with these values in degrees below ``start``, and the number of sections from there on.

    The numerator has degree less than the dimension plus the degree from which on a polynomial gives the values.
    """
    count = core.dimension + max(start, 1)
    value = [values[n] if n < start else core.whole_sections(n) for n in range(count)]
    signs = [(-1) ** i * comb(core.dimension, i) for i in range(count)]
    numerator = {n: sum(signs[i] * value[n - i] for i in range(n + 1)) for n in range(count)}
    return HilbertSeries.from_numerator(numerator, core.dimension)


def _remark(ideal: CoreIdeal, core: Core) -> str:
    generated = f"those of {core.name} have degree ≤ {ideal.largest_degree}" if ideal.largest_degree else "no others"
    if not ideal.largest_degree:
        generated = f"{core.name} satisfy no equation"
    sections = f"and the Hilbert function is the number of sections from degree {ideal.sections_from} on"
    return (
        f"all generators: {generated}, as their ideal up to degree {core.bound} shows, {sections} "
        "(docs/completeness.md)"
    )

"""The singular locus of the Zariski closure of the image of a polynomial map."""

from __future__ import annotations

from typing import Literal, get_args

from m2bridge.computations.closure import Closure, closure
from m2bridge.computations.jacobian_criterion import jacobian_components, minor_count
from m2bridge.computations.locus import Component, OrbitStatus, SingularLocus
from m2bridge.computations.orbit_criterion import orbit_components, orbit_statuses
from m2bridge.computations.subject import Clock, Subject
from m2bridge.engine import Engine
from m2bridge.errors import (
    ContradictionError,
    EngineMemoryError,
    EngineTimeoutError,
    InvalidCaseError,
    MethodUnavailableError,
)
from m2bridge.model.attention import Coordinates, SingleLayerAttention
from m2bridge.model.field import QQ, CoefficientField
from m2bridge.model.polynomial_map import PolynomialMap

Method = Literal["auto", "orbits", "jacobian", "all"]
Components = tuple[Component, ...]

SECOND_OPINION = 500
"""``auto`` adds the Jacobian criterion on the whole variety when it takes at most so many minors."""


def singular_locus(
    case: SingleLayerAttention | PolynomialMap,
    engine: Engine,
    field: CoefficientField = QQ,
    *,
    coordinates: Coordinates | None = None,
    method: Method = "auto",
    ideals: bool = False,
    timeout: float | None = None,
) -> SingularLocus:
    """Compute the singular locus of the Zariski closure.

    Parameters
    ----------
    method : {"auto", "orbits", "jacobian", "all"}
        ``orbits``: the Jacobian criterion at one point of each orbit; only for attention with t ≥ 2. ``jacobian``: the
        Jacobian criterion on the whole variety, decomposed into minimal primes; only for the smallest cases. ``auto``:
        ``orbits`` where it applies, with ``jacobian`` as a second opinion where that is cheap. ``all``: both.
    ideals : bool
        Compute the ideals of the components too.
    timeout : float, optional
        Seconds for the whole computation.

    Returns
    -------
    SingularLocus
        With ``unfinished`` set, and what was found until then, if a limit was reached.

    Raises
    ------
    MethodUnavailableError
        If the method does not apply to this case.
    ContradictionError
        If two methods disagree.
    """
    if method not in get_args(Method):
        raise InvalidCaseError("method", f"unknown method '{method}': use {', '.join(get_args(Method))}")
    subject = Subject.of(case, coordinates)
    has_orbits = subject.model is not None and subject.model.t >= 2
    if method in ("orbits", "all") and not has_orbits:
        raise MethodUnavailableError("orbits classify functions of attention with t ≥ 2 only; use --method jacobian")
    clock = Clock(timeout)
    found = closure(case, engine, field, coordinates=coordinates, strategy="elimination", timeout=timeout)
    statuses: tuple[OrbitStatus, ...] = ()
    components, methods, unfinished = None, _methods(method, has_orbits, found), found.unfinished
    if found.ideal is None or found.codimension is None:
        unfinished += " (while computing the ideal of the closure; the dimension is known, a smaller case may finish)"
    else:
        statuses = orbit_statuses(found) if has_orbits else ()
        components, unfinished = _components(methods, found, statuses, engine, ideals, clock)
    return SingularLocus(
        found.subject,
        field,
        " and ".join(methods),
        found.dimension,
        statuses,
        components,
        _remarks(methods, statuses) if components is not None else (),
        found.engine_version,
        clock.seconds,
        unfinished,
    )


def _methods(method: Method, has_orbits: bool, found: Closure) -> tuple[str, ...]:
    if method == "all":
        return ("orbits", "jacobian")
    if method != "auto":
        return (method,)
    if not has_orbits:
        return ("jacobian",)
    cheap = found.ideal is not None and minor_count(found) <= SECOND_OPINION
    return ("orbits", "jacobian") if cheap else ("orbits",)


def _components(
    methods: tuple[str, ...],
    found: Closure,
    statuses: tuple[OrbitStatus, ...],
    engine: Engine,
    ideals: bool,
    clock: Clock,
) -> tuple[Components | None, str]:
    """The components by each method in turn, compared; and the limit that was reached, if one was."""
    components: Components | None = None
    try:
        if "orbits" in methods:
            components = orbit_components(statuses, found, engine, ideals, clock.remaining)
        if "jacobian" in methods:
            whole = jacobian_components(found, engine, clock.remaining)
            compare(statuses, components, whole)
            components = whole if ideals or not statuses else tuple(c.without_ideal() for c in whole)
    except (EngineTimeoutError, EngineMemoryError) as limit:
        return components, str(limit)
    return components, ""


def compare(statuses: tuple[OrbitStatus, ...], by_orbits: Components | None, whole: Components) -> None:
    """Hold the decomposition of the singular locus against the Jacobian criterion at the orbits.

    Raises
    ------
    ContradictionError
        If an orbit is singular by one and smooth by the other, or a component differs in dimension or degree.
    """
    closures = [component.orbit for component in whole if component.orbit is not None]
    for status in statuses:
        if status.singular != any(status.orbit.in_closure_of(orbit) for orbit in closures):
            raise ContradictionError(
                f"the orbit {status.orbit} has tangent dimension {status.tangent_dimension}, but the components of the "
                f"singular locus are the closures of {', '.join(map(str, closures)) or 'no orbit'}"
            )
    if by_orbits is None:
        return
    left = {(c.orbit, c.dimension) for c in by_orbits}
    right = {(c.orbit, c.dimension) for c in whole}
    degrees = {c.orbit: c.degree for c in whole}
    if left != right or any(c.degree not in (None, degrees[c.orbit]) for c in by_orbits):
        raise ContradictionError(f"components by orbits {by_orbits} and by minimal primes {whole} differ")


def _remarks(methods: tuple[str, ...], statuses: tuple[OrbitStatus, ...]) -> tuple[str, ...]:
    if "jacobian" in methods and statuses:
        return ("the Jacobian criterion on the whole variety and at one point of every orbit agree",)
    return ()

"""The singular locus of the Zariski closure of the image of a polynomial map."""

from __future__ import annotations

from typing import Literal, get_args

from m2bridge.computations.closure import Closure, closure
from m2bridge.computations.components import orbit_components, with_degree, with_ideal
from m2bridge.computations.fibre_criterion import fibre_statuses, fibres_apply
from m2bridge.computations.jacobian_criterion import jacobian_components, minor_count
from m2bridge.computations.locus import Component, OrbitStatus, SingularLocus
from m2bridge.computations.observation import observe
from m2bridge.computations.orbit_criterion import orbit_statuses
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

Method = Literal["auto", "fibres", "orbits", "jacobian", "all"]
Components = tuple[Component, ...]

FEW_COORDINATES = 12
"""``auto`` computes the ideal too, as a second opinion, when there are at most so many coordinates,"""
FEW_MINORS = 500
"""and decomposes the singular locus, as a third one, when the Jacobian criterion takes at most so many minors."""


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
    method : {"auto", "fibres", "orbits", "jacobian", "all"}
        ``fibres``: the fibre of the parametrization over one point of each orbit, over QQ; for attention with t ≥ 2
        and α > 1 or d' > 1; see :func:`m2bridge.computations.observation.observe`. ``orbits``: the Jacobian criterion
        at one point of each orbit; for attention with t ≥ 2. ``jacobian``: the Jacobian criterion on the whole variety,
        decomposed into minimal primes; only for the smallest cases. ``auto``: the first of these that applies, with the
        others as second opinions where they are cheap. ``all``: all that apply.
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
    clock = Clock(timeout)
    wanted = _wanted(method, subject, field)
    statuses: tuple[OrbitStatus, ...] = ()
    found: Closure | None = None
    components, unfinished, dimension = None, "", None
    try:
        if "fibres" in wanted:
            assert subject.model is not None
            seen = observe(subject.model, engine, clock.remaining)
            statuses, dimension = fibre_statuses(seen), seen.dimension
            linear = dimension == subject.model.coordinate_count("reduced")
            components = _finished(orbit_components(statuses, linear), subject, field)
        if wanted != ("fibres",):
            found = closure(case, engine, field, coordinates=coordinates, timeout=clock.remaining)
            dimension, unfinished = found.dimension, found.unfinished
            if found.ideal is None or found.codimension is None:
                unfinished += " (while computing the ideal of the closure; try --method fibres or a smaller case)"
            else:
                wanted = _affordable(method, wanted, found)
                statuses = _compared(statuses, orbit_statuses(found)) if _has_orbits(subject) else ()
                components = _from_ideal(wanted, statuses, found, engine, clock)
        if ideals and components is not None:
            components = tuple(
                component
                if component.ideal is not None
                else with_ideal(component, subject, field, engine, clock.remaining)
                for component in components
            )
    except (EngineTimeoutError, EngineMemoryError) as limit:
        unfinished = str(limit)
    if components is not None and not ideals and _has_orbits(subject):
        components = tuple(component.without_ideal() for component in components)
    return SingularLocus(
        subject,
        field,
        " and ".join(wanted),
        dimension,
        statuses,
        components,
        (f"{', '.join(wanted)} agree",) if len(wanted) > 1 and not unfinished else (),
        engine.version,
        clock.seconds,
        unfinished,
    )


def _has_orbits(subject: Subject) -> bool:
    return subject.model is not None and subject.model.t >= 2


def _wanted(method: Method, subject: Subject, field: CoefficientField) -> tuple[str, ...]:
    """The methods to try, in order.

    Raises
    ------
    MethodUnavailableError
        If the chosen method does not apply.
    """
    orbits = _has_orbits(subject)
    fibres = subject.model is not None and fibres_apply(subject.model) and field == QQ
    if method == "fibres" and not fibres:
        raise MethodUnavailableError(
            "the method of fibres is for attention over QQ with t ≥ 2, and α > 1 or d' > 1; "
            f"use --method {'orbits' if orbits else 'jacobian'}"
        )
    if method == "orbits" and not orbits:
        raise MethodUnavailableError("orbits classify functions of attention with t ≥ 2 only; use --method jacobian")
    if method not in ("auto", "all"):
        return (method,)
    few = subject.model is not None and len(subject.parametrization.coordinates) <= FEW_COORDINATES
    if method == "auto" and fibres and not few:
        return ("fibres",)
    applicable = {"fibres": fibres, "orbits": orbits, "jacobian": True}
    return tuple(name for name, applies in applicable.items() if applies)


def _affordable(method: Method, wanted: tuple[str, ...], found: Closure) -> tuple[str, ...]:
    """``auto`` leaves the Jacobian criterion on the whole variety out where it is not cheap and not the only method."""
    if method == "auto" and len(wanted) > 1 and minor_count(found) > FEW_MINORS:
        return tuple(name for name in wanted if name != "jacobian")
    return wanted


def _finished(components: Components, subject: Subject, field: CoefficientField) -> Components:
    return tuple(with_degree(component, subject, field) for component in components)


def _from_ideal(
    wanted: tuple[str, ...], statuses: tuple[OrbitStatus, ...], found: Closure, engine: Engine, clock: Clock
) -> Components:
    """The components by the Jacobian criterion, at orbits or on the whole variety; compared where there are both."""
    assert found.ideal is not None
    linear = all(degree == 1 for degree in found.ideal.generator_degrees)
    by_orbits = _finished(orbit_components(statuses, linear), found.subject, found.field) if statuses else None
    if "jacobian" not in wanted:
        assert by_orbits is not None
        return by_orbits
    whole = jacobian_components(found, engine, clock.remaining)
    compare(statuses, by_orbits, whole)
    return whole


def _compared(by_fibres: tuple[OrbitStatus, ...], by_equations: tuple[OrbitStatus, ...]) -> tuple[OrbitStatus, ...]:
    """The statuses by equations, which have all tangent dimensions, held against those by fibres.

    Raises
    ------
    ContradictionError
        If they differ.
    """
    for fibre, equations in zip(by_fibres, by_equations, strict=False):
        bound = fibre.tangent_bound or 0
        if fibre.singular != equations.singular or (equations.tangent_dimension or 0) < bound:
            raise ContradictionError(f"by fibres and tangent vectors {fibre}, by the Jacobian criterion {equations}")
    return by_equations


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

"""The singular locus of the Zariski closure of the image of a polynomial map."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain, combinations
from typing import Any, Literal, get_args

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.clock import clock, limited
from m2bridge.engine import Engine, given_or_own
from m2bridge.errors import ContradictionError, EngineTimeoutError, InvalidCaseError, MethodUnavailableError
from m2bridge.maps.agreement import LocusFindings, compare
from m2bridge.maps.closure import closure
from m2bridge.maps.jacobian_criterion import by_jacobian, minor_count
from m2bridge.maps.model import Model
from m2bridge.maps.orbit_methods import OrbitMethods, with_orbits
from m2bridge.maps.singular_locus_result import Component, OrbitStatus, SingularLocus
from m2bridge.maps.subject import Case, Subject

Method = Literal["auto", "fibres", "orbits", "jacobian", "all"]

FEW_COORDINATES = 12
"""``auto`` computes the ideal too, as a second opinion, when there are at most this many coordinates;"""
MOST_ELIMINATED = 20
"""``orbits`` computes the ideal when there are at most this many independent coordinates, which takes seconds,"""
FEW_MINORS = 500
"""and ``auto`` decomposes the singular locus, as a third opinion, when the criterion takes at most this many minors."""


def singular_locus(
    case: Case,
    engine: Engine | None = None,
    field: CoefficientField = QQ,
    *,
    coordinates: str | None = None,
    method: Method = "auto",
    ideals: bool = False,
    timeout: float | None = None,
) -> SingularLocus:
    """Compute the singular locus of the Zariski closure.

    Parameters
    ----------
    case : a model or a PolynomialMap
    engine : Engine, optional
        A Macaulay2 of its own is started, and ended, where none is given.
    method : {"auto", "fibres", "orbits", "jacobian", "all"}
        ``fibres``: the fibre of the parametrization over one point of each orbit, for models whose orbits are known and
        whose fibres decide smoothness. ``orbits``: the Jacobian criterion at one point of each orbit; over QQ, with
        more than 12 coordinates, by tangent vectors and equations of low degree, by the whole ideal with at most 20
        independent coordinates, and over GF(p). ``jacobian``: the Jacobian criterion on the whole variety, decomposed
        into minimal primes; only for the smallest cases. ``auto``: the first of these that applies, with the others as
        second opinions where they are cheap. ``all``: all that apply.
    ideals : bool
        Compute the ideals of the components too.
    timeout : float, optional
        Seconds for the whole computation.

    Returns
    -------
    SingularLocus
        With ``unfinished`` set, and what was found until then, if a limit was reached or orbits remain undecided.

    Raises
    ------
    MethodUnavailableError
        If the method does not apply to this case.
    ContradictionError
        If two methods disagree.

    Examples
    --------
    >>> from sympy import symbols
    >>> t = symbols("t")
    >>> cusp = PolynomialMap.from_expressions([t], {"x": t**2, "y": t**3})
    >>> singular_locus(cusp).components[0].ideal.generators
    (y, x)
    """
    if method not in get_args(Method):
        raise InvalidCaseError("method", f"unknown method '{method}': use {', '.join(get_args(Method))}")
    subject = Subject.of(case, coordinates)
    subject.check_field(field)
    plan = _plan(method, subject, field)
    findings: list[LocusFindings] = []
    with limited(timeout), given_or_own(engine) as engine:
        model = with_orbits(subject.model)
        if model is not None and "fibres" in plan:
            findings.append(model.by_fibres(engine))
        if model is not None and "orbits" in plan and field == QQ and subject.coordinate_count > FEW_COORDINATES:
            findings.append(model.by_bounds())
        if _ideal_wanted(plan, subject, field):
            findings += _from_ideal(plan, subject, field, engine, second_opinion=method == "auto")
        return _result(findings, subject, field, engine, ideals, second_opinion=method != "all")


def _plan(method: Method, subject: Subject, field: CoefficientField) -> tuple[str, ...]:
    """The methods to try, in order; the Jacobian criterion at orbits costs nothing once the ideal is known.

    Raises
    ------
    MethodUnavailableError
        If the chosen method does not apply.
    """
    no_orbits, no_fibres = _reasons(subject.model, field)
    orbits, fibres = not no_orbits, not no_fibres
    if (method == "fibres" and no_fibres) or (method == "orbits" and no_orbits):
        _ = subject.parametrization  # where there is none, no other method applies either, and it says why
        raise MethodUnavailableError(f"{no_orbits or no_fibres}; use --method {'orbits' if orbits else 'jacobian'}")
    if method in ("fibres", "orbits"):
        return (method,)
    if method == "auto" and orbits and field == QQ and subject.coordinate_count > FEW_COORDINATES:
        return ("fibres",) if fibres else ("orbits",)
    applicable = {"fibres": fibres and method != "jacobian", "orbits": orbits, "jacobian": True}
    return tuple(name for name, applies in applicable.items() if applies)


def _reasons(model: Model, field: CoefficientField) -> tuple[str, str]:
    """Why the methods of orbits and of fibres do not apply; empty if they do."""
    if not isinstance(model, OrbitMethods):
        return ("no orbits of this model are known",) * 2
    return model.no_orbits(), model.no_fibres(field)


def _ideal_wanted(plan: tuple[str, ...], subject: Subject, field: CoefficientField) -> bool:
    model = with_orbits(subject.model)
    if plan == ("orbits",) and field == QQ and model is not None:
        return model.independent_count <= MOST_ELIMINATED
    return plan != ("fibres",)


def _from_ideal(
    plan: tuple[str, ...],
    subject: Subject,
    field: CoefficientField,
    engine: Engine,
    second_opinion: bool,
) -> list[LocusFindings]:
    """The findings of the methods that need the ideal of the closure."""
    methods = " and ".join(name for name in plan if name != "fibres")
    dimension, findings = None, []
    try:
        found = closure(subject.model, engine, field, strategy="elimination")
        dimension = found.dimension
        if found.ideal is None or found.codimension is None:
            instead = "" if "fibres" in plan or _reasons(subject.model, field)[1] else "; --method fibres needs none"
            reason = f"{found.unfinished} (while computing the ideal of the closure{instead})"
            return [LocusFindings(methods, dimension, (), None, reason)]
        model = with_orbits(subject.model)
        if model is not None and "orbits" in plan:
            findings.append(model.by_orbits(found))
        too_expensive = second_opinion and findings and minor_count(found) > FEW_MINORS
        if "jacobian" in plan and not too_expensive:
            findings.append(by_jacobian(found, engine))
    except EngineTimeoutError as limit:
        findings.append(LocusFindings(methods, dimension, (), None, str(limit)))
    return findings


def _result(
    findings: list[LocusFindings],
    subject: Subject,
    field: CoefficientField,
    engine: Engine,
    ideals: bool,
    second_opinion: bool,
) -> SingularLocus:
    """Compare what the methods found, and take the last word of those that finished.

    With ``second_opinion``, a method that does not finish leaves the result of another one standing.
    """
    for first, second in combinations(findings, 2):
        compare(first, second)
    finished = [f for f in findings if f.components is not None]
    limits = [f"{f.method}: {f.unfinished}" for f in findings if f.unfinished]
    excused = second_opinion and bool(finished)
    remarks = [f"{' and '.join(f.method for f in finished)} agree"] if len(finished) > 1 else []
    components = finished[-1].components if finished else None
    if components is not None and with_orbits(subject.model) is None:
        ideals = True
    return SingularLocus(
        subject,
        field,
        " and ".join(f.method for f in finished or findings),
        next((f.dimension for f in reversed(finished or findings) if f.dimension is not None), None),
        known_orbits(finished or findings),
        None if components is None else _with_ideals(components, ideals, subject, field, engine),
        tuple(remarks + (limits if excused else [])),
        engine.version if ideals or any(f.uses_engine for f in findings) else "",
        clock().seconds,
        "" if excused else "; ".join(limits),
    )


def known_orbits(findings: Iterable[LocusFindings]) -> tuple[OrbitStatus, ...]:
    """What is known of each orbit, by the last method that decided it; methods may have looked at some orbits only."""
    known: dict[Any, OrbitStatus] = {}
    for status in chain.from_iterable(f.statuses for f in findings):
        if status.singular is not None or status.orbit not in known:
            known[status.orbit] = status
    return tuple(known[orbit] for orbit in sorted(known))


def _with_ideals(
    components: tuple[Component, ...],
    ideals: bool,
    subject: Subject,
    field: CoefficientField,
    engine: Engine,
) -> tuple[Component, ...]:
    if not ideals:
        return tuple(component.without_ideal() for component in components)
    return tuple(_with_ideal(component, subject, field, engine) for component in components)


def _with_ideal(component: Component, subject: Subject, field: CoefficientField, engine: Engine) -> Component:
    """The component with its ideal and degree by elimination; unchanged if that did not finish.

    Raises
    ------
    ContradictionError
        If dimension or degree differ from what is known.
    """
    if component.ideal is not None or component.orbit is None:
        return component
    model = with_orbits(subject.model)
    assert model is not None
    try:
        found = closure(model.orbit_closure(component.orbit), engine, field, strategy="elimination")
    except EngineTimeoutError:
        return component
    if found.ideal is None or found.degree is None:
        return component
    if found.dimension != component.dimension or component.degree not in (None, found.degree):
        raise ContradictionError(
            f"the {component.description} has dimension {component.dimension} and degree {component.degree} by its "
            f"group action and formula, but {found.dimension} and {found.degree} by elimination"
        )
    return replace(component, degree=found.degree, ideal=found.ideal)

"""Observe the orbits of a case: every claim by at least one exact method."""

from __future__ import annotations

from dataclasses import replace

from m2bridge.clock import limited, share
from m2bridge.engine import Engine, given_or_own
from m2bridge.errors import (
    ContradictionError,
    EngineError,
    EngineMemoryError,
    EngineTimeoutError,
    MethodUnavailableError,
)
from m2bridge.families.attention.deduction import check, deduce, late
from m2bridge.families.attention.fibres import check_orbits, fibres
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.observed import Observations
from m2bridge.families.attention.orbit_tangents import orbit_tangents
from m2bridge.families.attention.orbits import generic_orbit, orbit_count
from m2bridge.families.attention.tokens import products_determine_functions
from m2bridge.maps.closure import closure

FEW_COORDINATES = 12
"""The degree is computed by elimination too for cases with at most this many coordinates."""

BY_ELIMINATION = "the degree is also that of the ideal computed by elimination"


def observe(
    model: SingleLayerAttention,
    engine: Engine | None = None,
    timeout: float | None = None,
    *,
    partial: bool = True,
    degree: bool = True,
) -> Observations:
    """Observe the orbits of a case by the method of fibres, tangent vectors and equations.

    The lemma: p = f(q) is a smooth point of the closure X if and only if the scheme f⁻¹(p) is one reduced point and
    q is a smooth point of the source. It needs f finite (base locus empty, fibres finite) and birational (the generic
    fibre is one reduced point).

    Parameters
    ----------
    model : SingleLayerAttention
    engine : Engine, optional
        A Macaulay2 of its own is started, and ended, where none is given.
    timeout : float, optional
        Seconds for the whole computation. Linear algebra comes first, in half of the time; then Macaulay2 has the rest.
    partial : bool
        Whether some of the orbits are enough when a limit is reached.
    degree : bool
        Whether the degree is asked for.

    Returns
    -------
    Observations
        With ``limit`` set, and the orbits that were observed until then, if a limit was reached. The dimension and what
        else linear algebra tells are there before any orbit.

    Raises
    ------
    TooLargeError
        If there are too many orbits.
    MethodUnavailableError
        If t = 1, where these are not the orbits.
    ContradictionError
        If independent methods disagree.
    EngineError
        If Macaulay2 failed in another way, or a limit was reached before the dimension was known or, unless
        ``partial``, before all orbits were observed.

    Examples
    --------
    >>> seen = observe(SingleLayerAttention(d=2, d_out=1))
    >>> seen.dimension, seen.degree, seen.closed
    (5, 4, True)
    """
    if model.t == 1:
        raise MethodUnavailableError(
            "orbits are observed for t ≥ 2 only; for t = 1 singular_locus has the method jacobian"
        )
    check_orbits(model)
    with limited(timeout) as running, given_or_own(engine) as engine:
        with share(0.5 if partial else 1.0):
            products = products_determine_functions(model.d)
            tangents = orbit_tangents(model)
        if not (partial or len(tangents) == orbit_count(model)):
            raise late(tangents, model)
        try:
            found = fibres(model, engine, tuple(tangents))
        except (EngineTimeoutError, EngineMemoryError) as limit:
            if not partial:
                raise
            seen = _without_orbits(model, tangents[generic_orbit(model)].dimension, products, limit)
            return replace(seen, engine_version=engine.version, seconds=running.seconds)
        if found.limit is not None and not partial:
            raise found.limit
        seen = deduce(model, found, tangents, degree=degree)
        compared = seen.limit is None and seen.degree is not None
        eliminated = _degree_by_elimination(model, engine) if compared else None
    if eliminated not in (None, seen.degree):
        raise ContradictionError(f"the degree is {seen.degree} by the fibres, and {eliminated} by elimination")
    remarks = seen.remarks if eliminated is None else (*seen.remarks, BY_ELIMINATION)
    return replace(seen, remarks=remarks, engine_version=engine.version, seconds=running.seconds)


def _without_orbits(model: SingleLayerAttention, dimension: int, products: bool, limit: EngineError) -> Observations:
    """What linear algebra tells, where Macaulay2 did not come to the dense orbit."""
    check((), dimension, model)
    limit.progress = f"0 of {orbit_count(model)} orbits were done"
    return Observations(model, (), dimension, None, None, products, False, None, (), limit=limit)


def _degree_by_elimination(model: SingleLayerAttention, engine: Engine) -> int | None:
    """In small cases, where the limit allows it."""
    if model.coordinate_count("reduced") > FEW_COORDINATES:
        return None
    two_tokens = SingleLayerAttention(model.d, model.d_out, model.a)
    try:
        return closure(two_tokens, engine, strategy="elimination").degree
    except (EngineTimeoutError, EngineMemoryError):
        return None

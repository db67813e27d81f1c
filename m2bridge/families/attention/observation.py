"""Everything that is observed about the orbits of a case, each claim by at least one exact method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from m2bridge.clock import clock, limited, share
from m2bridge.engine import Engine
from m2bridge.errors import (
    ContradictionError,
    EngineError,
    EngineMemoryError,
    EngineTimeoutError,
    MethodUnavailableError,
)
from m2bridge.families.attention.fibre_points import fibre_points
from m2bridge.families.attention.fibres import Fibre, Fibres, check_orbits, fibres
from m2bridge.families.attention.linear_section import section_points
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbit_tangents import OrbitTangents, orbit_tangents
from m2bridge.families.attention.orbits import Orbit, WeightPair, generic_orbit, orbit_count, orbits
from m2bridge.families.attention.tangents import source_tangent_dimension
from m2bridge.families.attention.tokens import products_determine_functions
from m2bridge.maps.closure import closure
from m2bridge.maps.tangent_bounds import singular_by_bounds

ELIMINATED = 12
"""The degree is computed by elimination too for cases with at most so many coordinates."""

AGREEMENTS = (
    "fibres (Macaulay2), their points (solved) and ranks of the differential (FLINT) agree on all orbits",
    "every orbit that has more tangent vectors than the dimension is singular by its fibre",
    "every orbit that is smooth by proved equations is smooth by its fibre",
)
BY_ELIMINATION = "the degree is also that of the ideal computed by elimination"


@dataclass(frozen=True, slots=True)
class OrbitFacts:
    """What was observed about one orbit.

    Parameters
    ----------
    orbit : Orbit
    dimension : int
        Of the orbit in function space (affine), by the tangent map of the group action.
    fibre : Fibre
        Of the projective parametrization.
    preimages : frozenset of (A, V)
        The points of the fibre, with A_11 = V_11 = 1.
    source_smooth : bool
        Whether {rk A ≤ α} is smooth at rank r: α = d or r = α.
    singular : bool or None
        Of the Zariski closure. True if the fibre is not one reduced point; if it is one, false where the source is
        smooth, and true where it is not and there are more tangent vectors than the dimension. Where the
        parametrization is not birational, what the bounds for the tangent dimension say. ``None``: undecided.
    critical : bool
        Of the projective parametrization: the differential is not injective on the Zariski tangent space.
    boundary : bool
        Limit of real points of the Zariski closure outside the neuromanifold: the fibre is not reduced.
    tangent_lower : int
        Lower bound for the tangent dimension, by explicit tangent vectors.
    tangent_witness : Orbit
        The orbit where these vectors are; its closure contains this one.
    tangent_upper : int or None
        Upper bound for the tangent dimension, by proved equations.
    """

    orbit: Orbit
    dimension: int
    fibre: Fibre
    preimages: frozenset[WeightPair]
    source_smooth: bool
    singular: bool | None
    critical: bool
    boundary: bool
    tangent_lower: int
    tangent_witness: Orbit
    tangent_upper: int | None

    @property
    def tangent_dimension(self) -> int | None:
        """Affine tangent dimension, where the bounds meet."""
        return self.tangent_lower if self.tangent_lower == self.tangent_upper else None


@dataclass(frozen=True, slots=True)
class Observations:
    """What was observed about one case.

    Parameters
    ----------
    model : SingleLayerAttention
    orbits : tuple of OrbitFacts
        All orbits, or some of them if there is a ``limit``; then perhaps none, and else the dense one among them.
    dimension : int
        Affine: the largest orbit dimension.
    degree : int or None
        Of the closure, by a linear section; ``None`` where its points are not counted, or it was not asked for.
    closed : bool or None
        The base locus of the projective parametrization is empty, so its image is compact and the cone over it closed.
        ``None`` where no orbit was observed.
    products : bool
        Functions are determined by the products of their linear forms, linearly.
    boundary_family : bool
        Whether the explicit family of boundary points at (1, 1, 1) was verified.
    generic : Fibre or None
        The generic fibre; ``None`` where no orbit was observed.
    remarks : tuple of str
        Which independent methods agreed.
    engine_version : str
        Empty if no engine was used.
    seconds : float
    limit : EngineError or None
        The limit that was reached before all orbits were observed.
    """

    model: SingleLayerAttention
    orbits: tuple[OrbitFacts, ...]
    dimension: int
    degree: int | None
    closed: bool | None
    products: bool
    boundary_family: bool
    generic: Fibre | None
    remarks: tuple[str, ...]
    engine_version: str = ""
    seconds: float = 0.0
    limit: EngineError | None = None

    @property
    def generic_fibre(self) -> Fibre:
        """The fibre over the dense orbit, where some orbit was observed."""
        assert self.generic is not None
        return self.generic

    @property
    def missing(self) -> tuple[Orbit, ...]:
        """The orbits that were not observed; none without a limit."""
        seen = {fact.orbit for fact in self.orbits}
        return tuple(orbit for orbit in orbits(self.model) if orbit not in seen)

    @property
    def unfinished(self) -> str:
        """The limit and how many orbits were done, in words; empty if all were."""
        return "" if self.limit is None else str(self.limit)


def observe(
    model: SingleLayerAttention,
    engine: Engine,
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
    engine : Engine
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
    InvalidCaseError
        If there are too many orbits.
    MethodUnavailableError
        If t = 1, where these are not the orbits.
    ContradictionError
        If independent methods disagree.
    EngineError
        If Macaulay2 failed in another way, or a limit was reached before the dimension was known or, unless
        ``partial``, before all orbits were observed.
    """
    if model.t == 1:
        raise MethodUnavailableError("the method of fibres is for t ≥ 2; for t = 1 use --method jacobian")
    check_orbits(model)
    with limited(timeout) as running:
        with share(0.5 if partial else 1.0):
            products = products_determine_functions(model.d)
            tangents = orbit_tangents(model)
        if not (partial or len(tangents) == orbit_count(model)):
            raise _late(tangents, model)
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
        raise ContradictionError(f"the degree is {seen.degree} by a linear section and {eliminated} by elimination")
    remarks = seen.remarks if eliminated is None else (*seen.remarks, BY_ELIMINATION)
    return replace(seen, remarks=remarks, engine_version=engine.version, seconds=running.seconds)


def _without_orbits(model: SingleLayerAttention, dimension: int, products: bool, limit: EngineError) -> Observations:
    """What linear algebra tells, where Macaulay2 did not come to the dense orbit."""
    check((), dimension, model)
    limit.progress = f"0 of {orbit_count(model)} orbits were done"
    return Observations(model, (), dimension, None, None, products, False, None, (), limit=limit)


def _late(seen: Sequence[Orbit] | Mapping[Orbit, OrbitTangents], model: SingleLayerAttention) -> EngineTimeoutError:
    limit = clock().late("the linear algebra at the orbits")
    limit.progress = f"{len(seen)} of {orbit_count(model)} orbits were done"
    return limit


def deduce(
    model: SingleLayerAttention,
    found: Fibres,
    tangents: Mapping[Orbit, OrbitTangents] | None = None,
    *,
    degree: bool = True,
) -> Observations:
    """All that follows from these fibres, by exact methods that need no engine; the lemma is that of :func:`observe`.

    Parameters
    ----------
    tangents : mapping, optional
        What :func:`m2bridge.families.attention.orbit_tangents.orbit_tangents` says, perhaps of some of the orbits only.

    Raises
    ------
    ContradictionError
        If independent methods disagree.
    """
    known = orbit_tangents(model) if tangents is None else tangents
    dimension = known[generic_orbit(model)].dimension
    seen = [orbit for orbit in orbits(model) if orbit in found.at and orbit in known]
    facts = tuple(_facts(orbit, model, found, dimension, known[orbit]) for orbit in seen)
    check(facts, dimension, model)
    limit = found.limit or (_late(seen, model) if len(seen) < orbit_count(model) else None)
    upper = any(tangent.upper is not None for tangent in known.values())
    generic = found.at[generic_orbit(model)]
    return Observations(
        model,
        facts,
        dimension,
        _degree(model, generic) if degree else None,
        found.base_locus_empty,
        products_determine_functions(model.d),
        found.boundary_family,
        generic,
        _remarks(AGREEMENTS[: 1 if generic.length > 1 else 3 if upper else 2], limit),
        limit=limit,
    )


def _degree(model: SingleLayerAttention, generic: Fibre) -> int | None:
    """The points of a linear section in the weights, divided by those over one point of the closure."""
    points = section_points(model)
    if points is not None and points % generic.length:
        raise ContradictionError(f"a section of {points} points, with fibres of {generic.length}")
    return None if points is None else points // generic.length


def _remarks(agreements: tuple[str, ...], limit: EngineError | None) -> tuple[str, ...]:
    """What agreed, on all orbits or on those that were observed; without birationality fibres tell less."""
    if limit is None:
        return agreements
    return tuple(f"{agreement} ({limit.progress})" for agreement in agreements)


def _facts(
    orbit: Orbit,
    model: SingleLayerAttention,
    found: Fibres,
    dimension: int,
    tangent: OrbitTangents,
) -> OrbitFacts:
    fibre, preimages, critical = found.at[orbit], fibre_points(orbit, model), tangent.critical
    if critical == fibre.reduced or len(preimages) != fibre.points:
        raise ContradictionError(
            f"at orbit {orbit} the fibre is {fibre}, but the rank of the differential is "
            f"{'' if critical else 'not '}too small, and {len(preimages)} points solve the equations"
        )
    smooth = source_is_smooth(orbit, model)
    if found.at[generic_orbit(model)].length == 1:
        singular = _singular_by_fibre(fibre, smooth, tangent.lower > dimension)
    else:
        singular = singular_by_bounds(tangent.lower, tangent.upper, dimension)
    return OrbitFacts(
        orbit,
        tangent.dimension,
        fibre,
        preimages,
        smooth,
        singular,
        not fibre.reduced,
        not fibre.reduced,
        tangent.lower,
        tangent.witness,
        tangent.upper,
    )


def source_is_smooth(orbit: Orbit, model: SingleLayerAttention) -> bool:
    """Whether D_α is smooth at rank r: matrices of rank α are one orbit, and below all derivatives of minors vanish."""
    return model.alpha in (model.d, orbit.r)


def _singular_by_fibre(fibre: Fibre, source_smooth: bool, many_tangents: bool) -> bool | None:
    """The lemma; where it would need that the source is singular, tangent vectors have to say so."""
    if fibre.length > 1:
        return True
    return False if source_smooth else many_tangents or None


def check(facts: tuple[OrbitFacts, ...], dimension: int, model: SingleLayerAttention) -> None:
    """Hold the verdict of the fibres on each orbit against the tangent vectors and the equations.

    Raises
    ------
    ContradictionError
        If an orbit is smooth by its fibre but has too many tangent vectors, or singular but smooth by equations; if a
        singular orbit's closure has smooth points; if the generic orbit does not have the dimension of the source.
    """
    if dimension != source_tangent_dimension(generic_orbit(model), model) - 1:
        raise ContradictionError(f"the largest orbit has dimension {dimension}, not that of the source less one")
    singular = [fact.orbit for fact in facts if fact.singular]
    for fact in facts:
        evidence = f"at orbit {fact.orbit} of {model}: {fact}; dimension {dimension}"
        if fact.singular is False and fact.tangent_lower > dimension:
            raise ContradictionError(f"smooth by its fibre, singular by tangent vectors {evidence}")
        if fact.tangent_upper is not None and (fact.tangent_upper == dimension) and fact.singular:
            raise ContradictionError(f"singular by its fibre, smooth by equations {evidence}")
        if fact.tangent_upper is not None and fact.tangent_upper < fact.tangent_lower:
            raise ContradictionError(f"more tangent vectors than the equations allow {evidence}")
        if fact.singular is False and any(fact.orbit.in_closure_of(orbit) for orbit in singular):
            raise ContradictionError(f"smooth, but in the closure of a singular orbit {evidence}")


def _degree_by_elimination(model: SingleLayerAttention, engine: Engine) -> int | None:
    """In small cases, where the limit allows it."""
    if model.coordinate_count("reduced") > ELIMINATED:
        return None
    two_tokens = SingleLayerAttention(model.d, model.d_out, model.a)
    try:
        return closure(two_tokens, engine, strategy="elimination").degree
    except (EngineTimeoutError, EngineMemoryError):
        return None

"""For each observable: how its value is read from the observations, what was computed for it, and what is trusted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from m2bridge.computations.observation import Observations, OrbitFacts
from m2bridge.model.orbit import generic_orbit
from m2bridge.theorems import GlobalStatement, Statement

NORMAL = "determinantal varieties are normal (Bruns, Vetter, Determinantal Rings, Theorem 2.11 and section 6)"
LEMMA = (
    "for f finite and birational from a normal source, f(q) is smooth exactly when its fibre is one reduced point and "
    "q is smooth (Zariski's main theorem; docs/mathematics.md)"
)
ORBITS = "orbits are classified by (rk A, rk V, dim of the intersection) (docs/mathematics.md)"
COMPACT = "a projective morphism of real varieties has compact image"
LOCAL = (
    "near a function with real weights whose fibre is reduced and has at most two points all real points of the "
    "closure have real weights (docs/mathematics.md)"
)
ZERO = "zero is a singular point of a cone that is not a linear space, and a limit of multiples (docs/mathematics.md)"
REDUCED = "for t ≥ 2 functions are determined by their reduced coordinates, linearly (docs/mathematics.md)"
PROJECTION = "projection formula for forms of bidegree (1, 1), and Giambelli's degree of determinantal varieties"

FIBRES = "fibre schemes at one point of {orbits}, over QQ (Macaulay2)"
BASE_LOCUS = "the base locus is empty (Macaulay2)"
GENERIC = "the fibre over the dense orbit (Macaulay2)"


@dataclass(frozen=True, slots=True)
class OrbitEvidence:
    """An observable of orbits; ``{orbits}`` in ``computed`` stands for the orbits that were observed."""

    value: Callable[[OrbitFacts], bool | int | None]
    computed: tuple[str, ...]
    trusted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GlobalEvidence:
    """An observable of the whole neuromanifold; its value is ``None`` where it takes orbits that are missing."""

    value: Callable[[Observations], bool | int | None]
    computed: tuple[str, ...]
    trusted: tuple[str, ...]


ORBIT_EVIDENCE: dict[str, OrbitEvidence] = {
    "singular": OrbitEvidence(
        lambda fact: fact.singular,
        (FIBRES, BASE_LOCUS, GENERIC, "tangent vectors at {orbits}, and proved equations where they are cheap (FLINT)"),
        (LEMMA, NORMAL, ORBITS, ZERO),
    ),
    "critical": OrbitEvidence(
        lambda fact: fact.critical, (FIBRES, "rank of the differential at {orbits}, compared (FLINT)"), (ORBITS,)
    ),
    "boundary": OrbitEvidence(
        lambda fact: fact.boundary,
        (FIBRES, "the family k = v + iεw: real, without real weights, tending to the orbit (Macaulay2)"),
        (LOCAL, ORBITS, ZERO),
    ),
    "fibre_points": OrbitEvidence(
        lambda fact: fact.fibre.points,
        (FIBRES, "the exchanged weights give the same function (exact evaluation)"),
        (ORBITS,),
    ),
}

GLOBAL_EVIDENCE: dict[str, GlobalEvidence] = {
    "closed": GlobalEvidence(lambda seen: seen.closed or None, (BASE_LOCUS,), (COMPACT,)),
    "dimension": GlobalEvidence(
        lambda seen: seen.dimension,
        ("dimension of the dense orbit, as the rank of its tangent map (FLINT)",),
        (ORBITS,),
    ),
    "birational": GlobalEvidence(
        lambda seen: seen.generic_fibre.length == 1, (GENERIC, BASE_LOCUS), ("the dense orbit is dense",)
    ),
    "special_fibre_points": GlobalEvidence(
        lambda seen: None if seen.missing else special_fibre_points(seen), (FIBRES,), (ORBITS,)
    ),
    "degree": GlobalEvidence(
        lambda seen: seen.degree,
        ("the closed formula with the length of the generic fibre", GENERIC, BASE_LOCUS),
        (PROJECTION,),
    ),
}


def special_fibre_points(seen: Observations) -> int:
    """The largest number of points of a fibre, those over the dense orbit left out; 1 if there are no other orbits."""
    dense = generic_orbit(seen.model)
    return max((fact.fibre.points for fact in seen.orbits if fact.orbit != dense), default=1)


def evidence_of(statement: Statement) -> OrbitEvidence | GlobalEvidence:
    """The evidence for the observable of a statement."""
    if isinstance(statement, GlobalStatement):
        return GLOBAL_EVIDENCE[statement.observable]
    return ORBIT_EVIDENCE[statement.observable]

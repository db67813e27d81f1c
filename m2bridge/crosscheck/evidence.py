"""For each observable: how its value is read from the observations, what was computed for it, and what is trusted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from m2bridge.families.attention.observation import Observations, OrbitFacts
from m2bridge.families.attention.statements import GlobalStatement, Statement
from m2bridge.families.attention.statements.statement import Value

LEMMA = (
    "for f finite and birational, f(q) is smooth when its fibre is one reduced point and the source is smooth at q; it "
    "is singular when its fibre is not one reduced point (Zariski's main theorem; docs/mathematics.md)"
)
DETERMINANTAL = (
    "D_α is singular exactly at rank below α, where its Zariski tangent space is that of all matrices "
    "(Harris, Algebraic Geometry: A First Course, Example 14.16)"
)
ORBITS = "orbits are classified by (rk A, rk V, dim of the intersection) (docs/mathematics.md)"
CLOSURES = "closures of orbits are described by rank conditions (Abeasis, Del Fra, J. Algebra 93, 1985)"
COMPACT = "a projective morphism of real varieties has compact image"
LOCAL = (
    "near a function with real weights whose fibre is reduced and has at most two points all real points of the "
    "closure have real weights (docs/mathematics.md)"
)
ZERO = "zero is a singular point of a cone that is not a linear space, and a limit of multiples (docs/mathematics.md)"
CONE = "a cone that is a C¹ manifold near zero is a linear space (docs/mathematics.md)"
REDUCED = "for t ≥ 2 functions are determined by their reduced coordinates, linearly (docs/mathematics.md)"
SECTION = (
    "divisors of given degrees on a product of projective spaces meet in the same number of points, counted by length, "
    "in every characteristic; for hyperplanes pulled back by a map it is the degree of the image times that of the map "
    "(projection formula; docs/mathematics.md, Degrees)"
)

FIBRES = "fibre schemes at one point of {orbits}, over QQ (Macaulay2)"
BASE_LOCUS = "the base locus is empty (Macaulay2)"
GENERIC = "the fibre over the dense orbit (Macaulay2)"
POINTS = "the points of the fibres over {orbits}, by solving quadratic equations over QQ"
DIFFERENTIAL = "rank of the differential at {orbits} (FLINT)"
FAMILY = "the family k = v + iεw: real, without real weights, tending to the orbit (Macaulay2)"
DIMENSION = "dimension of the dense orbit, as the rank of its tangent map (FLINT)"


@dataclass(frozen=True, slots=True)
class OrbitEvidence:
    """An observable of orbits; ``{orbits}`` in ``computed`` stands for the orbits that were observed."""

    value: Callable[[OrbitFacts], Value | None]
    computed: tuple[str, ...]
    trusted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GlobalEvidence:
    """An observable of the whole neuromanifold; its value is ``None`` where it takes orbits that are missing."""

    value: Callable[[Observations], bool | int | None]
    computed: tuple[str, ...]
    trusted: tuple[str, ...]


def special_fibre_points(seen: Observations) -> int:
    """The largest number of points of a fibre that has not the number of the generic one; 0 if there are none."""
    counts = {fact.fibre.points for fact in seen.orbits}
    return max(counts - {seen.generic_fibre.points}, default=0)


def is_linear(seen: Observations) -> bool | None:
    """Whether the neuromanifold, which spans the space of its independent reduced coordinates, is all of it."""
    if seen.dimension < seen.model.coordinate_count("reduced"):
        return False
    return True if seen.model.d == 1 else None


ORBIT_EVIDENCE: dict[str, OrbitEvidence] = {
    "singular": OrbitEvidence(
        lambda fact: fact.singular,
        (
            FIBRES,
            BASE_LOCUS,
            GENERIC,
            DIMENSION,
            "tangent vectors at {orbits}, more than the dimension where the fibre is one reduced point and the source "
            "singular; and proved equations where they are cheap (FLINT)",
        ),
        (REDUCED, ORBITS, CLOSURES, LEMMA, DETERMINANTAL, ZERO),
    ),
    "critical": OrbitEvidence(
        lambda fact: fact.critical, (DIFFERENTIAL, f"{FIBRES}, compared"), (REDUCED, ORBITS, DETERMINANTAL)
    ),
    "boundary": OrbitEvidence(lambda fact: fact.boundary, (FIBRES, FAMILY), (REDUCED, ORBITS, LOCAL, ZERO)),
    "boundary_critical": OrbitEvidence(
        lambda fact: fact.boundary == fact.critical,
        (FIBRES, FAMILY, DIFFERENTIAL),
        (REDUCED, ORBITS, LOCAL, DETERMINANTAL),
    ),
    "fibre_points": OrbitEvidence(lambda fact: fact.fibre.points, (FIBRES,), (REDUCED, ORBITS)),
    "fibre": OrbitEvidence(lambda fact: fact.preimages, (POINTS, f"{FIBRES}, compared"), (REDUCED, ORBITS)),
}

GLOBAL_EVIDENCE: dict[str, GlobalEvidence] = {
    "closed": GlobalEvidence(lambda seen: seen.closed or None, (BASE_LOCUS,), (REDUCED, COMPACT)),
    "zero_fibre": GlobalEvidence(lambda seen: seen.closed, (BASE_LOCUS,), (REDUCED,)),
    "products": GlobalEvidence(
        lambda seen: seen.products, ("ranks of the coefficients of an output token and of the products (FLINT)",), ()
    ),
    "dimension": GlobalEvidence(lambda seen: seen.dimension, (DIMENSION,), (REDUCED, ORBITS)),
    "birational": GlobalEvidence(
        lambda seen: None if seen.generic is None else seen.generic.length == 1,
        (GENERIC, BASE_LOCUS, DIMENSION),
        (REDUCED, ORBITS),
    ),
    "special_fibre_points": GlobalEvidence(
        lambda seen: None if seen.missing else special_fibre_points(seen), (FIBRES,), (REDUCED, ORBITS)
    ),
    "degree": GlobalEvidence(
        lambda seen: seen.degree,
        ("points of a linear section, with multiplicities, modulo 2^31 − 1 (FLINT)", GENERIC, BASE_LOCUS, DIMENSION),
        (REDUCED, ORBITS, SECTION),
    ),
    "smooth_manifold": GlobalEvidence(
        is_linear, (DIMENSION, "the number of independent coordinates"), (REDUCED, ORBITS, CONE)
    ),
}


def evidence_of(statement: Statement) -> OrbitEvidence | GlobalEvidence:
    """The evidence for the observable of a statement."""
    if isinstance(statement, GlobalStatement):
        return GLOBAL_EVIDENCE[statement.observable]
    return ORBIT_EVIDENCE[statement.observable]

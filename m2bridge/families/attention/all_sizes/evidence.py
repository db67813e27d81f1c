"""For each observable of all sizes: what was computed for it, and which lemmas are trusted."""

from __future__ import annotations

from dataclasses import dataclass

DOCS = "docs/all-sizes.md"
BEFORE = "docs/mathematics.md"

IDEALS = "Gröbner bases of {ideals} fibre ideals in at most three unknowns, over QQ (Macaulay2)"
PATTERNS = (
    "the patterns of entries of all representatives, with d, d', a, r, s, m and the indices as symbols: {patterns}, "
    "each that of one of these ideals (isl)"
)
SETS = "the sets of sizes and of orbits, as sets of integers defined by linear inequalities (isl)"
BASE_LOCUS = "the base locus is empty, in two indices (Macaulay2)"
FAMILY = "the family k = v + iεw: real, without real weights, tending to the orbit, in two indices (Macaulay2)"
EXCESS = "d² + d·d' − 1 exceeds the dimension by (d − α)², as polynomials (FLINT)"
CODIMENSION = "the stated number is compared with d² − (d − α)² + d·d' − 1, as polynomials (FLINT)"
COORDINATES = (
    "for d ≥ 2 there are more coordinates than the dimension, for d = 1 as many: polynomials with coefficients ≥ 0 in "
    "d − 2 and d' − 1 (FLINT)"
)
SHEETS = "the number of points of the generic fibre: 2 for a = d' = 1 < d, else 1"

PRODUCTS = "ranks of the coefficients of an output token and of the products for d = 1, 2, 3 (FLINT)"

FIBRES = (IDEALS, PATTERNS, SETS)

EQUATIONS = (
    "the equations of a fibre in some places, columns and rows depend on the entries there only, so they are those of "
    f"each base case with these entries ({DOCS})"
)
INDICES = (
    "coefficients that belong to different sets of three indices are forms in different entries, and the summands of "
    f"an output token have one other token each ({DOCS})"
)
REDUCED = f"for t ≥ 2 functions are determined by their reduced coordinates, linearly ({BEFORE})"
ORBITS = f"orbits are classified by (rk A, rk V, dim of the intersection) ({BEFORE})"
SMOOTH = (
    "for f finite and birational, f(q) is smooth when its fibre is one reduced point and the source is smooth at q; it "
    f"is singular when its fibre is not one reduced point (Zariski's main theorem; {BEFORE})"
)
RANK = "D_α is smooth at matrices of rank α, which are one orbit (Harris, Algebraic Geometry: A First Course, 14.16)"
CURVES = (
    "where the fibre is one reduced point and rk A < α < d, tangents of curves A + sB, rk B = 1, are tangent to the "
    f"closure, and all φ(A + sB, V + sW) span a space of dimension d² + d·d' − 1 ({DOCS})"
)
ZERO = f"zero is a singular point of a cone that is not a linear space, and a limit of multiples ({BEFORE})"
LOCAL = (
    "near a function with real weights whose fibre is reduced and has at most two points all real points of the "
    f"closure have real weights ({BEFORE})"
)
COMPACT = "a projective morphism of real varieties has compact image"
DETERMINANTAL = "D_α is irreducible of codimension (d − α)² (Harris, Algebraic Geometry: A First Course, 12.2)"
DENSE = "the orbit with the largest ranks in general position is dense"
PROJECTION = (
    "the degree of the image times the number of points of the generic fibre is C(δ_A + δ_V, δ_V)·deg P(D_α) "
    "(projection formula: Fulton, Intersection Theory, 2.3, 2.5), and the formula for deg P(D_α) (Giambelli; Harris, "
    "Algebraic Geometry: A First Course, 19.10)"
)
CONE = f"a cone that is a C¹ manifold near zero is a linear space, and the coordinates are independent ({DOCS})"
FINITE = "a map with finite fibres keeps the dimension"


@dataclass(frozen=True, slots=True)
class Evidence:
    """Words; ``{ideals}`` and ``{patterns}`` stand for their numbers."""

    computed: tuple[str, ...]
    trusted: tuple[str, ...]


_FIBRE = Evidence(FIBRES, (EQUATIONS, REDUCED, ORBITS))
_BASE_LOCUS = Evidence((BASE_LOCUS,), (REDUCED,))
_BOUNDARY = Evidence((*FIBRES, FAMILY), (EQUATIONS, REDUCED, ORBITS, LOCAL, ZERO))

EVIDENCE: dict[str, Evidence] = {
    "fibre_exchanged": _FIBRE,
    "fibre_itself": _FIBRE,
    "special_fibre_points": Evidence(FIBRES, (EQUATIONS, REDUCED, ORBITS, DENSE)),
    "critical": _FIBRE,
    "boundary": _BOUNDARY,
    "boundary_critical": _BOUNDARY,
    "singular": Evidence(
        (*FIBRES, BASE_LOCUS, EXCESS), (EQUATIONS, REDUCED, ORBITS, DENSE, SMOOTH, RANK, CURVES, DETERMINANTAL, ZERO)
    ),
    "closed": Evidence(_BASE_LOCUS.computed, (REDUCED, COMPACT)),
    "zero_fibre": _BASE_LOCUS,
    "products": Evidence((PRODUCTS,), (INDICES,)),
    "birational": Evidence((*FIBRES, BASE_LOCUS), (EQUATIONS, REDUCED, ORBITS, DENSE)),
    "dimension": Evidence((*FIBRES, CODIMENSION), (EQUATIONS, REDUCED, ORBITS, FINITE, DETERMINANTAL)),
    "degree": Evidence((*FIBRES, BASE_LOCUS, SHEETS), (EQUATIONS, REDUCED, ORBITS, DENSE, PROJECTION)),
    "smooth_manifold": Evidence((*FIBRES, COORDINATES), (EQUATIONS, REDUCED, ORBITS, FINITE, DETERMINANTAL, CONE)),
}

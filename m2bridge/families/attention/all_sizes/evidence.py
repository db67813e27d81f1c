"""For each observable of all sizes: what was computed for it, and which lemmas are trusted."""

from __future__ import annotations

from dataclasses import dataclass

from m2bridge.families.attention.all_sizes.wording import WORDS

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


@dataclass(frozen=True, slots=True)
class Evidence:
    """Words, the lemmas by ``words.toml``; ``{ideals}`` and ``{patterns}`` stand for their numbers."""

    computed: tuple[str, ...]
    trusted: tuple[str, ...]


COMPUTED: dict[str, tuple[str, ...]] = {
    "fibre_exchanged": FIBRES,
    "fibre_itself": FIBRES,
    "special_fibre_points": FIBRES,
    "critical": FIBRES,
    "boundary": (*FIBRES, FAMILY),
    "boundary_critical": (*FIBRES, FAMILY),
    "singular": (*FIBRES, BASE_LOCUS, EXCESS),
    "closed": (BASE_LOCUS,),
    "zero_fibre": (BASE_LOCUS,),
    "products": (PRODUCTS,),
    "birational": (*FIBRES, BASE_LOCUS),
    "dimension": (*FIBRES, CODIMENSION),
    "degree": (*FIBRES, BASE_LOCUS, SHEETS),
    "smooth_manifold": (*FIBRES, COORDINATES),
}

EVIDENCE = {observable: Evidence(computed, WORDS.trusted[observable]) for observable, computed in COMPUTED.items()}

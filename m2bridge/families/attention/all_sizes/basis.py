"""The computed part of the theorems for all sizes, whoever computed it."""

from __future__ import annotations

from dataclasses import dataclass

from m2bridge.families.attention.all_sizes.fibre_theorem import BaseIdeals


@dataclass(frozen=True, slots=True)
class Basis:
    """The computed part of the theorems for all sizes.

    Parameters
    ----------
    ideals : mapping from BaseCase to its Gröbner basis
    base_locus_empty : bool
        Whether φ(A, V) = 0 only for A = 0 or V = 0; two indices occur, so this is so for every d.
    boundary_family : bool
        Whether the functions of k = e_1 + iεe_2, v = k̄ are real, have no real weights for ε ≠ 0, and tend to the
        representative of (1, 1, 1) for ε → 0; the equation that shows it belongs to the places 1 and 2 of every d ≥ 2.
    """

    ideals: BaseIdeals
    base_locus_empty: bool
    boundary_family: bool

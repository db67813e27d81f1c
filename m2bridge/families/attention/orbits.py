"""Orbits of GL_d × GL_d × GL_d' on the neuromanifold, t ≥ 2.

Acting on the forms l_i (columns of A) and v_k (rows of V) by y ↦ g y, and mixing the l_i among themselves and the v_k
among themselves, moves a point of the neuromanifold along its orbit. A point is thus a pair of subspaces
L = span(l_i), U = span(v_k) of the space of linear forms up to GL_d, and is classified by (dim L, dim U, dim L ∩ U).
This is not in the paper; it is proved in the documentation of m2bridge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from m2bridge.clock import watched
from m2bridge.errors import TooLargeError
from m2bridge.families.attention.model import SingleLayerAttention

IntegerMatrix = tuple[tuple[int, ...], ...]
WeightPair = tuple[IntegerMatrix, IntegerMatrix]
"""The matrices A and V."""

MOST_PAIRS = 40_000
MOST_ENTRIES = 1_000_000
"""Pairs of ranks (r, s), and entries of one matrix, that can be listed in seconds."""


@dataclass(frozen=True, slots=True, order=True)
class Orbit:
    """The orbit of functions with rk A = r, rk V = s and dim(col A ∩ row V) = m; r, s ≥ 1.

    The zero function is an orbit of its own, kept apart because every cone contains it.

    Examples
    --------
    >>> Orbit(1, 1, 0).in_closure_of(Orbit(2, 1, 1))
    True
    """

    HEADER: ClassVar[tuple[str, ...]] = ("rk A", "rk V", "dim L∩U")
    LEGEND: ClassVar[str] = "Orbits (L = column space of A, U = row space of V)"

    r: int
    s: int
    m: int

    @property
    def cells(self) -> tuple[int, ...]:
        """Under the header of a table."""
        return self.r, self.s, self.m

    def to_json(self) -> dict[str, int]:
        """The three numbers, for ``json.dumps``."""
        return {"r": self.r, "s": self.s, "m": self.m}

    def __str__(self) -> str:
        return f"({self.r}, {self.s}, {self.m})"

    def in_closure_of(self, other: Orbit) -> bool:
        """Whether this orbit lies in the Zariski closure of the other.

        Orbits of pairs (A, V) are those of representations of the quiver • → • ← • of type A₃, where rank conditions
        on A, V and (A | Vᵀ) describe the closures. Source: Abeasis, Del Fra, *Degenerations for the representations
        of a quiver of type A_m*, J. Algebra 93 (1985). The parametrization is finite, so it carries closures to
        closures.
        """
        return self.r <= other.r and self.s <= other.s and self.span <= other.span

    @property
    def span(self) -> int:
        """dim(L + U) = r + s − m."""
        return self.r + self.s - self.m


def orbits(model: SingleLayerAttention) -> tuple[Orbit, ...]:
    """All orbits of nonzero functions of the model, in increasing order of (r, s, m).

    Raises
    ------
    TooLargeError
        If there are too many of them, or their matrices are too large, to be looked at one by one.
    """
    _check_size(model)
    return tuple(
        Orbit(r, s, m)
        for r in range(1, model.alpha + 1)
        for s in range(1, min(model.d, model.d_out) + 1)
        for m in range(max(0, r + s - model.d), min(r, s) + 1)
    )


def orbit_count(model: SingleLayerAttention) -> int:
    """Number of orbits; raises as :func:`orbits`."""
    _check_size(model)
    ranks = ((r, s) for r in range(1, model.alpha + 1) for s in range(1, min(model.d, model.d_out) + 1))
    return sum(min(r, s) - max(0, r + s - model.d) + 1 for r, s in ranks)


def _check_size(model: SingleLayerAttention) -> None:
    pairs, entries = model.alpha * min(model.d, model.d_out), model.d * max(model.d, model.d_out)
    if pairs > MOST_PAIRS or entries > MOST_ENTRIES:
        numbers = f"{pairs} pairs of ranks, and matrices with {entries} entries"
        raise TooLargeError(f"this case has {numbers}: too many to look at each of its orbits; take smaller numbers")


def generic_orbit(model: SingleLayerAttention) -> Orbit:
    """The dense orbit: A and V of the largest rank, in general position."""
    r, s = model.alpha, min(model.d, model.d_out)
    return Orbit(r, s, max(0, r + s - model.d))


def dense_first(model: SingleLayerAttention) -> tuple[Orbit, ...]:
    """All orbits, the dense one first: its fibre decides what those over the others mean."""
    dense = generic_orbit(model)
    return (dense, *(orbit for orbit in orbits(model) if orbit != dense))


def maximal_orbits(some: tuple[Orbit, ...]) -> tuple[Orbit, ...]:
    """Those orbits whose closures are the irreducible components of the union of all closures."""
    return tuple(o for o in watched(some) if not any(o != other and o.in_closure_of(other) for other in some))


def representative(orbit: Orbit, model: SingleLayerAttention) -> tuple[IntegerMatrix, IntegerMatrix]:
    """Weights (A, V) of a function in the orbit, with A_11 = V_11 = 1.

    A = Σ_{p ≤ r} e_p e_pᵀ. Row k of V is e_k for k ≤ m and e_{r+k−m} for m < k ≤ s; for m = 0 its first row is
    e_{r+1} + e_1.

    Returns
    -------
    A : d×d matrix of int
    V : d'×d matrix of int
    """
    d = model.d

    def unit(*positions: int) -> tuple[int, ...]:
        return tuple(int(j in positions) for j in range(d))

    A = tuple(unit(p) if p < orbit.r else unit() for p in range(d))
    rows = [unit(k) if k < orbit.m else unit(orbit.r + k - orbit.m) for k in range(orbit.s)]
    if orbit.m == 0:
        rows[0] = unit(orbit.r, 0)
    V = tuple(rows) + (unit(),) * (model.d_out - orbit.s)
    return A, V


def flatten(A: IntegerMatrix, V: IntegerMatrix) -> tuple[int, ...]:
    """The point of the attention parametrization with these weights (variables A_1_1, …, A_d_d, V_1_1, …, V_d'_d)."""
    return tuple(entry for row in A + V for entry in row)

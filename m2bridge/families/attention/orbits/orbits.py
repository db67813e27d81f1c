"""Orbits of GL_d × GL_d × GL_d' on the neuromanifold, t ≥ 2.

Acting on the forms l_i and v_k by y ↦ g y, and mixing the l_i among themselves and the v_k among
themselves, moves a function along its orbit. A function is thus a pair of subspaces L = span(l_i)
and U = span(v_k) up to GL_d, and is classified by (dim L, dim U, dim L ∩ U). This is not in the
paper; it is proved in docs/mathematics.md. (Notation: the docstring of families/attention.)

The program treats orbits one by one, so a case with too many, or with too large matrices, is a
TooLargeError. A component of the singular locus has the degree None where no formula gives it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import comb
from typing import ClassVar

from m2bridge.algebra.determinantal import (
    determinantal_degree,
    determinantal_dimension,
    matrices_of_rank,
)
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.errors import TooLargeError
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.limits import check_deadline_in
from m2bridge.maps.locus import ZERO, Component, LocusFindings, OrbitStatus
from m2bridge.results.sheet import plural
from m2bridge.statements.statement import IntegerMatrix

WeightPair = tuple[IntegerMatrix, IntegerMatrix]
"""The matrices A and V."""

MAX_ORBITS = 20_000
"""The largest number of orbits of a case; more would take Macaulay2 weeks."""


@dataclass(frozen=True, slots=True, order=True)
class Orbit:
    """The orbit of functions with rk A = r, rk V = s and dim(col A ∩ row V) = m; r, s ≥ 1.

    The zero function is an orbit of its own, treated separately because every cone contains it.

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
        """The numbers (r, s, m), for a row of a table."""
        return self.r, self.s, self.m

    def to_json(self) -> dict[str, int]:
        """Return the numbers r, s and m, for ``json.dumps``."""
        return {"r": self.r, "s": self.s, "m": self.m}

    def __str__(self) -> str:
        return f"({self.r}, {self.s}, {self.m})"

    def in_closure_of(self, other: Orbit) -> bool:
        """Return whether this orbit lies in the Zariski closure of ``other``, or is the same.

        Orbits of pairs (A, V) are orbits of representations of the quiver • → • ← • of type A_3,
        where rank conditions on A, V and (A | Vᵀ) describe the closures (Abeasis, Del Fra,
        *Degenerations for the representations of a quiver of type A_m*, J. Algebra 93 (1985)). The
        parametrization is finite, so it carries closures to closures.
        """
        return self.r <= other.r and self.s <= other.s and self.span <= other.span

    @property
    def span(self) -> int:
        """The dimension of L + U, r + s − m."""
        return self.r + self.s - self.m


def orbits(shape: LayerSizes) -> tuple[Orbit, ...]:
    """Return all orbits of nonzero functions, in increasing order of (r, s, m).

    Raises
    ------
    TooLargeError
        If there are too many orbits, or their matrices are too large, to be treated one by one.
    """
    # the count raises the error for cases that are too large
    orbit_count(shape)
    listed: list[Orbit] = []
    for r, s in _rank_pairs(shape):
        listed.extend(Orbit(r, s, m) for m in _intersection_dimensions(r, s, shape.d))
    return tuple(listed)


def _rank_pairs(shape: LayerSizes) -> Iterator[tuple[int, int]]:
    """Return an iterator of the pairs (rk A, rk V), both at least 1."""
    return product(range(1, shape.alpha + 1), range(1, min(shape.d, shape.d_out) + 1))


def _intersection_dimensions(r: int, s: int, d: int) -> range:
    """Return the dimensions that L ∩ U can have, for dim L = r, dim U = s in dimension d."""
    # dim(L + U) = r + s − dim(L ∩ U) is at most d
    return range(max(0, r + s - d), min(r, s) + 1)


def orbit_count(shape: LayerSizes) -> int:
    """Return the number of orbits of nonzero functions; TooLargeError for too many."""
    # Each pair of ranks (rk A, rk V) has at least one orbit, so there are at least as many orbits
    # as pairs. If even this is too large, the sum over all pairs is not computed.
    pairs = shape.alpha * min(shape.d, shape.d_out)
    count = pairs
    if pairs <= MAX_ORBITS:
        count = sum(len(_intersection_dimensions(r, s, shape.d)) for r, s in _rank_pairs(shape))
    largest_entries = shape.d * max(shape.d, shape.d_out)
    # larger matrices A or V do not fit into usual memory
    if count > MAX_ORBITS or largest_entries > 1_000_000:
        numbers = f"at least {count} orbits, of matrices with {largest_entries} entries"
        raise TooLargeError(
            f"this case has {numbers}: too many to look at each of them; take smaller numbers"
        )
    return count


def generic_orbit(shape: LayerSizes) -> Orbit:
    """Return the dense orbit: A and V of the largest ranks, L and U in general position."""
    r = shape.alpha
    s = min(shape.d, shape.d_out)
    smallest_intersection = min(_intersection_dimensions(r, s, shape.d))
    return Orbit(r, s, smallest_intersection)


def dense_first(shape: LayerSizes) -> tuple[Orbit, ...]:
    """Return all orbits, beginning with the dense one, since its fibre is the generic one."""
    dense = generic_orbit(shape)
    return (dense, *(orbit for orbit in orbits(shape) if orbit != dense))


def maximal_orbits(candidates: tuple[Orbit, ...]) -> tuple[Orbit, ...]:
    """Return the candidates in the closure of no other one: components of the union of closures."""
    return tuple(
        orbit
        for orbit in check_deadline_in(candidates)
        if not any(orbit != other and orbit.in_closure_of(other) for other in candidates)
    )


def representative(orbit: Orbit, shape: LayerSizes) -> WeightPair:
    """Return weights (A, V) of a function in the orbit, with A_11 = V_11 = 1.

    A = Σ_{p ≤ r} e_p e_pᵀ. Row k of V is e_k for k ≤ m, e_{r+k−m} for m < k ≤ s, and 0 for k > s;
    but for m = 0 the first row is e_{r+1} + e_1.
    """
    d = shape.d
    # L is spanned by the first r unit vectors, of which U has the first m
    rows_of_A = [_sum_of_unit_vectors(d, p) for p in range(orbit.r)]
    rows_of_V = [_sum_of_unit_vectors(d, k) for k in range(orbit.m)]
    rows_of_V += [_sum_of_unit_vectors(d, orbit.r + k) for k in range(orbit.s - orbit.m)]
    if orbit.m == 0:
        # e_{r+1} + e_1 gives V_11 = 1, and is not in L either, so that dim L ∩ U = 0 is kept
        rows_of_V[0] = _sum_of_unit_vectors(d, orbit.r, 0)
    zero_row = [(0,) * d]
    A = tuple(rows_of_A + zero_row * (d - orbit.r))
    V = tuple(rows_of_V + zero_row * (shape.d_out - orbit.s))
    return A, V


def _sum_of_unit_vectors(d: int, *positions: int) -> tuple[int, ...]:
    """Return the sum of the unit vectors of length d with these positions, which begin with 0."""
    vector = [0] * d
    for position in positions:
        vector[position] = 1
    return tuple(vector)


def flatten(A: IntegerMatrix, V: IntegerMatrix) -> tuple[int, ...]:
    """Return weights as a point of the parametrization: A_1_1, …, A_d_d, then V_1_1, …, V_d'_d."""
    return tuple(entry for row in A + V for entry in row)


def orbit_findings(
    method: str,
    dimension: int,
    statuses: tuple[OrbitStatus, ...],
    shape: LayerSizes,
    *,
    field: CoefficientField = QQ,
    unfinished: str = "",
    uses_engine: bool = True,
) -> LocusFindings:
    """Return the findings of a method about orbits, with components of the singular locus.

    The components are the closures of the maximal singular orbits; the zero function alone if no
    orbit is singular; none if the closure is a linear space. They are not known (``None``) while an
    orbit is undecided or has no status, or after a limit, which ``unfinished`` names.
    """
    undecided = [f"the orbit {status.orbit}" for status in statuses if status.singular is None]
    without_status = orbit_count(shape) - len(statuses)
    if without_status:
        undecided.append(f"{plural(without_status, 'orbit')} that the time did not suffice for")
    if undecided and not unfinished:
        unfinished = f"undecided: {', '.join(undecided)}"
    components = None
    if not unfinished:
        components = _singular_components(dimension, statuses, shape, field)
    return LocusFindings(
        method=method,
        dimension=dimension,
        statuses=statuses,
        components=components,
        unfinished=unfinished,
        uses_engine=uses_engine,
    )


def _singular_components(
    dimension: int, statuses: tuple[OrbitStatus, ...], shape: LayerSizes, field: CoefficientField
) -> tuple[Component, ...]:
    """Return the components of the singular locus, once all orbits are decided."""
    singular_dimensions = {status.orbit: status.dimension for status in statuses if status.singular}
    # without a singular orbit only the zero function can be a singular point
    if not singular_dimensions:
        # a cone is smooth at its apex only if it is a linear space
        if dimension == shape.independent_count:
            return ()
        # the zero function: no orbit, dimension 0, degree 1
        return (Component(description=ZERO, orbit=None, dimension=0, degree=1),)
    components = []
    for orbit in maximal_orbits(tuple(singular_dimensions)):
        degree = None
        if field == QQ:
            # the formula divides by the number of preimages in characteristic 0
            degree = orbit_closure_degree(orbit, shape)
        component = Component(
            description=f"closure of the orbit {orbit}",
            orbit=orbit,
            dimension=singular_dimensions[orbit],
            degree=degree,
        )
        components.append(component)
    # by decreasing dimension, and by name where dimensions are equal
    components.sort(key=lambda component: (-component.dimension, component.description))
    return tuple(components)


def orbit_closure_degree(orbit: Orbit, shape: LayerSizes) -> int | None:
    """Return the degree of the projective closure of the orbit by a closed formula, or ``None``.

    Where m is as small as r and s allow, the closure is the image of P(rk A ≤ r) × P(rk V ≤ s) by
    forms of bidegree (1, 1); the map is one-to-one on the orbit, or two-to-one on (1, 1, 0), by
    Theorem 3.2. Other closures are no such images. Degrees of both factors: Harris, *Algebraic
    Geometry*, Example 19.10.
    """
    d = shape.d
    if orbit.m != min(_intersection_dimensions(orbit.r, orbit.s, d)):
        return None
    # projective dimensions and degrees of both varieties of matrices
    dimension_a = matrices_of_rank(d, orbit.r) - 1
    dimension_v = determinantal_dimension(shape.d_out, d, orbit.s) - 1
    degree_a = determinantal_degree(d, d, orbit.r)
    degree_v = determinantal_degree(shape.d_out, d, orbit.s)
    degree = comb(dimension_a + dimension_v, dimension_v) * degree_a * degree_v
    if orbit == Orbit(1, 1, 0):
        # two-to-one: l and v can be exchanged
        return degree // 2
    return degree

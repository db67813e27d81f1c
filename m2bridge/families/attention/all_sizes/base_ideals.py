"""The computed part of the theorems for all sizes, and its consequences for each observable.

Macaulay2 computes the ideals of thirteen base cases and two identities, and counts the polar
degrees of a few sizes (:class:`ComputedCases`). With the theorem about fibres they give the sets of
sizes and orbits where something is true (:class:`SizeOrbitSets`, docs/all-sizes.md). What
statements say of these sets stands in ``predictions.py``, and nothing of it here.

A size is (d, d', a), where d' is ``dp`` in conditions. An orbit (r, s, m) of functions has
r = rk A ≤ α = min(a, d), s = rk V, and m the dimension of the intersection of the column space of A
and the row space of V. The fibre over a function has as points its weights (A, V) up to
(λA, V/λ). The map is the one from all (A, V), the source, to functions; the closure is its image.
Sets of sizes and of orbits are sets of the library isl.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, starmap
from typing import Any, NamedTuple

import islpy as isl

from m2bridge.convert.answers import Answer, answer_to
from m2bridge.engine.script import Script, render
from m2bridge.errors import ContradictionError, ParseError
from m2bridge.families.attention.all_sizes import integer_sets
from m2bridge.families.attention.all_sizes.fibre_theorem import (
    BASE_CASES,
    BaseCase,
    BaseIdeals,
    Stratum,
)
from m2bridge.families.attention.orbits.fibres import nonzero_part, products_determine_functions
from m2bridge.families.attention.orbits.orbits import Orbit
from m2bridge.families.attention.polar.chern_integrals import localized_polar_degrees
from m2bridge.families.attention.polar.theorem import MAX_COUNTED_OUTPUTS, count_polar_degrees
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.ideals.program import ReducedGroebnerBasis as GroebnerBasis, small_basis
from m2bridge.statements.statement import Numbers, NumbersByMethod


@dataclass(frozen=True, slots=True)
class ComputedCases:
    """The computed part of the theorems for all sizes; polar degrees where points were counted."""

    ideals: BaseIdeals
    # The function of (A, V) is zero only for A = 0 or V = 0: two indices occur, so for every d.
    base_locus_empty: bool
    # The functions of k = e_1 + iεe_2, v = k̄ are real, have no real weights for ε ≠ 0, and tend to
    # the representative of (1, 1, 1). The equation that shows it belongs to the places 1 and 2 of
    # every d ≥ 2.
    boundary_family: bool
    polar_degrees: Mapping[LayerSizes, Numbers] = field(default_factory=dict)


def base_ideals(*, polar: bool = False) -> ComputedCases:
    """Compute the thirteen ideals and the two identities, in one run of Macaulay2, and with
    ``polar`` the polar degrees of the sizes :data:`COUNTED`; EngineError if Macaulay2 failed.
    """
    answer = answer_to(base_ideals_script())
    has_no_real_weights = answer.boolean("family_without_real_points")
    tends_to_orbit = answer.boolean("family_tends_to_the_orbit")
    counted_sizes = COUNTED if polar else ()
    return ComputedCases(
        ideals={base: _basis(answer, base) for base in BASE_CASES},
        base_locus_empty=answer.boolean("base_locus_empty"),
        boundary_family=has_no_real_weights and tends_to_orbit,
        polar_degrees={shape: count_polar_degrees(shape) for shape in counted_sizes},
    )


# The sizes whose polar degrees are counted; larger a have the same.
COUNTED = tuple(
    LayerSizes(2, d_out, a) for d_out in range(1, MAX_COUNTED_OUTPUTS + 1) for a in (1, 2)
)


@cache
def base_ideals_script() -> Script:
    """The Macaulay2 program that computes the fibre ideals of the base cases, and three booleans,
    decided for d = 2, as their equations involve two indices only.
    """
    cases = []
    for base in BASE_CASES:
        # columns of A and rows of V that are not zero, as texts in the language of Macaulay2
        nonzero_a, nonzero_v = nonzero_part(base.orbit, base.model)
        cases.append((base, nonzero_a, nonzero_v, ", ".join(_unknown_names(base))))
    values = {
        # of the base locus and the family
        "d": 2,
        # The (p, q) for which l v ≠ 0 is checked, where the coefficients of y_p in l and of y_q
        # in v are 1. Up to the names of the variables these are all pairs.
        "charts": "{(1,1), (1,2)}",
        # of the fibre over a function of the family: z_q is the entry V_1q of the weights
        "unknowns": "z_2",
        # Forms of the family are diagonal matrices, with zeros after the first two entries.
        # For d = 2 there are no others.
        "zeros": "{}",
        # the function to which the family tends
        "boundary": nonzero_part(BOUNDARY.orbit, BOUNDARY.model),
        "cases": cases,
    }
    return render("all_sizes", libraries=("wire", "fibres"), values=values)


# The base case to whose orbit the family of boundary points tends.
BOUNDARY = BaseCase(Orbit(1, 1, 1), 2)


def _unknown_names(base: BaseCase) -> tuple[str, ...]:
    """The names z_2, …, z_d of the unknowns of the fibre ideal: z_q stands for V_1q."""
    return tuple(f"z_{q}" for q in range(2, base.d + 1))


def _basis(answer: Answer, base: BaseCase) -> GroebnerBasis:
    """The Gröbner basis that Macaulay2 found for a base case; ParseError for other unknowns."""
    ideal = answer.ideal(str(base))
    if ideal.ring.variables != _unknown_names(base):
        raise ParseError(
            f"the ideal of {base} is in other unknowns: {', '.join(ideal.ring.variables)}"
        )
    # ``None`` stands for ideals that are large or without unknowns: here there are one to three
    basis = small_basis(ideal)
    assert basis is not None, "small ideals over QQ, in one to three unknowns"
    return basis


# The dense orbit: A and V of the largest rank, in general position.
GENERIC = (
    "((a <= d and r = a) or (d <= a and r = d)) and ((dp <= d and s = dp) or (d <= dp and s = d))"
    " and ((r + s <= d and m = 0) or (r + s >= d and m = r + s - d))"
)

# Below the largest rank of A the determinantal variety is singular, unless it is the space of all
# matrices.
SOURCE_SINGULAR = "r < a and a < d"

ALL = integer_sets.sizes()
NONE = integer_sets.sizes("1 = 0")
EVERY_ORBIT = integer_sets.orbits()

# A number as a function of d, d', α and the degree D of the source; for integers, or for
# polynomials.
SizeFormula = Callable[[Any, Any, Any, Any], Any]


@dataclass(frozen=True, slots=True)
class SizeOrbitSets:
    """The orbits whose fibre is one reduced point, two, or one point that is not reduced."""

    one_point: isl.Set
    two_points: isl.Set
    critical: isl.Set
    basis: ComputedCases

    @classmethod
    def of(cls, strata: Sequence[Stratum], basis: ComputedCases) -> SizeOrbitSets:
        """The sets from the fibres over the strata, of lengths "1", "2" or "d"; ContradictionError
        if the three kinds of fibres are not all orbits, each once.
        """
        one_reduced_point = _orbits_with_length("1", strata)
        two_points = _orbits_with_length("2", strata)
        # a fibre of length d is one point, which is reduced for d = 1 only
        reduced_for_d_1 = _orbits_with_length("d", strata, "d = 1")
        one_point = one_reduced_point.union(reduced_for_d_1)
        critical = _orbits_with_length("d", strata, "d >= 2")
        kinds = [one_point, two_points, critical]
        disjoint = all(a.intersect(b).is_empty() for a, b in combinations(kinds, 2))
        if not disjoint or not integer_sets.union(kinds).is_equal(EVERY_ORBIT):
            raise ContradictionError(
                "the cases of the theorem about fibres are not all orbits, each once"
            )
        return cls(one_point=one_point, two_points=two_points, critical=critical, basis=basis)

    @property
    def birational_sizes(self) -> isl.Set:
        """The sizes whose generic fibre is one reduced point."""
        return integer_sets.sizes_with_orbits(
            integer_sets.orbits(GENERIC).intersect(self.one_point)
        )

    @property
    def two_to_one_sizes(self) -> isl.Set:
        """The sizes whose generic fibre is two points."""
        return integer_sets.sizes_with_orbits(
            integer_sets.orbits(GENERIC).intersect(self.two_points)
        )

    @property
    def symmetric_sizes(self) -> isl.Set:
        """The sizes a = d' = 1 < d: functions are q ⊗ c with c symmetric, of rank at most two."""
        # for d = 1 the fibre is one point, so that the two-to-one sizes among these have d > 1
        return integer_sets.sizes("a = 1 and dp = 1").intersect(self.two_to_one_sizes)

    @property
    def singular_orbits(self) -> isl.Set:
        """The orbits of singular points of the closure, as far as they are known.

        Where the map is birational a point is smooth exactly if its fibre is one reduced point and
        the source is smooth there (docs/mathematics.md#theorem-smooth). For symmetric matrices the
        singular points are the matrices of rank one, if there are tangents that show it.
        """
        not_one_point = EVERY_ORBIT.subtract(self.one_point)
        # the source is singular at rk A < a < d
        singular_if_birational = not_one_point.union(integer_sets.orbits(SOURCE_SINGULAR))
        over_birational = singular_if_birational.intersect(
            integer_sets.orbits_over(self.birational_sizes)
        )
        squares = integer_sets.orbits("r = 1 and s = 1 and m = 1")
        with_more_tangents = self.symmetric_sizes.intersect(integer_sets.more_tangents_at_squares())
        over_symmetric = squares.intersect(integer_sets.orbits_over(with_more_tangents))
        return over_birational.union(over_symmetric)

    @property
    def sizes_with_small_kernels(self) -> isl.Set:
        """The birational sizes with small kernels at all orbits, zero or of smaller dimension than
        the codimension: the hypothesis of theorem-polar.

        Codimension less kernel is at least (α − r)² where the fibre is reduced, and there the
        kernel is zero for r = α. On (1, 1, 1) it is (α − 1)² + (d − 1)(d' − 1)
        (``integer_sets.codimensions_exceed_kernels``).
        """
        # the orbit (1, 1, 1), where the difference is positive: α ≥ 2, or d, d' ≥ 2
        small = "r = 1 and s = 1 and m = 1 and ((a >= 2 and d >= 2) or (d >= 2 and dp >= 2))"
        # fibres over all orbits that are not critical are reduced, so that kernels there are small
        large_kernels = self.critical.subtract(integer_sets.orbits(small))
        return self.birational_sizes.subtract(integer_sets.sizes_with_orbits(large_kernels))

    @property
    def orbits_with_special_fibres(self) -> isl.Set:
        """The orbits whose fibre has more points than the generic one, of one point or two."""
        one_point_reduced_or_not = self.one_point.union(self.critical)
        at_most_two = one_point_reduced_or_not.union(self.two_points)
        more_than_one = EVERY_ORBIT.subtract(one_point_reduced_or_not)
        more_than_two = EVERY_ORBIT.subtract(at_most_two)
        over_birational = integer_sets.orbits_over(self.birational_sizes)
        over_two_to_one = integer_sets.orbits_over(self.two_to_one_sizes)
        return more_than_one.intersect(over_birational).union(
            more_than_two.intersect(over_two_to_one)
        )


def _orbits_with_length(
    length: str, strata: Sequence[Stratum], condition: str = "1 = 1"
) -> isl.Set:
    """The orbits in the strata with fibres of length "1", "2" or "d", and with a condition."""
    with_length = [stratum for stratum in strata if stratum.length == length]
    conditions = [f"({stratum.orbits}) and {condition}" for stratum in with_length]
    # without a stratum of this length: no orbit
    return integer_sets.orbits(" or ".join(conditions) or "1 = 0")


@dataclass(frozen=True, slots=True)
class ObservedSizes:
    """The orbits among ``about``, or the sizes, for which something is true, as far as
    ``known`` has the size.
    """

    true: isl.Set
    known: isl.Set = ALL
    about: isl.Set = EVERY_ORBIT

    @property
    def is_about_sizes(self) -> bool:
        """Whether the observable is a property of sizes, and not of orbits."""
        # points of a set of sizes have three coordinates, points of a set of orbits six
        return bool(self.true.n_dim() == ALL.n_dim())


# The d for which functions and products are compared: a term has three indices, so that these
# decide for all d. See :mod:`m2bridge.families.attention.orbits.fibres`.
DIMENSIONS_OF_PRODUCTS = (1, 2, 3)


def _all_sizes_if(is_known: bool) -> isl.Set:
    """All sizes if a fact that does not depend on the size is known, else none."""
    return ALL if is_known else NONE


# {observable: where it is true}, first for observables of orbits, then of sizes.
OBSERVABLES: dict[str, Callable[[SizeOrbitSets], ObservedSizes]] = {
    # on (1, 1, 1) the exchanged weights are the weights themselves
    "fibre_exchanged": lambda facts: ObservedSizes(
        facts.two_points.union(integer_sets.orbits("r = 1 and s = 1 and m = 1"))
    ),
    "fibre_itself": lambda facts: ObservedSizes(facts.one_point.union(facts.critical)),
    "singular": lambda facts: ObservedSizes(
        facts.singular_orbits,
        facts.birational_sizes.union(facts.symmetric_sizes).intersect(
            _all_sizes_if(facts.basis.base_locus_empty and integer_sets.tangents_exceed_dimension())
        ),
    ),
    "critical": lambda facts: ObservedSizes(facts.critical),
    "boundary": lambda facts: ObservedSizes(
        facts.critical, _all_sizes_if(facts.basis.boundary_family)
    ),
    # whether an orbit is on the boundary exactly if it is critical: everywhere, as ``boundary`` is
    # the set ``critical`` where it is known
    "boundary_critical": lambda facts: ObservedSizes(
        EVERY_ORBIT, _all_sizes_if(facts.basis.boundary_family)
    ),
    "special_fibre_points": lambda facts: ObservedSizes(
        facts.two_points, about=facts.orbits_with_special_fibres
    ),
    "closed": lambda facts: ObservedSizes(ALL, _all_sizes_if(facts.basis.base_locus_empty)),
    "zero_fibre": lambda facts: ObservedSizes(ALL, _all_sizes_if(facts.basis.base_locus_empty)),
    "products": lambda facts: ObservedSizes(
        _all_sizes_if(all(map(products_determine_functions, DIMENSIONS_OF_PRODUCTS)))
    ),
    # the map is a morphism where the base locus is empty: the generic fibre is then all preimages
    "birational": lambda facts: ObservedSizes(
        facts.birational_sizes, _all_sizes_if(facts.basis.base_locus_empty)
    ),
    # a cone is a manifold at zero only if it is a linear space, here the space of all coordinates
    "smooth_manifold": lambda facts: ObservedSizes(
        integer_sets.sizes("d = 1"), _all_sizes_if(integer_sets.ambient_exceeds_dimension())
    ),
}


def sizes_with_polar_theorem(facts: SizeOrbitSets) -> isl.Set:
    """The sizes for which polar degrees are the integrals of one of two theorems: a birational map
    and small kernels (docs/polar-degrees.md#theorem-polar), or functions of symmetric matrices
    (#theorem-polar-symmetric).
    """
    is_verified = facts.basis.base_locus_empty and integer_sets.codimensions_exceed_kernels()
    return facts.sizes_with_small_kernels.union(facts.symmetric_sizes).intersect(
        _all_sizes_if(is_verified)
    )


# The sizes whose polar degrees are compared with the stated ones: a few hundredths of a second.
SMALL_SIZES = (
    *((2, 1, 1), (2, 1, 2), (2, 2, 1), (2, 2, 2)),
    *((3, 1, 1), (3, 1, 2), (3, 2, 1), (3, 2, 2), (4, 2, 2)),
)
COMPARED = tuple(starmap(LayerSizes, SMALL_SIZES))


class ComparedPolarDegrees(NamedTuple):
    """The polar degrees of one size, found independently of the statements, and all sizes with the
    same functions: for α = d those with any a ≥ d.
    """

    same_functions: isl.Set
    shape: LayerSizes
    polar_degrees: NumbersByMethod


def compared_polar_degrees(facts: SizeOrbitSets) -> list[ComparedPolarDegrees]:
    """The polar degrees of each size of :data:`COMPARED`; ``facts`` has the counted ones."""
    compared = []
    for shape in COMPARED:
        integrals = localized_polar_degrees(shape)
        assert integrals is not None, "None is returned for large cases only"
        by_method = [("integrals", integrals)]
        if shape in facts.basis.polar_degrees:
            by_method.append(("slices", facts.basis.polar_degrees[shape]))
        of_a = f"a = {shape.alpha}"
        if shape.alpha == shape.d:  # a larger a is the same model
            of_a = f"a >= {shape.d}"
        same_functions = integer_sets.sizes(f"d = {shape.d} and dp = {shape.d_out} and {of_a}")
        polar_degrees = NumbersByMethod(tuple(by_method))
        compared.append(ComparedPolarDegrees(same_functions, shape, polar_degrees))
    return compared


# {number that is observed: pairs of a set of sizes and its value there, as a function}; the degree
# of the closure is the degree of the source, D, divided by the number of points of the generic
# fibre
FORMULAS: dict[str, Callable[[SizeOrbitSets], tuple[tuple[isl.Set, SizeFormula], ...]]] = {
    "dimension": lambda facts: (
        (ALL, lambda d, dp, alpha, D: integer_sets.source_dimension(d, dp, alpha) - 1),
    ),
    "degree": lambda facts: (
        (
            facts.birational_sizes.intersect(_all_sizes_if(facts.basis.base_locus_empty)),
            lambda d, dp, alpha, D: D,
        ),
        (
            facts.two_to_one_sizes.intersect(_all_sizes_if(facts.basis.base_locus_empty)),
            lambda d, dp, alpha, D: D / 2,
        ),
    ),
}

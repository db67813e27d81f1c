"""What several tests of the theorems for all sizes share."""

from __future__ import annotations

from functools import cache

import islpy as isl

from m2bridge.crosscheck.verdict import Verdict
from m2bridge.families.attention.all_sizes.base_ideals import COUNTED, ComputedCases, SizeOrbitSets
from m2bridge.families.attention.all_sizes.family import decide, is_stated
from m2bridge.families.attention.all_sizes.fibre_theorem import fibre_theorem
from m2bridge.families.attention.all_sizes.predictions import PREDICTIONS
from m2bridge.families.attention.checker.case import Case
from m2bridge.families.attention.checker.slices import count_polar_degrees
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits.orbits import Orbit
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.statements.statement import Numbers
from tests.exact_ideals import exact_ideals


def models(largest: int) -> list[SingleLayerAttention]:
    """All sizes up to d = d' = largest, a one larger."""
    sizes = range(1, largest + 1)
    return [
        SingleLayerAttention(d, dp, a) for d in sizes for dp in sizes for a in range(1, largest + 2)
    ]


def points(some: isl.Set, largest: int) -> set[tuple[int, ...]]:
    """The points with d, d' ≤ largest and a ≤ largest + 1."""
    bounded = some
    for place, bound in enumerate((largest, largest, largest + 1)):
        bounded = bounded.upper_bound_val(isl.dim_type.set, place, isl.Val(bound))
    found: list[isl.Point] = []
    bounded.foreach_point(found.append)
    places = range(some.n_dim())
    return {
        tuple(p.get_coordinate_val(isl.dim_type.set, i).to_python() for i in places) for p in found
    }


def point(model: SingleLayerAttention, orbit: Orbit | None = None) -> tuple[int, ...]:
    """A size, or an orbit over it, as a point of the sets."""
    return (model.d, model.d_out, model.a, *(orbit.cells if orbit else ()))


@cache
def basis() -> ComputedCases:
    """The ideals by linear algebra; the two identities are tested elsewhere."""
    return ComputedCases(
        exact_ideals(), base_locus_empty=True, boundary_family=True, polar_degrees=counted()
    )


def counted() -> dict[LayerSizes, Numbers]:
    """The polar degrees by the checker's linear algebra; those of maker and checker are compared
    elsewhere.
    """
    found = {}
    for shape in COUNTED:
        numbers = count_polar_degrees(Case(shape.d, shape.d_out, shape.a, shape.t))
        assert numbers is not None
        found[shape] = Numbers(tuple(numbers))
    return found


@cache
def facts() -> SizeOrbitSets:
    """What follows from them."""
    return SizeOrbitSets.of(fibre_theorem(basis().ideals), basis())


@cache
def verdicts() -> dict[str, Verdict]:
    """All verdicts, by name."""
    _, found, _ = decide(
        basis(), [(s, PREDICTIONS[s.key, s.part]) for s in filter(is_stated, REGISTRY)]
    )
    return {verdict.name: verdict for verdict in found}

"""What is true of which orbits, or sizes: what follows from fibres and identities."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import islpy as isl

from m2bridge.checker.algebra import ring
from m2bridge.errors import ContradictionError
from m2bridge.families.attention.all_sizes.checker.fibres import IS_ORBIT, fibres, orbits, sizes
from m2bridge.families.attention.checker.observations import identities

ALL, NONE, EVERY_ORBIT = sizes(), sizes("1 = 0"), orbits()


@dataclass(frozen=True, slots=True)
class Seen:
    """Of which orbits, or sizes, something is true; for which sizes that is known; of which orbits it can be true."""

    true: isl.Set
    known: isl.Set = ALL
    about: isl.Set = EVERY_ORBIT


@cache
def seen() -> Mapping[str, Seen]:
    """By observables; for ``degree``, where it is that of the source, and else half of it."""
    _check_identities()
    _, one, two, many = fibres()
    birational, double = some(generic().intersect(one)), some(generic().intersect(two))
    special = two.intersect(over(birational)).union(one.union(many).intersect(over(double)))
    return {
        "fibre_exchanged": Seen(two.union(orbits("r = 1 and s = 1 and m = 1"))),
        "fibre_itself": Seen(one.union(many)),
        "special_fibre_points": Seen(two, about=special),
        **dict.fromkeys(("critical", "boundary"), Seen(many)),
        "boundary_critical": Seen(EVERY_ORBIT),
        "singular": Seen(EVERY_ORBIT.subtract(one).union(orbits("r < a < d")), birational),
        "birational": Seen(birational),
        "degree": Seen(birational, birational.union(double)),
        "smooth_manifold": Seen(sizes("d = 1")),
        **dict.fromkeys(("zero_fibre", "closed", "products", "dimension"), Seen(ALL)),
    }


def generic() -> isl.Set:
    """The dense orbits: no orbit of the same size has a larger r, s or r + s − m."""
    other = IS_ORBIT.translate(str.maketrans("rsm", "RSM"))
    larger = orbits(f"{other} and (R > r or S > s or R + S - M > r + s - m)", ", R, S, M")
    return EVERY_ORBIT.subtract(larger.project_out(isl.dim_type.set, 6, 3))


def some(orbit_set: isl.Set) -> isl.Set:
    """The sizes with an orbit in the set."""
    return orbit_set.project_out(isl.dim_type.set, 3, 3)


def over(size_set: isl.Set) -> isl.Set:
    """All orbits of these sizes."""
    return size_set.insert_dims(isl.dim_type.set, 3, 3).intersect(EVERY_ORBIT)


def _check_identities() -> None:
    """Those of functions; and of numbers, with α = a: d² − (d − α)² + d·d' − 1 is the dimension."""
    d, dp, a = ring(3).gens()
    dimension = d**2 - (d - a) ** 2 + d * dp - 1
    formula = dimension == a * (2 * d - a) + d * dp - 1
    tangents = d**2 + d * dp - 1 - dimension == (d - a) ** 2  # what they span at rk A < α < d has more dimensions
    more = _more_coordinates(d + 2, dp + 1)  # for d ≥ 2 no coefficient is negative, and the constant is positive
    ambient = all(c > 0 for c in more.coeffs()) and more(0, 0, 0) > 0 and _more_coordinates(0 * d + 1, dp) == 0
    if not (all(identities()) and formula and tangents and ambient):
        raise ContradictionError("an identity behind the theorems for all sizes does not hold")


def _more_coordinates(d: Any, dp: Any) -> Any:
    """Twice what there are more coordinates than the dimension, for α = d, the largest one."""
    return dp * d**2 * (d + 1) - 2 * (d**2 + d * dp - 1)

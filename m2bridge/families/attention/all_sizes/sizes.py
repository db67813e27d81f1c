"""Exact sets of sizes (d, d', a), and of orbits (r, s, m) over them, by the integer set library.

Conditions are text in the library's language (Presburger arithmetic): comparisons of linear forms with integer
coefficients, ``and``, ``or``, ``not``; ``dp`` stands for d'.

Source: Verdoolaege, *isl: An Integer Set Library for the Polyhedral Model*, ICMS 2010; decidability is Presburger's
theorem.
"""

from __future__ import annotations

from functools import reduce

import islpy as isl

SIZE = "d, dp, a"
POSITIVE = "1 <= d and 1 <= dp and 1 <= a"
ORBIT = f"{SIZE}, r, s, m"
IS_ORBIT = (
    f"{POSITIVE} and 1 <= r and r <= a and r <= d and 1 <= s and s <= d and s <= dp"
    " and 0 <= m and m <= r and m <= s and r + s - d <= m"
)
"""Which triples (r, s, m) are orbits of the model (d, d', a); see :mod:`m2bridge.families.attention.orbits`."""


def sizes(condition: str = "") -> isl.Set:
    """The sizes that satisfy a condition."""
    return isl.Set(text_of(condition))


def text_of(condition: str = "") -> str:
    """The sizes that satisfy a condition, as text in the library's language."""
    return _text(SIZE, POSITIVE, condition)


def orbits(condition: str = "") -> isl.Set:
    """The pairs of a size and one of its orbits that satisfy a condition."""
    return isl.Set(_text(ORBIT, IS_ORBIT, condition))


def _text(names: str, always: str, condition: str) -> str:
    return f"{{ [{names}] : {always}{f' and ({condition})' if condition else ''} }}"


def with_some(orbit_set: isl.Set) -> isl.Set:
    """The sizes over which the set has an orbit."""
    return orbit_set.project_out(isl.dim_type.set, 3, 3)


def over(size_set: isl.Set) -> isl.Set:
    """All orbits of these sizes."""
    return size_set.insert_dims(isl.dim_type.set, 3, 3).intersect(orbits())


def union(sets: list[isl.Set]) -> isl.Set:
    """All of them together."""
    return reduce(lambda first, second: first.union(second), sets)


def text(some: isl.Set) -> str:
    """The set in the library's language, which it reads again."""
    return str(some.coalesce())


def contains(some: isl.Set, point: tuple[int, ...]) -> bool:
    """Whether the set has this point."""
    constraints = " and ".join(f"x{i} = {value}" for i, value in enumerate(point))
    names = ", ".join(f"x{i}" for i in range(len(point)))
    return not some.intersect(isl.Set(f"{{ [{names}] : {constraints} }}")).is_empty()


def first_point(some: isl.Set) -> tuple[int, ...]:
    """The lexicographically first point of a set that is not empty."""
    point = some.lexmin().sample_point()
    return tuple(int(str(point.get_coordinate_val(isl.dim_type.set, i))) for i in range(some.n_dim()))

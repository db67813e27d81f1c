"""The fibre ideals of the base cases, by FLINT, from the coordinates of functions."""

from collections.abc import Iterable
from functools import cache, reduce
from itertools import combinations, pairwise, permutations
from typing import Any

import islpy as isl

from m2bridge.checker.algebra import groebner_basis, ring
from m2bridge.errors import ContradictionError
from m2bridge.families.attention.checker.case import Case, Orbit, function, representative
from m2bridge.families.attention.checker.observations import fibre, weights

Base = tuple[Orbit, int]  # an orbit, and d; d' = s and a = r
Basis = list[list[list[Any]]]  # polynomials as terms: exponents and coefficient, in decreasing order

POINT, TWO_POINTS, SQUARES = "z = V_1", "z_2² − z_2 and the other unknowns", "all monomials of degree 2"
_SIZES = {(1, 1, 0): (2, 3, 4), (1, 1, 1): (2, 3), (1, 2, 0): (3, 4), (1, 2, 1): (2, 3)}
_SIZES |= {(2, 1, 0): (3, 4), (2, 1, 1): (2, 3)}
BASES: tuple[Base, ...] = tuple((orbit, d) for orbit, sizes in _SIZES.items() for d in sizes)


def label(base: Base) -> str:
    """Such as ``(1, 1, 0) at d = 3``."""
    return f"{base[0]} at d = {base[1]}"


def evidence() -> list[dict[str, Any]]:
    """All of them."""
    return [dict(zip("rsm", orbit, strict=True)) | {"d": d, "groebner_basis": ideal((orbit, d))} for orbit, d in BASES]


@cache
def ideal(base: Base) -> Basis:
    """All (A', V') with A'_11 = V'_11 = 1, V'_1 = (1, z_2, …, z_d), and the function of the representative."""
    orbit, d = base
    context, c = ring(d - 1), function(representative(orbit))
    new = function(weights(c, (1, *context.gens()), Case(d, orbit[1], orbit[0], 2)))
    return _reduced((new.get(at, 0) - c.get(at, 0) for at in new.keys() | c.keys()), context)


def is_ideal(base: Base, kind: str) -> bool:
    """Whether the ideal of a base case is the one of this kind."""
    orbit, d = base
    context, V = ring(d - 1), representative(orbit)[1]
    z = context.gens()
    generators = {
        POINT: [z[q - 1] - V.get((0, q), 0) for q in range(1, d)],
        TWO_POINTS: [z[0] ** 2 - z[0], *z[1:]],
        SQUARES: [x * y for x in z for y in z],
    }
    return ideal(base) == _reduced(generators[kind], context)


def _reduced(polynomials: Iterable[Any], context: Any) -> Basis:
    """The reduced Gröbner basis, coefficients coprime integers, the leading ones positive; it names the ideal."""
    basis = groebner_basis((context.constant(1) * f for f in polynomials), context).autoreduction(groebner=True)
    listed = [[(list(map(int, exponents)), int(c)) for exponents, c in f.terms()] for f in basis]
    listed.sort(key=lambda terms: (sum(terms[0][0]), [-e for e in reversed(terms[0][0])]), reverse=True)
    return [[[at, str(c if terms[0][1] > 0 else -c)] for at, c in terms] for terms in listed]


SIZE, ORBIT = "d, dp, a", "d, dp, a, r, s, m"
IS_SIZE = "1 <= d and 1 <= dp and 1 <= a"
IS_ORBIT = f"{IS_SIZE} and 1 <= r <= a and r <= d and 1 <= s <= dp and s <= d and 0 <= m <= r and m <= s <= d + m - r"

# Orbits, and the base cases that say what their fibres are, by the kinds of their ideals.
STRATA: dict[str, dict[Base, str]] = {
    "r >= 2": {((2, 1, 1), 2): POINT, ((2, 1, 1), 3): POINT, ((2, 1, 0), 3): POINT},
    "r = 1 and s >= 2": {((1, 2, 1), 2): POINT, ((1, 2, 1), 3): POINT, ((1, 2, 0), 3): POINT},
    "r = 1 and s = 1 and m = 1": {((1, 1, 1), 2): SQUARES, ((1, 1, 1), 3): SQUARES},
    "r = 1 and s = 1 and m = 0": {
        **dict.fromkeys([((1, 1, 0), 2), ((1, 1, 0), 3)], TWO_POINTS),
        **dict.fromkeys([((1, 1, 1), 2), ((1, 1, 1), 3)], SQUARES),
    },
}


def sizes(condition: str = "1 = 1") -> isl.Set:
    """The sizes with a property."""
    return isl.Set(f"{{ [{SIZE}] : {IS_SIZE} and ({condition}) }}")


def orbits(condition: str = "1 = 1", more: str = "") -> isl.Set:
    """The orbits of all sizes, perhaps with further numbers, with a property."""
    return isl.Set(f"{{ [{ORBIT}{more}] : {IS_ORBIT} and ({condition}) }}")


def entry(matrix: str, row: str, column: str) -> str:
    """When an entry of the representative of (r, s, m) is 1, with indices from 0."""
    if matrix == "A":
        return f"({row} = {column} and {row} < r)"
    further = f"m <= {row} and {row} < s and {column} = r + {row} - m"
    return f"(({row} < m and {column} = {row}) or ({further}) or (m = 0 and {row} = 0 and {column} = 0))"


@cache
def fibres() -> tuple[tuple[dict[str, Any], ...], isl.Set, isl.Set, isl.Set]:
    """The evidence about each stratum; orbits whose fibre is one reduced point, two, and one that is not reduced."""
    evidence = tuple(_stratum(condition, bases) for condition, bases in STRATA.items())
    first, second, alike, different = map(orbits, STRATA)
    one = first.union(second).union(alike.intersect(orbits("d = 1")))
    kinds = one, different, alike.intersect(orbits("d >= 2"))
    disjoint = all(x.intersect(y).is_empty() for x, y in combinations(kinds, 2))
    if not disjoint or not reduce(lambda x, y: x.union(y), kinds).is_equal(orbits()):
        raise ContradictionError("the cases of the theorem about fibres are not all orbits, each once")
    return evidence, *kinds


def _stratum(condition: str, bases: dict[Base, str]) -> dict[str, Any]:
    if wrong := [label(base) for base, kind in bases.items() if not is_ideal(base, kind)]:
        raise ContradictionError(f"the ideal of {wrong[0]} is not what the theorem about fibres needs")
    found = {base: _places(condition, base) for base in bases}
    every, kinds = [some for places in found.values() for some in places], set(bases.values())
    if kinds == {POINT}:  # each unknown is determined by one of the ideals
        _covered(
            orbits(f"{condition} and 0 < x < d", ", x"), [_kept(p, i) for p in every for i in range(p.n_dim() - 6)]
        )
    else:  # each equation belongs to one place or two besides the first
        _covered(orbits(f"{condition} and 0 < x < d", ", x"), [p for p in every if p.n_dim() == 7])
        _covered(orbits(f"{condition} and 0 < x < y < d", ", x, y"), [p for p in every if p.n_dim() == 8])
    if TWO_POINTS in kinds:  # there is a place with z² = z; with it the other unknowns are 0, and all else is implied
        _covered(orbits(condition), [p.project_out(isl.dim_type.set, 6, 1) for p in found[(1, 1, 0), 2]])
        _check_exchange()
    return {
        "orbits": condition,
        "length": "1" if kinds == {POINT} else "2" if TWO_POINTS in kinds else "d",
        "points": 2 if TWO_POINTS in kinds else 1,
        "patterns": len(every),
        "ideals": [label(base) for base in sorted(found) if found[base]],
    }


def _places(condition: str, base: Base) -> list[isl.Set]:
    """For each order of the places: orbits and increasing places 0 < x_1 < … with the entries of the base case."""
    (r, s, m), d = base
    A, V = representative((r, s, m))
    x = ["0", *(f"x{i}" for i in range(1, d))]
    increasing = " and ".join(f"{before} < {after}" for before, after in pairwise([*x, "d"]))
    found = set()
    for order in permutations(range(1, d)):
        bits = {entry("A", x[j], str(i)): A.get((p, i), 0) for j, p in enumerate((0, *order)) for i in range(r)}
        bits |= {entry("V", str(k), x[j]): V.get((k, p), 0) for j, p in enumerate((0, *order)) for k in range(s)}
        found.add(" and ".join(at if bit else f"not {at}" for at, bit in bits.items()))
    inside = f"{condition} and {r} <= r and {s} <= s and {increasing}"
    places = [orbits(f"{inside} and {entries}", "".join(f", {name}" for name in x[1:])) for entries in sorted(found)]
    return [some for some in places if not some.is_empty()]


def _kept(places: isl.Set, index: int) -> isl.Set:
    """The orbits together with one of the places."""
    last = places.project_out(isl.dim_type.set, 7 + index, places.n_dim() - 7 - index)
    return last.project_out(isl.dim_type.set, 6, index)


def _covered(every: isl.Set, parts: Iterable[isl.Set]) -> None:
    missing = reduce(lambda left, part: left.subtract(part), parts, every)
    if not missing.is_empty():
        raise ContradictionError(f"no base case is there for {missing}")


def _check_exchange() -> None:
    """The two points are the representative and the one with k and v exchanged: A = k qᵀ, V = h vᵀ."""
    A, V = representative((1, 1, 0))
    exchanged = {(q, 0): x for (_, q), x in V.items()}, {(0, p): x for (p, _), x in A.items()}
    length, points = fibre((1, 1, 0), Case(2, 1, 1, 2))
    if length != 2 or any(pair not in points for pair in ((A, V), exchanged)):
        raise ContradictionError("the fibre over (1, 1, 0) is not that of exchanged weights")

"""The fibres over all orbits of all sizes, from a few base cases; sets of sizes and of orbits.

Rests on: the equations of a fibre in some places depend on the entries there only; so the fibre
over an orbit (r, s, m) is one reduced point, two, or one of length d, for all sizes at once.
Proved in: docs/all-sizes.md (lemma-fibre-equations; theorem-fibres, "by computer").
Computed here: the fibre ideals of 13 base cases (FLINT); that the places where entries look like a
base case are enough of all places of all orbits (isl).
On trust: these two, the first on Gröbner bases over QQ, the second on Presburger arithmetic.

There is no list of selections of places, as the program that makes certificates has one.

Notation. d, d' (``dp`` in conditions), a, the weights (A, V), coordinates c_{k,i,p,q}, orbits
(r, s, m), representatives and fibres are as in case.py, and fibre ideals are found by ``ideal``.

* (A, V) is the representative, (A', V') another point of its fibre. z = (z_2, …, z_d), the first
  row of V' after its 1, are the unknowns of a fibre: all other weights follow from them.
* A place is an index q of the variables: a row of A and column of V. Place 1 has no unknown;
  "places" are all others, q ≥ 2, each with its unknown z_q. In conditions and code indices begin
  with 0, so these are x with 0 < x < d.
* A size is (d, d', a). A base case is an orbit at one small d, with a = r and d' = s. isl has sets
  of sizes, of orbits with their sizes, and of orbits together with places.
* A stratum is a set of orbits with fibres of one kind; a condition is text that isl reads.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise, permutations
from typing import Any

import islpy as isl

from m2bridge.checker.algebra import groebner_basis, ring
from m2bridge.errors import ContradictionError
from m2bridge.families.attention.checker import case as cases
from m2bridge.families.attention.checker.evidence import fibre, weights_with_first_row

Json = dict[str, Any]

# Fibre ideals of base cases, by FLINT.

BaseCase = tuple[cases.Orbit, int]  # an orbit (r, s, m), and d; there a = r and d' = s
# polynomials as terms, exponents and coefficient, in decreasing order
Basis = list[list[list[Any]]]

_SIZES = {
    (1, 1, 0): (2, 3, 4),
    (1, 1, 1): (2, 3),
    (1, 2, 0): (3, 4),
    (1, 2, 1): (2, 3),
    (2, 1, 0): (3, 4),
    (2, 1, 1): (2, 3),
}
BASE_CASES: list[BaseCase] = [(orbit, d) for orbit, sizes in _SIZES.items() for d in sizes]

# The three kinds of ideals of base cases, each named by its equations: of one point, where z is
# the first row of V; of two points; and of one point of length d.
POINT = "z = V_1"
TWO_POINTS = "z_2² − z_2 and the other unknowns"
SQUARES = "all monomials of degree 2"


def label(base: BaseCase) -> str:
    """The name of a base case, such as ``(1, 1, 0) at d = 3``."""
    orbit, d = base
    return f"{orbit} at d = {d}"


def evidence() -> list[Json]:
    """The fibre ideals of all base cases, as certificates have them: by reduced Gröbner bases."""
    entries = []
    for orbit, d in BASE_CASES:
        r, s, m = orbit
        entries.append({"r": r, "s": s, "m": m, "d": d, "groebner_basis": ideal((orbit, d))})
    return entries


@cache
def ideal(base: BaseCase) -> Basis:
    """The reduced Gröbner basis in z of the fibre over the representative (A, V) of a base case:
    the (A', V') with A'_11 = V'_11 = 1 and the same function.

    The rank of A' need not be limited: where column i of A is zero, l'_i v'_1 = l_i v_1 = 0 with
    v'_1 ≠ 0, so column i of A' is zero as well; so are rows of V'
    (docs/all-sizes.md#lemma-fibre-equations).
    """
    orbit, d = base
    r, s, _ = orbit
    context = ring(d - 1)
    c = cases.function(cases.representative(orbit))
    size = cases.Case(d=d, d_out=s, a=r, t=2)  # fibres are the same for all t ≥ 2
    # the only (A', V') with this first row of V' that can have the function c
    other_weights = weights_with_first_row(c, (1, *context.gens()), size)
    other_c = cases.function(other_weights)
    equations = []
    for index in other_c.keys() | c.keys():
        difference = other_c.get(index, 0) - c.get(index, 0)
        equations.append(difference)
    return _reduced_basis(equations, context)


def has_ideal_of_kind(base: BaseCase, kind: str) -> bool:
    """Whether the fibre ideal of a base case is of this kind: POINT, TWO_POINTS or SQUARES."""
    orbit, d = base
    context = ring(d - 1)
    z = context.gens()
    if kind == POINT:
        # matrices have only their nonzero entries, by (row, column) from 0 on; so the unknown of
        # column q of V is z[q − 1]
        _, V = cases.representative(orbit)
        generators = [z[q - 1] - V.get((0, q), 0) for q in range(1, d)]
    elif kind == TWO_POINTS:
        generators = [z[0] ** 2 - z[0], *z[1:]]
    else:  # SQUARES
        generators = [x * y for x in z for y in z]
    return ideal(base) == _reduced_basis(generators, context)


def _reduced_basis(polynomials: Iterable[Any], context: Any) -> Basis:
    """The reduced Gröbner basis of an ideal, the largest leading terms first, with coprime integers
    as coefficients, of which the leading one is positive.
    """
    # some of the polynomials may be numbers, as zero is
    generators = [context.constant(1) * f for f in polynomials]
    basis = groebner_basis(generators, context).autoreduction(groebner=True)
    listed = []
    for f in basis:
        if f.leading_coefficient() < 0:
            f = -f
        terms: list[list[Any]] = []
        for exponents, c in f.terms():
            terms.append([[int(e) for e in exponents], str(c)])
        listed.append(terms)

    def by_leading_term(terms: list[list[Any]]) -> tuple[int, list[int]]:
        """The key for the graded reverse lexicographic order of leading terms."""
        exponents, _ = terms[0]
        return sum(exponents), [-e for e in reversed(exponents)]

    return sorted(listed, key=by_leading_term, reverse=True)


# Sets of sizes (d, d', a) and of orbits (d, d', a, r, s, m), as isl has them.

SIZE = "d, dp, a"
ORBIT = "d, dp, a, r, s, m"
SIZE_LENGTH = 3
ORBIT_LENGTH = 6
IS_SIZE = "1 <= d and 1 <= dp and 1 <= a"


def is_orbit(r: str, s: str, m: str) -> str:
    """The condition that these names are an orbit (docs/mathematics.md#proposition-orbits)."""
    return (
        f"{IS_SIZE} and 1 <= {r} <= a and {r} <= d and 1 <= {s} <= dp and {s} <= d"
        f" and 0 <= {m} <= {r} and {m} <= {s} <= d + {m} - {r}"
    )


IS_ORBIT = is_orbit("r", "s", "m")
EVERY = "1 = 1"
SQUARE = "r = 1 and s = 1 and m = 1"


def sizes(condition: str = EVERY) -> isl.Set:
    """The sizes with a property, a condition on d, dp and a."""
    return isl.Set(f"{{ [{SIZE}] : {IS_SIZE} and ({condition}) }}")


def orbits(condition: str = EVERY, more: str = "") -> isl.Set:
    """The orbits of all sizes with a property; with ``more``, such as ", x, y", also more
    numbers.
    """
    return isl.Set(f"{{ [{ORBIT}{more}] : {IS_ORBIT} and ({condition}) }}")


def forget_numbers(some_set: isl.Set, first: int, count: int) -> isl.Set:
    """The projection of a set that forgets ``count`` of the numbers of each element."""
    return some_set.project_out(isl.dim_type.set, first, count)


def sizes_of(orbit_set: isl.Set) -> isl.Set:
    """The sizes with some orbit in a set of orbits: its projection."""
    return forget_numbers(orbit_set, SIZE_LENGTH, ORBIT_LENGTH - SIZE_LENGTH)


def orbits_over(size_set: isl.Set) -> isl.Set:
    """All orbits over these sizes."""
    more = ORBIT_LENGTH - SIZE_LENGTH
    return size_set.insert_dims(isl.dim_type.set, SIZE_LENGTH, more).intersect(EVERY_ORBIT)


ALL = sizes()
NONE = sizes("1 = 0")
EVERY_ORBIT = orbits()


# The fibres over all orbits.

# The strata, by conditions on orbits; of each the base cases that say what its fibres are, with the
# kinds of their ideals.
STRATA: dict[str, dict[BaseCase, str]] = {
    "r >= 2": {((2, 1, 1), 2): POINT, ((2, 1, 1), 3): POINT, ((2, 1, 0), 3): POINT},
    "r = 1 and s >= 2": {((1, 2, 1), 2): POINT, ((1, 2, 1), 3): POINT, ((1, 2, 0), 3): POINT},
    SQUARE: {((1, 1, 1), 2): SQUARES, ((1, 1, 1), 3): SQUARES},
    "r = 1 and s = 1 and m = 0": {
        ((1, 1, 0), 2): TWO_POINTS,
        ((1, 1, 0), 3): TWO_POINTS,
        ((1, 1, 1), 2): SQUARES,
        ((1, 1, 1), 3): SQUARES,
    },
}


@dataclass(frozen=True, kw_only=True)
class Fibres:
    """The entry of a certificate for each stratum; and the orbits whose fibre is one reduced point,
    two reduced points, and one point that is not reduced, of length d.
    """

    evidence: list[Json]
    one: isl.Set
    two: isl.Set
    many: isl.Set


@cache
def fibres() -> Fibres:
    """The fibres over all orbits, by the four strata of ``STRATA``, each proved by ``_stratum``;
    ContradictionError if something is not so (theorem-fibres in docs/all-sizes.md).
    """
    evidence = [_stratum(condition, bases) for condition, bases in STRATA.items()]
    # the sets of orbits of the four conditions, in the order of STRATA; k and v are ``alike``
    # for m = 1, and ``different`` for m = 0
    several_columns, several_rows, alike, different = [orbits(condition) for condition in STRATA]
    # for d = 1 there are no unknowns, so the fibre over (1, 1, 1) is one reduced point
    one = several_columns.union(several_rows).union(alike.intersect(orbits("d = 1")))
    many = alike.intersect(orbits("d >= 2"))
    kinds = (one, different, many)
    are_disjoint = all(x.intersect(y).is_empty() for x, y in combinations(kinds, 2))
    if not are_disjoint or not one.union(different).union(many).is_equal(orbits()):
        raise ContradictionError(
            "the cases of the theorem about fibres are not all orbits, each once"
        )
    return Fibres(evidence=evidence, one=one, two=different, many=many)


def _stratum(condition: str, bases: dict[BaseCase, str]) -> Json:
    """The fibre over the orbits of a stratum, as a certificate has it, from {base case: kind of
    ideal}.

    Where some places look like a base case, the fibre ideal contains the ideal of the base case, in
    the unknowns of these places. There are three kinds of strata:

    * All base cases have one point. If each place of each orbit is among places like one of them,
      the unknown of the place is determined, so the fibre is the representative, reduced.
    * Else r = s = 1. Each equation has the unknowns of two places at most, so the fibre ideal is
      the sum of the ideals of base cases at all single places and pairs of places. If these have
      all monomials of degree two, 1 and the d − 1 unknowns are left: the length is d.
    * If z² = z is in one of these ideals, there has to be a place with this equation in each orbit.
      Each other place makes a pair with this place, and the ideal of the pair says that the other
      unknown is zero. What the other pairs say follows, and there are two points.
    """
    for base, kind in bases.items():
        if not has_ideal_of_kind(base, kind):
            raise ContradictionError(
                f"the ideal of {label(base)} is not what the theorem about fibres needs"
            )
    # {base case: sets of orbits together with places that look like it}
    places_like = {base: _orbits_with_places_like(condition, base) for base in bases}
    like_any = [places for of_base in places_like.values() for places in of_base]
    kinds = set(bases.values())
    if kinds == {POINT}:
        # the first kind
        determined: list[isl.Set] = []  # the places in ``like_any``, one by one
        for places in like_any:
            indices = range(_place_count(places))
            determined.extend(_keep_one_place(places, index) for index in indices)
        _check_covered(orbits(f"{condition} and 0 < x < d", ", x"), determined)
        length, points = "1", 1
    elif TWO_POINTS not in kinds:
        # the second kind
        _check_places_and_pairs(condition, like_any)
        length, points = "d", 1
    else:
        # The third kind: ((1, 1, 0), 2) is the base case with z² = z at its only place.
        _check_places_and_pairs(condition, like_any)
        with_two_points = places_like[(1, 1, 0), 2]
        without_place = [forget_numbers(places, ORBIT_LENGTH, 1) for places in with_two_points]
        _check_covered(orbits(condition), without_place)
        _check_exchange()
        length, points = "2", 2
    return {
        "orbits": condition,
        "length": length,
        "points": points,
        "patterns": len(like_any),
        "ideals": [label(base) for base in sorted(places_like) if places_like[base]],
    }


def _check_places_and_pairs(condition: str, like_bases: Iterable[isl.Set]) -> None:
    """Raise ContradictionError unless all places and pairs of places look like a base case."""
    single_places = []
    pairs_of_places = []
    for places in like_bases:
        if _place_count(places) == 1:
            single_places.append(places)
        elif _place_count(places) == 2:
            pairs_of_places.append(places)
    _check_covered(orbits(f"{condition} and 0 < x < d", ", x"), single_places)
    _check_covered(orbits(f"{condition} and 0 < x < y < d", ", x, y"), pairs_of_places)


def _orbits_with_places_like(condition: str, base: BaseCase) -> list[isl.Set]:
    """The orbits with a property, together with places 0 < x_1 < … < d that look like a base case:
    a set for each order of the places that makes a difference.

    The equation of c_{k,i,p,q} depends only on entries at the places 1, p, q, in the columns 1, i
    of A and the rows 1, k of V. So where the entries at these places, in as many of the first
    columns of A and rows of V as the base case has, are the entries of the base case up to order,
    the fibre ideal contains its ideal (docs/all-sizes.md#theorem-fibres, by computer).
    """
    (r, s, _), d = base
    places = [f"x{j}" for j in range(1, d)]
    bounds = ["0", *places, "d"]
    increasing = " and ".join(f"{place} < {next_place}" for place, next_place in pairwise(bounds))
    # a condition for each order of the places of the base case, each condition once
    on_entries_of_orders = {
        _condition_on_entries(base, places, order) for order in permutations(range(1, d))
    }
    names_of_places = "".join(f", {place}" for place in places)
    sets = []
    for on_entries in sorted(on_entries_of_orders):
        looking_alike = orbits(
            f"{condition} and {r} <= r and {s} <= s and {increasing} and {on_entries}",
            names_of_places,
        )
        if not looking_alike.is_empty():
            sets.append(looking_alike)
    return sets


def _condition_on_entries(base: BaseCase, places: Iterable[str], order: Iterable[int]) -> str:
    """The condition for the entries at place 1 and some places to be the entries of a base case, in
    this order of its places.
    """
    (r, s, m), _ = base
    A, V = cases.representative((r, s, m))
    conditions = []
    # place 1 is 0 here
    for place, place_in_base in zip(("0", *places), (0, *order), strict=True):
        # A and V of the base case have only their nonzero entries
        for i in range(r):
            is_one = entry("A", place, str(i))
            conditions.append(is_one if A.get((place_in_base, i)) else f"not {is_one}")
        for k in range(s):
            is_one = entry("V", str(k), place)
            conditions.append(is_one if V.get((k, place_in_base)) else f"not {is_one}")
    return " and ".join(conditions)


def entry(matrix: str, row: str, column: str) -> str:
    """The condition for an entry of A or V, at the representative of (r, s, m), to be 1.

    With indices from 0 on, A = diag(1 … 1, 0 … 0) with r ones; row k of V is e_k for k < m, and
    e_{r + k − m} for m ≤ k < s; for m = 0 the first row is e_0 + e_r.
    """
    if matrix == "A":
        return f"({row} = {column} and {row} < r)"
    in_common_rows = f"{row} < m and {column} = {row}"
    in_further_rows = f"m <= {row} and {row} < s and {column} = r + {row} - m"
    added_to_first_row = f"m = 0 and {row} = 0 and {column} = 0"
    return f"(({in_common_rows}) or ({in_further_rows}) or ({added_to_first_row}))"


def _place_count(places: isl.Set) -> int:
    """The number of places, except place 1, that the elements of a set of orbits have."""
    return int(places.n_dim()) - ORBIT_LENGTH


def _keep_one_place(places: isl.Set, index: int) -> isl.Set:
    """The orbits together with one of their places, the place with this index from 0 on."""
    first_after = ORBIT_LENGTH + index + 1
    up_to_it = forget_numbers(places, first_after, places.n_dim() - first_after)
    return forget_numbers(up_to_it, ORBIT_LENGTH, index)


def _check_covered(whole: isl.Set, covering: Iterable[isl.Set]) -> None:
    """Raise ContradictionError unless the sets ``covering`` together contain the set ``whole``."""
    rest = whole
    for one_set in covering:
        rest = rest.subtract(one_set)
    if not rest.is_empty():
        raise ContradictionError(f"no base case is there for {rest}")


def _check_exchange() -> None:
    """Raise ContradictionError unless the points over (1, 1, 0) are the two points of Theorem 3.2.

    They differ only at the one place with the equation z² = z, which is V_12 = 1 in the
    representative; so d = 2, which has this place alone, shows which the two points are for all d.
    """
    representative = cases.representative((1, 1, 0))
    exchanged = cases.exchange_vectors(representative)
    length, points = fibre((1, 1, 0), cases.Case(d=2, d_out=1, a=1, t=2))
    if length != 2 or representative not in points or exchanged not in points:
        raise ContradictionError("the fibre over (1, 1, 0) does not have exchanged weights")

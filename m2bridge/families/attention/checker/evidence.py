"""The evidence about a case with t ≥ 2: fibres, tangent vectors and what follows for each orbit.

Rests on: all is decided at one point of each of the finitely many orbits, by the fibre there and by
ranks of tangent vectors.
Proved in: docs/mathematics.md (proposition-orbits, proposition-finite, theorem-smooth,
lemma-singular-source, checker-fibres).
Computed here: the points and the length of every fibre, ranks over QQ.
On trust: the lemmas that a certificate lists, such as that ranks determine the closures of orbits.

Notation. As in case.py, in short:

* Weights are pairs (A, V) of a d × d matrix A, of rank at most α, and a d' × d matrix V, here
  sparse, {(row, column): entry}. D_α is the set of these A. l_i and v_k are the linear forms with
  column i of A and row k of V as coefficients, which span the spaces L and U.
* f is the bilinear map (A, V) ↦ c; c_{k,i,p,q}, p ≤ q, is the coefficient of y_p y_q in l_i v_k. A
  function is such a c, {(k, i, p, q): entry}. Indices begin with 0 in the code, else with 1.
* The orbit (r, s, m) are the functions with r = rk A, s = rk V, m = dim L ∩ U; it has a
  representative. The fibre over a function has as points its weights up to (λA, V/λ). "The map" is
  f from the source, all (A, V) up to factors of A and V; "the closure" is its image.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement, product
from math import comb
from typing import Any, NamedTuple

from m2bridge.certificates.form import Difference, difference
from m2bridge.checker.algebra import rank
from m2bridge.errors import ContradictionError, TooExpensiveError
from m2bridge.families.attention.checker.case import (
    Case,
    Function,
    Orbit,
    Pair,
    base_locus_is_empty,
    drop_zeros,
    function,
    orbit_dimension,
    orbits,
    products_determine_functions,
    real_family_has_no_real_weights,
    representative,
)
from m2bridge.families.attention.checker.degree import check_source_degree, paths, source_degree

MAX_FIBRE_STEPS = 10**9
"""The most orbits, times the square of the number of weights: minutes of fibres and ranks."""

# Fibres.


class FibreOverOrbit(NamedTuple):
    """A fibre: its length, which counts points with multiplicities, and its points (A, V)."""

    length: int
    points: list[Pair]


def fibre(orbit: Orbit, case: Case) -> FibreOverOrbit:
    """The fibre over the representative of an orbit; ContradictionError if there are several
    points, some of them not reduced, which docs/all-sizes.md, theorem-fibres, excludes.

    c_{1,1,1,1} = A_11 V_11 is 1, so all the fibre has A_11 = V_11 = 1 up to rescaling. V_1q is a
    root of T² − c_{1,1,1,q} T + c_{1,1,q,q}; one root is known from the representative. The first
    row of V determines (A, V) (docs/mathematics.md#proposition-finite). A column of A that is zero
    at the representative is zero on the whole fibre, so rk A ≤ r ≤ α.
    """
    known_point = representative(orbit)
    c = function(known_point)
    _, V = known_point
    roots_of_entries = []  # for V_12, …, V_1d
    for q in range(1, case.d):
        root = V.get((0, q), 0)
        roots_of_entries.append({root, c.get((0, 0, 0, q), 0) - root})
    points = []
    for entries in product(*roots_of_entries):
        candidate = weights_with_first_row(c, (1, *entries), case)
        if function(candidate) == c:
            points.append(candidate)
    lengths = [_length_at(point, case) for point in points]
    is_reduced = all(length == 1 for length in lengths)
    if not is_reduced and len(points) > 1:
        raise ContradictionError(
            f"the fibre over orbit {orbit} of {case} has several points, some not reduced"
        )
    return FibreOverOrbit(sum(lengths), points)


def weights_with_first_row(c: Function, z: tuple[Any, ...], case: Case) -> Pair:
    """The only (A, V) with A_11 = 1 and first row z of V, z_1 = 1, that can have the function c:
    the caller compares the coefficients that are not used here. Entries of z are numbers or
    polynomials.
    """
    A: dict[tuple[int, int], Any] = {}
    V: dict[tuple[int, int], Any] = {}
    for i in range(case.d):
        in_first_row = c.get((0, i, 0, 0), 0)
        A[0, i] = in_first_row
        for q in range(1, case.d):
            coefficient = c.get((0, i, 0, q), 0)
            A[q, i] = coefficient - z[q] * in_first_row
    for k in range(case.d_out):
        in_first_column = c.get((k, 0, 0, 0), 0)
        V[k, 0] = in_first_column
        for q in range(1, case.d):
            coefficient = c.get((k, 0, 0, q), 0)
            V[k, q] = coefficient - in_first_column * A[q, 0]
    return drop_zeros(A), drop_zeros(V)


def _length_at(point: Pair, case: Case) -> int:
    """The length at a point (A, V) of the fibre over its function: its multiplicity.

    The fibre has the equations Σ z_q L_q + Σ z_p z_q Q_pq = 0 in z_2, …, z_d, with L_q = f(a_q, V)
    + f(A, b_q), Q_qq = f(a_q, b_q) and Q_pq = f(a_p, b_q) + f(a_q, b_p), for the moves (a_q, b_q).
    If the L_q are independent, the length is 1. Else, if the Q_pq are independent modulo the L_q,
    all z_p z_q are equations, and functions on the fibre are spanned by 1 and the z_q modulo as
    many equations as the L_q have rank. ContradictionError otherwise, which the theorem on fibres
    excludes.
    """
    # as V_1q grows by one, row q of a_q is minus row 1 of A, and column q of b_q is column 1 of V
    # (``weights_with_first_row``)
    A, V = point
    moves: list[Pair] = []
    for q in range(1, case.d):
        a_q = {(q, i): -x for (p, i), x in A.items() if p == 0}
        b_q = {(k, q): x for (k, p), x in V.items() if p == 0}
        moves.append((a_q, b_q))
    linear_parts = [function((a_q, V), (A, b_q)) for a_q, b_q in moves]
    linear_rank = rank(linear_parts)
    if linear_rank == len(moves):
        return 1
    # of p = q this is 2 Q_qq
    quadratic_parts = [
        function((a_p, b_q), (a_q, b_p))
        for (a_p, b_p), (a_q, b_q) in combinations_with_replacement(moves, 2)
    ]
    quadratic_rank = rank([*linear_parts, *quadratic_parts]) - linear_rank  # modulo the L_q
    # C(d, 2) is the number of products z_p z_q, p ≤ q, of the d − 1 unknowns
    if quadratic_rank < comb(case.d, 2):
        raise ContradictionError(
            f"a fibre of {case} is not contained in a first-order neighbourhood"
        )
    return 1 + len(moves) - linear_rank


# Tangent vectors.


def differential(point: Pair, orbit: Orbit, case: Case) -> Iterator[Function]:
    """Yield the images under the differential of f of vectors that span a tangent space of the
    source: XA + AY at rank α, all matrices at lower rank (docs/mathematics.md#math-smooth), and all
    V'.
    """
    A, V = point
    r, _, _ = orbit
    for i, j in product(range(case.d), repeat=2):
        if r == case.alpha < case.d:
            # with one entry, at (i, j), X takes row j of A to row i, and Y column i to column j
            moved_row = {(i, column): x for (row, column), x in A.items() if row == j}
            moved_column = {(row, j): x for (row, column), x in A.items() if column == i}
            yield function((moved_row, V))
            yield function((moved_column, V))
        else:
            yield function(({(i, j): 1}, V))
    for index in product(range(case.d_out), range(case.d)):
        yield function((A, {index: 1}))


def tangent_bound(orbit: Orbit, points: Sequence[Pair], case: Case) -> int:
    """A lower bound for the dimension of the Zariski tangent space at a representative: the rank of
    the images of the differential, and at (1, 1, 1) of limits of tangent vectors, too.

    For A of rank below α the vectors are tangents of the curves A + sB with rk B = 1, in D_α.
    """
    vectors: list[Function] = []
    for point in points:
        vectors.extend(differential(point, orbit, case))
    if orbit == (1, 1, 1):
        vectors.extend(_limits_of_tangent_vectors(case))
    return rank(vectors)


def _limits_of_tangent_vectors(case: Case) -> Iterator[Function]:
    """Yield functions that span limits of tangent vectors at functions near the representative of
    (1, 1, 1), which are tangent, since tangent spaces are a closed condition.

    A nearby function has two weights, (k e_1ᵀ, e_1 vᵀ) and (v e_1ᵀ, e_1 kᵀ) with v − k = εw. The
    images of one direction A' at both have the difference ε f(A', e_1 wᵀ), and with A' of rank one
    these span all functions with entries c_{1,i,p,q} alone. One direction V' gives f(w e_1ᵀ, V')
    and the entries c_{k,1,p,q} in the same way. For α = 1 A' is tangent to matrices of rank one at
    both weights only if it is b e_1ᵀ, so that i = 1 (docs/mathematics.md#math-smooth, "Singular for
    a second reason").
    """
    columns = range(case.d)  # the i of the first kind of functions
    if case.alpha == 1:
        columns = range(1)
    for p, q in combinations_with_replacement(range(case.d), 2):
        for i in columns:
            yield {(0, i, p, q): 1}
        for k in range(case.d_out):
            yield {(k, 0, p, q): 1}


# The evidence about a case.


class ObservedCase(NamedTuple):
    """The evidence of certificates about a case, and for each orbit the points (A, V) of
    its fibre.
    """

    evidence: dict[str, Any]
    points: dict[Orbit, list[Pair]]


class OrbitNumbers(NamedTuple):
    """What is computed at one orbit, without looking at others."""

    fibre_length: int
    points: list[Pair]
    tangent_bound: int
    dimension: int


@lru_cache(maxsize=256)
def observe(d: int, d_out: int, alpha: int) -> ObservedCase:
    """The evidence about a case with t ≥ 2, and for each orbit the points (A, V) of its fibre.

    The orbit of the largest dimension is dense, and its fibre the generic one. ContradictionError
    unless this fibre is reduced and the closure smooth there, and the degree of the source is a
    multiple of the fibre's length and confirmed by a second method, where it is cheap.
    """
    case = Case(d, d_out, alpha, 2)
    numbers_of = {}
    for orbit in orbits(case):
        length, points = fibre(orbit, case)
        numbers_of[orbit] = OrbitNumbers(
            fibre_length=length,
            points=points,
            tangent_bound=tangent_bound(orbit, points, case),
            dimension=orbit_dimension(orbit, case),
        )
    dense = max(numbers_of, key=lambda orbit: (numbers_of[orbit].dimension, orbit))
    generic = numbers_of[dense]
    degree_of_source = source_degree(paths(d, alpha), generic.dimension, case)
    is_reduced = generic.fibre_length == len(generic.points)
    is_smooth = generic.tangent_bound == generic.dimension
    if not is_reduced or not is_smooth or degree_of_source % generic.fibre_length != 0:
        raise ContradictionError(
            f"{case}: dimension {generic.dimension}, rank {generic.tangent_bound},"
            f" {degree_of_source} points"
        )
    check_source_degree(degree_of_source, generic.dimension, case)
    degree = None
    if base_locus_is_empty():
        # f is a morphism, so the degree of the source is the image's times the length of the
        # generic fibre, by the projection formula: docs/mathematics.md#theorem-degree
        degree = degree_of_source // generic.fibre_length
    evidence = {
        "dimension": generic.dimension,
        "degree": degree,
        "base_locus_empty": base_locus_is_empty(),
        "products_determine_functions": products_determine_functions(),
        # the family needs two variables
        "boundary_family": d > 1 and real_family_has_no_real_weights(),
        "generic_fibre": {"length": generic.fibre_length, "points": len(generic.points)},
        "orbits": [_facts_at_orbit(orbit, numbers_of, generic, case) for orbit in orbits(case)],
    }
    points_of_fibres = {orbit: numbers.points for orbit, numbers in numbers_of.items()}
    return ObservedCase(evidence, points_of_fibres)


def _facts_at_orbit(
    orbit: Orbit, numbers_of: Mapping[Orbit, OrbitNumbers], generic: OrbitNumbers, case: Case
) -> dict[str, Any]:
    """The facts about an orbit, as certificates have them, from ``numbers_of``, the numbers at all
    orbits.
    """
    r, s, m = orbit
    numbers = numbers_of[orbit]
    # The bound at an orbit holds at the orbits in its closure, too, for which none of r, s and
    # dim (L + U) = r + s − m is larger (docs/mathematics.md#proposition-orbits). The witness has
    # the largest bound that holds here: of several it is this orbit itself, or the last.
    bounds = {other: numbers_of[other].tangent_bound for other in numbers_of}
    containing = []
    for other in bounds:
        R, S, M = other
        if r <= R and s <= S and r + s - m <= R + S - M:
            containing.append(other)
    witness = max(containing, key=lambda other: (bounds[other], other == orbit, other))
    # Critical: the differential has a kernel, which is the tangent space of the fibre. So a fibre
    # with as many points as its length is reduced, and its function not critical.
    is_critical = numbers.fibre_length != len(numbers.points)
    facts: dict[str, Any] = {
        "orbit": list(orbit),
        "dimension": numbers.dimension,
        # D_α is smooth at rank α, and everywhere if it is the space of all matrices
        "source_smooth": case.alpha in (case.d, r),
        "fibre_length": numbers.fibre_length,
        "fibre_points": len(numbers.points),
        "tangent_lower_bound": bounds[witness],
        "tangent_witness": list(witness),
        # limits of real functions without real weights are expected there, but not always proved
        "boundary": is_critical,
        "critical": is_critical,
    }
    is_birational = generic.fibre_length == 1
    facts["singular"] = _decide_singular(
        facts, generic.dimension, case, is_birational=is_birational
    )
    return facts


def _decide_singular(
    orbit_facts: Mapping[str, Any], dimension: int, case: Case, *, is_birational: bool
) -> bool | None:
    """Whether the closure is singular at an orbit, by fibre and tangent vectors; None if undecided,
    ContradictionError if both are said.

    Where the map is birational, a function whose fibre is not one reduced point is singular, and
    one whose fibre is, at which the source is smooth, is smooth
    (docs/mathematics.md#theorem-smooth).
    """
    has_more_tangents = orbit_facts["tangent_lower_bound"] > dimension
    if is_birational and orbit_facts["fibre_length"] > 1:
        return True
    if is_birational and orbit_facts["source_smooth"]:
        if has_more_tangents:
            orbit = tuple(orbit_facts["orbit"])
            raise ContradictionError(
                f"at orbit {orbit} of {case} the fibre and tangent vectors disagree"
            )
        return False
    return True if has_more_tangents else None


def missing_facts(evidence: Mapping[str, Any], case: Case) -> Difference | None:
    """The first difference between the number and keys of orbits in evidence and in the case, None
    if right: before any fibre is computed, as a small file must not ask for a long computation.
    """
    listed = evidence.get("orbits")
    if not isinstance(listed, list):
        listed = []
    rank_pairs = case.alpha * min(case.d, case.d_out)  # each pair (r, s) has an orbit
    if len(listed) < rank_pairs:
        return Difference(
            "evidence.orbits", f"{len(listed)} orbits", f"at least {rank_pairs} orbits"
        )
    steps = len(listed) * (case.d * (case.d + case.d_out)) ** 2
    if steps > MAX_FIBRE_STEPS:
        raise TooExpensiveError(
            "case", f"fibres and ranks at {len(listed)} orbits take {steps:.0e} steps"
        )
    # d = d' = α = 1 has one orbit, whose facts have the right keys
    (example,) = observe(1, 1, 1).evidence["orbits"]
    for i, facts in enumerate(listed):
        if not isinstance(facts, dict) or facts.keys() != example.keys():
            return Difference(f"evidence.orbits[{i}]", f"{facts!r:.80}", "facts about an orbit")
    return difference(len(listed), len(orbits(case)), "number of orbits")

"""Single-layer attention from its definition: functions, orbits, fibres, tangents, the degree.

Rests on: all of a case with t ≥ 2 is decided at one point of each of its finitely many orbits, by
the fibre there and by ranks of tangent vectors.
Proved in: docs/mathematics.md (proposition-orbits, proposition-finite, theorem-smooth,
lemma-singular-source, theorem-degree) and docs/checkers.md (the sections Fibres and Degree).
Computed here: the points and the length of every fibre, ranks over QQ, the degree in two ways.
On trust: the lemmas that a certificate lists, such as that ranks determine the closures of orbits.

Notation. The sizes of a case are d, d' (``d_out``), a and t, and α = min(a, d).

* The weights (A, V) are a d × d matrix A and a d' × d matrix V, here sparse: {(row, column):
  entry}. D_α is the set of the A of rank at most α, P(V) the projective space of all V, and
  P(D_α) × P(V) the source. rk is the rank.
* l_i(y) = Σ_p A_pi y_p is column i of A and v_k(y) = Σ_q V_kq y_q is row k of V, as linear forms in
  y_1, …, y_d. The coordinate c_{k,i,p,q}, p ≤ q, is the coefficient of y_p y_q in l_i v_k.
* f is the map (A, V) ↦ c, which is bilinear: ``function``. A function is such a c, as for t ≥ 2 it
  is determined by it. "The map" is f from the source to the projective space of all c, and "the
  closure" its image; its dimension is that of the cone over it, unless "projective" is said.
* The fibre over a function is the set of its weights up to (λA, V/λ), with its equations: a scheme.
  Its length counts points with multiplicities, so it is reduced if it has as many points.
* An orbit is (r, s, m) = (rk A, rk V, dim L ∩ U), where the l_i span L and the v_k span U: the
  functions of all such weights. Its representative is the function of those of ``representative``.
* z_q is V_1q, or by how much it grows from a point of the fibre; e_p is a unit vector. k qᵀ and
  h vᵀ are A and V of rank one: then k and v are vectors, and no index.

Indices begin with 0 in the code, and with 1 in comments, as in docs/.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations, combinations_with_replacement, islice, permutations, product
from math import comb
from typing import Any

import flint

from m2bridge.certificates.form import Difference, difference
from m2bridge.checker.algebra import rank, ring
from m2bridge.errors import CertificateError, ContradictionError, TooExpensiveError
from m2bridge.families.attention.checker.schur import determinantal

Orbit = tuple[int, int, int]
Sparse = Mapping[tuple[int, int], Any]  # the entries of a matrix, by row and column
Pair = tuple[Sparse, Sparse]  # A and V
Function = dict[tuple[int, ...], Any]  # c_{k,i,p,q} by (k, i, p, q), p ≤ q; zeros are left out

MAX_FIBRE_STEPS = 10**9
"""The most orbits, times the square of the number of weights: minutes of fibres and ranks."""

MAX_HILBERT_VALUES = 40
"""The largest dim D_α for which deg P(D_α) is compared with a Hilbert function: above, its values
take longer than all the rest of a check.
"""


@dataclass(frozen=True, slots=True)
class Case:
    """The functions X ↦ V X Xᵀ A X for X of size d × t, V of size d' × d, and A d × d, rk A ≤ α.

    The columns of X are the t tokens. ``a`` is the bound for rk A that is given, perhaps above d.
    """

    d: int
    d_out: int
    a: int
    t: int

    @property
    def alpha(self) -> int:
        """The largest rank of A."""
        return min(self.a, self.d)

    @property
    def coordinate_count(self) -> int:
        """The number of the c_{k,i,p,q}; for t = 1 of the coefficients of d' cubic forms."""
        if self.t == 1:
            return self.d_out * comb(self.d + 2, 3)
        return self.d_out * self.d * comb(self.d + 1, 2)

    @property
    def source_dimension(self) -> int:
        """The dimension of D_α and all V together: D_α has codimension (d − α)² in the matrices."""
        return self.alpha * (2 * self.d - self.alpha) + self.d * self.d_out

    @property
    def projective_dimension(self) -> int:
        """The dimension of the source and, as fibres are finite, of the closure, both projective.

        A and V are each up to a factor, so it is that of all (A, V) less two.
        """
        return self.source_dimension - 2

    @property
    def is_of_symmetric_matrices(self) -> bool:
        """Whether A = k qᵀ and V = vᵀ, so that functions are q ⊗ k·v."""
        return self.alpha == self.d_out == 1 < self.d

    def with_fewest_weights(self) -> "Case":
        """The case with a ≤ d and t ≤ 2 whose functions have the same coordinates c.

        A has rank ≤ d anyway; and for t ≥ 2 the products l_i v_k determine a function, which two
        tokens show (docs/mathematics.md#proposition-products).
        """
        return Case(self.d, self.d_out, self.alpha, min(self.t, 2))


def name(case: Mapping[str, Any]) -> str:
    """The name of a case, such as ``d3-dout2-a2-t2``; CertificateError if there is no such case."""
    numbers = [case.get(key) for key in ("d", "d_out", "a", "t")]
    # Python counts a bool as an int, but it is not a size
    are_numbers = all(type(n) is int and 0 < n < 10**9 for n in numbers)
    if len(case) != 4 or not are_numbers:
        raise CertificateError("integers d, d_out, a, t from 1 to 999999999")
    return "d{}-dout{}-a{}-t{}".format(*numbers)


def function(*pairs: Pair) -> Function:
    """The sum of f(A, V) over pairs (A, V): coordinates of the products l_i v_k, by their indices.

    A_pi V_kq occurs in one coordinate only, the coefficient of y_p y_q in l_i v_k; so
    c_{k,i,p,p} = A_pi V_kp, and for p < q c_{k,i,p,q} = A_pi V_kq + A_qi V_kp. As f is bilinear,
    f(A', V) + f(A, V') is its derivative at (A, V) in the direction (A', V').
    """
    found: Function = {}
    for A, V in pairs:
        for (p, i), a in A.items():
            for (k, q), v in V.items():
                index = (k, i, p, q)
                if p > q:
                    index = (k, i, q, p)
                found[index] = found.get(index, 0) + a * v
    return without_zeros(found)


def without_zeros(entries: Mapping[Any, Any]) -> dict[Any, Any]:
    """The entries of a matrix or a function that are not zero, by their indices."""
    return {index: x for index, x in entries.items() if x}


# Orbits.


def orbits(case: Case) -> list[Orbit]:
    """All orbits (r, s, m) of nonzero functions, in increasing order.

    Any r = rk A ≤ α and s = rk V from 1 on occur, with each m = dim L ∩ U for which L + U fits into
    d dimensions (docs/mathematics.md#proposition-orbits).
    """
    found: list[Orbit] = []
    for r in range(1, case.alpha + 1):
        for s in range(1, min(case.d, case.d_out) + 1):
            least = max(0, r + s - case.d)  # dim (L + U) = r + s − m ≤ d
            found.extend((r, s, m) for m in range(least, min(r, s) + 1))
    return found


def orbit_dimension(orbit: Orbit, case: Case) -> int:
    """The dimension of an orbit of functions: the dimension of its weights less one.

    L ∩ U is chosen, in m(d − m) dimensions; then L and U that contain it, in (r − m)(d − r) and
    (s − m)(d − s); then A with columns in L and V with rows in U, in r d and s d'. Fibres are
    finite up to (λA, V/λ), which is the one dimension that is lost (docs/checkers.md, Dimensions
    of orbits).
    """
    r, s, m = orbit
    d = case.d
    subspaces = m * (d - m) + (r - m) * (d - r) + (s - m) * (d - s)
    return subspaces + r * d + s * case.d_out - 1


def representative(orbit: Orbit) -> Pair:
    """Weights (A, V) over an orbit, with A_11 = V_11 = 1.

    A = diag(1 … 1, 0 … 0), so L is spanned by e_1, …, e_r. V has the rows e_1, …, e_m in L, and
    e_{r+1}, …, e_{r+s−m} outside it. For m = 0 the first row is e_1 + e_{r+1} instead, so that V_11
    is 1; U still has dimension s, and L ∩ U is still 0.
    """
    r, s, m = orbit
    A = {(p, p): 1 for p in range(r)}
    V = {(k, k): 1 for k in range(m)}
    for k in range(m, s):
        V[k, r + k - m] = 1
    V[0, 0] = 1
    return A, V


def with_exchanged_vectors(pair: Pair) -> Pair:
    """For weights A = k qᵀ and V = h vᵀ of rank one, with q = h = e_1, the weights v qᵀ and h kᵀ.

    They have the same function: its products are q_i k(y) · h_k v(y), in which k and v can be
    exchanged.
    """
    A, V = pair
    exchanged_a = {}
    exchanged_v = {}
    for (_, p), v_p in V.items():
        exchanged_a[p, 0] = v_p
    for (p, _), k_p in A.items():
        exchanged_v[0, p] = k_p
    return exchanged_a, exchanged_v


def matrices(weights: Pair, case: Case) -> dict[str, list[list[Any]]]:
    """The weights as certificates have them: A and V as lists of rows."""
    A, V = weights
    columns = range(case.d)
    return {
        "A": [[A.get((p, i), 0) for i in columns] for p in range(case.d)],
        "V": [[V.get((k, q), 0) for q in columns] for k in range(case.d_out)],
    }


# Fibres.


def fibre(orbit: Orbit, case: Case) -> tuple[int, list[Pair]]:
    """The length of the fibre over the representative of an orbit, and the points (A, V) of it.

    c_{1,1,1,1} = A_11 V_11 is 1, so all the fibre has A_11 = V_11 = 1 up to rescaling. There
    c_{1,1,1,q} = A_q1 + V_1q and c_{1,1,q,q} = A_q1 V_1q, so V_1q is a root of T² − c_{1,1,1,q} T +
    c_{1,1,q,q}. One root is known, that of the representative; the other one is c_{1,1,1,q} less
    it. The first row of V determines (A, V): so there are finitely many candidates, and those with
    all coordinates right are the fibre (docs/mathematics.md#proposition-finite). No condition on
    the rank is left out: where a column of A is zero at the representative it is zero on the whole
    fibre, so rk A ≤ r ≤ α there.

    ContradictionError if there are several points, some of them not reduced: the theorem on fibres
    excludes it, by which a fibre is one point or two reduced ones (docs/all-sizes.md,
    theorem-fibres).
    """
    given = representative(orbit)
    _, V = given
    c = function(given)
    roots = []
    for q in range(1, case.d):
        root = V.get((0, q), 0)
        other_root = c.get((0, 0, 0, q), 0) - root
        roots.append({root, other_root})
    points = []
    for row in product(*roots):
        candidate = weights_with_first_row(c, (1, *row), case)
        if function(candidate) == c:
            points.append(candidate)
    beyond_points = [_length_at(point, case) - 1 for point in points]
    if any(beyond_points) and len(points) > 1:
        raise ContradictionError(
            f"the fibre over orbit {orbit} of {case} has several points, some not reduced"
        )
    return len(points) + sum(beyond_points), points


def weights_with_first_row(c: Function, z: tuple[Any, ...], case: Case) -> Pair:
    """The only (A, V) with A_11 = 1 and first row z of V that can have the function c.

    z has d entries, numbers or polynomials, the first of which is 1. So the coefficients of y_1²
    say A_1i = c_{1,i,1,1} and V_k1 = c_{k,1,1,1}, and those of y_1 y_q say A_qi = c_{1,i,1,q} −
    z_q A_1i and V_kq = c_{k,1,1,q} − V_k1 A_q1. Whether the other coordinates are those of c is
    left to the caller.
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
    return without_zeros(A), without_zeros(V)


def _length_at(point: Pair, case: Case) -> int:
    """The length at a point (A, V) of the fibre over its function: its multiplicity.

    Near it the fibre has the unknowns z_2, …, z_d. If V_1q grows by z_q, then
    ``weights_with_first_row`` says that A grows by z_q a_q, where row q of a_q is minus row 1 of A,
    and V by z_q b_q, where column q of b_q is column 1 of V. So the coordinates grow by Σ z_q L_q +
    Σ z_p z_q Q_pq, p ≤ q, with L_q = f(a_q, V) + f(A, b_q), Q_pq = f(a_p, b_q) + f(a_q, b_p) for
    p < q and Q_qq = f(a_q, b_q). The equations of the fibre say that this vector is zero. The fibre
    is reduced at z = 0, of length 1, if the L_q are independent.

    Else, if the Q_pq are independent modulo the L_q, then all C(d, 2) monomials z_p z_q are
    equations: the square of the maximal ideal vanishes, and functions on the fibre are spanned by 1
    and by the z_q, of which there are d − 1, modulo as many equations as the L_q have rank.
    ContradictionError if they are not: the theorem on fibres says that they are.
    """
    A, V = point
    moves = []
    for q in range(1, case.d):
        a_q = {(q, i): -x for (p, i), x in A.items() if p == 0}
        b_q = {(k, q): x for (k, p), x in V.items() if p == 0}
        moves.append((a_q, b_q))
    linear = [function((a, V), (A, b)) for a, b in moves]
    linear_rank = rank(linear)
    if linear_rank == len(moves):
        return 1
    quadratic = [function(move) for move in moves]
    for (a_p, b_p), (a_q, b_q) in combinations(moves, 2):
        mixed = function((a_p, b_q), (a_q, b_p))
        quadratic.append(mixed)
    if rank([*linear, *quadratic]) - linear_rank < comb(case.d, 2):
        raise ContradictionError(
            f"a fibre of {case} is not contained in a first-order neighbourhood"
        )
    return 1 + len(moves) - linear_rank


# Tangent vectors.


def differential(point: Pair, orbit: Orbit, case: Case) -> Iterator[Function]:
    """The images under the differential of f of vectors that span a tangent space of the source.

    They are f(A', V) and f(A, V') at a point (A, V) over the orbit, for the A' in the tangent space
    of D_α and for all V'. All weights of a function have the same rk A = r. D_α is smooth at rank
    α, with the tangent vectors XA + AY for all matrices X and Y; at lower rank, and for α = d, all
    matrices A' are tangent (docs/mathematics.md#math-smooth).
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
    """A lower bound for the tangent dimension of the closure at an orbit: the rank of some vectors.

    The dimension is that of the Zariski tangent space of the cone over the closure at the
    representative of the orbit, whose fibre has the given points. It contains the image of the
    differential at each of these. (For A of rank below α the vectors are tangents of the curves
    A + sB with rk B = 1, which stay in D_α.)

    At (1, 1, 1) the two points of a nearby fibre, (k e_1ᵀ, e_1 vᵀ) and (v e_1ᵀ, e_1 kᵀ) with
    v − k = εw, come together. There the tangent space also contains limits of tangent vectors at
    nearby functions, since the tangent spaces of a variety are a closed condition. Take one
    direction A' at both points: the images of the differential are f(A', e_1 vᵀ) and f(A', e_1 kᵀ),
    and their difference over ε is f(A', e_1 wᵀ). In the same way one direction V' at both points
    gives f(w e_1ᵀ, V'). With matrices A' and V' of rank one these span all functions with entries
    c_{1,i,p,q} alone, and all with entries c_{k,1,p,q} alone. For α = 1 the direction A' is tangent
    to matrices of rank one at both points only if it is a multiple of b e_1ᵀ, so that i = 1
    (docs/mathematics.md#math-smooth, "Singular for a second reason").
    """
    vectors: list[Function] = []
    for point in points:
        vectors.extend(differential(point, orbit, case))
    if orbit == (1, 1, 1):
        columns = range(case.d)
        if case.alpha == 1:
            columns = range(1)
        for p, q in combinations_with_replacement(range(case.d), 2):
            vectors.extend({(0, i, p, q): 1} for i in columns)
            vectors.extend({(k, 0, p, q): 1} for k in range(case.d_out))
    return rank(vectors)


# The evidence about a case.


@lru_cache(maxsize=256)
def observe(d: int, d_out: int, alpha: int) -> tuple[dict[str, Any], dict[Orbit, list[Pair]]]:
    """The evidence about a case with t ≥ 2, and for each orbit the points (A, V) of its fibre.

    The evidence is that of certificates: dimension and degree of the closure, identities, length
    and points of the generic fibre, and for each orbit its facts. The closure is the union of
    finitely many orbits, so the one of the largest dimension is dense: it has the dimension of the
    closure, and its fibre is the generic one. This fibre has to be reduced, the bound for the
    tangent dimension there has to be the dimension, and the length of the fibre has to divide the
    degree of the source; else ContradictionError.
    """
    case = Case(d, d_out, alpha, 2)
    lengths: dict[Orbit, int] = {}
    points: dict[Orbit, list[Pair]] = {}
    bounds: dict[Orbit, int] = {}
    dimensions: dict[Orbit, int] = {}
    for orbit in orbits(case):
        lengths[orbit], points[orbit] = fibre(orbit, case)
        bounds[orbit] = tangent_bound(orbit, points[orbit], case)
        dimensions[orbit] = orbit_dimension(orbit, case)
    dimension, dense = max((n, orbit) for orbit, n in dimensions.items())
    length = lengths[dense]
    degree_of_source = source_degree(paths(d, alpha), dimension, case)
    is_as_expected = bounds[dense] == dimension and length == len(points[dense])
    if not is_as_expected or degree_of_source % length != 0:
        raise ContradictionError(
            f"{case}: dimension {dimension}, rank {bounds[dense]}, {degree_of_source} points"
        )
    check_source_degree(degree_of_source, dimension, case)

    facts = []
    for orbit in orbits(case):
        witness = _orbit_with_most_tangents(orbit, bounds)
        about = {
            "orbit": list(orbit),
            "dimension": dimensions[orbit],
            "source_smooth": case.alpha in (d, orbit[0]),
            "fibre_length": lengths[orbit],
            "fibre_points": len(points[orbit]),
            "tangent_lower_bound": bounds[witness],
            "tangent_witness": list(witness),
        }
        # critical: the differential has a kernel, which is the tangent space of the fibre
        about["boundary"] = about["critical"] = lengths[orbit] != len(points[orbit])
        about["singular"] = _is_singular(about, dimension, case, is_birational=length == 1)
        facts.append(about)
    degree = None
    if base_locus_is_empty():
        # f is a morphism, so the degree of the source is that of the image times the length of the
        # generic fibre, by the projection formula: docs/mathematics.md#theorem-degree
        degree = degree_of_source // length
    evidence = {
        "dimension": dimension,
        "degree": degree,
        "base_locus_empty": base_locus_is_empty(),
        "products_determine_functions": products_determine_functions(),
        "boundary_family": d > 1 and real_family_has_no_real_weights(),
        "generic_fibre": {"length": length, "points": len(points[dense])},
        "orbits": facts,
    }
    return evidence, points


def _orbit_with_most_tangents(orbit: Orbit, bounds: Mapping[Orbit, int]) -> Orbit:
    """Return the orbit with the largest bound for tangents, of those whose closures contain this.

    ``bounds`` has for each orbit the lower bound for the tangent dimension there. Tangent
    dimensions only grow in a limit, so that bound holds at this orbit, too. The closure of an orbit
    contains those for which none of the ranks r, s and dim (L + U) = r + s − m is larger
    (docs/mathematics.md#proposition-orbits).
    """
    r, s, m = orbit
    found = []
    for larger, bound in bounds.items():
        R, S, M = larger
        if r <= R and s <= S and r + s - m <= R + S - M:
            # of equal bounds that of the orbit itself, else that of the last orbit
            found.append((bound, larger == orbit, larger))
    return max(found)[2]


def _is_singular(
    about: Mapping[str, Any], dimension: int, case: Case, *, is_birational: bool
) -> bool | None:
    """Whether the closure is singular at an orbit, by fibre and tangent vectors; None if undecided.

    ``about`` has the facts about the orbit, ``dimension`` is that of the closure. Where the map is
    birational, a function whose fibre is not one reduced point is singular, and one whose fibre is
    one reduced point, at which the source is smooth, is smooth
    (docs/mathematics.md#theorem-smooth). One with more independent tangent vectors than the
    dimension is singular in any case. ContradictionError if both are said of one orbit.
    """
    has_more_tangents = about["tangent_lower_bound"] > dimension
    if is_birational and about["fibre_length"] > 1:
        return True
    if is_birational and about["source_smooth"]:
        if has_more_tangents:
            orbit = tuple(about["orbit"])
            raise ContradictionError(
                f"at orbit {orbit} of {case} the fibre and tangent vectors disagree"
            )
        return False
    if has_more_tangents:
        return True
    return None


def missing_facts(evidence: Mapping[str, Any], case: Case) -> Difference | None:
    """The first difference between the orbits that evidence lists and those of the case, if any.

    It is found before any fibre is computed, as a small file must not ask for a long computation:
    the evidence must list at least α·min(d, d') orbits, because each pair (r, s) has one, and so
    the work asked for is bounded by the length of the file. That the facts have the right keys is
    seen by an example; that they are right is for the caller to compare. TooExpensiveError if the
    listed orbits nevertheless take too long.
    """
    stored = evidence.get("orbits")
    listed: list[Any] = []
    if isinstance(stored, list):
        listed = stored
    rank_pairs = case.alpha * min(case.d, case.d_out)  # each pair (r, s) has an orbit
    if len(listed) < rank_pairs:
        return Difference(
            "evidence.orbits", f"{len(listed)} orbits", f"at least {rank_pairs} orbits"
        )
    number_of_weights = case.d * (case.d + case.d_out)
    steps = len(listed) * number_of_weights**2
    if steps > MAX_FIBRE_STEPS:
        raise TooExpensiveError(
            "case", f"fibres and ranks at {len(listed)} orbits take {steps:.0e} steps"
        )
    # d = d' = α = 1 has one orbit, whose facts have the right keys
    (example,) = observe(1, 1, 1)[0]["orbits"]
    for i, given in enumerate(listed):
        if not isinstance(given, dict) or given.keys() != example.keys():
            return Difference(f"evidence.orbits[{i}]", f"{given!r:.80}", "facts about an orbit")
    return difference(len(listed), len(orbits(case)), "number of orbits")


# The degree.


def source_degree(of_determinantal: int, dimension: int, case: Case) -> int:
    """The degree of the source P(D_α) × P(V) under forms of bidegree (1, 1), such as coordinates.

    ``of_determinantal`` is deg P(D_α), and ``dimension`` that of the closure as a cone. The degree
    is C(δ_A + δ_V, δ_V) deg P(D_α), with the dimensions δ_A of P(D_α) and δ_V = d d' − 1 of P(V)
    (docs/mathematics.md#theorem-degree). As fibres are finite, δ_A + δ_V is the dimension of the
    closure as a projective variety, one less than that of the cone.
    """
    of_v = case.d * case.d_out - 1
    return comb(dimension - 1, of_v) * of_determinantal


def check_source_degree(degree: int, dimension: int, case: Case) -> None:
    """Compute the degree of the source by a second method; ContradictionError if it differs.

    ``dimension`` is that of the closure. For α = 1 and α = d the source is a Segre variety, whose
    degree is a number of factorizations; between, the degree of P(D_α) is taken from its Hilbert
    function, unless D_α is so large that this takes too long: then nothing is computed.
    """
    if case.alpha in (1, case.d):
        again = section_points(case)
    elif case.alpha * (2 * case.d - case.alpha) <= MAX_HILBERT_VALUES:
        again = source_degree(degree_by_values(case.d, case.alpha), dimension, case)
    else:
        return
    if again != degree:
        raise ContradictionError(
            f"{case}: the source has degree {degree} by paths, and {again} in another way"
        )


def paths(d: int, alpha: int) -> int:
    """The degree of P(D_α), as a number of families of α paths in a d × d square that do not meet.

    From (i, 1) to (1, j), up and to the right, there are C(i + j − 2, i − 1) paths. The determinant
    of these numbers for d − α < i, j ≤ d counts the families of paths from (i, 1) to (1, i) that do
    not meet, by the lemma of Lindström, Gessel and Viennot; and a Gröbner basis of the minors says
    that they are as many as the degree (docs/checkers.md#lemma-paths).
    """
    ends = range(d - alpha, d)
    numbers = [[comb(i + j, i) for j in ends] for i in ends]
    return int(flint.fmpz_mat(numbers).det())


def degree_by_values(d: int, alpha: int) -> int:
    """The degree of P(D_α) from its Hilbert function h(n).

    h(n) = Σ (dim S_λ K^d)² over the partitions λ of n with at most α parts (Cauchy's formula). D_α
    is Cohen–Macaulay with a negative a-invariant, so h is a polynomial for all n ≥ 0, of degree D =
    dim D_α − 1 and with the leading coefficient deg / D!. So its D-th difference, Σ (−1)^(D − n)
    C(D, n) h(n), is the degree.
    """
    last = alpha * (2 * d - alpha) - 1
    total = 0
    for n in range(last + 1):
        total += (-1) ** (last - n) * comb(last, n) * determinantal(d, alpha, n)
    return total


def section_points(case: Case) -> int:
    """The degree of the source for α = d or α = 1: the points of a linear section of it.

    For α = d the source is a Segre variety, a product of projective spaces: A and V are polynomials
    A(T) and V(T) with d² and d d' free coefficients, and a linear section of the right dimension
    says that A(T) V(T) is a multiple of a given polynomial with simple roots. Its points are the
    factorizations: the ways to give d² − 1 of the roots to A(T) and the other d d' − 1 to V(T). For
    α = 1, where A = k qᵀ, three factors k(T) q(T) V(T) share the roots (docs/checkers.md, Degree).
    """
    roots_of_factors = [case.d**2 - 1, case.d * case.d_out - 1]
    if case.alpha == 1:
        roots_of_factors = [case.d - 1, case.d - 1, case.d * case.d_out - 1]
    ways = 1
    left = sum(roots_of_factors)
    for roots in roots_of_factors:
        ways *= comb(left, roots)
        left -= roots
    return ways


# Identities that hold for all sizes.


@cache
def base_locus_is_empty() -> bool:
    """Whether a product l v of linear forms is zero only for l = 0 or v = 0: so f is a morphism.

    Here l_p and v_p are the coefficients of y_p in l and v. x = l_p v_q is a root of
    T² − c_pq T + c_pp c_qq, where c_pq = l_p v_q + l_q v_p and c_pp = l_p v_p are the coefficients
    of y_p y_q and y_p² in l v; this identity is what is computed. If these coefficients are all
    zero, so is every l_p v_q, and l = 0 or v = 0.
    """
    l_p, l_q, v_p, v_q = ring(4).gens()
    x = l_p * v_q
    c_pq = l_p * v_q + l_q * v_p
    return bool(x**2 - c_pq * x + (l_p * v_p) * (l_q * v_q) == 0)


@cache
def real_family_has_no_real_weights() -> bool:
    """Whether (y_1 + iεy_2)(y_1 − iεy_2) is y_1² + ε²y_2² for i² = −1: real for every real ε.

    This is the function with l_1 and v_1 these forms, and all other l_i and v_k zero. So
    c_{1,1,1,2} = 0 and c_{1,1,2,2} = ε², and V_12 is a root of T² + ε² on its fibre: no weights are
    real for ε ≠ 0, which is not computed. ``i`` is a variable here: a multiple of i² + 1 is zero.
    The limit for ε = 0, where l_1 v_1 = y_1², is in the orbit (1, 1, 1); so the functions of this
    orbit are limits of real functions without real weights
    (docs/mathematics.md#proposition-boundary).
    """
    i, epsilon = ring(2).gens()
    coefficient_of_y1_y2 = i * epsilon + (-i * epsilon)
    coefficient_of_y2_y2 = (i * epsilon) * (-i * epsilon)
    is_real = coefficient_of_y2_y2 - epsilon**2 == -(i**2 + 1) * epsilon**2
    return bool(coefficient_of_y1_y2 == 0 and is_real)


@cache
def products_determine_functions() -> bool:
    """Whether an output (xᵀAx)(v·x) + (yᵀAx)(v·y) is Σ c_{i,p,q} x_i (x_p x_q + y_p y_q).

    It is the output of two tokens x and y at the token x, for one row v of V; c_{i,p,q} is the
    coordinate of l_i v at y_p y_q, p ≤ q. So the c determine the functions; and they are read off
    from these, as each x_i y_p y_q stands in one summand only. A term has three indices i, p, q, so
    d = 3 decides for all d; and each further token y has a summand of its own
    (docs/mathematics.md#proposition-products).
    """
    d = range(3)
    unknowns = ring(18).gens()
    A = {(p, i): unknowns[3 * p + i] for p in d for i in d}
    V = {(0, q): unknowns[9 + q] for q in d}
    x, y = unknowns[12:15], unknowns[15:18]
    by_definition = ring(18).constant(0)
    by_products = ring(18).constant(0)
    for token in (x, y):
        for p, i, q in product(d, d, d):
            by_definition += A[p, i] * token[p] * x[i] * V[0, q] * token[q]
        for (_, i, p, q), c in function((A, V)).items():
            by_products += c * x[i] * token[p] * token[q]
    return bool(by_definition == by_products)


# Functions of generic weights.


def images(
    rows: int, columns: int, variables: int, alpha: int, t: int = 2
) -> dict[tuple[int, ...], Any]:
    """The coordinates of generic weights, polynomials in these, by their indices in order, k first.

    V has the size rows × variables, and A variables × columns; columns of A after the first α are
    combinations of these, which is so on a dense part of the matrices of rank ≤ α. So a polynomial
    in the coordinates vanishes on the closure exactly if it is zero at these images. For t ≥ 2
    c_{k,i,p,q} is the coefficient of x_i y_p y_q in output k, where x is a token and y a different
    token: the sum of A_pi V_kq over the orders of p ≤ q. For t = 1 there is one token x, and the
    coordinate (k, p, q, r) with p ≤ q ≤ r is the coefficient of x_p x_q x_r in output k: a sum over
    the orders of p, q, r.
    """
    V, A = _generic_weights(rows, columns, variables, min(alpha, columns))
    found: dict[tuple[int, ...], Any] = {}
    if t == 1:
        triples = list(combinations_with_replacement(range(variables), 3))
        for k, indices in product(range(rows), triples):
            orders = set(permutations(indices))
            found[k, *indices] = sum(A[p][j] * V[k][q] for p, j, q in orders)
        return found
    pairs = list(combinations_with_replacement(range(variables), 2))
    for k, i, (p, q) in product(range(rows), range(columns), pairs):
        coefficient = A[p][i] * V[k][q]
        if p < q:
            coefficient += A[q][i] * V[k][p]
        found[k, i, p, q] = coefficient
    return found


def _generic_weights(
    rows: int, columns: int, variables: int, alpha: int
) -> tuple[list[list[Any]], list[list[Any]]]:
    """V and A with variables as entries; columns of A after the first α are combinations of these.

    The coefficients of the combinations are variables, too.
    """
    other_columns = columns - alpha
    count = rows * variables + variables * alpha + alpha * other_columns
    unknowns = iter(ring(count).gens())
    V = _matrix(unknowns, rows, variables)
    first_columns = _matrix(unknowns, variables, alpha)
    factors = _matrix(unknowns, alpha, other_columns)
    A = []
    for row in first_columns:
        others = []
        for i in range(other_columns):
            combination = sum(row[j] * factors[j][i] for j in range(alpha))
            others.append(combination)
        A.append([*row, *others])
    return V, A


def _matrix(unknowns: Iterator[Any], rows: int, columns: int) -> list[list[Any]]:
    """A matrix with the next unknowns as entries."""
    return [list(islice(unknowns, columns)) for _ in range(rows)]

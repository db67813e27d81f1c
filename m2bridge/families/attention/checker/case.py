"""Cases of single-layer attention, functions and orbits; and, for t ≥ 2, all about a case and its
orbits, from scratch.

The definitions are written anew; proofs are in docs/checkers.md. Weights are sparse matrices {(row,
column): entry}, functions are mappings from (k, i, p, q), p ≤ q, to the coordinate c_{k,i,p,q}; all
indices begin with 0. An orbit is (r, s, m) = (rk A, rk V, dim of col A ∩ row V).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations, combinations_with_replacement, permutations, product
from math import comb, prod
from operator import mul
from typing import Any

import flint

from m2bridge.certificates.schema import Difference, difference
from m2bridge.checker.algebra import rank, ring
from m2bridge.errors import CertificateError, ContradictionError, TooExpensiveError

Orbit = tuple[int, int, int]
Sparse = Mapping[tuple[int, int], Any]
Pair = tuple[Sparse, Sparse]  # A and V
Function = dict[tuple[int, ...], Any]


@dataclass(frozen=True, slots=True)
class Case:
    """X ↦ V X Xᵀ A X for X of size d × t, V of size d' × d, and A of size d × d and rank at most α
    = min(a, d).
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
        """The number of the c_{k,i,p,q} for t ≥ 2, of the coefficients of the output, cubic forms,
        for t = 1.
        """
        return self.d_out * (comb(self.d + 2, 3) if self.t == 1 else self.d * comb(self.d + 1, 2))


def name(case: Mapping[str, Any]) -> str:
    """The name, such as ``d3-dout2-a2-t2``; CertificateError if there is no such case."""
    numbers = [case.get(key) for key in ("d", "d_out", "a", "t")]
    if len(case) != 4 or not all(type(n) is int and 0 < n < 10**9 for n in numbers):
        raise CertificateError("integers d, d_out, a, t from 1 to 999999999")
    return "d{}-dout{}-a{}-t{}".format(*numbers)


def function(*weights: Pair) -> Function:
    """The coefficients of y_p y_q in products of columns of A and rows of V, linear forms in y; the
    sum for several.
    """
    found: Function = {}
    for A, V in weights:
        for ((p, i), x), ((k, q), y) in product(A.items(), V.items()):
            key = (k, i, p, q) if p <= q else (k, i, q, p)
            found[key] = found.get(key, 0) + x * y
    return {key: value for key, value in found.items() if value}


def orbits(case: Case) -> list[Orbit]:
    """All orbits of nonzero functions, in increasing order."""
    ranks = product(range(1, case.alpha + 1), range(1, min(case.d, case.d_out) + 1))
    return [(r, s, m) for r, s in ranks for m in range(max(0, r + s - case.d), min(r, s) + 1)]


def orbit_dimension(orbit: Orbit, case: Case) -> int:
    """Subspaces L, U with L ∩ U of dimension m, and what spans them, less one for rescaling, as
    fibres are finite.
    """
    (r, s, m), d = orbit, case.d
    return r * d + s * case.d_out + m * (d - m) + (r - m) * (d - r) + (s - m) * (d - s) - 1


def representative(orbit: Orbit) -> Pair:
    """A = diag(1 … 1, 0 … 0); V has the rows e_1 … e_m, e_{r+1}, …; for m = 0 e_1 is added to the
    first of them.
    """
    r, s, m = orbit
    V = {(k, k if k < m else r + k - m): 1 for k in range(s)}
    return {(p, p): 1 for p in range(r)}, V | ({(0, 0): 1} if m == 0 else {})


def matrices(weights: Pair, case: Case) -> dict[str, list[list[Any]]]:
    """The weights as certificates have them."""
    sizes = (("A", case.d), ("V", case.d_out))
    named = zip(sizes, weights, strict=True)
    return {
        name: [[M.get((i, j), 0) for j in range(case.d)] for i in range(rows)]
        for (name, rows), M in named
    }


MOST_STEPS = 10**9  # orbits times squares of the number of weights


@lru_cache(maxsize=256)
def observe(d: int, d_out: int, alpha: int) -> tuple[dict[str, Any], dict[Orbit, list[Pair]]]:
    """The evidence about a case with t ≥ 2, and for each orbit the points (A, V) of its fibre."""
    case = Case(d, d_out, alpha, 2)
    fibres = {orbit: fibre(orbit, case) for orbit in orbits(case)}
    bounds = {orbit: tangent_bound(orbit, points, case) for orbit, (_, points) in fibres.items()}
    dimensions = {orbit: orbit_dimension(orbit, case) for orbit in fibres}
    length, points = fibres[generic := max(fibres, key=dimensions.__getitem__)]
    source = comb(dimensions[generic] - 1, d * d_out - 1) * paths(d, alpha)
    if (bounds[generic], length) != (dimensions[generic], len(points)) or source % length:
        raise ContradictionError(
            f"{case}: dimension {dimensions[generic]}, rank {bounds[generic]}, {source} points"
        )
    # The degree of the source once more, in another way. For 1 < α < d above MOST_VALUES it is
    # counted by paths alone.
    if alpha in (1, d):
        counted = section_points(case)
    elif alpha * (2 * d - alpha) <= MOST_VALUES:
        counted = comb(dimensions[generic] - 1, d * d_out - 1) * degree_by_values(d, alpha)
    else:
        counted = None
    if counted is not None and counted != source:
        raise ContradictionError(
            f"{case}: the source has degree {source} by paths, and {counted} in another way"
        )
    evidence = {
        "dimension": dimensions[generic],
        "degree": source // length if identities()[0] else None,
        "base_locus_empty": identities()[0],
        "products_determine_functions": identities()[2],
        "boundary_family": d > 1 and identities()[1],
        "generic_fibre": {"length": length, "points": len(points)},
        "orbits": [
            _facts(orbit, case, *fibres[orbit], bounds, dimensions, length == 1) for orbit in fibres
        ],
    }
    return evidence, {orbit: points for orbit, (_, points) in fibres.items()}


def _facts(
    orbit: Orbit,
    case: Case,
    length: int,
    points: Any,
    bounds: Any,
    dimensions: Mapping[Orbit, int],
    birational: bool,
) -> dict[str, Any]:
    """The facts about one orbit. Where the generic fibre is one reduced point, fibres decide
    smoothness (a lemma).
    """
    (r, s, m), smooth, reduced = orbit, case.alpha in (case.d, orbit[0]), length == len(points)
    # closures contain it
    above = [(R, S, M) for R, S, M in bounds if r <= R and s <= S and r + s - m <= R + S - M]
    witness = max(above, key=lambda o: (bounds[o], o == orbit, o))
    many = True if bounds[witness] > max(dimensions.values()) else None
    singular = many if not birational else True if length > 1 else False if smooth else many
    if singular is False and many:
        raise ContradictionError(
            f"at orbit {orbit} of {case} the fibre and tangent vectors disagree"
        )
    facts = {
        "orbit": list(orbit),
        "dimension": dimensions[orbit],
        "source_smooth": smooth,
        "singular": singular,
    }
    facts |= {
        "fibre_length": length,
        "fibre_points": len(points),
        "boundary": not reduced,
        "critical": not reduced,
    }
    return facts | {"tangent_lower_bound": bounds[witness], "tangent_witness": list(witness)}


def unpaid(evidence: Mapping[str, Any], case: Case) -> Difference | None:
    """Whether evidence lacks facts about all the orbits that it asks to be computed;
    TooExpensiveError for too many.
    """
    stored = evidence.get("orbits")
    listed: list[Any] = stored if isinstance(stored, list) else []
    # each pair (r, s) has an orbit
    if len(listed) < (pairs := case.alpha * min(case.d, case.d_out)):
        return Difference("evidence.orbits", f"{len(listed)} orbits", f"at least {pairs} orbits")
    if (steps := len(listed) * (case.d * (case.d + case.d_out)) ** 2) > MOST_STEPS:
        raise TooExpensiveError(
            "case", f"fibres and ranks at {len(listed)} orbits take {steps:.0e} steps"
        )
    facts = observe(1, 1, 1)[0]["orbits"][0].keys()
    if wrong := [
        i for i, given in enumerate(listed) if not isinstance(given, dict) or given.keys() != facts
    ]:
        return Difference(
            f"evidence.orbits[{wrong[0]}]", f"{listed[wrong[0]]!r:.80}", "facts about an orbit"
        )
    return difference(len(listed), len(orbits(case)), "number of orbits")


def fibre(orbit: Orbit, case: Case) -> tuple[int, list[Pair]]:
    """Length and points, with A_11 = V_11 = 1; V_1q is one of the roots of t² − c_{1,1,1,q} t +
    c_{1,1,q,q}.
    """
    c, V = function(representative(orbit)), representative(orbit)[1]
    roots = [
        {V.get((0, q), 0), c.get((0, 0, 0, q), 0) - V.get((0, q), 0)} for q in range(1, case.d)
    ]
    points = [pair for z in product(*roots) if function(pair := weights(c, (1, *z), case)) == c]
    excess = [_excess(*point, case) for point in points]
    if any(excess) and len(points) > 1:
        raise ContradictionError(
            f"the fibre over orbit {orbit} of {case} has several points, some not reduced"
        )
    return len(points) + sum(excess), points


def weights(c: Function, z: tuple[int, ...], case: Case) -> Pair:
    """The only (A, V) with A_11 = 1 and first row z of V that can have the function c."""
    d = range(case.d)
    A = {
        (q, i): c.get((0, i, 0, q), 0) - (z[q] * c.get((0, i, 0, 0), 0) if q else 0)
        for q in d
        for i in d
    }
    left = {k: c.get((k, 0, 0, 0), 0) for k in range(case.d_out)}
    V = {
        (k, q): c.get((k, 0, 0, q), 0) - (x * A[q, 0] if q else 0)
        for k, x in left.items()
        for q in d
    }
    return {at: x for at, x in A.items() if x}, {at: x for at, x in V.items() if x}


def _excess(A: Any, V: Any, case: Case) -> int:
    """The length of the fibre at a point of it, less one; its equations are Σ z_q L_q + Σ z_p z_q
    Q_pq = 0.
    """
    top = {i: x for (p, i), x in A.items() if p == 0}
    left = {k: y for (k, q), y in V.items() if q == 0}
    moves = [
        ({(q, i): -x for i, x in top.items()}, {(k, q): y for k, y in left.items()})
        for q in range(1, case.d)
    ]
    linear = [function((a, V), (A, b)) for a, b in moves]
    if (independent := rank(linear)) == len(moves):
        return 0
    squares = [function(move) for move in moves]
    mixed = [function((a, e), (f, b)) for (a, b), (f, e) in combinations(moves, 2)]
    if rank([*linear, *squares, *mixed]) - independent < comb(case.d, 2):
        raise ContradictionError(
            f"a fibre of {case} is not contained in a first-order neighbourhood"
        )
    return len(moves) - independent


def differential(A: Any, V: Any, orbit: Orbit, case: Case) -> Iterator[Function]:
    """Images of tangent vectors of {rk A ≤ α} × {V}: at rank α < d XA + AY, else all matrices (a
    lemma).
    """
    for i, j in product(range(case.d), repeat=2):
        if orbit[0] == case.alpha < case.d:
            yield function(({(i, column): x for (row, column), x in A.items() if row == j}, V))
            yield function(({(row, j): x for (row, column), x in A.items() if column == i}, V))
        else:
            yield function(({(i, j): 1}, V))
    yield from (function((A, {pair: 1})) for pair in product(range(case.d_out), range(case.d)))


def tangent_bound(orbit: Orbit, points: Sequence[Pair], case: Case) -> int:
    """Return the rank of tangent vectors: images of the differential at points of the fibre; at (1,
    1, 1) limits.
    """
    found = [vector for A, V in points for vector in differential(A, V, orbit, case)]
    for p, q in combinations_with_replacement(range(case.d), 2) if orbit == (1, 1, 1) else ():
        found += [{(0, i, p, q): 1} for i in range(case.d if case.alpha > 1 else 1)]
        found += [{(k, 0, p, q): 1} for k in range(case.d_out)]
    return rank(found)


def paths(d: int, alpha: int) -> int:
    """The degree of P(D_α): families of paths from (i, 1) to (1, i), d − α < i ≤ d, up and right,
    that do not meet.
    """
    return int(
        flint.fmpz_mat(
            [[comb(i + j, i) for j in range(d - alpha, d)] for i in range(d - alpha, d)]
        ).det()
    )


MOST_VALUES = 40
"""So many values of the Hilbert function of D_α are computed; more take longer than the rest of a
check.
"""


def degree_by_values(d: int, alpha: int) -> int:
    """The degree of P(D_α) from its Hilbert function h(n) = Σ (dim S_λ K^d)² over |λ| = n with at
    most α parts.

    h is a polynomial for all n ≥ 0, of degree one less than dim D_α, as D_α is Cohen–Macaulay with
    a negative a-invariant; its last nonzero difference, Σ (−1)^(D−n) C(D, n) h(n) with D that
    degree, is the degree of P(D_α).
    """
    last = alpha * (2 * d - alpha) - 1
    total = 0
    for n in range(last + 1):
        value = sum(schur_dimension(shape, d) ** 2 for shape in partitions(n, alpha))
        total += (-1) ** (last - n) * comb(last, n) * value
    return total


def partitions(n: int, parts: int, largest: int | None = None) -> Iterator[tuple[int, ...]]:
    """The partitions of n into at most so many parts."""
    if n == 0:
        yield ()
    elif parts:
        for first in range(min(n, n if largest is None else largest), 0, -1):
            yield from ((first, *rest) for rest in partitions(n - first, parts - 1, first))


def schur_dimension(shape: tuple[int, ...], d: int) -> int:
    """The dimension of S_λ K^d, by Weyl's formula."""
    rows = (*shape, *(0,) * (d - len(shape)))
    numerator = prod(rows[i] - rows[j] + j - i for i, j in combinations(range(d), 2))
    return numerator // prod(j - i for i, j in combinations(range(d), 2))


def section_points(case: Case) -> int:
    """The ways to distribute the roots of a polynomial of which A(T) V(T), for α = 1 k(T) q(T)
    V(T), is a multiple.
    """
    d, n = case.d, case.d * case.d_out
    degrees = (d - 1, d - 1, n - 1) if case.alpha == 1 else (d * d - 1, n - 1)
    return prod(comb(sum(degrees[: j + 1]), degree) for j, degree in enumerate(degrees))


@cache
def identities() -> tuple[bool, bool, bool]:
    """Whether φ(A, V) = 0 only for A = 0 or V = 0: x = l_p v_q satisfies x² − c_pq x + c_pp c_qq =
    0.

    Whether y_1 + iεy_2 and y_1 − iεy_2 have the product y_1² + ε²y_2², so that V_12 is a root of t²
    + ε². Whether an output (xᵀAx)(v·x) + (yᵀAx)(v·y) is Σ c_{i,p,q} x_i (x_p x_q + y_p y_q); three
    indices decide all d.
    """
    (lp, lq, vp, vq), (i, e), z, d = ring(4).gens(), ring(2).gens(), ring(18).gens(), range(3)
    base_locus = (lp * vq) ** 2 - (lp * vq + lq * vp) * (lp * vq) + (lp * vp) * (lq * vq)
    family = (i * e) + (-i * e) == 0 and (i * e) * (-i * e) - e**2 == -(i**2 + 1) * e**2
    A, V = {(p, j): z[3 * p + j] for p in d for j in d}, {(0, q): z[9 + q] for q in d}
    x, tokens = z[12:15], (z[12:15], z[15:])
    output = sum(
        a * u[p] * x[j] * v * u[q]
        for u in tokens
        for (p, j), a in A.items()
        for (_, q), v in V.items()
    )
    products = sum(
        c * x[j] * u[p] * u[q] for u in tokens for (_, j, p, q), c in function((A, V)).items()
    )
    return bool(base_locus == 0), bool(family), bool(output == products)


def images(
    rows: int, columns: int, variables: int, alpha: int, t: int = 2
) -> dict[tuple[int, ...], Any]:
    """The coefficients as polynomials in A, of size ``variables`` × ``columns``, and V, by (k, i,
    p, q), p ≤ q.

    Columns of A from α on are combinations of those before. For t = 1 those of the output, by (k,
    p, q, r), p ≤ q ≤ r.
    """
    alpha = min(alpha, columns)
    context = ring(variables * (rows + alpha) + alpha * (columns - alpha))
    weights, zero = iter(context.gens()), context.constant(0)
    sizes = ((rows, variables), (variables, alpha), (alpha, columns - alpha))
    V, left, right = ([[next(weights) for _ in range(m)] for _ in range(n)] for n, m in sizes)
    A = [
        [*row, *(sum(map(mul, row, column), zero) for column in zip(*right, strict=True))]
        for row in left
    ]
    inputs = combinations_with_replacement(range(variables), 4 - t)
    indices: list[Any] = [range(rows), *[range(columns)] * (t - 1), inputs]
    found = {}
    for k, *i, last in product(*indices):
        # A_pi V_kq and A_qi V_kp at x_i y_p y_q
        ways = {(p, *i, *others, q) for p, *others, q in permutations(last)}
        found[k, *i, *last] = sum((A[p][j] * V[k][q] for p, j, q in ways), zero)
    return found

"""Types of the weights (K, Q, O, V) of a head: which are critical points for open sets of targets.

Rests on: a type is exposed if a form B at some critical weights has the rank of the differential
(Lemma 1). It is not if its functions with the row spaces of K, Q, V and the column space of O have
a smaller dimension (Lemma 2). Nor is it if ν has larger ranks than the type allows, for general
critical weights of the type with the same A and W and factors of no larger ranks (Lemma 4).
Proved in: docs/training.md (proposition-types, lemma-form, lemma-dimension, lemma-factors,
theorem-exposed, theorem-saddles).
Computed here: the rank over QQ of the differential, at one point of each type; the rank of B
modulo a prime at this point, for a random scalar product and a random ν, on tangent vectors of a
chart; ranks of ν modulo the prime; dimensions of functions and spaces, by formulas.
On trust: the lemmas that a certificate lists.

Notation. That of exposed.py, with a d'×a matrix O, an a×d matrix V, and W = OV in place of V. A
type is (k, q, o, v, r, s, m): the ranks of K, Q, O, V, A = KᵀQ and W, and dim L ∩ U, where U is the
row space of W.

The chart of a type. K = M R, Q = N S with the equation of exposed.py for MᵀN. In the same way
Oᵀ = P H and V = J T, with P, J of o and v columns and PᵀJ of rank s. With P_1, the first s columns
of P, U is spanned by the s rows of P_1ᵀJ T. The first m rows of T are Y N_1ᵀM R, in L, and have to
be in U: the row space of P_1ᵀJ = (X | Z) contains the first m unit vectors. Near X = 1, Z = 0 that
says that the first m rows of X⁻¹Z are zero. At the point of this file it is Ż = 0 in these rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from random import Random
from typing import Any, NamedTuple

import flint

from m2bridge.certificates.form import Certificate, Content, Difference
from m2bridge.checker import statements, verdict
from m2bridge.checker.algebra import PRIME, rank, rank_modulo
from m2bridge.errors import TooExpensiveError
from m2bridge.families.attention.checker.case import (
    Case,
    Function,
    Sparse,
    function,
    orbit_dimension,
)
from m2bridge.families.attention.checker.exposed import (
    compared,
    coordinates,
    first_columns,
    first_rows,
    moves_of_product,
    plus,
    random_functional,
    times,
    transposed,
    value,
)
from m2bridge.families.attention.checker.statements import TOKENS, WORDS, failing_hypothesis

MOST_STEPS = 10**10
"""The most types, times the square of the weights, times the coordinates: minutes of ranks."""


class HeadType(NamedTuple):
    """The ranks of K, Q, O, V, A = KᵀQ and W = OV, and dim L ∩ U."""

    k: int
    q: int
    o: int
    v: int
    r: int
    s: int
    m: int

    @property
    def balanced(self) -> "HeadType":
        """The type of the same A and W whose factors have no larger ranks."""
        return self._replace(k=self.r, q=self.r, o=self.s, v=self.s)


def exposed_heads(certificate: Certificate) -> Content | Difference:
    """The content of a certificate on exposed types of heads: facts about each, and the verdict.

    TooExpensiveError for too many types of too many weights.
    """
    case = Case(**certificate.case)
    listed = WORDS.listed("exposed-heads", certificate.answer)
    reason = failing_hypothesis(TOKENS, case)
    if reason:
        return statements(WORDS, listed, [verdict(words, reason, "") for words in listed], {})
    steps = _number_of_types_at_most(case) * case.coordinate_count
    steps *= (case.a * (3 * case.d + case.d_out)) ** 2
    if steps > MOST_STEPS:
        raise TooExpensiveError("case", f"ranks of all types of heads take {steps:.0e} steps")
    facts = [dict(known) for known in facts_of_types(case)]
    predicted = [list(kind) for kind in types(case) if is_stated(kind, case)]
    return compared(predicted, facts, listed)


QUESTIONS = {"exposed-heads": exposed_heads}


@cache
def facts_of_types(case: Case) -> tuple[dict[str, Any], ...]:
    """What a certificate says of each type of a case; it depends on the case alone."""
    return tuple(facts_of(kind, case) for kind in types(case))


def _number_of_types_at_most(case: Case) -> int:
    of_values = min(case.a, case.d_out) * case.alpha * min(case.d, case.d_out)
    return case.alpha**3 * of_values * (case.alpha + 1)


def ranks_of_products(left: int, inner: int, right: int) -> list[tuple[int, int, int]]:
    """The ranks of a left × inner matrix, an inner × right one, and their nonzero product."""
    found = []
    for one in range(1, min(left, inner) + 1):
        for other in range(1, min(inner, right) + 1):
            least = max(1, one + other - inner)
            found += [(one, other, common) for common in range(least, min(one, other) + 1)]
    return found


def types(case: Case) -> list[HeadType]:
    """All types, in the order of their ranks (k, q, r, s, m, o, v). L + U fits into R^d."""
    of_a = ranks_of_products(case.d, case.a, case.d)
    of_w = ranks_of_products(case.d_out, case.a, case.d)
    found = []
    for (k, q, r), (o, v, s) in product(of_a, of_w):
        least = max(0, r + s - case.d)
        most = min(r, s)
        shared = range(least, most + 1)
        found += [HeadType(k=k, q=q, o=o, v=v, r=r, s=s, m=m) for m in shared]
    return sorted(found, key=_place_in_order)


def _place_in_order(kind: HeadType) -> tuple[int, ...]:
    """What decides where a type stands among all types."""
    return (kind.k, kind.q, kind.r, kind.s, kind.m, kind.o, kind.v)


def is_stated(kind: HeadType, case: Case) -> bool:
    """Whether the theorem says that a type is exposed (docs/training.md#theorem-exposed)."""
    if not kind.k == kind.q == kind.r:
        return False
    if kind.o - kind.s > max(0, case.d_out - case.d):
        return False
    if kind.v - kind.s > max(0, case.d - case.d_out):
        return False
    return kind.m == max(0, kind.r + kind.s - case.d) or kind.r == kind.s == kind.m == 1


def dimension_with_spaces(kind: HeadType, case: Case) -> int:
    """The dimension of the functions with the row spaces of K, Q, V and the column space of O.

    These spaces contain those of A and W, and are otherwise free.
    """
    of_k = (kind.k - kind.r) * (case.d - kind.k)
    of_q = (kind.q - kind.r) * (case.d - kind.q)
    of_o = (kind.o - kind.s) * (case.d_out - kind.o)
    of_v = (kind.v - kind.s) * (case.d - kind.v)
    return dimension_of_functions(kind, case) + of_k + of_q + of_o + of_v


def dimension_of_functions(kind: HeadType, case: Case) -> int:
    """The dimension of the orbit (r, s, m)."""
    return orbit_dimension((kind.r, kind.s, kind.m), case)


def facts_of(kind: HeadType, case: Case) -> dict[str, Any]:
    """What a certificate says of a type: dimensions, ranks, and what follows from them."""
    chart = HeadChart(kind, case)
    images = [chart.image(w) for w in chart.all_directions]
    differential = rank(images)
    with_spaces = dimension_with_spaces(kind, case)
    nu = random_functional(images, case, Random(f"{case} {kind}"))
    rank_of_form = rank_modulo(form(chart, images, nu))
    is_exposed = None
    if rank_of_form == differential:
        is_exposed = True
    elif with_spaces < differential or is_bounded(kind, case):
        is_exposed = False
    is_saddle = None
    if is_exposed and has_descending_direction(chart, nu):
        is_saddle = True
    return {
        "type": list(kind),
        "functions": dimension_of_functions(kind, case),
        "functions_with_spaces": with_spaces,
        "rank": differential,
        "form_rank": rank_of_form,
        "exposed": is_exposed,
        "saddle": is_saddle,
    }


def is_bounded(kind: HeadType, case: Case) -> bool:
    """Whether Lemma 4 proves that a type is not exposed.

    Critical weights of the type are those of the balanced type, with the same ν, where ν has rank
    at most d − max(k, q) on A and min(d' − o, d − v) on W. The pairs of functions of the balanced
    type and ν are irreducible. So it is enough that they have fewer dimensions than there are
    targets; or as many, and general ν larger ranks.
    """
    balanced = kind.balanced
    if kind == balanced:
        return False
    chart = HeadChart(balanced, case)
    images = [chart.image(w) for w in chart.all_directions]
    functions, differential = dimension_of_functions(balanced, case), rank(images)
    if functions != differential:
        return functions < differential
    nu = random_functional(images, case, Random(f"{case} {balanced} {kind}"))
    on_a = rank_modulo(matrix_on_a(chart, nu))
    on_w = rank_modulo(matrix_on_w(chart, nu))
    most_on_a = case.d - max(kind.k, kind.q)
    most_on_w = min(case.d_out - kind.o, case.d - kind.v)
    return on_a > most_on_a or on_w > most_on_w


def has_descending_direction(chart: "HeadChart", nu: Function) -> bool:
    """Whether K and Q, or O and V, can move so that the loss decreases to second order.

    True if k = q = r < a and ν is not zero on some f(A', W), or if o = v = s < a and ν is not zero
    on some f(A, W'), for any matrices A', W' of the sizes of A and W. For as rk KᵀQ is that of K
    and of Q, R^a is the direct sum of col K and (col Q)^⊥; so there are e ⊥ col Q and e' ⊥ col K
    with e·e' ≠ 0, and K + εexᵀ with Q + εe'yᵀ changes A by ε²(e·e')xyᵀ only. In the same way for O
    and V (docs/training.md#theorem-saddles). True is proved; False may come from an unlucky prime.
    """
    kind, most = chart.kind, chart.case.a
    if kind.k == kind.q == kind.r < most and rank_modulo(matrix_on_a(chart, nu)):
        return True
    return bool(kind.o == kind.v == kind.s < most and rank_modulo(matrix_on_w(chart, nu)))


@dataclass(frozen=True)
class Direction:
    """A direction in which weights move: a tangent vector of all (K, Q, O, V)."""

    K: Sparse
    Q: Sparse
    O: Sparse
    V: Sparse


@dataclass(frozen=True)
class Moves:
    """By how much A and W move along a direction of weights."""

    along: Direction
    A: Sparse
    W: Sparse


class HeadChart:
    """A chart of a type at a point: its tangent vectors there, and their images.

    At the point M and N have different unit vectors as columns but for the first r, which are the
    same, and P and J but for the first s; R, S and H have the first unit vectors as rows. T has
    e_1, …, e_m, then those outside the row space of K, those in it but not in L, the rest of L.
    """

    def __init__(self, kind: HeadType, case: Case) -> None:
        k, q, o, v, r, s, m = kind
        self.kind = kind
        self.case = case
        self.M, self.N = unit_factors(k, q, r)
        self.P, self.J = unit_factors(o, v, s)
        self.R = identity(k)
        self.S = identity(q)
        self.H = identity(o)
        places = [*range(m), *range(k, case.d), *range(r, k), *range(m, r)]
        self.T: Sparse = dict.fromkeys(enumerate(places[:v]), 1)
        self.K = times(self.M, self.R)
        self.Q = times(self.N, self.S)
        self.O = transposed(times(self.P, self.H))
        self.V = times(self.J, self.T)
        self.A = times(transposed(self.K), self.Q)
        self.W = times(self.O, self.V)
        self.all_directions = list(self._all_directions())

    def _all_directions(self) -> Iterator[Direction]:
        """All directions of weights, one for each entry."""
        d, a = self.case.d, self.case.a
        for place in product(range(a), range(d)):
            yield Direction({place: 1}, {}, {}, {})
            yield Direction({}, {place: 1}, {}, {})
            yield Direction({}, {}, {}, {place: 1})
        for place in product(range(self.case.d_out), range(a)):
            yield Direction({}, {}, {place: 1}, {})

    def tangents(self) -> Iterator[Direction]:
        """The tangent vectors of the type: the derivatives of the chart by its parameters."""
        k, q, o, v, r, s, m = self.kind
        a, d = self.case.a, self.case.d
        for M, N in moves_of_factors(a, k, q, r, tied=range(r, k)):
            yield self._direction(M=M, N=N)
        for P, J in moves_of_factors(a, o, v, s, tied=[*range(m), *range(s, o)]):
            yield self._direction(P=P, J=J)
        for place in product(range(k), range(d)):
            yield self._direction(R={place: 1})
        for place in product(range(q), range(d)):
            yield self._direction(S={place: 1})
        for place in product(range(o), range(self.case.d_out)):
            yield self._direction(H={place: 1})
        for place in product(range(m), range(r)):  # Y moves a row of T along L
            yield self._direction(T={place: 1})
        for place in product(range(m, v), range(d)):
            yield self._direction(T={place: 1})

    def _direction(self, **moved: Sparse) -> Direction:
        """The direction of weights in which some of the matrices of the chart move.

        The first m rows of T are those of Y N_1ᵀM R: they move with N_1, M and R, too.
        """
        r, m = self.kind.r, self.kind.m
        M, N, R, S, P, J, H, T = (moved.get(name, {}) for name in "MNRSPJHT")
        K = plus(times(M, self.R), times(self.M, R))
        Q = plus(times(N, self.S), times(self.N, S))
        O = transposed(plus(times(P, self.H), times(self.P, H)))
        N_1 = first_columns(self.N, r)
        L_moves = moves_of_product((N_1, self.K), (first_columns(N, r), K))
        T_moves = plus(T, first_rows(L_moves, m))
        V = plus(times(J, self.T), times(self.J, T_moves))
        return Direction(K, Q, O, V)

    def moves(self, x: Direction) -> Moves:
        """By how much A and W move: Ȧ = K̇ᵀQ + KᵀQ̇ and Ẇ = ȮV + OV̇."""
        return Moves(
            along=x,
            A=moves_of_product((self.K, self.Q), (x.K, x.Q)),
            W=plus(times(x.O, self.V), times(self.O, x.V)),
        )

    def image(self, x: Direction) -> Function:
        """The image of a direction under the differential: f(Ȧ, W) + f(A, Ẇ)."""
        moves = self.moves(x)
        return function((moves.A, self.W), (self.A, moves.W))

    def second_derivative(self, x: Moves, w: Moves) -> Function:
        """The second derivative of φ: f(Ȧ_x, Ẇ_w) + f(Ȧ_w, Ẇ_x) + f(A_xw, W) + f(A, W_xw).

        The second derivatives of A and W are A_xw = K̇_xᵀQ̇_w + K̇_wᵀQ̇_x and
        W_xw = Ȯ_xV̇_w + Ȯ_wV̇_x.
        """
        A_xw = plus(
            times(transposed(x.along.K), w.along.Q), times(transposed(w.along.K), x.along.Q)
        )
        W_xw = plus(times(x.along.O, w.along.V), times(w.along.O, x.along.V))
        pairs = [(x.A, w.W), (w.A, x.W), (A_xw, self.W), (self.A, W_xw)]
        return function(*pairs)


def unit_factors(left: int, right: int, common: int) -> tuple[Sparse, Sparse]:
    """Two matrices of different unit vectors, of these ranks, whose first columns are the same."""
    other: dict[tuple[int, int], int] = {}
    for j in range(right):
        row = j if j < common else left + j - common
        other[row, j] = 1
    return identity(left), other


def identity(size: int) -> Sparse:
    """The first unit vectors."""
    return {(i, i): 1 for i in range(size)}


def moves_of_factors(
    inner: int, left: int, right: int, common: int, *, tied: Sequence[int]
) -> Iterator[tuple[Sparse, Sparse]]:
    """Moves of :func:`unit_factors` M and N, of which ``tied`` rows of MᵀN_2 must not move.

    N_2 are the columns of N that are not those of M: row left + j − common of column j. An entry
    (i, j) of MᵀN_2 moves with entry (left + j − common, i) of M, and with entry (i, j) of N.
    """
    for row, i in product(range(inner), range(left)):
        taken_back: Sparse = {}
        if i in tied and left <= row < left + right - common:
            taken_back = {(i, common + row - left): -1}
        yield {(row, i): 1}, taken_back
    for i, j in product(range(inner), range(right)):
        if i in tied and j >= common:
            # this is what takes back the moves of M
            continue
        yield {}, {(i, j): 1}


def form(chart: HeadChart, images: Sequence[Function], nu: Function) -> list[list[int]]:
    """The matrix of B: a row for each tangent vector of the type, a column for each entry.

    G is Σ g c² over the coordinates c, with random g > 0. B is bilinear, so its rows are
    combinations of those for the single entries of weights.
    """
    random = Random(str(chart.kind))
    g = {index: random.randrange(1, PRIME) for index in coordinates(chart.case)}
    moves = [chart.moves(w) for w in chart.all_directions]
    on_entries = []
    for x, image_of_x in zip(moves, images, strict=True):
        weighted = {c: g[c] * y for c, y in image_of_x.items()}
        row = []
        for w, image_of_w in zip(moves, images, strict=True):
            product_of_images = sum(y * image_of_w.get(c, 0) for c, y in weighted.items())
            second = value(nu, chart.second_derivative(x, w))
            row.append((product_of_images - second) % PRIME)
        on_entries.append(row)
    tangents = [entries_of(x, chart) for x in chart.tangents()]
    found = modular(tangents) * modular(on_entries)
    return [list(map(int, row)) for row in found.tolist()]


def modular(rows: Sequence[Sequence[int]]) -> Any:
    """The matrix modulo the prime with these rows."""
    return flint.nmod_mat([[x % PRIME for x in row] for row in rows], PRIME)


def entries_of(x: Direction, chart: HeadChart) -> list[int]:
    """A direction as a combination of those of single entries."""
    found = []
    for unit in chart.all_directions:
        for name in ("K", "Q", "O", "V"):
            entries = getattr(x, name)
            found += [entries.get(place, 0) for place in getattr(unit, name)]
    return found


def matrix_on_a(chart: HeadChart, nu: Function) -> list[list[int]]:
    """The form A' ↦ ν(f(A', W)) as a d×d matrix, modulo the prime."""
    size = range(chart.case.d)
    return [[value(nu, function(({(p, i): 1}, chart.W))) % PRIME for i in size] for p in size]


def matrix_on_w(chart: HeadChart, nu: Function) -> list[list[int]]:
    """The form W' ↦ ν(f(A, W')) as a d'×d matrix, modulo the prime."""
    rows, columns = range(chart.case.d_out), range(chart.case.d)
    return [[value(nu, function((chart.A, {(k, q): 1}))) % PRIME for q in columns] for k in rows]

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
type is (k, q, o, v, r, s, m): the ranks of K, Q, O, V, A = KᵀQ and W, and dim L ∩ U, where L is the
column space of A and U the row space of W. f maps (A, W) to functions, and φ weights to functions;
ν is a linear functional on functions that vanishes on the image of the differential of φ, and
B(x, w) = G(dφ x, dφ w) − ν(d²φ(x, w)). Matrices are sparse, {(row, column): entry}, and Ṁ is the
derivative of a matrix M.

The chart of a type. K = M R, Q = N S with the equation of exposed.py for MᵀN. In the same way
Oᵀ = P H and V = J T, with P, J of o and v columns and PᵀJ of rank s. With P_1, the first s columns
of P, U is spanned by the s rows of P_1ᵀJ T. The first m rows of T are Y N_1ᵀM R, in L, and have to
be in U: the row space of P_1ᵀJ = (X | Z) contains the first m unit vectors. Near X = 1, Z = 0 that
says that the first m rows of X⁻¹Z are zero. At the point of this file it is Ż = 0 in these rows.

Certificates. A Content is what a certificate should have, as it is found here: the answer with its
verdicts, the evidence, and the lemmas that are taken on trust. A Difference says where what is
stored differs: a place, what stands there, what was found. WORDS has the sentences of certificates,
of words.toml; ``listed`` are the statements that a certificate lists.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from random import Random
from typing import Any, NamedTuple

import flint

from m2bridge.certificates.form import Certificate, Content, Difference
from m2bridge.checker.algebra import PRIME, rank, rank_modulo
from m2bridge.errors import TooExpensiveError
from m2bridge.families.attention.checker.case import (
    Case,
    Function,
    Sparse,
    add,
    first_columns,
    first_rows,
    function,
    identity,
    moves_of_product,
    multiply,
    orbit_dimension,
    transpose,
    unit_factors,
)
from m2bridge.families.attention.checker.exposed import (
    content_of_types,
    coordinate_indices,
    decide_exposed,
    moves_of_factors,
    random_functional,
    value,
)
from m2bridge.families.attention.checker.statements import (
    TOKENS,
    WORDS,
    failing_hypothesis,
    inapplicable,
)

MOST_STEPS = 10**10
"""The largest number of types times the square of the number of weights times the number of
coordinates: ranks of all types then take minutes.
"""


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
        """The type with the same r, s, m and the least ranks: r of K and Q, and s of O and V."""
        return self._replace(k=self.r, q=self.r, o=self.s, v=self.s)


def exposed_heads(certificate: Certificate) -> Content | Difference:
    """The content of a certificate on exposed types of heads: facts about each type, and verdicts.

    There is a verdict on each statement that the certificate lists. For one token no statement
    applies, and there are no facts. TooExpensiveError for too many types of too many weights.
    """
    case = Case(**certificate.case)
    listed = WORDS.listed("exposed-heads", certificate.answer)
    reason = failing_hypothesis(TOKENS, case)  # words, or None if there are several tokens
    if reason is not None:
        return inapplicable(listed, reason)
    number_of_weights = case.a * (3 * case.d + case.d_out)
    steps = _number_of_types_at_most(case) * number_of_weights**2 * case.coordinate_count
    if steps > MOST_STEPS:
        raise TooExpensiveError("case", f"ranks of all types of heads take {steps:.0e} steps")
    facts = list(map(dict, facts_of_types(case)))  # copies, as the dictionaries are cached
    predicted = [list(kind) for kind in types(case) if is_stated(kind, case)]
    return content_of_types(predicted, facts, listed)


QUESTIONS = {"exposed-heads": exposed_heads}


@cache
def facts_of_types(case: Case) -> tuple[dict[str, Any], ...]:
    """What a certificate says of each type of a case; it depends on the case alone."""
    return tuple(facts_of(kind, case) for kind in types(case))


def _number_of_types_at_most(case: Case) -> int:
    """An upper bound for the number of types, from the largest values of the seven ranks.

    k, q and r are at most α, o at most min(a, d'), v at most α, s at most min(d, d'), and m is one
    of 0, …, α.
    """
    choices_of_k_q_r = case.alpha**3
    choices_of_o_v_s = min(case.a, case.d_out) * case.alpha * min(case.d, case.d_out)
    return choices_of_k_q_r * choices_of_o_v_s * (case.alpha + 1)


class ProductRanks(NamedTuple):
    """The ranks of two matrices X and Y and of their product: rk X, rk Y, rk XY."""

    first: int
    second: int
    product: int


def ranks_of_products(rows: int, inner: int, columns: int) -> list[ProductRanks]:
    """All (rk X, rk Y, rk XY) for a rows × inner matrix X and an inner × columns one Y, XY ≠ 0.

    rk XY ≥ rk X + rk Y − inner (Sylvester), and all values from there to the smaller of rk X and
    rk Y occur.
    """
    found = []
    for rank_x in range(1, min(rows, inner) + 1):
        for rank_y in range(1, min(inner, columns) + 1):
            least = max(1, rank_x + rank_y - inner)
            most = min(rank_x, rank_y)
            products = range(least, most + 1)  # the ranks of XY that occur
            found += [ProductRanks(rank_x, rank_y, rank_xy) for rank_xy in products]
    return found


def types(case: Case) -> list[HeadType]:
    """All types of a case, in the order of their ranks (k, q, r, s, m, o, v).

    m = dim L ∩ U is at least r + s − d, because L + U, of dimension r + s − m, is in R^d.
    """
    of_a = ranks_of_products(case.d, case.a, case.d)  # of Kᵀ, Q and A
    of_w = ranks_of_products(case.d_out, case.a, case.d)  # of O, V and W
    found = []
    for (k, q, r), (o, v, s) in product(of_a, of_w):
        least = max(0, r + s - case.d)
        most = min(r, s)
        dimensions = range(least, most + 1)
        found += [HeadType(k=k, q=q, o=o, v=v, r=r, s=s, m=m) for m in dimensions]
    return sorted(found, key=_place_in_order)


def _place_in_order(kind: HeadType) -> tuple[int, ...]:
    """The ranks in the order in which types are compared: those of exposed.py, then o and v."""
    return (kind.k, kind.q, kind.r, kind.s, kind.m, kind.o, kind.v)


def is_stated(kind: HeadType, case: Case) -> bool:
    """Whether the theorem says that a type is exposed (docs/training.md#theorem-exposed).

    It does exactly if the four conditions below hold.
    """
    if not kind.k == kind.q == kind.r:
        return False
    if kind.o - kind.s > max(0, case.d_out - case.d):
        return False
    if kind.v - kind.s > max(0, case.d - case.d_out):
        return False
    intersection_is_smallest = kind.m == max(0, kind.r + kind.s - case.d)
    is_of_squares = kind.r == kind.s == kind.m == 1  # A = v qᵀ and W = h vᵀ
    return intersection_is_smallest or is_of_squares


def dimension_with_spaces(kind: HeadType, case: Case) -> int:
    """The dimension of all (f, row K, row Q, col O, row V): functions f with these four spaces.

    That is the number of Lemma 2. The row space of K contains L, the column space of A, and is
    otherwise free. In the same way the row space of Q contains the row space of A, and the column
    space of O and the row space of V contain those of W. So for each f the four choices of a space
    are independent, and their dimensions are added to that of the functions.
    """
    of_k = choices_of_spaces(kind.k, containing=kind.r, inside=case.d)
    of_q = choices_of_spaces(kind.q, containing=kind.r, inside=case.d)
    of_o = choices_of_spaces(kind.o, containing=kind.s, inside=case.d_out)
    of_v = choices_of_spaces(kind.v, containing=kind.s, inside=case.d)
    return dimension_of_functions(kind, case) + of_k + of_q + of_o + of_v


def choices_of_spaces(dimension: int, *, containing: int, inside: int) -> int:
    """The dimension of the variety of all spaces of dimension ``dimension`` with a given subspace.

    The given space has the dimension ``containing``, and all are in one of the dimension
    ``inside``. They correspond to the spaces of dimension ``dimension`` − ``containing`` in the
    quotient of the space of dimension ``inside`` by the given space.
    """
    return (dimension - containing) * (inside - dimension)


def dimension_of_functions(kind: HeadType, case: Case) -> int:
    """The dimension of the functions of a type: they are the orbit (r, s, m) of case.py."""
    return orbit_dimension((kind.r, kind.s, kind.m), case)


def facts_of(kind: HeadType, case: Case) -> dict[str, Any]:
    """What a certificate says of a type: dimensions, ranks, and what follows from them.

    ``functions`` is the dimension of the functions of the type, and ``functions_with_spaces`` that
    of the functions with the row spaces of K, Q, V and the column space of O. ``rank`` is that of
    the differential of φ at the point of the chart, and ``form_rank`` that of B. ``exposed`` is
    None if no lemma decides, and ``saddle`` is None unless weights of an exposed type are proved to
    be saddles of the loss.
    """
    chart = HeadChart(kind, case)
    images = [chart.image_of_direction(w) for w in chart.all_directions]
    facts: dict[str, Any] = {
        "type": list(kind),
        "functions": dimension_of_functions(kind, case),
        "functions_with_spaces": dimension_with_spaces(kind, case),
        "rank": rank(images),
    }
    # ν vanishes on the image of the differential: so the point is critical for this ν
    nu = random_functional(images, case, Random(f"{case} {kind}"))
    facts["form_rank"] = rank_modulo(form(chart, images, nu))
    facts["exposed"] = decide_exposed(facts)
    if facts["exposed"] is None and is_excluded_by_factors(kind, case):
        facts["exposed"] = False  # Lemma 4
    facts["saddle"] = None
    if facts["exposed"] and is_descent_proved(chart, nu):
        facts["saddle"] = True
    return facts


def is_excluded_by_factors(kind: HeadType, case: Case) -> bool:
    """Whether Lemma 4 proves that a type is not exposed; False also where it says nothing.

    If weights of the type are critical, so are weights of the balanced type with the same A, W and
    ν, and ν has rank at most d − max(k, q) on A and min(d' − o, d − v) on W. The balanced type has
    the ranks r of K and Q, and s of O and V.

    The pairs (f, ν) of a function f of the balanced type and a ν for which f is critical are an
    irreducible family. Targets have N dimensions, and the ν for one f have N less the rank of the
    differential. So the dimension of the family, less N, is the dimension of the functions less
    this rank. Call it the excess.

    * If the excess is negative, general targets have no such pair: the type is not exposed.
    * If it is zero, an open set of targets has general pairs, and the type is not exposed if a
      general ν has one of the two ranks larger.
    * If it is positive the lemma says nothing.
    """
    balanced = kind.balanced
    if kind == balanced:
        return False  # the lemma compares a type with another one
    chart = HeadChart(balanced, case)
    images = [chart.image_of_direction(w) for w in chart.all_directions]
    excess = dimension_of_functions(balanced, case) - rank(images)
    if excess < 0:
        return True  # whatever the ranks of ν are
    if excess > 0:
        return False  # the lemma says nothing
    # a general ν that vanishes on the image of the differential
    nu = random_functional(images, case, Random(f"{case} {balanced} {kind}"))
    largest_on_a = case.d - max(kind.k, kind.q)
    if rank_modulo(matrix_on_a(chart, nu)) > largest_on_a:
        return True
    largest_on_w = min(case.d_out - kind.o, case.d - kind.v)
    return rank_modulo(matrix_on_w(chart, nu)) > largest_on_w


def is_descent_proved(chart: "HeadChart", nu: Function) -> bool:
    """Whether it is proved that the loss decreases to second order as K and Q, or O and V, move.

    True if k = q = r < a and ν(f(A', W)) ≠ 0 for some d × d matrix A', or if o = v = s < a and
    ν(f(A, W')) ≠ 0 for some d' × d matrix W'.

    The reason: as rk KᵀQ is that of K and of Q, R^a is the direct sum of col K and (col Q)^⊥. So
    there are e ⊥ col Q and e' ⊥ col K with e·e' ≠ 0, and K + εexᵀ with Q + εe'yᵀ changes A by
    ε²(e·e')xyᵀ only. The loss then changes by −ε²(e·e')ν(f(xyᵀ, W)) to second order. If this is not
    zero it is negative for x or for −x. The same holds for O and V (docs/training.md,
    theorem-saddles). False proves nothing: other directions are not tried, and the prime may be
    unlucky.
    """
    kind = chart.kind
    a = chart.case.a
    # a form is not zero exactly if the rank of its matrix is not
    if kind.k == kind.q == kind.r < a and rank_modulo(matrix_on_a(chart, nu)) > 0:
        return True
    return kind.o == kind.v == kind.s < a and rank_modulo(matrix_on_w(chart, nu)) > 0


@dataclass(frozen=True)
class Direction:
    """A direction in which weights move: a tangent vector (K̇, Q̇, Ȯ, V̇) of all (K, Q, O, V)."""

    K: Sparse = field(default_factory=dict)
    Q: Sparse = field(default_factory=dict)
    O: Sparse = field(default_factory=dict)
    V: Sparse = field(default_factory=dict)


@dataclass(frozen=True)
class Moves:
    """The derivatives Ȧ and Ẇ of A and W along a direction of weights, ``along``."""

    along: Direction
    A: Sparse
    W: Sparse


class HeadChart:
    """A chart of a type at a point: its tangent vectors there, and their images.

    The chart is K = M R, Q = N S, Oᵀ = P H, V = J T with M, N, P, J of k, q, o, v columns. N =
    (N_1 | N_2) and M = (M_1 | M_2) have r columns first, and P = (P_1 | P_2) and J = (J_1 | J_2)
    have s; P_1ᵀJ = (X | Z) with s columns in X. The first m rows of T are Y N_1ᵀM R, with an m × r
    matrix Y; they are in L, which the rows of N_1ᵀM R span.

    At the point M and N have different unit vectors as columns but for the first r, which are the
    same, and P and J but for the first s; R, S and H have the first unit vectors as rows. T has as
    rows e_1, …, e_m, then the e_j outside the row space of K, those in it but not in L, and the
    rest of L: the first v of these.
    """

    def __init__(self, kind: HeadType, case: Case) -> None:
        """Set the matrices of the point for a type of a case, and list all directions there."""
        k, q, o, v, r, s, m = kind
        self.kind = kind
        self.case = case
        self.M, self.N = unit_factors(k, q, r)
        self.P, self.J = unit_factors(o, v, s)
        self.R = identity(k)
        self.S = identity(q)
        self.H = identity(o)
        # the j of the e_j that are rows of T, in the order of the docstring of the class: L is
        # spanned by the first r, and the row space of K by the first k
        units = [*range(m), *range(k, case.d), *range(r, k), *range(m, r)]
        self.T: Sparse = dict.fromkeys(enumerate(units[:v]), 1)
        self.K = multiply(self.M, self.R)
        self.Q = multiply(self.N, self.S)
        self.O = transpose(multiply(self.P, self.H))
        self.V = multiply(self.J, self.T)
        self.A = multiply(transpose(self.K), self.Q)
        self.W = multiply(self.O, self.V)
        self.all_directions = list(self._all_directions())

    def _all_directions(self) -> Iterator[Direction]:
        """Yield a basis of all directions of weights: one for each entry of K, Q, V and O."""
        d, a = self.case.d, self.case.a
        for place in product(range(a), range(d)):
            yield Direction(K={place: 1})
            yield Direction(Q={place: 1})
            yield Direction(V={place: 1})
        for place in product(range(self.case.d_out), range(a)):
            yield Direction(O={place: 1})

    def tangents(self) -> Iterator[Direction]:
        """Yield tangent vectors that span those of the type: derivatives of the chart.

        The parameters are the entries of M, N, R, S, P, J, H, of Y and of the rows of T from m on,
        where M, N and P, J are tied by the equations of the chart. For M and N they say that
        M_2ᵀN_2 does not move: these are the rows of MᵀN_2 from r on. In the same way the rows of
        PᵀJ_2 from s on do not move. The first s rows of PᵀJ_2 are Z, and the equation of the chart
        is that the first m rows of Z do not move.
        """
        k, q, o, v, r, s, m = self.kind
        a, d = self.case.a, self.case.d
        for M, N in moves_of_factors(a, k, q, r, fixed_rows=range(r, k)):
            yield self._direction(M=M, N=N)
        for P, J in moves_of_factors(a, o, v, s, fixed_rows=[*range(m), *range(s, o)]):
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
        """The direction (K̇, Q̇, Ȯ, V̇) of weights in which some of the matrices of the chart move.

        The chart is K = M R, Q = N S, Oᵀ = P H and V = J T. ``moved`` has the derivatives of those
        matrices that move, by their letters; the other matrices do not move. The first m rows of T
        are those of Y N_1ᵀM R = Y N_1ᵀK, where N_1 has the first r columns of N, and Y = (1 | 0) at
        the point. So these rows move by what ``moved`` has for T, which comes from Y, and by the
        first m rows of the derivative of N_1ᵀK.
        """
        r, m = self.kind.r, self.kind.m
        # derivatives, by the letters of the matrices themselves
        M, N, R, S, P, J, H, T = (moved.get(name, {}) for name in "MNRSPJHT")
        K = add(multiply(M, self.R), multiply(self.M, R))
        Q = add(multiply(N, self.S), multiply(self.N, S))
        O_transposed = add(multiply(P, self.H), multiply(self.P, H))
        O = transpose(O_transposed)
        # N_1ᵀK has as rows a basis of L
        N_1 = first_columns(self.N, r)
        N_1_moves = first_columns(N, r)
        L_moves = moves_of_product((N_1, self.K), (N_1_moves, K))
        T_moves = add(T, first_rows(L_moves, m))
        V = add(multiply(J, self.T), multiply(self.J, T_moves))
        return Direction(K=K, Q=Q, O=O, V=V)

    def moves(self, x: Direction) -> Moves:
        """The derivatives of A and W along x: Ȧ = K̇ᵀQ + KᵀQ̇ and Ẇ = ȮV + OV̇."""
        return Moves(
            along=x,
            A=moves_of_product((self.K, self.Q), (x.K, x.Q)),
            W=add(multiply(x.O, self.V), multiply(self.O, x.V)),
        )

    def image_of_direction(self, x: Direction) -> Function:
        """The image of a direction under the differential: f(Ȧ, W) + f(A, Ẇ)."""
        moves = self.moves(x)
        return function((moves.A, self.W), (self.A, moves.W))

    def second_derivative(self, x: Moves, w: Moves) -> Function:
        """The second derivative of φ: f(Ȧ_x, Ẇ_w) + f(Ȧ_w, Ẇ_x) + f(A_xw, W) + f(A, W_xw).

        x and w are the moves of A and W along the two directions of the derivatives. The second
        derivatives of A and W are A_xw = K̇_xᵀQ̇_w + K̇_wᵀQ̇_x and W_xw = Ȯ_xV̇_w + Ȯ_wV̇_x.
        """
        along_x = x.along
        along_w = w.along
        A_xw = add(
            multiply(transpose(along_x.K), along_w.Q), multiply(transpose(along_w.K), along_x.Q)
        )
        W_xw = add(multiply(along_x.O, along_w.V), multiply(along_w.O, along_x.V))
        summands = [(x.A, w.W), (w.A, x.W), (A_xw, self.W), (self.A, W_xw)]
        return function(*summands)


def form(chart: HeadChart, images: Sequence[Function], nu: Function) -> list[list[int]]:
    """The matrix of B modulo the prime, as rows.

    It has a row for each tangent vector of the type, and a column for each entry of weights, in the
    order of ``chart.all_directions``. ``images`` are those of ``chart.all_directions`` under the
    differential, in their order. B is bilinear, so its rows are combinations of those for the
    single entries of weights.
    """
    tangents = [entries_of(x, chart) for x in chart.tangents()]
    on_entries = form_on_entries(chart, images, nu)
    form_on_tangents = matrix_modulo_prime(tangents) * matrix_modulo_prime(on_entries)
    return [list(map(int, row)) for row in form_on_tangents.tolist()]


def form_on_entries(chart: HeadChart, images: Sequence[Function], nu: Function) -> list[list[int]]:
    """The values B(x, w) = G(dφ x, dφ w) − ν(d²φ(x, w)) modulo the prime, for single entries.

    There is a row for each x and a column for each w of ``chart.all_directions``, in this order,
    and ``images`` are their images under dφ. G is the scalar product Σ g c c' over the coordinates
    of functions c and c', with random g > 0, which are the same for all forms of one type.
    """
    random = Random(str(chart.kind))
    g = {index: random.randrange(1, PRIME) for index in coordinate_indices(chart.case)}
    moves = [chart.moves(w) for w in chart.all_directions]
    rows = []
    for x, image_of_x in zip(moves, images, strict=True):
        weighted_image = {index: g[index] * y for index, y in image_of_x.items()}
        row = []
        for w, image_of_w in zip(moves, images, strict=True):
            summands = [y * image_of_w.get(index, 0) for index, y in weighted_image.items()]
            product_of_images = sum(summands)  # G(dφ x, dφ w)
            second_value = value(nu, chart.second_derivative(x, w))  # ν(d²φ(x, w))
            row.append((product_of_images - second_value) % PRIME)
        rows.append(row)
    return rows


def matrix_modulo_prime(rows: Sequence[Sequence[int]]) -> Any:
    """The matrix modulo the prime with these rows."""
    return flint.nmod_mat([[x % PRIME for x in row] for row in rows], PRIME)


def entries_of(x: Direction, chart: HeadChart) -> list[int]:
    """The coefficients of a direction x in the basis ``chart.all_directions``, in its order.

    Each of the basis has one entry, and the coefficient is the entry of x at the same place.
    """
    coefficients = []
    for unit in chart.all_directions:
        for name in ("K", "Q", "O", "V"):
            matrix = getattr(x, name)
            coefficients += [matrix.get(place, 0) for place in getattr(unit, name)]
    return coefficients


def matrix_on_a(chart: HeadChart, nu: Function) -> list[list[int]]:
    """The form A' ↦ ν(f(A', W)) as a d×d matrix, modulo the prime."""
    indices = range(chart.case.d)
    rows = []  # row p and column i have the value at the unit matrix A' with its one at (p, i)
    for p in indices:
        images = [function(({(p, i): 1}, chart.W)) for i in indices]
        rows.append([value(nu, image) % PRIME for image in images])
    return rows


def matrix_on_w(chart: HeadChart, nu: Function) -> list[list[int]]:
    """The form W' ↦ ν(f(A, W')) as a d'×d matrix, modulo the prime."""
    rows = []  # row k and column q have the value at the unit matrix W' with its one at (k, q)
    for k in range(chart.case.d_out):
        images = [function((chart.A, {(k, q): 1})) for q in range(chart.case.d)]
        rows.append([value(nu, image) % PRIME for image in images])
    return rows

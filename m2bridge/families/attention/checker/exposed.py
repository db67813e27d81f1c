"""Types of the weights (K, Q, V): which of them are critical points for open sets of targets.

Rests on: a type is exposed if a form B at some critical weights has the rank of the differential
(Lemma 1), and not if its functions with the row spaces of K and Q, which determine the images of
the differential, have a smaller dimension (Lemma 2).
Proved in: docs/training.md (proposition-types, lemma-form, lemma-dimension, theorem-exposed,
theorem-saddles).
Computed here: ranks over QQ of tangent vectors of a chart of each type, at one point; the rank of B
modulo a prime at this point, for a random scalar product and a random ν.
On trust: the lemmas that a certificate lists.

Notation. As in case.py: f is the bilinear map from pairs of a d × d matrix A and a d' × d matrix V
to functions c, {(k, i, p, q): entry}, p ≤ q; L is the column space of A, U the row space of V, and
α = min(a, d). Matrices are sparse, {(row, column): entry}; Ṁ is the derivative of a matrix M. A
type is (k, q, r, s, m): the ranks of the a × d matrices K and Q, of A = KᵀQ and of V, and
dim L ∩ U; f is not zero, so r, s ≥ 1. The differential is that of φ, which maps
weights to functions, φ(K, Q, V) = f(KᵀQ, V). A scalar product G and a target u give the loss
½ G(φ − u, φ − u); weights are critical for u exactly if ν = G(u − φ, ·) vanishes on the image of
the differential. B(x, w) = G(dφ x, dφ w) − ν(d²φ(x, w)) for tangent vectors x of the type, all w.

Tangent vectors of all (K, Q, V) are rows with an entry for each entry of K, of Q and of V, in this
order. D is the matrix of dφ: it takes such a row to the coordinates of a function. T has the
tangent vectors of the type as rows; so the matrix of B is T (D G Dᵀ − H), where H is the Hessian
matrix of ν∘φ. The form F is ν(f(A, V)), bilinear in the entries of A and of V.

The chart of a type. Write K = M R and Q = N S with M, N of k and q columns, M = (M_1 | M_2) and
N = (N_1 | N_2) with r columns first. Near a point where M_1ᵀN_1 is invertible, MᵀN has rank r
exactly if M_2ᵀN_2 = M_2ᵀN_1 (M_1ᵀN_1)⁻¹ M_1ᵀN_2 (Schur). Then L is spanned by the r rows of
N_1ᵀM R. V = H T, where the first m rows of T are Y N_1ᵀM R, in L, and the others are free. At the
point of this file M_2ᵀN_1 = 0 and M_1ᵀN_2 = 0, so that the equation is Ṁ_2ᵀN_2 + M_2ᵀṄ_2 = 0 there.

Certificates. A Content is what a certificate should have, as it is found here: the answer with its
verdicts, the evidence, and the lemmas that are taken on trust. A Difference says where what is
stored differs: a place, what stands there, what was found. WORDS has the sentences of certificates,
of words.toml; ``listed`` are the statements that a certificate lists.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import combinations_with_replacement, product
from random import Random
from typing import Any

import flint

from m2bridge.certificates.form import Certificate, Content, Difference
from m2bridge.certificates.wording import Words
from m2bridge.checker import statements, verdict
from m2bridge.checker.algebra import PRIME, rank
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
    transpose,
    unit_factors,
)
from m2bridge.families.attention.checker.statements import (
    TOKENS,
    WORDS,
    failing_hypothesis,
    inapplicable,
)

Kind = tuple[int, int, int, int, int]  # a type (k, q, r, s, m)
Place = tuple[int, int]  # row and column of an entry of A or V
WeightPlace = tuple[str, int, int]  # the name of a matrix, K, Q or V, and the place in it

MOST_STEPS = 10**9
"""The largest number of types times the square of the number of weights times the number of
coordinates: ranks of all types then take minutes.
"""


def exposed(certificate: Certificate) -> Content | Difference:
    """The content of a certificate on exposed types: the facts about each type, and verdicts.

    There is a verdict on each statement that the certificate lists. For one token no statement
    applies, and there are no facts. TooExpensiveError for too many types of too many weights.
    """
    case = Case(**certificate.case)
    listed = WORDS.listed("exposed", certificate.answer)
    reason = failing_hypothesis(TOKENS, case)  # words, or None if there are several tokens
    if reason is not None:
        return inapplicable(listed, reason)
    number_of_weights = 2 * case.a * case.d + case.d_out * case.d
    steps = _number_of_types_at_most(case) * number_of_weights**2 * case.coordinate_count
    if steps > MOST_STEPS:
        raise TooExpensiveError("case", f"ranks of all types take {steps:.0e} steps")
    facts = list(map(dict, facts_of_types(case)))  # copies, as the dictionaries are cached
    predicted = [list(kind) for kind in types(case) if is_stated(kind, case)]
    return content_of_types(predicted, facts, listed)


def content_of_types(
    predicted: list[list[int]], facts: list[dict[str, Any]], listed: Sequence[Words]
) -> Content:
    """The content with the facts about all types, and the verdicts on the listed statements.

    The theorem on exposed types is refuted by a type that is decided otherwise, and confirmed only
    where all types are decided.

    Parameters
    ----------
    predicted : list of types, each a list of ranks
        Those that are exposed by the theorem.
    facts : list
        For each type of the case a dictionary of :func:`facts_of`. Of its entries ``type`` is the
        list of ranks, and ``exposed`` is True, False, or None where no lemma decides.
    listed : sequence of Words
        The statements that a certificate lists.
    """
    observed = sorted(facts_here["type"] for facts_here in facts if facts_here["exposed"] is True)
    undecided = sorted(facts_here["type"] for facts_here in facts if facts_here["exposed"] is None)
    predicted = sorted(predicted)
    predicted_of_decided = [kind for kind in predicted if kind not in undecided]
    outcome = "CONFIRMED"
    if undecided:
        outcome = "UNDECIDED"
    # a type that is decided otherwise refutes the theorem, whether others are decided or not
    if observed != predicted_of_decided:
        outcome = "REFUTED"
    values = {
        "predicted": {"exposed": predicted, "undecided": []},
        "observed": {"exposed": observed, "undecided": undecided},
    }
    # this function is called only where all hypotheses hold
    verdicts = [verdict(words, hypothesis=None, outcome=outcome, **values) for words in listed]
    return statements(WORDS, listed, verdicts, evidence={"types": facts})


QUESTIONS = {"exposed": exposed}


@cache
def facts_of_types(case: Case) -> tuple[dict[str, Any], ...]:
    """What a certificate says of each type of a case; it depends on the case alone."""
    return tuple(facts_of(kind, case) for kind in types(case))


def _number_of_types_at_most(case: Case) -> int:
    """An upper bound for the number of types, from the largest values of the five ranks.

    k, q and r are at most α, s at most min(d, d'), and m is one of 0, …, α.
    """
    return case.alpha**3 * min(case.d, case.d_out) * (case.alpha + 1)


def types(case: Case) -> list[Kind]:
    """All types (k, q, r, s, m) of a case, in increasing order.

    r = rk KᵀQ ≥ k + q − a, and all ranks from there to the smaller of k and q occur. m = dim L ∩ U
    is at least r + s − d, because L + U, of dimension r + s − m, is in R^d.
    """
    ranks = range(1, case.alpha + 1)
    found: list[Kind] = []
    for k, q, r in product(ranks, repeat=3):
        if not k + q - case.a <= r <= min(k, q):
            continue
        for s in range(1, min(case.d, case.d_out) + 1):
            least = max(0, r + s - case.d)
            found.extend((k, q, r, s, m) for m in range(least, min(r, s) + 1))
    return found


def is_stated(kind: Kind, case: Case) -> bool:
    """Whether the theorem says that a type is exposed (docs/training.md#theorem-exposed).

    It does exactly if the three conditions below hold.
    """
    k, q, r, s, m = kind
    if not k == q == r:
        return False
    if s < min(case.d, case.d_out):
        return False
    intersection_is_smallest = m == max(0, r + s - case.d)
    is_of_squares = (r, s, m) == (1, 1, 1)  # A = v qᵀ and V = h vᵀ: the products are q_i h_k v²
    return intersection_is_smallest or is_of_squares


@dataclass(frozen=True)
class Direction:
    """A direction in which weights move: a tangent vector (K̇, Q̇, V̇) of all (K, Q, V)."""

    K: Sparse = field(default_factory=dict)
    Q: Sparse = field(default_factory=dict)
    V: Sparse = field(default_factory=dict)

    def entries(self) -> dict[WeightPlace, int]:
        """The entries of the direction, keyed by their places in K, Q and V."""
        found: dict[WeightPlace, int] = {}
        for name, matrix in (("K", self.K), ("Q", self.Q), ("V", self.V)):
            for (i, j), x in matrix.items():
                found[name, i, j] = x
        return found


def facts_of(kind: Kind, case: Case) -> dict[str, Any]:
    """What a certificate says of a type: dimensions, ranks, and what follows from them.

    ``functions`` is the dimension of the functions of the type, and ``functions_with_spaces`` that
    of the functions with the row spaces of K and Q; both are ranks of images of tangent vectors of
    the type. ``rank`` is that of the differential of φ at the point of the chart, and ``form_rank``
    that of B. ``exposed`` is None if no lemma decides, and ``saddle`` is None unless weights of an
    exposed type are proved to be saddles of the loss.
    """
    chart = Chart(kind, case)
    all_images = [chart.image_of_direction(w) for w in chart.all_directions]
    images_of_type = [chart.image_of_direction(x) for x in chart.tangents]
    facts: dict[str, Any] = {
        "type": list(kind),
        "functions": rank(images_of_type),
        "functions_with_spaces": _dimension_with_spaces(chart, images_of_type),
        "rank": rank(all_images),
    }
    # ν vanishes on the image of the differential: so the point is critical for this ν
    nu = random_functional(all_images, case, Random(f"{case} {kind}"))
    facts["form_rank"] = int(form(chart, all_images, nu).rank())
    facts["exposed"] = decide_exposed(facts)
    facts["saddle"] = None
    if facts["exposed"] and _is_descent_proved(chart, nu):
        facts["saddle"] = True
    return facts


def decide_exposed(facts: Mapping[str, Any]) -> bool | None:
    """Whether a type is exposed by Lemma 1, or not by Lemma 2; None if neither of them decides.

    ``facts`` has the "rank" of the differential, the "form_rank" of B, and the dimension of Lemma 2
    as "functions_with_spaces".
    """
    if facts["form_rank"] == facts["rank"]:
        return True  # Lemma 1
    if facts["functions_with_spaces"] < facts["rank"]:
        return False  # Lemma 2
    return None


def _dimension_with_spaces(chart: "Chart", images_of_type: Sequence[Function]) -> int:
    """The dimension of all (f, row space of K, row space of Q), for the functions f of a type.

    That is the number of Lemma 2: the rank of the tangent vectors of the type, each mapped to its
    image under the differential, which ``images_of_type`` has, and to the moves of both spaces.
    """
    images_with_spaces = []
    for x, image in zip(chart.tangents, images_of_type, strict=True):
        # an image is {(k, i, p, q): entry}, and moved_spaces has indices of three numbers, so the
        # two have no index in common
        images_with_spaces.append(image | chart.moved_spaces(x))
    return rank(images_with_spaces)


def _is_descent_proved(chart: "Chart", nu: Function) -> bool:
    """Whether it is proved that the loss decreases to second order as K and Q move.

    For k = q = r < a, K and Q can move so that A changes by ±ε² xyᵀ, for any vectors x and y. The
    loss then changes by ∓ε² ν(f(xyᵀ, V)) to second order, and decreases for one of the signs if
    this is not zero. Such x and y exist unless ν is zero on all f(A', V)
    (docs/training.md#theorem-saddles). False proves nothing.
    """
    k, q, r, _, _ = chart.kind
    K_and_Q_can_move = k == q == r < chart.case.a
    return K_and_Q_can_move and not vanishes_on_a(chart, nu)


class Chart:
    """A chart of a type at a point: its tangent vectors there, and their images.

    The chart is K = M R, Q = N S, V = H T with M, N and H of k, q and s columns. M = (M_1 | M_2)
    and N = (N_1 | N_2) have r columns first. The first m rows of T are Y N_1ᵀM R, with an m × r
    matrix Y; they are in L, which the rows of N_1ᵀM R span.

    At the point M and N have different unit vectors as columns but for the first r, which are the
    same; R and S have the first unit vectors as rows. So K has ones at (i, i) for i < k, and Q at
    (j, j) for j < r and at (j + k − r, j) for r ≤ j < q; and L is spanned by e_1, …, e_r. U is
    spanned by e_1, …, e_m and by unit vectors that are not in L, those that are not in the row
    space of K first.
    """

    def __init__(self, kind: Kind, case: Case) -> None:
        """Set the matrices of the point for a type of a case."""
        k, q, r, s, m = kind
        self.kind = kind
        self.case = case
        self.M, self.N = unit_factors(k, q, r)
        self.R = identity(k)
        self.S = identity(q)
        self.H = identity(s)
        # the j of the e_j that are rows of T: the first m are in L, which the first r span. Of the
        # others those outside the row space of K, which the first k span, come first
        outside_l = [*range(k, case.d), *range(r, k)]
        units = [*range(m), *outside_l[: s - m]]
        self.T: Sparse = dict.fromkeys(enumerate(units), 1)
        self.K = multiply(self.M, self.R)
        self.Q = multiply(self.N, self.S)
        self.V = multiply(self.H, self.T)
        self.A = multiply(transpose(self.K), self.Q)

    @cached_property
    def all_directions(self) -> list[Direction]:
        """A basis of all directions of weights: one for each entry of K, then of Q, then of V."""
        case = self.case
        places_in_k = list(product(range(case.a), range(case.d)))  # those in Q are the same
        places_in_v = product(range(case.d_out), range(case.d))
        return [
            *(Direction(K={place: 1}) for place in places_in_k),
            *(Direction(Q={place: 1}) for place in places_in_k),
            *(Direction(V={place: 1}) for place in places_in_v),
        ]

    @cached_property
    def tangents(self) -> list[Direction]:
        """Tangent vectors that span those of the type: partial derivatives of the chart."""
        return list(self._tangents())

    def _tangents(self) -> Iterator[Direction]:
        """Yield the derivative of the chart with respect to each of its parameters, at the point.

        The parameters are the entries of M, N, R, S, H, of Y and of the rows of T from m on, where
        M and N are tied by the equation of the chart: M_2ᵀN_2 does not move.
        """
        k, q, r, s, m = self.kind
        d = self.case.d
        # the rows of MᵀN_2 from r on are M_2ᵀN_2
        for M, N in moves_of_factors(self.case.a, k, q, r, fixed_rows=range(r, k)):
            yield self._direction(M=M, N=N)
        for place in product(range(k), range(d)):
            yield self._direction(R={place: 1})
        for place in product(range(q), range(d)):
            yield self._direction(S={place: 1})
        for place in product(range(self.case.d_out), range(s)):
            yield self._direction(H={place: 1})
        for i, j in product(range(m), range(r)):  # Y moves row i of T along L
            yield self._direction(T={(i, j): 1})
        for place in product(range(m, s), range(d)):
            yield self._direction(T={place: 1})

    def _direction(self, **moved: Sparse) -> Direction:
        """The direction (K̇, Q̇, V̇) of weights in which some of the matrices of the chart move.

        The chart is K = M R, Q = N S and V = H T. ``moved`` has the derivatives of those matrices
        that move, by their letters; the other matrices do not move. The first m rows of T are those
        of Y N_1ᵀM R = Y N_1ᵀK, where N_1 has the first r columns of N, and Y = (1 | 0) at the
        point. So these rows move by what ``moved`` has for T, which comes from Y, and by the first
        m rows of the derivative of N_1ᵀK.
        """
        _, _, r, _, m = self.kind
        # derivatives, by the letters of the matrices themselves
        M, N, R, S, H, T = (moved.get(name, {}) for name in "MNRSHT")
        K = add(multiply(M, self.R), multiply(self.M, R))
        Q = add(multiply(N, self.S), multiply(self.N, S))
        # N_1ᵀK has as rows a basis of L
        N_1 = first_columns(self.N, r)
        N_1_moves = first_columns(N, r)
        L_moves = moves_of_product((N_1, self.K), (N_1_moves, K))
        T_moves = add(T, first_rows(L_moves, m))
        V = add(multiply(H, self.T), multiply(self.H, T_moves))
        return Direction(K=K, Q=Q, V=V)

    def moves_of_a(self, x: Direction) -> Sparse:
        """The derivative of A along a direction x: Ȧ = K̇ᵀQ + KᵀQ̇."""
        return moves_of_product((self.K, self.Q), (x.K, x.Q))

    def image_of_direction(self, x: Direction) -> Function:
        """The image of a direction under the differential: f(Ȧ, V) + f(A, V̇)."""
        return function((self.moves_of_a(x), self.V), (self.A, x.V))

    def moved_spaces(self, x: Direction) -> Function:
        """By how much the row spaces of K and Q move along x: what K̇ and Q̇ are outside of them.

        At the point these spaces are spanned by the first k, and the first q unit vectors. So they
        move by the entries of K̇ in columns from k on, and of Q̇ in columns from q on. These are
        returned with the indices (−1, row, column) and (−2, row, column), which no coordinate of a
        function has.
        """
        k, q, _, _, _ = self.kind
        moves: Function = {}
        for (i, j), y in x.K.items():
            if j >= k:
                moves[-1, i, j] = y
        for (i, j), y in x.Q.items():
            if j >= q:
                moves[-2, i, j] = y
        return moves


def moves_of_factors(
    rows: int, rank_m: int, rank_n: int, common: int, *, fixed_rows: Sequence[int]
) -> Iterator[tuple[Sparse, Sparse]]:
    """Yield a basis of the moves (Ṁ, Ṅ) of M and N that do not move some rows of MᵀN_2.

    M and N are ``rows`` × rank_m and ``rows`` × rank_n, and their columns are unit vectors. Column
    i of M is e_i, and so is column i of N for i < common. N_2 are the other columns of N: column j,
    for j ≥ common, is the unit vector with number rank_m + j − common.

    So entry (i, j) of MᵀN_2, the scalar product of column i of M and column j of N, moves by the
    entry (rank_m + j − common, i) of Ṁ and the entry (i, j) of Ṅ. ``fixed_rows`` are the i for
    which it must not move: there these two entries have the sum zero.
    """
    for row, i in product(range(rows), range(rank_m)):  # entry (row, i) of M moves
        taken_back: Sparse = {}
        if i in fixed_rows and rank_m <= row < rank_m + rank_n - common:
            # column j = common + row − rank_m of N has its one in this row
            taken_back = {(i, common + row - rank_m): -1}
        yield {(row, i): 1}, taken_back
    for i, j in product(range(rows), range(rank_n)):  # entry (i, j) of N moves
        if i in fixed_rows and j >= common:
            # this moves entry (i, j) of MᵀN_2: it occurs above only, with a move of M
            continue
        yield {}, {(i, j): 1}


def coordinate_indices(case: Case) -> list[tuple[int, ...]]:
    """The indices (k, i, p, q) of all coordinates of functions."""
    found: list[tuple[int, ...]] = []
    for k, i in product(range(case.d_out), range(case.d)):
        pairs = combinations_with_replacement(range(case.d), 2)
        found += [(k, i, p, q) for p, q in pairs]
    return found


def random_functional(images: Sequence[Function], case: Case, random: Random) -> Function:
    """A random linear functional ν modulo the prime that vanishes on all these images.

    It is {(k, i, p, q): factor}: ν of a function c is the sum of these factors times the
    coordinates c_{k,i,p,q}.
    """
    indices = coordinate_indices(case)
    # FLINT's square matrix has a basis of the kernel in its first columns, and zeros in the others
    kernel, kernel_dimension = matrix_modulo_prime(images, indices).nullspace()
    coefficients = [random.randrange(PRIME) for _ in range(kernel_dimension)]
    coefficients += [0] * (len(indices) - kernel_dimension)
    # the combination of the basis with these coefficients
    nu = kernel * flint.nmod_mat(len(indices), 1, coefficients, PRIME)
    return dict(zip(indices, map(int, nu.entries()), strict=True))


def value(nu: Function, c: Function) -> int:
    """The value of a linear functional ν on a function c, not reduced modulo the prime."""
    return sum(nu[index] * x for index, x in c.items())


def form(chart: Chart, all_images: Sequence[Function], nu: Function) -> Any:
    """The matrix of B, T (D G Dᵀ − H), modulo the prime.

    It has a row for each tangent vector of the type, and a column for each entry of weights. G is
    the diagonal matrix of the scalar product Σ g c c' over the coordinates of functions c and c',
    with random g > 0, which are the same for all forms of one type. H is the Hessian matrix of
    ν∘φ. ``all_images`` are the rows of D: the images of ``chart.all_directions`` under dφ.
    """
    random = Random(str(chart.kind))
    indices = coordinate_indices(chart.case)
    g = {index: random.randrange(1, PRIME) for index in indices}
    D = matrix_modulo_prime(all_images, indices)
    D_times_G = matrix_modulo_prime([_scaled(image, g) for image in all_images], indices)
    form_on_entries = D_times_G * D.transpose() - hessian(chart, nu)
    places = weight_places(chart.case)
    T = matrix_modulo_prime([x.entries() for x in chart.tangents], places)
    return T * form_on_entries


def hessian(chart: Chart, nu: Function) -> Any:
    """The Hessian matrix of ν∘φ at the point of the chart, a matrix of FLINT modulo PRIME.

    It is square and symmetric, with a row and a column for each entry of K, then of Q, then of V,
    each matrix row by row. φ is linear in each of K, Q and V, so second derivatives with respect to
    two entries of one matrix are zero; the others are those of the two functions called here.
    """
    # {(place (p, i) in A, place (k, q) in V): ν(f(E, E')) for the unit matrices of these entries}
    values = _values_of_products(chart.case, nu)
    # rows[place][other place] = the second derivative with respect to the entries at these places;
    # those that are left out are zero
    rows: dict[WeightPlace, dict[WeightPlace, int]] = {}
    derivatives = _by_k_and_q(chart, values) | _by_v_and_another(chart, values)
    for (place, other), y in derivatives.items():
        rows.setdefault(place, {})[other] = y
        rows.setdefault(other, {})[place] = y
    places = weight_places(chart.case)
    return matrix_modulo_prime([rows.get(place, {}) for place in places], places)


def _by_k_and_q(
    chart: Chart, values: Mapping[tuple[Place, Place], int]
) -> dict[tuple[WeightPlace, WeightPlace], int]:
    """The derivatives ∂²(ν∘φ)/∂x∂y, keyed by the places of an entry x of K and an entry y of Q.

    With the unit matrices K' and Q' of the entries they are ν(f(A', V)), A' = K'ᵀQ'. ``values`` has
    ν(f(E, E')) for all unit matrices E and E' of the sizes of A and V, keyed by the places of their
    ones. Derivatives that are zero may be left out.
    """
    found: dict[tuple[WeightPlace, WeightPlace], int] = {}
    for (p, i), y in _values_at(chart.V, values).items():
        for j in range(chart.case.a):
            # K' with its one at (j, p) and Q' with its one at (j, i) give A' with its one at (p, i)
            found[("K", j, p), ("Q", j, i)] = y
    return found


def _by_v_and_another(
    chart: Chart, values: Mapping[tuple[Place, Place], int]
) -> dict[tuple[WeightPlace, WeightPlace], int]:
    """The derivatives ∂²(ν∘φ)/∂x∂y, keyed by the places of an x in K or Q and of a y in V.

    With the unit matrices K', Q' and V' of the entries they are ν(f(A', V')), with A' = K'ᵀQ for an
    entry of K, and KᵀQ' for one of Q. ``values`` has ν(f(E, E')) for all unit matrices E and E' of
    the sizes of A and V, keyed by the places of their ones. Derivatives that are zero may be left
    out.
    """
    places_in_v = list(product(range(chart.case.d_out), range(chart.case.d)))
    found: dict[tuple[WeightPlace, WeightPlace], int] = {}
    for w in chart.all_directions:  # one unit entry of K, Q or V each
        (place_of_w,) = w.entries()
        if w.V:
            continue
        # the entries of A' = K'ᵀQ or KᵀQ' by their places
        for place_in_a, x in chart.moves_of_a(w).items():
            for k, q in places_in_v:
                places: tuple[WeightPlace, WeightPlace] = (place_of_w, ("V", k, q))
                found[places] = found.get(places, 0) + x * values[place_in_a, (k, q)]
    return found


def _values_of_products(case: Case, nu: Function) -> dict[tuple[Place, Place], int]:
    """The coefficients of the form F: ν(f(E, E')), keyed by the places of the ones of E and E'.

    E is a unit matrix of the size of A, with its one at (p, i), and E' one of the size of V, with
    its one at (k, q): then f(E, E') has the coordinate c_{k,i,p,q} alone, or c_{k,i,q,p} for q < p.
    """
    places_in_a = product(range(case.d), repeat=2)
    places_in_v = list(product(range(case.d_out), range(case.d)))
    found = {}
    for (p, i), (k, q) in product(places_in_a, places_in_v):
        found[(p, i), (k, q)] = nu[k, i, min(p, q), max(p, q)]
    return found


def _values_at(V: Sparse, values: Mapping[tuple[Place, Place], int]) -> dict[Place, int]:
    """ν(f(E, V)), keyed by the place of the one of E, a unit matrix of the size of A.

    ``values`` has ν(f(E, E')) for all unit matrices E and E' of the sizes of A and V, keyed by the
    places of their ones; V is the sum of its entries times the E'. Zeros may be left out.
    """
    found: dict[Place, int] = {}
    for (place_in_a, place_in_v), y in values.items():
        if place_in_v in V:  # V has zeros at the other places
            found[place_in_a] = found.get(place_in_a, 0) + y * V[place_in_v]
    return found


def _scaled(function: Function, factors: Mapping[Any, int]) -> Function:
    """The coordinates of a function, each times the factor with the same index."""
    return {index: x * factors[index] for index, x in function.items()}


def weight_places(case: Case) -> list[WeightPlace]:
    """The places of all entries of K, then of Q, then of V, each matrix row by row.

    That is the order of ``Chart.all_directions``, too.
    """
    rows = {"K": case.a, "Q": case.a, "V": case.d_out}
    found: list[WeightPlace] = []
    for name, count in rows.items():
        found += [(name, i, j) for i, j in product(range(count), range(case.d))]
    return found


def matrix_modulo_prime(rows: Sequence[Mapping[Any, int]], columns: Sequence[Any]) -> Any:
    """The matrix modulo the prime with these rows, each a map from labels of columns to entries.

    ``columns`` has the labels of all columns in their order, such as indices of coordinates.
    Entries that a row does not have are zero.
    """
    number = {label: j for j, label in enumerate(columns)}
    found = flint.nmod_mat(len(rows), len(columns), PRIME)
    for i, row in enumerate(rows):
        for label, x in row.items():
            found[i, number[label]] = x
    return found


def vanishes_on_a(chart: Chart, nu: Function) -> bool:
    """Whether ν is zero, modulo the prime, on f(A', V) for all d × d matrices A'.

    As that is linear in A', those with a single entry, 1, decide.
    """
    for p, i in product(range(chart.case.d), repeat=2):
        if value(nu, function(({(p, i): 1}, chart.V))) % PRIME:
            return False
    return True

"""Types of the weights of a head: which of them are critical points for open sets of targets.

Rests on: a type is exposed if a form B at some critical weights has the rank of the differential
(Lemma 1). It is not if its functions with the row spaces of K, Q, V and the column space of O have
a smaller dimension (Lemma 2). Nor is it if ν has larger ranks than the type allows, for general
critical weights of the type with the same A and W and factors of no larger ranks (Lemma 4).
Proved in: docs/training.md (proposition-types, lemma-form, lemma-dimension, lemma-factors,
theorem-exposed, theorem-saddles).
Computed here: the rank over QQ of the differential, at one point of each type; the rank of B modulo
a prime at this point, for a random scalar product and a random ν; ranks of ν modulo the prime;
dimensions of functions and spaces, by formulas.
On trust: the lemmas that a certificate lists.

Notation. As in case.py, f maps pairs of a d × d matrix A and a d' × d matrix W to functions.
Weights are a × d matrices K and Q, a d' × h matrix O and an h × d matrix V; φ maps them to
f(KᵀQ, OV). There are two questions: about weights (K, Q, O, V) with h = a, and about (K, Q, V),
where h = d' and O = 1 does not move. L is the column space of A = KᵀQ, and U the row space of W =
OV. A type is (k, q, o, v, r, s, m), the ranks of K, Q, O, V, A, W, and dim L ∩ U; for O = 1 o is
d', and v is s.

A scalar product G and a target u give the loss ½ G(φ − u, φ − u); weights are critical for u
exactly if ν = G(u − φ, ·) vanishes on the image of the differential. For tangent vectors x of the
type and all w the form is B(x, w) = G(dφ x, dφ w) − ν(d²φ(x, w)). Matrices are sparse, {(row,
column): entry}; matrices of the form have a row for each entry of weights, which *entries* list.

Certificates. A Content is what a certificate should have, as it is found here: the answer with its
verdicts, the evidence, and the lemmas that are taken on trust. A Difference says where what is
stored differs. WORDS has the sentences of certificates, of words.toml.
"""

from collections.abc import Iterator, Mapping
from functools import cache, partial
from itertools import combinations_with_replacement, product
from typing import Any, NamedTuple

import flint

from m2bridge.certificates import conditions
from m2bridge.certificates.form import Certificate, Content, Difference
from m2bridge.certificates.wording import Words
from m2bridge.checker import statements, verdict
from m2bridge.checker.algebra import PRIME, matrix_modulo, rank, rank_modulo, ring
from m2bridge.checker.draws import unpredictable
from m2bridge.errors import TooExpensiveError
from m2bridge.families.attention.checker.case import (
    Case,
    Function,
    Pair,
    Sparse,
    add,
    function,
    multiply,
    orbit_dimension,
    transpose,
    unit_factors,
)
from m2bridge.families.attention.checker.statements import (
    WORDS,
    failing_hypothesis,
    inapplicable,
    numbers,
)

Entry = tuple[str, int, int]  # the name of a matrix, K, Q, O or V, with row and column
Weights = Mapping[str, Sparse]  # K, Q, O and V, or their derivatives; those left out are zero

MOST_STEPS = {"exposed": 10**9, "exposed-heads": 10**10}
"""The largest number of types times the square of the number of weights times the number of
coordinates: ranks of all types then take minutes.
"""


class Type(NamedTuple):
    """The ranks of K, Q, O, V, A = KᵀQ and W = OV, and dim L ∩ U."""

    k: int
    q: int
    o: int
    v: int
    r: int
    s: int
    m: int


class Head(NamedTuple):
    """A case with the numbers h of columns of O; O = 1 does not move unless ``has_o``."""

    case: Case
    has_o: bool

    @property
    def h(self) -> int:
        """The number of columns of O, and of rows of V."""
        return self.case.a if self.has_o else self.case.d_out

    @property
    def entries(self) -> list[Entry]:
        """The entries of all weights that move: matrix by matrix, row by row."""
        case = self.case
        sizes = {"K": (case.a, case.d), "Q": (case.a, case.d), "V": (self.h, case.d)}
        if self.has_o:
            sizes["O"] = (case.d_out, self.h)
        return [
            (name, i, j)
            for name, (rows, columns) in sizes.items()
            for i, j in product(range(rows), range(columns))
        ]

    def cells(self, kind: Type) -> list[int]:
        """A type as certificates have it: without o and v for O = 1."""
        return list(kind) if self.has_o else [kind.k, kind.q, kind.r, kind.s, kind.m]


def exposed(question: str, certificate: Certificate) -> Content | Difference:
    """The content of a certificate on exposed types: facts about each type, and verdicts; for one
    token no statement applies. TooExpensiveError for too many types of too many weights.
    """
    case = Case(**certificate.case)
    listed = WORDS.listed(question, certificate.answer)
    reason = failing_hypothesis(listed[0], case)
    if reason is not None:
        return inapplicable(listed, reason)
    head = Head(case, has_o=question == "exposed-heads")
    number_of_types = case.alpha**3 * min(case.d, case.d_out) * (case.alpha + 1)  # at most
    number_of_weights = 2 * case.a * case.d + head.h * case.d
    if head.has_o:
        number_of_types *= min(case.a, case.d_out) * case.alpha
        number_of_weights += case.d_out * head.h
    steps = number_of_types * number_of_weights**2 * case.coordinate_count
    if steps > MOST_STEPS[question]:
        raise TooExpensiveError("case", f"ranks of all types take {steps:.0e} steps")
    facts = list(map(dict, facts_of_types(head)))  # copies, as the dictionaries are cached
    observed = sorted(one["type"] for one in facts if one["exposed"] is True)
    undecided = sorted(one["type"] for one in facts if one["exposed"] is None)
    verdicts = []
    for words in listed:
        prediction = sorted(
            head.cells(kind) for kind in types(head) if is_stated(kind, words, case)
        )
        outcome = "UNDECIDED" if undecided else "CONFIRMED"
        # a type that is decided otherwise refutes the theorem, whether others are decided or not
        if observed != [cells for cells in prediction if cells not in undecided]:
            outcome = "REFUTED"
        values = {
            "predicted": {"exposed": prediction, "undecided": []},
            "observed": {"exposed": observed, "undecided": undecided},
        }
        verdicts.append(verdict(words, hypothesis=None, outcome=outcome, **values))
    return statements(WORDS, listed, verdicts, evidence={"types": facts})


QUESTIONS = {question: partial(exposed, question) for question in MOST_STEPS}


def types(head: Head) -> list[Type]:
    """All types, in the order of their ranks (k, q, r, s, m, o, v); m is at least r + s − d,
    because L + U, of dimension r + s − m, is in R^d.
    """
    case = head.case
    of_a = _ranks_of_products(case.d, case.a, case.d)  # of Kᵀ, Q and A
    of_w = _ranks_of_products(case.d_out, head.h, case.d)  # of O, V and W
    kinds = []
    for (k, q, r), (o, v, s) in product(of_a, of_w):
        if head.has_o or o == case.d_out:
            least = max(0, r + s - case.d)
            common = range(least, min(r, s) + 1)  # dim L ∩ U
            kinds += [Type(k=k, q=q, o=o, v=v, r=r, s=s, m=m) for m in common]
    return sorted(kinds, key=lambda kind: (kind.k, kind.q, kind.r, kind.s, kind.m, kind.o, kind.v))


def _ranks_of_products(rows: int, inner: int, columns: int) -> list[tuple[int, int, int]]:
    """All (rk X, rk Y, rk XY) for a rows × inner matrix X and an inner × columns one Y, XY ≠ 0:
    from rk X + rk Y − inner (Sylvester) to the smaller of rk X and rk Y all values occur.
    """
    of_x = range(1, min(rows, inner) + 1)
    of_y = range(1, min(inner, columns) + 1)
    return [
        (x, y, xy)
        for x, y in product(of_x, of_y)
        for xy in range(max(1, x + y - inner), min(x, y) + 1)
    ]


def is_stated(kind: Type, words: Words, case: Case) -> bool:
    """Whether the statement says that a type is exposed (docs/training.md#theorem-exposed)."""
    return bool(conditions.value(words.value, numbers(words.value, case) | kind._asdict()))


@cache
def facts_of_types(head: Head) -> tuple[dict[str, Any], ...]:
    """What a certificate says of each type: dimensions, ranks, and what follows from them."""
    return tuple(_facts(kind, head) for kind in types(head))


def _facts(kind: Type, head: Head) -> dict[str, Any]:
    """The facts about one type: ``functions_with_spaces`` is the dimension of Lemma 2, ``exposed``
    is None if no lemma decides, and ``saddle`` None unless proved.
    """
    at_point = Expansion(kind, head)
    with_spaces = dimension_with_spaces(kind, head)
    form_rank = at_point.form_rank()
    exposed = None
    if form_rank == at_point.rank:
        exposed = True  # Lemma 1
    elif with_spaces < at_point.rank or _is_excluded_by_factors(kind, head):
        exposed = False  # Lemma 2, Lemma 4
    return {
        "type": head.cells(kind),
        "functions": orbit_dimension((kind.r, kind.s, kind.m), head.case),
        "functions_with_spaces": with_spaces,
        "rank": at_point.rank,
        "form_rank": form_rank,
        "exposed": exposed,
        "saddle": True if exposed and at_point.is_descent_proved() else None,
    }


def dimension_with_spaces(kind: Type, head: Head) -> int:
    """The dimension of all (f, row K, row Q, col O, row V), without the last two for O = 1.

    The row space of K contains L and is otherwise free: a point of the Grassmannian of the (k −
    r)-dimensional subspaces of R^d/L. So do the row space of Q contain the row space of A, and col
    O and row V the spaces of W: the choices for each f are independent.
    """
    k, q, o, v, r, s, m = kind
    d, d_out = head.case.d, head.case.d_out
    dimension = orbit_dimension((r, s, m), head.case) + (k - r) * (d - k) + (q - r) * (d - q)
    if head.has_o:
        dimension += (o - s) * (d_out - o) + (v - s) * (d - v)
    return dimension


def _is_excluded_by_factors(kind: Type, head: Head) -> bool:
    """Whether Lemma 4 proves that a type of (K, Q, O, V) is not exposed; False proves nothing.

    If weights of the type are critical, so are weights of the type with the same A, W and ν and the
    least ranks, k = q = r and o = v = s; and ν has rank at most d − max(k, q) on A and min(d' − o,
    d − v) on W. The pairs (f, ν) of critical weights of the other type are an irreducible family;
    its dimension, less the dimension of targets, is the dimension of the functions less the rank of
    the differential. If this is negative, general targets have no such pair; if it is zero, general
    targets have general pairs, for which ν must not have a larger rank.
    """
    balanced = kind._replace(k=kind.r, q=kind.r, o=kind.s, v=kind.s)
    if not head.has_o or kind == balanced:
        return False
    at_point = Expansion(balanced, head)
    excess = orbit_dimension((kind.r, kind.s, kind.m), head.case) - at_point.rank
    if excess != 0:
        return excess < 0
    allowed_on_a = head.case.d - max(kind.k, kind.q)
    allowed_on_w = min(head.case.d_out - kind.o, head.case.d - kind.v)
    return at_point.rank_on_a() > allowed_on_a or at_point.rank_on_w() > allowed_on_w


def representative(kind: Type, head: Head) -> dict[str, Sparse]:
    """Weights of the dense orbit of a type, with entries 0 and 1.

    K and Q have their ones in r common rows, and O and V in s common columns and rows. The row
    space of K is spanned by e_1, …, e_k, and L by e_1, …, e_r. The row space of V is spanned by
    e_1, …, e_m, in L, then the e_j outside the row space of K, the others outside L, and the rest
    of L: the first v of these.
    """
    k, q, o, v, r, s, m = kind
    K, N = unit_factors(k, q, r)
    O, J = unit_factors(o, v, s)
    units = [*range(m), *range(k, head.case.d), *range(r, k), *range(m, r)]
    T = dict.fromkeys(enumerate(units[:v]), 1)
    return {"K": K, "Q": N, "O": O, "V": multiply(J, T)}


def tangents(weights: Weights, head: Head) -> Iterator[Weights]:
    """Yield tangent vectors of the orbit of weights under changes of bases, which span them all.

    A (g, x, y, z, b) in GL(a) × GL(d) × GL(d) × GL(d') × GL(h) takes weights to gKx, g⁻ᵀQy, zOb and
    b⁻¹Vx, and keeps all ranks of a type. For O = 1 there is no b, and z moves V.
    """
    K, Q, O, V = (weights[name] for name in "KQOV")
    case = head.case

    def units(size: int) -> Iterator[Sparse]:
        return ({place: 1} for place in product(range(size), range(size)))

    def minus(matrix: Sparse) -> Sparse:
        return {place: -x for place, x in matrix.items()}

    for E in units(case.a):
        yield {"K": multiply(E, K), "Q": minus(multiply(transpose(E), Q))}
    for E in units(case.d):
        yield {"K": multiply(K, E), "V": multiply(V, E)}
        yield {"Q": multiply(Q, E)}
    for E in units(case.d_out):
        yield {"O": multiply(E, O)} if head.has_o else {"V": multiply(E, V)}
    for E in units(head.h if head.has_o else 0):
        yield {"O": multiply(O, E), "V": minus(multiply(E, V))}


class Expansion:
    """φ at the representative of a type, up to second order, with a random ν for this point: of
    φ(weights + x) the terms of degree 1 are the differential, and the terms of degree 2 half of the
    second derivative.
    """

    def __init__(self, kind: Type, head: Head) -> None:
        """Expand φ at the point, and draw ν."""
        self.kind, self.head = kind, head
        self.weights = representative(kind, head)
        self.entries = head.entries
        unknowns = dict(zip(self.entries, ring(len(self.entries)).gens(), strict=True))
        moved = dict(self.weights)
        for (name, i, j), x in unknowns.items():
            moved[name] = add(moved[name], {(i, j): x})
        # the rows of the differential: the derivative along each entry, by coordinates
        self.rows: list[Function] = [{} for _ in self.entries]
        # the terms of degree two, of two entries as φ is linear in each: (i, j, coordinate,
        # coefficient), where i and j are the numbers of the entries
        quadratic_terms: list[tuple[int, int, Any, int]] = []
        for index, polynomial in function(_pair(moved)).items():
            for exponents, coefficient in polynomial.terms():
                positions = [i for i, exponent in enumerate(exponents) if exponent]
                if len(positions) == 1:
                    self.rows[positions[0]][index] = int(coefficient)
                elif len(positions) == 2:
                    i, j = positions
                    quadratic_terms.append((i, j, index, int(coefficient)))
        self.rank = rank(self.rows)
        pairs = list(combinations_with_replacement(range(head.case.d), 2))
        self.indices: list[Any] = [
            (k, i, p, q)
            for k, i, (p, q) in product(range(head.case.d_out), range(head.case.d), pairs)
        ]
        self.D = matrix_modulo(self.rows, self.indices)
        # ν vanishes on the image of dφ: it is a random element of the kernel of D. FLINT's square
        # matrix has a basis of the kernel in its first columns, then zeros.
        kernel, _ = self.D.nullspace()
        random = unpredictable()
        factors = [random.randrange(PRIME) for _ in self.indices]
        nu = kernel * flint.nmod_mat(len(factors), 1, factors, PRIME)
        self.nu = dict(zip(self.indices, map(int, nu.entries()), strict=True))
        # the Hessian matrix of ν∘φ at the point
        hessian: list[dict[int, int]] = [{} for _ in self.entries]
        for i, j, index, coefficient in quadratic_terms:
            value = hessian[i].get(j, 0) + self.nu[index] * coefficient
            hessian[i][j] = hessian[j][i] = value
        self.hessian = matrix_modulo(hessian, range(len(self.entries)))

    def form_rank(self) -> int:
        """The rank of B modulo the prime: of T (D G Dᵀ − H), where T has the tangent vectors.

        D is the matrix of dφ, G a diagonal matrix of random g > 0, and H the Hessian matrix.
        """
        random = unpredictable()
        g = {index: random.randrange(1, PRIME) for index in self.indices}
        weighted = [{index: x * g[index] for index, x in row.items()} for row in self.rows]
        directions: list[dict[Entry, int]] = []
        for x in tangents(self.weights, self.head):
            direction: dict[Entry, int] = {}
            for name, matrix in x.items():
                direction |= {(name, i, j): value for (i, j), value in matrix.items()}
            directions.append(direction)
        T = matrix_modulo(directions, self.entries)
        form = T * (matrix_modulo(weighted, self.indices) * self.D.transpose() - self.hessian)
        return int(form.rank())

    def rank_on_a(self) -> int:
        """The rank of ν on A: of the matrix of ν(f(E, W)), E the unit matrix of each place."""
        _, W = _pair(self.weights)
        size = range(self.head.case.d)
        return rank_modulo([[self._value(({(p, i): 1}, W)) for i in size] for p in size])

    def rank_on_w(self) -> int:
        """The rank of ν on W: of the matrix of ν(f(A, E)), E the unit matrix of each place."""
        A, _ = _pair(self.weights)
        rows, columns = range(self.head.case.d_out), range(self.head.case.d)
        return rank_modulo([[self._value((A, {(k, q): 1})) for q in columns] for k in rows])

    def _value(self, pair: Pair) -> int:
        """ν(f(A, W)) for a pair (A, W)."""
        return sum(self.nu[index] * x for index, x in function(pair).items())

    def is_descent_proved(self) -> bool:
        """Whether it is proved that the loss decreases as K and Q, or O and V, move; False proves
        nothing.

        As A, K and Q have one rank below a, there are e ⊥ col Q and e' ⊥ col K with e·e' ≠ 0, and K
        + εexᵀ with Q + εe'yᵀ changes A by ε²(e·e')xyᵀ only. The loss then changes by
        −ε²(e·e')ν(f(xyᵀ, W)) to second order. If this is not zero it is negative for x or for −x.
        The same holds for O and V (docs/training.md#theorem-saddles).
        """
        k, q, o, v, r, s, _ = self.kind
        if k == q == r < self.head.case.a and self.rank_on_a() > 0:
            return True
        O_and_V_can_move = self.head.has_o and o == v == s < self.head.h
        return O_and_V_can_move and self.rank_on_w() > 0


def _pair(weights: Weights) -> tuple[Sparse, Sparse]:
    """A = KᵀQ and W = OV."""
    return multiply(transpose(weights["K"]), weights["Q"]), multiply(weights["O"], weights["V"])

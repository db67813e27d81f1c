"""How many critical points the squared loss has for standard normal tokens and one output.

Rests on: for fixed V = vᵀ the loss is quadratic in A, so its critical points with v·v ≠ 0 are those
of the largest part of −2L that depends on A, a function F of v; and F = N/q³ with q = v·v and a
form N of degree 6.
Proved in: docs/learning-degrees.md (theorem-learning-degree, 1, and lemma-count).
Computed here, modulo primes that the checker draws (draws.py): N, from values of F; and the number
of its critical points, with multiplicities, by ranks. That is done for the target of the
certificate, and for a target that the checker draws.
On trust: the lemmas that a certificate lists. One of them says that the number over the complex
numbers is the one modulo primes: no theorem says so, and the certificate is accepted on trust.

Notation. d' = 1, a ≥ d, and c_{i,p,q} are the coordinates of functions, the coefficients of
x_i y_p y_q. G is the matrix of E[S_pq x_i · S_uv x_j], with the sum S of y yᵀ over t tokens y, of
which x is one; u is a target. For fixed v the functions are C(v) A, F = wᵀM⁻¹w with M = CᵀG C and
w = CᵀG u. Critical points of N/q³ with q ≠ 0 are the zeros of g_j = q ∂_j N − 3 N ∂_j q.

Certificates. A Content is what a certificate should have, as it is found here: the answer with its
verdicts, the evidence, and the lemmas that are taken on trust. A Difference says where what is
stored differs: a place, what stands there, what was found. WORDS has the sentences of certificates,
of words.toml; ``listed`` are the statements that a certificate lists.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement, product
from math import prod
from random import Random
from typing import Any

import flint

from m2bridge.certificates.form import Certificate, Content, Difference
from m2bridge.checker import algebra, global_verdict, statements
from m2bridge.checker.draws import random_prime, unpredictable
from m2bridge.errors import TooExpensiveError
from m2bridge.families.attention.checker.case import Case
from m2bridge.families.attention.checker.statements import (
    WORDS,
    failing_hypothesis,
    inapplicable,
    predicted,
)

Exponents = tuple[int, ...]
"""A monomial in v by its exponents: (2, 0, 1) is v_1² v_3."""
Form = dict[Exponents, int]
"""A form in v modulo a prime: {exponents of a monomial: coefficient}."""
Feature = tuple[int, int, int]
"""The indices (i, p, q), p ≤ q, of a coordinate c_{i,p,q}."""

LARGEST_DIMENSION = 4
"""The largest dimension d of tokens for which points are counted. For d = 4 the matrices have some
thousand rows and columns, which takes half a minute; for d = 5 they have some ten thousand."""
LARGEST_TOKENS = 10**6
"""The largest number t of tokens for which points are counted: moments are polynomials in t."""
DEGREES = range(8, 18, 2)
"""The degrees D in which ``number_of_points`` looks for all functions on the critical points."""


def learning_degree(certificate: Certificate) -> Content | Difference:
    """The content of a certificate on the number of critical points: that number, and the verdict.

    The points are counted for two targets, each modulo a prime of its own, and the first count that
    is not the stored number is a difference; so is evidence without two primes within the bounds.
    TooExpensiveError for d above LARGEST_DIMENSION, or t above LARGEST_TOKENS.
    """
    case = Case(**certificate.case)
    listed = WORDS.listed("learning-degree", certificate.answer)
    reason = failing_hypothesis(listed[0], case)
    if reason is not None:
        return inapplicable(listed, reason)
    if case.d > LARGEST_DIMENSION:
        raise TooExpensiveError("case", f"points are counted for d ≤ {LARGEST_DIMENSION} only")
    if case.t > LARGEST_TOKENS:
        raise TooExpensiveError("case", f"points are counted for t ≤ {LARGEST_TOKENS} only")
    primes: Any = certificate.evidence.get("primes")
    if not _are_two_primes(primes):
        return Difference("evidence.primes", f"{primes!r:.80}", "two primes from 2^14 to 2^15")
    target = target_of_certificates(case)
    stored = certificate.evidence.get("learning_degree")
    for prime, count in counts_modulo_random_primes(case, target):
        if count != stored:
            count_text = f"{count} modulo {prime}"
            return Difference("evidence.learning_degree", f"{stored!r:.80}", count_text)
    verdicts = []
    for words in listed:
        number = predicted(words, case)
        verdicts.append(global_verdict(words, None, predicted=number, observed=stored))
    evidence = {"learning_degree": stored, "primes": primes, "target": target}
    content = statements(WORDS, listed, verdicts, evidence)
    # the number is known modulo primes only
    return replace(content, on_trust=(WORDS.lemmas["two-primes"],))


QUESTIONS = {"learning-degree": learning_degree}


def counts_modulo_random_primes(case: Case, target: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield a prime and the number of critical points modulo it, for a target, then a
    random one.
    """
    prime = random_prime()
    yield prime, number_of_points(case, target, prime)
    another_prime = random_prime()
    random = unpredictable()
    another_target = [random.randrange(another_prime) for _ in target]
    yield another_prime, number_of_points(case, another_target, another_prime)


def _are_two_primes(primes: Any) -> bool:
    """Whether what a certificate has as primes is a list of two different primes from 2^14 to 2^15;
    nothing is computed modulo these.
    """
    if not isinstance(primes, list) or len(primes) != 2:
        return False
    for p in primes:
        # Python counts a bool as an int, but it is not a prime
        if type(p) is not int or not 2**14 < p < 2**15:
            return False
        if not flint.fmpz(p).is_prime():
            return False
    return bool(primes[0] != primes[1])


def target_of_certificates(case: Case) -> list[int]:
    """The coordinates of the target u of a case, in increasing order of (i, p, q), p ≤ q: the first
    of one sequence, the same for all cases. The second count finds a number right for it alone.
    """
    random = Random("target 0")
    return [random.randint(-9, 9) for _ in range(case.coordinate_count)]


def features(d: int) -> list[Feature]:
    """The indices (i, p, q), p ≤ q, of all coordinates, in increasing order."""
    pairs = list(combinations_with_replacement(range(d), 2))
    return [(i, p, q) for i in range(d) for p, q in pairs]


def normal_moment(first: Feature, second: Feature, t: int) -> int:
    """E[S_pq x_i · S_uv x_j] for t standard normal tokens and features (i, p, q) and (j, u, v),
    where S_pq is the sum of y_p y_q over the tokens y, and S_uv of z_u z_v over the tokens z.

    By Wick's formula it is a sum over the ways to put the six entries into pairs. A way contributes
    only where the entries of each pair have the same index and belong to one token: so pairs
    identify some of x, y and z with each other; and there are t choices for each class of these but
    the class of x.
    """
    (i, p, q), (j, u, v) = first, second
    # the tokens of the six entries, and their indices
    tokens = ("x", "y", "y", "x", "z", "z")
    indices = (i, p, q, j, u, v)
    total = 0
    for pairs in pairings(list(range(6))):
        if any(indices[m] != indices[n] for m, n in pairs):
            continue  # entries with different indices are independent, of mean zero
        identified_tokens = [(tokens[m], tokens[n]) for m, n in pairs]
        total += t ** (_number_of_classes(identified_tokens) - 1)
    return total


def _number_of_classes(identified: Sequence[tuple[str, str]]) -> int:
    """The number of classes of the tokens x, y and z, if the two of each of these pairs
    are equal.
    """
    # {token: the name of one token of its class}; at first each is a class of its own
    class_of = {token: token for token in "xyz"}
    for first, second in identified:
        former_class, new_class = class_of[second], class_of[first]
        for token in "xyz":
            if class_of[token] == former_class:
                class_of[token] = new_class
    return len(set(class_of.values()))


def pairings(items: Sequence[int]) -> Iterator[list[tuple[int, int]]]:
    """Yield all ways to put an even number of things into pairs."""
    if not items:
        yield []
        return
    first, *others = items
    for place, partner in enumerate(others):
        for pairs in pairings(others[:place] + others[place + 1 :]):
            yield [(first, partner), *pairs]


class Quotient:
    """F = wᵀM⁻¹w as a function of v with values modulo a prime, for the target u of a case."""

    def __init__(self, case: Case, target: Sequence[int], prime: int) -> None:
        """Compute G, the moments of pairs of features, and G u; ``target`` is u in coordinates."""
        self.d, self.prime = case.d, prime
        self.features = features(case.d)
        pairs = product(self.features, repeat=2)
        moments = [normal_moment(first, second, case.t) % prime for first, second in pairs]
        size = len(self.features)
        self.gram = flint.nmod_mat(size, size, moments, prime)
        u = flint.nmod_mat(size, 1, [x % prime for x in target], prime)
        self.gram_of_target = self.gram * u

    def value_times_cube(self, v: Sequence[int]) -> int | None:
        """The value N(v) = q³F(v), not reduced; ``None`` for q = 0, and where M(v) has no
        inverse.
        """
        q = sum(x * x for x in v) % self.prime
        value = self.value(v)
        if value is None or q == 0:
            return None
        return value * pow(q, 3, self.prime)

    def value(self, v: Sequence[int]) -> int | None:
        """F(v); ``None`` where M(v) is not invertible. C(v) has a column for each entry A_pi, with
        number p d + i: c_{i,p,q} is A_pi v_q + A_qi v_p, and A_pi v_p for p = q.
        """
        C = flint.nmod_mat(len(self.features), self.d**2, self.prime)
        for row, (i, p, q) in enumerate(self.features):
            C[row, p * self.d + i] = v[q]
            if p != q:
                C[row, q * self.d + i] = v[p]
        M = C.transpose() * (self.gram * C)
        w = C.transpose() * self.gram_of_target
        try:
            A = M.solve(w)  # M⁻¹w, the entries of the critical A for this v
        except ZeroDivisionError:
            return None
        return int((w.transpose() * A)[0, 0])


def numerator(case: Case, target: Sequence[int], prime: int) -> Any:
    """The form N of degree 6 modulo a prime with F = N/q³, from values of F at random v.

    Each value F(v) gives an equation N(v) − x q³F(v) = 0, linear in the coefficients of N and in x.
    If their solutions are unique up to a factor, the one with x = 1 is N. TooExpensiveError if
    there is no such N, or F has no value at more than half of the v, as for a prime that divides t
    + 2.
    """
    exponents = list(algebra.monomials(case.d, 6))
    quotient = Quotient(case, target, prime)
    random = unpredictable()
    # five more than determine N, which has to agree with them, too
    number_of_equations = len(exponents) + 5
    equations: list[list[int]] = []  # the coefficients of the coefficients of N, and of x
    for _ in range(2 * number_of_equations):
        if len(equations) == number_of_equations:
            break
        v = [random.randrange(prime) for _ in range(case.d)]
        value_times_cube = quotient.value_times_cube(v)
        if value_times_cube is not None:
            values = [prod(map(pow, v, exponent)) % prime for exponent in exponents]
            equations.append([*values, -value_times_cube % prime])
    if len(equations) < number_of_equations:
        raise TooExpensiveError("evidence.primes", f"the moments are degenerate modulo {prime}")
    kernel, nullity = flint.nmod_mat(equations, prime).nullspace()
    # a basis of the solutions is in the first columns of the kernel
    *solution, x = [int(kernel[row, 0]) for row in range(len(exponents) + 1)]
    if nullity != 1 or x == 0:
        raise TooExpensiveError("evidence.primes", f"no numerator was found modulo {prime}")
    inverse = pow(x, -1, prime)
    coefficients = [y * inverse % prime for y in solution]
    return ring_of_forms(case.d, prime).from_dict(dict(zip(exponents, coefficients, strict=True)))


def number_of_points(case: Case, target: Sequence[int], prime: int) -> int:
    """The number of critical points of F with q ≠ 0 modulo a prime, with multiplicities.

    With I = (g_1, …, g_d) let h(D, e) be the dimension of the forms of degree D modulo those whose
    product with q^e is in I. If h(D, e) = h(D, e + 2) = h(D + 2, e) for some even D ≥ 8 and some e,
    that is the number (docs/learning-degrees.md#lemma-count); TooExpensiveError if none of DEGREES
    decides.
    """
    N = numerator(case, target, prime)
    q = squared_norm(N.context())
    # g_j = q ∂_j N − 3 N ∂_j q, whose common zeros with q ≠ 0 are the critical points of N/q³
    equations = [q * N.derivative(j) - 3 * N * q.derivative(j) for j in range(case.d)]
    counting = Counting(equations)
    e = 2  # with it all points were found in the cases of the tests
    two_degrees_before: int | None = None  # h(degree − 2, e); there is none at first
    for degree in DEGREES:
        dimension = counting.dimension(degree, e)
        is_stable = dimension == two_degrees_before
        if is_stable and counting.dimension(degree - 2, e + 2) == dimension:
            return dimension
        two_degrees_before = dimension
    raise TooExpensiveError("evidence.primes", f"not all points were found modulo {prime}")


class Counting:
    """The ideal I of the critical equations g_1, …, g_d modulo a prime, degree by degree."""

    def __init__(self, equations: Sequence[Any]) -> None:
        self.equations = equations
        self.ring = equations[0].context()
        # by degree: the multiples of the equations by monomials, and the dimension of their span
        self.multiples: dict[int, tuple[list[Form], int]] = {}

    def dimension(self, degree: int, power: int) -> int:
        """The dimension h of the forms f of a degree modulo those with f q^power in I, q = v·v: by
        it the dimension of I in the degree of the products grows if all of these are added.
        """
        degree_of_products = degree + 2 * power
        d = self.ring.nvars()
        if degree_of_products not in self.multiples:
            multiples: list[Form] = list(algebra.multiples(self.equations, degree_of_products, d))
            rank = self._rank(multiples, degree_of_products)
            self.multiples[degree_of_products] = multiples, rank
        multiples, dimension_of_ideal = self.multiples[degree_of_products]
        q_to_power = squared_norm(self.ring) ** power
        products = list(algebra.multiples([q_to_power], degree_of_products, d))
        return self._rank([*multiples, *products], degree_of_products) - dimension_of_ideal

    def _rank(self, forms: Sequence[Form], degree: int) -> int:
        """The dimension of the span of forms of one degree, modulo the prime."""
        columns = list(algebra.monomials(self.ring.nvars(), degree))
        return int(algebra.matrix_modulo(forms, columns, self.ring.modulus()).rank())


def ring_of_forms(d: int, prime: int) -> Any:
    """The ring of polynomials in v_1, …, v_d modulo a prime."""
    return flint.nmod_mpoly_ctx.get(("v", d), modulus=prime, ordering=flint.Ordering.degrevlex)


def squared_norm(ring: Any) -> Any:
    """The form q = v·v = v_1² + … + v_d²."""
    return sum((v_j**2 for v_j in ring.gens()), ring.constant(0))

"""How many critical points the squared loss has for standard normal tokens and one output.

Rests on: for fixed V = vᵀ the loss is quadratic in A, so its critical points with v·v ≠ 0 are those
of the largest part of −2L that depends on A, a function F of v; and F = N/q³ with q = v·v and a
form N of degree 6.
Proved in: docs/learning-degrees.md (theorem-learning-degree, 1) and docs/checkers.md
(lemma-count).
Computed here, modulo each of two primes that a certificate names: N, from values of F; and the
number of its critical points, with multiplicities, by ranks.
On trust: the lemmas that a certificate lists.

Notation. d' = 1, a ≥ d, and c_{i,p,q} are the coordinates of functions, the coefficients of
x_i y_p y_q. G is the matrix of E[S_pq x_i · S_uv x_j], with the sum S of y yᵀ over t tokens y, of
which x is one; u is a target. For fixed v the functions are C(v) A, F = wᵀM⁻¹w with M = CᵀG C and
w = CᵀG u. Critical points of N/q³ with q ≠ 0 are the zeros of g_j = q ∂_j N − 3 N ∂_j q.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement, product
from random import Random
from typing import Any

import flint

from m2bridge.certificates.form import Certificate, Content, Difference
from m2bridge.checker import global_verdict, statements, verdict
from m2bridge.errors import TooExpensiveError
from m2bridge.families.attention.checker.case import Case
from m2bridge.families.attention.checker.statements import TOKENS, WORDS, failing_hypothesis

Exponents = tuple[int, ...]
Form = Mapping[Exponents, int]
"""A form in v by its monomials, modulo a prime."""
Feature = tuple[int, int, int]

HYPOTHESES = (*TOKENS, "one-output")
LARGEST_DIMENSION = 4
"""Of tokens. For d = 4 the matrices have some thousand rows and columns, which takes half a
minute; for d = 5 they have some ten thousand."""
SMALLEST_PRIME, LARGEST_PRIME = 2**14, 2**15
LARGEST_TARGET = 9
SPARE = 5
"""Values of F beyond those that determine N."""
POWER = 2
"""Of q, by which forms are multiplied; with 2 all points were found in the cases of the tests."""
DEGREES = range(8, 18, 2)
"""Degrees in which all functions on the critical points are looked for."""


def learning_degree(certificate: Certificate) -> Content | Difference:
    """The content of a certificate on the number of critical points: two counts, and the verdict.

    A difference if the primes are none, or a count modulo one of them is not the stored number.
    TooExpensiveError for large d.
    """
    case = Case(**certificate.case)
    listed = WORDS.listed("learning-degree", certificate.answer)
    reason = failing_hypothesis(HYPOTHESES, case)
    if reason:
        return statements(WORDS, listed, [verdict(words, reason, "") for words in listed], {})
    if case.d > LARGEST_DIMENSION:
        raise TooExpensiveError("case", f"points are counted for d ≤ {LARGEST_DIMENSION} only")
    primes: Any = certificate.evidence.get("primes")
    if not _are_two_primes(primes):
        return Difference("evidence.primes", f"{primes!r:.80}", "two primes from 2^14 to 2^15")
    target = random_target(case)
    counts = [number_of_points(case, target, prime) for prime in primes]
    stored = certificate.evidence.get("learning_degree")
    for prime, count in zip(primes, counts, strict=True):
        if count != stored:
            found = f"{count} modulo {prime}"
            return Difference("evidence.learning_degree", f"{stored!r:.80}", found)
    predicted = stirling_number(case.d + 2, 3)
    verdicts = [global_verdict(words, None, predicted, counts[0]) for words in listed]
    evidence = {"learning_degree": counts[0], "primes": primes, "target": target}
    return statements(WORDS, listed, verdicts, evidence)


QUESTIONS = {"learning-degree": learning_degree}


def _are_two_primes(primes: Any) -> bool:
    """Whether this is a list of two different primes within the bounds."""
    if not isinstance(primes, list) or len(primes) != 2 or primes[0] == primes[1]:
        return False
    are_numbers = all(type(p) is int and SMALLEST_PRIME < p < LARGEST_PRIME for p in primes)
    return are_numbers and all(flint.fmpz(p).is_prime() for p in primes)


def stirling_number(elements: int, blocks: int) -> int:
    """The number of partitions of a set into this many blocks, by their recursion."""
    if elements == blocks or blocks == 1:
        return 1
    if elements < blocks:
        return 0
    with_others = blocks * stirling_number(elements - 1, blocks)
    return with_others + stirling_number(elements - 1, blocks - 1)


def random_target(case: Case) -> list[int]:
    """The coordinates of the target: always the same random integers for a number of them."""
    random = Random("target 0")
    return [random.randint(-LARGEST_TARGET, LARGEST_TARGET) for _ in range(case.coordinate_count)]


def features(d: int) -> list[Feature]:
    """The indices (i, p, q) of the coordinates."""
    pairs = list(combinations_with_replacement(range(d), 2))
    return [(i, p, q) for i in range(d) for p, q in pairs]


def normal_moment(one: Feature, other: Feature, t: int) -> int:
    """E[S_pq x_i · S_uv x_j], by Wick's formula: a sum over the pairings of the six entries.

    Entries of x, and of the tokens y and z of the two sums, have the same index in each pair, and
    belong to one token. So pairs identify some of x, y and z, and there are t for each of y and z
    that is not identified with x or with the other one.
    """
    (i, p, q), (j, u, v) = one, other
    entries = [("x", i), ("y", p), ("y", q), ("x", j), ("z", u), ("z", v)]
    total = 0
    for pairs in pairings(list(range(6))):
        if any(entries[m][1] != entries[n][1] for m, n in pairs):
            continue
        token = {name: name for name in "xyz"}
        for m, n in pairs:
            kept, lost = token[entries[m][0]], token[entries[n][0]]
            token = {name: kept if of == lost else of for name, of in token.items()}
        total += t ** (len(set(token.values())) - 1)
    return total


def pairings(items: Sequence[int]) -> Iterator[list[tuple[int, int]]]:
    """All ways to put things into pairs."""
    if not items:
        yield []
        return
    first, *others = items
    for place, partner in enumerate(others):
        for pairs in pairings(others[:place] + others[place + 1 :]):
            yield [(first, partner), *pairs]


class Quotient:
    """F as a function with values modulo a prime."""

    def __init__(self, case: Case, target: Sequence[int], prime: int) -> None:
        self.d, self.prime = case.d, prime
        self.features = features(case.d)
        pairs = product(self.features, repeat=2)
        moments = [normal_moment(one, other, case.t) % prime for one, other in pairs]
        size = len(self.features)
        self.gram = flint.nmod_mat(size, size, moments, prime)
        self.linear = self.gram * flint.nmod_mat(size, 1, [x % prime for x in target], prime)

    def value(self, v: Sequence[int]) -> int | None:
        """F(v); ``None`` where M(v) is not invertible."""
        C = flint.nmod_mat(len(self.features), self.d**2, self.prime)
        for row, (i, p, q) in enumerate(self.features):
            C[row, p * self.d + i] = v[q]
            if p != q:
                C[row, q * self.d + i] = v[p]
        M, w = C.transpose() * (self.gram * C), C.transpose() * self.linear
        try:
            A = M.solve(w)
        except ZeroDivisionError:
            return None
        return int((w.transpose() * A)[0, 0])


def numerator(case: Case, target: Sequence[int], prime: int) -> Form:
    """The form N of degree 6 with F = N/q³, from values of F; more values have to agree."""
    quotient = Quotient(case, target, prime)
    random = Random(f"{case} {prime}")
    exponents = list(monomials(case.d, 6))
    rows: list[int] = []
    count = 0
    while count < len(exponents) + SPARE:
        v = [random.randrange(prime) for _ in range(case.d)]
        value = quotient.value(v)
        q = sum(x * x for x in v) % prime
        if value is None or not q:
            continue
        rows += [monomial_value(v, exponent, prime) for exponent in exponents]
        rows.append(-value * pow(q, 3, prime) % prime)
        count += 1
    kernel, nullity = flint.nmod_mat(count, len(exponents) + 1, rows, prime).nullspace()
    scale = int(kernel[len(exponents), 0]) if nullity == 1 else 0
    if not scale:
        raise TooExpensiveError("evidence.primes", f"no numerator was found modulo {prime}")
    inverse = pow(scale, -1, prime)
    found = {e: int(kernel[place, 0]) * inverse % prime for place, e in enumerate(exponents)}
    return {e: x for e, x in found.items() if x}


def number_of_points(case: Case, target: Sequence[int], prime: int) -> int:
    """The number of critical points of F with q ≠ 0 modulo a prime, with multiplicities.

    With I = (g_1, …, g_d) let h(D, e) be the dimension of the forms of degree D modulo those whose
    product with q^e is in I. If h(D, e) = h(D, e + 2) = h(D + 2, e) for some D ≥ 8 and e, that is
    the number (docs/checkers.md#lemma-count).
    """
    counting = Counting(critical_equations(numerator(case, target, prime), case.d, prime), prime)
    before: int | None = None
    for degree in DEGREES:
        found = counting.dimension(degree, POWER)
        if before == found and counting.dimension(degree - 2, POWER + 2) == found:
            return found
        before = found
    raise TooExpensiveError("evidence.primes", f"not all points were found modulo {prime}")


def critical_equations(N: Form, d: int, prime: int) -> Sequence[Form]:
    """The forms q ∂_j N − 3 N ∂_j q, of degree 7."""
    found = []
    for j in range(d):
        form = dict(multiplied(derivative(N, j), square(d), prime))
        for exponent, x in N.items():
            # ∂_j q = 2 v_j
            moved = raised(exponent, j, 1)
            form[moved] = (form.get(moved, 0) - 6 * x) % prime
        found.append({exponent: x for exponent, x in form.items() if x})
    return found


class Counting:
    """The ideal I of critical equations modulo a prime, degree by degree."""

    def __init__(self, equations: Sequence[Form], prime: int) -> None:
        self.equations, self.prime = equations, prime
        self.d = len(equations)
        self.rows_by_degree: dict[int, tuple[list[Form], int]] = {}

    def dimension(self, degree: int, power: int) -> int:
        """h(degree, power): how many dimensions q^power times all forms adds to I."""
        largest = degree + 2 * power
        of_ideal, rank_of_ideal = self._ideal(largest)
        q_to_power: Form = {(0,) * self.d: 1}
        for _ in range(power):
            q_to_power = multiplied(q_to_power, square(self.d), self.prime)
        others = [shifted(q_to_power, by) for by in monomials(self.d, degree)]
        return self._rank([*of_ideal, *others], largest) - rank_of_ideal

    def _ideal(self, degree: int) -> tuple[list[Form], int]:
        """The multiples of the equations of a degree, and the dimension of their span."""
        if degree not in self.rows_by_degree:
            rows: list[Form] = []
            for equation in self.equations:
                rows += [shifted(equation, by) for by in monomials(self.d, degree - 7)]
            self.rows_by_degree[degree] = rows, self._rank(rows, degree)
        return self.rows_by_degree[degree]

    def _rank(self, forms: Sequence[Form], degree: int) -> int:
        places = {exponent: place for place, exponent in enumerate(monomials(self.d, degree))}
        matrix = flint.nmod_mat(len(forms), len(places), self.prime)
        for row, form in enumerate(forms):
            for exponent, x in form.items():
                matrix[row, places[exponent]] = x
        return int(matrix.rank())


def monomials(variables: int, degree: int) -> Iterator[Exponents]:
    """The exponents of all monomials of a degree; none for a negative one."""
    if degree >= 0:
        for factors in combinations_with_replacement(range(variables), degree):
            yield tuple(map(factors.count, range(variables)))


def monomial_value(v: Sequence[int], exponents: Exponents, prime: int) -> int:
    """The value of a monomial modulo a prime."""
    value = 1
    for x, exponent in zip(v, exponents, strict=True):
        value = value * pow(x, exponent, prime) % prime
    return value


def square(d: int) -> Form:
    """The form q = v·v."""
    return {tuple(2 * (i == j) for i in range(d)): 1 for j in range(d)}


def raised(exponents: Exponents, j: int, by: int) -> Exponents:
    """The exponents of a monomial times a power of v_j."""
    return (*exponents[:j], exponents[j] + by, *exponents[j + 1 :])


def derivative(form: Form, j: int) -> Form:
    """The derivative by v_j."""
    return {raised(e, j, -1): e[j] * x for e, x in form.items() if e[j]}


def shifted(form: Form, by: Exponents) -> Form:
    """A form times a monomial."""
    return {tuple(map(sum, zip(e, by, strict=True))): x for e, x in form.items()}


def multiplied(one: Form, other: Form, prime: int) -> Form:
    """The product of two forms."""
    found: dict[Exponents, int] = {}
    for exponents, x in other.items():
        for e, y in shifted(one, exponents).items():
            found[e] = (found.get(e, 0) + x * y) % prime
    return found

"""Ideals of polynomial rings over ZZ in pure Python: strong Gröbner bases, and what follows.

The method is Buchberger's with S-polynomials and G-polynomials: Adams, Loustaunau, *An Introduction
to Gröbner Bases*, section 4.5. A basis is strong if the leading term of each element of the ideal,
with its coefficient, is divisible by the leading term of an element of the basis. Polynomials are
dictionaries of exponents and nonzero integers; an order of monomials is a function that is larger
for larger monomials.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

from m2bridge.algebra.ring import GeneratingSet

Monomial = tuple[int, ...]
Terms = dict[Monomial, int]
Order = Callable[[Monomial], tuple[object, ...]]


def grevlex(monomial: Monomial) -> tuple[object, ...]:
    """Graded reverse lexicographic order, the first variable largest."""
    return sum(monomial), tuple(-exponent for exponent in reversed(monomial))


def eliminating(count: int) -> Order:
    """An order in which each monomial with one of the first ``count`` variables is larger than all
    without them.
    """
    return lambda monomial: (sum(monomial[:count]), *grevlex(monomial))


def terms_of(ideal: GeneratingSet) -> list[Terms]:
    """The generators of an ideal over ZZ."""
    return [{monomial: int(c) for monomial, c in g.items()} for g in ideal.generators]


def times(terms: Terms, monomial: Monomial, number: int) -> Terms:
    """The polynomial times a term."""
    product = {}
    for exponents, coefficient in terms.items():
        exponents_of_product = tuple(a + b for a, b in zip(exponents, monomial, strict=True))
        product[exponents_of_product] = coefficient * number
    return product


def plus(first: Terms, second: Terms) -> Terms:
    """The sum of two polynomials."""
    total = dict(first)
    for exponents, coefficient in second.items():
        total[exponents] = total.get(exponents, 0) + coefficient
    return {exponents: coefficient for exponents, coefficient in total.items() if coefficient}


def product(first: Terms, second: Terms) -> Terms:
    """The product of two polynomials."""
    total: Terms = {}
    for monomial, coefficient in second.items():
        total = plus(total, times(first, monomial, coefficient))
    return total


def divides(first: Monomial, second: Monomial) -> bool:
    """Whether a monomial divides another."""
    return all(a <= b for a, b in zip(first, second, strict=True))


def quotient(first: Monomial, second: Monomial) -> Monomial:
    """The first monomial divided by the second, which divides it."""
    return tuple(a - b for a, b in zip(first, second, strict=True))


def remainder(terms: Terms, basis: Sequence[Terms], order: Order = grevlex) -> Terms:
    """What is left of a polynomial when its leading term is reduced as long as that is possible.

    It is zero for all elements of an ideal exactly if ``basis`` is a strong Gröbner basis of it.
    """
    leading = [max(element, key=order) for element in basis]
    terms = dict(terms)
    while terms:
        monomial = max(terms, key=order)
        for element, divisor in zip(basis, leading, strict=True):
            is_multiple = terms[monomial] % element[divisor] == 0
            if is_multiple and divides(divisor, monomial):
                factor = -(terms[monomial] // element[divisor])
                terms = plus(terms, times(element, quotient(monomial, divisor), factor))
                break
        else:
            return terms
    return terms


def bezout(a: int, b: int) -> tuple[int, int, int]:
    """The greatest common divisor d of two integers, and u, v with d = u·a + v·b."""
    if b == 0:
        return (a, 1, 0) if a > 0 else (-a, -1, 0)
    d, u, v = bezout(b, a % b)
    return d, v, u - (a // b) * v


def s_and_g_polynomials(first: Terms, second: Terms, order: Order) -> tuple[Terms, Terms]:
    """The S-polynomial of two polynomials, in which leading terms cancel, and the G-polynomial,
    whose leading coefficient is the greatest common divisor of theirs.
    """
    m, n = max(first, key=order), max(second, key=order)
    a, b = first[m], second[n]
    common = tuple(map(max, m, n))
    d, u, v = bezout(a, b)
    to_first, to_second = quotient(common, m), quotient(common, n)
    s = plus(times(first, to_first, b // d), times(second, to_second, -(a // d)))
    g = plus(times(first, to_first, u), times(second, to_second, v))
    return s, g


def is_strong_basis(basis: Sequence[Terms], order: Order = grevlex) -> bool:
    """Whether polynomials are a strong Gröbner basis of the ideal that they generate.

    They are if all their S-polynomials and G-polynomials have the remainder zero.
    """
    for first, second in combinations(basis, 2):
        for polynomial in s_and_g_polynomials(first, second, order):
            if remainder(polynomial, basis, order):
                return False
    return True


def strong_basis(generators: Iterable[Terms], order: Order = grevlex) -> list[Terms]:
    """A strong Gröbner basis without superfluous elements of the ideal of these generators."""
    basis: list[Terms] = []
    waiting = [dict(generator) for generator in generators if generator]
    while waiting:
        # small leading terms first
        waiting.sort(key=lambda terms: order(max(terms, key=order)), reverse=True)
        rest = remainder(waiting.pop(), basis, order)
        if not rest:
            continue
        # An element whose leading term is divisible by the new one is superfluous: what is left of
        # it is a smaller element.
        kept = []
        new_term = leading_term(rest, order)
        for element in basis:
            is_superfluous = not remainder(leading_term(element, order), [new_term], order)
            (waiting if is_superfluous else kept).append(element)
        for element in kept:
            pair = s_and_g_polynomials(rest, element, order)
            waiting.extend(polynomial for polynomial in pair if polynomial)
        basis = [*kept, rest]
    return basis


def leading_term(terms: Terms, order: Order = grevlex) -> Terms:
    """The leading term of a polynomial, as a polynomial."""
    monomial = max(terms, key=order)
    return {monomial: terms[monomial]}


def leading_terms(basis: Sequence[Terms], order: Order = grevlex) -> set[tuple[Monomial, int]]:
    """The leading terms of a basis, up to sign: those of a minimal strong basis are unique."""
    leading = set()
    for element in basis:
        monomial = max(element, key=order)
        leading.add((monomial, abs(element[monomial])))
    return leading


def contains(basis: Sequence[Terms], polynomials: Iterable[Terms]) -> bool:
    """Whether the ideal with this strong Gröbner basis (in ``grevlex``) contains polynomials."""
    return not any(remainder(polynomial, basis) for polynomial in polynomials)


def are_equal(first: Sequence[Terms], second: Sequence[Terms]) -> bool:
    """Whether polynomials generate the same ideal as others."""
    return contains(strong_basis(first), second) and contains(strong_basis(second), first)


def without_first(generators: Iterable[Terms]) -> list[Terms]:
    """Generators of the ideal of elements without the first variable, in the other variables."""
    basis = strong_basis(generators, eliminating(1))
    kept = [terms for terms in basis if not any(monomial[0] for monomial in terms)]
    return [{monomial[1:]: c for monomial, c in terms.items()} for terms in kept]


def with_new_variable(terms: Terms, exponent: int = 0) -> Terms:
    """The polynomial in a ring with a further first variable t, times t^exponent."""
    return {(exponent, *monomial): c for monomial, c in terms.items()}


def intersection(first: Sequence[Terms], second: Sequence[Terms]) -> list[Terms]:
    """Generators of I ∩ J, which is the ideal of elements without t in t·I + (1 − t)·J."""
    generators = [with_new_variable(terms, exponent=1) for terms in first]
    for terms in second:
        minus = {monomial: -c for monomial, c in terms.items()}
        generators.append(plus(with_new_variable(terms), with_new_variable(minus, exponent=1)))
    return without_first(generators)


def ideal_quotient(generators: Sequence[Terms], divisor: Terms) -> list[Terms]:
    """Generators of I : f, which are those of I ∩ (f) divided by f."""
    return [exact_division(terms, divisor) for terms in intersection(generators, [divisor])]


def exact_division(terms: Terms, divisor: Terms) -> Terms:
    """The quotient of a polynomial by one that divides it."""
    leading = max(divisor, key=grevlex)
    result: Terms = {}
    while terms:
        monomial = max(terms, key=grevlex)
        factor, rest = divmod(terms[monomial], divisor[leading])
        assert rest == 0
        place = quotient(monomial, leading)
        result[place] = factor
        terms = plus(terms, times(divisor, place, -factor))
    return result


def saturation(generators: Sequence[Terms], divisor: Terms) -> list[Terms]:
    """Generators of I : f^∞, which is the ideal of elements without t in I + (1 − t·f)."""
    (size,) = {len(monomial) for monomial in divisor}
    minus = {monomial: -c for monomial, c in divisor.items()}
    inverse = plus({(0,) * (size + 1): 1}, with_new_variable(minus, exponent=1))
    return without_first([*map(with_new_variable, generators), inverse])

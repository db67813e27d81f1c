"""Polynomials with integer coefficients as plain Python values: two encodings, and what is computed
from them.

``IntegerPolynomial`` maps the exponents of each monomial to its coefficient, as SymPy and FLINT do.
``Terms`` lists monomials by their variables, which is short where there are many variables and low
degrees.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

from m2bridge.algebra.linear_algebra import Quotient, SparseVector, combination
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.errors import ContradictionError
from m2bridge.limits import watched

Exponents = tuple[int, ...]
"""The exponent of each variable."""

Polynomial = Mapping[Exponents, int]
IntegerPolynomial = dict[Exponents, int]

Monomial = tuple[int, ...]
"""The sorted numbers of the variables of a monomial, with repetition."""

Terms = tuple[tuple[Monomial, int], ...]
"""The monomials of a polynomial and their coefficients."""


def exponents_of(monomial: Monomial, variables: int) -> Exponents:
    """The exponents of a monomial that is given by its variables."""
    exponents = [0] * variables
    for j in monomial:
        exponents[j] += 1
    return tuple(exponents)


def monomial_of(exponents: Exponents) -> Monomial:
    """The variables of a monomial that is given by its exponents."""
    return tuple(j for j, exponent in enumerate(exponents) for _ in range(exponent))


def gradients(
    polynomials: Iterable[Polynomial], point: Sequence[Any], prime: int = 0
) -> Iterator[dict[int, Any]]:
    """The partial derivatives of polynomials at a point, by variable; missing ones are zero.

    Parameters
    ----------
    point : sequence of int
        Or of elements of any ring.
    prime : int, optional
        Take powers modulo this number; what is added up is congruent, and not reduced.
    """

    @cache
    def power(i: int, exponent: int) -> Any:
        return pow(point[i], exponent, prime) if prime else point[i] ** exponent

    for polynomial in watched(polynomials):
        gradient: dict[int, Any] = {}
        for exponents, c in watched(polynomial.items()):
            factors = [(i, exponent) for i, exponent in enumerate(exponents) if exponent]
            zeros = [i for i, _ in factors if not point[i]]
            for i, exponent in factors if len(zeros) < 2 else ():
                if not zeros or i == zeros[0]:
                    others = [power(j, e) for j, e in factors if j != i]
                    gradient[i] = gradient.get(i, 0) + prod(
                        others, start=c * exponent * power(i, exponent - 1)
                    )
        yield gradient


def gradient_of_terms(polynomial: Terms, point: Sequence[int]) -> dict[int, int]:
    """The partial derivatives at an integer point, by variable; missing ones are zero."""
    gradient: dict[int, int] = {}
    for monomial, coefficient in polynomial:
        zeros = [place for place, j in enumerate(monomial) if not point[j]]
        for place in (zeros or range(len(monomial))) if len(zeros) < 2 else ():
            j, factors = monomial[place], monomial[:place] + monomial[place + 1 :]
            gradient[j] = gradient.get(j, 0) + coefficient * prod([point[i] for i in factors])
    return gradient


def restricted(polynomial: Polynomial, fixed: Mapping[int, int]) -> IntegerPolynomial:
    """A polynomial with some variables replaced by 0 or 1."""
    result: IntegerPolynomial = {}
    for exponents, c in polynomial.items():
        if all(fixed[i] or not exponents[i] for i in fixed):
            rest = tuple(0 if i in fixed else exponent for i, exponent in enumerate(exponents))
            result[rest] = result.get(rest, 0) + c
    return {exponents: c for exponents, c in result.items() if c}


@dataclass(frozen=True, slots=True)
class WeightedAlgebra:
    """GF(p)[x_1 … x_n] modulo as many weighted homogeneous polynomials as there are variables.

    Parameters
    ----------
    weights : tuple of int
        Of the variables, at least 1.
    relations : tuple of (int, polynomial)
        With their weights.
    """

    weights: tuple[int, ...]
    relations: tuple[tuple[int, Polynomial], ...]

    def length(self) -> int:
        """The dimension over GF(p), added up weight by weight.

        Raises
        ------
        ContradictionError
            If it is infinite. Otherwise the relations are a complete intersection, whose last part
            that is not zero has the weight of all relations less that of all variables; parts are
            looked at beyond it, as many as the largest variable weighs, since none follows where
            these are zero.
        """
        last = sum(weight for weight, _ in self.relations) - sum(self.weights)
        parts = _Parts(self, [[0]], [[0]], {0: {0: 1}})
        dimensions = [parts.next() for _ in range(last + max(self.weights, default=0))]
        if any(dimensions[last:]):
            raise ContradictionError(
                f"an algebra that has to be finite is not: weights {self.weights}"
            )
        return 1 + sum(dimensions)


_DIGIT = 32
"""The bits of a digit: multiplication by a variable adds a power of two."""


@dataclass(slots=True)
class _Parts:
    """The parts of an algebra up to some weight: their standard monomials, and normal forms of
    monomials.

    The part of weight w is the sum of the x_i ⊗ (part of weight w − w_i) modulo the relations of
    weight w and x_i ⊗ x_j b = x_j ⊗ x_i b for b in the part of weight w − w_i − w_j. With standard
    monomials b only the products x_i b are unknown; those are standard that are independent modulo
    the relations. Whatever products lead to one monomial are compared with the first that does,
    which is the same. A monomial is the number with its exponents as digits.
    """

    algebra: WeightedAlgebra
    standard: list[list[int]]
    products: list[list[int]]
    normal: dict[int, SparseVector]

    def next(self) -> int:
        """The dimension of the next part."""
        weight = len(self.standard)
        products = list(
            dict.fromkeys(b + (1 << i * _DIGIT) for b, i in self._below(self.standard, weight))
        )
        forms = Quotient.of(
            [(row, (weight, i)) for i, row in enumerate(self._rows(weight))], LARGE_PRIME
        ).forms
        self.products.append(products)
        self.standard.append([monomial for monomial in products if monomial not in forms])
        self.normal |= {monomial: forms.get(monomial, {monomial: 1}) for monomial in products}
        return len(self.standard[-1])

    def _below(self, parts: list[list[int]], weight: int) -> Iterator[tuple[int, int]]:
        """The monomials that a variable carries to this weight, with the number of the variable."""
        return (
            (b, i)
            for i, w in enumerate(self.algebra.weights)
            if w <= weight
            for b in parts[weight - w]
        )

    def _rows(self, weight: int) -> Iterator[SparseVector]:
        known: dict[int, SparseVector] = {}
        for b, i in self._below(self.products, weight):
            form = self._shifted(b, i)
            first = known.setdefault(b + (1 << i * _DIGIT), form)
            if first != form:
                yield combination({0: 1, 1: -1}, {0: first, 1: form}, LARGE_PRIME)
        for w, relation in self.algebra.relations:
            if w == weight:
                terms = {
                    sum(e << i * _DIGIT for i, e in enumerate(exps)): c
                    for exps, c in relation.items()
                }
                yield combination(
                    terms, {monomial: self._products(monomial) for monomial in terms}, LARGE_PRIME
                )

    def _shifted(self, monomial: int, i: int) -> SparseVector:
        """x_i times the normal form of a monomial."""
        unit = 1 << i * _DIGIT
        return {m + unit: c for m, c in self.normal[monomial].items()}

    def _products(self, monomial: int) -> SparseVector:
        """Any monomial of the next weight in the products x_i b."""
        first = (monomial & -monomial).bit_length() // _DIGIT
        rest = monomial - (1 << first * _DIGIT)
        if rest not in self.normal:
            self.normal[rest] = combination(self._products(rest), self.normal, LARGE_PRIME)
        return self._shifted(rest, first)

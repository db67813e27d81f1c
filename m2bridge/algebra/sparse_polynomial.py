"""Polynomials with integer coefficients as plain Python values: derivatives, and finite algebras.

``IntegerPolynomial`` maps the exponents of each monomial to its coefficient, as SymPy and FLINT do.
``Terms`` lists monomials by their variables, which is short where there are many variables and low
degrees. An algebra GF(p)[x]/(relations) of finite dimension is built up weight by weight.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import prod
from typing import Any

from m2bridge.algebra.linear_algebra import Quotient, SparseVector, combination
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.errors import ContradictionError
from m2bridge.limits import check_deadline_in

Exponents = tuple[int, ...]
"""The exponent of each variable."""

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
    variables: list[int] = []
    for j, exponent in enumerate(exponents):
        variables += [j] * exponent
    return tuple(variables)


def packed(exponents: Exponents, width: int) -> int:
    """A monomial as an integer whose digits, of a fixed number of bits, are its exponents.

    Numbers of monomials add where monomials are multiplied.
    """
    return sum(exponent << i * width for i, exponent in enumerate(exponents))


def gradients(
    polynomials: Iterable[IntegerPolynomial], point: Sequence[Any], prime: int = 0
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

    for polynomial in check_deadline_in(polynomials):
        gradient: dict[int, Any] = {}
        for exponents, c in check_deadline_in(polynomial.items()):
            factors = [(i, exponent) for i, exponent in enumerate(exponents) if exponent]
            zeros = [i for i, _ in factors if not point[i]]
            # A derivative keeps all other factors: two that are zero leave nothing, and one leaves
            # the derivative by its own variable only.
            if len(zeros) > 1:
                continue
            for i, exponent in factors:
                if zeros and i != zeros[0]:
                    continue
                others = [power(j, e) for j, e in factors if j != i]
                own = c * exponent * power(i, exponent - 1)
                gradient[i] = gradient.get(i, 0) + prod(others, start=own)
        yield gradient


def gradient_of_terms(
    polynomial: Iterable[tuple[Monomial, int]], point: Sequence[int]
) -> dict[int, int]:
    """The partial derivatives at an integer point, by variable; missing ones are zero."""
    gradient: dict[int, int] = {}
    for monomial, coefficient in polynomial:
        zeros = [place for place, j in enumerate(monomial) if not point[j]]
        if len(zeros) > 1:  # as in ``gradients``
            continue
        for place in zeros or range(len(monomial)):
            j = monomial[place]
            others = monomial[:place] + monomial[place + 1 :]
            value = coefficient * prod([point[i] for i in others])
            gradient[j] = gradient.get(j, 0) + value
    return gradient


def restricted(polynomial: IntegerPolynomial, fixed: Mapping[int, int]) -> IntegerPolynomial:
    """A polynomial with some variables replaced by 0 or 1."""
    result: IntegerPolynomial = {}
    for exponents, c in polynomial.items():
        rest = list(exponents)
        for i, value in fixed.items():
            if rest[i] and not value:
                break
            rest[i] = 0
        else:
            result[tuple(rest)] = result.get(tuple(rest), 0) + c
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
    relations: tuple[tuple[int, IntegerPolynomial], ...]

    def length(self) -> int:
        """The dimension over GF(p), added up weight by weight.

        Raises
        ------
        ContradictionError
            If it is infinite. Otherwise the relations are a complete intersection, whose last part
            that is not zero has the weight of all relations less that of all variables; parts
            beyond it are computed, as many as the largest weight of a variable: if these are zero,
            so are all later ones.
        """
        last = sum(weight for weight, _ in self.relations) - sum(self.weights)
        parts = _Parts(self)
        dimensions = [parts.next() for _ in range(last + max(self.weights, default=0))]
        if any(dimensions[last:]):
            raise ContradictionError(
                f"an algebra that has to be finite is not: weights {self.weights}"
            )
        return 1 + sum(dimensions)


_EXPONENT_BITS = 32
"""The bits of a digit: multiplication by a variable adds a power of two."""


@dataclass(slots=True)
class _Parts:
    """The parts of an algebra up to some weight: standard monomials, and normal forms of monomials.

    The part of weight w is the sum of the x_i ⊗ (part of weight w − w_i) modulo the relations of
    weight w and x_i ⊗ x_j b = x_j ⊗ x_i b for b in the part of weight w − w_i − w_j. With standard
    monomials b only the products x_i b are unknown; those are standard that are independent modulo
    the relations. Whatever products lead to one monomial are compared with the first that does,
    which is the same.

    Parameters
    ----------
    algebra : WeightedAlgebra
    standard, products : list of lists of packed monomials
        For each weight; there are the constants to begin with.
    normal : mapping from packed monomials to combinations of standard ones
    """

    algebra: WeightedAlgebra
    standard: list[list[int]] = field(default_factory=lambda: [[0]])
    products: list[list[int]] = field(default_factory=lambda: [[0]])
    normal: dict[int, SparseVector] = field(default_factory=lambda: {0: {0: 1}})

    def next(self) -> int:
        """The dimension of the next part."""
        weight = len(self.standard)
        steps = self._steps(self.standard, weight)
        products = list(dict.fromkeys(monomial + unit for monomial, unit in steps))
        forms = Quotient.of(self._relations(weight), LARGE_PRIME).forms
        self.products.append(products)
        self.standard.append([monomial for monomial in products if monomial not in forms])
        for monomial in products:
            self.normal[monomial] = forms.get(monomial, {monomial: 1})
        return len(self.standard[-1])

    def _steps(self, parts: list[list[int]], weight: int) -> Iterator[tuple[int, int]]:
        """Yield each monomial with each variable whose product with it has this weight.

        Both are packed: each variable has a digit of its own, so that products are sums.
        """
        for i, own_weight in enumerate(self.algebra.weights):
            if own_weight <= weight:
                for monomial in parts[weight - own_weight]:
                    yield monomial, 1 << i * _EXPONENT_BITS

    def _relations(self, weight: int) -> Iterator[SparseVector]:
        """Yield the relations among the products x_i b of this weight."""
        # Two products that are one monomial are equal in the algebra.
        known: dict[int, SparseVector] = {}
        for monomial, unit in self._steps(self.products, weight):
            form = self._shifted(monomial, unit)
            first = known.setdefault(monomial + unit, form)
            if first != form:
                yield combination({0: 1, 1: -1}, {0: first, 1: form}, LARGE_PRIME)
        # The given relations of this weight vanish; multiples of others vanish already.
        for own_weight, relation in self.algebra.relations:
            if own_weight == weight:
                terms = {packed(exponents, _EXPONENT_BITS): c for exponents, c in relation.items()}
                forms = {monomial: self._in_products(monomial) for monomial in terms}
                yield combination(terms, forms, LARGE_PRIME)

    def _shifted(self, monomial: int, unit: int) -> SparseVector:
        """A variable times the normal form of a monomial."""
        return {standard + unit: c for standard, c in self.normal[monomial].items()}

    def _in_products(self, monomial: int) -> SparseVector:
        """Any monomial of the next weight in the products x_i b."""
        # The variable of the lowest digit that is not zero.
        first = (monomial & -monomial).bit_length() // _EXPONENT_BITS
        unit = 1 << first * _EXPONENT_BITS
        rest = monomial - unit
        if rest not in self.normal:
            self.normal[rest] = combination(self._in_products(rest), self.normal, LARGE_PRIME)
        return self._shifted(rest, unit)

"""Finite algebras GF(p)[x_1 … x_n]/(weighted homogeneous polynomials), built up weight by weight.

The part of weight w is the sum of the x_i ⊗ (part of weight w − w_i) modulo the relations of weight
w and x_i ⊗ x_j b = x_j ⊗ x_i b for b in the part of weight w − w_i − w_j. So the products x_i b,
where b is standard of weight w − w_i, span it; the standard monomials of weight w are products that
are a basis modulo the relations. Where several pairs (x_i, x_j b) give one monomial, the others are
compared with the first of them, which imposes all these equations. Monomials are packed, as
integers whose digits are the exponents: x_i is 2^(i · 32), and products are sums.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from m2bridge.algebra.linear_algebra import Quotient, SparseVector, combination
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.algebra.sparse_polynomial import IntegerPolynomial, packed
from m2bridge.errors import ContradictionError


@dataclass(frozen=True, slots=True)
class WeightedAlgebra:
    """GF(p)[x_1 … x_n], p = :data:`LARGE_PRIME`, modulo as many weighted homogeneous polynomials as
    there are variables.
    """

    weights: tuple[int, ...]  # of the variables, at least 1
    relations: tuple[tuple[int, IntegerPolynomial], ...]  # each with its weight

    def length(self) -> int:
        """The dimension over GF(p), added up weight by weight; ContradictionError if it is
        infinite.

        Where it is finite, the relations are a complete intersection: with relations of weights d_j
        and variables of weights w_i the Hilbert series is Π (1 − T^{d_j}) / Π (1 − T^{w_i}), a
        polynomial of degree Σ d_j − Σ w_i, the ``last_weight``. So the dimension is infinite if
        this degree is negative, or if the part of a larger weight is not zero. That all those parts
        are zero follows if the next max w_i of them are: a monomial of a larger weight, divided by
        one variable after the other, becomes one whose weight is among these.
        """
        last_weight = sum(weight for weight, _ in self.relations) - sum(self.weights)
        infinite = f"an algebra that has to be finite is not: weights {self.weights}"
        if last_weight < 0:
            raise ContradictionError(infinite)
        parts = _GradedParts(self)
        # of the parts of weights 1, 2, …; the part of weight 0 is GF(p)
        dimensions = [parts.append_next() for _ in range(last_weight)]
        later = [parts.append_next() for _ in range(max(self.weights, default=0))]
        if any(later):
            raise ContradictionError(infinite)
        return 1 + sum(dimensions)


_EXPONENT_BITS = 32
"""The bits of a digit: multiplication by a variable adds a power of two."""


@dataclass(slots=True)
class _GradedParts:
    """The parts of an algebra up to some weight: standard monomials, and normal forms of
    monomials.
    """

    algebra: WeightedAlgebra
    standard: list[list[int]] = field(default_factory=lambda: [[0]])  # by weight, a basis
    products: list[list[int]] = field(default_factory=lambda: [[0]])  # by weight, x_i b
    normal: dict[int, SparseVector] = field(default_factory=lambda: {0: {0: 1}})

    def append_next(self) -> int:
        """Add the part of the next weight, which is ``len(standard)``, and return its dimension."""
        weight = len(self.standard)
        # The products are a basis of a space, which is divided by the relations; a form expresses a
        # product in products that are independent there, the standard monomials.
        pairs = self._factor_pairs(self.standard, weight)
        products = list(dict.fromkeys(monomial + variable for monomial, variable in pairs))
        forms = Quotient.of(self._relations(weight), LARGE_PRIME).forms
        self.products.append(products)
        self.standard.append([monomial for monomial in products if monomial not in forms])
        for monomial in products:
            self.normal[monomial] = forms.get(monomial, {monomial: 1})
        return len(self.standard[-1])

    def _factor_pairs(self, monomials: list[list[int]], weight: int) -> Iterator[tuple[int, int]]:
        """Yield all pairs of a monomial and a variable, both packed, whose product has
        this weight.
        """
        for i, own_weight in enumerate(self.algebra.weights):
            if own_weight <= weight:
                for monomial in monomials[weight - own_weight]:
                    yield monomial, 1 << i * _EXPONENT_BITS

    def _relations(self, weight: int) -> Iterator[SparseVector]:
        """Yield the relations among the products x_i b of this weight, where b is standard."""
        # For a product m = x_j b of smaller weight, x_i m is x_i times the normal form of m, so a
        # combination of products. Pairs (m, x_i) with the same x_i m have equal combinations.
        first_forms: dict[int, SparseVector] = {}
        for monomial, variable in self._factor_pairs(self.products, weight):
            form = self._multiplied(monomial, variable)
            first = first_forms.setdefault(monomial + variable, form)
            if first != form:
                forms = {0: first, 1: form}
                yield combination({0: 1, 1: -1}, forms, LARGE_PRIME)  # their difference
        # The given relations of this weight vanish; multiples of relations of smaller weights do
        # already, since normal forms of smaller weights are used.
        for own_weight, relation in self.algebra.relations:
            if own_weight == weight:
                terms = {packed(exponents, _EXPONENT_BITS): c for exponents, c in relation.items()}
                forms = {monomial: self._in_products(monomial) for monomial in terms}
                yield combination(terms, forms, LARGE_PRIME)

    def _multiplied(self, monomial: int, variable: int) -> SparseVector:
        """The product of a variable and the normal form of a monomial: a combination of products
        x_i b.
        """
        return {standard + variable: c for standard, c in self.normal[monomial].items()}

    def _in_products(self, monomial: int) -> SparseVector:
        """A monomial that is not constant, as a combination of products x_i b: it is x_i times a
        monomial of smaller weight, whose normal form is known, or found here in the same way.
        """
        # The lowest bit that is set is in the digit of the first variable of the monomial.
        lowest_bit = (monomial & -monomial).bit_length() - 1
        first = lowest_bit // _EXPONENT_BITS
        variable = 1 << first * _EXPONENT_BITS
        rest = monomial - variable
        if rest not in self.normal:
            # The products in the combination have normal forms, as their weight is smaller.
            self.normal[rest] = combination(self._in_products(rest), self.normal, LARGE_PRIME)
        return self._multiplied(rest, variable)

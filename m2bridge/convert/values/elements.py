"""Elements of rings that SymPy does not have, and arithmetic with them, where it needs no engine.

Coefficients are values of any ring below, so they add and multiply by themselves."""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import chain, combinations
from math import prod
from typing import Any

from sympy import Add, Symbol
from sympy.polys.orderings import grevlex
from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.modules import AsText, ring_text, to_expression
from m2bridge.algebra.numbers import fraction
from m2bridge.algebra.ring import PolynomialRing, entry_text
from m2bridge.convert.macaulay2 import term
from m2bridge.convert.values import rings
from m2bridge.convert.values.inexact import ComplexNumber, Operators, Real
from m2bridge.errors import ConversionError


class _Element(AsText, Operators):
    """An element that adds and multiplies without an engine, where the ring allows it."""

    __slots__ = ()
    ring: Any

    def _computed(
        self, operation: Callable[[Any, Any], Any], other: Any, swapped: bool = False
    ) -> Any:
        """Compute with another element of the ring, an integer or a fraction.

        Raises
        ------
        ConversionError
            If this needs Macaulay2.
        """
        ring = self.ring
        if operation is operator.pow:
            return NotImplemented if swapped or not isinstance(other, int) else _power(self, other)
        if isinstance(other, int | Fraction):
            if operation is operator.truediv and not swapped:
                return self._computed(operator.mul, Fraction(1) / other)
            other = number(ring, other)
        if getattr(other, "ring", None) != ring:
            return NotImplemented
        pair: tuple[Any, Any] = (other, self) if swapped else (self, other)
        left, right = pair
        if isinstance(self, RingFraction):
            return _of_fractions(operation, left, right)
        if operation is operator.truediv:
            raise _needs_engine(ring, "quotients")
        if operation is operator.mul:
            return _made(ring, _reduced(ring, _product(ring, left.terms, right.terms)))
        added = right.terms if operation is operator.add else ((m, -c) for m, c in right.terms)
        return _made(ring, _collected(chain(left.terms, added)))


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RingElement(_Element):
    """An element of a ring whose elements are not SymPy polynomials.

    Elements of one ring add, and multiply if it is commutative; in quotients, if the relations are
    a Gröbner basis at sight. What needs Macaulay2 is a :class:`~m2bridge.ConversionError` that says
    so.

    Parameters
    ----------
    ring : Algebra, QuotientRing or GaloisField
    terms : tuple of (exponents, coefficient)
        In Macaulay2's order; exponents of the variables of :func:`ring_variables`, coefficients in
        the ring below.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from m2bridge.algebra.field import QQ
    >>> from m2bridge.workspace.values import Algebra
    >>> exterior = Algebra(QQ, ("x", "y"), skew=(0, 1))
    >>> print(RingElement(exterior, (((1, 1), Fraction(2)), ((0, 0), Fraction(-1)))))
    2*x*y - 1
    >>> laurent = Algebra(QQ, ("t",), order=(("GroupLex", 1),), inverses=True)
    >>> t = RingElement(laurent, (((1,), Fraction(1)),))
    >>> (1 - t) ** 2 * t**-1
    t - 2 + t^(-1)
    """

    ring: Any
    terms: tuple[tuple[tuple[int, ...], Any], ...]

    def __eq__(self, other: object) -> bool:
        """Whether it is the same element of the same ring, or this integer or fraction in it."""
        if isinstance(other, int | Fraction):
            try:
                return not self._computed(operator.sub, other)
            except ConversionError:  # 1/2 is in no ring over ZZ
                return False
        return (
            isinstance(other, RingElement)
            and self.ring == other.ring
            and dict(self.terms) == dict(other.terms)
        )

    def __hash__(self) -> int:
        return hash((self.ring, frozenset(self.terms)))

    def as_expr(self) -> Any:
        """The same polynomial, or Laurent polynomial, as an expression of SymPy.

        Raises
        ------
        ConversionError
            If its ring is no such ring, or its coefficients are no numbers.
        """
        if not isinstance(self.ring, rings.Algebra) or self.ring.weyl or self.ring.skew:
            raise ConversionError(f"elements of {ring_text(self.ring)} are no expressions of SymPy")
        names = [Symbol(name) for name in self.ring.variables]
        return Add(
            *(to_expression(c) * prod(map(pow, names, exponents)) for exponents, c in self.terms)
        )

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __str__(self) -> str:
        names = rings.ring_variables(self.ring)
        text = " + ".join(
            _term(names, exponents, coefficient) for exponents, coefficient in self.terms
        )
        return text.replace("+ -", "- ") or "0"


def _term(names: tuple[str, ...], exponents: tuple[int, ...], coefficient: Any) -> str:
    number = entry_text(coefficient)
    is_sum = any(exponents) and any(sign in number[1:] for sign in "+-")
    return term(exponents, f"({number})" if is_sum else number, names)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RingFraction(_Element):
    """An element of a field of fractions; equal ones may be written with other numerators and
    denominators.

    Examples
    --------
    >>> from m2bridge.workspace.values import FractionField
    >>> from m2bridge.algebra.field import QQ
    >>> ring = PolynomialRing(QQ, ("x",))
    >>> x = ring.sympy_ring.gens[0]
    >>> print(RingFraction(FractionField(ring), x, x + 1))
    (x)/(x + 1)
    """

    ring: rings.FractionField
    numerator: Any
    denominator: Any

    def __eq__(self, other: object) -> bool:
        """Whether it is the same fraction of the same ring."""
        if not isinstance(other, RingFraction) or self.ring != other.ring:
            return False
        return bool(self.numerator * other.denominator == other.numerator * self.denominator)

    def __hash__(self) -> int:
        return hash(self.ring)

    def __bool__(self) -> bool:
        return bool(self.numerator)

    def __str__(self) -> str:
        return f"({self.numerator})/({self.denominator})"


Term = tuple[tuple[int, ...], Any]
Terms = dict[tuple[int, ...], Any]


def number(ring: Any, value: int | Fraction) -> Any:
    """An integer or a fraction as an element of a ring.

    Raises
    ------
    ConversionError
        If it is none.
    """
    match ring:
        case rings.IntegerRing():
            if value.denominator != 1:
                raise ConversionError(f"{value} is not an integer")
            return int(value)
        case CoefficientField(characteristic=0):
            return Fraction(value)
        case CoefficientField():
            return ring.domain(value.numerator) / ring.domain(value.denominator)
        case rings.RealField():
            return Real.of(1, ring.precision) * value
        case rings.ComplexField():
            return ComplexNumber.of(1, ring.precision) * value
        case rings.FractionField():
            return RingFraction(
                ring, number(ring.ring, value.numerator), number(ring.ring, value.denominator)
            )
    own = ring.sympy_ring if isinstance(ring, PolynomialRing | rings.Algebra) else None
    if own is not None:
        below = number(rings.coefficient_ring(ring), value)
        return own.ground_new(
            own.domain(below.numerator, below.denominator) if own.domain.is_QQ else below
        )
    if isinstance(ring, rings.QuotientRing) and isinstance(ring.ambient, rings.IntegerRing):
        return _made(ring, {(): value.numerator * pow(value.denominator, -1, ring.relations[0])})
    return _made(
        ring, {(0,) * len(rings.ring_variables(ring)): number(rings.coefficient_ring(ring), value)}
    )


def _power(element: Any, exponent: int) -> Any:
    """A power by squares, so that elements of quotients stay small; negative ones of fractions and
    monomials.
    """
    if exponent < 0:
        return _power(_inverse(element), -exponent)
    if exponent < 2:
        return element if exponent else number(element.ring, 1)
    root = _power(element, exponent // 2)
    return root * (root * element) if exponent % 2 else root * root


def _inverse(element: Any) -> Any:
    if isinstance(element, RingFraction):
        if not element.numerator:
            raise ZeroDivisionError("division by the zero of a field of fractions")
        return RingFraction(element.ring, element.denominator, element.numerator)
    if (
        isinstance(element.ring, rings.Algebra)
        and element.ring.inverses
        and len(element.terms) == 1
    ):
        ((monomial, coefficient),) = element.terms
        return RingElement(
            element.ring, ((tuple(-e for e in monomial), _unit_inverse(coefficient)),)
        )
    raise _needs_engine(element.ring, "inverses")


def _of_fractions(
    operation: Callable[[Any, Any], Any], left: RingFraction, right: RingFraction
) -> RingFraction:
    if operation is operator.truediv:
        return _of_fractions(operator.mul, left, _inverse(right))
    (a, b), (c, d) = ((part.numerator, part.denominator) for part in (left, right))
    above, below = a * c if operation is operator.mul else operation(a * d, c * b), b * d
    if isinstance(above, PolyElement):
        above, below = above.cancel(below)
    return RingFraction(left.ring, above, below)


def _collected(terms: Iterable[Term]) -> Terms:
    """The sum of terms."""
    total: Terms = {}
    for monomial, coefficient in terms:
        total[monomial] = total[monomial] + coefficient if monomial in total else coefficient
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def _product(ring: Any, left: Sequence[Term], right: Sequence[Term]) -> Terms:
    over = rings.ambient_ring(ring)
    commutative = not isinstance(over, rings.Algebra) or not (over.weyl or over.skew)
    # constants commute
    if not commutative and all(any(any(m) for m, _ in terms) for terms in (left, right)):
        raise _needs_engine(ring, "products")
    return _collected((tuple(map(operator.add, m, n)), a * b) for m, a in left for n, b in right)


def _made(ring: Any, terms: Terms) -> RingElement:
    """The element with these terms, which are reduced, in Macaulay2's order."""
    if isinstance(ring, rings.QuotientRing) and isinstance(ring.ambient, rings.IntegerRing):
        p = ring.relations[0]
        residue = sum(terms.values()) % p
        return RingElement(
            ring, (((), residue - p if 2 * residue > p else residue),) if residue else ()
        )
    key = _order(rings.ambient_ring(ring))
    ordered = sorted(terms.items(), key=lambda term: key(term[0]), reverse=True)
    return RingElement(ring, tuple((m, c) for m, c in ordered if c))


def _reduced(ring: Any, terms: Terms) -> Terms:
    """The normal form in a quotient, of which no leading monomial of a relation divides a term."""
    over = rings.ambient_ring(ring)
    if ring == over or isinstance(over, rings.IntegerRing):
        return terms
    rules, key = _rules(ring), _order(over)
    left: Terms = {}
    while terms:
        monomial = max(terms, key=key)
        coefficient = terms.pop(monomial)
        divisor = next((lead for lead in rules if all(map(operator.le, lead, monomial))), None)
        if divisor is None:
            left[monomial] = coefficient
            continue
        rest = tuple(map(operator.sub, monomial, divisor))
        multiple = (
            (tuple(map(operator.add, rest, m)), -(coefficient * c))
            for m, c in rules[divisor].items()
        )
        terms = _collected(chain(terms.items(), multiple))
    return left


@lru_cache(maxsize=64)
def _rules(ring: Any) -> Mapping[tuple[int, ...], Terms]:
    """The other terms of each relation, made monic, by its leading monomial.

    Relations are a Gröbner basis if they are monomials, or their leading monomials are coprime in
    pairs (Cox, Little, O'Shea, *Ideals, Varieties, and Algorithms*, section 2.9); others, and those
    of other rings, need Macaulay2.
    """
    over = rings.ambient_ring(ring)
    if isinstance(over, rings.Algebra) and (over.inverses or over.weyl or over.skew):
        raise _needs_engine(ring, "normal forms")
    key, rules = _order(over), {}
    relations = [terms for relation in _relations(ring) if (terms := _terms(relation))]
    for terms in relations:
        lead = max(terms, key=key)
        inverse = _unit_inverse(terms.pop(lead))
        rules[lead] = {m: c * inverse for m, c in terms.items()}
    coprime = all(not any(map(min, m, n)) for m, n in combinations(rules, 2)) and len(rules) == len(
        relations
    )
    if any(rules.values()) and not coprime:
        raise _needs_engine(ring, "normal forms")
    return rules


def _relations(ring: Any) -> tuple[Any, ...]:
    if isinstance(ring, rings.GaloisField):
        return _relations(ring.quotient)
    return (
        (*ring.relations, *_relations(ring.ambient)) if isinstance(ring, rings.QuotientRing) else ()
    )


def _terms(element: Any) -> Terms:
    """Terms with coefficients as those of :class:`RingElement`."""
    if isinstance(element, RingElement):
        return dict(element.terms)
    rational = element.ring.domain.is_QQ
    return {m: fraction(c) if rational else c for m, c in element.items()}


def _unit_inverse(unit: Any) -> Any:
    if not isinstance(unit, int | RingElement):
        return 1 / unit
    if unit in (1, -1):
        return unit
    raise ConversionError(f"the inverse of {unit} needs Macaulay2, if there is one")


def _order(ring: Any) -> Callable[[tuple[int, ...]], Any]:
    """A key that is larger for larger monomials."""
    order: Any = (
        ring.order
        if isinstance(ring, rings.Algebra)
        else rings.ORDERS[grevlex](len(ring.variables))
    )

    def key(monomial: tuple[int, ...]) -> list[Any]:
        parts: list[Any] = []
        rest = monomial
        for name, size in order:
            if name == "Weights":
                parts.append(sum(map(operator.mul, size, monomial)))
                continue
            end = size if isinstance(size, int) else len(size)
            block, rest = rest[:end], rest[end:]
            if name == "GRevLex":
                parts.append(sum(map(operator.mul, size, block)))
            parts.append(tuple(-e for e in reversed(block)) if "RevLex" in name else block)
        return parts

    return key


def _needs_engine(ring: Any, what: str) -> ConversionError:
    return ConversionError(
        f'{what} in {ring_text(ring)} need Macaulay2: m2.value("x * y", x=x, y=y)'
    )

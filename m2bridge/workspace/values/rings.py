"""Rings beyond the plain polynomial rings, and their elements."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import prod
from typing import Any, TypeAlias

from sympy import ZZ, Add, Rational, Symbol, sympify
from sympy.polys.orderings import grevlex, grlex, lex
from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.modules import AsText
from m2bridge.algebra.residues import PolyRing, entry_text
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.errors import ConversionError
from m2bridge.workspace.values.collections import Expression, Factorization
from m2bridge.workspace.values.operators import Operators


@dataclass(frozen=True, slots=True, repr=False)
class IntegerRing(AsText):
    """The ring of integers.

    Examples
    --------
    >>> print(IntegerRing())
    ZZ
    """

    def __str__(self) -> str:
        return "ZZ"


@dataclass(frozen=True, slots=True, repr=False)
class RealField(AsText):
    """Real numbers with a precision in bits.

    Examples
    --------
    >>> print(RealField(100))
    RR_100
    """

    precision: int = 53

    def __str__(self) -> str:
        return f"RR_{self.precision}"


@dataclass(frozen=True, slots=True, repr=False)
class ComplexField(AsText):
    """Complex numbers with a precision in bits.

    Examples
    --------
    >>> print(ComplexField())
    CC_53
    """

    precision: int = 53

    def __str__(self) -> str:
        return f"CC_{self.precision}"


Order: TypeAlias = tuple[tuple[str, int | str | tuple[int, ...]], ...]


def grevlex_order(count: int) -> Order:
    """The graded reverse lexicographic order of so many variables, as Macaulay2 says it."""
    return (("GRevLex", (1,) * count),)


def glex_order(count: int) -> Order:
    """The graded lexicographic order."""
    return ("Weights", (1,) * count), ("Lex", count)


def lex_order(count: int) -> Order:
    """The lexicographic order."""
    return (("Lex", count),)


@dataclass(frozen=True, slots=True, repr=False)
class Algebra(AsText):
    """A polynomial ring with all that Macaulay2 can say of it; also Weyl algebras and exterior algebras.

    Parameters
    ----------
    coefficients : ring
    variables : tuple of str
    degrees : tuple of tuples of int
        The degree of each variable, without those of the coefficients.
    order : tuple of pairs
        The monomial order, as Macaulay2 says it: ``(("Lex", 2),)``, ``(("GRevLex", (1, 1)),)`` …
    inverses : bool
        Laurent polynomials.
    weyl : tuple of pairs
        Positions of x and ∂/∂x in the variables.
    skew : tuple of int
        Positions of the variables that anticommute.
    rank : int
        Length of a degree.
    joined : bool
        Whether degrees of the coefficients are part of degrees; what ``toField`` makes has none, and no variables.

    Examples
    --------
    >>> from m2bridge.algebra.field import QQ
    >>> ring = Algebra(QQ, ("x", "y"), order=(("Lex", 2),))
    >>> print(ring)
    QQ[x, y, MonomialOrder => (Lex => 2)]
    >>> print(Algebra(QQ, ("x", "y"), skew=(0, 1)))
    QQ[x, y, SkewCommutative => (x, y)]
    """

    coefficients: Any
    variables: tuple[str, ...]
    degrees: tuple[tuple[int, ...], ...] = ()
    order: Order = ()
    inverses: bool = False
    weyl: tuple[tuple[int, int], ...] = ()
    skew: tuple[int, ...] = ()
    rank: int = 1
    joined: bool = True

    def __post_init__(self) -> None:
        n = len(self.variables)
        if not self.degrees:
            object.__setattr__(self, "degrees", ((1,),) * n)
        if not self.order and n:
            object.__setattr__(self, "order", (("GRevLex", tuple(degree[0] for degree in self.degrees)),))

    @property
    def sympy_ring(self) -> PolyRing | None:
        """The same ring in SymPy, if SymPy can hold it: standard degrees, commutative, one of three orders."""
        n = len(self.variables)
        orders = {grevlex_order(n): grevlex, glex_order(n): grlex, lex_order(n): lex}
        plain = isinstance(self.coefficients, CoefficientField | IntegerRing) and not (
            self.inverses or self.weyl or self.skew
        )
        if not plain or self.degrees != ((1,),) * n or self.rank != 1 or not n:
            return None
        if self.order not in orders:
            return None
        domain = ZZ if isinstance(self.coefficients, IntegerRing) else self.coefficients.domain
        return PolyRing([Symbol(v) for v in self.variables], domain, orders[self.order])

    def __str__(self) -> str:
        if not (self.variables or self.joined):
            return f"toField({ring_text(self.coefficients)})"
        name = self.variables.__getitem__
        parts = list(self.variables)
        if self.degrees != ((1,),) * len(parts):
            parts.append(f"Degrees => {self.degrees}")
        if self.order != (("GRevLex", tuple(d[0] for d in self.degrees if d)),) and self.variables:
            parts.append(f"MonomialOrder => ({', '.join(f'{k} => {v}' for k, v in self.order)})")
        if self.inverses:
            parts.append("Inverses => true")
        if self.weyl:
            parts.append(f"WeylAlgebra => ({', '.join(f'{name(a)} => {name(b)}' for a, b in self.weyl)})")
        if self.skew:
            parts.append(f"SkewCommutative => ({', '.join(map(name, self.skew))})")
        return f"{ring_text(self.coefficients)}[{', '.join(parts)}]"


@dataclass(frozen=True, slots=True, repr=False)
class QuotientRing(AsText):
    """A ring modulo an ideal.

    Parameters
    ----------
    ambient : ring
    relations : tuple
        Elements of it.

    Examples
    --------
    >>> from m2bridge.algebra.field import QQ
    >>> ring = PolynomialRing(QQ, ("x",))
    >>> print(QuotientRing(ring, (ring.sympy_ring.gens[0] ** 2 + 1,)))
    QQ[x]/(x**2 + 1)
    """

    ambient: Any
    relations: tuple[Any, ...]

    def __str__(self) -> str:
        return f"{ring_text(self.ambient)}/({', '.join(map(entry_text, self.relations))})"


@dataclass(frozen=True, slots=True, repr=False)
class GaloisField(AsText):
    """A finite field GF(q): a quotient of GF(p)[a].

    Parameters
    ----------
    quotient : QuotientRing
    primitive : RingElement or other element of it
        What Macaulay2 calls the primitive element. Its powers are all others but zero, except that Macaulay2 also says
        so of the generator of a quotient that was given to ``GF``, whether it is true or not.

    Examples
    --------
    >>> from m2bridge.algebra.field import CoefficientField
    >>> ring = PolynomialRing(CoefficientField(2), ("a",))
    >>> a = ring.sympy_ring.gens[0]
    >>> quotient = QuotientRing(ring, (a**2 + a + 1,))
    >>> four = GaloisField(quotient, RingElement(quotient, (((1,), 1),)))
    >>> print(four, four.order, four.minimal_polynomial)
    GF(4) 4 a**2 + a + 1
    """

    quotient: QuotientRing
    primitive: Any

    @property
    def variable(self) -> str:
        """The name of the generator."""
        return str(self.quotient.ambient.variables[0])

    @property
    def minimal_polynomial(self) -> Any:
        """The minimal polynomial of the generator over the prime field."""
        return self.quotient.relations[0]

    @property
    def characteristic(self) -> int:
        """p."""
        return int(self.quotient.ambient.field.characteristic)

    @property
    def order(self) -> int:
        """q."""
        return int(self.characteristic ** self.minimal_polynomial.degree())

    def __str__(self) -> str:
        return f"GF({self.order})"


@dataclass(frozen=True, slots=True, repr=False)
class FractionField(AsText):
    """The fractions of a ring without zero divisors.

    Examples
    --------
    >>> from m2bridge.algebra.field import QQ
    >>> print(FractionField(PolynomialRing(QQ, ("x",))))
    frac(QQ[x])
    """

    ring: Any

    def __str__(self) -> str:
        return f"frac({ring_text(self.ring)})"


def ring_text(ring: Any) -> str:
    """How a ring is written."""
    return f"{ring.field}[{', '.join(ring.variables)}]" if isinstance(ring, PolynomialRing) else str(ring)


def ring_variables(ring: Any) -> tuple[str, ...]:
    """Names of the variables of a ring of polynomials, a quotient of one, or a finite field."""
    if isinstance(ring, GaloisField):
        ring = ring.quotient
    while isinstance(ring, QuotientRing):
        ring = ring.ambient
    return tuple(getattr(ring, "variables", ()))


class _Element(AsText, Operators):
    """What adds and multiplies without an engine, where the ring allows it."""

    __slots__ = ()

    def _computed(self, operation: Callable[[Any, Any], Any], other: Any, swapped: bool = False) -> Any:
        from m2bridge.workspace.values.ring_arithmetic import computed

        return computed(operation, self, other, swapped)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RingElement(_Element):
    """An element of a ring whose elements are not SymPy polynomials.

    Elements of one ring add, and multiply if it is commutative; in quotients, if the relations are a Gröbner basis at
    sight. What needs Macaulay2 is a :class:`~m2bridge.ConversionError` that says so.

    Parameters
    ----------
    ring : Algebra, QuotientRing or GaloisField
    terms : tuple of (exponents, coefficient)
        In Macaulay2's order; exponents of the variables of :func:`ring_variables`, coefficients in the ring below.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from m2bridge.algebra.field import QQ
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
        return isinstance(other, RingElement) and self.ring == other.ring and dict(self.terms) == dict(other.terms)

    def __hash__(self) -> int:
        return hash((self.ring, frozenset(self.terms)))

    def as_expr(self) -> Any:
        """The same polynomial, or Laurent polynomial, as an expression of SymPy.

        Raises
        ------
        ConversionError
            If its ring is no such ring, or its coefficients are no numbers.
        """
        if not isinstance(self.ring, Algebra) or self.ring.weyl or self.ring.skew:
            raise ConversionError(f"elements of {ring_text(self.ring)} are no expressions of SymPy")
        names = [Symbol(name) for name in self.ring.variables]
        return Add(*(_expression(c) * prod(map(pow, names, exponents)) for exponents, c in self.terms))

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __str__(self) -> str:
        names = ring_variables(self.ring)
        text = " + ".join(_term(names, exponents, coefficient) for exponents, coefficient in self.terms)
        return text.replace("+ -", "- ") or "0"


def _expression(coefficient: Any) -> Any:
    return coefficient.as_expr() if hasattr(coefficient, "as_expr") else sympify(coefficient, strict=True)


def _term(names: tuple[str, ...], exponents: tuple[int, ...], coefficient: Any) -> str:
    powers = zip(names, exponents, strict=True)
    factors = [name if e == 1 else f"{name}^{e}" if e > 0 else f"{name}^({e})" for name, e in powers if e]
    number = entry_text(coefficient)
    if any(sign in number[1:] for sign in "+-") and factors:
        number = f"({number})"
    if factors and number in ("1", "-1"):
        return number[:-1] + "*".join(factors)
    return "*".join([number, *factors])


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RingFraction(_Element):
    """An element of a field of fractions; equal ones may be written with other numerators and denominators.

    Examples
    --------
    >>> from m2bridge.algebra.field import QQ
    >>> ring = PolynomialRing(QQ, ("x",))
    >>> x = ring.sympy_ring.gens[0]
    >>> print(RingFraction(FractionField(ring), x, x + 1))
    (x)/(x + 1)
    """

    ring: FractionField
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


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "Sum": lambda *parts: reduce(operator.add, parts, 0),
    "Product": lambda *parts: reduce(operator.mul, parts, 1),
    "Power": operator.pow,
    "Divide": operator.truediv,
    "Minus": operator.neg,
    "Holder": lambda part: part,
    "Parenthesize": lambda part: part,
}


def _has_numbers(ring: Any) -> bool:
    """Whether its elements are polynomials, or Laurent polynomials, with numbers as coefficients."""
    numbers = IntegerRing | RealField | ComplexField
    if not isinstance(ring, Algebra) or ring.weyl or ring.skew:
        return False
    return isinstance(ring.coefficients, numbers) or ring.coefficients == QQ


def evaluate(expression: Any) -> Any:
    """The value of an expression; polynomials become SymPy expressions, numbers are exact."""
    if isinstance(expression, Expression):
        if expression.kind not in _OPERATIONS:
            raise ConversionError(f"an expression of the class {expression.kind} is not arithmetic")
        return _OPERATIONS[expression.kind](*map(evaluate, expression.parts))
    if isinstance(expression, Factorization):
        return reduce(operator.mul, (evaluate(base) ** exponent for base, exponent in expression), 1)
    if isinstance(expression, PolyElement) or (isinstance(expression, RingElement) and _has_numbers(expression.ring)):
        return expression.as_expr()
    if isinstance(expression, int | Fraction) and not isinstance(expression, bool):
        return Rational(expression)
    return expression

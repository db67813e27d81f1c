"""Elements of rings that SymPy does not have, and arithmetic with them, where it needs no engine.

Coefficients are values of any ring below, so they add and multiply by themselves.
"""

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
from m2bridge.workspace.values.operators import Operators
from m2bridge.algebra.modules import ring_text
from m2bridge.workspace.values.rings import Algebra, FractionField, ring_variables


class _Element(AsText, Operators):
    """What adds and multiplies without an engine, where the ring allows it."""

    __slots__ = ()

    def _computed(self, operation: Callable[[Any, Any], Any], other: Any, swapped: bool = False) -> Any:
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

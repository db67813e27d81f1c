"""Elements of rings that SymPy does not have: shown, compared, and given back.

Macaulay2 computes with them, which knows a Gröbner basis of each quotient and the rules of each
algebra. So nothing here adds or multiplies; operators are refused with the way to do it there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, prod
from typing import Any

from sympy import Add, Symbol
from sympy.polys.rings import PolyElement

from m2bridge.algebra.modules import AsText, ring_text, to_expression
from m2bridge.algebra.numbers import fraction
from m2bridge.algebra.ring import entry_text
from m2bridge.convert.m2_syntax import term
from m2bridge.convert.values import rings
from m2bridge.errors import ConversionError


def _refusing_operator(results: str, code: str) -> Callable[..., Any]:
    """An operator, such as ``__add__``, that refuses with :func:`_macaulay2_needed`."""

    def operator(self: Any, *_: Any) -> Any:
        """Raise ConversionError, whatever the operands."""
        raise _macaulay2_needed(self.ring, results, code)

    return operator


def _macaulay2_needed(ring: Any, results: str, code: str) -> ConversionError:
    """The error that only Macaulay2 computes results in a ring, in the plural as "sums", by the
    code, as "x + y".
    """
    return ConversionError(
        f'{results} in {ring_text(ring)} need Macaulay2: m2.value("{code}", x=x, y=y)'
    )


class _Element(AsText):
    """An element of ``ring`` whose arithmetic is Macaulay2's."""

    __slots__ = ()
    ring: Any

    __add__ = __radd__ = _refusing_operator("sums", "x + y")
    __sub__ = __rsub__ = __neg__ = _refusing_operator("differences", "x - y")
    __mul__ = __rmul__ = _refusing_operator("products", "x * y")
    __truediv__ = __rtruediv__ = _refusing_operator("quotients", "x / y")
    __pow__ = __rpow__ = _refusing_operator("powers", "x ^ y")


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RingElement(_Element):
    """An element of a ring whose elements are not SymPy polynomials.

    It is compared with elements of its ring, integers and fractions. Its operators raise a
    :class:`~m2bridge.ConversionError` that says how Macaulay2 computes; where SymPy has the
    element, it computes with :meth:`as_expr`.

    Parameters
    ----------
    ring : Algebra, QuotientRing or GaloisField
    terms : tuple of (exponents, coefficient)
        In Macaulay2's order; exponents of the variables of :func:`ring_variables`, coefficients in
        the ring's :func:`coefficient_ring`.

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
    >>> with Macaulay2() as m2:
    ...     m2.value("(1 - t)^2 * t^-1", t=t)
    t - 2 + t^(-1)
    """

    ring: Any
    terms: tuple[tuple[tuple[int, ...], Any], ...]

    def __eq__(self, other: object) -> bool:
        """Whether it is the same element of the same ring, or this integer or fraction in it."""
        if isinstance(other, int | Fraction):
            return _is_image_of_number(self, other)
        return (
            isinstance(other, RingElement)
            and self.ring == other.ring
            and dict(self.terms) == dict(other.terms)
        )

    def __hash__(self) -> int:
        """Equal elements have equal hashes, and a constant has the hash of the number it equals.

        Modulo p an element is equal to all integers of a residue class. Their hashes differ, so
        that a set or a dictionary does not find an element by such an integer.
        """
        if not self.terms:
            return hash(0)
        (exponents, coefficient), *other_terms = self.terms
        is_constant = not other_terms and not any(exponents)
        if not is_constant:
            return hash((self.ring, frozenset(self.terms)))
        # the coefficient 3/2 in QQ[a][x] is a polynomial of SymPy, with another hash than 3/2
        return hash(_without_variables(coefficient))

    def as_expr(self) -> Any:
        """The same polynomial, or Laurent polynomial, as an expression of SymPy.

        Raises
        ------
        ConversionError
            If its ring is a quotient, a Weyl algebra or an exterior algebra, or a coefficient has
            no expression.
        """
        if not isinstance(self.ring, rings.Algebra) or self.ring.weyl or self.ring.skew:
            raise ConversionError(
                f"elements of {ring_text(self.ring)} have no expressions in SymPy"
            )
        variables = [Symbol(name) for name in self.ring.variables]
        summands = []
        for exponents, coefficient in self.terms:
            monomial = prod(map(pow, variables, exponents))
            summands.append(to_expression(coefficient) * monomial)
        return Add(*summands)

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __str__(self) -> str:
        names = rings.ring_variables(self.ring)
        summands = []
        for exponents, coefficient in self.terms:
            number = entry_text(coefficient)
            is_sum = any(sign in number[1:] for sign in "+-")  # a sign after the first character
            if is_sum and any(exponents):  # (a + 1)*x
                number = f"({number})"
            summands.append(term(exponents, number, names))
        return " + ".join(summands).replace("+ -", "- ") or "0"


def _is_image_of_number(element: RingElement, number: int | Fraction) -> bool:
    """Whether an element is the image of a number in its ring; a number whose denominator is no
    unit there has no image.
    """
    p = rings.characteristic(element.ring)  # any n for ZZ/n; 0 means characteristic 0
    if p:
        if gcd(number.denominator, p) > 1:
            return False
        number = number.numerator * pow(number.denominator, -1, p) % p
    if not element.terms:
        return number == 0
    (exponents, constant), *other_terms = element.terms
    if other_terms or any(exponents):  # it is not constant
        return False
    constant = _without_variables(constant)
    if p and isinstance(constant, int):  # an element of ZZ/p, which is written by a residue
        constant %= p
    return bool(constant == number)


def _without_variables(coefficient: Any) -> Any:
    """Return the number that a constant polynomial is, such as a coefficient 3/2 in QQ[a][x], to
    which SymPy's polynomial is not equal; other coefficients unchanged.
    """
    while isinstance(coefficient, PolyElement) and coefficient.is_ground:
        domain = coefficient.ring.domain
        coefficient = coefficient.LC
        if domain.is_QQ:  # FLINT's fractions are not equal to Python's
            return fraction(coefficient)
    return coefficient


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RingFraction(_Element):
    """An element of a field of fractions; equal ones may be written with other numerators and
    denominators.

    Examples
    --------
    >>> from m2bridge.workspace.values import FractionField
    >>> from m2bridge.algebra.field import QQ
    >>> from m2bridge.algebra.ring import PolynomialRing
    >>> ring = PolynomialRing(QQ, ("x",))
    >>> x = ring.sympy_ring.gens[0]
    >>> print(RingFraction(FractionField(ring), x, x + 1))
    (x)/(x + 1)
    """

    ring: rings.FractionField
    numerator: Any
    denominator: Any

    def __eq__(self, other: object) -> bool:
        """Whether it is the same fraction of the same ring; ConversionError if they are written in
        different ways, and SymPy does not multiply in their ring of numerators.
        """
        if not isinstance(other, RingFraction) or self.ring != other.ring:
            return False
        if (self.numerator, self.denominator) == (other.numerator, other.denominator):
            return True
        # a/b = c/d exactly if a*d = c*b, since the ring has no zero divisors
        left = self._in_sympy(self.numerator) * self._in_sympy(other.denominator)
        right = self._in_sympy(other.numerator) * self._in_sympy(self.denominator)
        return bool(left == right)

    def _in_sympy(self, element: Any) -> Any:
        """Return a polynomial in SymPy's ring of the same variables, other elements unchanged;
        ConversionError if SymPy has no such ring.
        """
        if not isinstance(element, RingElement):  # a number, or a polynomial of SymPy
            return element
        ring = element.ring
        # quotient rings and rings of Laurent polynomials are not polynomial rings of SymPy
        if not isinstance(ring, rings.Algebra) or ring.inverses:
            raise _macaulay2_needed(self.ring, "comparisons", "x == y")
        # Products do not depend on degrees and on the order of monomials, so these are left out.
        plain = rings.Algebra(ring.coefficients, ring.variables).sympy_ring
        if plain is None:
            raise _macaulay2_needed(self.ring, "comparisons", "x == y")
        coefficients = plain.domain
        terms = {exponents: coefficients.convert(number) for exponents, number in element.terms}
        return plain.from_dict(terms)

    def __hash__(self) -> int:
        return hash(self.ring)  # equal fractions may have different numerators

    def __bool__(self) -> bool:
        return bool(self.numerator)

    def __str__(self) -> str:
        return f"({self.numerator})/({self.denominator})"

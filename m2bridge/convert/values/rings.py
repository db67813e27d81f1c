"""Rings beyond the plain polynomial rings, and the rings of SymPy as these rings.

A ring is known by its description: equal descriptions are one ring, in Macaulay2 too, where each
is made once. Elements have no arithmetic here (:mod:`.elements`). A ring or a domain of SymPy
without a counterpart, or whose elements are not exact, is a ConversionError.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd
from typing import Any, TypeAlias

import flint
from sympy import ZZ, Symbol
from sympy.polys.orderings import grevlex, grlex, lex

from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.modules import AsText, ring_text
from m2bridge.algebra.numbers import LARGE_PRIME, is_prime
from m2bridge.algebra.ring import PolynomialRing, PolyRing, entry_text
from m2bridge.convert.values.inexact import not_exact
from m2bridge.errors import ConversionError


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
"""The blocks of a monomial order: pairs of a name, and the number of variables or weights."""

ORDERS: dict[Any, Callable[[int], Order]] = {
    grevlex: lambda count: (("GRevLex", (1,) * count),),
    grlex: lambda count: (("Weights", (1,) * count), ("Lex", count)),
    lex: lambda count: (("Lex", count),),
}
"""By monomial orders of SymPy, functions of the number of variables to Macaulay2's same order."""


@dataclass(frozen=True, slots=True, repr=False)
class Algebra(AsText):
    """A polynomial ring with all that Macaulay2 can say of it; also Weyl algebras and exterior
    algebras.

    Parameters
    ----------
    coefficients : ring
    variables : tuple of str
    degrees : tuple of tuples of int
        The degree of each variable; it has no components for degrees of coefficients.
    order : tuple of pairs
        The monomial order, as Macaulay2 says it: ``(("Lex", 2),)``, ``(("GRevLex", (1, 1)),)`` …
    inverses : bool
        Laurent polynomials.
    weyl : tuple of pairs
        For each pair of variables x and ∂/∂x of a Weyl algebra their positions in ``variables``.
    skew : tuple of int
        Positions of the variables that anticommute.
    rank : int
        The number of integers in a degree.
    joined : bool
        Macaulay2's option ``Join``: whether degrees of coefficients count in the degrees of
        elements. It is false for a field that ``toField`` makes, which has no variables here.

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
        """Fill in Macaulay2's defaults where none are given: degrees 1, and the usual order."""
        if not self.degrees:
            object.__setattr__(self, "degrees", ((1,),) * len(self.variables))
        if not self.order and self.variables:
            object.__setattr__(self, "order", self._usual_order)

    @property
    def _usual_order(self) -> Order:
        """The order that is Macaulay2's default: its weights are the first integers of degrees."""
        weights = tuple(degree[0] for degree in self.degrees if degree)
        return (("GRevLex", weights),)

    @property
    def _has_usual_degrees(self) -> bool:
        """Whether each variable has degree 1, in a grading by one integer."""
        return self.rank == 1 and self.degrees == ((1,),) * len(self.variables)

    @property
    def sympy_ring(self) -> PolyRing | None:
        """The same ring in SymPy; ``None`` if SymPy does not have it.

        SymPy has commutative rings over ZZ, QQ and GF(p) with standard degrees, in the three orders
        of :data:`ORDERS`.
        """
        if not self.variables or not self._has_usual_degrees:
            return None
        if self.inverses or self.weyl or self.skew:
            return None
        if isinstance(self.coefficients, IntegerRing):
            domain = ZZ
        elif isinstance(self.coefficients, CoefficientField):
            domain = self.coefficients.domain
        else:
            return None
        for sympy_order, macaulay2_order in ORDERS.items():
            if macaulay2_order(len(self.variables)) == self.order:
                return PolyRing([Symbol(name) for name in self.variables], domain, sympy_order)
        return None

    def __str__(self) -> str:
        """Coefficients and variables, and options where the ring differs from a plain one."""
        if not self.variables and not self.joined:  # what toField makes
            return f"toField({ring_text(self.coefficients)})"
        parts = list(self.variables)
        if self.degrees != ((1,),) * len(self.variables):
            parts.append(f"Degrees => {self.degrees}")
        if self.variables and self.order != self._usual_order:
            blocks = ", ".join(f"{name} => {size}" for name, size in self.order)
            parts.append(f"MonomialOrder => ({blocks})")
        if self.inverses:
            parts.append("Inverses => true")
        if self.weyl:
            # the second variable of a pair is the derivative with respect to the first one
            pairs = [f"{self.variables[x]} => {self.variables[dx]}" for x, dx in self.weyl]
            parts.append(f"WeylAlgebra => ({', '.join(pairs)})")
        if self.skew:
            names = [self.variables[place] for place in self.skew]
            parts.append(f"SkewCommutative => ({', '.join(names)})")
        return f"{ring_text(self.coefficients)}[{', '.join(parts)}]"


@dataclass(frozen=True, slots=True, repr=False)
class QuotientRing(AsText):
    """A ring modulo an ideal.

    Parameters
    ----------
    ambient : ring
    relations : tuple
        Elements of ``ambient`` that generate the ideal.

    Examples
    --------
    >>> from m2bridge.algebra.field import QQ
    >>> from m2bridge.algebra.ring import PolynomialRing
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
    primitive : RingElement or other element of ``quotient``
        The element that Macaulay2 calls primitive. Its powers are all nonzero elements, unless a
        quotient was given to ``GF``: then it is the generator, whether it is primitive or not.

    Examples
    --------
    >>> from m2bridge.algebra.field import CoefficientField
    >>> from m2bridge.algebra.ring import PolynomialRing
    >>> ring = PolynomialRing(CoefficientField(2), ("a",))
    >>> a = ring.sympy_ring.gens[0]
    >>> quotient = QuotientRing(ring, (a**2 + a + 1,))
    >>> from m2bridge.workspace.values import RingElement
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
        """The minimal polynomial of the generator over the prime field, the only relation."""
        return self.quotient.relations[0]

    @property
    def characteristic(self) -> int:
        """The characteristic p."""
        return int(self.quotient.ambient.field.characteristic)

    @property
    def order(self) -> int:
        """The number q of elements."""
        return int(self.characteristic ** self.minimal_polynomial.degree())

    def __str__(self) -> str:
        return f"GF({self.order})"


@dataclass(frozen=True, slots=True, repr=False)
class FractionField(AsText):
    """The fractions of a ring without zero divisors.

    Examples
    --------
    >>> from m2bridge.algebra.field import QQ
    >>> from m2bridge.algebra.ring import PolynomialRing
    >>> print(FractionField(PolynomialRing(QQ, ("x",))))
    frac(QQ[x])
    """

    ring: Any

    def __str__(self) -> str:
        return f"frac({ring_text(self.ring)})"


def ambient_ring(ring: Any) -> Any:
    """Return the ring without relations of which a ring is a quotient, perhaps in several steps;
    a ring that is not a quotient itself.
    """
    while isinstance(ring, QuotientRing | GaloisField):
        ring = ring.quotient if isinstance(ring, GaloisField) else ring.ambient
    return ring


def coefficient_ring(ring: Any) -> Any:
    """Return the ring of the coefficients of a ring of polynomials, or of a quotient of one."""
    ambient = ambient_ring(ring)
    return ambient.field if isinstance(ambient, PolynomialRing) else ambient.coefficients


def characteristic(ring: Any) -> int:
    """Return the characteristic of a ring of this module or a field of coefficients; for a quotient
    of a ring over ZZ whose ideal has other integers than its relations, a multiple of it.
    """
    ambient = ambient_ring(ring)
    if isinstance(ambient, CoefficientField):
        return ambient.characteristic
    if isinstance(ambient, FractionField):
        return characteristic(ambient.ring)
    if isinstance(ambient, RealField | ComplexField):
        return 0
    is_integers = isinstance(ambient, IntegerRing)
    number = 0 if is_integers else characteristic(coefficient_ring(ambient))
    # a Galois field, which is not a QuotientRing here, has the characteristic of its coefficients
    quotient = ring
    while isinstance(quotient, QuotientRing):
        number = gcd(number, *map(_constant_integer, quotient.relations))
        quotient = quotient.ambient
    return number


def _constant_integer(relation: Any) -> int:
    """Return the integer that an element of ZZ, or of a ring of polynomials over ZZ, is; 0 for all
    other elements.
    """
    if isinstance(relation, int | flint.fmpz):
        return int(relation)
    # SymPy's polynomials have a method with this name, a RingElement has an attribute
    terms = getattr(relation, "terms", ())
    terms = tuple(terms() if callable(terms) else terms)
    if len(terms) != 1:
        return 0
    ((exponents, coefficient),) = terms
    return 0 if any(exponents) else _constant_integer(coefficient)


def integers_modulo(modulus: int) -> CoefficientField | QuotientRing:
    """Return the ring ZZ/n: a field for a prime n up to the bound for ideals, else a quotient."""
    if modulus <= LARGE_PRIME and is_prime(modulus):
        return CoefficientField(modulus)
    return QuotientRing(IntegerRing(), (modulus,))


def ring_variables(ring: Any) -> tuple[str, ...]:
    """Return the variables of a ring of polynomials, of a quotient of one, or of a finite field;
    none for ZZ and its quotients.
    """
    return tuple(getattr(ambient_ring(ring), "variables", ()))


def ring_of_sympy(value: PolyRing) -> Algebra:
    """Return the ring with the coefficients, names of variables and monomial order of a polynomial
    ring of SymPy.
    """
    names = tuple(str(symbol) for symbol in value.symbols)
    if value.order not in ORDERS:
        raise ConversionError(
            f"the monomial order {value.order} has no counterpart; use lex, grlex or grevlex"
        )
    order = ORDERS[value.order](len(names))
    return Algebra(ring_of_domain(value.domain), names, order=order)


def ring_of_domain(domain: Any) -> Any:
    """Return the ring of a SymPy domain, such as ZZ, GF(p), QQ[x] or QQ(x)."""
    if domain.is_ZZ:
        return IntegerRing()
    if domain.is_QQ:
        return CoefficientField()
    if domain.is_FiniteField:
        return integers_modulo(int(domain.characteristic()))
    if domain.is_PolynomialRing:
        return ring_of_sympy(domain.ring)
    if domain.is_FractionField:
        return FractionField(ring_of_sympy(domain.field.ring))
    if not domain.is_Exact:
        raise not_exact(f"coefficients in {domain}")
    raise ConversionError(f"coefficients in {domain} have no counterpart; use ZZ, QQ or GF(p)")

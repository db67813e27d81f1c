"""Rings beyond the plain polynomial rings, and their elements."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from sympy import ZZ, Symbol
from sympy.polys.orderings import grevlex, grlex, lex

from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.modules import AsText, ring_text
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


ORDERS: dict[Any, Callable[[int], Order]] = {
    grevlex: lambda count: (("GRevLex", (1,) * count),),
    grlex: lambda count: (("Weights", (1,) * count), ("Lex", count)),
    lex: lambda count: (("Lex", count),),
}
"""The orders of so many variables that SymPy has too, by its objects, as Macaulay2 says them."""


@dataclass(frozen=True, slots=True, repr=False)
class Algebra(AsText):
    """A polynomial ring with all that Macaulay2 can say of it; also Weyl algebras and exterior
    algebras.

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
        Whether degrees of the coefficients are part of degrees; what ``toField`` makes has none,
        and no variables.

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
            object.__setattr__(
                self, "order", (("GRevLex", tuple(degree[0] for degree in self.degrees)),)
            )

    @property
    def sympy_ring(self) -> PolyRing | None:
        """The same ring in SymPy, if SymPy can hold it: standard degrees, commutative, one of three
        orders.
        """
        n = len(self.variables)
        orders = {order(n): own for own, order in ORDERS.items()}
        plain = isinstance(self.coefficients, CoefficientField | IntegerRing) and not (
            self.inverses or self.weyl or self.skew
        )
        if (
            not plain
            or self.degrees != ((1,),) * n
            or self.rank != 1
            or not n
            or self.order not in orders
        ):
            return None
        domain = ZZ if isinstance(self.coefficients, IntegerRing) else self.coefficients.domain
        return PolyRing([Symbol(v) for v in self.variables], domain, orders[self.order])

    def __str__(self) -> str:
        if not (self.variables or self.joined):
            return f"toField({ring_text(self.coefficients)})"
        name = self.variables.__getitem__
        usual = (("GRevLex", tuple(d[0] for d in self.degrees if d)),)
        order = (
            ", ".join(f"{k} => {v}" for k, v in self.order)
            if self.variables and self.order != usual
            else ""
        )
        options = {
            "Degrees": str(self.degrees) if self.degrees != ((1,),) * len(self.variables) else "",
            "MonomialOrder": order and f"({order})",
            "Inverses": "true" if self.inverses else "",
            "WeylAlgebra": (
                self.weyl and f"({', '.join(f'{name(a)} => {name(b)}' for a, b in self.weyl)})"
            ),
            "SkewCommutative": self.skew and f"({', '.join(map(name, self.skew))})",
        }
        parts = (
            *self.variables,
            *(f"{option} => {value}" for option, value in options.items() if value),
        )
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
    primitive : RingElement or other element of it
        What Macaulay2 calls the primitive element. Its powers are all others but zero, except that
        Macaulay2 also says so of the generator of a quotient that was given to ``GF``, whether it
        is true or not.

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
    >>> from m2bridge.algebra.ring import PolynomialRing
    >>> print(FractionField(PolynomialRing(QQ, ("x",))))
    frac(QQ[x])
    """

    ring: Any

    def __str__(self) -> str:
        return f"frac({ring_text(self.ring)})"


def ambient_ring(ring: Any) -> Any:
    """Return the ring of which a ring is a quotient, perhaps of a quotient."""
    while isinstance(ring, QuotientRing | GaloisField):
        ring = ring.quotient if isinstance(ring, GaloisField) else ring.ambient
    return ring


def coefficient_ring(ring: Any) -> Any:
    """Return the ring of the coefficients of a ring of polynomials, or of a quotient of one."""
    ambient = ambient_ring(ring)
    return ambient.field if isinstance(ambient, PolynomialRing) else ambient.coefficients


def ring_variables(ring: Any) -> tuple[str, ...]:
    """Return the names of the variables of a ring of polynomials, a quotient of one, or a finite
    field.
    """
    return tuple(getattr(ambient_ring(ring), "variables", ()))


def ring_of_sympy(value: PolyRing) -> Algebra:
    """The ring of a SymPy polynomial.

    Raises
    ------
    ConversionError
        If its coefficients or its order have no counterpart.
    """
    names = tuple(str(symbol) for symbol in value.symbols)
    if value.order not in ORDERS:
        raise ConversionError(
            f"the monomial order {value.order} has no counterpart; use lex, grlex or grevlex"
        )
    return Algebra(ring_of_domain(value.domain), names, order=ORDERS[value.order](len(names)))


def ring_of_domain(domain: Any) -> Any:
    """The ring of a SymPy domain."""
    if domain.is_ZZ:
        return IntegerRing()
    if domain.is_QQ or domain.is_FiniteField:
        return CoefficientField(int(domain.characteristic()))
    if domain.is_PolynomialRing:
        return ring_of_sympy(domain.ring)
    if domain.is_FractionField:
        return FractionField(ring_of_sympy(domain.field.ring))
    if not domain.is_Exact:
        raise not_exact(f"coefficients in {domain}")
    raise ConversionError(f"coefficients in {domain} have no counterpart; use ZZ, QQ or GF(p)")

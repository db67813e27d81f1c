"""Fields with generators over a prime field: number fields, GF(p^k), and QQ with parameters.

Elements are SymPy's, ``ANP`` or fractions of polynomials in the parameters. SymPy itself has number
fields as subfields of the complex numbers only, and no GF(p^k): :class:`ExtensionDomain` has both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from numbers import Rational
from typing import Any

import flint
from sympy import QQ, AlgebraicNumber, Poly, Symbol
from sympy.polys.domains.algebraicfield import AlgebraicField
from sympy.polys.orderings import grevlex
from sympy.polys.polyclasses import DMP
from sympy.polys.polyerrors import CoercionFailed
from sympy.polys.rings import PolyRing

from m2bridge.algebra import FACTORING_CHARACTERISTIC_BOUND, MAX_VARIABLE_NAME_CHARS
from m2bridge.algebra.field import CoefficientField, check_over_field
from m2bridge.algebra.numbers import flint_rational, nearest_to_zero
from m2bridge.errors import InvalidCaseError, MethodUnavailableError, check_kind

MAX_EXTENSION_DEGREE = 24
"""Degree of a minimal polynomial: Gröbner bases over larger fields take minutes."""
MAX_PARAMETERS = 20
"""Parameters of a field of rational functions."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:_[0-9]+)*")

IMAGINARY_UNITS = frozenset({"i", "I", "ii", "j"})
"""Names that people give to a root of −1, so that QQ(i) as a field with a parameter is refused."""

GeneratorTerms = Mapping[tuple[int, ...], Any]
"""A polynomial in the generators: exponents, and rational numbers."""


@dataclass(frozen=True, slots=True, repr=False)
class ExtensionField(CoefficientField):
    """QQ or GF(p) with a root of an irreducible polynomial, or QQ with parameters.

    Ideals have such coefficients; other computations are over QQ and GF(p).

    Parameters
    ----------
    characteristic : int
        The characteristic of the prime field.
    names : tuple of str
        The name of the root of the minimal polynomial, or the names of the parameters.
    minimal_polynomial : tuple of rational numbers
        The coefficients of 1, a, a², … of the polynomial whose root is a; it is made monic. Empty
        where the names are parameters.
    root : sympy.AlgebraicNumber, optional
        The root as a number of SymPy, if the field was made from one; equality of fields does not
        compare it.
    names_are_given : bool, optional
        False if m2bridge chose the name, as of ``GF(9)``, so that a variable may have it; equality
        of fields does not compare it.

    Raises
    ------
    InvalidCaseError
        If the polynomial is reducible, linear or of too high a degree, the characteristic divides a
        denominator of it or is too large, a name cannot be one, or there are parameters over GF(p).

    Examples
    --------
    >>> print(ExtensionField(0, ("i",), (1, 0, 1)), ExtensionField(0, ("a", "b")))
    QQ[i]/(i**2 + 1) QQ(a, b)
    """

    names: tuple[str, ...] = ()
    minimal_polynomial: tuple[Any, ...] = ()
    root: AlgebraicNumber | None = field(default=None, compare=False)
    names_are_given: bool = field(default=True, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Check the names and the polynomial, which is made monic, see the errors of the class."""
        CoefficientField.__post_init__(self)
        check_kind("names", self.names, tuple, "a tuple of names")
        check_kind("minimal_polynomial", self.minimal_polynomial, tuple, "a tuple of numbers")
        for number in self.minimal_polynomial:
            check_kind("minimal_polynomial", number, Rational, "a tuple of rational numbers")
        for name in self.names:
            if isinstance(name, str) and len(name) > MAX_VARIABLE_NAME_CHARS:
                raise InvalidCaseError(
                    "field",
                    f"{name!r:.60} has {len(name)} characters; a name has at most"
                    f" {MAX_VARIABLE_NAME_CHARS}",
                )
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                rule = "letters and digits, perhaps with indices, as a_1"
                raise InvalidCaseError("field", f"{name!r:.60} names no element of a field: {rule}")
        are_different = len(set(self.names)) == len(self.names)
        if not are_different or not 1 <= len(self.names) <= MAX_PARAMETERS:
            raise InvalidCaseError("field", f"needs 1 to {MAX_PARAMETERS} different names")
        if self.minimal_polynomial:
            object.__setattr__(self, "minimal_polynomial", self._checked_polynomial())
        elif self.characteristic:
            raise InvalidCaseError(
                "field", f"parameters over GF({self.characteristic}) are not available: use QQ"
            )

    def _checked_polynomial(self) -> tuple[Any, ...]:
        """The coefficients of 1, a, a², … in the minimal polynomial, checked and made monic."""
        degree = len(self.minimal_polynomial) - 1
        if len(self.names) != 1 or not 2 <= degree <= MAX_EXTENSION_DEGREE:
            raise InvalidCaseError(
                "field",
                "needs one name, and a minimal polynomial in it of degree 2 to"
                f" {MAX_EXTENSION_DEGREE}",
            )
        if self.characteristic >= FACTORING_CHARACTERISTIC_BOUND:
            raise InvalidCaseError(
                "field", f"extensions of GF({self.characteristic}) are not available: use p < 2^29"
            )
        p = self.characteristic
        if p:
            residues = []
            for c in self.minimal_polynomial:
                numerator, denominator = int(c.numerator), int(c.denominator)
                if denominator % p == 0:
                    raise InvalidCaseError("field", f"a denominator is divisible by {p}")
                residues.append(numerator * pow(denominator, -1, p) % p)
            polynomial = flint.nmod_poly(residues, p)
        else:
            polynomial = flint.fmpq_poly(list(map(flint_rational, self.minimal_polynomial)))
        if polynomial.degree() != degree:
            raise InvalidCaseError(
                "field", "the leading coefficient of the minimal polynomial is zero"
            )
        _, factors = polynomial.factor()  # pairs of an irreducible factor and its exponent
        if len(factors) > 1 or factors[0][1] > 1:
            factor_texts = []
            for factor, exponent in factors:
                text = f"({self._polynomial_of(map(_number_of_flint, factor.coeffs()))})"
                factor_texts.append(text if exponent == 1 else f"{text}**{exponent}")
            raise InvalidCaseError(
                "field",
                f"the polynomial of {self.names[0]} is reducible over {self.base}:"
                f" {'*'.join(factor_texts)}; an irreducible one defines a field",
            )
        leading_coefficient = polynomial[degree]
        return tuple(_number_of_flint(c / leading_coefficient) for c in polynomial.coeffs())

    @property
    def base(self) -> CoefficientField:
        """The prime field."""
        return CoefficientField(self.characteristic)

    @property
    def domain(self) -> Any:
        """The domain of m2bridge's polynomials: an ``ExtensionDomain``, or SymPy's QQ(a, b)."""
        return _domain(self)

    @property
    def sympy_domain(self) -> Any:
        """The domain for polynomials that go to SymPy: one of its own domains.

        Raises
        ------
        MethodUnavailableError
            For GF(p^k), which SymPy does not have.
        """
        if not self.minimal_polynomial:
            return self.domain  # QQ(a, b) is a domain of SymPy already
        if self.characteristic:
            raise MethodUnavailableError(
                f"SymPy has no field {self}: the generators are ideal.generators, and"
                " to_macaulay2() is a program"
            )
        if self.root is not None:
            return QQ.algebraic_field(self.root.as_expr(), alias=self.root.alias)
        symbol = Symbol(self.names[0])
        # ``relation`` is the minimal polynomial as a polynomial in the generator
        return QQ.alg_field_from_poly(Poly(self.relation.as_expr(), symbol), alias=self.names[0])

    @property
    def transcendence_degree(self) -> int:
        """The number of parameters; 0 with a minimal polynomial, whose root is algebraic."""
        return 0 if self.minimal_polynomial else len(self.names)

    @property
    def generator_ring(self) -> PolyRing:
        """The ring over QQ in which elements are written as polynomials in the generators.

        Residues of GF(p) are written as the integers closest to zero.
        """
        return _generator_ring(self.names)

    @property
    def relation(self) -> Any:
        """The minimal polynomial, in :attr:`generator_ring`; 0 if the names are parameters."""
        return self._polynomial_of(self.minimal_polynomial)

    def _polynomial_of(self, coefficients: Iterable[Any]) -> Any:
        """The polynomial in :attr:`generator_ring` with these coefficients of 1, a, a², …; a
        residue becomes the integer that is closest to zero.
        """
        ring = self.generator_ring
        p = self.characteristic
        terms = {}
        for exponent, c in enumerate(coefficients):
            number = nearest_to_zero(c, p) if p else c
            terms[(exponent,)] = _convert_rational(ring.domain, number)
        return ring.from_dict(terms)

    def element(self, numerator: GeneratorTerms, denominator: GeneratorTerms | None = None) -> Any:
        """The element of :attr:`domain` that is a polynomial, or a fraction of two, in generators.

        Both are given by their terms: exponents of the generators, and rational coefficients.

        Raises
        ------
        ZeroDivisionError
            If the denominator is zero in the field.
        NotInvertible
            Of SymPy, if the characteristic divides the denominator of a coefficient.
        """
        numerator_element = self._element_of_terms(numerator)
        if denominator is None:
            return numerator_element
        denominator_element = self._element_of_terms(denominator)
        if not denominator_element:
            raise ZeroDivisionError("a denominator is zero in the field")
        return numerator_element / denominator_element

    def _element_of_terms(self, terms: GeneratorTerms) -> Any:
        """The element of :attr:`domain` that is a polynomial in the generators."""
        domain = self.domain
        if not self.minimal_polynomial:
            ring = domain.field.ring
            numbers = {e: _convert_rational(ring.domain, c) for e, c in terms.items()}
            return domain.field.new(ring.from_dict(numbers), ring.one)  # a fraction over 1
        total = domain.zero
        # Powers of the root, ``domain.unit``, are reduced by the minimal polynomial.
        for (exponent,), c in terms.items():
            power = self.power(domain.unit, exponent)
            total = total + power * domain(int(c.numerator)) / domain(int(c.denominator))
        return total

    def power(self, element: Any, exponent: int) -> Any:
        """A power of an element, exponent ≥ 0.

        With a minimal polynomial it is computed by squares: SymPy's own power of an ``ANP`` expands
        the power of its polynomial before it reduces it.
        """
        if not self.minimal_polynomial:
            return element**exponent
        result, square = self.domain.one, element
        while exponent:
            if exponent % 2:
                result = result * square
            exponent //= 2
            if exponent:
                square = square * square
        return result

    def parts(self, element: Any) -> tuple[Any, Any]:
        """Numerator and denominator of an element, in :attr:`generator_ring`.

        With a minimal polynomial the denominator is 1, and the numerator is reduced by it.
        """
        ring = self.generator_ring
        if not self.minimal_polynomial:
            return element.numer.set_ring(ring), element.denom.set_ring(ring)
        prime_field = self.base.domain
        terms = {}
        # SymPy lists the coefficients of the powers of the root from the highest power down
        for exponent, coefficient in enumerate(reversed(element.to_list())):
            if self.characteristic:  # a residue: the integer that stands for it
                coefficient = ring.domain(prime_field.to_int(coefficient))
            terms[(exponent,)] = coefficient
        return ring.from_dict(terms), ring.one

    def text(self, element: Any) -> tuple[str, str]:
        """The sign of an element, and the rest of its text as a factor of a product.

        ``("-", "(a + 1)/b")`` for the element −(a + 1)/b; the sign is ``+`` if the text of the
        numerator does not begin with a minus.
        """
        numerator, denominator = self.parts(element)
        if denominator.is_ground:  # a number: the numerator's coefficients are divided by it
            numerator, denominator = numerator.quo_ground(denominator.LC), 1
        sign = "+"
        if str(numerator).startswith("-"):
            sign, numerator = "-", -numerator
        text = f"({numerator})" if len(numerator) > 1 else str(numerator)
        if denominator == 1:
            return sign, text
        divisor = str(denominator)
        if not divisor.isalnum():  # anything but one name
            divisor = f"({divisor})"
        return sign, f"{text}/{divisor}"

    def __str__(self) -> str:
        """The name by which :func:`m2bridge.convert.fields.parse_field` reads the field again."""
        if not self.minimal_polynomial:
            name_list = ", ".join(self.names)
            if IMAGINARY_UNITS.isdisjoint(self.names):
                return f"QQ({name_list})"
            # QQ(i) would be read as a number field
            return f"frac(QQ[{name_list}])"
        return f"{self.base}[{self.names[0]}]/({self.relation})"

    __repr__ = __str__


def extension_field_of(domain: Any) -> ExtensionField:
    """The extension field with this domain, an ``ExtensionDomain`` or SymPy's QQ(a, b)."""
    if isinstance(domain, ExtensionDomain):
        return domain.described
    return ExtensionField(0, tuple(map(str, domain.symbols)))


def gaussian_field(name: str = "I") -> ExtensionField:
    """QQ with a square root of −1 of this name."""
    return ExtensionField(0, (name,), (1, 0, 1))


def check_prime_field(coefficients: CoefficientField, results: str) -> None:
    """Raise MethodUnavailableError unless the coefficients are QQ or GF(p); the results, in the
    plural as "images", are not available over others.
    """
    check_over_field(coefficients, results)
    check_no_generators(coefficients, results)


def check_no_generators(coefficients: CoefficientField, results: str) -> None:
    """Raise MethodUnavailableError unless the coefficients are QQ, GF(p) or ZZ."""
    if isinstance(coefficients, ExtensionField):
        raise MethodUnavailableError(
            f"{results} over {coefficients} are not available, only over QQ and GF(p): there"
            f" {', '.join(coefficients.names)} can be variables, with a minimal polynomial as an"
            " equation"
        )


class ExtensionDomain(AlgebraicField):  # type: ignore[misc]
    """A field k[a]/(m) for SymPy, where k is QQ or GF(p); its elements are ``ANP``."""

    def __init__(self, described: ExtensionField) -> None:
        """Make the domain with the names by which SymPy reads it: ``dom`` is the prime field,
        ``mod`` the minimal polynomial, and ``unit`` the generator.
        """
        self.described = described
        self.dom = self.domain = described.base.domain
        descending = [
            _convert_rational(self.dom, c) for c in reversed(described.minimal_polynomial)
        ]
        self.mod = DMP(descending, self.dom)
        self.ngens = 1
        self.symbols = self.gens = (Symbol(described.names[0]),)
        self.unit = self.new([self.dom(1), self.dom(0)])  # 1·a + 0: the highest power comes first
        self.zero = self.dtype.zero(self.mod.to_list(), self.dom)
        self.one = self.dtype.one(self.mod.to_list(), self.dom)

    def new(self, element: Any) -> Any:
        """An element from the list of its coefficients, of the highest power first, or a number."""
        if not isinstance(element, list):
            element = [self.dom.convert(element)]
        return self.dtype(element, self.mod.to_list(), self.dom)

    def characteristic(self) -> int:
        """The characteristic of the field."""
        return self.described.characteristic

    def to_sympy(self, a: Any) -> Any:
        """The element as an expression in the symbol of the generator."""
        polynomial, _ = self.described.parts(a)
        return polynomial.as_expr()

    def from_ExtensionDomain(self, a: Any, other: Any) -> Any:
        """The element itself if its domain is this one; else ``None``, by which SymPy, which calls
        this by its name, knows that it cannot be converted.
        """
        return a if self == other else None

    def from_sympy(self, a: Any) -> Any:
        """The element that an expression in the symbol of the generator stands for; else
        CoercionFailed, or SymPy's ValueError if it is not a rational function of the symbol.
        """
        symbol, described = self.symbols[0], self.described
        if a.is_Rational:
            return described.element({(0,): a})
        if a.free_symbols == {symbol}:
            # Polynomials of SymPy's rings are mappings of exponents to coefficients.
            to_polynomial = described.generator_ring.from_expr
            numerator, denominator = map(to_polynomial, a.as_numer_denom())
            divisor = described.element(denominator)
            if divisor:
                return described.element(numerator) / divisor
        raise CoercionFailed(f"{a} is not in {described}")

    def __str__(self) -> str:
        return str(self.described)

    def __hash__(self) -> int:
        return hash(self.described)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExtensionDomain):
            return NotImplemented
        return self.described == other.described

    def __reduce__(self) -> tuple[Any, ...]:
        return ExtensionDomain, (self.described,)


@lru_cache(maxsize=256)
def _domain(described: ExtensionField) -> Any:
    """The domain of a field, made once, so that equal fields have the same one."""
    if described.minimal_polynomial:
        return ExtensionDomain(described)
    return QQ.frac_field(*map(Symbol, described.names))


@lru_cache(maxsize=256)
def _generator_ring(names: tuple[str, ...]) -> PolyRing:
    """SymPy's polynomial ring over QQ in variables of these names, made once."""
    return PolyRing(list(map(Symbol, names)), QQ, grevlex)


def _convert_rational(domain: Any, number: Any) -> Any:
    """A rational number as an element of a domain of SymPy, where its denominator is not zero."""
    return domain(int(number.numerator)) / domain(int(number.denominator))


def _number_of_flint(coefficient: Any) -> Any:
    """A residue or an integer of FLINT as an ``int``, another rational number as a ``Fraction``."""
    if isinstance(coefficient, flint.nmod):
        return int(coefficient)
    number = Fraction(int(coefficient.p), int(coefficient.q))
    return int(number) if number.denominator == 1 else number

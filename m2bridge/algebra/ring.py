"""Polynomial rings and generators of their ideals, with polynomials of SymPy as elements.

A :class:`PolynomialRing` is a field, or ZZ, and names of variables; its ``sympy_ring`` is a ring of
SymPy with the same elements, texts of residues closest to zero, and an order of monomials: graded
reverse lexicographic. A :class:`GeneratingSet` is generators in such a ring. What is not exact, or
no polynomial in the variables, is a ConversionError.

Names that people write are letters, digits and _ (:func:`is_name`); in other programs they may have
indices and primes too (:func:`check_variable`). They are compared in Unicode's normal form NFKC, by
which letters are equal however they are written; variants of letters, as ℌ for H, are refused.

SymPy's rings as they are cannot be pickled or copied: SymPy 1.14 changes a dictionary while it goes
through it (``PolyRing.__getstate__``) and has a local function in its finite fields; python-flint
0.9 says nothing of ``nmod``. :mod:`copyreg` learns here how they are made again.
"""

from __future__ import annotations

import copyreg
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations_with_replacement, product
from math import prod
from numbers import Rational
from typing import Any, Self
from unicodedata import normalize

import flint
from sympy import ZZ, Expr, Float, Poly, Symbol
from sympy.polys import rings
from sympy.polys.domains.finitefield import FiniteField
from sympy.polys.domains.fractionfield import FractionField
from sympy.polys.orderings import grevlex
from sympy.polys.polyerrors import BasePolynomialError

from m2bridge.algebra import MAX_RING_VARIABLES, MAX_VARIABLE_NAME_CHARS
from m2bridge.algebra.determinantal import monomial_count
from m2bridge.algebra.expressions import SymbolEntry, in_plain_symbols, symbol_name
from m2bridge.algebra.extension_field import ExtensionDomain, ExtensionField, extension_field_of
from m2bridge.algebra.field import CoefficientField, prime_coefficients
from m2bridge.algebra.numbers import nearest_to_zero
from m2bridge.errors import ConversionError, TooLargeError, check_kind, class_with_article
from m2bridge.limits import check_deadline_in
from m2bridge.system import decimal


class PolyElement(rings.PolyElement):  # type: ignore[misc]
    """A polynomial of SymPy, with SymPy's own class name and another text: SymPy writes residues of
    GF(p) from 0 to p − 1, as FLINT has them.
    """

    def str(self, *style: Any) -> str:
        """Return the text as SymPy writes it, in a ``style`` that it passes, but residues as the
        integers closest to zero.
        """
        domain = self.ring.domain
        if isinstance(domain, ExtensionDomain | FractionField):
            return _text_over(extension_field_of(domain), self)
        if not domain.is_FiniteField:
            return str(super().str(*style))
        integers = self.ring.clone(domain=ZZ)
        residues = {monomial: ZZ(domain.to_int(c)) for monomial, c in self.items()}
        return str(integers.from_dict(residues).str(*style))


def _text_over(field: ExtensionField, polynomial: PolyElement) -> str:
    """The text of a polynomial with coefficients in an extension field, as ``(i + 1)*x - y/a``."""
    symbols = polynomial.ring.symbols
    pieces = []
    for monomial, coefficient in polynomial.terms():
        sign, coefficient_text = field.text(coefficient)
        is_left_out = coefficient_text == "1" and any(monomial)  # as in x, which is 1*x
        factors = [] if is_left_out else [coefficient_text]
        for symbol, exponent in zip(symbols, monomial, strict=True):
            if exponent:
                factors.append(f"{symbol}**{exponent}" if exponent > 1 else str(symbol))
        pieces.append(f" {sign} {'*'.join(factors)}")
    if not pieces:
        return "0"
    # Each piece begins with its sign between blanks. The first sign has no blanks, and is left out
    # if it is +.
    text = "".join(pieces)
    leading_sign = "-" if text.startswith(" - ") else ""
    return leading_sign + text[3:]


class PolyRing(rings.PolyRing):  # type: ignore[misc]
    """A ring of :class:`PolyElement`, equal to SymPy's own ring, which has the same class name,
    since SymPy hashes it.
    """

    @property
    def dtype(self) -> Callable[[Any], PolyElement]:
        """The constructor of elements."""
        return self._dtype  # type: ignore[no-any-return]

    @dtype.setter
    def dtype(self, _: object) -> None:
        """Take :class:`PolyElement` whatever SymPy, when it makes a ring, sets as constructor."""
        self._dtype = PolyElement(self, ()).new


def entry_text(element: Any) -> str:
    """The text of an element of any ring in lists and matrices; a residue is shown as the congruent
    integer of least absolute value.
    """
    modulus = getattr(element, "mod", None)  # residues of SymPy have this attribute
    if isinstance(element, flint.nmod):
        modulus = element.modulus()
    if not isinstance(modulus, int):
        return str(element)
    return str(nearest_to_zero(int(element), modulus))


def _ring_parts(ring: Any) -> tuple[Any, ...]:
    """How a ring of SymPy or of this module is made: its class, and symbols, domain and order."""
    return type(ring), (ring.symbols, ring.domain, ring.order)


def _element_parts(element: Any) -> tuple[Any, ...]:
    """How a polynomial is made: the function ``from_dict``, and its ring and terms."""
    return rings.PolyRing.from_dict, (element.ring, dict(element))


copyreg.pickle(rings.PolyRing, _ring_parts)
copyreg.pickle(PolyRing, _ring_parts)
copyreg.pickle(rings.PolyElement, _element_parts)
copyreg.pickle(PolyElement, _element_parts)
copyreg.pickle(FiniteField, lambda field: (FiniteField, (int(field.mod), field.sym)))
copyreg.pickle(flint.nmod, lambda residue: (flint.nmod, (int(residue), residue.modulus())))


MAX_PRODUCT_GENERATORS = 100_000
"""Generators of a product or power of ideals, before those that occur twice are left out."""


@dataclass(frozen=True, slots=True, init=False)
class PolynomialRing:
    """A polynomial ring over a :class:`CoefficientField`, or over ZZ, in graded reverse
    lexicographic order.

    Parameters
    ----------
    field : CoefficientField or str
        Also by name: ``"QQ"``, ``"GF(7)"`` or ``"ZZ"``.
    variables : tuple of str
        Distinct names, in any alphabet. ``c_1_2`` is Macaulay2's doubly indexed ``c_(1,2)``.

    Raises
    ------
    ConversionError
        If a name occurs twice, two names differ only in how Unicode writes the same letters (in
        their normal form NFKC), so that people cannot distinguish them, or a variable has the
        letter of a generator of the field.

    Examples
    --------
    >>> from sympy import symbols
    >>> x, y = symbols("x y")
    >>> PolynomialRing(QQ, ("x", "y")).polynomial((x + y) ** 2)
    x**2 + 2*x*y + y**2
    """

    field: CoefficientField
    variables: tuple[str, ...]

    def __init__(self, field: CoefficientField | str, variables: Sequence[str]) -> None:
        """Raise ConversionError unless the names of the variables can be distinguished."""
        coefficients = prime_coefficients(field)
        check_kind(
            "field", coefficients, CoefficientField, "QQ, CoefficientField(p) or another field"
        )
        check_kind("variables", variables, (tuple, list), "a tuple of names")
        for name in variables:
            check_kind("variables", name, str, "a tuple of names")
        object.__setattr__(self, "field", coefficients)
        object.__setattr__(self, "variables", tuple(variables))  # a list has no hash
        if len(set(self.variables)) != len(self.variables):
            repeated = [name for name, count in Counter(self.variables).items() if count > 1]
            raise ConversionError(
                f"a polynomial ring needs distinct variables; '{repeated[0]}' occurs twice"
            )
        if not "".join(self.variables).isascii():  # ASCII has one way to write each letter
            _check_letters(self.variables)
        if isinstance(self.field, ExtensionField):
            _check_names_of_field(self.field, self.variables)

    def __str__(self) -> str:
        """Field and variables, as ``QQ[x, y]``; of more than 12 the first six and the last."""
        names = self.variables
        if len(names) > 12:
            names = (*names[:6], "…", names[-1])
        return f"{field_text(self.field)}[{', '.join(names)}]"

    __repr__ = __str__

    @property
    def sympy_ring(self) -> PolyRing:
        """The same ring in SymPy; ConversionError if it has too many variables."""
        return _sympy_ring(self)

    def number(self, value: Any) -> Any:
        """A rational number of Python, SymPy or FLINT as an element of the field, or of ZZ.

        Raises
        ------
        ConversionError
            If the characteristic divides its denominator, or coefficients are integers and the
            number is not one.
        """
        if not (hasattr(value, "numerator") and hasattr(value, "denominator")):
            raise ConversionError(f"{value!r:.60} is not a rational number")
        if not self.field.is_field:
            return self._integer(value)
        divisor = self.field.domain(int(value.denominator))
        if not divisor:
            p = self.field.characteristic
            raise ConversionError(
                f"a coefficient with a denominator divisible by {p} has no meaning over"
                f" {self.field}"
            )
        return self.field.domain(int(value.numerator)) / divisor

    def _integer(self, value: Any) -> Any:
        """A rational number as an element of ZZ. Denominators are not cleared: over ZZ the multiple
        of a polynomial by a number generates another ideal.
        """
        if value.denominator != 1:
            numerator, denominator = map(decimal, (int(value.numerator), int(value.denominator)))
            raise ConversionError(
                f"the coefficient {numerator:.60}/{denominator:.60} is not in {self.field}: write"
                " integers, or take the ideal over QQ"
            )
        return self.field.domain(int(value.numerator))

    def polynomial(
        self, expression: Expr | Rational | Poly | rings.PolyElement | int
    ) -> rings.PolyElement:
        """Read a SymPy expression, or a polynomial of SymPy in another form, as an element of this
        ring.

        Raises
        ------
        ConversionError
            If it is not a polynomial in the variables with coefficients in the field, or not an
            expression at all: text is refused, because SymPy would run it as a program, and so are
            floating-point numbers, because they are not exact.
        """
        expression = _exact_expression(expression)
        try:
            return self.sympy_ring.from_expr(expression)
        except (ValueError, BasePolynomialError) as reason:
            raise ConversionError(
                f"'{expression}' is not a polynomial over {self.field} in"
                f" {first_names(self.variables)}"
            ) from reason


def field_text(field: CoefficientField) -> str:
    """The text of a field before the variables of a ring; a quotient is in parentheses."""
    return f"({field})" if "/" in str(field) else str(field)


def first_names(names: Sequence[str]) -> str:
    """The names, or ``none``, with commas, for messages; of many names the first eight and "…"."""
    texts = list(names[:8])
    if len(names) > 8:
        texts.append("…")
    return ", ".join(texts) or "none"


def is_name(text: str) -> bool:
    """Whether text can name a variable that people write: letters, digits and _, beginning with a
    letter, no variants of letters (:func:`place_of_variant`), and not very long.
    """
    if not text.isidentifier() or text.startswith("_") or len(text) > MAX_VARIABLE_NAME_CHARS:
        return False
    return place_of_variant(text) is None


def place_of_variant(name: str) -> int | None:
    """The place, from 0 on, of the first character that is a variant of others, as ℌ of H, ½ of 1⁄2
    and ⁿ of n: in the normal form NFKC, by which names are compared, it is different.
    """
    if name.isascii():
        return None
    for place, character in enumerate(name):
        # NFC only joins letters and accents; what NFKC changes beyond that are variants.
        if normalize("NFKC", character) != normalize("NFC", character):
            return place
    return None


def check_characters(name: str) -> None:
    """Raise ConversionError for a name with a variant of a letter, such as ℌ for H."""
    place = place_of_variant(name)
    if place is not None:
        character = name[place]
        meant = normal_form(character)
        raise ConversionError(
            f"{name!r:.60} is not a name: unexpected character {character!r}, a variant of"
            f" {meant!r}; write letters"
        )


_NUMBERS = r"-?[0-9]+(?:,[ ]?-?[0-9]+)*"
_NUMBERS_OR_NAMES = r"-?\w+(?:,[ ]?-?\w+)*"
_INDICES = re.compile(
    rf"""
    '                              # Macaulay2's prime
    | _-[0-9]+                     # _-1
    | \[{_NUMBERS}\]               # [1, 2]
    | _?\{{{_NUMBERS_OR_NAMES}\}}  # _{{1, 2}} and {{1, 2}}
    | _\({_NUMBERS_OR_NAMES}\)     # _(1,a)
    """,
    re.VERBOSE,
)
"""One suffix of a name in another program: a prime, or indices."""


def check_variable(name: str) -> None:
    r"""Raise ConversionError unless a text can name a variable, here or in another program.

    A difference such as ``x-y``, ``2`` and the empty text are refused; SymPy's ``\alpha``, Oscar's
    ``x[1]`` and Macaulay2's ``x_(1,a)`` are taken as they are. For names that people write,
    :func:`is_name` is stricter.
    """
    check_characters(name)
    core = name.removeprefix("\\")
    # Indices must follow something; with _ in their place, a Python identifier has to be left.
    if _INDICES.match(core) or not _INDICES.sub("_", core).isidentifier():
        rule = "letters, digits and _, beginning with a letter, and perhaps indices, as x[1]"
        raise ConversionError(f"{name!r:.60} is not the name of a variable: {rule}")


def _check_letters(names: Iterable[str]) -> None:
    """Raise ConversionError if two names have one normal form, as Å does, written as one character
    or two.
    """
    names_by_form: dict[str, str] = {}
    for name in names:
        other = names_by_form.setdefault(normal_form(name), name)
        if other != name:
            raise ConversionError(
                f"the names {other!a:.80} and {name!a:.80} are the same letters to Unicode"
            )


def _check_names_of_field(field: CoefficientField, variables: Iterable[str]) -> None:
    """Raise ConversionError if a variable has the letter of a generator of the field: Macaulay2
    cannot have both a and the indexed a_1.
    """
    bases = {name.partition("_")[0] for name in field.names}  # without indices
    for name in variables:
        if name.partition("_")[0] in bases:
            raise ConversionError(
                f"{name!r:.60} is a variable, and the field {field} has"
                f" {', '.join(field.names)}: give them different letters"
            )


def variable_name(variable: object) -> str:
    """The name of a symbol or of an entry of an indexed object, or text that is a name;
    ConversionError for anything else.
    """
    if isinstance(variable, SymbolEntry):
        return symbol_name(variable)
    if isinstance(variable, Symbol | str):
        check_characters(str(variable))
    if isinstance(variable, Symbol):
        check_variable(variable.name)
        return str(variable.name)
    if not isinstance(variable, str) or not is_name(variable):
        rule = f"letters, digits and _, beginning with a letter, at most {MAX_VARIABLE_NAME_CHARS}"
        raise ConversionError(f"{variable!r:.60} is not a name: {rule}")
    return variable


def normal_form(name: str) -> str:
    """The normal form NFKC of a name, the same for all ways in which Unicode writes its letters."""
    return normalize("NFKC", name)


def _exact_expression(expression: Any) -> Any:
    """An exact expression in plain symbols, or a rational number, from what a caller gave, which
    may be a polynomial that SymPy holds in another form (``Poly``, ``PolyElement``).
    """
    if isinstance(expression, Poly | rings.PolyElement):
        owner = expression if isinstance(expression, Poly) else expression.ring
        domain = owner.domain
        if domain.is_FiniteField:
            modulus = f"has coefficients modulo {domain.mod}"
            raise ConversionError(f"'{expression}' {modulus}: give a polynomial over ZZ or QQ")
        expression = expression.as_expr()
    if isinstance(expression, str):
        raise ConversionError(
            f"{expression!r} is text, which SymPy would run as a program: give an expression;"
            " m2bridge.ideal and m2bridge.read_map read text"
        )
    if isinstance(expression, float) or (isinstance(expression, Expr) and expression.has(Float)):
        raise ConversionError(f"'{expression}' is not exact: write fractions as sympy.Rational")
    if isinstance(expression, bool) or not isinstance(expression, Expr | Rational):
        raise ConversionError(
            f"{class_with_article(type(expression))} is not a polynomial: give a SymPy expression"
        )
    return in_plain_symbols(expression) if isinstance(expression, Expr) else expression


@lru_cache(maxsize=256)
def _sympy_ring(ring: PolynomialRing) -> PolyRing:
    """The ring of SymPy, the same object for equal rings."""
    if len(ring.variables) > MAX_RING_VARIABLES:
        raise ConversionError(
            f"{len(ring.variables)} variables; a ring has at most {MAX_RING_VARIABLES}"
        )
    return PolyRing(list(map(Symbol, ring.variables)), ring.field.domain, grevlex)


@dataclass(frozen=True, slots=True)
class GeneratingSet:
    """Nonzero generators of an ideal of a polynomial ring; the ideal itself, with its methods, is
    :class:`m2bridge.Ideal`.
    """

    ring: PolynomialRing
    generators: tuple[rings.PolyElement, ...]

    def __hash__(self) -> int:
        return hash(self.ring)  # an ``Ideal`` with other generators may be equal

    @classmethod
    def without_zeros(cls, ring: PolynomialRing, elements: Iterable[rings.PolyElement]) -> Self:
        """The ideal that elements of the ring generate; those that are zero are left out."""
        return cls(ring, tuple(filter(None, elements)))

    @property
    def generator_degrees(self) -> dict[int, int]:
        """The number of generators of each (total) degree."""
        return dict(sorted(Counter(total_degree(g) for g in self.generators).items()))

    @property
    def generators_or_zero(self) -> tuple[rings.PolyElement, ...]:
        """The generators; the zero polynomial where there are none."""
        return self.generators or (self.ring.sympy_ring.zero,)

    def __add__(self, other: GeneratingSet) -> Self:
        """The sum of two ideals of one ring: it defines the intersection of their varieties.

        >>> print(ideal("x", variables="x y") + ideal("y", variables="x y"))
        ideal(x, y) of QQ[x, y]
        """
        if not isinstance(other, GeneratingSet):
            return NotImplemented
        check_one_ring(self, other)
        return self._generated_by(self.generators + other.generators)

    def __mul__(self, other: GeneratingSet) -> Self:
        """The product of two ideals of one ring: it defines the union of their varieties.

        >>> print(ideal("x", "y") * ideal("x", "y"))
        ideal(x**2, x*y, y**2) of QQ[x, y]
        """
        if not isinstance(other, GeneratingSet):
            return NotImplemented
        check_one_ring(self, other)
        _check_product_count(len(self.generators) * len(other.generators))
        pairs = product(self.generators, other.generators)
        return self._generated_by(f * g for f, g in check_deadline_in(pairs))

    def __pow__(self, exponent: int) -> Self:
        """A power of the ideal; the unit ideal for the exponent 0.

        Its generators are the products of ``exponent`` generators, with repetition. Raises
        TooLargeError if these are too many, and Python a TypeError for a negative exponent.

        >>> print(ideal("x", "y") ** 2)
        ideal(x**2, x*y, y**2) of QQ[x, y]
        """
        if isinstance(exponent, bool) or not isinstance(exponent, int) or exponent < 0:
            return NotImplemented
        one = self.ring.sympy_ring.one
        if self.generators:
            _check_product_count(monomial_count(len(self.generators), exponent))
        generator_choices = combinations_with_replacement(self.generators, exponent)
        return self._generated_by(
            prod(factors, start=one) for factors in check_deadline_in(generator_choices)
        )

    def _generated_by(self, generators: Iterable[rings.PolyElement]) -> Self:
        """The ideal of the same ring and class with these nonzero generators, each once."""
        return replace(self, generators=tuple(dict.fromkeys(generators)))


def check_one_ring(*ideals: GeneratingSet) -> None:
    """Raise ConversionError if the ideals are of different rings, or a value is not an ideal."""
    first = check_ideal(ideals[0]).ring
    for other in ideals[1:]:
        if check_ideal(other).ring != first:
            raise ConversionError(f"ideals of different rings, {first} and {other.ring}")


def check_ideal(value: object) -> GeneratingSet:
    """Return the value if it is an ideal; else raise ConversionError."""
    if not isinstance(value, GeneratingSet):
        raise ConversionError(
            f"{class_with_article(type(value))} is not an ideal: make one by m2bridge.ideal"
        )
    return value


def _check_product_count(count: int) -> None:
    """Raise TooLargeError if there are more products of generators than the limit allows."""
    if count > MAX_PRODUCT_GENERATORS:
        raise TooLargeError(
            f"{count} products of generators; at most {MAX_PRODUCT_GENERATORS} are formed:"
            " take fewer"
        )


def total_degree(polynomial: rings.PolyElement) -> int:
    """The largest total degree of a monomial; −1 for the zero polynomial."""
    return max((sum(monomial) for monomial in polynomial), default=-1)


def is_homogeneous(polynomial: rings.PolyElement) -> bool:
    """Whether all monomials have the same total degree (true for zero)."""
    return len({sum(monomial) for monomial in polynomial}) <= 1

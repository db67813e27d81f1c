"""Polynomials as people have them: in text, of SymPy or of FLINT.

Text is read by strict parsers, and never evaluated as a program; people write it by this grammar::

    sum     = product {("+" | "-") product}
    product = factor {("*" | "/" | "//") factor}
    factor  = {"+" | "-"} power
    power   = atom [("^" | "**") integer | superscript digits]
    atom    = integer | name | "(" sum ")"
    name    = letters, digits and primes [index]

A divisor must be a number, not zero; Oscar writes 2//3. x + -3*y and 2*-x are read, and -x^2 is
-(x^2). x² is x^2. x_(1,2), x_{1,2} and x[1, 2] are x_1_2, and x_(3) is x_3.

Polynomials that m2bridge wrote, whose terms are separated by blanks, have a faster reader,
:func:`generator_reader`.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, lru_cache, partial
from numbers import Number
from typing import Any, NoReturn
from unicodedata import category

import flint
from sympy import Expr, Poly
from sympy.polys.rings import PolyElement
from sympy.utilities.iterables import flatten

from m2bridge.algebra.determinantal import monomial_count
from m2bridge.algebra.expressions import symbol_name, variables_of
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.numbers import fraction
from m2bridge.algebra.ring import PolynomialRing, first_names, normal_form, place_of_variant
from m2bridge.convert import (
    MAX_COEFFICIENT_BITS,
    MAX_EXPONENT,
    MAX_PARENTHESIS_DEPTH,
    MAX_POLYNOMIAL_TERM_BITS,
    MAX_POLYNOMIAL_TERMS,
    MAX_TERM_PRODUCTS,
)
from m2bridge.errors import ConversionError
from m2bridge.system import integer

_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_DIGITS = str.maketrans(_SUPERSCRIPTS, "0123456789")

# Superscript digits are letters of words to Python; to people they are powers, so no name contains
# them.
_WORD = rf"(?:(?![{_SUPERSCRIPTS}])[\w'])*"
_LETTERS = re.compile(_WORD)
_TOKEN = re.compile(
    rf"\s*(?:(?P<integer>[0-9]+)|(?P<power>[{_SUPERSCRIPTS}]+)"
    rf"|(?P<name>[^\W\d_]{_WORD})|(?P<sign>\*\*|//|[-+*/^()]))"
)
_INDEX = re.compile(r"(?:(?<=_)[({]|(?<!_)\[)\s*([0-9]+(?:\s*,\s*[0-9]+)*)\s*[)}\]]")

_DECIMAL = re.compile(r"[0-9]{1,20}\.[0-9]{0,20}|\.[0-9]{1,20}")

_QUOTED_CHARS = 40
"""Characters of a text that a message repeats before and after a place in it."""
_MAX_DIVISOR_CHARS = 60
"""Characters of a divisor that a message repeats."""


def read_polynomial(text: str, ring: PolynomialRing) -> PolyElement:
    """Read a polynomial such as ``3/7*x^2*y - (x + 1)**3``.

    Parameters
    ----------
    text : str
    ring : PolynomialRing
        Over QQ; its variables are the names that may occur.

    Raises
    ------
    ConversionError
        With the column and the text, if it is not such a polynomial, or is too large when it is
        expanded.

    Examples
    --------
    >>> read_polynomial("2*(s - t)^2", PolynomialRing(QQ, ("s", "t")))
    2*s**2 - 4*s*t + 2*t**2
    """
    return _Reader(text, ring).whole()


def names_in(text: str) -> tuple[str, ...]:
    """The names that occur in the text of a polynomial, each once, in the order in which they
    occur.

    Raises
    ------
    ConversionError
        With the column and the text, if a character cannot stand in it.

    Examples
    --------
    >>> names_in("x^2 - 3*y_1*z")
    ('x', 'y_1', 'z')
    """
    tokens = _Reader(text, PolynomialRing(QQ, ())).tokens
    return tuple(dict.fromkeys(normal_form(token) for kind, token, _ in tokens if kind == "name"))


@dataclass(slots=True)
class _Reader:
    """A text cut into tokens, a kind with its text and column, and the place of the next one."""

    text: str
    ring: PolynomialRing
    tokens: list[tuple[str, str, int]] = field(default_factory=list)
    place: int = 0
    depth: int = 0
    work: int = 0

    def __post_init__(self) -> None:
        end = len(self.text.rstrip())
        position = 0
        while position < end:
            position = self.read_token(position)
        self.tokens.append(("end", "", end + 1))

    def read_token(self, position: int) -> int:
        """Read the token that begins here, and return the place where it ends."""
        match = _TOKEN.match(self.text, position)
        if match is None:
            blanks = len(self.text[position:]) - len(self.text[position:].lstrip())
            column = position + blanks
            raise _refused(_unexpected(self.text, column), self.text, column)
        kind = match.lastgroup
        assert kind is not None
        begin, end = match.span(kind)
        if kind == "power":
            self.superscript(match[kind], begin)
        elif kind == "name":
            return self.read_name(begin, end)
        else:
            self.tokens.append((kind, match[kind], begin + 1))
        return end

    def read_name(self, begin: int, end: int) -> int:
        """Read a name with its index, and return the place where it ends."""
        end = _end_of_name(self.text, end)
        name = self.text[begin:end]
        # A variant of a letter, such as ½ or ⁿ, would become a name that nobody wrote.
        variant = place_of_variant(name)
        if variant is not None:
            message = f"unexpected character {name[variant]!r} in a name"
            raise _refused(message, self.text, begin + variant)
        index = _INDEX.match(self.text, end)
        if index is not None:
            name = "_".join([name.removesuffix("_"), *re.findall("[0-9]+", index[1])])
            end = index.end()
        self.tokens.append(("name", name, begin + 1))
        return end

    def superscript(self, token: str, column: int) -> None:
        """Take superscript digits as the power of what stands before them."""
        before = self.tokens[-1] if self.tokens else ("", "", 0)
        if before[0] not in ("integer", "name") and before[1] != ")":
            raise _refused(_unexpected(self.text, column), self.text, column)
        self.tokens.append(("sign", "^", column + 1))
        self.tokens.append(("integer", token.translate(_DIGITS), column + 1))

    def whole(self) -> PolyElement:
        result = self.sum()
        kind, token, column = self.tokens[self.place]
        if kind != "end":
            advice = ""
            if kind == "name" or token == "(":
                meant = f"{self.text[: column - 1].rstrip()}*{self.text[column - 1 :]}"
                advice = f"; write * between factors: {meant:.60}"
            self.fail(f"expected an operator, found '{token:.60}'{advice}")
        return result

    def sum(self) -> PolyElement:
        # Terms are added in place: a copy for each would take quadratic time.
        total = self.product().copy()
        while operator := self.sign("+", "-"):
            start = self.place
            summand = self.product()
            self.check_size(len(summand), len(total) + len(summand), 0, start)
            if operator == "-":
                summand = -summand
            for monomial, coefficient in summand.items():
                total[monomial] = total.get(monomial, 0) + coefficient
        total.strip_zero()
        return total

    def product(self) -> PolyElement:
        total = self.factor()
        while True:
            start = self.place
            operator = self.sign("*", "/", "//")
            if not operator:
                return total
            factor = self.factor()
            if operator == "*":
                # The time of a product grows with the terms and with the digits of coefficients.
                count = len(total) * len(factor)
                bits = _bits(total) + _bits(factor)
                self.check_size(count * (1 + bits // 100), count, bits, start)
                total = total * factor
            elif factor and factor.is_ground:
                total = total.quo_ground(factor.LC)
            else:
                self.refuse_divisor(start + 1)

    def refuse_divisor(self, start: int) -> NoReturn:
        """Refuse a divisor that is not a number, and say how a map can have such a fraction."""
        begin = self.tokens[start][2] - 1
        end = self.tokens[self.place][2] - 1
        divisor = self.text[begin:end].strip()
        message = "only numbers that are not zero can be divisors"
        if len(divisor) <= _MAX_DIVISOR_CHARS:
            relation = f'"w*{divisor} - 1"'
            message += (
                f"; in a map, 1/{divisor} is a further parameter w with relations = [{relation}]"
            )
        self.fail(message, start)

    def factor(self) -> PolyElement:
        negative = False
        # Several signs may follow each other, as in x + -3*y.
        while sign := self.sign("+", "-"):
            if sign == "-":
                negative = not negative
        power = self.power()
        return -power if negative else power

    def power(self) -> PolyElement:
        base = self.atom()
        start = self.place
        if not self.sign("^", "**"):
            return base
        exponent = self.exponent()
        if exponent == 0:  # also for the base 0
            return self.ring.sympy_ring.one
        count = monomial_count(len(base), exponent) if base else 1
        work = 10 * count if count > 1 else 1
        bits = exponent * (_bits(base) + len(base).bit_length())
        self.check_size(work, count, bits, start)
        return base**exponent

    def exponent(self) -> int:
        kind, digits, _ = self.tokens[self.place]
        # Many digits are not read: that takes quadratic time.
        readable = kind == "integer" and len(digits) <= len(str(MAX_EXPONENT))
        if not readable or int(digits) > MAX_EXPONENT:
            self.fail(f"an exponent must be an integer from 0 to {MAX_EXPONENT}")
        self.place += 1
        return int(digits)

    def atom(self) -> PolyElement:
        start = self.place
        kind, token, _ = self.tokens[start]
        self.place += 1
        if kind == "integer":
            return self.ring.sympy_ring.ground_new(integer(token))
        if kind == "name":
            # Unicode writes some letters in several ways; the normal form is one of them.
            variable = _variables(self.ring).get(normal_form(token))
            if variable is None:
                known = first_names([f"{name:.60}" for name in self.ring.variables])
                self.fail(f"unknown name '{token:.60}'; known are {known}", start)
            return variable
        if token != "(":
            shown = f"'{token}'" if token else "the end"
            self.fail(f"expected a number, a name or '(', found {shown}", start)
        self.depth += 1
        if self.depth > MAX_PARENTHESIS_DEPTH:
            self.fail(f"more than {MAX_PARENTHESIS_DEPTH} parentheses inside one another", start)
        inside = self.sum()
        if not self.sign(")"):
            self.fail("expected ')'")
        self.depth -= 1
        return inside

    def sign(self, *accepted: str) -> str:
        """Take one of these operators if it comes next; otherwise nothing."""
        kind, token, _ = self.tokens[self.place]
        if kind != "sign" or token not in accepted:
            return ""
        self.place += 1
        return token

    def check_size(self, work: int, terms: int, bits: int, place: int) -> None:
        """Refuse a text that would take long to expand."""
        self.work += work
        too_many = self.work > MAX_TERM_PRODUCTS or terms > MAX_POLYNOMIAL_TERMS
        if too_many or bits > MAX_COEFFICIENT_BITS or terms * bits > MAX_POLYNOMIAL_TERM_BITS:
            self.fail("too large when it is expanded", place)

    def fail(self, message: str, place: int | None = None) -> NoReturn:
        """Refuse the text at the column of a token, the next one when left out."""
        column = self.tokens[self.place if place is None else place][2] - 1
        raise _refused(message, self.text, column)


@lru_cache(maxsize=8)
def _variables(ring: PolynomialRing) -> dict[str, PolyElement]:
    return dict(zip(map(normal_form, ring.variables), ring.sympy_ring.gens, strict=True))


def _refused(message: str, text: str, column: int) -> ConversionError:
    """The error for this place, with the text, or the part of it around the place."""
    start = max(0, column - _QUOTED_CHARS)
    end = column + _QUOTED_CHARS
    part = text[start:end]
    if start > 0:
        part = "…" + part
    if end < len(text):
        part += "…"
    return ConversionError(f"column {column + 1}: {message} (in {part!r})")


def _unexpected(text: str, column: int) -> str:
    """The reason why a character is refused; a decimal number has to be written as a fraction."""
    for number in _DECIMAL.finditer(text):
        begin, end = number.span()
        if begin <= column < end:
            value = str(Fraction(f"0{number[0]}"))
            before, after = text[:begin], text[end:]
            is_divisor = before.rstrip().endswith(("/", "^", "**"))
            is_base = after.lstrip().startswith(("^", "**"))
            if "/" in value and (is_divisor or is_base):
                value = f"({value})"
            return f"numbers are exact: write {before}{value}{after}"[:200]
    return f"unexpected character {text[column]!r}"


def _end_of_name(text: str, end: int) -> int:
    """The end of a name of which a part ends here: accents may be characters of their own."""
    while end < len(text) and category(text[end]).startswith("M"):
        letters = _LETTERS.match(text, end + 1)
        assert letters is not None
        end = letters.end()
    return end


def _bits(polynomial: PolyElement) -> int:
    """Bits of the largest coefficient, numerator and denominator together."""
    largest = 0
    for number in polynomial.values():
        bits = int(number.numerator).bit_length() + int(number.denominator).bit_length()
        largest = max(largest, bits)
    return largest


_NUMBER = re.compile(r"([0-9]+)(?:/([1-9][0-9]*))?")
_POWER = re.compile(r"([^^]+)(?:\^([0-9]{1,4}))?")


def generator_reader(ring: PolynomialRing) -> Callable[[str], PolyElement]:
    """Return the inverse of :func:`m2bridge.convert.printing.polynomial_text` for one ring.

    It raises ConversionError if a term is not one, occurs twice or is zero; so zero has no text.
    """
    places = {name: place for place, name in enumerate(ring.variables)}

    @cache
    def number(text: str) -> Any:
        match = _NUMBER.fullmatch(text)
        if match is None:
            raise ConversionError(
                f"not a number, and not a power of a variable of the ring: {text[:120]}"
            )
        return ring.number(Fraction(integer(match[1]), integer(match[2] or "1")))

    def term(text: str) -> tuple[tuple[int, ...], Any]:
        exponents = [0] * len(places)
        coefficient = ring.sympy_ring.domain.one
        for factor in text.split("*"):
            match = _POWER.fullmatch(factor)
            if match and match[1] in places:
                exponents[places[match[1]]] += int(match[2] or 1)
            else:
                coefficient = coefficient * number(factor)
        return tuple(exponents), coefficient

    def polynomial(text: str) -> PolyElement:
        total = ring.sympy_ring.zero
        signed = f"- {text[1:]}" if text.startswith("-") else f"+ {text}"
        words = signed.replace("**", "^").split(" ")
        signs = words[::2]
        terms = words[1::2]
        if len(signs) != len(terms) or not {"+", "-"}.issuperset(signs):
            raise ConversionError(f"not a sum of terms: {text[:120]}")
        for sign, written in zip(signs, terms, strict=True):
            exponents, coefficient = term(written)
            total[exponents] = coefficient if sign == "+" else -coefficient
        # A polynomial is a dictionary: of two terms with one monomial it keeps the last.
        if len(total) < len(terms) or not all(total.values()):
            raise ConversionError(f"a term that is zero, or occurs twice: {text[:120]}")
        return total

    return polynomial


_Flint = flint.fmpz_mpoly | flint.fmpq_mpoly | flint.nmod_mpoly | flint.fmpz_mod_mpoly
_Residue = int | flint.fmpz | flint.nmod | flint.fmpz_mod
_Polynomial = str | Expr | Poly | PolyElement | _Flint | Number | flint.fmpz | flint.fmpq


def check_polynomial(value: object) -> None:
    """Raise ConversionError if something is nothing like a polynomial."""
    if not isinstance(value, _Polynomial):
        advice = "give polynomials, or lists of them; those of an ideal are ideal.generators"
        raise ConversionError(f"a {type(value).__name__} is not a polynomial: {advice}")


def element(ring: PolynomialRing, value: Any) -> PolyElement:
    """Convert a polynomial of SymPy or FLINT, a number or text to an element of this ring.

    Raises
    ------
    ConversionError
        If it is not an exact polynomial in the variables over the field.
    """
    if isinstance(value, PolyElement) and value.ring == ring.sympy_ring:
        return value
    if isinstance(value, PolyElement | _Flint):
        field = own_field(value) or QQ
        terms = [(monomial, _number(c, field)) for monomial, c in value.to_dict().items()]
        return from_terms(ring, ring_variables(value), terms)
    rational = PolynomialRing(QQ, ring.variables)
    if isinstance(value, str):
        polynomial = read_polynomial(value, rational)
    else:
        if isinstance(value, Poly):
            value = value.as_expr()
        polynomial = rational.polynomial(value)
    return polynomial if ring.field == QQ else element(ring, polynomial)


flat = partial(flatten, cls=(list, tuple))
"""List items, and those of lists and tuples among them."""


def ring_variables(value: Any) -> tuple[str, ...]:
    """The variables of the ring of a polynomial; none if it belongs to no ring."""
    if isinstance(value, PolyElement):
        return tuple(map(symbol_name, value.ring.symbols))
    if isinstance(value, _Flint):
        return tuple(map(str, value.context().names()))
    if isinstance(value, Poly):
        return tuple(map(symbol_name, value.gens))
    return ()


def occurring_names(value: Any) -> Iterable[str]:
    """The names that occur in text or in an expression."""
    if isinstance(value, str):
        return names_in(value)
    if isinstance(value, Expr):
        return map(symbol_name, variables_of(value))
    return ()


def own_field(value: Any) -> CoefficientField | None:
    """The field of the coefficients of a polynomial, QQ for integers; ``None`` if it says none.

    Raises
    ------
    ConversionError
        If the coefficients are in a ring other than ZZ, QQ and GF(p).
    """
    if isinstance(value, PolyElement):
        return _field_of_domain(value.ring.domain)
    if isinstance(value, Poly):
        return _field_of_domain(value.domain)
    if isinstance(value, flint.nmod_mpoly | flint.fmpz_mod_mpoly):
        return CoefficientField(int(value.context().modulus()))
    if isinstance(value, flint.fmpz_mpoly | flint.fmpq_mpoly):
        return QQ
    return None


def _field_of_domain(domain: Any) -> CoefficientField:
    if not (domain.is_ZZ or domain.is_QQ or domain.is_FiniteField):
        advice = ""
        if domain.is_PolynomialRing or domain.is_FractionField:
            advice = (
                f": give a Poly in all variables, {first_names(list(map(str, domain.symbols)))} too"
            )
        raise ConversionError(f"coefficients in {domain} are not in ZZ, QQ or GF(p){advice}")
    return CoefficientField(int(domain.characteristic()))


def common_field(
    given: Iterable[CoefficientField | None], field: CoefficientField | None
) -> CoefficientField:
    """The field of polynomials over these; numbers of QQ are reduced where a field is asked for.

    Parameters
    ----------
    given : fields of the polynomials, ``None`` where a polynomial says none
    field : the field that was asked for, if one was

    Raises
    ------
    ConversionError
        If two polynomials are over different fields, or one is over a prime field and another
        field was asked for.
    """
    fields = list(dict.fromkeys(filter(None, given)))
    if field is None:
        if len(fields) > 1:
            raise ConversionError(
                f"polynomials over different fields, {fields[0]} and {fields[1]}: give all over one"
            )
        return fields[0] if fields else QQ
    for own in fields:
        if own not in (QQ, field):
            raise ConversionError(f"a polynomial over {own} is none over {field}")
    return field


def _number(coefficient: Any, field: CoefficientField) -> Fraction:
    """A coefficient of SymPy or FLINT as a number; a residue as the one nearest to 0."""
    p = field.characteristic
    if p and (isinstance(coefficient, _Residue) or hasattr(coefficient, "to_int")):
        residue = int(coefficient) % p
        return Fraction(residue if 2 * residue <= p else residue - p)
    if not hasattr(coefficient, "denominator"):
        raise ConversionError(f"the coefficient {coefficient} is not in ZZ, QQ or GF(p)")
    return fraction(coefficient)


def from_terms(
    ring: PolynomialRing, names: Sequence[str], terms: Iterable[tuple[Sequence[int], Any]]
) -> PolyElement:
    """The polynomial with these terms, exponents and number, in variables of these names."""
    places = {name: place for place, name in enumerate(ring.variables)}
    coefficients = {}
    for monomial, coefficient in terms:
        exponents = [0] * len(places)
        for name, exponent in zip(names, monomial, strict=True):
            if exponent:
                if name not in places:
                    raise ConversionError(f"{name!r:.60} is not a variable of {ring}")
                exponents[places[name]] = int(exponent)
        coefficients[tuple(exponents)] = ring.number(coefficient)
    return ring.sympy_ring.from_dict(coefficients)

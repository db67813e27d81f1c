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
from sympy import Expr, Poly, Symbol
from sympy.polys.rings import PolyElement
from sympy.utilities.iterables import flatten

from m2bridge.algebra.determinantal import monomial_count
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.numbers import fraction
from m2bridge.algebra.ring import PolynomialRing, first_names, normal_form, place_of_variant
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

QUOTED = 40
"""Characters of a text before and after a place in it."""

MAX_DEPTH = 50
MAX_EXPONENT = 1000
MAX_TERMS = 100_000
MAX_BITS = 1_000_000
MAX_SIZE = 5_000_000
"""Terms times bits of a coefficient: what can be expanded, and computed with, in seconds."""
MAX_WORK = 1_000_000
"""Products of two terms with small coefficients, for the whole text; one takes about a
microsecond.
"""


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


LONGEST_DIVISOR = 60
"""Characters of a divisor that a message repeats."""


@dataclass(slots=True)
class _Reader:
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
            match = _TOKEN.match(self.text, position)
            if match is None:
                column = position + len(self.text[position:]) - len(self.text[position:].lstrip())
                raise _refused(_unexpected(self.text, column), self.text, column)
            kind = match.lastgroup
            assert kind is not None
            position = match.end() if kind != "name" else _end_of_name(self.text, match.end())
            token = self.text[match.start(kind) : position]
            if kind == "power":
                self.superscript(token, match.start(kind))
                continue
            if kind == "name":
                self.check_name(token, match.start(kind))
            if kind == "name" and (index := _INDEX.match(self.text, position)):
                token, position = (
                    "_".join([token.removesuffix("_"), *re.findall("[0-9]+", index[1])]),
                    index.end(),
                )
            self.tokens.append((kind, token, match.start(kind) + 1))
        self.tokens.append(("end", "", end + 1))

    def superscript(self, token: str, column: int) -> None:
        """Take superscript digits as the power of what stands before them."""
        before = self.tokens[-1] if self.tokens else ("", "", 0)
        if before[0] not in ("integer", "name") and before[1] != ")":
            raise _refused(_unexpected(self.text, column), self.text, column)
        self.tokens.append(("sign", "^", column + 1))
        self.tokens.append(("integer", token.translate(_DIGITS), column + 1))

    def check_name(self, token: str, column: int) -> None:
        """Refuse a character that only looks like others: ½ or ⁿ would become a name that nobody
        wrote.
        """
        place = place_of_variant(token)
        if place is not None:
            raise _refused(
                f"unexpected character {token[place]!r} in a name", self.text, column + place
            )

    def whole(self) -> PolyElement:
        result = self.sum()
        kind, token, column = self.tokens[self.place]
        if kind != "end":
            meant = f"{self.text[: column - 1].rstrip()}*{self.text[column - 1 :]}"
            factor = (
                f"; write * between factors: {meant:.60}" if kind == "name" or token == "(" else ""
            )
            self.fail(f"expected an operator, found '{token:.60}'{factor}")
        return result

    def sum(self) -> PolyElement:
        # in which terms are added: a copy for each would take quadratic time
        total = self.product().copy()
        while operator := self.sign("+", "-"):
            start = self.place
            term = self.product()
            self.check_size(len(term), len(total) + len(term), 0, start)
            for monomial, coefficient in (term if operator == "+" else -term).items():
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
            if operator != "*":
                if not factor.is_ground or not factor:
                    self.refuse_divisor(start + 1)
                total = total.quo_ground(factor.LC)
            else:
                count = len(total) * len(factor)
                bits = _bits(total) + _bits(factor)
                self.check_size(count * (1 + bits // 100), count, bits, start)
                total = total * factor

    def refuse_divisor(self, start: int) -> NoReturn:
        """Refuse what is no number as a divisor, and say how a map has such a fraction all the
        same.
        """
        begin, end = self.tokens[start][2] - 1, self.tokens[self.place][2] - 1
        divisor = self.text[begin:end].strip()
        message = "only numbers that are not zero can be divisors"
        if len(divisor) <= LONGEST_DIVISOR:
            message += (
                f'; in a map, 1/{divisor} is a further parameter w with relations = ["w*{divisor}'
                ' - 1"]'
            )
        self.fail(message, start)

    def factor(self) -> PolyElement:
        negative = False
        while sign := self.sign("+", "-"):
            negative ^= sign == "-"
        return -self.power() if negative else self.power()

    def power(self) -> PolyElement:
        base = self.atom()
        start = self.place
        if not self.sign("^", "**"):
            return base
        kind, digits, _ = self.tokens[self.place]
        if kind != "integer" or len(digits) > len(str(MAX_EXPONENT)) or int(digits) > MAX_EXPONENT:
            self.fail(f"an exponent must be an integer from 0 to {MAX_EXPONENT}")
        self.place += 1
        exponent = int(digits)
        count = monomial_count(len(base), exponent) if base else 1
        work = 10 * count if count > 1 else 1
        self.check_size(work, count, exponent * (_bits(base) + len(base).bit_length()), start)
        return base**exponent if exponent else self.ring.sympy_ring.one

    def atom(self) -> PolyElement:
        kind, token, _ = self.tokens[self.place]
        self.place += 1
        if kind == "integer":
            return self.ring.sympy_ring.ground_new(integer(token))
        if kind == "name":
            variable = _variables(self.ring).get(normal_form(token))
            if variable is None:
                known = first_names([f"{name:.60}" for name in self.ring.variables])
                self.fail(f"unknown name '{token:.60}'; known are {known}", self.place - 1)
            return variable
        if token != "(":
            shown = f"'{token}'" if token else "the end"
            self.fail(f"expected a number, a name or '(', found {shown}", self.place - 1)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"more than {MAX_DEPTH} parentheses inside one another", self.place - 1)
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
        """Refuse what would take long, before it is expanded."""
        self.work += work
        if self.work > MAX_WORK or terms > MAX_TERMS or bits > MAX_BITS or terms * bits > MAX_SIZE:
            self.fail("too large when it is expanded", place)

    def fail(self, message: str, place: int | None = None) -> NoReturn:
        raise _refused(
            message, self.text, self.tokens[self.place if place is None else place][2] - 1
        )


@lru_cache(maxsize=8)
def _variables(ring: PolynomialRing) -> dict[str, PolyElement]:
    return dict(zip(map(normal_form, ring.variables), ring.sympy_ring.gens, strict=True))


def _refused(message: str, text: str, column: int) -> ConversionError:
    """The error for this place, with the text, or the part of it around the place."""
    start, end = max(0, column - QUOTED), column + QUOTED
    part = f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
    return ConversionError(f"column {column + 1}: {message} (in {part!r})")


def _unexpected(text: str, column: int) -> str:
    """The reason why a character is refused; numbers are exact, so decimal ones have to be written
    as fractions.
    """
    number = next(
        (match for match in _DECIMAL.finditer(text) if match.start() <= column < match.end()), None
    )
    if number is None:
        return f"unexpected character {text[column]!r}"
    value = str(Fraction(f"0{number[0]}"))
    power = text[number.end() :].lstrip().startswith(("^", "**"))
    divisor = text[: number.start()].rstrip().endswith(("/", "^", "**"))
    exact = f"({value})" if "/" in value and (power or divisor) else value
    return f"numbers are exact: write {text[: number.start()]}{exact}{text[number.end() :]}"[:200]


def _end_of_name(text: str, end: int) -> int:
    """The end of a name of which a part ends here: accents and vowel signs may be characters of
    their own.
    """
    while end < len(text) and category(text[end]).startswith("M"):
        letters = _LETTERS.match(text, end + 1)
        assert letters is not None
        end = letters.end()
    return end


def _bits(polynomial: PolyElement) -> int:
    """Bits of the largest coefficient, numerator and denominator together."""
    sizes = (
        int(c.numerator).bit_length() + int(c.denominator).bit_length() for c in polynomial.values()
    )
    return max(sizes, default=0)


_NUMBER = re.compile(r"([0-9]+)(?:/([1-9][0-9]*))?")
_POWER = re.compile(r"([^^]+)(?:\^([0-9]{1,4}))?")


def generator_reader(ring: PolynomialRing) -> Callable[[str], PolyElement]:
    """Return the inverse of :func:`m2bridge.convert.notation.polynomial_text` for nonzero
    polynomials of one ring.

    It raises ConversionError if a term is not one, occurs twice or is zero.
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
        exponents, coefficient = [0] * len(places), ring.sympy_ring.domain.one
        for factor in text.split("*"):
            match = _POWER.fullmatch(factor)
            if match and match[1] in places:
                exponents[places[match[1]]] += int(match[2] or 1)
            else:
                coefficient = coefficient * number(factor)
        return tuple(exponents), coefficient

    def polynomial(text: str) -> PolyElement:
        element = ring.sympy_ring.zero
        words = (
            (f"- {text[1:]}" if text.startswith("-") else f"+ {text}").replace("**", "^").split(" ")
        )
        signs, terms = words[::2], words[1::2]
        if len(signs) != len(terms) or not {"+", "-"}.issuperset(signs):
            raise ConversionError(f"not a sum of terms: {text[:120]}")
        for sign, (exponents, coefficient) in zip(signs, map(term, terms), strict=True):
            element[exponents] = coefficient if sign == "+" else -coefficient
        if len(element) < len(terms) or not all(element.values()):
            raise ConversionError(f"a term that is zero, or occurs twice: {text[:120]}")
        return element

    return polynomial


_Flint = flint.fmpz_mpoly | flint.fmpq_mpoly | flint.nmod_mpoly | flint.fmpz_mod_mpoly
_Residue = int | flint.fmpz | flint.nmod | flint.fmpz_mod


def check_polynomial(value: object) -> None:
    """Raise ConversionError if something is nothing like a polynomial."""
    if not isinstance(
        value, str | Expr | Poly | PolyElement | _Flint | Number | flint.fmpz | flint.fmpq
    ):
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
        numbers = ((m, _number(c, field)) for m, c in value.to_dict().items())
        return from_terms(ring, ring_variables(value), numbers)
    rational = PolynomialRing(QQ, ring.variables)
    if isinstance(value, str):
        polynomial = read_polynomial(value, rational)
    else:
        expression = value.as_expr() if isinstance(value, Poly) else value
        polynomial = rational.polynomial(
            _plain(expression) if isinstance(expression, Expr) else expression
        )
    return polynomial if ring.field == QQ else element(ring, polynomial)


flat = partial(flatten, cls=(list, tuple))
"""List items, and those of lists and tuples among them."""


def ring_variables(value: Any) -> tuple[str, ...]:
    """The variables of the ring of a polynomial; none if it belongs to no ring."""
    if isinstance(value, PolyElement):
        return tuple(map(str, value.ring.symbols))
    if isinstance(value, _Flint):
        return tuple(map(str, value.context().names()))
    return tuple(map(str, value.gens)) if isinstance(value, Poly) else ()


def occurring_names(value: Any) -> Iterable[str]:
    """The names that occur in text or in an expression."""
    if isinstance(value, str):
        return names_in(value)
    return (str(symbol) for symbol in value.free_symbols) if isinstance(value, Expr) else ()


def own_field(value: Any) -> CoefficientField | None:
    """The field of the coefficients of a polynomial; ``None`` if it says none."""
    if isinstance(value, PolyElement | Poly):
        domain = value.ring.domain if isinstance(value, PolyElement) else value.domain
        return CoefficientField(int(domain.characteristic()))
    if isinstance(value, flint.nmod_mpoly | flint.fmpz_mod_mpoly):
        return CoefficientField(int(value.context().modulus()))
    return None


def _number(coefficient: Any, field: CoefficientField) -> Fraction:
    """A coefficient in ZZ, QQ or GF(p) of SymPy or FLINT as a number, a residue as the one nearest
    to 0.
    """
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
    """The polynomial with these terms, exponents and rational number, in variables of these
    names.
    """
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


def _plain(expression: Expr) -> Expr:
    """The expression in symbols without assumptions, which name the variables of rings."""
    plain = {symbol: Symbol(symbol.name) for symbol in expression.free_symbols}
    if len(set(plain.values())) < len(plain):
        raise ConversionError(f"'{expression}' has different symbols with one name")
    return expression.xreplace({symbol: name for symbol, name in plain.items() if symbol != name})

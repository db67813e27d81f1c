"""Polynomials, equations and rational functions in text, as people write them.

Text is read by a strict parser, and never evaluated as a program. The grammar::

    equation = sum [("=" | "==") sum]
    sum      = product {("+" | "-") product}
    product  = factor {[("*" | "/" | "//")] factor}
    factor   = {"+" | "-"} power
    power    = atom [("^" | "**") integer | superscript digits]
    atom     = integer | decimal | name | "(" sum ")"
    name     = letters, digits and primes [index]

A divisor must be a number, not zero; Oscar writes 2//3. x + -3*y and 2*-x are read, and -x^2 is
-(x^2). x² is x^2. x_(1,2), x_{1,2} and x[1, 2] are x_1_2, and x_(3) is x_3. The signs −, · and ×
are -, * and *. Decimals are exact: 0.1 is 1/10.

The sign of a product may be left out where there is one reading only, as in 2x^2, 3(x + 1)y and
x y^2: after a number, between parentheses, and between variables of one letter, with or without an
index. It may not after a divisor (1/2x), before a parenthesis after a name (x(y + 1)), and over the
end of a line.

Comments are blanks: `` -- text`` and ``# text`` to the end of the line, with a blank or the
beginning of a line before them, and after ``--``; ``// text`` at the beginning of a line; and what
stands between ``/*`` and ``*/``, or between ``-*`` and ``*-``. Elsewhere ``//`` is the stroke of
Oscar's fractions. Two minus signs without a blank, as in ``x--y``, could begin a comment and are
refused, except before a digit, as in ``x--3*y``, which programs write.

Coefficients are in QQ, or in an extension field, whose generators are constants in the text. The
variables of ``ring`` are the names that may occur. A divisor g that is not a number is read as a
further variable, which stands for 1/g and whose name nobody can write; afterwards the values of
these variables are put in their place. ``values`` has one for each of the first further variables,
and those after them do not occur.

To refuse a text is to raise ConversionError, with the column and the text; so is what is too large
when it is expanded. A ``place`` is the place of a token among the tokens. Positions in the text,
and columns of messages before they are written, are from 0 on; columns of tokens, and the columns
that people read, from 1.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple, NoReturn
from unicodedata import category

from sympy.polys.rings import PolyElement

from m2bridge.algebra.determinantal import monomial_count
from m2bridge.algebra.extension_field import ExtensionField
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.ring import PolynomialRing, first_names, normal_form, place_of_variant
from m2bridge.algebra.sparse_polynomial import Exponents
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


def read_polynomial(text: str, ring: PolynomialRing) -> PolyElement:
    """Read a polynomial over QQ, such as ``3/7*x^2*y - (x + 1)**3``."""
    return PolynomialParser(text, ring).whole()


def read_equation(text: str, ring: PolynomialRing) -> PolyElement:
    """Read a polynomial over QQ, or an equation, ``2x^2 = y - 0.5``, as the difference of its
    sides.
    """
    return PolynomialParser(text, ring).whole(equation=True)


def read_rational_function(text: str, ring: PolynomialRing) -> tuple[PolyElement, PolyElement]:
    """Read a rational function over QQ, such as ``(1 - t^2)/(1 + t^2)``, as coprime numerator and
    denominator.
    """
    if "/" not in text:
        return read_polynomial(text, ring), ring.sympy_ring.one
    polynomial, divisors = _with_inverses(text, ring.field, ring.variables)
    values: list[tuple[PolyElement, PolyElement]] = []  # 1/g as (numerator, denominator)
    for divisor in divisors:
        # A divisor may contain inverses of divisors that come before.
        numerator, denominator = _substitute_fractions(divisor, ring, values)
        if not numerator:
            raise ConversionError(f"a divisor must not be zero (in {text[:80]!r})")
        values.append((denominator, numerator))
    return _substitute_fractions(polynomial, ring, values)


def read_over_extension(text: str, ring: PolynomialRing, *, equation: bool = False) -> PolyElement:
    """Read a polynomial over an extension field, or an equation if ``equation`` is true; constants
    that are not zero can be divisors.

    >>> from m2bridge.algebra.extension_field import gaussian_field
    >>> read_over_extension("2x/(1 + i) - i^2", PolynomialRing(gaussian_field("i"), ("x",)))
    -(i - 1)*x + 1
    """
    field = ring.field
    # The text is read over QQ, with the generators of the field as variables.
    names = ring.variables + field.names
    polynomial, divisors = _with_inverses(text, QQ, names, equation=equation)
    values: list[Any] = []  # of the inverses 1/g, in the field
    for divisor in divisors:
        # A divisor may contain inverses of divisors that come before.
        value = convert_to_extension(divisor, ring, values)
        if not value or not value.is_ground:
            elements = f"numbers and polynomials in {', '.join(field.names)}"
            raise ConversionError(
                f"only {elements} that are not zero can be divisors (in {text[:80]!r})"
            )
        values.append(field.domain.one / value.LC)
    return convert_to_extension(polynomial, ring, values)


def _with_inverses(
    text: str, field: CoefficientField, names: tuple[str, ...], *, equation: bool = False
) -> tuple[PolyElement, list[PolyElement]]:
    """The polynomial that a text is in these names and the inverses 1/g, and the divisors g."""
    # There are at most as many divisors as strokes in the text.
    inverses = tuple(f"1/({number})" for number in range(text.count("/")))
    parser = PolynomialParser(text, PolynomialRing(field, names + inverses), inverses)
    return parser.whole(equation=equation), parser.divisors


def convert_to_extension(
    polynomial: PolyElement, ring: PolynomialRing, values: Sequence[Any] = ()
) -> PolyElement:
    """Convert a polynomial over QQ in the variables of ``ring``, the generators of its field, and
    perhaps further ones with these values: over QQ(a), with 1/a for w, x*a + x*w becomes (a +
    1/a)*x.
    """
    field = ring.field
    assert isinstance(field, ExtensionField)
    end_of_variables = len(ring.variables)
    end_of_generators = end_of_variables + len(field.names)
    # Terms that differ only in the generators are one polynomial in these, an element of the field:
    # the polynomials, by the exponents of the ring's variables and of the further ones.
    polynomials: dict[tuple[Exponents, Exponents], dict[Exponents, Any]] = {}
    for monomial, coefficient in polynomial.items():
        number = coefficient
        if field.characteristic:
            number = _residue(coefficient, field.characteristic)
        key = monomial[:end_of_variables], monomial[end_of_generators:]
        in_generators = polynomials.setdefault(key, {})
        in_generators[monomial[end_of_variables:end_of_generators]] = number
    coefficients: dict[Exponents, Any] = {}  # by the exponents of the ring's variables
    for (exponents, further_exponents), in_generators in polynomials.items():
        summand = field.element(in_generators)
        # ``values`` can be shorter, because further variables without a value do not occur.
        for value, exponent in zip(values, further_exponents, strict=False):
            summand = summand * field.power(value, exponent)
        coefficients[exponents] = coefficients.get(exponents, field.domain.zero) + summand
    return ring.sympy_ring.from_dict({exponents: c for exponents, c in coefficients.items() if c})


def _residue(number: Any, p: int) -> int:
    """A rational number modulo p, from 0 to p − 1; ConversionError if p divides its denominator."""
    if int(number.denominator) % p == 0:
        raise ConversionError(
            f"a coefficient with a denominator divisible by {p} has no meaning in characteristic"
            f" {p}"
        )
    return int(number.numerator) * pow(int(number.denominator), -1, p) % p


def _substitute_fractions(
    polynomial: PolyElement, ring: PolynomialRing, values: list[tuple[PolyElement, PolyElement]]
) -> tuple[PolyElement, PolyElement]:
    """Numerator and denominator, coprime, of a polynomial in the ring's variables and further ones,
    whose values are fractions: with 1/t for w, t^2*w + w becomes (t^2 + 1, t).
    """
    count = len(ring.variables)
    # The terms that differ only in the ring's variables, by the exponents of the further ones.
    terms_by_further_exponents: dict[Exponents, dict[Exponents, object]] = {}
    for monomial, coefficient in polynomial.items():
        terms = terms_by_further_exponents.setdefault(monomial[count:], {})
        terms[monomial[:count]] = coefficient
    total_numerator, total_denominator = ring.sympy_ring.zero, ring.sympy_ring.one
    for exponents, terms in terms_by_further_exponents.items():
        numerator, denominator = ring.sympy_ring.from_dict(terms), ring.sympy_ring.one
        # ``values`` can be shorter, because further variables without a value do not occur.
        for (value_numerator, value_denominator), exponent in zip(values, exponents, strict=False):
            numerator = numerator * value_numerator**exponent
            denominator = denominator * value_denominator**exponent
        total_numerator = total_numerator * denominator + numerator * total_denominator
        total_denominator = total_denominator * denominator
        # without their greatest common divisor
        total_numerator, total_denominator = total_numerator.cancel(total_denominator)
    return total_numerator, total_denominator


def names_in(text: str) -> tuple[str, ...]:
    """The names that occur in the text of a polynomial, each once, in the order in which they
    occur.
    """
    # the text is only divided into tokens, which needs no variables
    tokens = PolynomialParser(text, PolynomialRing(QQ, ())).tokens
    return tuple(dict.fromkeys(normal_form(token.text) for token in tokens if token.kind == "name"))


# Comments.

_OPENING = re.compile(
    r"""
    (?<!\S) (?: -{2,}(?!\S) | \# )              # Macaulay2's, and Sage's and Python's
    | ^[^\S\n]* // (?![^\S\n]*[0-9(])           # Singular's and Magma's, on a line of its own
    | /\*                                       # Singular's and Magma's, of several lines
    | -\*                                       # Macaulay2's, of several lines
    """,
    re.MULTILINE | re.VERBOSE,
)
"""The beginning of a comment."""
_CLOSING = {"/*": "*/", "-*": "*-"}
"""The end of a comment of several lines; all others end with their line."""


def without_comments(text: str) -> str:
    """The text with blanks in place of comments, so that no place in it moves; the beginning of a
    comment of several lines that does not end stays.

    >>> without_comments("x*y - 1 -- hyperbola")
    'x*y - 1             '
    """
    pieces: list[str] = []
    place = 0
    without_end: set[str] = set()  # signs that are not searched for again
    for opening in _OPENING.finditer(text):
        begin = opening.start()
        closing = _CLOSING.get(opening[0], "\n")
        if begin < place or closing in without_end:  # inside of the comment before
            continue
        end = text.find(closing, opening.end())
        if closing != "\n":
            if end < 0:
                without_end.add(closing)
                continue
            end += len(closing)
        elif end < 0:  # the last line
            end = len(text)
        pieces += [text[place:begin], re.sub(r"[^\n]", " ", text[begin:end])]
        place = end
    pieces.append(text[place:])
    return "".join(pieces)


# Tokens.

SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_DIGITS = str.maketrans(SUPERSCRIPTS, "0123456789")

# Superscript digits are letters of words to Python; to people they are powers, so no name contains
# them.
_WORD = rf"(?:(?![{SUPERSCRIPTS}])[\w'])*"
_LETTERS = re.compile(_WORD)
_TOKEN = re.compile(
    rf"""
    \s*(?:
        (?P<decimal>[0-9]+\.[0-9]*|\.[0-9]+)
        | (?P<integer>[0-9]+)
        | (?P<power>[{SUPERSCRIPTS}]+)
        | (?P<name>[^\W\d_]{_WORD})
        | (?P<sign>\*\*|//|==|[-+*/^()=−–·⋅×])
    )
    """,
    re.VERBOSE,
)
_SIGNS = {"−": "-", "–": "-", "·": "*", "⋅": "*", "×": "*", "==": "="}
"""Signs as they are printed, and as they are typed."""
_INDEX = re.compile(r"(?:(?<=_)[({]|(?<!_)\[)\s*([0-9]+(?:\s*,\s*[0-9]+)*)\s*[)}\]]")
"""An index after a name: (1,2) or {1,2} where the name ends with _, or [1, 2]."""

_SHORT_VARIABLE = re.compile(r"[^\W\d_]_?[0-9]*(?:_[0-9]+)*'*")
"""A variable of one letter, perhaps with indices."""
_SCIENTIFIC = re.compile(r"[eE][-+]?[0-9]")
"""What follows the first digits of a number such as 2e-3; or it is a product with e."""

_UNCLEAR_SIGNS = re.compile(r"--(?![0-9.])|(?<=\s)--")
"""Two minus signs that could begin a comment; in ``x--3`` a program put -3 in."""
_ONE_INDEX = re.compile(r"\s*([0-9]+)\s*\)")
"""What follows the parenthesis in ``C(1)``, which Singular writes for a variable with an index."""
_SEVERAL_INDICES = re.compile(r"\(\s*[0-9]+(?:\s*,\s*[0-9]+)+\s*\)")
"""Indices in parentheses, as (1,2) in ``C(1,2)``."""

_FUNCTIONS = frozenset(("sin", "cos", "tan", "cot", "exp", "log", "ln", "sqrt", "abs"))
"""Functions, after which a parenthesis begins no factor."""

_QUOTED_CHARS = 40
"""Characters of a text that a message repeats before and after a place in it."""


class Token(NamedTuple):
    """A part of a text: a number, a name with its index, a sign, or the end."""

    kind: str  # integer, decimal, name, sign or end
    text: str  # in a normal form: of x_(1,2) it is x_1_2
    column: int
    """The column where it begins, from 1 on."""
    end: int
    """The position in the text where it ends."""


@dataclass(slots=True)
class PolynomialParser:
    """A parser of one text. The method of a rule of the grammar reads what it describes from
    ``place`` on, moves the place behind it, and returns its polynomial in ``ring``; the first
    division by a polynomial g puts the first of ``inverses``, variables at the end of the ring, in
    place of 1/g.
    """

    text: str
    ring: PolynomialRing
    inverses: tuple[str, ...] = ()
    """Variables of the ring that stand for 1/g, where g need not be a number."""
    divisors: list[PolyElement] = field(default_factory=list)
    """For each variable of ``inverses`` that was used, in their order, the g for which it stands.
    """
    tokens: list[Token] = field(default_factory=list)
    place: int = 0
    depth: int = 0
    """Parentheses that are open."""
    work: int = 0
    """Products of terms that were computed, of long numbers counted several times."""

    def __post_init__(self) -> None:
        """Cut the text into tokens, with one of the kind ``end`` behind it."""
        self.text = without_comments(self.text)
        end = len(self.text.rstrip())
        position = 0
        while position < end:
            position = self.read_token(position)  # appends a token; returns where it ends
        self.tokens.append(Token(kind="end", text="", column=end + 1, end=end))

    def read_token(self, position: int) -> int:
        """Add the token at this position of the text, behind blanks, and return where it ends."""
        match = _TOKEN.match(self.text, position)
        if match is None:
            blanks = len(self.text[position:]) - len(self.text[position:].lstrip())
            column = position + blanks
            raise _refusal(_unexpected_character(self.text, column), self.text, column)
        kind = match.lastgroup  # the name of the group that matched
        assert kind is not None
        begin, end = match.span(kind)
        if kind == "power":
            self.read_superscript(match[kind], begin)
        elif kind == "name":
            return self.read_name(begin, end)
        else:
            text = _SIGNS.get(match[kind], match[kind])  # a printed sign as it is typed: - for −
            self.tokens.append(Token(kind, text, begin + 1, end))
            if _UNCLEAR_SIGNS.match(self.text, begin):
                message = "'--' could be two signs, or begin a comment"
                advice = "write a blank between signs, or ' -- ' before a comment"
                raise _refusal(f"{message}: {advice}", self.text, begin)
        if kind in ("integer", "decimal") and _SCIENTIFIC.match(self.text, end):
            number = self.text[begin : begin + 12].split()[0]
            message = f"'{number}' could be a number with an exponent, or a product with a variable"
            advice = "write 10^3 or 1/10^3, or * between factors"
            raise _refusal(f"{message}: {advice}", self.text, begin)
        return end

    def read_name(self, begin: int, end: int) -> int:
        """Read a name with its index, whose letters up to the first accent that is a character of
        its own stand from ``begin`` to ``end``, and return where it ends.
        """
        end = _end_of_name(self.text, end)
        name = self.text[begin:end]
        # A variant of a letter, such as ½ or ⁿ, would become a name that nobody wrote.
        variant = place_of_variant(name)
        if variant is not None:
            message = f"unexpected character {name[variant]!r} in a name"
            raise _refusal(message, self.text, begin + variant)
        several = _SEVERAL_INDICES.match(self.text, end)
        if several and not name.endswith("_"):
            entry = "_".join([name, *re.findall("[0-9]+", several[0])])
            message = f"'{name:.60}{several[0]:.60}' is not a name"
            raise _refusal(
                f"{message}; write {entry:.60} for a variable with indices", self.text, begin
            )
        index = _INDEX.match(self.text, end)
        if index is not None:
            name = "_".join([name.removesuffix("_"), *re.findall("[0-9]+", index[1])])
            end = index.end()
        self.tokens.append(Token("name", name, begin + 1, end))
        return end

    def read_superscript(self, digits: str, begin: int) -> None:
        """Add the tokens of a power, x^2 for x², for superscript digits behind a number, a name or
        a parenthesis.
        """
        nothing = Token(kind="", text="", column=0, end=0)
        previous_token = self.tokens[-1] if self.tokens else nothing
        if previous_token.kind not in ("integer", "decimal", "name") and previous_token.text != ")":
            raise _refusal(_unexpected_character(self.text, begin), self.text, begin)
        end = begin + len(digits)
        # the sign ^ does not stand in the text, so it ends where it begins
        power = Token(kind="sign", text="^", column=begin + 1, end=begin)
        exponent = digits.translate(_DIGITS)
        self.tokens += [power, Token(kind="integer", text=exponent, column=begin + 1, end=end)]

    def whole(self, equation: bool = False) -> PolyElement:
        """The polynomial that the whole text is, or the equation, as its left side minus its right,
        if ``equation``; text behind it is refused, with advice.
        """
        result = self.sum()
        if equation and self.sign("="):
            result = result - self.sum()
        token = self.tokens[self.place]
        if token.kind != "end":
            advice = ""
            if token.kind == "name" or token.text == "(":  # it begins a factor
                advice = self.advice_on_factor(token)
            elif token.text == "=":
                advice = "; an equation has two sides"
                if not equation:
                    advice = "; no equation is expected here"
            self.fail(f"expected an operator, found '{token.text:.60}'{advice}")
        return result

    def advice_on_factor(self, token: Token) -> str:
        """The advice to write * before this token: the text with it, or its first 60 characters."""
        begin = token.column - 1
        previous_token = self.tokens[self.place - 1]
        if token.text == "(" and previous_token.text == "ideal":
            return "; give one ideal at a time"
        index = _ONE_INDEX.match(self.text, token.end)
        if token.text == "(" and previous_token.kind == "name" and index:
            name, number = previous_token.text[:60], index[1][:20]
            if name == "sqrt":
                field = f"QQ(sqrt({number}))"
                return f"; roots are numbers of a field: name {field}, and write sqrt{number}"
            return f"; write {name}_{number} for a variable with an index, or {name}*{number}"
        if token.text == "(" and previous_token.text in _FUNCTIONS:
            return (
                f"; {previous_token.text} of something is not a polynomial: make it a variable, as"
                " in c^2 + s^2 = 1 for cos and sin"
            )
        meant = f"{self.text[:begin].rstrip()}*{self.text[begin:]}"
        return f"; write * between factors: {meant:.60}"

    def sum(self) -> PolyElement:
        """Products with signs + and − between them."""
        # Terms are added in place: a copy for each would take quadratic time.
        total = self.product().copy()
        while operator := self.sign("+", "-"):
            start = self.place
            summand = self.product()
            terms = len(total) + len(summand)
            self.check_size(work=len(summand), terms=terms, bits=0, place=start)
            if operator == "-":
                summand = -summand
            for monomial, coefficient in summand.items():
                total[monomial] = total.get(monomial, 0) + coefficient
        total.strip_zero()
        return total

    def product(self) -> PolyElement:
        """Factors with signs of products and divisions between them, or no signs."""
        total = self.factor()
        is_after_divisor = False  # whether the last factor was a divisor
        while True:
            start = self.place
            operator = self.sign("*", "/", "//")
            if not operator:
                if not self.implicit_product(is_after_divisor):
                    return total
                operator = "*"
            factor = self.factor()
            is_after_divisor = operator != "*"
            if is_after_divisor:
                begin_of_divisor = start + 1  # the token after the operator
                total = self.quotient(total, factor, begin_of_divisor)
            else:
                # The time grows with the terms and with the digits of coefficients: each 100 bits
                # of these are taken as one more product.
                terms = len(total) * len(factor)
                bits = _longest_coefficient_bits(total) + _longest_coefficient_bits(factor)
                work = terms * (1 + bits // 100)
                self.check_size(work=work, terms=terms, bits=bits, place=start)
                total = total * factor

    def quotient(self, dividend: PolyElement, divisor: PolyElement, place: int) -> PolyElement:
        """The quotient by a divisor that was read just now; refused if the divisor is zero, or not
        a number where only numbers can be divisors.
        """
        if not divisor or not (divisor.is_ground or self.inverses):
            self.refuse_divisor(place, is_zero=not divisor)
        if divisor.is_ground:  # a number
            return dividend.quo_ground(divisor.LC)
        # The next variable stands for 1/divisor; it is replaced after the text was read.
        name = self.inverses[len(self.divisors)]
        self.divisors.append(divisor)
        return dividend * _variables_by_name(self.ring)[normal_form(name)]

    def implicit_product(self, is_after_divisor: bool) -> bool:
        """Whether a factor without the sign of a product comes next, as y in ``x y``; after a
        divisor, as in ``1/2x``, there are two readings, and the text is refused.
        """
        previous_token, next_token = self.tokens[self.place - 1], self.tokens[self.place]
        if next_token.kind != "name" and next_token.text != "(":
            return False
        gap = self.text[previous_token.end : next_token.column - 1]
        if "\n" in gap or "\r" in gap:  # a new line may be a new polynomial
            return False
        is_product = _is_product(previous_token, next_token, gap)
        if is_product and is_after_divisor:
            self.fail(
                f"'{next_token.text:.60}' could be a factor of the divisor, or of the fraction:"
                " write * between factors"
            )
        return is_product

    def refuse_divisor(self, start: int, *, is_zero: bool) -> NoReturn:
        """Refuse a divisor that was read just now, and begins at the token at ``start``;
        say why.
        """
        if is_zero:
            self.fail("a divisor must not be zero", start)
        if self.tokens[start - 1].text == "//":
            self.fail("// divides by a number; write ' -- ' or # before a comment", start)
        begin = self.tokens[start].column - 1
        end = self.tokens[self.place].column - 1
        divisor = self.text[begin:end].strip()
        message = "only numbers that are not zero can be divisors"
        if len(divisor) <= 60:  # short enough for a message
            message += f"; 1/{divisor} is a further variable w with the equation w*{divisor} = 1"
        self.fail(message, start)

    def factor(self) -> PolyElement:
        """A power behind any number of signs, as the second one in x + -3*y."""
        is_negative = False
        while sign := self.sign("+", "-"):
            if sign == "-":
                is_negative = not is_negative
        power = self.power()
        return -power if is_negative else power

    def power(self) -> PolyElement:
        """An atom with or without an exponent."""
        base = self.atom()
        start = self.place
        if not self.sign("^", "**"):
            return base
        exponent = self.exponent()
        if exponent == 0:  # also for the base 0
            return self.ring.sympy_ring.one
        # The power of a sum of n terms has at most as many terms as there are monomials of degree
        # ``exponent`` in n variables, and a coefficient is at most (n · the largest one)^exponent.
        count = monomial_count(len(base), exponent) if base else 1
        work = 10 * count if count > 1 else 1  # a term of a power takes several products
        bits = exponent * (_longest_coefficient_bits(base) + len(base).bit_length())
        self.check_size(work=work, terms=count, bits=bits, place=start)
        return base**exponent

    def exponent(self) -> int:
        """An integer from 0 to :data:`MAX_EXPONENT`; all else is refused."""
        kind, digits, *_ = self.tokens[self.place]
        # Many digits are not read: that takes quadratic time.
        readable = kind == "integer" and len(digits) <= len(str(MAX_EXPONENT))
        if not readable or int(digits) > MAX_EXPONENT:
            self.fail(f"an exponent must be an integer from 0 to {MAX_EXPONENT}")
        self.place += 1
        return int(digits)

    def atom(self) -> PolyElement:
        """A number, a variable of the ring, or a sum in parentheses."""
        start = self.place
        kind, token, *_ = self.tokens[start]
        self.place += 1
        if kind == "integer":
            return self.ring.sympy_ring.ground_new(integer(token))
        if kind == "decimal":
            integer_part, _, decimals = token.partition(".")
            # The 0 is for .5, whose integer part is empty.
            numerator = integer(f"0{integer_part}{decimals}")
            number = self.ring.number(Fraction(numerator, 10 ** len(decimals)))
            return self.ring.sympy_ring.ground_new(number)
        if kind == "name":
            return self.variable(token, start)
        if token != "(":
            description = f"'{token}'" if token else "the end"
            self.fail(f"expected a number, a name or '(', found {description}", start)
        self.depth += 1
        if self.depth > MAX_PARENTHESIS_DEPTH:
            self.fail(f"more than {MAX_PARENTHESIS_DEPTH} parentheses inside one another", start)
        sum_inside = self.sum()
        if not self.sign(")"):
            self.fail("expected ')'")
        self.depth -= 1
        return sum_inside

    def variable(self, name: str, place: int) -> PolyElement:
        """The variable of the ring with this name, which is the token at ``place``."""
        # Unicode writes some letters in several ways; the normal form is one of them.
        variable = _variables_by_name(self.ring).get(normal_form(name))
        if variable is None:
            # The last variables of the ring are the inverses, which people do not know.
            count = len(self.ring.variables) - len(self.inverses)
            known_names = first_names(
                [f"{own_name:.60}" for own_name in self.ring.variables[:count]]
            )
            advice = ""
            if len(name) > 1 and set(name) <= set(self.ring.variables):
                advice = f"; write {'*'.join(name):.60} for the product"
            self.fail(f"unknown name '{name:.60}'; known are {known_names}{advice}", place)
        return variable

    def sign(self, *accepted: str) -> str:
        """Take one of these operators if it comes next, and return it; otherwise ``""``."""
        kind, token, *_ = self.tokens[self.place]
        if kind != "sign" or token not in accepted:
            return ""
        self.place += 1
        return token

    def check_size(self, work: int, terms: int, bits: int, place: int) -> None:
        """Refuse a text that would take long to expand, before an operation that takes ``work``
        products of terms: its result has at most ``terms`` terms, and coefficients of about
        ``bits`` bits (0 if none gets much longer).
        """
        self.work += work
        too_many = self.work > MAX_TERM_PRODUCTS or terms > MAX_POLYNOMIAL_TERMS
        too_long = bits > MAX_COEFFICIENT_BITS or terms * bits > MAX_POLYNOMIAL_TERM_BITS
        if too_many or too_long:
            self.fail("too large when it is expanded", place)

    def fail(self, message: str, place: int | None = None) -> NoReturn:
        """Refuse the text at the column of the token at ``place``; of the next one if left out."""
        column = self.tokens[self.place if place is None else place].column - 1
        raise _refusal(message, self.text, column)


def _is_product(previous: Token, following: Token, gap: str) -> bool:
    """Whether two factors, the end of one and the beginning of the next, with only the blanks of
    ``gap`` between them, can only be read as a product.
    """
    # a parenthesis, or a variable of one letter, perhaps with an index
    is_short = following.text == "(" or _SHORT_VARIABLE.fullmatch(following.text) is not None
    if previous.kind in ("integer", "decimal"):  # 2 x, 2(x + 1), or 2alpha without a blank
        return is_short or not gap
    if previous.kind == "name":  # x y; but x(y + 1) could be a function of y + 1
        are_names = following.kind == "name"
        return are_names and is_short and _SHORT_VARIABLE.fullmatch(previous.text) is not None
    return is_short  # after a closing parenthesis


@lru_cache(maxsize=8)
def _variables_by_name(ring: PolynomialRing) -> dict[str, PolyElement]:
    """The variables of a ring by the normal forms of their names."""
    return dict(zip(map(normal_form, ring.variables), ring.sympy_ring.gens, strict=True))


def _refusal(message: str, text: str, column: int) -> ConversionError:
    """The error for a column of a text, with the part of the text around it."""
    start = max(0, column - _QUOTED_CHARS)
    end = column + _QUOTED_CHARS
    excerpt = text[start:end]
    if start > 0:
        excerpt = "…" + excerpt
    if end < len(text):
        excerpt += "…"
    return ConversionError(f"column {column + 1}: {message} (in {excerpt!r})")


def _unexpected_character(text: str, column: int) -> str:
    """The message that the character in this column, from 0 on, cannot stand there."""
    return f"unexpected character {text[column]!r}"


def _end_of_name(text: str, end: int) -> int:
    """The position where a name ends: accents that are characters of their own end the letters of a
    word, but the name continues after them.
    """
    while end < len(text) and category(text[end]).startswith("M"):  # Unicode's combining marks
        letters = _LETTERS.match(text, end + 1)
        assert letters is not None
        end = letters.end()
    return end


def _longest_coefficient_bits(polynomial: PolyElement) -> int:
    """Bits of the longest coefficient, numerator and denominator together; 0 for zero."""
    most_bits = 0
    for number in polynomial.values():
        bits = int(number.numerator).bit_length() + int(number.denominator).bit_length()
        most_bits = max(most_bits, bits)
    return most_bits

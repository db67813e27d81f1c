"""Names in text that could also be products without signs, or numbers of a field.

Singular and Macaulay2 accept a2b for a^2*b, and people write xy for x*y, ad - bc for a*d - b*c. A
name is cut into pieces, each a letter that a number may follow: a2b has the pieces a2 and b. If the
name is a product, a piece such as a2 is a power of its letter. In the functions of these rules
``names`` are all names that occur, and ``pieces`` are the pieces of one of them.

Signs of products are said to be written if some product has its sign, and no sign is left out, as
in ``2x``; products of variables are said to be written if this is so, and a product with its sign
is not of a number and one variable, as ``2*x`` is. A word is a name of two or three different
letters, perhaps with numbers, other than Greek letters and functions such as ``mu`` and ``cos``.
Refused are

* names such as ``a2b``, if ``a`` and ``b`` occur, or signs of products are not written;
* names such as ``xy`` and ``xy2``, if products of variables are not written and the letters are
  some of x, y, z, w, or all or all but one of them occur, or signs are left out and there are at
  most three letters;
* words, if products of variables are not written and another word occurs, or a variable of one
  letter, perhaps with a number: ``ad - bc``, ``ac - b^2``;
* names of two or three letters, or letters with numbers, that all occur as names too, whatever
  signs are written: ``x*y - xy``, ``x1*x2 - x1x2``;
* names such as ``x2``, if ``x`` occurs, no power has a sign, and signs of products are not written;
* the first such name of a text such as ``x2 - y3`` or ``x2 - y``, if no power has a sign, signs of
  products are not written, and each name is a letter, or one with a number that could be an
  exponent;
* products of a constant and one letter, as ``iy``, and of a constant and several letters if signs
  of products are not written.
"""

import re
from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import dataclass
from typing import NoReturn, Self

from m2bridge.algebra import MAX_VARIABLE_NAME_CHARS
from m2bridge.convert.fields import number_named
from m2bridge.convert.polynomial_parser import SUPERSCRIPTS, names_in, without_comments
from m2bridge.errors import ConversionError

_PIECE = re.compile(r"[^\W\d_](?:_?[0-9]+(?:_[0-9]+)*)?")
"""A letter, perhaps with numbers, as x, x2 and x_1_2."""
_PIECES = re.compile(rf"(?:{_PIECE.pattern})+")
_OMITTED_SIGN = re.compile(
    rf"""
    (?: (?<![\w.])[0-9.]+ | [{SUPERSCRIPTS}] ) \s*      # after a number or a power
        (?: (?![{SUPERSCRIPTS}])[^\W\d_] | \( )         # a letter or a parenthesis, as 2x
    | \)\s*(?:\w|\()                                    # after a parenthesis
    """,
    re.VERBOSE,
)
"""A place where the sign of a product is left out."""
_PRODUCT_SIGN = re.compile("[*·⋅×]")
_POWER_SIGN = re.compile(rf"\^|\*\*|[{SUPERSCRIPTS}]")
NAME_THE_VARIABLES = "name the variables of the ring (--variables 'x, y', in Python variables=)"
"""The advice where a name that nobody has declared has two readings."""
_COORDINATE_LETTERS = frozenset("xyzw")
"""Letters of which several are not one name, but variables one after the other."""
_NUMBER_TIMES = re.compile(r"(?<![\w./'])[0-9][0-9./]*\s*[*·⋅×](?!\*)")
"""A number and the sign of its product with something."""
_MAX_WORD_LETTERS = 3
"""Letters of the longest words that are taken for products because of the other names only."""
_GREEK = """
alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau
upsilon phi chi psi omega
"""
_FUNCTIONS = "sin cos tan cot sec csc exp log lam"
NAMES_OF_VARIABLES = frozenset(_GREEK.split() + _FUNCTIONS.split())
"""Greek letters, and functions, that are no products of variables and no names of files."""


def check_short_forms(texts: Iterable[str], constants: Sequence[str] = ()) -> None:
    """Refuse names that could be products, with both readings, where the variables are those that
    occur; ``constants``, the generators of the field, count as if they occurred.
    """
    text_list = list(map(without_comments, texts))
    names: dict[str, None] = {}  # as an ordered set
    for text in text_list:
        names |= dict.fromkeys(names_in(text))
    names |= dict.fromkeys(constants)
    for name in names:
        if len(name) > MAX_VARIABLE_NAME_CHARS:  # before its letters are taken apart
            raise ConversionError(
                f"{name!r:.60} is not a name: {len(name)} characters, at most"
                f" {MAX_VARIABLE_NAME_CHARS}"
            )
    signs = _WrittenSigns.of(text_list)
    if not (signs.products or signs.powers) and _could_be_powers(names):
        first = next(name for name in names if len(name) > 1)
        _refuse_short_form(first, [first], ())
    for name in names:
        # Constants are declared, and names such as alpha_ cannot be products of pieces.
        if name in constants or _PIECES.fullmatch(name) is None:
            continue
        pieces = _PIECE.findall(name)
        is_ambiguous = _could_be_product(pieces, names.keys(), signs)
        if is_ambiguous or _has_constant_as_factor(pieces, constants, signs):
            _refuse_short_form(name, pieces, names)


def check_numbers_of_fields(names: Collection[str]) -> None:
    """Refuse undeclared names that could be algebraic numbers, such as ``I`` and ``sqrt2``; but
    next to h or j, its neighbours in the alphabet, i is a variable, and so is ``zeta3`` next to
    ``zeta1``.
    """
    for name in names:
        number = number_named(name)
        if number is None or name in ("j", "theta"):  # usual names of variables
            continue
        neighbours = {chr(ord(name[0]) - 1), chr(ord(name[0]) + 1)}
        if len(name) == 1 and not neighbours.isdisjoint(names):
            continue
        roots_of_unity = [other for other in names if other.startswith("zeta")]
        if name in roots_of_unity and len(roots_of_unity) > 1:
            continue
        raise ConversionError(
            f"'{name:.60}' could be {number.meaning:.60} or a variable: name the field"
            f" {number.field:.90}, or {NAME_THE_VARIABLES}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _WrittenSigns:
    """Which signs are written in the polynomials of a call."""

    omits_products: bool  # some sign of a product is left out, as in 2x
    products: bool  # there are signs of products, and none is left out
    products_of_names: bool  # one of them is not of a number and a variable
    powers: bool  # some power has a sign

    @classmethod
    def of(cls, texts: Sequence[str]) -> Self:
        """The signs in these polynomials."""
        omits_products = any(map(_OMITTED_SIGN.search, texts))
        # Who writes some signs and leaves others out may leave out any.
        products = any(map(_PRODUCT_SIGN.search, texts)) and not omits_products
        without_numbers = [_NUMBER_TIMES.sub(" ", text.replace("**", "^")) for text in texts]
        is_written = any(map(_PRODUCT_SIGN.search, without_numbers))
        return cls(
            omits_products=omits_products,
            products=products,
            products_of_names=is_written and not omits_products,
            powers=any(map(_POWER_SIGN.search, texts)),
        )


def _could_be_product(pieces: list[str], names: Set[str], signs: _WrittenSigns) -> bool:
    """Whether the name with these pieces could be their product, or a power if it is one piece."""
    first, *others = pieces
    if not others:  # x2, where x occurs as well
        is_like_a_power = first[1:].isdecimal() and first[0] in names
        return is_like_a_power and not signs.products and not signs.powers
    if len(pieces) <= _MAX_WORD_LETTERS and names >= set(pieces):
        return True  # x*y - xy, x1*x2 - x1x2
    has_number_inside = any(len(piece) > 1 for piece in pieces[:-1])
    if has_number_inside:  # a2b
        letters = {piece[0] for piece in pieces}
        return letters <= names or not signs.products
    # xy or xy2
    if signs.products_of_names:
        return False
    return _is_like_a_product(pieces, names, signs.omits_products) or _is_among_words(pieces, names)


def _is_among_words(pieces: Sequence[str], names: Set[str]) -> bool:
    """Whether a name is a word next to a word or to a variable of one letter, as in ac - b^2."""
    if not _is_word(pieces):
        return False
    for other in names:
        if _PIECES.fullmatch(other) is None:
            continue
        others = _PIECE.findall(other)
        if others != pieces and (len(others) == 1 or _is_word(others)):
            return True
    return False


def _is_word(pieces: Sequence[str]) -> bool:
    """Whether a name has two or three different letters, and is no Greek letter or function."""
    letters = [piece[0] for piece in pieces]
    is_short = 2 <= len(letters) <= _MAX_WORD_LETTERS
    return (
        is_short
        and len(set(letters)) == len(letters)
        and "".join(letters).lower() not in NAMES_OF_VARIABLES
    )


def _has_constant_as_factor(
    pieces: list[str], constants: Sequence[str], signs: _WrittenSigns
) -> bool:
    """Whether the name would be the product of a constant and one letter, as iy; more letters could
    be a word, and are a product only if signs of products are not written.
    """
    letters = {piece[0] for piece in pieces}
    if len(pieces) == 1 or letters.isdisjoint(constants):
        return False
    return len(pieces) == 2 or not signs.products


def _is_like_a_product(pieces: list[str], names: Collection[str], omits_signs: bool) -> bool:
    """Whether a name of several letters, as xy or xy2, seems to be a product of its pieces."""
    letters = {piece[0] for piece in pieces}
    # the letters of names such as x and x_1, which are variables of their own
    known_letters = {name[0] for name in names if _PIECE.fullmatch(name)}
    all_known = letters <= known_letters
    all_but_one_known = len(letters) > 1 and len(letters - known_letters) <= 1
    is_short = len(pieces) <= 3
    return (
        letters <= _COORDINATE_LETTERS
        or all_known
        or all_but_one_known
        or (omits_signs and is_short)
    )


def _could_be_powers(names: Collection[str]) -> bool:
    """Whether these are at least two names, each a letter, perhaps with a number above 1, some with
    a number, and no two with the same letter.
    """
    # Numbers that are indices are usually several for one letter, as in x2 and x3, or begin with 1.
    # A single name, as x2, says nothing of how powers are written.
    letters = {name[0] for name in names}
    has_one_name_for_each_letter = len(names) == len(letters)
    if not has_one_name_for_each_letter or len(names) < 2:
        return False
    numbers = [name[1:] for name in names if len(name) > 1]
    are_pieces = all(map(_PIECE.fullmatch, names))
    return (
        are_pieces
        and bool(numbers)
        and all(number.isdecimal() and int(number) > 1 for number in numbers)
    )


def _refuse_short_form(name: str, pieces: list[str], names: Collection[str]) -> NoReturn:
    """Raise ConversionError for a name that could be the product of its pieces: a piece such as a2
    is read as a power, unless a product of several pieces has it as a variable.
    """
    factors = []
    for piece in pieces:
        is_variable = len(pieces) > 1 and piece in names
        is_power = piece[1:].isdecimal() and not is_variable
        factors.append(f"{piece[0]}^{piece[1:]}" if is_power else piece)
    raise ConversionError(
        f"'{name:.60}' could be {'*'.join(factors):.60} or one variable: write the product, or"
        f" {NAME_THE_VARIABLES}"
    )

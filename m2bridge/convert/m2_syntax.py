"""SymPy to Macaulay2: names, numbers, polynomials and ideals as programs write them.

What goes into a workspace is written by :mod:`m2bridge.convert.encode`, which takes names and
numbers from here. A name of any alphabet becomes a symbol that means nothing else in Macaulay2, and
different names stay different; :func:`from_macaulay2` reads them back.

A name is a base, perhaps with indices. A base that is a single letter stays, since single letters
have no meaning of their own in Macaulay2. All others are escaped: they get the prefix ``mbv``, or
``mbp`` where names take no indices, and characters that Macaulay2 does not allow in a symbol become
``Z<hexadecimal>Z``: λ2 is ``mbvZ3bbZ2``.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from sympy import Catalan, EulerGamma, I, pi
from sympy.polys.domains.fractionfield import FractionField
from sympy.polys.rings import PolyElement

from m2bridge.algebra.extension_field import ExtensionDomain, ExtensionField, extension_field_of
from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing
from m2bridge.limits import check_deadline_in
from m2bridge.system import decimal

CONSTANTS = {"pi": pi, "ii": I, "EulerConstant": EulerGamma, "CatalanConstant": Catalan}
"""SymPy's constants by their names in Macaulay2."""

_LETTER = re.compile("[A-Za-z]")
_INDEXED = re.compile(r"(.*?[^_])((?:_(?:0|-?[1-9][0-9]*))+)", re.DOTALL)
"""A name that ends with indices, as c_1_2: what is before them, and ``_1_2``."""
_ESCAPED = "mbv"
"""The prefix of names that are written letter by letter."""
_PLAIN = "mbp"
"""The prefix of names that take no indices."""
_NO_PLAIN_CHARACTER = re.compile("[^0-9A-Za-z]|Z")
"""What is written as its number in Unicode: also Z, which marks where a number begins and ends."""

_TERMS_PER_PIECE = 200
"""Terms or items that are written in one piece.

Macaulay2's parser crashes on flat sums of about 50 000 terms and on flat lists of about 200 000
entries, and needs quadratic time for long sums.
"""


def to_macaulay2(name: str) -> str:
    """Write the name of a variable in Macaulay2's notation.

    >>> to_macaulay2("x_1"), to_macaulay2("x_1_2"), to_macaulay2("ideal"), to_macaulay2("λ_1")
    ('x_1', 'x_(1,2)', 'mbvideal', 'mbvZ3bbZ_1')
    """
    match = _INDEXED.fullmatch(name)
    if match is None:
        return _symbol_of_base(name)
    base, index_text = match.groups()  # of c_1_2 these are c and _1_2
    indices = index_text[1:].split("_")
    needs_parentheses = len(indices) > 1 or indices[0].startswith("-")
    index = f"({','.join(indices)})" if needs_parentheses else indices[0]
    return f"{_symbol_of_base(base)}_{index}"


def all_to_macaulay2(names: Sequence[str]) -> tuple[str, ...]:
    """The Macaulay2 names of all variables that one script uses, in the same order. Macaulay2
    cannot distinguish ``x`` from ``x_1``: the names ``x``, ``x_1``, ``y`` become ``mbpx``, ``x_1``,
    ``y``.
    """
    separate_names = tuple(to_macaulay2(name) for name in names)
    bases_with_indices = {text.split("_")[0] for text in separate_names if "_" in text}
    distinct_names = []
    for name, text in zip(names, separate_names, strict=True):
        is_also_indexed = text in bases_with_indices
        distinct_names.append(escape_name(name, plain=True) if is_also_indexed else text)
    return tuple(distinct_names)


def plain_to_macaulay2(name: str) -> str:
    """Write a name as one symbol without indices: a letter as it is, all others, also
    x_1, escaped.
    """
    return name if _LETTER.fullmatch(name) else escape_name(name, plain=True)


def from_macaulay2(base: str, index: Sequence[int] = ()) -> str:
    """The name of a variable from its base and indices; the inverse of :func:`to_macaulay2`."""
    if base.startswith((_ESCAPED, _PLAIN)):
        letters = base[len(_ESCAPED) :]  # both prefixes have this length
        base = re.sub(r"Z([0-9a-f]+)Z", lambda match: chr(int(match[1], 16)), letters)
    return "_".join([base, *map(str, index)])


def escape_name(name: str, plain: bool = False) -> str:
    """A whole name, escaped, as one symbol of letters and digits."""
    text = _NO_PLAIN_CHARACTER.sub(lambda match: f"Z{ord(match[0]):x}Z", name)
    prefix = _PLAIN if plain else _ESCAPED
    return prefix + text


def _symbol_of_base(base: str) -> str:
    """The symbol for ``base``, a name without its indices: a letter, or an escaped name."""
    return base if _LETTER.fullmatch(base) else escape_name(base)


def field(value: CoefficientField) -> str:
    """The code of a field: ``QQ``, ``ZZ/p``, ``toField(QQ[i]/(i^2+1))`` or ``frac(QQ[a, b])``; or
    of ZZ.
    """
    if not value.is_field:
        return "ZZ"
    prime_field = f"ZZ/{value.characteristic}" if value.characteristic else "QQ"
    if not isinstance(value, ExtensionField):
        return prime_field
    names = all_to_macaulay2(value.names)
    generator_ring = f"{prime_field}[{', '.join(names)}]"
    if not value.minimal_polynomial:
        return f"frac({generator_ring})"
    return f"toField({generator_ring}/({polynomial(value.relation, names)}))"


def ring(value: PolynomialRing) -> str:
    """The code of a polynomial ring, such as ``QQ[x, y]``, with Macaulay2's names of variables."""
    names = ", ".join(all_to_macaulay2(value.variables))
    return f"{field(value.field)}[{names}]"


def ideal(value: GeneratingSet, name: str) -> str:
    """The code of an ideal of the ring with this name in the program; by a matrix over the ring, as
    in ``ideal matrix(R, {{x, y}})``, zero and constant generators are of the ring, too.
    """
    return f"ideal matrix({name}, {{{sequence(generators(value))}}})"


def generators(value: GeneratingSet) -> list[str]:
    """The code of each generator of an ideal."""
    names = all_to_macaulay2(value.ring.variables)
    return [polynomial(generator, names) for generator in check_deadline_in(value.generators)]


def ring_values(value: GeneratingSet) -> dict[str, str]:
    """The code of field, coordinates and generators (empty for the zero ideal), by the names of
    variables in templates that define an ideal's ring.
    """
    return {
        "field": field(value.ring.field),
        "coordinates": ", ".join(all_to_macaulay2(value.ring.variables)),
        "generators": sequence(generators(value)) if value.generators else "",
    }


def polynomial(value: PolyElement, names: Sequence[str] | None = None) -> str:
    """The code of a polynomial over ZZ, QQ, GF(p) or an extension field; the Macaulay2 names of its
    variables are worked out when left out.
    """
    if names is None:
        names = all_to_macaulay2([str(symbol) for symbol in value.ring.symbols])
    number = coefficient_writer(value.ring.domain)
    summands = []
    for monomial, coefficient in value.terms():
        summands.append(term(monomial, number(coefficient), names))
    if not summands:
        return "0"
    if len(summands) <= _TERMS_PER_PIECE:
        return _sum(summands)
    # Macaulay2's parser is slow for long sums, or crashes: a long one becomes the sum of a list.
    sums = [_sum(group) for group in _slices(summands, _TERMS_PER_PIECE)]
    return f"sum {sequence(sums)}"


def sequence(items: Iterable[str]) -> str:
    """The code of a list of any length from the code of its items, one per line: ``{…}``, or
    ``join({…}, {…})`` where it is long.
    """
    item_list = list(items)
    if len(item_list) <= _TERMS_PER_PIECE:
        return "{" + ",\n    ".join(item_list) + "}"
    pieces = [sequence(group) for group in groups(item_list, _TERMS_PER_PIECE)]
    return "join(" + ",\n  ".join(pieces) + ")"


def groups(items: list[str], most: int) -> Iterator[list[str]]:
    """Cut a list into at most ``most`` groups of equal size, and at least ``most`` items, so that
    short lists have few groups; the last may be smaller.
    """
    size = -(-len(items) // most)  # rounded up
    return _slices(items, max(most, size))


def _slices(items: list[str], size: int) -> Iterator[list[str]]:
    """The items in groups of this size, the last of which may be smaller."""
    return (items[start : start + size] for start in range(0, len(items), size))


def _sum(summands: list[str]) -> str:
    """The code of a sum, in which a summand that begins with a minus sign has no plus sign."""
    summands_with_signs = [
        summand if summand.startswith("-") else f"+{summand}" for summand in summands
    ]
    return "".join(summands_with_signs).removeprefix("+")


def term(monomial: tuple[int, ...], number: str, names: Sequence[str]) -> str:
    """The code of a term: its coefficient as it is written, unless it is 1 or −1, times powers of
    variables; exponents may be negative.
    """
    factors = []
    for name, exponent in zip(names, monomial, strict=True):
        if exponent == 1:
            factors.append(name)
        elif exponent > 1:
            factors.append(f"{name}^{exponent}")
        elif exponent < 0:
            factors.append(f"{name}^({exponent})")
    if factors and number in ("1", "-1", "(1)"):  # elements of extension fields have parentheses
        sign = "-" if number == "-1" else ""
        return sign + "*".join(factors)
    return "*".join([number, *factors])


def coefficient_writer(domain: Any) -> Callable[[Any], str]:
    """The function that writes coefficients of a domain of SymPy as code; elements of GF(p) as the
    integers nearest to 0 that stand for them, as in Macaulay2.
    """
    if domain.is_FiniteField:  # GF(p)
        return lambda value: str(domain.to_int(value))
    if not isinstance(domain, ExtensionDomain | FractionField):  # QQ or ZZ
        return rational
    field = extension_field_of(domain)  # an algebraic extension or QQ(a, b)
    names = all_to_macaulay2(field.names)

    def write(value: Any) -> str:
        """The polynomial, or fraction of two, in the generators that an element is, in
        parentheses.
        """
        numerator, denominator = field.parts(value)
        text = f"({polynomial(numerator, names)})"
        if denominator == 1:
            return text
        return f"({text}/({polynomial(denominator, names)}))"

    return write


def rational(value: Any) -> str:
    """The code of an integer or a fraction of Python, SymPy or FLINT, as ``-3/7``."""
    text = decimal(int(value.numerator))
    return text if value.denominator == 1 else f"{text}/{decimal(int(value.denominator))}"

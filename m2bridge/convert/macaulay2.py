"""SymPy to Macaulay2: names of variables and expressions as Macaulay2 reads them.

Macaulay2's parser crashes on flat sums of about 50 000 terms and on flat lists of about 200 000 entries, and needs
quadratic time for long sums; so sums and lists are written in groups.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sympy import Catalan, EulerGamma, I, pi
from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing
from m2bridge.limits import watched
from m2bridge.system import decimal

CONSTANTS = {"pi": pi, "ii": I, "EulerConstant": EulerGamma, "CatalanConstant": Catalan}
"""SymPy's by Macaulay2's names."""


_INDEXED = re.compile(r"(.*?[^_])((?:_(?:0|-?[1-9][0-9]*))+)", re.DOTALL)
_ESCAPED = "mbv"
_PLAIN = "mbp"


def to_macaulay2(name: str) -> str:
    """Write the name of a variable in Macaulay2's notation.

    Every result is a safe symbol: single letters have no meaning of their own in Macaulay2; all other bases get the
    prefix ``mbv``, with characters that Macaulay2 does not allow in a symbol written as ``Z<hexadecimal>Z``.
    """
    if match := _INDEXED.fullmatch(name):
        indices = match[2][1:].split("_")
        simple = len(indices) == 1 and not indices[0].startswith("-")
        return f"{_base(match[1])}_{indices[0] if simple else '(' + ','.join(indices) + ')'}"
    return _base(name)


def all_to_macaulay2(names: Sequence[str]) -> tuple[str, ...]:
    """The Macaulay2 names of all variables that one script uses.

    Macaulay2 cannot keep ``x`` and ``x_1`` apart; a name that is also used with indices gets the prefix ``mbp``.
    """
    written = tuple(to_macaulay2(name) for name in names)
    indexed = {text.split("_")[0] for text in written if "_" in text}
    return tuple(
        escaped(name, plain=True) if text in indexed else text for name, text in zip(names, written, strict=True)
    )


def plain_to_macaulay2(name: str) -> str:
    """Write the name of a variable where Macaulay2 takes no indices; :func:`from_macaulay2` reads it, too."""
    return name if re.fullmatch(r"[A-Za-z]", name) else escaped(name, plain=True)


def from_macaulay2(base: str, index: Sequence[int] = ()) -> str:
    """The name of the variable with this base and these indices; inverse of :func:`to_macaulay2`."""
    if base.startswith((_ESCAPED, _PLAIN)):
        base = re.sub(r"Z([0-9a-f]+)Z", lambda match: chr(int(match[1], 16)), base[len(_ESCAPED) :])
    return "_".join([base, *map(str, index)])


def escaped(name: str, plain: bool = False) -> str:
    """A whole name as one symbol of letters and digits; :func:`from_macaulay2` reads it back."""
    text = "".join(c if c.isascii() and c.isalnum() and c != "Z" else f"Z{ord(c):x}Z" for c in name)
    return f"{_PLAIN if plain else _ESCAPED}{text}"


def _base(base: str) -> str:
    return base if re.fullmatch(r"[A-Za-z]", base) else escaped(base)


_GROUP = 200


def field(value: CoefficientField) -> str:
    """``QQ`` or ``ZZ/p``."""
    return f"ZZ/{value.characteristic}" if value.characteristic else "QQ"


def ring(value: PolynomialRing) -> str:
    """A polynomial ring, such as ``QQ[x, y]``: the one place that writes a ring of an ideal into a program."""
    return f"{field(value.field)}[{', '.join(all_to_macaulay2(value.variables))}]"


def ideal(value: GeneratingSet, name: str) -> str:
    """An ideal of the ring with this name; zero and constant generators are of that ring, too."""
    names = all_to_macaulay2(value.ring.variables)
    generators = sequence(polynomial(generator, names) for generator in watched(value.generators))
    return f"ideal matrix({name}, {{{generators}}})"


def ring_values(value: GeneratingSet) -> dict[str, str]:
    """The field, the coordinates and the generators of an ideal, for templates that define its ring."""
    names = all_to_macaulay2(value.ring.variables)
    generators = [polynomial(generator, names) for generator in watched(value.generators)]
    return {
        "field": field(value.ring.field),
        "coordinates": ", ".join(names),
        "generators": sequence(generators) if generators else "",
    }


def polynomial(value: PolyElement, names: Sequence[str] | None = None) -> str:
    """A polynomial over ZZ, QQ or GF(p), in the variables of its ring.

    Parameters
    ----------
    names : sequence of str, optional
        Macaulay2 names of the variables of the polynomial's ring; worked out when left out.
    """
    written = names if names is not None else all_to_macaulay2([str(symbol) for symbol in value.ring.symbols])
    number = coefficient_writer(value.ring.domain)
    summands = [term(monomial, number(coefficient), written) for monomial, coefficient in value.terms()]
    if not summands:
        return "0"
    if len(summands) <= _GROUP:
        return _sum(summands)
    return f"sum {sequence(_sum(group) for group in _groups(summands))}"


def sequence(items: Iterable[str]) -> str:
    """A Macaulay2 list of any length, one item per line, or ``join({…}, {…})`` where it is long."""
    listed = list(items)
    if len(listed) <= _GROUP:
        return "{" + ",\n    ".join(listed) + "}"
    size = max(_GROUP, -(-len(listed) // _GROUP))
    return "join(" + ",\n  ".join(sequence(group) for group in _groups(listed, size)) + ")"


def _groups(items: list[str], size: int = _GROUP) -> Iterable[list[str]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _sum(summands: list[str]) -> str:
    return "".join(summands[:1] + [s if s.startswith("-") else f"+{s}" for s in summands[1:]])


def term(monomial: tuple[int, ...], number: str, names: Sequence[str]) -> str:
    """A product of powers of variables, whose exponents may be negative, with a coefficient that is written."""
    powers = [(name, e) for name, e in zip(names, monomial, strict=True) if e]
    factors = [name if e == 1 else f"{name}^{e}" if e > 0 else f"{name}^({e})" for name, e in powers]
    return number[:-1] + "*".join(factors) if factors and number in ("1", "-1") else "*".join([number, *factors])


def coefficient_writer(domain: Any) -> Callable[[Any], str]:
    """The writer of coefficients of this domain; residues modulo p are symmetric, as in Macaulay2."""
    if domain.is_FiniteField:
        return lambda value: str(domain.to_int(value))
    return rational


def rational(value: Any) -> str:
    """An integer or a fraction of Python, SymPy or FLINT."""
    text = decimal(int(value.numerator))
    return text if value.denominator == 1 else f"{text}/{decimal(int(value.denominator))}"

"""SymPy to Macaulay2: expressions as Macaulay2 reads them.

Macaulay2's parser crashes on flat sums of about 50 000 terms and on flat lists of about 200 000 entries, and needs
quadratic time for long sums; so sums and lists are written in groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing
from m2bridge.convert.names import all_to_macaulay2
from m2bridge.limits import watched
from m2bridge.system import decimal

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


def polynomial(value: PolyElement, names: Sequence[str] | None = None) -> str:
    """A polynomial over ZZ, QQ or GF(p), in the variables of its ring.

    Parameters
    ----------
    names : sequence of str, optional
        Macaulay2 names of the variables of the polynomial's ring; worked out when left out.
    """
    written = names if names is not None else all_to_macaulay2([str(symbol) for symbol in value.ring.symbols])
    number = _coefficient_writer(value.ring.domain)
    summands = [_term(monomial, number(coefficient), written) for monomial, coefficient in value.terms()]
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


def _term(monomial: tuple[int, ...], number: str, names: Sequence[str]) -> str:
    factors = [
        name if exponent == 1 else f"{name}^{exponent}"
        for name, exponent in zip(names, monomial, strict=True)
        if exponent
    ]
    if number == "1" and factors:
        return "*".join(factors)
    if number == "-1" and factors:
        return "-" + "*".join(factors)
    return "*".join([number, *factors])


def _coefficient_writer(domain: Any) -> Callable[[Any], str]:
    """How coefficients of this domain are written; residues modulo p symmetrically, as Macaulay2 does."""
    if domain.is_FiniteField:
        return lambda value: str(domain.to_int(value))
    if domain.is_ZZ:
        return lambda value: decimal(int(value))
    return _rational


def _rational(value: Any) -> str:
    text = decimal(int(value.numerator))
    return text if value.denominator == 1 else f"{text}/{decimal(int(value.denominator))}"

"""Ideals as programs for Sage, and back; nothing is evaluated."""

from __future__ import annotations

import json
import re
from keyword import iskeyword

from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.ring import Ideal, is_name
from m2bridge.convert.notation import polynomial_text
from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.ideals.construct import ideal as read

_PROGRAM = re.compile(
    r"from sage\.all import GF, QQ, PolynomialRing\n"
    r"R = PolynomialRing\((?P<field>QQ|GF\(\d+\)), names=(?P<names>\[.*\]), order=\"degrevlex\"\)\n"
    r"I = R\.ideal\(\[R\(f\) for f in \[\n(?P<generators>(?:    \".*\",\n)*)\]\]\)\n?",
)


def to_sage_text(ideal: Ideal) -> str:
    """The program; polynomials are in strings, which Sage's preparser leaves alone."""
    if refused := [name for name in ideal.ring.variables if not is_name(name) or iskeyword(name)]:
        raise ConversionError(f"Sage takes no variable of the name {refused[0]!r:.60}")
    names = ", ".join(f'"{name}"' for name in ideal.ring.variables)
    generators = "".join(f'    "{polynomial_text(g).replace("**", "^")}",\n' for g in ideal.generators)
    return (
        "from sage.all import GF, QQ, PolynomialRing\n"
        f'R = PolynomialRing({ideal.ring.field}, names=[{names}], order="degrevlex")\n'
        f"I = R.ideal([R(f) for f in [\n{generators}]])"
    )


def read_sage_text(text: str) -> Ideal:
    """The ideal of a program that :meth:`m2bridge.Ideal.to_sage_text` wrote; it is read, and not run.

    Raises
    ------
    ConversionError
        If it has another form.

    Examples
    --------
    >>> print(read_sage_text(ideal("x^2 - 2/3*y").to_sage_text()))
    ideal(x**2 - 2/3*y) of QQ[x, y]
    """
    match = _PROGRAM.fullmatch(text)
    if match is None:
        raise ConversionError("not a program for Sage that to_sage_text wrote")
    try:
        names = json.loads(match["names"])
        field = CoefficientField.parse(match["field"])
    except (ValueError, InvalidCaseError) as reason:
        raise ConversionError(f"not a program for Sage that to_sage_text wrote: {reason}") from None
    generators = [line.strip()[1:-2] for line in match["generators"].splitlines()]
    return read(generators, variables=names, field=field)

"""Numbers that Macaulay2 and SymPy hold by name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sympy import Catalan, EulerGamma, I, pi

CONSTANTS = {"pi": pi, "ii": I, "EulerConstant": EulerGamma, "CatalanConstant": Catalan}
"""SymPy's by Macaulay2's names."""


_INDEXED = re.compile(r"(.*?[^_])((?:_(?:0|-?[1-9][0-9]*))+)", re.DOTALL)
_ESCAPED = "mbv"
_PLAIN = "mbp"


def to_macaulay2(name: str) -> str:
    """How the variable is written in Macaulay2.

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
        _PLAIN + _escaped(name) if text in indexed else text for name, text in zip(names, written, strict=True)
    )


def plain_to_macaulay2(name: str) -> str:
    """How the variable is written where Macaulay2 takes no indices; :func:`from_macaulay2` reads it, too."""
    return name if re.fullmatch(r"[A-Za-z]", name) else _PLAIN + _escaped(name)


def from_macaulay2(base: str, index: Sequence[int] = ()) -> str:
    """The name of the variable with this base and these indices; inverse of :func:`to_macaulay2`."""
    return "_".join([_unescaped(base), *map(str, index)])


def escaped(name: str, plain: bool = False) -> str:
    """A whole name as one symbol of letters and digits; :func:`from_macaulay2` reads it back."""
    return (_PLAIN if plain else _ESCAPED) + _escaped(name)


def _base(base: str) -> str:
    if re.fullmatch(r"[A-Za-z]", base):
        return base
    return _ESCAPED + _escaped(base)


def _escaped(base: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() and c != "Z" else f"Z{ord(c):x}Z" for c in base)


def _unescaped(base: str) -> str:
    if not base.startswith((_ESCAPED, _PLAIN)):
        return base
    return re.sub(r"Z([0-9a-f]+)Z", lambda match: chr(int(match[1], 16)), base[len(_ESCAPED) :])

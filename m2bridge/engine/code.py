"""What can be told of Macaulay2 code without running it."""

from __future__ import annotations

import re

from m2bridge.errors import InvalidCaseError

# Strings, comments, and any other character.
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|///.*?///|-\*.*?\*-|--[^\n]*|.', re.DOTALL)

KEYWORDS = frozenset(
    """and break breakpoint catch continue do elapsedTime elapsedTiming else except finish for from global if in list
    local new not of or profile return shield SPACE step symbol TEST then threadLocal threadVariable throw time
    timing to trap try when while xor""".split()  # noqa: SIM905  (a list of words)
)
"""Words of Macaulay2's language, of all versions together."""


def is_silent(code: str) -> bool:
    """Whether the last statement ends with a semicolon, and so has no value.

    Examples
    --------
    >>> is_silent("x = 5;  -- silent"), is_silent('"a;"')
    (True, False)
    """
    last = ""
    for token in _TOKEN.finditer(code):
        text = token[0]
        if not text.isspace() and not (len(text) > 1 and text.startswith("-")):
            last = text
    return last == ";"


def check_name(name: str) -> str:
    """The name, if it can be that of a symbol.

    Raises
    ------
    InvalidCaseError
        If it cannot.
    """
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9']*", name):
        raise InvalidCaseError(
            str(name), "is not a name in Macaulay2, which are letters and digits such as I or newIdeal2"
        )
    if name in KEYWORDS:
        raise InvalidCaseError(name, "is a word of Macaulay2's language: take another name")
    return name

"""Several numbers, or lists of numbers, in one text: ``1..4,7`` for a number, ``1..3,2,1`` for a list."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from math import prod

from m2bridge.errors import InvalidCaseError

MOST = 2_000_000
"""Numbers in one range, and cases of the largest batch; larger ones are a mistake or need a design of their own."""

DIGITS = 9
"""Of the largest numbers that are read."""


def ranges(option: str, text: str) -> tuple[int, ...]:
    """The numbers meant by ``3``, ``1..4``, ``1,3,5`` or ``1..3,7``, in order and without repetition.

    Raises
    ------
    InvalidCaseError
        Naming ``option``.
    """
    found: set[int] = set()
    for part in text.split(","):
        numbers = _range(option, part, len(found))
        found.update(numbers)
    return tuple(sorted(found))


def lists(option: str, text: str) -> Iterator[tuple[int, ...]]:
    """The lists meant by ``2,2,1`` or ``1..3,2,1``: one range for each place.

    Raises
    ------
    InvalidCaseError
        Naming ``option``.
    """
    places = [_range(option, part) for part in text.split(",")]
    if prod(map(len, places)) > MOST:
        raise InvalidCaseError(option, f"'{text:.60}' means more than {MOST} lists")
    return product(*places)


def _range(option: str, part: str, there: int = 0) -> range:
    match = re.fullmatch(r"\s*([0-9]+)\s*(?:\.\.\s*([0-9]+)\s*)?", part)
    if match is None:
        raise InvalidCaseError(option, f"'{part.strip():.60}' is not a range: write 3, 1..4 or 1,3,5")
    if max(map(len, filter(None, match.groups()))) > DIGITS:
        raise InvalidCaseError(option, f"'{part.strip():.60}' is too large: numbers have at most {DIGITS} digits")
    first, last = int(match[1]), int(match[2] or match[1])
    if first < 1 or last < first:
        raise InvalidCaseError(option, f"'{part.strip()}' is not a range of positive numbers")
    if there + last - first >= MOST:
        raise InvalidCaseError(option, f"'{part.strip():.60}' has more than {MOST} numbers")
    return range(first, last + 1)

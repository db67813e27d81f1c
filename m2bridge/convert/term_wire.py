"""The terms of polynomials, as ``m2scripts/values.m2`` writes them: lists of numbers, or the text of the engine."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from m2bridge.errors import ParseError
from m2bridge.system import integer

Powers = Iterable[tuple[int, int]]
"""Places of variables with their exponents."""

_NAME = r"[A-Za-z]'*(?:_(?:[0-9]+|\([0-9,]+\)))?"
_POWER = re.compile(rf"{_NAME}\^?[0-9]*")
_PARTS = re.compile(rf"({_NAME})(?:\^?([0-9]+))?")
_TERM = re.compile(r"(-?)([0-9]+(?:/[0-9]+)?)?(.*)")


def terms(data: list[Any]) -> Iterator[tuple[Any, Powers]]:
    """The coefficient of each term, as it is on the wire, and its powers.

    Raises
    ------
    ParseError
        If a text says something else.
    """
    if data and data[0] == "Text":
        return _of_text(*data[1:])
    return ((term[0], zip(term[1::2], term[2::2], strict=True)) for term in data)


def dense(powers: Powers, width: int) -> tuple[int, ...]:
    """The exponents of all variables."""
    exponents = [0] * width
    for place, exponent in powers:
        exponents[place] = exponent
    return tuple(exponents)


def _of_text(names: list[str], size: int, text: str) -> Iterator[tuple[str, Powers]]:
    """``-3/2x_1^2y3+7`` is read from left to right: a letter begins a variable, and occurs nowhere else in it.

    After a name of one letter the engine writes the exponent without a sign.
    """
    places = {name: place for place, name in enumerate(names)}
    known: dict[str, tuple[int, int]] = {}
    listed = text.replace("-", "+-").removeprefix("+").split("+")
    if len(listed) != size:
        raise ParseError(f"{len(listed)} terms of {size}: {text!r:.120}")
    for term in listed:
        sign, number, monomial = _TERM.fullmatch(term).groups()  # type: ignore[union-attr]  # every line is one
        powers = _POWER.findall(monomial)
        if sum(map(len, powers)) != len(monomial) or not (number or powers):
            raise ParseError(f"not a term: {term!r:.120}")
        for power in powers:
            if power not in known:
                known[power] = _power(power, places)
        yield sign + (number or "1"), [known[power] for power in powers]


def _power(text: str, places: dict[str, int]) -> tuple[int, int]:
    found = _PARTS.fullmatch(text)
    if not found or found[1] not in places:
        raise ParseError(f"not a power of a variable: {text!r:.120}")
    return places[found[1]], integer(found[2] or "1")

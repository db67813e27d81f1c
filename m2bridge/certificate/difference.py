"""Where two JSON values differ."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where what is stored is not what was found.

    Parameters
    ----------
    place : str
        Such as ``evidence.orbits[3].fibre_length``.
    stored, found : str
        The values as JSON, shortened.
    """

    place: str
    stored: str
    found: str


def difference(stored: Any, found: Any, place: str) -> Difference | None:
    """Compare values and types; ``1``, ``1.0`` and ``true`` differ."""
    if isinstance(stored, dict) and isinstance(found, dict) and stored.keys() == found.keys():
        pairs = [(f"{place}.{key}", stored[key], found[key]) for key in sorted(stored)]
    elif isinstance(stored, list) and isinstance(found, list) and len(stored) == len(found):
        pairs = [(f"{place}[{i}]", *both) for i, both in enumerate(zip(stored, found, strict=True))]
    elif type(stored) is type(found) and stored == found:
        return None
    else:
        return Difference(place, *_shown(stored, found))
    return next((d for inner, s, f in pairs if (d := difference(s, f, inner))), None)


def _shown(stored_value: Any, found_value: Any) -> tuple[str, str]:
    """Both values as JSON; of long ones a part around the first character where they differ."""
    stored, found = (json.dumps(value, ensure_ascii=False) for value in (stored_value, found_value))
    start = max(_common(stored, found) - _SHOWN // 2, 0)
    return _part(stored, start), _part(found, start)


def _common(first: str, second: str) -> int:
    """Length of the longest common beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def _part(text: str, start: int) -> str:
    end = start + _SHOWN
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")

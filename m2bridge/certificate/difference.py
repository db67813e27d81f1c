"""Where two JSON values differ."""

from __future__ import annotations

import json
from dataclasses import dataclass
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
        return Difference(place, _shown(stored), _shown(found))
    return next((d for inner, s, f in pairs if (d := difference(s, f, inner))), None)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"

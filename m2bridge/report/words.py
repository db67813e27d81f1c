"""Values of certificates in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from m2bridge.report.content import Table


def statement_name(number: str, part: str) -> str:
    """``3.4 (iii)``."""
    return f"{number} ({part})" if part else number


def witness_words(witness: Mapping[str, Any] | None) -> str:
    """Where a statement fails, in one sentence; empty without a witness."""
    if witness is None:
        return ""
    orbit = witness["orbit"]
    place = f"at orbit {tuple(orbit[name] for name in 'rsm')}" if orbit else "for the neuromanifold as a whole"
    weights = [f"{name} = {matrix_words(witness[name])}" for name in "AV" if witness[name]]
    numbers = [f"{name.replace('_', ' ')} {value}" for name, value in witness["numbers"].items()]
    said = f"stated {value_words(witness['predicted'])}, computed {value_words(witness['observed'])}"
    details = "; ".join(part for part in (", ".join(weights), ", ".join(numbers)) if part)
    return f"{place}: {said}" + (f" ({details})" if details else "")


def orbit_table(orbits: Sequence[Mapping[str, Any]]) -> Table:
    """The facts about each orbit, the orbit first; a dash for what is not known of one."""
    names = sorted({name for orbit in orbits for name in orbit}, key=lambda name: (name != "orbit", name))
    lines = tuple(tuple(value_words(orbit.get(name)) for name in names) for orbit in orbits)
    return Table(tuple(name.replace("_", " ") for name in names), lines)


def verdict_words(verdict: str) -> str:
    """``not applicable``."""
    return verdict.replace("_", " ").lower()


def matrix_words(rows: Sequence[Sequence[int]]) -> str:
    """``[1 0; 0 1]``."""
    return "[" + "; ".join(" ".join(map(str, row)) for row in rows) + "]"


def value_words(value: Any) -> str:
    """``yes`` and ``no`` for truth values, ``(1, 2, 0)`` for lists, names of parts, a dash for nothing."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return f"({', '.join(map(value_words, value))})"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {value_words(inner)}" for name, inner in value.items())
    return str(value)

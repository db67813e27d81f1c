"""Values of certificates in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from m2bridge.families import family
from m2bridge.layout import value_text
from m2bridge.report.content import Case, Table


def case_of(name: str, numbers: Mapping[str, Any]) -> Case:
    """A case of the family of this name.

    Raises
    ------
    InvalidCaseError
        If there is no such family or case.
    """
    chosen = family(name)
    model = chosen.from_json(dict(numbers))
    options = tuple(
        (option.name, option.heading, _cell(numbers[option.name]))
        for option in chosen.options
        if option.name in numbers
    )
    return Case(name, chosen.label(model), model.title, options)


def _cell(value: Any) -> int | str:
    """A number, or a list of numbers as on the command line."""
    return ",".join(map(str, value)) if isinstance(value, list) else value


def orbit_table(orbits: Sequence[Mapping[str, Any]]) -> Table:
    """The facts about each orbit, the orbit first; a dash for what is not known of one."""
    names = sorted({name for orbit in orbits for name in orbit}, key=lambda name: (name != "orbit", name))
    lines = tuple(tuple(value_text(orbit.get(name)) for name in names) for orbit in orbits)
    return Table(tuple(name.replace("_", " ") for name in names), lines)


def verdict_words(verdict: str) -> str:
    """``not applicable``."""
    return verdict.replace("_", " ").lower()

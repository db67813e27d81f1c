"""Certificates with one value changed, and observations made anew by the checker."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from functools import lru_cache
from typing import Any

from m2bridge import Fibre, Observations, Orbit, SingleLayerAttention
from m2bridge.certificates.form import Certificate
from m2bridge.certificates.wording import Wording
from m2bridge.families.attention.checker.case import (
    Case,
    base_locus_is_empty,
    real_family_has_no_real_weights,
)
from m2bridge.families.attention.checker.evidence import fibre
from m2bridge.families.attention.checker.slices import count_polar_degrees, is_counted_always
from m2bridge.families.attention.observations.observe import deduce_observations
from m2bridge.families.attention.orbits.fibres import Fibres
from m2bridge.families.attention.orbits.orbits import orbits
from m2bridge.statements.statement import Numbers

# Certificates with one value changed.


def changed(certificate: Certificate, path: tuple[Any, ...], value: Any) -> Certificate:
    """With another value at this place, and sealed again."""
    data = certificate.to_json()
    inner: Any = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return Certificate.from_json(data).sealed()


def leaves(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    items = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data)
        if isinstance(data, list)
        else None
    )
    if items is None:
        yield path, data
    else:
        for key, value in items:
            yield from leaves(value, (*path, key))


def others(value: Any) -> list[Any]:
    """Values of the same kind that are not this one."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1, -value - 1]
    if isinstance(value, str):
        return [value + " ", "CONFIRMED" if value != "CONFIRMED" else "REFUTED"]
    return [0, ""]


def with_formulas(wording: Wording, key: tuple[str, str], **formulas: Any) -> Wording:
    """The wording with other formulas of one statement."""
    listed = tuple(
        replace(words, **formulas) if (words.key, words.part) == key else words
        for words in wording.statements
    )
    assert listed != wording.statements
    return replace(wording, statements=listed)


# Every field of a certificate, altered in both directions.

Place = tuple[Any, ...]


def places(data: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Everything in a certificate, with its place: the fields, and the lists that hold them."""
    if place:
        yield place, data
    if isinstance(data, dict):
        for key, value in data.items():
            yield from places(value, (*place, key))
    elif isinstance(data, list):
        for number, value in enumerate(data):
            yield from places(value, (*place, number))


def field_of(place: Place) -> str:
    """The field at a place, such as ``evidence.orbits[].orbit[]``: of all entries of lists.

    A degree as a key is written N.
    """
    first, *others = place
    name = str(first)
    for key in others:
        if isinstance(key, int):
            name += "[]"
        elif re.fullmatch(r"\d+", key):
            name += ".N"
        else:
            name += f".{key}"
    return name


def with_value(data: dict[str, Any], place: Place, value: Any) -> dict[str, Any]:
    """A copy with another value at one place."""
    copied = deepcopy(data)
    inner: Any = copied
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return copied


def alterations(value: Any) -> list[Any]:
    """Other values: larger and smaller, shorter and longer, of this type and of another."""
    found: list[Any]
    if isinstance(value, bool):
        found = [not value, None]
    elif isinstance(value, int):
        found = [value + 1, value - 1, -value - 1, 10**30, None]
    elif isinstance(value, str):
        found = ["", value[:-1], f"{value} ", f"{value}0", *_numbers_moved(value)]
    elif isinstance(value, list):
        found = [[], value[:-1], value[1:], [*value, 0]]
        found += [[*value, value[-1]]] if value else [[""]]
    elif isinstance(value, dict):
        found = [{}, value | {"another": 1}]
        found += [{name: value[name] for name in value if name != dropped} for dropped in value]
    else:
        found = [0, 1, True, "", [], {}]
    return [other for other in found if other != value or type(other) is not type(value)]


def _numbers_moved(text: str) -> Iterator[str]:
    """A text with one more, and with one less, for the last number in it."""
    numbers = list(re.finditer(r"\d+", text))
    for last in numbers[-1:]:
        for step in (1, -1):
            yield f"{text[: last.start()]}{int(last[0]) + step}{text[last.end() :]}"


# Observations of attention without Macaulay2: fibres by the linear algebra of the checker.


def recheck(model: SingleLayerAttention) -> Observations:
    """What :func:`m2bridge.families.attention.observations.observe.observe` says."""
    return replace(_observations(model.d, model.d_out, model.alpha), model=model)


@lru_cache(maxsize=256)
def _observations(d: int, d_out: int, alpha: int) -> Observations:
    model = SingleLayerAttention(d, d_out, alpha)
    boundary = d > 1 and real_family_has_no_real_weights()
    fibres = Fibres(
        at=fibres_at(model), base_locus_empty=base_locus_is_empty(), boundary_family=boundary
    )
    observed = deduce_observations(model, fibres)
    case = Case(d, d_out, alpha, 2)
    counted = count_polar_degrees(case) if is_counted_always(case) else None
    return observed if counted is None else replace(observed, polar_degrees=Numbers(tuple(counted)))


def fibres_at(model: SingleLayerAttention) -> dict[Orbit, Fibre]:
    """The fibre over each orbit."""
    case = Case(model.d, model.d_out, model.a, model.t)
    found = {orbit: fibre(orbit.cells, case) for orbit in orbits(model)}  # type: ignore[arg-type]
    return {orbit: Fibre(length, len(points)) for orbit, (length, points) in found.items()}

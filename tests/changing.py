"""Certificates with one value changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from m2bridge.certificates.schema import Certificate


def changed(certificate: Certificate, path: tuple[Any, ...], value: Any) -> Certificate:
    """With another value at this place, and sealed again."""
    data = certificate.to_json()
    inner: Any = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return Certificate.from_json(data).sealed()


def leaves(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else None
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

"""The families of models: those of this package, one line each, and those that other packages bring.

A package brings a family through the entry-point group ``m2bridge.families``::

    [project.entry-points."m2bridge.families"]
    my-family = "my_package.families:FAMILY"

where ``FAMILY`` is a :class:`m2bridge.families.definition.Family` whose name is the name of the entry point. Nothing is
loaded before it is asked for.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from m2bridge.errors import InvalidCaseError
from m2bridge.families.definition import Family

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint  # slow to import

GROUP = "m2bridge.families"

OWN = {
    "attention": "m2bridge.families.attention.family:FAMILY",
    "deep-attention": "m2bridge.families.deep_attention:FAMILY",
    "polynomial-network": "m2bridge.families.polynomial_network:FAMILY",
}
"""The families of this package, one line each."""


def family_names() -> tuple[str, ...]:
    """Names of all families, without loading them."""
    return tuple(sorted(_registered()))


def family(name: str) -> Family:
    """The family of this name.

    Raises
    ------
    InvalidCaseError
        If there is none, several packages claim the name, or the one that brings it is broken; no other family is
        touched by that.

    Examples
    --------
    >>> family("polynomial-network").from_key("2-2-1-r2").title
    'polynomial neural network of widths (2, 2, 1) and activation degree 2'
    """
    found = _registered().get(name, ())
    if not found:
        raise InvalidCaseError("family", f"there is no family '{name}': use {', '.join(family_names())}")
    if len(found) > 1:
        claims = " and ".join(f"{_package(entry)} ({entry.value})" for entry in found)
        raise InvalidCaseError("family", f"the name '{name}' is claimed by {claims}: remove all but one")
    return _load(found[0])


def families() -> tuple[dict[str, Family], dict[str, InvalidCaseError]]:
    """All families that can be loaded, by name; and by name why others cannot."""
    loaded, failed = {}, {}
    for name in family_names():
        try:
            loaded[name] = family(name)
        except InvalidCaseError as reason:
            failed[name] = reason
    return loaded, failed


def _registered() -> dict[str, tuple[EntryPoint, ...]]:
    """For each name who claims it; a package that is found twice on the path counts once."""
    from importlib.metadata import EntryPoint, entry_points

    claims: dict[str, dict[tuple[str, str], EntryPoint]] = {}
    own = (EntryPoint(name, value, GROUP) for name, value in OWN.items())
    for entry in (*own, *entry_points(group=GROUP)):
        claims.setdefault(entry.name, {}).setdefault((_package(entry), entry.value), entry)
    return {name: tuple(found.values()) for name, found in claims.items()}


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else "m2bridge"


@lru_cache(maxsize=64)
def _load(entry: EntryPoint) -> Family:
    broken = f"the family '{entry.name}' of the package {_package(entry)} cannot be used"
    try:
        loaded = entry.load()
    except Exception as reason:  # whatever somebody else's package does when it is imported
        raise InvalidCaseError("family", f"{broken}: {type(reason).__name__}: {reason}") from reason
    if not isinstance(loaded, Family):
        raise InvalidCaseError("family", f"{broken}: {entry.value} is not an m2bridge.families.definition.Family")
    if loaded.name != entry.name:
        raise InvalidCaseError("family", f"{broken}: it calls itself '{loaded.name}'")
    return loaded

"""The families of models: those of this package, one line each, and those that other packages
bring.

A package brings a family, and what checks its certificates, through two entry-point groups::

    [project.entry-points."m2bridge.families"]
    my-family = "my_package.families:FAMILY"

    [project.entry-points."m2bridge.checkers"]
    my-family = "my_package.checker:CHECKER"

where ``FAMILY`` is an instance of a subclass of :class:`m2bridge.families.base.Family` and
``CHECKER`` a :class:`m2bridge.checker.FamilyChecker`; each has the name of the entry point. Nothing
is loaded before it is asked for, so that certificates are checked without what the models need.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from m2bridge.errors import InvalidCaseError, TimeLimitError
from m2bridge.loading import imported, importing

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint  # slow to import

    from m2bridge.checker import FamilyChecker
    from m2bridge.families.base import Family

GROUP = "m2bridge.families"
CHECKERS = "m2bridge.checkers"
_PLACES = {GROUP: "family:FAMILY", CHECKERS: "checker:CHECKER"}
"""Where the folder of a family has them."""

DEFAULT = "attention"
"""The family of cases that name none."""

OWN = {
    "attention": "m2bridge.families.attention",
    "attention-all-sizes": "m2bridge.families.attention.all_sizes",
    "deep-attention": "m2bridge.families.deep_attention",
    "deep-attention-all-sizes": "m2bridge.families.deep_attention.all_sizes",
    "polynomial-network": "m2bridge.families.polynomial_network",
}
"""The families of this package, one line each: a folder with ``family:FAMILY`` and
``checker:CHECKER``.
"""


def family_names() -> tuple[str, ...]:
    """The names of all families, without loading them."""
    return tuple(sorted(_registered(GROUP)))


def family(name: str) -> Family[Any]:
    """The family of this name.

    Raises
    ------
    InvalidCaseError
        If there is none, several packages claim the name, or the one that brings it is broken; no
        other family is touched by that.

    Examples
    --------
    >>> family("polynomial-network").from_key("2-2-1-r2").title
    'polynomial neural network of widths (2, 2, 1) and activation degree 2'
    """
    from m2bridge.families.base import Family

    found: Family[Any] = _object(GROUP, name, Family, "name")
    return found


def checker(name: str) -> FamilyChecker:
    """Return the checker of certificates about the family of this name.

    Raises
    ------
    InvalidCaseError
        As :func:`family`.
    """
    from m2bridge.checker import FamilyChecker

    found: FamilyChecker = _object(CHECKERS, name, FamilyChecker, "family")
    return found


def _object(group: str, name: str, kind: type[Any], own_name: str) -> Any:
    """Return the object registered under a name, if it is of the right kind and has that name.

    ``own_name`` is the attribute that has it. The names of this package's families are taken; they
    are found without reading other packages.
    """
    if name in OWN:
        module, _, attribute = _PLACES[group].partition(":")
        return getattr(imported(f"{OWN[name]}.{module}"), attribute)
    entry = _claimed(group, name)
    loaded = _load(entry)
    if isinstance(loaded, type) and issubclass(loaded, kind):
        raise _broken(entry, f"{entry.value} is a class: name an instance of it")
    if not isinstance(loaded, kind):
        raise _broken(entry, f"{entry.value} is not an {kind.__module__}.{kind.__qualname__}")
    called = getattr(loaded, own_name)
    if called != name:
        raise _broken(entry, f"it calls itself '{called}'")
    return loaded


def families() -> tuple[dict[str, Family[Any]], dict[str, InvalidCaseError]]:
    """All families that can be loaded, by name; and by name why others cannot."""
    loaded, failed = {}, {}
    for name in family_names():
        try:
            loaded[name] = family(name)
        except InvalidCaseError as reason:
            failed[name] = reason
    return loaded, failed


def _claimed(group: str, name: str) -> EntryPoint:
    """The only entry of this name."""
    registered = _registered(group)
    entries = registered.get(name, ())
    if not entries and group == CHECKERS:
        raise InvalidCaseError(
            "family", f"no checker for the family '{name}': install the package that brings it"
        )
    if not entries:
        raise InvalidCaseError(
            "family", f"there is no family '{name}': use {', '.join(sorted(registered))}"
        )
    if len(entries) > 1:
        claims = " and ".join(f"{_package(entry)} ({entry.value})" for entry in entries)
        raise InvalidCaseError(
            "family", f"the name '{name}' is claimed by {claims}: remove all but one"
        )
    return entries[0]


def _registered(group: str) -> Mapping[str, tuple[EntryPoint, ...]]:
    """The claims on each name; the packages are read anew when a folder of the path has changed."""
    return _read(group, tuple((folder, _changed(folder)) for folder in sys.path))


def _changed(folder: str) -> int:
    """When something was put into a folder, or taken out of it; the empty name is the working
    directory.
    """
    try:
        return os.stat(folder or ".").st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=16)
def _read(group: str, path: tuple[tuple[str, int], ...]) -> Mapping[str, tuple[EntryPoint, ...]]:
    """The claims on each name by this package and by all that are installed.

    Kept, since reading all packages takes some hundredths of a second.
    """
    from importlib.metadata import EntryPoint, entry_points

    claims: dict[str, dict[tuple[str, str], EntryPoint]] = {}
    own = [EntryPoint(name, f"{folder}.{_PLACES[group]}", group) for name, folder in OWN.items()]
    for entry in (*own, *entry_points(group=group)):
        # a package that is found twice on the path counts once
        claims.setdefault(entry.name, {}).setdefault((_package(entry), entry.value), entry)
    return {name: tuple(entries.values()) for name, entries in claims.items()}


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else "m2bridge"


@lru_cache(maxsize=64)
def _load(entry: EntryPoint) -> Any:
    """What an entry point names; InvalidCaseError if its package cannot be imported."""
    try:
        with importing():
            return entry.load()
    except TimeLimitError:
        raise
    except Exception as reason:  # whatever somebody else's package does when it is imported
        raise _broken(entry, f"{type(reason).__name__}: {reason}") from reason


def _broken(entry: EntryPoint, reason: str) -> InvalidCaseError:
    """The error that says which package brings a family that cannot be used."""
    what = "family" if entry.group == GROUP else "checker of the family"
    return InvalidCaseError(
        "family",
        f"the {what} '{entry.name}' of the package {_package(entry)} cannot be used: {reason}",
    )

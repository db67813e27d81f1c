"""The registry of families of models: of this package and of installed plug-ins.

A plug-in registers a family and the checker of its certificates as two entry points::

    [project.entry-points."m2bridge.families"]
    my-family = "my_package.families:FAMILY"

    [project.entry-points."m2bridge.checkers"]
    my-family = "my_package.checker:CHECKER"

where ``FAMILY`` is an instance of a subclass of :class:`m2bridge.families.base.Family` and
``CHECKER`` a :class:`m2bridge.checker.FamilyChecker`; each has the name of its entry point. Both
are loaded on demand, so that certificates are checked without importing the models.

InvalidCaseError says that no family or checker has a name, that several packages claim it, or that
the package that provides it cannot be loaded; other families remain usable.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from m2bridge.errors import InvalidCaseError, TimeLimitError
from m2bridge.limits import imported, importing

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint  # slow to import

    from m2bridge.checker import FamilyChecker
    from m2bridge.families.base import Family

FAMILY_ENTRY_POINTS = "m2bridge.families"
CHECKER_ENTRY_POINTS = "m2bridge.checkers"
_PLACES = {FAMILY_ENTRY_POINTS: "family:FAMILY", CHECKER_ENTRY_POINTS: "checker:CHECKER"}
"""For each group of entry points the module and object in the folder of a family."""

DEFAULT_FAMILY = "attention"
"""The family of a case that does not name one."""

OWN_FAMILIES = {
    "attention": "m2bridge.families.attention",
    "attention-all-sizes": "m2bridge.families.attention.all_sizes",
    "convolutional-network": "m2bridge.families.convolutional_network",
    "deep-attention": "m2bridge.families.deep_attention",
    "deep-attention-all-sizes": "m2bridge.families.deep_attention.all_sizes",
    "polynomial-network": "m2bridge.families.polynomial_network",
}
"""The families of this package by name, each with its folder.

The folder has the objects ``family:FAMILY`` and ``checker:CHECKER``.
"""


def family_names() -> tuple[str, ...]:
    """Return the names of all families, without loading them."""
    return tuple(sorted(_registered(FAMILY_ENTRY_POINTS)))


def family(name: str) -> Family[Any]:
    """Return the family with this name.

    Examples
    --------
    >>> family("polynomial-network").from_key("2-2-1-r2").title
    'polynomial neural network of widths (2, 2, 1) and activation degree 2'
    """
    from m2bridge.families.base import Family

    registered: Family[Any] = _registered_object(
        FAMILY_ENTRY_POINTS, name, kind=Family, name_attribute="name"
    )
    return registered


def checker(name: str) -> FamilyChecker:
    """Return the checker of certificates about the family with this name."""
    from m2bridge.checker import FamilyChecker

    registered: FamilyChecker = _registered_object(
        CHECKER_ENTRY_POINTS, name, kind=FamilyChecker, name_attribute="family"
    )
    return registered


def _registered_object(group: str, name: str, kind: type[Any], name_attribute: str) -> Any:
    """Return the family or checker that is registered under a name, which its attribute has too.

    A family of this package is found without reading the metadata of other packages, because no
    other package can take its name.
    """
    if name in OWN_FAMILIES:
        module, _, attribute = _PLACES[group].partition(":")
        return getattr(imported(f"{OWN_FAMILIES[name]}.{module}"), attribute)
    entry = _only_entry_point(group, name)
    loaded = _load(entry)
    if isinstance(loaded, type) and issubclass(loaded, kind):
        raise _unusable(entry, f"{entry.value} is a class: name an instance of it")
    if not isinstance(loaded, kind):
        raise _unusable(entry, f"{entry.value} is not an {kind.__module__}.{kind.__qualname__}")
    own_name = getattr(loaded, name_attribute)
    if own_name != name:
        raise _unusable(entry, f"it calls itself '{own_name}'")
    return loaded


class LoadedFamilies(NamedTuple):
    """All registered families that could be loaded, and the errors of the others, by name."""

    loaded: dict[str, Family[Any]]
    failed: dict[str, InvalidCaseError]


def families() -> LoadedFamilies:
    """Return all families that can be loaded, and the errors of the others."""
    loaded, failed = {}, {}
    for name in family_names():
        try:
            loaded[name] = family(name)
        except InvalidCaseError as reason:
            failed[name] = reason
    return LoadedFamilies(loaded, failed)


def _only_entry_point(group: str, name: str) -> EntryPoint:
    """Return the only entry point with this name."""
    registered = _registered(group)
    entries = registered.get(name, ())
    if not entries and group == CHECKER_ENTRY_POINTS:
        raise InvalidCaseError(
            "family", f"no checker for the family '{name}': install the package that provides it"
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
    """Return the entry points of a group by name; several packages may claim the same name.

    They are read again when a folder of the path has changed, as by an installation.
    """
    path_with_times = tuple((folder, _time_of_change(folder)) for folder in sys.path)
    return _read(group, path_with_times)


def _time_of_change(folder: str) -> int:
    """Return when a folder ('' is the working directory) last changed, in nanoseconds."""
    try:
        return os.stat(folder or ".").st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=16)
def _read(group: str, path: tuple[tuple[str, int], ...]) -> Mapping[str, tuple[EntryPoint, ...]]:
    """Return the entry points by name, of this package and of all installed packages.

    The result is cached, since reading the metadata of all packages takes some hundredths of a
    second; ``path`` has each folder with its time of change, and is used as the key only.
    """
    from importlib.metadata import EntryPoint, entry_points

    # Those of this package are made here. The value of an entry point is the place of its object,
    # ``m2bridge.families.attention.family:FAMILY``.
    own_entry_points = []
    for name, folder in OWN_FAMILIES.items():
        own_entry_points.append(EntryPoint(name, f"{folder}.{_PLACES[group]}", group))
    # by the name, and then by package and value: the first entry of each stays, so that a package
    # that is found twice on the path is counted once
    claims: dict[str, dict[tuple[str, str], EntryPoint]] = {}
    for entry in (*own_entry_points, *entry_points(group=group)):
        claims.setdefault(entry.name, {}).setdefault((_package(entry), entry.value), entry)
    return {name: tuple(entries.values()) for name, entries in claims.items()}


def _package(entry: EntryPoint) -> str:
    """Return the name of the package of an entry point; an entry point that :func:`_read` makes for
    this package belongs to no distribution.
    """
    return entry.dist.name if entry.dist is not None else "m2bridge"


@lru_cache(maxsize=64)
def _load(entry: EntryPoint) -> Any:
    """Return the object of an entry point."""
    try:
        with importing():
            return entry.load()
    except TimeLimitError:
        # a limit that is reached while the package is imported is not a fault of the package
        raise
    except Exception as reason:  # importing another package can raise any exception
        raise _unusable(entry, f"{type(reason).__name__}: {reason}") from reason


def _unusable(entry: EntryPoint, reason: str) -> InvalidCaseError:
    """Return the error that names the package whose family or checker cannot be used."""
    kind = "family" if entry.group == FAMILY_ENTRY_POINTS else "checker of the family"
    return InvalidCaseError(
        "family",
        f"the {kind} '{entry.name}' of the package {_package(entry)} cannot be used: {reason}",
    )

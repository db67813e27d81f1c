"""Functions that are found by name when they are called."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def function(place: str) -> Callable[..., Any]:
    """The function at this place of the package, such as ``ideals.decomposition.radical``."""
    module, _, name = place.rpartition(".")
    found: Callable[..., Any] = getattr(import_module(f"m2bridge.{module}"), name)
    return found

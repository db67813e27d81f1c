"""What worker processes of both kinds say besides results."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ready:
    """What a process says first, before it can be given work."""


@dataclass(frozen=True, slots=True)
class Begun:
    """What a process says when it turns to the next piece of work: until then that cannot be what ended it."""

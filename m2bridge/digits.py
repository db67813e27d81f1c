"""Integers of any length in text: Python itself refuses to read or write more than 4300 digits."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import flint

_lock = Lock()
_users = 0
_before = 0


@contextmanager
def any_length() -> Iterator[None]:
    """Lift Python's limit while results are written; reading has limits of its own.

    The limit belongs to the whole process: the first thread that comes lifts it, the last one puts it back.
    """
    global _users, _before
    with _lock:
        if _users == 0:
            _before = sys.get_int_max_str_digits()
            sys.set_int_max_str_digits(0)
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                sys.set_int_max_str_digits(_before)


def integer(text: str) -> int:
    """The integer written in decimal, of any length (Python's own limit is 4300 digits)."""
    return int(text) if len(text) < 4000 else int(flint.fmpz(text))


def decimal(n: int) -> str:
    """The integer in decimal digits, of any length."""
    return str(n) if -(1 << 13000) < n < 1 << 13000 else str(flint.fmpz(n).str())

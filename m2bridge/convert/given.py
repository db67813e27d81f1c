"""Python objects as Macaulay2 code."""

from __future__ import annotations

from typing import Any


def expression(value: Any) -> str:
    if isinstance(value, str):
        return '"' + value + '"'
    return str(value)

"""Many values asked of one Macaulay2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from m2bridge.errors import M2BridgeError
from m2bridge.workspace.macaulay2 import Macaulay2


def values(m2: Macaulay2, questions: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Any]:
    """The value of each piece of code with its inputs; the error where there is none."""
    return [_value(m2, code, inputs) for code, inputs in questions]


def _value(m2: Macaulay2, code: str, inputs: Mapping[str, Any]) -> Any:
    try:
        return m2.value(code, **inputs)
    except M2BridgeError as failure:  # compared by the tests
        return failure

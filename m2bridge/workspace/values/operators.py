"""The operators of Python for values that are computed with."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any


class Operators:
    """Values whose operators are one method."""

    __slots__ = ()

    def _computed(self, operation: Callable[[Any, Any], Any], other: Any, swapped: bool = False) -> Any:
        """The value of an operation; with the other one on the left if they are ``swapped``."""
        raise NotImplementedError

    def __add__(self, other: Any) -> Any:
        return self._computed(operator.add, other)

    def __radd__(self, other: Any) -> Any:
        return self._computed(operator.add, other, swapped=True)

    def __sub__(self, other: Any) -> Any:
        return self._computed(operator.sub, other)

    def __rsub__(self, other: Any) -> Any:
        return self._computed(operator.sub, other, swapped=True)

    def __mul__(self, other: Any) -> Any:
        return self._computed(operator.mul, other)

    def __rmul__(self, other: Any) -> Any:
        return self._computed(operator.mul, other, swapped=True)

    def __truediv__(self, other: Any) -> Any:
        return self._computed(operator.truediv, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._computed(operator.truediv, other, swapped=True)

    def __pow__(self, other: Any) -> Any:
        return self._computed(operator.pow, other)

    def __rpow__(self, other: Any) -> Any:
        return self._computed(operator.pow, other, swapped=True)

    def __neg__(self) -> Any:
        return 0 - self

    def __pos__(self) -> Any:
        return self

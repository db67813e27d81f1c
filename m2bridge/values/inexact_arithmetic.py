"""Arithmetic of real and complex numbers of limited precision, by mpmath."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from sympy import Expr

from m2bridge.values.operators import Operators

_DOUBLE = 53
"""Bits of a float."""


class Inexact(Operators):
    """Numbers that are computed with as Macaulay2 does: rounded to nearest, in the lower of both precisions.

    Integers and fractions take part with the precision of the other number, floats with 53 bits. With SymPy's
    expressions these are its ``Float`` of the same precision. Zero has no sign in results, as in mpmath.
    """

    __slots__ = ()

    @property
    def precision(self) -> int:
        """Bits."""
        raise NotImplementedError

    def to_mpmath(self) -> Any:
        """The same number in mpmath, exactly."""
        raise NotImplementedError

    @property
    def _parts(self) -> Any:
        """Real and imaginary part, as mpmath writes them; each number in one way."""
        raise NotImplementedError

    def _sympy_(self) -> Any:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        """Whether it is the same number, whatever the precision; NaN is equal to NaN."""
        if isinstance(other, Expr):
            return bool(self._sympy_() == other)
        if isinstance(other, Inexact):
            return bool(self._parts == other._parts)
        if isinstance(other, Fraction):
            bits = other.numerator.bit_length()
            return _is_binary(other) and bool(self.to_mpmath() == _mpmath(other, bits + 1))
        return bool(self.to_mpmath() == other)

    def __hash__(self) -> int:
        return hash(self.to_mpmath())

    def __bool__(self) -> bool:
        return bool(self.to_mpmath() != 0)

    def __abs__(self) -> Any:
        return self._computed(lambda number, _: abs(number), 0)

    def _computed(self, operation: Callable[[Any, Any], Any], other: Any, swapped: bool = False) -> Any:
        if isinstance(other, Expr):
            return operation(other, self._sympy_()) if swapped else operation(self._sympy_(), other)
        if not isinstance(other, Inexact | int | Fraction | float | complex):
            return NotImplemented
        from mpmath import workprec

        precision = min(self.precision, other.precision if isinstance(other, Inexact) else self.precision)
        if isinstance(other, float | complex):
            precision = min(precision, _DOUBLE)
        with workprec(precision):
            pair = (self.to_mpmath(), _mpmath(other, precision))
            return self._of(operation(*reversed(pair)) if swapped else operation(*pair), precision)

    @staticmethod
    def _of(number: Any, precision: int) -> Any:
        from m2bridge.values.inexact import ComplexNumber, Real

        if hasattr(number, "_mpf_"):
            return Real.of(number, precision)
        return ComplexNumber(Real.of(number.real, precision), Real.of(number.imag, precision))


def _is_binary(number: Fraction) -> bool:
    return number.denominator & (number.denominator - 1) == 0


def _mpmath(number: Any, precision: int) -> Any:
    """The number in mpmath; exactly, but for fractions, which are rounded."""
    from mpmath import mp
    from mpmath.libmp import from_rational

    if isinstance(number, Inexact):
        return number.to_mpmath()
    if isinstance(number, Fraction):
        return mp.make_mpf(from_rational(number.numerator, number.denominator, precision, "n"))
    return number if isinstance(number, int) else mp.mpmathify(number)

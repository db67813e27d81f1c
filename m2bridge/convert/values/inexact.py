"""Real and complex numbers of limited precision, with the arithmetic of Macaulay2, by mpmath; real
intervals.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
from mpmath import libmp, mp, nstr, workprec
from sympy import Expr, Float, I, sympify

from m2bridge.algebra.modules import AsCode
from m2bridge.errors import ConversionError


def _operator(
    operation: Callable[[Any, Any], Any], swapped: bool = False
) -> Callable[[Any, Any], Any]:
    return lambda self, other: self._computed(operation, other, swapped)


def _comparison(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: operation(*self._pair(other))


def not_exact(what: str) -> ConversionError:
    """Return the error of a value that is not exact."""
    return ConversionError(
        f"{what}: not exact. Write fractions as fractions.Fraction or sympy.Rational; a number that"
        " is meant to be inexact as m2bridge.workspace.values.Real.of(number)"
    )


class Operators:
    """The values whose operators are one method ``_computed(operation, other, swapped)``.

    It returns the value of the operation; with the other one on the left if they are swapped.
    """

    __slots__ = ()

    __add__, __radd__ = _operator(operator.add), _operator(operator.add, swapped=True)
    __sub__, __rsub__ = _operator(operator.sub), _operator(operator.sub, swapped=True)
    __mul__, __rmul__ = _operator(operator.mul), _operator(operator.mul, swapped=True)
    __truediv__, __rtruediv__ = (
        _operator(operator.truediv),
        _operator(operator.truediv, swapped=True),
    )
    __pow__, __rpow__ = _operator(operator.pow), _operator(operator.pow, swapped=True)

    def __neg__(self) -> Any:
        return 0 - self

    def __pos__(self) -> Any:
        return self


_DOUBLE = 53
"""Bits of a float."""


class Inexact(Operators):
    """Numbers that are computed with as Macaulay2 does: rounded to nearest, in the lower of both
    precisions.

    Integers and fractions take part with the precision of the other number, floats with 53 bits.
    With SymPy's expressions these are its ``Float`` of the same precision. Zero has no sign in
    results, as in mpmath.
    """

    __slots__ = ()

    @property
    def precision(self) -> int:
        """Bits."""
        raise NotImplementedError

    def to_mpmath(self) -> Any:
        """The same number in mpmath, exactly."""
        return mp.mpmathify(self)  # by _mpf_ or _mpc_

    @property
    def _parts(self) -> Any:
        """Real and imaginary part, as mpmath writes them; each number in one way."""
        number = self.to_mpmath()
        return number.real._mpf_, number.imag._mpf_

    def __eq__(self, other: object) -> bool:
        """Whether it is the same number, whatever the precision; NaN is equal to NaN."""
        if isinstance(other, Expr):
            return bool(sympify(self) == other)
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

    def _computed(
        self, operation: Callable[[Any, Any], Any], other: Any, swapped: bool = False
    ) -> Any:
        if isinstance(other, Expr):
            return operation(other, sympify(self)) if swapped else operation(sympify(self), other)
        if not isinstance(other, Inexact | int | Fraction | float | complex):
            return NotImplemented
        others = (
            _DOUBLE
            if isinstance(other, float | complex)
            else getattr(other, "precision", self.precision)
        )
        precision = min(self.precision, others)
        with workprec(precision):
            pair = (self.to_mpmath(), _mpmath(other, precision))
            number = operation(*reversed(pair)) if swapped else operation(*pair)
        return (Real if hasattr(number, "_mpf_") else ComplexNumber).of(number, precision)


def _is_binary(number: Fraction) -> bool:
    return number.denominator & (number.denominator - 1) == 0


def _mpmath(number: Any, precision: int) -> Any:
    """The number in mpmath; exactly, but for fractions, which are rounded."""
    if isinstance(number, Fraction):
        return mp.make_mpf(
            libmp.from_rational(number.numerator, number.denominator, precision, "n")
        )
    return number if isinstance(number, int) else mp.mpmathify(number)


_EXACT = 10_000
"""An exponent of two up to which numbers are fractions without much memory."""
_SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan, "-0": -0.0}


@dataclass(frozen=True, slots=True, eq=False)
class Real(Inexact):
    """The mantissa times a power of two, known to so many bits; infinities and NaN have a name
    instead.

    It is computed with and compared as other numbers are; results have the lower of both
    precisions, as in Macaulay2. NaN is equal to NaN.

    Parameters
    ----------
    mantissa, exponent : int
        The mantissa is odd, or zero.
    precision : int
        Bits.
    special : str
        ``inf``, ``-inf``, ``nan`` or ``-0``; empty otherwise.

    Examples
    --------
    >>> Real.of(0.5), Real(1, -1, 100)
    (Real.of(0.5), Real(1, -1, precision=100))
    >>> print(Real.of(0.1), Real.of(float("-inf")), Real.of(3, precision=100))
    0.1 -inf 3.0
    >>> Real.of(0.5).exact
    Fraction(1, 2)
    >>> 2 * Real.of(0.25) == 0.5, Real.of(3, 100) / 4
    (True, Real(3, -2, precision=100))
    """

    mantissa: int
    exponent: int
    precision: int = 53
    special: str = ""

    def __post_init__(self) -> None:
        sign, mantissa, exponent, bits = libmp.from_man_exp(self.mantissa, self.exponent)
        object.__setattr__(self, "mantissa", int(-mantissa if sign else mantissa))
        object.__setattr__(self, "exponent", exponent)
        if bits > self.precision or self.special not in {"", *_SPECIAL}:
            raise ConversionError(f"not a real number of {self.precision} bits")

    @classmethod
    def of(cls, number: Any, precision: int = 53) -> Real:
        """A float, int, Fraction or mpmath number as a real number of this precision.

        Raises
        ------
        ConversionError
            If it takes more bits: nothing is rounded unasked.
        """
        if isinstance(number, float) and (special := str(number).removesuffix(".0")) in _SPECIAL:
            return cls(0, 0, precision, special)
        if hasattr(number, "_mpf_"):
            sign, mantissa, exponent, _ = number._mpf_
            if not mantissa and exponent:  # infinities and NaN
                return cls.of(float(number), precision)
            return cls(int(-mantissa if sign else mantissa), int(exponent), precision)
        exact = Fraction(number)
        if not _is_binary(exact):
            raise ConversionError(
                f"{number} is not a binary fraction: it cannot be a real number without rounding"
            )
        return cls(exact.numerator, 1 - exact.denominator.bit_length(), precision)

    @property
    def exact(self) -> Fraction:
        """The number as a fraction; infinities, NaN and −0 have none (ConversionError), except that
        −0 is 0.
        """
        if self.special in ("", "-0"):
            return self.mantissa * Fraction(2) ** self.exponent
        raise ConversionError(f"{self.special} is not a fraction")

    @property
    def _mpf_(self) -> Any:
        if self.special:
            return libmp.from_float(_SPECIAL[self.special])
        return libmp.from_man_exp(self.mantissa, self.exponent)

    def _sympy_(self) -> Any:
        return Float(self.to_mpmath(), precision=self.precision)

    def _computed(
        self, operation: Callable[[Any, Any], Any], other: Any, swapped: bool = False
    ) -> Any:
        """Fractions are not rounded before, as in Macaulay2, where this does not take large
        integers.
        """
        if (
            not isinstance(other, Fraction)
            or self.special
            or operation is operator.pow
            or abs(self.exponent) > _EXACT
        ):
            return Inexact._computed(self, operation, other, swapped)
        exact = operation(other, self.exact) if swapped else operation(self.exact, other)
        rounded = libmp.from_rational(exact.numerator, exact.denominator, self.precision, "n")
        return Real.of(mp.make_mpf(rounded), self.precision)

    def _pair(self, other: Any) -> tuple[Any, Any]:
        """The number and another one in a form in which they are compared exactly."""
        if isinstance(other, Expr):
            return sympify(self), other
        if isinstance(other, Fraction) and self.special in ("", "-0"):
            return self.exact, other
        return self.to_mpmath(), other

    __lt__, __le__ = _comparison(operator.lt), _comparison(operator.le)
    __gt__, __ge__ = _comparison(operator.gt), _comparison(operator.ge)

    def to_flint(self) -> Any:
        """The ball of radius 0 around it."""
        return flint.arb(self.special or (self.mantissa, self.exponent))

    def __float__(self) -> float:
        if self.special:
            return _SPECIAL[self.special]
        try:
            return float(self.exact)
        except OverflowError:
            return math.copysign(math.inf, self.mantissa)

    def __repr__(self) -> str:
        """The call that makes it."""
        if self.precision == 53 and Real.of(number := float(self)) == self:
            return (
                f"Real.of({number!r})" if math.isfinite(number) else f"Real.of(float('{number}'))"
            )
        special = f", special={self.special!r}" if self.special else ""
        return f"Real({self.mantissa}, {self.exponent}, precision={self.precision}{special})"

    def __str__(self) -> str:
        if self.special:
            return str(_SPECIAL[self.special])
        with workprec(self.precision):
            return str(nstr(self.to_mpmath(), int(libmp.prec_to_dps(self.precision))))


@dataclass(frozen=True, slots=True, eq=False)
class ComplexNumber(Inexact):
    """A complex number with its precision; it is computed with as :class:`Real`.

    Examples
    --------
    >>> print(ComplexNumber.of(1 + 2j))
    1.0 + 2.0*i
    >>> ComplexNumber.of(1 + 2j) * 1j == -2 + 1j
    True
    """

    real: Real
    imaginary: Real

    @classmethod
    def of(cls, number: complex, precision: int = 53) -> ComplexNumber:
        """A Python number as a complex number of this precision."""
        return cls(Real.of(number.real, precision), Real.of(number.imag, precision))

    @property
    def precision(self) -> int:
        """Bits."""
        return min(self.real.precision, self.imaginary.precision)

    def __repr__(self) -> str:
        """The call that makes it."""
        if self.real.precision == self.imaginary.precision == 53 and not (
            self.real.special or self.imaginary.special
        ):
            number = complex(self)
            if ComplexNumber.of(number) == self:
                # Python reads -1j as −(0 + 1j), whose real part is −0
                negated = number.real == 0 > number.imag
                value = f"complex(0, {number.imag!r})" if negated else repr(number)
                return f"ComplexNumber.of({value})"
        return f"ComplexNumber({self.real!r}, {self.imaginary!r})"

    @property
    def _mpc_(self) -> Any:
        return self.real._mpf_, self.imaginary._mpf_

    def _sympy_(self) -> Any:
        return self.real._sympy_() + self.imaginary._sympy_() * I

    def __complex__(self) -> complex:
        return complex(float(self.real), float(self.imaginary))

    def __str__(self) -> str:
        return f"{self.real} + {self.imaginary}*i"


@dataclass(frozen=True, slots=True, repr=False)
class RealInterval(AsCode):
    """A closed interval of real numbers, by its ends.

    Examples
    --------
    >>> half = RealInterval(Real.of(0.25), Real.of(0.5))
    >>> print(half)
    [0.25, 0.5]
    >>> half.to_flint().contains(Real.of(0.375).to_flint())
    True
    """

    left: Real
    right: Real

    @property
    def precision(self) -> int:
        """Bits."""
        return min(self.left.precision, self.right.precision)

    def to_flint(self) -> Any:
        """A ball that contains it."""
        return self.left.to_flint().union(self.right.to_flint())

    def __str__(self) -> str:
        return f"[{self.left}, {self.right}]"

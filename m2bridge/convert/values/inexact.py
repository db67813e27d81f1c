"""Real and complex numbers of limited precision, rounded as in Macaulay2, by mpmath; intervals.

They are computed with as numbers of Python, SymPy and mpmath are. They become balls of FLINT, but
balls never become numbers. Nothing is rounded unasked.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
from mpmath import libmp, mp, nstr, workprec
from sympy import Expr, Float, I

from m2bridge.algebra.modules import AsCode
from m2bridge.errors import ConversionError


def not_exact(value: str) -> ConversionError:
    """Return the error for a value, in words, that is not exact."""
    return ConversionError(
        f"{value}: not exact. Write fractions as fractions.Fraction or sympy.Rational; a number"
        " that is meant to be inexact as m2bridge.workspace.values.Real.of(number)"
    )


_DOUBLE_BITS = 53
"""Bits of a float."""
_SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan, "-0": -0.0}
"""Floats that are not a mantissa times a power of two, by their names."""

Operation = Callable[[Any, Any], Any]


def _operator_pair(operation: Operation) -> tuple[Operation, Operation]:
    """The methods for an operation with the number on the left, and with it on the right, such as
    ``__add__`` and ``__radd__``.
    """

    def on_the_left(self: Inexact, other: Any) -> Any:
        """``operation(self, other)``."""
        return self._compute(operation, other, swapped=False)

    def on_the_right(self: Inexact, other: Any) -> Any:
        """``operation(other, self)``."""
        return self._compute(operation, other, swapped=True)

    return on_the_left, on_the_right


class Inexact:
    """Numbers that are computed with as Macaulay2 does: rounded to nearest, in the lower of both
    precisions.

    Integers and fractions take part with the precision of the other number, floats with 53 bits.
    With an expression of SymPy, SymPy computes: it takes this number as a ``Float`` of the same
    precision. Zero has no sign in results, as in mpmath.
    """

    __slots__ = ()

    __add__, __radd__ = _operator_pair(operator.add)
    __sub__, __rsub__ = _operator_pair(operator.sub)
    __mul__, __rmul__ = _operator_pair(operator.mul)
    __truediv__, __rtruediv__ = _operator_pair(operator.truediv)
    __pow__, __rpow__ = _operator_pair(operator.pow)

    @property
    def precision(self) -> int:
        """The precision in bits; subclasses define it."""
        raise NotImplementedError

    def to_mpmath(self) -> Any:
        """The same number in mpmath, exactly."""
        return mp.mpmathify(self)  # by the attribute _mpf_ or _mpc_ of the subclass

    @property
    def _parts(self) -> Any:
        """Real and imaginary part, as tuples of mpmath, which are equal for equal numbers."""
        number = self.to_mpmath()
        return number.real._mpf_, number.imag._mpf_

    def __eq__(self, other: object) -> bool:
        """Whether it is the same number, whatever the precision; NaN is equal to NaN."""
        if isinstance(other, Expr):  # SymPy compares then
            return NotImplemented
        if isinstance(other, Inexact):
            return bool(self._parts == other._parts)
        if isinstance(other, Fraction):
            # Only a binary fraction can be equal. One more bit than its numerator has is enough to
            # convert it without rounding.
            bits = other.numerator.bit_length()
            return _is_binary(other) and bool(self.to_mpmath() == _to_mpmath(other, bits + 1))
        return bool(self.to_mpmath() == other)

    def __hash__(self) -> int:
        """Equal numbers have equal hashes, among them numbers of Python and of mpmath's ``mpf``."""
        return hash(self.to_mpmath())

    def __bool__(self) -> bool:
        return bool(self.to_mpmath() != 0)

    def __neg__(self) -> Any:
        return 0 - self

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        second_operand = 0  # which the absolute value does not use
        return self._compute(lambda number, _: abs(number), second_operand, swapped=False)

    def _compute(self, operation: Operation, other: Any, *, swapped: bool) -> Any:
        """``operation(self, other)``, or ``operation(other, self)`` if they are ``swapped``, in the
        lower of both precisions; ``NotImplemented`` if ``other`` is not a number of Python or this
        module.
        """
        if isinstance(other, float | complex):
            precision = min(self.precision, _DOUBLE_BITS)
        elif isinstance(other, Inexact):
            precision = min(self.precision, other.precision)
        elif isinstance(other, int | Fraction):
            precision = self.precision
        else:
            return NotImplemented
        with workprec(precision):
            left, right = self.to_mpmath(), _to_mpmath(other, precision)
            number = operation(right, left) if swapped else operation(left, right)
        kind = Real if hasattr(number, "_mpf_") else ComplexNumber
        return kind.of(number, precision)


def _is_binary(number: Fraction) -> bool:
    """Whether the denominator is a power of two."""
    return number.denominator & (number.denominator - 1) == 0


def _to_mpmath(number: Any, precision: int) -> Any:
    """A number in a form that mpmath computes with: an ``int`` as it is, a fraction rounded to
    ``precision`` bits, any other number exactly, as a number of mpmath.
    """
    if isinstance(number, Fraction):
        to_nearest = "n"
        return mp.make_mpf(
            libmp.from_rational(number.numerator, number.denominator, precision, to_nearest)
        )
    return number if isinstance(number, int) else mp.mpmathify(number)


def _comparison(operation: Operation) -> Operation:
    """The method of :class:`Real` for a comparison, such as ``__lt__`` for ``operator.lt``."""

    def compare(self: Real, other: Any) -> Any:
        """``operation(self, other)``, exactly; SymPy compares with its expressions."""
        if isinstance(other, Expr):
            return NotImplemented
        # mpmath would round the fraction before. So this number times the denominator, which is not
        # rounded, is compared with the numerator.
        if isinstance(other, Fraction):
            if self.special in ("", "-0"):  # finite
                scaled = libmp.mpf_mul(self._mpf_, libmp.from_int(other.denominator))
                order = libmp.mpf_cmp(scaled, libmp.from_int(other.numerator))  # −1, 0 or 1
                return operation(order, 0)
            other = 0  # infinities, and NaN, compare with all numbers as with this one
        return operation(self.to_mpmath(), other)

    return compare


@dataclass(frozen=True, slots=True, eq=False)
class Real(Inexact):
    """The mantissa times a power of two, with a precision in bits; infinities and NaN have a name
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
        """Make an even mantissa odd, so that each number is written in one way; ConversionError if
        it has more bits than the precision, or ``special`` is unknown.
        """
        # mpmath's form of the number: sign 0 or 1, an odd mantissa, or 0, and its number of bits
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
        if isinstance(number, float):
            special = str(number).removesuffix(".0")  # inf, -inf and nan have no .0; -0.0 has
            if special in _SPECIAL:
                return cls(0, 0, precision, special)
        if hasattr(number, "_mpf_"):  # a number of mpmath
            sign, mantissa, exponent, _ = number._mpf_  # sign is 0 or 1
            if not mantissa and exponent:  # mpmath's form of infinities and NaN
                return cls.of(float(number), precision)
            # the class refuses a mantissa with more bits than the precision
            return cls(int(-mantissa if sign else mantissa), int(exponent), precision)
        exact = Fraction(number)
        if not _is_binary(exact):
            raise ConversionError(
                f"{number} is not a binary fraction: it cannot be a real number without rounding"
            )
        exponent = 1 - exact.denominator.bit_length()  # the denominator is 2^(−exponent)
        return cls(exact.numerator, exponent, precision)

    @property
    def exact(self) -> Fraction:
        """The number as a fraction, 0 for −0; ConversionError for infinities and NaN."""
        if self.special in ("", "-0"):
            return self.mantissa * Fraction(2) ** self.exponent
        raise ConversionError(f"{self.special} is not a fraction")

    @property
    def _mpf_(self) -> Any:
        """The number as mpmath's tuple; an object with this attribute is a number for mpmath."""
        if self.special:
            return libmp.from_float(_SPECIAL[self.special])
        return libmp.from_man_exp(self.mantissa, self.exponent)

    def _sympy_(self) -> Any:
        """The number as SymPy takes it, a ``Float`` of the same precision."""
        return Float(self.to_mpmath(), precision=self.precision)

    def _compute(self, operation: Operation, other: Any, *, swapped: bool) -> Any:
        """As for all numbers; with a fraction exactly, and then rounded, as in Macaulay2."""
        # The fraction is rounded first for powers, whose exact value could have any size, for
        # infinities and NaN, and if this number would take much memory as a fraction.
        with_fraction = isinstance(other, Fraction) and operation is not operator.pow
        is_small_fraction = not self.special and abs(self.exponent) <= 10_000  # a few kilobytes
        if not with_fraction or not is_small_fraction:
            return Inexact._compute(self, operation, other, swapped=swapped)
        exact = operation(other, self.exact) if swapped else operation(self.exact, other)
        return Real.of(_to_mpmath(exact, self.precision), self.precision)

    __lt__, __le__ = _comparison(operator.lt), _comparison(operator.le)
    __gt__, __ge__ = _comparison(operator.gt), _comparison(operator.ge)

    def to_flint(self) -> Any:
        """The ball of radius 0 around the number, in FLINT; for NaN its NaN."""
        return flint.arb(self.special or (self.mantissa, self.exponent))

    def __float__(self) -> float:
        """The nearest float; an infinity beyond its range."""
        if self.special:
            return _SPECIAL[self.special]
        # the absolute value is less than 2^size, and at least half of that unless it is 0; far out
        # of the range of floats it would take much memory as a fraction
        size = self.exponent + self.mantissa.bit_length()
        if size > sys.float_info.max_exp:
            return math.copysign(math.inf, self.mantissa)
        if size < sys.float_info.min_exp - 2 * _DOUBLE_BITS:
            return math.copysign(0.0, self.mantissa)
        try:
            return float(self.exact)
        except OverflowError:
            return math.copysign(math.inf, self.mantissa)

    def __repr__(self) -> str:
        """The call that makes it."""
        number = float(self)
        is_float = self.precision == _DOUBLE_BITS and Real.of(number) == self
        if is_float and math.isfinite(number):
            return f"Real.of({number!r})"
        if is_float:
            return f"Real.of(float('{number}'))"
        special = f", special={self.special!r}" if self.special else ""
        return f"Real({self.mantissa}, {self.exponent}, precision={self.precision}{special})"

    def __str__(self) -> str:
        """The number with as many decimal digits as its precision determines."""
        if self.special:
            return str(_SPECIAL[self.special])
        with workprec(self.precision):
            digits = int(libmp.prec_to_dps(self.precision))
            return str(nstr(self.to_mpmath(), digits))


@dataclass(frozen=True, slots=True, eq=False)
class ComplexNumber(Inexact):
    """A complex number, by its real and imaginary part; it is computed with as :class:`Real`.

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
        """A Python number as a complex number of this precision.

        Raises
        ------
        ConversionError
            If a part takes more bits.
        """
        return cls(Real.of(number.real, precision), Real.of(number.imag, precision))

    @property
    def precision(self) -> int:
        """The lower precision of both parts, in bits."""
        return min(self.real.precision, self.imaginary.precision)

    def __repr__(self) -> str:
        """The call that makes it."""
        parts = self.real, self.imaginary
        if all(part.precision == _DOUBLE_BITS and not part.special for part in parts):
            number = complex(self)
            if ComplexNumber.of(number) == self:
                # Python reads -1j as −(0 + 1j), whose real part is −0: that text would make another
                # number.
                is_negative_imaginary = number.real == 0 > number.imag
                value = repr(number)
                if is_negative_imaginary:
                    value = f"complex(0, {number.imag!r})"
                return f"ComplexNumber.of({value})"
        return f"ComplexNumber({self.real!r}, {self.imaginary!r})"

    @property
    def _mpc_(self) -> Any:
        """The number as mpmath's pair of tuples, real and imaginary part, as in ``Real._mpf_``."""
        return self.real._mpf_, self.imaginary._mpf_

    def _sympy_(self) -> Any:
        """The number as SymPy takes it, with ``Float`` as real and imaginary part."""
        return self.real._sympy_() + self.imaginary._sympy_() * I

    def __hash__(self) -> int:
        """Equal numbers have equal hashes, among them :class:`Real` and numbers of Python.

        This is Python's formula for the hash of a complex number. mpmath computes a different
        number where a part is negative.
        """
        hash_of_parts = hash(self.real) + sys.hash_info.imag * hash(self.imaginary)
        # reduced to a signed integer of sys.hash_info.width bits
        sign_bit = 2 ** (sys.hash_info.width - 1)
        reduced = (hash_of_parts & (sign_bit - 1)) - (hash_of_parts & sign_bit)
        # for Python's C code -1 means an error, so that no value has this hash
        return -2 if reduced == -1 else reduced

    def __complex__(self) -> complex:
        return complex(float(self.real), float(self.imaginary))

    def __str__(self) -> str:
        return f"{self.real} + {self.imaginary}*i".replace("+ -", "- ")


@dataclass(frozen=True, slots=True, repr=False)
class RealInterval(AsCode):
    """A closed interval of real numbers, by its ends ``left`` and ``right``.

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
        """The lower precision of both ends, in bits."""
        return min(self.left.precision, self.right.precision)

    def to_flint(self) -> Any:
        """A ball of FLINT that contains the interval."""
        return self.left.to_flint().union(self.right.to_flint())

    def __str__(self) -> str:
        return f"[{self.left}, {self.right}]"

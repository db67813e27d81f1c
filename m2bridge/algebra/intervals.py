"""Numbers and matrices of intervals: lower bounds for ranks, signs of eigenvalues, digits.

An interval is an ``arb`` of FLINT, which contains the number that it stands for. What is said of a
matrix of intervals is proved for all matrices with entries in them. A ``CoordinateSide`` is an
interval by its two rational ends.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import ceil, inf, nextafter

import flint
import numpy

from m2bridge.algebra.numbers import flint_rational, fraction

FloatInterval = tuple[float, float]
CoordinateSide = tuple[Fraction, Fraction]
"""The side of a box in one coordinate: its lower and its upper end."""


def interval_of_ends(low: Fraction, high: Fraction) -> flint.arb:
    """An interval that contains all numbers from ``low`` to ``high``."""
    return flint.arb(flint_rational(low)).union(flint.arb(flint_rational(high)))


def ends(value: flint.arb) -> CoordinateSide:
    """The exact ends of an interval."""
    middle = fraction(value.mid().fmpq())
    radius = fraction(value.rad().fmpq())
    return middle - radius, middle + radius


def middle(side: CoordinateSide) -> Fraction:
    """The middle of an interval."""
    low, high = side
    return (low + high) / 2


def float_bounds(side: CoordinateSide) -> FloatInterval:
    """Floating-point numbers below and above an interval, equal ones if it is one such number; −∞
    and ∞ below and above all of them.
    """
    low, high = side
    return _float_below(low), -_float_below(-high)


def _float_below(number: Fraction) -> float:
    """The largest floating-point number that is at most a number."""
    try:
        nearest = float(number)
    except OverflowError:
        nearest = inf if number > 0 else -inf
    # ``float`` rounds to the nearest number, which may be larger
    return nextafter(nearest, -inf) if nearest > number else nearest


def digits_text(side: CoordinateSide, most_digits: int) -> str:
    """A number that is known to lie in an interval, in as many digits as the interval proves, at
    most ``most_digits``: all its numbers, rounded to these digits, are the one that is shown. Where
    the first digit or the sign is not known, both ends are shown.

    >>> digits_text((Fraction(31415, 10000), Fraction(31416, 10000)), 9)
    '3.142'
    >>> digits_text((Fraction(-1, 10), Fraction(1, 3)), 9)
    'from -0.1 to 0.34'
    """
    low, high = side
    for digits in range(most_digits, 0, -1):
        lower, upper = _rounded(low, Context(prec=digits)), _rounded(high, Context(prec=digits))
        if lower == upper:
            return _decimal_text(lower, digits)
    lower = _rounded(low, Context(prec=2, rounding=ROUND_FLOOR))
    upper = _rounded(high, Context(prec=2, rounding=ROUND_CEILING))
    return f"from {_decimal_text(lower, 2)} to {_decimal_text(upper, 2)}"


def rounded_up_text(number: Fraction) -> str:
    """The text of the least number of one digit that is at least a positive number."""
    return _decimal_text(_rounded(number, Context(prec=1, rounding=ROUND_CEILING)), 1)


def _rounded(number: Fraction, context: Context) -> Decimal:
    """The number in the digits of a context, rounded once."""
    return context.divide(Decimal(number.numerator), Decimal(number.denominator))


def _decimal_text(number: Decimal, digits: int) -> str:
    """The text of a number with this number of digits, as Python writes floating-point numbers."""
    # for these exponents of ten floating-point numbers have all their 15 digits
    if number == 0 or -300 <= number.adjusted() <= 300:
        return f"{float(number):.{digits}g}"
    return f"{number.normalize():e}"


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The rational number of the smallest denominator from ``low`` to ``high``, by continued
    fractions; of integers the one nearest to zero.

    >>> simplest_between(Fraction(333, 1000), Fraction(334, 1000))
    Fraction(1, 3)
    """
    if low <= 0 <= high:
        return Fraction(0)
    if high < 0:
        return -simplest_between(-high, -low)
    least_integer = ceil(low)
    if least_integer <= high:
        return Fraction(least_integer)
    # no integer lies in the interval, so both ends have the same integral part
    integral_part = least_integer - 1
    inverse_of_rest = simplest_between(1 / (high - integral_part), 1 / (low - integral_part))
    return integral_part + 1 / inverse_of_rest


def least_rank(matrix: flint.arb_mat | flint.acb_mat) -> int:
    """A lower bound for the rank of all matrices in a matrix of intervals, or of rectangles of
    complex numbers: the steps of elimination, each with the entry that is farthest from zero as its
    pivot.
    """
    rows = [list(row) for row in matrix.tolist()]
    rank = 0
    while True:
        place = None
        largest_distance = flint.arb(0)
        for i, row in enumerate(rows):
            for j, entry in enumerate(row):
                distance = abs(entry).lower()  # 0 if the interval contains zero
                if distance > largest_distance:
                    place = (i, j)
                    largest_distance = distance
        if place is None:  # all intervals contain zero
            return rank
        i, j = place
        pivot_row = rows.pop(i)
        for row in rows:
            factor = row[j] / pivot_row[j]
            for column in range(matrix.ncols()):
                row[column] -= factor * pivot_row[column]
            row[j] = flint.arb(0)  # exactly, as intervals only show that it contains zero
        rank += 1


def negative_eigenvalues(matrix: flint.arb_mat) -> int | None:
    """The number of negative eigenvalues of a symmetric matrix M of intervals; ``None`` if the
    eigenvalue zero is not excluded.

    With approximate eigenvectors as the columns of P, PᵀMP is nearly diagonal. If each of its
    diagonal entries is larger, in absolute value, than the sum of the absolute values of the others
    in its row, then no eigenvalue is zero, and their signs are the signs of the diagonal entries
    (Gershgorin). So P is invertible, and M has as many negative eigenvalues (Sylvester).
    """
    size = matrix.nrows()
    if size == 0:
        return 0
    middle = numpy.array([[float(matrix[i, j].mid()) for j in range(size)] for i in range(size)])
    if not numpy.isfinite(middle).all():
        return None
    _, eigenvectors = numpy.linalg.eigh((middle + middle.T) / 2)
    P = flint.arb_mat(size, size, [float(x) for x in eigenvectors.ravel()])
    product = P.transpose() * matrix * P
    negative = 0
    for i in range(size):
        others = [abs(product[i, j]) for j in range(size) if j != i]
        # a comparison of intervals is False also where it is not certain
        is_dominant = abs(product[i, i]) > sum(others, start=flint.arb(0))
        if not is_dominant:
            return None
        if product[i, i] < 0:
            negative += 1
    return negative


def shown_entry(entry: flint.arb) -> flint.arb:
    """The interval of an entry that is shown: zero if it contains zero, and is short."""
    is_short = entry.rad() <= flint.arb(2) ** -50
    return flint.arb(0) if entry.contains(0) and is_short else entry

"""Numbers: primes, fractions from their residues, rationals between Python, SymPy and FLINT."""

import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import isqrt, lcm
from typing import Any, TypeVar

import flint

MonomialT = TypeVar("MonomialT")

LARGE_PRIME = 2147483647
"""The Mersenne prime 2^31 − 1: the largest prime that both FLINT's word arithmetic and Macaulay2
take.
"""


def is_prime(n: int) -> bool:
    """Whether ``n`` is a prime number (proved, not probabilistic)."""
    return n > 1 and bool(flint.fmpz(n).is_prime())


def primes_from(largest: int, numbers: Collection[int] = ()) -> Iterator[int]:
    """Yield the primes from ``largest`` down to 2 that divide none of the numbers, such as
    denominators.
    """
    for candidate in range(largest, 1, -1):
        if is_prime(candidate) and all(n % candidate for n in numbers):
            yield candidate


def random_primes(bits: int, numbers: Collection[int] = ()) -> Iterator[int]:
    """Yield different primes of this many bits that divide none of ``numbers``, without end.

    They are drawn by the system's source of randomness: nobody can choose an input for which they
    are unlucky, as one can for primes that are known before. No number may be zero.
    """
    primes = set()
    while True:
        candidate = secrets.randbits(bits) | 1 << (bits - 1)  # the highest bit is 1
        if candidate in primes or not is_prime(candidate):
            continue
        primes.add(candidate)
        if all(n % candidate for n in numbers):
            yield candidate


def rational_reconstruction(residues: Sequence[int], modulus: int) -> tuple[int, list[int]]:
    """Rational numbers congruent to residues: a common denominator, and the numerators.

    The residues are from 0 to modulus − 1, and the modulus is odd. If some rational numbers have
    these residues, they are found if their numerators and their common denominator are small
    against the modulus; nothing is checked here.
    """
    denominator = 1
    for residue in residues:
        if residue > 1:  # 0 and 1 are integers
            # Times the denominator of the numbers before it, this number is a fraction with a
            # smaller denominator: the factor that the common one lacks.
            denominator *= rational_denominator(residue * denominator % modulus, modulus)
    half = modulus // 2
    # Adding half before the reduction, and taking it away after, gives numbers from −half to half.
    numerators = [(r * denominator + half) % modulus - half for r in residues]
    return denominator, numerators


def rational_denominator(residue: int, modulus: int) -> int:
    """The denominator b of the fraction a/b with |a|, b ≤ √(m/2) that is congruent to the residue,
    else 1.

    m is the odd modulus, and the residue from 0 to m − 1. There is at most one such fraction: for
    two of them, a/b and a′/b′, the number ab′ − a′b is divisible by m, and smaller.
    """
    bound = isqrt(modulus // 2)
    if residue <= bound or modulus - residue <= bound:  # an integer, a = residue or residue − m
        return 1
    # Euclid's algorithm: each remainder is congruent to its coefficient times the residue, so the
    # fraction remainder/coefficient is; the first remainder within the bound is the one to try.
    previous_remainder, remainder = modulus, residue
    previous_coefficient, coefficient = 0, 1
    while remainder > bound:
        quotient = previous_remainder // remainder
        previous_remainder, remainder = remainder, previous_remainder - quotient * remainder
        next_coefficient = previous_coefficient - quotient * coefficient
        previous_coefficient, coefficient = coefficient, next_coefficient
    if abs(coefficient) > bound:
        return 1
    return abs(coefficient)


def nearest_to_zero(number: int, modulus: int) -> int:
    """The congruent integer of least absolute value; of two the positive one."""
    residue = number % modulus
    return residue - modulus if 2 * residue > modulus else residue


def fraction(number: Any) -> Fraction:
    """Convert a rational number of Python, SymPy or FLINT to a fraction."""
    return Fraction(int(number.numerator), int(number.denominator))


def flint_rational(number: Any) -> flint.fmpq:
    """Convert a rational number of Python, SymPy or FLINT to FLINT's."""
    return flint.fmpq(int(number.numerator), int(number.denominator))


def without_denominators(numbers: Iterable[Any]) -> list[int]:
    """The rational numbers times the least common multiple of their denominators, as integers;
    residues of GF(p) become the integers that represent them.
    """
    rationals = list(numbers)
    if not all(hasattr(number, "denominator") for number in rationals):  # residues
        return list(map(int, rationals))
    scale = lcm(*[int(number.denominator) for number in rationals])
    return [int(number.numerator) * (scale // int(number.denominator)) for number in rationals]


def integer_coefficients(polynomial: Mapping[MonomialT, Any]) -> dict[MonomialT, int]:
    """A polynomial over QQ times the least common multiple of the denominators; over GF(p), the
    integers that represent the residues.
    """
    return dict(zip(polynomial, without_denominators(polynomial.values()), strict=True))

"""Numbers: primes, fractions that are known modulo a number, and rationals between Python, SymPy
and FLINT.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import isqrt, lcm, prod
from typing import Any, TypeVar

import flint

Key = TypeVar("Key")

LARGE_PRIME = 2147483647
"""The Mersenne prime 2^31 − 1: the largest prime that both FLINT's word arithmetic and Macaulay2
take.
"""


def is_prime(n: int) -> bool:
    """Whether ``n`` is a prime number (proved, not probabilistic)."""
    return n > 1 and bool(flint.fmpz(n).is_prime())


def primes_from(largest: int, numbers: Collection[int] = ()) -> Iterator[int]:
    """The primes from this one downwards that divide none of some numbers; where one is unlucky,
    the next is tried.
    """
    return (p for p in range(largest, 1, -1) if is_prime(p) and all(n % p for n in numbers))


def chinese_remainder(primes: Sequence[int]) -> tuple[int, list[int]]:
    """The product of different primes and, for each, a number that is 1 modulo this one and 0
    modulo the others.
    """
    modulus = prod(primes)
    return modulus, [modulus // p * pow(modulus // p, -1, p) for p in primes]


def rational_reconstruction(residues: Sequence[int], modulus: int) -> tuple[int, list[int]]:
    """A common denominator, and the integers closest to zero that are congruent to it times each
    residue.
    """
    denominator = 1
    for residue in residues:
        if residue > 1:
            denominator *= rational_denominator(residue * denominator % modulus, modulus)
    half = modulus // 2
    return denominator, [(r * denominator + half) % modulus - half if r else 0 for r in residues]


def rational_denominator(residue: int, modulus: int) -> int:
    """The denominator b ≤ √(p/2) of the fraction a/b, |a| ≤ √(p/2), congruent to the residue; 1 if
    none is.
    """
    bound = isqrt(modulus // 2)
    if residue <= bound or modulus - residue <= bound:
        return 1
    (r, s), (next_r, next_s) = (modulus, 0), (residue, 1)
    while next_r > bound:
        quotient = r // next_r
        (r, s), (next_r, next_s) = (next_r, next_s), (r - quotient * next_r, s - quotient * next_s)
    return abs(next_s) if abs(next_s) <= bound else 1


def fraction(number: Any) -> Fraction:
    """Convert a rational number of Python, SymPy or FLINT to a fraction."""
    return Fraction(int(number.numerator), int(number.denominator))


def flint_rational(number: Any) -> flint.fmpq:
    """Convert a rational number of Python, SymPy or FLINT to FLINT's."""
    return flint.fmpq(int(number.numerator), int(number.denominator))


def without_denominators(numbers: Iterable[Any]) -> list[int]:
    """Multiply rational numbers by the least common multiple of their denominators; residues are
    integers.
    """
    listed = [number if hasattr(number, "denominator") else int(number) for number in numbers]
    scale = lcm(*(int(number.denominator) for number in listed))
    return [int(number.numerator) * (scale // int(number.denominator)) for number in listed]


def integer_coefficients(polynomial: Mapping[Key, Any]) -> dict[Key, int]:
    """The least positive multiple of a polynomial over QQ with integer coefficients; over GF(p)
    with residues.
    """
    return dict(zip(polynomial, without_denominators(polynomial.values()), strict=True))

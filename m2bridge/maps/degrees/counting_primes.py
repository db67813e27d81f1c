"""Numbers that are counted modulo random primes: which primes, and when enough of them agree.

A count modulo one prime can be wrong, since the variety can change there; that of several random
primes is the count over QQ except with bad luck, and is not a proof.
"""

import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from m2bridge.algebra.numbers import random_primes
from m2bridge.engine.script import Script
from m2bridge.errors import MethodUnavailableError

PRIME_BITS = 15
"""Bits of the primes modulo which Macaulay2 counts points; those below 2^15 are the quickest."""
LONG_PRIME_BITS = 29
"""Bits of the primes for input with long coefficients; Macaulay2 accepts primes below 2^29."""
LONG_COEFFICIENTS = 1000
"""Bits of all coefficients together, from which longer primes are used.

Many of the 1612 primes of 15 bits could divide longer coefficients, or a discriminant.
"""
MIN_AGREEING_PRIMES = 2
"""The number of primes by which those that give the result must exceed those that give others."""
MAX_CHEAP_SECONDS = 2.0
"""If ``MIN_AGREEING_PRIMES`` primes take less time, a further prime must agree."""
MAX_COUNTING_PRIMES = 7
"""The largest number of primes that are tried."""
NUMBER_WORDS = ("no", "one", "two", "three", "four", "five")
"""Numbers of primes in words."""


def with_given_prime(script: Script, prime: int) -> Script:
    """Return the program with this prime as its modulus, and a seed for its random numbers."""
    return replace(script, given=(("givenPrime", prime), ("givenSeed", secrets.randbelow(2**31))))


def leading_primes(values: Mapping[int, object], lead: int) -> tuple[int, ...]:
    """Return the primes with the most frequent value, if they lead; else an empty tuple.

    Parameters
    ----------
    values : mapping from prime to value
        At least one; values are hashable, and only compared.
    lead : int
        The primes with the most frequent value lead if there are at least this many more of them
        than of all primes with other values.
    """
    primes_of: dict[object, list[int]] = {}
    for prime, value in values.items():
        primes_of.setdefault(value, []).append(prime)
    most_frequent = max(primes_of.values(), key=len)
    other_count = len(values) - len(most_frequent)
    if len(most_frequent) - other_count < lead:
        return ()
    return tuple(most_frequent)


def primes_for(
    polynomials: Iterable[Mapping[tuple[int, ...], int]], more: Collection[int] = ()
) -> Iterator[int]:
    """Return an endless iterator over random primes that divide no coefficient of the polynomials
    and no number in ``more``.

    Modulo a prime that divides a coefficient, the polynomials define a variety of another kind. The
    primes are longer where the coefficients are long.

    Parameters
    ----------
    polynomials : iterable of polynomials with integer coefficients
        Coefficients by exponents.
    more : collection of int
        Further numbers that no prime may divide; not zero.
    """
    numbers = set(more)
    for polynomial in polynomials:
        numbers.update(abs(int(c)) for c in polynomial.values())
    # short primes are quicker, but many of them may divide long coefficients
    has_long_coefficients = sum(map(int.bit_length, numbers)) > LONG_COEFFICIENTS
    return random_primes(LONG_PRIME_BITS if has_long_coefficients else PRIME_BITS, numbers)


def deciding_primes(
    values: Mapping[int, object], seconds: float, cheap_seconds: float = MAX_CHEAP_SECONDS
) -> tuple[int, ...]:
    """Return the primes whose value is the result; empty while further primes are needed.

    These must be two more than all primes with other values, or three more where primes are quick.

    Parameters
    ----------
    values : mapping from prime to value
        The values modulo the primes that were tried; they are only compared.
    seconds : float
        The time that all primes so far took.
    cheap_seconds : float
        If two or more primes took less than this time, one more prime has to agree.
    """
    is_cheap = len(values) >= MIN_AGREEING_PRIMES and seconds < cheap_seconds
    lead = MIN_AGREEING_PRIMES + 1 if is_cheap else MIN_AGREEING_PRIMES
    return leading_primes(values, lead)


def disagreement_error(primes: Iterable[int]) -> MethodUnavailableError:
    """Return the error for primes, all that were tried, of which too few give the same numbers."""
    primes_text = ", ".join(map(str, primes))
    return MethodUnavailableError(f"modulo the primes {primes_text} too few have the same numbers")


def modulo_primes(agreeing: Collection[int], tried: Iterable[int]) -> str:
    """Return in words that a number is known modulo these random primes.

    ``agreeing`` are the primes that gave it, and ``tried`` all that were tried.
    """
    plural_ending = "s" if len(agreeing) > 1 else ""
    text = f"modulo {NUMBER_WORDS[len(agreeing)]} random prime{plural_ending}"
    disagreeing = [str(prime) for prime in tried if prime not in agreeing]
    if disagreeing:
        text += f" (other numbers modulo {', '.join(disagreeing)})"
    return f"{text}; this is not a proof over QQ"

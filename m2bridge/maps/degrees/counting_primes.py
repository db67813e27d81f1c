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
"""The number of primes that must give equal numbers, and more than give any other numbers."""
MAX_CHEAP_SECONDS = 2.0
"""If these primes take less time, a further prime must agree."""
MAX_COUNTING_PRIMES = 7
"""The largest number of primes that are tried."""
COUNTS = ("no", "one", "two", "three", "four", "five")


def with_given_prime(script: Script, prime: int) -> Script:
    """Return the program with this prime and a random seed."""
    return replace(script, given=(("givenPrime", prime), ("givenSeed", secrets.randbelow(2**31))))


def leading(kinds: Mapping[int, object], lead: int) -> tuple[int, ...]:
    """Return the primes with the most frequent value, if ``lead`` more than all other primes."""
    alike: dict[object, list[int]] = {}
    for prime, kind in kinds.items():
        alike.setdefault(kind, []).append(prime)
    most = max(alike.values(), key=len)
    return tuple(most) if 2 * len(most) - len(kinds) >= lead else ()


def primes_for(
    polynomials: Iterable[Mapping[tuple[int, ...], int]], more: Collection[int] = ()
) -> Iterator[int]:
    """Random primes that divide no coefficient, and none of some more numbers.

    Modulo a prime that divides a coefficient, these are the polynomials of another variety.
    """
    numbers = {abs(int(c)) for polynomial in polynomials for c in polynomial.values()}
    numbers.update(more)
    # short primes are quicker, but many of them may divide long coefficients
    long = sum(map(int.bit_length, numbers)) > LONG_COEFFICIENTS
    return random_primes(LONG_PRIME_BITS if long else PRIME_BITS, numbers)


def deciding(
    kinds: Mapping[int, object], seconds: float, cheap: float = MAX_CHEAP_SECONDS
) -> tuple[int, ...]:
    """Return the primes whose value is the result; empty while further primes are needed.

    Parameters
    ----------
    kinds : mapping from prime to value
        The values modulo the primes that were tried; they are only compared.
    seconds : float
        The time that they took.
    cheap : float
        Where they took less than this time, one more prime is asked.
    """
    is_cheap = len(kinds) >= MIN_AGREEING_PRIMES and seconds < cheap
    return leading(kinds, MIN_AGREEING_PRIMES + is_cheap)


def too_few(primes: Iterable[int]) -> MethodUnavailableError:
    """Return the error for primes of which too few have equal numbers."""
    listed = ", ".join(map(str, primes))
    return MethodUnavailableError(f"modulo the primes {listed} too few have the same numbers")


def modulo_primes(agreeing: Collection[int], tried: Iterable[int]) -> str:
    """Return how a number is known that these primes gave, of all that were tried, in words."""
    text = f"modulo {COUNTS[len(agreeing)]} random prime{'s' * (len(agreeing) > 1)}"
    others = [str(prime) for prime in tried if prime not in agreeing]
    if others:
        text += f" (other numbers modulo {', '.join(others)})"
    return f"{text}; this is not a proof over QQ"

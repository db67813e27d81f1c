"""Numbers that are counted modulo random primes: which primes, and when enough of them agree.

A count modulo one prime can be wrong, since the variety can change there, for example from a conic
to two lines, even if the prime divides no coefficient; the count of several random primes is the
count over QQ except with bad luck, and is not a proof. The result is what at least two primes more
have than have other results, or three more where primes take little time.
"""

import secrets
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Generic, TypeVar

from m2bridge.algebra.numbers import random_primes
from m2bridge.engine.script import Script
from m2bridge.errors import MemoryLimitError, MethodUnavailableError, TimeLimitError
from m2bridge.limits import clock

PRIME_BITS = 15
"""Bits of the primes modulo which Macaulay2 counts points; those below 2^15 are the quickest."""
LONG_PRIME_BITS = 29
"""Bits of the primes for very long coefficients; Macaulay2 accepts primes below 2^29."""
MIN_AGREEING_PRIMES = 2
"""The number of primes by which those that give the result must exceed those that give others."""
MAX_CHEAP_SECONDS = 2.0
"""If ``MIN_AGREEING_PRIMES`` primes take less time, a further prime must agree."""
NUMBER_WORDS = ("no", "one", "two", "three", "four", "five")
"""Numbers of primes in words."""

OutcomeT = TypeVar("OutcomeT")


def primes_for(
    polynomials: Iterable[Mapping[tuple[int, ...], int]], more: Collection[int] = ()
) -> Iterator[int]:
    """Return an endless iterator over random primes that divide no coefficient of the polynomials,
    given as {exponents: coefficient}, and no number in ``more``; zero is not in it.

    Modulo a prime that divides a coefficient, the polynomials define a variety of another kind.
    """
    numbers = set(more)
    for polynomial in polynomials:
        numbers.update(abs(int(c)) for c in polynomial.values())
    # short primes are quicker, but many of the 1612 primes of 15 bits, or of the 3030 primes of 16
    # bits, could divide long coefficients, or a discriminant
    length = sum(map(int.bit_length, numbers))
    bits = PRIME_BITS
    if length > 1000:
        bits = 16  # of the longest primes modulo which Macaulay2's F4 is as quick
    if length > 2000:
        bits = LONG_PRIME_BITS
    return random_primes(bits, numbers)


def with_given_prime(script: Script, prime: int) -> Script:
    """Return the program with this prime as its modulus, and a seed for its random numbers."""
    return replace(script, given=(("givenPrime", prime), ("givenSeed", secrets.randbelow(2**31))))


@dataclass(frozen=True, slots=True)
class Outcomes(Generic[OutcomeT]):
    """The outcomes modulo the primes that were tried, and the primes whose outcome is the result:
    none where a limit was reached before enough of them agreed.
    """

    by_prime: dict[int, OutcomeT]
    agreeing: tuple[int, ...]
    limit: TimeLimitError | MemoryLimitError | None = None


def count_modulo_primes(
    outcome_modulo: Callable[[int], OutcomeT],
    primes: Iterator[int],
    *,
    value: Callable[[OutcomeT], Hashable],
    cheap_seconds: float = MAX_CHEAP_SECONDS,
) -> Outcomes[OutcomeT]:
    """Count modulo primes until enough of them agree in the value of their outcomes, or a limit is
    reached; MethodUnavailableError if too few agree.
    """
    outcomes: dict[int, OutcomeT] = {}
    values: dict[int, Hashable] = {}
    begin = clock().seconds
    for prime in islice(primes, 7):
        try:
            outcomes[prime] = outcome_modulo(prime)
        except (TimeLimitError, MemoryLimitError) as limit:
            return Outcomes(outcomes, leading_primes(values, MIN_AGREEING_PRIMES), limit)
        values[prime] = value(outcomes[prime])
        is_cheap = clock().seconds - begin < cheap_seconds and len(values) >= MIN_AGREEING_PRIMES
        agreeing = leading_primes(values, MIN_AGREEING_PRIMES + is_cheap)
        if agreeing:
            return Outcomes(outcomes, agreeing)
    raise disagreement_error(outcomes)


def leading_primes(values: Mapping[int, object], lead: int) -> tuple[int, ...]:
    """Return the primes with the most frequent value, if at least ``lead`` more have it than have
    other values; else an empty tuple.
    """
    primes_of: dict[object, list[int]] = {}
    for prime, value in values.items():
        primes_of.setdefault(value, []).append(prime)
    most_frequent = max(primes_of.values(), key=len, default=[])
    other_count = len(values) - len(most_frequent)
    if len(most_frequent) - other_count < lead:
        return ()
    return tuple(most_frequent)


def disagreement_error(primes: Iterable[int]) -> MethodUnavailableError:
    """Return the error for primes, all that were tried, of which too few give the same numbers."""
    primes_text = ", ".join(map(str, primes))
    return MethodUnavailableError(f"modulo the primes {primes_text} too few have the same numbers")


def modulo_primes(agreeing: Collection[int], tried: Iterable[int]) -> str:
    """Return in words that a number is known modulo the random primes that gave it."""
    plural_ending = "s" if len(agreeing) > 1 else ""
    text = f"modulo {NUMBER_WORDS[len(agreeing)]} random prime{plural_ending}"
    disagreeing = [str(prime) for prime in tried if prime not in agreeing]
    if disagreeing:
        text += f" (other numbers modulo {', '.join(disagreeing)})"
    return f"{text}; this is not a proof over QQ"

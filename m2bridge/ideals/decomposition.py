"""Radicals, minimal and associated primes, primary decompositions: over the field of the ring."""

from __future__ import annotations

from collections.abc import Iterable

from m2bridge.algebra.ring import Ideal
from m2bridge.convert.notation import polynomial_text
from m2bridge.engine import Engine
from m2bridge.ideals.program import ask, tidy


def radical(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> Ideal:
    """The radical."""
    return tidy(ask("ideal_radical", {"givenIdeal": ideal}, engine, timeout).ideal("radical"))


def minimal_primes(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> tuple[Ideal, ...]:
    """The minimal primes."""
    return ordered(ask("ideal_minimal_primes", {"givenIdeal": ideal}, engine, timeout).ideals("minimal_primes"))


def primary_decomposition(
    ideal: Ideal, engine: Engine | None = None, timeout: float | None = None
) -> tuple[Ideal, ...]:
    """Primary ideals with this intersection."""
    return ordered(ask("ideal_primary_decomposition", {"givenIdeal": ideal}, engine, timeout).ideals("components"))


def associated_primes(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> tuple[Ideal, ...]:
    """The associated primes."""
    return ordered(ask("ideal_associated_primes", {"givenIdeal": ideal}, engine, timeout).ideals("associated_primes"))


def is_prime(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> bool:
    """Whether the ideal is prime."""
    return ask("ideal_is_prime", {"givenIdeal": ideal}, engine, timeout).boolean("prime")


def is_radical(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> bool:
    """Whether the ideal is its own radical."""
    return ask("ideal_is_radical", {"givenIdeal": ideal}, engine, timeout).boolean("radical")


def ordered(ideals: Iterable[Ideal]) -> tuple[Ideal, ...]:
    """The ideals in the same order in all versions of Macaulay2."""
    return tuple(sorted(map(tidy, ideals), key=order))


def order(ideal: Ideal) -> tuple[int, list[str]]:
    """A key by which ideals are sorted: the number and the text of their generators."""
    return len(ideal.generators), [*map(polynomial_text, ideal.generators)]

"""A second order of the variables, where a computation takes long in the first one.

Decompositions depend on Gröbner bases, which can take a fraction of a second in one order of the
variables and no end in another, and which one is not seen from the ideal. So both have their turns,
each time for longer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace

from m2bridge.algebra.ring import GeneratingSet, PolynomialRing
from m2bridge.errors import TimeLimitError
from m2bridge.limits import clock, limited

FIRST_SECONDS = 5.0
"""The time for each order at first."""
GROWTH = 4
"""How many times as long each later attempt takes."""

Decompose = Callable[[GeneratingSet], Iterable[GeneratingSet]]


def in_either_order(ideal: GeneratingSet, decompose: Decompose) -> tuple[GeneratingSet, ...]:
    """Return the ideals into which an ideal is decomposed, in its ring.

    Parameters
    ----------
    ideal : GeneratingSet
    decompose : function
        Its result depends on the order of the variables by generators only.

    Raises
    ------
    TimeLimitError, MemoryLimitError
        If the limit was reached, in the order whose turn it was.
    """
    reverse = replace(ideal.ring, variables=ideal.ring.variables[::-1])

    def as_given() -> tuple[GeneratingSet, ...]:
        return tuple(decompose(ideal))

    def reversed_() -> tuple[GeneratingSet, ...]:
        found = decompose(_carried(ideal, reverse))
        return tuple(_carried(part, ideal.ring) for part in found)

    if reverse == ideal.ring:
        return as_given()
    seconds = FIRST_SECONDS
    # one of the two orders has at least a quarter of all the time that was spent
    while True:
        for attempt in (as_given, reversed_):
            remaining = clock().remaining
            if remaining is not None and remaining <= seconds:
                return attempt()
            with suppress(TimeLimitError), limited(seconds):
                return attempt()
        seconds *= GROWTH


def _carried(ideal: GeneratingSet, ring: PolynomialRing) -> GeneratingSet:
    """The ideal in a ring that has the same variables."""
    generators = (generator.set_ring(ring.sympy_ring) for generator in ideal.generators)
    return GeneratingSet(ring, tuple(generators))

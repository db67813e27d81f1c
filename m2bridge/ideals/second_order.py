"""A second order of the variables, where a computation takes long in the first one.

Decompositions depend on Gröbner bases, which can take a fraction of a second in one order of the
variables and may not finish in a different one; the ideal does not show which. So both orders have
their turns, each time for longer. An order has a further turn only if that takes at least twice as
long as its turn before; otherwise the turn of the other order takes the rest of the time. So each
order has at least an eighth of a limit of six seconds or more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from m2bridge.algebra.ring import GeneratingSet, PolynomialRing
from m2bridge.errors import MemoryLimitError, TimeLimitError
from m2bridge.limits import clock, limited

FIRST_SECONDS = 5.0
"""The time for each order at first."""
GROWTH = 4
"""How many times as long each later attempt takes."""

Decompose = Callable[[GeneratingSet], Iterable[GeneratingSet]]
Attempt = Callable[[], tuple[GeneratingSet, ...]]


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
        If the limit was reached, in the order whose turn it was last; that of memory in one order
        leaves the rest of the time to the other one.
    """
    reverse = replace(ideal.ring, variables=ideal.ring.variables[::-1])

    def as_given() -> tuple[GeneratingSet, ...]:
        return tuple(decompose(ideal))

    def reversed_() -> tuple[GeneratingSet, ...]:
        found = decompose(_carried(ideal, reverse))
        return tuple(_carried(part, ideal.ring) for part in found)

    if reverse == ideal.ring:
        return as_given()
    return _by_turns(as_given, reversed_)


def _by_turns(first: Attempt, second: Attempt) -> tuple[GeneratingSet, ...]:
    seconds = FIRST_SECONDS
    before = 0.0  # the time of the turn before, which the other order had
    while True:
        for attempt, other in ((first, second), (second, first)):
            remaining = clock().remaining
            is_last = remaining is not None and remaining - seconds <= 2 * before
            try:
                with limited(None if is_last else seconds):
                    return attempt()
            except TimeLimitError:
                if is_last:
                    raise
            except MemoryLimitError:  # more time would not help this order
                return other()
            before = seconds
        seconds *= GROWTH


def _carried(ideal: GeneratingSet, ring: PolynomialRing) -> GeneratingSet:
    """The ideal in a ring that has the same variables."""
    generators = (generator.set_ring(ring.sympy_ring) for generator in ideal.generators)
    return GeneratingSet(ring, tuple(generators))

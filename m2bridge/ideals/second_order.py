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

Decompose = Callable[[GeneratingSet], Iterable[GeneratingSet]]
"""A decomposition of an ideal into ideals of its ring."""
Attempt = Callable[[], tuple[GeneratingSet, ...]]
"""A decomposition of a certain ideal in one order of the variables."""


def decompose_in_either_order(
    ideal: GeneratingSet, decompose: Decompose
) -> tuple[GeneratingSet, ...]:
    """Return the ideals into which ``decompose`` decomposes an ideal, in its ring, with the
    variables in their order and in reverse order by turns. Where one order reaches the limit of
    memory, the other one has the rest of the time; a limit that ends the last turn is raised.
    """
    reverse = replace(ideal.ring, variables=ideal.ring.variables[::-1])

    def in_given_order() -> tuple[GeneratingSet, ...]:
        """The decomposition in the ideal's own ring."""
        return tuple(decompose(ideal))

    def in_reverse_order() -> tuple[GeneratingSet, ...]:
        """The decomposition in the ring with reversed variables, carried back."""
        parts = decompose(_with_variable_order(ideal, reverse))
        return tuple(_with_variable_order(part, ideal.ring) for part in parts)

    if reverse == ideal.ring:  # at most one variable
        return in_given_order()
    return _by_turns(in_given_order, in_reverse_order)


def _by_turns(first: Attempt, second: Attempt) -> tuple[GeneratingSet, ...]:
    """The result of the attempt that finishes first: both have a turn of five seconds,
    then one four times as long, and so on, and start again in each. The last turn takes all the
    time that is left.
    """
    turn_seconds = 5.0
    previous_seconds = 0.0  # the length of the turn before, which the other attempt had
    while True:
        for attempt, other in ((first, second), (second, first)):
            seconds_left = clock().remaining  # None without a limit
            # The other attempt has its next turn after this one. It is worthwhile only if more than
            # twice the time of its turn before is left for it then; else this turn takes all.
            is_last = (
                seconds_left is not None and seconds_left - turn_seconds <= 2 * previous_seconds
            )
            try:
                with limited(None if is_last else turn_seconds):  # None adds no limit
                    return attempt()
            except TimeLimitError as late:
                if is_last:
                    raise
                # The limit of the session for each run ended this turn, and will end all later
                # ones: more time would not help this attempt.
                if late.of_session:
                    return other()
            except MemoryLimitError:  # more time would not help this attempt
                return other()
            previous_seconds = turn_seconds
        turn_seconds *= 4


def _with_variable_order(ideal: GeneratingSet, ring: PolynomialRing) -> GeneratingSet:
    """The ideal in a ring that has the same variables in another order."""
    generators = (generator.set_ring(ring.sympy_ring) for generator in ideal.generators)
    return GeneratingSet(ring, tuple(generators))

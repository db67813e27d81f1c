"""Containment and equality of ideals, whatever generators they are given by."""

from __future__ import annotations

from m2bridge.algebra.ring import Ideal
from m2bridge.engine import Engine
from m2bridge.ideals.arithmetic import add
from m2bridge.ideals.construct import element
from m2bridge.ideals.program import ask, check_ideal, check_one_ring
from m2bridge.ideals.small_basis import small_basis


def contains(ideal: Ideal, other: object, engine: Engine | None = None, timeout: float | None = None) -> bool:
    """Whether a polynomial, or all of another ideal, lies in the ideal."""
    given = other if isinstance(other, Ideal) else principal(ideal, other)
    check_one_ring(ideal, given)
    if {g.monic() for g in given.generators} <= {g.monic() for g in ideal.generators}:
        return True
    if engine is None and (basis := small_basis(ideal)) is not None:
        larger = small_basis(add(ideal, given))
        if larger is not None:
            return basis == larger
    return ask("ideal_containment", {"givenIdeal": ideal, "otherIdeal": given}, engine, timeout).boolean("contains")


def equals(first: Ideal, second: Ideal, engine: Engine | None = None, timeout: float | None = None) -> bool:
    """Whether two ideals are the same ideal of the same ring."""
    check_ideal(second)
    if first.ring != second.ring:
        return False
    if {g.monic() for g in first.generators} == {g.monic() for g in second.generators}:
        return True
    if engine is None and (basis := small_basis(first)) is not None:
        other = small_basis(second)
        if other is not None:
            return basis == other
    return ask("ideal_equality", {"givenIdeal": first, "otherIdeal": second}, engine, timeout).boolean("equal")


def principal(ideal: Ideal, given: object) -> Ideal:
    """The ideal that one polynomial generates in the ring of an ideal."""
    generator = element(ideal.ring, given)
    return Ideal(ideal.ring, (generator,) if generator else ())

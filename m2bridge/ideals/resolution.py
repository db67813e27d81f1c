"""Free resolutions of the quotient by an ideal, and their Betti numbers."""

from __future__ import annotations

from itertools import pairwise

from m2bridge.algebra.ring import Ideal, is_homogeneous
from m2bridge.engine import Engine
from m2bridge.errors import MethodUnavailableError
from m2bridge.ideals.program import ask
from m2bridge.values import BettiTable, Complex, Matrix, Module


def resolution(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> Complex:
    """A free resolution of the quotient; the minimal one where the ideal is homogeneous."""
    answer = ask("ideal_resolution", {"givenIdeal": ideal}, engine, timeout)
    modules = [Module(ideal.ring, tuple((j,) for j in degrees)) for degrees in answer.integer_lists("degrees")]
    differentials = [
        Matrix(target, source, tuple(map(tuple, rows)), (0,))
        for (target, source), rows in zip(pairwise(modules), answer.lists("differentials"), strict=True)
    ]
    return Complex(ideal.ring, 0, tuple(modules), tuple(differentials))


def betti_table(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> BettiTable:
    """The graded Betti numbers of the quotient by a homogeneous ideal.

    Raises
    ------
    MethodUnavailableError
        If a generator is not homogeneous.
    """
    if not all(map(is_homogeneous, ideal.generators)):
        raise MethodUnavailableError("Betti numbers are for homogeneous ideals: this one has other generators")
    listed = ask("ideal_betti_table", {"givenIdeal": ideal}, engine, timeout).integer_lists("betti_numbers")
    return BettiTable(tuple(((i, (j,), j), count) for i, j, count in sorted(listed)))

"""Free resolutions of the quotient by an ideal, and their Betti numbers."""

from __future__ import annotations

from dataclasses import dataclass

from m2bridge.algebra.betti_table import BettiTable
from m2bridge.algebra.ring import Ideal, is_homogeneous
from m2bridge.convert.wire import PolynomialMatrix
from m2bridge.engine import Engine
from m2bridge.errors import MethodUnavailableError
from m2bridge.ideals.program import ask


@dataclass(frozen=True, slots=True)
class FreeResolution:
    """A resolution of a module by free modules F_0 ← F_1 ← … of a polynomial ring.

    Parameters
    ----------
    degrees : tuple of tuples of int
        The degrees of the generators of each module.
    maps : tuple of PolynomialMatrix
        The map from F_i to F_(i − 1) for i = 1, 2, …; its columns are the images of the generators.

    Examples
    --------
    >>> ideal("x", "y").resolution().maps[1].rows
    ((-y,), (x,))
    """

    degrees: tuple[tuple[int, ...], ...]
    maps: tuple[PolynomialMatrix, ...]

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks of the modules."""
        return tuple(map(len, self.degrees))


def resolution(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> FreeResolution:
    """A free resolution of the quotient; the minimal one where the ideal is homogeneous."""
    answer = ask("ideal_resolution", {"givenIdeal": ideal}, engine, timeout)
    return FreeResolution(
        tuple(map(tuple, answer.integer_lists("degrees"))),
        tuple(answer.matrices("matrices")),
    )


def betti_table(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> BettiTable:
    """The graded Betti numbers of the quotient by a homogeneous ideal.

    Raises
    ------
    MethodUnavailableError
        If a generator is not homogeneous.
    """
    if not all(map(is_homogeneous, ideal.generators)):
        raise MethodUnavailableError("Betti numbers are for homogeneous ideals: this one has other generators")
    answer = ask("ideal_betti_table", {"givenIdeal": ideal}, engine, timeout)
    return BettiTable(tuple(sorted((i, j, count) for i, j, count in answer.integer_lists("betti_numbers"))))

"""A smaller map whose ideal decides how far the ideal of a closure has to be computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from m2bridge.implicitization.multigraded_map import MultigradedMap


@dataclass(frozen=True, slots=True)
class Core:
    """A map of the same kind with fewer coordinates, and a bound on the degrees of its generators.

    Let I be the ideal of the closure and C that of the core's. The family vouches for this, by proofs in its
    documentation:

    * If C is generated in degrees ≤ N and N ≥ ``least_degree``, then I is generated in degrees ≤ N.
    * The Hilbert function of the core is at most ``sections``. If both agree in degree ``bound`` − 1, they agree in all
      higher ones, and C is generated in degrees ≤ ``bound``.
    * If there is a minimal generator of degree n, there is one of the weight of ``balanced(n)``.
    * If the Hilbert function of the core is ``sections`` in a degree, that of the closure is ``whole_sections`` there.

    Parameters
    ----------
    name : str
        In words, for people.
    source : MultigradedMap
    bound : int
    sections : callable
        The number of independent sections of degree n over the image of the core.
    balanced : callable
        A monomial of degree n: the numbers of its coordinates.
    least_degree : int
    whole_sections : callable
        The same for the closure.
    dimension : int
        Of the closure, as a cone; in degrees n ≥ 1 ``whole_sections`` is a polynomial of this degree less one.
    """

    name: str
    source: MultigradedMap
    bound: int
    sections: Callable[[int], int]
    balanced: Callable[[int], tuple[int, ...]]
    least_degree: int
    whole_sections: Callable[[int], int]
    dimension: int

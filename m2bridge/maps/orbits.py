"""The orbits of a group on the image: what methods find out about each, and how two methods are compared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from m2bridge.errors import ContradictionError

if TYPE_CHECKING:
    from m2bridge.algebra.polynomial_map import PolynomialMap
    from m2bridge.algebra.ring import GeneratingSet
    from m2bridge.engine import Engine
    from m2bridge.ideals.ideal import Ideal


class NamedOrbit(Protocol):
    """An orbit with its place in tables and in JSON; hashable and ordered."""

    HEADER: ClassVar[tuple[str, ...]]
    LEGEND: ClassVar[str]

    @property
    def cells(self) -> tuple[int, ...]:
        """Under the header."""
        ...

    def to_json(self) -> dict[str, int]:
        """A dictionary for ``json.dumps``."""
        ...


ZERO = "the zero function"
ORIGIN = "the origin"
"""The same point, where coordinates are not those of a function."""


@dataclass(frozen=True, slots=True)
class OrbitStatus:
    """One orbit of points of the image.

    Parameters
    ----------
    orbit : an orbit of the family, see :class:`~m2bridge.maps.orbits.NamedOrbit`
    dimension : int
        Of the orbit, in function space (affine).
    tangent_dimension : int or None
        Affine Zariski tangent dimension of the closure at the orbit, where it was computed.
    singular : bool or None
        ``None`` where it is undecided.
    tangent_bound, tangent_upper_bound : int or None
        Lower and upper bound for the tangent dimension, where it is not known.

    Examples
    --------
    >>> status = OrbitStatus("rank one", dimension=4, tangent_dimension=None, singular=True, tangent_bound=6)
    >>> status.tangent_range
    (6, inf)
    """

    orbit: Any
    dimension: int
    tangent_dimension: int | None
    singular: bool | None
    tangent_bound: int | None = None
    tangent_upper_bound: int | None = None

    @property
    def tangent_range(self) -> tuple[int, float]:
        """The least and the largest value that the tangent dimension can have."""
        if self.tangent_dimension is not None:
            return self.tangent_dimension, self.tangent_dimension
        upper = self.tangent_upper_bound
        return self.tangent_bound or 0, inf if upper is None else upper


@dataclass(frozen=True, slots=True)
class Component:
    """An irreducible component of the singular locus.

    Parameters
    ----------
    description : str
        In words: an orbit closure or the zero function; of a general map, the origin, points, or its dimension.
    orbit : an orbit of the family, or None
        The orbit whose closure it is.
    dimension : int
        Affine.
    degree : int or None
    ideal : Ideal or None
        Where it was computed.

    Examples
    --------
    >>> from sympy import symbols
    >>> u, v = symbols("u v")
    >>> umbrella = PolynomialMap.from_expressions([u, v], {"x": u * v, "y": u, "z": v**2})
    >>> for component in singular_locus(umbrella).components:
    ...     print(component.dimension, component.degree, component.ideal.generators)
    1 1 (y, x)
    """

    description: str
    orbit: Any | None
    dimension: int
    degree: int | None
    ideal: Ideal | None = None

    def without_ideal(self) -> Component:
        """The component without its equations."""
        return replace(self, ideal=None)


Components = tuple[Component, ...]


@dataclass(frozen=True, slots=True)
class LocusFindings:
    """The findings of one method.

    Parameters
    ----------
    method : str
    dimension : int or None
        Of the variety itself (affine).
    statuses : tuple of OrbitStatus
        Empty for methods that do not look at orbits; perhaps not all orbits if the method is ``unfinished``.
    components : tuple of Component or None
        ``None`` if the method did not finish or left orbits undecided.
    unfinished : str
        The limit that was reached, or the orbits that are undecided, or empty.
    uses_engine : bool
    """

    method: str
    dimension: int | None
    statuses: tuple[OrbitStatus, ...]
    components: Components | None
    unfinished: str = ""
    uses_engine: bool = True


def compare(first: LocusFindings, second: LocusFindings) -> None:
    """Hold two methods against each other, in what both found.

    Raises
    ------
    ContradictionError
        If an orbit is singular by one and smooth by the other, no tangent dimension is within the bounds of both, or
        the components differ in orbit, dimension or degree.
    """
    statuses = {status.orbit: status for status in second.statuses}
    for one in first.statuses:
        other = statuses.get(one.orbit)
        if other is not None and not _agree(one, other):
            raise ContradictionError(f"by {first.method} {one}, by {second.method} {other}")
    if first.components is None or second.components is None:
        return
    left, right = ({(c.orbit, c.dimension): c.degree for c in f.components or ()} for f in (first, second))
    known = [(left[key], right[key]) for key in left.keys() & right.keys()]
    if left.keys() != right.keys() or any(a != b for a, b in known if a is not None and b is not None):
        raise ContradictionError(
            f"components of the singular locus by {first.method}: {first.components}; by {second.method}: "
            f"{second.components}"
        )


def _agree(one: OrbitStatus, other: OrbitStatus) -> bool:
    lowers, uppers = zip(one.tangent_range, other.tangent_range, strict=True)
    return {one.singular, other.singular} != {True, False} and max(lowers) <= min(uppers)


class OrbitMethods(Protocol):
    """The ways to find the singular locus orbit by orbit; tangent spaces and fibres are alike on an orbit."""

    def by_fibres(self, engine: Engine) -> LocusFindings:
        """Return findings from the fibre of the parametrization over one point of each orbit."""
        ...

    def by_bounds(self) -> LocusFindings:
        """Return findings from tangent vectors and equations of low degree at one point of each orbit, over QQ."""
        ...

    def by_orbits(self, ideal: GeneratingSet, dimension: int) -> LocusFindings:
        """Return findings by the Jacobian criterion at one point of each orbit, from the whole ideal."""
        ...

    @property
    def independent_count(self) -> int:
        """The number of linearly independent coordinates."""
        ...

    def orbit_closure(self, orbit: Any) -> PolynomialMap:
        """A parametrization of the Zariski closure of an orbit."""
        ...

    def identify(self, prime: GeneratingSet, dimension: int) -> Any | None:
        """The orbit whose closure is the variety of a prime ideal of this dimension, if there is one."""
        ...

    def zero_tangent_dimension(self) -> int:
        """Tangent dimension of the closure at zero."""
        ...

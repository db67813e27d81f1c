"""Orbits on the image and their status: the findings of one method about the singular locus.

The orbits are orbits of a group that acts on the closure, so that either all points of an orbit are
smooth or all are singular. The status of an orbit is that, with bounds for the dimension of the
tangent spaces at its points; dimensions are affine. Orbits are hashable and ordered, by each
family. What several methods find of the singular locus is compared by :func:`compare`. A method
finished if its ``components`` are not ``None``; else ``unfinished`` is the limit that was reached,
or the orbits that are undecided.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Protocol

from m2bridge.errors import ContradictionError
from m2bridge.results.known import Bounds, bounds_agree, intersect_bounds
from m2bridge.results.sheet import enumeration

if TYPE_CHECKING:
    from m2bridge.algebra.polynomial_map import PolynomialMap
    from m2bridge.algebra.ring import GeneratingSet
    from m2bridge.ideals.ideal import Ideal


ZERO = "the zero function"
"""The description of the point zero among functions."""
ORIGIN = "the origin"
"""The zero point of a map whose coordinates are not coefficients of functions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrbitStatus:
    """The status of one orbit of points of the image: smooth, singular or undecided.

    Parameters
    ----------
    orbit : an orbit of the family
        Hashable and ordered, with ``cells`` for tables under ``HEADER`` and ``LEGEND``, and
        ``to_json()``.
    dimension : int
        Affine dimension of the orbit in function space.
    tangent : Bounds
        Affine Zariski tangent dimension of the closure at the orbit.
    singular : bool or None
        ``None`` where it is undecided.

    Examples
    --------
    >>> from m2bridge.results.known import Bounds
    >>> status = OrbitStatus(
    ...     orbit="rank one", dimension=4, tangent=Bounds.at_least(6), singular=True
    ... )
    >>> status.tangent_dimension, status.tangent_range
    (None, (6, inf))
    """

    orbit: Any
    dimension: int
    tangent: Bounds
    singular: bool | None

    @property
    def tangent_dimension(self) -> int | None:
        """The tangent dimension; ``None`` where its bounds differ or are not known."""
        return self.tangent.exact

    @property
    def tangent_bound(self) -> int | None:
        """The lower bound for the tangent dimension; ``None`` if none is known."""
        return self.tangent.lower

    @property
    def tangent_upper_bound(self) -> int | None:
        """The upper bound for the tangent dimension; ``None`` if none is known."""
        return self.tangent.upper

    @property
    def tangent_range(self) -> tuple[int, float]:
        """The bounds (lower, upper) for the tangent dimension; 0 and ∞ where they are unknown."""
        return self.tangent.lower or 0, self.tangent.most

    def to_json(self) -> dict[str, Any]:
        """Return the fields of the orbit, its dimension and its status, for ``json.dumps``."""
        return {
            **self.orbit.to_json(),
            "dimension": self.dimension,
            **self.tangent.to_json("tangent_"),
            "singular": self.singular,
        }


def singular_by_bounds(tangent: Bounds, dimension: int) -> bool | None:
    """Return whether a point of an irreducible variety of this dimension is singular, by bounds for
    its tangent dimension, which is equal to the dimension exactly at smooth points; ``None`` if the
    bounds do not decide.
    """
    variety = Bounds.at_least(dimension, f"a tangent space on a variety of dimension {dimension}")
    tangent_bounds = intersect_bounds(variety, tangent)
    if tangent_bounds.least > dimension:
        return True
    if tangent_bounds.upper == dimension:
        return False
    return None


@dataclass(frozen=True, slots=True)
class Component:
    """An irreducible component of the singular locus.

    Parameters
    ----------
    description : str
        In words: an orbit closure or the zero function; of a general map, the origin, points, or
        its dimension.
    orbit : an orbit of the family, or None
        The orbit whose closure it is.
    dimension : int
        Affine dimension.
    degree : int or None
    ideal : Ideal or None
        The ideal of the component, if it was computed.

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


Components = tuple[Component, ...]


@dataclass(frozen=True, slots=True)
class LocusFindings:
    """The findings of one method."""

    method: str
    dimension: int | None  # of the variety itself
    statuses: tuple[OrbitStatus, ...] = ()  # of some or all orbits, if the method looks at them
    components: Components | None = None
    unfinished: str = ""
    uses_engine: bool = True
    proved: Components = ()  # the components that were proved before a limit
    rest_dimension: int | None = None  # an upper bound for the dimension of all others


def compare(first: LocusFindings, second: LocusFindings) -> None:
    """Raise ContradictionError if an orbit is singular by one method and smooth by the other, no
    tangent dimension is within the bounds of both, or the components differ in orbit, dimension or
    degree.
    """
    second_statuses = {status.orbit: status for status in second.statuses}
    for status in first.statuses:
        second_status = second_statuses.get(status.orbit)
        if second_status is None:
            continue
        one_is_smooth = {status.singular, second_status.singular} == {True, False}
        # bounds of a method that decided nothing can still contradict the other method
        if one_is_smooth or not bounds_agree(status.tangent, second_status.tangent):
            raise ContradictionError(
                f"by {first.method} {status}, by {second.method} {second_status}"
            )
    if first.components is None or second.components is None:
        return
    if not _same_degrees(_degrees_by_kind(first.components), _degrees_by_kind(second.components)):
        raise ContradictionError(
            f"components of the singular locus by {first.method}: {first.components}; by"
            f" {second.method}: {second.components}"
        )


DegreesByKind = dict[tuple[Any, int], list[int | None]]
"""Maps (orbit or ``None``, dimension), the kind of a component, to the degrees of all components of
this kind; ``None`` for an unknown degree.
"""


def _degrees_by_kind(components: Components) -> DegreesByKind:
    """Return the degrees of the components of each kind."""
    degrees: DegreesByKind = {}
    for component in components:
        kind = (component.orbit, component.dimension)
        degrees.setdefault(kind, []).append(component.degree)
    return degrees


def _same_degrees(first: DegreesByKind, second: DegreesByKind) -> bool:
    """Return whether two methods found the same number of components of each kind, with the same
    degrees in any order; degrees of one kind are compared only if both methods know all of them.
    """
    counts = {kind: len(degrees) for kind, degrees in first.items()}
    second_counts = {kind: len(degrees) for kind, degrees in second.items()}
    if counts != second_counts:
        return False
    for kind, count in counts.items():
        first_known = sorted(degree for degree in first[kind] if degree is not None)
        second_known = sorted(degree for degree in second[kind] if degree is not None)
        if len(first_known) == len(second_known) == count and first_known != second_known:
            return False
    return True


@dataclass(frozen=True, slots=True)
class ComparedFindings:
    """The findings of one or more methods, in the order in which they ran, none of which disagree;
    else there is a ContradictionError.
    """

    by_method: tuple[LocusFindings, ...]

    def __post_init__(self) -> None:
        for first, second in combinations(self.by_method, 2):
            compare(first, second)  # raises if they disagree

    @property
    def finished(self) -> tuple[LocusFindings, ...]:
        """The findings of the methods that finished."""
        return tuple(finding for finding in self.by_method if finding.components is not None)

    @property
    def deciding(self) -> tuple[LocusFindings, ...]:
        """The findings of the methods that finished; of all methods if none did."""
        return self.finished or self.by_method

    @property
    def methods(self) -> str:
        """The names of the methods with the findings ``deciding``."""
        return " and ".join(finding.method for finding in self.deciding)

    @property
    def agreement(self) -> tuple[str, ...]:
        """The one remark that the methods agree, if several finished; else the empty tuple."""
        if len(self.finished) < 2:
            return ()
        return (f"{enumeration(method_words(self.methods).split(', '))} agree",)

    @property
    def limits(self) -> tuple[str, ...]:
        """For each unfinished method its name, with the limit or the orbits left undecided."""
        unfinished = [finding for finding in self.by_method if finding.unfinished]
        return tuple(f"{finding.method}: {finding.unfinished}" for finding in unfinished)

    @property
    def dimension(self) -> int | None:
        """The dimension of the variety itself, by the last of the ``deciding`` findings that have
        it.
        """
        for finding in reversed(self.deciding):
            if finding.dimension is not None:
                return finding.dimension
        return None

    @property
    def components(self) -> Components | None:
        """All components, by the last method that finished."""
        return self.finished[-1].components if self.finished else None

    @property
    def proved(self) -> Components:
        """The components that the last method proved before a limit; empty if a method finished."""
        return () if self.finished else self.by_method[-1].proved

    @property
    def rest_dimension(self) -> int | None:
        """An upper bound for the dimension of the components that are not among ``proved``."""
        return None if self.finished else self.by_method[-1].rest_dimension

    @property
    def uses_engine(self) -> bool:
        """Whether one of the methods asked Macaulay2."""
        return any(finding.uses_engine for finding in self.by_method)


def method_words(methods: str) -> str:
    """Return names of methods in a text, such as ``fibres, orbits, Jacobian``."""
    return methods.replace(" and ", ", ").replace("jacobian", "Jacobian")


def known_orbits(findings: Iterable[LocusFindings]) -> tuple[OrbitStatus, ...]:
    """Return the status of each orbit that some method observed, by the last method that decided
    it, else by the first that observed it; sorted by the orbits.
    """
    statuses: dict[Any, OrbitStatus] = {}
    for finding in findings:
        for status in finding.statuses:
            if status.singular is not None or status.orbit not in statuses:
                statuses[status.orbit] = status
    return tuple(statuses[orbit] for orbit in sorted(statuses))


class OrbitMethods(Protocol):
    """The ways to find the singular locus orbit by orbit, which ``maps.singular_locus`` calls.

    Models whose orbits are known implement them. The group acts on the closure, so tangent spaces
    and fibres are alike on an orbit. Findings have a status for each orbit of nonzero points; where
    no orbit is undecided, they have the components of the singular locus too. At a limit they are
    returned with ``unfinished`` set, and what is missing is left out.
    """

    def by_fibres(self) -> LocusFindings:
        """Return findings from the fibre of the parametrization over one point of each orbit."""

    def by_bounds(self) -> LocusFindings:
        """Return findings over QQ from bounds for the tangent dimension at one point of each orbit:
        from below by tangent vectors, from above by equations of low degree.
        """

    def by_orbits(self, ideal: GeneratingSet, dimension: int) -> LocusFindings:
        """Return findings by the Jacobian criterion at one point of each orbit.

        ``ideal`` is the whole ideal of the closure, and ``dimension`` the affine dimension of the
        closure.
        """

    @property
    def independent_count(self) -> int:
        """The number of linearly independent coordinates, which is the tangent dimension at zero of
        the closure, a cone.
        """

    def orbit_closure(self, orbit: Any) -> PolynomialMap:
        """Return a parametrization of the Zariski closure of an orbit, in the coordinates of the
        model.
        """

    def identify(self, prime: GeneratingSet, dimension: int) -> Any | None:
        """Return the orbit whose closure is the variety of ``prime``, a prime ideal.

        ``dimension`` is the affine dimension of this variety. ``None`` if there is no such orbit.
        """

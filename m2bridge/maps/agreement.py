"""What one method found about the singular locus, and how two methods are compared."""

from __future__ import annotations

from dataclasses import dataclass

from m2bridge.errors import ContradictionError
from m2bridge.maps.singular_locus_result import Component, OrbitStatus

Components = tuple[Component, ...]


@dataclass(frozen=True, slots=True)
class LocusFindings:
    """What one method found.

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

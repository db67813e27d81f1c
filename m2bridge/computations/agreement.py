"""What one method found about the singular locus, and how two methods are compared."""

from __future__ import annotations

from dataclasses import dataclass

from m2bridge.computations.locus import Component, OrbitStatus
from m2bridge.errors import ContradictionError

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
        Empty for methods that do not look at orbits.
    components : tuple of Component or None
        ``None`` if the method did not finish.
    unfinished : str
        The limit that was reached, or empty.
    """

    method: str
    dimension: int | None
    statuses: tuple[OrbitStatus, ...]
    components: Components | None
    unfinished: str = ""


def compare(first: LocusFindings, second: LocusFindings) -> None:
    """Hold two finished methods against each other.

    Raises
    ------
    ContradictionError
        If an orbit is singular by one and smooth by the other, a tangent dimension is below a proved bound, or the
        components differ in orbit, dimension or degree.
    """
    statuses = {status.orbit: status for status in second.statuses}
    for one in first.statuses:
        other = statuses.get(one.orbit)
        if other is not None and not _agree(one, other):
            raise ContradictionError(f"by {first.method} {one}, by {second.method} {other}")
    left, right = ({(c.orbit, c.dimension): c.degree for c in f.components or ()} for f in (first, second))
    known = [(left[key], right[key]) for key in left.keys() & right.keys()]
    if left.keys() != right.keys() or any(a != b for a, b in known if a is not None and b is not None):
        raise ContradictionError(
            f"components of the singular locus by {first.method}: {first.components}; by {second.method}: "
            f"{second.components}"
        )


def _agree(one: OrbitStatus, other: OrbitStatus) -> bool:
    exact = {status.tangent_dimension for status in (one, other) if status.tangent_dimension is not None}
    bounds = [status.tangent_bound for status in (one, other) if status.tangent_bound is not None]
    return one.singular == other.singular and len(exact) <= 1 and all(max(bounds, default=0) <= d for d in exact)

"""A surface seen along a direction: which points of a curve are behind it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import cos, radians, sin
from typing import Any

Point = Sequence[float]
NEAR = 0.04
"""Of the box, whose side is 2: what is as near to a point of the surface does not hide it."""


def axes(elevation: float, azimuth: float) -> tuple[Point, Point, Point]:
    """To the right, upwards, and towards the eye; the angles are in degrees."""
    e, a = radians(elevation), radians(azimuth)
    return (
        (-sin(a), cos(a), 0.0),
        (-sin(e) * cos(a), -sin(e) * sin(a), cos(e)),
        (cos(e) * cos(a), cos(e) * sin(a), sin(e)),
    )


def hidden(points: Sequence[Point], squares: Iterable[Sequence[Point]], elevation: float, azimuth: float) -> list[bool]:
    """For each point whether a square is before it, in the coordinates of a cube [-1, 1]³."""
    import numpy  # comes with what draws pictures

    corners = numpy.array(list(squares), dtype=float)
    if not len(points) or not len(corners):
        return [False] * len(points)
    frame = numpy.array(axes(elevation, azimuth)).T
    triangles = numpy.concatenate([corners[:, (0, 1, 2)], corners[:, (0, 2, 3)]]) @ frame
    start, u, v = triangles[:, 0], triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    area = _area(u, v)
    seen = abs(area) > 1e-12
    start, u, v, area = start[seen], u[seen], v[seen], area[seen]
    found = []
    for point in numpy.array(points, dtype=float) @ frame:
        r, s = _area(point - start, v) / area, _area(u, point - start) / area
        depth = start[:, 2] + r * u[:, 2] + s * v[:, 2]
        found.append(bool(((r >= 0) & (s >= 0) & (r + s <= 1) & (depth > point[2] + NEAR)).any()))
    return found


def _area(one: Any, other: Any) -> Any:
    """Of the parallelograms that vectors span, as they are seen, with a sign."""
    return one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0]

"""Points of the boundary that are near an input, by local search in floats; nothing is proved here.

From X = U + E the next point is the one nearest to U on the hyperplane where the first-order
expansion of g at X vanishes, or half of the way to it. The fixed points are the critical points.
The step E is computed, as X may be nearer to U than floats of the size of U are to each other.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy

from m2bridge.decision_boundary.balls import Floats
from m2bridge.decision_boundary.boundary import Boundary
from m2bridge.limits import check_deadline_in

STARTS = (8, 60)
"""The number of searches, and the number if the first ones find no point."""
WHOLE_STEPS, STEPS = 60, 400
"""The number of steps in all, of which in every other search the first are whole."""
SPREADS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""How far from U searches start, in parts of the size of U, or of 1."""
BEHIND = 1 + 1e-6
"""Where a step to the boundary is continued, to see the sign of g."""
MOST_TURNED = 20
"""The number of points on lines that are turned."""
MOST_ENTRIES_ON_LINES = 40
"""Up to this number of entries lines through U are tried where searches prove no nearest point."""
PARTS_OF_TURNS = tuple(0.5**k for k in range(10))
"""The parts of the way to the hyperplane that are tried."""
SHORTER = 1 - 1e-6
"""A step that is not shorter by this factor is taken for the same."""
LARGEST = 1e8
"""Searches that go farther away have failed; the distance is about 1 in the units of a problem."""


def nearest_found(boundary: Boundary) -> Floats | None:
    """The step from U to the nearest of the critical points that searches from several starts
    reach; if they reach none, to the nearest boundary point on some lines through U, or None.
    """
    first, most = STARTS
    reached: list[Floats] = []
    for number, start in enumerate(check_deadline_in(_starts(boundary, most))):
        if number >= first and reached:
            break
        step = descended(boundary, start, whole_steps=0 if number % 2 else WHOLE_STEPS)
        if step is not None:
            reached.append(step)
    if not reached:
        reached = list(_on_lines(boundary, most))
    lengths = [float(numpy.linalg.norm(step)) for step in reached]
    return reached[int(numpy.argmin(lengths))] if reached else None


def nearest_crossing(boundary: Boundary) -> Floats | None:
    """The shortest step to the boundary on some lines through U behind which g has another sign."""
    value = boundary.value(boundary.U)
    crossings = [
        step
        for step in _on_lines(boundary, STARTS[1])
        if boundary.value(boundary.U + BEHIND * step) * value < 0
    ]
    return min(crossings, key=lambda step: float(numpy.linalg.norm(step)), default=None)


def shorter_than(boundary: Boundary, length: float) -> Floats | None:
    """A step to the boundary that is shorter than a length, from those on some lines through U that
    are turned to the hyperplane of the first-order expansion as long as they become shorter.
    """
    if boundary.U.size > MOST_ENTRIES_ON_LINES:
        return None
    on_lines = sorted(_on_lines(boundary, STARTS[1]), key=numpy.linalg.norm)
    steps = [_turned(boundary, step) for step in on_lines[:MOST_TURNED]]
    shortest = min(steps, key=numpy.linalg.norm, default=None)
    is_shorter = shortest is not None and numpy.linalg.norm(shortest) < SHORTER * length
    return shortest if is_shorter else None


def _turned(boundary: Boundary, step: Floats) -> Floats:
    """The shortest step that turns of a step to the boundary lead to, each a shorter one."""
    for _ in check_deadline_in(range(STEPS)):
        X = boundary.U + step
        better = corrected(step, boundary.value(X), boundary.gradient(X))
        if better is None:
            return step
        length = numpy.linalg.norm(step)
        for part in PARTS_OF_TURNS:
            on_line = _on_line(boundary, step + part * (better - step))
            turned = min(on_line, key=numpy.linalg.norm, default=step)
            if numpy.linalg.norm(turned) < (1 - 1e-13) * length:
                break
        else:
            return step
        step = turned
    return step


def _starts(boundary: Boundary, number: int) -> Iterator[Floats]:
    """No step, twice, and random steps."""
    yield 0 * boundary.U
    yield 0 * boundary.U
    random = numpy.random.default_rng(0)
    size = float(numpy.sqrt((boundary.U**2).mean())) or 1.0
    for k in range(number - 2):
        direction = random.normal(size=boundary.U.shape)
        yield SPREADS[k % len(SPREADS)] * size * direction


def descended(boundary: Boundary, step: Floats, whole_steps: int) -> Floats | None:
    """The step to the critical point that a search reaches, or None if it reaches none."""
    for number in check_deadline_in(range(STEPS)):
        X = boundary.U + step
        better = corrected(step, boundary.value(X), boundary.gradient(X))
        if better is None:
            return None
        change = float(numpy.abs(better - step).max())
        size = max(1.0, float(numpy.abs(step).max()))
        step = step + (1.0 if number < whole_steps else 0.5) * (better - step)
        if not numpy.isfinite(step).all() or size > LARGEST:
            return None
        if change < 1e-14 * size:
            return step
    return step if change < 1e-8 * size else None


def corrected(step: Floats, value: float, gradient: Floats) -> Floats | None:
    """The shortest step to the hyperplane where the first-order expansion of g vanishes, given g
    and its gradient behind a step; None if there is no such hyperplane.
    """
    square = float((gradient * gradient).sum())
    if not 0 < square < numpy.inf:
        return None
    slope = float((gradient * step).sum())
    better: Floats = ((slope - value) / square) * gradient
    return better


def _on_lines(boundary: Boundary, number: int) -> Iterator[Floats]:
    """The steps to the boundary on some random lines through U, where g is a cubic polynomial."""
    random = numpy.random.default_rng(1)
    for _ in check_deadline_in(range(number)):
        yield from _on_line(boundary, random.normal(size=boundary.U.shape))


def _on_line(boundary: Boundary, direction: Floats) -> Iterator[Floats]:
    """The steps to the boundary on a line through U."""
    places = numpy.array([-1.0, 0.0, 1.0, 2.0])
    values = [boundary.value(boundary.U + place * direction) for place in places]
    if not numpy.isfinite(values).all():
        return
    roots = numpy.roots(numpy.polyfit(places, values, 3))
    for root in roots:
        if abs(root.imag) < 1e-9 * abs(root):
            yield root.real * direction

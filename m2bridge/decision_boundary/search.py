"""Points of the boundary that are near an input, by local search in floats; nothing is proved here.

From X = U + E the next point is the one nearest to U on the hyperplane where the first-order
expansion of g at X vanishes, or half of the way to it. The fixed points are the critical points.
The step E is computed, as X may be nearer to U than floats of the size of U are to each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, islice

import numpy

from m2bridge.decision_boundary.balls import Floats
from m2bridge.decision_boundary.boundary import Boundary
from m2bridge.limits import check_deadline_in

STEPS = 400
"""The largest number of steps of a search."""
SHORTER = 1 - 1e-6
"""A step that is not shorter by this factor is taken for the same."""


def nearest_found(boundary: Boundary) -> Floats | None:
    """The step from U to the nearest of the critical points that searches from several starts
    reach; if they reach none, to the nearest boundary point on some lines through U, or None.
    """
    reached: list[Floats] = []
    for number, start in enumerate(check_deadline_in(_starts(boundary))):
        # further searches are for inputs where the first ones find no point
        if number >= 8 and reached:
            break
        # in every other search the first steps are whole
        step = descended(boundary, start, whole_steps=0 if number % 2 else 60)
        if step is not None:
            reached.append(step)
    if not reached:
        reached = list(_on_lines(boundary))
    lengths = [float(numpy.linalg.norm(step)) for step in reached]
    return reached[int(numpy.argmin(lengths))] if reached else None


def nearest_crossing(boundary: Boundary) -> Floats | None:
    """The shortest step to the boundary on some lines through U behind which g has another sign."""
    value = boundary.value(boundary.U)
    crossings = [
        step
        for step in _on_lines(boundary)
        if boundary.value(boundary.U + (1 + 1e-6) * step) * value < 0
    ]
    return min(crossings, key=lambda step: float(numpy.linalg.norm(step)), default=None)


def shorter_than(boundary: Boundary, length: float) -> Floats | None:
    """A step to the boundary that is shorter than a length, from those on some lines through U that
    are turned to the hyperplane of the first-order expansion as long as they become shorter.
    """
    if boundary.U.size > 40:  # lines would take long
        return None
    on_lines = sorted(_on_lines(boundary), key=numpy.linalg.norm)
    steps = [_turned(boundary, step) for step in on_lines[:20]]
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
        for halvings in range(10):
            # this part of the way to the hyperplane
            on_line = _on_line(boundary, step + 0.5**halvings * (better - step))
            turned = min(on_line, key=numpy.linalg.norm, default=step)
            if numpy.linalg.norm(turned) < (1 - 1e-13) * length:
                break
        else:
            return step
        step = turned
    return step


def _starts(boundary: Boundary) -> Iterator[Floats]:
    """No step, twice, and 58 random steps."""
    yield 0 * boundary.U
    yield 0 * boundary.U
    random = numpy.random.default_rng(0)
    size = float(numpy.sqrt((boundary.U**2).mean())) or 1.0
    spreads = cycle((0.01, 0.03, 0.1, 0.3, 1.0, 3.0))
    for spread in islice(spreads, 58):
        direction = random.normal(size=boundary.U.shape)
        yield spread * size * direction


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
        # the distance is about 1 in the units of a problem: searches that go far away have failed
        if not numpy.isfinite(step).all() or size > 1e8:
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


def _on_lines(boundary: Boundary) -> Iterator[Floats]:
    """The steps to the boundary on some random lines through U, where g is a cubic polynomial."""
    random = numpy.random.default_rng(1)
    for _ in check_deadline_in(range(60)):
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

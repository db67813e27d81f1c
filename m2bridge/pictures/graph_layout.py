"""The layout of a layered graph, with few crossings and no edge through another node.

Source: Sugiyama, Tagawa, Toda, *Methods for visual understanding of hierarchical system structures*
(1981): an edge over several layers gets a place in each of them, its bend, and layers are sorted by
the means of their neighbours' places. The *items* of a row are the nodes of a layer, and the bends
in it. The *neighbours* of an item are the items next to it on an edge, in the row above or below.
"""

import itertools
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)
Edge = tuple[Node, Node]
NodePosition = tuple[float, int]
"""The horizontal coordinate, and the layer."""
Neighbours = Mapping[Hashable, Sequence[Hashable]]

HALF_HEIGHT = 0.2
"""Half the height of a node and its name, in distances between layers."""

CURVE_POINTS = 16
"""Points of a curve between two places of a route."""


@dataclass(frozen=True, slots=True)
class _Bend:
    """The place of an edge in a layer that it passes, by their numbers; it equals no node."""

    edge: int
    level: int


def lay_out(
    layers: Sequence[Sequence[Node]], edges: Sequence[Edge[Node]]
) -> tuple[dict[Node, NodePosition], list[list[NodePosition]]]:
    """The positions of all nodes, a horizontal coordinate and a layer, and for each edge the
    positions of its lower node, of a bend in each layer between, and of its upper node.

    The layers, and the two nodes of an edge, are given from below.
    """
    layer_of = {node: level for level, layer in enumerate(layers) for node in layer}
    # A row has the nodes of a layer, and the bends of edges that go through it.
    rows: list[list[Hashable]] = [list(layer) for layer in layers]
    paths: list[list[Hashable]] = []
    for number, (low, high) in enumerate(edges):
        path: list[Hashable] = [low]
        for level in range(layer_of[low] + 1, layer_of[high]):
            bend = _Bend(edge=number, level=level)
            rows[level].append(bend)
            path.append(bend)
        paths.append([*path, high])
    x_coordinates = _horizontal_places(rows, paths)
    positions: dict[Hashable, NodePosition] = {}
    for level, row in enumerate(rows):
        positions |= {item: (x_coordinates[item], level) for item in row}
    routes = [[positions[item] for item in path] for path in paths]
    return {node: positions[node] for node in layer_of}, routes


def straighten_route(
    route: Sequence[NodePosition], nodes: Sequence[NodePosition], left: float, right: float
) -> list[NodePosition]:
    """Leave out the bends of a route that go round no node, and return the positions that remain.

    From each position the route goes straight to the last one to which the way is free; the nodes
    at its ends are not in its way. A node and its name reach ``left`` and ``right`` of its
    position.
    """
    other_nodes = [node for node in nodes if node not in (route[0], route[-1])]
    places = [route[0]]
    start = 0
    while start < len(route) - 1:
        end = len(route) - 1
        # from the last position backwards; the next position can always be reached
        while end > start + 1:
            if _is_free(route[start], route[end], other_nodes, left, right):
                break
            end -= 1
        places.append(route[end])
        start = end
    return places


def _is_free(
    low: NodePosition, high: NodePosition, nodes: Sequence[NodePosition], left: float, right: float
) -> bool:
    """Whether a straight line from a lower to a higher place meets no node and no name of one."""
    (x_low, y_low), (x_high, y_high) = low, high
    slope = (x_high - x_low) / (y_high - y_low)
    for x, y in nodes:
        if not y_low - HALF_HEIGHT < y < y_high + HALF_HEIGHT:  # the line is above it or below
            continue
        # The line at the heights of the lower and upper side of the node.
        ends = [x_low + slope * (y + side - y_low) for side in (-HALF_HEIGHT, HALF_HEIGHT)]
        if min(ends) < x + right and max(ends) > x - left:
            return False
    return True


def smooth_curve(route: Sequence[NodePosition]) -> list[tuple[float, float]]:
    """Return points of a smooth curve through the places, at least two, of a route, upwards.

    The curve is x(y), a cubic polynomial between two places, with the slopes of
    :func:`_slopes_at_places`. So x(y) is monotone between two places, and turns to a side only
    where the route does (Fritsch, Carlson, *Monotone piecewise cubic interpolation*, SIAM J. Numer.
    Anal. 17, 1980).
    """
    first_x, first_y = route[0]
    points = [(float(first_x), float(first_y))]
    slopes = _slopes_at_places(route)
    ends = zip(itertools.pairwise(route), itertools.pairwise(slopes), strict=True)
    for ((x0, y0), (x1, y1)), (slope0, slope1) in ends:
        height = y1 - y0
        for step in range(1, CURVE_POINTS + 1):
            s = step / CURVE_POINTS
            # Hermite's cubic polynomial with these values and slopes at s = 0 and s = 1.
            x = (
                x0 * (1 + 2 * s) * (1 - s) ** 2
                + x1 * s**2 * (3 - 2 * s)
                + height * slope0 * s * (1 - s) ** 2
                - height * slope1 * s**2 * (1 - s)
            )
            points.append((x, y0 + s * height))
    return points


def _slopes_at_places(route: Sequence[NodePosition]) -> list[float]:
    """The slope dx/dy of the curve at each place of a route.

    At an inner place it is the harmonic mean of the slopes of the lines before and after, or 0
    where these have different signs; at the ends it is the slope of the only line.
    """
    slopes_of_lines = []
    for (x0, y0), (x1, y1) in itertools.pairwise(route):
        slopes_of_lines.append((x1 - x0) / (y1 - y0))
    slopes = [slopes_of_lines[0]]
    for slope, next_slope in itertools.pairwise(slopes_of_lines):
        have_one_sign = slope * next_slope > 0
        slopes.append(2 * slope * next_slope / (slope + next_slope) if have_one_sign else 0.0)
    slopes.append(slopes_of_lines[-1])
    return slopes


def _horizontal_places(
    rows: list[list[Hashable]], paths: Sequence[Sequence[Hashable]]
) -> dict[Hashable, float]:
    """The horizontal coordinate of each item, in the order with the fewest crossings of those that
    are tried.

    In each sweep all rows are sorted again, in place: in a sweep upwards by their lower neighbours,
    in a sweep downwards by their upper ones.
    """
    lower_neighbours = defaultdict[Hashable, list[Hashable]](list)
    upper_neighbours = defaultdict[Hashable, list[Hashable]](list)
    for path in paths:
        for low, high in itertools.pairwise(path):
            lower_neighbours[high].append(low)
            upper_neighbours[low].append(high)
    best = _centre_rows(rows)
    fewest = None
    # layers become stable after a few sweeps; otherwise the best arrangement counts
    for sweep in range(24):
        if sweep % 2 == 0:
            _sweep(rows, lower_neighbours)
        else:
            # the same lists, which are sorted in place, from above
            _sweep(rows[::-1], upper_neighbours)
        crossings = _crossings(rows, lower_neighbours)
        if fewest is None or crossings < fewest:
            best = _centre_rows(rows)
            fewest = crossings
    return best


def _sweep(rows: Sequence[list[Hashable]], neighbours: Neighbours) -> None:
    """Sort each row, in place and one after the other, by the means of the places of its items'
    neighbours, in the row that was sorted before; an item without neighbours keeps its own place.
    """
    for row in rows:
        places = _centre_rows(rows)
        means = {}
        for item in row:
            of_neighbours = [places[other] for other in neighbours.get(item, ())] or [places[item]]
            means[item] = sum(of_neighbours) / len(of_neighbours)
        row.sort(key=means.__getitem__)


def _centre_rows(rows: Sequence[Sequence[Hashable]]) -> dict[Hashable, float]:
    """The horizontal coordinates of items: 1 apart in a row, and the middle of each row is 0."""
    places: dict[Hashable, float] = {}
    for row in rows:
        middle = (len(row) - 1) / 2
        places |= {item: place - middle for place, item in enumerate(row)}
    return places


def _crossings(rows: Sequence[Sequence[Hashable]], lower_neighbours: Neighbours) -> int:
    """The number of pairs of edges, between one row and the one below, that cross."""
    places = _centre_rows(rows)
    count = 0
    for row in rows:
        ends = []  # for each edge the places of its upper and of its lower end
        for item in row:
            ends += [(places[item], places[other]) for other in lower_neighbours.get(item, ())]
        for (high, low), (other_high, other_low) in itertools.combinations(ends, 2):
            # Two edges cross if one is to the left at its upper end, and to the right at its lower.
            if (high - other_high) * (low - other_low) < 0:
                count += 1
    return count

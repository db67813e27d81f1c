"""The layout of a layered graph, with few crossings and no edge through another node.

Source: Sugiyama, Tagawa, Toda, *Methods for visual understanding of hierarchical system structures*
(1981): an edge over several layers gets a place in each of them, its bend, and layers are sorted by
the means of their neighbours' places.
"""

import itertools
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
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

LAYOUT_SWEEPS = 24
"""Layers become stable after a few sweeps; otherwise the best arrangement found is used."""


def placed(
    layers: Sequence[Sequence[Node]], edges: Sequence[Edge[Node]]
) -> tuple[dict[Node, NodePosition], list[list[NodePosition]]]:
    """The places of all nodes, and for each edge the places through which it goes.

    Parameters
    ----------
    layers
        The nodes, from below.
    edges
        From a node to one of a higher layer.
    """
    height = {node: level for level, layer in enumerate(layers) for node in layer}
    rows: list[list[Hashable]] = [list(layer) for layer in layers]
    paths: list[list[Hashable]] = []
    for number, (low, high) in enumerate(edges):
        path: list[Hashable] = [low]
        for level in range(height[low] + 1, height[high]):
            bend = (number, level)
            rows[level].append(bend)
            path.append(bend)
        paths.append([*path, high])
    across = _across(rows, paths)
    places: dict[Hashable, NodePosition] = {}
    for level, row in enumerate(rows):
        places |= {item: (across[item], level) for item in row}
    routes = [[places[item] for item in path] for path in paths]
    return {node: places[node] for node in height}, routes


def straightened(
    route: Sequence[NodePosition], nodes: Sequence[NodePosition], left: float, right: float
) -> list[NodePosition]:
    """Leave out the bends of a route that are not needed to go round other nodes.

    Parameters
    ----------
    route : sequence of places
        From one layer to the next.
    nodes : sequence of places
        The nodes of the graph; those at the ends of the route are not in its way.
    left, right : float
        How far a node and its name reach to both sides of its place.
    """
    others = [node for node in nodes if node not in (route[0], route[-1])]
    kept = [route[0]]
    start = 0
    while start < len(route) - 1:
        ends = range(len(route) - 1, start + 1, -1)
        free = (end for end in ends if _is_free(route[start], route[end], others, left, right))
        start = next(free, start + 1)
        kept.append(route[start])
    return kept


def _is_free(
    low: NodePosition, high: NodePosition, nodes: Sequence[NodePosition], left: float, right: float
) -> bool:
    """Whether a straight line from a lower to a higher place meets no node."""
    (x_low, y_low), (x_high, y_high) = low, high
    slope = (x_high - x_low) / (y_high - y_low)
    for x, y in nodes:
        if not y_low - HALF_HEIGHT < y < y_high + HALF_HEIGHT:
            continue
        # where the line is as high as the node and its name
        ends = [x_low + slope * (y + side - y_low) for side in (-HALF_HEIGHT, HALF_HEIGHT)]
        if min(ends) < x + right and max(ends) > x - left:
            return False
    return True


def rounded(route: Sequence[NodePosition]) -> list[tuple[float, float]]:
    """Return points of a smooth curve through the places of a route, upwards.

    It is made of cubic polynomials x(y), which turn to a side only where the route does.
    """
    slopes = [(b[0] - a[0]) / (b[1] - a[1]) for a, b in itertools.pairwise(route)]
    tangents = [slopes[0]]
    for before, after in itertools.pairwise(slopes):
        # Fritsch, Carlson 1980: no tangent overshoots
        tangents.append(2 * before * after / (before + after) if before * after > 0 else 0.0)
    tangents.append(slopes[-1])
    points = [(float(x), float(y)) for x, y in route[:1]]
    for number, ((x0, y0), (x1, y1)) in enumerate(itertools.pairwise(route)):
        height = y1 - y0
        for step in range(1, CURVE_POINTS + 1):
            s = step / CURVE_POINTS
            x = (
                x0 * (1 + 2 * s) * (1 - s) ** 2
                + x1 * s**2 * (3 - 2 * s)
                + height * tangents[number] * s * (1 - s) ** 2
                - height * tangents[number + 1] * s**2 * (1 - s)
            )
            points.append((x, y0 + s * height))
    return points


def _across(
    rows: list[list[Hashable]], paths: Sequence[Sequence[Hashable]]
) -> dict[Hashable, float]:
    """The place of each node and bend in its row, after the sweep with the fewest crossings."""
    below = defaultdict[Hashable, list[Hashable]](list)
    above = defaultdict[Hashable, list[Hashable]](list)
    for path in paths:
        for low, high in itertools.pairwise(path):
            below[high].append(low)
            above[low].append(high)
    best = _centred(rows)
    fewest = None
    for sweep in range(LAYOUT_SWEEPS):
        if sweep % 2 == 0:
            for row in rows:
                _sort(row, below, _centred(rows))
        else:
            for row in reversed(rows):
                _sort(row, above, _centred(rows))
        crossings = _crossings(rows, below)
        if fewest is None or crossings < fewest:
            best = _centred(rows)
            fewest = crossings
    return best


def _sort(row: list[Hashable], neighbours: Neighbours, places: Mapping[Hashable, float]) -> None:
    """Sort a row by the means of the neighbours' places; what has no neighbour keeps its own."""

    def mean(item: Hashable) -> float:
        near = [places[other] for other in neighbours.get(item, ())] or [places[item]]
        return sum(near) / len(near)

    row.sort(key=mean)


def _centred(rows: Sequence[Sequence[Hashable]]) -> dict[Hashable, float]:
    """The places of items in rows about one middle line."""
    places: dict[Hashable, float] = {}
    for row in rows:
        middle = (len(row) - 1) / 2
        places |= {item: place - middle for place, item in enumerate(row)}
    return places


def _crossings(rows: Sequence[Sequence[Hashable]], below: Neighbours) -> int:
    """The number of pairs of edges between two layers that cross."""
    places = _centred(rows)
    count = 0
    for row in rows:
        ends = []
        for item in row:
            ends += [(places[item], places[other]) for other in below.get(item, ())]
        for (high, low), (other_high, other_low) in itertools.combinations(ends, 2):
            # They cross if the one that is left above is right below.
            if (high - other_high) * (low - other_low) < 0:
                count += 1
    return count

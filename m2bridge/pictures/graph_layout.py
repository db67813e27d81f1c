"""The places of the nodes and edges of a layered graph: few edges cross, and none passes through a
node.

Source: Sugiyama, Tagawa, Toda, *Methods for visual understanding of hierarchical system structures*
(1981): an edge over several layers gets a place in each of them, and layers are sorted by the means
of their neighbours' places.
"""

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeVar

Node = TypeVar("Node")
Edge = tuple[Node, Node]
Place = tuple[float, int]
"""Across, and the layer."""

SWEEPS = 24


def placed(
    layers: Sequence[Sequence[Node]], edges: Sequence[Edge[Node]]
) -> tuple[dict[Node, Place], list[list[Place]]]:
    """The places of all nodes, and for each edge the places through which it goes.

    Parameters
    ----------
    layers
        The nodes, from below.
    edges
        From a node to one of a higher layer.
    """
    height = {node: level for level, layer in enumerate(layers) for node in layer}
    rows: list[list[object]] = [list(layer) for layer in layers]
    paths: list[list[object]] = []
    for number, (low, high) in enumerate(edges):
        bends = [(number, level) for level in range(height[low] + 1, height[high])]
        for bend in bends:
            rows[bend[1]].append(bend)
        paths.append([low, *bends, high])
    across = _across(rows, paths)
    level = {item: number for number, row in enumerate(rows) for item in row}
    return {node: (across[node], height[node]) for node in height}, [
        [(across[i], level[i]) for i in p] for p in paths
    ]


def _across(rows: list[list[object]], paths: Sequence[Sequence[object]]) -> dict[object, float]:
    below, above = defaultdict[object, list[object]](list), defaultdict[object, list[object]](list)
    for path in paths:
        for one, other in itertools.pairwise(path):
            below[other].append(one)
            above[one].append(other)
    best, fewest = _centred(rows), None
    for sweep in range(SWEEPS):
        upwards = sweep % 2 == 0
        for row in rows if upwards else reversed(rows):
            here = _centred(rows)
            row.sort(key=lambda item: _mean(item, below if upwards else above, here))
        crossings = _crossings(rows, below)
        if fewest is None or crossings < fewest:
            best, fewest = _centred(rows), crossings
    return best


def _centred(rows: Sequence[Sequence[object]]) -> dict[object, float]:
    return {item: place - (len(row) - 1) / 2 for row in rows for place, item in enumerate(row)}


def _mean(
    item: object, neighbours: Mapping[object, Sequence[object]], places: Mapping[object, float]
) -> float:
    near = [places[other] for other in neighbours.get(item, ())]
    return sum(near) / len(near) if near else places[item]


def _crossings(rows: Sequence[Sequence[object]], below: Mapping[object, Sequence[object]]) -> int:
    places, count = _centred(rows), 0
    for row in rows:
        ends = [(places[item], places[other]) for item in row for other in below.get(item, ())]
        count += sum((a - c) * (b - d) < 0 for k, (a, b) in enumerate(ends) for c, d in ends[:k])
    return count

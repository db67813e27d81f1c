"""What is known of the dimension of every network: one number for M and one for each layer.

Virtual weights are a tower of subspaces W_l ⊆ … ⊆ W_1 and matrices on them ("Proposition V"). An attention matrix of
rank x adds 2x dimensions to the subspace behind it, or fills the space of dimension r that it lives in. Spaces of
matrices are counted by their codimensions. What the function does not see of the virtual weights is the scaling of each
layer, and skew-symmetric parts behind a layer of rank one; that rests on ``layer_identities.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from m2bridge.families.deep_attention.all_sizes.numbers import END, LAYER, Function, Pieces, Point
from m2bridge.families.deep_attention.model import DeepAttention

FREE, FILLED = "s + 2*x <= r", "s + 2*x > r"
SEEN = "t >= 2 and p = 0"
"""Where all of an attention matrix of lightning attention matters, and not its symmetric part only."""

MATRICES: Pieces = (
    (FREE, "n^2 - (n - x)^2"),
    (FILLED, "(r - s)*(n - r) + r^2 - (r - x)^2"),
)
FORMS: Pieces = (
    (FREE, "1/2 * (n*(n + 1) - (n - 2*x)*(n - 2*x + 1))"),
    (f"{FILLED} and 2*x <= r", "(r - s)*(n - r) + 1/2 * (r*(r + 1) - (r - 2*x)*(r - 2*x + 1))"),
    (f"{FILLED} and 2*x > r", "(r - s)*(n - r) + 1/2 * r*(r + 1)"),
)
"""Quadratic forms of rank at most 2x."""


def _less(pieces: Pieces, condition: str, scalings: int) -> Iterator[tuple[str, str]]:
    for where, number in pieces:
        yield f"({where}) and {condition}", f"{number} - {scalings}"


LAYERS: Mapping[str, Pieces] = {
    "virtual_weights": MATRICES,
    "lightning": (*_less(MATRICES, f"({SEEN})", 1), *_less(FORMS, f"not ({SEEN})", 1)),
    "softmax": (*_less(MATRICES, "t >= 2", 0), ("t = 1", "0")),
}
"""By what is counted: virtual weights, or functions of lightning or softmax attention."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What M and a layer add to a dimension."""

    end: Function
    layer: Function


@cache
def counted(what: str) -> Counted:
    """By the names in :data:`LAYERS`: subspaces of dimension s and maps on them, and the layers."""
    return Counted(END.function([("", "s*(n - s) + s*e")]), LAYER.function(LAYERS[what]))


@cache
def spans() -> Function:
    """The dimension of the subspace with this layer, from that of the one behind it."""
    return LAYER.function([(FREE, "s + 2*x"), (FILLED, "r")])


@dataclass(frozen=True, slots=True)
class Path:
    """The variables of a network: of its end, and of its layers from the last to the first."""

    end: Point
    layers: tuple[Point, ...]

    @classmethod
    def of(cls, network: DeepAttention) -> Path:
        """Those of a network with one head and without skip connections."""
        d, span, layers = network.widths, min(network.widths), []
        alphas = [min(a, *d[:k]) for k, a in enumerate(network.a, 1)]
        for k in range(network.layers, 0, -1):
            layers.append((d[0], min(d[:k]), span, alphas[k - 1], alphas[: k - 1].count(1), k, network.t))
            span = spans()(layers[-1])
        return cls((d[0], min(d), d[-1], network.layers - 1), tuple(layers))

    def total(self, end: Function, layer: Function) -> int:
        """The sum of what the end and all layers add."""
        return end(self.end) + sum(map(layer, self.layers))

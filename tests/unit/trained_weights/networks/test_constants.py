"""Constants of a layer of softmax at special weights: ranks of its forward pass decide.

The forward pass of :mod:`tests.forward_pass` knows no lemma about biases, norms or softmax.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from m2bridge.trained_weights.networks.layers import analyse_layers, find_heads
from m2bridge.trained_weights.networks.traits import AnalysisOptions
from tests.forward_pass import Layer, Parameters, drawn, exact_rank
from tests.tiers import slow
from tests.unit.trained_weights.networks.test_biases import Given


def judged(layer: Layer, p: Parameters) -> Any:
    """What is said of the layer."""
    reading = AnalysisOptions(
        heads=layer.heads, normalization="softmax", skip=False, biases=True, norm=None
    )
    layers: Any = [Given(layer, p)]
    found = find_heads(layers, reading, None, None)
    return dict(analyse_layers(layers, found, reading))[1]


def softmax(d: int, d_out: int, a: int, **parts: Any) -> Layer:
    return Layer(d, d_out, a, softmax=True, **parts)


def equal_outputs(p: Parameters) -> None:
    p["O"][1] = 3 * p["O"][0]


def narrow_output(p: Parameters) -> None:
    """The last column of O is a multiple of the first."""
    p["O"][0][:, -1] = 2 * p["O"][0][:, 0]


def bias_among_values(p: Parameters) -> None:
    """O has rank one, and the bias is in the column space of V."""
    narrow_output(p)
    p["V_bias"][0] = 3 * p["V"][0][:, 0]


def narrow_values(p: Parameters) -> None:
    """V has a smaller rank, and its bias is outside of its column space."""
    p["V"][0][1] = 2 * p["V"][0][0]


V_BIAS: dict[str, Any] = {"biases": "V"}
SPECIAL = {
    "two equal O": (softmax(3, 2, 1, v=1, heads=2, **V_BIAS), equal_outputs, 19, 20),
    "O of rank two": (softmax(3, 3, 1, v=3, **V_BIAS), narrow_output, 16, 17),
    "a bias among the values": (softmax(1, 2, 1, v=2, **V_BIAS), bias_among_values, 4, 5),
    "a constant by β": (
        softmax(3, 2, 1, v=1, heads=2, norm="layer", beta=True),
        equal_outputs,
        15,
        16,
    ),
    # More constants than at generic weights make up for V of smaller rank.
    "a bias outside of the values": (softmax(3, 3, 1, v=2, **V_BIAS), narrow_values, 15, 15),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SPECIAL)
def test_constants_that_a_layer_cannot_reach(name: str) -> None:
    layer, change, rank, dimension = SPECIAL[name]
    p = drawn(layer, 1)
    assert exact_rank(layer, p, on_a_line=True) == dimension
    generic = judged(layer, p)
    assert (generic.rank, generic.regular) == (dimension, True)
    change(p)
    assert exact_rank(layer, p, on_a_line=True) == rank
    found = judged(layer, p)
    assert found.dimension.exact == dimension
    assert found.to_json()["rank_at_weights"] == rank
    assert found.to_json()["regular"] is (rank == dimension)
    regular = dict(found.facts())["regular point"]
    if rank < dimension:
        assert regular.startswith(f"no (proved: the rank of the differential is at most {rank},")
    else:
        assert regular.startswith("yes (proved: the rank of the differential is the dimension")


@pytest.mark.parametrize("d", [1, 2])
def test_values_of_more_rows_than_columns_hide_no_negative_number(d: int) -> None:
    """A constant may be moved by changes of O and V that preserve OV, not only by biases."""
    layer = softmax(d, d + 3, 1, v=d + 1, **V_BIAS)
    p = drawn(layer, 2)
    found = judged(layer, p)
    rank = exact_rank(layer, p, on_a_line=True)
    assert found.dimension.exact == rank
    named = dict(found.symmetries.named)
    assert sum(named.values()) == sum(part.size for part in p.values()) - rank
    assert all(size > 0 for size in named.values())
    assert "O, V and the bias of V with the same OV and constant" in named


def plant(p: Parameters, random: Random) -> None:
    """Make some matrices equal, zero or of smaller rank."""
    h, g = (random.randrange(len(p["V"])) for _ in range(2))
    kind = random.randrange(7)
    if kind == 0 and "O" in p:
        p["O"][h] = random.choice([-1, 1, 2]) * p["O"][g]
    elif kind == 1 and "O" in p:
        p["O"][h][:, 0] = 2 * p["O"][h][:, -1]
    elif kind == 2 and "O" in p:
        p["O"][h] = 0 * p["O"][h]
    elif kind == 3:
        p["V"][h][0] = 3 * p["V"][h][-1]
    elif kind == 4 and "V_bias" in p:
        p["V_bias"][h] = p["V"][h].sum(1)
    elif kind == 5:
        p["K"][h][0] = 2 * p["K"][h][-1]
    elif kind == 6:
        p["V"][h] = 0 * p["V"][h]


@pytest.mark.parametrize("seed", [*range(8), *map(slow, range(8, 24))])
def test_random_special_layers(seed: int) -> None:
    """Bounds for the rank at the weights hold, and so does what is said of regular points."""
    random = Random(seed)
    layer = softmax(
        random.choice([2, 2, 3]),
        random.randrange(1, 4),
        1,
        v=random.choice([None, 1, 2, 3]),
        heads=random.randrange(1, 3),
        biases=random.choice(["QKV", "V", "QV"]),
        norm=random.choice(["", "layer", "rms"]),
    )
    p = drawn(layer, seed)
    for _ in range(random.randrange(1, 4)):
        plant(p, random)
    rank = exact_rank(layer, p, on_a_line=True)
    found = judged(layer, p)
    assert (found.rank or 0) <= rank
    assert found.most_rank is None or rank <= found.most_rank
    if found.regular is not None:
        assert found.regular is (rank == found.dimension.exact)

"""Upper bounds with heads, compared with ranks of a forward pass that knows none of their lemmas."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from m2bridge import dimension
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.deep_attention.upper_bounds import bound_by_bases, certified_bound
from tests.forward_pass import Layer, drawn, exact_network_rank
from tests.tiers import few

# Of each network its dimension, and the sum of the bounds of its layers without bases.
HEADS_IN_SEVERAL_LAYERS = {
    "2-4-4-a1-1-t2-h2": (48, 64),
    "2-3-4-a4-1-t4-h2": (39, 48),
    "2-3-4-a1-2-t2-h2": (45, 54),
    "2-3-1-a3-1-t3-h2-softmax": (27, 36),
    "1-3-2-a1-1-t2-h2-softmax": (16, 30),
}


def rank_of_forward_pass(network: DeepAttention) -> int:
    """Return the rank of the Jacobian matrix at random weights and tokens."""
    layers = [
        Layer(
            d=before,
            d_out=after,
            a=a,
            heads=network.heads,
            softmax=network.softmax,
            tokens=network.t,
        )
        for (before, after), a in zip(pairwise(network.widths), network.a, strict=True)
    ]
    weights = [drawn(layer, seed) for seed, layer in enumerate(layers)]
    return exact_network_rank(layers, weights, skip=False)


@pytest.mark.parametrize("key", few(HEADS_IN_SEVERAL_LAYERS, 2))
def test_bases_between_layers_decide_dimensions_with_heads(key: str) -> None:
    network = DeepAttention.from_key(key)
    value, without_bases = HEADS_IN_SEVERAL_LAYERS[key]
    found = dimension(network)
    assert (found.dimension, found.status) == (value, "proved")
    assert rank_of_forward_pass(network) == value
    assert certified_bound(network) == without_bases


def test_one_input_fills_as_many_hidden_widths_as_there_are_heads_that_differ() -> None:
    softmax = DeepAttention([1, 5, 2], a=1, heads=3, normalization="softmax")
    assert bound_by_bases(softmax).because.startswith("hidden widths 3, which heads fill")
    # all heads of lightning attention are x ↦ x³ up to scalings
    lightning = DeepAttention([1, 5, 2], a=1, heads=3)
    assert bound_by_bases(lightning).because.startswith("hidden widths 1, which heads fill")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("normalization", "number", "most"), [("none", 40, 80), ("softmax", 20, 60)]
)
def test_no_bound_is_below_a_rank_and_most_are_attained(
    normalization: str, number: int, most: int
) -> None:
    random = Random(2026)
    attained = compared = 0
    # with one input the scores of softmax are not independent, as the forward pass takes them to be
    least_inputs, least_tokens = (2, 2) if normalization == "softmax" else (1, 1)
    while compared < number:
        layers = random.choice((2, 2, 3))
        widths = [random.randint(1, 4) for _ in range(layers)]
        network = DeepAttention(
            [random.randint(least_inputs, 4), *widths],
            [random.randint(1, 3) for _ in range(layers)],
            t=random.randint(least_tokens, 3),
            heads=random.randint(2, 3),
            normalization=normalization,
        )
        if network.parameter_count > most:
            continue
        compared += 1
        rank = rank_of_forward_pass(network)
        upper = network.upper_bounds(0)[0].value
        assert rank <= upper, network.key
        attained += rank == upper
    assert attained > 0.8 * number


def test_hidden_widths_are_at_most_cubes() -> None:
    """All outputs of a layer from width d lie in a space of dimension d·d², and may fill it."""
    wide, filled = (DeepAttention((2, width, 2), 2, 2, heads=5) for width in (9, 8))
    assert bound_by_bases(wide).value == bound_by_bases(filled).value
    assert bound_by_bases(wide).because.startswith("hidden widths 8, which heads fill; ")
    assert bound_by_bases(filled).because.startswith("layer by layer: ")

"""Several layers with biases or norms: what is said of the network against its real forward pass.

Ranks of its Jacobian matrix are those of :mod:`tests.forward_pass`, which knows no lemma and shares
nothing with the ranks of m2bridge, that are computed in balls where there are roots.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy
import pytest

from m2bridge import weights
from m2bridge.errors import InvalidCaseError
from m2bridge.families.attention.layers_in_a_row import BEHIND_LAYER_NORM
from tests.forward_pass import Layer, Parameters, drawn, exact_network_rank, exact_rank


def state_of(ps: list[Parameters]) -> dict[str, Any]:
    """A state dict of these layers with the names of GPT-2."""
    state = {}
    for k, p in enumerate(ps):
        matrices = [p[x].reshape(-1, p[x].shape[2]) for x in "QKV"]
        block = f"h.{k}"
        state[f"{block}.attn.c_attn.weight"] = numpy.concatenate(matrices).T
        if "Q_bias" in p:
            biases = [p[f"{x}_bias"].ravel() for x in "QKV"]
            state[f"{block}.attn.c_attn.bias"] = numpy.concatenate(biases)
        state[f"{block}.attn.c_proj.weight"] = numpy.concatenate(list(p["O"]), 1).T
        names = {"O_bias": "attn.c_proj.bias", "gamma": "ln_1.weight", "beta": "ln_1.bias"}
        for letter, name in names.items():
            if letter in p:
                state[f"{block}.{name}"] = p[letter]
    return state


def network_of(layers: list[Layer], ps: list[Parameters], skip: bool) -> Any:
    first = layers[0]
    return weights(
        state_of(ps),
        heads=first.heads,
        skip=skip,
        norm=first.norm or None,
        normalization="softmax" if first.softmax else "none",
    ).network


def layer(heads: int = 2, d: int = 2, **parts: Any) -> Layer:
    return Layer(d, d, d // heads, v=d // heads, heads=heads, **parts)


BIASED: dict[str, Any] = {"biases": "QKV", "output_bias": True}
BEHIND: dict[str, Any] = {**BIASED, "norm": "layer", "beta": True}
TWICE = {
    "biases": (layer(**BIASED), False),
    "biases, skip": (layer(**BIASED), True),
    "biases without that of the outputs": (layer(biases="QKV"), False),
    "LayerNorm, skip": (layer(norm="layer"), True),
    "LayerNorm and biases": (layer(1, 3, **BEHIND), False),
    "LayerNorm and biases, skip": (layer(**BEHIND), True),
    "RMSNorm": (layer(norm="rms"), False),
    "RMSNorm and biases, skip": (layer(**BIASED, norm="rms"), True),
    "softmax and biases": (layer(**BIASED, softmax=True), False),
    "softmax and biases, skip": (layer(**BIASED, softmax=True), True),
    "softmax behind LayerNorm": (layer(**BEHIND, softmax=True), False),
    "softmax behind LayerNorm, skip": (layer(**BEHIND, softmax=True), True),
    "softmax behind RMSNorm": (layer(norm="rms", softmax=True), False),
}


@pytest.mark.parametrize("name", TWICE)
def test_the_dimension_is_the_rank_of_the_forward_pass(name: str) -> None:
    """Both bounds meet, all redundant directions are named, and the weights are regular."""
    one, skip = TWICE[name]
    ps = [drawn(one, seed) for seed in (1, 2)]
    network = network_of([one, one], ps, skip)
    rank = exact_network_rank([one, one], ps, skip)
    found = network.to_json()
    assert found["parameters"] == sum(array.size for p in ps for array in p.values())
    assert found["dimension"] == found["rank_at_weights"] == rank
    assert found["lower_bound"] == found["upper_bound"]["value"] == rank
    assert found["redundant"] == found["parameters"] - rank == found["listed_symmetries"]
    assert sum(part["dimension"] for part in found["symmetries"]) == found["redundant"]
    assert found["unnamed"] == 0
    assert found["other_symmetries"] is False
    assert network.regular is True
    assert found["note"] is None


def test_three_layers() -> None:
    three = [layer(**BIASED)] * 3
    ps = [drawn(one, seed) for seed, one in enumerate(three, 1)]
    found = network_of(three, ps, skip=False)
    assert found.dimension.exact == exact_network_rank(three, ps, skip=False)
    assert found.regular


PLANTED = ["biases", "biases, skip", "LayerNorm and biases", "softmax and biases, skip"]


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.parametrize("place", [0, 1])
def test_a_singular_head_makes_a_network_critical(name: str, place: int) -> None:
    """The dimension is that of generic weights; the rank at these is less, and bounded above."""
    _, skip = TWICE[name]
    # A has rank 2 on the coordinates of tokens, of which LayerNorm takes one.
    d = 3 if "LayerNorm" in name else 2
    one = replace(TWICE[name][0], d=d, d_out=d, a=2, v=2, heads=1)
    ps = [drawn(one, seed) for seed in (1, 2)]
    regular = network_of([one, one], ps, skip)
    assert regular.regular is True
    for x in ("K", "K_bias"):
        ps[place][x][0, 1] = 2 * ps[place][x][0, 0]
    rank = exact_network_rank([one, one], ps, skip)
    network = network_of([one, one], ps, skip)
    assert network.dimension.exact == regular.dimension.exact
    assert network.rank == rank < network.dimension.exact
    assert rank <= network.most_rank < network.dimension.exact
    assert network.regular is False


def test_what_a_layer_norm_takes_away_is_named() -> None:
    one, skip = TWICE["LayerNorm and biases"]
    ps = [drawn(one, seed) for seed in (1, 2)]
    found = network_of([one, one], ps, skip).to_json()
    named = {part["name"]: part["dimension"] for part in found["symmetries"]}
    # O + 1·uᵀ for values of dimension 3, a bias, and rotations of the plane Σ x_i = 0.
    assert named[BEHIND_LAYER_NORM] == 4
    assert named["O(2) between a layer and the next norm"] == 1


def test_widths_that_heads_do_not_fill_leave_a_network_between_bounds() -> None:
    """No more is claimed than is proved."""
    one = Layer(3, 3, 1, v=1, heads=2, **BIASED)
    ps = [drawn(one, seed) for seed in (1, 2)]
    network = network_of([one, one], ps, skip=False)
    rank = exact_network_rank([one, one], ps, skip=False)
    assert network.dimension.exact is None
    assert network.dimension.lower == rank < network.dimension.upper
    assert network.regular is None
    assert network.to_json()["other_symmetries"] is None
    assert f"at least {rank}" in network.note


def test_tokens_are_not_turned_where_no_bias_replaces_beta() -> None:
    """γ and β are taken as they are, and there are no rotations before the norm."""
    one = layer(norm="rms", beta=True)
    ps = [drawn(one, seed) for seed in (1, 2)]
    found = network_of([one, one], ps, skip=False).to_json()
    rank = exact_network_rank([one, one], ps, skip=False, fixed=["gamma", "beta"])
    assert found["dimension"] == rank
    assert not any("O(2)" in part["name"] for part in found["symmetries"])
    for p in ps:
        p["beta"] = 0 * p["beta"]
    found = network_of([one, one], ps, skip=False).to_json()
    turned = exact_network_rank([one, one], ps, skip=False, fixed=["gamma", "beta"])
    assert found["dimension"] == turned == rank - 1


def test_skip_connections_need_equal_widths() -> None:
    ps = [drawn(Layer(3, 2, 1, v=1, **BIASED), 1), drawn(Layer(2, 3, 1, v=1, **BIASED), 2)]
    with pytest.raises(InvalidCaseError, match="widths that are all equal"):
        weights(state_of(ps), skip=True)


def test_a_given_A_is_not_differentiated() -> None:
    random = numpy.random.default_rng(1)
    state = {}
    for k in range(2):
        sizes = {"A": (2, 2), "V": (2, 2), "V_bias": (2,)}
        state |= {f"{k}.{x}": random.integers(-9, 10, size) / 4 for x, size in sizes.items()}
    network = weights(state).network
    assert network.rank is None
    assert "need K and Q" in network.note
    assert network.dimension.exact is None


def test_a_large_network_has_bounds_and_the_limit_is_said() -> None:
    one = layer(2, 8, **BEHIND)
    ps = [drawn(one, seed) for seed in (1, 2)]
    network = network_of([one, one], ps, skip=True)
    assert network.rank is None
    assert network.dimension.upper == network.to_json()["upper_bound"]["value"]
    assert "up to 400 parameters" in network.note
    assert "up to 400 parameters" in network.symmetries.words()
    assert network.to_json()["regular"] is None


def test_one_layer_of_softmax_with_biases_is_its_network() -> None:
    one = layer(**BIASED, softmax=True)
    p = drawn(one, 1)
    found = weights(state_of([p]), heads=2, normalization="softmax")
    content = found.to_json()
    (alone,) = content["layers"]
    assert content["network"]["dimension"] == exact_rank(one, p)
    assert content["network"].items() <= alone.items()
    assert content["network"]["regular"] is True
    assert ("regular point", "yes (proved)") in found.network.facts()

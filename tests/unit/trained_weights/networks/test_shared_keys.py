"""Layers whose heads share keys and values, and those with rotary positions.

Ranks of the Jacobian matrix are those of :mod:`tests.forward_pass`, which knows no lemma, by the
parameters of the file: a key that heads share is one of them.
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy
import pytest

from m2bridge import weights
from m2bridge.errors import InvalidCaseError
from tests.forward_pass import Layer, Parameters, drawn, exact_network_rank, exact_rank
from tests.unit.trained_weights.networks.test_layers_and_networks import (
    PERMUTATIONS,
    listed,
    shared,
)

LLAMA = {"Q": "q_proj", "K": "k_proj", "V": "v_proj", "O": "o_proj"}
"""The names of the matrices of LLaMA."""


def state(layer: Layer, p: Parameters, sharing: int, prefix: str = "") -> dict[str, Any]:
    """The arrays of the file, by the names of LLaMA."""
    _, file = shared(p, sharing)
    found = {f"{prefix}self_attn.{LLAMA[x]}.weight": file[x] for x in "QKVO"}
    for x in layer.biases:
        bias = p[f"{x}_bias"]
        heads = bias[::sharing] if x in "KV" else bias
        found[f"{prefix}self_attn.{LLAMA[x]}.bias"] = heads.ravel()
    if layer.output_bias:
        found[f"{prefix}self_attn.o_proj.bias"] = p["O_bias"]
    if layer.norm:
        found[f"{prefix}input_layernorm.weight"] = p["gamma"]
    if layer.beta:
        found[f"{prefix}input_layernorm.bias"] = p["beta"]
    return found


def tied(p: Parameters, sharing: int) -> Parameters:
    """The parameters with those of the first head of each group for all of its heads."""
    found = dict(p)
    for name in ("K", "V", "K_bias", "V_bias"):
        if name in p:
            found[name] = p[name][::sharing].repeat(sharing, 0)
    return found


def normalization(layer: Layer) -> str:
    return "softmax" if layer.softmax else "none"


LAYERS = [
    (Layer(4, 4, 2, v=2, heads=2, norm="rms"), 2, (40, 36)),
    (Layer(3, 2, 1, v=1, heads=4), 2, None),
    (Layer(3, 2, 2, v=1, heads=4), 2, None),
    (Layer(2, 2, 2, v=2, heads=4), 2, None),
    (Layer(2, 3, 1, v=2, heads=3), 3, None),
    (Layer(3, 1, 2, v=2, heads=2), 2, None),
    (Layer(2, 1, 3, v=3, heads=2), 2, None),
    (Layer(3, 2, 1, v=1, heads=4, biases="QKV"), 2, None),
    (Layer(2, 2, 1, v=1, heads=4, biases="QKV", output_bias=True), 2, None),
    (Layer(3, 3, 1, v=1, heads=2, norm="layer", beta=True, biases="QKV"), 2, None),
]
"""Layers, how many heads share keys and values, and dimensions for softmax and lightning attention
that were found elsewhere.
"""


@pytest.mark.parametrize("softmax", [True, False])
@pytest.mark.parametrize(("layer", "sharing", "known"), LAYERS)
def test_the_dimension_is_the_rank_of_the_jacobian_matrix(
    layer: Layer, sharing: int, known: tuple[int, int] | None, softmax: bool
) -> None:
    layer = replace(layer, softmax=softmax, tokens=3 if softmax else 2)
    p = tied(drawn(layer, 1), sharing)
    rank = exact_rank(layer, p, sharing=sharing)
    file = state(layer, p, sharing)
    found = weights(file, heads=layer.heads, normalization=normalization(layer))
    (own,) = found.to_json()["layers"]
    assert own["parameters"] == sum(array.size for array in file.values())
    assert own["redundant_at_least"] <= own["parameters"] - rank
    assert own["dimension"] in (rank, None)
    if own["dimension"] is None:
        assert (own["lower_bound"] or 0) <= rank <= own["upper_bound"]["value"]
        # A group of more heads than matrices A that are independent.
        assert own["listed_symmetries"] < own["parameters"] - rank or softmax
    else:
        assert own["regular"] is True
    if known is not None:
        assert rank == own["dimension"] == known[0 if softmax else 1]


def test_each_reason_for_bounds_is_the_right_one_and_given_once() -> None:
    # With K of rank one the rank at the weights is smaller than at random ones.
    layer = Layer(3, 2, 2, v=1, heads=4)
    p = tied(drawn(layer, 1), 2)
    p["K"] = 0 * p["K"] + numpy.array([1, 0, 0])
    (own,) = weights(state(layer, p, 2), heads=4, normalization="none").to_json()["layers"]
    assert own["rank_at_weights"] < own["lower_bound"] < own["upper_bound"]["value"]
    assert own["upper_bound"]["reason"] == (
        "the rank of the differential modulo 2147483647; the parameters less the dimensions"
        " of the listed symmetries"
    )
    # Many heads for one output: at most 2·3 coefficients of a tensor T(x, x, y), d = 2.
    layer = Layer(2, 1, 1, v=1, heads=8)
    p = tied(drawn(layer, 1), 2)
    (own,) = weights(state(layer, p, 2), heads=8, normalization="none").to_json()["layers"]
    assert own["dimension"] == 6 == exact_rank(layer, p, sharing=2)
    assert own["upper_bound"]["reason"].endswith("; the number of coefficients")
    # The dimension of a single head is known by a theorem, to which an output bias adds 2.
    layer = Layer(3, 2, 2, v=1, heads=1, output_bias=True)
    p = drawn(layer, 1)
    (own,) = weights(state(layer, p, 1), heads=1, normalization="none").to_json()["layers"]
    assert own["dimension"] == 13 == exact_rank(layer, p)
    assert own["upper_bound"]["reason"] == (
        "the dimension of the functions of the heads, and 2 for what the layer adds"
    )


ROTARY = [
    (Layer(4, 4, 2, v=2, heads=2, norm="rms"), 2, (42, 38)),
    (Layer(3, 3, 2, v=1, heads=2), 1, None),
    (Layer(3, 3, 4, v=1, heads=2), 2, None),
    (Layer(3, 3, 2, v=2, heads=2, biases="QKV"), 2, None),
]


@pytest.mark.parametrize("softmax", [True, False])
@pytest.mark.parametrize(("layer", "sharing", "known"), ROTARY)
def test_rotary_positions_leave_what_commutes_with_rotations(
    layer: Layer, sharing: int, known: tuple[int, int] | None, softmax: bool, tmp_path: Path
) -> None:
    # As many tokens as decide it: one more than coordinates that are rotated.
    layer = replace(layer, softmax=softmax, rotary=True, tokens=layer.a + 1)
    p = tied(drawn(layer, 2), sharing)
    file = state(layer, p, sharing)
    config = {
        "model_type": "llama",
        "num_attention_heads": layer.heads,
        "num_key_value_heads": layer.heads // sharing,
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    numpy.savez(tmp_path / "w.npz", **file)
    own_norm = None if layer.norm else "none"
    found = weights(tmp_path, normalization=normalization(layer), norm=own_norm)
    (own,) = found.to_json()["layers"]
    rank = exact_rank(layer, p, sharing=sharing)
    if layer.biases and not softmax:
        assert own["dimension"] is None
        assert rank <= own["upper_bound"]["value"]
        return
    assert own["dimension"] == rank
    # It is decided by the ranks of K and Q, where these are onto.
    assert own["regular"] is (True if layer.a <= layer.d or not softmax else None)
    assert found.heads[0].ranks.r == min(layer.a, layer.d)
    if known is not None:
        assert rank == known[0 if softmax else 1]


@pytest.mark.slow
def test_the_architecture_is_what_config_json_says_unless_an_option_does(tmp_path: Path) -> None:
    layer = Layer(4, 4, 2, v=2, heads=2, norm="layer", beta=True)
    arrays = {}
    for number in range(2):
        p = drawn(layer, number)
        arrays |= state(layer, p, 1, f"transformer.h.{number}.")
    numpy.savez(tmp_path / "w.npz", **arrays)
    title = weights(tmp_path, heads=2).to_sheet().title
    assert title.startswith("Weights of lightning self-attention")
    assert title.endswith("nn.MultiheadAttention, say --as softmax")
    config = {"model_type": "gpt2", "n_head": 2, "n_embd": 4}
    (tmp_path / "config.json").write_text(json.dumps(config))
    found = weights(tmp_path)
    assert found.to_sheet().title == (
        "GPT-2: softmax, skip connections, LayerNorm before; --as lightning for the algebraic model"
        " of the paper"
    )
    model = found.to_json()["model"]
    assert model == {
        "architecture": "GPT-2",
        "normalization": "softmax",
        "skip": True,
        "rotary": False,
        "object": None,
    }
    network = found.to_json()["network"]
    assert network["skip"] is True
    # A rotation between layers is undone by no skip connection.
    assert not [x for x in network["symmetries"] if x["name"].startswith(("O(", "GL(4)"))]
    plain = weights(tmp_path, as_="lightning").to_json()
    assert plain["model"]["architecture"] is None
    assert plain["network"]["skip"] is False
    assert weights(tmp_path, skip=False).to_json()["network"]["skip"] is False
    assert weights(tmp_path, normalization="none").to_json()["model"]["skip"] is True
    with pytest.raises(InvalidCaseError, match="contradicts"):
        weights(tmp_path, as_="lightning", normalization="softmax")


NETWORKS = [
    (Layer(2, 2, 1, v=1, heads=2), True),
    (Layer(3, 3, 1, v=1, heads=2), False),
    (Layer(2, 2, 1, v=1, heads=2, biases="QKV", output_bias=True), True),
    (Layer(3, 3, 1, v=1, heads=2, norm="rms"), True),
    (Layer(3, 3, 1, v=1, heads=2, norm="layer"), False),
]


@pytest.mark.parametrize("softmax", [True, False])
@pytest.mark.parametrize(("layer", "skip"), NETWORKS)
def test_the_dimension_of_a_network_is_the_rank_of_its_jacobian_matrix(
    layer: Layer, skip: bool, softmax: bool
) -> None:
    layer = replace(layer, softmax=softmax)
    ps = [tied(drawn(layer, number), 2) for number in (1, 2)]
    file = {}
    for number, p in enumerate(ps):
        file |= state(layer, p, 2, f"layers.{number}.")
    # Without a β its name is that of an RMSNorm.
    found = weights(
        file, heads=2, skip=skip, normalization=normalization(layer), norm=layer.norm or None
    )
    network = found.to_json()["network"]
    rank = exact_network_rank([layer] * 2, ps, skip, sharing=2)
    assert network["parameters"] == sum(array.size for array in file.values())
    assert network["lower_bound"] <= rank <= network["upper_bound"]["value"]
    assert network["dimension"] in (rank, None)
    assert network["rank_at_weights"] in (rank, None)
    assert network["redundant_at_least"] <= network["parameters"] - rank
    # Heads that do not fill the space between layers without skips have bounds.
    if skip or layer.norm:
        assert network["dimension"] == rank


def test_what_a_norm_hides_of_shared_keys_is_not_counted_twice() -> None:
    """Two heads that share all of A and V have one function of the tokens behind this norm."""
    first = Layer(2, 2, 1, v=2, heads=2, norm="layer")
    layers = [first, replace(first, d_out=3)]
    ps = [tied(drawn(layer, seed), 2) for layer, seed in zip(layers, (50, 51), strict=True)]
    file = {}
    for number, (layer, p) in enumerate(zip(layers, ps, strict=True)):
        file |= state(layer, p, 2, f"layers.{number}.")
    network = weights(file, heads=2, norm="layer").to_json()["network"]
    assert network["dimension"] == exact_network_rank(layers, ps, False, sharing=2) == 4
    assert network["rank_at_weights"] == 4
    assert network["regular"] is True


def test_what_is_left_out_has_its_reason_and_tied_embeddings_are_said(tmp_path: Path) -> None:
    """The layers have the same answers with and without embeddings, tied or not."""
    layer = Layer(4, 4, 2, v=2, heads=2, norm="rms")
    p = tied(drawn(layer, 1), 2)
    file = state(layer, p, 2, "model.layers.0.")
    config = {"model_type": "llama", "num_attention_heads": 2, "num_key_value_heads": 1}
    words = {}
    layers = []
    for name, own in {
        "none": {},
        "tied": {"model.embed_tokens.weight": numpy.ones((5, 4))},
        "separate": {
            "model.embed_tokens.weight": numpy.ones((5, 4)),
            "lm_head.weight": numpy.ones((5, 4)),
        },
    }.items():
        folder = tmp_path / name
        folder.mkdir()
        said = config | {"tie_word_embeddings": name != "separate"}
        (folder / "config.json").write_text(json.dumps(said))
        numpy.savez(folder / "w.npz", **file, **own)
        found = weights(folder)
        layers.append(found.to_json()["layers"])
        words[name] = " ".join(str(found).split())
        assert any("embeddings are tied" in remark for remark in found.remarks) is (name == "tied")
    assert layers[0] == layers[1] == layers[2]
    outside = "before and after the layers, whose tokens are arbitrary vectors"
    assert f"embeddings (1): {outside}" in words["tied"]
    assert f"embeddings (1), heads of the model (1): {outside}" in words["separate"]
    assert outside not in words["none"]


@pytest.mark.parametrize(
    ("classes", "with_outputs", "are_tied"),
    [
        (["LlamaForCausalLM"], False, True),
        (["LlamaForCausalLM"], True, False),
        (["LlamaModel"], False, False),
        (["LlamaForSequenceClassification"], False, False),
        (["T5ForConditionalGeneration"], False, True),
        (["BertGenerationEncoder"], False, False),
        (["BertGenerationDecoder"], False, True),
        (None, True, False),
        (None, False, False),
    ],
)
def test_embeddings_are_tied_only_where_outputs_have_no_matrix_of_their_own(
    classes: list[str] | None, with_outputs: bool, are_tied: bool, tmp_path: Path
) -> None:
    """A config.json without ``tie_word_embeddings``."""
    layer = Layer(4, 4, 2, v=2, heads=2, norm="rms")
    file = state(layer, tied(drawn(layer, 1), 2), 2, "model.layers.0.")
    file["model.embed_tokens.weight"] = numpy.ones((5, 4))
    if with_outputs:
        file["lm_head.weight"] = numpy.ones((5, 4))
    config = {"model_type": "llama", "num_attention_heads": 2, "num_key_value_heads": 1}
    said = config | ({} if classes is None else {"architectures": classes})
    (tmp_path / "config.json").write_text(json.dumps(said))
    numpy.savez(tmp_path / "w.npz", **file)
    assert any("embeddings are tied" in remark for remark in weights(tmp_path).remarks) is are_tied


def keeps_groups(p: Parameters, sharing: int, order: tuple[int, ...]) -> bool:
    """Whether heads in this order are those of groups with one K, where positions rotate keys.

    In each plane K and Q are complex vectors k and q, and all k* q beside each other have rank 1.
    """
    planes = p["K"].shape[1] // 2
    k, q = (p[x][:, :planes] + 1j * p[x][:, planes:] for x in "KQ")
    for start in range(0, len(order), sharing):
        for plane in range(planes):
            beside = [numpy.outer(k[h, plane].conj(), q[h, plane]) for h in order[start:][:sharing]]
            if numpy.linalg.matrix_rank(numpy.hstack(beside)) > 1:
                return False
    return True


@pytest.mark.parametrize("softmax", [False, True])
@pytest.mark.parametrize(("heads", "sharing"), [(4, 2), (2, 1)])
def test_rotations_leave_only_permutations_that_keep_groups(
    heads: int, sharing: int, softmax: bool, tmp_path: Path
) -> None:
    """Without them any A and V are those of such heads: all permutations, or GL(H)."""
    layer = Layer(2, 2, 2, v=2, heads=heads, softmax=softmax, rotary=True)
    p = tied(drawn(layer, 1), sharing)
    kept = sum(keeps_groups(p, sharing, order) for order in permutations(range(heads)))
    config = {
        "model_type": "llama",
        "num_attention_heads": heads,
        "num_key_value_heads": heads // sharing,
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    numpy.savez(tmp_path / "w.npz", **state(layer, p, sharing))
    found = weights(tmp_path, normalization=normalization(layer), norm="none")
    assert listed(found) == {PERMUTATIONS: kept}

"""Each array of a file is used, or left out for a reason, or the file is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy
import pytest
from click.testing import CliRunner
from safetensors.numpy import save_file

from m2bridge import weights
from m2bridge.cli.commands import cli
from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.trained_weights.checkpoints.accounting import REASONS, REASONS_BY_OPTIONS
from m2bridge.trained_weights.checkpoints.array_names import NAMES
from tests.unit.trained_weights.checkpoints.test_layouts import (
    HEADS,
    LAYOUTS,
    A,
    Arrays,
    D,
    L,
    Planted,
    found_ranks,
    llama,
)


def uses(state: Any, **options: Any) -> dict[str, str]:
    found = weights(state, heads=HEADS, **options)
    assert [use.name for use in found.arrays] == list(state)
    for use in found.arrays:
        assert bool(use.used_for) is not bool(use.left_out_because)
    return {use.name: use.used_for or use.left_out_because for use in found.arrays}


def test_each_array_is_listed_once() -> None:
    p = Planted()
    state = {
        "h.0.attn.c_attn.weight": p.stacked.T,
        "h.0.attn.c_attn.bias": numpy.ones(3 * D),
        "h.0.attn.c_proj.weight": p.O.T,
        "h.0.attn.bias": numpy.ones((1, 1, 4, 4)),
        "h.0.ln_1.weight": numpy.ones(D),
        "h.0.ln_1.bias": numpy.ones(D),
        "h.0.mlp.c_fc.weight": numpy.ones((D, D)),
        "what": numpy.ones(2),
    }
    one_to_one = "whose functions with a mask and without it correspond one to one"
    assert uses(state) == {
        "h.0.attn.c_attn.weight": "Q, K and V of layer 1",
        "h.0.attn.c_attn.bias": "bias of Q, K and V of layer 1",
        "h.0.attn.c_proj.weight": "O of layer 1",
        "h.0.attn.bias": f"masks: no weights of the model, {one_to_one}",
        "h.0.ln_1.weight": "γ of the norm before the heads of layer 1",
        "h.0.ln_1.bias": "β of the norm before the heads of layer 1",
        "h.0.mlp.c_fc.weight": "MLPs: each layer determines the same without them, and several layers are taken"
        " without them",
        "what": "other: not in the model of a layer",
    }
    without = uses(state, biases="ignore", norm="none", ignore="wh*t")
    assert without["what"] == "ignored arrays: left out as --ignore says"
    assert without["h.0.attn.c_attn.bias"].startswith("biases: left out as --biases says")
    assert without["h.0.ln_1.weight"].startswith("norms: left out as --norm-before says")


def test_a_norm_after_a_layer_is_left_out_of_it() -> None:
    state = LAYOUTS["nn.MultiheadAttention of PyTorch"](Planted())
    state = {f"layers.0.self_attn.{name}": array for name, array in state.items()}
    state |= {f"layers.0.norm1.{name}": numpy.ones(D) for name in ("weight", "bias")}
    said = uses(state)
    assert said["layers.0.norm1.weight"].startswith("norms: each layer determines the same")
    assert weights(state, heads=HEADS).left_out == ("norms (2)",)
    # Where it is said to be before the layer, it is used.
    used = uses(state, norm="layer")
    assert used["layers.0.norm1.weight"] == "γ of the norm before the heads of layer 1"


def test_what_arrays_are_for_is_in_json_and_on_request(tmp_path: Path) -> None:
    save_file(llama(Planted()) | {"lm_head.weight": numpy.ones((3, 3))}, tmp_path / "m.safetensors")
    file = str(tmp_path / "m.safetensors")
    said = CliRunner().invoke(cli, ["weights", file, "--heads", "4", "--json"]).stdout
    arrays = json.loads(said)["arrays"]
    assert {array["name"]: array["used_for"] for array in arrays} == {
        **{f"{L}.{x}_proj.weight": f"{x.upper()} of layer 1" for x in "qkvo"},
        "lm_head.weight": None,
    }
    shown = CliRunner().invoke(cli, ["weights", file, "--heads", "4"]).stdout
    assert "4 of 5 arrays are used" in shown
    assert "Q of layer 1" not in shown
    listed = CliRunner().invoke(cli, ["weights", file, "--heads", "4", "--arrays"]).stdout
    assert "Q of layer 1" in listed
    assert "left out: heads of the model" in listed


def test_each_kind_that_is_left_out_has_a_reason() -> None:
    kinds = {*NAMES["others"], *NAMES["beside"]}
    assert kinds == REASONS.keys() - {"ignored arrays", "other"}
    assert REASONS_BY_OPTIONS.keys() <= kinds


@pytest.mark.parametrize("name", ["LLaMA, Mistral, Qwen2, Gemma", "GPT-2 of Hugging Face", "timm"])
def test_the_number_of_heads_is_asked_for(name: str, tmp_path: Path) -> None:
    state = {x: numpy.ascontiguousarray(y) for x, y in LAYOUTS[name](Planted()).items()}
    with pytest.raises(InvalidCaseError, match=r"'heads': .* nothing says how many heads"):
        weights(state)
    save_file(state, tmp_path / "m.safetensors")
    asked = CliRunner().invoke(cli, ["weights", str(tmp_path / "m.safetensors")])
    assert isinstance(asked.exception, InvalidCaseError)
    assert asked.exception.exit_code == 2


def test_shared_keys_are_named_where_heads_are_asked_for() -> None:
    with pytest.raises(InvalidCaseError, match="is 2 × 8, as heads share their keys, and nothing"):
        weights(llama(Planted(1)))


@pytest.mark.parametrize(
    "state",
    [
        {"K": numpy.eye(3), "Q": numpy.eye(3), "V": numpy.eye(3)},
        {"l.0.K": numpy.eye(3), "l.0.Q": numpy.eye(3), "l.0.V": numpy.eye(3)},
        {"W_K": numpy.eye(3), "W_Q": numpy.eye(3), "W_V": numpy.eye(3), "W_O": numpy.eye(3)},
        {"A": numpy.eye(3), "V": numpy.eye(3)},
        {"any": numpy.arange(27.0).reshape(3, 3, 3)},
    ],
)
def test_plain_files_are_of_one_head(state: Arrays) -> None:
    """As release 1.0 reads them."""
    (head,) = weights(state).heads
    assert head.shape.width == 3


def test_given_names_are_of_one_head_if_its_shape_says_so() -> None:
    names = {"query": "x", "key": "y", "value": "z"}
    thin = {"x": numpy.ones((2, 4)), "y": numpy.ones((2, 4)), "z": numpy.ones((3, 4))}
    assert len(weights(thin, **names).heads) == 1
    square = {letter: numpy.eye(4) for letter in "xyz"}
    with pytest.raises(InvalidCaseError, match="'heads': 'x' is 4 × 4, and nothing says"):
        weights(square, **names)
    assert len(weights(square, **names, heads=2).heads) == 2


def test_one_array_of_another_name_is_cut_as_it_is_said() -> None:
    p = Planted()
    state = {"any": p.stacked, "o.weight": p.O}
    names = {"stacked": "any", "output": "o.weight"}
    with pytest.raises(
        InvalidCaseError, match="'layout': 'any' is 24 × 8, which is cut in several"
    ):
        weights(state, **names, heads=HEADS)
    assert found_ranks(state, **names, heads=HEADS, layout="q-k-v") == p.ranks
    # One head is cut in one way.
    assert len(weights(state, **names, heads=1).heads) == 1


def test_t5_says_by_its_positions_how_many_heads_it_has() -> None:
    p = Planted()
    state = LAYOUTS["T5"](p)
    positions = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
    assert found_ranks(state | {positions: numpy.ones((32, HEADS))}) == p.ranks
    with pytest.raises(InvalidCaseError, match="with an entry for each of 4 heads, and not of 2"):
        weights(state | {positions: numpy.ones((32, HEADS))}, heads=2)


def test_layers_of_swin_have_their_own_numbers_of_heads() -> None:
    p, state = Planted(), {}
    for layer, heads in ((0, HEADS), (1, 2)):
        attention = f"swin.encoder.layers.{layer}.blocks.0.attention"
        state |= {
            f"{attention}.self.query.weight": p.Q,
            f"{attention}.self.key.weight": p.K,
            f"{attention}.self.value.weight": p.V,
            f"{attention}.self.relative_position_bias_table": numpy.ones((9, heads)),
            f"{attention}.output.dense.weight": p.O,
        }
    found = weights(state)
    assert [head.layer for head in found.heads] == [1] * HEADS + [2] * 2
    assert tuple((h.ranks.r, h.ranks.s) for h in found.heads[:HEADS]) == p.ranks
    assert {head.shape.a for head in found.heads[HEADS:]} == {D // 2}


def test_biases_of_beit_are_those_of_q_and_v() -> None:
    p = Planted()
    state = {"blocks.0.attn.qkv.weight": p.stacked, "blocks.0.attn.proj.weight": p.O}
    q, v = numpy.arange(1.0, D + 1), numpy.arange(D + 1.0, 2 * D + 1)
    found = weights(
        state | {"blocks.0.attn.q_bias": q, "blocks.0.attn.v_bias": v}, heads=HEADS, as_="softmax"
    )
    apart = {f"{L}.{x}_proj.weight": getattr(p, x.upper()) for x in "qkvo"}
    apart |= {f"{L}.q_proj.bias": q, f"{L}.v_proj.bias": v}
    expected = weights(apart, heads=HEADS, as_="softmax")
    assert found.to_json()["heads"] == expected.to_json()["heads"]
    assert found.left_out == ()
    with pytest.raises(InvalidCaseError, match=r"'blocks.0.attn.q_bias'"):
        weights(state | {"blocks.0.attn.q_bias": q}, heads=HEADS)


NOT_IN_MODEL = {
    "self_attn.q_norm.weight": "norms queries or keys",
    "self_attn.k_layernorm.norms.0.weight": "norms queries or keys",
    "self_attn.sinks": "attention sinks",
    "self_attn.logit_scale": "multiplies scores",
    "ls1.gamma": "multiplies the outputs",
    "gamma_1": "multiplies the outputs",
    "layer_scale1.lambda1": "multiplies the outputs",
}


@pytest.mark.parametrize("name", NOT_IN_MODEL)
def test_what_is_not_in_the_model_is_named(name: str) -> None:
    state = llama(Planted()) | {f"model.layers.0.{name}": numpy.ones(A)}
    with pytest.raises(
        InvalidCaseError, match=rf"'ignore': .*{NOT_IN_MODEL[name]}.* not in the mod"
    ):
        weights(state, heads=HEADS)
    assert weights(state, heads=HEADS, ignore=f"*{name}").heads


@pytest.mark.parametrize(
    "name", ["model.layers.1.self_attn.q_proj.weight", "model.layers.1.attn.to_queries.weight"]
)
def test_no_layer_is_missed(name: str) -> None:
    """A layer without its K, or with other names, is not left out without a word."""
    state = llama(Planted()) | {name: numpy.ones((D, D))}
    with pytest.raises(
        InvalidCaseError, match=f"'ignore': '{name}' .* is of attention by its name"
    ):
        weights(state, heads=HEADS)
    assert uses(state, ignore="*layers.1.*")[name] == "ignored arrays: left out as --ignore says"
    names = {x: f"model.layers.*.self_attn.{x[0]}_proj.weight" for x in ("query", "key", "value")}
    if name.endswith("q_proj.weight"):
        with pytest.raises(
            InvalidCaseError, match=f"'query': '{name}' matches this name but belongs to no"
        ):
            weights(state, **names, heads=HEADS)


def test_layers_between_two_networks_are_no_layers_of_one() -> None:
    state = llama(Planted()) | {
        f"model.layers.0.{name}.q_proj.weight": numpy.ones((D, D))
        for name in ("crossattention", "encoder_attention", "xattn", "attn_2")
    }
    assert set(weights(state, heads=HEADS).left_out) == {"attention to other tokens (4)"}


@pytest.mark.parametrize(
    ("name", "other"),
    [("The Annotated Transformer", "src_attn"), ("OpenAI's original Whisper", "cross_attn")],
)
def test_attention_of_a_decoder_to_an_encoder_is_no_layer(name: str, other: str) -> None:
    p = Planted()
    state = LAYOUTS[name](p)
    module = "self_attn" if "self_attn" in next(iter(state)) else "attn"
    between = {x.replace(f"{module}.", f"{other}."): y for x, y in state.items()}
    assert between.keys() != state.keys()
    assert found_ranks(state | between, heads=HEADS) == p.ranks


@pytest.mark.slow
def test_modules_that_keras_counts_are_layers_in_their_order() -> None:
    state = {}
    for number in (10, 2, 0):
        p = Planted(seed=number)
        module = "model/multi_head_attention" + (f"_{number}" if number else "")
        for x, y in LAYOUTS["Keras"](p).items():
            state[x.replace("multi_head_attention", module)] = y
    found = weights(state)
    assert found.left_out == ()
    assert [head.layer for head in found.heads[::HEADS]] == [1, 2, 3]
    first = "model/multi_head_attention/query/kernel:0"
    assert {use.name: use.used_for for use in found.arrays}[first] == "Q of layer 1"
    assert found.network is not None


def test_rows_that_are_missing_are_seen(tmp_path: Path) -> None:
    """Files of Meta in which each matrix is divided, so that the heads have too few rows."""
    p = Planted()
    half = {f"layers.0.attention.w{x}.weight": getattr(p, x.upper())[: D // 2] for x in "qkv"}
    half["layers.0.attention.wo.weight"] = numpy.ascontiguousarray(p.O[:, : D // 2])
    save_file(half, tmp_path / "half.safetensors")
    params = {"dim": D, "n_heads": HEADS, "n_layers": 1, "norm_eps": 1e-5}
    (tmp_path / "params.json").write_text(json.dumps(params))
    with pytest.raises(
        InvalidCaseError, match=r"'heads': .* is 4 × 8, and the configuration says 4"
    ):
        weights(tmp_path / "half.safetensors")
    for number in (0, 1):
        (tmp_path / f"consolidated.0{number}.pth").write_bytes(b"PK")
    with pytest.raises(ConversionError, match="one of 2 files among which each matrix is divided"):
        weights(tmp_path / "consolidated.00.pth")


def test_deberta_is_refused_by_name() -> None:
    name = "encoder.layer.0.attention.self.pos_key_proj.weight"
    with pytest.raises(InvalidCaseError, match="is of DeBERTa"):
        weights({name: numpy.ones((2, 2))})


def test_one_of_four_heads_is_no_layer() -> None:
    random = numpy.random.default_rng(0)
    names = ("query", "key", "value")
    state = {
        f"sa.heads.{h}.{x}.weight": random.normal(size=(2, 8)) for h in range(4) for x in names
    }
    state["sa.proj.weight"] = random.normal(size=(8, 8))
    given = {x: f"sa.heads.0.{x}.weight" for x in names}
    with pytest.raises(InvalidCaseError, match=r"'sa.heads.1.query.weight' is of another head"):
        weights(state, **given)
    assert len(weights(state).heads) == 4
    alone = weights(state, **given, ignore="sa.heads.1.*,sa.heads.2.*,sa.heads.3.*")
    assert alone.left_out == ("ignored arrays (9)", "'sa.proj.weight'")
    assert alone.summary is not None
    assert alone.summary.startswith("The head, without ignored arrays and 'sa.proj.weight', is")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("h.0.mlp.c_fc.bias", "MLPs"),
        ("encoder.layer.0.intermediate.dense.bias", "MLPs"),
        ("encoder.layer.0.output.dense.bias", "MLPs"),
        ("encoder.layer.0.output.LayerNorm.bias", "norms"),
        ("lm_head.bias", "heads of the model"),
        ("conv.bias", "biases"),
    ],
)
def test_a_bias_is_of_the_kind_of_its_module_in_the_text_and_in_the_list(
    name: str, kind: str
) -> None:
    found = weights(llama(Planted()) | {name: numpy.ones(3)}, heads=HEADS)
    (use,) = (use for use in found.arrays if use.kind)
    assert found.left_out == (f"{kind} (1)",)
    assert use.left_out_because == f"{kind}: {REASONS[kind]}"
    assert f"{kind} (1): {REASONS[kind]}" in str(found)

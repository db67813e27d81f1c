"""What names leave open of norms and factors, and what is taken for granted where they say it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy
import pytest
from safetensors.numpy import save_file

from m2bridge import weights
from m2bridge.errors import InvalidCaseError
from m2bridge.trained_weights.checkpoints.architecture import MODELS, read_architecture
from m2bridge.trained_weights.checkpoints.find_layers import find_layers
from m2bridge.trained_weights.checkpoints.tensors import HeadArrays

D, HEADS, A = 8, 4, 2

Arrays = dict[str, Any]


def drawn(*shape: int) -> Any:
    random = numpy.random.default_rng(sum(shape) + 31 * len(shape))
    return random.integers(1, 50, shape).astype(numpy.float32)


def linear(name: str, outputs: int = D, inputs: int = D, *, bias: bool = True) -> Arrays:
    matrix = {f"{name}.weight": drawn(outputs, inputs)}
    return matrix | ({f"{name}.bias": drawn(outputs)} if bias else {})


def norm(name: str, *, beta: bool = True) -> Arrays:
    gamma = {f"{name}.weight": drawn(D)}
    return gamma | ({f"{name}.bias": drawn(D)} if beta else {})


def four(module: str, *letters: str) -> Arrays:
    return {x: y for letter in letters for x, y in linear(f"{module}.{letter}").items()}


def saved(state: Arrays, folder: Path, config: Any = None) -> Path:
    save_file(state, folder / "model.safetensors")
    if config is not None:
        (folder / "config.json").write_text(json.dumps(config))
    return folder


def norm_of(source: Any, heads: int | None = HEADS) -> tuple[str, str, bool] | None:
    """Its place, its kind, and whether it multiplies by 1 + γ."""
    layers, _, _ = find_layers(source, {}, {}, heads)
    own = layers[0].norm
    return None if own is None else (own.place, own.kind.removesuffix("1"), own.adds_one)


def first_head(source: Any, heads: int = HEADS) -> HeadArrays:
    layers, _, _ = find_layers(source, {}, {}, heads)
    return next(layers[0].heads(1, heads))


WAV2VEC2 = four("encoder.layers.0.attention", "q_proj", "k_proj", "v_proj", "out_proj") | norm(
    "encoder.layers.0.layer_norm"
)
OPT = four("layers.0.self_attn", "q_proj", "k_proj", "v_proj", "out_proj") | norm(
    "layers.0.self_attn_layer_norm"
)
IMAGE_GPT = (
    {"h.0.attn.c_attn.weight": drawn(D, 3 * D), "h.0.attn.c_attn.bias": drawn(3 * D)}
    | {"h.0.attn.c_proj.weight": drawn(D, D)}
    | norm("h.0.ln_1", beta=False)
)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (WAV2VEC2, "stands before the layer in some models and after it in others"),
        (OPT, "stands before the layer in some models and after it in others"),
        (IMAGE_GPT, "is a LayerNorm without β in some models and an RMSNorm in others"),
    ],
)
def test_a_norm_of_which_models_differ_is_asked_for(state: Arrays, said: str) -> None:
    with pytest.raises(InvalidCaseError, match=f"Argument 'norm': .* {said}"):
        weights(state, heads=HEADS)
    (before,) = {
        head.shape.coordinates.has_norm
        for head in weights(state, heads=HEADS, norm="layer").heads
        if head.shape.coordinates
    }
    assert before
    assert weights(state, heads=HEADS, norm="none").heads


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ({"model_type": "wav2vec2", "do_stable_layer_norm": True}, "pre"),
        ({"model_type": "wav2vec2", "do_stable_layer_norm": False}, "post"),
        ({"model_type": "wav2vec2"}, "post"),
    ],
)
def test_the_configuration_says_it(config: Any, place: str, tmp_path: Path) -> None:
    sizes = {"num_attention_heads": HEADS, "hidden_size": D}
    assert norm_of(saved(WAV2VEC2, tmp_path, config | sizes)) == (place, "layer", False)


def test_the_first_gpt_has_its_norm_after_the_layer() -> None:
    """By the same names as GPT-2 has before it."""
    assert norm_of(IMAGE_GPT | norm("h.0.ln_1")) == ("pre", "layer", False)
    first = IMAGE_GPT | norm("h.0.ln_1") | {"tokens_embed.weight": drawn(9, D)}
    assert norm_of(first) == ("post", "layer", False)


@pytest.mark.parametrize(
    ("model_type", "expected"),
    [
        ("imagegpt", ("pre", "rms", False)),
        ("gpt2", ("pre", "layer", False)),
        ("openai-gpt", ("post", "layer", False)),
    ],
)
def test_one_name_of_several_models(model_type: str, expected: Any, tmp_path: Path) -> None:
    config = {"model_type": model_type, "n_head": HEADS, "n_embd": D}
    assert norm_of(saved(IMAGE_GPT, tmp_path, config)) == expected


def test_qwen_and_exaone_have_an_rms_norm_by_names_of_gpt() -> None:
    qwen = IMAGE_GPT | {"h.0.mlp.w1.weight": drawn(D, D)}
    assert norm_of(qwen) == ("pre", "rms", False)
    module = "transformer.h.0.attn.attention"
    exaone = four(module, "q_proj", "k_proj", "v_proj", "out_proj")
    assert norm_of(exaone | norm("transformer.h.0.ln_1", beta=False)) == ("pre", "rms", False)
    assert norm_of(exaone | norm("transformer.h.0.ln_1")) == ("pre", "layer", False)


@pytest.mark.parametrize("end", ["layer_norm", "final_layer_norm", "emb_layer_norm_after"])
def test_a_whole_model_shows_where_its_norms_stand(end: str) -> None:
    """Fairseq: with a norm at the end those of layers stand before them, as in ESM."""
    whole = OPT | {"embed_tokens.weight": drawn(9, D)}
    assert norm_of(whole) == ("post", "layer", False)
    assert norm_of(whole | norm(end)) == ("pre", "layer", False)


def test_nemotron_multiplies_by_one_more(tmp_path: Path) -> None:
    state = four("model.layers.0.self_attn", "q_proj", "k_proj", "v_proj", "o_proj")
    state |= norm("model.layers.0.input_layernorm")
    config = {"num_attention_heads": HEADS, "hidden_size": D}
    folder = saved(state, tmp_path, config | {"model_type": "nemotron"})
    head = first_head(folder)
    assert head.norm is not None
    assert list(head.norm.gamma) == list(1 + state["model.layers.0.input_layernorm.weight"])
    assert "the LayerNorm multiplies by 1 + γ" in weights(folder).remarks
    head = first_head(saved(state, tmp_path, config | {"model_type": "stablelm"}))
    assert head.norm is not None
    assert list(head.norm.gamma) == list(state["model.layers.0.input_layernorm.weight"])


def test_olmo_has_a_layer_norm_without_arrays(tmp_path: Path) -> None:
    state = four("model.layers.0.self_attn", "q_proj", "k_proj", "v_proj", "o_proj")
    config = {"model_type": "olmo", "num_attention_heads": HEADS, "hidden_size": D}
    found = weights(saved(state, tmp_path, config), biases="ignore")
    assert found.to_sheet().title.startswith("OLMo: softmax, skip connections, LayerNorm before,")
    # Behind it tokens have the sum 0.
    assert {head.shape.token_dimension for head in found.heads} == {D - 1}


@pytest.mark.parametrize("model_type", [x for x, row in MODELS.items() if "changes" in row])
def test_other_layers_are_refused_by_their_configuration(model_type: str, tmp_path: Path) -> None:
    state = four("model.layers.0.self_attn", "q_proj", "k_proj", "v_proj", "o_proj")
    config = {"model_type": model_type, "num_attention_heads": HEADS, "hidden_size": D}
    folder = saved(state, tmp_path, config)
    with pytest.raises(InvalidCaseError, match=r"Argument 'as_': .* not in the model here: say"):
        weights(folder)
    assert weights(folder, as_="softmax", biases="ignore").heads


def test_a_model_that_is_not_in_the_table_is_named(tmp_path: Path) -> None:
    state = four("model.layers.0.self_attn", "q_proj", "k_proj", "v_proj", "o_proj")
    config = {"model_type": "smollm9", "num_attention_heads": HEADS}
    title = weights(saved(state, tmp_path, config), biases="ignore").to_sheet().title
    assert title.endswith(
        "nn.MultiheadAttention, say --as softmax; config.json says 'smollm9', of which no architecture"
        " is known"
    )


def test_what_is_proved_is_proved_where_assumptions_hold(tmp_path: Path) -> None:
    state = four("model.layers.0.self_attn", "q_proj", "k_proj", "v_proj", "o_proj")
    state |= norm("model.layers.0.input_layernorm", beta=False)
    state = {name: array for name, array in state.items() if not name.endswith("bias")}
    found = weights(state, heads=HEADS)
    (assumed,) = found.assumed
    assert assumed.startswith("input_layernorm is an RMSNorm that multiplies by γ, as in LLaMA")
    assert found.summary is not None
    assert found.summary.endswith(f", assuming that {assumed}.")
    assert found.to_json()["assumed"] == [assumed]
    assert weights(state, heads=HEADS, norm="rms").assumed == ()
    config = {"model_type": "llama", "num_attention_heads": HEADS, "hidden_size": D}
    assert weights(saved(state, tmp_path, config)).assumed == ()


SCALED = (
    {"blocks.0.attn.qkv.weight": drawn(3 * D, D), "blocks.0.attn.qkv.bias": drawn(3 * D)}
    | linear("blocks.0.attn.proj")
    | norm("blocks.0.norm1")
)


def test_an_array_that_may_be_factors_of_outputs_is_not_passed_over() -> None:
    state = SCALED | {"blocks.0.ls1.weight": numpy.ones(D)}
    with pytest.raises(InvalidCaseError, match=r"'blocks\.0\.ls1\.weight' .* is not understood"):
        weights(state, heads=HEADS)


@pytest.mark.parametrize("name", ["ls1.gamma", "gamma_1", "layer_scale1.lambda1", "lambda_1"])
@pytest.mark.parametrize("kind", ["float32", "float64", "int64"])
def test_layer_scale_is_multiplied_into_the_outputs(name: str, kind: str) -> None:
    gamma = (drawn(D) / (1 if kind == "int64" else 64)).astype(kind)
    found = first_head(SCALED | {f"blocks.0.{name}": gamma})
    output, bias = SCALED["blocks.0.attn.proj.weight"], SCALED["blocks.0.attn.proj.bias"]
    expected = output.astype(float) * gamma.astype(float)[:, None]
    assert (found.matrices["O"] == expected[:, :A]).all()
    assert (found.O_bias == bias.astype(float) * gamma.astype(float)).all()


def test_layer_scale_that_is_zero_lowers_ranks_and_is_listed() -> None:
    gamma = numpy.zeros(D, numpy.float32)
    gamma[0] = 0.1  # which is no dyadic number of few bits
    found = weights(SCALED | {"blocks.0.ls1.gamma": gamma}, heads=HEADS)
    assert {head.ranks.s for head in found.heads} == {1}
    uses = {use.name: use.used_for for use in found.arrays}
    assert uses["blocks.0.ls1.gamma"] == "O of layer 1; bias of O of layer 1"
    assert any("LayerScale" in remark for remark in found.remarks)
    without = weights(SCALED | {"blocks.0.ls1.gamma": gamma}, heads=HEADS, ignore="*ls1.gamma")
    assert {head.ranks.s for head in without.heads} == {A}


def test_factors_of_another_length_are_refused() -> None:
    with pytest.raises(InvalidCaseError, match=r"'ignore': 'blocks.0.ls1.gamma' \(3\) belongs"):
        weights(SCALED | {"blocks.0.ls1.gamma": drawn(3)}, heads=HEADS)


def test_attention_to_other_tokens_beside_a_norm_for_them_is_no_layer() -> None:
    """The first layers of a Perceiver, whose keys see the data and whose queries do not."""
    cross = {f"layers.0.0.fn.{x}.weight": drawn(D, D) for x in ("to_q", "to_out")}
    cross |= {"layers.0.0.fn.to_kv.weight": drawn(2 * D, D)} | norm("layers.0.0.norm")
    own = {name.replace("layers.0.0", "layers.0.1"): array for name, array in cross.items()}
    found = weights(cross | norm("layers.0.0.norm_context") | own, heads=HEADS, ignore="*.0.0.*")
    assert len(found.heads) == HEADS
    assert norm_of(own) == ("pre", "layer", False)


def test_the_encoder_of_images_is_read_before_what_stands_behind_it() -> None:
    """Segment Anything."""
    encoder = {f"image_encoder.{name}": array for name, array in SCALED.items()}
    names = ("q_proj", "k_proj", "v_proj", "out_proj")
    decoder = four("mask_decoder.transformer.layers.0.self_attn", *names)
    found = weights(encoder | decoder, heads=HEADS)
    used = [use.name for use in found.arrays if use.used_for]
    assert all(name.startswith("image_encoder.") for name in used)


def test_flax_calls_the_factors_of_a_norm_scale() -> None:
    layer = "bert/encoder/layer/0/attention"
    state = {f"{layer}/self/{x}/kernel": drawn(D, D) for x in ("query", "key", "value")}
    state |= {f"{layer}/output/dense/kernel": drawn(D, D)}
    gamma = {f"{layer}/output/LayerNorm/{x}": drawn(D) for x in ("scale", "bias")}
    assert norm_of(state | gamma) == ("post", "layer", False)


def test_numbers_of_architectures_are_those_of_their_configurations() -> None:
    multi_query = {"model_type": "RefinedWebModel", "n_head": 71, "multi_query": True}
    found = read_architecture(multi_query)
    assert found is not None
    assert (found.name, found.key_value_heads) == ("Falcon", 1)
    for positions, rotary in (("rotary", True), ("absolute", False)):
        esm = {"model_type": "esm", "num_attention_heads": 4, "position_embedding_type": positions}
        found = read_architecture(esm)
        assert found is not None
        assert (found.norm_place, found.rotary) == ("pre", rotary)


LLAMA = {f"model.layers.0.self_attn.{x}_proj.weight": drawn(D, D) for x in "qkvo"}
LLAMA_CONFIG = {"model_type": "llama", "num_attention_heads": HEADS, "hidden_size": D}


def test_an_output_matrix_that_a_model_has_is_not_missed(tmp_path: Path) -> None:
    state = {name: array for name, array in LLAMA.items() if "o_proj" not in name}
    folder = saved(state, tmp_path, LLAMA_CONFIG)
    with pytest.raises(InvalidCaseError, match=r"Argument 'output': .* which LLaMA has"):
        weights(folder)
    names = {x: f"*.{x[0]}_proj.weight" for x in ("query", "key", "value")}
    assert weights(folder, **names, as_="lightning").heads


def test_integers_without_scales_are_no_weights(tmp_path: Path) -> None:
    state = {name: array.astype(numpy.int8) for name, array in LLAMA.items()}
    with pytest.raises(InvalidCaseError, match=r"holds integers of 8 bits, and no scales"):
        weights(saved(state, tmp_path, LLAMA_CONFIG))
    letters = {letter: drawn(A, D).astype(numpy.int8) for letter in "KQV"}
    (tmp_path / "config.json").unlink()
    assert len(weights(saved(letters, tmp_path)).heads) == 1


def test_a_mask_of_heads_is_no_mask_of_tokens() -> None:
    with pytest.raises(InvalidCaseError, match=r"'model.layers.0.self_attn.head_mask' \(4\)"):
        weights(LLAMA | {"model.layers.0.self_attn.head_mask": numpy.zeros(4)}, heads=HEADS)


def test_one_bias_beside_three_matrices_is_cut() -> None:
    state = {f"{x}_proj_weight": drawn(D, D) for x in "qkv"} | linear("out_proj")
    found = first_head(state | {"in_proj_bias": numpy.arange(3.0 * D)}, heads=1)
    biases = [found.biases[letter] for letter in "QKV"]
    assert (numpy.concatenate(biases) == numpy.arange(3 * D)).all()
    with pytest.raises(InvalidCaseError, match=r"'ignore': 'in_proj_bias' \(23\)"):
        weights(state | {"in_proj_bias": drawn(3 * D - 1)}, heads=1)


@pytest.mark.parametrize(
    "name",
    ["layers.0.retention.g_proj.weight", "layers.0.retention.scale", "layers.0.retention.mem_k"],
)
def test_what_stands_beside_matrices_in_any_module_is_understood_or_refused(name: str) -> None:
    names = ("q_proj", "k_proj", "v_proj", "out_proj")
    state = four("layers.0.retention", *names)
    assert weights(state, heads=HEADS, biases="ignore").heads
    with pytest.raises(InvalidCaseError, match=f"'ignore': '{name}'"):
        weights(state | {name: drawn(D, D)}, heads=HEADS)


def test_letters_stand_beside_arrays_of_any_name() -> None:
    state = {f"block.0.{letter}": drawn(A, D) for letter in "KQV"}
    found = weights(state | {"block.0.W1": drawn(D, D)})
    assert found.left_out == ("'block.0.W1'",)


def test_layers_that_the_file_lacks_are_said(tmp_path: Path) -> None:
    found = weights(saved(LLAMA, tmp_path, LLAMA_CONFIG | {"num_hidden_layers": 3}))
    assert any(remark.startswith("config.json says 3 layers, and 1") for remark in found.remarks)
    found = weights(saved(LLAMA, tmp_path, LLAMA_CONFIG | {"num_hidden_layers": 1}))
    assert not any("config.json says" in remark for remark in found.remarks)

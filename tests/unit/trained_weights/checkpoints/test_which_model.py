"""For which model a file is taken: by config.json, by the names of its arrays, or by options."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy
import pytest
from click.testing import CliRunner
from safetensors.numpy import save_file

from m2bridge import weights
from m2bridge.cli.commands import cli
from m2bridge.errors import InvalidCaseError, M2BridgeError
from m2bridge.trained_weights.checkpoints.architecture import (
    ARCHITECTURES,
    MODELS,
    _architecture_of_row,
    architecture_by_names,
    attention_window,
    norm_epsilon,
    read_architecture,
)
from m2bridge.trained_weights.networks import network_with_norms
from m2bridge.trained_weights.networks.differential import EPSILON, AffineLayer
from m2bridge.trained_weights.networks.series import differential_ranks
from m2bridge.trained_weights.result import Weights

D, HEADS = 4, 2

Arrays = dict[str, Any]


def drawn(*shape: int) -> Any:
    random = numpy.random.default_rng(sum(shape))
    return random.standard_normal(shape).astype(numpy.float32)


def norm(name: str) -> Arrays:
    return {f"{name}.weight": drawn(D), f"{name}.bias": drawn(D)}


def gpt2() -> Arrays:
    block = "transformer.h.0"
    return {
        "transformer.wte.weight": drawn(9, D),
        "transformer.wpe.weight": drawn(5, D),
        f"{block}.attn.c_attn.weight": drawn(D, 3 * D),
        f"{block}.attn.c_attn.bias": drawn(3 * D),
        f"{block}.attn.c_proj.weight": drawn(D, D),
        f"{block}.attn.c_proj.bias": drawn(D),
        f"{block}.mlp.c_fc.weight": drawn(D, 4 * D),
        f"{block}.mlp.c_proj.weight": drawn(4 * D, D),
        **norm(f"{block}.ln_1"),
        **norm(f"{block}.ln_2"),
        **norm("transformer.ln_f"),
    }


def llama() -> Arrays:
    block = "model.layers.0"
    return {
        "model.embed_tokens.weight": drawn(9, D),
        **{f"{block}.self_attn.{x}_proj.weight": drawn(D, D) for x in "qkvo"},
        **{f"{block}.mlp.{x}_proj.weight": drawn(D, D) for x in ("gate", "up", "down")},
        f"{block}.input_layernorm.weight": drawn(D),
        f"{block}.post_attention_layernorm.weight": drawn(D),
        "model.norm.weight": drawn(D),
        "lm_head.weight": drawn(9, D),
    }


def exit_code(*arguments: str) -> int:
    """What the command ends with: of an error that is named, what the error says."""
    found = CliRunner().invoke(cli, arguments)
    if isinstance(found.exception, M2BridgeError):
        return found.exception.exit_code
    return found.exit_code


def first_line(found: Weights) -> str:
    return found.to_sheet().title


def saved(state: Arrays, folder: Path, config: Any = None) -> Path:
    save_file(state, folder / "model.safetensors")
    if config is not None:
        (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (gpt2, "GPT-2 by its names: softmax, skip connections, LayerNorm before; --as lightning"),
        (
            llama,
            "LLaMA, Mistral or Qwen2 by its names: softmax, skip connections, RMSNorm before,"
            " rotary positions; --as lightning",
        ),
    ],
)
def test_a_whole_model_is_known_by_its_names(state: Any, said: str) -> None:
    found = weights(state(), heads=HEADS)
    assert first_line(found).startswith(said)
    assert found.choice is not None
    assert (found.choice.softmax, found.choice.skip) == (True, True)
    assert found.heads[0].shape.softmax
    model = found.to_json()["model"]
    assert (model["normalization"], model["skip"]) == ("softmax", True)


def test_layers_that_stand_alone_are_no_model() -> None:
    """As for 1.0: the algebraic model of the paper, and the first line says so."""
    state = {x: y for x, y in gpt2().items() if ".attn." in x or "ln_1" in x}
    found = weights(state, heads=HEADS)
    assert "lightning" in first_line(found)
    assert first_line(found).endswith("nn.MultiheadAttention, say --as softmax")
    assert found.to_json()["model"]["architecture"] is None


def test_a_model_that_config_json_names_and_the_table_lacks_is_not_guessed(tmp_path: Path) -> None:
    config = {"model_type": "smollm9", "num_attention_heads": HEADS}
    found = weights(saved(llama(), tmp_path, config), norm="rms")
    assert "lightning" in first_line(found)


def test_each_row_of_names_is_of_a_model_in_the_table() -> None:
    for row in ARCHITECTURES["by_names"]:
        assert row["model"] in MODELS
    assert architecture_by_names(["K", "Q", "V"]) is None
    assert architecture_by_names([]) is None


def bert() -> Arrays:
    layer = "bert.encoder.layer.0"
    attention = f"{layer}.attention"
    return {
        "bert.embeddings.word_embeddings.weight": drawn(9, D),
        "bert.embeddings.position_embeddings.weight": drawn(5, D),
        **{f"{attention}.self.{x}.weight": drawn(D, D) for x in ("query", "key", "value")},
        **{f"{attention}.self.{x}.bias": drawn(D) for x in ("query", "key", "value")},
        f"{attention}.output.dense.weight": drawn(D, D),
        f"{attention}.output.dense.bias": drawn(D),
        f"{layer}.intermediate.dense.weight": drawn(4 * D, D),
        f"{layer}.output.dense.weight": drawn(D, 4 * D),
        **norm(f"{attention}.output.LayerNorm"),
        **norm(f"{layer}.output.LayerNorm"),
    }


def test_a_bert_that_its_names_show_has_no_rotary_positions(tmp_path: Path) -> None:
    """Its positions are added to its tokens: names tell the same as its config.json, whose key for
    positions says ``absolute``.
    """
    config = {"model_type": "bert", "num_attention_heads": HEADS, "hidden_size": D}
    folder = saved(bert(), tmp_path, config | {"position_embedding_type": "absolute"})
    by_names, by_configuration = weights(bert(), heads=HEADS), weights(folder)
    assert first_line(by_names).startswith(
        "BERT by its names: softmax, skip connections, LayerNorm after; --as"
    )
    assert by_names.to_json()["model"] == by_configuration.to_json()["model"]
    assert by_names.to_json()["network"] == by_configuration.to_json()["network"]


ROTARY = {"LLaMA, Mistral or Qwen2", "LLaMA or Mistral", "Gemma 2", "DBRX", "GPT-NeoX"}


@pytest.mark.parametrize("row", ARCHITECTURES["by_names"], ids=lambda row: row["name"])
def test_which_models_that_names_show_have_rotary_positions(row: dict[str, Any]) -> None:
    assert _architecture_of_row(row).rotary is (row["name"] in ROTARY)


def test_an_option_that_is_given_wins(tmp_path: Path) -> None:
    config = {"model_type": "gpt2", "n_head": HEADS, "n_embd": D}
    folder = saved(gpt2(), tmp_path, config)
    assert first_line(weights(folder)) == (
        "GPT-2: softmax, skip connections, LayerNorm before; --as lightning for the algebraic model"
        " of the paper"
    )
    alone = weights(folder, as_="lightning")
    assert alone.choice is not None
    assert (alone.choice.softmax, alone.choice.skip, alone.choice.name) == (False, False, "")
    assert first_line(weights(folder, normalization="none")).startswith("GPT-2: lightning")
    assert "skip" not in first_line(weights(folder, skip=False)).partition(";")[0]
    assert "Norm" not in first_line(weights(folder, norm="none"))
    assert "RMSNorm before" in first_line(weights(folder, norm="rms"))
    with_biases, without = weights(folder), weights(folder, biases="ignore")
    assert with_biases.heads[0].shape != without.heads[0].shape
    assert len(weights(folder, heads=1).heads) == 1


@pytest.mark.parametrize(
    "options",
    [
        ["--as", "softmax", "--normalization", "none"],
        ["--as", "lightning", "--normalization", "softmax"],
        ["--layout", "rows,columns"],
        ["--layout", "by-head,by-row"],
        ["--query", "x", "--stacked", "y"],
    ],
)
def test_two_that_contradict_each_other_end_with_2(options: list[str], tmp_path: Path) -> None:
    config = {"model_type": "gpt2", "n_head": HEADS, "n_embd": D}
    file = saved(gpt2(), tmp_path, config) / "model.safetensors"
    assert exit_code("weights", str(file), *options) == 2


def test_a_norm_without_arrays_is_said_to_be_left_out(tmp_path: Path) -> None:
    state = {x: y for x, y in llama().items() if "layernorm" not in x}
    config = {"model_type": "llama", "num_attention_heads": HEADS}
    found = weights(saved(state, tmp_path, config))
    assert "RMSNorm before left out, as its arrays are missing" in first_line(found)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("attn_logit_softcapping", 50.0, "caps the scores"),
        ("clip_qkv", 8.0, "clips queries, keys and values"),
        ("use_qk_norm", True, "norms queries and keys"),
        ("attn_config", {"clip_qkv": 6.0}, "clips queries, keys and values"),
    ],
)
def test_what_makes_scores_other_functions_is_refused(
    key: str, value: Any, said: str, tmp_path: Path
) -> None:
    config = {"model_type": "llama", "num_attention_heads": HEADS}
    folder = saved(llama(), tmp_path, config | {key: value})
    with pytest.raises(InvalidCaseError, match=rf"'as_': .* in config.json {said}"):
        weights(folder)
    assert exit_code("weights", str(folder / "model.safetensors")) == 2
    # The layers without it are asked for in so many words.
    assert weights(folder, as_="softmax").heads[0].shape.softmax
    other = None if isinstance(value, float | bool) else {"clip_qkv": None}
    saved(llama(), tmp_path, config | {key: other})
    assert first_line(weights(folder)).startswith("LLaMA: softmax")


def test_gemma_2_is_refused_by_its_names_too() -> None:
    state = {x: y for x, y in llama().items() if x != "lm_head.weight"}
    for place in ("pre", "post"):
        state[f"model.layers.0.{place}_feedforward_layernorm.weight"] = drawn(D)
    with pytest.raises(InvalidCaseError, match="'as_': Gemma 2 caps the scores"):
        weights(state, heads=HEADS)
    found = weights(state, heads=HEADS, as_="softmax")
    assert "the RMSNorm multiplies by 1 + γ" in found.remarks


def test_whether_a_norm_multiplies_by_gamma_is_asked_for() -> None:
    state = {x: y for x, y in llama().items() if x != "lm_head.weight"}
    with pytest.raises(InvalidCaseError, match=r"'norm': .* say rms or rms1"):
        weights(state, heads=HEADS)
    assert "the RMSNorm multiplies by 1 + γ" in weights(state, heads=HEADS, norm="rms1").remarks
    assert weights(state, heads=HEADS, norm="rms").heads


def test_gamma_of_a_model_that_config_json_names_and_nobody_knows_is_asked_for(
    tmp_path: Path,
) -> None:
    """Qwen3-Next has the names of LLaMA, and stores γ − 1."""
    folder = saved(llama(), tmp_path, {"model_type": "qwen3_next", "num_attention_heads": 2})
    with pytest.raises(InvalidCaseError, match="say rms, or rms1") as reason:
        weights(folder, as_="softmax")
    assert reason.value.option == "norm"
    result = CliRunner().invoke(cli, ["weights", str(folder), "--norm-before", "rms1"])
    assert result.exit_code == 0


def test_messages_on_the_command_line_have_its_options(tmp_path: Path) -> None:
    """In Python they have arguments."""
    state = {f"layers.0.self_attn.{x}_proj.weight": drawn(6, 6) for x in "qkvo"}
    state["layers.0.curious_norm.weight"] = drawn(6)
    with pytest.raises(InvalidCaseError, match="or norm='none'"):
        weights(state, heads=2)
    file = tmp_path / "model.safetensors"
    save_file(state, file)
    process = subprocess.run(
        [sys.executable, "-m", "m2bridge", "weights", str(file), "--heads", "2"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 2
    assert process.stderr.startswith("Error: Invalid value for '--norm-before'")
    assert "say --norm-before layer or --norm-before rms if it is" in process.stderr


def test_whether_a_layernorm_multiplies_by_gamma_is_asked_for_or_said() -> None:
    """Nemotron stores γ − 1 under the names of StableLM."""
    state = {x: y for x, y in llama().items() if "mlp" not in x}
    beta = "model.layers.0.input_layernorm.bias"
    alone = {x: y for x, y in (state | {beta: drawn(D)}).items() if ".layers." in x}
    clause = "input_layernorm is a LayerNorm that multiplies by γ, as in StableLM"
    assert any(clause in text for text in weights(alone, heads=HEADS).assumed)
    nemotron = alone | {f"model.layers.0.mlp.{x}_proj.weight": drawn(D, D) for x in ("up", "down")}
    with pytest.raises(InvalidCaseError, match=r"'norm': .* say layer or layer1"):
        weights(nemotron, heads=HEADS)
    said = weights(nemotron, heads=HEADS, norm="layer1")
    assert "the LayerNorm multiplies by 1 + γ" in said.remarks
    gamma = "model.layers.0.input_layernorm.weight"
    moved = weights(nemotron | {gamma: nemotron[gamma] + 1}, heads=HEADS, norm="layer")
    # 1 + γ is exact, and rounded where 1 is added before.
    for head, other in zip(said.heads, moved.heads, strict=True):
        distance = other.numerical.distance_to_singular_locus
        assert head.numerical.distance_to_singular_locus == pytest.approx(distance, rel=1e-5)
    with pytest.raises(InvalidCaseError, match=r"'norm': γ in .* is 0, .* say rms1 or layer1"):
        weights(nemotron | {gamma: numpy.zeros(D)}, heads=HEADS, norm="layer")
    assert weights(nemotron | {gamma: numpy.zeros(D)}, heads=HEADS, norm="layer1").heads


def test_positions_in_scores_and_windows_are_said(tmp_path: Path) -> None:
    bloom = read_architecture({"model_type": "bloom", "n_head": 4})
    assert bloom is not None
    assert bloom.positions == "ALiBi"
    falcon = {"model_type": "falcon", "num_attention_heads": 4}
    assert [
        found.positions
        for found in (read_architecture(falcon | {"alibi": x}) for x in (False, True))
        if found is not None
    ] == ["", "ALiBi"]
    mpt = read_architecture({"model_type": "mpt", "n_heads": 4, "attn_config": {"alibi": False}})
    assert mpt is not None
    assert mpt.positions == ""
    assert attention_window({"sliding_window": 7, "use_sliding_window": False}) is None
    config = {"model_type": "mistral", "num_attention_heads": HEADS, "sliding_window": 7}
    found = weights(saved(llama(), tmp_path, config))
    assert any("tokens attend to 7 tokens at most" in remark for remark in found.remarks)


def test_numbers_of_heads_that_differ_are_asked_for(tmp_path: Path) -> None:
    config = {"model_type": "bart", "encoder_attention_heads": 2, "decoder_attention_heads": 4}
    known = read_architecture(config)
    assert known is not None
    assert known.heads is None
    with pytest.raises(InvalidCaseError, match=r"config.json does not say how many heads"):
        weights(saved(llama(), tmp_path, config))


@pytest.mark.parametrize(
    ("config", "number"),
    [
        ({"rms_norm_eps": 1e-6}, Fraction(1, 10**6)),
        ({"layer_norm_eps": 1e-12}, Fraction(1, 10**12)),
        ({"layer_norm_epsilon": 0.3}, Fraction(3, 10)),
        ({"text_config": {"norm_eps": 1e-5}, "norm_eps": 1e-6}, Fraction(1, 10**5)),
        ({"norm_epsilon": 1e-5, "layer_norm_eps": 0.00001}, Fraction(1, 10**5)),
        ({"norm_epsilon": 1e-5, "layer_norm_eps": 1e-6}, None),
        ({"norm_epsilon": 0}, None),
        ({"norm_epsilon": True}, None),
        ({"norm_epsilon": "1e-5"}, None),
        ({}, None),
    ],
)
def test_the_epsilon_of_norms_is_the_decimal_that_is_written(
    config: dict[str, Any], number: Fraction | None
) -> None:
    assert norm_epsilon(config) == number


@pytest.mark.parametrize("epsilon", [None, 1e-6])
def test_ranks_are_those_with_the_epsilon_of_config_json(
    epsilon: float | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where none is said, what is proved is said to assume the one that is taken."""
    differentiated = set()

    def ranks(layers: Sequence[AffineLayer], **options: Any) -> Any:
        differentiated.update(layer.epsilon for layer in layers)
        return differential_ranks(layers, **options)

    monkeypatch.setattr(network_with_norms, "differential_ranks", ranks)
    state = {x: y for x, y in gpt2().items() if ".attn." in x or "ln_1" in x}
    state |= {x.replace("h.0", "h.1"): 2 - y for x, y in state.items()}
    config = {"model_type": "gpt2", "n_head": D, "n_embd": D}
    if epsilon is not None:
        config["layer_norm_epsilon"] = epsilon
    found = weights(saved(state, tmp_path, config))
    assert found.network is not None
    assert found.network.rank is not None
    assert differentiated == {found.network.epsilon}
    words = "ε of the norms is 1e-05, as in PyTorch"
    assert found.summary is not None
    if epsilon is None:
        assert (found.network.epsilon, found.assumed) == (EPSILON, (words,))
        assert f"assuming that {words}" in found.summary
        assert found.to_json()["assumed"] == [words]
    else:
        assert (found.network.epsilon, found.assumed) == (Fraction(1, 10**6), ())
        assert "assuming" not in found.summary


def test_a_configuration_that_names_no_model_leaves_it_to_the_names(tmp_path: Path) -> None:
    """That of timm has an architecture of its own, as nanoGPT's has none."""
    save_file(gpt2(), tmp_path / "model.safetensors")
    for config, begin in (
        ({"architecture": "a_model_of_timm", "num_classes": 3}, "GPT-2 by its names: softmax"),
        ({"model_type": "smollm9"}, "Weights of lightning self-attention"),
    ):
        (tmp_path / "config.json").write_text(json.dumps(config))
        assert first_line(weights(tmp_path, heads=HEADS)).startswith(begin)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"n_head": 4}, (4, 4, 2)),
        ({"n_head": 4, "num_heads": 4}, (4, 4, 2)),
        ({"n_head": 4, "num_heads": 2}, (None, None, None)),
        ({"n_head": 4, "num_key_value_heads": 2, "num_kv_heads": 2}, (4, 2, 2)),
        ({"n_head": 4, "head_dim": 3, "d_head": 5}, (4, 4, None)),
    ],
)
def test_of_two_keys_that_differ_none_is_taken(
    keys: dict[str, int], expected: tuple[int | None, ...]
) -> None:
    found = read_architecture({"model_type": "llama", "hidden_size": 8} | keys)
    assert found is not None
    assert (found.heads, found.key_value_heads, found.head_size) == expected


def test_numbers_of_heads_of_keys_that_differ_are_refused() -> None:
    keys = {"num_attention_heads": 4, "num_key_value_heads": 2, "num_kv_heads": 1}
    assert read_architecture({"model_type": "llama", "hidden_size": 8} | keys) is None

"""Models of the libraries themselves, where they are installed: files and objects give the same,
and bridges and adapters are read as their libraries compute.
"""

import copy
import json
from pathlib import Path
from typing import Any

import numpy
import pytest

from m2bridge import weights
from m2bridge.errors import InvalidCaseError
from m2bridge.trained_weights.checkpoints.find_layers import find_layers
from tests.unit.trained_weights.models.test_objects import (
    NO_NAMES,
    OF_TRANSFORMERS,
    matrices,
    outputs_of,
    read,
)

pytestmark = pytest.mark.slow


def of_transformers(name: str) -> Any:
    """A tiny model of transformers with random weights."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from tests.unit.trained_weights.models.record import text_models, with_random_weights

    models = {found: model for found, model, *_ in text_models()}
    return with_random_weights(models[name])


@pytest.mark.parametrize("name", OF_TRANSFORMERS)
def test_a_saved_model_and_the_loaded_one_are_read_alike(name: str, tmp_path: Path) -> None:
    model = of_transformers(name)
    model.save_pretrained(tmp_path)
    of_file = find_layers(tmp_path, {}, NO_NAMES, None)
    assert list(matrices(read(model).found.layers)) == list(matrices(of_file.layers))


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("gpt2", "transformer.h.1"),
        ("llama", "model.layers.1"),
        ("bert", "encoder.layer.1"),
        ("opt", "model.decoder.layers.1"),
    ],
)
def test_a_block_is_read_as_in_its_model(name: str, place: str) -> None:
    model = of_transformers(name)
    (layer,) = read(model.get_submodule(place)).found.layers
    whole = read(model).found.layers[1]
    assert list(matrices([layer])) == list(matrices([whole]))


@pytest.mark.parametrize("name", ["gpt2", "bert", "opt", "bloom", "phi"])
def test_answers_are_the_same_for_a_file_and_the_object(name: str, tmp_path: Path) -> None:
    model = of_transformers(name)
    model.save_pretrained(tmp_path)
    answers = []
    for source in (tmp_path, model):
        found = weights(source).to_json()
        for key in ("seconds", "case", "assumed", "because", "summary", "remarks"):
            found.pop(key)
        found["model"].pop("object")
        answers.append(json.loads(json.dumps(found)))
    assert answers[0] == answers[1]


@pytest.mark.parametrize("name", ["llama", "gpt2"])
def test_a_bridge_is_read_as_its_model(name: str) -> None:
    pytest.importorskip("transformer_lens.model_bridge")
    from transformer_lens.model_bridge.sources._bridge_builder import build_bridge_from_module

    model = of_transformers(name)
    expected = list(matrices(read(copy.deepcopy(model)).found.layers))
    architecture = {"llama": "LlamaForCausalLM", "gpt2": "GPT2LMHeadModel"}[name]
    model.config.architectures = [architecture]
    bridge = build_bridge_from_module(model, architecture, hf_config=model.config)
    assert list(matrices(read(bridge).found.layers)) == expected
    head = list(read(bridge).found.layers[1].heads(2, None))[3]
    # TransformerLens repeats the keys of groups itself for its circuits.
    keys = bridge._expand_kv_heads(bridge.W_K)[1, 3]
    assert head.matrices["K"].tolist() == keys.detach().numpy().T.tolist()


@pytest.mark.parametrize("fold_ln", [True, False])
@pytest.mark.parametrize("name", ["gpt2", "llama", "gemma", "gpt_neox", "phi", "opt"])
def test_a_bridge_with_processed_weights_computes_what_is_read(name: str, fold_ln: bool) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformer_lens.model_bridge")
    from transformer_lens.model_bridge.sources._bridge_builder import build_bridge_from_module

    from tests.unit.trained_weights.models.record import run_text

    model = of_transformers(name)
    architecture = type(model).__name__
    model.config.architectures = [architecture]
    bridge = build_bridge_from_module(model, architecture, hf_config=model.config)
    bridge.enable_compatibility_mode(disable_warnings=True, fold_ln=fold_ln)
    seen: dict[str, Any] = {}

    def before(_: Any, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        seen["tokens"] = given[0] if given else named["hidden_states"]

    def after(_: Any, __: Any, output: Any) -> None:
        seen["outputs"] = output[0] if isinstance(output, tuple) else output

    bridge.blocks[1].register_forward_pre_hook(before, with_kwargs=True)
    bridge.blocks[1].attn.register_forward_hook(after)
    with torch.no_grad():
        run_text(bridge.original_model)
    tokens, outputs = (seen[key].reshape(-1, 8).double().numpy() for key in ("tokens", "outputs"))
    found = read(bridge)
    assert found.model.description.is_processed
    assert outputs == pytest.approx(outputs_of(found, 1, tokens), rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("positions", ["standard", "rotary"])
@pytest.mark.parametrize("normalization", ["LN", "LNPre", "RMS", "RMSPre", None])
def test_models_that_transformer_lens_builds_compute_what_is_read(
    normalization: str | None, positions: str
) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformer_lens.model_bridge")
    from transformer_lens.config import TransformerBridgeConfig
    from transformer_lens.model_bridge.sources.native import boot

    from tests.unit.trained_weights.models.record import with_random_weights

    sizes: dict[str, Any] = {"d_model": 8, "d_head": 2, "n_layers": 2, "n_ctx": 8, "n_heads": 4}
    sizes |= {"d_vocab": 11, "d_mlp": 6, "act_fn": "gelu", "n_key_value_heads": 2}
    config = TransformerBridgeConfig(
        **sizes, normalization_type=normalization, positional_embedding_type=positions
    )
    bridge = boot(config)
    with_random_weights(bridge.original_model)
    seen: dict[str, Any] = {}
    bridge.blocks[1].register_forward_pre_hook(lambda _, given: seen.update(tokens=given[0]))
    bridge.blocks[1].attn.register_forward_hook(lambda _, __, given: seen.update(outputs=given[0]))
    bridge.original_model(torch.tensor([[3, 5, 7]]), position_ids=torch.zeros(1, 3, dtype=int))
    found = read(bridge)
    computed = outputs_of(found, 1, seen["tokens"][0].detach().double().numpy())
    assert seen["outputs"][0].detach().numpy() == pytest.approx(computed, rel=1e-3, abs=1e-3)
    assert found.model.architecture.rotary is (positions == "rotary")


def test_adapters_of_peft_are_read_as_its_own_merge() -> None:
    peft = pytest.importorskip("peft")
    from tests.unit.trained_weights.models.record import with_random_weights

    config = peft.LoraConfig(r=2, lora_alpha=3, target_modules=["q_proj", "v_proj"])
    model = with_random_weights(peft.get_peft_model(of_transformers("llama"), config))
    found = read(model).found.layers
    merged = read(copy.deepcopy(model).merge_and_unload()).found.layers
    for layer, other in zip(found, merged, strict=True):
        for head, of_merged in zip(layer.heads(1, None), other.heads(1, None), strict=True):
            for letter in "KQVO":
                exact = numpy.asarray(head.matrices[letter], dtype=float)
                assert of_merged.matrices[letter] == pytest.approx(exact, rel=1e-6)
    with model.disable_adapter():
        names = read(model).found.available
        assert not any("q_proj.lora" in name for name in names)


def test_a_compiled_model_and_a_parallel_one_are_looked_through() -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.MultiheadAttention(8, 4)
    expected = list(matrices(read(model).found.layers))
    assert list(matrices(read(torch.nn.DataParallel(model)).found.layers)) == expected
    assert list(matrices(read(torch.compile(model)).found.layers)) == expected


@pytest.mark.parametrize("norm_first", [False, True])
def test_layers_of_pytorch_compute_what_is_read(norm_first: bool) -> None:
    torch = pytest.importorskip("torch")
    from tests.unit.trained_weights.models.record import with_random_weights

    layer = torch.nn.TransformerEncoderLayer(8, 4, 6, dropout=0.0, norm_first=norm_first)
    with_random_weights(layer).train()
    tokens = torch.randn(5, 8)
    with torch.no_grad():
        own = layer.norm1(tokens) if norm_first else tokens
        expected, _ = layer.self_attn(own, own, own)
    computed = outputs_of(read(layer), 0, tokens.double().numpy())
    assert expected.numpy() == pytest.approx(computed, rel=1e-4, abs=1e-5)


def test_parametrized_and_pruned_layers_are_refused() -> None:
    torch = pytest.importorskip("torch")
    prune = pytest.importorskip("torch.nn.utils.prune")
    for change in (
        torch.nn.utils.parametrizations.weight_norm,
        lambda module: prune.l1_unstructured(module, "weight", 0.5),
    ):
        model = of_transformers("llama")
        change(model.model.layers[0].self_attn.q_proj)
        with pytest.raises(InvalidCaseError, match="pruning, weight_norm and parametrizations"):
            read(model)

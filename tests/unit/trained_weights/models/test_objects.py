"""Models in memory, by recordings of tiny ones: what is read is what the libraries compute, and
what is read of files with the same arrays.
"""

import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy
import pytest
from safetensors.numpy import save_file

from m2bridge import weights
from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.trained_weights.checkpoints.accounting import StoredOptions
from m2bridge.trained_weights.checkpoints.architecture import configuration, norm_epsilon
from m2bridge.trained_weights.checkpoints.find_layers import find_layers
from m2bridge.trained_weights.checkpoints.model_choice import ModelChoice
from m2bridge.trained_weights.models.objects import LayersInObject, find_layers_in_object
from tests.unit.trained_weights.models.stand_in import NAMES, Parameter, Recording, module

NO_NAMES = dict.fromkeys(("query", "key", "value", "output", "stacked"))
LINEAR = "torch.nn.modules.linear:Linear()"
ATTENTION = "torch.nn.modules.activation:MultiheadAttention()"
PRETRAINED = "transformers.modeling_utils:PreTrainedModel"
COMPUTED = [name for name in NAMES if name != "llama_bfloat16"]
OF_TRANSFORMERS = [name for name in COMPUTED if Recording(name).config and "lora" not in name]


def read(model: Any, heads: int | None = None, **options: Any) -> LayersInObject:
    """The layers of an object, as :func:`weights` finds them."""
    return find_layers_in_object(model, {}, heads, StoredOptions(**options))


def normed(tokens: Any, kind: str, gamma: Any, beta: Any, epsilon: float) -> Any:
    """The tokens, as rows, behind a norm."""
    if kind == "layer":
        tokens = tokens - tokens.mean(axis=1, keepdims=True)
    tokens = tokens / numpy.sqrt((tokens**2).mean(axis=1, keepdims=True) + epsilon)
    tokens = tokens if gamma is None else tokens * gamma.astype(float)
    return tokens if beta is None else tokens + beta


def outputs_of(found: LayersInObject, place: int, tokens: Any, slopes: Any = None) -> Any:
    """What the heads of a layer that was read add to tokens, which are rows, by the textbook: norm,
    softmax(scale·(Kx + b)ᵀ(Qx + c)), Σ O(Vx + v) + o; ``slopes`` are those of ALiBi.
    """
    layer, model = found.found.layers[place], found.model
    heads = list(layer.heads(1, None))
    norm, architecture = heads[0].norm, model.architecture
    epsilon = float(norm_epsilon(model.config) or Fraction(1, 10**5))
    if norm is not None and norm.place == "pre":
        tokens = normed(tokens, norm.kind, norm.gamma, norm.beta, epsilon)
    elif norm is None and architecture.norm is not None and architecture.norm_place == "pre":
        tokens = normed(tokens, architecture.norm, None, None, epsilon)
    count = len(tokens)
    total = numpy.zeros((count, heads[0].matrices["O"].shape[0]))
    for number, head in enumerate(heads):
        K, Q, V, O = (numpy.asarray(head.matrices[letter], dtype=float) for letter in "KQVO")
        keys, queries, values = tokens @ K.T, tokens @ Q.T, tokens @ V.T
        keys = keys if head.K_bias is None else keys + head.K_bias.astype(float)
        queries = queries if head.Q_bias is None else queries + head.Q_bias.astype(float)
        values = values if head.V_bias is None else values + head.V_bias.astype(float)
        scores = queries @ keys.T * model.description.scales[place]
        if slopes is not None:
            scores = scores + slopes[number] * numpy.arange(count)
        if model.description.causal or slopes is not None:
            scores = numpy.where(numpy.tri(count, dtype=bool), scores, -numpy.inf)
        pattern = numpy.exp(scores - scores.max(axis=1, keepdims=True))
        total += pattern / pattern.sum(axis=1, keepdims=True) @ values @ O.T
    return total if heads[0].O_bias is None else total + heads[0].O_bias.astype(float)


@pytest.mark.parametrize("name", COMPUTED)
def test_heads_that_are_read_compute_what_the_library_computed(name: str) -> None:
    recording = Recording(name)
    found = read(recording.model)
    # Layers are in the order of their names; the recorded ones of T5 are of its encoder.
    place = len(found.found.layers) - 1 if name == "t5" else 0
    # The slopes of ALiBi (Press, Smith, Lewis 2022) are powers of 2^(−8/heads).
    slopes = [2.0 ** (-2 * (head + 1)) for head in range(4)] if name == "bloom" else None
    computed = outputs_of(found, place, recording.tokens, slopes)
    assert recording.outputs == pytest.approx(computed, rel=1e-4, abs=1e-4)


def matrices(layers: Any) -> Iterator[tuple[Any, ...]]:
    """All numbers of the heads of layers, as texts."""
    for number, layer in enumerate(layers, 1):
        for head in layer.heads(number, None if layer.own_heads else 4):
            parts = [*sorted(head.matrices.items()), *sorted(head.biases.items())]
            norm = head.norm
            numbers = [(letter, part.tolist()) for letter, part in parts]
            bias = None if head.O_bias is None else head.O_bias.tolist()
            of_norm = None
            if norm is not None:
                gamma = numpy.asarray(norm.gamma, dtype=float).tolist()
                of_norm = (norm.kind, norm.place, gamma)
            yield (head.layer, head.head, head.kind, head.sharing, numbers, bias, of_norm)


@pytest.mark.parametrize("name", OF_TRANSFORMERS)
def test_a_file_and_the_loaded_object_are_read_alike(name: str, tmp_path: Path) -> None:
    recording = Recording(name)
    arrays = {key: part.entries for key, part in recording.arrays.items()}
    numpy.savez(tmp_path / "model.npz", **arrays)
    (tmp_path / "config.json").write_text(json.dumps(recording.config))
    of_file = find_layers(tmp_path, {}, NO_NAMES, None)
    of_object = read(recording.model)
    assert list(matrices(of_object.found.layers)) == list(matrices(of_file.layers))
    assert of_object.found.available.keys() == of_file.available.keys()
    nothing: dict[str, Any] = dict.fromkeys(("kind", "normalization", "skip", "norm"))
    choice = ModelChoice.of(configuration(tmp_path), names=of_file.available, **nothing)
    model = of_object.model
    chosen = ModelChoice.of(model.config, architecture=model.architecture, **nothing)
    # The object says ε where config.json does not; which embeddings are tied is an identity there.
    same = ("name", "softmax", "skip", "rotary", "norm", "positions", "window", "norm_of_ones")
    for attribute in (*same, "is_said", "rotary_left_out", "layers", "unlike_file"):
        assert getattr(chosen, attribute) == getattr(choice, attribute), attribute


@pytest.mark.parametrize(
    ("name", "options"),
    [("attention", {}), ("encoder", {}), ("encoder_norm_first", {"norm": "layer"})]
    + [(name, {}) for name in ("hooked", "hooked_grouped")],
)
def test_a_state_dict_and_the_object_are_read_alike(name: str, options: dict[str, str]) -> None:
    recording = Recording(name)
    arrays = {key: part.entries for key, part in recording.arrays.items()}
    of_dict = find_layers(arrays, {}, NO_NAMES, 4, StoredOptions(**options))
    layers = [layer.with_options(biases=True, norm=options.get("norm")) for layer in of_dict.layers]
    assert list(matrices(read(recording.model).found.layers)) == list(matrices(layers))


def test_an_object_says_softmax_scale_mask_and_dropout() -> None:
    found = weights(Recording("attention").model)
    assert found.choice is not None
    assert found.choice.softmax
    assert not found.choice.skip
    assert found.model_object is not None
    assert found.model_object.scales == (2**-0.5,)
    assert found.to_json()["model"]["object"]["class"] == "MultiheadAttention"
    assert found.remarks[0] == (
        "read from the object: MultiheadAttention of torch; scores are multiplied by 0.7071, which"
        " scales A"
    )
    description = read(Recording("gpt2").model).model.description
    assert description.causal is True
    assert description.dropout == 0.1
    assert "dropout (0.1), which acts in training, is left out" in description.sentence


def test_no_array_is_read_before_it_is_needed() -> None:
    recording = Recording("gpt2")
    found = read(recording.model)
    assert not any(part.reads for part in recording.arrays.values())
    list(found.found.layers[0].heads(1, None))
    names = [name for name, part in recording.arrays.items() if part.reads]
    assert names
    assert all(name.startswith("transformer.h.0.") for name in names)


def test_bfloat16_is_read_with_its_precision() -> None:
    (layer,) = read(Recording("llama_bfloat16").model).found.layers
    assert next(layer.heads(1, None)).kind == "bfloat16"


def test_an_adapter_of_peft_is_merged_exactly() -> None:
    recording = Recording("lora_llama")
    found = read(recording.model)
    head = next(found.found.layers[0].heads(1, None))
    prefix = "base_model.model.model.layers.0.self_attn.q_proj"
    parts = ("base_layer.weight", "lora_A.default.weight", "lora_B.default.weight")
    W, A, B = (recording.arrays[f"{prefix}.{part}"].entries for part in parts)
    exact = [[Fraction(float(entry)) for entry in row] for row in W]
    for i, row in enumerate(exact):
        for j in range(len(row)):
            change = sum(Fraction(float(B[i, k])) * Fraction(float(A[k, j])) for k in range(2))
            row[j] += Fraction(3, 2) * change
    assert head.matrices["Q"].tolist() == exact[:2]
    assert found.model.description.adapters == ("default",)


def test_disabled_and_merged_adapters_leave_the_matrix() -> None:
    for attribute in ("disable_adapters", "merged"):
        recording = Recording("lora_llama")
        layer = recording.model.base_model.model.model.layers
        for block in layer:
            for one in (block.self_attn.q_proj, block.self_attn.v_proj):
                setattr(one, attribute, True)
        found = read(recording.model).found
        assert not any("self_attn" in name and "lora" in name for name in found.available)
        head = next(found.layers[0].heads(1, None))
        name = "base_model.model.model.layers.0.self_attn.q_proj.base_layer.weight"
        assert head.matrices["Q"].tolist() == recording.arrays[name].entries[:2].tolist()


def test_other_adapters_are_refused_with_what_to_do() -> None:
    recording = Recording("lora_llama")
    recording.model.peft_config[0].peft_type = "PREFIX_TUNING"
    with pytest.raises(InvalidCaseError, match=r"PREFIX_TUNING.*merge_and_unload"):
        read(recording.model)
    recording = Recording("lora_llama")
    recording.model.base_model.model.model.layers._children["1"].self_attn.q_proj.use_dora = {
        "default": True
    }
    with pytest.raises(InvalidCaseError, match=r"layers\.1.*'default'.*merge_and_unload"):
        read(recording.model)


def test_a_model_around_the_model_is_looked_through() -> None:
    inner = Recording("attention").model
    parallel = module("torch.nn.parallel.distributed:DistributedDataParallel()", {}, {})
    parallel._children["module"] = inner
    compiled = module("torch._dynamo.eval_frame:OptimizedModule()", {}, {})
    compiled._children["_orig_mod"] = parallel
    assert list(matrices(read(compiled).found.layers)) == list(matrices(read(inner).found.layers))


def test_an_unknown_module_names_the_known_ones_inside() -> None:
    model = module("notebook:Model()", {}, {"encoder": Recording("encoder").model})
    message = (
        r"Model is not a model that is known: give one of the modules inside it, '\.encoder'"
        r" \(TransformerEncoder\); or give its matrices as arrays K, Q, V and O"
    )
    with pytest.raises(InvalidCaseError, match=message):
        read(model)


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (f"notebook:Mine() {ATTENTION}", "Mine is not a model that is known"),
        ("notebook:Linear()", r"Linear is not a model that is known: give its matrices as arrays"),
    ],
)
def test_a_subclass_with_a_forward_of_its_own_is_not_known(classes: str, message: str) -> None:
    with pytest.raises(InvalidCaseError, match=message):
        read(module(classes, {}, {}))


def test_a_forward_of_the_object_itself_is_not_known() -> None:
    recording = Recording("encoder")
    attention = recording.model.layers._children["0"].self_attn
    attention.forward = lambda tokens: tokens
    with pytest.raises(InvalidCaseError, match=r"'layers\.0\.self_attn' \(MultiheadAttention\)"):
        read(recording.model)


def test_attention_with_a_further_key_is_refused() -> None:
    model = Recording("attention").model
    model.add_zero_attn = True
    with pytest.raises(InvalidCaseError, match="further key and value"):
        read(model)


def test_attention_to_tokens_of_other_widths_is_refused() -> None:
    model = Recording("attention").model
    del model._arrays["in_proj_weight"]
    model.kdim = model.vdim = 4
    with pytest.raises(
        InvalidCaseError, match=r"MultiheadAttention has keys of 4 .* not self-attention"
    ):
        read(model)


def test_a_stack_of_another_class_inside_a_transformer_is_refused() -> None:
    encoder = Recording("encoder").model
    own = module("notebook:Loop()", {}, dict(encoder._children))
    name = "torch.nn.modules.transformer:Transformer()"
    with pytest.raises(InvalidCaseError, match=r"Loop\) is not a stack of PyTorch"):
        read(module(name, {}, {"encoder": own}))
    found = read(module(name, {}, {"encoder": encoder})).found
    assert [layer.name for layer in found.layers] == [
        "encoder.layers.0.self_attn.",
        "encoder.layers.1.self_attn.",
    ]


def test_a_linear_layer_that_is_quantized_or_pruned_is_refused() -> None:
    layer = Recording("llama").model
    attention = layer.model.layers._children["1"].self_attn
    weight = attention.q_proj.weight
    attention._children["q_proj"] = module(
        f"bitsandbytes.nn.modules:Linear4bit() {LINEAR}", {"weight": weight}, {}
    )
    with pytest.raises(InvalidCaseError, match=r"layers\.1\.self_attn\.q_proj' \(Linear4bit\)"):
        read(layer)
    attention._children["q_proj"] = module(LINEAR, {"weight_orig": weight, "weight": weight}, {})
    with pytest.raises(InvalidCaseError, match="pruning, weight_norm and parametrizations"):
        read(layer)


def test_entries_that_are_not_in_memory_are_refused_where_they_are_needed() -> None:
    recording = Recording("llama")
    recording.arrays["model.layers.0.self_attn.v_proj.weight"].device = "meta"
    found = read(recording.model)
    with pytest.raises(ConversionError, match=r"v_proj\.weight' has no entries in memory"):
        list(found.found.layers[0].heads(1, None))


def test_code_from_outside_of_transformers_is_refused() -> None:
    recording = Recording("llama")
    block = recording.model.model.layers._children["0"]
    own = block.self_attn
    attributes = {name: value for name, value in vars(own).items() if not name.startswith("_")}
    block._children["self_attn"] = module(
        "transformers_modules.modeling:LlamaAttention()", own._arrays, own._children, **attributes
    )
    with pytest.raises(InvalidCaseError, match="is not of transformers itself"):
        read(recording.model)


@pytest.mark.parametrize("place", ["", "model", "model.layers.0", "model.layers.0.self_attn"])
def test_methods_of_subclasses_around_attention_are_not_known(place: str) -> None:
    """A subclass may call the norm elsewhere, or change what the attention does."""
    recording = Recording("llama")
    found = recording.model
    for word in place.split(".") if place else ():
        found = found._children[word]
    own = type(found)
    found.__class__ = type("Mine", (own,), {"__module__": "notebook", "_mix": lambda self: None})
    with pytest.raises(InvalidCaseError, match=r"Mine\)? is not of transformers itself"):
        read(recording.model)
    found.__class__ = type(
        "Mine", (own,), {"__module__": "notebook", "__init__": lambda self: None}
    )
    assert len(read(recording.model).found.layers) == 2


def test_methods_of_subclasses_of_hooked_blocks_are_not_known() -> None:
    recording = Recording("hooked")
    block = recording.model.blocks._children["1"]
    block.__class__ = type("Mine", (type(block),), {"forward": lambda self: None})
    with pytest.raises(InvalidCaseError, match="not of TransformerLens itself"):
        read(recording.model)


@pytest.mark.parametrize("dtype", ["torch.float8_e4m3fn", "torch.complex64"])
def test_types_that_are_not_read_are_refused_where_they_are_needed(dtype: str) -> None:
    recording = Recording("llama")
    recording.arrays["model.layers.0.self_attn.v_proj.weight"].dtype = dtype
    with pytest.raises(InvalidCaseError, match=f"holds {dtype.removeprefix('torch.')}: give"):
        list(read(recording.model).found.layers[0].heads(1, None))


def test_a_state_dict_is_not_copied_and_its_masks_may_be_booleans() -> None:
    recording = Recording("hooked")
    arrays: dict[str, Any] = dict(recording.arrays)
    arrays["blocks.0.attn.mask"].dtype = "torch.bool"
    arrays["blocks.1.attn.mask"] = numpy.ones((8, 8), dtype=bool)
    found = find_layers(arrays, {}, NO_NAMES, 4)
    assert not any(part.reads for part in recording.arrays.values())
    assert list(matrices(found.layers)) == list(matrices(read(recording.model).found.layers))


def test_integers_without_scales_are_refused() -> None:
    recording = Recording("llama")
    recording.arrays["model.layers.1.self_attn.v_proj.weight"].dtype = "torch.int8"
    with pytest.raises(InvalidCaseError, match="no scales are beside it"):
        read(recording.model)


def test_a_model_type_that_is_not_known_is_refused() -> None:
    recording = Recording("llama")
    recording.config["model_type"] = "new"
    with pytest.raises(InvalidCaseError, match="model_type 'new', whose layers are not known"):
        read(recording.model)


def test_a_norm_of_another_class_is_refused() -> None:
    recording = Recording("llama")
    block = recording.model.model.layers._children["0"]
    gamma = block.input_layernorm._arrays
    for name, message in (
        ("transformers.models.gemma.modeling_gemma:GemmaRMSNorm", "not a norm of the kind"),
        ("transformers.models.llama.modeling_llama:Odd", "not known"),
        ("notebook:MyRMSNorm", "not known"),
    ):
        block._children["input_layernorm"] = module(f"{name}()", gamma, {})
        with pytest.raises(InvalidCaseError, match=message):
            read(recording.model)


def test_norms_of_queries_and_caps_of_scores_are_refused() -> None:
    recording = Recording("llama")
    attention = recording.model.model.layers._children["0"].self_attn
    attention._children["q_norm"] = module(
        "transformers.models.qwen3.modeling_qwen3:Qwen3RMSNorm()",
        {"weight": Parameter(numpy.ones(2, dtype=numpy.float32))},
        {},
    )
    with pytest.raises(InvalidCaseError, match="norms queries or keys"):
        read(recording.model)
    hooked = Recording("hooked").model
    hooked.cfg.attn_scores_soft_cap = 30.0
    with pytest.raises(InvalidCaseError, match="caps the scores"):
        weights(hooked)


def test_numbers_of_heads_that_contradict_are_refused() -> None:
    with pytest.raises(InvalidCaseError, match="the object says 4, and not 2"):
        read(Recording("attention").model, heads=2)
    recording = Recording("llama")
    recording.model.model.layers._children["0"].self_attn.num_heads = 3
    with pytest.raises(InvalidCaseError, match="says 3 and 4 heads"):
        read(recording.model)


def test_what_an_option_cannot_say_of_an_object_is_refused() -> None:
    model = Recording("attention").model
    with pytest.raises(InvalidCaseError, match="leave it out"):
        read(model, layout="rows")
    with pytest.raises(InvalidCaseError, match="or K, Q and V"):
        weights(model, K=[[1.0]])
    with pytest.raises(InvalidCaseError, match="some matrices of the layer"):
        read(model, ignore="in_proj_weight")


def test_whole_layers_are_ignored() -> None:
    found = read(Recording("gpt2").model, ignore="transformer.h.1.*")
    assert [layer.name for layer in found.found.layers] == ["transformer.h.0.attn."]


def test_biases_and_norms_are_ignored_alone() -> None:
    found = read(Recording("gpt2").model, ignore="*.attn.*.bias, *.0.ln_1.*, *.1.ln_1.bias")
    first, second = found.found.layers
    assert not first.biases
    assert first.norm is None
    assert second.norm is not None
    assert second.norm.beta is None


def test_with_names_an_object_is_the_dictionary_of_its_arrays() -> None:
    model = Recording("attention").model
    found = weights(model, stacked="in_proj_weight", output="out_proj.weight", heads=4)
    assert found.model_object is None
    assert found.choice is not None
    assert not found.choice.softmax


def test_other_positions_and_norms_of_hooked_models_are_refused() -> None:
    for attribute, value, message in (
        ("positional_embedding_type", "shortformer", "positions of the kind 'shortformer'"),
        ("normalization_type", "Batch", "norms of the kind 'Batch'"),
        ("use_normalization_before_and_after", True, "before they are added"),
    ):
        hooked = Recording("hooked").model
        setattr(hooked.cfg, attribute, value)
        with pytest.raises(InvalidCaseError, match=message):
            read(hooked)


class TestBridge:
    """``TransformerBridge``, whose matrices by head are attributes of its components."""

    @staticmethod
    def bridge(recording: Recording) -> Any:
        """A bridge around a recorded LLaMA, as TransformerLens builds it."""
        for block in recording.model.model.layers:
            own = block.self_attn
            q, k, v, o = (getattr(own, f"{letter}_proj").weight.entries for letter in "qkvo")
            by_head = {
                "W_Q": Parameter(q.reshape(4, 2, 8).swapaxes(1, 2)),
                "W_K": Parameter(k.reshape(2, 2, 8).swapaxes(1, 2)),
                "W_V": Parameter(v.reshape(2, 2, 8).swapaxes(1, 2)),
                "W_O": Parameter(o.T.reshape(4, 2, 8)),
            }
            component = module(
                "transformer_lens.model_bridge.generalized_components.attention:AttentionBridge()",
                {},
                {"_original_component": own},
                **by_head,
            )
            block._children["self_attn"] = component
        return module(
            "transformer_lens.model_bridge.transformer_bridge:TransformerBridge()",
            {},
            {},
            original_model=recording.model,
            _weights_processed=False,
        )

    def test_its_matrices_are_those_of_the_model(self) -> None:
        bridge = self.bridge(Recording("llama"))
        expected = matrices(read(Recording("llama").model).found.layers)
        assert list(matrices(read(bridge).found.layers)) == list(expected)

    def test_its_own_matrices_are_read(self) -> None:
        bridge = self.bridge(Recording("llama"))
        component = bridge.original_model.model.layers._children["0"]._children["self_attn"]
        component.W_K = Parameter(numpy.ones((2, 8, 2), dtype=numpy.float32))
        head = next(read(bridge).found.layers[0].heads(1, None))
        assert head.matrices["K"].tolist() == numpy.ones((2, 8)).tolist()

    def test_processed_weights_are_said(self) -> None:
        bridge = self.bridge(Recording("llama"))
        bridge._weights_processed = True
        description = read(bridge).model.description
        assert "; its weights are processed, with norms folded" in description.sentence
        assert description.to_json()["processed"] is True

    def test_a_component_with_another_norm_is_refused(self) -> None:
        bridge = self.bridge(Recording("llama"))
        block = bridge.original_model.model.layers._children["1"]
        own = block.input_layernorm
        other = Parameter(numpy.zeros(8, dtype=numpy.float32))
        name = "transformer_lens.model_bridge.generalized_components.norm:NormalizationBridge()"
        block._children["input_layernorm"] = module(
            name, {}, {"_original_component": own}, weight=other
        )
        with pytest.raises(InvalidCaseError, match="other factors γ than the norm inside it"):
            read(bridge)

    def test_a_model_of_another_library_inside_is_refused(self) -> None:
        bridge = self.bridge(Recording("llama"))
        bridge.original_model = module("notebook:Model()", {}, {})
        with pytest.raises(InvalidCaseError, match="is not a model of transformers"):
            read(bridge)


def test_tied_embeddings_are_one_array() -> None:
    assert read(Recording("gpt2").model).model.architecture.tied_embeddings
    assert not read(Recording("llama").model).model.architecture.tied_embeddings


def test_a_model_of_several_parts_has_no_outputs() -> None:
    model = Recording("llama").model

    def refuse() -> None:
        raise NotImplementedError

    model.get_input_embeddings = refuse
    assert not read(model).model.architecture.tied_embeddings


def test_a_layer_whose_norm_is_missing_is_refused_unless_it_is_the_identity() -> None:
    model = Recording("gpt_neox").model
    block = model.gpt_neox.layers._children["0"]
    for name in ("input_layernorm", "post_attention_layernorm"):
        del block._children[name]
    with pytest.raises(InvalidCaseError, match="has no norm before it that is understood"):
        read(model)
    block._children["input_layernorm"] = module("torch.nn.modules.linear:Identity()", {}, {})
    first, second = read(model).found.layers
    assert first.norm is None
    assert second.norm is not None


def test_a_block_is_read_and_its_attention_alone_asks_for_it() -> None:
    recording = Recording("llama")
    block = recording.model.model.layers._children["1"]
    with pytest.raises(InvalidCaseError, match="LlamaDecoderLayer is a part of a model"):
        read(block)
    block.self_attn.config = recording.model.config
    (layer,) = read(block).found.layers
    (whole,) = read(recording.model, ignore="model.layers.0.*").found.layers
    assert list(matrices([layer])) == list(matrices([whole]))
    assert layer.norm is not None
    with pytest.raises(InvalidCaseError, match="LlamaAttention is a part of a model"):
        read(block.self_attn)


def test_layers_may_have_different_numbers_of_heads() -> None:
    recording = Recording("encoder")
    recording.model.layers._children["1"].self_attn.num_heads = 2
    found = read(recording.model).found
    assert found.head_count is None
    assert [len(list(layer.heads(1, None))) for layer in found.layers] == [4, 2]


def test_other_objects_are_named() -> None:
    with pytest.raises(InvalidCaseError, match="a model of PyTorch or a dictionary"):
        weights(object())


def test_an_adapter_in_a_folder_is_merged_as_that_of_peft_in_memory(tmp_path: Path) -> None:
    adapted, base = Recording("lora_llama"), Recording("llama")
    prefix = "base_model.model."
    for name, part in base.arrays.items():
        inside = re.sub(r"\.(weight|bias)$", r".base_layer.\1", name)
        part.entries = adapted.arrays.get(
            prefix + name, adapted.arrays.get(prefix + inside)
        ).entries
    saved = {
        name.replace(".default.", "."): part.entries
        for name, part in adapted.arrays.items()
        if "lora_" in name
    }
    save_file(saved, tmp_path / "adapter_model.safetensors")
    config = {"peft_type": "LORA", "lora_alpha": 3, "r": 2}
    (tmp_path / "adapter_config.json").write_text(json.dumps(config))
    found = read(base.model, adapter=str(tmp_path)).found.layers
    assert list(matrices(found)) == list(matrices(read(adapted.model).found.layers))

"""Write the recordings of ``recorded/``: needs torch, transformers, peft, and for HookedTransformer
a transformer-lens below 4. ``python -m tests.unit.trained_weights.models.record`` writes all.

A recording has what m2bridge reads of a model in memory: the tree of its modules, with their
classes and simple attributes, its configuration and its arrays. It also has what the library itself
computes: inputs of layer 1, and what its attention adds for them.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy

FOLDER = Path(__file__).with_name("recorded")
SIMPLE = (int, float, bool, str, type(None))
PROPERTIES = ("disable_adapters", "merged", "active_adapters", "merged_adapters", "lora_alpha")
PROPERTIES += ("scaling", "r", "use_dora", "lora_bias", "lora_variant")
TOKENS = 3


def simple(value: Any) -> bool:
    """Whether a value is simple, or a list or dictionary of such values."""
    if isinstance(value, list | tuple):
        return all(map(simple, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) for key in value) and all(map(simple, value.values()))
    return isinstance(value, SIMPLE)


def tree(module: Any, arrays: dict[str, Any], path: str = "") -> dict[str, Any]:
    """The classes, attributes, arrays and children of a module; arrays go to ``arrays``."""
    # A class is a text: its module, its name, and parentheses if it computes something.
    classes = " ".join(
        f"{one.__module__}:{one.__qualname__}{'()' if computes(one) else ''}"
        for one in type(module).__mro__
    )
    attributes = {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_") and isinstance(value, SIMPLE) and name != "training"
    }
    for name in PROPERTIES:
        value = getattr(module, name, None)
        if name not in attributes and value is not None and simple(value):
            attributes[name] = value
    if hasattr(module, "cfg"):
        given = {name: plain(value) for name, value in vars(module.cfg).items()}
        attributes["cfg"] = {name: value for name, value in given.items() if simple(value)}
    own = []
    buffers = [
        (name, value)
        for name, value in module.named_buffers(recurse=False)
        if name not in module._non_persistent_buffers_set
    ]
    parameters = list(module.named_parameters(recurse=False))
    for name, value in (*parameters, *buffers):
        full_name = f"{path}.{name}".removeprefix(".")
        same = [other for other, known in arrays.items() if known is value]
        arrays.setdefault(same[0] if same else full_name, value)
        # An array that two modules share has the name that it has in the first one.
        own.append([name, same[0]] if same else name)
    children = {
        name: tree(child, arrays, f"{path}.{name}".removeprefix("."))
        for name, child in module.named_children()
        if type(child).__name__ != "HookPoint"
    }
    found = {"classes": classes, "attributes": attributes, "arrays": own, "children": children}
    return {key: value for key, value in found.items() if value}


def computes(one: type) -> bool:
    """Whether a class has functions other than those that make and print its objects."""
    functions = {name for name, value in vars(one).items() if callable(value) or simple(value)}
    functions -= {"__init__", "__repr__", "extra_repr", "__module__", "__doc__", "__qualname__"}
    return any(inspect.isroutine(vars(one)[name]) for name in functions)


def plain(value: Any) -> Any:
    """A number of NumPy as one of Python."""
    return value.item() if isinstance(value, numpy.generic) else value


def record(name: str, model: Any, norm: str, attention: str, run: Callable[[Any], Any]) -> None:
    """Write the recording of a model: ``norm`` is the path of the module whose input are the
    tokens of layer 1, and ``attention`` the path of the one whose output is what they get.
    """
    import torch

    seen: dict[str, Any] = {}

    def first(value: Any) -> Any:
        return value[0] if isinstance(value, tuple) else value

    def before(_module: Any, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        seen.setdefault("tokens", first(given or tuple(named.values())))

    def after(_module: Any, _given: Any, output: Any) -> None:
        seen.setdefault("outputs", first(output))

    modules = dict(model.named_modules())
    hooks = [
        modules[norm].register_forward_pre_hook(before, with_kwargs=True),
        modules[attention].register_forward_hook(after),
    ]
    with torch.no_grad():
        run(model)
    for hook in hooks:
        hook.remove()
    write(name, model, seen)


def write(name: str, model: Any, seen: dict[str, Any]) -> None:
    """Write a recording."""
    arrays: dict[str, Any] = {}
    recorded = {"tree": tree(model, arrays)}
    base = model.base_model.model if hasattr(model, "peft_config") else model
    if hasattr(base, "get_input_embeddings"):
        recorded["config"] = json.loads(json.dumps(base.config.to_dict(), default=str))
        outputs = base.get_output_embeddings()
        inputs = base.get_input_embeddings()
        recorded["tied"] = outputs is not None and outputs.weight is inputs.weight
    if hasattr(model, "peft_config"):
        kinds = [str(one.peft_type.value) for one in model.peft_config.values()]
        recorded["peft"] = kinds
    kinds = {key: str(value.dtype) for key, value in arrays.items()}
    recorded["types"] = {key: kind for key, kind in kinds.items() if kind != "torch.float32"}
    text = json.dumps(recorded)
    numbers = {f"a:{key}": value.detach().float().numpy() for key, value in arrays.items()}
    numbers["recorded"] = numpy.frombuffer(text.encode(), dtype=numpy.uint8)
    for key, value in seen.items():
        numbers[key] = value.detach().double().reshape(-1, value.shape[-1]).numpy()
    numpy.savez_compressed(FOLDER / f"{name}.npz", **numbers)


def text_models() -> Iterator[tuple[str, Any, str, str]]:
    """Yield names, models of transformers, and the paths of the norm and the attention."""
    import transformers as T

    usual = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 11}
    usual |= {"intermediate_size": 6, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    usual |= {"max_position_embeddings": 8}
    two = {"num_key_value_heads": 2}
    small = {"vocab_size": 11, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    falcon = {**usual, "ffn_hidden_size": 6}
    yield (
        "gpt2",
        T.GPT2LMHeadModel(
            T.GPT2Config(n_embd=8, n_layer=2, n_head=4, n_positions=8, n_inner=6, **small)
        ),
        "transformer.h.0.ln_1",
        "transformer.h.0.attn",
    )
    in_layers = ("model.layers.0.input_layernorm", "model.layers.0.self_attn")
    yield "llama", T.LlamaForCausalLM(T.LlamaConfig(**usual, **two)), *in_layers
    yield "mistral", T.MistralForCausalLM(T.MistralConfig(**usual, **two)), *in_layers
    yield "qwen2", T.Qwen2ForCausalLM(T.Qwen2Config(**usual, **two)), *in_layers
    gemma = T.GemmaConfig(**usual, num_key_value_heads=1, head_dim=4)
    yield "gemma", T.GemmaForCausalLM(gemma), *in_layers
    yield "phi", T.PhiForCausalLM(T.PhiConfig(**usual, partial_rotary_factor=1.0)), *in_layers
    yield "phi3", T.Phi3ForCausalLM(T.Phi3Config(**usual, **two)), *in_layers
    in_layers = ("gpt_neox.layers.0.input_layernorm", "gpt_neox.layers.0.attention")
    neox = T.GPTNeoXConfig(**usual, rotary_pct=1.0)
    yield "gpt_neox", T.GPTNeoXForCausalLM(neox), *in_layers
    bert = "encoder.layer.0.attention"
    yield "bert", T.BertModel(T.BertConfig(**usual)), f"{bert}.self", f"{bert}.output.dense"
    opt = T.OPTConfig(
        hidden_size=8, num_hidden_layers=2, num_attention_heads=4, ffn_dim=6,
        word_embed_proj_dim=8, max_position_embeddings=8, **small,
    )  # fmt: skip
    in_layers = ("model.decoder.layers.0.self_attn_layer_norm", "model.decoder.layers.0.self_attn")
    yield "opt", T.OPTForCausalLM(opt), *in_layers
    in_layers = ("transformer.h.0.input_layernorm", "transformer.h.0.self_attention.dense")
    bloom = T.BloomConfig(hidden_size=8, n_layer=2, n_head=4, **small)
    yield "bloom", T.BloomForCausalLM(bloom), *in_layers
    yield "falcon", T.FalconForCausalLM(T.FalconConfig(**falcon)), *in_layers
    new = T.FalconConfig(**falcon, new_decoder_architecture=True, num_kv_heads=2)
    yield "falcon_new", T.FalconForCausalLM(new), "transformer.h.0.ln_attn", in_layers[1]
    vit = T.ViTConfig(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=4, intermediate_size=6,
        image_size=4, patch_size=2, num_channels=1,
    )  # fmt: skip
    yield "vit", T.ViTModel(vit), "layers.0.layernorm_before", "layers.0.attention"
    t5 = {"d_model": 8, "d_kv": 2, "d_ff": 6, "num_heads": 4, "vocab_size": 11}
    t5 |= {"num_layers": 1, "pad_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 0}
    in_layers = ("encoder.block.0.layer.0.layer_norm", "encoder.block.0.layer.0.SelfAttention.o")
    yield "t5", T.T5ForConditionalGeneration(T.T5Config(**t5)), *in_layers


def run_text(model: Any) -> None:
    """Run a model of texts or images on a few tokens, all at one position where it rotates."""
    import torch

    tokens = torch.tensor([[3, 5, 7]])
    base = model.base_model.model if hasattr(model, "peft_config") else model
    named = inspect.signature(base.forward).parameters
    if "pixel_values" in named:
        model(pixel_values=torch.randn(1, 1, 4, 4, generator=torch.Generator().manual_seed(1)))
    elif "decoder_input_ids" in named:
        model(input_ids=tokens, decoder_input_ids=tokens)
    elif "input_ids" not in named:
        model(tokens)
    elif "position_ids" in named:
        model(input_ids=tokens, position_ids=torch.zeros_like(tokens))
    else:
        model(input_ids=tokens)


def with_random_weights(model: Any, seed: int = 0) -> Any:
    """The model, for evaluation, with random numbers of few digits as weights and biases."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, part in model.named_parameters():
            values = torch.randn(part.shape, generator=generator)
            part.copy_((values * 64).round() / 64)
            # Positions in scores are not in the heads.
            if "relative_attention_bias" in name:
                part.zero_()
    return model.eval()


def record_transformers() -> None:
    """Write the recordings of models of transformers, and of adapters of PEFT."""
    import peft
    import torch
    import transformers as T

    for name, model, norm, attention in text_models():
        record(name, with_random_weights(model), norm, attention, run_text)
    for name, model, norm, attention in text_models():
        if name not in ("gpt2", "llama"):
            continue
        targets = ["c_attn", "c_proj"] if name == "gpt2" else ["q_proj", "v_proj"]
        config = peft.LoraConfig(
            r=2, lora_alpha=3, target_modules=targets, fan_in_fan_out=name == "gpt2"
        )
        adapted = with_random_weights(peft.get_peft_model(model, config))
        prefix = "base_model.model."
        record(f"lora_{name}", adapted, prefix + norm, prefix + attention, run_text)
    usual = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 4, "vocab_size": 11}
    usual |= {"intermediate_size": 6, "num_key_value_heads": 2}
    half = with_random_weights(T.LlamaForCausalLM(T.LlamaConfig(**usual))).to(torch.bfloat16)
    write("llama_bfloat16", half, {})


def record_torch() -> None:
    """Write the recordings of modules of PyTorch."""
    import torch
    from torch import nn

    def run(model: Any) -> None:
        tokens = torch.randn(TOKENS, 1, 8, generator=torch.Generator().manual_seed(1))
        nested = isinstance(model, nn.TransformerDecoderLayer)
        model(tokens, tokens) if nested else model(tokens)

    def run_attention(model: Any) -> None:
        tokens = torch.randn(TOKENS, 8, generator=torch.Generator().manual_seed(1))
        model(tokens, tokens, tokens)

    attention = with_random_weights(nn.MultiheadAttention(8, 4))
    record("attention", attention, "", "", run_attention)
    layer = {"d_model": 8, "nhead": 4, "dim_feedforward": 6}
    # For training, so that the modules are called one after the other.
    for name, module, norm in (
        ("encoder", nn.TransformerEncoder(nn.TransformerEncoderLayer(**layer), 2), "self_attn"),
        (
            "encoder_norm_first",
            nn.TransformerEncoder(nn.TransformerEncoderLayer(**layer, norm_first=True), 2),
            "norm1",
        ),
    ):
        model = with_random_weights(module)
        model.train()
        for part in model.modules():
            if isinstance(part, nn.Dropout):
                part.p = 0.0
            if isinstance(part, nn.MultiheadAttention):
                part.dropout = 0.0
        record(name, model, f"layers.0.{norm}", "layers.0.self_attn", run)
    decoder = with_random_weights(nn.TransformerDecoderLayer(**layer, norm_first=True))
    record("decoder_layer", decoder, "norm1", "self_attn", run)


def record_lens() -> None:
    """Write the recordings of HookedTransformer, of TransformerLens below 4."""
    from transformer_lens import HookedTransformer, HookedTransformerConfig

    usual = {"n_layers": 2, "d_model": 8, "n_ctx": 8, "d_head": 2, "n_heads": 4, "d_vocab": 11}
    usual |= {"act_fn": "gelu", "d_mlp": 6, "device": "cpu"}
    for name, given in (
        ("hooked", {"normalization_type": "LN"}),
        ("hooked_pre", {"normalization_type": "LNPre"}),
        ("hooked_grouped", {"normalization_type": "RMS", "n_key_value_heads": 2}),
    ):
        model = with_random_weights(HookedTransformer(HookedTransformerConfig(**usual, **given)))
        record(name, model, "blocks.0.ln1", "blocks.0.hook_attn_out", run_text)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    chosen = sys.argv[1:] or ["transformers", "torch", "lens"]
    for library in chosen:
        {"transformers": record_transformers, "torch": record_torch, "lens": record_lens}[library]()

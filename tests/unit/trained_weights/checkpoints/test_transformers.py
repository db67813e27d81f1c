"""Models of PyTorch and transformers: what is read from their files is what their modules have."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy
import pytest
from safetensors.numpy import load_file

from m2bridge import weights

D, HEADS, LAYERS = 8, 4, 2
SIZES = {
    "vocab_size": 32,
    "hidden_size": D,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "intermediate_size": 16,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
OF_GPT2 = {"n_embd": D, "n_layer": LAYERS, "n_head": HEADS, "vocab_size": 32}
OF_FALCON = {key: value for key, value in SIZES.items() if key != "intermediate_size"}
OF_IMAGES = {"image_size": 8, "patch_size": 4}

Head = tuple[Any, Any, Any, Any]
"""Views of the rows of Q, K and V, and of the columns of O, which belong to a head."""


def cut(q: Any, k: Any, v: Any, o: Any, groups: int) -> Iterator[Head]:
    """The heads, of which several in a row may share K and V."""
    a, shared = len(q) // HEADS, HEADS // groups
    for h in range(HEADS):
        g = h // shared
        own, of_group = slice(h * a, (h + 1) * a), slice(g * a, (g + 1) * a)
        yield q[own], k[of_group], v[of_group], o[:, own]


def separate(*names: str) -> Callable[[Any, int], Iterator[Head]]:
    """Q, K, V and O of modules with these names."""

    def heads(module: Any, groups: int) -> Iterator[Head]:
        return cut(*(module.get_submodule(name).weight for name in names), groups)

    return heads


def conv1d(module: Any, groups: int) -> Iterator[Head]:
    """GPT-2: ``c_attn(x).split(d)`` with weights of the shape (in, out)."""
    both = module.c_attn.weight.T
    return cut(both[:D], both[D : 2 * D], both[2 * D :], module.c_proj.weight.T, groups)


def by_group(module: Any, groups: int) -> Iterator[Head]:
    """GPT-NeoX, BLOOM, Falcon: ``view(…, groups, heads/groups + 2, a)``."""
    rows = module.query_key_value.weight
    shared = HEADS // groups
    of_groups = rows.view(groups, shared + 2, -1, D)
    a = of_groups.shape[2]
    for h in range(HEADS):
        group = of_groups[h // shared]
        columns = slice(h * a, (h + 1) * a)
        yield group[h % shared], group[-2], group[-1], module.dense.weight[:, columns]


def in_proj(module: Any, groups: int) -> Iterator[Head]:
    """nn.MultiheadAttention: ``in_proj_weight.chunk(3)``."""
    return cut(*module.in_proj_weight.chunk(3), module.out_proj.weight, groups)


# The class, options of its configuration, its modules of attention, heads that have their own keys.
MODELS: dict[str, tuple[str, Mapping[str, Any], str, Callable[[Any, int], Iterator[Head]], int]] = {
    "GPT-2": ("GPT2LMHeadModel", OF_GPT2, "transformer.h.{}.attn", conv1d, HEADS),
    "LLaMA": (
        "LlamaForCausalLM",
        SIZES | {"num_key_value_heads": 2},
        "model.layers.{}.self_attn",
        separate("q_proj", "k_proj", "v_proj", "o_proj"),
        2,
    ),
    "BERT": (
        "BertModel",
        SIZES,
        "encoder.layer.{}.attention",
        separate("self.query", "self.key", "self.value", "output.dense"),
        HEADS,
    ),
    "GPT-NeoX": ("GPTNeoXModel", SIZES, "layers.{}.attention", by_group, HEADS),
    "Falcon": ("FalconModel", OF_FALCON, "h.{}.self_attention", by_group, 1),
    "BLOOM": (
        "BloomModel",
        {"hidden_size": D, "n_layer": LAYERS, "n_head": HEADS, "vocab_size": 32},
        "h.{}.self_attention",
        by_group,
        HEADS,
    ),
    "T5": (
        "T5EncoderModel",
        {"d_model": D, "d_kv": 2, "num_layers": LAYERS, "num_heads": HEADS, "d_ff": 16}
        | {"vocab_size": 32},
        "encoder.block.{}.layer.0.SelfAttention",
        separate("q", "k", "v", "o"),
        HEADS,
    ),
    "ViT": ("ViTModel", SIZES | OF_IMAGES, "", separate(), HEADS),
}


def modules_of(model: Any, path: str) -> list[Any]:
    return [model.get_submodule(path.format(layer)) for layer in range(LAYERS)]


def of_vit(model: Any) -> tuple[list[Any], Callable[[Any, int], Iterator[Head]]]:
    """The modules of attention of ViT, whose names depend on the release of transformers."""
    named = dict(model.named_modules())
    queries = sorted(name for name in named if name.endswith((".query", ".q_proj")))
    modules, ends = [], []
    for query in queries:
        module = query.split("attention")[0] + "attention"
        modules.append(named[module])
        inside = [name.removeprefix(f"{module}.") for name in named if name.startswith(module)]
        for kinds in (("query", "q_proj"), ("key", "k_proj"), ("value", "v_proj")):
            ends += [name for name in inside if name.endswith(kinds)]
        ends += [name for name in inside if name.endswith(("dense", "o_proj"))]
    return modules, separate(*ends[:4])


def plant(heads: Sequence[Head]) -> None:
    """Give A the rank 1 in the second head, and V in the third."""
    heads[1][0][1] = 2 * heads[1][0][0]
    heads[2][3][:, 1] = 3 * heads[2][3][:, 0]


def ranks(head: Head) -> tuple[int, int]:
    q, k, v, o = (part.detach().double().numpy() for part in head)
    return int(numpy.linalg.matrix_rank(k.T @ q)), int(numpy.linalg.matrix_rank(o @ v))


def compare(found: Any, heads: Sequence[Head], entries: int) -> None:
    """Heads, ranks, the parameters of the layers, and the closed formula for the dimension."""
    assert [(head.ranks.r, head.ranks.s) for head in found.heads] == list(map(ranks, heads))
    assert all(head.ranks.proved for head in found.heads)
    for head, (q, _, _, _) in zip(found.heads, heads, strict=True):
        a = len(q)
        assert (head.shape.width, head.shape.d_out, head.shape.a) == (D, D, a)
        assert head.shape.dimension == 2 * a * D - a**2 + 2 * a * D - a**2 - 1
    assert found.network.parameters == entries


@pytest.mark.slow
def test_models_of_libraries_are_read_as_their_modules_are(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(1)
    alone = {"as_": "lightning", "biases": "ignore", "norm": "none"}
    for name, (kind, sizes, path, heads_of, groups) in MODELS.items():
        of_class = getattr(transformers, kind)
        model = of_class(of_class.config_class(**sizes))
        modules, own = of_vit(model) if name == "ViT" else (modules_of(model, path), heads_of)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.copy_(torch.randint(-9, 10, parameter.shape))
            of_layers = [list(own(module, groups)) for module in modules]
            for heads in of_layers:
                plant(heads)
        heads = [head for layer in of_layers for head in layer]
        assert ranks(heads[1])[0] == ranks(heads[2])[1] == 1
        matrices = {id(p): p for m in modules for p in m.parameters() if p.dim() == 2}
        entries = sum(p.numel() for p in matrices.values() if p.shape != (32, HEADS))
        folder = tmp_path / name
        model.save_pretrained(folder)
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
        assert json.loads((folder / "config.json").read_text())["model_type"]
        for source in (folder, folder / "pytorch_model.bin"):
            found = weights(source, **alone)
            compare(found, heads, entries)
            assert found.to_json()["model"]["architecture"] is None
        said = weights(folder / "model.safetensors").to_sheet().title
        assert said.startswith(f"{name}: softmax, skip connections")
        by_names = weights(load_file(folder / "model.safetensors"), heads=HEADS).to_sheet().title
        # Whether Falcon has rotary positions its names do not say.
        family = {"LLaMA": "LLaMA, Mistral or Qwen2", "Falcon": ""}.get(name, name)
        assert by_names.startswith(f"{family} by its names: softmax" if family else "Weights of")


@pytest.mark.slow
def test_attention_of_pytorch_is_read_as_it_is(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    encoder = torch.nn.TransformerEncoder(
        torch.nn.TransformerEncoderLayer(D, HEADS, dim_feedforward=16, batch_first=True), LAYERS
    )
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.copy_(torch.randint(-9, 10, parameter.shape))
        of_layers = [list(in_proj(layer.self_attn, HEADS)) for layer in encoder.layers]
        for heads in of_layers:
            plant(heads)
    torch.save({"state_dict": encoder.state_dict(), "epoch": 3}, tmp_path / "model.pt")
    found = weights(tmp_path / "model.pt", heads=HEADS, as_="lightning", biases="ignore")
    compare(found, [head for layer in of_layers for head in layer], LAYERS * 4 * D * D)
    # Its function by numpy, for tokens in rows: softmax of scores, then the outputs of the heads.
    attention = encoder.layers[0].self_attn.eval()
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter.mul_(0.1)
    tokens = torch.randn(1, 3, D)
    outputs = attention(tokens, tokens, tokens)[0][0].detach().numpy()
    state = {name: part.detach().numpy() for name, part in attention.state_dict().items()}
    x = tokens[0].numpy()
    biases = numpy.split(state["in_proj_bias"].reshape(3, HEADS, -1), HEADS, axis=1)
    expected = state["out_proj.bias"].astype(float)
    for (q, k, v, o), bias in zip(in_proj(attention, HEADS), biases, strict=True):
        Q, K, V = (
            x @ part.detach().numpy().T + own[0] for part, own in zip((q, k, v), bias, strict=True)
        )
        scores = numpy.exp(Q @ K.T / numpy.sqrt(len(q)))
        expected = expected + scores / scores.sum(1, keepdims=True) @ V @ o.detach().numpy().T
    assert numpy.allclose(outputs, expected, atol=1e-4)

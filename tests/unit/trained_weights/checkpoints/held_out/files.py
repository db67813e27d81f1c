"""Layers of attention as files have them, and the arrays beside them.

Each file has planted heads of attention. The norm is that of the model, by the code of its library;
a file whose layers are no layers of this model, or do not show what they are, has to be refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy

from tests.unit.trained_weights.checkpoints.test_layouts import HEADS, D, Planted

Arrays = dict[str, Any]
PRE_LAYER, PRE_RMS = ("pre", "layer", False), ("pre", "rms", False)
POST_LAYER = ("post", "layer", False)


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file of weights.

    Parameters
    ----------
    state : dict
    heads : Planted
        The heads of each of its layers.
    layers : int
        As many layers of attention to the same tokens.
    norm : tuple or None
        Place, kind, and whether it multiplies by 1 + γ.
    factor : int
        That of its outputs (LayerScale).
    refused : str
        What is said where it is refused, as a regular expression; empty if it is read.
    assumed : str
        What is said to be taken for granted, in part; empty if nothing has to be.
    config : dict
        The content of config.json, if there is one.
    options : dict
        Options of ``weights``.
    """

    state: Arrays
    heads: Planted = field(default_factory=Planted)
    layers: int = 1
    norm: tuple[str, str, bool] | None = None
    factor: int = 1
    refused: str = ""
    assumed: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


def drawn(*shape: int) -> Any:
    random = numpy.random.default_rng(sum(shape) + 17 * len(shape))
    return random.integers(1, 50, shape).astype(numpy.float32)


def norm(*names: str, bias: bool = True, size: int = D) -> Arrays:
    """The arrays of norms of these names."""
    found = {f"{name}.weight": drawn(size) for name in names}
    return found | ({f"{name}.bias": drawn(size) for name in names} if bias else {})


def beside(prefix: str, *names: str) -> Arrays:
    """Square matrices of these names, such as those of MLPs."""
    return {f"{prefix}{name}.weight": drawn(D, D) for name in names}


def four(p: Planted, prefix: str, names: str, *, bias: bool = False, end: str = "weight") -> Arrays:
    """Q, K, V and O of these names, which are separated by spaces."""
    letters = dict(zip("QKVO", names.split(), strict=True))
    found = {f"{prefix}{name}.{end}": getattr(p, letter) for letter, name in letters.items()}
    if bias:
        for letter, name in letters.items():
            rows = getattr(p, letter).shape[0]
            found[f"{prefix}{name}.bias"] = drawn(rows)
    return found


def one(array: Any, p: Planted, prefix: str, names: str, *, bias: bool = False) -> Arrays:
    """One array with Q, K and V, and O."""
    stacked, output = names.split()
    found = {f"{prefix}{stacked}.weight": array, f"{prefix}{output}.weight": p.O}
    if bias:
        found |= {f"{prefix}{stacked}.bias": drawn(len(array)), f"{prefix}{output}.bias": drawn(D)}
    return found


P, SHARED = Planted(), Planted(2)
QKVO = "q_proj k_proj v_proj o_proj"
QKV_OUT = "q_proj k_proj v_proj out_proj"
BERT = "self.query self.key self.value output.dense"
SIZES = {"num_attention_heads": HEADS, "hidden_size": D}
RMS, LAYER = {"norm": "rms"}, {"norm": "layer"}


def llama_block(p: Planted, prefix: str, *, bias: bool = False) -> Arrays:
    """The block of a LLaMA, but for its norms."""
    block = four(p, f"{prefix}self_attn.", QKVO, bias=bias)
    return block | beside(f"{prefix}mlp.", "gate_proj", "up_proj", "down_proj")


def llama_norms(prefix: str, *, bias: bool = False) -> Arrays:
    return norm(f"{prefix}input_layernorm", f"{prefix}post_attention_layernorm", bias=bias)


def llama_file(prefix: str = "model.layers.0.", *, p: Planted = P, **biases: bool) -> Arrays:
    ends = {"model.embed_tokens.weight": drawn(9, D), "lm_head.weight": drawn(9, D)}
    return (
        llama_block(p, prefix, **biases)
        | llama_norms(prefix)
        | ends
        | norm("model.norm", bias=False)
    )


def bert_block(p: Planted, prefix: str, attention: str = BERT) -> Arrays:
    block = four(p, f"{prefix}attention.", attention, bias=True)
    return block | beside(prefix, "intermediate.dense", "output.dense")


def vit_block(p: Planted, prefix: str, *, array: Any = None) -> Arrays:
    array = p.stacked if array is None else array
    block = one(array, p, prefix, "attn.qkv attn.proj", bias=True)
    return block | beside(prefix, "mlp.fc1", "mlp.fc2")


def fairseq_block(p: Planted, prefix: str, attention: str = "self_attn") -> Arrays:
    block = four(p, f"{prefix}{attention}.", QKV_OUT, bias=True)
    return block | beside(prefix, "fc1", "fc2")


def x_transformers(kinds: str) -> Arrays:
    """Modules of a decoder in a row: a for attention, c for cross-attention, f for an MLP."""
    state: Arrays = {}
    for number, kind in enumerate(kinds):
        prefix = f"attn_layers.layers.{number}."
        state[f"{prefix}0.0.gamma"] = drawn(D)
        if kind == "f":
            state |= beside(f"{prefix}1.", "ff.0.0", "ff.2")
        else:
            state |= four(P, f"{prefix}1.", "to_q to_k to_v to_out")
    return state

"""Files of weights that are made to do harm, and names of arrays that are no names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import numpy

NASTY = ('}; run "touch x"; y = {', "\\", "a\nb", "\x1b[2J\x07\r\u202e", "λ\x85", "\ud800")
"""Names of arrays that say something to Macaulay2, or to a terminal."""


def header(shape: str, kind: str = "'<f8'", version: int = 1) -> bytes:
    """The header of a file .npy that says this, and a hundred bytes."""
    text = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    length = len(text).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + bytes(100)


def eight_bits(kind: str) -> bytes:
    """A file of safetensors with the numbers K, Q, V of a type that NumPy does not have."""
    parts = {
        x: {"dtype": kind, "shape": [4, 4], "data_offsets": [16 * i, 16 * i + 16]}
        for i, x in enumerate("KQV")
    }
    if kind == "F4":
        parts = {x: part | {"shape": [4, 8]} for x, part in parts.items()}
    text = json.dumps(parts).encode()
    return len(text).to_bytes(8, "little") + text + bytes(48)


def member(place: int, value: int) -> bytes:
    """A file .npz with one byte changed in both headers of its member, which begins 2 bytes later
    in the second.
    """
    file = BytesIO()
    numpy.savez(file, K=numpy.eye(3))
    data = bytearray(file.getvalue())
    data[data.find(b"PK\x03\x04") + place] = data[data.find(b"PK\x01\x02") + place + 2] = value
    return bytes(data)


HOSTILE: dict[str, tuple[bytes, str]] = {
    "negative.npy": (header("(-1, 3)"), r"its shape is \(-1, 3\), which no array has"),
    "truth.npy": (header("(True, 3)"), r"its shape is \(True, 3\), which no array has"),
    "wide.npy": (header("(3, 1)", "'|V1000000000'"), "holds void"),
    "version.npy": (header("(3, 3)", version=9), "the version 9; versions 1 to 3 are read"),
    "dimensions.npy": (header(f"({'1,' * 65})"), "65 dimensions; at most 32"),
    "long.npy": (b"\x93NUMPY\x02\0\xff\xff\xff\xff", "header has 4294967295 bytes"),
    "brackets.npy": (header("(" * 4000), "header"),
    "signs.npy": (header("-" * 9000 + "1"), "header"),
    "short.npy": (header("(3, 3, 3)"), "cannot be read"),
    "encrypted.npz": (member(6, 1), "encrypted"),
    "compression.npz": (member(8, 77), "compression"),
    **{
        f"{kind}.safetensors": (eight_bits(kind), f"holds {kind}")
        for kind in ("F8_E4M3", "F8_E5M2", "F4")
    },
}
"""Files by their names, and the pattern of what is said of them."""

D, A = 4, 2
"""The dimension of tokens, and a; there are two heads, so that Q has D rows."""
LAYOUTS: dict[str, dict[str, tuple[int, ...]]] = {
    "GPT-2": {
        "h.0.attn.c_attn.weight": (D, 3 * D),
        "h.0.attn.c_attn.bias": (3 * D,),
        "h.0.attn.c_proj.weight": (D, D),
        "h.0.attn.c_proj.bias": (D,),
        "h.0.ln_1.weight": (D,),
        "h.0.ln_1.bias": (D,),
    },
    "nn.TransformerEncoderLayer": {
        "self_attn.in_proj_weight": (3 * D, D),
        "self_attn.in_proj_bias": (3 * D,),
        "self_attn.out_proj.weight": (D, D),
        "self_attn.out_proj.bias": (D,),
        "norm1.weight": (D,),
        "norm1.bias": (D,),
    },
    "BERT": {
        "attention.self.query.weight": (D, D),
        "attention.self.query.bias": (D,),
        "attention.self.key.weight": (D, D),
        "attention.self.key.bias": (D,),
        "attention.self.value.weight": (D, D),
        "attention.self.value.bias": (D,),
        "attention.output.dense.weight": (D, D),
        "attention.output.dense.bias": (D,),
        "attention.output.LayerNorm.weight": (D,),
        "attention.output.LayerNorm.bias": (D,),
    },
    "LLaMA, with one head of keys and values": {
        "layers.0.self_attn.q_proj.weight": (D, D),
        "layers.0.self_attn.k_proj.weight": (A, D),
        "layers.0.self_attn.k_proj.bias": (A,),
        "layers.0.self_attn.v_proj.weight": (A, D),
        "layers.0.self_attn.v_proj.bias": (A,),
        "layers.0.self_attn.o_proj.weight": (D, D),
        "layers.0.input_layernorm.weight": (D,),
    },
    "timm": {
        "attn.qkv.weight": (3 * D, D),
        "attn.qkv.bias": (3 * D,),
        "attn.proj.weight": (D, D),
        "attn.proj.bias": (D,),
        "norm1.weight": (D,),
        "norm1.bias": (D,),
    },
    "ViT": {
        **{f"attention.attention.{x}.weight": (D, D) for x in ("query", "key", "value")},
        **{f"attention.attention.{x}.bias": (D,) for x in ("query", "key", "value")},
        "attention.output.dense.weight": (D, D),
        "layernorm_before.weight": (D,),
        "layernorm_before.bias": (D,),
    },
    "OPT": {
        **{f"self_attn.{x}_proj.weight": (D, D) for x in ("q", "k", "v", "out")},
        **{f"self_attn.{x}_proj.bias": (D,) for x in ("q", "k", "v", "out")},
        "self_attn_layer_norm.weight": (D,),
        "self_attn_layer_norm.bias": (D,),
    },
    "T5": {
        **{f"layer.0.SelfAttention.{x}.weight": (D, D) for x in "qkvo"},
        "layer.0.layer_norm.weight": (D,),
    },
}
"""Names and shapes of layers with biases and norms, of two heads."""


def entries(shape: tuple[int, ...]) -> Any:
    """Small numbers that are no zeros, in lists."""
    count = int(numpy.prod(shape))
    return ((numpy.arange(count) * 5 % 7 + 1) / 4).reshape(shape).tolist()


def spoiled(array: Any) -> Iterator[Any]:
    """What stands in the place of an array: of other shapes, without entries, and no numbers."""
    flat = numpy.ravel(array).tolist()
    yield from (flat[:-1], [*flat, 1], flat[:1], [], [[]], 3, [flat], [[x] for x in flat])
    yield [[flat, flat]]
    yield [0 for _ in flat]
    yield from (None, "x", True, [None], ["1/0"], ["nan"], [flat, 1], [1e400], [10**400])


def changed_layers() -> Iterator[tuple[str, dict[str, Any]]]:
    """Files in which one array is spoiled, or missing; the name of the array that was."""
    for shapes in LAYOUTS.values():
        good = {name: entries(shape) for name, shape in shapes.items()}
        for name in good:
            # Without one of its matrices no layer is recognized: the arrays are listed then.
            if len(shapes[name]) == 1:
                yield name, {other: array for other, array in good.items() if other != name}
                yield name, good | {name: {}}
            for wrong in spoiled(good[name]):
                yield name, good | {name: wrong}

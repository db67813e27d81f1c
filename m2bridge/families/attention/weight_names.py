"""The layers and heads of a model in a file of weights: by the usual names, by names that are given, or by arrays.

Tokens are columns here. A linear layer of PyTorch acts on rows, x Wᵀ with W of shape (out, in), so W_q, W_k, W_v are Q,
K, V as they are stored; head h has the rows h·a, …, of each, and the columns h·v, … of the output matrix O, so that its
values are O_h V_h.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

from m2bridge.convert.weight_files import EXACT, Tensor
from m2bridge.errors import InvalidCaseError


@dataclass(frozen=True, slots=True)
class Convention:
    """The names of the tensors of a layer; ``*`` stands for what is the same in all of them.

    Parameters
    ----------
    query, key, value : str
        Three times the same where they are stacked; ``query`` is A = KᵀQ where there is no ``key``.
    output : str
        Of the output matrix, which may be absent.
    transposed : bool
        Whether tensors have the shape (in, out).
    """

    query: str
    key: str
    value: str
    output: str = ""
    transposed: bool = False

    @property
    def names(self) -> dict[str, str]:
        """The names by their letters."""
        named = {"Q": self.query, "K": self.key} if self.key else {"A": self.query}
        return {**named, "V": self.value, "O": self.output}

    def layers(self, available: Mapping[str, Tensor]) -> Iterator[tuple[str, dict[str, Tensor]]]:
        """What the star stands for and the tensors, for each layer that has them."""
        before, _, after = self.query.partition("*")
        pattern = re.compile(f"{re.escape(before)}(.*){re.escape(after)}" if "*" in self.query else re.escape(before))
        for name in available:
            if match := pattern.fullmatch(name):
                star = match[1] if "*" in self.query else ""
                names = {letter: named.replace("*", star) for letter, named in self.names.items()}
                if all(names[letter] in available for letter in names if letter != "O"):
                    yield star, {letter: available[named] for letter, named in names.items() if named in available}


def _projections(ending: str, output: str) -> Convention:
    """Names that differ in one letter."""
    query, key, value = (f"*{ending.replace('?', letter)}" for letter in "qkv")
    return Convention(query, key, value, f"*{output}")


def _words(before: str, output: str) -> Convention:
    query, key, value = (f"*{before}{word}.weight" for word in ("query", "key", "value"))
    return Convention(query, key, value, f"*{output}")


def _stacked(name: str, output: str, transposed: bool = False) -> Convention:
    return Convention(f"*{name}", f"*{name}", f"*{name}", f"*{output}", transposed)


USUAL = (
    _stacked("in_proj_weight", "out_proj.weight"),
    _projections("?_proj_weight", "out_proj.weight"),
    _projections("?_proj.weight", "o_proj.weight"),
    _projections("?_proj.weight", "out_proj.weight"),
    _stacked("qkv_proj.weight", "o_proj.weight"),
    _words("self.", "output.dense.weight"),
    _words("attention.", "output.dense.weight"),
    _projections("?_lin.weight", "out_lin.weight"),
    _projections("SelfAttention.?.weight", "SelfAttention.o.weight"),
    _projections("w?.weight", "wo.weight"),
    _projections("to_?.weight", "to_out.0.weight"),
    _stacked("attn.c_attn.weight", "attn.c_proj.weight", transposed=True),
    _stacked("attn.qkv.weight", "attn.proj.weight"),
    Convention("*W_Q", "*W_K", "*W_V", "*W_O"),
    Convention("*Q", "*K", "*V", "*O"),
    Convention("Q*", "K*", "V*", "O*"),
    Convention("*A", "", "*V", "*O"),
    Convention("A*", "", "V*", "O*"),
)
"""PyTorch; Hugging Face (LLaMA, OPT, BART, Phi, BERT, ViT, DistilBERT, T5, diffusers, GPT-2); timm; single letters."""

CROSS = re.compile(r"encoder_attn|cross_?att|EncDecAttention|multihead_attn", re.IGNORECASE)
"""Attention to the tokens of another network: K and Q do not act on the same ones."""


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """The matrices of one head, as arrays: A = KᵀQ, or A alone; the values are V, or OV.

    Parameters
    ----------
    layer, head : int
        Counted from 1.
    matrices : dict
        By the letters K, Q, A, V, O.
    kind : str
        The type of the entries; of several the least precise.
    """

    layer: int
    head: int
    matrices: Mapping[str, Any]
    kind: str


@dataclass(frozen=True, slots=True, eq=False)
class LayerTensors:
    """The tensors of a layer.

    Parameters
    ----------
    name : str
        Common to their names.
    parts : dict
        By the letters K, Q, A, V, O; three times the same where they are stacked.
    transposed : bool
    """

    name: str
    parts: Mapping[str, Tensor]
    transposed: bool = False

    def heads(self, layer: int, count: int | None) -> Iterator[Head]:
        """The heads one after the other; they are read now.

        Raises
        ------
        InvalidCaseError
            If the shapes do not fit.
        """
        read = {name: part.array() for name, part in {part.name: part for part in self.parts.values()}.items()}
        arrays = {letter: read[part.name] for letter, part in self.parts.items()}
        kinds = {part.kind for part in self.parts.values()}
        if self.transposed:
            arrays = {letter: numpy.swapaxes(array, -1, -2) for letter, array in arrays.items()}
        if "K" in self.parts and self.parts["K"].name == self.parts["V"].name:
            arrays |= _unstacked(arrays["Q"], arrays.get("O"), count or 1, self.parts["Q"].name)
        for number, matrices in enumerate(_cut(arrays, count), 1):
            yield Head(layer, number, matrices, _least_precise(kinds))


def _least_precise(kinds: Iterable[str]) -> str:
    listed = set(kinds)
    return next((kind for kind in ("bfloat16", "float16", "float32", "float64") if kind in listed), EXACT)


def _unstacked(stacked: Any, output: Any, heads: int, name: str) -> dict[str, Any]:
    """Q, K, V, which stand on top of each other; K and V have fewer heads where O says that there are more columns."""
    if stacked.ndim == 3 and len(stacked) == 3:
        return dict(zip("QKV", stacked, strict=True))
    rows = stacked.shape[0]
    first = output.shape[1] if output is not None and output.ndim == 2 else rows // 3
    if stacked.ndim != 2 or not first or first % heads or (rows - first) % 2 or rows <= first:
        shape = " × ".join(map(str, stacked.shape))
        raise InvalidCaseError("weights", f"'{name}' is {shape}: Q, K and V on top of each other need 3·a·heads rows")
    middle = (rows + first) // 2
    return {"Q": stacked[:first], "K": stacked[first:middle], "V": stacked[middle:]}


def _cut(arrays: Mapping[str, Any], count: int | None) -> Iterator[dict[str, Any]]:
    """The matrices of each head: rows of Q, K, V, and columns of O; or the first index."""
    dimensions = {array.ndim for array in arrays.values()}
    if dimensions == {3}:
        counts = {len(array) for array in arrays.values()}
        if len(counts) > 1 or count not in (None, *counts):
            raise InvalidCaseError("heads", f"{_shapes(arrays)}: the first number is that of the heads in all of them")
        yield from (_checked({letter: array[h] for letter, array in arrays.items()}) for h in range(*counts))
        return
    if dimensions != {2}:
        raise InvalidCaseError("weights", f"{_shapes(arrays)}: give matrices, or all with the heads as first index")
    heads = count or 1
    if heads == 1:
        yield _checked(dict(arrays))
        return
    if "A" in arrays:
        raise InvalidCaseError("heads", "A is that of one head: give K and Q, or A and V with the heads as first index")
    yield from (_checked(_head(arrays, h, heads)) for h in range(heads))


def _head(arrays: Mapping[str, Any], h: int, heads: int) -> dict[str, Any]:
    """Where there are fewer keys and values than queries, each belongs to as many heads in a row."""
    rows = arrays["Q"].shape[0]
    if rows % heads:
        raise InvalidCaseError("heads", f"Q has {rows} rows, which are not those of {heads} heads")
    a, keys = rows // heads, arrays["K"].shape[0]
    groups = keys // a if keys % a == 0 else 0
    if not groups or heads % groups or arrays["V"].shape[0] % groups:
        raise InvalidCaseError("heads", f"{_shapes(arrays)}: K and V have no rows for {heads} heads with a = {a}")
    own, v = h * groups // heads, arrays["V"].shape[0] // groups
    cut = {"Q": arrays["Q"][h * a : (h + 1) * a], "K": arrays["K"][own * a : (own + 1) * a]}
    cut["V"] = arrays["V"][own * v : (own + 1) * v]
    if "O" in arrays:
        if arrays["O"].shape[1] != heads * v:
            raise InvalidCaseError("weights", f"{_shapes(arrays)}: O has a column for each row of V of each head")
        cut["O"] = arrays["O"][:, h * v : (h + 1) * v]
    return cut


def _checked(head: dict[str, Any]) -> dict[str, Any]:
    """The matrices, if they fit together; raises InvalidCaseError that says which does not."""
    if wrong := _wrong({letter: array.shape for letter, array in head.items()}):
        raise InvalidCaseError("weights", f"{_shapes(head)}: {wrong}")
    return head


def _wrong(shapes: Mapping[str, tuple[int, int]]) -> str:
    """What is wrong with the shapes of the matrices of a head; empty if nothing is."""
    first, V = shapes["A" if "A" in shapes else "Q"], shapes["V"]
    d, both = first[1], "A" if "A" in shapes else "K and Q"
    if not all(map(min, shapes.values())):
        return "a matrix has no entries"
    if "A" in shapes and first != (d, d):
        return "A = KᵀQ is square, d × d"
    if "K" in shapes and shapes["K"] != first:
        turned = "; is one of them transposed?" if shapes["K"] == first[::-1] else ""
        return f"K and Q have the same shape, a × d{turned}"
    if V[1] != d:
        turned = "; are K and Q transposed?" if first[0] == V[1] else "; is V transposed?" if V[0] == d else ""
        turned = "; is V transposed, or are K and Q?" if first[0] == V[1] and V[0] == d else turned
        return f"V has as many columns as {both}, the dimension d of the tokens{turned}"
    return "O has as many columns as V has rows" if "O" in shapes and shapes["O"][1] != V[0] else ""


def _shapes(arrays: Mapping[str, Any]) -> str:
    return ", ".join(f"{letter} is {' × '.join(map(str, array.shape))}" for letter, array in sorted(arrays.items()))


def named_layers(available: Mapping[str, Tensor], names: Mapping[str, str | None]) -> list[LayerTensors]:
    """The layers whose tensors have these names, with a star for what differs from layer to layer.

    Raises
    ------
    InvalidCaseError
        If one is missing.
    """
    for option in ("query", "key", "value"):
        if not names.get(option):
            raise InvalidCaseError(option, "is missing: give the names of query, key and value, or of none")
    query, key, value, output = (names.get(option) or "" for option in ("query", "key", "value", "output"))
    convention = Convention(query, key, value, output)
    layers = [LayerTensors(star, parts) for star, parts in convention.layers(available)]
    if layers and (not names.get("output") or all("O" in layer.parts for layer in layers)):
        return sorted(layers, key=_order)
    known = ", ".join(map(repr, list(available)[:8]))
    more = ", …" if len(available) > 8 else ""
    for option, name in names.items():
        if name and not any(re.fullmatch(re.escape(name).replace(r"\*", ".*"), key) for key in available):
            raise InvalidCaseError(option, f"there is no '{name}'; there are {known}{more}")
    raise InvalidCaseError("query", "what * stands for is not the same in these names")


def usual_layers(available: Mapping[str, Tensor]) -> list[LayerTensors]:
    """The layers with usual names, in their order; none where there are no such names."""
    if len(available) == 1:  # Q, K and V in one array, whatever its name is
        (name,) = available
        return [LayerTensors("", parts) for _, parts in Convention(name, name, name).layers(available)]
    found: dict[str, LayerTensors] = {}
    used: set[str] = set()
    for convention in USUAL:
        for star, parts in convention.layers({n: t for n, t in available.items() if n not in used}):
            known = found.get(star)
            better = known is None or ("O" in parts and "O" not in known.parts)
            if better and not CROSS.search(star):
                found[star] = LayerTensors(star, parts, convention.transposed)
        used |= {part.name for layer in found.values() for part in layer.parts.values() if "O" in layer.parts}
    return sorted(found.values(), key=_order)


def _order(layer: LayerTensors) -> list[Any]:
    """Numbers in names by their values."""
    return [(int(part) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", layer.name)]


def alike(layers: Iterable[LayerTensors]) -> bool:
    """Whether the names of the layers differ in numbers only: then they may follow one another."""
    return len({re.sub(r"\d+", "", layer.name) for layer in layers}) == 1


OTHERS = (
    ("masks", r"mask|(^|\.)attn\.bias$"),
    ("biases", r"bias(_?[kv])?$"),
    ("attention to other tokens", CROSS.pattern),
    ("norms", r"norm|(^|[._])ln([._\d]|$)"),
    ("positions", r"pos|rotary|wpe|inv_freq|relative"),
    ("MLPs", r"mlp|(^|[._])fc\d?[._]|ffn|feed_forward|intermediate|linear\d|lin[12]|output\.dense|DenseReluDense"),
    ("embeddings", r"embed|wte|token"),
    ("heads of the model", r"head|classifier|pooler|prediction|score"),
)
"""What models have besides, by parts of names."""


def left_out(available: Iterable[str], layers: Iterable[LayerTensors]) -> tuple[str, ...]:
    """The tensors that belong to no layer, by what they are, with their numbers."""
    used = {part.name for layer in layers for part in layer.parts.values()}
    kinds = Counter(
        next((kind for kind, part in OTHERS if re.search(part, name, re.IGNORECASE)), f"'{name}'")
        for name in available
        if name not in used
    )
    return tuple(f"{kind} ({number})" if not kind.startswith("'") else kind for kind, number in kinds.items())


def heads_in_configuration(path: Any) -> int | None:
    """The number of heads that ``config.json`` beside a file, or in a folder, says."""
    file = (Path(path) if Path(path).is_dir() else Path(path).parent) / "config.json"
    try:
        content = json.loads(file.read_text(encoding="utf-8")) if file.stat().st_size < 1_000_000 else {}
    except (OSError, ValueError):
        return None
    keys = ("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads")
    counts = [content[key] for key in keys if isinstance(content, dict) and isinstance(content.get(key), int)]
    return counts[0] if counts and counts[0] > 0 else None

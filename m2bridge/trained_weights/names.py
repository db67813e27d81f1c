"""The layers of a model in a file of weights: by usual names, given names, or arrays.

A bias has the name of its matrix, with ``bias`` in place of ``weight``, ``b_Q`` of ``W_Q`` or
``Q_bias`` of ``Q``, and a norm has a usual name. What a file does not show:

* ``norm1`` beside ``self_attn.in_proj_weight`` (nn.TransformerEncoderLayer) is taken to stand after
  the layer; with ``norm_first`` it stands before it, which a user can say.
* ``self_attn_layer_norm`` stands before the layer in OPT and after it in BART: see
  :func:`_ends_without_norm`.
* ``input_layernorm`` without a bias is taken for an RMSNorm, as in LLaMA; Cohere's is a LayerNorm.
* Gemma's has the factors 1 + γ, under the same names: ``config.json`` beside the file tells it, or
  a user.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from m2bridge.convert.bounded_io import read_json, read_text
from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.results.sheet import visible
from m2bridge.trained_weights.files import Tensor, tensor, tensors
from m2bridge.trained_weights.tensors import NAMES, LayerTensors, NormTensors

_MOST_CONFIGURATION = 1_000_000
"""Bytes of a config.json."""


def _layers(
    available: Mapping[str, Tensor], names: Mapping[str, str], transposed: bool = False
) -> Iterator[LayerTensors]:
    """Yield the layers whose tensors have these names, a star for what they have in common."""
    pattern = re.compile(re.escape(next(iter(names.values()))).replace(r"\*", "(.*)", 1))
    for match in filter(None, map(pattern.fullmatch, available)):
        star = "".join(match.groups())
        full = {letter: name.replace("*", star) for letter, name in names.items()}
        parts = {letter: available[name] for letter, name in full.items() if name in available}
        if names.keys() - parts.keys() <= {"O"}:
            layer = LayerTensors(
                name=star,
                parts=parts,
                transposed=transposed,
                biases=_biases(parts, available),
                norm=_norm(parts, available),
            )
            # nanoGPT has the names of GPT-2 with the shapes of PyTorch: the shape decides where it
            # can.
            if layer.is_stacked:
                turned = _is_transposed(parts["Q"])
                if turned is not None:
                    layer = replace(layer, transposed=turned)
            yield layer


def _biases(parts: Mapping[str, Tensor], available: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the biases of these matrices, where they have usual names."""
    found = {}
    for letter, part in parts.items():
        name = _bias_name(part.name, letter)
        if name and name in available:
            found[letter] = available[name]
    return found


def _bias_name(name: str, letter: str) -> str:
    """Return the name of the bias beside a matrix; empty if there is no usual one."""
    if re.search(r"(?<![^._])weight$", name):
        return name.removesuffix("weight") + "bias"
    if name.endswith(f"W_{letter}"):
        return name.removesuffix(f"W_{letter}") + f"b_{letter}"
    if letter != "A" and re.search(rf"(?<![^._]){letter}$", name):
        return f"{name}_bias"
    return ""


def _norm(parts: Mapping[str, Tensor], available: Mapping[str, Tensor]) -> NormTensors | None:
    """Return the norm with a usual name beside the queries of these names."""
    if "Q" not in parts:
        return None
    query = parts["Q"].name
    for usual in NAMES["norms"]:
        end = usual["query"].removeprefix("*")
        star = query.removesuffix(end)
        name = usual["gamma"].replace("*", star)
        if star == query or name not in available:
            continue
        moved = re.sub("gamma$", "beta", re.sub("weight$", "bias", name))
        beta = available.get(moved)
        rms = beta is None and usual.get("rms", False)
        post = usual["place"] == "post"
        if usual["place"] == "of the model":
            post = _ends_without_norm(star, available)
        return NormTensors(
            kind="rms" if rms else "layer",
            gamma=available[name],
            beta=beta,
            place="post" if post else "pre",
        )
    return None


def _ends_without_norm(layer: str, available: Mapping[str, Tensor]) -> bool:
    """Whether a whole model is there, without a norm at its end.

    Models with norms before their layers have one there (OPT, Whisper, mBART); BART and the OPT of
    350 million weights have none, and norms after their layers.
    """
    model = re.sub(r"layers\.\d+\.$", "", layer)
    ends = [f"{model}layer_norm.weight", f"{model}final_layer_norm.weight"]
    return f"{model}embed_positions.weight" in available and not any(
        name in available for name in ends
    )


def named_layers(
    available: Mapping[str, Tensor], names: Mapping[str, str | None]
) -> list[LayerTensors]:
    """The layers whose tensors have these names, ``query``, ``key``, ``value`` or ``stacked``, and
    ``output``.

    Raises
    ------
    InvalidCaseError
        If one is missing.
    """
    given = {option: name for option, name in names.items() if name}
    separate = ("query", "key", "value")
    if "stacked" in given:
        if others := [option for option in separate if option in given]:
            raise InvalidCaseError(
                others[0], "is not given beside stacked, one array with Q, K and V"
            )
        letters = dict.fromkeys("QKV", given["stacked"])
    else:
        if missing := [option for option in separate if option not in given]:
            raise InvalidCaseError(
                missing[0], "is missing: give the names of query, key and value, or of none"
            )
        letters = {letter: given[option] for letter, option in zip("QKV", separate, strict=True)}
    if "output" in given:
        letters["O"] = given["output"]
    layers = list(_layers(available, letters))
    if layers and all(letters.keys() == layer.parts.keys() for layer in layers):
        return sorted(layers, key=_order)
    for option, name in given.items():
        if not any(re.fullmatch(re.escape(name).replace(r"\*", ".*"), key) for key in available):
            raise InvalidCaseError(option, f"there is no '{name}'; there are {_listed(available)}")
    raise InvalidCaseError(next(iter(given)), "what * stands for is not the same in these names")


def _listed(available: Mapping[str, Tensor]) -> str:
    """The first arrays, with their sizes."""
    first = ", ".join(f"'{visible(t.name)}' ({t.size_text})" for t in list(available.values())[:8])
    if len(available) > 8:
        return f"{first} and {len(available) - 8} more"
    return first


def usual_layers(available: Mapping[str, Tensor]) -> list[LayerTensors]:
    """The layers with usual names, in their order; none where there are no such names.

    An array belongs to one layer, and to one role in it unless Q, K and V are stacked: names that
    two conventions fit are those of the first one, and of those with an output matrix before all
    others.
    """
    layers: dict[str, LayerTensors] = {}
    used: set[str] = set()
    conventions = [(names, False) for names in NAMES["usual"]]
    conventions += [(names, True) for names in NAMES["transposed"]]
    for with_output in (True, False):
        for names, transposed in conventions:
            free = {name: part for name, part in available.items() if name not in used}
            for layer in _layers(free, names, transposed):
                if ("O" in layer.parts) is not with_output or layer.name in layers:
                    continue
                if "attention to other tokens" in _kinds(layer.name):
                    continue
                layers[layer.name] = layer
                used |= {part.name for part in (*layer.parts.values(), *layer.biases.values())}
    if not layers and len(available) == 1:
        return _alone(*available.values())
    return sorted(layers.values(), key=_order)


def _alone(part: Tensor) -> list[LayerTensors]:
    """The one array of a file as Q, K and V, if its shape says so: (3, ·, ·), (3d, d) or
    (d, 3d).
    """
    three = len(part.shape) == 3 and part.shape[0] == 3
    if not three and _is_transposed(part) is None:
        return []
    return list(_layers({part.name: part}, dict.fromkeys("QKV", part.name)))


def _is_transposed(part: Tensor) -> bool | None:
    """Whether Q, K, V stand beside each other, (d, 3d), or not, (3d, d); else ``None``."""
    if len(part.shape) != 2 or not min(part.shape):
        return None
    rows, columns = part.shape
    if rows == 3 * columns:
        return False
    if columns == 3 * rows:
        return True
    return None


def _order(layer: LayerTensors) -> list[Any]:
    """The numbers in names by their values."""
    return [(int(part) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", layer.name)]


def alike(layers: Iterable[LayerTensors]) -> bool:
    """Whether the names of the layers differ in numbers only: then they may follow one another."""
    return len({re.sub(r"\d+", "", layer.name) for layer in layers}) == 1


def left_out(available: Iterable[str], layers: Iterable[LayerTensors]) -> tuple[str, ...]:
    """The tensors about which no answer is, by what they are, with their numbers."""
    used = {part.name for layer in layers for part in layer.counted()}
    others = [(name, _kinds(name)) for name in available if name not in used]
    counts: Counter[str] = Counter()
    # A name of its own is in quotation marks, and needs no number.
    for name, kinds in others:
        counts[kinds[0] if kinds else f"'{visible(name)}'"] += 1
    found = []
    for kind, number in counts.items():
        found.append(kind if kind.startswith("'") else f"{kind} ({number})")
    return tuple(found)


def _kinds(name: str) -> list[str]:
    """The kinds of layers besides attention to the same tokens of which the name of a tensor
    speaks.
    """
    return [kind for kind, part in NAMES["others"].items() if re.search(part, name, re.IGNORECASE)]


def _configuration(path: Any) -> dict[str, Any]:
    """What ``config.json`` beside a file, or in a folder, says; empty where it says nothing."""
    file = (Path(path) if Path(path).is_dir() else Path(path).parent) / "config.json"
    # A pipe or a device, which nobody named, is not waited for.
    if not file.is_file():
        return {}
    try:
        content = read_json(read_text(file, _MOST_CONFIGURATION))
    except ConversionError:
        return {}
    return content if isinstance(content, dict) else {}


def norms_add_one(path: Any) -> bool:
    """Whether ``config.json`` says a model whose RMSNorm multiplies by 1 + γ.

    The model of a text may be a part of a larger one.
    """
    content = _configuration(path)
    parts = [content, content.get("text_config")]
    types = [part.get("model_type") for part in parts if isinstance(part, dict)]
    return any(name in NAMES["adds_one"] for name in types)


def has_rotary_positions(source: Any, available: Iterable[str]) -> bool:
    """Whether the names of tensors, or ``config.json`` beside a file, speak of rotary positions."""
    usual = NAMES["rotary"]
    if any(re.search(usual["names"], name) for name in available):
        return True
    if not isinstance(source, str | Path):
        return False
    content = _configuration(source)
    text = content.get("text_config")
    keys = [*content, *(text if isinstance(text, dict) else ())]
    return any(key.startswith(tuple(usual["keys"])) for key in keys)


def heads_in_configuration(path: Any) -> int | None:
    """The number of heads that ``config.json`` beside a file, or in a folder, says."""
    content = _configuration(path)
    for key in NAMES["heads"]:
        value = content.get(key)
        # JSON's true is an int in Python, and no number of heads.
        if type(value) is int and value > 0:
            return value
    return None


def given_layer(given: Mapping[str, Any]) -> LayerTensors:
    """The layer of these matrices, by their letters; raises InvalidCaseError if they are not those
    of a layer.
    """
    if set(given) - {"O"} not in ({"K", "Q", "V"}, {"A", "V"}):
        raise InvalidCaseError(
            "weights", f"give K, Q and V, or A and V; not {', '.join(given) or 'other weights'}"
        )
    return LayerTensors("", {letter: tensor(letter, array) for letter, array in given.items()})


def find_layers(
    source: Any, matrices: Mapping[str, Any], names: Mapping[str, str | None], heads: int | None
) -> tuple[list[LayerTensors], Mapping[str, Tensor], int | None]:
    """The layers, all arrays, and the number of heads of each layer if it is known."""
    if heads is not None and (not isinstance(heads, int) or isinstance(heads, bool) or heads < 1):
        raise InvalidCaseError("heads", f"must be at least 1, not {heads!r:.60}")
    given = {letter: array for letter, array in matrices.items() if array is not None}
    if (source is None) == (not given):
        raise InvalidCaseError("weights", "give a file or a dictionary, or K, Q and V, or A and V")
    if given:
        return [given_layer(given)], {}, heads
    available = tensors(source)
    if isinstance(source, str | Path) and heads is None:
        heads = heads_in_configuration(source)
    if any(names.values()):
        layers = named_layers(available, names)
    elif not (layers := usual_layers(available)):
        raise InvalidCaseError(
            "query",
            "no usual names are in it: say query, key and value, or stacked; it holds"
            f" {_listed(available)}",
        )
    if isinstance(source, str | Path) and norms_add_one(source):
        layers = [_with_one_added(layer) for layer in layers]
    return layers, available, heads


def _with_one_added(layer: LayerTensors) -> LayerTensors:
    """The layer with the factors 1 + γ in its RMSNorm, if it has one."""
    if layer.norm is None or layer.norm.kind != "rms":
        return layer
    return replace(layer, norm=replace(layer.norm, adds_one=True))

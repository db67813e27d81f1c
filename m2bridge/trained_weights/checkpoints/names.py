"""The layers of a model in a file of weights: by usual names, given names, or arrays.

A bias has the name of its matrix, with ``bias`` in place of ``weight``, ``b_Q`` of ``W_Q`` or
``Q_bias`` of ``Q``, and a norm has a usual name. What cannot be read off a file:

* ``norm1`` beside ``self_attn.in_proj_weight`` (nn.TransformerEncoderLayer) is taken to stand after
  the layer; with ``norm_first`` it stands before it, which a user can say.
* ``self_attn_layer_norm`` stands before the layer in OPT and after it in BART: see
  :func:`_ends_without_norm`.
* ``input_layernorm`` without a bias is taken for an RMSNorm, as in LLaMA; Cohere's is a LayerNorm.
* One array with Q, K and V does not show how they are cut: names are cut as their models cut them,
  others as the option ``layout`` says.
* Gemma's has the factors 1 + γ, under the same names: ``config.json`` beside the file tells it, or
  a user.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from operator import itemgetter
from typing import Any

import numpy

from m2bridge.errors import InvalidCaseError
from m2bridge.results.sheet import visible
from m2bridge.trained_weights.checkpoints.arrays import Tensor, stack_of, tensor
from m2bridge.trained_weights.checkpoints.layouts import (
    KERNEL,
    LAYOUTS,
    LETTERS,
    Layout,
    StoredAs,
    halved,
    is_transposed,
    oriented,
)
from m2bridge.trained_weights.checkpoints.tensors import NAMES, LayerTensors, NormTensors


def _by_usual_name(available: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The arrays by their names with dots for slashes, and ``weight`` for ``kernel``.

    The heads that have arrays of their own are put together: ``heads.#.query.weight`` has them as
    its first index. Keras counts modules at the end of their names, from the second one on.
    """
    found = {}
    counted = {match[1] for match in map(_COUNTED.search, available) if match}
    for name, part in available.items():
        usual = re.sub(r":0$", "", name.replace("/", "."))
        usual = KERNEL.sub("weight", usual)
        if counted:
            usual = _with_number_first(usual, counted)
        # Where two arrays would have one name, they keep theirs.
        found[name if usual in available or usual in found else usual] = part
    return found | dict(_joined_heads(found))


_COUNTED = re.compile(r"(multi_head_attention)_(\d+)[./]")
"""The modules that Keras counts."""


def _with_number_first(name: str, counted: Iterable[str]) -> str:
    """Return the name with the number of its module in front: ``1.multi_head_attention.…``."""
    if match := _COUNTED.search(name):
        before, after = name[: match.start()], name[match.end() :]
        return f"{before}{match[2]}.{match[1]}.{after}"
    for module in counted:
        if match := re.search(rf"(^|[./_]){module}\.", name):
            place = match.start() + len(match[1])
            return f"{name[:place]}0.{name[place:]}"
    return name


def _joined_heads(available: Mapping[str, Tensor]) -> Iterator[tuple[str, Tensor]]:
    """Yield the arrays ``heads.0.…``, ``heads.1.…``, … as one, by the name with #."""
    groups: dict[str, dict[int, Tensor]] = {}
    for name, part in available.items():
        match = re.fullmatch(r"(.*\bheads\.)(\d+)(\..*)", name)
        if match:
            before, number, after = match.groups()
            groups.setdefault(f"{before}#{after}", {})[int(number)] = part
    for name, parts in groups.items():
        of_heads = [parts[number] for number in sorted(parts)]
        shapes = {part.shape for part in of_heads}
        # A head that is missing, or has another shape, is not made up.
        if sorted(parts) == list(range(len(parts))) and len(shapes) == 1:
            yield name, stack_of(name, of_heads)


def _layers(available: Mapping[str, Tensor], layout: Layout) -> Iterator[LayerTensors]:
    """Yield the layers whose tensors have these names, a star for what they have in common."""
    names = layout.names
    other_tokens = NAMES["other_tokens_beside"]
    pattern = re.compile(re.escape(next(iter(names.values()))).replace(r"\*", "(.*)", 1))
    for match in filter(None, map(pattern.fullmatch, available)):
        star = "".join(match.groups())
        if not re.search(layout.star, star):
            continue
        if layout.beside and layout.beside.replace("*", star) not in available:
            continue
        # Attention to other tokens has a norm for these in its module, or in that around it.
        around = re.sub(r"[^.]+\.$", "", star)
        if any(
            f"{module}{name}" in available for module in (star, around) for name in other_tokens
        ):
            continue
        full = {letter: name.replace("*", star) for letter, name in names.items()}
        given = {letter: available[name] for letter, name in full.items() if name in available}
        if not names.keys() - given.keys() <= {"O"}:
            continue
        biases = _biases(full, available)
        others = {letter: name.replace("*", star) for letter, name in layout.biases.items()}
        others = {letter: name for letter, name in others.items() if name in available}
        if others:
            biases |= _other_biases({x: available[name] for x, name in others.items()}, given)
        parts = oriented(given, biases, layout)
        if "KV" in parts:
            parts = halved(parts, "matrix")
            biases = halved(biases, "bias")
        layer = LayerTensors(
            name=star,
            parts={letter: parts[letter] for letter in LETTERS if letter in parts},
            biases=biases,
            norm=_norm(full.get("Q", ""), available),
            cut=layout.cut,
            is_one_head=layout.one_head,
            readings=layout.readings,
            assumed=layout.assumed,
        )
        yield _as_rows_are_cut(layer, layout, given["Q"], available) if layout.as_rows else layer


def _as_rows_are_cut(
    layer: LayerTensors, layout: Layout, stored: Tensor, available: Mapping[str, Tensor]
) -> LayerTensors:
    """The layer with an unknown cut, where its array, as it is stored, is (3d, d) and may be of
    nanoGPT or of StarCoder: a mask beside it, or a norm without β, is of nanoGPT.
    """
    mask = available.get(stored.name.replace("/", ".").removesuffix("c_attn.weight") + "bias")
    has_mask = mask is not None and len(mask.shape) == 4
    has_no_beta = layer.norm is not None and layer.norm.beta is None
    is_of_flax = KERNEL.search(stored.name) is not None
    if is_transposed(stored) is not False or is_of_flax or has_mask or has_no_beta:
        return layer
    return replace(layer, cut="unknown", readings=layout.as_rows)


def _biases(names: Mapping[str, str], available: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the biases of the matrices of these names, where they have usual names."""
    found = {}
    for letter, matrix in names.items():
        name = _bias_name(matrix, letter)
        if name and name in available:
            found[letter] = available[name]
    return found


def _other_biases(
    biases: Mapping[str, Tensor], parts: Mapping[str, Tensor]
) -> Mapping[str, Tensor]:
    """Return biases with names of their own; beside one array with Q, K and V those of Q and V, as
    BEiT has them, are put together with zeros for K, which has none.

    One bias beside three matrices, as PyTorch has it, is cut into three.
    """
    if parts["Q"].name != parts["K"].name:
        names = {bias.name for bias in biases.values()}
        return _thirds(biases["Q"]) if biases.keys() == set("QKV") and len(names) == 1 else biases
    if biases.keys() != {"Q", "V"} or biases["Q"].shape != biases["V"].shape:
        return {}  # which are refused, as they belong to the layer
    query, value = biases["Q"], biases["V"]

    def read() -> Any:
        first, last = query.array(), value.array()
        return numpy.concatenate([first, numpy.zeros_like(first), last])

    shape = (3 * query.shape[0],) if len(query.shape) == 1 else query.shape
    both = Tensor(f"{query.name}, {value.name}", shape, query.kind, read, sources=(query, value))
    return {"Q": both, "V": both}


def _thirds(bias: Tensor) -> dict[str, Tensor]:
    """Return the biases of Q, K and V of one vector with all three; none if it is not one."""
    if len(bias.shape) != 1 or bias.shape[0] % 3:
        return {}  # which is refused, as it belongs to the layer
    length = bias.shape[0] // 3
    found = {}
    for place, letter in enumerate("QKV"):
        part = bias.changed(itemgetter(slice(place * length, (place + 1) * length)), (length,))
        found[letter] = replace(part, name=f"{bias.name} ({letter})")
    return found


def _bias_name(name: str, letter: str) -> str:
    """Return the name of the bias beside a matrix; empty if there is no usual one."""
    if match := re.search(r"(?<![^._/])(weight|kernel)(:0)?$", name):
        return f"{name[: match.start()]}bias{match[2] or ''}"
    if name.endswith(f"W_{letter}"):
        return name.removesuffix(f"W_{letter}") + f"b_{letter}"
    if letter != "A" and re.search(rf"(?<![^._]){letter}$", name):
        return f"{name}_bias"
    return ""


def _norm(query: str, available: Mapping[str, Tensor]) -> NormTensors | None:
    """Return the norm with a usual name beside the queries of this name."""
    for usual in NAMES["norms"]:
        end = usual["query"].removeprefix("*")
        star = query.removesuffix(end)
        gamma = _gamma(usual["gamma"].replace("*", star), available)
        if star == query or gamma is None or not _is_row_of(usual, star, available):
            continue
        return _norm_of_row(usual, star, gamma, available)
    return None


def _gamma(name: str, available: Mapping[str, Tensor]) -> str | None:
    """The name of γ, which Flax calls scale, and TensorFlow gamma; ``None`` if it is not there."""
    for end in ("weight", "scale", "gamma"):
        own = re.sub(r"(?<=\.)weight$", end, name)
        if own in available:
            return own
    return None


def _is_row_of(usual: Mapping[str, Any], star: str, available: Mapping[str, Tensor]) -> bool:
    """Whether the other arrays are there that a row of the table needs."""
    beside = [usual[key].replace("*", star) for key in ("adds_one", "beside") if key in usual]
    if any(name not in available for name in beside):
        return False
    return "model" not in usual or any(re.search(usual["model"], name) for name in available)


def _norm_of_row(
    usual: Mapping[str, Any], star: str, gamma: str, available: Mapping[str, Tensor]
) -> NormTensors:
    """The norm as a row of the table says, with what it does not say."""
    beta = beta_beside(gamma, available)
    rms = beta is None and usual.get("rms", False)
    says_kind = rms or any(key in usual for key in ("layer", "asks_with", "assumed_without_beta"))
    post: bool | None = usual["place"] == "post"
    if usual["place"] == "of the model":
        post = _ends_without_norm(star, available)
    elif usual["place"] == "asked":
        post = None
    asks = ""
    if post is None:
        asks = "stands before the layer in some models and after it in others: say that it is layer"
        asks += " or rms, before the layer, or none, after it"
    elif beta is None and (
        usual.get("asks_with", "").replace("*", star) in available or not (says_kind or post)
    ):
        asks = "is a LayerNorm without β in some models and an RMSNorm in others: say layer or rms"
    assumed = usual.get("assumed", "") if beta else usual.get("assumed_without_beta", "")
    return NormTensors(
        kind="rms" if rms else "layer",
        gamma=available[gamma],
        beta=beta,
        place="post" if post else "pre",
        adds_one="adds_one" in usual,
        asks=asks,
        assumed=assumed,
    )


def beta_beside(gamma: str, available: Mapping[str, Tensor]) -> Tensor | None:
    """Return the β beside a γ of this name; ``None`` if there is none."""
    # TensorFlow's names end with the number of an output.
    number = ":0" if gamma.endswith(":0") else ""
    for name in _beta_names(gamma.removesuffix(number)):
        if f"{name}{number}" in available:
            return available[f"{name}{number}"]
    return None


def _beta_names(gamma: str) -> Iterator[str]:
    """Yield the names that β may have beside a γ of this name."""
    usual: dict[str, list[str]] = NAMES["beta"]
    for end, others in usual.items():
        if gamma.endswith(end):
            yield from (gamma.removesuffix(end) + other for other in others)


def _ends_without_norm(layer: str, available: Mapping[str, Tensor]) -> bool | None:
    """Whether a whole model is there, without a norm at its end; ``None`` if it is not whole, or
    has positions by convolutions: fairseq's wav2vec 2.0 has the last norm before its layers, too.

    Models with norms before their layers have one there (OPT, Whisper, mBART, ESM); BART and the
    OPT of 350 million weights have none, and norms after their layers.
    """
    model = re.sub(r"layers\.\d+\.$", "", layer)
    if any(name.startswith(f"{model}pos_conv") for name in available):
        return None
    ends = ("layer_norm", "final_layer_norm", "emb_layer_norm_after")
    if any(f"{model}{name}.weight" in available for name in ends):
        return False
    begins = ("embed_positions.weight", "embed_tokens.weight")
    return True if any(f"{model}{name}" in available for name in begins) else None


def named_layers(
    available: Mapping[str, Tensor], names: Mapping[str, str | None], said: StoredAs | None = None
) -> list[LayerTensors]:
    """The layers whose tensors have these names, ``query``, ``key``, ``value`` or ``stacked``, and
    ``output``; stored as it is said, or as their names say.

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
    layers = list(_layers(available, _layout_of_given(letters, available, said or StoredAs())))
    if layers and all(letters.keys() == layer.parts.keys() for layer in layers):
        _check_each_is_in_a_layer(available, given, layers)
        return sorted(map(_as_its_shape_says, layers), key=_order)
    for option, name in given.items():
        if not any(map(_expression(name, available).fullmatch, available)):
            raise InvalidCaseError(option, f"there is no '{name}'; there are {listed(available)}")
    raise InvalidCaseError(next(iter(given)), "what * stands for is not the same in these names")


_SHORT_STAR = "[^./]*"
"""What * in a given name usually stands for, such as the number of a layer."""


def _star_of(name: str, available: Collection[str]) -> str:
    """What * in a given name stands for: any text only where no array fits a short one."""
    short = re.compile(re.escape(name).replace(r"\*", _SHORT_STAR))
    return _SHORT_STAR if any(map(short.fullmatch, available)) else ".*"


def _expression(name: str, available: Collection[str]) -> re.Pattern[str]:
    """The names of arrays for which a given name stands."""
    return re.compile(re.escape(name).replace(r"\*", _star_of(name, available)))


def _as_its_shape_says(layer: LayerTensors) -> LayerTensors:
    """The layer as one of one head, if nothing else is said and its shapes are those of one: Q has
    one row, or fewer rows than columns; or Q, K and V are three matrices in one array.
    """
    query = layer.parts["Q"]
    if len(query.shape) != 2:
        return replace(layer, is_one_head=layer.is_stacked)
    rows, columns = query.shape
    if layer.is_stacked:
        rows //= 3
    return replace(layer, is_one_head=rows == 1 or rows < columns)


def _check_each_is_in_a_layer(
    available: Mapping[str, Tensor], given: Mapping[str, str], layers: Iterable[LayerTensors]
) -> None:
    """Check that no array with a given name is left over; InvalidCaseError if one is."""
    used = file_names(part for layer in layers for part in layer.parts.values())
    for option, name in given.items():
        pattern = _expression(name, available)
        for other in available:
            if pattern.fullmatch(other) and other not in used:
                others = ", ".join(one for one in given if one != option)
                raise InvalidCaseError(
                    option,
                    f"'{visible(other):.120}' matches this name but belongs to no layer: the file"
                    f" has no matching array for at least one of {others}",
                )


def _layout_of_given(
    letters: Mapping[str, str], available: Collection[str], said: StoredAs
) -> Layout:
    """The layout of arrays with names that are given: the cut and the indices of known names."""
    # One array of a name that is not known may be cut in any way.
    given = Layout(names=letters, cut="unknown", star=f"^{_star_of(letters['Q'], available)}$")
    query = _expression(letters["Q"], available)
    named = [name for name in available if query.fullmatch(name)]
    # The first row that fits, as for names that are found; of each O, if that is not given.
    fitting: dict[str, Layout] = {}
    for layout in LAYOUTS:
        output = layout.names.get("O", "")
        has_output = letters.get("O", output).endswith(output.removeprefix("*"))
        if letters["Q"] == letters.get("K") and has_output and _have_names(named, layout):
            fitting.setdefault("" if "O" in letters else output, layout)
    if len({layout.cut for layout in fitting.values()}) == 1:
        known = next(iter(fitting.values()))
        given = replace(given, cut=known.cut, readings=known.readings, as_rows=known.as_rows)
    if all(letters[letter].endswith(f"W_{letter}") for letter in "QKV"):
        given = replace(given, three=("heads d a", "heads a d"))
    return said.applied(given)


def _have_names(queries: Iterable[str], layout: Layout) -> bool:
    """Whether all these names are those of Q in a layout with Q, K and V in one array."""
    usual = layout.names
    if usual.get("Q", "") != usual.get("K") or layout.beside:
        return False
    for query in queries:
        name = KERNEL.sub("weight", query.replace("/", "."))
        star = name.removesuffix(usual["Q"].removeprefix("*"))
        if star == name or not re.search(layout.star, star):
            return False
    return True


def listed(available: Mapping[str, Tensor]) -> str:
    """The first arrays, with their sizes."""
    first = ", ".join(f"'{visible(t.name)}' ({t.size_text})" for t in list(available.values())[:8])
    if len(available) > 8:
        return f"{first} and {len(available) - 8} more"
    return first


def usual_layers(
    available: Mapping[str, Tensor], said: StoredAs | None = None
) -> list[LayerTensors]:
    """The layers with usual names, in their order; none where there are no such names.

    An array belongs to one layer, and to one role in it unless Q, K and V are stacked: names that
    two conventions fit are those of the first one, and of those with an output matrix before all
    others.
    """
    layers: dict[str, LayerTensors] = {}
    used: set[str] = set()
    named = _by_usual_name(available)
    layouts = [(said or StoredAs()).applied(layout) for layout in LAYOUTS]
    for with_output in (True, False):
        for layout in layouts:
            free = {name: part for name, part in named.items() if not part.file_names & used}
            for layer in _layers(free, layout):
                if ("O" in layer.parts) is not with_output or layer.name in layers:
                    continue
                # The name of a matrix has all of that of its module.
                if "attention to other tokens" in kinds_of(layer.parts["V"].name):
                    continue
                layers[layer.name] = layer
                used |= file_names((*layer.parts.values(), *layer.biases.values()))
    if not layers and len(available) == 1:
        return _alone(next(iter(available.values())), said or StoredAs())
    return sorted(layers.values(), key=_order)


def file_names(parts: Iterable[Tensor]) -> frozenset[str]:
    """The names of the arrays of a file from which these are made."""
    return frozenset().union(*(part.file_names for part in parts))


def _alone(part: Tensor, said: StoredAs) -> list[LayerTensors]:
    """The one array of a file as Q, K and V, if its shape says so: (3, ·, ·), (3d, d) or
    (d, 3d).
    """
    three = len(part.shape) == 3 and part.shape[0] == 3
    if not three and is_transposed(part) is None:
        return []
    letters = dict.fromkeys("QKV", part.name)
    layers = _layers({part.name: part}, _layout_of_given(letters, [part.name], said))
    return [_as_its_shape_says(layer) for layer in layers]


def _order(layer: LayerTensors) -> list[Any]:
    """The numbers in names by their values."""
    return [(int(part) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", layer.name)]


def alike(layers: Iterable[LayerTensors]) -> bool:
    """Whether the names of the layers differ in numbers only: then they may follow one another."""
    return len({re.sub(r"\d+", "", layer.name) for layer in layers}) == 1


def given_layer(given: Mapping[str, Any]) -> LayerTensors:
    """The layer of these matrices, by their letters; raises InvalidCaseError if they are not those
    of a layer.
    """
    if set(given) - {"O"} not in ({"K", "Q", "V"}, {"A", "V"}):
        raise InvalidCaseError(
            "weights", f"give K, Q and V, or A and V; not {', '.join(given) or 'other weights'}"
        )
    return LayerTensors("", {letter: tensor(letter, array) for letter, array in given.items()})


def kinds_of(name: str) -> list[str]:
    """The kinds of layers besides attention to the same tokens of which the name of a tensor
    speaks.
    """
    return [kind for kind, part in NAMES["others"].items() if re.search(part, name, re.IGNORECASE)]

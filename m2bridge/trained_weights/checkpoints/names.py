"""The layers of a model in a file of weights: by usual names, given names, or arrays.

A bias has the name of its matrix, with ``bias`` in place of ``weight``, ``b_Q`` of ``W_Q`` or
``Q_bias`` of ``Q``, and a norm has a usual name. What a file does not show:

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
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy

from m2bridge.convert.bounded_io import read_json, read_text
from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.results.sheet import visible
from m2bridge.trained_weights.checkpoints.architecture import (
    number_in,
    read_architecture,
    text_model,
)
from m2bridge.trained_weights.checkpoints.files import Tensor, stack_of, tensor, tensors
from m2bridge.trained_weights.checkpoints.stored import (
    MOST_CONFIGURATION,
    dequantized,
    merged,
    refused_form,
    without_copies,
)
from m2bridge.trained_weights.checkpoints.tensors import CUTS, NAMES, LayerTensors, NormTensors

_OF_KERNELS = ("d heads a", "heads a d")
"""The indices of their arrays with three, those of inputs and that of the output."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Layout:
    """How the arrays of a layer are called and stored.

    Parameters
    ----------
    names : dict
        By the letters Q, K, V, O or A, and KV for one array with K and V; ``*`` stands for what
        they have in common.
    star : str
        What that has to be, as a regular expression.
    columns : bool or None
        Whether arrays have the shape (in, out); ``None`` if their names say it.
    cut : str
        How one array with Q, K and V is cut.
    three : pair of str
        The three indices of Q, K and V, and those of O, where arrays have three.
    biases : dict
        The names of biases, where these are not usual ones.
    columns_said, three_said : bool
        Whether a user says it, whatever shapes and biases are.
    """

    names: Mapping[str, str]
    star: str = ""
    columns: bool | None = None
    columns_said: bool = False
    cut: str = "q-k-v"
    three: tuple[str, str] | None = None
    three_said: bool = False
    biases: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAs:
    """How arrays are stored, as a user says it; ``None`` where the names or the shapes say it.

    Parameters
    ----------
    columns : bool or None
        Whether arrays have the shape (in, out).
    cut : str or None
        How one array with Q, K and V is cut.
    three : pair of str or None
        The three indices of Q, K and V, and those of O.
    """

    columns: bool | None = None
    cut: str | None = None
    three: tuple[str, str] | None = None

    def applied(self, layout: Layout) -> Layout:
        """The layout with what is said in place of what is known."""
        return replace(
            layout,
            columns=layout.columns if self.columns is None else self.columns,
            columns_said=self.columns is not None,
            cut=self.cut or layout.cut,
            three=self.three or layout.three,
            three_said=self.three is not None,
        )


ORDERS = {
    "heads-a-d": ("heads a d", "heads d a"),
    "heads-d-a": ("heads d a", "heads a d"),
    "d-heads-a": _OF_KERNELS,
}
"""The three indices of Q, K and V, and of O, by the words for them."""
LAYOUT_WORDS = ("rows", "columns", *CUTS, *ORDERS)
"""The words of the option ``layout``."""


def stored_as(layout: str | None) -> StoredAs:
    """What the words of the option ``layout`` say: at most one of rows and columns, one of
    :data:`CUTS`, and one of :data:`ORDERS`.

    Raises
    ------
    InvalidCaseError
        If it has another word, or two that exclude each other.
    """
    if layout is None:
        return StoredAs()
    words = [word.strip() for word in layout.split(",")] if isinstance(layout, str) else [layout]
    for word in words:
        if word not in LAYOUT_WORDS:
            known = f"{', '.join(LAYOUT_WORDS[:-1])} or {LAYOUT_WORDS[-1]}"
            raise InvalidCaseError("layout", f"{word!r:.60} is not {known}")
    said = []
    for choices in (("rows", "columns"), CUTS, tuple(ORDERS)):
        chosen = [word for word in words if word in choices]
        if len(chosen) > 1:
            raise InvalidCaseError("layout", f"{' and '.join(chosen)} exclude each other")
        said.append(chosen[0] if chosen else None)
    side, cut, order = said
    return StoredAs(
        columns=None if side is None else side == "columns",
        cut=cut,
        three=None if order is None else ORDERS[order],
    )


_LETTERS = ("Q", "K", "V", "KV", "A", "O")
_KERNEL = re.compile(r"(?<![^._/])kernel(:0)?$")
"""The names that Flax, Keras and TensorFlow give to matrices, of the shape (in, out)."""


def _layout(row: Mapping[str, Any]) -> Layout:
    """A row of the table."""
    names = {letter: row[letter] for letter in _LETTERS if letter in row}
    others = {key: value for key, value in row.items() if key not in (*_LETTERS, "of", "three")}
    three = tuple(row["three"]) if "three" in row else None
    return Layout(names=names, three=three, **others)


LAYOUTS = tuple(map(_layout, NAMES["usual"]))
"""The layouts that are known."""


def _by_usual_name(available: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The arrays by their names with dots for slashes, and ``weight`` for ``kernel``.

    The heads that have arrays of their own are put together: ``heads.#.query.weight`` has them as
    its first index.
    """
    found = {}
    for name, part in available.items():
        usual = re.sub(r":0$", "", name.replace("/", "."))
        usual = _KERNEL.sub("weight", usual)
        # Where two arrays would have one name, they keep theirs.
        found[name if usual in available or usual in found else usual] = part
    return found | dict(_joined_heads(found))


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
    pattern = re.compile(re.escape(next(iter(names.values()))).replace(r"\*", "(.*)", 1))
    for match in filter(None, map(pattern.fullmatch, available)):
        star = "".join(match.groups())
        if not re.search(layout.star, star):
            continue
        full = {letter: name.replace("*", star) for letter, name in names.items()}
        given = {letter: available[name] for letter, name in full.items() if name in available}
        if not names.keys() - given.keys() <= {"O"}:
            continue
        biases = _biases(full, available)
        for letter, name in layout.biases.items():
            if (own := name.replace("*", star)) in available:
                biases[letter] = available[own]
        parts = _oriented(given, biases, layout)
        if "KV" in parts:
            parts = _halved(parts, "matrix")
            biases = _halved(biases, "bias")
        yield LayerTensors(
            name=star,
            parts={letter: parts[letter] for letter in _LETTERS if letter in parts},
            biases=biases,
            norm=_norm(full.get("Q", ""), available),
            cut=layout.cut,
        )


def _oriented(
    parts: Mapping[str, Tensor], biases: Mapping[str, Tensor], layout: Layout
) -> dict[str, Tensor]:
    """Return the matrices as of the shape (out, in), or with the heads as first index."""
    query = parts.get("Q")
    stacked = query is not None and "K" in parts and query.name == parts["K"].name
    if stacked and query is not None and len(query.shape) == 2:
        # nanoGPT has the names of GPT-2 with the shapes of PyTorch: the shape decides where it can.
        turned = layout.columns if layout.columns_said else _is_transposed(query)
        if turned is None:
            turned = _is_beside_output(query, parts.get("O"))
        if turned is None:
            turned = _has_columns(query, layout)
        # The output matrix is stored as the others are: a square one does not show it.
        return {letter: _turned(part) if turned else part for letter, part in parts.items()}
    three = layout.three
    if three is None and query is not None:
        three = _OF_KERNELS if _KERNEL.search(query.name) else ORDERS["heads-a-d"]
    if three is not None and not layout.three_said and not stacked and query is not None:
        three = _checked_order(query, biases.get("Q"), three)
    found = {}
    for letter, part in parts.items():
        if len(part.shape) == 3 and three is not None and not stacked:
            found[letter] = _with_heads_first(part, letter, three)
        else:
            found[letter] = _turned(part) if _has_columns(part, layout) else part
    return found


def _has_columns(part: Tensor, layout: Layout) -> bool:
    """Whether an array has the shape (in, out), by its layout or its name."""
    if layout.columns is None or layout.columns_said:
        return bool(_KERNEL.search(part.name)) if layout.columns is None else layout.columns
    # The kernels of GPT-2 in Flax are turned twice.
    return layout.columns is not bool(_KERNEL.search(part.name))


def _is_beside_output(stacked: Tensor, output: Tensor | None) -> bool | None:
    """Whether one array with Q, K and V has the tokens in its rows, which the square output matrix
    shows; ``None`` if it does not.
    """
    if output is None or len(output.shape) != 2 or output.shape[0] != output.shape[1]:
        return None
    width = output.shape[0]
    if (stacked.shape[0] == width) is (stacked.shape[1] == width):
        return None
    return stacked.shape[0] == width


def _turned(part: Tensor) -> Tensor:
    """The array with its last two indices exchanged; a vector, which is refused later, as it is."""
    if len(part.shape) < 2:
        return part
    *first, rows, columns = part.shape
    return part.changed(lambda array: numpy.swapaxes(array, -1, -2), (*first, columns, rows))


def _checked_order(query: Tensor, bias: Tensor | None, three: tuple[str, str]) -> tuple[str, str]:
    """The indices of arrays with three, the first of which is the heads: what the bias of Q, of
    shape (heads, a), says; else those that are expected, if a head has no more rows than tokens
    have entries.

    Raises
    ------
    InvalidCaseError
        If neither says it.
    """
    if len(query.shape) != 3 or three == _OF_KERNELS or three[0] == three[1]:
        return three
    heads, middle, last = query.shape
    if bias is not None and middle != last:
        for order, size in (("heads-a-d", middle), ("heads-d-a", last)):
            if bias.shape == (heads, size):
                return ORDERS[order]
    rows, width = (middle, last) if three == ORDERS["heads-a-d"] else (last, middle)
    if rows <= width:
        return three
    raise InvalidCaseError(
        "layout",
        f"'{visible(query.name):.60}' is {query.size_text}: which index is that of the tokens is"
        " not seen; give the layout, heads-d-a (as in TransformerLens) or heads-a-d",
    )


def _with_heads_first(part: Tensor, letter: str, three: tuple[str, str]) -> Tensor:
    """The array with the indices (heads, a, d), that of O with (heads, d, a)."""
    stored = three[letter == "O"].split()
    wanted = ["heads", "d", "a"] if letter == "O" else ["heads", "a", "d"]
    axes = [stored.index(index) for index in wanted]
    if axes == [0, 1, 2]:
        return part
    shape = tuple(part.shape[axis] for axis in axes)
    return part.changed(lambda array: numpy.transpose(array, axes), shape)


def _halved(parts: Mapping[str, Tensor], kind: str) -> dict[str, Tensor]:
    """The arrays with K and V in place of one that has all of K, then all of V."""
    found = {letter: part for letter, part in parts.items() if letter != "KV"}
    both = parts.get("KV")
    if both is None:
        return found
    if not both.shape or both.shape[0] % 2:
        raise InvalidCaseError(
            "weights",
            f"'{visible(both.name):.60}' is {both.size_text}: a {kind} of K and V has an even"
            " number of outputs",
        )
    half = both.shape[0] // 2
    shape = (half, *both.shape[1:])
    for place, letter in enumerate("KV"):
        part = both.changed(itemgetter(slice(place * half, (place + 1) * half)), shape)
        found[letter] = replace(part, name=f"{both.name} ({letter})")
    return found


def _biases(names: Mapping[str, str], available: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the biases of the matrices of these names, where they have usual names."""
    found = {}
    for letter, matrix in names.items():
        name = _bias_name(matrix, letter)
        if name and name in available:
            found[letter] = available[name]
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
        name = usual["gamma"].replace("*", star)
        if star == query or name not in available:
            continue
        beta = available.get(_beta_name(name))
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


def _beta_name(gamma: str) -> str:
    """The name of β beside a γ of this name."""
    usual: dict[str, str] = NAMES["beta"]
    for end, other in usual.items():
        if gamma.endswith(end):
            return gamma.removesuffix(end) + other
    return ""


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
    layers = list(_layers(available, _layout_of_given(letters, said or StoredAs())))
    if layers and all(letters.keys() == layer.parts.keys() for layer in layers):
        return sorted(layers, key=_order)
    for option, name in given.items():
        if not any(re.fullmatch(re.escape(name).replace(r"\*", ".*"), key) for key in available):
            raise InvalidCaseError(option, f"there is no '{name}'; there are {_listed(available)}")
    raise InvalidCaseError(next(iter(given)), "what * stands for is not the same in these names")


def _layout_of_given(letters: Mapping[str, str], said: StoredAs) -> Layout:
    """The layout of arrays with names that are given: the cut and the indices of known names."""
    cut, three = "q-k-v", None
    for layout in LAYOUTS:
        if letters["Q"] == letters.get("K") and _has_names(letters, layout):
            cut = layout.cut
            break
    if all(letters[letter].endswith(f"W_{letter}") for letter in "QKV"):
        three = ("heads d a", "heads a d")
    return said.applied(Layout(names=letters, cut=cut, three=three))


def _has_names(letters: Mapping[str, str], layout: Layout) -> bool:
    """Whether these names end as those of a layout with Q, K and V in one array."""
    usual = layout.names
    if usual.get("Q", "") != usual.get("K"):
        return False
    name = _KERNEL.sub("weight", letters["Q"].replace("/", "."))
    star = name.removesuffix(usual["Q"].removeprefix("*"))
    if star == name:
        return False
    # A star in the names stands for a number here.
    return bool(re.search(layout.star, star.replace("*", "0")))


def _listed(available: Mapping[str, Tensor]) -> str:
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
                if "attention to other tokens" in _kinds(layer.name):
                    continue
                layers[layer.name] = layer
                used |= _file_names((*layer.parts.values(), *layer.biases.values()))
    if not layers and len(available) == 1:
        return _alone(next(iter(available.values())), said or StoredAs())
    return sorted(layers.values(), key=_order)


def _file_names(parts: Iterable[Tensor]) -> frozenset[str]:
    """The names of the arrays of a file from which these are made."""
    return frozenset().union(*(part.file_names for part in parts))


def _alone(part: Tensor, said: StoredAs) -> list[LayerTensors]:
    """The one array of a file as Q, K and V, if its shape says so: (3, ·, ·), (3d, d) or
    (d, 3d).
    """
    three = len(part.shape) == 3 and part.shape[0] == 3
    if not three and _is_transposed(part) is None:
        return []
    letters = dict.fromkeys("QKV", part.name)
    return list(_layers({part.name: part}, _layout_of_given(letters, said)))


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
    used = _file_names(part for layer in layers for part in layer.counted())
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


def configuration(path: Any) -> dict[str, Any]:
    """What ``config.json``, or else ``params.json``, beside a file, or in a folder, says; empty
    where it says nothing.
    """
    folder = Path(path) if Path(path).is_dir() else Path(path).parent
    for name in ("config.json", "params.json"):
        file = folder / name
        # A pipe or a device, which nobody named, is not waited for.
        if not file.is_file():
            continue
        try:
            content = read_json(read_text(file, MOST_CONFIGURATION))
        except ConversionError:
            return {}
        return content if isinstance(content, dict) else {}
    return {}


def norms_add_one(path: Any) -> bool:
    """Whether ``config.json`` says a model whose RMSNorm multiplies by 1 + γ.

    The model of a text may be a part of a larger one.
    """
    content = configuration(path)
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
    content = configuration(source)
    architecture = read_architecture(content)
    # A file params.json says it by what it is alone.
    if "model_type" not in content and architecture is not None and architecture.rotary:
        return True
    text = content.get("text_config")
    keys = [*content, *(text if isinstance(text, dict) else ())]
    return any(key.startswith(tuple(usual["keys"])) for key in keys)


def heads_in_configuration(path: Any) -> int | None:
    """The number of heads that ``config.json`` beside a file, or in a folder, says."""
    return number_in(text_model(configuration(path)), "heads")


def given_layer(given: Mapping[str, Any]) -> LayerTensors:
    """The layer of these matrices, by their letters; raises InvalidCaseError if they are not those
    of a layer.
    """
    if set(given) - {"O"} not in ({"K", "Q", "V"}, {"A", "V"}):
        raise InvalidCaseError(
            "weights", f"give K, Q and V, or A and V; not {', '.join(given) or 'other weights'}"
        )
    return LayerTensors("", {letter: tensor(letter, array) for letter, array in given.items()})


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredOptions:
    """The options about how weights are stored, and what of a file is left out.

    Parameters
    ----------
    layout, ignore : str or None
    adapter : path or None
    biases : bool
        Whether biases count.
    norm : str or None
        ``none`` leaves out the norms of queries and keys too.
    """

    layout: str | None = None
    ignore: str | None = None
    adapter: Any = None
    biases: bool = True
    norm: str | None = None


def is_understood(available: Mapping[str, Tensor]) -> bool:
    """Whether these arrays have usual names, of layers or of what is refused by name."""
    return bool(refused_form(available)) or bool(usual_layers(without_copies(available)))


def find_layers(
    source: Any,
    matrices: Mapping[str, Any],
    names: Mapping[str, str | None],
    heads: int | None,
    options: StoredOptions | None = None,
) -> tuple[list[LayerTensors], Mapping[str, Tensor], int | None]:
    """The layers, all arrays, and the number of heads of each layer if it is known.

    Raises
    ------
    InvalidCaseError
        If an array that belongs to a layer is not understood, or what is known of a layer does not
        fit.
    """
    options = options or StoredOptions()
    said = stored_as(options.layout)
    if heads is not None and (not isinstance(heads, int) or isinstance(heads, bool) or heads < 1):
        raise InvalidCaseError("heads", f"must be at least 1, not {heads!r:.60}")
    given = {letter: array for letter, array in matrices.items() if array is not None}
    if (source is None) == (not given):
        raise InvalidCaseError("weights", "give a file or a dictionary, or K, Q and V, or A and V")
    if given:
        return [given_layer(given)], {}, heads
    available = tensors(source)
    weights = available
    if options.adapter is not None:
        weights = merged(available, options.adapter)
    weights = without_copies(weights)
    has_names = any(names.values())
    # What is merged has its arrays no longer under these names.
    if not has_names and (reason := refused_form(weights)):
        raise InvalidCaseError("weights", reason)
    weights = dequantized(weights)
    config = configuration(source) if isinstance(source, str | Path) else {}
    if has_names:
        layers = named_layers(weights, names, said)
        _check_sides(layers, said)
    elif not (layers := _of_texts(usual_layers(weights, said))):
        raise InvalidCaseError(
            "query",
            "no usual names are in it: say query, key and value, or stacked; it holds"
            f" {_listed(available)}",
        )
    # A layer whose names are given may lack what is usually read beside them, as its output matrix.
    usual = usual_layers(weights, said) if has_names else []
    check_accounted(layers, weights, options, known=usual)
    if config and heads is None:
        heads = number_in(text_model(config), "heads")
        _check_heads_are_known(heads, layers)
        _check_shared_keys(config, layers)
    layers = [_as_configured(layer, config, said) for layer in layers]
    if isinstance(source, str | Path) and norms_add_one(source):
        layers = [_with_one_added(layer) for layer in layers]
    return layers, available, heads


def _of_texts(layers: list[LayerTensors]) -> list[LayerTensors]:
    """The layers without those of images or sounds, where there are others: the numbers of heads
    differ.
    """
    texts = [layer for layer in layers if not re.search(NAMES["images"], layer.name)]
    return texts or layers


def _check_heads_are_known(heads: int | None, layers: Iterable[LayerTensors]) -> None:
    """Check that there is a number of heads where a configuration is, and shapes need one."""
    flat = any("Q" in layer.parts and len(layer.parts["Q"].shape) == 2 for layer in layers)
    if heads is None and flat:
        raise InvalidCaseError(
            "heads", "config.json does not say how many heads a layer has: give their number"
        )


def _check_shared_keys(configuration: Mapping[str, Any], layers: Iterable[LayerTensors]) -> None:
    """Check that the rows of K are those of as many heads as the configuration says."""
    architecture = read_architecture(configuration)
    # Where the number is not said, the shapes of K and V do.
    if architecture is None or number_in(text_model(configuration), "groups") is None:
        return
    for layer in layers:
        if layer.is_stacked or "Q" not in layer.parts or len(layer.parts["Q"].shape) != 2:
            continue
        query, key = layer.parts["Q"], layer.parts["K"]
        # What the rows are not divisible by is refused where the arrays are cut.
        if query.shape[0] * architecture.key_value_heads != key.shape[0] * architecture.heads:
            raise InvalidCaseError(
                "heads",
                f"'{visible(query.name):.60}' is {query.size_text} and '{visible(key.name):.60}' is"
                f" {key.size_text}, and the configuration says {architecture.heads} heads and"
                f" {architecture.key_value_heads} of keys and values: give the number of heads",
            )


def _as_configured(
    layer: LayerTensors, configuration: Mapping[str, Any], said: StoredAs
) -> LayerTensors:
    """The layer with what its architecture says of shared keys, of its norm, and of the cut of one
    array.
    """
    architecture = read_architecture(configuration)
    if architecture is None:
        return layer
    norm = layer.norm
    if norm is not None and architecture.norm is not None:
        kind: Any = "layer" if architecture.norm == "layer" else "rms"
        # A norm with β is a LayerNorm whatever is said.
        kind = "layer" if norm.beta is not None else kind
        place: Any = {"before": "pre", "after": "post"}[architecture.norm_place]
        norm = replace(norm, kind=kind, place=place)
    cut = layer.cut
    if said.cut is None and layer.is_stacked:
        shared = architecture.key_value_heads < architecture.heads
        if architecture.name == "StarCoder":
            cut = "by-group"
        if architecture.name == "ChatGLM2":
            cut = "q-k-v" if shared else "by-head"
    return replace(layer, norm=norm, cut=cut, key_value_heads=architecture.key_value_heads)


_SIDES_SAID = re.compile(
    r"(^|[^A-Za-z])(weight|kernel|[A-Za-z]*_weight)(:0)?$|(^|[^A-Za-z])(W_?)?[QKVOA]\d*(?![A-Za-z])"
)
"""Names of matrices whose shape is known, (out, in) or (in, out)."""


def _is_symmetric(part: Tensor) -> bool:
    """Whether a matrix is its transpose, so that its sides need not be known."""
    if len(part.shape) != 2 or part.shape[0] != part.shape[1]:
        return False
    array = part.array()
    return bool((array == array.T).all())


def _check_sides(layers: Iterable[LayerTensors], said: StoredAs) -> None:
    """Check that names or shapes of matrices with given names say whether these are (out, in).

    Raises
    ------
    InvalidCaseError
        If neither does.
    """
    for layer in layers:
        query = layer.parts["Q"]
        if said.columns is not None or layer.is_stacked or len(query.shape) != 2:
            continue
        parts = [layer.parts[letter] for letter in "QKV"]
        if all(_SIDES_SAID.search(part.name) for part in parts):
            continue
        sides = [
            len({part.shape[side] for part in parts if len(part.shape) == 2}) for side in (0, 1)
        ]
        if query.shape[0] < query.shape[1] or (sides[1] == 1 and sides[0] > 1):
            continue
        if all(map(_is_symmetric, parts)):
            continue
        raise InvalidCaseError(
            "layout",
            f"'{visible(query.name):.60}' is {query.size_text}: neither its name nor its shape says"
            " whether it is (out, in), as in PyTorch, or (in, out), as in Flax, Keras and"
            " TensorFlow; give the layout, rows or columns",
        )


def check_accounted(
    layers: Sequence[LayerTensors],
    available: Mapping[str, Tensor],
    options: StoredOptions,
    *,
    known: Sequence[LayerTensors] = (),
) -> None:
    """Check that each array that belongs to a layer is read, or is known, or is one that changes
    nothing of what is said.

    Raises
    ------
    InvalidCaseError
        If one is not understood.
    """
    ignored = [
        re.escape(name.strip()) for name in (options.ignore or "").split(",") if name.strip()
    ]
    leave_out = re.compile("|".join(ignored).replace(r"\*", ".*") or r"(?!)")
    used = _file_names(part for layer in (*layers, *known) for part in layer.every())
    others = [name for name in available if name not in used and not leave_out.fullmatch(name)]
    for layer in layers:
        modules = _modules(layer)
        for name in others:
            if name.startswith(modules) and not _changes_nothing(name, options):
                raise InvalidCaseError(
                    "ignore",
                    f"'{visible(name):.60}' ({available[name].size_text}) belongs to the layer of"
                    f" '{visible(layer.parts['V'].name):.60}' and is not understood, so that"
                    " nothing is said of it; if it changes nothing, say that it is ignored",
                )


def _modules(layer: LayerTensors) -> tuple[str, ...]:
    """The beginnings of the names of all that belongs to a layer: its module, if that is one of
    attention, and the modules of its matrices.
    """
    names = sorted(_file_names(layer.parts.values()))
    found = set()
    for name in names:
        matrix = re.fullmatch(r"(.*[./])(weight|kernel)(:0)?", name)
        if matrix:
            found.add(matrix[1])
        if name.endswith("in_proj_weight"):  # nn.MultiheadAttention, which may stand alone
            found.add(name.removesuffix("in_proj_weight") + "bias_")
    # The names are sorted: what the first and the last begin with, all of them begin with.
    first, last = names[0], names[-1]
    equal = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    module = re.match(r".*[./]", "".join(letter for letter, _ in equal))
    if module and re.search(NAMES["attention"], module[0]):
        found.add(module[0])
    return tuple(found)


def _changes_nothing(name: str, options: StoredOptions) -> bool:
    """Whether an array beside a layer is a buffer, a position, or what the options leave out."""
    if any(re.search(part, name) for part in NAMES["beside"].values()):
        return True
    kinds = _kinds(name)
    # K and Q of other tokens are a layer of their own.
    if "attention to other tokens" in kinds:
        return True
    if "biases" in kinds and not options.biases:
        return True
    return "norms" in kinds and options.norm == "none"


def _with_one_added(layer: LayerTensors) -> LayerTensors:
    """The layer with the factors 1 + γ in its RMSNorm, if it has one."""
    if layer.norm is None or layer.norm.kind != "rms":
        return layer
    return replace(layer, norm=replace(layer.norm, adds_one=True))

"""The layers of a model in a file of weights: by usual names, given names, or arrays.

Biases and norms stand beside the matrices under usual names. A bias has the name of its matrix,
with ``bias`` in place of ``weight``, ``b_Q`` of ``W_Q`` or ``Q_bias`` of ``Q``; a few models have
names of their own, which the table of layouts says. A = KᵀQ has none of its own. One array with Q,
K and V does not show how it is cut: an array with a usual name is cut as in the models that have
this name, any other as the option ``layout`` says.

``available`` are all arrays of a file by their names. A *layout* is a row of the table of usual
names: by the letters Q, K, V, KV (K and V in one), A, O names such as ``*q_proj.weight``, in which
``*``, the *star*, stands for what the names of the arrays of one layer have in common, as
``layers.0.attn.``. Q, K and V are *stacked* if one array holds all three. What a user says of how
arrays are stored, ``said``, is taken before what the table says.
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
from m2bridge.trained_weights.checkpoints.array_names import NAMES, kinds_of, without_last_word
from m2bridge.trained_weights.checkpoints.arrays import Tensor, file_names, stack_of, tensor
from m2bridge.trained_weights.checkpoints.layouts import (
    KERNEL,
    LAYOUTS,
    LETTERS,
    ORDERS,
    Layout,
    StoredAs,
    arrays_called,
    halved,
    in_out_by_shape,
    oriented,
)
from m2bridge.trained_weights.checkpoints.norms import norm_by_name
from m2bridge.trained_weights.checkpoints.tensors import LayerTensors


def _by_usual_name(available: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return all arrays, each with its name written as usual: with dots for slashes, ``weight`` for
    ``kernel``, and without ``:0`` at the end. The tensors themselves keep their names.

    Arrays of single heads, as ``heads.0.query.weight``, are there, and also put together:
    ``heads.#.query.weight`` has the heads as its first index. Keras counts modules at the end of
    their names, from the second one on, as ``multi_head_attention_1``; these numbers are put in
    front of the names of modules.
    """
    found = {}
    counted_modules = {match[1] for name in available if (match := _COUNTED.search(name))}
    for name, part in available.items():
        # TensorFlow's names end with the number of an output.
        usual = re.sub(r":0$", "", name.replace("/", "."))
        usual = KERNEL.sub("weight", usual)
        if counted_modules:
            usual = _with_number_first(usual, counted_modules)
        # A usual name that an array of the file has, perhaps this one, or that another array got
        # before, is not given a second time.
        is_taken = usual in available or usual in found
        found[name if is_taken else usual] = part
    return found | dict(_joined_heads(found))


_COUNTED = re.compile(r"(multi_head_attention)_(\d+)[./]")
"""The modules that Keras counts: their name without the number, and the number."""


def _with_number_first(name: str, counted: Iterable[str]) -> str:
    """Return the name with the number of its module in front: ``1.multi_head_attention.…`` for
    ``multi_head_attention_1.…``, and ``0.`` for the first module, which has no number. ``counted``
    are the names of modules that have numbers elsewhere in the file.
    """
    if match := _COUNTED.search(name):
        module, number = match.groups()
        before, after = name[: match.start()], name[match.end() :]
        return f"{before}{number}.{module}.{after}"
    for module in counted:
        # The name of the module, at the beginning or behind a separator.
        if match := re.search(rf"(^|[./_]){module}\.", name):
            place = match.end(1)
            return f"{name[:place]}0.{name[place:]}"
    return name


def _joined_heads(available: Mapping[str, Tensor]) -> Iterator[tuple[str, Tensor]]:
    """Yield pairs of a name ``heads.#.…`` and an array with the heads as its first index, put
    together from the arrays ``heads.0.…``, ``heads.1.…``, …, if no number is missing and all have
    the same shape and the same type of entries.
    """
    # The arrays by the numbers of their heads, for each name with # in place of the number.
    parts_by_name: dict[str, dict[int, Tensor]] = {}
    for name, part in available.items():
        match = re.fullmatch(r"(.*\bheads\.)(\d{1,9})(\..*)", name)
        if match:
            before, number, after = match.groups()
            parts_by_name.setdefault(f"{before}#{after}", {})[int(number)] = part
    for name, parts in parts_by_name.items():
        numbers = sorted(parts)
        in_order = [parts[number] for number in numbers]
        forms = {(part.shape, part.kind) for part in in_order}
        if numbers == list(range(len(numbers))) and len(forms) == 1:
            yield name, stack_of(name, in_order)


def usual_layers(
    available: Mapping[str, Tensor], said: StoredAs | None = None
) -> list[LayerTensors]:
    """Return the layers with usual names, in their order; an empty list if there are none.

    An array belongs to one layer, and is one matrix in it unless Q, K and V are stacked. Where
    names fit several layouts, layers with an output matrix are taken before all others, and among
    them the first layout in the table. If no names are usual, and there is only one array, this may
    be Q, K and V in one.
    """
    layers: dict[str, LayerTensors] = {}
    used: set[str] = set()
    named = _by_usual_name(available)
    layouts = [(said or StoredAs()).applied(layout) for layout in LAYOUTS]
    # First the layers with an output matrix, then those without one.
    for with_output in (True, False):
        for layout in layouts:
            # Arrays that belong to no layer yet.
            free = {name: part for name, part in named.items() if used.isdisjoint(part.file_names)}
            for layer in _layers(free, layout):
                has_output = "O" in layer.parts
                # Cross-attention may have the name of its module in that of V, as
                # ``cross_attn.v_proj.weight``.
                is_cross = "attention to other tokens" in kinds_of(layer.parts["V"].name)
                if has_output is not with_output or layer.name in layers or is_cross:
                    continue
                layers[layer.name] = layer
                used |= file_names((*layer.parts.values(), *layer.biases.values()))
    if not layers and len(available) == 1:
        (part,) = available.values()
        return _layer_of_single_array(part, said or StoredAs())
    return in_order(layers.values())


def _layers(available: Mapping[str, Tensor], layout: Layout) -> Iterator[LayerTensors]:
    """Yield the layers whose arrays are called as a layout says.

    For each array that fits the first name of the layout, the text that ``*`` stands for says how
    the other arrays of the layer are called. All of these have to be there, but for O.
    """
    first_name = next(iter(layout.names.values()))
    pattern = re.compile(re.escape(first_name).replace(r"\*", "(.*)", 1))
    for name_in_file in available:
        match = pattern.fullmatch(name_in_file)
        if match is None:
            continue
        # The text of *. In a name without *, as a user may give it, the star is empty.
        star = "".join(match.groups())
        # Models with the same names of matrices are distinguished by the array beside them.
        beside = layout.beside.replace("*", star)
        if not re.search(layout.star, star) or (beside and beside not in available):
            continue
        # Cross-attention, whose keys are of other tokens, is shown by a norm for these tokens in
        # the module ``layers.0.attn.``, or in the one around it, ``layers.0.``.
        modules = (star, without_last_word(star, "."))
        names = NAMES["other_tokens_beside"]
        if any(f"{module}{name}" in available for name in names for module in modules):
            continue
        stored = arrays_called(layout.names, star, available)
        if layout.names.keys() - stored.keys() <= {"O"}:
            yield _layer(star, stored, layout, available)


def _layer(
    star: str, stored: Mapping[str, Tensor], layout: Layout, available: Mapping[str, Tensor]
) -> LayerTensors:
    """Return the layer with the matrices ``stored``, as they are in the file, and the biases and
    the norm beside them that have usual names.
    """
    biases = _biases_beside(stored, star, layout, available)
    parts = oriented(stored, biases, layout)
    # One array with K above V, and its bias, are divided into their halves.
    if "KV" in parts:
        parts = halved(parts, "matrix")
        biases = halved(biases, "bias")
    norm = norm_by_name(layout.names.get("Q", "").replace("*", star), available)
    cut, readings = layout.cut, layout.readings
    has_no_beta = norm is not None and norm.beta is None
    if layout.as_rows and not has_no_beta and _may_be_starcoder(stored["Q"], available):
        cut, readings = "unknown", layout.as_rows
    return LayerTensors(
        name=star,
        parts={letter: parts[letter] for letter in LETTERS if letter in parts},
        biases=biases,
        norm=norm,
        cut=cut,
        is_one_head=layout.one_head,
        readings=readings,
        assumed=layout.assumed,
    )


def _may_be_starcoder(stored: Tensor, available: Mapping[str, Tensor]) -> bool:
    """Return whether one array with Q, K and V, with the name of GPT-2, may be cut in another way.

    GPT-2 itself has the shape (d, 3d). One array (3d, d) may be of nanoGPT, which has all of Q
    first, or of StarCoder, which has the rows head by head. A name of Flax is also in GPT-2; a mask
    of four indices is beside nanoGPT's array, as is a norm without β.
    """
    # Beside ``attn.c_attn.weight`` the mask is called ``attn.bias``.
    module = stored.name.replace("/", ".").removesuffix("c_attn.weight")
    mask = available.get(f"{module}bias")
    has_mask = mask is not None and len(mask.shape) == 4
    is_of_flax = KERNEL.search(stored.name) is not None
    return in_out_by_shape(stored) is False and not is_of_flax and not has_mask


def _biases_beside(
    stored: Mapping[str, Tensor], star: str, layout: Layout, available: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Return the biases beside the matrices of a layer, by the letters of the matrices, in the form
    in which they are cut as their matrices are. Under O there may be one without an output matrix.
    """
    biases = {}
    for letter, name in layout.names.items():
        # Empty if the name of the matrix is of another form. An array of the file may have an empty
        # name, too, which is not a bias.
        usual_name = _bias_name(name.replace("*", star), letter)
        if usual_name and usual_name in available:
            biases[letter] = available[usual_name]
    unusual = arrays_called(layout.biases, star, available)
    if not unusual:
        return biases
    if stored["Q"].name == stored["K"].name:
        # Beside one array with Q, K and V two biases of Q and V, as BEiT has them, are put
        # together, with zeros for K. Others are refused later, as they belong to the layer.
        if unusual.keys() == {"Q", "V"} and unusual["Q"].shape == unusual["V"].shape:
            biases |= dict.fromkeys("QV", _stacked_with_zeros(unusual["Q"], unusual["V"]))
        return biases
    # Beside three matrices one bias for all, as PyTorch has it, is cut into three.
    if unusual.keys() == set("QKV") and len({bias.name for bias in unusual.values()}) == 1:
        return biases | _biases_in_thirds(unusual["Q"])
    return biases | unusual


def _bias_name(name: str, letter: str) -> str:
    """Return the usual name of the bias beside the matrix of this name and letter: ``q.bias`` for
    ``q.weight``, ``b_Q`` for ``W_Q``, ``Q_bias`` for ``Q``; empty for other names, and for A.
    """
    if letter == "A":
        return ""
    # ``weight`` or ``kernel`` as the last word of the name, in TensorFlow with ``:0`` after it.
    if match := re.search(r"(?<![^._/])(weight|kernel)(:0)?$", name):
        return f"{name[: match.start()]}bias{match[2] or ''}"
    if name.endswith(f"W_{letter}"):
        return name.removesuffix(f"W_{letter}") + f"b_{letter}"
    if re.search(rf"(?<![^._]){letter}$", name):
        return f"{name}_bias"
    return ""


def _stacked_with_zeros(query: Tensor, value: Tensor) -> Tensor:
    """Return one array with the bias of Q, then as many zeros for K, then the bias of V."""

    def read() -> Any:
        of_Q, of_V = query.array(), value.array()
        return numpy.concatenate([of_Q, numpy.zeros_like(of_Q), of_V])

    # Three vectors as one; other shapes do not change, and are refused where the bias is read.
    shape = (3 * query.shape[0],) if len(query.shape) == 1 else query.shape
    return Tensor(f"{query.name}, {value.name}", shape, query.kind, read, sources=(query, value))


def _biases_in_thirds(bias: Tensor) -> dict[str, Tensor]:
    """Return by their letters the biases of Q, K and V, the thirds of one vector. For an array
    without thirds the result is empty; it is refused later, as it belongs to the layer.
    """
    if len(bias.shape) != 1 or bias.shape[0] % 3:
        return {}
    length = bias.shape[0] // 3
    found = {}
    for place, letter in enumerate("QKV"):
        own_entries = slice(place * length, (place + 1) * length)
        part = bias.changed(itemgetter(own_entries), (length,))
        found[letter] = replace(part, name=f"{bias.name} ({letter})")
    return found


MAX_GIVEN_NAME_CHARS = 10_000
"""The longest name of an array that is looked for."""


def named_layers(
    available: Mapping[str, Tensor], names: Mapping[str, str | None], said: StoredAs | None = None
) -> list[LayerTensors]:
    """Return the layers whose arrays have given names, in their order: names by the options
    ``query``, ``key`` and ``value``, or ``stacked`` of one array with all three, and perhaps
    ``output``, in which ``*`` stands for what differs from layer to layer.

    InvalidCaseError if a name is missing, is given for K and V alone, fits no array, or fits an
    array that is in no layer.
    """
    given = {option: name for option, name in names.items() if name}
    for option, name in given.items():
        if len(name) > MAX_GIVEN_NAME_CHARS:  # before it becomes a regular expression
            message = f"has {len(name)} characters: names have at most {MAX_GIVEN_NAME_CHARS}"
            raise InvalidCaseError(option, message)
    letters = _names_by_letters(given)
    layers = list(_layers(available, _layout_of_given(letters, available, said or StoredAs())))
    # A layer may lack O only if the name of O is not given.
    are_complete = all(layer.parts.keys() == letters.keys() for layer in layers)
    if not layers or not are_complete:
        for option, name in given.items():
            if not any(map(_expression(name, available).fullmatch, available)):
                message = f"there is no '{name}'; there are {listed(available)}"
                raise InvalidCaseError(option, message)
        first = next(iter(given))
        raise InvalidCaseError(first, "what * stands for is not the same in these names")
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
    return in_order(map(_with_one_head_by_shape, layers))


def _names_by_letters(given: Mapping[str, str]) -> dict[str, str]:
    """Return names that are given by options by the letters Q, K, V and perhaps O of their
    matrices; if one array has Q, K and V, its name is under these three letters.
    """
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
        # One array with K and V may have one above the other, or their rows in turn: no layout
        # says it. The same name for all three is one array with Q, K and V.
        is_one_for_keys_and_values = letters["K"] == letters["V"]
        if is_one_for_keys_and_values and letters["Q"] != letters["K"]:
            raise InvalidCaseError(
                "value", "must not be the array of the keys: save keys and values as two arrays"
            )
    if "output" in given:
        letters["O"] = given["output"]
    return letters


_SHORT_STAR = "[^./]*"
"""What * in a given name usually stands for, such as the number of a layer."""


def _star_of(name: str, available: Collection[str]) -> str:
    """Return a regular expression for the text that * in a given name stands for: a text without
    dots and slashes, if with such a text some available name fits; else any text.
    """
    short = re.compile(re.escape(name).replace(r"\*", _SHORT_STAR))
    return _SHORT_STAR if any(map(short.fullmatch, available)) else ".*"


def _expression(name: str, available: Collection[str]) -> re.Pattern[str]:
    """Return the pattern, for ``fullmatch``, of the arrays for which a given name stands."""
    return re.compile(re.escape(name).replace(r"\*", _star_of(name, available)))


def _layout_of_given(
    letters: Mapping[str, str], available: Collection[str], said: StoredAs
) -> Layout:
    """Return the layout of arrays with given names, by letters; the same name three times is that
    of one array, which is cut as the table says for its name, else in an unknown way.
    """
    # The expression has to fit the whole text that * stands for: so there are ^ and $.
    star = f"^{_star_of(letters['Q'], available)}$"
    given = Layout(names=letters, cut="unknown", star=star)
    known = _known_layout(letters, available) if given.is_stacked else None
    if known is not None:
        given = replace(given, cut=known.cut, readings=known.readings, as_rows=known.as_rows)
    # W_Q, W_K and W_V are names of TransformerLens, whose indices are (heads, d, a).
    if all(letters[letter].endswith(f"W_{letter}") for letter in "QKV"):
        given = replace(given, index_orders=ORDERS["heads-d-a"])
    return said.applied(given)


def _known_layout(letters: Mapping[str, str], available: Collection[str]) -> Layout | None:
    """Return the layout of one array with Q, K and V by its given name; ``None`` if the table has
    none with such names, or several that are cut differently.

    A row of the table fits if it has the name of the array. If the name of O is given, the first
    row counts whose name of O is the same, or that has none. If it is not given, O may have any of
    the names that it has in these rows: for each the first row counts, and all have to be cut
    alike.
    """
    pattern = _expression(letters["Q"], available)
    stacked_names = [name for name in available if pattern.fullmatch(name)]
    # The first fitting row for each name of O in the rows; if the name of O is given, only one row,
    # under the empty text.
    first_fitting: dict[str, Layout] = {}
    for layout in LAYOUTS:
        # An array beside the layer is not looked for here.
        if layout.beside or not layout.is_stacked or not _are_names_of(stacked_names, layout):
            continue
        # Empty if the row has no name of O: every given name ends in the empty text.
        usual_output = layout.names.get("O", "")
        if "O" not in letters:
            first_fitting.setdefault(usual_output, layout)
        elif letters["O"].endswith(usual_output.removeprefix("*")):
            first_fitting.setdefault("", layout)
    cuts = {layout.cut for layout in first_fitting.values()}
    return next(iter(first_fitting.values())) if len(cuts) == 1 else None


def _are_names_of(stacked_names: Iterable[str], layout: Layout) -> bool:
    """Return whether all these names may be those of the one array of a layout."""
    end = layout.names["Q"].removeprefix("*")
    for name in stacked_names:
        with_dots = KERNEL.sub("weight", name.replace("/", "."))
        star = with_dots.removesuffix(end)
        # A name without this end is not changed.
        if star == with_dots or not re.search(layout.star, star):
            return False
    return True


def _layer_of_single_array(part: Tensor, said: StoredAs) -> list[LayerTensors]:
    """Return a list with the layer that has the only array of a file as Q, K and V, if its shape
    shows that it is so: (3, ·, ·), (3d, d) or (d, 3d); else an empty list.
    """
    is_three_matrices = len(part.shape) == 3 and part.shape[0] == 3
    if not is_three_matrices and in_out_by_shape(part) is None:
        return []
    # There is no name to find layers by: the layout is that of given names, here of one name.
    letters = dict.fromkeys("QKV", part.name)
    layers = _layers({part.name: part}, _layout_of_given(letters, [part.name], said))
    return [_with_one_head_by_shape(layer) for layer in layers]


def _with_one_head_by_shape(layer: LayerTensors) -> LayerTensors:
    """Return the layer with ``is_one_head`` by its shapes: Q, a matrix, has one row, or fewer rows
    than columns, as Q of all heads is square in most models; or one array has Q, K and V as its
    first index.
    """
    query = layer.parts["Q"]
    if len(query.shape) != 2:
        # One array (3, ·, ·) has Q, K and V as its first index; of Q alone it is the heads.
        return replace(layer, is_one_head=layer.is_stacked)
    rows, columns = query.shape
    # Q is taken for a third of one array with Q, K and V.
    if layer.is_stacked:
        rows //= 3
    return replace(layer, is_one_head=rows == 1 or rows < columns)


def listed(available: Mapping[str, Tensor]) -> str:
    """Return the first eight arrays with their sizes, and how many more there are, in words."""
    first = ", ".join(f"'{visible(t.name)}' ({t.size_text})" for t in list(available.values())[:8])
    if len(available) > 8:
        return f"{first} and {len(available) - 8} more"
    return first


def in_order(layers: Iterable[LayerTensors]) -> list[LayerTensors]:
    """Return layers in the order of their names, with numbers in them by their values."""
    return sorted(layers, key=_sort_key)


def _sort_key(layer: LayerTensors) -> list[tuple[int, str]]:
    """Return what layers are sorted by: their names, with numbers in them by their values, so that
    ``layers.2.`` comes before ``layers.10.``: [(0, "layers."), (2, "10"), (0, ".")].
    """
    # Texts and numbers alternate, numbers at odd places. Of numbers without zeros in front that
    # with more digits is larger, and of equally many digits that which is later as a text.
    pieces = re.split("0*([0-9]+)", layer.name)
    return [(len(piece) if i % 2 else 0, piece) for i, piece in enumerate(pieces)]


def are_named_alike(layers: Iterable[LayerTensors]) -> bool:
    """Return whether the names of layers differ in numbers only, as those of successive layers."""
    return len({re.sub(r"\d+", "", layer.name) for layer in layers}) == 1


def given_layer(given: Mapping[str, Any]) -> LayerTensors:
    """Return the layer, with an empty name, of matrices that are given by their letters: K, Q and
    V, or A and V, and perhaps O. Shapes are not compared.
    """
    if set(given) - {"O"} not in ({"K", "Q", "V"}, {"A", "V"}):
        raise InvalidCaseError(
            "weights", f"give K, Q and V, or A and V; not {', '.join(given) or 'other weights'}"
        )
    return LayerTensors("", {letter: tensor(letter, array) for letter, array in given.items()})

"""The layers of a model in a file of weights: by usual names, given names, or arrays.

Biases and norms stand beside the matrices under usual names, as ``bias_names`` and ``norm_names``
say. What cannot be read off a file:

* Of which kind some norms are, and where they stand: see ``norm_names``.
* One array with Q, K and V does not show how it is cut: an array with a usual name is cut as in the
  models that have this name, any other as the option ``layout`` says.

``available`` are all arrays of a file by their names. A *layout* is a row of the table of usual
names: by the letters Q, K, V, KV (K and V in one), A, O names such as ``*q_proj.weight``, in which
``*``, the *star*, stands for what the names of the arrays of one layer have in common, as
``layers.0.attn.``. Q, K and V are *stacked* if one array holds all three.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from m2bridge.errors import InvalidCaseError
from m2bridge.results.sheet import visible
from m2bridge.trained_weights.checkpoints.arrays import Tensor, stack_of, tensor, without_last_word
from m2bridge.trained_weights.checkpoints.bias_names import biases_beside
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
from m2bridge.trained_weights.checkpoints.norm_names import norm_by_name
from m2bridge.trained_weights.checkpoints.tensors import NAMES, LayerTensors


def _by_usual_name(available: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return all arrays, each with its name written as usual: with dots for slashes, ``weight`` for
    ``kernel``, and without ``:0`` at the end. The tensors themselves keep their names.

    Arrays of single heads, as ``heads.0.query.weight``, are there, and also put together:
    ``heads.#.query.weight`` has the heads as its first index. Keras counts modules at the end of
    their names, from the second one on, as ``multi_head_attention_1``; these numbers are put in
    front of the names of modules.
    """
    found = {}
    # The names of modules that are counted so, without their numbers.
    counted_modules = set()
    for name in available:
        if match := _COUNTED.search(name):
            counted_modules.add(match[1])
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
    ``multi_head_attention_1.…``; other names are returned as they are.

    ``counted`` are the names of modules that have numbers elsewhere in the file; the first module
    with such a name has no number, and gets 0: ``0.multi_head_attention.…``.
    """
    if match := _COUNTED.search(name):
        module, number = match.groups()
        before, after = name[: match.start()], name[match.end() :]
        return f"{before}{number}.{module}.{after}"
    for module in counted:
        # The name of the module, at the beginning or behind a separator.
        if match := re.search(rf"(^|[./_]){module}\.", name):
            separator = match[1]
            place = match.start() + len(separator)
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


def _layers(available: Mapping[str, Tensor], layout: Layout) -> Iterator[LayerTensors]:
    """Yield the layers whose arrays are called as a layout says.

    The layout has names such as ``*q_proj.weight``. For each array that fits the first of them, the
    text that ``*`` stands for says how the other arrays of the layer are called. All of these have
    to be there, but for O. InvalidCaseError, when a layer is asked for, if its shapes do not show
    how it is stored.
    """
    first_name = next(iter(layout.names.values()))
    pattern = re.compile(re.escape(first_name).replace(r"\*", "(.*)", 1))
    for name_in_file in available:
        match = pattern.fullmatch(name_in_file)
        if match is None:
            continue
        # The text of *. In a name without *, as a user may give it, the star is empty.
        star = "".join(match.groups())
        if _may_be_layer(star, layout, available):
            stored = arrays_called(layout.names, star, available)
            missing = layout.names.keys() - stored.keys()
            if missing <= {"O"}:
                yield _layer(star, stored, layout, available)


def _may_be_layer(star: str, layout: Layout, available: Mapping[str, Tensor]) -> bool:
    """Return whether the arrays whose names have ``star`` for ``*`` may be a layer of a layout: the
    layout allows this text, the array is there that has to stand beside the layer, if there is one,
    and no array beside it shows that it is cross-attention.
    """
    if not re.search(layout.star, star):
        return False
    # Models with the same names of matrices are distinguished by this array; the name is empty if
    # none is needed.
    if layout.beside and layout.beside.replace("*", star) not in available:
        return False
    return not _is_cross_attention(star, available)


def _layer(
    star: str, stored: Mapping[str, Tensor], layout: Layout, available: Mapping[str, Tensor]
) -> LayerTensors:
    """Return the layer whose matrices are called as a layout says, with the biases and the norm
    beside them that have usual names.

    Parameters
    ----------
    star : str
        What ``*`` stands for in the names of the layout.
    stored : dict
        The matrices by their letters, as they are in the file.
    layout : Layout
    available : dict
        All arrays by their names.
    """
    biases = biases_beside(stored, star, layout, available)
    parts = oriented(stored, biases, layout)
    # One array with K above V, and its bias, are divided into their halves.
    if "KV" in parts:
        parts = halved(parts, "matrix")
        biases = halved(biases, "bias")
    name_of_query = layout.names.get("Q", "").replace("*", star)
    layer = LayerTensors(
        name=star,
        parts={letter: parts[letter] for letter in LETTERS if letter in parts},
        biases=biases,
        norm=norm_by_name(name_of_query, available),
        cut=layout.cut,
        is_one_head=layout.one_head,
        readings=layout.readings,
        assumed=layout.assumed,
    )
    # The text says how models with these names cut one array (3d, d), if they differ.
    if layout.as_rows:
        layer = _as_rows_are_cut(layer, layout, stored["Q"], available)
    return layer


def _is_cross_attention(star: str, available: Collection[str]) -> bool:
    """Return whether a layer is shown to be cross-attention, whose keys are of other tokens than
    its queries, by a norm for these tokens, with a name such as ``norm_context.weight``.

    ``star`` is what the names of the layer's arrays begin with, as ``layers.0.attn.``. The norm
    stands in this module, or in the one around it, ``layers.0.``; ``available`` are the names of
    all arrays. Cross-attention with a name of its own is found by
    :func:`_has_keys_of_other_tokens`.
    """
    around = without_last_word(star, ".")
    for name in NAMES["other_tokens_beside"]:
        if f"{star}{name}" in available or f"{around}{name}" in available:
            return True
    return False


def _as_rows_are_cut(
    layer: LayerTensors, layout: Layout, stored: Tensor, available: Mapping[str, Tensor]
) -> LayerTensors:
    """Return a layer with names of GPT-2, its cut set to ``unknown`` if models with these names and
    this shape cut one array with Q, K and V in different ways.

    GPT-2 itself has the shape (d, 3d). One array (3d, d) may be of nanoGPT, which has all of Q
    first, or of StarCoder, which has the rows head by head. The cut of the layout is right, and the
    layer is returned as it is, in these cases: the array has another shape than (3d, d); its name
    is of Flax, which has GPT-2; or a mask of four indices, or a norm without β, is beside it, as in
    nanoGPT.

    Parameters
    ----------
    layer : LayerTensors
    layout : Layout
        Its ``as_rows`` says how models with arrays (3d, d) differ.
    stored : Tensor
        The array with Q, K and V as it is in the file, before it is transposed.
    available : dict
        All arrays by their names.
    """
    # Beside ``attn.c_attn.weight`` the mask is called ``attn.bias``.
    module = stored.name.replace("/", ".").removesuffix("c_attn.weight")
    mask = available.get(f"{module}bias")
    has_mask = mask is not None and len(mask.shape) == 4
    has_no_beta = layer.norm is not None and layer.norm.beta is None
    is_of_flax = KERNEL.search(stored.name) is not None
    # Whether the shape is (3d, d).
    has_rows = in_out_by_shape(stored) is False
    if not has_rows or is_of_flax or has_mask or has_no_beta:
        return layer
    return replace(layer, cut="unknown", readings=layout.as_rows)


MAX_GIVEN_NAME_CHARS = 10_000
"""The longest name of an array that is looked for."""


def named_layers(
    available: Mapping[str, Tensor], names: Mapping[str, str | None], said: StoredAs | None = None
) -> list[LayerTensors]:
    """Return the layers whose arrays have given names, in their order.

    Parameters
    ----------
    available : dict
        All arrays by their names.
    names : dict
        The options ``query``, ``key`` and ``value``, or ``stacked`` of one array with all three,
        and perhaps ``output``, with the names, in which ``*`` stands for what differs from layer to
        layer. ``None`` and empty names are those of options that are not given.
    said : StoredAs or None
        How the arrays are stored, as a user says it; what ``said`` leaves open, or all if it is
        ``None``, is what their names say.

    Raises
    ------
    InvalidCaseError
        If a name is missing, is given for K and V alone, fits no array, or fits an array that is in
        no layer.
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
        raise _no_layer_has(given, available)
    _check_each_is_in_a_layer(available, given, layers)
    return sorted(map(_with_one_head_by_shape, layers), key=_sort_key)


def _names_by_letters(given: Mapping[str, str]) -> dict[str, str]:
    """Return given names of arrays by the letters Q, K, V and perhaps O of their matrices; if one
    array has Q, K and V, its name is under these three letters.

    ``given`` has the names by the options ``query``, ``key``, ``value``, ``stacked``, ``output``.

    Raises
    ------
    InvalidCaseError
        If a name is missing, Q, K and V are given both as one array and one by one, or K and V are
        one array without Q.
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


def _no_layer_has(given: Mapping[str, str], available: Mapping[str, Tensor]) -> InvalidCaseError:
    """Return the error for given names, by their options, that do not name all arrays of a layer:
    it names the first that fits no array; if each fits some, the texts that * stands for differ.
    """
    for option, name in given.items():
        if not any(map(_expression(name, available).fullmatch, available)):
            return InvalidCaseError(option, f"there is no '{name}'; there are {listed(available)}")
    first = next(iter(given))
    return InvalidCaseError(first, "what * stands for is not the same in these names")


_SHORT_STAR = "[^./]*"
"""What * in a given name usually stands for, such as the number of a layer."""


def _star_of(name: str, available: Collection[str]) -> str:
    """Return a regular expression for the text that * in a given name stands for: a text without
    dots and slashes, if with such a text some name in ``available`` fits; else any text.
    """
    short = re.compile(re.escape(name).replace(r"\*", _SHORT_STAR))
    return _SHORT_STAR if any(map(short.fullmatch, available)) else ".*"


def _expression(name: str, available: Collection[str]) -> re.Pattern[str]:
    """Return the pattern, for ``fullmatch``, of the arrays for which a given name stands. A star is
    text without dots and slashes if some name in ``available`` fits so, and else any text.
    """
    return re.compile(re.escape(name).replace(r"\*", _star_of(name, available)))


def _with_one_head_by_shape(layer: LayerTensors) -> LayerTensors:
    """Return the layer with ``is_one_head``: whether it is taken for one head if nobody says a
    number of heads. It is if Q, a matrix, has one row, or fewer rows than columns; or if one array
    has Q, K and V as its first index.
    """
    query = layer.parts["Q"]
    if len(query.shape) != 2:
        # One array (3, ·, ·) has Q, K and V as its first index; of Q alone it is the heads.
        return replace(layer, is_one_head=layer.is_stacked)
    rows, columns = query.shape
    # Q is taken for a third of one array with Q, K and V.
    if layer.is_stacked:
        rows //= 3
    # Q of all heads is square in most models: fewer rows are those of one head.
    return replace(layer, is_one_head=rows == 1 or rows < columns)


def _check_each_is_in_a_layer(
    available: Mapping[str, Tensor], given: Mapping[str, str], layers: Iterable[LayerTensors]
) -> None:
    """Check that each array that fits a given name is in one of the layers; InvalidCaseError if an
    array is in none. ``given`` has the given names by their options.
    """
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
    """Return the layout of arrays with given names: how they are called and stored.

    * Its ``cut`` is how one array with Q, K and V is divided into the three: as the table of
      layouts says for its name, with the words on it in ``readings`` and ``as_rows``; if the table
      does not know the name, ``unknown``.
    * Its ``index_orders`` are those of TransformerLens for names as ``W_Q``, and else ``None``.
    * What a user says of either replaces it.

    Parameters
    ----------
    letters : dict
        The given names by the letters Q, K, V and perhaps O; the same name three times for one
        array.
    available : collection of str
        The names of all arrays.
    said : StoredAs
        How arrays are stored, as a user says it.
    """
    # The expression has to fit the whole text that * stands for: so there are ^ and $.
    star = f"^{_star_of(letters['Q'], available)}$"
    given = Layout(names=letters, cut="unknown", star=star)
    # One array has Q, K and V if one name is given for them: only such an array has a cut.
    is_stacked = letters["Q"] == letters.get("K")
    known = _known_layout(letters, available) if is_stacked else None
    if known is not None:
        given = replace(given, cut=known.cut, readings=known.readings, as_rows=known.as_rows)
    # W_Q, W_K and W_V are names of TransformerLens, whose indices are (heads, d, a).
    if all(letters[letter].endswith(f"W_{letter}") for letter in "QKV"):
        given = replace(given, index_orders=ORDERS["heads-d-a"])
    return said.applied(given)


def _known_layout(letters: Mapping[str, str], available: Collection[str]) -> Layout | None:
    """Return the layout of one array with Q, K and V by its given name; ``None`` if the table has
    none with such names, or several that are cut differently.

    A row of the table fits if it has the name of the array. Of those the first one counts, as for
    usual names, but for O:

    * If the name of O is given, a row fits only if its name of O is the same, or it has none.
    * If it is not given, O may have any of the names that it has in these rows. For each of these
      names the first row counts, and all of them have to be cut alike.

    Parameters
    ----------
    letters : dict
        The given names by the letters Q, K, V and perhaps O.
    available : collection of str
        The names of all arrays.
    """
    pattern = _expression(letters["Q"], available)
    stacked_names = [name for name in available if pattern.fullmatch(name)]
    # The first fitting row for each name of O in the rows; if the name of O is given, only one row,
    # under the empty text.
    first_fitting: dict[str, Layout] = {}
    for layout in LAYOUTS:
        if not _are_names_of(stacked_names, layout):
            continue
        # Empty if the row has no name of O: every given name ends in the empty text.
        usual_output = layout.names.get("O", "")
        if "O" not in letters:
            first_fitting.setdefault(usual_output, layout)
        elif letters["O"].endswith(usual_output.removeprefix("*")):
            first_fitting.setdefault("", layout)
    cuts = {layout.cut for layout in first_fitting.values()}
    if len(cuts) != 1:
        return None
    return next(iter(first_fitting.values()))


def _are_names_of(stacked_names: Iterable[str], layout: Layout) -> bool:
    """Return whether all these names are those of one array with Q, K and V in a layout.

    A layout has a name for each letter, with ``*`` in front for what the arrays of a layer have in
    common, such as ``*attn.qkv.weight``, which is the same for Q, K and V if they are one array. A
    layout that needs another array beside it is not taken, as that array is not looked for here.
    """
    usual = layout.names
    is_stacked = "Q" in usual and usual["Q"] == usual.get("K")
    if not is_stacked or layout.beside:
        return False
    end = usual["Q"].removeprefix("*")
    for name in stacked_names:
        with_dots = KERNEL.sub("weight", name.replace("/", "."))
        star = with_dots.removesuffix(end)
        # A name without this end is not changed. The layout may say what * has to be; its
        # expression is empty, and fits all, if it does not.
        if star == with_dots or not re.search(layout.star, star):
            return False
    return True


def listed(available: Mapping[str, Tensor]) -> str:
    """Return the first eight arrays with their sizes, and how many more there are, in words."""
    first = ", ".join(f"'{visible(t.name)}' ({t.size_text})" for t in list(available.values())[:8])
    if len(available) > 8:
        return f"{first} and {len(available) - 8} more"
    return first


def usual_layers(
    available: Mapping[str, Tensor], said: StoredAs | None = None
) -> list[LayerTensors]:
    """Return the layers with usual names, in their order; an empty list if there are no such names.

    ``said`` is how arrays are stored, as a user says it, which is taken before what the table says;
    ``None`` if nothing is said. An array belongs to one layer, and is one matrix in it unless Q, K
    and V are stacked. Where names fit several layouts, layers with an output matrix are taken
    before all others, and among them the first layout in the table. If no names are usual, and
    there is only one array, this may be Q, K and V in one.
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
                is_found = layer.name in layers
                if has_output is not with_output or is_found or _has_keys_of_other_tokens(layer):
                    continue
                layers[layer.name] = layer
                used |= file_names((*layer.parts.values(), *layer.biases.values()))
    if not layers and len(available) == 1:
        (part,) = available.values()
        return _layer_of_single_array(part, said or StoredAs())
    return sorted(layers.values(), key=_sort_key)


def _has_keys_of_other_tokens(layer: LayerTensors) -> bool:
    """Return whether a layer is cross-attention by the name of its V, which has the name of its
    module in it, as ``cross_attn.v_proj.weight``.
    """
    return "attention to other tokens" in kinds_of(layer.parts["V"].name)


def file_names(parts: Iterable[Tensor]) -> frozenset[str]:
    """Return the names of all arrays of a file that are among these tensors, or from which one of
    them is made.
    """
    return frozenset().union(*(part.file_names for part in parts))


def _layer_of_single_array(part: Tensor, said: StoredAs) -> list[LayerTensors]:
    """Return a list with the layer that has ``part``, the only array of a file, as Q, K and V, if
    its shape shows that it is so: (3, ·, ·), (3d, d) or (d, 3d); else an empty list.

    ``said`` is how the array is stored, as a user says it.
    """
    # Q, K and V are the first index; or each is a third of the rows, or of the columns.
    is_three_matrices = len(part.shape) == 3 and part.shape[0] == 3
    is_in_thirds = in_out_by_shape(part) is not None
    if not is_three_matrices and not is_in_thirds:
        return []
    # There is no name to find layers by: the layout is that of given names, here of one name.
    letters = dict.fromkeys("QKV", part.name)
    layers = _layers({part.name: part}, _layout_of_given(letters, [part.name], said))
    return [_with_one_head_by_shape(layer) for layer in layers]


def _sort_key(layer: LayerTensors) -> list[tuple[int, str]]:
    """Return what layers are sorted by: their names, with numbers in them by their values, so that
    ``layers.2.`` comes before ``layers.10.``.

    It is a list of pairs: (0, text) for a text, and for a number how many digits it has and these
    digits. So ``layers.12.`` has [(0, "layers."), (2, "12"), (0, ".")].
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
    V, or A and V, and perhaps O. InvalidCaseError if the letters are others, or a matrix is not an
    array or lists of numbers. Shapes are not compared.
    """
    if set(given) - {"O"} not in ({"K", "Q", "V"}, {"A", "V"}):
        raise InvalidCaseError(
            "weights", f"give K, Q and V, or A and V; not {', '.join(given) or 'other weights'}"
        )
    return LayerTensors("", {letter: tensor(letter, array) for letter, array in given.items()})


def kinds_of(name: str) -> list[str]:
    """Return the kinds of arrays, such as ``norms`` or ``MLPs``, that the name of an array shows,
    in the order of the table; empty if it shows none. These kinds are what a model has in addition
    to the matrices of attention to the same tokens.
    """
    return [kind for kind, part in NAMES["others"].items() if re.search(part, name, re.IGNORECASE)]

"""What has to be known of layers that were found in a file; what is not is refused.

Each check raises InvalidCaseError, for the first layer that fails it, with what was seen and the
option that settles it; else it returns ``None``.

A layer, ``LayerTensors``, has its matrices as ``parts`` by the letters Q, K, V, O, or A, V, O; they
have the shape (out, in), or three indices with the heads first. It ``is_stacked`` if one array has
Q, K and V; ``is_one_head`` if its names or shapes are those of one head, when nothing else is said;
``own_heads`` is the number of heads that an array beside it shows, or ``None``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from m2bridge.errors import InvalidCaseError
from m2bridge.results.sheet import visible
from m2bridge.trained_weights.checkpoints.architecture import (
    Architecture,
    number_in,
    read_architecture,
    text_model,
)
from m2bridge.trained_weights.checkpoints.arrays import Tensor
from m2bridge.trained_weights.checkpoints.layouts import StoredAs, in_out_by_output, in_out_by_shape
from m2bridge.trained_weights.checkpoints.tensors import NAMES, LayerTensors


def check_entries(layers: Iterable[LayerTensors]) -> None:
    """Check that the matrices of layers are not single numbers, and have entries.

    Raises
    ------
    InvalidCaseError
        If one is a number, or has an index without values, as an array of the shape (0, 4).
    """
    for layer in layers:
        for part in layer.parts.values():
            named = f"'{visible(part.name):.120}' is {part.size_text}"
            if not part.shape:
                raise InvalidCaseError("weights", f"{named}: give matrices")
            if 0 in part.shape:
                raise InvalidCaseError("weights", f"{named}: a matrix has no entries")


def check_heads_are_known(layers: Iterable[LayerTensors], *, is_configured: bool) -> None:
    """Check that the layers show by their shapes, or by an array beside them, how many heads they
    have. This is called only where no option and no config.json says the number.

    ``is_configured`` is whether there is a config.json: then the message says that it lacks the
    number.

    Raises
    ------
    InvalidCaseError
        If a layer does not show it.
    """
    for layer in layers:
        query = layer.parts.get("Q")
        # A is of one head, and has no Q.
        if query is None or _shows_its_heads(layer, query):
            continue
        if is_configured:
            raise InvalidCaseError(
                "heads", "config.json does not say how many heads a layer has: give their number"
            )
        named = f"'{visible(query.name):.120}' is {query.size_text}"
        key = layer.parts["K"]
        # K has fewer rows than Q where several heads have the same keys.
        is_shared = not layer.is_stacked and key.shape[0] < query.shape[0]
        if is_shared:
            named += f", '{visible(key.name):.120}' is {key.size_text}, as heads share their keys"
        raise InvalidCaseError(
            "heads",
            f"{named}, and nothing says how many heads a layer has: give their number, or the file"
            " in a folder with its config.json",
        )


def _shows_its_heads(layer: LayerTensors, query: Tensor) -> bool:
    """Return whether a layer shows the number of its heads: an array beside it does, it is taken
    for one head, or its Q, ``query``, is an array of its own with the heads as its first index.
    """
    if layer.is_one_head or layer.own_heads is not None:
        return True
    return not layer.is_stacked and len(query.shape) != 2


def check_outputs(layers: Iterable[LayerTensors], architecture: Architecture | None) -> None:
    """Check that layers of a known model have their output matrices.

    Raises
    ------
    InvalidCaseError
        If a layer of several heads has none: its values V would be taken for its outputs OV.
    """
    # Without a known model, nobody says that there is an output matrix.
    if architecture is None:
        return
    for layer in layers:
        # A layer of one head, with names as Q, K and V, was taken out of the model: whoever did so
        # may have left O out, which is about all heads.
        if "O" not in layer.parts and not layer.is_one_head:
            raise InvalidCaseError(
                "output",
                f"the layer of '{visible(layer.parts['V'].name):.120}' has no output matrix in this"
                f" file, which {architecture.name} has: give its name, or, for the layer without"
                " it, the names of query, key and value",
            )


def check_output_biases(layers: Iterable[LayerTensors]) -> None:
    """Check that no layer has a bias of its outputs without an output matrix, to whose outputs the
    bias is added.

    Raises
    ------
    InvalidCaseError
        If one has: the outputs OV + b are not known without O.
    """
    for layer in layers:
        bias = layer.biases.get("O")
        if bias is not None and "O" not in layer.parts:
            raise InvalidCaseError(
                "output",
                f"'{visible(bias.name):.120}' is the bias of an output matrix that is not in this"
                " file: give the name of this matrix, or let biases be ignored",
            )


_NUMBERED = re.compile(r"(?P<list>.*\blayers\.)(?P<number>\d{1,9})(\.1\.)")
"""The names of modules in x-transformers, as ``layers.0.1.``: one list has modules of all kinds."""


def check_same_tokens(layers: Iterable[LayerTensors]) -> None:
    """Check that no layer of x-transformers follows another one, with no MLP between them.

    There all modules are numbered in one list: if ``layers.0.1.`` is a layer, ``layers.1.1.`` may
    be an MLP or a layer. In decoders with cross-attention the second of two layers with numbers
    n − 1 and n has the keys of other tokens, under the same names.

    Raises
    ------
    InvalidCaseError
        If a layer follows another one.
    """
    # The numbers of the layers so far, by the names of the lists in which they are.
    numbers_in_list: dict[str, set[int]] = {}
    for layer in layers:
        match = _NUMBERED.fullmatch(layer.name)
        query = layer.parts.get("Q")
        # A text ``assumed`` says that keys are taken to be of the same tokens as queries, which
        # names of this kind do not show.
        if layer.assumed == "" or match is None or query is None:
            continue
        name_of_list, number = match["list"], int(match["number"])
        numbers = numbers_in_list.setdefault(name_of_list, set())
        if number - 1 in numbers:
            raise InvalidCaseError(
                "ignore",
                f"'{visible(query.name):.120}' may be of attention to other tokens, whose names are"
                " the same: its layer follows another one, as in decoders of x-transformers with"
                " cross-attention; say that such layers are ignored, or, if there are none, give"
                " the names of query, key, value and output",
            )
        numbers.add(number)


_FEW_BITS = ("I8", "U8", "int8", "uint8")
"""The names of types of integers of 8 bits in safetensors and PyTorch."""


def check_no_bare_integers(layers: Iterable[LayerTensors]) -> None:
    """Check that no matrix under a name of libraries holds integers of 8 bits that were not
    multiplied by scales.

    Raises
    ------
    InvalidCaseError
        If one does: the weights are products with scales that are not in the file.
    """
    for layer in layers:
        # Matrices that are called K, Q and V may be integers; those of libraries are quantized.
        for part in layer.parts.values():
            if part.kind in _FEW_BITS and not layer.is_one_head:
                raise InvalidCaseError(
                    "weights",
                    f"'{visible(part.name):.120}' holds integers of 8 bits, and no scales are"
                    " beside it: dequantize the model and save it in float16",
                )


def check_norms(layers: Iterable[LayerTensors]) -> None:
    """Check that the names of norms say of which kind they are, and on which side of their layers.

    Raises
    ------
    InvalidCaseError
        If models with norms of one name differ in the kind or the side.
    """
    for layer in layers:
        # The text ``asks`` is empty where names say it.
        if layer.norm is not None and layer.norm.asks:
            raise InvalidCaseError(
                "norm", f"'{visible(layer.norm.gamma.name):.120}' {layer.norm.asks}"
            )


def check_factors(layers: Iterable[LayerTensors], available: Iterable[str]) -> None:
    """Check that the names of arrays show whether the norms of a whole model multiply by γ, as in
    LLaMA, or by 1 + γ, as in Gemma, which has the same names of norms.

    ``available`` are the names of all arrays, some of which show it.

    Raises
    ------
    InvalidCaseError
        If they do not show it: the names are those of a whole model, both in LLaMA and in Gemma.
    """
    names = list(available)
    gammas = NAMES["gammas"]
    # Names that only models of one of the two kinds have.
    if any(re.search(gammas["known"], name) for name in names):
        return
    # Names that both LLaMA and Gemma have: without them it is neither, or a part of a model.
    if not any(re.search(gammas["model"], name) for name in names):
        return
    for layer in layers:
        norm = layer.norm
        if norm is not None and norm.kind == "rms" and re.search(gammas["norm"], norm.gamma.name):
            raise InvalidCaseError(
                "norm",
                f"'{visible(norm.gamma.name):.120}' has the name of an RMSNorm in LLaMA, which"
                " multiplies by γ, and of one in Gemma, which multiplies by 1 + γ: say rms or rms1",
            )


def check_sizes(configuration: Mapping[str, Any], layers: Iterable[LayerTensors]) -> None:
    """Check that Q has as many rows as the configuration says: the number of heads times the number
    of rows of each. Layers in which Q is not a matrix of its own are passed over.

    Raises
    ------
    InvalidCaseError
        If Q has another number of rows, as where matrices are divided among several files.
    """
    architecture = read_architecture(configuration)
    # Where sizes are not said, there is nothing to compare.
    if architecture is None or architecture.heads is None or architecture.head_size is None:
        return
    rows = architecture.heads * architecture.head_size
    for layer in layers:
        query = layer.parts.get("Q")
        if query is None or layer.is_stacked or len(query.shape) != 2 or query.shape[0] == rows:
            continue
        raise InvalidCaseError(
            "heads",
            f"'{visible(query.name):.120}' is {query.size_text}, and the configuration says"
            f" {architecture.heads} heads with {architecture.head_size} rows each: if it is a part"
            " of a matrix, put the parts together; else give the number of heads",
        )


def check_shared_keys(configuration: Mapping[str, Any], layers: Iterable[LayerTensors]) -> None:
    """Check that K has the rows of as many heads of keys as the configuration says, for layers
    whose Q and K are matrices of their own.

    Raises
    ------
    InvalidCaseError
        If K has another number of rows.
    """
    architecture = read_architecture(configuration)
    # Where the configuration does not say the number of heads of keys, the shapes of K and V do.
    if architecture is None or number_in(text_model(configuration), "groups") is None:
        return
    heads, groups = architecture.heads, architecture.key_value_heads
    if heads is None or groups is None:
        return
    for layer in layers:
        query, key = layer.parts.get("Q"), layer.parts.get("K")
        if layer.is_stacked or query is None or key is None:
            continue
        if len(query.shape) != 2 or len(key.shape) != 2:
            continue
        # With as many rows for each head, rows of Q : rows of K = heads : groups. Whether the
        # heads divide the rows is seen where the arrays are cut.
        if query.shape[0] * groups != key.shape[0] * heads:
            raise InvalidCaseError(
                "heads",
                f"'{visible(query.name):.60}' is {query.size_text} and '{visible(key.name):.60}' is"
                f" {key.size_text}, and the configuration says {heads} heads and"
                f" {groups} of keys and values: give the number of heads",
            )


_SIDES_SAID = re.compile(
    r"""
    (^|[^A-Za-z])(weight|kernel|[A-Za-z]*_weight)(:0)?$   # of PyTorch, Flax, Keras, TensorFlow
    |(^|[^A-Za-z])(W_?)?[QKVOA]\d*(?![A-Za-z])            # letters: Q, W_Q, Q3
    """,
    re.VERBOSE,
)
"""Names of matrices that tell whether their shape is (out, in) or (in, out)."""


def _is_symmetric(part: Tensor) -> bool:
    """Return whether an array, which is read if it is a square matrix, is its own transpose, so
    that (out, in) and (in, out) are the same.
    """
    if len(part.shape) != 2 or part.shape[0] != part.shape[1]:
        return False
    array = part.array()
    return bool((array == array.T).all())


def check_sides(layers: Iterable[LayerTensors], said: StoredAs) -> None:
    """Check that names or shapes of matrices with given names say whether these have the shape
    (out, in) or (in, out). Each layer has Q, K and V.

    ``said`` is what a user says of how arrays are stored.

    Raises
    ------
    InvalidCaseError
        If neither the user nor names nor shapes say it.
    """
    # What a user says is not compared with names and shapes.
    if said.is_in_out is not None:
        return
    for layer in layers:
        query = layer.parts["Q"]
        parts = [layer.parts[letter] for letter in "QKV"]
        # Names as ``weight``, ``kernel`` and ``W_Q`` are each used with one of the two shapes, and
        # of three indices the order is asked for elsewhere.
        if len(query.shape) != 2 or all(_SIDES_SAID.search(part.name) for part in parts):
            continue
        if layer.is_stacked:
            are_shown = not _may_be_transposed(query, layer.parts.get("O"))
        else:
            # A symmetric matrix is the same in both shapes.
            are_shown = _shapes_show_sides(parts) or all(map(_is_symmetric, parts))
        if are_shown:
            continue
        raise InvalidCaseError(
            "layout",
            f"'{visible(query.name):.60}' is {query.size_text}: neither its name nor its shape says"
            " whether it is (out, in), as in PyTorch, or (in, out), as in Flax, Keras and"
            " TensorFlow; give the layout, rows or columns",
        )


def _shapes_show_sides(parts: Sequence[Tensor]) -> bool:
    """Return whether the shapes of Q, K and V, in this order, show that they are (out, in).

    They do if Q has fewer rows than columns, as one head has; or if all have equally many columns,
    one for each entry of a token, but not all equally many rows. Q is a matrix; if K or V is not,
    it is passed over.
    """
    rows_of_Q, columns_of_Q = parts[0].shape
    matrices = [part for part in parts if len(part.shape) == 2]
    rows = {part.shape[0] for part in matrices}
    columns = {part.shape[1] for part in matrices}
    return rows_of_Q < columns_of_Q or (len(columns) == 1 and len(rows) > 1)


def _may_be_transposed(stacked: Tensor, output: Tensor | None) -> bool:
    """Return whether one matrix with Q, K and V that is taken for (out, in) may be (in, out).

    It may not if its own shape, as (3d, d), or a square O, ``output``, shows which one it is. Else
    it may if its columns can be divided among Q, K and V, and Q has then fewer rows than columns,
    as one head has. ``output`` is ``None`` if there is no O.
    """
    shown = (in_out_by_shape(stacked), in_out_by_output(stacked, output))
    if any(is_in_out is not None for is_in_out in shown):
        return False
    # As (in, out), the matrix has tokens of so many entries as it has rows, and its columns are the
    # rows of Q, K and V.
    rows, columns = stacked.shape
    if output is not None and len(output.shape) == 2:
        # Transposed, O has as many columns as it has rows now, one for each row of Q.
        rows_of_Q = output.shape[0]
    elif columns % 3 == 0:
        rows_of_Q = columns // 3
    else:
        return False
    rows_of_K_and_V = columns - rows_of_Q
    is_split = rows_of_Q > 0 and rows_of_K_and_V > 0 and rows_of_K_and_V % 2 == 0
    return is_split and rows_of_Q < rows

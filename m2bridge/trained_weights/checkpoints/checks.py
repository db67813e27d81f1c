"""What has to be known of layers that were found in a file; what is not is refused.

Each check raises InvalidCaseError, for the first layer that fails it, with what was seen and the
option that settles it. A layer, ``LayerTensors``, has its matrices as ``parts`` by the letters Q,
K, V, O, or A, V, O, of the shape (out, in), or with the heads as the first of three indices.
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
from m2bridge.trained_weights.checkpoints.array_names import NAMES
from m2bridge.trained_weights.checkpoints.arrays import Tensor
from m2bridge.trained_weights.checkpoints.layouts import StoredAs, in_out_by_output, in_out_by_shape
from m2bridge.trained_weights.checkpoints.tensors import LayerTensors

Layers = Iterable[LayerTensors]


def check_entries(layers: Layers) -> None:
    """Check that the parts of layers are not single numbers, and have entries."""
    for part in (part for layer in layers for part in layer.parts.values()):
        if not part.shape:
            raise InvalidCaseError("weights", f"{part.quoted} is {part.size_text}: give matrices")
        if 0 in part.shape:
            raise InvalidCaseError(
                "weights", f"{part.quoted} is {part.size_text}: a matrix has no entries"
            )


def check_heads_are_known(layers: Layers, *, is_configured: bool) -> None:
    """Check that layers show by their shapes, or by an array beside them, how many heads they have,
    where no option and no config.json says it; ``is_configured``: there is a config.json.
    """
    for layer in layers:
        query = layer.parts.get("Q")  # A is of one head, and has no Q
        has_index_of_heads = query is not None and not layer.is_stacked and len(query.shape) != 2
        if query is None or layer.is_one_head or layer.own_heads is not None or has_index_of_heads:
            continue
        if is_configured:
            raise InvalidCaseError(
                "heads", "config.json does not say how many heads a layer has: give their number"
            )
        seen, key = f"{query.quoted} is {query.size_text}", layer.parts["K"]
        if not layer.is_stacked and key.shape[0] < query.shape[0]:
            seen += f", {key.quoted} is {key.size_text}, as heads share their keys"
        raise InvalidCaseError(
            "heads",
            f"{seen}, and nothing says how many heads a layer has: give their number, or the file"
            " in a folder with its config.json",
        )


def check_outputs(layers: Layers, architecture: Architecture | None) -> None:
    """Check that layers of several heads of a known model have output matrices, as their values V
    would be taken for outputs; a layer of one head was taken out of its model, perhaps without O.
    """
    for layer in layers:
        if architecture and "O" not in layer.parts and not layer.is_one_head:
            raise InvalidCaseError(
                "output",
                f"the layer of {layer.parts['V'].quoted} has no output matrix in this file, which"
                f" {architecture.name} has: give its name, or, for the layer without it, the names"
                " of query, key and value",
            )


def check_output_biases(layers: Layers) -> None:
    """Check that no layer has a bias of its outputs without an output matrix, as OV + b is not
    known then.
    """
    for layer in layers:
        bias = layer.biases.get("O")
        if bias is not None and "O" not in layer.parts:
            raise InvalidCaseError(
                "output",
                f"{bias.quoted} is the bias of an output matrix that is not in this file: give the"
                " name of this matrix, or say biases='ignore'",
            )


_NUMBERED = re.compile(r"(?P<list>.*\blayers\.)(?P<number>\d{1,9})(\.1\.)")
"""The names of modules in x-transformers, as ``layers.0.1.``: one list has modules of all kinds."""


def check_same_tokens(layers: Layers) -> None:
    """Check that no layer of x-transformers follows another one, with no MLP between them: in
    decoders the second one has the keys of other tokens, under the same names.
    """
    seen: set[tuple[str, int]] = set()  # the list and the number of each layer so far
    for layer in layers:
        match, query = _NUMBERED.fullmatch(layer.name), layer.parts.get("Q")
        # ``assumed`` says that keys are taken to be of the same tokens as queries.
        if not layer.assumed or match is None or query is None:
            continue
        name, number = match["list"], int(match["number"])
        if (name, number - 1) in seen:
            raise InvalidCaseError(
                "ignore",
                f"{query.quoted} may be of attention to other tokens, whose names are the same: its"
                " layer follows another one, as in decoders of x-transformers with"
                " cross-attention; say that such layers are ignored, or, if there are none, give"
                " the names of query, key, value and output",
            )
        seen.add((name, number))


def check_no_bare_integers(layers: Layers) -> None:
    """Check that no matrix under a name of libraries holds integers of 8 bits, whose scales are not
    in the file; matrices that are called K, Q and V may be integers.
    """
    for layer in layers:
        for part in layer.parts.values():
            if part.kind in ("I8", "U8", "int8", "uint8") and not layer.is_one_head:
                raise InvalidCaseError(
                    "weights",
                    f"{part.quoted} holds integers of 8 bits, and no scales are beside it:"
                    " dequantize the model and save it in float16",
                )


def check_norms(layers: Layers) -> None:
    """Check that names say of which kind norms are, and on which side of their layers."""
    for layer in layers:
        if layer.norm is not None and layer.norm.asks:
            raise InvalidCaseError("norm", f"{layer.norm.gamma.quoted} {layer.norm.asks}")


def check_factors(layers: Layers, available: Iterable[str]) -> None:
    """Check that the names of all arrays of a whole model show whether its norms multiply by γ, as
    in LLaMA and StableLM, or by 1 + γ, as in Gemma and Nemotron, under the same names of norms.
    """
    names = list(available)

    def has(expression: str) -> bool:
        return any(re.search(expression, name) for name in names)

    for row in NAMES["gammas"]:
        # ``known`` are names in models of one of the two kinds; without ``model`` it is neither.
        if has(row["known"]) or not has(row["model"]):
            continue
        for layer in layers:
            norm = layer.norm
            # A norm of a kind such as ``rms1`` is known to multiply by 1 + γ.
            if norm is None or norm.kind != row["kind"]:
                continue
            if re.search(row["norm"], norm.gamma.name):
                raise InvalidCaseError("norm", f"{norm.gamma.quoted} {row['asks']}")


def check_unknown_model(layers: Layers, model: str) -> None:
    """Check that nothing is taken for granted of the γ of a model that config.json names, and that
    is not known: under the names of LLaMA's norms other libraries store γ − 1.
    """
    for layer in layers:
        norm = layer.norm
        if model and norm is not None and norm.place == "pre" and "multiplies by" in norm.assumed:
            kind = norm.kind.removesuffix("1")
            raise InvalidCaseError(
                "norm",
                f"{norm.gamma.quoted} is γ in most models, and γ − 1 in some (Gemma, Nemotron,"
                f" Qwen3-Next); config.json says '{visible(model):.60}', of which this is not"
                f" known: say {kind}, or {kind}1 where the norm multiplies by 1 + γ",
            )


def check_queries(layers: Layers) -> None:
    """Check that Q has no gates among its rows, as in Qwen3-Next: where K has as many rows as V, so
    has Q as O has columns, and twice as many are queries and the gates of the outputs.
    """
    for layer in layers:
        if layer.is_stacked or not {"Q", "K", "V", "O"} <= layer.parts.keys():
            continue
        query, key, value, output = (layer.parts[letter] for letter in "QKVO")
        if any(len(part.shape) != 2 for part in (query, key, value, output)):
            continue
        if key.shape[0] == value.shape[0] and query.shape[0] == 2 * output.shape[1]:
            raise InvalidCaseError(
                "query",
                f"{query.quoted} is {query.size_text}, twice the {output.shape[1]} columns of"
                f" {output.quoted}: half of its rows are gates, by which outputs are multiplied (as"
                " in Qwen3-Next), which are not in the model here",
            )


def check_sizes(configuration: Mapping[str, Any], layers: Layers) -> None:
    """Check that Q, where it is a matrix of its own, has as many rows as the configuration says:
    it has not where matrices are divided among several files.
    """
    model = read_architecture(configuration)
    if model is None or model.heads is None or model.head_size is None:
        return
    for query in (layer.parts["Q"] for layer in layers if _has_own_query(layer)):
        if query.shape[0] != model.heads * model.head_size:
            raise InvalidCaseError(
                "heads",
                f"{query.quoted} is {query.size_text}, and the configuration says {model.heads}"
                f" heads with {model.head_size} rows each: if it is a part of a matrix, put the"
                " parts together; else give the number of heads",
            )


def check_shared_keys(configuration: Mapping[str, Any], layers: Layers) -> None:
    """Check that K has the rows of as many heads of keys as the configuration says, for layers
    whose Q and K are matrices of their own.
    """
    model = read_architecture(configuration)
    # Where the configuration does not say the number of heads of keys, the shapes of K and V do.
    if model is None or number_in(text_model(configuration), "groups") is None:
        return
    if model.heads is None or model.key_value_heads is None:
        return
    for layer in filter(_has_own_query, layers):
        query, key = layer.parts["Q"], layer.parts.get("K")
        if key is None or len(key.shape) != 2:
            continue
        # Whether the heads divide the rows is seen where the arrays are cut.
        if query.shape[0] * model.key_value_heads != key.shape[0] * model.heads:
            raise InvalidCaseError(
                "heads",
                f"{query.quoted} is {query.size_text} and {key.quoted} is {key.size_text}, and the"
                f" configuration says {model.heads} heads and {model.key_value_heads} of keys and"
                " values: give the number of heads",
            )


def _has_own_query(layer: LayerTensors) -> bool:
    """Whether Q is a matrix of its own, not stacked and without an index of heads."""
    query = layer.parts.get("Q")
    return query is not None and not layer.is_stacked and len(query.shape) == 2


_SIDES_SAID = re.compile(
    r"""
    (^|[^A-Za-z])(weight|kernel|[A-Za-z]*_weight)(:0)?$   # of PyTorch, Flax, Keras, TensorFlow
    |(^|[^A-Za-z])(W_?)?[QKVOA]\d*(?![A-Za-z])            # letters: Q, W_Q, Q3
    """,
    re.VERBOSE,
)
"""Names of matrices that tell whether their shape is (out, in) or (in, out)."""


def check_sides(layers: Layers, said: StoredAs) -> None:
    """Check that a user, or names or shapes of matrices with given names, say whether these have
    the shape (out, in) or (in, out). Each layer has Q, K and V.
    """
    for layer in layers if said.is_in_out is None else ():
        parts = [layer.parts[letter] for letter in "QKV"]
        query = parts[0]
        # Of three indices the order is asked for elsewhere.
        if len(query.shape) != 2 or all(_SIDES_SAID.search(part.name) for part in parts):
            continue
        if layer.is_stacked:
            are_shown = not _may_be_transposed(query, layer.parts.get("O"))
        else:
            are_shown = _shapes_show_sides(parts) or all(map(_is_symmetric, parts))
        if not are_shown:
            raise InvalidCaseError(
                "layout",
                f"{query.quoted} is {query.size_text}: neither its name nor its shape says whether"
                " it is (out, in), as in PyTorch, or (in, out), as in Flax, Keras and TensorFlow;"
                " give the layout, rows or columns",
            )


def _is_symmetric(part: Tensor) -> bool:
    """Whether an array, read if it is a square matrix, is its own transpose: then sides are one."""
    if len(part.shape) != 2 or part.shape[0] != part.shape[1]:
        return False
    array = part.array()
    return bool((array == array.T).all())


def _shapes_show_sides(parts: Sequence[Tensor]) -> bool:
    """Whether the shapes of Q, K and V, Q a matrix, show that they are (out, in): Q has fewer rows
    than columns, as one head has; or all have equally many columns, but not all equally many rows.
    """
    rows, columns = zip(*(part.shape for part in parts if len(part.shape) == 2), strict=True)
    return rows[0] < columns[0] or (len(set(columns)) == 1 and len(set(rows)) > 1)


def _may_be_transposed(stacked: Tensor, output: Tensor | None) -> bool:
    """Whether one matrix with Q, K and V that is taken for (out, in) may be (in, out): its own
    shape, as (3d, d), or a square O does not show it, its columns can be divided among Q, K and V,
    and Q has then fewer rows than columns, as one head has.
    """
    if in_out_by_shape(stacked) is not None or in_out_by_output(stacked, output) is not None:
        return False
    # As (in, out), tokens have as many entries as the matrix rows, and its columns are the rows of
    # Q, K and V; transposed, O has as many columns as it has rows now, one for each row of Q.
    width, outputs = stacked.shape
    if output is not None and len(output.shape) == 2:
        rows_of_Q = output.shape[0]
    elif outputs % 3 == 0:
        rows_of_Q = outputs // 3
    else:
        return False
    left = outputs - rows_of_Q
    return 0 < rows_of_Q < width and left > 0 and left % 2 == 0

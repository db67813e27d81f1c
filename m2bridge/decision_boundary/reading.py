"""From files to a problem: weights, an input and a readout, as floats, which are exact.

The layer is read as ``weights`` reads it, by the reader of ``trained_weights``: names, several
heads, Q, K and V in one array, biases and norms are found by it. X is the input, d×t, and R (d'×t),
or w (d' entries) with a pooling, the readout; they are in the same file or in a second one.

The boundary is one of the layer φ alone. So all that would make φ another function is refused by
its name: softmax, norms, biases, positions, masks, MLPs, and arrays that are not understood. What
belongs to other layers, or stands before and after all of them, changes nothing, as the input and
the readout are given.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy

from m2bridge.decision_boundary.balls import Floats
from m2bridge.decision_boundary.boundary import BoundaryProblem, GivenHead, rational
from m2bridge.decision_boundary.options import BoundaryOptions, LayerSource, ScoresOver
from m2bridge.errors import InvalidCaseError, TooLargeError, check_choice, check_flag, check_kind
from m2bridge.results.sheet import enumeration, plural, printable, visible
from m2bridge.trained_weights.checkpoints.accounting import StoredOptions, array_uses
from m2bridge.trained_weights.checkpoints.architecture import (
    configuration,
    has_rotary_positions,
    known_architecture,
    what_changes_scores,
)
from m2bridge.trained_weights.checkpoints.array_names import blocks_around, modules_of
from m2bridge.trained_weights.checkpoints.arrays import Tensor
from m2bridge.trained_weights.checkpoints.files import tensors
from m2bridge.trained_weights.checkpoints.find_layers import LayersInSource, find_layers
from m2bridge.trained_weights.checkpoints.tensors import HeadArrays, LayerTensors

OF_INPUT = ("X", "R", "w")
"""The arrays that are not weights."""

OF_PLANE = ("X1", "X2")
"""The arrays that only the picture of a plane has."""

AROUND_LAYERS = {
    "embeddings",
    "heads of the model",
    "states of an optimizer",
    "states of libraries",
    "models of images or sounds",
}
"""Kinds of arrays that change nothing, if they are not in the block of the layer."""

NAMES_OF_MATRICES = ("query", "key", "value", "output", "stacked")
TEXTS = (*NAMES_OF_MATRICES, "layout", "ignore")

MAX_ENTRIES_OF_R = 40_000
"""The rank of a readout R is computed over the rational numbers up to this number of entries."""

DICTIONARY = "a file, or a dictionary of arrays, such as a state dict"
POOL = "mean, last, first, or an index, as text"

MOST = sys.float_info.max


@dataclass(frozen=True, slots=True, eq=False)
class ReadLayer:
    """A layer with a readout, and the arrays of inputs, by their names."""

    heads: tuple[GivenHead, ...]
    arrays: Mapping[str, Floats]
    pool: str | None
    bias: float
    skip: bool
    scores_over: ScoresOver

    def problem(self, X: Floats) -> BoundaryProblem:
        """The problem for an input."""
        d, t = X.shape
        d_out = len(self.heads[0].O)
        a, width = self.heads[0].K.shape
        if width != d:
            raise InvalidCaseError(
                "source",
                f"X has {plural(d, 'row')}, but the layer accepts tokens with {width}: X is d × t,"
                " a column for each token",
            )
        if self.skip and d != d_out:
            raise InvalidCaseError("skip", f"needs as many outputs as inputs, not {d_out} and {d}")
        W, C, row_space, readout_over = _readout(self.arrays, self.pool, d_out, t)
        nonzero_heads = tuple(head for head in self.heads if _changes_something(head))
        return BoundaryProblem(
            heads=nonzero_heads,
            zero_heads=len(self.heads) - len(nonzero_heads),
            W=W,
            C=C,
            row_space=row_space,
            skip=self.skip,
            bias=self.bias,
            U=X,
            readout_over=readout_over,
            scores_over={"1": 1, "sqrt(a)": a, "t": t * t}[self.scores_over],
        )


def read_problem(source: LayerSource, **options: Unpack[BoundaryOptions]) -> BoundaryProblem:
    """The problem of a file and of options, for its input X."""
    layer = read_layer(source, **options)
    return layer.problem(array_of_shape("X", layer.arrays, 2))


def read_layer(
    source: LayerSource, *, for_plane: bool = False, **options: Unpack[BoundaryOptions]
) -> ReadLayer:
    """The layer of a file, with the arrays of the input and the readout; ``for_plane`` is whether
    X1 and X2 may be among them.
    """
    check_kind("source", source, (str, Path, Mapping), DICTIONARY)
    check_kind("input", options.get("input"), (str, Path, Mapping, type(None)), DICTIONARY)
    constant = _checked_constant(options)
    of_input = (*OF_INPUT, *OF_PLANE) if for_plane else OF_INPUT
    ignored = ",".join((*of_input, options.get("ignore") or ""))
    stored = StoredOptions(
        layout=options.get("layout"), ignore=ignored, adapter=options.get("adapter"), norm="none"
    )
    names: dict[str, Any] = {name: options.get(name) for name in NAMES_OF_MATRICES}
    found = find_layers(source, {}, names, options.get("heads"), stored)
    if options.get("as_") is None:
        _check_model(source, found.available)
    number = _number_of_layer(options.get("layer"), len(found.layers))
    _check_nothing_else(found, number, stored)
    layer = found.layers[number - 1]
    heads = list(layer.heads(number, found.head_count))
    _check_sum(layer, len(heads))
    return ReadLayer(
        heads=tuple(_head(layer, head) for head in heads),
        arrays=_arrays_of_input(found.available, options.get("input"), of_input),
        pool=options.get("pool"),
        bias=constant,
        skip=bool(options.get("skip")),
        scores_over=options.get("scores_over", "1"),
    )


def _checked_constant(options: BoundaryOptions) -> float:
    """Check the options that the reader of weights does not check, and return b."""
    check_choice("scores_over", options.get("scores_over", "1"), ScoresOver)
    if options.get("skip") is not None:
        check_flag("skip", options.get("skip"))
    check_kind("pool", options.get("pool"), (str, type(None)), POOL)
    for name in TEXTS:
        check_kind(name, options.get(name), (str, type(None)), "a text")
    if options.get("as_") is not None:
        check_choice("as_", options.get("as_"), Literal["lightning"])
    bias, threshold = options.get("bias"), options.get("threshold")
    if bias is not None and threshold is not None:
        raise InvalidCaseError("threshold", "is −bias: give one of them")
    if threshold is not None:
        return -_finite("threshold", threshold)
    return 0.0 if bias is None else _finite("bias", bias)


def _finite(option: str, number: float) -> float:
    """A number of an option as a float."""
    check_kind(option, number, Real, "a number")
    if not abs(number) <= MOST:
        raise InvalidCaseError(option, "must be a finite number")
    if float(number) != number:
        raise InvalidCaseError(option, f"is {number}, and no float is equal to it")
    return float(number)


def _check_model(source: LayerSource, available: Mapping[str, Tensor]) -> None:
    """Check that neither config.json nor names say that the layer is of another kind."""
    config = configuration(source) if isinstance(source, str | Path) else {}
    model = known_architecture(config, available)
    parts = []
    if model is not None:
        kinds = {
            "softmax": model.softmax,
            "skip connections": model.skip,
            "norms": model.norm is not None,
            "rotary positions": model.rotary,
            model.positions: model.positions != "",
        }
        parts = [kind for kind, is_there in kinds.items() if is_there]
    changes = what_changes_scores(config)
    if model is not None and parts:
        seen = f"the model is {model.name}, with {enumeration(parts)}"
    elif changes:
        seen = changes
    elif has_rotary_positions(source, available):
        seen = "the model has rotary positions"
    else:
        return
    raise InvalidCaseError(
        "as_", f"{seen}, which is not in the layer here: say lightning, for the layer alone"
    )


def _number_of_layer(number: int | None, layers: int) -> int:
    """The number of the layer to read."""
    if number is None and layers == 1:
        return 1
    if number is None:
        raise InvalidCaseError("layer", f"there are {layers} layers: give one of 1 to {layers}")
    check_kind("layer", number, int, "a number")
    if isinstance(number, bool) or not 1 <= number <= layers:
        raise InvalidCaseError("layer", f"must be from 1 to {layers}")
    return number


def _check_nothing_else(found: LayersInSource, number: int, stored: StoredOptions) -> None:
    """Check that no array but the matrices of the layer makes it another function."""
    layer = found.layers[number - 1]
    refused = {part.name: f"bias of {letter}" for letter, part in layer.biases.items()}
    if layer.norm is not None:
        refused |= {part.name: "norms" for part in layer.norm.tensors()}
    own_blocks = blocks_around(modules_of(layer.parts)) or ("",)
    other_blocks = tuple(
        block
        for other in found.layers
        if other is not layer
        for block in (*blocks_around(modules_of(other.parts)), *modules_of(other.parts))
    )
    for use in array_uses(found.available, found.layers, stored):
        is_around = use.kind in AROUND_LAYERS and not use.name.startswith(own_blocks)
        if use.used_for or use.kind == "ignored arrays" or is_around:
            continue
        if not use.name.startswith(other_blocks):
            refused[use.name] = "" if use.kind.startswith("'") else use.kind
    if refused:
        named = [f"'{name}' ({kind})" if kind else f"'{name}'" for name, kind in refused.items()]
        raise InvalidCaseError(
            "source",
            f"arrays that are not in the layer here: {visible(', '.join(named)):.300}; it has no"
            " softmax, norms, biases, positions, masks or MLPs. Say that they are ignored, for the"
            " layer without them",
        )


def _check_sum(layer: LayerTensors, heads: int) -> None:
    """Check that the layer adds the outputs of its heads: without O models concatenate them, and
    only V with an axis for heads is a sum by the notation here.
    """
    value = layer.parts["V"]
    is_sum = value.name == "V" and len(value.shape) == 3
    if heads > 1 and "O" not in layer.parts and not is_sum:
        raise InvalidCaseError(
            "output", f"{heads} heads need an output matrix O, which adds their values"
        )


def _head(layer: LayerTensors, head: HeadArrays) -> GivenHead:
    """A head as floats, with K = 1 and Q = A where A is given."""
    matrices = {
        letter: _floats(layer.parts[letter], array) for letter, array in head.matrices.items()
    }
    if "A" in matrices:
        matrices |= {"K": numpy.eye(len(matrices["A"])), "Q": matrices["A"]}
    V = matrices["V"]
    return GivenHead(matrices["K"], matrices["Q"], V, matrices.get("O", numpy.eye(len(V))))


def _floats(part: Tensor, entries: Any) -> Floats:
    """Entries of an array as floats, if these are exactly the numbers."""
    try:
        floats: Floats = numpy.asarray(entries, dtype=numpy.float64)
        are_equal = entries.dtype != object or (entries == floats).all()
    except OverflowError:
        are_equal = False
    if not are_equal:
        raise InvalidCaseError(
            "source", f"{part.quoted} has entries that no float is equal to: round them first"
        )
    return floats


def _arrays_of_input(
    available: Mapping[str, Tensor], source: LayerSource | None, names: tuple[str, ...]
) -> dict[str, Floats]:
    """X and the readout, from the file of the weights and from a second one."""
    given = {name: available[name] for name in names if name in available}
    second = {} if source is None else tensors(source)
    for name, part in second.items():
        if name not in names:
            raise InvalidCaseError(
                "input", f"has {part.quoted}; the arrays of an input are {enumeration(OF_INPUT)}"
            )
        if name in given:
            raise InvalidCaseError("input", f"has {name}, which is beside the weights, too")
    return {name: _floats(part, part.array()) for name, part in (given | second).items()}


def array_of_shape(name: str, arrays: Mapping[str, Floats], *axes: int) -> Floats:
    """An array that must be there, with one of these numbers of axes."""
    if name not in arrays:
        there = printable(", ".join(arrays))[:200] or "none"
        raise InvalidCaseError(
            "source", f"an array {name} is missing, also in the input; there are: {there}"
        )
    array = arrays[name]
    if array.ndim not in axes or not array.size:
        size = " × ".join(map(str, array.shape)) or "of a number"
        raise InvalidCaseError(
            "source", f"{name} has the shape {size}; X is d × t, R is d' × t, and w has d' entries"
        )
    return array


def _changes_something(head: GivenHead) -> bool:
    """Whether no matrix of a head is zero."""
    return all(matrix.any() for matrix in (head.K, head.Q, head.V, head.O))


def _readout(
    arrays: Mapping[str, Floats], pool: str | None, d_out: int, t: int
) -> tuple[Floats, Floats, Floats, int]:
    """W, C, a basis of the space of rows, and a number, with R = W Cᵀ divided by this number."""
    if ("R" in arrays) == ("w" in arrays):
        raise InvalidCaseError(
            "source", "give one readout: R (d'×t), or w (d' entries) with a pool"
        )
    if "R" in arrays:
        if pool is not None:
            raise InvalidCaseError("pool", "is for a readout w; R has a column for each token")
        R = array_of_shape("R", arrays, 2)
        if R.shape != (d_out, t):
            raise InvalidCaseError("source", f"R is {len(R)} × {len(R.T)}, not {d_out} × {t}")
        return R, numpy.eye(t), _row_space(R), 1
    w = array_of_shape("w", arrays, 1, 2).reshape(-1, 1)
    if len(w) != d_out:
        raise InvalidCaseError(
            "source", f"w has the length {len(w)}, and the layer {plural(d_out, 'output')}"
        )
    column, over = pooled_column(pool or "mean", t)
    return w, column, column, over


def pooled_column(pool: str, t: int) -> tuple[Floats, int]:
    """The column of t numbers that a pool stands for, times a number, and this number."""
    if pool == "mean":
        return numpy.ones((t, 1)), t
    places = {"first": 0, "last": t - 1}
    try:
        place = places[pool] if pool in places else int(pool)
    except ValueError:
        raise InvalidCaseError("pool", "must be mean, last, first, or an index") from None
    if not 0 <= place < t:
        raise InvalidCaseError("pool", f"there are the tokens 0 to {t - 1}, not {place}")
    return numpy.eye(t)[:, [place]], 1


def _row_space(R: Floats) -> Floats:
    """Independent rows of R that span all, as columns."""
    if R.size > MAX_ENTRIES_OF_R:
        raise TooLargeError(
            f"R has {R.size} entries; its rank is computed up to {MAX_ENTRIES_OF_R}: give w and a"
            " pool, if all tokens are read out in one direction"
        )
    # columns of the reduced form of Rᵀ with a pivot are rows of R
    reduced, rank = rational(R.T).rref()
    pivots = [next(j for j in range(len(R)) if reduced[i, j] != 0) for i in range(rank)]
    return R[pivots].T

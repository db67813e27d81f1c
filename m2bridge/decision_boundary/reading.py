"""From a file to a problem: weights, an input and a readout, as floats, which are exact.

Arrays are called A or K and Q (queries and keys), V and perhaps O, with one matrix, or one for each
head along the first axis; X is the input, d×t, and R (d'×t), or w (d' entries) with a pooling, the
readout. Every other array is refused: what it changes would be left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy

from m2bridge.decision_boundary.balls import Floats
from m2bridge.decision_boundary.boundary import BoundaryProblem, GivenHead, rational
from m2bridge.errors import InvalidCaseError, TooLargeError
from m2bridge.results.sheet import printable
from m2bridge.trained_weights.checkpoints.arrays import EXACT, Tensor
from m2bridge.trained_weights.checkpoints.files import tensors

LayerSource = str | Path | Mapping[str, Any]
"""A file with named arrays, or a dictionary of them."""

ScoresOver = Literal["1", "sqrt(a)", "t"]
"""What scores are divided by."""

OF_WEIGHTS = ("A", "K", "Q", "V", "O")
OF_INPUT = ("X", "R", "w")

MOST_ENTRIES_OF_R = 40_000
"""The rank of a readout R is computed over the rational numbers up to this number of entries."""


def read_problem(
    source: LayerSource, *, pool: str | None, bias: float, skip: bool, scores_over: ScoresOver
) -> BoundaryProblem:
    """The problem that a file and the options say."""
    arrays = {name: _floats(array) for name, array in tensors(source).items()}
    unknown = [name for name in arrays if name not in (*OF_WEIGHTS, *OF_INPUT)]
    if unknown:
        raise InvalidCaseError(
            "source",
            f"unknown arrays: {printable(', '.join(unknown))[:200]}; a layer has A, or K and Q, V"
            " and perhaps O, with an axis for heads or without; beside it are the input X and the"
            " readout R, or w. Softmax, norms, biases of queries, keys and values, positions, masks"
            " and MLPs are no part of this layer",
        )
    heads = _heads(arrays)
    X = _array_of_shape("X", arrays, 2)
    d, t = X.shape
    d_out = len(heads[0].O)
    if any(head.K.shape[1] != d for head in heads):
        raise InvalidCaseError("X", f"has {d} rows, but the layer takes {heads[0].K.shape[1]}")
    if skip and d != d_out:
        raise InvalidCaseError("skip", f"needs as many outputs as inputs, not {d_out} and {d}")
    W, C, row_space, readout_over = _readout(arrays, pool, d_out, t)
    a = heads[0].K.shape[0]
    nonzero_heads = tuple(head for head in heads if _changes_something(head))
    return BoundaryProblem(
        heads=nonzero_heads,
        zero_heads=len(heads) - len(nonzero_heads),
        W=W,
        C=C,
        row_space=row_space,
        skip=skip,
        bias=bias,
        U=X,
        readout_over=readout_over,
        scores_over={"1": 1, "sqrt(a)": a, "t": t * t}[scores_over],
    )


def _floats(tensor: Tensor) -> Floats:
    """The entries of an array as floats, if these are exactly the numbers."""
    array = tensor.array()
    floats: Floats = numpy.asarray(array, dtype=numpy.float64)
    if tensor.kind == EXACT and not (array == floats).all():
        raise InvalidCaseError("source", f"{tensor.quoted} has entries that no float is equal to")
    return floats


def _array_of_shape(name: str, arrays: Mapping[str, Floats], *axes: int) -> Floats:
    """An array that must be there, with one of these numbers of axes."""
    if name not in arrays:
        there = printable(", ".join(arrays))[:200] or "none"
        raise InvalidCaseError("source", f"an array {name} is missing; there are: {there}")
    array = arrays[name]
    if array.ndim not in axes or not array.size:
        raise InvalidCaseError("source", f"{name} has the shape {array.shape}")
    return array


def _heads(arrays: Mapping[str, Floats]) -> list[GivenHead]:
    """The heads, each with V after O."""
    names = ["V", "O"] if "O" in arrays else ["V"]
    if "A" in arrays:
        if "K" in arrays or "Q" in arrays:
            raise InvalidCaseError("source", "there are A and K or Q: give A, or K and Q")
        names = ["A", *names]
    else:
        names = ["K", "Q", *names]
    by_head: dict[str, list[Floats]] = {}
    for name in names:
        array = _array_of_shape(name, arrays, 2, 3)
        by_head[name] = [array] if array.ndim == 2 else list(array)
    if len({len(matrices) for matrices in by_head.values()}) > 1:
        numbers = ", ".join(f"{name}: {len(matrices)}" for name, matrices in by_head.items())
        raise InvalidCaseError("source", f"arrays have different numbers of heads ({numbers})")
    heads = []
    for number in range(len(by_head["V"])):
        matrices = {name: array[number] for name, array in by_head.items()}
        if "A" in matrices:
            matrices["K"], matrices["Q"] = numpy.eye(len(matrices["A"])), matrices["A"]
        heads.append(_head(matrices))
    return heads


def _head(matrices: Mapping[str, Floats]) -> GivenHead:
    """A head of these matrices, whose shapes are checked."""
    K, Q, V = matrices["K"], matrices["Q"], matrices["V"]
    if K.shape != Q.shape:
        raise InvalidCaseError("source", f"K is {K.shape} and Q is {Q.shape}")
    if V.shape[1] != K.shape[1]:
        raise InvalidCaseError("source", "V must have as many columns as K and Q")
    if "O" not in matrices:
        return GivenHead(K, Q, V, numpy.eye(len(V)))
    O = matrices["O"]
    if O.shape[1] != len(V):
        raise InvalidCaseError("source", "O must have as many columns as V has rows")
    return GivenHead(K, Q, V, O)


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
        R = _array_of_shape("R", arrays, 2)
        if R.shape != (d_out, t):
            raise InvalidCaseError("source", f"R is {R.shape}, not {d_out} × {t}")
        return R, numpy.eye(t), _row_space(R), 1
    w = _array_of_shape("w", arrays, 1, 2).reshape(-1, 1)
    if len(w) != d_out:
        raise InvalidCaseError("source", f"w has {len(w)} entries, and the layer {d_out} outputs")
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
    if R.size > MOST_ENTRIES_OF_R:
        raise TooLargeError(
            f"R has {R.size} entries; its rank is computed up to {MOST_ENTRIES_OF_R}: give w and a"
            " pool, if all tokens are read out in one direction"
        )
    # columns of the reduced form of Rᵀ with a pivot are rows of R
    reduced, rank = rational(R.T).rref()
    pivots = [next(j for j in range(len(R)) if reduced[i, j] != 0) for i in range(rank)]
    return R[pivots].T

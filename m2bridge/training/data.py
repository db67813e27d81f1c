"""Losses from what people give: sequences of tokens with outputs, or a teacher, or no data at all.

Numbers are taken exactly: floating-point numbers are dyadic rationals. Input that is missing,
unknown, given twice, not finite or of a wrong shape is an InvalidCaseError.

A squared loss is ½(c − u)ᵀG(c − u), where c are the coordinates of a function of the layer and u
of the target. ``form``, a ``Quadratic``, is G, which the tokens determine; ``form.towards(u,
words)`` is the loss with the target u. Sequences are matrices whose columns are the t tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from m2bridge.algebra.numbers import fraction
from m2bridge.errors import InvalidCaseError, check_choice
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.training_loss.loss import (
    Loss,
    Quadratic,
    RationalRows,
    function_of,
    gaussian,
    loss_on_outputs,
    quadratic_of_samples,
    random_function,
    random_quadratic,
)
from m2bridge.results.sheet import printable
from m2bridge.trained_weights.checkpoints.arrays import Tensor, as_fractions
from m2bridge.trained_weights.checkpoints.files import tensors
from m2bridge.trained_weights.heads.membership import exact_weights

DataSource = str | Path | Mapping[str, Any]
"""A file with named arrays, or a dictionary of them."""
TokenDistribution = Literal["gaussian"]
QuadraticForm = Literal["random"]

LETTERS = frozenset("AKQV")
"""The names of the weights of a teacher."""
ARRAYS_OF_DATA = ("X", "Y", "A", "K", "Q", "V")
"""The names of arrays of data: tokens, and outputs or the weights of a teacher."""


def read_loss(
    model: SingleLayerAttention,
    *,
    data: DataSource | None,
    tokens: str | None,
    quadratic: str | None,
    teacher: DataSource | None,
    seed: int,
) -> Loss:
    """Return the squared loss on data, or on random tokens, or for a random quadratic form, with
    its target: outputs or a teacher in the data, the function of a teacher, else random integers.
    """
    sources = {"data": data, "tokens": tokens, "quadratic": quadratic}
    given_sources = [name for name, value in sources.items() if value is not None]
    if len(given_sources) > 1:
        raise InvalidCaseError(
            given_sources[1], f"excludes {given_sources[0]}: give one of {', '.join(sources)}"
        )
    if tokens is not None:
        check_choice("tokens", tokens, TokenDistribution)
    if quadratic is not None:
        check_choice("quadratic", quadratic, QuadraticForm)
    if data is not None:
        return _loss_on_data(model, data, teacher, seed)
    if model.t == 1:
        raise InvalidCaseError("t", "critical points are computed for t ≥ 2 tokens")
    # Tokens with normal entries, unless a random quadratic form is asked for.
    form = gaussian(model) if quadratic is None else random_quadratic(model, seed)
    return _loss_towards_teacher(model, form, teacher, seed)


def _loss_on_data(
    model: SingleLayerAttention, data: DataSource, teacher: DataSource | None, seed: int
) -> Loss:
    """Return the loss on the sequences X of the data, towards their outputs Y, or a teacher, whose
    weights are in the data or given as ``teacher``.
    """
    arrays = _arrays("data", data)
    # an array with an unknown name would have no effect
    unknown = [name for name in arrays if name not in ARRAYS_OF_DATA]
    if unknown:
        names = printable(", ".join(unknown))[:200]
        raise InvalidCaseError(
            "data",
            f"unknown arrays: {names}; data have X (tokens), and Y (outputs) or the weights of a"
            " teacher, A and V or K, Q and V; upper and lower case differ",
        )
    inputs = _tokens_in(arrays, model)
    model = replace(model, t=len(inputs[0][0]))
    form = quadratic_of_samples(model, inputs)
    weights_in_data = {name: array for name, array in arrays.items() if name in LETTERS}
    # outputs, weights in the data and --teacher are three ways to say what is learnt
    given_targets = {
        "Y": "Y" in arrays,
        "a teacher": bool(weights_in_data),
        "--teacher": teacher is not None,
    }
    targets = [name for name, is_given in given_targets.items() if is_given]
    if len(targets) > 1:
        raise InvalidCaseError("data", f"the target is given twice, as {' and '.join(targets)}")
    if "Y" in arrays:
        outputs = _outputs_in(arrays, model, inputs)
        return loss_on_outputs(form, inputs, outputs, "the outputs Y")
    if weights_in_data:
        return _loss_towards_weights(model, form, weights_in_data, "data")
    return _loss_towards_teacher(model, form, teacher, seed)


def _tokens_in(arrays: Mapping[str, Tensor], model: SingleLayerAttention) -> list[RationalRows]:
    """Return the sequences of tokens of data, d×t matrices, the array X."""
    if "X" not in arrays:
        array_names = printable(", ".join(arrays))[:200] or "none"
        raise InvalidCaseError("data", f"an array X of tokens is missing; there are: {array_names}")
    inputs = _sequences(arrays["X"], model.d, "d")
    # the functions of one token form another family, for which there is no loss
    if len(inputs[0][0]) == 1:
        raise InvalidCaseError(
            "data", "each sequence in X has one token (t = 1): losses are for t ≥ 2 tokens"
        )
    return inputs


def _outputs_in(
    arrays: Mapping[str, Tensor], model: SingleLayerAttention, inputs: list[RationalRows]
) -> list[RationalRows]:
    """Return the outputs of data, the array Y: a d'×t matrix for each sequence
    of tokens.
    """
    outputs = _sequences(arrays["Y"], model.d_out, "d'")
    if len(outputs) != len(inputs) or len(outputs[0][0]) != len(inputs[0][0]):
        raise InvalidCaseError(
            "data",
            f"X is {arrays['X'].size_text} and Y is {arrays['Y'].size_text}: they must have as many"
            " sequences, of as many tokens",
        )
    return outputs


def _loss_towards_teacher(
    model: SingleLayerAttention, form: Quadratic, teacher: DataSource | None, seed: int
) -> Loss:
    """Return the loss towards the function of a teacher, or towards random integers without one."""
    if teacher is None:
        words = f"random integers, seed {seed}"
        return form.towards(random_function(model, seed), words)
    return _loss_towards_weights(model, form, _arrays("teacher", teacher), "teacher")


def _loss_towards_weights(
    model: SingleLayerAttention, form: Quadratic, arrays: Mapping[str, Tensor], option: str
) -> Loss:
    """Return the loss towards the function of weights by their letters, which an option gives."""
    # None for weights that are not given.
    weights: dict[str, Any] = dict.fromkeys("KQAV")
    weights |= {letter: _finite_entries(array, option) for letter, array in arrays.items()}
    # Other letters than these four are in the file or dictionary.
    if set(weights) - LETTERS:
        raise InvalidCaseError(option, "the arrays of a teacher are K, Q and V, or A and V")
    try:
        # ``weights`` would be a pair or triple in place of the matrices ``given`` by letters. The
        # remark, on floats or on the rank of A, is not shown here.
        (A, V), _remark = exact_weights(model, given=weights, weights=None)
    except InvalidCaseError as reason:
        raise InvalidCaseError(option, f"the teacher: {reason.message}") from None
    A_rows, V_rows = ([[fraction(x) for x in row] for row in M.tolist()] for M in (A, V))
    return form.towards(function_of(model, A_rows, V_rows), "the function of a teacher")


def _arrays(option: str, source: DataSource) -> dict[str, Tensor]:
    """Return the arrays of a file or a dictionary by name; an error names ``option``."""
    try:
        return tensors(source)
    except InvalidCaseError as reason:
        raise InvalidCaseError(option, reason.message) from None


def _finite_entries(array: Tensor, option: str) -> Any:
    """Return the NumPy array of the entries: floats, or integers and fractions as objects."""
    try:
        return array.array()
    except InvalidCaseError as reason:
        raise InvalidCaseError(option, reason.message) from None


def _sequences(array: Tensor, rows: int, letter: str) -> list[RationalRows]:
    """Return the sequences of an array of shape (sequences, rows, t), or (rows, t) for one, as
    matrices whose columns are tokens; ``letter`` is the number of rows in messages.
    """
    shape = array.shape
    if 0 in shape:
        raise InvalidCaseError(
            "data",
            f"{array.name} is {array.size_text}: it has no entries; give a sequence at least",
        )
    # one sequence may be given as a matrix
    if len(shape) == 2:
        shape = (1, *shape)
    if len(shape) != 3 or shape[1] != rows:
        raise InvalidCaseError(
            "data",
            f"{array.name} is {array.size_text}; it must be (sequences, {letter}, t) with"
            f" {letter} = {rows}, or ({letter}, t) for one sequence: tokens are columns",
        )
    entries = as_fractions(_finite_entries(array, "data")).reshape(shape)
    return [[list(row) for row in matrix] for matrix in entries.tolist()]

"""Losses from what people give: sequences of tokens with outputs, or a teacher, or no data at all.

Numbers are taken exactly: floating-point numbers are dyadic rationals.
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
    of_samples,
    random_function,
    random_quadratic,
    with_outputs,
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


def read_loss(
    model: SingleLayerAttention,
    *,
    data: DataSource | None,
    tokens: str | None,
    quadratic: str | None,
    teacher: DataSource | None,
    seed: int,
) -> Loss:
    """The loss that is asked for.

    Raises
    ------
    InvalidCaseError
        If what is given excludes each other, arrays are missing or have wrong shapes, or the data
        do not determine the function.
    ConversionError
        If a file cannot be read.
    """
    _check_sources(model, data, tokens, quadratic)
    if data is not None:
        return _of_data(model, data, teacher, seed)
    form = gaussian(model) if quadratic is None else random_quadratic(model, seed)
    return _towards_teacher(model, form, teacher, seed)


def _check_sources(
    model: SingleLayerAttention, data: DataSource | None, tokens: str | None, quadratic: str | None
) -> None:
    """Refuse a case or sources that have no meaning together."""
    named = {"data": data, "tokens": tokens, "quadratic": quadratic}
    given = [name for name, value in named.items() if value is not None]
    if len(given) > 1:
        raise InvalidCaseError(given[1], f"excludes {given[0]}: give one of {', '.join(named)}")
    if tokens is not None:
        check_choice("tokens", tokens, TokenDistribution)
    if quadratic is not None:
        check_choice("quadratic", quadratic, QuadraticForm)
    if data is None and model.t == 1:
        raise InvalidCaseError("t", "critical points are computed for t ≥ 2 tokens")


def _of_data(
    model: SingleLayerAttention, data: DataSource, teacher: DataSource | None, seed: int
) -> Loss:
    """The loss on sequences of tokens, whose outputs are given, or those of a teacher."""
    arrays = _arrays("data", data)
    if "X" not in arrays:
        listed = printable(", ".join(arrays))[:200] or "none"
        raise InvalidCaseError("data", f"an array X of tokens is missing; there are: {listed}")
    inputs = _sequences(arrays["X"], model.d, "d")
    # the functions of one token form another family, for which there is no loss
    if len(inputs[0][0]) == 1:
        raise InvalidCaseError(
            "data", "each sequence in X has one token (t = 1): losses are for t ≥ 2 tokens"
        )
    model = replace(model, t=len(inputs[0][0]))
    form = of_samples(model, inputs)
    inside = {name: array for name, array in arrays.items() if name in LETTERS}
    # outputs, weights in the data and --teacher are three ways to say what is learnt
    targets = [name for name, there in (("Y", "Y" in arrays), ("a teacher", bool(inside))) if there]
    if teacher is not None:
        targets.append("--teacher")
    if len(targets) > 1:
        raise InvalidCaseError("data", f"the target is given twice, as {' and '.join(targets)}")
    if "Y" not in arrays:
        if inside:
            return _towards(model, form, inside, "data")
        return _towards_teacher(model, form, teacher, seed)
    outputs = _sequences(arrays["Y"], model.d_out, "d'")
    if len(outputs) != len(inputs) or len(outputs[0][0]) != len(inputs[0][0]):
        raise InvalidCaseError(
            "data",
            f"X is {arrays['X'].size_text} and Y is {arrays['Y'].size_text}: they must have as many"
            " sequences, of as many tokens",
        )
    return with_outputs(form, inputs, outputs, "the outputs Y")


def _towards_teacher(
    model: SingleLayerAttention, form: Quadratic, teacher: DataSource | None, seed: int
) -> Loss:
    """The loss towards the function of a teacher, or towards random integers."""
    if teacher is None:
        words = f"random integers, seed {seed}"
        return form.towards(random_function(model, seed), words)
    return _towards(model, form, _arrays("teacher", teacher), "teacher")


def _towards(
    model: SingleLayerAttention, form: Quadratic, teacher: Mapping[str, Tensor], option: str
) -> Loss:
    """The loss towards the function of weights, which an option gives."""
    letters: dict[str, Any] = dict.fromkeys("KQAV")
    letters |= {name: _checked(array, option) for name, array in teacher.items()}
    if set(letters) - LETTERS:
        raise InvalidCaseError(option, "the arrays of a teacher are K, Q and V, or A and V")
    try:
        (A, V), _ = exact_weights(model, letters, None)
    except InvalidCaseError as reason:
        raise InvalidCaseError(option, f"the teacher: {reason.message}") from None
    function = function_of(model, _fractions(A), _fractions(V))
    return form.towards(function, "the function of a teacher")


def _fractions(matrix: Any) -> RationalRows:
    """A matrix of rational numbers of SymPy as fractions."""
    return [[fraction(x) for x in row] for row in matrix.tolist()]


def _arrays(option: str, source: DataSource) -> dict[str, Tensor]:
    """The arrays of a file or a dictionary."""
    try:
        return tensors(source)
    except InvalidCaseError as reason:
        raise InvalidCaseError(option, reason.message) from None


def _checked(array: Tensor, option: str) -> Any:
    """The entries of an array, which must be finite numbers."""
    try:
        return array.array()
    except InvalidCaseError as reason:
        raise InvalidCaseError(option, reason.message) from None


def _sequences(array: Tensor, rows: int, letter: str) -> list[RationalRows]:
    """The matrices of an array, whose columns are tokens: one, or as many as its first index says.

    Raises
    ------
    InvalidCaseError
        If it has another shape, or an entry is not finite.
    """
    shape = array.shape
    if 0 in shape:
        raise InvalidCaseError(
            "data",
            f"{array.name} is {array.size_text}: it has no entries; give a sequence at least",
        )
    # one sequence may be given without its index
    if len(shape) == 2:
        shape = (1, *shape)
    if len(shape) != 3 or shape[1] != rows:
        raise InvalidCaseError(
            "data",
            f"{array.name} is {array.size_text}; it must be (sequences, {letter}, t) with"
            f" {letter} = {rows}, or ({letter}, t) for one sequence: tokens are columns",
        )
    entries = as_fractions(_checked(array, "data")).reshape(shape)
    return [[list(row) for row in matrix] for matrix in entries.tolist()]

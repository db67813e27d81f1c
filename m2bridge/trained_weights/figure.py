"""The figures ``weights`` and ``training``: their options, and what computes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from m2bridge.errors import alternatives
from m2bridge.families.base import CaseOption, Figure, integer
from m2bridge.trained_weights.options import OPTIONS, WeightsOption
from m2bridge.trained_weights.result import weights
from m2bridge.trained_weights.training_run import TOLERANCE, training_run

_READERS: dict[type, Callable[[str], Any]] = {int: integer, float: float, bool: bool}
"""What reads the text of an option that is neither a word nor a path."""


def _help(option: WeightsOption) -> str:
    """Return what an option says in the help of the picture, whose argument is called SOURCE."""
    text = (option.help_of_picture or option.help).replace("FILE", "SOURCE").removesuffix(".")
    return f"{text}. Values: {alternatives(option.choices)}" if option.choices else text


def picture_options(options: Iterable[WeightsOption]) -> tuple[CaseOption, ...]:
    """Return the options of a picture that a command and its function have, too."""
    return tuple(
        CaseOption(
            option.name,
            _READERS.get(option.kind, str),
            _help(option),
            default=option.default,
            required=False,
            flag=option.kind is bool,
        )
        for option in options
        if option.in_picture
    )


FIGURE = Figure(
    "weights",
    "Singular values of trained weights, and how near singular functions are",
    (CaseOption("source", str, "a file of weights", positional=True), *picture_options(OPTIONS)),
    weights,
)


def _number_below_one(text: str) -> float:
    """Return the number between 0 and 1, these excluded, that a text is; ValueError else."""
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"'{text:.60}' is not a number such as 0.05") from None
    if not 0 < number < 1:
        raise ValueError(f"{text:.60} is not between 0 and 1")
    return number


TRAINING = Figure(
    "training",
    "Loss, effective ranks and distances to exposed types during training",
    (
        CaseOption(
            "source",
            str,
            "a file of a run: arrays step, loss, V, and K and Q or A",
            positional=True,
        ),
        CaseOption(
            "tolerance",
            _number_below_one,
            "singular values above it, times the largest of the run, count for effective ranks",
            default=str(TOLERANCE),
        ),
    ),
    training_run,
)

FIGURES = (FIGURE, TRAINING)

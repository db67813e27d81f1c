"""The figures ``weights`` and ``training``: their options, and what computes them."""

from __future__ import annotations

from m2bridge.families.base import CaseOption, Figure, integer
from m2bridge.trained_weights.result import weights
from m2bridge.trained_weights.training_run import TOLERANCE, training_run

_ROLES = {
    "query": "Q",
    "key": "K",
    "value": "V",
    "output": "the output matrix",
    "stacked": "Q, K and V",
}
_NAMED = tuple(
    CaseOption(
        name,
        str,
        f"the array with {role} (* stands for what differs from layer to layer)",
        required=False,
    )
    for name, role in _ROLES.items()
)
_FILE = (
    CaseOption("source", str, "a file of weights", positional=True),
    *_NAMED,
    CaseOption(
        "heads",
        integer,
        "number of heads of each layer; when left out, that of config.json beside the file, or 1",
        required=False,
    ),
    CaseOption(
        "normalization",
        str,
        "normalization of the scores, none or softmax; when left out, that of config.json, or none",
        required=False,
    ),
    CaseOption(
        "biases",
        str,
        "what becomes of biases: count, or ignore for the layers without them",
        default="count",
    ),
    CaseOption("norm", str, "the norm before each layer: layer, rms, rms1 or none", required=False),
    CaseOption(
        "sort", str, "order of the heads: layer, or distance to singular functions", default="layer"
    ),
    CaseOption(
        "worst",
        integer,
        "number of heads in the picture, those nearest to singular functions",
        required=False,
    ),
)


FIGURE = Figure(
    "weights",
    "Singular values of trained weights, and how near singular functions are",
    _FILE,
    weights,
)


def _number_below_one(text: str) -> float:
    """Return the number between 0 and 1, these excluded, that a text is; ValueError for another
    text, with what was expected.
    """
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

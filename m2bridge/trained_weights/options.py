"""The options of the command ``weights``, of its picture and of the function, declared once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from pathlib import Path

from m2bridge.errors import InvalidCaseError, alternatives


@dataclass(frozen=True, slots=True)
class WeightsOption:
    """An option: its name in Python, what it says, and what its values are."""

    name: str
    help: str
    kind: type = str  # ``bool`` for a pair such as ``--skip`` and ``--no-skip``
    choices: tuple[str, ...] = ()
    default: str | None = None
    metavar: str | None = None  # what stands for the value in help
    in_picture: bool = True
    help_of_picture: str = ""  # where the picture says another thing


OPTIONS = (
    WeightsOption(
        "query",
        "Name of the array with Q; * stands for the part that differs from layer to layer.",
        metavar="NAME",
    ),
    WeightsOption("key", "Name of the array with K.", metavar="NAME"),
    WeightsOption("value", "Name of the array with V.", metavar="NAME"),
    WeightsOption(
        "output", "Name of the array with the output matrix O; values are then OV.", metavar="NAME"
    ),
    WeightsOption("stacked", "Name of one array that contains Q, K and V.", metavar="NAME"),
    WeightsOption(
        "layout",
        "How arrays are stored where names and shapes do not say it: rows, (out, in), or columns,"
        " (in, out); Q, K and V in one array q-k-v, by-head, by-group, by-row, by-quarter or"
        " by-eighth; three indices heads-a-d, heads-d-a or d-heads-a. Separated by commas.",
        metavar="WORDS",
    ),
    WeightsOption(
        "ignore",
        "Arrays that do not belong to the layer and are ignored, separated by commas; * stands for"
        " any text.",
        metavar="NAMES",
    ),
    WeightsOption("adapter", "A LoRA adapter, which is merged with FILE exactly.", Path),
    WeightsOption(
        "heads",
        "Number of heads, the same in each layer [default: as config.json next to FILE, shapes or"
        " names say; 1 for arrays K, Q and V]. With 'all', or '12,all', the text has all facts, and"
        " tables of all heads.",
        metavar="NUMBER",
        help_of_picture="Number of heads, the same in each layer [default: as config.json next to"
        " the file, shapes or names say; 1 for arrays K, Q and V].",
    ),
    WeightsOption("a", "Largest rank of A, where A = KᵀQ is given [default: d].", int),
    WeightsOption(
        "as_",
        "Lightning attention, the algebraic model of the paper, or softmax attention: the layers"
        " alone, whatever config.json next to FILE says.",
        choices=("lightning", "softmax"),
    ),
    WeightsOption(
        "skip", "Whether each layer adds its input [default: from config.json, or not].", bool
    ),
    WeightsOption(
        "normalization",
        "Normalization of the attention scores [default: from config.json, or none].",
        choices=("none", "softmax"),
    ),
    WeightsOption(
        "biases",
        "Treat biases as a coordinate of tokens, or ignore them.",
        choices=("count", "ignore"),
        default="count",
    ),
    WeightsOption(
        "norm",
        "The norm before each layer, instead of the one that FILE determines; layer1 and rms1"
        " multiply by 1 + γ.",
        choices=("layer", "layer1", "rms", "rms1", "none"),
    ),
    WeightsOption(
        "tolerance", "Relative tolerance for effective ranks [default: by the stored type].", float
    ),
    WeightsOption(
        "sort",
        "Order of the heads: by layer, or by distance to singular functions.",
        choices=("layer", "distance"),
        default="layer",
    ),
    WeightsOption(
        "worst",
        "Show only the N heads nearest to singular functions; of softmax, to lower ranks.",
        int,
    ),
    WeightsOption(
        "rank",
        "Show the distance of each head to this rank, and how much outputs change where A, V or"
        " both are replaced.",
        int,
        in_picture=False,
    ),
    WeightsOption(
        "rank_A",
        "The same where A = KᵀQ is replaced by one of this rank, and V stays, or has --rank-v.",
        int,
        in_picture=False,
    ),
    WeightsOption(
        "rank_V",
        "The same where V, or OV, is replaced by one of this rank, and A stays, or has --rank-a.",
        int,
        in_picture=False,
    ),
)


def check_options(
    words: Mapping[str, str | None],
    *,
    tolerance: float | None,
    worst: int | None,
    ranks: Mapping[str, int | None],
) -> None:
    """Check options of :func:`~m2bridge.weights`, words by their names, and numbers."""
    for option in OPTIONS:
        value = words.get(option.name, option.default)
        # types first: an array of NumPy compares with a text entry by entry
        is_known = value is None or (isinstance(value, str) and value in option.choices)
        if option.choices and not is_known:
            allowed = alternatives(option.choices)
            raise InvalidCaseError(option.name, f"must be {allowed}, not {value!r:.60}")
    if tolerance is not None and not (isinstance(tolerance, Real) and 0 <= tolerance < 1):
        wanted = "must be at least 0 and less than 1"
        raise InvalidCaseError("tolerance", f"{wanted}, not {tolerance!r:.60}")
    if worst is not None and (type(worst) is not int or worst < 1):
        raise InvalidCaseError("worst", f"must be at least 1, not {worst!r:.60}")
    for name, rank in ranks.items():
        if rank is not None and (type(rank) is not int or rank < 0):
            raise InvalidCaseError(name, f"must be at least 0, not {rank!r:.60}")
    if ranks["rank"] is not None and (ranks["rank_A"], ranks["rank_V"]) != (None, None):
        raise InvalidCaseError("rank", "is for A and V: give it without a rank of A or of V alone")


def read_heads_option(heads: int | str | None) -> tuple[int | None, bool]:
    """Return the number of heads of each layer, and whether the text is to have all heads: 12 is
    read as (12, False), ``"all"`` as (None, True), and ``"12,all"`` as (12, True).
    """
    # What is not a text is checked by the caller.
    if not isinstance(heads, str):
        return heads, False
    words = [word.strip() for word in heads.split(",")]
    # No layer has heads of which the number has more than nine digits.
    numbers = [int(word) for word in words if re.fullmatch("[0-9]{1,9}", word)]
    has_other_words = len(numbers) + words.count("all") < len(words)
    if len(numbers) > 1 or has_other_words:
        raise InvalidCaseError("heads", f"is a number, all, or both as 12,all; not {heads!r:.60}")
    number = numbers[0] if numbers else None
    return number, "all" in words

"""The options of the command ``weights`` that are read without its weights."""

from __future__ import annotations

import re
from collections.abc import Mapping
from numbers import Real

from m2bridge.errors import InvalidCaseError

CHOICES = {
    "normalization": (None, "none", "softmax"),
    "as_": (None, "lightning", "softmax"),
    "biases": ("count", "ignore"),
    "norm": (None, "layer", "rms", "rms1", "none"),
    "sort": ("layer", "distance"),
}
"""What the options of :func:`~m2bridge.weights` that are words may be; ``None`` where left out."""


def check_options(
    words: Mapping[str, str | None], *, tolerance: float | None, worst: int | None, rank: int | None
) -> None:
    """Check options of :func:`~m2bridge.weights`: InvalidCaseError for the first that is wrong.

    ``words`` has the values of options of :data:`CHOICES` by their names. Of a number ``None``
    means that it is not given.
    """
    for name, value in words.items():
        if value not in CHOICES[name]:
            *others, last = [choice for choice in CHOICES[name] if choice is not None]
            allowed = f"{', '.join(others)} or {last}"
            raise InvalidCaseError(name, f"must be {allowed}, not {value!r:.60}")
    if tolerance is not None and not (isinstance(tolerance, Real) and 0 <= tolerance < 1):
        wanted = "must be at least 0 and less than 1"
        raise InvalidCaseError("tolerance", f"{wanted}, not {tolerance!r:.60}")
    if worst is not None and (type(worst) is not int or worst < 1):
        raise InvalidCaseError("worst", f"must be at least 1, not {worst!r:.60}")
    if rank is not None and (type(rank) is not int or rank < 0):
        raise InvalidCaseError("rank", f"must be at least 0, not {rank!r:.60}")


def read_heads_option(heads: int | str | None) -> tuple[int | None, bool]:
    """Return what the option ``heads`` says: the number of heads of each layer, ``None`` if it says
    none, and whether the text is to have all heads.

    So 12 is read as (12, False), ``"all"`` as (None, True), and ``"12,all"`` as (12, True). What is
    not a text is taken for the number, and checked by the caller. InvalidCaseError for a text with
    other words, with several numbers, or with a number of more than nine digits.
    """
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

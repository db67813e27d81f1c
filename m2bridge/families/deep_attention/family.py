"""Deep attention networks as a family."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from m2bridge.citation import LIGHTNING
from m2bridge.errors import InvalidCaseError
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.deep_attention.shape import NAME
from m2bridge.families.deep_attention.statements import STATEMENTS
from m2bridge.families.definition import (
    MOST,
    CaseOption,
    Family,
    Figure,
    integer_option,
    integers,
    integers_option,
    ranges,
)

if TYPE_CHECKING:
    from m2bridge.engine.script import Script


def _figures() -> tuple[Figure, ...]:
    from m2bridge.families.deep_attention.figure import FIGURE  # needs SymPy, which is slow to import

    return (FIGURE,)


def _program(network: DeepAttention, key: str) -> Script | None:
    """Return the program behind fibres and closedness."""
    from m2bridge.families.deep_attention.fibres import fibre_script, limit_script
    from m2bridge.families.deep_attention.observation import can_be_certified

    if key == "closed":
        return limit_script(network) if can_be_certified(network, key) else None
    fibres = key in ("3.7", "fibre") and can_be_certified(network, "fibre_degree")
    return fibre_script(network) if fibres else None


def _ranks(option: str, text: str) -> tuple[tuple[tuple[int, ...], ...]]:
    """The ranks that are meant, for each layer or for all: ``1..3`` or ``1..3,2``."""
    return (tuple(ranges(option, part) for part in text.split(",")),)


def _grid(widths: tuple[int, ...], a: tuple[tuple[int, ...], ...], **others: Any) -> Iterator[DeepAttention]:
    """Networks with every combination of ranks."""
    places = a * (len(widths) - 1) if len(a) == 1 else a
    if prod(map(len, places)) > MOST:
        raise InvalidCaseError("a", f"means more than {MOST} combinations of ranks")
    for ranks in product(*places):
        yield DeepAttention(widths, ranks, **others)


def _yes_or_no(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(f"'{text:.60}' is neither true nor false")
    return text == "true"


def _words(option: str, text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


FAMILY = Family(
    name=NAME,
    title="deep self-attention networks",
    paper=LIGHTNING,
    options=(
        integers_option("widths", "widths d_0, …, d_l of the tokens, from the inputs to the outputs, such as 3,3,3"),
        CaseOption("a", integers, "query/key dimensions a_1, …, a_l, or one for all layers", several=_ranks),
        integer_option("t", "number of tokens", default="2"),
        integer_option("heads", "number of heads of each layer", default="1", symbol="H"),
        CaseOption("skip", _yes_or_no, "skip connections: each layer adds its input", required=False, flag=True),
        CaseOption("normalization", str, "none (lightning attention) or softmax", default="none", several=_words),
    ),
    build=DeepAttention,
    from_key=DeepAttention.from_key,
    statements=lambda: STATEMENTS,
    program=_program,
    observed_separately=True,
    grid=_grid,
    figures=_figures,
    effort=lambda network: network.parameter_count,
    all_sizes="deep-attention-all-sizes",
    modules=("m2bridge.families.deep_attention.observation",),
    commands={
        "at_weights": "m2bridge.families.deep_attention.at_weights:at_weights",
        "cross_check_all_sizes": "m2bridge.families.deep_attention.all_sizes.family:cross_check_deep_attention",
    },
)

"""Deep attention networks as a family: their options, keys, grids and programs.

What these networks are stands in ``model``. Commands import this file to know the options, so that
whatever needs SymPy or Macaulay2 is imported where it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

from m2bridge.citation import LIGHTNING
from m2bridge.errors import InvalidCaseError
from m2bridge.families.base import (
    MAX_RANGE_VALUES,
    CaseOption,
    Family,
    Figure,
    integer_option,
    integers,
    integers_option,
    ranges,
)
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.deep_attention.shape import NAME
from m2bridge.families.deep_attention.statements import STATEMENTS
from m2bridge.limits import importing

if TYPE_CHECKING:
    from m2bridge.engine.script import Script
    from m2bridge.families.deep_attention.all_sizes.family import DeepAttentionAllSizes
    from m2bridge.statements.statement import Statement


def _ranks(option: str, text: str) -> tuple[tuple[tuple[int, ...], ...]]:
    """Read the values of ``a`` in a grid: ``1..3`` for all layers, ``1..3,2`` for two.

    The result is a tuple with one entry, the ranks of all layers, which
    :meth:`DeepAttentionNetworks.grid` takes as one value: (((1, 2, 3), (2,)),).
    """
    ranks_of_layers = tuple(ranges(option, part) for part in text.split(","))
    return (ranks_of_layers,)


def _yes_or_no(text: str) -> bool:
    """Read ``true`` or ``false``; other words are a ``ValueError``."""
    if text not in ("true", "false"):
        raise ValueError(f"'{text:.60}' is neither true nor false")
    return text == "true"


def _words(option: str, text: str) -> tuple[str, ...]:
    """Return the words between the commas of a text; ``build`` refuses unknown words later."""
    return tuple(part.strip() for part in text.split(","))


class DeepAttentionNetworks(Family[DeepAttention]):
    """Any number of layers and heads, lightning or softmax, with or without skip connections."""

    __slots__ = ()

    name = NAME
    title = "deep self-attention networks"
    paper = LIGHTNING
    model_class = DeepAttention
    options = (
        integers_option(
            "widths",
            "widths d_0, …, d_l of the tokens, from the inputs to the outputs, such as 3,3,3",
        ),
        CaseOption(
            "a", integers, "query/key dimensions a_1, …, a_l, or one for all layers", several=_ranks
        ),
        integer_option("t", "number of tokens", default="2"),
        integer_option("heads", "number of heads, the same in each layer", default="1", symbol="H"),
        CaseOption(
            "skip",
            _yes_or_no,
            "skip connections: each layer adds its input",
            required=False,
            flag=True,
        ),
        CaseOption(
            "normalization",
            str,
            "normalization of the scores: none (lightning attention) or softmax",
            default="none",
            several=_words,
        ),
    )
    # Each observable has a method of its own, and most networks are in the hypotheses of a few.
    observed_separately = True
    all_sizes = "deep-attention-all-sizes"
    modules = ("m2bridge.families.deep_attention.observation",)
    sample: ClassVar[Mapping[str, str]] = {"widths": "2,2", "a": "1"}

    def from_key(self, key: str) -> DeepAttention:
        """Return the network with this key, such as ``3-3-3-a2-2-t2``."""
        return DeepAttention.from_key(key)

    def statements(self) -> tuple[Statement, ...]:
        """Return the statements about these networks, of the paper and of m2bridge."""
        return STATEMENTS

    def figures(self) -> tuple[Figure, ...]:
        """Return the only figure about these networks, Figure 3 of the paper."""
        # needs SymPy, which is slow to import
        from m2bridge.families.deep_attention.figure import FIGURE

        return (FIGURE,)

    def grid(self, **values: Any) -> Iterator[DeepAttention]:
        """Yield a network for each combination of ranks, one rank for each layer.

        It is called once for each combination of the other options. The value of ``a`` is a tuple
        with the ranks of each layer, or with one entry, the ranks for every layer.
        """
        widths = values.pop("widths")
        ranks_of_layers = values.pop("a")
        if len(ranks_of_layers) == 1:
            ranks_of_layers *= len(widths) - 1
        # Checked before they are made: twenty layers with three ranks each are billions.
        if prod(map(len, ranks_of_layers)) > MAX_RANGE_VALUES:
            raise InvalidCaseError(
                "a", f"must mean at most {MAX_RANGE_VALUES} combinations of ranks"
            )
        for ranks in product(*ranks_of_layers):
            yield self.build(widths=widths, a=ranks, **values)

    def program(self, model: DeepAttention, key: str) -> Script | None:
        """Return the program of Macaulay2 that observes what the statement with this key says.

        ``None`` for other statements, and for networks that have no certificate on it.
        """
        from m2bridge.families.deep_attention.fibres import fibre_script, limit_script
        from m2bridge.families.deep_attention.observation import can_be_certified

        if key == "closed" and can_be_certified(model, key):
            return limit_script(model)
        if key in ("3.7", "fibre") and can_be_certified(model, "fibre_degree"):
            return fibre_script(model)
        return None

    def effort(self, model: DeepAttention) -> int:
        """Return the number of parameters, which measures the running time roughly."""
        return model.parameter_count

    def cross_check_all_sizes(self, statements: Sequence[Any]) -> DeepAttentionAllSizes:
        """Decide statements for all widths and ranks, any number of layers, and all t.

        Without any ``statements`` all that have a form for all sizes are decided.
        """
        with importing():
            from m2bridge.families.deep_attention.all_sizes.family import cross_check_deep_attention

        return cross_check_deep_attention(statements)


FAMILY = DeepAttentionNetworks()

"""Of which model the statements on layers and networks are, compared with the model of the file.

A statement that is proved of layers of attention alone is not one on the model in which they stand:
a LayerNorm after each layer of BERT makes the rank of two layers 90 in place of 108. So each
sentence on a layer or a network names, before the word *proved*, what the file and the first line
name and the statement leaves out. Nothing is said of how the model with these parts differs.

Masks are not named, as the functions with a mask and without it correspond one to one; nor are
copies of weights and other models in the same file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from m2bridge.results.sheet import enumeration
from m2bridge.trained_weights.analysis import Analysis
from m2bridge.trained_weights.checkpoints.accounting import ArrayUse
from m2bridge.trained_weights.checkpoints.arrays import file_names
from m2bridge.trained_weights.checkpoints.model_choice import ModelChoice
from m2bridge.trained_weights.checkpoints.tensors import LayerTensors

_UNCHANGED = {
    "masks",
    "states of libraries",
    "states of an optimizer",
    "averages of the weights",
    "models of images or sounds",
}
"""Kinds of arrays without which the model is the same, or which are of another model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What the statements on layers and networks leave out of the model of the file, as nouns."""

    without: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, analysis: Analysis, choice: ModelChoice, uses: Sequence[ArrayUse], *, rotary: bool
    ) -> Self:
        """Return the scope of an analysis; ``uses`` are the uses of all arrays of the file, and
        ``rotary`` is whether its model has rotary positions.
        """
        all_traits = analysis.results.traits.values()
        titles = dict.fromkeys(traits.norm_after for traits in all_traits if traits.norm_after)
        without = [f"the {title} after each layer" for title in titles]
        without += choice.left_out(len(analysis.layers))
        if rotary and not any(traits.rotary for traits in all_traits):
            without.append("rotary positions")
        without += _kinds(uses, analysis.layers)
        return cls(without=tuple(dict.fromkeys(without)))

    @property
    def words(self) -> str:
        """What is left out, as ``without MLPs and norms``; empty if nothing is."""
        return f"without {enumeration(self.without)}" if self.without else ""


def _kinds(uses: Sequence[ArrayUse], layers: Iterable[LayerTensors]) -> Iterator[str]:
    """Yield the kinds of the arrays that are left out and belong to the model, in words."""
    norms_after = [one.norm for one in layers if one.norm is not None and one.norm.place == "post"]
    named_already = file_names(part for norm in norms_after for part in norm.tensors())
    unused = [use for use in uses if use.kind and use.name not in named_already]
    counts = Counter(use.kind for use in unused if use.kind not in _UNCHANGED)
    names = [kind for kind in counts if kind.startswith("'")]
    for kind in counts:
        if kind == "norms" and norms_after:
            yield "further norms"
        elif kind not in names:
            yield _NOUNS.get(kind, kind)
    if len(names) > 2:  # too many to be named
        yield f"{len(names)} further arrays"
    else:
        yield from names


_NOUNS = {"heads of the model": "the head of the model"}
"""Kinds of arrays that would be misread in a sentence on heads of layers."""

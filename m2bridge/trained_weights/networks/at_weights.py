"""The result on one layer or on several layers at given weights, which is one kind of value.

It compares the dimension of the functions with the rank of the differential at the weights. These
are found in ``one_layer``, in ``network`` for layers of matrices alone, and in
``network_with_norms`` for several layers with biases or norms. Weights are a *regular point* where
this rank is the dimension. Texts may be empty; ``None`` is a number that is not known.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from m2bridge.maps.jacobian_rank import FROM_TWO_TOKENS, decide_regular, dimension_facts
from m2bridge.results.known import Bounds
from m2bridge.results.sheet import in_brackets
from m2bridge.trained_weights.networks.symmetries import Symmetries

if TYPE_CHECKING:
    from m2bridge.families.deep_attention.model import DeepAttention


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkAtWeights:
    """A network of one layer or several, at given weights."""

    symmetries: Symmetries  # of generic weights, with parameters and dimension
    rank: int | None = None  # a lower bound for the rank of the differential at these weights
    most_rank: int | None = None  # an upper bound
    method: str = ""  # how ``rank`` was computed
    note: str = ""  # why it is not known, or the theorem by which it is
    tokens: str = FROM_TWO_TOKENS  # for which numbers t of tokens all of this is proved
    # The network without biases, norms, shared matrices and positions; None for a layer with these.
    model: DeepAttention | None = None
    kind: str = ""  # what layers have in addition, in words that follow the title of the model
    # Factors of a group that acts on the weights and keeps the function; empty where the
    # symmetries name it.
    gauge: tuple[str, ...] = ()
    constant: int = 0  # the dimension of the constants that a layer adds to what its heads do
    reason: str = ""  # for the upper bound of the dimension, if it is not the dimension's own
    epsilon: Fraction | None = None  # what norms add to the variance, where the rank depends on it

    def __repr__(self) -> str:
        return in_brackets(self, "parameters", "dimension", "regular")

    @property
    def parameters(self) -> int:
        """The number of entries of all matrices, biases and norms that are counted."""
        return self.symmetries.parameters

    @property
    def dimension(self) -> Bounds:
        """The dimension of the functions."""
        return self.symmetries.dimension

    @property
    def most_dimension(self) -> int:
        """The upper bound of the dimension: without one, the number of parameters."""
        # At least as many directions are redundant as parameters exceed the upper bound.
        return self.parameters - (self.symmetries.redundant.lower or 0)

    @property
    def regular(self) -> bool | None:
        """Whether the weights are a regular point; ``None`` where neither answer is proved."""
        return decide_regular(self.dimension, self.rank, self.most_rank)

    def facts(self, scope: str = "") -> list[tuple[str, object]]:
        """Return facts on the network, but for its symmetries, as pairs of a name and a value;
        ``None`` as a value stands for nothing to say. ``scope`` says what is left out of the model
        of the file, as ``without MLPs``; or is empty.
        """
        facts: list[tuple[str, object]] = []
        if self.model is not None:
            facts.append(("network", f"{self.model.title}{self.kind}"))
        facts += dimension_facts(self.parameters, self.dimension, scope)
        facts.append(("gauge group", " × ".join(self.gauge) or None))
        facts.append(("regular point", self._regular_words(scope)))
        return facts

    def _regular_words(self, scope: str) -> str:
        """Return whether the weights are a regular point, and why, in words."""
        of_model = f", {scope}" if scope else ""
        if self.regular:
            theorem = f" by {self.note}" if self.note else ""
            is_full = f"the rank of the differential is the dimension{self._by_method}"
            return f"yes{of_model} (proved{theorem}: {is_full})"
        if self.regular is False:
            most = f"the rank of the differential is at most {self.most_rank}"
            return f"no{of_model} (proved: {most}, by the ranks of the heads)"
        undecided = self._undecided()
        return f"not decided: {undecided}" if undecided else "not decided"

    @property
    def _by_method(self) -> str:
        """The method after a comma, if there is one."""
        return f", {self.method}" if self.method else ""

    def _undecided(self) -> str:
        """Return why it is not decided whether the weights are a regular point."""
        if self.note or self.rank is None:
            return self.note
        return f"the rank of the differential is at least {self.rank}{self._by_method}"

    def to_json(self) -> dict[str, Any]:
        """Return the values for ``json.dumps``; an empty text, or an unknown bound, is ``None``."""
        reason = self.reason or self.dimension.because or None
        # Why it is not decided whether the weights are a regular point, or how it was.
        note = self._undecided() if self.regular is None else self.note
        found = {
            **(self.model.to_json() if self.model else {}),
            **self.symmetries.to_json(),
            "lower_bound": self.dimension.lower,
            "upper_bound": {"value": self.dimension.upper, "reason": reason},
            "rank_at_weights": self.rank,
            "rank_at_weights_at_most": self.most_rank,
            "regular": self.regular,
            "note": note or None,
            "holds_for": self.tokens,
        }
        if self.gauge:
            found["gauge_group"] = list(self.gauge)
        return found

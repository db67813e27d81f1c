"""The result on one layer or on several layers at given weights, which is one kind of value.

It compares the dimension of the functions with the rank of the differential at the weights. These
are found in ``network`` for layers of matrices alone, in ``symmetries`` for softmax with biases, in
``grouped_layer`` for lightning attention with shared keys or rotary positions, and in
``network_with_norms`` for several layers with biases or norms. Weights are a *regular point* where
this rank is the dimension.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from m2bridge.maps.jacobian_rank import FROM_TWO_TOKENS, decide_regular, dimension_facts
from m2bridge.results.known import Bounds
from m2bridge.trained_weights.networks.groups import Symmetries

if TYPE_CHECKING:
    from m2bridge.families.deep_attention.model import DeepAttention


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkAtWeights:
    """A network of one layer or several, at given weights.

    Parameters
    ----------
    symmetries : Symmetries
        With the parameters and the dimension of the functions, of generic weights.
    rank : int or None
        A lower bound for the rank of the differential at these weights; ``None`` where none is
        known.
    most_rank : int or None
        An upper bound for this rank; ``None`` where none is known.
    method : str
        How ``rank`` was computed; may be empty.
    note : str
        Why ``rank`` is not known; or the theorem by which it is. May be empty.
    tokens : str
        For which numbers t of tokens all of this is proved.
    model : DeepAttention or None
        The network without biases, norms, shared matrices and positions; ``None`` for a layer with
        these.
    kind : str
        What layers have in addition, in words that follow the title of the model.
    gauge : tuple of str
        Factors of a group that acts on the weights and keeps the function; empty where
        ``symmetries`` name it alone.
    constant : int
        The dimension of the constants that a layer adds to what its heads do.
    reason : str
        Why the upper bound of the dimension holds; that of the dimension itself when empty.
    epsilon : Fraction or None
        The number that norms add to the variance, where the rank is one with norms.
    """

    symmetries: Symmetries
    rank: int | None = None
    most_rank: int | None = None
    method: str = ""
    note: str = ""
    tokens: str = FROM_TWO_TOKENS
    model: DeepAttention | None = None
    kind: str = ""
    gauge: tuple[str, ...] = ()
    constant: int = 0
    reason: str = ""
    epsilon: Fraction | None = None

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
        of the file (:mod:`~m2bridge.trained_weights.scope`), as ``without MLPs``; or is empty.
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
            method = f", {self.method}" if self.method else ""
            is_full = f"the rank of the differential is the dimension{method}"
            return f"yes{of_model} (proved{theorem}: {is_full})"
        if self.regular is False:
            most = f"the rank of the differential is at most {self.most_rank}"
            return f"no{of_model} (proved: {most}, by the ranks of the heads)"
        undecided = self._undecided()
        return f"not decided: {undecided}" if undecided else "not decided"

    def _undecided(self) -> str:
        """Return why it is not decided whether the weights are a regular point; may be empty."""
        if self.note or self.rank is None:
            return self.note
        method = f", {self.method}" if self.method else ""
        return f"the rank of the differential is at least {self.rank}{method}"

    def to_json(self) -> dict[str, Any]:
        """Return the values for ``json.dumps``: those of the model and of the symmetries, and the
        bounds for dimension and rank. A text that is empty, or a bound that is not known, is
        ``None``.
        """
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

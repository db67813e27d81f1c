"""Layers whose heads share keys and values, beside the *untied* ones, whose heads share nothing.

Ranks and symmetries are computed of the untied layer, in which each head has its own keys and
values. Its functions are more, so that its dimension is an upper bound; nothing else that is said
of it need hold of the layer with shared ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from m2bridge.results.known import Bounds
from m2bridge.trained_weights.groups import FiniteGroup, Symmetries, products
from m2bridge.trained_weights.layers import AnalysedHeads
from m2bridge.trained_weights.symmetries import SeparateHeads, finite_symmetries

NOT_DECIDED = "heads share keys and values"
"""Why nothing is decided."""
_KEPT = ("holds_for", "widths", "a", "t", "heads", "skip", "normalization")
"""The fields of a network that say which one it is, and for which t."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TiedSymmetries(Symmetries):
    """What is known of layers whose heads share keys and values.

    Parameters
    ----------
    untied : Symmetries
        Of the layers in which each head has its own.
    """

    untied: Symmetries

    @classmethod
    def of(cls, untied: Symmetries, numbers: list[int], found: AnalysedHeads) -> Self:
        """Return what is known of the layers with these numbers, one after the other."""
        are_added = not isinstance(untied, SeparateHeads)
        parameters = untied.parameters
        finite: list[FiniteGroup] = []
        for number in numbers:
            shapes = [head.shape for head in found.of(number)]
            sharing = found.around[number].sharing
            finite += finite_symmetries(shapes, sharing, are_added=are_added)
            first = shapes[0]
            rows_of_V = first.d_out if first.v is None else first.v
            of_one_head = first.a * first.given("K") + rows_of_V * first.given("V")
            parameters -= (len(shapes) - len(shapes) // sharing) * of_one_head
        most = parameters
        if untied.dimension.upper is not None:
            most = min(most, untied.dimension.upper)
        return cls(
            parameters=parameters,
            dimension=Bounds.at_most(most, "the parameters, and the functions of untied heads"),
            named=(),
            listed=Bounds.at_least(0),
            finite=products(finite),
            untied=untied,
        )

    @property
    def others(self) -> bool | None:
        """Whether there are other symmetries: it is not decided."""
        return None

    def words(self) -> str:
        """The words on what the function determines."""
        if isinstance(self.untied, SeparateHeads):
            return self.untied.words()
        return (
            f"{NOT_DECIDED}: of its {self.parameters} parameters the dimension is at most"
            f" {self.dimension.upper}, and what the function determines is not decided"
        )

    def to_json(self) -> dict[str, Any]:
        """The values for ``json.dumps``, and those of the untied layers."""
        return Symmetries.to_json(self) | {"untied": self.untied.to_json()}


@dataclass(frozen=True, slots=True, kw_only=True)
class TiedNetwork:
    """A network at given weights in which heads share keys and values.

    Parameters
    ----------
    symmetries : TiedSymmetries
    untied : NetworkAtWeights, LayersInARow or SoftmaxLayer
        The network in which each head has its own keys and values, at these weights.
    """

    symmetries: TiedSymmetries
    untied: Any

    @property
    def parameters(self) -> int:
        """All entries, those that are shared once."""
        return self.symmetries.parameters

    @property
    def dimension(self) -> Bounds:
        """An upper bound for the dimension of the functions."""
        return self.symmetries.dimension

    @property
    def tokens(self) -> str:
        """For which numbers t of tokens the bounds are proved, and what is said of the untied."""
        tokens: str = self.untied.tokens
        return tokens

    @property
    def regular(self) -> None:
        """Whether the weights are a regular point: it is not decided."""
        return None

    def facts(self) -> Iterator[tuple[str, object]]:
        """Yield names and values for people; those of the untied network are named so."""
        yield "parameters", self.parameters
        yield "dimension", str(self.dimension)
        yield "regular point", f"not decided: {NOT_DECIDED}"
        yield "untied", "the network in which each head has its own keys and values"
        for name, value in self.untied.facts():
            yield f"{name}, untied", value

    def to_json(self) -> dict[str, Any]:
        """The values for ``json.dumps``: what is not known of this network is ``None``."""
        untied = self.untied.to_json()
        found: dict[str, Any] = dict.fromkeys(untied)
        found |= {name: untied[name] for name in _KEPT if name in untied}
        found |= Symmetries.to_json(self.symmetries) | self.dimension.to_json()
        upper = {"value": self.dimension.upper, "reason": self.dimension.because}
        return found | {"upper_bound": upper, "note": NOT_DECIDED, "untied": untied}


def with_shared_keys(
    symmetries: Mapping[int, Symmetries], network: Any, found: AnalysedHeads
) -> tuple[dict[int, Symmetries], Any]:
    """Return what is known of layers and the network, where heads may share keys and values."""
    shared = {number for number, around in found.around.items() if around.sharing > 1}
    layers = {}
    for number, untied in symmetries.items():
        tied = untied
        if number in shared:
            tied = TiedSymmetries.of(untied, [number], found)
        layers[number] = tied
    if network is not None and shared:
        whole = TiedSymmetries.of(network.symmetries, sorted(found.around), found)
        network = TiedNetwork(symmetries=whole, untied=network)
    return layers, network

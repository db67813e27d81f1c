"""Polynomial convolutional networks as a family."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from m2bridge.citation import CONVOLUTIONAL_NETWORKS
from m2bridge.families.base import Family, integer_option, integers_option
from m2bridge.families.convolutional_network.model import ConvolutionalNetwork
from m2bridge.families.convolutional_network.shape import NAME
from m2bridge.families.convolutional_network.statements import STATEMENTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from m2bridge.engine.script import Script
    from m2bridge.statements.statement import Statement


class ConvolutionalNetworks(Family[ConvolutionalNetwork]):
    """The family of convolutional networks, with arbitrary filter sizes and activation degrees."""

    __slots__ = ()

    name = NAME
    title = "polynomial convolutional networks"
    paper = CONVOLUTIONAL_NETWORKS
    model_class = ConvolutionalNetwork
    options = (
        integers_option("filters", "sizes of the filters, from the inputs to the output: 3,2"),
        integer_option(
            "degree",
            "activation degree r: neurons raise to the r-th power",
            default="2",
            symbol="r",
        ),
    )
    # Degree and fibres take Macaulay2, and the dimension of large networks does not.
    observed_separately = True
    modules = ("m2bridge.families.convolutional_network.observation",)
    sample: ClassVar[Mapping[str, str]] = {"filters": "2,2"}

    def from_key(self, key: str) -> ConvolutionalNetwork:
        """Return the network with this key, such as ``3-2-r2``."""
        return ConvolutionalNetwork.from_key(key)

    def statements(self) -> tuple[Statement, ...]:
        """Return the statements about dimension, degree, fibres and singular points."""
        return STATEMENTS

    def program(self, model: ConvolutionalNetwork, key: str) -> Script | None:
        """Return the program of Macaulay2 that finds degree or fibres.

        ``key`` names a statement and its observable. ``None`` for the dimension, and for r = 1.
        """
        from m2bridge.families.convolutional_network.observation import fibres_script, types_for

        if not model.needs_engine({key}):
            return None
        return fibres_script(model, types_for(model, {key}))

    def effort(self, model: ConvolutionalNetwork) -> int:
        """Return the number of parameters, which measures the running time roughly."""
        return model.parameter_count


FAMILY = ConvolutionalNetworks()

"""Polynomial neural networks as a family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from m2bridge.citation import POLYNOMIAL_NETWORKS
from m2bridge.families.base import CaseOption, Family, integer_option, integers_option
from m2bridge.families.polynomial_network.activation import ActivatedNetwork, read_activation
from m2bridge.families.polynomial_network.model import NAME, STATEMENTS, PolynomialNetwork

if TYPE_CHECKING:
    from collections.abc import Mapping

    from m2bridge.statements.statement import Statement


class PolynomialNetworks(Family[PolynomialNetwork]):
    """The family of polynomial networks, with arbitrary widths and activation degrees."""

    __slots__ = ()

    name = NAME
    title = "polynomial neural networks"
    paper = POLYNOMIAL_NETWORKS
    options = (
        integers_option(
            "widths", "widths of all layers, from the inputs to the outputs, such as 2,2,1"
        ),
        integer_option(
            "degree",
            "activation degree r: neurons raise to the r-th power",
            default="2",
            symbol="r",
        ),
        CaseOption(
            "activation",
            read_activation,
            "a polynomial in x instead of the power, such as x^2+x, of the degree --degree",
            required=False,
        ),
    )
    sample: ClassVar[Mapping[str, str]] = {"widths": "2,1"}

    def build(self, **values: Any) -> PolynomialNetwork:
        """Return the network with ``widths``, ``degree`` and perhaps ``activation``.

        Without an activation, or for ``None``, it is the power of this degree.
        """
        if values.get("activation") is None:
            values.pop("activation", None)
            return PolynomialNetwork(**values)
        return ActivatedNetwork(**values)

    def from_key(self, key: str) -> PolynomialNetwork:
        """Return the network with this key, such as ``2-2-1-r2`` or ``2-2-1-p0_1_1``."""
        # only keys of activation polynomials have a p
        if "-p" in key:
            return ActivatedNetwork.from_key(key)
        return PolynomialNetwork.from_key(key)

    def statements(self) -> tuple[Statement, ...]:
        """Return the statements about the expected dimension."""
        return STATEMENTS

    def effort(self, model: PolynomialNetwork) -> int:
        """Return the number of parameters, which measures the running time roughly."""
        return model.parameter_count


FAMILY = PolynomialNetworks()

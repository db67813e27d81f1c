"""Polynomial neural networks as a family."""

from __future__ import annotations

from m2bridge.families.definition import CaseOption, Family, integer, integers
from m2bridge.families.polynomial_network.model import NAME, PolynomialNetwork
from m2bridge.families.polynomial_network.statements import STATEMENTS

FAMILY = Family(
    name=NAME,
    title="polynomial neural networks",
    options=(
        CaseOption("widths", integers, "widths of all layers, from the inputs to the outputs, such as 2,2,1"),
        CaseOption("degree", integer, "activation degree r: neurons raise to the r-th power", default="2"),
    ),
    build=PolynomialNetwork,
    from_key=PolynomialNetwork.from_key,
    statements=lambda: STATEMENTS,
)

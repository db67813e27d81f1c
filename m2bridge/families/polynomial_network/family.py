"""Polynomial neural networks as a family."""

from m2bridge.citation import POLYNOMIAL_NETWORKS
from m2bridge.families.definition import Family, integer_option, integers_option
from m2bridge.families.polynomial_network.model import NAME, STATEMENTS, PolynomialNetwork

FAMILY = Family(
    name=NAME,
    title="polynomial neural networks",
    paper=POLYNOMIAL_NETWORKS,
    options=(
        integers_option("widths", "widths of all layers, from the inputs to the outputs, such as 2,2,1"),
        integer_option("degree", "activation degree r: neurons raise to the r-th power", default="2", symbol="r"),
    ),
    build=PolynomialNetwork,
    from_key=PolynomialNetwork.from_key,
    statements=lambda: STATEMENTS,
    effort=lambda network: network.parameter_count,
)

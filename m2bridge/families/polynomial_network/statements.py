"""What is stated about polynomial networks; predictions only, nothing here is computed from a network."""

from __future__ import annotations

from math import comb

from m2bridge.families.polynomial_network.model import PolynomialNetwork
from m2bridge.maps.statement import Statement

KILEEL_TRAGER_BRUNA = (
    "Kileel, Trager, Bruna, On the Expressive Power of Deep Polynomial Neural Networks, NeurIPS 2019, arXiv 1905.12207"
)
FINKEL_AND_OTHERS = (
    "Finkel, Rodriguez, Wu, Yahl, Activation degree thresholds and expressiveness of polynomial neural networks,"
    " Algebraic Statistics 16 (2025), arXiv 2408.04569"
)


def expected_dimension(network: PolynomialNetwork) -> int:
    """min(Σ_{0<i≤l} d_i d_{i−1} − Σ_{0<i<l} d_i, d_l·C(d_0 − 1 + r^(l−1), r^(l−1)))."""
    d, r = network.widths, network.degree
    l = len(d) - 1
    weights = sum(d[i] * d[i - 1] for i in range(1, l + 1))
    hidden = sum(d[i] for i in range(1, l))
    power = r ** (l - 1)
    return min(weights - hidden, d[l] * comb(d[0] - 1 + power, d[0] - 1))


def _nonlinear(network: PolynomialNetwork) -> str:
    return (
        "" if network.degree >= 2 else "assumes an activation degree r ≥ 2; linear networks have a larger gauge group"
    )


def _equal_widths(network: PolynomialNetwork) -> str:
    return _nonlinear(network) or ("" if len(set(network.widths)) == 1 else "assumes that all widths are equal")


STATEMENTS: tuple[Statement[PolynomialNetwork], ...] = (
    Statement(
        key="expected-dimension",
        part="",
        text=(
            "The network has the expected dimension"
            " min(Σ d_i d_{i−1} − Σ_{0<i<l} d_i, d_l·C(d_0 − 1 + r^(l−1), r^(l−1))). This is an expectation and not a"
            " theorem: networks that refute it are called defective."
        ),
        source=f"{KILEEL_TRAGER_BRUNA}: an upper bound for every network",
        observable="dimension",
        predict=expected_dimension,
        hypotheses=_nonlinear,
    ),
    Statement(
        key="expected-dimension",
        part="equal widths",
        text="A network whose widths are all equal has the expected dimension for every r ≥ 2.",
        source=f"{FINKEL_AND_OTHERS}: a theorem",
        observable="dimension",
        predict=expected_dimension,
        hypotheses=_equal_widths,
    ),
)

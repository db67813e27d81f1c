"""What is stated about polynomial networks; predictions only, nothing here is computed from a network."""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from pathlib import Path

from m2bridge.certificates.wording import wording
from m2bridge.families.polynomial_network.model import PolynomialNetwork
from m2bridge.maps.statement import GlobalStatement

WORDS = wording(Path(__file__).parent / "words.toml")


def expected_dimension(network: PolynomialNetwork) -> int:
    """min(Σ_{0<i≤l} d_i d_{i−1} − Σ_{0<i<l} d_i, d_l·C(d_0 − 1 + r^(l−1), r^(l−1)))."""
    d, r = network.widths, network.degree
    l = len(d) - 1
    weights = sum(d[i] * d[i - 1] for i in range(1, l + 1))
    hidden = sum(d[i] for i in range(1, l))
    power = r ** (l - 1)
    return min(weights - hidden, d[l] * comb(d[0] - 1 + power, d[0] - 1))


def _nonlinear(network: PolynomialNetwork) -> str:
    return "" if network.degree >= 2 else WORDS.hypotheses["nonlinear"]


def _equal_widths(network: PolynomialNetwork) -> str:
    return _nonlinear(network) or ("" if len(set(network.widths)) == 1 else WORDS.hypotheses["equal-widths"])


def _about_dimension(part: str, hypotheses: Callable[[PolynomialNetwork], str]) -> GlobalStatement[PolynomialNetwork]:
    said = WORDS.words("expected-dimension", part)
    return GlobalStatement(
        said.key,
        part,
        said.text,
        said.source,
        said.observable,
        expected_dimension,
        hypotheses,
        WORDS.computed[said.observable],
        WORDS.trusted[said.observable],
    )


STATEMENTS = (_about_dimension("", _nonlinear), _about_dimension("equal widths", _equal_widths))

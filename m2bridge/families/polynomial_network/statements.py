"""The statements about polynomial networks: predictions only, nothing here is computed from a network."""

from collections.abc import Callable
from pathlib import Path

from m2bridge.certificates.wording import wording
from m2bridge.families.polynomial_network.shape import Shape
from m2bridge.maps.statement import GlobalStatement

WORDS = wording(Path(__file__).parent / "words.toml")


def expected_dimension(network: Shape) -> int:
    """min(Σ_{0<i≤l} d_i d_{i−1} − Σ_{0<i<l} d_i, d_l·C(d_0 − 1 + r^(l−1), r^(l−1)))."""
    return min(network.parameter_count - sum(network.widths[1:-1]), network.coordinate_count)


def _nonlinear(network: Shape) -> str:
    return "" if network.degree >= 2 else WORDS.hypotheses["nonlinear"]


def _equal_widths(network: Shape) -> str:
    return _nonlinear(network) or ("" if len(set(network.widths)) == 1 else WORDS.hypotheses["equal-widths"])


def _about_dimension(part: str, hypotheses: Callable[[Shape], str]) -> GlobalStatement[Shape]:
    words = WORDS.words("expected-dimension", part)
    return GlobalStatement(
        words.key,
        part,
        words.text,
        words.source,
        words.observable,
        expected_dimension,
        hypotheses,
        WORDS.computed[words.observable],
        WORDS.trusted[words.observable],
    )


STATEMENTS = (_about_dimension("", _nonlinear), _about_dimension("equal widths", _equal_widths))

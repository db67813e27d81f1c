"""What verdicts for all sizes rest on, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from m2bridge.certificates.wording import wording
from m2bridge.families.deep_attention.all_sizes.counted import Pieces

WORDS = wording(Path(__file__).parent / "words.toml")


@dataclass(frozen=True, slots=True)
class Prediction:
    """A dimension as a sum over the end and the layers; see ``numbers.py`` for the variables.

    Parameters
    ----------
    counts : str
        What is counted, a key of :data:`.counted.LAYERS`.
    end, layer : pairs of condition and number
    end_assumed, layer_assumed : str
        What follows for the variables from the hypotheses of the statement.
    spans : pairs of condition and number
        How the statement defines s_k for k ≥ 2, if it does.
    """

    counts: str
    end: Pieces
    layer: Pieces
    end_assumed: str = ""
    layer_assumed: str = ""
    spans: Pieces = ()


LEAST: Pieces = (("s + 2*x <= r", "s + 2*x"), ("s + 2*x > r", "r"))
"""s_k = min(r_k, s_{k+1} + 2α_k); s_1 = d_0."""
_SPANS = (("k = 1", "n"), *((f"k >= 2 and {where}", f"({u})") for where, u in LEAST))
_SEVERAL = "t >= 2"
WHOLE = "(t >= 2 and p = 0)"
"""t ≥ 2 and k ≤ f: no earlier layer has α = 1."""


def whole_matrices(condition: str, less: int) -> Iterator[tuple[str, str]]:
    """(s_k − s_{k+1})(n − s_k) + α_k(2s_k − α_k)."""
    for where, u in _SPANS:
        yield f"{where} and {condition}", f"({u} - s)*(n - {u}) + x*(2*{u} - x) - {less}"


def symmetric_matrices(condition: str, less: int) -> Iterator[tuple[str, str]]:
    """(s_k − s_{k+1})(n − s_k) + ρ_k(2s_k − ρ_k + 1)/2 with ρ_k = min(2α_k, s_k)."""
    for where, u in _SPANS:
        for rho, known in (("2*x", f"2*x <= {u}"), (u, f"2*x > {u}")):
            number = f"({u} - s)*(n - {u}) + 1/2 * {rho}*(2*{u} - {rho} + 1) - {less}"
            yield f"{where} and {known} and {condition}", number


def equation(less: int) -> Pieces:
    """α_1(2d_0 − α_1), and α_k(2δ − α_k) with r_k = δ for the hidden width δ."""
    return (("k = 1", f"x*(2*n - x) - {less}"), ("k >= 2", f"x*(2*r - x) - {less}"))


_TOWER: Pieces = (("", "s*(n + e - s)"),)
_PAPER: Pieces = (("h = 0", "n*e"), ("h >= 1", "s*(n + e - s)"))
"""δ(d_0 + d_l − δ), or d·d' for a single layer."""
_ONE_WIDTH = "(k = 1 or r = s)"
"""All hidden widths are δ ≤ d_0, d_l: so r_k = δ, and s_{k+1} is between the least width δ and r_{k+1}, for k ≥ 2."""

PREDICTIONS: dict[str, Prediction] = {
    "3.5": Prediction("virtual_weights", _PAPER, equation(0), layer_assumed=_ONE_WIDTH),
    "V": Prediction("virtual_weights", _TOWER, tuple(whole_matrices("1 = 1", 0)), spans=LEAST),
    "3.8": Prediction("lightning", _PAPER, equation(1), layer_assumed=f"{_ONE_WIDTH} and {WHOLE}"),
    "3.9": Prediction("softmax", _PAPER, equation(0), "h = 0", f"k = 1 and {_SEVERAL}"),
    "3.10": Prediction("softmax", _PAPER, equation(0), layer_assumed=f"{_ONE_WIDTH} and {_SEVERAL}"),
    "L": Prediction(
        "lightning", _TOWER, (*whole_matrices(WHOLE, 1), *symmetric_matrices(f"not {WHOLE}", 1)), spans=LEAST
    ),
    "S": Prediction("softmax", _TOWER, (*whole_matrices(_SEVERAL, 0), ("t = 1", "0")), spans=LEAST),
}
"""By the key of the statement, which has one part. The normal form, 3.6, is an identity and no number."""

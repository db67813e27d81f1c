"""The words of statements about single-layer attention, and the hypotheses that they have in
common.

A hypothesis is a function from a case to the reason why it fails there, which is empty where it
holds.
"""

from pathlib import Path

from m2bridge.certificates.wording import wording
from m2bridge.families.attention.sizes import LayerSizes, hilbert_formula_is_too_large

# the words of statements, hypotheses, lemmas and remarks, by their keys in the file
WORDS = wording(Path(__file__).parent / "words.toml")


def several_tokens(shape: LayerSizes) -> str:
    """Return why the hypothesis t ≥ 2 fails for a case, in words; empty if it holds."""
    return "" if shape.t >= 2 else WORDS.hypotheses["several-tokens"]


def paper_hypotheses(shape: LayerSizes) -> str:
    """Return why the hypotheses of the paper from Corollary 3.3 on fail; empty if they hold.

    They are t ≥ 2, and α > 1 or d' > 1.
    """
    if reason := several_tokens(shape):
        return reason
    is_degenerate = shape.alpha == 1 and shape.d_out == 1
    return WORDS.hypotheses["not-degenerate"] if is_degenerate else ""


def nondegenerate(shape: LayerSizes) -> str:
    """Return why one of :func:`paper_hypotheses` or d ≥ 2 fails; empty if all hold.

    We add d ≥ 2, since for d = 1 < d' some statements fail as printed.
    """
    return paper_hypotheses(shape) or two_dimensions(shape)


def two_dimensions(shape: LayerSizes) -> str:
    """Return why one of the hypotheses t ≥ 2 and d ≥ 2 fails; empty if both hold."""
    if reason := several_tokens(shape):
        return reason
    return WORDS.hypotheses["two-dimensions"] if shape.d == 1 else ""


def one_output(shape: LayerSizes) -> str:
    """Return why one of the hypotheses t ≥ 2, d' = 1 and a ≥ d fails; empty if all hold."""
    if reason := several_tokens(shape):
        return reason
    holds = shape.d_out == 1 and shape.alpha == shape.d
    return "" if holds else WORDS.hypotheses["one-output"]


def no_prediction(shape: LayerSizes) -> str:
    """Return why no Hilbert function is predicted for a case; empty if one is.

    No prediction is made for one token, and where computed values contradict the formula.
    """
    if shape.t >= 2 and hilbert_formula_is_too_large(shape):
        return (
            "for d ≥ 4, d' ≥ 2, min(a, d) ≥ 2 the formula is too large in low degrees (at (4, 2, 2)"
            " for n = 2, 3, 4)"
        )
    return several_tokens(shape)

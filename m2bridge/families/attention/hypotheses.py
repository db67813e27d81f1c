"""The words of statements about single-layer attention, and their common hypotheses.

Each function takes the sizes of a case, and returns the reason why a hypothesis fails, in words;
the text is empty where the hypothesis holds.
"""

from pathlib import Path

from m2bridge.certificates.wording import wording
from m2bridge.families.attention.sizes import LayerSizes, hilbert_formula_is_too_large

# the words of statements, hypotheses, lemmas and remarks, by their keys in the file
WORDS = wording(Path(__file__).parent / "words.toml")


def why_not_several_tokens(shape: LayerSizes) -> str:
    """Return why the hypothesis t ≥ 2 fails."""
    return "" if shape.t >= 2 else WORDS.hypotheses["several-tokens"]


def why_outside_paper(shape: LayerSizes) -> str:
    """Return why a hypothesis from Corollary 3.3 on, t ≥ 2 and α > 1 or d' > 1, fails."""
    reason = why_not_several_tokens(shape)
    if reason:
        return reason
    is_degenerate = shape.alpha == 1 and shape.d_out == 1
    return WORDS.hypotheses["not-degenerate"] if is_degenerate else ""


def why_degenerate(shape: LayerSizes) -> str:
    """Return why one of these, or d ≥ 2, fails: for d = 1 < d' some statements are false."""
    return why_outside_paper(shape) or why_not_two_dimensions(shape)


def why_not_two_dimensions(shape: LayerSizes) -> str:
    """Return why one of the hypotheses t ≥ 2 and d ≥ 2 fails."""
    reason = why_not_several_tokens(shape)
    if reason:
        return reason
    return WORDS.hypotheses["two-dimensions"] if shape.d == 1 else ""


def why_not_one_output(shape: LayerSizes) -> str:
    """Return why one of the hypotheses t ≥ 2, d' = 1 and a ≥ d fails."""
    reason = why_not_several_tokens(shape)
    if reason:
        return reason
    # a ≥ d is the same as α = d
    holds = shape.d_out == 1 and shape.alpha == shape.d
    return "" if holds else WORDS.hypotheses["one-output"]


def why_no_prediction(shape: LayerSizes) -> str:
    """Return why no Hilbert function is predicted for a case."""
    if shape.t >= 2 and hilbert_formula_is_too_large(shape):
        return (
            "for d ≥ 4, d' ≥ 2, min(a, d) ≥ 2 the formula is too large in low degrees (at (4, 2, 2)"
            " for n = 2, 3, 4)"
        )
    return why_not_several_tokens(shape)

"""Hypotheses that statements share: why one does not apply to a network; empty if it does."""

from __future__ import annotations

from collections.abc import Callable

from m2bridge.families.deep_attention.model import DeepAttention

Hypothesis = Callable[[DeepAttention], str]

PAPER = "Henry, Marchetti, Kohn, Geometry of Lightning Self-Attention, ICLR 2025, arXiv 2408.17221"
OURS = "m2bridge, docs/deep-attention.md (not in the paper)"


def together(*hypotheses: Hypothesis) -> Hypothesis:
    """The first that fails."""

    def fails(network: DeepAttention) -> str:
        return next(filter(None, (hypothesis(network) for hypothesis in hypotheses)), "")

    return fails


def lightning(network: DeepAttention) -> str:
    """No normalization."""
    return "is about lightning attention, without softmax" if network.softmax else ""


def softmax(network: DeepAttention) -> str:
    """Softmax."""
    return "" if network.softmax else "is about normalized attention (softmax)"


def plain(network: DeepAttention) -> str:
    """One head, no skip connections."""
    return "" if network.is_plain else "is about one head and no skip connections"


def skip(network: DeepAttention) -> str:
    """Skip connections."""
    return "" if network.skip else "is about skip connections"


def one_head(network: DeepAttention) -> str:
    """One head."""
    return "" if network.heads == 1 else "is about one head"


def several_heads(network: DeepAttention) -> str:
    """At least two heads."""
    return "" if network.heads > 1 else "is about several heads"


def no_skip(network: DeepAttention) -> str:
    """No skip connections."""
    return "is about networks without skip connections" if network.skip else ""


def several_tokens(network: DeepAttention) -> str:
    """t ≥ 2."""
    return "" if network.t >= 2 else "assumes t ≥ 2"


def single_layer(network: DeepAttention) -> str:
    """l = 1."""
    return "" if network.layers == 1 else "is about a single layer"


def several_layers(network: DeepAttention) -> str:
    """l ≥ 2."""
    return "" if network.layers > 1 else "is about at least two layers"


def bottleneck(network: DeepAttention) -> str:
    """All hidden widths are one δ ≤ d_0, d_l."""
    hidden = set(network.widths[1:-1])
    if len(hidden) > 1:
        return f"assumes hidden layers of one width; here they are {', '.join(map(str, network.widths[1:-1]))}"
    if hidden and max(hidden) > min(network.widths[0], network.widths[-1]):
        ends = f"{network.widths[0]} and {network.widths[-1]}"
        return f"assumes hidden widths of at most the first and the last one; here {max(hidden)}, {ends}"
    return ""


def ranks_above_one(network: DeepAttention) -> str:
    """All α_k ≥ 2, where α_k = min(a_k, d_{k−1})."""
    ranks = [min(a, d) for a, d in zip(network.a, network.widths, strict=False)]
    if network.layers == 1:
        return "" if ranks[0] > 1 or network.widths[1] > 1 else "assumes α > 1 or d' > 1; here α = d' = 1"
    ones = [k for k, rank in enumerate(ranks, 1) if rank == 1]
    return f"assumes α_k ≥ 2 in all layers; here α_{ones[0]} = 1" if ones else ""


def equal_widths(network: DeepAttention) -> str:
    """One width d ≥ 2 for all layers."""
    if len(set(network.widths)) > 1 or network.widths[0] < 2:
        return "assumes that all widths are one d ≥ 2"
    return ""


def no_hidden_width_one(network: DeepAttention) -> str:
    """d_0, …, d_{l−1} ≥ 2."""
    return "assumes d_0, …, d_{l−1} ≥ 2" if min(network.widths[:-1]) == 1 else ""


def three_threes(network: DeepAttention) -> str:
    """Widths (3, 3, 3), a_1, a_2 ≥ 2, t ≥ 3."""
    known = network.widths == (3, 3, 3) and min(network.a) >= 2 and network.t >= 3
    return "" if known else "is about widths (3, 3, 3), a_1, a_2 ≥ 2 and t ≥ 3"

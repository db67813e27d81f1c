"""Hypotheses that statements share: why one does not apply to a network; empty if it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from m2bridge.certificate.wording import wording
from m2bridge.families.deep_attention.model import DeepAttention

Hypothesis = Callable[[DeepAttention], str]

WORDS = wording(Path(__file__).parents[1] / "words.toml")
_SAID = WORDS.hypotheses


@dataclass(frozen=True, slots=True)
class Together:
    """Several hypotheses; called, the first that fails."""

    hypotheses: tuple[Hypothesis, ...]

    def __call__(self, network: DeepAttention) -> str:
        return next(iter(self.failing(network)), "")

    def failing(self, network: DeepAttention) -> list[str]:
        """All that fail."""
        return list(filter(None, (hypothesis(network) for hypothesis in self.hypotheses)))


def together(*hypotheses: Hypothesis) -> Together:
    """Several as one."""
    return Together(hypotheses)


def failing(hypothesis: Hypothesis, network: DeepAttention) -> list[str]:
    """All parts of a hypothesis that fail."""
    return (hypothesis if isinstance(hypothesis, Together) else together(hypothesis)).failing(network)


def lightning(network: DeepAttention) -> str:
    """No normalization."""
    return _SAID["lightning"] if network.softmax else ""


def softmax(network: DeepAttention) -> str:
    """Softmax."""
    return "" if network.softmax else _SAID["softmax"]


def plain(network: DeepAttention) -> str:
    """One head, no skip connections."""
    return "" if network.is_plain else _SAID["plain"]


def skip(network: DeepAttention) -> str:
    """Skip connections."""
    return "" if network.skip else _SAID["skip"]


def one_head(network: DeepAttention) -> str:
    """One head."""
    return "" if network.heads == 1 else _SAID["one-head"]


def several_heads(network: DeepAttention) -> str:
    """At least two heads."""
    return "" if network.heads > 1 else _SAID["several-heads"]


def no_skip(network: DeepAttention) -> str:
    """No skip connections."""
    return _SAID["no-skip"] if network.skip else ""


def scalings(network: DeepAttention) -> str:
    """A can be scaled against V, if there are no skip connections."""
    return _SAID["scalings"] if network.softmax else ""


def several_tokens(network: DeepAttention) -> str:
    """t ≥ 2."""
    return "" if network.t >= 2 else _SAID["several-tokens"]


def single_layer(network: DeepAttention) -> str:
    """l = 1."""
    return "" if network.layers == 1 else _SAID["single-layer"]


def several_layers(network: DeepAttention) -> str:
    """l ≥ 2."""
    return "" if network.layers > 1 else _SAID["several-layers"]


def one_hidden_width(network: DeepAttention) -> str:
    """All hidden layers have one width."""
    hidden = network.widths[1:-1]
    listed = ", ".join(map(str, hidden))
    return _SAID["one-hidden-width"].format(widths=listed) if len(set(hidden)) > 1 else ""


def narrow(network: DeepAttention) -> str:
    """No hidden layer is wider than the first or the last one."""
    first, *hidden, last = network.widths
    if not hidden or max(hidden) <= min(first, last):
        return ""
    return _SAID["bottleneck"].format(hidden=max(hidden), first=first, last=last)


def ranks_above_one(network: DeepAttention) -> str:
    """All α_k ≥ 2, where α_k = min(a_k, d_{k−1})."""
    ranks = [min(a, d) for a, d in zip(network.a, network.widths, strict=False)]
    if network.layers == 1:
        return "" if ranks[0] > 1 or network.widths[1] > 1 else _SAID["rank-above-one"]
    ones = [k for k, rank in enumerate(ranks, 1) if rank == 1]
    return _SAID["ranks-above-one"].format(layer=ones[0]) if ones else ""


def equal_widths(network: DeepAttention) -> str:
    """One width d ≥ 2 for all layers."""
    if len(set(network.widths)) > 1 or network.widths[0] < 2:
        return _SAID["equal-widths"]
    return ""


def no_hidden_width_one(network: DeepAttention) -> str:
    """d_0, …, d_{l−1} ≥ 2."""
    return _SAID["no-hidden-width-one"] if min(network.widths[:-1]) == 1 else ""


def three_threes(network: DeepAttention) -> str:
    """Widths (3, 3, 3), a_1, a_2 ≥ 2, t ≥ 3."""
    known = network.widths == (3, 3, 3) and min(network.a) >= 2 and network.t >= 3
    return "" if known else _SAID["three-threes"]

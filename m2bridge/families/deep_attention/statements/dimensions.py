"""Statements about the dimension of the functions: predictions only."""

from __future__ import annotations

from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.deep_attention.statements import formulas
from m2bridge.families.deep_attention.statements.hypotheses import (
    OURS,
    PAPER,
    bottleneck,
    equal_widths,
    lightning,
    no_skip,
    one_head,
    plain,
    ranks_above_one,
    several_heads,
    several_layers,
    several_tokens,
    single_layer,
    skip,
    softmax,
    together,
)
from m2bridge.maps.statement import GlobalStatement

EQUATION_14 = "δ(d_0 + d_l − δ) + α_1(2d_0 − α_1) + Σ_{k≥2} α_k(2δ − α_k) − l"
READ = "where α_k = min(a_k, d_{k−1}), hidden layers all of width δ ≤ d_0, d_l"


def _equation_14(network: DeepAttention) -> int:
    return _known(formulas.equation_14(network.widths, network.a))


def _equation_16(network: DeepAttention) -> int:
    return _known(formulas.equation_16(network.widths, network.a))


def _known(value: int | None) -> int:
    """The formulas have no meaning for hidden layers of several widths; hypotheses exclude them."""
    if value is None:
        raise ValueError("no formula for hidden layers of several widths")
    return value


def _skip(network: DeepAttention) -> int:
    return formulas.skip_connections(network.widths[0], network.a, network.t, network.softmax)


def _one_layer_of_heads(network: DeepAttention) -> int:
    d, d_out = network.widths
    return formulas.one_layer_of_heads(d, d_out, network.a[0], network.heads)


def _heads_as_printed(network: DeepAttention) -> int:
    d, d_out = network.widths
    return formulas.heads_as_printed(d, d_out, network.a[0], network.heads)


def _deep_heads(network: DeepAttention) -> int:
    return formulas.deep_heads(network.widths[0], network.a, network.heads, network.skip, network.softmax)


COROLLARY_3_8 = GlobalStatement(
    key="3.8",
    part="",
    text=(
        f"For t ≥ 2 and α_k ≥ 2 in all layers, the neuromanifold of lightning attention has dimension {EQUATION_14}"
        f" (Eq. 14), {READ}. (For one layer this is Corollary 3.3, and α_1 ≥ 2 or d' ≥ 2 suffices.)"
    ),
    source=f"{PAPER}, Corollary 3.8, with the hypotheses of Theorem 3.7 as m2bridge reads them",
    observable="dimension",
    predict=_equation_14,
    hypotheses=together(plain, lightning, several_tokens, bottleneck, ranks_above_one),
)

THEOREM_3_9 = GlobalStatement(
    key="3.9",
    part="",
    text="For one layer, t ≥ 2 and softmax, the neuromanifold has the dimension α(2d − α) + d·d' of the pairs (A, V).",
    source=f"{PAPER}, Theorem 3.9, of which this is a consequence",
    observable="dimension",
    predict=_equation_16,
    hypotheses=together(plain, softmax, several_tokens, single_layer),
)

CONJECTURE_3_10 = GlobalStatement(
    key="3.10",
    part="",
    text=(
        "For t ≥ 2 and softmax, the neuromanifold has the dimension δ(d_0 + d_l − δ) + α_1(2d_0 − α_1)"
        f" + Σ_{{k≥2}} α_k(2δ − α_k) (Eq. 16), {READ}."
    ),
    source=f"{PAPER}, Conjecture 3.10; a theorem for softmax by Theorem S of m2bridge, docs/deep-attention.md",
    observable="dimension",
    predict=_equation_16,
    hypotheses=together(plain, softmax, several_tokens, bottleneck),
)

THEOREM_L = GlobalStatement(
    key="L",
    part="",
    text=(
        "For lightning attention of all widths and ranks, with D_red as in docs/deep-attention.md, the dimension is"
        " D_red(f) − l for t ≥ 2, where f is the first layer with α_k = 1 (l if there is none), and D_red(0) − l for"
        " t = 1."
    ),
    source=OURS,
    observable="dimension",
    predict=lambda network: formulas.theorem_l(network.widths, network.a, network.t),
    hypotheses=together(plain, lightning),
)

THEOREM_S = GlobalStatement(
    key="S",
    part="",
    text=(
        "For softmax attention of all widths and ranks, the dimension for t ≥ 2 is that of the virtual weights; for"
        " t = 1 that of the d_l × d_0 matrices whose rank is at most the least width."
    ),
    source=OURS,
    observable="dimension",
    predict=lambda network: formulas.theorem_s(network.widths, network.a, network.t),
    hypotheses=together(plain, softmax),
)

SKIP_CONNECTIONS = GlobalStatement(
    key="skip",
    part="dimension",
    text=(
        "With skip connections and one head, the dimension for t ≥ 2 is Σ_k (d² + α_k(2d − α_k)), less l for lightning"
        " attention. A conjecture of m2bridge: that it is not more is proved."
    ),
    source=OURS,
    observable="dimension",
    predict=_skip,
    hypotheses=together(skip, one_head),
)

HEADS_AS_PRINTED = GlobalStatement(
    key="heads",
    part="only permutations",
    text=(
        "One layer of H heads has, besides scalings, no symmetries but permutations of the heads, so its dimension is"
        " H(d·d' + α(2d − α) − 1)."
    ),
    source=f"{PAPER}, section 4, as m2bridge reads it",
    observable="dimension",
    predict=_heads_as_printed,
    hypotheses=together(lightning, no_skip, single_layer, several_heads, several_tokens),
)

HEADS = GlobalStatement(
    key="heads",
    part="one layer",
    text=(
        "One layer of H heads has as dimension the least of: H(d·d' + α(2d − α) − 1), for d' = 1 and H ≤ d less"
        " H(H − 1)/2·max(0, 2α − d); h(d·d' + d² − h) with h = min(H, d², d·d'); for d' = 1 and h = min(H, d) the"
        " number h(d − h) + d(d(d + 1) − (d − h)(d − h + 1))/2; d'·d·d(d + 1)/2. A conjecture of m2bridge: that it is"
        " not more is proved."
    ),
    source=OURS,
    observable="dimension",
    predict=_one_layer_of_heads,
    hypotheses=together(lightning, no_skip, single_layer, several_heads, several_tokens),
)

DEEP_HEADS = GlobalStatement(
    key="heads",
    part="several layers",
    text=(
        "Several layers of H heads and of one width d ≥ 2 have as dimension the sum of those of the layers, less"
        " (l − 1)d² without skip connections. A conjecture of m2bridge: that it is not more is proved."
    ),
    source=OURS,
    observable="dimension",
    predict=_deep_heads,
    hypotheses=together(several_layers, several_heads, several_tokens, equal_widths),
)

DIMENSIONS = (
    COROLLARY_3_8,
    THEOREM_3_9,
    CONJECTURE_3_10,
    THEOREM_L,
    THEOREM_S,
    SKIP_CONNECTIONS,
    HEADS_AS_PRINTED,
    HEADS,
    DEEP_HEADS,
)
"""The paper's first."""

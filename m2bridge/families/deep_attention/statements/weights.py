"""Statements about attention matrices, virtual weights, fibres, symmetries and closedness: predictions only."""

from __future__ import annotations

from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.deep_attention.statements import formulas
from m2bridge.families.deep_attention.statements.hypotheses import (
    OURS,
    PAPER,
    bottleneck,
    lightning,
    no_hidden_width_one,
    one_head,
    plain,
    ranks_above_one,
    several_tokens,
    skip,
    three_threes,
    together,
)
from m2bridge.maps.statement import GlobalStatement

READ = "as m2bridge reads it"


def _attention_matrices(network: DeepAttention) -> int:
    pairs = zip(network.widths, network.a, strict=False)
    return network.heads * sum(formulas.matrices_of_rank(d, a) for d, a in pairs)


def _virtual_weights(network: DeepAttention) -> int:
    value = formulas.equation_16(network.widths, network.a)
    assert value is not None  # by the hypothesis on widths
    return value


def _fibre_dimension(network: DeepAttention) -> int:
    n, l = network.widths[0], network.layers
    first = formulas.first_of_rank_one(network.widths, network.a) if network.t > 1 else 0
    return (l - first) * (n * (n - 1) // 2)


def _fibre_degree(network: DeepAttention) -> int:
    widths, a, l = network.widths, network.a, network.layers
    first = formulas.first_of_rank_one(widths, a) if network.t > 1 else 0
    last = min(a[-1], *widths[:-1])
    if min(widths) > 1:
        return 1
    if first == l:
        return 2 if last == 1 else 1
    return 3 if min(2 * last, *widths[:-1]) == 2 else 1


LEMMA_3_1 = GlobalStatement(
    key="3.1",
    part="",
    text=(
        "The attention matrices KᵀQ are all matrices of rank at most α = min(a, d), of dimension α(2d − α) for each"
        " head of each layer."
    ),
    source=f"{PAPER}, Lemma 3.1, {READ}",
    observable="attention_matrices",
    predict=_attention_matrices,
    hypotheses=lambda network: "",
)

LEMMA_3_5 = GlobalStatement(
    key="3.5",
    part="",
    text=(
        "Where all hidden widths are δ ≤ d_0, d_l, the virtual weights have dimension"
        " δ(d_0 + d_l − δ) + α_1(2d_0 − α_1) + Σ_{k≥2} α_k(2δ − α_k)."
    ),
    source=f"{PAPER}, Lemma 3.5, {READ}",
    observable="virtual_weights",
    predict=_virtual_weights,
    hypotheses=together(plain, bottleneck),
)

PROPOSITION_V = GlobalStatement(
    key="V",
    part="",
    text="For all widths and ranks, the virtual weights have the dimension D_virt of docs/deep-attention.md.",
    source=OURS,
    observable="virtual_weights",
    predict=lambda network: formulas.virtual_weights(network.widths, network.a, network.layers),
    hypotheses=plain,
)

LEMMA_3_6 = GlobalStatement(
    key="3.6",
    part="",
    text="The function of lightning attention is P(XXᵀ)X, where P is made of the virtual weights.",
    source=f"{PAPER}, Lemma 3.6, in the shorter form of m2bridge",
    observable="normal_form",
    predict=lambda network: True,
    hypotheses=together(plain, lightning),
)

THEOREM_3_7 = GlobalStatement(
    key="3.7",
    part="points",
    text=(
        "For t ≥ 2, α_k ≥ 2 in all layers, and hidden widths δ ≤ d_0, d_l, the virtual weights of a generic function"
        " are unique up to the scalings of Eq. 13: one simple point."
    ),
    source=f"{PAPER}, Theorem 3.7, {READ}",
    observable="fibre_degree",
    predict=lambda network: 1,
    hypotheses=together(plain, lightning, several_tokens, bottleneck, ranks_above_one),
)

FIBRE_DIMENSION = GlobalStatement(
    key="L",
    part="fibre",
    text=(
        "The virtual weights with a given generic function form, up to scalings, a set of dimension (l − f)n(n − 1)/2"
        " for t ≥ 2, where f is the first layer with α_k = 1 (l if there is none), and l·n(n − 1)/2 for t = 1."
    ),
    source=OURS,
    observable="fibre_dimension",
    predict=_fibre_dimension,
    hypotheses=together(plain, lightning),
)

FIBRE_DEGREE = GlobalStatement(
    key="L",
    part="points",
    text=(
        "That set is a union of linear spaces: one if rk M ≥ 2 (and for rk M = 1, f = l if α_l ≥ 2); two if rk M = 1,"
        " f = l and α_l = 1; if rk M = 1 and f < l (or t = 1) three where Sym A_l has rank 2, and one where it has"
        " more."
    ),
    source=OURS,
    observable="fibre_degree",
    predict=_fibre_degree,
    hypotheses=together(plain, lightning, no_hidden_width_one),
)

SKIP_SCALINGS = GlobalStatement(
    key="skip",
    part="scalings",
    text="Skip connections break the symmetry that scales A against V in a layer.",
    source=f"{PAPER}, section 4, {READ}",
    observable="scalings_keep_the_function",
    predict=lambda network: False,
    hypotheses=together(skip, one_head),
)

SKIP_ONE_TO_ONE = GlobalStatement(
    key="skip",
    part="one-to-one",
    text="With skip connections a generic function determines the weights (A, V) of all layers, up to finitely many.",
    source=f"{PAPER}, section 4, {READ}",
    observable="unseen_weights",
    predict=lambda network: 0,
    hypotheses=together(skip, one_head, several_tokens),
)

NOT_CLOSED = GlobalStatement(
    key="closed",
    part="",
    text=(
        "The neuromanifold of two layers of lightning attention of widths (3, 3, 3), a_1, a_2 ≥ 2 and t ≥ 3 is not"
        " closed: Theorem 3.4 (i) does not carry over."
    ),
    source=OURS,
    observable="closed",
    predict=lambda network: False,
    hypotheses=together(plain, lightning, three_threes),
)

WEIGHTS = (
    LEMMA_3_1,
    LEMMA_3_5,
    PROPOSITION_V,
    LEMMA_3_6,
    THEOREM_3_7,
    FIBRE_DIMENSION,
    FIBRE_DEGREE,
    SKIP_SCALINGS,
    SKIP_ONE_TO_ONE,
    NOT_CLOSED,
)
"""The paper's in its order, each followed by those of m2bridge."""

"""Statements about attention matrices, virtual weights, fibres, symmetries and closedness: predictions only."""

from __future__ import annotations

from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.deep_attention.statements import formulas
from m2bridge.families.deep_attention.statements.hypotheses import (
    lightning,
    narrow,
    no_hidden_width_one,
    one_head,
    one_hidden_width,
    plain,
    ranks_above_one,
    scalings,
    several_tokens,
    skip,
    three_threes,
    together,
)
from m2bridge.families.deep_attention.statements.stated import stated


def _attention_matrices(network: DeepAttention) -> int:
    pairs = zip(network.widths, network.a, strict=False)
    return network.heads * sum(formulas.matrices_of_rank(d, a) for d, a in pairs)


def _virtual_weights(network: DeepAttention) -> int | None:
    return formulas.equation_16(network.widths, network.a)


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


def _virtual_fibre_dimension(network: DeepAttention) -> int:
    widths, a, l = network.widths, network.a, network.layers
    first = formulas.first_of_rank_one(widths, a) if network.t > 1 else 0
    return formulas.virtual_weights(widths, a, l) - formulas.virtual_weights(widths, a, first)


LEMMA_3_1 = stated("3.1", "", _attention_matrices, lambda network: "")

LEMMA_3_5 = stated("3.5", "", _virtual_weights, together(plain, one_hidden_width, narrow), meaning=plain)

PROPOSITION_V = stated(
    "V", "", lambda network: formulas.virtual_weights(network.widths, network.a, network.layers), plain
)

LEMMA_3_6 = stated("3.6", "", lambda network: True, together(plain, lightning))

THEOREM_3_7 = stated(
    "3.7",
    "",
    lambda network: True,
    together(plain, lightning, several_tokens, one_hidden_width, narrow, ranks_above_one),
)

FIBRE_DIMENSION = stated("fibre", "dimension", _fibre_dimension, together(plain, lightning))

FIBRE_DEGREE = stated("fibre", "degree", _fibre_degree, together(plain, lightning, no_hidden_width_one))

VIRTUAL_FIBRE_DIMENSION = stated("fibre", "virtual weights", _virtual_fibre_dimension, together(plain, lightning))

SKIP_SCALINGS = stated("skip", "scalings", lambda network: False, together(skip, one_head, scalings))

SKIP_ONE_TO_ONE = stated("skip", "one-to-one", lambda network: 0, together(skip, one_head, several_tokens))

NOT_CLOSED = stated("closed", "", lambda network: False, together(plain, lightning, three_threes))

WEIGHTS = (
    LEMMA_3_1,
    LEMMA_3_5,
    PROPOSITION_V,
    LEMMA_3_6,
    THEOREM_3_7,
    FIBRE_DIMENSION,
    FIBRE_DEGREE,
    VIRTUAL_FIBRE_DIMENSION,
    SKIP_SCALINGS,
    SKIP_ONE_TO_ONE,
    NOT_CLOSED,
)
"""The paper's in its order, each followed by those of m2bridge."""

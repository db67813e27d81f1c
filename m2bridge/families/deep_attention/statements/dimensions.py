"""Statements about the dimension of the functions: predictions only."""

from __future__ import annotations

from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.deep_attention.statements import formulas
from m2bridge.families.deep_attention.statements.hypotheses import (
    equal_widths,
    lightning,
    narrow,
    no_skip,
    one_head,
    one_hidden_width,
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
from m2bridge.families.deep_attention.statements.stated import stated


def _equation_14(network: DeepAttention) -> int | None:
    return formulas.equation_14(network.widths, network.a)


def _equation_16(network: DeepAttention) -> int | None:
    return formulas.equation_16(network.widths, network.a)


def _skip(network: DeepAttention) -> int:
    return formulas.skip_connections(network.widths[0], network.a, network.t, network.softmax)


def _one_layer_of_heads(network: DeepAttention) -> int:
    d, d_out = network.widths
    return formulas.one_layer_of_heads(d, d_out, network.a[0], network.heads)


def _separate_heads(network: DeepAttention) -> int:
    d, d_out = network.widths
    return formulas.separate_heads(d, d_out, network.a[0], network.heads)


def _deep_heads(network: DeepAttention) -> int:
    return formulas.deep_heads(network.widths[0], network.a, network.heads, network.skip, network.softmax)


COROLLARY_3_8 = stated(
    "3.8",
    "",
    _equation_14,
    together(plain, lightning, several_tokens, one_hidden_width, narrow, ranks_above_one),
    meaning=together(plain, lightning),
)

THEOREM_3_9 = stated("3.9", "", _equation_16, together(plain, softmax, several_tokens, single_layer))

CONJECTURE_3_10 = stated(
    "3.10",
    "",
    _equation_16,
    together(plain, softmax, several_tokens, one_hidden_width, narrow),
    meaning=together(plain, softmax),
)

THEOREM_L = stated(
    "L", "", lambda network: formulas.theorem_l(network.widths, network.a, network.t), together(plain, lightning)
)

THEOREM_S = stated(
    "S", "", lambda network: formulas.theorem_s(network.widths, network.a, network.t), together(plain, softmax)
)

SKIP_CONNECTIONS = stated("skip", "dimension", _skip, together(skip, one_head))

SEPARATE_HEADS = stated(
    "heads",
    "separate heads",
    _separate_heads,
    together(lightning, no_skip, single_layer, several_heads, several_tokens),
)

HEADS = stated(
    "heads", "one layer", _one_layer_of_heads, together(lightning, no_skip, single_layer, several_heads, several_tokens)
)

DEEP_HEADS = stated(
    "heads", "several layers", _deep_heads, together(several_layers, several_heads, several_tokens, equal_widths)
)

DIMENSIONS = (
    COROLLARY_3_8,
    THEOREM_3_9,
    CONJECTURE_3_10,
    THEOREM_L,
    THEOREM_S,
    SKIP_CONNECTIONS,
    SEPARATE_HEADS,
    HEADS,
    DEEP_HEADS,
)
"""The paper's first."""

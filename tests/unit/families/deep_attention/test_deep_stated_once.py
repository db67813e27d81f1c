"""Statements about deep attention stand once, as a table that program and checker read, for one
network and for all sizes. Each row is compared here with its words, by a formula typed a second
time; and a wrong row is refuted by both, as the observables are computed without the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from math import comb
from typing import Any

import pytest

from m2bridge.checker import global_verdict
from m2bridge.families.deep_attention.checker import observables as checker_observables
from m2bridge.families.deep_attention.checker.predictions import (
    Network,
    hypotheses,
    layered_bound,
    prediction,
    read,
    virtual_weights_dimension,
)
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.deep_attention.observation import observe
from m2bridge.families.deep_attention.statements import STATEMENTS, WORDS, Predicted

Key = tuple[str, str]


def all_networks() -> list[DeepAttention]:
    """Of few layers, with all hypotheses true and false."""
    networks = []
    for w, a, t in [
        *product(product((1, 2, 3), repeat=2), product((1, 2, 4), repeat=1), (1, 2)),
        *product(product((1, 2, 3), repeat=3), product((1, 2), repeat=2), (1, 3)),
        *product(product((1, 2), repeat=4), product((1, 2), repeat=3), (1, 2)),
    ]:
        for heads, normalization in product((1, 2, 4), ("none", "softmax")):
            networks.append(DeepAttention(w, a, t, heads, normalization=normalization))
            if len(set(w)) == 1:
                networks.append(replace(networks[-1], skip=True))
    return networks


NETWORKS = all_networks()
CASES = [(network, read(network.to_json())) for network in NETWORKS]


def matrices(n: int, rank: int) -> int:
    """The dimension of the n × n matrices of at most this rank: codimension the corank squared."""
    return n * n - max(0, n - rank) ** 2


def forms(n: int, rank: int) -> int:
    corank = max(0, n - rank)
    return comb(n + 1, 2) - comb(corank + 1, 2)


def equation_16(case: Network) -> int:
    first, *hidden, last = case.widths
    delta = hidden[0] if hidden else min(first, last)
    of_values = first * last - (first - delta) * (last - delta)
    return of_values + sum(matrices(d, a) for d, _, a in case.layers)


def fibre_degree(case: Network) -> int:
    if min(case.widths) > 1:
        return 1
    n = case.widths[0]
    if case.t > 1 and 1 not in case.ranks[:-1]:
        return 2 if case.ranks[-1] == 1 else 1
    # all widths but the last are at least two
    return 3 if case.ranks[-1] == 1 or min(case.widths[:-1]) == 2 or n == 2 else 1


def with_skip_connections(case: Network) -> int:
    d = case.widths[0]
    if case.t == 1:
        each = [0 if case.softmax else d * d + forms(d, 2 * a) - 1 for a in case.a]
        return sum(each) if not case.softmax else d * d
    total = sum(d * d + matrices(d, a) for a in case.a)
    return total if case.softmax else total - len(case.a)


def virtual_fibre(case: Network) -> int:
    whole = virtual_weights_dimension(case, case.depth)
    return whole - virtual_weights_dimension(case, case.last_whole_layer)


def of_softmax(case: Network) -> int:
    n, e, least = case.widths[0], case.widths[-1], min(case.widths)
    if case.t == 1:
        return n * e - (n - least) * (e - least)
    return virtual_weights_dimension(case, case.depth)


BY_HAND: dict[Key, tuple[str, Callable[[Network], Any]]] = {
    ("3.1", ""): (
        "dimension of the matrices of rank at most α = min(a, d), which is α(2d − α), in each head",
        lambda case: case.heads * sum(matrices(d, a) for d, _, a in case.layers),
    ),
    ("3.5", ""): ("δ(d_0 + d_l − δ) + α_1(2d_0 − α_1) + Σ_{k≥2} α_k(2δ − α_k)", equation_16),
    ("V", ""): (
        "the virtual weights have the dimension D_virt",
        lambda case: virtual_weights_dimension(case, case.depth),
    ),
    ("3.6", ""): ("lightning attention is P(XXᵀ)X with P(S) = M Q_{l+1}", lambda case: True),
    ("3.7", ""): ("unique up to the scalings of Eq. 13: one simple point", lambda case: True),
    ("fibre", "dimension"): (
        "(l − f)n(n − 1)/2 for t ≥ 2, where f is the first layer with α_k = 1 (l if there is none),"
        " and l·n(n − 1)/2 for t = 1",
        lambda case: (case.depth - case.last_whole_layer) * comb(case.widths[0], 2),
    ),
    ("fibre", "degree"): (
        "degree 1 if rk M ≥ 2 (and for rk M = 1, f = l if α_l ≥ 2); 2 if rk M = 1, f = l and"
        " α_l = 1; if rk M = 1 and f < l (or t = 1) 3 where Sym A_l has rank 2, and 1",
        fibre_degree,
    ),
    ("fibre", "virtual weights"): ("a set of dimension D_virt − D_red(f) for t ≥ 2", virtual_fibre),
    ("skip", "scalings"): ("Skip connections break the symmetry", lambda case: False),
    ("skip", "one-to-one"): ("determines the weights (A, V) of all layers, up to", lambda case: 0),
    ("closed", ""): ("is not closed", lambda case: False),
    ("3.8", ""): (
        "+ Σ_{k≥2} α_k(2δ − α_k) − l (Eq. 14)",
        lambda case: equation_16(case) - case.depth,
    ),
    ("3.9", ""): ("the dimension α(2d − α) + d·d' of the pairs (A, V)", equation_16),
    ("3.10", ""): ("δ(d_0 + d_l − δ) + α_1(2d_0 − α_1) + Σ_{k≥2} α_k(2δ − α_k)", equation_16),
    ("L", ""): (
        "the dimension is D_red(f) − l for t ≥ 2, where f is the first layer with α_k = 1 (l if"
        " there is none), and D_red(0) − l for t = 1",
        lambda case: virtual_weights_dimension(case, case.last_whole_layer) - case.depth,
    ),
    ("S", ""): ("for t = 1 that of the d_l × d_0 matrices whose rank is at most", of_softmax),
    ("skip", "dimension"): (
        "Σ_k (d² + α_k(2d − α_k)), less l for lightning attention; for t = 1 it is"
        " Σ_k (d² + ρ_k(2d − ρ_k + 1)/2 − 1) with ρ_k = min(2α_k, d), and d² for softmax",
        with_skip_connections,
    ),
    ("heads", "separate heads"): (
        "H(d·d' + α(2d − α) − 1)",
        lambda case: case.heads * (matrices(case.widths[0], case.a[0]) - 1 + prod(case.widths)),
    ),
    ("heads", "one layer"): (
        "the least of: H(d·d' + α(2d − α) − 1), for d' = 1 and H ≤ d less"
        " H(H − 1)/2·max(0, 2α − d); h(d·d' + d² − h) with h = min(H, d², d·d'); for d' = 1 and"
        " h = min(H, d) the number h(d − h) + d(d(d + 1) − (d − h)(d − h + 1))/2; d'·d·d(d + 1)/2",
        layered_bound,
    ),
    ("heads", "several layers"): (
        "the sum of the numbers of heads (one layer), or for softmax of H(d² + α_k(2d − α_k)), less"
        " (l − 1)d² without skip connections",
        layered_bound,
    ),
}
"""The part of each sentence that says what is predicted, and this by hand."""


def prod(numbers: tuple[int, ...]) -> int:
    first, second = numbers
    return first * second


STATED = {(words.key, words.part): words for words in WORDS.statements}
PROGRAM = {(one.key, one.part): one for one in STATEMENTS}


def test_each_row_is_compared() -> None:
    assert STATED.keys() == BY_HAND.keys() == PROGRAM.keys()


@pytest.mark.parametrize("key", BY_HAND, ids=lambda key: " ".join(key).strip())
def test_a_formula_is_what_the_sentence_says(key: Key) -> None:
    words, (sentence, by_hand) = STATED[key], BY_HAND[key]
    assert sentence in words.text
    compared = 0
    for network, case in CASES:
        if not PROGRAM[key].hypotheses(network):
            compared += 1
            assert prediction(case, words) == PROGRAM[key].predict(network) == by_hand(case)
    # three threes are the smallest of their kind
    assert compared >= 5 or key == ("closed", "")


OUTSIDE = {
    ("3.5", ""): "plain one-hidden-width",
    ("3.8", ""): "plain lightning one-hidden-width",
    ("3.10", ""): "plain softmax one-hidden-width",
}
"""What a formula needs to have a meaning, where it has one without some hypotheses."""


def test_where_a_formula_has_a_meaning() -> None:
    """Elsewhere it predicts nothing: some hypothesis fails there."""
    for key, words in STATED.items():
        meaning = tuple(OUTSIDE[key].split()) if key in OUTSIDE else words.assumes
        assert (words.meaning or words.assumes) == meaning
        for network, case in CASES[::5]:
            is_stated = all(HYPOTHESES[name][1](network) for name in meaning)
            assert (prediction(case, words) is not None) == is_stated
            assert (PROGRAM[key].predict(network) is not None) == is_stated


def of_rank_one(network: DeepAttention) -> bool:
    return any(min(a, d) == 1 for d, _, a in network.layer_sizes)


HYPOTHESES: dict[str, tuple[str, Callable[[DeepAttention], bool]]] = {
    "lightning": ("lightning attention, without softmax", lambda n: n.normalization == "none"),
    "softmax": ("is about normalized attention (softmax)", lambda n: n.normalization != "none"),
    "plain": ("one head and no skip connections", lambda n: (n.heads, n.skip) == (1, False)),
    "skip": ("is about skip connections", lambda n: n.skip is True),
    "one-head": ("is about one head", lambda n: n.heads < 2),
    "several-heads": ("is about several heads", lambda n: n.heads != 1),
    "no-skip": ("networks without skip connections", lambda n: n.skip is False),
    "scalings": ("vacuous for softmax", lambda n: n.normalization == "none"),
    "several-tokens": ("assumes t ≥ 2", lambda n: n.t != 1),
    "single-layer": ("is about a single layer", lambda n: len(n.a) == 1),
    "several-layers": ("is about at least two layers", lambda n: len(n.a) != 1),
    "one-hidden-width": (
        "assumes hidden layers of one width",
        lambda n: len({*n.widths[1:-1]}) < 2,
    ),
    "bottleneck": (
        "hidden widths of at most the first and the last one",
        lambda n: all(w <= n.widths[0] and w <= n.widths[-1] for w in n.widths[1:-1]),
    ),
    "ranks-above-one": (
        "assumes α_k ≥ 2 in all layers",
        lambda n: len(n.a) == 1 or not of_rank_one(n),
    ),
    "rank-above-one": (
        "assumes α > 1 or d' > 1",
        lambda n: len(n.a) > 1 or n.widths[1] > 1 or not of_rank_one(n),
    ),
    "equal-widths": ("all widths are one d ≥ 2", lambda n: {*n.widths} in ({2}, {3}, {4})),
    "no-hidden-width-one": ("no width but the last one is 1", lambda n: 1 not in n.widths[:-1]),
    "three-threes": (
        "widths (3, 3, 3), a_1, a_2 ≥ 2 and t ≥ 3",
        lambda n: n.widths == (3, 3, 3) and 1 not in n.a and n.t >= 3,
    ),
}
"""What is said of each hypothesis, and when it holds."""


@pytest.mark.parametrize("name", HYPOTHESES)
def test_conditions_of_hypotheses(name: str) -> None:
    assert WORDS.conditions.keys() == HYPOTHESES.keys()
    phrase, holds = HYPOTHESES[name]
    assert phrase in WORDS.hypotheses[name]
    words = replace(STATED["L", ""], assumes=(name,))
    seen = set()
    for network, case in [*CASES, *((n, read(n.to_json())) for n in MORE)]:
        failing = hypotheses(case, words)
        assert (not failing) == holds(network), network
        assert "{" not in "".join(failing)
        seen.add(not failing)
    assert seen == {True, False}


MORE = [
    DeepAttention((3, 3, 3), (2, 3), 3),
    DeepAttention((2, 3, 2, 3), 2),
    DeepAttention((3, 1), 2),
]


WRONG: dict[Key, tuple[DeepAttention, dict[str, str]]] = {
    ("3.1", ""): (DeepAttention((3, 2), 2), {"each_layer": "2 * H * rank * d"}),
    ("3.5", ""): (DeepAttention((3, 2, 3), 2), {"value": "n * e"}),
    ("V", ""): (DeepAttention((2, 3, 2), 1), {"each_layer": "alpha * (2 * r - alpha) - 1"}),
    ("3.6", ""): (DeepAttention((2, 2), 2), {"value": "False"}),
    ("3.7", ""): (DeepAttention((2, 2), 2), {"value": "False"}),
    ("fibre", "dimension"): (DeepAttention((2, 2, 1), (1, 2)), {"value": "0"}),
    ("fibre", "degree"): (DeepAttention((2, 2, 1), (2, 1)), {"value": "1"}),
    ("fibre", "virtual weights"): (DeepAttention((2, 2, 2), (1, 2)), {"each_layer": "0"}),
    ("closed", ""): (DeepAttention((3, 3, 3), 2, 3), {"value": "True"}),
    ("3.8", ""): (DeepAttention((3, 3, 3), 2), {"each_layer": "rank * (2 * d - rank)"}),
    ("3.9", ""): (DeepAttention((2, 2), 1, normalization="softmax"), {"value": "0"}),
    ("3.10", ""): (
        DeepAttention((2, 2, 2), 1, normalization="softmax"),
        {"each_layer": "rank * (2 * d - rank) - 1"},
    ),
    ("L", ""): (
        DeepAttention((3, 3, 3), (1, 2)),
        {"each_layer": "(u - s) * (n - u) + alpha * (2 * u - alpha) - 1"},
    ),
    ("S", ""): (DeepAttention((2, 1, 2), 1, normalization="softmax"), {"value": "n * e"}),
    ("skip", "dimension"): (
        DeepAttention((2, 2), 2, skip=True),
        {"each_layer": "d * d + rank * (2 * d - rank)"},
    ),
    ("heads", "one layer"): (
        DeepAttention((3, 3), 3, heads=2),
        {"value": "H * (n * e + alpha_l * (2 * n - alpha_l) - 1)"},
    ),
    ("heads", "several layers"): (DeepAttention((2, 2, 2), 2, heads=2), {"value": "0"}),
}
"""A network for which a statement is true, and a wrong formula for it."""
FALSE = {("skip", "scalings"), ("skip", "one-to-one"), ("heads", "separate heads")}
"""The statements that are refuted as they stand."""
BY_MACAULAY2 = {"fibre_is_one_point", "fibre_dimension", "fibre_degree", "closed"}


def test_a_wrong_value_is_tried_for_each_row() -> None:
    assert WRONG.keys() | FALSE == STATED.keys()


@pytest.mark.parametrize("key", WRONG, ids=lambda key: " ".join(key).strip())
def test_a_wrong_value_in_the_table_is_refuted_by_program_and_checker(key: Key) -> None:
    """The observable is computed without the table, by both."""
    network, wrong = WRONG[key]
    case = read(network.to_json())
    words = STATED[key]
    seen, _ = checker_observables.observe(case, words.observable)
    for row, expected in ((words, "CONFIRMED"), (replace(words, **wrong), "REFUTED")):  # type: ignore[arg-type]
        predicted = prediction(case, row)
        hypothesis = next(iter(hypotheses(case, row)), None)
        assert hypothesis is None
        assert global_verdict(row, hypothesis, predicted, seen)["verdict"] == expected
        assert Predicted(row)(network) == predicted
        if words.observable not in BY_MACAULAY2:
            computed = observe(network, words.observable).exact_value
            assert (computed == predicted) == (expected == "CONFIRMED")

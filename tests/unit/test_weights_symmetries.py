"""Finite symmetries of layers: their orders against all permutations, tried on the forward pass."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product
from random import Random
from typing import Any

import numpy
import pytest

from m2bridge import weights
from m2bridge.algebra.symmetry_groups import FiniteGroup, products
from tests.forward_pass import Layer, Parameters, attention, constant, drawn, drawn_tokens, residues

PERMUTATIONS = "permutations of heads"
EXCHANGE = "exchange of k and v in A = k qᵀ, V = h vᵀ"


def outputs(layer: Layer, p: Parameters) -> list[int]:
    """The outputs at random tokens, exactly; the exponential of a score is a function of it."""
    X = constant(drawn_tokens(layer, Random(1), epsilon=1))
    values = {name: residues(array) for name, array in p.items()}
    scores = numpy.array([values["K"][h] @ X.value for h in range(layer.heads)])
    queries = numpy.array([values["Q"][h] @ X.value for h in range(layer.heads)])
    exponentials = numpy.empty((layer.heads, layer.tokens, layer.tokens), dtype=object)
    for h, s, j in numpy.ndindex(exponentials.shape):
        score = int((scores[h][:, s] * queries[h][:, j]).sum()) % (2**31 - 1)
        exponentials[h, s, j] = Random(score).randrange(1, 2**31 - 1)
    found = attention(layer, {x: constant(value) for x, value in values.items()}, X, exponentials)
    return [int(number) for number in found.value.ravel()]


def shared(p: Parameters, sharing: int) -> tuple[Parameters, dict[str, Any]]:
    """The parameters of all heads where K and V are shared, and the arrays of the file."""
    p = dict(p)
    file = {}
    for letter in "KV":
        blocks = p[letter][::sharing]
        p[letter] = blocks.repeat(sharing, 0)
        file[letter] = blocks.reshape(-1, blocks.shape[-1])
    file["Q"] = p["Q"].reshape(-1, p["Q"].shape[-1])
    file["O"] = numpy.concatenate(list(p["O"]), 1)
    return p, file


def permuted(p: Parameters, sharing: int) -> Iterator[Parameters]:
    """The parameters after each permutation of queries and outputs, and of the shared K and V."""
    heads = len(p["Q"])
    for order in permutations(range(heads)):
        for blocks in permutations(range(heads // sharing)):
            keys = numpy.array(blocks)[numpy.arange(heads) // sharing] * sharing
            moved = {x: p[x][list(order)] for x in "QO"} | {x: p[x][keys] for x in "KV"}
            yield p | moved


def listed(found: Any) -> dict[str, int]:
    (layer,) = found.to_json()["layers"]
    return {part["name"]: part["order"] for part in layer["symmetries"] if "order" in part}


@pytest.mark.parametrize("softmax", [False, True])
@pytest.mark.parametrize(("heads", "sharing"), [(2, 1), (3, 1), (4, 2), (3, 3), (4, 4)])
def test_the_order_is_the_number_of_permutations_that_keep_the_function(
    heads: int, sharing: int, softmax: bool
) -> None:
    layer = Layer(4, 3, 2, v=2, heads=heads, softmax=softmax)
    p, file = shared(drawn(layer, 1), sharing)
    expected = outputs(layer, p)
    kept = sum(outputs(layer, moved) == expected for moved in permuted(p, sharing))
    normalization = "softmax" if softmax else "none"
    found = weights(file, heads=heads, normalization=normalization)
    assert listed(found) == {PERMUTATIONS: kept}


@pytest.mark.parametrize("softmax", [False, True])
@pytest.mark.parametrize(("sharing", "v"), [(1, 1), (2, 1), (2, 2)])
def test_exchanges_of_k_and_v_are_those_that_keep_the_function(
    sharing: int, v: int, softmax: bool
) -> None:
    """In each head alone, or in all heads that share the two; V has one row or O has one."""
    layer = Layer(4, 2 if v == 1 else 1, 1, v=v, heads=4, softmax=softmax)
    p, file = shared(drawn(layer, 2), sharing)
    expected = outputs(layer, p)
    groups = layer.heads // sharing
    kept = 0
    for chosen in product((False, True), repeat=groups):
        exchanged = numpy.array(chosen).repeat(sharing)[:, None, None]
        if v == 1:
            K, V = (numpy.where(exchanged, p[x], p[y]) for x, y in ("VK", "KV"))
            kept += outputs(layer, p | {"K": K, "V": V}) == expected
        else:
            # k becomes OV, which has to be the same for all heads of a group.
            K = numpy.where(exchanged, p["O"] @ p["V"], p["K"]).reshape(groups, sharing, -1)
            kept += bool((K[:, :1] == K).all())
    found = weights(file, heads=4, normalization="softmax" if softmax else "none")
    assert listed(found).get(EXCHANGE, 1) == kept
    assert kept == (1 if softmax or v == 2 else 2**groups)


def test_mixed_heads_and_those_side_by_side_have_no_permutations_of_their_own() -> None:
    """GL(H) has them among its elements; without an output matrix each head has its place."""
    layer = Layer(2, 2, 2, v=2, heads=2)
    p, file = shared(drawn(layer, 3), 1)
    assert listed(weights(file, heads=2)) == {}
    del file["O"]
    assert listed(weights(file, heads=2)) == {}
    # In softmax attention heads cannot be mixed.
    assert listed(weights(K=p["K"], Q=p["Q"], V=p["V"], normalization="softmax")) == {
        PERMUTATIONS: 2
    }


def test_layers_have_products_and_the_text_has_the_group() -> None:
    layer = Layer(4, 4, 2, v=2, heads=3)
    arrays = {}
    for number in range(2):
        _, file = shared(drawn(layer, number), 1)
        arrays |= {f"{letter}{number}": array for letter, array in file.items()}
    found = weights(arrays, heads=3)
    words = " ".join(str(found).split())
    assert "permutations of heads (S(3), order 3! = 6)" in words
    assert "permutations of heads ((S(3))^2, order (3!)^2 = 36)" in words
    *_, last = found.to_json()["network"]["symmetries"]
    expected = {"group": "(S(3))^2", "order": 36, "order_formula": "(3!)^2"}
    assert last == {"name": PERMUTATIONS, "dimension": 0, **expected}


def test_groups_of_heads_that_share_keys_are_in_print() -> None:
    _, file = shared(drawn(Layer(4, 3, 2, v=2, heads=4), 1), 2)
    found = weights(file, heads=4)
    assert "(S(2) wr S(2), order (2!)^2·2! = 8)" in " ".join(str(found).split())
    # A sign without a letter in print is written by its number.
    assert "U+" not in found.to_latex()


def test_an_order_of_many_digits_is_a_formula_in_json() -> None:
    groups = [FiniteGroup.permutations(PERMUTATIONS, 128, block=8)] * 80
    (group,) = products(groups)
    content = json.loads(json.dumps(group.to_json()))
    assert content["order"] is None
    assert content["order_formula"] == "((8!)^16·16!)^80"
    assert str(group).endswith("order ((8!)^16·16!)^80)")
    assert group.order == FiniteGroup.permutations("", 128, block=8).order ** 80


def test_layers_with_other_numbers_of_heads_have_a_product() -> None:
    sizes = [(2, 1), (3, 1), (2, 1)]
    groups = [FiniteGroup.permutations(PERMUTATIONS, number, block) for number, block in sizes]
    (group,) = products(groups)
    assert group.order == 2 * 6 * 2
    assert group.symbol == "(S(2))^2 × (S(3))"
    assert replace(group, name="x").formula == "(2!)^2·3!"


@pytest.mark.parametrize("biases", ["", "QKV"])
def test_one_layer_of_softmax_is_determined_up_to_its_listed_symmetries(biases: str) -> None:
    """Other layers have finitely many others, which nobody has counted."""
    layer = Layer(4, 4, 2, v=2, heads=2, biases=biases)
    p = drawn(layer, 4)
    _, file = shared(p, 1)
    for letter in biases:
        file[f"{letter}_bias"] = p[f"{letter}_bias"].ravel()
    softmax = " ".join(str(weights(file, heads=2, normalization="softmax")).split())
    assert "listed symmetries: up to these, generic weights are determined" in softmax
    lightning = " ".join(str(weights(file, heads=2)).split())
    assert "up to these and finitely many others, generic weights" in lightning


@pytest.mark.parametrize("tokens", [2, 3])
def test_signs_of_two_heads_are_hidden_where_their_values_cancel_for_two_tokens(
    tokens: int,
) -> None:
    """(A, V), (B, −V) have the function of (−A, −V), (−B, V) for two tokens, but not for three."""

    def function(A: Any, B: Any, V: Any) -> Any:
        total = 0
        for attention_matrix, values in ((A, V), (B, -V)):
            scores = numpy.exp(X.T @ attention_matrix @ X)
            total = total + values @ X @ (scores / scores.sum(0))
        return total

    random = numpy.random.default_rng(1)
    A, B, V, X = (random.standard_normal((3, n)) for n in (3, 3, 3, tokens))
    same = bool(numpy.allclose(function(A, B, V), function(-A, -B, -V)))
    assert same is (tokens == 2)

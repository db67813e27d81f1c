"""Layers and networks with biases and norms: what is said of them against their real forward pass.

Ranks of its Jacobian matrix are those of :mod:`tests.forward_pass`, which knows no lemma and shares
nothing with the ranks of m2bridge, that are computed in balls where there are roots.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, permutations, product
from random import Random
from typing import Any

import numpy
import pytest

from m2bridge import weights
from m2bridge.errors import InvalidCaseError
from m2bridge.trained_weights.facts import FACTOR_OF_SCORES
from m2bridge.trained_weights.networks import series
from m2bridge.trained_weights.networks.network_with_norms import BEHIND_LAYER_NORM
from m2bridge.trained_weights.networks.symmetries import FiniteGroup, products
from tests.forward_pass import (
    Layer,
    Parameters,
    attention,
    constant,
    drawn,
    drawn_tokens,
    exact_network_rank,
    exact_rank,
    residues,
)


def state_of(ps: list[Parameters]) -> dict[str, Any]:
    """A state dict of these layers with the names of GPT-2."""
    state = {}
    for k, p in enumerate(ps):
        matrices = [p[x].reshape(-1, p[x].shape[2]) for x in "QKV"]
        block = f"h.{k}"
        state[f"{block}.attn.c_attn.weight"] = numpy.concatenate(matrices).T
        if "Q_bias" in p:
            biases = [p[f"{x}_bias"].ravel() for x in "QKV"]
            state[f"{block}.attn.c_attn.bias"] = numpy.concatenate(biases)
        state[f"{block}.attn.c_proj.weight"] = numpy.concatenate(list(p["O"]), 1).T
        names = {"O_bias": "attn.c_proj.bias", "gamma": "ln_1.weight", "beta": "ln_1.bias"}
        for letter, name in names.items():
            if letter in p:
                state[f"{block}.{name}"] = p[letter]
    return state


def network_of(layers: list[Layer], ps: list[Parameters], skip: bool) -> Any:
    first = layers[0]
    return weights(
        state_of(ps),
        heads=first.heads,
        skip=skip,
        norm=first.norm or None,
        normalization="softmax" if first.softmax else "none",
    ).network


def layer(heads: int = 2, d: int = 2, **parts: Any) -> Layer:
    return Layer(d, d, d // heads, v=d // heads, heads=heads, **parts)


BIASED: dict[str, Any] = {"biases": "QKV", "output_bias": True}
BEHIND: dict[str, Any] = {**BIASED, "norm": "layer", "beta": True}
TWICE = {
    "biases": (layer(**BIASED), False),
    "biases, skip": (layer(**BIASED), True),
    "biases without that of the outputs": (layer(biases="QKV"), False),
    "LayerNorm, skip": (layer(norm="layer"), True),
    "LayerNorm and biases": (layer(1, 3, **BEHIND), False),
    "LayerNorm and biases, skip": (layer(**BEHIND), True),
    "RMSNorm": (layer(norm="rms"), False),
    "RMSNorm and biases, skip": (layer(**BIASED, norm="rms"), True),
    "softmax and biases": (layer(**BIASED, softmax=True), False),
    "softmax and biases, skip": (layer(**BIASED, softmax=True), True),
    "softmax behind LayerNorm": (layer(**BEHIND, softmax=True), False),
    "softmax behind LayerNorm, skip": (layer(**BEHIND, softmax=True), True),
    "softmax behind RMSNorm": (layer(norm="rms", softmax=True), False),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TWICE)
def test_the_dimension_is_the_rank_of_the_forward_pass(name: str) -> None:
    """Both bounds meet, all redundant directions are named, and the weights are regular."""
    one, skip = TWICE[name]
    ps = [drawn(one, seed) for seed in (1, 2)]
    network = network_of([one, one], ps, skip)
    rank = exact_network_rank([one, one], ps, skip)
    found = network.to_json()
    assert found["parameters"] == sum(array.size for p in ps for array in p.values())
    assert found["dimension"] == found["rank_at_weights"] == rank
    assert found["lower_bound"] == found["upper_bound"]["value"] == rank
    assert found["redundant"] == found["parameters"] - rank == found["listed_symmetries"]
    assert sum(part["dimension"] for part in found["symmetries"]) == found["redundant"]
    assert found["unnamed"] == 0
    assert found["other_symmetries"] is False
    assert network.regular is True
    assert found["note"] is None


ALMOST_ALL = "t = 2 and all but finitely many t"


@pytest.mark.parametrize("skip", [False, True])
def test_for_which_numbers_of_tokens_a_network_is_decided(skip: bool) -> None:
    """A rank for two tokens holds for all but finitely many numbers, but where tokens may be 0."""
    said = {}
    for name, parts in {
        "lightning": {},
        "softmax": {"softmax": True},
        "biases": BIASED,
        "norm": {"norm": "rms"},
    }.items():
        one = layer(**parts)
        ps = [drawn(one, seed) for seed in (1, 2)]
        found = weights(
            state_of(ps),
            heads=2,
            skip=skip,
            norm=one.norm or None,
            normalization="softmax" if one.softmax else "none",
        )
        said[name] = found.to_json()["network"]["holds_for"]
        (title, *_) = str(found).splitlines()
        assert title.endswith(", t ≥ 2") is (said[name] == "t ≥ 2")
        assert (f"(the network: {ALMOST_ALL})" in title) is (said[name] == ALMOST_ALL)
    assert said["lightning"] == "t ≥ 2"
    assert said["biases"] == said["norm"] == ALMOST_ALL


@pytest.mark.slow
def test_three_layers() -> None:
    three = [layer(**BIASED)] * 3
    ps = [drawn(one, seed) for seed, one in enumerate(three, 1)]
    found = network_of(three, ps, skip=False)
    assert found.dimension.exact == exact_network_rank(three, ps, skip=False)
    assert found.regular


PLANTED = ["biases", "biases, skip", "LayerNorm and biases", "softmax and biases, skip"]


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.parametrize("place", [0, 1])
def test_a_singular_head_makes_a_network_critical(name: str, place: int) -> None:
    """The dimension is that of generic weights; the rank at these is less, and bounded above."""
    _, skip = TWICE[name]
    # A has rank 2 on the coordinates of tokens, of which LayerNorm takes one.
    d = 3 if "LayerNorm" in name else 2
    one = replace(TWICE[name][0], d=d, d_out=d, a=2, v=2, heads=1)
    ps = [drawn(one, seed) for seed in (1, 2)]
    regular = network_of([one, one], ps, skip)
    assert regular.regular is True
    for x in ("K", "K_bias"):
        ps[place][x][0, 1] = 2 * ps[place][x][0, 0]
    rank = exact_network_rank([one, one], ps, skip)
    network = network_of([one, one], ps, skip)
    assert network.dimension.exact == regular.dimension.exact
    assert network.rank == rank < network.dimension.exact
    assert rank <= network.most_rank < network.dimension.exact
    assert network.regular is False


def plain_network(ps: list[Parameters], *, skip: bool = False, softmax: bool = False) -> Any:
    """The network of layers without biases and norms."""
    state = {f"{k}.{x}": p[x] for k, p in enumerate(ps) for x in "KQVO"}
    return weights(state, skip=skip, normalization="softmax" if softmax else "none").network


def test_heads_with_A_zero_show_their_scores_only() -> None:
    """All functions for d = 1 and d' = 11 have dimension 11, and the rank at A = 0 is 2."""
    one = Layer(1, 11, 1, v=1, heads=2)
    p = drawn(one, 1)
    p["K"] = 0 * p["K"]
    network = plain_network([p])
    assert network.dimension.exact == 11
    assert network.rank == network.most_rank == exact_rank(one, p) == 2
    assert network.regular is False


@pytest.mark.parametrize("softmax", [False, True])
@pytest.mark.parametrize("place", [0, 1])
def test_a_layer_that_is_zero_hides_the_others(place: int, softmax: bool) -> None:
    two = [Layer(3, 2, 2, v=2, softmax=softmax), Layer(2, 1, 1, v=1, softmax=softmax)]
    ps = [drawn(one, seed) for seed, one in enumerate(two)]
    ps[place]["V"] = 0 * ps[place]["V"]
    network = plain_network(ps, softmax=softmax)
    rank = exact_network_rank(two, ps, skip=False)
    assert network.rank == rank <= network.most_rank < network.dimension.exact
    assert network.most_rank <= 2 * two[place].d_out * two[place].d
    assert network.regular is False


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(16))
def test_bounds_at_networks_with_zero_matrices(seed: int) -> None:
    random = Random(seed)
    skip, softmax = (random.random() < 0.3 for _ in range(2))
    heads = random.choice([1, 2])
    widths = [2] * 3 if skip else [random.randrange(1, 3) for _ in range(3)]
    two = [Layer(d, n, 1, v=1, heads=heads, softmax=softmax) for d, n in pairwise(widths)]
    ps = [drawn(one, seed) for one in two]
    for _ in range(random.randrange(1, 4)):
        p, x = random.choice(ps), random.choice("KQVO")
        p[x][random.randrange(heads)] = 0
    network = plain_network(ps, skip=skip, softmax=softmax)
    rank = exact_network_rank(two, ps, skip)
    assert network.rank <= rank <= network.most_rank
    if network.regular is not None:
        assert network.regular is (rank == network.dimension.exact)


def test_what_a_layer_norm_takes_away_is_named() -> None:
    one, skip = TWICE["LayerNorm and biases"]
    ps = [drawn(one, seed) for seed in (1, 2)]
    found = network_of([one, one], ps, skip).to_json()
    named = {part["name"]: part["dimension"] for part in found["symmetries"]}
    # O + 1·uᵀ for values of dimension 3, a bias, and rotations of the plane Σ x_i = 0.
    assert named[BEHIND_LAYER_NORM] == 4
    assert named["O(2) between a layer and the next norm"] == 1


@pytest.mark.parametrize(
    ("layers", "dimension"),
    [
        # the heads of the first layer have values of dimension 2 only: 24 as for the widths 2, 2, 2
        ([Layer(2, 3, 2, v=2, **BIASED), Layer(3, 2, 2, v=2, **BIASED)], 24),
        ([Layer(3, 3, 1, v=1, heads=2, **BIASED)] * 2, 39),
        ([Layer(1, 3, 1, v=1, heads=2, **BIASED), Layer(3, 1, 1, v=1, heads=2, **BIASED)], 21),
        ([Layer(2, 3, 1, v=1, biases="QKV"), Layer(3, 2, 1, v=1, biases="QKV")], None),
        (
            [
                Layer(2, 3, 1, v=1, softmax=True, **BIASED),
                Layer(3, 2, 1, v=1, softmax=True, **BIASED),
            ],
            None,
        ),
        ([Layer(m, n, 1, v=1, **BIASED) for m, n in ((2, 4), (4, 3), (3, 2))], None),
    ],
)
def test_widths_that_heads_with_biases_do_not_fill(
    layers: list[Layer], dimension: int | None
) -> None:
    """Lemma-unused-affine-width: the bound meets the rank of the forward pass."""
    ps = [drawn(layer, seed) for seed, layer in enumerate(layers, 1)]
    network = network_of(layers, ps, skip=False)
    rank = exact_network_rank(layers, ps, skip=False)
    assert dimension in (rank, None)
    assert network.dimension.exact == rank
    assert network.regular is True
    assert "which heads fill and read" in network.reason


def test_skip_connections_and_missing_biases_use_all_of_a_width() -> None:
    """With skip connections tokens pass beside the heads; a constant needs one width more."""
    one = Layer(3, 3, 1, v=1, **BIASED)
    ps = [drawn(one, seed) for seed in (1, 2)]
    network = network_of([one, one], ps, skip=True)
    assert "which heads fill" not in network.reason
    assert network.dimension.upper >= exact_network_rank([one, one], ps, skip=True)
    constant = Layer(3, 3, 1, v=1, output_bias=True)
    ps = [drawn(constant, seed) for seed in (1, 2)]
    network = network_of([constant, constant], ps, skip=False)
    rank = exact_network_rank([constant, constant], ps, skip=False)
    assert "which heads fill" not in network.reason
    assert network.dimension.lower == rank <= network.dimension.upper


@pytest.mark.parametrize("softmax", [False, True])
def test_random_weights_of_bounded_rank_decide_at_special_ones(softmax: bool) -> None:
    """At zero the rank is 0; the dimension is that at random weights, with values of rank 1."""
    layers = [Layer(3, 2, 1, v=1, softmax=softmax), Layer(2, 3, 1, v=1, softmax=softmax)]
    ps = [drawn(layer, seed) for seed, layer in enumerate(layers, 1)]
    rank = exact_network_rank(layers, ps, skip=False)
    special = [{name: 0 * array for name, array in p.items()} for p in ps]
    network = network_of(layers, special, skip=False)
    assert network.dimension.lower == network_of(layers, ps, skip=False).dimension.lower == rank
    assert network.rank == 0


@pytest.mark.slow
def test_tokens_are_not_turned_where_no_bias_replaces_beta() -> None:
    """γ and β are taken as they are, and there are no rotations before the norm."""
    one = layer(norm="rms", beta=True)
    ps = [drawn(one, seed) for seed in (1, 2)]
    found = network_of([one, one], ps, skip=False).to_json()
    rank = exact_network_rank([one, one], ps, skip=False, fixed=["gamma", "beta"])
    assert found["dimension"] == rank
    assert not any("O(2)" in part["name"] for part in found["symmetries"])
    for p in ps:
        p["beta"] = 0 * p["beta"]
    found = network_of([one, one], ps, skip=False).to_json()
    turned = exact_network_rank([one, one], ps, skip=False, fixed=["gamma", "beta"])
    assert found["dimension"] == turned == rank - 1


def test_translations_are_subtracted_beside_the_differences_of_outputs() -> None:
    """The outputs span four dimensions and their differences three: the bound is not 19."""
    two = [Layer(3, 4, 1, v=3, **BIASED), Layer(4, 1, 1, v=1, **BIASED)]
    ps = [drawn(one, seed) for seed, one in enumerate(two, 1)]
    state = {}
    for k, p in enumerate(ps):
        state |= {f"{k}.{x}": part if x == "O_bias" else part[0] for x, part in p.items()}
    network = weights(state).network
    rank = exact_network_rank(two, ps, skip=False)
    assert rank == network.dimension.lower == 20
    # 4·4 for GL(4) and 4 for translations would give a bound of 19. The next layer reads 3 forms.
    assert network.dimension.upper == 20


def test_skip_connections_need_equal_widths() -> None:
    ps = [drawn(Layer(3, 2, 1, v=1, **BIASED), 1), drawn(Layer(2, 3, 1, v=1, **BIASED), 2)]
    with pytest.raises(InvalidCaseError, match="widths that are all equal"):
        weights(state_of(ps), heads=1, skip=True)


def test_a_given_A_is_not_differentiated() -> None:
    random = numpy.random.default_rng(1)
    state = {}
    for k in range(2):
        sizes = {"A": (2, 2), "V": (2, 2), "V_bias": (2,)}
        state |= {f"{k}.{x}": random.integers(-9, 10, size) / 4 for x, size in sizes.items()}
    network = weights(state).network
    assert network.rank is None
    assert "need K and Q" in network.note
    assert network.dimension.exact is None


def test_a_large_network_has_bounds_and_the_limit_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series, "MAX_DIFFERENTIATED_PARAMETERS", 400)
    one = layer(2, 8, **BEHIND)
    ps = [drawn(one, seed) for seed in (1, 2)]
    network = network_of([one, one], ps, skip=True)
    assert network.rank is None
    assert network.dimension.upper == network.to_json()["upper_bound"]["value"]
    assert "up to 400 parameters" in network.note
    assert "up to 400 parameters" in network.symmetries.words()
    assert network.to_json()["regular"] is None


def test_one_layer_of_softmax_with_biases_is_its_network() -> None:
    one = layer(**BIASED, softmax=True)
    p = drawn(one, 1)
    found = weights(state_of([p]), heads=2, normalization="softmax")
    content = found.to_json()
    (alone,) = content["layers"]
    assert content["network"]["dimension"] == exact_rank(one, p)
    assert content["network"].items() <= alone.items()
    assert content["network"]["regular"] is True
    assert dict(found.network.facts())["regular point"].startswith("yes (proved")


def test_of_more_heads_than_independent_matrices_nothing_is_claimed() -> None:
    """For d = 1 and biases of Q the matrices A have two entries, and three are never independent."""
    one = Layer(1, 1, 1, v=1, heads=3, biases="QKV", softmax=True)
    p = drawn(one, 1)
    found = weights(state_of([p]), heads=3, normalization="softmax")
    (alone,) = found.to_json()["layers"]
    for name in ("dimension", "redundant", "other_symmetries", "unnamed", "regular"):
        assert alone[name] is None
    rank = exact_rank(one, p, on_a_line=True)
    assert rank <= alone["upper_bound"]["value"]
    assert alone["redundant_at_least"] <= alone["parameters"] - rank
    assert alone["listed_symmetries"] == sum(part["dimension"] for part in alone["symmetries"])
    assert "more heads than independent matrices A" in found.symmetries[1].words()


# Finite symmetries of layers: their orders against all permutations, tried on the forward pass.

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
    found = weights(arrays, heads="3,all")
    words = " ".join(str(found).split())
    assert "permutations of heads (S(3), order 3! = 6)" in words
    assert "permutations of heads ((S(3))^2, order (3!)^2 = 36)" in words
    *_, last = found.to_json()["network"]["symmetries"]
    expected = {"group": "(S(3))^2", "order": 36, "order_formula": "(3!)^2"}
    assert last == {"name": PERMUTATIONS, "dimension": 0, **expected}


def test_groups_of_heads_that_share_keys_are_in_print() -> None:
    _, file = shared(drawn(Layer(4, 3, 2, v=2, heads=4), 1), 2)
    found = weights(file, heads="4,all")
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


@pytest.mark.parametrize("skip", [False, True])
def test_a_skip_connection_of_a_single_layer_adds_a_constant(skip: bool) -> None:
    """It changes no derivative by weights; the network is said to have it."""
    random = numpy.random.default_rng(1)
    matrices = {name: random.integers(-4, 5, (2, 2)).astype(float) for name in "KQVO"}
    network = weights(**matrices, heads=2, skip=skip).network
    assert network is not None
    assert network.model is not None
    assert network.model.skip == skip
    assert network.rank == weights(**matrices, heads=2).layers[1].rank == 7


@pytest.mark.slow
def test_factors_of_scores_are_said_where_a_rank_depends_on_them() -> None:
    """Of several layers of softmax whose rank is computed, and not of one, nor of lightning."""
    random = numpy.random.default_rng(5)
    state = {
        f"l.{layer}.{letter}": random.integers(-3, 4, (1 if letter in "KQ" else 2, 2)).astype(float)
        for layer in range(2)
        for letter in "KQV"
    }
    biased = state | {f"l.{layer}.Q_bias": numpy.ones(1) for layer in range(2)}
    first = {name: array for name, array in biased.items() if name.startswith("l.0")}
    assert FACTOR_OF_SCORES in weights(biased, as_="softmax").remarks
    assert FACTOR_OF_SCORES not in weights(first, as_="softmax").remarks
    assert FACTOR_OF_SCORES not in weights(biased, as_="lightning").remarks

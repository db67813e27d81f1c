"""Statements about deep attention, and its fibres."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from m2bridge import dimension
from m2bridge.engine import using
from m2bridge.errors import (
    ContradictionError,
    EngineNotFoundError,
    MethodUnavailableError,
    TooLargeError,
)
from m2bridge.families.deep_attention import fibres as generic_fibre, observation
from m2bridge.families.deep_attention.checker import (
    fibres,
    limit,
    observables as checker_observables,
)
from m2bridge.families.deep_attention.checker.predictions import (
    WORDS,
    Network,
    hypotheses,
    prediction,
    read,
)
from m2bridge.families.deep_attention.fibres import GenericFibre
from m2bridge.families.deep_attention.matrix_words import WordSum
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.deep_attention.observation import OBSERVERS, can_be_certified, observe
from m2bridge.families.deep_attention.shape import (
    determined_dimension,
    reduced_dimension,
    virtual_dimension,
)
from m2bridge.families.deep_attention.statements import STATEMENTS, expectations
from m2bridge.maps.jacobian_rank import rank_result
from m2bridge.statements.statement import GlobalStatement
from tests.limits import RecordedEngine

# Statements about deep attention: predictions against dimensions proved by ranks; wrong versions
# are noticed.

BY_NAME = {f"{statement.key} {statement.part}".strip(): statement for statement in STATEMENTS}
OF_DIMENSIONS = {
    name: statement for name, statement in BY_NAME.items() if statement.observable == "dimension"
}


def equation_16(network: DeepAttention) -> int:
    """The number of Eq. 16, by codimensions of ranks."""
    n, *hidden, e = network.widths
    delta = hidden[0] if hidden else min(n, e)
    total = n * e - (n - delta) * (e - delta)
    for d, _, a in network.layer_sizes:
        total += d * d - max(0, d - a) ** 2
    return total


def equation_14(network: DeepAttention) -> int:
    return equation_16(network) - network.layers


def observed(network: DeepAttention) -> int:
    """The dimension, proved by ranks."""
    found = observe(network, "dimension")
    assert found.proved
    return found.value


def refuted(statement: GlobalStatement[DeepAttention], network: DeepAttention) -> bool:
    """Whether a prediction fails."""
    assert statement.hypotheses(network) == ""
    return statement.predict(network) != observe(network, statement.observable).value


def networks() -> list[DeepAttention]:
    shapes = [(w, a) for w in product((1, 2, 3), repeat=3) for a in product((1, 2), repeat=2)]
    shapes += [(w, (2, 1, 2)) for w in product((1, 2), repeat=4)] + [
        (w, (2,)) for w in product((1, 2, 3), repeat=2)
    ]
    found = [DeepAttention(w, a, t) for (w, a) in shapes for t in (1, 2)]
    found += [replace(network, normalization="softmax") for network in found[::3]]
    found += [
        DeepAttention((d, d, d), a, t, skip=True) for d, a, t in product((1, 2, 3), (1, 2), (1, 2))
    ]
    found += [DeepAttention((d, d), 2, 2, skip=True, normalization="softmax") for d in (1, 2, 3)]
    found += [
        DeepAttention((d, o), a, 2, h)
        for d, o, a, h in product((1, 2, 3), (1, 2, 3), (1, 2, 3), (2, 3, 4))
    ]
    found += [DeepAttention((d,) * 3, 2, 2, 2, skip) for d, skip in product((2, 3), (False, True))]
    return found


@pytest.mark.slow
def test_what_is_stated_by_m2bridge_holds() -> None:
    """Also its conjectures, in these cases; the paper's formulas hold under their hypotheses."""
    decided = dict.fromkeys(OF_DIMENSIONS, 0)
    exceptions = set()
    for network in networks():
        value = observed(network)
        for name, statement in OF_DIMENSIONS.items():
            if not statement.hypotheses(network):
                decided[name] += 1
                if statement.predict(network) != value:
                    exceptions.add(name)
    assert exceptions == {"heads separate heads"}
    assert min(decided.values()) >= 3, decided


def test_symmetries_of_heads_are_more_than_permutations() -> None:
    """GL_H mixes heads whose attention matrices are any matrices: with d = d' = a = 3 and two
    heads, 32 and not 34.
    """
    network = DeepAttention((3, 3), 3, 2, heads=2)
    assert refuted(BY_NAME["heads separate heads"], network)
    assert (observed(network), BY_NAME["heads separate heads"].predict(network)) == (32, 34)


@pytest.mark.parametrize(
    ("name", "network", "wrong"),
    [
        ("L", DeepAttention((3, 3, 3), 2), lambda n: determined_dimension(n) + n.layers),
        ("L", DeepAttention((3, 3, 3), (1, 2)), lambda n: reduced_dimension(n, 2) - 2),
        ("L", DeepAttention((3, 3, 3, 3), (2, 1, 2)), lambda n: reduced_dimension(n, 3) - 3),
        ("L", DeepAttention((2, 2, 2), 2, 1), lambda n: determined_dimension(replace(n, t=2))),
        (
            "S",
            DeepAttention((3, 3), 2, normalization="softmax"),
            lambda n: virtual_dimension(n) - n.layers,
        ),
        ("3.8", DeepAttention((3, 3, 3), 2), lambda n: equation_16(n)),
        (
            "skip dimension",
            DeepAttention((2, 2), 2, skip=True),
            lambda n: determined_dimension(replace(n, t=2)) + 1,
        ),
        (
            "heads one layer",
            DeepAttention((3, 3), 3, heads=2),
            lambda n: 2 * determined_dimension(replace(n, t=2)),
        ),
        ("3.1", DeepAttention((3, 2), 2, heads=2), lambda n: 2 * 2 * 2 * 3),
        ("3.5", DeepAttention((3, 2, 3), 2), lambda n: equation_14(n)),
        ("V", DeepAttention((2, 3, 2), 2), lambda n: equation_16(n)),
        ("V", DeepAttention((5, 4, 1), (4, 1)), lambda n: equation_16(n)),
        ("3.6", DeepAttention((2, 3, 2), 2), lambda n: False),
    ],
)
def test_wrong_versions_are_refuted(name: str, network: DeepAttention, wrong: object) -> None:
    assert not refuted(BY_NAME[name], network)
    assert refuted(replace(BY_NAME[name], predict=wrong), network)


def test_equation_14_where_a_rank_is_one() -> None:
    """Its hypotheses exclude the case; without them it would be refuted: the skew part of A_2 is
    not seen.
    """
    network = DeepAttention((3, 3, 3), (1, 2))
    assert "α_1 = 1" in BY_NAME["3.8"].hypotheses(network)
    assert refuted(replace(BY_NAME["3.8"], hypotheses=lambda _: ""), network)
    assert equation_14(network) == 20
    assert observed(network) == 18


def test_equation_14_is_right_with_rank_one_exactly_where_all_later_ranks_are_one() -> None:
    for a in product((1, 2, 3), repeat=2):
        network = DeepAttention((3, 3, 3), a)
        rank_one_stays = a[0] > 1 or a[1] == 1
        assert (equation_14(network) == observed(network)) == rank_one_stays, a


def test_formulas_are_dimensions_by_subspaces() -> None:
    """By the numbers of the program, and of the checker."""
    for layers, most in ((1, 5), (2, 4), (3, 3)):
        for w, a in product(
            product(range(1, most + 1), repeat=layers + 1),
            product(range(1, most + 1), repeat=layers),
        ):
            for t, normalization, key in ((2, "none", "L"), (1, "none", "L"), (2, "softmax", "S")):
                network = DeepAttention(w, a, t, normalization=normalization)
                stated = prediction(read(network.to_json()), WORDS.words(key, ""))
                by_subspaces = determined_dimension(network)
                assert BY_NAME[key].predict(network) == stated == by_subspaces


@pytest.mark.parametrize(("a", "value"), [((1, 2), 33), ((1, 3), 36), ((1, 4), 37)])
def test_defects(a: tuple[int, int], value: int) -> None:
    found = dimension(DeepAttention((4, 4, 4), a))
    assert [(e.value, bool(e.fails)) for e in found.expected] == [(value, True), (31, False)]
    assert found.defect == 0


def test_expectations_name_the_hypothesis_that_fails() -> None:
    first, second = expectations(DeepAttention((2, 3, 2), 2))
    assert (first.value, second.value, second.fails) == (13, 10, "")
    assert "hidden widths of at most" in first.fails
    assert expectations(DeepAttention((4, 3, 2, 4), 2))[0].value is None
    found = dimension(DeepAttention((3, 3), 2, normalization="softmax"), method="formula").findings
    assert [(one.value, one.remark) for one in found] == [(17, "Theorem 3.9")]
    assert (
        dimension(
            DeepAttention((2, 3), 2, heads=2, normalization="softmax"), method="formula"
        ).dimension
        is None
    )


def test_virtual_weights_of_all_small_shapes() -> None:
    """Proposition V: ranks of the differential, proved under the width hypothesis, and never more
    than predicted.
    """
    for w, a in product(product((1, 2, 3), repeat=3), product((1, 2), repeat=2)):
        network = DeepAttention(w, a)
        assert not refuted(BY_NAME["V"], network), network
        if not BY_NAME["3.5"].hypotheses(network):
            assert observe(network, "virtual_weights").proved
            assert not refuted(BY_NAME["3.5"], network)


def test_attention_matrices() -> None:
    for d, a, heads in product((1, 2, 3, 4), (1, 2, 3, 5), (1, 2)):
        network = DeepAttention((d, 2, 1), a, heads=heads)
        assert observe(network, "attention_matrices").proved
        assert not refuted(BY_NAME["3.1"], network)


VIRTUAL = {
    "2-2-2-a1-1-t2": (0, 1),
    "2-2-a1-t1": (0, 1),
    "3-3-a1-t1": (0, 3),
    "3-2-3-a1-2-t2": (1, 3),
}
"""The dimension of a fibre in the virtual weights, and in E."""


@pytest.mark.parametrize("key", VIRTUAL)
def test_fibres_in_e_are_not_those_in_the_virtual_weights(key: str) -> None:
    """Ranks and subspaces of virtual weights are conditions that matrices in E do not satisfy; the
    words say which.
    """
    network = DeepAttention.from_key(key)
    inside, everywhere = BY_NAME["fibre virtual weights"], BY_NAME["fibre dimension"]
    assert not refuted(inside, network)
    assert (inside.predict(network), everywhere.predict(network)) == VIRTUAL[key]
    assert "in E, of any ranks" in everywhere.text
    assert refuted(replace(inside, predict=everywhere.predict), network)


@pytest.mark.parametrize(
    ("key", "wrong"), [("2-2-1-a2-2-t1", 0), ("3-2-3-a1-2-t2", 0), ("2-2-2-a2-2-t2", 1)]
)
def test_fibres_in_e_are_held_against_those_in_the_virtual_weights(
    key: str, wrong: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """They are at least as large, and as large where virtual weights fill E."""
    planted = GenericFibre(wrong, 1, None)
    monkeypatch.setattr(generic_fibre, "generic_fibre", lambda network: planted)
    monkeypatch.setattr(checker_observables, "fibre", lambda case: (wrong, 1))
    monkeypatch.setattr(checker_observables, "unknown_count", lambda case: 1)
    network = DeepAttention.from_key(key)
    for found in (
        lambda: observe(network, "fibre_dimension"),
        lambda: checker_observables.observe(read(network.to_json()), "fibre_dimension"),
    ):
        with pytest.raises(ContradictionError, match=f"a fibre of dimension {wrong}, "):
            found()


def test_verdicts_on_fibres_rest_on_more_than_one_fibre() -> None:
    for name in ("3.7", "fibre dimension", "fibre degree"):
        assert any(
            "one random fibre alone would not tell" in lemma for lemma in BY_NAME[name].trusted
        )


def test_a_dimension_says_nothing_about_finitely_many_symmetries() -> None:
    """Heads of rank one with one output: k and v can be exchanged in each, and the dimension is
    that of the words.
    """
    network = DeepAttention((3, 1), 1, heads=2)
    statement = BY_NAME["heads separate heads"]
    assert not refuted(statement, network)
    assert "Whether there are finitely many others is not asked" in statement.text
    k, q, v = [2, -1, 3], [1, 4, -2], [5, 1, 1]
    other = [[1, 1, 2], [3, 0, 1], [-1, 2, 2]]
    X = [[1, 2], [0, 3], [-1, 1]]
    values = [
        network.evaluate([x for rows in (*weights, *other) for x in rows], X)
        for weights in ([k, q, v], [v, q, k], [q, k, v])
    ]
    assert values[0] == values[1] != values[2]


def test_every_number_has_its_formula_in_the_words() -> None:
    """For one token, and for one layer without hidden widths."""
    one_token = DeepAttention((2, 2), 2, 1, skip=True)
    assert not refuted(BY_NAME["skip dimension"], one_token)
    assert "for t = 1 it is Σ_k (d² + ρ_k(2d − ρ_k + 1)/2 − 1)" in BY_NAME["skip dimension"].text
    for name in ("3.5", "3.8", "3.10"):
        assert "d_0·d_1" in BY_NAME[name].text


@pytest.mark.parametrize("t", [1, 2, 3])
def test_the_normal_form_is_an_identity(t: int) -> None:
    for widths in [(2, 3, 2), (3, 1), (1, 2, 2, 1), (4, 3, 2)]:
        assert not refuted(BY_NAME["3.6"], DeepAttention(widths, 2, t))


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_skip_connections_keep_the_scalings_of_lightning_attention(layers: int) -> None:
    """And so an l-dimensional family of weights has the same function; with softmax the printed
    statements hold.
    """
    lightning = DeepAttention((2,) * (layers + 1), 2, skip=True)
    softmax = replace(lightning, normalization="softmax")
    for name in ("skip scalings", "skip one-to-one"):
        assert refuted(BY_NAME[name], lightning)
    assert not refuted(BY_NAME["skip one-to-one"], softmax)
    assert "vacuous" in BY_NAME["skip scalings"].hypotheses(softmax)
    for network in (softmax, replace(softmax, skip=False)):  # there is nothing to break
        assert observe(network, "scalings_keep_the_function").value is False
    assert observe(lightning, "unseen_weights").value == layers
    assert observe(softmax, "scalings_keep_the_function").proved


def test_identities_are_exact_and_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words in matrices: with transposes that are not turned around, or a value matrix too many,
    they differ.
    """
    for network in (
        DeepAttention((2, 3, 2, 3, 1), 2),
        DeepAttention((2, 2), 2, heads=3, skip=True),
    ):
        for observable in ("normal_form", "scalings_keep_the_function")[network.skip :]:
            assert observe(network, observable).proved
    assert observe(DeepAttention((1,) * 13, 1), "normal_form").numbers == {"factors": 2 * 3**12 - 1}
    assert observe(DeepAttention((1,) * 900, 1), "scalings_keep_the_function").value is True
    right = observation.layer_of_letters
    monkeypatch.setattr(WordSum, "transpose", lambda word_sum: word_sum)
    assert observe(DeepAttention((2, 2, 2), 2), "normal_form").value is False
    monkeypatch.undo()

    def squared(number: int, heads: int = 1) -> Any:
        return tuple(replace(head, V=head.V * head.V) for head in right(number, heads))

    monkeypatch.setattr(observation, "layer_of_letters", squared)
    assert observe(DeepAttention((2, 2), 2), "scalings_keep_the_function").value is False


def test_every_statement_can_be_observed(tmp_path: Path) -> None:
    assert {statement.observable for statement in STATEMENTS} == set(OBSERVERS)
    assert len(BY_NAME) == len(STATEMENTS)
    for observable in ("closed", "fibre_degree", "fibre_is_one_point"):
        # Macaulay2 is asked
        with using(RecordedEngine(tmp_path)), pytest.raises(EngineNotFoundError):
            observe(DeepAttention((3, 3, 3), 2, 3), observable)
    for observable in ("normal_form", "virtual_weights", "attention_matrices"):
        with pytest.raises(TooLargeError, match="at most"):
            observe(DeepAttention((400,) * 15, 2), observable)


# Fibres and the limit that is no network, as the checker computes them: without Macaulay2.

FIBRES = [  # as Macaulay2 finds them: dimension and degree
    ("2-2-1-a2-2-t2", 0, 1),
    ("2-2-1-a2-1-t2", 0, 2),
    ("2-2-1-a1-2-t2", 1, 3),
    ("2-2-2-a1-1-t2", 1, 1),
    ("2-2-1-a2-2-t1", 2, 3),
    ("2-2-2-a2-2-t1", 2, 1),
    ("2-1-1-a2-2-t2", 0, 2),
    ("2-1-a1-t2", 0, 2),
    ("3-1-a2-t2", 0, 1),
    ("1-1-1-a1-1-t1", 0, 1),
]


def case(key: str) -> Network:
    return read(DeepAttention.from_key(key).to_json())


@pytest.mark.parametrize(("key", "dimension", "degree"), FIBRES)
def test_fibres_by_flint(key: str, dimension: int, degree: int) -> None:
    assert fibres.fibre(case(key)) == (dimension, degree)
    if not hypotheses(case(key), WORDS.words("fibre", "degree")):
        assert prediction(case(key), WORDS.words("fibre", "degree")) == degree
    assert prediction(case(key), WORDS.words("fibre", "dimension")) == dimension


# all networks with one input and one output have the same normal form
@pytest.mark.parametrize("key", [key for key, _, _ in FIBRES if key != "1-1-1-a1-1-t1"])
def test_weights_are_drawn_for_each_check(key: str) -> None:
    """They are not the maker's: a certificate cannot be made for the weights that it meets."""
    made = generic_fibre._random_weights(DeepAttention.from_key(key))
    first, second = (fibres.random_virtual_weights(case(key)) for _ in range(2))
    assert first != second
    assert made not in (first, second)


def test_special_weights_have_another_fibre(monkeypatch: pytest.MonkeyPatch) -> None:
    """With A_1 of rank one the skew-symmetric part of A_2 is free."""
    planted = fibres.VirtualWeights([[[1, 2], [2, 4]], [[1, 2], [3, 5]]], [[1, 1]])
    monkeypatch.setattr(fibres, "random_virtual_weights", lambda case: planted)
    assert fibres.fibre.__wrapped__(case("2-2-1-a2-2-t2")) == (1, 3)


def test_which_fibres_are_looked_at() -> None:
    looked = {
        DeepAttention((2, 2, 1), 2): True,
        DeepAttention((3, 3), 3, 3): True,
        DeepAttention((3, 3, 2), 3, 3): True,
        # FLINT takes more than 2 GB, and ends in a segmentation fault
        DeepAttention((3, 3, 3), 3, 3): False,
        DeepAttention((4, 4), 2): False,
        DeepAttention((2, 2, 2, 1), 2): False,
        DeepAttention((2, 2), 2, heads=2): False,
        DeepAttention((2, 2), 2, normalization="softmax"): False,
    }
    for network, small in looked.items():
        assert (
            bool(fibres.unknown_count(read(network.to_json())))
            is can_be_certified(network, "fibre_degree")
            is small
        )
    with pytest.raises(TooLargeError, match="31 unknowns; at most 25"):
        generic_fibre.fibre_script(DeepAttention((4, 4), 2))


def test_the_limit_is_no_network() -> None:
    assert set(limit.limit_outside().values()) == {True}


@pytest.mark.parametrize(
    ("name", "planted"),
    [
        ("_skew", lambda w: [[w[0], w[2], -w[1]], [-w[2], 0, w[0]], [w[1], -w[0], 0]]),
        ("_unit", lambda i: [1, 0, 0]),
        ("transposed", lambda A: A),
        ("_at_zero", lambda polynomial: polynomial),
        ("_on_one_token", lambda f: [1]),
    ],
)
def test_a_mistake_shows_nothing(name: str, planted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limit, name, planted)
    assert not all(limit.limit_outside().values())


def test_a_common_factor_of_the_column_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It could as well belong to the row: unique factorization says less."""
    shown = []
    no_network = limit._no_network

    def with_factor(S: Any, column: Any, row: Any) -> bool:
        shown.append(no_network(S, column, row))
        shown.append(no_network(S, [S[1][1] * entry for entry in column], row))
        return shown[0]

    monkeypatch.setattr(limit, "_no_network", with_factor)
    limit.limit_outside()
    assert shown == [True, False]


def test_a_function_that_is_a_network_is_no_example() -> None:
    """The column and the row of a network with A_1 skew-symmetric and A_2 of rank one."""
    from m2bridge.checker.algebra import ring

    _, *s = ring(7).gens()
    S = [[s[0], s[1], s[2]], [s[1], s[3], s[4]], [s[2], s[4], s[5]]]
    A = limit._skew((-1, 0, 1))
    column = [x[0] for x in fibres.product(S, A, S, fibres.transposed(A), S, [[1], [2], [0]])]
    row = fibres.product([S[1]], A)[0]
    common = column[0].gcd(column[1]).gcd(column[2])
    reduced = [divmod(x, common)[0] for x in column]
    assert not limit._no_network(S, reduced, [x * common for x in row])
    assert not limit._row_determines_c_and_w([[s[0], 0, 0], [0, s[3], 0], [0, 0, s[5]]])
    assert not limit._only_zero(S, A, column)
    assert limit._only_zero(S, A, [s[0] ** 3, s[1] ** 3, s[2] ** 3])


def test_more_rows_of_keys_and_queries_than_columns_change_nothing() -> None:
    """KᵀQ with d rows is any d × d matrix; here there are a million."""
    found = observe(DeepAttention([2, 2], a=10**6, t=2), "attention_matrices")
    assert found.exact_value == 4


@pytest.mark.parametrize("t", [1, 2, 3, 4, 10**8])
def test_softmax_of_any_number_of_tokens_sees_scalings(t: int) -> None:
    """Of 10^8 tokens only three are different, as their scores would fill any memory."""
    network = DeepAttention([2, 2], a=1, t=t, normalization="softmax")
    assert observe(network, "scalings_keep_the_function").known is False


def test_softmax_has_no_gradients_modulo_a_prime() -> None:
    """Those of lightning attention, whose rank 6 exceeds the dimension 4, are not taken for it."""
    network = DeepAttention([2, 2], a=2, t=1, normalization="softmax")
    with pytest.raises(MethodUnavailableError, match="no values modulo a prime"):
        rank_result(network)
    assert dimension(network).dimension == 4

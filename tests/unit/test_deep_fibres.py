"""Fibres and the limit that is no network, as the checker computes them: without Macaulay2."""

from __future__ import annotations

from itertools import chain
from typing import Any

import pytest

from m2bridge.algebra.linear_algebra import rank
from m2bridge.errors import TooLargeError
from m2bridge.families.deep_attention import fibres as generic_fibre
from m2bridge.families.deep_attention.checker import fibres
from m2bridge.families.deep_attention.checker import fibres as limit
from m2bridge.families.deep_attention.checker.case import Case, read
from m2bridge.families.deep_attention.checker.predicted import hypothesis, prediction
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.deep_attention.observation import can_be_certified

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


def case(key: str) -> Case:
    return read(DeepAttention.from_key(key).to_json())


@pytest.mark.parametrize(("key", "dimension", "degree"), FIBRES)
def test_fibres_by_flint(key: str, dimension: int, degree: int) -> None:
    assert fibres.fibre(case(key)) == (dimension, degree)
    if hypothesis(case(key), "fibre", "degree") is None:
        assert prediction(case(key), "fibre", "degree") == degree
    assert prediction(case(key), "fibre", "dimension") == dimension


@pytest.mark.parametrize("key", [key for key, _, _ in FIBRES])
def test_weights_are_not_those_of_the_maker(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function with another fibre than most would have to be met twice; made alike, the weights are the maker's."""
    made = generic_fibre._random_weights(DeepAttention.from_key(key))
    assert fibres._weights(case(key)) != made
    monkeypatch.setattr(fibres, "SEED", generic_fibre.SEED)
    assert fibres._weights(case(key)) == made


@pytest.mark.parametrize("key", ["2-2-2-a1-1-t2", "3-2-3-a1-2-t2", "2-1-1-a2-2-t2"])
def test_weights_have_generic_ranks(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others are passed over: here the first ones, of which all entries are one."""
    network = DeepAttention.from_key(key)
    ones, drawn = 3 * network.parameter_count, fibres._draws
    monkeypatch.setattr(fibres, "_draws", lambda: chain([1] * ones, drawn()))
    attention, M = fibres._weights(case(key))
    assert [rank(A) for A in attention] == list(network.alphas)
    assert rank(M) == network.rank


def test_special_weights_have_another_fibre(monkeypatch: pytest.MonkeyPatch) -> None:
    """With A_1 of rank one the skew-symmetric part of A_2 is free."""
    planted = [[[1, 2], [2, 4]], [[1, 2], [3, 5]]], [[1, 1]]
    monkeypatch.setattr(fibres, "_weights", lambda case: planted)
    assert fibres.fibre.__wrapped__(case("2-2-1-a2-2-t2")) == (1, 3)


def test_which_fibres_are_looked_at() -> None:
    looked = {
        DeepAttention((2, 2, 1), 2): True,
        DeepAttention((3, 3, 3), 3, 3): True,
        DeepAttention((4, 4), 2): False,
        DeepAttention((2, 2, 2, 1), 2): False,
        DeepAttention((2, 2), 2, heads=2): False,
        DeepAttention((2, 2), 2, normalization="softmax"): False,
    }
    for network, small in looked.items():
        assert bool(fibres.unknowns(read(network.to_json()))) is can_be_certified(network, "fibre_degree") is small
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

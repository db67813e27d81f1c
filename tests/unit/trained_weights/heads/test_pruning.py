"""Heads near a lower rank: how they are sorted, and how much a layer changes when they are replaced.

Changes are compared with a forward pass in NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from click.testing import CliRunner

from m2bridge import weights
from m2bridge.cli.commands import cli as main
from m2bridge.errors import InvalidCaseError
from m2bridge.results.sheet import Table
from m2bridge.trained_weights.heads.distances import LowRankChange, nearest_loci, nearness_words
from m2bridge.trained_weights.heads.numerical import Spectrum

Head = dict[str, Any]


def heads_of(number: int, random: numpy.random.Generator) -> list[Head]:
    sizes = {"K": (3, 5), "Q": (3, 5), "V": (3, 5), "O": (5, 3)}
    return [{x: random.standard_normal(size) for x, size in sizes.items()} for _ in range(number)]


def file_of(layers: list[list[Head]]) -> dict[str, Any]:
    found = {}
    for number, heads in enumerate(layers):
        for x in "KQV":
            found[f"{x}{number}"] = numpy.vstack([head[x] for head in heads])
        found[f"O{number}"] = numpy.hstack([head["O"] for head in heads])
    return found


def near_rank_two(head: Head, size: float) -> Head:
    """The head with an OV whose third singular value is small."""
    U, sigma, W = numpy.linalg.svd(head["O"] @ head["V"])
    sigma[:3] = 1, 1, size
    return {**head, "O": U[:, :3], "V": sigma[:3, None] * W[:3]}


def truncated(matrix: Any, rank: int) -> Any:
    U, sigma, W = numpy.linalg.svd(matrix)
    return (U[:, :rank] * sigma[:rank]) @ W[:rank]


def output(A: Any, V: Any, X: Any, softmax: bool) -> Any:
    """The first output of a head."""
    scores = X.T @ A @ X[:, 0]
    if softmax:
        scores = numpy.exp(scores - scores.max())
        scores /= scores.sum()
    return V @ X @ scores


@pytest.mark.parametrize("normalization", ["softmax", "none"])
def test_planted_heads_are_found_and_are_first(normalization: str) -> None:
    random = numpy.random.default_rng(1)
    layers = [heads_of(3, random) for _ in range(3)]
    layers[1][2] = near_rank_two(layers[1][2], 3e-4)
    layers[2][0] = near_rank_two(layers[2][0], 4e-4)
    found = weights(file_of(layers), heads=3, normalization=normalization, worst=2)
    assert [(head.layer, head.head) for head in found.listed] == [(2, 3), (3, 1)]
    assert [x["layer"] for x in found.to_json()["heads"]] == [2, 3]
    assert " of heads 2.3 and 3.1 is within" in str(found)
    assert "rk V ≤ 2" in found.to_json()["nearest"][0]["locus"]
    in_order = weights(file_of(layers), heads=3, normalization=normalization, sort="distance")
    assert [(head.layer, head.head) for head in in_order.listed][:2] == [(2, 3), (3, 1)]
    assert found.figure() is not None


@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("softmax", [True, False])
def test_outputs_change_by_no_more_than_is_said(softmax: bool, rank: int) -> None:
    random = numpy.random.default_rng(2)
    (head,) = heads_of(1, random)
    found = weights(**head, normalization="softmax" if softmax else "none", rank=rank)
    (change,) = found.changes(rank)
    A, V = head["K"].T @ head["Q"], head["O"] @ head["V"]
    sigma = numpy.linalg.svd(V, compute_uv=False)
    expected = numpy.sqrt((sigma[rank:] ** 2).sum() / (sigma**2).sum())
    assert change.distance_V == pytest.approx(expected, rel=1e-5)
    assert change.token_norm == 1
    for _ in range(200):
        X = random.standard_normal((5, 4))
        X /= numpy.linalg.norm(X, axis=0)
        before = output(A, V, X, softmax)
        after = output(truncated(A, rank), truncated(V, rank), X, softmax)
        tokens = 1 if softmax else X.shape[1]
        assert numpy.linalg.norm(before - after) <= change.change * tokens
    assert found.to_json()["heads"][0]["at_rank"]["largest_change_of_output"] == change.change


@pytest.mark.slow
def test_tables_of_many_heads_are_on_request() -> None:
    random = numpy.random.default_rng(3)
    file = file_of([heads_of(25, random)])
    assert "Exact (L" not in str(weights(file, heads=25))
    assert "Exact (L" in str(weights(file, heads="25,all"))
    assert "Exact (L" in str(weights(file, heads=25, worst=3))
    with pytest.raises(InvalidCaseError, match="12,all"):
        weights(file, heads="some")
    with pytest.raises(InvalidCaseError, match="12,all"):
        weights(file, heads="1" * 5000)  # more digits than Python reads


def test_the_command_takes_heads_in_words_and_a_rank() -> None:
    run = CliRunner().invoke(
        main,
        ["weights", "examples/weights.npz", "--heads", "4,all", "--as", "softmax", "--rank", "3"],
    )
    assert run.exit_code == 0, run.output
    assert "Replaced by rank ≤ 3" in run.output


def test_two_options_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(InvalidCaseError, match="contradicts"):
        weights("examples/weights.npz", heads=4, as_="lightning", normalization="softmax")


@pytest.mark.parametrize("normalization", ["none", "softmax"])
def test_a_distance_that_is_proved_to_be_zero_is_zero(normalization: str) -> None:
    found = weights(K=[[1, 0], [0, 1]], Q=[[1, 0], [0, 0]], V=[[1, 0]], normalization=normalization)
    (nearest,) = found.to_json()["nearest"]
    assert nearest["distance"] == 0.0
    (part,) = nearest_loci(found.heads)
    assert part.words().endswith("at distance 0")


def test_a_change_beyond_floating_point_is_not_known() -> None:
    # The second singular value of A is about 1, so that outputs change.
    found = weights(K=[[10**400, 1], [0, 1]], Q=[[1, 0], [0, 1]], V=[[1, 1]], rank=1)
    assert found.to_json()["heads"][0]["at_rank"]["largest_change_of_output"] is None
    assert "by an amount that is not known" in str(found.sentence_on_ranks)
    rows = [block.rows for block in found.to_sheet().blocks if isinstance(block, Table)]
    assert rows[0][0][-1] == "–"


def test_a_rank_that_no_matrix_exceeds_is_at_distance_zero() -> None:
    for product in ([numpy.eye(2, 5)], [numpy.eye(4, 2), numpy.eye(2, 5)]):
        assert Spectrum.of(product, rank=None).distance(2) == (0.0, 0.0)
        assert Spectrum.of(product, rank=None).distance(1)[0] == pytest.approx(0.5**0.5)


@pytest.mark.parametrize(("exponent_V", "expected_exponent"), [(-640, -1040), (-672, -1072)])
def test_changes_near_the_least_positive_number(exponent_V: int, expected_exponent: int) -> None:
    """Lightning attention is linear in V and bilinear in K and Q: so are changes of its outputs."""
    (head,) = heads_of(1, numpy.random.default_rng(3))
    head = {letter: head[letter] for letter in "KQV"}
    small = {"K": head["K"] * 2.0**-200, "Q": head["Q"] * 2.0**-200}
    small["V"] = head["V"] * 2.0**exponent_V
    (exact,) = weights(**head, normalization="none", rank=1).changes(1)
    found = weights(**small, normalization="none", rank=1)
    (change,) = found.changes(1)
    least = exact.change * 2.0**expected_exponent
    # Up to two digits, or the distance between floating-point numbers of this size.
    assert 0.9 * least - 5e-324 <= change.change <= 1.1 * least + 5e-324
    assert "changes the layer's output by at most" in str(found)


def test_a_change_that_floating_point_makes_zero_is_not_said_to_be_zero() -> None:
    (head,) = heads_of(1, numpy.random.default_rng(3))
    small = {"K": head["K"] * 2.0**-300, "Q": head["Q"] * 2.0**-300, "V": head["V"] * 2.0**-800}
    found = weights(**small, normalization="none", rank=1)
    (change,) = found.changes(1)
    assert 0 < change.change <= 1e-322
    assert change.to_json()["largest_change_of_output"] > 0


def test_the_change_by_scores_is_no_less_than_the_change_at_two_tokens() -> None:
    """At the tokens 1 and −1 the weights of A = 1 give tanh 1, and equal weights give 0."""
    (head,) = weights(K=[[1]], Q=[[1]], V=[[1]], normalization="softmax").heads
    change = LowRankChange.of(head, rank_A=0, rank_V=None).change
    assert numpy.tanh(1) <= change == 0.93


@pytest.mark.parametrize(
    ("distance", "words"),
    [
        (0.0, "rounding error"),
        (1.0, "100 %"),
        (0.1531, "16 %"),  # rounded up
        (0.0031, "0.31 %"),
        (1.2e-4, "0.012 %"),
        (1.2e-9, "a relative distance 1.2e-09"),
    ],
)
def test_distances_are_percentages(distance: float, words: str) -> None:
    assert nearness_words(distance) == words

"""The file of a run: effective ranks, stages, distances, their picture, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy
import pytest
from click.testing import CliRunner

from m2bridge.cli.commands import cli
from m2bridge.errors import InvalidCaseError
from m2bridge.trained_weights.training_run import training_run

D, D_OUT, A = 4, 3, 3
RANDOM = numpy.random.default_rng(5)
LEFT, RIGHT = (numpy.linalg.qr(RANDOM.standard_normal((D, D)))[0][:A] for _ in range(2))
V = numpy.linalg.qr(RANDOM.standard_normal((D, D)))[0][:D_OUT]
SIZES = [(0, 0, 0), (1, 0, 0), (2, 0.001, 0), (2, 1, 0), (2, 1, 1)]
"""Singular values of K and Q at each step."""


def run(**changed: Any) -> dict[str, Any]:
    found = {
        "step": numpy.arange(5) * 10,
        "loss": numpy.array([4.0, 2.0, 1.0, 0.5, 0.25]),
        "K": numpy.array([numpy.diag(size) @ LEFT for size in SIZES]),
        "Q": numpy.array([numpy.diag(size) @ RIGHT for size in SIZES]),
        "V": numpy.array([V] * 5),
    }
    return {name: array for name, array in (found | changed).items() if array is not None}


def test_stages_have_the_ranks_of_the_steps() -> None:
    found = training_run(run())
    stages = [(s.first, s.last, s.ranks["K"], s.ranks["A"], s.ranks["V"]) for s in found.stages]
    assert stages == [(0, 0, 0, 0, 3), (1, 2, 1, 1, 3), (3, 3, 2, 2, 3), (4, 4, 3, 3, 3)]
    assert [stage.exposed for stage in found.stages] == [True, True, True, True]
    # at full rank nothing is claimed
    assert [stage.saddle for stage in found.stages] == [False, True, True, False]


def test_distances_are_those_of_truncations() -> None:
    found = training_run(run())
    largest = numpy.sqrt(2 * (4 + 1 + 1))
    for step, sizes in enumerate(SIZES):
        for r in range(A):
            rest = numpy.sqrt(2 * sum(size**2 for size in sizes[r:]))
            assert found.distances[step, r] == pytest.approx(rest / largest, abs=1e-12)


def test_one_matrix_has_no_exposed_type_below_full_rank() -> None:
    K, Q = run()["K"], run()["Q"]
    found = training_run(run(K=None, Q=None, A=K.transpose(0, 2, 1) @ Q))
    assert not found.factored
    assert [stage.ranks["A"] for stage in found.stages] == [0, 1, 2, 3]
    assert [stage.exposed for stage in found.stages] == [False, False, False, False]
    assert found.shape.a == D


def test_the_picture_shows_what_is_computed() -> None:
    found = training_run(run())
    loss, ranks, distances = found.figure().axes
    assert list(loss.lines[-1].get_ydata()) == [4, 2, 1, 0.5, 0.25]
    drawn = {line.get_label(): list(line.get_ydata()) for line in ranks.lines}
    assert drawn["rk A"] == [numpy.linalg.matrix_rank(numpy.diag(s) > 0.1) for s in SIZES]
    assert drawn["rk V"] == [3] * 5
    drawn = {line.get_label(): list(line.get_ydata()) for line in distances.lines}
    assert drawn["to rk K, Q ≤ 1"] == found.distances[:, 1].tolist()
    # lines where the rank of A changes
    marks = [line for line in loss.lines if len(set(line.get_xdata())) == 1]
    assert sorted(line.get_xdata()[0] for line in marks) == [10, 30, 40]


BAD = {
    "loss": ({"loss": None}, "no 'loss'"),
    "no weights": ({"K": None, "Q": None}, "no 'A'"),
    "one factor": ({"Q": None}, "no 'Q'"),
    "fewer steps": ({"loss": numpy.ones(4)}, "4 steps"),
    "one matrix": ({"V": V}, "3 indices"),
    "not a number": ({"loss": numpy.array([1, 2, numpy.nan, 0, 0])}, "not a finite number"),
    "columns": ({"K": numpy.ones((5, A, D + 1))}, "columns"),
    "rows": ({"K": numpy.ones((5, A + 1, D))}, "another shape than K"),
    "steps": ({"step": numpy.array([0, 20, 10, 30, 40])}, "falls from 20 to 10"),
    "not square": ({"K": None, "Q": None, "A": numpy.ones((5, 2, D))}, "not square"),
}


@pytest.mark.parametrize(("changed", "words"), BAD.values(), ids=BAD)
def test_what_does_not_fit_is_named(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidCaseError, match=words):
        training_run(run(**changed))


def test_a_run_of_zeros_is_at_distance_zero_from_any_rank() -> None:
    zeros = numpy.zeros((5, A, D))
    found = training_run(run(K=zeros, Q=zeros))
    assert found.distances.tolist() == [[0.0] * A] * 5
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["stages"][0]["distance"] == 0


@pytest.mark.slow
def test_distances_do_not_depend_on_a_power_of_two() -> None:
    """The squares of singular values near 2^600 are beyond floating point."""
    K, Q = run()["K"], run()["Q"]
    one_matrix = K.transpose(0, 2, 1) @ Q
    expected = training_run(run(K=None, Q=None, A=one_matrix)).distances
    found = training_run(run(K=None, Q=None, A=numpy.ldexp(one_matrix, 600))).distances
    assert numpy.allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"loss": [4, 2, 1, 1, 10**400]}, "an entry of 'loss' is too large"),
        ({"K": run()["K"] * 2.0**600, "Q": run()["Q"] * 2.0**600}, "of A = KᵀQ are too large"),
        ({"K": run()["K"] * 1e-200, "Q": run()["Q"] * 1e-200}, "of A = KᵀQ are too small"),
        ({"K": run()["K"] * 2.0**-530, "Q": run()["Q"] * 2.0**-530}, "of A = KᵀQ are too small"),
    ],
    ids=["integer", "large product", "zero product", "product without digits"],
)
def test_numbers_beyond_floating_point_are_refused(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidCaseError, match=words):
        training_run(run(**changed))


def test_factors_of_very_different_sizes_have_the_ranks_of_their_product() -> None:
    """In K · 2^900 and Q · 2^−900 nothing is lost; and a product that is zero is not refused."""
    expected = training_run(run())
    found = training_run(run(K=run()["K"] * 2.0**900, Q=run()["Q"] * 2.0**-900))
    assert [stage.ranks for stage in found.stages] == [stage.ranks for stage in expected.stages]
    assert (found.singular_values["A"] == expected.singular_values["A"]).all()
    zero = training_run(run(Q=0 * run()["Q"]))
    assert [stage.ranks["A"] for stage in zero.stages] == [0] * len(zero.stages)


def test_a_tolerance_that_is_a_text_is_refused() -> None:
    tolerance: Any = "0.05"
    with pytest.raises(InvalidCaseError, match=r"must be between 0 and 1, not 0\.05"):
        training_run(run(), tolerance=tolerance)


def test_the_command_draws_a_file(tmp_path: Path) -> None:
    numpy.savez(tmp_path / "run.npz", **run())
    picture = tmp_path / "run.svg"
    drawn = CliRunner().invoke(
        cli, ["figure", "training", str(tmp_path / "run.npz"), "--out", str(picture), "--json"]
    )
    assert drawn.exit_code == 0, drawn.output
    assert picture.read_text().startswith("<?xml")
    stages = json.loads(drawn.stdout)["stages"]
    assert [stage["ranks"]["A"] for stage in stages] == [0, 1, 2, 3]
    refused = CliRunner().invoke(
        cli, ["figure", "training", str(tmp_path / "run.npz"), "--tolerance", "2"]
    )
    assert isinstance(refused.exception, InvalidCaseError)
    zeros = numpy.zeros((5, A, D))
    numpy.savez(tmp_path / "zeros.npz", **run(K=zeros, Q=zeros))
    drawn = CliRunner().invoke(
        cli, ["figure", "training", str(tmp_path / "zeros.npz"), "--out", str(picture)]
    )
    assert drawn.exit_code == 0, drawn.output
    as_table = CliRunner().invoke(cli, ["figure", "training", str(tmp_path / "run.npz"), "--csv"])
    assert as_table.stdout.splitlines()[0].startswith("step,loss,rank_K,rank_Q,rank_A,rank_V")


def test_the_file_of_a_run_is_named_also_by_a_path(tmp_path: Path) -> None:
    file = tmp_path / "run.npz"
    numpy.savez(file, **run())
    assert training_run(file).source == training_run(str(file)).source == str(file)

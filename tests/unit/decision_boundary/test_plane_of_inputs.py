"""The figure ``robustness``: numbers of real critical points on a plane of inputs."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from click.testing import CliRunner

from m2bridge import InvalidCaseError
from m2bridge.cli.commands import cli
from m2bridge.decision_boundary import figure
from m2bridge.decision_boundary.critical_points import all_critical_points
from m2bridge.decision_boundary.figure import plane_of_inputs
from m2bridge.decision_boundary.reading import read_problem

LAYER: dict[str, Any] = {
    "K": [[-1, -1, 3]],
    "Q": [[0, 2, -3]],
    "V": [[-2, 3, 1]],
    "w": [1],
    "X": [[1, 0, -2, 1], [3, 1, 1, 0], [0, -1, 2, 2]],
}
X1 = numpy.array([[1, 2, 0, -1], [0, 1, -3, 1], [2, 0, 1, 1]])
X2 = numpy.array([[0, -1, 1, 2], [1, 1, 0, 3], [-2, 1, 1, 0]])


def test_counts_are_counts_of_lists_at_each_input(monkeypatch: pytest.MonkeyPatch) -> None:
    given = LAYER | {"X1": X1, "X2": X2}
    plane = plane_of_inputs(given, bias=-20.0, pool="first", pixels=7, half_side=3.0)
    assert plane.exactly == 0
    assert len(set(plane.counts.ravel().tolist())) > 1
    for row, t in enumerate(plane.places):
        for column, s in enumerate(plane.places):
            layer = LAYER | {"X": LAYER["X"] + s * X1 + t * X2}
            problem = read_problem(layer, pool="first", bias=-20.0, skip=False, scores_over="1")
            found = all_critical_points(problem, problem.in_units())
            assert found is not None
            assert plane.counts[row, column] == len(found.distances)
            boundary = problem.in_floats(problem.in_units())
            value = boundary.value(boundary.U) * 2.0 ** problem.in_units().value
            assert plane.values[row, column] == pytest.approx(value)
    monkeypatch.setattr(figure, "_count_in_balls", lambda _: None)
    exact = plane_of_inputs(given, bias=-20.0, pool="first", pixels=7, half_side=3.0)
    assert exact.exactly == 49
    assert (exact.counts == plane.counts).all()
    # numbers of inputs, as 6 of 14400 are not 0 %
    fewest = int(plane.counts.min())
    inputs = int((plane.counts == fewest).sum())
    assert f"{fewest} at {inputs} input" in plane.to_text()


def test_the_plane_through_the_nearest_point() -> None:
    """The segment of X ends on the boundary in the plane, at the distance from it."""
    plane = plane_of_inputs(LAYER, bias=-20.0, pool="first", pixels=3)
    start, end, distance = plane.segments[0]
    assert start == (0.0, 0.0)
    assert end == pytest.approx((distance, 0.0))
    assert plane.places[-1] == pytest.approx(2.5 * distance)


def test_one_token_is_counted_over_the_rational_numbers() -> None:
    """There the degree is 12, not 20."""
    layer = LAYER | {"X": numpy.array(LAYER["X"])[:, :1]}
    plane = plane_of_inputs(layer, bias=-20.0, pixels=3)
    assert plane.exactly == 9
    assert plane.counts.min() > 0


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        ({"X1": X1}, {}, "X1 and X2"),
        ({"X1": X1, "X2": X2[:, :3]}, {}, "X1 and X2"),
        ({"X1": X1, "X2": -2 * X1}, {}, "parallel"),
        ({"K": [[1]], "Q": [[1]], "V": [[1]], "X": [[3]]}, {}, "one entry"),
        ({}, {"pixels": 1}, "from 2 to 400"),
        ({}, {"half_side": -1.0}, "positive"),
        ({}, {"bias": 0.0}, "one head of rank one"),
        ({"K": numpy.eye(2, 3), "Q": numpy.eye(2, 3)}, {}, "one head of rank one"),
    ],
)
def test_what_has_no_picture(change: dict[str, Any], options: dict[str, Any], words: str) -> None:
    chosen = {"bias": -20.0, "pixels": 3} | options
    with pytest.raises(InvalidCaseError, match=words):
        plane_of_inputs(LAYER | change, **chosen)


def test_a_product_of_floats_is_no_readout_of_rank_one() -> None:
    """Thirds are rounded, so that the rows of R are not parallel."""
    R = numpy.outer([1, 1 / 3], [1, 3, 1 / 3, 1 / 7])
    layer = LAYER | {"V": [[-2, 3, 1], [1, 0, 1]], "R": R}
    del layer["w"]
    with pytest.raises(InvalidCaseError, match="give w"):
        plane_of_inputs(layer, bias=-20.0, pixels=3)


def test_the_command(tmp_path: Any) -> None:
    numpy.savez(tmp_path / "layer.npz", **LAYER)
    picture = tmp_path / "plane.svg"
    arguments = [str(tmp_path / "layer.npz"), "--bias", "-20", "--pixels", "4"]
    done = CliRunner().invoke(cli, ["figure", "robustness", *arguments, "--out", str(picture)])
    assert done.exit_code == 0, done.output
    assert picture.read_text().startswith("<?xml")
    as_table = CliRunner().invoke(cli, ["figure", "robustness", *arguments, "--csv"])
    assert as_table.output.splitlines()[0] == "s,t,real_critical_points,value"
    assert len(as_table.output.splitlines()) >= 17

"""The figure ``radii``: distances of many inputs, each as ``robustness`` gives it."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from typing import Any

import numpy
import pytest
from click.testing import CliRunner

from m2bridge import InvalidCaseError, robustness
from m2bridge.cli.commands import cli
from m2bridge.decision_boundary.radii import LIGHT_BLUE, RadiiOfInputs, radii_of_inputs
from m2bridge.results.picture import BLUE
from m2bridge.results.sheet import Facts

LINE: dict[str, Any] = {"A": [[1]], "V": [[1]], "w": [1]}
"""g(x) = x³ + b for one token."""

RANDOM = numpy.random.default_rng(0)
TWO_HEADS: dict[str, Any] = {
    "K": RANDOM.integers(-8, 9, (2, 2, 4)) / 8,
    "Q": RANDOM.integers(-8, 9, (2, 2, 4)) / 8,
    "V": RANDOM.integers(-8, 9, (2, 4, 4)) / 8,
    "w": RANDOM.integers(-8, 9, 4) / 8,
}
INPUTS = RANDOM.integers(-32, 33, (6, 4, 3)) / 8


def bars(result: RadiiOfInputs, color: str) -> list[float]:
    """The heights of the bars of a colour."""
    from matplotlib.colors import to_hex

    patches = result.figure().axes[0].patches
    return [bar.get_height() for bar in patches if to_hex(bar.get_facecolor()) == color]


def test_radii_of_numbers_by_the_formula() -> None:
    """The distance of x to x³ = 8 is |x − 2|."""
    given = numpy.array([3.25, 2.625, 1.25, 3.5, 2.0])
    found = radii_of_inputs(LINE | {"X": given.reshape(5, 1, 1)}, bias=-8.0, bars=3)
    lows, highs = numpy.array(found.distances()).T
    assert (lows <= abs(given - 2)).all()
    assert (highs >= abs(given - 2)).all()
    assert highs == pytest.approx(lows)
    assert [one.sign for one in found.inputs] == [1, 1, -1, 1, 0]
    assert bars(found, BLUE) == [1, 2, 2]
    assert bars(found, LIGHT_BLUE) == [0, 0, 0]
    block = found.to_sheet().blocks[0]
    assert isinstance(block, Facts)
    facts = dict(block.rows)
    assert facts["nearest point proved"] == "5 of 5"
    assert [facts[name] for name in ("smallest", "median", "largest")] == ["0", "0.75", "1.5"]


@pytest.mark.parametrize("options", [{}, {"skip": True, "pool": "last", "scores_over": "t"}])
def test_each_input_is_asked_about_by_itself(options: dict[str, Any]) -> None:
    found = radii_of_inputs(TWO_HEADS | {"X": INPUTS}, bias=-3.0, **options)
    alone = [robustness(TWO_HEADS | {"X": X}, bias=-3.0, **options) for X in INPUTS]
    assert [one.distance for one in found.inputs] == [one.distance for one in alone]
    assert [one.value for one in found.inputs] == [one.value for one in alone]
    assert all(one.nearest is None for one in found.inputs)
    proved = [one.is_proved for one in alone]
    assert sum(bars(found, BLUE)) == sum(proved)
    fields = found.to_json()
    assert found.proved == sum(proved)
    assert fields["is_proved"] is all(proved)
    assert f"for {sum(proved)} of 6 inputs" in fields["because"]
    assert [one["distance"] for one in fields["inputs"]] == [
        one.to_json()["distance"] for one in alone
    ]
    assert "nearest" not in fields["inputs"][0]


def test_lower_bounds_are_paler_bars_on_exact_ones() -> None:
    found = radii_of_inputs(TWO_HEADS | {"X": INPUTS}, bias=-3.0, bars=4)
    lower = [low for low, _ in found.distances(is_proved=False)]
    exact = [low for low, _ in found.distances(is_proved=True)]
    assert lower
    assert exact
    edges = numpy.linspace(0, max(lower + exact), 5)
    assert bars(found, LIGHT_BLUE) == numpy.histogram(lower, edges)[0].tolist()
    assert bars(found, BLUE) == numpy.histogram(exact, edges)[0].tolist()
    legend = found.figure().axes[0].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["exact", "lower bound"]


def test_without_a_boundary_there_is_no_bar() -> None:
    found = radii_of_inputs({"A": [[0]], "V": [[1]], "w": [1], "X": [[[1]], [[2]]]}, bias=1.0)
    assert found.distances() == []
    assert sum(bars(found, BLUE)) == 0
    assert "smallest" not in str(found)
    assert found.to_csv().splitlines()[1] == "0,1.0,1,,,true,"
    assert found.to_macaulay2() == "radii = {null, null}"
    assert found.to_json()["inputs"][0]["distance"] == [None, None]


def test_counts_where_all_critical_points_are_listed() -> None:
    """They are 20 for one head of rank one, for each length."""
    random = numpy.random.default_rng(3)
    layer = {"K": [[-1, -1, 3]], "Q": [[0, 2, -3]], "V": [[-2, 3, 1]], "w": [1]}
    for t in (2, 5):
        X = random.integers(-64, 65, (6, 3, t)) / 16
        found = radii_of_inputs(layer | {"X": X}, bias=-40.0)
        counts = {one.critical_points for one in found.inputs} - {None}
        assert counts == {20}
        assert "20 for " in str(found)


@pytest.mark.parametrize(
    ("X", "options", "words"),
    [
        ([[3]], {}, r"\(n, d, t\)"),
        (numpy.zeros((0, 1, 1)), {}, r"\(n, d, t\)"),
        (None, {}, r"\(n, d, t\)"),
        ([[[3]]], {"bars": 0}, "from 1 to 1000"),
        ([[[3]]], {"scores_over": "d"}, "scores_over"),
        ([[[3], [2]]], {}, "2 rows"),
    ],
)
def test_what_has_no_histogram(X: Sequence[Any] | None, options: Any, words: str) -> None:
    layer = LINE if X is None else LINE | {"X": X}
    with pytest.raises(InvalidCaseError, match=words):
        radii_of_inputs(layer, **options)


def test_the_command(tmp_path: Any) -> None:
    file, picture = tmp_path / "layer.npz", tmp_path / "radii.svg"
    numpy.savez(file, **TWO_HEADS, X=INPUTS)
    arguments = ["figure", "radii", str(file), "--bias", "-3", "--skip", "--scores-over", "t"]
    done = CliRunner().invoke(cli, [*arguments, "--out", str(picture)])
    assert done.exit_code == 0, done.output
    assert picture.read_text().startswith("<?xml")
    table = CliRunner().invoke(cli, [*arguments, "--csv"])
    lines = list(csv.DictReader(table.output.splitlines()))[: len(INPUTS)]
    fields = json.loads(CliRunner().invoke(cli, [*arguments, "--json"]).stdout)["inputs"]
    for number, (line, one) in enumerate(zip(lines, fields, strict=True)):
        assert line["input"] == str(number)
        assert [float(line["lower"]), float(line["upper"])] == one["distance"]
        assert json.loads(line["is_proved"]) == one["is_proved"]

"""Figure 3: values, forms, and a picture whose points are where the values say."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from m2bridge.cli import commands
from m2bridge.errors import InvalidCaseError, TimeLimitError
from m2bridge.families.deep_attention import lower_bounds
from m2bridge.families.deep_attention.figure import figure_3
from m2bridge.limits import limited
from tests.clocks import Looks

VALUES = {3: 23, 4: 38, 5: 55, 6: 74, 7: 95, 8: 118, 9: 143, 10: 170}


def run(*line: str) -> Result:
    return CliRunner().invoke(commands.cli, ["figure", "3", *line])


def test_the_values_of_the_figure(tmp_path: Path) -> None:
    """All of them proved; softmax has two more, one for each scaling."""
    file = tmp_path / "figure3.svg"
    result = run("--json", "--out", str(file))
    found = json.loads(result.stdout)
    assert (result.exit_code, found["proved"], result.stderr) == (0, True, f"Written: {file}\n")
    assert {p["delta"]: p["lightning"]["dimension"] for p in found["points"]} == VALUES
    assert {p["delta"]: p["softmax"]["dimension"] - 2 for p in found["points"]} == VALUES
    for point in found["points"]:
        for kind in ("lightning", "softmax"):
            assert (
                point[kind]["upper_bound"]["value"] == point[kind]["lower_bound"]["value"] == point[kind]["dimension"]
            )
    page = file.read_text(encoding="utf-8")
    assert page.startswith("<?xml")
    assert "all values proved" in page


def test_a_figure_says_where_it_is_or_that_it_is_nowhere(tmp_path: Path) -> None:
    few = ("--delta", "3", "--layers", "2")
    shown = run(*few)
    assert (shown.exit_code, shown.stderr) == (0, "No picture is written without --out 3.svg\n")
    file = tmp_path / "new" / "figure.svg"
    written = run(*few, "--out", str(file))
    assert (written.stdout.splitlines()[0], written.stderr) == (shown.stdout.splitlines()[0], f"Written: {file}\n")
    assert file.exists()
    assert run(*few, "--csv").stderr == ""


def test_points_are_where_the_values_say() -> None:
    """Each dimension is a filled point with its number, on the line of the formula."""
    figure = figure_3(deltas=(3, 5, 7)).figure()
    for panel, more in zip(figure.axes, (0, 2), strict=True):
        expected = [(delta, VALUES[delta] + more) for delta in (3, 5, 7)]
        formula, *points = panel.lines
        assert [tuple(map(int, point)) for point in formula.get_xydata()] == expected
        assert [tuple(map(int, point.get_xydata()[0])) for point in points] == expected
        assert all(point.get_markerfacecolor() == point.get_color() for point in points)
        assert [label.get_text() for label in panel.texts] == [str(value) for _, value in expected]


def test_tables() -> None:
    rows = list(csv.DictReader(StringIO(run("--csv", "--delta", "3..4", "--t", "2").output)))
    assert [(row["delta"], row["lightning"], row["eq_16"]) for row in rows] == [("3", "23", "25"), ("4", "38", "40")]
    text = run("--layers", "3", "--delta", "2").output
    assert "l = 3, t = 3, a = 2" in text
    found = figure_3(1, 2, 9, [2])
    assert found.to_macaulay2() == "dimensions = {{2, 7, 8}}"
    assert "2 & 7 & proved & 7 & 8 & proved & 8" in found.to_latex()
    assert "<svg" in found._repr_html_()


def test_hollow_points_are_lower_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lower_bounds, "_lightning_block", lambda network: iter(()))
    monkeypatch.setattr("m2bridge.maps.rank.SPARE_ROWS", -3)
    found = figure_3(deltas=[3])
    assert not found.proved
    figure = found.figure()
    assert "hollow points are lower bounds" in figure.texts[0].get_text()
    (point,) = (line for line in figure.axes[0].lines if line.get_marker() == "o")
    assert point.get_markerfacecolor() == "white"
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()][-1] == "lower bound"


def test_what_was_found_until_the_limit() -> None:
    """A limit that ends with the first point, and one that ends before."""
    with limited(10**9, looks := Looks()):
        figure_3(deltas=[3])
    with limited(looks.number + 1, Looks()):
        found = figure_3(deltas=[3, 4])
    assert [point.delta for point in found.points] == [3]
    assert "did not finish" in found.unfinished
    with limited(1, Looks()), pytest.raises(TimeLimitError):
        figure_3(deltas=[3])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (("--delta", "0..3"), "--delta: must be of widths that are at least 1"),
        (("--delta", "x"), "--delta: 'x' is neither a width nor a range"),
        (("--delta", "5..3"), "--delta: must be from 1 to 100 widths, not 0"),
        (("--layers", "0"), "--layers: must be at least 1"),
        (("--a", "0"), "--a: must be at least 1"),
        (("--out", ""), "the name is empty"),
        (("4",), "unexpected extra argument"),
        (("--layers", "two"), "--layers: 'two' is not an integer"),
    ],
)
def test_bad_input_gets_one_line(
    line: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["m2bridge", "figure", "3", *line])
    assert commands.run() == 2
    (complaint,) = capsys.readouterr().err.splitlines()
    assert said in complaint


def test_there_are_points_or_a_refusal() -> None:
    with pytest.raises(InvalidCaseError):
        figure_3(deltas=[])


def test_figures_are_found_in_their_families() -> None:
    listed = CliRunner().invoke(commands.cli, ["figure", "--help"]).output.splitlines()
    assert {"1", "3", "hilbert", "orbits", "slice"} <= {line.split()[0] for line in listed if line.startswith("  ")}
    unknown = CliRunner().invoke(commands.cli, ["figure", "4"])
    assert (unknown.exit_code, "No such command '4'" in unknown.output) == (2, True)

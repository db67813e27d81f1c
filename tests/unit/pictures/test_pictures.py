"""Pictures: figures of the papers, slices, and real geometry."""

from __future__ import annotations

import csv
import errno
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from fractions import Fraction
from io import StringIO
from itertools import combinations, pairwise, product
from math import isclose, pi
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner, Result
from flint import Ordering, fmpq, fmpq_mpoly_ctx
from hypothesis import given, strategies
from sympy import Matrix, Symbol, symbols

from m2bridge import PolynomialMap, SingleLayerAttention, hilbert_function, slice_surface
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.cli import commands
from m2bridge.errors import (
    ContradictionError,
    InvalidCaseError,
    MethodUnavailableError,
    TimeLimitError,
)
from m2bridge.families.attention.figures import OrbitNode, covers, read_assignments
from m2bridge.families.attention.orbits.membership import orbit_of
from m2bridge.families.attention.orbits.orbits import Orbit, orbits, representative
from m2bridge.families.deep_attention import bounds
from m2bridge.families.deep_attention.figure import figure_3
from m2bridge.ideals.ideal import Ideal
from m2bridge.limits import limited
from m2bridge.maps.closure import Closure
from m2bridge.maps.polynomial_map_model import as_model
from m2bridge.maps.slice_space import SliceSpace
from m2bridge.pictures import real_geometry as real_surface
from m2bridge.pictures.graph_layout import HALF_HEIGHT, lay_out, smooth_curve, straighten_route
from m2bridge.pictures.real_geometry import (
    Cell,
    ball,
    branches,
    fractions_between,
    nodes,
    patches,
    real_roots,
    root_intervals,
)
from m2bridge.results.known import Bounds
from m2bridge.results.picture import add_title, check_available, new_figure, picture_format
from tests.limits import Looks
from tests.tiers import slow

# Pictures without an engine: closures of orbits by limits, layered graphs, files, and what is
# imported when.


@pytest.mark.parametrize("case", [(2, 2), (3, 2, 2), (3, 3)])
def test_an_orbit_below_is_a_limit(case: tuple[int, ...]) -> None:
    """For each edge of the diagram a line of weights (A, V) + ε (B, W), in the upper orbit for
    small ε ≠ 0.
    """
    model = SingleLayerAttention(*case)
    nodes = tuple(OrbitNode(orbit, 0, None, None) for orbit in orbits(model))
    random = Random(1)
    for low, high in covers(nodes):
        assert low.orbit is not None
        assert any(_leads_up(low.orbit, high.orbit, model, random) for _ in range(300)), (low, high)


def _leads_up(low: Orbit, high: Orbit | None, model: SingleLayerAttention, random: Random) -> bool:
    """Whether a line through the representative is in the other orbit at several places near it."""
    A, V = map(Matrix, representative(low, model))
    B, W = (_of_rank(random.randint(0, 1), *matrix.shape, random) for matrix in (A, V))
    if random.random() < 0.5:  # along a matrix of the same orbit of A or V
        B, W = random.choice(((B, W), (B, 0 * W), (0 * B, W)))
    return all(
        orbit_of(A + e * B, V + e * W) == high
        for e in (Fraction(1, 97), Fraction(1, 1009), Fraction(-1, 10007))
    )


def _of_rank(rank: int, rows: int, columns: int, random: Random) -> Matrix:
    """A random matrix of rank at most 1, with small entries."""
    if rank == 0:
        return Matrix.zeros(rows, columns)
    left, right = ([random.randint(-2, 2) for _ in range(size)] for size in (rows, columns))
    return Matrix(left) * Matrix([right])


def test_covers_have_none_in_between() -> None:
    nodes = tuple(OrbitNode(orbit, 0, None, None) for orbit in orbits(SingleLayerAttention(3, 3)))
    found = covers((OrbitNode(None, 0, True, True), *nodes))
    assert ("0", "(1, 1, 1)") in {(low.name, high.name) for low, high in found}
    reachable = set(found)
    for _ in nodes:
        reachable |= {(a, d) for (a, b), (c, d) in product(reachable, found) if b == c}
    assert reachable == {
        (a, b) for a, b in product((OrbitNode(None, 0, True, True), *nodes), nodes) if a.is_below(b)
    }


@given(
    strategies.lists(
        strategies.tuples(strategies.integers(0, 11), strategies.integers(0, 11)), max_size=25
    )
)
def test_edges_of_a_layered_graph_go_round_nodes(pairs: list[tuple[int, int]]) -> None:
    layers = [[0, 1, 2], [3, 4, 5, 6], [7, 8], [9, 10, 11]]
    level = {node: number for number, layer in enumerate(layers) for node in layer}
    edges = sorted({(a, b) for a, b in pairs if level[a] < level[b]})
    places, routes = lay_out(layers, edges)
    assert len(set(places.values())) == len(places)
    for (low, high), route in zip(edges, routes, strict=True):
        assert (route[0], route[-1]) == (places[low], places[high])
        assert all(after[1] == before[1] + 1 for before, after in pairwise(route))
        assert not set(route[1:-1]) & set(places.values())


def test_a_node_that_is_a_pair_of_numbers_is_no_bend() -> None:
    """Edge 0 has a bend in layer 1, beside the node (0, 1)."""
    places, ((_, bend, _),) = lay_out([["low"], [(0, 1)], ["high"]], [("low", "high")])
    assert {places[0, 1], bend} == {(-0.5, 1), (0.5, 1)}


@given(
    strategies.lists(
        strategies.tuples(strategies.integers(0, 11), strategies.integers(0, 11)), max_size=25
    )
)
def test_bends_that_are_kept_go_round_a_node(pairs: list[tuple[int, int]]) -> None:
    layers = [[0, 1, 2], [3, 4, 5, 6], [7, 8], [9, 10, 11]]
    level = {node: number for number, layer in enumerate(layers) for node in layer}
    edges = sorted({(a, b) for a, b in pairs if level[a] < level[b]})
    places, routes = lay_out(layers, edges)
    nodes = list(places.values())
    for route in routes:
        short = straighten_route(route, nodes, left=0.2, right=0.6)
        assert (short[0], short[-1]) == (route[0], route[-1])
        assert set(short) <= set(route)
        for low, high in pairwise(short):
            if high[1] - low[1] > 1:  # bends are left out in between
                others = [node for node in nodes if node not in (route[0], route[-1])]
                assert not any(meets(low, high, node) for node in others)
        curve = smooth_curve(short)
        assert set(short) <= {(round(x, 9), round(y, 9)) for x, y in curve}
        assert all(after[1] > before[1] for before, after in pairwise(curve))


def meets(low: tuple[float, int], high: tuple[float, int], node: tuple[float, int]) -> bool:
    """Whether one of many points of a line is inside of a node or its name."""
    for step in range(101):
        x = low[0] + (high[0] - low[0]) * step / 100
        y = low[1] + (high[1] - low[1]) * step / 100
        if -0.199 < x - node[0] < 0.599 and abs(y - node[1]) < HALF_HEIGHT - 0.001:
            return True
    return False


def test_a_curve_turns_only_at_its_places() -> None:
    """Between two places it goes to one side, and it is a line where the places are on one."""
    curve = smooth_curve([(0.0, 0), (2.0, 1), (2.0, 3), (1.0, 4)])
    sides = [after[0] - before[0] for before, after in pairwise(curve)]
    assert all(side >= 0 for side in sides[:16])
    assert all(side == 0 for side in sides[16:32])
    assert all(side <= 0 for side in sides[32:])
    assert all(abs(x - y / 2) < 1e-12 for x, y in smooth_curve([(0.0, 0), (1.0, 2), (1.5, 3)]))


@pytest.mark.slow
def test_a_title_that_is_too_long_is_replaced() -> None:
    shown = []
    for length in (10, 60, 500):
        figure = new_figure(6, 4)
        add_title(figure, "x" * length, "otherwise")
        shown.append((figure.get_suptitle(), figure.texts[0].get_fontsize() < 15))
    assert shown == [("x" * 10, False), ("x" * 60, True), ("otherwise", False)]


def test_few_edges_cross() -> None:
    """Two chains that are listed crosswise are drawn side by side."""
    places, _ = lay_out([["a", "b"], ["B", "A"]], [("a", "A"), ("b", "B")])
    assert (places["a"][0] < places["b"][0]) == (places["A"][0] < places["B"][0])


def test_files_and_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [picture_format(name) for name in ("a.svg", "b.PDF", Path("c/d.png"))] == [
        "svg",
        "pdf",
        "png",
    ]
    with pytest.raises(InvalidCaseError, match="does not end in"):
        picture_format("a.jpeg")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MethodUnavailableError, match=r"pip install '\.\[plot\]'"):
        check_available()
    monkeypatch.setattr("sys.argv", ["m2bridge", "figure", "3", "--out", "figure3.svg"])
    assert commands.run() == 2
    assert capsys.readouterr().err.strip().endswith("pip install '.[plot]'")
    assert not Path("figure3.svg").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", [("figure", "3", "--delta", "3"), ("figure", "--help"), ("dimension", "--help")]
)
def test_matplotlib_is_imported_for_pictures_only(line: tuple[str, ...]) -> None:
    code = (
        f"import sys; from m2bridge.cli import commands; sys.argv[1:] = {line!r}; commands.run(); "
    )
    seen = subprocess.run(
        [sys.executable, "-c", f"{code}sys.exit('matplotlib' in sys.modules)"], capture_output=True
    )
    assert seen.returncode == 0, seen.stderr


def test_one_module_names_matplotlib() -> None:
    import m2bridge

    package = Path(m2bridge.__file__).parent
    users = [
        path for path in package.rglob("*.py") if '"matplotlib' in path.read_text(encoding="utf-8")
    ]
    assert [path.name for path in users] == ["picture.py"]


def test_colours_differ_for_the_colour_blind() -> None:
    """Also in grey: the lightness of those that stand for different things differs by a twentieth
    at least.
    """
    from m2bridge.families.attention.figures import MARKS

    def lightness(colour: str) -> float:
        red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
        return 0.299 * red + 0.587 * green + 0.114 * blue

    kinds = [MARKS[state] for state in ("smooth", "singular", "boundary")]
    for one, other in combinations(kinds, 2):
        assert one["marker"] != other["marker"]
        assert abs(lightness(str(one["color"])) - lightness(str(other["color"]))) > 0.05


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (("1", "--elevation", "up"), "'up' is not an angle"),
        (("1", "--elevation", "nan"), "'nan' is not an angle"),
        (("1", "--azimuth", "1e400"), "1e400 degrees are more than 360"),
        (("1", "--elevation", "-1e400"), "-1e400 degrees are more than 360"),
        (
            ("slice", "--d", "2", "--d-out", "1", "--azimuth", "1e400"),
            "1e400 degrees are more than 360",
        ),
        (("1", "--fineness", "1000"), "Invalid value for '--fineness': must be from 4 to 200"),
        (("1", "--out", "figure.jpg"), "does not end in .svg, .pdf or .png"),
        (
            ("slice", "--d", "2", "--d-out", "1", "--coordinates", "c_1_1_1_1"),
            "not one value for a coordinate",
        ),
        (("slice", "--d", "2", "--d-out", "1", "--coordinates", "c_1_1_1_1=1/0"), "c_1_1_1_1:"),
        (("slice", "--d", "2", "--d-out", "1", "--box", "1"), "'1' is not an interval"),
        (("orbits", "--d-out", "1"), "Option '--d' is missing"),
        (("orbits", "--d", "2", "--d-out", "1", "--t", "1"), "t ≥ 2"),
        (
            ("hilbert", "--d", "2", "--d-out", "1", "--degree", "-1"),
            "Invalid value for '--degree': must be from 0",
        ),
    ],
)
def test_bad_input_gets_one_line(
    line: tuple[str, ...],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["m2bridge", "figure", *line])
    assert commands.run() == 2
    (complaint,) = capsys.readouterr().err.splitlines()
    assert said in complaint


@pytest.mark.parametrize(
    "box", [(-Fraction(10**400), Fraction(1)), (Fraction(0), Fraction(1, 10**400))]
)
def test_boxes_are_such_that_floats_show_them(box: tuple[Fraction, Fraction]) -> None:
    with pytest.raises(InvalidCaseError, match="floats show it"):
        SliceSpace.of(("x", "y", "z"), {}, box)


@pytest.mark.parametrize("box", [(-0.5, 1), (1,), 5, ("0", "1"), {"x": 1, "y": 1, "z": 1}])
def test_ends_of_a_box_are_two_exact_numbers(box: Any) -> None:
    with pytest.raises(InvalidCaseError, match="is not an interval for x: give two integers"):
        SliceSpace.of(("x", "y", "z"), {}, box)


def test_values_of_coordinates_are_no_text() -> None:
    with pytest.raises(InvalidCaseError, match="x: 'w' is neither a number nor an expression"):
        SliceSpace.of(("x", "y", "z"), {"x": "w"}, (0, 1))  # type: ignore[dict-item]


@pytest.mark.parametrize(("name", "kind"), [(1, "an int"), (Symbol("x"), "a Symbol")])
def test_coordinates_of_a_slice_are_named_by_text(name: Any, kind: str) -> None:
    with pytest.raises(InvalidCaseError, match=f"named by text.*not by {kind}"):
        SliceSpace.of(("x", "y", "z"), {name: 1}, (0, 1))


def test_a_box_names_no_number() -> None:
    with pytest.raises(InvalidCaseError, match="look at '1'"):
        SliceSpace.of(("x", "y", "z"), {}, {1: (0, 1), "x": (0, 1)})  # type: ignore[dict-item]


def closure_of_conic(field: CoefficientField) -> Closure:
    """Return the closure of the image of (s, t) ↦ (s², st, t²) over a field: the cone xz = y²."""
    s, t, x, y, z = symbols("s t x y z")
    images = {"x": s**2, "y": s * t, "z": t**2}
    model = as_model(PolynomialMap.from_expressions([s, t], images))
    ring = PolynomialRing(field, ("x", "y", "z"))
    return Closure(
        model=model,
        field=field,
        strategy="elimination",
        equations=Ideal(ring, (ring.polynomial(x * z - y**2),)),
        known_dimension=Bounds.exactly(2),
        hilbert_series=HilbertSeries.from_numerator({0: 1, 2: -1}, 3),
        seconds=0.0,
    )


def test_the_hilbert_function_names_the_field_of_the_closure() -> None:
    over_field = hilbert_function(closure_of_conic(CoefficientField(5)), degree=2)
    assert (over_field.to_json()["field"], over_field.values) == ("GF(5)", (1, 3, 5))
    assert over_field.to_sheet().title.endswith(", over GF(5)")
    over_rationals = hilbert_function(closure_of_conic(QQ), degree=2)
    assert over_rationals.to_json()["field"] == "QQ"
    assert ", over" not in over_rationals.to_sheet().title


def test_real_points_are_those_of_a_closure_over_the_rationals() -> None:
    with pytest.raises(InvalidCaseError, match="over QQ, not GF"):
        slice_surface(closure_of_conic(CoefficientField(5)))


def test_coordinates_on_the_command_line() -> None:
    assert {name: str(value) for name, value in read_assignments("a=1, b = -w/2,c=v").items()} == {
        "a": "1",
        "b": "-w/2",
        "c": "v",
    }


# Figure 3: values, forms, and a picture whose points are where the values say.

VALUES = {3: 23, 4: 38, 5: 55, 6: 74, 7: 95, 8: 118, 9: 143, 10: 170}


def run(*line: str) -> Result:
    return CliRunner().invoke(commands.cli, ["figure", "3", *line])


@pytest.mark.slow
def test_a_picture_is_replaced_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk took the picture that was there, and left half of the new one."""

    def is_full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    target = tmp_path / "picture.svg"
    target.write_text("before", encoding="utf-8")
    monkeypatch.setattr(os, "fsync", is_full)
    with pytest.raises(OSError, match="No space left"):
        figure_3(deltas=[3]).save(target)
    assert target.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.slow
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
                point[kind]["upper_bound"]["value"]
                == point[kind]["lower_bound"]["value"]
                == point[kind]["dimension"]
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
    assert (written.stdout.splitlines()[0], written.stderr) == (
        shown.stdout.splitlines()[0],
        f"Written: {file}\n",
    )
    assert file.exists()
    assert run(*few, "--csv").stderr == ""


def test_points_are_where_the_values_say() -> None:
    """Each dimension is a filled point with its number, on the line of the formula."""
    figure = figure_3(deltas=(3, 5, 7)).figure()
    for panel, more in zip(figure.axes, (0, 2), strict=True):
        expected = [(delta, VALUES[delta] + more) for delta in (3, 5, 7)]
        formula, points = panel.lines
        for drawn in (formula, points):
            assert [tuple(map(int, point)) for point in drawn.get_xydata()] == expected
        assert points.get_markerfacecolor() == points.get_color()
        assert [label.get_text() for label in panel.texts] == [str(value) for _, value in expected]


def test_tables() -> None:
    rows = list(csv.DictReader(StringIO(run("--csv", "--delta", "3..4", "--t", "2").output)))
    assert [(row["delta"], row["lightning"], row["eq_16"]) for row in rows] == [
        ("3", "23", "25"),
        ("4", "38", "40"),
    ]
    text = run("--layers", "3", "--delta", "2").output
    assert "l = 3, t = 3, a = 2" in text
    found = figure_3(1, 2, 9, [2])
    assert found.to_macaulay2() == "dimensions = {{2, 7, 8}}"
    assert "2 & 7 & proved & 7 & 8 & proved & 8" in found.to_latex()
    assert "<svg" in found._repr_html_()


def test_hollow_points_are_lower_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "lightning_block", lambda network: iter(()))
    monkeypatch.setattr("m2bridge.maps.jacobian_rank.SPARE_ROWS", -3)
    found = figure_3(deltas=[3])
    assert not found.proved
    figure = found.figure()
    assert "hollow points are lower bounds" in figure.texts[0].get_text()
    (point,) = (line for line in figure.axes[0].lines if line.get_marker() == "o")
    assert point.get_markerfacecolor() == "white"
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()][
        -1
    ] == "lower bound"


def test_what_was_found_until_the_limit() -> None:
    """A limit that ends with the first point, and one that ends before; no rank of a block
    is kept.
    """
    bounds._block_rank.cache_clear()
    with limited(10**9, looks := Looks()):
        figure_3(deltas=[3])
    bounds._block_rank.cache_clear()
    with limited(looks.number + 1, Looks()):
        found = figure_3(deltas=[3, 1])
    assert [point.delta for point in found.points] == [3]
    assert "did not finish" in found.unfinished
    bounds._block_rank.cache_clear()
    with limited(1, Looks()), pytest.raises(TimeLimitError):
        figure_3(deltas=[3])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            ("--delta", "0..3"),
            "Invalid value for '--delta': '0..3' is not a range of positive numbers",
        ),
        (("--delta", "x"), "Invalid value for '--delta': 'x' is not a range"),
        (("--delta", "5..3"), "Invalid value for '--delta': '5..3' is not a range"),
        (
            ("--delta", "1..200"),
            "Invalid value for '--delta': must be from 1 to 100 widths, not 200",
        ),
        (("--layers", "0"), "Invalid value for '--layers': must be at least 1"),
        (("--a", "0"), "Invalid value for '--a': must be at least 1"),
        (("--out", ""), "the name is empty"),
        (("4",), "unexpected extra argument"),
        (("--layers", "two"), "Invalid value for '--layers': 'two' is not an integer"),
    ],
)
def test_bad_input_gets_one_line_of_figure(
    line: tuple[str, ...],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
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
    assert {"1", "3", "hilbert", "orbits", "slice"} <= {
        line.split()[0] for line in listed if line.startswith("  ")
    }
    unknown = CliRunner().invoke(commands.cli, ["figure", "4"])
    assert (unknown.exit_code, "No such command '4'" in unknown.output) == (2, True)


# Real surfaces in cells, real branches of curves: against areas, signs and geometry that is known.

NAMES = ("x", "y", "z")
X, Y, Z = fmpq_mpoly_ctx.get(NAMES, Ordering.lex).gens()
RING = PolynomialRing(QQ, NAMES)
x, y, z = RING.sympy_ring.gens
half = RING.sympy_ring.domain(1, 2)


def cube(low: int, high: int) -> dict[str, tuple[Any, Any]]:
    return dict.fromkeys(NAMES, (fmpq(low), fmpq(high)))


SURFACES = {
    "umbrella": (Z**2 - X * Y**2, None),
    "sphere": (X**2 + Y**2 + Z**2 - 1, 2),
    "cubic of Cayley": (X * Y + Y * Z + Z * X + X * Y * Z, None),
    "saddle": (Z - X * Y, None),
    "graph with poles": (X * Z - 1, 2),
    "torus": ((X**2 + Y**2 + Z**2 + fmpq(3, 4)) ** 2 - 4 * (X**2 + Y**2), None),
    "cylinder": (X**2 + Y**2 - 1, 2),
    "no real points": (X**2 + Y**2 + Z**2 + 1, 0),
}


@pytest.mark.parametrize("name", [slow(name) if name == "torus" else name for name in SURFACES])
def test_points_of_cells_lie_on_the_surface(name: str) -> None:
    surface, count = SURFACES[name]
    cells = patches(surface, cube(-2, 2), [], 8)
    assert count is None or len(cells) == count
    for cell in cells:
        assert all(abs(_value(surface, point)) < 1e-5 for strip in cell.points for point in strip)
        assert ball(surface, cell.sample).contains(0)
        assert cell.rational is None or surface(*(cell.rational[n] for n in NAMES)) == 0


def _value(polynomial: Any, point: Sequence[float]) -> float:
    return sum(
        int(c.p) / int(c.q) * point[0] ** int(i) * point[1] ** int(j) * point[2] ** int(k)
        for (i, j, k), c in polynomial.to_dict().items()
    )


@pytest.mark.slow
@pytest.mark.parametrize(("name", "area"), [("sphere", 4 * pi), ("torus", 2 * pi**2)])
def test_cells_cover_a_surface_once(name: str, area: float) -> None:
    """Their squares have its area in the end: no sheet is missing, none is there twice."""
    cells = patches(SURFACES[name][0], cube(-2, 2), [], 48)
    assert isclose(sum(map(_area, cells)), area, rel_tol=0.02)


def _area(cell: Cell) -> float:
    total = 0.0
    for one, other in zip(cell.points[:-1], cell.points[1:], strict=True):
        for a, b, c, d in zip(one[:-1], one[1:], other[1:], other[:-1], strict=True):
            u, v = ([p - q for p, q in zip(*ends, strict=True)] for ends in ((c, a), (d, b)))
            cross = (
                u[1] * v[2] - u[2] * v[1],
                u[2] * v[0] - u[0] * v[2],
                u[0] * v[1] - u[1] * v[0],
            )
            total += sum(part * part for part in cross) ** 0.5 / 2
    return total


def test_a_cut_has_one_sign_on_each_cell() -> None:
    cut = X - Y + Z / 3
    for cell in patches(SURFACES["sphere"][0], cube(-2, 2), [cut], 8):
        sign = ball(cut, cell.sample) > 0
        values = [_value(cut, point) for strip in cell.points for point in strip]
        assert all(value > -1e-5 if sign else value < 1e-5 for value in values)


def test_without_the_discriminant_cells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted mistake: the numbers of roots over a cell differ, which is seen."""
    monkeypatch.setattr(real_surface, "boundaries", lambda polynomial, variable, interval: [])
    with pytest.raises(ContradictionError, match="number of real roots"):
        patches(SURFACES["sphere"][0], cube(-2, 2), [], 8)


def test_branches_of_curves() -> None:
    """A circle in a plane that is not parallel to the axes, cut where x = 0; a twisted cubic; two
    isolated points.
    """
    circle = Ideal(RING, (x**2 + y**2 + z**2 - 1, x + y + z))
    found = branches(circle, cube(-2, 2), [x], 12)
    assert len(found) == 4
    for branch in found:
        assert all(
            isclose(sum(c * c for c in point), 1, abs_tol=1e-5) for point in branch.points[0]
        )
        assert all(abs(sum(point)) < 1e-5 for point in branch.points[0])
        assert len({point[0] > 0 for point in branch.points[0]}) == 1
    cubic = Ideal(RING, (y - x**2, z - x**3))
    (only,) = branches(cubic, cube(-1, 1), [], 12)
    assert all(isclose(point[2], point[0] ** 3, abs_tol=1e-9) for point in only.points[0])
    pair = branches(Ideal(RING, (x**2 - half, y - x, z)), cube(-1, 1), [], 12)
    assert [branch.points[0] for branch in pair] == [
        ((-(0.5**0.5),) * 2 + (0.0,),),
        ((0.5**0.5,) * 2 + (0.0,),),
    ]
    assert branches(Ideal(RING, (x - half, y, z)), cube(-1, 1), [], 12)[0].rational == {
        "x": fmpq(1, 2),
        "y": 0,
        "z": 0,
    }
    assert not branches(Ideal(RING, (x**2 + 1, y, z)), cube(-1, 1), [], 12)


def test_roots_nodes_and_fractions() -> None:
    assert [
        float(root.mid()) for root in real_roots(X**3 - 2 * X**2 + X, "x", (fmpq(-1), fmpq(2)))
    ] == [0.0, 1.0]
    parts = root_intervals([X, X - fmpq(1, 2), X**2 + 1], "x", (fmpq(-1), fmpq(1)))
    assert parts == [(-1, 0), (0, fmpq(1, 2)), (fmpq(1, 2), 1)]
    assert nodes(parts[1], 9) == sorted(nodes(parts[1], 9))
    assert fractions_between((fmpq(3, 10), fmpq(7, 10)), 3) == [fmpq(1, 2), fmpq(1, 3), fmpq(2, 3)]
    low, high = fmpq(123456781, 10**9), fmpq(123456789, 10**9)
    assert all(low < fraction < high for fraction in fractions_between((low, high), 2))

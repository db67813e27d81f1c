"""Pictures without an engine: closures of orbits by limits, layered graphs, files, and what is imported when."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from itertools import combinations, pairwise, product
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, strategies
from sympy import Matrix

from m2bridge import SingleLayerAttention
from m2bridge.cli import commands
from m2bridge.errors import InvalidCaseError, MethodUnavailableError
from m2bridge.families.attention.figures import _assignments
from m2bridge.families.attention.function import orbit_of
from m2bridge.families.attention.orbit_diagram import OrbitNode, covers
from m2bridge.families.attention.orbits import Orbit, orbits, representative
from m2bridge.maps.slice_surface import SliceSpace
from m2bridge.pictures.graph_layout import placed
from m2bridge.results.picture import add_title, check_available, new_figure, picture_format


@pytest.mark.parametrize("case", [(2, 2), (3, 2, 2), (3, 3)])
def test_an_orbit_below_is_a_limit(case: tuple[int, ...]) -> None:
    """For each edge of the diagram a line of weights (A, V) + ε (B, W), in the upper orbit for small ε ≠ 0."""
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
        orbit_of(A + e * B, V + e * W) == high for e in (Fraction(1, 97), Fraction(1, 1009), Fraction(-1, 10007))
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
    assert reachable == {(a, b) for a, b in product((OrbitNode(None, 0, True, True), *nodes), nodes) if a.below(b)}


@given(strategies.lists(strategies.tuples(strategies.integers(0, 11), strategies.integers(0, 11)), max_size=25))
def test_edges_of_a_layered_graph_go_round_nodes(pairs: list[tuple[int, int]]) -> None:
    layers = [[0, 1, 2], [3, 4, 5, 6], [7, 8], [9, 10, 11]]
    level = {node: number for number, layer in enumerate(layers) for node in layer}
    edges = sorted({(a, b) for a, b in pairs if level[a] < level[b]})
    places, routes = placed(layers, edges)
    assert len(set(places.values())) == len(places)
    for (low, high), route in zip(edges, routes, strict=True):
        assert (route[0], route[-1]) == (places[low], places[high])
        assert all(after[1] == before[1] + 1 for before, after in pairwise(route))
        assert not set(route[1:-1]) & set(places.values())


def test_a_title_that_is_too_long_is_replaced() -> None:
    shown = []
    for length in (10, 60, 500):
        figure = new_figure(6, 4)
        add_title(figure, "x" * length, "otherwise")
        shown.append((figure.get_suptitle(), figure.texts[0].get_fontsize() < 15))
    assert shown == [("x" * 10, False), ("x" * 60, True), ("otherwise", False)]


def test_few_edges_cross() -> None:
    """Two chains that are listed crosswise are drawn side by side."""
    places, _ = placed([["a", "b"], ["B", "A"]], [("a", "A"), ("b", "B")])
    assert (places["a"][0] < places["b"][0]) == (places["A"][0] < places["B"][0])


def test_files_and_what_is_missing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert [picture_format(name) for name in ("a.svg", "b.PDF", Path("c/d.png"))] == ["svg", "pdf", "png"]
    with pytest.raises(InvalidCaseError, match="does not end in"):
        picture_format("a.jpeg")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MethodUnavailableError, match=r"pip install 'm2bridge\[plot\]'"):
        check_available()
    monkeypatch.setattr("sys.argv", ["m2bridge", "figure", "3", "--out", "figure3.svg"])
    assert commands.run() == 2
    assert capsys.readouterr().err.strip().endswith("pip install 'm2bridge[plot]'")
    assert not Path("figure3.svg").exists()


@pytest.mark.parametrize("line", [("figure", "3", "--delta", "3"), ("figure", "--help"), ("dimension", "--help")])
def test_matplotlib_is_imported_for_pictures_only(line: tuple[str, ...]) -> None:
    code = f"import sys; from m2bridge.cli import commands; sys.argv[1:] = {line!r}; commands.run(); "
    seen = subprocess.run([sys.executable, "-c", f"{code}sys.exit('matplotlib' in sys.modules)"], capture_output=True)
    assert seen.returncode == 0, seen.stderr


def test_one_module_names_matplotlib() -> None:
    import m2bridge

    package = Path(m2bridge.__file__).parent
    users = [path for path in package.rglob("*.py") if '"matplotlib' in path.read_text(encoding="utf-8")]
    assert [path.name for path in users] == ["picture.py"]


def test_colours_differ_for_the_colour_blind() -> None:
    """Also in grey: the lightness of those that stand for different things differs by a twentieth at least."""
    from m2bridge.families.attention.orbit_diagram import MARKS

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
        (("slice", "--d", "2", "--d-out", "1", "--azimuth", "1e400"), "1e400 degrees are more than 360"),
        (("1", "--fineness", "1000"), "--fineness: must be from 4 to 200"),
        (("1", "--out", "figure.jpg"), "does not end in .svg, .pdf or .png"),
        (("slice", "--d", "2", "--d-out", "1", "--coordinates", "c_1_1_1_1"), "not one value for a coordinate"),
        (("slice", "--d", "2", "--d-out", "1", "--coordinates", "c_1_1_1_1=1/0"), "c_1_1_1_1:"),
        (("slice", "--d", "2", "--d-out", "1", "--box", "1"), "'1' is not an interval"),
        (("orbits", "--d-out", "1"), "--d: is missing"),
        (("orbits", "--d", "2", "--d-out", "1", "--t", "1"), "t ≥ 2"),
        (("hilbert", "--d", "2", "--d-out", "1", "--degree", "-1"), "--degree: must be from 0"),
    ],
)
def test_bad_input_gets_one_line(
    line: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["m2bridge", "figure", *line])
    assert commands.run() == 2
    (complaint,) = capsys.readouterr().err.splitlines()
    assert said in complaint


@pytest.mark.parametrize("box", [(-Fraction(10**400), Fraction(1)), (Fraction(0), Fraction(1, 10**400))])
def test_boxes_are_such_that_floats_show_them(box: tuple[Fraction, Fraction]) -> None:
    with pytest.raises(InvalidCaseError, match="floats show it"):
        SliceSpace.of(("x", "y", "z"), {}, box)


def test_coordinates_on_the_command_line() -> None:
    assert {name: str(value) for name, value in _assignments("a=1, b = -w/2,c=v").items()} == {
        "a": "1",
        "b": "-w/2",
        "c": "v",
    }

"""Slices of closures, orbits and Hilbert functions as they are drawn: what a picture shows is
computed once more.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product
from math import cos, radians, sin
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sympy import Matrix, Poly, Rational, diff, prod, solve, symbols, sympify

from m2bridge import (
    InvalidCaseError,
    Macaulay2,
    PolynomialMap,
    SingleLayerAttention,
    closure,
    hilbert_function,
    ideal,
    membership,
    orbit_diagram,
    slice_surface,
)
from m2bridge.cli import UNDECIDED as UNFINISHED, USAGE, commands
from m2bridge.errors import ContradictionError, MethodUnavailableError
from m2bridge.families.attention.figures import figure_1
from m2bridge.families.attention.orbits.coordinates import coordinate, indices, reduced_name
from m2bridge.families.attention.orbits.orbits import representative
from m2bridge.families.attention.orbits.parametrization import orbit_closure_map
from m2bridge.limits import clock
from m2bridge.maps.slice_surface import SliceSurface
from m2bridge.pictures.slice_picture import CLOSURE_ONLY, FUNCTIONS, REAL_POINTS
from tests.conftest import Invoke
from tests.limits import HOUR

pytestmark = pytest.mark.macaulay2("any")

UMBRELLA = {"c_1_1_1_1": 1, "c_1_1_1_2": 0, "c_1_2_1_1": 0}


@pytest.fixture(scope="module")
def umbrella(session: Macaulay2) -> SliceSurface:
    return figure_1(engine=session, fineness=10)


@pytest.mark.slow
@pytest.mark.macaulay2("each")
def test_the_whitney_umbrella(umbrella: SliceSurface) -> None:
    """Its equation by hand: the resultant of y² − w and v y + c."""
    v, c, w = symbols("v c w")
    by_hand = Matrix([[1, 0, -w], [v, c, 0], [0, v, c]]).det()
    assert umbrella.equation.as_expr().equals(by_hand) or umbrella.equation.as_expr().equals(
        -by_hand
    )


@pytest.mark.slow
def test_the_singular_curve_is_where_the_gradient_vanishes(umbrella: SliceSurface) -> None:
    """Solved by SymPy; and every point that is drawn lies on the surface, those of the curve with
    gradient zero.
    """
    equation = umbrella.equation.as_expr()
    v, c, w = symbols("v c w")
    gradient = [diff(equation, x) for x in (v, c, w)]
    assert solve([equation, *gradient], [v, c], dict=True) == [{v: 0, c: 0}]
    (curve,) = umbrella.singular
    assert {str(g) for g in curve.prime.generators} == {"v", "c"}
    for piece in umbrella.pieces:
        for point in (point for strip in piece.points for point in strip):
            at = dict(zip((v, c, w), point, strict=True))
            assert abs(equation.subs(at)) < 1e-6
            flat = max(abs(part.subs(at)) for part in gradient) < 1e-6
            assert flat if piece.singular else True
    assert {piece.singular for piece in umbrella.pieces if piece.kind == "surface"} == {False}


def test_solid_and_dotted_points_by_membership(umbrella: SliceSurface, engine: Macaulay2) -> None:
    """Rational points of the pieces, other than those that were looked at: (v, v r, r²), and (0, 0,
    w).
    """
    model = SingleLayerAttention(2, 1)
    for v, r in (
        (Fraction(1, 3), Fraction(1, 2)),
        (Fraction(-2, 5), Fraction(2, 3)),
        (Fraction(3, 4), Fraction(-1, 5)),
    ):
        function = UMBRELLA | {"c_1_1_2_2": -(r**2), "c_1_2_1_2": v, "c_1_2_2_2": v * r}
        assert membership(model, function, engine=engine).place == "in the neuromanifold"
    places = {piece.place: piece for piece in umbrella.pieces if piece.kind == "curve"}
    assert set(places) == {FUNCTIONS, CLOSURE_ONLY}
    assert all(point[2] > 0 for point in places[FUNCTIONS].points[0])
    assert all(point[2] < 0 for point in places[CLOSURE_ONLY].points[0])
    for w, place in (
        (Fraction(2, 7), "in the neuromanifold"),
        (Fraction(-2, 7), "only in the Zariski closure"),
    ):
        assert membership(model, UMBRELLA | {"c_1_1_2_2": -w}, engine=engine).place == place


@pytest.mark.slow
def test_numbers_of_two_axes_stand_apart(umbrella: SliceSurface) -> None:
    """At the corners of the box, from several sides."""
    for elevation, azimuth in ((22, -62), (35, 20), (10, 130)):
        figure = umbrella.seen_from(elevation, azimuth).figure()
        renderer = figure.canvas.get_renderer()
        figure.draw(renderer)
        space = figure.axes[0]
        axes = (space.xaxis, space.yaxis, space.zaxis)
        numbers = [
            tick.label1.get_window_extent(renderer) for axis in axes for tick in axis.majorTicks
        ]
        letters = [axis.label.get_window_extent(renderer) for axis in axes]
        boxes = [*(box.padded(3) for box in numbers), *letters]
        assert not any(one.overlaps(other) for k, one in enumerate(boxes) for other in boxes[:k])


def test_the_picture_shows_the_pieces(umbrella: SliceSurface) -> None:
    """The lines that are drawn are the pieces: dotted ones only in the closure; a square for each
    of the grids.
    """
    (axes,) = umbrella.seen_from(30, 45).figure().axes
    assert (axes.elev, axes.azim) == (30, 45)
    drawn = dict(_drawn_segments(axes))
    for piece in umbrella.pieces:
        if piece.kind == "curve":
            for segment in pairwise(piece.points[0]):
                assert (drawn.pop(segment).get_linestyle() in ("-", "solid")) == (
                    piece.place == FUNCTIONS
                )
    assert not drawn
    (surface,) = [
        found
        for found in axes.collections
        if hasattr(found, "set_3d_properties") and found.get_zorder() == 1
    ]
    grids = [piece.points for piece in umbrella.pieces if piece.kind == "surface"]
    assert len(surface.get_facecolor()) == sum(
        (len(grid) - 1) * (len(grid[0]) - 1) for grid in grids
    )
    texts = {text.get_text() for text in axes.figure.legends[0].get_texts()}
    assert "singular curve: only in the Zariski closure" in texts


def _drawn_segments(axes: Any) -> Iterator[tuple[Any, Any]]:
    for line in axes.lines:
        for segment in pairwise(map(tuple, zip(*line.get_data_3d(), strict=True))):
            yield segment, line


@pytest.mark.parametrize(("elevation", "azimuth"), [(22, -62), (35, 20), (20, -10), (60, 30)])
def test_the_curve_is_pale_where_the_surface_is_before_it(
    umbrella: SliceSurface, elevation: float, azimuth: float
) -> None:
    """By hand: the ray from (0, 0, w) to the eye (x, y, z) meets y² = x² (w + s z) at one s, in the
    box or not.

    Segments whose meeting point is near the edge of what can hide them are left out.
    """
    e, a = radians(elevation), radians(azimuth)
    x, y, z = cos(e) * cos(a), cos(e) * sin(a), sin(e)
    height, clear = (y / x) ** 2, []
    for (one, other), line in _drawn_segments(
        umbrella.seen_from(elevation, azimuth).figure().axes[0]
    ):
        s = (height - (one[2] + other[2]) / 2) / z
        inside = [s, 1 - height, 1 - abs(s * x), 1 - abs(s * y)]
        if min(map(abs, inside)) > 0.15:
            clear.append((min(inside) > 0, line.get_alpha() < 1))
    assert len(clear) > 4
    assert all(behind == pale for behind, pale in clear)
    assert {behind for behind, _ in clear} == ({False} if azimuth == -62 else {False, True})


@pytest.mark.slow
def test_a_long_equation_does_not_leave_the_picture(
    umbrella: SliceSurface, engine: Macaulay2
) -> None:
    fixed = {"c_1_1_1_1": 1, "c_1_1_1_2": 1, "c_1_2_1_1": Rational(1, 2)}
    long = slice_surface(SingleLayerAttention(2, 1), fixed, engine=engine, fineness=4)
    assert [_title_inside(found.figure()) < 15 for found in (umbrella, long)] == [False, True]


def _title_inside(figure: Any) -> float:
    """The size of its letters."""
    title = figure.get_suptitle()
    (shown,) = (text for text in figure.texts if text.get_text() == title)
    extent = shown.get_window_extent(figure.canvas.get_renderer())
    assert 0 <= extent.x0 < extent.x1 <= figure.bbox.width
    return float(shown.get_fontsize())


def test_a_surface_that_is_half_dotted(engine: Macaulay2) -> None:
    """For (2, 1, 1) all functions are q ⊗ (k·v): real if and only if the quadratic form y² +
    c_1_1_2_2 z² splits.
    """
    fixed = {"c_1_1_1_1": 1, "c_1_1_1_2": 0, "c_1_2_1_2": 0}
    found = slice_surface(SingleLayerAttention(2, 1, 1), fixed, engine=engine, fineness=6)
    assert {piece.place for piece in found.pieces} == {FUNCTIONS, CLOSURE_ONLY}
    for piece in found.pieces:
        for point in (point for strip in piece.points for point in strip):
            assert (point[found.variables.index("c_1_1_2_2")] > 0) == (piece.place == CLOSURE_ONLY)
        assert piece.sample is not None
        function = fixed | {
            n: Rational(v.numerator, v.denominator) for n, v in piece.sample.items()
        }
        inside = (
            membership(SingleLayerAttention(2, 1, 1), function, engine=engine).place
            == "in the neuromanifold"
        )
        assert inside == (piece.place == FUNCTIONS)
    assert found.figure().axes[0].collections


def test_full_coordinates_have_the_same_pieces(umbrella: SliceSurface, engine: Macaulay2) -> None:
    """Those of the function itself, written out: output k at token j is Σ c_kipq x_pu x_qu x_ij
    over all tokens u.
    """
    model = SingleLayerAttention(2, 1)
    X = {(p, u): symbols(f"x_{p}_{u}") for p in (1, 2) for u in (1, 2)}
    names = {
        f"c_1_{i}_{p}_{q}": (i, p, q) for i in (1, 2) for p in (1, 2) for q in (1, 2) if p <= q
    }
    forms = {name: sympify(form.as_expr()) for name, form in umbrella.coordinates.items()}
    given = {}
    for j in (1, 2):
        whole = Poly(
            sum(
                forms[n] * X[p, u] * X[q, u] * X[i, j]
                for n, (i, p, q) in names.items()
                for u in (1, 2)
            ),
            *X.values(),
        )
        for full_name in model.in_coordinates("full").coordinate_names():
            numbers = list(map(int, full_name.split("_")[1:]))
            if numbers[1] == j:
                places = list(zip(numbers[2::2], numbers[3::2], strict=True))
                given[full_name] = whole.coeff_monomial(prod(X[place] for place in places))
    full = slice_surface(model.in_coordinates("full"), given, engine=engine, fineness=6)
    assert {(piece.kind, piece.place, piece.singular) for piece in full.pieces} == {
        (piece.kind, piece.place, piece.singular) for piece in umbrella.pieces
    }
    assert full.equation.as_expr().expand() in (
        umbrella.equation.as_expr(),
        -umbrella.equation.as_expr(),
    )


def test_a_map_has_pieces_of_real_points_and_a_page(engine: Macaulay2) -> None:
    u, v = symbols("u v")
    whitney = PolynomialMap.from_expressions([u, v], {"x": u * v, "y": u, "z": v**2})
    found = slice_surface(whitney, engine=engine, fineness=6)
    assert {piece.place for piece in found.pieces} == {REAL_POINTS}
    assert [piece.singular for piece in found.pieces if piece.kind == "curve"] == [True]
    with pytest.raises(InvalidCaseError, match="'elevation' must be a number of degrees"):
        found.seen_from("30", 45)  # type: ignore[arg-type]
    (axes,) = found.figure().axes
    assert {line.get_linestyle() for line in axes.lines} == {"-"}
    legend = {text.get_text() for text in axes.figure.legends[0].get_texts()}
    assert legend == {"surface: real points", "singular curve: real points"}
    page = found._repr_html_()
    scene = json.loads(page.split('data-scene="')[1].split('"')[0].replace("&#34;", '"'))
    assert sum(len(surface["squares"]) for surface in scene["surfaces"]) > 4
    assert all(
        -1 <= number <= 1
        for surface in scene["surfaces"]
        for square in surface["squares"]
        for number in square
    )


def test_a_surface_by_its_equation_has_real_points(engine: Macaulay2) -> None:
    """The umbrella by its equation is the umbrella by its map; the sphere has two halves."""
    u, v = symbols("u v")
    by_map = slice_surface({"x": u * v, "y": u, "z": v**2}, engine=engine, fineness=6)
    by_equation = slice_surface(ideal("x^2 - y^2*z"), engine=engine, fineness=6)
    assert by_equation.equation in (by_map.equation, -by_map.equation)
    assert by_equation.pieces == by_map.pieces
    assert by_equation.singular == by_map.singular
    assert {piece.place for piece in by_equation.pieces} == {REAL_POINTS}
    title = "Surface in a slice of the variety of an ideal"
    assert str(by_equation.to_text()).startswith(title)
    sphere = slice_surface(ideal("x^2 + y^2 + z^2 - 1/2"), engine=engine, fineness=6)
    assert [(piece.name, piece.singular) for piece in sphere.pieces] == [
        ("surface: real points", False)
    ] * 2
    for piece in sphere.pieces:
        assert all(
            abs(sum(c * c for c in point) - 0.5) < 1e-9 for line in piece.points for point in line
        )
    cut = slice_surface(ideal("x*w - y*z"), {"w": 1}, engine=engine, fineness=6)
    assert str(cut.equation) in ("x - y*z", "y*z - x")


@pytest.mark.parametrize(
    ("equation", "options", "words"),
    [
        ("x^2 + 1", {}, "leave 1 variable"),
        ("x*y, x*z", {}, "this space meets the variety in components of dimension 2, 1"),
        ("x - y*z", {"w": 1}, "'w' is not a coordinate"),
    ],
)
def test_equations_without_a_surface(
    equation: str, options: dict[str, Any], words: str, engine: Macaulay2
) -> None:
    with pytest.raises(InvalidCaseError, match=words):
        slice_surface(ideal(equation), options, engine=engine)


@pytest.mark.parametrize("field", ["GF(7)", "QQ(sqrt(2))", "ZZ"])
def test_real_points_are_of_ideals_over_the_rationals(field: str) -> None:
    with pytest.raises(InvalidCaseError, match="must be an ideal over QQ"):
        slice_surface(ideal("x - y*z", field=field))


def test_the_command_draws_ideals_and_maps(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "umbrella.toml"
    file.write_text(
        '[map]\nparameters = ["u", "v"]\n[coordinates]\nx = "u*v"\ny = "u"\nz = "v^2"\n'
    )
    for given in (["--ideal", "x^2 - y^2*z"], ["--map", str(file)]):
        result = invoke("figure", "slice", *given, "--fineness", "6", "--json")
        data = json.loads(result.stdout)
        assert {piece["place"] for piece in data["pieces"]} == {"real points"}
        assert data["variables"] == ["x", "y", "z"]
    for given, words in (
        (["--ideal", "x - y*z", "--d", "2"], "--ideal and --d exclude each other"),
        (["--ideal", "x - y*z", "--map", str(file)], "--ideal and --map exclude each other"),
        (["--variables", "x", "--d", "2"], "--variables has no effect without --ideal"),
    ):
        result = invoke("figure", "slice", *given)
        assert result.returncode == USAGE
        assert words in result.stderr


def test_a_wrong_criterion_contradicts_membership(
    engine: Macaulay2, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: the sign of the discriminant turned round."""
    right = SingleLayerAttention.without_real_weights

    def wrong(self: Any) -> Any:
        known = right(self)
        return type(known)(known.zero, -known.positive, known.reason)

    monkeypatch.setattr(SingleLayerAttention, "without_real_weights", wrong)
    with pytest.raises(ContradictionError, match="membership the contrary"):
        figure_1(engine=engine, fineness=6)


@pytest.mark.parametrize(
    ("fixed", "said"),
    [
        ({"c_1_1_1_1": 1}, "leave 5 variables"),
        ({"c_9": 1}, "'c_9' is not a coordinate"),
        (UMBRELLA | {"c_1_1_2_2": symbols("w") ** 2}, "not of degree at most 1"),
        ({**UMBRELLA, "c_1_1_1_1": 0}, "components of dimension 1"),
        ({"c_1_1_1_1": 1, "c_1_1_1_2": symbols("c_1_2_1_1")}, "give the variable another name"),
    ],
)
def test_slices_that_are_none(fixed: dict[str, Any], said: str, engine: Macaulay2) -> None:
    case = (
        SingleLayerAttention(2, 1, 1) if fixed.get("c_1_1_1_1") == 0 else SingleLayerAttention(2, 1)
    )
    if "components" in said:
        fixed = {"c_1_1_1_1": 1, "c_1_1_1_2": 0, "c_1_2_1_1": 0}
    with pytest.raises(InvalidCaseError, match=said):
        slice_surface(case, fixed, engine=engine)


def test_edges_of_the_hasse_diagram(engine: Macaulay2) -> None:
    """An orbit is in the closure of another if and only if the equations of that closure vanish at
    a point of it.

    Those of degree up to 3 were enough to keep apart all that are not; a limit of points of each
    orbit that is in the closure is followed in test_pictures.
    """
    model = SingleLayerAttention(2, 2)
    found = orbit_diagram(model, engine=engine)
    below = {
        (low, high)
        for high in found.nodes
        if high.orbit
        for low in _on_closure(high.orbit, found.nodes, model)
    }
    below = {(low, high) for low, high in below if low != high}
    covers = {
        (a, b)
        for a, b in below
        if not any((a, c) in below and (c, b) in below for c in found.nodes)
    }
    assert set(found.covers) == covers


def _on_closure(orbit: Any, nodes: Any, model: SingleLayerAttention) -> list[Any]:
    """The nodes at whose representatives the equations of the closure of an orbit vanish."""
    equations = closure(orbit_closure_map(orbit, model, "reduced"), max_degree=3).ideal
    assert equations is not None
    found = []
    for node in nodes:
        point = list(zip(equations.ring.sympy_ring.gens, _point(node.orbit, model), strict=True))
        if not any(g.evaluate(point) for g in equations.generators):
            found.append(node)
    return found


def _point(orbit: Any, model: SingleLayerAttention) -> list[int]:
    if orbit is None:
        return [0] * model.independent_count
    A, V = representative(orbit, model)
    return [
        coordinate(index, lambda p, i: A[p][i], lambda k, q: V[k][q]) for index in indices(model)
    ]


def test_the_orbits_that_are_drawn(engine: Macaulay2) -> None:
    """Each at the height of its dimension, with its mark; and an edge for each cover, which ends at
    both.
    """
    found = orbit_diagram(SingleLayerAttention(3, 2, 2), engine=engine)
    (axes,) = found.figure().axes
    levels = [int(label.get_text()) for label in axes.get_yticklabels()]
    marks = {
        line.get_gid().removeprefix("orbit "): line
        for line in axes.lines
        if line.get_gid() != "cover"
    }
    for node in found.nodes:
        assert levels[marks[node.name].get_ydata()[0]] == node.dimension
        kind = {"smooth": "o", "singular": "D", "boundary": "s"}[node.state]
        assert marks[node.name].get_marker() == kind
    place = {name: (line.get_xdata()[0], line.get_ydata()[0]) for name, line in marks.items()}
    drawn = {
        tuple(map(tuple, (e.get_xydata()[0], e.get_xydata()[-1])))
        for e in axes.lines
        if e.get_gid() == "cover"
    }
    assert drawn == {(place[low.name], place[high.name]) for low, high in found.covers}
    labels = [text.get_window_extent(axes.figure.canvas.get_renderer()) for text in axes.texts]
    assert not any(one.overlaps(other) for k, one in enumerate(labels) for other in labels[:k])
    assert all(label.x0 >= 0 and label.x1 <= axes.figure.bbox.width for label in labels)
    states = {node.name: node.state for node in found.nodes}
    assert states["(1, 2, 1)"] == "singular"
    assert states["(1, 1, 1)"] == "boundary"
    assert any("not to scale" in text.get_text() for text in axes.figure.texts)


def test_a_hilbert_function_by_counting_monomials(engine: Macaulay2) -> None:
    """The closure for (2, 1, 2) is a quartic in six variables: H(n) = C(n+5, 5) − C(n+1, 5)."""
    from math import comb

    found = hilbert_function(SingleLayerAttention(2, 1), engine=engine, degree=7)
    assert found.values == tuple(comb(n + 5, 5) - comb(n + 1, 5) for n in range(8))
    (axes,) = found.figure().axes
    points = {
        (int(x), int(y))
        for line in axes.lines
        if line.get_marker() == "o"
        for x, y in line.get_xydata()
    }
    assert points == set(enumerate(found.values))
    curve = next(line for line in axes.lines if line.get_marker() != "o").get_xydata()
    assert all(y == pytest.approx(found.polynomial_at(round(x))) for x, y in curve if x == round(x))
    u, v = symbols("u v")
    affine = PolynomialMap.from_expressions([u, v], {"x": u * v, "y": u, "z": v**2})
    with pytest.raises(MethodUnavailableError, match="not a cone"):
        hilbert_function(affine, engine=engine)


LINES = (
    ("1", "--fineness", "6", "--elevation", "10", "--azimuth", "-20"),
    (
        "slice",
        "--d",
        "2",
        "--d-out",
        "1",
        "--a",
        "1",
        "--coordinates",
        "c_1_1_1_1=1,c_1_1_1_2=0,c_1_2_1_2=0",
    ),
    ("orbits", "--d", "2", "--d-out", "2"),
    ("hilbert", "--d", "2", "--d-out", "1", "--degree", "5"),
)


@pytest.mark.slow
@pytest.mark.parametrize(("line", "ending"), [*product(LINES, ("svg", "pdf")), (LINES[-1], "png")])
@pytest.mark.usefixtures("one_session")
def test_pictures_of_the_command_line(
    line: tuple[str, ...], ending: str, m2: str, tmp_path: Path
) -> None:
    file = tmp_path / f"picture.{ending}"
    form = {"svg": "--json", "pdf": "--csv", "png": None}[ending]
    arguments = ["figure", *line, "--m2", m2, "--out", str(file), *filter(None, [form])]
    result = CliRunner().invoke(commands.cli, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    assert result.stderr.endswith(f"Written: {file}\n")
    assert file.read_bytes().startswith(
        {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}[ending]
    )
    if form == "--json":
        assert "version" in json.loads(result.stdout)["engine"]
    if form == "--csv":
        assert result.stdout.count("\n") > 3


@pytest.mark.slow
def test_a_slice_at_its_limit_keeps_the_pieces_that_it_has(
    m2: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Surfaces come first; the limit is reached at the first curve."""

    def late(*_: Any) -> Iterator[Any]:
        raise clock().late("the computation")

    monkeypatch.setattr("m2bridge.maps.slice_surface.branches", late)
    fixed = ",".join(f"{name}={value}" for name, value in UMBRELLA.items())
    case = [
        "--d",
        "2",
        "--d-out",
        "1",
        "--coordinates",
        fixed,
        "--fineness",
        "6",
        "--timeout",
        str(HOUR),
    ]
    out = tmp_path / "slice.svg"
    words = ["figure", "slice", *case, "--m2", m2, "--json", "--out", str(out)]
    done = CliRunner().invoke(commands.cli, words, standalone_mode=False)
    found = json.loads(done.stdout)
    assert done.return_value == UNFINISHED
    assert {piece["kind"] for piece in found["pieces"]} == {"surface"}
    assert found["unfinished"].startswith(
        "there may be more pieces: the computation did not finish within the limit"
    )
    assert out.stat().st_size > 1000


@pytest.fixture(autouse=True)
def _unchanged() -> Iterator[None]:
    """Pictures change no settings of matplotlib that others see."""
    import matplotlib

    before = dict(matplotlib.rcParams)
    yield
    assert dict(matplotlib.rcParams) == before


def test_coordinates_of_the_criterion() -> None:
    """They are all coordinates of the model, in its order."""
    model = SingleLayerAttention(2, 2)
    known = model.in_coordinates().without_real_weights()
    assert known is not None
    assert [str(s) for s in known.positive.ring.symbols] == [
        reduced_name(index) for index in indices(model)
    ]
    assert SingleLayerAttention(2, 1, t=1).in_coordinates("full").without_real_weights() is None

"""ED degrees: printed values, closed formulas, and the methods against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import prod
from random import Random
from typing import Any

import pytest
from sympy import Expr, Integer, Matrix, Poly, diff, expand, gcd, itermonomials, symbols

from m2bridge import (
    ConvolutionalNetwork,
    PolynomialMap,
    SingleLayerAttention,
    ed_degree,
    ideal,
    polar_degrees,
)
from m2bridge.algebra.field import CoefficientField
from m2bridge.convert.answers import Answer, answer_to
from m2bridge.engine import Engine, using
from m2bridge.engine.script import Script
from m2bridge.errors import (
    ConversionError,
    InvalidCaseError,
    MethodUnavailableError,
    TimeLimitError,
)
from m2bridge.ideals.ideal import Ideal
from m2bridge.maps.degrees import real_points
from m2bridge.maps.degrees.certified import proved_boxes
from m2bridge.maps.degrees.counting_primes import with_given_prime
from m2bridge.maps.degrees.distance import Variety, ideal_script
from m2bridge.maps.degrees.quadratic_forms import read_quadratic
from tests.conftest import Invoke
from tests.limits import Late

pytestmark = pytest.mark.macaulay2("any")

s, t, u, v = symbols("s t u v")
CARDIOID = "(x^2 + y^2 + x)^2 - x^2 - y^2"
ELLIPSE, CIRCLE, PARABOLA = ideal("x^2 + 4*y^2 - 4"), ideal("x^2 + y^2 - 1"), ideal("y - x^2")
CUBIC = ideal("x*z - y^2", "x*w - y*z", "y*w - z^2", variables="x y z w")
CUBIC_MAP = PolynomialMap.from_expressions(
    [s, t], {"x": s**3, "y": s**2 * t, "z": s * t**2, "w": t**3}
)


def minors(rows: int, columns: int, size: int) -> Ideal:
    """The matrices of smaller rank than this size."""
    entries = Matrix(rows, columns, symbols(f"x1:{rows * columns + 1}"))
    chosen = product(combinations(range(rows), size), combinations(range(columns), size))
    return ideal(*(entries[list(i), list(j)].det() for i, j in chosen))


def hurwitz(degree: int, *, cone: bool) -> Ideal:
    """The polynomials x0 z^n + … + xn with two roots of sum zero, by Hurwitz' determinant.

    Without ``cone`` they are monic.
    """
    variables = symbols(f"x0:{degree + 1}")

    def entry(i: int, j: int) -> Expr:
        place = 2 * (j + 1) - (i + 1)
        return variables[place] if 0 <= place <= degree else 0 * variables[0]

    determinant = expand(Matrix(degree - 1, degree - 1, entry).det())
    return ideal(determinant if cone else determinant.subs(variables[0], 1))


PRINTED: dict[str, tuple[Ideal, int]] = {
    "ellipse": (ELLIPSE, 4),
    "circle": (CIRCLE, 2),
    "parabola": (PARABOLA, 3),
    "hyperbola": (ideal("x*y - 1"), 4),
    "cardioid": (ideal(CARDIOID), 3),
    "sphere": (ideal("x^2 + y^2 + z^2 - 1"), 2),
    "rank one, 2 x 2": (minors(2, 2, 2), 2),
    "rank one, 2 x 3": (minors(2, 3, 2), 2),
    "rank one, 3 x 3": (minors(3, 3, 2), 3),
    "Hurwitz 3": (hurwitz(3, cone=False), 5),
    "Hurwitz 4": (hurwitz(4, cone=False), 5),
    "Hurwitz 5": (hurwitz(5, cone=False), 13),
    "Hurwitz 3, cone": (hurwitz(3, cone=True), 2),
    "Hurwitz 4, cone": (hurwitz(4, cone=True), 10),
    "Hurwitz 5, cone": (hurwitz(5, cone=True), 6),
    # Smooth plane curves of degree d that meet the line at infinity, and its points with
    # x² + y² = 0, transversally: d².
    "Fermat 3": (ideal("x^3 + y^3 - 1"), 9),
    "Fermat 4": (ideal("x^4 + y^4 - 1"), 16),
    # Rational normal curves of degree d: 3d − 2.
    "twisted cubic": (CUBIC, 7),
    # By hand: every point of a whole space, a point, two points, a conic that is a double line.
    "plane": (ideal(0, variables="x y"), 1),
    "point": (ideal("x - 1", "y - 2"), 1),
    "two points": (ideal("x^2 - x", "y"), 2),
    "double line": (ideal("x^2", variables="x y"), 1),
    "two lines": (ideal("x*y"), 2),
    "line and point": (ideal("x*y", "y^2 - y"), 2),
    # Of the lines x = ± i y, where the form vanishes, no point is critical for general data.
    "isotropic lines": (ideal("x^2 + y^2"), 0),
}


FAST = ("ellipse", "circle", "parabola", "cardioid", "sphere", "rank one, 2 x 2", "Hurwitz 3")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in FAST else pytest.mark.slow) for name in PRINTED]
)
def test_values_in_print(name: str, engine: Engine) -> None:
    variety, expected = PRINTED[name]
    found = ed_degree(variety, engine=engine, generic=False)
    assert found.ed_degree == expected
    # three primes, or more where a prime of 15 bits happens to be unlucky; two where they are slow
    assert 2 <= len(found.primes) <= 5
    assert all(2**14 < prime < 2**15 for prime in found.primes)


def critical_parameters(parametrization: Mapping[str, Expr]) -> int:
    """The critical parameters of a plane curve, by SymPy, for one data point.

    The common zeros of the derivatives, where the curve is not immersed, are left out.
    """
    derivatives = [diff(image, t) for image in parametrization.values()]
    gradient = sum(
        (image - number) * derivative
        for image, number, derivative in zip(
            parametrization.values(), (17, -29), derivatives, strict=True
        )
    )
    common = gcd(*derivatives)
    equation = Poly(expand(gradient), t).quo(Poly(common, t))
    assert equation.is_sqf
    return int(equation.degree())


@pytest.mark.slow
@pytest.mark.parametrize("images", [(t, t**2), (t**2, t**3), (t**2 - 1, t**3 - t), (t / 3, t**4)])
def test_curves_against_sympy(images: tuple[Expr, Expr], engine: Engine) -> None:
    """A parabola, a cusp, a node and a quartic, by both methods."""
    curve = dict(zip("xy", images, strict=True))
    given = PolynomialMap.from_expressions([t], curve)
    expected = critical_parameters(curve)
    for method in ("parametrization", "ideal"):
        found = ed_degree(given, engine=engine, method=method, generic=False)
        assert (found.ed_degree, found.method, found.dimension) == (expected, method, 1)


@pytest.mark.slow
@pytest.mark.macaulay2("each")
def test_a_map_that_is_not_injective_is_divided_by_its_fibre(engine: Engine) -> None:
    found = ed_degree(CUBIC_MAP, engine=engine, generic=False)
    assert (found.ed_degree, found.counted.count.fibre, found.cone) == (7, 3, True)
    assert "over the 3 points of a general fibre" in found.to_text()
    point = PolynomialMap.from_expressions([s], {"x": 0 * s + 1, "y": 0 * s})
    assert ed_degree(point, engine=engine, generic=False).ed_degree == 1


@pytest.mark.slow
def test_other_quadratic_forms(engine: Engine) -> None:
    """The form of the rational normal curve that rotations preserve: its degree.

    An ellipse has as many critical points as a circle with the corresponding form.
    """
    for given in (CUBIC, CUBIC_MAP):
        found = ed_degree(
            given, quadratic="x^2 + 3*y^2 + 3*z^2 + w^2", engine=engine, generic=False
        )
        assert found.ed_degree == 3
        assert found.quadratic.text == "x**2 + 3*y**2 + 3*z**2 + w**2"
    rows = [[1, 0], [0, 4]]
    assert ed_degree(ELLIPSE, quadratic=rows, engine=engine, generic=False).ed_degree == 2
    parabola = PolynomialMap.from_expressions([s], {"x": s / 2, "y": s**2 / 3})
    mixed = [[2, Fraction(1, 2)], ["1/2", 1]]
    by_map = ed_degree(parabola, quadratic=mixed, engine=engine, generic=False)
    by_ideal = ed_degree(parabola, quadratic=mixed, engine=engine, generic=False, method="ideal")
    assert by_map.ed_degree == by_ideal.ed_degree == 3
    assert by_map.quadratic.matrix == by_ideal.quadratic.matrix


@pytest.mark.slow
def test_the_affine_variety_and_its_closure(engine: Engine) -> None:
    found = ed_degree(PARABOLA, engine=engine)
    numbers = found.ed_degree, found.generic_ed_degree, found.closure_generic_ed_degree
    assert numbers == (3, 3, 4)
    assert "generic ED degree 4: not that of the affine variety" in found.to_text()


@pytest.mark.slow
@pytest.mark.parametrize("degree", [2, 3])
def test_the_generic_number_of_an_affine_toric_variety_is_not_that_of_its_closure(
    degree: int, engine: Engine
) -> None:
    """A general distance from (t, t^d) is a polynomial of degree 2d in t."""
    curve = PolynomialMap.from_expressions([t], {"x": t, "y": t**degree})
    found = ed_degree(curve, engine=engine)
    assert found.generic_ed_degree == 2 * degree - 1
    polar = polar_degrees(curve, engine=engine)
    assert found.closure_generic_ed_degree == polar.generic_ed_degree
    assert polar.method == "theorem"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variety", "expected"),
    [(minors(2, 2, 2), 6), (minors(2, 3, 2), 10), (minors(3, 3, 2), 39), (CUBIC, 7)],
)
def test_generic_numbers_of_cones_are_sums_of_polar_degrees(
    variety: Ideal, expected: int, engine: Engine
) -> None:
    found = ed_degree(variety, engine=engine)
    assert found.generic_ed_degree == expected
    assert polar_degrees(variety, engine=engine).generic_ed_degree == expected
    assert found.closure_generic_ed_degree is None


def general(degree: int, variables: Sequence[Any], random: Random) -> Expr:
    """A polynomial of this degree with random coefficients."""
    monomials = itermonomials(variables, degree)
    return sum((random.randint(1, 99) * monomial for monomial in monomials), Integer(0))


@pytest.mark.slow
@pytest.mark.macaulay2("each")
@pytest.mark.parametrize(
    ("size", "degrees"),
    [(2, (2,)), (2, (4,)), (3, (3,)), (3, (4,)), (4, (3,)), (5, (3,)), (3, (2, 2)), (3, (2, 3)),
     (4, (2, 2)), (5, (2, 2)), (5, (2, 2, 2))],
)  # fmt: skip
def test_general_complete_intersections(
    size: int, degrees: tuple[int, ...], engine: Engine
) -> None:
    """The product of the degrees Dⱼ times the sum of Π (Dⱼ − 1)^iⱼ for Σ iⱼ ≤ n − c (Draisma and
    others, Proposition 2.6): for cubics 3 (2ⁿ − 1). All three numbers are equal."""
    random, variables = Random(size), symbols(f"x1:{size + 1}")
    exponents = product(range(size), repeat=len(degrees))
    expected = prod(degrees) * sum(
        prod((degree - 1) ** i for degree, i in zip(degrees, powers, strict=True))
        for powers in exponents
        if sum(powers) <= size - len(degrees)
    )
    variety = ideal(*(general(degree, variables, random) for degree in degrees))
    found = ed_degree(variety, engine=engine)
    numbers = found.ed_degree, found.generic_ed_degree, found.closure_generic_ed_degree
    assert numbers == (expected, expected, expected)


@pytest.mark.slow
@pytest.mark.parametrize("with_msolve", [True, False])
def test_long_coefficients(
    with_msolve: bool, monkeypatch: pytest.MonkeyPatch, engine: Engine
) -> None:
    """A cubic surface with coefficients of 200 bits, by long primes: msolve counts where it is."""
    if not with_msolve:
        monkeypatch.setattr("m2bridge.engine.msolve.usable", lambda *_: None)
    random, variables = Random(5), symbols("x y z")
    monomials = itermonomials(variables, 3)
    surface = ideal(sum(random.randint(1, 2**200) * monomial for monomial in monomials))
    found = ed_degree(surface, engine=engine)
    numbers = found.ed_degree, found.generic_ed_degree, found.closure_generic_ed_degree
    assert numbers == (21, 21, 21)
    assert min(found.primes) > 2**28


@pytest.mark.slow
@pytest.mark.parametrize(
    ("equations", "expected"),
    [
        # a circle has two, an ellipse four, and each linear space one
        (["(x^2 + y^2 - 1)*(x^2 + 4*y^2 - 4)"], 6),
        (["(x^2 + y^2 - 1)^2*(x^2 + 4*y^2 - 4)"], 6),
        (["x*y", "z*w"], 4),
        (["x^2", "y - z"], 1),
        (["x^2*y", "z*(z - 1)"], 4),
        (["x*y", "x*z"], 2),
    ],
)
def test_components_that_are_simple_and_multiple(
    equations: list[str], expected: int, engine: Engine
) -> None:
    """Sums over components, whether they have to be separated or not."""
    assert ed_degree(ideal(*equations), engine=engine).ed_degree == expected


def boundary(d: int, t: int) -> Ideal:
    """Where a linear readout of a layer with A and V of rank two is −7: tr(Rᵀ V X Xᵀ A X) = −7."""
    random = Random(d * t)

    def entries(rows: int, columns: int) -> Matrix:
        return Matrix(rows, columns, lambda i, j: random.randint(-9, 9))

    tokens = Matrix(d, t, symbols(f"x1:{d * t + 1}"))
    query_key, value = (entries(d, 2) * entries(2, d) for _ in range(2))
    readout = (entries(d, t).T * value) * tokens
    scores = tokens.T * (query_key * tokens)
    return ideal(expand((readout * scores).trace()) + 7)


@pytest.mark.slow
@pytest.mark.macaulay2("each")
@pytest.mark.parametrize(
    ("d", "t", "expected"), [(2, 2, (39, 45, 45)), (2, 3, (99, 153, 157)), (3, 2, (132, 156, 156))]
)
def test_decision_boundaries_of_attention(
    d: int, t: int, expected: tuple[int, int, int], engine: Engine
) -> None:
    """Numbers of the standard form are in docs/robustness.md; the others are counted for a random one."""
    found = ed_degree(boundary(d, t), engine=engine)
    numbers = found.ed_degree, found.generic_ed_degree, found.closure_generic_ed_degree
    assert numbers == expected
    assert "by a random quadratic form on the cone over it" in found.to_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    "variety",
    [
        ideal(CARDIOID),
        ideal("y^2 - x^3"),
        ideal("y^2 - x^3 - x^2"),
        ideal("x^2 - y^2*z"),
        ideal("x^2*y^2 + y^2*z^2 + z^2*x^2 - x*y*z"),
        ideal("x^2 + y^2 + z^2 - 4", "x^2 - 2*x + y^2"),  # a curve with a node
        ideal("y - x^2", "z - x^3"),
        ideal("(x - 1)*(y^2 - x^3 + 2)"),
        ideal("x*y", "y^2 - y"),
        hurwitz(4, cone=False),
    ],
)
def test_the_number_of_the_closure_is_the_sum_of_polar_degrees(
    variety: Ideal, engine: Engine
) -> None:
    """Singular varieties, several components and dimensions, too many equations."""
    found = ed_degree(variety, engine=engine)
    polar = polar_degrees(variety, engine=engine)
    assert polar.method == "conormal"
    assert found.closure_generic_ed_degree == polar.generic_ed_degree
    assert "on the cone over it" in found.closure_generic_known


def test_general_data_need_no_inverse(engine: Engine) -> None:
    """The unknowns are coordinates and multipliers, and for one equation for given data too; on a
    singular variety that has the data, and for two equations, there is an inverse."""

    def unknowns(variety: Ideal, point: tuple[int, ...] | None) -> int:
        form = read_quadratic(None, variety.ring)
        data = None if point is None else tuple(map(Fraction, point))
        script = ideal_script(Variety(variety, "given"), "ed_degree", form, data)
        count = "counted' = someIdeal -> ("
        assert count in script.body
        body = script.body.replace(count, f'{count} mbEmit("unknowns", numgens ring someIdeal);')
        return answer_to(with_given_prime(replace(script, body=body), 32003)).integer("unknowns")

    node = ideal("y^2 - x^3 - x^2")
    with using(engine):
        assert unknowns(node, None) == unknowns(node, (1, 1)) == 3
        assert unknowns(node, (0, 0)) == 4
        line = ideal("x - 1", "y - z", variables="x y z")
        assert (unknowns(line, None), unknowns(line, (3, 4, 7))) == (5, 6)


@pytest.mark.slow
def test_families(engine: Engine) -> None:
    """The generic number follows from a theorem; two methods count the other one."""
    layer = SingleLayerAttention(2, 1)
    found = ed_degree(layer, engine=engine)
    assert (found.ed_degree, found.generic_ed_degree, found.generic_primes) == (6, 14, ())
    assert found.to_json()["generic_proved"]
    assert ed_degree(layer, engine=engine, method="ideal", generic=False).ed_degree == 6
    network = ConvolutionalNetwork((2, 1))
    counted = ed_degree(network, engine=engine)
    assert counted.generic_ed_degree == polar_degrees(network).generic_ed_degree


REAL: list[tuple[Ideal, tuple[Any, ...], int, int]] = [
    # Inside and outside of the evolute (2x)^(2/3) + y^(2/3) = 3^(2/3).
    (ELLIPSE, ("1/10", "1/10"), 4, 4),
    (ELLIPSE, (3, 3), 4, 2),
    (CIRCLE, (3, 4), 2, 2),
    (PARABOLA, (0, 3), 3, 3),
    (PARABOLA, (0, 0), 3, 1),  # x(2x² + 1) = 0
    (PARABOLA, (0, Fraction(1, 2)), 3, 1),  # x³ = 0: one point of multiplicity three
    (ideal("x*y - 1"), (0, 0), 4, 2),
    # Two lines: at the origin, where the variety is singular, there is no critical point.
    (ideal("x*y"), (1, 2), 2, 2),
    (ideal("x*y"), (1, 0), 1, 1),
    (ideal("x*y"), (0, 0), 0, 0),
]


@pytest.mark.slow
def test_a_random_system_that_leaves_points_out_is_drawn_again(
    monkeypatch: pytest.MonkeyPatch, engine: Engine
) -> None:
    """For x y = 1 and the origin every ninth does; here five in a row have another number."""
    runs: list[object] = []

    def another_number(script: Script) -> Answer:
        answer = answer_to(script)
        if script.name != "ed_degree_real":
            return answer
        runs.append(script.given)
        wrong = {"critical": [[0, 3]]} if len(runs) <= 5 else {}
        return Answer(answer.values | wrong)

    monkeypatch.setattr(real_points, "answer_to", another_number)
    found = ed_degree(ideal("x*y - 1"), point=(0, 0), engine=engine, generic=False)
    assert (found.critical_points, found.real_critical_points) == (4, 2)
    assert len(runs) == len(set(runs)) >= 6


@pytest.mark.slow
@pytest.mark.parametrize(("variety", "point", "number", "real"), REAL)
def test_real_critical_points(
    variety: Ideal, point: tuple[Any, ...], number: int, real: int, engine: Engine
) -> None:
    found = ed_degree(variety, point=point, engine=engine, generic=False)
    assert (found.critical_points, found.real_critical_points) == (number, real)
    assert found.at_point is not None
    points = found.real_points
    if points is not None:
        assert len(points) == real
        for place in points:
            for equation in variety.to_sympy():
                assert abs(equation(*place)) < 1e-6


def number_proved(
    variety: Ideal, matrix: Any, data: tuple[Fraction, ...], places: Sequence[tuple[float, ...]]
) -> int:
    """How many boxes of radius 10⁻⁸ around places are proved to contain a critical point."""
    radius = Fraction(1, 10**8)
    boxes = [[(Fraction(x) - radius, Fraction(x) + radius) for x in place] for place in places]
    proved = proved_boxes(variety, matrix, data=data, boxes=boxes)
    return sum(box is not None for box in proved)


@pytest.mark.slow
@pytest.mark.parametrize("exponent", [6, 8, 20])
def test_points_for_data_far_away_have_only_right_digits(
    exponent: int, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without msolve x was 18.7 or 12 683, on an ellipse with |x| ≤ 2; to first order in 1/u the
    points for (u, 1) are (±2, ±1/(2u) + 3/(4u²))."""
    monkeypatch.setattr(real_points.msolve, "usable", lambda _: None)
    u = 10**exponent
    found = ed_degree(ELLIPSE, point=(u, 1), engine=engine, generic=False)
    assert found.to_json()["proved_real_points"] == 2
    assert found.real_points is not None
    for sign, (x, y) in zip((1, -1), found.real_points, strict=True):
        assert x == pytest.approx(2 * sign, abs=1 / u**2)
        assert y * 2 * u == pytest.approx(sign + 1.5 / u, abs=10 / u**2, rel=1e-15)
    for point in found.to_json()["real_points"]:
        for x, (low, high) in zip(point["coordinates"], point["box"], strict=True):
            assert low <= x <= high


def test_real_points_are_proved_where_equations_are_as_many_as_the_codimension() -> None:
    """On the ellipse x² + 4y² = 4 for u on the x-axis: (±2, 0), and x = 4u/3 where it is a point."""
    matrix = ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))
    data = (Fraction(3, 4), Fraction(0))
    above = (1.0, 0.75**0.5)
    places = [(2.0, 0.0), (-2.0, 0.0), above, (1.0, -above[1])]
    assert number_proved(ELLIPSE, matrix, data, places) == 4
    assert number_proved(ELLIPSE, matrix, data, [(0.0, 1.0)]) == 0, "is not critical"
    assert number_proved(ELLIPSE, matrix, data, [above, above]) == 0, "is one point"
    # A double line, an isolated singular point, and equations that are too many.
    for variety, place in ((ideal("x^2", variables="x y"), (0.0, 0.0)),
                           (ideal("x^2 + y^2"), (0.0, 0.0)),
                           (ideal("x^2 + 4*y^2 - 4", "x^3 + 4*x*y^2 - 4*x"), (2.0, 0.0))):  # fmt: skip
        assert number_proved(variety, matrix, data, [place]) == 0
    # Two equations in space: the circle of the sphere in a plane.
    circle = ideal("x^2 + y^2 + z^2 - 1", "z", variables="x y z")
    identity = tuple(tuple(Fraction(i == j) for j in range(3)) for i in range(3))
    u = (Fraction(3), Fraction(4), Fraction(7))
    near = [(0.6, 0.8, 1e-9), (-0.6, -0.8, 0.0)]
    assert number_proved(circle, identity, u, near) == 2


@pytest.mark.slow
@pytest.mark.macaulay2("each")
def test_the_nearest_point_comes_first(engine: Engine) -> None:
    found = ed_degree(CIRCLE, point="3, 4", engine=engine, generic=False)
    assert found.real_points is not None
    assert found.real_points[0] == pytest.approx((0.6, 0.8))
    data = found.to_json()
    assert data["proved_real_points"] == 2
    assert "existence of 2, in boxes whose middles are listed, by Krawczyk's" in found.to_text()
    assert [point["value"] for point in data["real_points"]] == pytest.approx([16, 36])
    assert data["point"] == ["3", "4"]


@pytest.mark.slow
def test_critical_points_that_come_in_families(engine: Engine) -> None:
    found = ed_degree(CIRCLE, point=(0, 0), engine=engine, generic=False)
    assert (found.critical_points, found.real_critical_points) == (None, None)
    assert found.to_json()["critical_dimension"] == 1
    assert "not isolated: they have dimension 1" in found.to_text()


@pytest.mark.slow
def test_too_many_points_for_realroots(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_points.msolve, "usable", lambda _: None)
    monkeypatch.setattr(real_points, "MAX_TRACE_FORM_POINTS", 1)
    found = ed_degree(CIRCLE, point=(3, 4), engine=engine, generic=False)
    assert (found.critical_points, found.real_critical_points) == (2, None)
    assert "install msolve" in found.unfinished


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"quadratic": "x^2"}, InvalidCaseError, "singular, of rank 1 in 2 variables"),
    ({"quadratic": "x^2 - y"}, InvalidCaseError, "not a homogeneous polynomial of degree 2"),
    ({"quadratic": [[1, 2], [3, 4]]}, InvalidCaseError, "symmetric 2 × 2 matrix"),
    ({"quadratic": [[1]]}, InvalidCaseError, "1 numbers for 2 coordinates"),
    ({"quadratic": [[0.5, 0], [0, 1]]}, ConversionError, "not exact"),
    ({"quadratic": "x^2 + z^2"}, ConversionError, "z"),
    ({"point": (1, 2, 3)}, InvalidCaseError, "3 numbers for 2 coordinates"),
    ({"point": (0.5, 1)}, ConversionError, "not exact"),
    ({"point": "1, y"}, ConversionError, "not a rational number"),
    ({"point": 1}, InvalidCaseError, "must be a list of numbers, not 1"),
    ({"method": "parametrization"}, InvalidCaseError, "not for ideals"),
    ({"method": "slices"}, InvalidCaseError, "slices"),
]


@pytest.mark.parametrize(("options", "kind", "words"), REFUSED)
def test_what_is_refused(
    options: dict[str, Any], kind: type[Exception], words: str, engine: Engine
) -> None:
    with pytest.raises(kind, match=words):
        ed_degree(CIRCLE, engine=engine, **options)


def test_varieties_that_are_refused(engine: Engine) -> None:
    with pytest.raises(InvalidCaseError, match="the variety is empty"):
        ed_degree(ideal("x", "x - 1"), engine=engine)
    with pytest.raises(InvalidCaseError, match="must be QQ"):
        ed_degree(ideal("x*y", field=CoefficientField(7)), engine=engine)
    ring = CIRCLE.ring.sympy_ring
    curve = PolynomialMap(CIRCLE.ring, ("a",), (ring.gens[0],), relations=CIRCLE.generators)
    with pytest.raises(MethodUnavailableError, match="use ideal"):
        ed_degree(curve, engine=engine, method="parametrization")


@pytest.mark.slow
def test_what_a_limit_leaves_out_is_named(engine: Engine) -> None:
    found = ed_degree(CIRCLE, engine=Late(engine, 2), point=(3, 4))
    assert (found.ed_degree, found.generic_ed_degree, found.at_point) == (2, None, None)
    assert found.unfinished == "late"
    assert found.to_json()["generic_proved"] is False


def test_a_limit_before_the_first_number_is_an_error(engine: Engine) -> None:
    with pytest.raises(TimeLimitError):
        ed_degree(minors(3, 3, 2), engine=engine, timeout=1e-6)


@pytest.mark.slow
def test_options_of_the_command(invoke: Invoke, engine: Any) -> None:
    arguments = ("--ideal", "x^2 + y^2 - 1", "--no-generic", "--json")
    done = invoke("ed-degree", *arguments, "--quadratic", '[[1, 0], [0, "1/4"]]')
    assert done.returncode == 0, done.stderr
    assert '"ed_degree": 4' in done.stdout
    assert '"quadratic": "x**2 + 1/4*y**2"' in done.stdout
    for wrong, words in (
        ("[[1, -1/2]]", "fractions are in quotes"),
        ("[[1", "not JSON"),
        ("x^2", "singular"),
        ("x^", "x^"),
    ):
        refused = invoke("ed-degree", *arguments, "--quadratic", wrong)
        assert refused.returncode == 2
        assert words in refused.stderr

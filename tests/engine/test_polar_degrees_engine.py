"""Polar degrees counted by Macaulay2 modulo a prime, against theorems and the literature."""

from math import comb

import pytest
from sympy import symbols

from m2bridge import (
    Engine,
    Ideal,
    PolynomialMap,
    SingleLayerAttention,
    cross_check,
    ideal,
    polar_degrees,
)
from m2bridge.convert.answers import parse
from m2bridge.engine.script import Script
from m2bridge.errors import InvalidCaseError, MethodUnavailableError
from m2bridge.families.attention.checker.slices import DEGREES, counted
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.maps.polar import Method

pytestmark = pytest.mark.macaulay2("any")

s, t, u = symbols("s t u")


@pytest.mark.parametrize("case", [(2, 1, 2), (2, 2, 1), (2, 2, 2)], ids=str)
def test_attention_by_the_theorem_and_in_slices(case: tuple[int, int, int], engine: Engine) -> None:
    model = SingleLayerAttention(*case)
    assert (
        polar_degrees(model, engine=engine, method="slices").degrees == polar_degrees(model).degrees
    )


@pytest.mark.parametrize(("d_out", "alpha"), DEGREES)
def test_the_verdict_compares_points_that_program_and_checker_count_apart(
    d_out: int, alpha: int, engine: Engine
) -> None:
    # the functions do not depend on these
    model = SingleLayerAttention(2, d_out, alpha + (alpha == 2), 3)
    stated = [statement for statement in REGISTRY if statement.key == "polar"]
    (verdict,) = cross_check(model, statements=stated, engine=engine).verdicts
    assert verdict.decision == "CONFIRMED"
    by_method = dict(verdict.extent.observed.found)
    assert by_method["slices"].entries == counted(d_out, alpha, DEGREES[d_out, alpha])


def test_attention_by_its_conormal_variety(engine: Engine) -> None:
    assert polar_degrees(SingleLayerAttention(2, 1), engine=engine, method="conormal").degrees == (
        4,
        6,
        4,
        0,
        0,
    )


def test_a_two_to_one_parametrization_is_counted_once(engine: Engine) -> None:
    """The Segre variety P¹ × P²: 3, 4, 3 (2 × 3 matrices of rank one, generic ED degree 10)."""
    model = SingleLayerAttention(2, 1, 1)
    result = polar_degrees(model, engine=engine, method="slices")
    assert (result.degrees, result.generic_ed_degree, result.method) == ((3, 4, 3, 0), 10, "slices")
    assert polar_degrees(model).degrees == result.degrees


SYMMETRIC = """
-- Functions q ⊗ c, c symmetric of size 3 and rank two with the kernel w: a hyperplane with the matrices L_r is tangent
-- exactly if the inner product of each L_r and c is zero, and the sum of the q_r L_r is a multiple of w times its
-- transpose. In a general linear space of hyperplanes it is a sum of forms with coefficients s.
setRandomSeed 7
inner = (A, B) -> trace(A * B)
scan(6, i -> (
    R := ZZ/32003[c_1..c_5, q_1, q_2, w_1, w_2, s_1..s_(i + 1), z];
    C := matrix {{1, c_1, c_2}, {c_1, c_3, c_4}, {c_2, c_4, c_5}};
    Q := {1_R, q_1, q_2};
    W := transpose matrix {{1_R, w_1, w_2}};
    S := prepend(1_R, toList(s_1..s_(i + 1)));
    randomForm := () -> apply(3, r -> (
        A := random((coefficientRing R)^3, (coefficientRing R)^3);
        sub(A + transpose A, R)));
    forms := apply(i + 2, j -> randomForm());
    L := apply(3, r -> sum(i + 2, j -> S#j * forms#j#r));
    sections := apply(i, j -> (form := randomForm(); sum(3, r -> Q#r * inner(form#r, C))));
    tangency := sum(3, r -> Q#r * L#r) - z * (W * transpose W);
    pairs := ideal(C * W) + ideal apply(L, A -> inner(A, C)) + ideal flatten entries tangency + ideal sections;
    leading := ideal leadTerm groebnerBasis(pairs, Strategy => "F4");
    mbEmit("dimension_" | i, dim leading);
    mbEmit("points_" | i, degree leading)))
"""


def test_pairs_of_points_and_tangent_hyperplanes_over_symmetric_matrices(engine: Engine) -> None:
    """The case α = d' = 1, d = 3: all numbers but the first, which is the degree."""
    answer = parse(engine.run(Script("symmetric", SYMMETRIC)).records)
    counted_here = [answer.integer(f"points_{i}") for i in range(5, -1, -1)]
    assert [answer.integer(f"dimension_{i}") for i in range(6)] == [0] * 6
    stated = polar_degrees(SingleLayerAttention(3, 1, 1)).degrees
    assert counted_here == list(stated[1:7]) == [180, 312, 300, 174, 60, 12]
    # {det = 0} × P² in its Segre embedding: C(6, 2) times the degrees 3 and 1
    assert stated[0] == 3 * comb(6, 2)


MAPS = {
    "twisted cubic": ([s**3, s**2 * t, s * t**2, t**3], (3, 4)),
    "Veronese surface": ([s**2, s * t, s * u, t**2, t * u, u**2], (4, 6, 3)),
    "cuspidal cubic, affine": ([t**2, t**3], (3, 3)),  # the cusp is not counted
    "nodal cubic, affine": ([t**2 - 1, t**3 - t], (3, 4)),
}


@pytest.mark.parametrize("name", MAPS)
def test_curves_and_surfaces_in_slices(name: str, engine: Engine) -> None:
    """Plücker's formulas for plane curves: the class is e(e − 1), less 2 for a node and 3 for a
    cusp.
    """
    images, degrees = MAPS[name]
    variables = sorted(set().union(*(image.free_symbols for image in images)), key=str)
    found = PolynomialMap.from_expressions(
        variables, {f"x{k}": image for k, image in enumerate(images)}
    )
    result = polar_degrees(found, engine=engine, method="slices")
    assert (result.degrees, result.closure) == (degrees, "affine" in name)


def veronese(n: int, e: int) -> tuple[int, ...]:
    """The polar degrees of P^n in the embedding by forms of degree e, from its Chern classes C(n +
    1, j) h^j.
    """
    return tuple(
        sum(
            (-1) ** j * comb(n + 1 - j, i + 1) * comb(n + 1, j) * e ** (n - j)
            for j in range(n - i + 1)
        )
        for i in range(n, -1, -1)
    )


def test_veronese_varieties_by_chern_classes() -> None:
    """As in MAPS; their sum is ((2e − 1)^{n+1} − (e − 1)^{n+1}) / e, by summing the formula."""
    assert (veronese(1, 3), veronese(2, 2)) == ((3, 4), MAPS["Veronese surface"][1])
    assert all(
        e * sum(veronese(n, e)) == (2 * e - 1) ** (n + 1) - (e - 1) ** (n + 1)
        for n in range(1, 5)
        for e in range(1, 6)
    )


IDEALS: dict[str, tuple[Ideal, tuple[int, ...]]] = {
    # Smooth hypersurfaces of degree e: e (e − 1)^k.
    "cubic curve": (ideal("x^3 + y^3 + z^3"), (3, 6)),
    "cubic surface": (ideal("x^3 + y^3 + z^3 + w^3"), (3, 6, 12)),
    # A smooth curve of degree 4 and genus 1: 2·4 + 2·1 − 2 by Chern classes.
    "elliptic quartic": (ideal("x^2 + y^2 + z^2 + w^2", "x^2 + 2*y^2 + 3*z^2 + 5*w^2"), (4, 8)),
    # The scroll S(1, 2): degree 3, c_1 H = 5 and c_2 = 4, so 2·3 + 2·0 − 2 and 3·3 − 2·5 + 4.
    "cubic scroll": (ideal("x*z - y^2", "x*v - y*u", "y*v - z*u"), (3, 4, 3)),
    # Nodes take 2 from the class 3·2² each (Teissier's formula); the dual surface is Steiner's
    # quartic.
    "Cayley's cubic with four nodes": (ideal("x*y*z + x*y*w + x*z*w + y*z*w"), (3, 6, 4)),
    # Dual to the Veronese surface, and to P² × P²: the numbers of the dual variety in the other
    # order.
    "symmetric 3 × 3 matrices of rank two": (
        ideal("a*(d*f - e^2) - b*(b*f - c*e) + c*(b*e - c*d)"),
        (3, 6, 4, 0, 0),
    ),
    "3 × 3 matrices of rank two": (
        ideal("a*(e*i - f*h) - b*(d*i - f*g) + c*(d*h - e*g)"),
        (3, 6, 12, 12, 6, 0, 0, 0),
    ),
    "2 × 3 matrices of rank one": (
        ideal("a*e - b*d", "a*f - c*d", "b*f - c*e", variables="a b c d e f"),
        (3, 4, 3, 0),
    ),
    "a conic, affine": (ideal("x^2 + y^2 - 1"), (2, 2)),
    "four lines": (ideal("x*w - y*z", "x^2 + y^2 + z^2 + w^2"), (4, 0)),
    "two lines": (ideal("x*y", variables="x y z"), (2, 0)),
    "a hyperplane": (ideal("x - y", variables="x y z"), (1, 0)),
    "everything": (ideal(variables="x y z"), (1, 0, 0)),
}


@pytest.mark.parametrize("name", IDEALS)
def test_ideals_by_the_conormal_variety(name: str, engine: Engine) -> None:
    given, degrees = IDEALS[name]
    assert polar_degrees(given, engine=engine).degrees == degrees


def test_an_empty_variety_is_refused(engine: Engine) -> None:
    with pytest.raises(InvalidCaseError, match="empty"):
        polar_degrees(ideal("x", "y"), engine=engine)


def test_the_image_of_a_reducible_source_is_not_taken_for_irreducible(engine: Engine) -> None:
    """Three lines through the origin, and a line beside a conic: degrees are added."""
    lines = PolynomialMap.from_expressions([s, t], {"x": s, "y": t}, [s * t * (s - t)])
    for method in ("auto", "conormal"):
        assert polar_degrees(lines, engine=engine, method=method).degrees == (3,)
    curves = PolynomialMap.from_expressions(
        [s, t, u], {"x": s, "y": t, "z": u}, [s * (s**2 + t**2 - u**2)]
    )
    assert polar_degrees(curves, engine=engine).degrees == (3, 2)
    with pytest.raises(MethodUnavailableError, match="use conormal"):
        polar_degrees(lines, engine=engine, method="slices")


def test_coefficients_that_the_prime_divides_are_not_lost(engine: Engine) -> None:
    """Modulo 32003 these conics are two lines, or a line."""
    for equation in ("32003*x^2 + y^2 + z^2", "x^2 + y^2 + z^2/32003"):
        found = polar_degrees(ideal(equation), engine=engine)
        assert found.degrees == (2, 2)
        assert "modulo 31991" in found.theorem.known
    conic = PolynomialMap.from_expressions(
        [s, t], {"x": 32003 * s**2, "y": s * t, "z": t**2 + 32003 * s * t}
    )
    found = polar_degrees(conic, engine=engine, method="slices")
    assert found.degrees == (2, 2)
    assert "modulo 31991" in found.theorem.known


def test_a_variety_of_large_codimension_has_polar_degrees(engine: Engine) -> None:
    """A curve in a space of dimension 5, and a point in one of dimension 3."""
    powers = {f"x{i}": s**i * t ** (5 - i) for i in range(6)}
    curve = PolynomialMap.from_expressions([s, t], powers)
    found = polar_degrees(curve, engine=engine, method="conormal")
    assert found.degrees == (5, 8)
    assert found.to_text().startswith("Polar degrees of the polynomial map to 6 coordinates")
    assert polar_degrees(ideal("x", "y - z", "z - w"), engine=engine).degrees == (1,)


def test_a_prime_modulo_which_a_conic_is_two_lines_is_seen(engine: Engine) -> None:
    """Though it divides no coefficient; the plane too has two coordinates that it takes for one."""
    for equation in ("x^2 + 2*x*y + 32004*y^2 - z^2", "x^2 + x*y + 8001*y^2 - z^2"):
        found = polar_degrees(ideal(equation), engine=engine)
        assert found.degrees == (2, 2)
    conic = {"x": s**2 + s * t, "y": s**2 + 32004 * s * t, "z": t**2}
    plane = {"x": s + t, "y": s + 32004 * t, "z": u}
    methods: tuple[Method, ...] = ("slices", "conormal")
    for method in methods:
        for images, degrees in ((conic, (2, 2)), (plane, (1, 0, 0))):
            image = PolynomialMap.from_expressions([s, t, u], images)
            found = polar_degrees(image, engine=engine, method=method)
            assert found.degrees == degrees

"""Polar degrees counted by Macaulay2 modulo a prime, against theorems and the literature."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from math import comb, prod

import pytest
from sympy import Poly, diff, isprime, primerange, symbols

from m2bridge import (
    Engine,
    Ideal,
    PolynomialMap,
    PolynomialNetwork,
    SingleLayerAttention,
    cross_check,
    ideal,
    polar_degrees,
)
from m2bridge.convert.answers import parse
from m2bridge.engine import using
from m2bridge.engine.script import Script
from m2bridge.errors import InvalidCaseError, MethodUnavailableError, TimeLimitError
from m2bridge.families.attention.checker.slices import LARGE_MULTIDEGREES, degrees_by_cokernels
from m2bridge.families.attention.polar.theorem import count_polar_degrees
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.maps.degrees import counting_primes, polar_degrees as choosing, slices
from m2bridge.maps.degrees.polar_degrees import PolarMethod
from tests.limits import Late
from tests.tiers import few

pytestmark = pytest.mark.macaulay2("any")

s, t, u = symbols("s t u")


@pytest.mark.slow
@pytest.mark.parametrize("case", [(2, 1, 2), (2, 2, 1), (2, 2, 2)], ids=str)
def test_attention_by_the_theorem_and_in_slices(case: tuple[int, int, int], engine: Engine) -> None:
    model = SingleLayerAttention(*case)
    assert (
        polar_degrees(model, engine=engine, method="slices").degrees == polar_degrees(model).degrees
    )


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [1, 2])
def test_the_verdict_compares_points_that_program_and_checker_count_apart(
    alpha: int, engine: Engine
) -> None:
    # the functions do not depend on these
    model = SingleLayerAttention(2, 1, alpha + (alpha == 2), 3)
    stated = [statement for statement in REGISTRY if statement.key == "polar"]
    (verdict,) = cross_check(model, statements=stated, engine=engine).verdicts
    assert verdict.decision == "CONFIRMED"
    by_method = dict(verdict.extent.observed.numbers)
    assert by_method["slices"].entries == degrees_by_cokernels(
        1, alpha, LARGE_MULTIDEGREES[1, alpha]
    )


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [1, 2])
def test_no_verdict_waits_for_expensive_counts(alpha: int, engine: Engine) -> None:
    """For d' = 2 they are asked for by ``polar-degrees --method slices``."""
    stated = [statement for statement in REGISTRY if statement.key == "polar"]
    model = SingleLayerAttention(2, 2, alpha)
    (verdict,) = cross_check(model, statements=stated, engine=engine).verdicts
    assert verdict.decision == "CONFIRMED"
    assert set(dict(verdict.extent.observed.numbers)) == {"integrals", "projection_formula"}


def test_attention_by_its_conormal_variety(engine: Engine) -> None:
    assert polar_degrees(SingleLayerAttention(2, 1), engine=engine, method="conormal").degrees == (
        4,
        6,
        4,
        0,
        0,
    )


@pytest.mark.slow
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
scan({0, 1, 2, 3, 5}, i -> (
    R := ZZ/32003[z, c_1..c_5, s_1..s_(i + 1), w_1, w_2, q_1, q_2];
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


@pytest.mark.slow
def test_pairs_of_points_and_tangent_hyperplanes_over_symmetric_matrices(engine: Engine) -> None:
    """The case α = d' = 1, d = 3: all numbers but the first, which is the degree, and the third,
    which takes Macaulay2 as long as the others together.
    """
    answer = parse(engine.run(Script("symmetric", SYMMETRIC)).records)
    counted_here = {i: answer.integer(f"points_{i}") for i in (5, 3, 2, 1, 0)}
    assert [answer.integer(f"dimension_{i}") for i in counted_here] == [0] * 5
    stated = polar_degrees(SingleLayerAttention(3, 1, 1)).degrees
    assert list(stated[1:7]) == [180, 312, 300, 174, 60, 12]
    assert counted_here == {i: stated[6 - i] for i in counted_here}
    # {det = 0} × P² in its Segre embedding: C(6, 2) times the degrees 3 and 1
    assert stated[0] == 3 * comb(6, 2)


MAPS = {
    "twisted cubic": ([s**3, s**2 * t, s * t**2, t**3], (3, 4)),
    "Veronese surface": ([s**2, s * t, s * u, t**2, t * u, u**2], (4, 6, 3)),
    "cuspidal cubic, affine": ([t**2, t**3], (3, 3)),  # the cusp is not counted
    "nodal cubic, affine": ([t**2 - 1, t**3 - t], (3, 4)),
}


@pytest.mark.parametrize("name", few(MAPS, 2))
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


@pytest.mark.slow
@pytest.mark.parametrize("name", IDEALS)
def test_ideals_by_the_conormal_variety(name: str, engine: Engine) -> None:
    given, degrees = IDEALS[name]
    assert polar_degrees(given, engine=engine).degrees == degrees


def test_an_empty_variety_is_refused(engine: Engine) -> None:
    with pytest.raises(InvalidCaseError, match="empty"):
        polar_degrees(ideal("x", "y"), engine=engine)


@pytest.mark.slow
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


@pytest.mark.slow
def test_coefficients_that_the_prime_divides_are_not_lost(engine: Engine) -> None:
    """Modulo the prime these conics are two lines, or a line; it is drawn first, and not taken."""
    for equation in (f"{DRAWN}*x^2 + y^2 + z^2", f"x^2 + y^2 + z^2/{DRAWN}"):
        with drawn_first():
            found = polar_degrees(ideal(equation), engine=engine)
        assert found.degrees == (2, 2)
        assert DRAWN not in found.primes
    conic = PolynomialMap.from_expressions(
        [s, t], {"x": DRAWN * s**2, "y": s * t, "z": t**2 + DRAWN * s * t}
    )
    with drawn_first():
        found = polar_degrees(conic, engine=engine, method="slices")
    assert found.degrees == (2, 2)
    assert DRAWN not in found.primes


DRAWN = 31991


@contextmanager
def drawn_first(times: int = 1) -> Iterator[None]:
    """The first primes that are drawn are 31991, 31981 and so on, as if somebody had known them."""
    known = iter([DRAWN, 31981, 31973][:times])
    draw = secrets.randbits

    def drawn(bits: int) -> int:
        return next(known, draw(bits)) if bits == counting_primes.PRIME_BITS else draw(bits)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secrets, "randbits", drawn)
        yield


@pytest.mark.slow
def test_primes_are_drawn_for_each_input(engine: Engine) -> None:
    """Two primes of the discriminant gave a point in place of two, when they were known before."""
    bad = ideal(f"x^2 + 2*x*y + (1 - {32003 * 31991})*y^2")
    results = [polar_degrees(bad, engine=engine) for _ in range(3)]
    assert {result.degrees for result in results} == {(2,)}
    assert len({result.primes for result in results}) == 3
    for result in results:
        assert len(set(result.primes)) in (2, 3)
        assert all(2**14 < prime < 2**15 and isprime(prime) for prime in result.primes)
        data = result.to_json()
        assert (data["primes"], data["proved"]) == (list(result.primes), False)
        assert "random primes; this is not a proof over QQ" in data["known"]
        assert f"primes              {', '.join(map(str, result.primes))}" in result.to_text()
    theorem = polar_degrees(SingleLayerAttention(2, 1)).to_json()
    assert (theorem["primes"], theorem["proved"]) == ([], True)


@pytest.mark.slow
def test_primes_that_give_other_numbers_are_named_and_outvoted(engine: Engine) -> None:
    """The prime divides the discriminant of the conic, and makes an affine line the empty set."""
    for equations in (
        [f"x^2 + 2*x*y + {DRAWN + 1}*y^2 - z^2"],
        [f"x + {DRAWN + 1}*y + 1", "x + y + 2"],
    ):
        with drawn_first():
            found = polar_degrees(ideal(*equations), engine=engine)
        assert found.degrees == ((2, 2) if len(equations) == 1 else (1,))
        assert f"(other numbers modulo {DRAWN})" in found.theorem.known
        assert DRAWN not in found.primes


@pytest.mark.slow
def test_two_unlucky_primes_do_not_decide_where_a_third_is_cheap(engine: Engine) -> None:
    with drawn_first(2):
        found = polar_degrees(
            ideal(f"x^2 + 2*x*y + (1 - {DRAWN * 31981})*y^2 - z^2"), engine=engine
        )
    assert found.degrees == (2, 2)
    assert not {DRAWN, 31981} & set(found.primes)


def test_where_many_primes_could_divide_a_discriminant_they_are_longer(engine: Engine) -> None:
    product = prod(primerange(2**14, 2**14 + 1000))
    found = polar_degrees(ideal(f"x^2 + 2*x*y + (1 - {product})*y^2 - z^2"), engine=engine)
    assert found.degrees == (2, 2)
    assert min(found.primes) > 2**15
    longer = prod(primerange(2**15, 2**15 + 2000))
    found = polar_degrees(ideal(f"x^2 + 2*x*y + (1 - {longer})*y^2 - z^2"), engine=engine)
    assert found.degrees == (2, 2)
    assert min(found.primes) > 2**28


def test_a_program_does_not_depend_on_what_is_drawn(engine: Engine) -> None:
    """It is the same in each process, and one that is given no prime draws it itself."""
    model = SingleLayerAttention(2, 1)
    script = slices.slices_program(model)
    assert script == slices.slices_program(model)
    first, second = (
        counting_primes.with_given_prime(script, 32003),
        counting_primes.with_given_prime(script, 31991),
    )
    assert first != second
    assert (first.body, first.digest, first.standalone()) == (
        second.body,
        second.digest,
        second.standalone(),
    )
    for one in (first, second, script):
        answer = parse(engine.run(one).records)
        assert [answer.integer(f"polar_{i}") for i in range(4, -1, -1)] == [4, 6, 4, 0, 0]


def test_one_prime_within_the_limit_is_no_result_and_refutes_nothing(engine: Engine) -> None:
    conic = ideal("x^2 + y^2 - z^2")
    alone = polar_degrees(conic, engine=Late(engine, 1))
    assert (alone.degrees, alone.unfinished) == ((2, 2), "late")
    assert "modulo one random prime; this is not a proof over QQ" in alone.theorem.known
    two = polar_degrees(conic, engine=Late(engine, 2))
    assert (len(two.primes), two.unfinished) == (2, "")
    with pytest.raises(TimeLimitError):
        polar_degrees(conic, engine=Late(engine, 0))
    with using(Late(engine, 1)):
        assert count_polar_degrees(SingleLayerAttention(2, 1)).entries == (None,) * 5


@pytest.mark.slow
def test_a_variety_of_large_codimension_has_polar_degrees(engine: Engine) -> None:
    """A curve in a space of dimension 4, and a point in one of dimension 3."""
    powers = {f"x{i}": s**i * t ** (4 - i) for i in range(5)}
    curve = PolynomialMap.from_expressions([s, t], powers)
    found = polar_degrees(curve, engine=engine, method="conormal")
    assert found.degrees == (4, 6)
    assert found.to_text().startswith("Polar degrees of the polynomial map to 5 coordinates")
    assert polar_degrees(ideal("x", "y - z", "z - w"), engine=engine).degrees == (1,)


@pytest.mark.slow
def test_a_prime_modulo_which_a_conic_is_two_lines_is_seen(engine: Engine) -> None:
    """Though it divides no coefficient; the plane too has two coordinates that it takes for one."""
    for equation in ("x^2 + 2*x*y + 31992*y^2 - z^2", "x^2 + x*y + 7998*y^2 - z^2"):
        with drawn_first():
            found = polar_degrees(ideal(equation), engine=engine)
        assert found.degrees == (2, 2)
    conic = {"x": s**2 + s * t, "y": s**2 + (DRAWN + 1) * s * t, "z": t**2}
    plane = {"x": s + t, "y": s + (DRAWN + 1) * t, "z": u}
    methods: tuple[PolarMethod, ...] = ("slices", "conormal")
    for method in methods:
        for images, degrees in ((conic, (2, 2)), (plane, (1, 0, 0))):
            image = PolynomialMap.from_expressions([s, t, u], images)
            with drawn_first():
                found = polar_degrees(image, engine=engine, method=method)
            assert found.degrees == degrees


@pytest.mark.slow
def test_the_sum_is_that_of_the_projective_closure(engine: Engine) -> None:
    """A parabola has three critical points, and the conic that closes it has the sum 4."""
    x, y = symbols("x y")
    distance = 2 * (x - 5) ** 2 + 3 * (x - 5) * (y - 7) + 11 * (y - 7) ** 2
    assert Poly(diff(distance.subs(y, x**2), x), x).degree() == 3
    found = polar_degrees(ideal("y - x^2"), engine=engine)
    assert (found.closure, found.degrees, found.generic_ed_degree) == (True, (2, 2), 4)
    assert found.to_json()["projective_closure"] is True
    assert "generic ED degree   4, of the projective closure" in found.to_text()
    assert r"\operatorname{gED}(\overline{X}) = 4" in found.to_latex()
    assert "of the projective closure" in found.figure().axes[0].get_title()
    cone = polar_degrees(ideal("y*z - x^2"), engine=engine)
    assert "generic ED degree   4\n" in cone.to_text()
    assert r"\operatorname{gED} = 4" in cone.to_latex()


WITHOUT_THEOREM = {
    # one token: A is seen by its symmetric part, (2, 1): binary cubics, all of them
    "one token": (SingleLayerAttention(2, 1, 2, 1), (1, 0, 0, 0)),
    # quadrics of rank two in three variables: the determinant, dual to the Veronese surface
    "polynomial network": (PolynomialNetwork((3, 2, 1)), (3, 6, 4, 0, 0)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WITHOUT_THEOREM)
def test_families_without_a_theorem_have_two_primes_too(name: str, engine: Engine) -> None:
    model, degrees = WITHOUT_THEOREM[name]
    found = polar_degrees(model, engine=engine)
    assert (found.method, found.degrees) == ("slices", degrees)
    assert len(set(found.primes)) >= 2
    assert found.theorem.known.endswith("random primes; this is not a proof over QQ")
    assert "theorem" not in found.theorem.known


def test_slices_that_take_long_give_way_to_the_conormal_variety(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And this one to slices again, which then have no limit of their own."""
    nodal = {"x": s * (s**2 - t**2), "y": t * (s**2 - t**2), "z": s**3}
    given = PolynomialMap.from_expressions([s, t], nodal)
    assert polar_degrees(given).method == "slices"
    monkeypatch.setattr(choosing, "MAX_SLICES_SECONDS", 1e-6)
    found = polar_degrees(given)
    assert (found.method, found.degrees) == ("conormal", (3, 4))
    monkeypatch.setattr(choosing, "MAX_CONORMAL_SECONDS", 1e-6)
    found = polar_degrees(given)
    assert (found.method, found.degrees) == ("slices", (3, 4))

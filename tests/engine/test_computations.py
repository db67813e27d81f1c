"""Computations on real Macaulay2, against values printed elsewhere and independent methods."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from sympy import symbols

from m2bridge import (
    CoefficientField,
    Macaulay2,
    Orbit,
    PolynomialMap,
    Script,
    SingleLayerAttention,
    closure,
    dimension,
    singular_locus,
)
from m2bridge.algebra.field import QQ
from m2bridge.algebra.polynomial_map import same_span, vanishes_on_image
from m2bridge.convert.answers import parse
from m2bridge.engine import Engine
from m2bridge.errors import ContradictionError, MethodUnavailableError
from m2bridge.families.attention.checker import one_token
from m2bridge.families.attention.checker.case import Case
from m2bridge.families.attention.orbits.fibres import fibres_script, matrix_program
from m2bridge.families.attention.orbits.orbits import orbits
from m2bridge.families.attention.orbits.singular_orbits import by_bounds, by_orbits, orbit_script
from m2bridge.families.attention.sizes import degree_formula, dimension_formula
from m2bridge.ideals.construct import ideal
from m2bridge.maps.locus import LocusFindings
from m2bridge.maps.polynomial_map_model import as_model
from m2bridge.results.known import Bounds
from tests.limits import HOUR, limit_after

pytestmark = pytest.mark.macaulay2("any")

# MATH: (d, d', a): dimension, degree, generators by degree, tangent dimensions at orbits
WORKED = {
    (2, 1, 2): (5, 4, {4: 1}, {(1, 1, 0): 6, (1, 1, 1): 6, (2, 1, 1): 5}),
    (2, 2, 2): (
        7,
        20,
        {2: 5, 4: 10},
        {(1, 1, 0): 9, (1, 1, 1): 9, (1, 2, 1): 7, (2, 1, 1): 7, (2, 2, 2): 7},
    ),
    (2, 2, 1): (6, 20, {2: 15, 4: 5}, {(1, 1, 0): 7, (1, 1, 1): 7, (1, 2, 1): 6}),
    (3, 1, 3): (
        11,
        45,
        {3: 20, 4: 90},
        {(1, 1, 0): 15, (1, 1, 1): 18, (2, 1, 0): 11, (2, 1, 1): 11, (3, 1, 1): 11},
    ),
}


@pytest.mark.macaulay2("each")
@pytest.mark.parametrize("case", [case for case in WORKED if case[0] == 2])
def test_worked_values(engine: Engine, case: tuple[int, int, int]) -> None:
    model = SingleLayerAttention(*case)
    dimension_, degree, generators, tangents = WORKED[case]
    locus = singular_locus(model, engine=engine, method="orbits")
    assert {
        (s.orbit.r, s.orbit.s, s.orbit.m): s.tangent_dimension for s in locus.orbits
    } == tangents
    assert all(s.singular == (s.tangent_dimension > dimension_) for s in locus.orbits)
    assert [component.orbit for component in locus.components or ()] == [Orbit(1, 1, 0)]
    found = closure(model, engine=engine)
    assert (found.dimension, found.degree) == (dimension_, degree)
    assert found.ideal is not None
    assert found.ideal.generator_degrees == generators
    assert str(found.completeness) == "proved"


@pytest.mark.parametrize(
    "case", [(1, 3), (2, 1), (2, 1, 1), (2, 2), (2, 2, 1), (2, 3, 1), (3, 1, 1)]
)
def test_the_ideal_independently_of_macaulay2(engine: Engine, case: tuple[int, ...]) -> None:
    """Generators vanish after substitution of Q, K, V; dimension and degree are those of the closed
    formulas.
    """
    model = SingleLayerAttention(*case)
    found = closure(model, engine=engine)
    assert found.ideal is not None
    assert vanishes_on_image(found.ideal, model.parametrization(weights="factored"))
    assert found.dimension == dimension_formula(model)
    assert found.degree == degree_formula(model)
    assert found.hilbert_series is not None
    assert (found.hilbert_series.dimension, found.hilbert_series.degree) == (
        found.dimension,
        found.degree,
    )


@pytest.mark.slow
@pytest.mark.parametrize("case", [(1, 3, 1), (2, 1, 1), (2, 2, 1), (2, 2, 2), (2, 3, 1), (2, 4, 1)])
def test_the_checker_knows_dimension_and_degree_for_one_token(
    engine: Engine, case: tuple[int, int, int]
) -> None:
    """Without equations; Macaulay2 eliminates, modulo a prime."""
    model = SingleLayerAttention(*case, t=1)
    field = CoefficientField(32003)
    found = closure(model, engine=engine, field=field, strategy="elimination")
    of_checker = Case(*case, 1)
    dimension_, degree = one_token.dimension(of_checker), one_token.degree(of_checker)
    assert (found.dimension, found.degree) == (dimension_, degree)


@pytest.mark.macaulay2("each")
def test_strategies_and_weights_give_the_same_ideal(engine: Engine) -> None:
    model = SingleLayerAttention(2, 2, 1)
    ideals = [
        closure(model, engine=engine, strategy=strategy, weights=weights)
        for strategy in ("elimination", "ungraded-elimination")
        for weights in ("attention", "factored")
    ]
    assert len({result.hilbert_series for result in ideals}) == 1
    equal = Script(
        "equal",
        "\n".join(
            [
                (
                    r.to_macaulay2().replace("I =", f"I{i} =")
                    if i == 0
                    else r.to_macaulay2().split("]\n", 1)[1].replace("I =", f"I{i} =")
                )
                for i, r in enumerate(ideals)
            ]
        )
        + '\nmbEmit("equal", I0 == I1 and I1 == I2 and I2 == I3)',
    )
    assert parse(engine.run(equal).records).values["equal"] is True


@pytest.mark.parametrize("t", [2, 3])
def test_full_coordinates_give_the_same_variety(engine: Engine, t: int) -> None:
    """The isomorphism takes the ideal in full coordinates to the one in reduced coordinates."""
    model = SingleLayerAttention(2, 1, t=t)
    reduced = closure(model, engine=engine)
    full = closure(model, engine=engine, coordinates="full")
    assert full.dimension == reduced.dimension
    assert full.degree == reduced.degree
    assert full.hilbert_series == reduced.hilbert_series
    assert full.ideal is not None
    assert vanishes_on_image(full.ideal, model.parametrization("full", "factored"))
    assert same_span(model.parametrization("reduced"), model.parametrization("full"))


@pytest.mark.macaulay2("each")
@pytest.mark.parametrize(("d", "d_out"), [(2, 1), (2, 2)])
def test_one_token(d: int, d_out: int, engine: Engine) -> None:
    check_one_token(d, d_out, "all", engine)


@pytest.mark.parametrize(("d", "d_out"), [(3, 1), (3, 3), (4, 2)])
def test_larger_cases_of_one_token(d: int, d_out: int) -> None:
    check_one_token(d, d_out, "jacobian")


def check_one_token(d: int, d_out: int, method: str, engine: Engine | None = None) -> None:
    found = dimension(SingleLayerAttention(d, d_out, t=1), engine=engine, method=method)
    s = min(2 * d, d)
    assert found.dimension == d * d_out + s * (2 * d - s + 1) // 2 - 1
    assert found.agree


@pytest.mark.macaulay2("each")
def test_orbits_by_macaulay2(engine: Engine) -> None:
    """The ranks that FLINT found, found by Macaulay2."""
    for case in [(2, 1), (2, 2), (2, 2, 1)]:
        model = SingleLayerAttention(*case)
        answer = parse(engine.run(orbit_script(as_model(model), field=QQ)).records)
        for status in singular_locus(model, engine=engine, method="orbits").orbits:
            o = status.orbit
            assert (
                answer.integer(f"tangent_dimension {o.r} {o.s} {o.m}") == status.tangent_dimension
            )


@pytest.mark.slow
@pytest.mark.macaulay2("each")
def test_jacobian_method_identifies_the_orbit_closure(engine: Engine) -> None:
    for field in (QQ, CoefficientField(101)):
        whole = singular_locus(
            SingleLayerAttention(2, 1), engine=engine, field=field, method="all", ideals=True
        )
        assert whole.method == (
            "fibres and orbits and jacobian" if field == QQ else "orbits and jacobian"
        )
        names = "fibres, orbits and Jacobian" if field == QQ else "orbits and Jacobian"
        assert f"{names} agree" in whole.remarks
        (component,) = whole.components or ()
        assert (component.orbit, component.dimension, component.degree) == (Orbit(1, 1, 0), 4, 3)
        assert component.ideal is not None
        assert component.ideal.generator_degrees == {2: 3}
        assert (whole.dimension, whole.variety_dimension) == (4, 5)


def test_smooth_and_nearly_smooth_closures(engine: Engine) -> None:
    linear = singular_locus(SingleLayerAttention(1, 3), engine=engine)
    assert (linear.dimension, linear.components) == (-1, ())
    assert "smooth" in linear.to_text()
    segre = singular_locus(SingleLayerAttention(2, 1, 1), engine=engine, method="all")
    assert [c.description for c in segre.components or ()] == ["the zero function"]
    assert segre.dimension == 0


@pytest.mark.slow
def test_ideals_of_components_agree_with_the_degree_formula(engine: Engine) -> None:
    for case, degree in [((2, 2), 12), ((2, 2, 1), 12), ((2, 3), 30)]:
        locus = singular_locus(SingleLayerAttention(*case), engine=engine, ideals=True)
        (component,) = locus.components or ()
        assert component.degree == degree
        assert component.ideal is not None
        assert set(component.ideal.generator_degrees) == {2}


def test_points_of_general_maps_are_called_points(engine: Engine) -> None:
    """Three nodes of a Lissajous curve, of which two are conjugate; the node of a cubic, at 0 and
    elsewhere.
    """
    t = symbols("t")
    curves = {
        (4 * t**3 - 3 * t, 8 * t**4 - 8 * t**2 + 1): (
            ["2 points, conjugate over QQ", "a point"],
            "C_{1}",
        ),
        (t**2 - 1, t**3 - t): (["the origin"], r"\{0\}"),
        (t**2, t**3 - t): (["a point"], "C_{1}"),
    }
    for (x, y), (expected, formula) in curves.items():
        nodal = singular_locus(PolynomialMap.from_expressions([t], {"x": x, "y": y}), engine=engine)
        assert [c.description for c in nodal.components or ()] == expected
        assert rf"\operatorname{{Sing}} = {formula}\;" in nodal.to_latex()
        assert "function" not in nodal.to_text()


def test_any_polynomial_map(engine: Engine) -> None:
    s, t, gens = symbols("s t gens")
    cubic = PolynomialMap.from_expressions(
        [s, t], {f"x_{i}": s ** (3 - i) * t**i for i in range(4)}
    )
    found = closure(cubic, engine=engine)
    assert (found.dimension, found.degree, found.ideal.generator_degrees) == (2, 3, {2: 3})
    umbrella = PolynomialMap.from_expressions([s, gens], {"x": s * gens, "y": s, "z": gens**2})
    locus = singular_locus(umbrella, engine=engine, ideals=True)
    assert [sorted(map(str, c.ideal.generators)) for c in locus.components] == [["x", "y"]]
    circle = PolynomialMap.from_expressions([s, t], {"x": s, "y": t}, [s**2 + t**2 - 1])
    assert closure(circle, engine=engine).dimension == 1
    with pytest.raises(MethodUnavailableError):
        singular_locus(cubic, engine=engine, method="orbits")


@pytest.mark.slow
def test_what_was_found_before_the_limit_is_shown(session: Macaulay2) -> None:
    with limit_after(session, 0, "closure") as stuck:
        found = closure(
            SingleLayerAttention(3, 2), engine=stuck, strategy="elimination", timeout=HOUR
        )
    assert found.ideal is None
    assert (found.dimension, found.dimension_status, str(found.completeness)) == (
        14,
        "proved",
        "no",
    )
    assert "timeout=" in found.unfinished
    with limit_after(session, 0, "completeness") as stuck:
        partial = closure(SingleLayerAttention(2, 2).parametrization(), engine=stuck, timeout=HOUR)
    assert (partial.dimension, partial.dimension_status, partial.degree) == (7, "proved", None)
    assert str(partial.completeness) == "up to degree 4"
    assert "timeout=" in partial.unfinished


@pytest.mark.slow
def test_fibres_that_were_found_before_the_limit_are_shown(
    sessions: Callable[[Path], Macaulay2], m2: str
) -> None:
    session = sessions(Path(m2))
    with limit_after(session, 0, "fibres") as stuck:
        assert (
            singular_locus(
                SingleLayerAttention(3, 2), engine=stuck, method="fibres", timeout=HOUR
            ).components
            is None
        )
    with limit_after(session, 30, "fibres") as stuck:
        some = singular_locus(
            SingleLayerAttention(12, 12, 6), engine=stuck, method="fibres", timeout=HOUR
        )
    assert (some.components, some.variety_dimension, len(some.orbits)) == (None, 251, 27)
    assert "(27 of 233 orbits were done)" in some.unfinished
    with limit_after(session, 0, "closure") as stuck:
        over_p = singular_locus(
            SingleLayerAttention(3, 2),
            engine=stuck,
            field=CoefficientField(101),
            method="orbits",
            timeout=HOUR,
        )
    assert (over_p.components, over_p.variety_dimension) == (None, 14)
    assert "--method" not in over_p.unfinished  # fibres are computed over QQ only
    assert over_p.unfinished in over_p.to_text()


@pytest.mark.slow
def test_a_limit_of_the_whole_ideal_does_not_spoil_what_bounds_decide(
    session: Macaulay2, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Linear algebra, which would find these ideals, has no time."""
    monkeypatch.setattr("m2bridge.maps.singular_locus.MAX_LINEAR_ALGEBRA_SECONDS", 0.01)
    with limit_after(session, 0, "closure") as stuck:
        orbits = singular_locus(
            SingleLayerAttention(3, 1), engine=stuck, method="orbits", timeout=HOUR
        )
    assert ([c.orbit for c in orbits.components or ()], orbits.unfinished) == ([Orbit(1, 1, 0)], "")
    assert "orbits: Macaulay2 did not finish" in " ".join(orbits.remarks)
    with limit_after(session, 0, "closure") as stuck:
        everything = singular_locus(
            SingleLayerAttention(3, 2), engine=stuck, method="all", timeout=HOUR
        )
    assert everything.remarks == ("fibres and tangent bounds (degree ≤ 4) agree",)
    assert everything.unfinished.startswith("orbits and jacobian: ")


@pytest.mark.slow
def test_the_method_of_fibres_agrees_with_the_ideal(engine: Engine) -> None:
    """Statuses, components and degrees, with and without the ideal of the closure."""
    for case in [(2, 1), (2, 2), (2, 2, 1), (2, 3)]:
        check_fibres_against_ideal(SingleLayerAttention(*case), engine)


@pytest.mark.slow
def test_a_larger_ideal_agrees_with_worked_values_fibres_and_bounds(engine: Engine) -> None:
    """The ideal that is proved weight by weight; in smaller cases it is that of elimination."""
    model = SingleLayerAttention(3, 1)
    dimension_, degree, generators, tangents = WORKED[3, 1, 3]
    found = closure(model, engine=engine)
    assert found.ideal is not None
    assert (found.dimension, found.degree, str(found.completeness)) == (
        dimension_,
        degree,
        "proved",
    )
    assert found.ideal.generator_degrees == generators
    ideal, bounds = (
        by_orbits(found.ideal, dimension_, model, found.model.polynomial_map),
        by_bounds(model),
    )
    fibres = singular_locus(model, engine=engine, method="fibres")
    assert {
        (s.orbit.r, s.orbit.s, s.orbit.m): s.tangent_dimension for s in ideal.statuses
    } == tangents
    assert [s.tangent_dimension for s in ideal.statuses] == [
        s.tangent_dimension for s in bounds.statuses
    ]
    assert [(s.orbit, s.singular) for s in ideal.statuses] == [
        (s.orbit, s.singular) for s in fibres.orbits
    ]
    assert (ideal.components, ideal.dimension) == (bounds.components, bounds.dimension)
    assert [component.orbit for component in fibres.components or ()] == [Orbit(1, 1, 0)]
    assert (fibres.components, fibres.variety_dimension) == (ideal.components, dimension_)


def check_fibres_against_ideal(model: SingleLayerAttention, engine: Engine) -> None:
    fibres = singular_locus(model, engine=engine, method="fibres")
    ideal = singular_locus(model, engine=engine, method="orbits")
    assert [(s.orbit, s.singular) for s in fibres.orbits] == [
        (s.orbit, s.singular) for s in ideal.orbits
    ]
    assert fibres.components == ideal.components
    assert fibres.variety_dimension == ideal.variety_dimension


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [(3, 2, 2), (3, 2, 3), (3, 2, 1), (4, 1, 3), (4, 1, 2), (3, 2, 2, 3)]
)
def test_the_method_of_fibres_agrees_with_the_bounds(engine: Engine, case: tuple[int, ...]) -> None:
    """Beyond elimination: equations of degree ≤ 4 and tangent vectors, without Macaulay2."""
    model = SingleLayerAttention(*case)
    fibres = singular_locus(model, engine=engine, method="fibres")
    coordinates = "full" if model.t > 2 else None
    bounds = singular_locus(model, engine=engine, method="orbits", coordinates=coordinates)
    assert (bounds.method, bounds.engine_version, bounds.unfinished) == (
        "tangent bounds (degree ≤ 4)",
        "",
        "",
    )
    assert [(s.orbit, s.dimension, s.singular) for s in fibres.orbits] == [
        (s.orbit, s.dimension, s.singular) for s in bounds.orbits
    ]
    assert fibres.components == bounds.components
    assert fibres.variety_dimension == bounds.variety_dimension


@pytest.mark.slow
@pytest.mark.parametrize("case", [(2, 1), (2, 2), (2, 2, 1), (2, 3), (3, 1, 1)])
def test_the_bounds_agree_with_the_whole_ideal(engine: Engine, case: tuple[int, ...]) -> None:
    check_bounds_against_ideal(SingleLayerAttention(*case), engine)


def orbits_of_ideal(model: SingleLayerAttention, engine: Engine) -> LocusFindings:
    found = closure(model, engine=engine, strategy="elimination")
    assert found.ideal is not None
    assert found.dimension is not None
    return by_orbits(found.ideal, found.dimension, model, found.model.polynomial_map)


def check_bounds_against_ideal(model: SingleLayerAttention, engine: Engine) -> None:
    ideal, bounds = orbits_of_ideal(model, engine), by_bounds(model)
    assert [s.tangent_dimension for s in ideal.statuses] == [
        s.tangent_dimension for s in bounds.statuses
    ]
    assert (ideal.components, ideal.dimension) == (bounds.components, bounds.dimension)


@pytest.mark.slow
def test_a_planted_contradiction_between_bounds_and_ideal(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bounds that call a smooth orbit singular do not get past the ideal."""
    model = SingleLayerAttention(2, 3)
    found = by_bounds(model)
    wrong = tuple(
        replace(s, singular=True, tangent=Bounds.exactly(10)) if s.orbit.r == 2 else s
        for s in found.statuses
    )
    monkeypatch.setattr(
        "m2bridge.families.attention.orbits.singular_orbits.by_bounds",
        lambda *_: replace(found, statuses=wrong),
    )
    with pytest.raises(ContradictionError, match="by tangent bounds"):
        singular_locus(model, engine=engine, method="orbits")


@pytest.mark.slow
def test_large_cases_by_fibres(engine: Engine) -> None:
    """No equations needed, and no minors of A for a < d."""
    for case, largest in [((6, 2), (1, 1, 0)), ((9, 1, 4), (3, 1, 0))]:
        locus = singular_locus(SingleLayerAttention(*case), engine=engine)
        assert locus.method == "fibres"
        assert [component.orbit for component in locus.components or ()] == [Orbit(*largest)]


@pytest.mark.slow
def test_fibres_by_few_operations(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program for many forms computes the same ideals, orbit by orbit, as that for few; also
    with minors of A. The fibre of one reduced point is returned as the origin of a line: there the
    ideal has to be that of the known weights.
    """
    for case in [(1, 2), (2, 3), (3, 2, 1), (3, 3, 2)]:
        model = SingleLayerAttention(*case)
        one_by_one = fibres_script(model)
        with monkeypatch.context() as patch:
            patch.setattr("m2bridge.families.attention.orbits.fibres.MAX_SEPARATE_FORMS", 0)
            together = fibres_script(model)
        assert set(together.libraries) - set(one_by_one.libraries) == {"fibres_of_weights"}
        both = one_by_one.body.replace(
            "mbEmit(name, {mbLength fibre, mbPoints fibre})",
            f"other := mbFibreOfWeights(A, V, unknowns, {model.alpha});"
            " isPoint := ring other =!= unknowns;"
            " point := ideal((matrix {{1_unknowns}} | vars unknowns) - V^{0} ** unknowns);"
            " mbEmit(name, if isPoint then fibre == point and other == mbOrigin"
            " else fibre == other)",
        )
        answer = parse(engine.run(Script("same ideals", both, together.libraries)).records)
        assert all(answer.boolean(str(orbit)) for orbit in orbits(model))
        records = [engine.run(script).records for script in (one_by_one, together)]
        assert records[0] == records[1]


@pytest.mark.slow
def test_fibres_of_any_weights_by_few_operations(engine: Engine) -> None:
    """The same for weights that are no representatives, of fibres of one point and of two."""
    d = 3
    pairs = [weights_on_the_chart(seed, d) for seed in range(20)]
    lines = [f"unknowns = QQ[z_2..z_{d}]"]
    for number, (A, V) in enumerate(pairs):
        lines.append(
            f"A = {matrix_program(A)}; V = {matrix_program(V)};"
            f" fibre = mbFibreOfKnownFunction(mbForms(A, V), unknowns, {d});"
            f" other = mbFibreOfWeights(A, V, unknowns, {d});"
            " point = ideal((matrix {{1_unknowns}} | vars unknowns) - V^{0} ** unknowns);"
            f' mbEmit("n{number}", {{if fibre == (if other === mbOrigin then point else other)'
            " then 1 else 0, mbLength fibre, mbLength other})"
        )
    script = Script("any weights", "\n".join(lines), ("wire", "fibres", "fibres_of_weights"))
    answer = parse(engine.run(script).records)
    lengths = set()
    for number in range(len(pairs)):
        same, length, other_length = answer.integers(f"n{number}")
        assert same
        assert length == other_length
        lengths.add(length)
    assert lengths == {1, 2}


def weights_on_the_chart(seed: int, d: int) -> tuple[list[list[Fraction]], list[list[Fraction]]]:
    """Random A and V with A_11 = V_11 = 1, of rank one for every other seed."""
    random = Random(seed)

    def matrix() -> list[list[Fraction]]:
        rows = [[Fraction(random.randint(1, 3)) for _ in range(d)] for _ in range(d)]
        if seed % 2:
            # multiples of the first row
            rows = [[rows[i][0] * entry for entry in rows[0]] for i in range(d)]
        return [[entry / rows[0][0] for entry in row] for row in rows]

    return matrix(), matrix()


def test_methods_that_do_not_apply(engine: Engine) -> None:
    for case, method in [((2, 1, 1), "fibres"), ((2, 1, 2, 1), "fibres"), ((2, 1, 2, 1), "orbits")]:
        with pytest.raises(MethodUnavailableError):
            singular_locus(SingleLayerAttention(*case), engine=engine, method=method)  # type: ignore[arg-type]
    with pytest.raises(MethodUnavailableError):
        singular_locus(
            SingleLayerAttention(2, 1), engine=engine, field=CoefficientField(7), method="fibres"
        )


@pytest.mark.macaulay2("each")
def test_results_in_every_form(engine: Engine) -> None:
    model = SingleLayerAttention(2, 1)
    for result in (
        closure(model, engine=engine),
        singular_locus(model, engine=engine, ideals=True),
        dimension(model),
    ):
        assert json.loads(json.dumps(result.to_json()))["case"] == {
            "d": 2,
            "d_out": 1,
            "a": 2,
            "t": 2,
        }
        assert "(d, d', a) = (2, 1, 2)" in result.to_text()
        assert result._repr_latex_() == result.to_latex()
        engine.run(Script("round", f'{result.to_macaulay2()}\nmbEmit("read", true)'))


def test_generators_in_json_are_exact(engine: Engine, program: Path) -> None:
    found = closure(SingleLayerAttention(2, 1), engine=engine).to_json()
    assert found["generator_degrees"] == {"4": 1}
    names = symbols(found["coordinates"])
    l1, l2 = names[:3], names[3:]
    # The resultant of the quadrics y ↦ Σ c y_p y_q for i = 1, 2; by SymPy.
    from sympy import expand, resultant

    x = symbols("x")
    printed = resultant(*(sum(c * x**k for k, c in enumerate(row)) for row in (l1, l2)), x)
    from sympy.parsing.sympy_parser import parse_expr

    generator = parse_expr(found["generators"][0])
    assert expand(generator - printed) == 0 or expand(generator + printed) == 0


@pytest.mark.macaulay2("each")
def test_where_no_session_is_given_one_is_started(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("M2BRIDGE_M2", str(program))
    t = symbols("t")
    cuspidal = PolynomialMap.from_expressions([t], {"x": t**2, "y": t**3})
    # elimination has a limit of seconds here, and linear algebra another sign
    assert closure(cuspidal).ideal == ideal("x^3 - y^2", variables="x y")
    assert dimension(cuspidal, method="elimination").dimension == 1


def test_elimination_is_compared_with_the_bounds_of_a_family(
    monkeypatch: pytest.MonkeyPatch, engine: Engine
) -> None:
    """A group of dimension 3 that a family claims wrongly, and a bound 0, where no rank applies."""
    a, b, c, d = symbols("a b c d")
    images = {"x": a * c, "y": a * d, "z": b * c, "w": b * d}
    model = as_model(PolynomialMap.from_expressions([a, b, c, d], images))
    assert dimension(model, engine=engine, method="elimination").dimension == 3
    monkeypatch.setattr(type(model), "gauge_dimension", lambda model: 3)
    with pytest.raises(ContradictionError, match=r"exceeds the upper bound 1 .*gauge_dimension or"):
        dimension(model, engine=engine, method="elimination")
    circle = as_model(PolynomialMap.from_expressions([a, b], {"x": a}, [a**2 + b**2 - 1]))
    assert dimension(circle, engine=engine).dimension == 1
    wrong = (Bounds.at_most(0, "a wrong formula"),)
    monkeypatch.setattr(type(circle), "upper_bounds", lambda model, characteristic: wrong)
    with pytest.raises(ContradictionError, match=r"at least 1 \(elimination\), which exceeds"):
        dimension(circle, engine=engine)

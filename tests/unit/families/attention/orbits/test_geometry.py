"""The geometry of single-layer attention, against other computations."""

from dataclasses import replace
from fractions import Fraction
from math import comb, factorial
from typing import Any

import pytest
from sympy import Float, Matrix, Poly, expand, symbols

from m2bridge import SingularLocus
from m2bridge.algebra.determinantal import determinantal_degree
from m2bridge.algebra.differential import (
    differential_rank,
    jacobian_at,
    random_point,
    tangent_dimension,
)
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.hilbert_series import HilbertSeries, n
from m2bridge.algebra.linear_algebra import pivot_columns, rank
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.algebra.polynomial_map import (
    PolynomialMap,
    in_sparse_coordinates,
    reduce_linearly,
    same_span,
)
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.errors import ContradictionError, ConversionError, InvalidCaseError, TooLargeError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import singular_orbits as bound_criterion
from m2bridge.families.attention.orbits.coordinates import function_coordinates, sparse_matrix
from m2bridge.families.attention.orbits.membership import quadratic_forms
from m2bridge.families.attention.orbits.orbits import (
    Orbit,
    flatten,
    maximal_orbits,
    orbit_closure_degree,
    orbits,
    representative,
)
from m2bridge.families.attention.orbits.parametrization import orbit_closure_map
from m2bridge.families.attention.orbits.singular_orbits import by_bounds
from m2bridge.families.attention.orbits.tangents import (
    orbit_dimension,
    tangent_lower_bound,
    tangent_upper_bounds,
)
from m2bridge.families.attention.sizes import degree_formula, dimension_formula
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.maps.locus import Component, LocusFindings, OrbitStatus, compare, singular_by_bounds
from m2bridge.maps.polynomial_map_model import as_model
from m2bridge.results.known import Bounds
from m2bridge.system import decimal, integer
from m2bridge.trained_weights.heads.membership import exact_coordinates
from tests.tiers import few

# Exact mathematics against SymPy, closed formulas and values printed elsewhere.

CASES = [
    (1, 1),
    (1, 3),
    (2, 1),
    (2, 1, 1),
    (2, 2),
    (2, 3, 1),
    (3, 1),
    (3, 2, 2),
    (3, 3),
    (4, 1, 2),
    (4, 2, 3),
]


@pytest.mark.parametrize("case", CASES)
def test_jacobian_rank_attains_the_dimension_formula(case: tuple[int, ...]) -> None:
    model = SingleLayerAttention(*case)
    factored = model.parametrization(weights="factored")
    point = random_point(factored, 1000, 1)
    assert differential_rank(factored, point) == dimension_formula(model)
    assert differential_rank(
        factored, point, field=CoefficientField(LARGE_PRIME)
    ) == dimension_formula(model)


def test_jacobian_against_sympy() -> None:
    x, y, z = symbols("x y z")
    ring = PolynomialRing(QQ, ("x", "y", "z"))
    expressions = [x**3 * y / 2 - z / 3, x * y * z, z**2 + 5]
    polynomials = [ring.polynomial(e) for e in expressions]
    for point in [(2, 3, 5), (0, 3, 5), (0, 0, 5), (1, 0, 0)]:
        expected = (
            Matrix(expressions).jacobian([x, y, z]).subs(dict(zip((x, y, z), point, strict=True)))
        )
        found = jacobian_at(polynomials, point)
        assert [Fraction(v, 6) for v in found[0]] == [
            Fraction(int(e.p), int(e.q)) for e in expected.row(0)
        ]
        assert found[1:] == [list(map(int, expected.row(i))) for i in (1, 2)]


def test_tangent_dimension_of_the_whitney_umbrella() -> None:
    ring = PolynomialRing(QQ, ("x", "y", "z"))
    x, y, z = ring.sympy_ring.gens
    umbrella = [x**2 - y**2 * z]
    assert tangent_dimension(umbrella, (0, 0, 5)) == 3
    assert tangent_dimension(umbrella, (2, 1, 4)) == 2


def test_reduction_finds_the_earliest_independent_coordinates() -> None:
    s, t = symbols("s t")
    planar = PolynomialMap.from_expressions(
        [s, t], {"a": s, "b": 2 * s, "c": s + t / 3, "d": t, "e": 0}
    )
    reduction = reduce_linearly(planar)
    assert reduction.basis == (0, 2)
    forms = [str(form) for form in reduction.linear_forms(planar, field=QQ)]
    assert forms == ["-2*a + b", "3*a - 3*c + d", "e"]


@pytest.mark.parametrize("t", [2, 3, 4])
@pytest.mark.parametrize("case", [(2, 1), (2, 2), (3, 2)])
def test_full_coordinates_are_isomorphic_to_reduced_ones_for_every_t(
    case: tuple[int, int], t: int
) -> None:
    model = SingleLayerAttention(*case, t=t)
    reduced, full = model.parametrization("reduced"), model.parametrization("full")
    assert same_span(reduced, full)
    assert len(reduce_linearly(full).basis) == len(reduce_linearly(reduced).basis)
    missing = reduced.restricted_to(range(1, len(reduced.images)))
    assert not same_span(full, missing)
    assert not same_span(missing, full)


def test_one_token_is_a_different_variety() -> None:
    one, two = SingleLayerAttention(2, 2, t=1), SingleLayerAttention(2, 2, t=2)
    assert not same_span(two.parametrization("reduced"), one.parametrization("full"))


def test_hilbert_series_of_the_twisted_cubic() -> None:
    series = HilbertSeries.from_numerator({0: 1, 2: -3, 3: 2}, 4)
    assert (series.numerator, series.dimension, series.degree) == ((1, 2), 2, 3)
    assert series.polynomial == 3 * n + 1
    assert [series.value(k) for k in range(5)] == [1, 4, 7, 10, 13]


def test_hilbert_series_of_extreme_ideals() -> None:
    whole = HilbertSeries.from_numerator({0: 1}, 3)
    assert (whole.dimension, whole.degree) == (3, 1)
    assert [whole.value(k) for k in range(4)] == [comb(k + 2, 2) for k in range(4)]
    point = HilbertSeries.from_numerator({0: 1, 1: -2, 2: 1}, 2)
    assert (point.dimension, point.degree, point.polynomial, point.value(1)) == (0, 1, 0, 0)
    unit = HilbertSeries.from_numerator({}, 3)
    assert (unit.dimension, unit.degree) == (-1, 0)


def test_degrees_printed_elsewhere() -> None:
    degrees = [
        degree_formula(SingleLayerAttention(*c))
        for c in [(2, 1), (2, 2), (2, 2, 1), (3, 1), (1, 5)]
    ]
    assert degrees == [4, 20, 20, 45, 1]
    assert determinantal_degree(3, 3, 2) == 3
    assert determinantal_degree(2, 3, 1) == 3
    assert determinantal_degree(4, 4, 2) == 20
    assert [determinantal_degree(1, k, 1) for k in (1, 4)] == [1, 1]
    assert determinantal_degree(3, 4, 1) == factorial(5) // (factorial(2) * factorial(3))


@pytest.mark.parametrize("case", [(2, 1), (2, 2), (3, 2, 2), (3, 3)])
def test_orbit_dimension_is_the_rank_of_its_parametrization(case: tuple[int, ...]) -> None:
    model = SingleLayerAttention(*case)
    for orbit in orbits(model):
        closure_map = orbit_closure_map(orbit, model)
        assert differential_rank(
            closure_map, random_point(closure_map, 1000, 3)
        ) == orbit_dimension(orbit, model)


def test_sparse_functions_are_the_parametrization() -> None:
    model = SingleLayerAttention(3, 2)
    names = model.parametrization().coordinates
    for orbit in orbits(model):
        A, V = representative(orbit, model)
        found = {
            "_".join(map(str, ("c", *(i + 1 for i in key)))): v
            for key, v in function_coordinates(sparse_matrix(A), sparse_matrix(V)).items()
        }
        values = dict(zip(names, model.parametrization().evaluate(flatten(A, V)), strict=True))
        assert found == {name: value for name, value in values.items() if value}


def test_closure_order() -> None:
    model = SingleLayerAttention(3, 2)
    every = orbits(model)
    assert maximal_orbits(every) == (Orbit(3, 2, 2),)
    assert maximal_orbits((Orbit(1, 1, 1), Orbit(1, 1, 0), Orbit(1, 2, 1))) == (Orbit(1, 2, 1),)
    assert maximal_orbits((Orbit(1, 2, 1), Orbit(2, 1, 1))) == (Orbit(1, 2, 1), Orbit(2, 1, 1))
    for small in every:
        for large in every:
            if small != large and small.in_closure_of(large):
                assert orbit_dimension(small, model) < orbit_dimension(large, model)
                assert not large.in_closure_of(small)


def test_degree_of_orbit_closures() -> None:
    assert orbit_closure_degree(Orbit(1, 1, 0), SingleLayerAttention(2, 1)) == 3
    assert orbit_closure_degree(Orbit(1, 1, 1), SingleLayerAttention(2, 1)) is None
    for case in [(2, 2), (3, 2)]:
        model = SingleLayerAttention(*case)
        generic = Orbit(model.d, model.d_out, model.d_out)
        assert orbit_closure_degree(generic, model) == degree_formula(model)


def test_points_off_the_source_are_refused() -> None:
    with pytest.raises(ConversionError):
        SingleLayerAttention(2, 1, 1).parametrization().evaluate((1, 0, 0, 1, 1, 0))


def test_numbers_of_any_size() -> None:
    huge = 3**50_000
    assert integer(decimal(huge)) == huge
    assert decimal(-12) == "-12"
    assert rank([[huge, 2 * huge], [1, 2]]) == 1
    assert pivot_columns([[0, 2, 4], [0, 1, 2]]) == ([1], [[0, 1, 2]])


@pytest.mark.parametrize("case", [(2, 1, 2), (3, 1, 1), (2, 2, 1)], ids=str)
def test_sparse_coordinates_span_the_same_by_fewer_terms(case: tuple[int, int, int]) -> None:
    """Of one token: sums of three products of weights become sums of two."""
    full = SingleLayerAttention(*case).parametrization("full")
    first_token = [i for i, name in enumerate(full.coordinates) if name.split("_")[2] == "1"]
    independent = reduce_linearly(full.restricted_to(first_token)).reduced
    sparse = in_sparse_coordinates(independent)
    assert same_span(independent, sparse)
    before, after = (sum(map(len, given.images)) for given in (independent, sparse))
    assert after <= before
    assert sparse.coordinates == independent.coordinates
    assert all(
        len(given.images) == len(independent.images)
        for given in (sparse, reduce_linearly(sparse).reduced)
    )


# Methods that disagree about the singular locus stop the run.

GENERIC = OrbitStatus(orbit=Orbit(2, 1, 1), dimension=5, tangent=Bounds.exactly(5), singular=False)
SPECIAL = OrbitStatus(orbit=Orbit(1, 1, 0), dimension=4, tangent=Bounds.exactly(6), singular=True)
COMPONENT = Component("closure of the orbit (1, 1, 0)", Orbit(1, 1, 0), 4, 3)
FINDINGS = LocusFindings("one", 5, (SPECIAL, GENERIC), (COMPONENT,))


def test_equal_findings_agree() -> None:
    compare(FINDINGS, replace(FINDINGS, method="two"))
    compare(FINDINGS, replace(FINDINGS, statuses=(), components=(replace(COMPONENT, degree=None),)))
    compare(
        FINDINGS,
        replace(FINDINGS, statuses=(replace(SPECIAL, tangent=Bounds.at_least(5)), GENERIC)),
    )
    undecided = replace(SPECIAL, singular=None, tangent=Bounds(5, 6))
    compare(FINDINGS, replace(FINDINGS, statuses=(undecided, GENERIC), components=None))


@pytest.mark.parametrize(
    "changed",
    [
        {"statuses": (replace(SPECIAL, singular=False), GENERIC)},
        {"statuses": (replace(SPECIAL, tangent=Bounds.exactly(7)), GENERIC)},
        {"statuses": (replace(SPECIAL, tangent=Bounds.at_least(7)), GENERIC)},
        {"statuses": (replace(SPECIAL, singular=None, tangent=Bounds.at_most(5)),)},
        {"statuses": (replace(SPECIAL, singular=False),), "components": None},
        {"components": ()},
        {"components": (replace(COMPONENT, dimension=3),)},
        {"components": (replace(COMPONENT, orbit=Orbit(1, 1, 1)),)},
        {"components": (replace(COMPONENT, degree=4),)},
    ],
)
def test_any_difference_is_an_error(changed: dict[str, tuple[object, ...]]) -> None:
    with pytest.raises(ContradictionError):
        compare(FINDINGS, replace(FINDINGS, method="two", **changed))  # type: ignore[arg-type]


# The model against its definition, expanded by SymPy in the ordinary way.


def by_definition(d: int, d_out: int, t: int) -> dict[str, object]:
    """All nonzero coefficients of V X Xᵀ A X, keyed like the full coordinates."""
    A = Matrix(d, d, lambda p, i: symbols(f"A_{p + 1}_{i + 1}"))
    V = Matrix(d_out, d, lambda k, p: symbols(f"V_{k + 1}_{p + 1}"))
    names = [(p, u) for p in range(d) for u in range(t)]
    X = Matrix(d, t, lambda p, u: symbols(f"x_{p + 1}_{u + 1}"))
    output = V * X * X.T * A * X
    coefficients = {}
    for k in range(d_out):
        for j in range(t):
            for monomial, coefficient in Poly(
                expand(output[k, j]), *[X[p, u] for p, u in names]
            ).terms():
                factors = [
                    f"{p + 1}_{u + 1}"
                    for (p, u), e in zip(names, monomial, strict=True)
                    for _ in range(e)
                ]
                coefficients["_".join([f"f_{k + 1}_{j + 1}", *factors])] = expand(coefficient)
    return coefficients


@pytest.mark.parametrize(
    ("d", "d_out", "t"), [(1, 1, 1), (2, 1, 1), (2, 1, 2), (2, 2, 2), (2, 1, 3), (3, 1, 2)]
)
def test_full_coordinates_are_the_coefficients_of_the_definition(
    d: int, d_out: int, t: int
) -> None:
    expected = by_definition(d, d_out, t)
    model = SingleLayerAttention(d, d_out, t=t)
    found = model.parametrization("full")
    assert {
        n: image.as_expr() for n, image in zip(found.coordinates, found.images, strict=True)
    } == expected
    assert model.in_coordinates("full").coordinate_count == len(expected)


def test_reduced_coordinates_are_the_mixed_coefficients() -> None:
    """c_{k,i,pq} is the coefficient of x_i y_p y_q in the output of token x, with y another
    token.
    """
    model = SingleLayerAttention(3, 2)
    reduced, full = model.parametrization("reduced"), by_definition(3, 2, 2)
    for name, image in zip(reduced.coordinates, reduced.images, strict=True):
        k, i, p, q = name.split("_")[1:]
        monomial = "_".join(f"{a}_{u}" for a, u in sorted([(i, 1), (p, 2), (q, 2)]))
        assert image.as_expr() - full[f"f_{k}_1_{monomial}"] == 0


def test_factored_weights_give_the_same_functions() -> None:
    model = SingleLayerAttention(3, 2, a=2)
    attention, factored = (
        model.parametrization("reduced"),
        model.parametrization("reduced", "factored"),
    )
    Q, K = [Matrix(2, 3, lambda e, i, n=n: symbols(f"{n}_{e + 1}_{i + 1}")) for n in "QK"]
    A = K.T * Q
    values = {f"A_{p + 1}_{i + 1}": A[p, i] for p in range(3) for i in range(3)}
    for left, right in zip(attention.images, factored.images, strict=True):
        assert expand(left.as_expr().subs(values) - right.as_expr()) == 0
    assert [expand(r.as_expr().subs(values)) for r in attention.relations] == [0]


def test_minors_define_the_rank_condition() -> None:
    relations = SingleLayerAttention(3, 1, a=1).parametrization().relations
    assert len(relations) == 9
    assert all(len(r) == 2 for r in relations)
    cubic = SingleLayerAttention(3, 1, a=2).parametrization().relations[0]
    A = Matrix(3, 3, lambda p, i: symbols(f"A_{p + 1}_{i + 1}"))
    assert expand(cubic.as_expr() - A.det()) == 0


@pytest.mark.parametrize(
    ("arguments", "option"),
    [((0, 1), "d"), ((1, 0), "d_out"), ((2, 1, 0), "a"), ((2, 1, -1), "a"), ((2, 1, 2, 0), "t")],
)
def test_meaningless_cases_are_refused(arguments: tuple[int, ...], option: str) -> None:
    with pytest.raises(InvalidCaseError) as refused:
        SingleLayerAttention(*arguments)
    assert refused.value.option == option


def test_cases_that_cannot_be_stored_are_refused_at_once() -> None:
    with pytest.raises(TooLargeError, match="coordinates"):
        SingleLayerAttention(60, 60).parametrization()
    with pytest.raises(TooLargeError, match="minors"):
        SingleLayerAttention(12, 1, 5).parametrization()
    with pytest.raises(InvalidCaseError, match="t ≥ 2"):
        SingleLayerAttention(2, 1, t=1).parametrization("reduced")


@pytest.mark.parametrize(
    ("case", "count"), [((2, 1), 3), ((4, 4), 26), ((6, 6), 71), ((8, 8), 148), ((2, 2, 1), 3)]
)
def test_orbit_counts(case: tuple[int, ...], count: int) -> None:
    assert len(orbits(SingleLayerAttention(*case))) == count


@pytest.mark.parametrize("case", [(1, 3), (2, 2), (3, 2, 2), (4, 3, 2), (4, 4)])
def test_representatives_lie_in_their_orbits(case: tuple[int, ...]) -> None:
    model = SingleLayerAttention(*case)
    attention = model.parametrization()
    for orbit in orbits(model):
        A, V = representative(orbit, model)
        r, s, both = Matrix(A).rank(), Matrix(V).rank(), Matrix(A).row_join(Matrix(V).T).rank()
        assert (r, s, r + s - both) == (orbit.r, orbit.s, orbit.m)
        assert attention.evaluate(flatten(A, V))[0] == 1


# Smooth and singular orbits by tangent vectors and equations of low degree, without an engine.

SMOOTH = Orbit(2, 2, 2)
CASES_BOUND_CRITERION = [
    (2, 1),
    (2, 2, 1),
    (2, 3),
    (3, 1),
    (3, 1, 1),
    (3, 2, 2),
    (3, 2, 3),
    (3, 2, 1),
    (4, 1, 2),
    (4, 1, 3),
    (5, 1, 1),
]


@pytest.mark.parametrize("case", few(CASES_BOUND_CRITERION, 3))
def test_the_bounds_meet(case: tuple[int, ...]) -> None:
    """Tangent vectors and equations know nothing of each other; so both are exact, and so is the
    dimension.
    """
    model = SingleLayerAttention(*case)
    found = by_bounds(model)
    assert found.unfinished == ""
    assert [s.orbit for s in found.statuses] == list(orbits(model))
    assert all(
        s.tangent_dimension == s.tangent_bound == s.tangent_upper_bound for s in found.statuses
    )
    assert found.dimension == dimension_formula(model)
    (corrected,) = (statement for statement in REGISTRY if statement.key == "singular-locus")
    if not corrected.hypotheses(model):
        assert all(corrected.predict(s.orbit, model) == s.singular for s in found.statuses)


def test_limits_of_tangent_spaces_fill_the_tangent_space_where_two_preimages_meet() -> None:
    """At A = e_1 e_1ᵀ, V = e_1 e_1ᵀ of (2, 1, 1) all products l v with one q, and e_1² with any q:
    dimension 3 + 1.
    """
    assert tangent_lower_bound(Orbit(1, 1, 1), SingleLayerAttention(2, 1, 1)) == 4
    assert tangent_lower_bound(Orbit(1, 1, 1), SingleLayerAttention(2, 1)) == 6


def test_what_two_bounds_decide() -> None:
    assert singular_by_bounds(Bounds.at_least(6), 5) is True
    assert singular_by_bounds(Bounds.exactly(5), 5) is False
    assert singular_by_bounds(Bounds(5, 6), 5) is None
    assert singular_by_bounds(Bounds.at_least(5), 5) is None
    for lower, upper in [(6, 5), (4, 4)]:
        with pytest.raises(ContradictionError):
            singular_by_bounds(Bounds(lower, upper), 5)


@pytest.mark.parametrize("planted", ["tangent vectors", "equations"])
def test_bounds_that_contradict_each_other_stop_the_run(
    monkeypatch: pytest.MonkeyPatch, planted: str
) -> None:
    """One tangent vector too many, or one equation too many, at a smooth orbit of (3, 2, 3)."""
    model = SingleLayerAttention(3, 2)
    if planted == "equations":
        monkeypatch.setattr(bound_criterion, "tangent_upper_bounds", lambda *_: {SMOOTH: 13})
    else:
        real = bound_criterion.orbit_tangents(model, equations=False)
        wrong = real | {SMOOTH: replace(real[SMOOTH], known=Bounds.at_least(15))}
        monkeypatch.setattr(bound_criterion, "orbit_tangents", lambda *_, **options: wrong)
    with pytest.raises(ContradictionError, match="on a variety of dimension 14"):
        by_bounds(model)


def test_the_degree_rises_while_orbits_are_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bound_criterion, "default_degree", lambda model: 2)
    assert by_bounds(SingleLayerAttention(3, 2)).method == "tangent bounds (degree ≤ 4)"
    assert by_bounds(SingleLayerAttention(3, 1, 1)).method == "tangent bounds (degree ≤ 2)"


def test_undecided_orbits_are_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without equations orbits of (3, 2, 2) are open; those with too many tangent vectors are
    singular all the same.
    """
    model = SingleLayerAttention(3, 2, 2)
    with monkeypatch.context() as patch:
        patch.setattr(bound_criterion, "default_degree", lambda model: 1)
        patch.setattr(bound_criterion, "MAX_SEARCHED_DEGREE", 1)
        found = by_bounds(model)
    decided = {s.orbit: s.singular for s in by_bounds(model).statuses}
    verdicts = {s.orbit: s.singular for s in found.statuses}
    assert set(verdicts.values()) == {True, False, None}
    assert all(verdict in (None, decided[orbit]) for orbit, verdict in verdicts.items())
    assert found.components is None
    assert found.unfinished.startswith("undecided: the orbit (2, 1, 0)")
    locus = SingularLocus(
        model=as_model(model),
        field=QQ,
        method=found.method,
        variety_dimension=found.dimension,
        orbits=found.statuses,
        components=None,
        remarks=(),
        engine_version="",
        seconds=0.1,
        unfinished=found.unfinished,
    )
    assert "undecided" in locus.to_text()
    assert "13 to 36" in locus.to_text()
    assert "exact linear algebra" in locus.to_text()
    assert "undecided" in locus.to_latex()
    record = locus.to_json()
    assert (record["components"], record["dimension"], record["engine"]) == (
        None,
        None,
        {"version": None},
    )
    (row,) = (o for o in record["orbits"] if (o["r"], o["s"], o["m"]) == (2, 1, 0))
    assert (row["singular"], row["tangent_dimension"]) == (None, None)
    assert (row["tangent_lower_bound"], row["tangent_upper_bound"]) == (13, 36)


def test_too_many_coordinates_for_equations_still_give_singular_orbits() -> None:
    found = by_bounds(SingleLayerAttention(6, 6))
    assert (found.method, found.components) == ("tangent bounds", None)
    verdicts = {s.orbit: s.singular for s in found.statuses}
    assert {orbit for orbit, verdict in verdicts.items() if verdict} == {
        Orbit(1, 1, 0),
        Orbit(1, 1, 1),
    }
    assert [orbit for orbit, verdict in verdicts.items() if verdict is False] == [Orbit(6, 6, 6)]
    # At A = l qᵀ, V = h vᵀ all (l x + v y) ⊗ (q' ⊗ h + q ⊗ h'): dimension (2d − 1)(d + d' − 1).
    assert (found.statuses[0].orbit, found.statuses[0].tangent.cell) == (Orbit(1, 1, 0), "≥ 121")


@pytest.mark.slow
def test_the_second_opinion_of_cross_checks_decides_these_cases_too() -> None:
    for case in [(3, 2, 2), (3, 2, 3), (4, 1, 3)]:
        model = SingleLayerAttention(*case)
        assert tangent_upper_bounds(model) == {
            s.orbit: s.tangent_dimension for s in by_bounds(model).statuses
        }


@pytest.mark.parametrize("value", [0.1, Float("0.1")])
def test_floats_are_no_exact_coordinates(value: Any) -> None:
    with pytest.raises(InvalidCaseError, match=r"write Fraction\('0.1"):
        quadratic_forms(SingleLayerAttention(2, 1), exact_coordinates({"c_1_1_1_1": value}))


def test_coordinates_have_any_number_of_digits() -> None:
    function = exact_coordinates({"c_1_1_1_2": "9" * 5000})
    ((form, _), *_) = quadratic_forms(SingleLayerAttention(2, 1), function)
    assert form == Matrix([[0, 10**5000 - 1], [10**5000 - 1, 0]])

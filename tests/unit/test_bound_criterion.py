"""Smooth and singular orbits by tangent vectors and equations of low degree, without an engine."""

import pytest

from m2bridge import Orbit, SingleLayerAttention, SingularLocus
from m2bridge.algebra.field import QQ
from m2bridge.errors import ContradictionError
from m2bridge.families.attention import singular_points as bound_criterion
from m2bridge.families.attention.orbits import orbits
from m2bridge.families.attention.shape import dimension_formula
from m2bridge.families.attention.singular_points import by_bounds
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.families.attention.tangents import tangent_lower_bound, tangent_upper_bounds
from m2bridge.maps.jacobian_rank import singular_by_bounds
from m2bridge.maps.map_model import as_model
from m2bridge.maps.singular_locus import tangent_text

SMOOTH = Orbit(2, 2, 2)
CASES = [(2, 1), (2, 2, 1), (2, 3), (3, 1), (3, 1, 1), (3, 2, 2), (3, 2, 3), (3, 2, 1), (4, 1, 2), (4, 1, 3), (5, 1, 1)]


@pytest.mark.parametrize("case", CASES)
def test_the_bounds_meet(case: tuple[int, ...]) -> None:
    """Tangent vectors and equations know nothing of each other; so both are exact, and so is the dimension."""
    model = SingleLayerAttention(*case)
    found = by_bounds(model)
    assert found.unfinished == ""
    assert [s.orbit for s in found.statuses] == list(orbits(model))
    assert all(s.tangent_dimension == s.tangent_bound == s.tangent_upper_bound for s in found.statuses)
    assert found.dimension == dimension_formula(model)
    (corrected,) = (statement for statement in REGISTRY if statement.key == "singular-locus")
    if not corrected.hypotheses(model):
        assert all(corrected.predict(s.orbit, model) == s.singular for s in found.statuses)


def test_limits_of_tangent_spaces_fill_the_tangent_space_where_two_preimages_meet() -> None:
    """At A = e_1 e_1ᵀ, V = e_1 e_1ᵀ of (2, 1, 1) all products l v with one q, and e_1² with any q: dimension 3 + 1."""
    assert tangent_lower_bound(Orbit(1, 1, 1), SingleLayerAttention(2, 1, 1)) == 4
    assert tangent_lower_bound(Orbit(1, 1, 1), SingleLayerAttention(2, 1)) == 6


def test_what_two_bounds_decide() -> None:
    assert singular_by_bounds(6, None, 5) is True
    assert singular_by_bounds(5, 5, 5) is False
    assert singular_by_bounds(5, 6, 5) is None
    assert singular_by_bounds(5, None, 5) is None
    for lower, upper in [(6, 5), (4, 4)]:
        with pytest.raises(ContradictionError):
            singular_by_bounds(lower, upper, 5)


@pytest.mark.parametrize(("planted", "value"), [("tangent_lower_bounds", (15, Orbit(3, 2, 2))), ("equations", 13)])
def test_bounds_that_contradict_each_other_stop_the_run(
    monkeypatch: pytest.MonkeyPatch, planted: str, value: object
) -> None:
    """One tangent vector too many, or one equation too many, at a smooth orbit of (3, 2, 3)."""
    name = "tangent_upper_bounds" if planted == "equations" else planted
    real = getattr(bound_criterion, name)
    monkeypatch.setattr(bound_criterion, name, lambda *args, **options: real(*args, **options) | {SMOOTH: value})
    with pytest.raises(ContradictionError, match="on a variety of dimension 14"):
        by_bounds(SingleLayerAttention(3, 2))


def test_the_degree_rises_while_orbits_are_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bound_criterion, "default_degree", lambda model: 2)
    assert by_bounds(SingleLayerAttention(3, 2)).method == "tangent bounds (degree ≤ 4)"
    assert by_bounds(SingleLayerAttention(3, 1, 1)).method == "tangent bounds (degree ≤ 2)"


def test_undecided_orbits_are_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without equations orbits of (3, 2, 2) are open; those with too many tangent vectors are singular all the same."""
    model = SingleLayerAttention(3, 2, 2)
    with monkeypatch.context() as patch:
        patch.setattr(bound_criterion, "default_degree", lambda model: 1)
        patch.setattr(bound_criterion, "LARGEST_DEGREE", 1)
        found = by_bounds(model)
    decided = {s.orbit: s.singular for s in by_bounds(model).statuses}
    verdicts = {s.orbit: s.singular for s in found.statuses}
    assert set(verdicts.values()) == {True, False, None}
    assert all(verdict in (None, decided[orbit]) for orbit, verdict in verdicts.items())
    assert found.components is None
    assert found.unfinished.startswith("undecided: the orbit (2, 1, 0)")
    locus = SingularLocus(
        as_model(model), QQ, found.method, found.dimension, found.statuses, None, (), "", 0.1, found.unfinished
    )
    assert "undecided" in locus.to_text()
    assert "13 to 36" in locus.to_text()
    assert "exact linear algebra" in locus.to_text()
    assert "undecided" in locus.to_latex()
    record = locus.to_json()
    assert (record["components"], record["dimension"], record["engine"]) == (None, None, {"version": None})
    (row,) = (o for o in record["orbits"] if (o["r"], o["s"], o["m"]) == (2, 1, 0))
    assert (row["singular"], row["tangent_dimension"]) == (None, None)
    assert (row["tangent_lower_bound"], row["tangent_upper_bound"]) == (13, 36)


def test_too_many_coordinates_for_equations_still_give_singular_orbits() -> None:
    found = by_bounds(SingleLayerAttention(6, 6))
    assert (found.method, found.components) == ("tangent bounds", None)
    verdicts = {s.orbit: s.singular for s in found.statuses}
    assert {orbit for orbit, verdict in verdicts.items() if verdict} == {Orbit(1, 1, 0), Orbit(1, 1, 1)}
    assert [orbit for orbit, verdict in verdicts.items() if verdict is False] == [Orbit(6, 6, 6)]
    # At A = l qᵀ, V = h vᵀ all (l x + v y) ⊗ (q' ⊗ h + q ⊗ h'): dimension (2d − 1)(d + d' − 1).
    assert (found.statuses[0].orbit, tangent_text(found.statuses[0])) == (Orbit(1, 1, 0), "≥ 121")


def test_the_second_opinion_of_cross_checks_decides_these_cases_too() -> None:
    for case in [(3, 2, 2), (3, 2, 3), (4, 1, 3)]:
        model = SingleLayerAttention(*case)
        assert tangent_upper_bounds(model) == {s.orbit: s.tangent_dimension for s in by_bounds(model).statuses}

"""Limits that are reached after any number of answers about the fibres: all that was found is
shown, and no more.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from m2bridge import Orbit, SingleLayerAttention, observe, singular_locus
from m2bridge.batch.store import Store, Task, kind_of
from m2bridge.certification.make import certify
from m2bridge.crosscheck.cross_check import CrossCheck, cross_check
from m2bridge.crosscheck.verdict import Verdict, compare
from m2bridge.engine import Engine, Transcript
from m2bridge.engine.script import Script
from m2bridge.errors import ContradictionError, EngineError, MemoryLimitError, TimeLimitError
from m2bridge.families.attention.observations.observe import BY_SECTION
from m2bridge.families.attention.orbits.fibres import Fibre, fibres
from m2bridge.families.attention.orbits.orbits import generic_orbit, orbits
from m2bridge.families.attention.orbits.tangents import tangent_upper_bounds
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.maps.locus import LocusFindings, OrbitStatus, known_orbits
from m2bridge.results.base import Decision
from m2bridge.results.known import UNKNOWN, Bounds
from m2bridge.statements.statement import (
    GlobalStatement,
    OrbitStatement,
    Statement,
    sharing_one_observation,
)
from tests.limits import by_linear_algebra
from tests.tiers import few, slow

CASES = [(3, 2, 2), (3, 3, 3), (2, 1, 1), (1, 2, 1)]
LIMITS = (TimeLimitError, MemoryLimitError)
BEFORE_ORBITS = 3
"""Answers before the first orbit, for d > 1."""


@cache
def bounds_of(shape: SingleLayerAttention) -> dict[Orbit, int]:
    return tangent_upper_bounds(shape)


@pytest.fixture(autouse=True)
def equations_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """They depend on the case only, and take longer than all the rest."""
    monkeypatch.setattr(
        "m2bridge.families.attention.orbits.tangents.tangent_upper_bounds",
        lambda shape, lower: bounds_of(shape),
    )


class Limited:
    """Reaches a limit after so many answers about the fibres."""

    version = "recorded"

    def __init__(
        self, engine: Engine, answers: int, limit: type[EngineError] = TimeLimitError
    ) -> None:
        self._engine, self._answers, self._limit = engine, answers, limit

    def run(self, script: Script, *, timeout: float | None = None) -> Transcript:
        records = self._engine.run(script, timeout=timeout).records
        raise self._limit(
            "the limit was reached",
            records=records[: self._answers] if script.name == "fibres" else (),
        )


def planted(
    observable: str, predict: Callable[[Orbit, SingleLayerAttention], bool | int]
) -> OrbitStatement:
    """A wrong statement that applies to every case."""
    return OrbitStatement("x", observable, "", "", observable, predict, lambda model: "")


STATEMENTS: tuple[Statement, ...] = (
    *sharing_one_observation(REGISTRY),
    planted("singular", lambda orbit, model: orbit.s <= 1),
    planted("critical", lambda orbit, model: False),
    planted("boundary", lambda orbit, model: orbit.r == orbit.s == 1),
    planted("boundary", lambda orbit, model: orbit.r == 2),
    planted("fibre_points", lambda orbit, model: 1),
    GlobalStatement(
        "x", "points", "", "", "special_fibre_points", lambda model: 3, lambda model: ""
    ),
)


def counts(model: SingleLayerAttention) -> range:
    """How many answers there may be before a limit."""
    return range(len(orbits(model)) + (BEFORE_ORBITS if model.d > 1 else 1) + 1)


def checks(
    case: tuple[int, int, int], recorded: Engine
) -> tuple[SingleLayerAttention, list[CrossCheck]]:
    """Cross-checks with a limit after 0, 1, … answers, and one without."""
    model = SingleLayerAttention(*case)
    limited = [
        cross_check(model, engine=Limited(recorded, n), statements=STATEMENTS)
        for n in counts(model)
    ]
    return model, [*limited, cross_check(model, engine=recorded, statements=STATEMENTS)]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_verdict_is_the_final_one_or_undecided(
    recorded: Engine, case: tuple[int, int, int]
) -> None:
    _, found = checks(case, recorded)
    for sooner, later in pairwise(found):
        for before, after in zip(sooner.verdicts, later.verdicts, strict=True):
            assert before.decision in (Decision.UNDECIDED, after.decision), (before, after)


@pytest.mark.parametrize("case", few(CASES, 2))
def test_a_limit_after_the_last_answer_takes_nothing_away(
    recorded: Engine, case: tuple[int, int, int]
) -> None:
    _, found = checks(case, recorded)
    for before, after in zip(found[-2].verdicts, found[-1].verdicts, strict=True):
        assert before.decision is after.decision
        # points in slices come later, and say the same of small cases
        assert before == after or before.statement.key == "polar"
    assert found[-2].unfinished == ""
    assert found[-2].observations is not None
    assert found[-2].observations.missing_orbits == ()


@pytest.mark.parametrize("case", few(CASES, 2))
def test_what_is_shown_of_the_orbits_that_were_done(
    recorded: Engine, case: tuple[int, int, int]
) -> None:
    model, found = checks(case, recorded)
    whole = found[-1].observations
    assert whole is not None
    facts = {fact.orbit: fact for fact in whole.orbits}
    for check in found[:-2]:
        seen = check.observations
        assert check.unfinished in check.to_text()
        assert check.to_json()["unfinished"] == check.unfinished
        assert len(check.to_json()["orbits"]) == (0 if seen is None else len(seen.orbits))
        assert seen is not None
        if not seen.orbits:
            assert (seen.dimension, seen.products, seen.degree) == (
                whole.dimension,
                whole.products,
                None,
            )
        else:
            assert generic_orbit(model) in {fact.orbit for fact in seen.orbits}
            assert all(facts[fact.orbit] == fact for fact in seen.orbits)
            assert (seen.dimension, seen.degree, seen.closed) == (
                whole.dimension,
                whole.degree,
                whole.closed,
            )
        assert {*seen.missing_orbits, *(fact.orbit for fact in seen.orbits)} == set(orbits(model))
        assert f"({len(seen.orbits)} of {len(orbits(model))} orbits were done)" in check.unfinished
        assert all("orbits were done" in remark for remark in seen.remarks if remark != BY_SECTION)
    first = next(
        n for n, check in enumerate(found) if check.observations and check.observations.orbits
    )
    assert first == BEFORE_ORBITS + 1 if model.d > 1 else 2


def verdict(check: CrossCheck, name: str) -> Verdict:
    return next(verdict for verdict in check.verdicts if verdict.name == name)


def test_a_refutation_needs_one_orbit(recorded: Engine) -> None:
    _, found = checks((3, 2, 2), recorded)
    none, *_ = found
    assert {v.name for v in none.verdicts if v.decision is Decision.CONFIRMED} == by_linear_algebra(
        SingleLayerAttention(3, 2, 2)
    )
    assert "Orbits (L" not in none.to_text()
    dense, *_ = [
        check for check in found if check.observations is not None and check.observations.orbits
    ]
    assert {v.name for v in dense.verdicts if v.decision is Decision.CONFIRMED} >= {
        "3.3",
        "3.4 (i)",
        "A.2 (birational)",
        "A.5",
        "not-a-manifold",
    }
    third = verdict(dense, "3.4 (iii)")
    assert third.decision is Decision.UNDECIDED
    assert "agree on every orbit that was done; the limit was reached (" in third.reason
    assert "(1 of 8 orbits were done)" in third.reason
    refuted = next(
        check for check in found if verdict(check, "3.4 (iii)").decision is Decision.REFUTED
    )
    third = verdict(refuted, "3.4 (iii)")
    assert third.witness is not None
    assert third.witness.orbit == Orbit(1, 2, 0)
    assert third.reason.endswith(
        "computed and stated differ on the orbits (1, 2, 0) (4 of 8 orbits were done)"
    )
    assert (
        "fibre schemes at one point of every orbit that was done, over QQ (Macaulay2)"
        in third.computed
    )
    assert len(refuted.observations.missing_orbits) == 4  # type: ignore[union-attr]


def test_what_can_still_be_said_is_about_the_orbits_that_were_done(recorded: Engine) -> None:
    _, found = checks((2, 1, 1), recorded)
    check = next(
        check for check in found if check.observations is not None and check.observations.orbits
    )
    for name, said in {
        "3.3": "holds nevertheless: computed 4, stated 4",
        "A.2 (special fibres)": "whether the conclusion holds is not known (",
        "A.3": "holds nevertheless on every orbit that was done (1 of 2 orbits were done)",
    }.items():
        assert verdict(check, name).decision is Decision.NOT_APPLICABLE
        assert said in verdict(check, name).reason


def test_methods_that_disagree_stop_a_run_that_reaches_a_limit(
    recorded: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = SingleLayerAttention(3, 2, 2)
    limited = Limited(recorded, BEFORE_ORBITS + 3)
    found = fibres(model, engine=limited)
    wrong = replace(found, at=found.at | {Orbit(1, 1, 1): Fibre(1, 1)})
    monkeypatch.setattr(
        "m2bridge.families.attention.observations.observe.fibres",
        lambda *arguments, **options: wrong,
    )
    with pytest.raises(ContradictionError, match="the rank of the differential is too small"):
        observe(model, engine=limited)


@pytest.mark.parametrize("limit", LIMITS)
def test_certificates_need_all_orbits(
    recorded: Engine, limit: type[EngineError], tmp_path: Path
) -> None:
    model, store = SingleLayerAttention(3, 2, 2), Store(tmp_path)
    for answers in range(len(counts(model)) - 1):
        with pytest.raises(limit) as reached:
            certify(model, "3.3", engine=Limited(recorded, answers, limit))
        assert kind_of(reached.value) == (
            "timed-out" if limit is TimeLimitError else "out-of-memory"
        )
        store.put_outcomes(Task(model, ("3.3",)), reached.value, 60.0, None, "1.26")
        text = (tmp_path / "d3-dout2-a2-t2-3.3.outcome.json").read_text(encoding="utf-8")
        assert (f"({answers - BEFORE_ORBITS} of 8 orbits were done)" in text) == (
            answers > BEFORE_ORBITS
        )
    assert (
        certify(model, "3.3", engine=Limited(recorded, answers + 1, limit)).answer["verdicts"][0][
            "verdict"
        ]
        == "CONFIRMED"
    )


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("case", [(3, 2, 2), slow((3, 3, 3))])
def test_the_singular_locus_of_some_orbits(
    recorded: Engine, case: tuple[int, int, int], limit: type[EngineError]
) -> None:
    model = SingleLayerAttention(*case)
    whole = singular_locus(model, engine=recorded, method="fibres")
    statuses = {status.orbit: status for status in whole.orbits}
    for answers in counts(model):
        found = singular_locus(model, engine=Limited(recorded, answers, limit), method="fibres")
        done = max(0, answers - BEFORE_ORBITS)
        assert [statuses[status.orbit] for status in found.orbits] == list(found.orbits)
        assert len(found.orbits) == done
        assert found.variety_dimension == whole.variety_dimension
        if done == len(statuses):
            assert (found.components, found.unfinished) == (whole.components, "")
        else:
            assert (found.components, found.dimension) == (None, None)
            assert found.to_json()["components"] is None
            assert "the limit was reached" in found.unfinished
            assert found.unfinished in found.to_text()
            assert "not finished" in found.to_latex()


def test_an_orbit_keeps_what_some_method_decided() -> None:
    dense, small, other = Orbit(2, 2, 2), Orbit(1, 1, 0), Orbit(1, 1, 1)

    def status(orbit: Orbit, dimension: int, tangent: Bounds, singular: bool | None) -> OrbitStatus:
        return OrbitStatus(orbit=orbit, dimension=dimension, tangent=tangent, singular=singular)

    by_fibres = _findings(
        "fibres", status(small, 4, UNKNOWN, True), status(dense, 7, Bounds.exactly(7), False)
    )
    open_ = status(other, 3, UNKNOWN, None)
    by_bounds = _findings(
        "bounds", status(small, 4, UNKNOWN, None), open_, status(dense, 7, Bounds.exactly(7), False)
    )
    assert known_orbits([by_fibres, by_bounds]) == (
        by_fibres.statuses[0],
        open_,
        by_bounds.statuses[2],
    )


def _findings(method: str, *statuses: OrbitStatus) -> LocusFindings:
    return LocusFindings(method, 7, statuses, None, "a limit")


def test_a_boundary_point_without_its_family_is_undecided(recorded: Engine) -> None:
    model = SingleLayerAttention(3, 2, 2)
    seen = replace(observe(model, engine=recorded), boundary_family=False)
    stated: Sequence[Statement] = [s for s in REGISTRY if (s.key, s.part) == ("3.4", "ii")]
    assert compare(stated[0], seen).decision is Decision.UNDECIDED
    assert (
        compare(planted("boundary", lambda orbit, m: orbit.r == 2), seen).decision
        is Decision.REFUTED
    )

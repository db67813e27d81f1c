"""Single cases that are compared with the generators for all sizes."""

from collections.abc import Sequence
from typing import Any

import pytest

from m2bridge import SingleLayerAttention
from m2bridge.crosscheck.cross_check import CrossCheck
from m2bridge.crosscheck.verdict import verdicts_on
from m2bridge.errors import TimeLimitError
from m2bridge.families.attention.all_sizes import generators
from m2bridge.families.attention.all_sizes.closures import closures_of_all_sizes
from m2bridge.families.attention.ideal.sections import CoreSize
from m2bridge.families.attention.observations.by_degree import ObservedGenerators
from m2bridge.results.base import Decision

MODEL = SingleLayerAttention(d=2, d_out=1)


@pytest.mark.parametrize(
    ("observed", "decision"),
    [
        (ObservedGenerators(model=MODEL, computed={4: 1}, last=None, found=True), "CONFIRMED"),
        (ObservedGenerators(model=MODEL, computed={4: 2}, last=None, found=True), "REFUTED"),
        # compared up to a degree: it agrees as far as it goes
        (ObservedGenerators(model=MODEL, last=3, found=True, limit="limit"), "UNDECIDED"),
        # nothing was found, so that there is nothing to agree with
        (ObservedGenerators(model=MODEL, limit="the limit was reached"), None),
    ],
)
def test_a_case_without_generators_is_no_case_that_agrees(
    observed: ObservedGenerators, decision: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cross_check(model: Any, statements: Sequence[Any]) -> CrossCheck:
        return CrossCheck(
            model=model,
            verdicts=verdicts_on(statements, model, observed),
            observations=observed,
            engine_version="",
            seconds=0.0,
            unfinished=observed.unfinished,
        )

    monkeypatch.setattr(generators, "cross_check", cross_check)
    (closure,) = closures_of_all_sizes((CoreSize.of(MODEL),)).ranges
    statements = generators.ABOUT_GENERATORS
    if decision is None:
        with pytest.raises(TimeLimitError, match="the limit was reached"):
            generators._compare_with_polynomials(MODEL, closure, statements)
        return
    found = generators._compare_with_polynomials(MODEL, closure, statements)
    decisions = {verdict.statement.key: verdict.decision for verdict in found.verdicts}
    assert decisions["generators"] is Decision(decision)

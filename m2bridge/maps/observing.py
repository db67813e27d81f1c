"""Observing a model: all of it at once, or only what is asked for, where a family can part that."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from m2bridge.maps.model import IsObserved
from m2bridge.maps.statement import Statement

if TYPE_CHECKING:
    from m2bridge.engine import Engine
    from m2bridge.maps.observed import Observed


@runtime_checkable
class ObservedInParts(Protocol):
    """Computes each observable by itself, so that only what statements are about is computed."""

    def part_needs_engine(self, observables: Collection[str]) -> bool:
        """Whether Macaulay2 takes part in observing these."""
        ...

    def observe_part(
        self, observables: Collection[str], engine: Engine | None, *, certified: bool = False
    ) -> Observed | None:
        """As :meth:`~m2bridge.maps.model.IsObserved.observe`, but of these observables only."""
        ...


def wanted(model: IsObserved, statements: Iterable[Statement]) -> frozenset[str]:
    """What statements are about; where Macaulay2 is needed, only those that apply."""
    return frozenset(
        statement.observable
        for statement in statements
        if not needs_engine(model, {statement.observable}) or not statement.hypotheses(model)
    )


def needs_engine(model: IsObserved, observables: Collection[str]) -> bool:
    """Whether Macaulay2 takes part where statements are about these observables."""
    if isinstance(model, ObservedInParts):
        return model.part_needs_engine(observables)
    return model.needs_engine


def observe(
    model: IsObserved, observables: Collection[str], engine: Engine | None, *, certified: bool = False
) -> Observed | None:
    """Observe at least these."""
    if isinstance(model, ObservedInParts):
        return model.observe_part(observables, engine, certified=certified)
    return model.observe(engine, certified=certified)

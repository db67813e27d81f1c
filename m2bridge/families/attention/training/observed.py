"""Observations of all types of weights of a case, and the values that are compared.

The type of weights is given by the ranks of their matrices and the dimension of an intersection. It
is exposed if some of its weights are critical points of a squared loss for all targets in an open
set; this is decided by ranks, in ``exposure``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from m2bridge.errors import NotApplicableError, TimeLimitError
from m2bridge.families.attention.hypotheses import why_not_several_tokens
from m2bridge.families.attention.observations.separate import ObservedSeparately
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.families.attention.training.exposure import TypeFacts, type_facts
from m2bridge.families.attention.training.types import (
    FACTORED_HEADER,
    HEADER,
    ExposedTypes,
    WeightType,
    weight_types,
)
from m2bridge.limits import check_deadline_in, clock
from m2bridge.statements.statement import Value

EXPOSED_WORDS = {True: "yes", False: "no", None: "not decided"}
SADDLE_WORDS = {True: "yes", False: "no", None: ""}  # None: it is not asked, or nothing shows it

LEGEND = (
    "Types of weights: ranks, and the dimension of the intersection of the column space of A with"
    " the row space of {values}; dimension of their functions, and rank of the differential;"
    " whether some of these weights are critical for all targets in an open set, and saddles"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedTypes(ObservedSeparately):
    """What ranks say of all types of a case; a cross-check reads and shows it by its methods."""

    facts_by_type: tuple[TypeFacts, ...]  # of the first types; of all unless there is a limit
    types: tuple[WeightType, ...]  # all types of the case
    head_dim: int | None = None  # the number of columns of O, where values are factorized

    @property
    def progress(self) -> str:
        """How many types were decided until a limit was reached; empty if none was."""
        if not self.limit:
            return ""
        return f"{len(self.facts_by_type)} of {len(self.types)} types were decided"

    def value(self, observable: str) -> Value | None:
        """The types that are exposed, and those that are not decided or were not reached."""
        exposed = []
        undecided = list(self.types[len(self.facts_by_type) :])
        for facts in self.facts_by_type:
            if facts.exposed is None:
                undecided.append(facts.kind)
            elif facts.exposed:
                exposed.append(facts.kind)
        return ExposedTypes.of(exposed, undecided)

    def unknown(self, observable: str) -> str:
        """Why a value is not known: the limit that was reached; empty if none was."""
        return self.limit

    def facts(self) -> list[tuple[str, str | None]]:
        """How many types there are, and how many are exposed, in words."""
        # ``facts.exposed`` may also be None, not decided
        count_of_exposed = sum(facts.exposed is True for facts in self.facts_by_type)
        if self.limit:
            count = len(self.facts_by_type)
            clause = f"{count} are decided, and {count_of_exposed} of these exposed"
            return [("types", f"{len(self.types)}, of which {clause}")]
        return [("types", f"{len(self.types)}, of which {count_of_exposed} are exposed")]

    def table(self) -> tuple[str, Sequence[str], Sequence[Sequence[object]]] | None:
        """A legend, the names of the columns, and a row for each of the types with facts."""
        factored = self.head_dim is not None
        header = FACTORED_HEADER if factored else HEADER
        rows = []
        for facts in self.facts_by_type:
            words = (EXPOSED_WORDS[facts.exposed], SADDLE_WORDS[facts.saddle])
            rows.append((*facts.kind.cells, facts.functions, facts.rank, *words))
        columns = (*header, "functions", "differential", "exposed", "saddle")
        return LEGEND.format(values="OV" if factored else "V"), columns, rows

    def to_json(self) -> dict[str, Any]:
        """{"types": facts}: :meth:`TypeFacts.to_json` of each type with facts."""
        return {"types": [facts.to_json() for facts in self.facts_by_type]}


def observe_types(
    model: LayerSizes, head_dim: int | None = None, *, partial: bool = True
) -> ObservedTypes:
    """Decide for every type of weights with a nonzero function whether it is exposed; t ≥ 2.

    With ``head_dim``, the number of columns of O and of rows of V, weights are (K, Q, O, V). If
    ``partial``, the facts found so far are returned when a limit is reached.
    """
    reason = why_not_several_tokens(model)  # why this hypothesis fails; empty if it holds
    if reason:
        raise NotApplicableError(f"types of weights: {reason}")
    types = weight_types(model, head_dim)
    facts_by_type: list[TypeFacts] = []
    limit = ""
    try:
        # facts that were found before a limit stay in the list
        facts_by_type.extend(type_facts(kind, model, head_dim) for kind in check_deadline_in(types))
    except TimeLimitError as limit_error:
        if not partial:
            raise
        limit = str(limit_error)
    return ObservedTypes(
        model=model,
        facts_by_type=tuple(facts_by_type),
        types=types,
        head_dim=head_dim,
        limit=limit,
        seconds=clock().seconds,
    )

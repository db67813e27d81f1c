"""Observations of numbers by degree of one closure: its Hilbert function, and its generators.

A core is a small model whose closure determines the closures of larger ones. Generators are
predicted from the core, and observed without it. The Hilbert function is predicted by the formula
for sections, and observed as :func:`m2bridge.maps.closure.closure` finds it, which may use the core
(:mod:`m2bridge.families.attention.ideal.values_by_degree`). Orbits say nothing of such numbers, and
a closure can take long; so they are observed separately.

The observables are "Hilbert_function", alone, "generator_numbers" (the minimal generators of the
ideal by degree) and "generator_degrees" (their degrees). Their value is None if nothing was proved;
without a prediction, or where it is not known, the table of a cross-check has none, and JSON and
Macaulay2 code have an empty one.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from m2bridge.errors import MethodUnavailableError
from m2bridge.families.attention.hypotheses import why_no_prediction, why_not_several_tokens
from m2bridge.families.attention.ideal.values_by_degree import (
    GeneratorDegrees,
    GeneratorNumbers,
    HilbertValues,
)
from m2bridge.families.attention.observations.separate import ObservedSeparately
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.implicitization.implicitize import Implicitization
from m2bridge.maps.closure import Closure, Completeness, closure
from m2bridge.maps.equations import default_max_degree
from m2bridge.maps.polynomial_map_model import as_model
from m2bridge.results.sheet import m2_list
from m2bridge.statements.statement import Value

MAX_SHOWN_DEGREES = 12
"""The number of degrees in a table, so that it fits on one page."""


def can_be_eliminated(coordinate_count: int) -> bool:
    """Return whether elimination ends within minutes for this number of coordinates."""
    return coordinate_count <= 24


def degree_for(shape: LayerSizes) -> int:
    """Return the last degree that is computed by linear algebra in weight spaces, at least 1."""
    # with so many monomials weight spaces take minutes
    return default_max_degree(shape.independent_count, monomials=1_500_000, largest=5)


NOT_COMPUTED = "not computed"
"""The entry of a table for a computed number above the last degree that was computed, and for all
predicted numbers where a limit was reached before the prediction was computed.
"""


NumbersByDegree = tuple[Mapping[int, int], Mapping[int, int] | None, int | None]
"""Computed and predicted numbers by degree, where zeros may be left out, and the last degree that
was computed; None for no prediction, and for all degrees.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedByDegree(ObservedSeparately):
    """Numbers by degree that were observed of a closure."""

    @abstractmethod
    def columns(self) -> NumbersByDegree:
        """Return the columns of the table: computed and predicted numbers, each by degree."""

    def facts(self) -> list[tuple[str, str | None]]:
        """Return no facts: the table has all numbers."""
        return []

    def table(self) -> tuple[str, Sequence[str], Sequence[Sequence[object]]] | None:
        """Return caption, header and rows of computed and predicted numbers, if there are any."""
        computed, predicted, last = self.columns()
        rows = []
        for n in sorted({*computed, *(predicted or {})})[:MAX_SHOWN_DEGREES]:
            number: int | str = computed.get(n, 0)
            if last is not None and n > last:
                number = NOT_COMPUTED
            rows.append((n, number, NOT_COMPUTED if predicted is None else predicted.get(n, 0)))
        if not rows:
            return None
        no_caption = ""
        return no_caption, ("degree", "computed", "predicted"), rows


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedHilbertFunction(ObservedByDegree):
    """The Hilbert function of a closure."""

    computed: HilbertValues | None = None  # None if no value was proved
    predicted: tuple[int, ...] = ()  # as many as were computed; empty if not known

    @property
    def _computed_values(self) -> tuple[int, ...]:
        """The computed values H(0), H(1), …; empty if none is proved."""
        return () if self.computed is None else self.computed.values

    def value(self, observable: str) -> Value | None:
        """Return the values that are proved, for the only observable; ``None`` without any."""
        return self.computed

    def unknown(self, observable: str) -> str:
        """Return the sentence that no value is proved, with the limit if one was reached."""
        # without a limit, which is empty then, the semicolon is left out
        return f"no value was proved; {self.limit}".rstrip("; ")

    def with_predictions(self, predicted: Mapping[str, Any]) -> ObservedHilbertFunction:
        """Return the observation with as many predicted values as computed ones, for its table."""
        prediction = predicted["Hilbert_function"]
        if prediction is None:
            return self
        return replace(self, predicted=prediction.first_values(len(self._computed_values)))

    def columns(self) -> NumbersByDegree:
        """Return the computed values in the degrees 0, 1, …, and as many predicted ones."""
        computed = dict(enumerate(self._computed_values))
        if not self.predicted:
            return computed, None, None
        return computed, dict(enumerate(self.predicted)), None

    def formulas(self) -> Sequence[str]:
        """Return a formula in LaTeX with the first values of the function, if any is known."""
        values = ", ".join(map(str, self._computed_values[:MAX_SHOWN_DEGREES]))
        if not values:
            return []
        return [rf"H = ({values}, \dots)"]

    def to_json(self) -> dict[str, Any]:
        """Return computed and predicted values, and whether a series proves all further ones."""
        return {
            "computed": list(self._computed_values),
            "predicted": list(self.predicted),
            "all_degrees": self.computed is not None and self.computed.series is not None,
        }

    def to_macaulay2(self) -> str:
        """Return computed and predicted values as Macaulay2 lists."""
        lines = (
            f"computed = {m2_list(self._computed_values)}",
            f"predicted = {m2_list(self.predicted)}",
        )
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedGenerators(ObservedByDegree):
    """The minimal generators of the ideal of a closure, by elimination or up to a degree."""

    computed: dict[int, int] = field(default_factory=dict)  # by degree
    predicted: dict[int, int] | None = None  # None if not known
    last: int | None = 0  # the last degree that was computed; None if these are all generators
    found: bool = False  # whether the ideal was found, at least up to a degree

    def value(self, observable: str) -> Value | None:
        """Return the degrees of generators, or their numbers by degree; ``None`` if not found."""
        if not self.found:
            return None
        if observable == "generator_degrees":
            return GeneratorDegrees.of(self.computed, self.last)
        return GeneratorNumbers.of(self.computed, self.last)

    def unknown(self, observable: str) -> str:
        """Return the limit that was reached before the ideal was found; empty if none was."""
        return self.limit

    def with_predictions(self, predicted: Mapping[str, Any]) -> ObservedGenerators:
        """Return the observation with the predicted numbers, for its table.

        All observables of generators have the same numbers, so the first ones are taken.
        """
        for prediction in predicted.values():
            if prediction is not None:
                return replace(self, predicted=dict(prediction.counts))
        return self

    def columns(self) -> NumbersByDegree:
        """Return the computed and the predicted numbers of generators by degree."""
        return self.computed, self.predicted, self.last

    def to_json(self) -> dict[str, Any]:
        """Return the numbers by degree, and the last degree that was computed."""
        predicted = self.predicted or {}
        return {
            "computed": {str(n): number for n, number in self.computed.items()},
            "predicted": {str(n): number for n, number in predicted.items()},
            "computed_up_to_degree": self.last,
        }

    def to_macaulay2(self) -> str:
        """Return computed and predicted numbers as Macaulay2 hash tables."""
        predicted = self.predicted or {}
        lines = (_m2_table("computed", self.computed), _m2_table("predicted", predicted))
        return "\n".join(lines)


def _m2_table(name: str, numbers: Mapping[int, int]) -> str:
    """Return the assignment of a hash table, of numbers by degree, to a name in Macaulay2."""
    entries = [f"{n} => {number}" for n, number in numbers.items()]
    return f"{name} = hashTable {m2_list(entries)}"


def observe_by_degree(model: Any, observables: Collection[str]) -> ObservedByDegree:
    """Observe the Hilbert function of the closure of a model of attention, or its generators."""
    names = set(observables)
    if names == {"Hilbert_function"}:
        return observe_hilbert_function(model)
    if names <= {"generator_numbers", "generator_degrees"}:
        return observe_generators(model)
    raise MethodUnavailableError(
        "numbers by degree are observed separately: cross-check 'hilbert' alone, and 'generators'"
        " and 'generated' without other statements"
    )


def observe_hilbert_function(model: Any) -> ObservedHilbertFunction:
    """Observe the Hilbert function, where one is predicted."""
    if why_no_prediction(model):  # the reason why there is none; empty if there is one
        return ObservedHilbertFunction(model=model)
    variety = closure(model)
    return ObservedHilbertFunction(
        model=model,
        computed=_proved_values(variety),
        limit=variety.unfinished,
        engine_version=variety.engine_version,
        seconds=variety.seconds,
    )


def _proved_values(variety: Closure) -> HilbertValues | None:
    """Return the values that are proved, with a series if it is; ``None`` without any value."""
    if isinstance(variety.equations, Implicitization):
        # equations up to a degree, by ranks in weight spaces, perhaps modulo a prime only
        if not variety.equations.exact:
            return None
        return HilbertValues(variety.equations.hilbert_function, variety.hilbert_series)
    series = variety.hilbert_series
    if series is None:
        return None
    # the predicted values, with which these are compared, are as many
    values = tuple(series.value(n) for n in range(series.dimension + 4))
    return HilbertValues(values, series)


def observe_generators(model: Any) -> ObservedGenerators:
    """Observe the generators of a closure by methods that do not know its core.

    Macaulay2 eliminates, which gives all generators, or they are computed in weight spaces, up to a
    degree. Nothing is observed for one token.
    """
    if why_not_several_tokens(model):  # the reason why this hypothesis fails; empty if it holds
        return ObservedGenerators(model=model)
    in_reduced_coordinates = as_model(model, "reduced")
    if can_be_eliminated(model.independent_count):
        variety = closure(in_reduced_coordinates, strategy="elimination")
    else:
        degree = degree_for(model)
        variety = closure(in_reduced_coordinates, strategy="multigraded", max_degree=degree)
    return ObservedGenerators(
        model=model,
        computed=variety.generator_degrees or {},  # None if the ideal was not found
        last=last_computed_degree(variety.completeness),
        found=bool(variety.equations),
        limit=variety.unfinished,
        engine_version=variety.engine_version,
        seconds=variety.seconds,
    )


def last_computed_degree(completeness: Completeness) -> int | None:
    """Return the last computed degree, 0 if no ideal was found; ``None`` for all degrees."""
    if completeness.proved:
        return None
    return completeness.degree or 0  # the degree is None if no ideal was found

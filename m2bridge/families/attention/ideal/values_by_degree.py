"""Values of statements about numbers by degree: a Hilbert function, and the generators of an ideal.

An observed value can be known up to a degree only; its method ``against`` compares it with a
predicted value. It is REFUTED by one number that was computed and is a different one, CONFIRMED if
all degrees are known and as predicted, and else UNDECIDED. Predicted values come by the formula
of :mod:`m2bridge.families.attention.ideal.sections` for the Hilbert function, and for generators by
the core, a small variety whose generators are known as representations (docs/representations.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.schur import generator_counts
from m2bridge.convert.printing import degree_summary
from m2bridge.families.attention.hypotheses import why_no_prediction, why_not_several_tokens
from m2bridge.families.attention.ideal.representations import representations
from m2bridge.families.attention.ideal.sections import predicted_series
from m2bridge.families.attention.sizes import LayerSizes, dimension_formula
from m2bridge.results.base import Decision
from m2bridge.statements.statement import PartialValue


@dataclass(frozen=True, slots=True)
class HilbertValues(PartialValue):
    """The values H(0), H(1), … of a Hilbert function, at least one."""

    values: tuple[int, ...]
    series: HilbertSeries | None  # of all values; None if it is not proved

    def against(self, predicted: HilbertValues) -> tuple[Decision, str]:
        """Return the decision on a predicted Hilbert function, and the comparison in a sentence.

        It is CONFIRMED by the Hilbert series alone, since the statement is about all n.
        """
        predicted_values = predicted.first_values(len(self.values))
        for n, (value, expected) in enumerate(zip(self.values, predicted_values, strict=True)):
            if value != expected:
                return Decision.REFUTED, f"H({n}) is {value}, and {expected} is predicted"
        if self.series is None:
            last = len(self.values) - 1
            return (
                Decision.UNDECIDED,
                f"H(0), …, H({last}) are as predicted; the statement is about all n, and n > {last}"
                " is not decided",
            )
        if self.series != predicted.series:
            return Decision.REFUTED, "the Hilbert series, which is proved, is a different one"
        return (
            Decision.CONFIRMED,
            "in this case for all n: the Hilbert series is proved, and is the predicted one",
        )

    def first_values(self, number: int) -> tuple[int, ...]:
        """Return H(0), …, H(number − 1) by the series, which all predicted functions have."""
        assert self.series is not None
        return tuple(self.series.value(n) for n in range(number))

    def to_json(self) -> list[int]:
        """Return the values as a list for ``json.dumps``."""
        return list(self.values)


def predicted_hilbert_values(shape: LayerSizes) -> HilbertValues | None:
    """Return the predicted Hilbert function; ``None`` where there is no prediction."""
    if why_no_prediction(shape):  # the reason, empty if there is a prediction
        return None
    dimension = dimension_formula(shape)
    series = predicted_series(shape, dimension)
    # as many values as the numerator has coefficients at most: they determine the series
    values = tuple(series.value(n) for n in range(dimension + 4))
    return HilbertValues(values, series)


@dataclass(frozen=True, slots=True)
class GeneratorNumbers(PartialValue):
    """The number of minimal generators in each degree."""

    counts: tuple[tuple[int, int], ...]  # degrees with their numbers, in increasing order
    last: int | None  # the last degree that was computed; None if these are all generators

    @classmethod
    def of(cls, numbers: Mapping[int, int], last: int | None = None) -> Self:
        """Return the value made of the numbers of generators by degree."""
        return cls(tuple(sorted(numbers.items())), last)

    @classmethod
    def predicted(cls, shape: LayerSizes) -> Self | None:
        """Return the value that representations of the core predict; ``None`` for one token."""
        if why_not_several_tokens(shape):
            return None
        return cls.of(generator_counts(representations(shape)))

    def against(self, predicted: GeneratorNumbers) -> tuple[Decision, str]:
        """Return the decision on predicted numbers, and the comparison in a sentence."""
        computed = dict(self.counts)
        predicted_counts = dict(predicted.counts)
        for degree in self.compared_degrees(predicted):
            # a degree that is not listed has no generators
            number = computed.get(degree, 0)
            expected = predicted_counts.get(degree, 0)
            if number != expected:
                text = f"{number} in degree {degree}, and {expected} are predicted"
                return Decision.REFUTED, text
        return (
            self.decision_on_agreement(),
            f"{degree_summary(computed)}, as predicted {self.degrees_text()}",
        )

    def compared_degrees(self, predicted: GeneratorNumbers) -> list[int]:
        """Return the degrees that were computed and have computed or predicted generators."""
        degrees = sorted({*dict(self.counts), *dict(predicted.counts)})
        return [degree for degree in degrees if self.last is None or degree <= self.last]

    def decision_on_agreement(self) -> Decision:
        """Return the decision in the case that everything that was computed is as predicted."""
        if self.last is None:
            return Decision.CONFIRMED
        # the words of the statement are about all degrees
        return Decision.UNDECIDED

    def degrees_text(self) -> str:
        """Return up to which degree generators were computed, in words."""
        if self.last is None:
            return "in all degrees"
        return f"in degrees ≤ {self.last}; higher ones are not computed without the core"

    def to_json(self) -> dict[str, int]:
        """Return the numbers of generators by degree, for ``json.dumps``."""
        return {str(degree): number for degree, number in self.counts}


@dataclass(frozen=True, slots=True, eq=False)
class GeneratorDegrees(GeneratorNumbers):
    """The degrees of minimal generators; their numbers are shown, but not compared."""

    def against(self, predicted: GeneratorNumbers) -> tuple[Decision, str]:
        """Return the decision on predicted degrees, and the comparison in a sentence."""
        compared = self.compared_degrees(predicted)
        computed_counts = dict(self.counts)
        predicted_counts = dict(predicted.counts)
        # a number of generators may be 0 or not listed: both say that there are none
        expected = [degree for degree in compared if predicted_counts.get(degree, 0) > 0]
        found = [degree for degree in compared if computed_counts.get(degree, 0) > 0]
        # predictions of generators are computed by the core
        computed_text = f"{_list_in_words(found)}, {self.degrees_text()}"
        text = f"by the core {_list_in_words(expected)}; computed: {computed_text}"
        if found != expected:
            return Decision.REFUTED, text
        return self.decision_on_agreement(), text

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, GeneratorDegrees)
            and self._comparison_key() == other._comparison_key()
        )

    def __hash__(self) -> int:
        return hash(self._comparison_key())

    def _comparison_key(self) -> tuple[Any, ...]:
        """Return what equal values share: the degrees with generators, and then ``last``."""
        return (*[degree for degree, number in self.counts if number], self.last)


def _list_in_words(degrees: Sequence[int]) -> str:
    """Return degrees of generators in words: "degrees 2, 4", "degree 2" or "no generators"."""
    listed = ", ".join(map(str, degrees))
    if len(degrees) > 1:
        return f"degrees {listed}"
    return f"degree {listed}" if degrees else "no generators"

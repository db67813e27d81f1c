"""Predictions of numbers by degree, held against one closure: its Hilbert function, and its
generators.

The closure is computed without its core, from which the generators for all sizes come.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from m2bridge.algebra.schur import generator_counts
from m2bridge.certificates.wording import Words
from m2bridge.convert.notation import degree_summary
from m2bridge.engine import RunOptions, computation
from m2bridge.errors import MethodUnavailableError, TimeLimitError, TooLargeError
from m2bridge.families.attention.completeness import (
    no_prediction,
    predicted_hilbert_function,
    predicted_series,
)
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.questions import REACHABLE_COORDINATES, degree_for
from m2bridge.families.attention.representations import representations
from m2bridge.families.attention.statements import WORDS, several_tokens
from m2bridge.implicitization.implicitize import Implicitization
from m2bridge.limits import clock
from m2bridge.maps.closure import closure
from m2bridge.maps.closure_result import Closure
from m2bridge.results.base import Decision, VerdictsResult, result_json
from m2bridge.results.sheet import Block, Facts, Finding, Findings, Sheet, Table, duration

SHOWN = 12
"""Degrees that are written."""

Numbers = tuple[int, ...] | dict[int, int]
"""The numbers in the degrees 0, 1, …, or those that are not zero by their degrees."""


@dataclass(frozen=True, slots=True)
class ComparisonVerdict:
    """The verdict on one of the statements.

    Parameters
    ----------
    name : {"hilbert", "generators", "generated"}
    decision : Decision
    reason : str
        Up to which degree numbers were compared, or for all; where they differ; which hypothesis
        fails.
    for_all_sizes : Words, optional
        The statement about many sizes at once, if it is not about one case.
    """

    name: str
    decision: Decision
    reason: str
    for_all_sizes: Words | None = None

    @property
    def stated(self) -> Words:
        """The statement in words."""
        return self.for_all_sizes or WORDS.comparisons[self.name]

    def to_json(self) -> dict[str, Any]:
        """Return the statement, the verdict and its reason."""
        stated = self.stated
        words = {"part": stated.part, "text": stated.text, "source": stated.source}
        return {
            "statement": self.name,
            **words,
            "verdict": str(self.decision),
            "reason": self.reason,
        }

    def to_finding(self) -> Finding:
        """Return the verdict for people."""
        return Finding(str(self.decision), self.name, self.stated.text, (self.reason,))


@dataclass(frozen=True, slots=True)
class Comparison(VerdictsResult):
    """The outcome of a comparison of numbers by degree.

    Parameters
    ----------
    title : str
        What is compared.
    model : SingleLayerAttention
    verdicts : tuple of ComparisonVerdict
    computed, predicted : tuple or dict of int
    more : dict
        Up to where they were computed, as in JSON.
    engine_version : str
    seconds : float
    unfinished : str
    """

    title: str
    model: SingleLayerAttention
    verdicts: tuple[ComparisonVerdict, ...]
    computed: Numbers
    predicted: Numbers
    more: dict[str, Any]
    engine_version: str = ""
    seconds: float = 0.0
    unfinished: str = ""

    def to_sheet(self) -> Sheet:
        """A table of numbers, and the verdicts."""
        blocks: list[Block] = []
        if self.computed or self.predicted:
            computed, predicted = (
                dict(_by_degree(numbers)) for numbers in (self.computed, self.predicted)
            )
            rows = [
                (n, computed.get(n, 0), predicted.get(n, 0))
                for n in sorted({*computed, *predicted})
            ]
            blocks.append(
                Facts(
                    [
                        ("computed in", duration(self.seconds)),
                        ("not finished", self.unfinished or None),
                    ]
                )
            )
            blocks.append(Table(("degree", "computed", "predicted"), rows[:SHOWN]))
        findings = [verdict.to_finding() for verdict in self.verdicts]
        title = (
            f"{self.title} of the Zariski closure, lightning self-attention, {self.model}, over QQ"
        )
        values = (
            ", ".join(map(str, self.computed[:SHOWN])) if isinstance(self.computed, tuple) else ""
        )
        return Sheet(
            title, [*blocks, Findings(findings)], [rf"H = ({values}, \dots)"] if values else []
        )

    def to_json(self) -> dict[str, Any]:
        """The verdicts and the numbers."""
        return result_json(
            self.model.to_json(), "QQ", self.engine_version or None, self.seconds
        ) | {
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "computed": _json(self.computed),
            "predicted": _json(self.predicted),
            **self.more,
            "unfinished": self.unfinished or None,
        }

    def to_macaulay2(self) -> str:
        """Both as Macaulay2 lists, or hash tables."""
        named = (("computed", self.computed), ("predicted", self.predicted))
        return "\n".join(f"{name} = {_macaulay2(numbers)}" for name, numbers in named)


def _macaulay2(numbers: Numbers) -> str:
    if isinstance(numbers, tuple):
        return f"{{{', '.join(map(str, numbers))}}}"
    return f"hashTable {{{', '.join(f'{n} => {value}' for n, value in numbers.items())}}}"


def _json(numbers: Numbers) -> Any:
    return (
        list(numbers)
        if isinstance(numbers, tuple)
        else {str(n): value for n, value in numbers.items()}
    )


def _by_degree(numbers: Numbers) -> Iterable[tuple[int, int]]:
    return enumerate(numbers) if isinstance(numbers, tuple) else numbers.items()


def predicted_numbers(model: SingleLayerAttention) -> dict[int, int]:
    """The numbers of generators by degree, from the representations of the core."""
    return dict(generator_counts(representations(model)))


GENERATOR_STATEMENTS = ("generators", "generated")
"""What is decided by the numbers of generators: these, and their degrees."""


@computation
def generator_check(
    model: SingleLayerAttention,
    *,
    predict: Callable[[SingleLayerAttention], dict[int, int]] = predicted_numbers,
    names: Sequence[str] = GENERATOR_STATEMENTS,
    **options: Unpack[RunOptions],
) -> Comparison:
    """Compare the generators by the core of a model with those of its closure, by elimination or up
    to a degree.

    With at most 24 coordinates Macaulay2 eliminates, which gives all generators; else they are
    computed in weight spaces, up to a degree. Neither knows the core. ``predict`` gives the numbers
    by the core, and ``names`` says which of the two statements are asked for.

    Raises
    ------
    EngineError
        If Macaulay2 failed, or a limit was reached before anything was found.
    """
    if reason := several_tokens(model):
        verdicts = _alike(names, Decision.NOT_APPLICABLE, reason)
        return Comparison("Generators", model, verdicts, {}, {}, {"computed_up_to_degree": 0})
    chosen, small = (
        model.in_coordinates("reduced"),
        model.independent_count <= REACHABLE_COORDINATES,
    )
    last = None if small else degree_for(model)
    variety = closure(chosen, strategy="elimination" if small else "multigraded", max_degree=last)
    computed, late = variety.generator_degrees or {}, variety.unfinished
    last = None if variety.completeness.proved else variety.completeness.degree
    predicted: dict[int, int] = {}
    try:
        predicted = predict(model)
        if variety.equations:
            every = _verdicts(computed, predicted, last)
            verdicts = tuple(verdict for verdict in every if verdict.name in names)
        else:
            verdicts = _alike(names, Decision.UNDECIDED, late)
    except (MethodUnavailableError, TooLargeError, TimeLimitError) as limit:
        late = str(limit)
        verdicts = _alike(names, Decision.UNDECIDED, late)
    how = variety.engine_version, clock().seconds, late
    return Comparison(
        "Generators", model, verdicts, computed, predicted, {"computed_up_to_degree": last}, *how
    )


def _alike(names: Sequence[str], decision: Decision, reason: str) -> tuple[ComparisonVerdict, ...]:
    """The same verdict on all of them."""
    return tuple(ComparisonVerdict(name, decision, reason) for name in names)


def _verdicts(
    computed: dict[int, int], predicted: dict[int, int], last: int | None
) -> tuple[ComparisonVerdict, ...]:
    """The verdicts on numbers up to a degree; for ``None`` on all."""
    where = (
        "in all degrees"
        if last is None
        else f"in degrees ≤ {last}; higher ones are not computed without the core"
    )
    otherwise = Decision.CONFIRMED if last is None else Decision.UNDECIDED
    seen = [n for n in sorted({*computed, *predicted}) if last is None or n <= last]
    wrong = [n for n in seen if computed.get(n, 0) != predicted.get(n, 0)]
    numbers = f"{degree_summary(computed)}, as predicted {where}"
    if wrong:
        numbers = (
            f"{computed.get(wrong[0], 0)} in degree {wrong[0]}, and {predicted.get(wrong[0], 0)}"
            " are predicted"
        )
    expected = [n for n in seen if predicted.get(n, 0)]
    found = [n for n in seen if computed.get(n, 0)]
    degrees = f"by the core {_degrees(expected)}; computed: {_degrees(found)}, {where}"
    return (
        ComparisonVerdict("generators", Decision.REFUTED if wrong else otherwise, numbers),
        ComparisonVerdict(
            "generated", Decision.REFUTED if found != expected else otherwise, degrees
        ),
    )


def _degrees(degrees: Sequence[int]) -> str:
    if not degrees:
        return "no generators"
    return f"degree{'s' if len(degrees) > 1 else ''} {', '.join(map(str, degrees))}"


@computation
def hilbert_check(model: SingleLayerAttention, **options: Unpack[RunOptions]) -> Comparison:
    """Compare the predicted Hilbert function with that of the ideal that
    :func:`m2bridge.maps.closure.closure` finds.

    Raises
    ------
    EngineError
        If Macaulay2 failed, or a limit was reached before anything was found.
    """
    if reason := no_prediction(model):
        verdict = ComparisonVerdict("hilbert", Decision.NOT_APPLICABLE, reason)
        return Comparison("Hilbert function", model, (verdict,), (), (), {"all_degrees": False})
    variety = closure(model)
    values = _values(variety)
    predicted = tuple(predicted_hilbert_function(model, n) for n in range(len(values)))
    verdict = ComparisonVerdict("hilbert", *_decided(model, variety, values, predicted))
    more = {"all_degrees": variety.hilbert_series is not None}
    how = variety.engine_version, variety.seconds, variety.unfinished
    return Comparison("Hilbert function", model, (verdict,), values, predicted, more, *how)


def _values(variety: Closure) -> tuple[int, ...]:
    """Values that are proved; none if the ranks are known modulo a prime only."""
    if isinstance(variety.equations, Implicitization):
        return variety.equations.hilbert_function if variety.equations.exact else ()
    if variety.hilbert_series is not None:
        series = variety.hilbert_series
        return tuple(series.value(n) for n in range(series.dimension + 4))
    return ()


def _decided(
    model: SingleLayerAttention,
    variety: Closure,
    values: tuple[int, ...],
    predicted: tuple[int, ...],
) -> tuple[Decision, str]:
    if not values:
        return Decision.UNDECIDED, f"no value was proved; {variety.unfinished}".rstrip("; ")
    wrong = [
        n
        for n, (value, expected) in enumerate(zip(values, predicted, strict=True))
        if value != expected
    ]
    if wrong:
        n = wrong[0]
        return Decision.REFUTED, f"H({n}) is {values[n]}, and {predicted[n]} is predicted"
    series = variety.hilbert_series
    if series is None:
        last = len(values) - 1
        text = (
            f"H(0), …, H({last}) are as predicted; the statement is about all n, and n > {last} is"
            " not decided"
        )
        return Decision.UNDECIDED, "; ".join(filter(None, (text, variety.unfinished)))
    if series == predicted_series(model, series.dimension):
        return (
            Decision.CONFIRMED,
            "in this case for all n: the Hilbert series is proved, and is the predicted one",
        )
    return Decision.REFUTED, "the Hilbert series, which is proved, is another one"

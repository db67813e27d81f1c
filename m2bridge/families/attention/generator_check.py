"""The comparison of generators that hold for all sizes with those of one closure, computed without its core."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from m2bridge.convert.notation import degree_summary
from m2bridge.engine import Engine
from m2bridge.errors import MethodUnavailableError, TimeLimitError, TooLargeError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.questions import REACHABLE_COORDINATES, degree_for
from m2bridge.families.attention.representations import representations
from m2bridge.families.attention.statements import several_tokens
from m2bridge.limits import limited
from m2bridge.maps.closure import closure
from m2bridge.results.base import Decision, VerdictsResult, result_json
from m2bridge.results.sheet import Facts, Finding, Findings, Sheet, Table, duration

TEXTS = {
    "generators": "For t ≥ 2: the minimal generators of the ideal of the Zariski closure are as many in each degree as "
    "the representations of its core say, which are the same for all sizes with this core.",
    "generated": "For t ≥ 2: the ideal is generated in the degrees of these representations, and in no smaller ones.",
}
COMPUTED = "generators of the ideal, by elimination (Macaulay2) or up to a degree in weight spaces (FLINT)"
SOURCE = "m2bridge, docs/representations.md"


@dataclass(frozen=True, slots=True)
class GeneratorVerdict:
    """The verdict on one of the two statements.

    Parameters
    ----------
    statement : {"generators", "generated"}
    decision : Decision
    reason : str
    """

    statement: str
    decision: Decision
    reason: str

    def to_json(self) -> dict[str, Any]:
        """Return the statement, the verdict and its reason."""
        words = {"statement": self.statement, "part": "", "text": TEXTS[self.statement], "source": SOURCE}
        return words | {"verdict": str(self.decision), "reason": self.reason}


@dataclass(frozen=True, slots=True)
class GeneratorCheck(VerdictsResult):
    """The outcome of a comparison of generators.

    Parameters
    ----------
    model : SingleLayerAttention
    verdicts : tuple of GeneratorVerdict
    predicted, computed : dict of int to int
        Numbers of minimal generators by degree.
    last : int or None
        The degree up to which they were computed; ``None`` for all.
    engine_version : str
    seconds : float
    unfinished : str
    """

    model: SingleLayerAttention
    verdicts: tuple[GeneratorVerdict, ...]
    predicted: dict[int, int]
    computed: dict[int, int]
    last: int | None
    engine_version: str
    seconds: float
    unfinished: str = ""

    def to_sheet(self) -> Sheet:
        """A table of numbers, and the verdicts."""
        rows = [
            (n, self.computed.get(n, 0), self.predicted.get(n, 0)) for n in sorted({*self.computed, *self.predicted})
        ]
        facts = Facts([("computed in", duration(self.seconds)), ("not finished", self.unfinished or None)])
        findings = [Finding(str(v.decision), v.statement, TEXTS[v.statement], (v.reason,)) for v in self.verdicts]
        title = f"Generators of the Zariski closure, lightning self-attention, {self.model}, over QQ"
        return Sheet(title, [facts, Table(("degree", "computed", "predicted"), rows), Findings(findings)])

    def to_json(self) -> dict[str, Any]:
        """The verdicts and the numbers."""
        return result_json(self.model.to_json(), "QQ", self.engine_version or None, self.seconds) | {
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "computed": {str(n): number for n, number in self.computed.items()},
            "predicted": {str(n): number for n, number in self.predicted.items()},
            "computed_up_to_degree": self.last,
            "unfinished": self.unfinished or None,
        }

    def to_macaulay2(self) -> str:
        """The two as Macaulay2 hash tables."""
        named = (("computed", self.computed), ("predicted", self.predicted))
        tables = (
            f"{name} = hashTable {{{', '.join(f'{n} => {k}' for n, k in counts.items())}}}" for name, counts in named
        )
        return "\n".join(tables)


def generator_check(model: SingleLayerAttention, *, engine: Engine, timeout: float | None = None) -> GeneratorCheck:
    """Compare the generators by the core of a model with those of its closure, by elimination or up to a degree.

    With at most 24 coordinates Macaulay2 eliminates, which gives all generators; else they are computed in weight
    spaces, up to a degree. Neither knows the core.

    Raises
    ------
    EngineError
        If Macaulay2 failed, or a limit was reached before anything was found.
    """
    with limited(timeout) as running:
        if reason := several_tokens(model):
            return GeneratorCheck(model, _both(Decision.NOT_APPLICABLE, reason), {}, {}, 0, "", running.seconds)
        small, chosen = model.independent_count <= REACHABLE_COORDINATES, model.in_coordinates("reduced")
        if small:
            variety = closure(chosen, engine=engine, strategy="elimination")
        else:
            variety = closure(chosen, engine=engine, strategy="multigraded", max_degree=degree_for(model))
        computed, late = variety.generator_degrees or {}, variety.unfinished
        last = None if variety.completeness.proved else variety.completeness.degree
        predicted: dict[int, int] = {}
        try:
            predicted = _predicted(model)
            verdicts = _verdicts(computed, predicted, last) if variety.equations else _both(Decision.UNDECIDED, late)
        except (MethodUnavailableError, TooLargeError, TimeLimitError) as limit:
            late = str(limit)
            verdicts = _both(Decision.UNDECIDED, late)
        return GeneratorCheck(model, verdicts, predicted, computed, last, variety.engine_version, running.seconds, late)


def _both(decision: Decision, reason: str) -> tuple[GeneratorVerdict, ...]:
    return tuple(GeneratorVerdict(name, decision, reason) for name in TEXTS)


def _predicted(model: SingleLayerAttention) -> dict[int, int]:
    counts: Counter[int] = Counter()
    for part in representations(model):
        counts[part.degree] += part.dimension
    return dict(counts)


def _verdicts(computed: dict[int, int], predicted: dict[int, int], last: int | None) -> tuple[GeneratorVerdict, ...]:
    """The verdicts on numbers up to a degree; for ``None`` on all."""
    where = "in all degrees" if last is None else f"in degrees ≤ {last}; higher ones are not computed without the core"
    otherwise = Decision.CONFIRMED if last is None else Decision.UNDECIDED
    seen = [n for n in sorted({*computed, *predicted}) if last is None or n <= last]
    wrong = [n for n in seen if computed.get(n, 0) != predicted.get(n, 0)]
    numbers = f"{degree_summary(computed)}, as predicted {where}"
    if wrong:
        numbers = f"{computed.get(wrong[0], 0)} in degree {wrong[0]}, and {predicted.get(wrong[0], 0)} are predicted"
    expected, found = max(predicted, default=0), max(computed, default=0)
    refuted = found > expected or (found < expected and (last is None or expected <= last))
    degrees = f"by the core degree ≤ {expected}; computed: degree ≤ {found}, {where}"
    return (
        GeneratorVerdict("generators", Decision.REFUTED if wrong else otherwise, numbers),
        GeneratorVerdict("generated", Decision.REFUTED if refuted else otherwise, degrees),
    )

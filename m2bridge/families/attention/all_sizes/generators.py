"""The statements about generators of closures, for all sizes: decided for each core, and compared
with every case that can be computed without its core.

A core (m; e, f) belongs to all sizes (d, d', a) with e = min(a, d), f = min(d, d') and m = min(d, e
+ f); the numbers of minimal generators of their closures are polynomials in d and d'.
``unfinished`` names the limit that was reached, and is empty if there was none.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any, Unpack

from m2bridge.convert.printing import expression_text
from m2bridge.crosscheck.cross_check import CrossCheck, cross_check
from m2bridge.crosscheck.scope import VerdictScope
from m2bridge.crosscheck.verdict import Verdict
from m2bridge.engine import RunOptions, computation
from m2bridge.errors import TimeLimitError
from m2bridge.families.all_sizes import split_by_all_sizes_form
from m2bridge.families.attention.all_sizes.closures import (
    CORES,
    PROOF,
    AllClosures,
    ClosureOfSizes,
    closures_of_all_sizes,
)
from m2bridge.families.attention.all_sizes.integer_sets import WORDS as SIZES_WORDS
from m2bridge.families.attention.ideal.sections import CoreSize
from m2bridge.families.attention.ideal.values_by_degree import GeneratorDegrees, GeneratorNumbers
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.limits import clock, performed_within_limit
from m2bridge.results.base import Decision, Proof, VerdictsResult
from m2bridge.results.sheet import Facts, Findings, Sheet, Table, duration
from m2bridge.statements.statement import Always, GlobalStatement, Statement

# The title of the sheet with all verdicts.
TITLE = (
    "Generators of the Zariski closures of lightning self-attention for all sizes, t ≥ 2, over QQ"
)

# The class of the values that the statements about generators predict, by key: numbers of
# generators, or degrees alone.
VALUE_CLASSES = {"generators": GeneratorNumbers, "generated": GeneratorDegrees}
# Those that have a form for all sizes.
ABOUT_GENERATORS = tuple(
    statement
    for statement in REGISTRY
    if isinstance(statement, GlobalStatement) and statement.key in VALUE_CLASSES
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AmongCores(VerdictScope):
    """Whether a statement holds for all sizes with some cores, and because of what: REFUTED if a
    single case differs; else UNDECIDED if a limit was reached; else CONFIRMED.
    """

    decision: Decision
    because: str

    def reasons(self) -> list[str]:
        """Return the one reason of the verdict."""
        return [self.because]

    def to_json(self) -> dict[str, Any]:
        """Return the reason; the compared cases are listed with the verdicts."""
        return {"reason": self.because}

    def to_data(self) -> dict[str, Any]:
        """Return the data of :meth:`to_json`."""
        return self.to_json()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GeneratorsOfAllSizes(VerdictsResult):
    """The verdicts on generators for all sizes, and the single cases that they are
    compared with.
    """

    closures: AllClosures
    # the polynomials at one size, and the generators that were computed without the core
    cases: tuple[CrossCheck, ...]
    verdicts: tuple[Verdict, ...]
    seconds: float
    unfinished: str = ""
    # the statements that were asked for but have no form for all sizes
    not_stated: tuple[str, ...] = ()

    def proof(self) -> Proof:
        """Return whether each statement that applies is confirmed or refuted, none left out."""
        if self.unfinished:
            return Proof(False, self.unfinished)
        return VerdictsResult.proof(self)

    def to_sheet(self) -> Sheet:
        """The numbers for each range of sizes, the cases, and the verdicts."""
        facts = [
            ("other sizes", "not decided"),
            # a row with the value None is not shown
            ("not stated for all sizes", ", ".join(self.not_stated) or None),
            ("proved by", PROOF),
            ("computed in", duration(self.seconds)),
            ("not finished", self.unfinished or None),
        ]
        ranges: list[tuple[str, int | str, str]] = []
        for closure in self.closures.ranges:
            condition = closure.condition
            numbers: list[tuple[int | str, str]] = []
            for degree, number in closure.numbers().items():
                numbers.append((degree, expression_text(number)))
            # without generators the closure is the whole space
            for row in numbers or [("–", "0")]:
                ranges.append((condition, *row))
                condition = ""  # the condition stands only in the first of its rows
        cases = [(str(case.model), case.verdicts[0].reason) for case in self.cases]
        tables = [
            Table(("sizes", "degree", "generators"), ranges),
            Table(("case", "generators, without the core"), cases),
        ]
        findings = Findings([verdict.to_finding() for verdict in self.verdicts])
        return Sheet(TITLE, [Facts(facts), *tables, findings])

    def to_json(self) -> dict[str, Any]:
        """Return the closures for all sizes, the verdicts, and all cases."""
        return self.closures.to_json() | {
            "seconds": round(self.seconds, 3),
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "cases": [case.to_json() for case in self.cases],
            "not_stated": list(self.not_stated),
            "unfinished": self.unfinished or None,
            **self.proof()._asdict(),
        }


def for_all_sizes(
    statement: GlobalStatement[LayerSizes], cores: Sequence[CoreSize]
) -> GlobalStatement[LayerSizes]:
    """The statement in the words for all sizes, which name the cores (m, e, f) of these sizes."""
    triples = [f"({core.variables}, {core.columns}, {core.rows})" for core in cores]
    words = SIZES_WORDS.words(statement.key, statement.part)
    # the text has a field {cores}
    text = words.text.format(cores=", ".join(triples))
    return replace(statement, text=text, source=words.source)


def _verdict(
    statement: GlobalStatement[LayerSizes],
    cores: Sequence[CoreSize],
    cases: tuple[CrossCheck, ...],
    limit: str,
) -> Verdict:
    """The verdict on a statement for all sizes with these cores, from the single cases compared."""
    return Verdict(
        statement=for_all_sizes(statement, cores),
        extent=_extent(statement, cores, cases, limit),
        computed=SIZES_WORDS.computed[statement.observable],
        trusted=SIZES_WORDS.trusted[statement.observable],
    )


def _extent(
    statement: Statement, cores: Sequence[CoreSize], cases: tuple[CrossCheck, ...], limit: str
) -> AmongCores:
    """Whether a statement holds for all sizes with these cores: one compared case can refute it;
    otherwise the computation for the cores proves it, unless ``limit`` was reached.
    """
    decisions = []
    for case in cases:
        for verdict in case.verdicts:
            if verdict.statement.key != statement.key:
                continue
            if verdict.decision is Decision.REFUTED:
                because = f"{case.model}: {verdict.reason}"
                return AmongCores(decision=Decision.REFUTED, because=because)
            decisions.append(verdict.decision)
    if limit:
        return AmongCores(decision=Decision.UNDECIDED, because=limit)
    reason = f"proved for all sizes with these {len(cores)} cores; nothing is said of others"
    # a case is confirmed if its generators of all degrees were compared
    confirmed = decisions.count(Decision.CONFIRMED)
    agreeing = (
        f"{len(decisions)} cases computed without the core agree, {confirmed} of them in all"
        " degrees"
    )
    return AmongCores(decision=Decision.CONFIRMED, because=f"{reason}; {agreeing}")


@computation
def generators_of_all_sizes(
    cores: tuple[CoreSize, ...] = CORES,
    largest: int = 4,
    *,
    statements: Sequence[Statement] = ABOUT_GENERATORS,
    **options: Unpack[RunOptions],
) -> GeneratorsOfAllSizes:
    """Compare the generators for all sizes with these cores with the generators of single cases up
    to d, d' = ``largest``, computed without the core; with 4 that takes minutes.

    MethodUnavailableError if no statement is about generators, or the closures are not decided;
    TimeLimitError if the limit was reached before the first closure, or after all of them before
    the first case; EngineError if Macaulay2 failed.
    """
    # refuses statements of which none is about generators
    _, not_stated = split_by_all_sizes_form(statements, ABOUT_GENERATORS.__contains__)
    own_statements = [statement for statement in ABOUT_GENERATORS if statement in statements]
    closures = closures_of_all_sizes(cores)
    cases: tuple[CrossCheck, ...] = ()
    limit = closures.unfinished
    if not limit:
        comparisons: list[tuple[str, Callable[[], CrossCheck]]] = []
        for d, d_out, a in product(range(1, largest + 1), repeat=3):
            if a > d:
                # the same functions as with a = d
                continue
            model = SingleLayerAttention(d, d_out, a)
            for closure in closures.ranges:
                if closure.core == CoreSize.of(model):
                    compare = partial(_compare_with_polynomials, model, closure, own_statements)
                    comparisons.append((str(model), compare))
        cases, limit = performed_within_limit(comparisons)
    return GeneratorsOfAllSizes(
        closures=closures,
        cases=cases,
        verdicts=tuple(_verdict(statement, cores, cases, limit) for statement in own_statements),
        seconds=clock().seconds,
        unfinished=limit,
        not_stated=not_stated,
    )


def _compare_with_polynomials(
    model: SingleLayerAttention,
    closure: ClosureOfSizes,
    statements: Sequence[GlobalStatement[LayerSizes]],
) -> CrossCheck:
    """Compare the generators of one case with the polynomials for all sizes with its core, in place
    of predictions; TimeLimitError if a limit leaves generators out.
    """
    numbers = {degree: int(number) for degree, number in closure.numbers(model).items()}
    with_values = []
    for statement in statements:
        # these numbers of generators by degree, or for the statement "generated" their degrees
        value = VALUE_CLASSES[statement.key].of(numbers)
        with_values.append(replace(statement, predict=Always(value)))
    comparison = cross_check(model, statements=with_values)
    # Only a limit, which ``unfinished`` names, leaves a case with t ≥ 2 without observed values.
    # Such a case neither agrees nor differs, so it is not returned.
    if any(verdict.observed is None for verdict in comparison.verdicts):
        raise TimeLimitError(comparison.unfinished)
    return comparison

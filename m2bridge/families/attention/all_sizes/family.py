"""Lightning self-attention for all sizes: verdicts that follow from the base ideals, and the family
with one case.

A prediction (``predictions.py``) is compared with the facts (``base_ideals.py``); the sizes for
which a statement holds, fails and does not apply are sets of isl. Source of the theorem about
fibres, on which all rests: ours, docs/all-sizes.md. Closures for all sizes stand in
``closures.py``.

A size is (d, d', a), an orbit (r, s, m). A stratum is a set of orbits of all sizes with one kind of
fibre of the map from weights (A, V) to functions. The conclusion of a statement is what it says
without its hypotheses. A statement is vacuous for a size without an orbit that it is about.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Unpack

import islpy as isl

from m2bridge.citation import LIGHTNING
from m2bridge.crosscheck.verdict import Verdict
from m2bridge.engine import RunOptions, computation, current
from m2bridge.engine.script import Script
from m2bridge.families.all_sizes import (
    AllSizesCase,
    AllSizesFamily,
    AllSizesQuestion,
    AllSizesResult,
    complete_result,
    split_by_all_sizes_form,
)
from m2bridge.families.attention.all_sizes import integer_sets
from m2bridge.families.attention.all_sizes.base_ideals import (
    ALL,
    NONE,
    ComputedCases,
    SizeOrbitSets,
    base_ideals,
    base_ideals_script,
)
from m2bridge.families.attention.all_sizes.fibre_theorem import Stratum, fibre_theorem
from m2bridge.families.attention.all_sizes.predictions import PREDICTIONS, Conclusion, Prediction
from m2bridge.families.attention.all_sizes.size_sets import (
    FALSE_AS_PRINTED,
    NOWHERE,
    Json,
    NotApplicable,
    SizeSets,
    as_printed,
    counterexample_text,
    reasons,
)
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits.orbits import generic_orbit, orbits, representative
from m2bridge.families.attention.orbits.tangents import orbit_dimension, orbit_tangents
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.families.base import AnswerRow, Question
from m2bridge.limits import clock, performed_within_limit
from m2bridge.results.sheet import Sheet, Table, m2_list, name_with_part, quoted
from m2bridge.statements.statement import Statement, check_statements, sharing_one_observation


@dataclass(frozen=True, slots=True, repr=False)
class AllSizes(AllSizesResult):
    """Verdicts on statements for all sizes, and the theorem about fibres on which they rest.

    Parameters
    ----------
    strata : tuple of Stratum
        The fibre over every orbit.
    basis : ComputedCases
        The computations of Macaulay2.
    engine_version : str
        Empty if Macaulay2 was not used.

    Examples
    --------
    >>> with Macaulay2() as engine:
    ...     found = cross_check_all_sizes()
    >>> len(found.strata)
    4
    """

    subject: ClassVar[str] = "lightning self-attention"
    scope: ClassVar[str] = "all d, d', a ≥ 1 and all t ≥ 2, in characteristic 0"

    strata: tuple[Stratum, ...]
    basis: ComputedCases
    engine_version: str

    def evidence(self) -> dict[str, Any]:
        """Return the fibres and ideals, for ``json.dumps``."""
        return {
            "fibres": [
                asdict(stratum) | {"ideals": list(map(str, stratum.ideals))}
                for stratum in self.strata
            ],
            "base_locus_empty": self.basis.base_locus_empty,
            "boundary_family": self.basis.boundary_family,
            "ideals": ideals_json(self.basis),
        }

    def to_json(self) -> Json:
        """Return every verdict with its sets of sizes, and the computed data.

        "partition" has for each statement the sizes for each answer, such as "true", in words and
        in the language of isl.
        """
        partition = {}
        for verdict in self.verdicts:
            assert isinstance(verdict.extent, SizeSets), "the extent of every verdict here"
            partition[verdict.name] = {
                answer: {"words": integer_sets.words(where), "isl": integer_sets.text(where)}
                for answer, where in verdict.extent.partition().items()
            }
        return {
            "engine": {"version": self.engine_version or None},
            **AllSizesResult.to_json(self),
            "partition": partition,
        }

    def to_sheet(self) -> Sheet:
        """Return the computed data, the verdicts, and for each verdict the sizes by its answers."""
        sheet = AllSizesResult.to_sheet(self)
        rows = []
        for verdict in self.verdicts:
            assert isinstance(verdict.extent, SizeSets), "the extent of every verdict here"
            name = verdict.name
            for answer, where in verdict.extent.sizes_by_line().items():
                if not where.is_empty():
                    rows.append((name, answer, integer_sets.words(where)))
                    name = ""  # the name stands only in the first of its rows
        legend = "Where each statement is true, or not; the lines of each are all d, d', a together"
        listed = Table(("statement", "", "sizes"), rows, legend)
        return replace(sheet, blocks=[*sheet.blocks, listed])

    def to_macaulay2(self) -> str:
        """Return a hash table of Macaulay2: for each statement the verdict, and where it is false.

        The sizes for which it is false are given in words, and so are those for which it is false
        as printed though it does not apply.
        """
        entries = []
        for verdict in self.verdicts:
            assert isinstance(verdict.extent, SizeSets), "the extent of every verdict here"
            words = f"false for {integer_sets.words(verdict.failing)}"
            false_as_printed = verdict.extent.sizes_by_line().get(FALSE_AS_PRINTED, NONE)
            if not false_as_printed.is_empty():
                words += f"; as printed also for {integer_sets.words(false_as_printed)}"
            name = quoted(verdict.name, readable=True)
            false = quoted(words, readable=True)
            entries.append(f"{name} => {m2_list((quoted(verdict.decision), false))}")
        return f"verdicts = hashTable {m2_list(entries)}"

    @property
    def methods(self) -> str:
        """How it was computed, in words: by Macaulay2 with its version, or by linear algebra."""
        if self.engine_version:
            return f"Macaulay2 {self.engine_version}"
        return "exact linear algebra (FLINT)"

    def facts(self) -> list[tuple[str, str]]:
        """Return one row: how many ideals were computed, and how many of them the strata use."""
        bases_used = {base for stratum in self.strata for base in stratum.ideals}
        ideals = f"{len(self.basis.ideals)} fibre ideals of small cases"
        return [("ideals", f"{ideals}; {len(bases_used)} of them have the patterns below")]

    def tables(self) -> list[Table]:
        """Return the theorem about fibres as one table, with a row for each stratum."""
        legend = (
            "Fibres over the orbits (r = rk A, s = rk V, m = dim of the intersection of column"
            " space and row space)"
        )
        rows = []
        for stratum in self.strata:
            condition = stratum.orbits.replace(">=", "≥").replace("<=", "≤")
            rows.append((condition, stratum.length, stratum.points, stratum.patterns))
        return [Table(("orbits", "length", "points", "patterns of entries"), rows, legend)]


def ideals_json(basis: ComputedCases) -> list[Json]:
    """The reduced Gröbner basis of each base case, with its orbit and d, in increasing order: the
    largest leading monomial first, a term as [exponents, coefficient].
    """
    listed = []
    for base, ideal in sorted(basis.ideals.items()):
        polynomials = [
            [[list(monomial), str(coefficient)] for monomial, coefficient in terms]
            for terms in sorted(ideal, key=_leading_monomial_in_order, reverse=True)
        ]
        listed.append({**base.orbit.to_json(), "d": base.d, "groebner_basis": polynomials})
    return listed


def _leading_monomial_in_order(terms: Any) -> tuple[int, list[int]]:
    """The key of the leading monomial of a polynomial in graded reverse lexicographic order."""
    exponents, _ = terms[0]
    return sum(exponents), [-exponent for exponent in reversed(exponents)]


PRINTED = frozenset(
    (statement.key, statement.part)
    for statement in REGISTRY
    if statement.printed_hypotheses is not None
)
"""The statements that the paper prints, by key and part."""


def is_stated(statement: Statement) -> bool:
    """Return whether the statement has a prediction for sets of sizes."""
    return (statement.key, statement.part) in PREDICTIONS


class DecidedStatements(NamedTuple):
    """The fibres over all orbits, the verdicts that were reached, and the message of the limit or
    "".
    """

    strata: tuple[Stratum, ...]
    verdicts: tuple[Verdict, ...]
    limit: str


def decide(
    basis: ComputedCases, predictions: Sequence[tuple[Statement, Prediction]]
) -> DecidedStatements:
    """Return the fibres over all orbits and the verdicts, which follow from the base ideals;
    ContradictionError if the theorem about fibres needs others, or its cases are not all orbits.
    """
    strata = fibre_theorem(basis.ideals)
    facts = SizeOrbitSets.of(strata, basis)
    counts = {"ideals": len(basis.ideals), "patterns": sum(stratum.patterns for stratum in strata)}
    decisions = []
    for statement, prediction in predictions:
        name = f"{statement.key} {statement.part}".strip()
        decisions.append((name, partial(_verdict, statement, prediction, facts, counts)))
    verdicts, limit = performed_within_limit(decisions)
    return DecidedStatements(strata=strata, verdicts=verdicts, limit=limit)


def _verdict(
    statement: Statement, prediction: Prediction, facts: SizeOrbitSets, counts: dict[str, int]
) -> Verdict:
    """The verdict on a statement, whose words name the numbers ``counts`` of ideals and of
    patterns.
    """
    texts = integer_sets.WORDS.computed[prediction.observable]
    return Verdict(
        statement=statement,
        extent=replace(
            _sizes_by_answer(prediction, facts), is_printed=statement.printed_hypotheses is not None
        ),
        computed=tuple(text.format(**counts) for text in texts),
        trusted=integer_sets.WORDS.trusted[prediction.observable],
    )


def _sizes_by_answer(prediction: Prediction, facts: SizeOrbitSets) -> SizeSets:
    """The sizes for which a statement is true, false and so on, by its prediction and the facts."""
    conclusion = prediction.conclusion(facts)
    applies = ALL  # where no hypothesis so far fails
    exclusions = []
    for hypothesis in prediction.hypotheses:
        satisfied = integer_sets.sizes(hypothesis.condition)
        fails_first = applies.subtract(satisfied)
        answers = conclusion.restricted_to(fails_first)
        exclusions.append(
            NotApplicable(
                sizes=fails_first,
                reason=hypothesis.reason,
                holds_for=answers.true,
                fails_for=answers.false,
                undecided_for=answers.unknown,
                added=hypothesis.added,
            )
        )
        applies = applies.intersect(satisfied)
    # all hypotheses hold for the sizes that are left in ``applies``
    answers = conclusion.restricted_to(applies)
    witness = None
    if not answers.false.is_empty():
        witness = _counterexample(prediction, conclusion, answers.false)
    return SizeSets(
        holds_for=answers.true,
        fails_for=answers.false,
        undecided_for=answers.unknown,
        vacuous_for=conclusion.vacuous.intersect(answers.true),
        not_applicable=tuple(exclusions),
        witness=witness,
    )


def _counterexample(prediction: Prediction, conclusion: Conclusion, false: isl.Set) -> Json:
    """The first of the sizes for which a statement is false, ``false``, and the largest orbit where
    it is, with weights and for singular points two dimensions; without orbits there are no weights.
    """
    d, dp, a = integer_sets.first_point(false)
    model = SingleLayerAttention(d, dp, a)
    case = {"d": d, "d_out": dp, "a": a}
    if conclusion.wrong is None:
        return {**case, "orbit": None, "A": [], "V": [], "numbers": {}}
    # the orbits where it is false, of which the largest, then the last, is taken
    in_set = []
    for orbit in orbits(model):
        size_and_orbit = (model.d, model.d_out, model.a, *orbit.cells)
        if integer_sets.contains(conclusion.wrong, size_and_orbit):
            in_set.append(orbit)
    orbit = max(in_set, key=lambda orbit: (orbit_dimension(orbit, model), orbit))
    A, V = [[list(row) for row in matrix] for matrix in representative(orbit, model)]
    numbers: dict[str, int | None] = {}
    if prediction.observable == "singular":
        # what tangent vectors show at each orbit; the dense one has the dimension of the closure
        tangents = orbit_tangents(model, equations=False)
        numbers = {
            "dimension": tangents[generic_orbit(model)].dimension,
            "tangent_dimension_at_least": tangents[orbit].known.lower,
        }
    return {**case, "orbit": orbit.to_json(), "A": A, "V": V, "numbers": numbers}


@computation
def cross_check_all_sizes(
    statements: Sequence[Statement] | None = None, **options: Unpack[RunOptions]
) -> AllSizes:
    """Decide statements for all d, d', a ≥ 1 and t ≥ 2 at once, assuming none of them.

    Statements that have no form for all sizes are left out, and named in ``not_stated`` of the
    result. At the limit on time the verdicts so far are returned.

    Parameters
    ----------
    statements : sequence of Statement, optional
        At least one of them has a form for all sizes; all that share one observation when left out.
    engine : Engine, optional
        A Macaulay2 to use; without one, the Macaulay2 of the ``with`` block around it, else one
        that the process shares.
    timeout : float, optional
        The limit on time, in seconds; no limit when left out.

    Raises
    ------
    MethodUnavailableError
        If no statement has a form for all sizes.
    ContradictionError
        If the ideals are not those that the theorem about fibres needs.
    EngineError
        If Macaulay2 failed or reached a limit.

    Examples
    --------
    >>> with Macaulay2() as engine:
    ...     found = cross_check_all_sizes()
    >>> [(v.name, str(v.decision)) for v in found.verdicts if v.decision != "CONFIRMED"]
    [('3.4 (iii)', 'REFUTED'), ('A.4', 'REFUTED')]
    """
    if statements is None:
        statements = sharing_one_observation(REGISTRY)
    check_statements(statements)
    own_statements, others = split_by_all_sizes_form(statements, is_stated)
    basis = base_ideals(
        polar=any(statement.observable == "polar_degrees" for statement in own_statements)
    )
    decision = decide(
        basis,
        [(statement, PREDICTIONS[statement.key, statement.part]) for statement in own_statements],
    )
    return AllSizes(
        strata=decision.strata,
        basis=basis,
        engine_version=current().version,
        verdicts=decision.verdicts,
        seconds=clock().seconds,
        not_stated=others,
        unfinished=decision.limit,
    )


EVERY_SIZE = AllSizesCase(
    "attention-all-sizes", "lightning self-attention for all d, d', a ≥ 1 and all t ≥ 2"
)


class AttentionOfAllSizes(AllSizesFamily):
    """The family with one case, which is single-layer attention of all sizes at once."""

    __slots__ = ()

    case = EVERY_SIZE
    title = "lightning self-attention for all sizes"
    paper = LIGHTNING
    orbits = "rk A, rk V, dim of the intersection of column space and row space"
    prefix = "attention-"
    same_fact = (("3.4 (iii)", "A.4"),)  # as for single cases
    uses_engine = True

    def stated(self) -> tuple[Statement, ...]:
        """Return the statements with a prediction for sets of sizes that share one observation."""
        return tuple(filter(is_stated, sharing_one_observation(REGISTRY)))

    def decided(self) -> AllSizes:
        """Decide all statements that have a form for all sizes."""
        return cross_check_all_sizes()

    def row(self, key: str, verdict: dict[str, Any]) -> AnswerRow:
        """Return a row for a verdict of a certificate, with its sets of sizes in words; ValueError
        if the decision does not follow from "fails_for" and "undecided_for".
        """
        follows = _verdict_by_sets(verdict)
        if follows != verdict["verdict"]:
            raise ValueError(
                f"the verdict {verdict['verdict']} does not follow from the sets of sizes"
            )
        statement_name = (key, verdict["part"])
        # the hypotheses in the words of this release
        not_applicable = []
        for exclusion in verdict["not_applicable"]:
            present = integer_sets.WORDS.renewed(exclusion["hypothesis"])
            not_applicable.append(exclusion | {"hypothesis": present})
        verdict = verdict | {"not_applicable": not_applicable}
        hypotheses = PREDICTIONS[statement_name].hypotheses
        added = {hypothesis.reason for hypothesis in hypotheses if hypothesis.added}
        printed = None
        if statement_name in PRINTED:
            printed = as_printed(verdict, _is_phrase_of_no_size, added)
        return AnswerRow(
            name=name_with_part(*statement_name),
            text=verdict["text"],
            verdict=follows,
            reason="; ".join(reasons(verdict, integer_sets.phrase, added)),
            witness=counterexample_text(verdict["counterexample"]),
            source=verdict["source"],
            as_printed=printed,
        )

    def program(self, model: AllSizesCase, key: str) -> Script:
        """The program for the base ideals, whatever the statement is."""
        return base_ideals_script()

    def questions(self) -> tuple[Question[AllSizesCase, Any], ...]:
        """Return the questions about the statements, the closures and the types of weights."""
        from m2bridge.families.attention.all_sizes.closures import QUESTIONS  # imports NumPy

        exposed = ExposedOfAllSizes(key="exposed", family=self)
        return (*super().questions(), *QUESTIONS, exposed)


def _verdict_by_sets(verdict: dict[str, Any]) -> str:
    """The verdict that follows from the sets "fails_for" and "undecided_for" of a certificate."""
    if not _is_phrase_of_no_size(verdict["fails_for"]):
        return "REFUTED"
    if not _is_phrase_of_no_size(verdict["undecided_for"]):
        return "UNDECIDED"
    return "CONFIRMED"


def _is_phrase_of_no_size(stored: str) -> bool:
    """Return whether a set of sizes, as a certificate has it, is empty."""
    return integer_sets.phrase(stored) == NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposedOfAllSizes(AllSizesQuestion):
    """Whether the statement on types of weights holds for all sizes; asked for by its name."""

    @property
    def observation(self) -> str:
        """The name of the observation: the key, as no other question shares this observation."""
        return self.key

    def observe(self, model: AllSizesCase) -> AllSizes:
        """Decide the statement with this key; raises TimeLimitError at the limit."""
        statements = [statement for statement in REGISTRY if statement.key == self.key]
        result: AllSizes = complete_result(cross_check_all_sizes(statements))
        return result

    def names(self) -> tuple[str, ...]:
        """Return the name of the only row: the key, as the statement has no parts."""
        return (self.key,)

    def usual(self, model: AllSizesCase) -> bool:
        """Return False: a check of the usual questions does not include this one."""
        return False


FAMILY = AttentionOfAllSizes()

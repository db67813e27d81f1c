"""Lightning self-attention for all sizes: verdicts that follow from the base ideals, and the family
with one case.

A prediction (``predictions.py``) is compared with the facts (``base_ideals.py``); the sizes for
which a statement holds, fails and does not apply are sets of isl. Source of the theorem about
fibres, on which all rests: ours, docs/all-sizes.md. Closures for all sizes stand in
``closures.py``.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, ClassVar, Unpack

import islpy as isl

from m2bridge.citation import LIGHTNING
from m2bridge.crosscheck.scope import VerdictScope
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
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits.orbits import generic_orbit, orbits, representative
from m2bridge.families.attention.orbits.tangents import orbit_dimension, orbit_tangents
from m2bridge.families.attention.statements import REGISTRY
from m2bridge.families.base import AnswerRow, Question
from m2bridge.ideals.program import ReducedGroebnerBasis as GroebnerBasis
from m2bridge.limits import clock, performed_within_limit
from m2bridge.results.base import Decision
from m2bridge.results.sheet import Sheet, Table, matrix_text, name_with_part, quoted
from m2bridge.statements.statement import Statement, check_statements, sharing_one_observation

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotApplicable:
    """Sizes to which a statement does not apply, and whether its conclusion holds there.

    Parameters
    ----------
    sizes : set of sizes
    reason : str
        The hypothesis that fails.
    holds_for, fails_for, undecided_for : sets of sizes
        Parts of them.
    """

    sizes: isl.Set
    reason: str
    holds_for: isl.Set
    fails_for: isl.Set
    undecided_for: isl.Set


# How sets of sizes are called in JSON, and the answer that a statement has there.
PARTS = {
    "fails_for": "false",
    "undecided_for": "not decided",
    "holds_for": "true",
    "vacuous_for": "vacuous",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeSets(VerdictScope):
    """The sizes for which a statement holds.

    REFUTED if it is false for some size to which it applies; else UNDECIDED if the facts leave some
    size open.

    Parameters
    ----------
    holds_for, fails_for, undecided_for : sets of sizes
        Together all sizes to which it applies.
    vacuous_for : set of sizes
        The sizes among ``holds_for`` without any function that the statement is about.
    not_applicable : tuple of NotApplicable
    witness : dict or None
        The first size for which it is false, the largest orbit where it is, weights of a function
        in this orbit, and what shows it: the dimension, the tangent dimension. Without an orbit it
        is not about orbits.
    """

    holds_for: isl.Set
    fails_for: isl.Set
    undecided_for: isl.Set
    vacuous_for: isl.Set
    not_applicable: tuple[NotApplicable, ...]
    witness: Json | None = None

    @property
    def failing(self) -> isl.Set:
        """The sizes for which it is false."""
        return self.fails_for

    @property
    def undecided(self) -> isl.Set:
        """The sizes for which it is not decided."""
        return self.undecided_for

    @property
    def decision(self) -> Decision:
        """The verdict that follows from these sets."""
        if not self.fails_for.is_empty():
            return Decision.REFUTED
        return Decision.CONFIRMED if self.undecided_for.is_empty() else Decision.UNDECIDED

    def partition(self) -> dict[str, isl.Set]:
        """The sizes for which the statement is true, false, not decided or vacuous, and those to
        which it does not apply: disjoint sets whose union is the set of all sizes.
        """
        outside = [NONE, *(out.sizes for out in self.not_applicable)]
        return {
            "true": self.holds_for.subtract(self.vacuous_for),
            "false": self.fails_for,
            "not decided": self.undecided_for,
            "vacuous": self.vacuous_for,
            "does not apply": integer_sets.union(outside),
        }

    def data(self, form: Callable[[isl.Set], Any]) -> Json:
        """Return the extent with its sets of sizes in a form."""

        def parts(some: NotApplicable | SizeSets, *names: str) -> Json:
            return {name: form(getattr(some, name)) for name in names}

        outside = []
        for out in self.not_applicable:
            sets = parts(out, "sizes", "holds_for", "fails_for", "undecided_for")
            outside.append({"hypothesis": out.reason, **sets})
        return {**parts(self, *PARTS), "not_applicable": outside, "counterexample": self.witness}

    def to_data(self) -> Json:
        """Return the scope with the canonical texts of its sets of sizes.

        Raises
        ------
        MethodUnavailableError
            If a set of sizes has no canonical text.
        """
        return self.data(integer_sets.canonical)

    def to_json(self) -> Json:
        """Return the extent with its sets of sizes in words and exactly."""
        data = self.data(
            lambda some: {"words": integer_sets.words(some), "isl": integer_sets.text(some)}
        )
        outside = []
        for out in data["not_applicable"]:
            renamed = {"reason": out.pop("hypothesis"), "sizes": out.pop("sizes")}
            renamed |= {f"conclusion_{name}": value for name, value in out.items()}
            outside.append(renamed)
        return data | {"not_applicable": outside}

    def reasons(self) -> list[str]:
        """Return for which sizes it is true and to which it does not apply; and size, orbit,
        weights if it is false.
        """
        lines = reasons(self.data(integer_sets.words), str)
        if self.witness is not None:
            lines.append(f"the first counterexample: {counterexample_text(self.witness)}")
        return lines


def reasons(data: Json, in_words: Callable[[Any], str]) -> list[str]:
    """Return in words for which sizes a statement is true, and where it does not apply, from the
    data of a verdict.

    Where a hypothesis fails, the text says whether the conclusion still holds.
    """

    def answers(some: Json) -> dict[str, str]:
        """The answers ``true``, ``false``, … that occur, each with its sizes in words."""
        found = {}
        for part, answer in PARTS.items():
            if part not in some:  # where a statement does not apply, nothing is vacuous
                continue
            where = in_words(some[part])
            if where != NOWHERE:
                found[answer] = where
        return found

    lines = [f"{answer} for {where}" for answer, where in answers(data).items()]
    for out in data["not_applicable"]:
        inside = answers(out)
        conclusion = ", ".join(f"{answer} for {where}" for answer, where in inside.items())
        if len(inside) == 1:
            # The conclusion holds for all of these sizes, which need not be repeated.
            (conclusion,) = inside
        outside = f"does not apply for {in_words(out['sizes'])} ({out['hypothesis']})"
        lines.append(f"{outside}, where the rest of it is {conclusion}")
    return lines


def counterexample_text(found: Json | None) -> str:
    """Return the first size for which a statement is false in words, from the data; empty if there
    is none.
    """
    if found is None:
        return ""
    where = f"(d, d', a) = ({found['d']}, {found['d_out']}, {found['a']})"
    if found["orbit"] is None:
        return where
    orbit = f"orbit ({', '.join(str(found['orbit'][name]) for name in 'rsm')})"
    weights = [f"{name} = {matrix_text(found[name])}" for name in ("A", "V")]
    numbers = [f"{name.replace('_', ' ')} {value}" for name, value in found["numbers"].items()]
    return ", ".join((where, orbit, *weights, *numbers))


@dataclass(frozen=True, slots=True)
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
            "fibres": [_fibre_json(stratum) for stratum in self.strata],
            "base_locus_empty": self.basis.base_locus_empty,
            "boundary_family": self.basis.boundary_family,
            "ideals": ideals_json(self.basis),
        }

    def to_json(self) -> Json:
        """Return every verdict with its sets of sizes, and the computed data."""
        partition = {}
        for name, parts in self._partitions():
            partition[name] = {
                answer: {"words": integer_sets.words(where), "isl": integer_sets.text(where)}
                for answer, where in parts.items()
            }
        return {
            "engine": {"version": self.engine_version or None},
            **AllSizesResult.to_json(self),
            "partition": partition,
        }

    def _partitions(self) -> list[tuple[str, dict[str, isl.Set]]]:
        """Return the partition of all sizes for each statement, by its name: true, false, … ."""
        listed = []
        for verdict in self.verdicts:
            assert isinstance(verdict.extent, SizeSets), "the extent of every verdict here"
            listed.append((verdict.name, verdict.extent.partition()))
        return listed

    def to_sheet(self) -> Sheet:
        """Return the computed data, the verdicts, and a list of the sizes where each is true."""
        sheet = AllSizesResult.to_sheet(self)
        rows = []
        for name, parts in self._partitions():
            for answer, where in parts.items():
                if not where.is_empty():
                    rows.append((name, answer, integer_sets.words(where)))
                    name = ""  # once is enough
        legend = "Where each statement is true, or not; the lines of each are all d, d', a together"
        listed = Table(("statement", "", "sizes"), rows, legend)
        return replace(sheet, blocks=[*sheet.blocks, listed])

    def to_macaulay2(self) -> str:
        """Return for each statement the verdict and the sizes for which it is false, as a Macaulay2
        hash table.
        """
        entries = []
        for verdict in self.verdicts:
            false = quoted(f"false for {integer_sets.words(verdict.failing)}", readable=True)
            entries.append(
                f"{quoted(verdict.name, readable=True)} => {{{quoted(verdict.decision)}, {false}}}"
            )
        return f"verdicts = hashTable {{{', '.join(entries)}}}"

    @property
    def methods(self) -> str:
        """Macaulay2, or the library for linear algebra."""
        if self.engine_version:
            return f"Macaulay2 {self.engine_version}"
        return "exact linear algebra (FLINT)"

    def facts(self) -> list[tuple[str, str]]:
        """Return the number of ideals."""
        used = {base for stratum in self.strata for base in stratum.ideals}
        known = f"{len(self.basis.ideals)} fibre ideals of small cases"
        return [("ideals", f"{known}; {len(used)} of them have the patterns below")]

    def tables(self) -> list[Table]:
        """Return the theorem about fibres."""
        legend = (
            "Fibres over the orbits (r = rk A, s = rk V, m = dim of the intersection of column"
            " space and row space)"
        )
        rows = []
        for stratum in self.strata:
            condition = stratum.orbits.replace(">=", "≥").replace("<=", "≤")
            rows.append((condition, stratum.length, stratum.points, stratum.patterns))
        return [Table(("orbits", "length", "points", "patterns of entries"), rows, legend)]


def _fibre_json(stratum: Stratum) -> Json:
    return asdict(stratum) | {"ideals": list(map(str, stratum.ideals))}


def ideals_json(basis: ComputedCases) -> list[Json]:
    """The Gröbner bases: polynomials as lists of terms, exponents and coefficient, the largest
    first.
    """
    return [
        {**base.orbit.to_json(), "d": base.d, "groebner_basis": _polynomials(ideal)}
        for base, ideal in sorted(basis.ideals.items())
    ]


def _polynomials(ideal: GroebnerBasis) -> list[list[list[Any]]]:
    listed = sorted(ideal, key=_graded_reverse_lexicographic, reverse=True)
    return [_terms_json(terms) for terms in listed]


def _terms_json(terms: Any) -> list[list[Any]]:
    return [[list(monomial), str(coefficient)] for monomial, coefficient in terms]


def _graded_reverse_lexicographic(terms: Any) -> tuple[int, list[int]]:
    """The place of the leading monomial of a polynomial in the order of its basis."""
    leading = terms[0][0]
    return sum(leading), [-exponent for exponent in reversed(leading)]


def is_stated(statement: Statement) -> bool:
    """Return whether the statement has a form for all sizes."""
    return (statement.key, statement.part) in PREDICTIONS


def decide(
    basis: ComputedCases, stated: Sequence[tuple[Statement, Prediction]]
) -> tuple[tuple[Stratum, ...], tuple[Verdict, ...], str]:
    """The fibres and verdicts that follow from the base ideals, and the limit that ended them
    early, if one did.

    Raises
    ------
    ContradictionError
        If the ideals are not those that the theorem about fibres needs, or its cases are not all
        orbits.
    """
    strata = fibre_theorem(basis.ideals)
    facts = SizeOrbitSets.of(strata, basis)
    counts = {"ideals": len(basis.ideals), "patterns": sum(stratum.patterns for stratum in strata)}
    decisions = []
    for statement, prediction in stated:
        name = f"{statement.key} {statement.part}".strip()
        decisions.append((name, partial(_verdict, statement, prediction, facts, counts)))
    verdicts, late = performed_within_limit(decisions)
    return strata, verdicts, late


def _verdict(
    statement: Statement, prediction: Prediction, facts: SizeOrbitSets, counts: dict[str, int]
) -> Verdict:
    """The verdict on a statement: sizes where a hypothesis fails are those of the first that does.

    The prediction is compared for these sizes too, as if the hypothesis held.
    """
    conclusion = prediction.conclusion(facts)
    applies = ALL
    outside = []
    for hypothesis in prediction.hypotheses:
        satisfied = integer_sets.sizes(hypothesis.condition)
        outside.append(_outside(conclusion, applies.subtract(satisfied), hypothesis.reason))
        applies = applies.intersect(satisfied)
    holds, false, unknown = conclusion.on(applies)
    extent = SizeSets(
        holds_for=holds,
        fails_for=false,
        undecided_for=unknown,
        vacuous_for=conclusion.vacuous.intersect(holds),
        not_applicable=tuple(outside),
        witness=None if false.is_empty() else _counterexample(prediction, conclusion, false),
    )
    computed = (
        text.format(**counts) for text in integer_sets.WORDS.computed[prediction.observable]
    )
    return Verdict(
        statement=statement,
        extent=extent,
        computed=tuple(computed),
        trusted=integer_sets.WORDS.trusted[prediction.observable],
    )


def _outside(conclusion: Conclusion, some: isl.Set, reason: str) -> NotApplicable:
    """Sizes where a hypothesis fails, and whether the conclusion holds there."""
    holds, false, unknown = conclusion.on(some)
    return NotApplicable(
        sizes=some, reason=reason, holds_for=holds, fails_for=false, undecided_for=unknown
    )


def _counterexample(prediction: Prediction, conclusion: Conclusion, false: isl.Set) -> Json:
    """The first of the sizes for which a statement is false, the largest orbit where it is, and
    what shows it.
    """
    d, dp, a = integer_sets.first_point(false)
    model = SingleLayerAttention(d, dp, a)
    found = {"d": d, "d_out": dp, "a": a}
    if conclusion.wrong is None:
        return {**found, "orbit": None, "A": [], "V": [], "numbers": {}}
    size, wrong = (d, dp, a), conclusion.wrong
    failing = [one for one in orbits(model) if integer_sets.contains(wrong, (*size, *one.cells))]
    _, orbit = max((orbit_dimension(one, model), one) for one in failing)
    A, V = (list(map(list, matrix)) for matrix in representative(orbit, model))
    numbers = {}
    if prediction.observable == "singular":
        tangents = orbit_tangents(model, equations=False)
        dimension = tangents[generic_orbit(model)].dimension
        lower = tangents[orbit].known.lower
        numbers = {"dimension": dimension, "tangent_dimension_at_least": lower}
    return {**found, "orbit": orbit.to_json(), "A": A, "V": V, "numbers": numbers}


@computation
def cross_check_all_sizes(
    statements: Sequence[Statement] = sharing_one_observation(REGISTRY),
    **options: Unpack[RunOptions],
) -> AllSizes:
    """Decide statements for all d, d', a ≥ 1 and t ≥ 2 at once, assuming none of them.

    Those that are not stated for all sizes are named. At the limit on time the verdicts so far are
    returned.

    Raises
    ------
    MethodUnavailableError
        If none of them is stated for all sizes.
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
    check_statements(statements)
    chosen, others = split_by_all_sizes_form(statements, is_stated)
    basis = base_ideals(polar=any(statement.observable == "polar_degrees" for statement in chosen))
    strata, verdicts, late = decide(
        basis, [(statement, PREDICTIONS[statement.key, statement.part]) for statement in chosen]
    )
    return AllSizes(
        strata,
        basis,
        current().version,
        verdicts=verdicts,
        seconds=clock().seconds,
        not_stated=others,
        unfinished=late,
    )


# The phrase for the empty set.
NOWHERE = "no size"


EVERY_SIZE = AllSizesCase(
    "attention-all-sizes", "lightning self-attention for all d, d', a ≥ 1 and all t ≥ 2"
)


class AttentionOfAllSizes(AllSizesFamily):
    """The family with this one case."""

    __slots__ = ()

    case = EVERY_SIZE
    title = "lightning self-attention for all sizes"
    paper = LIGHTNING
    orbits = "rk A, rk V, dim of the intersection of column space and row space"
    prefix = "attention-"
    same_fact = (("3.4 (iii)", "A.4"),)  # as for single cases
    uses_engine = True

    def stated(self) -> tuple[Statement, ...]:
        """Return the statements with a prediction for sets of sizes that are decided together."""
        return tuple(filter(is_stated, sharing_one_observation(REGISTRY)))

    def decided(self) -> AllSizes:
        """Decide all statements that have a form for all sizes."""
        return cross_check_all_sizes()

    def row(self, key: str, verdict: dict[str, Any]) -> AnswerRow:
        """Return a row for a verdict, with its sets of sizes in words.

        ValueError is raised if the verdict does not follow from the sets.
        """
        follows = "CONFIRMED"
        if integer_sets.phrase(verdict["undecided_for"]) != NOWHERE:
            follows = "UNDECIDED"
        if integer_sets.phrase(verdict["fails_for"]) != NOWHERE:
            follows = "REFUTED"
        if follows != verdict["verdict"]:
            raise ValueError(
                f"the verdict {verdict['verdict']} does not follow from the sets of sizes"
            )
        return AnswerRow(
            name=name_with_part(key, verdict["part"]),
            text=verdict["text"],
            verdict=follows,
            reason="; ".join(reasons(verdict, integer_sets.phrase)),
            witness=counterexample_text(verdict["counterexample"]),
            source=verdict["source"],
        )

    def program(self, model: AllSizesCase, key: str) -> Script:
        """The program for the base ideals, whatever the statement is."""
        return base_ideals_script()

    def questions(self) -> tuple[Question[AllSizesCase, Any], ...]:
        """About the statements, the closures and the types of weights for all sizes."""
        from m2bridge.families.attention.all_sizes.closures import QUESTIONS  # imports NumPy

        exposed = ExposedOfAllSizes(key="exposed", family=self)
        return (*super().questions(), *QUESTIONS, exposed)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposedOfAllSizes(AllSizesQuestion):
    """Whether the statement on types of weights holds for all sizes; asked for by its name."""

    @property
    def observation(self) -> str:
        """The key: it is decided alone."""
        return self.key

    def observe(self, model: AllSizesCase) -> AllSizes:
        """Decide it; raises TimeLimitError at the limit."""
        stated = [one for one in REGISTRY if one.key == self.key]
        result: AllSizes = complete_result(cross_check_all_sizes(stated))
        return result

    def names(self) -> tuple[str, ...]:
        """Return the key."""
        return (self.key,)

    def usual(self, model: AllSizesCase) -> bool:
        """Return False: a check of the usual questions does not include this one."""
        return False


FAMILY = AttentionOfAllSizes()

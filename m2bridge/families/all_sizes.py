"""Families with one case, all sizes of another family, for which statements are decided at once.

The module has what such families share: the case, the result with its verdicts, and the questions
that certificates answer. The verdicts are of :mod:`m2bridge.crosscheck.verdict`; each family
has its own scope of a verdict, in sets of sizes or in networks.

Statements with one *key*, such as ``3.4``, are the parts of one theorem, and one question. The
*content* of a certificate is its answer (the verdicts), its evidence (computed data from which they
follow) and the lemmas that it takes on trust.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

from m2bridge.certificates.form import Certificate, Content
from m2bridge.crosscheck.verdict import Verdict
from m2bridge.engine.script import Script
from m2bridge.errors import InvalidCaseError, MethodUnavailableError, TimeLimitError
from m2bridge.families.base import AnswerRow, Family, Question
from m2bridge.results.base import Decision, Proof, VerdictsResult
from m2bridge.results.sheet import Facts, Findings, Sheet, Table, duration, name_with_part
from m2bridge.statements.statement import Statement


@dataclass(frozen=True, slots=True)
class AllSizesCase:
    """All sizes together, as one case on the command line and in certificates; it has no map."""

    family: str
    title: str
    key: ClassVar[str] = "all-sizes"

    def __str__(self) -> str:
        return self.title

    def to_json(self) -> dict[str, Any]:
        """Return an empty dictionary, since no number names the case."""
        return {}

    def from_key(self, key: str) -> Self:
        """Return the only case; InvalidCaseError if the key is different."""
        if key != self.key:
            raise InvalidCaseError("key", f"'{key}' does not name all sizes: write {self.key}")
        return self


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AllSizesResult(VerdictsResult):
    """Verdicts on statements for all sizes, and the data on which they rely."""

    verdicts: tuple[Verdict, ...]
    seconds: float
    not_stated: tuple[str, ...] = ()  # what was asked for but has no form for all sizes
    unfinished: str = ""  # the limit that was reached, and the statements decided before it

    # what is cross-checked, in words, and for which sizes: parts of the title
    subject: ClassVar[str]
    scope: ClassVar[str]

    @abstractmethod
    def evidence(self) -> dict[str, Any]:
        """Return the computed data for ``json.dumps`` and for a certificate."""

    @property
    @abstractmethod
    def methods(self) -> str:
        """The programs that computed the data, such as ``Macaulay2 1.26.06``."""

    @abstractmethod
    def facts(self) -> list[tuple[str, str]]:
        """Return pairs (name, value) of the computed data, the first lines of the sheet."""

    def tables(self) -> list[Table]:
        """Return tables of the computed data, which stand below the facts; here none."""
        return []

    def proof(self) -> Proof:
        """Return whether each statement that applies is confirmed or refuted, none left out."""
        if self.unfinished:
            return Proof(False, self.unfinished)
        return VerdictsResult.proof(self)

    def to_json(self) -> dict[str, Any]:
        """Return all verdicts and the computed data for ``json.dumps``."""
        # the field is present only if a limit was reached
        unfinished = {"unfinished": self.unfinished} if self.unfinished else {}
        return {
            "scope": self.scope,
            "field": "QQ",  # verdicts for all sizes are about characteristic 0
            "seconds": round(self.seconds, 3),
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "not_stated": list(self.not_stated),
            **self.proof()._asdict(),
            **unfinished,
            **self.evidence(),
        }

    def to_sheet(self) -> Sheet:
        """Return the sheet, the page of the result: the computed data and the verdicts."""
        rows = [
            *self.facts(),
            # a row with the value None is not shown
            ("not stated for all sizes", ", ".join(self.not_stated) or None),
            ("computed by", f"{self.methods}, {duration(self.seconds)}"),
            ("not finished", self.unfinished or None),
        ]
        findings = Findings([verdict.to_finding() for verdict in self.verdicts])
        title = f"Cross-check of {self.subject} for {self.scope}"
        return Sheet(title, [Facts(rows), *self.tables(), findings])

    def content(self, key: str) -> Content:
        """Return the content of a certificate on the statements with this key;
        MethodUnavailableError if a verdict cannot be represented in one.
        """
        verdicts = []
        # each lemma once, in the order in which verdicts name them
        trusted: dict[str, None] = {}
        for verdict in self.verdicts:
            if verdict.statement.key != key:
                continue
            verdicts.append(verdict.to_data())
            # without a decision a verdict relies on no lemma
            if verdict.decision is not Decision.UNDECIDED:
                trusted |= dict.fromkeys(verdict.trusted)
        return Content({"verdicts": verdicts}, self.evidence(), tuple(trusted))


S = TypeVar("S", bound=Statement)


def split_by_all_sizes_form(
    requests: Sequence[S], has_form: Callable[[S], bool]
) -> tuple[list[S], tuple[str, ...]]:
    """Return the statements that have a form for all sizes, and the names of the statements without
    one; MethodUnavailableError if none has one.
    """
    with_form, without_form = [], []
    for statement in requests:
        if has_form(statement):
            with_form.append(statement)
        else:
            without_form.append(name_with_part(statement.key, statement.part))
    if not with_form:
        raise MethodUnavailableError(
            f"not stated for all sizes, but only for single cases: {', '.join(without_form)}"
        )
    return with_form, tuple(without_form)


def complete_result(result: Any) -> Any:
    """Return ``result`` itself, for a certificate; raise TimeLimitError if it is incomplete."""
    if result.unfinished:
        raise TimeLimitError(result.unfinished)
    return result


class AllSizesFamily(Family[AllSizesCase]):
    """A family with one case, all sizes of another family.

    One result answers all questions about statements.

    Attributes
    ----------
    case : AllSizesCase
        The only case.
    uses_engine : bool
        Whether :meth:`decided` needs Macaulay2.
    """

    __slots__ = ()

    case: ClassVar[AllSizesCase]
    uses_engine: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """The name of this family, which its only case has as ``family``."""
        return self.case.family

    def build(self, **values: Any) -> AllSizesCase:
        """Return the only case, which has no options."""
        self.check_names(values)
        return self.case

    def from_key(self, key: str) -> AllSizesCase:
        """Return the only case."""
        return self.case.from_key(key)

    @abstractmethod
    def stated(self) -> Sequence[Statement]:
        """Return the statements that have a form for all sizes."""

    @abstractmethod
    def decided(self) -> AllSizesResult:
        """Decide all statements that have a form for all sizes, until a limit is reached."""

    @abstractmethod
    def row(self, key: str, verdict: dict[str, Any]) -> AnswerRow:
        """Return the table row of a verdict in a certificate on the statement with this key.

        ``verdict`` has the decision as "verdict", and the sets of sizes, or the counterexample,
        from which it follows, by the names of the family; ValueError says that it does not.
        """

    def questions(self) -> tuple[Question[AllSizesCase, Any], ...]:
        """Return one question for each key of the statements."""
        keys = dict.fromkeys(statement.key for statement in self.stated())
        return tuple(AllSizesQuestion(key=key, family=self) for key in keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class AllSizesQuestion(Question[AllSizesCase, AllSizesResult]):
    """The question whether the statements with this key are true for all sizes."""

    key: str
    family: AllSizesFamily

    @property
    def observation(self) -> str:
        """The name of the observation, which all questions of the family share."""
        return "all-sizes"

    def observe(self, model: AllSizesCase) -> AllSizesResult:
        """Decide all statements; raises TimeLimitError if some are left undecided at a limit."""
        result: AllSizesResult = complete_result(self.family.decided())
        return result

    def content(self, model: AllSizesCase, observed: AllSizesResult) -> Content:
        """Return the content with the verdicts on the statements with this key."""
        return observed.content(self.key)

    def rows(self, certificate: Certificate) -> list[AnswerRow]:
        """Return one row for each verdict."""
        return [self.family.row(self.key, verdict) for verdict in certificate.answer["verdicts"]]

    def names(self) -> tuple[str, ...]:
        """Return the names of the statements with this key, such as ``3.4 (iii)``."""
        parts = [statement.part for statement in self.family.stated() if statement.key == self.key]
        return tuple(name_with_part(self.key, part) for part in parts)

    def script(self, model: AllSizesCase) -> Script | None:
        """Return the Macaulay2 program of the family for these statements."""
        return self.family.program(model, self.key)

    def needs_engine(self, model: AllSizesCase) -> bool:
        """Return whether the family needs Macaulay2."""
        return self.family.uses_engine

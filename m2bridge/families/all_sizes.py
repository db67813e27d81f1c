"""Families of all sizes: one case, whose statements are decided for all sizes of another family at
once.

The verdicts are those of :mod:`m2bridge.crosscheck.verdict`; how far each holds, in sets of sizes
or in networks, is said by an extent of the family. What is here is common to these families: the
case, the result with all verdicts, and the questions that certificates answer.
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
from m2bridge.results.base import Decision, VerdictsResult
from m2bridge.results.sheet import Facts, Findings, Sheet, Table, duration, name_with_part
from m2bridge.statements.statement import Statement


@dataclass(frozen=True, slots=True)
class AllSizesCase:
    """All sizes together, as one case on the command line and in certificates: not one model, so it
    has no map.

    Parameters
    ----------
    family : str
        The name of the family of this one case.
    title : str
        In words.
    """

    family: str
    title: str
    key: ClassVar[str] = "all-sizes"

    def __str__(self) -> str:
        return self.title

    def to_json(self) -> dict[str, Any]:
        """Return an empty dictionary: no number names the case."""
        return {}

    def from_key(self, key: str) -> Self:
        """Return the only case; raises InvalidCaseError for another key."""
        if key != self.key:
            raise InvalidCaseError("key", f"'{key}' does not name all sizes: write {self.key}")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class AllSizesResult(VerdictsResult):
    """Verdicts on statements for all sizes, and what they rest on.

    Parameters
    ----------
    verdicts : tuple of Verdict
    seconds : float
    not_stated : tuple of str
        The statements that were asked about and are not stated for all sizes.
    unfinished : str
        Empty, or the limit that was reached, and which statements were decided before.
    """

    verdicts: tuple[Verdict, ...]
    seconds: float
    not_stated: tuple[str, ...] = ()
    unfinished: str = ""

    subject: ClassVar[str]
    scope: ClassVar[str]

    @abstractmethod
    def evidence(self) -> dict[str, Any]:
        """Return what was computed, for ``json.dumps`` and for a certificate."""

    @property
    @abstractmethod
    def methods(self) -> str:
        """The programs that computed it."""

    @abstractmethod
    def facts(self) -> list[tuple[str, str]]:
        """Return names and values of what was computed, for people."""

    def tables(self) -> list[Table]:
        """Return tables of what was computed."""
        return []

    def to_json(self) -> dict[str, Any]:
        """Return every verdict, and what was computed."""
        unfinished = {"unfinished": self.unfinished} if self.unfinished else {}
        return {
            "scope": self.scope,
            "field": "QQ",
            "seconds": round(self.seconds, 3),
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "not_stated": list(self.not_stated),
            **unfinished,
            **self.evidence(),
        }

    def to_sheet(self) -> Sheet:
        """Return what was computed, and the verdicts."""
        rows = [
            *self.facts(),
            ("not stated for all sizes", ", ".join(self.not_stated) or None),
            ("computed by", f"{self.methods}, {duration(self.seconds)}"),
            ("not finished", self.unfinished or None),
        ]
        findings = Findings([verdict.to_finding() for verdict in self.verdicts])
        title = f"Cross-check of {self.subject} for {self.scope}"
        return Sheet(title, [Facts(rows), *self.tables(), findings])

    def content(self, key: str) -> Content:
        """Return answer, evidence and lemmas for the statements with this key.

        Raises
        ------
        MethodUnavailableError
            If a verdict cannot be written in a certificate.
        """
        answer = []
        trusted: dict[str, None] = {}
        for verdict in self.verdicts:
            if verdict.statement.key != key:
                continue
            answer.append(verdict.to_data())
            if verdict.decision is not Decision.UNDECIDED:
                trusted |= dict.fromkeys(verdict.trusted)
        return Content({"verdicts": answer}, self.evidence(), tuple(trusted))


S = TypeVar("S", bound=Statement)


def with_a_form(
    requests: Sequence[S], has_form: Callable[[S], bool]
) -> tuple[list[S], tuple[str, ...]]:
    """Return the statements that have a form for all sizes, and the names of the others.

    Raises
    ------
    MethodUnavailableError
        If none of them has one.
    """
    chosen, others = [], []
    for statement in requests:
        if has_form(statement):
            chosen.append(statement)
        else:
            others.append(name_with_part(statement.key, statement.part))
    if not chosen:
        raise MethodUnavailableError(
            f"not stated for all sizes, but only for single cases: {', '.join(others)}"
        )
    return chosen, tuple(others)


def finished(result: Any) -> Any:
    """Return a result for a certificate, which has everything; TimeLimitError if it has not."""
    if result.unfinished:
        raise TimeLimitError(result.unfinished)
    return result


class AllSizesFamily(Family[AllSizesCase]):
    """A family with one case, all sizes of another family; one result answers all questions about
    statements.

    Attributes
    ----------
    case : AllSizesCase
    uses_engine : bool
        Whether Macaulay2 takes part in :meth:`decided`.
    """

    __slots__ = ()

    case: ClassVar[AllSizesCase]
    uses_engine: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """What the case says."""
        return self.case.family

    def build(self, **values: Any) -> AllSizesCase:
        """The only case: no option names it."""
        return self.case

    def from_key(self, key: str) -> AllSizesCase:
        """The only case; raises InvalidCaseError for another key."""
        return self.case.from_key(key)

    @abstractmethod
    def stated(self) -> Sequence[Statement]:
        """Return the statements that have a form for all sizes."""

    @abstractmethod
    def decided(self) -> AllSizesResult:
        """Decide all of them."""

    @abstractmethod
    def row(self, key: str, verdict: dict[str, Any]) -> AnswerRow:
        """Return the row of tables for a verdict in a certificate; ValueError if the verdict does
        not follow.
        """

    def questions(self) -> tuple[Question[AllSizesCase, Any], ...]:
        """One question for each key of the statements."""
        keys = dict.fromkeys(statement.key for statement in self.stated())
        return tuple(AllSizesQuestion(key=key, family=self) for key in keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class AllSizesQuestion(Question[AllSizesCase, AllSizesResult]):
    """Whether the statements with this key are true for all sizes.

    Parameters
    ----------
    key : str
    family : AllSizesFamily
    """

    key: str
    family: AllSizesFamily

    @property
    def observation(self) -> str:
        """The same for all of them."""
        return "all-sizes"

    def observe(self, model: AllSizesCase) -> AllSizesResult:
        """Decide all statements; raises TimeLimitError if some are left."""
        result: AllSizesResult = finished(self.family.decided())
        return result

    def content(self, model: AllSizesCase, observed: AllSizesResult) -> Content:
        """Return the verdicts with this key."""
        return observed.content(self.key)

    def rows(self, certificate: Certificate) -> list[AnswerRow]:
        """Return one row for each verdict."""
        return [self.family.row(self.key, verdict) for verdict in certificate.answer["verdicts"]]

    def names(self) -> tuple[str, ...]:
        """Return the names of the statements."""
        parts = [statement.part for statement in self.family.stated() if statement.key == self.key]
        return tuple(name_with_part(self.key, part) for part in parts)

    def script(self, model: AllSizesCase) -> Script | None:
        """Return the program of the family."""
        return self.family.program(model, self.key)

    def needs_engine(self, model: AllSizesCase) -> bool:
        """Return what the family says."""
        return self.family.uses_engine

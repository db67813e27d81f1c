"""Families of all sizes: one case, whose statements are decided for all sizes of another family at once."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Self, TypeVar

from m2bridge.certificates.schema import Content
from m2bridge.engine.script import Script
from m2bridge.errors import InvalidCaseError, MethodUnavailableError, TimeLimitError
from m2bridge.families.definition import Family, Question, Row
from m2bridge.maps.statement import Statement
from m2bridge.results.base import Decision, Result, VerdictsResult
from m2bridge.results.sheet import Facts, Finding, Findings, Sheet, Table, duration, name_with_part


@dataclass(frozen=True, slots=True)
class AllSizesCase:
    """All sizes together, as one case on the command line and in certificates: not one model, so it has no map.

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


@dataclass(frozen=True, slots=True)
class AllSizesVerdict:
    """The verdict on one statement for all sizes.

    Parameters
    ----------
    statement, part, text, source : str
        See :class:`m2bridge.maps.statement.GlobalStatement`.
    decision : Decision
    computed, trusted : tuple of str
        What was computed for this verdict, and the lemmas on which it rests, with their proofs or sources.
    """

    statement: str
    part: str
    text: str
    source: str
    decision: Decision
    computed: tuple[str, ...]
    trusted: tuple[str, ...]

    @property
    def name(self) -> str:
        """The statement and its part: ``3.4 (iii)``."""
        return name_with_part(self.statement, self.part)

    @abstractmethod
    def certificate_json(self) -> dict[str, Any]:
        """Return what a certificate holds of the verdict."""

    @abstractmethod
    def in_words(self) -> tuple[list[str], str]:
        """Return where the statement is true, false, and does not apply; and the first counterexample, or nothing."""

    def to_json(self) -> dict[str, Any]:
        """Return the verdict and what it rests on, for ``json.dumps``."""
        grounds = {"computed": list(self.computed), "trusted": list(self.trusted)}
        return {"statement": self.statement, **self.certificate_json(), **grounds}

    def to_finding(self) -> Finding:
        """Return the verdict for people."""
        reasons, example = self.in_words()
        grounds = [*reasons, *[f"the first counterexample: {example}"] * bool(example)]
        return Finding(str(self.decision), self.name, self.text, grounds)


V = TypeVar("V", bound=AllSizesVerdict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AllSizesResult(VerdictsResult, Result, Generic[V]):
    """Verdicts on statements for all sizes, and what they rest on.

    Parameters
    ----------
    verdicts : tuple of AllSizesVerdict
    seconds : float
    not_stated : tuple of str
        The statements that were asked about and are not stated for all sizes.
    unfinished : str
        Empty, or the limit that was reached, and which statements were decided before.
    """

    verdicts: tuple[V, ...]
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
        return {
            "scope": self.scope,
            "field": "QQ",
            "seconds": round(self.seconds, 3),
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "not_stated": list(self.not_stated),
            **({"unfinished": self.unfinished} if self.unfinished else {}),
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
        return Sheet(f"Cross-check of {self.subject} for {self.scope}", [Facts(rows), *self.tables(), findings])

    def content(self, key: str) -> Content:
        """Return answer, evidence and lemmas for the statements with this key.

        Raises
        ------
        MethodUnavailableError
            If a verdict cannot be written in a certificate.
        """
        verdicts = [verdict for verdict in self.verdicts if verdict.statement == key]
        trusts = (verdict.trusted for verdict in verdicts if verdict.decision is not Decision.UNDECIDED)
        trusted = tuple(dict.fromkeys(lemma for lemmas in trusts for lemma in lemmas))
        return Content({"verdicts": [verdict.certificate_json() for verdict in verdicts]}, self.evidence(), trusted)


S = TypeVar("S", bound=Statement)


def with_a_form(requests: Sequence[S], has_form: Callable[[S], bool]) -> tuple[list[S], tuple[str, ...]]:
    """Return the statements that have a form for all sizes, and the names of the others.

    Raises
    ------
    MethodUnavailableError
        If none of them has one.
    """
    chosen = [statement for statement in requests if has_form(statement)]
    others = tuple(name_with_part(s.key, s.part) for s in requests if not has_form(s))
    if not chosen:
        raise MethodUnavailableError(f"not stated for all sizes, but only for single cases: {', '.join(others)}")
    return chosen, others


def finished(result: Any) -> Any:
    """Return a result for a certificate, which has everything or nothing; TimeLimitError if it is unfinished."""
    if result.unfinished:
        raise TimeLimitError(result.unfinished)
    return result


def all_sizes_family(
    case: AllSizesCase,
    title: str,
    statements: Iterable[Statement],
    *,
    observe: Callable[[], AllSizesResult[Any]],
    row: Callable[[str, dict[str, Any]], Row],
    script: Callable[[AllSizesCase], Script] | None = None,
    more: tuple[Question, ...] = (),
    **names: Any,
) -> Family:
    """Return the family with this one case, and a question for each key of statements; one observation answers all.

    Parameters
    ----------
    statements : iterable of Statement
        Those that have a form for all sizes.
    observe : callable
        What gives the result.
    row : callable
        From a key and a verdict in a certificate to a row of tables; raises ValueError if the verdict does not follow.
    script : callable, optional
        The program behind the answers; without one Macaulay2 takes no part.
    more : tuple of Question
        Further questions.
    names
        Further fields of :class:`~m2bridge.families.definition.Family`.
    """
    stated = [(statement.key, statement.part) for statement in statements]

    def question(key: str) -> Question:
        return Question(
            key,
            observation="all-sizes",
            observe=lambda case: finished(observe()),
            content=lambda case, result: result.content(key),
            rows=lambda certificate: [row(key, verdict) for verdict in certificate.answer["verdicts"]],
            names=lambda: tuple(name_with_part(*about) for about in stated if about[0] == key),
            script=script or (lambda case: None),
            needs_engine=lambda case: script is not None,
        )

    questions = (*map(question, dict(stated)), *more)  # one for each key
    return Family(
        name=case.family,
        title=title,
        options=(),
        build=lambda: case,
        from_key=case.from_key,
        questions=lambda: questions,
        **names,
    )

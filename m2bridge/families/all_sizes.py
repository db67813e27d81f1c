"""Families of all sizes: one case, whose statements are decided for all sizes of another family at once."""

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Self, TypeVar

from m2bridge.certificates.schema import Certificate, Content
from m2bridge.engine import Engine
from m2bridge.errors import InvalidCaseError, TimeLimitError
from m2bridge.families.definition import Family, Question, Row
from m2bridge.results.base import Decision, Result, VerdictsResult
from m2bridge.results.sheet import name_with_part


class AllSizesCase:
    """All sizes together, as one case on the command line and in certificates: not one model, so it has no map."""

    __slots__ = ()

    family: ClassVar[str]
    key: ClassVar[str] = "all-sizes"
    title: ClassVar[str]

    def __str__(self) -> str:
        return self.title

    def to_json(self) -> dict[str, Any]:
        """Return an empty dictionary: no number names the case."""
        return {}

    @classmethod
    def from_key(cls, key: str) -> Self:
        """Return the only case; raises InvalidCaseError for another key."""
        if key != cls.key:
            raise InvalidCaseError("key", f"'{key}' does not name all sizes: write {cls.key}")
        return cls()


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

    @abstractmethod
    def evidence(self) -> dict[str, Any]:
        """Return what was computed, for ``json.dumps`` and for a certificate."""

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


def all_sizes_questions(
    names: Iterable[tuple[str, str]],
    *,
    observe: Callable[[Engine | None], AllSizesResult[Any]],
    row: Callable[[str, dict[str, Any]], Row],
    **more: Any,
) -> tuple[Question, ...]:
    """Return a question for each key of statements; one observation answers all of them.

    Parameters
    ----------
    names : iterable of pairs
        Keys and parts of the statements that have a form for all sizes.
    observe : callable
        From an engine to the result.
    row : callable
        From a key and a verdict in a certificate to a row of tables; raises ValueError if the verdict does not follow.
    more
        Further fields of :class:`~m2bridge.families.definition.Question`.
    """
    parts: dict[str, tuple[str, ...]] = {}
    for key, part in names:
        parts[key] = (*parts.get(key, ()), name_with_part(key, part))

    def finished(case: AllSizesCase, engine: Engine | None) -> AllSizesResult[Any]:
        result = observe(engine)
        if result.unfinished:
            raise TimeLimitError(result.unfinished)
        return result

    def question(key: str) -> Question:
        def rows(certificate: Certificate) -> list[Row]:
            return [row(key, verdict) for verdict in certificate.answer["verdicts"]]

        return Question(
            key,
            observation="all-sizes",
            observe=finished,
            content=lambda case, result: result.content(key),
            rows=rows,
            names=lambda: parts[key],
            **more,
        )

    return tuple(map(question, parts))


def all_sizes_family(case: type[AllSizesCase], title: str, questions: tuple[Question, ...], **more: Any) -> Family:
    """Return the family with this one case."""
    return Family(
        name=case.family,
        title=title,
        options=(),
        build=case,
        from_key=case.from_key,
        questions=lambda: questions,
        **more,
    )

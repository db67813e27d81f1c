"""Base classes of results, and of results with verdicts.

A result defines its content for people (``to_sheet``) and for programs (``to_json``,
``to_macaulay2``); text, HTML and LaTeX are written here from its sheet. It says in one way whether
its answer is proved, and why: :class:`Proof`, as two attributes and as two fields of its JSON.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from m2bridge.results import MAX_PAGE_BYTES, MAX_SHOWN_GENERATORS
from m2bridge.results.sheet import Sheet, in_brackets, m2_list, quoted, shortened
from m2bridge.results.writers import html, paper


class Proof(NamedTuple):
    """Whether the answer of a result is proved, and why, with one meaning for all results.

    ``is_proved`` is true if the whole answer is exact over its field and proved: by computation, or
    by theorems that are proved in ``docs/`` or cited. It is false if a part is missing, is a bound
    or the value of a formula, or was counted modulo primes. It is ``None`` if there is no answer
    that could be proved, as in a picture of points, or where no statement applies. What the answer
    of each class is stands in docs/reference/results.md.

    ``because`` says in words what proves it, or what a proof lacks.
    """

    is_proved: bool | None
    because: str


class Result(ABC):
    """A result, which can be written as text (by ``print``), HTML, LaTeX, JSON and Macaulay2."""

    __slots__ = ()

    def proof(self) -> Proof:
        """Return whether the answer is proved, and why; a class with an answer replaces this."""
        return Proof(None, "it has no answer that could be proved")

    @property
    def is_proved(self) -> bool | None:
        """Whether the answer is proved; ``None`` if there is no answer that could be proved."""
        return self.proof().is_proved

    @property
    def because(self) -> str:
        """What proves the answer, or what a proof lacks, in words."""
        return self.proof().because

    def __repr__(self) -> str:
        return in_brackets(self, "is_proved")

    @property
    def unfinished(self) -> str:
        """The limit that was reached before the computation was complete; empty if none was.

        A result that may be unfinished replaces this by a field with a default.
        """
        return ""

    @abstractmethod
    def to_sheet(self) -> Sheet:
        """Return the content for people, from which text, HTML and LaTeX are written; polynomials
        are in it as text.
        """

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Return a dictionary for ``json.dumps``, in which polynomials are strings in Python's
        notation, never shortened. The option ``--json`` prints it.
        """

    @abstractmethod
    def to_macaulay2(self) -> str:
        """Return Macaulay2 code that assigns the result to variables, such as ``orbits = {…}``, or
        a comment that says why there is none.
        """

    def to_text(self, most: int | None = MAX_SHOWN_GENERATORS) -> str:
        """Return text with at most ``most`` generators of each ideal; ``None`` means all."""
        return self.to_sheet().text(most)

    def to_latex(self, most: int | None = MAX_SHOWN_GENERATORS) -> str:
        r"""Return text for ``\\input`` in a paper; its first line names the packages it needs.

        It has at most ``most`` generators of each ideal; ``None`` means all.
        """
        return paper(self.to_sheet(), most)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        """Return the HTML that notebooks show."""
        return html(self.to_sheet())

    def _repr_latex_(self) -> str | None:
        """Return LaTeX for a notebook as PDF; ``None``, for text in its place, if it is long."""
        text = self.to_latex()
        if len(text.encode()) > MAX_PAGE_BYTES:
            return None
        return text

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print the text in IPython, in place of ``repr``, which has all polynomials. ``cycle``,
        whether the object contains itself, is always false here.
        """
        printer.text(shortened(self.to_text(), 30_000))


def result_json(
    case: dict[str, Any] | None, field: object, engine: str | None, seconds: float
) -> dict[str, Any]:
    """Return the fields with which every JSON result begins; ``case`` is ``None`` for a model of no
    family, and ``engine`` if Macaulay2 was not asked.
    """
    return {
        "case": case,
        "field": str(field),
        "engine": {"version": engine},
        "seconds": round(seconds, 3),
    }


class Decision(StrEnum):
    """The four possible verdicts on a statement.

    Examples
    --------
    >>> Decision("CONFIRMED") is Decision.CONFIRMED, [str(decision) for decision in Decision]
    (True, ['CONFIRMED', 'REFUTED', 'UNDECIDED', 'NOT_APPLICABLE'])
    """

    CONFIRMED = "CONFIRMED"
    REFUTED = "REFUTED"
    UNDECIDED = "UNDECIDED"
    NOT_APPLICABLE = "NOT_APPLICABLE"


class HasDecision(Protocol):
    """A verdict on a statement, by its name."""

    @property
    def name(self) -> str:
        """The name of the statement."""

    @property
    def decision(self) -> Decision:
        """Whether the statement is confirmed, refuted, undecided or not applicable."""


class VerdictsResult(Result):
    """A result with ``verdicts``, each of which has a :class:`Decision`."""

    __slots__ = ()

    verdicts: Sequence[HasDecision]

    def proof(self) -> Proof:
        """Return whether each statement that applies is confirmed or refuted."""
        undecided_names, decided_names = [], []
        for verdict in self.verdicts:
            if verdict.decision == Decision.UNDECIDED:
                undecided_names.append(verdict.name)
            elif verdict.decision != Decision.NOT_APPLICABLE:
                decided_names.append(verdict.name)
        if undecided_names:
            return Proof(False, f"undecided: {', '.join(undecided_names)}")
        if not decided_names:
            return Proof(None, "no statement applies")
        return Proof(True, f"decided: {', '.join(decided_names)}")

    def __repr__(self) -> str:
        return in_brackets(self, "refuted", "undecided", "is_proved")

    def to_macaulay2(self) -> str:
        """Return the verdicts as a Macaulay2 hash table."""
        entries = []
        for verdict in self.verdicts:
            name = quoted(verdict.name, readable=True)
            entries.append(f"{name} => {quoted(verdict.decision)}")
        return f"verdicts = hashTable {m2_list(entries)}"

    @property
    def refuted(self) -> bool:
        """Whether some statement was refuted."""
        return any(verdict.decision == Decision.REFUTED for verdict in self.verdicts)

    @property
    def undecided(self) -> bool:
        """Whether some statement was left undecided."""
        return any(verdict.decision == Decision.UNDECIDED for verdict in self.verdicts)

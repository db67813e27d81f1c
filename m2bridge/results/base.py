"""The base classes of results: the forms that each has, and those that hold verdicts.

A result says itself what it shows (``to_sheet``), and what machines read of it (``to_json``,
``to_macaulay2``); the other forms are written from its sheet, here for all of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from m2bridge.results import LARGEST_PAGE, MOST_TEXT, SHOWN
from m2bridge.results.sheet import Sheet, quoted, shortened
from m2bridge.results.writers import html, paper


class Result(ABC):
    """A result with its forms: text, which ``print`` shows, HTML, LaTeX, JSON and Macaulay2."""

    __slots__ = ()

    @property
    def unfinished(self) -> str:
        """The limit that was reached before all was computed; empty if none was.

        A result that may be unfinished has a field in its place, with a default.
        """
        return ""

    @abstractmethod
    def to_sheet(self) -> Sheet:
        """Return what is shown: text, HTML and LaTeX are written from it."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Return a dictionary for ``json.dumps``, in which polynomials are exact strings."""

    @abstractmethod
    def to_macaulay2(self) -> str:
        """Return the result as Macaulay2 reads it."""

    def to_text(self, most: int | None = SHOWN) -> str:
        """Return text with at most so many generators of each ideal, all of them when ``None``."""
        return self.to_sheet().text(most)

    def to_latex(self, most: int | None = SHOWN) -> str:
        r"""Return text for ``\\input`` in a paper; its first line says what the preamble needs."""
        return paper(self.to_sheet(), most)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return html(self.to_sheet())

    def _repr_latex_(self) -> str | None:
        """Return what a notebook as PDF holds, if it is short; else that holds the text."""
        text = self.to_latex()
        if len(text.encode()) > LARGEST_PAGE:
            return None
        return text

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print text in IPython, in place of ``repr``, which holds all polynomials."""
        printer.text(shortened(self.to_text(), MOST_TEXT))


def result_json(
    case: dict[str, Any] | None, field: object, engine: str | None, seconds: float
) -> dict[str, Any]:
    """The fields that every JSON result begins with."""
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


class VerdictsResult(Result):
    """A result with ``verdicts``, each of which has a :class:`Decision`."""

    __slots__ = ()

    verdicts: Sequence[Any]

    def to_macaulay2(self) -> str:
        """Return the verdicts as a Macaulay2 hash table."""
        entries = []
        for verdict in self.verdicts:
            name = quoted(verdict.name, readable=True)
            entries.append(f"{name} => {quoted(verdict.decision)}")
        return f"verdicts = hashTable {{{', '.join(entries)}}}"

    @property
    def refuted(self) -> bool:
        """Whether some statement was refuted."""
        return any(verdict.decision == Decision.REFUTED for verdict in self.verdicts)

    @property
    def undecided(self) -> bool:
        """Whether some statement was left undecided."""
        return any(verdict.decision == Decision.UNDECIDED for verdict in self.verdicts)

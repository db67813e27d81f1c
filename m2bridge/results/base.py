"""What results have in common: they can be shown. How is written in the room ``presentation``, a file for each
result (``sheet``) and for each form (``written``)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from m2bridge.results.sheet import SHOWN, duration, shortened

if TYPE_CHECKING:
    from m2bridge.results.sheet import Sheet


MOST_TEXT = 30_000
"""Characters that a notebook shows of a text."""


class Presented:
    """A result with a text, HTML, LaTeX, JSON and Macaulay2 form; ``print(result)`` shows the text.

    Subclasses implement :meth:`to_sheet`, :meth:`to_json` and :meth:`to_macaulay2`.
    """

    __slots__ = ()

    presentation: ClassVar[str] = ""  # the module whose functions do it, of results that do not implement them

    def to_text(self, most: int | None = SHOWN) -> str:
        """For a person at a terminal; at most so many generators of each ideal, all of them when ``None``."""
        return self.to_sheet().text(most)

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``; polynomials are exact strings in the coordinates' names."""
        form: dict[str, Any] = self._shown("json")
        return form

    def to_latex(self, most: int | None = SHOWN) -> str:
        r"""For a paper: text for ``\\input``, whose lines fit; what the preamble needs is said at the top."""
        return str(_written("latex", self.to_sheet(), most))

    def to_macaulay2(self) -> str:
        """As Macaulay2 reads it."""
        return str(self._shown("macaulay2"))

    def to_sheet(self) -> Sheet:
        """What is shown, before it is written in any form."""
        sheet: Sheet = self._shown("sheet")
        return sheet

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return str(_written("html", self.to_sheet()))

    def _repr_latex_(self) -> str:
        return str(_written("formula", self.to_sheet()))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """For IPython, in place of ``repr``, which holds all polynomials."""
        printer.text(shortened(self.to_text(), MOST_TEXT))

    def _shown(self, form: str) -> Any:
        return getattr(import_module(self.presentation), form)(self)


def _written(form: str, sheet: Sheet, *options: Any) -> Any:
    return import_module(f"m2bridge.results.{form}").written(sheet, *options)


def result_json(case: dict[str, Any] | None, field: object, engine: str | None, seconds: float) -> dict[str, Any]:
    """The fields that every JSON result begins with."""
    return {"case": case, "field": str(field), "engine": {"version": engine}, "seconds": round(seconds, 3)}


def computed_by(engine: str | None, seconds: float, method: str = "") -> str:
    """Who did the work, how, and how long it took."""
    worker = f"Macaulay2 {engine}" if engine else "exact linear algebra (FLINT)"
    return ", ".join(filter(None, (worker, method, duration(seconds))))


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


class Decided:
    """A result with ``verdicts``, each of which has a :class:`Decision`."""

    __slots__ = ()

    verdicts: Sequence[Any]

    @property
    def refuted(self) -> bool:
        """Whether some statement was refuted."""
        return any(verdict.decision == Decision.REFUTED for verdict in self.verdicts)

    @property
    def undecided(self) -> bool:
        """Whether some statement was left undecided."""
        return any(verdict.decision == Decision.UNDECIDED for verdict in self.verdicts)

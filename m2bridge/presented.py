"""What results have in common: they can be shown. How is written in the room ``presentation``, a file for each."""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar

from m2bridge.layout import duration


class Presented:
    """A result with a text, LaTeX, JSON and Macaulay2 form; ``print(result)`` shows the text.

    A class names the module with the functions ``text``, ``json``, ``latex`` and ``macaulay2`` that show it. The module
    is imported when something is shown, so that results know nothing of their forms.
    """

    __slots__ = ()

    presentation: ClassVar[str]

    def to_text(self) -> str:
        """For a person at a terminal."""
        return str(self._shown("text"))

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``; polynomials are exact strings in the coordinates' names."""
        form: dict[str, Any] = self._shown("json")
        return form

    def to_latex(self) -> str:
        """For a paper."""
        return str(self._shown("latex"))

    def to_macaulay2(self) -> str:
        """As Macaulay2 reads it."""
        return str(self._shown("macaulay2"))

    def __str__(self) -> str:
        return self.to_text()

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.to_latex()}$"

    def _shown(self, form: str) -> Any:
        return getattr(import_module(self.presentation), form)(self)


def result_json(case: dict[str, Any] | None, field: object, engine: str | None, seconds: float) -> dict[str, Any]:
    """The fields that every JSON result begins with."""
    return {"case": case, "field": str(field), "engine": {"version": engine}, "seconds": round(seconds, 3)}


def computed_by(engine: str | None, seconds: float, method: str = "") -> str:
    """Who did the work, how, and how long it took."""
    worker = f"Macaulay2 {engine}" if engine else "exact linear algebra (FLINT)"
    return ", ".join(filter(None, (worker, method, duration(seconds))))

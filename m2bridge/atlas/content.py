"""What an atlas holds. Every value comes from a certificate, which is named with it."""

from __future__ import annotations

from dataclasses import dataclass

from m2bridge.report.content import VERDICTS, Case, Problem, Row, Table

CLOSURE = "closure"
"""The question whose answer has the invariants of a Zariski closure; without an answer it says why they are missing."""
EQUATIONS = "equations"
"""The question whose answer has these up to a degree."""


@dataclass(frozen=True, slots=True)
class Value:
    """A fact about a case.

    Parameters
    ----------
    name : str
    text : str
        Empty if no certificate says it.
    source : str
        The file of the certificate that says it.
    reason : str
        Why there is none, where a batch says so.
    """

    name: str
    text: str
    source: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A certificate to download."""

    question: str
    file: str
    digest: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """A case.

    Parameters
    ----------
    case : Case
    values : tuple of Value
        Dimension, degree and so on, in the same order for all cases.
    orbits : Table or None
        Facts about each orbit.
    singular : tuple of Value
        What is known of the singular locus.
    generators : tuple of str
        Of the ideal of the closure.
    rows : tuple of Row
        The verdicts; what has no answer is among them.
    sources : tuple of Source
    trusted : tuple of str
        Lemmas and computations on which some certificate rests.
    """

    case: Case
    values: tuple[Value, ...]
    orbits: Table | None
    singular: tuple[Value, ...]
    generators: tuple[str, ...]
    rows: tuple[Row, ...]
    sources: tuple[Source, ...]
    trusted: tuple[str, ...]

    @property
    def file(self) -> str:
        """Of its page."""
        return f"{self.case.name}.html"

    @property
    def verdict(self) -> str:
        """The first of the verdicts, in the order of a report, that some statement has, else of the equations."""
        stated = [row for row in self.rows if row.question not in (CLOSURE, EQUATIONS)] or self.rows
        return min((row.verdict for row in stated), key=VERDICTS.index)

    @property
    def equations(self) -> bool:
        """Whether the equations up to a degree are known."""
        return any(source.question == EQUATIONS for source in self.sources)

    def text(self, name: str) -> str:
        """Of the value with this name."""
        return next(value.text for value in self.values if value.name == name)


@dataclass(frozen=True, slots=True)
class Atlas:
    """All cases, in order, and the files that could not be used."""

    sheets: tuple[Sheet, ...]
    problems: tuple[Problem, ...]

"""The content of an atlas. Every value comes from a certificate, which is named with it."""

from collections.abc import Iterable
from dataclasses import dataclass

from m2bridge.reports.content import VERDICTS, Case, Cell, Problem, Row, Table

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
        """The name of its page."""
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
        """The text of the value with this name."""
        return next(value.text for value in self.values if value.name == name)


@dataclass(frozen=True, slots=True)
class Atlas:
    """All cases, in order, and the files that could not be used."""

    sheets: tuple[Sheet, ...]
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """The cases that differ in two numbers only.

    Parameters
    ----------
    caption : str
        The other numbers: ``a = 2, t = 2``.
    down, across : str
        How the two are called.
    columns : tuple of int or str
    lines : tuple
        For each line its number, and the case in each column, or ``None``.
    """

    caption: str
    down: str
    across: str
    columns: tuple[Cell, ...]
    lines: tuple[tuple[Cell, tuple[Sheet | None, ...]], ...]


def grids(sheets: Iterable[Sheet]) -> tuple[tuple[Grid, ...], tuple[Sheet, ...]]:
    """All grids, and the cases that fewer than two numbers name."""
    groups: dict[tuple[object, ...], list[Sheet]] = {}
    alone = []
    for sheet in sheets:
        if len(sheet.case.options) < 2:
            alone.append(sheet)
        else:
            headings = tuple(heading for _, heading, _ in sheet.case.options)
            groups.setdefault((sheet.case.family, headings, sheet.case.cells[2:]), []).append(sheet)
    return tuple(_grid(group) for _, group in sorted(groups.items(), key=lambda item: repr(item[0]))), tuple(alone)


def _grid(sheets: list[Sheet]) -> Grid:
    (_, down, _), (_, across, _), *others = sheets[0].case.options
    placed = {sheet.case.cells[:2]: sheet for sheet in sheets}
    numbers, columns = (_sorted({cells[place] for cells in placed}) for place in (0, 1))
    lines = tuple((number, tuple(placed.get((number, column)) for column in columns)) for number in numbers)
    return Grid(", ".join(f"{heading} = {value}" for _, heading, value in others), down, across, columns, lines)


def _sorted(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    return tuple(sorted(cells, key=lambda cell: (isinstance(cell, str), cell)))

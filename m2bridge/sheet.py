"""What a result shows, before it is written as text, HTML or LaTeX: a title and blocks. No mathematics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from m2bridge.layout import facts, first_terms, table

SHOWN = 12
"""How many polynomials are written of each ideal, unless all are asked for."""

WIDTH = 240
"""Characters of a polynomial that are written, unless all is asked for."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A value with a form of its own in LaTeX, in mathematics."""

    text: str
    latex: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values; what is ``None`` is left out."""

    rows: Sequence[tuple[str, object]]

    @property
    def known(self) -> list[tuple[str, object]]:
        """The rows that have a value."""
        return [(name, value) for name, value in self.rows if value is not None]

    def text(self, most: int | None) -> str:
        """Aligned lines."""
        return facts(self.rows)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a header."""

    header: Sequence[str]
    rows: Sequence[Sequence[object]]
    caption: str = ""

    def text(self, most: int | None) -> str:
        """Aligned columns, after an empty line."""
        caption = f"  {self.caption}\n" if self.caption else ""
        return f"\n{caption}{table(self.header, self.rows)}"


@dataclass(frozen=True, slots=True)
class Polynomials:
    """Generators of an ideal, in Python's notation.

    Parameters
    ----------
    number : int
        How many there are.
    texts : callable
        Writes one after the other, for there may be tens of thousands.
    caption : str
    """

    number: int
    texts: Callable[[], Iterable[str]]
    caption: str = ""

    def first(self, most: int | None) -> list[str]:
        """As many as are asked for."""
        return list(islice(self.texts(), most))

    def text(self, most: int | None) -> str:
        """A line for each; long ones without their end, unless all are asked for."""
        written = self.first(most)
        lines = [f"\n  {self.caption}"] if self.caption else []
        lines += [f"    {text if most is None else first_terms(text, WIDTH)}" for text in written]
        if self.number > len(written):
            lines.append(f"    … and {self.number - len(written)} more (--all or --json shows all of them)")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict on a statement, and what it rests on."""

    verdict: str
    name: str
    said: str
    grounds: Sequence[str] = ()
    remarks: Sequence[str] = ()

    def text(self) -> str:
        """The verdict at the left, the rest indented."""
        lines = [f"  {self.verdict:<14}  {self.name}: {self.said}"]
        lines += [f"  {'':14}  → {ground}" for ground in self.grounds]
        return "\n".join([*lines, *(f"  {'':14}  {remark}" for remark in self.remarks)])


@dataclass(frozen=True, slots=True)
class Findings:
    """Verdicts."""

    rows: Sequence[Finding]

    def text(self, most: int | None) -> str:
        """One after the other, after an empty line."""
        return "\n".join(["", *(finding.text() for finding in self.rows)])


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG file, for those that can show it."""

    svg: Callable[[], str]

    def text(self, most: int | None) -> None:
        """Nothing."""
        return


Block: TypeAlias = Facts | Table | Polynomials | Findings | Picture


@dataclass(frozen=True, slots=True)
class Sheet:
    """A title and blocks.

    Parameters
    ----------
    title : str
    blocks : sequence of Block
    formulas : sequence of str
        The answer in LaTeX, in mathematics that MathJax and KaTeX know too.
    """

    title: str
    blocks: Sequence[Block]
    formulas: Sequence[str] = ()

    def text(self, most: int | None = SHOWN) -> str:
        """For a terminal; at most so many polynomials of each ideal, all of them when ``None``."""
        written = [self.title, *(block.text(most) for block in self.blocks)]
        return "\n".join(part for part in written if part)

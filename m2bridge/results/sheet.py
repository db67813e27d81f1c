"""The layout of results for people: tables, lists of facts, durations, lines of text. No
mathematics.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeAlias

SHOWN = 12
"""How many polynomials are written of each ideal, unless all are asked for."""


def plural(count: int, noun: str) -> str:
    """``1 quadric``, ``5 quadrics``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def printable(text: str) -> str:
    """The text on one line that prints as it is: spaces for line breaks, control and formatting
    characters.
    """
    return "".join(character if character.isprintable() else " " for character in text)


def visible(text: str) -> str:
    """The text with the numbers of characters that are not printed, and may command a terminal, in
    their place.
    """
    if text.isprintable():
        return text
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text
    )


def quoted(text: str | bytes | Path, *, readable: bool = False) -> str:
    """A string of Macaulay2: the one way in which text enters its programs, other than in a
    comment.

    Parameters
    ----------
    readable : bool
        Whether letters and signs of any alphabet stay as they are. Otherwise it is ASCII, as files
        and terminals have it: strings of Macaulay2 are bytes.
    """
    if readable:
        return '"' + "".join(map(_sign, os.fsdecode(text))) + '"'
    return f'"{_escaped(os.fsencode(text))}"'


def _sign(sign: str) -> str:
    if sign.isprintable() and not sign.isascii():
        return sign
    return _escaped(sign.encode("utf-8", "surrogatepass"))


def _escaped(text: bytes) -> str:
    return re.sub(rb"[^ !#-\[\]-~]", lambda byte: b"\\%03o" % byte[0][0], text).decode()


def visible_lines(text: str) -> str:
    """The lines of a text, each as :func:`visible` writes it."""
    return "\n".join(map(visible, text.split("\n")))


def line(text: str) -> str:
    """Text on one line, whatever it holds."""
    return visible(" ".join(text.split()))


def shortened(text: str, most: int = 600) -> str:
    """The text without its middle, if it is longer."""
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 2 :]}"


def first_terms(text: str, width: int) -> str:
    """The first terms of a polynomial that is written out, if it does not fit in ``width``
    characters.
    """
    if len(text) <= width:
        return text
    end = max(text.rfind(" + ", 0, width), text.rfind(" - ", 0, width))
    terms = 1 + text.count(" + ") + text.count(" - ")
    return f"{text[: max(end, 0)]} …  ({plural(terms, 'term')})"


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Aligned columns under a header; numbers to the right, words to the left."""
    lines = [list(map(str, header)), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    right = numeric(lines[1:]) or [False] * len(header)

    def aligned(line: list[str]) -> str:
        cells = (
            c.rjust(w) if number else c.ljust(w)
            for c, w, number in zip(line, widths, right, strict=True)
        )
        return "  " + "   ".join(cells).rstrip()

    rule = "  " + "   ".join("─" * width for width in widths)
    return "\n".join([aligned(lines[0]), rule, *map(aligned, lines[1:])])


def numeric(lines: Sequence[Sequence[str]]) -> list[bool]:
    """Whether each column has numbers only, or dashes for those that are not known."""
    return [
        all(re.fullmatch(r"-?\d+|–", cell) for cell in column)
        for column in zip(*lines, strict=True)
    ]


def duration(seconds: float) -> str:
    """``0.4 s``, ``59 s``, ``3 min 20 s``, ``2 h 5 min``; rounded, and then divided."""
    if seconds < 9.95:
        return f"{seconds:.2g} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min"


def computed_by(engine: str | None, seconds: float, method: str = "") -> str:
    """The line that says who did the work, how, and how long it took."""
    worker = f"Macaulay2 {engine}" if engine else "exact linear algebra (FLINT)"
    return ", ".join(filter(None, (worker, method, duration(seconds))))


def matrix_text(matrix: Sequence[Sequence[object]]) -> str:
    """``(1 0; 0 1)``."""
    return "(" + "; ".join(" ".join(map(str, row)) for row in matrix) + ")"


def value_text(value: object) -> str:
    """``yes`` and ``no`` for truth values, ``(1, 2, 0)`` for lists, names of parts, a dash for
    nothing.
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return f"({', '.join(map(value_text, value))})"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {value_text(inner)}" for name, inner in value.items())
    return str(value)


def name_with_part(name: str, part: str) -> str:
    """``3.4 (iii)``."""
    return f"{name} ({part})" if part else name


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
    def pairs(self) -> list[tuple[str, object]]:
        """The rows that have a value."""
        return [(name, value) for name, value in self.rows if value is not None]

    def text(self, most: int | None) -> str:
        """Aligned ``name   value`` lines."""
        width = max((len(name) for name, _ in self.pairs), default=0)
        return "\n".join(f"  {name.ljust(width)}   {value}" for name, value in self.pairs)


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
        """Return the first polynomials, at most so many."""
        return list(islice(self.texts(), most))

    def text(self, most: int | None) -> str:
        """A line for each; long ones without their end, unless all are asked for."""
        written = self.first(most)
        lines = [f"\n  {self.caption}"] if self.caption else []
        lines += [f"    {text if most is None else first_terms(text, WIDTH)}" for text in written]
        if self.number > len(written):
            lines.append(
                f"    … and {self.number - len(written)} more (--all or --json shows all of them)"
            )
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict on a statement, and what it rests on."""

    verdict: str
    name: str
    sentence: str
    grounds: Sequence[str] = ()
    remarks: Sequence[str] = ()

    @property
    def lines(self) -> list[str]:
        """All but the verdict."""
        return [
            f"{self.name}: {self.sentence}",
            *(f"→ {ground}" for ground in self.grounds),
            *self.remarks,
        ]

    def text(self) -> str:
        """The verdict at the left, the rest indented."""
        return "\n".join(
            f"  {'' if i else self.verdict:14}  {line}" for i, line in enumerate(self.lines)
        )


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
        """Return text for a terminal; at most so many polynomials of each ideal, all of them when
        ``None``.
        """
        written = [self.title, *(block.text(most) for block in self.blocks)]
        # What comes from files, such as names, commands no terminal.
        return visible_lines("\n".join(part for part in written if part))

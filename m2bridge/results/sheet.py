"""The layout of results for people: a sheet is a title and blocks, each of which has its text.

Here stand words and lines too: durations, plurals, text that commands no terminal, strings of
Macaulay2. There is no mathematics; polynomials come as texts.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from m2bridge.results import SHOWN, WIDTH


def plural(count: int, noun: str) -> str:
    """``1 quadric``, ``5 quadrics``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def printable(text: str) -> str:
    """The text on one line, with spaces for line breaks, control and formatting characters."""
    return "".join(character if character.isprintable() else " " for character in text)


def visible(text: str) -> str:
    """The text with the numbers of characters that may command a terminal in their place."""
    if text.isprintable():  # most are, and some have megabytes
        return text
    signs = []
    for sign in text:
        if not sign.isprintable():
            sign = sign.encode("unicode_escape").decode()
        signs.append(sign)
    return "".join(signs)


def quoted(text: str | bytes | Path, *, readable: bool = False) -> str:
    """A string of Macaulay2, the one way in which text enters its programs besides comments.

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
    if len(text) <= most:
        return text
    return f"{text[: most // 2]} … {text[-most // 2 :]}"


def first_terms(text: str, width: int) -> str:
    """The first terms of a polynomial, if the whole does not fit in ``width`` characters."""
    if len(text) <= width:
        return text
    end = max(text.rfind(" + ", 0, width), text.rfind(" - ", 0, width))
    terms = 1 + text.count(" + ") + text.count(" - ")
    return f"{text[: max(end, 0)]} …  ({plural(terms, 'term')})"


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Aligned columns under a header; numbers to the right, words to the left."""
    names = list(map(str, header))
    lines = [[str(cell) for cell in row] for row in rows]
    right = numeric(lines, len(names))
    columns = []
    for column, is_numeric in zip(zip(names, *lines, strict=True), right, strict=True):
        width = max(map(len, column))
        align = str.rjust if is_numeric else str.ljust
        columns.append([align(cell, width) for cell in column])
    head, *body = ["  " + "   ".join(cells).rstrip() for cells in zip(*columns, strict=True)]
    rule = "  " + "   ".join("─" * len(column[0]) for column in columns)
    return "\n".join([head, rule, *body])


def numeric(lines: Sequence[Sequence[str]], columns: int) -> list[bool]:
    """Whether each of so many columns has numbers only, or dashes for those that are not known."""
    if not lines:
        return [False] * columns
    return [all(map(_NUMBER.fullmatch, column)) for column in zip(*lines, strict=True)]


_NUMBER = re.compile(r"-?\d+|–")


def duration(seconds: float) -> str:
    """``0.4 s``, ``59 s``, ``3 min 20 s``, ``2 h 5 min``; rounded, and then divided.

    What takes less than a tenth of a second takes another time at each run, so that is all it says.
    """
    if seconds < 0.1:
        return "less than 0.1 s"
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
    worker = "exact linear algebra (FLINT)"
    if engine:
        worker = f"Macaulay2 {engine}"
    return ", ".join(filter(None, (worker, method, duration(seconds))))


def matrix_text(matrix: Sequence[Sequence[object]]) -> str:
    """``(1 0; 0 1)``."""
    return "(" + "; ".join(" ".join(map(str, row)) for row in matrix) + ")"


def value_text(value: object) -> str:
    """``yes``, ``no``, ``(1, 2, 0)`` for a list, ``a = 1, b = 2`` for parts, a dash for nothing."""
    if value is None:
        return "–"
    if value is True:
        return "yes"
    if value is False:
        return "no"
    if isinstance(value, list):
        return f"({', '.join(map(value_text, value))})"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {value_text(inner)}" for name, inner in value.items())
    return str(value)


def name_with_part(name: str, part: str) -> str:
    """``3.4 (iii)``."""
    if not part:
        return name
    return f"{name} ({part})"


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
    caption: str = ""

    @property
    def pairs(self) -> list[tuple[str, object]]:
        """The rows that have a value."""
        return [(name, value) for name, value in self.rows if value is not None]

    def text(self, most: int | None) -> str:
        """Aligned ``name   value`` lines, under the caption if there is one."""
        width = max((len(name) for name, _ in self.pairs), default=0)
        lines = [f"  {name.ljust(width)}   {value}" for name, value in self.pairs]
        if not lines:
            return ""
        return "\n".join([*_heading(self.caption), *lines])


def _heading(caption: str) -> list[str]:
    """An empty line and the caption, if there is one."""
    if not caption:
        return []
    return ["", f"  {caption}"]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a header."""

    header: Sequence[str]
    rows: Sequence[Sequence[object]]
    caption: str = ""

    def text(self, most: int | None) -> str:
        """Aligned columns, after an empty line."""
        heading = _heading(self.caption) or [""]
        return "\n".join([*heading, table(self.header, self.rows)])


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
        lines = _heading(self.caption)
        for text in written:
            if most is not None:
                text = first_terms(text, WIDTH)
            lines.append(f"    {text}")
        left_out = self.number - len(written)
        if left_out > 0:
            lines.append(f"    … and {left_out} more (--all or --json shows all of them)")
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
        first, *rest = self.lines
        indent = " " * 18
        return "\n".join([f"  {self.verdict:14}  {first}", *(indent + line for line in rest)])


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
        """Return text with at most so many polynomials of each ideal, all of them when ``None``."""
        written = [self.title, *(block.text(most) for block in self.blocks)]
        # What comes from files, such as names, commands no terminal.
        return visible_lines("\n".join(part for part in written if part))

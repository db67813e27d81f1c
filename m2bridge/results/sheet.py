"""The content of results for people: a sheet is a title and blocks, each of which has a text.

This file also has text utilities: durations, plurals, text that is safe for terminals, strings and
lists of Macaulay2. It has no mathematics; polynomials are given as text.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from textwrap import wrap
from typing import TypeAlias

from m2bridge.results import MAX_POLYNOMIAL_CHARS, MAX_SHOWN_GENERATORS


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: ``1 quadric``, ``5 quadrics``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def enumeration(items: Sequence[str], word: str = "and") -> str:
    """Return items in one phrase: ``a``, ``a and b``, ``a, b and c``; empty if there is none."""
    *first, last = items or [""]  # at least one item, which may be empty
    return f"{', '.join(first)} {word} {last}" if first else last


def printable(text: str) -> str:
    """Return text on one line; line breaks, control and formatting characters become spaces."""
    return "".join(character if character.isprintable() else " " for character in text)


def visible(text: str) -> str:
    r"""Return text in which all characters that are not printable, and may control a terminal, are
    escaped: ``\n`` for a line break.
    """
    if text.isprintable():  # most texts are, and some have megabytes
        return text
    characters = []
    for character in text:
        if not character.isprintable():
            character = character.encode("unicode_escape").decode()
        characters.append(character)
    return "".join(characters)


def quoted(text: str | bytes | Path, *, readable: bool = False) -> str:
    """Return a Macaulay2 string; all text enters programs in this way, or in comments. It is ASCII,
    with the bytes of UTF-8 escaped, unless ``readable`` keeps printable characters of any alphabet.
    """
    if not readable:
        return f'"{_escape_bytes(os.fsencode(text))}"'
    characters = []
    for character in os.fsdecode(text):
        # of ASCII characters the printable ones stay, but quotes and backslashes
        if character.isascii() or not character.isprintable():
            character = _escape_bytes(character.encode("utf-8", "surrogatepass"))
        characters.append(character)
    return f'"{"".join(characters)}"'


def m2_list(items: Iterable[object]) -> str:
    """Return a list of Macaulay2 of items that are numbers or code, such as ``{1, 2}``."""
    return "{" + ", ".join(map(str, items)) + "}"


_ESCAPED_BYTE = re.compile(rb'[^ -~]|["\\]')
"""A byte that is not printable ASCII, a quote or a backslash."""


def _escape_bytes(text: bytes) -> str:
    r"""Return bytes as they stand inside a string of Macaulay2: printable ASCII stays, and all
    others, quotes and backslashes become ``\ooo``, in octal.
    """

    def in_octal(match: re.Match[bytes]) -> bytes:
        """The byte that matches, by its number of three octal digits."""
        (number,) = match[0]
        return b"\\%03o" % number

    return _ESCAPED_BYTE.sub(in_octal, text).decode()


def visible_lines(text: str) -> str:
    """Return text with :func:`visible` applied to each line."""
    return "\n".join(map(visible, text.split("\n")))


def line(text: str) -> str:
    """Return text on one line, safe for a terminal."""
    return visible(" ".join(text.split()))


MAX_REPR_CHARS = 200
"""Characters of the ``repr`` of a result: one or two lines, as a prompt shows it."""


def in_brackets(value: object, *names: str) -> str:
    """Return the ``repr`` of a value on one line: its class, and its attributes of these names."""
    attributes = ", ".join(f"{name}={getattr(value, name)!r}" for name in names)
    return shortened(line(f"<{type(value).__name__} {attributes}>"), MAX_REPR_CHARS)


def shortened(text: str, most: int = 600) -> str:
    """Return text; of one with more than ``most`` characters only the two ends, with an ellipsis
    between.
    """
    if len(text) <= most:
        return text
    return f"{text[: most // 2]} … {text[-most // 2 :]}"


def split_terms(text: str, width: int) -> tuple[str, str]:
    """Return the first terms of a polynomial in at most ``width`` characters, and the number of
    all, as ``(5 terms)``; the number is empty if these are all.
    """
    if len(text) <= width:
        return text, ""
    # Signs in brackets belong to a coefficient, as in (a + 1)*x.
    without_brackets = _with_dots_for_brackets(text)
    end = max(without_brackets.rfind(" + ", 0, width), without_brackets.rfind(" - ", 0, width))
    terms = 1 + without_brackets.count(" + ") + without_brackets.count(" - ")
    # −1 says that no sign is within the width: the first term is too long, and no term is shown.
    return text[: max(end, 0)], f"({plural(terms, 'term')})"


def first_terms(text: str, width: int) -> str:
    """Return :func:`split_terms` as one text: ``x + y …  (5 terms)``."""
    shown_terms, number = split_terms(text, width)
    return f"{shown_terms} …  {number}" if number else shown_terms


_INNERMOST_BRACKETS = re.compile(r"\([^()]*\)")


def _with_dots_for_brackets(text: str) -> str:
    """Return a text of the same length with a dot for each character of all brackets ``(…)``."""
    text_before = ""
    # Each step replaces the innermost brackets that are left, until a step changes nothing.
    while text != text_before:
        text_before = text
        text = _INNERMOST_BRACKETS.sub(lambda brackets: "." * len(brackets[0]), text)
    return text


def statement_sort_key(name: str) -> tuple[str, bool, str]:
    """Return a key that sorts names of statements; a part "otherwise" comes after all others."""
    statement, _, part = name.partition(" (")
    return statement, part == "otherwise)", part


def table(header: Sequence[str], rows: Iterable[Sequence[object]], most: int | None = None) -> str:
    """Return aligned columns under a header, numbers to the right, words to the left; cells of more
    than ``most`` characters are broken at blanks.
    """
    names = list(map(str, header))
    lines = [[str(cell) for cell in row] for row in rows]
    are_numeric = numeric(lines, len(names))
    if most is not None:
        lines = list(_wrap_cells(lines, most))
    # the columns, each with its name first, filled up to their widths with blanks
    columns = zip(names, *lines, strict=True)
    aligned = []
    for column, is_numeric in zip(columns, are_numeric, strict=True):
        width = max(map(len, column))
        align = str.rjust if is_numeric else str.ljust
        aligned.append([align(cell, width) for cell in column])
    # and then the lines again, the first of which is the header
    head, *body = ["  " + "   ".join(cells).rstrip() for cells in zip(*aligned, strict=True)]
    rule = "  " + "   ".join("─" * len(column[0]) for column in aligned)
    return "\n".join([head, rule, *body])


def _wrap_cells(rows: Iterable[Sequence[str]], most: int) -> Iterator[list[str]]:
    """Yield the lines of each row, several if a cell has more than ``most`` characters: ``("a b",
    "c")`` with ``most`` 2 has the lines ``["a", "c"]`` and ``["b", ""]``.
    """
    for row in rows:
        lines_of_cells = []
        for cell in row:
            lines = [cell]
            if len(cell) > most:
                lines = wrap(cell, most, break_long_words=False, break_on_hyphens=False)
            lines_of_cells.append(lines)
        for line in zip_longest(*lines_of_cells, fillvalue=""):
            yield list(line)


def numeric(lines: Sequence[Sequence[str]], columns: int) -> list[bool]:
    """Return for each column whether it contains only integers, or dashes for unknown ones; without
    lines none does.
    """
    if not lines:
        return [False] * columns
    return [all(map(_NUMBER.fullmatch, column)) for column in zip(*lines, strict=True)]


_NUMBER = re.compile(r"-?\d+|–")
"""An integer in a table, or the dash for one that is not known."""


def duration(seconds: float) -> str:
    """Return a rounded duration: ``0.4 s``, ``3 min 20 s``, ``2 h 5 min``; below a tenth of a
    second it varies from run to run, so its value is not shown.
    """
    if seconds < 0.1:
        return "less than 0.1 s"
    if seconds < 9.95:  # two digits, which would round more to 10 s
        return f"{seconds:.2g} s"
    whole_seconds = round(seconds)
    if whole_seconds < 60:
        return f"{whole_seconds} s"
    if whole_seconds < 3600:
        return f"{whole_seconds // 60} min {whole_seconds % 60} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min"


def computed_by(engine: str | None, seconds: float, method: str = "") -> str:
    """Return the program, the method and the duration of a computation in words; ``engine`` is the
    version of Macaulay2, ``None`` if FLINT computed.
    """
    program = "exact linear algebra (FLINT)"
    if engine:
        program = f"Macaulay2 {engine}"
    return ", ".join(filter(None, (program, method, duration(seconds))))


def matrix_text(matrix: Sequence[Sequence[object]]) -> str:
    """Return a matrix on one line: ``(1 0; 0 1)``."""
    return "(" + "; ".join(" ".join(map(str, row)) for row in matrix) + ")"


def value_text(value: object) -> str:
    """Return a value as text: ``yes``, ``(1, 2, 0)``, ``a = 1, b = 2``, a dash for ``None``."""
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


def with_article(title: str) -> str:
    """Return the title of a variety inside a sentence: ``the cubic``, but ``V(x, y)``."""
    return title if title.startswith("V(") else f"the {title}"


def name_with_part(name: str, part: str) -> str:
    """Return the name of a statement with its part, if any: ``3.4 (iii)``."""
    if not part:
        return name
    return f"{name} ({part})"


@dataclass(frozen=True, slots=True)
class Formula:
    """A value with a text and a LaTeX formula."""

    text: str
    latex: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Facts:
    """A block of names and values; values ``None`` are omitted."""

    rows: Sequence[tuple[str, object]]
    caption: str = ""

    @property
    def pairs(self) -> list[tuple[str, object]]:
        """The rows that have a value."""
        return [(name, value) for name, value in self.rows if value is not None]

    def text(self, most: int | None) -> str:
        """Return aligned lines ``name   value`` under the caption; empty without facts, ``most``
        has no effect.
        """
        width = max((len(name) for name, _ in self.pairs), default=0)
        lines = [f"  {name.ljust(width)}   {value}" for name, value in self.pairs]
        if not lines:
            return ""
        return "\n".join([*_heading(self.caption), *lines])


def _heading(caption: str) -> list[str]:
    """Return an empty line and the caption; nothing if there is no caption."""
    if not caption:
        return []
    return ["", f"  {caption}"]


@dataclass(frozen=True, slots=True)
class Table:
    """A block with rows under a header."""

    header: Sequence[str]
    rows: Sequence[Sequence[object]]
    caption: str = ""

    def text(self, most: int | None) -> str:
        """Return aligned columns below an empty line and the caption; ``most`` has no effect."""
        heading = _heading(self.caption) or [""]
        # longer cells, such as ideals, continue on the next line
        return "\n".join([*heading, table(self.header, self.rows, most=80)])


@dataclass(frozen=True, slots=True)
class Polynomials:
    """A block with generators of an ideal, in Python's notation."""

    number: int
    texts: Callable[[], Iterable[str]]  # at each call all texts, perhaps tens of thousands
    caption: str = ""

    def first(self, most: int | None) -> list[str]:
        """Return the first ``most`` polynomials; ``None`` means all."""
        return list(islice(self.texts(), most))

    def text(self, most: int | None) -> str:
        """Return a line for each of the first ``most`` polynomials, shortened, and how many more
        there are; ``None`` means all, in full.
        """
        texts = self.first(most)
        lines = _heading(self.caption)
        for text in texts:
            if most is not None:
                text = first_terms(text, MAX_POLYNOMIAL_CHARS)
            lines.append(f"    {text}")
        left_out = self.number - len(texts)
        if left_out > 0:
            lines.append(f"    … and {left_out} more (--all or --json shows all of them)")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict on a statement, such as ``CONFIRMED``, and its grounds."""

    verdict: str
    name: str
    sentence: str
    grounds: Sequence[str] = ()
    remarks: Sequence[str] = ()

    @property
    def lines(self) -> list[str]:
        """The lines to the right of the verdict: the statement, its grounds, remarks."""
        return [
            f"{self.name}: {self.sentence}",
            *(f"→ {ground}" for ground in self.grounds),
            *self.remarks,
        ]

    def text(self) -> str:
        """Return the verdict at the left, and the other lines indented."""
        first, *other_lines = self.lines
        # two blanks, a verdict in 14 characters, two blanks
        indent = " " * 18
        return "\n".join(
            [f"  {self.verdict:14}  {first}", *(indent + line for line in other_lines)]
        )


@dataclass(frozen=True, slots=True)
class Findings:
    """A block of verdicts."""

    rows: Sequence[Finding]

    def text(self, most: int | None) -> str:
        """Return the verdicts one after the other, after an empty line; ``most`` has no effect."""
        return "\n".join(["", *(finding.text() for finding in self.rows)])


@dataclass(frozen=True, slots=True)
class Picture:
    """A block with a picture, which only HTML shows."""

    svg: Callable[[], str]  # returns the empty text where it cannot be drawn

    def text(self, most: int | None) -> None:
        """Return ``None``: a picture has no text; ``most`` has no effect."""
        return


Block: TypeAlias = Facts | Table | Polynomials | Findings | Picture


@dataclass(frozen=True, slots=True)
class Sheet:
    """The content of a result: a title and blocks."""

    title: str
    blocks: Sequence[Block]
    formulas: Sequence[str] = ()  # the answer in LaTeX that MathJax and KaTeX support too

    def text(self, most: int | None = MAX_SHOWN_GENERATORS) -> str:
        """Return text with at most ``most`` polynomials of each ideal; ``None`` means all."""
        parts = [self.title, *(block.text(most) for block in self.blocks)]
        # Names from files may contain characters that control a terminal.
        return visible_lines("\n".join(part for part in parts if part))

"""How results are laid out for people: tables, lists of facts, durations, lines of text. No mathematics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

SHOWN = 12
"""How many polynomials are written of each ideal, unless all are asked for."""


def plural(count: int, noun: str) -> str:
    """``1 quadric``, ``5 quadrics``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def printable(text: str) -> str:
    """The text on one line that prints as it is: spaces for line breaks, control and formatting characters."""
    return "".join(character if character.isprintable() else " " for character in text)


def visible(text: str) -> str:
    """The text with the numbers of characters that are not printed, and may command a terminal, in their place."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def line(text: str) -> str:
    """Text on one line, whatever it holds."""
    return visible(" ".join(text.split()))


def shortened(text: str, most: int = 600) -> str:
    """The text without its middle, if it is longer."""
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 2 :]}"


def first_terms(text: str, width: int) -> str:
    """The first terms of a polynomial that is written out, if it does not fit in ``width`` characters."""
    if len(text) <= width:
        return text
    end = max(text.rfind(" + ", 0, width), text.rfind(" - ", 0, width))
    terms = 1 + text.count(" + ") + text.count(" - ")
    return f"{text[: max(end, 0)]} …  ({plural(terms, 'term')})"


def table(header: Sequence[str], rows: Iterable[Sequence[object]], indent: str = "  ") -> str:
    """Aligned columns under a header; numbers to the right, words to the left."""
    lines = [list(map(str, header)), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    right = numeric(lines[1:])

    def aligned(line: list[str]) -> str:
        cells = (
            cell.rjust(width) if numbers else cell.ljust(width)
            for cell, width, numbers in zip(line, widths, right or [False] * len(line), strict=True)
        )
        return indent + "   ".join(cells).rstrip()

    rule = indent + "   ".join("─" * width for width in widths)
    return "\n".join([aligned(lines[0]), rule, *map(aligned, lines[1:])])


def numeric(lines: Sequence[Sequence[str]]) -> list[bool]:
    """For each column whether it has numbers only, or dashes for those that are not known."""
    return [all(re.fullmatch(r"-?\d+|–", cell) for cell in column) for column in zip(*lines, strict=True)]


def facts(rows: Iterable[tuple[str, object]], indent: str = "  ") -> str:
    """Aligned ``name   value`` lines; rows whose value is ``None`` are left out."""
    kept = [(name, value) for name, value in rows if value is not None]
    width = max((len(name) for name, _ in kept), default=0)
    return "\n".join(f"{indent}{name.ljust(width)}   {value}" for name, value in kept)


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


def matrix_text(matrix: Sequence[Sequence[int]]) -> str:
    """``(1 0; 0 1)``."""
    return "(" + "; ".join(" ".join(map(str, row)) for row in matrix) + ")"


def value_text(value: object) -> str:
    """``yes`` and ``no`` for truth values, ``(1, 2, 0)`` for lists, names of parts, a dash for nothing."""
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

"""Which cases: grids on the command line, files of cases, and the order in which they are run."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from m2bridge.convert.documents import read_text, read_toml
from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.families.attention.model import SingleLayerAttention

if TYPE_CHECKING:
    from _csv import Reader as CSVReader

Case = SingleLayerAttention

NAMES = ("d", "d_out", "a", "t")
MOST = 2_000_000
"""Cases of the largest batch, and numbers in one range; larger ones are a mistake or need a design of their own."""

MOST_BYTES = 10_000_000
"""Of a file of cases."""

DIGITS = 9
"""Of the largest numbers that are read."""


def numbers(option: str, text: str) -> tuple[int, ...]:
    """The numbers meant by ``3``, ``1..4``, ``1,3,5`` or ``1..3,7``, in order and without repetition.

    Raises
    ------
    InvalidCaseError
        Naming ``option``.
    """
    found: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*([0-9]+)\s*(?:\.\.\s*([0-9]+)\s*)?", part)
        if match is None:
            raise InvalidCaseError(option, f"'{part.strip():.60}' is not a range: write 3, 1..4 or 1,3,5")
        if max(map(len, filter(None, match.groups()))) > DIGITS:
            raise InvalidCaseError(option, f"'{part.strip():.60}' is too large: numbers have at most {DIGITS} digits")
        first, last = int(match[1]), int(match[2] or match[1])
        if first < 1 or last < first:
            raise InvalidCaseError(option, f"'{part.strip()}' is not a range of positive numbers")
        if len(found) + last - first >= MOST:
            raise InvalidCaseError(option, f"'{part.strip():.60}' has more than {MOST} numbers")
        found.update(range(first, last + 1))
    return tuple(sorted(found))


def grid(
    d: Iterable[int],
    d_out: Iterable[int],
    a: Iterable[int] | None = None,
    t: Iterable[int] | None = None,
    all_a: bool = False,
) -> Iterator[Case]:
    """All cases with these numbers: those with a ≤ d, or all if ``all_a``; by default a = d and t = 2."""
    ranges = tuple(map(tuple, (d, d_out, a or (0,), t or (2,))))
    if (size := prod(map(len, ranges))) > MOST:
        raise InvalidCaseError("d", f"this grid has {size} cases; at most {MOST} go into one batch")
    for numbers_d, numbers_out, rank, tokens in product(*ranges):
        if all_a or rank <= numbers_d:
            yield Case(numbers_d, numbers_out, rank or None, tokens)


def read_cases(path: Path, all_a: bool = False) -> Iterator[Case]:
    """The cases of a file.

    TOML: one table ``[[case]]`` for each case or grid, with ``d``, ``d_out`` and optionally ``a`` (default d) and ``t``
    (default 2); a value is a number, a list of numbers, or a range such as ``"1..4"``. CSV: the same names as header,
    one case or grid in each row (a list of numbers is quoted: ``"1,3"``).

    Raises
    ------
    InvalidCaseError
        If the file cannot be read or has no cases, or an entry has an unknown or missing name, a bad value, or no case
        with a ≤ d.
    """
    entries = list(_ranges(path))
    if not entries:
        raise InvalidCaseError("cases", f"{path.name}: there are no cases in it")
    for where, values in entries:
        found = list(grid(values["d"], values["d_out"], values.get("a"), values.get("t"), all_a))
        if not found:
            raise InvalidCaseError("cases", f"{where}: no case with a ≤ d; --all-a takes the others too")
        yield from found


def _ranges(path: Path) -> Iterator[tuple[str, dict[str, tuple[int, ...]]]]:
    """Place and numbers of each entry; there are not more cases than one batch takes."""
    size = 0
    for place, entry in _entries(path):
        where = f"{path.name}, {place}"
        if unknown := [name for name in entry if name not in NAMES]:
            raise InvalidCaseError("cases", f"{where}: unknown name '{unknown[0]:.60}'; known are {', '.join(NAMES)}")
        if missing := [name for name in ("d", "d_out") if name not in entry]:
            raise InvalidCaseError("cases", f"{where}: '{missing[0]}' is missing")
        values = {name: _values(where, name, value) for name, value in entry.items()}
        size += prod(map(len, values.values()))
        if size > MOST:
            raise InvalidCaseError("cases", f"{where}: more than {MOST} cases; at most so many go into one batch")
        yield where, values


def ordered(cases: Iterable[Case]) -> tuple[Case, ...]:
    """Without duplicates, and those that are expected to be short first."""
    return tuple(sorted(set(cases), key=lambda case: (effort(case), case.d, case.d_out, case.a, case.t)))


def effort(case: Case) -> int:
    """A rough measure of how long a case takes: its number of coordinates."""
    return case.coordinate_count(case.default_coordinates)


def _entries(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if path.suffix not in (".toml", ".csv"):
        raise InvalidCaseError("cases", f"'{path}' is neither a .toml nor a .csv file")
    try:
        text = read_text(path, MOST_BYTES)
    except ConversionError as reason:
        raise InvalidCaseError("cases", f"'{path}' cannot be read: {reason}") from None
    return _toml(path, text) if path.suffix == ".toml" else _csv(path, text)


def _toml(path: Path, text: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        data = read_toml(text)
    except ConversionError as reason:
        raise InvalidCaseError("cases", f"{path.name}: {reason}") from None
    tables = data.get("case")
    if data.keys() != {"case"} or not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
        raise InvalidCaseError("cases", f"{path.name}: a file of cases consists of tables [[case]] and nothing else")
    yield from ((f"case {number}", table) for number, table in enumerate(tables, 1))


def _csv(path: Path, text: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    rows = csv.reader(text.splitlines(), strict=True)
    try:
        yield from _rows(path, rows)
    except csv.Error as reason:
        message = f"{path.name}, line {rows.line_num}: not CSV ({reason}); is a quotation mark not closed?"
        raise InvalidCaseError("cases", message) from None


def _rows(path: Path, rows: CSVReader) -> Iterator[tuple[str, Mapping[str, Any]]]:
    header = [name.strip() for name in next(rows, [])]
    if len(set(header)) < len(header) or not header:
        raise InvalidCaseError("cases", f"{path.name}: the first line must name the columns, each once")
    for row in rows:
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != len(header):
            message = f"{path.name}, line {rows.line_num}: {len(row)} cells under {len(header)} names"
            raise InvalidCaseError("cases", message)
        yield f"line {rows.line_num}", {name: cell for name, cell in zip(header, row, strict=True) if cell.strip()}


def _values(where: str, name: str, value: Any) -> tuple[int, ...]:
    items = value if isinstance(value, list) else [value]
    if not items or any(isinstance(item, bool) or not isinstance(item, int | str) for item in items):
        raise InvalidCaseError("cases", f"{where}: '{name}' is not a number, a list of numbers or a range")
    try:
        return numbers(name, ",".join(map(str, items)))
    except InvalidCaseError as reason:
        raise InvalidCaseError("cases", f"{where}: {reason}") from None

"""The cases of a batch: grids on the command line, files of cases, and the order of a run.

A case is a model of a family in the registry. Its options are read as the family reads them for one
case, but each may have several values; a grid has the models of all combinations.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, islice, product
from math import prod
from pathlib import Path
from typing import Any

from m2bridge.batch import LARGEST_CASES
from m2bridge.convert.bounded_io import read_text, read_toml
from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.families.base import CaseOption, Family, read_options
from m2bridge.families.registry import family
from m2bridge.maps.model import Model

MOST_CASES = 100_000
"""Of a batch: their questions are listed and put in order in some twenty seconds."""
ADVICE = "take smaller grids, one after the other; they may have the same folder"


def grid(chosen: Family[Any], texts: Mapping[str, str | None], every: bool = False) -> list[Model]:
    """All cases with numbers as they are written on the command line: ``1..4``, ``1..3,2,1``.

    Parameters
    ----------
    chosen : Family
    texts : mapping from str to str
        Of the options of the family; ``None`` for those that were left out.
    every : bool
        Whether to take the cases too that the family leaves out of grids.

    Raises
    ------
    InvalidCaseError
        If an option is missing or wrong, a case does not exist, or there are too many, or none that
        is not left out.
    """
    ranges = read_options(chosen.options, texts, _values)
    size = _size(ranges)
    if size > MOST_CASES:
        raise InvalidCaseError(
            next(iter(ranges)),
            f"this grid has {size} cases; at most {MOST_CASES} go into one batch: {ADVICE}",
        )
    return _cases(chosen, ranges, every)


def _size(ranges: Mapping[str, tuple[Any, ...]]) -> int:
    return prod(map(len, ranges.values()))


def _cases(chosen: Family[Any], ranges: Mapping[str, tuple[Any, ...]], every: bool) -> list[Model]:
    """All combinations, but those that the family leaves out."""
    combinations = (dict(zip(ranges, values, strict=True)) for values in product(*ranges.values()))
    grids = (chosen.grid(**combination) for combination in combinations)
    models = list(islice(chain.from_iterable(grids), MOST_CASES + 1))
    if len(models) > MOST_CASES:
        raise InvalidCaseError(
            next(iter(ranges)),
            f"this grid has more than {MOST_CASES} cases, too many for one batch: {ADVICE}",
        )
    if every:
        return models
    cases = [case for case in models if not chosen.excluded_from_grids(case)]
    if not cases:
        raise InvalidCaseError(
            "a", f"no case with {chosen.grid_note}; --all-a takes the others too"
        )
    return cases


def _values(option: CaseOption, text: str) -> tuple[Any, ...]:
    if not option.flag:
        return tuple(option.values(text))
    return tuple(chain.from_iterable(map(option.values, text.split(","))))


def read_cases(path: Path, chosen: Family[Any], every: bool = False) -> Iterator[Model]:
    """The cases of a file.

    TOML: one table ``[[case]]`` for each case or grid, with the options of the family, as on the
    command line; a value is a number, a list of numbers, or a range such as ``"1..4"``; lists of
    widths and their ranges are text: ``"1..3,2,1"``; an option without a value is ``true``,
    ``false`` or a list of these. A table may name a ``family`` of its own. CSV: the same names as
    header, one case or grid in each row (a list of numbers is quoted: ``"1,3"``).

    Parameters
    ----------
    path : Path
    chosen : Family
        Of the entries that do not name one.
    every : bool
        As of :func:`grid`.

    Raises
    ------
    InvalidCaseError
        If the file cannot be read or has no cases, or an entry has an unknown or missing name, a
        bad value, or no case but such as are left out.
    """
    grids: list[tuple[str, Family[Any], dict[str, tuple[Any, ...]]]] = []
    with _named(f"'{path}' cannot be read"):
        entries = _entries(path)
    size = 0
    for place, entry in entries:
        where = f"{path.name}, {place}"
        with _named(where):
            own = chosen
            if "family" in entry:
                own = family(str(entry["family"]))
            ranges = read_options(own.options, _texts(own, entry), _values)
            size += _size(ranges)
            if size > MOST_CASES:
                raise InvalidCaseError(
                    "cases", f"more than {MOST_CASES}; at most so many go into one batch"
                )
        grids.append((where, own, ranges))
    for where, own, ranges in grids:
        with _named(where):
            cases = _cases(own, ranges, every)
        yield from cases


@contextmanager
def _named(where: str) -> Iterator[None]:
    """Let errors name the place where an entry stands, or the file."""
    try:
        yield
    except (ConversionError, InvalidCaseError) as reason:
        raise InvalidCaseError("cases", f"{where}: {reason}") from None


def _texts(chosen: Family[Any], entry: Mapping[str, Any]) -> dict[str, str]:
    """The values of an entry as they are written on the command line."""
    chosen.check_names(name for name in entry if name != "family")
    texts = {}
    for option in chosen.options:
        if option.name not in entry:
            continue
        items = entry[option.name]
        if not isinstance(items, list):
            items = [items]
        types, usual = {int, str}, "a number, a list of numbers or a range"
        if option.flag:
            types, usual = {bool, str}, "true, false or a list of these"
        # A truth value is a number to Python, so types are compared, and not asked by isinstance.
        if not items or not {type(item) for item in items} <= types:
            raise InvalidCaseError(option.name, f"is not {usual}")
        text = ",".join(map(str, items))
        if option.flag:
            text = text.lower()
        texts[option.name] = text
    return texts


def ordered(cases: Iterable[Model]) -> tuple[Model, ...]:
    """Return the cases without duplicates, those that are expected to be short first."""
    return tuple(sorted(set(cases), key=_rank))


def _rank(case: Model) -> tuple[Any, ...]:
    numbers = []
    for value in case.to_json().values():
        if not isinstance(value, list):
            value = [value]
        numbers.append(value)
    return case.family, family(case.family).effort(case), numbers


def _entries(path: Path) -> list[tuple[str, Mapping[str, Any]]]:
    """The place and the content of each entry; raises ConversionError."""
    if path.suffix not in _READERS:
        raise ConversionError("neither a .toml nor a .csv file")
    entries = list(_READERS[path.suffix](read_text(path, LARGEST_CASES)))
    if not entries:
        raise ConversionError("there are no cases in it")
    return entries


def _toml(text: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    data = read_toml(text)
    tables = data.get("case")
    if data.keys() != {"case"} or not isinstance(tables, list):
        tables = [None]
    for number, table in enumerate(tables, 1):
        if not isinstance(table, dict):
            raise ConversionError("a file of cases consists of tables [[case]] and nothing else")
        yield f"case {number}", table


def _csv(text: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    rows = csv.reader(text.splitlines(), strict=True)
    try:
        header = [name.strip() for name in next(rows, [])]
        if len(set(header)) < len(header) or not header:
            raise ConversionError("the first line must name the columns, each once")
        for row in rows:
            if not any(map(str.strip, row)):
                continue
            place = f"line {rows.line_num}"
            if len(row) != len(header):
                raise ConversionError(f"{place}: {len(row)} cells under {len(header)} names")
            cells = dict(zip(header, row, strict=True))
            yield place, {name: cell for name, cell in cells.items() if cell.strip()}
    except csv.Error as reason:
        raise ConversionError(
            f"line {rows.line_num}: not CSV ({reason}); is a quotation mark not closed?"
        ) from None


_READERS = {".toml": _toml, ".csv": _csv}
"""The formats of files of cases, by their endings."""

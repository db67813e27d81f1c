"""The cases of a batch: grids from the command line, files of cases, and the order of a run.

A case is a model of a family in the registry. Each of its options may have several values; a grid
consists of the models of all combinations. Here ``ranges`` has the tuple of all values of each
option, by its name: {"d": (1, 2, 3), "a": (2,)}. An *entry* of a file of cases is a table or a row
of it, with texts or values by the names of options; it means a case or a grid. With ``every`` the
cases are included that a family excludes from grids. A mistake raises InvalidCaseError, or
ConversionError for the text of a file, which becomes an error of ``--cases`` with its place.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, islice, product
from math import prod
from pathlib import Path
from typing import Any

from m2bridge.convert import MAX_TABLE_BYTES
from m2bridge.convert.bounded_io import read_text, read_toml
from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.families.base import CaseOption, Family, read_options
from m2bridge.families.registry import family
from m2bridge.maps.model import Model

MAX_BATCH_CASES = 100_000
"""Cases in a batch: listing and sorting the questions about them takes about twenty seconds."""
SMALLER_GRIDS_ADVICE = "take smaller grids, one after the other; they may have the same folder"


def grid(
    one_family: Family[Any], texts: Mapping[str, str | None], every: bool = False
) -> list[Model]:
    """Return all cases of a grid, given by texts as on the command line: ``1..4``, ``1..3,2,1``."""
    # the tuple of all values of each option, which ``_values`` reads from the text of the option
    ranges = read_options(one_family.options, texts, _values)
    size = prod(map(len, ranges.values()))
    if size > MAX_BATCH_CASES:
        raise InvalidCaseError(
            next(iter(ranges)),  # the error names the first option
            f"this grid has {size} cases; at most {MAX_BATCH_CASES} go into one batch:"
            f" {SMALLER_GRIDS_ADVICE}",
        )
    return _cases(one_family, ranges, every)


def _cases(
    one_family: Family[Any], ranges: Mapping[str, tuple[Any, ...]], every: bool
) -> list[Model]:
    """Return the models of all combinations of values."""
    combinations = (dict(zip(ranges, values, strict=True)) for values in product(*ranges.values()))
    # one value of an option may still mean several models, as ranks of each layer do
    grids = (one_family.grid(**combination) for combination in combinations)
    # one more than allowed suffices to know that there are too many
    models = list(islice(chain.from_iterable(grids), MAX_BATCH_CASES + 1))
    if len(models) > MAX_BATCH_CASES:
        raise InvalidCaseError(
            next(iter(ranges)),  # the error names the first option
            f"this grid has more than {MAX_BATCH_CASES} cases, too many for one batch:"
            f" {SMALLER_GRIDS_ADVICE}",
        )
    if every:
        return models
    cases = [case for case in models if not one_family.excluded_from_grids(case)]
    # the only family that excludes cases does so by its number a
    if not cases:
        raise InvalidCaseError(
            "a", f"no case with {one_family.grid_note}; --all-a includes the others"
        )
    return cases


def _values(option: CaseOption, text: str) -> tuple[Any, ...]:
    """Return all values of an option that a text means; of a flag, ``true,false`` means both."""
    if not option.flag:
        return tuple(option.values(text))
    return tuple(chain.from_iterable(map(option.values, text.split(","))))


def read_cases(path: Path, default_family: Family[Any], every: bool = False) -> Iterator[Model]:
    """Yield the cases of a file.

    TOML: one table ``[[case]]`` for each case or grid, with the options of the family, as on the
    command line; a value is a number, a list of numbers, or a range such as ``"1..4"``; lists of
    widths and their ranges are text: ``"1..3,2,1"``; an option without a value is ``true``,
    ``false`` or a list of these. A table may name a ``family`` of its own; ``default_family`` is
    the family of the others. CSV: the same names as header, one case or grid in each row (a list of
    numbers is quoted: ``"1,3"``).
    """
    with _located_errors(f"'{path}' cannot be read"):
        entries = _entries(path)
    # all entries are read before any model is made, so that a wrong one is refused at once
    grids = []  # the place, the family and the values of each option
    size = 0
    for place, entry in entries:
        where = f"{path.name}, {place}"
        with _located_errors(where):
            own = family(str(entry["family"])) if "family" in entry else default_family
            own.check_names(name for name in entry if name != "family")
            texts = {}
            for option in own.options:
                if option.name in entry:
                    texts[option.name] = _text_of_value(option, entry[option.name])
            ranges = read_options(own.options, texts, _values)
            grids.append((where, own, ranges))
            size += prod(map(len, ranges.values()))
            if size > MAX_BATCH_CASES:
                raise InvalidCaseError(
                    "cases", f"more than {MAX_BATCH_CASES} cases, too many for one batch"
                )
    for where, own, ranges in grids:
        with _located_errors(where):
            cases = _cases(own, ranges, every)
        yield from cases


@contextmanager
def _located_errors(where: str) -> Iterator[None]:
    """Turn errors in the block into errors of ``--cases`` that begin with ``where``."""
    try:
        yield
    except InvalidCaseError as error:
        # the message with the name of the option in front, as it is written in the file
        reason = error.with_name(error.option)
        raise InvalidCaseError("cases", f"{where}: {reason}") from None
    except ConversionError as error:
        raise InvalidCaseError("cases", f"{where}: {error}") from None


def _entries(path: Path) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the place in words, such as ``line 3``, and the content of each entry of a file."""
    if path.suffix not in _READERS:
        raise ConversionError("neither a .toml nor a .csv file")
    entries = list(_READERS[path.suffix](read_text(path, MAX_TABLE_BYTES)))
    if not entries:
        raise ConversionError("there are no cases in it")
    return entries


def _toml_entries(text: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the place, ``case 2``, and the content of each table ``[[case]]`` of a TOML text."""
    data = read_toml(text)
    tables = data.get("case")
    # a file of another form is treated as one with a wrong table, which is refused below
    if data.keys() != {"case"} or not isinstance(tables, list):
        tables = [None]
    for number, table in enumerate(tables, 1):
        if not isinstance(table, dict):
            raise ConversionError("a file of cases consists of tables [[case]] and nothing else")
        yield f"case {number}", table


def _csv_entries(text: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the place, ``line 3``, and the cells, by the header, of each row of a CSV text."""
    rows = csv.reader(text.splitlines(), strict=True)
    try:
        header = [name.strip() for name in next(rows, [])]
        has_repetitions = len(set(header)) < len(header)
        if has_repetitions or not header:
            raise ConversionError("the first line must name the columns, each once")
        for row in rows:
            if not any(map(str.strip, row)):  # an empty line, or one of empty cells
                continue
            place = f"line {rows.line_num}"
            if len(row) != len(header):
                raise ConversionError(f"{place}: {len(row)} cells under {len(header)} names")
            # An empty cell is left out, and so means the default of its option.
            cells = dict(zip(header, row, strict=True))
            yield place, {name: cell for name, cell in cells.items() if cell.strip()}
    except csv.Error as reason:
        raise ConversionError(
            f"line {rows.line_num}: not CSV ({reason}); is a quotation mark not closed?"
        ) from None


_READERS = {".toml": _toml_entries, ".csv": _csv_entries}
"""The readers of files of cases by ending."""


def _text_of_value(option: CaseOption, value: Any) -> str:
    """Return the text that the command line has for a value, or a list of values, in a file."""
    items = value if isinstance(value, list) else [value]
    allowed, in_words = {int, str}, "a number, a list of numbers or a range"
    if option.flag:
        allowed, in_words = {bool, str}, "true, false or a list of these"
    # A bool is also an int to isinstance, so the types themselves are compared.
    if not items or not {type(item) for item in items} <= allowed:
        raise InvalidCaseError(option.name, f"must be {in_words}")
    text = ",".join(map(str, items))
    # Python writes True and False
    return text.lower() if option.flag else text


def ordered(cases: Iterable[Model]) -> tuple[Model, ...]:
    """Return the cases without duplicates, by family and then by expected time, shortest first."""

    def key(case: Model) -> tuple[Any, ...]:
        # lists also of one number, so that they can be compared
        values = case.to_json().values()
        numbers = [value if isinstance(value, list) else [value] for value in values]
        return case.family, family(case.family).effort(case), numbers

    return tuple(sorted(set(cases), key=key))

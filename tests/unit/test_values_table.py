"""The table of docs/values.md: every row, and every class that it names, has an example."""

import re
from pathlib import Path

import pytest

from m2bridge.workspace import values
from tests.everyday import DOCUMENTED

TEXT = (Path(__file__).parents[2] / "docs" / "values.md").read_text(encoding="utf-8")
TABLE = dict(re.findall(r"^\| (.+?) \| (.+) \|$", TEXT, re.M)[1:])


def classes(cell: str) -> set[str]:
    """The classes that a cell names for values on their way out."""
    return set(re.findall(r"`([A-Za-z]+)`", cell.split("*in*")[0])) - {"surrogateescape", "m2bridge", "RR"}


def test_the_rows_are_those_with_examples() -> None:
    assert list(TABLE) == list(DOCUMENTED)


@pytest.mark.parametrize("row", DOCUMENTED)
def test_every_class_of_a_row_has_an_example(row: str) -> None:
    named = {name for _, name in DOCUMENTED[row]}
    other = {"PythonFiniteFieldElement", "Reference"}  # where python-flint is missing; tested where it is asked for
    assert named == classes(TABLE[row]) - other


def test_every_public_class_of_values_is_in_the_table() -> None:
    assert {name for cell in TABLE.values() for name in classes(cell)} >= set(values.__all__)

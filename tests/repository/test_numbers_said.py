"""Numbers in the running text of the site are those that its cells compute; the build compares."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

EXTENSIONS = Path(__file__).parents[2] / "docs" / "_ext"


@pytest.fixture
def extension(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    pytest.importorskip("sphinx", reason="Sphinx is not here: pip install '.[docs]'")
    monkeypatch.setattr(sys, "path", [str(EXTENSIONS), *sys.path])
    return import_module("numbers_said")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Six parameters, and four dimensions: scaling can be undone.", ["4", "6"]),
        ("Three: every quadratic form is a sum of two squares.", ["3"]),
        ("a variety of dimension five in a space of dimension six", ["5", "6"]),
        ("Fifteen velocities, of which 14 are independent", ["14", "15"]),
        ("the five redundant directions have names, the rank is 18", ["18", "5"]),
        ("one dimension, two networks, part 3, at most four steps", []),
    ],
)
def test_numbers_of_what_is_computed(text: str, numbers: list[str], extension: ModuleType) -> None:
    assert sorted({number for number, _ in extension.numbers_said(text)}) == numbers


PAGE = """
Title
=====

Before any cell the dimension is 7.

Computed
--------

{text}

.. container:: cell

   ::

      dimension     3 affine (lower bound)

Elsewhere
---------

There are 8 points.
"""


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Six parameters, and four dimensions.", ["Six parameters", "four dimensions"]),
        ("Three dimensions, and the rank is 3.", []),
        ("The dimension is 13.", ["dimension is 13"]),
        ("It is at most :math:`6 - 2` dimensions, in ``four dimensions``.", []),
    ],
)
def test_a_number_that_no_cell_has_computed(
    text: str, wrong: list[str], extension: ModuleType
) -> None:
    """Of its own section; what is typed as a formula or as code is not compared."""
    from docutils.core import publish_doctree

    document = publish_doctree(PAGE.format(text=text))
    assert sorted(words for _, words in extension.unfounded(document)) == wrong


def test_the_site_compares() -> None:
    settings = (EXTENSIONS.parent / "conf.py").read_text(encoding="utf-8")
    assert '"numbers_said"' in settings

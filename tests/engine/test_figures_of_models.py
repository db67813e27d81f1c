"""``m2bridge figure`` of models of any family, of plug-ins, and of maps in files."""

import csv
import sys
from io import StringIO
from pathlib import Path

import pytest

from m2bridge.cli import commands
from m2bridge.families import registry
from tests.plug_in import install

pytestmark = pytest.mark.macaulay2("one")

CUBIC = """
[map]
parameters = ["s", "t"]
[coordinates]
x = "s^3"
y = "s^2*t"
z = "s*t^2"
w = "t^3"
"""
"""The cone over the twisted cubic, whose polar degrees are 3 and 4."""


def table(
    line: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], m2: str
) -> list[list[str]]:
    """The rows that a figure prints with ``--csv``, without the header."""
    monkeypatch.setattr("sys.argv", ["m2bridge", "figure", *line, "--csv", "--m2", m2])
    assert commands.run() == 0
    return list(csv.reader(StringIO(capsys.readouterr().out)))[1:]


def test_of_a_map(
    m2: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cubic.toml"
    file.write_text(CUBIC, encoding="utf-8")
    line = ["polar", "--map", str(file)]
    assert table(line, monkeypatch, capsys, m2) == [["1", "3"], ["0", "4"]]
    values = table(["hilbert", "--map", str(file), "--degree", "3"], monkeypatch, capsys, m2)
    assert [row[1] for row in values] == ["1", "4", "7", "10"]


def test_of_a_family_whose_option_has_the_name_of_one_of_the_picture(
    m2: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """``--degree`` is the family's; the quadrics in two variables fill a space of dimension 3."""
    line = ["hilbert", "--family", "polynomial-network", "--widths", "2,2,1", "--degree", "2"]
    values = table(line, monkeypatch, capsys, m2)
    assert [int(row[1]) for row in values] == [(n + 1) * (n + 2) // 2 for n in range(9)]


def test_of_a_plug_in(
    m2: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    install(tmp_path)
    registry._load.cache_clear()
    line = ["polar", "--family", "rational-normal-curve", "--n", "3"]
    try:
        assert table(line, monkeypatch, capsys, m2) == [["1", "3"], ["0", "4"]]
    finally:
        registry._load.cache_clear()
        sys.modules.pop("rational_normal_curves", None)

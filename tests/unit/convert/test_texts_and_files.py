"""Pairs of functions for texts and for files: the same result, and errors that name the file."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from m2bridge import (
    CoefficientField,
    ConversionError,
    ideal,
    load_ideal,
    load_map,
    load_model,
    parse_ideal,
    parse_map,
    parse_model,
    read_ideal_file,
    read_map,
    read_model,
)

MAP = '[map]\ntitle = "parabola"\nparameters = ["t"]\n[coordinates]\nx = "t"\ny = "t^2"\n'
IDEAL = '[ideal]\ntitle = "parabola"\nvariables = ["x", "y"]\ngenerators = ["x^2 - y"]\n'
LAYERS = '[[layers]]\ninputs = ["x"]\nparameters = ["a"]\noutputs = {y = "a*x^2"}\n'
PAIRS: tuple[tuple[Callable[..., Any], Callable[..., Any], str], ...] = (
    (parse_map, load_map, MAP),
    (parse_model, load_model, MAP),
    (parse_model, load_model, LAYERS),
    (parse_ideal, load_ideal, IDEAL),
    (parse_ideal, load_ideal, "x^2 - y\n"),
)


@pytest.mark.parametrize(("parse", "load", "text"), PAIRS)
def test_a_file_is_read_as_its_text(
    parse: Callable[..., Any], load: Callable[..., Any], text: str, tmp_path: Path
) -> None:
    file = tmp_path / "map.toml"  # the name of the file is the key of a model, here the default
    file.write_text("\ufeff" + text, encoding="utf-8")
    assert load(file) == load(str(file)) == parse(text)
    file.write_text(text.replace("2", "~", 1))
    with pytest.raises(ConversionError, match="^" + re.escape(f"{file}: ")) as error:
        load(file)
    with pytest.raises(ConversionError) as error_of_text:
        parse(file.read_text())
    assert str(error.value) == f"{file}: {error_of_text.value}"
    file.write_bytes(b"\xff")
    with pytest.raises(ConversionError, match="not text in UTF-8"):
        load(file)
    with pytest.raises(ConversionError, match="missing: No such file"):
        load(tmp_path / "missing")
    with pytest.raises(ConversionError, match="neither a file nor a pipe"):
        load("/dev/zero")


def test_the_names_of_1_0_take_text() -> None:
    assert (read_map, read_model, read_ideal_file) == (parse_map, parse_model, parse_ideal)


def test_a_model_of_a_file_has_its_name_as_key(tmp_path: Path) -> None:
    file = tmp_path / "twisted.cubic.toml"
    file.write_text(MAP)
    assert load_model(file).key == "twisted.cubic"


@pytest.mark.parametrize("parse", [parse_map, parse_model])
def test_the_path_in_place_of_the_text_has_advice(parse: Callable[..., Any]) -> None:
    with pytest.raises(ConversionError, match="load_map, load_model or load_ideal read a file"):
        parse("examples/umbrella.toml")


def test_options_of_ideals_in_files(tmp_path: Path) -> None:
    file = tmp_path / "twisted-cubic"
    file.write_text("twisted-cubic")
    expected = ideal("a - b", variables="b a", field="GF(7)")
    renamed = file.with_name("lines")
    renamed.write_text("a - b")
    assert load_ideal(renamed, variables="b a", field="GF(7)")[0] == expected
    assert load_ideal(renamed, variables="b a", field=CoefficientField(7))[0] == expected
    assert parse_ideal("a - b", variables="b a", field="GF(7)")[0] == expected
    # of a text that could be a path only parse_ideal warns: load_ideal was given the path
    assert load_ideal(file)[0].ring.variables == ("cubic", "twisted")
    with pytest.warns(UserWarning, match="and load_ideal its path"):
        parse_ideal("twisted-cubic")
    file.write_text(IDEAL)
    with pytest.raises(ConversionError, match="names its variables"):
        load_ideal(file, variables="x y")

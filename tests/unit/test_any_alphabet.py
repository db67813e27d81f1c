"""Names in any alphabet: in maps, results, scripts, every format, and back."""

import io
import json

import pytest

from m2bridge import PolynomialMap, closure, read_ideal
from m2bridge.algebra.field import QQ
from m2bridge.cli.output import echo_json
from m2bridge.convert.files import read_map
from m2bridge.convert.macaulay2 import all_to_macaulay2, from_macaulay2
from m2bridge.errors import ConversionError
from m2bridge.maps.elimination import elimination_values

CUBIC = """[map]
title = "立方 λ"
parameters = ["λ", "变量"]
[coordinates]
"η_1" = "λ^3"
"η_2" = "λ^2*变量"
"كتاب" = "λ*变量^2"
z = "变量^3"
"""


@pytest.fixture
def cubic() -> PolynomialMap:
    return read_map(CUBIC)[0]


def test_results_in_every_format(cubic: PolynomialMap) -> None:
    found = closure(cubic, max_degree=2)
    record = json.loads(json.dumps(found.to_json()))
    assert record["generator_degrees"] == {"2": 3}
    assert read_ideal(record) == found.ideal
    assert any("η_2**2" in generator for generator in record["generators"])
    assert "كتاب" in found.to_text()
    assert r"\eta_{2}^{2}" in found.to_latex()
    assert r"\text{كتاب}" in found.to_latex()
    assert "λ" not in found.to_latex()


def test_programs_are_ascii_and_say_what_is_what(cubic: PolynomialMap) -> None:
    values = elimination_values(cubic, QQ)
    assert all(str(value).isascii() for value in values.values())
    lines = closure(cubic, max_degree=2).to_macaulay2().splitlines()
    assert all(line.isascii() for line in lines if not line.startswith("--"))
    assert [line.rpartition(" is ")[2] for line in lines if " is " in line][-3:] == ["η_1", "η_2", "كتاب"]


def test_names_come_back() -> None:
    names = ("λ", "变量_1", "كتاب", "η_1_2", "é", "𝔸", "x")
    for name, written in zip(names, all_to_macaulay2(names), strict=True):
        base, *index = written.replace("(", "").replace(")", "").replace(",", "_").split("_")
        assert written.isascii()
        assert from_macaulay2(base, list(map(int, index))) == name


@pytest.mark.parametrize(("first", "second"), [("s", "ｓ"), ("ﬁ", "fi"), ("é", "e\u0301"), ("ℌ", "H"), ("x_1", "x_１")])
def test_names_that_look_alike_are_refused(first: str, second: str) -> None:
    for text in (
        f'[map]\nparameters = ["{first}", "{second}"]\n[coordinates]\nx = "1"\n',
        f'[map]\nparameters = ["{first}"]\n[coordinates]\n"{second}" = "1"\n',
    ):
        with pytest.raises(ConversionError, match="the same letters"):
            read_map(text)
    with pytest.raises(ConversionError, match="the same letters"):
        read_ideal({"field": "QQ", "coordinates": [first, second], "generators": []})


def test_letters_of_several_characters() -> None:
    """A name means the same however Unicode writes it; accents and vowel signs belong to it."""
    for declared, used in (("é", "e\u0301"), ("e\u0301", "é"), ("कि", "कि"), ("e\u0301t\u0301x", "e\u0301t\u0301x")):
        found, _ = read_map(f'[map]\nparameters = ["{declared}"]\n[coordinates]\nx = "2*{used}^2 + {used}"\n')
        assert len(found.images[0]) == 2
        assert found.source.variables == (declared,)


@pytest.mark.parametrize(
    "name", ["2", "x*y", "x^2", "-x", "x y", "", "x+y", "1/2", "x\n", "\x1b[2J", "_x", "a" * 500, 2, None]
)
def test_what_is_no_name_of_a_coordinate(name: object) -> None:
    with pytest.raises(ConversionError):
        read_ideal({"field": "QQ", "coordinates": ["x", name], "generators": ["x"]})
    assert read_ideal({"field": "QQ", "coordinates": ["s'", "x_-1"], "generators": ["s'*x_-1"]}).generators


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1253", "utf-8"])
def test_json_stays_json_in_every_encoding(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the command line prints it where LANG=C or another one rules; no character in it commands a terminal."""
    data = {"λ": "é 变量 𝔸 \udcff \x1b[2J \x9b2J \x7f \u202e \u2028"}
    out = io.BytesIO()
    stream = io.TextIOWrapper(out, encoding=encoding, errors="backslashreplace", write_through=True)
    monkeypatch.setattr("sys.stdout", stream)
    echo_json(json.dumps(data, ensure_ascii=False))
    written = out.getvalue().decode(encoding)
    assert json.loads(written) == data
    assert written.removesuffix("\n").isprintable()
    assert ("λ" in written) == (encoding in ("cp1253", "utf-8"))


def test_names_of_coordinates_that_need_quotes() -> None:
    with pytest.raises(ConversionError, match=r"line 5.*stands in quotes"):
        read_map(CUBIC.replace('"η_1" =', "η_1 ="))

"""Names in any alphabet: in maps, results, scripts, every format, and back; notation."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sympy import Symbol
from sympy.polys.orderings import grevlex
from sympy.polys.rings import PolyRing

from m2bridge import PolynomialMap, closure, ideal, read_ideal, read_ideal_file, read_model
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing
from m2bridge.cli.common import echo_json
from m2bridge.convert.m2_syntax import all_to_macaulay2, from_macaulay2, to_macaulay2
from m2bridge.convert.printing import (
    degree_summary,
    ideal_macaulay2,
    polynomial_text,
    sparse_text,
    sparse_texts,
)
from m2bridge.convert.toml_files import read_map
from m2bridge.errors import ConversionError
from m2bridge.maps.completeness import elimination_values
from m2bridge.results.sheet import duration, first_terms, table
from tests.conftest import Invoke

# Names in any alphabet: in maps, results, scripts, every format, and back.

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
    values = elimination_values(cubic, field=QQ)
    assert all(str(value).isascii() for value in values.values())
    lines = closure(cubic, max_degree=2).to_macaulay2().splitlines()
    assert all(line.isascii() for line in lines if not line.startswith("--"))
    assert [line.rpartition(" is ")[2] for line in lines if " is " in line][-3:] == [
        "η_1",
        "η_2",
        "كتاب",
    ]


def test_names_come_back() -> None:
    names = ("λ", "变量_1", "كتاب", "η_1_2", "é", "𝔸", "x")
    for name, written in zip(names, all_to_macaulay2(names), strict=True):
        base, *index = written.replace("(", "").replace(")", "").replace(",", "_").split("_")
        assert written.isascii()
        assert from_macaulay2(base, list(map(int, index))) == name


VARIANTS = {"ｓ": "ｓ", "ℌ": "ℌ", "ﬁ": "ﬁ", "x_１": "１", "xⁿ": "ⁿ", "x₁": "₁", "Kª": "ª", "𝑥": "𝑥"}
"""Names with a character that NFKC changes, so that a polynomial cannot name them, and that
character.
"""


@pytest.mark.parametrize("name", VARIANTS)
def test_a_name_with_a_variant_of_a_letter_is_refused_where_it_is_declared(
    name: str, invoke: Invoke, tmp_path: Path
) -> None:
    """By the character, as polynomials refuse it; in files of maps and ideals, in Python and on the
    command line.
    """
    map_text = '[map]\nparameters = ["{}"]\n[coordinates]\n"{}" = "1"\n'
    layer_text = '[[layers]]\ninputs = ["{}"]\nparameters = ["{}"]\noutputs = {{"{}" = "1"}}\n'
    plain = ("s", "t", "x")
    declarations: list[Callable[[], object]] = [
        lambda: read_map(map_text.format(name, "x")),
        lambda: read_map(map_text.format("s", name)),
        *(
            lambda p=place: read_model(layer_text.format(*plain[:p], name, *plain[p + 1 :]))
            for place in range(3)
        ),
        lambda: read_ideal_file(f'[ideal]\nvariables = ["{name}"]\ngenerators = ["1"]\n'),
        lambda: read_ideal({"field": "QQ", "coordinates": [name], "generators": []}),
        lambda: PolynomialMap.from_expressions([name], {"x": 1}),
        lambda: PolynomialMap.from_expressions([Symbol(name)], {"x": Symbol(name) ** 2}),
        lambda: PolynomialMap.from_expressions([], {name: 1}),
        lambda: PolynomialMap.from_terms([name], {"x": {(1,): 1}}),
        lambda: PolynomialMap(PolynomialRing(QQ, (name,)), (), ()),
        lambda: ideal("1", variables=name),
        lambda: ideal("1", variables=[name]),
        lambda: ideal("1", variables=f"{name}'"),
        lambda: ideal("1", variables=[Symbol(name)]),
        lambda: ideal([Symbol(name) ** 2]),
        lambda: ideal(name),
    ]
    for declare in declarations:
        with pytest.raises(ConversionError, match=f"unexpected character '{VARIANTS[name]}'"):
            declare()
    file = tmp_path / "map.toml"
    file.write_text(map_text.format(name, "x"), encoding="utf-8")
    for arguments in (
        ["dimension", "--map", str(file)],
        ["singular-locus", "--ideal", f"{name}^2 - 1"],
    ):
        result = invoke(*arguments)
        assert result.returncode == 2
        assert f"unexpected character '{VARIANTS[name]}'" in result.stderr


@pytest.mark.parametrize("name", ["λ", "变量", "كتاب", "é", "e\u0301", "कि", "ß", "x_1", "đ"])
def test_names_in_all_alphabets_are_declared_and_used(name: str) -> None:
    found, _ = read_map(f'[map]\nparameters = ["{name}"]\n[coordinates]\nX = "{name}^2"\n')
    assert found.source.variables == (name,)
    assert len(ideal(f"{name}^2 - 1", variables=name).generators) == 1


@pytest.mark.parametrize(("first", "second"), [("é", "e\u0301"), ("e\u0301x", "éx")])
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
    for declared, used in (
        ("é", "e\u0301"),
        ("e\u0301", "é"),
        ("कि", "कि"),
        ("e\u0301t\u0301x", "e\u0301t\u0301x"),
    ):
        found, _ = read_map(
            f'[map]\nparameters = ["{declared}"]\n[coordinates]\nx = "2*{used}^2 + {used}"\n'
        )
        assert len(found.images[0]) == 2
        assert found.source.variables == (declared,)


@pytest.mark.parametrize(
    "name",
    ["2", "x*y", "x^2", "-x", "x y", "", "x+y", "1/2", "x\n", "\x1b[2J", "_x", "a" * 500, 2, None],
)
def test_what_is_no_name_of_a_coordinate(name: object) -> None:
    with pytest.raises(ConversionError):
        read_ideal({"field": "QQ", "coordinates": ["x", name], "generators": ["x"]})
    assert read_ideal(
        {"field": "QQ", "coordinates": ["s'", "x_-1"], "generators": ["s'*x_-1"]}
    ).generators


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1253", "utf-8"])
def test_json_stays_json_in_every_encoding(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the command line prints it where LANG=C or another one rules; no character in it commands
    a terminal.
    """
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


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("x", "x"),
        ("x_1", "x_1"),
        ("c_1_2", "c_(1,2)"),
        ("c_1_-2", "c_(1,-2)"),
        ("x_-1", "x_(-1)"),
        ("gens", "mbvgens"),
        ("x1", "mbvx1"),
        ("x_01", "mbvxZ5fZ01"),
        ("λ_3", "mbvZ3bbZ_3"),
        ("mbvx", "mbvmbvx"),
    ],
)
def test_each_name_has_one_safe_form(name: str, written: str) -> None:
    assert to_macaulay2(name) == written


def test_a_letter_with_and_without_index_is_kept_apart() -> None:
    assert all_to_macaulay2(["x", "x_1", "y"]) == ("mbpx", "x_1", "y")
    assert from_macaulay2("mbpx") == "x"
    assert all_to_macaulay2(["beta", "beta_2"]) == ("mbpbeta", "mbvbeta_2")


def test_indices_come_back() -> None:
    assert from_macaulay2("c", [1, 2]) == "c_1_2"
    assert from_macaulay2("mbvZ3bbZ", [-3]) == "λ_-3"


def test_residues_are_written_symmetrically() -> None:
    ring = PolynomialRing(CoefficientField(7), ("x", "y"))
    x, y = ring.sympy_ring.gens
    assert polynomial_text(6 * x + 3 * y) == "-x + 3*y"
    assert ideal_macaulay2(GeneratingSet(ring, (6 * x,))) == "R = ZZ/7[x, y]\nI = ideal {-x}"
    assert ideal_macaulay2(GeneratingSet(ring, ())).endswith("ideal(0_R)")


def test_polynomials_of_the_rings_themselves_are_written_so() -> None:
    """They are equal to SymPy's own, hashes included, and so is the ring."""
    for p in (2, 3, 7, 2**31 - 1):
        ring = PolynomialRing(CoefficientField(p), ("x", "y"))
        x, y = ring.sympy_ring.gens
        f = -3 * x * y + x**2 - 1
        integers = PolynomialRing(QQ, ("x", "y")).sympy_ring.from_expr(f.as_expr())
        assert (
            (str(f), repr(f), str(f * f - f * f + f))
            == (str(integers),) * 3
            == (polynomial_text(f),) * 3
        )
        own = PolyRing(ring.sympy_ring.symbols, ring.field.domain, grevlex)
        assert len({own, ring.sympy_ring}) == len({own.from_dict(dict(f)), f}) == 1


def test_words() -> None:
    assert degree_summary({2: 1, 3: 20, 8: 2}) == "1 quadric, 20 cubics, 2 of degree 8"
    assert degree_summary({}) == "none"
    assert [duration(s) for s in (0.123, 12.3, 200)] == ["0.12 s", "12 s", "3 min 20 s"]
    assert [duration(s) for s in (0.0, 9.3e-5, 0.099, 0.1)] == ["less than 0.1 s"] * 3 + ["0.1 s"]
    assert [duration(s) for s in (9.94, 9.96, 59.4, 59.5, 119.6)] == [
        "9.9 s",
        "10 s",
        "59 s",
        "1 min 0 s",
        "2 min 0 s",
    ]
    assert [duration(s) for s in (3599.6, 3600, 3690, 7199)] == [
        "1 h 0 min",
        "1 h 0 min",
        "1 h 2 min",
        "2 h 0 min",
    ]
    x, y = PolynomialRing(QQ, ("x", "y")).sympy_ring.gens
    assert first_terms(str((x + y) ** 2), 240) == "x**2 + 2*x*y + y**2"
    assert first_terms(str((x + y) ** 40), 240).endswith("…  (41 terms)")
    assert first_terms("x - y - z + w", 8) == "x - y …  (4 terms)"
    assert first_terms("-x + y - z", 6) == "-x …  (3 terms)"
    assert table(("n", "word"), [(10, "a"), (5, "bb")]).splitlines()[2:] == [
        "  10   a",
        "   5   bb",
    ]


def test_sparse_text_is_the_text_of_the_polynomial() -> None:
    """Alone, and among others that share its monomials."""
    ring = PolynomialRing(QQ, ("x", "y", "z")).sympy_ring
    x, y, z = ring.gens
    polynomials = [
        x**2 * z - 3 * y**3 + x * y * z,
        -3 * y**3 + 12 * x**2 * z,
        -x + 1,
        ring.zero,
        2 * z**2 - x,
        ring.one,
        -2 * ring.one + z,
        -z,
        x * z + y**2,
        (x + y + z + 2) ** 3,
    ]
    sparse = [
        tuple(
            (tuple(i for i, e in enumerate(monomial) for _ in range(e)), int(c))
            for monomial, c in polynomial.items()
        )
        for polynomial in polynomials
    ]
    texts = [polynomial_text(polynomial) for polynomial in polynomials]
    assert [sparse_text(terms, ("x", "y", "z")) for terms in sparse] == texts
    assert sparse_texts(sparse, ("x", "y", "z")) == texts

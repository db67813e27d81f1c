"""No other ideal than the one that was typed: what has two readings is refused with both.

The expected generators are written here by hand, or as SymPy's objects.
"""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sympy import I, Poly, Symbol, sqrt, symbols

from m2bridge import ideal, read_ideal_file
from m2bridge.algebra.extension_field import gaussian_field
from m2bridge.cli.commands import cli
from m2bridge.cli.tool_arguments import arguments_of
from m2bridge.convert.toml_files import read_map
from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.ideals.construct import looks_like_path

x, y = symbols("x y")


def generators(text: str, **options: object) -> list[str]:
    """The generators of the ideal of a text."""
    return list(map(str, ideal(text, **options).generators))  # type: ignore[arg-type]


PRODUCTS = {
    "ad - bc": "a*d",
    "AD - BC": "A*D",
    "xw - yz": "x*w",
    "ps - qr": "p*s",
    "ab - ac": "a*b",
    "abc - def": "a*b*c",
    "abc - d": "a*b*c",
    "ac - b^2": "a*c",
    "ac - b_1": "a*c",
    "ac^2 - bd^2": "a*c",
    "2*ad - bc": "a*d",
    "ad - 2/3*bc": "a*d",
    "ad - 0.5·bc": "a*d",
    "x2 - ab": "a*b",
    "ad2 - bc": "a*d^2",
    "x*y - xy": "x*y",
    "x**2 - 2*xy + y**2": "x*y",
    "x*y*z - xyz": "x*y*z",
    "x1*x2 - x1x2": "x1*x2",
    "ad, bc": "a*d",
    "ad - bc -- the determinant": "a*d",
}


@pytest.mark.parametrize("text", PRODUCTS)
def test_words_that_could_be_products_are_refused(text: str) -> None:
    with pytest.raises(ConversionError) as refused:
        ideal(text)
    message = str(refused.value)
    assert f"could be {PRODUCTS[text]} or one variable" in message
    assert "--variables" in message


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("abc", "abc"),
        ("ab - 1", "ab"),
        ("alpha^2 - beta", "alpha beta"),
        ("alpha - t", "alpha t"),
        ("mu^2 - nu", "mu nu"),
        ("cos^2 + sin^2 - 1", "cos sin"),
        ("x - cos, y - sin", "cos sin x y"),
        ("t^2 - Pi", "Pi t"),
        ("foo - 3", "foo"),
        ("aa - b", "aa b"),
        ("x1^2 - x2", "x1 x2"),
        ("c_1_2 - c_1_1", "c_1_1 c_1_2"),
        ("ab*u - cd", "ab cd u"),
        ("ad*bc - 1", "ad bc"),
        ("x0y0*x1y1 - x0y1*x1y0", "x0y0 x0y1 x1y0 x1y1"),
        ("rate - speed*time", "rate speed time"),
        ("x*(y + tau) - mu", "mu tau x y"),
    ],
)
def test_names_that_are_no_products(text: str, variables: str) -> None:
    assert ideal(text).ring.variables == tuple(variables.split())


def test_declared_names_are_variables() -> None:
    for text in ("ad - bc", "I^2 - ii", "sqrt2 - zeta3", "i - x", "x*y - xy"):
        names = sorted(set(re.findall("[A-Za-z0-9]*[A-Za-z][A-Za-z0-9]*", text)))
        assert ideal(text, variables=names).ring.variables == tuple(names)
    assert ideal("ideal(ad - bc) of QQ[ad, bc]").ring.variables == ("ad", "bc")
    assert ideal("Poly(I*x, I, x, domain='QQ')").ring.variables == ("I", "x")


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        (str(x**2 + I * y), "'I' could be a root of -1"),
        ("x^2 + ii*y", "'ii' could be a root of -1"),
        ("x^2 + i*y", "'i' could be a root of -1"),
        ("x - sqrt2", "'sqrt2' could be the square root of 2"),
        ("x - zeta3", "'zeta3' could be a root of unity of order 3"),
        ("x - zeta_5", "'zeta_5' could be a root of unity of order 5"),
        (str(x - sqrt(2) * y), "name QQ(sqrt(2)), and write sqrt2"),
    ],
)
def test_names_of_numbers_are_refused(text: str, meaning: str) -> None:
    with pytest.raises(ConversionError, match=re.escape(meaning)):
        ideal(text)


def test_numbers_in_their_field_are_those_of_the_objects() -> None:
    assert ideal(str(x**2 + I * y), field=gaussian_field("I")) == ideal(x**2 + I * y)
    gaussian = Poly(x**2 + I * y, x, y)
    assert ideal(str(gaussian)) == ideal(gaussian)
    assert ideal("x^2 - sqrt2*y", field="QQ[sqrt2]/(sqrt2^2-2)") == ideal(x**2 - sqrt(2) * y)


def test_letters_beside_i_show_that_it_is_a_letter() -> None:
    determinant = "a*e*i - a*f*h - b*d*i + b*f*g + c*d*h - c*e*g"
    assert ideal(determinant).ring.variables == tuple("abcdefghi")
    assert ideal("i*j - k").ring.variables == ("i", "j", "k")
    assert ideal("H - I").ring.variables == ("H", "I")
    assert ideal("zeta1 - zeta3").ring.variables == ("zeta1", "zeta3")
    assert ideal("theta - t").ring.variables == ("t", "theta")


@pytest.mark.parametrize("name", ["i", "I", "ii", "j", "sqrt2", "zeta3", "theta", "a,sqrt2"])
def test_fields_with_names_of_numbers_are_refused(name: str) -> None:
    with pytest.raises(InvalidCaseError, match="or as a parameter: write"):
        ideal("x", field=f"QQ({name})")
    names = name.split(",")
    assert ideal("x", field=f"frac(QQ[{name}])").ring.field.names == tuple(names)


def test_the_generator_of_a_finite_field_has_to_be_named_where_it_occurs() -> None:
    for given in ("x^2 - a*y", Symbol("a") * x):
        with pytest.raises(ConversionError, match=r"write GF\(3\^2,a\); for a variable"):
            ideal(given, field="GF(9)")
    named = ideal("x^2 - a*y", field="GF(9, a)")
    assert named == ideal("x^2 - a*y", field="GF(9)", variables="x y")
    assert named.ring.variables == ("x", "y")
    declared = ideal("x^2 - a*y", field="GF(9)", variables="a x y")
    assert declared.ring.variables == ("a", "x", "y")
    assert str(declared.ring.field) == "GF(3)[b]/(b**2 - b - 1)"
    assert ideal("x^2 - b*y", field="GF(9)").ring.variables == ("b", "x", "y")
    table = '[ideal]\nvariables = ["a", "x"]\ngenerators = ["x - a"]\nfield = "GF(9)"'
    assert read_ideal_file(table)[0].ring.variables == ("a", "x")


@pytest.mark.parametrize(
    "text",
    [
        "x = 1,5",
        "x+1,5y",
        "10.5,5x",
        "x - 1,5*y",
        "1,5*x",
        "x/2,5*y",
        "x, y = 1,5",
        "-1,5x",
        "[x - 1,5*y]",
        "ideal(x, 1,5*y)",
        "(x = 1,5)",
    ],
)
def test_commas_between_digits_are_refused(text: str) -> None:
    with pytest.raises(ConversionError, match="has a decimal comma, or the comma separates two"):
        ideal(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x - 1, 5*y", ["x - 1", "5*y"]),
        ("x - 1,y", ["x - 1", "y"]),
        ("x^2,5*y", ["x**2", "5*y"]),
        ("x**2,5*y", ["x**2", "5*y"]),
        ("x_1,5*y", ["x_1", "5*y"]),
        ("{x-1,5*y}", ["x - 1", "5*y"]),
        ("ideal(x-1,5*y)", ["x - 1", "5*y"]),
        ("x_(1,2) - 1", ["x_1_2 - 1"]),
    ],
)
def test_other_commas_separate_polynomials(text: str, expected: list[str]) -> None:
    assert generators(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x*y - 1 -- hyperbola", ["x*y - 1"]),
        ("x*y - 1 # hyperbola, in two pieces", ["x*y - 1"]),
        ("-- two [lines\nx, -- first\ny", ["x", "y"]),
        ("// a line\nx - y", ["x - y"]),
        ("x/* left */ - y", ["x - y"]),
        ("-* of\nMacaulay2 *- x - y", ["x - y"]),
        ("x - -3*y", ["x + 3*y"]),
        ("x--3*y", ["x + 3*y"]),
        ("3//2*x", ["3/2*x"]),
    ],
)
def test_comments(text: str, expected: list[str]) -> None:
    assert generators(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x--y", "'--' could be two signs, or begin a comment"),
        ("x-- y", "'--' could be two signs, or begin a comment"),
        ("x --y", "'--' could be two signs, or begin a comment"),
        ("x --3", "'--' could be two signs, or begin a comment"),
        ("x#y", "unexpected character '#'"),
        ("x*y - 1 // hyperbola", "write ' -- ' or # before a comment"),
        ("C(1)*C(4)", "write C_1 for a variable with an index, or C*1"),
        ("sin(x)^2 - 1", "sin of something is not a polynomial"),
        ("ideal(x) + ideal(y)", "give one ideal at a time"),
        ("C(1,2)", "write C_1_2 for a variable with indices"),
        ("x(y + 1)", "write * between factors: x*(y + 1)"),
    ],
)
def test_signs_and_parentheses_with_two_readings_are_refused(text: str, message: str) -> None:
    with pytest.raises(ConversionError, match=re.escape(message)):
        ideal(text)


def test_comments_and_signs_in_files_of_maps_and_ideals() -> None:
    text = '[map]\nparameters = ["s", "t"]\n[coordinates]\nx = "s - t -- the difference"\n'
    found, _ = read_map(text)
    s, t = found.source.sympy_ring.gens
    assert found.images == (s - t,)
    with pytest.raises(ConversionError, match="begin a comment"):
        read_map(text.replace("s - t", "s--t"))
    plain = 'x^2 - y -- the "cusp"\n# y = [1]\nx*y\n'
    assert list(map(str, read_ideal_file(plain)[0].generators)) == ["x**2 - y", "x*y"]


MAGMA = """Ideal of Polynomial ring of rank 2 over Rational Field
Order: Lexicographical
Variables: y, x
Inhomogeneous, Dimension >0
Basis:
[
    x^2 - y,
    x*y
]
"""
BOTH = ["x**2 - y", "x*y"]


@pytest.mark.parametrize(
    ("text", "expected", "ring"),
    [
        ("h[1]=x^2-y\nh[2]=x*y", BOTH, "QQ[x, y]"),
        ("_[1]=x^2-y\n_[2]=x*y", BOTH, "QQ[x, y]"),
        ("_[1]=x^2-y", ["x**2 - y"], "QQ[x, y]"),
        ("I = ideal(x^2-y, x*y)", BOTH, "QQ[x, y]"),
        ("o3 = ideal(x^2-y,x*y)\n\no3 : Ideal of R", BOTH, "QQ[x, y]"),
        ("ideal i = x^2-y, x*y;", BOTH, "QQ[x, y]"),
        (MAGMA, ["x**2 - y", "y*x"], "QQ[y, x]"),
        (MAGMA.replace("Rational Field", "GF(7)"), ["x**2 - y", "y*x"], "GF(7)[y, x]"),
        ("y, x\n0\nx^2-y,\nx*y\n", ["x**2 - y", "y*x"], "QQ[y, x]"),
        ("y, x\n7\nx^2-1,8*x*y\n", ["x**2 - 1", "y*x"], "GF(7)[y, x]"),
        (json.dumps(ideal("x^2-y, x*y").to_json()), BOTH, "QQ[x, y]"),
        ('["x^2 - y", "x*y"]', BOTH, "QQ[x, y]"),
        (ideal("x^2-y, x*y").to_macaulay2(), BOTH, "QQ[x, y]"),
        (ideal("x_1_2 - y", field="GF(7)").to_macaulay2(), ["x_1_2 - y"], "GF(7)[x_1_2, y]"),
    ],
)
def test_what_programs_print_whole(text: str, expected: list[str], ring: str) -> None:
    for found in (ideal(text), read_ideal_file(text)[0]):
        assert list(map(str, found.generators)) == expected
        assert str(found.ring) == ring


def test_powers_in_the_short_form_of_singular_are_refused() -> None:
    text = "h[1]=x2-y\nh[2]=x3-z"
    with pytest.raises(ConversionError, match=r"'x2' could be x\^2 in Singular's short form"):
        ideal(text)
    assert ideal(text, variables="x2 x3 y z").ring.variables == ("x2", "x3", "y", "z")
    assert ideal("h[1]=x2^2-y\nh[2]=x1-z").ring.variables == ("x1", "x2", "y", "z")
    for typed in ("x2 - y", "y = x2", "x - y2 - z"):
        with pytest.raises(ConversionError, match=r"could be [xy]\^2 or one variable"):
            ideal(typed)


def test_equations_of_entries_stay_equations() -> None:
    twisted, _ = read_ideal_file("x[1]=x[2]^2\nx[2]=x[3]^2")
    assert list(map(str, twisted.generators)) == ["-x_2**2 + x_1", "-x_3**2 + x_2"]
    curve, _ = read_ideal_file("x[1] = t\nx[2] = t^2")
    assert curve.ring.variables == ("t", "x_1", "x_2")
    assert ideal("p = x^2 - y").ring.variables == ("p", "x", "y")
    assert ideal("h[1]=x^2-y").ring.variables == ("h_1", "x", "y")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("i1 : R = QQ[x,y]\n\no1 = R", "a session of Macaulay2"),
        ("             2\no3 = ideal (x  - y, x*y)", "a session of Macaulay2"),
        ("             2\n    ideal (x  - y, x*y)", "exponents on lines of their own"),
        ("o3 = x - y", "a session of Macaulay2"),
        ("sage: R.<x,y> = QQ[]", "a session of Sage"),
        (">>> x - y", "a session of Python"),
        ("julia> x - y", "a session of Julia"),
        ("> ideal i = x, y;\n> i;", "a session of Singular or Magma"),
        ("ring r=0,(x,y),dp;\nideal i=x,y;", "a program for Singular"),
        ("R = QQ[x,y]\nf = x - y", "a program for Macaulay2 or Sage"),
        ("P<x,y> := PolynomialRing(Rationals(), 2);", "a program for"),
        ("h[2]=x^2\nh[3]=y", "the rest of a list that Singular printed, or an equation"),
        ("x\n0\nx^2 - 1", "could be the ring of a file of msolve, or polynomials"),
        ('{"ideal": {}, "method": "radical", "value": {}}', "give its part 'ideal', or 'value'"),
        (
            '{"field": "QQ", "coordinates": ["x"], "given": ["x"], "generators": ["1"]}',
            "give field and coordinates, and as generators 'given', or 'generators'",
        ),
        ('[{"x": 1}]', "a list of results"),
        ('{"x": 1}', "it needs field, coordinates and generators"),
    ],
)
def test_sessions_and_programs_are_refused_by_their_names(text: str, name: str) -> None:
    with pytest.raises(ConversionError, match=re.escape(name)):
        ideal(text)


def test_files_of_our_own_formats() -> None:
    given = ideal("x^2 - 2/3*y, x*y")
    for text in (json.dumps(given.to_mrdi()), given.to_sage_text(), json.dumps(given.to_json())):
        assert read_ideal_file(text)[0] == given
        with pytest.raises(ConversionError, match="names its variables"):
            read_ideal_file(text, variables="x y")
    with pytest.raises(ConversionError, match="'m2bridge singular-locus"):
        read_ideal_file('{"field": "QQ", "coordinates": ["x"], "given": [], "generators": ["x"]}')
    with pytest.raises(ConversionError):  # in calls of assistants, no text of a file is quoted
        read_ideal_file('["secret"]', plain=False)


def test_symbols_have_to_commute() -> None:
    a, b = symbols("a b", commutative=False)
    for variables in (None, "a b"):
        with pytest.raises(ConversionError, match="does not commute"):
            ideal(a * b - b * a, variables=variables)


def test_a_text_like_a_path() -> None:
    for text in ("twisted-cubic", "cubic", "data/cubic", "./curve.txt", "curve.m2"):
        assert looks_like_path(text), text
    for text in ("x-y", "x1-x2", "alpha-beta", "sin", "twisted - cubic", "x^2-cubic", "x/2-y", "1"):
        assert not looks_like_path(text), text
    with pytest.warns(UserWarning, match="not as the name of a file"):
        found, _ = read_ideal_file("twisted-cubic")
    assert str(found.generators) == "(-cubic + twisted,)"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_ideal_file("twisted-cubic", variables="twisted cubic")
        read_ideal_file("twisted - cubic\n")


def run(*arguments: str) -> Result:
    """What the command line says."""
    return CliRunner().invoke(cli, list(arguments))


@pytest.mark.parametrize(
    "command",
    [("ideal", "twisted-cubic", "jacobian"), ("singular-locus", "--ideal", "twisted-cubic")],
)
def test_a_missing_file_is_asked_for(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "there is no file 'twisted-cubic'" in run(*command).stderr


def test_variables_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    refused = run("ideal", "ad - bc", "jacobian")
    assert "'ad' could be a*d or one variable" in refused.stderr
    assert "--variables" in refused.stderr
    declared = run("ideal", "ad - bc", "jacobian", "--variables", "bc, ad")
    assert declared.stderr == "The ring has 2 variables, bc, ad, over QQ.\n"
    assert declared.stdout.strip()
    Path("plain").write_text("ad - bc\n")
    of_file = run("ideal", "plain", "jacobian", "--variables", "ad bc", "--json")
    assert json.loads(of_file.stdout)["ideal"]["coordinates"] == ["ad", "bc"]
    Path("table").write_text('[ideal]\nvariables = ["x"]\ngenerators = ["x"]\n')
    assert "names its variables" in run("ideal", "table", "jacobian", "--variables", "x").stderr
    alone = run("polar-degrees", "--d", "1", "--d-out", "1", "--variables", "x")
    assert "--variables has no effect without --ideal" in alone.stderr


def test_tools_of_assistants_take_variables_too() -> None:
    for name in ("ideal", "singular_locus", "polar_degrees", "ed_degree"):
        assert "variables" in arguments_of(name)

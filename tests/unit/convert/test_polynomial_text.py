"""Polynomials and ideals as text and on the wire."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import given, strategies as st
from sympy import QQ as SYMPY_QQ, symbols, sympify

from m2bridge import CoefficientField, SingleLayerAttention, closure, ideal, read_ideal, read_mrdi
from m2bridge.algebra.field import QQ
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing
from m2bridge.convert.answers import parse
from m2bridge.convert.decode import decode, dense_terms as terms
from m2bridge.convert.decode_values import decode_value
from m2bridge.convert.encode import variable_parts
from m2bridge.convert.polynomial_parser import names_in, read_polynomial, read_rational_function
from m2bridge.convert.printing import polynomial_text
from m2bridge.convert.toml_files import read_map
from m2bridge.errors import ConversionError, ParseError

# The strict parser for polynomials, and map files.

RING = PolynomialRing(QQ, ("x", "y_1", "Zeta"))
X, Y, Z = RING.sympy_ring.gens

COEFFICIENTS = st.fractions(max_denominator=10**6).filter(bool)
POLYNOMIALS = st.dictionaries(st.tuples(*[st.integers(0, 5)] * 3), COEFFICIENTS, max_size=6).map(
    lambda terms: RING.sympy_ring.from_dict(
        {m: SYMPY_QQ(c.numerator, c.denominator) for m, c in terms.items()}
    )
)


@pytest.mark.slow
@given(POLYNOMIALS, st.booleans())
def test_what_sympy_writes_is_read_back(polynomial, caret):
    text = str(polynomial)
    assert read_polynomial(text.replace("**", "^") if caret else text, RING) == polynomial


@given(st.integers(-9, 9), st.integers(-9, 9))
def test_coefficients_can_be_put_in_as_people_do(a, b):
    """SymPy reads the same text as the same polynomial."""
    for text in (f"{a}*x + {b}*y_1", f"{a}*x-{b}*y_1*{a}", f"-{a}*x**2 - {b}/{b or 1}"):
        assert read_polynomial(text, RING) == RING.polynomial(sympify(text))


@pytest.mark.slow
@given(POLYNOMIALS, POLYNOMIALS, st.integers(0, 3))
def test_reading_is_a_homomorphism(f, g, n):
    assert read_polynomial(f"({f})*({g}) - ({f})^{n}", RING) == f * g - (f**n if n else 1)


@given(st.text(alphabet="xy_1Zeta0123456789+-*/^() .", max_size=30))
def test_anything_else_is_refused_in_one_line(text):
    message = ""
    try:
        found = read_polynomial(text, RING)
    except ConversionError as refused:
        message = str(refused)
    assert re.fullmatch(r"column \d+: [^\n]+", message) or found.ring == RING.sympy_ring


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3/7*x", X * SYMPY_QQ(3, 7)),
        (" - x ^ 2 + y_1**2 ", Y**2 - X**2),
        ("-x^2", -(X**2)),
        ("(x + 1)^2/2", (X + 1) ** 2 * SYMPY_QQ(1, 2)),
        ("2^3*0", RING.sympy_ring.zero),
        ("0^0", RING.sympy_ring.one),
        ("x - y_1 - Zeta", X - Y - Z),
        ("x + -3*y_1", X - 3 * Y),
        ("x - -3*y_1", X + 3 * Y),
        ("x--3*y_1", X + 3 * Y),
        ("-(-x)*+2*-y_1^2", -2 * X * Y**2),
        ("x/-2", -X / 2),
        ("- " * 5001 + "x", -X),
        ("1/2/3", RING.sympy_ring.ground_new(SYMPY_QQ(1, 6))),
        ("1.5*x - .25", X * SYMPY_QQ(3, 2) - SYMPY_QQ(1, 4)),
        ("0.1", RING.sympy_ring.ground_new(SYMPY_QQ(1, 10))),
        ("2x^2y_1", 2 * X**2 * Y),
        ("2Zeta*x", 2 * Z * X),
        ("-3(x + 1)(x - 1)y_1", -3 * (X**2 - 1) * Y),
        ("x y_1 − 2·x×y_1", -X * Y),
        ("2x/3", X * SYMPY_QQ(2, 3)),
        ("9" * 5000, RING.sympy_ring.ground_new(10**5000 - 1)),
    ],
)
def test_notation(text, expected):
    assert read_polynomial(text, RING) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "column 1: expected a number"),
        ("x +", "column 4: expected a number, a name or '(', found the end"),
        ("x 2", "column 3: expected an operator, found '2'"),
        ("x(y_1)", "write * between factors: x*(y_1)"),
        ("x/0", "column 3: a divisor must not be zero (in 'x/0')"),
        ("x/(y_1 - y_1)", "column 3: a divisor must not be zero"),
        ("1/2x", "'x' could be a factor of the divisor, or of the fraction"),
        ("x\ny_1", "column 3: expected an operator, found 'y_1'"),
        ("2 Zeta", "column 3: expected an operator, found 'Zeta'"),
        ("2e-3*x", "'2e-3*x' could be a number with an exponent, or a product"),
        ("x = y_1", "no equation is expected here"),
        ("x*/1", "column 3: expected a number"),
        ("x + *y_1", "column 5: expected a number, a name or '(', found '*' (in 'x + *y_1')"),
        ("x -", "column 4: expected a number, a name or '(', found the end (in 'x -')"),
        ("x + y_1 ! Zeta\n", "(in 'x + y_1 ! Zeta\\n')"),
        ("1+" * 50 + "w" + "+1" * 50, f"known are x, y_1, Zeta (in '…{'1+' * 20}w{'+1' * 19}+…')"),
        ("w + x", "column 1: unknown name 'w'"),
        ("x + yy", "column 5: unknown name 'yy'"),
        ("1/x", "column 3: only numbers"),
        ("1/0", "column 3: a divisor must not be zero"),
        ("x^-1", "column 3: an exponent"),
        ("x^y_1", "column 3: an exponent"),
        ("x^1001", "column 3: an exponent"),
        ("x^2^3", "column 4: expected an operator"),
        ("(x", "column 3: expected ')'"),
        ("x)", "column 2: expected an operator, found ')'"),
        ("x^0.5", "column 3: an exponent must be an integer"),
        ("1..5", "expected an operator, found '.5'"),
        ("__import__('os')", "column 1: unexpected character '_'"),
        ("x; y_1", "column 2: unexpected character ';'"),
        ("(x+y_1+Zeta)^1000", "column 13: too large"),
        ("(x+y_1+Zeta)^300", "column 13: too large"),
        ("(x+y_1)^300*(x+Zeta)^300", "column 12: too large"),
        ("*".join(["(1+x+y_1)"] * 150), "too large"),
        ("+".join(f"(x+y_1+Zeta)^{k}" for k in range(30, 100)), "too large"),
        ("((9^1000)^1000)^1000", "too large"),
        ("(" * 100 + "x" + ")" * 100, "parentheses inside one another"),
        ("²", "unexpected character '²'"),
        ("½", "unexpected character '½'"),
        ("٣", "unexpected character"),
    ],
)
def test_garbage_is_refused_with_its_place(text, said):
    with pytest.raises(ConversionError) as refused:
        read_polynomial(text, RING)
    assert said in str(refused.value)


@pytest.mark.slow
def test_long_sums_are_read_in_linear_time_and_leave_the_ring_alone():
    text = (
        "+".join(f"{k}*x^{k % 97}*y_1^{k % 89}*Zeta^{k % 7}" for k in range(1, 5000))
        + "-1*x*y_1*Zeta"
    )
    assert len(read_polynomial(text, RING)) == 4998
    assert read_polynomial("x - x + y_1 - y_1", RING) == 0
    assert RING.sympy_ring.gens == (X, Y, Z)
    assert read_polynomial("x", RING) == X


GOOD = (
    '[map]\nparameters = ["s", "t"]\nrelations = ["s*t - 1"]\n[coordinates]\nx = "s^2"\ny ='
    ' "1/3*t"\nz = "1"\n'
)


def test_map_files():
    found, title = read_map(GOOD)
    assert (found.coordinates, title) == (("x", "y", "z"), "")
    s, t = found.source.sympy_ring.gens
    assert found.images == (s**2, t / 3, found.source.sympy_ring.one)
    assert found.relations == (s * t - 1,)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[map", "not TOML"),
        ("", "the table [map] is missing"),
        ("[coordinates]\nx = 1", "the table [map] is missing"),
        ("map = 1\n[coordinates]\nx = 1", "[map] must be a table"),
        ("coordinates = 5\n[map]\nparameters = ['s']", "[coordinates] must be a table"),
        (GOOD.replace("parameters", "params"), "'parameters' is missing"),
        (GOOD.replace("relations", "equations"), "unknown key 'equations'"),
        (GOOD.replace('"s", "t"', '"s", 3'), "[map] parameters: must be a list of texts in quotes"),
        (GOOD.replace('"s", "t"', '"s", "s"'), "'s' occurs twice"),
        (GOOD.replace('"s", "t"', '"s", "2t"'), "'2t' is not a name"),
        (GOOD.replace('"s", "t"', '"s", "x²"'), "'x²' is not a name"),
        (GOOD.replace("y =", "t ="), "'t' names a parameter and a coordinate: give one"),
        (GOOD.replace("s^2", "s^2 + q"), "[coordinates] x: column 7: unknown name 'q'"),
        (GOOD.replace("s*t - 1", "s*t -"), "[map] relations 1: column 6: expected"),
        (GOOD.replace('z = "1"', "z = 1"), "[coordinates] z: must be a polynomial in quotes"),
        (GOOD.replace('z = "1"', "z = 1.5"), "[coordinates] z: must be a polynomial in quotes"),
        (GOOD.replace("[map]", r"[map]" + '\ntitle = "a\\nb"'), "[map] title: must be one line"),
        (
            GOOD.replace("[map]", r"[map]" + '\ntitle = "a\\u001b[31m"'),
            "[map] title: must be one line",
        ),
        (
            GOOD.replace("[map]", r"[map]" + '\ntitle = "a\\u2028b"'),
            "[map] title: must be one line",
        ),
        (GOOD.replace("x =", r'"x\u001b" ='), r"'x\x1b' is not a name"),
        ('[map]\nparameters = ["s"]\n[coordinates]\n', "at least one"),
    ],
)
def test_bad_map_files_are_refused_with_the_place(text, said):
    with pytest.raises(ConversionError) as refused:
        read_map(text)
    assert said in str(refused.value)


# Terms of polynomials in the text of Macaulay2's engine.

NAMES = ["x", "y", "z", "e'", "x_1", "x_12", "y_(1,2)", "y_(1,12)"]


def read(text: str, size: int) -> list[tuple[str, tuple[int, ...]]]:
    return [
        (number, exponents) for exponents, number in terms(["Text", NAMES, size, text], len(NAMES))
    ]


def test_a_text_of_all_kinds_of_terms() -> None:
    assert read("-x2y_(1,2)^13+3/2xzx_1e'^4-x_12y_(1,12)-7/3", 4) == [
        ("-1", (2, 0, 0, 0, 0, 0, 13, 0)),
        ("3/2", (1, 0, 1, 4, 1, 0, 0, 0)),
        ("-1", (0, 0, 0, 0, 0, 1, 0, 1)),
        ("-7/3", (0,) * 8),
    ]
    assert read("x", 1) == [("1", (1, 0, 0, 0, 0, 0, 0, 0))]


MONOMIALS = st.lists(st.integers(0, 20), min_size=8, max_size=8).map(tuple)
NUMBERS = st.fractions().filter(bool)


def power(name: str, exponent: int) -> str:
    return (
        name if exponent == 1 else f"{name}{exponent}" if len(name) == 1 else f"{name}^{exponent}"
    )


@given(st.lists(st.tuples(NUMBERS, MONOMIALS), min_size=1))
def test_every_text_is_read_in_one_way(listed: list[tuple[object, tuple[int, ...]]]) -> None:
    text = ""
    for number, exponents in listed:
        powers = [power(name, e) for name, e in zip(NAMES, exponents, strict=True) if e]
        written = (
            str(number).removesuffix("1") if str(number) in ("1", "-1") and powers else str(number)
        )
        text += ("" if written.startswith("-") or not text else "+") + written + "".join(powers)
    assert read(text, len(listed)) == [(str(number), exponents) for number, exponents in listed]


@pytest.mark.parametrize(
    "text", ["t", "2*x", "x^", "x y", "x^2^3", "3.5x", "x_(1;2)", "-", "3/x", "/2x"]
)
def test_what_is_no_polynomial_in_these_variables_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="not a"):
        read(f"{text}+x", 2)


@pytest.mark.parametrize("text", ["x", "x-y", "x+y+z+7", ""])
def test_a_text_that_is_cut_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="terms of 3"):
        read(text, 3)


RING_WIRE = ["PolynomialRing", ["QQ"], [["x"], ["c", 1, 2]]]


def test_numbers_of_any_size_are_exact() -> None:
    digits = "9" * 20_000
    assert decode(["ZZ", digits]) == 10**20_000 - 1
    assert decode(["ZZ", "-" + digits]) == 1 - 10**20_000
    assert decode(["QQ", "-1/3"]) == Fraction(-1, 3)
    assert decode(["ZZ/p", "7", "-3"]) == 4


def test_containers_and_atoms() -> None:
    value = ["List", [["Sequence", [["ZZ", "1"], True]], "text", None]]
    assert decode(value) == [(1, True), "text", None]


def test_polynomials_are_sympy_polynomials() -> None:
    polynomial = decode(["RingElement", RING_WIRE, [[[2, 1], "3/7"], [[0, 0], "-1"]]])
    assert str(polynomial) == "3/7*x**2*c_1_2 - 1"
    ideal = decode(["Ideal", RING_WIRE, [[[[1, 0], "1"]], []]])
    assert [str(g) for g in ideal.generators] == ["x"]


@pytest.mark.parametrize(
    "value",
    [
        ["Unknown", "1"],
        ["ZZ", "1.5"],
        ["ZZ", "one"],
        ["ZZ"],
        [],
        {"ZZ": "1"},
        3,
        ["QQ", "1/0"],
        ["RingElement", RING_WIRE, [[[1], "1"]]],
        ["RingElement", RING_WIRE, [[[1, 0], "1"], [[1, 0], "2"]]],
        ["RingElement", RING_WIRE, [[[1, 0], "0"]]],
        ["RingElement", ["QuotientRing"], []],
        ["Ideal", ["PolynomialRing", ["RR"], [["x"]]], []],
        ["Matrix", RING_WIRE, 2, 2, [[]]],
    ],
)
def test_everything_else_is_refused(value: object) -> None:
    with pytest.raises(ParseError):
        decode(value)


@pytest.mark.parametrize(
    "record", ["", "{}", '{"field":"x"}', "[1]", '{"field":"x","value":["ZZ",1]}']
)
def test_malformed_records_are_refused(record: str) -> None:
    with pytest.raises(ParseError):
        parse([record])


def test_fields_are_checked() -> None:
    answer = parse(['{"field":"n","value":["ZZ","3"]}', '{"field":"b","value":true}'])
    assert answer.integer("n") == 3
    with pytest.raises(ParseError, match="no field 'm'"):
        answer.integer("m")
    with pytest.raises(ParseError, match="is a bool"):
        answer.integer("b")
    with pytest.raises(ParseError, match="twice"):
        parse(['{"field":"n","value":["ZZ","3"]}'] * 2)


# What closures write is read back.

NAMES_IDEAL_TEXT = ("x", "y_1", "c_1_2")


@pytest.mark.parametrize("case", [(2, 2), (2, 1, 1), (1, 2)])
def test_a_closure_in_a_file(case: tuple[int, ...]) -> None:
    found = closure(SingleLayerAttention(*case), max_degree=4)
    assert read_ideal(json.loads(json.dumps(found.to_json()))) == found.ideal


@given(
    st.sampled_from([QQ, CoefficientField(7)]),
    st.dictionaries(
        st.tuples(*[st.integers(0, 12)] * 3),
        st.fractions(max_denominator=6),
        min_size=1,
        max_size=5,
    ),
)
def test_every_polynomial(field: CoefficientField, terms: dict[tuple[int, ...], object]) -> None:
    ring = PolynomialRing(field, NAMES_IDEAL_TEXT)
    domain = ring.sympy_ring.domain
    values = {m: domain(c.numerator) / domain(c.denominator) for m, c in terms.items()}  # type: ignore[attr-defined]
    polynomial = ring.sympy_ring.from_dict({m: c for m, c in values.items() if c})
    if polynomial:
        data = {
            "field": str(field),
            "coordinates": list(NAMES_IDEAL_TEXT),
            "generators": [polynomial_text(polynomial)],
        }
        assert read_ideal(data).generators == (polynomial,)


BAD = """-|x +|x + |x+y_1|x + x|0|0*x|x - - x|z|x**|x**-1|x**y_1|2/0*x|1e3*x|x * y_1|x ** 2|(x)|__import__('os')
x**²|٣*x|x + 1 y_1|x**99999|x*|*x|x^2^2"""


@pytest.mark.parametrize("text", ["", *BAD.replace("\n", "|").split("|")])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ConversionError):
        read_ideal({"field": "QQ", "coordinates": ["x", "y_1"], "generators": [text]})


@pytest.mark.parametrize("generators", [None, "x", [1]])
def test_other_json_is_refused(generators: object) -> None:
    for data in ({"field": "QQ", "coordinates": ["x"], "generators": generators}, {}, []):
        with pytest.raises(ConversionError, match="JSON of a closure"):
            read_ideal(data)  # type: ignore[arg-type]


@pytest.mark.parametrize("exponent", [0, 1, 2])
def test_a_monomial_occurs_once_on_the_wire(exponent: int) -> None:
    """In answers of scripts, whose terms have all exponents, and in values, whose terms have the
    powers that occur.
    """
    answer = ["RingElement", ["PolynomialRing", ["QQ"], [["x"]]], [[[1], "1"], [[exponent], "2"]]]
    order = [
        ["Sequence", "MonomialSize", 32],
        ["Sequence", "GRevLex", [1]],
        ["Sequence", "Position", "Up"],
    ]
    algebra = ["Algebra", ["Ring", 0], [["Variable", "x"]], [[1]], order, False, [], [], 1, True]
    rings = [["CoefficientField", 0], algebra]
    value = [
        "Value",
        rings,
        ["Element", 1, [["1", 0, 1], ["2", 0, exponent] if exponent else ["2"]]],
    ]
    for read, data in ((decode, answer), (partial(decode_value, make_ideal=GeneratingSet), value)):
        if exponent == 1:
            with pytest.raises(ParseError, match="a monomial occurs twice"):
                read(data)
        else:
            assert str(read(data)) == {0: "x + 2", 2: "2*x**2 + x"}[exponent]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("x² - y_1²*Zeta", "x^2 - y_1^2*Zeta"),
        ("x¹⁰", "x^10"),
        ("(x + y_1)³", "(x + y_1)^3"),
        ("2²*x ²", "4*x^2"),
        ("-x²", "-(x^2)"),
        ("y_(1)²", "y_1^2"),
        ("x²y_1", "x^2*y_1"),
    ],
)
def test_superscript_digits_are_powers(text: str, meant: str) -> None:
    assert read_polynomial(text, RING) == read_polynomial(meant, RING)
    assert names_in(text) == names_in(meant)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x^2²", "expected an operator"),
        ("x⁹⁹⁹⁹", "an exponent must be an integer"),
        ("½*x", "column 1: unexpected character '½'"),
        ("xⁿ", "column 2: unexpected character 'ⁿ'"),
        ("x⁻¹", "column 2: unexpected character '⁻'"),
        ("²x", "column 1: unexpected character '²'"),
        ("x^²", "column 3: unexpected character '²'"),
        ("x + x₁", "column 6: unexpected character '₁'"),
        ("𝑥", "column 1: unexpected character '𝑥'"),
    ],
)
def test_characters_that_only_look_like_others_are_refused(text: str, said: str) -> None:
    with pytest.raises(ConversionError, match=said):
        read_polynomial(text, RING)


def test_ideals_and_maps_take_superscripts_as_powers() -> None:
    """No variable x2 is invented, of which the variety would be smooth."""
    assert ideal("x² - y²*z").generators == ideal("x^2 - y^2*z").generators
    assert ideal("ideal(x², y¹⁰) of QQ[x, y]").ring.variables == ("x", "y")
    found, _ = read_map(GOOD.replace("^2", "²"))
    assert "²" in GOOD.replace("^2", "²")
    assert found == read_map(GOOD)[0]


def test_names_have_primes_as_in_macaulay2() -> None:
    """Ideals of a workspace are asked about by text, and what they print is read."""
    made = ideal("x'^2 - y''*z'_1, x'²")
    assert made.ring.variables == ("x'", "y''", "z'_1")
    assert made == ideal("x'^2 - y''*z'_1", "x'^2", variables="x' y'' z'_1") == ideal(str(made))
    x, *_ = made.ring.sympy_ring.gens
    assert made.generators[1] == read_polynomial("x'*x'", made.ring) == x**2
    for wrong in ("'x", "2'", "x^2'", "(x)'"):
        with pytest.raises(ConversionError, match="column"):
            names_in(wrong)
    with pytest.raises(ConversionError, match="is not a name"):
        ideal("x", variables="x '")


def test_indices_are_decimal_digits_in_names() -> None:
    """x_1٥ is no other way to write x_15, of which Macaulay2 would make the same variable."""
    names = ["x_15", "x_1٥", "x_٣", "x_3"]
    parts = variable_parts(names)
    assert parts[0] == ["x", 15]
    assert parts[3] == ["x", 3]
    assert len({tuple(part) for part in parts}) == len(names)
    saved = ideal("x_3 - x_٣").to_mrdi()
    assert read_mrdi(saved).ring.variables == ("x_3", "x_٣")


@pytest.mark.parametrize(
    ("text", "above", "below"),
    [
        ("(1 - x^2)/(1 + x^2)", "1 - x^2", "x^2 + 1"),
        ("1/(1 + 1/x)", "x", "x + 1"),
        ("x/y_1/x", "1", "y_1"),
        ("(1/x)^2 - 1/x^2", "0", "1"),
        ("x/(2*y_1) + y_1/(3*x)", "3*x^2 + 2*y_1^2", "6*x*y_1"),
        ("2/3*x", "2*x", "3"),
        ("x + 1", "x + 1", "1"),
    ],
)
def test_rational_functions(text: str, above: str, below: str) -> None:
    found = read_rational_function(text, RING)
    assert found[0] * read_polynomial(below, RING) == found[1] * read_polynomial(above, RING)
    assert found[1].monic() == read_polynomial(below, RING).monic()


def test_maps_by_rational_functions_have_the_inverse_of_a_denominator() -> None:
    t = symbols("t")
    text = '[map]\nparameters = ["t"]\n[coordinates]\nx = "(1 - t^2)/(1 + t^2)"\ny = "2t/(1 + t^2)"'
    found, _ = read_map(text)
    assert found == PolynomialMap.from_expressions(
        [t], {"x": (1 - t**2) / (1 + t**2), "y": 2 * t / (1 + t**2)}
    )
    assert (found.source.variables, found.coordinates) == (("t", "w"), ("x", "y"))
    assert str(found.relations) == "(t**2*w + w - 1,)"
    x, y = found.evaluate((2, Fraction(1, 5)))
    assert x**2 + y**2 == 1
    for name, images in (("w", {"x": 1 / t}), ("w_1", {"w": 1 / (2 * t)})):
        one = PolynomialMap.from_expressions([t], images)
        assert one.source.variables == ("t", name)
        assert str(one.relations) == f"(t*{name} - 1,)"

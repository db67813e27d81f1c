"""The strict parser for polynomials, and map files."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sympy import QQ as SYMPY_QQ
from sympy import sympify

from m2bridge.algebra.field import QQ
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert.files import read_map
from m2bridge.convert.polynomial_text import read_polynomial
from m2bridge.errors import ConversionError

RING = PolynomialRing(QQ, ("x", "y_1", "Zeta"))
X, Y, Z = RING.sympy_ring.gens

COEFFICIENTS = st.fractions(max_denominator=10**6).filter(bool)
POLYNOMIALS = st.dictionaries(st.tuples(*[st.integers(0, 5)] * 3), COEFFICIENTS, max_size=6).map(
    lambda terms: RING.sympy_ring.from_dict({m: SYMPY_QQ(c.numerator, c.denominator) for m, c in terms.items()})
)


@given(POLYNOMIALS, st.booleans())
def test_what_sympy_writes_is_read_back(polynomial, caret):
    text = str(polynomial)
    assert read_polynomial(text.replace("**", "^") if caret else text, RING) == polynomial


@given(st.integers(-9, 9), st.integers(-9, 9))
def test_coefficients_can_be_put_in_as_people_do(a, b):
    """SymPy reads the same text as the same polynomial."""
    for text in (f"{a}*x + {b}*y_1", f"{a}*x-{b}*y_1*{a}", f"-{a}*x**2 - {b}/{b or 1}"):
        assert read_polynomial(text, RING) == RING.polynomial(sympify(text))


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
        ("-" * 5001 + "x", -X),
        ("1/2/3", RING.sympy_ring.ground_new(SYMPY_QQ(1, 6))),
        ("9" * 5000, RING.sympy_ring.ground_new(10**5000 - 1)),
    ],
)
def test_notation(text, expected):
    assert read_polynomial(text, RING) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "column 1: expected a number"),
        ("x +", "column 4: expected a number, a name or '(', found the end"),
        ("2 x", "column 3: expected an operator, found 'x'"),
        ("x*/1", "column 3: expected a number"),
        ("x + *y_1", "column 5: expected a number, a name or '(', found '*' (in 'x + *y_1')"),
        ("x -", "column 4: expected a number, a name or '(', found the end (in 'x -')"),
        ("x + y_1 ! Zeta\n", "(in 'x + y_1 ! Zeta\\n')"),
        ("1+" * 50 + "w" + "+1" * 50, f"known are x, y_1, Zeta (in '…{'1+' * 20}w{'+1' * 19}+…')"),
        ("w + x", "column 1: unknown name 'w'"),
        ("x + yy", "column 5: unknown name 'yy'"),
        ("1/x", "column 3: only numbers"),
        ("1/0", "column 3: only numbers"),
        ("x^-1", "column 3: an exponent"),
        ("x^y_1", "column 3: an exponent"),
        ("x^1001", "column 3: an exponent"),
        ("x^2^3", "column 4: expected an operator"),
        ("(x", "column 3: expected ')'"),
        ("x)", "column 2: expected an operator, found ')'"),
        ("1.5*x", "column 2: numbers are exact: write 3/2*x"),
        ("__import__('os')", "column 1: unexpected character '_'"),
        ("x; y_1", "column 2: unexpected character ';'"),
        ("(x+y_1+Zeta)^1000", "column 13: too large"),
        ("(x+y_1+Zeta)^300", "column 13: too large"),
        ("(x+y_1)^300*(x+Zeta)^300", "column 12: too large"),
        ("*".join(["(1+x+y_1)"] * 150), "too large"),
        ("+".join(f"(x+y_1+Zeta)^{k}" for k in range(30, 100)), "too large"),
        ("((9^1000)^1000)^1000", "too large"),
        ("(" * 100 + "x" + ")" * 100, "parentheses inside one another"),
        ("²", "unknown name"),
        ("½", "unknown name"),
        ("٣", "unexpected character"),
    ],
)
def test_garbage_is_refused_with_its_place(text, said):
    with pytest.raises(ConversionError) as refused:
        read_polynomial(text, RING)
    assert said in str(refused.value)


def test_long_sums_are_read_in_linear_time_and_leave_the_ring_alone():
    text = "+".join(f"{k}*x^{k % 97}*y_1^{k % 89}*Zeta^{k % 7}" for k in range(1, 5000)) + "-1*x*y_1*Zeta"
    assert len(read_polynomial(text, RING)) == 4998
    assert read_polynomial("x - x + y_1 - y_1", RING) == 0
    assert RING.sympy_ring.gens == (X, Y, Z)
    assert read_polynomial("x", RING) == X


GOOD = '[map]\nparameters = ["s", "t"]\nrelations = ["s*t - 1"]\n[coordinates]\nx = "s^2"\ny = "1/3*t"\nz = "1"\n'


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
        (GOOD.replace("parameters", "params"), "'parameters' is missing"),
        (GOOD.replace("relations", "equations"), "unknown key 'equations'"),
        (GOOD.replace('"s", "t"', '"s", 3'), "[map] parameters: must be a list of texts in quotes"),
        (GOOD.replace('"s", "t"', '"s", "s"'), "'s' occurs twice"),
        (GOOD.replace('"s", "t"', '"s", "2t"'), "'2t' is not a name"),
        (GOOD.replace('"s", "t"', '"s", "x²"'), "'x²' is not a name"),
        (GOOD.replace("y =", "t ="), "'t' occurs twice"),
        (GOOD.replace("s^2", "s^2 + q"), "[coordinates] x: column 7: unknown name 'q'"),
        (GOOD.replace("s*t - 1", "s*t -"), "[map] relations 1: column 6: expected"),
        (GOOD.replace('z = "1"', "z = 1"), "[coordinates] z: must be a polynomial in quotes"),
        (GOOD.replace('z = "1"', "z = 1.5"), "[coordinates] z: must be a polynomial in quotes"),
        (GOOD.replace("[map]", r"[map]" + '\ntitle = "a\\nb"'), "[map] title: must be one line"),
        (GOOD.replace("[map]", r"[map]" + '\ntitle = "a\\u001b[31m"'), "[map] title: must be one line"),
        (GOOD.replace("[map]", r"[map]" + '\ntitle = "a\\u2028b"'), "[map] title: must be one line"),
        (GOOD.replace("x =", r'"x\u001b" ='), r"'x\x1b' is not a name"),
        ('[map]\nparameters = ["s"]\n[coordinates]\n', "at least one"),
    ],
)
def test_bad_map_files_are_refused_with_the_place(text, said):
    with pytest.raises(ConversionError) as refused:
        read_map(text)
    assert said in str(refused.value)

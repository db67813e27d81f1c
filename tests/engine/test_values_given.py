"""Values and expressions given to Macaulay2."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import flint
import numpy
import pytest
from hypothesis import given, settings, strategies as st
from sympy import (
    GF,
    QQ as RATIONALS,
    ZZ as INTEGERS,
    EulerGamma,
    I,
    ImmutableMatrix,
    Matrix,
    Poly,
    Rational,
    grevlex,
    grlex,
    lex,
    pi,
    ring,
    sqrt,
    symbols,
)

import m2bridge
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.convert.bindings import bindings
from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.ideals.ideal import Ideal
from m2bridge.workspace.evaluation import bindings_of
from m2bridge.workspace.macaulay2 import Macaulay2, Workspace
from m2bridge.workspace.values import (
    Array,
    ComplexNumber,
    HashTable,
    Option,
    Partition,
    Real,
    Set,
    Symbol,
    Tally,
)
from tests.everyday import values

# Python values given to Macaulay2: of SymPy, python-flint and NumPy, and random ones; names; what
# is refused.

x, y = symbols("x y")
LEX = ring("x,y", INTEGERS, lex)[1:]
GLEX = ring("x,y,z", RATIONALS, grlex)[1:]
CONTEXT = flint.fmpq_mpoly_ctx.get(["x", "y"], "degrevlex")
NAMED = PolynomialRing(QQ, ("e", "i", "res", "dd", "alpha", "xy", "x_1", "x_1_2", "p_a", "x"))
CUSP = Ideal(
    PolynomialRing(QQ, ("x", "y")), (PolynomialRing(QQ, ("x", "y")).polynomial(x**2 - y**3),)
)

NINE = flint.fq_default_poly_ctx(flint.fq_default_ctx(3, 2, "a"))
OTHER_NINE = flint.fq_default_ctx(
    3, modulus=flint.fmpz_mod_poly_ctx(flint.fmpz_mod_ctx(3))([1, 0, 1]), var="i"
)
OVER_SEVEN = flint.fmpz_mod_poly_ctx(flint.fmpz_mod_ctx(7))

TAKEN: list[tuple[str, dict[str, Any], Any]] = [
    ("n + 1", {"n": 10**50}, 10**50 + 1),
    ("q", {"q": Rational(3, 7)}, Fraction(3, 7)),
    ("q", {"q": flint.fmpq(3, 7)}, Fraction(3, 7)),
    ("q", {"q": flint.fmpz(3)}, 3),
    ("q", {"q": numpy.int64(3)}, 3),
    ("toString f", {"f": x**2 + y / 2}, "x^2+(1/2)*y"),
    ("f*g", {"f": x, "g": x + y}, PolynomialRing(QQ, ("x", "y")).polynomial(x**2 + x * y)),
    ("x", {"f": x + 1}, PolynomialRing(QQ, ("x",)).polynomial(x)),
    ("toString f", {"f": Poly(x**2 + 1, x, domain=GF(5))}, "x^2+1"),
    ("f", {"f": LEX[0] + 1}, LEX[0] + 1),
    ("toString leadTerm(x + y^2)", {"f": LEX[0]}, "x"),
    ("(leadTerm(x + z^2) == z^2, leadTerm(x^2*z + x*y^2) == x^2*z)", {"f": GLEX[0]}, (True, True)),
    ("f", {"f": ring("x,y", INTEGERS, grlex)[1]}, ring("x,y", INTEGERS, grlex)[1]),
    ("toString f", {"f": flint.fmpz_poly([1, 0, 2])}, "2*x^2+1"),
    ("toString f", {"f": flint.nmod_poly([1, 2], 5)}, "2*x+1"),
    ("toString f", {"f": CONTEXT.from_dict({(1, 2): 3, (0, 0): flint.fmpq(1, 2)})}, "3*x*y^2+1/2"),
    ("det M", {"M": Matrix([[1, 2], [3, 4]])}, -2),
    ("toString det M", {"M": Matrix([[x, 2], [3, y]])}, "x*y-6"),
    ("toString det M", {"M": ImmutableMatrix([[x, 2], [3, y]])}, "x*y-6"),
    ("det M", {"M": flint.fmpz_mat([[1, 2], [3, 4]])}, -2),
    ("M_(0,1)", {"M": flint.fmpq_mat([[1, flint.fmpq(1, 2)]])}, Fraction(1, 2)),
    ("toString det M", {"M": flint.nmod_mat([[1, 2], [3, 4]], 7)}, "-2"),
    ("det M", {"M": numpy.array([[1, 2], [3, 4]])}, -2),
    ("v", {"v": numpy.array([1, 2])}, [1, 2]),
    ("I", {"I": CUSP}, CUSP),
    ("I == ideal(x^2-y^3)", {"I": CUSP}, True),
    ("ring I === ring J", {"I": CUSP, "J": CUSP}, True),
    (
        "e + i + res + dd + alpha + xy + x_1 + x_(1,2) + p_a",
        {"R": NAMED},
        sum(NAMED.sympy_ring.gens[:-1]),
    ),
    ("f", {"f": PolynomialMap.from_expressions(["t"], {"x": symbols("t") ** 2})}, None),
    ("promote(k, ZZ/7) == 3", {"k": flint.nmod(3, 7)}, True),
    ("(2^61 - 1) * k == 0", {"k": flint.nmod(3, 2**61 - 1)}, True),
    ("toString f", {"f": NINE([1, NINE.base_field().gen()])}, "a*x+1"),
    ("i^2 == -1 and (ring f)_0 == f", {"f": flint.fq_default_poly_ctx(OTHER_NINE).gen()}, True),
    ("ring f === ring g", {"f": NINE([1]), "g": NINE([0, 1])}, True),
    ("toString f", {"f": OVER_SEVEN([1, 5])}, "-2*x+1"),
    ("{pi, ii, EulerConstant} == c", {"c": [pi, I, EulerGamma]}, True),
    ("h#1", {"h": {1: [2, (3,)]}}, [2, (3,)]),
]


@pytest.mark.parametrize(
    "row", range(len(TAKEN)), ids=[f"{c}, {next(iter(i.values()))!r:.40}" for c, i, _ in TAKEN]
)
def test_taken(session: Macaulay2, row: int) -> None:
    found, expected = taken(session)[row], TAKEN[row][2]
    assert not isinstance(found, Exception), found
    if expected is not None:
        assert found == expected
        assert isinstance(found, type(expected))


COMPOSITE: list[tuple[str, Any, Any]] = [
    ("(7*k == k, 3*k == 0, 2*k == 0)", flint.nmod(7, 6), (True, False, False)),
    ("(2*k == 0, 3*k == 0)", GF(6)(4), (False, True)),
    ("(2*k_(0,1) == 2, 3*k_(0,0) == 3, 2*k_(0,0) == 0)", flint.nmod_mat([[3, 4]], 6), (True,) * 3),
    ("(3*k == 3*x^2, 6*k == 0)", Poly(x**2 + 2, x, modulus=6), (True, True)),
]


@pytest.mark.parametrize(("code", "value", "expected"), COMPOSITE)
def test_residues_modulo_composite_numbers(
    session: Macaulay2, code: str, value: Any, expected: Any
) -> None:
    if session.value('version#"VERSION"') == "1.21":
        with pytest.raises(ConversionError, match="not implemented yet for composite n = 6"):
            session.value(code, k=value)
    else:
        assert session.value(code, k=value) == expected


@cache
def taken(session: Macaulay2) -> list[Any]:
    return values(session, [(code, inputs) for code, inputs, _ in TAKEN])


REFUSED = [
    ComplexNumber.of(complex(0, float("inf"))),
    ComplexNumber.of(complex(0, float("nan"))),
    0.5,
    1j,
    numpy.array([0.5]),
    sqrt(2),
    x + 0.5,
    Matrix([[1 / x]]),
    flint.arb(1),
    NINE.base_field().gen(),
    flint.fmpz_mod_ctx(7)(3),
    Decimal("0.1"),
    object(),
    b"bytes",
    "\ud800",
]


def expression(value: Any) -> str:
    """How one value is encoded."""
    return bindings({"x": value}).removeprefix('mbDefine({"x"}, {')


@pytest.mark.parametrize("value", REFUSED, ids=lambda value: repr(value).partition(" object at")[0])
def test_refused(value: Any) -> None:
    with pytest.raises(ConversionError):
        expression(value)


@pytest.mark.parametrize("value", [0.5, 1j, numpy.array([0.5]), x + 0.5, flint.arb(1)], ids=repr)
def test_inexact_input_is_told_how_to_be_exact(value: Any) -> None:
    with pytest.raises(ConversionError, match=r"Fraction.*Real\.of"):
        expression([value])


@pytest.mark.parametrize("name", ["", "1x", "a_b", "mbRun", "x y", 'x"', "é"])
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(InvalidCaseError, match="is not a name in Macaulay2"):
        bindings_of({name: 1})


reals = st.floats().map(Real.of) | st.builds(
    Real, st.integers(-(2**100), 2**100), st.integers(-500, 500), st.just(101)
)
numbers = (
    st.integers()
    | st.fractions()
    | st.booleans()
    | st.none()
    | reals
    | st.builds(ComplexNumber.of, st.complex_numbers(allow_infinity=False, allow_nan=False))
)
text = st.binary(max_size=12).map(lambda data: str(data, "utf-8", "surrogateescape"))
words = st.sampled_from(["x", "foo", "e"]).map(Symbol)
hashable = numbers | text | words
anything = st.recursive(
    hashable,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(hashable, inner, max_size=3)
        | st.builds(Option, inner, inner)
        | st.frozensets(hashable, max_size=3)
    ),
    max_leaves=8,
)
others = st.lists(st.integers(1, 9), max_size=4).map(
    lambda p: Partition(tuple(sorted(p, reverse=True)))
) | st.dictionaries(st.integers(), st.integers(1, 5), max_size=3).map(
    lambda table: Tally(table.items())
)


@st.composite
def polynomials(draw: st.DrawFn) -> Any:
    field = draw(st.sampled_from([QQ, CoefficientField(2), CoefficientField(32003)]))
    over = PolynomialRing(
        field, draw(st.sampled_from([("x",), ("x_1", "x_2"), ("alpha", "res", "c_1_2")]))
    ).sympy_ring
    terms = draw(
        st.dictionaries(
            st.tuples(*[st.integers(0, 200)] * over.ngens),
            st.integers(-(10**20), 10**20),
            max_size=5,
        )
    )
    return over.from_dict({m: c for m, n in terms.items() if (c := over.domain(n))})


@pytest.mark.slow
@settings(max_examples=3)
@given(st.lists(anything | others | polynomials(), min_size=60, max_size=60))
def test_random_values_come_back(session: Macaulay2, some: list[Any]) -> None:
    """Each example is a batch for one process."""
    found = values(session, [("X", {"X": value}) for value in some])
    for value, back in zip(some, found, strict=True):
        assert HashTable([(0, value)]) == HashTable([(0, back)]), value


@pytest.mark.slow
@pytest.mark.parametrize("domain", [INTEGERS, RATIONALS, GF(32003)], ids=str)
@pytest.mark.parametrize("order", [grevlex, lex], ids=str)
@pytest.mark.parametrize("highest", [128, 2**16 + 1])
def test_large_polynomials_come_back(
    session: Macaulay2, domain: Any, order: Any, highest: int
) -> None:
    """Written in characters, quotes and backslashes among them, in Macaulay2's order or another; 1
    comes last.
    """
    over = ring([f"v_{i}" for i in range(130)], domain, order)[0]
    pairs = [({i, (i + 1) % 130}, e) for i in range(130) for e in (1, 2, highest)]
    monomials = [tuple(e if place in pair else 0 for place in range(130)) for pair, e in pairs]
    polynomial = over.from_dict({m: domain(i + 1) for i, m in enumerate([*monomials, (0,) * 130])})
    assert len(polynomial) == 391
    sum_in_macaulay2 = f"""
        v = gens ring f;
        terms' = apply(390, k -> (i = k // 3; e = (1, 2, {highest})#(k % 3); (k + 1) * v#i^e * v#((i + 1) % 130)^e));
        f == 391 + sum terms'"""
    given_f = {"f": polynomial}
    assert values(session, [("f", given_f), (sum_in_macaulay2, given_f)]) == [polynomial, True]


@pytest.mark.slow
def test_polynomials_with_very_many_powers_are_written_with_numbers() -> None:
    over = ring("x", INTEGERS, grevlex)[0]
    assert expression(over.from_dict({(e,): 1 for e in range(50_000)})).startswith("mbPolynomial(")
    assert expression(over.from_dict({(e,): 1 for e in range(60_000)})).startswith("mbSparse(")


@pytest.mark.parametrize("terms", [1, 300])
@pytest.mark.parametrize("exponent", [2**31, 2**64])
def test_exponents_that_macaulay2_does_not_hold_are_refused(
    session: Macaulay2, terms: int, exponent: int
) -> None:
    over = ring("x, y", RATIONALS, grevlex)[0]
    polynomial = over.from_dict({(exponent, n): 1 for n in range(terms)})
    with pytest.raises(ConversionError, match=r"exponent|integer"):
        session.value("f", f=polynomial)


NAMES = ("x_1,y,e'", "alpha,x_1,a1", "p_a,q,x_1", "x,xy,y", "c_(1,1),c_(1,11),c_(11,1)")


def test_large_polynomials_in_variables_of_all_names(session: Macaulay2) -> None:
    """The engine's text is read where it has one meaning, and lists of terms elsewhere."""
    for names, field in product(NAMES, ("ZZ", "QQ", "ZZ/31")):
        code = f"""
            R = {field}[{names}]; (u, v, w) = toSequence gens R;
            (u - 2*v + 3*w - 1)^9 - (3*u^2 - v)^3 * w^40"""
        found = session.value(code)
        u, v, w = found.ring.gens
        assert found == (u - 2 * v + 3 * w - 1) ** 9 - (3 * u**2 - v) ** 3 * w**40
        assert len(found) >= 200


# SymPy expressions, which say no ring: beside an ideal, in a workspace, alone.

x, y, z = symbols("x y z")
IDEAL = m2bridge.ideal([x - y])
OTHER = m2bridge.ideal("x*t", "y^2", variables="y x t")


@pytest.fixture(scope="module")
def m2(program: Path) -> Iterator[Macaulay2]:
    with Macaulay2(program) as session:
        yield session


@pytest.fixture
def work(m2: Macaulay2) -> Iterator[Workspace]:
    with m2.workspace() as workspace:
        yield workspace


BESIDE: list[tuple[str, dict[str, Any], Any]] = [
    ("toString(f % I)", {"f": x**2, "I": IDEAL}, "y^2"),
    ("ring f === ring I", {"f": 1 + x / 2, "I": IDEAL}, True),
    ("ring f#0 === ring I", {"I": OTHER, "f": [x]}, True),
    ("M % I == 0", {"M": Matrix([[x - y, 0]]), "I": IDEAL}, True),
    ("ring f === ring I", {"f": z, "I": IDEAL}, False),  # z is no variable there
    # two rings have x
    ("ring f === ring I or ring f === ring J", {"f": x, "I": IDEAL, "J": OTHER}, False),
    ("ring f === ring I and I != J", {"f": x, "I": IDEAL, "J": IDEAL**2}, True),
    ("ring f === ring g", {"f": x, "g": y}, True),
    ("ring f#0 === ring I and ring f#1 === ring I", {"f": Option(y, x), "I": IDEAL}, True),
    ("ring f#0 === ring I and class f === Array", {"f": Array((x, 2)), "I": IDEAL}, True),
    ("ring f#{1} === ring I", {"f": HashTable([([1], x)]), "I": IDEAL}, True),
    ("f === tally {x_(ring I), x_(ring I)}", {"f": Tally([(x, 2)]), "I": IDEAL}, True),
    ("ring first first toList f === ring I", {"f": Set([[x]]), "I": IDEAL}, True),
    ("ring f#(symbol a) === ring I", {"f": {Symbol("a"): x}, "I": IDEAL}, True),
    ("ring f#0#1 === ring g", {"f": [Option(1, x)], "g": y}, True),
]


@pytest.mark.parametrize(("code", "inputs", "expected"), BESIDE)
def test_expressions_beside_an_ideal(
    m2: Macaulay2, code: str, inputs: dict[str, Any], expected: Any
) -> None:
    assert m2.value(code, **inputs) == expected


def test_coefficients_have_to_be_in_the_ring(m2: Macaulay2) -> None:
    ring = m2bridge.PolynomialRing(m2bridge.CoefficientField(2), ("x",))
    with pytest.raises(ConversionError, match=r"coefficients in GF\(2\)"):
        m2.value("f", f=x / 2, R=ring)
    assert m2.value("f == x", f=3 * x, R=ring)


@pytest.mark.slow
def test_expressions_in_a_workspace_are_as_if_typed(work: Workspace) -> None:
    work.run("R = ZZ/7[t, y, x]")
    work["f"] = x**2 + Rational(3, 2) * y
    assert work.value("ring f === R and f == x^2 + 5*y")
    assert work.value("ring M === R and M_(1,0) == 2", M=Matrix([[x, 1], [2, y]]))
    work.run("S = QQ[x]/(x^2)")
    work["f"] = x**2 + x
    assert work.value("ring f === S and f == x")
    work["f"] = x + y  # variables of two rings
    assert work.value("toString(f, numgens ring f, char ring f)") == "(x+y,2,0)"
    work.run("K = frac(QQ[x])")
    assert work.value("ring f === K and f == x + 1", f=x + 1)
    work.run("x = 5; U = QQ[c_(1,2), d]")
    assert work.value("ring f =!= U", f=x)
    assert work.value("ring f === U and f == c_(1,2)*d", f=symbols("c_1_2") * symbols("d"))


@pytest.mark.slow
def test_noncommutative_variables_are_not_meant(work: Workspace) -> None:
    """The products of SymPy's symbols have no order."""
    work.run("W = QQ[x, y, WeylAlgebra => {x => y}]")
    assert work.value("isCommutative ring f", f=x * y)


def test_a_hilbert_series_can_be_given_back(session: Macaulay2) -> None:
    """As a fraction: (1 - 2T^2 + T^3) / (1 - T)^3, of a line and a plane in space."""
    code = "R = QQ[x, y, z]; hilbertSeries ideal(x*y, y*z)"
    series = session.value(code)
    assert session.value("h * (1 - T)^3 == 1 - 2*T^2 + T^3", h=series) is True
    assert session.value("denominator h == (1 - T)^2", h=series) is True
    assert session.value("numerator q", q=1 / x + y) == session.value("f", f=x * y + 1)

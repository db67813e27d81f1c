"""How values are shown, and the table of them in the documentation."""

from __future__ import annotations

import doctest
import pickle
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from mpmath import mpf
from sympy import Float, I, Rational, symbols

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.algebra.typeset import ring_latex
from m2bridge.ideals.construct import ideal
from m2bridge.ideals.ideal import Ideal
from m2bridge.workspace import values
from m2bridge.workspace.values import (
    Algebra,
    Array,
    BettiTable,
    Complex,
    ComplexNumber,
    Expression,
    Factorization,
    GeneralIdeal,
    GroebnerBasis,
    HilbertPolynomial,
    IntegerRing,
    Matrix,
    Module,
    Option,
    Partition,
    QuotientRing,
    Real,
    RealInterval,
    Reference,
    RingElement,
    RingMap,
    Set,
    Symbol,
    Vector,
)
from tests.everyday import DOCUMENTED
from tests.random_rings import complex_numbers, reals

# What a person sees of values at a prompt: one line; the call that makes the value, or its text.

REFERENCE = (Path(__file__).parents[3] / "docs" / "reference" / "api.rst").read_text(
    encoding="utf-8"
) + "\n"
PLANE = PolynomialRing(QQ, ("x", "y"))
X, Y = PLANE.sympy_ring.gens
ROW = Matrix(Module(PLANE, ((0,),)), Module(PLANE, ((1,), (1,))), ((X, Y),), (0,))

SHOWN = [
    ([QQ, CoefficientField(7), PLANE, IntegerRing()], "[QQ, GF(7), QQ[x, y], ZZ]"),
    ([Ideal(PLANE, (X**2, Y))], "[ideal(x**2, y) of QQ[x, y]]"),
    (GeneralIdeal(IntegerRing(), (4,)), "ideal(4) of ZZ"),
    (RingElement(Algebra(QQ, ("x",), ((2,),)), (((1,), Fraction(1)),)), "x"),
    (ROW, "<Matrix ((x, y))>"),
    (ROW.source, "<Module QQ[x, y]^{-1, -1}>"),
    (
        Complex(PLANE, 0, (ROW.target, ROW.source), (ROW,)),
        "<Complex QQ[x, y]^1 ← QQ[x, y]^{-1, -1}>",
    ),
    (BettiTable((((0, (0,), 0), 1), ((1, (1,), 1), 2))), "<BettiTable 0: 1 1: 2>"),
    (HilbertPolynomial(((0, -2), (1, 3))), "<HilbertPolynomial -2*P_0 + 3*P_1>"),
    (Factorization(((2, 2), (3, 1))), "<Factorization 2^2 * 3>"),
    (Reference("Function", "f", "1"), "<Function f>"),
]


@pytest.mark.parametrize(("value", "text"), SHOWN, ids=[text for _, text in SHOWN])
def test_values_are_shown_by_their_text(value: Any, text: str) -> None:
    assert repr(value) == text
    assert pickle.loads(pickle.dumps(value)) == value


CODES = [
    Array((1, Symbol("x"))),
    Partition((3, 1)),
    Option(Symbol("p", (1, 2)), [1]),
    Expression("Divide", (1, 2)),
    RealInterval(Real.of(0.25), Real.of(1, 100)),
    Real.of(float("inf")),
    Real.of(-0.0),
    Real(0, 0, 100, "nan"),
    Real(1, 5000),
    ComplexNumber(Real.of(-0.0), Real.of(float("nan"))),
]


@pytest.mark.parametrize("value", CODES, ids=repr)
def test_values_are_shown_by_the_call_that_makes_them(value: Any) -> None:
    assert eval(repr(value), vars(values)) == value


@example(ComplexNumber.of(complex(0, -1)))
@given(reals(53) | reals(100) | complex_numbers(53) | complex_numbers(60))
def test_any_number_is_shown_by_the_call_that_makes_it(number: Any) -> None:
    assert eval(repr(number), vars(values)) == number


HALF, FINE = Real.of(0.5), Real.of(0.5, precision=100)


def test_real_numbers_are_numbers() -> None:
    """Equal ones have equal hashes; what one number alone would round is compared exactly."""
    assert HALF == 0.5 == FINE == Fraction(1, 2) == mpf(0.5) == Real.of(mpf(0.5))
    assert len({HALF, FINE, 0.5, Fraction(1, 2), ComplexNumber.of(0.5)}) == 1
    assert Real.of(1 / 3) != Fraction(1, 3) != Real.of(1 / 3)
    assert (Real.of(1 / 3) < Fraction(1, 3)) is (Fraction(1 / 3) < Fraction(1, 3))
    infinity, nan = Real.of(float("inf")), Real.of(float("nan"))
    assert -infinity < Fraction(-(10**400), 3) < infinity > Fraction(1, 3) != infinity
    assert not nan < Fraction(1, 3)
    assert not nan >= Fraction(1, 3)
    assert HALF != "0.5"
    assert not HALF - FINE
    assert sorted([HALF, 0.25, Real.of(0.375)]) == [0.25, 0.375, 0.5]
    assert (HALF + FINE).precision == (0.5 + FINE).precision == 53
    assert (FINE / 3).precision == (Fraction(1, 3) * FINE).precision == (1 - FINE).precision == 100
    assert abs((FINE / 3).exact - Fraction(1, 6)) < Fraction(1, 2**100)
    assert str(2**HALF) == str(Real.of(2**0.5))
    for special in ("inf", "-inf", "nan"):
        assert Real.of(mpf(special)) == Real.of(float(special)) == Real.of(float(special)) + 1
    with pytest.raises(TypeError):
        HALF + "1"


def test_a_negative_imaginary_part_has_its_sign() -> None:
    assert str(ComplexNumber.of(1 - 2j)) == "1.0 - 2.0*i"


def test_a_tally_has_only_what_was_counted() -> None:
    tally = values.Tally([("a", 2), ([1], 1)])
    assert "a" in tally
    assert [1] in tally
    assert "b" not in tally
    assert tally["b"] == 0


def test_sets_are_equal_to_those_of_python() -> None:
    assert values.Set([1, (2, 3)]) == frozenset([1, (2, 3)]) == values.Set([(2, 3), 1])
    assert values.Set([[1]]) == values.Set([[1]]) != frozenset([1])
    assert values.Set([True]) != values.Set([1])
    assert frozenset([1]) != values.Set([True])
    assert values.Set([1]) != [1]


def test_numbers_meet_those_of_sympy() -> None:
    x = symbols("x")
    assert HALF + x == x + HALF == Float(0.5) + x
    assert (
        FINE * Rational(1, 3) == Rational(1, 3) * FINE == Float(Rational(1, 3), precision=100) / 2
    )
    assert (FINE * Rational(1, 3))._prec == 100
    assert Float(0.5) == HALF == Float(0.5)
    assert complex(ComplexNumber.of(1 + 2j) * I) == complex(I * ComplexNumber.of(1 + 2j)) == -2 + 1j


def test_complex_numbers_are_numbers() -> None:
    number = ComplexNumber.of(1 + 2j)
    assert (number * number, number + HALF, 1j * number, number / 2) == (
        -3 + 4j,
        1.5 + 2j,
        -2 + 1j,
        0.5 + 1j,
    )
    assert (-number, 1 - number, abs(ComplexNumber.of(3 + 4j)), hash(number)) == (
        -1 - 2j,
        -2j,
        5,
        hash(1 + 2j),
    )
    assert (-Real.of(4)) ** 0.5 == ComplexNumber.of(2j) or abs((-Real.of(4)) ** 0.5 - 2j) < Real.of(
        1e-15
    )


PARTS = (0.0, 1.0, -1.0, 0.5, -0.5, -2.0, 3.25, -1e300, float("inf"), float("-inf"))


@pytest.mark.parametrize("imaginary", PARTS)
@pytest.mark.parametrize("real", PARTS)
def test_equal_complex_numbers_have_equal_hashes(real: float, imaginary: float) -> None:
    """Python's complex numbers are the independent value, and floats and Real on the real axis."""
    number = ComplexNumber.of(complex(real, imaginary))
    finer = ComplexNumber.of(complex(real, imaginary), precision=100)
    equal = {number, finer, complex(real, imaginary)}
    if imaginary == 0:
        equal |= {real, Real.of(real), Real.of(real, precision=100)}
    assert len(equal) == 1
    assert hash(number) == hash(complex(real, imaginary))


@pytest.mark.parametrize("constant", [0, 1, -1, 3, Fraction(-3, 2)])
def test_a_constant_has_the_hash_of_its_number(constant: Any) -> None:
    exterior = Algebra(QQ, ("x", "y"), skew=(0, 1))
    over_polynomials = Algebra(PolynomialRing(QQ, ("a",)), ("x",), skew=(0,))
    coefficient = over_polynomials.coefficients.sympy_ring(constant)
    for ring, number in ((exterior, Fraction(constant)), (over_polynomials, coefficient)):
        terms = (((0,) * len(ring.variables), number),) if constant else ()
        element = RingElement(ring, terms)
        assert element == constant
        assert {element, constant} == {constant}


def test_a_set_has_the_hash_of_an_equal_frozenset() -> None:
    for items in ([], [1], [2, 1], ["a", Fraction(1, 2)]):
        assert Set(items) == frozenset(items)
        assert hash(Set(items)) == hash(frozenset(items))
    assert hash(Set([[1], [2]])) == hash(Set([[2], [1]]))
    # a set is equal to a frozenset, but has no hash
    of_sets = frozenset([frozenset([1])])
    assert Set([{1}]) == of_sets
    assert hash(Set([{1}])) == hash(of_sets)
    # also where the set is inside of a tuple, a set or a value with fields, at any depth
    pairs = (
        ((1, {2}), (1, frozenset([2]))),
        ((1, (2, {3})), (1, (2, frozenset([3])))),
        (frozenset([(1, frozenset([2]))]), {(1, frozenset([2]))}),
        (Option("a", {1}), Option("a", frozenset([1]))),
        (Array(((0, {1}),)), Array(((0, frozenset([1])),))),
    )
    for first, second in pairs:
        assert Set([first]) == Set([second])
        assert hash(Set([first])) == hash(Set([second]))
    assert Set([(1, {2})]) == frozenset([(1, frozenset([2]))])
    for _, hashable in (*pairs[:2], *pairs[3:]):
        assert hash(Set([hashable])) == hash(frozenset([hashable]))
    # a list has no hash, and is equal to no element of a frozenset
    assert hash(Set([(1, [{2}])])) == hash(Set([(1, [frozenset([2])])]))
    # 1 and True are two elements here, and one of a frozenset
    assert len(Set([1, True])) == 2


def test_a_large_value_takes_one_line() -> None:
    many = Matrix(ROW.target, Module(PLANE, ((1,),) * 500), ((X,) * 500,), (0,))
    assert len(repr(many)) < 400
    assert "\n" not in repr(many)


@pytest.mark.parametrize("name", values.__all__)
def test_a_public_class_has_an_example_in_the_reference(name: str) -> None:
    """All examples are run by tests/repository/test_site.py."""
    written = doctest.DocTestParser().get_examples(getattr(values, name).__doc__)
    assert any(example.want for example in written)
    assert f"\n   {name}\n" in REFERENCE


# The table of docs/values.md: every row, and every class that it names, has an example.

TEXT = (Path(__file__).parents[3] / "docs" / "values.md").read_text(encoding="utf-8")
TABLE = dict(re.findall(r"^\| (.+?) \| (.+) \|$", TEXT, re.M)[1:])


def classes(cell: str) -> set[str]:
    """The classes that a cell names for values on their way out."""
    return set(re.findall(r"`([A-Za-z]+)`", cell.split("*in*")[0])) - {
        "surrogateescape",
        "m2bridge",
        "RR",
    }


def test_the_rows_are_those_with_examples() -> None:
    assert list(TABLE) == list(DOCUMENTED)


@pytest.mark.parametrize("row", DOCUMENTED)
def test_every_class_of_a_row_has_an_example(row: str) -> None:
    named = {name for _, name in DOCUMENTED[row]}
    # where python-flint is missing; tested where it is asked for
    other = {"PythonFiniteFieldElement", "Reference"}
    assert named == classes(TABLE[row]) - other


def test_every_public_class_of_values_is_in_the_table() -> None:
    assert {name for cell in TABLE.values() for name in classes(cell)} >= set(values.__all__)


# What notebooks typeset: formulas that MathJax and LaTeX know, or the text where these are too long.


def test_the_complex_without_modules_is_shown_as_zero() -> None:
    """The resolution of the quotient by the unit ideal, which Macaulay2 prints as 0."""
    zero = Complex(PLANE, 0, (), ())
    assert str(zero) == "0"
    assert zero._formula().startswith("0, ")


def test_values_are_typeset_in_notebooks() -> None:
    ring = PolynomialRing(QQ, ("x", "y"))
    x, y = ring.sympy_ring.gens
    base, twice = Module(ring, ((0,),)), Module(ring, ((1,), (2,)))
    row = Matrix(base, twice, ((x - y, x**2 / 2),))
    koszul = Complex(ring, 0, (base, twice), (row,))
    expected = {
        row: r"\begin{pmatrix} x - y & \tfrac{1}{2} x^{2} \end{pmatrix}",
        Vector(twice, (x, 3)): r"\begin{pmatrix} x \\ 3 \end{pmatrix}",
        GroebnerBasis(row): r"\left( x - y, \tfrac{1}{2} x^{2} \right)",
        koszul: r"S \leftarrow S(-1) \oplus S(-2), \quad S = \mathbb{Q}[x, y]",
        koszul.betti: (
            r"\begin{array}{r|rr}  & 0 & 1 \\ \hline \text{total} & 1 & 2 \\"
            r" 0 & 1 & 1 \\ 1 & \cdot & 1 \end{array}"
        ),
        Module(ring, ((0,), (0,)), relations=row): (
            r"\operatorname{coker} \begin{pmatrix} x - y & \tfrac{1}{2} x^{2} \end{pmatrix}"
        ),
        RingMap(ring, ring, (y, x)): (
            r"\mathbb{Q}[x, y] \to \mathbb{Q}[x, y], \quad \left( y, x \right)"
        ),
        ideal("x^2", "x*y"): (r"\left\langle x^{2}, x y \right\rangle \subset \mathbb{Q}[x, y]"),
    }
    for value, formula in expected.items():
        assert value._repr_latex_() == rf"$\displaystyle {formula}$"


def test_a_notebook_shows_the_formula_of_a_short_ideal_and_a_list_of_a_long_one() -> None:
    """It prefers HTML, of which a short ideal has none."""
    assert ideal("x^2", "x*y")._repr_html_() is None
    long = ideal(*(f"x^{n} - y" for n in range(1, 40)))
    assert "<ol" in long._repr_html_()
    assert "longtable" in long._repr_latex_()


def test_what_is_too_long_for_a_formula_is_text() -> None:
    ring = PolynomialRing(QQ, ("x",))
    (x,) = ring.sympy_ring.gens
    wide = Module(ring, ((0,),) * 13)
    base = Module(ring, ((0,),))
    assert Matrix(base, wide, ((x,) * 13,))._repr_latex_() is None
    tall = Module(ring, ((0,),) * 2000)
    assert Matrix(tall, base, ((x**3,),) * 2000)._repr_latex_() is None
    assert BettiTable(())._repr_latex_() is None


def test_fields_have_their_letters() -> None:
    assert ring_latex(PolynomialRing(CoefficientField(7), ("S",))) == r"\mathbb{F}_{7}[S]"
    ring = PolynomialRing(QQ, ("S",))
    assert Module(ring, ((0,),))._repr_latex_() == r"$\displaystyle R, \quad R = \mathbb{Q}[S]$"


def integers_modulo(n: int) -> QuotientRing:
    """ZZ/n as Macaulay2 1.26 describes it: a quotient of the ring ZZ[] without variables."""
    constants = Algebra(IntegerRing(), ())
    return QuotientRing(constants, (RingElement(constants, (((), n),)),))


def test_elements_are_compared_with_integers_modulo_integers() -> None:
    six = integers_modulo(6)
    one = RingElement(six, (((), 1),))
    assert [k for k in range(-5, 14) if one == k] == [-5, 1, 7, 13]
    assert one == Fraction(1, 7)  # 7 is 1
    assert one != Fraction(1, 3)  # which has no image
    over_six = RingElement(Algebra(six, ("x",)), (((0,), one),))
    assert over_six == 7
    assert over_six != 2
    ring = Algebra(IntegerRing(), ("x",))
    assert ring.sympy_ring is not None
    (x,) = ring.sympy_ring.gens
    two = QuotientRing(ring, (x**0 * 2, x**2))
    assert [k for k in range(6) if RingElement(two, (((0,), 1),)) == k] == [1, 3, 5]
    assert [k for k in range(6) if RingElement(two, ()) == k] == [0, 2, 4]


def test_numbers_far_out_of_the_range_of_floats_take_no_memory() -> None:
    large, small = Real(-3, 10**15), Real(-3, -(10**15))
    assert repr(large) == f"Real(-3, {10**15}, precision=53)"
    assert (float(large), float(small), str(float(small))) == (float("-inf"), 0.0, "-0.0")
    third = Fraction(1, 3)
    assert large < -third < small < third
    assert large <= -third <= small <= third
    assert third > small > -third > large
    assert small > Fraction(-1, 10**500)


@pytest.mark.parametrize(
    "exponent", [-1160, -1127, -1126, -1075, -1074, -1023, 970, 971, 1023, 1024]
)
def test_floats_are_those_of_the_fraction(exponent: int) -> None:
    for mantissa in (1, 3, 2**53 - 1, 2**54 - 1):
        number = Real(mantissa, exponent, 60)
        try:
            expected = float(mantissa * Fraction(2) ** exponent)
        except OverflowError:
            expected = float("inf")
        assert float(number) == expected

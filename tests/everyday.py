"""Everyday values: code of Macaulay2, what comes back, and how many of them are asked at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, factorial
from typing import Any

from sympy import Integer, oo, symbols

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.errors import M2BridgeError
from m2bridge.ideals.ideal import Ideal
from m2bridge.workspace.macaulay2 import Macaulay2
from m2bridge.workspace.values import (
    Algebra,
    Array,
    BettiTable,
    ComplexField,
    ComplexNumber,
    Expression,
    Factorization,
    HilbertPolynomial,
    IntegerRing,
    MutableHashTable,
    MutableList,
    Option,
    Partition,
    Real,
    RealField,
    RingElement,
    Symbol,
    Tally,
)

# Everyday expressions of Macaulay2 with their values, by kind. The values are known without this
# program: from Macaulay2's documentation, from textbooks (Cox–Little–O'Shea, Eisenbud,
# Miller–Sturmfels), from closed formulas, or by hand. ``Shown`` compares the text; everything else
# the Python object.


@dataclass(frozen=True)
class Shown:
    """The text of the value."""

    text: str


@dataclass(frozen=True)
class OneWay:
    """An expression of SymPy, which no longer is what Macaulay2 had."""

    expression: Any


@dataclass(frozen=True)
class Error:
    """Macaulay2 reports an error with these words."""

    words: str


@dataclass(frozen=True)
class NoCounterpart:
    """A typed error that names the class."""

    kind: str


x, y, z, w, a, b, c, d = symbols("x y z w a b c d")
T, T0, T1 = symbols("T T_0 T_1")


def ideal(variables: str, *generators: Any, p: int = 0) -> Ideal:
    """An ideal over QQ or GF(p)."""
    ring = PolynomialRing(CoefficientField(p), tuple(variables.split()))
    return Ideal(ring, tuple(ring.polynomial(g) for g in generators))


def polynomial(variables: str, expression: Any) -> Any:
    """An element of QQ[variables]."""
    return PolynomialRing(QQ, tuple(variables.split())).polynomial(expression)


def betti(*rows: tuple[int, int, int]) -> BettiTable:
    """Numbers by (homological degree, degree)."""
    return BettiTable(tuple(((i, (j,), j), n) for i, j, n in rows))


CUBIC = "S = QQ[x,y,z,w]; I = minors(2, matrix{{x,y,z},{y,z,w}}); "

REALS, COMPLEX = Algebra(RealField(53), ("x",)), Algebra(ComplexField(100), ("x",))

TABLE: dict[str, list[tuple[str, Any]]] = {
    "numbers": [
        ("2+2", 4),
        ("2^100", 2**100),
        ("50!", factorial(50)),
        ("(-7) // 2", -4),
        ("(-7) % 2", 1),
        ("6/4", Fraction(3, 2)),
        ("6/3", Fraction(2)),
        ("numerator(6/4)", 3),
        ("binomial(10,3)", comb(10, 3)),
        ("gcd(84,36)", 12),
        ("lcm(4,6)", 12),
        ("isPrime 1000003", True),
        ("isPrime 91", False),
        ("nextPrime 100", 101),
        ("sum toList(1..100)", 5050),
        ("product toList(1..6)", 720),
        ("powermod(2,100,101)", 1),
        ("2^(-2)", Fraction(1, 4)),
        ("floor(7/2)", 3),
        ("10^5000", 10**5000),
        ("infinity", oo),
        ("-infinity", -oo),
    ],
    "real and complex": [
        ("0.5", Real.of(0.5)),
        ("-0.75", Real.of(-0.75)),
        ("R = RR[x]; 2*x^3 + 0.5", RingElement(REALS, (((3,), Real.of(2)), ((0,), Real.of(0.5))))),
        ("R = CC_100[x]; ii*x", RingElement(COMPLEX, (((1,), ComplexNumber.of(1j, 100)),))),
        ("1p100", Real.of(1, 100)),
        ("0.1", Real.of(0.1)),
        ("1/0.", Real.of(float("inf"))),
        ("-1/0.", Real.of(float("-inf"))),
        ("0/0.", Real.of(float("nan"))),
        ("-0.", Real.of(-0.0)),
        ("sqrt 2.", Real.of(2**0.5)),
        ("2.^70000", Real(1, 70000)),
        ("1+2*ii", ComplexNumber.of(1 + 2j)),
        ("(1+ii)^2", ComplexNumber.of(2j)),
        ("realPart(3.+4*ii)", Real.of(3)),
        ("abs(3.+4*ii)", Real.of(5)),
        ("RR_100", RealField(100)),
        ("precision 1p200", 200),
    ],
    "strings": [
        ('"hello"', "hello"),
        ('""', ""),
        ('"tab\\tquote\\"back\\\\"', 'tab\tquote"back\\'),
        ('"é∂α"', "é∂α"),
        ('"日本 🎲"', "日本 🎲"),
        ("ascii {255, 0, 254}", b"\xff\x00\xfe".decode("utf-8", "surrogateescape")),
        ('concatenate("a","b")', "ab"),
        ('"abc" | "d"', "abcd"),
        ("toString 12", "12"),
        ('#"abc"', 3),
        ('"i1 : 2+2\\n\\no1 = 4"', "i1 : 2+2\n\no1 = 4"),
        ('separate(",", "a,b")', ["a", "b"]),
        ('replace("b", "x", "abc")', "axc"),
    ],
    "logic": [
        ("true", True),
        ("false", False),
        ("not true", False),
        ("null", None),
        ("1 < 2 and 2 < 3", True),
        ("3 == 4", False),
    ],
    "symbols": [
        ("symbol foo", Symbol("foo")),
        ("symbol +", Symbol("+")),
        ("qq_1", Symbol("qq", 1)),
        ("qq_(1,2)", Symbol("qq", (1, 2))),
        ("{symbol e, symbol i}", [Symbol("e"), Symbol("i")]),
    ],
    "sequences": [
        ("{1,2,3}", [1, 2, 3]),
        ("(1,2,3)", (1, 2, 3)),
        ("()", ()),
        ("{}", []),
        ("1:5", (5,)),
        ("{1,{2,(3,)}}", [1, [2, (3, None)]]),
        ("[1,2]", Array((1, 2))),
        ("toList(1..5)", [1, 2, 3, 4, 5]),
        ("apply(5, n -> n^2)", [0, 1, 4, 9, 16]),
        ("reverse {1,2,3}", [3, 2, 1]),
        ("sort {3,1,2}", [1, 2, 3]),
        ("flatten {{1},{2,3}}", [1, 2, 3]),
        ("subsets(3,2)", [[0, 1], [0, 2], [1, 2]]),
        ("permutations 2", [[0, 1], [1, 0]]),
        ("new MutableList from {1,2}", MutableList((1, 2))),
        ("select({1,2,3,4}, even)", [2, 4]),
        ("unique {1,1,2}", [1, 2]),
        ("pack(2, {1,2,3,4})", [[1, 2], [3, 4]]),
        ("Limit => 3", Option(Symbol("Limit"), 3)),
    ],
    "partitions": [
        ("partitions 4", [Partition(p) for p in ((4,), (3, 1), (2, 2), (2, 1, 1), (1, 1, 1, 1))]),
        ("#partitions 10", 42),
        ("conjugate new Partition from {3,1}", Partition((2, 1, 1))),
    ],
    "hash tables": [
        ("hashTable {1 => 2, 3 => 4}", {1: 2, 3: 4}),
        ('hashTable {"a" => {1,2}}', {"a": [1, 2]}),
        ("hashTable {}", {}),
        ("hashTable {1 => hashTable {2 => 3}}", {1: {2: 3}}),
        ("new MutableHashTable from {1 => 2}", MutableHashTable([(1, 2)])),
        ("pairs hashTable {1 => 2}", [(1, 2)]),
        ("(hashTable {1 => 2})#1", 2),
        ("applyValues(hashTable {1 => 2}, v -> v^2)", {1: 4}),
        ("new OptionTable from {Limit => 3}", {Symbol("Limit"): 3}),
        ("partition(even, {1,2,3})", {True: [2], False: [1, 3]}),
        ("merge(hashTable{1=>2}, hashTable{1=>3}, plus)", {1: 5}),
    ],
    "sets": [
        ("set {1,2,2}", {1, 2}),
        ("set {1,2} + set {3}", {1, 2, 3}),
        ("set {1,2} * set {2,3}", {2}),
        ("set {}", set()),
        ("member(1, set {1})", True),
        ("set {set {1}}", {frozenset({1})}),
        ("tally {1,1,2}", Tally([(1, 2), (2, 1)])),
        ('tally characters "abba"', Tally([("a", 2), ("b", 2)])),
        ("#set {1,1}", 1),
    ],
    "factorizations": [
        ("factor 360", Factorization(((2, 3), (3, 2), (5, 1)))),
        ("factor 97", Factorization(((97, 1),))),
        ("factor 1001", Factorization(((7, 1), (11, 1), (13, 1)))),
        ("factor(2^61-1)", Factorization(((2**61 - 1, 1),))),
        ("QQ[x]; #factor(x^4-1)", 3),
        ("QQ[x]; value factor(x^4-1)", polynomial("x", x**4 - 1)),
        ("QQ[x]; apply(toList factor(x^2-1), p -> p#1)", [1, 1]),
        ("QQ[x]; factor((x-1)^2)", Factorization(((polynomial("x", x - 1), 2),))),
        (
            "QQ[x,y]; factor(x^2*y)",
            Factorization(((polynomial("x y", y), 1), (polynomial("x y", x), 2))),
        ),
        ("QQ[x]; factor(x^2+1)", Factorization(((polynomial("x", x**2 + 1), 1),))),
        ("factor(-12)", Factorization(((-1, 1), (2, 2), (3, 1)))),
        ("factor(-1)", Factorization(((-1, 1),))),
        ("factor(-55)", Shown("(-1) * 5 * 11")),
        (
            "new Product from {new Power from {-1, 1}}",
            Expression("Product", (Expression("Power", (-1, 1)),)),
        ),
        ("factor(12/5)", Shown("Divide(2^2 * 3, 5)")),
    ],
    "rings": [
        ("ZZ", IntegerRing()),
        ("QQ", QQ),
        ("ZZ/101", CoefficientField(101)),
        ("QQ[x,y]", PolynomialRing(QQ, ("x", "y"))),
        ("ZZ[x]", Algebra(IntegerRing(), ("x",))),
        ("ZZ/7[x_1..x_3]", PolynomialRing(CoefficientField(7), ("x_1", "x_2", "x_3"))),
        ("QQ[p_(1,1)..p_(2,2)]", PolynomialRing(QQ, ("p_1_1", "p_1_2", "p_2_1", "p_2_2"))),
        ("QQ[x,y,MonomialOrder=>Lex]", Algebra(QQ, ("x", "y"), order=(("Lex", 2),))),
        (
            "QQ[x,y,MonomialOrder=>RevLex,Global=>false]",
            Algebra(QQ, ("x", "y"), order=(("RevLex", 2),)),
        ),
        ("QQ{x}; x + x^2", Shown("x + x^2")),
        ("QQ[x,y,Degrees=>{2,3}]", Algebra(QQ, ("x", "y"), ((2,), (3,)))),
        ("QQ[x,dx,WeylAlgebra=>{x=>dx}]", Algebra(QQ, ("x", "dx"), weyl=((0, 1),))),
        ("QQ[x,y,SkewCommutative=>true]", Algebra(QQ, ("x", "y"), skew=(0, 1))),
        ("RR_53[x]", Algebra(RealField(53), ("x",))),
        ("QQ[a][b]", Algebra(PolynomialRing(QQ, ("a",)), ("b",))),
        ("frac(QQ[x])", Shown("frac(QQ[x])")),
        ("QQ[x]; x^2-1", polynomial("x", x**2 - 1)),
        ("QQ[x,y]; (x+y)^2", polynomial("x y", (x + y) ** 2)),
        ("QQ[x,dx,WeylAlgebra=>{x=>dx}]; dx*x", Shown("x*dx + 1")),
        ("QQ[x,y,SkewCommutative=>true]; y*x", Shown("-x*y")),
        ("QQ[x,y,SkewCommutative=>true]; x*x", Shown("0")),
        ("QQ[t,Inverses=>true,MonomialOrder=>Lex]; t^-1", Shown("t^(-1)")),
        ("R = QQ[x]; frac R; x/(x+1)", Shown("(x)/(x + 1)")),
        ("QQ[x,y]; diff(x, x^2*y)", polynomial("x y", 2 * x * y)),
        ("QQ[x]; gcd(x^2-1, x-1)", polynomial("x", x - 1)),
        ("QQ[x,y]; resultant(x^2-y, x-y, x)", polynomial("x y", y**2 - y)),
        ("QQ[x,y]; resultant(x^2-2, x-y, x)", polynomial("x y", y**2 - 2)),
        ("QQ[x,y]; sub(x^2+y, {x=>2, y=>3})", Fraction(7)),
        ("QQ[x,y]; degree(x^2*y)", [3]),
        ("numgens(QQ[x,y,z])", 3),
        ("char(ZZ/5)", 5),
        ("ZZ/7[x,y]; -3*x*y", Shown("-3*x*y")),
        ("ZZ/7[x,y,MonomialOrder=>Lex]; 4*x-1", Shown("-3*x - 1")),
        ("ZZ/7[x,y,Degrees=>{2,3}]; 4*x-1", Shown("-3*x - 1")),
        ("ZZ/2[x]; 1-x", Shown("x + 1")),
        ("matrix{{4_(ZZ/7)}}", Shown("((-3))")),
    ],
    "quotients": [
        ("R = QQ[x]/(x^2+1); x^2", Shown("-1")),
        ("R = QQ[x,y]/(x^2-y); x^3", Shown("x*y")),
        ("R = QQ[x]/(x^2-2); (1+x)^2", Shown("2*x + 3")),
        ("QQ[x]/(x^2+1)", Shown("QQ[x]/(x**2 + 1)")),
        ("dim(QQ[x,y]/(x*y))", 1),
        ("degree(QQ[x,y]/(x^2))", 2),
        ("R = ZZ/3[x]/(x^2-2); x^4", Shown("1")),
        ("R = QQ[x]/(x^3); numgens source basis R", 3),
    ],
    "finite fields": [
        ("GF 8", Shown("GF(8)")),
        ("F = GF 8; F_0^7 == 1", True),
        ("F = GF 9; F_0^4 == -1", True),
        ("char GF 27", 3),
        ("4_(ZZ/7)^2 == 2", True),
        ("(3_(ZZ/7))^(-1) == 5", True),
        ("F = GF(4, Variable => b); b^2 == b+1", True),
        ("(GF 25).order", 25),
        ("ZZ/5[x]; #factor(x^2+1)", 2),
    ],
    "ideals": [
        ("QQ[x,y]; ideal(x,y)", ideal("x y", x, y)),
        ("QQ[x,y]; trim (ideal(x,y))^2", ideal("x y", y**2, x * y, x**2)),
        ("QQ[x,y]; intersect(ideal x, ideal y)", ideal("x y", x * y)),
        ("QQ[x,y]; ideal(x*y) : ideal x", ideal("x y", y)),
        ("QQ[x,y]; saturate(ideal(x^2*y), x)", ideal("x y", y)),
        ("QQ[x,y]; radical ideal(x^2*y^3)", ideal("x y", x * y)),
        ("QQ[x,y]; x % ideal(x-y) == y", True),
        ("QQ[t,x,y]; eliminate(t, ideal(x-t^2, y-t^3))", ideal("t x y", x**3 - y**2)),
        ("QQ[x,y]; dim ideal(x*y)", 1),
        ("QQ[x,y]; codim ideal(x,y)", 2),
        (CUBIC + "degree I", 3),
        (CUBIC + "dim I", 2),
        (CUBIC + "isPrime I", True),
        (CUBIC + "numgens I", 3),
        ("ideal(4,6)", Shown("ideal(4, 6) of ZZ")),
        ("QQ[x,y]; monomialIdeal(x^2,x*y)", Shown("monomialIdeal(x**2, x*y) of QQ[x, y]")),
        ("QQ[x,y]; ideal 0_(QQ[x,y]) == 0", True),
    ],
    "Gröbner bases": [
        ("QQ[x,y]; gens gb ideal(x,y)", Shown("((y, x))")),
        ("QQ[x,y]; gb ideal(x^2)", Shown("Gröbner basis (x**2)")),
        ("QQ[x,y,MonomialOrder=>Lex]; gens gb ideal(x-y, x+y)", Shown("((y, x))")),
        ("QQ[x,y]; (x^2+1) % gb ideal(x)", polynomial("x y", 1)),
        (CUBIC + "numgens source gens gb I", 3),
        ("QQ[x,y]; leadTerm(x^2+y)", polynomial("x y", x**2)),
    ],
    "primary decompositions": [
        ("QQ[x,y]; sort apply(minimalPrimes ideal(x*y), toString)", ["ideal x", "ideal y"]),
        ("QQ[x,y]; #primaryDecomposition ideal(x^2,x*y)", 2),
        ("QQ[x,y]; minimalPrimes ideal(x^2)", [ideal("x y", x)]),
        ("QQ[x,y]; #associatedPrimes ideal(x^2,x*y)", 2),
        ("QQ[x]; #minimalPrimes ideal(x^3-x)", 3),
        ("QQ[x]; #decompose ideal(x^2+1)", 1),
        ("ZZ/5[x]; #decompose ideal(x^2+1)", 2),
        ("QQ[a,b,c,d]; #minimalPrimes ideal(a*b, c*d)", 4),
    ],
    "matrices": [
        ("matrix{{1,2},{3,4}}", Shown("((1, 2); (3, 4))")),
        ("det matrix{{1,2},{3,4}}", -2),
        ("rank matrix{{1,2},{2,4}}", 1),
        ("transpose matrix{{1,2}}", Shown("((1); (2))")),
        ("trace matrix{{1,2},{3,4}}", 5),
        ("(matrix{{1,1},{0,1}})^5", Shown("((1, 5); (0, 1))")),
        ("inverse matrix{{1/1,2},{3,4}}", Shown("((-2, 1); (3/2, -1/2))")),
        ("id_(ZZ^2)", Shown("((1, 0); (0, 1))")),
        ("entries matrix{{1,2}}", [[1, 2]]),
        ("map(QQ^2,QQ^0,0)", Shown("0 (2 × 0)")),
        ("map(QQ^0,QQ^2,0)", Shown("0 (0 × 2)")),
        ("QQ[x,y]; jacobian ideal(x^2*y)", Shown("((2*x*y); (x**2))")),
        ("QQ[x,y]; vars(QQ[x,y])", Shown("((x, y))")),
        (CUBIC + "gens I", Shown("((-y**2 + x*z, -y*z + x*w, -z**2 + y*w))")),
        ("minors(2, matrix{{1,2},{3,4}})", Shown("ideal(-2) of ZZ")),
        ("QQ[x]; kernel matrix{{x}} == 0", True),
        ("QQ[x,y]; basis(1, QQ[x,y])", Shown("((x, y))")),
        ("QQ[x,y]; vector{x,y}", Shown("(x, y)")),
        ("mutableMatrix{{1,2}}", Shown("mutable ((1, 2))")),
    ],
    "modules": [
        ("ZZ^3", Shown("ZZ^3")),
        ("QQ[x]; (ring x)^{-1,-2}", Shown("QQ[x]^{-1, -2}")),
        ("QQ[x,y]; coker matrix{{x}}", Shown("cokernel(((x)))")),
        ("QQ[x,y]; image matrix{{x,y}}", Shown("image(((x, y)))")),
        ("QQ[x,y]; rank (ring x)^4", 4),
        ("QQ[x,y]; syz matrix{{x,y}}", Shown("((-y); (x))")),
        ("QQ[x,y]; degree coker matrix{{x^3}}", 3),
        ("QQ[x,y]; Hom(coker matrix{{x}}, (ring x)^1) == 0", True),
        ("R = QQ[x,y]; f = map(R,R,{y,x}); f x", polynomial("x y", y)),
        ("R = QQ[x,y]; map(R,R,{y,x})", Shown("QQ[x, y] → QQ[x, y], (y, x)")),
    ],
    "Hilbert": [
        ("QQ[x,y]; hilbertFunction(3, ideal 0_(QQ[x,y]))", 4),
        (CUBIC + "hilbertPolynomial I", HilbertPolynomial(((0, -2), (1, 3)))),
        ("S = QQ[x,y,z]; hilbertPolynomial ideal(x^2)", HilbertPolynomial(((0, -1), (1, 2)))),
        ("S = QQ[x,y]; reduceHilbert hilbertSeries ideal(x^2)", OneWay((1 + T) / (1 - T))),
        ("S = QQ[x,y]; hilbertSeries ideal 0_S", OneWay(1 / (1 - T) ** 2)),
        ("S = QQ[x,y]; hilbertSeries ideal(x^2)", OneWay((1 - T**2) / (1 - T) ** 2)),
        ("S = QQ[x,y]; hilbertSeries (S^{-1,2})", OneWay((T + T**-2) / (1 - T) ** 2)),
        (
            "QQ[x,y, Degrees => {-1,-2}]; hilbertSeries ring x",
            OneWay(1 / ((1 - 1 / T) * (1 - T**-2))),
        ),
        (
            "S = QQ[x,y, Degrees => {{1,0},{1,1}}]; hilbertSeries S",
            OneWay(1 / ((1 - T0) * (1 - T0 * T1))),
        ),
        ("S = QQ[x,y]; hilbertSeries(S, Order => 3)", Shown("1 + 2*T + 3*T^2")),
        ("S = QQ[x,y]; poincare ideal(x^2)", Shown("1 - T^2")),
        ("S = QQ[x,y]; reduceHilbert hilbertSeries ideal vars S", Integer(1)),
        ("S = QQ[x,y]; hilbertSeries ideal 1_S", Integer(0)),
        (CUBIC + "apply(4, n -> hilbertFunction(n, I))", [1, 4, 7, 10]),
        (CUBIC + "genus I", 0),
    ],
    "resolutions": [
        ("QQ[x,y]; betti res ideal(x,y)", betti((0, 0, 1), (1, 1, 2), (2, 2, 1))),
        (CUBIC + "betti res I", betti((0, 0, 1), (1, 2, 3), (2, 3, 2))),
        (
            "S = QQ[x,y,z]; betti res coker vars S",
            betti((0, 0, 1), (1, 1, 3), (2, 2, 3), (3, 3, 1)),
        ),
        (CUBIC + "pdim module I", 1),
        (CUBIC + "regularity I", 2),
        ("QQ[x,y]; length res ideal(x,y)", 2),
        ("S = QQ[x,y]; (res ideal(x,y)).dd_1", Shown("((x, y))")),
    ],
    "errors": [
        ('error "my words"', Error("my words")),
        ("1/0", Error("division by zero")),
        ("{1,2}#5", Error("index 5 out of bounds")),
        ("QQ[x]; x + symbol yy", Error("no method for binary operator +")),
        ("noSuchFunction 3", Error("no method for adjacent objects")),
        ("(hashTable{1=>2})#3", Error("key not found in hash table")),
        ("matrix{{1,2},{3}}", Error("expected")),
        ('value "(1"', Error("error")),
    ],
    "no counterpart": [
        ("n -> n", NoCounterpart("FunctionClosure")),
        ("sin", NoCounterpart("MethodFunction")),
        ("ideal", NoCounterpart("MethodFunctionSingle")),
        ("Proj(QQ[x,y])", NoCounterpart("ProjectiveVariety")),
        ("{1, n -> n}", NoCounterpart("FunctionClosure")),
        ("List", NoCounterpart("Type")),
        ("stdio", NoCounterpart("File")),
    ],
}

ROWS = [(kind, code, expected) for kind, rows in TABLE.items() for code, expected in rows]

R = "R = QQ[x,y]; "
DOCUMENTED: dict[str, list[tuple[str, str]]] = {
    "`ZZ`": [("3", "int")],
    "`QQ`": [("1/3", "Fraction")],
    "`RR`, `CC`, `RRi`": [
        ("1.5", "Real"),
        ("1.5*ii", "ComplexNumber"),
        ("interval(1, 2)", "RealInterval"),
    ],
    "`pi`, `ii`, `EulerConstant`, `CatalanConstant`": [
        ("pi", "Pi"),
        ("ii", "ImaginaryUnit"),
        ("EulerConstant", "EulerGamma"),
        ("CatalanConstant", "Catalan"),
    ],
    "`infinity`, `-infinity`, `indeterminate`": [
        ("infinity", "Infinity"),
        ("-infinity", "NegativeInfinity"),
        ("indeterminate", "NaN"),
    ],
    "`true`, `null`, strings": [("true", "bool"), ("null", "None"), ('"é"', "str")],
    "nets": [("net(QQ^3)", "Net")],
    "symbols, indexed variables": [("symbol x", "Symbol"), ("x_1", "Symbol")],
    "lists, sequences, arrays": [("{1}", "list"), ("(1, 2)", "tuple"), ("[1]", "Array")],
    "hash tables": [("hashTable {1 => 2}", "dict"), ("hashTable {{1} => 2}", "HashTable")],
    "mutable lists, hash tables, matrices": [
        ("new MutableList from {1}", "MutableList"),
        ("new MutableHashTable from {1 => 2}", "MutableHashTable"),
        ("mutableMatrix {{1}}", "MutableMatrix"),
    ],
    "options, sets, tallies, virtual tallies": [
        ("1 => 2", "Option"),
        ("set {1}", "frozenset"),
        ("set {{1}}", "Set"),
        ("tally {1}", "Tally"),
        ("new VirtualTally from {1 => -1}", "VirtualTally"),
    ],
    "`ZZ`, `QQ`, `ZZ/p`, `RR_53`, `CC_53`": [
        ("ZZ", "IntegerRing"),
        ("QQ", "CoefficientField"),
        ("ZZ/7", "CoefficientField"),
        ("RR", "RealField"),
        ("CC_100", "ComplexField"),
    ],
    "`GF q`": [("GF 9", "GaloisField"), ("GF(ZZ/3[a]/(a^2+1))", "GaloisField")],
    "polynomial rings over `QQ`, `ZZ/p`": [("ZZ/7[x]", "PolynomialRing")],
    "other degrees, orders, coefficients; Weyl, exterior, Laurent, towers; `toField`": [
        ("QQ[x, Degrees => {2}]", "Algebra"),
        ("QQ[x, y, SkewCommutative => true]", "Algebra"),
        ("toField(QQ[x]/(x^2-2))", "Algebra"),
    ],
    "quotients, fraction fields": [
        ("QQ[x]/(x^2)", "QuotientRing"),
        ("frac(QQ[x])", "FractionField"),
    ],
    "polynomials over `ZZ`, `QQ`, `ZZ/p` in GRevLex, GLex or Lex, with standard degrees": [
        ("ZZ[x]; x", "PolyElement"),
        ("QQ[x, y, MonomialOrder => Lex]; x", "PolyElement"),
        ("ZZ/7[x, y, MonomialOrder => GLex]; x", "PolyElement"),
    ],
    "elements of other rings": [
        ("QQ[x, Degrees => {2}]; x", "RingElement"),
        ("a = (GF 9)_0", "RingElement"),
        ("frac(QQ[x]); 1/x", "RingFraction"),
    ],
    "elements of `ZZ/p`": [("3_(ZZ/7)", "nmod")],
    "ideals of polynomial rings over `QQ`, `ZZ/p`": [(R + "ideal x", "Ideal")],
    "other ideals, monomial ideals": [
        ("ideal 4", "GeneralIdeal"),
        (R + "monomialIdeal x", "MonomialIdeal"),
    ],
    "matrices, modules, vectors": [
        ("matrix {{1}}", "Matrix"),
        (R + "coker vars R", "Module"),
        (R + "vector {x}", "Vector"),
    ],
    "Gröbner bases, ring maps": [
        (R + "gb ideal x", "GroebnerBasis"),
        (R + "map(R, R, {y, x})", "RingMap"),
    ],
    "`ChainComplex` (1.21), `Complex` (1.26), their maps": [
        (R + "res ideal vars R", "Complex"),
        (R + "(res ideal vars R).dd", "ComplexMap"),
        (R + "id_(res ideal vars R)", "ComplexMap"),
    ],
    "Betti tables, Hilbert polynomials": [
        (R + "betti res ideal vars R", "BettiTable"),
        (R + "hilbertPolynomial R", "HilbertPolynomial"),
    ],
    "`Product` of `Power` (`factor`), other expressions": [
        ("factor 12", "Factorization"),
        ("factor(12/5)", "Expression"),
    ],
    "quotients of an element of a ring of degrees by a product (`hilbertSeries`, `reduceHilbert`)": [
        (R + "hilbertSeries R", "Expr"),
        (R + "reduceHilbert hilbertSeries ideal(x^2)", "Expr"),
    ],
    "partitions": [("new Partition from {2, 1}", "Partition")],
    "anything else": [("sin", "ValueTypeError")],
}
"""For each row of the table in docs/values.md, by its first column: examples, and the Python class
of each value.
"""


# Many values asked of one Macaulay2.


def values(m2: Macaulay2, questions: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Any]:
    """The value of each piece of code with its inputs; the error where there is none."""
    return [_value(m2, code, inputs) for code, inputs in questions]


def _value(m2: Macaulay2, code: str, inputs: Mapping[str, Any]) -> Any:
    try:
        return m2.value(code, **inputs)
    except M2BridgeError as failure:  # compared by the tests
        return failure

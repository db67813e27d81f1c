"""SymPy expressions, which say no ring: beside an ideal, in a workspace, alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sympy import Matrix, Rational, symbols

import m2bridge
from m2bridge.errors import ConversionError
from m2bridge.workspace.macaulay2 import Macaulay2
from m2bridge.workspace.values import Array, HashTable, Option, Set, Symbol, Tally
from m2bridge.workspace.workspace import Workspace

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
    ("ring f === ring I or ring f === ring J", {"f": x, "I": IDEAL, "J": OTHER}, False),  # two rings have x
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
def test_expressions_beside_an_ideal(m2: Macaulay2, code: str, inputs: dict[str, Any], expected: Any) -> None:
    assert m2.value(code, **inputs) == expected


def test_coefficients_have_to_be_in_the_ring(m2: Macaulay2) -> None:
    ring = m2bridge.PolynomialRing(m2bridge.CoefficientField(2), ("x",))
    with pytest.raises(ConversionError, match=r"coefficients in GF\(2\)"):
        m2.value("f", f=x / 2, R=ring)
    assert m2.value("f == x", f=3 * x, R=ring)


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


def test_noncommutative_variables_are_not_meant(work: Workspace) -> None:
    """The products of SymPy's symbols have no order."""
    work.run("W = QQ[x, y, WeylAlgebra => {x => y}]")
    assert work.value("isCommutative ring f", f=x * y)

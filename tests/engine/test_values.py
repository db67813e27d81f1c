"""Values between Macaulay2 and Python, both ways, on every version; one process for all of a version's questions."""

from __future__ import annotations

from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import pytest
from sympy import Rational, simplify, symbols

from m2bridge.errors import ConversionError, ScriptError, ValueTypeError
from m2bridge.workspace.macaulay2 import Macaulay2
from m2bridge.workspace.values import HashTable, Real, Reference
from tests.asking import values
from tests.everyday import DOCUMENTED, ROWS, Error, NoCounterpart, Shown


@cache
def everyday(session: Macaulay2) -> list[Any]:
    return values(session, [(code, {}) for _, code, _ in ROWS])


@cache
def returned(session: Macaulay2) -> list[Any]:
    """What comes back when each value is given again."""
    given = [{} if isinstance(value, Exception) else {"X": value} for value in everyday(session)]
    return values(session, [("X" if inputs else "null", inputs) for inputs in given])


@pytest.mark.parametrize("row", range(len(ROWS)), ids=[f"{kind}: {code}" for kind, code, _ in ROWS])
def test_everyday(session: Macaulay2, row: int) -> None:
    value, expected = everyday(session)[row], ROWS[row][2]
    if isinstance(expected, Shown):
        assert not isinstance(value, Exception), value
        assert str(value) == expected.text
    elif isinstance(expected, Error):
        assert isinstance(value, ScriptError)
        assert expected.words in str(value)
    elif isinstance(expected, NoCounterpart):
        assert isinstance(value, ValueTypeError)
        assert value.kind == expected.kind
    else:
        assert value == expected
        assert isinstance(expected, type(value) | set) or isinstance(value, type(expected))
    if not isinstance(value, Exception):
        back = returned(session)[row]
        assert back == value
        assert type(back) is type(value)


def test_the_examples_of_the_documented_table(session: Macaulay2) -> None:
    """Each has the class that its row names, and comes back as it was."""
    examples = [example for row in DOCUMENTED.values() for example in row]
    found = values(session, [(code, {}) for code, _ in examples])
    assert [
        (code, "None" if value is None else type(value).__name__)
        for (code, _), value in zip(examples, found, strict=True)
    ] == (examples)
    known = [value for value in found if not isinstance(value, ValueTypeError)]
    for value, back in zip(known, values(session, [("X", {"X": value}) for value in known]), strict=True):
        assert HashTable([(0, back)]) == HashTable([(0, value)])


def test_expressions_have_values(session: Macaulay2) -> None:
    """The documented example, and products of elements of rings that SymPy does not have."""
    T = symbols("T")
    series = session.value("hilbertSeries ideal((QQ[x,y])_0^2)").evaluate()
    assert simplify(series - (1 + T) / (1 - T)) == 0
    for code in (
        "factor poincare ideal((QQ[x,y])_0^2)",
        "GF 9[t]; factor(t^4 + 2)",
        "QQ[x,y,Degrees=>{2,3}]; factor(x^3*y - y^3)",
        "factor(-360)",
    ):
        ring, _, factored = code.rpartition("; ")
        factors, product = session.value(f"{ring or 0}; F = {factored}; (F, value F)")
        assert factors.expand() == product
        assert factors.expand() == prod((base**n for base, n in factors), start=1)
    fraction = session.value("factor(-12/5)").evaluate()
    assert fraction == Rational(-12, 5)


def test_quotients_without_a_basis_at_sight_need_macaulay2(session: Macaulay2) -> None:
    x, y, one = session.value("R = QQ[x,y]/(x^2 - y, x*y - 1); (x, y, 1_R)")
    assert x + y - y == x
    with pytest.raises(ConversionError, match=r"normal forms in QQ\[x, y\].* need Macaulay2"):
        x * x
    assert session.value("x * y", x=x, y=y) == one


def test_the_table_is_large() -> None:
    assert len(ROWS) >= 150
    assert Real.of(0.5) != Real.of(0.25)


def test_a_reference_goes_back_to_its_workspace_only(program: Path) -> None:
    with Macaulay2(program) as m2, m2.workspace() as work, m2.workspace() as other:
        double = work.value("n -> 2*n", references=True)
        assert isinstance(double, Reference)
        assert double.kind == "FunctionClosure"
        assert work.value("f 21", f=double) == 42
        with pytest.raises(ConversionError, match="another workspace"):
            other.value("f 21", f=double)

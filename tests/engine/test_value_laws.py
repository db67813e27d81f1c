"""Values come back: everyday ones, and laws that random ones keep."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st
from sympy import (
    Add,
    Expr,
    Integer,
    Mul,
    Pow,
    Rational,
    cancel,
    fraction,
    series,
    symbols,
    sympify,
    together,
)

from m2bridge.errors import ConversionError, ScriptError, ValueTypeError
from m2bridge.workspace.macaulay2 import Macaulay2, Workspace
from m2bridge.workspace.values import (
    Expression,
    HashTable,
    Real,
    Reference,
    RingElement,
    RingFraction,
)
from tests.everyday import DOCUMENTED, ROWS, Error, NoCounterpart, OneWay, Shown, values
from tests.random_rings import RINGS, elements, fractions, reals
from tests.random_values import VALUES, facts_of_matrix, facts_of_module, facts_of_ring
from tests.tiers import few

# The law of all values: given to Macaulay2 and taken back, it is the same; random ones of each
# kind, on every version. Each example is a batch for one call. What Macaulay2 says of its values is
# compared, too, so that a mistake in both directions does not go unseen.

BATCH = 6
EXAMPLES = 2

cheap = settings(
    max_examples=EXAMPLES, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
"""What fails is told by its place in the batch; to make it smaller would take minutes."""


@pytest.fixture(scope="module")
def workspaces() -> Iterator[Callable[[Path], Workspace]]:
    """A workspace on each Macaulay2, for all laws: what one example leaves there changes nothing
    for the next.
    """
    with ExitStack() as stack:
        yield cache(
            lambda program: stack.enter_context(stack.enter_context(Macaulay2(program)).workspace())
        )


@pytest.fixture
def work(program: Path, workspaces: Callable[[Path], Workspace]) -> Workspace:
    return workspaces(program)


def batches(some: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(some, min_size=BATCH, max_size=BATCH)


def with_elements(rings: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Random elements of random rings."""
    return rings.flatmap(elements)


REDUCED = {"fraction fields", "maps of modules", "mutable matrices", "Gröbner bases"}
"""Fractions are written in lowest terms, elements of quotients by other representatives, Gröbner
bases sorted; mutable matrices have no degrees. What comes back is equal in Macaulay2.
"""
EQUAL = {
    "mutable matrices": "matrix X#i == matrix Y#i",
    "maps of modules": "X#i == Y#i",
    "Gröbner bases": "gens X#i === gens Y#i",
}
"""How Macaulay2 compares two values, if not by ``===``; its ``==`` computes Gröbner bases of ideals
and modules.
"""
for kind in (
    "Koszul complexes",
    "complexes with zero maps",
    "maps of complexes",
    "fraction fields",
    "intervals",
):
    EQUAL[kind] = "X#i == Y#i"


@pytest.mark.parametrize("kind", few(RINGS, 4))
def test_rings_come_back(work: Workspace, kind: str) -> None:
    @cheap
    @given(batches(RINGS[kind]))
    def law(some: list[Any]) -> None:
        back, same, said = work.value(
            f"(X, all(#X, i -> X#i === Y#i), apply(X, R -> {RING_FACTS}))", X=some, Y=some
        )
        assert back == some
        assert same
        assert said == [facts_of_ring(ring) for ring in some]

    law()


@pytest.mark.slow
@pytest.mark.parametrize("kind", RINGS)
def test_elements_come_back(work: Workspace, kind: str) -> None:
    @cheap
    @given(batches(with_elements(RINGS[kind])))
    def law(some: list[Any]) -> None:
        check(work, kind, some)

    law()


@pytest.mark.slow
@pytest.mark.parametrize("kind", VALUES)
def test_values_come_back(work: Workspace, kind: str) -> None:
    @cheap
    @given(batches(VALUES[kind]))
    def law(some: list[Any]) -> None:
        check(work, kind, some)

    law()


def check(work: Workspace, kind: str, some: list[Any]) -> None:
    """The law for some values; once they are in the form in which Macaulay2 has them, nothing at
    all may change.
    """
    back = work.value("X", X=some)
    equal = EQUAL.get(kind, "X#i === Y#i")
    again, same = work.value(f"(X, select(#X, i -> not ({equal})))", X=back, Y=some)
    assert same == []
    assert strict(again) == strict(back)
    if kind not in REDUCED:
        assert strict(sorted_terms(back)) == strict(sorted_terms(some))


def strict(value: Any) -> HashTable:
    """What is equal for equal values of equal types only; ideals are compared by their
    generators.
    """
    return HashTable([(0, value)])


def sorted_terms(value: Any) -> Any:
    """The value with the terms of its elements in an order that does not depend on the ring's."""
    if isinstance(value, RingElement):
        return RingElement, value.ring, sorted((m, sorted_terms(c)) for m, c in value.terms)
    if isinstance(value, list | tuple):
        return type(value)(map(sorted_terms, value))
    if is_dataclass(value):
        return type(value), [sorted_terms(getattr(value, field.name)) for field in fields(value)]
    return value


RING_FACTS = """if instance(R, InexactField) then null else (
    numgens R, char R, isCommutative R, degreeLength R, apply(gens R, x -> degree x))"""


@cheap
@given(batches(VALUES["matrices"]))
def test_what_macaulay2_says_of_matrices(work: Workspace, some: list[Any]) -> None:
    said = work.value(
        "apply(X, f -> (numrows f, numcols f, degrees target f, degrees source f, degree f))",
        X=some,
    )
    assert said == [facts_of_matrix(matrix) for matrix in some]


@cheap
@given(batches(VALUES["modules"]))
def test_what_macaulay2_says_of_modules(work: Workspace, some: list[Any]) -> None:
    code = (
        "apply(X, M -> (degrees ambient M, numgens M, numcols relations M, M.?generators,"
        " M.?relations))"
    )
    assert work.value(code, X=some) == [facts_of_module(module) for module in some]


@cheap
@given(batches(VALUES["Koszul complexes"]))
def test_what_macaulay2_says_of_complexes(work: Workspace, some: list[Any]) -> None:
    """The product of two differentials that follow each other is zero; the ranks stand where they
    are said to.
    """
    code = (
        "apply(#X, i -> (C := X#i; n := L#i; (C.dd_(n+1) * C.dd_(n+2) == 0, apply(4, k -> rank"
        " C_(n+k)))))"
    )
    said = work.value(code, X=some, L=[complex.low for complex in some])
    assert said == [(True, [1, 2, 1, 0])] * len(some)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [kind for kind in RINGS if kind not in ("ground rings", "number fields", "fraction fields")],
)
def test_elements_are_compared_as_in_macaulay2(work: Workspace, kind: str) -> None:
    """With each other, and with integers that may be equal modulo the characteristic."""
    pairs = RINGS[kind].flatmap(lambda ring: st.tuples(elements(ring), elements(ring)))

    @cheap
    @given(batches(pairs))
    def law(some: list[Any]) -> None:
        code = "(f, g) -> (z := 0*f; t := 3 + z; {f, g, z, t, f == g, f == 3, z == 101, t == 5})"
        for f, g, zero, three, *said in work.value(f"apply(some, {code})", some=some):
            if isinstance(f, RingElement):  # others are SymPy's
                assert [f == g, f == 3, zero == 101, three == 5] == said
                assert zero == 0
                assert three == 3

    law()


@pytest.mark.slow
def test_numbers_are_compared_modulo_the_characteristic(session: Macaulay2) -> None:
    two, zero = session.value("R = ZZ/7[x]/(x^2 - 3); (8_R/4, 0_R)")
    assert two == 9 != zero
    assert two == Fraction(1, 4) != zero
    assert two != 3
    assert zero == 14
    assert zero != Fraction(1, 7) != two
    large = session.value("2_(ZZ/2147483659)")
    assert large == 2 + 2147483659
    assert large != 3


OPERATIONS = {
    "x + y": operator.add,
    "x - y": operator.sub,
    "x * y": operator.mul,
    "x / y": operator.truediv,
    "x ^ y": operator.pow,
}


@pytest.mark.parametrize("code", OPERATIONS)
def test_an_operator_is_refused_with_the_call_that_computes(session: Macaulay2, code: str) -> None:
    """It is refused with a number on either side too."""
    x, y = session.value("R = QQ[x,y]/(x^2 - y, x*y - 1); (x, y)")
    half = session.value("QQ[x,y,Degrees=>{2,3}]; x/(y + 1)")
    for left, right in ((x, y), (x, 2), (2, x), (half, half), (half, 2), (2, half)):
        with pytest.raises(ConversionError) as refused:
            OPERATIONS[code](left, right)
        assert str(refused.value).endswith(f'need Macaulay2: m2.value("{code}", x=x, y=y)')
    with pytest.raises(ConversionError, match=r"differences in QQ\[x, y\]/"):
        -x  # noqa: B018
    if code != "x ^ y":
        assert session.value(f"{code} === {code}", x=half, y=half)
    if code == "x * y":
        assert session.value(code, x=x, y=y) == 1


def test_a_name_is_that_of_the_value_and_not_of_a_variable(session: Macaulay2) -> None:
    """Values come from rings whose variables have the names that are given, whichever comes last."""
    x, y, z = session.value("R = QQ[x,y,z]; (x, y, z)")
    for inputs in ({"x": y, "y": x}, {"y": x, "x": y}):
        assert session.value("(x, y, z)", **inputs) == (y, x, z)


@pytest.mark.parametrize(
    "ring", ["QQ[x,y]", "QQ[x,y,Degrees=>{2,3}]", "ZZ[x,y,MonomialOrder=>Lex]", "ZZ/7[x,y]"]
)
def test_fractions_are_compared_however_they_are_written(session: Macaulay2, ring: str) -> None:
    x, y, product, square, found = session.value(
        f"R = {ring}; (x, y, x*y, y^2, (x + 1)*y/(x*(x + 1)))"
    )
    over = found.ring
    assert found == RingFraction(over, y, x) == RingFraction(over, square, product)
    assert found != RingFraction(over, x, y)
    assert found != RingFraction(over, product, square)


def test_fractions_of_other_rings_are_compared_by_macaulay2(session: Macaulay2) -> None:
    y, square, found = session.value("R = QQ[x,y]/(y^2 - x^3); (y, x^2, y/x)")
    assert found == RingFraction(found.ring, found.numerator, found.denominator)
    with pytest.raises(
        ConversionError, match=r"comparisons in .* need Macaulay2: m2.value"
    ) as refused:
        RingFraction(found.ring, square, y) == found  # noqa: B015
    assert 'm2.value("x == y", x=x, y=y)' in str(refused.value)
    assert session.value("x == y", x=RingFraction(found.ring, square, y), y=found)


@cheap
@given(batches(st.tuples(reals(53), reals(53) | reals(100), fractions.filter(bool))))
def test_real_numbers_are_computed_with_as_in_macaulay2(work: Workspace, some: list[Any]) -> None:
    said = work.value(
        "apply(some, (x, y, q) -> (x + y, x - y, x * y, x + q, q * y, x < y, x == y))", some=some
    )
    found = [(x + y, x - y, x * y, x + q, q * y, x < y, x == y) for x, y, q in some]
    assert strict(found) == strict(said)


# Values between Macaulay2 and Python, both ways, on every version; one process for all of a
# version's questions.


@cache
def everyday(session: Macaulay2) -> list[Any]:
    return values(session, [(code, {}) for _, code, _ in ROWS])


@cache
def returned(session: Macaulay2) -> list[Any]:
    """What comes back when each value is given again."""
    given = [{} if isinstance(value, Exception) else {"X": value} for value in everyday(session)]
    return values(session, [("X" if inputs else "null", inputs) for inputs in given])


@pytest.mark.slow
@pytest.mark.parametrize("row", range(len(ROWS)), ids=[f"{kind}: {code}" for kind, code, _ in ROWS])
def test_everyday(session: Macaulay2, row: int) -> None:
    value, expected = everyday(session)[row], ROWS[row][2]
    if isinstance(expected, Shown):
        assert not isinstance(value, Exception), value
        assert str(value) == expected.text
    elif isinstance(expected, OneWay):
        assert value == expected.expression
    elif isinstance(expected, Error):
        assert isinstance(value, ScriptError)
        assert expected.words in str(value)
    elif isinstance(expected, NoCounterpart):
        assert isinstance(value, ValueTypeError)
        assert value.kind == expected.kind
    else:
        assert value == expected
        assert isinstance(expected, type(value) | set) or isinstance(value, type(expected))
    if isinstance(value, Exception):
        return
    back = returned(session)[row]
    if isinstance(expected, OneWay):
        # it went in as a fraction, whose variables are those of the expression
        numerator, denominator = (sympify(str(part)) for part in (back.numerator, back.denominator))
        assert cancel(numerator / denominator - sympify(str(value))) == 0
        return
    assert back == value
    # An integer of SymPy goes in as the number that it is.
    assert type(back) is (int if isinstance(value, Integer) else type(value))


def test_the_examples_of_the_documented_table(session: Macaulay2) -> None:
    """Each has the class that its row names, and comes back as it was, unless it goes out only."""
    examples = [example for row in DOCUMENTED.values() for example in row]
    found = values(session, [(code, {}) for code, _ in examples])
    assert [
        (code, documented_class(value)) for (code, _), value in zip(examples, found, strict=True)
    ] == examples
    one_way = (ValueTypeError, *ARITHMETIC)
    known = [value for value in found if not isinstance(value, one_way)]
    for value, back in zip(
        known, values(session, [("X", {"X": value}) for value in known]), strict=True
    ):
        assert HashTable([(0, back)]) == HashTable([(0, value)])


ARITHMETIC = (Add, Mul, Pow)
"""Classes of SymPy's expressions."""


def documented_class(value: Any) -> str:
    """The name of a class, as docs/values.md writes it."""
    if value is None:
        return "None"
    return Expr.__name__ if isinstance(value, ARITHMETIC) else type(value).__name__


def test_hilbert_series_are_computed_with(session: Macaulay2) -> None:
    """The documented example, its coefficients against Hilbert functions, and the way in that the
    refusal names.
    """
    T = symbols("T")
    code = (
        "S = QQ[x,y,z]; I = ideal(x^2, y^3); (hilbertSeries I, apply(8, n -> hilbertFunction(n,"
        " S/I)))"
    )
    found, numbers = session.value(code)
    expanded = series(found, T, 0, 8).removeO()
    assert [expanded.coeff(T, n) for n in range(8)] == numbers
    assert cancel(found - (1 + T) * (1 + T + T**2) / (1 - T)) == 0

    documented = session.value("hilbertSeries ideal((QQ[x,y])_0^2)")
    f, g = fraction(together(documented))
    quotient, degree = session.value("h = f/g; (h, (degree numerator h)#0)", f=f, g=g)
    assert (
        cancel(quotient.numerator.as_expr() / quotient.denominator.as_expr() - (1 + T) / (1 - T))
        == 0
    )
    assert degree == 1


@pytest.mark.parametrize(
    "code", ["factor(12/5)", "QQ[t]; factor(t/(t + 1)^2)", "QQ[t]; new Divide from {t, t + 1}"]
)
def test_other_quotients_go_both_ways(session: Macaulay2, code: str) -> None:
    value = session.value(code)
    assert isinstance(value, Expression)
    assert session.value("X", X=value) == value


def test_expressions_have_values(session: Macaulay2) -> None:
    """Products of elements of rings that SymPy has, and a quotient of products; of other rings
    Macaulay2 has the product.
    """
    for code in ("factor(-360)", "QQ[x,y]; factor(x^3*y - x*y^3)"):
        ring, _, factored = code.rpartition("; ")
        factors, product = session.value(f"{ring or 0}; F = {factored}; (F, value F)")
        assert factors.expand() == product
        assert factors.expand() == prod((base**n for base, n in factors), start=1)
    fraction = session.value("factor(-12/5)").evaluate()
    assert fraction == Rational(-12, 5)
    for code in ("factor poincare ideal((QQ[x,y])_0^2)", "GF 9[t]; factor(t^4 + 2)"):
        factors = session.value(code)
        with pytest.raises(ConversionError, match="need Macaulay2"):
            factors.expand()
        ring, _, factored = code.rpartition("; ")
        assert session.value("value F", F=factors) == session.value(
            f"{ring or 0}; value {factored}"
        )


def test_the_table_is_large() -> None:
    assert len(ROWS) >= 150
    assert Real.of(0.5) != Real.of(0.25)


@pytest.mark.slow
def test_a_reference_goes_back_to_its_workspace_only(program: Path) -> None:
    with Macaulay2(program) as m2, m2.workspace() as work, m2.workspace() as other:
        double = work.value("n -> 2*n", references=True)
        assert isinstance(double, Reference)
        assert double.kind == "FunctionClosure"
        assert work.value("f 21", f=double) == 42
        with pytest.raises(ConversionError, match="another workspace"):
            other.value("f 21", f=double)

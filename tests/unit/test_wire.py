from fractions import Fraction

import pytest

from m2bridge.convert.wire import decode
from m2bridge.engine.answer import parse
from m2bridge.errors import ParseError

RING = ["PolynomialRing", ["QQ"], [["x"], ["c", 1, 2]]]


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
    polynomial = decode(["RingElement", RING, [[[2, 1], "3/7"], [[0, 0], "-1"]]])
    assert str(polynomial) == "3/7*x**2*c_1_2 - 1"
    ideal = decode(["Ideal", RING, [[[[1, 0], "1"]], []]])
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
        ["RingElement", RING, [[[1], "1"]]],
        ["RingElement", RING, [[[1, 0], "1"], [[1, 0], "2"]]],
        ["RingElement", RING, [[[1, 0], "0"]]],
        ["RingElement", ["QuotientRing"], []],
        ["Ideal", ["PolynomialRing", ["RR"], [["x"]]], []],
        ["Matrix", RING, 2, 2, [[]]],
    ],
)
def test_everything_else_is_refused(value: object) -> None:
    with pytest.raises(ParseError):
        decode(value)


@pytest.mark.parametrize("record", ["", "{}", '{"field":"x"}', "[1]", '{"field":"x","value":["ZZ",1]}'])
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

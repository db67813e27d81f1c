"""Fields by name: the text means the same field wherever a field is taken."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from sympy import symbols

from m2bridge import (
    QQ,
    CoefficientField,
    Engine,
    InvalidCaseError,
    PolynomialMap,
    PolynomialRing,
    closure,
    dimension,
    ideal,
    image,
    singular_locus,
)
from m2bridge.algebra.field import ZZ

t = symbols("t")
CUSP = PolynomialMap.from_expressions([t], {"x": t**2, "y": t**3})
SEVEN = CoefficientField(7)


@pytest.mark.parametrize("compute", [dimension, closure, image, singular_locus])
def test_computations_take_fields_by_name(compute: Callable[..., Any], engine: Engine) -> None:
    by_name = compute(CUSP, field="GF(7)", engine=engine).to_json()
    by_field = compute(CUSP, field=SEVEN, engine=engine).to_json()
    assert by_name["field"] == "GF(7)"
    assert by_name | {"seconds": 0} == by_field | {"seconds": 0}


@pytest.mark.parametrize("compute", [dimension, closure, image, singular_locus])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ZZ", "not ZZ, which is not a field"),
        ("GF(6)", "6 is not a prime number"),
        ("QQ(sqrt(2))", "must be QQ or GF(p) here, not QQ[sqrt2]/(sqrt2**2 - 2)"),
        ("seven", "'seven' is not a field of coefficients"),
    ],
)
def test_what_is_no_field_of_a_map_is_refused(
    compute: Callable[..., Any], name: str, words: str
) -> None:
    with pytest.raises(InvalidCaseError, match=re.escape(words)):
        compute(CUSP, field=name)


def test_rings_take_fields_by_name() -> None:
    assert PolynomialRing("GF(7)", ["x"]) == PolynomialRing(SEVEN, ("x",))
    assert PolynomialRing("QQ", ("x",)).field == QQ
    assert PolynomialRing("ZZ", ("x",)).field == ZZ
    CUSP.check_field("GF(7)")
    half = PolynomialMap.from_expressions([t], {"x": t / 2})
    with pytest.raises(InvalidCaseError, match="2 divides a denominator"):
        half.check_field("GF(2)")
    assert CUSP.target(field="GF(7)") == CUSP.target(field=SEVEN)
    assert ideal("x", field="GF(7)").ring == PolynomialRing("GF(7)", ("x",))
    with pytest.raises(InvalidCaseError, match="'ideal' and 'singular-locus --ideal' also take"):
        PolynomialRing("QQ[i]/(i^2+1)", ("x",))

"""What closures write is read back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from m2bridge import CoefficientField, PolynomialRing, SingleLayerAttention, closure, read_ideal
from m2bridge.algebra.field import QQ
from m2bridge.convert.notation import polynomial_text
from m2bridge.errors import ConversionError

NAMES = ("x", "y_1", "c_1_2")


@pytest.mark.parametrize("case", [(2, 2), (2, 1, 1), (1, 2)])
def test_a_closure_in_a_file(case: tuple[int, ...]) -> None:
    found = closure(SingleLayerAttention(*case), max_degree=4)
    assert read_ideal(json.loads(json.dumps(found.to_json()))) == found.ideal


@given(
    st.sampled_from([QQ, CoefficientField(7)]),
    st.dictionaries(st.tuples(*[st.integers(0, 12)] * 3), st.fractions(max_denominator=6), min_size=1, max_size=5),
)
def test_every_polynomial(field: CoefficientField, terms: dict[tuple[int, ...], object]) -> None:
    ring = PolynomialRing(field, NAMES)
    domain = ring.sympy_ring.domain
    values = {m: domain(c.numerator) / domain(c.denominator) for m, c in terms.items()}  # type: ignore[attr-defined]
    polynomial = ring.sympy_ring.from_dict({m: c for m, c in values.items() if c})
    if polynomial:
        data = {"field": str(field), "coordinates": list(NAMES), "generators": [polynomial_text(polynomial)]}
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

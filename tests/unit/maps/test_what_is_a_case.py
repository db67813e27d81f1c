"""What public functions take as a case: models, maps, mappings, ideals."""

import re
from typing import Any

import pytest
from sympy import IndexedBase, Poly, Rational, ring, symbols
from sympy.polys.domains import QQ as SYMPY_QQ

import m2bridge
from m2bridge import (
    CoefficientField,
    ConversionError,
    InvalidCaseError,
    MethodUnavailableError,
    PolynomialMap,
    SingleLayerAttention,
    closure,
    dimension,
    hilbert_function,
    ideal,
    image,
    singular_locus,
    slice_surface,
)
from m2bridge.maps.polynomial_map_model import IdealModel, as_model, map_of

s, t = symbols("s t")
CUBIC = {"x": s**3, "y": s**2 * t, "z": s * t**2, "w": t**3}
A = IndexedBase("A")


def test_a_mapping_is_the_map_with_all_names_as_parameters() -> None:
    expected = PolynomialMap.from_expressions([s, t], CUBIC)
    as_text = {"x": "s^3", "y": "s^2*t", "z": s * t**2, "w": Poly(t**3, s, t)}
    assert map_of(CUBIC) == map_of(as_text) == expected
    _, s_in_ring, t_in_ring = ring("s, t", SYMPY_QQ)
    assert map_of({"x": s_in_ring * t_in_ring / 2}) == map_of({"x": Rational(1, 2) * s * t})
    assert as_model(CUBIC) == as_model(expected)
    assert map_of({"x": 5}).source.variables == ()


def test_parameters_are_in_natural_order() -> None:
    assert map_of({"y": "x_10 + x_2"}).source.variables == ("x_2", "x_10")
    assert map_of({"y": A[10] + A[2]}).source.variables == ("A_2", "A_10")


def test_text_and_expressions_of_a_rational_function_agree() -> None:
    fraction = map_of({"x": 2 * t / (1 + t**2), "y": 1})
    assert map_of({"x": "2*t/(1 + t^2)", "y": 1}) == fraction
    assert len(fraction.relations) == 1


@pytest.mark.parametrize(
    ("images", "message"),
    [
        ({}, "a map needs a coordinate"),
        (
            {"x": "st", "y": "t"},
            r"'st' could be s\*t or one variable: write the product, or name the",
        ),
        ({"x": "i^2"}, "'i' could be a root of -1 or a variable: name the parameters, as"),
        ({"x": "t^"}, "x: column 3: an exponent"),
        ({"x": 1.5}, "is not exact"),
        ({"x": t, "t": 1}, "'t' names a parameter and a coordinate"),
        ({"x": object()}, "is not a polynomial"),
        ({"1x": t}, "'1x' is not a name"),
        ({5: t}, "is not"),
    ],
)
def test_what_is_no_map_is_refused(images: dict[Any, Any], message: str) -> None:
    for compute in (dimension, closure, singular_locus, hilbert_function, image, slice_surface):
        with pytest.raises((ConversionError, InvalidCaseError), match=message):
            compute(images)


def test_functions_take_a_mapping_without_macaulay2() -> None:
    assert dimension(CUBIC).dimension == 2
    with pytest.raises(InvalidCaseError, match="coordinates"):
        dimension(CUBIC, coordinates="reduced")


def test_an_ideal_is_refused_where_it_has_no_meaning() -> None:
    line = ideal("x - y")
    for compute in (closure, image):
        with pytest.raises(InvalidCaseError, match="dimension, singular_locus, hilbert_function"):
            compute(line)  # type: ignore[operator]
    refused = "'formula' is not for ideals: use auto"
    with pytest.raises(InvalidCaseError, match=refused):
        dimension(line, method="formula")
    with pytest.raises(InvalidCaseError, match="'fibres' is not for ideals: use jacobian"):
        singular_locus(line, method="fibres")
    for compute in (dimension, singular_locus):
        with pytest.raises(InvalidCaseError, match=r"field.* whose ring is over QQ"):
            compute(line, field=CoefficientField(7))
        with pytest.raises(InvalidCaseError, match="'coordinates' does not apply"):
            compute(line, coordinates="reduced")
    with pytest.raises(MethodUnavailableError, match="not homogeneous as given"):
        hilbert_function(ideal("x^2 - y"))


def test_the_model_of_an_ideal_says_what_it_is() -> None:
    parabola = ideal("x^2 - y")
    model = as_model(parabola)
    assert isinstance(model, IdealModel)
    assert (model.case, model.coordinate_names()) == (None, ("x", "y"))
    assert model.to_json() == parabola.to_json()
    with pytest.raises(MethodUnavailableError, match="no parametrization"):
        _ = model.polynomial_map


def test_every_function_of_a_case_names_what_it_takes() -> None:
    functions = "closure dimension singular_locus hilbert_function polar_degrees ed_degree"
    for name in (*functions.split(), "slice_surface"):
        documentation = " ".join(getattr(m2bridge, name).__doc__.split())
        assert re.search(r'a PolynomialMap(,| or) a mapping ``\{"x": expression\}``', documentation)
    assert dimension(SingleLayerAttention(d=2, d_out=1)).dimension == 5

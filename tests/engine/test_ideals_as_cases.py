"""Functions of maps on ideals, and on mappings: compared with formulas and with methods of ideals."""

from math import comb

import pytest
from sympy import symbols

from m2bridge import (
    CoefficientField,
    closure,
    dimension,
    ed_degree,
    hilbert_function,
    ideal,
    polar_degrees,
    singular_locus,
)
from m2bridge.ideals.singular_locus_result import IdealSingularLocus

pytestmark = pytest.mark.macaulay2("one")

s, t = symbols("s t")
MINORS = ideal("x*z - y^2", "x*w - y*z", "y*w - z^2")  # of the twisted cubic, of degree 3


def test_dimension_of_an_ideal() -> None:
    result = dimension(MINORS)
    assert (result.dimension, result.status, result.agree) == (2, "proved", True)
    assert result.to_json()["case"] is None
    assert "variety of an ideal" in str(result)
    # the union of a plane and a line; three points; nothing
    assert dimension(ideal("x*z", "y*z")).dimension == 2
    assert dimension(ideal("x^3 - x", "y")).dimension == 0
    assert dimension(ideal(1, variables="x y")).dimension == -1


def test_the_field_of_an_ideal_is_that_of_its_ring() -> None:
    over_7 = ideal("x^2 - y", field="GF(7)")
    for result in (dimension(over_7), dimension(over_7, field=CoefficientField(7))):
        assert (result.dimension, str(result.field)) == (1, "GF(7)")
    # x^7 - x vanishes at all points of GF(7), and has dimension 0 over the algebraic closure
    assert dimension(ideal("x^7 - x", field="GF(7)")).dimension == 0


def test_hilbert_function_of_an_ideal() -> None:
    result = hilbert_function(MINORS, degree=6)
    assert result.values == tuple(3 * n + 1 for n in range(7))
    assert (result.is_proved, "Gröbner basis" in result.because) == (True, True)
    cubic = hilbert_function(ideal("x^3 + y^3 + z^3 + w^3"), degree=9)
    assert cubic.values == tuple(comb(n + 3, 3) - comb(n, 3) for n in range(10))
    # a quotient that is not reduced, and no quotient at all
    assert hilbert_function(ideal("x^2", "x*y"), degree=4).values == (1, 2, 1, 1, 1)
    assert hilbert_function(ideal(1, variables="x y"), degree=3).values == (0, 0, 0, 0)


def test_singular_locus_of_an_ideal() -> None:
    cusp = ideal("y^2 - x^3")
    result = singular_locus(cusp)
    assert isinstance(result, IdealSingularLocus)
    assert result.ideal == cusp.singular_locus().ideal == ideal("x", "y")
    assert singular_locus(MINORS, method="jacobian").ideal == ideal("x", "y", "z", "w")


def test_a_mapping_is_a_map() -> None:
    cubic = {"x": s**3, "y": "s^2*t", "z": s * t**2, "w": "t^3"}
    found = closure(cubic).whole_ideal()
    assert found.equals(ideal("x*z - y^2", "x*w - y*z", "y*w - z^2", variables="x y z w"))
    assert hilbert_function(cubic, degree=3).values == (1, 4, 7, 10)
    assert singular_locus(cubic).dimension == 0
    assert polar_degrees(cubic).degrees == (3, 4)
    # a circle has ED degree 2 (Draisma et al., Example 2.5)
    assert ed_degree({"x": "2*t/(1 + t^2)", "y": "(1 - t^2)/(1 + t^2)"}).ed_degree == 2

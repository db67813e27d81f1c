"""Singular loci by double points against the Jacobian criterion and known surfaces."""

from __future__ import annotations

from math import comb
from typing import Any

import pytest
from sympy import Expr, Poly, symbols

from m2bridge import PolynomialMap, singular_locus
from m2bridge.errors import MethodUnavailableError
from m2bridge.families.convolutional_network.model import ConvolutionalNetwork

pytestmark = pytest.mark.macaulay2("any")

s, t, u, v, x, y = symbols("s t u v x y")


def images(*expressions: Expr) -> PolynomialMap:
    """The map with these images in the parameters that they have."""
    used = sorted(set().union(*(image.free_symbols for image in expressions)), key=str)
    return PolynomialMap.from_expressions(used, {f"x{i}": f for i, f in enumerate(expressions)})


NODAL = images(s * (s**2 - t**2), t * (s**2 - t**2), s**3)
CUSPIDAL = images(s**3, s * t**2, t**3)
STEINER = images(t * u, s * u, s * t, s**2 + t**2 + u**2)
RULED = images(s * u**2, t * v**2, s * v**2 + t * u**2, (s + t) * u * v)


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (NODAL, {(1, 1)}),
        (CUSPIDAL, {(1, 1)}),
        (images(s**4, s**3 * t, s * t**3, t**4), {(0, 1)}),  # smooth: only the vertex
        (images(s, t, s + t), set()),  # a plane
        # Steiner's Roman surface has three double lines
        (STEINER, {(2, 1)}),
    ],
    ids=("nodal", "cuspidal", "rational quartic", "plane", "Steiner"),
)
def test_known_loci(case: PolynomialMap, expected: set[tuple[int, int]]) -> None:
    found = singular_locus(case, method="double-points")
    assert found.components is not None
    assert {(one.dimension, one.degree) for one in found.components} == expected
    if case is STEINER:
        assert len(found.components) == 3


@pytest.mark.slow
@pytest.mark.parametrize("multiplicities", [(2, 1), (3, 1), (4, 2)])
def test_coincident_root_loci(multiplicities: tuple[int, int]) -> None:
    """The binary forms l^p m^q, p > q, are singular where l = m: along a rational normal curve.

    J. Chipalkatti, *On equations defining coincident root loci*, J. Algebra 267, 2003; Macaulay2's
    package CoincidentRootLoci.
    """
    p, q = multiplicities
    form = Poly((s * x + t * y) ** p * (u * x + v * y) ** q, x, y)
    locus = PolynomialMap.from_expressions(
        [s, t, u, v],
        {f"c{i}": form.coeff_monomial(x**i * y ** (p + q - i)) for i in range(p + q + 1)},
    )
    found = singular_locus(locus, method="double-points")
    assert found.components is not None
    (curve,) = found.components
    # the cone over the curve
    assert (curve.dimension, curve.degree) == (2, p + q)
    assert curve.ideal is not None
    assert len(curve.ideal.generators) == comb(p + q, 2)


@pytest.mark.parametrize(
    "case",
    [
        NODAL,
        CUSPIDAL,
        STEINER,
        RULED,
        ConvolutionalNetwork((2, 2)),
        ConvolutionalNetwork((2, 2), 3),
    ],
    ids=("nodal", "cuspidal", "Steiner", "ruled", "r = 2", "r = 3"),
)
def test_double_points_and_the_criterion_have_the_same_ideals(case: Any) -> None:
    found = singular_locus(case, method="double-points")
    other = singular_locus(case, method="jacobian")
    ideals = [one.ideal for one in found.components or ()]
    others = [one.ideal for one in other.components or ()]
    assert len(ideals) == len(others)
    for prime in ideals:
        assert prime is not None
        assert any(prime.equals(second) for second in others if second is not None)
    assert found.variety_dimension == other.variety_dimension


def test_a_convolutional_network_whose_minors_are_too_many() -> None:
    """Strata with a zero at the front of one filter and at the end of another one: the functions of
    two filters of one weight and one with two, of degrees 4, 2 and 1 in it.
    """
    found = singular_locus(ConvolutionalNetwork((2, 2, 2)))
    assert found.method == "double points"
    components = found.components or ()
    assert sorted((one.dimension, one.degree) for one in components) == [(2, 1), (2, 2), (2, 4)]


def test_maps_that_double_points_do_not_decide() -> None:
    twice = images(s**2, t**2)
    with pytest.raises(MethodUnavailableError, match="not birational onto its image; use --method"):
        singular_locus(twice, method="double-points")
    with pytest.raises(MethodUnavailableError, match="common zeros where no factor is zero"):
        singular_locus(images(s**2, s * t), method="double-points")
    with pytest.raises(MethodUnavailableError, match="not homogeneous in the parameters"):
        singular_locus(images(s**2, t**3 + s), method="double-points")
    # the criterion takes their place
    assert singular_locus(twice).components == ()

"""Affine hypersurfaces by the equation of their projective closure, against resultants."""

import pytest
from sympy import Expr, Poly, resultant, symbols

from m2bridge import PolynomialMap
from m2bridge.maps.projective_closure import affine_hypersurface, homogenize, is_hypersurface

s, t = symbols("s t")
x, y, z = symbols("x y z")
CURVES = [(s**2, s + 1), (s**3 + s, s**2 - 1), (s**4 - s + 2, s**3 + s**2), (s**2 + 1, s**2 + s)]


@pytest.mark.parametrize("images", CURVES, ids=str)
def test_a_plane_curve_is_given_by_a_resultant(images: tuple[Expr, Expr]) -> None:
    curve = PolynomialMap.from_expressions([s], dict(zip("xy", images, strict=True)))
    source = homogenize(curve)
    assert is_hypersurface(source, 1)
    found = affine_hypersurface(source, 1, curve)
    assert found is not None
    ideal, series, reason = found
    (equation,) = ideal.generators
    by_resultant = Poly(resultant(images[0] - x, images[1] - y, s), x, y)
    ours = Poly(equation.as_expr(), x, y)
    assert ours.monic() == by_resultant.monic()
    assert (series.dimension, series.degree) == (1, by_resultant.total_degree())
    assert "of the projective closure" in reason


def test_an_inhomogeneous_linear_equation_is_one_of_the_generators() -> None:
    """The plane curve y² = x³ in the plane z = x + 1 of affine 3-space."""
    curve = PolynomialMap.from_expressions([s], {"x": s**2, "y": s**3, "z": s**2 + 1})
    source = homogenize(curve)
    assert is_hypersurface(source, 1)
    found = affine_hypersurface(source, 1, curve)
    assert found is not None
    ideal, series, _ = found
    assert len(ideal.generators) == 2
    for generator in ideal.generators:
        assert generator.as_expr().subs({x: s**2, y: s**3, z: s**2 + 1}).expand() == 0
    assert (series.dimension, series.degree) == (1, 3)


def test_what_is_no_hypersurface() -> None:
    """A twisted cubic, affinely, and the plane."""
    twisted = PolynomialMap.from_expressions([s], {"x": s, "y": s**2, "z": s**3})
    assert not is_hypersurface(homogenize(twisted), 1)
    plane = PolynomialMap.from_expressions([s, t], {"x": s + 1, "y": s * t})
    assert not is_hypersurface(homogenize(plane), 2)


def test_names_that_are_taken() -> None:
    h = symbols("h")
    curve = PolynomialMap.from_expressions([h], {"h1": h**2 + h, "h2": h})
    names = homogenize(curve).polynomial_map
    assert (names.source.variables, names.coordinates) == (("h", "h3"), ("h4", "h1", "h2"))

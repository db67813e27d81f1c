"""The Macaulay2 program that eliminates, for both gradings."""

from __future__ import annotations

import pytest
from sympy import symbols

from m2bridge.algebra.field import QQ
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.maps.closure import closure_script
from m2bridge.maps.polynomial_map_model import as_model


@pytest.mark.parametrize(
    ("graded", "target"), [(True, "QQ[x, y, z, Degrees => {2, 3, 1}]"), (False, "QQ[x, y, z]")]
)
def test_coordinates_have_the_degrees_of_their_images_only_if_graded(
    graded: bool, target: str
) -> None:
    s, t = symbols("s t")
    cusp = PolynomialMap.from_expressions([s, t], {"x": s**2, "y": s**3, "z": t})
    program = closure_script(as_model(cusp), field=QQ, graded=graded).body
    assert f"targetRing = {target}\n" in program


def test_coordinates_with_inhomogeneous_images_have_degree_one() -> None:
    (s,) = symbols("s,")
    curve = PolynomialMap.from_expressions([s], {"x": s**2 + s, "y": s**3})
    graded, ungraded = (
        closure_script(as_model(curve), field=QQ, graded=graded).body for graded in (True, False)
    )
    assert "targetRing = QQ[x, y]\n" in graded
    assert graded == ungraded

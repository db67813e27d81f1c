"""Which maps come from products of projective spaces, and how methods are compared."""

from __future__ import annotations

import pytest
from sympy import Expr, symbols

from m2bridge import PolynomialMap
from m2bridge.errors import ContradictionError, TimeLimitError
from m2bridge.families.convolutional_network.model import ConvolutionalNetwork
from m2bridge.maps import singular_locus
from m2bridge.maps.double_points import projective_factors
from m2bridge.maps.locus import Component, LocusFindings, compare
from m2bridge.maps.polynomial_map_model import as_model

s, t, u, v = symbols("s t u v")


def images(*expressions: Expr) -> PolynomialMap:
    """The map with these images and as many of the parameters s, t, u, v as they have."""
    used = sorted(set().union(*(image.free_symbols for image in expressions)), key=str)
    return PolynomialMap.from_expressions(used, {f"x{i}": f for i, f in enumerate(expressions)})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (images(s**3, s**2 * t, t**3), ((0, 1),)),
        (images(s * u, s * v + t * u, t * v), ((0, 1), (2, 3))),
        (images(s**2 * u, t**2 * u), ((0, 1), (2,))),
        # homogeneous of no weights that are the same for s and t
        (images(s**2, s * t, t**3), ()),
        (images(s, t**2), ()),
        # graded by weights of s and t that are not degrees
        (images(s**2 + t, s * t), ()),
        (images(s + 1, t), ()),
        # u is a factor of degree 0 in no image
        (images(s * t, s * t + u), ()),
    ],
    ids=str,
)
def test_factors(given: PolynomialMap, expected: tuple[tuple[int, ...], ...]) -> None:
    assert projective_factors(given) == expected


def test_maps_without_parameters_or_images_have_no_factors() -> None:
    assert projective_factors(PolynomialMap.from_expressions([], {"x": 1, "y": 2})) == ()
    assert projective_factors(PolynomialMap.from_expressions([s], {"x": 0})) == ()


def test_a_parameter_in_no_image_leaves_no_factors() -> None:
    assert projective_factors(PolynomialMap.from_expressions([s, t], {"x": s, "y": t})) == ((0, 1),)
    assert projective_factors(PolynomialMap.from_expressions([s, t, u], {"x": s, "y": t})) == ()


def test_few_of_many_monomials_are_not_enough() -> None:
    """One image that is of another degree, among many that are alike."""
    powers = [s**i * t ** (40 - i) for i in range(41)]
    assert projective_factors(images(*powers)) == ((0, 1),)
    for place in range(0, 41, 4):
        other = [*powers[:place], powers[place] * s, *powers[place + 1 :]]
        assert projective_factors(images(*other)) == ()


def test_at_a_limit_a_map_is_not_known_to_be_finite(monkeypatch: pytest.MonkeyPatch) -> None:
    """A source of dimension 3 and base points, and an image that is a cone of dimension 2."""

    def late(model: object) -> None:
        raise TimeLimitError("late")

    powers = [(s + u) ** i * (t + v) ** (3 - i) for i in range(4)]
    monkeypatch.setattr(singular_locus, "double_points", late)
    (found,) = singular_locus._by_double_points(as_model(images(*powers)), required=True)
    assert (found.components, found.dimension, found.unfinished) == (None, None, "late")


def test_filters_are_the_factors_of_a_convolutional_network() -> None:
    network = ConvolutionalNetwork((2, 3, 2))
    assert projective_factors(network.parametrization()) == ((0, 1), (2, 3, 4), (5, 6))


def findings(method: str, *kinds: tuple[int, int | None]) -> LocusFindings:
    """Components with these dimensions and degrees."""
    components = tuple(
        Component(description="", orbit=None, dimension=dimension, degree=degree, ideal=None)
        for dimension, degree in kinds
    )
    return LocusFindings(method, 3, components=components)


def test_components_of_the_same_dimension_are_compared_in_any_order() -> None:
    compare(findings("one", (2, 1), (2, 4)), findings("other", (2, 4), (2, 1)))
    compare(findings("one", (2, 1), (2, None)), findings("other", (2, 4), (2, 1)))


@pytest.mark.parametrize("others", [((2, 1),), ((2, 1), (2, 5)), ((2, 1), (1, 4))], ids=str)
def test_other_components_contradict(others: tuple[tuple[int, int], ...]) -> None:
    with pytest.raises(ContradictionError, match="components of the singular locus by one"):
        compare(findings("one", (2, 1), (2, 4)), findings("other", *others))

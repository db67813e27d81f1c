"""The findings of several methods about one singular locus, compared."""

import pytest

from m2bridge.errors import ContradictionError
from m2bridge.maps.locus import ComparedFindings, Component, LocusFindings, OrbitStatus
from m2bridge.results.known import Bounds

ORIGIN = Component("the origin", orbit=None, dimension=0, degree=1)
LINE = Component("a line", orbit=None, dimension=1, degree=1)
AT_POINTS = LocusFindings("points", dimension=3, components=(LINE,), uses_engine=False)
BY_MINORS = LocusFindings("minors", dimension=None, components=(LINE,))
LATE = LocusFindings(
    "fibres", dimension=5, unfinished="too late", proved=(ORIGIN,), rest_dimension=1
)


def test_methods_that_finished_decide() -> None:
    compared = ComparedFindings((AT_POINTS, BY_MINORS, LATE))
    assert compared.methods == "points and minors"
    assert compared.agreement == ("points and minors agree",)
    assert compared.limits == ("fibres: too late",)
    assert compared.dimension == 3  # by the last of the two that has it
    assert compared.components == (LINE,)
    assert (compared.proved, compared.rest_dimension) == ((), None)


def test_one_method_agrees_with_none() -> None:
    assert ComparedFindings((AT_POINTS, LATE)).agreement == ()
    assert not ComparedFindings((AT_POINTS,)).uses_engine
    assert ComparedFindings((AT_POINTS, LATE)).uses_engine


def test_without_a_method_that_finished_there_is_a_part() -> None:
    compared = ComparedFindings((LocusFindings("bounds", dimension=4), LATE))
    assert compared.methods == "bounds and fibres"
    assert (compared.agreement, compared.components) == ((), None)
    assert compared.dimension == 5
    assert (compared.proved, compared.rest_dimension) == ((ORIGIN,), 1)


def test_methods_that_disagree_are_a_contradiction() -> None:
    smooth = LocusFindings("double points", dimension=3, components=())
    with pytest.raises(ContradictionError, match="components of the singular locus by points"):
        ComparedFindings((AT_POINTS, LATE, smooth))


@pytest.mark.parametrize(
    ("singular", "tangent"),
    [(True, Bounds(4, 6)), (None, Bounds.at_least(5)), (False, Bounds(5, 6))],
)
def test_statuses_of_one_orbit_that_disagree_are_a_contradiction(
    singular: bool | None, tangent: Bounds
) -> None:
    def status(singular: bool | None, tangent: Bounds) -> LocusFindings:
        one = OrbitStatus(orbit="rank one", dimension=2, tangent=tangent, singular=singular)
        return LocusFindings("orbits", dimension=4, statuses=(one,))

    smooth = status(singular=False, tangent=Bounds.exactly(4))
    assert ComparedFindings((smooth, smooth)).by_method == (smooth, smooth)
    with pytest.raises(ContradictionError, match="by orbits"):
        ComparedFindings((smooth, status(singular, tangent)))

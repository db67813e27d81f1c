"""Ranks of tangent vectors by weights, against those of all directions by the checker."""

from itertools import product

import pytest

from m2bridge.checker.algebra import rank
from m2bridge.families.attention.checker import case as checker
from m2bridge.families.attention.checker.case import Case
from m2bridge.families.attention.checker.evidence import differential
from m2bridge.families.attention.orbits.orbits import Orbit, orbits
from m2bridge.families.attention.orbits.tangents import differential_rank, orbit_dimension
from m2bridge.families.attention.orbits.weight_spaces import (
    KEPT_SYMBOLS,
    IndexClasses,
    WeightSpaces,
)
from m2bridge.families.attention.sizes import LayerSizes

SIZES = [(d, dp, a) for d, dp in product(range(1, 5), range(1, 4)) for a in range(1, d + 1)]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_ranks_are_those_of_all_directions(size: tuple[int, int, int]) -> None:
    """The checker differentiates in all directions at the same points, and knows no weights."""
    shape = LayerSizes(*size)
    case = Case(*size, 2)
    for orbit in orbits(shape):
        point = checker.representative(orbit.cells)  # type: ignore[arg-type]
        images = differential(point, orbit.cells, case)  # type: ignore[arg-type]
        assert differential_rank(orbit, shape) == rank(images)
        assert orbit_dimension(orbit, shape) == checker.orbit_dimension(orbit.cells, case)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(7, 7, 7), (7, 6, 3), (12, 1, 1), (6, 8, 6)], ids=str)
def test_more_symbols_than_are_kept(size: tuple[int, int, int]) -> None:
    """Orbits with classes of five symbols and more, of which four are kept."""
    assert any(
        max(IndexClasses.of(orbit, LayerSizes(*size))) > KEPT_SYMBOLS
        for orbit in orbits(LayerSizes(*size))
    )
    test_ranks_are_those_of_all_directions(size)


def test_six_symbols_in_each_class() -> None:
    """The checker's dimension of an orbit is by a formula, so it is there for any size."""
    shape = LayerSizes(24, 18, 24)
    orbit = Orbit(12, 12, 6)
    assert IndexClasses.of(orbit, shape) == (6, 6, 6, 6, 12, 6)
    assert orbit_dimension(orbit, shape) == checker.orbit_dimension(
        (12, 12, 6), Case(24, 18, 24, 2)
    )


def test_many_orbits_share_few_matrices() -> None:
    """Their number and size do not depend on the case where all classes have four symbols."""
    small, large = IndexClasses(4, 4, 4, 4, 8, 4), IndexClasses(9, 20, 5, 7, 27, 6)
    assert small.kept() == large.kept()
    directions = list(WeightSpaces.of(large.kept()).unit_matrices())
    assert len(directions) < 250


def test_the_row_with_two_places() -> None:
    """For m = 0 the first row of V is e_{r+1} + e_1, and both have one character."""
    classes = IndexClasses.of(Orbit(2, 1, 0), LayerSizes(4, 2, 4))
    spaces = WeightSpaces.of(classes)
    assert spaces.variables[0] == spaces.variables[2]
    assert len(set(spaces.variables)) == 3
    of_first_row = [entry for entry in spaces.entries_of_v() if entry.place in ((0, 0), (0, 2))]
    assert [entry.weight for entry in of_first_row] == [(), ()]

"""Faces and volumes of polytopes against closed formulas."""

from itertools import product
from math import comb, factorial
from random import Random

import flint
import pytest

from m2bridge import errors
from m2bridge.algebra import polytopes
from m2bridge.algebra.polytopes import faces, facets, lattice_coordinates, volume_in_space, volumes
from m2bridge.limits import limited


@pytest.mark.parametrize("dimension", [1, 2, 3, 4])
def test_cubes(dimension: int) -> None:
    corners = list(product((0, 3), repeat=dimension))
    vectors = [(1, *corner) for corner in corners]
    found = faces(vectors)
    # a face fixes some coordinates at one of two values
    numbers = [list(found.values()).count(k) for k in range(dimension + 1)]
    assert numbers == [comb(dimension, k) * 2 ** (dimension - k) for k in range(dimension + 1)]
    assert volume_in_space(corners) == factorial(dimension) * 3**dimension
    whole = frozenset(range(len(vectors)))
    assert volumes(vectors, found)[whole] == factorial(dimension)


@pytest.mark.parametrize("dimension", [2, 3, 4, 5])
def test_cross_polytopes(dimension: int) -> None:
    units = [tuple(int(i == j) for j in range(dimension)) for i in range(dimension)]
    points = [tuple(sign * entry for entry in unit) for unit in units for sign in (1, -1)]
    assert len(facets([(1, *point) for point in points])) == 2**dimension
    assert volume_in_space(points) == 2**dimension


def test_points_inside_change_no_volume() -> None:
    random = Random(3)
    points = [tuple(random.randrange(-9, 10) for _ in range(3)) for _ in range(12)]
    inside = [tuple(sum(column) // 1 for column in zip(*points[:2], strict=True))]
    middle = [tuple(2 * entry for entry in point) for point in points]
    middle += inside
    assert volume_in_space(middle) == 8 * volume_in_space(points)
    shuffled = random.sample(points, len(points))
    assert volume_in_space(shuffled) == volume_in_space(points)
    assert volume_in_space([(0, 0, 0), (1, 2, 3), (2, 4, 6)]) == 0


def test_coordinates_in_the_lattice_of_the_vectors() -> None:
    vectors = [(2, 4, 0), (0, 6, 2), (2, 10, 2), (4, 2, -2)]
    found = lattice_coordinates(vectors)
    assert found[2] == tuple(a + b for a, b in zip(found[0], found[1], strict=True))
    smith = flint.fmpz_mat(list(map(list, found))).snf()
    assert [abs(int(smith[i, i])) for i in range(len(found[0]))] == [1, 1]


def test_a_polytope_with_too_many_facets_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polytopes, "MAX_FACETS", 5)
    with pytest.raises(errors.TooLargeError, match="more than 5 facets"):
        facets([(1, *corner) for corner in product((0, 1), repeat=3)])
    monkeypatch.setattr(polytopes, "MAX_FACETS", 20)
    monkeypatch.setattr(polytopes, "MAX_FACES", 20)
    with pytest.raises(errors.TooLargeError, match="more than 20 faces"):
        faces([(1, *corner) for corner in product((0, 1), repeat=3)])


def test_the_time_limit_is_checked_between_two_points() -> None:
    """Points on the moment curve have many facets, so that one more point takes many steps."""
    ticks = iter(range(10**6))
    curve = [tuple(k**i for i in range(5)) for k in range(9)]
    with limited(60, now=lambda: float(next(ticks))), pytest.raises(errors.TimeLimitError):
        facets(curve)

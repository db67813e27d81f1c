"""Distances of random layers and inputs of each kind, against searches in all variables."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy
import pytest

from m2bridge import InvalidCaseError, robustness
from tests.fuzz.distances import cases, problems_of


@pytest.mark.slow
def test_no_point_is_nearer_than_a_proved_distance() -> None:
    """``python -m tests.fuzz distances`` asks the same of more cases."""
    seen: Counter[str] = Counter()
    for number, case in enumerate(cases(28, 1)):
        random = numpy.random.default_rng([1, number, 1])
        assert problems_of(case, random, seen) == [], (number, case.kind)
    assert seen["lists"] > 5
    assert seen["Theorem R4, 2"] > 5


@pytest.mark.slow
def test_a_step_that_is_not_critical_is_kept() -> None:
    """Rows of R that are equal up to rounding, b = 0, and X along them: no search ends at the nearest
    point, near the origin. A point that lines through X find bounds the distance.
    """
    rows = numpy.array([[-0.1, 0.3, 0.7], [-0.2, 0.6, 1.4 * (1 + 2**-50)]])
    layer = {"K": [[1.0]], "Q": [[-1.0]], "V": [[0.5], [0.9]], "R": rows, "X": rows[:1]}
    found = robustness(layer)
    assert found.distance is not None
    assert 0 < found.distance[0] < found.distance[1] < 10 * numpy.linalg.norm(rows[0])


def test_a_factor_of_g_that_is_a_square() -> None:
    """g = (2y − x)² (3x − y) at (3, 2), by two heads: its sign changes on the line that is farther."""
    head = {"K": [[-1.0, 2.0]], "V": [[-1.0, 2.0]]}
    layer = {name: numpy.array([matrix, matrix]) for name, matrix in head.items()}
    layer |= {"Q": numpy.array([[[1.0, -1.0]], [[2.0, 0.0]]]), "w": [1], "X": [[3.0], [2.0]]}
    found = robustness(layer)
    assert found.distance is not None
    low, high = found.distance
    assert 0 < low <= 1 / numpy.sqrt(5)
    assert 7 / numpy.sqrt(10) <= high < 2 * 7 / numpy.sqrt(10)


@pytest.mark.parametrize("name", ["K", "Q", "V", "R", "X"])
@pytest.mark.parametrize("entry", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_are_not_finite_are_refused(name: str, entry: float) -> None:
    case = next(cases(1, 0))
    layer: dict[str, Any] = {key: array.copy() for key, array in case.layer.items()}
    layer[name].ravel()[0] = entry
    with pytest.raises(InvalidCaseError, match="not a finite number"):
        robustness(layer, layout="heads-a-d", **case.options)

"""The forms of Theorem R4, against quadratic forms in all d·t variables that are made by values."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from m2bridge.decision_boundary.boundary import Boundary, Head
from m2bridge.decision_boundary.estimates import Away, Expansion, Multipliers

Array = numpy.ndarray[Any, Any]

RADIUS = 0.7
THETA = 1.3
SIZES = [(1, 1, False), (1, 2, True), (2, 1, False), (2, 2, True), (3, 1, True)]


def boundary_of(rank: int, heads: int, skip: bool) -> Boundary:
    random = numpy.random.default_rng(rank + 10 * heads)
    d, t, a = 4, 5, 2
    return Boundary(
        heads=tuple(
            Head(
                random.normal(size=(a, d)),
                random.normal(size=(a, d)),
                random.normal(size=(d, rank)),
            )
            for _ in range(heads)
        ),
        gamma=numpy.linalg.qr(random.normal(size=(t, rank)))[0],
        omega=random.normal(size=(d, rank)) if skip else None,
        bias=-3.0,
        U=random.normal(size=(d, t)),
    )


def q(boundary: Boundary, E: Array) -> float:
    """The form q at U, by its definition; the part of degree two by values of g."""
    U = boundary.U
    total = float(boundary.value(U + E) + boundary.value(U - E)) / 2 - float(boundary.value(U))
    for head in boundary.heads:
        by_beta = ((E.T @ head.beta) ** 2).sum()
        by_A = ((head.K.T @ (head.Q @ (E @ boundary.gamma))) ** 2).sum()
        total += float(RADIUS / 2 * (THETA * by_beta + by_A / THETA))
    return total


def matrix_of_q(boundary: Boundary) -> Array:
    steps = numpy.eye(boundary.U.size).reshape(-1, *boundary.U.shape)
    alone = [q(boundary, E) for E in steps]
    rows = [
        [(q(boundary, E + F) - on_E - on_F) / 2 for F, on_F in zip(steps, alone, strict=True)]
        for E, on_E in zip(steps, alone, strict=True)
    ]
    matrix: Array = numpy.array(rows)
    return matrix


@pytest.mark.parametrize(("rank", "heads", "skip"), SIZES)
def test_bounds_are_the_largest_values_of_quadratic_functions(
    rank: int, heads: int, skip: bool
) -> None:
    boundary = boundary_of(rank, heads, skip)
    random = numpy.random.default_rng(7)
    basis = random.normal(size=(4, 4))  # any basis gives the same
    expansion = Expansion(boundary, boundary.U, basis)
    whole = matrix_of_q(boundary)
    largest = float(numpy.linalg.eigvalsh(whole)[-1])
    thetas = (THETA,) * heads
    assert not expansion.is_positive(RADIUS, Multipliers(largest - 1e-6, thetas))
    assert expansion.is_positive(RADIUS, Multipliers(largest + 1e-6, thetas))

    multipliers = Multipliers(largest + 1, thetas)
    slope, step = boundary.gradient(boundary.U), random.normal(size=boundary.U.shape)
    for away in (None, Away(step, 0.3, 0.0, 2.0)):
        linear = (slope if away is None else slope - 2.0 * step).ravel()
        inverse = numpy.linalg.solve((largest + 1) * numpy.eye(len(whole)) - whole, linear)
        expected = boundary.value(boundary.U) + (largest + 1) * RADIUS**2 + linear @ inverse / 4
        expected += 0 if away is None else 2.0 * 0.3
        assert expansion.largest_value(RADIUS, multipliers, away) == pytest.approx(expected)


def test_the_part_of_a_step_outside_of_the_space() -> None:
    """A basis of a part of the space, where nothing depends on the last row of E."""
    whole = boundary_of(2, 1, skip=True)
    space = numpy.eye(5)[:4]
    larger = Boundary(
        heads=tuple(
            Head(head.K @ space, head.Q @ space, space.T @ head.beta) for head in whole.heads
        ),
        gamma=whole.gamma,
        omega=space.T @ whole.omega,
        bias=whole.bias,
        U=numpy.vstack([whole.U, numpy.ones((1, 5))]),
    )
    step = numpy.random.default_rng(3).normal(size=(5, 5))
    outside = float((step[4] ** 2).sum())
    multipliers = Multipliers(100.0, (THETA,))
    by_part = Expansion(larger, larger.U, space)
    by_all = Expansion(larger, larger.U, numpy.eye(5))
    expected = by_all.largest_value(RADIUS, multipliers, Away(step, 0.3, 0.0, 2.0))
    found = by_part.largest_value(RADIUS, multipliers, Away(step, 0.3, outside, 2.0))
    assert expected is not None
    assert found == pytest.approx(expected)

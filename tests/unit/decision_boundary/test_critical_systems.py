"""Systems of equations for critical points, without the program that solves them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import flint
import numpy
import pytest

from m2bridge import robustness
from m2bridge.decision_boundary import critical_systems
from m2bridge.decision_boundary.critical_systems import SystemOfPoints, critical_system
from m2bridge.decision_boundary.reading import read_problem
from m2bridge.decision_boundary.search import descended
from m2bridge.engine import msolve
from m2bridge.errors import ContradictionError

Layer = dict[str, Any]


def integers(random: numpy.random.Generator, *shape: int) -> numpy.ndarray[Any, Any]:
    entries: numpy.ndarray[Any, Any] = random.choice((-3, -2, -1, 1, 2, 3), shape)
    return entries


def layer_of(random: numpy.random.Generator, d: int, t: int, a: int) -> Layer:
    layer = {"K": integers(random, a, d), "Q": integers(random, a, d)}
    layer |= {"V": integers(random, 2, d), "w": integers(random, 2)}
    return layer | {"X": integers(random, d, t)}


def system_of(layer: Layer, bias: float, **options: Any) -> SystemOfPoints | None:
    chosen: dict[str, Any] = {"pool": "first", "skip": False, "scores_over": "1"} | options
    problem = read_problem(layer, bias=bias, **chosen)
    return critical_system(problem, problem.in_units())


@pytest.mark.parametrize("seed", range(6))
def test_points_of_local_searches_solve_the_system_in_all_entries(seed: int) -> None:
    """Two heads and two readouts; the step and the square of the distance are those of the point
    that is put in.
    """
    random = numpy.random.default_rng(seed)
    d, t = ((2, 2), (2, 3), (3, 2))[seed % 3]
    layer = {name: integers(random, 2, 1 + seed % 2, d) for name in ("K", "Q")}
    layer |= {"V": integers(random, 2, 2, d), "R": integers(random, 2, t)}
    layer |= {"X": integers(random, d, t)}
    problem = read_problem(layer, pool=None, bias=40.0, skip=False, scores_over="1")
    units = problem.in_units()
    system = critical_system(problem, units)
    assert system is not None
    assert system.theorem == "Theorems R1 and R2"
    boundary = problem.in_floats(units)
    reached = 0
    for number in range(8):
        start = random.normal(size=boundary.U.shape) * (number > 0)
        step = descended(boundary, start, whole_steps=30)
        if step is None:
            continue
        gradient = boundary.gradient(boundary.U + step)
        multiplier = (gradient * step).sum() / (gradient**2).sum()
        if numpy.linalg.norm(step - multiplier * gradient) > 1e-9:
            continue
        reached += 1
        # d ≤ 3 and t ≤ 3: all directions count, and unit vectors are the bases
        point = [*(boundary.U + step).ravel().tolist(), float(multiplier)]
        for equation in system.equations:
            assert value_at(equation, point) == pytest.approx(0, abs=1e-6)
        balls = [flint.arb(x) for x in point]
        assert float(system.square(balls).mid()) == pytest.approx((step**2).sum())
        assert system.step(balls) == pytest.approx(step)
    assert reached


def value_at(equation: Any, point: list[float]) -> float:
    """The value of a polynomial of FLINT at floats."""
    value = 0.0
    for exponents, coefficient in equation.to_dict().items():
        term = float(coefficient.p) / float(coefficient.q)
        for x, power in zip(point, exponents, strict=True):
            term *= x ** int(power)
        value += term
    return value


@pytest.mark.parametrize(
    ("d", "t", "a", "one_readout"),
    [
        (5, 4, 2, True),
        (64, 32, 2, True),
        (5, 3, 2, True),  # a line in the kernel of C, with D ≠ 0 there
        (5, 2, 2, False),
        (5, 1, 2, False),
        (3, 2, 1, True),
        (3, 1, 1, False),
    ],
)
def test_which_system_has_all_points(d: int, t: int, a: int, one_readout: bool) -> None:
    system = system_of(layer_of(numpy.random.default_rng(d), d, t, a), 5.0)
    assert system is not None
    assert system.has_all_points
    assert (system.theorem == "Theorem R5") == one_readout
    assert len(system.names) == (2 * a + 6 if one_readout else d * t + 1)


def test_points_with_D_0_are_not_left_out() -> None:
    """The special input of docs/robustness.md needs a direction more; a general one near it, or
    with two tokens more, does not.
    """
    layer: Layer = {"K": [[1, 0]], "Q": [[2, 1]], "V": [[1, 0]], "w": [1]}
    special = system_of(layer | {"X": [[-2 / 3, 0, 0], [2, 0, 0]]}, -1.0)
    assert special is not None
    assert not special.has_all_points  # three tokens, and two of them in the system
    assert len(special.names) == 5
    near = system_of(layer | {"X": [[-2 / 3, 1e-6, 0], [2, 0, 0]]}, -1.0)
    assert near is not None
    assert near.theorem == "Theorem R5"


def test_a_matrix_of_rank_two_has_the_system_of_its_factors() -> None:
    layer = layer_of(numpy.random.default_rng(1), 4, 4, 2)
    A = layer["K"].T @ layer["Q"]
    without = {name: array for name, array in layer.items() if name not in ("K", "Q")}
    for heads in ({"A": A}, {"K": numpy.vstack([layer["K"]] * 2), "Q": numpy.eye(4, 4)[:4]}):
        system = system_of(without | heads, 5.0)
        assert system is not None
        assert system.theorem == "Theorem R5"
    assert system_of(without | {"A": A + numpy.eye(4)}, 5.0) is None


@pytest.mark.parametrize("power", [-498, 498])
@pytest.mark.parametrize(("d", "t"), [(2, 2), (4, 4), (6, 1)])
def test_the_same_equations_in_any_units(power: int, d: int, t: int) -> None:
    layer = layer_of(numpy.random.default_rng(d), d, t, 2)
    unit = 2.0**power
    scaled = layer | {"X": unit * layer["X"], "K": layer["K"] / unit, "Q": layer["Q"] / unit}
    expected, system = system_of(layer, 3.0), system_of(scaled, 3.0 * unit)
    assert expected is not None
    assert system is not None
    assert system.texts() == expected.texts()


def test_what_has_no_system() -> None:
    """A skip connection, no bias, three directions of A, and a divisor that is not rational."""
    layer = layer_of(numpy.random.default_rng(2), 5, 5, 2)
    square = layer | {"V": numpy.eye(5), "w": [1, 2, 3, 4, 5]}
    assert system_of(square, 1.0) is not None
    assert system_of(square, 1.0, skip=True) is None
    assert system_of(layer, 0.0) is None
    assert system_of(layer, 1.0, scores_over="sqrt(a)") is None
    assert system_of(layer_of(numpy.random.default_rng(2), 5, 5, 3), 1.0) is None


FAR: Layer = {
    "K": [[1, 3, -3, 2], [2, 2, -3, -3]],
    "Q": [[-3, 1, -2, 2], [-1, -2, 1, 2]],
    "V": [[1, 0, 0, 0]],
    "w": [1],
    "X": [[1, 2, -3], [3, 1, 2], [2, -2, 1], [1, 3, 1]],
}
"""R4 does not prove the nearest point for b = 4000."""


def test_without_msolve_it_says_what_would_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(msolve, "usable", lambda: None)
    found = robustness(FAR, bias=4000)
    assert not found.is_proved
    assert "pip install" in found.because
    assert found.real_critical_points is None


@pytest.mark.parametrize(
    ("solutions", "error", "words"),
    [
        (None, None, "infinite in number"),
        (msolve.Solutions(0, 0, ()), ContradictionError, "no critical point"),
        (msolve.Solutions(1, 1, (((1, 1),) * 10,)), ContradictionError, "does not satisfy"),
    ],
)
def test_what_msolve_says_is_tested(
    solutions: Any, error: Any, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = msolve.Msolve("PATH", Path("msolve"), "0", "")
    monkeypatch.setattr(msolve, "usable", lambda: program)
    monkeypatch.setattr(msolve, "solutions", lambda *_: solutions)
    if error is None:
        found = robustness(FAR, bias=4000)
        assert words in found.because
        assert not found.is_proved
        return
    with pytest.raises(error, match=words):
        robustness(FAR, bias=4000)


def test_long_numbers_are_solved_if_time_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    program = msolve.Msolve("PATH", Path("msolve"), "0", "")
    asked: list[float] = []

    def nothing(*arguments: Any) -> None:
        asked.append(arguments[3])

    monkeypatch.setattr(msolve, "usable", lambda: program)
    monkeypatch.setattr(msolve, "solutions", nothing)
    layer = FAR | {name: numpy.array(FAR[name]) + 1 / 3 for name in ("K", "Q", "X")}
    assert "numbers are long" in robustness(layer, bias=4000).because
    assert not asked
    assert "infinite in number" in robustness(layer, bias=4000, timeout=50).because
    assert 40 < asked[0] <= 50 - critical_systems.RESERVED_SECONDS
    # with five unknowns there are few solutions, and time needs no limit
    random = numpy.random.default_rng(1)
    small = {name: random.normal(size=(2, 2)) for name in ("K", "Q", "V", "R", "X")}
    assert "infinite in number" in robustness(small, bias=3).because
    assert asked[1] == critical_systems.MAX_SECONDS

"""Turns of two orders of the variables, by a simulated computation."""

from __future__ import annotations

import pytest

from m2bridge import ideal
from m2bridge.algebra.ring import GeneratingSet
from m2bridge.errors import MemoryLimitError, TimeLimitError
from m2bridge.ideals.second_order import decompose_in_either_order
from m2bridge.limits import clock, limited


class Late:
    """A computation that is done in the orders and at the attempts that are given."""

    def __init__(self, *done: tuple[str, int]) -> None:
        self.done = done
        self.asked: list[tuple[str, float | None]] = []

    def __call__(self, given: GeneratingSet) -> list[GeneratingSet]:
        order = "".join(given.ring.variables)
        self.asked.append((order, clock().remaining))
        number = [name for name, _ in self.asked].count(order)
        if (order, number) in self.done:
            return [given]
        raise clock().late("the simulated computation")


GIVEN = ideal("x^2 - y^3*z", variables="x y z")


@pytest.mark.parametrize(
    ("done", "orders"),
    [
        (("xyz", 1), ["xyz"]),
        (("zyx", 1), ["xyz", "zyx"]),
        (("xyz", 2), ["xyz", "zyx", "xyz"]),
        (("zyx", 3), ["xyz", "zyx"] * 3),
    ],
    ids=str,
)
def test_turns(done: tuple[str, int], orders: list[str]) -> None:
    compute = Late(done)
    (found,) = decompose_in_either_order(GIVEN, compute)
    assert found == GIVEN
    assert found.ring.variables == ("x", "y", "z")
    assert [name for name, _ in compute.asked] == orders
    # each turn is four times as long as the one of this order before
    limits = [round(seconds or 0) for _, seconds in compute.asked]
    assert limits == [5 * 4 ** (number // 2) for number in range(len(orders))]


def test_the_last_turn_has_the_rest_of_the_time() -> None:
    compute = Late(("xyz", 9))
    with limited(4.0), pytest.raises(TimeLimitError, match="4 seconds"):
        decompose_in_either_order(GIVEN, compute)
    assert [name for name, _ in compute.asked] == ["xyz"]


class Simulated:
    """A time that passes in attempts only, each of which takes all that it has."""

    def __init__(self) -> None:
        self.time = 0.0
        self.taken: list[tuple[str, float]] = []

    def now(self) -> float:
        return self.time

    def __call__(self, given: GeneratingSet) -> list[GeneratingSet]:
        seconds = clock().remaining
        assert seconds is not None
        self.taken.append(("".join(given.ring.variables), seconds))
        self.time += seconds
        raise clock().late("the simulated computation")


@pytest.mark.parametrize(
    ("limit", "seconds"),
    [
        (4, [4]),
        (14, [5, 9]),
        (20, [5, 15]),
        (22, [5, 5, 12]),
        (60, [5, 5, 20, 30]),
        (100, [5, 5, 20, 20, 50]),
    ],
)
def test_turns_within_a_limit(limit: float, seconds: list[float]) -> None:
    compute = Simulated()
    with limited(limit, now=compute.now), pytest.raises(TimeLimitError, match=f"{limit} seconds"):
        decompose_in_either_order(GIVEN, compute)
    assert [taken for _, taken in compute.taken] == pytest.approx(seconds)


def test_each_order_has_an_eighth_of_the_time_at_least() -> None:
    for limit in (6, 10, 14, 15, 16, 20, 21, 40, 41, 89, 90, 91, 150, 160, 161, 640, 4000):
        compute = Simulated()
        with limited(limit, now=compute.now), pytest.raises(TimeLimitError):
            decompose_in_either_order(GIVEN, compute)
        assert compute.time == pytest.approx(limit)
        for order in ("xyz", "zyx"):
            total = sum(seconds for name, seconds in compute.taken if name == order)
            assert total > limit / 8 - 1e-6, (limit, compute.taken)


@pytest.mark.parametrize("full", [("xyz",), ("zyx",), ("xyz", "zyx")])
def test_memory_of_one_order_leaves_the_time_to_the_other(full: tuple[str, ...]) -> None:
    asked = []

    def compute(given: GeneratingSet) -> list[GeneratingSet]:
        order = "".join(given.ring.variables)
        asked.append(order)
        if order in full:
            raise MemoryLimitError(f"no memory for {order}")
        if clock().remaining is not None:  # it needs more than a turn
            raise clock().late("the simulated computation")
        return [given]

    if len(full) == 2:
        with pytest.raises(MemoryLimitError, match="zyx"):
            decompose_in_either_order(GIVEN, compute)
    else:
        assert decompose_in_either_order(GIVEN, compute) == (GIVEN,)
    assert asked == {"xyz": ["xyz", "zyx"], "zyx": ["xyz", "zyx", "xyz"]}[full[0]]


def test_one_variable_has_one_order() -> None:
    compute = Late(("x", 1))
    line = ideal("x^2 - 1")
    assert decompose_in_either_order(line, compute) == (line,)
    assert compute.asked == [("x", None)]

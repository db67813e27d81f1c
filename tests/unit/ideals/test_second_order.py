"""Turns of two orders of the variables, by a simulated computation."""

from __future__ import annotations

import pytest

from m2bridge import ideal
from m2bridge.algebra.ring import GeneratingSet
from m2bridge.errors import TimeLimitError
from m2bridge.ideals.second_order import in_either_order
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
    (found,) = in_either_order(GIVEN, compute)
    assert found == GIVEN
    assert found.ring.variables == ("x", "y", "z")
    assert [name for name, _ in compute.asked] == orders
    # each turn is four times as long as the one of this order before
    limits = [round(seconds or 0) for _, seconds in compute.asked]
    assert limits == [5 * 4 ** (number // 2) for number in range(len(orders))]


def test_the_last_turn_has_the_rest_of_the_time() -> None:
    compute = Late(("xyz", 9))
    with limited(4.0), pytest.raises(TimeLimitError, match="4 seconds"):
        in_either_order(GIVEN, compute)
    assert [name for name, _ in compute.asked] == ["xyz"]


def test_one_variable_has_one_order() -> None:
    compute = Late(("x", 1))
    line = ideal("x^2 - 1")
    assert in_either_order(line, compute) == (line,)
    assert compute.asked == [("x", None)]

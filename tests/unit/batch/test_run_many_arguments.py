"""Arguments of ``run_many`` and numbers of cases that are refused before anything is computed."""

import threading
from typing import Any

import pytest

from m2bridge import ConvolutionalNetwork, PolynomialNetwork, run_many
from m2bridge.batch.plan import outcome_kinds
from m2bridge.errors import InvalidCaseError


@pytest.mark.parametrize(
    ("given", "kinds"),
    [
        ("failed", {"failed"}),
        ("timed-out, died", {"timed-out", "died"}),
        (["failed", "refused"], {"failed", "refused"}),
        ("", set()),
        ((), set()),
    ],
)
def test_kinds_to_try_again(given: Any, kinds: set[str]) -> None:
    assert outcome_kinds(given) == kinds


@pytest.mark.parametrize("given", ["late", ["late"], [["failed"]], [1], 1, None, b"failed"])
def test_an_unknown_kind_to_try_again_is_refused_in_python_as_on_the_command_line(
    given: Any,
) -> None:
    with pytest.raises(InvalidCaseError) as refused:
        run_many("item", [1], retry=given)
    assert refused.value.option == "retry"


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("workers", "2"),
        ("workers", 1.5),
        ("workers", True),
        ("memory", "much"),
        ("folder", 3),
        ("folder", __file__),
    ],
)
def test_arguments_of_a_wrong_type_are_named(argument: str, value: Any) -> None:
    with pytest.raises(InvalidCaseError) as refused:
        run_many("item", [1], **{argument: value})
    assert refused.value.option == argument


@pytest.mark.parametrize(
    ("argument", "value"), [("scheduler", "tcp://host:8786"), ("scheduler", 3), ("retry", "failed")]
)
def test_arguments_without_effect_are_refused(argument: str, value: Any) -> None:
    """No cluster is asked by processes, and without a folder there are no outcomes to try again."""
    with pytest.raises(InvalidCaseError) as refused:
        run_many("item", [1], **{argument: value})
    assert refused.value.option == argument


def test_a_function_that_cannot_be_sent_to_a_worker_is_refused() -> None:
    lock = threading.Lock()
    with pytest.raises(InvalidCaseError, match="cannot be sent to a worker: TypeError") as refused:
        run_many(lambda item: (lock, item), [1])
    assert refused.value.option == "work"


def test_numbers_of_a_case_without_an_order_are_refused() -> None:
    unordered: list[Any] = [{3, 2}, {3: 1, 2: 1}, b"\x03\x02", frozenset({3, 2})]
    for numbers in unordered:
        for build in (PolynomialNetwork, ConvolutionalNetwork):
            with pytest.raises(InvalidCaseError, match="must be a list of integers"):
                build(numbers)

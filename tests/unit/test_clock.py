"""One deadline for a whole computation, on clocks that advance by looks: no verdict depends on the machine."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from m2bridge.engine.conversation import _earlier
from m2bridge.errors import InvalidCaseError, TimeLimitError
from m2bridge.limits import Clock, alarm, check, clock, each, limited, overtime, share, watched
from tests.clocks import Looks


def test_what_was_done_is_said_at_the_limit() -> None:
    with limited(3, now=Looks()):
        found, late = each((name, name.upper) for name in "abcdef")
    assert found == ("A", "B", "C")
    assert late.endswith("(decided so far: a, b, c)")
    assert each((name, name.upper) for name in "ab") == (("A", "B"), "")
    with limited(0.5, now=Looks()), pytest.raises(TimeLimitError, match=r"\(decided so far: nothing\)$"):
        each((name, name.upper) for name in "abcdef")


def test_nothing_ends_without_a_limit() -> None:
    with limited(None) as running:
        assert running.remaining is None
        assert list(watched(range(3))) == [0, 1, 2]
        check(1e9)


def test_the_deadline_is_looked_at_before_each_item() -> None:
    seen: list[int] = []
    with limited(4, now=Looks()), pytest.raises(TimeLimitError) as reached:
        seen.extend(watched(range(100)))
    assert seen == [0, 1, 2, 3]
    assert str(reached.value) == (
        "the computation did not finish within the limit of 4 seconds; give it more with timeout="
    )


def test_what_takes_longer_than_is_left_is_not_begun() -> None:
    with limited(100, now=Looks()):
        check(50)
        with pytest.raises(TimeLimitError, match=r"about 1000 seconds, more than is left of the limit of 100 seco"):
            check(1000)


@pytest.mark.parametrize(("outer", "inner"), [(5, 50), (50, 5), (5, None)])
def test_limits_nest_and_the_earliest_counts(outer: float, inner: float | None) -> None:
    """A message names the limit that ends the computation, as it was given."""
    with limited(outer, now=Looks()) as around:
        with limited(inner) as running, pytest.raises(TimeLimitError, match=r"the limit of 5 seconds"):
            list(watched(range(1000)))
        assert running.deadline <= around.deadline
        assert clock() is around
    assert clock().remaining is None


def test_a_part_of_the_time_leaves_the_rest() -> None:
    with limited(100, now=Looks()):
        with share(0.5), pytest.raises(TimeLimitError, match="within its part of the limit of 100 seconds"):
            list(watched(range(1000)))
        assert len(list(watched(range(20)))) == 20
    with share(1.0, otherwise=60) as running:
        assert running.limit == "60 seconds"
    with share(0.5) as running:
        assert running.remaining is None


def test_overtime_is_short() -> None:
    looks = Looks()
    with limited(3, now=looks) as running:
        with suppress(TimeLimitError):
            list(watched(range(10)))
        with overtime(running, 6):
            assert len(list(watched(range(4)))) == 4
            with pytest.raises(TimeLimitError):
                list(watched(range(10)))


@pytest.mark.parametrize("timeout", [0, -1.0, float("nan"), float("inf"), "5", True])
def test_what_is_no_limit_is_refused(timeout: object) -> None:
    with pytest.raises(InvalidCaseError, match="timeout"), limited(timeout):  # type: ignore[arg-type]
        pass


def test_another_thread_begins_without_a_limit() -> None:
    found: list[float | None] = []
    with limited(5):
        thread = threading.Thread(target=lambda: found.append(clock().remaining))
        thread.start()
        thread.join()
    assert found == [None]


def _for_ever() -> Iterator[None]:
    while True:
        yield


def _without_looking(running: Clock) -> None:
    with alarm(running, 0.01):
        for _ in _for_ever():
            pass


def test_the_alarm_ends_a_loop_that_does_not_look() -> None:
    handler = signal.getsignal(signal.SIGALRM)
    with limited(0.01) as running, pytest.raises(TimeLimitError, match=r"the limit of 0\.01 seconds"):
        _without_looking(running)
    assert signal.getsignal(signal.SIGALRM) == handler
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_the_alarm_is_for_the_main_thread() -> None:
    """Elsewhere Python has no signals; the clock is looked at there, too."""
    reached: list[str] = []

    def work() -> None:
        with limited(5, now=Looks()) as running, alarm(running, 0.0):
            try:
                for _ in watched(_for_ever()):
                    pass
            except TimeLimitError as limit:
                reached.append(str(limit))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert "the limit of 5 seconds" in reached[0]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(1, "1 second"), (0.25, "0.25 seconds"), (12345678, "12345678 seconds"), (1e5, "100000 seconds")],
)
def test_limits_are_said_as_they_were_given(seconds: float, said: str) -> None:
    with limited(seconds, now=lambda: 0.0) as clock:
        assert str(clock.late("it")) == f"it did not finish within the limit of {said}; give it more with timeout="


@pytest.mark.parametrize("left", [5.0, 1.0, 0.003, -2.0])
def test_a_run_that_is_given_what_is_left_names_the_limit_of_the_user(left: float) -> None:
    """Not the seconds that were left when it began, nor the least that a run is given."""
    now = 10.0
    with limited(7, now=lambda: now) as running:
        now += 7 - left
        said, seconds = _earlier(running.remaining, running)
    assert said == "the limit of 7 seconds"
    assert seconds == pytest.approx(max(left, 0.01))

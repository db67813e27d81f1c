"""A process on a terminal, with Python in the place of Macaulay2."""

import sys
from pathlib import Path

import pytest

from m2bridge.engine import process as module
from m2bridge.engine.process import Overdue, Process

MEMORY = """
for line in iter(input, "end"):
    held = b"x" * int(line)
    del held
    print("\\ndone", line, flush=True)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux measures the peak anew")
def test_the_peak_of_a_large_computation_does_not_stay_with_the_small_ones_after_it() -> None:
    process = Process(Path(sys.executable), ["-c", MEMORY], None)

    def peak(size: int) -> int:
        process.forget_peak_memory()
        process.send(f"{size}\n")
        process.read_until(rb"done (\d+)", None)
        return process.peak_memory or 0

    try:
        small, large, small_again = map(peak, (1, 200 * 2**20, 1))
    finally:
        process.kill()
    assert large > small + 150 * 2**20
    assert small_again < large - 150 * 2**20


def test_a_limit_longer_than_the_system_waits_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """In several waits; what was printed during all of them is there at the end."""
    monkeypatch.setattr(module, "_LONGEST_WAIT", 0.01)
    process = Process(
        Path(sys.executable), ["-c", "print('early', flush=True); input(); print('\\ndone 1', flush=True)"], None
    )
    comes, waits = process._comes, []

    def counted(pattern: bytes, seconds: float) -> bool:
        waits.append(seconds)
        if len(waits) == 3:
            process.send("go on\n")
        return comes(pattern, seconds)

    monkeypatch.setattr(process, "_comes", counted)
    try:
        before, group = process.read_until(rb"done (\d+)", 1e300)
        assert ("early" in before, group) == (True, "1")
        assert len(waits) >= 3
        assert max(waits) <= 0.01
    finally:
        process.kill()


def test_a_limit_that_is_reached() -> None:
    process = Process(Path(sys.executable), ["-c", "input()"], None)
    try:
        with pytest.raises(Overdue):
            process.read_until(rb"done (\d+)", 0.2)
    finally:
        process.kill()


def test_a_limit_of_a_month_is_taken() -> None:
    process = Process(Path(sys.executable), ["-c", "print('\\ndone 1', flush=True); input()"], None)
    try:
        assert process.read_until(rb"done (\d+)", 30 * 86400.0)[1] == "1"
    finally:
        process.kill()

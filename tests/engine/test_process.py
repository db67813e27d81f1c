"""A process on a terminal, with Python in the place of Macaulay2."""

import sys
from pathlib import Path

import pytest

from m2bridge.engine.process import Process

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
        process.read_until(rb"done (\d+)", 30)
        return process.peak_memory or 0

    try:
        small, large, small_again = map(peak, (1, 200 * 2**20, 1))
    finally:
        process.kill()
    assert large > small + 150 * 2**20
    assert small_again < large - 150 * 2**20

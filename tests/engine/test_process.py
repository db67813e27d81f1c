"""A process on a terminal, with Python in the place of Macaulay2."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from m2bridge.engine import process as module
from m2bridge.engine.process import Overdue, Process
from tests.events import wait_for

MEMORY = """
for line in iter(input, "end"):
    held = b"x" * int(line)
    del held
    print("\\ndone", line, flush=True)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux measures the peak anew")
def test_the_peak_of_a_large_computation_does_not_stay_with_the_small_ones_after_it(tmp_path: Path) -> None:
    process = Process(Path(sys.executable), ["-c", MEMORY], None, tmp_path)

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


def test_a_limit_longer_than_the_system_waits_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In several waits; what was printed during all of them is there at the end."""
    monkeypatch.setattr(module, "_LONGEST_WAIT", 0.01)
    process = Process(
        Path(sys.executable),
        ["-c", "print('early', flush=True); input(); print('\\ndone 1', flush=True)"],
        None,
        tmp_path,
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


def test_a_limit_that_is_reached(tmp_path: Path) -> None:
    process = Process(Path(sys.executable), ["-c", "input()"], None, tmp_path)
    try:
        with pytest.raises(Overdue):
            process.read_until(rb"done (\d+)", 0.2)
    finally:
        process.kill()


def test_a_limit_of_a_month_is_taken(tmp_path: Path) -> None:
    code = "print('\\ndone 1', flush=True); input()"
    process = Process(Path(sys.executable), ["-c", code], None, tmp_path)
    try:
        assert process.read_until(rb"done (\d+)", 30 * 86400.0)[1] == "1"
    finally:
        process.kill()


STUBBORN = """
import signal, sys
from pathlib import Path
from m2bridge.engine.process import Process
code = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); print('\\\\ndone 1', flush=True); signal.pause()"
process = Process(Path(sys.executable), ["-c", code], None, Path(sys.argv[1]))
process.read_until(rb"done (\\d+)", 60)
print(process.pid, flush=True)
signal.pause()
"""


@pytest.mark.skipif(
    "pdeathsig" not in subprocess.run(["sh", "-c", "setpriv --help 2>&1"], capture_output=True, text=True).stdout,
    reason="this system has no setpriv, or an old one",
)
def test_a_program_that_ignores_hang_ups_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", STUBBORN, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        assert psutil.pid_exists(pid)
        process.kill()
    wait_for(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)

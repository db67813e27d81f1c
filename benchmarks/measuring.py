"""What the benchmarks share: the clock, the table, the programs that are timed."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from m2bridge.engine import Candidate, locate


def options(description: str, rounds: int) -> argparse.Namespace:
    """``--m2`` and ``--rounds`` from the command line."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--m2",
        metavar="PATH",
        help="the Macaulay2 of both sides; found as m2bridge does if left out",
    )
    parser.add_argument(
        "--rounds", type=int, default=rounds, metavar="N", help=f"rounds, default {rounds}"
    )
    chosen = parser.parse_args()
    if chosen.rounds < 1:
        parser.error("--rounds must be at least 1")
    return chosen


def engine_program(explicit: str | None) -> Path:
    """The Macaulay2 that both sides use, announced on standard output."""
    candidate: Candidate = locate(explicit)
    assert candidate.program is not None
    print(
        f"Macaulay2 {candidate.version} ({candidate.origin}), Python {sys.version.split()[0]}",
        flush=True,
    )
    return candidate.program


def m2bridge_command() -> str:
    """The ``m2bridge`` command of this Python, else the one on PATH."""
    beside = Path(sys.executable).with_name("m2bridge")
    found = str(beside) if beside.exists() else shutil.which("m2bridge")
    if found is None:
        sys.exit("the m2bridge command is not installed in this environment")
    return found


def seconds(action: Callable[[], object]) -> float:
    """Wall time of one call."""
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def output(command: Sequence[str]) -> str:
    """Standard output of a whole process; one that fails ends the benchmark, since its time says
    nothing.
    """
    ended = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        sys.exit(
            f"{' '.join(command)} failed with exit code {ended.returncode}:\n{ended.stderr[-2000:]}"
        )
    return ended.stdout


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table with its first column to the left and the numbers to the right."""
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]

    def line(row: Sequence[str]) -> str:
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        return "  ".join([row[0].ljust(widths[0]), *cells]).rstrip()

    print(
        "\n".join(
            ["", title, line(header), line(["-" * width for width in widths]), *map(line, rows)]
        ),
        flush=True,
    )


def verdict(met: bool) -> str:
    """How a target is reported."""
    return "met" if met else "MISSED"

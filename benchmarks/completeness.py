"""How long it takes until ``m2bridge closure`` has proved that the generators found are all.

Every measurement is a fresh process, start-up and printing of all generators included. Prints wall
time, processor time of m2bridge and of all that it started, and the load of the machine, as a table
in Markdown::

    python benchmarks/completeness.py [--rounds 3] [--limit 120] [--small]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import time
from statistics import median
from typing import Any

from measuring import m2bridge_command

CASES = [
    (["3", "2", "1"], []),
    (["2", "6", "2"], []),
    (["2", "7", "1"], []),
    (["3", "1", "3"], []),
    (["3", "1", "3"], ["--coordinates", "full"]),
    (["4", "1", "2"], []),
    (["4", "1", "3"], []),
    (["3", "2", "2"], []),
    (["3", "2", "3"], []),
    (["4", "1", "4"], []),
]
QUICK = 6
"""The cases that take seconds."""


def measure(case: list[str], extra: list[str], limit: float) -> tuple[float, float, dict[str, Any]]:
    """Wall time, processor time, and the answer."""
    options = [word for pair in zip(("--d", "--d-out", "--a"), case, strict=True) for word in pair]
    command = [m2bridge_command(), "closure", *options, *extra, "--json", "--timeout", f"{limit:g}"]
    before, begin = processor_seconds(), time.perf_counter()
    printed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return time.perf_counter() - begin, processor_seconds() - before, json.loads(printed)


def processor_seconds() -> float:
    """Of all processes started from here that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Measure all cases and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for each computation")
    parser.add_argument("--small", action="store_true", help="the quickest cases only")
    chosen = parser.parse_args()
    print("| case | wall | processor | load | complete | generators |\n|---|---|---|---|---|---|")
    for case, extra in CASES[:QUICK] if chosen.small else CASES:
        runs = [measure(case, extra, chosen.limit) for _ in range(chosen.rounds)]
        wall, processor = median(run[0] for run in runs), median(run[1] for run in runs)
        answer = runs[-1][2]
        counts = ", ".join(
            f"{count} of degree {n}" for n, count in answer["generator_degrees"].items()
        )
        name = f"({', '.join(case)}){' ' if extra else ''}{' '.join(extra)}"
        load = os.getloadavg()[0]
        print(
            f"| {name} | {wall:.1f} s | {processor:.1f} s | {load:.1f} | {answer['complete']} |"
            f" {counts} |",
            flush=True,
        )


if __name__ == "__main__":
    main()

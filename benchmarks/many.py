"""200 ideals by ``run_many`` on all cores against a loop with one session.

Whole Python programs, start-up included, alternately; medians of wall times::

    python benchmarks/many.py [--rounds 3]
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from statistics import median

from measuring import engine_program, options, print_table, verdict

IDEALS = """
from m2bridge import Ideal, Macaulay2, ideal, run_many
ideals = [
    ideal(f"x^2 - {n}*y*z", f"x*y*w - {n + 1}*z^3", "x*w^2 - y*z*w", variables="x y z w")
    for n in range(1, 201)
]
"""
SIDES = {
    "loop": (
        IDEALS
        + "with Macaulay2() as m2:\n    found = [len(one.primary_decomposition(engine=m2)) for one"
        " in ideals]"
    ),
    "run_many": (
        IDEALS + "found = [len(one.value) for one in run_many(Ideal.primary_decomposition, ideals)]"
    ),
}
TARGET = 0.6


def seconds(program: str) -> tuple[float, str]:
    """Wall time of a program, and what it printed."""
    begin = time.perf_counter()
    ended = subprocess.run(
        [sys.executable, "-c", f"{program}\nprint(found)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return time.perf_counter() - begin, ended.stdout


def main() -> None:
    chosen = options(__doc__.splitlines()[0], rounds=3)
    os.environ["M2BRIDGE_M2"] = str(engine_program(chosen.m2))
    times: dict[str, list[float]] = {name: [] for name in SIDES}
    for _ in range(chosen.rounds):
        printed = set()
        for name, program in SIDES.items():
            taken, output = seconds(program)
            times[name].append(taken)
            printed.add(output)
        assert len(printed) == 1, "both sides must find the same"
        print(
            {name: round(values[-1], 2) for name, values in times.items()},
            file=sys.stderr,
            flush=True,
        )
    ratio = median(many / loop for many, loop in zip(times["run_many"], times["loop"], strict=True))
    rows = [
        (
            f"{median(times['loop']):.1f}",
            f"{median(times['run_many']):.1f}",
            f"{ratio:.2f}",
            verdict(ratio <= TARGET),
        )
    ]
    print_table(
        "the minimal primes of 200 ideals", ("loop", "run_many", "ratio", f"ratio ≤ {TARGET}"), rows
    )


if __name__ == "__main__":
    main()

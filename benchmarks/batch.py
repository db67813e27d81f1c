"""A batch with one worker for each core against the serial one; then resuming it, and verifying its
certificates.

Whole commands, start-up included, in turns on fresh folders; medians of wall times::

    python benchmarks/batch.py [--rounds 5] [--most 4]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ENTRY = [sys.executable, "-c", "from m2bridge.cli.main import main; main()"]


def seconds(*arguments: str) -> float:
    """Wall time of a command; exit code 1 says that a statement is refuted, as one is."""
    begin = time.perf_counter()
    ended = subprocess.run(
        [*ENTRY, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if ended.returncode not in (0, 1):
        raise RuntimeError(
            f"{' '.join(arguments)}: exit code {ended.returncode}: {ended.stderr[-500:]}"
        )
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--most", type=int, default=4, help="d, d' and a go from 1 to this")
    parser.add_argument("--m2", help="the Macaulay2 program to use")
    options = parser.parse_args()
    span = f"1..{options.most}"
    grid = ["--d", span, "--d-out", span, "--a", span, "--t", "2", "--check", "all"]
    grid += ["--m2", options.m2] if options.m2 else []
    times: dict[str, list[float]] = {"serial": [], "processes": [], "resume": [], "verify": []}
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(options.rounds):
            for executor in ("serial", "processes"):
                out = str(Path(scratch, f"{executor}-{number}"))
                times[executor].append(
                    seconds("certify", *grid, "--executor", executor, "--out", out)
                )
            times["resume"].append(seconds("certify", *grid, "--out", out))
            times["verify"].append(seconds("verify", out))
            print(
                {name: round(values[-1], 2) for name, values in times.items()},
                file=sys.stderr,
                flush=True,
            )
        certificates = len(list(Path(out).glob("*.json")))
    print(f"{certificates} certificates; median seconds of {options.rounds} rounds\n")
    print(
        "| serial | processes | ratio | ratios of the rounds | resume | verify"
        " |\n|---:|---:|---:|---|---:|---:|"
    )
    ratios = [s / p for s, p in zip(times["serial"], times["processes"], strict=True)]
    print(
        f"| {median(times['serial']):.1f} | {median(times['processes']):.1f} | {median(ratios):.2f}"
        f" | {', '.join(f'{r:.2f}' for r in sorted(ratios))} | {median(times['resume']):.2f} |"
        f" {median(times['verify']):.2f} |"
    )


if __name__ == "__main__":
    main()

"""Two checkouts of m2bridge, command by command: a change against the commit before it.

Whole commands, start of Python and of Macaulay2 included, alternately with the code of this
checkout and of another one; medians of wall times. The other one is a worktree::

    git worktree add /tmp/before HEAD~1
    python benchmarks/checkouts.py /tmp/before [--rounds 3] [--only polar]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from measuring import print_table

HERE = Path(__file__).parents[1]
ENTRY = [sys.executable, "-c", "from m2bridge.cli.main import main; main()"]
GRID = ("--d", "1..4", "--d-out", "1..4", "--a", "1..4", "--check", "all")
Seconds = Callable[[Path, Path], float]
NOT_THERE = 2
"""The exit code for a command, or an option, that a checkout does not have."""


class NoTimeError(Exception):
    """The other checkout does not have the command."""


def command(*arguments: str) -> Seconds:
    """How long a command takes with the code of a checkout; ``FOLDER`` is a folder of its own."""

    def seconds(checkout: Path, folder: Path) -> float:
        line = [str(folder) if word == "FOLDER" else word for word in arguments]
        begin = time.perf_counter()
        done = subprocess.run(
            [*ENTRY, *line],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": str(checkout)},
            cwd=folder,
            check=False,
        )
        if done.returncode == NOT_THERE and checkout != HERE:
            raise NoTimeError("is not there")
        # 1: a statement is refuted; 3: one is undecided, as polar degrees of large sizes
        if done.returncode not in (0, 1, 3):
            raise RuntimeError(f"{' '.join(line)} in {checkout}: exit code {done.returncode}")
        return time.perf_counter() - begin

    return seconds


COMMANDS: dict[str, Seconds] = {
    "certify, 40 cases, one worker": command(
        "certify", *GRID, "--executor", "serial", "--quiet", "--out", "FOLDER"
    ),
    "certify, 40 cases, two workers": command(
        "certify", *GRID, "--workers", "2", "--quiet", "--out", "FOLDER"
    ),
    "verify, their certificates": command("verify", "FOLDER"),
    "cross-check --all-sizes": command("cross-check", "--all-sizes", "--json"),
    "cross-check polar --all-sizes": command("cross-check", "polar", "--all-sizes", "--json"),
    "cross-check all, (2, 2, 2)": command(
        "cross-check", "all", "--d", "2", "--d-out", "2", "--json"
    ),
    "cross-check exposed, (4, 4, 4)": command(
        "cross-check", "exposed", "--d", "4", "--d-out", "4", "--json"
    ),
    "cross-check all, (10, 10, 10)": command(
        "cross-check", "all", "--d", "10", "--d-out", "10", "--json"
    ),
    "cross-check all, (16, 16, 16)": command(
        "cross-check", "all", "--d", "16", "--d-out", "16", "--json"
    ),
    "cross-check all, (24, 24, 24)": command(
        "cross-check", "all", "--d", "24", "--d-out", "24", "--json"
    ),
    "singular-locus, convolutional (3, 2)": command(
        "singular-locus", "--family", "convolutional-network", "--filters", "3,2", "--json"
    ),
    "polar-degrees, Veronese surface": command(
        "polar-degrees", "--map", str(HERE / "examples" / "veronese_surface.toml"), "--json"
    ),
    "closure --json, (3, 2, 2)": command(
        "closure", "--d", "3", "--d-out", "2", "--a", "2", "--json"
    ),
}
"""Each command by its name; ``verify`` has the certificates of the command before it."""


def main() -> None:
    """Print a table with both sides of each command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", type=Path, help="a checkout of another commit")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="commands with this in their names")
    chosen = parser.parse_args()
    sides = {"other": chosen.other.resolve(), "this": HERE}
    times: dict[str, dict[str, list[float]]] = {}
    for _ in range(chosen.rounds):
        with tempfile.TemporaryDirectory() as scratch:
            folders = {side: Path(scratch, side) for side in sides}
            for name, seconds in COMMANDS.items():
                if chosen.only not in name:
                    continue
                for side, checkout in sides.items():
                    folder = folders[side]
                    if not name.startswith("verify"):
                        folder = folders[side] = Path(tempfile.mkdtemp(dir=scratch))
                    found = times.setdefault(name, {}).setdefault(side, [])
                    try:
                        found.append(seconds(checkout, folder))
                    except NoTimeError as reason:
                        print(f"{name}, {side}: {reason}", file=sys.stderr, flush=True)
                    else:
                        print(f"{name}, {side}: {found[-1]:.2f}", file=sys.stderr, flush=True)
    rows = []
    for name, by_side in times.items():
        this = median(by_side["this"])
        if not by_side["other"]:
            rows.append([name, "—", f"{this:.2f}", "—"])
            continue
        other = median(by_side["other"])
        rows.append([name, f"{other:.2f}", f"{this:.2f}", f"{other / this:.1f}"])
    print_table("seconds", ["command", "other", "this", "ratio"], rows)


if __name__ == "__main__":
    main()

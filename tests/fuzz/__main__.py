"""Long runs by hand: ``python -m tests.fuzz maps --count 1000 --seed 1``."""

from __future__ import annotations

import argparse
import sys
import time
from importlib import import_module

SUBJECTS = {
    "inputs": "bad input for every command and every format",
    "maps": "random maps, against Macaulay2's own kernel",
    "certificates": "changed certificates, with a digest that fits",
    "distances": "distances to decision boundaries, against searches in all variables",
    "faults": "commands on systems where something is missing, full, forbidden or killed",
}
"""Modules of this package; each has ``run(count, seed)``, which shows failures and returns how many
there were.
"""


def main() -> None:
    """Exit with 1 if there was any failure."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument(
        "subject",
        choices=SUBJECTS,
        help="; ".join(f"{name}: {what}" for name, what in SUBJECTS.items()),
    )
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    begin = time.monotonic()
    failures = import_module(f"tests.fuzz.{chosen.subject}").run(chosen.count, chosen.seed)
    print(f"{failures} failures, {time.monotonic() - begin:.0f} s")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()

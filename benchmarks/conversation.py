"""What a value costs in a workspace, against a plain conversation with prompts.

Both sides talk to the same Macaulay2 with its usual packages, alternately in blocks. The plain
conversation is pexpect without its delay and with large buffers: a line typed, everything until the
next prompt read as text, and nothing else; it tells no value from what is printed, no error from a
value, and gives text. A workspace writes the code to a file, reads the value from another, and
gives a Python object.

1. A small value, per call: ``2+2`` and ``{1/2, "a", x^2 - y}``.
2. A megabyte: text that is printed (10 MB), and a list of integers as a value.
3. A polynomial with random coefficients and 10^5 random terms of 1 to 5 variables, in and out, as a
   Python object; the plain conversation has no counterpart. Start-up is not counted.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from measuring import engine_program, options, print_table, seconds, verdict
from session import Conversation
from sympy import GF, QQ, grevlex, ring
from sympy.polys.rings import PolyElement

from m2bridge.workspace.macaulay2 import Macaulay2, Workspace

BLOCKS, BLOCK_LENGTH = 10, 30
TARGET = 0.001
TERMS, POLYNOMIAL_TARGET = 10**5, 2.0

SMALL = {"2+2": "2+2", "list with a polynomial": '{1/2, "a", x^2 - y}'}
PRINTED = 'scan(10^5, i -> stdio << concatenate(99:"x") << endl)'
INTEGERS = "toList(10^9 .. 10^9 + 99999)"


def alternately(
    sides: Mapping[str, Callable[[], object]], blocks: int, length: int
) -> dict[str, float]:
    """Median seconds of each side."""
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for action in sides.values():
        action()  # untimed: warm
    for _ in range(blocks):
        for name, action in sides.items():
            taken[name] += [seconds(action) for _ in range(length)]
    return {name: statistics.median(times) for name, times in taken.items()}


def small_values(plain: Conversation, work: Workspace) -> None:
    """One call."""
    for talk in (plain.ask, work.run):
        talk("R = QQ[x,y];")
    rows = []
    for name, code in SMALL.items():
        sides = {
            "plain": lambda code=code: plain.ask(code),
            "workspace": lambda code=code: work.value(code),
        }
        taken = alternately(sides, BLOCKS, BLOCK_LENGTH)
        more = taken["workspace"] - taken["plain"]
        figures = [f"{1000 * taken[side]:.2f}" for side in sides]
        rows.append([name, *figures, f"{1000 * more:+.2f}", "≤ +1", verdict(more <= TARGET)])
    print_table(
        f"a small value: median of {BLOCKS * BLOCK_LENGTH} calls of each, milliseconds",
        ["", "plain", "workspace", "difference", "target", ""],
        rows,
    )


def megabytes(plain: Conversation, work: Workspace, rounds: int) -> None:
    """Large texts and values."""
    assert len(work.run(PRINTED)) == 10**7
    assert work.value(INTEGERS) == list(range(10**9, 10**9 + 10**5))
    measured = {
        "printed text": (
            10.0,
            {"plain": lambda: plain.ask(PRINTED), "workspace": lambda: work.run(PRINTED)},
        ),
        "list of integers": (
            1.2,
            {"plain": lambda: plain.ask(INTEGERS), "workspace": lambda: work.value(INTEGERS)},
        ),
    }
    rows = []
    for name, (size, sides) in measured.items():
        taken = alternately(sides, rounds, 1)
        rows.append([name, f"{size:g}", *(f"{1000 * taken[side] / size:.0f}" for side in sides)])
    print_table(
        f"per megabyte: median of {rounds} rounds, milliseconds",
        ["", "MB", "plain", "workspace"],
        rows,
    )


def random_polynomial(domain: Any, width: int) -> PolyElement:
    """10^5 terms."""
    numbers = random.Random(1)
    over = ring([f"x_{i}" for i in range(width)], domain, grevlex)[0]
    terms: dict[tuple[int, ...], Any] = {}
    while len(terms) < TERMS:
        powers = {
            numbers.randrange(width): numbers.randint(1, 4) for _ in range(numbers.randint(3, 5))
        }
        coefficient = domain(numbers.randint(1, 1000)) / domain(numbers.randint(1, 100))
        terms[tuple(powers.get(i, 0) for i in range(width))] = coefficient
    return over.from_dict(terms)


def there_and_back(program: Path, polynomial: PolyElement, rounds: int) -> tuple[float, float]:
    """Median seconds in and out, in a workspace that has started."""
    with Macaulay2(program) as m2, m2.workspace() as work:
        work["f"] = 1
        given = statistics.median(
            seconds(lambda: work.__setitem__("f", polynomial)) for _ in range(rounds)
        )
        assert work["f"] == polynomial
        return given, statistics.median(seconds(lambda: work["f"]) for _ in range(rounds))


def polynomials(program: Path, rounds: int) -> None:
    """Large polynomials, each kind in a workspace of its own."""
    rows = []
    for domain, width in ((QQ, 300), (QQ, 100), (GF(32003), 300)):
        given, back = there_and_back(program, random_polynomial(domain, width), rounds)
        met = [verdict(taken <= POLYNOMIAL_TARGET) for taken in (given, back)]
        rows.append([f"{domain}, {width} variables", f"{given:.1f}", met[0], f"{back:.1f}", met[1]])
    print_table(
        f"a polynomial of {TERMS} terms: median of {rounds} rounds, seconds; target ≤"
        f" {POLYNOMIAL_TARGET:g}",
        ["", "in", "", "out", ""],
        rows,
    )


def measure(program: Path, rounds: int) -> None:
    """The tables, on one Macaulay2."""
    plain = Conversation(program)
    with Macaulay2(program) as m2, m2.workspace() as work:
        small_values(plain, work)
        megabytes(plain, work, rounds)
    plain.close()
    polynomials(program, rounds)


def main() -> None:
    """Time both sides and print their tables."""
    chosen = options("what a value costs in a workspace", rounds=5)
    measure(engine_program(chosen.m2), chosen.rounds)


if __name__ == "__main__":
    main()

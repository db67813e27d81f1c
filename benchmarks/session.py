"""What one session of Macaulay2 costs: its start, a trivial run, and a large ideal on its way to
SymPy.

1. Start-up: ``Macaulay2()`` until its first trivial answer is read, in a fresh Python process that
   has imported m2bridge (finding Macaulay2 and asking for its version included), against the
   process ``M2 --script`` of an empty file; alternately.
2. A trivial run on a warm session (script file, wire format, answer read into Python; each run is
   isolated from the others) against ``2+2`` in a plain pexpect conversation with prompts, which
   does none of this; alternately in blocks.
3. An ideal of 20 random quartics in 12 variables over QQ, 27 300 terms, on its way from Macaulay2
   to SymPy polynomials. A session isolates its runs, so ring and ideal are made in the same script.
   The conversion is the wall time of the run and of reading its records in Python, minus the time
   that Macaulay2 itself measured (``elapsedTiming``) for making the ideal and for
   ``toExternalString`` of it, which follows in the same script for comparison. So the conversion
   includes sending the script, writing and reading the file of the answer, and the wait in between.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import pexpect
from measuring import engine_program, options, output, print_table, seconds, verdict

from m2bridge.convert.answers import parse
from m2bridge.engine.script import Script
from m2bridge.workspace.macaulay2 import Macaulay2

BLOCKS, BLOCK_LENGTH = 10, 30
START_TARGET, RUN_TARGET, CONVERSION_TARGET = 0.2, 0.002, 1.0

TRIVIAL = Script("trivial", 'mbEmit("answer", 2+2)\n')

START = """
import sys, time
from m2bridge.workspace.macaulay2 import Macaulay2
from m2bridge.convert.answers import parse
from m2bridge.engine.script import Script
begin = time.perf_counter()
with Macaulay2(sys.argv[1]) as engine:
    answer = parse(engine.run(Script("trivial", 'mbEmit("answer", 2+2)')).records).integer("answer")
    taken = time.perf_counter() - begin
assert answer == 4
print(taken)
"""

QUARTICS = Script(
    "quartics",
    """\
making = elapsedTiming (
    R = QQ[x_1..x_12];
    I = ideal apply(20, i -> random(4, R)))
emitting = elapsedTiming mbEmit("quartics", I)
printing = elapsedTiming toExternalString I
mbEmit("microseconds", apply({making, emitting, printing}, t -> round(10^6 * t#0)))
""",
)


def start_up(program: Path, rounds: int) -> None:
    """Start of a session against ``M2 --script`` of an empty file."""
    empty, session = [], []
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "empty.m2")
        script.touch()
        by_hand = [str(program), "--script", str(script)]
        output(by_hand)  # once untimed, so that all files are in the cache
        for _ in range(rounds):
            empty.append(seconds(lambda: output(by_hand)))
            session.append(float(output([sys.executable, "-c", START, str(program)])))
    A, B = statistics.median(empty), statistics.median(session)
    print_table(
        f"start-up: median of {rounds} rounds, seconds",
        ["", "M2 --script", "session", "ratio", "difference", "target", ""],
        [
            [
                "first answer",
                f"{A:.3f}",
                f"{B:.3f}",
                f"{A / B:.2f}",
                f"{B - A:+.3f}",
                f"≤ +{START_TARGET:g}",
                verdict(B - A <= START_TARGET),
            ]
        ],
    )


class Conversation:
    """Macaulay2 spoken to as a person does: one line in, everything until the next prompt out."""

    PROMPT = r"\ni\d+ : "

    def __init__(self, program: Path) -> None:
        self._terminal = pexpect.spawn(
            str(program), ["-q", "--silent", "--no-readline"], echo=False, encoding="utf-8"
        )
        self._terminal.delaybeforesend = None
        # else 10 MB take minutes
        self._terminal.maxread, self._terminal.searchwindowsize = 65536, 200
        self._terminal.expect(self.PROMPT, timeout=60)

    def ask(self, line: str) -> str:
        """What is printed for one line."""
        self._terminal.sendline(line)
        self._terminal.expect(self.PROMPT, timeout=300)
        return str(self._terminal.before)

    def close(self) -> None:
        """End it."""
        self._terminal.close(force=True)


def trivial_run(program: Path) -> None:
    """A trivial run on a warm session against a plain conversation with prompts."""
    conversation = Conversation(program)

    def ask() -> None:
        assert "= 4" in conversation.ask("2+2")

    with Macaulay2(program) as engine:

        def run() -> None:
            assert parse(engine.run(TRIVIAL).records).integer("answer") == 4

        sides = {"plain conversation": ask, "m2bridge session": run}
        taken: dict[str, list[float]] = {name: [] for name in sides}
        for action in sides.values():
            for _ in range(20):  # untimed: warm
                action()
        for _ in range(BLOCKS):
            for name, action in sides.items():
                taken[name] += [seconds(action) for _ in range(BLOCK_LENGTH)]
    conversation.close()
    plain = statistics.median(taken["plain conversation"])
    rows = []
    for name, times in taken.items():
        middle, high = statistics.median(times), statistics.quantiles(times, n=20)[-1]
        row = [name, f"{1000 * middle:.2f}", f"{1000 * high:.2f}", f"{middle / plain:.1f}"]
        judged = name == "m2bridge session"
        rows.append(row + (["median ≤ 2", verdict(middle <= RUN_TARGET)] if judged else ["", ""]))
    print_table(
        f"a trivial run, warm: {BLOCKS * BLOCK_LENGTH} runs of each, milliseconds",
        ["", "median", "95th percentile", "ratio to plain", "target", ""],
        rows,
    )


def conversion(program: Path, rounds: int) -> None:
    """The 27 300 terms from Macaulay2 to SymPy, and Macaulay2's own printing."""
    measured = []
    with Macaulay2(program) as engine:
        engine.run(TRIVIAL)
        for _ in range(rounds):
            begin = time.perf_counter()
            records = engine.run(QUARTICS).records
            received = time.perf_counter()
            answer = parse(records)
            read = time.perf_counter()
            assert sum(map(len, answer.ideal("quartics").generators)) == 27_300
            making, emitting, printing = (
                microseconds / 10**6 for microseconds in answer.integers("microseconds")
            )
            measured.append((read - begin - making - printing, emitting, read - received, printing))
    whole, emitting, reading, printing = (
        statistics.median(column) for column in zip(*measured, strict=True)
    )
    rows = [
        ["m2bridge, Macaulay2 to SymPy", f"{whole:.2f}", f"{printing / whole:.1f}"],
        ["  of it: mbEmit in Macaulay2", f"{emitting:.2f}", ""],
        ["  of it: records to SymPy", f"{reading:.2f}", ""],
        ["toExternalString alone", f"{printing:.2f}", "1.0"],
    ]
    judgements = [
        [f"≤ {CONVERSION_TARGET:g}", verdict(whole <= CONVERSION_TARGET)],
        *[["", ""]] * 3,
    ]
    print_table(
        f"20 quartics in 12 variables over QQ: median of {rounds} rounds, seconds",
        ["", "time", "toExternalString / it", "target", ""],
        [row + judgement for row, judgement in zip(rows, judgements, strict=True)],
    )


def main() -> None:
    """Time the three and print their tables."""
    chosen = options("what one session of Macaulay2 costs", rounds=7)
    program = engine_program(chosen.m2)
    start_up(program, chosen.rounds)
    trivial_run(program)
    conversion(program, chosen.rounds)


if __name__ == "__main__":
    main()

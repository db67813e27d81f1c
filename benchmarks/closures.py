"""The whole command ``m2bridge closure`` against a Macaulay2 program written by hand.

For each case (d, d', a), alternately and on the same Macaulay2, the wall time of two whole
processes:

A. ``M2 --script FILE`` with the program below: the ring of the entries of A and V, the ring of the
coordinates in the
   standard grading, the map, its ``kernel``, and the generators printed with ``toString``.
B. ``m2bridge closure --d d --d-out d' --a a --json``: start of Python and of Macaulay2, the model,
the computation,
   conversion to SymPy and printing. It computes more than A: minimal generators with dimension,
   degree and Hilbert series.

In all cases a = d, so that the entries of A are free and the program written by hand needs no
minors. Before anything is timed, both sides run once, and Macaulay2 checks that they found the same
ideal (A prints more generators than B, for ``kernel`` does not minimize them).
"""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from statistics import median

from measuring import (
    engine_program,
    m2bridge_command,
    options,
    output,
    print_table,
    seconds,
    verdict,
)

# d, d', a and whether the target is a ratio (at least 3 times faster) or a margin (at most 0.3 s
# slower).
CASES = ((2, 2, 2, "margin"), (2, 3, 2, "margin"), (3, 1, 3, "ratio"))
RATIO, MARGIN = 3.0, 0.3

BY_HAND = """\
d = %d
e = %d
quadruples = toList select((1,1,1,1)..(e,d,d,d), x -> x#2 <= x#3)
R = QQ[A_(1,1)..A_(d,d), V_(1,1)..V_(e,d)]
S = QQ[apply(quadruples, x -> c_x)]
f = map(R, S, apply(quadruples, (k,i,p,q) ->
    if p == q then V_(k,p)*A_(p,i) else V_(k,p)*A_(q,i) + V_(k,q)*A_(p,i)))
I = kernel f
print toString I_*
"""


def main() -> None:
    """Time all cases and print the table."""
    chosen = options("m2bridge closure against kernel in the standard grading", rounds=3)
    program = str(engine_program(chosen.m2))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for d, d_out, a, target in CASES:
            script = Path(folder, f"by-hand-{d}-{d_out}.m2")
            script.write_text(BY_HAND % (d, d_out), encoding="utf-8")
            by_hand = [program, "--script", str(script)]
            case = ["--d", str(d), "--d-out", str(d_out), "--a", str(a)]
            command = [m2bridge_command(), "closure", *case, "--json", "--m2", program]
            compare(program, script, by_hand, command)
            first, second = [], []
            for _ in range(chosen.rounds):
                first.append(seconds(lambda: output(by_hand)))  # noqa: B023  (called at once)
                second.append(seconds(lambda: output(command)))  # noqa: B023
            A, B = median(first), median(second)
            met = A / B >= RATIO if target == "ratio" else B - A <= MARGIN
            wanted = f"A/B ≥ {RATIO:g}" if target == "ratio" else f"B−A ≤ {MARGIN:g}"
            numbers = [f"{A:.2f}", f"{B:.2f}", f"{A / B:.2f}", f"{B - A:+.2f}"]
            rows.append([f"({d}, {d_out}, {a})", *numbers, wanted, verdict(met)])
    print_table(
        f"closure: median of {chosen.rounds} rounds, seconds (A by hand, B m2bridge)",
        ["(d, d', a)", "A", "B", "A/B", "B−A", "target", ""],
        rows,
    )


def compare(program: str, script: Path, by_hand: list[str], command: list[str]) -> None:
    """Run both once, untimed, so that all files are in the cache; they must find the same ideal."""
    first = output(by_hand).strip()
    generators = ", ".join(json.loads(output(command))["generators"]).replace("**", "^")
    second = re.sub(r"c_(\d+)_(\d+)_(\d+)_(\d+)", r"c_(\1,\2,\3,\4)", generators)
    check = script.with_name("check.m2")
    ring = script.read_text(encoding="utf-8").split("f = map")[0]
    check.write_text(
        f"{ring}\nassert(ideal {first} == ideal {{{second}}})\nprint 1\n", encoding="utf-8"
    )
    if output([program, "--script", str(check)]).strip() != "1":
        raise SystemExit(f"{script.stem}: the two sides found different ideals")


if __name__ == "__main__":
    main()

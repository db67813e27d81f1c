"""Cross-checks: how long they take, and how much the affine chart of the fibres saves.

1. ``m2bridge cross-check`` as a whole process, start of Python and Macaulay2 included; and all 40
   cases d, d' ≤ 4, a ≤ d in one Python process.
2. The fibres of all orbits of a case in one warm session, alternately by the chart of m2bridge
   (``templates/fibres.m2.j2``) and by the projective route (2×2 minors, two saturations, radical;
   the program of ``tests/engine/projective.m2``). The answers are compared; start of Macaulay2 does
   not count.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from statistics import median

from measuring import engine_program, m2bridge_command, options, print_table, seconds, verdict

from m2bridge import Macaulay2, Script, SingleLayerAttention
from m2bridge.convert.answers import parse
from m2bridge.crosscheck.cross_check import cross_check
from m2bridge.families.attention.orbits.fibres import fibres
from m2bridge.families.attention.orbits.orbits import orbits, representative
from m2bridge.statements.statement import IntegerMatrix

WHOLE = (((4, 4, 4), 2.5), ((6, 6, 6), 5.0), ((10, 10, 10), 60.0))
GRID = [(d, d_out, a) for d in range(1, 5) for d_out in range(1, 5) for a in range(1, d + 1)]
GRID_LIMIT = 15.0
AGAINST = ((3, 3, 3), (4, 2, 3))
FACTOR = 50.0
PROJECTIVE = Path(__file__).parent.parent / "tests" / "engine" / "projective.m2"


def main() -> None:
    """Time everything and print the tables."""
    chosen = options("cross-checks, and fibres by the chart against the projective route", rounds=3)
    program = str(engine_program(chosen.m2))
    rows = []
    for case, limit in WHOLE:
        d, d_out, a = map(str, case)
        command = [
            m2bridge_command(),
            "cross-check",
            "--d",
            d,
            "--d-out",
            d_out,
            "--a",
            a,
            "--json",
            "--m2",
            program,
        ]
        times = [seconds(lambda: checked(command)) for _ in range(chosen.rounds)]  # noqa: B023  (called at once)
        rows.append(
            [f"{case} cold", f"{median(times):.2f}", f"{limit:g}", verdict(median(times) <= limit)]
        )
    with Macaulay2(program) as engine:
        grid = [
            seconds(
                lambda: [cross_check(SingleLayerAttention(*case), engine=engine) for case in GRID]
            )
        ]
        rows.append(
            [
                f"{len(GRID)} cases",
                f"{grid[0]:.2f}",
                f"{GRID_LIMIT:g}",
                verdict(grid[0] <= GRID_LIMIT),
            ]
        )
        print_table("cross-check, all statements", ["case", "seconds", "target", ""], rows)
        print_table(
            "fibres of all orbits, engine start apart",
            ["case", "projective", "chart", "ratio", "target", ""],
            [against(SingleLayerAttention(*case), engine) for case in AGAINST],
        )


def checked(command: list[str]) -> None:
    """Run a cross-check; 0 (all confirmed) and 1 (something refuted) are both results."""
    ended = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False
    )
    if ended.returncode not in (0, 1):
        ended.check_returncode()


def against(model: SingleLayerAttention, engine: Macaulay2) -> list[str]:
    """One row: the projective route once, the chart five times, alternating where both are
    short.
    """
    script = projective_script(model)
    engine.run(Script("warm", 'mbEmit("warm", true)'))
    chart = [seconds(lambda: fibres(model, engine=engine)) for _ in range(3)]
    found: dict[str, list[int]] = {}
    projective = seconds(lambda: found.update(parse(engine.run(script).records).values))
    chart += [seconds(lambda: fibres(model, engine=engine)) for _ in range(2)]
    for orbit, fibre in fibres(model, engine=engine).at.items():
        assert found[str(orbit)] == [fibre.length, fibre.points], orbit
    ratio = projective / median(chart)
    case = f"({model.d}, {model.d_out}, {model.a})"
    return [
        case,
        f"{projective:.1f}",
        f"{median(chart):.3f}",
        f"{ratio:.0f}",
        f"≥ {FACTOR:g}",
        verdict(ratio >= FACTOR),
    ]


def projective_script(model: SingleLayerAttention) -> Script:
    """The projective route at every orbit."""
    lines = [
        'scan({"Elimination", "Saturation", "MinimalPrimes"}, needsPackage)',
        PROJECTIVE.read_text(encoding="utf-8"),
    ]
    for orbit in orbits(model):
        A, V = (f"matrix(QQ, {in_macaulay2(matrix)})" for matrix in representative(orbit, model))
        lines.append(f'mbEmit("{orbit}", projectiveFibre({A}, {V}, {model.alpha}))')
    return Script("projective", "\n".join(lines))


def in_macaulay2(rows: IntegerMatrix) -> str:
    """A matrix as Macaulay2 reads it."""
    return "{" + ", ".join("{" + ", ".join(map(str, row)) + "}" for row in rows) + "}"


if __name__ == "__main__":
    main()

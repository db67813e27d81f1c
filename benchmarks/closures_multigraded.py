"""Wall times of closures, all overheads included: elimination, Macaulay2's
MultigradedImplicitization, m2bridge.

Every measurement is a fresh process, start-up and printing included; the methods take turns in one
run, so that a busy machine slows all of them. Prints tables in Markdown::

    python benchmarks/closures_multigraded.py [--rounds 3] [--limit 120] [--small]
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import TypeVar

from m2bridge.algebra.field import QQ
from m2bridge.engine import locate
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits.parametrization import multigraded_attention
from m2bridge.ideals.construct import read_ideal
from m2bridge.maps.closure import Closure, closure
from m2bridge.maps.completeness import elimination_values

Case = tuple[int, int, int]
Result = TypeVar("Result")

COMPARED: list[Case] = [(2, 2, 2), (2, 3, 2), (3, 1, 3), (3, 1, 2)]
ALONE: list[tuple[Case, int]] = [
    ((3, 2, 2), 4),
    ((3, 2, 3), 4),
    ((4, 1, 3), 4),
    ((4, 1, 4), 4),
    ((3, 3, 3), 3),
    ((3, 3, 3), 4),
    ((4, 4, 4), 2),
    ((4, 4, 4), 3),
    ((4, 4, 4), 4),
]
COMMAND = "from m2bridge.cli.main import main; main()"


def kernel(case: Case, graded: bool) -> str:
    values = elimination_values(SingleLayerAttention(*case).parametrization(), field=QQ)
    degrees = f", Degrees => {values['degrees']}" if graded else ""
    quotient = f"S = S / ideal {values['relations']}\n" if values["relations"] else ""
    return (
        f"S = QQ[{values['parameters']}]\n{quotient}T = QQ[{values['coordinates']}{degrees}]\nI ="
        f" trim kernel map(S, T, {values['images']})\nprint toString tally flatten degrees source"
        " gens I\nprint toString I"
    )


def components(case: Case, coefficients: str) -> str:
    """The package with the grading given, so that it does not need gfan; parameters free, as it
    requires.
    """
    source = multigraded_attention(SingleLayerAttention(*case))
    values = elimination_values(source.polynomial_map, field=QQ)
    rows = zip(*source.grading.multidegrees, strict=True)
    grading = "matrix {" + ", ".join("{" + ", ".join(map(str, row)) + "}" for row in rows) + "}"
    return (
        'needsPackage "MultigradedImplicitization"\n'
        f"S = QQ[{values['parameters']}]\nT = QQ[{values['coordinates']}]\nF = map(S, T,"
        f" {values['images']})\n"
        f"G = componentsOfKernel(4, F, Grading => {grading}, CoefficientRing => {coefficients},"
        " Verbose => false)\n"
        "G = delete(null, flatten values new HashTable from G)\nprint toString tally apply(G,"
        " degree)\nprint toString G"
    )


def m2bridge(case: Case, degree: int) -> list[str]:
    d, d_out, a = map(str, case)
    options = [
        "--d",
        d,
        "--d-out",
        d_out,
        "--a",
        a,
        "--strategy",
        "multigraded",
        "--max-degree",
        str(degree),
    ]
    return [sys.executable, "-c", COMMAND, "closure", *options, "--json"]


def measure(command: list[str], limit: float) -> tuple[float | None, float, str]:
    """Seconds (None: not finished), peak memory of the process in MB, and what was printed."""
    with tempfile.TemporaryFile("w+") as output:
        begin = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            seconds = time.perf_counter() - begin
            if pid:
                break
            if seconds > limit:
                os.killpg(process.pid, signal.SIGKILL)
                os.wait4(process.pid, 0)
                return None, 0.0, ""
            time.sleep(0.01)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if process.returncode:
        raise RuntimeError(f"{command[0]} ended with {process.returncode}: {text[-500:]}")
    return seconds, usage.ru_maxrss / 1024, text


def shown(times: list[float | None], limit: float) -> str:
    finished = [seconds for seconds in times if seconds is not None]
    return f"{median(finished):.2f} s" if len(finished) == len(times) else f"> {limit:.0f} s"


def compare(program: Path, rounds: int, limit: float, folder: Path, cases: list[Case]) -> None:
    has_package = (
        "MultigradedImplicitization"
        in subprocess.run(
            [program, "--script", _file(folder, "path.m2", PACKAGE_TEST)],
            capture_output=True,
            text=True,
            check=False,
        ).stdout
    )
    names = ["(a) kernel", "(b) graded kernel"]
    names += ["(c) componentsOfKernel mod 32003", "(c') the same over QQ"] if has_package else []
    if not has_package:
        print("This Macaulay2 has no MultigradedImplicitization: (c) is left out.\n")
    print(
        f"| case | {' | '.join(names)} | (d) m2bridge, degree ≤ 4 |\n|{'---|' * (len(names) + 2)}"
    )
    for case in cases:
        programs = [kernel(case, False), kernel(case, True)]
        programs += [components(case, "ZZ/32003"), components(case, "QQ")] if has_package else []
        stem = "-".join(map(str, case))
        commands = [
            [str(program), "--script", _file(folder, f"{stem}-{i}.m2", text)]
            for i, text in enumerate(programs)
        ]
        commands.append(m2bridge(case, 4))
        times: list[list[float | None]] = [[] for _ in commands]
        for _ in range(rounds):
            for command, collected in zip(commands, times, strict=True):
                late = bool(collected) and collected[-1] is None
                collected.append(None if late else measure(command, limit)[0])
        print(f"| {case} | {' | '.join(shown(t, limit) for t in times)} |", flush=True)


PACKAGE_TEST = (
    'try (needsPackage "MultigradedImplicitization"; print "has MultigradedImplicitization")'
)


def alone(rounds: int, limit: float, cases: list[tuple[Case, int]]) -> None:
    print("\n| case | degree | wall | computing | peak memory | generators | Hilbert function |")
    print("|---|---|---|---|---|---|---|")
    for case, degree in cases:
        runs = [measure(m2bridge(case, degree), limit) for _ in range(rounds)]
        if not runs[-1][2]:
            print(f"| {case} | {degree} | > {limit:.0f} s | | | | |", flush=True)
            continue
        record = json.loads(runs[-1][2])
        counts = ", ".join(
            f"{count} of degree {n}" for n, count in record["generator_degrees"].items()
        )
        wall = shown([seconds for seconds, _, _ in runs], limit)
        values = ", ".join(map(str, record["hilbert_function"]))
        print(
            f"| {case} | {degree} | {wall} | {record['seconds']:.2f} s |"
            f" {max(m for _, m, _ in runs):.0f} MB | {counts} | {values} |",
            flush=True,
        )


def warm(rounds: int, cases: list[tuple[Case, int]]) -> None:
    """In this process, nothing to start or import: computing, and what is done with the result."""
    head = "computing | JSON text | SymPy polynomials | read back"
    print(f"\n| case | degree | generators | {head} |")
    print("|---|---|---|---|---|---|---|")
    for case, degree in cases:
        columns: dict[str, list[float]] = {}
        for _ in range(rounds):
            found = one_round(SingleLayerAttention(*case), degree, columns)
        number = sum((found.generator_degrees or {}).values())
        seconds = " | ".join(f"{median(values):.2f} s" for values in columns.values())
        print(f"| {case} | {degree} | {number} | {seconds} |", flush=True)


def one_round(model: SingleLayerAttention, degree: int, columns: dict[str, list[float]]) -> Closure:
    found = timed(columns, "computing", lambda: closure(model, max_degree=degree))
    text = timed(columns, "JSON", lambda: json.dumps(found.to_json()))
    timed(columns, "SymPy", lambda: found.ideal)
    timed(columns, "read", lambda: read_ideal(json.loads(text)))
    return found


def timed(columns: dict[str, list[float]], name: str, action: Callable[[], Result]) -> Result:
    begin = time.perf_counter()
    result = action()
    columns.setdefault(name, []).append(time.perf_counter() - begin)
    return result


def _file(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text + "\n", encoding="utf-8")
    return str(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for each process")
    parser.add_argument("--small", action="store_true", help="the quickest cases only")
    parser.add_argument("--m2", default=None, help="the Macaulay2 program to use")
    options = parser.parse_args()
    candidate = locate(options.m2)
    assert candidate.program is not None
    print(
        f"Macaulay2 {candidate.version}; median of {options.rounds} rounds, limit"
        f" {options.limit:.0f} s\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        cases = COMPARED[:2] if options.small else COMPARED
        compare(Path(candidate.program), options.rounds, options.limit, Path(folder), cases)
    alone(options.rounds, options.limit, ALONE[:2] if options.small else ALONE)
    warm(options.rounds, ALONE[:2] if options.small else ALONE)


if __name__ == "__main__":
    main()

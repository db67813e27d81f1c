"""The figure ``robustness``: how many real critical points the inputs of a plane have.

The plane is X + s·X₁ + t·X₂, with X₁ and X₂ from the file; or X₁ is the unit vector from X to its
nearest point, and X₂ a unit vector orthogonal to it, in a direction in which g grows fastest. The
number changes where two critical points come together: at the ED discriminant of the boundary.

*How it is counted.* For one head of rank one critical points are roots of a polynomial S of degree
at most 20 (Theorem R3). Its roots are isolated in balls, and where these decide nothing, over the
rational numbers: floats show walls that are not there where roots are near each other. On curves of
the plane, where a test of the theorem fails, the number of real roots of S is shown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Unpack

import flint
import numpy

from m2bridge.decision_boundary.balls import Floats, working_precision
from m2bridge.decision_boundary.boundary import BoundaryProblem, scaled
from m2bridge.decision_boundary.critical_points import (
    CriticalEquations,
    ScalarProducts,
    all_critical_points,
    polynomial_of_points,
    rank_one_boundary,
)
from m2bridge.decision_boundary.options import OPTIONS, BoundaryOptions, LayerSource
from m2bridge.decision_boundary.reading import OF_PLANE, array_of_shape, read_layer
from m2bridge.errors import InvalidCaseError
from m2bridge.families.base import CaseOption, Figure, integer
from m2bridge.limits import check_deadline_in, limited
from m2bridge.results.base import result_json
from m2bridge.results.markup import csv_text
from m2bridge.results.picture import INK, SOFT, PictureResult, line, new_figure, styled
from m2bridge.results.sheet import Facts, Picture, Sheet, m2_list, plural
from m2bridge.trained_weights.figure import picture_options

MAX_PIXELS = 400
"""The largest number of inputs along a side."""

DEGREE = 20
"""The degree of S in general."""

COLORS = ("#f4f7fa", "#c9dcec", "#8fbcdc", "#4d90c2", "#2166ac", "#fdb863", "#e08214", "#b35806")
"""By half the number of real critical points, in order of those that occur."""

INPUTS = ((0.0, 0.0), (0.55, 0.6), (-0.6, 0.45), (-0.45, -0.65), (0.65, -0.4))
"""The places of inputs whose nearest points are drawn, in parts of half a side."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class PlaneOfInputs(PictureResult):
    """The number of real critical points, and g, at the inputs of a plane."""

    places: Floats  # the values of s, and of t
    counts: Any  # integers, a row for each t; −1 where there is no list
    values: Floats  # g
    exactly: int  # the number of inputs that were decided over the rational numbers
    segments: list[tuple[tuple[float, float], tuple[float, float], float]]
    labels: tuple[str, str]
    seconds: float

    def to_sheet(self) -> Sheet:
        """The numbers that occur, and the picture."""
        found, areas = numpy.unique(self.counts, return_counts=True)
        parts = ", ".join(
            f"{count} at {plural(area, 'input')}"
            for count, area in zip(found.tolist(), areas.tolist(), strict=True)
        )
        facts = [
            ("inputs", f"{len(self.places)} × {len(self.places)}"),
            ("real critical points", parts),
            ("decided over the rational numbers", f"{self.exactly} of {self.counts.size}"),
        ]
        title = "Real critical points of the distance to a decision boundary"
        return Sheet(title, [Facts(facts), Picture(self.page_svg)])

    def to_json(self) -> dict[str, Any]:
        """The numbers for ``json.dumps``."""
        return result_json({}, "RR", None, self.seconds) | {
            "places": self.places.tolist(),
            "real_critical_points": self.counts.tolist(),
            "values": self.values.tolist(),
            "decided_exactly": self.exactly,
            "nearest": [
                {"input": list(start), "nearest": list(end), "distance": distance}
                for start, end, distance in self.segments
            ],
        }

    def to_csv(self) -> str:
        """A line for each input."""
        lines = [
            (s, t, count, value)
            for t, counts, values in zip(
                self.places.tolist(), self.counts.tolist(), self.values.tolist(), strict=True
            )
            for s, count, value in zip(self.places.tolist(), counts, values, strict=True)
        ]
        return csv_text(("s", "t", "real_critical_points", "value"), lines)

    def to_macaulay2(self) -> str:
        """The numbers as a matrix of Macaulay2."""
        return f"realCriticalPoints = matrix {m2_list(map(m2_list, self.counts.tolist()))}"

    def figure(self) -> Any:
        """The plane, with the boundary and the segments to nearest points."""
        found = sorted(set(self.counts.ravel().tolist()))
        colors = {count: COLORS[k % len(COLORS)] for k, count in enumerate(found)}
        pixels = numpy.array([[_channels(colors[count]) for count in row] for row in self.counts])
        most = self.places[-1]
        with styled():
            page = new_figure(5.4, 4.1, "Real critical points")
            axes = page.subplots()
            extent = (-most, most, -most, most)
            axes.imshow(pixels, origin="lower", extent=extent, interpolation="nearest")
            if self.values.min() < 0 < self.values.max():
                axes.contour(self.places, self.places, self.values, levels=[0], colors=INK)
            for start, end, _ in self.segments:
                axes.plot(*zip(start, end, strict=True), color="#c51b7d", linewidth=1.4)
                axes.plot(*start, "o", color="#c51b7d", markersize=4)
                axes.plot(*end, "o", color="#c51b7d", markersize=4, markerfacecolor="white")
            axes.set_xlim(-most, most)
            axes.set_ylim(-most, most)
            axes.set_xlabel(self.labels[0])
            axes.set_ylabel(self.labels[1])
            square = {"marker": "s", "linestyle": "", "markersize": 9, "markeredgecolor": SOFT}
            entries = [
                line(
                    [(0, 0)],
                    color=colors[count],
                    label=f"{count} real" if count >= 0 else "–",
                    **square,
                )
                for count in found
            ]
            entries.append(line([(0, 0), (1, 1)], color=INK, label="boundary"))
            entries.append(
                line(
                    [(0, 0), (1, 1)], color="#c51b7d", marker="o", label="nearest point,\nprojected"
                )
            )
            axes.legend(handles=entries, loc="center left", bbox_to_anchor=(1.02, 0.5))
            page.tight_layout()
            return page


def _channels(color: str) -> tuple[int, ...]:
    """Red, green and blue of a colour."""
    return tuple(bytes.fromhex(color[1:]))


def plane_of_inputs(
    source: LayerSource,
    *,
    pixels: int = 60,
    half_side: float | None = None,
    **options: Unpack[BoundaryOptions],
) -> PlaneOfInputs:
    """Count real critical points at the inputs of a plane, for |s|, |t| ≤ half_side; the default is
    2.5 times the distance of X, divided by the largest norm of X₁ and X₂.
    """
    if not 2 <= pixels <= MAX_PIXELS:
        raise InvalidCaseError("pixels", f"must be from 2 to {MAX_PIXELS}")
    with limited(None) as running:
        layer = read_layer(source, for_plane=True, **options)
        given = [layer.arrays.get(name) for name in OF_PLANE]
        problem = layer.problem(array_of_shape("X", layer.arrays, 2))
        if problem.U.size < 2:
            raise InvalidCaseError(
                "source", "X has one entry; a plane of inputs needs two at least"
            )
        found = _listed(problem)
        if found is None:
            raise InvalidCaseError(
                "source",
                "the figure needs one head of rank one, a readout of rank one and a bias, and no"
                " skip connection; a product R of two vectors is rounded, and has a larger rank:"
                " give w",
            )
        distance, nearest = found
        if given[0] is None and given[1] is None:
            labels = ("towards the nearest point", "across")
            directions = _frame(problem, nearest)
        else:
            labels = ("$s$", "$t$")
            directions = [_direction(array, problem) for array in given]
            if numpy.linalg.matrix_rank([one.ravel() for one in directions]) < 2:
                raise InvalidCaseError("source", "X1 and X2 are parallel: they span no plane")
        if half_side is None:
            half_side = 2.5 * distance / max(float(numpy.linalg.norm(one)) for one in directions)
        if not 0 < half_side < numpy.inf:
            raise InvalidCaseError("half_side", "must be a positive number")
        places = numpy.linspace(-half_side, half_side, pixels)
        counts, values, exactly = _Plane(problem, directions).counted(places)
        segments = [
            segment
            for s, t in INPUTS
            if (segment := _segment(problem, directions, half_side * s, half_side * t)) is not None
        ]
        return PlaneOfInputs(
            places=places,
            counts=counts,
            values=values,
            exactly=exactly,
            segments=segments,
            labels=labels,
            seconds=running.seconds,
        )


def _listed(problem: BoundaryProblem) -> tuple[float, Floats] | None:
    """The distance and the step to the nearest point by the list, if there is one."""
    if not problem.heads or not problem.W.any():
        return None
    units = problem.in_units()
    found = all_critical_points(problem, units)
    if found is None:
        return None
    unit = 2.0**units.size
    return unit * float(found.distances[0].mid()), unit * found.nearest


def _frame(problem: BoundaryProblem, step: Floats) -> list[Floats]:
    """Unit vectors: towards the nearest point, and across."""
    first = step / numpy.linalg.norm(step)
    units = problem.in_units()
    across = problem.in_floats(units).gradient(scaled(problem.U, -units.size))
    across = across - (across * first).sum() * first
    size = float(numpy.linalg.norm(across))
    if not size > 1e-6:
        across = numpy.random.default_rng(0).normal(size=step.shape)
        across = across - (across * first).sum() * first
        size = float(numpy.linalg.norm(across))
    return [first, across / size]


def _direction(array: Any, problem: BoundaryProblem) -> Floats:
    """X₁ or X₂ of a file."""
    if array is None or array.shape != problem.U.shape or not numpy.any(array):
        raise InvalidCaseError("source", "X1 and X2 must both be there, as large as X, and not 0")
    floats: Floats = numpy.asarray(array, dtype=numpy.float64)
    return floats


def _segment(
    problem: BoundaryProblem, directions: list[Floats], s: float, t: float
) -> tuple[tuple[float, float], tuple[float, float], float] | None:
    """An input, its nearest point projected to the plane, and the distance."""
    found = _listed(replace(problem, U=problem.U + s * directions[0] + t * directions[1]))
    if found is None:
        return None
    distance, step = found
    columns = numpy.stack([one.ravel() for one in directions]).T
    (ds, dt), *_ = numpy.linalg.lstsq(columns, step.ravel(), rcond=None)
    return (s, t), (s + float(ds), t + float(dt)), distance


class _Plane:
    """The constants of g and the linear forms of X, X₁ and X₂, over the rational numbers."""

    def __init__(self, problem: BoundaryProblem, directions: list[Floats]) -> None:
        units = problem.in_units()
        inputs = [problem.U, *directions]
        boundaries = [rank_one_boundary(replace(problem, U=U), units) for U in inputs]
        found = [boundary for boundary in boundaries if boundary is not None]
        self.constants = found[0].constants()
        self.forms = [boundary.linear_forms() for boundary in found]
        self.one_token = problem.U.shape[1] == 1
        self.value_unit = 2.0**units.value
        # a general place: if the tests of Theorem R3 succeed there, they do outside of curves
        S = self._polynomial(self._forms(flint.fmpq(271, 2048), flint.fmpq(-389, 1024)))
        self.in_balls = S is not None and S.degree() == DEGREE

    def counted(self, places: Floats) -> tuple[Any, Floats, int]:
        """The numbers of real points, the values of g, and how many were decided exactly."""
        size = len(places)
        counts: Any = numpy.zeros((size, size), int)
        values = numpy.zeros((size, size))
        exactly = 0
        with working_precision(256):
            balls = [flint.arb(constant) for constant in self.constants]
            for row, column in check_deadline_in(numpy.ndindex(size, size)):
                place = [flint.fmpq(*places[k].as_integer_ratio()) for k in (column, row)]
                forms = self._forms(*place)
                products = ScalarProducts.of(balls, [flint.arb(form) for form in forms])
                on_beta_and_K = products.bCk + products.bu * products.ku / products.c
                values[row, column] = float((products.qu * on_beta_and_K + products.bias).mid())
                count = _count_in_balls(products) if self.in_balls else None
                if count is None:
                    count, exactly = self._exact_count(forms), exactly + 1
                counts[row, column] = count
        return counts, self.value_unit * values, exactly

    def _forms(self, s: flint.fmpq, t: flint.fmpq) -> list[flint.fmpq]:
        """The linear forms of an input."""
        return [base + s * one + t * other for base, one, other in zip(*self.forms, strict=True)]

    def _polynomial(self, forms: list[flint.fmpq]) -> flint.fmpq_poly | None:
        products = ScalarProducts.of(self.constants, forms)
        return polynomial_of_points(products, one_token=self.one_token)

    def _exact_count(self, forms: list[flint.fmpq]) -> int:
        """The number of real critical points; −1 where there is no list."""
        S = self._polynomial(forms)
        if S is None:
            return -1
        return sum(root.imag.is_zero() for root, _ in S.numer().complex_roots())


def _count_in_balls(products: ScalarProducts) -> int | None:
    """The number of real roots of S where its degree is 20 and its roots are simple, which balls
    decide; None if they do not.
    """
    equations = CriticalEquations(products, flint.arb_poly([0, 1]))
    cofactor = (equations.D * equations.D * equations.P * equations.P).coeffs()
    resultant = equations.resultant()
    # x³D²P² divides the resultant: a division of power series
    coefficients: list[flint.arb] = []
    for k in range(DEGREE + 1):
        rest = resultant[k + 3]
        for j in range(1, min(k + 1, len(cofactor))):
            rest -= cofactor[j] * coefficients[k - j]
        coefficients.append(rest / cofactor[0])
    if coefficients[-1].contains(0):
        return None
    try:
        roots = flint.acb_poly(coefficients).roots()
    except ValueError:
        return None
    count = 0
    for number, root in enumerate(roots):
        if not root.imag.contains(0):
            continue
        # the conjugate root is this one if it is no other
        others = roots[:number] + roots[number + 1 :]
        if any(root.conjugate().overlaps(other) for other in others):
            return None
        count += 1
    return count


ROBUSTNESS = Figure(
    "robustness",
    "Real critical points of the distance to a decision boundary, on a plane of inputs",
    (
        CaseOption("source", str, "a file as of robustness, perhaps with X1, X2", positional=True),
        *picture_options(OPTIONS),
        CaseOption("pixels", integer, "the number of inputs along a side", default="60"),
        CaseOption("half_side", float, "the largest coordinate", required=False),
    ),
    plane_of_inputs,
)

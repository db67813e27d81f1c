"""The Hilbert function and the Hilbert polynomial of a closure, and their picture.

The values H(n) come from the Hilbert series of the whole ideal; where they were computed by ranks
of matrices too, degree by degree, both have to agree. P is the polynomial.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Unpack

from sympy import Expr, degree, lambdify, latex

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.hilbert_series import HilbertSeries, n
from m2bridge.algebra.ring import is_homogeneous
from m2bridge.convert.printing import expression_text
from m2bridge.engine import RunOptions, computation, current
from m2bridge.errors import ContradictionError, InvalidCaseError, MethodUnavailableError, check_kind
from m2bridge.ideals.ideal import Ideal
from m2bridge.limits import check_deadline_in, clock
from m2bridge.maps.closure import Closure, closure
from m2bridge.maps.model import Model
from m2bridge.maps.polynomial_map_model import Case, IdealModel
from m2bridge.results.base import Proof, result_json
from m2bridge.results.markup import csv_text
from m2bridge.results.picture import BLUE, FAINT, SOFT, VERMILION, PictureResult, new_figure, styled
from m2bridge.results.sheet import (
    Facts,
    Formula,
    Picture,
    Sheet,
    Table,
    computed_by,
    in_brackets,
    m2_list,
    value_text,
)

HEADER = ("n", "H(n)", "P(n)", "by ranks")
MAX_SHOWN_HILBERT_VALUES = 1000
"""The largest number of values; far more than a picture can show."""
CURVE_POINTS_PER_DEGREE = 20
"""The number of points per unit interval at which the polynomial is drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HilbertFunction(PictureResult):
    """The Hilbert function H(0), …, H(N) of the coordinate ring of a cone, and its polynomial P.

    Parameters
    ----------
    model : Model
    series : HilbertSeries
        The series of the coordinate ring, by the ideal, which is proved complete.
    values : tuple of int
        H(0), …, H(N) by the series.
    ranks : tuple of int
        The first of these values again, by ranks of matrices, as far as they were computed; empty
        if none were.
    engine_version : str
        Empty if Macaulay2 was not used.
    seconds : float
    field : CoefficientField
        The field over which the closure was taken.

    Examples
    --------
    >>> result = hilbert_function(SingleLayerAttention(d=2, d_out=1), degree=6)
    >>> result.values, result.ranks, result.polynomial_from
    ((1, 6, 21, 56, 125, 246, 441), (1, 6, 21, 56, 125), -1)
    """

    model: Model
    series: HilbertSeries
    values: tuple[int, ...]
    ranks: tuple[int, ...]
    engine_version: str
    seconds: float
    field: CoefficientField = QQ

    @property
    def _variety_text(self) -> str:
        """The closure in words, with the field unless that is QQ."""
        title = self.model.title
        return title if self.field == QQ else f"{title}, over {self.field}"

    @property
    def polynomial(self) -> Expr:
        """The Hilbert polynomial in n."""
        return self.series.polynomial

    @property
    def polynomial_from(self) -> int:
        """The least integer n_0 with H(n) = P(n) for all n ≥ n_0, where H(n) is 0 for negative n.

        For a series h(T) / (1 − T)^D it is deg h − D + 1. Source: Bruns, Herzog, *Cohen–Macaulay
        Rings*, 4.1.12.
        """
        degree_of_numerator = len(self.series.numerator) - 1
        return degree_of_numerator - self.series.dimension + 1

    def polynomial_at(self, degree: int) -> int:
        """Return the value of the Hilbert polynomial at an integer."""
        return int(self.polynomial.subs(n, degree))

    @property
    def _rows(self) -> list[tuple[int | None, ...]]:
        """For each degree n the row (n, H(n), P(n), H(n) by ranks); ``None`` without ranks."""
        rows: list[tuple[int | None, ...]] = []
        for k, (value, rank) in enumerate(zip_longest(self.values, self.ranks)):
            rows.append((k, value, self.polynomial_at(k), rank))
        return rows

    def proof(self) -> Proof:
        """Return that the values are proved, as the series belongs to the whole ideal."""
        if isinstance(self.model, IdealModel):
            return Proof(True, "the Hilbert series of the ideal, by a Gröbner basis")
        reason = "the Hilbert series of the ideal, which is proved complete"
        if self.ranks:
            reason += f", and ranks of matrices up to degree {len(self.ranks) - 1}"
        return Proof(True, reason)

    def __repr__(self) -> str:
        return in_brackets(self, "model", "field", "values")

    def to_sheet(self) -> Sheet:
        """Return a table of the values, the series, the polynomial and the picture."""
        formula = latex(self.polynomial)
        facts = [
            ("Hilbert series", expression_text(self.series.expression)),
            ("Hilbert polynomial P", Formula(expression_text(self.polynomial), formula)),
            # `polynomial_from` may be negative, and H is shown for n ≥ 0 only
            ("H(n) = P(n)", f"for all n ≥ {max(self.polynomial_from, 0)}"),
            ("computed by", computed_by(self.engine_version, self.seconds)),
        ]
        rows = [list(map(value_text, row)) for row in self._rows]
        title = f"Hilbert function of the {self._variety_text}"
        table = Table(HEADER, rows)
        return Sheet(title, [Facts(facts), table, Picture(self.page_svg)], [f"P(n) = {formula}"])

    def to_json(self) -> dict[str, Any]:
        """Return values, polynomial and series for ``json.dumps``."""
        engine = self.engine_version or None
        return result_json(self.model.case, self.field, engine, self.seconds) | {
            "hilbert_function": list(self.values),
            "by_ranks": list(self.ranks),
            "hilbert_polynomial": str(self.polynomial),
            "hilbert_series": self.series.to_json(),
            # H(n) is defined for n ≥ 0 only.
            "polynomial_from": max(self.polynomial_from, 0),
            # A computation that is interrupted has no result here; other results have the key.
            "unfinished": None,
            **self.proof()._asdict(),
        }

    def to_macaulay2(self) -> str:
        """Return the values as a Macaulay2 list."""
        return f"hilbertFunctionValues = {m2_list(self.values)}"

    def to_csv(self) -> str:
        """Return a line for each degree: it, and the values by series, polynomial and ranks."""
        return csv_text(("n", "hilbert_function", "hilbert_polynomial", "by_ranks"), self._rows)

    def figure(self) -> Any:
        """Return a figure of matplotlib with the values and the polynomial, on a logarithmic
        scale.
        """
        title = self._variety_text
        with styled():
            figure = new_figure(width=6.8, height=4.8, title=f"Hilbert function of the {title}")
            axes = figure.subplots()
            axes.set_yscale("log")
            axes.grid(color=FAINT, linewidth=0.7)
            axes.set_axisbelow(True)
            axes.set_xlabel("degree n", style="italic")
            axes.set_ylabel("dimension of the graded piece", style="italic")
            _draw_polynomial(axes, self.polynomial, len(self.values))
            _draw_values(axes, self.values, len(self.ranks))
            axes.legend(loc="lower right", frameon=True, framealpha=1, edgecolor="white")
            axes.set_title(f"Hilbert function of the\n{title}", fontsize=12)
            figure.tight_layout()
            return figure


@computation
def hilbert_function(
    case: Case | Closure | Ideal, degree: int = 8, **options: Unpack[RunOptions]
) -> HilbertFunction:
    """Compute the Hilbert function of the Zariski closure up to a degree, and its polynomial.

    Parameters
    ----------
    case : a model, a PolynomialMap, a mapping ``{"x": expression}``, a Closure or an Ideal
        Of an ideal, whose generators have to be homogeneous, the Hilbert function of the quotient
        ring is computed.
    degree : int
        The last degree.
    engine : Engine, optional
        A Macaulay2 to use; without one, the Macaulay2 of the ``with`` block around it, else one
        that the process shares.
    timeout : float, optional
        Seconds for the whole computation.

    Raises
    ------
    InvalidCaseError
        If the degree is negative, or too large for a picture.
    MethodUnavailableError
        If the closure is not a cone, its ideal is not proved complete, or a generator of a given
        ideal is not homogeneous.
    TimeLimitError
        If the ideal is not proved complete since a limit was reached.
    ContradictionError
        If ranks of matrices and the Hilbert series of the ideal disagree.

    Examples
    --------
    >>> with Macaulay2() as engine:
    ...     hilbert_function(SingleLayerAttention(d=2, d_out=1)).polynomial
    n**4/6 + 2*n**3/3 + 11*n**2/6 + 7*n/3 + 1
    >>> hilbert_function(ideal("x^2", "x*y"), degree=4).values
    (1, 2, 1, 1, 1)
    """
    check_kind("degree", degree, int, "an integer")
    if not 0 <= degree <= MAX_SHOWN_HILBERT_VALUES:
        raise InvalidCaseError(
            "degree", f"must be from 0 to {MAX_SHOWN_HILBERT_VALUES}, not {degree}"
        )
    if isinstance(case, Ideal):
        if not all(map(is_homogeneous, case.generators)):
            raise MethodUnavailableError(
                "the ideal is not homogeneous as given, so that its quotient ring is not graded:"
                " hilbert_series() has the series of the forms of highest degree"
            )
        of_quotient = case.hilbert_series()
        return HilbertFunction(
            model=IdealModel(case, title="quotient ring by an ideal"),
            series=of_quotient,
            values=tuple(map(of_quotient.value, check_deadline_in(range(degree + 1)))),
            ranks=(),
            engine_version=current().version,
            seconds=clock().seconds,
            field=case.ring.field,
        )
    result = case if isinstance(case, Closure) else closure(case)
    series = result.hilbert_series
    if series is None:
        raise result.incomplete()
    if not result.homogeneous:
        raise MethodUnavailableError(
            "the closure is not a cone, so that its coordinate ring is not graded"
        )
    values = tuple(map(series.value, check_deadline_in(range(degree + 1))))
    # where the closure was computed by ranks of evaluation matrices, they are a second method
    ranks = (result.hilbert_function or ())[: degree + 1]
    by_ideal = values[: len(ranks)]
    if by_ideal != ranks:
        raise ContradictionError(
            f"ranks give the Hilbert function {ranks}, and the ideal {by_ideal}"
        )
    return HilbertFunction(
        model=result.model,
        series=series,
        values=values,
        ranks=ranks,
        engine_version=result.engine_version,
        seconds=clock().seconds,
        field=result.field,
    )


def _draw_polynomial(axes: Any, polynomial: Expr, count: int) -> None:
    """Draw the Hilbert polynomial from 0 to count − 1 as a curve, where it is positive and so has a
    place on a logarithmic scale.
    """
    value_at = lambdify(n, polynomial)
    places, values = [], []
    for k in range(CURVE_POINTS_PER_DEGREE * (count - 1) + 1):
        x = k / CURVE_POINTS_PER_DEGREE
        value = float(value_at(x))
        if value > 0:
            places.append(x)
            values.append(value)
    if not places:
        return
    formula = latex(polynomial)
    label = f"Hilbert polynomial ${formula}$"
    if len(formula) >= 60:  # too long for the legend
        label = f"Hilbert polynomial, degree {degree(polynomial, n)}"
    style = {"color": VERMILION, "linewidth": 1.3, "linestyle": (0, (5, 3)), "zorder": 1}
    axes.plot(places, values, label=label, **style)


def _draw_values(axes: Any, values: Sequence[int], by_ranks: int) -> None:
    """Draw a point for each value H(0), H(1), …; the first ones, ``by_ranks`` in number, which
    ranks of matrices give too, are filled.
    """
    # zero has no place on a logarithmic scale
    points = [(k, value) for k, value in enumerate(values) if value > 0]
    by_both = [(k, value) for k, value in points if k < by_ranks]
    by_ideal = [(k, value) for k, value in points if k >= by_ranks]
    for points_of_one_kind, face, label in (
        (by_both, BLUE, "by ranks and by the ideal"),
        (by_ideal, "white", "by the ideal"),
    ):
        if points_of_one_kind:
            degrees, heights = zip(*points_of_one_kind, strict=True)
            style = {"color": BLUE, "markerfacecolor": face, "zorder": 3}
            axes.plot(degrees, heights, "o", label=f"H(n), {label}", **style)
    if len(points) <= 12:  # more labels would overlap
        style = {"textcoords": "offset points", "xytext": (-5, 6), "ha": "right"}
        for k, value in points:
            axes.annotate(str(value), (k, value), fontsize=9.5, color=SOFT, **style)

"""The Hilbert function of a closure, beside its Hilbert polynomial."""

from __future__ import annotations

import csv as csv_files
import io
from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import Expr, lambdify, latex

from m2bridge.algebra.hilbert_series import HilbertSeries, n
from m2bridge.convert.notation import expression_text
from m2bridge.engine import Engine, engine_or_own
from m2bridge.errors import ContradictionError, InvalidCaseError, MethodUnavailableError, TimeLimitError
from m2bridge.limits import limited, watched
from m2bridge.maps.closure import closure
from m2bridge.maps.closure_result import Closure
from m2bridge.maps.map_model import Case, Subject
from m2bridge.results.base import Presented, computed_by, result_json
from m2bridge.results.picture import BLUE, FAINT, SOFT, VERMILION, Drawn, new_figure, styled
from m2bridge.results.sheet import Facts, Formula, Picture, Sheet, Table

MOST_DEGREES = 1000


@dataclass(frozen=True, slots=True)
class HilbertFunction(Drawn, Presented):
    """H(0), …, H(N) for the coordinate ring of a cone.

    Parameters
    ----------
    subject : Subject
    series : HilbertSeries
        Of the ideal, which is proved complete.
    values : tuple of int
        H(0), …, H(N) by the series.
    ranks : tuple of int
        The first values by ranks of matrices, where they were computed: a second method.
    engine_version : str
    seconds : float
    unfinished : str
        Always empty: a limit is an error here.

    Examples
    --------
    >>> found = hilbert_function(SingleLayerAttention(d=2, d_out=1), degree=6)
    >>> found.values, found.ranks, found.polynomial_from
    ((1, 6, 21, 56, 125, 246, 441), (1, 6, 21, 56, 125), -1)
    """

    presentation: ClassVar[str] = "m2bridge.maps.hilbert_function"
    picture: ClassVar[str] = "m2bridge.maps.hilbert_function"

    subject: Subject
    series: HilbertSeries
    values: tuple[int, ...]
    ranks: tuple[int, ...]
    engine_version: str
    seconds: float
    unfinished: str = ""

    @property
    def polynomial(self) -> Expr:
        """The Hilbert polynomial in n."""
        return self.series.polynomial

    @property
    def polynomial_from(self) -> int:
        """The least number from which on function and polynomial agree; H(n) is 0 for negative n.

        For a series h(T) / (1 − T)^D it is deg h − D + 1. Source: Bruns, Herzog, *Cohen–Macaulay Rings*, 4.1.12.
        """
        return len(self.series.numerator) - self.series.dimension

    def polynomial_at(self, degree: int) -> int:
        """The value of the polynomial."""
        return int(self.polynomial.subs(n, degree))

    def to_csv(self) -> str:
        """Degree, function and polynomial."""
        return str(self._shown("csv"))


def hilbert_function(
    case: Case | Closure, engine: Engine | None = None, timeout: float | None = None, *, degree: int = 8
) -> HilbertFunction:
    """Compute the Hilbert function of the Zariski closure up to a degree, and its polynomial.

    Parameters
    ----------
    case : a model, a PolynomialMap or a Closure
    engine : Engine, optional
        A Macaulay2 of its own is started, and ended, where none is given.
    timeout : float, optional
        Seconds for the whole computation.
    degree : int
        The last degree.

    Raises
    ------
    InvalidCaseError
        If the degree is negative, or too large for a picture.
    MethodUnavailableError
        If the closure is no cone, or its ideal is not proved complete within the limits.
    ContradictionError
        If ranks of matrices and the Hilbert series of the ideal disagree.

    Examples
    --------
    >>> with Macaulay2() as engine:
    ...     hilbert_function(SingleLayerAttention(d=2, d_out=1), engine).polynomial
    n**4/6 + 2*n**3/3 + 11*n**2/6 + 7*n/3 + 1
    """
    if not 0 <= degree <= MOST_DEGREES:
        raise InvalidCaseError("degree", f"must be from 0 to {MOST_DEGREES}, not {degree}")
    with limited(timeout) as running, engine_or_own(engine) as engine:
        found = case if isinstance(case, Closure) else closure(case, engine)
        if found.hilbert_series is None:
            if found.unfinished:
                late = TimeLimitError(f"the ideal is not proved complete; {found.unfinished}")
                late.progress = f"the closure has dimension {found.dimension}"
                raise late
            raise MethodUnavailableError("the ideal is not proved complete")
        if not found.homogeneous:
            raise MethodUnavailableError("the closure is not a cone, so that its coordinate ring is not graded")
        series = found.hilbert_series
        values = tuple(series.value(k) for k in watched(range(degree + 1)))
        ranks = (found.hilbert_function or ())[: degree + 1]
        if values[: len(ranks)] != ranks:
            raise ContradictionError(f"ranks give the Hilbert function {ranks}, and the ideal {values[: len(ranks)]}")
        return HilbertFunction(found.subject, series, values, ranks, found.engine_version, running.seconds)


HEADER = ("n", "H(n)", "P(n)", "by ranks")


def sheet(found: HilbertFunction) -> Sheet:
    """A table of both, and the polynomial."""
    known = [
        ("Hilbert series", expression_text(found.series.expression)),
        ("Hilbert polynomial P", Formula(expression_text(found.polynomial), latex(found.polynomial))),
        ("H(n) = P(n)", f"for all n ≥ {found.polynomial_from}" if found.polynomial_from > 0 else "for all n ≥ 0"),
        ("computed by", computed_by(found.engine_version, found.seconds)),
    ]
    rows = [["–" if cell is None else cell for cell in row] for row in _rows(found)]
    return Sheet(
        f"Hilbert function of the {found.subject.title}",
        [Facts(known), Table(HEADER, rows), Picture(found.page_svg)],
        [f"P(n) = {latex(found.polynomial)}"],
    )


def json(found: HilbertFunction) -> dict[str, Any]:
    """Values, polynomial and series."""
    return result_json(found.subject.case, "QQ", found.engine_version or None, found.seconds) | {
        "hilbert_function": list(found.values),
        "by_ranks": list(found.ranks),
        "hilbert_polynomial": str(found.polynomial),
        "hilbert_series": {"numerator": list(found.series.numerator), "denominator_exponent": found.series.dimension},
        "polynomial_from": max(found.polynomial_from, 0),
        "unfinished": None,
    }


def macaulay2(found: HilbertFunction) -> str:
    """A list of values."""
    return f"hilbertFunctionValues = {{{', '.join(map(str, found.values))}}}"


def csv(found: HilbertFunction) -> str:
    """One line for each degree."""
    page = io.StringIO()
    writer = csv_files.writer(page, lineterminator="\n")
    writer.writerow(("n", "hilbert_function", "hilbert_polynomial", "by_ranks"))
    writer.writerows(_rows(found))
    return page.getvalue()


def _rows(found: HilbertFunction) -> list[tuple[int | None, ...]]:
    ranks = (*found.ranks, *(None,) * (len(found.values) - len(found.ranks)))
    return [
        (n, value, found.polynomial_at(n), rank)
        for n, (value, rank) in enumerate(zip(found.values, ranks, strict=True))
    ]


MOST_LABELS = 12
LONGEST = 60
"""Characters of a formula in the legend."""
PARTS = 20


def draw(found: HilbertFunction) -> Any:
    """A figure of matplotlib."""
    with styled():
        figure = new_figure(6.8, 4.8, f"Hilbert function of the {found.subject.title}")
        axes = figure.subplots()
        axes.set_yscale("log")
        axes.grid(color=FAINT, linewidth=0.7)
        axes.set_axisbelow(True)
        axes.set_xlabel("degree n", style="italic")
        axes.set_ylabel("dimension of the graded piece", style="italic")
        _polynomial(axes, found)
        _values(axes, found)
        axes.legend(loc="lower right", frameon=True, framealpha=1, edgecolor="white")
        axes.set_title(f"Hilbert function of the\n{found.subject.title}", fontsize=12)
        figure.tight_layout()
        return figure


def _polynomial(axes: Any, found: HilbertFunction) -> None:
    """Where it is positive, between integers too."""
    value = lambdify(n, found.polynomial)
    places = [k / PARTS for k in range(PARTS * (len(found.values) - 1) + 1)]
    known = [(x, y) for x in places if (y := float(value(x))) > 0]
    formula = latex(found.polynomial)
    shown = f" ${formula}$" if len(formula) < LONGEST else f", degree {found.series.dimension - 1}"
    if known:
        style = {"color": VERMILION, "linewidth": 1.3, "linestyle": (0, (5, 3)), "zorder": 1}
        axes.plot(*zip(*known, strict=True), label=f"Hilbert polynomial{shown}", **style)


def _values(axes: Any, found: HilbertFunction) -> None:
    """Filled where two methods agree: ranks of matrices, and the series of the ideal."""
    points = [(k, value) for k, value in enumerate(found.values) if value > 0]
    for filled, label in ((True, "H(n), by ranks and by the ideal"), (False, "H(n), by the ideal")):
        chosen = [point for point in points if (point[0] < len(found.ranks)) == filled]
        if chosen:
            face = BLUE if filled else "white"
            axes.plot(*zip(*chosen, strict=True), "o", color=BLUE, markerfacecolor=face, label=label, zorder=3)
    for point in points if len(points) <= MOST_LABELS else ():
        style = {"textcoords": "offset points", "xytext": (-5, 6), "ha": "right", "fontsize": 9.5, "color": SOFT}
        axes.annotate(str(point[1]), point, **style)

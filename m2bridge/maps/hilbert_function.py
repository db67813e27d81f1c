"""The Hilbert function of a closure, beside its Hilbert polynomial."""

from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from sympy import Expr, latex

from m2bridge.algebra.hilbert_series import HilbertSeries, n
from m2bridge.convert.notation import expression_text
from m2bridge.engine import Engine, engine_or_own
from m2bridge.errors import ContradictionError, InvalidCaseError, MethodUnavailableError
from m2bridge.limits import limited, watched
from m2bridge.maps.closure import closure
from m2bridge.maps.closure_result import Closure
from m2bridge.maps.map_model import Case
from m2bridge.maps.model import Model
from m2bridge.pictures.hilbert_function import draw_hilbert_function
from m2bridge.results.base import computed_by, result_json
from m2bridge.results.picture import PictureResult, csv_text
from m2bridge.results.sheet import Facts, Formula, Picture, Sheet, Table

MOST_DEGREES = 1000


@dataclass(frozen=True, slots=True)
class HilbertFunction(PictureResult):
    """H(0), …, H(N) for the coordinate ring of a cone.

    Parameters
    ----------
    model : Model
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

    def to_sheet(self) -> Sheet:
        """A table of both, and the polynomial."""
        facts = [
            ("Hilbert series", expression_text(self.series.expression)),
            ("Hilbert polynomial P", Formula(expression_text(self.polynomial), latex(self.polynomial))),
            ("H(n) = P(n)", f"for all n ≥ {self.polynomial_from}" if self.polynomial_from > 0 else "for all n ≥ 0"),
            ("computed by", computed_by(self.engine_version, self.seconds)),
        ]
        rows = [["–" if cell is None else cell for cell in row] for row in _rows(self)]
        return Sheet(
            f"Hilbert function of the {self.model.title}",
            [Facts(facts), Table(HEADER, rows), Picture(self.page_svg)],
            [f"P(n) = {latex(self.polynomial)}"],
        )

    def to_json(self) -> dict[str, Any]:
        """Values, polynomial and series."""
        return result_json(self.model.case, "QQ", self.engine_version or None, self.seconds) | {
            "hilbert_function": list(self.values),
            "by_ranks": list(self.ranks),
            "hilbert_polynomial": str(self.polynomial),
            "hilbert_series": self.series.to_json(),
            "polynomial_from": max(self.polynomial_from, 0),
            "unfinished": None,
        }

    def to_macaulay2(self) -> str:
        """A list of values."""
        return f"hilbertFunctionValues = {{{', '.join(map(str, self.values))}}}"

    def to_csv(self) -> str:
        """One line for each degree."""
        return csv_text(("n", "hilbert_function", "hilbert_polynomial", "by_ranks"), _rows(self))

    def figure(self) -> Any:
        """The values and the polynomial on a logarithmic scale, as a ``matplotlib.figure.Figure``."""
        return draw_hilbert_function(self.model.title, self.values, len(self.ranks), self.polynomial)


def hilbert_function(
    case: Case | Closure, *, engine: Engine | None = None, timeout: float | None = None, degree: int = 8
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
    ...     hilbert_function(SingleLayerAttention(d=2, d_out=1), engine=engine).polynomial
    n**4/6 + 2*n**3/3 + 11*n**2/6 + 7*n/3 + 1
    """
    if not 0 <= degree <= MOST_DEGREES:
        raise InvalidCaseError("degree", f"must be from 0 to {MOST_DEGREES}, not {degree}")
    with limited(timeout) as running, engine_or_own(engine) as engine:
        result = case if isinstance(case, Closure) else closure(case, engine=engine)
        if result.hilbert_series is None:
            raise result.incomplete()
        if not result.homogeneous:
            raise MethodUnavailableError("the closure is not a cone, so that its coordinate ring is not graded")
        series = result.hilbert_series
        values = tuple(series.value(k) for k in watched(range(degree + 1)))
        ranks = (result.hilbert_function or ())[: degree + 1]
        if values[: len(ranks)] != ranks:
            raise ContradictionError(f"ranks give the Hilbert function {ranks}, and the ideal {values[: len(ranks)]}")
        return HilbertFunction(result.model, series, values, ranks, result.engine_version, running.seconds)


HEADER = ("n", "H(n)", "P(n)", "by ranks")


def _rows(result: HilbertFunction) -> list[tuple[int | None, ...]]:
    pairs = enumerate(zip_longest(result.values, result.ranks))
    return [(n, value, result.polynomial_at(n), rank) for n, (value, rank) in pairs]

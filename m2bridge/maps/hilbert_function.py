"""The Hilbert function of a closure, beside its Hilbert polynomial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sympy import Expr

from m2bridge.algebra.hilbert_series import HilbertSeries, n
from m2bridge.clock import limited, watched
from m2bridge.drawn import Drawn
from m2bridge.engine import Engine, given_or_own
from m2bridge.errors import ContradictionError, EngineTimeoutError, InvalidCaseError, MethodUnavailableError
from m2bridge.maps.closure import closure
from m2bridge.maps.closure_result import Closure
from m2bridge.maps.subject import Case, Subject
from m2bridge.presented import Presented

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

    presentation: ClassVar[str] = "m2bridge.presentation.hilbert_function"
    picture: ClassVar[str] = "m2bridge.presentation.hilbert_picture"

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
    with limited(timeout) as running, given_or_own(engine) as engine:
        found = case if isinstance(case, Closure) else closure(case, engine)
        if found.hilbert_series is None:
            if found.unfinished:
                late = EngineTimeoutError(f"the ideal is not proved complete; {found.unfinished}")
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

"""The dimension of the Zariski closure of the image of a polynomial map, by independent methods.

Ranks of the differential, elimination and formulas know nothing of each other. What they prove is
compared with each other; the prediction of a formula is only shown.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Unpack

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.engine import RunOptions, computation, current
from m2bridge.errors import (
    EngineNotFoundError,
    InvalidCaseError,
    MemoryLimitError,
    TimeLimitError,
    check_choice,
)
from m2bridge.limits import clock, share
from m2bridge.maps.closure import closure
from m2bridge.maps.jacobian_rank import best_upper_bound, best_value, jacobian_findings
from m2bridge.maps.model import Expectation, MethodValue, Model, Status
from m2bridge.maps.polynomial_map_model import Case, as_model
from m2bridge.results.base import Result, result_json
from m2bridge.results.known import UNKNOWN, Bounds, agree, intersect_bounds
from m2bridge.results.sheet import Facts, Sheet, Table, computed_by, value_text

MAX_ELIMINATION_SECONDS = 30.0
"""The time for elimination as one of all methods if no limit is given; it could take days."""

MAX_SHORT_ELIMINATION_SECONDS = 5.0
"""The time for elimination where ``auto`` has only a lower bound in characteristic p."""
MAX_SHORT_ELIMINATION_COORDINATES = 20
"""The number of coordinates up to which ``auto`` tries it."""

HOW_TO_PROVE = (
    "--method all (in Python method='all') also eliminates, which proves the dimension if it ends"
)

DimensionMethod = Literal["auto", "elimination", "jacobian", "formula", "all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension(Result):
    """The affine dimension of the closure of the image, with what each method found.

    Examples
    --------
    >>> from sympy import symbols
    >>> a, b, c, d = symbols("a b c d")
    >>> products = {"x": a * c, "y": a * d, "z": b * c, "w": b * d}
    >>> rank_one = PolynomialMap.from_expressions([a, b, c, d], products)
    >>> result = dimension(rank_one)
    >>> result.agree, result.findings[0].method
    (True, 'jacobian mod 2147483647')
    """

    model: Model
    field: CoefficientField
    findings: tuple[MethodValue, ...]
    engine_version: str | None
    seconds: float
    upper: Bounds = UNKNOWN
    expected: tuple[Expectation, ...] = ()

    @property
    def dimension(self) -> int | None:
        """The proved value; failing that the best lower bound; failing that the formula."""
        best = best_value(self.findings)
        return None if best is None else best.value

    @property
    def status(self) -> Status:
        """The status of :attr:`dimension`: proved, a lower bound, or a formula's value."""
        best = best_value(self.findings)
        return "unfinished" if best is None else best.status

    @property
    def agree(self) -> bool:
        """Whether the values of all methods are equal, or lower bounds of the common value."""
        known = [finding.known for finding in self.findings]
        return not all(one.is_open for one in known) and agree(*known)

    @property
    def lower(self) -> MethodValue | None:
        """The first method with the largest proved lower bound."""
        bounds = [f for f in self.findings if f.status in ("proved", "lower bound")]
        return max(bounds, key=lambda finding: finding.known.least, default=None)

    @property
    def defect(self) -> int | None:
        """The excess of the first expectation whose stated hypotheses hold over the dimension, if
        it is proved.
        """
        expected = _applying(self.expected)
        if expected is None or self.status != "proved" or self.dimension is None:
            return None
        assert expected.value is not None
        return expected.value - self.dimension

    @property
    def unfinished(self) -> str:
        """The limit that a method reached, or empty."""
        for finding in self.findings:
            if finding.status == "unfinished":
                return finding.remark
        return ""

    def to_sheet(self) -> Sheet:
        """The value, and a table of the methods."""
        rows = [(f.method, value_text(f.value), f.status, f.remark) for f in self.findings]
        header = ("method", "dimension", "status", "remark")
        return Sheet(
            f"Dimension of the {self.model.title}, over {self.field}",
            [Facts(_facts(self)), Table(header, rows)],
            _formulas(self),
        )

    def to_json(self) -> dict[str, Any]:
        """The value, and what each method found."""
        upper: dict[str, Any] | None = None
        if not self.upper.is_open:
            upper = {"value": self.upper.value, "reason": self.upper.because}
        lower = self.lower
        return result_json(self.model.case, self.field, self.engine_version, self.seconds) | {
            "dimension": self.dimension,
            "status": self.status,
            "upper_bound": upper,
            "lower_bound": lower and {"value": lower.value, "method": lower.method},
            "expected": [expectation.to_json() for expectation in self.expected],
            "defect": self.defect,
            "methods": [finding.to_json() for finding in self.findings],
            "agree": self.agree,
            "unfinished": self.unfinished or None,
        }

    def to_macaulay2(self) -> str:
        """The value, as a Macaulay2 assignment."""
        return f"dimension = {'null' if self.dimension is None else self.dimension}"


def _facts(result: Dimension) -> list[tuple[str, object]]:
    """Return names and values for the summary: the dimension and the methods that prove it."""
    value = "not known" if result.dimension is None else f"{result.dimension} affine"
    facts: list[tuple[str, object]] = [("dimension", f"{value} ({result.status})")]
    eliminates = any(finding.method == "elimination" for finding in result.findings)
    if result.status == "lower bound" and not eliminates:
        facts.append(("to prove it", HOW_TO_PROVE))
    facts.append(("", _verdict(result)))
    if not result.upper.is_open:
        facts.append(("at most", f"{result.upper.value}: {result.upper.because}"))
    name = "expected"
    for expectation in result.expected:
        if expectation.value is not None:
            text = f"{expectation.value} by {expectation.statement}"
            if expectation.why_not:
                text += f", which does not apply: {expectation.why_not}"
            facts.append((name, text))
            name = ""  # one heading for all of them
    facts.append(("computed by", computed_by(result.engine_version, result.seconds)))
    return facts


def _formulas(result: Dimension) -> list[str]:
    """The dimension, or a lower bound, in LaTeX."""
    best = best_value(result.findings)
    if best is None or best.value is None:
        return []
    return [r"\dim \overline{\mathcal M} " + best.known.relation(at_least=r"\ge")]


def _verdict(result: Dimension) -> str | None:
    """Whether the methods agree, where several gave a value.

    A method that did not finish agrees with nothing.
    """
    values = [finding.value for finding in result.findings if finding.value is not None]
    if len(values) < 2:
        return None
    if not result.agree:
        return "the methods do NOT agree"
    late = [finding.method for finding in result.findings if finding.status == "unfinished"]
    agreement = "no lower bound exceeds what the other methods say"
    if len(set(values)) == 1:
        agreement = "the methods that finished agree" if late else "all methods agree"
    return f"{agreement}; not finished: {', '.join(late)}" if late else agreement


@computation
def dimension(
    case: Case,
    *,
    field: CoefficientField = QQ,
    coordinates: str | None = None,
    method: DimensionMethod = "auto",
    **options: Unpack[RunOptions],
) -> Dimension:
    """Compute the affine dimension.

    Parameters
    ----------
    engine : Engine, optional
        A Macaulay2 to use; without one, that of the ``with`` block around it, else one that the
        process shares.
    method : {"auto", "elimination", "jacobian", "formula", "all"}
        ``auto`` is ``jacobian``: the exact rank of the differential at random points, a lower
        bound, which is proved to be the dimension where it attains an upper bound; where the
        parameters satisfy relations, it is ``elimination``. Over GF(p), where the map may be
        inseparable and the rank smaller at every point, elimination has 5 seconds in addition, or
        half of the time, if there are at most 20 coordinates. Elimination as one of ``all`` ends
        after 30 seconds where there is no limit; alone it has the time that it takes.

    Raises
    ------
    InvalidCaseError
        If the method is unknown, or no parameters satisfy the relations.
    EngineNotFoundError
        If Macaulay2 is needed, but none is given and none is installed.
    ContradictionError
        If a proved lower bound exceeds a proved value.

    Examples
    --------
    >>> from sympy import symbols
    >>> a, b, c, d = symbols("a b c d")
    >>> products = {"x": a * c, "y": a * d, "z": b * c, "w": b * d}
    >>> rank_one = PolynomialMap.from_expressions([a, b, c, d], products)
    >>> result = dimension(rank_one)
    >>> result.dimension, result.status
    (3, 'proved')
    """
    check_choice("method", method, DimensionMethod)
    eliminates = method in ("elimination", "all")
    model = as_model(case, coordinates)
    findings: list[MethodValue] = []
    version = None
    if method in ("auto", "jacobian", "all"):
        with share(0.5 if eliminates else 1.0):
            findings += jacobian_findings(model, field=field)
    if method == "auto" and all(finding.status == "not applicable" for finding in findings):
        # No points are at hand for a rank where the parameters satisfy relations.
        eliminates = True
    if method in ("formula", "all"):
        findings.append(_by_formula(model))
    if method == "auto" and field != QQ and not eliminates:
        short = _by_short_elimination(case, model, field, coordinates, findings)
        if short is not None:
            findings.append(short)
            version = current().version
    if eliminates:
        most = MAX_ELIMINATION_SECONDS if method == "all" else None
        with share(1.0, otherwise=most):
            needed = method != "all"
            findings.append(_by_elimination(case, field, coordinates, needed=needed))
            version = current().version
    # Proved values must agree; a formula may be wrong, and then the difference is shown.
    intersect_bounds(*(finding.known for finding in findings if not finding.instead))
    return Dimension(
        model=model,
        field=field,
        findings=tuple(findings),
        engine_version=version,
        seconds=clock().seconds,
        upper=best_upper_bound(model, field=field),
        expected=_compared(model.expectations(), best_value(findings), field),
    )


def _compared(
    expected: tuple[Expectation, ...], best: MethodValue | None, field: CoefficientField
) -> tuple[Expectation, ...]:
    """Return the expectations, compared with the dimension if it is proved."""
    if best is None or best.value is None or best.status != "proved":
        return expected
    if field != QQ:
        expected = tuple(replace(e, assumes="is about characteristic zero") for e in expected)
    return tuple(expectation.against(best.value) for expectation in expected)


def _applying(expected: Iterable[Expectation]) -> Expectation | None:
    """The first formula whose hypotheses hold."""
    for expectation in expected:
        if expectation.value is not None and not expectation.fails:
            return expectation
    return None


def _by_formula(model: Model) -> MethodValue:
    """The value of the first formula whose hypotheses hold."""
    expected = model.expectations()
    applying = _applying(expected)
    if applying is not None:
        value = Bounds.exactly(applying.value, applying.statement)
        return MethodValue("formula", value, "formula")
    remark = expected[0].fails if expected else "no formula is known for this case"
    return MethodValue("formula", Bounds(because=remark), "not applicable")


def _by_short_elimination(
    case: Case,
    model: Model,
    field: CoefficientField,
    coordinates: str | None,
    findings: Sequence[MethodValue],
) -> MethodValue | None:
    """The dimension by elimination, if ranks give a lower bound only and it ends in a short time.

    ``None`` where it does not, and where there is no Macaulay2, which ``auto`` does not need.
    """
    best = best_value(findings)
    if best is None or best.status != "lower bound":
        return None
    if model.coordinate_count > MAX_SHORT_ELIMINATION_COORDINATES:
        return None
    try:
        with share(0.5, otherwise=MAX_SHORT_ELIMINATION_SECONDS):
            found = _by_elimination(case, field, coordinates, needed=False)
    except EngineNotFoundError:
        return None
    return found if found.status == "proved" else None


def _by_elimination(
    case: Case, field: CoefficientField, coordinates: str | None, *, needed: bool
) -> MethodValue:
    """The dimension by elimination.

    Unless it is needed, a case that is too large for it is left to other methods.
    """
    try:
        result = closure(case, field=field, coordinates=coordinates, strategy="elimination")
    except InvalidCaseError as reason:
        if needed:
            raise
        return MethodValue("elimination", Bounds(because=str(reason)), "not applicable")
    except (TimeLimitError, MemoryLimitError) as limit:
        return MethodValue("elimination", Bounds(because=str(limit)))
    if result.ideal is None or result.dimension is None:
        return MethodValue("elimination", Bounds(because=result.unfinished))
    remark = "Krull dimension of the elimination ideal, by Macaulay2"
    return MethodValue("elimination", Bounds.exactly(result.dimension, remark))

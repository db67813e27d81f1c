"""The dimension of the Zariski closure of the image of a polynomial map, by independent methods."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Literal, Unpack, get_args

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.engine import RunOptions, computation, current
from m2bridge.errors import ContradictionError, InvalidCaseError, TimeLimitError, check_choice
from m2bridge.limits import clock, share
from m2bridge.maps.closure import closure
from m2bridge.maps.map_model import Case, as_model
from m2bridge.maps.model import Expectation, Model, UpperBound
from m2bridge.maps.rank import MethodValue, Status, best_upper_bound, jacobian_findings
from m2bridge.results.base import Result, result_json
from m2bridge.results.sheet import Facts, Sheet, Table, computed_by

ELIMINATION_SECONDS = 30.0
"""For elimination as one method among all, where the user set no limit: it may take days."""

Method = Literal["auto", "elimination", "jacobian", "formula", "all"]


@dataclass(frozen=True, slots=True)
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
    upper: UpperBound | None = None
    expected: tuple[Expectation, ...] = ()

    @property
    def dimension(self) -> int | None:
        """The proved value; failing that the best lower bound; failing that the formula."""
        return max(
            (f.value for f in self.findings if f.status == self.status and f.value is not None),
            default=None,
        )

    @property
    def status(self) -> Status:
        """The status of :attr:`dimension`: proved, a lower bound, or a formula's value."""
        statuses = {finding.status for finding in self.findings}
        return next((status for status in get_args(Status) if status in statuses), "unfinished")

    @property
    def agree(self) -> bool:
        """Whether all methods that gave a value gave the same, or a lower bound for it."""
        return any(f.value is not None for f in self.findings) and _consistent(self.findings)

    @property
    def lower(self) -> MethodValue | None:
        """The method with the largest proved lower bound, the first of those that have it."""
        bounds = [
            f
            for f in self.findings
            if f.status in ("proved", "lower bound") and f.value is not None
        ]
        return max(bounds, key=lambda finding: finding.value or 0, default=None)

    @property
    def defect(self) -> int | None:
        """The excess of the first expectation whose hypotheses hold over the dimension, if that is
        proved.
        """
        values = [e.value for e in self.expected if e.value is not None and not e.fails]
        if not values or self.status != "proved" or self.dimension is None:
            return None
        return values[0] - self.dimension

    @property
    def unfinished(self) -> str:
        """The limit that a method reached, or empty."""
        return next(
            (finding.remark for finding in self.findings if finding.status == "unfinished"), ""
        )

    def to_sheet(self) -> Sheet:
        """The value, and a table of the methods."""
        rows = [
            (f.method, "–" if f.value is None else f.value, f.status, f.remark)
            for f in self.findings
        ]
        eliminates = any(finding.method == "elimination" for finding in self.findings)
        proof = (
            "--method all (in Python method='all') eliminates besides, which proves the dimension"
            " if it ends"
        )
        expected = [
            f"{e.value} by {e.statement}" + (e.fails and f", which does not apply: {e.fails}")
            for e in self.expected
            if e.value is not None
        ]
        facts = [
            ("dimension", f"{self.dimension} affine ({self.status})"),
            ("to prove it", proof if self.status == "lower bound" and not eliminates else None),
            ("", _verdict(self)),
            ("at most", self.upper and f"{self.upper.value}: {self.upper.reason}"),
            *(("" if number else "expected", text) for number, text in enumerate(expected)),
            ("computed by", computed_by(self.engine_version, self.seconds)),
        ]
        relation = r"\ge" if self.status == "lower bound" else "="
        return Sheet(
            f"Dimension of the {self.model.title}, over {self.field}",
            [Facts(facts), Table(("method", "dimension", "status", "remark"), rows)],
            (
                []
                if self.dimension is None
                else [rf"\dim \overline{{\mathcal M}} {relation} {self.dimension}"]
            ),
        )

    def to_json(self) -> dict[str, Any]:
        """The value, and what each method found."""
        return result_json(self.model.case, self.field, self.engine_version, self.seconds) | {
            "dimension": self.dimension,
            "status": self.status,
            "upper_bound": self.upper and {"value": self.upper.value, "reason": self.upper.reason},
            "lower_bound": self.lower and {"value": self.lower.value, "method": self.lower.method},
            "expected": [expectation.to_json() for expectation in self.expected],
            "defect": self.defect,
            "methods": [finding.to_json() for finding in self.findings],
            "agree": self.agree,
            "unfinished": self.unfinished or None,
        }

    def to_macaulay2(self) -> str:
        """The value, as a Macaulay2 assignment."""
        return f"dimension = {'null' if self.dimension is None else self.dimension}"


@computation
def dimension(
    case: Case,
    *,
    field: CoefficientField = QQ,
    coordinates: str | None = None,
    method: Method = "auto",
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
        bound, which is proved to be the dimension where it attains an upper bound. Elimination as
        one of ``all`` ends after 30 seconds where there is no limit; alone it has the time that it
        takes.

    Raises
    ------
    InvalidCaseError
        If the method is unknown.
    EngineNotFoundError
        If Macaulay2 is needed, none is given, and there is none here.
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
    check_choice("method", method, Method)
    eliminates = method in ("elimination", "all")
    model = as_model(case, coordinates)
    findings: list[MethodValue] = []
    version = None
    if method in ("auto", "jacobian", "all"):
        with share(0.5 if eliminates else 1.0):
            findings += jacobian_findings(model, field=field)
    if method in ("formula", "all"):
        findings.append(_by_formula(model))
    if eliminates:
        most = ELIMINATION_SECONDS if method == "all" else None
        with share(1.0, otherwise=most):
            findings.append(
                _by_elimination(case, field, coordinates, needed=method == "elimination")
            )
            version = current().version
    if not _consistent([f for f in findings if f.status in ("proved", "lower bound")]):
        raise ContradictionError(f"exact methods disagree on the dimension: {findings}")
    upper = best_upper_bound(model, field=field)
    return Dimension(
        model, field, tuple(findings), version, clock().seconds, upper, model.expectations()
    )


def _by_formula(model: Model) -> MethodValue:
    """The value of the first formula whose hypotheses hold."""
    expected = model.expectations()
    if holding := [e for e in expected if e.value is not None and not e.fails]:
        return MethodValue("formula", holding[0].value, "formula", holding[0].statement)
    remark = expected[0].fails if expected else "no formula is known for this case"
    return MethodValue("formula", None, "not applicable", remark)


def _by_elimination(
    case: Case, field: CoefficientField, coordinates: str | None, *, needed: bool
) -> MethodValue:
    """The dimension by elimination; unless it is needed, a case that is too large for it is left to
    other methods.
    """
    try:
        result = closure(case, field=field, coordinates=coordinates, strategy="elimination")
    except InvalidCaseError as reason:
        if needed:
            raise
        return MethodValue("elimination", None, "not applicable", str(reason))
    except TimeLimitError as limit:
        return MethodValue("elimination", None, "unfinished", str(limit))
    if result.ideal is None or result.dimension is None:
        return MethodValue("elimination", None, "unfinished", result.unfinished)
    return MethodValue(
        "elimination",
        result.dimension,
        "proved",
        "Krull dimension of the elimination ideal, by Macaulay2",
    )


def _consistent(findings: Sequence[MethodValue]) -> bool:
    """Whether all methods that gave a value gave the same, or a lower bound for it."""
    values = {f.value for f in findings if f.value is not None and f.status != "lower bound"}
    bounds = (f.value for f in findings if f.value is not None and f.status == "lower bound")
    return len(values) <= 1 and max(bounds, default=0) <= min(values, default=inf)


def _verdict(result: Dimension) -> str | None:
    """Whether the methods agree, where several gave a value; one that did not finish agrees with
    nothing.
    """
    values = [finding.value for finding in result.findings if finding.value is not None]
    late = [finding.method for finding in result.findings if finding.status == "unfinished"]
    if len(values) < 2:
        return None
    if not result.agree:
        return "the methods do NOT agree"
    all_methods = "the methods that finished" if late else "all methods"
    agreement = (
        f"{all_methods} agree"
        if len(set(values)) == 1
        else "no lower bound exceeds what the other methods say"
    )
    return f"{agreement}; not finished: {', '.join(late)}" if late else agreement

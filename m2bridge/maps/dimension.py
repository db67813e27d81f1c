"""The dimension of the Zariski closure of the image of a polynomial map, by independent methods.

Ranks of the differential, elimination and formulas know nothing of each other. What they prove is
compared with each other; the prediction of a formula is only shown.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Unpack

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.convert.fields import as_field
from m2bridge.engine import RunOptions, computation, current
from m2bridge.errors import (
    EngineNotFoundError,
    InvalidCaseError,
    MemoryLimitError,
    TimeLimitError,
    check_choice,
)
from m2bridge.ideals.ideal import Ideal
from m2bridge.limits import clock, share
from m2bridge.maps.closure import MAX_SHORT_ELIMINATION_SECONDS, closure
from m2bridge.maps.jacobian_rank import (
    best_upper_bound,
    best_value,
    compare_with_upper_bound,
    differentiable,
    jacobian_findings,
    upper_bound,
)
from m2bridge.maps.model import DifferentiableModel, Expectation, MethodValue, Model, Status
from m2bridge.maps.polynomial_map_model import Case, IdealModel, as_model
from m2bridge.results.base import Proof, Result, result_json
from m2bridge.results.known import UNKNOWN, Bounds, bounds_agree, intersect_bounds
from m2bridge.results.sheet import Facts, Sheet, Table, computed_by, in_brackets, value_text

MAX_ELIMINATION_SECONDS = 30.0
"""The time for elimination as one of all methods if no limit is given; it could take days."""

HOW_TO_PROVE = (
    "--method all (in Python method='all') also eliminates, which proves the dimension if it ends"
)

DimensionMethod = Literal["auto", "elimination", "jacobian", "formula", "all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension(Result):
    """The affine dimension of the closure of the image, with what each method found.

    Parameters
    ----------
    model : Model
    field : CoefficientField
    findings : tuple of MethodValue
        One for each method that was tried.
    engine_version : str or None
        ``None`` if Macaulay2 was not used.
    seconds : float
    upper : Bounds
        The upper bound that the model knows, with its reason; open if there is none.
    expected : tuple of Expectation
        What formulas of the family predict, the most important one first.

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
        """The proved value, else the best lower bound, else the value of a formula.

        ``None`` if no method found anything.
        """
        best = best_value(self.findings)
        return None if best is None else best.value

    @property
    def status(self) -> Status:
        """The status of :attr:`dimension`: proved, a lower bound, or a formula's value.

        ``unfinished`` or ``not applicable`` if there is no value.
        """
        best = best_value(self.findings)
        return "unfinished" if best is None else best.status

    @property
    def agree(self) -> bool:
        """Whether a number is within the bounds of every method; then all exact values are equal.

        ``False`` if no method found anything.
        """
        bounds_by_method = [finding.known for finding in self.findings]
        nothing_found = all(bounds.is_open for bounds in bounds_by_method)
        return not nothing_found and bounds_agree(*bounds_by_method)

    @property
    def lower(self) -> MethodValue | None:
        """The first finding with the largest proved lower bound, which may be a proved value.

        ``None`` if no method proved a bound.
        """
        bounds = [f for f in self.findings if f.status in ("proved", "lower bound")]
        return max(bounds, key=lambda finding: finding.known.least, default=None)

    @property
    def defect(self) -> int | None:
        """The expected less the proved dimension, for the first formula whose hypotheses hold.

        ``None`` if no formula applies or the dimension is not proved.
        """
        expectation = _first_applicable(self.expected)
        if expectation is None or self.status != "proved" or self.dimension is None:
            return None
        assert expectation.value is not None
        return expectation.value - self.dimension

    @property
    def unfinished(self) -> str:
        """The limit that the first unfinished method reached; empty if all methods finished."""
        for finding in self.findings:
            if finding.status == "unfinished":
                return finding.remark
        return ""

    def proof(self) -> Proof:
        """Return whether the dimension is proved, and not a lower bound or by a formula."""
        best = best_value(self.findings)
        if best is None or best.value is None:
            return Proof(False, "; ".join(dict.fromkeys(f.remark for f in self.findings)))
        if best.status == "proved":
            return Proof(True, f"{best.method}: {best.remark}")
        if best.status == "formula":
            return Proof(False, f"the value of a formula only: {best.remark}")
        return Proof(False, f"a lower bound only: {best.method}, {best.remark}")

    def __repr__(self) -> str:
        return in_brackets(self, "model", "field", "dimension", "status")

    def to_sheet(self) -> Sheet:
        """Return the value, and a table of the methods."""
        rows = [(f.method, value_text(f.value), f.status, f.remark) for f in self.findings]
        header = ("method", "dimension", "status", "remark")
        formulas = []
        best = best_value(self.findings)
        if best is not None and best.value is not None:
            relation = best.known.relation(at_least=r"\ge")
            formulas.append(r"\dim \overline{\mathcal M} " + relation)
        return Sheet(
            f"Dimension of the {self.model.title}, over {self.field}",
            [Facts(_facts(self)), Table(header, rows)],
            formulas,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the value, and what each method found, for ``json.dumps``."""
        upper: dict[str, Any] | None = None
        if not self.upper.is_open:
            upper = {"value": self.upper.value, "reason": self.upper.because}
        lower: dict[str, Any] | None = None
        if self.lower is not None:
            lower = {"value": self.lower.value, "method": self.lower.method}
        return result_json(self.model.case, self.field, self.engine_version, self.seconds) | {
            "dimension": self.dimension,
            "status": self.status,
            "upper_bound": upper,
            "lower_bound": lower,
            "expected": [expectation.to_json() for expectation in self.expected],
            "defect": self.defect,
            "methods": [finding.to_json() for finding in self.findings],
            "agree": self.agree,
            "unfinished": self.unfinished or None,
            **self.proof()._asdict(),
        }

    def to_macaulay2(self) -> str:
        """Return the value as a Macaulay2 assignment, ``null`` if it is not known."""
        return f"dimension = {'null' if self.dimension is None else self.dimension}"


def _facts(result: Dimension) -> list[tuple[str, object]]:
    """Return names and values for the summary: the dimension and the methods that prove it."""
    value = "not known" if result.dimension is None else str(result.dimension)
    facts: list[tuple[str, object]] = [("affine dimension", f"{value} ({result.status})")]
    eliminates = any(finding.method == "elimination" for finding in result.findings)
    if result.status == "lower bound" and not eliminates:
        facts.append(("to prove it", HOW_TO_PROVE))
    facts.append(("", _agreement_text(result)))  # no name of its own; not shown if it is None
    if not result.upper.is_open:
        facts.append(("at most", f"{result.upper.value}: {result.upper.because}"))
    heading = "expected"  # one heading for all formulas that have a value
    for expectation in result.expected:
        if expectation.value is not None:
            text = f"{expectation.value} by {expectation.statement}"
            if expectation.why_not:
                text += f", which does not apply: {expectation.why_not}"
            facts.append((heading, text))
            heading = ""
    facts.append(("computed by", computed_by(result.engine_version, result.seconds)))
    return facts


def _agreement_text(result: Dimension) -> str | None:
    """Return in words whether the methods agree; ``None`` unless several gave a value. A method
    that did not finish is not said to agree, but listed.
    """
    values = [finding.value for finding in result.findings if finding.value is not None]
    if len(values) < 2:
        return None
    if not result.agree:
        return "the methods do NOT agree"
    unfinished = [finding.method for finding in result.findings if finding.status == "unfinished"]
    agreement = "no lower bound exceeds what the other methods say"
    if len(set(values)) == 1:
        agreement = "the methods that finished agree" if unfinished else "all methods agree"
    if unfinished:
        agreement += f"; not finished: {', '.join(unfinished)}"
    return agreement


@computation
def dimension(
    case: Case | Ideal,
    *,
    field: CoefficientField | str = QQ,
    coordinates: str | None = None,
    method: DimensionMethod = "auto",
    **options: Unpack[RunOptions],
) -> Dimension:
    """Compute the affine dimension of the Zariski closure of the image, or of a variety.

    Parameters
    ----------
    case : a model, a PolynomialMap, a mapping ``{"x": expression}`` or an Ideal
        Of an ideal the dimension is the Krull dimension of the quotient ring, −1 for the unit
        ideal; ``ideal.dimension()`` returns this number alone.
    field : CoefficientField or str
        QQ, or a prime field such as ``"GF(7)"``, over which the map is taken.
    coordinates : str, optional
        The name of the coordinates, for models that offer a choice.
    engine : Engine, optional
        A Macaulay2 to use; without one, the Macaulay2 of the ``with`` block around it, else one
        that the process shares.
    method : {"auto", "elimination", "jacobian", "formula", "all"}
        ``auto`` is ``jacobian``: the exact rank of the differential at random points, a lower
        bound, which is proved to be the dimension where it attains an upper bound, or where a
        small map over QQ has no larger minors that are not zero; where the
        parameters satisfy relations, it is ``elimination``. Over GF(p), where the map may be
        inseparable and the rank smaller at every point, elimination has 5 seconds in addition, or
        half of the time, if there are at most 20 coordinates. Elimination as one of ``all`` ends
        after 30 seconds where there is no limit; alone it has the time that it takes.

    Raises
    ------
    InvalidCaseError
        If the method is unknown or not for this case, or no parameters satisfy the relations.
    EngineNotFoundError
        If Macaulay2 is needed, but none is given and none is installed.
    TooLargeError
        If the differential, or the expanded map where that is needed, is too large.
    ContradictionError
        If a proved lower bound exceeds a proved value, or an upper bound that the model knows.

    Examples
    --------
    >>> from sympy import symbols
    >>> a, b, c, d = symbols("a b c d")
    >>> products = {"x": a * c, "y": a * d, "z": b * c, "w": b * d}
    >>> rank_one = PolynomialMap.from_expressions([a, b, c, d], products)
    >>> result = dimension(rank_one)
    >>> result.dimension, result.status
    (3, 'proved')
    >>> dimension(products).dimension, dimension(ideal("x*y", "x*z")).dimension
    (3, 2)
    """
    check_choice("method", method, DimensionMethod)
    field = as_field(field)
    model = as_model(case, coordinates)
    if isinstance(model, IdealModel):
        model.check_field(field)
        model.check_method(method, ("all", "auto"))
        krull = Bounds.exactly(model.ideal.dimension(), "Krull dimension of the quotient ring")
        return Dimension(
            model=model,
            field=model.ideal.ring.field,
            findings=(MethodValue("Gröbner basis", krull),),
            engine_version=current().version,
            seconds=clock().seconds,
        )
    findings: list[MethodValue] = []
    if method in ("auto", "jacobian", "all"):
        with share(0.5 if method == "all" else 1.0):  # the rest is for elimination
            findings += jacobian_findings(model, field=field)
    if method in ("formula", "all"):
        findings.append(_by_formula(model))
    version = None
    by_elimination = _planned_elimination(model, field, method, findings)
    if by_elimination is not None:
        findings.append(by_elimination)
        version = current().version
        if by_elimination.value is not None and not by_elimination.instead:
            # raises if it exceeds an upper bound, with which ranks are compared where they are
            # computed
            upper = best_upper_bound(model, field=field)
            if isinstance(model, DifferentiableModel) or not model.free_map.relations:
                upper = upper_bound(model, differentiable(model), field.characteristic)
            by_method = replace(by_elimination.known, because=by_elimination.method)
            compare_with_upper_bound(model, by_method, upper)
    # Raises if proved bounds disagree; a formula may be wrong, and then the difference is shown.
    proved_bounds = [finding.known for finding in findings if finding.instead == ""]
    intersect_bounds(*proved_bounds)
    return Dimension(
        model=model,
        field=field,
        findings=tuple(findings),
        engine_version=version,
        seconds=clock().seconds,
        upper=best_upper_bound(model, field=field),
        expected=_compare_expectations(model.expectations(), best_value(findings), field),
    )


def _compare_expectations(
    expectations: tuple[Expectation, ...], best: MethodValue | None, field: CoefficientField
) -> tuple[Expectation, ...]:
    """Return the expectations; those that differ from the proved dimension are marked as refuted.
    Formulas are about characteristic 0, which the text of a refuted one says over a finite field.
    """
    if best is None or best.value is None or best.status != "proved":
        return expectations
    if field != QQ:
        expectations = tuple(
            replace(e, assumes="is about characteristic zero") for e in expectations
        )
    return tuple(expectation.against(best.value) for expectation in expectations)


def _first_applicable(expectations: Iterable[Expectation]) -> Expectation | None:
    """Return the first formula that has a value and whose stated hypotheses hold."""
    for expectation in expectations:
        if expectation.value is not None and not expectation.fails:
            return expectation
    return None


def _by_formula(model: Model) -> MethodValue:
    """Return the dimension by the first formula of the model whose hypotheses hold; its status is
    ``formula``, not ``proved``.
    """
    expectations = model.expectations()
    applicable = _first_applicable(expectations)
    if applicable is not None:
        value = Bounds.exactly(applicable.value, applicable.statement)
        return MethodValue("formula", value, "formula")
    remark = expectations[0].fails if expectations else "no formula is known for this case"
    return MethodValue("formula", Bounds(because=remark), "not applicable")


def _planned_elimination(
    model: Model, field: CoefficientField, method: DimensionMethod, findings: Sequence[MethodValue]
) -> MethodValue | None:
    """Return the dimension by elimination if ``method`` includes it, after the ``findings`` of the
    methods before; ``auto`` does where ranks do not apply, and for a short time in characteristic
    p, where ranks may give a lower bound only.
    """
    if method == "all":
        # as one of all methods, elimination must not take all the time there is
        with share(1.0, otherwise=MAX_ELIMINATION_SECONDS):
            return _by_elimination(model, field, required=False)
    if method == "elimination":
        return _by_elimination(model, field, required=True)
    if method != "auto":
        return None
    # ranks do not apply where the parameters satisfy relations, which random ones do not
    if all(finding.status == "not applicable" for finding in findings):
        return _by_elimination(model, field, required=True)
    return None if field == QQ else _by_short_elimination(model, field, findings)


def _by_short_elimination(
    model: Model, field: CoefficientField, findings: Sequence[MethodValue]
) -> MethodValue | None:
    """Return the dimension by elimination, if ranks gave only a lower bound, and elimination, of
    few coordinates and with Macaulay2, which ``auto`` does not need, ends soon.
    """
    best = best_value(findings)
    if best is None or best.status != "lower bound":
        return None
    if model.coordinate_count > 20:  # elimination would not end soon
        return None
    try:
        with share(0.5, otherwise=MAX_SHORT_ELIMINATION_SECONDS):
            by_elimination = _by_elimination(model, field, required=False)
    except EngineNotFoundError:
        return None
    return by_elimination if by_elimination.status == "proved" else None


def _by_elimination(model: Model, field: CoefficientField, *, required: bool) -> MethodValue:
    """Return the dimension by elimination; an unknown one, with the reason, if a limit is reached.

    ``required`` says whether an invalid case, such as a map that is too large to be expanded, is an
    error; otherwise the value is marked as not applicable, and other methods decide.
    """
    try:
        result = closure(model, field=field, strategy="elimination")
    except InvalidCaseError as reason:
        if required:
            raise
        return MethodValue("elimination", Bounds(because=str(reason)), "not applicable")
    except (TimeLimitError, MemoryLimitError) as limit:
        return MethodValue("elimination", Bounds(because=str(limit)))
    if result.ideal is None or result.dimension is None:
        return MethodValue("elimination", Bounds(because=result.unfinished))
    remark = "Krull dimension of the elimination ideal, by Macaulay2"
    return MethodValue("elimination", Bounds.exactly(result.dimension, remark))

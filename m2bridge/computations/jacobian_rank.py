"""The method of Jacobian ranks, which needs no engine; and what one method says about a dimension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from m2bridge.computations.subject import Subject
from m2bridge.errors import EngineTimeoutError
from m2bridge.geometry.jacobian import differential_rank, random_point
from m2bridge.linear_algebra import LARGE_PRIME
from m2bridge.model.attention import Coordinates, SingleLayerAttention, Weights
from m2bridge.model.field import QQ, CoefficientField
from m2bridge.model.polynomial_map import PolynomialMap

Status = Literal["proved", "lower bound", "formula", "not applicable", "unfinished"]

_SEED = 20240817
_SMALL = 1000


@dataclass(frozen=True, slots=True)
class Finding:
    """What one method says.

    Parameters
    ----------
    method : str
    value : int or None
    status : str
        ``proved``; ``lower bound`` (proved as such; over QQ equal to the dimension with high probability); ``formula``
        (the value of Corollary 3.3, not computed); ``not applicable``; ``unfinished``.
    remark : str
        Why.
    """

    method: str
    value: int | None
    status: Status
    remark: str = ""

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return {"method": self.method, "value": self.value, "status": self.status, "remark": self.remark}


def jacobian_findings(
    case: SingleLayerAttention | PolynomialMap, field: CoefficientField = QQ, coordinates: Coordinates | None = None
) -> list[Finding]:
    """The rank of the differential at random points: modulo a large prime and over QQ, or over GF(p).

    Proved to be the dimension when it attains an upper bound that needs no computation: the number of coordinates, or
    the dimension of the source (for attention modulo the rescaling (A, V) ~ (λA, V/λ)).
    """
    subject = Subject.of(case, coordinates, free_weights(case))
    subject.check_field(field)
    p = field.characteristic
    fields = [field] if p else [CoefficientField(LARGE_PRIME), QQ]
    try:
        free = subject.parametrization
    except EngineTimeoutError as limit:
        return [Finding(_name(over, field), None, "unfinished", str(limit)) for over in fields]
    if free.relations:
        return [Finding("jacobian", None, "not applicable", "the parameters satisfy relations; use elimination")]
    upper = min(len(free.coordinates), _source_dimension(subject))
    return [_finding(free, over, upper, _name(over, field)) for over in fields]


def free_weights(case: SingleLayerAttention | PolynomialMap) -> Weights:
    """Weights without relations, as few as there can be."""
    return "attention" if isinstance(case, SingleLayerAttention) and case.a >= case.d else "factored"


def _finding(free: PolynomialMap, over: CoefficientField, upper: int, name: str) -> Finding:
    bound = over.characteristic - 1 if over.characteristic else _SMALL
    attempts = 1 if bound >= _SMALL else 20
    try:
        value = max(differential_rank(free, random_point(free, bound, _SEED + i), over) for i in range(attempts))
    except EngineTimeoutError as limit:
        return Finding(name, None, "unfinished", str(limit))
    if value == upper:
        return Finding(name, value, "proved", "the rank attains an upper bound")
    return Finding(name, value, "lower bound", "rank at a random point")


def _name(over: CoefficientField, field: CoefficientField) -> str:
    if field.characteristic:
        return "jacobian"
    return f"jacobian mod {LARGE_PRIME}" if over.characteristic else "jacobian over QQ"


def _source_dimension(subject: Subject) -> int:
    """Dimension of the source; for attention of {rk A ≤ α} × {V}, less one for the rescaling of A against V."""
    model = subject.model
    if model is None:
        return len(subject.parametrization.source.variables)
    return model.alpha * (2 * model.d - model.alpha) + model.d_out * model.d - 1

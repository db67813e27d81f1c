"""The method of Jacobian ranks, which needs no engine; and what one method says about a dimension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from m2bridge.computations.subject import Subject
from m2bridge.geometry.jacobian import differential_rank, random_point
from m2bridge.linear_algebra import LARGE_PRIME
from m2bridge.model.attention import Coordinates, SingleLayerAttention
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
    subject = Subject.of(_smallest(case), coordinates, "factored")
    subject.check_field(field)
    free = subject.parametrization
    if free.relations:
        return [Finding("jacobian", None, "not applicable", "the parameters satisfy relations; use elimination")]
    upper = min(len(free.coordinates), _source_dimension(subject))
    p = field.characteristic
    fields = [field] if p else [CoefficientField(LARGE_PRIME), QQ]
    findings = []
    for over in fields:
        bound = over.characteristic - 1 if over.characteristic else _SMALL
        attempts = 1 if bound >= _SMALL else 20
        value = max(differential_rank(free, random_point(free, bound, _SEED + i), over) for i in range(attempts))
        name = "jacobian" if p else f"jacobian mod {LARGE_PRIME}" if over.characteristic else "jacobian over QQ"
        if value == upper:
            findings.append(Finding(name, value, "proved", "the rank attains an upper bound"))
        else:
            findings.append(Finding(name, value, "lower bound", "rank at a random point"))
    return findings


def _smallest(case: SingleLayerAttention | PolynomialMap) -> SingleLayerAttention | PolynomialMap:
    """The case with the fewest weights and the same functions: A = KᵀQ is any matrix of rank at most α for a = α."""
    return (
        SingleLayerAttention(case.d, case.d_out, case.alpha, case.t) if isinstance(case, SingleLayerAttention) else case
    )


def _source_dimension(subject: Subject) -> int:
    """Dimension of the source; for attention of {rk A ≤ α} × {V}, less one for the rescaling of A against V."""
    model = subject.model
    if model is None:
        return len(subject.parametrization.source.variables)
    return model.alpha * (2 * model.d - model.alpha) + model.d_out * model.d - 1

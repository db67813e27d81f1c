"""The method of Jacobian ranks, which needs no engine; and what one method says about a dimension."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.generic_rank import generic_rank
from m2bridge.algebra.linear_algebra import LARGE_PRIME, primes_from
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.errors import EngineTimeoutError
from m2bridge.families.attention.formulas import dimension_bound
from m2bridge.families.attention.model import Coordinates, SingleLayerAttention, Weights
from m2bridge.maps.subject import Subject

Status = Literal["proved", "lower bound", "formula", "not applicable", "unfinished"]

PRIMES = 4
"""How many primes are tried when the first ones are unlucky."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one method says.

    Parameters
    ----------
    method : str
    value : int or None
    status : str
        ``proved``; ``lower bound`` (proved as such; over QQ very probably the dimension); ``formula``
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
    """The rank of the differential at random points: modulo a large prime and over QQ, or over extensions of GF(p).

    It is a lower bound for the dimension, as parameters are free. Proved to be the dimension when it attains an upper
    bound that needs no computation: the number of coordinates, or of parameters; for attention
    :func:`m2bridge.families.attention.formulas.dimension_bound`. In characteristic p the rank can be less than the
    dimension at every point.
    """
    subject = Subject.of(_smallest(case), coordinates, free_weights(case))
    subject.check_field(field)
    p = field.characteristic
    fields = [field] if p else [CoefficientField(LARGE_PRIME), QQ]
    try:
        free = subject.parametrization
    except EngineTimeoutError as limit:
        return [Finding(_name(over, field), None, "unfinished", str(limit)) for over in fields]
    if free.relations:
        return [Finding("jacobian", None, "not applicable", "the parameters satisfy relations; use elimination")]
    upper = _upper_bound(subject)
    if p:
        return [_in_characteristic_p(free, field, upper)]
    return _in_characteristic_0(free, upper)


def free_weights(case: SingleLayerAttention | PolynomialMap) -> Weights:
    """Weights without relations, as few as there can be."""
    return "attention" if isinstance(case, SingleLayerAttention) and case.a >= case.d else "factored"


def _smallest(case: SingleLayerAttention | PolynomialMap) -> SingleLayerAttention | PolynomialMap:
    """The case with the fewest weights and the same functions: A = KᵀQ is any matrix of rank at most α for a = α."""
    return (
        SingleLayerAttention(case.d, case.d_out, case.alpha, case.t) if isinstance(case, SingleLayerAttention) else case
    )


def _name(over: CoefficientField, field: CoefficientField) -> str:
    if field.characteristic:
        return "jacobian"
    return f"jacobian mod {over.characteristic}" if over.characteristic else "jacobian over QQ"


def _in_characteristic_p(free: PolynomialMap, field: CoefficientField, upper: int) -> Finding:
    try:
        value, place = generic_rank(free, field, upper)
    except EngineTimeoutError as limit:
        return Finding("jacobian", None, "unfinished", str(limit))
    place += "; in this characteristic it can be less than the dimension at every point"
    return _finding("jacobian", value, upper, place)


def _in_characteristic_0(free: PolynomialMap, upper: int) -> list[Finding]:
    """The rank modulo a large prime, which is quick, and over QQ; another prime where the first is less."""
    primes = islice(primes_from(LARGE_PRIME), PRIMES)
    first = CoefficientField(next(primes))
    try:
        modular, prime = generic_rank(free, first, upper)[0], first.characteristic
    except EngineTimeoutError as limit:
        return [Finding(_name(over, QQ), None, "unfinished", str(limit)) for over in (first, QQ)]
    try:
        exact = generic_rank(free, QQ, modular)[0]
        for other in primes:
            if modular >= exact:
                break
            modular, prime = max((modular, prime), (generic_rank(free, CoefficientField(other), exact)[0], other))
        over_qq = _finding("jacobian over QQ", exact, upper, "QQ")
    except EngineTimeoutError as limit:
        over_qq = Finding("jacobian over QQ", None, "unfinished", str(limit))
    return [_finding(f"jacobian mod {prime}", modular, upper, f"GF({prime})"), over_qq]


def _finding(method: str, value: int, upper: int, place: str) -> Finding:
    if value == upper:
        return Finding(method, value, "proved", "the rank attains an upper bound")
    return Finding(method, value, "lower bound", f"rank at random points over {place}")


def _upper_bound(subject: Subject) -> int:
    free = subject.parametrization
    source = len(free.source.variables) if subject.model is None else dimension_bound(subject.model)
    return min(len(free.coordinates), source)

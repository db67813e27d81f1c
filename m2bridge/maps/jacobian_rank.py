"""The method of Jacobian ranks, which needs no engine; and what one method says about a dimension."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.jacobian import generic_rank, random_point
from m2bridge.algebra.linear_algebra import sparse_rank
from m2bridge.algebra.numbers import LARGE_PRIME, primes_from
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.sparse_polynomial import gradient_of_terms, value_at
from m2bridge.errors import ContradictionError, MethodUnavailableError, TimeLimitError, TooLargeError
from m2bridge.implicitization.implicitize import Implicitization
from m2bridge.limits import check, share, watched
from m2bridge.maps.map_model import MapModel
from m2bridge.maps.model import DifferentiableModel, LowerBound, Model, UpperBound
from m2bridge.maps.rank import rank_result

Status = Literal["proved", "lower bound", "formula", "not applicable", "unfinished"]

PRIMES = 4
"""How many primes are tried when the first ones are unlucky."""


@dataclass(frozen=True, slots=True)
class MethodValue:
    """The answer of one method.

    Parameters
    ----------
    method : str
    value : int or None
    status : str
        ``proved``; ``lower bound`` (proved as such; over QQ very probably the dimension); ``formula``
        (the value of a formula, not computed); ``not applicable``; ``unfinished``.
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


def jacobian_findings(model: Model, *, field: CoefficientField = QQ) -> list[MethodValue]:
    """The rank of the differential at random points: modulo a large prime and over QQ, or over extensions of GF(p).

    It is a lower bound for the dimension, as parameters are free. Proved to be the dimension when it attains an upper
    bound that needs no computation: the number of coordinates, of parameters less the dimension of the gauge group, or
    one that the model knows. In characteristic p the rank can be less than the dimension at every point. Models that
    can be differentiated without being expanded are not expanded. A model that knows lower bounds is asked for them.
    """
    model.check_field(field)
    own = model.lower_bounds(field.characteristic)
    if own is not None:
        return _by_lower_bounds(model, own, field)
    if isinstance(model, DifferentiableModel) and not isinstance(model, MapModel):
        return [_by_evaluation(model, field)]
    p = field.characteristic
    fields = [field] if p else [CoefficientField(LARGE_PRIME), QQ]
    try:
        free = model.free_map
    except TimeLimitError as limit:
        return [MethodValue(_name(over, field), None, "unfinished", str(limit)) for over in fields]
    if free.relations:
        return [MethodValue("jacobian", None, "not applicable", "the parameters satisfy relations; use elimination")]
    upper = _upper_bound(model, p)
    if p:
        return [_in_characteristic_p(free, field, upper)]
    return _in_characteristic_0(free, upper)


def _name(over: CoefficientField, field: CoefficientField) -> str:
    if field.characteristic:
        return "jacobian"
    return f"jacobian mod {over.characteristic}" if over.characteristic else "jacobian over QQ"


def _in_characteristic_p(free: PolynomialMap, field: CoefficientField, upper: int) -> MethodValue:
    try:
        value, place = generic_rank(free, upper, field=field)
    except TimeLimitError as limit:
        return MethodValue("jacobian", None, "unfinished", str(limit))
    place += "; in this characteristic it can be less than the dimension at every point"
    return _finding("jacobian", value, upper, place)


def _in_characteristic_0(free: PolynomialMap, upper: int) -> list[MethodValue]:
    """The rank modulo a large prime, which is quick, and over QQ; another prime where the first is less."""
    primes = islice(primes_from(LARGE_PRIME), PRIMES)
    first = CoefficientField(next(primes))
    try:
        modular, prime = generic_rank(free, upper, field=first)[0], first.characteristic
    except TimeLimitError as limit:
        return [MethodValue(_name(over, QQ), None, "unfinished", str(limit)) for over in (first, QQ)]
    try:
        exact = generic_rank(free, modular, field=QQ)[0]
        for other in primes:
            if modular >= exact:
                break
            modular, prime = max((modular, prime), (generic_rank(free, exact, field=CoefficientField(other))[0], other))
        over_qq = _finding("jacobian over QQ", exact, upper, "QQ")
    except TimeLimitError as limit:
        over_qq = MethodValue("jacobian over QQ", None, "unfinished", str(limit))
    return [_finding(f"jacobian mod {prime}", modular, upper, f"GF({prime})"), over_qq]


def _finding(method: str, value: int, upper: int, place: str) -> MethodValue:
    if value == upper:
        return MethodValue(method, value, "proved", "the rank attains an upper bound")
    return MethodValue(method, value, "lower bound", f"rank at random points over {place}")


def _upper_bound(model: Model, characteristic: int) -> int:
    free, model = model.free_map, model
    bounds = [len(free.coordinates), len(free.source.variables) - model.gauge_dimension()]
    return min(bounds + [bound.value for bound in model.upper_bounds(characteristic)])


def _by_evaluation(model: Model, field: CoefficientField) -> MethodValue:
    name = "jacobian" if field.characteristic else f"jacobian mod {LARGE_PRIME}"
    try:
        found = rank_result(model, field.characteristic, check=check)
    except TimeLimitError as limit:
        return MethodValue(name, None, "unfinished", str(limit))
    name = name if field.characteristic else f"jacobian mod {found.prime}"
    if found.status == "proved":
        return MethodValue(name, found.lower, "proved", f"the rank attains an upper bound: {found.upper.reason}")
    return MethodValue(name, found.lower, "lower bound", f"rank at random points; at most {found.upper.value}")


def best_upper_bound(model: Model, *, field: CoefficientField) -> UpperBound | None:
    """The smallest upper bound that the model knows."""
    return min(model.upper_bounds(field.characteristic), key=lambda bound: bound.value, default=None)


def _by_lower_bounds(model: Model, bounds: Iterator[LowerBound], field: CoefficientField) -> list[MethodValue]:
    """Those that were found until the limit on time or size, and the limit."""
    upper = best_upper_bound(model, field=field)
    found: list[MethodValue] = []
    try:
        for bound in bounds:
            if upper is not None and bound.value > upper.value:
                raise ContradictionError(f"the bound {bound} exceeds the upper bound {upper.value}: {upper.reason}")
            proved = upper is not None and bound.value == upper.value
            remark = f"{bound.reason}; {'attains' if proved else 'below'} an upper bound" if upper else bound.reason
            found.append(MethodValue(bound.method, bound.value, "proved" if proved else "lower bound", remark))
    except (TimeLimitError, MethodUnavailableError, TooLargeError) as limit:
        found.append(MethodValue("rank", None, "unfinished", str(limit)))
    return found


def singular_by_bounds(lower: int, upper: int | None, dimension: int) -> bool | None:
    """Whether a point is singular whose tangent dimension lies between two bounds; ``None`` if they do not decide.

    Raises
    ------
    ContradictionError
        If the upper bound is below the lower one, or below the dimension of the variety.
    """
    if upper is not None and upper < max(lower, dimension):
        raise ContradictionError(
            f"tangent dimension at least {lower} by tangent vectors and at most {upper} by equations, on a variety of "
            f"dimension {dimension}"
        )
    return True if lower > dimension else False if upper == dimension else None


def known_dimension(model: Model, *, field: CoefficientField) -> tuple[int | None, Status]:
    """The best answer by ranks of the differential, computed in at most half of the time."""
    with share(0.5):
        findings = jacobian_findings(model, field=field)
    best = max(findings, key=lambda finding: (finding.status == "proved", finding.value or -1))
    return best.value, best.status


def image_dimension(known: tuple[int | None, Status], found: Implicitization) -> tuple[int | None, Status]:
    """Dimension of the closure of the image: ranks of the differential below, ranks of the equations above.

    At a point of the image the tangent space has at least the dimension of the closure, and lies in the kernel of the
    differentials of all equations. Where a random point does not show it, another one is tried.

    Parameters
    ----------
    known : (int or None, status)
        What :func:`known_dimension` says.
    """
    value, status = known
    if status == "lower bound" and any(_tangent_bound(found, seed) == value for seed in range(1, 4)):
        return value, "proved"
    return known


def _tangent_bound(found: Implicitization, seed: int) -> int:
    """The number of coordinates less the rank of the equations at a random point of the image."""
    parameters = random_point(found.source.polynomial_map, 9, seed)
    point = [value_at(image, parameters) for image in found.source.integral_images]
    return len(point) - sparse_rank(
        gradient_of_terms(generator, point) for generator in watched(found.sparse_generators())
    )

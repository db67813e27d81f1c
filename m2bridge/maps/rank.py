"""The dimension of the closure of an image, by exact ranks of the differential and upper bounds;
without an engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, Any, Literal

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.linear_algebra import rank_mod
from m2bridge.algebra.numbers import LARGE_PRIME, primes_from
from m2bridge.errors import (
    ContradictionError,
    InvalidCaseError,
    MethodUnavailableError,
    TimeLimitError,
    TooLargeError,
)
from m2bridge.limits import check, limited
from m2bridge.maps.model import DifferentiableModel, LowerBound, Model, UpperBound
from m2bridge.maps.statement import Observed, Value

if TYPE_CHECKING:
    from m2bridge.algebra.polynomial_map import PolynomialMap

PRIMES = (LARGE_PRIME, 2**61 - 1)
"""The second prime is tried where the first one gave a rank below all upper bounds, or divides a
denominator.
"""

MAX_ENTRIES = 50_000_000
"""Entries of the largest matrix whose rank is computed: some minutes, and some GB."""

SPARE_ROWS = 5
BATCH = 32
SEED = 20240817
_SMALL = 1000


MOST_PRIMES = 4
"""How many primes are tried for an expanded map when the first ones are unlucky."""

Status = Literal["proved", "lower bound", "formula", "not applicable", "unfinished"]


@dataclass(frozen=True, slots=True)
class MethodValue:
    """The answer of one method.

    Parameters
    ----------
    method : str
    value : int or None
    status : str
        ``proved``; ``lower bound`` (proved as such; over QQ very probably the dimension);
        ``formula`` (the value of a formula, not computed); ``not applicable``; ``unfinished``.
    remark : str
        Why.
    """

    method: str
    value: int | None
    status: Status
    remark: str = ""

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class RankResult:
    """Bounds for the dimension of the closure of an image, by ranks and by theorems.

    Parameters
    ----------
    lower : int
        The largest rank of the differential that was found: a proved lower bound.
    upper : UpperBound
        The smallest upper bound that is known.
    prime : int
        The prime modulo which the rank was found.
    rows, columns : int
        Size of the matrix: gradients that were computed, and parameters.
    """

    lower: int
    upper: UpperBound
    prime: int
    rows: int
    columns: int

    @property
    def status(self) -> Literal["proved", "lower bound"]:
        """``proved`` if the lower bound meets the upper one."""
        return "proved" if self.lower == self.upper.value else "lower bound"


def rank_result(model: Model, characteristic: int = 0) -> RankResult:
    """Compute the rank of the differential of a parametrization at random points.

    The rows of the matrix are gradients of outputs with respect to the parameters. For a family of
    functions each row belongs to a random input x of its own and a random combination of the
    outputs: it is a value of the polynomial map (x, g) ↦ ∂_w ⟨g, φ_w(x)⟩, whose values span the row
    space of the Jacobian matrix of all coefficients. As long as the rows do not span it, a random
    pair (x, g) enlarges their span with probability at least 1 − (degree + 1)/p. In any case the
    rank is at most that of the Jacobian matrix, and so a proved lower bound for the dimension.

    Parameters
    ----------
    model : Model
        A :class:`~m2bridge.maps.model.DifferentiableModel` is never expanded.
    characteristic : int
        0, or a prime p; then points and inputs are from GF(p), which for small p may give a rank
        that is too small.

    Raises
    ------
    MethodUnavailableError
        If the parameters satisfy relations.
    TooLargeError
        If the matrix would be too large.
    InvalidCaseError
        If the model has no reduction modulo the characteristic.
    ContradictionError
        If a rank exceeds an upper bound.
    """
    source = differentiable(model)
    upper = min(upper_bounds(model, source, characteristic), key=lambda bound: bound.value)
    best: RankResult | None = None
    for attempt, prime in enumerate(_primes(characteristic)):
        try:
            rows = _gradients(source, upper.value + SPARE_ROWS, prime, Random(SEED + attempt))
        except InvalidCaseError:  # the prime divides a denominator
            if characteristic:
                raise
            continue
        result = RankResult(rank_mod(rows, prime), upper, prime, len(rows), source.parameter_count)
        if result.lower > upper.value:
            raise ContradictionError(
                f"the rank {result.lower} exceeds the upper bound {upper.value}: {upper.reason}"
            )
        if best is None or result.lower > best.lower:
            best = result
        if best.status == "proved":
            break
    if best is None:
        raise MethodUnavailableError(
            f"{' and '.join(map(str, PRIMES))} divide denominators of the map"
        )
    return best


def differentiable(model: Model) -> DifferentiableModel:
    """Return the model itself if it can be differentiated, else its free parametrization as one
    layer.

    Raises
    ------
    MethodUnavailableError
        If the parameters satisfy relations.
    """
    if isinstance(model, DifferentiableModel):
        return model
    from m2bridge.maps.chain import Chain, Layer  # imports SymPy

    if model.free_map.relations:
        raise MethodUnavailableError("the parameters satisfy relations; use elimination")
    return Chain((Layer(model.free_map),))


def upper_bounds(
    model: Model, source: DifferentiableModel, characteristic: int = 0
) -> list[UpperBound]:
    """All upper bounds that are known."""
    gauge = model.gauge_dimension()
    less = f" less {gauge}, the dimension of the group that keeps the function" if gauge else ""
    bounds = [UpperBound(source.parameter_count - gauge, f"the number of parameters{less}")]
    if not source.input_count:
        bounds.append(UpperBound(source.output_count, "the number of coordinates"))
    return [*bounds, *model.upper_bounds(characteristic)]


def _primes(characteristic: int) -> tuple[int, ...]:
    if not characteristic:
        return PRIMES
    return (characteristic,) * (len(PRIMES) if characteristic > _SMALL else 20)


def _gradients(
    source: DifferentiableModel, count: int, prime: int, random: Random
) -> list[list[int]]:
    size = count if source.input_count else source.output_count
    if size * source.parameter_count > MAX_ENTRIES:
        raise TooLargeError(
            f"the matrix of the differential would have {size} rows and {source.parameter_count}"
            f" columns; at most {MAX_ENTRIES} entries are handled: take smaller numbers"
        )

    def vector(length: int) -> list[int]:
        return [random.randrange(prime) for _ in range(length)]

    point, rows = vector(source.parameter_count), list[list[int]]()
    # an input and a combination of the outputs, both random; where there are no inputs, one output
    pairs = ((vector(source.input_count), vector(source.output_count)) for _ in range(size))
    if not source.input_count:
        pairs = (([], [int(j == number) for j in range(size)]) for number in range(size))
    while batch := list(islice(pairs, BATCH)):
        check()
        inputs, covectors = zip(*batch, strict=True)
        rows += source.pullbacks(point, inputs, covectors, prime)
    check()
    return rows


@dataclass(frozen=True, slots=True)
class ObservedRank(Observed):
    """The observed dimension of a model without orbits; see
    :class:`m2bridge.maps.statement.Observed`.

    Parameters
    ----------
    model : Model
    result : RankResult
    seconds : float
    """

    model: Model
    result: RankResult
    seconds: float
    remarks: tuple[str, ...] = ()
    engine_version: str = ""

    @property
    def dimension(self) -> int | None:
        """The dimension of the closure, where the bounds meet."""
        return self.result.lower if self.result.status == "proved" else None

    def value(self, observable: str) -> Value | None:
        """The dimension; nothing else is observed."""
        return self.dimension if observable == "dimension" else None

    def unknown(self, observable: str) -> str:
        """The bounds between which the dimension lies."""
        if observable != "dimension":
            return "not decided by this method"
        return (
            f"the dimension is at least {self.result.lower} and at most {self.result.upper.value}"
        )

    def numbers(self) -> dict[str, int]:
        """The two bounds."""
        return {"lower_bound": self.result.lower, "upper_bound": self.result.upper.value}

    def facts(self) -> list[tuple[str, str | None]]:
        """The dimension, or the bounds."""
        if self.dimension is not None:
            return [("dimension", f"{self.dimension} affine (proved)")]
        return [("dimension", f"at least {self.result.lower}, at most {self.result.upper.value}")]

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return {"dimension": self.dimension, **self.numbers()}


def observe_rank(model: Model) -> ObservedRank:
    """Observe the dimension of the closure; see :func:`m2bridge.maps.rank.rank_result`."""
    with limited(None) as running:
        return ObservedRank(model, rank_result(model), running.seconds)


def jacobian_findings(model: Model, *, field: CoefficientField = QQ) -> list[MethodValue]:
    """Compute the rank of the differential at random points: modulo a prime and over QQ, or over
    GF(p^k).

    It is a lower bound for the dimension, as parameters are free. Proved to be the dimension when
    it attains an upper bound that needs no computation: the number of coordinates, of parameters
    less the dimension of the gauge group, or one that the model knows. In characteristic p the rank
    can be less than the dimension at every point. Models that can be differentiated without being
    expanded are not expanded. A model that knows lower bounds is asked for them.
    """
    model.check_field(field)
    p = field.characteristic
    own = model.lower_bounds(p)
    if own is not None:
        return _by_lower_bounds(own, best_upper_bound(model, field=field))
    evaluated = isinstance(model, DifferentiableModel)
    methods = (
        ["jacobian"]
        if p
        else [f"jacobian mod {LARGE_PRIME}", "jacobian over QQ"][: 1 if evaluated else 2]
    )
    try:
        if evaluated:
            return [_by_evaluation(model, p)]
        if model.free_map.relations:
            reason = "the parameters satisfy relations; use elimination"
            return [MethodValue("jacobian", None, "not applicable", reason)]
        upper = min(bound.value for bound in upper_bounds(model, differentiable(model), p))
        if not p:
            return _over_the_rationals(model.free_map, upper)
        from m2bridge.algebra.polynomial_map import generic_rank  # imports SymPy

        value, place = generic_rank(model.free_map, upper, field=field)
        place += "; in this characteristic it can be less than the dimension at every point"
        return [_finding("jacobian", value, upper, place)]
    except TimeLimitError as limit:
        return [MethodValue(method, None, "unfinished", str(limit)) for method in methods]


def _over_the_rationals(free: PolynomialMap, upper: int) -> list[MethodValue]:
    """The rank modulo a large prime, which is quick, and over QQ; another prime where the first is
    less.
    """
    from m2bridge.algebra.polynomial_map import generic_rank  # imports SymPy

    prime, *others = islice(primes_from(LARGE_PRIME), MOST_PRIMES)
    modular = generic_rank(free, upper, field=CoefficientField(prime))[0]
    try:
        exact = generic_rank(free, modular, field=QQ)[0]
        for other in others:
            if modular >= exact:
                break
            modular, prime = max(
                (modular, prime),
                (generic_rank(free, exact, field=CoefficientField(other))[0], other),
            )
        over_qq = _finding("jacobian over QQ", exact, upper, "QQ")
    except TimeLimitError as limit:
        over_qq = MethodValue("jacobian over QQ", None, "unfinished", str(limit))
    return [_finding(f"jacobian mod {prime}", modular, upper, f"GF({prime})"), over_qq]


def _finding(method: str, value: int, upper: int, place: str) -> MethodValue:
    if value == upper:
        return MethodValue(method, value, "proved", "the rank attains an upper bound")
    return MethodValue(method, value, "lower bound", f"rank at random points over {place}")


def _by_evaluation(model: Model, characteristic: int) -> MethodValue:
    result = rank_result(model, characteristic)
    remark = f"rank at random points; at most {result.upper.value}"
    if result.status == "proved":
        remark = f"the rank attains an upper bound: {result.upper.reason}"
    method = "jacobian" if characteristic else f"jacobian mod {result.prime}"
    return MethodValue(method, result.lower, result.status, remark)


def best_upper_bound(model: Model, *, field: CoefficientField) -> UpperBound | None:
    """Return the smallest upper bound that the model knows."""
    return min(
        model.upper_bounds(field.characteristic), key=lambda bound: bound.value, default=None
    )


def _by_lower_bounds(bounds: Iterator[LowerBound], upper: UpperBound | None) -> list[MethodValue]:
    """The bounds that were computed until the limit on time or size, and the limit."""
    values: list[MethodValue] = []
    try:
        for bound in bounds:
            if upper is not None and bound.value > upper.value:
                raise ContradictionError(
                    f"the bound {bound} exceeds the upper bound {upper.value}: {upper.reason}"
                )
            proved = upper is not None and bound.value == upper.value
            remark = (
                f"{bound.reason}; {'attains' if proved else 'below'} an upper bound"
                if upper
                else bound.reason
            )
            values.append(
                MethodValue(
                    bound.method, bound.value, "proved" if proved else "lower bound", remark
                )
            )
    except (TimeLimitError, MethodUnavailableError, TooLargeError) as limit:
        values.append(MethodValue("rank", None, "unfinished", str(limit)))
    return values

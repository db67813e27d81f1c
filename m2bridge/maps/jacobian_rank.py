"""The dimension of the closure of an image, by exact ranks of the differential; without an engine.

At a point the rank of the differential is at most the dimension, in every characteristic, so each
rank that is computed is a proved lower bound. It is the dimension where it attains an upper bound
that needs no computation: the number of coordinates, the number of parameters less the dimension of
the orbits of a group that keeps the function, or a bound that the model knows. For small maps over
QQ it is also proved by a computation that all larger minors of the Jacobian matrix are zero. Over
QQ the rank at generic points is the dimension; in characteristic p it can be smaller at every
point.

A rank above an upper bound is a ContradictionError: then the group or the bound of the model is
wrong. Too large matrices are a TooLargeError, and random points of parameters that satisfy
relations a MethodUnavailableError.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, Any, get_args

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
from m2bridge.maps.model import DifferentiableModel, MethodValue, Model, Status
from m2bridge.results.known import UNKNOWN, Bounds, bounds_agree, intersect_bounds
from m2bridge.statements.statement import Observed, Value

if TYPE_CHECKING:
    from m2bridge.algebra.polynomial_map import PolynomialMap

PRIMES = (LARGE_PRIME, 2**61 - 1)
"""The primes modulo which ranks are computed.

The second one is tried if the rank modulo the first is below all upper bounds, or if the first one
divides a denominator.
"""
MAX_ENTRIES = 50_000_000
"""The largest number of entries of a matrix; its rank takes minutes and several GB."""
FROM_TWO_TOKENS = "t ≥ 2"
"""The numbers t of tokens for which a rank is proved, if the proof is for all of them."""
ALMOST_ALL_TOKENS = "t = 2 and all but finitely many t"
"""The numbers t for which a rank at t = 2 is proved, as minors are analytic in t.

Proof: docs/weights-mathematics.md.
"""
SPARE_ROWS = 5
"""The number of rows beyond the upper bound.

Random rows are independent with a probability near 1; a few more compensate for dependent ones.
"""
GRADIENTS_PER_CLOCK_CHECK = 32
"""The number of gradients that are computed between two checks of the deadline."""
RANDOM_POINT_SEED = 20240817
"""The seed of random points, which are the same in each run."""

NO_LARGER_MINOR = "no larger minor is a nonzero polynomial"
"""The reason for an upper bound by minors of the Jacobian matrix."""
RELATIONS = "the parameters satisfy relations; use elimination"
"""The reason why no rank is computed: random parameters do not satisfy relations."""


def decide_regular(dimension: Bounds, least: int | None, most: int | None) -> bool | None:
    """Return whether the rank of the differential at a point, between ``least`` and ``most`` where
    they are known, is the dimension of the image; ``None`` if that is not decided.

    A lower bound that is less than the dimension does not show that the point is critical.
    """
    # The rank at a point is at most the dimension of the image. ``dimension.least`` is the lower
    # bound of the dimension, or −∞ without one.
    if least is not None and least == dimension.upper:
        return True
    if most is not None and most < dimension.least:
        return False
    return None


def dimension_facts(
    parameters: int, dimension: Bounds, scope: str = ""
) -> list[tuple[str, object]]:
    """Return the lines of a summary on the dimension of an image, and on redundant parameters:
    those more than the dimension, if that is proved. ``scope`` are words on the map, as ``without
    norms``.
    """
    facts: list[tuple[str, object]] = [("parameters", parameters)]
    if dimension.exact is None:
        return [*facts, ("dimension", f"{dimension}: {dimension.because}")]
    of_map = f", {scope}" if scope else ""
    facts.append(("dimension", f"{dimension}{of_map} (proved)"))
    return [*facts, ("redundant directions", parameters - dimension.exact)]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankResult(Bounds):
    """The dimension of the closure of an image, between the largest rank found and an upper bound,
    for the reason ``because``. The matrix has a row for each gradient, a column for each parameter.
    """

    prime: int
    rows: int
    columns: int


def rank_result(
    model: Model, characteristic: int = 0, *, upper_bound_by_minors: bool = True
) -> RankResult:
    """Return bounds for the dimension, by the rank of the differential at random points.

    The rows of the matrix are gradients of outputs with respect to the parameters. For a family of
    functions each row belongs to a random input x of its own and a random combination of the
    outputs: it is a value of the polynomial map (x, g) ↦ ∂_w ⟨g, φ_w(x)⟩, whose values span the row
    space of the Jacobian matrix of all coefficients. As long as the rows do not span it, a random
    pair (x, g) enlarges their span with probability at least 1 − (D + 1)/p, where D is the degree
    of φ_w as a polynomial in x, by the lemma of Schwartz and Zippel. In any case it is at most
    the rank of the Jacobian matrix, and so a proved lower bound for the dimension.

    A :class:`~m2bridge.maps.model.DifferentiableModel` is never expanded. In characteristic p
    points and inputs are from GF(p), which for small p may give a rank that is too small. With
    ``upper_bound_by_minors`` it is tried, for small expanded maps over QQ whose rank is below all
    other upper bounds, to prove that all larger minors are zero. A model without reduction modulo
    the characteristic is an InvalidCaseError.
    """
    source = differentiable(model)
    upper = upper_bound(model, source, characteristic)
    best: RankResult | None = None
    primes: tuple[int, ...] = PRIMES
    if characteristic:
        # there are more attempts for a small p, since many of its points are special
        is_small = characteristic <= 1000
        primes = (characteristic,) * (20 if is_small else len(PRIMES))
    for attempt, prime in enumerate(primes):
        try:
            # each attempt has a random point of its own
            rows = _gradients(
                source,
                # no more rows are independent than the upper bound says
                count=upper.value + SPARE_ROWS,
                prime=prime,
                random=Random(RANDOM_POINT_SEED + attempt),
            )
        except InvalidCaseError:  # the prime divides a denominator
            if characteristic:
                raise
            continue
        rank = Bounds.at_least(rank_mod(rows, prime), f"jacobian mod {prime}")
        bounds = compare_with_upper_bound(model, rank, upper)
        if best is None or bounds.least > best.least:
            best = RankResult(
                lower=bounds.lower,
                upper=bounds.upper,
                because=upper.because,
                prime=prime,
                rows=len(rows),
                columns=source.parameter_count,
            )
        if best.exact is not None:  # the rank attains the upper bound
            break
    if best is None:
        raise MethodUnavailableError(
            f"{' and '.join(map(str, PRIMES))} divide denominators of the map"
        )
    # only maps that were expanded are small
    is_expanded = not isinstance(model, DifferentiableModel)
    if upper_bound_by_minors and is_expanded and not characteristic and best.exact is None:
        by_minors = _upper_bound_by_minors(model.free_map, best.value)
        if by_minors is not None:
            best = replace(best, upper=by_minors.upper, because=by_minors.because)
    return best


def compare_with_upper_bound(model: Model, lower: Bounds, upper: Bounds) -> Bounds:
    """Return the intersection of a lower bound, whose reason is its method, and an upper bound of
    the model.
    """
    if bounds_agree(lower, upper):
        return intersect_bounds(lower, upper)
    raise ContradictionError(
        f"the dimension is at least {lower.lower} ({lower.because}), which exceeds the upper bound"
        f" {upper.upper} ({upper.because}): gauge_dimension or upper_bounds of the family"
        f" '{model.family}' is wrong"
    )


def differentiable(model: Model) -> DifferentiableModel:
    """Return the model itself if it can be differentiated without being expanded, else the chain of
    the one layer that is its free parametrization.
    """
    if isinstance(model, DifferentiableModel):
        return model
    from m2bridge.maps.chain import Chain, Layer  # imports SymPy

    if model.free_map.relations:
        raise MethodUnavailableError(RELATIONS)
    return Chain((Layer(model.free_map),))


def upper_bound(model: Model, source: DifferentiableModel, characteristic: int = 0) -> Bounds:
    """Return the smallest upper bound for the dimension that is known without a computation;
    ``source`` is ``differentiable(model)``, which has the parameters of the model.
    """
    gauge = model.gauge_dimension()
    reason = "the number of parameters"
    if gauge:
        reason = (
            f"{source.parameter_count} parameters, less {gauge} for the orbits of a group that"
            " keeps the function"
        )
    bounds = [Bounds.at_most(source.parameter_count - gauge, reason)]
    if not source.input_count:  # with inputs, outputs are functions, not coordinates
        bounds.append(Bounds.at_most(source.output_count, "the number of coordinates"))
    return intersect_bounds(*bounds, *model.upper_bounds(characteristic))


def best_upper_bound(model: Model, *, field: CoefficientField) -> Bounds:
    """Return the smallest upper bound that the model itself knows; open bounds if it knows none."""
    return intersect_bounds(*model.upper_bounds(field.characteristic))


def _gradients(
    source: DifferentiableModel, count: int, prime: int, random: Random
) -> list[list[int]]:
    """Return rows of the differential at a random point modulo the prime, which span all its rows
    with a probability near 1 unless the prime is small.

    Functions are known by their values: a model with inputs has ``count`` rows, each for a random
    input and a random covector on the outputs. A model without inputs has a row for each
    coordinate.
    """
    size = count if source.input_count else source.output_count
    if size * source.parameter_count > MAX_ENTRIES:
        raise TooLargeError(
            f"the matrix of the differential would have {size} rows and {source.parameter_count}"
            f" columns; at most {MAX_ENTRIES} entries are handled: take smaller numbers"
        )

    def random_vector(length: int) -> list[int]:
        """A vector over GF(prime)."""
        return [random.randrange(prime) for _ in range(length)]

    point = random_vector(source.parameter_count)
    rows: list[list[int]] = []
    # a batch is short enough for the clock to be read often, and long enough for NumPy
    for start in range(0, size, GRADIENTS_PER_CLOCK_CHECK):
        check()
        inputs, covectors = [], []
        for number in range(start, min(start + GRADIENTS_PER_CLOCK_CHECK, size)):
            inputs.append(random_vector(source.input_count))
            if source.input_count:
                covectors.append(random_vector(source.output_count))
            else:
                covectors.append([int(i == number) for i in range(size)])
        rows += source.pullbacks(point, inputs, covectors, prime)
    check()
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedRank(Observed):
    """The observed dimension of a model without orbits, with which predictions are compared: the
    only observable that it has, ``dimension``.
    """

    model: Model
    result: RankResult
    seconds: float
    remarks: tuple[str, ...] = ()
    engine_version: str = ""

    @property
    def dimension(self) -> int | None:
        """The dimension of the closure; ``None`` where the bounds do not meet."""
        return self.result.exact

    def value(self, observable: str) -> Value | None:
        """Return the dimension for the observable ``dimension``, if it is known."""
        return self.dimension if observable == "dimension" else None

    def unknown(self, observable: str) -> str:
        """Return why an observable has no value: for the dimension, the bounds for it."""
        if observable != "dimension":
            return "not decided by this method"
        return f"the dimension is {' and '.join(self.result.sides())}"

    def bounds(self, observable: str) -> Bounds:
        """Return the bounds for the dimension."""
        return self.result if observable == "dimension" else UNKNOWN

    def numbers(self) -> dict[str, int]:
        """Return ``lower_bound`` and ``upper_bound`` of the dimension by these names."""
        bounds = self.to_json()
        del bounds["dimension"]  # what is left are the two bounds
        return bounds

    def facts(self) -> list[tuple[str, str | None]]:
        """Return the line of a summary with the dimension, or with the bounds for it."""
        if self.dimension is None:
            return [("dimension", str(self.result))]
        return [("affine dimension", f"{self.dimension} (proved)")]

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary for ``json.dumps``."""
        return self.result.to_json()


def observe_rank(model: Model, *, certified: bool = False) -> ObservedRank:
    """Return the dimension of the closure, or bounds for it, by the rank of the differential at
    random points; with the seconds that this took.

    With ``certified`` only upper bounds that the model knows are used, which its checker has too;
    otherwise also the proof by minors, as for :func:`~m2bridge.maps.dimension.dimension`.
    """
    # no limit in addition to the caller's; the clock of the block begins at 0
    with limited(None) as running:
        result = rank_result(model, upper_bound_by_minors=not certified)
        return ObservedRank(model=model, result=result, seconds=running.seconds)


def jacobian_findings(model: Model, *, field: CoefficientField = QQ) -> list[MethodValue]:
    """Compute the rank of the differential at random points, one value for each method: over QQ and
    modulo a large prime; in characteristic p over GF(p), and also over an extension if p is small.

    A model that knows lower bounds is asked for them instead. A model that can be differentiated
    without being expanded is not expanded, and has a rank modulo a prime only: over QQ one of
    ``PRIMES``, else p. At the limit on time the value is not known, and the remark is the limit.
    """
    model.check_field(field)
    p = field.characteristic
    lower_bounds = model.lower_bounds(p)
    if lower_bounds is not None:
        return _by_lower_bounds(model, lower_bounds, best_upper_bound(model, field=field))
    try:
        if isinstance(model, DifferentiableModel):
            return [_by_evaluation(model, p)]
        if model.free_map.relations:
            return [MethodValue("jacobian", Bounds(because=RELATIONS), "not applicable")]
        upper = upper_bound(model, differentiable(model), p)
        if not p:
            return _over_the_rationals(model, upper)
        from m2bridge.algebra.differential import generic_rank  # imports SymPy

        # the rank, and the field of the point where it was found, in words
        rank, place = generic_rank(model.free_map, upper.value, field=field)
        place += "; in this characteristic it can be less than the dimension at every point"
        return [_rank_finding("jacobian", rank, place, model, upper)]
    except TimeLimitError as limit:
        methods = ["jacobian"] if p else [f"jacobian mod {LARGE_PRIME}"]
        if not p and not isinstance(model, DifferentiableModel):
            methods.append("jacobian over QQ")
        unknown = Bounds(because=str(limit))
        return [MethodValue(method, unknown) for method in methods]


def best_value(values: Sequence[MethodValue]) -> MethodValue | None:
    """Return the most certain value, and the largest of several equally certain ones."""
    for status in get_args(Status):  # the most certain first
        of_status = [value for value in values if value.status == status]
        if of_status:
            return max(of_status, key=lambda value: value.known.least)
    return None


def _over_the_rationals(model: Model, upper: Bounds) -> list[MethodValue]:
    """Return two values, by the generic rank of the free map modulo a large prime, which is quick,
    and by the generic rank over QQ.

    A prime is unlucky if all minors of the size of the rank over QQ vanish modulo it: where the
    rank modulo the first prime is less than the rank over QQ, further primes are tried, and the
    largest rank is returned, with its prime in the name of the method. Where the rank found over QQ
    is below the upper bound, and the map is small, a computation with minors may prove that none is
    larger.
    """
    from m2bridge.algebra.differential import generic_rank  # imports SymPy

    free = model.free_map
    # generic_rank tries points until it finds the rank that it is given
    prime, *further_primes = islice(primes_from(LARGE_PRIME), 4)  # should the first be unlucky
    modular_rank = generic_rank(free, upper.value, field=CoefficientField(prime)).rank
    try:
        # over QQ no point is tried after one with at least the rank modulo the prime
        rational_rank = generic_rank(free, modular_rank, field=QQ).rank
        for further_prime in further_primes:
            if modular_rank >= rational_rank:
                break
            further_field = CoefficientField(further_prime)
            rank = generic_rank(free, rational_rank, field=further_field).rank
            if rank > modular_rank:
                modular_rank, prime = rank, further_prime
        by_minors = None
        if rational_rank < upper.most:
            by_minors = _upper_bound_by_minors(free, rational_rank)
        if by_minors is None:
            over_qq = _rank_finding("jacobian over QQ", rational_rank, "QQ", model, upper)
        else:  # in characteristic 0 the largest rank is the dimension
            rank_over_qq = Bounds.exactly(rational_rank, by_minors.because)
            over_qq = MethodValue("jacobian over QQ", rank_over_qq)
    except TimeLimitError as limit:
        over_qq = MethodValue("jacobian over QQ", Bounds(because=str(limit)))
    modular = _rank_finding(f"jacobian mod {prime}", modular_rank, f"GF({prime})", model, upper)
    return [modular, over_qq]


def _upper_bound_by_minors(free: PolynomialMap, rank: int) -> Bounds | None:
    """Return a rank that was found over QQ as an upper bound; ``None`` if it is not proved that all
    larger minors are zero.
    """
    from m2bridge.algebra.differential import generic_rank_is_at_most  # imports SymPy

    if generic_rank_is_at_most(free, rank):
        return Bounds.at_most(rank, NO_LARGER_MINOR)
    return None


def _rank_finding(method: str, rank: int, place: str, model: Model, upper: Bounds) -> MethodValue:
    """Return the dimension by a rank: proved if it attains ``upper``, else a lower bound; ``place``
    is the field over which the rank was computed, in words.
    """
    bounds = compare_with_upper_bound(model, Bounds.at_least(rank, method), upper)
    if bounds.exact is not None:
        return MethodValue(method, Bounds.exactly(rank, "the rank attains an upper bound"))
    return MethodValue(method, Bounds.at_least(rank, f"rank at random points over {place}"))


def _by_evaluation(model: Model, characteristic: int) -> MethodValue:
    """Return the dimension, or a lower bound, by a rank of a model that is not expanded."""
    result = rank_result(model, characteristic)
    # over QQ the rank is computed modulo one of ``PRIMES``, which is named
    method = "jacobian" if characteristic else f"jacobian mod {result.prime}"
    if result.exact is None:
        remark = f"rank at random points; at most {result.upper}"
        return MethodValue(method, Bounds.at_least(result.lower, remark))
    remark = f"the rank attains an upper bound: {result.because}"
    return MethodValue(method, Bounds.exactly(result.exact, remark))


def _by_lower_bounds(
    model: Model, lower_bounds: Iterator[MethodValue], upper: Bounds
) -> list[MethodValue]:
    """Return the lower bounds of a model, each compared with the upper bound of the dimension;
    where computing one reaches a limit, a last value is not known, with the limit as its remark.
    """
    values: list[MethodValue] = []
    try:
        for lower in lower_bounds:
            by_method = replace(lower.known, because=lower.method)
            dimension = compare_with_upper_bound(model, by_method, upper).exact
            bounds = lower.known
            if dimension is not None:
                bounds = Bounds.exactly(dimension, f"{lower.remark}; attains an upper bound")
            elif not upper.is_open:
                bounds = Bounds.at_least(bounds.lower, f"{lower.remark}; below an upper bound")
            values.append(MethodValue(lower.method, bounds))
    except (TimeLimitError, MethodUnavailableError, TooLargeError) as limit:
        values.append(MethodValue("rank", Bounds(because=str(limit))))
    return values

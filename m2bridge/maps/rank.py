"""The dimension of the closure of an image, by exact ranks modulo primes and upper bounds; no engine, no expansion."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Any, Literal

from m2bridge.algebra.linear_algebra import rank_mod
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.errors import ContradictionError, InvalidCaseError, MethodUnavailableError, TooLargeError
from m2bridge.limits import check as check_clock, limited
from m2bridge.maps.model import DifferentiableModel, Model, UpperBound
from m2bridge.maps.statement import Value, WithoutOrbits

PRIMES = (LARGE_PRIME, 2**61 - 1)
"""The second prime is tried where the first one gave a rank below all upper bounds, or divides a denominator."""

MAX_ENTRIES = 50_000_000
"""Entries of the largest matrix whose rank is computed: some minutes, and some GB."""

SPARE_ROWS = 5
BATCH = 32
SEED = 20240817
_SMALL = 1000
Pair = tuple[list[int], list[int]]


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


def rank_result(
    model: Model, characteristic: int = 0, *, seed: int = SEED, check: Callable[[], None] = lambda: None
) -> RankResult:
    """Compute the rank of the differential of a parametrization at random points.

    The rows of the matrix are gradients of outputs with respect to the parameters. For a family of functions each row
    belongs to a random input x of its own and a random combination of the outputs: it is a value of the polynomial map
    (x, g) ↦ ∂_w ⟨g, φ_w(x)⟩, whose values span the row space of the Jacobian matrix of all coefficients. As long as the
    rows do not span it, a random pair (x, g) enlarges their span with probability at least 1 − (degree + 1)/p. In any
    case the rank is at most that of the Jacobian matrix, and so a proved lower bound for the dimension.

    Parameters
    ----------
    model : Model
        A :class:`~m2bridge.maps.model.DifferentiableModel` is never expanded.
    characteristic : int
        0, or a prime p; then points and inputs are from GF(p), which for small p may give a rank that is too small.
    seed : int
        Choice of points and inputs.
    check : callable
        Called every few rows; it stops the computation by raising.

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
            rows = _gradients(source, upper.value + SPARE_ROWS, prime, Random(seed + attempt), check)
        except InvalidCaseError:  # the prime divides a denominator
            if characteristic:
                raise
            continue
        found = RankResult(rank_mod(rows, prime), upper, prime, len(rows), source.parameter_count)
        if found.lower > upper.value:
            raise ContradictionError(f"the rank {found.lower} exceeds the upper bound {upper.value}: {upper.reason}")
        if best is None or found.lower > best.lower:
            best = found
        if best.status == "proved":
            break
    if best is None:
        raise MethodUnavailableError(f"{' and '.join(map(str, PRIMES))} divide denominators of the map")
    return best


def differentiable(model: Model) -> DifferentiableModel:
    """The model itself if it can be differentiated, else its free parametrization."""
    if isinstance(model, DifferentiableModel):
        return model
    from m2bridge.maps.map_model import MapModel  # needs SymPy, which is slow to import

    return MapModel(model.free_parametrization() or model.parametrization())


def upper_bounds(model: Model, source: DifferentiableModel, characteristic: int = 0) -> list[UpperBound]:
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
    source: DifferentiableModel, count: int, prime: int, random: Random, check: Callable[[], None]
) -> list[list[int]]:
    size = count if source.input_count else source.output_count
    if size * source.parameter_count > MAX_ENTRIES:
        raise TooLargeError(
            f"the matrix of the differential would have {size} rows and {source.parameter_count} columns;"
            f" at most {MAX_ENTRIES} entries are handled: take smaller numbers"
        )
    point = [random.randrange(prime) for _ in range(source.parameter_count)]
    pairs = _random_pairs(source, size, prime, random) if source.input_count else _all_outputs(source.output_count)
    rows: list[list[int]] = []
    while batch := list(islice(pairs, BATCH)):
        check()
        inputs, covectors = zip(*batch, strict=True)
        rows += source.pullbacks(point, inputs, covectors, prime)
    check()
    return rows


def _random_pairs(source: DifferentiableModel, count: int, prime: int, random: Random) -> Iterator[Pair]:
    """Inputs, each with a random combination of the outputs."""
    for _ in range(count):
        x = [random.randrange(prime) for _ in range(source.input_count)]
        yield x, [random.randrange(prime) for _ in range(source.output_count)]


def _all_outputs(count: int) -> Iterator[Pair]:
    """Each output alone."""
    for j in range(count):
        yield [], [0] * j + [1] + [0] * (count - j - 1)


@dataclass(frozen=True, slots=True)
class ObservedRank(WithoutOrbits):
    """The observed dimension of a model without orbits; see :class:`m2bridge.maps.statement.Observed`.

    Parameters
    ----------
    model : Model
    found : RankResult
    seconds : float
    """

    model: Model
    found: RankResult
    seconds: float
    remarks: tuple[str, ...] = ()
    engine_version: str = ""
    unfinished: str = ""
    progress: str = ""

    @property
    def dimension(self) -> int | None:
        """The dimension of the closure, where the bounds meet."""
        return self.found.lower if self.found.status == "proved" else None

    def value(self, observable: str) -> Value | None:
        """The dimension; nothing else is observed."""
        return self.dimension if observable == "dimension" else None

    def unknown(self, observable: str) -> str:
        """The bounds between which the dimension lies."""
        if observable != "dimension":
            return "not decided by this method"
        return f"the dimension is at least {self.found.lower} and at most {self.found.upper.value}"

    def numbers(self) -> dict[str, int]:
        """Both bounds."""
        return {"lower_bound": self.found.lower, "upper_bound": self.found.upper.value}

    def evidence(self) -> dict[str, Any]:
        """The part of a certificate."""
        return self.to_json()

    def facts(self) -> list[tuple[str, str | None]]:
        """The dimension, or the bounds."""
        if self.dimension is not None:
            return [("dimension", f"{self.dimension} affine (proved)")]
        return [("dimension", f"at least {self.found.lower}, at most {self.found.upper.value}")]

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return {"dimension": self.dimension, **self.numbers()}


def observe_rank(model: Model) -> ObservedRank:
    """Observe the dimension of the closure; see :func:`m2bridge.maps.rank.rank_result`."""
    with limited(None) as running:
        found = rank_result(model, check=check_clock)
        return ObservedRank(model, found, running.seconds)

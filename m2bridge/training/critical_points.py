"""Where training stops: all critical points of the squared loss of a layer on given data.

What is counted, what is proved, and what rests on other programs is in docs/learning-degrees.md.

Functions of a layer are in *orbits*, of which one is dense. Complex critical points are counted
modulo a prime: ``count.dense`` of them are at functions of the dense orbit, and ``count.elsewhere``
at others; either is ``None`` if there are infinitely many, as they *come in families*. With
``count.by_orbit`` false, ``dense`` is the number of all points, and those elsewhere were not
counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import permutations
from numbers import Integral
from typing import Any, NamedTuple, Unpack

from m2bridge.algebra.intervals import digits_text, ends, rounded_up_text
from m2bridge.convert.m2_syntax import sequence
from m2bridge.engine import RunOptions, computation, current, msolve
from m2bridge.errors import (
    InvalidCaseError,
    MemoryLimitError,
    MethodUnavailableError,
    TimeLimitError,
    TooLargeError,
    check_flag,
)
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.polar.theorem import predicted_polar_degrees
from m2bridge.families.attention.sizes import is_birational
from m2bridge.families.attention.training_loss.counting import Counts, count_on_two_primes
from m2bridge.families.attention.training_loss.landscape import RealPoint
from m2bridge.families.attention.training_loss.loss import Loss
from m2bridge.families.attention.training_loss.real_points import Isolation
from m2bridge.limits import clock
from m2bridge.results.base import Proof, Result, result_json
from m2bridge.results.sheet import Block, Facts, Sheet, Table, computed_by, in_brackets, matrix_text
from m2bridge.training.data import DataSource, read_loss


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalPoints(Result):
    """The critical points of a squared loss on the functions of a layer.

    Parameters
    ----------
    title : str
        The model in words.
    case : dict or None
        The numbers of the model by name, as ``SingleLayerAttention.to_json`` has them.
    data, target : str
        The quadratic form and the target function, in words.
    seed : int
    counts : Counts
        The numbers of complex critical points, ``counts.count``, and the two primes modulo which
        they were counted, with the same result.
    weights_of_each : int
        How many weights, up to rescaling and the choice of K and Q, have the same function: 2 for
        min(a, d) = d' = 1 < d, else 1.
    generic_ed_degree : int or None
        The number for a general quadratic form and target; ``None`` if it is not computed.
    points : tuple of RealPoint or None
        All real critical points, by increasing loss; ``None`` if they were not asked for or not
        found.
    isolated_by : str
        The program that isolated the real points; empty if there are no points.
    engine_version : str
    seconds : float
    unfinished : str
        Why the real points, or their orbits, are not known; empty if they are.
    rounded_bits : int or None
        Where numbers are long, the real points are found from a loss that is rounded to so many
        bits, and proved for the given one: all complex points lie in disjoint boxes, one in each,
        as many as were counted. ``None`` if nothing was rounded.

    Examples
    --------
    >>> found = critical_points(SingleLayerAttention(d=2, d_out=1), count_only=True)
    >>> found.critical_points, found.generic_ed_degree
    (6, 14)
    """

    title: str
    case: dict[str, Any] | None
    data: str
    target: str
    seed: int
    counts: Counts
    weights_of_each: int
    generic_ed_degree: int | None
    points: tuple[RealPoint, ...] | None
    isolated_by: str
    engine_version: str
    seconds: float
    unfinished: str
    rounded_bits: int | None = None

    @property
    def critical_points(self) -> int | None:
        """The number of complex critical functions, with multiplicity: of those in the dense orbit,
        or of all where they were not counted by orbits.

        It is a result modulo two primes; ``None`` where they come in families.
        """
        dense = self.counts.count.dense
        return None if dense is None else dense // self.weights_of_each

    @property
    def primes(self) -> tuple[int, int]:
        """The primes modulo which the points were counted."""
        return self.counts.primes

    @property
    def real_points(self) -> tuple[RealPoint, ...] | None:
        """The real points at functions of the dense orbit, by increasing loss.

        ``None`` if the real points are not known.
        """
        if self.points is None:
            return None
        return tuple(point for point in self.points if point.is_dense)

    @property
    def real_points_elsewhere(self) -> tuple[RealPoint, ...] | None:
        """The real points that are not shown to be at functions of the dense orbit.

        They may be at singular or boundary functions, at the function zero, or at smooth functions
        of smaller orbits. ``None`` if the real points are not known.
        """
        if self.points is None:
            return None
        return tuple(point for point in self.points if not point.is_dense)

    @property
    def spurious_minima(self) -> bool | None:
        """Whether some local minimum has a larger loss than another one; ``None`` if undecided.

        True is proved by the two minima. False also depends on the list of points being complete.
        """
        if self.points is None:
            return None
        minima = [point for point in self.points if point.kind == "minimum"]
        # a minimum whose interval is above the interval of another one has a larger loss
        intervals = [point.loss_interval for point in minima]
        if any(one > other for one, other in permutations(intervals, 2)):
            return True
        # Points outside the dense orbit that come in families are left out; without ``by_orbit``,
        # ``None`` means that these points were not counted.
        count = self.counts.count
        are_left_out = count.elsewhere is None and count.by_orbit
        if are_left_out or any(point.kind == "undecided" for point in self.points):
            return None
        # Minima of one function, or with the loss 0, have the same loss; without any minimum none
        # is spurious.
        if len(minima) == 1 or self._are_one_function(minima):
            return False
        if all(point.loss_interval.is_zero() for point in minima):
            return False
        return None

    def _are_one_function(self, minima: Sequence[RealPoint]) -> bool:
        """Whether ``minima`` are the two weights of one function, for min(a, d) = d' = 1 < d.

        A function then has two weights. If one of them is critical, so is the other, and both are
        in the list of points. So the second weights of the function of the first minimum are in the
        list: if only one other point of the list may have this function, it is that point.
        """
        if self.weights_of_each == 1 or len(minima) != 2:
            return False
        if not all(point.is_dense for point in minima) or self.points is None:
            return False
        first, second = minima
        with_same_function = []
        for point in self.points:
            # two points may have one function if the balls of all coordinates overlap
            pairs = zip(point.function.entries(), first.function.entries(), strict=True)
            if point is not first and all(x.overlaps(y) for x, y in pairs):
                with_same_function.append(point)
        return with_same_function == [second]

    def proof(self) -> Proof:
        """Return that the number is not proved: it is counted modulo primes."""
        first, second = self.primes
        return Proof(False, f"critical points are counted modulo the primes {first} and {second}")

    def __repr__(self) -> str:
        return in_brackets(self, "title", "critical_points", "generic_ed_degree")

    def to_sheet(self) -> Sheet:
        """Return the page: the numbers, and tables of the real points in and outside the dense
        orbit.
        """
        blocks: list[Block] = [Facts(_facts(self))]
        blocks += _tables(self)
        formulas = []
        if self.critical_points is not None:
            formulas.append(rf"\#\{{\text{{critical points}}\}} = {self.critical_points}")
        return Sheet(f"Critical points of the squared loss: {self.title}", blocks, formulas)

    def to_json(self) -> dict[str, Any]:
        """Return the numbers and the real points for ``json.dumps``; ``None`` if not known."""
        count = self.counts.count
        dense, elsewhere = self.real_points, self.real_points_elsewhere
        return result_json(self.case, "QQ", self.engine_version, self.seconds) | {
            "title": self.title,
            "data": self.data,
            "target": self.target,
            "seed": self.seed,
            "critical_points": self.critical_points,
            "weights_of_each": self.weights_of_each,
            "critical_points_elsewhere_in_chart": count.elsewhere,
            "orbits_counted": count.by_orbit,
            "primes": list(self.primes),
            "generic_ed_degree": self.generic_ed_degree,
            "real_points": _points_json(dense),
            "real_points_elsewhere": _points_json(elsewhere),
            "isolated_by": self.isolated_by or None,
            "rounded_bits": self.rounded_bits,
            "spurious_minima": self.spurious_minima,
            "unfinished": self.unfinished or None,
            **self.proof()._asdict(),
        }

    def to_macaulay2(self) -> str:
        """Return Macaulay2 assignments of the number, ``null`` if unknown, and of the primes."""
        number = "null" if self.critical_points is None else str(self.critical_points)
        return f"criticalPoints = {number}\nprimes = {sequence(map(str, self.primes))}"


def _points_json(points: Sequence[RealPoint] | None) -> list[dict[str, Any]] | None:
    """Return points for ``json.dumps``; ``None`` for points that are not known."""
    return None if points is None else [point.to_json() for point in points]


def _facts(result: CriticalPoints) -> list[tuple[str, object]]:
    """Return names and values of the numbers for a page; a value ``None`` is not shown."""
    count, of_each = result.counts.count, result.weights_of_each
    number = "not isolated: they come in families"
    if result.critical_points is not None:
        first_prime, second_prime = result.primes
        number = f"{result.critical_points}, modulo the primes {first_prime} and {second_prime}"
    elsewhere = left_out = None
    if count.elsewhere:
        elsewhere = f"{count.elsewhere} in the chart, outside the dense orbit"
    # without ``by_orbit`` all points were counted together
    if count.elsewhere is None and count.by_orbit:
        left_out = "points outside the dense orbit, which come in families"
    # points were counted in V alone, so that V has to determine A
    elif count.eliminated:
        left_out = "points where V does not determine A; over the reals there are none"
    facts: list[tuple[str, object]] = [
        ("data", result.data),
        ("target", result.target),
        ("loss", "half the mean, over all tokens, of the squared norm of the error"),
        ("complex critical points", number),
        ("weights of each", of_each if of_each > 1 else None),
        ("elsewhere", elsewhere),
        ("left out", left_out),
        ("generic ED degree", result.generic_ed_degree),
    ]
    if result.real_points is not None:
        real_number = str(len(result.real_points))
        if of_each > 1:
            real_number += f" weights of {len(result.real_points) // of_each} functions"
        # a minimum is spurious if it has a larger loss than another one
        spurious = f"none: proved, if the list of {result.isolated_by} is complete"
        isolated = f"isolated by {result.isolated_by}"
        if result.rounded_bits is not None:
            spurious = "none: proved, if the number of complex points is"
            isolated = (
                f"proved with all complex ones; found by {result.isolated_by} for data rounded to"
                f" {result.rounded_bits} bits"
            )
        if result.spurious_minima is None:
            spurious = "undecided"
        elif result.spurious_minima:
            spurious = "yes: proved by intervals around two minima"
        facts.append(("real critical points", f"{real_number}, {isolated}"))
        facts.append(("spurious minima", spurious))
    return [
        *facts,
        ("not finished", result.unfinished or None),
        ("computed by", computed_by(result.engine_version, result.seconds)),
    ]


def _tables(result: CriticalPoints) -> list[Block]:
    """Return a table of the real points of the dense orbit, and one of those elsewhere, if any."""
    blocks: list[Block] = []
    points_by_caption = {
        "Real critical points": result.real_points,
        "Real critical points elsewhere": result.real_points_elsewhere,
    }
    for caption, points in points_by_caption.items():
        if not points:
            continue
        matrix_names = list(points[0].entries)  # A and V, and for a < d K and Q
        header = ("kind", "index", "loss", "orbit", *matrix_names)
        rows = []
        for point in points:
            orbit = "zero" if point.is_zero else str(point.orbit or "–")
            index = "–" if point.index is None else point.index
            matrices = []
            for name in matrix_names:
                entries = point.entries[name]
                # the digits that are proved, and few of them
                texts = [[digits_text(ends(x), 5) for x in row] for row in entries]
                matrices.append(matrix_text(texts))
            rows.append((point.kind, index, _loss_text(point), orbit, *matrices))
        blocks.append(Table(header, rows, caption))
    return blocks


def _loss_text(point: RealPoint) -> str:
    """Return the loss of a point with the digits, at most a few, that its interval proves; as an
    upper bound if it may be zero.
    """
    lower, upper = ends(point.loss_interval)
    if upper == 0:
        return "0"
    if lower <= 0:
        # rounded up, so that it stays an upper bound
        return f"at most {rounded_up_text(upper)}"
    return digits_text((lower, upper), 9)


@computation
def critical_points(
    model: SingleLayerAttention,
    data: DataSource | None = None,
    *,
    tokens: str | None = None,
    quadratic: str | None = None,
    teacher: DataSource | None = None,
    seed: int = 0,
    count_only: bool = False,
    **options: Unpack[RunOptions],
) -> CriticalPoints:
    """Find all critical points of the squared loss of a layer on given data.

    The loss is half the mean, over all tokens of all sequences, of the squared norm of the error,
    which is a sum over the outputs of a token. Critical points are those of the loss as a function
    of A = KᵀQ and V, and for a < d of K, Q and V.

    Parameters
    ----------
    model : SingleLayerAttention
        With t ≥ 2; where data are given, t is that of the data.
    data : path or mapping, optional
        Arrays ``X`` of shape (sequences, d, t) and ``Y`` of shape (sequences, d', t), or ``X`` and
        the weights of a teacher, ``A`` and ``V`` or ``K``, ``Q`` and ``V``.
    tokens : {"gaussian"}, optional
        Tokens whose entries are independent standard normal numbers, by their exact moments. The
        default, if nothing else is given.
    quadratic : {"random"}, optional
        A random positive definite quadratic form in place of data.
    teacher : path or mapping, optional
        The weights of a teacher, whose function is the target. Without it and without ``Y`` the
        target has random integers as coordinates.
    seed : int
        For random integers.
    count_only : bool
        Stop after the number of complex critical points.
    engine : Engine, optional
        A Macaulay2 to use; without one, the Macaulay2 of the ``with`` block around it, else one
        that the process shares.
    timeout : float, optional
        Seconds for the whole computation.

    Raises
    ------
    InvalidCaseError
        If arrays are missing, unknown, or have wrong shapes, if an entry is not finite, or if some
        function vanishes on all data, so that the loss does not determine the function.
    ConversionError
        If a file cannot be read.
    TooLargeError
        If the functions of the layer have too many coordinates.
    MethodUnavailableError
        If no two primes give the same number.
    TimeLimitError, MemoryLimitError
        If a limit is reached before the complex critical points are counted.

    Examples
    --------
    >>> found = critical_points(SingleLayerAttention(d=2, d_out=1), tokens="gaussian")
    >>> [(point.kind, point.index) for point in found.real_points]
    [('minimum', 0), ('minimum', 0), ('saddle', 1), ('saddle', 1)]
    >>> found.spurious_minima
    True
    """
    if not isinstance(model, SingleLayerAttention):
        raise InvalidCaseError("model", "must be a SingleLayerAttention")
    if not isinstance(seed, Integral) or isinstance(seed, bool):
        raise InvalidCaseError("seed", f"must be an integer, not {seed!r:.60}")
    check_flag("count_only", count_only)
    seed = int(seed)  # integers of SymPy and NumPy too
    loss = read_loss(
        model, data=data, tokens=tokens, quadratic=quadratic, teacher=teacher, seed=seed
    )
    # where data are given, the number of tokens is theirs
    model = replace(model, t=loss.shape.t)
    counts = count_on_two_primes(loss, _digest(loss, seed))
    real = RealPoints(points=None, isolated_by="", unfinished="")
    # isolating real points takes far longer than counting the complex ones
    if not count_only:
        real = _real_points(loss, counts, seed)
    return CriticalPoints(
        title=str(model),
        case=model.case,
        data=loss.data,
        target=loss.target,
        seed=seed,
        counts=counts,
        # it is not birational, but two-to-one, exactly for min(a, d) = d' = 1 < d
        weights_of_each=1 if is_birational(model) else 2,
        generic_ed_degree=_generic_ed_degree(model),
        points=real.points,
        isolated_by=real.isolated_by,
        engine_version=current().version,
        seconds=clock().seconds,
        unfinished=real.unfinished,
        rounded_bits=real.rounded_bits,
    )


def _digest(loss: Loss, seed: int) -> str:
    """Return the SHA-256 of a loss and a seed: it is the seed of the primes, so that equal losses
    are counted modulo equal primes.
    """
    # The loss as a function is given by its quadratic form and its linear form.
    numbers = f"{loss.gram.entries()} {loss.linear.entries()} {seed}"
    return sha256(numbers.encode()).hexdigest()


def _generic_ed_degree(model: SingleLayerAttention) -> int | None:
    """Return the generic ED degree, the sum of the polar degrees, unless it is too large."""
    try:
        return sum(predicted_polar_degrees(model))
    except (MethodUnavailableError, TooLargeError):
        return None


class RealPoints(NamedTuple):
    """The real critical points: the fields of :class:`CriticalPoints` about them."""

    points: tuple[RealPoint, ...] | None
    isolated_by: str
    unfinished: str
    rounded_bits: int | None = None


def _real_points(loss: Loss, counts: Counts, seed: int) -> RealPoints:
    """Isolate the real critical points, and find their orbits, as far as the limits allow;
    ``unfinished`` is the reason where that is not far enough.
    """
    # msolve, or None if only a package of Macaulay2 is there; and the name of what isolates
    program, isolated_by = msolve.for_engine(current())
    # There are no complex points but those in families, which are left out, and so no real ones.
    if counts.count.dense == 0 and not counts.count.elsewhere:
        return RealPoints(points=(), isolated_by=isolated_by, unfinished="")
    try:
        isolation = Isolation.of(
            loss,
            counts,
            seed,
            msolve=program is not None,
            program=None if program is None else program.program,
        )
        isolated = isolation.real_points()
    except (TimeLimitError, MemoryLimitError, MethodUnavailableError) as reason:
        # no points are known then
        return RealPoints(points=None, isolated_by="", unfinished=f"real critical points: {reason}")
    unfinished = ""
    points = isolated.points
    try:
        # the ranks of A and V at each point name its orbit
        points = isolation.with_ranks(isolated)
    except (TimeLimitError, MemoryLimitError) as reason:
        unfinished = f"orbits of real critical points: {reason}"
    return RealPoints(
        points=points, isolated_by=isolated_by, unfinished=unfinished, rounded_bits=isolated.bits
    )

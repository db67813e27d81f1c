"""The function ``robustness``: the distance of an input to the boundary, as an interval."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from io import BytesIO
from math import inf, isfinite
from pathlib import Path
from typing import Any, Literal

import flint
import numpy

from m2bridge.algebra.intervals import FloatInterval, digits_text, ends, float_bounds
from m2bridge.decision_boundary.balls import Floats, working_precision
from m2bridge.decision_boundary.boundary import (
    BoundaryProblem,
    Units,
    has_cubic_part,
    is_on_boundary,
    rational,
    scaled,
)
from m2bridge.decision_boundary.certificate import ProvedDistance
from m2bridge.decision_boundary.cones import nearest_of_cone
from m2bridge.decision_boundary.critical_points import AllCriticalPoints, all_critical_points
from m2bridge.decision_boundary.critical_systems import points_by_msolve
from m2bridge.decision_boundary.nearest import Enclosure, distance_to
from m2bridge.decision_boundary.options import LayerSource, ScoresOver
from m2bridge.decision_boundary.reading import read_problem
from m2bridge.decision_boundary.skip_connections import all_points_with_skip
from m2bridge.errors import (
    ContradictionError,
    MethodUnavailableError,
    NotApplicableError,
    TooLargeError,
)
from m2bridge.limits import limited
from m2bridge.results.base import Result, result_json
from m2bridge.results.sheet import Facts, Sheet, in_brackets, plural

PRECISION = 128
"""The binary digits of the middles of balls."""

FEW_DIGITS = 6
"""The digits of the ends of an interval in the text."""


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Robustness(Result):
    """How far an input is from the decision boundary of a layer with a linear readout.

    Attributes
    ----------
    value : tuple of two floats
        Numbers below and above g(X).
    sign : int
        The sign of g(X): the side on which the input is; 0 on the boundary.
    distance : tuple of two floats, or None
        Numbers below and above the Euclidean distance of the input to the boundary, the upper one ∞
        if no point of the boundary was found; ``None`` if there is no boundary.
    is_proved : bool
        Whether the nearest point is proved to be where it was found. The distance is proved to lie
        in the interval in either case.
    because : str
        The theorem behind this, of docs/robustness.md. Where it names the program msolve, that the
        list of critical points is complete, and so the lower end of the interval, rests on it.
    nearest : array of floats, or None
        The input that was found on the other side of the boundary, d×t.
    sizes : tuple of int
        d, d', t and the number of heads.
    directions : int
        The dimension of the space of token directions that count (Theorem R1).
    critical_points : int, or None
        The number of complex critical points of this input, where they were listed and are all
        different (Theorems R3 and R5).
    real_critical_points : int, or None
        The number of real ones, where they were listed.

    Examples
    --------
    >>> layer = {"K": [[1, 0]], "Q": [[0, 1]], "V": [[1, 1]], "X": [[1, 2], [0, 1]], "w": [1]}
    >>> found = robustness(layer, bias=-3)
    >>> found.sign, found.is_proved, round(found.distance[0], 6)
    (1, True, 0.078512)
    """

    value: FloatInterval
    sign: int
    distance: FloatInterval | None
    is_proved: bool
    because: str
    nearest: Floats | None
    sizes: tuple[int, int, int, int]
    directions: int
    critical_points: int | None = None
    real_critical_points: int | None = None
    seconds: float
    proof_of_bounds: ProvedDistance | None = field(default=None, repr=False)

    @property
    def case(self) -> dict[str, int]:
        """The sizes, by their names."""
        return dict(zip(("d", "d_out", "t", "heads"), self.sizes, strict=True))

    def __repr__(self) -> str:
        return in_brackets(self, "distance", "is_proved")

    def to_sheet(self) -> Sheet:
        """The value, the distance, and what is proved of it."""
        d, d_out, t, heads = self.sizes
        side = {-1: "negative", 0: "zero: the input is on the boundary", 1: "positive"}[self.sign]
        facts: list[tuple[str, object]] = [("value", f"{interval_text(self.value)}, {side}")]
        if self.distance is None:
            facts.append(("distance", "there is no boundary"))
        else:
            facts.append(("distance", interval_text(self.distance)))
        proved = "proved" if self.is_proved else "not proved"
        facts += [
            ("nearest point", f"{proved}: {self.because}"),
            ("directions", f"{self.directions} of {d} count"),
            *self._facts_of_list(),
            ("computed by", f"local search, and balls of FLINT, {self.seconds:.1f} s"),
        ]
        layer = f"{plural(heads, 'head')}, d = {d}, d' = {d_out}, {plural(t, 'token')}"
        return Sheet(f"Distance to the decision boundary: {layer}", [Facts(facts)])

    def _facts_of_list(self) -> list[tuple[str, object]]:
        """The numbers of critical points, if they were listed."""
        if self.real_critical_points is None:
            return []
        complex_ones = "" if self.critical_points is None else f"{self.critical_points} complex, "
        return [("critical points", f"{complex_ones}{self.real_critical_points} real")]

    def to_json(self) -> dict[str, Any]:
        """The numbers for ``json.dumps``; ∞ and −∞ are ``None``."""
        distance = None if self.distance is None else [_number(x) for x in self.distance]
        return result_json(self.case, "RR", None, self.seconds) | {
            "value": [_number(x) for x in self.value],
            "sign": self.sign,
            "distance": [None, None] if distance is None else distance,
            "is_proved": self.is_proved,
            "because": self.because,
            "critical_points": self.critical_points,
            "real_critical_points": self.real_critical_points,
            "reduced_to": self.directions,
            "nearest": None if self.nearest is None else self.nearest.tolist(),
        }

    def nearest_as_file(self, suffix: str) -> bytes:
        """The nearest input as the array X in the contents of a file, ``.npz`` or ``.json``."""
        assert self.nearest is not None
        if suffix == ".json":
            return json.dumps({"X": self.nearest.tolist()}).encode()
        contents = BytesIO()
        numpy.savez(contents, X=self.nearest)
        return contents.getvalue()

    def to_certificate(self) -> str:
        """Return a certificate of the distance as JSON, which ``check_distance`` accepts.

        :class:`~m2bridge.MethodUnavailableError` is raised where the distance is 0, where the
        boundary is a hyperplane or empty, and where Theorem R4 proves nothing.
        """
        if self.proof_of_bounds is None or self.distance is None:
            raise NotApplicableError(
                f"there is no certificate: {self.because}; one says what Theorem R4 proves of a"
                " boundary of degree 3"
            )
        return self.proof_of_bounds.certificate(self.distance)

    def to_macaulay2(self) -> str:
        """The distance as an interval of Macaulay2."""
        if self.distance is None or not isfinite(self.distance[1]):
            return "-- no distance is known"
        low, high = self.distance
        return f"distance = interval({low!r}, {high!r})"


def interval_text(interval: FloatInterval) -> str:
    """An interval in as many digits as it proves; its ends, where these are few."""
    low, high = interval
    below = Context(prec=FEW_DIGITS, rounding=ROUND_FLOOR).create_decimal(low)
    above = Context(prec=FEW_DIGITS, rounding=ROUND_CEILING).create_decimal(high)
    if not isfinite(high):
        return f"at least {below.normalize()}"
    if not isfinite(low):
        return f"at most {above.normalize()}"
    if high - low > 10**-FEW_DIGITS * max(abs(low), abs(high)):
        return f"between {below} and {above}"
    return digits_text((Fraction(low), Fraction(high)), 15)  # as many as floats have


def _number(x: float) -> float | None:
    return x if isfinite(x) else None


def robustness(
    source: LayerSource,
    *,
    pool: str | None = None,
    bias: float | None = None,
    threshold: float | None = None,
    skip: bool = False,
    scores_over: ScoresOver = "1",
    input: LayerSource | None = None,
    layer: int | None = None,
    heads: int | None = None,
    query: str | None = None,
    key: str | None = None,
    value: str | None = None,
    output: str | None = None,
    stacked: str | None = None,
    layout: str | None = None,
    ignore: str | None = None,
    adapter: str | Path | None = None,
    as_: Literal["lightning"] | None = None,
    timeout: float | None = None,
) -> Robustness:
    """The Euclidean distance of an input X to the boundary g = 0 of a lightning attention layer.

    The layer φ(X) = Σ_h O_h V_h X Xᵀ K_hᵀQ_h X, with X added by a skip connection, decides by the
    sign of g(X) = ⟨R, φ(X)⟩ + b.

    Parameters
    ----------
    source : path or mapping
        The weights, as for :func:`weights`: a file or folder of any format that it reads, or a
        mapping from names to arrays, with usual names or with K and Q (a×d), or A (d×d), V (v×d)
        and perhaps O (d'×v), with a first axis for heads or without. In addition the input X (d×t)
        and the readout R (d'×t) or w (d' entries). Floating-point numbers are taken exactly.
    pool : str, optional
        For w: R = w γᵀ, where γ is the ``"mean"`` of the tokens (the default), the ``"first"``, the
        ``"last"``, or the token of an index, from 0 on.
    bias, threshold : float, optional
        b, or −b: give one of them. The default is 0.
    skip : bool, optional
        Whether X is added to the output.
    scores_over : {"1", "sqrt(a)", "t"}, optional
        What scores are divided by; a is the number of rows of K of a head, as it is stored.
    input : path or mapping, optional
        X, R or w, if they are not in the source.
    layer : int, optional
        The number of the layer, from 1 on, if the source has several.
    heads, query, key, value, output, stacked, layout, ignore, adapter
        How the weights are stored, as for :func:`weights`; ``heads`` is a number. Arrays that would
        make the layer another function are refused, unless ``ignore`` names them.
    as_ : {"lightning"}, optional
        The layer alone, whatever ``config.json`` or names say of softmax, norms and positions.
    timeout : float, optional
        The limit in seconds.

    Raises
    ------
    InvalidCaseError
        For arrays that are missing, not in this layer, not finite or of a wrong shape, and for
        layers with softmax, norms, biases, rotary positions, masks or MLPs.
    ConversionError, MethodUnavailableError
        If a file cannot be read; if a package for it is missing.
    TooLargeError
        For a readout R of too many entries.
    TimeLimitError
        If the limit is reached.

    Notes
    -----
    Theorems R1 and R4 of docs/robustness.md. Several heads, and readouts of any rank, are covered
    by one estimate; its matrices have as many rows as token directions count, times the rank.
    Where this does not prove the nearest point, all critical points are listed for small ranks of A
    and small inputs: by FLINT for rank 1 (Theorem R3), else by the program msolve, where it is
    installed. Without a limit on time it is asked if numbers are short, as small integers are; with
    one it has the time that is left.

    Examples
    --------
    The boundary x³ = 8 at distance 1 from x = 3:

    >>> found = robustness({"A": [[1]], "V": [[1]], "X": [[3]], "w": [1]}, threshold=8)
    >>> [round(end, 9) for end in found.distance]
    [1.0, 1.0]
    """
    with limited(timeout) as running:
        problem = read_problem(
            source,
            pool=pool,
            bias=bias,
            threshold=threshold,
            skip=skip,
            scores_over=scores_over,
            input=input,
            layer=layer,
            heads=heads,
            query=query,
            key=key,
            value=value,
            output=output,
            stacked=stacked,
            layout=layout,
            ignore=ignore,
            adapter=adapter,
            as_=as_,
        )
        found = robustness_of(problem)
        return replace(found, seconds=running.seconds)


def robustness_of(problem: BoundaryProblem) -> Robustness:
    """The distance of the input of a problem."""
    with limited(None) as running:
        # Searches in floats leave the range of floats; what is proved is proved in balls.
        with working_precision(PRECISION), numpy.errstate(all="ignore"):
            answer = _answer(problem)
        return Robustness(**answer, sizes=problem.sizes, seconds=running.seconds)


def _answer(problem: BoundaryProblem) -> dict[str, Any]:
    """The fields of the result that are computed."""
    if not problem.heads or not problem.W.any() or not has_cubic_part(problem):
        return _without_cubic_part(problem)
    units = problem.in_units()
    value, precision = _value(problem, units)
    known = {"value": _floats_around(value, units.value), "directions": 0}
    if value.contains(0):
        if not is_on_boundary(problem):
            raise TooLargeError("the sign of g(X) is not decided by 4096 digits: scale the input")
        return known | _on_the_boundary(problem)
    sign = 1 if value > 0 else -1
    with working_precision(precision):
        found = distance_to(problem, units, sign)
    listed = None if found.is_proved else complete_list(problem, units)
    if listed is not None:
        first = listed.distances[0]
        known["critical_points"] = listed.number
        known["real_critical_points"] = listed.real
        found = replace(
            found,
            lower=min(distance.lower() for distance in listed.distances),
            upper=first,
            step=listed.nearest,
            is_proved=True,
            because=listed.because,
            evidence=None,
        )
    elif not found.is_proved:
        try:
            listed = points_by_msolve(problem, units)
        except MethodUnavailableError as reason:
            because = f"{found.because}; no list of critical points: {reason}"
            found = replace(found, because=because)
    if listed is not None and not found.is_proved:
        known["critical_points"] = listed.number
        known["real_critical_points"] = listed.real
        with working_precision(precision):
            at_listed = distance_to(problem, units, sign, listed.nearest)
        found = _with_list(found, at_listed, listed)
    low, _ = _floats_around(found.lower, units.size)
    high = inf if found.upper is None else _floats_around(found.upper, units.size)[1]
    nearest = None if found.step is None else problem.U + scaled(found.step, units.size)
    evidence = found.evidence
    proved = None if evidence is None else ProvedDistance(problem, units, found.step, evidence)
    return known | {
        "sign": sign,
        "distance": (low, high),
        "is_proved": found.is_proved,
        "because": found.because,
        "nearest": nearest,
        "directions": found.directions,
        "proof_of_bounds": proved,
    }


def complete_list(problem: BoundaryProblem, units: Units) -> AllCriticalPoints | None:
    """The complete list of points of which one is the nearest, where there is one."""
    if problem.skip:
        return all_points_with_skip(problem, units)
    return all_critical_points(problem, units) if problem.bias else nearest_of_cone(problem, units)


def _with_list(bounds: Enclosure, at_listed: Enclosure, listed: AllCriticalPoints) -> Enclosure:
    """What is known by a list of msolve, and by Theorem R4 without it and at the first point."""
    first = listed.distances[0]
    if first < bounds.lower or (bounds.upper is not None and bounds.upper < first):
        raise ContradictionError(
            f"the nearest critical point in the list is at {first.str(15)}, and bounds by balls"
            " exclude this"
        )
    if at_listed.is_proved:
        return at_listed
    # the upper end is proved by a change of sign, if floats are near enough to the point
    return replace(
        at_listed,
        lower=min(distance.lower() for distance in listed.distances),
        upper=at_listed.upper or first,
        is_proved=True,
        because=listed.because,
        evidence=None,
    )


def _on_the_boundary(problem: BoundaryProblem) -> dict[str, Any]:
    return {
        "value": (0.0, 0.0),
        "sign": 0,
        "distance": (0.0, 0.0),
        "is_proved": True,
        "because": "the input is on the boundary",
        "nearest": problem.U,
    }


def _without_cubic_part(problem: BoundaryProblem) -> dict[str, Any]:
    """The fields where heads have no effect: g is affine, or constant."""
    R = rational(problem.W) * rational(problem.C).transpose() / problem.readout_over
    U = rational(problem.U)
    value = flint.fmpq(*problem.bias.as_integer_ratio())
    square = flint.fmpq(0)
    if problem.skip:
        pairs = zip(R.entries(), U.entries(), strict=True)
        value += sum((x * y for x, y in pairs), flint.fmpq(0))
        square = sum((x * x for x in R.entries()), flint.fmpq(0))
    known = {"value": _floats_around(flint.arb(value), 0), "directions": 0}
    if value == 0:
        return known | _on_the_boundary(problem)
    known["sign"] = 1 if value > 0 else -1
    if square == 0:
        because = "g is constant: there is no boundary"
        return known | {"distance": None, "is_proved": True, "because": because, "nearest": None}
    distance = abs(flint.arb(value)) / flint.arb(square).sqrt()
    foot = U - R * (value / square)
    entries = [float(flint.arb(x).mid()) for x in foot.entries()]
    return known | {
        "distance": _floats_around(distance, 0),
        "is_proved": True,
        "because": "the boundary is a hyperplane",
        "nearest": numpy.array(entries).reshape(problem.U.shape),
    }


def _floats_around(number: flint.arb, shift: int) -> FloatInterval:
    """Floats below and above a number times 2^shift."""
    return float_bounds(ends(number * flint.arb(2) ** shift))


def _value(problem: BoundaryProblem, units: Units) -> tuple[flint.arb, int]:
    """g(U), and the precision that its first digits need."""
    for precision in (PRECISION, 512, 4096):
        with working_precision(precision):
            boundary = problem.in_balls(units)
            value = boundary.value(boundary.U)
        if value.rel_accuracy_bits() >= 64:
            break
    return value, precision

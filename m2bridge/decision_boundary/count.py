"""The function ``robustness_count``: how many critical points the distance to a boundary has.

For general weights, readout R, constant b and input U, the number of complex critical points of
‖X − U‖² on the boundary {g = 0} depends on the sizes alone: it is its ED degree. R has rank
r = min(d, d', t), or 1 where all tokens are read out in one direction, and A the rank min(a, d). A
*cone* has b = 0; a skip connection adds ⟨R, X⟩ to g.

*Reductions* (docs/robustness.md). By Theorem R1 the number is the one in τ token directions, τ at
most 2a + r, or 2a + 2r with a skip connection; by Theorem R2 the one for at most τ + r tokens. For
r = 1 at most min(a, τ − 1) + 2 tokens are enough (Theorem R5). General weights remain general.

*Counts.* For r = 1 the solutions of Theorem R5 are counted, in 2a + 6 unknowns or 2a + 7. Where
b = 0, or there is a skip connection, m ≠ 0 does not follow, and is demanded. For r ≥ 2 the unknowns
are λ and all entries of X. Weights, readout and input are random modulo a prime, and several random
primes must agree: nothing is proved.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Unpack

from m2bridge._version import __version__
from m2bridge.convert.answers import answer_to
from m2bridge.decision_boundary.checker import digest_of
from m2bridge.decision_boundary.count_checker import FORM
from m2bridge.decision_boundary.reading import pooled_column
from m2bridge.engine import RunOptions, computation, current
from m2bridge.engine.script import Script, render
from m2bridge.errors import InvalidCaseError, TooLargeError, check_flag, check_kind
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.limits import clock
from m2bridge.maps.degrees.counting_primes import primes_for, with_given_prime
from m2bridge.maps.degrees.distance import AgreedCount, CriticalCount, count_by_random_primes
from m2bridge.results.base import Proof, Result, result_json
from m2bridge.results.sheet import Facts, Sheet, computed_by, in_brackets, plural

MAX_RANK = 4
"""The largest rank of A with which the equations of Theorem R5 are solved."""
MAX_ENTRIES = 12
"""The largest number of entries of X with which all of them are unknowns."""


@dataclass(frozen=True, slots=True)
class BoundarySizes:
    """The sizes of a general boundary, which determine its ED degree."""

    d: int
    t: int
    a: int  # the rank of A, at most d
    r: int  # the rank of R, at most d and t
    skip: bool
    cone: bool

    @classmethod
    def of(
        cls, model: SingleLayerAttention, *, is_pooled: bool, skip: bool, cone: bool
    ) -> BoundarySizes:
        """The sizes after the reductions."""
        r = 1 if is_pooled else min(model.d, model.d_out, model.t)
        d = min(model.d, 2 * model.a + (2 * r if skip else r))
        a = min(model.a, d)
        t = min(model.t, min(a, d - 1) + 2 if r == 1 else d + r)
        return cls(d, t, a, r, skip, cone)

    def script(self, title: str) -> Script:
        """The program that counts modulo a prime that it is given; its answer ``critical`` is the
        dimension of the set of critical points and their number.
        """
        values = {"title": title, "d": self.d, "a": self.a, "t": self.t}
        values |= {"skip": self.skip, "cone": self.cone}
        if self.r == 1:
            if self.a > MAX_RANK:
                raise TooLargeError(
                    f"A has rank {self.a}; for one readout critical points are counted up to rank"
                    f" {MAX_RANK}: take a smaller a"
                )
            return render("boundary_count", values=values)
        entries = self.d * self.t
        if entries > MAX_ENTRIES:
            raise TooLargeError(
                f"the input has {entries} entries after the reductions, for a readout of rank"
                f" {self.r}; critical points are counted up to {MAX_ENTRIES}: take smaller"
                " numbers, or one readout for all tokens (pool)"
            )
        return render("boundary_count_full", values=values | {"r": self.r})


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class RobustnessCount(Result):
    """How many critical points the distance to a decision boundary has: its ED degree.

    Attributes
    ----------
    case : dict
        The numbers d, d', a and t by name.
    pool : str or None
        The tokens that are read out, if all are in one direction.
    skip, cone : bool
        Whether the layer adds its input, and whether b = 0.
    rank : int
        The rank of the readout.
    directions, tokens : int
        The numbers of token directions and of tokens of a boundary with the same number of critical
        points (Theorems R1, R2 and R5), for which they are counted.

    Examples
    --------
    >>> found = robustness_count(SingleLayerAttention(d=8, d_out=1, a=2, t=5))
    >>> found.critical_points, found.directions, found.tokens, found.is_proved
    (100, 5, 4, False)
    """

    case: dict[str, int]
    pool: str | None
    skip: bool
    cone: bool
    rank: int
    directions: int
    tokens: int
    counted: AgreedCount
    engine_version: str
    seconds: float

    @property
    def critical_points(self) -> int:
        """The number of complex critical points for general weights, readout and input."""
        number = self.counted.count.points
        assert number is not None  # for general inputs they are finite in number
        return number

    @property
    def primes(self) -> tuple[int, ...]:
        """The random primes modulo which they are counted."""
        return self.counted.primes

    def proof(self) -> Proof:
        """Return that the number is not proved: it is counted modulo primes."""
        return Proof(False, f"critical points are counted {self.counted.known}")

    def __repr__(self) -> str:
        return in_brackets(self, "case", "critical_points")

    def to_sheet(self) -> Sheet:
        """Return the number, where it is counted, and how it is known."""
        boundary = f"general, with a readout of rank {self.rank}"
        boundary += ", b = 0" if self.cone else ""
        boundary += ", with a skip connection" if self.skip else ""
        where = f"{plural(self.directions, 'token direction')} and {plural(self.tokens, 'token')}"
        theorems = "Theorems R1 and R5" if self.rank == 1 else "Theorems R1 and R2"
        facts = [
            ("boundary", boundary),
            ("critical points", self.critical_points),
            ("counted for", f"{where}, with the same number ({theorems})"),
            ("known", self.counted.known),
            ("primes", ", ".join(map(str, self.primes))),
            ("computed by", computed_by(self.engine_version, self.seconds)),
        ]
        d, d_out, a, t = self.case.values()
        layer = f"(d, d', a) = ({d}, {d_out}, {a}), t = {t}"
        formulas = [rf"\operatorname{{EDdegree}} = {self.critical_points}"]
        return Sheet(f"ED degree of decision boundaries: {layer}", [Facts(facts)], formulas)

    def to_json(self) -> dict[str, Any]:
        """Return the number, and how it is known, for ``json.dumps``."""
        return result_json(self.case, "QQ", self.engine_version, self.seconds) | {
            "pool": self.pool,
            "skip": self.skip,
            "cone": self.cone,
            "critical_points": self.critical_points,
            "rank": self.rank,
            "reduced_to": self.directions,
            "reduced_tokens": self.tokens,
            "primes": list(self.primes),
            **self.proof()._asdict(),
        }

    def to_certificate(self) -> str:
        """Return a certificate of the number as JSON; ``robustness --verify`` counts again, modulo
        a prime that it draws, if the number is at most 150.
        """
        fields: dict[str, Any] = {
            "form": FORM,
            "version": __version__,
            "case": self.case,
            "pool": self.pool,
            "skip": self.skip,
            "cone": self.cone,
            "critical_points": self.critical_points,
        }
        return json.dumps(fields | {"digest": digest_of(fields)}) + "\n"

    def to_macaulay2(self) -> str:
        """Return the ED degree as a Macaulay2 assignment."""
        return f"edDegree = {self.critical_points}"


@computation
def robustness_count(
    model: SingleLayerAttention,
    *,
    pool: str | None = None,
    skip: bool = False,
    cone: bool = False,
    **options: Unpack[RunOptions],
) -> RobustnessCount:
    """Count the critical points of the distance to a decision boundary of a layer: its ED degree.

    The boundary is the one of :func:`robustness`, for general weights, readout, b and input: only
    the sizes matter. The number is counted modulo two or more random primes; this is no proof.

    Parameters
    ----------
    model : SingleLayerAttention
        The sizes d, d', a and t.
    pool : str, optional
        ``"mean"``, ``"first"``, ``"last"``, or the index of a token: the readout is w γᵀ, of rank
        1. Without it the readout R is a general d'×t matrix, of rank min(d', t).
    skip : bool, optional
        Whether the input is added to the output; then d' = d.
    cone : bool, optional
        Whether b = 0. Else b is general.
    engine : Engine, optional
        A Macaulay2 to use; without one, the Macaulay2 of the ``with`` block around it, else one
        that the process shares.
    timeout : float, optional
        Seconds for the whole computation.

    Raises
    ------
    InvalidCaseError
        For another model, a pool that does not exist, or a skip connection with d' ≠ d.
    TooLargeError
        For a readout of rank 1 and min(a, d) > 4; and for one of higher rank, if the input has more
        than 12 entries after the reductions.
    MethodUnavailableError
        If too few primes have the same number.
    TimeLimitError, MemoryLimitError
        If a limit is reached.

    Notes
    -----
    Theorems R1, R2 and R5 of docs/robustness.md.

    Examples
    --------
    >>> layer = SingleLayerAttention(d=2, d_out=2, a=2, t=2)
    >>> [robustness_count(layer, pool=pool).critical_points for pool in (None, "mean")]
    [39, 33]
    """
    if not isinstance(model, SingleLayerAttention):
        raise InvalidCaseError("model", "must be a SingleLayerAttention")
    check_flag("skip", skip)
    check_flag("cone", cone)
    check_kind("pool", pool, (str, type(None)), "mean, last, first, or an index, as text")
    if pool is not None:
        pooled_column(pool, model.t)  # refuses what is no token
    if skip and model.d != model.d_out:
        raise InvalidCaseError(
            "skip", f"needs as many outputs as inputs, not {model.d_out} and {model.d}"
        )
    sizes = BoundarySizes.of(model, is_pooled=pool is not None, skip=bool(skip), cone=bool(cone))
    script = sizes.script(f"decision boundary, {model}")

    def count_modulo(prime: int) -> CriticalCount:
        """The critical points modulo the prime."""
        critical_dimension, points = answer_to(with_given_prime(script, prime)).integers("critical")
        return CriticalCount(
            dimension=sizes.d * sizes.t - 1,
            critical_dimension=critical_dimension,
            # a random choice was not general where they are not isolated
            points=points if critical_dimension <= 0 else None,
        )

    counted = count_by_random_primes(count_modulo, primes_for(()))
    return RobustnessCount(
        case=model.to_json(),
        pool=pool,
        skip=sizes.skip,
        cone=sizes.cone,
        rank=sizes.r,
        directions=sizes.d,
        tokens=sizes.t,
        counted=counted,
        engine_version=current().version,
        seconds=clock().seconds,
    )

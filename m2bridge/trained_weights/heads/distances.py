"""How near heads are to lower ranks and to the singular locus, and what replacing them changes.

All of it is numerical, and changes no exact result. Distances are relative: changes of A by ε‖A‖
and of V by ε‖V‖ are at distance ε; A is KᵀQ, and V stands for OV where there is an output matrix. α
and β are the largest ranks that they may have. In lightning attention the *parts* of the singular
locus have names, as ``rk A ≤ 3``. In softmax attention no singular functions are known, and the
matrices A and V of rank α − 1 and β − 1 are in their place. A distance that rounding does not
distinguish from 0 is ``None``, or 0.0 where heads are sorted by it; a relative distance is at most
1, and 2.0 stands for one that is not known.

A head that is replaced by one of lower rank changes the outputs of its layer. The bounds hold for
all tokens up to a given norm (docs/weights-mathematics.md, Changes of outputs): √d behind a
LayerNorm or RMSNorm, before γ and β, as norms make tokens no longer than that; else 1. Outputs of
lightning attention are sums over tokens, whose number is not bounded: there the change is one for
each token that is attended to.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from math import ceil, floor, inf, log10, sqrt, tanh, ulp
from typing import Any, NamedTuple, Self

from m2bridge.results.sheet import enumeration, in_brackets, plural
from m2bridge.trained_weights.checkpoints.arrays import PRECISIONS
from m2bridge.trained_weights.heads.findings import HeadWeights

DISTANCES = ("to singular", "to boundary")
"""What the two numbers of :func:`distances` are called in tables about lightning attention."""
LOWER_RANKS = ("A to lower rank", "V to lower rank")
"""What they are called in tables about softmax attention."""
_MAX_NAMED = 3
"""The largest number of heads that one sentence names."""
ONE_PERCENT = 0.01
"""A matrix acts like one of lower rank that is at most at this relative distance."""


def _distance_to_rank(distances: Sequence[float | None], rank: int) -> float | None:
    """Return the distance to rank at most ``rank``, of the distances to 0, 1, 2, …; 0 where the
    rank cannot be larger.
    """
    return distances[rank] if rank < len(distances) else 0.0


class LowerRank(NamedTuple):
    """The matrices nearest to A or V of a head whose rank is one below the largest, α or β; ordered
    by their distances, and of equal distances A comes first.
    """

    distance: float
    letter: str
    rank: int

    @property
    def name(self) -> str:
        """The matrices in words, as ``rk A ≤ 3``."""
        return f"rk {self.letter} ≤ {self.rank}"


def nearest_lower_rank(head: HeadWeights, letters: str = "AV") -> LowerRank:
    """Return the matrices of rank one below the largest that are nearest to A or V, as far as
    ``letters`` has them.
    """
    most = {"A": head.shape.alpha, "V": head.shape.beta}
    lower_ranks = []
    for letter in letters:
        rank = most[letter] - 1
        distance = _distance_to_rank(head.numerical.numbers_of(letter).distances, rank)
        lower_ranks.append(LowerRank(distance=distance or 0.0, letter=letter, rank=rank))
    return min(lower_ranks)


def distance_names(heads: Sequence[HeadWeights]) -> tuple[str, str]:
    """Return the headings of the two columns of distances in tables; all heads are of one model."""
    return LOWER_RANKS if heads[0].shape.softmax else DISTANCES


def distances(head: HeadWeights) -> tuple[float | None, float | None]:
    """Return the distances of a head to singular locus and boundary; for softmax of A and of V to
    the matrices of one rank less than the largest.
    """
    numerical = head.numerical
    if head.shape.softmax:
        of_A = numerical.distances_to_lower_rank_A[head.shape.alpha - 1]
        of_V = numerical.distances_to_lower_rank_V[head.shape.beta - 1]
        return of_A, of_V
    return numerical.distance_to_singular_locus, numerical.distance_to_boundary


def distance_text(value: float | None) -> str:
    """Return a distance as the cell of a table; a dash for ``None``: hidden or not known."""
    return "–" if value is None else f"{value:.4g}"


def _distance_words(distance: float | None) -> str:
    """Return a distance in words."""
    if distance is None:
        return "a distance that rounding does not distinguish from 0"
    return f"distance {distance:.2g}"


def nearness(head: HeadWeights) -> float:
    """Return the distance by which heads are sorted: to the singular locus, or, for softmax, of A
    or V to a lower rank.
    """
    numerical = head.numerical
    if head.shape.softmax:
        return nearest_lower_rank(head).distance
    if not numerical.nearest_singular_locus:
        return 2.0
    return numerical.distance_to_singular_locus or 0.0


def nearness_position(head: HeadWeights) -> int:
    """Return which one of :func:`distances` is :func:`nearness`: 0 for the first."""
    return int(head.shape.softmax and nearest_lower_rank(head).letter == "V")


class LowerRankMatrices(NamedTuple):
    """Matrices of lower rank near a head."""

    name: str  # as ``rk A ≤ 3``
    distance: float | None


def near_strata(head: HeadWeights) -> tuple[LowerRankMatrices, ...]:
    """Return the strata of lower rank that A and V reach at the tolerance: of their effective
    ranks, where the exact ranks are larger.
    """
    strata = []
    for letter, rank in (("A", head.ranks.r), ("V", head.ranks.s)):
        numbers = head.numerical.numbers_of(letter)
        # A product that is lost in rounding has the effective rank 0, which tells nothing.
        if 0 < numbers.effective_rank < rank:
            name = f"rk {letter} ≤ {numbers.effective_rank}"
            strata.append(LowerRankMatrices(name, numbers.distances[numbers.effective_rank]))
    return tuple(strata)


def near_words(head: HeadWeights) -> str:
    """Return the sentence on a head whose effective ranks are less than its exact ranks; the empty
    text if none of them is less.
    """
    strata = near_strata(head)
    if not strata:
        return ""
    numerical = head.numerical
    within = f"tolerance {numerical.tolerance:.2g}"
    if numerical.tolerance == PRECISIONS[numerical.kind]:
        within = f"rounding ({numerical.kind})"
    names = " and ".join(stratum.name for stratum in strata)
    words = f"head {head.head} of layer {head.layer} is within {within} of {names}"
    # The name is empty where no singular functions are known, as for softmax, or there are none.
    if numerical.nearest_singular_locus:
        distance = _distance_words(numerical.distance_to_singular_locus)
        return f"{words}: its nearest singular function is at {distance}"
    clauses = [f"{stratum.name} is at {_distance_words(stratum.distance)}" for stratum in strata]
    return f"{words}: {', '.join(clauses)}"


def nearness_json(head: HeadWeights) -> dict[str, Any]:
    """Return the strata of lower rank near a head, the sentence on them, and the smallest ranks
    within one per cent of A and V, for ``json.dumps``.
    """
    near = near_strata(head)
    strata = [{"stratum": stratum.name, "distance": stratum.distance} for stratum in near]
    within = {letter: head.rank_within(letter, ONE_PERCENT) for letter in "AV"}
    return {
        "near": strata,
        "near_words": near_words(head) or None,
        "rank_within_one_percent": within,
    }


class SingularStratum(NamedTuple):
    """A part of the singular locus, with the heads to which it is the nearest, nearest first."""

    name: str
    heads: tuple[HeadWeights, ...]

    @property
    def distance(self) -> float | None:
        """The distance of the nearest head."""
        first = self.heads[0]
        return distances(first)[nearness_position(first)]

    def words(self) -> str:
        """Return the name of the part, to how many heads it is the nearest part, and the nearest of
        these heads: ``rk A ≤ 3: 2 heads, nearest head 1 of layer 4 at distance 0.1``.
        """
        first = self.heads[0]
        nearest = f"head {first.head} of layer {first.layer} at {_distance_words(self.distance)}"
        return f"{self.name}: {plural(len(self.heads), 'head')}, nearest {nearest}"

    def to_json(self) -> dict[str, Any]:
        """Return the values for ``json.dumps``."""
        first = self.heads[0]
        return {
            "locus": self.name,
            "heads": len(self.heads),
            "layer": first.layer,
            "head": first.head,
            "distance": self.distance,
        }


def nearest_loci(heads: Iterable[HeadWeights]) -> tuple[SingularStratum, ...]:
    """Return the parts of the singular locus, or for softmax lower ranks, that are nearest to some
    head, with these heads; the part with the nearest head first.
    """
    heads_by_locus: dict[str, list[HeadWeights]] = {}
    for head in sorted(heads, key=nearness):
        name = head.numerical.nearest_singular_locus
        if head.shape.softmax:
            name = nearest_lower_rank(head).name
        if name:
            heads_by_locus.setdefault(name, []).append(head)
    return tuple(SingularStratum(name, tuple(near)) for name, near in heads_by_locus.items())


def chosen_heads(
    heads: Sequence[HeadWeights], sort: str, worst: int | None
) -> tuple[HeadWeights, ...]:
    """Return the heads by layers, or, where ``sort`` is ``distance``, the nearest first; with a
    number ``worst`` only this number of heads, the nearest.
    """
    # Without a number ``worst`` the slice ``[:None]`` has all heads.
    if sort == "distance" or worst is not None:
        return tuple(sorted(heads, key=nearness)[:worst])
    return tuple(heads)


@dataclass(frozen=True, slots=True, kw_only=True)
class LowRankChange:
    """What a layer loses if A and V of a head are truncated to lower ranks, by both together and by
    each alone. A rank of None leaves the matrix as it is.
    """

    layer: int  # counted from 1, as the head
    head: int
    rank_A: int | None  # rk A is at most this afterwards
    rank_V: int | None
    distance_A: float | None  # to this rank; where A stays, to the rank of V
    distance_V: float | None
    token_norm: float  # the largest norm of tokens for which the change is bounded
    change: float  # of the outputs of the layer at most; infinite where nothing is known
    change_by_A: float  # where A alone is truncated
    change_by_V: float

    def __repr__(self) -> str:
        return in_brackets(self, "layer", "head", "rank_A", "rank_V", "change")

    @property
    def rank(self) -> int | None:
        """The rank, if A and V have the same, or one of them stays; else the larger one."""
        return max((rank for rank in (self.rank_A, self.rank_V) if rank is not None), default=None)

    @classmethod
    def of(cls, head: HeadWeights, *, rank_A: int | None, rank_V: int | None) -> Self:
        """Return by how much the outputs change if a head is truncated to these ranks.

        An output of softmax is a sum of values times weights of tokens, and the weights have the
        sum 1. So it changes by at most the change of values, plus the largest value times the
        change of weights: where scores change by at most ε, the weights change by 2·tanh(ε/2) in
        sum. A factor of scores, such as 1/√a, makes ε smaller. In lightning attention a score times
        a value changes by at most the change of one factor times the other, added for both factors.
        """
        numbers_A, numbers_V = map(head.numerical.numbers_of, "AV")
        coordinates = head.shape.coordinates
        token_norm = 1.0
        if coordinates is not None and coordinates.has_norm:
            token_norm = sqrt(coordinates.width)
        # A and V act on (x, 1) where there are biases: its norm is larger than the norm of x.
        norm = sqrt(token_norm**2 + head.shape.has_one)

        def change(rank_A: int | None, rank_V: int | None) -> float:
            """Return the largest change of outputs for these ranks."""
            # A score is xᵀAy and a value Vx, for tokens x and y of at most this norm.
            scores = _Truncation.to_rank(rank_A, numbers_A.singular_values).times(norm**2)
            values = _Truncation.to_rank(rank_V, numbers_V.singular_values).times(norm)
            if None in (numbers_A.singular_values[0], numbers_V.singular_values[0]):
                return inf  # lost in rounding, or beyond floating point
            if head.shape.softmax:
                # As 2·tanh(ε/2) ≤ ε, ε is a bound, too, where floating point makes its half 0.
                change_of_weights = 2 * tanh(scores.change / 2) or scores.change
                return values.change + _product(values.largest, change_of_weights)
            by_values = _product(values.change, scores.largest)
            return by_values + _product(values.largest, scores.change)

        distances: list[float | None] = []
        for rank, other, numbers in ((rank_A, rank_V, numbers_A), (rank_V, rank_A, numbers_V)):
            known_rank = other if rank is None else rank
            to_rank = (
                None if known_rank is None else _distance_to_rank(numbers.distances, known_rank)
            )
            distances.append(to_rank)
        return cls(
            layer=head.layer,
            head=head.head,
            rank_A=rank_A,
            rank_V=rank_V,
            distance_A=distances[0],
            distance_V=distances[1],
            token_norm=token_norm,
            change=_rounded_up(change(rank_A, rank_V)),
            change_by_A=_rounded_up(change(rank_A, None)),
            change_by_V=_rounded_up(change(None, rank_V)),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the values for ``json.dumps``."""

        def finite(change: float) -> float | None:
            """Return a change, or None where nothing is known."""
            return None if change == inf else change

        return {
            "rank": self.rank,
            "rank_A": self.rank_A,
            "rank_V": self.rank_V,
            "distance_A": self.distance_A,
            "distance_V": self.distance_V,
            "token_norm": self.token_norm,
            "largest_change_of_output": finite(self.change),
            "largest_change_by_A": finite(self.change_by_A),
            "largest_change_by_V": finite(self.change_by_V),
        }


class _Truncation(NamedTuple):
    """The norm of a matrix, and the norm of its change by a truncation to lower rank; or the
    largest norms of the scores or values that it makes, and of their changes.
    """

    largest: float
    change: float

    @classmethod
    def to_rank(cls, rank: int | None, singular_values: Sequence[float | None]) -> _Truncation:
        """Return the truncation of a matrix with these singular values to at most ``rank``; without
        a change if that is ``None``.
        """
        largest = singular_values[0] or 0.0
        # A matrix with no more singular values than ``rank`` is not changed.
        if rank is None or rank >= len(singular_values):
            return cls(largest=largest, change=0.0)
        # The norm of the change is the first singular value that is cut off.
        return cls(largest=largest, change=singular_values[rank] or 0.0)

    def times(self, factor: float) -> _Truncation:
        """Return both numbers times a factor, such as the largest norm of tokens."""
        return _Truncation(largest=self.largest * factor, change=self.change * factor)


def _product(first: float, second: float) -> float:
    """Return the product of two nonnegative numbers; if it is positive and floating point makes it
    0, the least positive number, which is larger.
    """
    product = first * second
    if product == 0 and first > 0 and second > 0:
        return ulp(0.0)
    return product


def _rounded_up(number: float) -> float:
    """Return a nonnegative number, rounded up to two digits: 0.1231 -> 0.13. 0 and ∞ stay."""
    if number in (0, inf):
        return number
    if number < sys.float_info.min:
        # The unit below would have too few digits, or be 0: the decimal digits are rounded.
        two_digits_up = Context(prec=2, rounding=ROUND_CEILING)
        return float(two_digits_up.create_decimal(repr(number)))
    unit = 10.0 ** (floor(log10(number)) - 1)
    # A number of two digits, which floating point makes a little larger, keeps them.
    units = ceil(number / unit - 1e-9)
    return float(f"{units * unit:.2g}")


def _change_words(change: float) -> str:
    """Return by how much outputs change, with two digits, rounded up, after ``changes … by``."""
    if change == inf:
        return "an amount that is not known"
    return f"at most {_rounded_up(change):.2g}" if change else "less than rounding error"


def nearness_words(distance: float) -> str:
    """Return a distance as a part of the norm, with two digits, rounded up, after ``within``."""
    if not distance:
        return "rounding error"
    if distance < 1e-4:  # less than 0.01 %
        return f"a relative distance {_rounded_up(distance):.2g}"
    return f"{float(f'{100 * _rounded_up(distance):.2g}'):g} %"


@dataclass(frozen=True, slots=True)
class ActingRank:
    """The rank as which A or V of a head acts: the smallest within one per cent of the matrix."""

    head: HeadWeights
    letter: str
    rank: int
    most: int  # the largest possible rank, α or β
    distance: float | None  # to this rank

    @property
    def error(self) -> float:
        """The distance, or 0 where it is not more than rounding."""
        effective_rank = self.head.numerical.numbers_of(self.letter).effective_rank
        return 0.0 if effective_rank <= self.rank else self.distance or 0.0

    @property
    def rank_within_rounding(self) -> str:
        """A clause on the rank within rounding, if it is another one below the largest."""
        effective_rank = self.head.numerical.numbers_of(self.letter).effective_rank
        if self.error and effective_rank < self.most:
            return f"; rank {effective_rank} within rounding"
        return ""

    @property
    def place(self) -> str:
        """Layer and head, as 2.5 for head 5 of layer 2."""
        return f"{self.head.layer}.{self.head.head}"


def acting_ranks(heads: Iterable[HeadWeights], letters: str = "AV") -> list[ActingRank]:
    """Return the matrices that act like one of lower rank, as far as ``letters`` has them: the
    lowest ranks first, as parts of the largest possible ones, and of equal ranks the nearest first.
    """
    acting = []
    for head in heads:
        for letter, most in (("A", head.shape.alpha), ("V", head.shape.beta)):
            rank = head.rank_within(letter, ONE_PERCENT)
            if letter in letters and rank is not None and rank < most:
                distance = _distance_to_rank(head.numerical.numbers_of(letter).distances, rank)
                acting.append(
                    ActingRank(head=head, letter=letter, rank=rank, most=most, distance=distance)
                )
    return sorted(acting, key=lambda one: (one.rank / one.most, one.error))


def sentence_on_acting_ranks(heads: Sequence[HeadWeights], *, rotary: bool = False) -> str:
    """Return the sentence, for everybody, on which matrices act like ones of lower rank. With
    rotary positions it is about V alone.
    """
    acting = acting_ranks(heads, "V" if rotary else "AV")
    if not acting:
        matrices = "No V" if rotary else "No A and no V"
        return f"{matrices} acts like a matrix of lower rank: none is within 1 % of one."
    first = acting[0]
    same = [one for one in acting if (one.letter, one.rank) == (first.letter, first.rank)]
    named = same[:_MAX_NAMED]
    names = enumeration([one.place for one in named])
    which = f"{first.letter} of {'head' if len(named) == 1 else 'heads'} {names}"
    sentence = f"{which} is zero"
    if first.rank > 0:
        # They are sorted by their errors.
        largest = named[-1].error
        most = "error" if len(named) == 1 else "error at most"
        error = f"{most} {largest:.1g}" if largest else "within rounding"
        clause = first.rank_within_rounding if len(named) == 1 else ""
        sentence = f"{which} acts like rank {first.rank} of {first.most} ({error}{clause})"
    if more := len(acting) - len(named):
        of_which = "V" if rotary else "A and V"
        sentence += f"; of all other {of_which} {more} act like lower ranks"
    return f"{sentence}."


def sentence_on_lower_ranks(heads: Sequence[HeadWeights], *, rotary: bool = False) -> str:
    """Return the sentence on the heads nearest to a lower rank, and what replacing them changes.

    It is about the lowest rank as which a matrix acts, and the heads whose same matrix acts like
    that rank; if there is none, about the head that is nearest to a rank one below the largest, and
    those that are at most twice as far from it. With rotary positions A is another matrix for each
    difference of places, and the sentence is about V alone.
    """
    letters = "V" if rotary else "AV"
    by_distance = sorted(heads, key=lambda head: nearest_lower_rank(head, letters))
    nearest = nearest_lower_rank(by_distance[0], letters)
    named = []
    for head in by_distance:
        lower = nearest_lower_rank(head, letters)
        if lower.name == nearest.name and lower.distance <= 2 * nearest.distance:
            named.append(head)
    if acting := [one for one in acting_ranks(heads, letters) if one.rank > 0]:
        first = acting[0]
        nearest = LowerRank(first.distance or 0.0, letter=first.letter, rank=first.rank)
        same = [one for one in acting if (one.letter, one.rank) == (first.letter, first.rank)]
        named = [one.head for one in same]
    named = named[:_MAX_NAMED]
    distances_of_named = [
        head.numerical.numbers_of(nearest.letter).distances[nearest.rank] or 0.0 for head in named
    ]
    largest_distance = max(distances_of_named)
    rank_A = nearest.rank if nearest.letter == "A" else None
    rank_V = nearest.rank if nearest.letter == "V" else None
    changes = [LowRankChange.of(head, rank_A=rank_A, rank_V=rank_V) for head in named]
    change = max(one.change for one in changes)
    norm = max(one.token_norm for one in changes)
    # Head 5 of layer 2 is written as 2.5.
    names = enumeration([f"{head.layer}.{head.head}" for head in named])
    is_one = len(named) == 1
    which = f"{nearest.letter} of {'head' if is_one else 'heads'} {names} is"
    of_each_token = "" if heads[0].shape.softmax else " for each token attended to"
    return (
        f"{which} within {nearness_words(largest_distance)} of rank {nearest.rank}; replacing"
        f" {'it' if is_one else 'each'} changes the layer's output by {_change_words(change)}"
        f"{of_each_token}, for tokens of norm at most {norm:.3g} (numerical)."
    )

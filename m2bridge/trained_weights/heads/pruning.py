"""Heads that are replaced by ones of lower rank: their distances, and how much outputs change.

All of it is numerical. The bounds hold for all tokens up to a given norm
(docs/weights-mathematics.md, Changes of outputs). A = KᵀQ, and V stands for OV where there is an
output matrix; α and β are the largest ranks that A and V may have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from math import ceil, floor, inf, log10, sqrt, tanh, ulp
from typing import Any, NamedTuple, Self

from m2bridge.trained_weights.heads.findings import HeadWeights


@dataclass(frozen=True, slots=True, kw_only=True)
class LowRankChange:
    """A head whose A or V, or both, are truncated to a lower rank.

    Parameters
    ----------
    layer, head : int
        Counted from 1.
    rank : int
        The rank to which A and V are truncated: rk A and rk V are at most this afterwards.
    distance_A, distance_V : float or None
        Relative distances to these matrices; ``None`` where rounding does not
        distinguish them from 0.
    token_norm : float
        The largest norm of tokens for which the change is bounded.
    change : float
        Outputs of the layer change by at most this, for softmax; for lightning attention by at most
        this for each token that is attended to. Infinite where nothing is known, as the largest
        singular value of A or V is lost in rounding, or beyond floating point.
    """

    layer: int
    head: int
    rank: int
    distance_A: float | None
    distance_V: float | None
    token_norm: float
    change: float

    @classmethod
    def of(cls, head: HeadWeights, rank: int, *, of_A: bool = True, of_V: bool = True) -> Self:
        """Return by how much the outputs change if a head is truncated to a rank: A, if ``of_A``,
        and V, if ``of_V``. The distances are those of A and of V in any case.
        """
        numbers = head.numerical
        A = _Truncation.to_rank(rank if of_A else None, numbers.singular_values_A)
        V = _Truncation.to_rank(rank if of_V else None, numbers.singular_values_V)
        # A and V act on (x, 1) where there are biases: this norm is larger than that of x then.
        norm = _norm_of_coordinates(head)
        # A score is xᵀAy and a value Vx, for tokens x and y of at most this norm.
        scores, values = A.times(norm**2), V.times(norm)
        if None in (numbers.singular_values_A[0], numbers.singular_values_V[0]):
            change = inf
        elif head.shape.softmax:
            change = _change_of_softmax_outputs(scores, values)
        else:
            change = _change_of_lightning_outputs(scores, values)
        return cls(
            layer=head.layer,
            head=head.head,
            rank=rank,
            distance_A=_distance_to_rank(numbers.distances_to_lower_rank_A, rank),
            distance_V=_distance_to_rank(numbers.distances_to_lower_rank_V, rank),
            token_norm=token_norm(head),
            change=_rounded_up(change),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the values for ``json.dumps``."""
        return {
            "rank": self.rank,
            "distance_A": self.distance_A,
            "distance_V": self.distance_V,
            "token_norm": self.token_norm,
            "largest_change_of_output": None if self.change == inf else self.change,
        }


def token_norm(head: HeadWeights) -> float:
    """Return the largest norm of tokens for which changes are bounded: √d behind a LayerNorm or
    RMSNorm, before γ and β, as norms make tokens no longer than that; else 1.
    """
    coordinates = head.shape.coordinates
    if coordinates is None or not coordinates.has_norm:
        return 1.0
    return sqrt(coordinates.width)


def _norm_of_coordinates(head: HeadWeights) -> float:
    """Return the largest norm of x, or of (x, 1) where there are biases, for the tokens x for
    which changes are bounded.
    """
    coordinates = head.shape.coordinates
    square_of_one = 1 if coordinates is not None and coordinates.has_one else 0
    return sqrt(token_norm(head) ** 2 + square_of_one)


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

        A value that rounding does not distinguish from 0, ``None``, counts as 0.
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


def _change_of_softmax_outputs(scores: _Truncation, values: _Truncation) -> float:
    """Return a bound for the change of the outputs of softmax attention, where ``scores`` and
    ``values`` change.

    An output is a sum of values times weights of tokens, and the weights have the sum 1. So it
    changes by at most the change of values, plus the largest value times the change of weights:
    where scores change by at most ε, the weights change by 2·tanh(ε/2) in sum. A factor of scores,
    such as 1/√a, makes ε smaller.
    """
    # As 2·tanh(ε/2) ≤ ε, ε is a bound, too, where floating point makes its half 0.
    change_of_weights = 2 * tanh(scores.change / 2) or scores.change
    return values.change + _product(values.largest, change_of_weights)


def _change_of_lightning_outputs(scores: _Truncation, values: _Truncation) -> float:
    """Return a bound for the change of the outputs of lightning attention for each token that is
    attended to, whose part of the output is its score times its value.

    A product changes by at most the change of one factor times the other, added for both factors.
    """
    by_values = _product(values.change, scores.largest)
    by_scores = _product(values.largest, scores.change)
    return by_values + by_scores


def _product(first: float, second: float) -> float:
    """Return the product of two nonnegative numbers; if it is positive and floating point makes it
    0, the least positive number, which is larger.
    """
    product = first * second
    if product == 0 and first > 0 and second > 0:
        return ulp(0.0)
    return product


def _distance_to_rank(distances: Sequence[float | None], rank: int) -> float | None:
    """Return the distance to rank at most ``rank``, of all those to rank at most 0, 1, 2, ….

    It is 0 where the rank cannot be larger, and ``None`` where rounding does not distinguish it
    from 0.
    """
    return distances[rank] if rank < len(distances) else 0.0


_LEAST_NORMAL = 2.0**-1022
"""Smaller floating-point numbers have fewer binary digits."""
_TWO_DIGITS_UP = Context(prec=2, rounding=ROUND_CEILING)
"""Rounds decimal numbers up to two digits."""


def _rounded_up(number: float) -> float:
    """Return a nonnegative number, rounded up to two digits: 0.1231 -> 0.13. 0 and ∞ stay."""
    if number in (0, inf):
        return number
    if number < _LEAST_NORMAL:
        # The unit below would have too few digits, or be 0: the decimal digits are rounded.
        return float(_TWO_DIGITS_UP.create_decimal(repr(number)))
    unit = 10.0 ** (floor(log10(number)) - 1)
    # A number of two digits, which floating point makes a little larger, keeps them.
    units = ceil(number / unit - 1e-9)
    return float(f"{units * unit:.2g}")


class LowerRank(NamedTuple):
    """The matrices nearest to A or V of a head whose rank is one below the largest, α or β.

    ``distance`` is the relative distance to them, 0 where rounding does not distinguish it from 0;
    ``letter`` is A or V, and ``rank`` is α − 1 or β − 1. They are ordered by their distances, and
    of equal distances that of A comes first.
    """

    distance: float
    letter: str
    rank: int


def nearest_lower_rank(head: HeadWeights, letters: str = "AV") -> LowerRank:
    """Return the matrices of rank one below the largest, α or β, that are nearest to A or V.

    ``letters`` has A, V, or both: the matrices that count. A distance that rounding does not
    distinguish from 0 is 0. Of equal distances that of A is taken.
    """
    numbers, shape = head.numerical, head.shape
    found = []
    for letter, most, distances in (
        ("A", shape.alpha, numbers.distances_to_lower_rank_A),
        ("V", shape.beta, numbers.distances_to_lower_rank_V),
    ):
        if letter in letters:
            distance = _distance_to_rank(distances, most - 1) or 0.0
            found.append(LowerRank(distance=distance, letter=letter, rank=most - 1))
    return min(found)


def sentence_on_lower_ranks(heads: Sequence[HeadWeights], *, rotary: bool = False) -> str:
    """Return the sentence on the heads nearest to a lower rank, and what replacing them changes.

    It names the nearest head, and those that are at most twice as far from the same rank, together
    at most :data:`_MAX_NAMED` = 3. With rotary positions A is another matrix for each difference of
    places, and the sentence is about V alone.
    """
    named, largest_distance, letter, rank = _heads_nearest_to_a_rank(heads, "V" if rotary else "AV")
    changes = [
        LowRankChange.of(head, rank, of_A=letter == "A", of_V=letter == "V") for head in named
    ]
    change = max(found.change for found in changes)
    norm = max(found.token_norm for found in changes)
    # Head 5 of layer 2 is written as 2.5.
    *others, last = (f"{head.layer}.{head.head}" for head in named)
    names = f"{', '.join(others)} and {last}" if others else last
    which = f"Heads {names} are" if others else f"Head {names} is"
    of_each_token = "" if heads[0].shape.softmax else " for each token attended to"
    return (
        f"{which} within {_short(largest_distance)} of rk {letter} ≤ {rank}; replacing"
        f" {'each' if others else 'it'} changes the layer's output by at most {_short(change)}"
        f"{of_each_token}, for tokens of norm at most {norm:.3g} (numerical)."
    )


class _NearHeads(NamedTuple):
    """Heads near to matrices A, or V, of the same lower rank, the nearest first.

    ``largest_distance`` is the relative distance of the last of them; ``letter`` is A or V, and
    ``rank`` the lower rank.
    """

    heads: list[HeadWeights]
    largest_distance: float
    letter: str
    rank: int


def _heads_nearest_to_a_rank(heads: Sequence[HeadWeights], letters: str) -> _NearHeads:
    """Return the head nearest to a lower rank of A or V, and those that are at most twice as far
    from the same rank of the same matrix, together at most :data:`_MAX_NAMED` = 3.

    ``letters`` has A, V, or both: the matrices that count.
    """
    by_distance = sorted(heads, key=lambda head: nearest_lower_rank(head, letters))
    nearest = nearest_lower_rank(by_distance[0], letters)
    near: list[HeadWeights] = []
    largest_distance = nearest.distance
    for head in by_distance:
        lower = nearest_lower_rank(head, letters)
        is_same_rank = (lower.letter, lower.rank) == (nearest.letter, nearest.rank)
        is_near = lower.distance <= 2 * nearest.distance
        if is_same_rank and is_near and len(near) < _MAX_NAMED:
            near.append(head)
            largest_distance = lower.distance
    return _NearHeads(
        heads=near, largest_distance=largest_distance, letter=nearest.letter, rank=nearest.rank
    )


_MAX_NAMED = 3
"""The largest number of heads that one sentence names."""


def _short(number: float) -> str:
    """Return a number with two digits, rounded up; for 0, which stands for a number that rounding
    hides, the word ``rounding``; and for ∞, which stands for one that is not known, these words.
    """
    if number == inf:
        return "a number that is not known"
    return "rounding" if not number else f"{_rounded_up(number):.2g}"


def rows_of_changes(changes: Sequence[LowRankChange]) -> Iterator[tuple[object, ...]]:
    """Yield for each head the cells of a line of the table: layer, head, distances of A and of V,
    and the change of outputs; a dash is a distance that rounding hides, or a change not known.
    """
    for found in changes:
        distances = (
            "–" if distance is None else f"{distance:.4g}"
            for distance in (found.distance_A, found.distance_V)
        )
        change = "–" if found.change == inf else f"{found.change:.2g}"
        yield (found.layer, found.head, *distances, change)

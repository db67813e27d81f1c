"""How near heads are to lower ranks and to the singular locus, in numbers and in sentences.

All of it is numerical, and changes no exact result. Distances are relative: changes of A by ε‖A‖
and of V by ε‖V‖ are at distance ε; A is KᵀQ, and V stands for OV where there is an output matrix.
In lightning attention the *parts* of the singular locus have names, as ``rk A ≤ 3``. In softmax
attention no singular functions are known, and the matrices A and V of one rank less than the
largest ones, α and β, are in their place. A distance that rounding does not distinguish from 0 is
``None``, or 0.0 where heads are sorted by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from m2bridge.results.sheet import plural
from m2bridge.trained_weights.checkpoints.arrays import PRECISIONS
from m2bridge.trained_weights.heads.findings import HeadWeights
from m2bridge.trained_weights.heads.pruning import nearest_lower_rank

DISTANCES = ("to singular", "to boundary")
"""What the two numbers of :func:`distances` are called in tables about lightning attention."""
LOWER_RANKS = ("A to lower rank", "V to lower rank")
"""What they are called in tables about softmax attention."""


def distance_names(heads: Sequence[HeadWeights]) -> tuple[str, str]:
    """Return the headings of the two columns of distances in tables; all ``heads`` are of one
    model, so that the first one shows whether there is softmax.
    """
    return LOWER_RANKS if heads[0].shape.softmax else DISTANCES


def nearest_name(head: HeadWeights) -> str:
    """Return the name of the part of the singular locus that is nearest to a head, empty if none is
    known; for softmax that of the nearest lower rank, as ``rk A ≤ 3``.
    """
    if head.shape.softmax:
        nearest = nearest_lower_rank(head)
        return f"rk {nearest.letter} ≤ {nearest.rank}"
    return head.numerical.nearest_singular_locus


def distances(head: HeadWeights) -> tuple[float | None, float | None]:
    """Return the distances of a head to singular locus and boundary; for softmax those of A and of
    V to the matrices of one rank less than the largest, α or β. ``None`` is a distance that
    rounding hides, or that is not known.
    """
    if head.shape.softmax:
        # The lists have the distances to rank at most 0, 1, 2, …; α and β are the largest ranks.
        of_A = head.numerical.distances_to_lower_rank_A[head.shape.alpha - 1]
        of_V = head.numerical.distances_to_lower_rank_V[head.shape.beta - 1]
        return of_A, of_V
    return head.numerical.distance_to_singular_locus, head.numerical.distance_to_boundary


def distance_text(value: float | None) -> str:
    """Return a distance as the cell of a table; a dash for ``None``: hidden or not known."""
    return "–" if value is None else f"{value:.4g}"


def values_and_distances(
    head: HeadWeights, letter: str
) -> tuple[list[float | None], list[float | None]]:
    """Return the singular values of A or V, as ``letter`` says, the largest first, and the relative
    distances of this matrix to rank at most 1, 2, …; ``None`` for those that rounding hides.
    """
    numerical = head.numerical
    if letter == "A":
        return numerical.singular_values_A, numerical.distances_to_lower_rank_A[1:]
    return numerical.singular_values_V, numerical.distances_to_lower_rank_V[1:]


class LowerRankMatrices(NamedTuple):
    """Matrices of lower rank near a head: their ``name``, as ``rk A ≤ 3``, and their relative
    ``distance``; ``None`` if rounding hides it.
    """

    name: str
    distance: float | None


class SingularStratum(NamedTuple):
    """A part of the singular locus, with the heads to which it is the nearest, nearest first."""

    name: str
    heads: tuple[HeadWeights, ...]

    def words(self) -> str:
        """Return the name of the part, to how many heads it is the nearest part, and the nearest of
        these heads: ``rk A ≤ 3: 2 heads, nearest head 1 of layer 4 at distance 0.1``.
        """
        first = self.heads[0]
        distance_words = _distance_words(_distance_to_nearest(first))
        nearest = f"head {first.head} of layer {first.layer} at {distance_words}"
        return f"{self.name}: {plural(len(self.heads), 'head')}, nearest {nearest}"

    def to_json(self) -> dict[str, Any]:
        """Return the values for ``json.dumps``."""
        first = self.heads[0]
        return {
            "locus": self.name,
            "heads": len(self.heads),
            "layer": first.layer,
            "head": first.head,
            "distance": _distance_to_nearest(first),
        }


def _distance_to_nearest(head: HeadWeights) -> float | None:
    """Return the distance to what :func:`nearest_name` names: 0.0 where that is proved, and
    ``None`` where rounding does not distinguish it from 0.
    """
    of_A, of_V = distances(head)
    if head.shape.softmax:
        return of_A if nearest_lower_rank(head).letter == "A" else of_V
    return head.numerical.distance_to_singular_locus


def near_strata(head: HeadWeights) -> tuple[LowerRankMatrices, ...]:
    """Return the strata of lower rank, as rk A ≤ 3, that A and V reach at the tolerance: those of
    their effective ranks, where the exact ranks are larger.
    """
    numerical = head.numerical
    found = []
    for letter, rank, effective_rank, distances_to_rank in (
        ("A", head.ranks.r, numerical.effective_rank_A, numerical.distances_to_lower_rank_A),
        ("V", head.ranks.s, numerical.effective_rank_V, numerical.distances_to_lower_rank_V),
    ):
        # A product that is lost in rounding has the effective rank 0, which tells nothing.
        if 0 < effective_rank < rank:
            name = f"rk {letter} ≤ {effective_rank}"
            # Entry i of the list is the distance to rank at most i.
            found.append(LowerRankMatrices(name, distances_to_rank[effective_rank]))
    return tuple(found)


def near_words(head: HeadWeights) -> str:
    """Return the sentence on a head whose effective ranks are less than its exact ranks; the empty
    text if none of them is less. The sentence changes nothing of what exact ranks prove.
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
    """Return the strata of lower rank near a head, and the sentence on them, for ``json.dumps``."""
    near = near_strata(head)
    strata = [{"stratum": stratum.name, "distance": stratum.distance} for stratum in near]
    return {"near": strata, "near_words": near_words(head) or None}


def _distance_words(distance: float | None) -> str:
    """Return a distance in words; ``None`` is one that rounding does not distinguish from 0."""
    if distance is None:
        return "a distance that rounding does not distinguish from 0"
    return f"distance {distance:.2g}"


def nearness(head: HeadWeights) -> float:
    """Return the distance by which heads are sorted: that to the singular locus, or 0.0 where
    rounding does not distinguish it from 0.

    Of softmax attention no singular functions are known, and the distance is that of A or V to a
    lower rank. Heads of lightning attention for which no part of the singular locus is known have
    2.0: they come last, as relative distances are at most 1.
    """
    numerical = head.numerical
    if head.shape.softmax:
        return nearest_lower_rank(head).distance
    if not numerical.nearest_singular_locus:
        return 2.0
    return numerical.distance_to_singular_locus or 0.0


def nearness_position(head: HeadWeights) -> int:
    """Return which one of :func:`distances` is :func:`nearness`: 0 for the first.

    It is the first one, that to the singular locus, but for softmax that of A or of V.
    """
    return int(head.shape.softmax and nearest_lower_rank(head).letter == "V")


def nearest_loci(heads: Iterable[HeadWeights]) -> tuple[SingularStratum, ...]:
    """Return the parts of the singular locus that are nearest to some head, with these heads; the
    part with the nearest head first.

    For softmax they are the lower ranks. Heads for which no part is known are left out.
    """
    heads_by_locus: dict[str, list[HeadWeights]] = {}
    for head in sorted(heads, key=nearness):
        name = nearest_name(head)
        if name:
            heads_by_locus.setdefault(name, []).append(head)
    return tuple(SingularStratum(name, tuple(near)) for name, near in heads_by_locus.items())


def chosen_heads(
    heads: Sequence[HeadWeights], sort: str, worst: int | None
) -> tuple[HeadWeights, ...]:
    """Return the heads as they are, by layers, where ``sort`` is ``layer``; by distances, the
    nearest first, where it is ``distance``. With a number ``worst``, whatever ``sort`` is, only
    this number of heads, by distances: the nearest; ``None`` is no limit.
    """
    # Without a number ``worst`` the slice ``[:None]`` has all heads.
    if sort == "distance" or worst is not None:
        return tuple(sorted(heads, key=nearness)[:worst])
    return tuple(heads)

"""How near heads are to lower ranks and to the singular locus, in numbers and in sentences.

All of it is numerical, and changes no exact result.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from m2bridge.results.sheet import plural
from m2bridge.trained_weights.checkpoints.arrays import PRECISIONS
from m2bridge.trained_weights.heads.findings import HeadWeights
from m2bridge.trained_weights.heads.pruning import nearest_lower_rank

DISTANCES = ("to singular", "to boundary")
"""What :func:`distances` are, in tables."""
LOWER_RANKS = ("A to lower rank", "V to lower rank")
"""What distances are in tables about softmax attention."""


def distance_names(heads: Sequence[HeadWeights]) -> tuple[str, str]:
    """Return the headings of the two columns of distances in tables."""
    return LOWER_RANKS if heads[0].shape.softmax else DISTANCES


def nearest_name(head: HeadWeights) -> str:
    """Return the name of the nearest part of the singular locus; for softmax of a lower rank."""
    if head.shape.softmax:
        _, letter, rank = nearest_lower_rank(head)
        return f"rk {letter} ≤ {rank}"
    return head.numerical.nearest_singular_locus


def distances(head: HeadWeights) -> tuple[float | None, float | None]:
    """Return the distances to singular locus and boundary; for softmax those of A and of V to a
    rank below the largest one. ``None`` is a distance that rounding hides, or that is not known.
    """
    if head.shape.softmax:
        of_A = head.numerical.distances_to_lower_rank_A[head.shape.alpha - 1]
        of_V = head.numerical.distances_to_lower_rank_V[head.shape.beta - 1]
        return of_A, of_V
    return head.numerical.distance_to_singular_locus, head.numerical.distance_to_boundary


def distance_text(value: float | None) -> str:
    """Return the cell of a number in a table: a dash is one that rounding hides."""
    return "–" if value is None else f"{value:.4g}"


def spectrum(head: HeadWeights, letter: str) -> tuple[list[float | None], list[float | None]]:
    """Return the singular values of A or V, and distances to rank at most 1, 2, …"""
    n = head.numerical
    if letter == "A":
        return n.singular_values_A, n.distances_to_lower_rank_A[1:]
    return n.singular_values_V, n.distances_to_lower_rank_V[1:]


class LowerRankMatrices(NamedTuple):
    """The matrices of lower rank near a head, and their distance; ``None`` if
    rounding hides it."""

    name: str
    distance: float | None


class SingularStratum(NamedTuple):
    """A part of the singular locus, with the heads to which it is the nearest, nearest first."""

    name: str
    heads: tuple[HeadWeights, ...]

    def words(self) -> str:
        """Return its name, how many heads are near it, and which is the nearest."""
        first = self.heads[0]
        distance = _distance_words(nearness(first) or None)
        nearest = f"head {first.head} of layer {first.layer} at {distance}"
        return f"{self.name}: {plural(len(self.heads), 'head')}, nearest {nearest}"

    def to_json(self) -> dict[str, Any]:
        """Return the values for ``json.dumps``."""
        first = self.heads[0]
        return {
            "locus": self.name,
            "heads": len(self.heads),
            "layer": first.layer,
            "head": first.head,
            "distance": nearness(first) or first.numerical.distance_to_singular_locus,
        }


def near_strata(head: HeadWeights) -> tuple[LowerRankMatrices, ...]:
    """Return the strata of lower rank that A and V reach at the tolerance, although their exact
    ranks are larger.
    """
    n = head.numerical
    spectra = (
        ("A", head.ranks.r, n.effective_rank_A, n.distances_to_lower_rank_A),
        ("V", head.ranks.s, n.effective_rank_V, n.distances_to_lower_rank_V),
    )
    found = []
    for letter, rank, effective, to_lower_rank in spectra:
        # A product that is lost in rounding has no effective rank.
        if 0 < effective < rank:
            found.append(LowerRankMatrices(f"rk {letter} ≤ {effective}", to_lower_rank[effective]))
    return tuple(found)


def near_words(head: HeadWeights) -> str:
    """Return the sentence on a head whose effective ranks fall short; empty where they do not.

    The exact verdict is beside it, and is not changed by it.
    """
    strata = near_strata(head)
    if not strata:
        return ""
    n = head.numerical
    within = f"tolerance {n.tolerance:.2g}"
    if n.tolerance == PRECISIONS[n.kind]:
        within = f"rounding ({n.kind})"
    names = " and ".join(stratum.name for stratum in strata)
    words = f"head {head.head} of layer {head.layer} is within {within} of {names}"
    if n.nearest_singular_locus:
        distance = _distance_words(n.distance_to_singular_locus)
        return f"{words}: its nearest singular function is at {distance}"
    each = ", ".join(f"{x.name} is at {_distance_words(x.distance)}" for x in strata)
    return f"{words}: {each}"


def nearness_json(head: HeadWeights) -> dict[str, Any]:
    """Return the strata of lower rank near a head, and the sentence on them, for ``json.dumps``."""
    strata = [{"stratum": x.name, "distance": x.distance} for x in near_strata(head)]
    return {"near": strata, "near_words": near_words(head) or None}


def _distance_words(distance: float | None) -> str:
    """Return a distance in words; ``None`` is one that rounding does not distinguish from 0."""
    if distance is None:
        return "a distance that rounding does not distinguish from 0"
    return f"distance {distance:.2g}"


def nearness(head: HeadWeights) -> float:
    """Return the distance by which heads are sorted.

    Of softmax attention no singular functions are known, and it is the distance of A or V to a
    lower rank. Relative distances are at most 1: heads for which nothing is known come last.
    """
    n = head.numerical
    if head.shape.softmax:
        return nearest_lower_rank(head)[0]
    if not n.nearest_singular_locus:
        return 2.0
    return n.distance_to_singular_locus or 0.0


def nearest_loci(heads: Iterable[HeadWeights]) -> tuple[SingularStratum, ...]:
    """Return the parts of the singular locus that are nearest to heads, the nearest part first."""
    by_name: dict[str, list[HeadWeights]] = {}
    for head in sorted(heads, key=nearness):
        if name := nearest_name(head):
            by_name.setdefault(name, []).append(head)
    return tuple(SingularStratum(name, tuple(near)) for name, near in by_name.items())


def chosen_heads(
    heads: Sequence[HeadWeights], sort: str, worst: int | None
) -> tuple[HeadWeights, ...]:
    """Return the heads by layers or by distances, or the ``worst`` nearest ones."""
    if sort == "distance" or worst is not None:
        return tuple(sorted(heads, key=nearness)[:worst])
    return tuple(heads)

"""Tables about the heads of trained weights: exact ranks, distances, changes to a lower rank; and
about the arrays of their file.

A is KᵀQ, and V stands for OV where there is an output matrix. Rank A, rank V and the dimension of
L∩U are exact, for L, the column space of A, and U, the row space of V. Singular values, effective
ranks and distances are numerical. A dash stands for a number that rounding hides or that is not
known.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from math import inf, pi

from m2bridge.results.sheet import Table, value_text, visible
from m2bridge.trained_weights.checkpoints.accounting import ArrayUse
from m2bridge.trained_weights.heads.distances import (
    LowRankChange,
    distance_names,
    distance_text,
    distances,
)
from m2bridge.trained_weights.heads.findings import HeadWeights

MAX_SINGULAR_VALUES = 12
"""Singular values of a single head that are written."""


def exact_table(heads: Sequence[HeadWeights]) -> Table:
    """Return the table of exact ranks and of what follows from them, with a line for each head."""
    how_known = "lower bounds where they are not proved"
    if all(head.ranks.proved for head in heads):
        methods = sorted({head.ranks.method for head in heads})
        how_known = f"proved, {' or '.join(methods)}"
    header = (
        "layer",
        "head",
        "rk A",
        "rk V",
        "dim L∩U",
        "point of the closure",
        "regular weights",
        "ranks",
    )
    rows = []
    for head in heads:
        proved = "proved" if head.ranks.proved else "lower bound"
        regular = value_text(head.regular)
        rows.append((head.layer, head.head, *head.ranks.numbers, head.point, regular, proved))
    spaces = "L = column space of A, U = row space of V"
    return Table(header, rows, f"Exact ({spaces}; ranks: {how_known})")


def numerical_table(heads: Sequence[HeadWeights]) -> Table:
    """Return the table of effective ranks and distances, with a line for each head.

    The column ``change`` has the norm of the difference of the function to the nearest singular
    one, relative to the norm of the function; ``angle`` has the smallest principal angle between
    the column space of A and the row space of V. The caption has the stored type and the tolerance
    of the first head.
    """
    first = heads[0].numerical
    header = (
        "layer",
        "head",
        "σ(A)",
        "σ(V)",
        "eff. rk A",
        "eff. rk V",
        *distance_names(heads),
        "change",
        "angle (°)",
    )
    rows = []
    for head in heads:
        numerical = head.numerical
        # In radians, the smallest first; ``None`` where rounding does not distinguish it from 0.
        smallest_angle = next(iter(numerical.principal_angles), None)
        rows.append(
            (
                head.layer,
                head.head,
                distance_text(numerical.singular_values_A[0]),
                distance_text(numerical.singular_values_V[0]),
                numerical.effective_rank_A,
                numerical.effective_rank_V,
                *map(distance_text, distances(head)),
                distance_text(numerical.relative_change_of_function),
                "–" if smallest_angle is None else f"{smallest_angle * 180 / pi:.3g}",
            )
        )
    # Each part of the singular locus once. A head for which none is known has an empty name.
    loci = dict.fromkeys(head.numerical.nearest_singular_locus for head in heads)
    names = ", ".join(name for name in loci if name)
    nearest = f"; singular: {names}" if names else ""
    level = f"σ: largest singular value, effective ranks above {first.tolerance:.2g}σ"
    return Table(header, rows, f"Numerical ({first.kind}; {level}; relative distances{nearest})")


def singular_values_table(head: HeadWeights) -> Table:
    """Return the table of the singular values of A and V of a head, the largest first, and of the
    distances of A and V to rank at most i, with a line for each i = 1, 2, ….
    """
    columns = []
    for letter in "AV":
        numbers = head.numerical.numbers_of(letter)
        columns.append(map(distance_text, numbers.singular_values))
        columns.append(map(distance_text, numbers.distances[1:]))
    # A and V may have different numbers of singular values: cells that are missing are empty.
    lines = zip_longest(*columns, fillvalue="")
    rows = [(i, *cells) for i, cells in enumerate(lines, 1)]
    left_out = len(rows) - MAX_SINGULAR_VALUES
    more = f"; {left_out} more with --json" if left_out > 0 else ""
    header = ("i", "σ(A)", "A to rank ≤ i", "σ(V)", "V to rank ≤ i")
    return Table(header, rows[:MAX_SINGULAR_VALUES], f"Singular values, numerical{more}")


def changes_table(changes: Sequence[LowRankChange], *, softmax: bool) -> Table:
    """Return the table of the distances of A and V of heads to matrices of lower ranks, the same
    for all, and of how much the outputs of their layer change at most if these replace them: A
    alone, V alone, and both.
    """
    first = changes[0]
    both = first.rank_A is not None and first.rank_V is not None
    ranks = {"A": first.rank_A, "V": first.rank_V}
    header = ["layer", "head"]
    for letter, other in ("AV", "VA"):
        rank = ranks[other] if ranks[letter] is None else ranks[letter]
        header.append(f"{letter} to rank ≤ {rank}")
    if both:
        header += ["change by A alone", "by V alone"]
    header.append("largest change")
    # Without softmax the outputs are sums over tokens, whose number is not bounded.
    of_each_token = "" if softmax else ", for each token attended to"
    norms = sorted({change.token_norm for change in changes})
    tokens = " or ".join(f"{norm:.3g}" for norm in norms)
    which = "Replaced"
    if not both:
        which = "V replaced" if first.rank_A is None else "A replaced"
    by = f"rank ≤ {first.rank}"
    if both and first.rank_A != first.rank_V:
        by = f"rank A ≤ {first.rank_A}, rank V ≤ {first.rank_V}"
    caption = (
        f"{which} by {by} (numerical; change of the layer's output at most, for"
        f" tokens of norm at most {tokens}{of_each_token})"
    )
    rows = []
    for change in changes:
        cells = [distance_text(change.distance_A), distance_text(change.distance_V)]
        all_changes = [change.change]
        if both:
            all_changes = [change.change_by_A, change.change_by_V, change.change]
        cells += ["–" if number == inf else f"{number:.2g}" for number in all_changes]
        rows.append((change.layer, change.head, *cells))
    return Table(tuple(header), rows, caption)


def arrays_table(arrays: Sequence[ArrayUse]) -> Table:
    """Return a table of what each array of the file is used for, or why it is left out."""
    rows = []
    for use in arrays:
        # An array that is left out has no use: the text is empty.
        use_text = use.used_for or f"left out: {use.left_out_because}"
        rows.append((visible(use.name), use.size, use_text))
    return Table(("array", "shape", "used for"), rows, "Arrays of the file")

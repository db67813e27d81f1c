"""Tables about the heads of trained weights: exact ranks, distances, changes to a lower rank; and
about the arrays of their file.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from math import pi

from m2bridge.results.sheet import Table, value_text, visible
from m2bridge.trained_weights.checkpoints.accounting import ArrayUse
from m2bridge.trained_weights.heads.distances import (
    distance_names,
    distance_text,
    distances,
    spectrum,
)
from m2bridge.trained_weights.heads.findings import HeadWeights
from m2bridge.trained_weights.heads.pruning import LowRankChange, rows_of_changes

MAX_SINGULAR_VALUES = 12
"""Singular values of a single head that are written."""


def exact_table(heads: Sequence[HeadWeights]) -> Table:
    """Return the table of exact ranks and of what follows from them."""
    methods = {head.ranks.method for head in heads}
    known = "lower bounds where they are not proved"
    if all(methods):
        known = f"proved, {' or '.join(sorted(methods))}"
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
    words = {True: "proved", False: "lower bound"}
    rows = [
        (h.layer, h.head, *h.ranks.numbers, h.point, value_text(h.regular), words[h.ranks.proved])
        for h in heads
    ]
    return Table(header, rows, f"Exact (L = column space of A, U = row space of V; ranks: {known})")


def numerical_table(heads: Sequence[HeadWeights]) -> Table:
    """Return the table of effective ranks and distances."""
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
    rows = [_numerical_row(head) for head in heads]
    loci = dict.fromkeys(head.numerical.nearest_singular_locus for head in heads)
    names = ", ".join(filter(None, loci))
    nearest = f"; singular: {names}" if names else ""
    level = f"σ: largest singular value, effective ranks above {first.tolerance:.2g}σ"
    return Table(header, rows, f"Numerical ({first.kind}; {level}; relative distances{nearest})")


def _numerical_row(head: HeadWeights) -> tuple[object, ...]:
    """The line of a head; the angle is the smallest one."""
    n = head.numerical
    angle = n.principal_angles[0] if n.principal_angles else None
    return (
        head.layer,
        head.head,
        distance_text(n.singular_values_A[0]),
        distance_text(n.singular_values_V[0]),
        n.effective_rank_A,
        n.effective_rank_V,
        *map(distance_text, distances(head)),
        distance_text(n.relative_change_of_function),
        "–" if angle is None else f"{angle * 180 / pi:.3g}",
    )


def singular_values_table(head: HeadWeights) -> Table:
    """Return the table of the first singular values of a head, and of distances to lower ranks."""
    columns = [map(distance_text, column) for letter in "AV" for column in spectrum(head, letter)]
    lines = zip_longest(*columns, fillvalue="")
    rows = [(i, *row) for i, row in enumerate(lines, 1)]
    left_out = len(rows) - MAX_SINGULAR_VALUES
    more = f"; {left_out} more with --json" if left_out > 0 else ""
    header = ("i", "σ(A)", "A to rank ≤ i", "σ(V)", "V to rank ≤ i")
    return Table(header, rows[:MAX_SINGULAR_VALUES], f"Singular values, numerical{more}")


def changes_table(changes: Sequence[LowRankChange], *, softmax: bool, rotary: bool) -> Table:
    """Return the table of how far heads are from a rank, and of how much outputs change."""
    rank = changes[0].rank
    header = ("layer", "head", f"A to rank ≤ {rank}", f"V to rank ≤ {rank}", "largest change")
    each = "" if softmax else ", for each token attended to"
    norms = sorted({found.token_norm for found in changes})
    tokens = " or ".join(f"{norm:.3g}" for norm in norms)
    # With rotary positions A is another matrix for each difference of places.
    which = "V replaced" if rotary else "Replaced"
    caption = (
        f"{which} by rank ≤ {rank} (numerical; change of the layer's output at most, for"
        f" tokens of norm at most {tokens}{each})"
    )
    return Table(header, list(rows_of_changes(changes)), caption)


def arrays_table(arrays: Sequence[ArrayUse]) -> Table:
    """Return a table of what each array of the file is used for, or why it is left out."""
    rows = []
    for use in arrays:
        said = use.used_for or f"left out: {use.left_out_because}"
        rows.append((visible(use.name), use.size, said))
    return Table(("array", "shape", "used for"), rows, "Arrays of the file")

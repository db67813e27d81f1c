"""How weights are shown: as tables, first what is exact and then what is numerical, and as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import pi
from typing import Any

from m2bridge.families.attention.weights_head import HeadWeights
from m2bridge.results.picture import BLUE, FAINT, GREEN, INK, ORANGE, SOFT, VERMILION, new_figure, styled
from m2bridge.results.sheet import Block, Facts, Table, plural

MOST_VALUES = 12
"""Singular values of a single head that are written."""
MOST_ROWS = 24
"""Rows of the table beside the picture: the heads that are nearest to the singular locus."""

Heads = Sequence[HeadWeights]
YES = {True: "yes", False: "no", None: "–"}


def blocks(found: Any, ending: list[tuple[str, object]]) -> list[Block]:
    """Facts, the heads exactly, the heads numerically, and of a single head its singular values."""
    heads: Heads = found.heads
    facts = [*_sizes(heads), *_words(heads)]
    facts += found.network.facts() if found.network else []
    facts += [("left out", ", ".join(found.left_out) or None), *(("remark", remark) for remark in found.remarks)]
    written: list[Block] = [Facts([*facts, *ending]), _exact(heads), _numerical(heads)]
    return [*written, _values(heads[0])] if len(heads) == 1 else written


def _sizes(heads: Heads) -> Iterator[tuple[str, object]]:
    """Parameters, dimension and redundant directions, once for heads that are alike."""
    for shape in dict.fromkeys(head.shape for head in heads):
        number = sum(head.shape == shape for head in heads)
        of = "" if len(heads) == 1 else f", {plural(number, 'head')}"
        values = "" if shape.v is None else f", values of dimension {shape.v}"
        yield f"(d, d', a){of}", f"({shape.d}, {shape.d_out}, {shape.a}){values}"
        yield "parameters of a head" if of else "parameters", shape.parameters
        yield "dimension", f"{shape.dimension} of the functions of one head (proved)"
        listed = ", ".join(f"{name} ({size})" for name, size in shape.redundant())
        yield "redundant directions", f"{shape.parameters - shape.dimension}: {listed}"


def _words(heads: Heads) -> Iterator[tuple[str, object]]:
    """What functions say about weights, once for heads of which the same is said."""
    said: dict[str, list[HeadWeights]] = {}
    for head in heads:
        said.setdefault(head.words(), []).append(head)
    for words, alike in said.items():
        named = f"layer {alike[0].layer}, head {alike[0].head}" if len(alike) == 1 else plural(len(alike), "head")
        yield "the function" if len(heads) == 1 else named, words


def _exact(heads: Heads) -> Table:
    """The orbits."""
    methods = {head.ranks.method for head in heads}
    known = f"proved, {' or '.join(sorted(methods))}" if all(methods) else "lower bounds where they are not proved"
    header = ("layer", "head", "rk A", "rk V", "dim L∩U", "point of the closure", "regular weights", "ranks")
    rows = [(head.layer, head.head, *head.ranks.numbers, head.point, YES[head.regular], head.known) for head in heads]
    return Table(header, rows, f"Exact (L = column space of A, U = row space of V; ranks: {known})")


def _numerical(heads: Heads) -> Table:
    """Distances and effective ranks."""
    first = heads[0].numerical
    header = ("layer", "head", "σ(A)", "σ(V)", "eff. rk A", "eff. rk V", *_NEAR, "change", "angle (°)")
    rows = []
    for head in heads:
        n = head.numerical
        largest = n.singular_values_A[0], n.singular_values_V[0]
        angle = n.principal_angles[0] if n.principal_angles else None
        degrees = "–" if angle is None else f"{angle * 180 / pi:.3g}"
        numbers = *map(_text, largest), n.effective_rank_A, n.effective_rank_V, *map(_text, _near(head))
        rows.append((head.layer, head.head, *numbers, _text(n.relative_change_of_function), degrees))
    loci = ", ".join(dict.fromkeys(locus for head in heads if (locus := head.numerical.nearest_singular_locus)))
    nearest = f"; singular: {loci}" if loci else ""
    level = f"σ: largest singular value, effective ranks above {first.tolerance:.2g}σ"
    return Table(header, rows, f"Numerical ({first.kind}; {level}; relative distances{nearest})")


_NEAR = ("to singular", "to boundary")


def _near(head: HeadWeights) -> tuple[float | None, float | None]:
    """The distances to the singular locus and to the boundary."""
    return head.numerical.distance_to_singular_locus, head.numerical.distance_to_boundary


def _text(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _values(head: HeadWeights) -> Table:
    """The first singular values, and how near lower ranks are."""
    columns = [column for letter in "AV" for column in _spectrum(head, letter)]
    longest = max(map(len, columns))
    count = min(MOST_VALUES, longest)
    rows = [(i + 1, *(_text(c[i]) if i < len(c) else "" for c in columns)) for i in range(count)]
    more = f"; {longest - count} more with --json" if count < longest else ""
    return Table(("i", "σ(A)", "A to rank ≤ i", "σ(V)", "V to rank ≤ i"), rows, f"Singular values, numerical{more}")


def _spectrum(head: HeadWeights, letter: str) -> tuple[list[float | None], list[float | None]]:
    """Singular values, and distances to rank at most 1, 2, …"""
    n = head.numerical
    if letter == "A":
        return n.singular_values_A, n.distances_to_lower_rank_A[1:]
    return n.singular_values_V, n.distances_to_lower_rank_V[1:]


def draw_weights(found: Any) -> Any:
    """Return a figure: the singular values over the largest one, the distances, and a table beside them."""
    heads: Heads = found.heads
    wide = min(4.5 + 0.12 * len(heads), 9.0)
    high = max(5.2, 1.6 + 0.22 * min(len(heads), MOST_ROWS))
    with styled():
        picture = new_figure(wide + 5.2, high, f"Weights: {found.size_text}")
        grid = picture.add_gridspec(2, 2, width_ratios=(wide, 5.2), hspace=0.16, wspace=0.08)
        upper = picture.add_subplot(grid[0, 0])
        lower = picture.add_subplot(grid[1, 0], sharex=upper)
        for axes, letter, color in ((upper, "A", BLUE), (lower, "V", GREEN)):
            (_one_head if len(heads) == 1 else _many_heads)(axes, heads, letter, color)
            _scale(axes, heads, letter)
        upper.tick_params(labelbottom=False)
        lower.set_xlabel("i" if len(heads) == 1 else "layer.head")
        marks = [axes.get_legend_handles_labels() for axes in (upper, lower)]
        unique = {label: mark for handles, labels in marks for mark, label in zip(handles, labels, strict=True)}
        picture.legend(unique.values(), unique.keys(), loc="lower center", ncols=3, bbox_to_anchor=(0.5, 0.0))
        picture.suptitle(f"Weights of self-attention: {found.size_text}", fontsize=13)
        picture.subplots_adjust(left=0.9 / (wide + 5.2), right=0.985, top=0.9, bottom=0.2)
        _table(picture.add_subplot(grid[:, 1]), heads)
        return picture


def _scale(axes: Any, heads: Heads, letter: str) -> None:
    """A logarithmic axis that holds all values and distances, and the precision of the type where it is not below."""
    values = [value for head in heads for each in "AV" for value in _relative(head, each)]
    values += [distance for head in heads for distance in _near(head) if distance]
    least, n = min([*values, 0.1]) / 3, heads[0].numerical
    if n.tolerance >= least:
        axes.axhline(n.tolerance, color=SOFT, linewidth=1, linestyle=":", label=f"precision of {n.kind}")
    axes.set_yscale("log")
    axes.set_ylim(least, 2.0)
    axes.tick_params(axis="y", which="minor", labelleft=False)
    axes.set_ylabel(rf"$\sigma_i({letter})\,/\,\sigma_1({letter})$")
    axes.grid(axis="y", color=FAINT, linewidth=0.7)
    axes.set_axisbelow(True)


def _relative(head: HeadWeights, letter: str) -> list[float]:
    """The singular values by the largest one, without those that are 0 or not told apart from it."""
    values = _spectrum(head, letter)[0]
    return [value / values[0] for value in values if value] if values[0] else []


def _one_head(axes: Any, heads: Heads, letter: str, color: str) -> None:
    """Over the index, with the distance to each stratum of lower rank beside."""
    values, distances = _relative(heads[0], letter), _spectrum(heads[0], letter)[1]
    axes.plot(range(1, len(values) + 1), values, "o", color=color, label=f"singular values of {letter}", zorder=3)
    axes.xaxis.get_major_locator().set_params(integer=True)
    if strata := [(k, distance) for k, distance in enumerate(distances, 1) if distance]:
        label = "distance to the stratum of rank ≤ i"
        axes.plot(*zip(*strata, strict=True), "_", color=INK, markersize=13, label=label)
    locus = f"distance to the singular locus ({heads[0].numerical.nearest_singular_locus})"
    labels = ((locus, ORANGE, "-"), ("distance to the boundary", VERMILION, "--"))
    for distance, (label, paint, style) in zip(_near(heads[0]), labels, strict=True):
        if distance:
            axes.axhline(distance, color=paint, linewidth=1.3, linestyle=style, label=label)


def _many_heads(axes: Any, heads: Heads, letter: str, color: str) -> None:
    """A column of marks for each head."""
    columns = [(f"singular values of {letter}", "_", color, [_relative(head, letter) for head in heads])]
    for name, mark, paint, place in (("singular locus", "D", ORANGE, 0), ("boundary", "s", VERMILION, 1)):
        columns.append((f"distance to the {name}", mark, paint, [[_near(head)[place] or 0.0] for head in heads]))
    for label, mark, paint, values in columns:
        if points := [(i, value) for i, column in enumerate(values, 1) for value in column if value]:
            axes.plot(*zip(*points, strict=True), mark, color=paint, markersize=5, fillstyle="none", label=label)
    step = max(1, len(heads) // 12)
    axes.set_xticks(range(1, len(heads) + 1, step), [f"{h.layer}.{h.head}" for h in heads[::step]], rotation=90)


def _table(axes: Any, heads: Heads) -> None:
    """The heads, or those nearest to the singular locus."""
    axes.axis("off")
    near = sorted(heads, key=lambda head: 2.0 if (distance := _near(head)[0]) is None else distance)
    chosen = heads if len(heads) <= MOST_ROWS else near[:MOST_ROWS]
    header = ("head", "(rk A, rk V, dim L∩U)", "point", *_NEAR)
    rows = [(f"{h.layer}.{h.head}", str(h.ranks.numbers), h.point, *map(_text, _near(h))) for h in chosen]
    table = axes.table([header, *rows], loc="upper center", cellLoc="center", edges="horizontal")
    table.auto_set_font_size(False)
    table.set_fontsize(8.5)
    table.auto_set_column_width(range(len(header)))
    for cell in table.get_celld().values():
        cell.set_edgecolor(FAINT)
    if len(chosen) < len(heads):
        axes.set_title(f"the {len(chosen)} heads nearest to the singular locus", fontsize=10)

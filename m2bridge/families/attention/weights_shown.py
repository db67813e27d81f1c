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

YES = {True: "yes", False: "no", None: "–"}


def blocks(found: Any, ending: list[tuple[str, object]]) -> list[Block]:
    """Facts, the heads exactly, the heads numerically, and of a single head its singular values."""
    heads: tuple[HeadWeights, ...] = found.heads
    facts = [*_sizes(heads), *_words(heads)]
    facts += found.network.facts() if found.network else []
    facts += [("left out", ", ".join(found.left_out) or None), *(("remark", remark) for remark in found.remarks)]
    written: list[Block] = [Facts([*facts, *ending]), _exact(heads), _numerical(heads)]
    return [*written, _values(heads[0])] if len(heads) == 1 else written


def _sizes(heads: Sequence[HeadWeights]) -> Iterator[tuple[str, object]]:
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


def _words(heads: Sequence[HeadWeights]) -> Iterator[tuple[str, object]]:
    """What functions say about weights, once for heads of which the same is said."""
    said: dict[str, list[HeadWeights]] = {}
    for head in heads:
        said.setdefault(head.words(), []).append(head)
    for words, alike in said.items():
        named = f"layer {alike[0].layer}, head {alike[0].head}" if len(alike) == 1 else plural(len(alike), "head")
        yield "the function" if len(heads) == 1 else named, words


def _exact(heads: Sequence[HeadWeights]) -> Table:
    """The orbits."""
    proved = {head.ranks.method for head in heads}
    known = f"proved, {' or '.join(sorted(proved))}" if all(proved) else "lower bounds where they are not proved"
    header = ("layer", "head", "rk A", "rk V", "dim L∩U", "point of the closure", "regular weights", "ranks")
    rows = [(*_place(head), *_ranks(head), head.point, YES[head.regular], _known(head)) for head in heads]
    return Table(header, rows, f"Exact (L = column space of A, U = row space of V; ranks: {known})")


def _place(head: HeadWeights) -> tuple[int, int]:
    return head.layer, head.head


def _ranks(head: HeadWeights) -> tuple[int, int, int]:
    return head.ranks.r, head.ranks.s, head.ranks.m


def _known(head: HeadWeights) -> str:
    return "proved" if head.ranks.proved else "lower bound"


def _numerical(heads: Sequence[HeadWeights]) -> Table:
    """Distances and effective ranks."""
    first = heads[0].numerical
    header = (
        "layer",
        "head",
        "σ(A)",
        "σ(V)",
        "eff. rk A",
        "eff. rk V",
        "to singular",
        "to boundary",
        "change",
        "angle (°)",
    )
    rows = []
    for head in heads:
        n = head.numerical
        largest = (_text(values[0]) for values in (n.singular_values_A, n.singular_values_V))
        angle = _degrees(n.angles[0]) if n.angles else "–"
        distances = (_text(value) for value in (n.to_singular, n.to_boundary, n.change))
        rows.append((*_place(head), *largest, n.effective_rank_A, n.effective_rank_V, *distances, angle))
    loci = ", ".join(dict.fromkeys(head.numerical.locus for head in heads if head.numerical.locus))
    nearest = f"; singular: {loci}" if loci else ""
    level = f"σ: largest singular value, effective ranks above {first.tolerance:.2g}σ"
    caption = f"Numerical ({first.kind}; {level}; relative distances{nearest})"
    return Table(header, rows, caption)


def _text(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _degrees(angle: float | None) -> str:
    return "–" if angle is None else f"{angle * 180 / pi:.3g}"


def _values(head: HeadWeights) -> Table:
    """The first singular values, and how near lower ranks are."""
    n = head.numerical
    columns = (n.singular_values_A, n.distances_A[1:], n.singular_values_V, n.distances_V[1:])
    count = min(MOST_VALUES, max(map(len, columns)))
    rows = [(i + 1, *(_text(c[i]) if i < len(c) else "" for c in columns)) for i in range(count)]
    more = f"; {max(map(len, columns)) - count} more with --json" if count < max(map(len, columns)) else ""
    return Table(("i", "σ(A)", "A to rank ≤ i", "σ(V)", "V to rank ≤ i"), rows, f"Singular values, numerical{more}")


def draw_weights(found: Any) -> Any:
    """Return a figure: the singular values over the largest one, the distances, and a table beside them."""
    heads: tuple[HeadWeights, ...] = found.heads
    with styled():
        wide = min(4.5 + 0.12 * len(heads), 9.0)
        rows = min(len(heads), MOST_ROWS)
        picture = new_figure(wide + 5.2, max(5.2, 1.6 + 0.22 * rows), f"Weights: {found.size_text}")
        grid = picture.add_gridspec(2, 2, width_ratios=(wide, 5.2), hspace=0.16, wspace=0.08)
        upper = picture.add_subplot(grid[0, 0])
        lower = picture.add_subplot(grid[1, 0], sharex=upper)
        for axes, letter in ((upper, "A"), (lower, "V")):
            (_one_head if len(heads) == 1 else _many_heads)(axes, heads, letter)
            axes.set_yscale("log")
            axes.set_ylim(*_range(heads))
            axes.set_ylabel(rf"$\sigma_i({letter})\,/\,\sigma_1({letter})$")
            axes.grid(axis="y", color=FAINT, linewidth=0.7)
            axes.set_axisbelow(True)
        upper.tick_params(labelbottom=False)
        lower.set_xlabel("i" if len(heads) == 1 else "layer.head")
        marks = [axes.get_legend_handles_labels() for axes in (upper, lower)]
        unique = {label: mark for handles, labels in marks for mark, label in zip(handles, labels, strict=True)}
        picture.legend(unique.values(), unique.keys(), loc="lower center", ncols=3, bbox_to_anchor=(0.5, 0.0))
        picture.suptitle(f"Weights of self-attention: {found.size_text}", fontsize=13)
        picture.subplots_adjust(left=0.75 / (wide + 5.2), right=0.985, top=0.9, bottom=0.2)
        _table(picture.add_subplot(grid[:, 1]), heads)
        return picture


def _range(heads: Sequence[HeadWeights]) -> tuple[float, float]:
    """The vertical axis holds all values and distances; not the precision of the type, where that is far below."""
    values = [value for head in heads for letter in "AV" for value in _relative(head, letter)]
    values += [value for head in heads for value in (head.numerical.to_singular, head.numerical.to_boundary) if value]
    return min(values, default=0.1) / 3, 2.0


def _relative(head: HeadWeights, letter: str) -> list[float]:
    """The singular values by the largest one, without those that are 0 or not told apart from it."""
    values = head.numerical.singular_values_A if letter == "A" else head.numerical.singular_values_V
    first = next(iter(values), None)
    return [value / first for value in values if value] if first else []


def _one_head(axes: Any, heads: Sequence[HeadWeights], letter: str) -> None:
    """Over the index, with the distance to each stratum of lower rank beside."""
    (head,) = heads
    values, n = _relative(head, letter), head.numerical
    distances = n.distances_A if letter == "A" else n.distances_V
    color = BLUE if letter == "A" else GREEN
    axes.plot(range(1, len(values) + 1), values, "o", color=color, label=f"singular values of {letter}", zorder=3)
    axes.xaxis.get_major_locator().set_params(integer=True)
    strata = [(k, distance) for k, distance in enumerate(distances) if distance and k]
    if strata:
        label = "distance to the stratum of rank ≤ i"
        axes.plot(*zip(*strata, strict=True), "_", color=INK, markersize=13, label=label)
    _lines(axes, heads)


def _many_heads(axes: Any, heads: Sequence[HeadWeights], letter: str) -> None:
    """A column of marks for each head."""
    color = BLUE if letter == "A" else GREEN
    points = [(place, value) for place, head in enumerate(heads, 1) for value in _relative(head, letter)]
    if points:
        axes.plot(*zip(*points, strict=True), "_", color=color, markersize=6, label=f"singular values of {letter}")
    for name, label, mark, paint in (
        ("to_singular", "distance to the singular locus", "D", ORANGE),
        ("to_boundary", "distance to the boundary", "s", VERMILION),
    ):
        near = [(i, value) for i, head in enumerate(heads, 1) if (value := getattr(head.numerical, name))]
        if near:
            axes.plot(*zip(*near, strict=True), mark, color=paint, markersize=4.5, fillstyle="none", label=label)
    _tolerance(axes, heads)
    step = max(1, len(heads) // 12)
    axes.set_xticks(range(1, len(heads) + 1, step), [f"{h.layer}.{h.head}" for h in heads[::step]], rotation=90)


def _lines(axes: Any, heads: Sequence[HeadWeights]) -> None:
    n = heads[0].numerical
    if n.to_singular:
        axes.axhline(n.to_singular, color=ORANGE, linewidth=1.3, label=f"distance to the singular locus ({n.locus})")
    if n.to_boundary:
        axes.axhline(n.to_boundary, color=VERMILION, linewidth=1.3, linestyle="--", label="distance to the boundary")
    _tolerance(axes, heads)


def _tolerance(axes: Any, heads: Sequence[HeadWeights]) -> None:
    n = heads[0].numerical
    if n.tolerance >= _range(heads)[0]:
        axes.axhline(n.tolerance, color=SOFT, linewidth=1, linestyle=":", label=f"precision of {n.kind}")


def _table(axes: Any, heads: Sequence[HeadWeights]) -> None:
    """The heads, or those nearest to the singular locus."""
    axes.axis("off")
    near = sorted(heads, key=lambda head: 2.0 if head.numerical.to_singular is None else head.numerical.to_singular)
    chosen = heads if len(heads) <= MOST_ROWS else near[:MOST_ROWS]
    header = ("head", "(rk A, rk V, dim L∩U)", "point", "to singular", "to boundary")
    rows = [
        (f"{h.layer}.{h.head}", str(_ranks(h)), h.point, _text(h.numerical.to_singular), _text(h.numerical.to_boundary))
        for h in chosen
    ]
    table = axes.table([header, *rows], loc="upper center", cellLoc="center", edges="horizontal")
    table.auto_set_font_size(False)
    table.set_fontsize(8.5)
    table.auto_set_column_width(range(len(header)))
    for cell in table.get_celld().values():
        cell.set_edgecolor(FAINT)
    if len(chosen) < len(heads):
        axes.set_title(f"the {len(chosen)} heads nearest to the singular locus", fontsize=10)

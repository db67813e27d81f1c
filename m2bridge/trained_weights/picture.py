"""The picture of trained weights: singular values, distances, a table, and a map of the heads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from m2bridge.results import picture
from m2bridge.results.picture import new_figure, styled
from m2bridge.trained_weights.distances import (
    distance_names,
    distance_text,
    distances,
    nearness,
    spectrum,
)
from m2bridge.trained_weights.heads import HeadWeights

MOST_ROWS = 24
"""Rows of the table beside the picture: the heads that are nearest to the singular locus."""

MOST_TICKS = 24
"""Numbers along a side of the map; of more heads or layers only some have theirs."""

_DRAWN = ("head", "(rk A, rk V, dim L∩U)", "point")


def weights_figure(
    heads: Sequence[HeadWeights], listed: Sequence[HeadWeights], size_text: str
) -> Any:
    """Draw the singular values over the largest one, the distances, and a table beside them; A
    beside V for one head.

    Parameters
    ----------
    heads : sequence of HeadWeights
        All heads, of which there is a map.
    listed : sequence of HeadWeights
        Those that are drawn and in the table, in this order.
    size_text : str
    """
    one = len(heads) == 1
    # In inches: the singular values, and beside them those of V of one head, or the table.
    widths = [min(4.5 + 0.12 * len(listed), 9.0), 5.2]
    draw = _one_head
    if not one:
        # The map has a square for each head.
        widths.append(min(2.2 + 0.24 * max(head.head for head in heads), 6.0))
        draw = _many_heads
    whole = sum(widths)
    height = max(5.2, 1.6 + 0.22 * min(len(listed), MOST_ROWS))
    with styled():
        page = new_figure(whole, height, f"Weights: {size_text}")
        grid = page.add_gridspec(
            2 - one, len(widths), width_ratios=widths, hspace=0.16, wspace=0.22 if one else 0.08
        )
        first = page.add_subplot(grid[0, 0])
        second = page.add_subplot(grid[0, 1] if one else grid[1, 0], sharex=None if one else first)
        marks: dict[str, Any] = {}
        for axes, letter, color in ((first, "A", picture.BLUE), (second, "V", picture.GREEN)):
            draw(axes, listed, letter, color)
            _scale(axes, listed, letter)
            handles, labels = axes.get_legend_handles_labels()
            marks |= zip(labels, handles, strict=True)
        first.tick_params(labelbottom=one)
        second.set_xlabel("i" if one else "layer.head")
        page.legend(
            marks.values(), marks.keys(), loc="lower center", ncols=3, bbox_to_anchor=(0.5, 0.0)
        )
        page.subplots_adjust(left=0.9 / whole, right=0.985, top=0.86, bottom=0.25)
        if one:
            first.set_xlabel("i")
            names = (*_DRAWN, *distance_names(heads))
            pairs = zip(names[1:], _row(heads[0])[1:], strict=True)
            size_text += "\n" + ", ".join(f"{name}: {cell}" for name, cell in pairs)
        else:
            _table(page.add_subplot(grid[:, 1]), listed, of=len(heads))
            _map(page, page.add_subplot(grid[:, 2]), heads, listed)
        page.suptitle(f"Weights of self-attention: {size_text}", fontsize=13)
        return page


def _scale(axes: Any, heads: Sequence[HeadWeights], letter: str) -> None:
    """Give the axes a logarithmic scale that holds all values and distances, and draw the precision
    of the type where it is not below.
    """
    values = [value for head in heads for each in "AV" for value in _relative(head, each)]
    values += [distance for head in heads for distance in distances(head) if distance]
    least = min([*values, 0.1]) / 3
    first = heads[0].numerical
    if first.tolerance >= least:
        label = f"precision of {first.kind}"
        axes.axhline(first.tolerance, color=picture.SOFT, linewidth=1, linestyle=":", label=label)
    axes.set_yscale("log")
    axes.set_ylim(least, 2.0)
    axes.tick_params(axis="y", which="minor", labelleft=False)
    axes.set_ylabel(rf"$\sigma_i({letter})\,/\,\sigma_1({letter})$")
    axes.grid(axis="y", color=picture.FAINT, linewidth=0.7)
    axes.set_axisbelow(True)


def _relative(head: HeadWeights, letter: str) -> list[float]:
    """The singular values by the largest one, without those that are 0 or not told apart
    from it.
    """
    values = spectrum(head, letter)[0]
    if not values[0]:
        return []
    return [value / values[0] for value in values if value]


def _one_head(axes: Any, heads: Sequence[HeadWeights], letter: str, color: str) -> None:
    """Draw values over the index, with the distance to each stratum of lower rank beside."""
    values = _relative(heads[0], letter)
    label = f"singular values of {letter}"
    axes.plot(range(1, len(values) + 1), values, "o", color=color, label=label, zorder=3)
    axes.xaxis.get_major_locator().set_params(integer=True)
    _, to_lower_rank = spectrum(heads[0], letter)
    strata = [(k, distance) for k, distance in enumerate(to_lower_rank, 1) if distance]
    if strata:
        label = "distance to the stratum of rank ≤ i"
        axes.plot(*zip(*strata, strict=True), "_", color=picture.INK, markersize=13, label=label)
    locus = f"distance to the singular locus ({heads[0].numerical.nearest_singular_locus})"
    labels = ((locus, picture.ORANGE, "-"), ("distance to the boundary", picture.VERMILION, "--"))
    for distance, (label, paint, style) in zip(distances(heads[0]), labels, strict=True):
        if distance and not heads[0].shape.softmax:
            axes.axhline(distance, color=paint, linewidth=1.3, linestyle=style, label=label)


def _many_heads(axes: Any, heads: Sequence[HeadWeights], letter: str, color: str) -> None:
    """Draw a column of marks for each head."""
    relative = [_relative(head, letter) for head in heads]
    columns = [(f"singular values of {letter}", "_", color, relative)]
    # Of softmax these would be the distances to lower rank, which have marks of their own.
    if (
        letter == "A" and not heads[0].shape.softmax
    ):  # these are distances of A and V together, and are drawn once
        singular, boundary = zip(*map(distances, heads), strict=True)
        columns.append(("distance to the singular locus", "D", picture.ORANGE, _alone(singular)))
        columns.append(("distance to the boundary", "s", picture.VERMILION, _alone(boundary)))
    lower = _alone([_to_lower_rank(head, letter) for head in heads])
    columns.append((f"distance of {letter} to lower rank", "x", picture.INK, lower))
    for label, mark, paint, values in columns:
        points = [(i, value) for i, column in enumerate(values, 1) for value in column if value]
        if points:
            style = {"color": paint, "markersize": 5, "fillstyle": "none", "label": label}
            axes.plot(*zip(*points, strict=True), mark, **style)
    step = max(1, len(heads) // 12)
    axes.set_xticks(
        range(1, len(heads) + 1, step), [f"{h.layer}.{h.head}" for h in heads[::step]], rotation=90
    )


def _alone(values: Sequence[float | None]) -> list[list[float]]:
    """A column of one value for each head; none is drawn for what is 0 or not known."""
    return [[value or 0.0] for value in values]


def _to_lower_rank(head: HeadWeights, letter: str) -> float | None:
    """The distance of A or V alone to the matrices of a rank below its own."""
    rank = head.ranks.r if letter == "A" else head.ranks.s
    # Rank 0 is the zero function, a distance that says nothing of the singular locus.
    if rank <= 1:
        return None
    return spectrum(head, letter)[1][rank - 2]


def _row(head: HeadWeights) -> tuple[str, ...]:
    """A line of the table."""
    return (
        f"{head.layer}.{head.head}",
        str(head.ranks.numbers),
        head.point,
        *map(distance_text, distances(head)),
    )


def _table(axes: Any, heads: Sequence[HeadWeights], of: int) -> None:
    """Draw the table of the heads, or of those nearest to the singular locus.

    ``of`` is the number of all heads.
    """
    axes.axis("off")
    chosen = heads
    if len(heads) > MOST_ROWS:
        chosen = sorted(heads, key=nearness)[:MOST_ROWS]
    header = (*_DRAWN, *distance_names(heads))
    table = axes.table(
        [header, *map(_row, chosen)], loc="upper center", cellLoc="center", edges="horizontal"
    )
    table.auto_set_font_size(False)
    table.set_fontsize(8.5)
    table.auto_set_column_width(range(len(header)))
    for cell in table.get_celld().values():
        cell.set_edgecolor(picture.FAINT)
    if len(chosen) < of:
        which = "head" if len(chosen) == 1 else f"{len(chosen)} heads"
        axes.set_title(f"the {which} nearest to {_what_is_near(heads)}", fontsize=10)


def _what_is_near(heads: Sequence[HeadWeights]) -> str:
    """What the distances by which heads are sorted lead to."""
    return "a lower rank" if heads[0].shape.softmax else "the singular locus"


def _frame(axes: Any, column: int, row: int) -> None:
    """Draw a frame around a square of the map."""
    x = [column + side for side in (-0.5, 0.5, 0.5, -0.5, -0.5)]
    y = [row + side for side in (-0.5, -0.5, 0.5, 0.5, -0.5)]
    axes.plot(x, y, color=picture.VERMILION, linewidth=1.6, zorder=3, clip_on=False)


def _map(page: Any, axes: Any, heads: Sequence[HeadWeights], listed: Sequence[HeadWeights]) -> None:
    """Draw a square for each head, the darker, the nearer to a singular function.

    Heads that are singular, or not told from it, have a 0; where nothing is known, a dash. Where
    only some heads are listed, these have frames.
    """
    layers = sorted({head.layer for head in heads})
    most = max(head.head for head in heads)
    cells = [[float("nan")] * most for _ in layers]
    for head in heads:
        row, column = layers.index(head.layer), head.head - 1
        distance = nearness(head)
        if 0 < distance <= 1:
            cells[row][column] = distance
            continue
        sign = "–" if distance else "0"
        axes.text(column, row, sign, ha="center", va="center", color=picture.INK, fontsize=8)
    title = f"distance to {_what_is_near(heads)},\nby layers and heads"
    if len(listed) < len(heads):
        title += " (framed: those beside)"
        for head in listed:
            _frame(axes, head.head - 1, layers.index(head.layer))
    axes.set_title(title, fontsize=10)
    axes.set_ylabel("layer")
    axes.set_xlabel("head")
    axes.tick_params(labelsize=9)
    beside, below = 1 + most // MOST_TICKS, 1 + len(layers) // MOST_TICKS
    axes.set_xticks(range(0, most, beside), map(str, range(1, most + 1, beside)))
    axes.set_yticks(range(0, len(layers), below), map(str, layers[::below]))
    axes.set_xlim(-0.5, most - 0.5)
    axes.set_ylim(len(layers) - 0.5, -0.5)
    axes.set_aspect("equal")
    known = [value for row in cells for value in row if value > 0]
    if known:
        scale = {"norm": "log", "cmap": "cividis"}
        image = axes.imshow(cells, **scale, interpolation="nearest")
        image.set_clim(min(known) / 1.2, max(known) * 1.2)
        bar = page.colorbar(image, ax=axes, orientation="horizontal", pad=0.24, shrink=0.9)
        ends = sorted({min(known), max(known)})
        bar.set_ticks(ends, labels=[f"{end:.2g}" for end in ends])
        bar.ax.minorticks_off()

"""The picture of trained weights: singular values, distances, a table, and a map of the heads.

``letter`` is A or V, and V stands for OV where there is an output matrix. Distances are relative:
to the singular locus and to the boundary, or, for softmax, of A and of V to a lower rank; ``None``
where rounding hides them. A number 0 has no place on a logarithmic scale. *Axes* are those of
matplotlib; lengths are in inches.

Of one head the values of A stand next to the values of V. Of several heads those of A are above
those of V, with a column for each listed head; on the right a map of the distances of all heads,
with a square for each, is above a table of the listed heads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, floor, log10
from typing import Any

from m2bridge.results import picture
from m2bridge.results.picture import new_figure, styled
from m2bridge.trained_weights.checkpoints.arrays import PRECISIONS
from m2bridge.trained_weights.heads.distances import (
    distance_names,
    distance_text,
    distances,
    nearness,
    nearness_position,
)
from m2bridge.trained_weights.heads.findings import HeadWeights

MAX_ROWS = 24
"""The largest number of rows of the table: of more heads the nearest to the singular locus."""

COLORS = {"A": picture.BLUE, "V": picture.GREEN}
"""The colours of the singular values, by the letter of the matrix."""

_COLUMNS = ("head", "(rk A, rk V, dim L∩U)", "point")
"""The headings of the table before the distances."""


def weights_figure(
    heads: Sequence[HeadWeights], listed: Sequence[HeadWeights], size_text: str
) -> Any:
    """Return the figure of all heads, of which the ``listed`` ones have columns, in this order, and
    lines in the table; ``size_text`` is the numbers of layers and heads: ``12 layers, 144 heads``.
    """
    with styled():
        if len(heads) == 1:
            return _figure_of_one(heads[0], size_text)
        return _figure_of_several(heads, listed, size_text)


def _figure_of_one(head: HeadWeights, size_text: str) -> Any:
    """Return a figure with the values of A next to the values of V."""
    width, height = 9.8, 5.2
    page = new_figure(width, height, f"Weights: {size_text}")
    panels = page.subplots(1, 2)
    page.subplots_adjust(left=0.9 / width, right=0.985, top=0.86, bottom=0.25, wspace=0.22)
    for axes, letter in zip(panels, COLORS, strict=True):
        _draw_values(axes, head, letter)
        _set_scale(axes, [head], letter)
        axes.set_xlabel("i")
    _draw_legend(page, panels)
    # The title has the cells of a line of the table, but for the first, the number of the head.
    headings = (*_COLUMNS, *distance_names([head]))
    pairs = zip(headings[1:], _table_row(head)[1:], strict=True)
    known = ", ".join(f"{heading}: {cell}" for heading, cell in pairs)
    page.suptitle(f"Weights of self-attention: {size_text}\n{known}", fontsize=13)
    return page


def _figure_of_several(
    heads: Sequence[HeadWeights], listed: Sequence[HeadWeights], size_text: str
) -> Any:
    """Return a figure with a column for each listed head, the map, and the table."""
    layers = sorted({head.layer for head in heads})
    columns = max(head.head for head in heads)
    # The side of a square of the map, which is at most 3.5 wide and 6 high.
    square = min(0.5, 3.5 / columns, 6.0 / len(layers))
    map_width, map_height = square * columns, square * len(layers)
    table_width, table_height = 4.6, 0.22 * (min(len(listed), MAX_ROWS) + 1)
    # Between the map and the table, and between the panels of A and V.
    gap, gap_of_panels = 1.05, 0.25
    panels_width = min(4.5 + 0.12 * len(listed), 9.0)
    panels_height = max(3.4, map_height + gap + table_height)
    # The margins of the page, and the upper left corner of the part with map and table.
    left, right, top, bottom = 0.9, 0.3, 1.0, 1.6
    x = left + panels_width + 0.8
    y = bottom + panels_height
    width, height = x + table_width + right, bottom + panels_height + top
    page = new_figure(width, height, f"Weights: {size_text}")

    def axes_at(x: float, y: float, wide: float, high: float, **options: Any) -> Any:
        """Return new axes on the page, with the lower left corner (x, y)."""
        return page.add_axes((x / width, y / height, wide / width, high / height), **options)

    panel_height = (panels_height - gap_of_panels) / 2
    bottom_of_upper = bottom + panel_height + gap_of_panels
    upper = axes_at(left, bottom_of_upper, panels_width, panel_height)
    lower = axes_at(left, bottom, panels_width, panel_height, sharex=upper)
    for axes, letter in zip((upper, lower), COLORS, strict=True):
        _draw_columns(axes, listed, letter)
        _set_scale(axes, listed, letter)
    upper.tick_params(labelbottom=False)
    lower.set_xlabel("layer.head")
    _draw_legend(page, (upper, lower))

    bottom_of_map = y - map_height
    table = axes_at(x, bottom_of_map - gap - table_height, table_width, table_height)
    # Left of the map are the numbers of layers, right of it the scale of its colours.
    left_of_map = x + 0.4
    of_map = axes_at(left_of_map, bottom_of_map, map_width, map_height)
    bar = axes_at(left_of_map + map_width + 0.15, bottom_of_map, 0.14, map_height)
    color_of_distance = _draw_map(of_map, bar, heads, listed, layers, columns)
    _draw_table(table, listed, all_heads=len(heads), color_of_distance=color_of_distance)
    title = f"Weights of self-attention: {size_text}"
    page.suptitle(title, y=1 - 0.25 / height, va="top", fontsize=13)
    return page


def _draw_legend(page: Any, panels: Sequence[Any]) -> None:
    """Draw one legend below all panels, with each label once."""
    marks: dict[str, Any] = {}
    for axes in panels:
        handles, labels = axes.get_legend_handles_labels()
        marks |= zip(labels, handles, strict=True)
    page.legend(
        marks.values(), marks.keys(), loc="lower center", ncols=3, bbox_to_anchor=(0.5, 0.0)
    )


def _set_scale(axes: Any, heads: Sequence[HeadWeights], letter: str) -> None:
    """Give the axes a logarithmic scale that holds all values and distances of the heads, and draw
    a line at the precision of the stored type of the first head, unless that is below the scale.
    """
    shown = [0.1]
    for head in heads:
        shown += _relative(head, "A") + _relative(head, "V")
        shown += [distance for distance in distances(head) if distance]
    # The scale begins at a third of the least value, or of 0.1 if no value is less.
    least = min(shown) / 3
    kind = heads[0].numerical.kind
    precision = PRECISIONS[kind]
    if precision >= least:
        label = f"precision of {kind}"
        axes.axhline(precision, color=picture.SOFT, linewidth=1, linestyle=":", label=label)
    axes.set_yscale("log")
    axes.set_ylim(least, 2.0)
    axes.tick_params(axis="y", which="minor", labelleft=False)
    axes.set_ylabel(rf"$\sigma_i({letter})\,/\,\sigma_1({letter})$")
    axes.grid(axis="y", color=picture.FAINT, linewidth=0.7)
    axes.set_axisbelow(True)


def _relative(head: HeadWeights, letter: str) -> list[float]:
    """Return the singular values of A or V divided by the largest one, without those that are 0 or
    that rounding hides.
    """
    values = head.numerical.numbers_of(letter).singular_values
    largest = values[0]
    # It is 0, or None as rounding hides it; then so are all others.
    if not largest:
        return []
    return [value / largest for value in values if value]


def _draw_values(axes: Any, head: HeadWeights, letter: str) -> None:
    """Draw the singular values of A or V of one head over their index from 1 on; the distance of
    this matrix to rank at most i over i; and, for lightning attention, lines at the distances of
    the head to singular locus and boundary.
    """
    values = _relative(head, letter)
    label = f"singular values of {letter}"
    axes.plot(range(1, len(values) + 1), values, "o", color=COLORS[letter], label=label, zorder=3)
    axes.xaxis.get_major_locator().set_params(integer=True)
    to_lower_rank = head.numerical.numbers_of(letter).distances[1:]
    strata = [(i, distance) for i, distance in enumerate(to_lower_rank, 1) if distance]
    if strata:
        indices, to_rank = zip(*strata, strict=True)
        label = "distance to the stratum of rank ≤ i"
        axes.plot(indices, to_rank, "_", color=picture.INK, markersize=13, label=label)
    # For softmax ``distances`` has those to lower rank, which have marks already.
    if head.shape.softmax:
        return
    locus = f"distance to the singular locus ({head.numerical.nearest_singular_locus})"
    lines = ((locus, picture.ORANGE, "-"), ("distance to the boundary", picture.VERMILION, "--"))
    for distance, (label, color_of_line, style) in zip(distances(head), lines, strict=True):
        if distance:
            axes.axhline(distance, color=color_of_line, linewidth=1.3, linestyle=style, label=label)


def _draw_columns(axes: Any, heads: Sequence[HeadWeights], letter: str) -> None:
    """Draw a column of marks for each head: the singular values of A or V, and its distance to the
    next lower rank. With A there are also the distances of the head to singular locus and boundary,
    in lightning attention: they are of A and V together, and drawn once.
    """
    relative: list[Sequence[float | None]] = [_relative(head, letter) for head in heads]
    _draw_marks(axes, relative, f"singular values of {letter}", "_", COLORS[letter])
    if letter == "A" and not heads[0].shape.softmax:
        to_locus, to_boundary = zip(*map(distances, heads), strict=True)
        label = "distance to the singular locus"
        _draw_marks(axes, [(x,) for x in to_locus], label, "D", picture.ORANGE)
        label = "distance to the boundary"
        _draw_marks(axes, [(x,) for x in to_boundary], label, "s", picture.VERMILION)
    to_lower_rank: list[Sequence[float | None]] = []
    for head in heads:
        rank = head.ranks.r if letter == "A" else head.ranks.s
        # A matrix of rank 0 has the zero function: the distance to it says nothing of the singular
        # locus.
        lower = None if rank <= 1 else head.numerical.numbers_of(letter).distances[rank - 1]
        to_lower_rank.append((lower,))
    _draw_marks(axes, to_lower_rank, "distance of A or V alone to lower rank", "x", picture.INK)
    # Below the columns are the numbers of heads, as 2.5 for head 5 of layer 2; of many heads only
    # of some.
    step = max(1, len(heads) // 12)
    numbers = [f"{head.layer}.{head.head}" for head in heads[::step]]
    axes.set_xticks(range(1, len(heads) + 1, step), numbers, rotation=90)


def _draw_marks(
    axes: Any, columns: Sequence[Sequence[float | None]], label: str, mark: str, color: str
) -> None:
    """Draw marks of one kind at these heights, a column for each head, the first at x = 1. If no
    height is known and positive, the legend does not have such marks either.
    """
    places: list[int] = []
    heights: list[float] = []
    for place, column in enumerate(columns, 1):
        shown = [value for value in column if value]
        places += [place] * len(shown)
        heights += shown
    if places:
        style = {"color": color, "markersize": 5, "fillstyle": "none", "label": label}
        axes.plot(places, heights, mark, **style)


def _table_row(head: HeadWeights) -> tuple[str, ...]:
    """Return the cells of the line of a head in the table."""
    return (
        f"{head.layer}.{head.head}",
        str(head.ranks.numbers),
        head.point,
        *map(distance_text, distances(head)),
    )


def _draw_table(
    axes: Any,
    heads: Sequence[HeadWeights],
    *,
    all_heads: int,
    color_of_distance: Callable[[float], Any],
) -> None:
    """Draw the table of the heads, of which cells have the colour of their distance in the map;
    if not all heads have lines, the title says which have.
    """
    axes.axis("off")
    chosen = heads
    if len(heads) > MAX_ROWS:
        chosen = sorted(heads, key=nearness)[:MAX_ROWS]
    header = (*_COLUMNS, *distance_names(heads))
    table = axes.table(
        [header, *map(_table_row, chosen)],
        loc="upper center",
        cellLoc="center",
        edges="horizontal",
        bbox=(0, 0, 1, 1),
    )
    table.auto_set_font_size(False)
    table.set_fontsize(9)
    table.auto_set_column_width(range(len(header)))
    for cell in table.get_celld().values():
        cell.set_edgecolor(picture.FAINT)
    for row, head in enumerate(chosen, 1):  # row 0 is the header
        colour = color_of_distance(nearness(head))
        if colour is not None:
            cell = table[row, len(_COLUMNS) + nearness_position(head)]
            cell.set_facecolor(colour)
            # Black on light backgrounds, white on dark ones, by the luminance of the guidelines
            # WCAG 2.
            red, green, blue = (channel**2.2 for channel in colour[:3])
            luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
            cell.set_text_props(color=picture.INK if luminance > 0.18 else "white")
            cell.visible_edges = "closed"
    if len(chosen) < all_heads:
        which = "head" if len(chosen) == 1 else f"{len(chosen)} heads"
        axes.set_title(f"the {which} nearest to {_what_is_near(heads)}", fontsize=10)


def _what_is_near(heads: Sequence[HeadWeights]) -> str:
    """Return in words to what :func:`nearness`, by which heads are sorted, is the distance."""
    return "a lower rank" if heads[0].shape.softmax else "the singular locus"


def _draw_map(
    axes: Any,
    bar: Any,
    heads: Sequence[HeadWeights],
    listed: Sequence[HeadWeights],
    layers: list[int],
    columns: int,
) -> Callable[[float], Any]:
    """Draw a square for each head, the darker, the nearer to a singular function, and on the axes
    ``bar`` the scale of the colours; return the function that takes a distance to its colour, or to
    ``None``. The map has a row for each number in ``layers``, and ``columns`` for their heads.

    A head that is singular, or whose distance rounding hides, has a 0 in its square; one for which
    no part of the singular locus is known has a dash. Where only some heads are listed, these have
    frames.
    """
    # NaN, no number, where there is no distance.
    cells = [[float("nan")] * columns for _ in layers]
    for head in heads:
        row, column = layers.index(head.layer), head.head - 1
        distance = nearness(head)
        if _has_colour(distance):
            cells[row][column] = distance
        else:
            # ``distance`` is 0, or 2.0 if no part of the singular locus is known.
            sign = "0" if distance == 0 else "–"
            axes.text(column, row, sign, ha="center", va="center", color=picture.INK, fontsize=8)
    title = f"distance to {_what_is_near(heads)}, by layers and heads"
    if len(listed) < len(heads):
        title += "\n(framed: those in the table)"
        for head in listed:
            row, column = layers.index(head.layer), head.head - 1
            x = [column + side for side in (-0.5, 0.5, 0.5, -0.5, -0.5)]
            y = [row + side for side in (-0.5, -0.5, 0.5, 0.5, -0.5)]
            axes.plot(x, y, color=picture.VERMILION, linewidth=1.6, zorder=3, clip_on=False)
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_ylabel("layer")
    axes.set_xlabel("head")
    axes.tick_params(labelsize=9)
    rows = len(layers)
    # The steps from one head, and from one layer, that has its number written to the next one:
    # fewer than 24 have all their numbers.
    head_step, layer_step = 1 + columns // 24, 1 + rows // 24
    head_numbers = range(1, columns + 1, head_step)
    axes.set_xticks(range(0, columns, head_step), map(str, head_numbers))
    axes.set_yticks(range(0, rows, layer_step), map(str, layers[::layer_step]))
    axes.set_xlim(-0.5, columns - 0.5)
    axes.set_ylim(rows - 0.5, -0.5)
    # NaN is not larger than 0.
    known = [value for row_of_cells in cells for value in row_of_cells if value > 0]
    if not known:
        bar.axis("off")
        return lambda distance: None
    image = axes.imshow(cells, norm="log", cmap="cividis", interpolation="nearest", aspect="auto")
    # The scale of the colours goes a little beyond the distances.
    low, high = min(known) / 1.2, max(known) * 1.2
    image.set_clim(low, high)
    scale = axes.figure.colorbar(image, cax=bar)
    ticks = _ticks(low, high)
    scale.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    bar.minorticks_off()
    bar.tick_params(labelsize=9)
    return lambda distance: image.to_rgba(distance) if _has_colour(distance) else None


def _has_colour(distance: float) -> bool:
    """Return whether the map shows a relative distance by a colour: not 0, and not a number above
    1, which stands for a distance that is not known.
    """
    return 0 < distance <= 1


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers between two bounds of a logarithmic scale, at least three; if there are
    fewer, the bounds, rounded to two digits.
    """
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    # First powers of ten alone, then multiples of them by more and more numbers.
    for steps in ((1.0,), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)):
        shown = []
        for power in powers:
            ticks = [float(f"{step}e{power}") for step in steps]
            shown += [tick for tick in ticks if low <= tick <= high]
        if len(shown) >= 3:
            return shown
    return [float(f"{low:.2g}"), float(f"{high:.2g}")]

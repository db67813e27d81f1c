"""The picture of trained weights: singular values, distances, a table, and a map of the heads.

``letter`` is A or V, and V stands for OV where there is an output matrix. Distances are relative:
to the singular locus and to the boundary, or, for softmax, of A and of V to a lower rank; ``None``
where rounding hides them. *Axes* are those of matplotlib.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any, ClassVar, NamedTuple, Self

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

MOST_ROWS = 24
"""The largest number of rows of the table: of more heads the nearest to the singular locus."""

MOST_TICKS = 24
"""Where heads, or layers, are fewer, each of them has its number along a side of the map."""

ROW_HEIGHT_INCHES = 0.22
"""The height of a row of the table."""

COLORS = {"A": picture.BLUE, "V": picture.GREEN}
"""The colours of the singular values, by the letter of the matrix."""

TICK_STEPS = ((1.0,), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0))
"""Choices of ticks of the colour bar, as multiples of powers of ten: the first choice is taken that
gives three ticks between the bounds.
"""

Size = tuple[float, float]
"""A width and a height."""

_COLUMNS = ("head", "(rk A, rk V, dim L∩U)", "point")
"""The headings of the table before those of the distances."""


def weights_figure(
    heads: Sequence[HeadWeights], listed: Sequence[HeadWeights], size_text: str
) -> Any:
    """Return a figure of the singular values of A and V, divided by the largest one of each, with
    the distances to the singular locus, to the boundary and to lower ranks.

    Of one head the values of A are beside those of V. Of several heads those of A are above those
    of V, with a column for each head; beside them a map of the distances of all heads is above a
    table.

    Parameters
    ----------
    heads : sequence of HeadWeights
        All heads, of which there is a map.
    listed : sequence of HeadWeights
        The heads that have columns, in this order, and lines in the table.
    size_text : str
        The numbers of layers and heads, in the title: ``12 layers, 144 heads``.
    """
    with styled():
        if len(heads) == 1:
            return _figure_of_one(heads[0], size_text)
        return _figure_of_several(heads, listed, size_text)


def _figure_of_one(head: HeadWeights, size_text: str) -> Any:
    """Return a figure with the values of A beside those of V; ``size_text`` is in its title."""
    width, height = 9.8, 5.2
    page = new_figure(width, height, f"Weights: {size_text}")
    panels = page.subplots(1, 2)
    page.subplots_adjust(left=0.9 / width, right=0.985, top=0.86, bottom=0.25, wspace=0.22)
    for axes, (letter, color) in zip(panels, COLORS.items(), strict=True):
        _draw_values(axes, head, letter, color)
        _set_scale(axes, [head], letter)
        axes.set_xlabel("i")
    _draw_legend(page, panels)
    # The title has the cells of a line of the table, but for the first, the number of the head.
    headings = (*_COLUMNS, *distance_names([head]))
    pairs = zip(headings[1:], _table_row(head)[1:], strict=True)
    known = ", ".join(f"{heading}: {cell}" for heading, cell in pairs)
    page.suptitle(f"Weights of self-attention: {size_text}\n{known}", fontsize=13)
    return page


@dataclass(frozen=True, slots=True, kw_only=True)
class _HeadGrid:
    """The squares of the map of heads: a row for each layer, a column for each head of a layer.

    Parameters
    ----------
    layers : list of int
        The numbers of the layers, in their order.
    columns : int
        The largest number of a head: heads are counted from 1 in each layer.
    """

    layers: list[int]
    columns: int

    @classmethod
    def of(cls, heads: Sequence[HeadWeights]) -> Self:
        """Return the squares of the map of these heads."""
        layers = sorted({head.layer for head in heads})
        return cls(layers=layers, columns=max(head.head for head in heads))

    def row_and_column(self, head: HeadWeights) -> tuple[int, int]:
        """Return the row and the column of a head, both counted from 0."""
        return self.layers.index(head.layer), head.head - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _PageSizes:
    """The lengths, in inches, of a figure of several heads: singular values on its left side, the
    map on the right, and a table below the map.

    Parameters
    ----------
    grid : _HeadGrid
        The squares of the map.
    listed : int
        The number of heads that have a column of singular values, and perhaps a row in the table.
    """

    grid: _HeadGrid
    listed: int
    left: ClassVar[float] = 0.9
    right: ClassVar[float] = 0.3
    top: ClassVar[float] = 1.0
    bottom: ClassVar[float] = 1.6
    between: ClassVar[float] = 0.8
    """The space between the singular values and the table."""
    gap: ClassVar[float] = 1.05
    """The space between the map and the table below it."""
    table_width: ClassVar[float] = 4.6

    @property
    def square(self) -> float:
        """The side of a square of the map, which is at most 3.5 inches wide and 6 inches high."""
        return min(0.5, 3.5 / self.grid.columns, 6.0 / len(self.grid.layers))

    @property
    def map_width(self) -> float:
        """The width of the map."""
        return self.square * self.grid.columns

    @property
    def map_height(self) -> float:
        """The height of the map."""
        return self.square * len(self.grid.layers)

    @property
    def table_height(self) -> float:
        """The height of the table, with its header."""
        rows = min(self.listed, MOST_ROWS)
        return ROW_HEIGHT_INCHES * (rows + 1)

    @property
    def values_width(self) -> float:
        """The width of the panels with the singular values."""
        return min(4.5 + 0.12 * self.listed, 9.0)

    @property
    def values_height(self) -> float:
        """The height of both panels: that of map, gap and table, and at least 3.4 inches."""
        return max(3.4, self.map_height + self.gap + self.table_height)

    @property
    def width(self) -> float:
        """The width of the page."""
        return self.left + self.values_width + self.between + self.table_width + self.right

    @property
    def height(self) -> float:
        """The height of the page."""
        return self.bottom + self.values_height + self.top

    def axes_at(self, page: Any, x: float, y: float, size: Size, **options: Any) -> Any:
        """Return new axes on the page, with the lower left corner (x, y) and a size in inches.

        ``options`` go to Matplotlib's ``add_axes``, such as ``sharex``.
        """
        wide, high = size
        place = (x / self.width, y / self.height, wide / self.width, high / self.height)
        return page.add_axes(place, **options)


def _figure_of_several(
    heads: Sequence[HeadWeights], listed: Sequence[HeadWeights], size_text: str
) -> Any:
    """Return a figure with a column for each listed head, and beside them the map of all heads and
    the table of those listed; ``size_text`` is in its title.
    """
    sizes = _PageSizes(grid=_HeadGrid.of(heads), listed=len(listed))
    page = new_figure(sizes.width, sizes.height, f"Weights: {size_text}")
    _draw_panels(page, sizes, listed)

    # The upper left corner of the part with map and table.
    x = sizes.left + sizes.values_width + sizes.between
    y = sizes.bottom + sizes.values_height
    bottom_of_map = y - sizes.map_height
    bottom_of_table = bottom_of_map - sizes.gap - sizes.table_height
    table = sizes.axes_at(page, x, bottom_of_table, (sizes.table_width, sizes.table_height))
    # Left of the map are the numbers of layers, right of it the scale of its colours.
    left_of_map = x + 0.4
    of_map = sizes.axes_at(page, left_of_map, bottom_of_map, (sizes.map_width, sizes.map_height))
    left_of_bar = left_of_map + sizes.map_width + 0.15
    bar = sizes.axes_at(page, left_of_bar, bottom_of_map, (0.14, sizes.map_height))
    color_of_distance = _draw_map(of_map, bar, heads, listed)
    _draw_table(table, listed, all_heads=len(heads), color_of_distance=color_of_distance)
    title = f"Weights of self-attention: {size_text}"
    page.suptitle(title, y=1 - 0.25 / sizes.height, va="top", fontsize=13)
    return page


def _draw_panels(page: Any, sizes: _PageSizes, listed: Sequence[HeadWeights]) -> None:
    """Draw the singular values of A in an upper panel, those of V in a lower one, with a column for
    each listed head, and one legend for both.
    """
    between_panels = 0.25
    panel_height = (sizes.values_height - between_panels) / 2
    panel = (sizes.values_width, panel_height)
    bottom_of_upper = sizes.bottom + panel_height + between_panels
    upper = sizes.axes_at(page, sizes.left, bottom_of_upper, panel)
    lower = sizes.axes_at(page, sizes.left, sizes.bottom, panel, sharex=upper)
    for axes, (letter, color) in zip((upper, lower), COLORS.items(), strict=True):
        _draw_columns(axes, listed, letter, color)
        _set_scale(axes, listed, letter)
    upper.tick_params(labelbottom=False)
    lower.set_xlabel("layer.head")
    _draw_legend(page, (upper, lower))


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
    ``letter``, A or V, is in the label of the axis.
    """
    # The scale begins at a third of the least value, or of 0.1 if no value is less.
    least = min([*_positive_values(heads), 0.1]) / 3
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


def _positive_values(heads: Sequence[HeadWeights]) -> list[float]:
    """Return the relative singular values of A and V of all heads and their distances, without
    those that are 0 or not known, which have no place on a logarithmic scale.
    """
    found: list[float] = []
    for head in heads:
        found += _relative(head, "A") + _relative(head, "V")
        found += [distance for distance in distances(head) if distance]
    return found


def _relative(head: HeadWeights, letter: str) -> list[float]:
    """Return the singular values of A or V, as ``letter`` says, divided by the largest one, without
    those that are 0 or that rounding hides.
    """
    values = head.numerical.numbers_of(letter).singular_values
    largest = values[0]
    # It is 0, or None as rounding hides it; then so are all others.
    if not largest:
        return []
    return [value / largest for value in values if value]


def _draw_values(axes: Any, head: HeadWeights, letter: str, color: str) -> None:
    """Draw the singular values of A or V of one head, as ``letter`` says, over their index from 1
    on, in this colour.

    The same axes have the distance of this matrix to rank at most i over i, and, for lightning
    attention, lines at the distances of the head to singular locus and boundary.
    """
    values = _relative(head, letter)
    label = f"singular values of {letter}"
    axes.plot(range(1, len(values) + 1), values, "o", color=color, label=label, zorder=3)
    axes.xaxis.get_major_locator().set_params(integer=True)
    to_lower_rank = head.numerical.numbers_of(letter).distances[1:]
    # Pairs of i and the distance to rank at most i. A distance 0 has no place on the scale; one
    # that is ``None`` is hidden by rounding.
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


class _Marks(NamedTuple):
    """Marks of one kind in a picture with a column for each head.

    ``label`` is their text in the legend, ``mark`` and ``color`` how Matplotlib draws them, and
    ``values`` has a list for each head, of the heights of its marks; a value 0 is not drawn.
    """

    label: str
    mark: str
    color: str
    values: list[list[float]]


def _draw_columns(axes: Any, heads: Sequence[HeadWeights], letter: str, color: str) -> None:
    """Draw a column of marks for each head: the singular values of A or V, as ``letter`` says, in
    this colour, and its distance to the next lower rank. With A there are also the distances of
    the head to singular locus and boundary, in lightning attention.
    """
    relative = [_relative(head, letter) for head in heads]
    kinds = [_Marks(f"singular values of {letter}", "_", color, relative)]
    # Distances of A and V together are drawn once. Of softmax they would be those to lower rank,
    # which have marks of their own.
    if letter == "A" and not heads[0].shape.softmax:
        singular, boundary = zip(*map(distances, heads), strict=True)
        to_locus, to_boundary = _one_for_each(singular), _one_for_each(boundary)
        kinds.append(_Marks("distance to the singular locus", "D", picture.ORANGE, to_locus))
        kinds.append(_Marks("distance to the boundary", "s", picture.VERMILION, to_boundary))
    lower = _one_for_each([_to_lower_rank(head, letter) for head in heads])
    kinds.append(_Marks("distance of A or V alone to lower rank", "x", picture.INK, lower))
    for marks in kinds:
        _draw_marks(axes, marks)
    # Below the columns are the numbers of heads, as 2.5 for head 5 of layer 2; of many heads only
    # of some.
    step = max(1, len(heads) // 12)
    numbers = [f"{head.layer}.{head.head}" for head in heads[::step]]
    axes.set_xticks(range(1, len(heads) + 1, step), numbers, rotation=90)


def _draw_marks(axes: Any, marks: _Marks) -> None:
    """Draw marks of one kind, those of the first head at x = 1. If no value is positive, nothing is
    drawn, so that the legend does not have such marks either.
    """
    places: list[int] = []
    heights: list[float] = []
    for place, column in enumerate(marks.values, 1):
        # A value 0 has no place on a logarithmic scale.
        shown = [value for value in column if value]
        places += [place] * len(shown)
        heights += shown
    if places:
        style = {"color": marks.color, "markersize": 5, "fillstyle": "none", "label": marks.label}
        axes.plot(places, heights, marks.mark, **style)


def _one_for_each(values: Sequence[float | None]) -> list[list[float]]:
    """Return for each head a list of one value, the form that ``values`` of :class:`_Marks` has. A
    value that is not known, ``None``, becomes 0, which is not drawn.
    """
    return [[value or 0.0] for value in values]


def _to_lower_rank(head: HeadWeights, letter: str) -> float | None:
    """Return the distance of A or V, as ``letter`` says, to the matrices whose rank is at least one
    less than its own; ``None`` if its own rank is at most 1, or rounding hides the distance.
    """
    rank = head.ranks.r if letter == "A" else head.ranks.s
    # A matrix of rank 0 has the zero function: the distance to it says nothing of the singular
    # locus.
    if rank <= 1:
        return None
    return head.numerical.numbers_of(letter).distances[rank - 1]


def _table_row(head: HeadWeights) -> tuple[str, ...]:
    """Return the cells of the line of a head in the table: layer and head, as ``2.5``, the triple
    (rk A, rk V, dim L∩U), the kind of point, and the distances to singular locus and boundary, or,
    for softmax, of A and of V to a lower rank.
    """
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
    """Draw the table of the heads; of more than :data:`MOST_ROWS` only the nearest have lines.

    Parameters
    ----------
    axes : Axes
    heads : sequence of HeadWeights
        The heads that the result lists: all, or the nearest.
    all_heads : int
        The number of all heads; if not all have lines, the title says which have.
    color_of_distance : callable
        Returns the colour that a distance has in the map, which its cell here has too; ``None`` if
        it has none there.
    """
    axes.axis("off")
    chosen = heads
    if len(heads) > MOST_ROWS:
        chosen = sorted(heads, key=nearness)[:MOST_ROWS]
    header = (*_COLUMNS, *distance_names(heads))
    table = _text_table(axes, [header, *map(_table_row, chosen)])
    for row, head in enumerate(chosen, 1):  # row 0 is the header
        colour = color_of_distance(nearness(head))
        if colour is not None:
            _fill_cell(table[row, len(_COLUMNS) + nearness_position(head)], colour)
    if len(chosen) < all_heads:
        which = "head" if len(chosen) == 1 else f"{len(chosen)} heads"
        axes.set_title(f"the {which} nearest to {_what_is_near(heads)}", fontsize=10)


def _text_table(axes: Any, rows: Sequence[Sequence[str]]) -> Any:
    """Draw rows of text as a table that fills the axes, and return Matplotlib's table, whose cells
    are found by row and column. Columns are as wide as their text.
    """
    table = axes.table(
        rows, loc="upper center", cellLoc="center", edges="horizontal", bbox=(0, 0, 1, 1)
    )
    table.auto_set_font_size(False)
    table.set_fontsize(9)
    table.auto_set_column_width(range(len(rows[0])))
    for cell in table.get_celld().values():
        cell.set_edgecolor(picture.FAINT)
    return table


def _fill_cell(cell: Any, colour: Sequence[float]) -> None:
    """Give a cell of a table this background, a text that is legible on it, and four edges."""
    cell.set_facecolor(colour)
    cell.set_text_props(color=_legible_on(colour))
    cell.visible_edges = "closed"


def _what_is_near(heads: Sequence[HeadWeights]) -> str:
    """Return in words to what :func:`nearness`, by which heads are sorted, is the distance."""
    return "a lower rank" if heads[0].shape.softmax else "the singular locus"


def _legible_on(colour: Sequence[float]) -> str:
    """Return the colour of text on a background: black on light ones, white on dark ones, by the
    luminance of the guidelines WCAG 2. ``colour`` begins with red, green and blue, from 0 to 1.
    """
    red, green, blue = (channel**2.2 for channel in colour[:3])
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return picture.INK if luminance > 0.18 else "white"


def _draw_frame(axes: Any, row: int, column: int) -> None:
    """Draw a frame around a square of the map, whose middle has the coordinates (column, row)."""
    x = [column + side for side in (-0.5, 0.5, 0.5, -0.5, -0.5)]
    y = [row + side for side in (-0.5, -0.5, 0.5, 0.5, -0.5)]
    axes.plot(x, y, color=picture.VERMILION, linewidth=1.6, zorder=3, clip_on=False)


def _draw_map(
    axes: Any, bar: Any, heads: Sequence[HeadWeights], listed: Sequence[HeadWeights]
) -> Callable[[float], Any]:
    """Draw a square for each head, the darker, the nearer to a singular function, and the scale of
    the colours; return the function that takes a distance to its colour, or to ``None``.

    A head that is singular, or whose distance rounding hides, has a 0 in its square; one for which
    no part of the singular locus is known has a dash. Where only some heads are listed, these have
    frames.

    Parameters
    ----------
    axes, bar : Axes
        For the map, and for the scale of the colours beside it.
    heads : sequence of HeadWeights
        All heads.
    listed : sequence of HeadWeights
        Those in the table.
    """
    grid = _HeadGrid.of(heads)
    # A row for each layer, a column for each head; NaN, no number, where there is no distance.
    cells = [[float("nan")] * grid.columns for _ in grid.layers]
    for head in heads:
        row, column = grid.row_and_column(head)
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
            row, column = grid.row_and_column(head)
            _draw_frame(axes, row, column)
    axes.set_title(title, fontsize=10, loc="left")
    _label_map(axes, grid)
    return _color_map(axes, bar, cells)


def _has_colour(distance: float) -> bool:
    """Return whether the map shows a relative distance by a colour: not 0, and not a number above
    1, which stands for a distance that is not known.
    """
    return 0 < distance <= 1


def _label_map(axes: Any, grid: _HeadGrid) -> None:
    """Write the numbers of heads below the map, and those of layers on its left side, the first
    layer on top; of many heads or layers only some have their numbers.
    """
    axes.set_ylabel("layer")
    axes.set_xlabel("head")
    axes.tick_params(labelsize=9)
    rows, columns = len(grid.layers), grid.columns
    # The steps from one head, and from one layer, that has its number written to the next one.
    head_step, layer_step = 1 + columns // MOST_TICKS, 1 + rows // MOST_TICKS
    head_numbers = range(1, columns + 1, head_step)
    axes.set_xticks(range(0, columns, head_step), map(str, head_numbers))
    axes.set_yticks(range(0, rows, layer_step), map(str, grid.layers[::layer_step]))
    axes.set_xlim(-0.5, columns - 0.5)
    axes.set_ylim(rows - 0.5, -0.5)


def _color_map(axes: Any, bar: Any, cells: list[list[float]]) -> Callable[[float], Any]:
    """Fill the squares of the map with colours on a logarithmic scale, which is drawn on the axes
    ``bar``; return the function that takes a distance to its colour, or to ``None``.

    ``cells`` are the distances by rows and columns, NaN where there is none. If all are NaN, no
    scale is drawn, and no distance has a colour.
    """
    # NaN is not larger than 0.
    known = [value for row in cells for value in row if value > 0]
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


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers between two bounds of a logarithmic scale, by the first choice of
    :data:`TICK_STEPS` that gives at least three; if none does, the bounds, rounded to two digits.
    """
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    # First powers of ten alone, then multiples of them by more and more numbers.
    for steps in TICK_STEPS:
        shown = []
        for power in powers:
            ticks = [float(f"{step}e{power}") for step in steps]
            shown += [tick for tick in ticks if low <= tick <= high]
        if len(shown) >= 3:
            return shown
    return [float(f"{low:.2g}"), float(f"{high:.2g}")]

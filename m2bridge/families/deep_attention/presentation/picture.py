"""The picture of Figure 3 in SVG: two panels with one axis of dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from m2bridge.families.deep_attention.figure import Figure3
    from m2bridge.maps.dimension import Dimension

WIDTH, HEIGHT = 880, 430
LEFT, TOP, BOTTOM = 70, 62, 352
PANEL, GAP = 370, 50
INK, GRID, SOFT = "#1a1a1a", "#d9d9d9", "#5a5a5a"
COLOURS = ("#0b5394", "#a61c00")
MOST_TICKS = 12
MOST_LABELS = 12
STYLE = (
    'text { font-family: "Latin Modern Roman", "STIX Two Text", "Libertinus Serif", "DejaVu Serif", Georgia, serif; }'
)


def picture(found: Figure3) -> str:
    """An SVG file."""
    size = {"width": str(WIDTH), "height": str(HEIGHT), "viewBox": f"0 0 {WIDTH} {HEIGHT}"}
    page = ElementTree.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img", **size})
    ElementTree.SubElement(page, "title").text = _caption(found)
    ElementTree.SubElement(page, "style").text = STYLE
    ElementTree.SubElement(page, "rect", {"width": "100%", "height": "100%", "fill": "white"})
    curves = (
        ("Lightning self-attention", "Eq. 14", [point.lightning for point in found.points]),
        ("Softmax self-attention", "Eq. 16", [point.softmax for point in found.points]),
    )
    largest = max(dimension.dimension or 0 for _, _, dimensions in curves for dimension in dimensions)
    ticks = _ticks(largest)
    deltas = [point.delta for point in found.points]
    for number, (title, formula, dimensions) in enumerate(curves):
        panel = _Panel(page, LEFT + number * (PANEL + GAP), deltas, ticks, COLOURS[number])
        panel.axes(title, labelled=number == 0)
        panel.curve(dimensions)
        panel.legend(dimensions, formula)
    _text(page, WIDTH / 2, HEIGHT - 10, _caption(found), anchor="middle", size=13, fill=SOFT)
    ElementTree.indent(page)
    return ElementTree.tostring(page, encoding="unicode") + "\n"


def _caption(found: Figure3) -> str:
    known = "all values proved" if found.proved else "hollow points are lower bounds"
    layers = "one layer" if found.layers == 1 else f"{found.layers} layers"
    return f"Dimension of the neuromanifold: {layers} of width δ, a = {found.a}, t = {found.t}; {known}"


class _Panel:
    """One panel: its place on the page, and its scales."""

    def __init__(
        self, page: ElementTree.Element, left: int, deltas: Sequence[int], ticks: Sequence[int], colour: str
    ) -> None:
        self.page, self.left, self.deltas, self.ticks, self.colour = page, left, deltas, ticks, colour

    def x(self, delta: int) -> float:
        """The place of a width; some space is left free at both ends."""
        low, high = min(self.deltas) - 0.7, max(self.deltas) + 0.5
        return self.left + PANEL * (delta - low) / (high - low)

    def y(self, dimension: int) -> float:
        """The place of a dimension."""
        return BOTTOM - (BOTTOM - TOP) * dimension / self.ticks[-1]

    def axes(self, title: str, labelled: bool) -> None:
        """Grid, frame, numbers and names of the axes."""
        right = self.left + PANEL
        for tick in self.ticks:
            _line(self.page, self.left, self.y(tick), right, self.y(tick), GRID)
            _text(self.page, self.left - 9, self.y(tick) + 4.5, str(tick), anchor="end")
        for delta in self.deltas[:: -(-len(self.deltas) // MOST_TICKS)]:
            _line(self.page, self.x(delta), BOTTOM, self.x(delta), BOTTOM + 5, INK)
            _text(self.page, self.x(delta), BOTTOM + 20, str(delta), anchor="middle")
        _line(self.page, self.left, BOTTOM, right, BOTTOM, INK)
        _line(self.page, self.left, TOP, self.left, BOTTOM, INK)
        _text(self.page, self.left + PANEL / 2, TOP - 26, title, anchor="middle", size=17)
        _text(self.page, self.left + PANEL / 2, BOTTOM + 42, "width δ", anchor="middle", italic=True)
        if labelled:
            name = _text(self.page, 0, 0, "dimension", anchor="middle", italic=True)
            name.set("transform", f"translate(20 {(TOP + BOTTOM) / 2:g}) rotate(-90)")

    def curve(self, dimensions: Sequence[Dimension]) -> None:
        """The formula as a line, the dimensions as points with their numbers."""
        formula = [(delta, expected(d)) for delta, d in zip(self.deltas, dimensions, strict=True)]
        path = " ".join(f"{self.x(delta):.1f},{self.y(value):.1f}" for delta, value in formula if value is not None)
        line = {"fill": "none", "stroke": self.colour, "stroke-width": "1.4", "stroke-dasharray": "6 4"}
        ElementTree.SubElement(self.page, "polyline", {"points": path, **line})
        for delta, found in zip(self.deltas, dimensions, strict=True):
            value = found.dimension or 0
            self._point(self.x(delta), self.y(value), found.status == "proved")
            if len(self.deltas) <= MOST_LABELS:
                _text(self.page, self.x(delta) - 7, self.y(value) - 8, str(value), anchor="end", size=13)

    def legend(self, dimensions: Sequence[Dimension], formula: str) -> None:
        """What points and line are, in the corner where no curve is."""
        x, y = self.left + 16, TOP + 14
        self._point(x + 14, y - 4, proved=True)
        _text(self.page, x + 38, y, "proved dimension")
        _line(self.page, x, y + 18, x + 28, y + 18, self.colour, dashed=True)
        _text(self.page, x + 38, y + 22, f"expected ({formula})")
        if any(found.status != "proved" for found in dimensions):
            self._point(x + 14, y + 40, proved=False)
            _text(self.page, x + 38, y + 44, "lower bound")

    def _point(self, x: float, y: float, proved: bool) -> None:
        place = {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": "4.5"}
        paint = {"fill": self.colour if proved else "white", "stroke": self.colour, "stroke-width": "1.5"}
        ElementTree.SubElement(self.page, "circle", {**place, **paint})


def expected(found: Dimension) -> int | None:
    """The paper's formula, also where its hypotheses do not hold."""
    return next((e.value for e in found.expected if e.value is not None), None)


def _ticks(largest: int) -> list[int]:
    """From 0 on, about six round numbers, the last one beyond ``largest``."""
    unit = 1
    while largest > 6 * 5 * unit:
        unit *= 10
    step = next(step * unit for step in (1, 2, 5, 10) if largest <= 6 * step * unit)
    return list(range(0, (largest // step + 2) * step, step))


def _line(
    page: ElementTree.Element, x1: float, y1: float, x2: float, y2: float, colour: str, dashed: bool = False
) -> None:
    ends = {"x1": f"{x1:.1f}", "y1": f"{y1:.1f}", "x2": f"{x2:.1f}", "y2": f"{y2:.1f}", "stroke": colour}
    dashes = {"stroke-dasharray": "6 4", "stroke-width": "1.4"} if dashed else {}
    ElementTree.SubElement(page, "line", {**ends, **dashes})


def _text(
    page: ElementTree.Element,
    x: float,
    y: float,
    text: str,
    anchor: str = "start",
    size: int = 14,
    fill: str = INK,
    italic: bool = False,
) -> ElementTree.Element:
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "font-size": str(size), "text-anchor": anchor, "fill": fill}
    style = {"font-style": "italic"} if italic else {}
    element = ElementTree.SubElement(page, "text", {**place, **style})
    element.text = text
    return element

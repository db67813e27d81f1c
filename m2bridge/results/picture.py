"""Figures in a common style, by matplotlib, which no other module imports.

The palette is safe for colour-blind readers: Okabe and Ito, *Color Universal Design* (2008).
"""

from abc import abstractmethod
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from m2bridge.errors import InvalidCaseError, MethodUnavailableError
from m2bridge.limits import library
from m2bridge.results.base import Result
from m2bridge.system import save

INK, SOFT, FAINT = "#1a1a1a", "#5a5a5a", "#d9d9d9"
BLUE, ORANGE, GREEN, SKY, VERMILION, PURPLE = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#56b4e9",
    "#d55e00",
    "#cc79a7",
)

STYLE = {
    "font.family": "serif",
    "font.serif": ["STIXGeneral", "DejaVu Serif"],
    "mathtext.fontset": "stix",
    "font.size": 11,
    "axes.titlesize": 13,
    "axes.labelsize": 12,
    "legend.frameon": False,
    "legend.fontsize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "text.color": INK,
    "svg.hashsalt": "m2bridge",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}


def check_available() -> None:
    """Raise MethodUnavailableError if matplotlib is not installed."""
    _library("matplotlib")


def _library(name: str) -> Any:
    """Return matplotlib or one of its modules; MethodUnavailableError if it is not installed."""
    return library(
        name,
        "pictures need the package matplotlib: in the clone of m2bridge, pip install '.[plot]'",
    )


def styled() -> Any:
    """Return a context in which everything is drawn in the common style."""
    return _library("matplotlib").rc_context(STYLE)


def new_figure(width: float, height: float, title: str = "") -> Any:
    """Return an empty figure of this size in inches, independent of windows and matplotlib's global
    state; ``title`` goes into the metadata of a file, and is not shown.
    """
    figure = _library("matplotlib.figure").Figure(figsize=(width, height), facecolor="white")
    _library("matplotlib.backends.backend_agg").FigureCanvasAgg(figure)
    if title:
        figure.set_label(title)
    return figure


def polygons(corners: Sequence[Any], **style: Any) -> Any:
    """Return polygons in space, each a list of corners (x, y, z), drawn from back to front, with
    options of matplotlib's ``Poly3DCollection``.
    """
    return _library("mpl_toolkits.mplot3d.art3d").Poly3DCollection(corners, **style)


def line(points: Sequence[Sequence[float]], **style: Any) -> Any:
    """Return a line through points (x, y) of the plane, with options of matplotlib's ``Line2D``; a
    legend shows only its style.
    """
    return _library("matplotlib.lines").Line2D(*zip(*points, strict=True), **style)


def patch(**style: Any) -> Any:
    """Return a coloured field for a legend; ``style`` has options of matplotlib's ``Patch``."""
    return _library("matplotlib.patches").Patch(**style)


def add_title(figure: Any, text: str, otherwise: str, size: float = 15, least: float = 9) -> None:
    """Add a title in letters so small that it takes at most 95 % of the width; if they would be
    smaller than ``least`` points, the shorter title ``otherwise`` takes its place.
    """
    title = figure.suptitle(text, y=0.965, fontsize=size)
    # The width of the title, as a part of the width of the figure. It is proportional to the size
    # of the letters, so that in letters of the size ``least`` it is width · least / size.
    width = title.get_window_extent(figure.canvas.get_renderer()).width / figure.bbox.width
    if width * least > 0.95 * size:
        title.set_text(otherwise)
    elif width > 0.95:
        title.set_fontsize(0.95 * size / width)


def file_content(figure: Any, form: str) -> bytes:
    """Return the content of a file, ``svg``, ``pdf`` or ``png``, with the figure, reproducible byte
    for byte.
    """
    # without the date, which would differ from time to time
    metadata = dict(_UNDATED[form])
    if figure.get_label():
        metadata["Title"] = figure.get_label()
    page = BytesIO()
    with styled():
        figure.savefig(page, format=form, dpi=200, metadata=metadata)
    return page.getvalue()


_UNDATED: dict[str, dict[str, Any]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {},
}
"""The formats, with the metadata that removes the date from each."""


class PictureResult(Result):
    """A result with a picture, as SVG, PDF or PNG; drawing it needs the extra ``plot``."""

    __slots__ = ()

    @abstractmethod
    def figure(self) -> Any:
        """Return the picture as a ``matplotlib.figure.Figure``, to be changed or shown.

        Raises
        ------
        MethodUnavailableError
            If matplotlib is not installed.
        """

    def save(self, path: str | Path) -> None:
        """Write the picture to a file with the ending ``.svg``, ``.pdf`` or ``.png``.

        Raises
        ------
        InvalidCaseError
            If the ending is a different one.
        MethodUnavailableError
            If matplotlib is not installed.
        """
        form = picture_format(path)
        save(file_content(self.figure(), form), Path(path))

    def to_svg(self) -> str:
        """Return the picture as SVG; MethodUnavailableError if matplotlib is not installed."""
        return file_content(self.figure(), "svg").decode()

    def page_svg(self) -> str:
        """Return the picture as SVG for a page of HTML; empty if matplotlib is not installed."""
        try:
            return self.to_svg()
        except MethodUnavailableError:
            return ""


def picture_format(path: str | Path) -> str:
    """Return the ending of a file name in small letters; InvalidCaseError if it is not a format."""
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending not in _UNDATED:
        raise InvalidCaseError("out", f"'{Path(path).name:.60}' does not end in .svg, .pdf or .png")
    return ending

"""What results with a picture have in common. Matplotlib is imported when a picture is drawn, and in one room only."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from m2bridge.errors import InvalidCaseError

FORMATS = ("svg", "pdf", "png")


class Drawn:
    """A result with a picture, as SVG, PDF or PNG; the extra ``plot`` brings what draws it.

    A class names the module with the function ``draw``, from the result to a figure of matplotlib.
    """

    __slots__ = ()

    picture: ClassVar[str]

    def figure(self) -> Any:
        """The picture as a ``matplotlib.figure.Figure``, to be changed or shown.

        Raises
        ------
        MethodUnavailableError
            If matplotlib is not installed.
        """
        return import_module(self.picture).draw(self)

    def save(self, path: str | Path) -> None:
        """Write the picture to a file; its ending says as what: ``.svg``, ``.pdf`` or ``.png``.

        Raises
        ------
        InvalidCaseError
            If the ending is another one.
        MethodUnavailableError
            If matplotlib is not installed.
        """
        form = picture_format(path)
        from m2bridge.drawing import written

        Path(path).write_bytes(written(self.figure(), form))

    def to_svg(self) -> str:
        """The picture as SVG; raises as :meth:`figure`."""
        from m2bridge.drawing import written

        return written(self.figure(), "svg").decode()


def picture_format(path: str | Path) -> str:
    """``svg``, ``pdf`` or ``png``, by the ending of a file's name; raises InvalidCaseError for others."""
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        raise InvalidCaseError("out", f"'{Path(path).name:.60}' does not end in .svg, .pdf or .png")
    return ending

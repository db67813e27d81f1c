"""The result of cutting a closure by a space of dimension 3: its real surface and singular curve, cut into pieces."""

from __future__ import annotations

import csv as csv_files
import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing
from m2bridge.convert.notation import ideal_macaulay2, polynomial_text
from m2bridge.errors import InvalidCaseError
from m2bridge.ideals.ideal import Ideal
from m2bridge.maps.model import Model
from m2bridge.pictures.slice_picture import Piece, SurfaceView, draw_surface, equation_latex, surface_html
from m2bridge.results.base import computed_by, result_json
from m2bridge.results.picture import PictureResult
from m2bridge.results.sheet import Facts, Picture, Sheet, Table


@dataclass(frozen=True, slots=True)
class SingularComponent:
    """An irreducible component over QQ of the singular locus of the surface.

    Parameters
    ----------
    prime : Ideal
        In the variables of the slice.
    dimension : int
        1 for a curve, 0 for points.
    """

    prime: Ideal
    dimension: int


@dataclass(frozen=True, slots=True)
class SliceSurface(PictureResult):
    """A surface: the part of a Zariski closure in an affine-linear space of dimension 3.

    Parameters
    ----------
    model : Model
    coordinates : mapping from coordinate to polynomial
        Every coordinate of the closure as a polynomial of degree ≤ 1 in the three variables.
    equation : PolyElement
        In these variables; squarefree.
    singular : tuple of SingularComponent
        Of the locus where the equation and its derivatives vanish, by Macaulay2.
    pieces : tuple of Piece
        The real points in the box.
    box : mapping from variable to (Fraction, Fraction)
    decided_by : str
        How it is known which points are functions of real weights; empty if it is not.
    engine_version : str
    seconds : float
    unfinished : str
        The limit that was reached before all pieces were computed; otherwise empty.
    elevation, azimuth : float
        From where the picture looks, in degrees.

    Examples
    --------
    >>> from sympy import symbols
    >>> u, v = symbols("u v")
    >>> umbrella = PolynomialMap.from_expressions([u, v], {"x": u * v, "y": u, "z": v**2})
    >>> found = slice_surface(umbrella)
    >>> found.equation, [component.prime.generators for component in found.singular]
    (y**2*z - x**2, [(y, x)])
    >>> found.seen_from(elevation=30, azimuth=45).to_svg().count("<svg")
    1
    """

    model: Model
    coordinates: Mapping[str, PolyElement]
    equation: PolyElement
    singular: tuple[SingularComponent, ...]
    pieces: tuple[Piece, ...]
    box: Mapping[str, tuple[Fraction, ...]]
    decided_by: str
    engine_version: str
    seconds: float
    unfinished: str = ""
    elevation: float = 20.0
    azimuth: float = -60.0

    @property
    def variables(self) -> tuple[str, ...]:
        """The three coordinates of the slice."""
        return tuple(str(symbol) for symbol in self.equation.ring.symbols)

    @property
    def view(self) -> SurfaceView:
        """The values that are drawn."""
        return SurfaceView(self.model.title, self.equation, self.pieces, self.box, self.elevation, self.azimuth)

    def seen_from(self, elevation: float, azimuth: float) -> SliceSurface:
        """The same surface, looked at from another angle, in degrees.

        Raises
        ------
        InvalidCaseError
            If an angle is not a number from -360 to 360.
        """
        for name, angle in (("elevation", elevation), ("azimuth", azimuth)):
            if not abs(angle) <= 360:  # nor is nan
                raise InvalidCaseError(name, f"must be from -360 to 360 degrees, not {angle}")
        return replace(self, elevation=elevation, azimuth=azimuth)

    def to_sheet(self) -> Sheet:
        """The equation, the singular locus, and the pieces with a point of each."""
        ends = [f"{low} < {name} < {high}" for name, (low, high) in self.box.items()]
        known = [
            ("slice", ", ".join(f"{name} = {polynomial_text(form)}" for name, form in self.coordinates.items())),
            ("equation", f"{polynomial_text(self.equation)} = 0"),
            ("singular locus", "; ".join(map(_component, self.singular)) or "empty"),
            ("box", ", ".join(ends)),
            ("decided by", self.decided_by or None),
            ("computed by", computed_by(self.engine_version, self.seconds)),
            ("not finished", self.unfinished or None),
        ]
        rows = [(p.kind, "singular" if p.singular else "", p.place, _sample(p)) for p in self.pieces]
        pieces = Table(("piece", "", "its points are", "for example"), rows)
        title = f"Surface in a slice of the Zariski closure of the {self.model.title}"
        return Sheet(title, [Facts(known), pieces, Picture(self.page_svg)], [equation_latex(self.equation)])

    def to_json(self) -> dict[str, Any]:
        """The equation, the singular locus, and a point of each piece."""
        return result_json(self.model.case, "QQ", self.engine_version, self.seconds) | {
            "slice": {name: polynomial_text(form) for name, form in self.coordinates.items()},
            "variables": list(self.variables),
            "equation": polynomial_text(self.equation),
            "singular_locus": [
                {"dimension": part.dimension, "generators": [polynomial_text(g) for g in part.prime.generators]}
                for part in self.singular
            ],
            "box": {name: [str(end) for end in ends] for name, ends in self.box.items()},
            "decided_by": self.decided_by or None,
            "pieces": [
                {
                    "kind": piece.kind,
                    "place": piece.place,
                    "singular": piece.singular,
                    "sample": None if piece.sample is None else {n: str(v) for n, v in piece.sample.items()},
                }
                for piece in self.pieces
            ],
            "unfinished": self.unfinished or None,
        }

    def to_macaulay2(self) -> str:
        """The ideal of the surface."""
        return ideal_macaulay2(GeneratingSet(PolynomialRing(QQ, self.variables), (self.equation,)))

    def to_csv(self) -> str:
        """All points that are drawn, with the number of their piece."""
        page = io.StringIO()
        writer = csv_files.writer(page, lineterminator="\n")
        writer.writerow((*HEADER, *self.variables))
        for number, piece in enumerate(self.pieces, 1):
            about = (number, piece.kind, piece.place, int(piece.singular))
            writer.writerows((*about, *point) for strip in piece.points for point in strip)
        return page.getvalue()

    def figure(self) -> Any:
        """The surface in its box, as a ``matplotlib.figure.Figure``."""
        return draw_surface(self.view)

    def _repr_html_(self) -> str:
        """The surface for a notebook, turned by the mouse or the arrow keys."""
        return surface_html(self.view)


HEADER = ("piece", "kind", "place", "singular")


def _component(part: Any) -> str:
    named = {0: "points", 1: "curve"}[part.dimension]
    return f"{named} {' = '.join(polynomial_text(g) for g in part.prime.generators)} = 0"


def _sample(piece: Piece) -> str:
    return "" if piece.sample is None else ", ".join(f"{n} = {v}" for n, v in piece.sample.items())

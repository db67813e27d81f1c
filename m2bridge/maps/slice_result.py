"""The result of cutting a closure by a space of dimension 3: its real surface and singular curve, cut into pieces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Literal

from sympy.polys.rings import PolyElement

from m2bridge.algebra.ring import Ideal
from m2bridge.errors import InvalidCaseError
from m2bridge.maps.map_model import Subject
from m2bridge.results.base import Presented
from m2bridge.results.picture import Drawn

FUNCTIONS = "functions of real weights"
CLOSURE_ONLY = "only in the Zariski closure"
UNDECIDED = "in the Zariski closure; real weights not decided"

Kind = Literal["surface", "curve", "point"]
Strip = tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """A connected piece of the surface, of a curve on it, or a point, with the same answer at all of its points.

    Parameters
    ----------
    kind : {"surface", "curve", "point"}
    place : str
        ``functions of real weights``, ``only in the Zariski closure``; or ``in the Zariski closure; real weights not
        decided``.
    singular : bool
        Whether it consists of singular points of the surface.
    points : tuple of tuple of points
        A grid, or one line of points, in the variables of the slice.
    sample : mapping from variable to Fraction, or None
        A rational point of it, where one was found; membership was asked there.
    """

    kind: Kind
    place: str
    singular: bool
    points: tuple[Strip, ...]
    sample: Mapping[str, Fraction] | None


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
class SliceSurface(Drawn, Presented):
    """A surface: the part of a Zariski closure in an affine-linear space of dimension 3.

    Parameters
    ----------
    subject : Subject
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

    presentation: ClassVar[str] = "m2bridge.pictures.slice_picture"
    picture: ClassVar[str] = "m2bridge.pictures.slice_picture"

    subject: Subject
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

    def to_csv(self) -> str:
        """All points that are drawn."""
        return str(self._shown("csv"))

    def _repr_html_(self) -> str:
        """For a notebook: the surface, turned by the mouse."""
        return str(self._shown("html"))

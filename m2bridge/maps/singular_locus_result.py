"""The result of a singular locus computation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Any, ClassVar

from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.ring import Ideal
from m2bridge.maps.orbit_methods import with_orbits
from m2bridge.maps.subject import Subject
from m2bridge.presented import Presented

ZERO = "the zero function"
ORIGIN = "the origin"
"""The same point, where coordinates are not those of a function."""


@dataclass(frozen=True, slots=True)
class OrbitStatus:
    """One orbit of points of the image.

    Parameters
    ----------
    orbit : an orbit of the family, see :class:`~m2bridge.maps.orbit_methods.NamedOrbit`
    dimension : int
        Of the orbit, in function space (affine).
    tangent_dimension : int or None
        Affine Zariski tangent dimension of the closure at the orbit, where it was computed.
    singular : bool or None
        ``None`` where it is undecided.
    tangent_bound, tangent_upper_bound : int or None
        Lower and upper bound for the tangent dimension, where it is not known.

    Examples
    --------
    >>> status = OrbitStatus("rank one", dimension=4, tangent_dimension=None, singular=True, tangent_bound=6)
    >>> status.tangent_range
    (6, inf)
    """

    orbit: Any
    dimension: int
    tangent_dimension: int | None
    singular: bool | None
    tangent_bound: int | None = None
    tangent_upper_bound: int | None = None

    @property
    def tangent_range(self) -> tuple[int, float]:
        """The least and the largest value that the tangent dimension can have."""
        if self.tangent_dimension is not None:
            return self.tangent_dimension, self.tangent_dimension
        upper = self.tangent_upper_bound
        return self.tangent_bound or 0, inf if upper is None else upper


@dataclass(frozen=True, slots=True)
class Component:
    """An irreducible component of the singular locus.

    Parameters
    ----------
    description : str
        In words: an orbit closure or the zero function; of a general map, the origin, points, or its dimension.
    orbit : an orbit of the family, or None
        The orbit whose closure it is.
    dimension : int
        Affine.
    degree : int or None
    ideal : Ideal or None
        Where it was computed.

    Examples
    --------
    >>> from sympy import symbols
    >>> u, v = symbols("u v")
    >>> umbrella = PolynomialMap.from_expressions([u, v], {"x": u * v, "y": u, "z": v**2})
    >>> for component in singular_locus(umbrella).components:
    ...     print(component.dimension, component.degree, component.ideal.generators)
    1 1 (y, x)
    """

    description: str
    orbit: Any | None
    dimension: int
    degree: int | None
    ideal: Ideal | None = None

    def without_ideal(self) -> Component:
        """The component without its equations."""
        return replace(self, ideal=None)


@dataclass(frozen=True, slots=True)
class SingularLocus(Presented):
    """The singular locus of the Zariski closure.

    Parameters
    ----------
    subject : Subject
    field : CoefficientField
    method : str
        The methods that ran.
    variety_dimension : int or None
        Affine dimension of the closure itself.
    orbits : tuple of OrbitStatus
        Every orbit of nonzero points, or those that were done if the computation is ``unfinished``; empty for models
        whose orbits are not known.
    components : tuple of Component or None
        ``None`` when the computation did not finish or left orbits undecided; empty when the closure is smooth.
    remarks : tuple of str
        What was compared, what was assumed.
    engine_version : str
        Empty if no engine was asked.
    seconds : float
    unfinished : str
        Empty, or the limit that was reached, or the orbits that are undecided.

    Examples
    --------
    >>> from sympy import symbols
    >>> u, v = symbols("u v")
    >>> umbrella = PolynomialMap.from_expressions([u, v], {"x": u * v, "y": u, "z": v**2})
    >>> locus = singular_locus(umbrella)
    >>> locus.variety_dimension, locus.dimension
    (2, 1)
    """

    presentation: ClassVar[str] = "m2bridge.presentation.singular_locus"

    subject: Subject
    field: CoefficientField
    method: str
    variety_dimension: int | None
    orbits: tuple[OrbitStatus, ...]
    components: tuple[Component, ...] | None
    remarks: tuple[str, ...]
    engine_version: str
    seconds: float
    unfinished: str = ""

    @property
    def dimension(self) -> int | None:
        """Affine dimension of the singular locus; −1 when it is empty."""
        return None if self.components is None else max((c.dimension for c in self.components), default=-1)

    @property
    def zero_tangent_dimension(self) -> int | None:
        """Tangent dimension of the closure at the zero function, where orbits are listed."""
        model = with_orbits(self.subject.model)
        return model.zero_tangent_dimension() if model is not None and self.orbits else None


def zero_text(tangent: int | None, dimension: int | None) -> str | None:
    """What the tangent dimension at zero says, in words."""
    if tangent is None or dimension is None:
        return None
    return f"tangent dimension {tangent}, {'singular' if tangent > dimension else 'smooth'}"

"""The result of a singular locus computation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Any

from m2bridge.algebra.field import CoefficientField
from m2bridge.convert.notation import degree_summary, ideal_macaulay2, polynomial_text
from m2bridge.ideals.ideal import Ideal
from m2bridge.maps.model import Model
from m2bridge.maps.orbit_methods import with_orbits
from m2bridge.results.base import Presented, computed_by, result_json
from m2bridge.results.sheet import SHOWN, Block, Facts, Polynomials, Sheet, Table

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
    model : Model
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

    model: Model
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
        orbit_methods = with_orbits(self.model)
        return orbit_methods.zero_tangent_dimension() if orbit_methods is not None and self.orbits else None

    def to_sheet(self) -> Sheet:
        """Dimensions, a table of the orbits, the components, and their ideals where they were computed."""
        title = f"Singular locus of the Zariski closure of the {self.model.title}, over {self.field}"
        blocks: list[Block] = [Facts(_facts(self))]
        if self.orbits:
            orbit = self.orbits[0].orbit
            header = (*orbit.HEADER, "dimension", "tangent dimension", "")
            blocks.append(Table(header, [_orbit_row(status) for status in self.orbits], orbit.LEGEND))
        if self.components:
            columns = ("component of the singular locus", "dimension", "degree", "equations")
            shown = 4 if any(component.ideal for component in self.components) else 3
            blocks.append(Table(columns[:shown], [_component_row(c)[:shown] for c in self.components]))
            blocks += [_equations(c.description, c.ideal) for c in self.components if c.ideal]
        return Sheet(title, blocks, _formulas(self))

    def to_json(self) -> dict[str, Any]:
        """Orbits, components, and what was compared."""
        return result_json(self.model.case, self.field, self.engine_version or None, self.seconds) | {
            "dimension": self.dimension,
            "variety_dimension": self.variety_dimension,
            "method": self.method,
            "orbits": [_orbit_json(status) for status in self.orbits],
            "zero_tangent_dimension": self.zero_tangent_dimension,
            "components": None if self.components is None else [_component_json(c) for c in self.components],
            "remarks": list(self.remarks),
            "unfinished": self.unfinished or None,
        }

    def to_macaulay2(self) -> str:
        """Macaulay2 programs for the ideals of the components, where they were computed."""
        programs = [
            f"-- {c.description}\n{ideal_macaulay2(c.ideal.ring.field, c.ideal.ring.variables, c.ideal.generators)}"
            for c in self.components or ()
            if c.ideal is not None
        ]
        return "\n\n".join(programs) or "-- no ideals were computed; ask for them with --ideals"


def zero_text(tangent: int | None, dimension: int | None) -> str | None:
    """What the tangent dimension at zero says, in words."""
    if tangent is None or dimension is None:
        return None
    return f"tangent dimension {tangent}, {'singular' if tangent > dimension else 'smooth'}"


SHORT = 60
"""Characters of equations that are shown in a table."""
SAID = {True: "singular", False: "smooth", None: "undecided"}


def _orbit_json(status: OrbitStatus) -> dict[str, Any]:
    known = status.tangent_dimension
    named: dict[str, Any] = status.orbit.to_json()
    return named | {
        "dimension": status.dimension,
        "tangent_dimension": known,
        "tangent_lower_bound": status.tangent_bound if known is None else known,
        "tangent_upper_bound": status.tangent_upper_bound if known is None else known,
        "singular": status.singular,
    }


def _component_json(component: Component) -> dict[str, Any]:
    ideal = component.ideal
    return {
        "description": component.description,
        "orbit": None if component.orbit is None else component.orbit.to_json(),
        "dimension": component.dimension,
        "degree": component.degree,
        "generators": None if ideal is None else [polynomial_text(generator) for generator in ideal.generators],
    }


def _equations(description: str, ideal: Ideal) -> Polynomials:
    return Polynomials(len(ideal.generators), lambda: map(polynomial_text, ideal.generators), f"{description}:")


def _facts(locus: SingularLocus) -> list[tuple[str, object]]:
    return [
        ("closure", None if locus.variety_dimension is None else f"dimension {locus.variety_dimension}"),
        ("singular locus", _dimension(locus)),
        ("at zero", zero_text(locus.zero_tangent_dimension, locus.variety_dimension)),
        ("computed by", computed_by(locus.engine_version, locus.seconds, locus.method)),
        *(("remark", remark) for remark in locus.remarks),
        ("not finished", locus.unfinished or None),
    ]


def _dimension(locus: SingularLocus) -> str | None:
    if locus.dimension is None:
        return None
    return "empty: the closure is smooth" if locus.dimension < 0 else f"dimension {locus.dimension}"


def _orbit_row(status: OrbitStatus) -> tuple[object, ...]:
    return (*status.orbit.cells, status.dimension, tangent_text(status), SAID[status.singular])


def tangent_text(status: OrbitStatus) -> str:
    """The tangent dimension, or the bounds that are known."""
    lower, upper = status.tangent_range
    if lower == upper:
        return str(lower)
    if upper < inf:
        return f"{lower} to {upper}"
    return "–" if status.tangent_bound is None else f"≥ {lower}"


def _component_row(component: Component) -> tuple[object, ...]:
    degree = "–" if component.degree is None else component.degree
    return component.description, component.dimension, degree, _short_equations(component.ideal)


def _short_equations(ideal: Ideal | None) -> str:
    """The generators where they are few and short, else their degrees."""
    if ideal is None:
        return "–"
    written = ", ".join(polynomial_text(generator) for generator in ideal.generators[:SHOWN])
    short = len(ideal.generators) <= SHOWN and len(written) <= SHORT
    return f"V({written})" if short else degree_summary(ideal.generator_degrees)


def _formulas(locus: SingularLocus) -> list[str]:
    """The components and their dimensions."""
    if locus.components is None:
        return []
    parts = [_component_latex(component, number) for number, component in enumerate(locus.components, 1)]
    return [r"\operatorname{Sing} = " + (r" \;\cup\; ".join(parts) or r"\varnothing")]


def _component_latex(component: Component, number: int) -> str:
    degree = "" if component.degree is None else rf",\ \deg {component.degree}"
    return rf"{_closure_latex(component, number)}\;(\dim {component.dimension}{degree})"


def _closure_latex(component: Component, number: int) -> str:
    if component.orbit is not None:
        indices = ",".join(map(str, component.orbit.cells))
        return rf"\overline{{\mathcal O_{{({indices})}}}}"
    return r"\{0\}" if component.description in (ZERO, ORIGIN) else rf"C_{{{number}}}"

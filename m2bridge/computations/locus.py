"""The result of a singular locus computation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Any

from m2bridge.computations.subject import Subject, result_json
from m2bridge.geometry.tangent import zero_tangent_dimension
from m2bridge.layout import duration, facts, table
from m2bridge.model.field import CoefficientField
from m2bridge.model.orbit import Orbit
from m2bridge.model.ring import Ideal
from m2bridge.notation import degree_summary, ideal_latex, ideal_macaulay2, polynomial_text

ZERO = "the zero function"


@dataclass(frozen=True, slots=True)
class OrbitStatus:
    """One orbit of the neuromanifold.

    Parameters
    ----------
    orbit : Orbit
    dimension : int
        Of the orbit, in function space (affine).
    tangent_dimension : int or None
        Affine Zariski tangent dimension of the closure at the orbit, where it was computed.
    singular : bool or None
        ``None`` where it is undecided.
    tangent_bound, tangent_upper_bound : int or None
        Lower and upper bound for the tangent dimension, where it is not known.
    """

    orbit: Orbit
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

    def row(self) -> tuple[object, ...]:
        """The cells of a table."""
        verdict = {True: "singular", False: "smooth", None: "undecided"}[self.singular]
        return self.orbit.r, self.orbit.s, self.orbit.m, self.dimension, self.tangent_text(), verdict

    def tangent_text(self) -> str:
        """The tangent dimension, or the bounds that are known."""
        lower, upper = self.tangent_range
        if lower == upper:
            return str(lower)
        if upper < inf:
            return f"{lower} to {upper}"
        return "–" if self.tangent_bound is None else f"≥ {lower}"

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return {
            "r": self.orbit.r,
            "s": self.orbit.s,
            "m": self.orbit.m,
            "dimension": self.dimension,
            "tangent_dimension": self.tangent_dimension,
            "tangent_lower_bound": self.tangent_bound if self.tangent_dimension is None else self.tangent_dimension,
            "tangent_upper_bound": self.tangent_upper_bound
            if self.tangent_dimension is None
            else self.tangent_dimension,
            "singular": self.singular,
        }


@dataclass(frozen=True, slots=True)
class Component:
    """An irreducible component of the singular locus.

    Parameters
    ----------
    description : str
        In words: an orbit closure, the zero function, or a prime ideal of a general map.
    orbit : Orbit or None
        The orbit whose closure it is.
    dimension : int
        Affine.
    degree : int or None
    ideal : Ideal or None
        Where it was computed.
    """

    description: str
    orbit: Orbit | None
    dimension: int
    degree: int | None
    ideal: Ideal | None = None

    def row(self) -> tuple[object, ...]:
        """The cells of a table."""
        equations = "–" if self.ideal is None else degree_summary(self.ideal.generator_degrees)
        return self.description, self.dimension, "–" if self.degree is None else self.degree, equations

    def without_ideal(self) -> Component:
        """The component without its equations."""
        return replace(self, ideal=None)

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        orbit = None if self.orbit is None else {"r": self.orbit.r, "s": self.orbit.s, "m": self.orbit.m}
        generators = None if self.ideal is None else [polynomial_text(g) for g in self.ideal.generators]
        return {
            "description": self.description,
            "orbit": orbit,
            "dimension": self.dimension,
            "degree": self.degree,
            "generators": generators,
        }


@dataclass(frozen=True, slots=True)
class SingularLocus:
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
        Every orbit of nonzero functions, or those that were done if the computation is ``unfinished``; empty for maps
        that are not attention, and for t = 1.
    components : tuple of Component or None
        ``None`` when the computation did not finish or left orbits undecided; empty when the closure is smooth.
    remarks : tuple of str
        What was compared, what was assumed.
    engine_version : str
        Empty if no engine was asked.
    seconds : float
    unfinished : str
        Empty, or the limit that was reached, or the orbits that are undecided.
    """

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
        model = self.subject.model
        return zero_tangent_dimension(model) if model is not None and self.orbits else None

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return result_json(self.subject.case, self.field, self.engine_version or None, self.seconds) | {
            "dimension": self.dimension,
            "variety_dimension": self.variety_dimension,
            "method": self.method,
            "orbits": [status.to_json() for status in self.orbits],
            "zero_tangent_dimension": self.zero_tangent_dimension,
            "components": None if self.components is None else [c.to_json() for c in self.components],
            "remarks": list(self.remarks),
            "unfinished": self.unfinished or None,
        }

    def to_text(self) -> str:
        """For a person at a terminal."""
        parts = [f"Singular locus of the Zariski closure of the {self.subject.title}, over {self.field}"]
        parts.append(
            facts(
                [
                    ("closure", f"dimension {self.variety_dimension}" if self.variety_dimension is not None else None),
                    ("singular locus", self._dimension_text()),
                    ("at zero", zero_text(self.zero_tangent_dimension, self.variety_dimension)),
                    ("computed by", f"{self._engine()}, {self.method}, {duration(self.seconds)}"),
                    *(("remark", remark) for remark in self.remarks),
                    ("not finished", self.unfinished or None),
                ]
            )
        )
        if self.orbits:
            header = ("rk A", "rk V", "dim L∩U", "dimension", "tangent dimension", "")
            rows = [status.row() for status in self.orbits]
            parts += ["", "  Orbits (L = column space of A, U = row space of V)", table(header, rows)]
        if self.components:
            columns = ("component of the singular locus", "dimension", "degree", "equations")
            shown = 4 if any(component.ideal for component in self.components) else 3
            parts += ["", table(columns[:shown], [component.row()[:shown] for component in self.components])]
        return "\n".join(parts)

    def _engine(self) -> str:
        return f"Macaulay2 {self.engine_version}" if self.engine_version else "exact linear algebra (FLINT)"

    def _dimension_text(self) -> str | None:
        if self.dimension is None:
            return None
        return "empty: the closure is smooth" if self.dimension < 0 else f"dimension {self.dimension}"

    def to_latex(self) -> str:
        """The components, for a paper."""
        if self.components is None:
            return rf"\text{{not finished: {self.unfinished}}}"
        if not self.components:
            return r"\operatorname{Sing} = \varnothing"
        parts = [
            rf"{_closure_latex(c)}\;(\dim {c.dimension}" + (rf",\ \deg {c.degree})" if c.degree is not None else ")")
            for c in self.components
        ]
        return r"\operatorname{Sing} = " + r" \;\cup\; ".join(parts)

    def to_macaulay2(self) -> str:
        """Macaulay2 programs for the ideals of the components, where they were computed."""
        programs = [
            f"-- {c.description}\n{ideal_macaulay2(c.ideal.ring.field, c.ideal.ring.variables, c.ideal.generators)}"
            for c in self.components or ()
            if c.ideal is not None
        ]
        return "\n\n".join(programs) or "-- no ideals were computed; ask for them with --ideals"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.to_latex()}$"


def zero_text(tangent: int | None, dimension: int | None) -> str | None:
    """What the tangent dimension at the zero function says, in words."""
    if tangent is None or dimension is None:
        return None
    return f"tangent dimension {tangent}, {'singular' if tangent > dimension else 'smooth'}"


def _closure_latex(component: Component) -> str:
    if component.orbit is not None:
        orbit = component.orbit
        return rf"\overline{{\mathcal O_{{({orbit.r},{orbit.s},{orbit.m})}}}}"
    if component.ideal is not None and component.dimension > 0:
        return rf"V{ideal_latex(component.ideal.generators)}"
    return r"\{0\}"

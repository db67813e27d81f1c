"""A singular locus for people and programs."""

from __future__ import annotations

from math import inf
from typing import Any

from m2bridge.algebra.ring import Ideal
from m2bridge.convert.notation import degree_summary, ideal_macaulay2, polynomial_text
from m2bridge.layout import SHOWN
from m2bridge.maps.singular_locus_result import ORIGIN, ZERO, Component, OrbitStatus, SingularLocus, zero_text
from m2bridge.presented import computed_by, result_json
from m2bridge.sheet import Block, Facts, Polynomials, Sheet, Table

SHORT = 60
"""Characters of equations that are shown in a table."""
SAID = {True: "singular", False: "smooth", None: "undecided"}


def json(locus: SingularLocus) -> dict[str, Any]:
    """Orbits, components, and what was compared."""
    return result_json(locus.subject.case, locus.field, locus.engine_version or None, locus.seconds) | {
        "dimension": locus.dimension,
        "variety_dimension": locus.variety_dimension,
        "method": locus.method,
        "orbits": [_orbit_json(status) for status in locus.orbits],
        "zero_tangent_dimension": locus.zero_tangent_dimension,
        "components": None if locus.components is None else [_component_json(c) for c in locus.components],
        "remarks": list(locus.remarks),
        "unfinished": locus.unfinished or None,
    }


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


def sheet(locus: SingularLocus) -> Sheet:
    """Dimensions, a table of the orbits, the components, and their ideals where they were computed."""
    title = f"Singular locus of the Zariski closure of the {locus.subject.title}, over {locus.field}"
    blocks: list[Block] = [Facts(_facts(locus))]
    if locus.orbits:
        orbit = locus.orbits[0].orbit
        header = (*orbit.HEADER, "dimension", "tangent dimension", "")
        blocks.append(Table(header, [_orbit_row(status) for status in locus.orbits], orbit.LEGEND))
    if locus.components:
        columns = ("component of the singular locus", "dimension", "degree", "equations")
        shown = 4 if any(component.ideal for component in locus.components) else 3
        blocks.append(Table(columns[:shown], [_component_row(c)[:shown] for c in locus.components]))
        blocks += [_equations(c.description, c.ideal) for c in locus.components if c.ideal]
    return Sheet(title, blocks, _formulas(locus))


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


def macaulay2(locus: SingularLocus) -> str:
    """Macaulay2 programs for the ideals of the components, where they were computed."""
    programs = [
        f"-- {c.description}\n{ideal_macaulay2(c.ideal.ring.field, c.ideal.ring.variables, c.ideal.generators)}"
        for c in locus.components or ()
        if c.ideal is not None
    ]
    return "\n\n".join(programs) or "-- no ideals were computed; ask for them with --ideals"

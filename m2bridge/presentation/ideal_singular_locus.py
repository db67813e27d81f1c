"""The singular locus of the variety of an ideal for people and programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from m2bridge.convert.notation import ideal_macaulay2, polynomial_text
from m2bridge.layout import plural
from m2bridge.presentation.ideal import latex, line, listed, polynomials
from m2bridge.presented import computed_by, result_json
from m2bridge.sheet import Block, Facts, Sheet, Table

if TYPE_CHECKING:
    from m2bridge.ideals.singular_locus import IdealSingularLocus, IrreducibleComponent

FEW, SHORT = 6, 60
"""Equations of a component that a table shows, and characters of each."""


def json(locus: IdealSingularLocus) -> dict[str, Any]:
    """The given ideal, the components of its variety, and those of the singular locus."""
    return result_json(None, locus.given.ring.field, locus.engine_version, locus.seconds) | {
        "title": locus.title or None,
        "coordinates": list(locus.given.ring.variables),
        "given": [polynomial_text(generator) for generator in locus.given.generators],
        "variety_dimension": locus.variety_dimension,
        "variety": _components_json(locus.variety),
        "dimension": locus.dimension,
        "components": _components_json(locus.components),
        "generators": None if locus.ideal is None else [polynomial_text(g) for g in locus.ideal.generators],
        "unfinished": locus.unfinished or None,
    }


def _components_json(components: tuple[IrreducibleComponent, ...] | None) -> list[dict[str, Any]] | None:
    if components is None:
        return None
    return [
        {
            "dimension": component.dimension,
            "degree": component.degree,
            "generators": [polynomial_text(generator) for generator in component.ideal.generators],
        }
        for component in components
    ]


def sheet(locus: IdealSingularLocus) -> Sheet:
    """Dimensions, a table of the components, and their equations where the table has not all of them."""
    field = locus.given.ring.field
    blocks: list[Block] = [Facts(_facts(locus))]
    if locus.components:
        columns = ("component of the singular locus", "dimension", "degree")
        blocks.append(Table(columns, [(_variety(c), c.dimension, c.degree) for c in locus.components]))
        blocks += [polynomials(c.ideal, f"{_variety(c)}:") for c in locus.components if listed(c.ideal) != _short(c)]
    return Sheet(
        f"Singular locus of {locus.title or f'the variety of {line(locus.given)}'}, over {field}",
        blocks,
        _formulas(locus),
    )


def _facts(locus: IdealSingularLocus) -> list[tuple[str, object]]:
    return [
        ("variety", _shape(locus.variety, "empty")),
        ("singular locus", _shape(locus.components, "empty: the variety is smooth")),
        ("irreducible", f"means over {locus.given.ring.field}; over a larger field components can decompose"),
        ("computed by", computed_by(locus.engine_version, locus.seconds, "Jacobian criterion")),
        ("not finished", locus.unfinished or None),
    ]


def _shape(components: tuple[IrreducibleComponent, ...] | None, empty: str) -> str | None:
    if components is None:
        return None
    if not components:
        return empty
    return f"dimension {components[0].dimension}, {plural(len(components), 'irreducible component')}"


def _variety(component: IrreducibleComponent) -> str:
    return f"V({', '.join(_short(component))})"


def _short(component: IrreducibleComponent) -> list[str]:
    return listed(component.ideal, FEW, SHORT)


def _formulas(locus: IdealSingularLocus) -> list[str]:
    if locus.components is None:
        return []
    varieties = [
        rf"V{latex(c.ideal)}" if listed(c.ideal) == _short(c) else rf"V_{{{n}}}"
        for n, c in enumerate(locus.components, 1)
    ]
    return [r"\operatorname{Sing} = " + (r" \;\cup\; ".join(varieties) or r"\varnothing")]


def macaulay2(locus: IdealSingularLocus) -> str:
    """A Macaulay2 program that defines the ring ``R`` and the radical ideal ``I`` of the singular locus."""
    if locus.ideal is None:
        return f"-- not finished: {locus.unfinished}"
    ring = locus.ideal.ring
    return ideal_macaulay2(ring.field, ring.variables, locus.ideal.generators)

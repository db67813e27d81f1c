"""The singular locus of the variety of an ideal for people and programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from m2bridge.convert.notation import SHOWN, ideal_latex, ideal_macaulay2, polynomial_text, shortened_text
from m2bridge.layout import facts, plural, table
from m2bridge.presented import computed_by, result_json

if TYPE_CHECKING:
    from m2bridge.ideals.singular_locus import IdealSingularLocus, IrreducibleComponent


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


def text(locus: IdealSingularLocus) -> str:
    """Dimensions, and a table of the components."""
    field = locus.given.ring.field
    what = locus.title or f"the variety of {locus.given}"
    known = facts(
        [
            ("variety", _shape(locus.variety, "empty")),
            ("singular locus", _shape(locus.components, "empty: the variety is smooth")),
            ("irreducible", f"means over {field}; over a larger field components can decompose"),
            ("computed by", computed_by(locus.engine_version, locus.seconds, "Jacobian criterion")),
            ("not finished", locus.unfinished or None),
        ]
    )
    parts = [f"Singular locus of {what}, over {field}", known]
    if locus.components:
        columns = ("component of the singular locus", "dimension", "degree")
        parts += ["", table(columns, [(_variety(c), c.dimension, c.degree) for c in locus.components])]
    return "\n".join(parts)


def _shape(components: tuple[IrreducibleComponent, ...] | None, empty: str) -> str | None:
    if components is None:
        return None
    if not components:
        return empty
    return f"dimension {components[0].dimension}, {plural(len(components), 'irreducible component')}"


def _variety(component: IrreducibleComponent) -> str:
    generators = component.ideal.generators
    shown = [shortened_text(polynomial_text(generator), 60) for generator in generators[:SHOWN]]
    return f"V({', '.join(shown)}{', …' if len(generators) > SHOWN else ''})"


def latex(locus: IdealSingularLocus) -> str:
    """The components, for a paper."""
    if locus.components is None:
        return rf"\text{{not finished: {locus.unfinished}}}"
    varieties = [rf"V{ideal_latex(component.ideal.generators)}" for component in locus.components]
    return r"\operatorname{Sing} = " + (r" \;\cup\; ".join(varieties) or r"\varnothing")


def macaulay2(locus: IdealSingularLocus) -> str:
    """A Macaulay2 program that defines the ring ``R`` and the radical ideal ``I`` of the singular locus."""
    if locus.ideal is None:
        return f"-- not finished: {locus.unfinished}"
    ring = locus.ideal.ring
    return ideal_macaulay2(ring.field, ring.variables, locus.ideal.generators)

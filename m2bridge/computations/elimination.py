"""What the templates need to compute the ideal of an image by elimination."""

from __future__ import annotations

from m2bridge.convert import macaulay2
from m2bridge.convert.names import all_to_macaulay2
from m2bridge.model.field import CoefficientField
from m2bridge.model.polynomial_map import PolynomialMap


def elimination_values(independent: PolynomialMap, field: CoefficientField, graded: bool = True) -> dict[str, str]:
    """What the templates need to compute the ideal of the closure by elimination."""
    names = all_to_macaulay2(independent.source.variables + independent.coordinates)
    parameters, targets = names[: len(independent.source.variables)], names[len(independent.source.variables) :]
    degrees = independent.image_degrees if graded else None
    relations = [macaulay2.polynomial(relation, parameters) for relation in independent.relations]
    return {
        "field": macaulay2.field(field),
        "parameters": ", ".join(parameters),
        "relations": macaulay2.sequence(relations) if relations else "",
        "images": macaulay2.sequence(macaulay2.polynomial(image, parameters) for image in independent.images),
        "coordinates": ", ".join(targets),
        "degrees": "{" + ", ".join(map(str, degrees)) + "}" if degrees else "",
    }

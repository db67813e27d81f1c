"""Values for the templates that compute the ideal of an image by elimination."""

from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.convert import macaulay2
from m2bridge.convert.macaulay2 import all_to_macaulay2
from m2bridge.errors import InvalidCaseError, MethodUnavailableError
from m2bridge.limits import watched

LARGEST_FACTORED = 2**29
"""Macaulay2 factors polynomials, and so finds radicals, modulo primes below this number."""


def empty_source() -> InvalidCaseError:
    """The error for relations that no parameters satisfy."""
    return InvalidCaseError("relations", "they have no common zero: the source is empty")


def elimination_values(
    independent: PolynomialMap, *, field: CoefficientField, graded: bool = True
) -> dict[str, object]:
    """Return the values for templates that compute the ideal of the closure by elimination.

    Macaulay2 knows no kernels of maps to a ring without variables; so a map without parameters gets one that is zero.

    Raises
    ------
    MethodUnavailableError
        If the radical of the relations is needed, and the characteristic is too large for that.
    """
    if independent.maybe_reducible and field.characteristic >= LARGEST_FACTORED:
        raise MethodUnavailableError(
            f"over {field} Macaulay2 finds no radical of the relations: use p < {LARGEST_FACTORED}"
        )
    names = all_to_macaulay2(independent.source.variables + independent.coordinates)
    parameters, targets = names[: len(independent.source.variables)], names[len(independent.source.variables) :]
    degrees = independent.image_degrees if graded else None
    relations = [macaulay2.polynomial(relation, parameters) for relation in watched(independent.relations)]
    images = [macaulay2.polynomial(image, parameters) for image in watched(independent.images)]
    if not parameters:
        parameters, relations = ("noParameter",), [*relations, "noParameter"]
    return {
        "field": macaulay2.field(field),
        "parameters": ", ".join(parameters),
        "relations": macaulay2.sequence(relations) if relations else "",
        "radical": independent.maybe_reducible,
        "images": macaulay2.sequence(images),
        "coordinates": ", ".join(targets),
        "degrees": "{" + ", ".join(map(str, degrees)) + "}" if degrees else "",
    }

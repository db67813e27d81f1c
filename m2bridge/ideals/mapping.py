"""Images and preimages of ideals under polynomial maps."""

from __future__ import annotations

from sympy.polys.rings import PolyElement

from m2bridge.algebra.evaluation import images_over, substitute
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import Ideal, PolynomialRing
from m2bridge.convert import macaulay2
from m2bridge.convert.names import all_to_macaulay2
from m2bridge.engine import Engine
from m2bridge.errors import ConversionError
from m2bridge.ideals import arithmetic
from m2bridge.ideals.program import RING, ask, tidy
from m2bridge.values import Matrix


def jacobian(polynomial_map: PolynomialMap) -> Matrix:
    """The partial derivatives of the images: a row for each coordinate, a column for each parameter."""
    return arithmetic.jacobian(Ideal(polynomial_map.source, polynomial_map.images))


def preimage(ideal: Ideal, polynomial_map: PolynomialMap) -> Ideal:
    """The ideal that the generators generate after substitution, with the relations of the source."""
    field = ideal.ring.field
    _check_ring(ideal, polynomial_map.target(field), "the target")
    polynomial_map.check_field(field)
    source = PolynomialRing(field, polynomial_map.source.variables)
    images = images_over(polynomial_map, source)
    pulled = tuple(substitute(generator, images) for generator in ideal.generators) if images else ideal.generators
    return Ideal(source, tuple(filter(None, (*pulled, *_relations(polynomial_map, source)))))


def image(
    ideal: Ideal, polynomial_map: PolynomialMap, engine: Engine | None = None, timeout: float | None = None
) -> Ideal:
    """The kernel of the ring map from the functions on the target to those on the scheme of the ideal."""
    source = PolynomialRing(ideal.ring.field, polynomial_map.source.variables)
    _check_ring(ideal, source, "the source")
    polynomial_map.check_field(source.field)
    names = all_to_macaulay2(source.variables)
    written = macaulay2.sequence(macaulay2.polynomial(g, names) for g in images_over(polynomial_map, source))
    values = {"images": f"matrix({RING}, {{{written}}})", "target": macaulay2.ring(polynomial_map.target(source.field))}
    relations = Ideal(source, _relations(polynomial_map, source))
    if polynomial_map.maybe_reducible:
        values["relationsIdeal"] = macaulay2.ideal(relations, RING)
    answer = ask("ideal_image", {"givenIdeal": arithmetic.add(ideal, relations)}, engine, timeout, values)
    return tidy(answer.ideal("image"))


def _relations(polynomial_map: PolynomialMap, source: PolynomialRing) -> tuple[PolyElement, ...]:
    return tuple(relation.set_ring(source.sympy_ring) for relation in polynomial_map.relations)


def _check_ring(ideal: Ideal, ring: PolynomialRing, what: str) -> None:
    if ideal.ring != ring:
        raise ConversionError(f"an ideal of {ideal.ring}, but {what} of the map has the ring {ring}")

"""Ideals, matrices, modules, maps and complexes, as Macaulay2 makes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import Ideal
from m2bridge.convert.given_rings import ring
from m2bridge.convert.given_writing import braces, element, grouped, items, written
from m2bridge.values import complexes, modules
from m2bridge.values.rings import IntegerRing


def plain_matrix(over: Any, rows: list[list[Any]], columns: int) -> modules.Matrix:
    """A matrix between free modules, homogeneous columns of the degrees that Macaulay2 finds."""
    rank = 0 if isinstance(over, IntegerRing | CoefficientField) else 1
    zero = (0,) * rank
    target, source = (modules.Module(over, (zero,) * n) for n in (len(rows), columns))
    return modules.Matrix(target, source, tuple(map(tuple, rows)), zero)


def _elements(over: Any, items: Iterable[Any]) -> str:
    return grouped([element(over, item) for item in items])


@written.register(Ideal)
@written.register(modules.GeneralIdeal)
def _(value: Any) -> str:
    return f"(mbIdeal({ring(value.ring)}, {_elements(value.ring, value.generators)}))"


@written.register
def _(value: modules.MonomialIdeal) -> str:
    return f"(mbMonomialIdeal({ring(value.ring)}, {_elements(value.ring, value.generators)}))"


@written.register
def _(value: modules.Module) -> str:
    free = f"mbFree({ring(value.ring)}, {braces(braces(map(str, d)) for d in value.degrees)})"
    if value.is_free:
        return f"({free})"
    parts = ("null" if part is None else written(part) for part in (value.generators, value.relations))
    return f"(mbSubquotient({', '.join(parts)}))"


@written.register
def _(value: modules.Matrix) -> str:
    rows = braces(_elements(value.ring, row) for row in value.entries)
    degree = braces(map(str, value.degree))
    return f"(mbMap({written(value.target)}, {written(value.source)}, {degree}, {rows}))"


@written.register
def _(value: modules.MutableMatrix) -> str:
    return f"(mutableMatrix {written(value.matrix)})"


@written.register
def _(value: modules.Vector) -> str:
    return f"(mbVector({written(value.module)}, {_elements(value.module.ring, value.entries)}))"


@written.register
def _(value: modules.GroebnerBasis) -> str:
    return f"(forceGB {written(value.matrix)})"


@written.register
def _(value: modules.RingMap) -> str:
    return f"(mbRingMap({ring(value.target)}, {ring(value.source)}, {_elements(value.target, value.images)}))"


@written.register
def _(value: PolynomialMap) -> str:
    """The homomorphism from the coordinates of the target to the parameters."""
    return written(modules.RingMap(value.source, value.target(), value.images))


@written.register
def _(value: complexes.Complex) -> str:
    parts = (ring(value.ring), str(value.low), items(value.modules), items(value.differentials))
    return f"(mbChain({', '.join(parts)}))"


@written.register
def _(value: complexes.ComplexMap) -> str:
    maps = braces(f"{place} => {written(matrix)}" for place, matrix in enumerate(value.maps, value.source.low))
    return f"(mbMapOfComplexes({written(value.target)}, {written(value.source)}, {value.degree}, {maps}))"

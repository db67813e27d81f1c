"""Whether generators of the ideal of a neuromanifold are all, over QQ and without Macaulay2.

On a slice of the chart c_{1,1,1,1} ≠ 0 the ideal of the image is found by elimination; everywhere the ideal is the one
that is right on the chart if that coordinate is no zero divisor. The proposition is proved in the documentation of
m2bridge, section Completeness. Gröbner bases by FLINT.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from m2bridge.algebra.groebner import (
    groebner_basis,
    hilbert_numerator,
    in_ideal,
    leading_monomials,
)
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.sparse_polynomial import Exponents, Polynomial, Terms
from m2bridge.certificate.difference import Difference
from m2bridge.families.attention.chart import chart_slice
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.maps.chart import ChartSlice

FIRST = "c_1_1_1_1"


def leading_ideal(generators: Iterable[Terms], variables: int) -> frozenset[Exponents]:
    """Minimal generators of the ideal of leading monomials, graded reverse lexicographic, the first coordinate last.

    Raises
    ------
    MethodUnavailableError
        If the Gröbner basis becomes too large.
    """
    order = [*range(1, variables), 0]
    return leading_monomials(groebner_basis([_dense(terms, order) for terms in generators], variables))


def redundant(polynomials: Iterable[Terms], generators: Iterable[Terms], variables: int) -> Terms | None:
    """The first of some polynomials that is in the ideal of generators; ``None`` if none is.

    Raises
    ------
    MethodUnavailableError
        If the Gröbner basis becomes too large.
    """
    order = range(variables)
    basis = groebner_basis([_dense(terms, order) for terms in generators], variables)
    return next((terms for terms in polynomials if in_ideal(_dense(terms, order), basis, variables)), None)


def hilbert_series(leading: Iterable[Exponents], variables: int) -> HilbertSeries:
    """Of the quotient by an ideal with these leading monomials."""
    return HilbertSeries.from_numerator(hilbert_numerator(leading), variables)


def incomplete(
    model: SingleLayerAttention, generators: Sequence[Terms], leading: Iterable[Exponents]
) -> Difference | None:
    """Why generators, which are known to give the ideal up to the largest of their degrees, are not all; or ``None``.

    Parameters
    ----------
    generators : sequence of Terms
        Homogeneous, in reduced coordinates.
    leading : iterable of exponents
        See :func:`leading_ideal`.

    Hypothesis: t ≥ 2.
    """
    if model.d == 1:  # the coordinates V_k1 A_11 are independent functions
        return Difference("generators", f"{len(generators)}", "none for d = 1") if generators else None
    if any(monomial[-1] for monomial in leading):
        return Difference("generators", f"{FIRST} is a zero divisor modulo them", "it is none modulo the whole ideal")
    sliced = chart_slice(model)
    coordinates = model.parametrization().coordinates
    size = len(sliced.parametrization.coordinates)
    given = [polynomial for terms in generators if (polynomial := _on_slice(terms, coordinates, sliced))]
    basis = groebner_basis(given, size)
    if leading_monomials(basis) != leading_monomials(groebner_basis([*basis, *kernel(sliced)], size)):
        return Difference("generators", f"not all where {FIRST} ≠ 0", "all functions that vanish on a slice")
    return None


def _dense(terms: Terms, order: Sequence[int]) -> Polynomial:
    """A polynomial with exponents in an order of the variables."""
    place = {j: i for i, j in enumerate(order)}
    return {_exponents(map(place.__getitem__, monomial), len(order)): coefficient for monomial, coefficient in terms}


def _exponents(places: Iterable[int], size: int) -> Exponents:
    exponents = [0] * size
    for place in places:
        exponents[place] += 1
    return tuple(exponents)


def _on_slice(terms: Terms, coordinates: Sequence[str], sliced: ChartSlice) -> dict[Exponents, int]:
    """The restriction to the slice, in its coordinates."""
    place = {name: i for i, name in enumerate(sliced.parametrization.coordinates)}
    restricted: dict[Exponents, int] = {}
    for monomial, coefficient in terms:
        names = [coordinates[j] for j in monomial]
        if all(sliced.fixed.get(name, 1) for name in names):
            key = _exponents((place[name] for name in names if name in place), len(place))
            restricted[key] = restricted.get(key, 0) + coefficient
    return {monomial: coefficient for monomial, coefficient in restricted.items() if coefficient}


def kernel(sliced: ChartSlice) -> Iterator[Polynomial]:
    """Generators of the ideal of the image on the slice: elimination of the parameters in lexicographic order."""
    image = sliced.parametrization
    parameters, size = len(image.source.variables), len(image.coordinates)
    graph = [{(*monomial, *(0,) * size): int(c) for monomial, c in relation.items()} for relation in image.relations]
    for number, value in enumerate(image.images):
        equation = {(*monomial, *(0,) * size): -int(c) for monomial, c in value.items()}
        graph.append(equation | {_exponents([parameters + number], parameters + size): 1})
    for polynomial in groebner_basis(graph, parameters + size, "lex"):
        if not any(any(monomial[:parameters]) for monomial in polynomial):
            yield {monomial[parameters:]: c for monomial, c in polynomial.items()}

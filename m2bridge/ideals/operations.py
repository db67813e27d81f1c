"""Sums, products and powers of ideals, and Jacobian matrices: no engine is needed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations_with_replacement, pairwise, product
from math import comb, prod

from sympy import Symbol
from sympy.polys.rings import PolyElement

from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.modules import BettiTable, Complex, GroebnerBasis, HilbertPolynomial, Matrix, Module
from m2bridge.algebra.polynomial_map import PolynomialMap, images_over, substitute
from m2bridge.algebra.ring import Ideal, PolynomialRing, is_homogeneous, total_degree
from m2bridge.convert import macaulay2
from m2bridge.convert.names import all_to_macaulay2
from m2bridge.convert.notation import polynomial_text
from m2bridge.engine import Engine
from m2bridge.errors import ConversionError, MethodUnavailableError, TooLargeError
from m2bridge.ideals.construct import element, flat
from m2bridge.ideals.program import RING, ask, check_ideal, check_one_ring, small_basis, tidy
from m2bridge.limits import watched

MOST_PRODUCTS = 100_000
"""Generators of a product or power, before those that occur twice are left out."""


def add(first: Ideal, second: Ideal) -> Ideal:
    """The sum: all generators of both."""
    check_one_ring(first, second)
    return Ideal(first.ring, _distinct(first.generators + second.generators))


def multiply(first: Ideal, second: Ideal) -> Ideal:
    """The product: all products of two generators."""
    check_one_ring(first, second)
    _check_size(len(first.generators) * len(second.generators))
    pairs = product(first.generators, second.generators)
    return Ideal(first.ring, _distinct(f * g for f, g in watched(pairs)))


def power(ideal: Ideal, exponent: int) -> Ideal:
    """The power: all products of so many generators; the unit ideal for 0."""
    one = ideal.ring.sympy_ring.one
    count = len(ideal.generators)
    _check_size(comb(count + exponent - 1, exponent) if count else 1)
    chosen = combinations_with_replacement(ideal.generators, exponent)
    return Ideal(ideal.ring, _distinct(prod(factors, start=one) for factors in watched(chosen)))


def jacobian_of_generators(ideal: Ideal) -> Matrix:
    """The partial derivatives: a row for each generator, a column for each variable."""
    variables = ideal.ring.sympy_ring.gens
    target = Module(ideal.ring, tuple((-total_degree(generator),) for generator in ideal.generators))
    source = Module(ideal.ring, ((-1,),) * len(variables))
    rows = tuple(tuple(g.diff(variable) for variable in variables) for g in watched(ideal.generators))
    return Matrix(target, source, rows, (0,))


def _distinct(generators: Iterable[PolyElement]) -> tuple[PolyElement, ...]:
    return tuple(dict.fromkeys(generators))


def _check_size(count: int) -> None:
    if count > MOST_PRODUCTS:
        raise TooLargeError(f"{count} products of generators; at most {MOST_PRODUCTS} are formed: take fewer")


def contains(ideal: Ideal, other: object, engine: Engine | None = None, timeout: float | None = None) -> bool:
    """Whether a polynomial, or all of another ideal, lies in the ideal."""
    given = other if isinstance(other, Ideal) else principal(ideal, other)
    check_one_ring(ideal, given)
    if {g.monic() for g in given.generators} <= {g.monic() for g in ideal.generators}:
        return True
    if engine is None and (basis := small_basis(ideal)) is not None:
        larger = small_basis(add(ideal, given))
        if larger is not None:
            return basis == larger
    return ask("ideal_containment", {"givenIdeal": ideal, "otherIdeal": given}, engine, timeout).boolean("contains")


def equals(first: Ideal, second: Ideal, engine: Engine | None = None, timeout: float | None = None) -> bool:
    """Whether two ideals are the same ideal of the same ring."""
    check_ideal(second)
    if first.ring != second.ring:
        return False
    if {g.monic() for g in first.generators} == {g.monic() for g in second.generators}:
        return True
    if engine is None and (basis := small_basis(first)) is not None:
        other = small_basis(second)
        if other is not None:
            return basis == other
    return ask("ideal_equality", {"givenIdeal": first, "otherIdeal": second}, engine, timeout).boolean("equal")


def principal(ideal: Ideal, given: object) -> Ideal:
    """The ideal that one polynomial generates in the ring of an ideal."""
    generator = element(ideal.ring, given)
    return Ideal(ideal.ring, (generator,) if generator else ())


def saturate(ideal: Ideal, other: object, engine: Engine | None = None, timeout: float | None = None) -> Ideal:
    """What some power of another ideal, or of a polynomial, multiplies into the ideal."""
    return _with_other("ideal_saturation", ideal, other, engine, timeout)


def quotient(ideal: Ideal, other: object, engine: Engine | None = None, timeout: float | None = None) -> Ideal:
    """What another ideal, or a polynomial, multiplies into the ideal."""
    return _with_other("ideal_quotient", ideal, other, engine, timeout)


def _with_other(name: str, ideal: Ideal, other: object, engine: Engine | None, timeout: float | None) -> Ideal:
    second = other if isinstance(other, Ideal) else principal(ideal, other)
    answer = ask(name, {"givenIdeal": ideal, "otherIdeal": second}, engine, timeout)
    return tidy(answer.ideal(name.removeprefix("ideal_")))


def intersect(
    ideal: Ideal, others: Sequence[Ideal | Sequence[Ideal]], engine: Engine | None = None, timeout: float | None = None
) -> Ideal:
    """The intersection with other ideals."""
    if not others:
        return ideal
    named = {f"ideal{number}": given for number, given in enumerate((ideal, *flat(others)))}
    answer = ask("ideal_intersection", named, engine, timeout, {"names": f"({', '.join(named)})"})
    return tidy(answer.ideal("intersection"))


def eliminate(
    ideal: Ideal,
    variables: Sequence[str | Symbol | Sequence[str | Symbol]],
    engine: Engine | None = None,
    timeout: float | None = None,
) -> Ideal:
    """What the ideal contains in the other variables, as an ideal of their ring."""
    names = list(dict.fromkeys(map(str, flat(variables))))
    if unknown := [name for name in names if name not in ideal.ring.variables]:
        raise ConversionError(f"{unknown[0]!r:.60} is not a variable of {ideal.ring}")
    kept = [place for place, name in enumerate(ideal.ring.variables) if name not in names]
    written = dict(zip(ideal.ring.variables, all_to_macaulay2(ideal.ring.variables), strict=True))
    listed = f"{{{', '.join(written[name] for name in names)}}}"
    found = ask("ideal_elimination", {"givenIdeal": ideal}, engine, timeout, {"eliminated": listed}).ideal(
        "elimination"
    )
    smaller = PolynomialRing(ideal.ring.field, tuple(ideal.ring.variables[place] for place in kept))
    generators = tuple(
        smaller.sympy_ring.from_dict({tuple(m[place] for place in kept): c for m, c in generator.items()})
        for generator in found.generators
    )
    return tidy(Ideal(smaller, generators))


def radical(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> Ideal:
    """The radical."""
    return tidy(ask("ideal_radical", {"givenIdeal": ideal}, engine, timeout).ideal("radical"))


def minimal_primes(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> tuple[Ideal, ...]:
    """The minimal primes."""
    return ordered(ask("ideal_minimal_primes", {"givenIdeal": ideal}, engine, timeout).ideals("minimal_primes"))


def primary_decomposition(
    ideal: Ideal, engine: Engine | None = None, timeout: float | None = None
) -> tuple[Ideal, ...]:
    """Primary ideals with this intersection."""
    return ordered(ask("ideal_primary_decomposition", {"givenIdeal": ideal}, engine, timeout).ideals("components"))


def associated_primes(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> tuple[Ideal, ...]:
    """The associated primes."""
    return ordered(ask("ideal_associated_primes", {"givenIdeal": ideal}, engine, timeout).ideals("associated_primes"))


def is_prime(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> bool:
    """Whether the ideal is prime."""
    return ask("ideal_is_prime", {"givenIdeal": ideal}, engine, timeout).boolean("prime")


def is_radical(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> bool:
    """Whether the ideal is its own radical."""
    return ask("ideal_is_radical", {"givenIdeal": ideal}, engine, timeout).boolean("radical")


def ordered(ideals: Iterable[Ideal]) -> tuple[Ideal, ...]:
    """The ideals in the same order in all versions of Macaulay2."""
    return tuple(sorted(map(tidy, ideals), key=order))


def order(ideal: Ideal) -> tuple[int, list[str]]:
    """A key by which ideals are sorted: the number and the text of their generators."""
    return len(ideal.generators), [*map(polynomial_text, ideal.generators)]


def groebner_basis(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> GroebnerBasis:
    """The reduced Gröbner basis."""
    found = ask("ideal_groebner_basis", {"givenIdeal": ideal}, engine, timeout).ideal("groebner_basis")
    elements = tidy(Ideal(ideal.ring, tuple(g.monic() for g in found.generators))).generators
    source = Module(ideal.ring, tuple((total_degree(element),) for element in elements))
    return GroebnerBasis(Matrix(Module(ideal.ring, ((0,),)), source, (elements,), (0,)))


def hilbert_polynomial(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> HilbertPolynomial:
    """The Hilbert polynomial.

    With h(T) = Σ a_k (1 − T)^k, the series h(T) / (1 − T)^d is Σ a_k / (1 − T)^(d − k), where 1 / (1 − T)^(n + 1) is
    the series of n-dimensional projective space.
    """
    series = hilbert_series(ideal, engine, timeout)
    coefficients = [
        (series.dimension - 1 - k, (-1) ** k * sum(h * comb(i, k) for i, h in enumerate(series.numerator)))
        for k in range(max(series.dimension, 0))
    ]
    return HilbertPolynomial(tuple((n, c) for n, c in reversed(coefficients) if c))


def hilbert_series(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> HilbertSeries:
    """The Hilbert series of the quotient, or of its ring of leading forms where the ideal is not homogeneous."""
    answer = ask("ideal_invariants", {"givenIdeal": ideal}, engine, timeout, libraries=("wire", "invariants"))
    return HilbertSeries.from_numerator(answer.integer_pairs("hilbert_numerator"), len(ideal.ring.variables))


def dimension(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> int:
    """The Krull dimension of the quotient."""
    return hilbert_series(ideal, engine, timeout).dimension


def codimension(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> int:
    """The number of variables less the dimension."""
    return len(ideal.ring.variables) - dimension(ideal, engine, timeout)


def degree(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> int:
    """The degree."""
    return hilbert_series(ideal, engine, timeout).degree


def resolution(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> Complex:
    """A free resolution of the quotient; the minimal one where the ideal is homogeneous."""
    answer = ask("ideal_resolution", {"givenIdeal": ideal}, engine, timeout)
    modules = [Module(ideal.ring, tuple((j,) for j in degrees)) for degrees in answer.integer_lists("degrees")]
    differentials = [
        Matrix(target, source, tuple(map(tuple, rows)), (0,))
        for (target, source), rows in zip(pairwise(modules), answer.lists("differentials"), strict=True)
    ]
    return Complex(ideal.ring, 0, tuple(modules), tuple(differentials))


def betti_table(ideal: Ideal, engine: Engine | None = None, timeout: float | None = None) -> BettiTable:
    """The graded Betti numbers of the quotient by a homogeneous ideal.

    Raises
    ------
    MethodUnavailableError
        If a generator is not homogeneous.
    """
    if not all(map(is_homogeneous, ideal.generators)):
        raise MethodUnavailableError("Betti numbers are for homogeneous ideals: this one has other generators")
    listed = ask("ideal_betti_table", {"givenIdeal": ideal}, engine, timeout).integer_lists("betti_numbers")
    return BettiTable(tuple(((i, (j,), j), count) for i, j, count in sorted(listed)))


def jacobian(polynomial_map: PolynomialMap) -> Matrix:
    """The partial derivatives of the images: a row for each coordinate, a column for each parameter."""
    return jacobian_of_generators(Ideal(polynomial_map.source, polynomial_map.images))


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
    answer = ask("ideal_image", {"givenIdeal": add(ideal, relations)}, engine, timeout, values)
    return tidy(answer.ideal("image"))


def _relations(polynomial_map: PolynomialMap, source: PolynomialRing) -> tuple[PolyElement, ...]:
    return tuple(relation.set_ring(source.sympy_ring) for relation in polynomial_map.relations)


def _check_ring(ideal: Ideal, ring: PolynomialRing, what: str) -> None:
    if ideal.ring != ring:
        raise ConversionError(f"an ideal of {ideal.ring}, but {what} of the map has the ring {ring}")

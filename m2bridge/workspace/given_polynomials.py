"""Elements of python-flint's finite fields and polynomials over them, as Macaulay2 makes them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, compress, count
from typing import Any

import flint
from sympy import Expr, Float, MatrixBase, Poly, Rational
from sympy.polys.fields import FracElement
from sympy.polys.polyerrors import BasePolynomialError
from sympy.polys.rings import PolyElement, PolyRing

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.modules import Matrix
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.errors import ConversionError
from m2bridge.workspace.given_rings import plain_matrix, ring, ring_of_domain, ring_of_sympy, written_variables
from m2bridge.workspace.given_writing import braces, grouped, inexact, scalar, written
from m2bridge.workspace.values.collections import Array, HashTable, MutableList, Option, Set
from m2bridge.workspace.values.elements import RingElement, RingFraction
from m2bridge.workspace.values.rings import Algebra, FractionField, GaloisField, IntegerRing, QuotientRing


def galois(value: Any) -> str:
    """A polynomial over a field GF(q), in the variable x.

    Raises
    ------
    ConversionError
        If it is an element of the field, which does not say of which field.
    """
    if not isinstance(value, flint.fq_default_poly):
        raise ConversionError("a flint.fq_default does not say which field it is of: give a polynomial over the field")
    field = _field(value.context().base_field())
    terms = [((i,), written(_galois_element(field, c))) for i, c in enumerate(value.coeffs()) if c]
    return polynomial(Algebra(field, ("x",)), terms, 1)


def _field(context: Any) -> GaloisField:
    """The field with flint's modulus and name of the generator."""
    ground = CoefficientField(int(context.characteristic()))
    below = PolynomialRing(ground, (str(context.gen()),))
    domain = below.sympy_ring.domain
    coefficients = context.modulus().coeffs()
    relation = below.sympy_ring.from_dict({(i,): domain(int(c)) for i, c in enumerate(coefficients) if int(c)})
    quotient = QuotientRing(below, (relation,))
    return GaloisField(quotient, RingElement(quotient, _terms(ground, _primitive(context))))


def _primitive(context: Any) -> Any:
    """The generator, if its powers are all elements but zero; else the first other element of which this is true."""
    order, p, a = int(context.order()) - 1, int(context.characteristic()), context.gen()
    primes = [int(prime) for prime, _ in flint.fmpz(order).factor()]
    others = (sum((n // p**i % p * a**i for i in range(context.degree())), context.zero()) for n in range(1, order + 1))
    return next(x for x in chain([a], others) if all(x ** (order // prime) != 1 for prime in primes))


def _galois_element(field: GaloisField, value: Any) -> RingElement:
    return RingElement(field, _terms(CoefficientField(field.characteristic), value))


def _terms(ground: CoefficientField, value: Any) -> tuple[tuple[tuple[int, ...], Any], ...]:
    """By powers of the generator."""
    residues = enumerate(map(int, value.to_list()))
    return tuple(((i,), ground.domain(c)) for i, c in reversed(list(residues)) if c)


_MANY = 200
"""Terms from which on a polynomial is written for speed."""
_USED = re.compile(rb"[^\0]")
_SHIFT = 32
"""From numbers to characters, which are none of those that control."""
_CHARACTERS = 0xD800 - _SHIFT
"""As many follow without a gap."""

Terms = Iterable[tuple[tuple[int, ...], str]]


def polynomial(over: Any, terms: Terms, width: int) -> str:
    """An element of a ring; large ones with numbers for coefficients in a form that Macaulay2 reads faster."""
    listed = list(terms)
    plain = isinstance(over, PolynomialRing) or (
        isinstance(over, Algebra) and isinstance(over.coefficients, IntegerRing)
    )
    if plain and len(listed) >= _MANY:
        factors = [_factors(exponents) for exponents, _ in listed]
        powers = sorted({power for monomial in factors for power in monomial})
        if len(powers) <= _CHARACTERS:
            return _packed(over, powers, factors, [coefficient for _, coefficient in listed])
    return f"mbElement({ring(over)}, {_sparse(listed, width)})"


def _factors(exponents: tuple[int, ...]) -> list[tuple[int, int]]:
    """The variables of a monomial with their exponents; most exponents are zero, and fit in a byte."""
    try:
        packed = bytes(exponents)
    except ValueError:
        return list(zip(compress(count(), exponents), filter(None, exponents), strict=False))
    return [(found.start(), packed[found.start()]) for found in _USED.finditer(packed)]


def _packed(over: Any, powers: list[tuple[int, int]], factors: list[list[tuple[int, int]]], numbers: list[str]) -> str:
    """A character for each power of a variable, and a line of them for each monomial.

    Monomials are sorted by degree, then as strings from the last variable on. This is the graded reverse lexicographic
    order, in which sums are fastest: Macaulay2 finds one part before the other. No other order is wrong.
    """
    characters = {power: chr(number + _SHIFT) for number, power in enumerate(powers)}
    lines = ["".join([characters[power] for power in reversed(monomial)]) for monomial in factors]
    degrees = [-sum([exponent for _, exponent in monomial]) for monomial in factors]
    terms = sorted(zip(degrees, lines, numbers, strict=True))
    text = "\n".join([line[::-1] for _, line, _ in terms]).replace("\\", "\\\\").replace('"', '\\"')
    table = grouped([f"({variable},{exponent})" for variable, exponent in powers])
    return f'mbPolynomial({ring(over)}, {grouped([number for _, _, number in terms])}, {table}, "{text}")'


def _sparse(terms: Terms, width: int) -> str:
    places = tuple(f",{i}," for i in range(width))
    listed = []
    for exponents, coefficient in terms:
        powers = zip(compress(places, exponents), filter(None, exponents), strict=True)
        listed.append("{" + coefficient + "".join([f"{place}{exponent}" for place, exponent in powers]) + "}")
    return grouped(listed)


@written.register
def _(value: PolyElement) -> str:
    over = ring_of_sympy(value.ring)
    number = _sympy_coefficient(value.ring.domain)
    terms = ((monomial, number(coefficient)) for monomial, coefficient in value.items())
    return polynomial(over, terms, value.ring.ngens)


def sparse_terms(value: PolyElement) -> str:
    """The list of terms ``{coefficient, variable, exponent, ..}`` of a polynomial."""
    number = _sympy_coefficient(value.ring.domain)
    return _sparse([(monomial, number(coefficient)) for monomial, coefficient in value.items()], value.ring.ngens)


def _sympy_coefficient(domain: Any) -> Any:
    if domain.is_FiniteField:
        return lambda c: str(domain.to_int(c))
    if domain.is_ZZ or domain.is_QQ:
        return scalar
    return written


@written.register
def _(value: FracElement) -> str:
    below = value.field.ring
    over = FractionField(ring_of_sympy(below))
    return f"mbQuotientOf({ring(over)}, {written(value.numer)}, {written(value.denom)})"


@written.register
def _(value: Poly) -> str:
    below = ring_of_domain(value.domain)
    names = tuple(map(str, value.gens))
    over = PolynomialRing(below, names) if isinstance(below, CoefficientField) else Algebra(below, names)
    number = _sympy_coefficient(value.domain)
    terms = ((monomial, number(value.domain.convert(c))) for monomial, c in value.rep.to_dict().items())
    return polynomial(over, terms, len(names))


@written.register
def _(value: RingElement) -> str:
    if isinstance(value.ring, QuotientRing) and isinstance(value.ring.ambient, IntegerRing):
        return f"(promote({value.terms[0][1] if value.terms else 0}, {ring(value.ring)}))"
    terms = [(exponents, scalar(coefficient)) for exponents, coefficient in value.terms]
    width = len(terms[0][0]) if terms else 0
    return polynomial(value.ring, terms, width)


@written.register
def _(value: RingFraction) -> str:
    return f"mbQuotientOf({ring(value.ring)}, {scalar(value.numerator)}, {scalar(value.denominator)})"


_PLAIN = (list, tuple, set, frozenset)


@dataclass(frozen=True)
class Typed:
    """Polynomials as if typed: an element, or the rows of a matrix."""

    ring: PolyRing
    content: PolyElement | tuple[tuple[PolyElement, ...], ...]
    columns: int = 0


def in_one_ring(values: Iterable[Any]) -> list[Any]:
    """The values, with the SymPy expressions among them as polynomials."""
    listed = list(values)
    leaves = list(_leaves(listed))
    names = {str(symbol) for leaf in leaves if isinstance(leaf, Expr) for symbol in leaf.free_symbols}
    if not names:
        return [_prepared(value, None, False) for value in listed]
    around = [found for found in _rings(leaves) if names <= set(map(str, found.symbols))]
    if len(around) == 1:
        return [_prepared(value, around[0], False) for value in listed]
    own = PolynomialRing(QQ, tuple(sorted(names))).sympy_ring
    return [_prepared(value, own, True) for value in listed]


def _parts(value: Any) -> list[Any] | None:
    """What a container holds, a table keys and values in turn; ``None`` for anything else."""
    if type(value) in _PLAIN or isinstance(value, Array | MutableList | Set):
        return list(value)
    if type(value) is dict or isinstance(value, HashTable):
        return [part for pair in value.items() for part in pair]
    return [value.key, value.value] if isinstance(value, Option) else None


def _of_parts(value: Any, parts: list[Any]) -> Any:
    """A container of the same kind."""
    if type(value) is dict or isinstance(value, HashTable):
        return type(value)(zip(parts[::2], parts[1::2], strict=True))
    return Option(*parts) if isinstance(value, Option) else type(value)(tuple(parts))


def _leaves(items: Iterable[Any]) -> Iterable[Any]:
    for item in items:
        if (parts := _parts(item)) is not None:
            yield from _leaves(parts)
        elif isinstance(item, MatrixBase):
            yield from item.flat()
        else:
            yield item


def _rings(leaves: Iterable[Any]) -> list[PolyRing]:
    """The different rings among what is given, as SymPy has them."""
    found: list[PolyRing] = []
    for leaf in leaves:
        over = leaf if isinstance(leaf, PolynomialRing | Algebra | PolyRing) else getattr(leaf, "ring", None)
        over = over.sympy_ring if isinstance(over, PolynomialRing | Algebra) else over
        if isinstance(over, PolyRing) and over not in found:
            found.append(over)
    return found


def _prepared(value: Any, over: PolyRing | None, typed: bool) -> Any:
    """The value with its SymPy expressions in a ring."""
    if (parts := _parts(value)) is not None:
        return _of_parts(value, [_prepared(part, over, typed) for part in parts])
    if isinstance(value, Expr) and value.free_symbols:
        element = _polynomial(value, over)
        return Typed(element.ring, element) if typed else element
    if isinstance(value, MatrixBase):
        return _matrix(value, over, typed)
    return value


def _polynomial(value: Expr, over: Any) -> PolyElement:
    if not all(atom.is_Rational for atom in value.atoms() if atom.is_number):
        _refuse_number(value)
    try:
        return over.from_expr(value)
    except (BasePolynomialError, ValueError, ZeroDivisionError) as reason:
        raise ConversionError(f"'{value}' is not a polynomial with coefficients in {over.domain}") from reason


def _refuse_number(value: Any) -> None:
    if value.has(Float):
        raise inexact(f"'{value}'")
    raise ConversionError(f"'{value}' is not a polynomial with rational coefficients")


def _matrix(value: MatrixBase, over: PolyRing | None, typed: bool) -> Matrix | Typed:
    if value.free_symbols:
        assert over is not None
        flat = [_polynomial(x, over) for x in value.flat()]
    else:
        flat = [number(x) for x in value.flat()]
    rows = [flat[i * value.cols : (i + 1) * value.cols] for i in range(value.rows)]
    if not value.free_symbols:
        return plain_matrix(IntegerRing() if all(isinstance(x, int) for x in flat) else QQ, rows, value.cols)
    if typed and over is not None:
        return Typed(over, tuple(map(tuple, rows)), value.cols)
    return plain_matrix(ring_of_sympy(over), rows, value.cols)


def number(value: Any) -> int | Fraction:
    """A rational number of SymPy.

    Raises
    ------
    ConversionError
        If it is none.
    """
    if not isinstance(value, Rational):
        _refuse_number(value)
    return int(value) if value.is_Integer else Fraction(int(value.p), int(value.q))


@written.register
def _(value: Typed) -> str:
    over = ring_of_sympy(value.ring)
    if isinstance(value.content, PolyElement):
        made = _element(value.content)
    else:
        rows = braces(braces(map(_element, row)) for row in value.content)
        made = f"map(R^{len(value.content)}, R^{value.columns}, {rows})"
    return f"(mbTyped({written_variables(over.variables)}, () -> {ring(over)}, (R, places) -> {made}))"


def _element(value: PolyElement) -> str:
    return f"mbPlaced(R, places, {sparse_terms(value)})"

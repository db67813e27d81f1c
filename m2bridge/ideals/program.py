"""Questions about ideals of one ring as Macaulay2 programs, and small Gröbner bases by FLINT.

Every question of this package goes through :func:`question`, and :func:`tidy` gives what is found
the same form in all versions of Macaulay2. Small ideals over QQ are compared without Macaulay2: two
ideals are equal if and only if their reduced Gröbner bases are.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from math import comb
from typing import Any

import flint
from sympy import QQ as SYMPY_QQ
from sympy.polys.rings import PolyElement

from m2bridge.algebra.extension_field import ExtensionField
from m2bridge.algebra.field import QQ
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.modules import HilbertPolynomial
from m2bridge.algebra.numbers import integer_coefficients
from m2bridge.algebra.polynomial_map import PolynomialMap, images_over
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing, check_one_ring, total_degree
from m2bridge.convert import m2_syntax
from m2bridge.convert.answers import Answer, answer_to
from m2bridge.convert.polynomial_text import over_extension
from m2bridge.convert.printing import polynomial_text
from m2bridge.engine.script import Script, render
from m2bridge.errors import EngineDiedError, MethodUnavailableError, ScriptError
from m2bridge.ideals import (
    FACTORING_CHARACTERISTIC_BOUND,
    FLINT_BASIS_LIMITS,
    MAX_FLINT_GENERATOR_TERMS,
    MAX_REDUCTION_MONOMIALS,
)

RING = "givenRing"
"""The ring of all ideals of a question, in its program."""


def ask(
    name: str, ideals: Mapping[str, GeneratingSet], values: Mapping[str, str] | None = None
) -> Answer:
    """The answer of Macaulay2 to the program of this name.

    Raises
    ------
    ConversionError
        If the ideals are not of one ring.
    EngineError
        If Macaulay2 does not answer within the limits.
    MethodUnavailableError
        If it has to factor polynomials, and the characteristic is too large for that.
    """
    ring = next(iter(ideals.values())).ring
    if ring.field.names and name in _OVER_PRIME_FIELD:
        return _ask_over_prime_field(name, ideals, ring)
    script = question(name, ideals, values)
    with factoring(*ideals.values()):
        answer = answer_to(script)
    return _map_ideals(answer, partial(_in_ring, ring)) if ring.field.names else answer


_OVER_PRIME_FIELD = frozenset(
    {
        "ideal_radical",
        "ideal_minimal_primes",
        "ideal_primary_decomposition",
        "ideal_associated_primes",
        "ideal_saturation",
    }
)
"""Questions that Macaulay2 does not answer over every extension field, but over prime fields."""


def _ask_over_prime_field(
    name: str, ideals: Mapping[str, GeneratingSet], ring: PolynomialRing
) -> Answer:
    """The answer to a question whose answers commute with localization, over an extension field.

    Let K = k[a]/(m), or the fractions of k[a], be the field. Then K[x] is k[a, x]/(m), or a ring of
    fractions of k[a, x], and ideals of K[x] are the ideals of k[a, x] that contain m, or those of
    the latter that are larger than their intersections with k[a]. Prime and primary ideals of which
    nothing is left in K[x] contain a polynomial in a. Source: Atiyah, Macdonald, *Introduction to
    Commutative Algebra*, Propositions 3.11, 4.8 and 4.9.
    """
    below = ask(name, {key: over_prime_field(ideal) for key, ideal in ideals.items()})
    found = _map_ideals(below, partial(from_prime_field, ring=ring))
    proper = {}
    for key, value in found.values.items():
        proper[key] = value
        if isinstance(value, list):
            proper[key] = [ideal for ideal in value if not is_unit(ideal)]
    return Answer(proper)


def over_prime_field(ideal: GeneratingSet) -> GeneratingSet:
    """The ideal in the ring of the variables and the generators of the field, over the prime field.

    Denominators are left out, and the minimal polynomial is added, so that it defines the same
    scheme where the field is algebraic, and elsewhere one with that as its generic fibre.
    """
    field = ideal.ring.field
    assert isinstance(field, ExtensionField)
    ring = PolynomialRing(field.base, ideal.ring.variables + field.names)
    generators = [_without_denominators(generator, ring, field) for generator in ideal.generators]
    if field.minimal_polynomial:
        width = len(ideal.ring.variables)
        relation = {(0,) * width + exponents: c for exponents, c in field.relation.items()}
        generators.append(_over_base(relation, ring))
    return GeneratingSet.without_zeros(ring, generators)


def _without_denominators(
    polynomial: PolyElement, ring: PolynomialRing, field: ExtensionField
) -> PolyElement:
    """A multiple of the polynomial, in the ring of variables and generators."""
    parts = {monomial: field.parts(c) for monomial, c in polynomial.items()}
    divisor = field.generator_ring.one
    for _, below in parts.values():
        divisor = divisor.lcm(below)
    terms = {}
    for monomial, (above, below) in parts.items():
        for exponents, number in (above * divisor.quo(below)).items():
            terms[monomial + exponents] = number
    return _over_base(terms, ring)


def _over_base(terms: Mapping[tuple[int, ...], Any], ring: PolynomialRing) -> PolyElement:
    numbers = {exponents: ring.number(number) for exponents, number in terms.items()}
    return ring.sympy_ring.from_dict(numbers)


def from_prime_field(ideal: GeneratingSet, *, ring: PolynomialRing) -> GeneratingSet:
    """The ideal that one over the prime field generates in this ring over an extension field.

    By its reduced Gröbner basis.
    """
    rational = PolynomialRing(QQ, ideal.ring.variables).sympy_ring
    generators = []
    for generator in ideal.generators:
        terms = {m: _integer_or_fraction(c, ring) for m, c in generator.items()}
        generators.append(over_extension(rational.from_dict(terms), ring))
    above = GeneratingSet.without_zeros(ring, generators)
    basis = ask("ideal_groebner_basis", {"givenIdeal": above}).ideal("groebner_basis")
    return GeneratingSet(ring, tuple(element.monic() for element in basis.generators))


def _integer_or_fraction(coefficient: Any, ring: PolynomialRing) -> Any:
    """A coefficient over the prime field as a rational number of SymPy."""
    if ring.field.characteristic:
        return SYMPY_QQ(ring.field.base.domain.to_int(coefficient))
    return coefficient


def is_unit(ideal: GeneratingSet) -> bool:
    """Whether a Gröbner basis is that of the unit ideal."""
    return any(generator.is_ground for generator in ideal.generators)


def _map_ideals(answer: Answer, function: Callable[[GeneratingSet], GeneratingSet]) -> Answer:
    """The answer with a function of the ideals and lists of ideals in it."""
    values = {}
    for key, value in answer.values.items():
        values[key] = value
        if isinstance(value, GeneratingSet):
            values[key] = function(value)
        elif isinstance(value, list):
            values[key] = [
                function(item) if isinstance(item, GeneratingSet) else item for item in value
            ]
    return Answer(values)


def _in_ring(ring: PolynomialRing, ideal: GeneratingSet) -> GeneratingSet:
    """The ideal in an equal ring, whose field may know the root in SymPy."""
    return replace(ideal, ring=ring) if ideal.ring == ring else ideal


@contextmanager
def factoring(*ideals: GeneratingSet) -> Iterator[None]:
    """Name the primes that are too large where Macaulay2 factors polynomials in the block."""
    try:
        yield
    except (ScriptError, EngineDiedError) as reason:  # Macaulay2 1.21 ends at such a prime
        field = ideals[0].ring.field
        if field.characteristic < FACTORING_CHARACTERISTIC_BOUND:
            raise
        raise MethodUnavailableError(
            f"over {field} Macaulay2 factors no polynomials, as it has to here: use"
            f" p < {FACTORING_CHARACTERISTIC_BOUND}"
        ) from reason


def hilbert_series(ideal: GeneratingSet) -> HilbertSeries:
    """The Hilbert series of the quotient; of that by the leading forms, if not homogeneous."""
    libraries = ("wire", "invariants")
    script = question("ideal_invariants", {"givenIdeal": ideal}, libraries=libraries)
    numerator = answer_to(script).integer_pairs("hilbert_numerator")
    return HilbertSeries.from_numerator(numerator, len(ideal.ring.variables))


def hilbert_polynomial(series: HilbertSeries) -> HilbertPolynomial:
    """The Hilbert polynomial of the module that has this Hilbert series."""
    # It is Σ (−1)^i e_i C(n + D − i − 1, D − i − 1), and C(n + k, k) belongs to P^k.
    signed = [(-1) ** i * e for i, e in enumerate(series.hilbert_coefficients)]
    signed.reverse()
    return HilbertPolynomial(tuple((k, c) for k, c in enumerate(signed) if c))


def question(
    name: str,
    ideals: Mapping[str, GeneratingSet],
    values: Mapping[str, str] | None = None,
    libraries: tuple[str, ...] = ("wire",),
) -> Script:
    """The program ``templates/<name>.m2.j2`` for these ideals, by the names that they have in it.

    Raises
    ------
    ConversionError
        If the ideals are not of one ring.
    """
    check_one_ring(*ideals.values())
    ring = next(iter(ideals.values())).ring
    if ring.field.names:
        libraries = ("wire", "extension_fields", *libraries[1:])
    written = {key: m2_syntax.ideal(ideal, RING) for key, ideal in ideals.items()}
    given = {"ring": m2_syntax.ring(ring), "ideals": written}
    return render(name, libraries, {**given, **(values or {})})


def map_values(polynomial_map: PolynomialMap, relations: GeneratingSet) -> dict[str, str]:
    """The map in the program of an image; its source has these relations."""
    ring = relations.ring
    names = m2_syntax.all_to_macaulay2(ring.variables)
    images = [m2_syntax.polynomial(image, names) for image in images_over(polynomial_map, ring)]
    values = {
        "images": f"matrix({RING}, {{{m2_syntax.sequence(images)}}})",
        "target": m2_syntax.ring(polynomial_map.target(field=ring.field)),
    }
    if polynomial_map.maybe_reducible:
        values["relationsIdeal"] = m2_syntax.ideal(relations, RING)
    return values


def tidy(ideal: GeneratingSet) -> GeneratingSet:
    """The generators in an order that does not depend on the version of Macaulay2.

    By degree, the largest first; leading coefficients are positive over QQ, and 1 over extensions.
    """
    generators = []
    for generator in ideal.generators:
        if ideal.ring.field == QQ and generator.LC < 0:
            generator = -generator
        elif ideal.ring.field.names:
            generator = generator.monic()
        generators.append(generator)
    return GeneratingSet(ideal.ring, tuple(sorted(generators, key=_rank)))


def order(ideal: GeneratingSet) -> tuple[int, list[str]]:
    """A key by which ideals are sorted: the number and the text of their generators."""
    return len(ideal.generators), list(map(polynomial_text, ideal.generators))


def _rank(polynomial: PolyElement) -> tuple[int, list[tuple[int, ...]]]:
    """Smaller for lower degrees, and for larger monomials of the same degree."""
    return total_degree(polynomial), [m[::-1] for m in polynomial.monoms()]


ReducedGroebnerBasis = frozenset[tuple[tuple[tuple[int, ...], int], ...]]


def small_basis(ideal: GeneratingSet) -> ReducedGroebnerBasis | None:
    """The reduced Gröbner basis, elements with coprime integers and positive leading coefficients.

    ``None`` if the ideal is not over QQ, or its basis not found within the limits.
    """
    count = len(ideal.ring.variables)
    if ideal.ring.field != QQ or count == 0:
        return None
    degree = max(map(total_degree, ideal.generators), default=0)
    if sum(map(len, ideal.generators)) > MAX_FLINT_GENERATOR_TERMS:
        return None
    if comb(count + 2 * degree, count) > MAX_REDUCTION_MONOMIALS:
        return None
    context = flint.fmpz_mpoly_ctx.get(("x", count), flint.Ordering.degrevlex)
    generators = [context.from_dict(integer_coefficients(g)) for g in ideal.generators]
    polynomials = flint.fmpz_mpoly_vec(generators, context)
    basis, finished = polynomials.buchberger_naive(limits=FLINT_BASIS_LIMITS)
    if not finished:
        return None
    reduced = set()
    for element in basis.autoreduction():
        terms = [(tuple(map(int, monomial)), int(c)) for monomial, c in element.terms()]
        reduced.add(tuple(terms))
    return frozenset(reduced)


def same_small(first: GeneratingSet, second: GeneratingSet) -> bool | None:
    """Whether both ideals are the same; ``None`` if no Gröbner basis is found within the limits."""
    basis = small_basis(first)
    if basis is None:
        return None
    other = small_basis(second)
    if other is None:
        return None
    return basis == other

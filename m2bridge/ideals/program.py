"""Questions about ideals of one ring as Macaulay2 programs, and small Gröbner bases by FLINT.

Every question of this package goes through :func:`question`, and :func:`tidy` gives what is found
the same form in all versions of Macaulay2. Ideals are given by their names in a program, and other
values of its template as Macaulay2 code. An ``Answer`` has values, such as ideals and numbers, by
the names under which the program prints them. Ideals that are not of one ring are a
ConversionError; what cannot be asked over the given coefficients is a MethodUnavailableError.

Over an extension field K of the prime field k some questions are asked over k. K is k[a]/(m), or
k(a), the fractions of k[a]; then K[x] is k[a, x]/(m), or a ring of fractions of k[a, x].

Small ideals over QQ are compared without Macaulay2: two ideals are equal if and only if their
reduced Gröbner bases are. ``None`` then says that the comparison is left to Macaulay2: the ideal is
not over QQ, has no variables, or is too large for the limits.
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

from m2bridge.algebra import FACTORING_CHARACTERISTIC_BOUND
from m2bridge.algebra.extension_field import ExtensionField
from m2bridge.algebra.field import QQ, ZZ, check_over_field
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.modules import HilbertPolynomial
from m2bridge.algebra.numbers import integer_coefficients
from m2bridge.algebra.polynomial_map import PolynomialMap, images_over
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing, check_one_ring, total_degree
from m2bridge.convert import m2_syntax
from m2bridge.convert.answers import Answer, answer_to
from m2bridge.convert.polynomial_parser import convert_to_extension
from m2bridge.convert.printing import polynomial_text
from m2bridge.engine.script import Script, render
from m2bridge.errors import EngineDiedError, MethodUnavailableError, ScriptError
from m2bridge.ideals import FLINT_BASIS_LIMITS

RING = "givenRing"
"""The ring of all ideals of a question, in its program."""

QUESTIONS_OVER_INTEGERS = frozenset(
    {
        "ideal_groebner_basis",
        "ideal_containment",
        "ideal_equality",
        "ideal_intersection",
        "ideal_quotient",
        "ideal_saturation",
        "ideal_elimination",
    }
)
"""Questions to which Macaulay2 answers right over ZZ too, by strong Gröbner bases. Others end with
an error there, or are about the ideal of the leading monomials: to ``degree ideal 2_(ZZ[x])`` it
answers 0, and to ``hilbertSeries ideal(2*x)`` the series of ``ideal x``.
"""

WORDS_OF_QUESTIONS_OVER_FIELDS = {
    "ideal_invariants": "dimensions, degrees and Hilbert series",
    "ideal_betti_table": "Betti numbers",
    "ideal_resolution": "free resolutions",
    "ideal_radical": "radicals",
    "ideal_is_radical": "decisions whether an ideal is radical",
    "ideal_is_prime": "decisions whether an ideal is prime",
    "ideal_minimal_primes": "minimal primes",
    "ideal_primary_decomposition": "primary decompositions",
    "ideal_associated_primes": "associated primes",
    "ideal_singular_locus": "singular loci",
    "ideal_image": "images",
}
"""What other questions about ideals are about, for the message that there is none over ZZ."""


def ask(
    name: str, ideals: Mapping[str, GeneratingSet], values: Mapping[str, str] | None = None
) -> Answer:
    """The answer of Macaulay2 to the program ``templates/<name>.m2.j2`` for some ideals;
    WrongAnswerError if an identity that follows from it does not hold.
    """
    ring = next(iter(ideals.values())).ring  # the same for all of them
    is_extension = isinstance(ring.field, ExtensionField)
    # Radicals, decompositions and saturations are computed over the prime field, and carried back.
    # Their templates have no other variables, so ``values`` is not passed on.
    if is_extension and name in _OVER_PRIME_FIELD:
        return _ask_over_prime_field(name, ideals, ring)
    script = question(name, ideals, values)
    with explain_factoring_errors(*ideals.values()):
        answer = answer_to(script)
    if is_extension:
        return _map_ideals(answer, partial(_with_given_ring, ring))
    return answer


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
    """The answer over K to a question whose answers commute with localization: it is asked about
    ideals of k[a, x] that generate the given ones in ``ring``, K[x], and the ideals of the answer
    generate the ideals wanted there. Prime and primary ideals that contain a polynomial in a which
    is not zero in K generate the unit ideal: they are left out of lists. Source: Atiyah, Macdonald,
    *Introduction to Commutative Algebra*, Propositions 3.11, 4.8 and 4.9.
    """
    over_k = ask(name, {key: over_prime_field(ideal) for key, ideal in ideals.items()})
    over_K = _map_ideals(over_k, partial(from_prime_field, ring=ring))
    values = {}
    for key, value in over_K.values.items():
        values[key] = value
        if isinstance(value, list):  # of the prime or primary ideals
            values[key] = [ideal for ideal in value if not is_unit(ideal)]
    return Answer(values)


def over_prime_field(ideal: GeneratingSet) -> GeneratingSet:
    """The ideal in k[a, x], with denominators cleared and the minimal polynomial added, if there is
    one: it then defines the same scheme. Where the field has parameters, the given scheme is the
    generic fibre of the scheme of this ideal over the space of parameters.
    """
    field = ideal.ring.field
    assert isinstance(field, ExtensionField)
    ring = PolynomialRing(field.base, ideal.ring.variables + field.names)
    generators = [_clear_denominators(generator, ring, field) for generator in ideal.generators]
    if field.minimal_polynomial:
        # The exponents of the variables, which come first in ``ring``, are 0.
        no_variables = (0,) * len(ideal.ring.variables)
        relation = {no_variables + exponents: c for exponents, c in field.relation.items()}
        generators.append(_polynomial_over_base(relation, ring))
    return GeneratingSet.without_zeros(ring, generators)


def _clear_denominators(
    polynomial: PolyElement, ring: PolynomialRing, field: ExtensionField
) -> PolyElement:
    """The polynomial times the least common denominator of its coefficients, in the ring over the
    prime field with its variables and then the generators of ``field``.
    """
    fractions = {monomial: field.parts(c) for monomial, c in polynomial.items()}
    common_denominator = field.generator_ring.one
    for _, denominator in fractions.values():
        common_denominator = common_denominator.lcm(denominator)
    terms = {}
    for monomial, (numerator, denominator) in fractions.items():
        coefficient = numerator * common_denominator.quo(denominator)
        for exponents, number in coefficient.items():
            terms[monomial + exponents] = number
    return _polynomial_over_base(terms, ring)


def _polynomial_over_base(
    terms: Mapping[tuple[int, ...], Any], ring: PolynomialRing
) -> PolyElement:
    """The element of a ring over QQ or GF(p) that has these terms with rational coefficients."""
    numbers = {exponents: ring.number(number) for exponents, number in terms.items()}
    return ring.sympy_ring.from_dict(numbers)


def from_prime_field(ideal: GeneratingSet, *, ring: PolynomialRing) -> GeneratingSet:
    """The ideal that an ideal of k[a, x] generates in K[x], ``ring``: its reduced Gröbner basis."""
    # ``convert_to_extension`` takes polynomials over QQ in the variables and the generators of the
    # field, and puts the generators into the coefficients.
    rational_ring = PolynomialRing(QQ, ideal.ring.variables).sympy_ring
    generators = []
    for generator in ideal.generators:
        terms = dict(generator)
        if ring.field.characteristic:
            integer_of_residue = ring.field.base.domain.to_int
            terms = {exponents: SYMPY_QQ(integer_of_residue(c)) for exponents, c in terms.items()}
        generators.append(convert_to_extension(rational_ring.from_dict(terms), ring))
    extended = GeneratingSet.without_zeros(ring, generators)
    basis = ask("ideal_groebner_basis", {"givenIdeal": extended}).ideal("groebner_basis")
    return GeneratingSet(ring, tuple(element.monic() for element in basis.generators))


def is_unit(ideal: GeneratingSet) -> bool:
    """Whether an ideal, given by a Gröbner basis, is the unit ideal: it has a constant."""
    return any(generator.is_ground for generator in ideal.generators)


def _map_ideals(answer: Answer, function: Callable[[GeneratingSet], GeneratingSet]) -> Answer:
    """The answer with the function applied to each ideal in it, also in lists."""
    values: dict[str, Any] = {}
    for key, value in answer.values.items():
        values[key] = value
        if isinstance(value, GeneratingSet):
            values[key] = function(value)
        elif isinstance(value, list):
            values[key] = [
                function(item) if isinstance(item, GeneratingSet) else item for item in value
            ]
    return Answer(values)


def _with_given_ring(ring: PolynomialRing, ideal: GeneratingSet) -> GeneratingSet:
    """The ideal with ``ring`` in place of its own ring if these are equal: the field of ``ring``
    may have a ``root``, a number of SymPy, which an answer of Macaulay2 does not have.
    """
    return replace(ideal, ring=ring) if ideal.ring == ring else ideal


@contextmanager
def explain_factoring_errors(*ideals: GeneratingSet) -> Iterator[None]:
    """A context in which Macaulay2 factors polynomials over the field of the ideals: its errors
    become MethodUnavailableError where the characteristic is too large for factoring.
    """
    try:
        yield
    except (ScriptError, EngineDiedError) as reason:  # Macaulay2 1.21 ends at such a prime
        field = ideals[0].ring.field  # all ideals have the same
        if field.characteristic < FACTORING_CHARACTERISTIC_BOUND:
            raise
        raise MethodUnavailableError(
            f"over {field} Macaulay2 factors no polynomials, as it has to here: use"
            f" p < {FACTORING_CHARACTERISTIC_BOUND}"
        ) from reason


def hilbert_series(ideal: GeneratingSet) -> HilbertSeries:
    """The Hilbert series of the quotient ring of an ideal; if the ideal is not homogeneous, of the
    quotient by the ideal of the leading forms of its elements, the parts of highest degree.
    """
    libraries = ("wire", "invariants")
    script = question("ideal_invariants", {"givenIdeal": ideal}, libraries=libraries)
    numerator = answer_to(script).integer_pairs("hilbert_numerator")  # exponent → coefficient
    return HilbertSeries.from_numerator(numerator, len(ideal.ring.variables))


def hilbert_polynomial(series: HilbertSeries) -> HilbertPolynomial:
    """The Hilbert polynomial of the module that has this Hilbert series."""
    # For D the dimension it is Σ (−1)^i e_i C(n + D − i − 1, D − i − 1) over 0 ≤ i < D, and
    # C(n + k, k) is the Hilbert polynomial of P^k: so after reversal, place k has its coefficient.
    signed_coefficients = [(-1) ** i * e for i, e in enumerate(series.hilbert_coefficients)]
    signed_coefficients.reverse()
    return HilbertPolynomial(tuple((k, c) for k, c in enumerate(signed_coefficients) if c))


def question(
    name: str,
    ideals: Mapping[str, GeneratingSet],
    values: Mapping[str, str] | None = None,
    libraries: tuple[str, ...] = ("wire", "checks"),
) -> Script:
    """The program ``templates/<name>.m2.j2`` for some ideals, with the files
    ``m2scripts/<library>.m2`` whose functions it uses. Over ZZ only :data:`QUESTIONS_OVER_INTEGERS`
    are asked.
    """
    check_one_ring(*ideals.values())
    ring = next(iter(ideals.values())).ring  # the same for all of them
    if name not in QUESTIONS_OVER_INTEGERS:
        computations = WORDS_OF_QUESTIONS_OVER_FIELDS.get(name, "these computations")
        check_over_field(ring.field, computations)
    if isinstance(ring.field, ExtensionField):
        # "extension_fields" redefines functions of "wire", so it is read right after it
        other_libraries = [library for library in libraries if library != "wire"]
        libraries = ("wire", "extension_fields", *other_libraries)
    ideal_texts = {key: m2_syntax.ideal(ideal, RING) for key, ideal in ideals.items()}
    ring_and_ideals = {
        "ring": m2_syntax.ring(ring),
        "ideals": ideal_texts,
        "over_integers": not ring.field.is_field,
    }
    return render(name, libraries, {**ring_and_ideals, **(values or {})})


def map_values(polynomial_map: PolynomialMap, relations: GeneratingSet) -> dict[str, str]:
    """The values of the template ``ideal_image`` that describe a map, whose source has these
    relations: ``relationsIdeal`` is there where they are not known to generate a prime ideal, so
    that Macaulay2 takes their radical.
    """
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
    """The ideal with generators of low degree first, and in one degree large monomials first.
    Leading coefficients are positive over QQ and ZZ, and 1 over extension fields; over GF(p)
    generators are left as they are.
    """
    generators = []
    for generator in ideal.generators:
        if ideal.ring.field in (QQ, ZZ) and generator.LC < 0:
            generator = -generator
        elif isinstance(ideal.ring.field, ExtensionField):
            generator = generator.monic()
        generators.append(generator)
    return GeneratingSet(ideal.ring, tuple(sorted(generators, key=_polynomial_sort_key)))


def normalized_generators(ideal: GeneratingSet) -> tuple[PolyElement, ...]:
    """The generators times units: monic over fields, leading coefficients positive over ZZ."""
    if ideal.ring.field.is_field:
        return tuple(generator.monic() for generator in ideal.generators)
    return tuple(f if f.LC > 0 else -f for f in ideal.generators)


def ideal_sort_key(ideal: GeneratingSet) -> tuple[int, list[str]]:
    """A key that sorts ideals by the number of their generators, and then by the texts of these."""
    return len(ideal.generators), list(map(polynomial_text, ideal.generators))


def _polynomial_sort_key(polynomial: PolyElement) -> tuple[int, list[tuple[int, ...]]]:
    """A key by which low degrees come first, then large monomials: of two of the same degree the
    larger one, in graded reverse lexicographic order, has the smaller exponent at the last variable
    where they differ.
    """
    descending = polynomial.monoms()  # the largest monomial first
    return total_degree(polynomial), [monomial[::-1] for monomial in descending]


ReducedGroebnerBasis = frozenset[tuple[tuple[tuple[int, ...], int], ...]]
"""The elements of a reduced Gröbner basis: pairs of exponents and coefficient, in their order."""


def small_basis(ideal: GeneratingSet) -> ReducedGroebnerBasis | None:
    """The reduced Gröbner basis of a small ideal over QQ, by FLINT, with coprime integers as
    coefficients, the leading ones positive.
    """
    variables = len(ideal.ring.variables)
    if ideal.ring.field != QQ or variables == 0:  # FLINT has no ring without variables
        return None
    if not _is_small(ideal):
        return None
    # The names of variables do not matter: FLINT calls them x0, x1, …
    context = flint.fmpz_mpoly_ctx.get(("x", variables), flint.Ordering.degrevlex)
    generators = [context.from_dict(integer_coefficients(g)) for g in ideal.generators]
    polynomials = flint.fmpz_mpoly_vec(generators, context)
    basis, finished = polynomials.buchberger_naive(limits=FLINT_BASIS_LIMITS)
    if not finished:
        return None
    # the form of ReducedGroebnerBasis: it has no names, and can be compared
    reduced = set()
    for element in basis.autoreduction():
        terms = [(tuple(map(int, monomial)), int(c)) for monomial, c in element.terms()]
        reduced.add(tuple(terms))
    return frozenset(reduced)


def _is_small(ideal: GeneratingSet) -> bool:
    """Whether generators have few terms, and monomials up to twice their degree are few: their
    number estimates how long reductions are, which FLINT cannot limit.
    """
    variables = len(ideal.ring.variables)
    degree = max(map(total_degree, ideal.generators), default=0)
    if sum(map(len, ideal.generators)) > 1000:  # terms
        return False
    # monomials up to twice the degree bound the length of a reduction, which FLINT cannot limit
    return comb(variables + 2 * degree, variables) <= 5000


def are_same_small_ideals(first: GeneratingSet, second: GeneratingSet) -> bool | None:
    """Whether two small ideals of one ring over QQ are the same."""
    first_basis = small_basis(first)
    if first_basis is None:
        return None
    second_basis = small_basis(second)
    if second_basis is None:
        return None
    return first_basis == second_basis

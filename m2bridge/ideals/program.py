"""Questions about ideals of one ring as Macaulay2 programs, and small Gröbner bases by FLINT.

Every question of this package goes through :func:`question`, and :func:`tidy` gives what is found
the same form in all versions of Macaulay2. Small ideals over QQ are compared without Macaulay2: two
ideals are equal if and only if their reduced Gröbner bases are.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import comb

import flint
from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.modules import HilbertPolynomial
from m2bridge.algebra.numbers import integer_coefficients
from m2bridge.algebra.polynomial_map import PolynomialMap, images_over
from m2bridge.algebra.ring import GeneratingSet, check_one_ring, total_degree
from m2bridge.convert import m2_syntax
from m2bridge.convert.answers import Answer, answer_to
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
    script = question(name, ideals, values)
    with factoring(*ideals.values()):
        return answer_to(script)


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

    By degree, the largest first; over QQ leading coefficients are positive.
    """
    generators = []
    for generator in ideal.generators:
        if ideal.ring.field == QQ and generator.LC < 0:
            generator = -generator
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

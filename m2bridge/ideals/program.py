"""Questions about ideals of one ring as Macaulay2 programs, and small Gröbner bases by FLINT."""

from collections.abc import Mapping
from math import comb

import flint
from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.modules import HilbertPolynomial
from m2bridge.algebra.numbers import integer_coefficients
from m2bridge.algebra.polynomial_map import PolynomialMap, images_over
from m2bridge.algebra.ring import GeneratingSet, check_one_ring, total_degree
from m2bridge.convert import macaulay2
from m2bridge.convert.answers import Answer, answer_to
from m2bridge.convert.notation import polynomial_text
from m2bridge.engine.script import Script, render

RING = "givenRing"
"""The ring of all ideals of a question, in its program."""


def ask(
    name: str,
    ideals: Mapping[str, GeneratingSet],
    values: Mapping[str, str] | None = None,
    libraries: tuple[str, ...] = ("wire",),
) -> Answer:
    """The answer of Macaulay2 to the program of this name.

    Raises
    ------
    ConversionError
        If the ideals are not of one ring.
    EngineError
        If Macaulay2 does not answer within the limits.
    """
    return answer_to(question(name, ideals, values, libraries))


def hilbert_series(ideal: GeneratingSet) -> HilbertSeries:
    """The Hilbert series of the quotient by the ideal, or by its leading forms where it is not
    homogeneous.
    """
    answer = ask("ideal_invariants", {"givenIdeal": ideal}, None, ("wire", "invariants"))
    return HilbertSeries.from_numerator(
        answer.integer_pairs("hilbert_numerator"), len(ideal.ring.variables)
    )


def hilbert_polynomial(series: HilbertSeries) -> HilbertPolynomial:
    """The Hilbert polynomial of the module that has this Hilbert series."""
    signed = [(-1) ** i * e for i, e in enumerate(series.hilbert_coefficients)]
    return HilbertPolynomial(tuple((n, c) for n, c in enumerate(reversed(signed)) if c))


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
    written = {key: macaulay2.ideal(ideal, RING) for key, ideal in ideals.items()}
    return render(
        name, libraries, {"ring": macaulay2.ring(ring), "ideals": written, **(values or {})}
    )


def map_values(polynomial_map: PolynomialMap, relations: GeneratingSet) -> dict[str, str]:
    """The map in the program of an image; the source has these relations in the ring of the
    ideal.
    """
    ring, names = relations.ring, macaulay2.all_to_macaulay2(relations.ring.variables)
    images = macaulay2.sequence(
        macaulay2.polynomial(g, names) for g in images_over(polynomial_map, ring)
    )
    target = macaulay2.ring(polynomial_map.target(field=ring.field))
    values = {"images": f"matrix({RING}, {{{images}}})", "target": target}
    return values | (
        {"relationsIdeal": macaulay2.ideal(relations, RING)}
        if polynomial_map.maybe_reducible
        else {}
    )


def tidy(ideal: GeneratingSet) -> GeneratingSet:
    """The generators in an order that all versions of Macaulay2 share: by degree, the largest
    first.

    Over QQ leading coefficients are positive.
    """
    signed = (-g if ideal.ring.field == QQ and g.LC < 0 else g for g in ideal.generators)
    return GeneratingSet(ideal.ring, tuple(sorted(signed, key=_rank)))


def order(ideal: GeneratingSet) -> tuple[int, list[str]]:
    """A key by which ideals are sorted: the number and the text of their generators."""
    return len(ideal.generators), [*map(polynomial_text, ideal.generators)]


def _rank(polynomial: PolyElement) -> tuple[int, list[tuple[int, ...]]]:
    """Smaller for lower degrees, and for larger monomials of the same degree."""
    return total_degree(polynomial), [m[::-1] for m in polynomial.monoms()]


LIMITS = (60, 200, 2000)
"""Polynomials in a basis, terms of a polynomial, bits of a coefficient."""
MOST_TERMS = 1000
"""The largest number of terms of all generators together."""
MOST_MONOMIALS = 5000
"""Up to twice the degree of the generators: a bound for what a reduction goes through, which no
limit of FLINT is.
"""

Basis = frozenset[tuple[tuple[tuple[int, ...], int], ...]]


def small_basis(ideal: GeneratingSet) -> Basis | None:
    """The reduced Gröbner basis, each element with coprime integers and a positive leading
    coefficient.

    ``None`` if the ideal is not over QQ, or its basis not found within the limits.
    """
    count = len(ideal.ring.variables)
    degree = max(map(total_degree, ideal.generators), default=0)
    large = (
        sum(map(len, ideal.generators)) > MOST_TERMS
        or comb(count + 2 * degree, count) > MOST_MONOMIALS
    )
    if ideal.ring.field != QQ or not count or large:
        return None
    context = flint.fmpz_mpoly_ctx.get(
        tuple(f"x{i}" for i in range(count)), flint.Ordering.degrevlex
    )
    polynomials = flint.fmpz_mpoly_vec(
        [context.from_dict(integer_coefficients(g)) for g in ideal.generators], context
    )
    basis, finished = polynomials.buchberger_naive(limits=LIMITS)
    if not finished:
        return None
    listed = (
        [(tuple(map(int, m)), int(c)) for m, c in element.terms()]
        for element in basis.autoreduction()
    )
    return frozenset(map(tuple, listed))


def same_small(first: GeneratingSet, second: GeneratingSet) -> bool | None:
    """Whether both ideals are the same; ``None`` if their Gröbner bases are not found within the
    limits.
    """
    basis = small_basis(first)
    other = None if basis is None else small_basis(second)
    return None if other is None else basis == other

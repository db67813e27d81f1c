"""Hilbert series of generators by a Gröbner basis over QQ: the checker's, as a second method for tests."""

from collections.abc import Iterable

from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.sparse_polynomial import Terms
from m2bridge.checker.algebra import Exponents, groebner_basis, hilbert_series, minimal, ring


def leading_monomials(polynomials: Iterable[dict[Exponents, int]], variables: int) -> list[Exponents]:
    """The minimal ones, graded reverse lexicographic."""
    context = ring(variables)
    basis = groebner_basis((context.from_dict(polynomial) for polynomial in polynomials), context)
    return minimal(next(iter(g.terms()))[0] for g in basis)


def series_of(generators: Iterable[Terms], variables: int) -> HilbertSeries:
    """Of the quotient by the ideal that they generate."""

    def dense(terms: Terms) -> dict[Exponents, int]:
        return {tuple(monomial.count(j) for j in range(variables)): c for monomial, c in terms}

    numerator, dimension = hilbert_series(leading_monomials(map(dense, generators), variables), variables)
    return HilbertSeries(tuple(numerator), dimension)

"""Ideals, Hilbert series and substitutions by other means than those which are tested."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import gcd, lcm

import flint
from sympy.polys.rings import PolyElement

from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.sparse_polynomial import Terms as Terms_leading
from m2bridge.checker.algebra import Exponents, groebner_basis, hilbert_series, minimal, ring
from m2bridge.errors import MethodUnavailableError
from m2bridge.families.attention.all_sizes.fibre_theorem import BASE_CASES, BaseCase, BaseIdeals
from m2bridge.families.attention.orbits.orbits import representative
from m2bridge.ideals.program import ReducedGroebnerBasis

# What ``all_sizes/fibre_theorem.py`` asks of Macaulay2, by linear algebra: other equations, another
# method. With x_q = V_1q − z_q the equation (k, i, p, q) of the fibre is A_1i (V_kp x_q + V_kq x_p)
# − V_k1 (A_qi x_p + A_pi x_q) − 2 V_k1 A_1i x_p x_q = 0. All multiples of the equations up to
# degree 3, in echelon form, contain the reduced Gröbner basis; that what is read off them generates
# the ideal is checked by division.

DEGREE = 3
"""Of the multiples of equations that are used."""

Monomial = tuple[int, ...]
Terms = dict[Monomial, Fraction]


def order(monomial: Monomial) -> tuple[int, tuple[int, ...]]:
    """Larger for larger monomials: graded reverse lexicographic, the first unknown largest."""
    return sum(monomial), tuple(-e for e in reversed(monomial))


def primitive(terms: Terms) -> tuple[tuple[Monomial, int], ...]:
    """The multiple with coprime integer coefficients, the leading one positive; the largest
    monomial first.
    """
    monomials = sorted(terms, key=order, reverse=True)
    scale = Fraction(
        lcm(*(c.denominator for c in terms.values())), gcd(*(c.numerator for c in terms.values()))
    )
    scale *= 1 if terms[monomials[0]] > 0 else -1
    return tuple((monomial, int(terms[monomial] * scale)) for monomial in monomials)


def exact_ideals() -> BaseIdeals:
    """The Gröbner bases of all base cases, without Macaulay2."""
    return {base: exact_ideal(base) for base in BASE_CASES}


def exact_ideal(base: BaseCase) -> ReducedGroebnerBasis:
    """The reduced Gröbner basis of the fibre ideal of a base case.

    Raises
    ------
    MethodUnavailableError
        If what the multiples of degree ≤ 3 show does not generate the ideal.
    """
    equations = [equation for equation in fibre_equations(base) if equation]
    found = _lowest(_echelon(equations, base.d - 1))
    if any(_remainder(equation, found) for equation in equations):
        raise MethodUnavailableError(
            f"multiples of degree {DEGREE} do not show the ideal of {base}"
        )
    return frozenset(map(primitive, found))


def fibre_equations(base: BaseCase) -> Iterator[Terms]:
    """The equations in z_2, …, z_d; zero where they are used to eliminate the other weights."""
    A, V = representative(base.orbit, base.model)
    z = [_constant(base.d, 1), *(_unknown(base.d, q) for q in range(1, base.d))]
    x = [_plus((1, _constant(base.d, V[0][q])), (-1, z[q])) for q in range(base.d)]
    for k, i in product(range(base.orbit.s), range(base.orbit.r)):
        for p, q in combinations_with_replacement(range(base.d), 2):
            yield _plus(
                (A[0][i] * V[k][p] - V[k][0] * A[p][i], x[q]),
                (A[0][i] * V[k][q] - V[k][0] * A[q][i], x[p]),
                (-2 * V[k][0] * A[0][i], _times(x[p], x[q])),
            )


def _constant(d: int, value: int) -> Terms:
    return {(0,) * (d - 1): Fraction(value)} if value else {}


def _unknown(d: int, q: int) -> Terms:
    return {tuple(int(j == q - 1) for j in range(d - 1)): Fraction(1)}


def _plus(*summands: tuple[int | Fraction, Mapping[Monomial, Fraction]]) -> Terms:
    total: Terms = {}
    for factor, terms in summands:
        for monomial, c in terms.items():
            total[monomial] = total.get(monomial, Fraction(0)) + factor * c
    return {monomial: c for monomial, c in total.items() if c}


def _times(first: Terms, second: Terms) -> Terms:
    return _plus(*((c, _shifted(second, monomial)) for monomial, c in first.items()))


def _shifted(terms: Mapping[Monomial, Fraction], by: Monomial) -> Terms:
    return {
        tuple(e + f for e, f in zip(monomial, by, strict=True)): c for monomial, c in terms.items()
    }


def _echelon(equations: Sequence[Terms], unknowns: int) -> list[Terms]:
    """The reduced echelon form of all multiples up to the degree, the largest monomial first."""
    monomials = sorted(
        (m for m in product(range(DEGREE + 1), repeat=unknowns) if sum(m) <= DEGREE),
        key=order,
        reverse=True,
    )
    multiples = [
        _shifted(equation, m)
        for equation in equations
        for m in monomials
        if sum(m) + max(map(sum, equation)) <= DEGREE
    ]
    rows = [[_rational(multiple.get(m, Fraction(0))) for m in monomials] for multiple in multiples]
    matrix, rank = flint.fmpq_mat(rows).rref()
    entries = ([Fraction(int(c.p), int(c.q)) for c in row] for row in matrix.tolist()[:rank])
    return [{m: c for m, c in zip(monomials, row, strict=True) if c} for row in entries]


def _rational(c: Fraction) -> flint.fmpq:
    return flint.fmpq(c.numerator, c.denominator)


def _lowest(rows: Sequence[Terms]) -> list[Terms]:
    """Those whose leading monomial no other leading monomial divides."""
    leading = {max(row, key=order): row for row in rows}
    return [
        row for m, row in leading.items() if not any(n != m and _divides(n, m) for n in leading)
    ]


def _divides(n: Monomial, m: Monomial) -> bool:
    return all(e <= f for e, f in zip(n, m, strict=True))


def _remainder(terms: Terms, divisors: Sequence[Terms]) -> Terms:
    """What is left when no leading monomial divides any more; nothing only if the divisors generate
    the polynomial.
    """
    while terms:
        leading = max(terms, key=order)
        divisor = next((g for g in divisors if _divides(max(g, key=order), leading)), None)
        if divisor is None:
            return terms
        first = max(divisor, key=order)
        by = tuple(e - f for e, f in zip(leading, first, strict=True))
        terms = _plus((1, terms), (-terms[leading] / divisor[first], _shifted(divisor, by)))
    return terms


# Hilbert series of generators by a Gröbner basis over QQ: the checker's, as a second method for
# tests.


def leading_monomials(
    polynomials: Iterable[dict[Exponents, int]], variables: int
) -> list[Exponents]:
    """The minimal ones, graded reverse lexicographic."""
    context = ring(variables)
    basis = groebner_basis((context.from_dict(polynomial) for polynomial in polynomials), context)
    return minimal(next(iter(g.terms()))[0] for g in basis)


def series_of(generators: Iterable[Terms_leading], variables: int) -> HilbertSeries:
    """Of the quotient by the ideal that they generate."""

    def dense(terms: Terms_leading) -> dict[Exponents, int]:
        return {tuple(monomial.count(j) for j in range(variables)): c for monomial, c in terms}

    numerator, dimension = hilbert_series(
        leading_monomials(map(dense, generators), variables), variables
    )
    return HilbertSeries(tuple(numerator), dimension)


# Polynomials by SymPy alone, independent of the code that is tested.


def substituted(polynomial: PolyElement, images: Sequence[PolyElement]) -> PolyElement:
    """The polynomial with the images in place of its variables."""
    total = images[0].ring.zero
    for exponents, coefficient in polynomial.items():
        product = images[0].ring.ground_new(coefficient)
        for image, exponent in zip(images, exponents, strict=True):
            product *= image**exponent if exponent else 1  # SymPy refuses 0**0
        total += product
    return total

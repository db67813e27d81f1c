"""The critical points in V alone: for fixed V the loss is quadratic in A, which is eliminated.

For a < d the entries of A are not free, so that the loss is not quadratic in them: all is for a ≥ d
and one output. The loss of a function c is ½ cᵀGc − bᵀc + constant; its part with A, a column of
entries, is ½ Aᵀ M(V) A − w(V)ᵀ A, with M(V) = C(V)ᵀ G C(V) and w(V) = C(V)ᵀ b, where C(V) A is the
function of A and V. Over the reals M(V) is positive definite for V ≠ 0, as the function of A and V
is zero only if A or V is. So A = M⁻¹w, and what is left to make critical is F(V) = wᵀ M⁻¹ w, a
rational function of degree zero, F = N/D. Modulo a prime (``reduced``, a :class:`_Reduced`) F has
values, and N and D of the least degree are interpolated from them.

Over the complex numbers points with D = 0 are left out. At the others A is the matrix of forms
D·M⁻¹w up to a factor, if these are forms: they are interpolated as well. A function is in the dense
orbit where this matrix is invertible; V is not zero in the chart.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement, product
from math import comb
from random import Random
from typing import NamedTuple

import flint
from sympy import ZZ
from sympy.polys.rings import PolyElement, PolyRing

from m2bridge.algebra.numbers import without_denominators
from m2bridge.families.attention.orbits.coordinates import bilinear_terms
from m2bridge.families.attention.training_loss.gradient import RankCondition
from m2bridge.families.attention.training_loss.loss import Loss
from m2bridge.limits import check_deadline_in

LARGEST_DEGREE = 12
"""The largest degree of N and D; for standard normal tokens and one output their degree is 6."""
EXTRA_VALUES = 5
"""The number of values beyond those that determine N and D: they do not fit where F is no such
quotient.
"""

MonomialDegrees = tuple[int, ...]
"""The exponents of the entries of V, row by row, in a monomial."""
_MinorsByColumns = dict[frozenset[int], flint.nmod_mpoly]
"""The minors of the first rows of a matrix, by their sets of columns, counted from 0."""


class EliminatedSystem(NamedTuple):
    """Equations for V in a chart, and conditions for functions in the dense orbit."""

    # in the entries of V but the first one, which the chart replaces, and in the inverse z of D
    equations: list[PolyElement]
    conditions: tuple[RankCondition, ...]  # empty if A is not a matrix of forms divided by D


def pays_to_eliminate(loss: Loss) -> bool:
    """Whether A is eliminated: for one output, a ≥ d, and many unknowns of the gradient."""
    shape = loss.shape
    all_of_A = shape.alpha == shape.d  # exactly if a ≥ d
    unknowns = shape.d * (shape.d + shape.d_out) - 1  # A and V in a chart
    # with fewer than 12 the elimination saves no time
    return all_of_A and shape.d_out == 1 and unknowns >= 12


class _Sample(NamedTuple):
    """Some V modulo a prime, with the A that is critical for it, and the value F(V) = wᵀA."""

    V: list[int]  # the entries, row by row
    A: flint.nmod_mat  # the column M(V)⁻¹w(V) of the entries, row by row
    value: int


class _Reduced:
    """The reduced loss F(V) = wᵀM⁻¹w, a function of V alone, with values modulo a prime."""

    def __init__(self, loss: Loss, prime: int) -> None:
        """Take G and b modulo the prime, both times one number, which changes no critical point."""
        self.shape, self.prime = loss.shape, prime
        self.count = loss.shape.independent_count
        numbers = without_denominators([*loss.gram.entries(), *loss.linear.entries()])
        size_of_gram = self.count * self.count
        self.gram = self._matrix(self.count, self.count, numbers[:size_of_gram])
        self.linear = self._matrix(self.count, 1, numbers[size_of_gram:])
        self.variables = loss.shape.d * loss.shape.d_out

    def _matrix(self, rows: int, columns: int, entries: list[int]) -> flint.nmod_mat:
        """The matrix modulo the prime with these entries, row by row."""
        return flint.nmod_mat(rows, columns, [x % self.prime for x in entries], self.prime)

    def sample(self, V: list[int]) -> _Sample | None:
        """The critical A for this V, and F(V); ``None`` where M(V) is not invertible."""
        C = flint.nmod_mat(self.count, self.shape.d**2, self.prime)
        for number, of_A, of_V in bilinear_terms(self.shape):
            C[number, of_A] = V[of_V]
        M = C.transpose() * (self.gram * C)
        w = C.transpose() * self.linear
        try:
            A = M.solve(w)
        except ZeroDivisionError:
            return None
        return _Sample(V, A, int((w.transpose() * A)[0, 0]))

    def random_samples(self, number: int, random: Random) -> list[_Sample]:
        """Samples at random V with invertible M(V); :func:`_degree_on_a_line` found such V."""
        samples: list[_Sample] = []
        while len(samples) < number:
            sample = self.sample(_random_point(self, random))
            if sample is not None:
                samples.append(sample)
        return samples


def eliminated_system(loss: Loss, prime: int, random: Random) -> EliminatedSystem | None:
    """The equations for critical points in V alone, modulo a prime, in a random chart.

    ``None`` if N and D have too large a degree to be interpolated, or are not found modulo this
    prime; and if F is constant, as for d = 1, where nothing of V is left in a chart.
    """
    reduced = _Reduced(loss, prime)
    degree = _degree_on_a_line(reduced, random)
    if degree is None or degree == 0:
        return None
    # of N and D together: the unknowns of a linear system
    coefficients = 2 * comb(degree + reduced.variables - 1, degree)
    if coefficients > 4000:
        return None
    quotient = _interpolate_quotient(reduced, degree, random)
    if quotient is None:
        return None
    N, D = quotient
    chart = _ChartOfV(D.context(), random)
    # F = wᵀA with A = M⁻¹w, and w is linear in V: so D·A has one degree less than N = D·F
    matrix = None
    if reduced.shape.d <= 4:  # the determinant of A is a form of degree 5d in d unknowns
        matrix = _matrix_of_forms(reduced, D, degree - 1, random)
    conditions: tuple[RankCondition, ...] = ()
    if matrix is not None:
        # A is invertible where the determinant, as a matrix of size 1, has rank 1
        determinant = chart.restrict(_determinant(matrix))
        conditions = (RankCondition(name="A", matrix=[[determinant]], rank=1),)
    return EliminatedSystem(_equations(N, D, chart), conditions)


def _degree_on_a_line(reduced: _Reduced, random: Random) -> int | None:
    """The least degree of polynomials N and D with F = N/D on a random line.

    ``None`` if the degree is above LARGEST_DEGREE, or F has no values on the line, as modulo a
    prime that divides G. Values at 2δ + 1 points determine a quotient of degree δ.
    """
    start = _random_point(reduced, random)
    direction = _random_point(reduced, random)
    number = 2 * LARGEST_DEGREE + 1 + EXTRA_VALUES
    values: list[tuple[int, int]] = []  # pairs (s, F(start + s · direction))
    # det M has degree 2 in V for each of the d² entries of A: if it is not zero on the whole line,
    # it is at no more than 2d² of its points
    for s in range(number + 2 * reduced.shape.d**2):
        V = [(x + s * y) % reduced.prime for x, y in zip(start, direction, strict=True)]
        sample = reduced.sample(V)
        if sample is not None:
            values.append((s, sample.value))
        if len(values) == number:
            break
    else:
        return None
    for degree in range(LARGEST_DEGREE + 1):
        # There are such N and D, not both 0, if the matrix of the linear equations N(s) = F(s) D(s)
        # has not full column rank.
        rows = []
        for s, value in values:
            powers = [pow(s, k, reduced.prime) for k in range(degree + 1)]
            rows += powers + [-value * power % reduced.prime for power in powers]
        matrix = flint.nmod_mat(len(values), 2 * (degree + 1), rows, reduced.prime)
        if matrix.rank() < matrix.ncols():
            return degree
    return None


def _random_point(reduced: _Reduced, random: Random) -> list[int]:
    """The entries, not zero, of a random V modulo the prime, row by row."""
    return [random.randrange(1, reduced.prime) for _ in range(reduced.variables)]


def _exponents(variables: int, degree: int) -> list[MonomialDegrees]:
    """The exponents of all monomials of a degree in this number of variables: (2, 0) is x_0²."""
    products = combinations_with_replacement(range(variables), degree)
    return [tuple(map(factors.count, range(variables))) for factors in products]


def _interpolate_quotient(
    reduced: _Reduced, degree: int, random: Random
) -> tuple[flint.nmod_mpoly, flint.nmod_mpoly] | None:
    """The forms N and D of this degree with F = N/D; ``None`` if F is not such a quotient.

    Each random V gives an equation N(V) − F(V) D(V) = 0, linear in the coefficients of N and D. If
    there are such forms, and none of smaller degree, the solutions are the multiples of one.
    """
    prime = reduced.prime
    monomials = _exponents(reduced.variables, degree)
    size = len(monomials)
    samples = reduced.random_samples(2 * size + EXTRA_VALUES, random)
    rows: list[int] = []
    for sample in samples:
        values = _values_of(monomials, sample.V, prime)
        rows += values + [-sample.value * value % prime for value in values]
    equations = flint.nmod_mat(len(samples), 2 * size, rows, prime)
    kernel, nullity = equations.nullspace()
    if nullity != 1:
        return None
    names = [f"x{j}" for j in range(reduced.variables)]
    context = flint.nmod_mpoly_ctx.get(names, modulus=prime)
    solution = [int(kernel[j, 0]) for j in range(2 * size)]
    N = _form(context, monomials, solution[:size])
    D = _form(context, monomials, solution[size:])
    return N, D


def _form(
    context: flint.nmod_mpoly_ctx, monomials: Sequence[MonomialDegrees], coefficients: Sequence[int]
) -> flint.nmod_mpoly:
    """The form with these coefficients, one for each of the monomials."""
    terms = {m: c for m, c in zip(monomials, coefficients, strict=True) if c}
    return context.from_dict(terms)


def _matrix_of_forms(
    reduced: _Reduced, D: flint.nmod_mpoly, degree: int, random: Random
) -> list[list[flint.nmod_mpoly]] | None:
    """The matrix D·A for A = M⁻¹w, if its entries are forms of this degree in V.

    The first values determine the coefficients, and the others have to fit; ``None`` if not so.
    """
    prime, d = reduced.prime, reduced.shape.d
    monomials = _exponents(reduced.variables, degree)
    size = len(monomials)
    samples = reduced.random_samples(size + EXTRA_VALUES, random)
    # a row for each V: the values of all monomials, and of all entries of D·A
    monomial_rows = [_values_of(monomials, sample.V, prime) for sample in samples]
    entry_rows = []
    for sample in samples:
        D_at_V = int(D(*sample.V))
        entry_rows.append([D_at_V * int(entry) % prime for entry in sample.A.entries()])
    first_monomials = flint.nmod_mat(monomial_rows[:size], prime)
    try:
        coefficients = first_monomials.solve(flint.nmod_mat(entry_rows[:size], prime))
    except ZeroDivisionError:
        return None
    if flint.nmod_mat(monomial_rows, prime) * coefficients != flint.nmod_mat(entry_rows, prime):
        return None
    # a row of ``coefficients`` for each monomial, and a column for each entry
    columns = coefficients.transpose().tolist()
    forms = [_form(D.context(), monomials, list(map(int, column))) for column in columns]
    return [forms[d * p : d * p + d] for p in range(d)]


def _determinant(matrix: list[list[flint.nmod_mpoly]]) -> flint.nmod_mpoly:
    """The determinant of a square matrix of forms.

    The minors of the first rows, one for each set of as many columns, are found from those with one
    row less, by expansion along the last row.
    """
    minors: _MinorsByColumns = {frozenset(): matrix[0][0].context().constant(1)}
    for row in matrix:
        larger_minors: _MinorsByColumns = {}
        for (columns, minor), (column, entry) in product(minors.items(), enumerate(row)):
            if column in columns:
                continue
            term = minor * entry
            # the sign of moving the new column after all that follow it
            if sum(other > column for other in columns) % 2:
                term = -term
            with_column = columns | {column}
            if with_column in larger_minors:
                term = larger_minors[with_column] + term
            larger_minors[with_column] = term
        minors = larger_minors
    (determinant,) = minors.values()
    return determinant


def _values_of(monomials: list[MonomialDegrees], V: list[int], prime: int) -> list[int]:
    """The values at V of monomials of one degree modulo a prime."""
    degree = sum(monomials[0])
    powers = [[pow(x, k, prime) for k in range(degree + 1)] for x in V]
    values = []
    for exponents in check_deadline_in(monomials):
        value = 1
        for powers_of_entry, exponent in zip(powers, exponents, strict=True):
            value = value * powers_of_entry[exponent] % prime
        values.append(value)
    return values


class _ChartOfV:
    """The chart where a random linear form in the entries x_j of V is 1: x_0 = 1 − Σ r_j x_j.

    Forms become polynomials over ZZ in x_1, x_2, … (named ``v_1_2``, …) and z, the inverse of D.
    """

    def __init__(self, context: flint.nmod_mpoly_ctx, random: Random) -> None:
        """Take the ring of forms, and draw the coefficients r_j."""
        self.context = context
        first = context.constant(1)
        for generator in context.gens()[1:]:
            first -= random.randrange(1, context.modulus()) * generator
        self.coordinates = [first, *context.gens()[1:]]
        names = [f"v_1_{j + 1}" for j in range(1, len(self.coordinates))]
        self.ring = PolyRing([*names, "z"], ZZ)

    def restrict(self, form: flint.nmod_mpoly) -> PolyElement:
        """A form as a polynomial over ZZ in the ring of the chart, by residues from 0 on."""
        terms = {}
        in_chart = form.compose(*self.coordinates, ctx=self.context)
        for exponents, coefficient in in_chart.to_dict().items():
            # x_0 does not occur any more, and has no variable in the ring; z does not occur yet
            terms[(*map(int, exponents[1:]), 0)] = int(coefficient)
        return self.ring.from_dict(terms)


def _equations(N: flint.nmod_mpoly, D: flint.nmod_mpoly, chart: _ChartOfV) -> list[PolyElement]:
    """The equations for critical points of N/D where D is not zero, in a chart.

    They are (D ∂_j N − N ∂_j D)/g = 0 and z·D/g = 1, where g = gcd(D, ∂D) has the repeated factors
    of D, which divide all numerators. Equations 0 = 0 are left out.
    """
    variables = len(chart.coordinates)
    g = D
    for j in range(variables):
        g = g.gcd(D.derivative(j))
    equations = []
    for j in range(variables):
        # the numerator of ∂_j(N/D), divided by g
        numerator = (D * N.derivative(j) - N * D.derivative(j)) / g
        equations.append(chart.restrict(numerator))
    z = chart.ring.gens[-1]
    equations.append(z * chart.restrict(D / g) - 1)
    return [equation for equation in equations if equation != 0]

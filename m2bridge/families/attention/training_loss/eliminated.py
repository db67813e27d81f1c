"""The critical points in V alone: for fixed V the loss is quadratic in A, which is eliminated.

The part of the loss that depends on A is ½ Aᵀ M(V) A − w(V)ᵀ A, with M(V) = C(V)ᵀ G C(V) and
w(V) = C(V)ᵀ b, where C(V) A is the function of A and V. Over the reals M(V) is positive definite
for V ≠ 0, as f(A, V) = 0 only for A = 0 or V = 0. So A = M⁻¹w, and what is left to make critical is
F(V) = wᵀ M⁻¹ w, a rational function of degree zero, F = N/D. Modulo a prime F has values, and N and
D of the least degree are interpolated from them.

Over the complex numbers points with D = 0 are left out. At the others A is the matrix of forms
D·M⁻¹w up to a factor, if these are forms: they are interpolated as well. A function is in the dense
orbit where this matrix is invertible; V is not zero in the chart.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import comb
from random import Random
from typing import NamedTuple

import flint
from sympy import ZZ
from sympy.polys.rings import PolyElement, PolyRing

from m2bridge.algebra.numbers import without_denominators
from m2bridge.families.attention.orbits.parametrization import indices
from m2bridge.families.attention.training_loss.gradient import RankCondition
from m2bridge.families.attention.training_loss.loss import Loss
from m2bridge.limits import check_deadline_in

LEAST_UNKNOWNS = 12
"""With as many unknowns in the gradient, or more, the elimination saves time."""
MOST_COEFFICIENTS = 4000
"""Of N and D together: they are the unknowns of a linear system."""
LARGEST_DEGREE = 12
"""Of N and D; for standard normal tokens and one output it is 6."""
LARGEST_MATRIX = 4
"""The determinant of A is a form of degree 5d in d unknowns."""
SPARE = 5
"""Values beyond those that determine N and D: where F is not such a quotient, they show it."""

MonomialDegrees = tuple[int, ...]


class EliminatedSystem(NamedTuple):
    """Equations for V in a chart, and conditions for functions in the dense orbit.

    Parameters
    ----------
    equations : list of PolyElement
        With the inverse z of D as last unknown.
    conditions : tuple of RankCondition
        Empty if A is not a matrix of forms divided by D.
    """

    equations: list[PolyElement]
    conditions: tuple[RankCondition, ...]


def pays_to_eliminate(loss: Loss) -> bool:
    """Whether A is eliminated: for one output, a ≥ d, and many unknowns."""
    shape = loss.shape
    unknowns = shape.d * (shape.d + shape.d_out) - 1
    return shape.alpha == shape.d and shape.d_out == 1 and unknowns >= LEAST_UNKNOWNS


class _Reduced:
    """F as a function with values modulo a prime."""

    def __init__(self, loss: Loss, prime: int) -> None:
        self.shape, self.prime = loss.shape, prime
        self.count = loss.shape.independent_count
        numbers = without_denominators([*loss.gram.entries(), *loss.linear.entries()])
        size = self.count * self.count
        self.gram = self._matrix(self.count, self.count, numbers[:size])
        self.linear = self._matrix(self.count, 1, numbers[size:])
        self.variables = loss.shape.d * loss.shape.d_out

    def _matrix(self, rows: int, columns: int, entries: list[int]) -> flint.nmod_mat:
        return flint.nmod_mat(rows, columns, [x % self.prime for x in entries], self.prime)

    def value(self, V: list[int]) -> int | None:
        """F(V); ``None`` where M(V) is not invertible."""
        found = self.critical_matrix(V)
        if found is None:
            return None
        A, w = found
        return int((w.transpose() * A)[0, 0])

    def critical_matrix(self, V: list[int]) -> tuple[flint.nmod_mat, flint.nmod_mat] | None:
        """A = M⁻¹w, and w, as columns; ``None`` where M(V) is not invertible."""
        d = self.shape.d
        C = flint.nmod_mat(self.count, d * d, self.prime)
        for place, (k, i, p, q) in enumerate(indices(self.shape)):
            C[place, p * d + i] = V[k * d + q]
            if p != q:
                C[place, q * d + i] = V[k * d + p]
        M, w = C.transpose() * (self.gram * C), C.transpose() * self.linear
        try:
            return M.solve(w), w
        except ZeroDivisionError:
            return None


def eliminated_system(loss: Loss, prime: int, random: Random) -> EliminatedSystem | None:
    """The critical points in V alone, in a chart; ``None`` if D has too large a degree, or none at
    all, as for d = 1, where nothing of V is left in a chart.

    In the chart a random linear form is 1. With g = gcd(D, ∂D) the equations are
    (D ∂N − N ∂D)/g = 0 and z·D/g = 1.
    """
    reduced = _Reduced(loss, prime)
    degree = _degree_on_a_line(reduced, random)
    if not degree:
        return None
    coefficients = 2 * comb(degree + reduced.variables - 1, degree)
    if coefficients > MOST_COEFFICIENTS:
        return None
    quotient = _interpolated(reduced, degree, random)
    if quotient is None:
        return None
    N, D = quotient
    chart = _Chart.random(D.context(), random)
    conditions = []
    if reduced.shape.d <= LARGEST_MATRIX:
        matrix = _matrix_of_forms(reduced, D, degree - 1, random)
        if matrix is not None:
            invertible = chart.restricted(_determinant(matrix))
            conditions.append(RankCondition(name="A", matrix=[[invertible]], rank=1))
    return EliminatedSystem(_equations(N, D, chart), tuple(conditions))


def _degree_on_a_line(reduced: _Reduced, random: Random) -> int | None:
    """The least degree of numerator and denominator on a random line; ``None`` if it is large.

    Values at 2δ + 1 points determine a quotient of polynomials of degree δ.
    """
    prime = reduced.prime
    points = _random_points(reduced, 2, random)
    start, direction = points[0], points[1]
    values: list[tuple[int, int]] = []
    step = 0
    while len(values) < 2 * LARGEST_DEGREE + 1 + SPARE:
        V = [(x + step * y) % prime for x, y in zip(start, direction, strict=True)]
        value = reduced.value(V)
        if value is not None:
            values.append((step, value))
        step += 1
    for degree in range(LARGEST_DEGREE + 1):
        rows = []
        for place, value in values:
            powers = [pow(place, k, prime) for k in range(degree + 1)]
            rows += powers + [-value * power % prime for power in powers]
        matrix = flint.nmod_mat(len(values), 2 * (degree + 1), rows, prime)
        if matrix.rank() < matrix.ncols():
            return degree
    return None


def _random_points(reduced: _Reduced, number: int, random: Random) -> list[list[int]]:
    return [
        [random.randrange(1, reduced.prime) for _ in range(reduced.variables)]
        for _ in range(number)
    ]


def _exponents(variables: int, degree: int) -> list[MonomialDegrees]:
    """The exponents of all monomials of a degree."""
    products = combinations_with_replacement(range(variables), degree)
    return [tuple(map(factors.count, range(variables))) for factors in products]


def _interpolated(
    reduced: _Reduced, degree: int, random: Random
) -> tuple[flint.nmod_mpoly, flint.nmod_mpoly] | None:
    """The forms N and D of this degree with F = N/D; ``None`` if the values do not fit them.

    They are unique up to a factor if there are such forms and none of smaller degree.
    """
    prime = reduced.prime
    monomials = _exponents(reduced.variables, degree)
    rows: list[int] = []
    count = 0
    while count < 2 * len(monomials) + SPARE:
        V = _random_points(reduced, 1, random)[0]
        value = reduced.value(V)
        if value is None:
            continue
        values = _values_of(monomials, V, prime)
        rows += values + [-value * entry % prime for entry in values]
        count += 1
    matrix = flint.nmod_mat(count, 2 * len(monomials), rows, prime)
    kernel, nullity = matrix.nullspace()
    if nullity != 1:
        return None
    names = [f"x{j}" for j in range(reduced.variables)]
    context = flint.nmod_mpoly_ctx.get(names, modulus=prime)
    solution = [int(kernel[j, 0]) for j in range(2 * len(monomials))]
    forms = []
    for part in (solution[: len(monomials)], solution[len(monomials) :]):
        terms = {m: c for m, c in zip(monomials, part, strict=True) if c}
        forms.append(context.from_dict(terms))
    return forms[0], forms[1]


def _matrix_of_forms(
    reduced: _Reduced, D: flint.nmod_mpoly, degree: int, random: Random
) -> list[list[flint.nmod_mpoly]] | None:
    """The entries of D·M⁻¹w as forms of this degree; ``None`` if the values do not fit them."""
    prime, d = reduced.prime, reduced.shape.d
    monomials = _exponents(reduced.variables, degree)
    rows: list[int] = []
    values: list[list[int]] = []
    while len(values) < len(monomials) + SPARE:
        V = _random_points(reduced, 1, random)[0]
        found = reduced.critical_matrix(V)
        if found is None:
            continue
        factor = int(D(*V))
        rows += _values_of(monomials, V, prime)
        values.append([factor * int(entry) % prime for entry in found[0].entries()])
    size = len(monomials)
    points = flint.nmod_mat(len(values), size, rows, prime)
    wanted = flint.nmod_mat(len(values), d * d, [x for row in values for x in row], prime)
    square = flint.nmod_mat(size, size, rows[: size * size], prime)
    of_square = flint.nmod_mat(size, d * d, [x for row in values[:size] for x in row], prime)
    try:
        coefficients = square.solve(of_square)
    except ZeroDivisionError:
        return None
    if points * coefficients != wanted:
        return None
    forms = []
    for place in range(d * d):
        terms = {m: int(coefficients[row, place]) for row, m in enumerate(monomials)}
        forms.append(D.context().from_dict({m: c for m, c in terms.items() if c}))
    return [forms[d * p : d * p + d] for p in range(d)]


def _determinant(matrix: list[list[flint.nmod_mpoly]]) -> flint.nmod_mpoly:
    """The determinant of a square matrix of forms, row by row, by sets of columns."""
    minors = {frozenset[int](): matrix[0][0].context().constant(1)}
    for row in matrix:
        larger: dict[frozenset[int], flint.nmod_mpoly] = {}
        for columns, minor in minors.items():
            for column, entry in enumerate(row):
                if column in columns:
                    continue
                # the sign is that of moving the new column behind those after it
                later = sum(other > column for other in columns)
                term = minor * entry
                if later % 2:
                    term = -term
                both = columns | {column}
                larger[both] = larger[both] + term if both in larger else term
        minors = larger
    (found,) = minors.values()
    return found


def _values_of(monomials: list[MonomialDegrees], V: list[int], prime: int) -> list[int]:
    """The values of monomials modulo a prime."""
    degree = sum(monomials[0])
    powers = [[pow(x, k, prime) for k in range(degree + 1)] for x in V]
    values = []
    for exponents in check_deadline_in(monomials):
        product = 1
        for line, exponent in zip(powers, exponents, strict=True):
            product = product * line[exponent] % prime
        values.append(product)
    return values


class _Chart:
    """The chart where a random linear form is 1: x_0 = 1 − Σ r_j x_j."""

    def __init__(self, context: flint.nmod_mpoly_ctx, first: flint.nmod_mpoly) -> None:
        self.context = context
        self.coordinates = [first, *context.gens()[1:]]
        names = [f"v_1_{j + 1}" for j in range(1, len(self.coordinates))]
        self.ring = PolyRing([*names, "z"], ZZ)

    @classmethod
    def random(cls, context: flint.nmod_mpoly_ctx, random: Random) -> _Chart:
        """A chart with random coefficients r_j."""
        prime = context.modulus()
        first = context.constant(1)
        for generator in context.gens()[1:]:
            first -= random.randrange(1, prime) * generator
        return cls(context, first)

    def restricted(self, form: flint.nmod_mpoly) -> PolyElement:
        """A form in the coordinates of the chart, in a ring with one more unknown z."""
        terms = {}
        in_chart = form.compose(*self.coordinates, ctx=self.context)
        for exponents, coefficient in in_chart.to_dict().items():
            # z does not occur in the form
            terms[(*map(int, exponents[1:]), 0)] = int(coefficient)
        return self.ring.from_dict(terms)


def _equations(N: flint.nmod_mpoly, D: flint.nmod_mpoly, chart: _Chart) -> list[PolyElement]:
    """The equations for critical points of N/D where D is not zero, in a chart."""
    variables = len(chart.coordinates)
    repeated = D
    for j in range(variables):
        repeated = repeated.gcd(D.derivative(j))
    equations = []
    for j in range(variables):
        derivative = (D * N.derivative(j) - N * D.derivative(j)) / repeated
        equations.append(chart.restricted(derivative))
    z = chart.ring.gens[-1]
    equations.append(z * chart.restricted(D / repeated) - 1)
    return [equation for equation in equations if equation]

"""Polar degrees by counting points in slices: linear algebra, and no theorem about their values.

Rests on: δ_i is the number of points of the source Y on i general hyperplanes at which one of the
hyperplanes of a general linear space of dimension i + 1 is tangent, and that is the dimension of a
cokernel in any large multidegree (docs/polar-degrees.md, proposition-slices).
Proved in: docs/polar-degrees.md.
Computed here: these cokernels for d = 2 and four cases, by ranks modulo a prime. For α = d' = 1 the
map is two-to-one, and its differential is special where k and v are proportional: there points are
left out, and each of the others is counted twice.
On trust: that random forms modulo the prime are general, and that the multidegrees of
LARGE_MULTIDEGREES are large enough, and DETERMINANT_POWER: a test finds the same in larger ones.

Notation. d, d', α, A, V and the coordinates c are those of case.py, all for d = 2.

* Y, the source, is a product of projective spaces, its factors: that of A and that of V, or for
  α = 1, where A = k qᵀ, those of k, of q and of V. n is its dimension.
* Coordinates are multilinear forms on Y, and hyperplanes in the space of the c, general
  combinations of coordinates, are too: "forms". Functions on Y are polynomials with a multidegree,
  one number for each factor. The section is the part of Y on the i hyperplanes, where functions are
  those on Y modulo multiples of the i forms.
* δ_i, the polar degrees, are the numbers of points that "Rests on" names.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations_with_replacement, product
from math import comb
from random import Random
from typing import Any

import flint

from m2bridge.families.attention.checker.case import Case

SLICE_PRIME = 2**31 - 1
"""A Mersenne prime; so large that a random form is special with a probability of about 10^(−8)."""

Monomial = tuple[tuple[int, ...], ...]  # for each factor of Y its variables, in increasing order
# a multilinear form: coefficients, by one variable of each factor
Form = dict[tuple[int, ...], int]
# a row of a matrix by its nonzero entries
Row = dict[int, int]

DETERMINANT_POWER = 2
"""The power of D that is taken, where a high enough one kills the part of the cokernel that lives
where k and v are proportional. That this one is high enough is on trust: a test finds the same
numbers with 3.
"""

LARGE_MULTIDEGREES: dict[tuple[int, int], tuple[int, ...]] = {
    (1, 1): (3, 3, 3),
    (1, 2): (2, 2),
    (2, 1): (4, 4, 2),
    (2, 2): (2, 4),
}
"""For d = 2, by (d', α): a multidegree from which on the cokernel has as many dimensions as there
are points.
"""


MAX_CHEAP_OUTPUTS = 1
"""Points are counted in every certificate on polar degrees up to this number of outputs d'.

That takes hundredths of a second, and seconds for d' = 2: there they are counted if the certificate
has their number, as those of 1.0 do.
"""


def is_counted_always(case: Case) -> bool:
    """Whether certificates have the numbers of points of a case, if points are counted at all."""
    return case.d_out <= MAX_CHEAP_OUTPUTS


def counted_polar_degrees(case: Case) -> list[int | None] | None:
    """The polar degrees δ_n, …, δ_0 of a case, by counting; None where nothing is counted."""
    if case.d != 2 or (case.d_out, case.alpha) not in LARGE_MULTIDEGREES:
        return None
    return list(counted(case.d_out, case.alpha, LARGE_MULTIDEGREES[case.d_out, case.alpha]))


@cache
def counted(d_out: int, alpha: int, degree: tuple[int, ...]) -> tuple[int, ...]:
    """δ_n, …, δ_0 for d = 2, counted by dimensions of cokernels in this multidegree.

    Y has a factor for A, or for k and q, and one for V; ``degree`` has an entry for each. For α =
    d' = 1 the cokernel lives also where k and v are proportional. Elsewhere this locus adds no
    points, as its codimension, d' + 1 or d', is larger than the dimension of the kernel there, one.
    """
    sizes: tuple[int, ...] = (4, 2 * d_out)
    if alpha == 1:
        sizes = (2, 2, 2 * d_out)
    source = Source(sizes=sizes, degree=degree)
    numbers = range(source.dimension, -1, -1)
    if d_out == alpha == 1:
        return tuple(source.number_of_pairs(i) for i in numbers)
    return tuple(source.number_of_points(i) for i in numbers)


@dataclass(frozen=True, kw_only=True)
class Source:
    """The product Y of projective spaces, and the multidegree of the functions on it.

    Parameters
    ----------
    sizes : tuple of int
        The number of variables of each factor: of A, or of k and q, and of V at last.
    degree : tuple of int
        The multidegree: for each factor the degree in its variables.
    """

    sizes: tuple[int, ...]
    degree: tuple[int, ...]

    @property
    def dimension(self) -> int:
        """The dimension n of Y."""
        return sum(self.sizes) - len(self.sizes)

    @cached_property
    def number(self) -> dict[Monomial, int]:
        """The monomials of the multidegree, each with its number: the columns of matrices."""
        return {monomial: j for j, monomial in enumerate(monomials(self.sizes, self.degree))}

    def number_of_points(self, hyperplanes: int) -> int:
        """The number δ_i of points of Y on i general hyperplanes where a further one is tangent.

        The further one is any hyperplane of a general linear space of dimension i + 1, which i + 2
        forms ℓ_j span. It is tangent at a point if all derivatives of the form Σ s_j ℓ_j are zero
        there, with the s_j not all zero. So there are such s exactly where the vectors of the
        derivatives of ℓ_0, …, ℓ_{i+1}, one vector for each variable, do not span all vectors of i +
        2 entries: at the points where the cokernel of these vectors, over functions on the section,
        is not zero. Its dimension in the multidegree is i + 2 times that of the functions, less the
        rank of all multiples of the vectors (docs/polar-degrees.md#proposition-slices).

        On n hyperplanes there are finitely many points. At each of them some hyperplane is tangent,
        as tangency says n + 1 conditions and s has n + 2 entries: so all points are counted, by the
        dimension of the functions.
        """
        restriction, spanning = self._slice(hyperplanes)
        functions = int(restriction.ncols())
        if hyperplanes == self.dimension or functions == 0:
            return functions
        relations = self._relations(spanning, restriction)
        return len(spanning) * functions - rank_of(relations)

    def number_of_pairs(self, hyperplanes: int) -> int:
        """Half of the number of points with k and v not proportional, for d = 2, α = d' = 1.

        They are those where the determinant D of k and v is not zero. Multiplication with D is
        bijective on the part of the cokernel that lives there, and a high power of it is zero on
        the rest; so the rank of this power counts the points: that of the relations with the
        multiples of the power, less that of the relations. For n hyperplanes no point has D = 0.
        """
        restriction, spanning = self._slice(hyperplanes)
        functions = int(restriction.ncols())
        if hyperplanes == self.dimension:
            return functions // 2
        relations = self._relations(spanning, restriction)
        powers = (self._multiples_of_determinant() * restriction).tolist()
        rows = []
        for place, row in product(range(len(spanning)), powers):
            before = [0] * (place * functions)
            after = [0] * ((len(spanning) - 1 - place) * functions)
            rows.append([*before, *map(int, row), *after])
        return (rank_of([*relations, *rows]) - rank_of(relations)) // 2

    def _slice(self, hyperplanes: int) -> tuple[Any, list[Form]]:
        """The restriction to this number of hyperplanes, and forms that span a linear space."""
        random = Random(hyperplanes)
        equations = [self._general_form(random) for _ in range(hyperplanes)]
        spanning = [self._general_form(random) for _ in range(hyperplanes + 2)]
        return self._restriction(equations), spanning

    def _relations(self, spanning: Sequence[Form], restriction: Any) -> list[list[int]]:
        """The multiples of the vectors of derivatives, with the entries of all forms in a row."""
        # for each form a matrix with a row for each vector and multiple, all in the same order
        derivatives = [self._derivatives(form) * restriction for form in spanning]
        relations = []
        for row in zip(*(found.tolist() for found in derivatives), strict=True):
            entries: list[int] = []
            for part in row:
                entries += [int(x) for x in part]
            relations.append(entries)
        return relations

    def _multiples_of_determinant(self) -> Any:
        """The multiples in the multidegree of a power of D = k_1 v_2 − k_2 v_1: a row for each.

        By the binomial theorem D^n = Σ_s (−1)^s C(n, s) (k_1 v_2)^(n−s) (k_2 v_1)^s.
        """
        of_k, of_q, of_V = self.degree  # D has no q
        lower = [of_k - DETERMINANT_POWER, of_q, of_V - DETERMINANT_POWER]
        rows = []
        for monomial in monomials(self.sizes, lower):
            row: Row = {}
            for s in range(DETERMINANT_POWER + 1):
                multiple = monomial
                for _ in range(DETERMINANT_POWER - s):
                    multiple = times(multiple, {0: 0, 2: 1})  # k_1 v_2
                for _ in range(s):
                    multiple = times(multiple, {0: 1, 2: 0})  # k_2 v_1
                row[self.number[multiple]] = (-1) ** s * comb(DETERMINANT_POWER, s)
            rows.append(row)
        return matrix(rows, len(self.number))

    def _general_form(self, random: Random) -> Form:
        """A random combination of the coordinates, which are A_pi V_kq + A_qi V_kp, and A_pi V_kp.

        A_pi is the variable 2 p + i of its factor, or k_p q_i if A = k qᵀ; V_kq is the variable
        2 k + q of the last one.
        """
        form: Form = {}
        pairs = list(combinations_with_replacement(range(2), 2))
        outputs = range(self.sizes[-1] // 2)
        for k, i, (p, q) in product(outputs, range(2), pairs):
            coefficient = random.randrange(1, SLICE_PRIME)
            for row, column in {(p, q), (q, p)}:
                of_a: tuple[int, ...] = (2 * row + i,)
                if len(self.sizes) == 3:
                    of_a = (row, i)
                form[*of_a, 2 * k + column] = coefficient
        return form

    def _restriction(self, equations: Sequence[Form]) -> Any:
        """The matrix that takes functions of the multidegree to functions on a section of Y.

        It has a row for each monomial, and columns by a basis of the functions on the section,
        where the multiples of its equations are zero. In the reduced echelon form of these each
        leading monomial is a combination of the monomials that lead no row: these are the basis.
        """
        lower = [e - 1 for e in self.degree]
        rows = []
        for form, monomial in product(equations, monomials(self.sizes, lower)):
            multiple: Row = {}
            for variables, coefficient in form.items():
                multiple[self.number[times(monomial, dict(enumerate(variables)))]] = coefficient
            rows.append(multiple)
        size = len(self.number)
        reduced, rank = matrix(rows, size).rref()
        leading = []
        column = 0
        for row in range(rank):
            while int(reduced[row, column]) == 0:
                column += 1
            leading.append(column)
        others = sorted(set(range(size)).difference(leading))
        found = flint.nmod_mat(size, len(others), SLICE_PRIME)
        for position, column in enumerate(others):
            found[column, position] = 1
            for row, first in enumerate(leading):
                found[first, position] = -int(reduced[row, column])
        return found

    def _derivatives(self, form: Form) -> Any:
        """The matrix with all multiples, in the multidegree, of the derivatives of a form as rows.

        There is a row for each variable and each monomial that the derivative is multiplied by, in
        an order that is the same for all forms. The derivative by a variable of a factor has the
        degree 0 there, and 1 in the others.
        """
        rows = []
        for factor, size in enumerate(self.sizes):
            lower = [e - 1 for e in self.degree]
            lower[factor] += 1
            for variable in range(size):
                terms = []
                for variables, coefficient in form.items():
                    others = dict(enumerate(variables))
                    if others.pop(factor) == variable:
                        terms.append((others, coefficient))
                for monomial in monomials(self.sizes, lower):
                    row: Row = {}
                    for others, coefficient in terms:
                        row[self.number[times(monomial, others)]] = coefficient
                    rows.append(row)
        return matrix(rows, len(self.number))


def rank_of(rows: Sequence[Sequence[int]]) -> int:
    """The rank of a matrix modulo the prime."""
    entries: list[int] = []
    for row in rows:
        entries += row
    return int(flint.nmod_mat(len(rows), len(rows[0]), entries, SLICE_PRIME).rank())


def monomials(sizes: Sequence[int], degree: Sequence[int]) -> list[Monomial]:
    """The monomials of a multidegree in factors with ``sizes`` variables."""
    factors = []
    for size, e in zip(sizes, degree, strict=True):
        factors.append(list(combinations_with_replacement(range(size), e)))
    return list(product(*factors))


def times(monomial: Monomial, variables: dict[int, int]) -> Monomial:
    """The product of a monomial and variables, at most one of each factor, by its number."""
    parts = list(monomial)
    for factor, variable in variables.items():
        parts[factor] = tuple(sorted((*parts[factor], variable)))
    return tuple(parts)


def matrix(rows: Sequence[Row], size: int) -> Any:
    """The matrix modulo SLICE_PRIME with these rows and ``size`` columns.

    Where there are no rows it has one row of zeros, as FLINT needs one.
    """
    found = flint.nmod_mat(max(1, len(rows)), size, SLICE_PRIME)
    for number, row in enumerate(rows):
        for column, coefficient in row.items():
            found[number, column] = coefficient
    return found

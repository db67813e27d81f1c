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

Notation. Weights A, d × d of rank at most α, and V, d' × d, and the coordinates c, which are
bilinear in them, are as in case.py, all for d = 2. k and q are vectors with A = k qᵀ, and for
d' = 1 V = vᵀ.

* Y, the source, is a product of projective spaces, its factors: of A and of V, or for α = 1,
  where A = k qᵀ, of k, of q and of V. n is its dimension.
* Coordinates are multilinear forms on Y, and hyperplanes in the space of the c, general
  combinations of coordinates, are too: "forms". Functions on Y are polynomials with a multidegree,
  one number for each factor. The section is the part of Y on the i hyperplanes, where functions are
  those on Y modulo multiples of the i forms.
* δ_i, the polar degrees, are the numbers of points that "Rests on" names.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, combinations_with_replacement, islice, product
from operator import add
from random import Random
from typing import Any

import flint

from m2bridge.checker.algebra import PRIME, matrix_modulo, monomials, pivot_columns, rank_modulo
from m2bridge.checker.draws import unpredictable
from m2bridge.families.attention.checker.case import Case

Exponents = tuple[int, ...]  # of all variables, factor by factor
# a row of a matrix: {monomial: coefficient}
Row = dict[Exponents, int]

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


def is_counted_always(case: Case) -> bool:
    """Whether points are counted in every certificate, if they are counted for this case at all.

    That takes hundredths of a second, and seconds for d' = 2: there they are counted if the
    certificate has their number, as in 1.0.
    """
    return case.d_out <= 1


def count_polar_degrees(case: Case) -> list[int | None] | None:
    """The polar degrees δ_n, …, δ_0 of a case, by counting; None where nothing is counted."""
    sizes = (case.d_out, case.alpha)
    if case.d != 2 or sizes not in LARGE_MULTIDEGREES:
        return None
    return list(degrees_by_cokernels(case.d_out, case.alpha, LARGE_MULTIDEGREES[sizes]))


@cache
def degrees_by_cokernels(d_out: int, alpha: int, degree: tuple[int, ...]) -> tuple[int, ...]:
    """δ_n, …, δ_0 for d = 2, as dimensions of cokernels in the multidegree ``degree``.

    The differential has a kernel, of dimension one, where A = k qᵀ and all rows of V are multiples
    of k. In Y this locus has codimension d' for α = 1, and d' + 1 for α = 2. For α = d' = 1 the
    codimension is one, and the cokernel can live also on the locus: so only the points elsewhere
    are counted, as pairs. In the other cases no point is on it (docs/polar-degrees.md,
    proposition-slices).
    """
    sizes: tuple[int, ...] = (4, 2 * d_out)  # the entries of A, 2 × 2, and of V, d' × 2
    if alpha == 1:
        sizes = (2, 2, 2 * d_out)  # of k, of q and of V
    source = Source(sizes=sizes, degree=degree)
    from_n_to_zero = range(source.dimension, -1, -1)
    if d_out == alpha == 1:
        return tuple(source.number_of_pairs(i) for i in from_n_to_zero)
    return tuple(source.number_of_points(i) for i in from_n_to_zero)


@dataclass(frozen=True, kw_only=True)
class Source:
    """The product Y of projective spaces, and the multidegree of the functions on it; ``sizes`` are
    the numbers of variables of the factors: of A, or of k and q, and of V at last.
    """

    sizes: tuple[int, ...]
    degree: tuple[int, ...]

    @property
    def dimension(self) -> int:
        """The dimension n of Y."""
        return sum(self.sizes) - len(self.sizes)

    @cached_property
    def monomials(self) -> list[Exponents]:
        """The monomials of the multidegree, the columns of the matrices of this class."""
        return self._monomials_of(self.degree)

    @cached_property
    def ring(self) -> Any:
        """The ring of polynomials in the variables of all factors, modulo PRIME."""
        ordering = flint.Ordering.degrevlex
        return flint.nmod_mpoly_ctx.get(("x", sum(self.sizes)), modulus=PRIME, ordering=ordering)

    @property
    def variables(self) -> list[list[Any]]:
        """The variables of each factor."""
        unknowns = iter(self.ring.gens())
        return [list(islice(unknowns, size)) for size in self.sizes]

    def _monomials_of(self, degree: Sequence[int]) -> list[Exponents]:
        """The exponents of the monomials of a multidegree."""
        of_factors = []
        for size, e in zip(self.sizes, degree, strict=True):
            of_factors.append(list(monomials(size, e)))
        return [tuple(chain.from_iterable(parts)) for parts in product(*of_factors)]

    def _multiples(self, polynomial: Any, degree: Sequence[int]) -> list[Row]:
        """The multiples of a polynomial, by monomials of a multidegree, in their order."""
        terms = [(exponents, int(c)) for exponents, c in polynomial.to_dict().items()]
        return [
            {tuple(map(add, exponents, monomial)): c for exponents, c in terms}
            for monomial in self._monomials_of(degree)
        ]

    def number_of_points(self, hyperplanes: int) -> int:
        """The number δ_i of points of Y on i general hyperplanes where a further one is tangent, of
        a general linear space, which i + 2 forms ℓ_j span.

        One is tangent at a point if the vectors of ∂ℓ_0/∂x, …, ∂ℓ_{i+1}/∂x, one for each variable
        x, do not span all vectors. The number of these points is the dimension of the cokernel in
        the multidegree: i + 2 times the dimension of the functions on the section, less the rank of
        all multiples of the vectors (docs/polar-degrees.md#proposition-slices). On n hyperplanes
        there are finitely many points, and at each some hyperplane is tangent, as tangency says n +
        1 conditions on n + 2 numbers; functions have as many dimensions as there are points.
        """
        restriction, spanning = self._slice(hyperplanes)
        function_dimension = int(restriction.ncols())  # of functions on the section
        if hyperplanes == self.dimension or function_dimension == 0:
            return function_dimension  # without functions the cokernel is zero, too
        relations = self._relations(spanning, restriction)
        return len(spanning) * function_dimension - rank_modulo(relations)

    def number_of_pairs(self, hyperplanes: int) -> int:
        """Half of the number of points with k and v not proportional, for d = 2, α = d' = 1.

        They are not proportional where D = k_1 v_2 − k_2 v_1 is not zero. On the cokernel of
        ``number_of_points`` multiplication with D is bijective on the part that lives there, and a
        high power of D is zero on the rest: so the rank of this power is the number of points. It
        is the rank of the relations together with all multiples of the power, each in one entry of
        a vector with zeros in the others, less the rank of the relations. On n hyperplanes all
        points have D ≠ 0.
        """
        restriction, spanning = self._slice(hyperplanes)
        function_dimension = int(restriction.ncols())  # of functions on the section
        if hyperplanes == self.dimension:
            return function_dimension // 2
        relations = self._relations(spanning, restriction)
        e = DETERMINANT_POWER
        degree_of_k, degree_of_q, degree_of_V = self.degree
        k, _, v = self.variables
        power = (k[0] * v[1] - k[1] * v[0]) ** e
        multiples = self._multiples(power, (degree_of_k - e, degree_of_q, degree_of_V - e))
        powers_on_section = matrix_modulo(multiples, self.monomials) * restriction
        powers_in_an_entry = []
        for place, function in product(range(len(spanning)), powers_on_section.tolist()):
            zeros_before = [0] * (place * function_dimension)
            zeros_after = [0] * ((len(spanning) - 1 - place) * function_dimension)
            powers_in_an_entry.append([*zeros_before, *map(int, function), *zeros_after])
        rank_with_powers = rank_modulo([*relations, *powers_in_an_entry])
        return (rank_with_powers - rank_modulo(relations)) // 2

    def _slice(self, hyperplanes: int) -> tuple[Any, list[Any]]:
        """The restriction to i = ``hyperplanes`` general hyperplanes, and i + 2 general forms.

        The restriction takes functions of the multidegree to functions on the section of Y: a row
        for each monomial, a column for each element of a basis of functions on the section.
        """
        random = unpredictable()
        equations = [self._general_form(random) for _ in range(hyperplanes)]
        spanning = [self._general_form(random) for _ in range(hyperplanes + 2)]
        # Each row of the reduced echelon form of the multiples of the equations expresses the
        # monomial in which it begins by monomials in which no row begins: these are a basis of the
        # functions on the section.
        size = len(self.monomials)
        degree_of_multiplier = [e - 1 for e in self.degree]
        multiples: list[Row] = []
        for equation in equations:
            multiples += self._multiples(equation, degree_of_multiplier)
        # FLINT needs one row
        reduced, rank = matrix_modulo(multiples or [{}], self.monomials).rref()
        leading = pivot_columns(reduced, rank)
        basis = sorted(set(range(size)).difference(leading))  # columns, as ``leading``
        restriction = flint.nmod_mat(size, len(basis), PRIME)
        for position, column in enumerate(basis):
            restriction[column, position] = 1
            for row, leading_column in enumerate(leading):
                # the row, which is zero on the section, says that the leading monomial is minus the
                # sum of its entries times the monomials of the basis
                restriction[leading_column, position] = -int(reduced[row, column])
        return restriction, spanning

    def _relations(self, spanning: Sequence[Any], restriction: Any) -> list[list[int]]:
        """The relations, modulo which vectors of functions are the cokernel, as rows: a
        monomial times the vector of ∂ℓ/∂x for the forms ℓ in ``spanning`` and one variable x.
        """
        # For each form a matrix whose rows are monomials times derivatives of the form. Row j has
        # the same monomial and the same variable for all forms.
        matrices = [self._derivatives(form) * restriction for form in spanning]
        relations = []
        for functions in zip(*(derivatives.tolist() for derivatives in matrices), strict=True):
            relation: list[int] = []
            for coefficients in functions:
                relation += [int(coefficient) for coefficient in coefficients]
            relations.append(relation)
        return relations

    def _general_form(self, random: Random) -> Any:
        """A random combination of the coordinates A_pi V_kq + A_qi V_kp, and A_pi V_kp; A_pi is the
        variable 2 p + i of the factor of A, or k_p q_i, and V_kq the variable 2 k + q of the last
        factor.
        """
        *of_A, V = self.variables
        form = self.ring.constant(0)
        pairs = list(combinations_with_replacement(range(2), 2))
        for k, i, (p, q) in product(range(len(V) // 2), range(2), pairs):
            coefficient = random.randrange(1, PRIME)
            for row, column in {(p, q), (q, p)}:  # one pair only if p = q
                A_entry = of_A[0][2 * row + i] if len(of_A) == 1 else of_A[0][row] * of_A[1][i]
                form += coefficient * A_entry * V[2 * k + column]
        return form

    def _derivatives(self, form: Any) -> Any:
        """The multiples, in the multidegree, of the derivatives of a form, in one order for all
        forms.
        """
        rows: list[Row] = []
        first = 0  # the number of the first variable of the factor
        for factor, size in enumerate(self.sizes):
            degree_of_multiplier = [e - 1 for e in self.degree]
            degree_of_multiplier[factor] += 1
            for variable in range(first, first + size):
                rows += self._multiples(form.derivative(variable), degree_of_multiplier)
            first += size
        return matrix_modulo(rows, self.monomials)

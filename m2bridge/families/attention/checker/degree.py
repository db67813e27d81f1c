"""The degree of the source P(D_α) × P(V), by paths and in a second way.

Rests on: the degree of a Segre variety, and Gröbner bases of minors.
Proved in: docs/mathematics.md (theorem-degree, lemma-paths, and checker-fibres).
Computed here: the degree in two ways.
On trust: nothing that is not proved there.

Notation. As in case.py: D_α is the set of the d × d matrices A of rank at most α, P(D_α) its
projective variety, P(V) the projective space of all d' × d matrices V, and P(D_α) × P(V) the
source of the map f, whose image is "the closure" of a case. Coordinates are bilinear in A and V.
"""

from collections.abc import Sequence
from math import comb

import flint

from m2bridge.errors import ContradictionError
from m2bridge.families.attention.checker.case import Case
from m2bridge.families.attention.checker.schur import determinantal_dimension

MAX_HILBERT_VALUES = 40
"""The largest dim D_α for which deg P(D_α) is compared with a Hilbert function: above, its values
take longer than all the rest of a check.
"""


def source_degree(degree_of_determinantal: int, dimension: int, case: Case) -> int:
    """The degree C(δ_A + δ_V, δ_V) deg P(D_α) of the source under forms of bidegree (1, 1), by the
    dimensions of P(D_α) and P(V) (docs/mathematics.md#theorem-degree); as fibres are finite, δ_A +
    δ_V is one less than the ``dimension`` of the closure as a cone.
    """
    delta_v = case.d * case.d_out - 1
    return comb(dimension - 1, delta_v) * degree_of_determinantal


def check_source_degree(degree: int, dimension: int, case: Case) -> None:
    """Compute the degree of the source by a second method; ContradictionError if it differs.

    For α = 1 and α = d the source is a Segre variety; for 1 < α < d the degree of P(D_α) is taken
    from its Hilbert function, unless that takes too long: then nothing is compared.
    """
    if case.alpha in (1, case.d):
        again = section_points(case)
    elif case.alpha * (2 * case.d - case.alpha) <= MAX_HILBERT_VALUES:
        again = source_degree(degree_by_values(case.d, case.alpha), dimension, case)
    else:
        return
    if again != degree:
        raise ContradictionError(
            f"{case}: the source has degree {degree} by paths, and {again} in another way"
        )


def paths(d: int, alpha: int) -> int:
    """The degree of P(D_α), as a number of families of α paths in a d × d square that do not meet.

    From (i, 1) to (1, j) there are C(i + j − 2, i − 1) paths, and the determinant of these numbers
    for d − α < i, j ≤ d counts the families (Lindström, Gessel, Viennot;
    docs/mathematics.md#lemma-paths).
    """
    ends = range(d - alpha, d)  # indices i and j here begin with 0
    numbers = [[comb(i + j, i) for j in ends] for i in ends]
    return int(flint.fmpz_mat(numbers).det())


def degree_by_values(d: int, alpha: int) -> int:
    """The degree of P(D_α), the D-th difference of its Hilbert function h(n) = Σ (dim S_λ K^d)²
    over the partitions λ of n with at most α parts (Cauchy's formula), D = dim D_α − 1.

    D_α is Cohen–Macaulay with a negative a-invariant, so h is a polynomial for all n ≥ 0, of degree
    D and with the leading coefficient deg / D!.
    """
    dimension = alpha * (2 * d - alpha)
    return last_difference([determinantal_dimension(d, alpha, n) for n in range(dimension)])


def last_difference(h: Sequence[int]) -> int:
    """The D-th difference Σ (−1)^(D − n) C(D, n) h(n) of h(0), …, h(D)."""
    D = len(h) - 1
    return sum((-1) ** (D - n) * comb(D, n) * value for n, value in enumerate(h))


def section_points(case: Case) -> int:
    """The degree of the source for α = d or α = 1: the points of a linear section of a Segre
    variety.

    For α = d its points are pairs of polynomials A(T) and V(T) with d² and d d' coefficients, and
    the section says that A(T) V(T) is a multiple of a given polynomial with simple roots: there are
    as many as ways to distribute its roots. For α = 1 three factors share the roots
    (docs/mathematics.md#checker-fibres).
    """
    roots_of_factors = [case.d**2 - 1, case.d * case.d_out - 1]
    if case.alpha == 1:
        roots_of_factors = [case.d - 1, case.d - 1, case.d * case.d_out - 1]
    factorizations = 1
    roots_left = sum(roots_of_factors)
    for roots in roots_of_factors:
        factorizations *= comb(roots_left, roots)
        roots_left -= roots
    return factorizations

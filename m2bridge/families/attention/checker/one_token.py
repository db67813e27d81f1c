"""The closure for one token: its dimension and its degree, without any equations.

Rests on: for t = 1 functions are (q v_1, …, q v_d'), where q is any quadratic form of rank at most
s = min(2α, d) over the complex numbers.
Proved in: docs/mathematics.md (proposition-upper-bounds, proposition-one-token-degree).
Computed here: the rank of the differential at one point modulo a prime, which has to be the upper
bound for the dimension; the degree of the quadratic forms of rank at most s by a product of
binomials, and from their Hilbert function.
On trust: the dimensions of Schur functors in the functions on these forms; Harris and Tu.

Notation. As in case.py: weights are a d × d matrix A of rank at most α, and a d' × d matrix V with
rows v_k; q is the quadratic form yᵀAy. Q_s are the quadratic forms of rank at most s in d
variables, as symmetric matrices; P(Q_s) is projective, and P(V) the projective space of all V.
"""

from functools import lru_cache
from math import comb, prod

from m2bridge.checker import algebra
from m2bridge.checker.draws import unpredictable
from m2bridge.errors import ContradictionError
from m2bridge.families.attention.checker.case import Case, images
from m2bridge.families.attention.checker.degree import MAX_HILBERT_VALUES, last_difference
from m2bridge.families.attention.checker.schur import partitions, schur_dimension


def dimension(case: Case) -> int:
    """The dimension of the closure: of Q_s and all V, less one for (λq, V/λ), at most, and at least
    the rank of the differential modulo a prime; ContradictionError if these differ.
    """
    upper = _dimension_of_forms(case.d, _largest_rank(case)) + case.d * case.d_out - 1
    lower = _rank_of_differential(case)
    if lower != upper:
        raise ContradictionError(
            f"{case}: the dimension is at most {upper}, and the differential has the rank {lower}"
        )
    return upper


def degree(case: Case) -> int:
    """The degree of the closure, the image of P(Q_s) × P(V) under forms of bidegree (1, 1).

    A generic fibre is one point, as q is the greatest common divisor of the outputs; but for d' = 1
    and s = 2 there are three, as the function is the product of three linear forms, and v can be
    each.
    """
    rank = _largest_rank(case)
    dimension_q = _dimension_of_forms(case.d, rank) - 1  # of P(Q_s)
    dimension_v = case.d * case.d_out - 1  # of P(V)
    points_of_fibre = 3 if case.d_out == 1 and rank == 2 else 1
    degree_of_segre = comb(dimension_q + dimension_v, dimension_v)
    degree_of_source = degree_of_segre * _degree_of_forms(case.d, rank)
    return degree_of_source // points_of_fibre


def _largest_rank(case: Case) -> int:
    """The largest rank s of yᵀAy, a sum of α products of two linear forms in d variables."""
    return min(2 * case.alpha, case.d)


def _dimension_of_forms(d: int, rank: int) -> int:
    """The dimension of Q_s as a cone: a form of rank s is one on a quotient of dimension s."""
    return rank * (d - rank) + comb(rank + 1, 2)


@lru_cache(maxsize=8)
def _rank_of_differential(case: Case) -> int:
    """The rank of the differential of the coordinates at random weights, modulo a prime."""
    coordinates = list(images(case.d_out, case.d, case.d, case.alpha, case.t).values())
    random = unpredictable()
    number_of_weights = coordinates[0].context().nvars()
    weights = [random.randrange(algebra.PRIME) for _ in range(number_of_weights)]
    jacobian = []
    for coordinate in coordinates:
        row = [int(coordinate.derivative(j)(*weights)) for j in range(number_of_weights)]
        jacobian.append(row)
    return algebra.rank_modulo(jacobian)


@lru_cache(maxsize=8)
def _degree_of_forms(d: int, rank: int) -> int:
    """The degree of P(Q_s), the product of C(d + i, d − s − i) / C(2i + 1, i) over i < d − s
    (Harris and Tu, Topology 23, 1984, Proposition 12); ContradictionError if, where that is cheap,
    the Hilbert function gives another.
    """
    numerator = prod(comb(d + i, d - rank - i) for i in range(d - rank))
    denominator = prod(comb(2 * i + 1, i) for i in range(d - rank))
    degree = numerator // denominator
    if _dimension_of_forms(d, rank) <= MAX_HILBERT_VALUES:
        again = degree_by_values(d, rank)
        if again != degree:
            raise ContradictionError(
                f"forms of rank {rank} in {d} variables: degree {degree}, by values {again}"
            )
    return degree


def degree_by_values(d: int, rank: int) -> int:
    """The degree of P(Q_s), the D-th difference of its Hilbert function h(n), D = dim Q_s − 1.

    h(n) = Σ dim S_2λ K^d over the partitions λ of n with at most s parts; 2λ has the doubled parts.
    Functions on Q_s are the invariants of the orthogonal group in functions on s × d matrices, so
    Cohen–Macaulay with a negative a-invariant (Hochster, Roberts; Knop, J. Algebra 127, 1989), and
    h is a polynomial for all n ≥ 0, of degree D and with the leading coefficient deg / D!.
    """
    h = []
    for n in range(_dimension_of_forms(d, rank)):
        doubled = [tuple(2 * part for part in shape) for shape in partitions(n, rank, n)]
        h.append(sum(schur_dimension(shape, d) for shape in doubled))
    return last_difference(h)

"""The fibre schemes by exact linear algebra, independently of Macaulay2 and of the checker: a third
method for tests.

As in ``m2scripts/fibres.m2``: on the chart A_11 = V_11 = 1, where the whole projective fibre lies,
the unknowns are z = (1, z_2, …, z_d), the first row of V. The coordinates c_{1,i,{1,q}} and
c_{k,1,{1,q}} then give

    A_qi = C_{1,i,{1,q}} − A_1i z_q,    V_kq = C_{k,1,{1,q}} − V_k1 A_q1    (C: the coordinate c, doubled for p = q),

and all other coordinates are quadrics in z. Columns i > r of A and rows k > s of V vanish on the
whole fibre, since l_i v_1 = 0 and l_1 v_k = 0 with l_1, v_1 ≠ 0. So rk A ≤ r ≤ α holds there by
itself and no minors are needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import lcm

from m2bridge.algebra.linear_algebra import pivot_columns, rank
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits.coordinates import function_coordinates, sparse_matrix
from m2bridge.families.attention.orbits.fibres import Fibre
from m2bridge.families.attention.orbits.orbits import Orbit, representative

Vector = Sequence[int | Fraction]
Matrix = list[list[Fraction]]


def fibre_scheme(orbit: Orbit, model: SingleLayerAttention) -> Fibre | None:
    """The fibre over the orbit's representative; ``None`` if :func:`scheme` does not decide it."""
    return scheme(list(fibre_equations(orbit, model)), model.d - 1)


def fibre_equations(orbit: Orbit, model: SingleLayerAttention) -> Iterator[list[int]]:
    """Quadrics in z_2, …, z_d, as lists of coefficients in the order of
    :func:`quadratic_monomials`.
    """
    d = model.d
    coordinates = function_coordinates(*map(sparse_matrix, representative(orbit, model)))

    def c(k: int, i: int, p: int, q: int) -> int:
        return coordinates.get((k, i, min(p, q), max(p, q)), 0) * (2 if p == q else 1)

    def affine(constant: int, slope: int, form: Vector) -> list[int]:
        return [constant * (j == 0) - slope * int(x) for j, x in enumerate(form)]

    z = [[int(j == q) for j in range(d)] for q in range(d)]
    A = [
        [affine(c(0, i, 0, q), c(0, i, 0, 0) // 2, z[q]) for i in range(orbit.r)] for q in range(d)
    ]
    V = [
        [affine(c(k, 0, 0, q), c(k, 0, 0, 0) // 2, A[q][0]) for q in range(d)]
        for k in range(orbit.s)
    ]
    for k, i, p, q in product(range(orbit.s), range(orbit.r), range(d), range(d)):
        if p <= q:
            first, second = _product(V[k][p], A[q][i]), _product(V[k][q], A[p][i])
            equation = [int(x + y) for x, y in zip(first, second, strict=True)]
            equation[-1] -= c(k, i, p, q)
            yield equation


def quadratic_monomials(unknowns: int) -> list[tuple[int, int]]:
    """The monomials z_p z_q with 1 ≤ p ≤ q, then the unknowns (0, q), then 1 = (0, 0)."""
    pairs = [(p, q) for p in range(1, unknowns + 1) for q in range(p, unknowns + 1)]
    return pairs + [(0, q) for q in range(1, unknowns + 1)] + [(0, 0)]


def _product(first: Vector, second: Vector) -> list[int | Fraction]:
    """The product of two affine forms Σ a_p z_p with z_0 = 1."""
    return [
        first[p] * second[q] + (first[q] * second[p] if p != q else 0)
        for p, q in quadratic_monomials(len(first) - 1)
    ]


def scheme(equations: Sequence[Vector], unknowns: int) -> Fibre | None:
    """Length and number of points of the scheme of some quadrics, if linear algebra in degree ≤ 3
    decides them.

    Linear forms among the equations eliminate unknowns. Once all monomials of degree 2 are
    expressed by those of degree ≤ 1, the two ways to multiply by z_p z_q give further linear forms;
    when there are none, the multiplications commute, and 1 and the unknowns are a basis of the
    coordinate ring.

    Source: Mourrain, *A new criterion for normal form algorithms*, AAECC 1999 (commuting
    multiplications); Cox, Little, O'Shea, *Using Algebraic Geometry*, Theorem 2.5.2 (the rank of
    the trace form is the number of points).
    """
    while True:
        pivots, rows = pivot_columns([_integral(row) for row in equations])
        quadrics = unknowns * (unknowns + 1) // 2
        if quadrics + unknowns in pivots:
            return Fibre(0, 0)
        at = dict(zip(pivots, rows, strict=True))
        linear = {
            pivot - quadrics + 1: row[quadrics:] for pivot, row in at.items() if pivot >= quadrics
        }
        if linear:
            equations, unknowns = _eliminated(rows, linear, unknowns)
            continue
        if len(rows) < quadrics:
            return None
        tables = _multiplications(rows, unknowns)
        further = _commutators(tables)
        if not further:
            return Fibre(
                unknowns + 1,
                rank([_integral([_trace(_times(M, N)) for N in tables]) for M in tables]),
            )
        equations = rows + [[Fraction(0)] * quadrics + form[1:] + form[:1] for form in further]


def _eliminated(
    rows: Matrix, linear: dict[int, list[Fraction]], unknowns: int
) -> tuple[list[Vector], int]:
    """The equations after z_p = −(the rest of the linear form) for each p in ``linear``."""
    kept = [0, *(q for q in range(1, unknowns + 1) if q not in linear)]

    def image(p: int) -> Vector:
        if p in linear:
            *slopes, constant = linear[p]
            return [-constant, *(-slopes[q - 1] for q in kept[1:])]
        return [int(q == p) for q in kept]

    images = [image(p) for p in range(unknowns + 1)]
    products = [_product(images[p], images[q]) for p, q in quadratic_monomials(unknowns)]
    substituted: list[Vector] = [
        [
            sum((c * x for c, x in zip(row, column, strict=True) if c), Fraction(0))
            for column in zip(*products, strict=True)
        ]
        for row in rows
    ]
    return substituted, len(kept) - 1


def _multiplications(rows: Matrix, unknowns: int) -> list[Matrix]:
    """Multiplication by 1, z_1, … on the basis 1, z_1, …; row b of each holds the image of the
    element b.
    """
    normal = {
        pair: [-row[-1], *(-x for x in row[len(rows) : -1])]
        for pair, row in zip(quadratic_monomials(unknowns), rows, strict=False)
    }
    for q in range(unknowns + 1):
        normal[0, q] = [Fraction(j == q) for j in range(unknowns + 1)]
    indices = range(unknowns + 1)
    return [[normal[min(p, q), max(p, q)] for q in indices] for p in indices]


def _commutators(tables: list[Matrix]) -> Matrix:
    """The affine forms b z_p z_q − b z_q z_p that are not zero as written; they lie in the
    ideal.
    """
    forms = (
        [x - y for x, y in zip(first, second, strict=True)]
        for M, N in combinations(tables, 2)
        for first, second in zip(_times(M, N), _times(N, M), strict=True)
    )
    return [form for form in forms if any(form)]


def _times(M: Matrix, N: Matrix) -> Matrix:
    columns = list(zip(*N, strict=True))
    return [
        [
            sum((x * y for x, y in zip(row, column, strict=True) if x), Fraction(0))
            for column in columns
        ]
        for row in M
    ]


def _trace(M: Matrix) -> Fraction:
    return sum((M[j][j] for j in range(len(M))), Fraction(0))


def _integral(row: Vector) -> list[int]:
    """A multiple of the row with integer entries."""
    scale = lcm(*(Fraction(x).denominator for x in row))
    return [int(x * scale) for x in row]

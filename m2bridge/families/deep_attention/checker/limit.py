"""A limit of networks of widths (3, 3, 3) that is no network, by its factors; docs/deep-attention.md, 7, Not closed.

P = S A_1 S A_1ᵀ S A_2 S A_1 for M = 1, A_1 = kqᵀ + εN and A_2 = Z skew is ε f + O(ε²). A network with A_1 skew and
A_2 = bcᵀ has the function (M S A_1 S A_1ᵀ S b)(cᵀ S A_1), a column of degree 3 in S times a row of degree 1.
"""

from collections.abc import Sequence
from itertools import product as pairs
from typing import Any

import flint

from m2bridge.checker.algebra import ring
from m2bridge.families.deep_attention.checker.fibres import Matrix, product, transposed

Column = list[Any]


def limit_outside() -> dict[str, bool]:
    """What shows that f is no network."""
    epsilon, *s = ring(7).gens()
    zero, one = 0 * epsilon, 0 * epsilon + 1
    S = [[s[0], s[1], s[2]], [s[1], s[3], s[4]], [s[2], s[4], s[5]]]
    A = [[zero, one, zero], [zero] * 3, [epsilon, 2 * epsilon, epsilon]]
    Z = [[0, 0, 1], [0, 0, 1], [-1, -1, 0]]
    parts = [[divmod(x, epsilon) for x in row] for row in product(S, A, S, transposed(A), S, Z, S, A)]
    f = [[_at_zero(quotient) for quotient, _ in row] for row in parts]
    column, row = S[0], [divmod(x, S[0][0])[0] for x in f[0]]  # Sk for the first unit vector k
    rank_one = all(f[i][j] == column[i] * row[j] for i, j in pairs(range(3), repeat=2)) and any(x != 0 for x in row)
    return {
        "networks_for_all_epsilon": all(rest == 0 for entries in parts for _, rest in entries),
        "columns_span": bool(_coefficients(f).rank() == 3),
        "rank_one": rank_one,
        "vanishes_on_one_token": all(x == 0 for x in _on_one_token(f)),
        "no_network": rank_one and _no_network(S, column, row),
    }


def _no_network(S: Matrix, column: Column, row: Column) -> bool:
    """Whether column times row is the function of no network with A_1 skew-symmetric, A_2 of rank one, M invertible.

    The entries of the column have no common factor, those of the row have h. So the linear part row/h is cᵀSA_1 up to a
    number. With A_1 = [w]_× it determines cwᵀ up to multiples of the unit matrix, so that one c and w belong to it. And
    h·column is MSA_1SA_1ᵀSb, linear equations for b and M⁻¹: they have no solution with b ≠ 0 if the columns that b
    multiplies are independent of those that M⁻¹ does.
    """
    h = row[0].gcd(row[1]).gcd(row[2])
    if column[0].gcd(column[1]).gcd(column[2]) != 1 or h.total_degree() != 2:
        return False
    products = [product([S[i]], _skew(_unit(j)))[0] for i, j in pairs(range(3), repeat=2)]
    units = [x + y + z for x, y, z in zip(products[0], products[4], products[8], strict=True)]
    if _coefficients(products).rank() != 8 or any(x != 0 for x in units):
        return False
    A = _skew((-1, 0, 1))  # with the second unit vector c
    if [x * h for x in product([S[1]], A)[0]] != row:
        return False
    of_b = [transposed(product(S, A, S, transposed(A), S, transposed([_unit(i)])))[0] for i in range(3)]
    of_inverse = [[h * x if p == q else 0 * h for q in range(3)] for p in range(3) for x in column]
    return bool(_coefficients(of_b + of_inverse).rank() == 3 + _coefficients(of_inverse).rank())


def _unit(i: int) -> list[int]:
    return [int(i == j) for j in range(3)]


def _skew(w: Sequence[int]) -> Matrix:
    """The matrix of the vector product with w."""
    return [[0, w[2], -w[1]], [-w[2], 0, w[0]], [w[1], -w[0], 0]]


def _coefficients(rows: Sequence[Column]) -> Any:
    """The coefficients of all entries, a row for each row."""
    monomials = sorted({tuple(e) for row in rows for x in row for e, _ in x.terms()})
    return flint.fmpz_mat([[int(x[e]) for x in row for e in monomials] for row in rows])


def _at_zero(polynomial: Any) -> Any:
    """At ε = 0, the first variable."""
    return polynomial.context().from_dict({e: c for e, c in polynomial.terms() if not e[0]})


def _on_one_token(f: Matrix) -> Column:
    """f(xxᵀ)x."""
    epsilon, *x = ring(7).gens()
    values = [epsilon, *(x[i] * x[j] for i in range(3) for j in range(i, 3))]
    return [sum(entry.compose(*values) * y for entry, y in zip(row, x, strict=False)) for row in f]

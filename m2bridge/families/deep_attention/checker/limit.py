"""A limit of networks that is no network: lightning attention of two layers is not closed.

*Theorem* (proposition-not-closed in docs/deep-attention.md, whose notation this is): for widths
(3, 3, 3), a_1, a_2 ≥ 2 and t ≥ 3 the limit f of the networks P/ε is no network.

*Checked here*, for the example of the proof (k = e_1, n = e_3, q = e_2, p = e_1 + 2e_2 + e_3): that
f is a limit, the three facts from which steps 2 and 3 conclude that A_1 is skew-symmetric, A_2 of
rank one and M invertible, and that there is no such network. The last is shown by unique
factorization and linear equations; the program shows it by a Gröbner basis.

*Taken on trust*: steps 2 and 3, which say something about all networks.
"""

from collections.abc import Sequence
from typing import Any

import flint

from m2bridge.checker.algebra import ring
from m2bridge.families.deep_attention.checker.matrices import Matrix, product, transposed

Column = list[Any]


def limit_outside() -> dict[str, bool]:
    """The facts which show that f is a limit of networks, and no network.

    For ε ≠ 0 the function P(S) = S A_1 S A_1ᵀ S Z S A_1 is a network with A_1 = k qᵀ + ε n pᵀ,
    A_2 = Z skew-symmetric and M = 1, and so is P/ε, with M = 1/ε.
    """
    epsilon, *s = ring(7).gens()
    zero = 0 * epsilon
    one = zero + 1
    S = [[s[0], s[1], s[2]], [s[1], s[3], s[4]], [s[2], s[4], s[5]]]
    A = [[zero, one, zero], [zero, zero, zero], [epsilon, 2 * epsilon, epsilon]]
    Z = [[0, 0, 1], [0, 0, 1], [-1, -1, 0]]
    divisible = True
    f = []
    for row in product(S, A, S, transposed(A), S, Z, S, A):
        quotients = []
        for entry in row:
            quotient, rest = divmod(entry, epsilon)
            divisible = divisible and rest == 0
            quotients.append(_at_zero(quotient))
        f.append(quotients)
    # f is the column S k, and k is the first unit vector, times this row
    column = S[0]
    factors = [divmod(entry, S[0][0])[0] for entry in f[0]]
    rank_one = f == [[x * y for y in factors] for x in column] and any(y != 0 for y in factors)
    return {
        "networks_for_all_epsilon": divisible,
        # no combination of the rows of f is zero for all S
        "columns_span": bool(_limit_coefficients(f).rank() == 3),
        "rank_one": rank_one,
        "vanishes_on_one_token": all(x == 0 for x in _on_one_token(f)),
        "no_network": rank_one and _no_network(S, column, factors),
    }


def _no_network(S: Matrix, column: Column, row: Column) -> bool:
    """Whether column times row is no network with A_1 = [w]_×, A_2 = b cᵀ and invertible M.

    Such a network is the column M S A_1 S A_1ᵀ S b of cubic forms times the row cᵀ S A_1 of linear
    forms (step 4).
    """
    h = row[0].gcd(row[1]).gcd(row[2])
    if not _is_unique(column, h):
        return False
    # Then cᵀ S A_1 is row/h and M S A_1 S A_1ᵀ S b is h times the column, up to numbers. The second
    # unit vector c and w = p × q have this row; no others have, if c and w are determined by it.
    A = _skew((-1, 0, 1))
    if [x * h for x in product([S[1]], A)[0]] != row or not _row_determines_c_and_w(S):
        return False
    # for b = 0 the network is zero
    return _only_zero(S, A, [h * x for x in column])


def _is_unique(column: Column, h: Any) -> bool:
    """Whether column times row, with h the greatest common divisor of the row, is in one way so.

    If the entries of the column have no common factor, and h is quadratic, the only product of a
    column of cubic forms and a row of linear forms that is the same is that of h · column and
    row/h, up to numbers.
    """
    common = column[0].gcd(column[1]).gcd(column[2])
    return bool(common == 1 and h.total_degree() == 2)


def _row_determines_c_and_w(S: Matrix) -> bool:
    """Whether the row cᵀ S [w]_× determines c and w up to numbers.

    It depends linearly on the matrix c wᵀ. If the kernel is spanned by the unit matrix, c wᵀ is
    known up to a number: two matrices of rank one do not differ by an invertible one.
    """
    rows = []
    of_unit_matrix = [0 * S[0][0]] * 3
    for i in range(3):
        for j in range(3):
            image = product([S[i]], _skew(_unit(j)))[0]
            rows.append(image)
            if i == j:
                of_unit_matrix = [x + y for x, y in zip(of_unit_matrix, image, strict=True)]
    return bool(_limit_coefficients(rows).rank() == 8 and all(x == 0 for x in of_unit_matrix))


def _only_zero(S: Matrix, A: Matrix, column: Column) -> bool:
    """Whether S A S Aᵀ S b = M⁻¹ column has solutions with b = 0 only.

    These are linear equations for b and M⁻¹. It has if what the entries of b multiply is
    independent, modulo all that the entries of M⁻¹ multiply.
    """
    of_b = []
    for i in range(3):
        image = product(S, A, S, transposed(A), S, transposed([_unit(i)]))
        of_b.append(transposed(image)[0])
    of_inverse = []
    for i in range(3):
        of_inverse += [[x * entry for entry in _unit(i)] for x in column]
    together = _limit_coefficients(of_b + of_inverse).rank()
    return bool(together == 3 + _limit_coefficients(of_inverse).rank())


def _unit(i: int) -> list[int]:
    """The unit vector e_(i+1)."""
    return [int(i == j) for j in range(3)]


def _skew(w: Sequence[int]) -> Matrix:
    """The matrix A of the vector product with w: xᵀ A = (w × x)ᵀ."""
    return [[0, w[2], -w[1]], [-w[2], 0, w[0]], [w[1], -w[0], 0]]


def _limit_coefficients(rows: Sequence[Column]) -> Any:
    """The coefficients of all entries of each row, in one row: linear relations are the same."""
    found = set[tuple[int, ...]]()
    for row in rows:
        for entry in row:
            found.update(tuple(exponents) for exponents, _ in entry.terms())
    monomials = sorted(found)
    return flint.fmpz_mat([_in_one_row(row, monomials) for row in rows])


def _in_one_row(entries: Column, monomials: list[tuple[int, ...]]) -> list[int]:
    return [int(entry[exponents]) for entry in entries for exponents in monomials]


def _at_zero(polynomial: Any) -> Any:
    """The value at ε = 0, the first variable."""
    kept = {exponents: c for exponents, c in polynomial.terms() if not exponents[0]}
    return polynomial.context().from_dict(kept)


def _on_one_token(f: Matrix) -> Column:
    """The vector f(xxᵀ)x: the function on the token x."""
    epsilon, *variables = ring(7).gens()
    x = variables[:3]
    squares = []
    for i in range(3):
        squares += [x[i] * x[j] for j in range(i, 3)]
    values = []
    for row in f:
        at_x = [entry.compose(epsilon, *squares) for entry in row]
        values.append(sum(entry * y for entry, y in zip(at_x, x, strict=True)))
    return values

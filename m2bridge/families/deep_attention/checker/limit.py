"""A limit of networks that is not a network: lightning attention of two layers is not closed.

*Theorem* (proposition-not-closed in docs/deep-attention.md, whose notation this is): for widths
(3, 3, 3), a_1, a_2 ≥ 2 and t ≥ 3 the limit f of the networks P/ε is not a network.

*Checked here*, for the example of the proof (k = e_1, n = e_3, q = e_2, p = e_1 + 2e_2 + e_3): that
f is a limit, the three facts from which steps 2 and 3 conclude that A_1 is skew-symmetric, A_2 of
rank one and M invertible, and that there is no such network. The last is shown by unique
factorization and linear equations; the program shows it by a Gröbner basis.

*Taken on trust*: steps 2 and 3, which say something about all networks.

*Notation.* X is the 3 × t matrix of the tokens and S = XXᵀ. For t ≥ 3 these S are dense in the
symmetric matrices, so S stands for a symmetric matrix of six variables. A network of two layers is
the function P(S)X with P(S) = M S A_1 S A_1ᵀ S A_2 S A_1, where A_1, A_2 and M are its virtual
weights; "network" and "limit" mean P here, a 3 × 3 matrix of forms of degree 4 in S. e_1, e_2, e_3
are the unit vectors, and [w]_× is the skew-symmetric matrix with xᵀ[w]_× = (w × x)ᵀ for all x. The
variables of the ring are ε, then the entries of S row by row, from the diagonal on.
"""

from collections.abc import Sequence
from operator import add
from typing import Any

import flint

from m2bridge.checker.algebra import Exponents, ring
from m2bridge.families.deep_attention.checker.matrices import Matrix, product, transposed

Column = list[Any]


def limit_outside() -> dict[str, bool]:
    """The facts which show that f is a limit of networks, and no network.

    ``networks_for_all_epsilon``: f is a limit. For ε ≠ 0 the function
    P(S) = S A_1 S A_1ᵀ S Z S A_1 is a network with A_1 = k qᵀ + ε n pᵀ, A_2 = Z skew-symmetric and
    M = 1, and so is P/ε, with M = 1/ε. If ε divides P, the limit f for ε → 0 is P/ε at ε = 0.

    Suppose that f were a network. Its M would be invertible if no combination of the rows of f is
    zero (``columns_span``); A_1 or A_2 would have rank one as f has (``rank_one``, step 2); and so
    A_1 would be skew-symmetric as f(xxᵀ)x = 0 (``vanishes_on_one_token``, step 3). There is no such
    network (``no_network``).
    """
    # ε and the six entries of S
    epsilon, *s = ring(7).gens()
    S = [[s[0], s[1], s[2]], [s[1], s[3], s[4]], [s[2], s[4], s[5]]]
    # k qᵀ has its one at (1, 2), and n pᵀ the row pᵀ = (1, 2, 1) at the bottom
    A = [[0, 1, 0], [0, 0, 0], [epsilon, 2 * epsilon, epsilon]]
    Z = [[0, 0, 1], [0, 0, 1], [-1, -1, 0]]
    P = product(S, A, S, transposed(A), S, Z, S, A)
    divisible = all(_at_zero(entry) == 0 for row_of_P in P for entry in row_of_P)
    f = [[_at_zero(_quotient(entry, epsilon)) for entry in row_of_P] for row_of_P in P]
    # f is the column S k times a row. As k = e_1, the column is the first one of S, and the row is
    # the first row of f divided by the first entry of the column.
    column = S[0]
    row = [_quotient(entry, column[0]) for entry in f[0]]
    # This shows that the quotients have no remainder, and that the other rows of f are the right
    # multiples of the row.
    is_product = f == [_multiple(x, row) for x in column]
    rank_one = is_product and any(entry != 0 for entry in row)
    relations_of_rows = 3 - _rank_of_rows(f)
    return {
        "networks_for_all_epsilon": divisible,
        "columns_span": relations_of_rows == 0,
        "rank_one": rank_one,
        "vanishes_on_one_token": all(entry == 0 for entry in _on_one_token(f)),
        "no_network": rank_one and _no_network(S, column, row),
    }


def _no_network(S: Matrix, column: Column, row: Column) -> bool:
    """Whether it is shown that column · row is not a network with A_1 = [w]_× and A_2 = b cᵀ.

    ``column`` has linear forms and ``row`` cubic forms as entries. A network with these A_1 and A_2
    is the column M S A_1 S A_1ᵀ S b of cubic forms times the row cᵀ S A_1 of linear forms (step 4).
    """
    # Let h be the greatest common divisor of the entries of the row. As the column's entries have
    # no common factor, every column with the same product is g · column for a form g, and its row
    # is row/g. This column is cubic if g has degree 2: then g divides h, and is h up to a number.
    h = row[0].gcd(row[1]).gcd(row[2])
    common = column[0].gcd(column[1]).gcd(column[2])
    if common != 1 or h.total_degree() != 2:
        return False
    # So cᵀ S A_1 is row/h, and M S A_1 S A_1ᵀ S b is h · column, up to numbers. For c = e_2 and
    # w = p × q = (−1, 0, 1) the row cᵀ S [w]_× is row/h; if the row determines c and w, these are
    # the only ones.
    A = _skew((-1, 0, 1))
    row_of_c_and_w = product([S[1]], A)[0]
    if _multiple(h, row_of_c_and_w) != row or not _row_determines_c_and_w(S):
        return False
    # for b = 0 the network is zero
    return _only_zero(S, A, _multiple(h, column))


def _row_determines_c_and_w(S: Matrix) -> bool:
    """Whether the row cᵀ S [w]_× determines c and w up to numbers.

    The row depends linearly on the 3 × 3 matrix c wᵀ. If the unit matrix goes to zero and the rank
    of this linear map is 8 of 9, only multiples of the unit matrix do. Then two matrices c wᵀ with
    the same row differ by such a multiple, of rank 0 or 3, and as they have rank 1, of rank at most
    2: they are equal.
    """
    images = []
    of_unit_matrix = [0 * S[0][0]] * 3
    for i in range(3):
        for j in range(3):
            image = product([S[i]], _skew(_unit(j)))[0]
            images.append(image)
            if i == j:
                of_unit_matrix = list(map(add, of_unit_matrix, image))
    unit_matrix_goes_to_zero = all(entry == 0 for entry in of_unit_matrix)
    return unit_matrix_goes_to_zero and _rank_of_rows(images) == 8


def _only_zero(S: Matrix, A: Matrix, column: Column) -> bool:
    """Whether all solutions of S A S Aᵀ S b = N · column, with N = M⁻¹, have b = 0.

    These are linear equations: each entry of b, and each entry of N, multiplies a known vector of
    polynomials. All solutions have b = 0 if the three vectors of b add 3 to the dimension of the
    span of the nine vectors of N.
    """
    # the columns of the matrix
    multiplied_by_b = transposed(product(S, A, S, transposed(A), S))
    multiplied_by_N = []
    for i in range(3):
        # the entry N_ij multiplies the vector column_j e_i
        multiplied_by_N += [_multiple(entry, _unit(i)) for entry in column]
    rank_of_N = _rank_of_rows(multiplied_by_N)
    rank_of_both = _rank_of_rows(multiplied_by_b + multiplied_by_N)
    return rank_of_both == 3 + rank_of_N


def _multiple(factor: Any, vector: Column) -> Column:
    """The multiple of a vector, a row or a column."""
    return [factor * entry for entry in vector]


def _unit(i: int) -> list[int]:
    """The unit vector e_(i+1)."""
    return [int(i == j) for j in range(3)]


def _skew(w: Sequence[int]) -> Matrix:
    """The matrix [w]_× of the vector product with w: xᵀ[w]_× = (w × x)ᵀ."""
    return [[0, w[2], -w[1]], [-w[2], 0, w[0]], [w[1], -w[0], 0]]


def _rank_of_rows(rows: Sequence[Column]) -> int:
    """The dimension over QQ of the span of rows of polynomials, the rank of the rows of the
    coefficients of all their entries.
    """
    monomials: set[Exponents] = set()
    for row in rows:
        for entry in row:
            monomials.update(tuple(monomial) for monomial, _ in entry.terms())
    coefficients = [[int(entry[m]) for entry in row for m in monomials] for row in rows]
    return int(flint.fmpz_mat(coefficients).rank())


def _quotient(polynomial: Any, variable: Any) -> Any:
    """The quotient of a polynomial by a variable, without the terms that it does not divide."""
    quotient, _ = divmod(polynomial, variable)
    return quotient


def _at_zero(polynomial: Any) -> Any:
    """The value of a polynomial at ε = 0, where ε is the first variable."""
    terms_without_epsilon = {e: c for e, c in polynomial.terms() if e[0] == 0}
    return polynomial.context().from_dict(terms_without_epsilon)


def _on_one_token(f: Matrix) -> Column:
    """The vector f(xxᵀ)x: three variables of the ring stand for x, x_i x_j stands for S_ij."""
    epsilon, *variables = ring(7).gens()
    x = variables[:3]
    entries_of_S = [x[i] * x[j] for i in range(3) for j in range(i, 3)]
    values = []
    for row in f:
        row_at_x = [entry.compose(epsilon, *entries_of_S) for entry in row]
        values.append(sum(entry * x_j for entry, x_j in zip(row_at_x, x, strict=True)))
    return values

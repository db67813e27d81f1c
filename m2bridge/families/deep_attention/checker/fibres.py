"""The fibre over the function of random weights, not those of the maker, by a Gröbner basis over QQ
in FLINT.

Unknowns are all virtual weights (B_1, …, B_l, N), where the entry (1, 1) of each B_k is that of
A_k.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product as pairs
from typing import Any

import flint

from m2bridge.checker.algebra import groebner_basis, hilbert_series, minimal, ring
from m2bridge.errors import TooExpensiveError
from m2bridge.families.deep_attention.checker.predictions import Case

MOST_UNKNOWNS = {1: 25, 2: 22}
"""By the number of layers: with two layers and 25 unknowns, widths (3, 3, 3), the basis takes more
than 2 GB.
"""

SEED, MOST_WEIGHTS = 20250417, 10**6
Matrix = list[list[Any]]


def product(*factors: Matrix) -> Matrix:
    """Return the product of matrices of numbers or polynomials."""
    result, *others = factors
    for B in others:
        columns = list(zip(*B, strict=True))
        result = [
            [sum(x * y for x, y in zip(row, column, strict=True)) for column in columns]
            for row in result
        ]
    return result


def transposed(A: Matrix) -> Matrix:
    """Rows for columns."""
    return [list(row) for row in zip(*A, strict=True)]


def unknowns(case: Case) -> int:
    """Return the number of unknowns in the equations of a fibre; 0 if it is not looked at."""
    n = case.d[0]
    number = len(case.a) * (n * n - 1) + n * case.d[-1]
    small = number <= MOST_UNKNOWNS.get(len(case.a), 0)
    return number if small and case.plain and not case.softmax else 0


@cache
def fibre(case: Case) -> tuple[int, int]:
    """Dimension and degree of the fibre up to scalings, from the leading monomials of its
    equations.
    """
    if (count := sum(d * (d + after) for d, after, _ in case.layers)) > MOST_WEIGHTS:
        raise TooExpensiveError("case", f"{count} entries of matrices of all layers")
    attention, M = _weights(case)
    n, last = case.d[0], case.d[-1]
    inputs = [*range(n * case.t)] if case.t < n else [*range(n * (n + 1) // 2)]
    context, weights = ring(unknowns(case) + len(inputs)), ring(unknowns(case))
    names = iter(context.gens())
    one = context.constant(1)
    B = [
        [[one * A[0][0] if i == j == 0 else next(names) for j in range(n)] for i in range(n)]
        for A in attention
    ]
    N = [[next(names) for _ in range(n)] for _ in range(last)]
    X, S = _inputs(case, list(names))
    here, there = _function(B, N, S, X, one), _function(attention, M, S, X, one)
    differences = [
        x - y
        for row, other in zip(here, there, strict=True)
        for x, y in zip(row, other, strict=True)
    ]
    equations = [f for difference in differences for f in _coefficients(difference, weights)]
    basis = groebner_basis(equations, weights)
    leading = minimal(tuple(map(int, f.monomial(0))) for f in basis)
    numerator, dimension = hilbert_series(leading, unknowns(case))
    return dimension, sum(numerator)


def _inputs(case: Case, names: list[Any]) -> tuple[Matrix | None, Matrix]:
    """The tokens X and S = XXᵀ for t < n; else S alone, any symmetric matrix."""
    n = case.d[0]
    if case.t < n:
        X = [names[case.t * i : case.t * (i + 1)] for i in range(n)]
        return X, product(X, transposed(X))
    entry = {(i, j): names.pop() for i in range(n) for j in range(i, n)}
    return None, [[entry[min(i, j), max(i, j)] for j in range(n)] for i in range(n)]


def _function(
    attention: Sequence[Matrix], M: Matrix, S: Matrix, X: Matrix | None, one: Any
) -> Matrix:
    """M Q_{l+1} X with Q_{k+1} = Q_k S Q_kᵀ A_k Q_k; without X for t ≥ n."""
    Q = [[one * int(i == j) for j in range(len(S))] for i in range(len(S))]
    for A in attention:
        Q = product(Q, S, transposed(Q), A, Q)
    return product(M, Q) if X is None else product(M, Q, X)


def _coefficients(polynomial: Any, weights: Any) -> list[Any]:
    """The coefficients in the inputs: polynomials in the weights, the first variables."""
    coefficients: dict[tuple[int, ...], dict[tuple[int, ...], Any]] = {}
    size = weights.nvars()
    for exponents, c in polynomial.terms():
        coefficients.setdefault(tuple(exponents[size:]), {})[tuple(exponents[:size])] = c
    return [weights.from_dict(terms) for terms in coefficients.values()]


def _weights(case: Case) -> tuple[list[Matrix], Matrix]:
    """The first random virtual weights of generic ranks for which the chart meets all orbits of
    scalings.
    """
    states = minimal_standard(SEED)
    # ±1, …, ±5
    draws = ((1 + size % 5) * (-1) ** (sign % 2) for size, sign in zip(states, states, strict=True))
    while True:
        M, attention = [[int(i == j) for j in range(case.d[0])] for i in range(case.d[0])], []
        for n, m, a in case.layers:
            A = (
                _matrix(draws, n, n)
                if a >= n
                else product(transposed(_matrix(draws, a, n)), _matrix(draws, a, n))
            )
            attention.append(product(transposed(M), A, M))
            M = product(_matrix(draws, m, n), M)
        chart = all(A[0][0] for A in attention) and any(row[0] for row in M)
        if chart and [flint.fmpz_mat(A).rank() for A in (*attention, M)] == [
            *case.ranks,
            min(case.d),
        ]:
            return attention, M


def minimal_standard(state: int) -> Iterator[int]:
    """The states after this one of the minimal standard generator (Park, Miller 1993)."""
    while True:
        yield (state := state * 48271 % (2**31 - 1))


def _matrix(draws: Iterator[int], rows: int, columns: int) -> Matrix:
    return [[next(draws) for _ in range(columns)] for _ in range(rows)]


Column = list[Any]


def limit_outside() -> dict[str, bool]:
    """The equations which show that f is no network."""
    epsilon, *s = ring(7).gens()
    zero, one = 0 * epsilon, 0 * epsilon + 1
    S = [[s[0], s[1], s[2]], [s[1], s[3], s[4]], [s[2], s[4], s[5]]]
    A = [[zero, one, zero], [zero] * 3, [epsilon, 2 * epsilon, epsilon]]
    Z = [[0, 0, 1], [0, 0, 1], [-1, -1, 0]]
    parts = [
        [divmod(x, epsilon) for x in row] for row in product(S, A, S, transposed(A), S, Z, S, A)
    ]
    f = [[_at_zero(quotient) for quotient, _ in row] for row in parts]
    column, row = S[0], [divmod(x, S[0][0])[0] for x in f[0]]  # Sk for the first unit vector k
    rank_one = all(f[i][j] == column[i] * row[j] for i, j in pairs(range(3), repeat=2)) and any(
        x != 0 for x in row
    )
    return {
        "networks_for_all_epsilon": all(rest == 0 for entries in parts for _, rest in entries),
        "columns_span": bool(_limit_coefficients(f).rank() == 3),
        "rank_one": rank_one,
        "vanishes_on_one_token": all(x == 0 for x in _on_one_token(f)),
        "no_network": rank_one and _no_network(S, column, row),
    }


def _no_network(S: Matrix, column: Column, row: Column) -> bool:
    """Whether column times row is the function of no network with A_1 skew-symmetric, A_2 of rank
    one, M invertible.

    The entries of the column have no common factor, those of the row have h. So the linear part
    row/h is cᵀSA_1 up to a number. With A_1 = [w]_× it determines cwᵀ up to multiples of the unit
    matrix, so that one c and w belong to it. And h·column is MSA_1SA_1ᵀSb, linear equations for b
    and M⁻¹: they have no solution with b ≠ 0 if the columns that b multiplies are independent of
    those that M⁻¹ does.
    """
    h = row[0].gcd(row[1]).gcd(row[2])
    if column[0].gcd(column[1]).gcd(column[2]) != 1 or h.total_degree() != 2:
        return False
    products = [product([S[i]], _skew(_unit(j)))[0] for i, j in pairs(range(3), repeat=2)]
    units = [x + y + z for x, y, z in zip(products[0], products[4], products[8], strict=True)]
    if _limit_coefficients(products).rank() != 8 or any(x != 0 for x in units):
        return False
    A = _skew((-1, 0, 1))  # with the second unit vector c
    if [x * h for x in product([S[1]], A)[0]] != row:
        return False
    of_b = [
        transposed(product(S, A, S, transposed(A), S, transposed([_unit(i)])))[0] for i in range(3)
    ]
    of_inverse = [[h * x if p == q else 0 * h for q in range(3)] for p in range(3) for x in column]
    return bool(
        _limit_coefficients(of_b + of_inverse).rank() == 3 + _limit_coefficients(of_inverse).rank()
    )


def _unit(i: int) -> list[int]:
    return [int(i == j) for j in range(3)]


def _skew(w: Sequence[int]) -> Matrix:
    """The matrix of the vector product with w."""
    return [[0, w[2], -w[1]], [-w[2], 0, w[0]], [w[1], -w[0], 0]]


def _limit_coefficients(rows: Sequence[Column]) -> Any:
    """The coefficients of all entries, a row for each row."""
    monomials = sorted({tuple(e) for row in rows for x in row for e, _ in x.terms()})
    return flint.fmpz_mat([[int(x[e]) for x in row for e in monomials] for row in rows])


def _at_zero(polynomial: Any) -> Any:
    """The value at ε = 0, the first variable."""
    return polynomial.context().from_dict({e: c for e, c in polynomial.terms() if not e[0]})


def _on_one_token(f: Matrix) -> Column:
    """f(xxᵀ)x."""
    epsilon, *x = ring(7).gens()
    values = [epsilon, *(x[i] * x[j] for i in range(3) for j in range(i, 3))]
    return [sum(entry.compose(*values) * y for entry, y in zip(row, x, strict=False)) for row in f]

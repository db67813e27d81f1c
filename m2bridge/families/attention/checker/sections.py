"""The number of sections of O(n) over a closure, and the polynomial in n that it is.

Rests on: sections are the polynomials in A and V that do not separate points which the products
l_i v_k do not; what is lost is known by the theorems of Bott and Cauchy.
Proved in: docs/completeness.md (proposition-sections).
Computed here: dimensions of representations.
On trust: this proposition, which a certificate lists, and the ones of schur.py.

Notation. As in equations.py: A case has ``columns`` = d linear forms l_i, the columns of a d × d
matrix A of rank at most α, and ``rows`` = d' forms v_k, the rows of V, in ``variables`` = d
variables. X, H, Y are the spaces of the l_i, of the v_k and of the variables, and D_α is the set of
all A. H(n) counts the forms of degree n on the closure of all products l_i v_k, h(n) sections.
"""

from itertools import product
from math import comb
from typing import Any

import flint

from m2bridge.families.attention.checker.case import Case
from m2bridge.families.attention.checker.schur import (
    determinantal_dimension,
    hook_dimension,
    symmetric_dimension,
)


def number_of_sections(n: int, *, rows: int, columns: int, variables: int, alpha: int) -> int:
    """The number h(n) of sections of O(n) over the closure; H(n) ≤ h(n), equal for large n.

    h(n) is the dimension of all polynomials of degree n in A of rank ≤ α and of degree n in V, less
    the dimension of what is lost because several weights have the same products l_i v_k. Let F be
    the map from weights to products, and M the cokernel of O → F_* O. What is lost are all sections
    of M(n), because each section of M(n) comes from a polynomial
    (docs/completeness.md#proposition-sections). M has a filtration, and the sections of its
    quotients are subtracted. The first quotient is about values: (k qᵀ, h vᵀ) and (v qᵀ, h kᵀ) have
    the same products. The others are about derivatives where both weights come together, k = v: of
    order i in the directions of A across this locus, j in directions of V.
    """
    # K[D_α]_n ⊗ S_n(H ⊗ Y): all functions on the source
    polynomials_in_a = symmetric_dimension(columns * variables, n)
    if alpha < columns:
        # a case, where A is square: columns = variables = d
        polynomials_in_a = determinantal_dimension(columns, alpha, n)
    total = polynomials_in_a * symmetric_dimension(rows * variables, n)
    # S_n X ⊗ S_n H ⊗ Λ² S_n Y: on A = k qᵀ, V = h vᵀ those that change sign with k and v exchanged
    antisymmetric = comb(symmetric_dimension(variables, n), 2)
    total -= symmetric_dimension(columns, n) * symmetric_dimension(rows, n) * antisymmetric
    # A = v qᵀ, V = h vᵀ are P(X) × P(H) × P(Y), by q, h and v. The quotient for (i, j) is
    # Ω^i(n) ⊠ Ω^j(n) ⊠ Ω^(i+j+1)(2n) there, and the sections of Ω^i(n) are, by Bott, the
    # representation of the hook (n − i, 1^i). i = j = 0 are the values above; there are no forms of
    # degree i + j + 1 > dim P(Y) = variables − 1; and i < α as A has rank ≤ α.
    for i, j in product(range(alpha), range(rows)):
        if 1 <= i + j <= variables - 2:
            hooks_of_x_and_h = hook_dimension(columns, n, i) * hook_dimension(rows, n, j)
            total -= hooks_of_x_and_h * hook_dimension(variables, 2 * n, i + j + 1)
    return total


def sections_of_case(case: Case, n: int) -> int:
    """The number h(n) of sections of O(n) over the closure of a case."""
    return number_of_sections(
        n, rows=case.d_out, columns=case.d, variables=case.d, alpha=case.alpha
    )


def series(values: list[int], dimension: int) -> dict[str, Any]:
    """The series Σ H(n) T^n as a numerator over (1 − T)^dimension, from values H(0), H(1), …: up to
    n_0 + dimension, if H is a polynomial of degree < dimension for all n > n_0.
    """
    product_of_both = flint.fmpz_poly(values) * flint.fmpz_poly([1, -1]) ** dimension
    numerator = flint.fmpz_poly(product_of_both.coeffs()[: len(values)])
    return {"numerator": [int(x) for x in numerator.coeffs()], "denominator_exponent": dimension}


def hilbert_coefficients(case: Case) -> list[int]:
    """The e_0, …, e_{D−1} with h(n) = Σ (−1)^i e_i C(n + D − i − 1, D − i − 1) for n ≥ 1.

    D and M are the dimensions of the closure and of the weights. For n ≥ 1 h is a polynomial in n
    of degree D − 1. If it were one for n = 0 too, the series Σ h(n) T^n times (1 − T)^M would be a
    polynomial N of degree below M. Another number h(0) adds a multiple of (1 − T)^M, so h(0), …,
    h(M) determine N. Expand N in powers of T − 1: a term x (T − 1)^i with i < M is the summand
    (−1)^i x C(n + M − i − 1, M − i − 1) of h(n); the term with i = M is left out. The first i with
    x ≠ 0 is M − D, and with i = M − D + j the number e_j is (−1)^(M − D) x.
    """
    M = case.source_dimension
    values = [sections_of_case(case, n) for n in range(M + 1)]
    N = flint.fmpz_poly(series(values, M)["numerator"])
    # N(T + 1) has the coefficients of N in powers of T − 1
    in_powers = [int(x) for x in N(flint.fmpz_poly([1, 1])).coeffs()]
    in_powers += [0] * (M - len(in_powers))
    first = next(i for i, x in enumerate(in_powers) if x)  # M − D
    return [(-1) ** first * x for x in in_powers[first:M]]

"""The fibre of lightning attention over the function of random virtual weights.

*Theorem* (proposition-fibres in docs/deep-attention.md): up to the torus all general fibres are
alike. *Taken on trust*: this, and FLINT's Gröbner bases.

*Checked here*: one fibre. Its equations say that the function of unknown matrices (B_1, …, B_l, N)
is that of the weights (A_1, …, A_l, M). The entry (1, 1) of B_k is that of A_k; if these are not
zero, and M e_1 is not, this chart meets each orbit of the torus in the fibre once ("Fibres and
closedness" in docs/deep-attention-programs.md). The weights are drawn for each check, from so many
numbers that they are special with a probability below 10^(−9).

*Notation* (that of docs/deep-attention.md). A network has widths d_0, …, d_l, with n = d_0 inputs,
and t tokens, the columns of the n × t matrix X; S = XXᵀ. Layer k has the attention matrix A_k and
the value matrix V_k. With M_k = V_{k−1} ⋯ V_1, the *virtual weights* are A'_k = M_kᵀ A_k M_k, which
are n × n, and M = V_l ⋯ V_1; the accent is left out. The function is P(S)X with P = M Q_{l+1},
Q_1 = 1 and Q_{k+1} = Q_k S Q_kᵀ A_k Q_k (Lemma 3.6 of the paper). The *torus* multiplies A_k by
numbers λ_k and M by the number that keeps the function. A *fibre* is the set of all matrices
(B_1, …, B_l, N), of any ranks, with the same function as (A_1, …, A_l, M).
"""

from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

import flint

from m2bridge.checker.algebra import Exponents, groebner_basis, hilbert_series, minimal, ring
from m2bridge.checker.draws import unpredictable
from m2bridge.errors import TooExpensiveError
from m2bridge.families.deep_attention.checker.matrices import Matrix, product, transposed
from m2bridge.families.deep_attention.checker.predictions import Network

# By the number of layers: with two layers and 25 unknowns, widths (3, 3, 3), the Gröbner basis
# takes more than 2 GB. Fibres of more layers are not computed here.
MAX_UNKNOWNS_BY_LAYERS = {1: 25, 2: 22}
# Entries of the matrices of all layers, which may be much larger than their products.
MAX_MATRIX_ENTRIES = 10**6
# The largest absolute value of random weights. Weights with a special fibre are zeros of a
# polynomial, whose degree has to be above 1000 for a probability of 10^(−9). With larger numbers
# Gröbner bases take longer.
LARGEST_WEIGHT = 2**40


def unknown_count(network: Network) -> int:
    """The number of unknowns in the equations of a fibre; 0 if no fibre of the network is computed.

    None is computed for softmax, several heads, skip connections, or too many unknowns. The
    unknowns are the entries of B_1, …, B_l but the first of each, and those of N.
    """
    if network.softmax or not network.plain:
        return 0
    n, outputs = network.widths[0], network.widths[-1]
    number = network.depth * (n * n - 1) + n * outputs
    # 0 for three layers and more, whose fibres are not computed
    most_unknowns = MAX_UNKNOWNS_BY_LAYERS.get(network.depth, 0)
    return number if number <= most_unknowns else 0


@cache
def fibre(network: Network) -> tuple[int, int]:
    """The dimension and the degree of the fibre in the chart, that is, up to the torus.

    The network has ``unknown_count(network)`` > 0. If several components have that dimension, their
    degrees are added, each with its multiplicity.

    Both numbers are read off the leading monomials of a Gröbner basis. As the order of monomials is
    graded, the polynomial functions of degree at most e on the fibre have as many dimensions as
    there are monomials of degree at most e that no leading monomial divides. So the Hilbert series
    of the leading monomials gives the dimension and the degree of the closure of the fibre in
    projective space.
    """
    entries = 0
    for before, after, _ in network.layers:
        entries += before * (before + after)
    if entries > MAX_MATRIX_ENTRIES:
        raise TooExpensiveError("case", f"{entries} entries of matrices of all layers")
    count = unknown_count(network)
    unknowns_ring = ring(count)
    equations = _equations(network, unknowns_ring)
    basis = groebner_basis(equations, unknowns_ring)
    # the first monomial of a polynomial is the leading one
    leading = [tuple(map(int, polynomial.monomial(0))) for polynomial in basis]
    numerator, dimension = hilbert_series(minimal(leading), count)
    # the degree is the value of the numerator at 1
    degree = sum(numerator)
    return dimension, degree


def _equations(network: Network, unknowns_ring: Any) -> list[Any]:
    """The equations of the fibre: polynomials in the unknown entries of B_1, …, B_l and N.

    ``unknowns_ring`` is the ring of these polynomials. Its variables are the unknowns, as many as
    :func:`unknown_count` says: the entries of B_1 row by row, but the first; those of B_2; …; all
    those of N.

    The function of the unknown matrices less that of the random weights is a matrix of polynomials
    in the unknowns and in the inputs. It is zero exactly if its coefficients at all monomials in
    the inputs are zero, and these coefficients are the equations.
    """
    given = _weights(network)
    n = network.widths[0]
    few_tokens = network.t < n
    # the inputs are the entries of X; for t ≥ n those of S, since then the matrices XXᵀ are dense
    # in all symmetric matrices
    input_count = n * network.t if few_tokens else n * (n + 1) // 2
    # a larger ring, whose variables are the unknowns, and after them the inputs
    unknowns_and_inputs_ring = ring(unknowns_ring.nvars() + input_count)
    # each matrix takes its entries from the variables that are left
    variables = iter(unknowns_and_inputs_ring.gens())
    one = unknowns_and_inputs_ring.constant(1)
    unknown = _unknown_weights(given, variables, one)
    X = None
    if few_tokens:
        X = _matrix(variables, n, network.t)
        S = product(X, transposed(X))
    else:
        # P is compared instead of P(S)X: for t ≥ n a function determines P
        S = _symmetric(variables, n)
    unknown_function = _function_matrix(unknown, S=S, X=X, one=one)
    given_function = _function_matrix(given, S=S, X=X, one=one)
    equations = []
    for unknown_row, given_row in zip(unknown_function, given_function, strict=True):
        for unknown_entry, given_entry in zip(unknown_row, given_row, strict=True):
            equations += _coefficients(unknown_entry - given_entry, unknowns_ring)
    return equations


class _VirtualWeights(NamedTuple):
    """The n × n matrices A_1, …, A_l, or B_1, …, B_l, and the matrix M, or N, with n columns."""

    attention: list[Matrix]
    M: Matrix


def _unknown_weights(given: _VirtualWeights, variables: Iterator[Any], one: Any) -> _VirtualWeights:
    """The matrices (B_1, …, B_l, N) of the chart, which have the sizes of ``given``.

    Their entries are the next variables, in the order of the matrices and row by row, but the first
    entry of B_k, which is that of the given A_k. ``one`` is the 1 of the ring of the variables.
    """
    given_attention, M = given
    outputs, n = len(M), len(M[0])
    attention = []
    for A in given_attention:
        first_row = [one * A[0][0], *islice(variables, n - 1)]
        other_rows = _matrix(variables, n - 1, n)
        attention.append([first_row, *other_rows])
    return _VirtualWeights(attention, _matrix(variables, outputs, n))


def _symmetric(variables: Iterator[Any], n: int) -> Matrix:
    """The symmetric n × n matrix with the next n(n + 1)/2 variables as entries.

    They are taken in the order S_11, S_12, …, S_1n, S_22, …, S_nn.
    """
    # None until the variable is taken
    S: Matrix = [[None] * n for _ in range(n)]
    for i in range(n):
        for j in range(i, n):
            S[i][j] = S[j][i] = next(variables)
    return S


def _function_matrix(weights: _VirtualWeights, S: Matrix, X: Matrix | None, one: Any) -> Matrix:
    """The matrix P(S)X of virtual weights, or P(S).

    Here P = M Q_{l+1}, with Q_1 = 1 and Q_{k+1} = Q_k S Q_kᵀ A_k Q_k (Lemma 3.6). If ``X`` is
    None, P(S) itself is returned. ``one`` is the 1 of the ring that has the entries of S and X.
    """
    attention, M = weights
    n = len(S)
    Q = [[0 * one] * n for _ in range(n)]
    for i in range(n):
        Q[i][i] = one
    for A in attention:
        Q = product(Q, S, transposed(Q), A, Q)
    P = product(M, Q)
    return P if X is None else product(P, X)


def _coefficients(polynomial: Any, unknowns_ring: Any) -> list[Any]:
    """The coefficients of a polynomial at all monomials in the inputs that occur in it.

    The variables of the polynomial are the unknowns, and after them the inputs. The coefficients
    are polynomials in the unknowns, and belong to ``unknowns_ring``: (u + 3)x + 2u·y, for an
    unknown u and inputs x, y, has the coefficients u + 3 and 2u.
    """
    unknowns_count = unknowns_ring.nvars()
    # for the exponents of each monomial in the inputs, the terms of its coefficient
    coefficient_terms: dict[Exponents, dict[Exponents, Any]] = {}
    for exponents, c in polynomial.terms():
        in_unknowns = tuple(exponents[:unknowns_count])
        in_inputs = tuple(exponents[unknowns_count:])
        coefficient_terms.setdefault(in_inputs, {})[in_unknowns] = c
    return [unknowns_ring.from_dict(terms) for terms in coefficient_terms.values()]


def _weights(network: Network) -> _VirtualWeights:
    """Random virtual weights (A'_1, …, A'_l) and M.

    Weights are drawn until all A'_k and M have the ranks that they have in general, and until the
    virtual weights lie in the chart: no A'_k has the first entry 0, and Me_1 is not 0.
    """
    draws = _draws()
    general_ranks = [*network.ranks, min(network.widths)]
    while True:
        weights = _virtual_weights(network, draws)
        attention, M = weights
        first_entries_nonzero = all(A[0][0] != 0 for A in attention)
        first_column_nonzero = any(row[0] != 0 for row in M)
        in_chart = first_entries_nonzero and first_column_nonzero
        ranks = [flint.fmpz_mat(A).rank() for A in (*attention, M)]
        if in_chart and ranks == general_ranks:
            return weights


def _virtual_weights(network: Network, draws: Iterator[int]) -> _VirtualWeights:
    """The virtual weights of a network whose weights are the next numbers of an iterator.

    The weights are drawn layer by layer: A, or K and Q if they have less than d_{k−1} rows, then V.
    """
    n = network.widths[0]
    # before layer k this is M_k = V_{k−1} ⋯ V_1; at the end it is M
    M = [[int(i == j) for j in range(n)] for i in range(n)]
    attention = []
    for before, after, a in network.layers:
        # KᵀQ with at least as many rows as columns is any matrix
        if a >= before:
            A = _matrix(draws, before, before)
        else:
            K = _matrix(draws, a, before)
            Q = _matrix(draws, a, before)
            A = product(transposed(K), Q)
        attention.append(product(transposed(M), A, M))
        V = _matrix(draws, after, before)
        M = product(V, M)
    return _VirtualWeights(attention, M)


def _draws() -> Iterator[int]:
    """Yield random numbers from ±1 to ±LARGEST_WEIGHT, without end."""
    random = unpredictable()
    while True:
        yield random.choice((-1, 1)) * random.randint(1, LARGEST_WEIGHT)


def _matrix(entries: Iterator[Any], rows: int, columns: int) -> Matrix:
    """The matrix of the next rows × columns entries of the iterator, row by row."""
    return [list(islice(entries, columns)) for _ in range(rows)]

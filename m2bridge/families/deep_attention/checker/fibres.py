"""The fibre of lightning attention over the function of random virtual weights.

*Theorem* (proposition-fibres in docs/deep-attention.md): up to the torus all general fibres are
alike. *Taken on trust*: this, and FLINT's Gröbner bases.

*Checked here*: one fibre. Its equations say that the function of unknown matrices (B_1, …, B_l, N)
is the function of virtual weights (A_1, …, A_l, M). B_k and A_k have the same entry (1, 1); if
these are not zero, and M e_1 is not, this chart meets each orbit of the torus in the fibre once
("Fibres and closedness" in docs/deep-attention.md).

*Notation* (as in docs/deep-attention.md). A network has widths d_0, …, d_l, with n = d_0 inputs,
and t tokens, the columns of the n × t matrix X; S = XXᵀ. Layer k has the attention matrix A_k and
the value matrix V_k. With M_k = V_{k−1} ⋯ V_1, of rank r_k, the *virtual weights* are M_kᵀ A_k M_k,
of rank α_k, here written A_k, and M = V_l ⋯ V_1, of rank r. The function is P(S)X with
P = M Q_{l+1}, Q_1 = 1 and Q_{k+1} = Q_k S Q_kᵀ A_k Q_k (Lemma 3.6 of the paper). The *torus*
multiplies A_k by numbers λ_k and M by the number that keeps the function. A *fibre* is the set of
all (B_1, …, B_l, N), of any ranks, with the function of (A_1, …, A_l, M).

*Normal form.* Invertible g and h take A_k to gᵀA_k g and M to hMg; Q_k(S) becomes g⁻¹Q_k(gSgᵀ)g,
and P(S)X becomes hP(S')X' with X' = gX and S' = X'X'ᵀ. So they map fibres to fibres, linearly, and
for g e_1 = e_1 also charts to charts: dimension and degree stay. The kernels of M_1, …, M_l, M
grow, and e_1 is in none of them; so for some such g they are spanned by the last n − r_k (or n − r)
unit vectors, and for some h the other columns of M are any given ones of rank r. Then A_k is any
r_k × r_k matrix of rank α_k, with zeros around it: KᵀQ for α_k × r_k matrices K and Q, of which K
begins with a unit matrix if its first minor is not zero. By the torus Q_11, the first entry of A_k,
becomes 1. In layer 1 the other entries of the first row of K, and the first α_1 of the first row of
Q, become 1 if they are not zero: multiply e_j by numbers for j > 1, and then the rows of K and Q by
others. The remaining entries of K and Q are drawn from 2^41 integers. What is true for general
weights is true for general K and Q: it fails only at zeros of some polynomial in them, so with a
probability below D/2^41 for its degree D (Schwartz, Zippel). D is not computed, and thought to be
some hundreds: of entries from −4 to 5 one in some draws is special.
"""

from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

from m2bridge.checker.algebra import (
    Exponents,
    groebner_basis,
    hilbert_series,
    leading_monomials,
    ring,
)
from m2bridge.checker.draws import unpredictable
from m2bridge.families.deep_attention.checker.matrices import Matrix, product, transposed
from m2bridge.families.deep_attention.checker.predictions import Network

# By the number of layers: with two layers and 25 unknowns, widths (3, 3, 3), the Gröbner basis
# takes more than 2 GB. Fibres of more layers are not computed here.
MAX_UNKNOWNS_BY_LAYERS = {1: 25, 2: 22}


class VirtualWeights(NamedTuple):
    """The n × n matrices A_1, …, A_l, or B_1, …, B_l, and the matrix M, or N, with n columns."""

    attention: list[Matrix]
    M: Matrix


def unknown_count(network: Network) -> int:
    """The number of entries of B_1, …, B_l, but the first of each, and of N; 0 where no fibre is
    computed: for softmax, heads, skip connections or too many unknowns.
    """
    if network.softmax or not network.plain:
        return 0
    n, outputs = network.widths[0], network.widths[-1]
    number = network.depth * (n * n - 1) + n * outputs
    most_unknowns = MAX_UNKNOWNS_BY_LAYERS.get(network.depth, 0)
    return number if number <= most_unknowns else 0


@cache
def fibre(network: Network) -> tuple[int, int]:
    """The dimension and the degree of the fibre in the chart; the network has unknown_count > 0.

    If several components have that dimension, their degrees are added, each with its multiplicity.
    As the order of monomials is graded, the polynomial functions of degree at most e on the fibre
    have as many dimensions as there are monomials of degree at most e that no leading monomial of a
    Gröbner basis divides. So the Hilbert series of the leading monomials has both numbers, of the
    closure of the fibre in projective space.
    """
    count = unknown_count(network)
    unknowns_ring = ring(count)
    basis = groebner_basis(_equations(network, unknowns_ring), unknowns_ring)
    numerator, dimension = hilbert_series(leading_monomials(basis), count)
    degree = sum(numerator)  # its value at 1
    return dimension, degree


def _equations(network: Network, unknowns_ring: Any) -> list[Any]:
    """The equations of the fibre, in the entries of B_1, …, B_l and N, row by row: the
    coefficients, at all monomials in the inputs, of the function of unknown matrices less the given
    one.
    """
    weights = random_virtual_weights(network)
    n = network.widths[0]
    few_tokens = network.t < n
    # the inputs are the entries of X; for t ≥ n of S, since then the matrices XXᵀ are dense
    # in all symmetric matrices
    input_count = n * network.t if few_tokens else n * (n + 1) // 2
    unknowns_and_inputs_ring = ring(unknowns_ring.nvars() + input_count)
    one = unknowns_and_inputs_ring.constant(1)
    # each matrix takes its entries from the variables that are left
    variables = iter(unknowns_and_inputs_ring.gens())
    B = []
    for A in weights.attention:
        first_row = [one * A[0][0], *islice(variables, n - 1)]
        B.append([first_row, *_matrix(variables, n - 1, n)])
    unknown = VirtualWeights(B, M=_matrix(variables, network.widths[-1], n))
    X = None  # for t ≥ n a function determines P, and P is compared instead of P(S)X
    if few_tokens:
        X = _matrix(variables, n, network.t)
        S = product(X, transposed(X))
    else:
        entries = {(i, j): next(variables) for i in range(n) for j in range(i, n)}
        S = [[entries[min(i, j), max(i, j)] for j in range(n)] for i in range(n)]
    equations = []
    for unknown_row, row in zip(
        _function_matrix(unknown, S, X), _function_matrix(weights, S, X), strict=True
    ):
        for unknown_entry, entry in zip(unknown_row, row, strict=True):
            equations += _coefficients(unknown_entry - entry, unknowns_ring)
    return equations


def random_virtual_weights(network: Network) -> VirtualWeights:
    """Random virtual weights in the normal form, with first entries 1 of all A_k and of M."""
    random = unpredictable()
    largest_entry = 2**40
    n = network.widths[0]
    attention = []
    for k, (r, alpha) in enumerate(zip(network.narrowest, network.ranks, strict=True), 1):
        K, Q = _zeros(alpha, n), _zeros(alpha, n)
        for i in range(alpha):
            for j in range(r):
                K[i][j] = random.randint(1 - largest_entry, largest_entry)
                Q[i][j] = random.randint(1 - largest_entry, largest_entry)
            K[i][:alpha] = [int(i == j) for j in range(alpha)]
        Q[0][0] = 1
        if k == 1:
            K[0][alpha:] = [1] * (n - alpha)
            Q[0][:alpha] = [1] * alpha
        attention.append(product(transposed(K), Q))
    rank = min(network.widths)
    # any ``rank`` rows are independent (Vandermonde); with zeros Gröbner bases become larger
    M = [[(i + 1) ** j * int(j < rank) for j in range(n)] for i in range(network.widths[-1])]
    return VirtualWeights(attention, M)


def _zeros(rows: int, columns: int) -> Matrix:
    return [[0] * columns for _ in range(rows)]


def _matrix(entries: Iterator[Any], rows: int, columns: int) -> Matrix:
    """The matrix of the next rows × columns entries of the iterator, row by row."""
    return [list(islice(entries, columns)) for _ in range(rows)]


def _function_matrix(weights: VirtualWeights, S: Matrix, X: Matrix | None) -> Matrix:
    """The matrix P(S)X of virtual weights, or P(S) if ``X`` is None."""
    zero = 0 * S[0][0]
    Q = [[zero + int(i == j) for j in range(len(S))] for i in range(len(S))]
    for A in weights.attention:
        Q = product(Q, S, transposed(Q), A, Q)
    P = product(weights.M, Q)
    return P if X is None else product(P, X)


def _coefficients(polynomial: Any, unknowns_ring: Any) -> list[Any]:
    """The coefficients of a polynomial at all monomials in the inputs that occur in it.

    The inputs are the variables after the unknowns: (u + 3)x + 2u·y, for an unknown u and inputs
    x, y, has the coefficients u + 3 and 2u.
    """
    unknowns_count = unknowns_ring.nvars()
    # for the exponents of each monomial in the inputs, the terms of its coefficient
    coefficient_terms: dict[Exponents, dict[Exponents, Any]] = {}
    for exponents, c in polynomial.terms():
        in_unknowns = tuple(exponents[:unknowns_count])
        in_inputs = tuple(exponents[unknowns_count:])
        coefficient_terms.setdefault(in_inputs, {})[in_unknowns] = c
    return [unknowns_ring.from_dict(terms) for terms in coefficient_terms.values()]

"""The fibre of lightning attention over the function of random virtual weights.

*Theorem* (proposition-fibres in docs/deep-attention.md): up to the torus all general fibres are
alike. *Taken on trust*: this, and FLINT's Gröbner bases.

*Checked here*: one fibre. Its equations say that the function of unknown matrices (B_1, …, B_l, N)
is that of the weights (A_1, …, A_l, M). The entry (1, 1) of B_k is that of A_k; if these are not
zero, and M e_1 is not, this chart meets each orbit of the torus in the fibre once ("Fibres and
closedness" in docs/deep-attention-programs.md). The weights are not those of the program.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Any

import flint

from m2bridge.checker.algebra import Exponents, groebner_basis, hilbert_series, minimal, ring
from m2bridge.errors import TooExpensiveError
from m2bridge.families.deep_attention.checker.matrices import (
    Matrix,
    minimal_standard,
    product,
    transposed,
)
from m2bridge.families.deep_attention.checker.predictions import Network

# By the number of layers: with two layers and 25 unknowns, widths (3, 3, 3), the basis takes more
# than 2 GB. Fibres of more layers are not computed here.
MOST_UNKNOWNS = {1: 25, 2: 22}
# Entries of the matrices of all layers, which may be much larger than their products.
MOST_WEIGHTS = 10**6
# Not that of the program: a function with another fibre than most would have to be met twice.
SEED = 20250417


def unknowns(network: Network) -> int:
    """The number of unknowns in the equations of a fibre; 0 if it is not looked at."""
    if network.softmax or not network.plain:
        return 0
    n = network.widths[0]
    number = network.depth * (n * n - 1) + n * network.widths[-1]
    return number if number <= MOST_UNKNOWNS.get(network.depth, 0) else 0


@cache
def fibre(network: Network) -> tuple[int, int]:
    """The dimension and the degree of the fibre up to scalings, with multiplicities.

    The order of monomials is graded: so the functions of degree at most n on the fibre are as many
    as the monomials of degree at most n that no leading monomial divides, and these tell the
    dimension and the degree.
    """
    entries = sum(before * (before + after) for before, after, _ in network.layers)
    if entries > MOST_WEIGHTS:
        raise TooExpensiveError("case", f"{entries} entries of matrices of all layers")
    count = unknowns(network)
    weights_ring = ring(count)
    equations = _equations(network, weights_ring)
    basis = groebner_basis(equations, weights_ring)
    leading = minimal(tuple(map(int, f.monomial(0))) for f in basis)
    numerator, dimension = hilbert_series(leading, count)
    return dimension, sum(numerator)


def _equations(network: Network, weights_ring: Any) -> list[Any]:
    """The coefficients, in the inputs, of the difference of the two functions."""
    attention, M = _weights(network)
    n, outputs = network.widths[0], network.widths[-1]
    few_tokens = network.t < n
    # for t ≥ n the symmetric matrices XXᵀ are dense in all, so the entries of S are variables
    inputs = n * network.t if few_tokens else n * (n + 1) // 2
    everything = ring(weights_ring.nvars() + inputs)
    names = iter(everything.gens())
    one = everything.constant(1)
    unknown = []
    for A in attention:
        first = [one * A[0][0], *islice(names, n - 1)]
        unknown.append([first, *_matrix(names, n - 1, n)])
    N = _matrix(names, outputs, n)
    X = None
    if few_tokens:
        X = _matrix(names, n, network.t)
        S = product(X, transposed(X))
    else:
        S = _symmetric(names, n)
    here = _function(unknown, N, S, X, one)
    there = _function(attention, M, S, X, one)
    equations = []
    for row, other in zip(here, there, strict=True):
        for x, y in zip(row, other, strict=True):
            equations += _coefficients(x - y, weights_ring)
    return equations


def _symmetric(names: Iterator[Any], n: int) -> Matrix:
    """A symmetric matrix of variables."""
    S: Matrix = [[None] * n for _ in range(n)]
    for i in range(n):
        for j in range(i, n):
            S[i][j] = S[j][i] = next(names)
    return S


def _function(
    attention: Sequence[Matrix], M: Matrix, S: Matrix, X: Matrix | None, one: Any
) -> Matrix:
    """The function P(S)X, P = M Q_{l+1}, with Q_1 = 1 and Q_{k+1} = Q_k S Q_kᵀ A_k Q_k (Lemma 3.6).

    Without X, for t ≥ n, it is P: the coefficients of P are coordinates of the function.
    """
    size = range(len(S))
    Q = [[one if i == j else 0 * one for j in size] for i in size]
    for A in attention:
        Q = product(Q, S, transposed(Q), A, Q)
    return product(M, Q) if X is None else product(M, Q, X)


def _coefficients(polynomial: Any, weights_ring: Any) -> list[Any]:
    """The coefficients in the inputs, as polynomials in the unknowns: the first variables."""
    unknown = weights_ring.nvars()
    coefficients: dict[Exponents, dict[Exponents, Any]] = {}
    for exponents, c in polynomial.terms():
        in_inputs = tuple(exponents[unknown:])
        in_unknowns = tuple(exponents[:unknown])
        coefficients.setdefault(in_inputs, {})[in_unknowns] = c
    return [weights_ring.from_dict(terms) for terms in coefficients.values()]


def _weights(network: Network) -> tuple[list[Matrix], Matrix]:
    """The first random virtual weights A'_1, …, A'_l, M of generic ranks that lie in the chart."""
    draws = _draws(SEED)
    ranks = [*network.ranks, min(network.widths)]
    while True:
        n = network.widths[0]
        # M_k = V_{k−1} ⋯ V_1, and A'_k = M_kᵀ A_k M_k
        M = [[int(i == j) for j in range(n)] for i in range(n)]
        attention = []
        for before, after, a in network.layers:
            if a >= before:
                A = _matrix(draws, before, before)
            else:
                K = _matrix(draws, a, before)
                Q = _matrix(draws, a, before)
                A = product(transposed(K), Q)
            attention.append(product(transposed(M), A, M))
            M = product(_matrix(draws, after, before), M)
        in_chart = all(A[0][0] for A in attention) and any(row[0] for row in M)
        if in_chart and [flint.fmpz_mat(A).rank() for A in (*attention, M)] == ranks:
            return attention, M


def _draws(seed: int) -> Iterator[int]:
    """Random numbers ±1, …, ±5."""
    states = minimal_standard(seed)
    while True:
        size = 1 + next(states) % 5
        sign = (-1) ** (next(states) % 2)
        yield size * sign


def _matrix(entries: Iterator[Any], rows: int, columns: int) -> Matrix:
    """A matrix of the next entries, row by row."""
    return [list(islice(entries, columns)) for _ in range(rows)]

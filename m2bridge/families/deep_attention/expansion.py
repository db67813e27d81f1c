"""A lightning attention network expanded by FLINT as a polynomial map.

The function is P(XXᵀ)X, where P is a matrix of polynomials in a symmetric matrix S: Q_1 = 1, and
layer k makes Σ_h V_h Q S Qᵀ A_h Q of Q, plus Q itself with a skip connection.

For t ≥ d_0, and for a single layer and t ≥ 2, the coordinates are the coefficients of P:
``c_k_i_…`` belongs to P_ki, and its last numbers are the exponents of S_11, S_12, …, S_nn.
Otherwise they are coefficients of the first token of the output, ``f_k_…`` with the exponents of
X_11, X_12, …, X_nt: as many as are linearly independent for all P. (The other tokens have the same
coefficients, up to the order of the tokens.)

A ``Polynomial`` in the parameters is the dictionary of its coefficients by exponents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import reduce
from itertools import combinations_with_replacement
from operator import add, mul

import flint

from m2bridge.algebra import MAX_RING_VARIABLES
from m2bridge.algebra.linear_algebra import pivot_columns
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.sparse_polynomial import Exponents
from m2bridge.errors import InvalidCaseError, TooLargeError
from m2bridge.families.deep_attention.network import EntryMatrix, NetworkWeights, NumberSystem
from m2bridge.families.deep_attention.shape import NetworkSizes
from m2bridge.families.deep_attention.upper_bounds import coefficient_count
from m2bridge.limits import check, check_deadline_in

# Products of terms, if nothing were collected in between: some twenty seconds.
MAX_EXPANSION_PRODUCTS = 3_000_000

# The coefficients of a polynomial by the exponents of its monomials: x²y + 3 is {(2, 1): 1,
# (0, 0): 3}.
Polynomial = dict[Exponents, int]
# (i, e) is the monomial S^e X_i1 of an output, (k, i, e) the monomial S^e of the entry P_ki. Here i
# and k are from 1, and e has an exponent for each of S_11, S_12, …, S_nn.
OutputMonomial = tuple[int, Exponents]
EntryMonomial = tuple[int, int, Exponents]


def expanded(network: NetworkSizes) -> PolynomialMap:
    """Return the map from the parameters to the coordinates that the module describes.

    InvalidCaseError for softmax; TooLargeError or TimeLimitError if the functions are too large.
    """
    _check_size(network)
    P = _symmetric_coefficients(network)
    if _determines_P(network):
        images = {_name("c", k, i, *e): coefficient for (k, i, e), coefficient in P.items()}
    else:
        images = _coefficients_of_a_token(network, P)
    return PolynomialMap.from_terms(network.parameter_names(), images)


def _name(letter: str, *numbers: int) -> str:
    """Return the name of a coordinate: ``c`` and 1, 2, 0, 1, 0 give ``c_1_2_0_1_0``."""
    return "_".join([letter, *map(str, numbers)])


def _determines_P(network: NetworkSizes) -> bool:
    """Return whether the function P(XXᵀ)X is known to determine P."""
    # Over an algebraically closed field; in characteristic 2 this is true of a dense set of
    # symmetric matrices, which suffices.
    any_symmetric_matrix_is_XXt = network.t >= network.widths[0]
    # For a linear P the output of the first token x_1 has the summand P(x_2 x_2ᵀ) x_1, in which all
    # coefficients of P occur.
    P_is_linear = network.layers == 1
    return any_symmetric_matrix_is_XXt or (P_is_linear and network.t > 1)


def _check_size(network: NetworkSizes) -> None:
    """Refuse softmax, and what has too many coordinates, or takes too many products of terms."""
    if network.softmax:
        raise InvalidCaseError(
            "normalization",
            "softmax functions are not polynomial: they have a dimension, but no Zariski closure to"
            " be computed",
        )
    # Very large networks are refused before coordinates are counted: degrees are 3^l, and the count
    # may be a number with very many digits.
    if (
        network.layers > 9
        or network.widths[0] > 99
        or coefficient_count(network) > MAX_RING_VARIABLES
    ):
        raise TooLargeError(
            f"this network has more than {MAX_RING_VARIABLES} coordinates to write"
            " down (its dimension needs none)"
        )
    products = _product_count(network)
    if products > MAX_EXPANSION_PRODUCTS:
        raise TooLargeError(
            f"the expansion of this network takes about {products:.0e} products of terms; at most"
            f" {MAX_EXPANSION_PRODUCTS:.0e} are made (its dimension needs no expansion)"
        )
    check(products / 150_000)  # the number of products in a second


def _product_count(network: NetworkSizes) -> int:
    """Return the number of products of terms in all layers, if nothing were collected in between.

    Let Q be the d × n matrix that the layers before have made. An entry of the next one,
    V Q S Qᵀ A Q, is a sum over five indices: two of range n, the row and column of S, and three of
    range d, between V and Q, Qᵀ and A, A and Q. Each summand has three entries of Q as factors. An
    entry of A is a parameter, or for a < d a sum of a products of two.
    """
    n = network.widths[0]
    terms_of_Q = 1
    products = 0
    for layer, (d, outputs, a) in enumerate(network.layer_sizes):
        # each entry of Q has about as many terms; in the first layer Q = 1, and an entry of V S A
        # is a sum over two indices
        summands = d**2 if layer == 0 else d**3 * n**2 * terms_of_Q**3
        terms_of_A = a if a < d else 1
        new_terms = network.heads * summands * terms_of_A
        # the new Q has ``outputs`` × n entries
        products += new_terms * outputs * n
        # a skip connection adds the terms of Q itself
        terms_of_Q = new_terms + terms_of_Q if network.skip else new_terms
    return products


def _symmetric_coefficients(network: NetworkSizes) -> dict[EntryMonomial, Polynomial]:
    """Return the coefficients of S^e in P_ki that are not identically zero, by (k, i, e), in order.

    With skip connections the constant part of P, which is the identity, is left out.
    """
    n = network.widths[0]
    entry_count = n * (n + 1) // 2
    # P is a matrix of polynomials in S_11, S_12, …, S_nn and then in the parameters
    context = flint.fmpz_mpoly_ctx.get(("v", entry_count + network.parameter_count), "degrevlex")
    generators = context.gens()
    entry_at = {}
    for (i, j), entry in zip(_pairs(n), generators[:entry_count], strict=True):
        entry_at[i, j] = entry_at[j, i] = entry
    S = EntryMatrix([[entry_at[i, j] for j in range(n)] for i in range(n)])
    Q = EntryMatrix([[context.constant(int(i == j)) for j in range(n)] for i in range(n)])
    weights = NetworkWeights.read(network, generators[entry_count:], NumberSystem())
    for layer in weights.network():
        summands = [
            head.V * (Q * S * Q.transpose() * (head.A * Q)) for head in check_deadline_in(layer)
        ]
        if network.skip:
            summands.append(Q)
        Q = reduce(add, summands)
    P: dict[EntryMonomial, Polynomial] = {}
    for k, row in enumerate(Q.rows, 1):
        for i, entry in enumerate(row, 1):
            # Exponents of the entries of S, then of the parameters. They and the coefficients are
            # integers of FLINT, which become integers of Python.
            for exponents, c in entry.to_dict().items():
                in_S = tuple(map(int, exponents[:entry_count]))
                in_parameters = tuple(map(int, exponents[entry_count:]))
                P.setdefault((k, i, in_S), {})[in_parameters] = int(c)
    # the constant part of P, of a network with skip connections, is the identity
    varying = [(k, i, in_S) for k, i, in_S in P if any(in_S)]
    return {monomial: P[monomial] for monomial in sorted(varying, key=_order)}


def _pairs(n: int) -> Iterator[tuple[int, int]]:
    """Return an iterator over the places of S_11, S_12, …, S_1n, S_22, …, S_nn, from 0."""
    return combinations_with_replacement(range(n), 2)


def _order(monomial: EntryMonomial | OutputMonomial) -> tuple[tuple[int, ...], Exponents]:
    """Return the sorting key of a monomial: output, input, and then larger exponents first."""
    *indices, exponents = monomial
    # negative, because larger exponents come first
    return tuple(indices), tuple(-e for e in exponents)


def _coefficients_of_a_token(
    network: NetworkSizes, P: dict[EntryMonomial, Polynomial]
) -> dict[str, Polynomial]:
    """Return the coefficients ``f_k_…`` of the first token of the output, by their names.

    With S = XXᵀ, entry k of the output's first token is Σ_i P_ki(S) X_i1: the sum over (i, e) of
    P[k, i, e] · S^e X_i1. So its coefficient at a monomial in X is a linear form in the P[k, i, e],
    the same linear form for each k. Of these linear forms a basis is taken.
    """
    symmetric_monomials = sorted({(i, e) for _, i, e in P}, key=_order)
    expanded_monomials = _monomials_in_tokens(network, symmetric_monomials)
    token_monomials = sorted(set().union(*expanded_monomials), reverse=True)
    # The row for (i, e) has the coefficients of S^e X_i1. The column for a monomial in X has the
    # coefficients of its linear form.
    matrix = [[expanded.get(m, 0) for m in token_monomials] for expanded in expanded_monomials]
    independent_columns, _ = pivot_columns(matrix)
    images: dict[str, Polynomial] = {}
    for k in range(1, network.widths[-1] + 1):
        for column in independent_columns:
            # the linear form with the entries of the column as coefficients
            terms = Counter[Exponents]()
            for (i, e), row in zip(symmetric_monomials, matrix, strict=True):
                for exponents, coefficient in P.get((k, i, e), {}).items():
                    terms[exponents] += row[column] * coefficient
            image = {
                exponents: coefficient for exponents, coefficient in terms.items() if coefficient
            }
            # a coordinate that is zero for all parameters has no name
            if image:
                images[_name("f", k, *token_monomials[column])] = image
    return images


def _monomials_in_tokens(
    network: NetworkSizes, monomials: list[OutputMonomial]
) -> list[Polynomial]:
    """Return the polynomials S^e X_i1 in X_11, X_12, …, X_nt, with S = XXᵀ, for these (i, e)."""
    n, t = network.widths[0], network.t
    generators = flint.fmpz_mpoly_ctx.get(("x", n * t), "degrevlex").gens()
    X = [generators[i * t : (i + 1) * t] for i in range(n)]
    # the entries S_pq = Σ_j X_pj X_qj for p ≤ q
    entries_of_S = [reduce(add, map(mul, X[p], X[q])) for p, q in _pairs(n)]
    polynomials = []
    for i, exponents in check_deadline_in(monomials):
        value = X[i - 1][0]
        for entry, e in zip(entries_of_S, exponents, strict=True):
            value *= entry**e
        # FLINT's exponents and coefficients become integers of Python
        polynomials.append({tuple(map(int, m)): int(c) for m, c in value.to_dict().items()})
    return polynomials

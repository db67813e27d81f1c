"""A lightning attention network expanded: by FLINT as a polynomial map, or as a sum of words.

Words are products of matrices of any size, and make identities for all sizes.

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
from collections.abc import Sequence
from functools import reduce
from itertools import combinations_with_replacement
from operator import add, mul
from typing import Any

import flint

from m2bridge.algebra.linear_algebra import pivot_columns
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.sparse_polynomial import Exponents
from m2bridge.errors import InvalidCaseError, TooLargeError
from m2bridge.families.deep_attention.network import (
    EntryMatrix,
    HeadMatrices,
    LayerMatrices,
    NetworkWeights,
    NumberSystem,
)
from m2bridge.families.deep_attention.shape import NetworkSizes
from m2bridge.families.deep_attention.upper_bounds import coefficient_count
from m2bridge.limits import check, check_deadline_in

# More coordinates are not written down.
MAX_EXPANDED_NETWORK_COORDINATES = 20_000
# Networks with more layers or inputs are refused before coordinates are counted: degrees are 3^l,
# and the count may be a number with very many digits.
MAX_EXPANDED_LAYERS = 9
MAX_NAMED_INPUTS = 99
# Products of terms, if nothing were collected in between: some twenty seconds.
MAX_EXPANSION_PRODUCTS = 3_000_000
_PRODUCTS_PER_SECOND = 150_000

# The coefficients of a polynomial by the exponents of its monomials: x²y + 3 is {(2, 1): 1,
# (0, 0): 3}.
Polynomial = dict[Exponents, int]
# (i, e) is the monomial S^e X_i1 of an output, (k, i, e) the monomial S^e of the entry P_ki. Here i
# and k are from 1, and e has an exponent for each of S_11, S_12, …, S_nn.
OutputMonomial = tuple[int, Exponents]
EntryMonomial = tuple[int, int, Exponents]


def expanded(network: NetworkSizes) -> PolynomialMap:
    """Return the map from the parameters to the coordinates that the module describes.

    They are the coefficients ``c_k_i_…`` of P, if the function is known to determine P, otherwise
    those of the first token of the output, ``f_k_…``; each is a polynomial in the parameters.

    Raises
    ------
    InvalidCaseError
        If the functions are not polynomial: for softmax.
    TooLargeError
        If they are too large to be expanded.
    TimeLimitError
        If the expansion would take longer than the time that is left.
    """
    _check_size(network)
    # the coefficient of S^e in P_ki for each (k, i, e)
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
    """Return whether the function P(XXᵀ)X determines P, so that the coefficients of P are
    coordinates.

    This is False where it is not known.
    """
    # Over an algebraically closed field; in characteristic 2 this is true of a dense set of
    # symmetric matrices, which suffices.
    any_symmetric_matrix_is_XXt = network.t >= network.widths[0]
    # For a linear P the output of the first token x_1 has the summand P(x_2 x_2ᵀ) x_1, in which all
    # coefficients of P occur.
    P_is_linear = network.layers == 1
    return any_symmetric_matrix_is_XXt or (P_is_linear and network.t > 1)


def _check_size(network: NetworkSizes) -> None:
    """Check that the functions of a network are polynomials, and small enough to be expanded.

    Raises
    ------
    InvalidCaseError
        For softmax.
    TooLargeError
        If there are too many coordinates, or products of terms.
    TimeLimitError
        If the expansion would take longer than the time that is left.
    """
    if network.softmax:
        raise InvalidCaseError(
            "normalization",
            "softmax functions are not polynomial: they have a dimension, but no Zariski closure to"
            " be computed",
        )
    if (
        network.layers > MAX_EXPANDED_LAYERS
        or network.widths[0] > MAX_NAMED_INPUTS
        or coefficient_count(network) > MAX_EXPANDED_NETWORK_COORDINATES
    ):
        raise TooLargeError(
            f"this network has more than {MAX_EXPANDED_NETWORK_COORDINATES} coordinates to write"
            " down (its dimension needs none)"
        )
    products = _product_count(network)
    if products > MAX_EXPANSION_PRODUCTS:
        raise TooLargeError(
            f"the expansion of this network takes about {products:.0e} products of terms; at most"
            f" {MAX_EXPANSION_PRODUCTS:.0e} are made (its dimension needs no expansion)"
        )
    check(products / _PRODUCTS_PER_SECOND)


def _product_count(network: NetworkSizes) -> int:
    """Return the number of products of terms in all layers, if nothing were collected in between.

    Let Q be the d × n matrix of the module that the layers before have made. An entry of the next
    one, V Q S Qᵀ A Q, is a sum over five indices: two of range n, the row and column of S, and
    three of range d, between V and Q, Qᵀ and A, A and Q. Each summand has three entries of Q as
    factors. An entry of A is a parameter, or for a < d, where A is a product of two matrices of
    parameters, a sum of a terms.
    """
    n = network.widths[0]
    terms_of_Q = 1
    products = 0
    for layer, (d, after, a) in enumerate(network.layer_sizes):
        # each entry of Q has about as many terms; in the first layer Q = 1, and an entry of V S A
        # is a sum over two indices
        summands = d**2 if layer == 0 else d**3 * n**2 * terms_of_Q**3
        terms_of_A = a if a < d else 1
        new_terms = network.heads * summands * terms_of_A
        # the new Q has ``after`` × n entries
        products += new_terms * after * n
        # a skip connection adds the terms of Q itself
        terms_of_Q = new_terms + terms_of_Q if network.skip else new_terms
    return products


def _symmetric_coefficients(network: NetworkSizes) -> dict[EntryMonomial, Polynomial]:
    """Return the coefficients of P that are not identically zero, in the order of their names.

    The result maps (k, i, e) to the coefficient of S^e in the entry P_ki, a polynomial in the
    parameters; see :data:`EntryMonomial`. With skip connections the constant part of P, which is
    the identity, is left out.
    """
    n = network.widths[0]
    entry_count = n * (n + 1) // 2
    P: dict[EntryMonomial, Polynomial] = {}
    for k, row in enumerate(_matrix_P(network).rows, 1):
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


def _matrix_P(network: NetworkSizes) -> EntryMatrix:
    """Return the matrix P of the module, by its layers.

    Its entries are polynomials of FLINT whose variables are the entries S_11, S_12, …, S_nn of a
    symmetric matrix, and then the parameters of the network.
    """
    n = network.widths[0]
    entry_count = n * (n + 1) // 2
    context = flint.fmpz_mpoly_ctx.get(("v", entry_count + network.parameter_count), "degrevlex")
    generators = context.gens()
    entries, parameters = generators[:entry_count], generators[entry_count:]
    S = _symmetric_matrix(entries, n)
    Q = EntryMatrix([[context.constant(int(i == j)) for j in range(n)] for i in range(n)])
    # a layer is the tuple of its heads, each with its matrices A and V
    for layer in NetworkWeights.read(network, parameters, NumberSystem()).network():
        # the summands V_h Q S Qᵀ A_h Q of the module
        summands = [
            head.V * (Q * S * Q.transpose() * (head.A * Q)) for head in check_deadline_in(layer)
        ]
        if network.skip:
            summands.append(Q)
        Q = reduce(add, summands)
    return Q


def _symmetric_matrix(entries: Sequence[Any], n: int) -> EntryMatrix:
    """Return the symmetric n × n matrix S with the entries S_11, S_12, …, S_1n, S_22, …, S_nn."""
    entry_at = {}
    pairs = combinations_with_replacement(range(n), 2)
    for (p, q), entry in zip(pairs, entries, strict=True):
        entry_at[p, q] = entry_at[q, p] = entry
    return EntryMatrix([[entry_at[p, q] for q in range(n)] for p in range(n)])


def _order(monomial: EntryMonomial | OutputMonomial) -> tuple[tuple[int, ...], Exponents]:
    """Return the sorting key of a monomial: output, input, and then larger exponents first."""
    *indices, exponents = monomial
    # negative, because larger exponents come first
    return tuple(indices), tuple(-e for e in exponents)


def _coefficients_of_a_token(
    network: NetworkSizes, P: dict[EntryMonomial, Polynomial]
) -> dict[str, Polynomial]:
    """Return the coefficients ``f_k_…`` of the first token of the output, by their names.

    ``P`` maps (k, i, e) to the coefficient of S^e in P_ki, a polynomial in the parameters. With
    S = XXᵀ, entry k of the output's first token is Σ_i P_ki(S) X_i1: the sum over (i, e) of
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
            factors = [row[column] for row in matrix]
            coefficients = [P.get((k, i, e), {}) for i, e in symmetric_monomials]
            image = _linear_combination(factors, coefficients)
            # a coordinate that is zero for all parameters has no name
            if image:
                images[_name("f", k, *token_monomials[column])] = image
    return images


def _linear_combination(factors: list[int], polynomials: list[Polynomial]) -> Polynomial:
    """Return the sum of the products of factors and polynomials, one of each; terms that are zero
    are left out.
    """
    total = Counter[Exponents]()
    for factor, polynomial in zip(factors, polynomials, strict=True):
        if factor:
            for exponents, coefficient in polynomial.items():
                total[exponents] += factor * coefficient
    return {exponents: coefficient for exponents, coefficient in total.items() if coefficient}


def _monomials_in_tokens(
    network: NetworkSizes, monomials: list[OutputMonomial]
) -> list[Polynomial]:
    """Return the polynomial S^e X_i1 in X, where S = XXᵀ, for each of the monomials (i, e).

    Each polynomial maps exponents, one for each of X_11, X_12, …, X_nt, to coefficients.
    """
    n, t = network.widths[0], network.t
    generators = flint.fmpz_mpoly_ctx.get(("x", n * t), "degrevlex").gens()
    X = [generators[i * t : (i + 1) * t] for i in range(n)]
    pairs = combinations_with_replacement(range(n), 2)
    # the entries S_pq = Σ_j X_pj X_qj for p ≤ q
    entries_of_S = [reduce(add, map(mul, X[p], X[q])) for p, q in pairs]
    polynomials = []
    for i, exponents in check_deadline_in(monomials):
        value = X[i - 1][0]
        for entry, e in zip(entries_of_S, exponents, strict=True):
            value *= entry**e
        # FLINT's exponents and coefficients become integers of Python
        polynomials.append({tuple(map(int, m)): int(c) for m, c in value.to_dict().items()})
    return polynomials


# The bit by which the letter of a transpose differs: above the letters of a thousand layers.
_TRANSPOSED = 1 << 19


class WordSum(Counter[str]):
    """A sum of words in matrices of any size: how often each word occurs.

    A network of lightning attention is such a sum in the A, the V, X and their transposes, so
    identities between words hold for matrices of all sizes. A word is a string with a character for
    each letter, and a letter is a sum of one word with one character. So XXᵀ + 2A is {"xX": 1,
    "a": 2}, if x, X and a are the characters of X, Xᵀ and A. The empty word is the unit matrix.
    """

    @classmethod
    def letter(cls, number: int) -> WordSum:
        """Return the word of one letter, the one with this number."""
        return cls([chr(number)])

    def __mul__(self, other: WordSum) -> WordSum:
        """Return the sum of all products of a word of this sum with a word of the other."""
        product = WordSum()
        for first, count in self.items():
            for second, times in other.items():
                product[first + second] += count * times
        return product

    def __add__(self, other: WordSum) -> WordSum:  # type: ignore[override]
        return WordSum(super().__add__(other))

    def degrees(self, letter: WordSum) -> list[int]:
        """Return how often a letter or its transpose is in each word, in the order of words.

        ``letter`` is the sum of one word of one letter.
        """
        # the one key of the counter
        (character,) = letter
        (transposed,) = letter.transpose()
        return [word.count(character) + word.count(transposed) for word in self]

    def transpose(self) -> WordSum:
        """Return each word backwards, each letter transposed."""
        return WordSum({_transposed_word(word): count for word, count in self.items()})


def _transposed_word(word: str) -> str:
    """Return the word of the transposed product: (AB)ᵀ = BᵀAᵀ, and transposing twice is nothing."""
    return "".join(chr(ord(letter) ^ _TRANSPOSED) for letter in reversed(word))


TOKENS = WordSum.letter(1)
UNIT_MATRIX = WordSum([""])


def letters(head: int) -> tuple[WordSum, WordSum]:
    """Return the letters A and V of a head; the heads of all layers are counted from 0."""
    # number 1 is that of the tokens X
    return WordSum.letter(2 * head + 2), WordSum.letter(2 * head + 3)


def layer_of_letters(number: int, heads: int = 1) -> LayerMatrices:
    """Return layer ``number``, from 0, of a network whose A and V are different letters.

    Each layer has this number of heads; the result is the tuple of the heads of the layer.
    """
    return tuple(HeadMatrices(*letters(number * heads + h)) for h in range(heads))

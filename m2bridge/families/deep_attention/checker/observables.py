"""The observables of statements, recomputed, with the numbers that certificates contain.

*Theorem* ("One block decides" in docs/deep-attention.md): the rank of a differential at one point
modulo a prime is at most its rank over QQ, which is at most the dimension of the image; and with
theorem-block there one small block decides for one head and no skip connections.

*Checked here*: ranks of whole differentials, for attention matrices, virtual weights and functions
of lightning attention, and that they meet an upper bound of ``predictions``; the normal form and
the scalings as identities of words, which hold for matrices of all sizes.

*Taken on trust*: the theorem, the upper bounds, FLINT's ranks modulo a prime.

*Notation* (as in docs/deep-attention.md). A network has l layers, widths d_0, …, d_l, with
n = d_0, and t tokens, the columns of X. A *head* of layer k has matrices K, Q and V, its *weights*;
A = KᵀQ is its attention matrix, of rank at most a_k. Lightning attention maps the tokens Y to the
sum of V YYᵀAY over the heads, plus Y with a skip connection. For one head without skip connections
the *virtual weights* are A'_k = M_kᵀ A_k M_k, with M_k = V_{k−1} ⋯ V_1, and M = V_l ⋯ V_1, and the
*torus* is the group (K^*)^l of their scalings that keep the function φ. In names, *entering* is
what comes into each layer (the tokens, or M_k), and the *slope* of a matrix is its derivative in a
given direction. ``Found`` is a pair for an observable: its value, a number or True or False, None
if it is not decided; and its evidence, numbers by name. If nothing is computed, as for what a
network does not have, the pair is ``NOT_COMPUTED``, (None, {}).
"""

from collections.abc import Callable, Iterator
from functools import cache, partial, reduce
from operator import add
from random import Random
from typing import Any

import flint

from m2bridge.checker.algebra import PRIME, rank_modulo
from m2bridge.checker.draws import unpredictable
from m2bridge.errors import ContradictionError, TooExpensiveError
from m2bridge.families.deep_attention.checker.block import (
    BLOCK_POINT_SEED,
    STATED_PRIME,
    columns_and_rank,
    unseen_dimension,
)
from m2bridge.families.deep_attention.checker.fibres import fibre, unknown_count
from m2bridge.families.deep_attention.checker.limit import limit_outside
from m2bridge.families.deep_attention.checker.predictions import (
    WORDS,
    Network,
    SizesOfLayer,
    all_attention_matrices,
    hypotheses,
    upper_bound,
    virtual_weights_dimension,
)

# The most entries of a matrix whose rank is computed, which takes about a second, and the most
# operations to make it.
MAX_RANK_MATRIX_ENTRIES = 3 * 10**6
MAX_RANK_STEPS = 10**8

Found = tuple[int | None, dict[str, int]]
NOT_COMPUTED: Found = (None, {})

Head = dict[str, Any]  # the matrices K, Q and V by their names


def observe(network: Network, observable: str) -> Found:
    """The value of the observable with this name, and its evidence; or TooExpensiveError."""
    return _OBSERVED[observable](network)


def _dimension_between(rank: int, upper: int) -> Found:
    """The dimension of an image, not decided unless a rank and an upper bound are equal; a rank
    above the bound refutes a proof or a program: ContradictionError.
    """
    if rank > upper:
        raise ContradictionError(f"a rank {rank} above the bound {upper}")
    dimension = rank if rank == upper else None
    return dimension, {"rank": rank, "upper_bound": upper}


# Ranks of whole differentials. K and Q have min(a, d) rows: with d of them KᵀQ is any matrix.


def weight_count(network: Network) -> int:
    """The number of weights of all heads."""
    one_head_of_each_layer = 0
    for inputs, outputs, a in network.layers:
        one_head_of_each_layer += 2 * min(a, inputs) * inputs + inputs * outputs
    return network.heads * one_head_of_each_layer


def _check_price(rows: int, columns: int, steps: int = 0) -> None:
    """Raise TooExpensiveError if a matrix is too large, or takes too many steps to make."""
    if rows * columns > MAX_RANK_MATRIX_ENTRIES or steps > MAX_RANK_STEPS:
        raise TooExpensiveError("case", f"a matrix of {rows} × {columns} entries")


def _random(rows: int, columns: int, random: Random) -> Any:
    """A random matrix modulo PRIME, with this number of rows and of columns."""
    entries = [random.randrange(PRIME) for _ in range(rows * columns)]
    return flint.nmod_mat(rows, columns, entries, PRIME)


def random_head(sizes: SizesOfLayer, random: Random) -> Head:
    """A random head of a layer with these sizes."""
    inputs, outputs, a = sizes
    rows = min(a, inputs)
    K = _random(rows, inputs, random)
    Q = _random(rows, inputs, random)
    return {"K": K, "Q": Q, "V": _random(outputs, inputs, random)}


def _entries(A: Any) -> list[int]:
    """The entries of a matrix, row by row."""
    return list(map(int, A.entries()))


def _units(A: Any) -> Iterator[Any]:
    """Yield the matrices of the size of A with one entry 1 and else zeros."""
    rows, columns = A.nrows(), A.ncols()
    for i in range(rows * columns):
        entries = [0] * (rows * columns)
        entries[i] = 1
        yield flint.nmod_mat(rows, columns, entries, PRIME)


@cache
def attention_rank(d: int, a: int) -> int:
    """The rank of the differential of (K, Q) ↦ KᵀQ at a random point, for K and Q of size a × d:
    its image is spanned by all K̇ᵀQ and KᵀQ̇.
    """
    rows = min(a, d)
    _check_price(2 * rows * d, d * d)
    random = unpredictable()
    K = _random(rows, d, random)
    Q = _random(rows, d, random)
    tangents = []
    for E in _units(K):
        # E as K̇, then as Q̇
        tangents += [_entries(E.transpose() * Q), _entries(K.transpose() * E)]
    return rank_modulo(tangents)


def virtual_rank(network: Network) -> int:
    """The rank of the differential of weights ↦ (A'_1, …, A'_l, M) at a random point."""
    n = network.widths[0]
    count = weight_count(network)
    coordinates = network.depth * n * n + network.widths[-1] * n
    # each of ``count`` derivatives is found by products with matrices of ``count`` entries in all
    _check_price(count, coordinates, steps=count**2)
    random = unpredictable()
    layers = [random_head(sizes, random) for sizes in network.layers]
    identity = [int(i == j) for i in range(n) for j in range(n)]
    entering = [flint.nmod_mat(n, n, identity, PRIME)]  # M_1, …, M_{l+1}
    for head in layers:
        entering.append(head["V"] * entering[-1])
    tangents = []
    for k, head in enumerate(layers):
        for letter, matrix in head.items():
            for E in _units(matrix):
                tangent = _virtual_tangent(layers, entering, moving=k, letter=letter, E=E)
                tangents.append(tangent)
    return rank_modulo(tangents)


def _virtual_tangent(
    layers: list[Head], entering: list[Any], moving: int, letter: str, E: Any
) -> list[int]:
    """The derivative of A'_1, …, A'_l and M when one matrix of layer ``moving`` + 1 moves along E:
    by the product rule, with the derivative of M_k carried from layer to layer.
    """
    slope_of_M = 0 * entering[moving]
    # the A'_k of earlier layers, n × n matrices, do not move
    derivatives = [0] * (moving * entering[0].nrows() ** 2)
    for k in range(moving, len(layers)):
        head, M = layers[k], entering[k]
        slopes = {name: 0 * matrix for name, matrix in head.items()}
        if k == moving:
            slopes[letter] = E
        KM = head["K"] * M
        QM = head["Q"] * M
        slope_of_KM = slopes["K"] * M + head["K"] * slope_of_M
        slope_of_QM = slopes["Q"] * M + head["Q"] * slope_of_M
        slope_of_A = slope_of_KM.transpose() * QM + KM.transpose() * slope_of_QM
        derivatives += _entries(slope_of_A)
        slope_of_M = slopes["V"] * M + head["V"] * slope_of_M
    return derivatives + _entries(slope_of_M)


def function_rank(network: Network, upper: int) -> int:
    """A lower bound of the dimension of functions of lightning attention: the rank of a matrix.

    A row is the derivative of ⟨G, φ(X)⟩ with respect to all weights, with a random X and a random
    covector G of its own: a combination of rows of the Jacobian matrix of the coefficients of φ,
    whose rank is at most ``upper``. Five rows more make up for a few that depend on others.
    """
    rows = upper + 5
    _check_price(rows, weight_count(network))
    random = unpredictable()
    # Three tokens are not zero. Fewer than t can only make the rank smaller, which is a lower bound
    # in any case.
    tokens = min(network.t, 3)
    layers = [
        [random_head(sizes, random) for _ in range(network.heads)] for sizes in network.layers
    ]
    gradients = []
    for _ in range(rows):
        X = _random(network.widths[0], tokens, random)
        G = _random(network.widths[-1], tokens, random)
        gradients.append(gradient(layers, network.skip, X, G))
    return rank_modulo(gradients)


def gradient(layers: list[list[Head]], skip: bool, X: Any, G: Any) -> list[int]:
    """The derivative of ⟨G, φ(X)⟩ with respect to all weights, from the last layer to the first,
    the weights of each head in the order V, K, Q, each matrix row by row.
    """
    Y = X
    entering = []
    for heads in layers:
        entering.append(Y)
        outputs = [head["V"] * _mixed_tokens(head, Y) for head in heads]
        if skip:
            outputs.append(Y)
        Y = reduce(add, outputs)
    derivatives: list[int] = []
    # G is the derivative with respect to the output of a layer, from the last layer on
    for heads, Y in zip(reversed(layers), reversed(entering), strict=True):
        # the summands of the derivative with respect to Y; a skip connection adds Y to the output
        by_Y = [G] if skip else []
        for head in heads:
            by_weights, by_tokens = _derivatives_of_head(head, Y, G)
            derivatives += by_weights
            by_Y.append(by_tokens)
        G = reduce(add, by_Y)
    return derivatives


def _derivatives_of_head(head: Head, Y: Any, G: Any) -> tuple[list[int], Any]:
    """The derivatives of a function of the output V·YYᵀAY with respect to V, K and Q, and to Y,
    from its derivative ``G`` with respect to this output.

    Write ∂Z for the derivative with respect to a matrix Z, and put Γ = VᵀG. Then ∂V = G(YYᵀAY)ᵀ, ∂A
    = D = YYᵀΓYᵀ, ∂K = Q Dᵀ, ∂Q = K D, and ∂Y = AᵀYYᵀΓ + WY + WᵀY with W = ΓYᵀAᵀ, whose summands
    come from the last, the first and the second factor Y. Neither A nor D, which are n × n, is
    multiplied out.
    """
    K, Q = head["K"], head["Q"]
    gamma = head["V"].transpose() * G
    # YYᵀΓ: the derivative D by A is this times Yᵀ
    left_of_D = Y * (Y.transpose() * gamma)
    by_V = G * _mixed_tokens(head, Y).transpose()
    by_K = Q * Y * left_of_D.transpose()
    by_Q = K * left_of_D * Y.transpose()
    AY = K.transpose() * (Q * Y)
    by_last_Y = Q.transpose() * (K * left_of_D)
    by_first_Y = gamma * (AY.transpose() * Y)
    by_second_Y = AY * (gamma.transpose() * Y)
    by_weights = _entries(by_V) + _entries(by_K) + _entries(by_Q)
    return by_weights, by_last_Y + by_first_Y + by_second_Y


def _mixed_tokens(head: Head, Y: Any) -> Any:
    """The matrix YYᵀAY of a head: its output is V times this."""
    return Y * (Y.transpose() * (head["K"].transpose() * (head["Q"] * Y)))


# A letter is a matrix, its negative the transpose.
Word = tuple[int, ...]


def normal_form_factors(layers: int) -> int | None:
    """The number of factors of φ, if both sides of φ = M Q_{l+1} X are the same word (Lemma 3.6),
    so equal products for matrices of all sizes; None if they are different.

    Before the first layer φ is X, and M and Q are the empty word. Layer k replaces φ by V_k φφᵀ A_k
    φ, and Q by Q XXᵀ Qᵀ Mᵀ A_k M Q with M = V_{k−1} ⋯ V_1; then it replaces M by V_k M. The letter
    1 is X, 2k is A_k, 2k + 1 is V_k.
    """
    X: Word = (1,)
    function = X
    M: Word = ()
    Q: Word = ()
    for k in range(1, layers + 1):
        A: Word = (2 * k,)
        V: Word = (2 * k + 1,)
        function = V + function + transposed_word(function) + A + function
        Q = Q + X + transposed_word(X) + transposed_word(Q) + transposed_word(M) + A + M + Q
        M = V + M
    return len(function) if function == M + Q + X else None


def transposed_word(word: Word) -> Word:
    return tuple(-letter for letter in reversed(word))


# The observables. Softmax is observed for one head without skip connections only.


def _attention_matrices(network: Network) -> Found:
    """The dimension of the attention matrices of all heads: a sum, as these are independent."""
    rank = network.heads * sum(attention_rank(d, a) for d, _, a in network.layers)
    return _dimension_between(rank, all_attention_matrices(network))


def _virtual_weights(network: Network) -> Found:
    """The dimension of the virtual weights, where there are any."""
    if not network.plain:
        return NOT_COMPUTED
    # no A'_k is symmetrized
    upper = virtual_weights_dimension(network, whole=network.depth)
    return _dimension_between(virtual_rank(network), upper)


def _normal_form(network: Network) -> Found:
    """Whether lightning attention has the normal form φ = M Q_{l+1} X (Lemma 3.6)."""
    # a word of l layers has about 2·3^l letters; for all l the form is proved step by step
    if network.softmax or not network.plain or network.depth > 12:
        return NOT_COMPUTED
    factors = normal_form_factors(network.depth)
    return factors is not None, {"factors": factors or 0}


def _scalings(network: Network) -> Found:
    """Whether V ↦ cV, A ↦ A/c keeps a layer V Y Y'A Y of lightning attention, with Y' for Yᵀ:
    whether V and A occur equally often. A skip connection adds Y, in which neither occurs.
    """
    if network.softmax:
        return NOT_COMPUTED
    layer = ["V", "Y", "Y'", "A", "Y"]
    degrees = {"degree_in_values": layer.count("V"), "degree_in_attention": layer.count("A")}
    return degrees["degree_in_values"] == degrees["degree_in_attention"], degrees


@cache
def _dimension(network: Network) -> Found:
    """The dimension of the functions, None unless a lower bound meets the upper bound."""
    if network.softmax and not network.plain:
        return NOT_COMPUTED
    upper = upper_bound(network)
    lower = upper
    numbers: dict[str, int] = {}
    # functions of softmax of one token are the matrices of bounded rank, of known dimension
    if network.plain and not (network.softmax and network.t == 1):
        lower, numbers = _by_block(network, upper)
    elif not network.plain:
        lower = function_rank(network, upper)
    value, _ = _dimension_between(lower, upper)
    return value, numbers | {"lower_bound": lower, "upper_bound": upper}


def _by_block(network: Network, upper: int) -> tuple[int, dict[str, int]]:
    """The lower bound of the dimension by theorem-block, and the numbers behind it, by name.

    If the kernel of the differential of the block has the dimension that it always has, the
    dimension is ``upper``. Otherwise the bound is 0: the rank of the block may be more than the
    dimension, because all entries of its C_k move, also where the matrices of the network have rank
    one.
    """
    columns, rank = columns_and_rank(network)
    kernel = unseen_dimension(network)
    numbers = {
        "columns": columns,
        "rank": rank,
        "unseen": kernel,
        "seed": BLOCK_POINT_SEED,
        "prime": STATED_PRIME,
    }
    # a second way, which shares nothing with the first, and is quick for few weights
    if weight_count(network) <= 60 and not network.softmax:
        whole_rank = function_rank(network, upper)
        if whole_rank != upper:
            raise ContradictionError(
                f"the block gives {upper}, the whole differential {whole_rank}"
            )
    kernel_is_least = rank == columns - kernel
    return (upper if kernel_is_least else 0), numbers


def _unseen_weights(network: Network) -> Found:
    """The dimension of the fibres of (A, V) ↦ φ over general functions: the dimension of all pairs
    (A, V), less the dimension of the functions.
    """
    dimension, numbers = _dimension(network)
    if not numbers:
        return NOT_COMPUTED
    entries_of_V = sum(d * outputs for d, outputs, _ in network.layers)
    pairs = all_attention_matrices(network) + network.heads * entries_of_V
    unseen_weights = None if dimension is None else pairs - dimension
    return unseen_weights, numbers | {"weights": pairs}


def _virtual_fibre_dimension(network: Network) -> Found:
    """The dimension of a general fibre in the virtual weights, up to the torus, which has dimension
    l and acts freely where no A'_k is zero. Softmax has no torus.
    """
    if network.softmax or not network.plain:
        return NOT_COMPUTED
    weights_dimension, weights_numbers = _virtual_weights(network)
    functions_dimension, functions_numbers = _dimension(network)
    numbers = {
        "virtual_weights": weights_numbers["rank"],
        "functions": functions_numbers["lower_bound"],
    }
    if weights_dimension is None or functions_dimension is None:
        return None, numbers
    return weights_dimension - functions_dimension - network.depth, numbers


def _fibre(network: Network, observable: str) -> Found:
    """The dimension or degree of a fibre among all matrices, or whether a fibre is one point.

    The fibre among all matrices, of any ranks, contains the fibre in the virtual weights, and has
    the same dimension if virtual weights are dense in all matrices: ContradictionError if the
    dimensions by Gröbner bases and by ranks do not fit.
    """
    # 0 says that no fibre of this network is computed
    if unknown_count(network) == 0:
        return NOT_COMPUTED
    dimension, degree = fibre(network)
    virtual_dimension, virtual_numbers = _virtual_fibre_dimension(network)
    n = network.widths[0]
    all_matrices_dimension = network.depth * n * n + n * network.widths[-1]
    dense = virtual_numbers["virtual_weights"] == all_matrices_dimension
    if virtual_dimension is not None:
        too_small = dimension < virtual_dimension
        too_large = dense and dimension > virtual_dimension
        if too_small or too_large:
            raise ContradictionError(
                f"a fibre of dimension {dimension}, {virtual_dimension} in the virtual weights"
            )
    numbers = {"unknowns": unknown_count(network)}
    if observable == "fibre_dimension":
        return dimension, numbers | {"dimension": dimension}
    if observable == "fibre_degree":
        return degree, numbers | {"degree": degree}
    # The fibre in the virtual weights is not empty: one point if that among all matrices is. If
    # there are several among all matrices, it is not computed which of them are virtual weights.
    is_one_point = None
    if dimension == 0 and degree == 1:
        is_one_point = True
    elif virtual_dimension is not None and virtual_dimension > 0:
        is_one_point = False
    return is_one_point, numbers | {"dimension": dimension, "degree": degree}


def _closed(network: Network) -> Found:
    """Whether the functions form a closed set, where the statement ``closed`` applies: no if all
    facts hold which show that a limit of networks is not a network.
    """
    if hypotheses(network, WORDS.words("closed", "")):
        return NOT_COMPUTED
    facts = limit_outside()
    closed = False if all(facts.values()) else None
    return closed, dict(facts)


_OBSERVED: dict[str, Callable[[Network], Found]] = {
    "attention_matrices": _attention_matrices,
    "closed": _closed,
    "dimension": _dimension,
    "fibre_degree": partial(_fibre, observable="fibre_degree"),
    "fibre_dimension": partial(_fibre, observable="fibre_dimension"),
    "fibre_is_one_point": partial(_fibre, observable="fibre_is_one_point"),
    "normal_form": _normal_form,
    "scalings_keep_the_function": _scalings,
    "unseen_weights": _unseen_weights,
    "virtual_fibre_dimension": _virtual_fibre_dimension,
    "virtual_weights": _virtual_weights,
}

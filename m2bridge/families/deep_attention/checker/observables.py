"""The observables of statements, recomputed, with the numbers that certificates contain.

*Theorem* ("One block decides" in docs/deep-attention.md): the rank of a differential at one point
modulo a prime is at most its rank over QQ, which is at most the dimension of the image; and with
theorem-block there one small block decides for one head and no skip connections.

*Checked here*: ranks of whole differentials, for attention matrices, virtual weights and functions
of lightning attention, and that they meet an upper bound of ``predictions``; the normal form and
the scalings as identities of words, which hold for matrices of all sizes.

*Taken on trust*: the theorem, the upper bounds, FLINT's ranks modulo a prime.

*Notation* (that of docs/deep-attention.md). A network has l layers, widths d_0, …, d_l, with
n = d_0, and t tokens, the columns of X. A *head* of layer k has matrices K, Q and V, its *weights*;
A = KᵀQ is its attention matrix, of rank at most a_k. Lightning attention maps the tokens Y to the
sum of V YYᵀAY over the heads, plus Y with a skip connection. For one head without skip connections
the *virtual weights* are A'_k = M_kᵀ A_k M_k, with M_k = V_{k−1} ⋯ V_1, and M = V_l ⋯ V_1, and the
*torus* is the group (K^*)^l of their scalings that keep the function φ. In names, *entering* is
what comes into each layer (the tokens, or M_k), and the *slope* of a matrix is its derivative in a
given direction. ``Found`` is a pair for an observable: its value, None if it is not decided, and
its evidence, numbers by name. If nothing is computed the pair is ``NOT_COMPUTED``, (None, {}).
"""

from collections.abc import Callable, Iterator
from functools import cache, partial, reduce
from operator import add
from random import Random
from typing import Any, NamedTuple

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
# The most tokens that are not zero where a rank is computed. Fewer can only make the rank smaller,
# which is a lower bound in any case.
MAX_NONZERO_TOKENS = 3
# The most layers for which the normal form is compared as one word, of about 2·3^l letters; for all
# l it is proved step by step.
MAX_WORD_LAYERS = 12
# Up to this many weights the whole differential is computed in addition to the block.
MAX_DOUBLE_CHECKED_WEIGHTS = 60

# The result for an observable: its value, and the numbers by name that are its evidence. A value
# yes or no is 1 or 0 as a bool, and a value that is not decided is None. There are no numbers if
# nothing is computed.
Found = tuple[int | None, dict[str, int]]
NOT_COMPUTED: Found = (None, {})

# The matrices K, Q and V of a head, by their names.
Head = dict[str, Any]


def observe(network: Network, observable: str) -> Found:
    """The value of the observable with this name, and the numbers by name that are its evidence.

    The value is a number, or True or False, or None if it is not decided. The evidence is empty if
    nothing was computed. TooExpensiveError if the computation is too large.
    """
    return _OBSERVED[observable](network)


def _dimension_between(rank: int, upper: int) -> Found:
    """The dimension of an image, by its lower bound ``rank`` and an upper bound; with both bounds
    as evidence, under the names ``rank`` and ``upper_bound``.

    The dimension is None, not decided, unless the bounds are equal. A rank above the upper bound
    refutes a proof or a program: ContradictionError.
    """
    if rank > upper:
        raise ContradictionError(f"a rank {rank} above the bound {upper}")
    dimension = rank if rank == upper else None
    return dimension, {"rank": rank, "upper_bound": upper}


# Ranks of whole differentials.


def weight_count(network: Network) -> int:
    """The number of weights of all heads, with at most d rows of K and of Q in width d.

    More rows change nothing: with d of them KᵀQ is any d × d matrix.
    """
    one_head_of_each_layer = 0
    for before, after, a in network.layers:
        one_head_of_each_layer += 2 * min(a, before) * before + before * after
    return network.heads * one_head_of_each_layer


def _check_price(rows: int, columns: int, steps: int = 0) -> None:
    """Raise TooExpensiveError if a matrix is too large, or takes too many steps to make.

    ``steps`` is the number of operations that make the entries, 0 if each is made at once.
    """
    if rows * columns > MAX_RANK_MATRIX_ENTRIES or steps > MAX_RANK_STEPS:
        raise TooExpensiveError("case", f"a matrix of {rows} × {columns} entries")


def _random(rows: int, columns: int, random: Random) -> Any:
    """A random matrix modulo PRIME, with this number of rows and of columns."""
    entries = [random.randrange(PRIME) for _ in range(rows * columns)]
    return flint.nmod_mat(rows, columns, entries, PRIME)


def _random_head(before: int, after: int, a: int, random: Random) -> Head:
    """A random head from width ``before`` to width ``after``, for query/key dimension ``a``.

    K and Q have min(a, before) rows: with more of them KᵀQ has no other values.
    """
    rows = min(a, before)
    K = _random(rows, before, random)
    Q = _random(rows, before, random)
    return {"K": K, "Q": Q, "V": _random(after, before, random)}


def _random_heads(count: int, sizes: SizesOfLayer, random: Random) -> list[Head]:
    """Random heads of a layer with these sizes, ``count`` of them."""
    return [_random_head(*sizes, random) for _ in range(count)]


def _entries(A: Any) -> list[int]:
    """The entries of a matrix, row by row."""
    return list(map(int, A.entries()))


def _units(A: Any) -> Iterator[Any]:
    """Yield the matrices of the size of A with one entry 1 and else zeros: all unit directions."""
    rows, columns = A.nrows(), A.ncols()
    for i in range(rows * columns):
        entries = [0] * (rows * columns)
        entries[i] = 1
        yield flint.nmod_mat(rows, columns, entries, PRIME)


@cache
def attention_rank(d: int, a: int) -> int:
    """The rank of the differential of (K, Q) ↦ KᵀQ at a random point, for K and Q of size a × d.

    Its image is spanned by all K̇ᵀQ and KᵀQ̇, with directions K̇ and Q̇. The rank is a lower bound
    of the dimension of the d × d matrices of rank at most a.
    """
    # with d rows KᵀQ is any matrix, so more rows change nothing
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
    """The rank of the differential of weights ↦ (A'_1, …, A'_l, M) at a random point.

    A'_k = M_kᵀ K_kᵀ Q_k M_k with M_k = V_{k−1} ⋯ V_1, and M = M_{l+1}. The rank is a lower bound
    of the dimension of the virtual weights.
    """
    n = network.widths[0]
    count = weight_count(network)
    coordinates = network.depth * n * n + network.widths[-1] * n
    # each of ``count`` derivatives is found by products with matrices of ``count`` entries in all
    _check_price(count, coordinates, steps=count**2)
    random = unpredictable()
    # virtual weights are those of one head in each layer
    layers = [_random_head(*sizes, random) for sizes in network.layers]
    entering = _products_of_values(layers, n)
    tangents = []
    for k, head in enumerate(layers):
        for letter, matrix in head.items():
            for E in _units(matrix):
                tangent = _virtual_tangent(layers, entering, moving=k, letter=letter, E=E)
                tangents.append(tangent)
    return rank_modulo(tangents)


def _products_of_values(layers: list[Head], n: int) -> list[Any]:
    """The matrices M_1, …, M_{l+1} of a network with one head in each layer and n inputs.

    M_1 is the n × n identity matrix, and M_k = V_{k−1} ⋯ V_1.
    """
    identity = [int(i == j) for i in range(n) for j in range(n)]
    products = [flint.nmod_mat(n, n, identity, PRIME)]
    for head in layers:
        products.append(head["V"] * products[-1])
    return products


def _virtual_tangent(
    layers: list[Head], entering: list[Any], moving: int, letter: str, E: Any
) -> list[int]:
    """The derivative of all virtual weights when one matrix of one layer moves in direction E.

    The layer has the number ``moving``, from 0 on, and ``letter`` is K, Q or V, the matrix that
    moves; ``entering`` are M_1, …, M_{l+1}. The result has the derivatives of the entries of A'_1,
    …, A'_l and M, row by row. They are found by the product rule, with the derivative of M_k
    carried from layer to layer.
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
    covector G of its own: a combination of rows of the Jacobian matrix of the coefficients of φ. So
    the rank is at most that of the Jacobian matrix, which is at most ``upper``, an upper bound of
    the dimension. There are five rows more, so that a few rows that depend on others do not matter.
    """
    rows = upper + 5
    _check_price(rows, weight_count(network))
    random = unpredictable()
    tokens = min(network.t, MAX_NONZERO_TOKENS)
    layers = [_random_heads(network.heads, sizes, random) for sizes in network.layers]
    gradients = [
        _gradient(layers, skip=network.skip, tokens=tokens, random=random) for _ in range(rows)
    ]
    return rank_modulo(gradients)


def _gradient(layers: list[list[Head]], skip: bool, tokens: int, random: Random) -> list[int]:
    """The derivative of ⟨G, φ(X)⟩ with respect to all weights, for random X, with ``tokens``
    columns, and G.

    ``layers`` has the heads of each layer. In the result the derivatives with respect to the
    weights of the last layer stand first. ⟨G, Z⟩ is the sum of the products of the entries of G and
    Z.
    """
    first_head, *_ = layers[0]
    Y = _random(first_head["V"].ncols(), tokens, random)
    entering = []
    for heads in layers:
        entering.append(Y)
        outputs = [head["V"] * _mixed_tokens(head, Y) for head in heads]
        if skip:
            outputs.append(Y)
        Y = reduce(add, outputs)
    G = _random(Y.nrows(), tokens, random)
    gradient: list[int] = []
    # G is the derivative with respect to the output of a layer, from the last layer on
    for heads, Y in zip(reversed(layers), reversed(entering), strict=True):
        # the summands of the derivative with respect to Y; a skip connection adds Y itself to the
        # output
        by_Y = [G] if skip else []
        for head in heads:
            derivatives = _derivatives_of_head(head, Y, G)
            gradient += derivatives.by_weights
            by_Y.append(derivatives.by_Y)
        G = reduce(add, by_Y)
    return gradient


class _Derivatives(NamedTuple):
    """The derivatives of a function with respect to the weights and the tokens Y of a head.

    Those for the weights are listed in the order V, K, Q, each matrix row by row; ``by_Y`` is a
    matrix of the size of Y.
    """

    by_weights: list[int]
    by_Y: Any


def _derivatives_of_head(head: Head, Y: Any, G: Any) -> _Derivatives:
    """The derivatives of a function of the output V·YYᵀAY of a head, with A = KᵀQ.

    ``G`` is the derivative with respect to this output. Write ∂Z for the derivative with respect to
    a matrix Z, and put Γ = VᵀG. Then ∂V = G(YYᵀAY)ᵀ, ∂A = D = YYᵀΓYᵀ, ∂K = Q Dᵀ, ∂Q = K D, and
    ∂Y = AᵀYYᵀΓ + WY + WᵀY with W = ΓYᵀAᵀ, whose summands come from the last, the first and the
    second factor Y. Products are taken in an order in which neither A nor D is multiplied out,
    since both are n × n.
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
    return _Derivatives(by_weights, by_last_Y + by_first_Y + by_second_Y)


def _mixed_tokens(head: Head, Y: Any) -> Any:
    """The matrix YYᵀAY of a head, with A = KᵀQ: the output of the head is V times this."""
    return Y * (Y.transpose() * (head["K"].transpose() * (head["Q"] * Y)))


# Identities of words in matrices.

# A letter is a matrix, its negative the transpose.
Word = tuple[int, ...]


def normal_form_factors(layers: int) -> int | None:
    """The number of factors of φ, if both sides of φ = M Q_{l+1} X are the same word (Lemma 3.6).

    None if they are different. Equal words are equal products, whatever the sizes of the matrices
    are.

    Before the first layer φ is X, and M and Q are the empty word. Layer k replaces φ by
    V_k φφᵀ A_k φ, and Q by Q XXᵀ Qᵀ Mᵀ A_k M Q with M = V_{k−1} ⋯ V_1; then it replaces M by V_k M.
    The letter 1 is X, 2k is A_k, 2k + 1 is V_k.
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
    """The transpose of a product: its letters in the opposite order, −n for the transpose of n."""
    return tuple(-letter for letter in reversed(word))


# The observables. Softmax is observed for one head without skip connections only.


def _attention_matrices(network: Network) -> Found:
    """The dimension of the attention matrices of all heads: a sum, as these are independent."""
    rank = network.heads * sum(attention_rank(d, a) for d, _, a in network.layers)
    return _dimension_between(rank, all_attention_matrices(network))


def _virtual_weights(network: Network) -> Found:
    """The dimension of the virtual weights, None unless a rank meets the upper bound.

    The evidence is the rank and the bound.
    Nothing is computed with several heads or skip connections, as there are no virtual weights.
    """
    if not network.plain:
        return NOT_COMPUTED
    # no A'_k is symmetrized
    upper = virtual_weights_dimension(network, whole=network.depth)
    return _dimension_between(virtual_rank(network), upper)


def _normal_form(network: Network) -> Found:
    """Whether lightning attention has the normal form φ = M Q_{l+1} X (Lemma 3.6).

    Nothing is computed for softmax, without virtual weights, or for too many layers.
    """
    if network.softmax or not network.plain or network.depth > MAX_WORD_LAYERS:
        return NOT_COMPUTED
    factors = normal_form_factors(network.depth)
    # without the normal form the evidence is 0
    return factors is not None, {"factors": factors or 0}


def _scalings(network: Network) -> Found:
    """Whether V ↦ cV, A ↦ A/c keeps a layer V Y Y'A Y, where Y' is the transpose of Y.

    It does if V and A occur equally often in it. A skip connection adds Y, in which neither occurs.
    Nothing is computed for softmax, whose layers are not such products.
    """
    if network.softmax:
        return NOT_COMPUTED
    layer = ["V", "Y", "Y'", "A", "Y"]
    degrees = {"degree_in_values": layer.count("V"), "degree_in_attention": layer.count("A")}
    return degrees["degree_in_values"] == degrees["degree_in_attention"], degrees


@cache
def _dimension(network: Network) -> Found:
    """The dimension of the functions, None unless a lower bound meets the upper bound.

    For one head and no skip connections (``network.plain``) the lower bound is that of
    theorem-block; other networks are differentiated as a whole. For softmax of one token functions
    are the products V_l⋯V_1, all matrices of bounded rank, and ``upper_bound`` is the formula for
    their dimension.
    """
    if network.softmax and not network.plain:
        return NOT_COMPUTED
    upper = upper_bound(network)
    if network.softmax and network.t == 1:
        # no rank is computed: the matrices of rank at most r are a variety of known dimension
        return upper, {"lower_bound": upper, "upper_bound": upper}
    if network.plain:
        lower, numbers = _by_block(network, upper)
    else:
        lower, numbers = function_rank(network, upper), {}
    value, _ = _dimension_between(lower, upper)
    return value, numbers | {"lower_bound": lower, "upper_bound": upper}


def _by_block(network: Network, upper: int) -> tuple[int, dict[str, int]]:
    """The lower bound of the dimension by theorem-block, and the numbers behind it, by name.

    ``upper`` is the upper bound of the dimension. If the kernel of the differential of the block
    has the dimension that it always has (``unseen_dimension``), the dimension is ``upper`` by the
    theorem, and this is the lower bound. If the kernel is larger, the lower bound is 0. The rank of
    the block is then no bound: it may be more than the dimension, because the block is
    differentiated with respect to all entries of its C_k, also where the matrices of the network
    have rank one. For small networks of lightning attention the rank of the whole differential must
    be ``upper``, too: else ContradictionError.
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
    # a second way, which shares nothing with the first
    if weight_count(network) <= MAX_DOUBLE_CHECKED_WEIGHTS and not network.softmax:
        whole_rank = function_rank(network, upper)
        if whole_rank != upper:
            raise ContradictionError(
                f"the block gives {upper}, the whole differential {whole_rank}"
            )
    kernel_is_least = rank == columns - kernel
    return (upper if kernel_is_least else 0), numbers


def _unseen_weights(network: Network) -> Found:
    """The dimension of the fibres of (A, V) ↦ φ over general functions.

    It is the dimension of all pairs (A, V), which is ``weights`` in the evidence, less that of the
    functions; None if the dimension of the functions is not decided.
    """
    dimension, numbers = _dimension(network)
    # without numbers nothing was computed
    if not numbers:
        return NOT_COMPUTED
    entries_of_V = sum(d * after for d, after, _ in network.layers)
    pairs = all_attention_matrices(network) + network.heads * entries_of_V
    unseen_weights = None if dimension is None else pairs - dimension
    return unseen_weights, numbers | {"weights": pairs}


def _virtual_fibre_dimension(network: Network) -> Found:
    """The dimension of a general fibre in the virtual weights, up to the torus.

    It is the difference of the dimensions of virtual weights and of functions, less l for the
    torus, which acts freely where no A'_k is zero. It is not decided if one of the two dimensions
    is not. Nothing is computed for softmax, which has no torus, or without virtual weights.
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

    ``observable`` is ``fibre_dimension`` or ``fibre_degree``, of the fibre among all matrices, or
    ``fibre_is_one_point``, of the fibre in the virtual weights. ContradictionError if the dimension
    of the fibre among all matrices, by Gröbner bases, and that of the fibre in the virtual weights,
    by ranks, do not fit.
    """
    # 0 says that no fibre of this network is computed
    if unknown_count(network) == 0:
        return NOT_COMPUTED
    dimension, degree = fibre(network)
    virtual_dimension = _dimension_of_smaller_fibre(network, dimension)
    numbers = {"unknowns": unknown_count(network)}
    if observable == "fibre_dimension":
        return dimension, numbers | {"dimension": dimension}
    if observable == "fibre_degree":
        return degree, numbers | {"degree": degree}
    is_one_point = _decide_one_point(dimension, degree, virtual_dimension)
    return is_one_point, numbers | {"dimension": dimension, "degree": degree}


def _dimension_of_smaller_fibre(network: Network, dimension: int) -> int | None:
    """The dimension of the fibre in the virtual weights, up to the torus; None if not decided.

    The network is lightning attention with virtual weights. ``dimension`` is that of the fibre
    among all matrices, of any ranks, which contains the fibre in the virtual weights, so that
    ``dimension`` is at least as large; if virtual weights are dense in all matrices, both
    dimensions are equal. ContradictionError if that is not so.
    """
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
    return virtual_dimension


def _decide_one_point(dimension: int, degree: int, virtual_dimension: int | None) -> bool | None:
    """Whether the fibre in the virtual weights, which is not empty, is one point; None if unknown.

    ``dimension`` and ``degree`` are those of the fibre among all matrices, which contains it;
    ``virtual_dimension`` is the dimension of the fibre in the virtual weights, None if it is not
    decided. The answer is yes if the fibre among all matrices is one point, of dimension 0 and
    degree 1, and no if ``virtual_dimension`` is positive. If there are several points among all
    matrices, it is not computed which of them are virtual weights.
    """
    if dimension == 0 and degree == 1:
        return True
    if virtual_dimension is not None and virtual_dimension > 0:
        return False
    return None


def _closed(network: Network) -> Found:
    """Whether the functions form a closed set, where the statement ``closed`` applies.

    The answer is no if all facts hold which show that a limit of networks is not a network. If one
    of them fails, it is not decided; where the statement does not apply, nothing is computed.
    """
    # the statement has no parts
    failing = hypotheses(network, key="closed", part="")
    if failing:
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

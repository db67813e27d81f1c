"""Identities of functions for all weights: the normal form, and scalings that keep the function.

Both sides of an identity are sums of *words*, products of letters that stand for matrices of any
size; equal words are equal functions. For softmax two functions are compared at a point, in balls.

Notation: a network has l layers and t tokens, the columns of X; a head has an attention matrix
A = KᵀQ and a value matrix V. With one head and no skip connections (a *plain* network) the virtual
weights are A'_k = M_kᵀ A_k M_k, with M_k = V_{k−1}⋯V_1, and M = V_l⋯V_1. *Scalings* multiply V by a
number and divide A by it.
"""

from random import Random
from typing import Any

import flint

from m2bridge.errors import MethodUnavailableError, TooLargeError
from m2bridge.families.deep_attention.bounds import multiplicities_of_tokens
from m2bridge.families.deep_attention.expansion import (
    TOKENS,
    UNIT_MATRIX,
    WordSum,
    layer_of_letters,
    letters,
)
from m2bridge.families.deep_attention.network import (
    Balls,
    HeadMatrices,
    LayerMatrices,
    Network,
    NetworkWeights,
    NumberSystem,
    output,
    random_matrix,
    virtual_weights,
)
from m2bridge.families.deep_attention.observed import ComputedValue
from m2bridge.families.deep_attention.shape import NetworkSizes

# Different from the seed of the bounds, so that a rank that is too small by chance is noticed.
RANDOM_WEIGHTS_SEED = 20250418
# The largest number l of layers, since the function is a word of 2·3^l − 1 letters.
MAX_NORMAL_FORM_LAYERS = 12
# The largest number of heads, since the function of a layer is a sum of one word for each.
MAX_OBSERVED_HEADS = 1000


def normal_form(network: NetworkSizes) -> ComputedValue:
    """Compute whether the function φ of a network of lightning attention, with one head and no skip
    connections, is φ(X) = P(XXᵀ)X with P = MQ from the virtual weights (``_normal_form_word``).

    Both sides are words in matrices of any size, and equal words are equal functions. The number
    for a certificate is the length of the longest word of φ. For other networks
    MethodUnavailableError is raised, and TooLargeError for more than MAX_NORMAL_FORM_LAYERS layers.
    """
    if network.softmax or not network.is_plain:
        raise MethodUnavailableError(
            "the normal form is that of lightning attention, one head, no skip connections"
        )
    if network.layers > MAX_NORMAL_FORM_LAYERS:
        raise TooLargeError(
            f"words are written for at most {MAX_NORMAL_FORM_LAYERS} layers; --all-sizes decides"
            " all"
        )
    layers = tuple(map(layer_of_letters, range(network.layers)))
    # products of letters need nothing of the number system but its σ, the identity
    function = output(layers, TOKENS, numbers=NumberSystem())
    longest_word = max(map(len, function))
    return ComputedValue(
        known=function == _normal_form_word(layers),
        method="both sides as words in matrices",
        numbers={"factors": longest_word},
    )


def _normal_form_word(layers: tuple[LayerMatrices, ...]) -> WordSum:
    """Return MQX as a word in the letters A and V of the layers and in the tokens X.

    Put S = XXᵀ. If the tokens before layer k are Y = M_k Q X, those after it are V_k YYᵀ A_k Y,
    which is M_{k+1} (Q S Qᵀ A'_k Q) X. So Q is the identity before the first layer, and layer k
    replaces Q by Q S Qᵀ A'_k Q.
    """
    *matrices, M = virtual_weights(layers)
    S = TOKENS * TOKENS.transpose()
    Q = UNIT_MATRIX
    for A in matrices:
        Q = Q * S * Q.transpose() * A * Q
    word: WordSum = M * Q * TOKENS
    return word


def scalings_keep_the_function(network: NetworkSizes) -> ComputedValue:
    """Compute whether V → cV, A → A/c in the first head keeps the function of the first layer.

    If the function of the first layer is kept, so is that of the network. In lightning attention
    the function is kept if V and A occur equally often in each word of it. For softmax it is
    changed, which is shown at a point. The value is True or False, both of which are known.
    """
    if network.softmax:
        return _softmax_scalings(network)
    if network.heads > MAX_OBSERVED_HEADS:
        raise TooLargeError(f"words are written for at most {MAX_OBSERVED_HEADS} heads: take fewer")
    # the function of the first layer as a sum of words in A and V of its heads, and in the tokens
    first_layer = layer_of_letters(0, network.heads)
    function = output([first_layer], TOKENS, numbers=NumberSystem(), skip=network.skip)
    # of the first head
    A, V = letters(0)
    # for each word how often the letter is in it
    degrees_in_A, degrees_in_V = function.degrees(A), function.degrees(V)
    # The scaling multiplies a word by c to the degree in V less that in A.
    if degrees_in_V != degrees_in_A:
        return ComputedValue(known=False, method="the first layer with cV and A/c has other words")
    degrees = {"degree_in_values": max(degrees_in_V), "degree_in_attention": max(degrees_in_A)}
    return ComputedValue(
        known=True, method="the first layer with cV and A/c has the same words", numbers=degrees
    )


def _softmax_scalings(network: NetworkSizes) -> ComputedValue:
    """Show that V → 7V, A → A/7 in the first head of softmax attention changes the function.

    The outputs at one rational point, before and after the scaling, are enclosed in balls. If the
    two balls of an entry are disjoint, the functions differ. Balls never show that functions are
    equal, so that MethodUnavailableError is raised if no two balls are disjoint. Of many tokens the
    last ones are equal (``multiplicities_of_tokens``).
    """
    random = Random(RANDOM_WEIGHTS_SEED)
    unit = flint.fmpq(1, 10)
    multiplicities = multiplicities_of_tokens(network.t)
    numbers = Balls(multiplicities=multiplicities)
    parameters = [random.randrange(1, 10) * unit for _ in range(network.parameter_count)]
    weights = NetworkWeights.read(network, parameters, numbers).network()

    def token_entry() -> Any:
        """Draw a rational number from −9/10 to 9/10."""
        return random.randrange(-9, 10) * unit

    X = random_matrix(numbers, network.widths[0], len(multiplicities), token_entry)
    scaled = _with_scaled_head(weights, 7)
    values = output(weights, X, numbers=numbers, skip=network.skip).entries()
    scaled_values = output(scaled, X, numbers=numbers, skip=network.skip).entries()
    pairs = zip(values, scaled_values, strict=True)
    if all(value.overlaps(scaled_value) for value, scaled_value in pairs):
        raise MethodUnavailableError(
            "the values with scaled weights cannot be separated in ball arithmetic"
        )
    return ComputedValue(known=False, method="differs at a rational point, in balls")


def _with_scaled_head(network: Network, c: int) -> Network:
    """Return the network with cV and A/c in place of V and A, in the first head of the first layer.

    Other heads and layers stay.
    """
    (first_head, *other_heads), *other_layers = network
    scaled_head = HeadMatrices(A=first_head.A / c, V=first_head.V * c)
    return ((scaled_head, *other_heads), *other_layers)

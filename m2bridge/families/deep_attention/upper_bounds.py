"""Upper bounds for the dimension of a deep attention network, with their reasons in words.

They need no computation. Proofs are in ``docs/deep-attention.md``; lower bounds, by ranks, are in
``bounds``.

Notation: a network has widths d_0, …, d_l and t tokens, and H heads in each layer. A head of layer
k has an attention matrix A of rank at most a_k and a value matrix V of size d_k × d_{k−1} and rank
β_k; α_k is the generic rank of A. GL(d_i) acts on the functions by a *change of base* of the hidden
space between layers i and i + 1, which leaves their composition as it is. A
:class:`~m2bridge.results.known.Bounds` has a ``value``, and a reason in words, ``because``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import comb

from m2bridge.algebra.determinantal import (
    determinantal_dimension,
    dimension_of_symmetric_rank,
    matrices_of_rank,
    monomial_count,
)
from m2bridge.families.deep_attention.shape import (
    NetworkSizes,
    SizesOfLayer,
    base_changes,
    determined_dimension,
)
from m2bridge.results.known import Bounds
from m2bridge.results.sheet import plural

MAX_COEFFICIENT_BOUND_WIDTH = 3
"""The largest number of inputs for which the number of coefficients is used as a bound."""


def upper_bounds(network: NetworkSizes) -> tuple[Bounds, ...]:
    """Return the upper bounds for the dimension that apply to a network, the smallest first.

    They hold over every field.
    """
    return tuple(sorted(_all_bounds(network), key=_value))


def certified_bound(network: NetworkSizes) -> int:
    """Return the least of the bounds of release 1.0, which certificates have as ``upper_bound``.

    Certificates of 1.0 are verified by all releases 1.x, so that a later bound cannot take its
    place.
    """
    return min(map(_value, _bounds_of_certificates(network)))


def _all_bounds(network: NetworkSizes) -> Iterator[Bounds]:
    """Yield the upper bounds that apply to a network."""
    yield from _bounds_of_certificates(network)
    functions_are_linear = network.softmax and network.t == 1
    # bound_by_bases is about several layers, several heads, no skip connections
    several_heads_without_skip = network.heads > 1 and not network.skip
    if network.layers > 1 and several_heads_without_skip and not functions_are_linear:
        yield bound_by_bases(network)


def _bounds_of_certificates(network: NetworkSizes) -> Iterator[Bounds]:
    """Yield the upper bounds of release 1.0 that apply to a network.

    One of them is by the structure of the network: linear functions for softmax of one token, the
    virtual weights for one head without skip connections, else the sum over the layers. The other,
    for lightning attention with few inputs, is the number of coefficients.
    """
    if network.softmax and network.t == 1:
        yield Bounds.at_most(
            network.linear_dimension,
            f"linear functions of one token, of rank at most {network.rank}",
        )
    elif network.is_plain:
        yield virtual_bound(network)
    else:
        yield layered_bound(network)
    # with more inputs the number of coefficients is seldom the least bound
    if not network.softmax and network.widths[0] <= MAX_COEFFICIENT_BOUND_WIDTH:
        yield Bounds.at_most(coefficient_count(network), "the number of coefficients")


def virtual_bound(network: NetworkSizes) -> Bounds:
    """Return the upper bound: the dimension of what functions determine of the virtual weights.

    The network has one head and no skip connections, and t ≥ 2 for softmax. Virtual weights are
    A'_k = M_kᵀ A_k M_k, with M_k = V_{k−1}⋯V_1, and M = V_l⋯V_1.
    """
    # after this layer only the symmetric parts of the A'_k matter
    last_whole_layer = network.whole_layers
    reason = "the virtual weights"
    if not network.softmax:
        if last_whole_layer < network.layers:
            reason += " with symmetric attention matrices"
            # for one token that is so from the first layer on
            if network.t > 1:
                reason += f" after layer {last_whole_layer}, which has rank one"
        reason += f", up to {plural(network.layers, 'scaling')}"
    return Bounds.at_most(determined_dimension(network), reason)


def layered_bound(network: NetworkSizes) -> Bounds:
    """Return the upper bound for the dimension that is proved layer by layer (proposition-heads).

    It is the sum over all layers of the least upper bound for the functions of a layer, less the
    dimension of the changes of base between layers. The reason in words lists the summands.
    """
    return _sum_over_layers(network, base_changes(network))


def bound_by_bases(network: NetworkSizes) -> Bounds:
    """Return the upper bound by hidden widths that heads fill and by bases (proposition-bases).

    The network has several layers, of several heads, without skip connections, and t ≥ 2 for
    softmax. Hidden widths are reduced to what heads can fill and read, which keeps the functions.
    Then a change of base acts freely wherever general outputs of a layer span its hidden space; the
    dimensions d_i² of these groups are subtracted from the sum over the layers.
    """
    # the generic ranks of the value matrices
    betas = [min(d, after) for d, after, _ in network.layer_sizes]
    reduced_network, _ = without_unused_width(_with_widths_at_most_cubes(network), betas)
    bases = 0
    # after the last layer there is no hidden space
    for d, hidden, _ in list(reduced_network.layer_sizes)[:-1]:
        if hidden <= _dimension_of_general_outputs(reduced_network, d):
            bases += hidden**2
    bound = _sum_over_layers(reduced_network, bases)
    if reduced_network == network:
        return bound
    listed_widths = ", ".join(map(str, reduced_network.widths[1:-1]))
    reason = f"hidden widths {listed_widths}, which heads fill; {bound.because}"
    return Bounds.at_most(bound.value, reason)


def _with_widths_at_most_cubes(network: NetworkSizes) -> NetworkSizes:
    """Return the network with each hidden width d_i reduced to at most d_{i−1}³, for lightning
    attention; for softmax the network itself.

    It has the same functions: all outputs of a layer from width d lie in a space of dimension
    d · d², since they depend on V_h and A_h by Σ_h V_h ⊗ A_h alone.
    """
    if network.softmax:
        return network
    widths = [network.widths[0]]
    for hidden in network.widths[1:-1]:
        widths.append(min(hidden, widths[-1] ** 3))
    return replace(network, widths=(*widths, network.widths[-1]))


def _dimension_of_general_outputs(network: NetworkSizes, d: int) -> int:
    """Return m such that the outputs of a general layer from width d span their space if its
    dimension is at most m.

    For lightning attention m = hd with h = min(H, d) heads; the proof takes as A_h matrices with
    one entry, on the diagonal. For softmax the columns of all V_h, m = Hd of them, stand for the
    outputs: the bounds for softmax count the matrices A_h and V_h, on which changes of base act
    freely if these columns span the space.
    """
    different_heads = network.heads if network.softmax else min(network.heads, d)
    return different_heads * d


def _sum_over_layers(network: NetworkSizes, bases: int) -> Bounds:
    """Return the sum of the least bounds of the layers, with the summands as its reason in words.

    ``bases`` is the dimension of the changes of base between layers, which is subtracted.
    """
    # Deep networks have many equal layers, which are one summand with their number.
    layers_with_bound = Counter[Bounds]()
    for layer in network.layer_sizes:
        least = min(_bounds_of_layer(network, layer), key=_value)
        layers_with_bound[least] += 1
    total = -bases
    summands = []
    for bound, count in layers_with_bound.items():
        total += count * bound.value
        times = f"{count} × " if count > 1 else ""
        summands.append(f"{times}{bound.value} ({bound.because})")
    reason = f"layer by layer: {', '.join(summands)}{_less_base_changes(bases)}"
    return Bounds.at_most(total, reason)


def _value(bound: Bounds) -> int:
    """Return the number of a bound, for sorting and for the least bound."""
    return bound.value


def _less_base_changes(bases: int) -> str:
    """Return the words for a summand −``bases``; empty for 0."""
    return f" less {bases} for changes of base between layers" if bases else ""


def _bounds_of_layer(network: NetworkSizes, layer: SizesOfLayer) -> Iterator[Bounds]:
    """Yield upper bounds for the dimension of the functions of one layer, at least one.

    For softmax only the weights are counted. The bounds are those of proposition-heads in
    docs/deep-attention.md.
    """
    d, after, a = layer
    if network.softmax:
        weights_of_head = d * after + matrices_of_rank(d, min(a, d))
        yield Bounds.at_most(network.heads * weights_of_head, "the attention and value matrices")
    elif network.t > 1:
        yield from _bounds_for_several_tokens(layer, network.heads)
    else:
        yield from _bounds_for_one_token(layer, network.heads)


def _bounds_for_several_tokens(layer: SizesOfLayer, heads: int) -> Iterator[Bounds]:
    """Yield upper bounds for the dimension of the functions of a layer of lightning attention with
    t ≥ 2 tokens X.

    They are Σ_h V_h S A_h X with S = XXᵀ and d × d matrices A_h of rank at most a, for the heads h.
    """
    d, after, a = layer
    alpha = min(a, d)
    head = d * after + matrices_of_rank(d, alpha)
    # the dimension of the directions that only exchange values between heads
    exchanges = _exchanges_of_values(d, heads=heads, alpha=alpha) if after == 1 else 0
    up_to_scalings = heads * (head - 1) - exchanges
    if exchanges:
        yield Bounds.at_most(up_to_scalings, "the heads up to scalings and exchanges of values")
    else:
        yield Bounds.at_most(up_to_scalings, "the heads up to scalings")
    yield _bound_by_tensors(heads, values=d * after, attention=d * d)
    if after == 1:
        yield _bound_by_quadrics(heads, d)
    yield Bounds.at_most(after * d * comb(d + 1, 2), "the number of coefficients")


def _bounds_for_one_token(layer: SizesOfLayer, heads: int) -> Iterator[Bounds]:
    """Yield upper bounds for the dimension of the functions of a layer of lightning attention with
    one token x.

    They are Σ_h V_h x·q_h(x) with the quadratic forms q_h(x) = xᵀA_hx, for the heads h. The d × d
    matrix of q_h is the symmetric part of A_h, and has rank at most 2a.
    """
    d, after, a = layer
    head = d * after + dimension_of_symmetric_rank(d, 2 * min(a, d))
    yield Bounds.at_most(heads * (head - 1), "the heads up to scalings")
    yield _bound_by_tensors(heads, values=d * after, attention=comb(d + 1, 2))
    yield Bounds.at_most(after * comb(d + 2, 3), "the number of coefficients")


def _bound_by_tensors(heads: int, *, values: int, attention: int) -> Bounds:
    """Return the dimension of the tensors Σ_h V_h ⊗ A_h, sums of a pure tensor for each head.

    V_h is in a vector space of dimension ``values``, and A_h, or its symmetric part, in one of
    dimension ``attention``. The functions of a layer of lightning attention depend on this tensor.
    """
    rank = min(heads, values, attention)
    tensors = determinantal_dimension(values, attention, rank)
    return Bounds.at_most(tensors, f"tensors of values and attention matrices of rank {rank}")


def _bound_by_quadrics(heads: int, d: int) -> Bounds:
    """Return the upper bound for a layer of lightning attention with width d, one output and
    several tokens, by the quadratic forms of its function.

    The row Σ_h v_h S A_h is linear in S, with rows v_h, and so determined by all S = uuᵀ. Then its
    d entries are quadratic forms in u, which vanish where all v_h u do: on a space of codimension
    c, a point of a Grassmannian of dimension c(d − c). The forms that vanish on it are a vector
    space, of the same dimension as the set of all forms of rank at most c.
    """
    codimension = min(heads, d)
    grassmannian = codimension * (d - codimension)
    quadrics = grassmannian + d * dimension_of_symmetric_rank(d, codimension)
    reason = f"quadratic forms that vanish where {codimension} linear forms do"
    return Bounds.at_most(quadrics, reason)


def _exchanges_of_values(d: int, *, heads: int, alpha: int) -> int:
    """Return a lower bound for the dimension of the exchanges of values, which are in the kernel of
    the differential of a layer of lightning attention with width d, one output and several tokens.

    The layer is Σ_h v_h S A_h, with rows v_h, and A_h of rank ``alpha``. For heads i < j and a row
    w an exchange is the tangent vector Ȧ_i = v_jᵀw, Ȧ_j = −v_iᵀw. It is in the kernel, because
    v_i S v_jᵀ = v_j S v_iᵀ. For w in the row spaces of A_i and of A_j, whose intersection has at
    least 2α − d dimensions, it is tangent to the matrices of this rank, as all rows of Ȧ_i and Ȧ_j
    are multiples of w. With at most d heads generic v_h are independent, and so are these vectors
    for all pairs of heads (proposition-heads in docs/deep-attention.md). With more heads nothing is
    said: 0.
    """
    if heads > d:
        return 0
    pairs_of_heads = comb(heads, 2)
    return pairs_of_heads * max(0, 2 * alpha - d)


def bound_by_ranks(network: NetworkSizes, betas: Sequence[int]) -> Bounds:
    """Return an upper bound for the dimension by the ranks of all A and V.

    ``betas`` are β_1, …, β_l: the value matrices of layer k have rank at most β_k. Hidden widths
    that heads do not use are left out first. In lightning attention one scaling of A against V is
    subtracted for each head. The dimension of the changes of base between layers is subtracted if
    the value matrices of all heads together have full rank, so that these act freely.
    """
    reduced_network, betas = without_unused_width(network, betas)
    # the dimension of A and V of one head of each layer
    matrices = 0
    for (d, after, a), beta in zip(reduced_network.layer_sizes, betas, strict=True):
        matrices += matrices_of_rank(d, min(a, d)) + determinantal_dimension(after, d, beta)
    reason = "the matrices A and V of all heads"
    if not network.softmax:
        # cV and A/c have one function.
        matrices -= network.layers
        reason += " up to scalings"
    if reduced_network != network:
        hidden = ", ".join(map(str, reduced_network.widths[1:-1]))
        reason += f", as heads use only hidden widths {hidden}"
    bases = base_changes(reduced_network) if act_freely(reduced_network, betas) else 0
    return Bounds.at_most(network.heads * matrices - bases, reason + _less_base_changes(bases))


def without_unused_width(
    network: NetworkSizes, betas: Sequence[int]
) -> tuple[NetworkSizes, list[int]]:
    """Return a network with the same functions and smaller hidden widths d_k, and its β_k.

    The functions are those with value matrices of rank at most β_k in layer k, where ``betas`` are
    β_1, …, β_l. A hidden width is reduced to what heads can fill and read (lemma-unused-width in
    docs/weights-mathematics.md): outputs of H heads with values of rank β lie in a space of
    dimension Hβ, and each of the H heads of the next layer depends on 2α + β linear forms of it,
    those in the rows and columns of A, and in the rows of V. The widths of a network with skip
    connections stay, as the tokens themselves pass there. The new β_k are at most the new widths
    before and after layer k.
    """
    ranks = list(betas)
    if network.skip or network.layers == 1:
        return network, ranks
    widths = list(network.widths)
    for k in range(1, network.layers):
        # widths[k] is d_k; layer k has ranks[k - 1], and layer k + 1 has a[k] and ranks[k].
        ranks[k - 1] = min(ranks[k - 1], widths[k - 1])
        filled_dimension = network.heads * ranks[k - 1]
        read_dimension = network.heads * (2 * min(network.a[k], widths[k]) + ranks[k])
        widths[k] = min(widths[k], filled_dimension, read_dimension)
        ranks[k - 1] = min(ranks[k - 1], widths[k])
    ranks[-1] = min(ranks[-1], widths[-2])
    return replace(network, widths=tuple(widths)), ranks


def act_freely(network: NetworkSizes, betas: Sequence[int]) -> bool:
    """Return whether changes of base between layers act freely on the functions.

    They do if in each layer k but the last the columns of generic V of all heads, of rank
    β_k = ``betas[k - 1]``, span the hidden space of dimension d_k: a change of base that keeps all
    of these V is the identity. True says that; False says that it is not known.
    """
    hidden_widths = network.widths[1:-1]
    pairs = zip(betas[:-1], hidden_widths, strict=True)
    return all(network.heads * beta >= d for beta, d in pairs)


def are_separate(network: NetworkSizes, betas: Sequence[int]) -> bool:
    """Return whether :func:`bound_by_ranks` is the dimension in characteristic 0, by Theorem H.

    ``betas`` are β_1, …, β_l, the ranks of the value matrices. The theorem, in
    docs/deep-attention.md, is about t ≥ 2 tokens and one of these cases:

    * softmax with skip connections;
    * softmax with at most one hidden width, which is at most d_0, d_l and all Hβ_k;
    * one layer of lightning attention with several heads and enough inputs.

    False says that nothing is known.
    """
    # the theorem is about several tokens: the outputs at one token do not separate heads
    if network.t == 1:
        return False
    heads = network.heads
    first, *hidden, last = network.widths
    if network.softmax:
        one_hidden_width = len(set(hidden)) <= 1
        # no hidden width is larger than those of inputs and outputs, or than what heads fill
        hidden_is_narrow = max(hidden, default=0) <= min(first, last, heads * min(betas))
        return network.skip or (hidden_is_narrow and one_hidden_width)
    if network.layers > 1 or heads == 1:
        return False
    # u = d_0 − (H − 1)a_1 is the dimension of the space on which all A but one vanish. The theorem
    # needs β_1, d_1, u ≥ 2, not d_1 = u = 2, and u ≥ a_1; from β_1 ≥ 2 follows d_1 ≥ 2.
    u = first - (heads - 1) * network.a[0]
    enough_space = u >= max(2, network.a[0]) and max(u, last) >= 3
    return enough_space and min(betas) >= 2


def coefficient_count(network: NetworkSizes) -> int:
    """Return an upper bound for the number of coefficients of a function of lightning attention.

    With one token the function is a form of degree 3^l in d_0 variables for each output. With
    several it is P(XXᵀ)X, where P has d_l × d_0 entries of degree (3^l − 1)/2 in a symmetric
    matrix. With skip connections all lower degrees occur too, but the constant part is the
    identity.
    """
    n, *_, outputs = network.widths
    degree = int(3**network.layers)
    m = (degree - 1) // 2
    variables = comb(n + 1, 2)
    if network.skip:
        return outputs * n * (comb(m + variables, variables) - 1)
    if network.t == 1:
        return outputs * monomial_count(n, degree)
    return outputs * n * monomial_count(variables, m)

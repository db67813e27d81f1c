"""Upper bounds for the dimension of a deep attention network, with their reasons in words.

They need no computation. Proofs are in ``docs/deep-attention.md``; lower bounds, by ranks, are in
``bounds``.

Notation: a network has widths d_0, …, d_l and t tokens, and H heads in each layer. A head of layer
k has an attention matrix A of rank at most a_k and a value matrix V of size d_k × d_{k−1} and rank
β_k; α_k is the generic rank of A. GL(d_i) acts on the functions by a *change of base* of the hidden
space between layers i and i + 1, which leaves their composition as it is. A
:class:`~m2bridge.results.known.Bounds` has a ``value``, and a reason in words, ``because``. A layer
of lightning attention is Σ_h V_h S A_h X with S = XXᵀ; for one token x it is Σ_h V_h x·q_h(x) with
the quadratic forms q_h(x) = xᵀA_hx.
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


def upper_bounds(network: NetworkSizes) -> tuple[Bounds, ...]:
    """Return the upper bounds for the dimension that apply to a network, the smallest first."""
    bounds = list(_bounds_of_certificates(network))
    functions_are_linear = network.softmax and network.t == 1
    # bound_by_bases is about several layers, several heads, no skip connections
    several_heads_without_skip = network.heads > 1 and not network.skip
    if network.layers > 1 and several_heads_without_skip and not functions_are_linear:
        bounds.append(bound_by_bases(network))
    return tuple(sorted(bounds, key=_value))


def certified_bound(network: NetworkSizes) -> int:
    """Return the least of the bounds of release 1.0, which certificates have as ``upper_bound``:
    all releases 1.x verify them, so a later bound cannot take its place.
    """
    return min(map(_value, _bounds_of_certificates(network)))


def _bounds_of_certificates(network: NetworkSizes) -> Iterator[Bounds]:
    """Yield the upper bounds of release 1.0: by the structure of the network, and the number of
    coefficients.
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
    # with more than three inputs the number of coefficients is seldom the least bound
    if not network.softmax and network.widths[0] <= 3:
        yield Bounds.at_most(coefficient_count(network), "the number of coefficients")


def virtual_bound(network: NetworkSizes) -> Bounds:
    """Return the upper bound by the virtual weights A'_k, of a plain network."""
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
    """Return the sum over all layers of the least upper bound, less the changes of base between
    them (proposition-heads).
    """
    return _sum_over_layers(network, base_changes(network))


def bound_by_bases(network: NetworkSizes) -> Bounds:
    """Return the upper bound by hidden widths that heads fill and by bases (proposition-bases), for
    several layers of several heads without skip connections.

    Hidden widths are reduced to what heads can fill and read, which keeps the functions. Then a
    change of base acts freely wherever general outputs of a layer span its hidden space.
    """
    # All outputs of a layer of lightning attention from width d lie in a space of dimension d · d²,
    # since they depend on V_h and A_h by Σ_h V_h ⊗ A_h alone.
    cubes = network
    if not network.softmax:
        widths = [network.widths[0]]
        for hidden in network.widths[1:-1]:
            widths.append(min(hidden, widths[-1] ** 3))
        cubes = replace(network, widths=(*widths, network.widths[-1]))
    # the generic ranks of the value matrices
    betas = [min(d, outputs) for d, outputs, _ in network.layer_sizes]
    reduced_network, _ = without_unused_width(cubes, betas)
    bases = 0
    # after the last layer there is no hidden space
    for d, hidden, _ in list(reduced_network.layer_sizes)[:-1]:
        # Outputs of a general layer of lightning attention span a space of this dimension (take as
        # A_h matrices with one entry, on the diagonal). For softmax the columns of all V_h stand
        # for them: its bounds count A_h and V_h, on which changes of base act freely if these span.
        different_heads = network.heads if network.softmax else min(network.heads, d)
        if hidden <= different_heads * d:
            bases += hidden**2
    bound = _sum_over_layers(reduced_network, bases)
    if reduced_network == network:
        return bound
    listed_widths = ", ".join(map(str, reduced_network.widths[1:-1]))
    reason = f"hidden widths {listed_widths}, which heads fill; {bound.because}"
    return Bounds.at_most(bound.value, reason)


def _sum_over_layers(network: NetworkSizes, bases: int) -> Bounds:
    """Return the sum of the least bounds of the layers less ``bases``; its reason lists them."""
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
    return bound.value


def _less_base_changes(bases: int) -> str:
    """Return the words for a summand −``bases``; empty for 0."""
    return f" less {bases} for changes of base between layers" if bases else ""


def _bounds_of_layer(network: NetworkSizes, layer: SizesOfLayer) -> Iterator[Bounds]:
    """Yield upper bounds for the dimension of the functions of one layer (proposition-heads); the
    matrix of q_h, the symmetric part of A_h, has rank at most 2a.
    """
    d, outputs, a = layer
    heads = network.heads
    alpha = min(a, d)
    if network.softmax:
        weights_of_head = d * outputs + matrices_of_rank(d, alpha)
        yield Bounds.at_most(heads * weights_of_head, "the attention and value matrices")
    elif network.t == 1:
        head = d * outputs + dimension_of_symmetric_rank(d, 2 * alpha)
        yield Bounds.at_most(heads * (head - 1), "the heads up to scalings")
        yield _bound_by_tensors(heads, values=d * outputs, attention=comb(d + 1, 2))
        yield Bounds.at_most(outputs * comb(d + 2, 3), "the number of coefficients")
    else:
        head = d * outputs + matrices_of_rank(d, alpha)
        # the dimension of the directions that only exchange values between heads
        exchanges = _exchanges_of_values(d, heads=heads, alpha=alpha) if outputs == 1 else 0
        reason = "the heads up to scalings"
        if exchanges:
            reason += " and exchanges of values"
        yield Bounds.at_most(heads * (head - 1) - exchanges, reason)
        yield _bound_by_tensors(heads, values=d * outputs, attention=d * d)
        if outputs == 1:
            yield _bound_by_quadrics(heads, d)
        yield Bounds.at_most(outputs * d * comb(d + 1, 2), "the number of coefficients")


def _bound_by_tensors(heads: int, *, values: int, attention: int) -> Bounds:
    """Return the dimension of the tensors Σ_h V_h ⊗ A_h, or Σ_h V_h ⊗ q_h, on which a layer
    depends, from the dimensions of the spaces of V_h and of A_h or q_h.
    """
    rank = min(heads, values, attention)
    tensors = determinantal_dimension(values, attention, rank)
    return Bounds.at_most(tensors, f"tensors of values and attention matrices of rank {rank}")


def _bound_by_quadrics(heads: int, d: int) -> Bounds:
    """Return the upper bound for a layer with one output and several tokens, by quadratic forms.

    The row Σ_h v_h S A_h is linear in S, so determined by all S = uuᵀ. Then its d entries are
    quadratic forms in u, which vanish where all v_h u do: on a space of codimension c, a point of a
    Grassmannian of dimension c(d − c). The forms that vanish on it are a vector space, of the same
    dimension as the set of all forms of rank at most c.
    """
    codimension = min(heads, d)
    grassmannian = codimension * (d - codimension)
    quadrics = grassmannian + d * dimension_of_symmetric_rank(d, codimension)
    reason = f"quadratic forms that vanish where {codimension} linear forms do"
    return Bounds.at_most(quadrics, reason)


def _exchanges_of_values(d: int, *, heads: int, alpha: int) -> int:
    """Return a lower bound for the dimension of exchanges of values, for d' = 1, several tokens and
    A_h of rank ``alpha``; 0, which says nothing, for more than d heads.

    For heads i < j with rows v_i, v_j and a row w an exchange is the tangent vector Ȧ_i = v_jᵀw,
    Ȧ_j = −v_iᵀw. It is in the kernel of the differential, because v_i S v_jᵀ = v_j S v_iᵀ. For w in
    the row spaces of A_i and of A_j, whose intersection has at least 2α − d dimensions, it is
    tangent to the matrices of this rank. With at most d heads generic v_h are independent, and so
    are these vectors for all pairs of heads.
    """
    if heads > d:
        return 0
    pairs_of_heads = comb(heads, 2)
    return pairs_of_heads * max(0, 2 * alpha - d)


def bound_by_ranks(network: NetworkSizes, betas: Sequence[int]) -> Bounds:
    """Return an upper bound for the dimension by the ranks of all A, and β_k of all V, without
    hidden widths that heads do not use, less scalings and changes of base that act freely.
    """
    reduced_network, betas = without_unused_width(network, betas)
    # the dimension of A and V of one head of each layer
    matrices = 0
    for (d, outputs, a), beta in zip(reduced_network.layer_sizes, betas, strict=True):
        matrices += matrices_of_rank(d, min(a, d)) + determinantal_dimension(outputs, d, beta)
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

    H heads with values of rank β fill a space of dimension Hβ, and each of the H heads of the next
    layer reads 2α + β linear forms of it, in the rows and columns of A and the rows of V
    (lemma-unused-width in docs/weights-mathematics.md). With skip connections the tokens themselves
    pass, and all widths stay.
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
    """Return whether it is known that changes of base act freely: in each layer but the last the
    columns of generic V of all heads, of rank β_k, span the hidden space, so that a change of base
    which keeps them is the identity.
    """
    hidden_widths = network.widths[1:-1]
    pairs = zip(betas[:-1], hidden_widths, strict=True)
    return all(network.heads * beta >= d for beta, d in pairs)


def are_separate(network: NetworkSizes, betas: Sequence[int]) -> bool:
    """Return whether :func:`bound_by_ranks` is known to be the dimension in characteristic 0.

    Theorem H is about t ≥ 2 tokens and one of these cases: softmax with skip connections; softmax
    with at most one hidden width, which is at most d_0, d_l and all Hβ_k; one layer of lightning
    attention with several heads and enough inputs.
    """
    # the theorem is about several tokens: the outputs at one token do not separate heads
    if network.t == 1:
        return False
    heads = network.heads
    first, *hidden, last = network.widths
    if network.softmax:
        one_hidden_width = len(set(hidden)) <= 1
        # no hidden width is larger than the widths of inputs and outputs, or than what heads fill
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

    With one token it is a form of degree 3^l in d_0 variables for each output. With several it is
    P(XXᵀ)X, where P has d_l × d_0 entries of degree (3^l − 1)/2 in a symmetric matrix. With skip
    connections all lower degrees occur too, but the constant part is the identity.
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

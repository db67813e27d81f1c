"""The numbers of a network, upper bounds for dimensions, and what statements predict.

*Theorems* (docs/deep-attention.md, whose notation this is): the virtual weights have the
dimension of a tower of subspaces (proposition-V); what a function forgets of them bounds its
dimension (lemma-forgets, theorem-S); with heads or skip connections bounds are added up layer by
layer (proposition-heads).

*Taken on trust*: that the upper bounds hold. That they are attained is computed in
``observables``.

The formulas of statements and their hypotheses are in words.toml, which the program reads, too. The
numbers that they are about are found here again, and the bounds use none of these formulas.

*Notation.* A network has l layers, widths d_0, …, d_l with n = d_0, and t tokens, the columns of X.
a_k is the number of rows of K and Q in layer k, whose attention matrix is A = KᵀQ, and V its value
matrix; H is the number of heads. For one head without skip connections A'_k, later A_k, is the
virtual attention matrix of layer k, an n × n matrix, and M = V_l ⋯ V_1. r_k is the rank of what
enters layer k, α_k = min(a_k, r_k) the rank of A'_k, and q_k(x) = xᵀA'_k x its quadratic form; s_k
is the dimension of a space W_k: for k ≥ 2 it is spanned by the rows of M and the rows and columns
of A'_k, …, A'_l, and W_1 = K^n. f is the last layer of which the whole matrix matters
(``last_whole_layer``). The *torus* (K^*)^l scales A_k and M so that the function stays. Of one
layer ``d`` and ``after`` are the widths d_{k−1} and d_k, also written d'.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import comb
from pathlib import Path
from typing import Any, NamedTuple

from m2bridge.certificates.conditions import CaseNumbers
from m2bridge.certificates.wording import Words, wording
from m2bridge.errors import CertificateError

WORDS = wording(Path(__file__).parents[1] / "words.toml")

# The fields of a case in a certificate.
NAMES = {"widths", "a", "t", "heads", "skip", "normalization"}
# The most layers, as many as the program takes.
MAX_CASE_LAYERS = 1000


class SizesOfLayer(NamedTuple):
    """The widths d_{k−1} and d_k before and after layer k, and its a_k, the bound of the rank."""

    inputs: int
    outputs: int
    a: int


@dataclass(frozen=True, kw_only=True)
class Network:
    """The case of a certificate; lists that belong to layers begin with layer 1."""

    widths: tuple[int, ...]
    a: tuple[int, ...]
    t: int
    heads: int = 1
    skip: bool = False
    softmax: bool

    @property
    def depth(self) -> int:
        """The number l of layers."""
        return len(self.a)

    @property
    def layers(self) -> list[SizesOfLayer]:
        """The numbers d_{k−1}, d_k and a_k of each layer."""
        return list(map(SizesOfLayer, self.widths[:-1], self.widths[1:], self.a))

    @property
    def plain(self) -> bool:
        """Whether there are one head and no skip connection, and so virtual weights."""
        return self.heads == 1 and not self.skip

    @property
    def narrowest(self) -> list[int]:
        """The numbers r_k = min(d_0, …, d_{k−1})."""
        return list(accumulate(self.widths[:-1], min))

    @property
    def ranks(self) -> list[int]:
        """The numbers α_k = min(a_k, r_k)."""
        return list(map(min, self.a, self.narrowest))

    @property
    def last_whole_layer(self) -> int:
        """The number f of the last layer determined as a whole by the function; 0 if none is.

        After it a function of lightning attention depends on the symmetric part of A_k alone
        (lemma-forgets): A_k enters only by xᵀA_k x where all tokens are multiples of one vector x,
        as one token is, and as a layer with A_k = k qᵀ makes them.
        """
        if self.t == 1:
            return 0
        # α_k is at index k − 1
        return self.ranks.index(1) + 1 if 1 in self.ranks else self.depth

    @property
    def key(self) -> str:
        """The name of the network without the family's, such as ``3-3-3-a2-2-t2``."""
        widths = "-".join(map(str, self.widths))
        a = "-".join(map(str, self.a))
        key = f"{widths}-a{a}-t{self.t}"
        if self.heads > 1:
            key += f"-h{self.heads}"
        if self.skip:
            key += "-skip"
        if self.softmax:
            key += "-softmax"
        return key


def read(data: Mapping[str, Any]) -> Network:
    """Read the case of a certificate; CertificateError if there is no such network."""
    has_numbers = data.keys() == NAMES and all(
        map(_are_positive, (data["widths"], data["a"], [data["t"], data["heads"]]))
    )
    if not has_numbers:
        raise CertificateError("widths, a, t and heads must be positive integers below 10^9")
    widths = tuple(data["widths"])
    a = tuple(data["a"])
    skip = data["skip"]
    has_layers = len(widths) == len(a) + 1 and len(a) <= MAX_CASE_LAYERS
    kind_is_known = type(skip) is bool and data["normalization"] in ("none", "softmax")
    if not has_layers or not kind_is_known:
        raise CertificateError(
            f"from 1 to {MAX_CASE_LAYERS} layers, one a for each; skip connections or not;"
            " none or softmax"
        )
    if skip and len(set(widths)) > 1:
        raise CertificateError("skip connections need equal widths")
    return Network(
        widths=widths,
        a=a,
        t=data["t"],
        heads=data["heads"],
        skip=skip,
        softmax=data["normalization"] == "softmax",
    )


def _are_positive(numbers: Any) -> bool:
    """Whether this is a list of positive integers below 10^9, at least one."""
    if not isinstance(numbers, list) or not numbers:
        return False
    return all(type(n) is int and 1 <= n < 10**9 for n in numbers)


def name(data: Mapping[str, Any]) -> str:
    """The name of a case, such as ``deep-attention-3-3-3-a2-2-t2``."""
    return f"deep-attention-{read(data).key}"


def matrices_of_rank(n: int, rank: int) -> int:
    """The dimension of the n × n matrices of at most this rank: corank c has codimension c²."""
    corank = max(0, n - rank)
    return n * n - corank**2


def forms_of_rank(n: int, rank: int) -> int:
    """The dimension of the quadratic forms of at most this rank: c has codimension c(c + 1)/2."""
    corank = max(0, n - rank)
    return comb(n + 1, 2) - comb(corank + 1, 2)


def virtual_weights_dimension(network: Network, whole: int) -> int:
    """The dimension D_red(whole) of the virtual weights, with A'_k symmetrized for k > ``whole``;
    it is D_virt for ``whole`` = l.

    Virtual weights belong to a flag W_{l+1} ⊆ W_l ⊆ … ⊆ W_1 = K^n of subspaces of dimensions s_k:
    the rows of M span W_{l+1}, and A'_k is in W_k ⊗ W_k. The dimensions of M, of the flag, and of
    all A'_k are added. Given W_k, its subspaces W_{k+1} are a Grassmannian of dimension s_{k+1}(s_k
    − s_{k+1}).
    """
    n, outputs = network.widths[0], network.widths[-1]
    # s_{k+1}, the dimension of W_{k+1}; at first s_{l+1}, the rank of M
    s_after = min(network.widths)
    # M: a vector of W_{l+1} for each output
    dimension = outputs * s_after
    layers = list(zip(network.narrowest, network.ranks, strict=True))
    for k in range(network.depth, 0, -1):
        r, alpha = layers[k - 1]
        # for k ≥ 2, W_k is spanned by W_{k+1} and by α_k rows and α_k columns of A'_k, and is in
        # a space of dimension r_k; W_1 is the space of all inputs
        s = n if k == 1 else min(r, s_after + 2 * alpha)
        dimension += s_after * (s - s_after)
        if k <= whole:
            dimension += matrices_of_rank(s, alpha)
        else:
            # the symmetric part of a matrix of rank α has at most the rank 2α
            dimension += forms_of_rank(s, 2 * alpha)
        s_after = s
    return dimension


def upper_bound(network: Network) -> int:
    """The least of the upper bounds of the dimension of functions that apply to a network; for one
    head without skip connections, and softmax of one token, one is attained (theorems L and S).
    """
    if network.softmax and network.t == 1:
        # the softmax of one score is 1: functions are X ↦ MX
        least = min(network.widths)
        return least * (network.widths[0] + network.widths[-1] - least)
    if network.plain and network.softmax:
        return virtual_weights_dimension(network, whole=network.depth)
    if network.plain:
        # lemma-forgets: the function depends neither on the skew-symmetric parts of A_k for k > f,
        # nor on scalings, by the torus of dimension l, which acts freely
        whole = network.last_whole_layer
        return virtual_weights_dimension(network, whole=whole) - network.depth
    bound = layered_bound(network)
    # as in the program: for more inputs it can be less than the other bounds, as for widths (4,
    # 1000, 1) with two heads; then the least bound here is not the best one, but it is a bound
    if not network.softmax and network.widths[0] <= 3:
        bound = min(bound, _coefficient_count(network))
    return bound


def layered_bound(network: Network) -> int:
    """The sum of the least bounds of all layers, less the changes of base between them.

    GL(d_i), of dimension d_i², acts on the outputs of layer i and inversely on the inputs of the
    next one, and keeps the composition. It acts freely where the outputs span their space: where
    d_i ≤ d_{i−1}. With skip connections it does not act.
    """
    bound = sum(_bound_of_layer(network, sizes) for sizes in network.layers)
    if not network.skip:
        for inputs, hidden in pairwise(network.widths[:-1]):
            if hidden <= inputs:
                bound -= hidden**2
    return bound


def _bound_of_layer(network: Network, sizes: SizesOfLayer) -> int:
    """The least bound of proposition-heads, with its numbers, for the functions Σ V_h S A_h X of
    one layer, with S = XXᵀ.

    For one token x they are Σ V_h x·q_h(x) with the quadratic forms q_h of A_h, in d variables and
    of rank at most 2a.
    """
    d, outputs, a = sizes
    heads = network.heads
    if network.softmax:
        return heads * (d * outputs + matrices_of_rank(d, a))
    if network.t == 1:
        of_attention, entries, coefficients = (
            forms_of_rank(d, 2 * a),
            comb(d + 1, 2),
            comb(d + 2, 3),
        )
    else:
        of_attention, entries, coefficients = matrices_of_rank(d, a), d * d, d * comb(d + 1, 2)
    # bound 1: V_h, and A_h or q_h, less one for each head, as they can be scaled against each other
    bound_1 = heads * (d * outputs + of_attention - 1)
    # bound 2: by the tensor Σ V_h ⊗ A_h or Σ V_h ⊗ q_h, a matrix of rank at most H
    rank = min(heads, d * outputs, entries)
    bound_2 = rank * (d * outputs + entries - rank)
    bound_4 = outputs * coefficients
    if network.t == 1 or outputs > 1:
        return min(bound_1, bound_2, bound_4)
    # For d' = 1 the function is the row Σ v_h S A_h times X. A row w in the row spaces of A_i and
    # A_j gives the direction that adds v_jᵀw to A_i and −v_iᵀw to A_j, which keeps the function to
    # first order, as v_i S v_jᵀ = v_j S v_iᵀ. For at most d heads the v_h are independent, and
    # therefore these directions. The intersection of two row spaces has at least 2α − d dimensions.
    if heads <= d:
        bound_1 -= comb(heads, 2) * max(0, 2 * min(a, d) - d)
    # bound 3: for S = uuᵀ the entries of the row are d quadratic forms in u, which vanish where all
    # v_h u do: on a subspace of codimension c, a point of a Grassmannian of dimension c(d − c)
    c = min(heads, d)
    forms_that_vanish = comb(d + 1, 2) - comb(d - c + 1, 2)
    bound_3 = c * (d - c) + d * forms_that_vanish
    return min(bound_1, bound_2, bound_3, bound_4)


def _coefficient_count(network: Network) -> int:
    """The number of coefficients of a function of lightning attention.

    It is P(XXᵀ)X, where the entries of P are forms of degree m = (3^l − 1)/2 in the N = n(n + 1)/2
    entries of a symmetric matrix; for one token, forms of degree 3^l in n variables. With skip
    connections lower degrees occur too, in which the constant part is always the identity.
    """
    n = network.widths[0]
    outputs = network.widths[-1]
    degree = 3**network.depth
    m = degree // 2  # (3^l − 1)/2
    N = comb(n + 1, 2)
    if network.skip:
        return outputs * n * (comb(m + N, N) - 1)
    if network.t == 1:
        return outputs * comb(degree + n - 1, n - 1)
    return outputs * n * comb(m + N - 1, N - 1)


def all_attention_matrices(network: Network) -> int:
    """The dimension of the attention matrices A = KᵀQ of all heads of all layers (Lemma 3.1)."""
    return network.heads * sum(matrices_of_rank(d, a) for d, _, a in network.layers)


# What statements predict, by their formulas in words.toml.


def _layers(network: Network) -> list[dict[str, int]]:
    """The numbers of each layer by their names in formulas, found from the last layer on."""
    sizes, narrowest, ranks = network.layers, network.narrowest, network.ranks
    numbers = []
    s_after = min(network.widths)
    for k in range(network.depth, 0, -1):
        d, outputs, a = sizes[k - 1]
        r, alpha = narrowest[k - 1], ranks[k - 1]
        s = network.widths[0] if k == 1 else min(r, s_after + 2 * alpha)
        layer = {"k": k, "d": d, "dp": outputs, "rank": min(a, d), "r": r, "alpha": alpha}
        layer |= {"u": s, "s": s_after, "rho": min(2 * alpha, s)}
        layer["p"] = ranks[: k - 1].count(1)
        numbers.append(layer)
        s_after = s
    return numbers[::-1]


def _layers_of_rank_one(network: Network) -> list[int]:
    """The numbers k, from 1, of the layers with min(a_k, d_{k−1}) = 1."""
    return [k for k, (d, _, a) in enumerate(network.layers, 1) if min(a, d) == 1]


# The numbers of a network by their names in words.toml.
NUMBERS: dict[str, Callable[[Network], Any]] = {
    "l": lambda network: network.depth,
    "t": lambda network: network.t,
    "H": lambda network: network.heads,
    "softmax": lambda network: network.softmax,
    "skip": lambda network: network.skip,
    "n": lambda network: network.widths[0],
    "e": lambda network: network.widths[-1],
    "m": lambda network: min(network.widths),
    "greatest": lambda network: max(network.widths),
    "narrow": lambda network: min(network.widths[1:-1], default=0),
    "wide": lambda network: max(network.widths[1:-1], default=0),
    # read where all hidden layers have one width, or there is none
    "delta": lambda network: network.widths[1],
    "f": lambda network: network.last_whole_layer,
    "least_a": lambda network: min(network.a),
    "least_rank": lambda network: 1 if _layers_of_rank_one(network) else 2,
    "r_l": lambda network: network.narrowest[-1],
    "alpha_l": lambda network: network.ranks[-1],
    "layers": _layers,
    # in words of hypotheses that fail
    "widths": lambda network: ", ".join(map(str, network.widths[1:-1])),
    "hidden": lambda network: max(network.widths[1:-1]),
    "first": lambda network: network.widths[0],
    "last": lambda network: network.widths[-1],
    "layer": lambda network: _layers_of_rank_one(network)[0],
}


def hypotheses(network: Network, words: Words) -> list[str]:
    """The failing hypotheses of a statement, in words; empty if none."""
    return WORDS.failing(words.assumes, CaseNumbers(network, NUMBERS))


def prediction(network: Network, words: Words) -> int | None:
    """What a statement predicts; None where its formula has no meaning."""
    predicted: int | None = WORDS.predicted(words, CaseNumbers(network, NUMBERS))
    return predicted

"""The numbers of a network, formulas for dimensions, and what statements predict.

*Theorems* (docs/deep-attention.md, whose notation this is): the dimension of the virtual weights is
that of a tower of subspaces (proposition-V); what a function forgets of them bounds its dimension
(lemma-forgets, theorem-S); with heads or skip connections bounds are added up layer by layer
(proposition-heads).

*Taken on trust*: that the upper bounds hold. That they are attained is computed in
``observables``.

The statements are those of docs/statements.md, with their hypotheses as we read them.

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

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import comb
from pathlib import Path
from typing import Any, NamedTuple

from m2bridge.certificates.wording import wording
from m2bridge.errors import CertificateError

WORDS = wording(Path(__file__).parents[1] / "words.toml")

# The fields of a case in a certificate.
NAMES = {"widths", "a", "t", "heads", "skip", "normalization"}
# The most layers, as many as the program takes.
MAX_CASE_LAYERS = 1000
# The number of coefficients is a bound here for at most this many inputs, as in the program. For
# more it can be less than the others, as for widths (4, 1000, 1) with two heads; then the least
# bound here is not the best one, but it is a bound.
MAX_EXPANDED_INPUTS = 3


class SizesOfLayer(NamedTuple):
    """The widths d_{k−1} and d_k before and after layer k, and its a_k, the bound of the rank."""

    before: int
    after: int
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
        """The name of the network without that of the family, such as ``3-3-3-a2-2-t2``."""
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
            "from 1 to 1000 layers, one a for each; skip connections or not; none or softmax"
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
        return _dimension_of_M(network)
    if network.plain and network.softmax:
        return virtual_weights_dimension(network, whole=network.depth)
    if network.plain:
        # lemma-forgets: the function depends neither on the skew-symmetric parts of A_k for k > f,
        # nor on scalings, by the torus of dimension l, which acts freely
        whole = network.last_whole_layer
        return virtual_weights_dimension(network, whole=whole) - network.depth
    bound = layered_bound(network)
    if not network.softmax and network.widths[0] <= MAX_EXPANDED_INPUTS:
        bound = min(bound, _coefficient_count(network))
    return bound


def _dimension_of_M(network: Network) -> int:
    """The dimension of the d_l × d_0 matrices of rank at most the least width."""
    least = min(network.widths)
    return least * (network.widths[0] + network.widths[-1] - least)


def layered_bound(network: Network) -> int:
    """The sum of the least bounds of all layers, less the changes of base between them.

    GL(d_i), of dimension d_i², acts on the outputs of layer i and inversely on the inputs of the
    next one, and keeps the composition. It acts freely where the outputs span their space: where
    d_i ≤ d_{i−1}. With skip connections it does not act.
    """
    bound = sum(_bound_of_layer(network, sizes) for sizes in network.layers)
    if not network.skip:
        for before, hidden in pairwise(network.widths[:-1]):
            if hidden <= before:
                bound -= hidden**2
    return bound


def _bound_of_layer(network: Network, sizes: SizesOfLayer) -> int:
    """The least bound of proposition-heads, with its numbers, for the functions Σ V_h S A_h X of
    one layer, with S = XXᵀ.

    For one token x they are Σ V_h x·q_h(x) with the quadratic forms q_h of A_h, in d variables and
    of rank at most 2a.
    """
    d, after, a = sizes
    heads = network.heads
    if network.softmax:
        return heads * (d * after + matrices_of_rank(d, a))
    if network.t == 1:
        of_attention, entries, coefficients = (
            forms_of_rank(d, 2 * a),
            comb(d + 1, 2),
            comb(d + 2, 3),
        )
    else:
        of_attention, entries, coefficients = matrices_of_rank(d, a), d * d, d * comb(d + 1, 2)
    # bound 1: V_h, and A_h or q_h, less one for each head, as they can be scaled against each other
    bound_1 = heads * (d * after + of_attention - 1)
    # bound 2: by the tensor Σ V_h ⊗ A_h or Σ V_h ⊗ q_h, a matrix of rank at most H
    rank = min(heads, d * after, entries)
    bound_2 = rank * (d * after + entries - rank)
    bound_4 = after * coefficients
    if network.t == 1 or after > 1:
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


def hypotheses(network: Network, key: str, part: str) -> list[str]:
    """The failing hypotheses of the statement with this key and part, in words; empty if none."""
    failing = _failing(network, STATEMENTS[key, part].hypotheses)
    if not failing:
        return []
    first, *hidden, last = network.widths
    # values for the placeholders in the words of hypotheses; words that need one which does not
    # exist, such as a hidden width, belong to hypotheses that hold
    numbers = {
        "widths": ", ".join(map(str, hidden)),
        "hidden": max(hidden, default=0),
        "first": first,
        "last": last,
        "layer": min(_layers_of_rank_one(network), default=0),
    }
    return [WORDS.hypotheses[name].format(**numbers) for name in failing]


def _failing(network: Network, names: Iterable[str]) -> list[str]:
    """The hypotheses with these names, of words.toml, that fail."""
    first, *hidden, last = network.widths
    single = network.depth == 1
    has_rank_one = bool(_layers_of_rank_one(network))
    holds = {
        "lightning": not network.softmax,
        "softmax": network.softmax,
        "plain": network.plain,
        "skip": network.skip,
        "one-head": network.heads == 1,
        "several-heads": network.heads > 1,
        "no-skip": not network.skip,
        "scalings": not network.softmax,
        "several-tokens": network.t > 1,
        "single-layer": single,
        "several-layers": not single,
        "one-hidden-width": len(set(hidden)) <= 1,
        "bottleneck": max(hidden, default=0) <= min(first, last),
        "equal-widths": len(set(network.widths)) == 1 and first > 1,
        "no-hidden-width-one": min(network.widths[:-1]) > 1,
        "three-threes": network.widths == (3, 3, 3) and min(network.a) > 1 and network.t > 2,
        # asked of a single layer, and of several layers
        "rank-above-one": not single or not has_rank_one or last > 1,
        "ranks-above-one": single or not has_rank_one,
    }
    return [name for name in names if not holds[name]]


def _layers_of_rank_one(network: Network) -> list[int]:
    """The numbers k, from 1, of the layers with min(a_k, d_{k−1}) = 1."""
    return [k for k, (d, _, a) in enumerate(network.layers, 1) if min(a, d) == 1]


def prediction(network: Network, key: str, part: str) -> int | None:
    """What the statement with this key and part predicts; None where its formula has no meaning."""
    statement = STATEMENTS[key, part]
    meaning = statement.hypotheses if statement.meaning is None else statement.meaning
    if _failing(network, meaning):
        return None
    if callable(statement.predicted):
        return statement.predicted(network)
    return statement.predicted


def all_attention_matrices(network: Network) -> int:
    """The dimension of the attention matrices A = KᵀQ of all heads of all layers (Lemma 3.1)."""
    return network.heads * sum(matrices_of_rank(d, a) for d, _, a in network.layers)


def _dimension_of_virtual_weights(network: Network) -> int:
    """The dimension D_virt of the virtual weights (proposition-V)."""
    return virtual_weights_dimension(network, whole=network.depth)


def _equation_16(network: Network) -> int:
    """The number of Eq. 16, for networks all of whose hidden layers have one width δ.

    It is the sum of the dimensions of M, a matrix of rank δ, of A_1, a d_0 × d_0 matrix of rank at
    most a_1, and of the other A_k, δ × δ matrices of rank at most a_k. Without hidden layers δ is
    the lesser of the widths d_0 and d_l.
    """
    first, *hidden, last = network.widths
    delta = hidden[0] if hidden else min(first, last)
    dimension = delta * (first + last - delta) + matrices_of_rank(first, network.a[0])
    return dimension + sum(matrices_of_rank(delta, a) for a in network.a[1:])


def _equation_14(network: Network) -> int:
    """The number of Eq. 14: that of Eq. 16, less one scaling for each layer."""
    return _equation_16(network) - network.depth


def _fibre_dimension(network: Network) -> int:
    """The dimension of the fibre among all matrices, up to the torus (proposition-fibres).

    The skew-symmetric parts, n × n matrices, of all A_k with k > f are free.
    """
    return (network.depth - network.last_whole_layer) * comb(network.widths[0], 2)


def _fibre_degree(network: Network) -> int:
    """The number of linear spaces of which a fibre consists, up to the torus (proposition-fibres).

    It is 1 unless M has rank one, M = h mᵀ. Then m can be exchanged with a linear factor of q_l,
    and each such factor gives one more linear space. By a hypothesis of the statement no width but
    the last is 1, so that m and k are independent.
    """
    rank_of_M = min(network.widths)
    if rank_of_M > 1:
        return 1
    rank_of_last = network.ranks[-1]  # α_l
    if network.last_whole_layer == network.depth:
        # f = l: all of A_l matters. If A_l = k qᵀ has rank one, m can be exchanged with k.
        return 2 if rank_of_last == 1 else 1
    # f < l: of A_l only the form q_l matters, whose rank is min(2 α_l, r_l) in general. It has two
    # linear factors if its rank is 2, else none.
    rank_of_form = min(2 * rank_of_last, network.narrowest[-1])
    return 3 if rank_of_form == 2 else 1


def _virtual_fibre_dimension(network: Network) -> int:
    """The dimension D_virt − D_red(f) of a general fibre in virtual weights, up to the torus."""
    determined = virtual_weights_dimension(network, whole=network.last_whole_layer)
    return _dimension_of_virtual_weights(network) - determined


def _dimension_with_skip_connections(network: Network) -> int:
    """The sum of the least bounds of the layers; softmax functions of one token are linear maps."""
    if network.softmax and network.t == 1:
        return _dimension_of_M(network)
    return layered_bound(network)


def _dimension_of_separate_heads(network: Network) -> int:
    """The dimension if the only infinite symmetries are scalings of A against V in each head."""
    one_head_of_each_layer = 0
    for d, after, a in network.layers:
        one_head_of_each_layer += d * after + matrices_of_rank(d, a) - 1
    return network.heads * one_head_of_each_layer


@dataclass(frozen=True)
class Statement:
    """A statement: what is predicted of all networks, or the function that predicts it.

    ``meaning`` are the hypotheses without which nothing is predicted; all, if that is None.
    """

    predicted: int | Callable[[Network], int]
    hypotheses: tuple[str, ...] = ()
    meaning: tuple[str, ...] | None = None


# Hypotheses that several statements share, by their names in words.toml.
_LIGHTNING = ("plain", "lightning")
_SOFTMAX = ("plain", "softmax")
_NARROW = ("one-hidden-width", "bottleneck")
_PAPER = (*_LIGHTNING, "several-tokens", *_NARROW, "rank-above-one", "ranks-above-one")
_HEADS = ("lightning", "no-skip", "single-layer", "several-heads", "several-tokens")
_MANY_LAYERS = ("several-layers", "several-heads", "several-tokens", "equal-widths")
_SKIP = ("skip", "one-head")

# By key and part: their number in the paper, or the names that docs/statements.md has for ours.
STATEMENTS: dict[tuple[str, str], Statement] = {
    ("3.1", ""): Statement(all_attention_matrices),
    ("3.5", ""): Statement(
        _equation_16, ("plain", *_NARROW), meaning=("plain", "one-hidden-width")
    ),
    ("V", ""): Statement(_dimension_of_virtual_weights, ("plain",)),
    ("3.6", ""): Statement(True, _LIGHTNING),
    ("3.7", ""): Statement(True, _PAPER),
    ("fibre", "dimension"): Statement(_fibre_dimension, _LIGHTNING),
    ("fibre", "degree"): Statement(_fibre_degree, (*_LIGHTNING, "no-hidden-width-one")),
    ("fibre", "virtual weights"): Statement(_virtual_fibre_dimension, _LIGHTNING),
    ("closed", ""): Statement(False, (*_LIGHTNING, "three-threes")),
    ("3.8", ""): Statement(_equation_14, _PAPER, meaning=(*_LIGHTNING, "one-hidden-width")),
    ("3.9", ""): Statement(_equation_16, (*_SOFTMAX, "several-tokens", "single-layer")),
    ("3.10", ""): Statement(
        _equation_16,
        (*_SOFTMAX, "several-tokens", *_NARROW),
        meaning=(*_SOFTMAX, "one-hidden-width"),
    ),
    ("L", ""): Statement(upper_bound, _LIGHTNING),
    ("S", ""): Statement(upper_bound, _SOFTMAX),
    ("skip", "scalings"): Statement(False, (*_SKIP, "scalings")),
    ("skip", "one-to-one"): Statement(0, (*_SKIP, "several-tokens")),
    ("skip", "dimension"): Statement(_dimension_with_skip_connections, _SKIP),
    ("heads", "separate heads"): Statement(_dimension_of_separate_heads, _HEADS),
    ("heads", "one layer"): Statement(layered_bound, _HEADS),
    ("heads", "several layers"): Statement(layered_bound, _MANY_LAYERS),
}

"""The numbers of a deep attention network, and dimensions and upper bounds that follow from them.

Layer k has an attention matrix A_k of size d_{k−1} × d_{k−1} and rank at most a_k, and a value
matrix V_k of size d_k × d_{k−1}. With M_k = V_{k−1}⋯V_1 the function depends only on the virtual
weights A'_k = M_kᵀ A_k M_k and M = V_l⋯V_1. Proofs are in ``docs/deep-attention.md``. Lower bounds
need ranks: they are in ``bounds``; the functions themselves are in ``network``.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from math import comb
from typing import Any, ClassVar, Literal, Self, get_args

from m2bridge.algebra.determinantal import (
    determinantal_dimension,
    matrices_of_rank,
    monomial_count,
    symmetric_matrices_of_rank,
)
from m2bridge.errors import InvalidCaseError
from m2bridge.families.base import positive_integer, positive_integers
from m2bridge.maps.model import DifferentiableModel
from m2bridge.results.known import Bounds

NAME = "deep-attention"
Normalization = Literal["none", "softmax"]

# The number of coefficients of so deep a network has thousands of digits.
MAX_NETWORK_LAYERS = 1000
# Of docs/deep-attention.md: heads are separate.
THEOREM = "Theorem H"


@dataclass(frozen=True, slots=True)
class ParameterMatrix:
    """A matrix of parameters: ``A``, ``K``, ``Q`` or ``V`` of a head of a layer, both from 1."""

    kind: str
    layer: int
    head: int
    rows: int
    columns: int


@dataclass(frozen=True, slots=True, init=False)
class NetworkSizes(DifferentiableModel):
    """The numbers of a network: widths, ranks, tokens, heads; skip connections, normalization.

    Abstract: the functions are those of
    :class:`~m2bridge.families.deep_attention.model.DeepAttention`, which has the meaning of each
    number. Tuples that belong to layers begin with layer 1; so ``alphas[k - 1]`` is α_k.
    """

    widths: tuple[int, ...]
    a: tuple[int, ...]
    t: int
    heads: int
    skip: bool
    normalization: Normalization
    family: ClassVar[str] = NAME

    def __init__(
        self,
        widths: Iterable[int],
        a: int | Iterable[int],
        t: int = 2,
        heads: int = 1,
        skip: bool = False,
        normalization: str = "none",
    ) -> None:
        listed = positive_integers("widths", widths)
        if not 2 <= len(listed) <= MAX_NETWORK_LAYERS + 1:
            raise InvalidCaseError(
                "widths", f"must be from 2 to {MAX_NETWORK_LAYERS + 1} integers, not {len(listed)}"
            )
        layers = len(listed) - 1
        ranks = positive_integers("a", [a] if isinstance(a, int) else a)
        if len(ranks) == 1:
            ranks *= layers
        if len(ranks) != layers:
            raise InvalidCaseError(
                "a", f"must be one integer, or one for each of the {layers} layers"
            )
        if not isinstance(skip, bool):
            raise InvalidCaseError("skip", f"must be true or false, not {skip!r:.60}")
        # Y + Σ V_h Yσ has a meaning only where Y and V_h Y are of one size.
        if skip and len(set(listed)) > 1:
            raise InvalidCaseError(
                "skip", "needs widths that are all equal: a layer adds its input to its output"
            )
        if normalization not in get_args(Normalization):
            raise InvalidCaseError(
                "normalization", f"must be none or softmax, not {normalization!r:.60}"
            )
        tokens = positive_integer("t", t)
        count = positive_integer("heads", heads)
        values = (listed, ranks, tokens, count, skip, normalization)
        # The value is frozen, so that its fields cannot be assigned.
        for field, value in zip(NetworkSizes.__slots__, values, strict=True):
            object.__setattr__(self, field, value)

    @classmethod
    def from_key(cls, key: str) -> Self:
        """Return the network of a key: ``3-3-3-a2-2-t2``, ``3-3-a2-t2-h2-skip-softmax``."""
        number = "[1-9][0-9]{0,8}"
        widths_a_t = rf"({number}(?:-{number})+)-a({number}(?:-{number})*)-t({number})"
        heads_skip_softmax = rf"(?:-h({number}))?(-skip)?(-softmax)?"
        match = re.fullmatch(widths_a_t + heads_skip_softmax, key)
        if match is None:
            raise InvalidCaseError(
                "key", f"'{key}' does not name a deep attention network: write 3-3-3-a2-2-t2"
            )
        widths, a, t, heads, skip, softmax = match.groups()
        return cls(
            widths=map(int, widths.split("-")),
            a=map(int, a.split("-")),
            t=int(t),
            heads=int(heads or 1),
            skip=skip is not None,
            normalization="softmax" if softmax else "none",
        )

    @property
    def key(self) -> str:
        """The name: ``3-3-3-a2-2-t2``, then ``-h2``, ``-skip`` and ``-softmax`` if they apply."""
        widths = "-".join(map(str, self.widths))
        ranks = "-".join(map(str, self.a))
        key = f"{widths}-a{ranks}-t{self.t}"
        if self.heads > 1:
            key += f"-h{self.heads}"
        if self.skip:
            key += "-skip"
        if self.softmax:
            key += "-softmax"
        return key

    @property
    def title(self) -> str:
        """The architecture of the network in words."""
        kind = "softmax" if self.softmax else "lightning"
        widths, a = _tuple(self.widths), _tuple(self.a)
        title = f"{kind} self-attention of widths {widths}, a = {a}, t = {self.t}"
        if self.heads > 1:
            title += f", {self.heads} heads"
        if self.skip:
            title += ", skip connections"
        return title

    def to_json(self) -> dict[str, Any]:
        """Return the numbers of the case."""
        return {
            "widths": list(self.widths),
            "a": list(self.a),
            "t": self.t,
            "heads": self.heads,
            "skip": self.skip,
            "normalization": self.normalization,
        }

    @property
    def softmax(self) -> bool:
        """Whether the scores are normalized by softmax."""
        return self.normalization == "softmax"

    @property
    def layers(self) -> int:
        """The number l of layers."""
        return len(self.a)

    @property
    def layer_sizes(self) -> Iterator[tuple[int, int, int]]:
        """The widths d_{k−1} and d_k and the rank a_k of each layer."""
        return zip(self.widths, self.widths[1:], self.a, strict=False)

    @property
    def is_plain(self) -> bool:
        """Whether there is one head and no skip connection: only virtual weights matter then."""
        return self.heads == 1 and not self.skip

    def parameter_matrices(self) -> Iterator[ParameterMatrix]:
        """Yield all matrices of parameters: by layer, then by head, attention before values.

        A head with a_k ≥ d_{k−1} has the entries of A as parameters, as KᵀQ is then any matrix; a
        head with smaller a_k has those of K and of Q.
        """
        for k, (before, after, rank) in enumerate(self.layer_sizes, 1):
            rows = {"A": before} if rank >= before else {"K": rank, "Q": rank}
            rows["V"] = after
            for h in range(1, self.heads + 1):
                for kind, count in rows.items():
                    yield ParameterMatrix(kind, layer=k, head=h, rows=count, columns=before)

    def parameter_names(self) -> tuple[str, ...]:
        """Return a name for each parameter: of all matrices in turn, row by row.

        ``A_k_i_j`` is the entry (i, j) of A_k; ``A_k_h_i_j`` that of head h among several.
        """
        names = []
        for matrix in self.parameter_matrices():
            prefix = f"{matrix.kind}_{matrix.layer}_"
            if self.heads > 1:
                prefix += f"{matrix.head}_"
            for i in range(1, matrix.rows + 1):
                names += [f"{prefix}{i}_{j}" for j in range(1, matrix.columns + 1)]
        return tuple(names)

    @property
    def parameter_count(self) -> int:
        """The number of entries of all A (or K and Q) and V."""
        # Where a ≥ d the parameters are the d² entries of A, which are fewer than those of K and Q.
        count = 0
        for d, after, a in self.layer_sizes:
            attention = d * d if a >= d else 2 * a * d
            count += attention + d * after
        return self.heads * count

    @property
    def input_count(self) -> int:
        """d_0·t, the entries of X row by row."""
        return self.widths[0] * self.t

    @property
    def output_count(self) -> int:
        """d_l·t, the entries of the last tokens row by row."""
        return self.widths[-1] * self.t

    @property
    def virtual_entries(self) -> int:
        """The number of entries of all virtual weights A'_k and M."""
        n = self.widths[0]
        return self.layers * n * n + n * self.widths[-1]

    @property
    def entering_ranks(self) -> tuple[int, ...]:
        """r_k = min(d_0, …, d_{k−1}), the generic rank of M_k."""
        return tuple(accumulate(self.widths[:-1], min))

    @property
    def rank(self) -> int:
        """The generic rank of M, the least of all widths."""
        return min(self.widths)

    @property
    def linear_dimension(self) -> int:
        """The dimension of linear functions, those of softmax of one token: σ of one score is 1."""
        return determinantal_dimension(self.widths[0], self.widths[-1], self.rank)

    @property
    def alphas(self) -> tuple[int, ...]:
        """α_k = min(a_k, r_k), the generic rank of A'_k."""
        return tuple(map(min, self.a, self.entering_ranks))

    @property
    def whole_layers(self) -> int:
        """How many layers of lightning attention, from the first on, see all of their A'_k.

        The last of them is the first layer with α_k = 1: after it all tokens are parallel to first
        order, and as a skew-symmetric form vanishes on parallel tokens, later layers see the
        symmetric part of A'_k only. For one token no layer sees more than the symmetric part.
        """
        if self.t == 1:
            return 0
        if 1 not in self.alphas:
            return self.layers
        return self.alphas.index(1) + 1

    @property
    def kernel_dimension(self) -> int:
        """The dimension of the kernel that the differential of a block always has.

        In lightning attention A_k can be scaled against m in each layer, which is one dimension
        each. After the first ``whole_layers`` layers only the symmetric part of A_k matters, so
        that each 2 × 2 matrix there has one skew-symmetric direction. For softmax it is 0.
        """
        if self.softmax:
            return 0
        # widths cannot grow again, so these are the first layers
        with_2_by_2_matrix = sum(r > 1 for r in self.entering_ranks)
        skew_directions = max(0, with_2_by_2_matrix - self.whole_layers)
        return self.layers + skew_directions

    @property
    def span_dimensions(self) -> tuple[int, ...]:
        """The dimensions s_1, …, s_{l+1}.

        s_{l+1} is the rank of M, s_k = min(r_k, s_{k+1} + 2α_k), and s_1 = d_0. For k ≥ 2 it is the
        dimension of the space spanned by the rows of M and the rows and columns of A'_k, …, A'_l.
        """
        # From the last layer to the second, by the recursion; s_1 is not limited by a layer.
        downwards = [self.rank]
        for k in range(self.layers, 1, -1):
            spanned = downwards[-1] + 2 * self.alphas[k - 1]
            downwards.append(min(self.entering_ranks[k - 1], spanned))
        return (self.widths[0], *reversed(downwards))

    def upper_bounds(self, characteristic: int) -> tuple[Bounds, ...]:
        """Return upper bounds for the dimension, the smallest first.

        They are proved in docs/deep-attention.md over every field, whatever its characteristic.
        """
        return tuple(sorted(_upper_bounds(self), key=_value))

    def gauge_dimension(self) -> int:
        """Return a lower bound for the dimension of generic fibres of the parametrization.

        With one head and without skip connections: the dimension of the fibres over the virtual
        weights, plus that of the torus of Eq. 13 in lightning attention. Otherwise the dimension of
        a group which acts freely: GL(a_k) on K and Q of a head, GL(d_i) between layers i and i + 1
        without skip connections, K* on A and V in lightning attention.
        """
        scalings = 0 if self.softmax else self.layers * self.heads
        if self.is_plain:
            return self.parameter_count - virtual_dimension(self) + scalings
        # GL(a_k) acts only where K and Q are the parameters, not A.
        inner_bases = self.heads * sum(a * a for d, _, a in self.layer_sizes if a < d)
        return inner_bases + base_changes(self) + scalings


def virtual_dimension(shape: NetworkSizes) -> int:
    """Return the dimension of the variety of virtual weights."""
    return reduced_dimension(shape, shape.layers)


def reduced_dimension(shape: NetworkSizes, whole: int) -> int:
    """Return the dimension of virtual weights with A'_k + A'_kᵀ for A'_k in layers k > ``whole``.

    It is the dimension of a variety of flags and matrices. W_k is the space of dimension s_k that
    is spanned by the rows of M and the rows and columns of A'_k, …, A'_l; so W_{l+1} ⊆ … ⊆ W_2, and
    A'_k is in W_k ⊗ W_k. M, of rank s_{l+1}, is counted first, then the W_k, then all A'_k.
    """
    n = shape.widths[0]
    spans = shape.span_dimensions
    rank_of_M = spans[-1]
    value_matrix = rank_of_M * (n + shape.widths[-1] - rank_of_M)
    # The Grassmannian of the subspaces W_k of dimension s that contain W_{k+1} of dimension s_next.
    subspaces = sum((s - s_next) * (n - s) for s, s_next in pairwise(spans))
    matrices = 0
    for k, (s, alpha) in enumerate(zip(spans[:-1], shape.alphas, strict=True), 1):
        if k <= whole:
            matrices += matrices_of_rank(s, alpha)
        else:
            # The symmetric part of a matrix of rank α has rank at most 2α.
            matrices += symmetric_matrices_of_rank(s, 2 * alpha)
    return value_matrix + subspaces + matrices


def _tuple(numbers: tuple[int, ...]) -> str:
    """Return numbers as ``(3, 2, 3)``, or ``13 × 64`` for many equal ones."""
    if len(numbers) > 6 and len(set(numbers)) == 1:
        return f"{len(numbers)} × {numbers[0]}"
    return f"({', '.join(map(str, numbers))})"


MAX_COEFFICIENT_BOUND_WIDTH = 3
"""The largest number of inputs for which the number of coefficients is used as a bound."""


def _upper_bounds(network: NetworkSizes) -> Iterator[Bounds]:
    """Yield the upper bounds for the dimension that apply to a network."""
    if network.softmax and network.t == 1:
        yield Bounds.at_most(
            network.linear_dimension,
            f"linear functions of one token, of rank at most {network.rank}",
        )
    elif network.is_plain:
        yield virtual_bound(network)
    else:
        yield layered_bound(network)
    if not network.softmax and network.widths[0] <= MAX_COEFFICIENT_BOUND_WIDTH:
        yield Bounds.at_most(coefficient_count(network), "the number of coefficients")


def determined_dimension(network: NetworkSizes) -> int:
    """Return the dimension of the virtual weights less what functions do not see of them.

    Lightning attention does not see skew-symmetric parts after the first ``whole_layers`` layers,
    nor one scaling in each layer.
    """
    if network.softmax:
        return virtual_dimension(network)
    return reduced_dimension(network, network.whole_layers) - network.layers


def virtual_bound(network: NetworkSizes) -> Bounds:
    """Return the upper bound by what functions see of virtual weights, with its reason in words.

    The network has one head and no skip connections, and t ≥ 2 for softmax.
    """
    whole = network.whole_layers
    reason = "the virtual weights"
    if not network.softmax:
        if whole < network.layers:
            reason += " with symmetric attention matrices"
            if network.t > 1:
                reason += f" after layer {whole}, which has rank one"
        reason += f", up to {network.layers} scalings"
    return Bounds.at_most(determined_dimension(network), reason)


def layered_bound(network: NetworkSizes) -> Bounds:
    """Return the upper bound for the dimension that is proved layer by layer (proposition-heads).

    It is the sum over all layers of the least upper bound for the functions of a layer, less the
    dimension of the changes of base between layers. The reason in words lists the summands.
    """
    # Deep networks have many equal layers, which are one summand with their number.
    layers_with_bound = Counter[Bounds]()
    for d, after, a in network.layer_sizes:
        least = min(_bounds_of_layer(network, d, after, a), key=_value)
        layers_with_bound[least] += 1
    bases = base_changes(network)
    total = -bases
    summands = []
    for bound, count in layers_with_bound.items():
        total += count * bound.value
        times = f"{count} × " if count > 1 else ""
        summands.append(f"{times}{bound.value} ({bound.because})")
    reason = f"layer by layer: {', '.join(summands)}{_less_base_changes(bases)}"
    return Bounds.at_most(total, reason)


def _value(bound: Bounds) -> int:
    """Return the number of a bound, by which bounds are sorted."""
    return bound.value


def _less_base_changes(bases: int) -> str:
    """Return the words for a summand −``bases``; empty for 0."""
    return f" less {bases} for changes of base between layers" if bases else ""


def _bounds_of_layer(network: NetworkSizes, d: int, after: int, a: int) -> Iterator[Bounds]:
    """Yield upper bounds for the dimension of the functions of one layer.

    The layer has the widths d before and ``after`` it, and attention matrices of rank at most a.
    Its functions are Σ_h V_h XXᵀA_hX for t ≥ 2, and Σ_h V_h x·q_h(x) with the quadratic forms
    q_h(x) = xᵀA_hx for t = 1; softmax has others. The bounds are those of proposition-heads in
    docs/deep-attention.md.
    """
    heads = network.heads
    alpha = min(a, d)
    if network.softmax:
        weights = heads * (d * after + matrices_of_rank(d, alpha))
        yield Bounds.at_most(weights, "the attention and value matrices")
        return
    several_tokens = network.t > 1
    exchanges = 0
    # ``seen`` is the dimension of what the function shows of A_h, ``space`` that of the vector
    # space of all such, and ``coefficients`` is their number for one output.
    if several_tokens:
        seen = matrices_of_rank(d, alpha)
        space = d * d
        coefficients = d * comb(d + 1, 2)
        # The tangent v_j wᵀ to A_i with −v_i wᵀ to A_j changes nothing, as v_iᵀSv_j = v_jᵀSv_i; the
        # vectors w in the row spaces of both have at least 2α − d dimensions.
        if after == 1 and heads <= d:
            exchanges = comb(heads, 2) * max(0, 2 * alpha - d)
    else:
        # q_h, the symmetric part of A_h
        seen = symmetric_matrices_of_rank(d, 2 * alpha)
        space = comb(d + 1, 2)
        coefficients = comb(d + 2, 3)
    reason = "the heads up to scalings"
    if exchanges:
        reason += " and exchanges of values"
    yield Bounds.at_most(heads * (d * after + seen - 1) - exchanges, reason)
    # The rank of Σ_h V_h ⊗ A_h, a sum of as many pure tensors as there are heads.
    rank = min(heads, d * after, space)
    tensors = determinantal_dimension(d * after, space, rank)
    yield Bounds.at_most(tensors, f"tensors of values and attention matrices of rank {rank}")
    if after == 1 and several_tokens:
        # The function is d quadratic forms that vanish where the values v_1, …, v_h do.
        h = min(heads, d)
        quadrics = h * (d - h) + d * symmetric_matrices_of_rank(d, h)
        yield Bounds.at_most(quadrics, f"quadratic forms that vanish where {h} linear forms do")
    yield Bounds.at_most(after * coefficients, "the number of coefficients")


def bound_by_ranks(network: NetworkSizes, betas: Sequence[int]) -> Bounds:
    """Return an upper bound for the dimension by the ranks of all A and V.

    ``betas`` are β_1, …, β_l: the value matrices of layer k have rank at most β_k. Changes of base
    between layers, which act freely where the outputs of all heads span a space, are subtracted.
    """
    narrow, betas = without_unused_width(network, betas)
    # A and V of one head of each layer
    matrices = 0
    for (d, after, a), beta in zip(narrow.layer_sizes, betas, strict=True):
        matrices += matrices_of_rank(d, min(a, d)) + determinantal_dimension(after, d, beta)
    reason = "the matrices A and V of all heads"
    if not network.softmax:
        # cV and A/c have one function.
        matrices -= network.layers
        reason += " up to scalings"
    if narrow != network:
        hidden = ", ".join(map(str, narrow.widths[1:-1]))
        reason += f", as heads use only hidden widths {hidden}"
    bases = base_changes(narrow) if act_freely(narrow, betas) else 0
    return Bounds.at_most(network.heads * matrices - bases, reason + _less_base_changes(bases))


def without_unused_width(
    network: NetworkSizes, betas: Sequence[int]
) -> tuple[NetworkSizes, list[int]]:
    """Return a network with the same functions and smaller hidden widths d_k, and its β_k.

    The functions are those with value matrices of rank at most β_k in layer k, where ``betas`` are
    β_1, …, β_l. A hidden width is reduced to what heads can fill and read: outputs of H heads with
    values of rank β lie in a space of dimension Hβ, and each of the H heads of the next layer sees
    of it 2α + β linear forms. The widths of a network with skip connections stay, as the tokens
    themselves pass there. The new β_k are at most the new widths before and after layer k.
    """
    ranks = list(betas)
    if network.skip or network.layers == 1:
        return network, ranks
    widths = list(network.widths)
    for k in range(1, network.layers):
        # widths[k] is d_k; layer k has ranks[k - 1], and layer k + 1 has a[k] and ranks[k].
        ranks[k - 1] = min(ranks[k - 1], widths[k - 1])
        filled = network.heads * ranks[k - 1]
        read = network.heads * (2 * min(network.a[k], widths[k]) + ranks[k])
        widths[k] = min(widths[k], filled, read)
        ranks[k - 1] = min(ranks[k - 1], widths[k])
    ranks[-1] = min(ranks[-1], widths[-2])
    return replace(network, widths=tuple(widths)), ranks


def act_freely(network: NetworkSizes, betas: Sequence[int]) -> bool:
    """Return whether changes of base between layers act freely on the functions.

    They do if the columns of generic V of all heads, with ranks β_k, span each hidden space.
    """
    hidden = network.widths[1:-1]
    return all(network.heads * beta >= d for beta, d in zip(betas[:-1], hidden, strict=True))


def are_separate(network: NetworkSizes, betas: Sequence[int]) -> bool:
    """Return whether :func:`bound_by_ranks` is the dimension in characteristic 0.

    That is so under the hypotheses of Theorem H in docs/deep-attention.md, with value matrices of
    ranks β_k.
    """
    # All columns are equal for one token, so heads cannot be separated.
    if network.t == 1:
        return False
    heads = network.heads
    first, *hidden, last = network.widths
    if network.softmax:
        one_hidden_width = len(set(hidden)) <= 1
        narrow = max(hidden, default=0) <= min(first, last, heads * min(betas))
        return network.skip or (narrow and one_hidden_width)
    if network.layers > 1 or heads == 1:
        return False
    # u = d_0 − (H − 1)a_1, the dimension of the space on which all A but one vanish
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


def base_changes(network: NetworkSizes) -> int:
    """Return the dimension of the changes of base between layers that act freely on functions.

    GL(d_i) acts on the outputs of layer i and inversely on the inputs of layer i + 1. It acts
    freely where the outputs span their space, as they do for d_i ≤ d_{i−1}.
    """
    # A skip connection is the identity, which no other base keeps.
    if network.skip:
        return 0
    hidden_with_width_before = pairwise(network.widths[:-1])
    return sum(after * after for before, after in hidden_with_width_before if after <= before)

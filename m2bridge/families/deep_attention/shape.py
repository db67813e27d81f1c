"""The numbers of a deep attention network, and dimensions of varieties that follow from them.

Layer k has an attention matrix A_k of size d_{k−1} × d_{k−1} and rank at most a_k, and a value
matrix V_k of size d_k × d_{k−1}. With M_k = V_{k−1}⋯V_1 the function depends only on the virtual
weights A'_k = M_kᵀ A_k M_k and M = V_l⋯V_1. Proofs are in ``docs/deep-attention.md``. Upper
bounds are in ``upper_bounds``, lower bounds, which need ranks, in ``bounds``; the functions
themselves are in ``network``.

Notation: l layers, widths d_0, …, d_l, and t tokens, the columns of the input X. A layer maps its
tokens Y to Σ_h V_h Y σ(YᵀA_hY), a sum over its heads h, plus Y with a skip connection; σ is the
identity (lightning attention) or the softmax of each column. r_k and α_k are the generic ranks of
M_k and A'_k; tuples that belong to layers begin with layer 1, so that ``alphas[k - 1]`` is α_k.
``whole_layers`` is the number of layers, from the first on, on whose whole A'_k a function of
lightning attention depends, and not on its symmetric part alone. A *block* is a network with at
most two inputs and one output: its layers have 2 × 2 attention matrices where r_k > 1 and 1 × 1
ones after them, and the product of its value matrices is a row m.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise
from numbers import Integral
from typing import Any, ClassVar, Literal, NamedTuple, Self, get_args

from m2bridge.algebra.determinantal import (
    determinantal_dimension,
    dimension_of_symmetric_rank,
    matrices_of_rank,
)
from m2bridge.errors import InvalidCaseError
from m2bridge.families.base import positive_integer, positive_integers
from m2bridge.maps.model import DifferentiableModel

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


class SizesOfLayer(NamedTuple):
    """The widths d_{k−1} and d_k before and after layer k, and its a_k, the bound of the rank."""

    inputs: int
    outputs: int
    a: int


@dataclass(frozen=True, slots=True, init=False)
class NetworkSizes(DifferentiableModel):
    """The numbers of a network: widths, ranks, tokens, heads; skip connections, normalization.

    Abstract: :class:`~m2bridge.families.deep_attention.model.DeepAttention` has the functions.
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
        """Check and store the numbers; InvalidCaseError if they name no network."""
        checked_widths = positive_integers("widths", widths)
        width_count = len(checked_widths)
        if not 2 <= width_count <= MAX_NETWORK_LAYERS + 1:
            raise InvalidCaseError(
                "widths", f"must be from 2 to {MAX_NETWORK_LAYERS + 1} integers, not {width_count}"
            )
        # one integer, also of SymPy or NumPy, is the rank of all layers
        ranks = positive_integers("a", [a] if isinstance(a, Integral) else a)
        layers = width_count - 1
        if len(ranks) == 1:
            ranks *= layers
        if len(ranks) != layers:
            raise InvalidCaseError(
                "a", f"must be one integer, or one for each of the {layers} layers"
            )
        if not isinstance(skip, bool):
            raise InvalidCaseError("skip", f"must be true or false, not {skip!r:.60}")
        # Y + Σ V_h Yσ has a meaning only where Y and V_h Y are of one size.
        if skip and len(set(checked_widths)) > 1:
            raise InvalidCaseError(
                "skip", "needs widths that are all equal: a layer adds its input to its output"
            )
        if not isinstance(normalization, str) or normalization not in get_args(Normalization):
            raise InvalidCaseError(
                "normalization", f"must be none or softmax, not {normalization!r:.60}"
            )
        tokens = positive_integer("t", t)
        count = positive_integer("heads", heads)
        # in the order of the fields, whose names a dataclass with slots has in ``__slots__``
        values = (checked_widths, ranks, tokens, count, skip, normalization)
        # The network is frozen, so that its fields cannot be assigned.
        for field, value in zip(NetworkSizes.__slots__, values, strict=True):
            object.__setattr__(self, field, value)

    @classmethod
    def from_key(cls, key: str) -> Self:
        """Return the network with this key: ``3-3-3-a2-2-t2``, ``3-3-a2-t2-h2-skip-softmax``.

        InvalidCaseError if no network has it.
        """
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
        """Return the arguments of the network by their names, for ``json.dumps``."""
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
    def layer_sizes(self) -> Iterator[SizesOfLayer]:
        """The numbers (d_{k−1}, d_k, a_k) of each layer, the first layer first."""
        return map(SizesOfLayer, self.widths[:-1], self.widths[1:], self.a)

    @property
    def is_plain(self) -> bool:
        """Whether there is one head and no skip connection: only virtual weights matter then."""
        return self.heads == 1 and not self.skip

    def parameter_matrices(self) -> Iterator[ParameterMatrix]:
        """Yield all matrices of parameters: by layer, then by head, attention before values.

        A head with a_k ≥ d_{k−1} has the entries of A as parameters, as KᵀQ is then any matrix.
        """
        for k, (inputs, outputs, rank) in enumerate(self.layer_sizes, 1):
            # all matrices of a head have d_{k−1} columns
            row_counts = {"A": inputs} if rank >= inputs else {"K": rank, "Q": rank}
            row_counts["V"] = outputs
            for h in range(1, self.heads + 1):
                for kind, rows in row_counts.items():
                    yield ParameterMatrix(kind, layer=k, head=h, rows=rows, columns=inputs)

    def parameter_names(self) -> tuple[str, ...]:
        """Return a name for each parameter, row by row: ``A_k_i_j`` is the entry (i, j) of A_k.

        With several heads it is ``A_k_h_i_j`` for head h.
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
        # Where a ≥ d the parameters are the d² entries of A, fewer than K and Q have.
        count = 0
        for d, outputs, a in self.layer_sizes:
            attention = d * d if a >= d else 2 * a * d
            count += attention + d * outputs
        return self.heads * count

    @property
    def input_count(self) -> int:
        """The number d_0·t of inputs: they are the entries of X, row by row."""
        return self.widths[0] * self.t

    @property
    def output_count(self) -> int:
        """The number d_l·t of outputs: they are the entries of the last tokens, row by row."""
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
        """The dimension of linear functions, as for softmax of one token: σ of one score is 1."""
        return determinantal_dimension(self.widths[0], self.widths[-1], self.rank)

    @property
    def alphas(self) -> tuple[int, ...]:
        """α_k = min(a_k, r_k), the generic rank of A'_k."""
        return tuple(map(min, self.a, self.entering_ranks))

    @property
    def whole_layers(self) -> int:
        """The layers up to the first one with α_k = 1, or all; 0 for one token.

        A layer with A'_k = k qᵀ makes all tokens multiples of one vector, a column times the row
        qᵀY, and a skew-symmetric form vanishes on parallel tokens.
        """
        if self.t == 1:
            return 0
        if 1 not in self.alphas:
            return self.layers
        return self.alphas.index(1) + 1

    @property
    def kernel_dimension(self) -> int:
        """The dimension of the kernel that the differential of a block always has (theorem-block).

        In lightning attention the attention matrix of each layer of the block can be scaled, and m
        by another number. After ``whole_layers`` layers the skew-symmetric 2 × 2 matrices, of
        dimension 1, are in the kernel too. For softmax of t ≥ 2 tokens it is 0.
        """
        if self.softmax:
            return 0
        # r_k does not grow from layer to layer, so these are the first layers
        layers_with_2_by_2_matrix = sum(r > 1 for r in self.entering_ranks)
        skew_directions = max(0, layers_with_2_by_2_matrix - self.whole_layers)
        return self.layers + skew_directions

    @property
    def span_dimensions(self) -> tuple[int, ...]:
        """The dimensions s_1, …, s_{l+1}.

        s_{l+1} is the rank of M, and s_1 = d_0. For k ≥ 2 s_k = min(r_k, s_{k+1} + 2α_k) is the
        dimension of the space spanned by the rows of M and the rows and columns of A'_k, …, A'_l:
        layer k adds α_k rows and α_k columns, as far as the space of dimension r_k has place.
        """
        # s_{l+1}, s_l, …, s_2 by the recursion; s_1 is not limited by a layer
        from_last_to_second = [self.rank]
        alphas, entering_ranks = self.alphas, self.entering_ranks
        for k in range(self.layers, 1, -1):
            spanned = from_last_to_second[-1] + 2 * alphas[k - 1]
            from_last_to_second.append(min(entering_ranks[k - 1], spanned))
        return (self.widths[0], *reversed(from_last_to_second))

    def gauge_dimension(self) -> int:
        """Return a lower bound for the dimension of generic fibres of the parametrization.

        With one head and without skip connections it is the dimension of the fibres over the
        virtual weights, plus in lightning attention one scaling of A against V for each layer
        (Eq. 13). Otherwise it is the dimension of a group that acts freely on generic parameters
        and keeps the function: of GL(a_k) on K and Q of each head with a_k < d_{k−1}, of
        :func:`base_changes`, and in lightning attention of the scalings of all heads.
        """
        scalings = 0 if self.softmax else self.layers * self.heads
        if self.is_plain:
            return self.parameter_count - virtual_dimension(self) + scalings
        inner_bases = self.heads * sum(a * a for d, _, a in self.layer_sizes if a < d)
        return inner_bases + base_changes(self) + scalings


def virtual_dimension(shape: NetworkSizes) -> int:
    """Return the dimension of the variety of virtual weights."""
    return reduced_dimension(shape, whole=shape.layers)


def reduced_dimension(shape: NetworkSizes, whole: int) -> int:
    """Return the dimension of virtual weights with A'_k + A'_kᵀ for A'_k in layers k > ``whole``:
    the sum for M, of rank s_{l+1}, for the subspaces W_k, and for all A'_k.

    For k ≥ 2, W_k is the space of dimension s_k that is spanned by the rows of M and the rows and
    columns of A'_k, …, A'_l, and W_1 is the whole space; so W_{l+1} ⊆ … ⊆ W_1, and A'_k is in W_k ⊗
    W_k.
    """
    n = shape.widths[0]
    spans = shape.span_dimensions
    rank_of_M = spans[-1]
    value_matrix = rank_of_M * (n + shape.widths[-1] - rank_of_M)
    # Subspaces W_k of dimension s that contain W_{k+1} of dimension s_next are a Grassmannian of
    # dimension (s − s_next)(n − s). W_{l+1}, the row space of M, is counted with M, and W_1 is the
    # whole space.
    subspaces = sum((s - s_next) * (n - s) for s, s_next in pairwise(spans))
    matrices = 0
    for k, (s, alpha) in enumerate(zip(spans[:-1], shape.alphas, strict=True), 1):
        if k <= whole:
            matrices += matrices_of_rank(s, alpha)
        else:
            # The symmetric part of a matrix of rank α has rank at most 2α.
            matrices += dimension_of_symmetric_rank(s, 2 * alpha)
    return value_matrix + subspaces + matrices


def _tuple(numbers: tuple[int, ...]) -> str:
    """Return numbers as ``(3, 2, 3)``; more than six equal ones as ``13 × 64``, thirteen 64s."""
    if len(numbers) > 6 and len(set(numbers)) == 1:
        return f"{len(numbers)} × {numbers[0]}"
    return f"({', '.join(map(str, numbers))})"


def determined_dimension(network: NetworkSizes) -> int:
    """Return the dimension of what functions of a plain network determine of the virtual weights:
    their own dimension if the kernel of the block is only ``kernel_dimension`` (theorem-block),
    else an upper bound.

    Functions of lightning attention are kept by one scaling for each layer. Softmax of t ≥ 2 tokens
    determines all.
    """
    if network.softmax:
        return virtual_dimension(network)
    return reduced_dimension(network, whole=network.whole_layers) - network.layers


def base_changes(network: NetworkSizes) -> int:
    """Return the dimension of Π GL(d_i) over the hidden widths with d_i ≤ d_{i−1}, others being
    left out.

    GL(d_i) acts on the outputs of layer i and inversely on the inputs of layer i + 1, freely where
    the outputs of layer i span their space, as they do for these widths.
    """
    # A skip connection is the identity, which no other base keeps.
    if network.skip:
        return 0
    # (d_{i−1}, d_i) for each hidden width d_i
    pairs = pairwise(network.widths[:-1])
    return sum(hidden * hidden for inputs, hidden in pairs if hidden <= inputs)

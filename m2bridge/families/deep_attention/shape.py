"""The numbers of a deep attention network, and the dimensions and upper bounds that follow from
them alone.

Layer k has an attention matrix A_k of size d_{k−1} × d_{k−1} and rank at most a_k, and a value
matrix V_k of size d_k × d_{k−1}. With M_k = V_{k−1}⋯V_1 the function depends only on the virtual
weights A'_k = M_kᵀ A_k M_k and M = V_l⋯V_1. Proofs are in ``docs/deep-attention.md``.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
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
from m2bridge.families.definition import positive_integer, positive_integers
from m2bridge.maps.model import DifferentiableModel
from m2bridge.results.known import Known

NAME = "deep-attention"
Normalization = Literal["none", "softmax"]

MAX_LAYERS = 1000
THEOREM = "Theorem H"
"""Of docs/deep-attention.md: heads are separate."""


@dataclass(frozen=True, slots=True)
class ParameterMatrix:
    """One matrix of parameters: ``A``, ``K``, ``Q`` or ``V`` of a head of a layer, both counted
    from 1.
    """

    kind: str
    layer: int
    head: int
    rows: int
    columns: int


@dataclass(frozen=True, slots=True, init=False)
class Shape(DifferentiableModel):
    """The numbers of a network: widths, ranks, tokens and heads, and whether it has skip
    connections and softmax.

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
        if not 2 <= len(listed) <= MAX_LAYERS + 1:
            raise InvalidCaseError(
                "widths", f"must be from 2 to {MAX_LAYERS + 1} integers, not {len(listed)}"
            )
        layers = len(listed) - 1
        ranks = positive_integers("a", [a] if isinstance(a, int) else a)
        ranks = ranks * layers if len(ranks) == 1 else ranks
        if len(ranks) != layers:
            raise InvalidCaseError(
                "a", f"must be one integer, or one for each of the {layers} layers"
            )
        if not isinstance(skip, bool):
            raise InvalidCaseError("skip", f"must be true or false, not {skip!r:.60}")
        if skip and len(set(listed)) > 1:
            raise InvalidCaseError(
                "skip", "needs widths that are all equal: a layer adds its input to its output"
            )
        if normalization not in get_args(Normalization):
            raise InvalidCaseError(
                "normalization", f"must be none or softmax, not {normalization!r:.60}"
            )
        tokens, count = positive_integer("t", t), positive_integer("heads", heads)
        values = (listed, ranks, tokens, count, skip, normalization)
        for field, value in zip(Shape.__slots__, values, strict=True):
            object.__setattr__(self, field, value)

    @classmethod
    def from_key(cls, key: str) -> Self:
        """The network with this key, such as ``3-3-3-a2-2-t2`` or ``3-3-a2-t2-h2-skip-softmax``."""
        number = "[1-9][0-9]{0,8}"
        sizes = rf"({number}(?:-{number})+)-a({number}(?:-{number})*)-t({number})"
        form = rf"{sizes}(?:-h({number}))?(-skip)?(-softmax)?"
        match = re.fullmatch(form, key)
        if match is None:
            raise InvalidCaseError(
                "key", f"'{key}' does not name a deep attention network: write 3-3-3-a2-2-t2"
            )
        widths, a, t, heads, skip, softmax = match.groups()
        listed, ranks = ([*map(int, text.split("-"))] for text in (widths, a))
        return cls(
            listed,
            ranks,
            int(t),
            int(heads or 1),
            skip is not None,
            "softmax" if softmax else "none",
        )

    @property
    def key(self) -> str:
        """The name of the case: ``3-3-3-a2-2-t2``, then ``-h2``, ``-skip`` and ``-softmax`` where
        they apply.
        """
        parts = ["-".join(map(str, self.widths)), f"a{'-'.join(map(str, self.a))}", f"t{self.t}"]
        parts += (
            [f"h{self.heads}"] * (self.heads > 1)
            + ["skip"] * self.skip
            + ["softmax"] * self.softmax
        )
        return "-".join(parts)

    @property
    def title(self) -> str:
        """The network in words."""
        kind = "softmax" if self.softmax else "lightning"
        more = f", {self.heads} heads" * (self.heads > 1) + ", skip connections" * self.skip
        return (
            f"{kind} self-attention of widths {_tuple(self.widths)}, a = {_tuple(self.a)}, t ="
            f" {self.t}{more}"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the numbers of the case."""
        values = {name: getattr(self, name) for name in Shape.__slots__}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
        }

    @property
    def softmax(self) -> bool:
        """Whether scores are normalized."""
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
        """Whether there is one head and no skip connection; then functions depend on the virtual
        weights only.
        """
        return self.heads == 1 and not self.skip

    def parameter_matrices(self) -> Iterator[ParameterMatrix]:
        """Return all matrices of parameters: layer by layer, head by head, the attention matrices
        and then the values.

        A head with a_k ≥ d_{k−1} has the entries of A as parameters, as KᵀQ is then any matrix; a
        head with smaller a_k has those of K and of Q.
        """
        for k, (before, after, rank) in enumerate(self.layer_sizes, 1):
            for h in range(1, self.heads + 1):
                if rank >= before:
                    yield ParameterMatrix("A", k, h, before, before)
                else:
                    yield ParameterMatrix("K", k, h, rank, before)
                    yield ParameterMatrix("Q", k, h, rank, before)
                yield ParameterMatrix("V", k, h, after, before)

    def parameter_names(self) -> tuple[str, ...]:
        """``A_k_i_j`` is the entry (i, j) of A_k, and ``A_k_h_i_j`` that of head h where there are
        several.
        """
        return tuple(
            f"{matrix.kind}_{matrix.layer}_{f'{matrix.head}_' if self.heads > 1 else ''}{i}_{j}"
            for matrix in self.parameter_matrices()
            for i in range(1, matrix.rows + 1)
            for j in range(1, matrix.columns + 1)
        )

    @property
    def parameter_count(self) -> int:
        """The number of entries of all A (or K and Q) and V."""
        return self.heads * sum(
            d * after + (d * d if a >= d else 2 * a * d) for d, after, a in self.layer_sizes
        )

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
        """The dimension of the linear functions of one token, those of softmax: the normalization
        of one score is 1.
        """
        return determinantal_dimension(self.widths[0], self.widths[-1], self.rank)

    @property
    def alphas(self) -> tuple[int, ...]:
        """α_k = min(a_k, r_k), the generic rank of A'_k."""
        return tuple(map(min, self.a, self.entering_ranks))

    @property
    def whole_layers(self) -> int:
        """The last layer of lightning attention whose skew-symmetric part matters: the first with
        α_k = 1, or l.

        For one token it matters in none.
        """
        return (
            next((k for k, alpha in enumerate(self.alphas, 1) if alpha == 1), self.layers)
            if self.t > 1
            else 0
        )

    @property
    def kernel_dimension(self) -> int:
        """The dimension of what the function of a block does not see: scalings, and skew-symmetric
        parts.

        In lightning attention A_k can be scaled against m in each layer, and only the symmetric
        part of A_k matters after a layer of rank one; for one token, nowhere else either.
        """
        if self.softmax:
            return 0
        several = sum(r > 1 for r in self.entering_ranks)
        return self.layers + max(0, several - self.whole_layers)

    @property
    def spans(self) -> tuple[int, ...]:
        """s_k for k = 1, …, l + 1: s_{l+1} is the rank of M, s_k = min(r_k, s_{k+1} + 2α_k), and
        s_1 = d_0.

        For k ≥ 2 it is the dimension of the space spanned by the rows of M and the rows and columns
        of A'_k, …, A'_l.
        """
        spans = [self.rank]
        for r, alpha in zip(self.entering_ranks[:0:-1], self.alphas[:0:-1], strict=True):
            spans.append(min(r, spans[-1] + 2 * alpha))
        return (self.widths[0], *reversed(spans))

    def upper_bounds(self, characteristic: int) -> tuple[Known, ...]:
        """Return bounds proved in docs/deep-attention.md, over every field, the smallest first."""
        return tuple(sorted(_bounds(self), key=lambda bound: bound.value))

    def gauge_dimension(self) -> int:
        """Return what generic fibres of the parametrization have at least as their dimension.

        With one head and without skip connections: the dimension of the fibres over the virtual
        weights, and of the torus of Eq. 13 in lightning attention. Otherwise that of a group which
        acts freely: GL(a_k) on K and Q of a head, GL(d_i) between layers i and i + 1 without skip
        connections, K* on A and V in lightning attention.
        """
        scalings = 0 if self.softmax else self.layers * self.heads
        if self.is_plain:
            return self.parameter_count - virtual_dimension(self) + scalings
        inner = self.heads * sum(a * a for d, _, a in self.layer_sizes if a < d)
        return inner + base_changes(self) + scalings


def virtual_dimension(shape: Shape) -> int:
    """Return the dimension of the variety of virtual weights."""
    return reduced_dimension(shape, shape.layers)


def reduced_dimension(shape: Shape, whole: int) -> int:
    """Return the dimension of virtual weights when of A'_k only the symmetric part is kept in
    layers k > ``whole``.

    The subspaces W_l ⊆ … ⊆ W_2 of dimensions s_l, …, s_2 that the rows of M and the matrices of the
    layers from k on span are counted first, then M, then the matrices in W_k ⊗ W_k.
    """
    n, spans = shape.widths[0], shape.spans
    value_matrix = spans[-1] * (n + shape.widths[-1] - spans[-1])
    subspaces = sum((s - after) * (n - s) for s, after in pairwise(spans))
    matrices = sum(
        matrices_of_rank(s, alpha) if k <= whole else symmetric_matrices_of_rank(s, 2 * alpha)
        for k, (s, alpha) in enumerate(zip(spans, shape.alphas, strict=False), 1)
    )
    return value_matrix + subspaces + matrices


def _tuple(numbers: tuple[int, ...]) -> str:
    """``(3, 2, 3)``; ``13 × 64`` for many equal ones."""
    if len(numbers) > 6 and len(set(numbers)) == 1:
        return f"{len(numbers)} × {numbers[0]}"
    return f"({', '.join(map(str, numbers))})"


WIDEST_EXPANDED = 3
"""Up to this many inputs the number of coefficients is taken as a bound."""


def _bounds(network: Shape) -> Iterator[Known]:
    if network.softmax and network.t == 1:
        yield Known.at_most(
            network.linear_dimension,
            f"linear functions of one token, of rank at most {network.rank}",
        )
    elif network.is_plain:
        yield virtual_bound(network)
    else:
        yield layered_bound(network)
    if not network.softmax and network.widths[0] <= WIDEST_EXPANDED:
        yield Known.at_most(coefficient_count(network), "the number of coefficients")


def seen_dimension(network: Shape) -> int:
    """Return the dimension of the virtual weights less that of the kernel of a block, at generic
    weights.
    """
    if network.softmax:
        return virtual_dimension(network)
    return reduced_dimension(network, network.whole_layers) - network.layers


def virtual_bound(network: Shape) -> Known:
    """Return the bound by virtual weights less what the function does not see; no skips, t ≥ 2 for
    softmax.
    """
    value, whole = seen_dimension(network), network.whole_layers
    if network.softmax:
        return Known.at_most(value, "the virtual weights")
    after = f" after layer {whole}, which has rank one" if network.t > 1 else ""
    symmetric = f" with symmetric attention matrices{after}" if whole < network.layers else ""
    return Known.at_most(value, f"the virtual weights{symmetric}, up to {network.layers} scalings")


def layered_bound(network: Shape) -> Known:
    """Return the sum of the best bounds for all layers, less changes of base between them."""
    bounds = [
        min(_layer_bounds(network, *sizes), key=lambda b: b.value) for sizes in network.layer_sizes
    ]
    bases = base_changes(network)
    listed = ", ".join(
        f"{f'{n} × ' if n > 1 else ''}{b.value} ({b.because})" for b, n in Counter(bounds).items()
    )
    return Known.at_most(
        sum(bound.value for bound in bounds) - bases, f"layer by layer: {listed}{_less(bases)}"
    )


def _less(bases: int) -> str:
    return f" less {bases} for changes of base between layers" if bases else ""


def _layer_bounds(network: Shape, d: int, after: int, a: int) -> Iterator[Known]:
    """Bounds for Σ_h V_h XXᵀA_hX with t ≥ 2, for Σ_h V_h x·q_h(x) with quadratic forms q_h for t =
    1, for softmax.
    """
    heads, alpha = network.heads, min(a, d)
    if network.softmax:
        yield Known.at_most(
            heads * (d * after + matrices_of_rank(d, alpha)), "the attention and value matrices"
        )
        return
    swaps, every, coefficients = 0, comb(d + 1, 2), comb(d + 2, 3)
    seen = symmetric_matrices_of_rank(d, 2 * alpha)
    if network.t > 1:
        swaps = comb(heads, 2) * max(0, 2 * alpha - d) if after == 1 and heads <= d else 0
        seen, every, coefficients = matrices_of_rank(d, alpha), d * d, d * comb(d + 1, 2)
    reason = "the heads up to scalings" + " and exchanges of values" * bool(swaps)
    yield Known.at_most(heads * (d * after + seen - 1) - swaps, reason)
    rank = min(heads, d * after, every)  # of Σ_h V_h ⊗ A_h
    tensors = determinantal_dimension(d * after, every, rank)
    yield Known.at_most(tensors, f"tensors of values and attention matrices of rank {rank}")
    if after == 1 and network.t > 1:
        h = min(heads, d)
        quadrics = h * (d - h) + d * symmetric_matrices_of_rank(d, h)
        yield Known.at_most(quadrics, f"quadratic forms that vanish where {h} linear forms do")
    yield Known.at_most(after * coefficients, "the number of coefficients")


def bound_by_ranks(network: Shape, betas: Sequence[int]) -> Known:
    """Return the bound by the ranks of all A and V, where values of layer k have rank at most β_k.

    Changes of base between layers act freely where the outputs of all heads span a space.
    """
    heads, lightning = network.heads, not network.softmax
    size = heads * sum(
        matrices_of_rank(d, min(a, d)) + determinantal_dimension(after, d, beta) - lightning
        for (d, after, a), beta in zip(network.layer_sizes, betas, strict=True)
    )
    bases = base_changes(network) if act_freely(network, betas) else 0
    scaled = " up to scalings" if lightning else ""
    return Known.at_most(size - bases, f"the matrices A and V of all heads{scaled}{_less(bases)}")


def act_freely(network: Shape, betas: Sequence[int]) -> bool:
    """Return whether the outputs of all heads span each space between layers, so that changes of
    base act freely.
    """
    hidden = network.widths[1:-1]
    return all(network.heads * beta >= d for beta, d in zip(betas, hidden, strict=False))


def are_separate(network: Shape, betas: Sequence[int]) -> bool:
    """Return whether Theorem H says that :func:`bound_by_ranks` is the dimension, in characteristic
    zero.
    """
    if network.t == 1:
        return False
    heads, (first, *hidden, last) = network.heads, network.widths
    if network.softmax:
        equal = len(set(hidden)) <= 1 and all(
            width <= min(first, last, heads * min(betas)) for width in hidden
        )
        return network.skip or equal
    apart = first - (heads - 1) * network.a[0]  # the dimension in which all A but one vanish
    separate = apart >= max(2, network.a[0]) and min(betas) >= 2 and max(apart, last) >= 3
    return network.layers == 1 and heads > 1 and separate


def coefficient_count(network: Shape) -> int:
    """The number of coefficients of the function, at most, for lightning attention.

    With one token the function is a form of degree 3^l in d_0 variables for each output. With
    several it is P(XXᵀ)X, where P has d_l × d_0 entries of degree (3^l − 1)/2 in a symmetric
    matrix. With skip connections all lower degrees occur too, and the identity is there always.
    """
    n, outputs, degree = network.widths[0], network.widths[-1], int(3**network.layers)
    m, variables = (degree - 1) // 2, comb(n + 1, 2)
    if network.skip:
        return outputs * n * (comb(m + variables, variables) - 1)
    if network.t == 1:
        return outputs * monomial_count(n, degree)
    return outputs * n * monomial_count(variables, m)


def base_changes(network: Shape) -> int:
    """The dimension of the changes of base of hidden layers that act freely on the functions of the
    layers.

    The outputs of a layer span its space if it is at most as wide as the one before.
    """
    layers = () if network.skip else zip(network.widths, network.widths[1:-1], strict=False)
    return sum(after * after for before, after in layers if after <= before)

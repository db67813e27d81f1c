"""The numbers of a deep attention network, and the dimensions that follow from them alone.

Layer k has an attention matrix A_k of size d_{k−1} × d_{k−1} and rank at most a_k, and a value matrix V_k of size
d_k × d_{k−1}. With M_k = V_{k−1}⋯V_1 the function depends only on the virtual weights A'_k = M_kᵀ A_k M_k and
M = V_l⋯V_1. Proofs are in ``docs/deep-attention.md``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, ClassVar, Literal, Self, get_args

from m2bridge.algebra.determinantal import matrices_of_rank, symmetric_matrices_of_rank
from m2bridge.errors import InvalidCaseError
from m2bridge.families.definition import positive_integers
from m2bridge.maps.model import DifferentiableModel

NAME = "deep-attention"
Normalization = Literal["none", "softmax"]

MAX_LAYERS = 1000


@dataclass(frozen=True, slots=True)
class ParameterMatrix:
    """One matrix of parameters: ``A``, ``K``, ``Q`` or ``V`` of a head of a layer, both counted from 1."""

    kind: str
    layer: int
    head: int
    rows: int
    columns: int

    @property
    def size(self) -> int:
        """The number of entries."""
        return self.rows * self.columns


@dataclass(frozen=True, slots=True, init=False)
class Shape(DifferentiableModel):
    """The numbers of a network: widths, ranks, tokens and heads, and whether it has skip connections and softmax.

    Abstract: the functions are those of :class:`~m2bridge.families.deep_attention.model.DeepAttention`, which has the
    meaning of each number. Tuples that belong to layers begin with layer 1; so ``alphas[k - 1]`` is α_k.
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
            raise InvalidCaseError("widths", f"must be from 2 to {MAX_LAYERS + 1} integers, not {len(listed)}")
        layers = len(listed) - 1
        ranks = positive_integers("a", [a] if isinstance(a, int) else a)
        ranks = ranks * layers if len(ranks) == 1 else ranks
        if len(ranks) != layers:
            raise InvalidCaseError("a", f"must be one integer, or one for each of the {layers} layers")
        if not isinstance(skip, bool):
            raise InvalidCaseError("skip", f"must be true or false, not {skip!r:.60}")
        if skip and len(set(listed)) > 1:
            raise InvalidCaseError("skip", "needs widths that are all equal: a layer adds its input to its output")
        if normalization not in get_args(Normalization):
            raise InvalidCaseError("normalization", f"must be none or softmax, not {normalization!r:.60}")
        values = (
            listed,
            ranks,
            *positive_integers("t", [t]),
            *positive_integers("heads", [heads]),
            skip,
            normalization,
        )
        for field, value in zip(Shape.__slots__, values, strict=True):
            object.__setattr__(self, field, value)

    @classmethod
    def from_key(cls, key: str) -> Self:
        """The network with this key, such as ``3-3-3-a2-2-t2`` or ``3-3-a2-t2-h2-skip-softmax``."""
        number = "[1-9][0-9]{0,8}"
        match = re.fullmatch(
            rf"({number}(?:-{number})+)-a({number}(?:-{number})*)-t({number})(?:-h({number}))?(-skip)?(-softmax)?",
            key,
            re.ASCII,
        )
        if match is None:
            raise InvalidCaseError("key", f"'{key}' does not name a deep attention network: write 3-3-3-a2-2-t2")
        widths, a, t, heads, skip, softmax = match.groups()
        listed, ranks = ([*map(int, text.split("-"))] for text in (widths, a))
        return cls(listed, ranks, int(t), int(heads or 1), skip is not None, "softmax" if softmax else "none")

    @property
    def key(self) -> str:
        """Such as ``3-3-3-a2-2-t2``; then ``-h2``, ``-skip`` and ``-softmax`` where they apply."""
        parts = ["-".join(map(str, self.widths)), f"a{'-'.join(map(str, self.a))}", f"t{self.t}"]
        parts += [f"h{self.heads}"] * (self.heads > 1) + ["skip"] * self.skip + ["softmax"] * self.softmax
        return "-".join(parts)

    @property
    def title(self) -> str:
        """In words."""
        kind = "softmax" if self.softmax else "lightning"
        more = f", {self.heads} heads" * (self.heads > 1) + ", skip connections" * self.skip
        return f"{kind} self-attention of widths {_tuple(self.widths)}, a = {_tuple(self.a)}, t = {self.t}{more}"

    def to_json(self) -> dict[str, Any]:
        """The numbers of the case."""
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
        """Whether scores are normalized."""
        return self.normalization == "softmax"

    @property
    def layers(self) -> int:
        """l."""
        return len(self.a)

    @property
    def is_plain(self) -> bool:
        """Whether there is one head and no skip connection; then functions depend on the virtual weights only."""
        return self.heads == 1 and not self.skip

    def parameter_matrices(self) -> Iterator[ParameterMatrix]:
        """Return all matrices of parameters: layer by layer, head by head, the attention matrices and then the values.

        A head with a_k ≥ d_{k−1} has the entries of A as parameters, as KᵀQ is then any matrix; a head with smaller a_k
        has those of K and of Q.
        """
        for k, rank in enumerate(self.a, 1):
            before, after = self.widths[k - 1], self.widths[k]
            for h in range(1, self.heads + 1):
                if rank >= before:
                    yield ParameterMatrix("A", k, h, before, before)
                else:
                    yield ParameterMatrix("K", k, h, rank, before)
                    yield ParameterMatrix("Q", k, h, rank, before)
                yield ParameterMatrix("V", k, h, after, before)

    def parameter_names(self) -> tuple[str, ...]:
        """``A_k_i_j`` is the entry (i, j) of A_k, and ``A_k_h_i_j`` that of head h where there are several."""
        return tuple(
            f"{matrix.kind}_{matrix.layer}_{f'{matrix.head}_' if self.heads > 1 else ''}{i}_{j}"
            for matrix in self.parameter_matrices()
            for i in range(1, matrix.rows + 1)
            for j in range(1, matrix.columns + 1)
        )

    @property
    def parameter_count(self) -> int:
        """The number of entries of all A (or K and Q) and V."""
        layers = zip(self.widths, self.widths[1:], self.a, strict=False)
        return self.heads * sum(d * after + (d * d if a >= d else 2 * a * d) for d, after, a in layers)

    @property
    def input_count(self) -> int:
        """d_0·t, the entries of X row by row."""
        return self.widths[0] * self.t

    @property
    def output_count(self) -> int:
        """d_l·t, the entries of the last tokens row by row."""
        return self.widths[-1] * self.t

    @property
    def entering_ranks(self) -> tuple[int, ...]:
        """r_k = min(d_0, …, d_{k−1}), the generic rank of M_k."""
        return tuple(accumulate(self.widths[:-1], min))

    @property
    def rank(self) -> int:
        """The generic rank of M, the least of all widths."""
        return min(self.widths)

    @property
    def alphas(self) -> tuple[int, ...]:
        """α_k = min(a_k, r_k), the generic rank of A'_k."""
        return tuple(map(min, self.a, self.entering_ranks))

    @property
    def first_rank_one(self) -> int:
        """The first layer k with α_k = 1, or l where no layer before the last is one."""
        return next((k for k, alpha in enumerate(self.alphas, 1) if alpha == 1), self.layers)

    @property
    def whole_layers(self) -> int:
        """The last layer of lightning attention whose skew-symmetric part matters."""
        return self.first_rank_one if self.t > 1 else 0

    @property
    def spans(self) -> tuple[int, ...]:
        """s_k for k = 1, …, l + 1: s_{l+1} is the rank of M, s_k = min(r_k, s_{k+1} + 2α_k), and s_1 = d_0.

        For k ≥ 2 it is the dimension of the space spanned by the rows of M and the rows and columns of A'_k, …, A'_l.
        """
        spans = [self.rank]
        for r, alpha in zip(self.entering_ranks[:0:-1], self.alphas[:0:-1], strict=True):
            spans.append(min(r, spans[-1] + 2 * alpha))
        return (self.widths[0], *reversed(spans))


def virtual_dimension(shape: Shape) -> int:
    """Dimension of the variety of virtual weights."""
    return reduced_dimension(shape, shape.layers)


def reduced_dimension(shape: Shape, whole: int) -> int:
    """Dimension of the virtual weights when of A'_k only the symmetric part is kept in all layers k > ``whole``.

    The subspaces W_l ⊆ … ⊆ W_2 of dimensions s_l, …, s_2 that the rows of M and the matrices of the layers from k on
    span are counted first, then M, then the matrices in W_k ⊗ W_k.
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

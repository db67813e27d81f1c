"""The numbers of a deep attention network, and the dimension of its virtual weights.

Layer k has an attention matrix A_k of size d_{k−1} × d_{k−1} and rank at most a_k, and a value matrix V_k of size
d_k × d_{k−1}. With M_k = V_{k−1}⋯V_1 the function depends only on the virtual weights A'_k = M_kᵀ A_k M_k and
M = V_l⋯V_1. Proofs are in ``docs/deep-attention.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise


@dataclass(frozen=True, slots=True)
class Shape:
    """Widths d_0, …, d_l and ranks a_1, …, a_l.

    Tuples that belong to layers begin with layer 1; so ``alphas[k - 1]`` is α_k.
    """

    widths: tuple[int, ...]
    a: tuple[int, ...]

    @property
    def layers(self) -> int:
        """l."""
        return len(self.a)

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
        _matrices(s, alpha) if k <= whole else _symmetric_matrices(s, min(2 * alpha, s))
        for k, (s, alpha) in enumerate(zip(spans, shape.alphas, strict=False), 1)
    )
    return value_matrix + subspaces + matrices


def _matrices(size: int, rank: int) -> int:
    """Dimension of the square matrices of this size of at most this rank."""
    return rank * (2 * size - rank)


def _symmetric_matrices(size: int, rank: int) -> int:
    """The same for symmetric matrices."""
    return rank * (2 * size - rank + 1) // 2

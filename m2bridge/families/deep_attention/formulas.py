"""Formulas of the statements, written down apart from those that observations use."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb


def matrices_of_rank(size: int, rank: int) -> int:
    """Dimension of the matrices of this size and at most this rank: codimension (n − r)²."""
    return size * size - max(0, size - rank) ** 2


def symmetric_matrices_of_rank(size: int, rank: int) -> int:
    """The same for symmetric matrices: codimension (n − r)(n − r + 1)/2."""
    return comb(size + 1, 2) - comb(max(0, size - rank) + 1, 2)


def equation_14(widths: Sequence[int], a: Sequence[int]) -> int | None:
    """δ(d_0 + d_l − δ) + α_1(2d_0 − α_1) + Σ_{k≥2} α_k(2δ − α_k) − l, where δ is the width of all hidden layers.

    ``None`` if they are not all of one width; for a single layer Corollary 3.3.
    """
    value = equation_16(widths, a)
    return None if value is None else value - len(a)


def equation_16(widths: Sequence[int], a: Sequence[int]) -> int | None:
    """Eq. 14 without − l."""
    hidden = set(widths[1:-1])
    if len(hidden) > 1:
        return None
    first = min(a[0], widths[0])
    value = first * (2 * widths[0] - first)
    if not hidden:
        return value + widths[0] * widths[1]
    (delta,) = hidden
    alphas = [min(rank, delta) for rank in a[1:]]
    return value + sum(alpha * (2 * delta - alpha) for alpha in alphas) + delta * (widths[0] + widths[-1] - delta)


def first_of_rank_one(widths: Sequence[int], a: Sequence[int]) -> int:
    """The first layer whose virtual attention matrix has rank one; the last layer if none before it has."""
    narrowest = widths[0]
    for k, (width, rank) in enumerate(zip(widths, a, strict=False), 1):
        narrowest = min(narrowest, width)
        if min(narrowest, rank) == 1:
            return k
    return len(a)


def virtual_weights(widths: Sequence[int], a: Sequence[int], whole: int) -> int:
    """Parameters of virtual weights, of which layers after ``whole`` count with their symmetric parts only.

    From the last layer to the first: a flag of subspaces, each one chosen inside K^n around the one before it, and
    matrices on them.
    """
    n, rank = widths[0], min(widths)
    total, span = rank * (n - rank) + rank * widths[-1], rank
    for k in range(len(a), 0, -1):
        alpha = min(a[k - 1], *widths[:k])
        larger = n if k == 1 else min(span + 2 * alpha, *widths[:k])
        total += (larger - span) * (n - larger)
        whole_matrices = matrices_of_rank(larger, alpha)
        total += whole_matrices if k <= whole else symmetric_matrices_of_rank(larger, min(2 * alpha, larger))
        span = larger
    return total


def theorem_l(widths: Sequence[int], a: Sequence[int], t: int) -> int:
    """The dimension of lightning attention, for all widths and ranks."""
    whole = first_of_rank_one(widths, a) if t > 1 else 0
    return virtual_weights(widths, a, whole) - len(a)


def theorem_s(widths: Sequence[int], a: Sequence[int], t: int) -> int:
    """The dimension of softmax attention, for all widths and ranks."""
    if t > 1:
        return virtual_weights(widths, a, len(a))
    rank = min(widths)
    return rank * (widths[0] + widths[-1]) - rank * rank


def skip_connections(d: int, a: Sequence[int], t: int, softmax: bool) -> int:
    """With skip connections and one head: values and attention matrices, less a scaling in each layer of lightning."""
    if t == 1 and softmax:
        return d * d
    if t == 1:
        return sum(d * d + symmetric_matrices_of_rank(d, min(2 * rank, d)) - 1 for rank in a)
    return sum(d * d + matrices_of_rank(d, rank) - (0 if softmax else 1) for rank in a)


def one_layer_of_heads(d: int, d_out: int, a: int, heads: int) -> int:
    """Lightning attention with one layer and t ≥ 2: the least of four bounds."""
    alpha = min(a, d)
    separate = heads * (d * d_out + matrices_of_rank(d, alpha) - 1)
    if d_out == 1 and heads <= d:
        separate -= comb(heads, 2) * max(0, 2 * alpha - d)
    few = min(heads, d * d, d * d_out)
    bounds = [separate, few * (d * d + d * d_out - few), d_out * d * comb(d + 1, 2)]
    if d_out == 1:
        h = min(heads, d)
        bounds.append(h * (d - h) + d * symmetric_matrices_of_rank(d, h))
    return min(bounds)


def separate_heads(d: int, d_out: int, a: int, heads: int) -> int:
    """If permutations of heads and scalings were all symmetries: as many times a single head."""
    return heads * (d * d_out + matrices_of_rank(d, min(a, d)) - 1)


def deep_heads(d: int, a: Sequence[int], heads: int, skip: bool, softmax: bool) -> int:
    """Several heads in several layers of one width d ≥ 2: layers, less changes of base where there are no skips."""
    layers = [
        heads * (d * d + matrices_of_rank(d, rank)) if softmax else one_layer_of_heads(d, d, rank, heads) for rank in a
    ]
    return sum(layers) - (0 if skip else (len(a) - 1) * d * d)

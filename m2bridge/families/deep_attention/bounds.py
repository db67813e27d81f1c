"""Upper bounds for the dimension of the functions of a network; the proofs are in ``docs/deep-attention.md``."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

from m2bridge.algebra.determinantal import (
    determinantal_dimension,
    matrices_of_rank,
    monomial_count,
    symmetric_matrices_of_rank,
)
from m2bridge.families.deep_attention.shape import Shape, reduced_dimension, virtual_dimension
from m2bridge.maps.model import UpperBound

WIDEST_EXPANDED = 3
"""Up to this many inputs the coefficients are few enough that their number is ever the best bound."""


def upper_bounds(network: Shape) -> tuple[UpperBound, ...]:
    """All bounds, the smallest first; they hold over every field."""
    return tuple(sorted(_bounds(network), key=lambda bound: bound.value))


def _bounds(network: Shape) -> Iterator[UpperBound]:
    if network.softmax and network.t == 1:
        yield _linear_functions(network)
    elif network.is_plain:
        yield virtual_bound(network)
    else:
        yield _layers(network)
    if not network.softmax and network.widths[0] <= WIDEST_EXPANDED:
        yield UpperBound(coefficient_count(network), "the number of coefficients")


def virtual_bound(network: Shape) -> UpperBound:
    """One head, no skips, and t ≥ 2 for softmax: the virtual weights, less what the function does not see of them."""
    shape, l = network, network.layers
    if network.softmax:
        return UpperBound(virtual_dimension(shape), "the virtual weights")
    if network.t == 1:
        value = reduced_dimension(shape, 0) - l
        return UpperBound(value, f"the virtual weights with symmetric attention matrices, up to {l} scalings")
    first = shape.first_rank_one
    seen = "" if first == l else f" with symmetric attention matrices after layer {first}, which has rank one"
    return UpperBound(reduced_dimension(shape, first) - l, f"the virtual weights{seen}, up to {l} scalings")


def _linear_functions(network: Shape) -> UpperBound:
    """Softmax of a single score is 1."""
    inputs, outputs = network.widths[0], network.widths[-1]
    rank = min(inputs, outputs) if network.skip else min(network.widths)
    return UpperBound(rank * (inputs + outputs - rank), f"linear functions of one token, of rank at most {rank}")


def _layers(network: Shape) -> UpperBound:
    """The functions of the layers, up to changes of base between them where there are no skip connections."""
    widths, a = network.widths, network.a
    bounds = [layer_bound(network, d, after, rank) for d, after, rank in zip(widths, widths[1:], a, strict=False)]
    bases = sum(map(_square, _free_bases(network)))
    less = f" less {bases} for changes of base between layers" if bases else ""
    return UpperBound(sum(bound.value for bound in bounds) - bases, f"layer by layer: {_listed(bounds)}{less}")


def layer_bound(network: Shape, d: int, after: int, a: int) -> UpperBound:
    """The best bound for a layer of all heads from width d to the next one, with this a."""
    if network.softmax:
        value = network.heads * (d * after + matrices_of_rank(d, a))
        return UpperBound(value, "the attention and value matrices")
    bounds = _several_tokens if network.t > 1 else _one_token
    return min(bounds(network.heads, d, after, min(a, d)), key=lambda bound: bound.value)


def _several_tokens(heads: int, d: int, after: int, alpha: int) -> Iterator[UpperBound]:
    """Bounds for Σ_h V_h XXᵀA_hX with t ≥ 2."""
    swaps = comb(heads, 2) * max(0, 2 * alpha - d) if after == 1 and heads <= d else 0
    scaled = heads * (d * after + matrices_of_rank(d, alpha) - 1)
    yield UpperBound(scaled - swaps, "the heads up to scalings" + " and exchanges of values" * bool(swaps))
    yield _tensors(heads, d * after, d * d)
    if after == 1:
        h = min(heads, d)
        quadrics = symmetric_matrices_of_rank(d, h)
        yield UpperBound(h * (d - h) + d * quadrics, f"quadratic forms that vanish where {h} linear forms do")
    yield UpperBound(after * d * comb(d + 1, 2), "the number of coefficients")


def _one_token(heads: int, d: int, after: int, alpha: int) -> Iterator[UpperBound]:
    """Bounds for Σ_h V_h x·q_h(x), where q_h is a quadratic form of rank at most 2α."""
    yield UpperBound(heads * (d * after + symmetric_matrices_of_rank(d, 2 * alpha) - 1), "the heads up to scalings")
    yield _tensors(heads, d * after, comb(d + 1, 2))
    yield UpperBound(after * comb(d + 2, 3), "the number of coefficients")


def _tensors(heads: int, values: int, matrices: int) -> UpperBound:
    """Tensors Σ_h V_h ⊗ A_h, matrices of rank at most the number of heads."""
    rank = min(heads, values, matrices)
    return UpperBound(
        determinantal_dimension(values, matrices, rank), f"tensors of values and attention matrices of rank {rank}"
    )


def coefficient_count(network: Shape) -> int:
    """The number of coefficients of the function, at most, for lightning attention.

    With one token the function is a form of degree 3^l in d_0 variables for each output. With several it is P(XXᵀ)X,
    where P has d_l × d_0 entries of degree (3^l − 1)/2 in a symmetric matrix. With skip connections all lower degrees
    occur too, and the identity is there always.
    """
    n, outputs, degree = network.widths[0], network.widths[-1], int(3**network.layers)
    m, variables = (degree - 1) // 2, comb(n + 1, 2)
    if network.skip:
        return outputs * n * (comb(m + variables, variables) - 1)
    if network.t == 1:
        return outputs * monomial_count(n, degree)
    return outputs * n * monomial_count(variables, m)


def gauge_dimension(network: Shape) -> int:
    """Generic fibres of the parametrization have at least this dimension.

    With one head and without skip connections: the dimension of the fibres over the virtual weights, and of the torus
    of Eq. 13 in lightning attention. Otherwise that of the group of :func:`gauge_group`, which acts freely.
    """
    scalings = 0 if network.softmax else network.layers * network.heads
    if network.is_plain:
        return network.parameter_count - virtual_dimension(network) + scalings
    inner = network.heads * sum(map(_square, _factored(network)))
    return inner + sum(map(_square, _free_bases(network))) + scalings


def gauge_group(network: Shape) -> tuple[str, ...]:
    """Factors of a group that acts on (K, Q, V) without changing the function.

    GL(a_k) acts on K and Q of a head, GL(d_i) between layers i and i + 1 without skip connections, and in lightning
    attention K* scales A against V in each head.
    """
    inner = [f"GL({a})" for a in network.a for _ in range(network.heads)]
    bases = [] if network.skip else [f"GL({d})" for d in network.widths[1:-1]]
    return (*inner, *bases, *(() if network.softmax else ("K*",) * (network.layers * network.heads)))


def _factored(network: Shape) -> list[int]:
    """a_k for all layers whose parameters are K and Q."""
    return [a for a, d in zip(network.a, network.widths, strict=False) if a < d]


def _free_bases(network: Shape) -> list[int]:
    """Hidden widths whose changes of base act freely on the functions of the layers.

    The outputs of a layer span its space if it is at most as wide as the one before.
    """
    if network.skip:
        return []
    return [after for before, after in zip(network.widths, network.widths[1:-1], strict=False) if after <= before]


def _square(n: int) -> int:
    return n * n


def _listed(bounds: list[UpperBound]) -> str:
    """The bounds of the layers, those that are equal once."""
    counted = {bound: bounds.count(bound) for bound in bounds}
    return ", ".join(f"{f'{count} × ' if count > 1 else ''}{b.value} ({b.reason})" for b, count in counted.items())

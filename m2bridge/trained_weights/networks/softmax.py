"""Layers of softmax attention with biases, shared keys or rotary positions, by theorems.

Head h has A_h = KᵀQ and V_h, or O_h V_h with a d' × v matrix O_h; ``shapes`` are the sizes d, d',
a, v of the heads of a layer, which are all equal (``queries``: the number of columns of Q; ``v`` is
``None`` without O). ``around`` is the ``NormAndOutputBias`` of the layer. The *constant* of a layer
is what it adds to its outputs whatever the tokens are. Proofs are in
``docs/weights-mathematics.md``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from m2bridge.maps.jacobian_rank import FROM_TWO_TOKENS
from m2bridge.results.known import UNKNOWN, Bounds
from m2bridge.trained_weights.checkpoints.arrays import as_fractions
from m2bridge.trained_weights.heads.ranks import HeadShape, exact_rank
from m2bridge.trained_weights.heads.reduced_head import IN_CONSTANT, ReducedHead
from m2bridge.trained_weights.networks.at_weights import NetworkAtWeights
from m2bridge.trained_weights.networks.groups import Symmetries, nonzero_directions
from m2bridge.trained_weights.networks.shared_keys import ENOUGH_TOKENS, HeadGroup
from m2bridge.trained_weights.networks.symmetries import (
    NormAndOutputBias,
    finite_symmetries,
    generic_heads_are_independent,
    head_groups,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftmaxWeights:
    """What is known of the weights of a layer of softmax attention.

    Parameters
    ----------
    independent : bool
        Whether the matrices A_h are proved to be independent, and no V_h is 0.
    products : Bounds
        The rank of the differential of the map from the weights to all A_h and V_h.
    constants : Bounds
        By how much the constant b + Σ O_h b_h of the layer makes this rank larger.
    """

    independent: bool
    products: Bounds
    constants: Bounds

    @property
    def rank(self) -> Bounds:
        """Bounds for the rank of the differential of the function of the layer.

        The function depends on all A_h and V_h and on the constant only, so that sums of ranks are
        upper bounds. Where the A_h are independent and no V_h is 0, its differential in these is
        injective, and sums of lower bounds are lower bounds.
        """
        lower = upper = None
        if self.products.upper is not None and self.constants.upper is not None:
            upper = self.products.upper + self.constants.upper
        if self.products.lower is not None and self.constants.lower is not None:
            lower = self.products.lower + self.constants.lower
        return Bounds(lower if self.independent else None, upper)


NO_WEIGHTS = SoftmaxWeights(independent=False, products=UNKNOWN, constants=UNKNOWN)
"""What is known of a layer whose weights are not read."""


def is_affine_softmax(shape: HeadShape, around: NormAndOutputBias) -> bool:
    """Return whether a layer of softmax attention has more than separate A_h and V_h of its heads:
    a bias of Q, a constant that it adds, or heads that share K and V or are rotated by positions.
    """
    if not shape.softmax:
        return False
    coordinates = shape.coordinates
    # ``constants`` is 1 if a constant is added to values, as by a bias of V. A bias of Q is one
    # more coordinate that Q sees and K does not.
    has_bias = coordinates is not None and (coordinates.constants > 0 or shape.queries > shape.d)
    return has_bias or bool(around.output_bias) or around.is_grouped


def softmax_layer(
    shapes: Sequence[HeadShape], around: NormAndOutputBias, at_weights: SoftmaxWeights = NO_WEIGHTS
) -> NetworkAtWeights:
    """Return what is known of a layer of softmax with biases, rotary positions, or shared K and V.

    ``at_weights`` has the ranks at its weights; by default, nothing is known of these.

    Where the matrices A_h = KᵀQ of its heads are independent and no V_h is 0, its function
    determines all A_h and V_h up to the order of the heads, and the constant: heads are seen each
    alone, apart from the biases of V, of which only the sum with the output bias is seen
    (``docs/weights-mathematics.md``, Biases in softmax attention).
    """
    groups = head_groups(shapes, around)
    constant = _dimension_of_constants(shapes, around)
    most = sum(group.dimension for group in groups) + constant
    # More matrices A_h than their space has dimensions are never independent.
    if generic_heads_are_independent(shapes, around.sharing):
        dimension, why = Bounds.exactly(most), ""
    else:
        dimension = Bounds.at_most(most, "the functions of each group of heads alone")
        why = "there are more heads than independent matrices A"
    named = _redundant_by_name(groups, around, constant)
    symmetries = Symmetries(
        parameters=sum(group.parameters for group in groups) + around.extra_parameters().parameters,
        dimension=dimension,
        named=nonzero_directions(named),
        listed=Bounds.exactly(named.total()),
        finite=finite_symmetries(shapes, sharing=around.sharing, rotary=around.rotary),
        complete=True,
        why=why,
    )
    rank = at_weights.rank
    return NetworkAtWeights(
        symmetries=symmetries,
        rank=rank.lower,
        most_rank=rank.upper,
        tokens=ENOUGH_TOKENS if around.rotary else FROM_TWO_TOKENS,
        constant=constant,
    )


def _redundant_by_name(
    groups: Sequence[HeadGroup], around: NormAndOutputBias, constant: int
) -> Counter[str]:
    """Return the numbers of redundant directions of a layer of softmax by their names: those of its
    ``groups`` of heads, of its biases, and of the norm before it.

    Of the biases of V and of the output, only the constant is seen, whose dimension is
    ``constant``: the rest is redundant.
    """
    named: Counter[str] = Counter()
    for group in groups:
        named.update(dict(group.redundant()))
    # Each group counts all entries of its bias of V.
    hidden = named.pop(IN_CONSTANT, 0) + around.output_bias - constant
    if hidden < 0:
        # More rows of V than columns: some changes of O and V that preserve OV move the constant.
        of_products = named.pop("O and V with the same OV")
        named["O, V and the bias of V with the same OV and constant"] = of_products + hidden
        hidden = 0
    named["biases of V and of the output with the same constant"] = hidden
    named.update(dict(around.redundant_directions()))
    return named


def _dimension_of_constants(shapes: Sequence[HeadShape], around: NormAndOutputBias) -> int:
    """Return the dimension of the constants b + Σ O_h b_h that generic layers of softmax with the
    same A_h and O_hV add.

    Here b is the output bias, with d' entries, b_h the bias of V in head h, with v entries, and O_h
    a d' × v matrix. Without b the constants are linear combinations of the columns of the O_h, of
    which there are v for each head, or for each group of ``around.sharing`` heads that share V.
    ``shapes`` are those of the heads, which are all equal.
    """
    # As the shapes are equal, that of the first head says all.
    first = shapes[0]
    if around.output_bias:
        return first.d_out
    if not _adds_constant(first):
        return 0
    # Without an output matrix the bias of V itself is the constant, with d' free entries.
    if first.v is None:
        return first.d_out
    # The columns of V span at most d < v dimensions, and b_h is not in their span in general: O_h
    # can be changed at b_h without changing O_hV, so that every constant occurs.
    if first.v > first.d:
        return first.d_out
    # A group of heads that share V and its bias b_V adds (O_1 + … + O_m) b_V: v columns for each
    # group, which are independent in general, as far as d' entries allow.
    groups = len(shapes) // around.sharing
    return min(groups * first.v, first.d_out)


def _adds_constant(shape: HeadShape) -> bool:
    """Return whether a head of softmax adds a constant: V has a bias, or β acts as one."""
    return shape.coordinates is not None and bool(shape.coordinates.constants)


def constants_at_weights(
    heads: Sequence[ReducedHead], shapes: Sequence[HeadShape], around: NormAndOutputBias
) -> Bounds:
    """Return bounds for the number of dimensions by which the constant c = b + Σ O_h b_h of a layer
    of softmax makes the rank of the differential at its weights larger.

    It is the dimension of the space of derivatives of c in the directions that preserve all O_h
    V_h. With an output bias b, and if some b_h is not in the column space of its V_h, the space has
    all d' dimensions. Else it is spanned by the columns of all O_h (docs/weights-mathematics.md,
    Constants of a layer of softmax). At special weights this number may be less or more than at
    generic ones.
    """
    first = shapes[0]
    if around.output_bias:
        return Bounds.exactly(first.d_out)
    if not _adds_constant(first):
        return Bounds.exactly(0)
    if first.v is None:
        return Bounds.exactly(first.d_out)
    # The columns of all O_h, or of their sums, are derivatives in any case.
    matrices = _output_matrices_by_group(heads, around.sharing)
    fewest = exact_rank(numpy.concatenate(matrices, axis=1))  # None where it takes too long
    if fewest == first.d_out:
        return Bounds.exactly(first.d_out)
    for head in heads:
        is_outside = _bias_is_outside_of_columns(head)
        if is_outside is None:
            return Bounds(fewest, first.d_out)
        if is_outside:
            return Bounds.exactly(first.d_out)
    # Every b_h is in the column space of its V_h: the columns of the O_h are all there is.
    return Bounds(fewest, first.d_out if fewest is None else fewest)


def _output_matrices_by_group(heads: Sequence[ReducedHead], sharing: int) -> list[Any]:
    """Return for each group of ``sharing`` heads in a row the sum of their matrices O, which takes
    the bias of the V that they share to the constant of the group.
    """
    sums = []
    for start in range(0, len(heads), sharing):
        matrices = [head.matrices["O"] for head in heads[start : start + sharing]]
        # A single matrix stays as it is stored; sums are exact.
        sums.append(matrices[0] if len(matrices) == 1 else sum(map(as_fractions, matrices)))
    return sums


def _bias_is_outside_of_columns(head: ReducedHead) -> bool | None:
    """Return whether the bias of V is outside of the column space of V, on the coordinates of
    tokens; ``None`` where the ranks that decide it take too long.
    """
    V = head.matrices["V"]
    rank_V = exact_rank(V)
    # Where V is onto, every bias is in its column space.
    if rank_V == V.shape[0]:
        return False
    rank_with_bias = exact_rank(head.values_with_constant())
    if rank_V is None or rank_with_bias is None:
        return None
    return rank_with_bias > rank_V

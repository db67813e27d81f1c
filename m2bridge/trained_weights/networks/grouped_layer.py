"""A layer of lightning attention whose heads share keys and values, or have rotary positions.

Its dimension is enclosed: above are the parameters less the symmetries of the groups of heads,
below the rank of the differential, at these weights or at random ones. Proofs are in
``docs/weights-mathematics.md`` (Heads that share keys and values). The rank *at the weights* is
that of the differential at the weights of the file; *at random weights* it is the largest rank that
the differential has, and so the dimension, unless the random weights are special.

``shapes`` are the sizes of the heads of the layer, which are equal: tokens have d coordinates, and
outputs d'. ``around``, a ``NormAndOutputBias``, is what the layer has in addition to its heads: the
norm before it, an output bias, of which ``output_bias`` is the number of entries, 0 without one,
and how many heads in a row share K and V (``sharing``). ``heads`` are the results on each head,
such as its ranks, and ``reduced`` the same heads with their matrices K, Q, V, O on the coordinates
of tokens that they see.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from m2bridge.errors import TimeLimitError, TooLargeError
from m2bridge.maps.jacobian_rank import FROM_TWO_TOKENS
from m2bridge.results.known import Bounds, intersect_bounds
from m2bridge.trained_weights.heads.findings import HeadWeights
from m2bridge.trained_weights.heads.ranks import HeadShape, residues_of
from m2bridge.trained_weights.heads.reduced_head import ReducedHead
from m2bridge.trained_weights.networks.at_weights import NetworkAtWeights
from m2bridge.trained_weights.networks.differential import AffineLayer
from m2bridge.trained_weights.networks.groups import Symmetries, nonzero_directions
from m2bridge.trained_weights.networks.series import check_few_parameters, differential_ranks
from m2bridge.trained_weights.networks.shared_keys import ENOUGH_TOKENS, ranks_of_groups
from m2bridge.trained_weights.networks.softmax import is_affine_softmax, softmax_layer
from m2bridge.trained_weights.networks.symmetries import (
    AnalysisOptions,
    NormAndOutputBias,
    finite_symmetries,
    head_groups,
    symmetries_of_layer,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferentialRanks:
    """Bounds for ranks of the differential of a network.

    Parameters
    ----------
    at_weights, at_random : int or None
        Lower bounds, at given and at random weights; ``None`` if not computed, or not needed.
    most_at_weights : int or None
        An upper bound at the given weights; ``None`` if none is known.
    method : str
        How they were computed, or why they were not.
    """

    at_weights: int | None = None
    most_at_weights: int | None = None
    at_random: int | None = None
    method: str

    def bounds_of_dimension(self) -> list[Bounds]:
        """Return the lower bounds for the dimension of the functions that these ranks are, at given
        and at random weights, as far as they are known, with the method as reason.
        """
        reason = f"the rank of the differential {self.method}"
        ranks = [rank for rank in (self.at_weights, self.at_random) if rank is not None]
        return [Bounds.at_least(rank, reason) for rank in ranks]


NO_RANKS = DifferentialRanks(method="")
"""The ranks of a layer whose weights are not read."""


def bounded_by_ranks(
    shapes: Sequence[HeadShape], around: NormAndOutputBias, ranks: DifferentialRanks = NO_RANKS
) -> NetworkAtWeights:
    """Return what is known of a layer of lightning attention by the number of its parameters, its
    symmetries, and the ``ranks`` of its differential, as far as they are computed; by default none
    of them is.
    """
    groups = head_groups(shapes, around)
    # named[symmetry] = its dimension, summed over the groups of heads
    named: Counter[str] = Counter()
    for group in groups:
        named.update(dict(group.redundant()))
    named.update(dict(around.redundant_directions()))
    parameters = sum(group.parameters for group in groups) + around.extra_parameters().parameters
    reason = "the parameters less those of the listed symmetries"
    bounds = [Bounds.at_most(parameters - named.total(), reason)]
    if not around.rotary:
        coefficients = _number_of_coefficients(shapes[0], around.output_bias)
        bounds.append(Bounds.at_most(coefficients, "the number of coefficients"))
    dimension = intersect_bounds(*bounds, *ranks.bounds_of_dimension())
    # The ``method`` says how ranks were computed, or why they were not.
    is_computed = ranks.at_weights is not None
    why = "" if is_computed else ranks.method
    symmetries = Symmetries(
        parameters=parameters,
        dimension=dimension,
        named=nonzero_directions(named),
        listed=Bounds.exactly(named.total()),
        finite=finite_symmetries(shapes, sharing=around.sharing, rotary=around.rotary),
        why=why,
    )
    return NetworkAtWeights(
        symmetries=symmetries,
        rank=ranks.at_weights,
        most_rank=_smaller_known(ranks.most_at_weights, dimension.upper),
        method=ranks.method if is_computed else "",
        note=why,
        tokens=ENOUGH_TOKENS if around.rotary else FROM_TWO_TOKENS,
        constant=around.output_bias,
    )


def layer_without_weights(
    shapes: Sequence[HeadShape], around: NormAndOutputBias, options: AnalysisOptions
) -> NetworkAtWeights:
    """Return what is known of a layer with these heads, whatever its weights are: of softmax by
    theorems, of lightning attention by bounds from numbers of parameters and from symmetries.
    """
    if is_affine_softmax(shapes[0], around):
        return softmax_layer(shapes, around)
    if around.is_grouped:
        return bounded_by_ranks(shapes, around)
    return symmetries_of_layer(shapes, options, around.extra_parameters())


def _smaller_known(first: int | None, second: int | None) -> int | None:
    """Return the smaller of two numbers, of those that are known; ``None`` if neither is."""
    return min((number for number in (first, second) if number is not None), default=None)


def _has_one(shape: HeadShape) -> bool:
    """Return whether tokens have 1 as their last coordinate, for biases."""
    return shape.coordinates is not None and shape.coordinates.has_one


def _number_of_coefficients(shape: HeadShape, output_bias: int) -> int:
    """Return the number of coefficients of the functions of a layer of lightning attention: tensors
    T(x, x, y), one for each of d' outputs, with d × d × d entries, symmetric in their first two
    places; and the ``output_bias`` entries of its output bias.

    ``shape`` has the sizes d and d' of its heads. Where tokens have a coordinate 1, an output bias
    is such a tensor itself.
    """
    d = shape.d
    of_tensors = shape.d_out * (d * (d + 1) // 2) * d
    return of_tensors if _has_one(shape) else of_tensors + output_bias


def grouped_layer(
    heads: Sequence[HeadWeights], reduced: Sequence[ReducedHead], around: NormAndOutputBias
) -> NetworkAtWeights:
    """Return what is known of a layer of lightning attention in which heads share K and V, or are
    rotated by positions.

    ``heads`` are the results on its heads, ``reduced`` the same heads with their matrices on the
    coordinates of tokens that are seen, and ``around`` is what the layer has in addition. On these
    coordinates a norm before the layer changes nothing of what the heads determine.
    """
    shapes = [head.shape for head in heads]
    if around.rotary and _has_one(shapes[0]):
        ranks = DifferentialRanks(method="ranks with rotary positions and biases are not computed")
    else:
        ranks = _ranks_of_layer(heads, reduced, around)
    return bounded_by_ranks(shapes, around, ranks)


def _ranks_of_layer(
    heads: Sequence[HeadWeights], reduced: Sequence[ReducedHead], around: NormAndOutputBias
) -> DifferentialRanks:
    """Return bounds for the ranks of the differential of the layer at its weights and at random
    ones; if a limit was reached, only the upper bound, and the limit as ``method``.
    """
    bounds = bounded_by_ranks([head.shape for head in heads], around)
    most_rank = bounds.most_dimension  # an upper bound for the rank at any weights
    # one at these weights, ``None`` if none is known
    most_at_weights = _most_rank_of_groups(heads, reduced, around)
    least_bound = most_rank if most_at_weights is None else min(most_rank, most_at_weights)
    try:
        check_few_parameters(bounds.parameters)
        found = differential_ranks(
            [_without_norm(heads[0].shape, reduced, around)],
            skip=False,
            softmax=False,
            most=most_rank,
            most_at_weights=least_bound,
        )
    except (TimeLimitError, TooLargeError) as limit:
        return DifferentialRanks(most_at_weights=most_at_weights, method=str(limit))
    return DifferentialRanks(
        at_weights=found.at_weights,
        most_at_weights=most_at_weights,
        at_random=found.at_random,
        method=found.method,
    )


def _without_norm(
    shape: HeadShape, reduced: Sequence[ReducedHead], around: NormAndOutputBias
) -> AffineLayer:
    """Return the layer as it is differentiated, with residues as entries of its matrices: one
    without a norm, as the matrices of ``reduced`` act on the coordinates behind the norm.

    ``shape`` is that of all heads.
    """
    return AffineLayer(
        # The coordinate 1 is not one of the entries of a token.
        width=shape.d - _has_one(shape),
        heads=tuple(_rows_of_residues(head) for head in reduced),
        # Derivatives do not depend on the entries of the output bias, which may be 0.
        output_bias=(0,) * around.output_bias,
        norm="",
        gamma=(),
        beta=(),
        sharing=around.sharing,
        rotary=around.rotary,
    )


def _rows_of_residues(head: ReducedHead) -> dict[str, list[list[int]]]:
    """Return the matrices K, Q, V and perhaps O of a head modulo the prime, by their letters: lists
    of rows of integers.
    """
    found = {}
    for letter, matrix in residues_of(head, "KQVO").items():
        found[letter] = [list(map(int, row)) for row in matrix.table()]
    return found


def _most_rank_of_groups(
    heads: Sequence[HeadWeights], reduced: Sequence[ReducedHead], around: NormAndOutputBias
) -> int | None:
    """Return an upper bound for the rank of the differential at the weights, ``None`` if it is not
    known.

    It is the rank of the map from weights to all A_h and V_h, less a dimension for each rescaling
    (λA_h, V_h/λ), which does not change the function; and the entries of the output bias. A
    rescaling moves every head but those with A_h = 0 and V_h = 0.
    """
    groups = head_groups([head.shape for head in heads], around)
    products = ranks_of_groups(groups, heads, reduced).upper
    # Without proved ranks it is not known which heads a rescaling moves.
    if products is None or not all(head.ranks.proved for head in heads):
        return None
    rescaled = sum(head.ranks.r > 0 or head.ranks.s > 0 for head in heads)
    return products - rescaled + around.output_bias

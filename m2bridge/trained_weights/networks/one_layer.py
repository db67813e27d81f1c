"""What is known of one layer alone, by the theorem or the bounds that apply to it.

* Outputs of heads that are concatenated: the function of each head, or group of heads, is known.
* Softmax with biases, shared or rotated keys: where the matrices A_h = KᵀQ of its heads are
  independent and no V_h is 0, the function of the layer determines all A_h and V_h up to the order
  of the heads, and the *constant* that the layer adds to its outputs whatever the tokens are. So
  heads are seen each alone, apart from the biases of V, of which only the sum with the output bias
  is seen (Biases in softmax attention).
* Lightning attention with shared or rotated keys: the dimension is enclosed. Above are the
  parameters less the symmetries of the groups of heads, below the rank of the differential, at
  these weights or at random ones, where it is the largest rank that the differential has, unless
  these are special (Heads that share keys and values).
* Lightning attention in which some of K, Q and V have a bias, and others not: the same, and of one
  head the dimension is known by a theorem (Biases of some matrices).
* Separate heads: bounds by ranks of matrices, in ``network``.

The titles are those of docs/weights-mathematics.md, with proofs. Notation and groups of heads are
those of ``heads/shape``: V_h stands for O_h V_h with an output matrix, and ``shapes`` are the equal
sizes of the heads. ``traits`` are what the layer has in addition to them. ``heads`` are the results
on each head, and ``reduced`` the same heads with their matrices on the coordinates of tokens that
they see: on these, a norm before the layer changes nothing of what the heads determine. Ranks are
those of the differential of the map from weights to functions; ``None`` is what is not known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import flint
import numpy

from m2bridge.algebra.linear_algebra import rank_mod
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.errors import TimeLimitError, TooLargeError
from m2bridge.maps.jacobian_rank import FROM_TWO_TOKENS
from m2bridge.results.known import UNKNOWN, Bounds, intersect_bounds
from m2bridge.trained_weights.checkpoints.arrays import as_fractions
from m2bridge.trained_weights.heads.findings import HeadWeights
from m2bridge.trained_weights.heads.ranks import (
    exact_rank,
    rank_of_product_map,
    residues_of,
    sum_or_none,
)
from m2bridge.trained_weights.heads.shape import HeadGroup, HeadShape
from m2bridge.trained_weights.heads.token_space import IN_CONSTANT, LazyProduct, ReducedHead
from m2bridge.trained_weights.networks.at_weights import NetworkAtWeights
from m2bridge.trained_weights.networks.differential import AffineLayer
from m2bridge.trained_weights.networks.network import bilinear_form, known_symmetries, rows_of
from m2bridge.trained_weights.networks.series import (
    DifferentialRanks,
    check_few_parameters,
    differential_ranks,
)
from m2bridge.trained_weights.networks.symmetries import (
    ExtraParameters,
    Symmetries,
    finite_symmetries,
    nonzero_directions,
)
from m2bridge.trained_weights.networks.traits import (
    AnalysisOptions,
    LayerTraits,
    head_groups,
    network_model,
)

ENOUGH_TOKENS = "all but finitely many t"
"""The numbers t of tokens for which heads with rotary positions are determined."""


def layer_without_weights(
    shapes: Sequence[HeadShape], traits: LayerTraits, options: AnalysisOptions
) -> NetworkAtWeights:
    """Return what is known of a layer, whose outputs of heads are added, at any weights."""
    if is_affine_softmax(shapes[0], traits):
        return softmax_layer(shapes, traits)
    if is_enclosed(shapes[0], traits):
        return _bounded_by_ranks(shapes, traits, DifferentialRanks(method=""))
    return layer_of_separate_heads(shapes, options, traits.extra_parameters())


def layer_of_separate_heads(
    shapes: Sequence[HeadShape], options: AnalysisOptions, extra: ExtraParameters
) -> NetworkAtWeights:
    """Return what is known of a layer of heads that share nothing by bounds that need no weights;
    ``extra`` is what the layer has in addition to its heads.
    """
    # A skip connection around one layer adds a fixed function: nothing of the dimension changes.
    model = network_model([shapes], replace(options, skip=False))
    symmetries = known_symmetries(model, [shapes], extra)
    return NetworkAtWeights(symmetries=symmetries, constant=extra.dimension)


def heads_side_by_side(shapes: Sequence[HeadShape], traits: LayerTraits) -> NetworkAtWeights:
    """Return what is known of a layer without output matrix, whose outputs of heads are
    concatenated.
    """
    groups = head_groups(shapes, traits)
    named = _named_directions(groups, are_added=False)
    parameters = sum(group.parameters for group in groups)
    dimension = Bounds.exactly(parameters - named.total())
    # Rotary positions in lightning attention: with biases or a norm it is not proved that these
    # symmetries are all.
    if traits.rotary and shapes[0].coordinates is not None and not shapes[0].softmax:
        dimension = Bounds.at_most(dimension.upper, "the symmetries of the heads")
    symmetries = Symmetries(
        parameters=parameters,
        dimension=dimension,
        named=nonzero_directions(named),
        listed=Bounds.exactly(named.total()),
        finite=finite_symmetries(
            shapes, sharing=traits.sharing, rotary=traits.rotary, are_added=False
        ),
        side_by_side=True,
    )
    return NetworkAtWeights(symmetries=symmetries)


def _named_directions(groups: Sequence[HeadGroup], *, are_added: bool = True) -> Counter[str]:
    """Return the dimensions of the redundant directions of groups of heads by names."""
    named: Counter[str] = Counter()
    for group in groups:
        named.update(dict(group.redundant(are_added=are_added)))
    return named


def _parameters(groups: Sequence[HeadGroup], traits: LayerTraits) -> int:
    """Return the number of parameters of a layer of these groups of heads."""
    return sum(group.parameters for group in groups) + traits.extra_parameters().parameters


# Softmax with biases, shared or rotated keys


def is_affine_softmax(shape: HeadShape, traits: LayerTraits) -> bool:
    """Return whether a layer of softmax attention has more than separate A_h and V_h of its heads:
    a bias of Q, a constant that it adds, or heads that share K and V or are rotated by positions.
    """
    # A bias of Q is one more coordinate that Q sees and K does not.
    has_bias = shape.adds_constant or shape.queries > shape.d
    return shape.softmax and (has_bias or bool(traits.output_bias) or traits.is_grouped)


def softmax_layer(
    shapes: Sequence[HeadShape], traits: LayerTraits, rank: Bounds = UNKNOWN
) -> NetworkAtWeights:
    """Return what is known of such a layer; ``rank`` is that at its weights."""
    groups = head_groups(shapes, traits)
    constant = _dimension_of_constants(shapes, traits)
    dimension = Bounds.exactly(sum(group.dimension for group in groups) + constant)
    why = ""
    # The A_h of a group are in a space of dimension min(a, d)·queries, and all A_h are in one of
    # dimension d·queries. By Rado's theorem generic A_h are independent if and only if no group,
    # and not the layer, has more heads than its space has dimensions.
    first = shapes[0]
    is_group_independent = traits.sharing <= first.alpha * first.queries
    if not (is_group_independent and len(shapes) <= first.d * first.queries):
        dimension = Bounds.at_most(dimension.upper, "the functions of each group of heads alone")
        why = "there are more heads than independent matrices A"
    named = _named_directions(groups)
    # Each group counts all entries of its bias of V. Of these and the output bias, only the
    # constant is seen: the rest is redundant.
    hidden = named.pop(IN_CONSTANT, 0) + traits.output_bias - constant
    if hidden < 0:
        # More rows of V than columns: some changes of O and V that preserve OV move the constant.
        of_products = named.pop("O and V with the same OV")
        named["O, V and the bias of V with the same OV and constant"] = of_products + hidden
        hidden = 0
    named["biases of V and of the output with the same constant"] = hidden
    named.update(dict(traits.redundant_directions()))
    symmetries = Symmetries(
        parameters=_parameters(groups, traits),
        dimension=dimension,
        named=nonzero_directions(named),
        listed=Bounds.exactly(named.total()),
        finite=finite_symmetries(shapes, sharing=traits.sharing, rotary=traits.rotary),
        complete=True,
        why=why,
    )
    return NetworkAtWeights(
        symmetries=symmetries,
        rank=rank.lower,
        most_rank=rank.upper,
        tokens=ENOUGH_TOKENS if traits.rotary else FROM_TWO_TOKENS,
        constant=constant,
    )


def _dimension_of_constants(shapes: Sequence[HeadShape], traits: LayerTraits) -> int:
    """Return the dimension of the constants b + Σ O_h b_h that generic layers of softmax with the
    same A_h and O_hV add, where b is the output bias, and b_h the bias of V in head h.
    """
    first = shapes[0]
    if not (traits.output_bias or first.adds_constant):
        return 0
    # Without an output matrix the bias of V itself is the constant, with d' free entries. With
    # v > d the columns of V do not span b_h in general, so that O_h can be changed at b_h without
    # changing O_hV: every constant occurs.
    if traits.output_bias or first.v is None or first.v > first.d:
        return first.d_out
    # A group of heads that share V and its bias b_V adds (O_1 + … + O_m) b_V: v columns for each
    # group, which are independent in general, as far as d' entries allow.
    groups = len(shapes) // traits.sharing
    return min(groups * first.v, first.d_out)


def rank_of_softmax_layer(
    heads: Sequence[HeadWeights], reduced: Sequence[ReducedHead], traits: LayerTraits
) -> Bounds:
    """Return the rank of a layer of softmax at its weights.

    The function depends on all A_h and V_h and on the constant only, so that sums of ranks are
    upper bounds. Where the A_h are independent and no V_h is 0, its differential in these is
    injective, and sums of lower bounds are lower bounds.
    """
    shapes = [head.shape for head in heads]
    # Where ranks are not proved, s is a lower bound for rk V: if it is positive, V is not 0.
    is_injective = all(head.ranks.s > 0 for head in heads) and _are_independent(reduced)
    if traits.is_grouped:
        products = _rank_of_groups(head_groups(shapes, traits), heads, reduced)
    else:
        # Heads that share nothing have weights of their own, so that their ranks are added. A head
        # of softmax determines A and V: the rank for its function is that for A and V.
        products = Bounds(
            sum_or_none(head.least_rank for head in heads),
            sum_or_none(head.most_rank for head in heads),
        )
    constants = _rank_of_constants(reduced, shapes, traits)
    lower = sum_or_none([products.lower, constants.lower]) if is_injective else None
    return Bounds(lower, sum_or_none([products.upper, constants.upper]))


def _are_independent(heads: Sequence[ReducedHead]) -> bool:
    """Return whether the matrices A of all heads are proved to be linearly independent.

    The matrix of the values xᵀAy, with a row for each A and a column for each of some random pairs
    (x, y), has at most the rank of the A; and modulo the prime at most its rank over QQ. So if the
    rank modulo the prime is the number of heads, they are independent.
    """
    random = Random(1)  # the same numbers each time
    # All heads of a layer have matrices of the same sizes; A has as many rows as K has columns.
    first = heads[0].matrices
    sizes = first["A"].shape if "A" in first else (first["K"].shape[1], first["Q"].shape[1])
    # Random tokens beyond the number of heads make independent columns more probable.
    pairs = len(heads) + 8
    columns = []
    for size in sizes:
        entries = [random.randrange(LARGE_PRIME) for _ in range(size * pairs)]
        columns.append(flint.nmod_mat(size, pairs, entries, LARGE_PRIME))
    rows = [bilinear_form(residues_of(head, "KQA"), *columns) for head in heads]
    return rank_mod(rows, LARGE_PRIME) == len(heads)


def _rank_of_constants(
    heads: Sequence[ReducedHead], shapes: Sequence[HeadShape], traits: LayerTraits
) -> Bounds:
    """Return by how much the constant c = b + Σ O_h b_h makes the rank at the weights larger.

    It is the dimension of the space of derivatives of c in the directions that preserve all O_h
    V_h. With an output bias b, and if some b_h is not in the column space of its V_h, the space has
    all d' dimensions. Else it is spanned by the columns of all O_h, or of their sums in groups that
    share V (Constants of a layer of softmax). At special weights this number may be less or more
    than at generic ones.
    """
    first = shapes[0]
    if not (traits.output_bias or first.adds_constant):
        return Bounds.exactly(0)
    if traits.output_bias or first.v is None:
        return Bounds.exactly(first.d_out)
    sums = []
    for start in range(0, len(heads), traits.sharing):
        matrices = [head.matrices["O"] for head in heads[start : start + traits.sharing]]
        # A single matrix stays as it is stored; sums are exact.
        sums.append(matrices[0] if len(matrices) == 1 else sum(map(as_fractions, matrices)))
    fewest = exact_rank(numpy.concatenate(sums, axis=1))
    if fewest == first.d_out:
        return Bounds.exactly(first.d_out)
    for head in heads:
        V = head.matrices["V"]
        rank_V = exact_rank(V)
        # Where V is onto, every bias is in its column space.
        if rank_V == V.shape[0]:
            continue
        # With the constant Vβ + b as one more column.
        rank_with_bias = exact_rank(replace(V, columns=V.tokens.linear + 1))
        if rank_V is None or rank_with_bias is None:
            return Bounds(fewest, first.d_out)
        if rank_with_bias > rank_V:
            return Bounds.exactly(first.d_out)
    return Bounds(fewest, first.d_out if fewest is None else fewest)


def _rank_of_groups(
    groups: Sequence[HeadGroup], heads: Sequence[HeadWeights], reduced: Sequence[ReducedHead]
) -> Bounds:
    """Return bounds for the rank of the map from the weights of a layer to all A_h and V_h: sums
    over the groups, whose heads stand one after the other.
    """
    lower: list[int | None] = []
    upper: list[int | None] = []
    for number, group in enumerate(groups):
        shape, m = group.shape, group.heads
        own = slice(number * m, (number + 1) * m)
        # K and V are the same for all heads; of Q and O the matrices of all heads count together.
        rank_K, rank_V = map(heads[own.start].ranks.by_letter.get, "KV")
        rank_Q, rank_O = (_rank_together(letter, heads[own], reduced[own]) for letter in "QO")
        # With Q, all Q_h next to each other, and O, all O_h on top of each other.
        attention = rank_of_product_map(rank_K, rank_Q, shape.keys, m * shape.queries)
        values = rank_of_product_map(rank_O, rank_V, m * shape.d_out, shape.values)
        if group.rotary:
            # On each plane the function has the product of two complex rows, of K and of all Q_h,
            # whose differential has its largest rank if neither row is 0, as at full ranks.
            is_largest = rank_K == rank_Q == shape.a
            attention = group.dimension_of_attention if is_largest else None
        # Without output matrices the map is the identity on V, whose entries are independent.
        if shape.v is None:
            values = group.dimension_of_values
        lower += [attention, values]
        upper.append(group.dimension_of_attention if attention is None else attention)
        upper.append(group.dimension_of_values if values is None else values)
    return Bounds(sum_or_none(lower), sum_or_none(upper))


def _rank_together(
    letter: str, heads: Sequence[HeadWeights], reduced: Sequence[ReducedHead]
) -> int | None:
    """Return the rank of all Q_h next to each other, or of all O_h on top of each other; ``None``
    also if there is no such matrix.
    """
    if letter not in reduced[0].matrices:
        return None
    shape = heads[0].shape
    full_rank = shape.a if letter == "Q" else shape.v
    ranks = [head.ranks.by_letter.get(letter) for head in heads]
    # One matrix of full rank makes the rank of all together full, too; and a single one is all of
    # them.
    if full_rank in ranks or len(ranks) == 1:
        return max((rank for rank in ranks if rank is not None), default=None)
    arrays = []
    for head in reduced:
        matrix = head.matrices[letter]
        is_lazy = isinstance(matrix, LazyProduct)
        exact = matrix.entries(prime=None) if is_lazy else as_fractions(matrix)
        arrays.append(exact if letter == "Q" else exact.T)
    return exact_rank(numpy.column_stack(arrays))


# Lightning attention with shared or rotated keys, or biases of some of K, Q and V


def is_enclosed(shape: HeadShape, traits: LayerTraits) -> bool:
    """Return whether the dimension of such a layer is enclosed by symmetries and ranks."""
    return traits.is_grouped or shape.lacks_biases


def enclosed_layer(
    heads: Sequence[HeadWeights], reduced: Sequence[ReducedHead], traits: LayerTraits
) -> NetworkAtWeights:
    """Return what is known of a layer of lightning attention in which heads share K and V, or are
    rotated by positions, or lack some biases. If a limit was reached, ranks are left out.
    """
    shapes = [head.shape for head in heads]
    first = shapes[0]
    if traits.rotary and first.has_one:
        method = "ranks with rotary positions and biases are not computed"
        return _bounded_by_ranks(shapes, traits, DifferentialRanks(method=method))
    bounds = _bounded_by_ranks(shapes, traits, DifferentialRanks(method=""))
    # The rank is at most the one of the map to all A_h and V_h, and the entries of the output bias,
    # less a dimension for each rescaling (λA_h, V_h/λ). It moves every head but those with A_h = 0
    # and V_h = 0, and without proved ranks it is not known which these are.
    most_at_weights = _rank_of_groups(head_groups(shapes, traits), heads, reduced).upper
    if most_at_weights is not None and all(head.ranks.proved for head in heads):
        rescaled = sum(head.ranks.r > 0 or head.ranks.s > 0 for head in heads)
        most_at_weights += traits.output_bias - rescaled
    else:
        most_at_weights = None
    layer = AffineLayer(
        width=first.d - first.has_one,  # the coordinate 1 is not one of the entries of a token
        heads=tuple(_free_rows(head, first) for head in reduced),
        # Derivatives do not depend on the entries of the output bias, which may be 0.
        output_bias=(0,) * traits.output_bias,
        norm="",
        gamma=(),
        beta=(),
        sharing=traits.sharing,
        rotary=traits.rotary,
    )
    try:
        if "A" in reduced[0].matrices:
            raise TooLargeError("ranks of a layer that lacks biases need K and Q, not A")
        check_few_parameters(bounds.parameters)
        ranks = differential_ranks(
            [layer],
            skip=False,
            softmax=False,
            most=bounds.most_dimension,
            most_at_weights=most_at_weights,
        )
    except (TimeLimitError, TooLargeError) as limit:
        ranks = DifferentialRanks(method=str(limit), most_at_weights=most_at_weights)
    return _bounded_by_ranks(shapes, traits, ranks)


def _free_rows(head: ReducedHead, shape: HeadShape) -> dict[str, list[list[int]]]:
    """Return the rows of K, Q, V and O modulo the prime, without the entries at the coordinate 1 of
    a matrix that lacks a bias.
    """
    columns = {"K": shape.keys, "Q": shape.queries, "V": shape.values}
    rows = {}
    for letter, matrix in residues_of(head, "KQVO").items():
        rows[letter] = [row[: columns.get(letter)] for row in rows_of(matrix)]
    return rows


def _bounded_by_ranks(
    shapes: Sequence[HeadShape], traits: LayerTraits, ranks: DifferentialRanks
) -> NetworkAtWeights:
    """Return what is known of such a layer by the number of its parameters, its symmetries, and the
    ranks of its differential, as far as they are computed.
    """
    groups = head_groups(shapes, traits)
    named = _named_directions(groups)
    named.update(dict(traits.redundant_directions()))
    parameters = _parameters(groups, traits)
    reason = "the parameters less the dimensions of the listed symmetries"
    bounds = [Bounds.at_most(parameters - named.total(), reason)]
    if not traits.rotary:
        # Functions are tensors T(x, x, y), one for each of d' outputs, with d × d × d entries,
        # symmetric in their first two places. Where tokens have a coordinate 1, an output bias is
        # such a tensor itself.
        coefficients = shapes[0].coefficients
        if not shapes[0].has_constants:
            coefficients += traits.output_bias
        bounds.append(Bounds.at_most(coefficients, "the number of coefficients"))
    if len(shapes) == 1 and not traits.rotary and not shapes[0].has_constants:
        # The dimension of a single head is a theorem, and constants are not among its functions.
        bounds.append(Bounds.exactly(shapes[0].dimension + traits.output_bias))
    dimension = intersect_bounds(*bounds, *ranks.bounds_of_dimension())
    # The ``method`` says how ranks were computed, or why they were not.
    is_computed = ranks.at_weights is not None
    why = "" if is_computed else ranks.method
    symmetries = Symmetries(
        parameters=parameters,
        dimension=dimension,
        named=nonzero_directions(named),
        listed=Bounds.exactly(named.total()),
        finite=finite_symmetries(shapes, sharing=traits.sharing, rotary=traits.rotary),
        why=why,
    )
    most_ranks = [most for most in (ranks.most_at_weights, dimension.upper) if most is not None]
    return NetworkAtWeights(
        symmetries=symmetries,
        rank=ranks.at_weights,
        most_rank=min(most_ranks, default=None),
        method=ranks.method if is_computed else "",
        note=why,
        tokens=ENOUGH_TOKENS if traits.rotary else FROM_TWO_TOKENS,
        constant=traits.output_bias,
    )

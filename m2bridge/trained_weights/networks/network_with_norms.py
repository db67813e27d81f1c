"""Networks of several layers with biases or norms: bounds for dimension and rank at the weights.

The dimension of such a network is enclosed. Above it is the sum of the dimensions of the layers,
less the dimension of the symmetries between them; below it the rank of the differential, at these
weights or at random ones. Proofs are in ``docs/weights-mathematics.md``.

*Between* layers, before a layer without norm, the group GL(d) acts, and before one with a norm
whose matrices can undo linear maps O(d), which preserves norms. An element changes the function of
the layer before it unless it is the identity on the span of the outputs of this layer, of dimension
s: these have the dimension d·(d − s) in GL(d), and are O(d − s) in O(d). Translations of tokens,
changes of output biases, always act freely. A LayerNorm takes the mean of the outputs before it
away, so that only the outputs modulo (1, …, 1), of one dimension less, *pass* it; with skip
connections the mean reaches the outputs of the network next to the norm, so that all outputs pass.
A skip connection is the identity, which a change of base of one layer would not preserve.

The layer ``after`` a layer is the next one. Ranks are ``None`` where none is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest
from typing import Any, Self

import numpy

from m2bridge.algebra.linear_algebra import rank_mod
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.errors import TimeLimitError, TooLargeError
from m2bridge.maps.jacobian_rank import ALMOST_ALL_TOKENS
from m2bridge.results.known import UNKNOWN, Bounds, intersect_bounds
from m2bridge.trained_weights.checkpoints.arrays import as_fractions
from m2bridge.trained_weights.checkpoints.tensors import LayerTensors
from m2bridge.trained_weights.heads.findings import HeadWeights
from m2bridge.trained_weights.heads.ranks import residues_of, sum_or_none, without_last_row
from m2bridge.trained_weights.heads.shape import HeadShape
from m2bridge.trained_weights.heads.token_space import norm_before
from m2bridge.trained_weights.networks.at_weights import NetworkAtWeights
from m2bridge.trained_weights.networks.differential import AffineLayer
from m2bridge.trained_weights.networks.one_layer import layer_without_weights
from m2bridge.trained_weights.networks.series import (
    DifferentialRanks,
    check_few_parameters,
    differential_ranks,
)
from m2bridge.trained_weights.networks.symmetries import (
    FiniteGroup,
    Symmetries,
    finite_symmetries,
    nonzero_directions,
    products,
)
from m2bridge.trained_weights.networks.traits import (
    LAYER_NORM,
    AnalysisOptions,
    LayerTraits,
    head_groups,
    network_model,
    without_mean,
)

BEHIND_LAYER_NORM = "outputs along (1, …, 1), which the next LayerNorm takes away"
"""The name of a symmetry between layers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """A group of symmetries between two layers, or between all that follow one another."""

    name: str
    size: int  # its dimension
    free: int  # a lower bound for the dimension of its orbits on the functions, generically
    by_biases: bool = False  # whether the symmetries change output biases


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysedLayer:
    """A layer among others, with what is known of it alone, its ``result``."""

    number: int  # counted from 1
    tensors: LayerTensors
    heads: list[HeadWeights]
    traits: LayerTraits
    result: NetworkAtWeights
    options: AnalysisOptions
    known_span: int = 0  # a lower bound for ``dimension_of_span``, known from another layer

    @property
    def shapes(self) -> list[HeadShape]:
        """The sizes of its heads."""
        return [head.shape for head in self.heads]

    @property
    def outputs(self) -> int:
        """The number of entries of its outputs."""
        return self.shapes[0].d_out

    @property
    def has_biases(self) -> bool:
        """Whether a translation of its tokens can be undone by its biases: Q, or in lightning
        attention all of K, Q and V, see the coordinate 1 in addition to the entries of a token.
        """
        shape = self.shapes[0]
        return not shape.lacks_biases and max(shape.queries, shape.d) > shape.width

    @property
    def sum_over_heads(self) -> int:
        """The sum of the dimensions of its groups of heads, each alone, and of the constants."""
        groups = head_groups(self.shapes, self.traits)
        return sum(group.dimension for group in groups) + self.result.constant

    @property
    def is_sum_of_heads(self) -> bool:
        """Whether the upper bound for its dimension is ``sum_over_heads``, and for heads that share
        K and V, whose functions may have less than this dimension, also known to be it.
        """
        if self.traits.is_grouped and self.result.dimension.exact is None:
            return False
        return self.result.most_dimension == self.sum_over_heads

    def less_one_output(self) -> Self:
        """Return the layer with one output less, as only so much of it passes a LayerNorm."""
        return self._of_sizes(*without_mean(self.shapes, self.traits))

    def with_outputs(self, count: int) -> Self:
        """Return a layer without norm with this number of outputs, through which or onto which all
        outputs of this layer factor; its outputs span no less.
        """
        if count == self.outputs:
            return self
        shapes = [replace(shape, d_out=count) for shape in self.shapes]
        traits = replace(self.traits, output_bias=min(self.traits.output_bias, count))
        known_span = min(count, self.dimension_of_span())
        return replace(self._of_sizes(shapes, traits), known_span=known_span)

    def with_inputs(self, count: int) -> Self:
        """Return the layer, without norm, for tokens with this number of entries."""
        if count == self.shapes[0].width:
            return self
        return self._of_sizes([shape.with_width(count) for shape in self.shapes], self.traits)

    def _of_sizes(self, shapes: Sequence[HeadShape], traits: LayerTraits) -> Self:
        """Return a layer with heads of these sizes, whatever their weights are."""
        pairs = zip(self.heads, shapes, strict=True)
        heads = [replace(head, shape=shape) for head, shape in pairs]
        result = layer_without_weights(shapes, traits, self.options)
        return replace(self, heads=heads, traits=traits, result=result)

    def dimension_of_span(self) -> int:
        """Return a lower bound for the dimension of the span of differences of its generic outputs.

        The outputs of a head are in the image of its V, of dimension β. Where a rank or a theorem
        shows that heads are independent, the dimensions of all heads are added, up to the number of
        outputs; else one head counts (docs/weights-mathematics.md, What the outputs of a layer
        span).
        """
        first = self.shapes[0]
        are_groups_independent = self.result.dimension.exact == self.sum_over_heads
        # Where heads share K and V, the A_h of each group have to be independent too: they are in
        # a space of dimension α·queries.
        are_independent_in_groups = self.traits.sharing <= first.alpha * first.queries
        counted_heads = 1
        if are_groups_independent and are_independent_in_groups:
            counted_heads = len(self.heads)
        return max(self.known_span, min(self.outputs, counted_heads * first.beta))


def layers_in_a_row(layers: Sequence[AnalysedLayer], options: AnalysisOptions) -> NetworkAtWeights:
    """Return what is known of the network of these layers, which follow one another.

    At least one of them has biases or a norm, or heads that share K and V or are rotated.
    """
    shapes = [layer.shapes for layer in layers]
    # This refuses skip connections between layers of different widths.
    model = network_model(shapes, options, width=shapes[0][0].width)
    # The layers but the last one, as far as they pass the next norm.
    passed: list[AnalysedLayer] = []
    hidden_by_norms: list[Between] = []
    for layer, after in pairwise(layers):
        if after.traits.norm != LAYER_NORM or options.skip:
            passed.append(layer)
            continue
        narrow = layer.less_one_output()
        passed.append(narrow)
        size = layer.sum_over_heads - narrow.sum_over_heads
        # The lower bound for the dimension of orbits is 0 where the bounds for the dimensions of
        # the two layers are not these sums.
        free = size if layer.is_sum_of_heads and narrow.is_sum_of_heads else 0
        hidden_by_norms.append(Between(name=BEHIND_LAYER_NORM, size=size, free=free))
    acting = list(_symmetries_between(layers, passed, options))
    upper = intersect_bounds(
        _upper_bound_of_dimension(layers, passed, acting),
        _upper_bound_by_used_widths(layers, options),
    )
    ranks = _ranks_of_network(layers, acting, options, upper.value)
    bounds = [upper, *ranks.bounds_of_dimension()]
    if options.skip:
        # With skip connections layers that are zero change nothing: the functions of each layer
        # alone, of which a lower bound for the dimension may be missing, are among those of all.
        alone = max(layer.result.dimension.lower or 0 for layer in layers)
        bounds.append(Bounds.at_least(alone, "one layer alone, where the others are zero"))
    dimension = intersect_bounds(*bounds)
    # Without ranks the method is the reason why they are not computed.
    why = ranks.method if ranks.at_weights is None else ""
    has_norms = any(layer.traits.norm for layer in layers)
    return NetworkAtWeights(
        symmetries=_with_symmetries(layers, [*hidden_by_norms, *acting], dimension, why),
        rank=ranks.at_weights,
        most_rank=ranks.most_at_weights,
        method="" if why else ranks.method,
        note=why,
        tokens=ALMOST_ALL_TOKENS,
        model=model,
        kind=_additions_in_words(layers),
        reason=upper.because,
        epsilon=options.epsilon if has_norms and not why else None,
    )


def _upper_bound_of_dimension(
    layers: Sequence[AnalysedLayer], passed: Sequence[AnalysedLayer], acting: Sequence[Between]
) -> Bounds:
    """Return an upper bound for the dimension of the functions of a network: the sum of the
    dimensions of the layers, less the dimension in which groups between them act freely.
    """
    most = sum(layer.result.most_dimension for layer in [*passed, layers[-1]])
    most -= sum(symmetry.free for symmetry in acting)
    difference = sum(layer.result.most_dimension for layer in layers) - most
    less = f", less {difference} for symmetries between them" if difference else ""
    return Bounds.at_most(most, f"the sum of the layers{less}")


def _upper_bound_by_used_widths(
    layers: Sequence[AnalysedLayer], options: AnalysisOptions
) -> Bounds:
    """Return an upper bound for the dimension of the functions of a network by hidden widths that
    its heads fill and read (lemma-unused-affine-width); no bound where they use all of the widths.

    It is about networks without skip connections and norms. Where a layer has an output bias, the
    next layer has to undo it by biases of its own.
    """
    all_traits = [layer.traits for layer in layers]
    has_norms = any(traits.norm or traits.norm_after for traits in all_traits)
    has_output_biases = any(traits.output_bias for traits in all_traits[:-1])
    if options.skip or has_norms:
        return UNKNOWN
    if has_output_biases and _translations(layers, layers[:-1], options) is None:
        return UNKNOWN
    reduced = [layers[0]]
    for after in layers[1:]:
        before = reduced.pop()
        filled = sum(shape.beta for shape in before.shapes)
        read = sum(2 * shape.alpha + shape.beta for shape in after.shapes)
        width = min(before.outputs, filled, read)
        reduced += [before.with_outputs(width), after.with_inputs(width)]
    widths = [layer.outputs for layer in reduced[:-1]]
    if widths == [layer.outputs for layer in layers[:-1]]:
        return UNKNOWN
    acting = list(_symmetries_between(reduced, reduced[:-1], options))
    bound = _upper_bound_of_dimension(reduced, reduced[:-1], acting)
    listed_widths = ", ".join(map(str, widths))
    reason = f"hidden widths {listed_widths}, which heads fill and read: {bound.because}"
    return Bounds.at_most(bound.value, reason)


def _additions_in_words(layers: Sequence[AnalysedLayer]) -> str:
    """Return what layers have in addition to matrices of their own heads, as the end of a name:
    ``, with biases or norms``.
    """
    kinds = []
    # Biases and norms change the coordinates of the tokens that the heads of a layer see.
    changes_coordinates = any(layer.shapes[0].coordinates is not None for layer in layers)
    if changes_coordinates or not all(layer.traits.is_empty for layer in layers):
        kinds.append("biases or norms")
    if any(layer.traits.sharing > 1 for layer in layers):
        kinds.append("keys and values that heads share")
    if any(layer.traits.rotary for layer in layers):
        kinds.append("rotary positions")
    return f", with {' and '.join(kinds)}"


def _with_symmetries(
    layers: Sequence[AnalysedLayer], between: Sequence[Between], dimension: Bounds, why: str
) -> Symmetries:
    """Return the symmetries of the network, of its layers and ``between`` them, compared with its
    redundant directions; ``why`` is the reason for which ranks are not computed, or empty.
    """
    named: Counter[str] = Counter()
    finite: list[FiniteGroup] = []
    # Bounds for the dimension of an orbit of all symmetries: first those of the layers alone.
    least = 0
    for layer in layers:
        sharing, rotary = layer.traits.sharing, layer.traits.rotary
        finite += finite_symmetries(layer.shapes, sharing=sharing, rotary=rotary)
        named.update(dict(layer.result.symmetries.named))
        # Of one layer this dimension is known, so that its upper bound is the dimension.
        least += layer.result.symmetries.listed.value
    most = least
    for symmetry in between:
        named[symmetry.name] += symmetry.size
        least += symmetry.free
        most += symmetry.size
    return Symmetries(
        parameters=sum(layer.result.parameters for layer in layers),
        dimension=dimension,
        named=nonzero_directions(named),
        listed=Bounds(least, most),
        finite=products(finite),
        why=why,
    )


def _symmetries_between(
    layers: Sequence[AnalysedLayer], passed: Sequence[AnalysedLayer], options: AnalysisOptions
) -> Iterator[Between]:
    """Yield the symmetries between layers: changes of base or rotations, and translations."""
    if not options.skip:
        for layer, after in zip(passed, layers[1:], strict=True):
            d, span_dimension = layer.outputs, layer.dimension_of_span()
            if not after.traits.norm:
                yield Between(name=f"GL({d}) between layers", size=d * d, free=d * span_dimension)
            elif d > 1 and after.traits.absorbs_linear_maps:
                size = _rotations(d)
                free = size - _rotations(d - span_dimension)
                yield Between(
                    name=f"O({d}) between a layer and the next norm", size=size, free=free
                )
    translations = _translations(layers, passed, options)
    if translations is not None:
        yield translations


def _translations(
    layers: Sequence[AnalysedLayer], passed: Sequence[AnalysedLayer], options: AnalysisOptions
) -> Between | None:
    """Return the translations of the tokens between layers that change nothing, if there are any:
    changes of output biases.
    """
    if not all(layer.traits.output_bias > 0 for layer in layers):
        return None
    has_norms = any(layer.traits.norm for layer in layers)
    # Without norms the biases of the next layer undo a translation.
    if not has_norms and all(layer.has_biases for layer in layers[1:]):
        size = sum(layer.outputs for layer in passed)
        name = "translations of tokens between layers, by biases"
        return Between(name=name, size=size, free=size, by_biases=True)
    # With skip connections all norms take away what is added along (1, …, 1), one direction for
    # each layer but the last.
    if options.skip and all(layer.traits.norm == LAYER_NORM for layer in layers):
        size = len(passed)
        name = "output biases along (1, …, 1)"
        return Between(name=name, size=size, free=size, by_biases=True)
    return None


def _rotations(d: int) -> int:
    """Return the dimension of O(d), the group of rotations and reflections in d dimensions."""
    return d * (d - 1) // 2


def _ranks_of_network(
    layers: Sequence[AnalysedLayer], acting: Sequence[Between], options: AnalysisOptions, most: int
) -> DifferentialRanks:
    """Return the ranks of the differential of the network, at any weights at most ``most``; or why
    they are not computed, as ``method``. ``acting`` are the symmetries between layers.
    """
    if any("A" in layer.tensors.parts for layer in layers):
        return DifferentialRanks(
            method="ranks of several layers with biases or norms need K and Q, not A"
        )
    if any(layer.traits.rotary for layer in layers):
        return DifferentialRanks(
            method="ranks of several layers with rotary positions are not computed"
        )
    try:
        check_few_parameters(sum(layer.result.parameters for layer in layers))
        ranks = differential_ranks(
            list(map(_affine_layer, layers)),
            skip=options.skip,
            softmax=options.softmax,
            most=most,
            most_at_weights=_most_rank(layers, acting, options),
        )
    except (TimeLimitError, TooLargeError) as limit:
        return DifferentialRanks(method=str(limit))
    # This raises ContradictionError if the lower bound exceeds the upper one.
    intersect_bounds(
        Bounds.at_least(ranks.at_weights, ranks.method),
        Bounds.at_most(ranks.most_at_weights, "the ranks of the heads"),
    )
    return ranks


def _affine_layer(layer: AnalysedLayer) -> AffineLayer:
    """Return the layer as it is differentiated: with its entries as fractions, and with biases as
    the last columns of K, Q and V.
    """
    options = layer.options
    arrays_of_heads = list(layer.tensors.heads(layer.number, options.heads))
    heads = []
    for arrays in arrays_of_heads:
        biases = arrays.biases if options.biases else {}
        rows = {}
        for letter, matrix in arrays.matrices.items():
            bias = biases.get(letter)
            columns = as_fractions(matrix)
            if bias is not None:
                columns = numpy.column_stack([columns, as_fractions(bias)])
            rows[letter] = columns.tolist()
        heads.append(rows)
    # All heads of a layer have the same norm and output bias.
    first = arrays_of_heads[0]
    norm = norm_before(first, options.norm)
    kind, gamma, beta = "", None, None
    if norm is not None:
        kind, gamma = norm.kind, norm.gamma
        beta = norm.beta if options.biases else None
    return AffineLayer(
        width=layer.shapes[0].width,
        heads=tuple(heads),
        output_bias=_fractions(first.O_bias if options.biases else None),
        norm=kind,
        gamma=_fractions(gamma),
        beta=_fractions(beta),
        sharing=layer.traits.sharing,
        epsilon=options.epsilon,
    )


def _fractions(array: Any) -> tuple[Any, ...]:
    """Return the entries of a vector as fractions; none if it is ``None``."""
    return () if array is None else tuple(as_fractions(array).tolist())


def _most_rank(
    layers: Sequence[AnalysedLayer], acting: Sequence[Between], options: AnalysisOptions
) -> int | None:
    """Return an upper bound for the rank of the differential of the network at these weights: the
    sum over the layers, less the dimension of the symmetries between them.
    """
    most = 0
    # ``after`` is ``None`` for the last layer.
    for layer, after in zip_longest(layers, layers[1:]):
        # The sum over its heads, also where these share parameters, and the constant.
        of_layer = sum_or_none(head.most_rank for head in layer.heads)
        if of_layer is None:
            return None
        if layer.result.constant:
            of_layer += layer.outputs
        # These directions change the functions of the heads, and not of the network.
        moved = 0
        if after is not None and not options.skip:
            moved = _moved_directions(layer, after)
        of_layer -= moved
        # What is known of the layer as a whole may be less than the sum over its heads.
        of_whole_layer = layer.result.most_rank
        if of_whole_layer is not None:
            # In softmax attention it is a rank of all A_h, V_h and the constant, which are moved as
            # those of heads. In lightning attention it is one of the function of the layer, of
            # which less may be moved.
            moved_of_whole_layer = moved if options.softmax else 0
            of_layer = min(of_layer, of_whole_layer - moved_of_whole_layer)
        most += of_layer
    for symmetry in acting:
        # Translations of output biases move all weights. Changes of base, the other symmetries,
        # have orbits of fewer dimensions at some weights: what they move is subtracted above.
        if symmetry.by_biases:
            most -= symmetry.size
    return most


def _moved_directions(layer: AnalysedLayer, after: AnalysedLayer) -> int:
    """Return the number of directions in which symmetries between a layer and the one ``after`` it
    change the functions of its heads.

    They are counted at the weights, by ranks modulo the prime, which are too small rather than too
    large. The outputs have d entries; let s be the dimension of the space that the columns of all
    OV span. The directions are

    * for no norm after the layer: the products G·OV with d × d matrices G, d·s dimensions;
    * for RMSNorm: the products with orthogonal G only, dim O(d) − dim O(d − s), if the matrices
      after the norm can undo G, else none;
    * for LayerNorm: those of RMSNorm on outputs modulo (1, …, 1), with d − 1 for d; the
      translations O + 1·uᵀ, or V + 1·uᵀ without O, in which some OV changes; and one for the output
      bias, whose mean does not pass.
    """
    takes_mean_away = after.traits.norm == LAYER_NORM
    columns: list[Any] = []
    translations = 0
    for head in layer.options.reduced_heads(layer.number, layer.tensors):
        matrices = residues_of(head)
        # Heads of lightning attention with A = 0 are zero, whatever V is.
        if not layer.options.softmax:
            has_A = "A" in matrices
            A = matrices["A"] if has_A else matrices["K"].transpose() * matrices["Q"]
            if not A.rank():
                continue
        V = values = matrices["V"]
        # 1·uᵀ has any uᵀ, and 1·uᵀV those in the space of the rows of V.
        if "O" in matrices:
            translations += int(V.rank())
            values = matrices["O"] * V
        else:
            translations += int(V.ncols())
        if takes_mean_away:
            # Outputs modulo (1, …, 1) are their differences to the last one.
            values = without_last_row(values)
        columns += values.transpose().table()
    span_dimension = rank_mod(columns, LARGE_PRIME) if columns else 0
    d = layer.outputs
    if not after.traits.norm:
        return d * span_dimension
    moved = 0
    if takes_mean_away:
        d -= 1
        moved = translations + (layer.traits.output_bias > 0)
    if after.traits.absorbs_linear_maps:
        moved += _rotations(d) - _rotations(d - span_dimension)
    return moved

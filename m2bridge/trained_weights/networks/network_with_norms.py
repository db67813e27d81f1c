"""Networks of several layers with biases or norms: bounds for dimension and rank at the weights.

The dimension of such a network is enclosed. Above it is the sum of the dimensions of the layers,
less that of the symmetries between them; below it the rank of the differential, at these weights or
at random ones. Proofs are in ``docs/weights-mathematics.md``.

``around`` has the norm before a layer, its output bias, and how many heads in a row share K and V
(``sharing``); ``absorbs_linear_maps`` says whether K, Q and V can undo a linear change of the
tokens behind the norm. The layer ``after`` a layer is the next one; its LayerNorm takes the mean of
the outputs away, so that only the outputs modulo (1, …, 1), of one dimension less, pass it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest
from typing import Any, NamedTuple, Self

import numpy

from m2bridge.algebra.linear_algebra import rank_mod
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.errors import TimeLimitError, TooLargeError
from m2bridge.maps.jacobian_rank import ALMOST_ALL_TOKENS
from m2bridge.results.known import UNKNOWN, Bounds, intersect_bounds
from m2bridge.trained_weights.checkpoints.arrays import as_fractions
from m2bridge.trained_weights.checkpoints.tensors import HeadArrays, LayerTensors
from m2bridge.trained_weights.heads.findings import HeadWeights, sum_or_none
from m2bridge.trained_weights.heads.ranks import HeadShape, residues_of, without_last_row
from m2bridge.trained_weights.heads.reduced_head import norm_before
from m2bridge.trained_weights.networks.at_weights import NetworkAtWeights
from m2bridge.trained_weights.networks.differential import AffineLayer
from m2bridge.trained_weights.networks.grouped_layer import DifferentialRanks, layer_without_weights
from m2bridge.trained_weights.networks.groups import (
    FiniteGroup,
    Symmetries,
    nonzero_directions,
    products,
)
from m2bridge.trained_weights.networks.series import check_few_parameters, differential_ranks
from m2bridge.trained_weights.networks.symmetries import (
    AnalysisOptions,
    NormAndOutputBias,
    finite_symmetries,
    head_groups,
    network_model,
    without_mean,
)

BEHIND_LAYER_NORM = "outputs along (1, …, 1), which the next LayerNorm takes away"
"""The name of a symmetry between layers."""
LAYER_NORM = "LayerNorm"
"""How a layer calls the norm before it that takes the mean away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """A group of symmetries between two layers, or between all that follow one another.

    Parameters
    ----------
    name : str
    size : int
        The dimension of the group.
    free : int
        A lower bound for the dimension of its orbits on the functions of the layers, for generic
        weights.
    by_biases : bool
        Whether the symmetries change output biases.
    """

    name: str
    size: int
    free: int
    by_biases: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysedLayer:
    """A layer among others, with what is known of it alone.

    Parameters
    ----------
    number : int
        Counted from 1.
    tensors : LayerTensors
        Its arrays in the file.
    heads : list of HeadWeights
        The results on its heads, such as their sizes and ranks.
    around : NormAndOutputBias
        Its norm, its output bias, and whether heads share K and V.
    alone : NetworkAtWeights
        What is known of this layer alone.
    options : AnalysisOptions
    known_span : int
        A lower bound for the dimension of the span of differences of its generic outputs, known
        from another layer.
    """

    number: int
    tensors: LayerTensors
    heads: list[HeadWeights]
    around: NormAndOutputBias
    alone: NetworkAtWeights
    options: AnalysisOptions
    known_span: int = 0

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
        """Whether a translation of its tokens can be undone by its biases; in softmax attention it
        can if Q has a bias.
        """
        # With biases, Q, or all of K, Q and V, see the coordinate 1 besides the entries of a token.
        shape = self.shapes[0]
        return max(shape.queries, shape.d) > shape.width

    @property
    def sum_over_heads(self) -> int:
        """The sum of the dimensions of its groups of heads, each alone, and of the constants."""
        groups = head_groups(self.shapes, self.around)
        return sum(group.dimension for group in groups) + self.alone.constant

    def less_one_output(self) -> Self:
        """Return the layer with one output less, as only so much of it passes a LayerNorm."""
        return self._of_sizes(*without_mean(self.shapes, self.around))

    def with_outputs(self, count: int) -> Self:
        """Return a layer without norm with this number of outputs, through which or onto which all
        outputs of this layer factor; its outputs span no less.
        """
        if count == self.outputs:
            return self
        shapes = [replace(shape, d_out=count) for shape in self.shapes]
        around = replace(self.around, output_bias=min(self.around.output_bias, count))
        known_span = min(count, self.dimension_of_span())
        return replace(self._of_sizes(shapes, around), known_span=known_span)

    def with_inputs(self, count: int) -> Self:
        """Return the layer, without norm, for tokens with this number of entries."""
        if count == self.shapes[0].width:
            return self
        return self._of_sizes([shape.with_width(count) for shape in self.shapes], self.around)

    def _of_sizes(self, shapes: Sequence[HeadShape], around: NormAndOutputBias) -> Self:
        """Return a layer with heads of these sizes, whatever their weights are."""
        pairs = zip(self.heads, shapes, strict=True)
        heads = [replace(head, shape=shape) for head, shape in pairs]
        alone = layer_without_weights(shapes, around, self.options)
        return replace(self, heads=heads, around=around, alone=alone)

    @property
    def is_sum_of_heads(self) -> bool:
        """Whether the upper bound for its dimension is ``sum_over_heads``, and for heads that share
        K and V also known to be the dimension.
        """
        # The functions of a group of heads that share K and V may have less than the dimension that
        # ``sum_over_heads`` adds for it.
        if self.around.is_grouped and self.alone.dimension.exact is None:
            return False
        return self.alone.most_dimension == self.sum_over_heads

    def dimension_of_span(self) -> int:
        """Return a lower bound for the dimension of the span of differences of its generic outputs.

        The outputs of a head are in the image of its V, of dimension β. Where a rank or a theorem
        shows that heads are independent, the dimensions of all heads are added, up to that of the
        outputs; else one head counts (docs/weights-mathematics.md, What the outputs of a layer
        span).
        """
        first = self.shapes[0]
        are_groups_independent = self.alone.dimension.exact == self.sum_over_heads
        # Where heads share K and V, the A_h of each group have to be independent too: they are in
        # a space of dimension α·queries.
        are_independent_in_groups = self.around.sharing <= first.alpha * first.queries
        counted_heads = 1
        if are_groups_independent and are_independent_in_groups:
            counted_heads = len(self.heads)
        return max(self.known_span, min(self.outputs, counted_heads * first.beta))


def layers_in_a_row(layers: Sequence[AnalysedLayer], options: AnalysisOptions) -> NetworkAtWeights:
    """Return what is known of the network of these layers, which follow one another.

    The dimension of its functions is at most the sum of those of the layers, less the dimension in
    which groups between the layers act freely; and at least the rank of the differential at any
    weights.
    """
    shapes = [layer.shapes for layer in layers]
    # This refuses skip connections between layers of different widths.
    model = network_model(shapes, options, width=shapes[0][0].width)
    passed, hidden_by_norms = _passed_by_norms(layers, options)
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
        alone = max(layer.alone.dimension.lower or 0 for layer in layers)
        bounds.append(Bounds.at_least(alone, "one layer alone, where the others are zero"))
    dimension = intersect_bounds(*bounds)
    # Without ranks the method is the reason why they are not computed.
    why = ranks.method if ranks.at_weights is None else ""
    has_norms = any(layer.around.norm for layer in layers)
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
    """Return an upper bound for the dimension of the functions of a network, with its reason: the
    sum of the dimensions of the layers, less the dimension in which groups between them act freely.

    ``passed`` are the layers but the last one, with one output less where a LayerNorm follows that
    takes the mean away; ``acting`` are the symmetries between layers.
    """
    most = sum(layer.alone.most_dimension for layer in [*passed, layers[-1]])
    most -= sum(symmetry.free for symmetry in acting)
    difference = sum(layer.alone.most_dimension for layer in layers) - most
    reason = "the sum of the layers"
    if difference:
        reason += f", less {difference} for symmetries between them"
    return Bounds.at_most(most, reason)


def _upper_bound_by_used_widths(
    layers: Sequence[AnalysedLayer], options: AnalysisOptions
) -> Bounds:
    """Return an upper bound for the dimension of the functions of a network by hidden widths that
    its heads fill and read (lemma-unused-affine-width); no bound where they use all of the widths.

    It is about networks without skip connections and norms. Where a layer has an output bias, the
    next layer has to undo it by biases of its own.
    """
    arounds = [layer.around for layer in layers]
    has_norms = any(around.norm or around.norm_after for around in arounds)
    has_output_biases = any(around.output_bias for around in arounds[:-1])
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


def _passed_by_norms(layers: Sequence[AnalysedLayer], options: AnalysisOptions) -> _PassedByNorms:
    """Return what of the layers passes the norms between them.

    A LayerNorm takes the mean of the outputs away, so that the layer before it passes as one with
    one output less. With skip connections the mean reaches the outputs of the network beside the
    norm, so that all outputs pass.
    """
    passed = []
    symmetries = []
    for layer, after in pairwise(layers):
        if after.around.norm != LAYER_NORM or options.skip:
            passed.append(layer)
            continue
        narrow = layer.less_one_output()
        passed.append(narrow)
        size = layer.sum_over_heads - narrow.sum_over_heads
        # The lower bound for the dimension of orbits is 0 where the bounds for the dimensions of
        # the two layers are not these sums.
        is_free = layer.is_sum_of_heads and narrow.is_sum_of_heads
        free = size if is_free else 0
        symmetries.append(Between(name=BEHIND_LAYER_NORM, size=size, free=free))
    return _PassedByNorms(layers=passed, symmetries=symmetries)


class _PassedByNorms(NamedTuple):
    """Each layer but the last, as far as its outputs pass the next norm, and the symmetries that
    change only what these norms take away.
    """

    layers: list[AnalysedLayer]
    symmetries: list[Between]


def _additions_in_words(layers: Sequence[AnalysedLayer]) -> str:
    """Return what layers have in addition to matrices of their own heads, as the end of a name:
    ``, with biases or norms``.

    At least one of the layers has such an addition: only then a network is analysed here.
    """
    kinds = []
    # Biases and norms change the coordinates of the tokens that heads see. The norm is before all
    # heads of a layer, and a bias has entries for all of them: so the first head shows it.
    changes_coordinates = any(layer.shapes[0].coordinates is not None for layer in layers)
    if changes_coordinates or not all(layer.around.is_empty for layer in layers):
        kinds.append("biases or norms")
    if any(layer.around.sharing > 1 for layer in layers):
        kinds.append("keys and values that heads share")
    if any(layer.around.rotary for layer in layers):
        kinds.append("rotary positions")
    return f", with {' and '.join(kinds)}"


def _with_symmetries(
    layers: Sequence[AnalysedLayer], between: Sequence[Between], dimension: Bounds, why: str
) -> Symmetries:
    """Return the symmetries of the network, those of its layers and those ``between`` them,
    compared with its redundant directions.

    ``dimension`` is the dimension of the functions of the network, and ``why`` the reason for which
    ranks are not computed; it may be empty.
    """
    named: Counter[str] = Counter()
    finite: list[FiniteGroup] = []
    # Bounds for the dimension of an orbit of all symmetries: first those of the layers alone.
    least = 0
    for layer in layers:
        sharing, rotary = layer.around.sharing, layer.around.rotary
        finite += finite_symmetries(layer.shapes, sharing=sharing, rotary=rotary)
        named.update(dict(layer.alone.symmetries.named))
        # Of one layer this dimension is known, so that its upper bound is the dimension.
        least += layer.alone.symmetries.listed.value
    most = least
    for symmetry in between:
        named[symmetry.name] += symmetry.size
        least += symmetry.free
        most += symmetry.size
    return Symmetries(
        parameters=sum(layer.alone.parameters for layer in layers),
        dimension=dimension,
        named=nonzero_directions(named),
        listed=Bounds(least, most),
        finite=products(finite),
        why=why,
    )


def _symmetries_between(
    layers: Sequence[AnalysedLayer], passed: Sequence[AnalysedLayer], options: AnalysisOptions
) -> Iterator[Between]:
    """Yield the symmetries between layers: changes of base or rotations, and translations.

    ``passed`` are the layers but the last one, with one output less where a LayerNorm follows that
    takes the mean away.

    Before a layer without norm, the group is GL(d), and before one with a norm whose matrices can
    undo linear maps it is O(d), which preserves norms. An element changes the function of the layer
    before it unless it is the identity on the span of the outputs of this layer: that gives the
    dimension ``free`` of orbits. Translations always act freely.
    """
    # A skip connection is the identity, which a change of base of one layer would not preserve.
    if not options.skip:
        for layer, after in zip(passed, layers[1:], strict=True):
            yield from _base_changes_before(after, layer.outputs, layer.dimension_of_span())
    translations = _translations(layers, passed, options)
    if translations is not None:
        yield translations


def _base_changes_before(after: AnalysedLayer, d: int, span_dimension: int) -> Iterator[Between]:
    """Yield the group of changes of base, or rotations, of tokens that enter a layer, if it is a
    symmetry of this layer, ``after``, and the one before it.

    ``d`` is the number of entries of these tokens, the outputs of the layer before, and
    ``span_dimension`` a lower bound for the dimension s of the space that they span.
    """
    # The elements that are the identity on the span have the dimension d·(d − s) in GL(d), and are
    # O(d − s) in O(d).
    if not after.around.norm:
        yield Between(name=f"GL({d}) between layers", size=d * d, free=d * span_dimension)
    elif d > 1 and after.around.absorbs_linear_maps:
        size = _rotations(d)
        free = size - _rotations(d - span_dimension)
        yield Between(name=f"O({d}) between a layer and the next norm", size=size, free=free)


def _translations(
    layers: Sequence[AnalysedLayer], passed: Sequence[AnalysedLayer], options: AnalysisOptions
) -> Between | None:
    """Return the translations of the tokens between layers that change nothing; ``None`` if there
    are none. ``passed`` are the layers but the last one, as far as they pass the next norm.
    """
    # A translation of tokens is a change of the output bias of the layer before them: without these
    # biases there is none.
    if not all(layer.around.output_bias > 0 for layer in layers):
        return None
    has_norms = any(layer.around.norm for layer in layers)
    # Without norms the biases of the next layer undo a translation.
    if not has_norms and all(layer.has_biases for layer in layers[1:]):
        size = sum(layer.outputs for layer in passed)
        name = "translations of tokens between layers, by biases"
        return Between(name=name, size=size, free=size, by_biases=True)
    # With skip connections all norms take away what is added along (1, …, 1), one direction for
    # each layer but the last.
    if options.skip and all(layer.around.norm == LAYER_NORM for layer in layers):
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
    """Return the ranks of the differential of the network: lower bounds at the weights and at
    random ones, an upper bound at the weights, and ``method``, how they were computed; or
    ``method`` alone, why they are not computed.

    ``acting`` are the symmetries between layers, and ``most`` is an upper bound for the rank at any
    weights.
    """
    reason = _why_not_differentiated(layers)
    if reason:
        return DifferentialRanks(method=reason)
    try:
        check_few_parameters(sum(layer.alone.parameters for layer in layers))
        # an upper bound for the rank at these weights, ``None`` if none is known
        most_at_weights = _most_rank(layers, acting, options)
        found = differential_ranks(
            list(map(_affine_layer, layers)),
            skip=options.skip,
            softmax=options.softmax,
            most=most,
            most_at_weights=most if most_at_weights is None else min(most, most_at_weights),
        )
    except (TimeLimitError, TooLargeError) as limit:
        return DifferentialRanks(method=str(limit))
    # This raises ContradictionError if the lower bound exceeds the upper one.
    intersect_bounds(
        Bounds.at_least(found.at_weights, found.method),
        Bounds.at_most(most_at_weights, "the ranks of the heads"),
    )
    return DifferentialRanks(
        at_weights=found.at_weights,
        most_at_weights=most_at_weights,
        at_random=found.at_random,
        method=found.method,
    )


def _why_not_differentiated(layers: Sequence[AnalysedLayer]) -> str:
    """Return why ranks of these layers are not computed, whatever the time; empty if they are."""
    if any("A" in layer.tensors.parts for layer in layers):
        return "ranks of several layers with biases or norms need K and Q, not A"
    if any(layer.around.rotary for layer in layers):
        return "ranks of several layers with rotary positions are not computed"
    return ""


def _affine_layer(layer: AnalysedLayer) -> AffineLayer:
    """Return the layer as it is differentiated: with its entries as fractions, and with biases as
    the last columns of K, Q and V.
    """
    options = layer.options
    heads = list(layer.tensors.heads(layer.number, options.heads))
    # All heads of a layer have the same norm and output bias.
    first = heads[0]
    norm = norm_before(first, options.norm)
    kind, gamma, beta = "", None, None
    if norm is not None:
        kind, gamma = norm.kind, norm.gamma
        beta = norm.beta if options.biases else None
    return AffineLayer(
        width=layer.shapes[0].width,
        heads=tuple(_rows_by_letter(head, options) for head in heads),
        output_bias=_fractions(first.O_bias if options.biases else None),
        norm=kind,
        gamma=_fractions(gamma),
        beta=_fractions(beta),
        sharing=layer.around.sharing,
        epsilon=options.epsilon,
    )


def _fractions(array: Any) -> tuple[Any, ...]:
    """Return the entries of a vector as fractions; none if it is ``None``."""
    return () if array is None else tuple(as_fractions(array).tolist())


def _rows_by_letter(head: HeadArrays, options: AnalysisOptions) -> dict[str, list[list[Any]]]:
    """Return the rows of the matrices of a head by their letters, as lists of fractions; biases, if
    they count, are the last columns of K, Q and V.
    """
    biases = head.biases if options.biases else {}
    found = {}
    for letter, matrix in head.matrices.items():
        bias = biases.get(letter)
        # In lightning attention a missing bias is a zero one: K, Q and V act on tokens (x, 1).
        if bias is None and biases and letter in "KQV" and not options.softmax:
            bias = numpy.zeros(len(matrix))
        columns = as_fractions(matrix)
        if bias is not None:
            columns = numpy.column_stack([columns, as_fractions(bias)])
        found[letter] = columns.tolist()
    return found


def _most_rank(
    layers: Sequence[AnalysedLayer], acting: Sequence[Between], options: AnalysisOptions
) -> int | None:
    """Return an upper bound for the rank of the differential of the network at these weights, by
    upper bounds for its heads, each alone; ``None`` if one of these is not known.

    It is the sum over the layers, less the dimension of the symmetries between them. ``acting`` are
    these symmetries.
    """
    most = 0
    # ``after`` is ``None`` for the last layer.
    for layer, after in zip_longest(layers, layers[1:]):
        of_heads = _most_rank_of_heads(layer)
        if of_heads is None:
            return None
        # These directions change the functions of the heads, and not that of the network.
        moved = 0
        if after is not None and not options.skip:
            moved = _moved_directions(layer, after)
        of_layer = of_heads - moved
        # What is known of the layer as a whole may be less than the sum over its heads.
        of_whole_layer = layer.alone.most_rank
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


def _most_rank_of_heads(layer: AnalysedLayer) -> int | None:
    """Return an upper bound for the rank of the differential of a layer alone: the sum over its
    heads, also where these share parameters, and the entries of the constant, if it adds one;
    ``None`` if the bound of a head is not known.
    """
    of_heads = sum_or_none(head.most_rank for head in layer.heads)
    if of_heads is None or not layer.alone.constant:
        return of_heads
    return of_heads + layer.outputs


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
      translations O + 1·uᵀ; and one for the output bias, whose mean does not pass.
    """
    if not after.around.norm:
        return layer.outputs * _moved_outputs(layer, modulo_mean=False).span_dimension
    takes_mean_away = after.around.norm == LAYER_NORM
    outputs = _moved_outputs(layer, modulo_mean=takes_mean_away)
    d = layer.outputs
    moved = 0
    if takes_mean_away:
        d -= 1
        # One direction of the output bias, if there is one: its mean does not pass.
        moved = outputs.translations + (layer.around.output_bias > 0)
    if after.around.absorbs_linear_maps:
        moved += _rotations(d) - _rotations(d - outputs.span_dimension)
    return moved


class _MovedOutputs(NamedTuple):
    """What changes of base and translations of the outputs of a layer move at its weights.

    ``span_dimension`` is that of the space that the columns of all OV span; ``translations`` is the
    number of directions O + 1·uᵀ, or V + 1·uᵀ without O, in which some OV changes.
    """

    span_dimension: int
    translations: int


def _moved_outputs(layer: AnalysedLayer, *, modulo_mean: bool) -> _MovedOutputs:
    """Return what symmetries of the outputs of a layer move at its weights, by ranks modulo the
    prime. With ``modulo_mean`` the columns of OV span a space of outputs modulo (1, …, 1).

    The heads of lightning attention with A = 0 are left out: they are zero, whatever V is.
    """
    columns: list[Any] = []
    translations = 0
    for head in layer.options.reduced_heads(layer.number, layer.tensors):
        matrices = residues_of(head)
        if not layer.options.softmax and not _product_A(matrices).rank():
            continue
        translations += _dimension_of_translations(matrices)
        values = matrices["O"] * matrices["V"] if "O" in matrices else matrices["V"]
        if modulo_mean:
            # Outputs modulo (1, …, 1) are their differences to the last one.
            values = without_last_row(values)
        columns += values.transpose().table()
    span_dimension = rank_mod(columns, LARGE_PRIME) if columns else 0
    return _MovedOutputs(span_dimension=span_dimension, translations=translations)


def _dimension_of_translations(matrices: Mapping[str, Any]) -> int:
    """Return the dimension of the changes of OV by 1·uᵀV, for all O + 1·uᵀ, or without O of the
    changes of V by 1·uᵀ. ``matrices`` are those of a head modulo the prime, by their letters.
    """
    # 1·uᵀ has any uᵀ, and 1·uᵀV those in the space of the rows of V.
    if "O" in matrices:
        return int(matrices["V"].rank())
    return int(matrices["V"].ncols())


def _product_A(matrices: Mapping[str, Any]) -> Any:
    """Return A, or KᵀQ, modulo the prime; ``matrices`` are those of a head by their letters."""
    if "A" in matrices:
        return matrices["A"]
    return matrices["K"].transpose() * matrices["Q"]

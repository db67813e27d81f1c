"""The layers of a file, their heads, and the network of them: which method applies to which.

Every result on a layer or a network is a ``NetworkAtWeights``; one of which nothing is known is
left out, or ``None``. Weights are read layer by layer, whenever matrices are needed, as all of them
may not fit into memory.

``layers`` are the tensors of the layers of the file, with the numbers 1, 2, …; ``results`` are
those on their heads, and ``by_layer`` has, by the number of a layer, what is known of it without
the others. ``options`` say how layers are read, as whether there is softmax, and whether biases
count. *Reduced* heads have their matrices K, Q, V, A, O on the coordinates of tokens that they see.
A head ``is_outside`` if its A has a larger rank than the model allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

from m2bridge.errors import InvalidCaseError, TimeLimitError
from m2bridge.limits import with_progress
from m2bridge.results.sheet import plural
from m2bridge.trained_weights.checkpoints.names import are_named_alike
from m2bridge.trained_weights.checkpoints.tensors import LayerTensors
from m2bridge.trained_weights.heads.findings import HeadWeights
from m2bridge.trained_weights.heads.ranks import residues_of, sum_or_none, without_last_row
from m2bridge.trained_weights.heads.shape import HeadShape
from m2bridge.trained_weights.heads.token_space import ReducedHead
from m2bridge.trained_weights.networks.at_weights import NetworkAtWeights
from m2bridge.trained_weights.networks.network import network_at_weights
from m2bridge.trained_weights.networks.network_with_norms import AnalysedLayer, layers_in_a_row
from m2bridge.trained_weights.networks.one_layer import (
    enclosed_layer,
    heads_side_by_side,
    is_affine_softmax,
    is_enclosed,
    layer_of_separate_heads,
    layer_without_weights,
    rank_of_softmax_layer,
    softmax_layer,
)
from m2bridge.trained_weights.networks.symmetries import (
    ExtraParameters,
    FiniteGroup,
    LayerThenNorm,
    finite_symmetries,
    products,
)
from m2bridge.trained_weights.networks.traits import (
    AnalysisOptions,
    LayerTraits,
    network_model,
    without_mean,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadResults:
    """The results on heads, and the traits of their layers."""

    heads: list[HeadWeights]  # layer by layer
    traits: dict[int, LayerTraits]  # by the number of the layer
    unfinished: str  # why heads are missing, or that the ranks of some are not proved; else empty

    def of_layer(self, number: int) -> list[HeadWeights]:
        """Return the heads of the layer with this number."""
        return [head for head in self.heads if head.layer == number]

    def shapes(self, number: int) -> list[HeadShape]:
        """Return the sizes of the heads of the layer with this number."""
        return [head.shape for head in self.of_layer(number)]


def find_heads(
    layers: Sequence[LayerTensors], options: AnalysisOptions, a: int | None, tolerance: float | None
) -> HeadResults:
    """Return the results on all heads, or on those for which the time suffices.

    ``a`` is the largest rank of A, where A is given; ``tolerance`` is for effective ranks.
    InvalidCaseError if ``a`` is not a positive number, or is given though K and Q are;
    TimeLimitError if the time does not suffice for a single head.
    """
    all_have_A = all("A" in layer.parts for layer in layers)
    if a is not None and (a < 1 or not all_have_A):
        raise InvalidCaseError(
            "a", "is for weights A, a number from 1 on; of K and Q it is the number of rows"
        )
    results: list[HeadWeights] = []
    traits: dict[int, LayerTraits] = {}
    unfinished = ""
    head_count = sum(layer.head_count(options.heads) for layer in layers)
    # An iterator of iterators: a layer is read when its first head is asked for.
    heads_by_layer = (layer.heads(number, options.heads) for number, layer in enumerate(layers, 1))
    all_heads = chain.from_iterable(heads_by_layer)
    try:
        for head in with_progress(all_heads, head_count, "heads"):
            if head.layer not in traits:
                traits[head.layer] = LayerTraits.of(head, options)
            result = HeadWeights.of(
                options.reduced(head),
                a=a,
                softmax=options.softmax,
                tolerance=tolerance,
                read=partial(_read_head, layers, options, head.layer, head.head),
            )
            results.append(result)
        not_proved = sum(not head.ranks.proved for head in results)
        if not_proved:
            unfinished = f"the ranks of {plural(not_proved, 'head')} are not proved"
    except TimeLimitError as limit:
        if not results:
            raise
        unfinished = str(limit)
    return HeadResults(heads=results, traits=traits, unfinished=unfinished)


def _read_head(
    layers: Sequence[LayerTensors], options: AnalysisOptions, layer: int, number: int
) -> ReducedHead:
    """Return the head with this number of a layer, read again."""
    heads = layers[layer - 1].heads(layer, options.heads)
    return options.reduced(next(head for head in heads if head.head == number))


def analyse_layers(
    layers: Sequence[LayerTensors], results: HeadResults, options: AnalysisOptions
) -> Iterator[tuple[int, NetworkAtWeights]]:
    """Yield the number of each layer, and what is known of it alone. Layers are left out if their
    heads differ in shape, or an A has a larger rank than the model allows.
    """
    for number, layer in enumerate(layers, 1):
        heads = results.of_layer(number)
        if len(set(results.shapes(number))) == 1 and not any(head.is_outside for head in heads):
            yield number, _analyse_layer(number, layer, results, options)


def _analyse_layer(
    number: int, layer: LayerTensors, results: HeadResults, options: AnalysisOptions
) -> NetworkAtWeights:
    """Return what is known of the layer with this number, without the others."""
    heads, traits = results.of_layer(number), results.traits[number]
    shapes = results.shapes(number)
    if not _are_added(layer, shapes):
        return heads_side_by_side(shapes, traits)
    is_affine = is_affine_softmax(shapes[0], traits)
    if is_affine or is_enclosed(shapes[0], traits):
        reduced = list(options.reduced_heads(number, layer))
        if is_affine:
            return softmax_layer(shapes, traits, rank_of_softmax_layer(heads, reduced, traits))
        return enclosed_layer(heads, reduced, traits)
    # A skip connection around one layer adds a fixed function, which changes nothing of this.
    if _is_differentiated(shapes):
        return _analyse_network({number: layer}, results, replace(options, skip=False))
    return layer_of_separate_heads(shapes, options, _extra_parameters([number], results))


def find_behind_norms(
    layers: Sequence[LayerTensors],
    results: HeadResults,
    options: AnalysisOptions,
    by_layer: dict[int, NetworkAtWeights],
) -> Iterator[tuple[int, LayerThenNorm]]:
    """Yield the number of each layer before a LayerNorm, and what is known of layer and norm
    together: it subtracts the mean of the outputs, so they have the functions of a layer with one
    output less; both dimensions are needed.
    """
    for number, own in by_layer.items():
        traits = results.traits[number]
        first = results.shapes(number)[0]
        # Left out are layers without such a norm, those of which nothing would be left, and those
        # whose outputs are concatenated and not added.
        if not traits.hides_mean or own.symmetries.side_by_side or first.d_out == 1:
            continue
        # Of lightning attention with shared or rotated keys, or that lacks biases, no ranks are
        # computed without mean.
        if is_enclosed(first, traits) and not first.softmax:
            continue
        without = _dimension_without_mean(layers[number - 1], number, results, options)
        dimension = own.dimension.exact
        if dimension is not None and without is not None:
            yield number, LayerThenNorm.of(dimension, without, traits.output_bias > 0)


def _dimension_without_mean(
    layer: LayerTensors, number: int, results: HeadResults, options: AnalysisOptions
) -> int | None:
    """Return the dimension of the functions of the layer whose outputs are the differences of the
    other outputs to the last one, which is all that LayerNorm sees.
    """
    shapes, traits = without_mean(results.shapes(number), results.traits[number])
    known = layer_without_weights(shapes, traits, options).dimension
    # Of softmax with biases or shared keys no rank adds anything.
    if is_affine_softmax(shapes[0], traits):
        return known.exact

    def matrices(letters: str) -> Iterator[list[dict[str, Any]]]:
        """Yield, for the one layer, the matrices of its heads with these letters, without mean."""
        heads = []
        for head in options.reduced_heads(number, layer):
            found = residues_of(head, letters)
            # The matrix whose rows are the outputs.
            letter = "O" if "O" in head.matrices else "V"
            if letter in found:
                found[letter] = without_last_row(found[letter])
            heads.append(found)
        yield heads

    if known.exact is None and _has_few_parameters(shapes):
        # The rank of the differential may be a better lower bound.
        network = network_at_weights(
            network_model([shapes], replace(options, skip=False)),
            [shapes],
            # Without ranks of the heads without mean it is not known whether they are regular.
            regular=False,
            matrices=matrices,
            extra=traits.extra_parameters(),
        )
        known = network.dimension
    return known.exact


def _are_added(layer: LayerTensors, shapes: Sequence[HeadShape]) -> bool:
    """Return whether the outputs of the heads are added, and not concatenated; True for one head,
    for which both are the same.

    They are added if there is an output matrix, or if V is an array with the heads as its first
    index, of which each head has all outputs. A matrix V without output matrix has the rows of all
    heads, each of which has some of the outputs.
    """
    has_output_matrix = shapes[0].v is not None
    V_has_index_of_heads = len(layer.parts["V"].shape) == 3
    return len(shapes) == 1 or has_output_matrix or V_has_index_of_heads


def find_network(
    layers: Sequence[LayerTensors],
    results: HeadResults,
    options: AnalysisOptions,
    by_layer: dict[int, NetworkAtWeights],
) -> NetworkAtWeights | None:
    """Return what is known of the network at its weights; ``None`` if the layers form no network,
    or nothing is known of one of them.
    """
    shapes = [results.shapes(number) for number in range(1, len(layers) + 1)]
    if any(head.is_outside for head in results.heads) or not _form_network(layers, shapes):
        return None
    if len(layers) == 1:
        return _network_of_one_layer(layers[0], results, options, by_layer.get(1))
    # By biases or norms a layer is no longer one of its matrices alone.
    all_traits = results.traits.values()
    is_plain = all(layer[0].coordinates is None for layer in shapes)
    is_plain &= all(traits.is_empty and not traits.is_grouped for traits in all_traits)
    if is_plain:
        return _analyse_network(dict(enumerate(layers, 1)), results, options)
    # What is known of the network is found by what is known of each layer.
    if len(by_layer) < len(layers):
        return None
    analysed_layers = [
        AnalysedLayer(
            number=number,
            tensors=layer,
            heads=results.of_layer(number),
            traits=results.traits[number],
            result=by_layer[number],
            options=options,
        )
        for number, layer in enumerate(layers, 1)
    ]
    return layers_in_a_row(analysed_layers, options)


def _network_of_one_layer(
    layer: LayerTensors,
    results: HeadResults,
    options: AnalysisOptions,
    known: NetworkAtWeights | None,
) -> NetworkAtWeights | None:
    """Return what is known of the network that one layer is, perhaps with a skip connection around
    it; ``known`` is what is known of the layer, by theorems or by its rank.
    """
    shapes, traits = results.shapes(1), results.traits[1]
    has_biases_or_norms = shapes[0].coordinates is not None or not traits.is_empty
    if is_enclosed(shapes[0], traits) and known is not None:
        # A network without biases and norms has a model, ``DeepAttention``, which JSON shows.
        if has_biases_or_norms:
            return known
        return replace(known, model=network_model([shapes], options))
    if has_biases_or_norms and is_affine_softmax(shapes[0], traits):
        return known
    # A skip connection around one layer with biases or a norm changes nothing of what is known.
    skip = options.skip and not has_biases_or_norms
    if not skip and known is not None and _is_differentiated(shapes):
        # The rank of the layer was computed by the method for networks.
        return known
    return _analyse_network({1: layer}, results, replace(options, skip=skip))


def _form_network(layers: Sequence[LayerTensors], shapes: Sequence[Sequence[HeadShape]]) -> bool:
    """Return whether layers follow one another: the outputs of each, which are the sums over its
    heads, are tokens of the next, all have as many heads, and names differ in numbers only.
    """
    # The numbers of entries of the tokens before each layer.
    widths = [shapes[0][0].width, *(layer[0].d_out for layer in shapes[:-1])]
    for width, layer in zip(widths, shapes, strict=True):
        if any(shape.width != width for shape in layer):
            return False
    have_as_many_heads = len({len(layer) for layer in shapes}) == 1
    # Layers whose names differ in numbers only have an output matrix if the first one has.
    return have_as_many_heads and are_named_alike(layers) and _are_added(layers[0], shapes[0])


def _is_differentiated(shapes: Sequence[HeadShape]) -> bool:
    """Return whether a layer has several heads, and few enough parameters for its Jacobian matrix;
    of one head a theorem says more.
    """
    return len(shapes) > 1 and _has_few_parameters(shapes)


def _has_few_parameters(shapes: Sequence[HeadShape]) -> bool:
    """Return whether a layer can be differentiated at its weights in about a second."""
    return sum(shape.parameters for shape in shapes) <= 400


def _analyse_network(
    layers: dict[int, LayerTensors], results: HeadResults, options: AnalysisOptions
) -> NetworkAtWeights:
    """Return what is known at its weights of the network of these layers, which ``layers`` has by
    their numbers: several layers without biases and norms, or one with its norm and output bias.
    """
    heads = [head for number in layers for head in results.of_layer(number)]
    shapes = [results.shapes(number) for number in layers]

    def matrices(letters: str) -> Iterator[list[dict[str, Any]]]:
        """Yield for each layer the matrices of each head with these letters, modulo the prime."""
        for number, layer in layers.items():
            yield [residues_of(head, letters) for head in options.reduced_heads(number, layer)]

    # A layer that is zero has zero derivatives with respect to tokens, so that changes of the
    # layers before it do not change the outputs; and the layers after it get the token 0, which
    # they map to 0. So only changes of this layer count, and without skip connections the rank is
    # at most the sum of the ranks of its heads.
    bounds_by_zero_layers = []
    for number in layers:
        own = results.of_layer(number)
        rank_of_layer = sum_or_none(head.most_rank for head in own)
        if rank_of_layer is not None and all(head.is_zero for head in own):
            bounds_by_zero_layers.append(rank_of_layer)
    return network_at_weights(
        network_model(shapes, options),
        shapes,
        regular=all(head.regular for head in heads),
        matrices=matrices,
        # The functions of all heads determine the function of the network: their ranks bound its
        # rank.
        most_rank=sum_or_none(head.most_rank for head in heads),
        most_rank_with_zero_layer=min(bounds_by_zero_layers, default=None),
        extra=_extra_parameters(list(layers), results),
    )


def _extra_parameters(numbers: Sequence[int], results: HeadResults) -> ExtraParameters:
    """Return what the layers with these numbers have in addition to their heads, and their finite
    symmetries. Several layers have nothing here: those with biases or norms are treated in
    ``network_with_norms``.
    """
    groups: list[FiniteGroup] = []
    for number in numbers:
        groups += finite_symmetries(results.shapes(number))
    finite = products(groups)
    if len(numbers) > 1:
        return ExtraParameters(finite=finite)
    return results.traits[numbers[0]].extra_parameters(finite)

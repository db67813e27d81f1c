"""The layers of a file, their heads, and the network of them: which method applies to which.

Every result on a layer or a network is a ``NetworkAtWeights``. Weights are read layer by layer,
whenever matrices are needed, as all of them may not fit into memory.

``layers`` are the tensors of the layers of the file, with the numbers 1, 2, …. ``found`` has the
results on their heads, such as sizes (``shape``) and ranks; and, by the number of a layer, what is
``around`` its heads: norms and output bias. ``alone`` has, by the number of a layer, what is known
of it without the others. ``options`` say how layers are read, as whether there is softmax, and
whether biases count. *Reduced* heads have their matrices K, Q, V, A, O on the coordinates of
tokens that they see; *residues* are those modulo a prime. A head ``is_outside`` if its A has a
larger rank than the model allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from random import Random
from typing import Any

import flint

from m2bridge.algebra.linear_algebra import rank_mod
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.errors import InvalidCaseError, TimeLimitError
from m2bridge.limits import with_progress
from m2bridge.results.known import Bounds
from m2bridge.results.sheet import plural
from m2bridge.trained_weights.checkpoints.names import are_named_alike
from m2bridge.trained_weights.checkpoints.tensors import LayerTensors
from m2bridge.trained_weights.heads.findings import HeadWeights, sum_or_none
from m2bridge.trained_weights.heads.ranks import HeadShape, residues_of, without_last_row
from m2bridge.trained_weights.heads.reduced_head import ReducedHead
from m2bridge.trained_weights.networks.at_weights import NetworkAtWeights
from m2bridge.trained_weights.networks.grouped_layer import grouped_layer, layer_without_weights
from m2bridge.trained_weights.networks.groups import ExtraParameters, FiniteGroup, products
from m2bridge.trained_weights.networks.network import at_weights
from m2bridge.trained_weights.networks.network_with_norms import AnalysedLayer, layers_in_a_row
from m2bridge.trained_weights.networks.separate_heads import bilinear_form
from m2bridge.trained_weights.networks.shared_keys import ranks_of_groups
from m2bridge.trained_weights.networks.softmax import (
    SoftmaxWeights,
    constants_at_weights,
    is_affine_softmax,
    softmax_layer,
)
from m2bridge.trained_weights.networks.symmetries import (
    AnalysisOptions,
    LayerThenNorm,
    NormAndOutputBias,
    finite_symmetries,
    head_groups,
    heads_side_by_side,
    network_model,
    symmetries_of_layer,
    without_mean,
)

_MAX_LAYER_PARAMETERS = 400
"""A layer among others with at most these parameters is differentiated at its weights: a second."""
_SPARE_ROWS = 8
"""Random tokens beyond the number of heads, at which quadratic forms are evaluated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysedHeads:
    """The results on heads, and the norms and output biases of their layers.

    Parameters
    ----------
    heads : list of HeadWeights
        In their order, layer by layer.
    around : dict
        What a layer has in addition to the matrices of its heads, by its number from 1 on.
    unfinished : str
        Why heads are missing, or that the ranks of some are not proved; else empty.
    """

    heads: list[HeadWeights]
    around: dict[int, NormAndOutputBias]
    unfinished: str

    def of_layer(self, number: int) -> list[HeadWeights]:
        """Return the heads of the layer with this number, from 1 on."""
        return [head for head in self.heads if head.layer == number]


def find_heads(
    layers: Sequence[LayerTensors], options: AnalysisOptions, a: int | None, tolerance: float | None
) -> AnalysedHeads:
    """Return the results on all heads, or on those for which the time suffices; with why others are
    missing, or ranks are not proved.

    Parameters
    ----------
    layers : sequence of LayerTensors
        The layers in their order, which have the numbers 1, 2, ….
    options : AnalysisOptions
    a : int or None
        The largest rank of A, where A is given.
    tolerance : float or None
        For effective ranks; ``None`` for the precision of the stored type.

    Raises
    ------
    InvalidCaseError
        If ``a`` is not a positive number, or is given though K and Q are.
    TimeLimitError
        If the time does not suffice for a single head.
    """
    _check_largest_rank(a, layers)
    results: list[HeadWeights] = []
    around_layers: dict[int, NormAndOutputBias] = {}
    head_count = sum(layer.head_count(options.heads) for layer in layers)
    # An iterator of iterators: a layer is read when its first head is asked for.
    heads_by_layer = (layer.heads(number, options.heads) for number, layer in enumerate(layers, 1))
    all_heads = chain.from_iterable(heads_by_layer)
    try:
        for head in with_progress(all_heads, head_count, "heads"):
            # Each head of a layer has the norm and the output bias of the layer.
            if head.layer not in around_layers:
                around_layers[head.layer] = NormAndOutputBias.of(head, options)
            reduced = options.reduced(head)
            results.append(HeadWeights.of(reduced, a, options.softmax, tolerance))
    except TimeLimitError as limit:
        if not results:
            raise
        return AnalysedHeads(heads=results, around=around_layers, unfinished=str(limit))
    not_proved = sum(not head.ranks.proved for head in results)
    unfinished = f"the ranks of {plural(not_proved, 'head')} are not proved" if not_proved else ""
    return AnalysedHeads(heads=results, around=around_layers, unfinished=unfinished)


def _check_largest_rank(a: int | None, layers: Sequence[LayerTensors]) -> None:
    """Raise an InvalidCaseError if ``a``, the largest rank of A, is not a positive number, or is
    given though a layer has K and Q, which show it; ``None``, for one that is not given, passes.
    """
    all_have_A = all("A" in layer.parts for layer in layers)
    if a is not None and (a < 1 or not all_have_A):
        raise InvalidCaseError(
            "a", "is for weights A, a number from 1 on; of K and Q it is the number of rows"
        )


def analyse_layers(
    layers: Sequence[LayerTensors], found: AnalysedHeads, options: AnalysisOptions
) -> Iterator[tuple[int, NetworkAtWeights]]:
    """Yield the number of each layer, and what is known of it alone. Layers are left out if their
    heads differ in shape, or an A has a larger rank than the model allows.
    """
    for number, layer in enumerate(layers, 1):
        heads = found.of_layer(number)
        shapes = {head.shape for head in heads}
        if len(shapes) == 1 and not any(head.is_outside for head in heads):
            yield number, _analyse_layer(number, layer, found, options)


def _analyse_layer(
    number: int, layer: LayerTensors, found: AnalysedHeads, options: AnalysisOptions
) -> NetworkAtWeights:
    """Return what is known of the layer with this number, without the others, by the method that
    applies to it: by theorems where outputs of heads are concatenated, and for softmax with biases,
    shared or rotated keys; else by the rank of the differential where the layer is small enough, or
    by bounds that need no weights.
    """
    heads, around = found.of_layer(number), found.around[number]
    shapes = [head.shape for head in heads]
    if not _are_added(layer, shapes):
        return heads_side_by_side(shapes, around)
    if is_affine_softmax(shapes[0], around):
        reduced = list(options.reduced_heads(number, layer))
        at_weights = SoftmaxWeights(
            independent=_are_separate(heads, reduced),
            products=_rank_of_products(heads, reduced, around),
            constants=constants_at_weights(reduced, shapes, around),
        )
        return softmax_layer(shapes, around, at_weights)
    if around.is_grouped:
        return grouped_layer(heads, list(options.reduced_heads(number, layer)), around)
    # A skip connection around one layer adds a fixed function, which changes nothing of this.
    if _is_differentiated(shapes):
        return _analyse_network({number: layer}, found, replace(options, skip=False))
    return symmetries_of_layer(shapes, options, _extra_parameters([number], found))


def find_behind_norms(
    layers: Sequence[LayerTensors],
    found: AnalysedHeads,
    options: AnalysisOptions,
    alone: dict[int, NetworkAtWeights],
) -> Iterator[tuple[int, LayerThenNorm]]:
    """Yield the number of each layer before a LayerNorm, and what is known of layer and norm
    together; layers of which that is not known are left out.

    LayerNorm subtracts the mean of the outputs, so a layer before it has the functions of a layer
    with one output less; both dimensions are needed. ``alone`` has what is known of each layer by
    its number.
    """
    for number, own in alone.items():
        around = found.around[number]
        shapes = [head.shape for head in found.of_layer(number)]
        first = shapes[0]
        # Left out are layers without such a norm, those of which nothing would be left, and those
        # whose outputs are concatenated and not added.
        if not around.hides_mean or own.symmetries.side_by_side or first.d_out == 1:
            continue
        # Of lightning attention with shared or rotated keys no ranks are computed without mean.
        if around.is_grouped and not first.softmax:
            continue
        without = _dimension_without_mean(layers[number - 1], number, found, options)
        dimension = own.dimension.exact
        if dimension is not None and without is not None:
            has_output_bias = around.output_bias > 0
            yield number, LayerThenNorm.of(dimension, without, has_output_bias)


def _dimension_without_mean(
    layer: LayerTensors, number: int, found: AnalysedHeads, options: AnalysisOptions
) -> int | None:
    """Return the dimension of the functions of the layer whose outputs are the differences of the
    other outputs to the last one, which is all that LayerNorm sees; ``None`` if it is not known.
    """
    given = [head.shape for head in found.of_layer(number)]
    shapes, around = without_mean(given, found.around[number])
    known = layer_without_weights(shapes, around, options).dimension
    # Of softmax with biases or shared keys no rank adds anything.
    if is_affine_softmax(shapes[0], around):
        return known.exact

    def matrices(letters: str) -> Iterator[list[dict[str, Any]]]:
        """Yield, for the one layer, the matrices of its heads with these letters, without mean."""
        yield _matrices_without_mean(layer, number, options, letters)

    is_small = sum(shape.parameters for shape in shapes) <= _MAX_LAYER_PARAMETERS
    if known.exact is None and is_small:
        # The rank of the differential may be a better lower bound.
        network = at_weights(
            network_model([shapes], replace(options, skip=False)),
            [shapes],
            # Without ranks of the heads without mean it is not known whether they are regular.
            regular=False,
            matrices=matrices,
            extra=around.extra_parameters(),
        )
        known = network.dimension
    return known.exact


def _matrices_without_mean(
    layer: LayerTensors, number: int, options: AnalysisOptions, letters: str
) -> list[dict[str, Any]]:
    """Return for each head of a layer the matrices with these ``letters``, modulo the prime, by
    these letters; with the last row of O, or of V without O, subtracted from its other rows, so
    that outputs are the differences to the last one.
    """
    heads = []
    for head in options.reduced_heads(number, layer):
        matrices = residues_of(head, letters)
        # The matrix whose rows are the outputs.
        letter = "O" if "O" in head.matrices else "V"
        if letter in matrices:
            matrices[letter] = without_last_row(matrices[letter])
        heads.append(matrices)
    return heads


def _are_separate(heads: Sequence[HeadWeights], reduced: Sequence[ReducedHead]) -> bool:
    """Return whether the A of all heads of a layer of softmax are proved to be linearly
    independent, and no V is 0.
    """
    # Where ranks are not proved, s is a lower bound for rk V: if it is positive, V is not 0.
    return all(head.ranks.s > 0 for head in heads) and _are_independent(reduced)


def _rank_of_products(
    heads: Sequence[HeadWeights], reduced: Sequence[ReducedHead], around: NormAndOutputBias
) -> Bounds:
    """Return bounds for the rank of the differential of the map from the weights of a layer of
    softmax to A and V of all its heads.
    """
    if around.is_grouped:
        shapes = [head.shape for head in heads]
        return ranks_of_groups(head_groups(shapes, around), heads, reduced)
    # Heads that share nothing have weights of their own, so that their ranks are added. A head of
    # softmax determines A and V: the rank for its function is that for A and V.
    return Bounds(
        sum_or_none(head.least_rank for head in heads),
        sum_or_none(head.most_rank for head in heads),
    )


def _are_independent(heads: Sequence[ReducedHead]) -> bool:
    """Return whether the matrices A of all heads are proved to be linearly independent.

    The matrix of the values xᵀAy, with a row for each A and a column for each of some random pairs
    (x, y), has at most the rank of the A; and modulo the prime at most its rank over QQ. So if the
    rank modulo the prime is the number of heads, they are independent.
    """
    random = Random(1)  # the same numbers each time
    # All heads of a layer have matrices of the same sizes.
    first = heads[0].matrices
    # A = KᵀQ has as many rows as K has columns.
    if "A" in first:
        size_of_x, size_of_y = first["A"].shape
    else:
        size_of_x, size_of_y = first["K"].shape[1], first["Q"].shape[1]
    pairs = len(heads) + _SPARE_ROWS
    X = _random_columns(size_of_x, pairs, random)
    Y = _random_columns(size_of_y, pairs, random)
    rows = [bilinear_form(residues_of(head, "KQA"), X, Y) for head in heads]
    return rank_mod(rows, LARGE_PRIME) == len(heads)


def _random_columns(size: int, count: int, random: Random) -> Any:
    """Return ``count`` random vectors modulo the prime, with ``size`` entries, as the columns of a
    matrix of FLINT.
    """
    entries = [random.randrange(LARGE_PRIME) for _ in range(size * count)]
    return flint.nmod_mat(size, count, entries, LARGE_PRIME)


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
    found: AnalysedHeads,
    options: AnalysisOptions,
    alone: dict[int, NetworkAtWeights],
) -> NetworkAtWeights | None:
    """Return what is known of the network at its weights; ``None`` if the layers form no network,
    or nothing is known of one of them.

    ``alone`` has what is known of each layer alone, by its number.
    """
    numbers = range(1, len(layers) + 1)
    shapes = [[head.shape for head in found.of_layer(number)] for number in numbers]
    if any(head.is_outside for head in found.heads) or not _form_network(layers, shapes):
        return None
    if len(layers) == 1:
        return _network_of_one_layer(layers[0], found, options, alone.get(1))
    # By biases or norms a layer is no longer one of its matrices alone.
    has_biases_or_norms = any(layer[0].coordinates is not None for layer in shapes)
    has_biases_or_norms |= not all(around.is_empty for around in found.around.values())
    is_grouped = any(around.is_grouped for around in found.around.values())
    if not (has_biases_or_norms or is_grouped):
        return _analyse_network(dict(enumerate(layers, 1)), found, options)
    # What is known of the network is found by what is known of each layer.
    if len(alone) < len(layers):
        return None
    analysed_layers = [
        AnalysedLayer(
            number=number,
            tensors=layer,
            heads=found.of_layer(number),
            around=found.around[number],
            alone=alone[number],
            options=options,
        )
        for number, layer in enumerate(layers, 1)
    ]
    return layers_in_a_row(analysed_layers, options)


def _network_of_one_layer(
    layer: LayerTensors,
    found: AnalysedHeads,
    options: AnalysisOptions,
    alone: NetworkAtWeights | None,
) -> NetworkAtWeights | None:
    """Return what is known of the network that one layer is, perhaps with a skip connection around
    it; ``None`` if nothing is known.

    ``alone`` is what is known of the layer, by theorems or by its rank; ``None`` if nothing is.
    """
    shapes, around = [head.shape for head in found.of_layer(1)], found.around[1]
    has_biases_or_norms = shapes[0].coordinates is not None or not around.is_empty
    if around.is_grouped and alone is not None:
        # A network without biases and norms has a model, ``DeepAttention``, which JSON shows.
        if has_biases_or_norms:
            return alone
        return replace(alone, model=network_model([shapes], options))
    if has_biases_or_norms and is_affine_softmax(shapes[0], around):
        return alone
    # A skip connection around one layer with biases or a norm changes nothing of what is known.
    skip = options.skip and not has_biases_or_norms
    if not skip and alone is not None and _is_differentiated(shapes):
        # The rank of the layer was computed by the same method as that of a network.
        return alone
    return _analyse_network({1: layer}, found, replace(options, skip=skip))


def _form_network(layers: Sequence[LayerTensors], shapes: Sequence[Sequence[HeadShape]]) -> bool:
    """Return whether layers follow one another: the outputs of each, which are the sums over its
    heads, are tokens of the next, all have as many heads, and names differ in numbers only.

    ``shapes`` has for each layer the sizes of its heads.
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
    return len(shapes) > 1 and sum(shape.parameters for shape in shapes) <= _MAX_LAYER_PARAMETERS


def _analyse_network(
    layers: dict[int, LayerTensors], found: AnalysedHeads, options: AnalysisOptions
) -> NetworkAtWeights:
    """Return what is known at its weights of the network of these layers, which ``layers`` has by
    their numbers: several layers without biases and norms, or one with its norm and output bias.
    """
    heads = [head for number in layers for head in found.of_layer(number)]
    # For each layer the sizes of its heads.
    shapes = [[head.shape for head in found.of_layer(number)] for number in layers]
    # The functions of all heads determine that of the network: their ranks bound its rank.
    rank_of_all_heads = sum_or_none(head.most_rank for head in heads)

    def matrices(letters: str) -> Iterator[list[dict[str, Any]]]:
        """Yield for each layer the matrices of each head with these letters, modulo the prime."""
        for number, layer in layers.items():
            yield [residues_of(head, letters) for head in options.reduced_heads(number, layer)]

    return at_weights(
        network_model(shapes, options),
        shapes,
        regular=all(head.regular for head in heads),
        matrices=matrices,
        most_rank=rank_of_all_heads,
        most_rank_with_zero_layer=_rank_bound_from_zero_layers(list(layers), found),
        extra=_extra_parameters(list(layers), found),
    )


def _rank_bound_from_zero_layers(layer_numbers: Sequence[int], found: AnalysedHeads) -> int | None:
    """Return an upper bound for the rank of the differential of a network without skip connections
    in which some layers are the zero function; ``None`` if no layer with a known bound is.

    Let one layer be zero. Its derivatives with respect to tokens are zero, so that changes of the
    layers before it do not change the outputs; and the layers after it get the token 0, which they
    map to 0. So only changes of this layer count, and the rank is at most the sum of the ranks of
    its heads.
    """
    bounds = []
    for number in layer_numbers:
        heads = found.of_layer(number)
        # for each head an upper bound for the rank of its differential, where one is known
        rank_of_layer = sum_or_none(head.most_rank for head in heads)
        is_zero_layer = all(head.is_zero for head in heads)
        if is_zero_layer and rank_of_layer is not None:
            bounds.append(rank_of_layer)
    return min(bounds, default=None)


def _extra_parameters(numbers: Sequence[int], found: AnalysedHeads) -> ExtraParameters:
    """Return what the layers with these ``numbers`` have in addition to their heads, and their
    finite symmetries. Several layers have nothing here: those with biases or norms are treated in
    ``network_with_norms``.
    """
    groups: list[FiniteGroup] = []
    for number in numbers:
        shapes = [head.shape for head in found.of_layer(number)]
        groups += finite_symmetries(shapes)
    finite = products(groups)
    if len(numbers) > 1:
        return ExtraParameters(finite=finite)
    return found.around[numbers[0]].extra_parameters(finite)

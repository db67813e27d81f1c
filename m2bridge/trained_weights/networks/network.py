"""Networks whose layers are matrices of heads alone: dimension, rank at weights, gauge group.

A single layer may have an output bias. Heads may have an output matrix O, so that their values are
OV of rank at most v. The functions are then among those of the network without such a bound, and
bounds for its dimension hold. Ranks are those of weights modulo a prime, lower bounds for those of
the weights.

Head h of layer k has A = KᵀQ and V (or OV); ``shapes[k][h]`` has its sizes, and β_k, one of
``betas``, is the largest rank that its V (or OV) may have. ``matrices(letters)`` yields for each
layer a list with a dict for each head: those of its matrices with these letters, modulo the prime.
``model`` is the network of heads alone: its widths, its numbers of heads and layers, and whether it
has skip connections and softmax. ``extra`` is what a layer has in addition to its heads: an output
bias, by which constants are added, or γ and β of a norm. A rank is that of the differential of the
map from weights to functions. By Theorem H (docs/deep-attention.md) heads are *separate* under
conditions on sizes, or on ranks at the weights: then the rank attains its upper bound by the ranks
of all A and V.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from math import comb
from random import Random
from typing import Any

from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.errors import TimeLimitError, TooLargeError
from m2bridge.families.deep_attention.bounds import (
    MAX_DIFFERENTIATED_PARAMETERS,
    RANK_POINT_SEED,
    random_residues,
    rank_by_series,
    rank_of_gradients,
)
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.deep_attention.network import (
    NetworkWeights,
    NumberSystem,
    Residues,
    gradients_at,
    random_matrix,
)
from m2bridge.families.deep_attention.shape import THEOREM, base_changes
from m2bridge.families.deep_attention.upper_bounds import act_freely, are_separate, bound_by_ranks
from m2bridge.maps.jacobian_rank import ALMOST_ALL_TOKENS, FROM_TWO_TOKENS
from m2bridge.results.known import Bounds, intersect_bounds
from m2bridge.trained_weights.networks.at_weights import NetworkAtWeights
from m2bridge.trained_weights.networks.differential import AffineLayer, rank_modulo_prime
from m2bridge.trained_weights.networks.groups import ExtraParameters, Symmetries, nonzero_directions
from m2bridge.trained_weights.networks.separate_heads import (
    Matrices,
    MatricesByLetters,
    free_base_changes,
    separate_at_weights,
)

Heads = Sequence[Sequence[Any]]
"""For each layer the sizes of each of its heads, :class:`~.ranks.HeadShape`."""


def symmetries_of(
    model: DeepAttention, shapes: Heads, dimension: Bounds, extra: ExtraParameters
) -> Symmetries:
    """Return the symmetries of a network by name, with bounds for the dimension of their orbits:
    those of its heads, those of ``extra``, and changes of base between layers.

    Parameters
    ----------
    model : DeepAttention
        The network of heads alone: its widths, and whether it has skip connections and softmax.
    shapes : sequence of sequence
        For each layer the sizes of its heads, :class:`HeadShape`.
    dimension : Bounds
        The dimension of the functions of the network, in which ``extra`` is counted already.
    extra : ExtraParameters
        What layers have in addition to heads, and finite symmetries.
    """
    # For each layer the largest rank of V, or of OV.
    betas = [layer[0].beta for layer in shapes]
    named: Counter[str] = Counter()
    for layer in shapes:
        named.update(_symmetries_of_heads(layer))
    named.update(dict(extra.named))
    # The dimension of the orbits of all symmetries so far: without changes of base it is known
    # exactly.
    on_heads = named.total()
    between_layers = _base_changes_by_name(model)
    named.update(between_layers)
    # The dimension of the orbits of these changes of base, as far as it is known.
    free = base_changes(model) if act_freely(model, betas) else 0
    return Symmetries(
        parameters=parameter_count(shapes) + extra.parameters,
        dimension=dimension,
        named=nonzero_directions(named),
        listed=Bounds(on_heads + free, on_heads + between_layers.total()),
        finite=extra.finite,
        # For one layer of softmax it is proved that generic weights have no others.
        complete=model.softmax and model.layers == 1,
    )


def _base_changes_by_name(model: DeepAttention) -> Counter[str]:
    """Return the groups GL(d) of changes of base between layers, with their dimensions by name: one
    for each width d between two layers, and none with skip connections.
    """
    named: Counter[str] = Counter()
    # A skip connection is the identity, which no other base keeps.
    if not model.skip:
        # The widths between layers, without those of inputs and outputs.
        for width in model.widths[1:-1]:
            named[f"GL({width}) between layers"] += width**2
    return named


def _symmetries_of_heads(layer: Sequence[Any]) -> Counter[str]:
    """Return the symmetries of the heads of a layer: by their names the sums of their dimensions
    over all heads. ``layer`` has the sizes of each head, which are equal.

    Where the ranks of A and V are not bounded, an invertible H × H matrix g mixes the H heads
    without a change of Σ_h V_h ⊗ A_h: each V_h becomes Σ_k g_kh V_k, and the inverse of g acts on
    the A_h. Rescalings (λA_h, V_h/λ) are the diagonal matrices g.
    """
    heads, first = len(layer), layer[0]
    are_mixed = heads > 1 and first.can_be_mixed
    named: Counter[str] = Counter()
    for head in layer:
        for name, size in head.redundant(with_rescaling=not are_mixed):
            named[name] += size
    if are_mixed:
        # A matrix g changes no V and no A if g − 1 maps into the relations of the V_h and is zero
        # on the span of the A_h: these g have as many dimensions as this product.
        relations_of_V = max(0, heads - first.d * first.d_out)
        relations_of_A = max(0, heads - first.d**2)
        stabilizer = relations_of_V * relations_of_A
        named[f"GL({heads}) that mixes heads"] += heads**2 - stabilizer
    return named


def parameter_count(shapes: Heads) -> int:
    """Return the number of entries of the matrices of all heads."""
    return sum(head.parameters for head in chain(*shapes))


def known_symmetries(model: DeepAttention, shapes: Heads, extra: ExtraParameters) -> Symmetries:
    """Return the symmetries of a network with these heads, by bounds that need no weights.

    ``shapes`` has the sizes of the heads of each layer, and ``extra`` is what layers have in
    addition to their heads, as norms and output biases.
    """
    # For each layer the largest rank of V, or of OV.
    betas = [layer[0].beta for layer in shapes]
    ranks = bound_by_ranks(model, betas)
    dimension = intersect_bounds(ranks, *model.upper_bounds(characteristic=0))
    # Theorem H: where generic heads are separate, the upper bound by ranks is attained.
    if are_separate(model, betas):
        dimension = intersect_bounds(dimension, Bounds.at_least(ranks.upper))
    # Of a single head the dimension is known by a theorem.
    if model.layers == model.heads == 1:
        dimension = Bounds.exactly(shapes[0][0].dimension)
    more = _dimension_of_extra(model, shapes, dimension, extra)
    return symmetries_of(model, shapes, _plus(dimension, more), extra)


def _constants_are_functions_of_heads(model: DeepAttention, shapes: Heads) -> bool:
    """Return whether heads of one layer may add constants, as an output bias does.

    That is so in lightning attention on tokens with a coordinate 1: the functions of heads are
    Σ_s T(x_s, x_s, x_j) with tensors T, and constants are among them.
    """
    coordinates = shapes[0][0].coordinates
    if model.softmax or model.layers > 1 or coordinates is None:
        return False
    return bool(coordinates.has_one)


def _dimension_of_extra(
    model: DeepAttention, shapes: Heads, dimension: Bounds, extra: ExtraParameters
) -> int:
    """Return by how much output biases make the dimension larger than ``dimension``, that of the
    functions of the heads, for any fixed number t of tokens.

    Where constants are functions Σ_s T(x_s, x_s, x_j) of tensors T, as the functions of heads are,
    heads and output bias together have at most the dimension of the space of tensors. That the
    output bias adds as much as this allows is proved for separate heads
    (docs/weights-mathematics.md, Output biases); else a rank in :func:`at_weights` shows it.
    """
    if not _constants_are_functions_of_heads(model, shapes) or dimension.lower is None:
        return extra.dimension
    first = shapes[0][0]
    # T has d' outputs, is symmetric in its first two places, and linear in the third.
    dimension_of_tensors: int = first.d_out * comb(first.d + 1, 2) * first.d
    return min(extra.dimension, dimension_of_tensors - dimension.lower)


def _plus(known: Bounds, number: int) -> Bounds:
    """Return bounds for a dimension, ``known``, of the functions of heads, plus a ``number``; their
    reason says so.
    """
    if not number:
        return known
    lower = None if known.lower is None else known.lower + number
    upper = None if known.upper is None else known.upper + number
    # A dimension that a theorem gives has no reason.
    reason = known.because or "the dimension of the functions of the heads"
    return Bounds(lower, upper, f"{reason}, and {number} for what the layer adds")


def at_weights(
    model: DeepAttention,
    shapes: Heads,
    regular: bool,
    matrices: MatricesByLetters,
    extra: ExtraParameters,
    most_rank: int | None = None,
    most_rank_with_zero_layer: int | None = None,
) -> NetworkAtWeights:
    """Return what is known of a network at given weights: its symmetries, the dimension of its
    functions, and bounds for the rank of the differential at the weights.

    Parameters
    ----------
    model : DeepAttention
        The network without output bias, for two tokens.
    shapes : sequence of sequence
        For each layer the sizes of its heads, :class:`HeadShape`.
    regular : bool
        Whether the weights of each head alone are proved to be a regular point.
    matrices : callable
        Takes letters, and yields for each layer the matrices of each head with these letters,
        modulo the prime.
    extra : ExtraParameters
        The parameters in addition to those of heads. What they change is independent of what the
        heads change, unless constants are functions of heads.
    most_rank : int, optional
        An upper bound for the sum of the ranks of the differentials of all heads, each alone; if it
        is left out, the result has no upper bound for the rank.
    most_rank_with_zero_layer : int, optional
        An upper bound for the rank of the differential of the network without skip connections, if
        one of its layers is zero; left out if none is.

    Raises
    ------
    ContradictionError
        If a rank exceeds an upper bound.
    """
    betas = [layer[0].beta for layer in shapes]
    by_sizes = bound_by_ranks(model, betas)
    # All these bounds are upper ones, in characteristic 0: the ``value`` is the least of them.
    upper_bounds = intersect_bounds(*model.upper_bounds(characteristic=0), by_sizes)
    upper = upper_bounds.value
    separate = are_separate(model, betas)
    found = _ranks_at_weights(
        model, shapes, matrices, upper, output_bias=extra.dimension, by_theorem=separate and regular
    )
    tokens = found.tokens
    # A lower bound for the dimension: the rank at generic weights. Where heads are separate, it is
    # the upper bound by the ranks of A and V, by Theorem H; else it is not known yet.
    generic = by_sizes.value if separate else None
    # Where neither of these two ranks attains the upper bound, the one at random weights can be
    # larger.
    if upper not in (found.of_heads, generic):
        if _is_differentiated_at_random(model, shapes):
            generic = _rank_at_random_weights(model)
        else:
            generic = _rank_at_random_matrices(model, shapes, matrices, upper)
        if model.softmax:
            tokens = ALMOST_ALL_TOKENS
    dimension_of_heads = intersect_bounds(
        upper_bounds, Bounds.at_least(generic), Bounds.at_least(found.of_heads)
    )
    dimension_of_all = _with_output_bias(
        model, shapes, dimension_of_heads, extra, found, separate=separate
    )
    if most_rank is not None:
        # Where the rank attains its upper bound, nothing is left to find.
        if found.of_heads != upper:
            most_rank -= _dimension_of_free_base_changes(model, matrices)
        if most_rank_with_zero_layer is not None and not model.skip:
            most_rank = min(most_rank, most_rank_with_zero_layer)
        most_rank += extra.dimension
    return NetworkAtWeights(
        symmetries=symmetries_of(model, shapes, dimension_of_all, extra),
        rank=found.of_all,
        most_rank=most_rank,
        note=found.note,
        tokens=tokens,
        model=model,
        gauge=_gauge(model, shapes),
        constant=extra.dimension,
    )


def _is_differentiated_at_random(model: DeepAttention, shapes: Heads) -> bool:
    """Return whether the rank of the differential at random weights is computed for heads of these
    sizes: for models of few parameters, whose V may be any matrices.
    """
    # With d entries before a layer and d' after it, V alone has ranks up to min(d, d'): where the
    # ranks of OV are bounded by less, the functions are not those of the model.
    for layer, (d, d_out, _) in zip(shapes, model.layer_sizes, strict=True):
        if layer[0].beta != min(d, d_out):
            return False
    return model.is_plain or parameter_count(shapes) <= MAX_DIFFERENTIATED_PARAMETERS


def _rank_at_random_weights(model: DeepAttention) -> int | None:
    """Return a lower bound for the dimension of the functions of a model, the rank of the
    differential at random weights; ``None`` if the model has none, or the time is over.
    """
    # needs SymPy, which is slow to import
    from m2bridge.maps.dimension import dimension

    try:
        lower = dimension(model).lower
    except TimeLimitError:
        return None
    return None if lower is None else lower.value


def _rank_at_random_matrices(
    model: DeepAttention, shapes: Heads, matrices: MatricesByLetters, upper: int
) -> int | None:
    """Return the rank of the differential at random matrices of the sizes of the given ones, at
    most ``upper``; ``None`` if there are too many parameters, the time is over, or A is given and
    its rank is bounded.
    """
    heads = list(chain(*shapes))
    parameters = parameter_count(shapes)
    has_A_of_bounded_rank = any(not head.factored and head.has_factors for head in heads)
    if parameters > MAX_DIFFERENTIATED_PARAMETERS or has_A_of_bounded_rank:
        return None
    draw = random_residues()
    numbers = Residues(LARGE_PRIME)
    layers = []
    for layer in matrices("KQAVO"):
        drawn_heads = []
        for head in layer:
            drawn = {}
            for letter, matrix in head.items():
                rows, columns = matrix.nrows(), matrix.ncols()
                drawn[letter] = random_matrix(numbers, rows, columns, draw)
            drawn_heads.append(drawn)
        layers.append(drawn_heads)
    try:
        return _rank(model, layers, min(upper, parameters))
    except (TimeLimitError, TooLargeError):
        return None


def _dimension_of_free_base_changes(model: DeepAttention, matrices: MatricesByLetters) -> int:
    """Return a lower bound for the number of dimensions by which the sum of the ranks of all heads
    is too large, as changes of base between layers move the heads and not the function; 0 if the
    time is over.
    """
    try:
        return free_base_changes(model, matrices)
    except TimeLimitError:
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _RanksAtWeights:
    """Lower bounds for ranks of the differential, ``None`` for those that are not computed.

    Parameters
    ----------
    of_heads, of_all : int or None
        At the weights, without and with an output bias.
    generic_of_all : int or None
        At random weights, with an output bias.
    note : str
        Why the ranks are not known, or the theorem by which they are; may be empty.
    tokens : str
        For which numbers t of tokens these bounds hold.
    """

    of_heads: int | None = None
    of_all: int | None = None
    generic_of_all: int | None = None
    note: str
    tokens: str = FROM_TWO_TOKENS


def _ranks_at_weights(
    model: DeepAttention,
    shapes: Heads,
    matrices: MatricesByLetters,
    upper: int,
    *,
    output_bias: int,
    by_theorem: bool,
) -> _RanksAtWeights:
    """Return lower bounds for the rank of the differential at the weights, ``of_heads`` without and
    ``of_all`` with an output bias: by Theorem H, if it applies, else as the rank of gradients.
    ``generic_of_all`` is that at random weights, computed where constants are functions of heads.
    If the case is too large, or the time is over, the note of the result says so.

    Parameters
    ----------
    model, shapes
        The network of heads alone, and for each layer the sizes of its heads.
    matrices : callable
        Takes letters, and yields for each layer the matrices of each head with these letters,
        modulo the prime.
    upper : int
        An upper bound for the rank without output bias.
    output_bias : int
        By how much an output bias makes the dimension larger.
    by_theorem : bool
        Whether Theorem H applies to softmax with these sizes, if matrices at the weights have the
        ranks that it needs. It holds for every t ≥ 2.
    """
    parameters = parameter_count(shapes)
    rank = None  # of the heads alone, until it is computed
    # Lightning attention at t tokens of which all but two are 0 is that at two tokens: its ranks
    # hold from t = 2 on. Ranks of softmax are computed by power series at two tokens alone.
    tokens = ALMOST_ALL_TOKENS if model.softmax else FROM_TWO_TOKENS
    try:
        # The theorem needs only ranks of single matrices, also where a Jacobian matrix is too
        # large.
        if by_theorem and model.softmax and separate_at_weights(model, matrices):
            return _RanksAtWeights(of_heads=upper, of_all=upper + output_bias, note=THEOREM)
        if parameters > MAX_DIFFERENTIATED_PARAMETERS:
            limit = f"it is computed for up to {MAX_DIFFERENTIATED_PARAMETERS} parameters"
            return _RanksAtWeights(note=limit)
        given = list(matrices("KQAVO"))
        rank = _rank(model, given, min(upper, parameters))
        # An output bias changes what heads do not, unless constants are functions of heads.
        of_all, generic = rank + output_bias, None
        if output_bias and _constants_are_functions_of_heads(model, shapes):
            (layer,) = given  # constants are functions of heads in a single layer only
            of_all, generic = _ranks_with_output_bias(layer, rank, upper, output_bias)
    except (TimeLimitError, TooLargeError) as limit:
        # The rank of the heads alone may be known already.
        return _RanksAtWeights(of_heads=rank, note=str(limit), tokens=tokens)
    return _RanksAtWeights(
        of_heads=rank, of_all=of_all, generic_of_all=generic, note="", tokens=tokens
    )


def _with_output_bias(
    model: DeepAttention,
    shapes: Heads,
    by_heads: Bounds,
    extra: ExtraParameters,
    found: _RanksAtWeights,
    *,
    separate: bool,
) -> Bounds:
    """Return bounds for the dimension of heads and output bias together.

    ``by_heads`` is the dimension of the functions of the heads alone, ``found`` has ranks with and
    without the output bias, and ``separate`` is whether a theorem shows that the functions of
    generic heads are independent.
    """
    # The sum is right if constants are independent of what heads do.
    known = _plus(by_heads, _dimension_of_extra(model, shapes, by_heads, extra))
    if found.generic_of_all is not None and found.of_all is not None:
        # The rank at any weights is a lower bound for the dimension.
        largest_rank = max(found.of_all, found.generic_of_all)
        return intersect_bounds(Bounds.at_most(known.upper), Bounds.at_least(largest_rank))
    if model.heads > 1 and not separate and _constants_are_functions_of_heads(model, shapes):
        # Only for separate heads, and for a single one, it is proved that the constants are new:
        # here the lower bound is that without them.
        return intersect_bounds(Bounds.at_most(known.upper), Bounds.at_least(by_heads.lower))
    return known


def _gauge(model: DeepAttention, shapes: Heads) -> tuple[str, ...]:
    """Return the names of the factors of the gauge group, which acts on weights and preserves the
    function: each once, with how often it occurs, as ``GL(2) on K and Q (4 times)``.
    """
    heads = list(chain(*shapes))
    # One name for each factor, first those of each head.
    factors = [f"GL({head.a}) on K and Q" for head in heads if head.factored]
    factors += [f"GL({head.v}) on O and V" for head in heads if head.v is not None]
    if not model.skip:
        factors += [f"GL({d}) between layers" for d in model.widths[1:-1]]
    if not model.softmax:
        factors += ["R* on A and V"] * len(heads)
    names = []
    for name, count in Counter(factors).items():
        times = f" ({count} times)" if count > 1 else ""
        names.append(name + times)
    return tuple(names)


def _rank(model: DeepAttention, layers: Sequence[Sequence[Matrices]], upper: int) -> int:
    """Return the rank of the differential modulo the prime, at most ``upper``; for softmax by power
    series, of which a few orders may show less than the rank.

    ``layers`` has for each layer the matrices of each head.
    """

    def head_over(numbers: NumberSystem, head: Matrices) -> Matrices:
        """Return the matrices of a head over a number system, such as that of power series."""
        return {letter: numbers.matrix(matrix.table()) for letter, matrix in head.items()}

    def weights_over(numbers: NumberSystem) -> NetworkWeights:
        """Return the weights over a number system."""
        return NetworkWeights([[head_over(numbers, head) for head in layer] for layer in layers])

    if model.softmax:
        # With the rank comes the number of orders of the series.
        rank, _orders = rank_by_series(model, weights_over, upper)
        return rank
    point, numbers = NetworkWeights(layers), Residues(LARGE_PRIME)
    gradients = gradients_at(point, model, numbers, tokens=model.t, draw=random_residues())
    return rank_of_gradients(gradients, upper)


def _integers(matrix: Any) -> list[list[int]]:
    """Return the rows of a matrix of FLINT modulo the prime, as lists of integers of Python."""
    return [list(map(int, row)) for row in matrix.table()]


def _ranks_with_output_bias(
    heads: Sequence[Matrices], rank: int, most: int, outputs: int
) -> tuple[int, int | None]:
    """Return lower bounds for two ranks of the differential of a layer of lightning attention on
    tokens (x, 1) with an output bias: at the weights, and at random weights.

    They may be less than ``rank`` + ``outputs``, as heads can add constants too. A layer whose A is
    given is not differentiated, as :class:`AffineLayer` has K and Q: the first bound is ``rank``
    then, and the second ``None``, for not known; so it is where tokens have no entries but 1.

    Parameters
    ----------
    heads : sequence of dict
        The matrices of each head modulo the prime, by their letters.
    rank, most : int
        The rank of the heads alone at the weights, and an upper bound at any weights.
    outputs : int
        The number of entries of the output bias.
    """
    # The entries of x: the last column of K, Q and V is for the coordinate 1.
    width = heads[0]["V"].ncols() - 1
    if "A" in heads[0] or not width:
        return rank, None
    given = [{letter: _integers(M) for letter, M in head.items()} for head in heads]
    # The derivatives do not depend on the output bias: it may be 0.
    layer = AffineLayer(
        width=width, heads=tuple(given), output_bias=(0,) * outputs, norm="", gamma=(), beta=()
    )
    random_layer = layer.drawn(partial(Random(RANK_POINT_SEED).randrange, LARGE_PRIME))
    # An output bias adds at most as many dimensions as it has entries.
    at_weights = rank_modulo_prime(skip=False, layers=[layer], upper=rank + outputs)
    return at_weights, rank_modulo_prime(skip=False, layers=[random_layer], upper=most + outputs)

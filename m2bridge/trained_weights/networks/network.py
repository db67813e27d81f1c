"""Networks whose layers are matrices of heads alone: dimension, rank at weights, gauge group.

A single layer may have an output bias. Heads may have an output matrix O, so that their values are
OV of rank at most v. The functions are then among those of the network without such a bound, and
bounds for its dimension hold. Ranks are those of weights modulo a prime, lower bounds for those of
the weights.

Head h of layer k has A = KᵀQ and V (or OV); ``shapes[k][h]`` has its sizes, and β_k, one of
``betas``, is the largest rank that its V (or OV) may have. ``matrices(letters)`` yields for each
layer a list with a dict for each head: those of its matrices with these letters, modulo the prime.
``extra`` is what a layer has in addition to its heads: an output bias, by which constants are
added, or γ and β of a norm. A rank is that of the differential of the map from weights to
functions. By Theorem H (docs/deep-attention.md) heads are *separate* under conditions on sizes, or
on ranks at the weights: then the rank attains its upper bound by the ranks of all A and V.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial, reduce
from itertools import chain
from math import comb
from operator import add
from random import Random
from typing import Any

from m2bridge.algebra.linear_algebra import column_products, rank_mod
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.errors import TimeLimitError, TooLargeError
from m2bridge.families.deep_attention.bounds import (
    MAX_DIFFERENTIATED_PARAMETERS,
    RANK_POINT_SEED,
    random_residues,
    rank_by_series,
    rank_of_gradients,
    unit_rows,
)
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.families.deep_attention.network import (
    Draw,
    NetworkWeights,
    NumberSystem,
    Residues,
    gradients_at,
    random_matrix,
)
from m2bridge.families.deep_attention.shape import THEOREM, base_changes
from m2bridge.families.deep_attention.upper_bounds import act_freely, are_separate, bound_by_ranks
from m2bridge.limits import check_deadline_in
from m2bridge.maps.jacobian_rank import ALMOST_ALL_TOKENS, FROM_TWO_TOKENS, SPARE_ROWS
from m2bridge.results.known import Bounds, intersect_bounds
from m2bridge.trained_weights.networks.at_weights import NetworkAtWeights
from m2bridge.trained_weights.networks.differential import AffineLayer, rank_modulo_prime
from m2bridge.trained_weights.networks.groups import ExtraParameters, Symmetries

# The largest width of several layers of softmax; ranks of their matrices take seconds each.
MAX_WIDTH = 2048

Matrices = Mapping[str, Any]
"""The matrices of a head modulo the prime, by the letters K and Q, or A, and V, and perhaps O."""
Heads = Sequence[Sequence[Any]]
"""For each layer the sizes of each of its heads, :class:`~.ranks.HeadShape`."""


def symmetries_of(
    model: DeepAttention, shapes: Heads, dimension: Bounds, extra: ExtraParameters
) -> Symmetries:
    """Return the symmetries of a network by name, those of its heads, of ``extra``, and changes of
    base between layers, with all that compares them with its redundant directions.

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
    # The dimension of their orbits, which is known exactly.
    on_heads = named.total()
    # The dimension of the groups of changes of base between layers, and that of their orbits, as
    # far as it is known.
    between_layers = free = 0
    # A skip connection is the identity, which no other base keeps.
    if not model.skip:
        # The widths between layers, without those of inputs and outputs.
        for width in model.widths[1:-1]:
            named[f"GL({width}) between layers"] += width**2
            between_layers += width**2
    if act_freely(model, betas):
        free = base_changes(model)
    return Symmetries(
        parameters=parameter_count(shapes) + extra.parameters,
        dimension=dimension,
        named=tuple((name, size) for name, size in named.items() if size),
        listed=Bounds(on_heads + free, on_heads + between_layers),
        finite=extra.finite,
        # For one layer of softmax it is proved that generic weights have no others.
        complete=model.softmax and model.layers == 1,
    )


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
    """Return bounds for a dimension, ``known``, plus a ``number``; their reason says so."""
    if not number:
        return known
    lower = None if known.lower is None else known.lower + number
    upper = None if known.upper is None else known.upper + number
    return Bounds(lower, upper, f"{known.because}, and {number} for what the layer adds")


def at_weights(
    model: DeepAttention,
    shapes: Heads,
    regular: bool,
    matrices: Callable[[str], Iterator[Sequence[Matrices]]],
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
        Yields for each layer the matrices of each head with these letters, modulo the prime.
    extra : ExtraParameters
        The parameters in addition to those of heads. What they change is independent of what the
        heads change, unless the functions of heads are all there are.
    most_rank : int, optional
        The sum of the ranks of the differentials of all heads, each alone, or more.
    most_rank_with_zero_layer : int, optional
        An upper bound for the rank of the differential of the network without skip connections, as
        one of its layers is zero.

    Raises
    ------
    ContradictionError
        If a rank exceeds an upper bound.
    """
    betas = [layer[0].beta for layer in shapes]
    parameters = parameter_count(shapes)
    ranks = bound_by_ranks(model, betas)
    # All these bounds are upper ones, in characteristic 0: the ``value`` is the least of them.
    known = intersect_bounds(*model.upper_bounds(characteristic=0), ranks)
    upper = known.value
    separate = are_separate(model, betas)
    found = _ranks_at_weights(
        model, shapes, matrices, upper, output_bias=extra.dimension, by_theorem=separate and regular
    )
    tokens = found.tokens
    # With d entries before a layer and d' after it, V alone has ranks up to min(d, d').
    has_bounded_values = betas != [min(d, after) for d, after, _ in model.layer_sizes]
    # A lower bound for the dimension: the rank at generic weights. Where heads are separate, it is
    # the upper bound by the ranks of A and V, by Theorem H; else it is not known yet.
    generic = ranks.value if separate else None
    is_small = model.is_plain or parameters <= MAX_DIFFERENTIATED_PARAMETERS
    is_known = upper in (found.of_heads, generic)
    # The rank at random weights can be larger than that at these. It is computed for the model
    # whose V are any matrices, so not where the ranks of OV are bounded.
    if not is_known and not has_bounded_values and is_small:
        # needs SymPy, which is slow to import
        from m2bridge.maps.dimension import dimension

        # Where the time is over, the bounds that are known are left.
        with suppress(TimeLimitError):
            of_map = dimension(model).lower
            generic = of_map.value if of_map else None
        if model.softmax:
            tokens = ALMOST_ALL_TOKENS
    # The dimension of the functions of the heads alone.
    known = intersect_bounds(known, Bounds.at_least(generic), Bounds.at_least(found.of_heads))
    # The sum over heads is too large by what changes of base between layers move in the heads
    # alone. Where the rank attains its upper bound, nothing is left to find.
    if most_rank is not None and found.of_heads != upper:
        with suppress(TimeLimitError):
            most_rank -= _free_base_changes(model, matrices)
    if most_rank is not None and most_rank_with_zero_layer is not None and not model.skip:
        most_rank = min(most_rank, most_rank_with_zero_layer)
    if most_rank is not None:
        most_rank += extra.dimension
    dimension_of_all = _with_output_bias(model, shapes, known, extra, found, separate=separate)
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
    matrices: Callable[[str], Iterator[Sequence[Matrices]]],
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
        Yields for each layer the matrices of each head with these letters, modulo the prime.
    upper : int
        An upper bound for the rank without output bias.
    output_bias : int
        By how much an output bias makes the dimension larger.
    by_theorem : bool
        Whether the theorem applies if matrices at the weights have the ranks that it needs.
    """
    parameters = parameter_count(shapes)
    rank = None
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
            of_all, generic = _ranks_with_output_bias(given[0], rank, upper, output_bias)
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


def _free_base_changes(
    model: DeepAttention, matrices: Callable[[str], Iterator[Sequence[Matrices]]]
) -> int:
    """Return the dimension of the group of those changes of base between layers that are proved to
    move the functions of the heads at these weights, all but the identity.

    Where the outputs of all heads of a layer span the space of tokens behind it, of dimension d,
    each change of base of this space changes some of them: d² dimensions. With A = 0 a head of
    lightning attention has no outputs, whatever its values are.
    """
    # The widths between layers. Skip connections are preserved by no change of base; and ranks of
    # wide matrices take too long, without which nothing is proved.
    hidden = model.widths[1:-1]
    if model.skip or not hidden or max(hidden) > MAX_WIDTH:
        return 0
    free = 0
    draw = random_residues()
    # ``after`` is the width behind a layer. The last layer has outputs behind it, and is left out.
    for after, layer in zip(hidden, check_deadline_in(matrices("KQAVO")), strict=False):
        columns: list[Any] = []
        for head in layer:
            if model.softmax or _has_scores(head, draw):
                columns += _values(head).transpose().table()
        if columns and rank_mod(columns, LARGE_PRIME) == after:
            free += after**2
    return free


def _has_scores(head: Matrices, draw: Draw) -> bool:
    """Return whether xᵀAy is not 0 for random vectors x and y modulo the prime, which proves that A
    is not 0.
    """
    d = head["V"].ncols()
    # Two matrices of one column.
    x, y = (random_matrix(Residues(LARGE_PRIME), d, 1, draw) for _ in range(2))
    return any(_bilinear_form(head, x, y))


def _values(head: Matrices) -> Any:
    """Return the matrix of the values of a head: V, or OV where there is an output matrix."""
    if "O" in head:
        return head["O"] * head["V"]
    return head["V"]


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


def separate_at_weights(
    model: DeepAttention, matrices: Callable[[str], Iterator[Sequence[Matrices]]]
) -> bool:
    """Return whether the hypotheses of Theorem H are proved to hold at these weights.

    They are, for layers k = 1, …, l: the sum B_k of the matrices V (or OV) of layer k, plus the
    identity with skip connections, is onto for k < l and one-to-one for k > 1; and the quadratic
    forms of the heads of layer k are independent on the tokens that some head of layer k − 1 has as
    outputs. No value matrix may be zero, which the caller checks.

    ``matrices`` takes letters, and yields for each layer the matrices of each head with these
    letters, modulo the prime. Full ranks modulo the prime at random tokens prove the hypotheses;
    False may be bad luck. TooLargeError for several layers wider than :data:`MAX_WIDTH`.
    """
    several_layers = model.layers > 1
    numbers = Residues(LARGE_PRIME)
    draw = random_residues()
    if several_layers and max(model.widths) > MAX_WIDTH:
        raise TooLargeError(f"it is computed for widths up to {MAX_WIDTH}")

    def random_tokens(width: int) -> Any:
        """Return random tokens as columns, more than there are heads.

        A quadratic form has a row of values at these tokens. With more tokens than forms,
        independent forms have independent rows with probability near 1.
        """
        return random_matrix(numbers, width, model.heads + SPARE_ROWS, draw)

    # Theorem H has no conditions on the values of a single layer, so that V and O are not read.
    letters = "KQAVO" if several_layers else "KQA"
    # The tokens at which the forms of a layer are evaluated: random ones for the first layer, and
    # for each other layer the outputs of each head of the layer before, at random tokens.
    seen_by_layer = [random_tokens(model.widths[0])]
    for k, layer in enumerate(check_deadline_in(matrices(letters)), start=1):
        # The forms have to be independent on the outputs of one head of the layer before.
        if not any(_are_independent(layer, X) for X in seen_by_layer):
            return False
        if not several_layers:
            continue
        width, width_after = model.widths[k - 1], model.widths[k]
        value_matrices = [_values(head) for head in layer]
        sum_of_values = reduce(add, value_matrices)
        if model.skip:
            sum_of_values = sum_of_values + numbers.matrix(unit_rows(width))
        rank = sum_of_values.rank()
        is_onto = rank == width_after
        is_one_to_one = rank == width
        if k < model.layers and not is_onto:
            return False
        if k > 1 and not is_one_to_one:
            return False
        X = random_tokens(width)
        seen_by_layer = [V * X for V in value_matrices]
    return True


def _are_independent(layer: Sequence[Matrices], X: Any) -> bool:
    """Return whether the quadratic forms xᵀAx of all heads of a layer are linearly independent at
    the columns x of X, modulo the prime.
    """
    return rank_mod([_quadratic_form(head, X) for head in layer], LARGE_PRIME) == len(layer)


def _quadratic_form(head: Matrices, X: Any) -> list[int]:
    """Return the values of xᵀAx at all columns x of X."""
    return _bilinear_form(head, X, X)


def _bilinear_form(head: Matrices, X: Any, Y: Any) -> list[int]:
    """Return the values of xᵀAy for the columns x of X and y of Y in the same place."""
    # A = KᵀQ is not multiplied out: it is a large matrix of small rank.
    if "A" in head:
        return column_products(X, head["A"] * Y)
    return column_products(head["K"] * X, head["Q"] * Y)

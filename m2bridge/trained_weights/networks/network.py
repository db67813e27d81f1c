"""Networks whose layers are matrices of heads alone: dimension, rank at weights, gauge group.

Head h of layer k has A = KᵀQ and V (or OV, of rank at most v); ``shapes[k][h]`` has its sizes, and
β_k, one of ``betas``, is the largest rank that its V may have. Functions are then among those of
the network without such a bound, and bounds for its dimension hold. ``model`` is the network of
heads alone: its widths, its numbers of heads and layers, and whether it has skip connections and
softmax. ``extra`` is what a layer has in addition to its heads: an output bias, by which constants
are added, or γ and β of a norm; several layers have nothing.

A rank is that of the differential of the map from weights to functions. Ranks are those of weights
modulo *the prime* ``LARGE_PRIME``, lower bounds, so that full ranks are proved; ``None`` is one
that is not computed. ``matrices(letters)`` yields for each layer a list with a dict for each head:
those of its matrices with these letters, modulo the prime.

By Theorem H (docs/deep-attention.md) heads are *separate* under conditions on sizes, or on ranks at
the weights: then the rank attains its upper bound by the ranks of all A and V. Else it is the rank
of gradients, for softmax by power series, of which a few orders may show less than the rank.

Constants are functions of heads where lightning attention acts on tokens with a coordinate 1: a
layer has the functions Σ_s T(x_s, x_s, x_j) of tensors T, and constants are among them. Then heads
and output bias together have at most the dimension of the space of tensors. That the output bias
adds as much as this allows is proved for separate heads (docs/weights-mathematics.md, Output
biases); else a rank shows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial, reduce
from itertools import chain
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
from m2bridge.trained_weights.heads.shape import RESCALING, HeadShape
from m2bridge.trained_weights.networks.at_weights import NetworkAtWeights
from m2bridge.trained_weights.networks.differential import AffineLayer, rank_modulo_prime
from m2bridge.trained_weights.networks.symmetries import (
    ExtraParameters,
    Symmetries,
    nonzero_directions,
)

MAX_WIDTH = 2048
"""The largest width of several layers of softmax; ranks of their matrices take seconds each."""

HeadShapes = Sequence[Sequence[HeadShape]]
"""For each layer the sizes of each of its heads."""
Matrices = Mapping[str, Any]
"""The matrices of a head modulo the prime, by the letters K and Q, or A, and V, and perhaps O."""
MatricesByLetters = Callable[[str], Iterator[Sequence[Matrices]]]


def known_symmetries(
    model: DeepAttention, shapes: HeadShapes, extra: ExtraParameters
) -> Symmetries:
    """Return the symmetries of a network with these heads, by bounds that need no weights."""
    betas = [layer[0].beta for layer in shapes]
    ranks = bound_by_ranks(model, betas)
    dimension = intersect_bounds(ranks, *model.upper_bounds(characteristic=0))
    # Theorem H: where generic heads are separate, the upper bound by ranks is attained.
    if are_separate(model, betas):
        dimension = intersect_bounds(dimension, Bounds.at_least(ranks.upper))
    # Of a single head the dimension is known by a theorem.
    if model.layers == model.heads == 1:
        dimension = Bounds.exactly(shapes[0][0].dimension)
    return _symmetries(model, shapes, _with_extra(model, shapes, dimension, extra), extra)


def _symmetries(
    model: DeepAttention, shapes: HeadShapes, dimension: Bounds, extra: ExtraParameters
) -> Symmetries:
    """Return the symmetries of a network by name: those of its heads, those of ``extra``, which is
    counted in the dimension of the functions, and changes of base between layers.
    """
    named: Counter[str] = Counter()
    for layer in shapes:
        named.update(_symmetries_of_heads(layer))
    named.update(dict(extra.named))
    # Without changes of base the dimension of the orbits is known exactly.
    on_heads = named.total()
    # A skip connection is the identity, which no other base keeps.
    if not model.skip:
        for width in model.widths[1:-1]:
            named[f"GL({width}) between layers"] += width**2
    # The dimension of the orbits of the changes of base, as far as it is known.
    is_free = act_freely(model, [layer[0].beta for layer in shapes])
    free = base_changes(model) if is_free else 0
    return Symmetries(
        parameters=_parameter_count(shapes) + extra.parameters,
        dimension=dimension,
        named=nonzero_directions(named),
        listed=Bounds(on_heads + free, named.total()),
        finite=extra.finite,
        # For one layer of softmax it is proved that generic weights have no others.
        complete=model.softmax and model.layers == 1,
    )


def _symmetries_of_heads(layer: Sequence[HeadShape]) -> Counter[str]:
    """Return the dimensions of the symmetries of the heads of a layer, of equal sizes, by names.

    Where the ranks of A and V are not bounded, an invertible H × H matrix g mixes the H heads
    without a change of Σ_h V_h ⊗ A_h: each V_h becomes Σ_k g_kh V_k, and the inverse of g acts on
    the A_h. Rescalings (λA_h, V_h/λ) are the diagonal matrices g.
    """
    heads, first = len(layer), layer[0]
    are_mixed = heads > 1 and first.can_be_mixed
    named: Counter[str] = Counter()
    for head in layer:
        named.update(dict(head.redundant()))
    if are_mixed:
        del named[RESCALING]
        # A matrix g changes no V and no A if g − 1 maps into the relations of the V_h and is zero
        # on the span of the A_h: these g have as many dimensions as this product.
        relations_of_V = max(0, heads - first.values * first.d_out)
        relations_of_A = max(0, heads - first.keys * first.queries)
        stabilizer = relations_of_V * relations_of_A
        named[f"GL({heads}) that mixes heads"] += heads**2 - stabilizer
    return named


def _parameter_count(shapes: HeadShapes) -> int:
    """Return the number of entries of the matrices of all heads."""
    return sum(head.parameters for head in chain(*shapes))


def _constants_are_functions_of_heads(model: DeepAttention, shapes: HeadShapes) -> bool:
    """Return whether the heads of a layer may add constants, as an output bias does."""
    return shapes[0][0].has_constants and model.layers == 1


def _with_extra(
    model: DeepAttention, shapes: HeadShapes, dimension: Bounds, extra: ExtraParameters
) -> Bounds:
    """Return the dimension of the functions of heads and output bias together, by that of the
    functions of separate heads; the reason says so.
    """
    more = extra.dimension
    if _constants_are_functions_of_heads(model, shapes) and dimension.lower is not None:
        first = shapes[0][0]
        more = min(more, first.coefficients - dimension.lower)
    if not more:
        return dimension
    lower = None if dimension.lower is None else dimension.lower + more
    upper = None if dimension.upper is None else dimension.upper + more
    # A dimension that a theorem gives has no reason.
    reason = dimension.because or "the dimension of the functions of the heads"
    return Bounds(lower, upper, f"{reason}, and {more} for what the layer adds")


def network_at_weights(
    model: DeepAttention,
    shapes: HeadShapes,
    regular: bool,
    matrices: MatricesByLetters,
    extra: ExtraParameters,
    most_rank: int | None = None,
    most_rank_with_zero_layer: int | None = None,
) -> NetworkAtWeights:
    """Return what is known of a network at given weights: its symmetries, the dimension of its
    functions, and bounds for the rank of the differential at the weights.

    ``regular`` is whether the weights of each head alone are proved to be a regular point. Upper
    bounds are ``most_rank`` for the sum of the ranks of all heads, each alone, ``None`` if none is
    known, and ``most_rank_with_zero_layer`` for the rank of the network without skip connections,
    if one of its layers is zero. ContradictionError if a rank exceeds an upper bound.
    """
    betas = [layer[0].beta for layer in shapes]
    by_sizes = bound_by_ranks(model, betas)
    # All these bounds are upper ones, in characteristic 0: the ``value`` is the least of them.
    upper_bounds = intersect_bounds(*model.upper_bounds(characteristic=0), by_sizes)
    upper = upper_bounds.value
    separate = are_separate(model, betas)
    ranks = _ranks_at_weights(
        model, shapes, matrices, upper, output_bias=extra.dimension, by_theorem=separate and regular
    )
    tokens = ranks.tokens
    # The rank at generic weights. Where heads are separate, it is the upper bound by the ranks of A
    # and V, by Theorem H.
    generic = by_sizes.value if separate else None
    # Where neither of these two ranks attains the upper bound, the one at random weights can be
    # larger.
    if upper not in (ranks.of_heads, generic):
        generic = _rank_at_random_weights(model, shapes, matrices, upper)
        if model.softmax:
            tokens = ALMOST_ALL_TOKENS
    of_heads = intersect_bounds(
        upper_bounds, Bounds.at_least(generic), Bounds.at_least(ranks.of_heads)
    )
    of_all = _with_extra(model, shapes, of_heads, extra)
    if ranks.generic_of_all is not None and ranks.of_all is not None:
        # The rank at any weights is a lower bound for the dimension.
        largest_rank = max(ranks.of_all, ranks.generic_of_all)
        of_all = intersect_bounds(Bounds.at_most(of_all.upper), Bounds.at_least(largest_rank))
    elif model.heads > 1 and not separate and _constants_are_functions_of_heads(model, shapes):
        # Only for separate heads, and for a single one, it is proved that the constants are new:
        # here the lower bound is that without them.
        of_all = intersect_bounds(Bounds.at_most(of_all.upper), Bounds.at_least(of_heads.lower))
    if most_rank is not None:
        # Where the rank attains its upper bound, nothing is left to find.
        if ranks.of_heads != upper:
            with suppress(TimeLimitError):
                most_rank -= free_base_changes(model, matrices)
        if most_rank_with_zero_layer is not None and not model.skip:
            most_rank = min(most_rank, most_rank_with_zero_layer)
        most_rank += extra.dimension
    return NetworkAtWeights(
        symmetries=_symmetries(model, shapes, of_all, extra),
        rank=ranks.of_all,
        most_rank=most_rank,
        note=ranks.note,
        tokens=tokens,
        model=model,
        gauge=_gauge(model, shapes),
        constant=extra.dimension,
    )


def _rank_at_random_weights(
    model: DeepAttention, shapes: HeadShapes, matrices: MatricesByLetters, upper: int
) -> int | None:
    """Return the rank of the differential at random matrices of the sizes of the given ones, at
    most ``upper``; ``None`` if there are too many parameters, the time is over, or A is given and
    its rank is bounded.
    """
    parameters = _parameter_count(shapes)
    is_small = parameters <= MAX_DIFFERENTIATED_PARAMETERS
    # Where the ranks of OV are bounded by less than d and d', the functions are not those of the
    # model.
    sizes = zip(shapes, model.layer_sizes, strict=True)
    is_of_model = all(layer[0].beta == min(d, d_out) for layer, (d, d_out, _) in sizes)
    if is_of_model and (model.is_plain or is_small):
        from m2bridge.maps.dimension import dimension  # needs SymPy, which is slow to import

        with suppress(TimeLimitError):
            at_random = dimension(model).lower
            return None if at_random is None else at_random.value
        return None
    if not is_small or any(not head.factored and head.has_factors for head in chain(*shapes)):
        return None
    draw = random_residues()
    numbers = Residues(LARGE_PRIME)
    layers = []
    for layer in matrices("KQAVO"):
        heads = []
        for head in layer:
            drawn = {}
            for letter, matrix in head.items():
                rows, columns = matrix.nrows(), matrix.ncols()
                drawn[letter] = random_matrix(numbers, rows, columns, draw)
            heads.append(drawn)
        layers.append(heads)
    try:
        return _rank(model, layers, min(upper, parameters))
    except (TimeLimitError, TooLargeError):
        return None


def _gauge(model: DeepAttention, shapes: HeadShapes) -> tuple[str, ...]:
    """Return the names of the factors of the gauge group, which acts on weights and preserves the
    function: each once, with how often it occurs, as ``GL(2) on K and Q (4 times)``.
    """
    heads = list(chain(*shapes))
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _RanksAtWeights:
    """Ranks of heads, and of heads and output bias; the latter also at random weights."""

    of_heads: int | None = None
    of_all: int | None = None
    generic_of_all: int | None = None
    note: str  # why they are not known, or the theorem by which they are; may be empty
    tokens: str = FROM_TWO_TOKENS  # for which numbers t of tokens these bounds hold


def _ranks_at_weights(
    model: DeepAttention,
    shapes: HeadShapes,
    matrices: MatricesByLetters,
    upper: int,
    *,
    output_bias: int,
    by_theorem: bool,
) -> _RanksAtWeights:
    """Return ranks at the weights; the one of heads is at most ``upper``.

    ``output_bias`` is by how much an output bias makes the dimension larger, and ``by_theorem``
    whether Theorem H applies to softmax with these sizes, if matrices at the weights have the ranks
    that it needs. It holds for every t ≥ 2.
    """
    parameters = _parameter_count(shapes)
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
        layers = list(matrices("KQAVO"))
        rank = _rank(model, layers, min(upper, parameters))
        # An output bias changes what heads do not, unless constants are functions of heads.
        of_all, generic = rank + output_bias, None
        if output_bias and _constants_are_functions_of_heads(model, shapes):
            (layer,) = layers  # constants are functions of heads in a single layer only
            of_all, generic = _ranks_with_output_bias(layer, rank, upper, output_bias)
    except (TimeLimitError, TooLargeError) as limit:
        # The rank of the heads alone may be known already.
        return _RanksAtWeights(of_heads=rank, note=str(limit), tokens=tokens)
    return _RanksAtWeights(
        of_heads=rank, of_all=of_all, generic_of_all=generic, note="", tokens=tokens
    )


def _rank(model: DeepAttention, layers: Sequence[Sequence[Matrices]], upper: int) -> int:
    """Return the rank of the differential modulo the prime, at most ``upper``."""

    def head_over(numbers: NumberSystem, head: Matrices) -> Matrices:
        """Return the matrices of a head over a number system, such as power series."""
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


def rows_of(matrix: Any) -> list[list[int]]:
    """Return the rows of a matrix of FLINT modulo the prime, as lists of integers of Python."""
    return [list(map(int, row)) for row in matrix.table()]


def _ranks_with_output_bias(
    heads: Sequence[Matrices], rank: int, most: int, outputs: int
) -> tuple[int, int | None]:
    """Return two ranks of a layer of lightning attention on tokens (x, 1) with an output bias of
    ``outputs`` entries: at the weights, and at random weights.

    They may be less than ``rank`` + ``outputs``, where ``rank`` is the rank of the heads alone, and
    ``most`` bounds it at any weights, as heads can add constants too. A layer whose A is given is
    not differentiated, as :class:`AffineLayer` has K and Q; nor are tokens with no entries but 1.
    """
    # The entries of x: the last column of K, Q and V is for the coordinate 1.
    width = heads[0]["V"].ncols() - 1
    if "A" in heads[0] or not width:
        return rank, None
    layer = AffineLayer(
        width=width,
        heads=tuple({letter: rows_of(M) for letter, M in head.items()} for head in heads),
        output_bias=(0,) * outputs,  # derivatives do not depend on it
        norm="",
        gamma=(),
        beta=(),
    )
    random_layer = layer.drawn(partial(Random(RANK_POINT_SEED).randrange, LARGE_PRIME))
    # An output bias adds at most as many dimensions as it has entries.
    at_weights = rank_modulo_prime(skip=False, layers=[layer], upper=rank + outputs)
    return at_weights, rank_modulo_prime(skip=False, layers=[random_layer], upper=most + outputs)


# What ranks of single matrices prove


def separate_at_weights(model: DeepAttention, matrices: MatricesByLetters) -> bool:
    """Return whether the hypotheses of Theorem H are proved to hold at these weights.

    They are, for layers k = 1, …, l: the sum B_k of the matrices V (or OV) of layer k, plus the
    identity with skip connections, is onto for k < l and one-to-one for k > 1; and the quadratic
    forms of the heads of layer k are independent on the tokens that some head of layer k − 1 has as
    outputs. No value matrix may be zero, which the caller checks. Full ranks modulo the prime at
    random tokens prove them; False may be bad luck. TooLargeError for several wide layers.
    """
    draw = random_residues()
    if model.layers == 1:
        # Theorem H has no conditions on the values of a single layer: V and O are not read.
        (heads,) = check_deadline_in(matrices("KQA"))
        return _are_independent(heads, _random_tokens(model.widths[0], model.heads, draw))
    if max(model.widths) > MAX_WIDTH:
        raise TooLargeError(f"it is computed for widths up to {MAX_WIDTH}")
    # The tokens at which the forms of a layer are evaluated: random ones for the first layer, and
    # for each other layer the outputs of each head of the layer before, at random tokens.
    seen_by_layer = [_random_tokens(model.widths[0], model.heads, draw)]
    for k, heads in enumerate(check_deadline_in(matrices("KQAVO")), start=1):
        # The forms have to be independent on the outputs of one head of the layer before.
        if not any(_are_independent(heads, X) for X in seen_by_layer):
            return False
        width, width_after = model.widths[k - 1], model.widths[k]
        value_matrices = list(map(_values, heads))
        total = reduce(add, value_matrices)
        if model.skip:
            total = total + Residues(LARGE_PRIME).matrix(unit_rows(total.ncols()))
        rank = int(total.rank())
        is_onto, is_one_to_one = rank == width_after, rank == width
        if k < model.layers and not is_onto:
            return False
        if k > 1 and not is_one_to_one:
            return False
        X = _random_tokens(width, model.heads, draw)
        seen_by_layer = [V * X for V in value_matrices]
    return True


def _random_tokens(width: int, forms: int, draw: Draw) -> Any:
    """Return random tokens modulo the prime, as columns of a matrix, more than there are quadratic
    forms: so independent forms have independent rows of values with probability near 1.
    """
    return random_matrix(Residues(LARGE_PRIME), width, forms + SPARE_ROWS, draw)


def _are_independent(layer: Sequence[Matrices], X: Any) -> bool:
    """Return whether the quadratic forms xᵀAx of all heads of a layer are linearly independent at
    the columns x of X, modulo the prime.
    """
    return rank_mod([bilinear_form(head, X, X) for head in layer], LARGE_PRIME) == len(layer)


def bilinear_form(head: Matrices, X: Any, Y: Any) -> list[int]:
    """Return the values of xᵀAy for the columns x of X and y of Y in the same place."""
    # A = KᵀQ is not multiplied out: it is a large matrix of small rank.
    if "A" in head:
        return column_products(X, head["A"] * Y)
    return column_products(head["K"] * X, head["Q"] * Y)


def _values(head: Matrices) -> Any:
    """Return the matrix of the values of a head: V, or OV where there is an output matrix."""
    return head["O"] * head["V"] if "O" in head else head["V"]


def free_base_changes(model: DeepAttention, matrices: MatricesByLetters) -> int:
    """Return the sum of d² over those widths d between layers at which it is proved that every
    change of base but the identity changes the functions of the heads, at these weights.

    Where the outputs of all heads of a layer span the space of tokens behind it, of dimension d,
    each change of base of this space changes some of them, and not the function of the network: d²
    dimensions. With A = 0 a head of lightning attention has no outputs, whatever its values are.
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
            has_outputs = model.softmax
            if not has_outputs:
                # xᵀAy ≠ 0 for random vectors x and y proves that A is not 0. K and Q have as many
                # columns as V, or A is d × d.
                d = head["V"].ncols()
                x, y = (random_matrix(Residues(LARGE_PRIME), d, 1, draw) for _ in range(2))
                has_outputs = any(bilinear_form(head, x, y))
            if has_outputs:
                columns += _values(head).transpose().table()
        if columns and rank_mod(columns, LARGE_PRIME) == after:
            free += after**2
    return free

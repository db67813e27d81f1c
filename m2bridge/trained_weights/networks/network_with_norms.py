"""Several layers with biases or norms, one after the other: what their function determines.

The dimension of such a network is enclosed. Above it is the sum of the dimensions of the layers,
less that of the symmetries between them; below it the rank of the differential, at these weights or
at random ones. Proofs are in ``docs/weights-mathematics.md``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, starmap
from typing import Any, Self

import numpy

from m2bridge.algebra.linear_algebra import rank_mod
from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.errors import TimeLimitError, TooLargeError
from m2bridge.maps.jacobian_rank import (
    ALMOST_ALL_TOKENS,
    FROM_TWO_TOKENS,
    dimension_facts,
    is_regular,
)
from m2bridge.results.known import Bounds, intersect_bounds
from m2bridge.trained_weights.checkpoints.files import as_fractions
from m2bridge.trained_weights.checkpoints.tensors import LayerTensors, Norm
from m2bridge.trained_weights.heads.findings import HeadWeights, sum_of_known
from m2bridge.trained_weights.heads.ranks import HeadShape, residues_of, without_last_row
from m2bridge.trained_weights.heads.token_space import ReducedHead, norm_before
from m2bridge.trained_weights.networks.differential import (
    AffineLayer,
    check_size,
    ranks as differential_ranks,
)
from m2bridge.trained_weights.networks.groups import FiniteGroup, Symmetries, products
from m2bridge.trained_weights.networks.shared_keys import ENOUGH_TOKENS, ranks_of_groups
from m2bridge.trained_weights.networks.symmetries import (
    AnalysisOptions,
    LayerAtWeights,
    NormAndOutputBias,
    SoftmaxLayer,
    finite_symmetries,
    head_groups,
    network_model,
    symmetries_of_layer,
    without_mean,
)

BEHIND_LAYER_NORM = "outputs along (1, …, 1), which the next LayerNorm takes away"
"""The name of a symmetry between layers."""
LAYER_NORM = "LayerNorm"
"""How a layer calls the norm before it that takes the mean away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkWithNorms:
    """Several layers with biases or norms, at given weights, for two tokens.

    What is said holds for all but finitely many numbers of tokens.

    Parameters
    ----------
    model : DeepAttention
        The network without biases and norms.
    dimension : Bounds
        Of the functions of the network; its upper bound is always known.
    reason : str
        Why the upper bound holds.
    ranks : DifferentialRanks
        Of the differential.
    symmetries : Symmetries
        What is said of the network: those of the layers, and those between them.
    kind : str
        What its layers have besides their matrices, in words that follow the title of the model.
    """

    model: Any
    dimension: Bounds
    reason: str
    ranks: DifferentialRanks
    symmetries: Symmetries
    kind: str = ", with biases or norms"

    @property
    def tokens(self) -> str:
        """For which numbers t of tokens all of this is proved."""
        return ALMOST_ALL_TOKENS

    @property
    def rank(self) -> int | None:
        """A lower bound for the rank of the differential at these weights, if it is computed."""
        return self.ranks.at_weights

    @property
    def most_rank(self) -> int | None:
        """An upper bound for it, if one is known."""
        return self.ranks.most_at_weights

    @property
    def parameters(self) -> int:
        """All entries."""
        return self.symmetries.parameters

    @property
    def regular(self) -> bool | None:
        """Whether the weights are proved to be a regular point; ``None`` if that is not decided."""
        return is_regular(self.dimension, self.rank, self.most_rank)

    @property
    def note(self) -> str:
        """Why it is not decided whether the weights are a regular point; empty if it is."""
        if self.regular is not None:
            return ""
        if self.rank is None:
            return self.ranks.method
        return f"the rank of the differential is at least {self.rank}, {self.ranks.method}"

    def facts(self) -> list[tuple[str, object]]:
        """Names and values for people, but for the symmetries, which the result names itself."""
        facts: list[tuple[str, object]] = [
            ("network", f"{self.model.title}{self.kind}"),
            *dimension_facts(self.parameters, self.dimension),
        ]
        if self.regular:
            known = f"the rank of the differential is the dimension, {self.ranks.method}"
            regular = f"yes (proved: {known})"
        elif self.regular is False:
            most = f"the rank of the differential is at most {self.most_rank}"
            regular = f"no (proved: {most}, by the ranks of the heads)"
        else:
            regular = f"not decided: {self.note}"
        facts.append(("regular point", regular))
        return facts

    def to_json(self) -> dict[str, Any]:
        """The values for ``json.dumps``."""
        upper = {"value": self.dimension.upper, "reason": self.reason}
        return {
            **self.model.to_json(),
            **self.symmetries.to_json(),
            "lower_bound": self.dimension.lower,
            "upper_bound": upper,
            "rank_at_weights": self.rank,
            "regular": self.regular,
            "note": self.note or None,
            "holds_for": self.tokens,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """A symmetry between two layers.

    Parameters
    ----------
    name : str
    size : int
        The dimension of the group.
    free : int
        The dimension of its orbits on the functions of the layers, for generic weights, or less.
    by_biases : bool
        Whether it moves output biases.
    """

    name: str
    size: int
    free: int
    by_biases: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferentialRanks:
    """Bounds for ranks of the differential of a network.

    Parameters
    ----------
    at_weights, at_random : int or None
        Lower bounds, at given and at random weights; ``None`` if not computed, or not needed.
    most_at_weights : int or None
        An upper bound, if one is known.
    method : str
        How they were computed, or why they were not.
    """

    at_weights: int | None = None
    most_at_weights: int | None = None
    at_random: int | None = None
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysedLayer:
    """A layer among others, with what is known of it alone.

    Parameters
    ----------
    number : int
        Counted from 1.
    tensors : LayerTensors
    heads : list of HeadWeights
    around : NormAndOutputBias
    symmetries : Symmetries
        Of this layer alone.
    reading : AnalysisOptions
    """

    number: int
    tensors: LayerTensors
    heads: list[HeadWeights]
    around: NormAndOutputBias
    symmetries: Symmetries
    reading: AnalysisOptions

    @property
    def shapes(self) -> list[HeadShape]:
        """The numbers of its heads."""
        return [head.shape for head in self.heads]

    @property
    def outputs(self) -> int:
        """The number of entries of its outputs."""
        return self.shapes[0].d_out

    @property
    def has_biases(self) -> bool:
        """Whether a translation of its tokens is as other biases; softmax needs that of Q."""
        shape = self.shapes[0]
        return max(shape.queries, shape.d) > shape.width

    @property
    def constant(self) -> int:
        """The dimension of the constants that it adds to what the heads do."""
        if isinstance(self.symmetries, LayerAtWeights):
            return self.symmetries.constant
        return self.around.output_bias

    @property
    def of_heads(self) -> int:
        """The sum of the dimensions of its groups of heads, each alone, and of the constants."""
        groups = head_groups(self.shapes, self.around)
        return sum(group.dimension for group in groups) + self.constant

    @property
    def dimension(self) -> int:
        """An upper bound for the dimension of its functions."""
        return self.symmetries.parameters - (self.symmetries.redundant.lower or 0)

    def less_one_output(self) -> Self:
        """Return the layer with one output less, as only so much of it passes a LayerNorm."""
        shapes, around = without_mean(self.shapes, self.around)
        heads = []
        for head, shape in zip(self.heads, shapes, strict=True):
            heads.append(replace(head, shape=shape))
        if isinstance(self.symmetries, SoftmaxLayer):
            symmetries: Symmetries = SoftmaxLayer.of(shapes, around)
        elif around.is_grouped:
            symmetries = GroupedLayer.of(shapes, around, NO_RANKS)
        else:
            symmetries = symmetries_of_layer(shapes, self.reading, around.besides())
        return replace(self, heads=heads, around=around, symmetries=symmetries)

    def span(self) -> int:
        """A lower bound for the dimension that differences of its outputs span, generically.

        Where a rank or a theorem shows that heads are independent, all of them count, and else one
        of them (docs/weights-mathematics.md, What the outputs of a layer span).
        """
        independent = self.symmetries.dimension.exact == self.of_heads
        # Where heads share K and V, the A_h of each group have to be independent too.
        first = self.shapes[0]
        independent = independent and self.around.sharing <= first.alpha * first.queries
        heads = len(self.heads) if independent else 1
        return min(self.outputs, heads * self.shapes[0].beta)


def layers_in_a_row(layers: Sequence[AnalysedLayer], reading: AnalysisOptions) -> NetworkWithNorms:
    """Return what is known of the network of these layers.

    Its dimension is at most the sum of those of the layers, less the dimension in which groups
    between the layers act freely; and at least the rank of the differential at any weights.
    """
    shapes = [layer.shapes for layer in layers]
    # It refuses skip connections between layers of different widths.
    model = network_model(shapes, reading, width=shapes[0][0].width)
    passed = []
    between = []
    for layer, after in pairwise(layers):
        # What of the layer passes the next norm.
        narrow = layer
        if after.around.norm == LAYER_NORM and not reading.skip:
            narrow = layer.less_one_output()
            size = layer.of_heads - narrow.of_heads
            known = layer.dimension == layer.of_heads and narrow.dimension == narrow.of_heads
            if layer.around.is_grouped:
                dimensions = (layer.symmetries.dimension, narrow.symmetries.dimension)
                known = known and all(found.exact is not None for found in dimensions)
            between.append(Between(name=BEHIND_LAYER_NORM, size=size, free=size if known else 0))
        passed.append(narrow)
    acting = list(_between(layers, passed, reading))
    between += acting
    most = sum(layer.dimension for layer in [*passed, layers[-1]])
    most -= sum(part.free for part in acting)
    less = sum(layer.dimension for layer in layers) - most
    reason = "the sum of the layers"
    if less:
        reason += f", less {less} for symmetries between them"
    ranks = _ranks(layers, acting, reading, most)
    dimension = Bounds.at_most(most, reason)
    for lower in (ranks.at_weights, ranks.at_random):
        if lower is not None:
            because = f"the rank of the differential {ranks.method}"
            dimension = intersect_bounds(dimension, Bounds.at_least(lower, because))
    why = ranks.method if ranks.at_weights is None else ""
    return NetworkWithNorms(
        model=model,
        dimension=dimension,
        reason=reason,
        ranks=ranks,
        symmetries=_compared(layers, between, dimension, why),
        kind=_kind(layers),
    )


def _kind(layers: Sequence[AnalysedLayer]) -> str:
    """What layers have besides matrices of their own heads, in words."""
    kinds = []
    changed = any(layer.shapes[0].coordinates for layer in layers)
    if changed or not all(layer.around.is_nothing for layer in layers):
        kinds.append("biases or norms")
    if any(layer.around.sharing > 1 for layer in layers):
        kinds.append("keys and values that heads share")
    if any(layer.around.rotary for layer in layers):
        kinds.append("rotary positions")
    return f", with {' and '.join(kinds)}"


def _compared(
    layers: Sequence[AnalysedLayer], between: Sequence[Between], dimension: Bounds, why: str
) -> Symmetries:
    """The redundant directions, compared with the symmetries of the layers and between them."""
    named: Counter[str] = Counter()
    finite: list[FiniteGroup] = []
    least = 0
    for layer in layers:
        finite += finite_symmetries(layer.shapes, layer.around.sharing)
        named.update(dict(layer.symmetries.named))
        least += layer.symmetries.listed.upper or 0
    most = least
    for symmetry in between:
        named[symmetry.name] += symmetry.size
        least += symmetry.free
        most += symmetry.size
    return Symmetries(
        parameters=sum(layer.symmetries.parameters for layer in layers),
        dimension=dimension,
        named=tuple((name, size) for name, size in named.items() if size),
        listed=Bounds(least, most),
        finite=products(finite),
        why=why,
    )


def _between(
    layers: Sequence[AnalysedLayer], passed: Sequence[AnalysedLayer], reading: AnalysisOptions
) -> Iterator[Between]:
    """The symmetries between layers: changes of base or rotations, and translations.

    A change of base keeps what the layer before it does exactly if it keeps the span of its
    outputs. Translations always act freely.
    """
    hidden = [layer.outputs for layer in passed]
    for layer, after in zip(passed, layers[1:], strict=True):
        d, span = layer.outputs, layer.span()
        if reading.skip:
            continue
        if not after.around.norm:
            yield Between(name=f"GL({d}) between layers", size=d * d, free=d * span)
        elif d > 1 and after.around.turns:
            size = _rotations(d)
            free = size - _rotations(d - span)
            yield Between(name=f"O({d}) between a layer and the next norm", size=size, free=free)
    has_norms = any(layer.around.norm for layer in layers)
    if not all(layer.around.output_bias for layer in layers):
        return
    if not has_norms and all(layer.has_biases for layer in layers[1:]):
        size = sum(hidden)
        name = "translations of tokens between layers, by biases"
        yield Between(name=name, size=size, free=size, by_biases=True)
    elif reading.skip and all(layer.around.norm == LAYER_NORM for layer in layers):
        size = len(hidden)
        name = "output biases along (1, …, 1)"
        yield Between(name=name, size=size, free=size, by_biases=True)


def _rotations(d: int) -> int:
    """The dimension of the group of rotations in d dimensions."""
    return d * (d - 1) // 2


def _ranks(
    layers: Sequence[AnalysedLayer], acting: Sequence[Between], reading: AnalysisOptions, most: int
) -> DifferentialRanks:
    """The ranks of the differential, or why they are not computed."""
    if any("A" in layer.tensors.parts for layer in layers):
        return DifferentialRanks(
            method="ranks of several layers with biases or norms need K and Q, not A"
        )
    if any(layer.around.rotary for layer in layers):
        return DifferentialRanks(
            method="ranks of several layers with rotary positions are not computed"
        )
    parameters = sum(layer.symmetries.parameters for layer in layers)
    in_balls = reading.softmax or any(layer.around.norm for layer in layers)
    try:
        check_size(parameters, in_balls=in_balls)
        most_here = _most_rank(layers, acting, reading.skip)
        rank, generic, method = differential_ranks(
            [AffineLayer(**_entries(layer)) for layer in layers],
            skip=reading.skip,
            softmax=reading.softmax,
            most=most,
            most_at_weights=most if most_here is None else min(most, most_here),
        )
        # They are computed in two ways, which have to agree.
        intersect_bounds(
            Bounds.at_least(rank, method), Bounds.at_most(most_here, "the ranks of the heads")
        )
    except (TimeLimitError, TooLargeError) as limit:
        return DifferentialRanks(method=str(limit))
    return DifferentialRanks(
        at_weights=rank, most_at_weights=most_here, at_random=generic, method=method
    )


def _entries(layer: AnalysedLayer) -> dict[str, Any]:
    """The entries of a layer as fractions, with biases as columns beside their matrices."""
    reading = layer.reading
    heads = []
    norm: Norm | None = None
    output_bias: Any = ()
    for head in layer.tensors.heads(layer.number, reading.heads):
        norm = norm_before(head, reading.norm)
        biases = head.biases if reading.biases else {}
        if reading.biases and head.O_bias is not None:
            output_bias = as_fractions(head.O_bias).tolist()
        matrices = {}
        for letter, matrix in head.matrices.items():
            columns = as_fractions(matrix)
            bias = biases.get(letter)
            # In lightning attention a missing bias is a zero one: K, Q and V act on tokens (x, 1).
            if bias is None and biases and letter in "KQV" and not reading.softmax:
                bias = numpy.zeros(len(matrix))
            if bias is not None:
                columns = numpy.column_stack([columns, as_fractions(bias)])
            matrices[letter] = columns.tolist()
        heads.append(matrices)
    gamma: Any = ()
    beta: Any = ()
    if norm is not None and norm.gamma is not None:
        gamma = as_fractions(norm.gamma).tolist()
    if norm is not None and norm.beta is not None and reading.biases:
        beta = as_fractions(norm.beta).tolist()
    return {
        "width": layer.shapes[0].width,
        "heads": tuple(heads),
        "output_bias": tuple(output_bias),
        "norm": norm.kind if norm is not None else "",
        "gamma": tuple(gamma),
        "beta": tuple(beta),
        "sharing": layer.around.sharing,
    }


def _most_rank(
    layers: Sequence[AnalysedLayer], acting: Sequence[Between], skip: bool
) -> int | None:
    """An upper bound for the rank at these weights, by those of the heads, each alone.

    Symmetries between the layers move the functions of the heads, and not that of the network.
    """
    most = 0
    for layer in layers:
        # Parameters that heads share are a part of those that they have each alone.
        of_heads = sum_of_known(head.most_rank for head in layer.heads)
        if of_heads is None:
            return None
        if isinstance(layer.symmetries, LayerAtWeights) and layer.symmetries.rank.upper is not None:
            of_heads = min(of_heads, layer.symmetries.rank.upper)
        most += of_heads
        if layer.constant:
            most += layer.outputs
    for symmetry in acting:
        if symmetry.by_biases:
            # Output biases are moved, whatever the weights are.
            most -= symmetry.size
    if not skip:
        most -= sum(starmap(_moved, pairwise(layers)))
    return most


def _moved(layer: AnalysedLayer, after: AnalysedLayer) -> int:
    """The number of directions in which symmetries behind a layer move its heads.

    They are counted at the weights, modulo the prime: rather too few than too many.
    """
    takes_mean_away = after.around.norm == LAYER_NORM
    moved = 0
    columns: list[Any] = []
    for head in layer.reading.seen_heads(layer.number, layer.tensors):
        matrices = residues_of(head)
        # With A = 0 a head of lightning attention is zero, whatever its values are.
        if not layer.reading.softmax and not _attention(matrices).rank():
            continue
        values = matrices["V"]
        free = values.ncols()
        if "O" in matrices:
            free = values.rank()
            values = matrices["O"] * values
        if takes_mean_away:
            # O + 1·uᵀ changes nothing that passes the norm.
            moved += free
            values = without_last_row(values)
        columns += values.transpose().table()
    span = rank_mod(columns, LARGE_PRIME) if columns else 0
    d = layer.outputs
    if not after.around.norm:
        return moved + d * span
    if takes_mean_away:
        d -= 1
        moved += layer.around.output_bias > 0
    if after.around.turns:
        moved += _rotations(d) - _rotations(d - span)
    return moved


def _attention(matrices: Mapping[str, Any]) -> Any:
    """A = KᵀQ."""
    if "A" in matrices:
        return matrices["A"]
    return matrices["K"].transpose() * matrices["Q"]


NO_RANKS = DifferentialRanks(method="")
"""Of a layer whose weights are not looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedLayer(LayerAtWeights):
    """A layer of lightning attention whose heads share keys and values, or are rotated.

    Its dimension is enclosed: above are the parameters less the symmetries of the groups of heads,
    below the rank of the differential, at these weights or at random ones.
    """

    @classmethod
    def of(
        cls, shapes: Sequence[HeadShape], around: NormAndOutputBias, ranks: DifferentialRanks
    ) -> Self:
        """Return the layer with these heads, and the ranks of its differential."""
        groups = head_groups(shapes, around)
        named: Counter[str] = Counter()
        for group in groups:
            named.update(dict(group.redundant()))
        named.update(dict(around.named()))
        parameters = sum(group.parameters for group in groups) + around.besides().parameters
        most = parameters - named.total()
        first = shapes[0]
        if not around.rotary:
            # With more tokens than entries T is a tensor that is symmetric in two places.
            most = min(most, _tensors(first) + around.output_bias * (not _has_one(first)))
        dimension = Bounds.at_most(most, "the parameters less those of the listed symmetries")
        for rank in (ranks.at_weights, ranks.at_random):
            if rank is not None:
                because = f"the rank of the differential {ranks.method}"
                dimension = intersect_bounds(dimension, Bounds.at_least(rank, because))
        return cls(
            parameters=parameters,
            dimension=dimension,
            named=tuple((name, size) for name, size in named.items() if size),
            listed=Bounds.exactly(named.total()),
            finite=finite_symmetries(shapes, around.sharing),
            why=ranks.method if ranks.at_weights is None else "",
            constant=around.output_bias,
            rank=Bounds(ranks.at_weights, _least(ranks.most_at_weights, dimension.upper)),
            tokens=ENOUGH_TOKENS if around.rotary else FROM_TWO_TOKENS,
            note=ranks.method if ranks.at_weights is None else "",
        )


def _least(first: int | None, second: int | None) -> int | None:
    """The least of those that are known."""
    return min((number for number in (first, second) if number is not None), default=None)


def _has_one(shape: HeadShape) -> bool:
    """Whether the last coordinate of tokens is 1."""
    return shape.coordinates is not None and shape.coordinates.has_one


def _tensors(shape: HeadShape) -> int:
    """The number of entries of tensors that are symmetric in two of their three places."""
    d = shape.d
    return shape.d_out * (d * (d + 1) // 2) * d


def grouped_layer(
    heads: Sequence[HeadWeights],
    reduced: Sequence[ReducedHead],
    around: NormAndOutputBias,
    reading: AnalysisOptions,
) -> GroupedLayer:
    """Return what is known of a layer of lightning attention in which heads share K and V.

    Its heads act on the coordinates of tokens that are seen; a norm before it changes nothing in
    what they determine.
    """
    shapes = [head.shape for head in heads]
    bounds = GroupedLayer.of(shapes, around, NO_RANKS)
    most = bounds.dimension.upper or 0
    at_weights = _most_rank_of_groups(heads, reduced, around)
    first = shapes[0]
    if around.rotary and _has_one(first):
        return GroupedLayer.of(
            shapes,
            around,
            DifferentialRanks(method="ranks with rotary positions and biases are not computed"),
        )
    try:
        check_size(bounds.parameters, in_balls=False)
        layer = AffineLayer(
            width=first.d - _has_one(first),
            heads=tuple(_residues_of_rows(head) for head in reduced),
            output_bias=(0,) * around.output_bias,
            norm="",
            gamma=(),
            beta=(),
            sharing=around.sharing,
            rotary=around.rotary,
        )
        rank, generic, method = differential_ranks(
            [layer],
            skip=False,
            softmax=False,
            most=most,
            most_at_weights=most if at_weights is None else min(most, at_weights),
        )
        ranks = DifferentialRanks(
            at_weights=rank, most_at_weights=at_weights, at_random=generic, method=method
        )
    except (TimeLimitError, TooLargeError) as limit:
        ranks = DifferentialRanks(most_at_weights=at_weights, method=str(limit))
    return GroupedLayer.of(shapes, around, ranks)


def _residues_of_rows(head: ReducedHead) -> dict[str, list[list[int]]]:
    """The rows of the matrices of a head modulo the prime, as integers."""
    matrices = residues_of(head, "KQVO")
    return {x: [list(map(int, row)) for row in matrix.table()] for x, matrix in matrices.items()}


def _most_rank_of_groups(
    heads: Sequence[HeadWeights], reduced: Sequence[ReducedHead], around: NormAndOutputBias
) -> int | None:
    """An upper bound for the rank at the weights: that of their products, less the rescalings.

    Each head that is not A = 0 and V = 0 is moved by its own.
    """
    groups = head_groups([head.shape for head in heads], around)
    products = ranks_of_groups(groups, heads, reduced).upper
    if products is None or not all(head.ranks.proved for head in heads):
        return None
    rescaled = sum(1 for head in heads if head.ranks.r or head.ranks.s)
    return products - rescaled + around.output_bias

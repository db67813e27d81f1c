"""What a layer has in addition to its heads, its finite symmetries, and layers by theorems alone.

Layers of softmax with biases, shared keys or rotary positions are in ``softmax``, and others in
``network`` and ``grouped_layer``. Proofs are in ``docs/weights-mathematics.md``.

Head h has A_h = KᵀQ and V_h, or O_h V_h with a d' × v matrix O_h; ``shapes`` are the sizes d, d',
a, v of the heads of a layer, which are all equal (``queries``: the number of columns of Q; ``v`` is
``None`` without O). ``around`` is the ``NormAndOutputBias`` of the layer. The *constant* of a layer
is what it adds to its outputs whatever the tokens are. Redundant directions are pairs of a name and
a number of dimensions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple, Self

from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.results.known import Bounds
from m2bridge.trained_weights.checkpoints.model_choice import ModelChoice
from m2bridge.trained_weights.checkpoints.norms import Norm
from m2bridge.trained_weights.checkpoints.tensors import HeadArrays, LayerTensors
from m2bridge.trained_weights.heads.ranks import HeadShape
from m2bridge.trained_weights.heads.reduced_head import ReducedHead, norm_before, reduce_head
from m2bridge.trained_weights.heads.token_space import Tokens
from m2bridge.trained_weights.networks.at_weights import NetworkAtWeights
from m2bridge.trained_weights.networks.differential import EPSILON
from m2bridge.trained_weights.networks.groups import (
    ExtraParameters,
    FiniteGroup,
    Symmetries,
    nonzero_directions,
    symmetries_json,
    symmetry_names,
)
from m2bridge.trained_weights.networks.network import known_symmetries
from m2bridge.trained_weights.networks.shared_keys import HeadGroup


@dataclass(frozen=True, slots=True)
class AnalysisOptions:
    """How the layers of a file are read.

    Parameters
    ----------
    heads : int or None
        The number of heads of each layer; ``None`` where shapes show it.
    normalization : str
        ``none`` or ``softmax``.
    skip : bool
        Whether each layer adds its input to its output.
    biases : bool
        Whether biases are counted.
    norm : str or None
        ``layer``, ``rms`` or ``none`` in place of the norm that the file has; ``None`` keeps the
        norm of the file.
    rotary : bool
        Whether queries and keys are rotated by positions.
    epsilon : Fraction
        The number that norms add to the variance, one for all layers.
    """

    heads: int | None
    normalization: str
    skip: bool
    biases: bool
    norm: str | None
    rotary: bool = False
    epsilon: Fraction = EPSILON

    @classmethod
    def of(cls, choice: ModelChoice, *, heads: int | None, biases: bool, norm: str | None) -> Self:
        """Return the options for layers of the model ``choice``, which config.json or a user names.
        The option ``norm``, if it is not ``None``, is in place of the norm of the model.
        """
        # ``rms1`` and ``layer1`` multiply by 1 + γ, which is put into γ when layers are read.
        if norm is not None:
            norm = norm.removesuffix("1")
        return cls(
            heads=heads,
            normalization="softmax" if choice.softmax else "none",
            skip=choice.skip,
            biases=biases,
            # The file has no arrays of a norm with γ = 1: its kind, or empty if there is no such
            # norm.
            norm=norm or choice.norm_of_ones or None,
            rotary=choice.rotary,
            epsilon=choice.epsilon or EPSILON,
        )

    @property
    def softmax(self) -> bool:
        """Whether scores are normalized by softmax."""
        return self.normalization == "softmax"

    def reduced(self, head: HeadArrays) -> ReducedHead:
        """Return a head on the coordinates of its tokens."""
        return reduce_head(head, softmax=self.softmax, biases=self.biases, norm=self.norm)

    def reduced_heads(self, number: int, layer: LayerTensors) -> Iterator[ReducedHead]:
        """Yield the heads of a layer on the coordinates of their tokens."""
        return map(self.reduced, layer.heads(number, self.heads))


@dataclass(frozen=True, slots=True)
class NormAndOutputBias:
    """What a layer has in addition to the matrices of its heads.

    Parameters
    ----------
    norm : str
        ``LayerNorm`` or ``RMSNorm`` before the layer, or empty.
    norm_after : str
        ``LayerNorm`` or ``RMSNorm`` after the layer, or empty.
    hides_mean : bool
        Whether the norm after the layer is a LayerNorm, which hides the sum of the outputs, and no
        γ_i = 0 in it hides more.
    output_bias : int
        The number of entries of the output bias; 0 without one.
    gamma, beta : int
        The numbers of entries of γ and β of the norm before, if K, Q, V and their biases can undo
        any change of them; 0 where they cannot, and γ or β is taken as it is.
    missing : str
        Which of Q, K, V have no bias where others have one, as ``Q, K``; empty if none.
    sharing : int
        The number of heads in a row with the same K and V; 1 if none are shared.
    absorbs_linear_maps : bool
        Whether K, Q and V, with their biases, can undo any linear change of the tokens behind the
        norm, before its γ and β.
    rotary : bool
        Whether queries and keys are rotated by positions.
    """

    norm: str
    norm_after: str
    hides_mean: bool
    output_bias: int
    gamma: int
    beta: int
    missing: str
    absorbs_linear_maps: bool
    sharing: int = 1
    rotary: bool = False

    @classmethod
    def of(cls, head: HeadArrays, options: AnalysisOptions) -> Self:
        """Return the norms and the output bias of a layer, and what of the norm before it K, Q and
        V can undo; ``head`` is any of its heads, as the file has it, since all have the same.
        """
        norm = norm_before(head, options.norm)
        # The letters of the matrices that have biases, if these count.
        biases: set[str] = set()
        output_bias = 0
        if options.biases:
            biases = set(head.biases)
            output_bias = 0 if head.O_bias is None else len(head.O_bias)
        undone = _undone_changes(norm, biases, options)
        # Biases that a user is told to be taken as 0.
        missing = ""
        if biases and not options.softmax and "A" not in head.matrices:
            missing = ", ".join(letter for letter in "QKV" if letter not in biases)
        # A norm after the layer is looked at only where there is none before it.
        after = None
        if norm is None and head.norm is not None and head.norm.place == "post":
            after = head.norm
        return cls(
            norm=norm.title if norm else "",
            norm_after=after.title if after else "",
            hides_mean=after is not None and after.kind == "layer" and after.is_invertible,
            output_bias=output_bias,
            gamma=undone.gamma,
            beta=undone.beta,
            missing=missing,
            sharing=head.sharing,
            absorbs_linear_maps=undone.linear_maps,
            # Rotations act on pairs of rows of K and Q.
            rotary=options.rotary and "K" in head.matrices and len(head.matrices["K"]) % 2 == 0,
        )

    @property
    def is_empty(self) -> bool:
        """Whether there is neither a norm before the layer nor an output bias."""
        return not (self.norm or self.output_bias)

    @property
    def is_grouped(self) -> bool:
        """Whether heads share K and V, so that they are not determined each alone, or are rotated
        by positions, so that not A = KᵀQ alone is determined.
        """
        return self.sharing > 1 or self.rotary

    def redundant_directions(self) -> tuple[tuple[str, int], ...]:
        """Return the redundant directions that come with γ and β of the norm before the layer, as
        pairs of a name and a number of dimensions: changes of the weights that keep the function.

        Each entry of γ or β that ``gamma`` and ``beta`` count is one such direction, since K, Q, V
        and their biases can undo its change. Names without a direction are left out.
        """
        found = (
            ("γ of the norm against K, Q and V", self.gamma),
            ("β of the norm against the biases of Q, K and V", self.beta),
        )
        return tuple((name, size) for name, size in found if size)

    def extra_parameters(self, finite: tuple[FiniteGroup, ...] = ()) -> ExtraParameters:
        """Return the parameters that the layer has in addition to its heads: the output bias, γ and
        β. ``finite`` are the finite symmetries of the layer.

        Only the output bias makes the dimension of the functions larger: what a counted entry of γ
        or β does, K, Q, V and their biases can do.
        """
        return ExtraParameters(
            parameters=self.output_bias + self.gamma + self.beta,
            dimension=self.output_bias,
            named=self.redundant_directions(),
            finite=finite,
        )

    def remarks(self) -> Iterator[str]:
        """Yield remarks, as sentences: on missing biases, for which 0 is taken, and on a norm after
        the layer.
        """
        if self.missing:
            yield (
                f"there is no bias of {self.missing}: 0 is taken as one, and what is said is of the"
                " layer in which Q, K and V have biases"
            )
        if self.norm_after:
            hidden = "nothing of its outputs"
            if self.norm_after == "LayerNorm":
                hidden = "the part of its outputs along (1, …, 1)"
            yield (
                "a norm after a layer changes nothing in what the layer itself determines; this"
                f" {self.norm_after} hides {hidden}"
            )


class _UndoneChanges(NamedTuple):
    """The changes of the norm before a layer that its K, Q and V, with their biases, can undo.

    ``gamma`` and ``beta`` are the numbers of entries of γ and β, if any change of them can be
    undone; else 0. ``linear_maps`` is whether any linear change of the tokens behind the norm,
    before its γ and β, can be.
    """

    gamma: int
    beta: int
    linear_maps: bool


def _undone_changes(
    norm: Norm | None, biases: set[str], options: AnalysisOptions
) -> _UndoneChanges:
    """Return which changes of the norm before a layer K, Q and V can undo; none without a norm.

    ``biases`` has the letters of the matrices that have biases; it is empty if biases do not count.
    """
    if norm is None:
        return _UndoneChanges(gamma=0, beta=0, linear_maps=False)
    linear_maps = norm.is_invertible
    # A change of β adds a constant to keys, queries and values, which biases take away again. In
    # softmax attention that of the keys does nothing; in lightning attention all three count as
    # having biases if one has.
    have_biases = {"Q", "V"} <= biases if options.softmax else bool(biases)
    beta = 0
    if options.biases and norm.beta is not None:
        tokens = Tokens.of(len(norm.beta), norm, biases=True)
        # Outside of the space of all γ∘x, β acts as a bias itself.
        if have_biases or tokens.is_moved:
            beta = len(norm.beta)
        elif norm.beta.any():
            # Matrices that undo a linear change of x change what they do to β, and there are no
            # biases to mend that.
            linear_maps = False
    gamma = 0
    # Where K, Q and V cannot undo changes of γ, it is taken as it is.
    if linear_maps and norm.gamma is not None:
        gamma = len(norm.gamma)
    return _UndoneChanges(gamma=gamma, beta=beta, linear_maps=linear_maps)


def network_model(
    shapes: Sequence[Sequence[HeadShape]], options: AnalysisOptions, width: int | None = None
) -> DeepAttention:
    """Return the network of layers with these heads, without biases and norms, for two tokens.

    ``shapes[k][h]`` has the sizes of head h of layer k, which are equal in a layer. Tokens have
    ``width`` entries, or, if it is ``None``, as many coordinates as the first layer sees of them.
    """
    widths = [width or shapes[0][0].d, *(layer[0].d_out for layer in shapes)]
    a = [layer[0].a for layer in shapes]
    return DeepAttention(
        widths, a, t=2, heads=len(shapes[0]), skip=options.skip, normalization=options.normalization
    )


def symmetries_of_layer(
    shapes: Sequence[HeadShape], options: AnalysisOptions, extra: ExtraParameters
) -> NetworkAtWeights:
    """Return what is known of one layer of these heads by bounds that need no weights; ``extra`` is
    what the layer has in addition to its heads.
    """
    # A skip connection around one layer adds a fixed function: nothing of the dimension changes.
    model = network_model([shapes], replace(options, skip=False))
    symmetries = known_symmetries(model, [shapes], extra)
    return NetworkAtWeights(symmetries=symmetries, constant=extra.dimension)


def heads_side_by_side(shapes: Sequence[HeadShape], around: NormAndOutputBias) -> NetworkAtWeights:
    """Return what is known of a layer without output matrix, whose outputs are those of its heads
    beside each other: the function of each head, or group of heads that share K and V, is known.
    """
    groups = head_groups(shapes, around)
    # The dimensions of the symmetries, by their names, added over the groups.
    named: Counter[str] = Counter()
    for group in groups:
        named.update(dict(group.redundant(are_added=False)))
    parameters = sum(group.parameters for group in groups)
    dimension = Bounds.exactly(parameters - named.total())
    coordinates = shapes[0].coordinates
    # Rotary positions in lightning attention: with biases or a norm it is not proved that these
    # symmetries are all.
    if around.rotary and coordinates is not None and not shapes[0].softmax:
        dimension = Bounds.at_most(dimension.upper, "the symmetries of the heads")
    symmetries = Symmetries(
        parameters=parameters,
        dimension=dimension,
        named=nonzero_directions(named),
        listed=Bounds.exactly(named.total()),
        finite=finite_symmetries(
            shapes, sharing=around.sharing, rotary=around.rotary, are_added=False
        ),
        side_by_side=True,
    )
    return NetworkAtWeights(symmetries=symmetries)


def head_groups(shapes: Sequence[HeadShape], around: NormAndOutputBias) -> list[HeadGroup]:
    """Return the groups of heads of a layer that share K and V, one after the other; a group for
    each head if none do. All heads have equal shapes, so the groups are equal.
    """
    sharing = around.sharing
    group = HeadGroup(shape=shapes[0], heads=sharing, rotary=around.rotary)
    return [group] * (len(shapes) // sharing)


def generic_heads_are_independent(shapes: Sequence[HeadShape], sharing: int) -> bool:
    """Return whether the matrices A_h = KᵀQ_h of generic heads, in groups of ``sharing``, are
    linearly independent.

    The A_h of a group are in a space of dimension min(a, d)·q, where q is the number of columns of
    Q, and all A_h are in one of dimension d·q. By Rado's theorem generic A_h are independent if
    and only if no group, and not the layer, has more heads than its space has dimensions
    (docs/weights-mathematics.md, Heads that share keys and values).
    """
    first = shapes[0]
    is_group_independent = sharing <= first.alpha * first.queries
    is_layer_independent = len(shapes) <= first.d * first.queries
    return is_group_independent and is_layer_independent


def finite_symmetries(
    shapes: Sequence[HeadShape], *, sharing: int = 1, rotary: bool = False, are_added: bool = True
) -> tuple[FiniteGroup, ...]:
    """Return the finite symmetries of a layer of heads with these ``shapes``, which are equal.

    ``sharing`` heads in a row have the same K and V. ``rotary`` says whether positions rotate
    queries and keys; ``are_added``, whether outputs of heads are added: else each has its place.
    """
    first, heads = shapes[0], len(shapes)
    found = []
    # Whether sharing K and V restricts nothing, as any A_h and V_h are those of such a group.
    is_free = HeadGroup(shape=first, heads=sharing, rotary=rotary).is_free
    # Where any A_h and V_h are those of heads, all H heads can be mixed, and permutations are in
    # GL(H), which is listed already. With rotations a head has special matrices KᵀRQ for all R.
    are_mixed = first.can_be_mixed and is_free and not rotary
    # Permutations map groups to groups, unless sharing restricts nothing.
    if heads > 1 and are_added and not are_mixed:
        block = 1 if is_free else sharing
        found.append(FiniteGroup.permutations("permutations of heads", heads, block=block))
    # The exchanged weights are those of a group, too, only if its heads have one k and one v: they
    # share K, and so k, and they have one v if V has one row.
    if first.can_be_exchanged and (sharing == 1 or first.v in (None, 1)):
        name = "exchange of k and v in A = k qᵀ, V = h vᵀ"
        found.append(FiniteGroup.exchanges(name, heads // sharing))
    return tuple(found)


def without_mean(
    shapes: Sequence[HeadShape], around: NormAndOutputBias
) -> tuple[list[HeadShape], NormAndOutputBias]:
    """Return the shapes of the heads, and the ``NormAndOutputBias``, of the layer whose outputs are
    the differences to the last output: it has one output less, as LayerNorm sees no more of them.
    """
    shapes_without_mean = [replace(shape, d_out=shape.d_out - 1) for shape in shapes]
    # An output bias has an entry less, too; 0 stands for none.
    output_bias = max(0, around.output_bias - 1)
    return shapes_without_mean, replace(around, output_bias=output_bias)


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerThenNorm:
    """A layer with the LayerNorm after it, which has the functions of a layer of d' − 1 outputs.

    Parameters
    ----------
    dimension : int
        The dimension of the functions of the layer and the norm together.
    hidden : tuple
        Pairs of a name and a number of directions that change the function of the layer, but not
        that of the layer and the norm together.
    """

    dimension: int
    hidden: tuple[tuple[str, int], ...]

    @classmethod
    def of(
        cls, dimension_of_layer: int, dimension_without_mean: int, has_output_bias: bool
    ) -> Self:
        """Return the dimension and the hidden directions of a layer with the LayerNorm after it.

        LayerNorm sees only the d' − 1 differences of the other outputs to the last one: the layer
        with these as outputs has functions of dimension ``dimension_without_mean``, which is that
        of layer and norm together. What is lacking to ``dimension_of_layer``, that of the functions
        of the layer alone, is hidden.
        """
        # Of all hidden directions one is that of the output bias along 1, and the others are of O.
        hidden_of_bias = int(has_output_bias)
        hidden_of_O = dimension_of_layer - dimension_without_mean - hidden_of_bias
        hidden = [("O + 1·uᵀ before LayerNorm", hidden_of_O)]
        if has_output_bias:
            hidden.append(("output bias + c·1 before LayerNorm", hidden_of_bias))
        return cls(dimension=dimension_without_mean, hidden=tuple(hidden))

    def words(self) -> str:
        """Return the dimension, and the directions that the norm hides, in words."""
        names = symmetry_names(self.hidden, ())
        return f"dimension {self.dimension}: the norm after the layer also hides {names}"

    def to_json(self) -> dict[str, Any]:
        """Return the values for ``json.dumps``."""
        return {"dimension": self.dimension, "hidden": symmetries_json(self.hidden, ())}

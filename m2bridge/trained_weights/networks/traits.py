"""How layers are read, and what a layer has in addition to its heads: its *traits*.

Traits are the norms before and after a layer, its output bias, and whether heads share keys and
values or are rotated by positions. All heads of a layer have the same. K, Q and V, with their
biases, can *undo* some changes of the norm before the layer, as of its γ; these are then redundant
directions. Proofs are in ``docs/weights-mathematics.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.trained_weights.checkpoints.model_choice import ModelChoice
from m2bridge.trained_weights.checkpoints.norms import Norm
from m2bridge.trained_weights.checkpoints.tensors import HeadArrays, LayerTensors
from m2bridge.trained_weights.heads.shape import HeadGroup, HeadShape
from m2bridge.trained_weights.heads.token_space import ReducedHead, Tokens, norm_before, reduce_head
from m2bridge.trained_weights.networks.differential import EPSILON
from m2bridge.trained_weights.networks.symmetries import (
    Directions,
    ExtraParameters,
    FiniteGroup,
    nonzero_directions,
)

LAYER_NORM = "LayerNorm"
"""The title of a norm that takes the mean away."""


@dataclass(frozen=True, slots=True)
class AnalysisOptions:
    """How the layers of a file are read."""

    heads: int | None  # of each layer; None where shapes show it
    normalization: str  # ``none`` or ``softmax``
    skip: bool  # whether each layer adds its input to its output
    biases: bool  # whether they are counted
    norm: str | None  # ``layer``, ``rms`` or ``none`` in place of the norm of the file, or None
    rotary: bool = False  # whether queries and keys are rotated by positions
    epsilon: Fraction = EPSILON  # the number that norms add to the variance

    @classmethod
    def of(cls, choice: ModelChoice, *, heads: int | None, biases: bool, norm: str | None) -> Self:
        """Return the options for layers of the model ``choice``, which config.json or a user names;
        the option ``norm``, if it is not ``None``, is in place of the norm of the model.
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
class LayerTraits:
    """What a layer has in addition to the matrices of its heads."""

    norm: str  # LayerNorm or RMSNorm before the layer, or empty
    norm_after: str  # the same after the layer
    # Whether the norm after the layer is a LayerNorm, which hides the sum of the outputs, and no
    # γ_i = 0 in it hides more.
    hides_mean: bool
    output_bias: int  # the number of its entries; 0 without one
    gamma: int  # the number of entries of γ of the norm before, if any change of it can be undone
    beta: int  # the same of β
    absorbs_linear_maps: bool  # whether any linear change behind the norm, before γ, can be undone
    sharing: int = 1  # the number of heads in a row with the same K and V
    rotary: bool = False  # whether queries and keys are rotated by positions

    @classmethod
    def of(cls, head: HeadArrays, options: AnalysisOptions) -> Self:
        """Return the traits of the layer of a head, as the file has it."""
        norm = norm_before(head, options.norm)
        # The letters of the matrices that have biases, if these count.
        biases = set(head.biases) if options.biases else set()
        gamma, beta, absorbs_linear_maps = _undone_changes(norm, biases, options)
        # A norm after the layer is looked at only where there is none before it.
        after = None
        if norm is None and head.norm is not None and head.norm.place == "post":
            after = head.norm
        has_output_bias = options.biases and head.O_bias is not None
        return cls(
            norm=norm.title if norm else "",
            norm_after=after.title if after else "",
            hides_mean=after is not None and after.kind == "layer" and after.is_invertible,
            output_bias=len(head.O_bias) if has_output_bias else 0,
            gamma=gamma,
            beta=beta,
            sharing=head.sharing,
            absorbs_linear_maps=absorbs_linear_maps,
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

    def redundant_directions(self) -> Directions:
        """Return the redundant directions that come with γ and β of the norm before the layer: the
        entries whose changes can be undone.
        """
        return nonzero_directions(
            {
                "γ of the norm against K, Q and V": self.gamma,
                "β of the norm against the biases of Q, K and V": self.beta,
            }
        )

    def extra_parameters(self, finite: tuple[FiniteGroup, ...] = ()) -> ExtraParameters:
        """Return the parameters that the layer has in addition to its heads, of which only the
        output bias makes the dimension of the functions larger.
        """
        return ExtraParameters(
            parameters=self.output_bias + self.gamma + self.beta,
            dimension=self.output_bias,
            named=self.redundant_directions(),
            finite=finite,
        )

    def remarks(self) -> Iterator[str]:
        """Yield remarks, as sentences: on a norm after the layer."""
        if self.norm_after:
            hidden = "nothing of its outputs"
            if self.norm_after == LAYER_NORM:
                hidden = "the part of its outputs along (1, …, 1)"
            yield (
                "a norm after a layer changes nothing in what the layer itself determines; this"
                f" {self.norm_after} hides {hidden}"
            )


def _undone_changes(
    norm: Norm | None, biases: set[str], options: AnalysisOptions
) -> tuple[int, int, bool]:
    """Return which changes of the norm before a layer K, Q and V can undo: the numbers of entries
    of γ and β, or 0, and whether any linear change of the tokens behind the norm, before its γ and
    β, can be undone. ``biases`` has the letters of the matrices that have biases which count.
    """
    if norm is None:
        return 0, 0, False
    linear_maps = norm.is_invertible
    # A change of β adds a constant to keys, queries and values, which biases take away again. In
    # softmax attention the bias of the keys does nothing.
    have_biases = set("QV" if options.softmax else "KQV") <= biases
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
    # Where K, Q and V cannot undo changes of γ, it is taken as it is.
    counts_gamma = linear_maps and norm.gamma is not None
    return len(norm.gamma) if counts_gamma else 0, beta, linear_maps


def head_groups(shapes: Sequence[HeadShape], traits: LayerTraits) -> list[HeadGroup]:
    """Return the groups of heads of a layer that share K and V, one after the other; a group for
    each head if none do. All heads have equal shapes, so the groups are equal.
    """
    group = HeadGroup(shape=shapes[0], heads=traits.sharing, rotary=traits.rotary)
    return [group] * (len(shapes) // traits.sharing)


def without_mean(
    shapes: Sequence[HeadShape], traits: LayerTraits
) -> tuple[list[HeadShape], LayerTraits]:
    """Return the shapes and traits of the layer whose outputs are the differences to the last
    output, as LayerNorm sees no more of them: it has one output less.
    """
    shapes_without_mean = [replace(shape, d_out=shape.d_out - 1) for shape in shapes]
    # An output bias has an entry less, too; 0 stands for none.
    output_bias = max(0, traits.output_bias - 1)
    return shapes_without_mean, replace(traits, output_bias=output_bias)


def network_model(
    shapes: Sequence[Sequence[HeadShape]], options: AnalysisOptions, width: int | None = None
) -> DeepAttention:
    """Return the network of layers with these heads, ``shapes[layer][head]``, without biases and
    norms, for two tokens. These have ``width`` entries, or as many coordinates as the first layer
    sees of them.
    """
    widths = [width or shapes[0][0].d, *(layer[0].d_out for layer in shapes)]
    a = [layer[0].a for layer in shapes]
    return DeepAttention(
        widths, a, t=2, heads=len(shapes[0]), skip=options.skip, normalization=options.normalization
    )

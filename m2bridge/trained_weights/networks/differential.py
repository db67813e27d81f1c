"""Networks of attention with biases and norms, differentiated at weights, for two tokens.

A layer sees of a token x the vector y = (γ∘N(x) + β, 1), where N is a norm or the identity; K, Q
and V have one more column where they have biases, and where one of them has, the others get a zero
column. So each head is one without biases on the tokens y, and only y and the output bias are new.
Nothing here knows a lemma about biases or norms: the network is the one that frameworks compute.

Lightning attention without norms is a polynomial, and its differential has a rank modulo a prime.
Roots and exponentials are enclosed in balls, numbers with a bound for their error: one that does
not contain 0 is proved not to be 0, and a determinant whose ball does not is a minor that is not 0.
Both ranks are lower bounds for the rank at the weights, which attain it but for unlucky random
tokens.

Tokens, outputs and *covectors* (linear forms on tokens or outputs) are matrices with a column for
each token. A ``NumberSystem``, ``numbers``, constructs matrices over a ring, such as residues or
balls, and has the normalization of scores; ``read`` takes the fractions of a layer to numbers of
it, and ``draw`` returns a random one. ``skip`` says whether each layer adds its input to its
output. A *gradient* is the list of the derivatives, with respect to all parameters, of a linear
form of the outputs at some tokens: the span of gradients is the row space of the differential.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import chain, islice
from operator import add
from random import Random
from typing import Any

import flint

from m2bridge.algebra.numbers import LARGE_PRIME
from m2bridge.families.deep_attention.bounds import (
    RANK_POINT_SEED,
    random_residues,
    rank_of_gradients,
)
from m2bridge.families.deep_attention.network import (
    Draw,
    HeadMatrices,
    MatrixLike,
    NetworkWeights,
    NumberSystem,
    Reals,
    Residues,
    Rows,
    pullback,
    random_matrix,
)
from m2bridge.limits import check, check_deadline_in

EPSILON = Fraction(1, 100_000)
"""The number that is added to the variance in a norm, where no config.json says it: PyTorch's."""
TOKENS = 2
"""The number of tokens for which the rank is computed."""
PRECISIONS = (256, 1024)
"""Bits of the balls: the second number where the first leaves it open whether a minor is 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AffineLayer:
    """A layer with biases or a norm, whose matrices have biases as their last columns."""

    width: int  # d, the number of entries of the tokens that enter
    heads: tuple[Mapping[str, Rows], ...]  # the rows of K, Q, V, and perhaps O of each head
    output_bias: tuple[Any, ...]  # empty if there is none
    norm: str  # ``layer``, ``rms``, or empty
    gamma: tuple[Fraction, ...]  # no parameters here, as β; empty for γ = 1, β = 0
    beta: tuple[Fraction, ...]
    sharing: int = 1  # the number of heads in a row with the same K and V, the same parameters
    # Whether A = KᵀRQ for all R that are a complex number on each of the planes of the coordinates
    # i and i + a/2: rotations by positions span these R, for enough tokens.
    rotary: bool = False
    epsilon: Fraction = EPSILON  # what the norm adds to the variance

    @property
    def parameters(self) -> int:
        """The number of parameters; entries of K and V that heads share are counted once."""
        number = len(self.output_bias)
        for place, head in enumerate(self.heads):
            is_first_of_group = place % self.sharing == 0
            for letter, rows in head.items():
                if letter not in "KV" or is_first_of_group:
                    number += len(rows) * len(rows[0])
        return number

    @property
    def has_constant(self) -> bool:
        """Whether tokens get one more coordinate 1, as some matrix K, Q or V has a bias."""
        return any(len(head[x][0]) > self.width for head in self.heads for x in "KQV")

    def drawn(self, draw: Draw) -> AffineLayer:
        """Return a layer of the same shapes behind the same norm, with random weights."""
        heads: list[dict[str, Rows]] = []
        for number, head in enumerate(self.heads):
            matrices = {}
            for letter, rows in head.items():
                # K and V of a group of heads are the ones of the first head in it.
                if letter in "KV" and number % self.sharing:
                    matrices[letter] = heads[-1][letter]
                else:
                    matrices[letter] = [[draw() for _ in row] for row in rows]
            heads.append(matrices)
        output_bias = tuple(draw() for _ in self.output_bias)
        return replace(self, heads=tuple(heads), output_bias=output_bias)


@dataclass(frozen=True, slots=True)
class _Layer:
    """A layer with its matrices over a number system."""

    layer: AffineLayer
    point: NetworkWeights  # the matrices that are parameters, of this layer alone
    heads: tuple[HeadMatrices, ...]  # A and OV on the coordinates y of tokens
    # (1 | 0), by the letters of matrices without a bias where y has a coordinate 1: such a matrix W
    # does not see it, and acts on y as (W | 0) = W·(1 | 0).
    padding: Mapping[str, MatrixLike]
    scale: MatrixLike  # y = scale·N(X) + shift
    shift: MatrixLike
    output_bias: MatrixLike | None  # with a column for each token, which are all equal
    rotation: MatrixLike | None = None  # R, where K is RᵀK

    @classmethod
    def of(cls, layer: AffineLayer, numbers: NumberSystem, read: Callable[..., Any]) -> _Layer:
        """Return the layer over a number system."""

        def matrix(rows: Rows) -> MatrixLike:
            """Return the matrix of these rows of fractions."""
            return numbers.matrix([list(map(read, row)) for row in rows])

        d = layer.width
        gamma = layer.gamma or (1,) * d
        scale: list[list[Any]] = [[gamma[i] * (i == j) for j in range(d)] for i in range(d)]
        shift = list(layer.beta or (0,) * d)
        padding = {}
        if layer.has_constant:
            scale.append([0] * d)
            shift.append(1)
            one = matrix([[int(i == j) for j in range(d + 1)] for i in range(d)])
            padding = {x: one for x in "KQV" if len(layer.heads[0][x][0]) == d}
        heads_by_letter = []
        for head in layer.heads:
            matrices = {letter: matrix(rows) for letter, rows in head.items()}
            for letter, pad in padding.items():
                matrices[letter] = matrices[letter] * pad
            heads_by_letter.append(matrices)
        # As a network of one layer, which has A and OV of each head.
        point = NetworkWeights([heads_by_letter])
        (heads,) = point.network()
        bias = None
        if layer.output_bias:
            bias = matrix([[entry] * TOKENS for entry in layer.output_bias])
        return cls(
            layer=layer,
            point=point,
            heads=heads,
            padding=padding,
            scale=matrix(scale),
            shift=matrix([[entry] * TOKENS for entry in shift]),
            output_bias=bias,
        )

    def rotated(self, numbers: NumberSystem, draw: Draw) -> _Layer:
        """Return the layer with RᵀK in place of K, for a random R, so that A = KᵀRQ; without rotary
        positions as it is.

        R is a random complex number x + iy on each of the a/2 planes in which rotations turn keys
        and queries: the matrix of rows (x, −y) and (y, x) on the coordinates i and i + a/2.
        """
        if not self.layer.rotary:
            return self
        a = len(self.layer.heads[0]["K"])
        rows: list[list[Any]] = [[0] * a for _ in range(a)]
        for i in range(a // 2):
            j = i + a // 2
            rows[i][i] = rows[j][j] = draw()
            rows[j][i] = draw()
            rows[i][j] = -rows[j][i]
        rotation = numbers.matrix(rows)
        # ``point`` is a network of one layer.
        (own_heads,) = self.point.layers
        turned = [{**head, "K": rotation.transpose() * head["K"]} for head in own_heads]
        point = NetworkWeights([turned])
        (heads,) = point.network()
        return replace(self, point=point, heads=heads, rotation=rotation)

    def flattened(
        self, covectors: tuple[HeadMatrices, ...], G: MatrixLike, ones: MatrixLike
    ) -> list[Any]:
        """Return the entries of a gradient with respect to the parameters of the layer, head by
        head, and then of the output bias.

        ``covectors`` are the gradient with respect to A and OV of each head, and ``G`` with respect
        to the outputs of the layer, which times ``ones`` is the sum over all tokens.
        """
        (heads,) = self.point.by_matrices([covectors])
        entries: list[Any] = []
        sharing = self.layer.sharing
        for start in range(0, len(heads), sharing):
            # Heads in a row that share K and V.
            group = heads[start : start + sharing]
            for letter in group[0]:
                gradients = [head[letter] for head in group]
                # A shared entry stands in the matrices of all heads of the group: the derivatives
                # with respect to these are added.
                if letter in "KV":
                    gradients = [reduce(add, gradients)]
                for gradient in gradients:
                    # The gradient with respect to RᵀK, from the left times R, is that with respect
                    # to K; with respect to W·(1 | 0), times (1 | 0)ᵀ, with respect to W.
                    if letter == "K" and self.rotation is not None:
                        gradient = self.rotation * gradient
                    if letter in self.padding:
                        gradient = gradient * self.padding[letter].transpose()
                    entries += gradient.entries()
        if self.output_bias is not None:
            entries += (G * ones).entries()
        return entries


def rank_modulo_prime(skip: bool, layers: Sequence[AffineLayer], upper: int) -> int:
    """Return the rank of the differential of lightning attention without norms modulo the prime, at
    random tokens; ``upper`` is an upper bound: a few more gradients than that are computed.
    """
    numbers = Residues(LARGE_PRIME)
    rows = gradients_of(layers, skip=skip, numbers=numbers, read=_residue, draw=random_residues())
    return rank_of_gradients(rows, upper)


def small(random: Random) -> Fraction:
    """Return a random number between −1 and 1, so that no exponential is far from the others."""
    return Fraction(random.randrange(-1024, 1024), 1024)


def _residue(number: Any) -> int:
    """Return a fraction modulo the prime."""
    number = Fraction(number)
    return int(number.numerator * pow(number.denominator, -1, LARGE_PRIME) % LARGE_PRIME)


def _rational(number: Any) -> Any:
    """Return a fraction as a rational number of FLINT."""
    number = Fraction(number)
    return flint.fmpq(number.numerator, number.denominator)


def rank_in_balls(
    numbers: Reals, skip: bool, layers: Sequence[AffineLayer], upper: int, known: int = 0
) -> int:
    """Return the largest number of random gradients that are found to be independent, at most
    ``upper`` and at least ``known``, a number that is proved already.

    Random gradients are rows, whose columns are replaced by as many random combinations of columns.
    The first r gradients are independent if the minor of the first r rows and columns is not 0. The
    largest such r is searched for by bisection.
    """
    for precision in PRECISIONS:
        if known == upper:
            break
        with flint.ctx.workprec(precision):
            rows = _random_minor(layers, numbers, skip=skip, size=upper).table()

            def minor(size: int, rows: list[list[Any]] = rows) -> Any:
                """Return the ball around the minor of the first rows and columns."""
                check()
                return flint.arb_mat([row[:size] for row in rows[:size]]).det()

            # Without a number that is known the rank is first expected to be the largest one, and
            # else to be the known one.
            largest = upper
            size = min(known + 1, upper) if known else upper
            while known < largest:
                if minor(size).contains(0):
                    largest = size - 1
                else:
                    known = size
                size = (known + largest + 1) // 2
            # A minor with so many correct bits is far from 0. If the next larger one may be 0 in
            # balls of the same precision, it is taken for 0; the rank is a lower bound, as always.
            if known and minor(known).rel_accuracy_bits() >= 64:
                break
    return known


def _random_minor(layers: Sequence[AffineLayer], numbers: Reals, *, skip: bool, size: int) -> Any:
    """Return ``size`` random gradients as rows, with ``size`` random combinations of the columns in
    place of these.
    """
    random = Random(RANK_POINT_SEED)

    def draw() -> Any:
        """Return a random entry of a token or covector."""
        return _rational(small(random))

    gradients = gradients_of(layers, skip=skip, numbers=numbers, read=_rational, draw=draw)
    rows = list(islice(check_deadline_in(gradients), size))
    columns = [[random.randrange(-9, 10) for _ in rows] for _ in rows[0]]
    return flint.arb_mat(rows) * flint.arb_mat(columns)


def gradients_of(
    layers: Sequence[AffineLayer],
    *,
    skip: bool,
    numbers: NumberSystem,
    read: Callable[[Any], Any],
    draw: Draw,
    placed_at: Callable[[MatrixLike], MatrixLike] | None = None,
) -> Iterator[list[Any]]:
    """Yield gradients of the network with respect to its parameters, without end: each at random
    tokens, and for a random linear form on the outputs.

    The tokens pass all layers, and the linear form is pulled back through them in the other
    direction. ``placed_at`` returns the tokens for a random matrix X, such as εX.
    """
    layers_over_numbers = [_Layer.of(layer, numbers, read) for layer in layers]
    ones = numbers.matrix([[read(1)]] * TOKENS)
    while True:
        # With rotary positions keys are rotated in a random way, differently for each gradient.
        rotated = [layer.rotated(numbers, draw) for layer in layers_over_numbers]
        X = random_matrix(numbers, layers[0].width, TOKENS, draw)
        if placed_at is not None:
            X = placed_at(X)
        # Forwards: what each layer computes at the tokens X that reach it.
        values = []
        for layer in rotated:
            at_X = _LayerAt.of(layer, X, numbers, read(layer.layer.epsilon))
            values.append(at_X)
            X = at_X.outputs + X if skip else at_X.outputs
        # The linear form on the outputs of a layer, with a column for each token.
        G = random_matrix(numbers, len(X.table()), TOKENS, draw)
        # Backwards, the last layer first: the derivatives with respect to A and OV of each head,
        # which has the outputs V·Y·sigma with its normalized scores sigma, and with respect to Y.
        by_layer = []
        for layer, at_X in zip(reversed(rotated), reversed(values), strict=True):
            by_heads, by_coordinates = [], []
            for head, sigma in zip(layer.heads, at_X.sigmas, strict=True):
                by_head, by_Y = pullback(head, Y=at_X.Y, sigma=sigma, G=G, numbers=numbers)
                by_heads.append(by_head)
                by_coordinates.append(by_Y)
            by_layer.append(layer.flattened(tuple(by_heads), G, ones))
            # Y = scale·N(X) + shift.
            by_norm = layer.scale.transpose() * reduce(add, by_coordinates)
            by_X = at_X.norm.pullback(by_norm, numbers)
            G = by_X + G if skip else by_X
        yield list(chain(*reversed(by_layer)))


@dataclass(frozen=True, slots=True)
class _Norm:
    """A norm, or the identity, at tokens."""

    kind: str  # ``layer``, ``rms``, or empty
    tokens: MatrixLike  # behind the norm, as columns
    inverses: list[Any]  # 1/√(variance + ε) of each token; empty for the identity

    @classmethod
    def of(cls, kind: str, X: MatrixLike, numbers: NumberSystem, epsilon: Any) -> _Norm:
        """Return the norm at the tokens X; ``epsilon`` is added to their variances, or, for
        ``rms``, to their mean squares.
        """
        if kind == "":
            return cls(kind, tokens=X, inverses=[])
        columns, inverses = [], []
        for x in X.transpose().table():
            if kind == "layer":
                x = _without_mean(x)
            variance = reduce(add, [entry * entry for entry in x]) / len(x)
            inverse = 1 / (variance + epsilon).sqrt()
            columns.append([entry * inverse for entry in x])
            inverses.append(inverse)
        return cls(kind, tokens=numbers.matrix(columns).transpose(), inverses=inverses)

    def pullback(self, G: MatrixLike, numbers: NumberSystem) -> MatrixLike:
        """Return the linear form on the tokens before the norm, of one on those behind it.

        A token c, less its mean for LayerNorm, becomes ĉ = c/s with s² = |c|²/d + ε, and the
        derivative of c/s with respect to c is (1 − ĉĉᵀ/d)/s.
        """
        if not self.kind:
            return G
        columns = []
        pairs = zip(self.tokens.transpose().table(), G.transpose().table(), strict=True)
        # x is ĉ, g the linear form on it, and ``inverse`` is 1/s.
        for (x, g), inverse in zip(pairs, self.inverses, strict=True):
            products = [entry * other for entry, other in zip(x, g, strict=True)]
            along = reduce(add, products) / len(x)
            column = [(g_i - along * x_i) * inverse for x_i, g_i in zip(x, g, strict=True)]
            columns.append(_without_mean(column) if self.kind == "layer" else column)
        return numbers.matrix(columns).transpose()


def _without_mean(entries: Sequence[Any]) -> list[Any]:
    """Return the entries, less their mean."""
    mean = reduce(add, entries) / len(entries)
    return [entry - mean for entry in entries]


@dataclass(frozen=True, slots=True)
class _LayerAt:
    """What a layer computes at tokens."""

    norm: _Norm
    Y: MatrixLike  # the coordinates y of the tokens behind the norm, as columns
    sigmas: list[MatrixLike]  # normalized scores: entry (s, j) is that of token s for the output j
    outputs: MatrixLike

    @classmethod
    def of(cls, layer: _Layer, X: MatrixLike, numbers: NumberSystem, epsilon: Any) -> _LayerAt:
        """Return what a layer, whose norm adds ``epsilon`` to the variance, computes at X."""
        norm = _Norm.of(layer.layer.norm, X, numbers, epsilon)
        Y = layer.scale * norm.tokens + layer.shift
        sigmas = [numbers.normalized(Y.transpose() * head.A * Y) for head in layer.heads]
        outputs = [head.V * Y * sigma for head, sigma in zip(layer.heads, sigmas, strict=True)]
        if layer.output_bias is not None:
            outputs.append(layer.output_bias)
        return cls(norm=norm, Y=Y, sigmas=sigmas, outputs=reduce(add, outputs))

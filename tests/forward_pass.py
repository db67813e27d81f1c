"""The forward pass of layers of attention as frameworks define it, exactly, modulo a prime.

Derivatives by the weights are those of numbers u + v·δ with δ² = 0; it knows no lemma about biases,
norms or softmax. The root in a norm is one modulo the prime: tokens are drawn until there is one.
Exponentials of scores are random numbers, which stand for algebraically independent ones (Ax), and
have the derivative of exponentials. So the rank of the Jacobian matrix at these weights and tokens
is at most that of the functions, and less for a few random numbers in two thousand million only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import numpy

from m2bridge.algebra.linear_algebra import rank_mod

PRIME = 2**31 - 1
"""Of the form 4n + 3: a square u has the root u^((p + 1)/4)."""

Parameters = dict[str, Any]


@dataclass(frozen=True)
class Layer:
    """The sizes of a layer, and what it has besides its matrices."""

    d: int
    d_out: int
    a: int
    v: int | None = None
    heads: int = 1
    biases: str = ""
    output_bias: bool = False
    norm: str = ""
    beta: bool = False
    softmax: bool = False
    tokens: int = 2
    norm_after: str = ""
    skip: bool = False
    causal: bool = False
    rotary: bool = False
    positions: bool = False

    def sizes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of all parameters."""
        H, d = self.heads, self.d
        rows = {"K": self.a, "Q": self.a, "V": self.v or self.d_out}
        found: dict[str, tuple[int, ...]] = {x: (H, n, d) for x, n in rows.items()}
        if self.v:
            found["O"] = (H, self.d_out, self.v)
        found |= {f"{x}_bias": (H, rows[x]) for x in self.biases}
        if self.output_bias:
            found["O_bias"] = (self.d_out,)
        if self.norm:
            found["gamma"] = (d,)
        if self.beta:
            found["beta"] = (d,)
        return found


def drawn(layer: Layer, seed: int) -> Parameters:
    """Random parameters, as multiples of 1/8."""
    random = numpy.random.default_rng(seed)
    return {x: random.integers(-9, 10, size) / 8 + 1 / 16 for x, size in layer.sizes().items()}


@dataclass(frozen=True)
class Dual:
    """A matrix modulo the prime, or several one after the other, and its derivative by one weight.

    Products of two residues are numbers of 62 bits, and have to be reduced before they are added.
    """

    value: Any
    slope: Any

    def __add__(self, other: Dual) -> Dual:
        return Dual((self.value + other.value) % PRIME, (self.slope + other.slope) % PRIME)

    def __mul__(self, other: Dual) -> Dual:
        """The entries are multiplied."""
        slope = self.value * other.slope % PRIME + self.slope * other.value % PRIME
        return Dual(self.value * other.value % PRIME, slope % PRIME)

    def __matmul__(self, other: Dual) -> Dual:
        slope = product(self.value, other.slope) + product(self.slope, other.value)
        return Dual(product(self.value, other.value), slope % PRIME)

    def __getitem__(self, key: Any) -> Dual:
        return Dual(self.value[key], self.slope[key])

    @property
    def T(self) -> Dual:
        return Dual(self.value.swapaxes(-1, -2), self.slope.swapaxes(-1, -2))


def product(A: Any, B: Any) -> Any:
    """The product of matrices modulo the prime."""
    return (A[..., :, :, None] * B[..., None, :, :] % PRIME).sum(-2) % PRIME


def constant(value: Any) -> Dual:
    """What does not depend on the weights."""
    return Dual(value, value * 0)


def residues(array: Any) -> Any:
    """Floating-point numbers as residues."""
    found = numpy.empty(array.shape, dtype=numpy.int64)
    for place in numpy.ndindex(array.shape):
        number = Fraction(float(array[place]))
        found[place] = number.numerator * pow(number.denominator, -1, PRIME) % PRIME
    return found


def drawn_tokens(layer: Layer, random: Random, epsilon: int) -> Any:
    """Random tokens behind the norm, before its γ and β: (x − mean)/√(variance + ε)."""
    columns = []
    while len(columns) < layer.tokens:
        x = numpy.array([random.randrange(PRIME) for _ in range(layer.d)], dtype=object)
        if layer.norm:
            per_token = pow(layer.d, -1, PRIME)
            if layer.norm == "layer":
                x = (x - x.sum() * per_token) % PRIME
            square = ((x * x).sum() * per_token + epsilon) % PRIME
            root = pow(square, (PRIME + 1) // 4, PRIME)
            if not root or root * root % PRIME != square:
                continue
            x = x * pow(root, -1, PRIME) % PRIME
        columns.append(x)
    return numpy.array(columns, dtype=numpy.int64).T


def attention(layer: Layer, p: dict[str, Dual], X: Dual, exponentials: Any) -> Dual:
    """The outputs of the layer; ``exponentials`` has one for each head, key and query.

    ``X`` may be several inputs, [sample, d, token]; then these are [head, sample, key, query].
    """
    if layer.positions:
        fixed = residues(numpy.random.default_rng(9).integers(-9, 10, X.value.shape[-2:]))
        X = X + constant(fixed)
    if layer.norm:
        X = p["gamma"][:, None] * X
        if layer.beta:
            X = X + p["beta"][:, None]
    total = constant(numpy.zeros((layer.d_out, layer.tokens), dtype=numpy.int64))
    for h in range(layer.heads):
        seen = {}
        for x in "KQV":
            seen[x] = p[x][h] @ X
            if x in layer.biases:
                seen[x] = seen[x] + p[f"{x}_bias"][h][:, None]
        if layer.rotary:
            seen |= {x: rotated(seen[x]) for x in "KQ"}
        scores = seen["K"].T @ seen["Q"]
        # A causal mask: token j looks at the tokens s ≤ j.
        mask = numpy.triu(numpy.ones((layer.tokens,) * 2, dtype=numpy.int64))
        if layer.softmax:
            scores = softmax(scores, exponentials[h] * mask if layer.causal else exponentials[h])
        elif layer.causal:
            scores = scores * constant(mask)
        out = seen["V"] @ scores
        total = total + (p["O"][h] @ out if layer.v else out)
    if layer.output_bias:
        total = total + p["O_bias"][:, None]
    return total


def rotated(columns: Dual) -> Dual:
    """Rotary positions: coordinates 2i and 2i + 1 of token j are turned by j times an angle.

    The angles have the cosines (n² − 1)/(n² + 1) and sines 2n/(n² + 1), for n = 2, 3, …
    """
    rows, tokens = columns.value.shape[-2:]
    cosines = numpy.ones((rows // 2, tokens), dtype=numpy.int64)
    sines = cosines * 0
    for plane in range(rows // 2):
        n = plane + 2
        inverse = pow(n * n + 1, -1, PRIME)
        c, s = (n * n - 1) * inverse % PRIME, 2 * n * inverse % PRIME
        for j in range(1, tokens):
            u, v = int(cosines[plane, j - 1]), int(sines[plane, j - 1])
            cosines[plane, j] = (u * c - v * s) % PRIME
            sines[plane, j] = (u * s + v * c) % PRIME
    found = Dual(columns.value.copy(), columns.slope.copy())
    for own, part in ((found.value, columns.value), (found.slope, columns.slope)):
        u, v = part[..., ::2, :], part[..., 1::2, :]
        own[..., ::2, :] = (u * cosines % PRIME - v * sines % PRIME) % PRIME
        own[..., 1::2, :] = (u * sines % PRIME + v * cosines % PRIME) % PRIME
    return found


def behind_norm(norm: str, X: Dual) -> Dual | None:
    """Tokens behind a norm with ε = 1, γ = 1 and β = 0; ``None`` without a root.

    Of both roots it is the one that is a square itself.
    """
    if not norm:
        return X
    per_entry = pow(X.value.shape[-2], -1, PRIME)
    if norm == "layer":
        means = sum_over_coordinates(X) * constant(numpy.array(per_entry))
        X = X + Dual(-means.value, -means.slope)
    squares = sum_over_coordinates(X * X) * constant(numpy.array(per_entry))
    squares = Dual(squares.value + 1, squares.slope)
    inverse = numpy.array([inverse_root(int(number)) for number in squares.value.flat])
    inverse = inverse.reshape(squares.value.shape)
    if not inverse.all():
        return None
    # The derivative of u^(−1/2) is −u^(−3/2)/2.
    cube = inverse * inverse % PRIME * inverse % PRIME
    slope = -cube * pow(2, -1, PRIME) % PRIME * squares.slope % PRIME
    return X * Dual(inverse, slope)


def sum_over_coordinates(X: Dual) -> Dual:
    """For each token the sum of its entries, as a matrix of one row."""
    value, slope = (part.sum(-2, keepdims=True) % PRIME for part in (X.value, X.slope))
    return Dual(value, slope)


@cache
def inverse_root(number: int) -> int:
    """One over the root modulo the prime that is a square itself; 0 if there is none."""
    root = pow(number, (PRIME + 1) // 4, PRIME)
    if not root or (root * root - number) % PRIME:
        return 0
    return pow(root, -1, PRIME)


@cache
def inverse_of(number: int) -> int:
    """One over a residue."""
    return pow(number, -1, PRIME)


def whole(layer: Layer, p: dict[str, Dual], X: Dual, exponentials: Any) -> Dual | None:
    """The layer with its skip connection and the norm after it; ``None`` without a root."""
    out = attention(layer, p, X, exponentials)
    if layer.skip:
        out = out + X
    return behind_norm(layer.norm_after, out)


def softmax(scores: Dual, exponentials: Any) -> Dual:
    """The scores as exponentials, over their sum for each query."""
    powers = Dual(exponentials, exponentials * scores.slope % PRIME)
    sums = sum_over_coordinates(powers)
    inverse = numpy.array([inverse_of(int(number)) for number in sums.value.flat])
    inverse = inverse.reshape(sums.value.shape)
    slope = -inverse * inverse % PRIME * sums.slope % PRIME
    return powers * Dual(inverse, slope)


def exact_rank(
    layer: Layer,
    p: Parameters,
    fixed: Sequence[str] = (),
    epsilon: int = 1,
    on_a_line: bool = False,
    sharing: int = 1,
) -> int:
    """The rank of the Jacobian matrix of the outputs at random tokens by all parameters.

    ``epsilon`` is that of the norm: with 0 tokens are on a sphere. ``on_a_line`` says that outputs
    may lie on one line, as those of equal O do, so that more tokens are needed. ``sharing`` heads in
    a row have the same K and V, with their biases, which are the same parameters.
    """
    return int(rank_mod(jacobian(layer, p, fixed, epsilon, on_a_line, sharing), PRIME))


def jacobian(
    layer: Layer,
    p: Parameters,
    fixed: Sequence[str] = (),
    epsilon: int = 1,
    on_a_line: bool = False,
    sharing: int = 1,
) -> list[list[int]]:
    """The Jacobian matrix itself, modulo the prime: a row for each parameter, in their order."""
    random = Random(1)
    values = {name: residues(array) for name, array in p.items()}
    count = sum(array.size for array in p.values())
    shape = (layer.heads, layer.tokens, layer.tokens)
    samples: list[tuple[Any, Any]] = []
    still = {name: constant(value) for name, value in values.items()}
    # Behind a mask the scores of a sample may be seen in one number only.
    seen = layer.tokens if on_a_line else layer.d_out * layer.tokens
    if layer.causal:
        seen = 1
    while len(samples) < count // seen + 4:
        exponentials = numpy.empty(shape, dtype=numpy.int64)
        for place in numpy.ndindex(shape):
            exponentials[place] = random.randrange(1, PRIME)
        tokens = drawn_tokens(layer, random, epsilon)
        if whole(layer, still, constant(tokens), exponentials) is not None:
            samples.append((tokens, exponentials))
    X = constant(numpy.stack([tokens for tokens, _ in samples]))
    by_head = numpy.stack([exponentials for _, exponentials in samples], axis=1)
    rows = []
    for moved in weights_of(values, fixed, sharing):
        out = whole(layer, moved, X, by_head)
        assert out is not None
        rows.append(out.slope.ravel().tolist())
    return rows


def weights_of(
    values: Parameters, fixed: Sequence[str], sharing: int = 1
) -> Iterator[dict[str, Dual]]:
    """All parameters with the derivative by one of them, one after the other."""
    still = {name: constant(value) for name, value in values.items()}
    for name, value in values.items():
        if name in fixed:
            continue
        of_heads = sharing > 1 and name[0] in "KV"
        for place in numpy.ndindex(value.shape):
            slope = value * 0
            slope[place] = 1
            if of_heads and place[0] % sharing:
                continue
            if of_heads:
                slope[(slice(place[0], place[0] + sharing), *place[1:])] = 1
            yield still | {name: Dual(value, slope)}


def network(
    layers: list[Layer], ps: list[dict[str, Dual]], X: Dual, exponentials: Any, skip: bool
) -> Dual | None:
    """The outputs of the last of several layers, each behind its norm."""
    for layer, p, own in zip(layers, ps, exponentials, strict=True):
        seen = behind_norm(layer.norm, X)
        if seen is None:
            return None
        outputs = attention(layer, p, seen, own)
        X = X + outputs if skip else outputs
    return X


def exact_network_rank(
    layers: list[Layer],
    ps: list[Parameters],
    skip: bool,
    fixed: Sequence[str] = (),
    sharing: int = 1,
) -> int:
    """The rank of the Jacobian matrix of several layers, one after the other."""
    random = Random(1)
    values = [{name: residues(array) for name, array in p.items()} for p in ps]
    still = [{name: constant(value) for name, value in own.items()} for own in values]
    count = sum(array.size for p in ps for array in p.values())
    first, last = layers[0], layers[-1]
    samples: list[tuple[Any, list[Any]]] = []
    while len(samples) < count // (last.d_out * last.tokens) + 4:
        entries = [random.randrange(PRIME) for _ in range(first.d * first.tokens)]
        tokens = numpy.array(entries).reshape(first.d, first.tokens)
        exponentials = []
        for layer in layers:
            own = numpy.empty((layer.heads, layer.tokens, layer.tokens), dtype=numpy.int64)
            for place in numpy.ndindex(own.shape):
                own[place] = random.randrange(1, PRIME)
            exponentials.append(own)
        # Tokens are drawn until all roots exist, which do not depend on derivatives.
        if network(layers, still, constant(tokens), exponentials, skip) is not None:
            samples.append((tokens, exponentials))
    X = constant(numpy.stack([tokens for tokens, _ in samples]))
    by_layer = [
        numpy.stack([exponentials[k] for _, exponentials in samples], axis=1)
        for k in range(len(layers))
    ]
    rows = []
    for k, own_values in enumerate(values):
        for moved in weights_of(own_values, fixed, sharing):
            found = network(layers, [*still[:k], moved, *still[k + 1 :]], X, by_layer, skip)
            assert found is not None
            rows.append(found.slope.ravel().tolist())
    return int(rank_mod(rows, PRIME))

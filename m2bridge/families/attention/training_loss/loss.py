"""The squared loss of a layer as a positive definite quadratic form on its functions, exactly.

A function is a vector of reduced coordinates c, where c_{k,i,{p,q}} is the coefficient of
x_i y_p y_q in output k. For a sequence of tokens X with S = X Xᵀ the output k of the token x is
Σ S_pq x_i c_{k,i,{p,q}}. So half the mean, over all tokens of all sequences, of the squared norm of
the error, a sum over the outputs of a token, is

    L(c) = ½ cᵀ G c − bᵀ c + constant,

and for d' outputs G has d' equal blocks, of moments of S and x. It is positive definite exactly if
no function but zero vanishes on all data. A target function u has b = G u, and the constant
½ uᵀ G u. Too many coordinates are a TooLargeError.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod
from random import Random
from typing import NamedTuple

import flint

from m2bridge.errors import InvalidCaseError, TooLargeError
from m2bridge.families.attention.orbits.coordinates import indices, reduced_coordinates
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.limits import check_deadline_in
from m2bridge.results.sheet import plural

RationalRows = Sequence[Sequence[Fraction]]
"""A matrix of rational numbers, row by row."""
Feature = tuple[int, int, int]
"""(i, p, q) with p ≤ q: the monomial x_i y_p y_q."""

MOST_COORDINATES = 300
"""The largest number of coordinates of functions: the quadratic form has the square of it as number
of entries, which may all be large.
"""
LARGEST_RANDOM_ENTRY = 9
"""The largest absolute value of an entry of a random target, and of the matrix R of a random
quadratic form.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """A squared loss L(c) = ½ cᵀ G c − bᵀ c + constant on the functions of a layer."""

    shape: LayerSizes
    gram: flint.fmpq_mat  # G, positive definite, in the order of the reduced coordinates
    linear: flint.fmpq_mat  # b, a column
    constant: flint.fmpq
    data: str  # where G comes from, in words
    target: str  # where b comes from, in words


class Scaling(NamedTuple):
    """The exponents of powers of two by which a loss was divided.

    With ``function`` = k and ``form`` = g, the function c is 2^k times the function c' of the new
    loss, and G is 2^g times its form. So the loss is 2^(g + 2k) times the new one.
    """

    function: int
    form: int

    @property
    def loss(self) -> int:
        """The exponent of the power of two by which the loss itself was divided."""
        return self.form + 2 * self.function


def scaled_loss(loss: Loss) -> tuple[Loss, Scaling]:
    """A loss with the same critical points up to scale, whose numbers are near to 1.

    The target is divided by a power of two, exactly, so that its largest coordinate is about 1, and
    so is the form: programs that isolate points stop at absolute lengths of boxes, and
    floating-point numbers are bounded. Numbers that are not far from 1 stay.
    """
    gram = loss.gram
    target = gram.solve(loss.linear)  # G is positive definite
    diagonal = [gram[i, i] for i in range(gram.nrows())]
    scaling = Scaling(function=_binary_exponent(target.entries()), form=_binary_exponent(diagonal))
    k, g = scaling
    two = flint.fmpq(2)
    scaled = replace(
        loss,
        gram=gram * two**-g,
        linear=loss.linear * two ** (-g - k),
        constant=loss.constant * two**-scaling.loss,
    )
    return scaled, scaling


def _binary_exponent(numbers: Iterable[flint.fmpq]) -> int:
    """The exponent e for which the largest absolute value is about 2^e; 0 if |e| ≤ 10."""
    largest = max(map(abs, numbers))
    exponent = int(largest.p).bit_length() - int(largest.q).bit_length()
    return 0 if largest == 0 or abs(exponent) <= 10 else exponent


@dataclass(frozen=True, slots=True)
class Quadratic:
    """A positive definite quadratic form G on the functions of a layer, and its name in words."""

    shape: LayerSizes
    gram: flint.fmpq_mat
    data: str

    def towards(self, function: Sequence[Fraction], target: str) -> Loss:
        """The loss ½ (c − u)ᵀ G (c − u) of the target u = ``function``, and its name in words."""
        u = column(function)
        linear = self.gram * u
        constant = (u.transpose() * linear)[0, 0] / 2
        return Loss(
            shape=self.shape,
            gram=self.gram,
            linear=linear,
            constant=constant,
            data=self.data,
            target=target,
        )


def gaussian(shape: LayerSizes) -> Quadratic:
    """The form of t tokens whose entries are independent standard normal numbers.

    By symmetry expectations over one token x among t suffice. S is the sum of y yᵀ over all
    tokens y, so the entries of G are moments of degree six.
    """
    features = _features(shape)
    block = [
        [_gaussian_moment(first, second, shape.t) for second in features] for first in features
    ]
    data = f"{shape.t} tokens with independent standard normal entries"
    return Quadratic(shape, _block_diagonal(block, shape), data)


def _gaussian_moment(first: Feature, second: Feature, t: int) -> int:
    """E[S_pq x_i · S_uv x_j] for t standard normal tokens, of which x is one.

    S_pq is the sum of y_p y_q over the tokens y, and S_uv the sum of z_u z_v over the tokens z.
    """
    (i, p, q), (j, u, v) = first, second
    # How many pairs of tokens (y, z) there are of each kind. The names say which of x, y and z are
    # one token: ("x", "y") are pairs with y = x and another z, and ("y", "y") those with y = z ≠ x.
    number_of_pairs = {
        ("x", "x"): 1,
        ("x", "y"): t - 1,
        ("y", "x"): t - 1,
        ("y", "y"): t - 1,
        ("y", "z"): (t - 1) * (t - 2),
    }
    total = 0
    for (y, z), number in number_of_pairs.items():
        # entries of tokens, of which equal ones are one normal number and others are independent
        factors = [("x", i), (y, p), (y, q), ("x", j), (z, u), (z, v)]
        total += number * normal_moment(Counter(factors).values())
    return total


def normal_moment(exponents: Iterable[int]) -> int:
    """The expectation of a monomial in independent standard normal numbers, by its exponents.

    It is the product of E[x^k] = (k − 1)(k − 3)…1 for even k, and 0 if some k is odd.
    """
    moment = 1
    for k in exponents:
        if k % 2:
            return 0
        moment *= prod(range(k - 1, 0, -2))
    return moment


def random_quadratic(shape: LayerSizes, seed: int) -> Quadratic:
    """A general form: G = RᵀR with a random integer matrix R of twice as many rows as columns.

    With so many rows R has full column rank, but for rare seeds, and then G is positive definite.
    """
    count = _count_coordinates(shape)
    random = Random(f"quadratic {seed}")
    entries = [
        random.randint(-LARGEST_RANDOM_ENTRY, LARGEST_RANDOM_ENTRY)
        for _ in range(2 * count * count)
    ]
    samples = flint.fmpz_mat(2 * count, count, entries)
    gram = flint.fmpq_mat(samples.transpose() * samples)
    return Quadratic(shape, gram, f"a random quadratic form, seed {seed}")


def random_function(shape: LayerSizes, seed: int) -> tuple[Fraction, ...]:
    """A target with random integers as its coordinates; in general no function of the layer."""
    random = Random(f"target {seed}")
    count = _count_coordinates(shape)
    return tuple(
        Fraction(random.randint(-LARGEST_RANDOM_ENTRY, LARGEST_RANDOM_ENTRY)) for _ in range(count)
    )


def function_of(shape: LayerSizes, A: RationalRows, V: RationalRows) -> tuple[Fraction, ...]:
    """The coordinates c of the function of weights A and V, in the order of ``indices``."""
    return tuple(map(Fraction, reduced_coordinates(shape, A, V)))


def quadratic_of_samples(shape: LayerSizes, tokens: Sequence[RationalRows]) -> Quadratic:
    """The quadratic form of some sequences of tokens, d×t matrices whose columns are the tokens.

    It is the mean, over all tokens x of all sequences, of the products of the features S_pq x_i.
    Data on which some function other than zero vanishes are refused.
    """
    features = _features(shape)
    size = len(features)
    block = flint.fmpq_mat(size, size)
    for sequence in check_deadline_in(tokens):
        X = rational_matrix(sequence)
        S = X * X.transpose()
        # The sum over the tokens x of S_pq x_i · S_uv x_j is S_pq S_uv S_ij, where (i, p, q) is
        # feature m and (j, u, v) is feature n.
        S_pq = [S[p, q] for _, p, q in features]
        index_of_x = [i for i, _, _ in features]
        for m, n in product(range(size), repeat=2):
            block[m, n] += S_pq[m] * S_pq[n] * S[index_of_x[m], index_of_x[n]]
    tokens_in_all = sum(len(sequence[0]) for sequence in tokens)
    block = block / tokens_in_all
    defect = size - block.rank()
    if defect and all(len(set(zip(*sequence, strict=True))) == 1 for sequence in tokens):
        raise InvalidCaseError(
            "data",
            "all tokens of a sequence are the same, so the layer sees one token only: give"
            " sequences of two different tokens at least",
        )
    if defect:
        dimension = defect * shape.d_out
        raise InvalidCaseError(
            "data",
            f"too few data: functions of dimension {dimension} (of {shape.independent_count})"
            " vanish on all of them, so the loss does not determine the function: give more"
            " sequences, in general position",
        )
    lengths = sorted({len(sequence[0]) for sequence in tokens})
    data = f"{plural(len(tokens), 'sequence')} of {'/'.join(map(str, lengths))} tokens"
    return Quadratic(shape, _block_diagonal(block.tolist(), shape), data)


def loss_on_outputs(
    quadratic: Quadratic,
    tokens: Sequence[RationalRows],
    outputs: Sequence[RationalRows],
    target: str,
) -> Loss:
    """The loss on sequences of tokens with given outputs: half the mean of the squared errors.

    ``quadratic`` is the form of these sequences; outputs are d'×t matrices, one for each sequence.
    """
    shape = quadratic.shape
    # the loss is a mean over all tokens: at first sums are taken
    linear = flint.fmpq_mat(shape.independent_count, 1)
    constant = flint.fmpq(0)
    for sequence, output in zip(tokens, outputs, strict=True):
        X = rational_matrix(sequence)
        Y = rational_matrix(output)
        # the sums of y_k S_pq x_i over all tokens x, with S = XXᵀ, for each coordinate
        S, YX = X * X.transpose(), Y * X.transpose()
        products = [S[p, q] * YX[k, i] for k, i, p, q in indices(shape)]
        linear += flint.fmpq_mat(shape.independent_count, 1, products)
        squares = [entry * entry for entry in Y.entries()]
        constant += sum(squares, start=flint.fmpq(0)) / 2
    tokens_in_all = sum(len(sequence[0]) for sequence in tokens)
    return Loss(
        shape=shape,
        gram=quadratic.gram,
        linear=linear / tokens_in_all,
        constant=constant / tokens_in_all,
        data=quadratic.data,
        target=target,
    )


def _features(shape: LayerSizes) -> list[Feature]:
    """The indices (i, p, q), p ≤ q, of the coordinates of one output, in their order."""
    _count_coordinates(shape)
    one_output = LayerSizes(shape.d, 1, shape.a, shape.t)
    return [(i, p, q) for _, i, p, q in indices(one_output)]


def _count_coordinates(shape: LayerSizes) -> int:
    """The number of coordinates, if it is not above MOST_COORDINATES."""
    count = shape.independent_count
    if count > MOST_COORDINATES:
        raise TooLargeError(
            f"this case has {count} coordinates; losses are computed for at most"
            f" {MOST_COORDINATES}: take smaller numbers"
        )
    return count


def _block_diagonal(block: Sequence[Sequence[object]], shape: LayerSizes) -> flint.fmpq_mat:
    """The square matrix with d' equal blocks on its diagonal, one for each output."""
    size = len(block)
    gram = flint.fmpq_mat(size * shape.d_out, size * shape.d_out)
    for k, m, n in product(range(shape.d_out), range(size), range(size)):
        gram[k * size + m, k * size + n] = block[m][n]
    return gram


def column(values: Sequence[Fraction]) -> flint.fmpq_mat:
    """A column of rational numbers."""
    return rational_matrix([[value] for value in values])


def rational_matrix(rows: RationalRows) -> flint.fmpq_mat:
    """The matrix with these rows, at least one, as a matrix of FLINT."""
    entries = [flint.fmpq(value.numerator, value.denominator) for row in rows for value in row]
    return flint.fmpq_mat(len(rows), len(rows[0]), entries)

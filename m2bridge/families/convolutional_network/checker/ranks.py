"""The dimension of the closure of a convolutional network, between bounds, and a degree.

A rank of the differential at one point modulo a prime is a lower bound for the dimension, the
number of weights up to rescaling an upper bound. The degree of the source, filters up to rescaling,
is the last difference of its Hilbert function.

*Notation.* A network has L filters w_i of sizes k_i, and activation degree r, its ``degree``. The
output f is a form of degree D = r^(L − 1) in the inputs x_1 to x_n, n = 1 + Σ(k_i − 1), and of
degree r^(L − i) in the entries of w_i.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import comb
from operator import mul
from typing import NamedTuple

from m2bridge.checker.algebra import PRIME, rank_modulo
from m2bridge.checker.draws import unpredictable
from m2bridge.errors import TooExpensiveError

# Multiplications for all rows of the matrix whose rank is computed: some minutes.
MAX_GRADIENT_STEPS = 10**9

Sizes = tuple[int, ...]
Filters = list[list[int]]


# The dimension.


def upper_bound(sizes: Sizes) -> int:
    """An upper bound for the dimension: the number of weights less that of the rescalings, L − 1.

    All filters but the last can be rescaled, and the last one compensates.
    """
    return sum(sizes) - (len(sizes) - 1)


def lower_bound(sizes: Sizes, degree: int) -> int:
    """A lower bound for the dimension: the rank of the differential at random filters.

    It is found modulo PRIME, at one point. TooExpensiveError as of :func:`differential_rank`.
    """
    random = unpredictable()
    filters = [[random.randrange(PRIME) for _ in range(size)] for size in sizes]
    return differential_rank(filters, degree)


def differential_rank(filters: Filters, degree: int) -> int:
    """A lower bound for the rank at these filters of the differential of filters ↦ f.

    It is the rank modulo PRIME of a matrix. A row of this matrix is the gradient of f(x) with
    respect to all weights, at random inputs x of its own. So the row is a combination of the rows
    of the Jacobian matrix of the coefficients of f, and the rank is at most that of the Jacobian
    matrix. TooExpensiveError if the gradients take more than MAX_GRADIENT_STEPS multiplications.
    """
    sizes = tuple(map(len, filters))
    inputs = 1 + sum(sizes) - len(sizes)
    # more rows than the rank can be, so that a few that depend on others do not matter
    count = upper_bound(sizes) + 5
    if count * inputs * max(sizes) * sum(sizes) > MAX_GRADIENT_STEPS:
        raise TooExpensiveError("case", f"{count} gradients by {sum(sizes)} weights")
    random = unpredictable()
    rows = []
    for _ in range(count):
        x = [random.randrange(PRIME) for _ in range(inputs)]
        rows.append(_gradient(filters, degree, x))
    return rank_modulo(rows)


def _gradient(filters: Filters, degree: int, x: Sequence[int]) -> list[int]:
    """The gradient of f(x) with respect to all weights, modulo PRIME, the entries of w_1 first.

    A neuron has derivatives with respect to the weights of all layers up to it, and none if it is
    an input. ``x`` has an entry for each input, so that the last layer has one neuron.
    """
    neurons = [Neuron(entry, slopes=[]) for entry in x]
    for layer, w in enumerate(filters):
        # there is an activation in front of each layer but the first
        if layer > 0:
            neurons = [_activated(neuron, degree) for neuron in neurons]
        count = len(neurons) - len(w) + 1
        neurons = [_weighted_sum(w, neurons[j : j + len(w)]) for j in range(count)]
    (output,) = neurons
    return output.slopes


class Neuron(NamedTuple):
    """The value v of a neuron, and its derivatives v' with respect to weights, modulo PRIME.

    ``slopes`` has a v' for each weight of the layers up to the neuron, the entries of w_1 first.
    """

    value: int
    slopes: list[int]


def _activated(neuron: Neuron, degree: int) -> Neuron:
    """The r-th power of a neuron modulo PRIME, as a neuron: (v^r)' = r v^(r−1) v'."""
    factor = degree * pow(neuron.value, degree - 1, PRIME)
    slopes = [factor * slope % PRIME for slope in neuron.slopes]
    return Neuron(pow(neuron.value, degree, PRIME), slopes)


def _weighted_sum(w: Sequence[int], neurons: Sequence[Neuron]) -> Neuron:
    """The neuron Σ w_a v_a modulo PRIME, with its derivatives for all layers up to that of w.

    There are as many ``neurons`` (v_a, v_a') as the filter w has entries. The derivative of the sum
    with respect to a weight of an earlier layer is Σ w_a v_a', and with respect to w_a it is v_a.
    (A weight has the same place in the lists of all neurons of a layer, since they have the same
    filter.)
    """
    values = [neuron.value for neuron in neurons]
    # a column has the derivatives of all neurons with respect to one earlier weight
    columns = zip(*(neuron.slopes for neuron in neurons), strict=True)
    by_earlier_weights = [sum(map(mul, w, column)) % PRIME for column in columns]
    return Neuron(sum(map(mul, w, values)) % PRIME, by_earlier_weights + values)


# The degree.


def source_degree(sizes: Sizes, degree: int) -> int:
    """The degree of Π P^(k_i − 1) with the line bundle O(r^(L − 1), …, r, 1).

    The Hilbert function at m, the dimension of the space of forms of m times this multidegree, is
    Π C(m r^(L−i) + k_i − 1, k_i − 1). It is a polynomial in m whose degree is the dimension N of
    the source. Its N-th difference is N! times its leading coefficient: the degree of the source.
    """
    dimension = sum(sizes) - len(sizes)  # N
    # the values of the Hilbert function at 0, …, N
    values = []
    for m in range(dimension + 1):
        form_count = 1
        # from the last filter on, whose forms have degree m r^0
        for exponent, size in enumerate(reversed(sizes)):
            form_count *= comb(m * degree**exponent + size - 1, size - 1)
        values.append(form_count)
    # one difference after the other, until only the last is left
    while len(values) > 1:
        values = [after - before for before, after in pairwise(values)]
    return values[0]

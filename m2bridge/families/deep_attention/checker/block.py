"""The rank of one block, which decides the dimension for one head and no skip connections.

*Theorem* (theorem-block in docs/deep-attention.md): if the kernel of the differential of a block,
a network with at most two inputs and one output, is no larger than it always is, every network with
as many layers and such ranks has the dimension of the upper bound.

*Checked here*: the rank of the differential at two points, each modulo a prime of its own. A kernel
modulo a prime is at least as large as that over QQ: so one that is as small as can be is proved.

*Taken on trust*: the theorem, and beyond six layers of softmax Ax's theorem ("Exponentials as
unknowns" in docs/deep-attention.md). The program that makes certificates differentiates by
the chain rule; here derivatives come from dual numbers.

*Notation* (as in docs/deep-attention.md). A network has l layers and t tokens, the columns of X.
σ is the identity (*lightning attention*) or the softmax of each column. A block has n = 1 or 2
inputs. Its *parameters* are the n × n matrices C_k of its layers, numbers c_k that stand for the
last matrices C_k = c_k m mᵀ, and the row mᵀ. Its *differential* belongs to the map from
parameters to functions of X; it has a column for each parameter. A *point* is a choice of
parameters. r_k is the rank of what enters layer k (``Network.narrowest``), and α_k = min(a_k, r_k)
the rank of its matrix. The variable h belongs to the power series into which softmax is expanded,
and δ, with δ² = 0, to the dual numbers v + s·δ, whose *value* is v and whose *slope* is s.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from operator import add
from random import Random
from typing import Any

import flint

from m2bridge.checker.algebra import PRIME
from m2bridge.checker.draws import random_prime, unpredictable
from m2bridge.errors import ContradictionError, TooExpensiveError
from m2bridge.families.deep_attention.checker.matrices import Matrix, transposed
from m2bridge.families.deep_attention.checker.predictions import Network

# The seed of the point of a certificate, and the prime modulo which the program that makes
# certificates finds the rank there: both are part of the evidence. The checker computes modulo
# primes of its own, at this point and at a second one.
BLOCK_POINT_SEED = 20250417
STATED_PRIME = 2**31 - 1
# The square of the number of columns times layers times coefficients of a series: up to a
# factor, the number of products that are needed for as many rows as there are columns.
MAX_BLOCK_PRODUCTS = 10**8


@dataclass(frozen=True, kw_only=True)
class Block:
    """A block: the function φ(X) = mᵀY_{l+1}, with Y_1 = X and Y_{k+1} = Y_k σ(Y_kᵀ C_k Y_k), of
    ``t`` tokens x, y, …, y, of which all but the first are equal.
    """

    size: int  # the number n of rows of X and of all Y_k, one or two
    ranks: tuple[int, ...]  # of the matrices C_k of the first layers, each of them 1 or ``size``
    later_layers: int  # the others, which come after a hidden width one: C_k = c_k m mᵀ
    t: int
    softmax: bool

    @property
    def layers(self) -> int:
        """The number l of layers."""
        return len(self.ranks) + self.later_layers

    @property
    def columns(self) -> int:
        """The number of parameters: the entries of the C_k, the c_k, and the entries of m."""
        entries = self.size**2 * len(self.ranks)
        return entries + self.later_layers + self.size

    @property
    def length(self) -> int:
        """The number of coefficients of the power series in h; one is not a series, but a number.

        A softmax of few layers is expanded in the size ε of its inputs, with h = ε². Layer k shows
        its matrix in order 2·3^(k−1) + 1 in ε (theorem-S), that is 3^(k−1) in h after the first
        order. A softmax of more layers has exponentials as unknowns, and lightning attention is a
        polynomial.
        """
        if self.softmax and self.layers <= 6:  # 244 coefficients; seven layers need 730
            last_order: int = 3 ** (self.layers - 1)
            return last_order + 1
        return 1


def unseen_dimension(network: Network) -> int:
    """The dimension of the kernel that the differential of the block always has (theorem-block): 0
    for softmax.

    For lightning attention it is l, for the scalings of the C_k and of m that keep the function,
    plus one for each 2 × 2 matrix C_k with k > f (``Network.last_whole_layer``), whose
    skew-symmetric part does not matter.
    """
    if network.softmax:
        return 0
    # the layers with a 2 × 2 matrix are the first ones, as r_k can only fall
    layers_with_skew_part = sum(rank > 1 for rank in network.narrowest)
    skew_parts = max(0, layers_with_skew_part - network.last_whole_layer)
    return network.depth + skew_parts


def columns_and_rank(network: Network) -> tuple[int, int]:
    """The number of columns of the differential of the block of a network, and its rank; a matrix
    of rank α_k has rank min(α_k, 2) in the block, as theorem-block says.

    Tokens that are zero change nothing in lightning attention, so that two stand for all t ≥ 2; and
    two columns x, y of X give every symmetric 2 × 2 matrix XXᵀ.
    """
    size = min(network.widths[0], 2)
    ranks = []
    for rank, entering_rank in zip(network.ranks, network.narrowest, strict=True):
        # the layers with r_k = 1 are those after a hidden width one
        if entering_rank > 1:
            ranks.append(min(rank, size))
    block = Block(
        size=size,
        ranks=tuple(ranks),
        later_layers=network.depth - len(ranks),
        t=network.t if network.softmax else min(network.t, 2),
        softmax=network.softmax,
    )
    upper = block.columns - unseen_dimension(network)
    return block.columns, _rank(block, upper)


@cache
def _rank(block: Block, upper: int) -> int:
    """A lower bound for the rank of the differential of a block over QQ at general points.

    It is proved to be the rank if it is ``upper``, an upper bound. It is found at two points, each
    modulo a prime of its own: the point of the certificate, and a random one. ContradictionError if
    both ranks do not agree; TooExpensiveError if the block is too large.

    A skew-symmetric C_k has the quadratic form yᵀC_k y = 0, and its point is not general. The
    entries of the certificate's point are positive, so none of its C_k is skew-symmetric.
    """
    if block.columns**2 * block.layers * block.length > MAX_BLOCK_PRODUCTS:
        raise TooExpensiveError("case", f"a block of {block.layers} layers")
    random = unpredictable()
    another_prime = random_prime()
    # One number for each parameter suffices: a 2 × 2 matrix C_k of rank one takes four numbers, its
    # column and its row, and every other one takes its entries.
    other_numbers = (random.randrange(1, another_prime) for _ in range(block.columns))
    point = _parameters(block, _numbers_of_certificate())
    other_point = _parameters(block, other_numbers)
    rank = _rank_at(block, point, prime=PRIME, upper=upper)
    other_rank = _rank_at(block, other_point, prime=another_prime, upper=upper)
    if rank != other_rank:
        raise ContradictionError(f"ranks {rank} and {other_rank} of {block}")
    return rank


def _numbers_of_certificate() -> Iterator[int]:
    """Yield numbers 1 + x % 999: x is followed by 48271·x modulo 2³¹ − 1 (Park, Miller 1993)."""
    x = BLOCK_POINT_SEED
    while True:
        x = x * 48271 % (2**31 - 1)
        yield 1 + x % 999


def _parameters(block: Block, numbers: Iterator[int]) -> list[int]:
    """The parameters made from the next of these numbers, in the order of the columns: the entries
    of all C_k, row by row, the c_k, and m.
    """
    parameters: list[int] = []
    for rank in block.ranks:
        if rank == block.size:
            parameters += islice(numbers, block.size**2)
        else:
            # rank one: a column times a row
            column = list(islice(numbers, block.size))
            row = list(islice(numbers, block.size))
            parameters += [entry * x for entry in column for x in row]
    parameters += islice(numbers, block.later_layers + block.size)
    return parameters


def _rank_at(block: Block, parameters: Sequence[int], prime: int, upper: int) -> int:
    """A lower bound for the rank modulo a prime of the differential at these parameters: rows for
    some random X, until the rank is ``upper`` or there are three times as many X as parameters.

    A row has the derivatives of one coefficient of one output. The rank of the rows of some X is at
    most the rank for all X.
    """
    random = unpredictable()
    rows: list[list[int]] = []
    # less than any rank, as none has been computed
    rank = -1
    # few inputs are enough for most blocks, as each gives several rows
    for count in (3, 3, 6, 12, block.columns, block.columns, block.columns):
        for _ in range(count):
            rows += _rows(block, parameters, prime, random)
        entries = list(chain.from_iterable(rows))
        matrix = flint.nmod_mat(len(rows), block.columns, entries, prime)
        rank = int(matrix.rank())
        # a larger rank would refute the upper bound: those who call compare the two
        if rank >= upper:
            break
    return rank


def _rows(
    block: Block, parameters: Sequence[int], prime: int, random: Random
) -> Iterator[list[int]]:
    """Yield rows of derivatives, with respect to all parameters, of the outputs at random tokens X.

    For t ≥ 2 the second column of X is a token y that stands for all t − 1 others. Each output has
    ``length`` rows, one for each power of h, as each coefficient of a series is a function of X.
    With more layers random numbers stand for the exponentials of the scores, which are
    algebraically independent by Ax's theorem.
    """
    different_tokens = min(block.t, 2)
    X = [[random.randrange(prime) for _ in range(different_tokens)] for _ in range(block.size)]
    # for each layer the entries of a 2 × 2 matrix, used for softmax without power series
    exponentials = [
        [[random.randrange(1, prime) for _ in range(2)] for _ in range(2)]
        for _ in range(block.layers)
    ]
    dual = _DualNumbers(prime=prime, length=block.length, t=block.t)
    constants = [dual.number(x) for x in parameters]
    derivatives = []
    for moving, parameter in enumerate(parameters):
        # the function at p + δ e_i is its value at p, plus δ times the derivative with respect to
        # parameter i
        numbers = constants.copy()
        numbers[moving] = dual.number(parameter, slope=1)
        outputs = _outputs(block, dual, numbers, X, exponentials)
        derivatives.append([dual.slope(output) for output in outputs])
    # for one output, its derivatives with respect to all parameters
    for slopes in zip(*derivatives, strict=True):
        for order in range(block.length):
            yield [int(slope[order]) for slope in slopes]


def _outputs(
    block: Block, dual: "_DualNumbers", numbers: list[Any], X: list[list[int]], exponentials: Any
) -> list[Any]:
    """The outputs mᵀY_{l+1} for x, and for y if there is one; ``numbers`` are the parameters."""
    size = block.size
    # the number of layers with a size × size matrix C_k; the others have C_k = c_k m mᵀ
    wide_layers = len(block.ranks)
    m = [numbers[-size:]]
    # the parameters after the C_k and before m
    c = numbers[wide_layers * size**2 : -size]
    Y = [[dual.number(x) for x in row] for row in X]
    for k in range(block.layers):
        if k < wide_layers:
            entries = numbers[k * size**2 : (k + 1) * size**2]
            C = [entries[size * i : size * (i + 1)] for i in range(size)]
            seen_tokens = Y
        else:
            # Yᵀ(c_k m mᵀ)Y = (mᵀY)ᵀ c_k (mᵀY)
            C = [[c[k - wide_layers]]]
            seen_tokens = dual.product(m, Y)
        # the scores YᵀC_kY
        scores = dual.product(dual.product(transposed(seen_tokens), C), seen_tokens)
        if block.softmax:
            scores = dual.softmax(scores, exponentials[k])
        Y = dual.product(Y, scores)
    return dual.product(m, Y)[0]


@dataclass(frozen=True)
class _DualNumbers:
    """Dual numbers v + s·δ with δ² = 0, where v and s are in GF(prime)[h]/(h^length): a function of
    p + δ e_i has its value at p as v, and its derivative by the i-th parameter as s.

    They are kept as v + s·h^place. The place is 2·length − 1, above the degree of each product of
    two values; the product of two slopes begins at twice the place, and is cut off. For softmax the
    inputs are εX with h = ε²: all tokens of all layers are multiples of ε, so that the scores are h
    times the scores of X. The second of two tokens stands for ``t`` − 1 equal ones.
    """

    prime: int
    length: int
    t: int

    @property
    def place(self) -> int:
        """The power of h at which the slope begins."""
        return 2 * self.length - 1

    def number(self, value: int, slope: int = 0) -> Any:
        """The dual number with a constant value and a constant slope."""
        return flint.nmod_poly([value, *[0] * (self.place - 1), slope], self.prime)

    def slope(self, x: Any) -> Any:
        """The series s of v + s·δ."""
        return x.right_shift(self.place)

    def times(self, x: Any, y: Any) -> Any:
        """The product: (v + s·δ)(v' + s'·δ) = vv' + (vs' + sv')·δ."""
        place = self.place
        product = x.mul_low(y, place + self.length)
        # between the value and the slope are orders of vv' from h^length on, which are zero
        value = product.truncate(self.length)
        slope = product.right_shift(place)
        return value + slope.left_shift(place)

    def product(self, A: Matrix, B: Matrix) -> Matrix:
        """The product AB of matrices of dual numbers."""
        columns = list(zip(*B, strict=True))
        zero = self.number(0)
        return [[sum(map(self.times, row, column), start=zero) for column in columns] for row in A]

    def softmax(self, scores: Matrix, chosen_values: list[list[int]]) -> Matrix:
        """The softmax of each column of a 2 × 2 matrix of scores: (z, z') becomes e^z and (t −
        1)e^z', divided by their sum. The chosen values stand for exponentials where no series is
        used.
        """
        scores_of_x, scores_of_y = scores
        chosen_of_x, chosen_of_y = chosen_values
        exponentials_of_x = list(map(self._exponential, scores_of_x, chosen_of_x))
        exponentials_of_y = map(self._exponential, scores_of_y, chosen_of_y)
        all_of_y = [(self.t - 1) * exponential for exponential in exponentials_of_y]
        column_sums = map(add, exponentials_of_x, all_of_y)
        inverses = list(map(self._inverse, column_sums))
        weights_of_x = list(map(self.times, exponentials_of_x, inverses))
        weights_of_y = list(map(self.times, all_of_y, inverses))
        return [weights_of_x, weights_of_y]

    def _exponential(self, z: Any, chosen_value: int) -> Any:
        """The exponential of h times the score z = v + s·δ: e^(hz) = e^(hv)(1 + hs·δ).

        Where no series is used it is e^z = e^v(1 + s·δ), with ``chosen_value`` in place of e^v: the
        exponentials are algebraically independent over the functions of the inputs (Ax).
        """
        value = z.truncate(self.length)
        # s·δ as a dual number, of value 0
        slope_part = z - value
        if self.length == 1:
            return self.times(self.number(chosen_value), 1 + slope_part)
        h = flint.nmod_poly([0, 1], self.prime)
        # E = e^(hv), a series without constant term in the exponent, from E′ = (hv)′E: k E_k is the
        # sum of j (hv)_j E_(k−j) for j from 1 to k, and k < ``length`` is less than the prime
        exponent = value.mul_low(h, self.length)
        coefficients = [1]
        for k in range(1, self.length):
            k_times_E_k = sum(j * int(exponent[j]) * coefficients[k - j] for j in range(1, k + 1))
            coefficients.append(k_times_E_k * pow(k, -1, self.prime) % self.prime)
        exponential_of_value = flint.nmod_poly(coefficients, self.prime)
        return self.times(exponential_of_value, 1 + self.times(h, slope_part))

    def _inverse(self, x: Any) -> Any:
        """The inverse of x = v + s·δ: it is (v − s·δ)/v², and v − s·δ is 2v − x."""
        value = x.truncate(self.length)
        inverse = value.inverse_series_trunc(self.length)
        return self.times(self.times(inverse, inverse), 2 * value - x)

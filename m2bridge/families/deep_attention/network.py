"""A network evaluated and differentiated over any number system.

The number systems are integers, residues, balls, power series and words (in ``expansion``). Their
matrices have ``*``, ``+`` and ``transpose()``; the system constructs them and has the normalization
σ of the scores. Derivatives are computed by backpropagation. Nothing here says the meaning of
ranks: ``bounds`` does. In all functions ``numbers`` is the number system of the matrices, and
``draw`` returns the next random number.

A layer maps its tokens Y, the columns of a matrix, to Σ_h V_h Y σ(Z_h), a sum over its heads h with
the *scores* Z_h = YᵀA_hY, plus Y with a skip connection. The *attention matrix* A = KᵀQ and the
*value matrix* V of a head are products of the weights (of trained networks V stands for OV). σ is
the identity in lightning attention, the softmax of each column in softmax attention. ⟨G, Z⟩ is the
sum of the products of the entries of two matrices; a *covector* on a matrix Z is the matrix G that
stands for the linear form ⟨G, dZ⟩. The *pullback* to Z of a covector G on σ(Z) is the covector that
stands for the form ⟨G, dσ(Z)⟩ in dZ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from operator import add, mul, truediv
from typing import Any, NamedTuple, Self

import flint

from m2bridge.errors import InvalidCaseError
from m2bridge.families.deep_attention.shape import NetworkSizes
from m2bridge.limits import check_deadline_in

# Rows of integers, or of rational numbers for balls.
Rows = Sequence[Sequence[Any]]
# A matrix of FLINT, an EntryMatrix, or a SeriesMatrix.
MatrixLike = Any
# A source of random numbers.
Draw = Callable[[], Any]


class NumberSystem:
    """Matrices over any ring, and the normalization σ of scores: here the identity."""

    __slots__ = ()

    def matrix(self, rows: Rows) -> MatrixLike:
        """Return the matrix with these entries."""
        return EntryMatrix([list(row) for row in rows])

    def normalized(self, scores: MatrixLike) -> MatrixLike:
        """Return the normalized scores σ(Z)."""
        return scores

    def scores_pullback(self, normalized: MatrixLike, covector: MatrixLike) -> MatrixLike:
        """Return the pullback to the scores Z of a covector on σ(Z); ``normalized`` is σ(Z)."""
        return covector


@dataclass(frozen=True, slots=True)
class Residues(NumberSystem):
    """The finite field GF(p) as a number system."""

    prime: int

    def matrix(self, rows: Rows) -> MatrixLike:
        """Return the matrix with these entries."""
        return flint.nmod_mat(list(rows), self.prime)


@dataclass(frozen=True, slots=True)
class EntryMatrix:
    """A matrix, by its rows, over a ring whose matrices FLINT does not have."""

    rows: list[list[Any]]

    def __add__(self, other: EntryMatrix) -> EntryMatrix:
        pairs = zip(self.rows, other.rows, strict=True)
        return EntryMatrix([list(map(add, *pair)) for pair in pairs])

    def __mul__(self, other: EntryMatrix) -> EntryMatrix:
        columns = other.transpose().rows
        return EntryMatrix(
            [
                [reduce(add, map(mul, row, column)) for column in columns]
                for row in check_deadline_in(self.rows)
            ]
        )

    def transpose(self) -> EntryMatrix:
        """Return the transposed matrix."""
        columns = [list(column) for column in zip(*self.rows, strict=True)]
        return EntryMatrix(columns)

    def entries(self) -> list[Any]:
        """Return all entries, row by row."""
        return [entry for row in self.rows for entry in row]


@dataclass(frozen=True, slots=True)
class SeriesMatrix:
    """A matrix over GF(p)[h]/(h^length), as a series with matrices of FLINT as coefficients.

    Most coefficients of most series here are 0, as the even ones of odd functions: they are left
    out, and cost nothing.
    """

    coefficients: Mapping[int, Any]  # by the exponents of h below ``length``; at least one
    length: int
    prime: int

    @classmethod
    def of(cls, rows: Sequence[Sequence[Any]], length: int, prime: int) -> Self:
        """Return the matrix with these power series (polynomials of FLINT) as entries."""
        coefficients = {}
        for order in range(length):
            coefficient_rows = [[entry[order] for entry in row] for row in rows]
            coefficient = flint.nmod_mat(coefficient_rows, prime)
            if coefficient or order == 0:
                coefficients[order] = coefficient
        return cls(coefficients, length, prime)

    @property
    def rows(self) -> list[list[Any]]:
        """The rows of the matrix; an entry is a power series, as a polynomial of FLINT."""
        columns = next(iter(self.coefficients.values())).ncols()
        entries = [flint.nmod_poly(list(series), self.prime) for series in self.entries()]
        return [entries[start : start + columns] for start in range(0, len(entries), columns)]

    def _with(self, coefficients: Mapping[int, Any]) -> Self:
        """Return a matrix with these coefficients."""
        return type(self)(coefficients, self.length, self.prime)

    def __add__(self, other: SeriesMatrix) -> Self:
        """Return the sum of two matrices of one size, with one prime and one length."""
        total = dict(self.coefficients)
        for order, coefficient in other.coefficients.items():
            total[order] = total[order] + coefficient if order in total else coefficient
        return self._with(total)

    def __mul__(self, other: SeriesMatrix) -> Self:
        """Return the product of two matrices, modulo h^length."""
        product: dict[int, Any] = {}
        for i, left in self.coefficients.items():
            for j, right in other.coefficients.items():
                order = i + j
                if order in product:
                    product[order] = product[order] + left * right
                elif order < self.length:
                    product[order] = left * right
        if not product:
            # A zero matrix of the size of the product.
            product[0] = left * right * 0
        return self._with(product)

    def transpose(self) -> Self:
        """Return the transposed matrix."""
        return self._with({i: matrix.transpose() for i, matrix in self.coefficients.items()})

    def entries(self) -> list[Any]:
        """Return the tuple of all ``length`` coefficients of each entry, row by row."""
        by_order = {i: matrix.entries() for i, matrix in self.coefficients.items()}
        zeros = [0] * len(next(iter(by_order.values())))
        all_orders = [by_order.get(order, zeros) for order in range(self.length)]
        return list(zip(*all_orders, strict=True))


@dataclass(frozen=True, slots=True)
class FormalSoftmax(Residues):
    """GF(p), with a random number for each exponential: softmax of two different tokens is (π_1,
    π_2; 1 − π_1, 1 − π_2) with random π_1, π_2, and only its derivative uses the scores.

    By Ax's theorem the exponentials are algebraically independent if no attention matrix is
    skew-symmetric, so that ranks are lower bounds (docs/deep-attention.md).
    """

    draw: Draw

    def normalized(self, scores: MatrixLike) -> MatrixLike:
        """Return a random matrix (π_1, π_2; 1 − π_1, 1 − π_2), whatever the scores are."""
        # π_1 and π_2
        first_row = [self.draw() for _ in range(2)]
        # each column of a softmax has the sum 1
        second_row = [1 - value for value in first_row]
        return self.matrix([first_row, second_row])

    def scores_pullback(self, normalized: MatrixLike, covector: MatrixLike) -> MatrixLike:
        """Return the pullback to the scores of a covector on σ(Z), which is ``normalized``."""
        return self.matrix(_scores_pullback(normalized.table(), covector.table(), mul))


class Reals(NumberSystem):
    """Real numbers enclosed in balls, with the precision ``flint.ctx.prec``."""

    __slots__ = ()

    def matrix(self, rows: Rows) -> MatrixLike:
        """Return the matrix with these entries."""
        return flint.arb_mat(list(rows))


@dataclass(frozen=True, slots=True)
class Balls(Reals):
    """Real numbers enclosed in balls, with softmax. The j-th token stands for w_j equal ones, w =
    ``multiplicities``: column i becomes w_j e^{Z_ji} / Σ_m w_m e^{Z_mi}.
    """

    multiplicities: tuple[int, ...]

    def normalized(self, scores: MatrixLike) -> MatrixLike:
        """Return the normalized scores σ(Z) by the formula of the class."""
        exponentials = []
        for w, row in zip(self.multiplicities, scores.table(), strict=True):
            exponentials.append([w * entry.exp() for entry in row])
        columns = zip(*exponentials, strict=True)
        column_totals = [reduce(add, column) for column in columns]
        quotients = [list(map(truediv, row, column_totals)) for row in exponentials]
        return self.matrix(quotients)

    def scores_pullback(self, normalized: MatrixLike, covector: MatrixLike) -> MatrixLike:
        """Return the pullback to the scores of a covector on σ(Z), which is ``normalized``."""
        return self.matrix(_scores_pullback(normalized.table(), covector.table(), mul))


@dataclass(frozen=True, slots=True)
class PowerSeries(NumberSystem):
    """GF(p)[h]/(h^length), with softmax, for inputs εX where h = ε²; the j-th token stands for w_j
    equal ones, w = ``multiplicities``, whose sum is t.

    Tokens are kept divided by ε, so the scores are h times what the matrices say, and their
    exponentials are power series, with factorials of numbers below ``length`` as denominators: so
    ``length`` must be less than p. A column of exponentials has a sum with the constant term t, so
    that p must not divide t.
    """

    prime: int
    length: int
    multiplicities: tuple[int, ...]

    def times(self, x: Any, y: Any) -> Any:
        """Return the product of two series modulo h^length."""
        return x.mul_low(y, self.length)

    def matrix(self, rows: Rows) -> SeriesMatrix:
        """Return the matrix with these entries."""
        constant = flint.nmod_mat([list(row) for row in rows], self.prime)
        return SeriesMatrix({0: constant}, self.length, self.prime)

    def normalized(self, scores: SeriesMatrix) -> SeriesMatrix:
        """Return the normalized scores σ(hZ), where ``scores`` is Z: softmax of each column."""
        exponentials = []
        for w, row in zip(self.multiplicities, scores.rows, strict=True):
            # w e^{hz} for the scores z of the row
            exponentials.append([w * self._exponential(self._shifted(entry)) for entry in row])
        columns = zip(*exponentials, strict=True)
        column_totals = [reduce(add, column) for column in columns]
        inverses = [total.inverse_series_trunc(self.length) for total in column_totals]
        quotients = [list(map(self.times, row, inverses)) for row in exponentials]
        return SeriesMatrix.of(quotients, self.length, self.prime)

    def scores_pullback(self, normalized: SeriesMatrix, covector: SeriesMatrix) -> SeriesMatrix:
        """Return the covector on Z that belongs to one on σ(hZ): h times that on the scores hZ."""
        rows = _scores_pullback(normalized.rows, covector.rows, self.times)
        shifted = [list(map(self._shifted, row)) for row in rows]
        return SeriesMatrix.of(shifted, self.length, self.prime)

    def _shifted(self, series: Any) -> Any:
        """Return h times the power series modulo h^length."""
        return series.left_shift(1).truncate(self.length)

    def _exponential(self, series: Any) -> Any:
        """Return e^Z modulo h^length for a series Z without constant term, by Newton's iteration E
        ← E(1 + Z − log E).

        It doubles the number of correct terms: if E = e^Z(1 + δ), the new E is e^Z(1 + δ)(1 − log(1
        + δ)) = e^Z(1 + O(δ²)).
        """
        one = flint.nmod_poly([1], self.prime)
        # E, correct in its first ``precision`` terms: at first the constant term, 1
        E = one
        precision = 1
        while precision < self.length:
            precision = min(2 * precision, self.length)
            inverse = E.inverse_series_trunc(precision)
            # (log E)′ = E′/E; the constant terms of E and log E are 1 and 0
            logarithm = E.derivative().mul_low(inverse, precision).integral().truncate(precision)
            E = E.mul_low(one + series.truncate(precision) - logarithm, precision)
        return E


def _scores_pullback(
    normalized: Any, covector: Any, times: Callable[[Any, Any], Any]
) -> list[list[Any]]:
    """Return the rows of the pullback of a covector G on softmax scores σ(Z) to the scores Z: σ_ji
    (G_ji − Σ_m σ_mi G_mi).

    Indeed ∂σ_mi/∂Z_ji = σ_mi (δ_mj − σ_ji), also where some tokens stand for several equal ones;
    column i has the scores of token i.
    """
    pulled_back_columns = []
    sigma_columns = zip(*normalized, strict=True)
    G_columns = zip(*covector, strict=True)
    for sigma, g in zip(sigma_columns, G_columns, strict=True):
        products = list(map(times, sigma, g))
        # Σ_m σ_mi G_mi
        mean = reduce(add, products)
        pairs = zip(sigma, products, strict=True)
        pulled_back_columns.append([product - times(entry, mean) for entry, product in pairs])
    return [list(row) for row in zip(*pulled_back_columns, strict=True)]


@dataclass(frozen=True, slots=True)
class NetworkWeights:
    """The parameters as matrices: for each head of each layer V, O if present, and A or K and Q, by
    their letters. With the output matrix O of a trained head its value matrix is OV.
    """

    # layers[k][h] has the matrices of head h of layer k, both from 0
    layers: Sequence[Sequence[Mapping[str, MatrixLike]]]

    @classmethod
    def read(
        cls, shape: NetworkSizes, parameters: Sequence[Any], numbers: NumberSystem
    ) -> NetworkWeights:
        """Return the weights over ``numbers`` whose entries are the parameters: the entries of
        ``shape.parameter_matrices()`` in turn, each row by row.
        """
        if len(parameters) != shape.parameter_count:
            message = f"are {shape.parameter_count} numbers, not {len(parameters)}"
            raise InvalidCaseError("parameters", message)
        layers: list[list[dict[str, MatrixLike]]] = [
            [{} for _ in range(shape.heads)] for _ in shape.a
        ]
        # each row takes its entries from those that are left
        entries = iter(parameters)
        for matrix in shape.parameter_matrices():
            rows = [list(islice(entries, matrix.columns)) for _ in range(matrix.rows)]
            # the numbers of a matrix are from 1
            head = layers[matrix.layer - 1][matrix.head - 1]
            head[matrix.kind] = numbers.matrix(rows)
        return cls(layers)

    def network(self) -> Network:
        """Return the attention matrices A, or KᵀQ, and value matrices V, or OV, of all heads."""

        def matrices(head: Mapping[str, MatrixLike]) -> HeadMatrices:
            A = head["A"] if "A" in head else head["K"].transpose() * head["Q"]
            V = head["O"] * head["V"] if "O" in head else head["V"]
            return HeadMatrices(A, V)

        return tuple(tuple(map(matrices, layer)) for layer in self.layers)

    def flattened(self, gradient: Sequence[LayerMatrices]) -> list[Any]:
        """Return the gradient with respect to the parameters, from the gradient with respect to all
        A and OV, in the order of :meth:`read`; O stands before V.
        """
        entries: list[Any] = []
        for layer in self.by_matrices(gradient):
            for head in layer:
                for covector in head.values():
                    entries += covector.entries()
        return entries

    def by_matrices(self, gradient: Sequence[LayerMatrices]) -> list[list[dict[str, MatrixLike]]]:
        """Return the gradient with respect to the matrices of :attr:`layers`, in the same form,
        from the gradient with respect to all A and W = OV (W = V without O).

        Write dZ for the matrix of the derivatives with respect to the entries of Z. For A = KᵀQ and
        W = OV the chain rule gives dK = Q dAᵀ, dQ = K dA, dO = dW Vᵀ and dV = Oᵀ dW.
        """
        layers = []
        for layer, covectors in zip(self.layers, gradient, strict=True):
            heads = []
            for head, covector in zip(layer, covectors, strict=True):
                dA, dW = covector.A, covector.V
                by_letter = {"A": dA}
                if "A" not in head:
                    by_letter = {"K": head["Q"] * dA.transpose(), "Q": head["K"] * dA}
                if "O" in head:
                    by_letter["O"] = dW * head["V"].transpose()
                    by_letter["V"] = head["O"].transpose() * dW
                else:
                    by_letter["V"] = dW
                heads.append(by_letter)
            layers.append(heads)
        return layers


@dataclass(frozen=True, slots=True)
class HeadMatrices:
    """The attention matrix A and the value matrix V of a head; or a covector on each of the two."""

    A: MatrixLike
    V: MatrixLike


LayerMatrices = tuple[HeadMatrices, ...]
Network = Sequence[LayerMatrices]


def output(
    network: Network, X: MatrixLike, numbers: NumberSystem, skip: bool = False
) -> MatrixLike:
    """Return the tokens after the last layer, if the tokens X enter the first."""
    return _all_tokens(network, X, numbers, skip).leaving


class LayerInput(NamedTuple):
    """What a layer computes with: tokens Y, and the normalized scores σ(YᵀAY) of each head."""

    Y: MatrixLike
    sigmas: list[MatrixLike]


class AllTokens(NamedTuple):
    """The inputs of all layers, the first layer first, and the tokens that leave the last layer."""

    entering: list[LayerInput]
    leaving: MatrixLike


def _all_tokens(network: Network, X: MatrixLike, numbers: NumberSystem, skip: bool) -> AllTokens:
    """Return the inputs of all layers, and the tokens after the last layer."""
    entering: list[LayerInput] = []
    Y = X
    for layer in network:
        sigmas = [numbers.normalized(Y.transpose() * head.A * Y) for head in layer]
        entering.append(LayerInput(Y, sigmas))
        outputs = [head.V * Y * sigma for head, sigma in zip(layer, sigmas, strict=True)]
        if skip:
            outputs.append(Y)
        Y = reduce(add, outputs)
    return AllTokens(entering, Y)


def gradient(
    network: Network, X: MatrixLike, G: MatrixLike, numbers: NumberSystem, skip: bool = False
) -> list[LayerMatrices]:
    """Return the gradient of ⟨G, output(X)⟩ with respect to all A and V, in the form of the
    network.
    """
    entering = _all_tokens(network, X, numbers, skip).entering
    layers: list[LayerMatrices] = []
    for layer, (Y, sigmas) in zip(reversed(network), reversed(entering), strict=True):
        by_weights, by_tokens = [], []
        for head, sigma in zip(layer, sigmas, strict=True):
            by_head, by_Y = pullback(head, Y=Y, sigma=sigma, G=G, numbers=numbers)
            by_weights.append(by_head)
            by_tokens.append(by_Y)
        if skip:
            # the layer adds Y itself
            by_tokens.append(G)
        layers.append(tuple(by_weights))
        # the covector on the tokens that enter this layer
        G = reduce(add, by_tokens)
    return layers[::-1]


def gradients_at(
    point: NetworkWeights, shape: NetworkSizes, numbers: NumberSystem, tokens: int, draw: Draw
) -> Iterator[list[Any]]:
    """Yield gradients of ⟨G, output(X)⟩ with respect to the parameters at ``point``, without end,
    with random inputs X of ``tokens`` columns and a random covector G.
    """
    weights = point.network()
    while True:
        X = random_matrix(numbers, shape.widths[0], tokens, draw)
        G = random_matrix(numbers, shape.widths[-1], tokens, draw)
        yield point.flattened(gradient(weights, X, G, numbers=numbers, skip=shape.skip))


def random_matrix(numbers: NumberSystem, rows: int, columns: int, draw: Draw) -> MatrixLike:
    """Return a matrix of this size whose entries are drawn row by row."""
    return numbers.matrix([[draw() for _ in range(columns)] for _ in range(rows)])


def virtual_weights(network: Network) -> list[MatrixLike]:
    """Return the list A'_1, …, A'_l, M of virtual weights of a network with one head per layer:
    A'_k = M_kᵀ A_k M_k with M_k = V_{k−1}⋯V_1, and M = V_l⋯V_1.
    """
    # M_1 is the identity
    (first,), *later_layers = network
    matrices = [first.A]
    M = first.V
    for (head,) in later_layers:
        matrices.append(M.transpose() * head.A * M)
        M = head.V * M
    return [*matrices, M]


class VirtualWeights(NamedTuple):
    """The virtual weights A'_1, …, A'_l, as a list, and M: each matrix as its rows of integers."""

    attention: list[list[list[int]]]
    M: list[list[int]]


def virtual_weights_at(shape: NetworkSizes, parameters: Sequence[int]) -> VirtualWeights:
    """Return the virtual weights of a plain network for integer parameters."""
    network = NetworkWeights.read(shape, parameters, NumberSystem()).network()
    *attention, M = (matrix.rows for matrix in virtual_weights(network))
    return VirtualWeights(attention, M)


def pullback(
    head: HeadMatrices, Y: MatrixLike, sigma: MatrixLike, G: MatrixLike, numbers: NumberSystem
) -> tuple[HeadMatrices, MatrixLike]:
    """Return the pullbacks to (A, V) and to Y of a covector G on the output VYσ(Z) of a head, where
    Z = YᵀAY and ``sigma`` is σ(Z).

    Write dV for the pullback of G to V, and so on. By the product rule dV = G(Yσ)ᵀ and, for Γ =
    VᵀG, dσ = YᵀΓ, from which the number system finds dZ. Then dA = Y dZ Yᵀ. The summands of dY =
    Γσᵀ + AY dZᵀ + AᵀY dZ come from the factor Y of the output, and from the first and the second
    factor Y of Z.
    """
    gamma = head.V.transpose() * G
    dZ = numbers.scores_pullback(sigma, Y.transpose() * gamma)
    dV = G * (Y * sigma).transpose()
    dA = Y * dZ * Y.transpose()
    dY = gamma * sigma.transpose() + head.A * Y * dZ.transpose() + head.A.transpose() * Y * dZ
    return HeadMatrices(dA, dV), dY

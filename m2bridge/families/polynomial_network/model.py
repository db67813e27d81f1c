"""Polynomial neural networks as models: evaluated and differentiated without expansion."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from operator import mul
from typing import TYPE_CHECKING

from m2bridge.errors import InvalidCaseError
from m2bridge.families.polynomial_network.shape import STATEMENTS, Shape, expected_dimension
from m2bridge.maps.statement import Statement

if TYPE_CHECKING:
    from m2bridge.algebra.polynomial_map import PolynomialMap
    from m2bridge.engine import Engine
    from m2bridge.maps.chain import Chain
    from m2bridge.maps.rank import ObservedRank


Row = Sequence[int]


class PolynomialNetwork(Shape):
    """The model x ↦ W_l σ_r(W_{l−1} … σ_r(W_1 x)) with W_i of size d_i × d_{i−1}.

    The function coordinates are the coefficients of its d_l outputs, forms of degree r^(l−1) in d_0 variables:
    ``f_k_2_0_1`` is the coefficient of x_1²·x_3 in output k. The parameter ``W_k_i_j`` is the entry (i, j) of W_k.

    Parameters
    ----------
    widths : iterable of int
        d_0, …, d_l; at least two.
    degree : int
        The activation degree r ≥ 1.

    Raises
    ------
    InvalidCaseError
        If one of them is not an integer, below 1, or so large that not even the weights could be handled.

    Examples
    --------
    >>> network = PolynomialNetwork([2, 2, 1])
    >>> network.parametrization().images[0]
    W_1_1_1**2*W_2_1_1 + W_1_2_1**2*W_2_1_2
    >>> from m2bridge.maps.rank import rank_result
    >>> deep = rank_result(PolynomialNetwork([6] * 7))
    >>> deep.lower, deep.status
    (186, 'proved')
    """

    __slots__ = ()

    def parametrization(self) -> PolynomialMap:
        """The coefficients as polynomials in the weights; no coefficient is identically zero.

        Raises
        ------
        TooLargeError
            If they are too large to be expanded.
        """
        self.check_expandable()
        try:
            return layer_chain(self).parametrization()
        except InvalidCaseError as reason:
            raise InvalidCaseError("widths", reason.message) from None

    def expected_dimension(self) -> tuple[int | None, str]:
        """min(Σ d_i d_{i−1} − Σ_{0<i<l} d_i, number of coordinates); for linear networks there is no expectation."""
        if self.degree < 2:
            return None, "the expectation is for activation degrees r ≥ 2"
        return expected_dimension(self), "the expected dimension (Kileel, Trager, Bruna 2019)"

    def values(self, parameters: Row, inputs: Sequence[Row], prime: int) -> list[list[int]]:
        """See :class:`~m2bridge.maps.model.DifferentiableModel`."""
        return [self._forward(parameters, x, prime)[1] for x in inputs]

    def pullbacks(
        self, parameters: Row, inputs: Sequence[Row], covectors: Sequence[Row], prime: int
    ) -> list[list[int]]:
        """See :class:`~m2bridge.maps.model.DifferentiableModel`.

        With y_0 = x, z_i = W_i y_{i−1} and y_i = z_i^r, and from g_l = g: the derivative of ⟨g, z_l⟩ with respect to
        W_i is g_i y_{i−1}ᵀ, and g_{i−1} = r z_{i−1}^(r−1) ∘ W_iᵀ g_i.
        """
        result = []
        for x, g in zip(inputs, covectors, strict=True):
            gradient: list[int] = []
            for W, y, slopes in reversed(self._forward(parameters, x, prime)[0]):
                gradient = [entry * value % prime for entry in g for value in y] + gradient
                columns = zip(*W, strict=True)
                g = [slope * sum(map(mul, column, g)) % prime for slope, column in zip(slopes, columns, strict=True)]
            result.append(gradient)
        return result

    def _forward(self, parameters: Row, x: Row, prime: int) -> tuple[list[tuple[list[Row], Row, Row]], list[int]]:
        """The matrix W_i, its input y_{i−1} and the slopes r z_{i−1}^(r−1) of each layer; and the outputs."""
        layers: list[tuple[list[Row], Row, Row]] = []
        y, slopes, start, z = list(x), [0] * len(x), 0, list[int]()
        for before, after in pairwise(self.widths):
            stop = start + before * after
            W = [parameters[i : i + before] for i in range(start, stop, before)]
            layers.append((W, y, slopes))
            z, start = [sum(map(mul, row, y)) % prime for row in W], stop
            powers = [pow(entry, self.degree - 1, prime) for entry in z]
            y = [entry * power % prime for entry, power in zip(z, powers, strict=True)]
            slopes = [self.degree * power % prime for power in powers]
        return layers, z

    def statements(self) -> tuple[Statement, ...]:
        """The expected dimension, in two forms."""
        return STATEMENTS

    def observe(self, observables: Collection[str], *, engine: Engine | None, certified: bool = False) -> ObservedRank:
        """The dimension, by exact ranks and upper bounds; no engine takes part."""
        from m2bridge.maps.rank import observe_rank  # imports FLINT

        return observe_rank(self)


def layer_chain(network: Shape) -> Chain:
    """Return the network as a chain, with inputs x_j, hidden sums z_k_i before activation, and outputs f_i."""
    from m2bridge.algebra.field import QQ
    from m2bridge.algebra.polynomial_map import PolynomialMap
    from m2bridge.algebra.ring import PolynomialRing
    from m2bridge.maps.chain import Chain, Layer  # imports SymPy

    layers = []
    outputs = tuple(f"x_{j}" for j in range(1, network.input_count + 1))
    for k, size in enumerate(network.widths[1:], 1):
        name, inputs = "f" if k == len(network.widths) - 1 else f"z_{k}", outputs
        outputs = tuple(f"{name}_{i}" for i in range(1, size + 1))
        weights = (f"W_{k}_{i}_{j}" for i in range(1, size + 1) for j in range(1, len(inputs) + 1))
        source = PolynomialRing(QQ, (*inputs, *weights))
        x, w = source.sympy_ring.gens[: len(inputs)], source.sympy_ring.gens[len(inputs) :]
        powers = [entry ** (1 if k == 1 else network.degree) for entry in x]
        rows = (w[i : i + len(x)] for i in range(0, len(w), len(x)))
        images = tuple(sum(map(mul, row, powers), source.sympy_ring.zero) for row in rows)
        layers.append(Layer(PolynomialMap(source, outputs, images), inputs))
    return Chain(tuple(layers), network.title, network.key)

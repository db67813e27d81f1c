"""A polynomial network as a composition of polynomial maps: its definition, layer by layer."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import comb
from operator import mul
from typing import TYPE_CHECKING, Any, ClassVar

from m2bridge.algebra.field import QQ
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.errors import InvalidCaseError, TooLargeError
from m2bridge.families.polynomial_network import structure
from m2bridge.families.polynomial_network import structure as bounds
from m2bridge.maps.chain import Chain
from m2bridge.maps.layer import Layer
from m2bridge.maps.model import DifferentiableModel, UpperBound
from m2bridge.maps.statement import Statement
from m2bridge.maps.structure import Multigrading, Symmetry

if TYPE_CHECKING:
    from m2bridge.engine import Engine
    from m2bridge.maps.rank import ObservedRank


def layer_chain(network: PolynomialNetwork) -> Chain:
    """The network, with inputs x_j, hidden sums z_k_j before activation, and outputs f_k."""
    last = len(network.widths) - 1
    layers = []
    for k, (before, after) in enumerate(pairwise(network.widths), 1):
        inputs = tuple(f"x_{j}" if k == 1 else f"z_{k - 1}_{j}" for j in range(1, before + 1))
        outputs = tuple(f"f_{i}" if k == last else f"z_{k}_{i}" for i in range(1, after + 1))
        layers.append(_layer(k, inputs, outputs, 1 if k == 1 else network.degree))
    return Chain(tuple(layers), network.title, network.key)


def _layer(k: int, inputs: tuple[str, ...], outputs: tuple[str, ...], degree: int) -> Layer:
    """Output i is Σ_j W_k_i_j·(input j)^degree."""
    size = len(inputs)
    names = tuple(f"W_{k}_{i}_{j}" for i in range(1, len(outputs) + 1) for j in range(1, size + 1))
    source = PolynomialRing(QQ, inputs + names)
    generators = source.sympy_ring.gens
    powers = [x**degree for x in generators[:size]]
    zero = source.sympy_ring.zero
    images = tuple(
        sum((generators[size * (i + 1) + j] * powers[j] for j in range(size)), zero) for i in range(len(outputs))
    )
    return Layer(PolynomialMap(source, outputs, images), inputs)


Row = Sequence[int]
Matrix = list[Row]


def matrices(widths: Row, parameters: Row) -> list[Matrix]:
    """The weights as matrices W_1, …, W_l; they are listed row by row."""
    result, start = [], 0
    for before, after in pairwise(widths):
        stop = start + before * after
        result.append([parameters[i : i + before] for i in range(start, stop, before)])
        start = stop
    return result


def output(weights: Sequence[Matrix], degree: int, x: Row, prime: int) -> list[int]:
    """The outputs at x."""
    sums = _product(weights[0], x, prime)
    for matrix in weights[1:]:
        sums = _product(matrix, [pow(z, degree, prime) for z in sums], prime)
    return sums


def gradient(weights: Sequence[Matrix], degree: int, x: Row, covector: Row, prime: int) -> list[int]:
    """The gradient of ⟨g, output(x)⟩ with respect to all weights.

    Forward: z_i = W_i y_{i−1}, y_i = z_i^r. Backward, from g_l = g: the derivative with respect to W_i is g_i y_{i−1}ᵀ,
    and g_{i−1} = r z_{i−1}^(r−1) ∘ W_iᵀ g_i.
    """
    entering, slopes = [list(x)], []
    for matrix in weights[:-1]:
        powers = [(z, pow(z, degree - 1, prime)) for z in _product(matrix, entering[-1], prime)]
        entering.append([z * power % prime for z, power in powers])
        slopes.append([degree * power % prime for _, power in powers])
    blocks: list[list[int]] = []
    g = list(covector)
    for i in range(len(weights) - 1, -1, -1):
        blocks.append([entry * y % prime for entry in g for y in entering[i]])
        if i:
            columns = zip(*weights[i], strict=True)
            g = [slope * sum(map(mul, column, g)) % prime for slope, column in zip(slopes[i - 1], columns, strict=True)]
    return [entry for block in reversed(blocks) for entry in block]


def _product(matrix: Matrix, vector: Row, prime: int) -> list[int]:
    return [sum(map(mul, row, vector)) % prime for row in matrix]


NAME = "polynomial-network"
MAX_PARAMETERS = 100_000
MAX_DEGREE = 10**6
MAX_LAYERS = 100


@dataclass(frozen=True, slots=True, init=False)
class PolynomialNetwork(DifferentiableModel):
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

    widths: tuple[int, ...]
    degree: int
    family: ClassVar[str] = NAME

    def __init__(self, widths: Iterable[int], degree: int = 2) -> None:
        if isinstance(widths, str) or not isinstance(widths, Iterable):
            raise InvalidCaseError("widths", f"must be a list of integers, not {widths!r}")
        listed = tuple(widths)
        for option, value in (*(("widths", width) for width in listed), ("degree", degree)):
            if not isinstance(value, int) or isinstance(value, bool):
                raise InvalidCaseError(option, f"must be of integers, not {value!r}")
            if value < 1:
                raise InvalidCaseError(option, f"must be at least 1, not {value}")
        if not 2 <= len(listed) <= MAX_LAYERS + 1:
            raise InvalidCaseError("widths", f"must be from 2 to {MAX_LAYERS + 1} integers, not {len(listed)}")
        if degree > MAX_DEGREE:
            raise InvalidCaseError("degree", f"must be at most {MAX_DEGREE}, not {degree}")
        object.__setattr__(self, "widths", listed)
        object.__setattr__(self, "degree", degree)
        if self.parameter_count > MAX_PARAMETERS:
            raise InvalidCaseError("widths", f"give {self.parameter_count} weights; at most {MAX_PARAMETERS} can be")

    @classmethod
    def from_key(cls, key: str) -> PolynomialNetwork:
        """The network with this key, such as ``2-2-1-r2``."""
        match = re.fullmatch(r"([1-9][0-9]{0,8}(?:-[1-9][0-9]{0,8})+)-r([1-9][0-9]{0,8})", key, re.ASCII)
        if match is None:
            raise InvalidCaseError("key", f"'{key}' does not name a polynomial network: write 2-2-1-r2")
        return cls(map(int, match[1].split("-")), int(match[2]))

    @property
    def key(self) -> str:
        """Such as ``2-2-1-r2``."""
        return f"{'-'.join(map(str, self.widths))}-r{self.degree}"

    @property
    def title(self) -> str:
        """In words."""
        shape = f"widths ({', '.join(map(str, self.widths))}) and activation degree {self.degree}"
        return f"polynomial neural network of {shape}"

    def to_json(self) -> dict[str, Any]:
        """The numbers of the case."""
        return {"widths": list(self.widths), "degree": self.degree}

    @property
    def parameter_count(self) -> int:
        """The number of weights, Σ d_i d_{i−1}."""
        return sum(before * after for before, after in pairwise(self.widths))

    @property
    def input_count(self) -> int:
        """d_0."""
        return self.widths[0]

    @property
    def output_count(self) -> int:
        """d_l."""
        return self.widths[-1]

    @property
    def function_degree(self) -> int:
        """The degree r^(l−1) of the outputs as forms in the inputs."""
        return int(self.degree ** (len(self.widths) - 2))

    @property
    def coordinate_count(self) -> int:
        """The number of coefficients, d_l·C(d_0 − 1 + r^(l−1), d_0 − 1)."""
        return self.output_count * comb(self.input_count - 1 + self.function_degree, self.input_count - 1)

    def parametrization(self) -> PolynomialMap:
        """The coefficients as polynomials in the weights; no coefficient is identically zero.

        Raises
        ------
        TooLargeError
            If they are too large to be expanded.
        """

        self._check_expandable()
        try:
            return layer_chain(self).parametrization()
        except InvalidCaseError as reason:
            raise InvalidCaseError("widths", reason.message) from None

    def grading(self) -> Multigrading | None:
        """The multidegree of the coefficient of x^m in output k is (e_k, m) in Z^d_l × Z^d_0 (finer for l = 1)."""
        self._check_expandable()
        return structure.grading(self.widths, self.function_degree)

    def symmetries(self) -> tuple[Symmetry, ...]:
        """Exchanges of neighbouring inputs and outputs; they generate S_d_0 × S_d_l. Hidden neurons are gauge."""
        self._check_expandable()
        return structure.symmetries(self.widths, self.function_degree)

    def gauge_dimension(self) -> int:
        """For r ≥ 2 the number of hidden neurons: each can be rescaled, and generic stabilizers are finite.

        For r = 1 the gauge group is Π GL(d_i), whose orbits on generic weights are counted.
        """
        return bounds.gauge_dimension(self.widths, self.degree)

    def expected_dimension(self) -> tuple[int | None, str]:
        """min(Σ d_i d_{i−1} − Σ_{0<i<l} d_i, number of coordinates); for linear networks there is no expectation."""
        from m2bridge.families.polynomial_network.statements import expected_dimension  # it imports this module

        if self.degree < 2:
            return None, "the expectation is for activation degrees r ≥ 2"
        return expected_dimension(self), "the expected dimension (Kileel, Trager, Bruna 2019)"

    def upper_bounds(self, characteristic: int) -> tuple[UpperBound, ...]:
        """The best bound of docs/polynomial_networks.md."""
        return (bounds.best_bound(self.widths, self.degree, characteristic),)

    def values(self, parameters: Row, inputs: Sequence[Row], prime: int) -> list[list[int]]:
        """See :class:`~m2bridge.maps.model.DifferentiableModel`."""
        weights = matrices(self.widths, parameters)
        return [output(weights, self.degree, x, prime) for x in inputs]

    def pullbacks(
        self, parameters: Row, inputs: Sequence[Row], covectors: Sequence[Row], prime: int
    ) -> list[list[int]]:
        """See :class:`~m2bridge.maps.model.DifferentiableModel`."""
        weights = matrices(self.widths, parameters)
        pairs = zip(inputs, covectors, strict=True)
        return [gradient(weights, self.degree, x, covector, prime) for x, covector in pairs]

    def statements(self) -> tuple[Statement, ...]:
        """See ``statements.py``."""
        from m2bridge.families.polynomial_network.statements import STATEMENTS  # it imports this module

        return STATEMENTS

    def observe(self, observables: Collection[str], engine: Engine | None, *, certified: bool = False) -> ObservedRank:
        """The dimension, by exact ranks and upper bounds; no engine takes part."""
        from m2bridge.maps.rank import observe_rank  # it imports FLINT

        return observe_rank(self)

    def _check_expandable(self) -> None:
        most = structure.MAX_COORDINATES
        if (self.input_count > 1 and self.function_degree > most) or self.coordinate_count > most:
            raise TooLargeError(
                f"this network has more than {most} coordinates, too many to write down; its dimension needs none",
            )

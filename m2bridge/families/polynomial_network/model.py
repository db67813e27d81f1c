"""Polynomial neural networks as models: sizes, coordinates, and statements.

They are differentiated without expansion, so that dimensions need no coordinates. Upper bounds are
in ``bounds``; what the program says here is checked by ``checker``, which shares the statements.

Notation: a network φ has l layers, widths d_0, …, d_l and the activation degree r. Layer i maps its
inputs y_{i−1} to z_i = W_i y_{i−1}, and r-th powers of the entries of z_i are the inputs y_i of the
next layer; y_0 = x, and z_l are the outputs. The *parameters* are the entries of W_1, …, W_l, each
matrix row by row. A *covector* g on a vector z stands for the linear form ⟨g, dz⟩ = Σ_j g_j dz_j.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from operator import attrgetter, mul
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from m2bridge.algebra import MAX_RING_VARIABLES
from m2bridge.algebra.determinantal import monomial_count
from m2bridge.certificates.conditions import CaseNumbers
from m2bridge.certificates.wording import Words, wording
from m2bridge.errors import InvalidCaseError, TooLargeError
from m2bridge.families.base import positive_integer, positive_integers
from m2bridge.families.polynomial_network.bounds import best_bound, gauge_dimension
from m2bridge.maps.model import DegreeVector, DifferentiableModel, Expectation
from m2bridge.results.known import Bounds
from m2bridge.statements.statement import GlobalStatement, Statement

if TYPE_CHECKING:
    from m2bridge.algebra.polynomial_map import PolynomialMap
    from m2bridge.maps.chain import Chain, Row
    from m2bridge.maps.jacobian_rank import ObservedRank

NAME = "polynomial-network"
WORDS = wording(Path(__file__).parent / "words.toml")

# A row of the differential is as long as there are weights.
MAX_NETWORK_WEIGHTS = 100_000
# The bounds of all parts of a network take time cubic in the number of layers.
MAX_LAYERS = 100


@dataclass(frozen=True, slots=True, init=False)
class PolynomialNetwork(DifferentiableModel):
    """The model x ↦ W_l σ_r(W_{l−1} … σ_r(W_1 x)) with W_i of size d_i × d_{i−1}.

    The function coordinates are the coefficients of its d_l outputs, forms of degree r^(l−1) in d_0
    variables: ``f_k_2_0_1`` is the coefficient of x_1²·x_3 in output k. The parameter ``W_k_i_j``
    is the entry (i, j) of W_k.

    Parameters
    ----------
    widths : iterable of int
        d_0, …, d_l; at least two.
    degree : int
        The activation degree r ≥ 1.

    Raises
    ------
    InvalidCaseError
        If one of them is not an integer, below 1, or so large that not even the weights could be
        handled.

    Examples
    --------
    >>> network = PolynomialNetwork([2, 2, 1])
    >>> network.parametrization().images[0]
    W_1_1_1**2*W_2_1_1 + W_1_2_1**2*W_2_1_2
    >>> from m2bridge.maps.jacobian_rank import rank_result
    >>> deep = rank_result(PolynomialNetwork([6] * 7))
    >>> deep.lower, deep.status
    (186, 'proved')
    """

    widths: tuple[int, ...]
    degree: int
    family: ClassVar[str] = NAME

    def __init__(self, widths: Iterable[int], degree: int = 2) -> None:
        checked_widths = positive_integers("widths", widths)
        if not 2 <= len(checked_widths) <= MAX_LAYERS + 1:
            message = f"must be from 2 to {MAX_LAYERS + 1} integers, not {len(checked_widths)}"
            raise InvalidCaseError("widths", message)
        # the value is frozen, so that its fields cannot be assigned
        object.__setattr__(self, "widths", checked_widths)
        object.__setattr__(self, "degree", positive_integer("degree", degree, 10**6))
        if self.parameter_count > MAX_NETWORK_WEIGHTS:
            message = f"must mean at most {MAX_NETWORK_WEIGHTS} weights, not {self.parameter_count}"
            raise InvalidCaseError("widths", message)

    @classmethod
    def from_key(cls, key: str) -> Self:
        """Return the network with this key, ``2-2-1-r2``; InvalidCaseError if none has it."""
        number = "[1-9][0-9]{0,8}"
        match = re.fullmatch(rf"({number}(?:-{number})+)-r({number})", key)
        if match is None:
            message = f"'{key}' does not name a polynomial network: write 2-2-1-r2"
            raise InvalidCaseError("key", message)
        widths, degree = match.groups()
        return cls(map(int, widths.split("-")), int(degree))

    @property
    def key(self) -> str:
        """The name of the case, such as ``2-2-1-r2``."""
        return f"{'-'.join(map(str, self.widths))}-r{self.degree}"

    @property
    def title(self) -> str:
        """The architecture of the network in words."""
        shape = f"widths ({', '.join(map(str, self.widths))}) and activation degree {self.degree}"
        return f"polynomial neural network of {shape}"

    def to_json(self) -> dict[str, Any]:
        """Return the arguments of the network by their names, for ``json.dumps``."""
        return {"widths": list(self.widths), "degree": self.degree}

    @property
    def parameter_count(self) -> int:
        """The number of weights, Σ d_i d_{i−1}."""
        return sum(inputs * outputs for inputs, outputs in pairwise(self.widths))

    @property
    def input_count(self) -> int:
        """The number d_0 of inputs."""
        return self.widths[0]

    @property
    def output_count(self) -> int:
        """The number d_l of outputs."""
        return self.widths[-1]

    @property
    def function_degree(self) -> int:
        """The degree r^(l−1) of the outputs as forms in the inputs."""
        return int(self.degree ** (len(self.widths) - 2))

    @property
    def coordinate_count(self) -> int:
        """The number of coefficients, d_l·C(d_0 − 1 + r^(l−1), d_0 − 1)."""
        return self.output_count * monomial_count(self.input_count, self.function_degree)

    def check_expandable(self) -> None:
        """Raise TooLargeError if there are more coordinates than can be written down."""
        # Forms of degree D in two or more variables have more than D coefficients. That is checked
        # first, as their number may have very many digits.
        degree_is_too_large = self.input_count > 1 and self.function_degree > MAX_RING_VARIABLES
        if degree_is_too_large or self.coordinate_count > MAX_RING_VARIABLES:
            raise TooLargeError(
                f"this network has more than {MAX_RING_VARIABLES} coordinates, too many to"
                " write down; its dimension needs none"
            )

    def grading(self) -> tuple[DegreeVector, ...] | None:
        """Return the degree of each coordinate in Z^d_l × Z^d_0; ``None`` for other activations.

        The coefficient of x^m in output k has the degree (e_k, m), with e_k a unit vector: the
        equations are homogeneous for these degrees, because rescalings of outputs and of inputs act
        on W_l and on W_1. Without hidden layers each coordinate can be rescaled by itself, and its
        degree is a unit vector in Z^(d_l d_0).
        """
        inputs, outputs = self.input_count, self.output_count
        if len(self.widths) == 2:
            entries = inputs * outputs
            return tuple(_unit(entries, n) for n in range(entries))
        self.check_expandable()
        exponents = monomials(inputs, self.function_degree)
        # + joins the tuples e_k and m
        return tuple(_unit(outputs, k) + m for k in range(outputs) for m in exponents)

    def symmetries(self) -> tuple[dict[str, str], ...]:
        """Return exchanges of neighbouring inputs, then of outputs, which generate S_d_0 × S_d_l.

        An exchange is a dictionary from each parameter that it moves to its image.
        """
        last = len(self.widths) - 1
        exchanges = []
        for j in range(1, self.input_count):
            exchange = dict[str, str]()
            for i in range(1, self.widths[1] + 1):
                exchange |= _exchange(f"W_1_{i}_{j}", f"W_1_{i}_{j + 1}")
            exchanges.append(exchange)
        for i in range(1, self.output_count):
            exchange = dict[str, str]()
            for j in range(1, self.widths[-2] + 1):
                exchange |= _exchange(f"W_{last}_{i}_{j}", f"W_{last}_{i + 1}_{j}")
            exchanges.append(exchange)
        return tuple(exchanges)

    def gauge_dimension(self) -> int:
        """Return the dimension of the orbits of the gauge group on generic weights."""
        return gauge_dimension(self.widths, self.degree)

    def upper_bounds(self, characteristic: int) -> tuple[Bounds, ...]:
        """Return one bound for the dimension, the least bound of docs/polynomial-networks.md.

        ``characteristic`` belongs to the field of the weights: one bound needs that it is 0.
        """
        return (best_bound(self.widths, self.degree, characteristic),)

    def parametrization(self) -> PolynomialMap:
        """Return the map from the weights to the coefficients of the outputs.

        The outputs are forms in the inputs; coefficients that are zero for all weights are left
        out.

        Raises
        ------
        TooLargeError
            If the coefficients are too many to be written down.
        """
        self.check_expandable()
        try:
            return layer_chain(self).parametrization()
        except InvalidCaseError as reason:
            # the chain knows neither widths nor degree, and its error names another argument
            raise InvalidCaseError("widths", reason.message) from None

    def expectations(self) -> tuple[Expectation, ...]:
        """Return the expected dimension; for r = 1 no value, and the reason why there is none."""
        if self.degree < 2:
            return (
                Expectation(
                    value=None,
                    statement="",
                    fails="the expectation is for activation degrees r ≥ 2",
                ),
            )
        source = "the expected dimension (Kileel, Trager, Bruna 2019)"
        assumes = "assumes that scalings of hidden neurons are the only symmetries"
        return (Expectation(expected_dimension(self), source, assumes=assumes),)

    def pullbacks(
        self, parameters: Row, inputs: Sequence[Row], covectors: Sequence[Row], prime: int
    ) -> list[list[int]]:
        """Return the gradient of ⟨g, φ(x)⟩ with respect to all weights for each input x and its g.

        It is modulo the prime, W_1 first, each matrix row by row. With y_0 = x, z_i = W_i y_{i−1}
        and y_i = z_i^r, entry by entry, let g_i be the derivative of ⟨g, z_l⟩ with respect to z_i;
        it is g for i = l. Then the derivative with respect to W_i is g_i y_{i−1}ᵀ, and g_{i−1} is
        the product, entry by entry, of the slopes r z_{i−1}^(r−1) and W_iᵀ g_i.
        """
        parameters, inputs, covectors, prime = self.checked_pullback(
            parameters, inputs, covectors, prime
        )
        gradients = []
        for x, g in zip(inputs, covectors, strict=True):
            gradient: list[int] = []
            for W, y, slopes in reversed(self._layers_at(x, parameters, prime)):
                # at the beginning of this step g is g_i, at the end g_{i−1}
                by_W = [g_entry * y_entry % prime for g_entry in g for y_entry in y]
                gradient = by_W + gradient
                by_y = (sum(map(mul, column, g)) for column in zip(*W, strict=True))
                g = [slope * entry % prime for slope, entry in zip(slopes, by_y, strict=True)]
            gradients.append(gradient)
        return gradients

    def _layers_at(self, x: Row, parameters: Row, prime: int) -> list[tuple[list[Row], Row, Row]]:
        """Return for each layer the rows of W_i, its input y_{i−1}, and the slopes of this."""
        layers: list[tuple[list[Row], Row, Row]] = []
        y = list(x)
        # the input of the first layer is not a power: its slopes are not used
        slopes = [0] * len(x)
        # the place of the next weight in the list of parameters
        start = 0
        for inputs, outputs in pairwise(self.widths):
            stop = start + inputs * outputs
            W = [parameters[i : i + inputs] for i in range(start, stop, inputs)]
            start = stop
            layers.append((W, y, slopes))
            z = [sum(map(mul, row, y)) % prime for row in W]
            y, slopes = self.activated(z, prime)
        return layers

    def activated(self, z: Row, prime: int) -> tuple[list[int], list[int]]:
        """Return the values z^r and the slopes r z^(r−1) for all entries of z, modulo a prime."""
        # z^(r−1)
        powers = [pow(entry, self.degree - 1, prime) for entry in z]
        values = [entry * power % prime for entry, power in zip(z, powers, strict=True)]
        slopes = [self.degree * power % prime for power in powers]
        return values, slopes

    def activated_expression(self, entry: Any) -> Any:
        """Return the r-th power of an element of any ring."""
        return entry**self.degree

    @property
    def has_power_activation(self) -> bool:
        """Whether the activation is a power, as the statements about dimensions assume."""
        return True

    def statements(self) -> tuple[Statement, ...]:
        """Return the statements on the expected dimension: for any widths, and for equal widths."""
        return STATEMENTS

    def observe(self, observables: Collection[str], *, certified: bool = False) -> ObservedRank:
        """Return the dimension, by exact ranks and upper bounds, without Macaulay2.

        It is the only observable, so that ``observables`` are not read; a certificate has the same
        values.
        """
        from m2bridge.maps.jacobian_rank import observe_rank  # imports FLINT

        return observe_rank(self)


def monomials(variables: int, degree: int) -> list[DegreeVector]:
    """Return the exponents of all monomials of this degree: [(2, 0), (1, 1), (0, 2)]."""
    exponents: list[DegreeVector] = []
    # ``degree`` stars in a row with bars between them: the stars between two bars are an exponent
    places = degree + variables - 1
    for bars in combinations(range(places), variables - 1):
        neighbours = pairwise((-1, *bars, places))
        exponents.append(tuple(right - left - 1 for left, right in neighbours))
    # the first ones have the first bar, and so the first exponent, as small as possible
    return exponents[::-1]


def _unit(size: int, i: int) -> DegreeVector:
    """Return the unit vector of this size with 1 at the index i, from 0."""
    return (*[0] * i, 1, *[0] * (size - 1 - i))


def _exchange(one: str, other: str) -> dict[str, str]:
    """Return the map of names that exchanges two parameters."""
    return {one: other, other: one}


def layer_chain(network: PolynomialNetwork) -> Chain:
    """Return the network as a chain of polynomial maps, one for each layer, in the inputs x_j, the
    sums z_k_i of layer k before activation, and the outputs f_i; W_k_i_j are parameters.
    """
    from m2bridge.maps.chain import Chain, Layer  # imports SymPy

    layers = []
    inputs = tuple(f"x_{j}" for j in range(1, network.input_count + 1))
    for k in range(1, len(network.widths)):
        layer = _layer_map(network, k, inputs)
        layers.append(Layer(layer, inputs))
        inputs = layer.coordinates
    return Chain(tuple(layers), network.title, network.key)


def _layer_map(network: PolynomialNetwork, k: int, inputs: tuple[str, ...]) -> PolynomialMap:
    """Return layer k, from 1, as a polynomial map in the variables ``inputs`` and its weights; the
    activation σ belongs to the layer after it, so that layers compose to the network.
    """
    from m2bridge.algebra.field import QQ  # imports SymPy
    from m2bridge.algebra.polynomial_map import PolynomialMap
    from m2bridge.algebra.ring import PolynomialRing

    size = network.widths[k]
    is_last = k == len(network.widths) - 1
    name = "f" if is_last else f"z_{k}"
    outputs = tuple(f"{name}_{i}" for i in range(1, size + 1))
    weights: list[str] = []
    for i in range(1, size + 1):
        weights += [f"W_{k}_{i}_{j}" for j in range(1, len(inputs) + 1)]
    source = PolynomialRing(QQ, (*inputs, *weights))
    generators = source.sympy_ring.gens
    x, w = generators[: len(inputs)], generators[len(inputs) :]
    y = x if k == 1 else [network.activated_expression(entry) for entry in x]
    # w has the entries of W_k row by row
    rows = (w[i : i + len(x)] for i in range(0, len(w), len(x)))
    images = tuple(sum(map(mul, row, y), source.sympy_ring.zero) for row in rows)
    return PolynomialMap(source, outputs, images)


NUMBERS: dict[str, Callable[[PolynomialNetwork], int]] = {
    "l": lambda network: len(network.widths) - 1,
    "r": attrgetter("degree"),
    "power": attrgetter("has_power_activation"),
    "n": attrgetter("input_count"),
    "e": attrgetter("output_count"),
    "least": lambda network: min(network.widths),
    "greatest": lambda network: max(network.widths),
    "weights": attrgetter("parameter_count"),
    "neurons": lambda network: sum(network.widths[1:-1]),
}
"""The numbers of a network by their names in ``words.toml``."""


@dataclass(frozen=True, slots=True)
class Hypotheses:
    """Hypotheses by their names in ``words.toml``."""

    names: tuple[str, ...]

    def __call__(self, network: PolynomialNetwork) -> str:
        """Return the first hypothesis that fails, in words; empty if all hold."""
        return next(iter(WORDS.failing(self.names, CaseNumbers(network, NUMBERS))), "")


@dataclass(frozen=True, slots=True)
class ExpectedDimension:
    """The lesser of two upper bounds, weights up to scalings and coordinates, by ``words.toml``."""

    words: Words

    def __call__(self, network: PolynomialNetwork) -> int | None:
        """Return it; ``None`` for an activation that is not a power."""
        dimension: int | None = WORDS.predicted(self.words, CaseNumbers(network, NUMBERS))
        return dimension


expected_dimension = ExpectedDimension(WORDS.words("expected-dimension", ""))

STATEMENTS: tuple[GlobalStatement[PolynomialNetwork], ...] = tuple(
    GlobalStatement(
        **WORDS.fields(words.key, words.part),
        predict=ExpectedDimension(words),
        hypotheses=Hypotheses(words.assumes),
    )
    for words in WORDS.statements
)

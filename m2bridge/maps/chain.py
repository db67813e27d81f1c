"""Rescalings of the parameters that do not change a composition: a torus in its gauge group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from m2bridge.algebra.linear_algebra import sparse_rank
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.errors import ConversionError, InvalidCaseError
from m2bridge.limits import watched
from m2bridge.maps.layer import Layer, ReducedLayer, chain_bounds, expanded, support
from m2bridge.maps.model import DifferentiableModel, UpperBound

Variable = str | tuple[int, int]
"""A parameter, or the hidden variable that is input i of a layer, as (number of the layer, i)."""


def rescaling_dimension(layers: Sequence[Layer]) -> int:
    """Dimension of the torus that rescales parameters and hidden variables and keeps inputs and outputs.

    Multiplying every variable v by λ^u(v), with integers u(v), commutes with all layers iff Σ e_v u(v) = u(y) for every
    monomial Π v^e_v in every output y. With u = 0 on the inputs and the outputs of the whole, the function stays the
    same. Generic parameters are not zero, so the orbits of this torus on them have the dimension
    dim {u} − dim {u : u = 0 on the parameters}. Both dimensions are exact ranks over QQ. All of this holds in every
    characteristic: a coefficient that vanishes modulo p only removes conditions.
    """
    rows = list(_conditions(layers))
    hidden = [{v: entry for v, entry in row.items() if not isinstance(v, str)} for row in watched(rows)]
    return sum(len(layer.parameters) for layer in layers) - sparse_rank(rows) + sparse_rank(hidden)


def _conditions(layers: Sequence[Layer]) -> Iterator[dict[Variable, int]]:
    """The coefficients of one linear equation in u for each monomial of each output."""
    for number, layer in enumerate(layers):
        inputs = len(layer.inputs)
        for j, image in enumerate(layer.polynomial_map.images):
            for monomial in watched(image):
                row: dict[Variable, int] = {} if number == len(layers) - 1 else {(number + 1, j): -1}
                for i, exponent in support(monomial):
                    if i >= inputs:
                        row[layer.parameters[i - inputs]] = exponent
                    elif number:
                        row[number, i] = exponent
                yield row


Row = Sequence[int]
TITLE = "composition of polynomial maps"


@dataclass(frozen=True, slots=True)
class Chain(DifferentiableModel):
    """A composition of polynomial maps: the outputs of each layer are the inputs of the next one, by position.

    If the first layer has no inputs, the model is the map from all parameters to the outputs of the last layer. If it
    has inputs, each choice of parameters gives a polynomial function of them, and the coordinates are its coefficients.

    Parameters
    ----------
    layers : tuple of Layer
        At least one. Each has parameters of its own.
    title, key : str
        See :class:`~m2bridge.maps.model.Model`.

    Raises
    ------
    ConversionError
        If there is no layer, a layer does not take as many inputs as the one before has outputs, or two layers have a
        parameter of the same name.

    Examples
    --------
    >>> from sympy import symbols
    >>> x, y, z, a, b, c = symbols("x y z a b c")
    >>> first = Layer.from_expressions(["x", "y"], ["a", "b"], {"z": (a * x + b * y) ** 2})
    >>> chain = Chain((first, Layer.from_expressions(["z"], ["c"], {"f": c * z})))
    >>> chain.parametrization().coordinates
    ('f_2_0', 'f_1_1', 'f_0_2')
    """

    layers: tuple[Layer, ...]
    title: str = TITLE
    key: str = "map"
    family: ClassVar[str] = "map"

    def __post_init__(self) -> None:
        if not self.layers:
            raise ConversionError("a composition needs at least one layer")
        for i, (before, after) in enumerate(zip(self.layers, self.layers[1:], strict=False), 2):
            if len(before.outputs) != len(after.inputs):
                raise ConversionError(
                    f"layer {i} has {len(after.inputs)} inputs, but layer {i - 1} has {len(before.outputs)} outputs"
                )
        seen: set[str] = set()
        for i, layer in enumerate(self.layers, 1):
            if repeated := sorted(seen & set(layer.parameters)):
                raise ConversionError(f"layer {i}: the parameter '{repeated[0]}' belongs to an earlier layer already")
            seen |= set(layer.parameters)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of all parameters, layer by layer."""
        return tuple(name for layer in self.layers for name in layer.parameters)

    @property
    def parameter_count(self) -> int:
        """The number of parameters of all layers."""
        return sum(len(layer.parameters) for layer in self.layers)

    @property
    def input_count(self) -> int:
        """The number of inputs of the first layer."""
        return len(self.layers[0].inputs)

    @property
    def output_count(self) -> int:
        """The number of outputs of the last layer."""
        return len(self.layers[-1].outputs)

    def restricted_to(self, outputs: Sequence[str]) -> Chain:
        """The same composition followed by the projection to some of the outputs.

        Raises
        ------
        InvalidCaseError
            If there is no output of such a name, or no output is left.
        """
        last = self.layers[-1]
        check_outputs(outputs, last.outputs)
        chosen = last.polynomial_map.restricted_to([last.outputs.index(name) for name in outputs])
        return Chain((*self.layers[:-1], Layer(chosen, last.inputs)), self.title, self.key)

    def to_json(self) -> dict[str, Any]:
        """The layers, with polynomials as text."""
        return {
            "layers": [
                {
                    "inputs": list(layer.inputs),
                    "parameters": list(layer.parameters),
                    "outputs": {y: str(f) for y, f in zip(layer.outputs, layer.polynomial_map.images, strict=True)},
                }
                for layer in self.layers
            ]
        }

    def parametrization(self) -> PolynomialMap:
        """The composition, expanded: the coefficient of x^2*z in the output f is called ``f_2_0_1``.

        Raises
        ------
        TooLargeError
            If it is too large to be expanded.
        """
        return expanded(self.layers)

    def gauge_dimension(self) -> int:
        """Dimension of the group of rescalings of parameters and hidden variables that do not change the function."""
        return rescaling_dimension(self.layers)

    def upper_bounds(self, characteristic: int) -> tuple[UpperBound, ...]:
        """Bounds from the sizes of the layers; they hold in every characteristic."""
        return chain_bounds(self.layers)

    def values(self, parameters: Row, inputs: Sequence[Row], prime: int) -> list[list[int]]:
        """See :class:`~m2bridge.maps.model.DifferentiableModel`."""
        layers = _reduced(self.layers, prime)
        return [self._forward(layers, parameters, x)[1] for x in inputs]

    def pullbacks(
        self, parameters: Row, inputs: Sequence[Row], covectors: Sequence[Row], prime: int
    ) -> list[list[int]]:
        """See :class:`~m2bridge.maps.model.DifferentiableModel`: the chain rule, from the last layer to the first."""
        layers = _reduced(self.layers, prime)
        points: list[list[int]] = []
        at: tuple[int, ...] | None = None
        result = []
        for x, covector in zip(map(tuple, inputs), covectors, strict=True):
            if x != at:
                at, (points, _) = x, self._forward(layers, parameters, x)
            result.append(self._pullback(layers, points, covector))
        return result

    def _forward(self, layers: Sequence[ReducedLayer], parameters: Row, x: Row) -> tuple[list[list[int]], list[int]]:
        """For each layer the values of its inputs and parameters; and the outputs of the last one."""
        points: list[list[int]] = []
        flowing, start = list(x), 0
        for layer, reduced in zip(self.layers, layers, strict=True):
            stop = start + len(layer.parameters)
            points.append([*flowing, *parameters[start:stop]])
            flowing, start = reduced.values(points[-1]), stop
        return points, flowing

    def _pullback(self, layers: Sequence[ReducedLayer], points: Sequence[Row], covector: Row) -> list[int]:
        gradient: list[int] = []
        for layer, reduced, point in zip(self.layers[::-1], layers[::-1], points[::-1], strict=True):
            whole = reduced.pullback(point, covector)
            covector = whole[: len(layer.inputs)]
            gradient = whole[len(layer.inputs) :] + gradient
        return gradient


@lru_cache(maxsize=8)
def _reduced(layers: tuple[Layer, ...], prime: int) -> tuple[ReducedLayer, ...]:
    return tuple(layer.modulo(prime) for layer in layers)


def check_outputs(chosen: Sequence[str], outputs: Sequence[str]) -> None:
    """Raise InvalidCaseError unless some of these outputs are chosen, each once."""
    if not chosen or len(set(chosen)) < len(chosen):
        raise InvalidCaseError("outputs", "choose at least one output, and each of them once")
    if unknown := [name for name in chosen if name not in outputs]:
        raise InvalidCaseError("outputs", f"there is no output '{unknown[0]}': use {', '.join(outputs)}")

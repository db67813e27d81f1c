"""Compositions of polynomial maps: layers, bounds from their sizes, rescalings of parameters.

A :class:`Chain` is differentiated layer by layer modulo a prime, so that its dimension is found
where it is too large to be expanded. Bounds from above come from the number of coordinates, and
from the torus that rescales hidden variables and keeps the function.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import comb, prod
from numbers import Rational
from typing import Any, ClassVar

import flint
from sympy import Expr

from m2bridge.algebra.determinantal import monomial_count
from m2bridge.algebra.linear_algebra import sparse_rank
from m2bridge.algebra.numbers import flint_rational
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.errors import ConversionError, InvalidCaseError, TooLargeError, check_kind
from m2bridge.limits import check_deadline_in
from m2bridge.maps.model import DifferentiableModel
from m2bridge.results.known import Bounds

MAX_COMPOSED_TERMS = 200_000
"""The largest number of terms of all outputs together; expanding them takes some seconds."""
TITLE = "composition of polynomial maps"

Row = Sequence[int]
Support = tuple[tuple[int, int], ...]
"""The variables of a monomial that occur, by position, each with its exponent."""
ExponentVector = tuple[int, ...]
"""The exponents of all variables."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A polynomial map from inputs and parameters to outputs.

    Parameters
    ----------
    polynomial_map : PolynomialMap
        Its parameters are the inputs followed by the parameters of the layer; without relations.
    inputs : tuple of str

    Raises
    ------
    ConversionError
        If the inputs do not come first, or there are relations.

    Examples
    --------
    >>> from sympy import symbols
    >>> x, a = symbols("x a")
    >>> Layer.from_expressions(["x"], ["a"], {"y": a * x**2}).parameters
    ('a',)
    """

    polynomial_map: PolynomialMap
    inputs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_kind("polynomial_map", self.polynomial_map, PolynomialMap, "a PolynomialMap")
        if self.polynomial_map.source.variables[: len(self.inputs)] != self.inputs:
            raise ConversionError(
                "the variables of a layer must be its inputs followed by its parameters"
            )
        if self.polynomial_map.relations:
            raise ConversionError("the parameters of a layer must not satisfy relations")

    @classmethod
    def from_expressions(
        cls,
        inputs: Sequence[str],
        parameters: Sequence[str],
        outputs: Mapping[str, Expr | Rational | int],
    ) -> Layer:
        """Build a layer from expressions; errors as in :meth:`PolynomialMap.from_expressions`."""
        return cls(PolynomialMap.from_expressions([*inputs, *parameters], outputs), tuple(inputs))

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the layer's own parameters."""
        return self.polynomial_map.source.variables[len(self.inputs) :]

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs."""
        return self.polynomial_map.coordinates

    def modulo(self, prime: int) -> ReducedLayer:
        """The layer modulo a prime.

        Raises
        ------
        InvalidCaseError
            If the prime divides a denominator.
        """
        outputs = []
        try:
            for image in self.polynomial_map.images:
                terms = []
                for monomial, coefficient in image.items():
                    residue = int(flint.nmod(flint_rational(coefficient), prime))
                    terms.append((residue, support(monomial)))
                outputs.append(tuple(terms))
        except ZeroDivisionError:
            message = f"a layer has no meaning modulo {prime}, which divides a denominator"
            raise InvalidCaseError("field", message) from None
        return ReducedLayer(tuple(outputs), prime)


@dataclass(frozen=True, slots=True)
class ReducedLayer:
    """A layer modulo a prime, ready to be evaluated: for each output its terms."""

    outputs: tuple[tuple[tuple[int, Support], ...], ...]
    prime: int

    def values(self, point: Row) -> list[int]:
        """The outputs at a point (inputs followed by parameters)."""
        p = self.prime
        values = []
        for terms in self.outputs:
            value = 0
            for coefficient, factors in terms:
                value += coefficient * prod([pow(point[i], e, p) for i, e in factors])
            values.append(value % p)
        return values

    def pullback(self, point: Row, covector: Row) -> list[int]:
        """The covector on inputs and parameters that one on the outputs becomes."""
        p = self.prime
        result = [0] * len(point)
        for terms, weight in zip(self.outputs, covector, strict=True):
            if not weight:
                continue
            for coefficient, factors in terms:
                powers = [pow(point[i], exponent, p) for i, exponent in factors]
                for k, (i, exponent) in enumerate(factors):
                    slope = coefficient * exponent * pow(point[i], exponent - 1, p)
                    result[i] += weight * slope * prod(powers[:k] + powers[k + 1 :])
        return [entry % p for entry in result]


def support(monomial: Row) -> Support:
    """The variables that occur in a monomial, each with its exponent."""
    return tuple((i, exponent) for i, exponent in enumerate(monomial) if exponent)


def expanded(layers: Sequence[Layer]) -> PolynomialMap:
    """The composition; with inputs, its coordinates are the coefficients that are not zero.

    Raises
    ------
    TooLargeError
        If it may have more than :data:`MAX_COMPOSED_TERMS` terms.
    """
    if len(layers) == 1 and not layers[0].inputs:
        return layers[0].polynomial_map
    _check_size(layers)
    size = len(layers[0].inputs)
    images: dict[str, Mapping[ExponentVector, Any]] = {}
    for name, image in zip(layers[-1].outputs, _compose(layers), strict=True):
        coefficients: dict[ExponentVector, dict[ExponentVector, Any]] = {}
        for exponents, c in image.items():
            coefficients.setdefault(exponents[:size], {})[exponents[size:]] = c
        if not size:
            images[name] = image
            continue
        # in the order of the monomials, so that names do not depend on how terms were computed
        for exponents in sorted(coefficients, reverse=True):
            images["_".join([name, *map(str, exponents)])] = coefficients[exponents]
    return PolynomialMap.from_terms(all_parameters(layers), images)


def all_parameters(layers: Sequence[Layer]) -> list[str]:
    """The names of the parameters, layer by layer."""
    return [name for layer in layers for name in layer.parameters]


def _compose(layers: Sequence[Layer]) -> list[dict[ExponentVector, Any]]:
    """The outputs as polynomials in all inputs and parameters."""
    size = len(layers[0].inputs)
    context = _polynomials_in(size + len(all_parameters(layers)))
    generators = context.gens()
    flowing = list(generators[:size])
    start = size
    for layer in layers:
        stop = start + len(layer.parameters)
        arguments = [*flowing, *generators[start:stop]]
        # each layer is a polynomial in its own few variables, and FLINT substitutes them
        own = _polynomials_in(len(arguments))
        flowing = []
        for image in layer.polynomial_map.images:
            terms = {monomial: flint_rational(c) for monomial, c in image.items()}
            flowing.append(own.from_dict(terms).compose(*arguments, ctx=context))
        start = stop
    return [{tuple(map(int, e)): c for e, c in image.to_dict().items()} for image in flowing]


def _polynomials_in(count: int) -> Any:
    """Return FLINT's ring of polynomials over QQ in this number of variables."""
    names = [f"v{i}" for i in range(count)]
    return flint.fmpq_mpoly_ctx.get(names, flint.Ordering.degrevlex)


def _check_size(layers: Sequence[Layer]) -> None:
    """Bound the number of terms of every product, layer by layer."""
    sizes = [1] * len(layers[0].inputs)
    for number, layer in enumerate(layers, 1):
        terms = sizes + [1] * len(layer.parameters)
        sizes = [_term_count(image, terms) for image in layer.polynomial_map.images]
        if sum(sizes) > MAX_COMPOSED_TERMS:
            raise TooLargeError(
                f"the first {number} layers may have {sum(sizes)} terms when they are expanded; at"
                f" most {MAX_COMPOSED_TERMS} are (the dimension needs no expansion)"
            )


def _term_count(image: Sequence[Row], terms: Sequence[int]) -> int:
    """Return a bound for the number of terms when variables are replaced by polynomials."""
    count = 0
    for monomial in image:
        powers = 1
        for i, exponent in support(monomial):
            # The power of a sum of this number of terms; without terms, the power is zero.
            powers *= monomial_count(terms[i], exponent) if terms[i] else 0
        count += powers
    return count


IndexRange = tuple[int, int]


def coordinate_bound(layers: Sequence[Layer]) -> int:
    """The number of coordinates; with inputs, of monomials in them of the degrees that can occur.

    Each hidden variable is a polynomial in the inputs whose monomials have degrees in an interval;
    it is followed from layer to layer.
    """
    size = len(layers[0].inputs)
    if not size:
        return len(layers[-1].outputs)
    flowing: list[IndexRange | None] = [(1, 1)] * size
    for layer in layers:
        degrees = flowing + [(0, 0)] * len(layer.parameters)
        flowing = [_image_degrees(image, degrees) for image in layer.polynomial_map.images]
    count = 0
    for interval in flowing:
        if interval is not None:
            low, high = interval
            # C(n + s, s) monomials in s variables have a degree of at most n.
            count += comb(size + high, size) - comb(size + low - 1, size)
    return count


def _image_degrees(
    monomials: Sequence[Row], degrees: Sequence[IndexRange | None]
) -> IndexRange | None:
    """The degrees of a polynomial in variables of such degrees; ``None`` is the zero polynomial."""
    lows, highs = [], []
    for monomial in monomials:
        low = high = 0
        for i, exponent in support(monomial):
            interval = degrees[i]
            if interval is None:
                break  # a monomial in a variable that is zero
            low += exponent * interval[0]
            high += exponent * interval[1]
        else:
            lows.append(low)
            highs.append(high)
    return (min(lows), max(highs)) if lows else None


Variable = str | tuple[int, int]
"""A parameter, or the hidden variable that is input i of a layer, as (number of the layer, i)."""


def rescaling_dimension(layers: Sequence[Layer]) -> int:
    """The dimension of the orbits of the torus that rescales variables and keeps the function.

    Multiplying every variable v by λ^u(v), with integers u(v), commutes with all layers iff Σ e_v
    u(v) = u(y) for every monomial Π v^e_v in every output y. With u = 0 on the inputs and the
    outputs of the whole, the function stays the same. Generic parameters are not zero, so the
    orbits of this torus on them have the dimension dim {u} − dim {u : u = 0 on the parameters}.
    Both dimensions are exact ranks over QQ. All of this holds in every characteristic: a
    coefficient that vanishes modulo p only removes conditions.
    """
    rows = list(_conditions(layers))
    hidden = [_without_parameters(row) for row in check_deadline_in(rows)]
    return len(all_parameters(layers)) - sparse_rank(rows) + sparse_rank(hidden)


def _without_parameters(row: dict[Variable, int]) -> dict[Variable, int]:
    return {variable: entry for variable, entry in row.items() if not isinstance(variable, str)}


def _conditions(layers: Sequence[Layer]) -> Iterator[dict[Variable, int]]:
    """The coefficients of one linear equation in u for each monomial of each output."""
    for number, layer in enumerate(layers):
        inputs = len(layer.inputs)
        for j, image in enumerate(layer.polynomial_map.images):
            for monomial in check_deadline_in(image):
                row: dict[Variable, int] = {}
                if number < len(layers) - 1:  # u = 0 on the outputs of the whole, and the inputs
                    row[number + 1, j] = -1
                for i, exponent in support(monomial):
                    if i >= inputs:
                        row[layer.parameters[i - inputs]] = exponent
                    elif number:
                        row[number, i] = exponent
                yield row


@dataclass(frozen=True, slots=True)
class Chain(DifferentiableModel):
    """A composition of polynomial maps: outputs of each layer are inputs of the next, by position.

    If the first layer has no inputs, the model is the map from all parameters to the outputs of the
    last layer. If it has inputs, each choice of parameters gives a polynomial function of them, and
    the coordinates are its coefficients.

    Parameters
    ----------
    layers : tuple of Layer
        At least one layer; no parameter belongs to two layers.
    title, key : str
        See :class:`~m2bridge.maps.model.Model`.

    Raises
    ------
    ConversionError
        If there is no layer, a layer does not take as many inputs as the one before has outputs, or
        two layers have a parameter of the same name.

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
        check_kind("layers", self.layers, (tuple, list), "a tuple of Layers")
        for layer in self.layers:
            check_kind("layers", layer, Layer, "a tuple of Layers")
        if not self.layers:
            raise ConversionError("a composition needs at least one layer")
        # Outputs become inputs by position, so that only their numbers have to agree.
        for i, (before, after) in enumerate(pairwise(self.layers), 2):
            if len(before.outputs) != len(after.inputs):
                raise ConversionError(
                    f"layer {i} has {len(after.inputs)} inputs, but layer {i - 1} has"
                    f" {len(before.outputs)} outputs"
                )
        # Two layers with one parameter would be a map of fewer parameters, which is not meant.
        names: set[str] = set()
        for i, layer in enumerate(self.layers, 1):
            repeated = sorted(names & set(layer.parameters))
            if repeated:
                raise ConversionError(
                    f"layer {i}: the parameter '{repeated[0]}' belongs to an earlier layer already"
                )
            names |= set(layer.parameters)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of all parameters, layer by layer."""
        return tuple(all_parameters(self.layers))

    @property
    def parameter_count(self) -> int:
        """The number of parameters of all layers."""
        return len(self.parameters)

    @property
    def input_count(self) -> int:
        """The number of inputs of the first layer."""
        return len(self.layers[0].inputs)

    @property
    def output_count(self) -> int:
        """The number of outputs of the last layer."""
        return len(self.layers[-1].outputs)

    def restricted_to(self, outputs: Sequence[str]) -> Chain:
        """Return the composition followed by the projection to some of the outputs.

        Raises
        ------
        InvalidCaseError
            If there is no output of such a name, or no output is left.
        """
        last = self.layers[-1]
        chosen = projected(last.polynomial_map, outputs)
        return Chain((*self.layers[:-1], Layer(chosen, last.inputs)), self.title, self.key)

    def to_json(self) -> dict[str, Any]:
        """The layers, with polynomials as text."""
        layers = []
        for layer in self.layers:
            images = map(str, layer.polynomial_map.images)
            layers.append(
                {
                    "inputs": list(layer.inputs),
                    "parameters": list(layer.parameters),
                    "outputs": dict(zip(layer.outputs, images, strict=True)),
                }
            )
        return {"layers": layers}

    def parametrization(self) -> PolynomialMap:
        """The composition, expanded: ``f_2_0_1`` is the coefficient of x^2*z in the output f.

        Raises
        ------
        TooLargeError
            If it is too large to be expanded.
        """
        return expanded(self.layers)

    def gauge_dimension(self) -> int:
        """The dimension of the rescalings of variables that do not change the function."""
        return rescaling_dimension(self.layers)

    def upper_bounds(self, characteristic: int) -> tuple[Bounds, ...]:
        """Bounds from the sizes of the layers; they hold in every characteristic.

        Without inputs, everything after layer k depends on its outputs and on the parameters that
        follow.
        """
        bounds = [Bounds.at_most(coordinate_bound(self.layers), "the number of coordinates")]
        if not self.input_count:
            sizes = [len(layer.parameters) for layer in self.layers]
            bounds.append(Bounds.at_most(sum(sizes), "the number of parameters"))
            for k, layer in enumerate(self.layers, 1):
                reason = f"the outputs of layer {k} and the parameters after it"
                bounds.append(Bounds.at_most(len(layer.outputs) + sum(sizes[k:]), reason))
        return tuple(bounds)

    def pullbacks(
        self, parameters: Row, inputs: Sequence[Row], covectors: Sequence[Row], prime: int
    ) -> list[list[int]]:
        """Return gradients by the chain rule, from the last layer to the first.

        See :class:`~m2bridge.maps.model.DifferentiableModel`.
        """
        layers = _reduced(self.layers, prime)
        points: list[list[int]] = []
        evaluated: Row | None = None
        result = []
        for x, covector in zip(inputs, covectors, strict=True):
            if x != evaluated:  # without inputs it is one point for all covectors
                evaluated = x
                points = self._forward(layers, parameters, x)
            gradient: list[int] = []
            for layer, reduced, point in reversed(
                list(zip(self.layers, layers, points, strict=True))
            ):
                whole = reduced.pullback(point, covector)
                size = len(layer.inputs)
                gradient = whole[size:] + gradient
                covector = whole[:size]
            result.append(gradient)
        return result

    def _forward(self, layers: Sequence[ReducedLayer], parameters: Row, x: Row) -> list[list[int]]:
        """For each layer the values of its inputs, the outputs of the layer before it, and of its
        parameters.
        """
        points: list[list[int]] = []
        flowing = list(x)
        start = 0
        for layer, reduced in zip(self.layers, layers, strict=True):
            stop = start + len(layer.parameters)
            point = [*flowing, *parameters[start:stop]]
            points.append(point)
            flowing = reduced.values(point)
            start = stop
        return points


@lru_cache(maxsize=8)
def _reduced(layers: tuple[Layer, ...], prime: int) -> tuple[ReducedLayer, ...]:
    return tuple(layer.modulo(prime) for layer in layers)


def projected(polynomial_map: PolynomialMap, outputs: Sequence[str]) -> PolynomialMap:
    """Return the map followed by the projection to some of its coordinates.

    Raises
    ------
    InvalidCaseError
        If there is no coordinate of such a name, none is left, or one is named twice.
    """
    names = polynomial_map.coordinates
    if not outputs or len(set(outputs)) < len(outputs):
        raise InvalidCaseError("outputs", "must name at least one output, and each of them once")
    for name in outputs:
        if name not in names:
            reason = f"there is no output '{name}': use {', '.join(names)}"
            raise InvalidCaseError("outputs", reason)
    return polynomial_map.restricted_to([names.index(name) for name in outputs])

"""Compositions of polynomial maps: layers, bounds from their sizes, rescalings of parameters.

A :class:`Chain` is differentiated layer by layer modulo a prime, so that its dimension is found
where it is too large to be expanded. Bounds from above come from the number of coordinates, and
from the torus that rescales hidden variables and keeps the function. The variables of a layer are
its inputs, then its parameters; outputs are inputs of the next layer, by position.
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
from m2bridge.errors import ConversionError, InvalidCaseError, TooLargeError, check_kind, elements
from m2bridge.limits import check_deadline_in
from m2bridge.maps.model import DifferentiableModel, checked_prime
from m2bridge.results.known import Bounds
from m2bridge.results.sheet import in_brackets, plural

MAX_COMPOSED_TERMS = 200_000
"""The largest number of terms of all outputs of a layer; expanding them takes some seconds."""
TITLE = "composition of polynomial maps"

Row = Sequence[int]
"""A vector of integers or of residues modulo a prime; also the exponents of a monomial."""
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
        The names of the inputs; empty if the layer has parameters only.

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

    def __repr__(self) -> str:
        return in_brackets(self, "inputs", "polynomial_map")

    def __post_init__(self) -> None:
        check_kind("polynomial_map", self.polynomial_map, PolynomialMap, "a PolynomialMap")
        inputs = elements("inputs", self.inputs, "the names of the inputs")
        for name in inputs:
            check_kind("inputs", name, str, "the names of the inputs")
        object.__setattr__(self, "inputs", tuple(inputs))  # a list has no hash
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
        """Build a layer; ConversionError if an output's expression is not an exact polynomial."""
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
        """Return the layer modulo a prime; InvalidCaseError if it is not a prime, or divides a
        denominator.
        """
        prime = checked_prime(prime)
        outputs = []
        try:
            for image in self.polynomial_map.images:
                terms = []
                for monomial, coefficient in image.items():
                    residue = flint.nmod(flint_rational(coefficient), prime)
                    terms.append((int(residue), support(monomial)))
                outputs.append(tuple(terms))
        except ZeroDivisionError:
            message = f"a layer has no meaning modulo {prime}, which divides a denominator"
            raise InvalidCaseError("field", message) from None
        return ReducedLayer(tuple(outputs), prime)


@dataclass(frozen=True, slots=True)
class ReducedLayer:
    """A layer modulo a prime, ready to be evaluated: its outputs as terms (coefficient,
    support).
    """

    outputs: tuple[tuple[tuple[int, Support], ...], ...]
    prime: int

    def values(self, point: Row) -> list[int]:
        """Return the outputs at a point."""
        p = self.prime
        values = []
        for terms in self.outputs:
            value = 0
            for coefficient, factors in terms:
                powers = [pow(point[i], exponent, p) for i, exponent in factors]
                value += coefficient * prod(powers)
            values.append(value % p)
        return values

    def pullback(self, point: Row, covector: Row) -> list[int]:
        """Return the gradient at a point of Σ covector[j] · output_j."""
        p = self.prime
        result = [0] * len(point)
        for terms, weight in zip(self.outputs, covector, strict=True):
            if weight == 0:
                continue
            for coefficient, factors in terms:
                powers = [pow(point[i], exponent, p) for i, exponent in factors]
                for k, (i, exponent) in enumerate(factors):
                    # the derivative of the factor x_i^exponent, times all other factors
                    slope = coefficient * exponent * pow(point[i], exponent - 1, p)
                    other_factors = prod(powers[:k] + powers[k + 1 :])
                    result[i] += weight * slope * other_factors
        return [entry % p for entry in result]


def support(monomial: Row) -> Support:
    """Return the variables that occur in a monomial: ``support((2, 0, 1))`` is ``((0, 2), (2,
    1))``.
    """
    return tuple((i, exponent) for i, exponent in enumerate(monomial) if exponent)


def expand_layers(layers: Sequence[Layer]) -> PolynomialMap:
    """Return the composition of the layers as one map from all parameters, expanded.

    Without inputs in the first layer its coordinates are the outputs of the last layer. With inputs
    they are the coefficients, not zero, of the outputs as polynomials in the inputs: ``f_2_0`` is
    the coefficient of x^2 in the output f, for inputs x and y. TooLargeError if the outputs of some
    layer may have more than :data:`MAX_COMPOSED_TERMS` terms, and ConversionError if a coordinate
    has the name of a parameter.
    """
    if len(layers) == 1 and not layers[0].inputs:
        return layers[0].polynomial_map  # the composition is this map
    _check_size(layers)  # raises if the expansion may be too large
    input_count = len(layers[0].inputs)
    images: dict[str, Mapping[ExponentVector, Any]] = {}
    for name, image in zip(layers[-1].outputs, _compose(layers), strict=True):
        if input_count == 0:
            images[name] = image
            continue
        # from exponents of the inputs to the coefficient, which is a polynomial in the parameters
        coefficients: dict[ExponentVector, dict[ExponentVector, Any]] = {}
        for exponents, c in image.items():  # exponents of the inputs, then of the parameters
            input_exponents, parameter_exponents = exponents[:input_count], exponents[input_count:]
            coefficients.setdefault(input_exponents, {})[parameter_exponents] = c
        # in the order of the monomials, so that names do not depend on how terms were computed
        for input_exponents in sorted(coefficients, reverse=True):
            coordinate = "_".join([name, *map(str, input_exponents)])
            images[coordinate] = coefficients[input_exponents]
    return PolynomialMap.from_terms(all_parameters(layers), images)


def all_parameters(layers: Sequence[Layer]) -> list[str]:
    """Return the names of the parameters, layer by layer."""
    return [name for layer in layers for name in layer.parameters]


def _compose(layers: Sequence[Layer]) -> list[dict[ExponentVector, Any]]:
    """Return the outputs of the last layer as {exponents: coefficient}: polynomials in the inputs
    of the first layer and the parameters of all layers.
    """
    input_count = len(layers[0].inputs)
    context = _polynomials_in(input_count + len(all_parameters(layers)))
    variables = context.gens()
    # the inputs of a layer, as polynomials in the variables of the composition
    layer_inputs = list(variables[:input_count])
    start = input_count  # the place among the variables of the first parameter of the layer
    for layer in layers:
        stop = start + len(layer.parameters)
        arguments = [*layer_inputs, *variables[start:stop]]
        # each output is a polynomial in the few variables of its layer, which FLINT substitutes
        own_ring = _polynomials_in(len(arguments))
        layer_outputs = []
        for image in layer.polynomial_map.images:
            terms = {monomial: flint_rational(c) for monomial, c in image.items()}
            layer_outputs.append(own_ring.from_dict(terms).compose(*arguments, ctx=context))
        layer_inputs = layer_outputs
        start = stop
    # after the last layer these are the outputs; FLINT's exponents become integers of Python
    outputs = [output.to_dict().items() for output in layer_inputs]
    return [{tuple(map(int, exponents)): c for exponents, c in terms} for terms in outputs]


def _polynomials_in(count: int) -> Any:
    """Return FLINT's ring of polynomials over QQ in ``count`` variables."""
    return flint.fmpq_mpoly_ctx.get([f"v{i}" for i in range(count)], flint.Ordering.degrevlex)


def _check_size(layers: Sequence[Layer]) -> None:
    """Raise TooLargeError if the outputs of some layer may have too many terms when expanded."""
    # bounds for the numbers of terms of the inputs of a layer
    input_terms = [1] * len(layers[0].inputs)
    for number, layer in enumerate(layers, 1):
        terms = input_terms + [1] * len(layer.parameters)
        output_terms = [_bound_term_count(image, terms) for image in layer.polynomial_map.images]
        input_terms = output_terms
        if sum(output_terms) > MAX_COMPOSED_TERMS:
            raise TooLargeError(
                f"the first {number} layers may have {sum(output_terms)} terms when they are"
                f" expanded; at most {MAX_COMPOSED_TERMS} are (the dimension needs no expansion)"
            )


def _bound_term_count(image: Sequence[Row], terms: Sequence[int]) -> int:
    """Return an upper bound for the number of terms of a polynomial, given by its monomials, after
    substitution of polynomials with these numbers of terms.
    """
    count = 0
    for monomial in image:
        product_terms = 1
        for i, exponent in support(monomial):
            # The power of a sum of k terms has at most as many terms as there are monomials of
            # degree ``exponent`` in k variables; without terms, the power is zero.
            product_terms *= monomial_count(terms[i], exponent) if terms[i] else 0
        count += product_terms
    return count


DegreeRange = tuple[int, int]
"""The least and the largest degree, or bounds for them."""


def coordinate_bound(layers: Sequence[Layer]) -> int:
    """Return an upper bound for the number of coordinates of the composition.

    Without inputs it is the number of outputs. With inputs it counts for each output the monomials
    in them of all degrees that may occur, a range that is followed from layer to layer; ``None``
    for the polynomial zero.
    """
    input_count = len(layers[0].inputs)
    if input_count == 0:
        return len(layers[-1].outputs)
    # the degrees of the inputs of a layer, as polynomials in the inputs of the first layer
    input_degrees: list[DegreeRange | None] = [(1, 1)] * input_count
    for layer in layers:
        # parameters have degree 0 in the inputs
        degrees = input_degrees + [(0, 0)] * len(layer.parameters)
        input_degrees = [_image_degrees(image, degrees) for image in layer.polynomial_map.images]
    count = 0
    for degree_range in input_degrees:  # after the last layer the degrees of its outputs
        if degree_range is not None:
            low, high = degree_range
            # C(n + s, s) monomials in the s inputs have degree ≤ n
            up_to_high = comb(input_count + high, input_count)
            below_low = comb(input_count + low - 1, input_count)
            count += up_to_high - below_low
    return count


def _image_degrees(
    monomials: Sequence[Row], degrees: Sequence[DegreeRange | None]
) -> DegreeRange | None:
    """Return the range of degrees that a polynomial, given by its monomials, can have after
    substitution of polynomials of these degrees.
    """
    lows, highs = [], []
    for monomial in monomials:
        low = high = 0
        for i, exponent in support(monomial):
            degree_range = degrees[i]
            if degree_range is None:
                break  # a variable of the monomial becomes zero, so the monomial is left out
            lowest, highest = degree_range
            low += exponent * lowest
            high += exponent * highest
        else:  # no variable becomes zero
            lows.append(low)
            highs.append(high)
    return (min(lows), max(highs)) if lows else None


Variable = str | tuple[int, int]
"""A parameter by its name, or the hidden variable that is input i of layer k as (k, i).

Both are numbered from 0. Output i of layer k is the variable (k + 1, i).
"""


def rescaling_dimension(layers: Sequence[Layer]) -> int:
    """Return the dimension of the orbits of the torus that rescales variables and keeps the
    function.

    Multiplying every variable v by λ^u(v), with integers u(v), commutes with all layers iff Σ e_v
    u(v) = u(y) for every monomial Π v^e_v in every output y. With u = 0 on the inputs of the first
    layer and the outputs of the last, the function stays the same. Generic parameters are not zero,
    so {u : u = 0 on the parameters} is their stabilizer, and their orbits have the dimension dim
    {u} less dim of the stabilizer. Let P be the number of parameters, N of hidden variables,
    r the rank of the conditions on u, and r_h their rank where u = 0 on the parameters (ranks over
    QQ). Then the dimension is (P + N − r) − (N − r_h) = P − r + r_h. In characteristic p a monomial
    may vanish, and with it its condition; the rescalings counted here still keep the function.
    """
    conditions = list(_conditions(layers))
    # parameters have names, hidden variables pairs of numbers
    in_hidden = [
        {variable: entry for variable, entry in condition.items() if not isinstance(variable, str)}
        for condition in check_deadline_in(conditions)
    ]
    return len(all_parameters(layers)) - sparse_rank(conditions) + sparse_rank(in_hidden)


def _conditions(layers: Sequence[Layer]) -> Iterator[dict[Variable, int]]:
    """Yield a condition Σ e_v u(v) − u(y) = 0, as a map from v to the coefficient of u(v), for each
    monomial of each layer's output y; variables with u = 0 are left out.
    """
    for number, layer in enumerate(layers):
        input_count = len(layer.inputs)
        for j, image in enumerate(layer.polynomial_map.images):
            for monomial in check_deadline_in(image):
                condition: dict[Variable, int] = {}
                if number < len(layers) - 1:  # y is an input of the next layer
                    condition[number + 1, j] = -1
                for i, exponent in support(monomial):
                    if i >= input_count:
                        condition[layer.parameters[i - input_count]] = exponent
                    elif number > 0:
                        condition[number, i] = exponent
                yield condition


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

    def __repr__(self) -> str:
        return in_brackets(self, "title", "layers")

    def __post_init__(self) -> None:
        check_kind("layers", self.layers, (tuple, list), "a tuple of Layers")
        object.__setattr__(self, "layers", tuple(self.layers))  # a list has no hash
        for layer in self.layers:
            check_kind("layers", layer, Layer, "a tuple of Layers")
        if not self.layers:
            raise ConversionError("a composition needs at least one layer")
        # Outputs become inputs by position, so that only their numbers have to agree.
        for number, (layer, next_layer) in enumerate(pairwise(self.layers), 2):
            if len(layer.outputs) != len(next_layer.inputs):
                raise ConversionError(
                    f"layer {number} has {plural(len(next_layer.inputs), 'input')}, but layer"
                    f" {number - 1} has {plural(len(layer.outputs), 'output')}"
                )
        # A parameter that two layers share would be one parameter of the map, which is not meant.
        names: set[str] = set()
        for number, layer in enumerate(self.layers, 1):
            repeated = sorted(names & set(layer.parameters))
            if repeated:
                where = f"layer {number}: the parameter '{repeated[0]}'"
                raise ConversionError(f"{where} belongs to an earlier layer already")
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
        """Return the composition followed by the projection to some of the outputs."""
        last = self.layers[-1]
        restricted = restrict_outputs(last.polynomial_map, outputs)
        return Chain((*self.layers[:-1], Layer(restricted, last.inputs)), self.title, self.key)

    def to_json(self) -> dict[str, Any]:
        """Return the layers, with polynomials as text."""
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
        """Return the composition, expanded to one map from all parameters by
        :func:`expand_layers`.
        """
        return expand_layers(self.layers)

    def gauge_dimension(self) -> int:
        """Return the :func:`rescaling_dimension` of the layers."""
        return rescaling_dimension(self.layers)

    def upper_bounds(self, characteristic: int) -> tuple[Bounds, ...]:
        """Return bounds from the sizes of the layers; they hold in every characteristic.

        Without inputs, the outputs of the last layer depend on the outputs of layer k and on the
        parameters of layers after k only; so for each k the number of these is a bound.
        """
        reason = "the number of coordinates"
        if self.input_count:
            # more than the coordinates, where not all monomials of these degrees occur
            reason = "the number of monomials in the inputs, of all degrees that may occur"
        bounds = [Bounds.at_most(coordinate_bound(self.layers), reason)]
        if not self.input_count:
            counts = [len(layer.parameters) for layer in self.layers]
            bounds.append(Bounds.at_most(sum(counts), "the number of parameters"))
            for k, layer in enumerate(self.layers, 1):
                reason = f"the outputs of layer {k} and the parameters after it"
                bounds.append(Bounds.at_most(len(layer.outputs) + sum(counts[k:]), reason))
        return tuple(bounds)

    def pullbacks(
        self, parameters: Row, inputs: Sequence[Row], covectors: Sequence[Row], prime: int
    ) -> list[list[int]]:
        """Return for each input x, with its covector g on the outputs, the gradient of Σ g_j ·
        output_j(x) with respect to all parameters, modulo the prime, by the chain rule.
        """
        parameters, inputs, covectors, prime = self.checked_pullback(
            parameters, inputs, covectors, prime
        )
        reduced_layers = _reduced_layers(self.layers, prime)
        points: list[list[int]] = []
        last_input: Row | None = None  # the input to which the points belong
        gradients = []
        for x, covector in zip(inputs, covectors, strict=True):
            if x != last_input:  # the points depend on x only, which is empty without inputs
                last_input = x
                # the point of a layer: the outputs of the layer before it, then its parameters
                points = []
                layer_inputs = list(x)
                start = 0
                for layer, reduced in zip(self.layers, reduced_layers, strict=True):
                    stop = start + len(layer.parameters)
                    points.append([*layer_inputs, *parameters[start:stop]])
                    layer_inputs = reduced.values(points[-1])
                    start = stop
            gradient: list[int] = []
            last_to_first = reversed(list(zip(self.layers, reduced_layers, points, strict=True)))
            for layer, reduced, point in last_to_first:
                # derivatives with respect to the inputs of the layer, then its parameters; those
                # for the inputs are the covector on the outputs of the layer before
                derivatives = reduced.pullback(point, covector)
                input_count = len(layer.inputs)
                gradient = derivatives[input_count:] + gradient
                covector = derivatives[:input_count]
            gradients.append(gradient)
        return gradients


@lru_cache(maxsize=8)
def _reduced_layers(layers: tuple[Layer, ...], prime: int) -> tuple[ReducedLayer, ...]:
    """Return each layer modulo the prime; cached, since gradients are computed in batches."""
    return tuple(layer.modulo(prime) for layer in layers)


def restrict_outputs(polynomial_map: PolynomialMap, outputs: Sequence[str]) -> PolynomialMap:
    """Return the map followed by the projection to the coordinates ``outputs``, in this order; at
    least one, and each once.
    """
    check_kind("outputs", outputs, (list, tuple), "a list of names")
    names = polynomial_map.coordinates
    for name in outputs:
        if name not in names:
            reason = f"there is no output '{name}': use {', '.join(names)}"
            raise InvalidCaseError("outputs", reason)
    if not outputs or len(set(outputs)) < len(outputs):
        raise InvalidCaseError("outputs", "must name at least one output, and each of them once")
    return polynomial_map.restricted_to([names.index(name) for name in outputs])

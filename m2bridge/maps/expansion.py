"""A composition of polynomial maps as one polynomial map, by FLINT; what is too large is refused before it is begun."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

import flint

from m2bridge.algebra.field import QQ
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.errors import TooLargeError
from m2bridge.maps.layer import Layer, support

MAX_TERMS = 200_000
"""Terms of all outputs together that are expanded: some seconds."""


def expanded(layers: Sequence[Layer]) -> PolynomialMap:
    """The composition; with inputs, its coordinates are the coefficients that are not identically zero.

    Raises
    ------
    TooLargeError
        If it may have more than :data:`MAX_TERMS` terms.
    """
    if len(layers) == 1 and not layers[0].inputs:
        return layers[0].polynomial_map
    _check_size(layers)
    inputs = layers[0].inputs
    source = PolynomialRing(QQ, tuple(name for layer in layers for name in layer.parameters))
    images: dict[str, dict[tuple[int, ...], Any]] = {}
    for name, image in zip(layers[-1].outputs, _compose(layers), strict=True):
        if not inputs:
            images[name] = image
            continue
        coefficients: dict[tuple[int, ...], dict[tuple[int, ...], Any]] = {}
        for exponents, c in image.items():
            coefficients.setdefault(exponents[: len(inputs)], {})[exponents[len(inputs) :]] = c
        images |= {coefficient_name(name, key): coefficients[key] for key in sorted(coefficients, reverse=True)}
    domain, ring = source.field.domain, source.sympy_ring
    polynomials = (
        ring.from_dict({e: domain(int(c.numerator), int(c.denominator)) for e, c in image.items()})
        for image in images.values()
    )
    return PolynomialMap(source, tuple(images), tuple(polynomials))


def coefficient_name(output: str, exponents: Sequence[int]) -> str:
    """What the coefficient of a monomial in the inputs is called: ``f_2_0`` for x² in f, as a polynomial in x and y."""
    return "_".join([output, *map(str, exponents)])


def _compose(layers: Sequence[Layer]) -> list[dict[tuple[int, ...], Any]]:
    """The outputs as polynomials in all inputs and parameters."""
    names = [*layers[0].inputs, *(name for layer in layers for name in layer.parameters)]
    context = flint.fmpq_mpoly_ctx.get([f"v{i}" for i in range(len(names))], flint.Ordering.degrevlex)
    generators = context.gens()
    flowing, start = list(generators[: len(layers[0].inputs)]), len(layers[0].inputs)
    for layer in layers:
        stop = start + len(layer.parameters)
        arguments = [*flowing, *generators[start:stop]]
        flowing = [_substituted(image, arguments, context) for image in layer.polynomial_map.images]
        start = stop
    return [{tuple(map(int, e)): c for e, c in image.to_dict().items()} for image in flowing]


def _substituted(image: Any, arguments: Sequence[Any], context: Any) -> Any:
    total = context.from_dict({})
    for monomial, c in image.items():
        term = context.from_dict({(0,) * context.nvars(): flint.fmpq(int(c.numerator), int(c.denominator))})
        for i, exponent in support(monomial):
            term *= arguments[i] ** exponent
        total += term
    return total


def _check_size(layers: Sequence[Layer]) -> None:
    """Bound the number of terms of every product, layer by layer."""
    sizes = [1] * len(layers[0].inputs)
    for number, layer in enumerate(layers, 1):
        known = sizes + [1] * len(layer.parameters)
        sizes = []
        for image in layer.polynomial_map.images:
            count = 0
            for monomial in image:
                product = 1
                for i, exponent in support(monomial):
                    product *= comb(known[i] + exponent - 1, exponent) if known[i] else 0
                count += product
            sizes.append(count)
        if sum(sizes) > MAX_TERMS:
            raise TooLargeError(
                f"the first {number} layers may have {sum(sizes)} terms when they are expanded; at most {MAX_TERMS} are"
                " (the dimension needs no expansion)",
            )

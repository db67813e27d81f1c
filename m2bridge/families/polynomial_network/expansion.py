"""A polynomial network as a composition of polynomial maps, layer by layer."""

from itertools import pairwise

from m2bridge.algebra.field import QQ
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import PolynomialRing
from m2bridge.families.polynomial_network.shape import Shape
from m2bridge.maps.chain import Chain, Layer


def layer_chain(network: Shape) -> Chain:
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

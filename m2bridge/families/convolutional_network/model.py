"""Polynomial convolutional networks as models: coordinates, derivatives, symmetries.

They are differentiated without expansion, so that dimensions need no coordinates. The numbers are
in ``shape``, the statements in ``statements``, what is observed in ``observation``.

Notation: L filters w_i, lists of k_i numbers (the *weights*), and the activation degree r. Layer i
maps its inputs y_{i−1} to z_i = w_i * y_{i−1} with entries z_j = Σ_a w_a y_{j+a−1}, and r-th powers
of the entries of z_i are the inputs y_i of the next layer; y_0 = x, and z_L is the one output. A
*covector* g on a vector z stands for the linear form ⟨g, dz⟩ = Σ_j g_j dz_j.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import mul
from typing import TYPE_CHECKING, NamedTuple

from m2bridge.families.convolutional_network.shape import FilterSizes
from m2bridge.families.convolutional_network.statements import STATEMENTS, WORDS, StatedNumber
from m2bridge.maps.model import Expectation, PolarData
from m2bridge.statements.statement import Statement

if TYPE_CHECKING:
    from m2bridge.algebra.polynomial_map import PolynomialMap
    from m2bridge.families.convolutional_network.observation import ObservedConvolution
    from m2bridge.maps.chain import Chain, Layer, Row


class ConvolutionalNetwork(FilterSizes):
    """The model x ↦ w_L * σ_r(w_{L−1} * … σ_r(w_1 * x)) with filters w_i of sizes k_i.

    The convolution is (w * y)_j = Σ_a w_a·y_{j+a−1}. The inputs are those on which one output
    depends, 1 + Σ(k_i − 1) of them; further outputs are the same function of shifted inputs. The
    function coordinates are the coefficients of this output, a form of degree r^(L−1): ``f_2_0_1``
    is the coefficient of x_1²·x_3. Coefficients that are zero for all weights are left out. The
    parameter ``w_i_a`` is the entry a of w_i.

    Parameters
    ----------
    filters : iterable of int
        The sizes k_1, …, k_L; at least one.
    degree : int
        The activation degree r ≥ 1.

    Raises
    ------
    InvalidCaseError
        If one of them is not an integer, below 1, or so large that not even the weights could be
        handled.

    Examples
    --------
    >>> network = ConvolutionalNetwork([2, 2])
    >>> network.coordinate_names()
    ('f_2_0_0', 'f_1_1_0', 'f_0_2_0', 'f_0_1_1', 'f_0_0_2')
    >>> network.parametrization().images[2]
    w_1_2**2*w_2_1 + w_1_1**2*w_2_2
    """

    __slots__ = ()

    def symmetries(self) -> tuple[dict[str, str], ...]:
        """Return the reversal of all filters, which reverses the inputs.

        It is the one symmetry, as a dictionary from each parameter to its image: for one filter of
        size 2, {"w_1_1": "w_1_2", "w_1_2": "w_1_1"}.
        """
        reversal: dict[str, str] = {}
        for i, size in enumerate(self.filters, 1):
            for a in range(1, size + 1):
                reversal[f"w_{i}_{a}"] = f"w_{i}_{size + 1 - a}"
        return (reversal,)

    def gauge_dimension(self) -> int:
        """Return L − 1: all filters but the last can be rescaled, and the last one compensates."""
        return len(self.filters) - 1

    def parametrization(self) -> PolynomialMap:
        """Return the map from the weights to the coefficients of the output.

        The output is a form in the inputs; coefficients that are zero for all weights are left out.

        Raises
        ------
        TooLargeError
            If the coefficients are too many to be written down.
        """
        self.check_expandable()
        return layer_chain(self).parametrization()

    def expectations(self) -> tuple[Expectation, ...]:
        """Return one expectation: the dimension by the formula, which is stated for all sizes."""
        source = "Σ k_i − (L − 1) (docs/convolutional-networks.md)"
        stated_dimension = StatedNumber(WORDS.words("dimension", ""))
        return (Expectation(stated_dimension(self), source),)

    def polar_theorem(self) -> PolarData | None:
        """Return the polar degrees from Chern classes of the source; ``None`` for r = 1."""
        from m2bridge.families.convolutional_network.polar import polar_theorem

        return polar_theorem(self)

    def pullbacks(
        self, parameters: Row, inputs: Sequence[Row], covectors: Sequence[Row], prime: int
    ) -> list[list[int]]:
        """Return the gradient of ⟨g, z_L⟩ with respect to the weights, for each input x and its g.

        ``parameters`` are the weights at which it is taken, the entries of w_1 first; g has one
        entry, as the network has one output.
        """
        parameters, inputs, covectors, prime = self.checked_pullback(
            parameters, inputs, covectors, prime
        )
        filters = []
        start = 0
        for size in self.filters:
            filters.append(parameters[start : start + size])
            start += size
        gradients = []
        for x, g in zip(inputs, covectors, strict=True):
            gradients.append(self._gradient(filters, x, g, prime))
        return gradients

    def _gradient(self, filters: Sequence[Row], x: Row, g: Row, prime: int) -> list[int]:
        """Return the gradient of ⟨g, z_L⟩ with respect to all weights, w_1 first, modulo the prime.

        Let s be ⟨g, z_L⟩ and g_j = ∂s/∂z_j for the entries z_j of z_i = w_i * y_{i−1}. Then ∂s/∂w_a
        is Σ_j g_j y_{j+a−1} for the entry a of w_i, and ∂s/∂y_j is Σ_a w_a g_{j−a+1} for the entry
        j of y_{i−1}.
        """
        gradient: list[int] = []
        # the last layer comes first
        for w, y, slopes in reversed(self._layers_at(filters, x, prime)):
            # At the beginning of this step g is ∂s/∂z_i, at the end ∂s/∂z_{i−1}. In the first layer
            # y_0 = x is not a power, all slopes are 0, and g is not used any more.
            by_filter = [sum(map(mul, g, y[a : a + len(g)])) % prime for a in range(len(w))]
            gradient = by_filter + gradient
            by_y = [0] * len(y)
            # z_j is the sum of w_a y_{j+a}, with indices from 0
            for j, by_z_j in enumerate(g):
                for a, weight in enumerate(w):
                    by_y[j + a] += by_z_j * weight
            g = [slope * by_y_j % prime for slope, by_y_j in zip(slopes, by_y, strict=True)]
        return gradient

    def _layers_at(self, filters: Sequence[Row], x: Row, prime: int) -> list[LayerAtInput]:
        """Return all layers at the input x, the first one first, modulo the prime."""
        layers = []
        y = list(x)
        # the input of the first layer is not a power: its slopes are not used
        slopes = [0] * len(y)
        for w in filters:
            layers.append(LayerAtInput(w, y, slopes))
            count = len(y) - len(w) + 1
            z = [sum(map(mul, w, y[j : j + len(w)])) % prime for j in range(count)]
            powers = [pow(entry, self.degree - 1, prime) for entry in z]
            y = [entry * power % prime for entry, power in zip(z, powers, strict=True)]
            slopes = [self.degree * power % prime for power in powers]
        return layers

    def statements(self) -> tuple[Statement, ...]:
        """Return the statements about dimension, degree, fibres and singular points."""
        return STATEMENTS

    def needs_engine(self, observables: Collection[str]) -> bool:
        """Return whether Macaulay2 must run for one of these observables.

        It must for ``degree``, ``fibres`` and ``singular``, which are observed for r ≥ 2 only.
        """
        from m2bridge.families.convolutional_network.observation import BY_ENGINE  # imports FLINT

        return self.degree > 1 and not BY_ENGINE.isdisjoint(observables)

    def observe(
        self, observables: Collection[str], *, certified: bool = False
    ) -> ObservedConvolution:
        """Observe the dimension by exact ranks, and degree and fibres by Gröbner bases.

        These are observed if they are among the ``observables``, and for r ≥ 2 only. A value that
        is too large, or a limit, is noted in the result; with ``certified``, for a certificate, it
        is an error.
        """
        from m2bridge.families.convolutional_network.observation import observe  # imports FLINT

        return observe(self, observables, certified=certified)


class LayerAtInput(NamedTuple):
    """Layer i of a network at one input of the network, modulo a prime."""

    w: Row
    y: list[int]  # y_{i−1}
    # for each entry z^r of y_{i−1} its derivative r z^(r−1); 0 for y_0 = x, which is not a power
    slopes: list[int]


def layer_chain(network: FilterSizes) -> Chain:
    """Return the network as a chain of polynomial maps, one for each layer.

    The variables are the inputs x_j, the sums z_i_j of layer i before activation, and the output f;
    the parameters of layer i are the entries w_i_a of its filter.
    """
    from m2bridge.maps.chain import Chain  # imports SymPy

    layers = []
    inputs = tuple(f"x_{j}" for j in range(1, network.input_count + 1))
    for i in range(1, len(network.filters) + 1):
        layer = _map_layer(network, i, inputs)
        layers.append(layer)
        inputs = layer.outputs
    return Chain(tuple(layers), network.title, network.key)


def _map_layer(network: FilterSizes, i: int, inputs: tuple[str, ...]) -> Layer:
    """Return layer i of a network, counted from 1, as a polynomial map of ``inputs`` with names.

    It begins with the activation of layer i − 1, so that layers compose to the network.
    """
    from m2bridge.algebra.field import QQ
    from m2bridge.algebra.polynomial_map import PolynomialMap
    from m2bridge.algebra.ring import PolynomialRing
    from m2bridge.maps.chain import Layer  # imports SymPy

    size = network.filters[i - 1]
    count = len(inputs) - size + 1
    outputs = tuple(f"z_{i}_{j}" for j in range(1, count + 1))
    if i == len(network.filters):
        outputs = ("f",)
    weights = tuple(f"w_{i}_{a}" for a in range(1, size + 1))
    source = PolynomialRing(QQ, (*inputs, *weights))
    generators = source.sympy_ring.gens
    x, w = generators[: len(inputs)], generators[len(inputs) :]
    y = x if i == 1 else [entry**network.degree for entry in x]
    zero = source.sympy_ring.zero
    # the entries of the convolution w * y, with indices from 0
    images = tuple(sum(map(mul, w, y[j : j + size]), zero) for j in range(count))
    return Layer(PolynomialMap(source, outputs, images), inputs)

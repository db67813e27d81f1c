"""The polar degrees of the closure, from Chern classes of the source.

For r ≥ 2 the map from X = Π P^(k_i − 1) is birational onto the projective closure, and its
differential is injective everywhere. So the conormal variety is the projective bundle of the
conormal bundle over X, and its bidegree follows from the Chern classes of X as for a smooth variety
(theorem-convolutional-polar in docs/convolutional-networks.md).
"""

from __future__ import annotations

from fractions import Fraction
from math import comb, factorial

from m2bridge.errors import TooLargeError
from m2bridge.families.convolutional_network.shape import FilterSizes
from m2bridge.families.convolutional_network.statements import WORDS
from m2bridge.maps.model import PolarData

# Numbers grow with the dimension: this many take less than a second.
MAX_POLAR_DIMENSION = 200


def polar_theorem(network: FilterSizes) -> PolarData | None:
    """Return the polar degrees; ``None`` for r = 1, where the closure is the whole space.

    Raises
    ------
    TooLargeError
        If the dimension is too large.
    """
    if network.degree == 1:
        return None
    dimension = network.input_count - 1
    if dimension > MAX_POLAR_DIMENSION:
        raise TooLargeError(
            f"the projective closure has dimension {dimension}; polar degrees are computed up to"
            f" {MAX_POLAR_DIMENSION}: take smaller filters"
        )
    lemmas = tuple(WORDS.lemmas[name] for name in ("projection", "polar"))
    known = "by the theorem, from Chern classes of a product of projective spaces"
    return PolarData(degrees=polar_degrees(network), known=known, rests_on=lemmas)


def polar_degrees(network: FilterSizes) -> tuple[int, ...]:
    """Return δ_m, …, δ_0 with m the dimension of X, the first of which is the degree.

    δ_j = Σ_i (−1)^(m−i) C(i + 1, j + 1) ∫ c_(m−i)(X) h^i, over i from j to m.
    """
    integrals = chern_integrals(network)
    top = len(integrals) - 1
    degrees = []
    for j in range(top, -1, -1):
        terms = ((-1) ** (top - i) * comb(i + 1, j + 1) * integrals[i] for i in range(j, top + 1))
        degrees.append(sum(terms))
    return tuple(degrees)


def chern_integrals(network: FilterSizes) -> list[int]:
    """Return ∫ c_(m−i)(X) h^i for i = 0, …, m, with h = Σ D_i h_i.

    c(X) = Π (1 + h_i)^(k_i), and h^i has the coefficient i! Π D_l^(f_l)/f_l! at Π h_l^(f_l). So the
    integral is i! times the coefficient of T^i in the product over all filters of the sums over f <
    k of C(k, k − 1 − f) (D T)^f / f!.
    """
    product = [Fraction(1)]
    for size, degree in zip(network.filters, network.weight_degrees, strict=True):
        factor = [Fraction(comb(size, f + 1) * degree**f, factorial(f)) for f in range(size)]
        longer = [Fraction(0)] * (len(product) + size - 1)
        for i, coefficient in enumerate(product):
            for f, other in enumerate(factor):
                longer[i + f] += coefficient * other
        product = longer
    return [int(factorial(i) * coefficient) for i, coefficient in enumerate(product)]

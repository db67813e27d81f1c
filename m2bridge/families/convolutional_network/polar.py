"""The polar degrees of the closure, from Chern classes of the source.

For r ≥ 2 the map from X = Π P^(k_i − 1) is birational onto the projective closure, and its
differential is injective everywhere. So the conormal variety is the projective bundle of the
conormal bundle over X, and its bidegree follows from the Chern classes of X as for a smooth variety
(theorem-convolutional-polar in docs/convolutional-networks.md).

Notation: a network has filters of sizes k_1, …, k_L and the activation degree r. Its *closure* is
the closure of the set of its functions, and the map to it has the degree D_i = r^(L−i) in the
entries of filter i. The polar degrees δ_m, …, δ_0 are the coefficients of the class of the conormal
variety.
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
    """Return the polar degrees; ``None`` for r = 1, where the closure is the whole space."""
    if network.degree == 1:
        return None
    dimension = sum(k - 1 for k in network.filters)  # of X, and so of the closure
    if dimension > MAX_POLAR_DIMENSION:
        raise TooLargeError(
            f"the projective closure has dimension {dimension}; polar degrees are computed up to"
            f" {MAX_POLAR_DIMENSION}: take smaller filters"
        )
    lemmas = tuple(WORDS.lemmas[name] for name in ("projection", "polar"))
    method = "by the theorem, from Chern classes of a product of projective spaces"
    return PolarData(degrees=polar_degrees(network), known=method, rests_on=lemmas)


def polar_degrees(network: FilterSizes) -> tuple[int, ...]:
    """Return δ_m, …, δ_0 with m the dimension of X, the first of which is the degree.

    By theorem-convolutional-polar δ_j = Σ_i (−1)^(m−i) C(i + 1, j + 1) ∫ c_(m−i)(X) h^i, over i
    from j to m. Here X = Π P^(k_i − 1) is the source, c_(m−i)(X) its Chern class of this degree,
    and h the hyperplane class of the closure, pulled back to X.
    """
    integrals = chern_integrals(network)
    m = len(integrals) - 1
    degrees = []
    for j in range(m, -1, -1):
        terms = ((-1) ** (m - i) * comb(i + 1, j + 1) * integrals[i] for i in range(j, m + 1))
        degrees.append(sum(terms))
    return tuple(degrees)


def chern_integrals(network: FilterSizes) -> list[int]:
    """Return ∫ c_(m−i)(X) h^i for i = 0, …, m, the dimension of X.

    Filter l has size k_l, h_l is the hyperplane class of its projective space, and the hyperplane
    class of the closure is h = Σ D_l h_l with D_l = r^(L−l).

    The integral is the coefficient of c_(m−i)(X) h^i at the class Π h_l^(k_l − 1) of a point. Here
    c(X) = Π (1 + h_l)^(k_l), and h^i has the coefficient i! Π D_l^(f_l)/f_l! at Π h_l^(f_l). So the
    integral is i! times the coefficient of T^i in the product over all filters l of the polynomials
    Σ_{f < k_l} C(k_l, k_l − 1 − f) (D_l T)^f / f!.
    """
    # the coefficients of 1, T, T², … in the product over the first filters
    product = [Fraction(1)]
    for k, D in zip(network.filters, network.weight_degrees, strict=True):
        # C(k, k − 1 − f) = C(k, f + 1)
        factor = [Fraction(comb(k, f + 1) * D**f, factorial(f)) for f in range(k)]
        new_product = [Fraction(0)] * (len(product) + k - 1)
        for i, coefficient in enumerate(product):
            for f, coefficient_of_factor in enumerate(factor):
                new_product[i + f] += coefficient * coefficient_of_factor
        product = new_product
    return [int(factorial(i) * coefficient) for i, coefficient in enumerate(product)]

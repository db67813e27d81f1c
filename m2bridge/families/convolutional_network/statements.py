"""The statements about convolutional networks: predictions and hypotheses.

The words are in ``words.toml``. Predictions are formulas in the numbers of a network; nothing is
computed from its functions.

Notation: a network has L filters of sizes k_1, …, k_L and the activation degree r. Its *closure* is
that of the set of its functions. A *type of zeros* is the pair (e, P): filter i has e_i zeros at
its ends, and all filters together have P zeros in front. ``None`` says that there are too many
types to predict a number for each.
"""

from __future__ import annotations

from math import factorial, prod
from pathlib import Path

from m2bridge.certificates.wording import wording
from m2bridge.families.convolutional_network.shape import MAX_ZERO_TYPES, FilterSizes, ZeroType
from m2bridge.statements.statement import GlobalStatement, Numbers, Statement

WORDS = wording(Path(__file__).parent / "words.toml")


def stated_dimension(network: FilterSizes) -> int:
    """Predict the dimension Σ k_i − (L − 1): the weights up to rescaling."""
    return sum(network.filters) - (len(network.filters) - 1)


def stated_degree(network: FilterSizes) -> int:
    """Predict the degree of the closure: (Σ(k_i − 1))! ∏ r^((L−i)(k_i−1)) / (k_i − 1)!."""
    L = len(network.filters)
    # the exponent of r in the product
    exponent = sum((L - i) * (size - 1) for i, size in enumerate(network.filters, 1))
    multinomial = factorial(sum(network.filters) - L)
    multinomial //= prod(factorial(size - 1) for size in network.filters)
    degree: int = multinomial * network.degree**exponent
    return degree


def stated_fibres(network: FilterSizes) -> Numbers | None:
    """Predict the number of points of the fibre over a function of each type of zeros."""
    if network.zero_type_count > MAX_ZERO_TYPES:
        return None
    return Numbers(tuple(map(distributions, network.zero_types())))


def distributions(zeros: ZeroType) -> int:
    """Return the number of (p_1, …, p_L) with 0 ≤ p_i ≤ e_i and Σ p_i = P, for the type (e, P).

    p_i is the number of zeros in front of filter i. Their number is the coefficient of T^P in the
    product of all 1 + T + … + T^(e_i).
    """
    # coefficients[n] = that of T^n in the product of the first factors
    coefficients = [1]
    for e_i in zeros.zeros:
        new_coefficients = [0] * (len(coefficients) + e_i)
        for exponent, coefficient in enumerate(coefficients):
            for p_i in range(e_i + 1):
                new_coefficients[exponent + p_i] += coefficient
        coefficients = new_coefficients
    return coefficients[zeros.leading]


def stated_singular(network: FilterSizes) -> Numbers | None:
    """Predict for each type of zeros 1 if its general functions are singular points, else 0."""
    if network.zero_type_count > MAX_ZERO_TYPES:
        return None
    return Numbers(tuple(int(opposite_zeros(zeros)) for zeros in network.zero_types()))


def opposite_zeros(zeros: ZeroType) -> bool:
    """Return whether one filter begins with a zero and a different one ends with a zero.

    It is asked of the placement which fills the first filters in front: if any placement of the
    type has such a pair of filters, this one has. Then a zero of the one filter can be moved to its
    end, and a zero of the other to its front, which keeps the function; so the function has further
    preimages.
    """
    places = zeros.placed()
    for i, (in_front, _) in enumerate(places):
        for j, (_, behind) in enumerate(places):
            if i != j and in_front > 0 and behind > 0:
                return True
    return False


def nowhere_fails(network: FilterSizes) -> str:
    """Return the empty text for every network: the statement has no hypothesis."""
    return ""


def failed_hypothesis(network: FilterSizes) -> str:
    """Return the hypothesis r ≥ 2 in words if it fails; an empty text if it holds."""
    return "" if network.degree >= 2 else WORDS.hypotheses["nonlinear"]


STATEMENTS: tuple[Statement, ...] = (
    GlobalStatement(
        **WORDS.fields("dimension", ""), predict=stated_dimension, hypotheses=nowhere_fails
    ),
    GlobalStatement(
        **WORDS.fields("degree", ""), predict=stated_degree, hypotheses=failed_hypothesis
    ),
    GlobalStatement(
        **WORDS.fields("fibres", ""), predict=stated_fibres, hypotheses=failed_hypothesis
    ),
    GlobalStatement(
        **WORDS.fields("singular", ""), predict=stated_singular, hypotheses=failed_hypothesis
    ),
)

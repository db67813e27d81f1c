"""The statements about convolutional networks: predictions and hypotheses.

Words, hypotheses and formulas are in ``words.toml``, which the checker reads, too; here are the
numbers of a network by their names in formulas, and the predictions that are lists, one number for
each type of zeros. Nothing is computed from the functions of a network.

Notation: a network has L filters of sizes k_1, …, k_L and the activation degree r. Its *closure* is
the closure of the set of its functions. A *type of zeros* is the pair (e, P): filter i has e_i
zeros at its ends, and all filters together have P zeros in front. ``None`` says that there are too
many types to predict a number for each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import factorial, prod
from operator import attrgetter
from pathlib import Path

from m2bridge.certificates.conditions import CaseNumbers
from m2bridge.certificates.wording import Words, wording
from m2bridge.families.convolutional_network.shape import FilterSizes, ZeroType
from m2bridge.statements.statement import GlobalStatement, Numbers, Statement

WORDS = wording(Path(__file__).parent / "words.toml")


NUMBERS: dict[str, Callable[[FilterSizes], int]] = {
    "L": lambda network: len(network.filters),
    "k": lambda network: sum(network.filters),
    "r": attrgetter("degree"),
    "exponent": lambda network: sum(
        (len(network.filters) - i) * (size - 1) for i, size in enumerate(network.filters, 1)
    ),
    "multinomial": lambda network: (
        factorial(sum(network.filters) - len(network.filters))
        // prod(factorial(size - 1) for size in network.filters)
    ),
}
"""The numbers of a network by their names in ``words.toml``."""


@dataclass(frozen=True, slots=True)
class FilterHypotheses:
    """Hypotheses by their names in ``words.toml``."""

    names: tuple[str, ...]

    def __call__(self, network: FilterSizes) -> str:
        """Return the first hypothesis that fails, in words; empty if all hold."""
        return next(iter(WORDS.failing(self.names, CaseNumbers(network, NUMBERS))), "")


@dataclass(frozen=True, slots=True)
class StatedNumber:
    """A number that a statement predicts by its formula in ``words.toml``."""

    words: Words

    def __call__(self, network: FilterSizes) -> int:
        """Return the number."""
        number: int = WORDS.predicted(self.words, CaseNumbers(network, NUMBERS))
        return number


def stated_fibres(network: FilterSizes) -> Numbers | None:
    """Predict the number of points of the fibre over a function of each type of zeros."""
    types = network.listed_zero_types()
    return None if types is None else Numbers(tuple(map(distributions, types)))


def distributions(zeros: ZeroType) -> int:
    """Return the number of (p_1, …, p_L) with 0 ≤ p_i ≤ e_i and Σ p_i = P, for the type (e, P).

    p_i is the number of zeros in front of filter i. Their number is the coefficient of T^P in the
    product of all 1 + T + … + T^(e_i).
    """
    # coefficients[n] belongs to T^n in the product of the first factors
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
    types = network.listed_zero_types()
    return None if types is None else Numbers(tuple(int(opposite_zeros(zeros)) for zeros in types))


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


PREDICTED: dict[str, Callable[[FilterSizes], Numbers | None]] = {
    "fibres": stated_fibres,
    "singular": stated_singular,
}
"""The predictions that are not formulas, by the key of the statement."""


def _statement(words: Words) -> Statement:
    """Return the statement with these words."""
    return GlobalStatement(
        **WORDS.fields(words.key, words.part),
        predict=PREDICTED.get(words.key, StatedNumber(words)),
        hypotheses=FilterHypotheses(words.assumes),
    )


STATEMENTS: tuple[Statement, ...] = tuple(map(_statement, WORDS.statements))

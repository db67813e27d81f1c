"""The numbers of a convolutional network: filter sizes, activation degree, positions of zeros.

:class:`~m2bridge.families.convolutional_network.model` has their functions; proofs are in
``docs/convolutional-networks.md``.

Notation: L filters w_i, lists of k_i numbers, and the activation degree r. A *type of zeros* is the
pair (e, P) of a list e, where filter i has e_i zeros at both ends together, and the number P of
zeros in front of all filters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, ClassVar, Self

from m2bridge.algebra import MAX_RING_VARIABLES
from m2bridge.algebra.determinantal import monomial_count
from m2bridge.errors import InvalidCaseError, TooLargeError
from m2bridge.families.base import positive_integer, positive_integers
from m2bridge.maps.model import DifferentiableModel

NAME = "convolutional-network"

# A layer has at most as many neurons as there are weights; a gradient costs their product.
MAX_FILTER_WEIGHTS = 2_000
MAX_FILTERS = 20
# Fibres are computed for all types of zeros, a Gröbner basis for each.
MAX_ZERO_TYPES = 128


@dataclass(frozen=True, slots=True)
class ZeroType:
    """Filters with zeros at their ends, such as (0, 0, 5, 2, 0).

    The smallest number of a variable that occurs in the function is P + 1.
    """

    zeros: tuple[int, ...]  # the numbers e_i < k_i
    leading: int  # P

    def placed(self) -> tuple[tuple[int, int], ...]:
        """Return the zeros (in front, behind) of each filter, for one placement of the type.

        The first filters have as many zeros in front as possible: for ``zeros`` (2, 1) and
        ``leading`` 1 the result is ((1, 1), (0, 1)).
        """
        zeros_left = self.leading
        places = []
        for count in self.zeros:
            leading = min(count, zeros_left)
            zeros_left -= leading
            places.append((leading, count - leading))
        return tuple(places)


@dataclass(frozen=True, slots=True, init=False)
class FilterSizes(DifferentiableModel):
    """The sizes k_1, …, k_L of the filters of a network, and its activation degree r.

    Abstract: :class:`~m2bridge.families.convolutional_network.model.ConvolutionalNetwork` has the
    functions.
    """

    filters: tuple[int, ...]
    degree: int
    family: ClassVar[str] = NAME

    def __init__(self, filters: Iterable[int], degree: int = 2) -> None:
        sizes = positive_integers("filters", filters)
        if not 1 <= len(sizes) <= MAX_FILTERS:
            message = f"must be from 1 to {MAX_FILTERS} integers, not {len(sizes)}"
            raise InvalidCaseError("filters", message)
        checked_degree = positive_integer("degree", degree, 1000)
        # the value is frozen, so that its fields cannot be assigned
        object.__setattr__(self, "filters", sizes)
        object.__setattr__(self, "degree", checked_degree)
        if self.parameter_count > MAX_FILTER_WEIGHTS:
            message = f"give {self.parameter_count} weights; at most {MAX_FILTER_WEIGHTS} can be"
            raise InvalidCaseError("filters", message)

    @classmethod
    def from_key(cls, key: str) -> Self:
        """Return the network with this key, such as ``3-2-r2``; InvalidCaseError if none has it."""
        number = "[1-9][0-9]{0,8}"
        match = re.fullmatch(rf"({number}(?:-{number})*)-r({number})", key)
        if match is None:
            message = f"'{key}' does not name a convolutional network: write 3-2-r2"
            raise InvalidCaseError("key", message)
        return cls(map(int, match[1].split("-")), int(match[2]))

    @property
    def key(self) -> str:
        """The name of the case, such as ``3-2-r2``."""
        return f"{'-'.join(map(str, self.filters))}-r{self.degree}"

    @property
    def title(self) -> str:
        """The network in words."""
        sizes = f"({', '.join(map(str, self.filters))})"
        shape = f"filter sizes {sizes} and activation degree {self.degree}"
        return f"polynomial convolutional network of {shape}"

    def to_json(self) -> dict[str, Any]:
        """Return the numbers of the case, such as ``{"filters": [3, 2], "degree": 2}``."""
        return {"filters": list(self.filters), "degree": self.degree}

    @property
    def parameter_count(self) -> int:
        """The number of weights, Σ k_i."""
        return sum(self.filters)

    @property
    def input_count(self) -> int:
        """The number 1 + Σ(k_i − 1) of inputs on which one output depends."""
        return 1 + sum(self.filters) - len(self.filters)

    @property
    def output_count(self) -> int:
        """1, as all outputs are the same function of shifted inputs."""
        return 1

    @property
    def weight_degrees(self) -> tuple[int, ...]:
        """The degree r^(L−i) of the output in the entries of each filter w_i."""
        L = len(self.filters)
        return tuple(self.degree ** (L - i) for i in range(1, L + 1))

    @property
    def function_degree(self) -> int:
        """The degree r^(L−1) of the output as a form in the inputs."""
        # it is the degree in the entries of w_1, too
        return self.weight_degrees[0]

    def check_expandable(self) -> None:
        """Raise TooLargeError if there are more coefficients than can be written down.

        Coefficients that are zero for all weights are counted, too.
        """
        # Forms of degree D in two or more variables have more than D coefficients. D is compared
        # first, as the number of coefficients may have very many digits.
        limit = MAX_RING_VARIABLES
        degree_is_too_large = self.input_count > 1 and self.function_degree > limit
        if degree_is_too_large or monomial_count(self.input_count, self.function_degree) > limit:
            raise TooLargeError(
                f"this network has functions of more than {limit} coefficients, too many to write"
                " down; its dimension needs none"
            )

    @property
    def zero_type_count(self) -> int:
        """The number of types of zeros: the sum of 1 + Σ e_i over all e with e_i < k_i."""
        choices = prod(self.filters)
        # the average of Σ e_i is half of its largest value, as e ↦ (k_i − 1 − e_i) permutes them
        return choices + choices * sum(size - 1 for size in self.filters) // 2

    def zero_types(self) -> Iterator[ZeroType]:
        """Yield all types of zeros (e, P), 0 ≤ P ≤ Σ e_i, first the type without zeros."""
        for zeros in product(*(range(size) for size in self.filters)):
            for leading in range(sum(zeros) + 1):
                yield ZeroType(zeros, leading)

    def listed_zero_types(self) -> tuple[ZeroType, ...] | None:
        """Return all types of zeros; ``None`` if there are more than MAX_ZERO_TYPES."""
        if self.zero_type_count > MAX_ZERO_TYPES:
            return None
        return tuple(self.zero_types())

"""The numbers of a polynomial network."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self

from m2bridge.algebra.determinantal import monomial_count
from m2bridge.errors import InvalidCaseError, TooLargeError
from m2bridge.families.definition import positive_integer, positive_integers
from m2bridge.maps.model import DifferentiableModel

NAME = "polynomial-network"
MAX_PARAMETERS = 100_000
MAX_DEGREE = 10**6
MAX_LAYERS = 100
MAX_COORDINATES = 20_000


@dataclass(frozen=True, slots=True, init=False)
class Shape(DifferentiableModel):
    """The widths d_0, …, d_l of a polynomial network and its activation degree r.

    Abstract: the functions are those of :class:`~m2bridge.families.polynomial_network.model.PolynomialNetwork`.
    """

    widths: tuple[int, ...]
    degree: int
    family: ClassVar[str] = NAME

    def __init__(self, widths: Iterable[int], degree: int = 2) -> None:
        listed = positive_integers("widths", widths)
        if not 2 <= len(listed) <= MAX_LAYERS + 1:
            raise InvalidCaseError("widths", f"must be from 2 to {MAX_LAYERS + 1} integers, not {len(listed)}")
        object.__setattr__(self, "widths", listed)
        object.__setattr__(self, "degree", positive_integer("degree", degree, MAX_DEGREE, "of integers"))
        if self.parameter_count > MAX_PARAMETERS:
            raise InvalidCaseError("widths", f"give {self.parameter_count} weights; at most {MAX_PARAMETERS} can be")

    @classmethod
    def from_key(cls, key: str) -> Self:
        """The network with this key, such as ``2-2-1-r2``."""
        match = re.fullmatch(r"([1-9][0-9]{0,8}(?:-[1-9][0-9]{0,8})+)-r([1-9][0-9]{0,8})", key, re.ASCII)
        if match is None:
            raise InvalidCaseError("key", f"'{key}' does not name a polynomial network: write 2-2-1-r2")
        return cls(map(int, match[1].split("-")), int(match[2]))

    @property
    def key(self) -> str:
        """Such as ``2-2-1-r2``."""
        return f"{'-'.join(map(str, self.widths))}-r{self.degree}"

    @property
    def title(self) -> str:
        """In words."""
        shape = f"widths ({', '.join(map(str, self.widths))}) and activation degree {self.degree}"
        return f"polynomial neural network of {shape}"

    def to_json(self) -> dict[str, Any]:
        """The numbers of the case."""
        return {"widths": list(self.widths), "degree": self.degree}

    @property
    def parameter_count(self) -> int:
        """The number of weights, Σ d_i d_{i−1}."""
        return sum(before * after for before, after in pairwise(self.widths))

    @property
    def input_count(self) -> int:
        """d_0."""
        return self.widths[0]

    @property
    def output_count(self) -> int:
        """d_l."""
        return self.widths[-1]

    @property
    def function_degree(self) -> int:
        """The degree r^(l−1) of the outputs as forms in the inputs."""
        return int(self.degree ** (len(self.widths) - 2))

    @property
    def coordinate_count(self) -> int:
        """The number of coefficients, d_l·C(d_0 − 1 + r^(l−1), d_0 − 1)."""
        return self.output_count * monomial_count(self.input_count, self.function_degree)

    def check_expandable(self) -> None:
        """Raise TooLargeError if there are more coordinates than can be written down."""
        most = MAX_COORDINATES
        if (self.input_count > 1 and self.function_degree > most) or self.coordinate_count > most:
            raise TooLargeError(
                f"this network has more than {most} coordinates, too many to write down; its dimension needs none",
            )

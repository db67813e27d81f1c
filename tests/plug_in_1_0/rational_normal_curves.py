"""Cones over rational normal curves: (s, t) ↦ (s^n, s^(n−1) t, …, t^n)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from m2bridge.errors import InvalidCaseError
from m2bridge.families.definition import Family, integer_option
from m2bridge.maps.model import Model
from m2bridge.maps.statement import GlobalStatement

if TYPE_CHECKING:
    from m2bridge.algebra.polynomial_map import PolynomialMap
    from m2bridge.maps.rank import ObservedRank

NAME = "rational-normal-curve"
TEXT = "The cone over the rational normal curve of degree n has dimension {}."
SOURCE = "Harris, Algebraic Geometry: A First Course, Example 1.14"


@dataclass(frozen=True)
class Cone(Model):
    """The cone over the rational normal curve of degree n."""

    n: int
    family: ClassVar[str] = NAME

    def __post_init__(self) -> None:
        if self.n < 1:
            raise InvalidCaseError("n", f"must be at least 1, not {self.n}")

    @property
    def key(self) -> str:
        return f"n{self.n}"

    @property
    def title(self) -> str:
        return f"cone over the rational normal curve of degree {self.n}"

    def to_json(self) -> dict[str, Any]:
        return {"n": self.n}

    def parametrization(self) -> PolynomialMap:
        from sympy import symbols

        from m2bridge.algebra.polynomial_map import PolynomialMap

        s, t = symbols("s t")
        return PolynomialMap.from_expressions(
            [s, t], {f"x_{i}": s ** (self.n - i) * t**i for i in range(self.n + 1)}
        )

    def statements(self) -> tuple[GlobalStatement[Cone], ...]:
        return STATEMENTS

    def observe(self, observables: Collection[str], *, certified: bool = False) -> ObservedRank:
        from m2bridge.maps.rank import observe_rank

        return observe_rank(self)


def _dimension(part: str, said: str, predict: Any) -> GlobalStatement[Cone]:
    return GlobalStatement(
        "dimension", part, TEXT.format(said), SOURCE, "dimension", predict, lambda cone: ""
    )


STATEMENTS = (
    _dimension("right", "2", lambda cone: 2),
    _dimension("wrong", "n", lambda cone: cone.n),
)


class Cones(Family[Cone]):
    """The cones over rational normal curves of all degrees."""

    name = NAME
    title = "rational normal curves"
    options = (integer_option("n", "degree of the curve"),)

    def build(self, **values: Any) -> Cone:
        return Cone(**values)

    def from_key(self, key: str) -> Cone:
        return Cone(int(key.removeprefix("n")))

    def statements(self) -> tuple[GlobalStatement[Cone], ...]:
        return STATEMENTS

    def effort(self, model: Cone) -> int:
        return model.n


FAMILY = Cones()

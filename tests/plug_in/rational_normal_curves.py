"""Cones over rational normal curves: (s, t) ↦ (s^n, s^(n−1) t, …, t^n)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import m2bridge  # whose names are imported when they are used
from m2bridge.plugins import (
    Family,
    GlobalStatement,
    Model,
    ObservedRank,
    integer_option,
    observe_rank,
)

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
            raise m2bridge.InvalidCaseError("n", f"must be at least 1, not {self.n}")

    @property
    def key(self) -> str:
        return f"n{self.n}"

    @property
    def title(self) -> str:
        return f"cone over the rational normal curve of degree {self.n}"

    def to_json(self) -> dict[str, Any]:
        return {"n": self.n}

    def parametrization(self) -> m2bridge.PolynomialMap:
        from sympy import symbols

        s, t = symbols("s t")
        monomials = {f"x_{i}": s ** (self.n - i) * t**i for i in range(self.n + 1)}
        return m2bridge.PolynomialMap.from_expressions([s, t], monomials)

    def statements(self) -> tuple[GlobalStatement[Cone], ...]:
        return STATEMENTS

    def observe(self, observables: Collection[str], *, certified: bool = False) -> ObservedRank:
        return observe_rank(self)


def _dimension(part: str, number: str, predict: Any) -> GlobalStatement[Cone]:
    return GlobalStatement(
        key="dimension",
        part=part,
        text=TEXT.format(number),
        source=SOURCE,
        observable="dimension",
        predict=predict,
        hypotheses=lambda cone: "",  # it applies to every cone
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
    sample: ClassVar[Mapping[str, str]] = {"n": "2"}

    def build(self, **values: Any) -> Cone:
        return Cone(**values)

    def from_key(self, key: str) -> Cone:
        return Cone(int(key.removeprefix("n")))

    def statements(self) -> tuple[GlobalStatement[Cone], ...]:
        return STATEMENTS

    def effort(self, model: Cone) -> int:
        return model.n


FAMILY = Cones()

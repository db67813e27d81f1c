"""The protocol of models serves single-layer attention, with relations, orbits and a second parametrization."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from m2bridge import Orbit, PolynomialMap, SingleLayerAttention, dimension
from m2bridge.errors import MethodUnavailableError
from m2bridge.families.attention.orbits import flatten, orbits, representative
from m2bridge.maps.chain import Chain
from m2bridge.maps.map_model import MapModel, as_model
from m2bridge.maps.model import DifferentiableModel, Model
from m2bridge.maps.rank import differentiable, rank_result


@dataclass(frozen=True)
class Attention(Model):
    """Attention with A as parameters, whose (a + 1)-minors vanish; Q and K are free parameters."""

    shape: SingleLayerAttention
    family: ClassVar[str] = "attention"
    key: ClassVar[str] = "case"
    title: ClassVar[str] = "attention"

    def to_json(self) -> dict[str, Any]:
        return {"d": self.shape.d}

    def parametrization(self) -> PolynomialMap:
        return self.shape.parametrization()

    def free_parametrization(self) -> PolynomialMap:
        return self.shape.parametrization(weights="factored")

    def gauge_dimension(self) -> int:
        """A rescaling of A against V, and GL_a acting on Q and K."""
        shape = self.shape
        return 2 * shape.a * shape.d - shape.alpha * (2 * shape.d - shape.alpha) + 1

    def orbits(self) -> tuple[Orbit, ...]:
        return orbits(self.shape)

    def representative(self, orbit: Orbit) -> tuple[int, ...]:
        return flatten(*representative(orbit, self.shape))


@pytest.mark.parametrize("numbers", [(2, 1), (2, 2), (3, 1, 1), (3, 2, 2), (2, 1, 3), (2, 1, 1)])
def test_the_dimension_of_attention(numbers: tuple[int, ...]) -> None:
    shape = SingleLayerAttention(*numbers)
    model = as_model(Attention(shape))
    assert isinstance(differentiable(model), Chain)
    found = rank_result(model)
    assert (found.lower, found.status) == (dimension(shape).dimension, "proved")


def test_capabilities_are_told_apart() -> None:
    model = Attention(SingleLayerAttention(3, 1, 1))
    assert isinstance(model, Model)
    assert not isinstance(model, DifferentiableModel)
    assert model.free_parametrization() is not None
    assert model.upper_bounds(0) == ()
    for orbit in model.orbits():
        point = model.representative(orbit)
        assert any(model.parametrization().evaluate(point))


def test_without_its_free_parametrization_attention_of_low_rank_has_no_rank() -> None:
    with pytest.raises(MethodUnavailableError, match="use elimination"):
        rank_result(MapModel(SingleLayerAttention(3, 1, 1).parametrization()))


def test_asking_for_capabilities_computes_nothing() -> None:
    """Large cases are asked too, and nothing is expanded to answer."""

    class Untouchable(Attention):
        def parametrization(self) -> PolynomialMap:
            raise AssertionError("expanded")

        free_parametrization = parametrization

        def gauge_dimension(self) -> int:
            raise AssertionError("computed")

    model = Untouchable(SingleLayerAttention(3, 1, 1))
    assert isinstance(model, Model)
    assert not isinstance(model, DifferentiableModel)

"""What a computation is about: an attention model, or any polynomial map."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.errors import InvalidCaseError
from m2bridge.families.attention.model import Coordinates, SingleLayerAttention, Weights
from m2bridge.families.attention.parametrization import coordinate_names


@dataclass(frozen=True, slots=True)
class Subject:
    """An attention model with a choice of coordinates and weights, or any polynomial map."""

    model: SingleLayerAttention | None = None
    coordinates: Coordinates | None = None
    weights: Weights = "attention"
    polynomial_map: PolynomialMap | None = None

    @classmethod
    def of(
        cls,
        case: SingleLayerAttention | PolynomialMap,
        coordinates: Coordinates | None = None,
        weights: Weights = "attention",
    ) -> Subject:
        """The subject of a computation on ``case``; the options are only for attention models.

        Raises
        ------
        InvalidCaseError
            If the case is neither, or the coordinates or weights do not exist.
        """
        if isinstance(case, PolynomialMap):
            return cls(polynomial_map=case)
        if not isinstance(case, SingleLayerAttention):
            kind = type(case).__name__
            raise InvalidCaseError("case", f"must be a SingleLayerAttention or a PolynomialMap, not a {kind}")
        system = coordinates or case.default_coordinates
        case.check_options(system, weights)
        return cls(case, system, weights)

    @property
    def parametrization(self) -> PolynomialMap:
        """The polynomial map.

        Raises
        ------
        InvalidCaseError
            If it is too large to be stored.
        """
        if self.polynomial_map is not None:
            return self.polynomial_map
        assert self.model is not None
        return _parametrization(self.model, self.coordinates, self.weights)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The names of the coordinates; for attention without building the map."""
        if self.model is None or self.coordinates is None:
            return self.parametrization.coordinates
        return _names(self.model, self.coordinates)

    def check_field(self, field: CoefficientField) -> None:
        """Raise InvalidCaseError if the map cannot be taken over this field; attention has integer coefficients."""
        if self.polynomial_map is not None:
            self.polynomial_map.check_field(field)

    @property
    def coordinate_count(self) -> int:
        """The number of coordinates, without building the map."""
        if self.model is None or self.coordinates is None:
            return len(self.parametrization.coordinates)
        return self.model.coordinate_count(self.coordinates)

    @property
    def title(self) -> str:
        """In words, on one line."""
        if self.model is None:
            return f"polynomial map to {len(self.parametrization.coordinates)} coordinates"
        return f"neuromanifold of lightning self-attention, {self.model}"

    @property
    def case(self) -> dict[str, int] | None:
        """The numbers of the attention model, for JSON."""
        return None if self.model is None else case_json(self.model)

    @property
    def ambient(self) -> str:
        """The ambient space, in words."""
        kind = f"{self.coordinates} coordinates" if self.coordinates else "coordinates"
        names = self.coordinate_names
        shown = ", ".join(names) if len(names) <= 6 else f"{names[0]}, …, {names[-1]}"
        return f"{len(names)} {kind} {shown}"


@lru_cache(maxsize=64)
def _names(model: SingleLayerAttention, coordinates: Coordinates) -> tuple[str, ...]:
    return coordinate_names(model, coordinates)


@lru_cache(maxsize=64)
def _parametrization(model: SingleLayerAttention, coordinates: Coordinates | None, weights: Weights) -> PolynomialMap:
    return model.parametrization(coordinates, weights)


def case_json(model: SingleLayerAttention) -> dict[str, int]:
    """The numbers of an attention model."""
    return {"d": model.d, "d_out": model.d_out, "a": model.a, "t": model.t}

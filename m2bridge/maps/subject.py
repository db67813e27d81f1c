"""What a computation is about: a model, in one of its coordinate systems."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from m2bridge.algebra.field import CoefficientField, check_is_field
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.errors import InvalidCaseError
from m2bridge.maps.map_model import MapModel, as_model
from m2bridge.maps.model import FreelyParametrized, HasCoordinateSystems, Model, NamesCoordinates

Case = Model | HasCoordinateSystems | PolynomialMap
"""What may be asked about."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A model as computations see it."""

    model: Model

    @classmethod
    def of(cls, case: Case, coordinates: str | None = None, weights: str | None = None) -> Subject:
        """The subject of a computation on ``case``; the options are for models that offer a choice.

        Raises
        ------
        InvalidCaseError
            If the case is neither a model nor a map, or the coordinates or weights do not exist.
        """
        if isinstance(case, HasCoordinateSystems):
            return cls(case.in_coordinates(coordinates, weights))
        model = as_model(case)
        for option, value in (("coordinates", coordinates), ("weights", weights)):
            if value is not None:
                raise InvalidCaseError(option, f"there is no choice for a {model.title}")
        return cls(model)

    @property
    def parametrization(self) -> PolynomialMap:
        """The polynomial map.

        Raises
        ------
        TooLargeError
            If it is too large to be stored.
        """
        return self.model.polynomial_map if isinstance(self.model, MapModel) else _parametrization(self.model)

    @property
    def free_parametrization(self) -> PolynomialMap:
        """A parametrization without relations, where the model has one; else the parametrization."""
        return _free(self.model) if isinstance(self.model, FreelyParametrized) else self.parametrization

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The names of the coordinates; where the model knows them, without building the map."""
        if isinstance(self.model, NamesCoordinates):
            return self.model.coordinate_names()
        return self.parametrization.coordinates

    def check_field(self, field: CoefficientField) -> None:
        """Raise InvalidCaseError if the map cannot be taken over this field."""
        check_is_field(field)
        if isinstance(self.model, MapModel):
            self.model.polynomial_map.check_field(field)

    @property
    def coordinate_count(self) -> int:
        """The number of coordinates; where the model knows it, without building the map."""
        if isinstance(self.model, NamesCoordinates):
            return self.model.coordinate_count
        return len(self.parametrization.coordinates)

    @property
    def title(self) -> str:
        """In words, on one line."""
        return self.model.title

    @property
    def case(self) -> dict[str, Any] | None:
        """What names the case in its family, for JSON; ``None`` for a bare map."""
        return None if isinstance(self.model, MapModel) else self.model.to_json()

    @property
    def ambient(self) -> str:
        """The ambient space, in words."""
        system = f"{self.model.coordinate_system} " if isinstance(self.model, NamesCoordinates) else ""
        names = self.coordinate_names
        shown = ", ".join(names) if len(names) <= 6 else f"{names[0]}, …, {names[-1]}"
        return f"{len(names)} {system}coordinates {shown}"


@lru_cache(maxsize=64)
def _parametrization(model: Model) -> PolynomialMap:
    return model.parametrization()


@lru_cache(maxsize=64)
def _free(model: FreelyParametrized) -> PolynomialMap:
    return model.free_parametrization()

"""A bare polynomial map as a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from m2bridge.algebra.field import CoefficientField, check_is_field
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.errors import InvalidCaseError, MethodUnavailableError
from m2bridge.ideals.ideal import Ideal
from m2bridge.maps.chain import Chain, Layer, check_outputs
from m2bridge.maps.model import DifferentiableModel, Model

TITLE = "polynomial map"


@dataclass(frozen=True, slots=True)
class MapModel(DifferentiableModel):
    """A polynomial map of which nothing is known but its polynomials.

    Parameters
    ----------
    polynomial_map : PolynomialMap
    title, key : str
        See :class:`~m2bridge.maps.model.Model`.
    """

    polynomial_map: PolynomialMap = field()  # in place of the property of the base class
    title: str = TITLE
    key: str = "map"
    family: ClassVar[str] = "map"

    def to_json(self) -> dict[str, Any]:
        """The map, with polynomials as text."""
        given = self.polynomial_map
        return {
            "parameters": list(given.source.variables),
            "relations": list(map(str, given.relations)),
            "coordinates": {name: str(image) for name, image in zip(given.coordinates, given.images, strict=True)},
        }

    def restricted_to(self, outputs: Sequence[str]) -> MapModel:
        """The same map followed by the projection to some of the coordinates.

        Raises
        ------
        InvalidCaseError
            If there is no coordinate of such a name, or none is left.
        """
        names = self.polynomial_map.coordinates
        check_outputs(outputs, names)
        chosen = self.polynomial_map.restricted_to([names.index(name) for name in outputs])
        return MapModel(chosen, self.title, self.key)

    def parametrization(self) -> PolynomialMap:
        """The map itself."""
        return self.polynomial_map

    @property
    def case(self) -> None:
        """None: a bare map has no numbers that name it."""
        return

    def check_field(self, field: CoefficientField) -> None:
        """Raise InvalidCaseError if the map cannot be taken over this field."""
        check_is_field(field)
        self.polynomial_map.check_field(field)

    def gauge_dimension(self) -> int:
        """Dimension of the torus of rescalings of the parameters that keep all images; 0 if there are relations."""
        return 0 if self.polynomial_map.relations else self._chain().gauge_dimension()

    @property
    def parameter_count(self) -> int:
        """The number of parameters."""
        return len(self.polynomial_map.source.variables)

    @property
    def input_count(self) -> int:
        """None: the map is from parameters to coordinates."""
        return 0

    @property
    def output_count(self) -> int:
        """The number of coordinates."""
        return len(self.polynomial_map.coordinates)

    def values(self, parameters: Sequence[int], inputs: Sequence[Sequence[int]], prime: int) -> list[list[int]]:
        """See :class:`~m2bridge.maps.model.DifferentiableModel`."""
        return self._chain().values(parameters, inputs, prime)

    def pullbacks(
        self, parameters: Sequence[int], inputs: Sequence[Sequence[int]], covectors: Sequence[Sequence[int]], prime: int
    ) -> list[list[int]]:
        """See :class:`~m2bridge.maps.model.DifferentiableModel`.

        Raises
        ------
        MethodUnavailableError
            If there are relations among the parameters.
        """
        return self._chain().pullbacks(parameters, inputs, covectors, prime)

    def _chain(self) -> Chain:
        if self.polynomial_map.relations:
            raise MethodUnavailableError("the parameters satisfy relations; use elimination")
        return Chain((Layer(self.polynomial_map),))


Case = Model | PolynomialMap
"""A model, or a map that becomes one."""


def as_model(case: Case, coordinates: str | None = None, weights: str | None = None) -> Model:
    """Return the model in a system of coordinates; a polynomial map as a :class:`MapModel`.

    Raises
    ------
    InvalidCaseError
        If the case is neither a model nor a map, or the coordinates or weights do not exist.
    """
    if isinstance(case, PolynomialMap):
        case = MapModel(case, f"{TITLE} to {len(case.coordinates)} coordinates")
    if not isinstance(case, Model):
        hint = "; an Ideal has methods of its own, such as singular_locus()" if isinstance(case, Ideal) else ""
        raise InvalidCaseError("case", f"must be a model or a PolynomialMap, not a {type(case).__name__}{hint}")
    return case.in_coordinates(coordinates, weights)

"""What general computations ask of a model on whose image a group acts with finitely many orbits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

if TYPE_CHECKING:
    from m2bridge.algebra.field import CoefficientField
    from m2bridge.algebra.polynomial_map import PolynomialMap
    from m2bridge.algebra.ring import GeneratingSet
    from m2bridge.engine import Engine
    from m2bridge.maps.agreement import LocusFindings
    from m2bridge.maps.closure_result import Closure
    from m2bridge.maps.model import Model


class NamedOrbit(Protocol):
    """An orbit with its place in tables and in JSON; hashable and ordered."""

    HEADER: ClassVar[tuple[str, ...]]
    LEGEND: ClassVar[str]

    @property
    def cells(self) -> tuple[int, ...]:
        """Under the header."""
        ...

    def to_json(self) -> dict[str, int]:
        """A dictionary for ``json.dumps``."""
        ...


@runtime_checkable
class OrbitMethods(Protocol):
    """Ways to find the singular locus orbit by orbit; tangent spaces and fibres are alike on an orbit."""

    def no_orbits(self) -> str:
        """Why orbits classify nothing for this model; empty if they do."""
        ...

    def no_fibres(self, field: CoefficientField) -> str:
        """Why fibres of the parametrization do not decide smoothness over this field; empty if they do."""
        ...

    def by_fibres(self, engine: Engine) -> LocusFindings:
        """From the fibre of the parametrization over one point of each orbit."""
        ...

    def by_bounds(self) -> LocusFindings:
        """From tangent vectors and equations of low degree at one point of each orbit, over QQ."""
        ...

    def by_orbits(self, found: Closure) -> LocusFindings:
        """From the whole ideal, by the Jacobian criterion at one point of each orbit."""
        ...

    @property
    def independent_count(self) -> int:
        """The number of linearly independent coordinates."""
        ...

    def orbit_closure(self, orbit: Any) -> PolynomialMap:
        """A parametrization of the Zariski closure of an orbit."""
        ...

    def identify(self, prime: GeneratingSet, dimension: int) -> Any | None:
        """The orbit whose closure is the variety of a prime ideal of this dimension, if there is one."""
        ...

    def zero_tangent_dimension(self) -> int:
        """Tangent dimension of the closure at zero."""
        ...


def with_orbits(model: Model) -> OrbitMethods | None:
    """The model, if its orbits are known and classify its points."""
    return model if isinstance(model, OrbitMethods) and not model.no_orbits() else None

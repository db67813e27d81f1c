"""The orbits of a case, ordered by inclusion of their closures: a Hasse diagram."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from m2bridge.drawn import Drawn
from m2bridge.engine import Engine
from m2bridge.errors import MethodUnavailableError, TooLargeError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.observation import observe
from m2bridge.families.attention.observed import Observations
from m2bridge.families.attention.orbits import Orbit, orbit_count
from m2bridge.families.attention.tangents import zero_tangent_dimension
from m2bridge.presented import Presented

MOST_ORBITS = 120
"""That can be told apart in a picture."""


@dataclass(frozen=True, slots=True)
class OrbitNode:
    """One orbit.

    Parameters
    ----------
    orbit : Orbit or None
        ``None`` for the zero function.
    dimension : int
        Affine.
    singular, boundary : bool or None
        Of the Zariski closure of the neuromanifold; ``None`` where it is undecided.
    """

    orbit: Orbit | None
    dimension: int
    singular: bool | None
    boundary: bool | None

    @property
    def name(self) -> str:
        """``(1, 1, 0)``, or ``0``."""
        return "0" if self.orbit is None else str(self.orbit)

    @property
    def state(self) -> str:
        """``boundary`` before all others; ``singular``, ``smooth`` or ``undecided``."""
        if self.boundary:
            return "boundary"
        return {True: "singular", False: "smooth", None: "undecided"}[self.singular]

    def below(self, other: OrbitNode) -> bool:
        """Whether it is another orbit, in the closure of ``other``."""
        if self.orbit is None or other.orbit is None:
            return self.orbit is None and other.orbit is not None
        return self.orbit != other.orbit and self.orbit.in_closure_of(other.orbit)


@dataclass(frozen=True, slots=True)
class OrbitDiagram(Drawn, Presented):
    """The orbits and the order of their closures.

    Parameters
    ----------
    model : SingleLayerAttention
    nodes : tuple of OrbitNode
        By dimension; the zero function first.
    covers : tuple of (OrbitNode, OrbitNode)
        Pairs of orbits, the first in the closure of the second, with no orbit in between: the edges.
    engine_version : str
    seconds : float
    unfinished : str
        The limit that was reached before all orbits were observed, or empty.

    Examples
    --------
    >>> diagram = orbit_diagram(SingleLayerAttention(d=2, d_out=1))
    >>> [(node.name, node.dimension, node.state) for node in diagram.nodes]
    [('0', 0, 'boundary'), ('(1, 1, 1)', 3, 'boundary'), ('(1, 1, 0)', 4, 'singular'), ('(2, 1, 1)', 5, 'smooth')]
    >>> [(low.name, high.name) for low, high in diagram.covers]
    [('0', '(1, 1, 1)'), ('(1, 1, 1)', '(1, 1, 0)'), ('(1, 1, 0)', '(2, 1, 1)')]
    """

    presentation: ClassVar[str] = "m2bridge.families.attention.presentation.orbit_diagram"
    picture: ClassVar[str] = "m2bridge.families.attention.presentation.orbit_picture"

    model: SingleLayerAttention
    nodes: tuple[OrbitNode, ...]
    covers: tuple[tuple[OrbitNode, OrbitNode], ...]
    engine_version: str
    seconds: float
    unfinished: str = ""

    def to_csv(self) -> str:
        """The orbits, and for each those that it covers."""
        return str(self._shown("csv"))


def orbit_diagram(
    model: SingleLayerAttention, engine: Engine | None = None, timeout: float | None = None
) -> OrbitDiagram:
    """Observe all orbits of a case, and order them by inclusion of closures.

    Raises
    ------
    MethodUnavailableError
        If t = 1, where orbits classify no functions, or there are more than :data:`MOST_ORBITS` orbits.
    EngineError
        If Macaulay2 failed, or a limit was reached before anything was observed.

    Examples
    --------
    >>> diagram = orbit_diagram(SingleLayerAttention(d=2, d_out=2))
    >>> len(diagram.nodes), len(diagram.covers)
    (6, 6)
    """
    if reason := model.in_coordinates().no_orbits():
        raise MethodUnavailableError(reason)
    if orbit_count(model) > MOST_ORBITS:
        raise TooLargeError(
            f"{orbit_count(model)} orbits are too many for a picture, which has {MOST_ORBITS}: take smaller numbers"
        )
    seen = observe(model, engine, timeout, degree=False)
    nodes = tuple(sorted((_zero(model, seen), *_nodes(seen)), key=lambda n: (n.dimension, n.orbit or Orbit(0, 0, 0))))
    return OrbitDiagram(model, nodes, covers(nodes), seen.engine_version, seen.seconds, seen.unfinished)


def _nodes(seen: Observations) -> Iterable[OrbitNode]:
    singular, boundary = seen.at_orbits("singular"), seen.at_orbits("boundary")
    for fact in seen.orbits:
        yield OrbitNode(fact.orbit, fact.dimension, _truth(singular[fact.orbit]), _truth(boundary[fact.orbit]))


def _truth(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _zero(model: SingleLayerAttention, seen: Observations) -> OrbitNode:
    """The apex of the cone: a limit of the boundary points unless d = 1."""
    return OrbitNode(None, 0, zero_tangent_dimension(model) > seen.dimension, model.d > 1)


def covers(nodes: tuple[OrbitNode, ...]) -> tuple[tuple[OrbitNode, OrbitNode], ...]:
    """The pairs with none in between."""
    return tuple(
        (low, high)
        for high in nodes
        for low in nodes
        if low.below(high) and not any(low.below(other) and other.below(high) for other in nodes)
    )

"""What is observed about the orbits of a case."""

from __future__ import annotations

from dataclasses import dataclass

from m2bridge.errors import EngineError
from m2bridge.families.attention.evidence import ObservedAttention
from m2bridge.families.attention.fibres import Fibre
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import Orbit, WeightPair, orbits


@dataclass(frozen=True, slots=True)
class OrbitFacts:
    """What was observed about one orbit.

    Parameters
    ----------
    orbit : Orbit
    dimension : int
        Of the orbit in function space (affine), by the tangent map of the group action.
    fibre : Fibre
        Of the projective parametrization.
    preimages : frozenset of (A, V)
        The points of the fibre, with A_11 = V_11 = 1.
    source_smooth : bool
        Whether {rk A ≤ α} is smooth at rank r: α = d or r = α.
    singular : bool or None
        Of the Zariski closure. True if the fibre is not one reduced point; if it is one, false where the source is
        smooth, and true where it is not and there are more tangent vectors than the dimension. Where the
        parametrization is not birational, what the bounds for the tangent dimension say. ``None``: undecided.
    critical : bool
        Of the projective parametrization: the differential is not injective on the Zariski tangent space.
    boundary : bool
        Limit of real points of the Zariski closure outside the neuromanifold: the fibre is not reduced.
    tangent_lower : int
        Lower bound for the tangent dimension, by explicit tangent vectors.
    tangent_witness : Orbit
        The orbit where these vectors are; its closure contains this one.
    tangent_upper : int or None
        Upper bound for the tangent dimension, by proved equations.

    Examples
    --------
    >>> seen = observe(SingleLayerAttention(d=2, d_out=1))
    >>> fact = seen.orbits[-1]
    >>> fact.orbit, fact.dimension, fact.singular, fact.tangent_dimension
    (Orbit(r=2, s=1, m=1), 5, False, 5)
    """

    orbit: Orbit
    dimension: int
    fibre: Fibre
    preimages: frozenset[WeightPair]
    source_smooth: bool
    singular: bool | None
    critical: bool
    boundary: bool
    tangent_lower: int
    tangent_witness: Orbit
    tangent_upper: int | None

    @property
    def tangent_dimension(self) -> int | None:
        """Affine tangent dimension, where the bounds meet."""
        return self.tangent_lower if self.tangent_lower == self.tangent_upper else None


@dataclass(frozen=True, slots=True)
class Observations(ObservedAttention):
    """What was observed about one case.

    Parameters
    ----------
    model : SingleLayerAttention
    orbits : tuple of OrbitFacts
        All orbits, or some of them if there is a ``limit``; then perhaps none, and else the dense one among them.
    dimension : int
        Affine: the largest orbit dimension.
    degree : int or None
        Of the closure, by the projection formula, held against a linear section where its points are few; ``None``
        where the base locus is not empty, no orbit was observed, or it was not asked for.
    closed : bool or None
        The base locus of the projective parametrization is empty, so its image is compact and the cone over it closed.
        ``None`` where no orbit was observed.
    products : bool
        Functions are determined by the products of their linear forms, linearly.
    boundary_family : bool
        Whether the explicit family of boundary points at (1, 1, 1) was verified.
    generic : Fibre or None
        The generic fibre; ``None`` where no orbit was observed.
    remarks : tuple of str
        Which independent methods agreed.
    engine_version : str
        Empty if no engine was used.
    seconds : float
    limit : EngineError or None
        The limit that was reached before all orbits were observed.

    Examples
    --------
    >>> seen = observe(SingleLayerAttention(d=2, d_out=1))
    >>> [str(fact.orbit) for fact in seen.orbits if fact.singular]
    ['(1, 1, 0)', '(1, 1, 1)']
    """

    model: SingleLayerAttention
    orbits: tuple[OrbitFacts, ...]
    dimension: int
    degree: int | None
    closed: bool | None
    products: bool
    boundary_family: bool
    generic: Fibre | None
    remarks: tuple[str, ...]
    engine_version: str = ""
    seconds: float = 0.0
    limit: EngineError | None = None

    @property
    def generic_fibre(self) -> Fibre:
        """The fibre over the dense orbit, where some orbit was observed."""
        assert self.generic is not None
        return self.generic

    @property
    def missing(self) -> tuple[Orbit, ...]:
        """The orbits that were not observed; none without a limit."""
        seen = {fact.orbit for fact in self.orbits}
        return tuple(orbit for orbit in orbits(self.model) if orbit not in seen)

    @property
    def unfinished(self) -> str:
        """The limit and how many orbits were done, in words; empty if all were."""
        return "" if self.limit is None else str(self.limit)

"""Observations of attention as cross-checks and certificates read them: see ``maps.observed.Observed``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from m2bridge.errors import EngineError
from m2bridge.families.attention.fibres import Fibre, Preimages
from m2bridge.families.attention.orbits import Orbit, orbits, representative
from m2bridge.families.attention.parametrization import IntegerMatrix, WeightPair
from m2bridge.families.attention.shape import Shape, zero_tangent_dimension
from m2bridge.families.attention.statements import singular
from m2bridge.maps.singular_locus_result import zero_text
from m2bridge.maps.statement import Value
from m2bridge.results.sheet import facts, table

FAMILY = Orbit(1, 1, 1)
"""The orbit to which the explicit family of boundary points tends."""

HEADER = ("rk A", "rk V", "dim L∩U", "dimension", "fibre", "points", "tangent", "", "critical", "boundary")
SAID = {True: "singular", False: "smooth", None: "undecided"}

AT_ORBITS: dict[str, Callable[[OrbitFacts], Value | None]] = {
    "singular": lambda fact: fact.singular,
    "critical": lambda fact: fact.critical,
    "boundary": lambda fact: fact.boundary,
    "boundary_critical": lambda fact: fact.boundary == fact.critical,
    "fibre_points": lambda fact: fact.fibre.points,
    "fibre": lambda fact: Preimages(fact.preimages),
}
"""For each observable of orbits how it is read."""

WHOLE: dict[str, Callable[[Observations], Value | None]] = {
    "closed": lambda seen: seen.closed or None,
    "zero_fibre": lambda seen: seen.closed,
    "products": lambda seen: seen.products,
    "dimension": lambda seen: seen.dimension,
    "birational": lambda seen: None if seen.generic is None else seen.generic.length == 1,
    "special_fibre_points": lambda seen: None if seen.missing else _special_fibre_points(seen),
    "degree": lambda seen: seen.degree,
    "smooth_manifold": lambda seen: _is_linear(seen),
}
"""For each observable of the closure as a whole how it is read; ``None`` where it takes orbits that are missing."""


def _special_fibre_points(seen: Observations) -> int:
    """The largest number of points of a fibre that has not the number of the generic one; 0 if there are none."""
    counts = {fact.fibre.points for fact in seen.orbits}
    return max(counts - {seen.generic_fibre.points}, default=0)


def _is_linear(seen: Observations) -> bool | None:
    """Whether the neuromanifold, which spans the space of its independent reduced coordinates, is all of it."""
    if seen.dimension < seen.model.independent_count:
        return False
    return True if seen.model.d == 1 else None


class ObservedAttention:
    """The methods; :class:`~m2bridge.families.attention.observed.Observations` has the values."""

    __slots__ = ()

    @property
    def weights(self) -> tuple[str, ...]:
        """Of a function."""
        return "A", "V"

    @property
    def progress(self: Observations) -> str:  # type: ignore[misc]
        """How many orbits were done until the limit; empty without one."""
        return "" if self.limit is None else self.limit.progress

    def value(self: Observations, observable: str) -> Value | None:  # type: ignore[misc]
        """See :data:`WHOLE`."""
        return WHOLE[observable](self)

    def unknown(self: Observations, observable: str) -> str:  # type: ignore[misc]
        """Why something was not observed."""
        return f"not known without all orbits; {self.unfinished}" if self.missing else "not decided by this method"

    def all_orbits(self: Observations) -> tuple[Orbit, ...]:  # type: ignore[misc]
        """Of nonzero functions."""
        return orbits(self.model)

    def at_orbits(self: Observations, observable: str) -> dict[Orbit, Value | None]:  # type: ignore[misc]
        """See :data:`AT_ORBITS`; boundary points are decided where the argument for them holds."""
        asked = ("boundary", "boundary_critical")
        return {
            fact.orbit: None
            if observable in asked and not self._boundary_decided(fact)
            else AT_ORBITS[observable](fact)
            for fact in self.orbits
        }

    def _boundary_decided(self: Observations, fact: OrbitFacts) -> bool:  # type: ignore[misc]
        """Boundary points need a family that tends to them; for others the lemma needs at most two in the fibre."""
        return (self.boundary_family and fact.orbit == FAMILY) if fact.boundary else fact.fibre.points <= 2

    def doubt(self: Observations, observable: str, doubtful: Sequence[Orbit]) -> str:  # type: ignore[misc]
        """Why orbits that were observed are undecided."""
        if observable != "singular":
            return (
                "an orbit has a fibre that is not reduced but no verified family of boundary points, or a larger fibre"
            )
        if self.generic_fibre.length > 1:
            return "the generic fibre is not one reduced point, so fibres do not decide smoothness"
        listed = ", ".join(map(str, doubtful))
        return f"the source seems to be singular, but no more tangent vectors than the dimension are known on {listed}"

    def numbers(self: Observations) -> dict[str, int]:  # type: ignore[misc]
        """The dimension."""
        return {"dimension": self.dimension}

    def witness(  # type: ignore[misc]
        self: Observations, failing: Sequence[Orbit]
    ) -> tuple[Orbit, Mapping[str, IntegerMatrix], dict[str, int]]:
        """At the largest of these orbits."""
        fact = max((f for f in self.orbits if f.orbit in failing), key=lambda f: (f.dimension, f.orbit))
        A, V = representative(fact.orbit, self.model)
        numbers = {
            "dimension": self.dimension,
            "tangent_dimension_at_least": fact.tangent_lower,
            "fibre_length": fact.fibre.length,
            "fibre_points": fact.fibre.points,
            "rank_A": fact.orbit.r,
            "generic_rank_A": self.model.alpha,
        }
        if fact.tangent_upper is not None:
            numbers["tangent_dimension_at_most"] = fact.tangent_upper
        return fact.orbit, {"A": A, "V": V}, numbers

    def certified(self: Observations) -> Observations:  # type: ignore[misc]
        """Without what a checker cannot recompute cheaply: upper bounds for tangent dimensions.

        Where the parametrization is not birational they decided which orbits are smooth, which is then open.
        """
        birational = self.generic_fibre.length == 1

        def part(fact: OrbitFacts) -> OrbitFacts:
            singular = fact.singular if birational else fact.tangent_lower > self.dimension or None
            return replace(fact, tangent_upper=None, singular=singular)

        return replace(self, orbits=tuple(map(part, self.orbits)))

    def evidence(self: Observations) -> dict[str, Any]:  # type: ignore[misc]
        """What a certificate holds."""
        return {
            "dimension": self.dimension,
            "degree": self.degree,
            "base_locus_empty": self.closed,
            "products_determine_functions": self.products,
            "boundary_family": self.boundary_family,
            "generic_fibre": {"length": self.generic_fibre.length, "points": self.generic_fibre.points},
            "orbits": [_evidence(fact) for fact in self.orbits],
        }

    def facts(self: Observations) -> list[tuple[str, str | None]]:  # type: ignore[misc]
        """Dimension, degree, and the point zero."""
        return [
            ("dimension", f"{self.dimension} affine"),
            ("degree", None if self.degree is None else str(self.degree)),
            ("at zero", zero_text(zero_tangent_dimension(self.model), self.dimension)),
        ]

    def table(self: Observations) -> tuple[str, Sequence[str], Sequence[Sequence[object]]] | None:  # type: ignore[misc]
        """The orbits, beside what Theorem 3.4 (iii) says of them."""
        if not self.orbits:
            return None
        return Orbit.LEGEND, (*HEADER, "Theorem 3.4 (iii) says"), [_row(fact, self) for fact in self.orbits]

    def to_text(self: Observations) -> str:  # type: ignore[misc]
        """For a person at a terminal."""
        shown = self.table()
        orbits = [] if shown is None else ["", f"  {shown[0]}", table(*shown[1:])]
        title = f"Observations of the {self.model.title}, over QQ"
        return "\n".join([title, facts([*self.facts(), *(("agreement", remark) for remark in self.remarks)]), *orbits])

    def __str__(self: Observations) -> str:  # type: ignore[misc]
        return self.to_text()

    def to_json(self: Observations) -> dict[str, Any]:  # type: ignore[misc]
        """A dictionary for ``json.dumps``."""
        return {
            "dimension": self.dimension,
            "degree": self.degree,
            "orbits": [_json(fact) for fact in self.orbits],
            "zero_tangent_dimension": zero_tangent_dimension(self.model),
        }


def _row(fact: OrbitFacts, seen: Observations) -> tuple[object, ...]:
    return (
        *fact.orbit.cells,
        fact.dimension,
        fact.fibre.length,
        fact.fibre.points,
        f"≥ {fact.tangent_lower}" if fact.tangent_dimension is None else f"= {fact.tangent_dimension}",
        SAID[fact.singular],
        "critical" if fact.critical else "",
        "boundary" if fact.boundary else "",
        SAID[singular(fact.orbit, seen.model)],
    )


def _json(fact: OrbitFacts) -> dict[str, Any]:
    return fact.orbit.to_json() | {
        "dimension": fact.dimension,
        "fibre_length": fact.fibre.length,
        "fibre_points": fact.fibre.points,
        "singular": fact.singular,
        "critical": fact.critical,
        "boundary": fact.boundary,
        "source_smooth": fact.source_smooth,
        "tangent_dimension": fact.tangent_dimension,
        "tangent_lower_bound": fact.tangent_lower,
        "tangent_upper_bound": fact.tangent_upper,
    }


def _evidence(fact: OrbitFacts) -> dict[str, Any]:
    return {
        "orbit": list(fact.orbit.cells),
        "dimension": fact.dimension,
        "fibre_length": fact.fibre.length,
        "fibre_points": fact.fibre.points,
        "source_smooth": fact.source_smooth,
        "singular": fact.singular,
        "critical": fact.critical,
        "boundary": fact.boundary,
        "tangent_lower_bound": fact.tangent_lower,
        "tangent_witness": list(fact.tangent_witness.cells),
    }


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
    model : Shape
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

    model: Shape
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

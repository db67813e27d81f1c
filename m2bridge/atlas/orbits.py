"""What certificates say about the orbits of a case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from m2bridge.atlas.content import Value
from m2bridge.certificate.schema import Certificate
from m2bridge.errors import ContradictionError
from m2bridge.layout import value_text
from m2bridge.report.content import Table

HEADER = ("orbit", "dimension", "tangent dimension", "fibre: length", "points", "singular", "critical", "boundary")
_FLAGS = ("singular", "critical", "boundary")

Orbit = tuple[int, ...]
Facts = dict[Orbit, Mapping[str, Any]]


def orbit_table(certificates: Mapping[str, Certificate]) -> Table | None:
    """One line for each orbit; tangent dimensions by equations where a certificate has all, else a lower bound."""
    facts, tangents = orbit_facts(certificates.values()), _tangents(certificates.values())
    lines = tuple(_line(orbit, facts.get(orbit, {}), tangents.get(orbit)) for orbit in sorted(facts | tangents))
    return Table(HEADER, lines) if lines else None


def orbit_facts(certificates: Iterable[Certificate]) -> Facts:
    """What certificates of statements say of each orbit.

    Raises
    ------
    ContradictionError
        If two of them do not agree.
    """
    found: Facts = {}
    for certificate in certificates:
        for facts in certificate.evidence.get("orbits", ()):
            if found.setdefault(tuple(facts["orbit"]), facts) != facts:
                raise ContradictionError(
                    f"certificates of {certificate.name} do not agree about orbit {facts['orbit']}"
                )
    return found


def _tangents(certificates: Iterable[Certificate]) -> dict[Orbit, Any]:
    """The tangent dimensions that the equations of the closure give."""
    return {
        tuple(facts["orbit"]): facts["dimension"]
        for certificate in certificates
        for facts in certificate.evidence.get("tangent_dimensions", ())
    }


def _line(orbit: Orbit, facts: Mapping[str, Any], tangent: int | None) -> tuple[str, ...]:
    bound = facts.get("tangent_lower_bound")
    if tangent is not None and bound is not None and tangent < bound:
        raise ContradictionError(f"at orbit {orbit} there are {bound} tangent vectors, and equations for {tangent}")
    shown = value_text(tangent) if tangent is not None else "–" if bound is None else f"≥ {bound}"
    numbers = (facts.get("fibre_length"), facts.get("fibre_points"), *(facts.get(flag) for flag in _FLAGS))
    return (value_text(list(orbit)), value_text(facts.get("dimension")), shown, *map(value_text, numbers))


def singular_values(certificates: Mapping[str, Certificate]) -> tuple[Value, ...]:
    """Which orbits are singular and which are smooth, and the dimension of the singular locus away from zero."""
    source = next((file for file, found in certificates.items() if found.evidence.get("orbits")), "")
    facts = orbit_facts(certificates.values())
    if not facts:
        return ()
    parts: dict[Any, list[Orbit]] = {}
    for orbit in sorted(facts):
        parts.setdefault(facts[orbit].get("singular"), []).append(orbit)
    sizes = [facts[orbit]["dimension"] for orbit in parts.get(True, ())]
    largest = f"{'at least ' if None in parts else ''}{max(sizes)}" if sizes else ""
    named = (("singular orbits", True), ("smooth orbits", False), ("undecided orbits", None))
    return (
        *(Value(name, _names(parts[key]), source) for name, key in named if key in parts),
        *((Value("largest dimension of a singular orbit", largest, source),) if largest else ()),
    )


def _names(orbits: Iterable[Orbit]) -> str:
    return ", ".join(value_text(list(orbit)) for orbit in orbits)

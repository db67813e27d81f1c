"""All that is said about the orbits of a case with t ≥ 2, from scratch; the same for all such t and all a ≥ d."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import Any

from m2bridge.certificate.difference import Difference, difference
from m2bridge.errors import ContradictionError, TooExpensiveError
from m2bridge.families.attention.checker.case import Case, Matrix, Orbit, dense, in_closure, orbits, representative
from m2bridge.families.attention.checker.fibres import fibre
from m2bridge.families.attention.checker.identities import (
    base_locus_is_empty,
    boundary_family,
    products_determine_functions,
)
from m2bridge.families.attention.checker.section import degree
from m2bridge.families.attention.checker.tangents import is_critical, orbit_dimension, source_is_smooth, tangent_bound

MOST_STEPS = 10**9
"""Of a case: orbits times squares of the number of weights; a second for 10⁷ of them, more or less."""
FACTS = {"orbit", "dimension", "fibre_length", "fibre_points", "source_smooth", "singular", "critical", "boundary"} | {
    "tangent_lower_bound",
    "tangent_witness",
}


@dataclass(frozen=True, slots=True)
class Observations:
    """The evidence, as a certificate has it, and for each orbit the points (A, V) of its fibre."""

    evidence: dict[str, Any]
    points: dict[Orbit, frozenset[tuple[Matrix, Matrix]]]


def observe(case: Case) -> Observations:
    """Everything about a case with t ≥ 2."""
    return _observe(case.d, case.d_out, case.alpha)


@lru_cache(maxsize=256)
def _observe(d: int, d_out: int, alpha: int) -> Observations:
    case = Case(d, d_out, alpha, 2)
    listed = orbits(case)
    fibres = {orbit: fibre(*representative(orbit, case), case) for orbit in listed}
    dimensions = {orbit: orbit_dimension(orbit, case) for orbit in listed}
    bounds = {orbit: tangent_bound(orbit, fibres[orbit][1], case) for orbit in listed}
    generic = max(listed, key=dimensions.__getitem__)
    length, points = fibres[generic]
    facts = []
    for orbit in listed:
        above = (o for o in listed if in_closure(orbit, o))
        witness = max(above, key=lambda o: (bounds[o], o == orbit, o))  # noqa: B023
        facts.append(_facts(orbit, case, dimensions, bounds[witness], witness, fibres[orbit], length))
    evidence = {
        "dimension": dimensions[generic],
        "degree": degree(case, length),
        "base_locus_empty": base_locus_is_empty(),
        "products_determine_functions": products_determine_functions(),
        "boundary_family": d > 1 and boundary_family(),
        "generic_fibre": {"length": length, "points": len(points)},
        "orbits": facts,
    }
    return Observations(evidence, {o: frozenset(_dense(pair, case) for pair in found[1]) for o, found in fibres.items()})


def _dense(pair: tuple[Any, Any], case: Case) -> tuple[Matrix, Matrix]:
    return dense(pair[0], case.d, case.d), dense(pair[1], case.d_out, case.d)


def _facts(
    orbit: Orbit,
    case: Case,
    dimensions: Mapping[Orbit, int],
    bound: int,
    witness: Orbit,
    found: tuple[int, list[Any]],
    generic_length: int,
) -> dict[str, Any]:
    """About one orbit. Where the generic fibre is one reduced point, fibres decide smoothness (a lemma)."""
    (length, points), smooth = found, source_is_smooth(orbit, case)
    many = True if bound > max(dimensions.values()) else None
    singular = many if generic_length > 1 else True if length > 1 else False if smooth else many
    critical, reduced = is_critical(orbit, case), length == len(points)
    if critical == reduced or (singular is False and many):
        raise ContradictionError(f"at orbit {orbit} of {case} fibre, differential and tangent vectors disagree")
    return {
        "orbit": list(orbit),
        "dimension": dimensions[orbit],
        "fibre_length": length,
        "fibre_points": len(points),
        "source_smooth": smooth,
        "singular": singular,
        "critical": critical,
        "boundary": not reduced,
        "tangent_lower_bound": bound,
        "tangent_witness": list(witness),
    }


def unpaid(evidence: Mapping[str, Any], case: Case) -> Difference | None:
    """Whether evidence lacks facts about all the orbits that it asks to be computed; TooExpensiveError for too many."""
    stored = evidence.get("orbits")
    count = len(stored) if isinstance(stored, list) else 0
    pairs = case.alpha * min(case.d, case.d_out)  # each pair (r, s) has an orbit
    if count < pairs:
        return Difference("evidence.orbits", f"{count} orbits", f"at least {pairs} orbits")
    steps = count * (comb(case.d + 1, 2) + case.d * case.d_out) ** 2
    if steps > MOST_STEPS:
        raise TooExpensiveError("case", f"fibres and ranks at {count} orbits take {steps:.0e} steps")
    assert isinstance(stored, list)
    if failure := difference(count, len(orbits(case)), "number of orbits"):
        return failure
    wrong = next((i for i, facts in enumerate(stored) if not (isinstance(facts, dict) and facts.keys() == FACTS)), None)
    return None if wrong is None else Difference(f"evidence.orbits[{wrong}]", f"{stored[wrong]!r:.80}", "facts")

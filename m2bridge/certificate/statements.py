"""The content of a certificate of a statement, as a function of what was observed, by whatever means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from m2bridge.crosscheck.compare import compare, not_applicable
from m2bridge.crosscheck.evidence import evidence_of
from m2bridge.crosscheck.verdict import Outcome
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.observed import Observations, OrbitFacts
from m2bridge.families.attention.statements import REGISTRY

RECHECKED = (
    "the list of orbits and their representatives",
    "dimension of every orbit, as the rank of its tangent map",
    "length and number of points of the fibre scheme over every orbit, by linear algebra on its equations",
    "rank of the differential at every orbit",
    "tangent vectors at every orbit, and equations of low degree where an upper bound is stored",
    "the base locus is empty",
    "the family of boundary points",
    "the points of every fibre, by solving quadratic equations",
    "degree, by the points of a linear section modulo 2^31 − 1 and the rechecked generic fibre, where it is stored",
    "ranks of the coefficients of an output token and of the products of linear forms",
    "every verdict with its reason and witness",
)


@dataclass(frozen=True, slots=True)
class Content:
    """The mathematical part of a certificate; fields as in :class:`~m2bridge.certificate.schema.Certificate`."""

    answer: dict[str, Any]
    evidence: dict[str, Any]
    recheckable: tuple[str, ...]
    trusted: tuple[str, ...]


def statement_content(question: str, model: SingleLayerAttention, seen: Observations | None) -> Content:
    """The verdicts on all statements with this number, and the observations behind them.

    Parameters
    ----------
    seen : Observations or None
        ``None`` for t = 1, where no statement applies.
    """
    statements = [statement for statement in REGISTRY if statement.key == question]
    if seen is None:
        verdicts = [not_applicable(statement, statement.hypotheses(model)) for statement in statements]
        return Content({"verdicts": [v.to_json() for v in verdicts]}, {}, ("the hypotheses, which fail",), ())
    verdicts = [compare(statement, seen) for statement in statements]
    said = (s for s, verdict in zip(statements, verdicts, strict=True) if verdict.verdict is not Outcome.UNDECIDED)
    trusted = tuple(dict.fromkeys(lemma for statement in said for lemma in evidence_of(statement).trusted))
    return Content({"verdicts": [v.to_json() for v in verdicts]}, _evidence(seen), RECHECKED, trusted)


def _evidence(seen: Observations) -> dict[str, Any]:
    return {
        "dimension": seen.dimension,
        "degree": seen.degree,
        "base_locus_empty": seen.closed,
        "products_determine_functions": seen.products,
        "boundary_family": seen.boundary_family,
        "generic_fibre": {"length": seen.generic_fibre.length, "points": seen.generic_fibre.points},
        "orbits": [_orbit(fact) for fact in seen.orbits],
    }


def _orbit(fact: OrbitFacts) -> dict[str, Any]:
    witness = fact.tangent_witness
    return {
        "orbit": [fact.orbit.r, fact.orbit.s, fact.orbit.m],
        "dimension": fact.dimension,
        "fibre_length": fact.fibre.length,
        "fibre_points": fact.fibre.points,
        "source_smooth": fact.source_smooth,
        "singular": fact.singular,
        "critical": fact.critical,
        "boundary": fact.boundary,
        "tangent_lower_bound": fact.tangent_lower,
        "tangent_witness": [witness.r, witness.s, witness.m],
        "tangent_upper_bound": fact.tangent_upper,
    }

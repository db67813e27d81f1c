"""What it takes to check a certificate, told from its size before anything is computed for it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import comb
from typing import Any

from m2bridge.certificate.difference import Difference, difference
from m2bridge.certificate.statements import statement_content
from m2bridge.checker.recheck import recheck
from m2bridge.errors import TooExpensiveError
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import orbits
from m2bridge.families.attention.statements import REGISTRY

MOST_ENTRIES = 10**10
"""Entries of the matrices behind the fibres of a case; a second or two for 10⁶ to 10⁷ of them."""

MOST_EXPONENTS = 5 * 10**7
"""Terms of all generators, times the number of coordinates."""

MOST_DEGREE = 100
"""Of a generator."""

MOST_MONOMIALS = 1_000_000
"""Of one degree, up to which the whole ideal is computed once more."""


def unpaid(evidence: Mapping[str, Any], model: SingleLayerAttention) -> Difference | None:
    """Whether a statement's certificate lacks the list of all facts about all orbits that it asks to be computed.

    Raises
    ------
    TooExpensiveError
        If there are too many of them, for t ≥ 2.
    """
    stored = evidence.get("orbits")
    count = len(stored) if isinstance(stored, list) else 0
    pairs = model.alpha * min(model.d, model.d_out)  # each pair (r, s) has an orbit
    if count < pairs:
        return Difference("evidence.orbits", f"{count} orbits", f"at least {pairs} orbits")
    entries = count * (pairs * comb(model.d + 1, 2) ** 2 + model.d * model.d_out)
    if entries > MOST_ENTRIES:
        raise TooExpensiveError("case", f"fibres of {count} orbits take {entries:.0e} entries of matrices")
    asked = orbits(model)
    if failure := difference(count, len(asked), "number of orbits"):
        return failure
    assert isinstance(stored, list)
    for i, (facts, orbit) in enumerate(zip(stored, asked, strict=True)):
        if not isinstance(facts, dict) or facts.keys() != _facts():
            return Difference(f"evidence.orbits[{i}]", f"{facts!r:.80}", f"facts about orbit {orbit}")
        if failure := difference(facts["orbit"], [orbit.r, orbit.s, orbit.m], f"evidence.orbits[{i}].orbit"):
            return failure
    return None


@cache
def _facts() -> frozenset[str]:
    """The names of the facts about an orbit, which are the same for all cases; from the smallest one."""
    smallest = SingleLayerAttention(1, 1)
    content = statement_content(REGISTRY[0].key, smallest, recheck(smallest))
    return frozenset(content.evidence["orbits"][0])


def check_length(texts: Any, coordinates: int) -> None:
    """Raise TooExpensiveError if generators have too many terms to be stored."""
    terms = sum(text.count(" ") // 2 + 1 for text in texts if isinstance(text, str)) if isinstance(texts, list) else 0
    if terms * coordinates > MOST_EXPONENTS:
        raise TooExpensiveError("length of the generators", f"{terms} terms in {coordinates} coordinates")


def check_degree(degree: int) -> None:
    """Raise TooExpensiveError if a polynomial of such a degree is not looked at."""
    if degree > MOST_DEGREE:
        raise TooExpensiveError("degree of a generator", f"{degree}; at most {MOST_DEGREE}")


def check_monomials(degree: int, coordinates: int) -> None:
    """Raise TooExpensiveError if the whole ideal up to a degree is out of reach."""
    if (count := comb(coordinates + degree - 1, degree)) > MOST_MONOMIALS:
        said = f"{count} of degree {degree} in {coordinates} coordinates; at most {MOST_MONOMIALS}"
        raise TooExpensiveError("monomials", said)

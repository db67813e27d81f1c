"""What a certificate for all sizes holds, and its check without Macaulay2."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import islpy as isl

from m2bridge.errors import ContradictionError, MethodUnavailableError
from m2bridge.families.attention.all_sizes import sizes
from m2bridge.families.attention.all_sizes.basis import Basis
from m2bridge.families.attention.all_sizes.decide import decide, prediction_of
from m2bridge.families.attention.all_sizes.exact_ideals import exact_ideals
from m2bridge.families.attention.all_sizes.fibre_theorem import Stratum
from m2bridge.families.attention.all_sizes.polynomials import Generators, order
from m2bridge.families.attention.all_sizes.result import Counterexample, SizesVerdict
from m2bridge.families.attention.statements import Statement

LONGEST = 2000
"""Characters of a set of sizes that is read; ours have less than 200."""

SETS = ("holds_for", "fails_for", "undecided_for", "vacuous_for", "sizes")
"""Fields that hold a set of sizes in the language of isl; one set can be written in many ways."""


def content(verdicts: Sequence[SizesVerdict], strata: Sequence[Stratum], basis: Basis) -> dict[str, Any]:
    """Answer and evidence, as data for ``json.dumps``."""
    return {
        "answer": {"verdicts": [_verdict(verdict) for verdict in verdicts]},
        "evidence": {
            "fibres": [stratum_json(stratum) for stratum in strata],
            "ideals": ideals_json(basis),
            "base_locus_empty": basis.base_locus_empty,
            "boundary_family": basis.boundary_family,
        },
    }


def _verdict(verdict: SizesVerdict) -> dict[str, Any]:
    return {
        "statement": verdict.statement,
        "part": verdict.part,
        "verdict": verdict.verdict,
        "holds_for": sizes.text(verdict.holds_for),
        "fails_for": sizes.text(verdict.fails_for),
        "undecided_for": sizes.text(verdict.undecided_for),
        "vacuous_for": sizes.text(verdict.vacuous_for),
        "not_applicable": [
            {
                "sizes": sizes.text(out.sizes),
                "holds_for": sizes.text(out.holds_for),
                "fails_for": sizes.text(out.fails_for),
                "undecided_for": sizes.text(out.undecided_for),
            }
            for out in verdict.not_applicable
        ],
        "counterexample": None if verdict.counterexample is None else counterexample_json(verdict.counterexample),
    }


def counterexample_json(found: Counterexample) -> dict[str, Any]:
    """Where a statement is false."""
    return {
        "d": found.model.d,
        "d_out": found.model.d_out,
        "a": found.model.a,
        "orbit": None if found.orbit is None else found.orbit.to_json(),
        "A": [list(row) for row in found.A],
        "V": [list(row) for row in found.V],
        "numbers": dict(found.numbers),
    }


def stratum_json(stratum: Stratum) -> dict[str, Any]:
    """Orbits with one kind of fibre."""
    return {
        "orbits": stratum.condition,
        "length": stratum.length,
        "points": stratum.points,
        "patterns": stratum.patterns,
        "ideals": [str(base) for base in stratum.bases],
    }


def ideals_json(basis: Basis) -> list[dict[str, Any]]:
    """The Gröbner bases: polynomials as lists of terms, exponents and coefficient, the largest first."""
    return [
        {**base.orbit.to_json(), "d": base.d, "groebner_basis": _generators(ideal)}
        for base, ideal in sorted(basis.ideals.items())
    ]


def _generators(ideal: Generators) -> list[list[list[Any]]]:
    listed = [sorted(polynomial, key=lambda term: order(term[0]), reverse=True) for polynomial in ideal]
    listed.sort(key=lambda terms: order(terms[0][0]), reverse=True)
    return [[[list(monomial), str(c)] for monomial, c in terms] for terms in listed]


def recheck(
    stored: Mapping[str, Any], statements: Sequence[Statement], base_locus_empty: bool, boundary_family: bool
) -> tuple[str, str, str] | None:
    """Compute the content from scratch, the ideals by linear algebra, and compare it with what is stored.

    Parameters
    ----------
    stored : mapping
        What :func:`content` returned, read back; anything else is a difference.
    statements : sequence of Statement
        Those that the certificate is about.
    base_locus_empty, boundary_family : bool
        The two identities, verified without Macaulay2.

    Returns
    -------
    tuple of str or None
        The place of the first difference, what is stored there, and what was found.
    """
    basis = Basis(exact_ideals(), base_locus_empty, boundary_family)
    try:
        strata, verdicts = decide(basis, [(statement, prediction_of(statement)) for statement in statements])
    except (ContradictionError, MethodUnavailableError) as reason:
        return "evidence", "", str(reason)
    return next(differences(stored, content(verdicts, strata, basis), ""), None)


def differences(stored: Any, found: Any, place: str) -> Iterator[tuple[str, str, str]]:
    """Where two values of JSON differ; texts of sets may differ if the sets do not."""
    if isinstance(found, dict) and isinstance(stored, Mapping) and set(stored) == set(found):
        for name, value in found.items():
            yield from differences(stored[name], value, f"{place}.{name}".lstrip("."))
    elif isinstance(found, list) and isinstance(stored, list) and len(stored) == len(found):
        for n, value in enumerate(found):
            yield from differences(stored[n], value, f"{place}[{n}]")
    elif type(stored) is not type(found) or (stored != found and not _same_set(stored, found, place)):
        yield place, repr(stored)[:200], repr(found)[:200]


def _same_set(stored: Any, found: Any, place: str) -> bool:
    if place.rpartition(".")[2] not in SETS or len(stored) > LONGEST or not re.fullmatch(r"\{[^{}]*\}", stored):
        return False  # the library ignores what follows a set
    try:
        read = isl.Set(stored)
    except isl.Error:
        return False
    return bool(read.get_space().is_equal(isl.Set(found).get_space()) and read.is_equal(isl.Set(found)))

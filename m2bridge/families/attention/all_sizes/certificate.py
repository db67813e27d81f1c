"""What a certificate for all sizes holds."""

from __future__ import annotations

from typing import Any

from m2bridge.certificate.schema import Content
from m2bridge.families.attention.all_sizes.basis import Basis
from m2bridge.families.attention.all_sizes.fibre_theorem import Stratum
from m2bridge.families.attention.all_sizes.polynomials import Generators, order
from m2bridge.families.attention.all_sizes.result import AllSizes, Counterexample, SizesVerdict
from m2bridge.families.attention.all_sizes.wording import canonical
from m2bridge.layout import matrix_text


def content(key: str, found: AllSizes) -> Content:
    """Answer, evidence and lemmas for the statements with this key.

    Raises
    ------
    MethodUnavailableError
        If a set of sizes has no canonical text.
    """
    verdicts = [verdict for verdict in found.verdicts if verdict.statement == key]
    evidence = {
        "fibres": [stratum_json(stratum) for stratum in found.strata],
        "ideals": ideals_json(found.basis),
        "base_locus_empty": found.basis.base_locus_empty,
        "boundary_family": found.basis.boundary_family,
    }
    decided = (verdict.trusted for verdict in verdicts if verdict.verdict != "UNDECIDED")
    trusted = tuple(dict.fromkeys(lemma for lemmas in decided for lemma in lemmas))
    return Content({"verdicts": [_verdict(verdict) for verdict in verdicts]}, evidence, trusted)


def _verdict(verdict: SizesVerdict) -> dict[str, Any]:
    return {
        "part": verdict.part,
        "text": verdict.text,
        "source": verdict.source,
        "verdict": verdict.verdict,
        "holds_for": canonical(verdict.holds_for),
        "fails_for": canonical(verdict.fails_for),
        "undecided_for": canonical(verdict.undecided_for),
        "vacuous_for": canonical(verdict.vacuous_for),
        "not_applicable": [
            {
                "sizes": canonical(out.sizes),
                "hypothesis": out.reason,
                "holds_for": canonical(out.holds_for),
                "fails_for": canonical(out.fails_for),
                "undecided_for": canonical(out.undecided_for),
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


def counterexample_text(found: dict[str, Any]) -> str:
    """The same in words, from the data."""
    where = f"(d, d', a) = ({found['d']}, {found['d_out']}, {found['a']})"
    if found["orbit"] is None:
        return where
    orbit = f"orbit ({', '.join(str(found['orbit'][name]) for name in 'rsm')})"
    weights = [f"{name} = {matrix_text(found[name])}" for name in ("A", "V")]
    numbers = [f"{name.replace('_', ' ')} {value}" for name, value in found["numbers"].items()]
    return ", ".join((where, orbit, *weights, *numbers))


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

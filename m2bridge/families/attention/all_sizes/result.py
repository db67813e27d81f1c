"""What a cross-check for all sizes says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import islpy as isl

from m2bridge.certificates.schema import Content
from m2bridge.families.attention.all_sizes import sizes
from m2bridge.families.attention.all_sizes.facts import Basis
from m2bridge.families.attention.all_sizes.fibre_theorem import Stratum
from m2bridge.families.attention.all_sizes.sizes import Generators, canonical, order, words
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import Orbit
from m2bridge.families.attention.parametrization import IntegerMatrix
from m2bridge.results.base import Decided, Decision, Presented
from m2bridge.results.sheet import Facts, Finding, Findings, Sheet, Table, duration, matrix_text

SCOPE = "all d, d', a ≥ 1 and all t ≥ 2, in characteristic 0"


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """Sizes to which a statement does not apply, and whether what it says is so there all the same.

    Parameters
    ----------
    sizes : set of sizes
    reason : str
        Which hypothesis fails.
    holds_for, fails_for, undecided_for : sets of sizes
        Parts of them.
    """

    sizes: isl.Set
    reason: str
    holds_for: isl.Set
    fails_for: isl.Set
    undecided_for: isl.Set


@dataclass(frozen=True, slots=True)
class Counterexample:
    """The first size for which a statement is false, and the largest orbit where it is.

    Parameters
    ----------
    model : SingleLayerAttention
    orbit : Orbit or None
        ``None`` if the statement is not about orbits.
    A, V : matrices of int
        Weights of a function in the orbit; empty without an orbit.
    numbers : dict of str to int
        What shows it: the dimension, the tangent dimension.
    """

    model: SingleLayerAttention
    orbit: Orbit | None = None
    A: IntegerMatrix = ()
    V: IntegerMatrix = ()
    numbers: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SizesVerdict:
    """The verdict on one statement for all sizes.

    Parameters
    ----------
    statement, part, text, source : str
        See :class:`m2bridge.maps.statement.OrbitStatement`.
    decision : Decision
        REFUTED if it is false for some size to which it applies; else UNDECIDED if the facts leave some size open.
    holds_for, fails_for, undecided_for : sets of sizes
        Together all sizes to which it applies.
    vacuous_for : set of sizes
        Those among ``holds_for`` without any function that it is about.
    not_applicable : tuple of NotApplicable
    counterexample : Counterexample or None
    computed, trusted : tuple of str
        What was computed for this verdict, and the lemmas on which it rests, with their proofs or sources.
    """

    statement: str
    part: str
    text: str
    source: str
    decision: Decision
    holds_for: isl.Set
    fails_for: isl.Set
    undecided_for: isl.Set
    vacuous_for: isl.Set
    not_applicable: tuple[NotApplicable, ...]
    counterexample: Counterexample | None
    computed: tuple[str, ...]
    trusted: tuple[str, ...]

    @property
    def name(self) -> str:
        """``3.4 (iii)``."""
        return f"{self.statement} ({self.part})" if self.part else self.statement


@dataclass(frozen=True, slots=True)
class AllSizes(Decided, Presented):
    """Verdicts on statements for all sizes, and the theorem about fibres on which they rest.

    Parameters
    ----------
    verdicts : tuple of SizesVerdict
    strata : tuple of Stratum
        The fibre over every orbit.
    basis : Basis
        What Macaulay2 computed.
    engine_version : str
        Empty if Macaulay2 was not used.
    seconds : float
    not_stated : tuple of str
        Names of the statements that were asked about and are not stated for all sizes.
    unfinished : str
        Empty, or the limit that was reached, and which statements were decided before.

    Examples
    --------
    >>> with Macaulay2() as engine:
    ...     found = cross_check_all_sizes(engine)
    >>> len(found.strata)
    4
    """

    presentation: ClassVar[str] = "m2bridge.families.attention.all_sizes.result"

    verdicts: tuple[SizesVerdict, ...]
    strata: tuple[Stratum, ...]
    basis: Basis
    engine_version: str
    seconds: float
    not_stated: tuple[str, ...] = ()
    unfinished: str = ""


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
    decided = (verdict.trusted for verdict in verdicts if verdict.decision is not Decision.UNDECIDED)
    trusted = tuple(dict.fromkeys(lemma for lemmas in decided for lemma in lemmas))
    return Content({"verdicts": [_verdict(verdict) for verdict in verdicts]}, evidence, trusted)


def _verdict(verdict: SizesVerdict) -> dict[str, Any]:
    return {
        "part": verdict.part,
        "text": verdict.text,
        "source": verdict.source,
        "verdict": str(verdict.decision),
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


def json(found: AllSizes) -> dict[str, Any]:
    """Every verdict with its sets of sizes, and what was computed."""
    return {
        "scope": SCOPE,
        "field": "QQ",
        "engine": {"version": found.engine_version or None},
        "seconds": round(found.seconds, 3),
        "verdicts": [verdict_json(verdict) for verdict in found.verdicts],
        "not_stated": list(found.not_stated),
        **({"unfinished": found.unfinished} if found.unfinished else {}),
        "fibres": [stratum_json(stratum) for stratum in found.strata],
        "base_locus_empty": found.basis.base_locus_empty,
        "boundary_family": found.basis.boundary_family,
        "ideals": ideals_json(found.basis),
    }


def verdict_json(verdict: SizesVerdict) -> dict[str, Any]:
    """One verdict."""
    return {
        "statement": verdict.statement,
        "part": verdict.part,
        "text": verdict.text,
        "source": verdict.source,
        "verdict": str(verdict.decision),
        "holds_for": set_json(verdict.holds_for),
        "fails_for": set_json(verdict.fails_for),
        "undecided_for": set_json(verdict.undecided_for),
        "vacuous_for": set_json(verdict.vacuous_for),
        "not_applicable": [_not_applicable_json(out) for out in verdict.not_applicable],
        "counterexample": None if verdict.counterexample is None else counterexample_json(verdict.counterexample),
        "computed": list(verdict.computed),
        "trusted": list(verdict.trusted),
    }


def set_json(some: isl.Set) -> dict[str, str]:
    """A set of sizes: for people, and exactly, in the language of the library isl."""
    return {"words": words(some), "isl": sizes.text(some)}


def _not_applicable_json(out: NotApplicable) -> dict[str, Any]:
    return {
        "sizes": set_json(out.sizes),
        "reason": out.reason,
        "conclusion_holds_for": set_json(out.holds_for),
        "conclusion_fails_for": set_json(out.fails_for),
        "conclusion_undecided_for": set_json(out.undecided_for),
    }


def sheet(found: AllSizes) -> Sheet:
    """The theorem about fibres, and the verdicts."""
    used = {base for stratum in found.strata for base in stratum.bases}
    engine = f"Macaulay2 {found.engine_version}" if found.engine_version else "exact linear algebra (FLINT)"
    ideals = f"{len(found.basis.ideals)} fibre ideals of small cases; {len(used)} of them have the patterns below"
    rows = [(_signs(s.condition), s.length, s.points, s.patterns) for s in found.strata]
    legend = "Fibres over the orbits (r = rk A, s = rk V, m = dim of the intersection of column space and row space)"
    return Sheet(
        f"Cross-check of lightning self-attention for {SCOPE}",
        [
            Facts(
                [
                    ("ideals", ideals),
                    ("not stated for all sizes", ", ".join(found.not_stated) or None),
                    ("computed by", f"{engine}, {duration(found.seconds)}"),
                    ("not finished", found.unfinished or None),
                ]
            ),
            Table(("orbits", "length", "points", "patterns of entries"), rows, legend),
            Findings([_finding(verdict) for verdict in found.verdicts]),
        ],
    )


def _finding(verdict: SizesVerdict) -> Finding:
    said = [
        ("false for", verdict.fails_for),
        ("not decided for", verdict.undecided_for),
        ("true for", verdict.holds_for),
        ("vacuous for", verdict.vacuous_for),
    ]
    lines = [f"{name} {words(some)}" for name, some in said if not some.is_empty()]
    lines += [_not_applicable_text(out) for out in verdict.not_applicable]
    if verdict.counterexample is not None:
        lines.append(f"the first counterexample: {counterexample_text(counterexample_json(verdict.counterexample))}")
    return Finding(str(verdict.decision), verdict.name, verdict.text, lines)


def _not_applicable_text(out: NotApplicable) -> str:
    said = [
        ("would be true", out.holds_for),
        ("would be false", out.fails_for),
        ("is not decided here", out.undecided_for),
    ]
    parts = [(name, some) for name, some in said if not some.is_empty()]
    conclusion = parts[0][0] if len(parts) == 1 else ", ".join(f"{name} for {words(some)}" for name, some in parts)
    return f"does not apply for {words(out.sizes)}: {out.reason}; there it {conclusion}"


def _signs(condition: str) -> str:
    return condition.replace(">=", "≥").replace("<=", "≤")


def macaulay2(found: AllSizes) -> str:
    """For each statement the verdict and the sizes for which it is false, as a Macaulay2 hash table."""
    entries = ", ".join(f'"{v.name}" => {{"{v.decision}", "false for {words(v.fails_for)}"}}' for v in found.verdicts)
    return f"verdicts = hashTable {{{entries}}}"

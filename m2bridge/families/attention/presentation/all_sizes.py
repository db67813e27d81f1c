"""A cross-check for all sizes for people and programs."""

from __future__ import annotations

from typing import Any

import islpy as isl

from m2bridge.families.attention.all_sizes import sizes
from m2bridge.families.attention.all_sizes.certificate import (
    counterexample_json,
    counterexample_text,
    ideals_json,
    stratum_json,
)
from m2bridge.families.attention.all_sizes.result import SCOPE, AllSizes, NotApplicable, SizesVerdict
from m2bridge.families.attention.all_sizes.wording import words
from m2bridge.layout import duration
from m2bridge.sheet import Facts, Finding, Findings, Sheet, Table


def json(found: AllSizes) -> dict[str, Any]:
    """Every verdict with its sets of sizes, and what was computed."""
    return {
        "scope": SCOPE,
        "field": "QQ",
        "engine": {"version": found.engine_version or None},
        "seconds": round(found.seconds, 3),
        "verdicts": [verdict_json(verdict) for verdict in found.verdicts],
        "not_stated": list(found.not_stated),
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
        "verdict": verdict.verdict,
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
    return Finding(str(verdict.verdict), verdict.name, verdict.text, lines)


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
    entries = ", ".join(f'"{v.name}" => {{"{v.verdict}", "false for {words(v.fails_for)}"}}' for v in found.verdicts)
    return f"verdicts = hashTable {{{entries}}}"

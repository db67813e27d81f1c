"""A cross-check for people and programs."""

from __future__ import annotations

from typing import Any

from m2bridge.algebra.field import QQ
from m2bridge.crosscheck.cross_check import CrossCheck
from m2bridge.crosscheck.verdict import Verdict
from m2bridge.layout import matrix_text
from m2bridge.presented import computed_by, result_json
from m2bridge.sheet import Block, Facts, Finding, Findings, Sheet, Table


def json(found: CrossCheck) -> dict[str, Any]:
    """What was observed, the verdicts, and what was compared."""
    seen = found.observations
    case = result_json(found.model.to_json(), QQ, found.engine_version or None, found.seconds)
    return (
        case
        | (_NOTHING if seen is None else seen.to_json())
        | {
            "verdicts": [verdict.to_json() for verdict in found.verdicts],
            "remarks": [] if seen is None else list(seen.remarks),
            "unfinished": found.unfinished or None,
        }
    )


_NOTHING: dict[str, Any] = {"dimension": None, "degree": None, "orbits": [], "zero_tangent_dimension": None}


def sheet(found: CrossCheck) -> Sheet:
    """Numbers of the case, a table of its orbits, and the verdicts."""
    seen = found.observations
    named = [] if seen is None else seen.facts()
    remarks = () if seen is None else seen.remarks
    known = [
        *named,
        ("computed by", computed_by(found.engine_version, found.seconds)),
        *(("agreement", remark) for remark in remarks),
        ("not finished", found.unfinished or None),
    ]
    blocks: list[Block] = [Facts(known)]
    if seen is not None and (shown := seen.table()):
        caption, header, rows = shown
        blocks.append(Table(header, rows, caption))
    blocks.append(Findings([_finding(verdict) for verdict in found.verdicts]))
    return Sheet(f"Cross-check of the {found.model.title}, over QQ", blocks)


def _finding(verdict: Verdict) -> Finding:
    remarks = []
    witness = verdict.witness
    if witness is not None and witness.orbit is not None:
        weights = ", ".join(f"{name} = {matrix_text(matrix)}" for name, matrix in witness.weights.items())
        numbers = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in witness.numbers.items())
        remarks = [f"witness: {weights}", numbers]
    return Finding(str(verdict.verdict), verdict.name, verdict.text, (verdict.reason,), remarks)


def macaulay2(found: CrossCheck) -> str:
    """The verdicts as a Macaulay2 hash table."""
    entries = ", ".join(f'"{v.name}" => "{v.verdict}"' for v in found.verdicts)
    return f"verdicts = hashTable {{{entries}}}"

"""A cross-check for people and programs."""

from __future__ import annotations

from typing import Any

from m2bridge.algebra.field import QQ
from m2bridge.crosscheck.cross_check import CrossCheck
from m2bridge.crosscheck.verdict import Verdict
from m2bridge.layout import facts, matrix_text, table
from m2bridge.presented import computed_by, result_json


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


def text(found: CrossCheck) -> str:
    """Numbers of the case, a table of its orbits, and the verdicts."""
    seen = found.observations
    named = [] if seen is None else seen.facts()
    remarks = () if seen is None else seen.remarks
    parts = [
        f"Cross-check of the {found.model.title}, over QQ",
        facts(
            [
                *named,
                ("computed by", computed_by(found.engine_version, found.seconds)),
                *(("agreement", remark) for remark in remarks),
                ("not finished", found.unfinished or None),
            ]
        ),
    ]
    if seen is not None and (shown := seen.table()):
        title, header, rows = shown
        parts += ["", f"  {title}", table(header, rows)]
    return "\n".join([*parts, "", *map(_verdict_text, found.verdicts)])


def _verdict_text(verdict: Verdict) -> str:
    lines = [f"  {verdict.verdict:<14}  {verdict.name}: {verdict.text}", f"  {'':14}  → {verdict.reason}"]
    witness = verdict.witness
    if witness is not None and witness.orbit is not None:
        weights = ", ".join(f"{name} = {matrix_text(matrix)}" for name, matrix in witness.weights.items())
        lines.append(f"  {'':14}  witness: {weights}")
        numbers = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in witness.numbers.items())
        lines.append(f"  {'':14}  {numbers}")
    return "\n".join(lines)


def latex(found: CrossCheck) -> str:
    """A table of the verdicts."""
    rows = " \\\\\n".join(f"{v.name} & {v.verdict.replace('_', ' ').lower()}" for v in found.verdicts)
    return f"\\begin{{tabular}}{{ll}}\n{rows}\n\\end{{tabular}}"


def macaulay2(found: CrossCheck) -> str:
    """The verdicts as a Macaulay2 hash table."""
    entries = ", ".join(f'"{v.name}" => "{v.verdict}"' for v in found.verdicts)
    return f"verdicts = hashTable {{{entries}}}"

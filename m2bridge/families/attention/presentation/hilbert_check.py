"""A comparison of Hilbert functions for people and programs."""

from __future__ import annotations

from typing import Any

from m2bridge.families.attention.hilbert_check import SOURCE, TEXT, HilbertCheck
from m2bridge.layout import duration
from m2bridge.sheet import Block, Facts, Finding, Findings, Sheet, Table

SHOWN = 12
"""Values that are written."""


def json(found: HilbertCheck) -> dict[str, Any]:
    """The verdict and both functions."""
    return {
        "case": {"d": found.model.d, "d_out": found.model.d_out, "a": found.model.a, "t": found.model.t},
        "field": "QQ",
        "engine": {"version": found.engine_version or None},
        "seconds": round(found.seconds, 3),
        "verdicts": [
            {"statement": "hilbert", "part": "", "text": TEXT, "source": SOURCE, "verdict": found.verdict}
            | {"reason": found.reason}
        ],
        "computed": list(found.computed),
        "predicted": list(found.predicted),
        "all_degrees": found.all_degrees,
        "unfinished": found.unfinished or None,
    }


def sheet(found: HilbertCheck) -> Sheet:
    """A table of values, and the verdict."""
    blocks: list[Block] = []
    if found.computed:
        rows = list(enumerate(zip(found.computed, found.predicted, strict=True)))[:SHOWN]
        blocks.append(Facts([("computed in", duration(found.seconds)), ("not finished", found.unfinished or None)]))
        blocks.append(Table(("n", "computed", "predicted"), [(n, *values) for n, values in rows]))
    blocks.append(Findings([Finding(found.verdict, "hilbert", TEXT, (found.reason,))]))
    values = ", ".join(map(str, found.computed[:SHOWN]))
    title = f"Hilbert function of the Zariski closure, lightning self-attention, {found.model}, over QQ"
    return Sheet(title, blocks, [rf"H = ({values}, \dots)"] if values else [])


def macaulay2(found: HilbertCheck) -> str:
    """Both functions as Macaulay2 lists."""
    computed, predicted = (", ".join(map(str, values)) for values in (found.computed, found.predicted))
    return f"computed = {{{computed}}}\npredicted = {{{predicted}}}"

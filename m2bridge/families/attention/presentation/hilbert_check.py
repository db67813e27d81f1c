"""A comparison of Hilbert functions for people and programs."""

from __future__ import annotations

from typing import Any

from m2bridge.families.attention.hilbert_check import SOURCE, TEXT, HilbertCheck
from m2bridge.layout import duration, facts, table

SHOWN = 12
"""Values in the text form."""


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


def text(found: HilbertCheck) -> str:
    """A table of values, and the verdict."""
    parts = [f"Hilbert function of the Zariski closure, lightning self-attention, {found.model}, over QQ"]
    if found.computed:
        rows = list(enumerate(zip(found.computed, found.predicted, strict=True)))[:SHOWN]
        parts.append(table(("n", "computed", "predicted"), [(n, *values) for n, values in rows]))
        parts.append(facts([("computed in", duration(found.seconds)), ("not finished", found.unfinished or None)]))
    parts.append(f"  {found.verdict:<14}  hilbert: {TEXT}\n  {'':14}  → {found.reason}")
    return "\n\n".join(parts)


def latex(found: HilbertCheck) -> str:
    """The computed values."""
    values = ", ".join(map(str, found.computed))
    dots = r", \dots" if values else ""
    return rf"H = ({values}{dots}) \quad \text{{{found.verdict.replace('_', ' ').lower()}}}"


def macaulay2(found: HilbertCheck) -> str:
    """Both functions as Macaulay2 lists."""
    computed, predicted = (", ".join(map(str, values)) for values in (found.computed, found.predicted))
    return f"computed = {{{computed}}}\npredicted = {{{predicted}}}"

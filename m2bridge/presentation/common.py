"""What the forms of several results share."""

from __future__ import annotations

from typing import Any

from m2bridge.layout import duration


def result_json(case: dict[str, Any] | None, field: object, engine: str | None, seconds: float) -> dict[str, Any]:
    """The fields that every JSON result begins with."""
    return {"case": case, "field": str(field), "engine": {"version": engine}, "seconds": round(seconds, 3)}


def computed_by(engine: str | None, seconds: float, method: str = "") -> str:
    """Who did the work, how, and how long it took."""
    worker = f"Macaulay2 {engine}" if engine else "exact linear algebra (FLINT)"
    return ", ".join(filter(None, (worker, method, duration(seconds))))

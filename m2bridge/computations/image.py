"""Everything about the image of a polynomial map: closure, generic fibre, base locus."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from m2bridge.computations.closure import closure
from m2bridge.computations.closure_result import Closure, Strategy
from m2bridge.computations.elimination import elimination_values
from m2bridge.computations.subject import Clock
from m2bridge.engine import Engine
from m2bridge.errors import EngineMemoryError, EngineTimeoutError
from m2bridge.layout import facts
from m2bridge.model.field import QQ, CoefficientField
from m2bridge.model.polynomial_map import PolynomialMap
from m2bridge.parse import parse
from m2bridge.render import Script, render


@dataclass(frozen=True, slots=True)
class Image:
    """The closure of the image of a polynomial map, and how the map gets there.

    Parameters
    ----------
    closure : Closure
    title : str
    source_dimension : int or None
        Dimension of the variety of parameters.
    base_locus_dimension : int or None
        Of the parameters at which all coordinates vanish; −1 when there are none. The projective map is not defined
        there.
    unfinished : str
        Empty, or the limit that was reached.
    """

    closure: Closure
    title: str
    source_dimension: int | None
    base_locus_dimension: int | None
    unfinished: str = ""

    @property
    def generic_fibre_dimension(self) -> int | None:
        """Dimension of the source less that of the image; ``None`` where the latter is only bounded."""
        found = self.closure
        if self.source_dimension is None or found.dimension is None or found.dimension_status != "proved":
            return None
        return self.source_dimension - found.dimension

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``."""
        return self.closure.to_json() | {
            "title": self.title or None,
            "source_dimension": self.source_dimension,
            "generic_fibre_dimension": self.generic_fibre_dimension,
            "base_locus_dimension": self.base_locus_dimension,
            "unfinished": self.unfinished or None,
        }

    def to_text(self) -> str:
        """For a person at a terminal."""
        dimensions = [
            ("source", self.source_dimension),
            ("generic fibre", self.generic_fibre_dimension),
            ("base locus", self.base_locus_dimension),
        ]
        known = facts((name, "empty" if d == -1 else f"dimension {d}") for name, d in dimensions if d is not None)
        return "\n".join(filter(None, [self.title, known, self.closure.to_text()]))

    def to_latex(self) -> str:
        """The ideal of the closure."""
        return self.closure.to_latex()

    def to_macaulay2(self) -> str:
        """A Macaulay2 program that defines the ideal of the closure."""
        return self.closure.to_macaulay2()


def image(
    polynomial_map: PolynomialMap,
    engine: Engine,
    field: CoefficientField = QQ,
    *,
    title: str = "",
    strategy: Strategy = "auto",
    max_degree: int | None = None,
    timeout: float | None = None,
) -> Image:
    """Closure of the image, dimension of the generic fibre and of the base locus.

    Parameters
    ----------
    polynomial_map : PolynomialMap
        Its source should be irreducible.
    engine : Engine
    field, strategy, max_degree, timeout
        As for :func:`m2bridge.computations.closure.closure`.

    Source: Hartshorne, *Algebraic Geometry*, Exercise II.3.22 (dimension of fibres).
    """
    clock = Clock(timeout)
    unfinished = ""
    try:
        answer = parse(engine.run(base_locus_script(polynomial_map, field, title), clock.remaining).records)
    except (EngineTimeoutError, EngineMemoryError) as limit:
        answer, unfinished = parse(limit.records), str(limit)
    found = closure(polynomial_map, engine, field, strategy=strategy, max_degree=max_degree, timeout=clock.remaining)
    return Image(
        replace(found, seconds=clock.seconds),
        title,
        answer.integer("source_dimension") if "source_dimension" in answer else None,
        answer.integer("base_locus_dimension") if "base_locus_dimension" in answer else None,
        found.unfinished or unfinished,
    )


def base_locus_script(polynomial_map: PolynomialMap, field: CoefficientField, title: str = "") -> Script:
    """The Macaulay2 program for the dimensions of source and base locus."""
    values = elimination_values(polynomial_map, field) | {"title": title or "a polynomial map"}
    return render("base_locus", values=values)

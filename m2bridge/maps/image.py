"""The image of a polynomial map: closure, generic fibre, base locus."""

from dataclasses import dataclass, replace
from typing import Any

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.engine import Engine, engine_or_own
from m2bridge.engine.script import Script, render
from m2bridge.engine.wire import answer_until_limit
from m2bridge.limits import limited, share
from m2bridge.maps.closure import closure
from m2bridge.maps.closure_result import Closure, Strategy
from m2bridge.maps.completeness import elimination_values, empty_source
from m2bridge.results.base import Result
from m2bridge.results.sheet import Facts, Sheet, printable

CLOSURE_PART = 0.75
"""So much of the time is for the closure; what is left, for source and base locus."""


@dataclass(frozen=True, slots=True)
class Image(Result):
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
    source_irreducible : bool or None
        Where it is reducible, different parts can have fibres of different dimensions; ``None`` if not decided.
    unfinished : str
        Empty, or the limit that was reached.

    Examples
    --------
    >>> from sympy import symbols
    >>> s, t, u = symbols("s t u")
    >>> result = image(PolynomialMap.from_expressions([s, t, u], {"x": s * t, "y": s * u}))
    >>> result.closure.dimension, result.generic_fibre_dimension
    (2, 1)
    """

    closure: Closure
    title: str
    source_dimension: int | None
    base_locus_dimension: int | None
    source_irreducible: bool | None = True
    unfinished: str = ""

    @property
    def generic_fibre_dimension(self) -> int | None:
        """The dimension of an irreducible source less that of the image; ``None`` where the latter is only bounded."""
        image = self.closure
        if not self.source_irreducible or image.dimension_status != "proved":
            return None
        if self.source_dimension is None or image.dimension is None:
            return None
        return self.source_dimension - image.dimension

    def to_sheet(self) -> Sheet:
        """The dimensions, and the closure."""
        dimensions = {
            "source": self.source_dimension,
            "generic fibre": self.generic_fibre_dimension,
            "base locus": self.base_locus_dimension,
        }
        facts = [(name, "empty" if d == -1 else f"dimension {d}") for name, d in dimensions.items() if d is not None]
        if not self.source_irreducible:
            undecided = "it was not decided whether the source is irreducible; so no generic fibre is given"
            reducible = "the source is reducible; so there is no one generic fibre"
            facts.append(("remark", undecided if self.source_irreducible is None else reducible))
        closure = self.closure.to_sheet()
        title = "\n".join(filter(None, [self.title, closure.title]))
        return replace(closure, title=title, blocks=[Facts(facts), *closure.blocks])

    def to_json(self) -> dict[str, Any]:
        """All about the closure, and the dimensions of source, fibre and base locus."""
        return self.closure.to_json() | {
            "title": self.title or None,
            "source_dimension": self.source_dimension,
            "source_irreducible": self.source_irreducible,
            "generic_fibre_dimension": self.generic_fibre_dimension,
            "base_locus_dimension": self.base_locus_dimension,
            "unfinished": self.unfinished or None,
        }

    def to_macaulay2(self) -> str:
        """A Macaulay2 program that defines the ideal of the closure."""
        return self.closure.to_macaulay2()


def image(
    polynomial_map: PolynomialMap,
    *,
    engine: Engine | None = None,
    field: CoefficientField = QQ,
    title: str = "",
    strategy: Strategy = "auto",
    max_degree: int | None = None,
    timeout: float | None = None,
) -> Image:
    """Closure of the image, dimension of the generic fibre and of the base locus.

    Parameters
    ----------
    polynomial_map : PolynomialMap
        Where its source is reducible, no generic fibre is given.
    engine : Engine, optional
        A Macaulay2 of its own is started, and ended, where none is given.
    title : str
        In words, on one line; line breaks and control characters become spaces.
    field, strategy, max_degree, timeout
        As for :func:`m2bridge.maps.closure.closure`.

    Raises
    ------
    InvalidCaseError
        If the map has no reduction modulo p, or its relations have no common zero.

    Source: Hartshorne, *Algebraic Geometry*, Exercise II.3.22 (dimension of fibres).

    Examples
    --------
    >>> from sympy import symbols
    >>> s, t = symbols("s t")
    >>> cubic = PolynomialMap.from_expressions([s, t], {"x": s**3, "y": s**2 * t, "z": s * t**2, "w": t**3})
    >>> result = image(cubic)
    >>> result.closure.degree, result.generic_fibre_dimension, result.base_locus_dimension
    (3, 0, 0)
    """
    with limited(timeout) as running, engine_or_own(engine) as engine:
        title = printable(title)
        with share(CLOSURE_PART):
            result = closure(polynomial_map, engine=engine, field=field, strategy=strategy, max_degree=max_degree)
        answer, late = answer_until_limit(base_locus_script(polynomial_map, field=field, title=title), engine=engine)
        dimension = answer.integer("source_dimension") if "source_dimension" in answer else None
        if dimension == -1:
            raise empty_source()
        irreducible: bool | None = not polynomial_map.maybe_reducible
        if not irreducible:
            irreducible = answer.boolean("source_irreducible") if "source_irreducible" in answer else None
        return Image(
            replace(result, seconds=running.seconds),
            title,
            dimension,
            answer.integer("base_locus_dimension") if "base_locus_dimension" in answer else None,
            irreducible,
            "; ".join(filter(None, (result.unfinished, late and f"base locus: {late}"))),
        )


implicitize = image
"""The same under its other name."""


def base_locus_script(polynomial_map: PolynomialMap, *, field: CoefficientField, title: str = "") -> Script:
    """The Macaulay2 program for the dimensions of source and base locus."""
    values = elimination_values(polynomial_map, field=field) | {"title": title or "a polynomial map"}
    return render("base_locus", values=values)

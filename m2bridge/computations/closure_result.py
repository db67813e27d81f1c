"""The result of a Zariski closure computation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from itertools import islice
from typing import Any, Literal

from sympy import Expr

from m2bridge.clock import watched
from m2bridge.computations.jacobian_rank import Status
from m2bridge.computations.subject import Subject, result_json
from m2bridge.geometry.hilbert import HilbertSeries
from m2bridge.implicitization import Implicitization
from m2bridge.layout import duration, facts
from m2bridge.model.field import CoefficientField
from m2bridge.model.ring import Ideal, is_homogeneous
from m2bridge.notation import (
    SHOWN,
    degree_summary,
    expression_text,
    ideal_latex,
    ideal_macaulay2,
    polynomial_text,
    shortened_text,
    sparse_text,
)

Strategy = Literal["auto", "multigraded", "elimination", "ungraded-elimination"]


@dataclass(frozen=True, slots=True)
class Closure:
    """The Zariski closure of the image of a polynomial map.

    Parameters
    ----------
    subject : Subject
    field : CoefficientField
    strategy : str
    equations : Ideal, Implicitization or None
        The vanishing ideal, with minimal generators when it is homogeneous; or all its minimal generators up to some
        degree, symmetries not spelled out. ``None`` if nothing was found.
    dimension : int or None
        Affine dimension (Krull dimension of the coordinate ring); where the ideal was not found, what the Jacobian rank
        says.
    dimension_status : str
        ``proved`` or ``lower bound``.
    degree : int or None
        Degree of the projective variety, or of the projective closure of an affine one.
    hilbert_series : HilbertSeries or None
        Of the coordinate ring when the ideal is homogeneous, else of the ring of its leading forms, which is that of
        the projective closure modulo the equation of infinity: same degree, and same dimension as the affine variety.
    engine_version : str
    seconds : float
    unfinished : str
        Empty, or the limit that was reached; then the fields that were not found are ``None``.
    completeness : str
        How it is known that these are all generators, or up to which degree they are.
    """

    subject: Subject
    field: CoefficientField
    strategy: Strategy
    equations: Ideal | Implicitization | None
    dimension: int | None
    dimension_status: Status
    degree: int | None
    hilbert_series: HilbertSeries | None
    engine_version: str
    seconds: float
    unfinished: str = ""
    completeness: str = ""
    _ideals: list[Ideal] = dataclass_field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def ideal(self) -> Ideal | None:
        """The ideal that the generators found generate; all of the vanishing ideal when ``complete`` is ``proved``.

        SymPy polynomials are made when it is asked for the first time: with tens of thousands of generators they take
        more time and memory than the computation.
        """
        if isinstance(self.equations, Implicitization):
            if not self._ideals:
                self._ideals.append(self.equations.ideal())
            return self._ideals[0]
        return self.equations

    @property
    def homogeneous(self) -> bool:
        """Whether the variety is a cone: the ideal is homogeneous in the standard grading."""
        if isinstance(self.equations, Implicitization):
            return self.equations.source.grading.is_standard
        return self.equations is not None and all(is_homogeneous(g) for g in self.equations.generators)

    @property
    def generator_degrees(self) -> dict[int, int] | None:
        """How many generators were found of each total degree."""
        if not isinstance(self.equations, Implicitization):
            return None if self.equations is None else self.equations.generator_degrees
        if self.homogeneous:
            return dict(sorted(self.equations.generator_counts.items()))
        degrees = (max(len(monomial) for monomial, _ in terms) for terms in self.equations.sparse_generators())
        return dict(sorted(Counter(degrees).items()))

    @property
    def hilbert_function(self) -> tuple[int, ...] | None:
        """H(0), …, H(N), where they were computed without the whole ideal (in the degrees of the grading)."""
        return self.equations.hilbert_function if isinstance(self.equations, Implicitization) else None

    def generator_texts(self) -> Iterator[str]:
        """The generators as exact strings, one after the other."""
        if isinstance(self.equations, Implicitization):
            names = self.subject.coordinate_names
            return (sparse_text(terms, names) for terms in watched(self.equations.sparse_generators()))
        return (polynomial_text(g) for g in watched(self.equations.generators if self.equations else ()))

    @property
    def projective_dimension(self) -> int | None:
        """Dimension of the projective variety, for a cone."""
        return self.dimension - 1 if self.dimension is not None and self.homogeneous else None

    @property
    def codimension(self) -> int | None:
        """Codimension in the space of all coordinates."""
        return None if self.dimension is None else len(self.subject.coordinate_names) - self.dimension

    @property
    def complete(self) -> str:
        """``proved`` when these are all generators, ``up to degree N``, or ``no`` when none were found."""
        if isinstance(self.equations, Implicitization) and self.hilbert_series is None:
            return f"up to degree {self.equations.max_degree}"
        return "no" if self.equations is None else "proved"

    def to_json(self) -> dict[str, Any]:
        """A dictionary for ``json.dumps``; polynomials are exact strings in the coordinates' names."""
        series = self.hilbert_series
        degrees = self.generator_degrees
        return result_json(self.subject.case, self.field, self.engine_version or None, self.seconds) | {
            "coordinates": list(self.subject.coordinate_names),
            "dimension": self.dimension,
            "dimension_status": self.dimension_status,
            "projective_dimension": self.projective_dimension,
            "codimension": self.codimension,
            "degree": self.degree,
            "generators": None if self.equations is None else list(self.generator_texts()),
            "generator_degrees": None if degrees is None else {str(d): count for d, count in degrees.items()},
            "complete": self.complete,
            "completeness": self.completeness or None,
            "homogeneous": self.homogeneous,
            "hilbert_series": None
            if series is None
            else {"numerator": list(series.numerator), "denominator_exponent": series.dimension},
            "hilbert_polynomial": None if series is None else str(series.polynomial),
            "hilbert_series_of": None if series is None else self._hilbert_ring,
            "hilbert_function": None if self.hilbert_function is None else list(self.hilbert_function),
            "strategy": self.strategy,
            "unfinished": self.unfinished or None,
        }

    @property
    def _hilbert_ring(self) -> str:
        return "coordinate ring" if self.homogeneous else "ring of leading forms"

    def _hilbert_text(self, expression: Expr) -> str:
        """The series or polynomial; of an affine variety, which has none of its own, with the ring that it is of."""
        return expression_text(expression) + ("" if self.homogeneous else f", of the {self._hilbert_ring}")

    def to_text(self) -> str:
        """For a person at a terminal."""
        bound = "at least " if self.dimension_status == "lower bound" else ""
        dimension = None if self.dimension is None else f"{bound}{self.dimension} affine"
        if self.projective_dimension is not None:
            dimension = f"{dimension}, {self.projective_dimension} projective"
        series = self.hilbert_series
        lines = [
            f"Zariski closure of the {self.subject.title}, over {self.field}",
            facts(
                [
                    ("ambient space", self.subject.ambient),
                    ("dimension", dimension),
                    ("codimension", self.codimension),
                    ("degree", self.degree),
                    ("minimal generators" if self.homogeneous else "generators", self._generator_summary()),
                    ("Hilbert series", None if series is None else self._hilbert_text(series.expression)),
                    ("Hilbert polynomial", None if series is None else self._hilbert_text(series.polynomial)),
                    ("Hilbert function", self._hilbert_function_text()),
                    ("complete", self.completeness or None),
                    ("computed by", f"{self._computed_by()}, {self.strategy}, {duration(self.seconds)}"),
                    ("not finished", self.unfinished or None),
                ]
            ),
        ]
        texts = self.generator_texts()
        lines += [f"    {shortened_text(text)}" for text in islice(texts, SHOWN)]
        hidden = sum((self.generator_degrees or {}).values()) - SHOWN
        if hidden > 0:
            lines.append(f"    … and {hidden} more (--json shows all of them)")
        return "\n".join(lines)

    def _generator_summary(self) -> str | None:
        return None if self.generator_degrees is None else degree_summary(self.generator_degrees)

    def _hilbert_function_text(self) -> str | None:
        return None if self.hilbert_function is None else f"{', '.join(map(str, self.hilbert_function))}, …"

    def _computed_by(self) -> str:
        linear_algebra = "exact linear algebra (FLINT)" if self.strategy == "multigraded" else ""
        macaulay2 = f"Macaulay2 {self.engine_version}" if self.engine_version else ""
        return " and ".join(filter(None, (linear_algebra, macaulay2)))

    def to_latex(self) -> str:
        """The ideal and its invariants, for a paper."""
        if self.ideal is None:
            return rf"\text{{not finished: {self.unfinished}}}"
        bound = self.complete.removeprefix("up to degree ")
        ideal = "I" if bound == "proved" else rf"\langle I_{{\le {bound}}} \rangle"
        relation = "=" if self.dimension_status == "proved" else r"\ge"
        parts = [
            rf"{ideal} = {ideal_latex(self.ideal.generators)}, \quad \dim {relation} {self.dimension}",
            rf",\quad \deg = {self.degree}" if self.degree is not None else "",
        ]
        return "".join(parts)

    def to_macaulay2(self) -> str:
        """A Macaulay2 program that defines the ideal that the generators found generate."""
        generators = () if self.ideal is None else self.ideal.generators
        comment = f"-- {self.completeness}\n" if self.completeness else ""
        return comment + ideal_macaulay2(self.field, self.subject.coordinate_names, generators)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.to_latex()}$"

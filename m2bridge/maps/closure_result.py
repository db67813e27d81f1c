"""The result of a Zariski closure computation."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import groupby
from typing import Any, Literal

from sympy import Expr, latex

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing, is_homogeneous
from m2bridge.algebra.schur import Representation
from m2bridge.convert.notation import (
    degree_summary,
    expression_text,
    ideal_macaulay2,
    polynomial_text,
    sparse_text,
)
from m2bridge.errors import MethodUnavailableError, TimeLimitError
from m2bridge.ideals.ideal import Ideal
from m2bridge.implicitization.implicitize import HigherDegrees, Implicitization
from m2bridge.limits import watched
from m2bridge.maps.model import Model
from m2bridge.results.base import Result, result_json
from m2bridge.results.known import Known
from m2bridge.results.sheet import Block, Facts, Formula, Polynomials, Sheet, computed_by, printable

Strategy = Literal["auto", "multigraded", "lattice", "elimination", "ungraded-elimination"]


@dataclass(frozen=True, slots=True)
class Completeness:
    """Whether generators are known to be all.

    Parameters
    ----------
    proved : bool
        That there are no others, of any degree.
    degree : int or None
        The degree up to which they are all, where no more is proved; ``None`` if none were found,
        or all are.
    reason : str
        How it is known; empty if none were found.
    """

    proved: bool
    degree: int | None = None
    reason: str = ""

    def __str__(self) -> str:
        """``proved``, ``up to degree 4``, ``no``."""
        return (
            "proved"
            if self.proved
            else "no"
            if self.degree is None
            else f"up to degree {self.degree}"
        )


@dataclass(frozen=True, kw_only=True)  # no slots: the ideal is kept in its dictionary
class Closure(Result):
    """The Zariski closure of the image of a polynomial map.

    Parameters
    ----------
    model : Model
    field : CoefficientField
    strategy : str
    equations : Ideal, Implicitization or None
        The vanishing ideal, with minimal generators when it is homogeneous; or all its minimal
        generators up to some degree, symmetries not spelled out. ``None`` if nothing was found.
    known_dimension : Known
        Affine dimension (Krull dimension of the coordinate ring); where the ideal was not found,
        what the Jacobian rank says.
    degree : int or None
        Degree of the projective variety, or of the projective closure of an affine one.
    hilbert_series : HilbertSeries or None
        Of the coordinate ring when the ideal is homogeneous, else of the ring of its leading forms,
        which is that of the projective closure modulo the equation of infinity: same degree, and
        same dimension as the affine variety.
    engine_version : str
    seconds : float
    unfinished : str
        Empty, or the limit that was reached; then the fields that were not found are ``None``.
    completeness_reason : str
        How it is known that these are all generators, or up to which degree they are.
    all_generators : bool
        Whether generators that were found degree by degree are proved to be all.
    representations : tuple of Representation, optional
        What the minimal generators form where a group acts by linear changes of coordinates: all of
        them where that is proved, also those that are not written out, else those found.

    Examples
    --------
    >>> from sympy import symbols
    >>> u, v = symbols("u v")
    >>> umbrella = PolynomialMap.from_expressions([u, v], {"x": u * v, "y": u, "z": v**2})
    >>> with Macaulay2() as engine:
    ...     result = closure(umbrella, engine=engine)
    >>> result.dimension, result.degree, str(result.completeness), result.ideal.generators
    (2, 3, 'proved', (-y**2*z + x**2,))
    """

    model: Model
    field: CoefficientField
    strategy: Strategy
    equations: Ideal | Implicitization | None
    known_dimension: Known
    degree: int | None
    hilbert_series: HilbertSeries | None
    engine_version: str
    seconds: float
    unfinished: str = ""
    completeness_reason: str = ""
    all_generators: bool = False
    representations: tuple[Representation, ...] | None = None

    @property
    def dimension(self) -> int | None:
        """Affine dimension, or a lower bound for it."""
        return self.known_dimension.lower

    @property
    def dimension_status(self) -> str:
        """``proved`` or ``lower bound``; ``unfinished`` where nothing is known."""
        return self.known_dimension.status

    @cached_property
    def ideal(self) -> Ideal | None:
        """The ideal that the generators found generate; all of the vanishing ideal when
        ``complete`` is ``proved``.

        SymPy polynomials are made when it is asked for the first time: with tens of thousands of
        generators they take more time and memory than the computation.
        """
        return (
            Ideal.of(self.equations.ideal())
            if isinstance(self.equations, Implicitization)
            else self.equations
        )

    def whole_ideal(self) -> Ideal:
        """All of the vanishing ideal, also where ``ideal`` has its generators of low degree only.

        The others are expanded from highest weight vectors of ``representations``; there may be
        very many.

        Raises
        ------
        MethodUnavailableError
            If the generators are not known to be all.
        TimeLimitError
            If the limit was reached.
        """
        if self.ideal is not None and self.completeness.proved:
            return self.ideal
        core, low = self.model.core(), self.equations
        last = max((part.degree for part in self.representations or ()), default=0)
        if (
            not isinstance(low, Implicitization)
            or low.max_degree >= last
            or core is None
            or core.polynomials is None
        ):
            raise MethodUnavailableError("generators are not known to be all")
        higher = HigherDegrees({}, partial(core.polynomials, low.max_degree))
        return Ideal.of(replace(low, higher=higher).ideal())

    @property
    def homogeneous(self) -> bool:
        """Whether the variety is a cone: the ideal is homogeneous in the standard grading."""
        if isinstance(self.equations, Implicitization):
            return self.equations.source.grading.is_standard
        return self.equations is not None and all(
            is_homogeneous(g) for g in self.equations.generators
        )

    @property
    def generator_degrees(self) -> dict[int, int] | None:
        """The number of generators found in each total degree."""
        if not isinstance(self.equations, Implicitization):
            return None if self.equations is None else self.equations.generator_degrees
        if self.homogeneous:
            return dict(sorted(self.equations.generator_counts.items()))
        degrees = (
            max(len(monomial) for monomial, _ in terms)
            for terms in self.equations.sparse_generators()
        )
        return dict(sorted(Counter(degrees).items()))

    @property
    def hilbert_function(self) -> tuple[int, ...] | None:
        """H(0), …, H(N), where they were computed without the whole ideal (in the degrees of the
        grading).
        """
        return (
            self.equations.hilbert_function if isinstance(self.equations, Implicitization) else None
        )

    @property
    def computed_hilbert_function(self) -> tuple[int, ...]:
        """H(0), …, H(N) by the equations, or by the whole Hilbert series; empty if neither was
        found.
        """
        if self.hilbert_function is not None or self.hilbert_series is None or not self.homogeneous:
            return self.hilbert_function or ()
        series = self.hilbert_series
        return tuple(
            series.value(n) for n in range(max(series.dimension, 1) + len(series.numerator))
        )

    @property
    def fibre_degree(self) -> int | None:
        """The degree that source and generic fibre give, over QQ, where ``degree`` is not known by
        equations.
        """
        return self.model.fibre_degree() if self.degree is None and self.field == QQ else None

    @property
    def predicted_hilbert_function(self) -> tuple[int, ...] | None:
        """The prediction of the family for the same degrees, over QQ; ``None`` where it has
        none.
        """
        model, values = self.model, self.computed_hilbert_function
        if self.field != QQ:
            return None
        predicted = [model.predicted_hilbert_function(n) for n in range(len(values))]
        numbers = tuple(value for value in predicted if value is not None)
        return numbers if numbers and len(numbers) == len(values) else None

    def generator_texts(self) -> Iterator[str]:
        """The generators as exact strings, one after the other."""
        if isinstance(self.equations, Implicitization):
            names = self.model.coordinate_names()
            return (
                sparse_text(terms, names) for terms in watched(self.equations.sparse_generators())
            )
        return (
            polynomial_text(g) for g in watched(self.equations.generators if self.equations else ())
        )

    @property
    def projective_dimension(self) -> int | None:
        """The dimension of the projective variety, for a cone."""
        return self.dimension - 1 if self.dimension is not None and self.homogeneous else None

    @property
    def codimension(self) -> int | None:
        """Codimension in the space of all coordinates."""
        return (
            None if self.dimension is None else len(self.model.coordinate_names()) - self.dimension
        )

    @property
    def completeness(self) -> Completeness:
        """Whether these are all generators."""
        if isinstance(self.equations, Implicitization) and not self.all_generators:
            return Completeness(False, self.equations.max_degree, self.completeness_reason)
        return Completeness(self.equations is not None, reason=self.completeness_reason)

    def incomplete(self) -> MethodUnavailableError | TimeLimitError:
        """Return the error of a computation that needs all generators, where they are not proved to
        be all.
        """
        if not self.unfinished:
            return MethodUnavailableError("the ideal is not proved complete")
        late = TimeLimitError(f"the ideal is not proved complete; {self.unfinished}")
        late.progress = f"the closure has dimension {self.dimension}"
        return late

    def to_sheet(self) -> Sheet:
        """Invariants, and the generators."""
        degrees = self.generator_degrees
        title = f"Zariski closure of the {self.model.title}, over {self.field}"
        blocks: list[Block] = [Facts(_facts(self))]
        if degrees is not None:
            blocks.append(Polynomials(sum(degrees.values()), self.generator_texts))
        return Sheet(title, blocks, _formulas(self))

    def to_json(self) -> dict[str, Any]:
        """All that was found; polynomials are exact strings in the coordinates' names."""
        series, degrees, values = self.hilbert_series, self.generator_degrees, self.hilbert_function
        predicted = self.predicted_hilbert_function
        engine = self.engine_version or None
        return result_json(self.model.case, self.field, engine, self.seconds) | {
            "coordinates": list(self.model.coordinate_names()),
            "dimension": self.dimension,
            "dimension_status": self.dimension_status,
            "projective_dimension": self.projective_dimension,
            "codimension": self.codimension,
            "degree": self.degree,
            "degree_by_fibres": self.fibre_degree,
            "generators": None if self.equations is None else list(self.generator_texts()),
            "generator_degrees": (
                None if degrees is None else {str(d): count for d, count in degrees.items()}
            ),
            "representations": (
                None
                if self.representations is None
                else [r.to_json() for r in self.representations]
            ),
            "complete": str(self.completeness),
            "completeness": self.completeness.reason or None,
            "homogeneous": self.homogeneous,
            "hilbert_series": None if series is None else series.to_json(),
            "hilbert_polynomial": None if series is None else str(series.polynomial),
            "hilbert_series_of": None if series is None else _hilbert_ring(self),
            "hilbert_function": None if values is None else list(values),
            "predicted_hilbert_function": None if predicted is None else list(predicted),
            "strategy": self.strategy,
            "unfinished": self.unfinished or None,
        }

    def to_macaulay2(self) -> str:
        """A Macaulay2 program that defines the ideal that the generators found generate."""
        ideal = self.ideal or GeneratingSet(
            PolynomialRing(self.field, self.model.coordinate_names()), ()
        )
        reason = self.completeness.reason
        comment = f"-- {printable(reason)}\n" if reason else ""
        return comment + ideal_macaulay2(ideal)


def _facts(closure: Closure) -> list[tuple[str, object]]:
    series, degrees, values = (
        closure.hilbert_series,
        closure.generator_degrees,
        closure.hilbert_function,
    )
    generators = "minimal generators" if closure.homogeneous else "generators"
    flint = (
        "exact linear algebra (FLINT) and "
        if closure.strategy == "multigraded" and closure.engine_version
        else ""
    )
    return [
        ("dimension", _dimension(closure)),
        ("codimension", closure.codimension),
        ("degree", _degree(closure)),
        (generators, None if degrees is None else degree_summary(degrees)),
        *_representations(closure),
        ("Hilbert series", None if series is None else _hilbert(closure, series.expression)),
        ("Hilbert polynomial", None if series is None else _hilbert(closure, series.polynomial)),
        ("Hilbert function", None if values is None else f"{', '.join(map(str, values))}, …"),
        ("predicted", _predicted(closure)),
        ("ambient space", closure.model.ambient),
        ("complete", closure.completeness.reason or None),
        (
            "computed by",
            f"{flint}{computed_by(closure.engine_version, closure.seconds, closure.strategy)}",
        ),
        ("not finished", closure.unfinished or None),
    ]


def _formulas(closure: Closure) -> list[str]:
    """The dimension, the degree, and what the generators generate."""
    dimension = closure.known_dimension
    formulas = []
    if not dimension.is_open:
        formulas.append(r"\dim " + dimension.relation(at_least=r"\ge"))
    formulas += [] if closure.degree is None else [rf"\deg = {closure.degree}"]
    number = sum((closure.generator_degrees or {}).values())
    if closure.equations is not None:
        completeness = closure.completeness
        ideal = "I" if completeness.proved else rf"\langle I_{{\le {completeness.degree}}} \rangle"
        names = rf"f_1, \ldots, f_{{{number}}}" if number > 1 else "f_1" if number else "0"
        formulas.append(rf"{ideal} = \langle {names} \rangle")
    return formulas


def _representations(closure: Closure) -> Iterator[tuple[str, object]]:
    """A line for each degree."""
    for degree, parts in groupby(closure.representations or (), lambda part: part.degree):
        listed = list(parts)
        text = ", ".join(f"{part} ({part.dimension})" for part in listed)
        yield f"of degree {degree}", Formula(text, r" \oplus ".join(part.latex for part in listed))


def _dimension(closure: Closure) -> str | None:
    if closure.known_dimension.is_open:
        return None
    affine = f"{closure.known_dimension} affine"
    projective = closure.projective_dimension
    return affine if projective is None else f"{affine}, {projective} projective"


def _degree(closure: Closure) -> str | None:
    if closure.degree is None and closure.fibre_degree is not None:
        return f"{closure.fibre_degree}, by source and generic fibre, not by equations"
    return None if closure.degree is None else str(closure.degree)


def _predicted(closure: Closure) -> str | None:
    """The prediction of the family for the Hilbert function beside the computed one."""
    predicted, computed = closure.predicted_hilbert_function, closure.computed_hilbert_function
    if predicted is None:
        return None
    shown = f"H(0), …, H({len(computed) - 1}) as computed"
    if predicted != computed:
        shown = f"{', '.join(map(str, predicted))}, … and not what was computed"
    return f"{shown} (by a formula for all sizes, proved in large degrees only)"


def _hilbert_ring(closure: Closure) -> str:
    return "coordinate ring" if closure.homogeneous else "ring of leading forms"


def _hilbert(closure: Closure, expression: Expr) -> Formula:
    """The series or polynomial, and for an affine variety, which has none of its own, the ring it
    belongs to.
    """
    of = "" if closure.homogeneous else f", of the {_hilbert_ring(closure)}"
    return Formula(expression_text(expression) + of, latex(expression) + (of and rf"\text{{{of}}}"))

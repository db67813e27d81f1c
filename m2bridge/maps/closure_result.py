"""The results ``Closure`` and ``Image`` of computations of Zariski closures, and their forms.

Equations are found either by elimination, all at once, and stored as an ``Ideal``; or degree by
degree, and stored as an ``Implicitization``: orbits of generators under symmetries, up to a degree,
expanded on demand. :class:`Completeness` says what is known about generators of higher degree. A
sparse polynomial is a list of terms (monomial, coefficient); a monomial lists its variables by
position, each as often as its exponent says: ``(0, 0, 2)`` is x_0^2 x_2.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import groupby
from typing import Any, Literal

from sympy import Expr, latex

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing, is_homogeneous
from m2bridge.algebra.schur import Representation
from m2bridge.convert.printing import (
    degree_summary,
    expression_text,
    ideal_macaulay2,
    polynomial_text,
    sparse_texts,
)
from m2bridge.errors import MethodUnavailableError, TimeLimitError
from m2bridge.ideals.ideal import Ideal
from m2bridge.implicitization.implicitize import HigherDegrees, Implicitization
from m2bridge.limits import check_deadline_in
from m2bridge.maps.model import Model
from m2bridge.results.base import Result, result_json
from m2bridge.results.known import Bounds
from m2bridge.results.sheet import Block, Facts, Formula, Polynomials, Sheet, computed_by, printable

Strategy = Literal["auto", "multigraded", "lattice", "elimination", "ungraded-elimination"]


@dataclass(frozen=True, slots=True)
class Completeness:
    """Whether the generators found are known to generate the whole ideal.

    Parameters
    ----------
    proved : bool
        Whether it is proved that there are no further generators of any degree.
    degree : int or None
        The degree up to which the generators are complete, if nothing more is proved; else
        ``None``.
    reason : str
        The proof in words; empty if no generators were found.
    """

    proved: bool
    degree: int | None = None
    reason: str = ""

    def __str__(self) -> str:
        """Return the text ``proved``, ``up to degree 4``, or ``no``."""
        if self.proved:
            return "proved"
        return "no" if self.degree is None else f"up to degree {self.degree}"


@dataclass(frozen=True, kw_only=True)  # no slots: the ideal is kept in its dictionary
class Closure(Result):
    """The Zariski closure of the image of a polynomial map.

    Parameters
    ----------
    model : Model
    field : CoefficientField
    strategy : str
        How the equations were found; ``auto`` if a limit was reached before that was decided.
    equations : Ideal, Implicitization or None
        The vanishing ideal, with minimal generators when it is homogeneous; or all its minimal
        generators up to some degree, symmetries not spelled out. ``None`` if nothing was found.
    known_dimension : Bounds
        Affine dimension (Krull dimension of the coordinate ring); where the ideal was not found,
        what the Jacobian rank says.
    degree : int or None
        Degree of the projective variety, or of the projective closure of an affine one.
    hilbert_series : HilbertSeries or None
        Series of the coordinate ring if the ideal is homogeneous, else of the ring of its leading
        forms, which is that of the projective closure modulo the equation of infinity: same degree,
        and same dimension as the affine variety.
    engine_version : str
        Empty if Macaulay2 was not used.
    seconds : float
    unfinished : str
        Empty, or the limit that was reached; then the fields that were not found are ``None``.
    completeness_reason : str
        The proof that the generators are complete, or complete up to a degree.
    all_generators : bool
        Whether generators that were found degree by degree are proved to be all.
    representations : tuple of Representation, optional
        The representations that the minimal generators form if a group acts linearly: all of
        them where that is proved, also those that are not written out, else those found.
    lists_generators : bool
        Whether text and JSON have the generators. Those of higher degree that are known by their
        representations are expanded then, which may take longer than all the rest.

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
    equations: Ideal | Implicitization | None = None
    known_dimension: Bounds
    degree: int | None = None
    hilbert_series: HilbertSeries | None = None
    engine_version: str = ""
    seconds: float
    unfinished: str = ""
    completeness_reason: str = ""
    all_generators: bool = False
    representations: tuple[Representation, ...] | None = None
    lists_generators: bool = True

    @property
    def dimension(self) -> int | None:
        """The affine dimension, or a lower bound for it; ``None`` if no bound is known."""
        return self.known_dimension.lower

    @property
    def dimension_status(self) -> str:
        """``proved`` or ``lower bound``; ``unfinished`` where no lower bound is known."""
        return self.known_dimension.status

    @cached_property
    def ideal(self) -> Ideal | None:
        """The ideal that the generators found generate; all of the vanishing ideal if
        ``completeness.proved``. ``None`` if a limit was reached before any equation was found.

        Generators become SymPy polynomials when the property is first used: tens of thousands of
        them take more time and memory than the computation.
        """
        if isinstance(self.equations, Implicitization):
            return Ideal.of(self.equations.ideal())
        return self.equations

    def whole_ideal(self) -> Ideal:
        """Return all of the vanishing ideal, also where ``ideal`` has only its generators of low
        degree.

        Generators of higher degree are expanded from highest weight vectors of ``representations``;
        there may be very many.

        Raises
        ------
        MethodUnavailableError
            If the generators are not known to be all.
        TimeLimitError
            If the limit was reached.
        """
        if self.ideal is not None and self.completeness.proved:
            return self.ideal
        low = self.equations
        core = self.model.core()  # a smaller case that determines generators
        not_known = MethodUnavailableError("generators are not known to be all")
        # core.polynomials is a function from a degree n to the generators of degree > n
        if core is None or core.polynomials is None or not isinstance(low, Implicitization):
            raise not_known
        # the largest degree of a generator, where representations are known
        largest = max((one.degree for one in self.representations or ()), default=0)
        # the generators of all known representations are written out already
        if low.max_degree >= largest:
            raise not_known
        generators_above = partial(core.polynomials, low.max_degree)
        # {}: without the numbers of generators by degree, which the ideal does not use
        higher = HigherDegrees({}, generators_above)
        return Ideal.of(replace(low, higher=higher).ideal())

    @property
    def homogeneous(self) -> bool:
        """Whether the ideal is shown to be homogeneous in the standard grading, the closure a cone.

        ``False`` also if nothing was found, or the generators have another grading.
        """
        if isinstance(self.equations, Implicitization):
            # its generators are homogeneous for its grading
            return self.equations.source.grading.is_standard
        return self.equations is not None and all(map(is_homogeneous, self.equations.generators))

    @property
    def generator_degrees(self) -> dict[int, int] | None:
        """The number of generators found in each total degree; ``None`` if nothing was found."""
        if self.equations is None:
            return None
        if isinstance(self.equations, Ideal):
            return self.equations.generator_degrees
        if self.homogeneous:
            return dict(sorted(self.equations.generator_counts.items()))
        # Generators are stored by their degrees in another grading; total degrees are counted here.
        degrees: Counter[int] = Counter()
        for terms in self.equations.sparse_generators():
            # a monomial lists each variable as often as its exponent says
            total_degree = max(len(monomial) for monomial, _ in terms)
            degrees[total_degree] += 1
        return dict(sorted(degrees.items()))

    @property
    def hilbert_function(self) -> tuple[int, ...] | None:
        """H(0), …, H(N) in the grading of equations computed degree by degree; else ``None``."""
        if isinstance(self.equations, Implicitization):
            return self.equations.hilbert_function
        return None

    @property
    def computed_hilbert_function(self) -> tuple[int, ...]:
        """H(0), …, H(N) as computed degree by degree, else by the Hilbert series.

        Empty if there is neither, or if the series is not known to be that of the coordinate ring.
        """
        if self.hilbert_function is not None:
            return self.hilbert_function
        series = self.hilbert_series
        if series is None or not self.homogeneous:
            return ()
        # Enough values to determine the series: one for each coefficient of the numerator, then as
        # many as determine the Hilbert polynomial, which has at most `dimension` coefficients.
        count = max(series.dimension, 1) + len(series.numerator)
        return tuple(map(series.value, range(count)))

    @property
    def fibre_degree(self) -> int | None:
        """The degree over QQ by a formula of the family, from the source of the parametrization and
        the number of points of its generic fibre.

        ``None`` where the equations give the degree, the field is not QQ, or there is no formula.
        """
        if self.degree is not None or self.field != QQ:
            return None
        return self.model.fibre_degree()

    @property
    def predicted_hilbert_function(self) -> tuple[int, ...] | None:
        """The value that the family predicts for each value of ``computed_hilbert_function``.

        ``None`` if the field is not QQ, no value is computed, or one of them is not predicted.
        """
        if self.field != QQ:
            return None
        predicted = []
        for degree in range(len(self.computed_hilbert_function)):
            value = self.model.predicted_hilbert_function(degree)
            if value is None:
                return None
            predicted.append(value)
        return tuple(predicted) or None  # empty if no value was computed

    def generator_texts(self) -> Iterator[str]:
        """Yield the generators found as exact strings."""
        if isinstance(self.equations, Implicitization):
            names = self.model.coordinate_names()
            for generators in check_deadline_in(self.equations.generators_by_multidegree()):
                yield from sparse_texts(generators, names)
        elif self.equations is not None:
            yield from map(polynomial_text, check_deadline_in(self.equations.generators))

    @property
    def projective_dimension(self) -> int | None:
        """The dimension of the projective variety, for a cone; else ``None``.

        Like ``dimension`` it may be a lower bound.
        """
        if self.dimension is None or not self.homogeneous:
            return None
        return self.dimension - 1

    @property
    def codimension(self) -> int | None:
        """The number of coordinates less ``dimension``; ``None`` if ``dimension`` is ``None``.

        The number is an upper bound where ``dimension`` is a lower one.
        """
        if self.dimension is None:
            return None
        return len(self.model.coordinate_names()) - self.dimension

    @property
    def completeness(self) -> Completeness:
        """Whether the generators found are all generators of the ideal."""
        if isinstance(self.equations, Implicitization) and not self.all_generators:
            return Completeness(
                proved=False, degree=self.equations.max_degree, reason=self.completeness_reason
            )
        # elimination and lattice ideals find all generators or none
        return Completeness(proved=self.equations is not None, reason=self.completeness_reason)

    def incomplete(self) -> MethodUnavailableError | TimeLimitError:
        """Return the error of a computation that needs all generators, which are not found here.

        It is a TimeLimitError if a limit was reached, since more time may help; else a
        MethodUnavailableError.
        """
        if not self.unfinished:
            return MethodUnavailableError("the ideal is not proved complete")
        error = TimeLimitError(f"the ideal is not proved complete; {self.unfinished}")
        error.progress = f"the closure has dimension {self.dimension}"
        return error

    def to_sheet(self) -> Sheet:
        """Return the sheet with invariants and generators."""
        # the number of generators in each degree
        degrees = self.generator_degrees
        title = f"Zariski closure of the {self.model.title}, over {self.field}"
        blocks: list[Block] = [Facts(_facts(self))]
        if degrees is not None and self.lists_generators:
            # ``generator_texts`` is called when the sheet is shown
            blocks.append(Polynomials(sum(degrees.values()), self.generator_texts))
        return Sheet(title, blocks, _formulas(self))

    def to_json(self) -> dict[str, Any]:
        """Return all results for ``json.dumps``; polynomials are exact strings."""
        degrees = generators = representations = None
        if self.generator_degrees is not None:
            degrees = {str(degree): count for degree, count in self.generator_degrees.items()}
            if self.lists_generators:
                generators = list(self.generator_texts())
        if self.representations is not None:
            representations = [representation.to_json() for representation in self.representations]
        engine = self.engine_version or None
        return result_json(self.model.case, self.field, engine, self.seconds) | {
            "coordinates": list(self.model.coordinate_names()),
            "dimension": self.dimension,
            "dimension_status": self.dimension_status,
            "projective_dimension": self.projective_dimension,
            "codimension": self.codimension,
            "degree": self.degree,
            "degree_by_fibres": self.fibre_degree,
            "generators": generators,
            "generator_degrees": degrees,
            "representations": representations,
            "complete": str(self.completeness),
            "completeness": self.completeness.reason or None,
            "homogeneous": self.homogeneous,
            **_series_json(self),
            "hilbert_function": _list_or_none(self.hilbert_function),
            "predicted_hilbert_function": _list_or_none(self.predicted_hilbert_function),
            "strategy": self.strategy,
            "unfinished": self.unfinished or None,
        }

    def to_macaulay2(self) -> str:
        """Return a Macaulay2 program for the ideal of the generators found; 0 if none were."""
        ideal: GeneratingSet | None = self.ideal
        if ideal is None:
            ideal = GeneratingSet(PolynomialRing(self.field, self.model.coordinate_names()), ())
        reason = self.completeness.reason
        comment = f"-- {printable(reason)}\n" if reason else ""
        return comment + ideal_macaulay2(ideal)


def _list_or_none(values: Iterable[object] | None) -> list[object] | None:
    """Return the values as a list, for JSON; ``None`` stays."""
    return None if values is None else list(values)


def _series_json(closure: Closure) -> dict[str, Any]:
    """Return the Hilbert series and polynomial, and the ring that they belong to, for JSON.

    The values are ``None`` if there is no series.
    """
    series = closure.hilbert_series
    if series is None:
        return dict.fromkeys(("hilbert_series", "hilbert_polynomial", "hilbert_series_of"))
    return {
        "hilbert_series": series.to_json(),
        "hilbert_polynomial": str(series.polynomial),
        "hilbert_series_of": _hilbert_ring(closure),
    }


def _facts(closure: Closure) -> list[tuple[str, object]]:
    """Return the lines of the summary as pairs of a name and a value.

    Values that were not found are ``None``; lines with such a value are not shown.
    """
    facts: list[tuple[str, object]] = [
        ("dimension", _dimension_text(closure)),
        ("codimension", closure.codimension),
        ("degree", _degree_text(closure)),
    ]
    if closure.generator_degrees is not None:
        name = "minimal generators" if closure.homogeneous else "generators"
        facts.append((name, degree_summary(closure.generator_degrees)))
    return [
        *facts,
        *_representation_facts(closure),
        *_hilbert_facts(closure),
        ("predicted", _prediction_text(closure)),
        ("ambient space", closure.model.ambient),
        ("complete", closure.completeness.reason or None),
        ("computed by", _programs_text(closure)),
        ("not finished", closure.unfinished or None),
    ]


def _hilbert_facts(closure: Closure) -> Iterator[tuple[str, object]]:
    """Yield the lines of the summary on Hilbert series, polynomial and function, if known."""
    series = closure.hilbert_series
    if series is not None:
        yield "Hilbert series", _hilbert_formula(closure, series.expression)
        yield "Hilbert polynomial", _hilbert_formula(closure, series.polynomial)
    if closure.hilbert_function is not None:
        yield "Hilbert function", f"{', '.join(map(str, closure.hilbert_function))}, …"


def _programs_text(closure: Closure) -> str:
    """Return what computed the closure, with the strategy and the time."""
    programs = computed_by(closure.engine_version, closure.seconds, closure.strategy)
    # generators are found by FLINT; Macaulay2 proves that they are all
    if closure.strategy == "multigraded" and closure.engine_version:
        return f"exact linear algebra (FLINT) and {programs}"
    return programs


def _formulas(closure: Closure) -> list[str]:
    """Return the results that were found in LaTeX: dimension, degree, and the ideal I.

    If generators are known to be complete up to a degree n only, they are said to generate the
    ideal of the part of I of degree ≤ n.
    """
    dimension, completeness = closure.known_dimension, closure.completeness
    formulas = []
    if not dimension.is_open:
        formulas.append(r"\dim " + dimension.relation(at_least=r"\ge"))
    if closure.degree is not None:
        formulas.append(rf"\deg = {closure.degree}")
    if closure.generator_degrees is not None:
        ideal = "I" if completeness.proved else rf"\langle I_{{\le {completeness.degree}}} \rangle"
        count = sum(closure.generator_degrees.values())
        names = rf"f_1, \ldots, f_{{{count}}}"
        if count < 2:
            names = "f_1" if count == 1 else "0"
        formulas.append(rf"{ideal} = \langle {names} \rangle")
    return formulas


def _representation_facts(closure: Closure) -> Iterator[tuple[str, object]]:
    """Yield for each degree a line of the summary with the representations of the generators.

    They are listed by degree; nothing is yielded if none are known.
    """
    representations = closure.representations or ()
    for degree, of_degree in groupby(representations, lambda one: one.degree):
        summands = list(of_degree)
        text = ", ".join(f"{one} ({one.dimension})" for one in summands)
        yield f"of degree {degree}", Formula(text, r" \oplus ".join(one.latex for one in summands))


def _dimension_text(closure: Closure) -> str | None:
    """Return the affine and the projective dimension in words; ``None`` if nothing is known."""
    if closure.known_dimension.is_open:
        return None
    affine = f"{closure.known_dimension} affine"
    projective = closure.projective_dimension
    return affine if projective is None else f"{affine}, {projective} projective"


def _degree_text(closure: Closure) -> str | None:
    """Return the degree, marked as such if it is by a formula only; ``None`` if it is not known."""
    if closure.degree is None and closure.fibre_degree is not None:
        return f"{closure.fibre_degree}, by source and generic fibre, not by equations"
    return None if closure.degree is None else str(closure.degree)


def _prediction_text(closure: Closure) -> str | None:
    """Return the predicted Hilbert function of the family, compared with the computed one, in
    words.

    ``None`` if the family predicts none.
    """
    predicted, computed = closure.predicted_hilbert_function, closure.computed_hilbert_function
    if predicted is None:
        return None
    values = f"H(0), …, H({len(computed) - 1}) as computed"
    if predicted != computed:
        values = f"{', '.join(map(str, predicted))}, … and not what was computed"
    return f"{values} (by a formula for all sizes, proved in large degrees only)"


def _hilbert_ring(closure: Closure) -> str:
    """Return in words the ring to which the Hilbert series of a closure belongs."""
    return "coordinate ring" if closure.homogeneous else "ring of leading forms"


def _hilbert_formula(closure: Closure, expression: Expr) -> Formula:
    """Return a Hilbert series or polynomial, then its ring if that is not the coordinate ring."""
    text, formula = expression_text(expression), latex(expression)
    if closure.homogeneous:
        return Formula(text, formula)
    of_ring = f", of the {_hilbert_ring(closure)}"
    return Formula(text + of_ring, rf"{formula}\text{{{of_ring}}}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Image(Result):
    """The closure of the image of a polynomial map, and the dimensions of source and fibres.

    Parameters
    ----------
    closure : Closure
    title : str
        The map in words; empty if it has no title.
    source_dimension : int or None
        Dimension of the variety of parameters; ``None`` if a limit was reached before it.
    base_locus_dimension : int or None
        Affine dimension of the set of parameters at which all coordinates vanish; −1 if it is
        empty, ``None`` if a limit was reached before it. The projective map is not defined there.
    source_irreducible : bool or None
        Whether the source is irreducible; ``None`` if that was not decided. Fibres over the images
        of several components can have different dimensions.
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
        """The dimension of a generic fibre: that of the source less that of the image.

        ``None`` where one of the two is not known, or the source is not known to be irreducible.
        """
        image = self.closure.known_dimension.exact
        if not self.source_irreducible or self.source_dimension is None or image is None:
            return None
        return self.source_dimension - image

    def to_sheet(self) -> Sheet:
        """Return the sheet of the closure, after the dimensions of source, fibre and base locus."""
        facts = [
            ("source", _dimension_or_empty(self.source_dimension)),
            ("generic fibre", _dimension_or_empty(self.generic_fibre_dimension)),
            ("base locus", _dimension_or_empty(self.base_locus_dimension)),
            ("remark", _remark_on_source(self.source_irreducible)),
        ]
        sheet = self.closure.to_sheet()
        title = f"{self.title}\n{sheet.title}" if self.title else sheet.title
        return replace(sheet, title=title, blocks=[Facts(facts), *sheet.blocks])

    def to_json(self) -> dict[str, Any]:
        """Return the closure and the dimensions of source, fibre and base locus, as JSON."""
        return self.closure.to_json() | {
            "title": self.title or None,
            "source_dimension": self.source_dimension,
            "source_irreducible": self.source_irreducible,
            "generic_fibre_dimension": self.generic_fibre_dimension,
            "base_locus_dimension": self.base_locus_dimension,
            "unfinished": self.unfinished or None,
        }

    def to_macaulay2(self) -> str:
        """Return a Macaulay2 program that defines the ideal that the generators found generate."""
        return self.closure.to_macaulay2()


def _dimension_or_empty(dimension: int | None) -> str | None:
    """Return a dimension in words: ``empty`` for −1, ``dimension 2``; ``None`` for ``None``."""
    if dimension is None:
        return None
    return "empty" if dimension == -1 else f"dimension {dimension}"


def _remark_on_source(irreducible: bool | None) -> str | None:
    """Return why no dimension of the generic fibre is given; ``None`` if the source is irreducible.

    ``irreducible`` is ``None`` if that was not decided.
    """
    if irreducible is None:
        undecided = "it was not decided whether the source is irreducible"
        return f"{undecided}; so no generic fibre is given"
    return None if irreducible else "the source is reducible; so there is no one generic fibre"

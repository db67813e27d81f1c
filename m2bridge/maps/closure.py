"""The Zariski closure of the image of a polynomial map; with generic fibre and base locus.

The module chooses the method for the ideal: degree by degree (``implicitization/``), with the proof
that there are no further generators (``completeness``); as a lattice ideal (``toric``); or by
elimination in Macaulay2. Equations by elimination are stored as an ``Ideal``, and those found
degree by degree as an ``Implicitization``: orbits of generators under symmetries, up to a degree,
expanded on demand. :class:`Completeness` says what is known about generators of higher degree.

Independent coordinates are those that remain when the linear relations among the coordinates are
split off. A core is a smaller case of a family that determines the generators (``Model.core``). An
``Answer`` has the named values that a program of Macaulay2 gave before it ended or reached a limit;
what it did not give is ``None``. ``dimension`` has bounds by ranks of the differential.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import groupby
from typing import Any, Literal, Unpack

from sympy import Expr, latex

from m2bridge import errors
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import GeneratingSet, PolynomialRing, is_homogeneous, total_degree
from m2bridge.algebra.schur import Representation
from m2bridge.convert.answers import Answer, answer_until_limit
from m2bridge.convert.fields import as_field
from m2bridge.convert.printing import (
    degree_summary,
    expression_text,
    ideal_macaulay2,
    polynomial_text,
    sparse_texts,
)
from m2bridge.engine import RunOptions, computation, current
from m2bridge.engine.script import Script, render
from m2bridge.errors import MethodUnavailableError, TimeLimitError
from m2bridge.ideals.ideal import Ideal
from m2bridge.implicitization.implicitize import HigherDegrees, Implicitization
from m2bridge.implicitization.multigraded_map import MultigradedMap
from m2bridge.limits import check_deadline_in, clock, limited, share
from m2bridge.maps import completeness, projective_closure, toric
from m2bridge.maps.equations import (
    dimension_by_equations,
    generator_representations,
    graded_source,
    low_degree_equations,
)
from m2bridge.maps.jacobian_rank import best_value, jacobian_findings
from m2bridge.maps.model import Model
from m2bridge.maps.polynomial_map_model import Case, IdealModel, as_model, map_of
from m2bridge.results.base import Proof, Result, result_json
from m2bridge.results.known import UNKNOWN, Bounds
from m2bridge.results.sheet import (
    Block,
    Facts,
    Formula,
    Polynomials,
    Sheet,
    computed_by,
    in_brackets,
    printable,
)

Strategy = Literal["auto", "multigraded", "lattice", "elimination", "ungraded-elimination"]

BY_ELIMINATION = "all generators: elimination by Macaulay2"

MAX_SHORT_ELIMINATION_SECONDS = 5.0
"""The time for elimination before linear algebra is tried, or where ranks gave only a bound: small
maps take a fraction of a second.
"""
FIRST_TURN_SECONDS = 4.0
"""The time for linear algebra, and then twice as much for elimination, which may have to start
Macaulay2, before linear algebra has the rest."""
_ELIMINATION_WAS_FIRST = (
    "elimination, as linear algebra did not end in its first seconds; the ideal is the same, and"
    " --strategy multigraded may give other generators"
)
MAX_QUICK_COORDINATES = 12
"""With more coordinates elimination seldom takes seconds: ``auto`` gives it no early turn, computes
no ideal as a second method, and prefers the lattice of a monomial map to generators by degrees.
"""
MAX_ACCEPTED_DEGREE = 1000
"""The largest ``max_degree`` that is accepted, far above the degrees that can be computed."""


@computation
def closure(
    case: Case,
    *,
    field: CoefficientField | str = QQ,
    coordinates: str | None = None,
    weights: str | None = None,
    strategy: Strategy = "auto",
    max_degree: int | None = None,
    **options: Unpack[RunOptions],
) -> Closure:
    """Compute the ideal of the Zariski closure of the image.

    Linear relations among the coordinates are split off first, exactly; the rest is found in
    linearly independent coordinates. In characteristic p it is the ideal of the image of the map
    modulo p.

    Parameters
    ----------
    case : a model, a PolynomialMap or a mapping ``{"x": expression}``
    engine : Engine, optional
        A Macaulay2 to use; without one, the Macaulay2 of the ``with`` block around it, else one
        that the process shares.
    field : CoefficientField or str
        QQ, or a prime field such as ``"GF(7)"``, over which the map is taken.
    coordinates, weights : str, optional
        The names of the coordinates and of the parameters, for models that offer a choice.
    strategy : {"auto", "multigraded", "lattice", "elimination", "ungraded-elimination"}
        ``multigraded`` gives all minimal generators up to a degree, over QQ, without an engine; the
        map needs a positive grading. ``elimination`` gives the coordinates the degrees of their
        images where that makes the map homogeneous, so that Macaulay2 uses the Hilbert function;
        ``ungraded-elimination`` never does. ``lattice`` is for maps whose coordinates are scalars
        times monomials in free parameters; 4ti2 or Normaliz finds the binomials, or Macaulay2 where
        neither is installed. ``auto`` is the first of these that applies:

        1. With ``max_degree``: ``multigraded``; above low degrees by a core, if the model has one.
        2. Over a finite field: ``elimination``.
        3. If the model has no free parametrization, or no weights of the parameters give every
           image degree 1: ``elimination``. If ranks show that the closure is a hypersurface, this
           gets 5 seconds and at most a quarter of the time; then linear algebra looks for the
           equation of the projective closure, labelled ``multigraded``.
        4. For scalars times monomials in more than 12 coordinates: ``lattice``, if 4ti2 or Normaliz
           is installed.
        5. ``multigraded``, with a proof that there are no other generators, by Macaulay2 or a core,
           if it is found within the limits (a minute when there are none). Without a core, and in
           at most 12 coordinates, it has four seconds at first, then ``elimination`` has eight: the
           ideal is the same, but where elimination ends first, which depends on the machine and
           its load, generators are others. ``strategy_reason`` and the text say so.
    max_degree : int, optional
        For ``multigraded`` and ``auto``, over QQ: the last degree. When left out, linear algebra
        goes to the largest degree ≤ 4 in which there are at most 10^5 monomials in linearly
        independent coordinates, or to 1; a proof under 5 may go further.
    timeout : float, optional
        Seconds for the whole computation.

    Returns
    -------
    Closure
        With ``unfinished`` set, and the results found until then, if a limit was reached. Its
        ``strategy`` is ``auto`` only if the limit was reached before a method was chosen.

    Raises
    ------
    InvalidCaseError
        If an option is wrong, the map has no reduction modulo p, or its relations have no common
        zero.
    MethodUnavailableError
        If the map is not one of those that the strategy, or ``max_degree``, is for.
    EngineNotFoundError
        If Macaulay2 is needed, but none is given and none is installed.
    EngineError
        If Macaulay2 failed in another way than by reaching a limit; TimeLimitError if a limit on
        time was reached before anything was found, and before Macaulay2 was asked.

    Examples
    --------
    >>> from sympy import symbols
    >>> s, t = symbols("s t")
    >>> powers = {"x": s**3, "y": s**2 * t, "z": s * t**2, "w": t**3}
    >>> cubic = PolynomialMap.from_expressions([s, t], powers)
    >>> closure(cubic, strategy="multigraded").ideal.generators
    (-y**2 + x*z, -y*z + x*w, -z**2 + y*w)
    """
    field = as_field(field)
    model = as_model(case, coordinates, weights)
    if isinstance(model, IdealModel):
        raise errors.InvalidCaseError(
            "case",
            "must be a map, not an Ideal, whose variety is closed and has the ideal radical();"
            " dimension, singular_locus, hilbert_function, ed_degree, polar_degrees and"
            " slice_surface take ideals",
        )
    check_options(strategy, field=field, max_degree=max_degree)
    model.check_field(field)
    # Ranks need no equations: they come first, so that a limit leaves something to show.
    with share(0.5):
        best = best_value(jacobian_findings(model, field=field))
    dimension = UNKNOWN
    if best is not None:
        dimension = replace(best.known, because="ranks of the differential")
    method = strategy  # `auto` until a method is chosen
    try:
        graded_map = _graded_map(model, strategy, field, max_degree)
        if graded_map is None:
            method = without_auto(strategy)
        elif _prefers_lattice(graded_map, strategy, max_degree):
            method = "lattice"
        else:
            method = "multigraded"
        if graded_map is not None and method == "multigraded":
            if strategy == "auto" and max_degree is None:
                finished = _in_first_turns(graded_map, model, dimension)
                if finished is not None:
                    return finished
            return _by_degrees(graded_map, model, strategy, max_degree, dimension)
        if strategy == "auto" and method == "elimination" and field == QQ:
            hypersurface = _affine_hypersurface(model, dimension)
            if hypersurface is not None:  # ranks showed that it is one, and its equation was found
                return hypersurface
        return _by_macaulay2(model, field, method, dimension)
    except errors.TimeLimitError as limit:  # reached before any equation was found
        if dimension.is_open:
            raise  # nothing was found
        return Closure(
            model=model,
            field=field,
            strategy=method,
            known_dimension=dimension,
            seconds=clock().seconds,
            unfinished=str(limit),
        )


def _in_first_turns(graded_map: MultigradedMap, model: Model, dimension: Bounds) -> Closure | None:
    """Return the closure if linear algebra or elimination finishes in a short turn, else ``None``.

    Either can take a fraction of a second where the other takes minutes, and the map does not show
    it. ``graded_map`` is its standard grading, and ``dimension`` has bounds by ranks.
    """
    is_small = len(graded_map.polynomial_map.coordinates) <= MAX_QUICK_COORDINATES
    if not is_small or model.core() is not None:
        return None
    running = clock()  # of the whole computation, and not of a turn
    with suppress(errors.TimeLimitError), share(0.15), limited(FIRST_TURN_SECONDS):
        by_degrees = _by_degrees(graded_map, model, "auto", None, dimension)
        if not by_degrees.unfinished:
            return replace(by_degrees, seconds=running.seconds)
    with suppress(errors.TimeLimitError), share(0.15), limited(2 * FIRST_TURN_SECONDS):
        eliminated = _by_macaulay2(model, QQ, "elimination", dimension)
        if not eliminated.unfinished:
            return replace(
                eliminated, seconds=running.seconds, strategy_reason=_ELIMINATION_WAS_FIRST
            )
    return None


def _prefers_lattice(graded: MultigradedMap, strategy: Strategy, max_degree: int | None) -> bool:
    """Return whether the closure is computed as a lattice ideal, and not degree by degree: for
    ``auto`` without ``max_degree``, if the map has many coordinates, all monomials, and a program
    for Markov bases is installed.
    """
    if strategy != "auto" or max_degree is not None:
        return False
    if len(graded.polynomial_map.coordinates) <= MAX_QUICK_COORDINATES:
        return False
    # without a program for Markov bases the lattice ideal is a saturation, which takes longer
    return toric.is_monomial(graded.polynomial_map) and toric.markov_program() is not None


def _affine_hypersurface(model: Model, dimension: Bounds) -> Closure | None:
    """Return the closure over QQ of the image of a map without standard grading, if ranks show that
    it is a hypersurface, or a linear space; ``None`` if they do not, or no equation was found.

    Elimination has a short time; where that does not suffice, linear algebra looks for the equation
    of the projective closure.
    """
    if dimension.lower is None:
        return None
    # only for a hypersurface one equation is the whole ideal, without a proof of completeness
    source = projective_closure.hypersurface_source(model.polynomial_map, dimension.lower)
    if source is None:
        return None
    # small maps are eliminated sooner than their degree is searched
    with share(0.25), limited(MAX_SHORT_ELIMINATION_SECONDS):
        eliminated = _by_macaulay2(model, QQ, "elimination", dimension)
    if not eliminated.unfinished:
        return eliminated
    hypersurface = projective_closure.affine_hypersurface(
        source, dimension.lower, model.polynomial_map
    )
    if hypersurface is None:
        return None
    series = hypersurface.series
    return Closure(
        model=model,
        field=QQ,
        strategy="multigraded",
        equations=hypersurface.ideal,
        known_dimension=Bounds.exactly(series.dimension, "the equation of the hypersurface"),
        degree=series.degree,
        hilbert_series=series,
        seconds=clock().seconds,
        completeness_reason=hypersurface.proof,
    )


def _by_macaulay2(
    model: Model, field: CoefficientField, strategy: Strategy, dimension: Bounds
) -> Closure:
    """Return the closure by one of the strategies ``lattice``, ``elimination`` and
    ``ungraded-elimination``; with ``unfinished`` set if Macaulay2 reached a limit.
    """
    reason = BY_ELIMINATION
    if strategy == "lattice":
        independent = completeness.linear_reduction(model, field).reduced
        script, reason = toric.lattice_script(independent, field=field, title=model.title)
    else:
        script = closure_script(model, field=field, graded=strategy == "elimination")
    answer, limit = answer_until_limit(script)  # the limit that was reached, or ""
    if "generators" in answer:
        generators = answer.ideal("generators").generators
        if any(generator.is_ground for generator in generators):  # the unit ideal
            raise completeness.empty_source_error()
    return read_closure(
        answer,
        model,
        field=field,
        strategy=strategy,
        version=current().version,
        dimension=dimension,
        unfinished=limit,
        reason=reason,
    )


def check_options(strategy: Strategy, *, field: CoefficientField, max_degree: int | None) -> None:
    """Raise InvalidCaseError for an unknown strategy, or a field or ``max_degree`` that it does not
    accept.
    """
    without_auto(strategy)  # raises for an unknown strategy
    if strategy == "multigraded" and field != QQ:
        raise errors.InvalidCaseError(
            "field", f"multigraded implicitization is over QQ, not {field}; use elimination"
        )
    if max_degree is not None:
        is_integer = isinstance(max_degree, int) and not isinstance(max_degree, bool)
        if not is_integer or not 1 <= max_degree <= MAX_ACCEPTED_DEGREE:
            message = f"must be an integer from 1 to {MAX_ACCEPTED_DEGREE}"
            # a large integer, which may have thousands of digits, is not printed
            if not is_integer or abs(max_degree) <= MAX_ACCEPTED_DEGREE:
                message += f", not {max_degree!r}"
            raise errors.InvalidCaseError("max_degree", message)
        if strategy not in ("auto", "multigraded") or field != QQ:
            raise errors.InvalidCaseError(
                "max_degree", "only the strategy multigraded, over QQ, goes up to a degree"
            )


def _graded_map(
    model: Model, strategy: Strategy, field: CoefficientField, max_degree: int | None
) -> MultigradedMap | None:
    """Return the map whose generators are to be found degree by degree: the free parametrization of
    the model, with its grading.

    ``None`` if they are to be found in another way: for a strategy other than ``multigraded`` and
    ``auto``; for ``auto`` over a finite field; and for ``auto`` without ``max_degree`` unless the
    grading is standard (all coordinates of degree 1), which a proof of completeness needs.
    """
    # only `multigraded` and `auto` accept a max_degree (check_options)
    if strategy == "multigraded" or max_degree is not None:
        return graded_source(model)
    if strategy != "auto" or field != QQ:
        return None
    try:
        graded_map = graded_source(model)
    except errors.MethodUnavailableError:  # relations, or no positive grading
        return None
    return graded_map if graded_map.grading.is_standard else None


def _by_degrees(
    graded_map: MultigradedMap,
    model: Model,
    strategy: Strategy,
    max_degree: int | None,
    dimension: Bounds,
) -> Closure:
    """Return the closure by equations of the model's map with its grading, degree by degree.

    ``auto`` without ``max_degree`` looks for a proof that they are all. With ``max_degree`` it
    finds the equations above low degrees by the core of the model, where there is one;
    ``multigraded`` uses linear algebra only.
    """
    core = model.core()
    if strategy == "auto" and max_degree is None:
        equations = completeness.all_equations(graded_map, model, rank=dimension.lower)
    elif strategy == "auto" and max_degree is not None and core is not None:
        equations = completeness.equations_by_core(graded_map, max_degree, core)
    else:
        # None is a degree that the function chooses itself
        equations = low_degree_equations(graded_map, max_degree)
    series = equations.series
    return Closure(
        model=model,
        field=QQ,
        strategy="multigraded",
        equations=equations.implicitization,
        known_dimension=dimension_by_equations(equations, dimension),
        degree=None if series is None else series.degree,
        hilbert_series=series,
        engine_version=equations.engine_version,
        seconds=clock().seconds,
        unfinished=equations.unfinished,
        completeness_reason=equations.remark,
        all_generators=equations.all_generators,
        representations=generator_representations(equations, model),
    )


def without_auto(strategy: Strategy) -> Strategy:
    """Return the strategy, ``elimination`` for ``auto``; InvalidCaseError if it is unknown."""
    errors.check_choice("strategy", strategy, Strategy)
    return "elimination" if strategy == "auto" else strategy


def closure_script(model: Model, *, field: CoefficientField, graded: bool = True) -> Script:
    """Return the Macaulay2 program for the ideal, by elimination in linearly independent
    coordinates.

    If ``graded``, and all images are homogeneous and not constant, each coordinate has the degree
    of its image; else all have degree 1.
    """
    independent = completeness.linear_reduction(model, field).reduced
    values = completeness.elimination_values(independent, field=field, graded=graded)
    return render("closure", ("wire", "invariants"), values | {"title": model.title})


def read_closure(
    answer: Answer,
    model: Model,
    field: CoefficientField,
    strategy: Strategy,
    version: str,
    dimension: Bounds = UNKNOWN,
    unfinished: str = "",
    reason: str = BY_ELIMINATION,
) -> Closure:
    """Return the closure from the answer, which a limit may have cut short, to the program of
    :func:`closure_script`, or of a lattice ideal, for these arguments.

    The ideal is carried from the independent coordinates to all of them, and the linear relations
    are added. ``reason`` is the proof that its generators are all, in words.
    """
    ideal = None
    if "generators" in answer:
        # low degrees first, as people read them
        generators = sorted(answer.ideal("generators").generators, key=total_degree)
        ideal = completeness.ideal_in_all_coordinates(generators, model, field)
    if "dimension" in answer:
        dimension = Bounds.exactly(answer.integer("dimension"))
    series = None
    if "hilbert_numerator" in answer:
        # from exponents to coefficients, over (1 − T)^n with n independent coordinates
        numerator = answer.integer_pairs("hilbert_numerator")
        independent_count = len(completeness.linear_reduction(model, field).basis)
        series = HilbertSeries.from_numerator(numerator, independent_count)
    return Closure(
        model=model,
        field=field,
        strategy=strategy,
        equations=ideal,
        known_dimension=dimension,
        degree=_integer_or_none(answer, "degree"),
        hilbert_series=series,
        engine_version=version,
        seconds=clock().seconds,
        unfinished=unfinished,
        completeness_reason=reason if ideal else "",
    )


@computation
def image(
    polynomial_map: PolynomialMap | Mapping[str, Any],
    *,
    field: CoefficientField | str = QQ,
    title: str = "",
    strategy: Strategy = "auto",
    max_degree: int | None = None,
    **options: Unpack[RunOptions],
) -> Image:
    """Compute the closure of the image, and the dimensions of generic fibre and base locus.

    Parameters
    ----------
    polynomial_map : PolynomialMap, or a mapping ``{"x": expression}``
        The map. If its source is reducible, no generic fibre is given.
    title : str
        The map in words; line breaks and control characters become spaces.
    field, strategy, max_degree
        How the closure is computed, as in :func:`m2bridge.maps.closure.closure`.
    engine : Engine, optional
        A Macaulay2 to use; without one, the Macaulay2 of the ``with`` block around it, else one
        that the process shares.
    timeout : float, optional
        Seconds for the whole computation, of which the closure has three quarters.

    Returns
    -------
    Image
        With ``unfinished`` set, and the results found until then, if a limit was reached.

    Raises
    ------
    InvalidCaseError
        If the argument is a model, the map has no reduction modulo p, or its relations have no
        common zero.

    Source: Hartshorne, *Algebraic Geometry*, Exercise II.3.22 (dimension of fibres).

    Examples
    --------
    >>> from sympy import symbols
    >>> s, t = symbols("s t")
    >>> powers = {"x": s**3, "y": s**2 * t, "z": s * t**2, "w": t**3}
    >>> cubic = PolynomialMap.from_expressions([s, t], powers)
    >>> result = image(cubic)
    >>> result.closure.degree, result.generic_fibre_dimension, result.base_locus_dimension
    (3, 0, 0)
    """
    if isinstance(polynomial_map, Model):
        reason = "must be a PolynomialMap, such as model.parametrization(); closure takes models"
        raise errors.InvalidCaseError("polynomial_map", reason)
    if isinstance(polynomial_map, Mapping):
        polynomial_map = map_of(polynomial_map)
    errors.check_kind("title", title, str, "text")
    title = printable(title)
    field = as_field(field)
    # the rest of the time is for the source and the base locus, which are computed even if the
    # closure was not
    with share(0.75):
        variety = closure(polynomial_map, field=field, strategy=strategy, max_degree=max_degree)
    # the answer has what was found before the limit; the text `limit` is empty if there was none
    answer, limit = answer_until_limit(base_locus_script(polynomial_map, field=field, title=title))
    source_dimension = _integer_or_none(answer, "source_dimension")
    # relations that contradict each other are a mistake in the input, not an empty image
    if source_dimension == -1:
        raise completeness.empty_source_error()
    # Macaulay2 is asked only where relations of the parameters leave it open
    irreducible: bool | None = not polynomial_map.maybe_reducible or None
    if "source_irreducible" in answer:
        irreducible = answer.boolean("source_irreducible")
    limits = [variety.unfinished]
    if limit:
        limits.append(f"base locus: {limit}")
    return Image(
        closure=replace(variety, seconds=clock().seconds),  # with those for the base locus
        title=title,
        source_dimension=source_dimension,
        base_locus_dimension=_integer_or_none(answer, "base_locus_dimension"),
        source_irreducible=irreducible,
        unfinished="; ".join(filter(None, limits)),
    )


def _integer_or_none(answer: Answer, name: str) -> int | None:
    """Return an integer of the answer, or ``None`` if a limit was reached before it."""
    return answer.integer(name) if name in answer else None


implicitize = image
"""The function :func:`image` under a second name."""


def base_locus_script(
    polynomial_map: PolynomialMap, *, field: CoefficientField, title: str = ""
) -> Script:
    """Return the Macaulay2 program for the dimensions of source and base locus of a map, and for
    whether its source is irreducible where relations leave that open.
    """
    values = completeness.elimination_values(polynomial_map, field=field)
    return render("base_locus", values=values | {"title": title or "a polynomial map"})


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
        forms, which is the coordinate ring of the projective closure modulo the equation of
        infinity: same degree, and same dimension as the affine variety.
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
    strategy_reason : str
        Why the strategy was chosen, where this depends on the time that it took; else empty.
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
    strategy_reason: str = ""
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

        Empty if there is neither, or if it is not known whether the coordinate ring has this
        series.
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

    def proof(self) -> Proof:
        """Return whether the generators found are proved to be all."""
        completeness = self.completeness
        if completeness.proved:
            return Proof(True, completeness.reason)
        lacking = "no generators were found"
        if completeness.degree is not None:
            lacking = f"the generators are complete up to degree {completeness.degree}"
        return Proof(False, "; ".join(filter(None, (lacking, self.unfinished))))

    def __repr__(self) -> str:
        return in_brackets(self, "model", "field", "dimension", "degree", "is_proved")

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
        series, function = self.hilbert_series, self.hilbert_function
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
            "generators": generators,
            "generator_degrees": degrees,
            "representations": representations,
            "complete": str(self.completeness),
            "completeness": self.completeness.reason or None,
            "homogeneous": self.homogeneous,
            "hilbert_series": None if series is None else series.to_json(),
            "hilbert_polynomial": None if series is None else str(series.polynomial),
            "hilbert_series_of": None if series is None else _hilbert_ring(self),
            "hilbert_function": None if function is None else list(function),
            "predicted_hilbert_function": None if predicted is None else list(predicted),
            "strategy": self.strategy,
            "strategy_reason": self.strategy_reason or None,
            "unfinished": self.unfinished or None,
            **self.proof()._asdict(),
        }

    def to_macaulay2(self) -> str:
        """Return a Macaulay2 program for the ideal of the generators found; 0 if none were."""
        ideal: GeneratingSet | None = self.ideal
        if ideal is None:
            ideal = GeneratingSet(PolynomialRing(self.field, self.model.coordinate_names()), ())
        reason = self.completeness.reason
        comment = f"-- {printable(reason)}\n" if reason else ""
        return comment + ideal_macaulay2(ideal)


def _facts(closure: Closure) -> list[tuple[str, object]]:
    """Return the lines of the summary as pairs of a name and a value; lines with the value ``None``
    are not shown.
    """
    dimension = projective_dimension = degree = None
    if not closure.known_dimension.is_open:
        dimension = str(closure.known_dimension)
    if closure.known_dimension.exact is not None:  # else it would be a bound, too
        projective_dimension = closure.projective_dimension
    if closure.degree is not None:
        degree = str(closure.degree)
    elif closure.fibre_degree is not None:
        degree = f"{closure.fibre_degree}, by source and generic fibre, not by equations"
    facts: list[tuple[str, object]] = [
        ("affine dimension", dimension),
        ("projective dimension", projective_dimension),
        ("codimension", closure.codimension),
        ("degree", degree),
    ]
    if closure.generator_degrees is not None:
        name = "minimal generators" if closure.homogeneous else "generators"
        facts.append((name, degree_summary(closure.generator_degrees)))
    # the representations of the generators, with their dimensions, by degree
    for n, of_degree in groupby(closure.representations or (), lambda one: one.degree):
        summands = list(of_degree)
        text = ", ".join(f"{one} ({one.dimension})" for one in summands)
        formula = Formula(text, r" \oplus ".join(one.latex for one in summands))
        facts.append((f"of degree {n}", formula))
    series = closure.hilbert_series
    if series is not None:
        facts.append(("Hilbert series", _hilbert_formula(closure, series.expression)))
        facts.append(("Hilbert polynomial", _hilbert_formula(closure, series.polynomial)))
    if closure.hilbert_function is not None:
        values = ", ".join(map(str, closure.hilbert_function))
        facts.append(("Hilbert function", f"{values}, …"))
    predicted, computed = closure.predicted_hilbert_function, closure.computed_hilbert_function
    prediction = None  # of the Hilbert function, compared with the computed one
    if predicted is not None:
        values = f"H(0), …, H({len(computed) - 1}) as computed"
        if predicted != computed:
            values = f"{', '.join(map(str, predicted))}, … and not what was computed"
        prediction = f"{values} (by a formula for all sizes, proved in large degrees only)"
    programs = computed_by(closure.engine_version, closure.seconds, closure.strategy)
    # generators are found by FLINT; Macaulay2 proves that they are all
    if closure.strategy == "multigraded" and closure.engine_version:
        programs = f"exact linear algebra (FLINT) and {programs}"
    return [
        *facts,
        ("predicted", prediction),
        ("ambient space", closure.model.ambient),
        ("complete", closure.completeness.reason or None),
        ("strategy", closure.strategy_reason or None),
        ("computed by", programs),
        ("not finished", closure.unfinished or None),
    ]


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


def _formulas(closure: Closure) -> list[str]:
    """Return the results that were found in LaTeX: dimension, degree, and the ideal I; or, if
    generators are known to be complete up to a degree n only, the ideal of the part of I of degree
    ≤ n.
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
        """The dimension of a generic fibre: dimension of the source less dimension of the image.

        ``None`` where one of the two is not known, or the source is not known to be irreducible.
        """
        image = self.closure.known_dimension.exact
        if not self.source_irreducible or self.source_dimension is None or image is None:
            return None
        return self.source_dimension - image

    def proof(self) -> Proof:
        """Return whether the closure is proved, and the other dimensions were found."""
        if self.unfinished:
            return Proof(False, self.unfinished)
        return self.closure.proof()

    def __repr__(self) -> str:
        return in_brackets(self, "title", "closure")

    def to_sheet(self) -> Sheet:
        """Return the sheet of the closure, after the dimensions of source, fibre and base locus."""
        remark = None
        if self.source_irreducible is None:
            undecided = "it was not decided whether the source is irreducible"
            remark = f"{undecided}; so no generic fibre is given"
        elif not self.source_irreducible:
            remark = "the source is reducible; so there is no one generic fibre"
        facts = [
            ("source", _dimension_or_empty(self.source_dimension)),
            ("generic fibre", _dimension_or_empty(self.generic_fibre_dimension)),
            ("base locus", _dimension_or_empty(self.base_locus_dimension)),
            ("remark", remark),
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
            **self.proof()._asdict(),
        }

    def to_macaulay2(self) -> str:
        """Return a Macaulay2 program that defines the ideal that the generators found generate."""
        return self.closure.to_macaulay2()


def _dimension_or_empty(dimension: int | None) -> str | None:
    """Return a dimension in words: ``empty`` for −1, ``dimension 2``."""
    if dimension is None:
        return None
    return "empty" if dimension == -1 else f"dimension {dimension}"

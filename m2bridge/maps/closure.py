"""The Zariski closure of the image of a polynomial map; with generic fibre and base locus.

The module chooses the method for the ideal: degree by degree (``implicitization/``), with the
proof that there are no further generators (``completeness``); as a lattice ideal (``toric``); or
by elimination in Macaulay2. The result, with its forms, is in ``closure_result``.

Independent coordinates are those that remain when the linear relations among the coordinates are
split off. A core is a smaller case of a family that determines the generators (``Model.core``). An
``Answer`` has the named values that a program of Macaulay2 gave before it ended or reached a limit.
"""

from contextlib import suppress
from dataclasses import replace
from typing import Unpack

from m2bridge import errors
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import total_degree
from m2bridge.convert.answers import Answer, answer_until_limit
from m2bridge.engine import RunOptions, computation, current
from m2bridge.engine.script import Script, render
from m2bridge.implicitization.multigraded_map import MultigradedMap
from m2bridge.limits import clock, limited, share
from m2bridge.maps import completeness, projective_closure, toric
from m2bridge.maps.closure_result import Closure, Image, Strategy
from m2bridge.maps.equations import (
    Equations,
    dimension_by_equations,
    generator_representations,
    graded_source,
    low_degree_equations,
)
from m2bridge.maps.jacobian_rank import best_value, jacobian_findings
from m2bridge.maps.model import Model
from m2bridge.maps.polynomial_map_model import Case, as_model
from m2bridge.results.known import UNKNOWN, Bounds
from m2bridge.results.sheet import printable

BY_ELIMINATION = "all generators: elimination by Macaulay2"

MAX_SHORT_ELIMINATION_SECONDS = 5.0
"""The time for elimination before linear algebra looks for the equation of a hypersurface."""
FIRST_TURN_SECONDS = 2.0
"""The time for linear algebra, and then twice as much for elimination, which may have to start
Macaulay2, before linear algebra has the rest."""
MAX_EARLY_ELIMINATION_COORDINATES = 12
"""With more coordinates elimination seldom ends in its first turn, and has none."""
MAX_DEGREEWISE_COORDINATES = 12
"""With more coordinates ``auto`` uses the lattice of a monomial map, if a program for it exists."""
MAX_ACCEPTED_DEGREE = 1000
"""The largest ``max_degree`` that is accepted, far above the degrees that can be computed."""


@computation
def closure(
    case: Case,
    *,
    field: CoefficientField = QQ,
    coordinates: str | None = None,
    weights: str | None = None,
    strategy: Strategy = "auto",
    max_degree: int | None = None,
    **options: Unpack[RunOptions],
) -> Closure:
    """Compute the ideal of the Zariski closure of the image.

    Linear relations among the coordinates are split off first, exactly; the rest is found in
    linearly independent coordinates. In characteristic p the ideal is that of the image of the map
    modulo p.

    Parameters
    ----------
    case : a model or a PolynomialMap
    engine : Engine, optional
        A Macaulay2 to use; without one, that of the ``with`` block around it, else one that the
        process shares.
    field : CoefficientField
        QQ, or a finite field, over which the map is taken.
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
           at most 12 coordinates, it has two seconds at first, then ``elimination`` has two.
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
    model = as_model(case, coordinates, weights)
    check_options(strategy, field=field, max_degree=max_degree)
    model.check_field(field)
    # Ranks need no equations: they come first, so that a limit leaves something to show.
    dimension = _dimension_by_ranks(model, field=field)
    chosen = strategy  # `auto` until a method is chosen
    try:
        graded_map = _graded_map(model, strategy, field, max_degree)
        chosen = _chosen_strategy(graded_map, strategy, max_degree)
        if graded_map is not None and chosen == "multigraded":
            if strategy == "auto" and max_degree is None:
                finished = _in_first_turns(graded_map, model, dimension)
                if finished is not None:
                    return finished
            return _by_degrees(graded_map, model, strategy, max_degree, dimension)
        if strategy == "auto" and chosen == "elimination" and field == QQ:
            hypersurface = _affine_hypersurface(model, dimension)
            if hypersurface is not None:  # ranks showed that it is one, and its equation was found
                return hypersurface
        return _by_macaulay2(model, field, chosen, dimension)
    except errors.TimeLimitError as limit:  # reached before any equation was found
        if dimension.is_open:
            raise  # nothing was found
        return Closure(
            model=model,
            field=field,
            strategy=chosen,
            known_dimension=dimension,
            seconds=clock().seconds,
            unfinished=str(limit),
        )


def _in_first_turns(graded_map: MultigradedMap, model: Model, dimension: Bounds) -> Closure | None:
    """Return the closure if linear algebra or elimination finishes in a short turn, else ``None``.

    Either can take a fraction of a second where the other takes minutes, and the map does not show
    it. ``graded_map`` is its standard grading, and ``dimension`` has bounds by ranks.
    """
    is_small = len(graded_map.polynomial_map.coordinates) <= MAX_EARLY_ELIMINATION_COORDINATES
    if not is_small or model.core() is not None:
        return None
    with suppress(errors.TimeLimitError), share(0.15), limited(FIRST_TURN_SECONDS):
        by_degrees = _by_degrees(graded_map, model, "auto", None, dimension)
        if not by_degrees.unfinished:
            return by_degrees
    with suppress(errors.TimeLimitError), share(0.15), limited(2 * FIRST_TURN_SECONDS):
        eliminated = _by_macaulay2(model, QQ, "elimination", dimension)
        if not eliminated.unfinished:
            return eliminated
    return None


def _chosen_strategy(
    graded_map: MultigradedMap | None, strategy: Strategy, max_degree: int | None
) -> Strategy:
    """Return the strategy itself, or the one that ``auto`` stands for.

    ``graded_map`` is the map whose generators are to be found degree by degree; ``None`` if they
    are not (:func:`_graded_map`).
    """
    if graded_map is None:
        return without_auto(strategy)
    return "lattice" if _prefers_lattice(graded_map, strategy, max_degree) else "multigraded"


def _dimension_by_ranks(model: Model, *, field: CoefficientField) -> Bounds:
    """Return bounds for the dimension of the closure by ranks of the differential.

    They are searched in half of the remaining time; ``UNKNOWN`` if none is found.
    """
    with share(0.5):
        best = best_value(jacobian_findings(model, field=field))
    return UNKNOWN if best is None else replace(best.known, because="ranks of the differential")


def _prefers_lattice(graded: MultigradedMap, strategy: Strategy, max_degree: int | None) -> bool:
    """Return whether the closure is computed as a lattice ideal, and not degree by degree: for
    ``auto`` without ``max_degree``, if the map has many coordinates, all monomials, and a program
    for Markov bases is installed.
    """
    if strategy != "auto" or max_degree is not None:
        return False
    if len(graded.polynomial_map.coordinates) <= MAX_DEGREEWISE_COORDINATES:
        return False
    # without a program for Markov bases the lattice ideal is a saturation, which takes longer
    return toric.is_monomial(graded.polynomial_map) and toric.markov_program() is not None


def _affine_hypersurface(model: Model, dimension: Bounds) -> Closure | None:
    """Return the closure over QQ of the image of a map without standard grading, if ranks show that
    it is a hypersurface, or a linear space; ``None`` if they do not, or no equation was found.

    Elimination has a short time; where that does not suffice, linear algebra looks for the equation
    of the projective closure. ``dimension`` has bounds by ranks of the differential.
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
    found = projective_closure.affine_hypersurface(source, dimension.lower, model.polynomial_map)
    return None if found is None else _closure_of_hypersurface(model, found)


def _closure_of_hypersurface(
    model: Model, hypersurface: projective_closure.ProvedHypersurface
) -> Closure:
    """Return the closure of the image of a model, which is a hypersurface, with its equation."""
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

    ``dimension`` stands in the result if Macaulay2 does not find the dimension.

    Raises
    ------
    InvalidCaseError
        If the relations among the parameters have no common zero.
    MethodUnavailableError
        If the strategy does not apply to the map, or the program for Markov bases fails.
    TimeLimitError
        If the limit was reached before Macaulay2 was asked.
    """
    script, reason = _ideal_program(model, field, strategy)
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


def _ideal_program(model: Model, field: CoefficientField, strategy: Strategy) -> toric.IdealProgram:
    """Return the Macaulay2 program of a strategy ``lattice``, ``elimination`` or
    ``ungraded-elimination``, with the reason in words why the generators that it finds are all.

    Raises
    ------
    MethodUnavailableError
        If the strategy does not apply to the map, or the program for Markov bases fails.
    """
    if strategy == "lattice":
        independent = completeness.linear_reduction(model, field).reduced
        return toric.lattice_script(independent, field=field, title=model.title)
    is_graded = strategy == "elimination"
    script = closure_script(model, field=field, graded=is_graded)
    return toric.IdealProgram(script, BY_ELIMINATION)


def check_options(strategy: Strategy, *, field: CoefficientField, max_degree: int | None) -> None:
    """Raise InvalidCaseError for an unknown strategy, or a field or ``max_degree`` that the
    strategy does not accept.
    """
    without_auto(strategy)  # raises for an unknown strategy
    if strategy == "multigraded" and field != QQ:
        raise errors.InvalidCaseError(
            "field", f"multigraded implicitization is over QQ, not {field}; use elimination"
        )
    if max_degree is not None:
        _check_max_degree(max_degree)
        if strategy not in ("auto", "multigraded") or field != QQ:
            raise errors.InvalidCaseError(
                "max_degree", "only the strategy multigraded, over QQ, goes up to a degree"
            )


def _check_max_degree(max_degree: int) -> None:
    """Raise InvalidCaseError unless the degree is an integer from 1 to ``MAX_ACCEPTED_DEGREE``."""
    is_integer = isinstance(max_degree, int) and not isinstance(max_degree, bool)
    if is_integer and 1 <= max_degree <= MAX_ACCEPTED_DEGREE:
        return
    message = f"must be an integer from 1 to {MAX_ACCEPTED_DEGREE}"
    # a large integer, which may have thousands of digits, is not printed
    if not is_integer or abs(max_degree) <= MAX_ACCEPTED_DEGREE:
        message += f", not {max_degree!r}"
    raise errors.InvalidCaseError("max_degree", message)


def _graded_map(
    model: Model, strategy: Strategy, field: CoefficientField, max_degree: int | None
) -> MultigradedMap | None:
    """Return the map whose generators are to be found degree by degree: the free parametrization of
    the model, with its grading.

    ``None`` if they are to be found in another way: for a strategy other than ``multigraded`` and
    ``auto``; for ``auto`` over a finite field; and for ``auto`` without ``max_degree`` unless the
    grading is standard (all coordinates of degree 1), which a proof of completeness needs.

    Raises
    ------
    MethodUnavailableError
        If generators up to a degree are wanted, but the map has no positive grading, or its
        parameters satisfy relations.
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

    What ``strategy`` and ``max_degree`` ask for is said in :func:`_equations_by_degrees`.
    ``dimension`` has bounds by ranks of the differential.
    """
    equations = _equations_by_degrees(graded_map, model, strategy, max_degree, dimension)
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


def _equations_by_degrees(
    graded_map: MultigradedMap,
    model: Model,
    strategy: Strategy,
    max_degree: int | None,
    dimension: Bounds,
) -> Equations:
    """Return equations of the model's map with its grading, degree by degree.

    ``auto`` without ``max_degree`` looks for a proof that they are all. With ``max_degree`` it
    finds the equations above low degrees by the core of the model, where there is one;
    ``multigraded`` uses linear algebra only. ``dimension`` has bounds by ranks of the differential.
    """
    if strategy == "auto" and max_degree is None:
        return completeness.all_equations(graded_map, model, rank=dimension.lower)
    core = model.core()
    # low_degree_equations takes None for a degree that it chooses itself
    if strategy == "auto" and max_degree is not None and core is not None:
        return completeness.equations_by_core(graded_map, max_degree, core)
    return low_degree_equations(graded_map, max_degree)


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
    """Return the closure from the answer of Macaulay2, which a limit may have cut short.

    The ideal is carried from the independent coordinates to all of them, and the linear relations
    are added.

    Parameters
    ----------
    answer : Answer
        To the program of :func:`closure_script`, or of a lattice ideal.
    model, field, strategy
        The arguments from which that program was made.
    version : str
        The version of Macaulay2.
    dimension : Bounds
        What is known of the dimension where the answer has none.
    unfinished : str
        The limit that was reached, or empty.
    reason : str
        The proof that the generators of the answer are all, in words.
    """
    ideal = None
    if "generators" in answer:
        # low degrees first, as people read them
        generators = sorted(answer.ideal("generators").generators, key=total_degree)
        ideal = completeness.ideal_in_all_coordinates(generators, model, field)
    if "dimension" in answer:
        dimension = Bounds.exactly(answer.integer("dimension"))
    independent_count = len(completeness.linear_reduction(model, field).basis)
    return Closure(
        model=model,
        field=field,
        strategy=strategy,
        equations=ideal,
        known_dimension=dimension,
        degree=_integer_or_none(answer, "degree"),
        hilbert_series=_series_or_none(answer, independent_count),
        engine_version=version,
        seconds=clock().seconds,
        unfinished=unfinished,
        completeness_reason=reason if ideal else "",
    )


def _series_or_none(answer: Answer, independent_count: int) -> HilbertSeries | None:
    """Return the Hilbert series of the quotient by the ideal in the independent coordinates, or by
    its ideal of leading forms if it is not homogeneous; ``None`` if a limit was reached before it.
    """
    if "hilbert_numerator" not in answer:
        return None
    # from exponents to coefficients, over (1 − T)^n with n independent coordinates
    numerator = answer.integer_pairs("hilbert_numerator")
    return HilbertSeries.from_numerator(numerator, independent_count)


CLOSURE_PART = 0.75
"""The fraction of the time for the closure; the rest is for source and base locus."""


@computation
def image(
    polynomial_map: PolynomialMap,
    *,
    field: CoefficientField = QQ,
    title: str = "",
    strategy: Strategy = "auto",
    max_degree: int | None = None,
    **options: Unpack[RunOptions],
) -> Image:
    """Compute the closure of the image, and the dimensions of generic fibre and base locus.

    Parameters
    ----------
    polynomial_map : PolynomialMap
        The map. If its source is reducible, no generic fibre is given.
    title : str
        The map in words; line breaks and control characters become spaces.
    field, strategy, max_degree
        How the closure is computed, as in :func:`m2bridge.maps.closure.closure`.
    engine : Engine, optional
        A Macaulay2 to use; without one, that of the ``with`` block around it, else one that the
        process shares.
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
    errors.check_kind("title", title, str, "text")
    title = printable(title)
    # the rest of the time is for the base locus, which is computed even if the closure was not
    with share(CLOSURE_PART):
        variety = closure(polynomial_map, field=field, strategy=strategy, max_degree=max_degree)
    # the answer has what was found before the limit; the text `limit` is empty if there was none
    answer, limit = answer_until_limit(base_locus_script(polynomial_map, field=field, title=title))
    source_dimension = _integer_or_none(answer, "source_dimension")
    # relations that contradict each other are a mistake in the input, not an empty image
    if source_dimension == -1:
        raise completeness.empty_source_error()
    limits = [variety.unfinished]
    if limit:
        limits.append(f"base locus: {limit}")
    return Image(
        closure=replace(variety, seconds=clock().seconds),  # with those for the base locus
        title=title,
        source_dimension=source_dimension,
        base_locus_dimension=_integer_or_none(answer, "base_locus_dimension"),
        source_irreducible=_source_irreducible(answer, polynomial_map),
        unfinished="; ".join(filter(None, limits)),
    )


def _integer_or_none(answer: Answer, name: str) -> int | None:
    """Return an integer of the answer, or ``None`` if a limit was reached before it."""
    return answer.integer(name) if name in answer else None


def _source_irreducible(answer: Answer, polynomial_map: PolynomialMap) -> bool | None:
    """Return whether the source of a map is irreducible; ``None`` if Macaulay2 did not decide it.

    ``answer`` is that to the program of :func:`base_locus_script`, which decides it only where
    relations of the parameters leave it open.
    """
    if not polynomial_map.maybe_reducible:
        return True
    decided = "source_irreducible" in answer
    return answer.boolean("source_irreducible") if decided else None


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

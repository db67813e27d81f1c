"""The singular locus of the closure of an image: by fibres, orbits, double points, minors.

Which methods run is decided in :func:`_planned_methods`. Those that look at orbits of a group
belong to the model (``maps.locus.OrbitMethods``); double points are found in
``maps.double_points``, and the Jacobian criterion on the whole variety is here. Any two that ran
are compared, and the result is that of the last one that finished.

``LocusFindings`` are what one method found. Its ``components`` are the irreducible components of
the singular locus, or ``None`` if the method did not finish. A ``MeasuredPrime`` is the triple of a
prime ideal with its dimension and degree. Texts that say why a method does not apply
(``model.no_orbits()``, ``model.no_fibres(field)``) are empty if it does.
"""

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from itertools import combinations
from math import comb
from typing import Any, Literal, Unpack

from m2bridge import errors
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.ring import is_homogeneous
from m2bridge.convert import m2_syntax
from m2bridge.convert.answers import answer_until_limit
from m2bridge.convert.printing import polynomial_text
from m2bridge.engine import RunOptions, computation, current
from m2bridge.engine.script import Script, render
from m2bridge.ideals.ideal import Ideal
from m2bridge.ideals.measured_primes import MeasuredPrime, measured_primes_in, proved_before_limit
from m2bridge.ideals.program import explain_factoring_errors
from m2bridge.ideals.singular_locus_result import IdealSingularLocus, IrreducibleComponent
from m2bridge.ideals.varieties import most_minors
from m2bridge.limits import clock, limited, share
from m2bridge.maps.closure import closure
from m2bridge.maps.closure_result import Closure, Strategy
from m2bridge.maps.completeness import elimination_values, linear_reduction
from m2bridge.maps.double_points import closure_dimension, double_points, why_no_double_points
from m2bridge.maps.locus import ORIGIN, ZERO, Component, LocusFindings, OrbitStatus, compare
from m2bridge.maps.model import Model
from m2bridge.maps.polynomial_map_model import Case, as_model
from m2bridge.maps.singular_locus_result import SingularLocus

SingularLocusMethod = Literal["auto", "fibres", "orbits", "double-points", "jacobian", "all"]

MAX_AUTO_IDEAL_COORDINATES = 12
"""With at most this many coordinates ``auto`` also computes the ideal, as a second method."""
MAX_ORBIT_IDEAL_COORDINATES = 20
"""With at most this many independent coordinates ``orbits`` computes the ideal, in seconds."""
MAX_AUTO_CRITERION_MINORS = 500
"""With at most this many minors ``auto`` uses the Jacobian criterion, as a third method."""
MAX_SECOND_OPINION_COORDINATES = 6
"""With at most this many coordinates ``auto`` uses the criterion in addition to double points."""
MAX_DOUBLE_POINTS_SECONDS = 60.0
"""Seconds of ``auto`` for double points without a limit on time, before the Jacobian criterion."""
MAX_SHORT_ELIMINATION_SECONDS = 5.0
"""Seconds of elimination before linear algebra, since small maps take a fraction of one."""
MAX_LINEAR_ALGEBRA_SECONDS = 20.0
"""Seconds of linear algebra, before elimination has the rest of the time."""


@computation
def singular_locus(
    case: Case,
    *,
    field: CoefficientField = QQ,
    coordinates: str | None = None,
    method: SingularLocusMethod = "auto",
    ideals: bool = False,
    **options: Unpack[RunOptions],
) -> SingularLocus:
    """Compute the singular locus of the Zariski closure.

    Parameters
    ----------
    case : a model or a PolynomialMap
    field : CoefficientField
        QQ, or a finite field, over which the map is taken.
    coordinates : str, optional
        The name of the coordinates, for models that offer a choice.
    engine : Engine, optional
        A Macaulay2 to use; without one, that of the ``with`` block around it, else one that the
        process shares.
    method : {"auto", "fibres", "orbits", "double-points", "jacobian", "all"}
        ``fibres``: the fibre of the parametrization over one point of each orbit, for models whose
        orbits are known and whose fibres decide smoothness. ``orbits``: the Jacobian criterion at
        one point of each orbit; over QQ, with more than 12 coordinates, by tangent vectors and
        equations of low degree, by the whole ideal with at most 20 independent coordinates, and
        over GF(p). ``double-points``: points of the source with the same image, for maps from a
        product of projective spaces, over QQ (:mod:`m2bridge.maps.double_points`). ``jacobian``:
        the Jacobian criterion on the whole variety, decomposed into irreducible components.
        ``auto``: the first of these that applies, with the others as second opinions where they
        are cheap. ``all``: all that apply.
    ideals : bool
        Compute the ideals of the components too.
    timeout : float, optional
        Seconds for the whole computation.

    Returns
    -------
    SingularLocus
        With ``unfinished`` set, and the results found until then, if a limit was reached or orbits
        remain undecided.

    Raises
    ------
    MethodUnavailableError
        If the method does not apply to this case.
    ContradictionError
        If two methods disagree.

    Examples
    --------
    >>> from sympy import symbols
    >>> t = symbols("t")
    >>> cusp = PolynomialMap.from_expressions([t], {"x": t**2, "y": t**3})
    >>> singular_locus(cusp).components[0].ideal.generators
    (y, x)
    """
    errors.check_choice("method", method, SingularLocusMethod)
    model = as_model(case, coordinates)
    model.check_field(field)
    plan = _planned_methods(method, model, field)
    findings: list[LocusFindings] = []
    orbit_methods = model.orbit_methods()
    if "double-points" in plan:
        findings += _by_double_points(model, required=method == "double-points")
        # without the Jacobian criterion, which as a second opinion may take long
        if method == "auto" and _double_points_suffice(findings, model):
            return _compare_and_combine(findings, model, field, ideals, second_opinion=True)
    if orbit_methods is not None and "fibres" in plan:
        findings.append(orbit_methods.by_fibres())
    # tangent vectors and equations of low degree at orbits: the quick part of the method `orbits`
    if orbit_methods is not None and "bounds" in plan:
        findings.append(orbit_methods.by_bounds())
    if "orbits" in plan or "jacobian" in plan:
        findings += _findings_by_ideal(plan, model, field, second_opinion=method == "auto")
    return _compare_and_combine(findings, model, field, ideals, second_opinion=method != "all")


@computation
def projective_singular_locus(
    case: Case,
    *,
    field: CoefficientField = QQ,
    coordinates: str | None = None,
    **options: Unpack[RunOptions],
) -> IdealSingularLocus[Ideal]:
    """Compute the singular locus of the projective variety of a Zariski closure that is a cone.

    Parameters
    ----------
    case : a model or a PolynomialMap
    field : CoefficientField
        QQ, or a finite field, over which the map is taken.
    coordinates : str, optional
        The name of the coordinates, for models that offer a choice.
    engine, timeout
        A Macaulay2 to use, and the seconds for the whole computation; both optional.

    Raises
    ------
    MethodUnavailableError
        If the closure is not a cone, or its ideal is not proved to be found.
    """
    model = as_model(case, coordinates)
    model.check_field(field)
    variety = closure(model, field=field)
    if variety.ideal is None:
        raise variety.incomplete()
    ideal = variety.whole_ideal()
    # The ideal of a cone is homogeneous over an infinite field. Over GF(p), where scalars are few,
    # it is the ideal that has to be homogeneous.
    for generator in ideal.generators:
        if not is_homogeneous(generator):
            generator_text = f"{polynomial_text(generator):.60}"
            raise errors.MethodUnavailableError(
                f"the closure of the {model.title} is not a cone, so that no projective variety"
                f" belongs to it: {generator_text} is not homogeneous; leave --projective out"
            )
    return ideal.projective().singular_locus(title=f"the closure of the {model.title}")


def _planned_methods(
    method: SingularLocusMethod, model: Model, field: CoefficientField
) -> tuple[str, ...]:
    """Return the names of the methods to try, in order.

    They are ``double-points``, ``fibres``, ``bounds`` (tangent vectors and equations of low degree
    at orbits), ``orbits`` (the Jacobian criterion at orbits) and ``jacobian``. The Jacobian
    criterion at orbits costs nothing once the ideal is known; where that may take long, there are
    bounds at orbits without it.

    Raises
    ------
    MethodUnavailableError
        If the chosen method does not apply.
    """
    # texts that say why a method does not apply; empty if it does
    no_orbits, no_fibres = model.no_orbits(), model.no_fibres(field)
    if (method == "fibres" and no_fibres) or (method == "orbits" and no_orbits):
        # raises if the map cannot be expanded, since then no other method applies either
        _ = model.polynomial_map
        other = "jacobian" if no_orbits else "orbits"
        raise errors.MethodUnavailableError(f"{no_orbits or no_fibres}; use --method {other}")
    orbit_methods = model.orbit_methods()
    if method == "double-points":
        unavailable = why_no_double_points(model, field)
        if unavailable:
            raise errors.MethodUnavailableError(f"{unavailable}; use --method jacobian")
        return ("double-points",)
    if orbit_methods is None:
        # expands the map, which large models with orbits do without
        if method == "jacobian" or why_no_double_points(model, field):
            return ("jacobian",)
        return ("double-points", "jacobian")
    # from here on the orbits are known
    is_large = field == QQ and model.coordinate_count > MAX_AUTO_IDEAL_COORDINATES
    # fibres decide without the ideal, so that `auto` computes no ideal of many coordinates
    if method == "fibres" or (method == "auto" and is_large and not no_fibres):
        return ("fibres",)
    # bounds, which need no ideal, come first where the ideal may not be found in time
    at_orbits = ("bounds", "orbits") if is_large else ("orbits",)
    if method == "orbits" or (method == "auto" and is_large):
        ideal_takes_long = orbit_methods.independent_count > MAX_ORBIT_IDEAL_COORDINATES
        return ("bounds",) if is_large and ideal_takes_long else at_orbits
    # what is left: `all`, `jacobian`, and `auto` for few coordinates
    if no_fibres or method == "jacobian":
        return (*at_orbits, "jacobian")
    return ("fibres", *at_orbits, "jacobian")


def _by_double_points(model: Model, *, required: bool) -> list[LocusFindings]:
    """Return the findings by double points in a list.

    The list is empty if the method does not apply to the map, and is not ``required``: asked for by
    its name. If a limit is reached, the findings are unfinished.

    Raises
    ------
    MethodUnavailableError
        If the method is required and does not apply to the map.
    """
    # elimination and the Jacobian criterion have the rest of the time, if they are to run too
    half_of_the_time = share(0.5, otherwise=MAX_DOUBLE_POINTS_SECONDS)
    try:
        with nullcontext() if required else half_of_the_time:
            primes = double_points(model)
    except errors.MethodUnavailableError as reason:
        if required:
            raise errors.MethodUnavailableError(f"{reason}; use --method jacobian") from None
        return []
    except (errors.TimeLimitError, errors.MemoryLimitError) as limit:
        # that the map is finite, on which the dimension rests, was perhaps not decided
        return [LocusFindings("double points", dimension=None, unfinished=str(limit))]
    dimension = closure_dimension(model)
    components = _sorted_components(model, primes)
    return [LocusFindings("double points", dimension, components=components)]


def _double_points_suffice(findings: Iterable[LocusFindings], model: Model) -> bool:
    """Whether ``auto`` ends with these findings by double points.

    It does if the method finished and there are so many coordinates that the Jacobian criterion, as
    a second opinion, may take long.
    """
    finished = any(finding.components is not None for finding in findings)
    return finished and model.coordinate_count > MAX_SECOND_OPINION_COORDINATES


def _findings_by_ideal(
    plan: tuple[str, ...], model: Model, field: CoefficientField, second_opinion: bool
) -> list[LocusFindings]:
    """Return the findings of the methods that need the ideal of the closure, in order.

    Parameters
    ----------
    plan : tuple of str
        The methods to try; ``orbits`` and ``jacobian`` need the ideal.
    second_opinion : bool
        Whether ``jacobian`` is only a second opinion, to be left out where it is expensive and
        ``orbits`` gave findings.
    """
    methods = " and ".join(name for name in plan if name in ("orbits", "jacobian"))
    orbit_methods = model.orbit_methods()
    findings: list[LocusFindings] = []
    dimension = None
    try:
        variety = _closure_with_whole_ideal(model, field)
        ideal, dimension = variety.ideal, variety.dimension
        if ideal is None or dimension is None:
            place = "while computing the ideal of the closure"
            if "fibres" not in plan and not model.no_fibres(field):
                place += "; --method fibres needs none"
            reason = f"{variety.unfinished} ({place})"
            return [LocusFindings(methods, dimension, unfinished=reason)]
        if orbit_methods is not None and "orbits" in plan:
            findings.append(orbit_methods.by_orbits(ideal, dimension))
        coordinate_count = len(ideal.ring.variables)
        codimension = coordinate_count - dimension
        # the minors of size `codimension` of the Jacobian matrix, which the criterion is about
        minor_count = comb(len(ideal.generators), codimension) * comb(coordinate_count, codimension)
        has_findings = len(findings) > 0
        too_expensive = second_opinion and has_findings and minor_count > MAX_AUTO_CRITERION_MINORS
        if "jacobian" in plan and not too_expensive:
            findings.append(_by_jacobian(model, ideal, dimension))
    except (errors.TimeLimitError, errors.MemoryLimitError) as limit:
        findings.append(LocusFindings(methods, dimension, unfinished=str(limit)))
    return findings


def _closure_with_whole_ideal(model: Model, field: CoefficientField) -> Closure:
    """Return the closure with its whole ideal; ``ideal`` is ``None`` if the time does not suffice.

    Elimination, which is instantaneous for small maps, is tried for a short time. Then ``closure``
    looks for generators by linear algebra, which counts if it proves that they are all. Elimination
    has the rest of the time.
    """
    # ``None`` where a limit was reached before anything was found
    with limited(MAX_SHORT_ELIMINATION_SECONDS):
        eliminated = _closure_within_limits(model, field, "elimination")
    if eliminated is not None and eliminated.ideal is not None:
        return eliminated
    with limited(MAX_LINEAR_ALGEBRA_SECONDS):
        by_degrees = _closure_within_limits(model, field, "auto")
    if by_degrees is not None and by_degrees.ideal is not None and by_degrees.completeness.proved:
        return by_degrees
    return closure(model, field=field, strategy="elimination")


def _closure_within_limits(
    model: Model, field: CoefficientField, strategy: Strategy
) -> Closure | None:
    """Return the closure, which may be unfinished; ``None`` if a limit left nothing to return."""
    try:
        return closure(model, field=field, strategy=strategy)
    except (errors.TimeLimitError, errors.MemoryLimitError):
        return None


def _by_jacobian(model: Model, ideal: Ideal, dimension: int) -> LocusFindings:
    """Return findings by the Jacobian criterion, with selected minors, or all if they are few.

    ``ideal`` is the ideal I of the closure, and ``dimension`` the dimension of the closure.

    Hypothesis: I is prime, so that the variety is equidimensional and reduced. I is prime if it is
    the kernel of a ring map to a domain; where relations of the source leave that open, Macaulay2
    decides first. A reducible variety is singular where one of its components is singular, and
    where two of its components meet: then the criterion is applied to each component.

    Raises
    ------
    ContradictionError
        If the orbits of the model are known, and a component of the singular locus is not an orbit
        closure.
    """
    # A closure that is the whole space is smooth.
    if dimension == len(ideal.ring.variables):
        return LocusFindings("jacobian", dimension, components=())
    if model.polynomial_map.maybe_reducible and not ideal.is_prime():
        return _singular_locus_of_reducible(model, ideal, dimension)
    # Macaulay2 factors polynomials over the field; where it cannot, the error says why
    with explain_factoring_errors(ideal):
        # the answer so far, and the limit that was reached, or ""
        answer, limit = answer_until_limit(_criterion_script(model, m2_syntax.ring_values(ideal)))
    if limit:
        primes, rest_dimension = proved_before_limit(answer)
        return LocusFindings(
            "jacobian",
            dimension,
            unfinished=limit,
            proved=_sorted_components(model, primes),
            rest_dimension=rest_dimension,
        )
    # triples of a prime ideal, its dimension and its degree
    primes_of_locus = measured_primes_in(answer, "minimal_primes", "dimensions", "degrees")
    components = _sorted_components(model, primes_of_locus)
    return LocusFindings("jacobian", dimension, components=components)


def _singular_locus_of_reducible(model: Model, ideal: Ideal, dimension: int) -> LocusFindings:
    """Return what the Jacobian criterion finds on a reducible variety.

    That is the components of its singular locus; or, if a limit was reached, those that are proved
    until then (``proved``) and a bound for the dimension of the others (``rest_dimension``).
    ``ideal`` is the ideal of the variety, and ``dimension`` its affine dimension.
    """
    locus = ideal.singular_locus()
    components = None
    if locus.components is not None:
        components = _sorted_components(model, map(_as_measured_prime, locus.components))
    return LocusFindings(
        "jacobian",
        dimension,
        components=components,
        unfinished=locus.unfinished,
        proved=_sorted_components(model, map(_as_measured_prime, locus.proved)),
        rest_dimension=locus.rest_dimension,
    )


def _as_measured_prime(component: IrreducibleComponent[Ideal]) -> MeasuredPrime:
    """Return the prime ideal of a component with its dimension and degree."""
    return component.ideal, component.dimension, component.degree


def _sorted_components(model: Model, primes: Iterable[MeasuredPrime]) -> tuple[Component, ...]:
    """Return the components with these prime ideals, by decreasing dimension.

    Each prime is given with its dimension and degree; components of the same dimension are in the
    order of their descriptions.
    """
    components = []
    for prime, dimension, degree in primes:
        components.append(_component_of_prime(model, Ideal.of(prime), dimension, degree))
    components.sort(key=lambda component: (-component.dimension, component.description))
    return tuple(components)


def jacobian_script(model: Model, *, field: CoefficientField) -> Script:
    """Return the Macaulay2 program of the Jacobian criterion, elimination included."""
    independent = linear_reduction(model, field).reduced
    return _criterion_script(model, elimination_values(independent, field=field))


def _criterion_script(model: Model, ideal: Mapping[str, object]) -> Script:
    """Return the Macaulay2 program of the Jacobian criterion for an ideal.

    ``ideal`` maps names in the template to their values: those of an ideal that is known, by
    :func:`~m2bridge.convert.m2_syntax.ring_values`, or those of its elimination, by
    :func:`~m2bridge.maps.completeness.elimination_values`.
    """
    # if a component has at most `most_minors` minors they are all taken at once, else selected
    values = {**ideal, "title": model.title, "most_minors": most_minors("auto")}
    return render("jacobian_criterion", values=values)


def _component_of_prime(model: Model, prime: Ideal, dimension: int, degree: int) -> Component:
    """Return the variety of a prime ideal, over a perfect field, as a component of the singular
    locus, with its orbit if the model knows orbits and the variety is not the point zero.

    The point zero is told by its description alone, and its ``orbit`` is ``None``: in a model that
    knows orbits it is the zero function, since coordinates are coefficients of functions there; in
    any other model it is the origin of the space of the coordinates.

    Raises
    ------
    ContradictionError
        If the model knows orbits, and the variety is neither zero nor the closure of an orbit.
    """
    orbit_methods = model.orbit_methods()
    orbit = None
    # A prime ideal of dimension 0 that is generated by monomials is generated by all variables: its
    # point is zero.
    if dimension == 0 and all(len(generator) == 1 for generator in prime.generators):
        description = ORIGIN if orbit_methods is None else ZERO
    elif orbit_methods is not None:
        orbit = orbit_methods.identify(prime, dimension)
        if orbit is None:
            raise errors.ContradictionError(
                f"a minimal prime of dimension {dimension} and degree {degree} of the singular"
                " locus is not an orbit closure, although the singular locus is invariant under the"
                " group"
            )
        description = f"closure of the orbit {orbit}"
    elif dimension:
        description = f"irreducible component of dimension {dimension}"
    elif degree == 1:
        description = "a point"
    else:  # over a perfect field the degree of a finite variety is its number of points
        description = f"{degree} points, conjugate over {prime.ring.field}"
    return Component(
        description=description, orbit=orbit, dimension=dimension, degree=degree, ideal=prime
    )


def _compare_and_combine(
    findings: list[LocusFindings],
    model: Model,
    field: CoefficientField,
    ideals: bool,
    second_opinion: bool,
) -> SingularLocus:
    """Compare the findings of all methods, and return the result of the last one that finished.

    Parameters
    ----------
    findings : list of LocusFindings
        In the order in which the methods ran.
    model : Model
    field : CoefficientField
    ideals : bool
        Whether the components have their ideals. For models without orbits, whose methods find the
        ideals first, they always have.
    second_opinion : bool
        Whether one method that finished is enough. Then the limits of other methods are remarks;
        otherwise the result is ``unfinished``.

    Raises
    ------
    ContradictionError
        If two methods disagree.
    """
    for first, second in combinations(findings, 2):
        compare(first, second)  # raises if they disagree
    finished = [finding for finding in findings if finding.components is not None]
    # if no method finished, the result is what all of them found so far
    combined = finished or findings
    methods = " and ".join(finding.method for finding in combined)
    remarks = [f"{methods} agree"] if len(finished) > 1 else []
    unfinished = [finding for finding in findings if finding.unfinished]
    limits = [f"{finding.method}: {finding.unfinished}" for finding in unfinished]
    if finished and second_opinion:
        remarks += limits
        limits = []
    # the dimension of the variety, by the last method that found it
    dimensions = [finding.dimension for finding in combined if finding.dimension is not None]
    dimension = dimensions[-1] if dimensions else None
    keep_ideals = ideals or model.orbit_methods() is None
    components: tuple[Component, ...] | None = None
    proved: tuple[Component, ...] = ()
    rest_dimension = None
    if finished:
        components = finished[-1].components or ()  # empty if the closure is smooth
        components = _with_or_without_ideals(components, model, field, keep_ideals=keep_ideals)
    elif findings:  # what the Jacobian criterion, the last method, proved before a limit
        last = findings[-1]
        proved, rest_dimension = last.proved, last.rest_dimension
    uses_engine = keep_ideals or any(finding.uses_engine for finding in findings)
    return SingularLocus(
        model=model,
        field=field,
        method=methods,
        variety_dimension=dimension,
        orbits=known_orbits(combined),
        components=components,
        remarks=tuple(remarks),
        engine_version=current().version if uses_engine else "",
        seconds=clock().seconds,
        unfinished="; ".join(limits),
        proved=proved,
        rest_dimension=rest_dimension,
    )


def known_orbits(findings: Iterable[LocusFindings]) -> tuple[OrbitStatus, ...]:
    """Return the status of each orbit that some method observed, by the last method that decided
    it.

    An orbit that no method decided has the status by the first method that observed it. The orbits,
    which are comparable, are sorted.
    """
    statuses: dict[Any, OrbitStatus] = {}
    for finding in findings:
        for status in finding.statuses:
            if status.singular is not None or status.orbit not in statuses:
                statuses[status.orbit] = status
    return tuple(statuses[orbit] for orbit in sorted(statuses))


def _with_or_without_ideals(
    components: Iterable[Component], model: Model, field: CoefficientField, *, keep_ideals: bool
) -> tuple[Component, ...]:
    """Return the components without their ideals; with them if ``keep_ideals`` is true.

    Ideals of orbit closures that were not computed yet are found by elimination.
    """
    if keep_ideals:
        return tuple(_with_ideal(component, model, field) for component in components)
    return tuple(replace(component, ideal=None) for component in components)


def _with_ideal(component: Component, model: Model, field: CoefficientField) -> Component:
    """Return the component with its ideal and degree, by elimination of its parametrization.

    It is unchanged if it has an ideal, is not an orbit closure, or elimination did not finish.

    Raises
    ------
    ContradictionError
        If dimension or degree differ from the known values.
    """
    if component.ideal is not None or component.orbit is None:
        return component
    orbit_methods = model.orbit_methods()
    assert orbit_methods is not None
    try:
        orbit_closure = orbit_methods.orbit_closure(component.orbit)
        variety = closure(orbit_closure, field=field, strategy="elimination")
    except errors.TimeLimitError:
        return component
    if variety.ideal is None or variety.degree is None:
        return component
    # elimination knows nothing of the group, so it checks dimension and degree
    if variety.dimension != component.dimension or component.degree not in (None, variety.degree):
        raise errors.ContradictionError(
            f"the {component.description} has dimension {component.dimension} and degree"
            f" {component.degree} by its group action and formula, but {variety.dimension} and"
            f" {variety.degree} by elimination"
        )
    return replace(component, degree=variety.degree, ideal=variety.ideal)

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
from math import comb
from typing import Literal, Unpack

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
from m2bridge.ideals.program import explain_factoring_errors, ideal_sort_key, tidy
from m2bridge.ideals.singular_locus_result import IdealSingularLocus, IrreducibleComponent
from m2bridge.ideals.varieties import most_minors
from m2bridge.limits import clock, limited, share
from m2bridge.maps.closure import closure
from m2bridge.maps.closure_result import Closure, Strategy
from m2bridge.maps.completeness import elimination_values, linear_reduction
from m2bridge.maps.double_points import closure_dimension, double_points, why_no_double_points
from m2bridge.maps.locus import (
    ComparedFindings,
    Component,
    LocusFindings,
    OrbitMethods,
    known_orbits,
)
from m2bridge.maps.model import Model
from m2bridge.maps.polynomial_map_model import Case, as_model
from m2bridge.maps.singular_locus_result import SingularLocus, components_of_primes

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
        one point of each orbit, by the whole ideal; over QQ with more than 12 coordinates first by
        tangent vectors and equations of low degree, and then by the whole ideal only if at most 20
        coordinates are independent. ``double-points``: points of the source with the same image,
        for maps from a product of projective spaces, over QQ (:mod:`m2bridge.maps.double_points`).
        ``jacobian``: the Jacobian criterion on the whole variety, decomposed into irreducible
        components.
        ``all``: as far as they apply, ``fibres``, ``orbits`` and ``jacobian`` if orbits are known,
        else ``double-points`` and ``jacobian``. ``auto``: with known orbits, over QQ with more than
        12 coordinates, ``fibres``, or ``orbits`` if fibres do not decide; otherwise as ``all``, but
        ``jacobian``, if it may take long, is left out after ``orbits``, and after double points
        that finished.
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
    errors.check_flag("ideals", ideals)
    model = as_model(case, coordinates)
    model.check_field(field)
    plan = _planned_methods(method, model, field)
    findings: list[LocusFindings] = []
    orbit_methods = model.orbit_methods()
    if "double-points" in plan:
        findings += _by_double_points(model, required=method == "double-points")
        # without the Jacobian criterion, which as a second opinion may take long
        if method == "auto" and _double_points_suffice(findings, model):
            return _compare_and_combine(findings, model, field, ideals, one_method_suffices=True)
    if orbit_methods is not None and "fibres" in plan:
        findings.append(orbit_methods.by_fibres())
    # tangent vectors and equations of low degree at orbits: the quick part of the method `orbits`
    if orbit_methods is not None and "bounds" in plan:
        findings.append(orbit_methods.by_bounds())
    if "orbits" in plan or "jacobian" in plan:
        findings += _findings_by_ideal(plan, model, field, second_opinion=method == "auto")
    return _compare_and_combine(findings, model, field, ideals, one_method_suffices=method != "all")


@computation
def projective_singular_locus(
    case: Case,
    *,
    field: CoefficientField = QQ,
    coordinates: str | None = None,
    method: Literal["auto", "jacobian"] = "auto",
    **options: Unpack[RunOptions],
) -> IdealSingularLocus[Ideal]:
    """Compute the singular locus of the projective variety of a Zariski closure that is a cone.

    ``auto`` examines double points of the map first, where they apply
    (:mod:`m2bridge.maps.double_points`) and finish in half of the time, and else uses the Jacobian
    criterion, as the method ``jacobian`` does.

    Parameters
    ----------
    case : a model or a PolynomialMap
    field : CoefficientField
        QQ, or a finite field, over which the map is taken.
    coordinates : str, optional
        The name of the coordinates, for models that offer a choice.
    method : {"auto", "jacobian"}
    engine, timeout
        A Macaulay2 to use, and the seconds for the whole computation; both optional.

    Raises
    ------
    MethodUnavailableError
        If the closure is not a cone, or its ideal is not proved to be found.
    TimeLimitError
        If the ideal of the closure is not found since a limit was reached.
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
    if method == "auto":
        by_double_points = _projective_locus_by_double_points(model, field, variety, ideal)
        if by_double_points is not None:
            return by_double_points
    return ideal.projective().singular_locus(title=f"the closure of the {model.title}")


def _projective_locus_by_double_points(
    model: Model, field: CoefficientField, variety: Closure, ideal: Ideal
) -> IdealSingularLocus[Ideal] | None:
    """Return the singular locus of the projective variety of a cone by double points.

    ``None`` if they do not apply to the map, or do not finish in half of the time. ``variety`` is
    the closure, and ``ideal`` its homogeneous ideal.
    """
    if why_no_double_points(model, field) or variety.degree is None:
        return None
    try:
        with share(0.5, otherwise=MAX_DOUBLE_POINTS_SECONDS):
            primes = double_points(model)
    except (errors.MethodUnavailableError, errors.TimeLimitError, errors.MemoryLimitError):
        return None
    # The locus found is that of the cone: its components have dimensions one more, and the apex,
    # which is no point of projective space, is left out.
    components = []
    for prime, dimension, degree in primes:
        if dimension > 0:
            component = Ideal.of(tidy(prime))
            components.append(IrreducibleComponent(component, dimension - 1, degree))
    components.sort(key=lambda component: ideal_sort_key(component.ideal))
    radical = Ideal(ideal.ring, (ideal.ring.sympy_ring.one,))
    if components:
        first, *others = [component.ideal for component in components]
        radical = first.intersect(*others)
    # The image of a product of projective spaces is irreducible.
    whole = IrreducibleComponent(ideal, closure_dimension(model) - 1, variety.degree)
    return IdealSingularLocus(
        given=ideal,
        title=f"the closure of the {model.title}",
        variety=(whole,),
        components=tuple(components),
        ideal=radical,
        engine_version=current().version,
        seconds=clock().seconds,
        projective=True,
        method="double points",
    )


def _planned_methods(
    method: SingularLocusMethod, model: Model, field: CoefficientField
) -> tuple[str, ...]:
    """Return the names of the methods to try, in order; ``method`` is what was asked for.

    The names are ``double-points``, ``fibres``, ``bounds`` (tangent vectors and equations of low
    degree at orbits), ``orbits`` (the Jacobian criterion at orbits) and ``jacobian``. The Jacobian
    criterion at orbits costs nothing once the ideal is known; where finding the ideal may take
    long, there are bounds at orbits, which need no ideal.

    Raises
    ------
    MethodUnavailableError
        If the chosen method does not apply.
    """
    _check_method(method, model, field)  # raises if it does not apply
    if method == "double-points":
        return ("double-points",)
    orbit_methods = model.orbit_methods()
    if orbit_methods is not None:
        return _planned_methods_at_orbits(method, model, orbit_methods, field)
    # expands the map, which large models with orbits do without
    if method == "jacobian" or why_no_double_points(model, field):
        return ("jacobian",)
    return ("double-points", "jacobian")


def _check_method(method: SingularLocusMethod, model: Model, field: CoefficientField) -> None:
    """Raise MethodUnavailableError if the method that was chosen by its name does not apply."""
    # texts that say why a method does not apply; empty if it does
    no_orbits, no_fibres = model.no_orbits(), model.no_fibres(field)
    if (method == "fibres" and no_fibres) or (method == "orbits" and no_orbits):
        # raises if the map cannot be expanded, since then no other method applies either
        _ = model.polynomial_map
        other = "jacobian" if no_orbits else "orbits"
        raise errors.MethodUnavailableError(f"{no_orbits or no_fibres}; use --method {other}")
    if method == "double-points":
        unavailable = why_no_double_points(model, field)
        if unavailable:
            raise errors.MethodUnavailableError(f"{unavailable}; use --method jacobian")


def _planned_methods_at_orbits(
    method: SingularLocusMethod, model: Model, orbit_methods: OrbitMethods, field: CoefficientField
) -> tuple[str, ...]:
    """Return the names of the methods to try, in order, for a model whose orbits are known.

    ``method`` is not ``double-points``, and applies to the model.
    """
    fibres_apply = not model.no_fibres(field)
    is_large = field == QQ and model.coordinate_count > MAX_AUTO_IDEAL_COORDINATES
    # fibres decide without the ideal, so that `auto` computes no ideal of many coordinates
    if method == "fibres" or (method == "auto" and is_large and fibres_apply):
        return ("fibres",)
    # bounds, which need no ideal, come first where the ideal may not be found in time
    at_orbits = ("bounds", "orbits") if is_large else ("orbits",)
    if method == "orbits" or (method == "auto" and is_large):
        ideal_takes_long = orbit_methods.independent_count > MAX_ORBIT_IDEAL_COORDINATES
        return ("bounds",) if is_large and ideal_takes_long else at_orbits
    # what is left: `all`, `jacobian`, and `auto` for few coordinates
    if method == "jacobian" or not fibres_apply:
        return (*at_orbits, "jacobian")
    return ("fibres", *at_orbits, "jacobian")


def _by_double_points(model: Model, *, required: bool) -> list[LocusFindings]:
    """Return the findings by double points in a list.

    ``required`` says that the method was asked for by its name. The list is empty if the method
    does not apply to the map and is not required. If a limit is reached, the findings are
    unfinished.

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
    components = components_of_primes(model, primes)
    return [LocusFindings("double points", dimension, components=components)]


def _double_points_suffice(findings: Iterable[LocusFindings], model: Model) -> bool:
    """Whether ``auto`` ends with these findings by double points.

    That is so if the method finished, and there are so many coordinates that the Jacobian
    criterion, as a second opinion, may take long.
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
            reason = f"{variety.unfinished} (while computing the ideal of the closure"
            advises_fibres = "fibres" not in plan and not model.no_fibres(field)
            reason += "; --method fibres needs none)" if advises_fibres else ")"
            return [LocusFindings(methods, dimension, unfinished=reason)]
        if orbit_methods is not None and "orbits" in plan:
            findings.append(orbit_methods.by_orbits(ideal, dimension))
        is_expensive = _minor_count(ideal, dimension) > MAX_AUTO_CRITERION_MINORS
        found_at_orbits = len(findings) > 0
        if "jacobian" in plan and not (second_opinion and found_at_orbits and is_expensive):
            findings.append(_by_jacobian(model, ideal, dimension))
    except (errors.TimeLimitError, errors.MemoryLimitError) as limit:
        findings.append(LocusFindings(methods, dimension, unfinished=str(limit)))
    return findings


def _minor_count(ideal: Ideal, dimension: int) -> int:
    """Return the number of minors that the Jacobian criterion is about.

    They are the minors of size c of the Jacobian matrix of the generators, where c is the
    codimension of the variety of the ideal, whose affine dimension is ``dimension``.
    """
    coordinate_count = len(ideal.ring.variables)
    codimension = coordinate_count - dimension
    choices_of_rows = comb(len(ideal.generators), codimension)
    choices_of_columns = comb(coordinate_count, codimension)
    return choices_of_rows * choices_of_columns


def _closure_with_whole_ideal(model: Model, field: CoefficientField) -> Closure:
    """Return the closure with its whole ideal. If the time does not suffice, ``ideal`` is ``None``,
    or a TimeLimitError is raised.

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
        script = _criterion_script(model, m2_syntax.ring_values(ideal))
        answer, limit = answer_until_limit(script)
    if limit:
        primes, rest_dimension = proved_before_limit(answer)
        return LocusFindings(
            "jacobian",
            dimension,
            unfinished=limit,
            proved=components_of_primes(model, primes),
            rest_dimension=rest_dimension,
        )
    # triples of a prime ideal, its dimension and its degree
    primes_of_locus = measured_primes_in(answer, "minimal_primes", "dimensions", "degrees")
    components = components_of_primes(model, primes_of_locus)
    return LocusFindings("jacobian", dimension, components=components)


def _singular_locus_of_reducible(model: Model, ideal: Ideal, dimension: int) -> LocusFindings:
    """Return what the Jacobian criterion finds on a reducible variety.

    The findings have the components of its singular locus; or, if a limit was reached, the
    components that were ``proved`` until then, and ``rest_dimension``, an upper bound for the
    dimension of all others. ``ideal`` is the ideal of the variety, of affine dimension
    ``dimension``.
    """
    locus = ideal.singular_locus()
    components = None
    if locus.components is not None:
        components = components_of_primes(model, map(_as_measured_prime, locus.components))
    return LocusFindings(
        "jacobian",
        dimension,
        components=components,
        unfinished=locus.unfinished,
        proved=components_of_primes(model, map(_as_measured_prime, locus.proved)),
        rest_dimension=locus.rest_dimension,
    )


def _as_measured_prime(component: IrreducibleComponent[Ideal]) -> MeasuredPrime:
    """Return the prime ideal of a component with its dimension and degree."""
    return component.ideal, component.dimension, component.degree


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
    # up to `most_minors` minors of a component are all taken at once; of more, some are selected
    values = {**ideal, "title": model.title, "most_minors": most_minors("auto")}
    return render("jacobian_criterion", values=values)


def _compare_and_combine(
    findings: Iterable[LocusFindings],
    model: Model,
    field: CoefficientField,
    ideals: bool,
    one_method_suffices: bool,
) -> SingularLocus:
    """Compare the findings of all methods, and return the result of the last one that finished.

    Parameters
    ----------
    findings : iterable of LocusFindings
        In the order in which the methods ran, at least one.
    model : Model
    field : CoefficientField
    ideals : bool
        Whether the components of the result are to have their ideals. For models without orbits,
        whose methods find the ideals first, they always have them.
    one_method_suffices : bool
        Whether one method that finished is enough. Then the limits of other methods are remarks;
        otherwise the result is ``unfinished``.

    Raises
    ------
    ContradictionError
        If two methods disagree.
    """
    compared = ComparedFindings(tuple(findings))  # raises if two methods disagree
    components = compared.components  # `None` if no method finished
    remarks, limits = compared.agreement, compared.limits
    if one_method_suffices and components is not None:
        remarks, limits = (*remarks, *limits), ()
    keep_ideals = ideals or model.orbit_methods() is None
    if components is not None:
        components = _with_or_without_ideals(components, model, field, keep_ideals=keep_ideals)
    uses_engine = keep_ideals or compared.uses_engine
    return SingularLocus(
        model=model,
        field=field,
        method=compared.methods,
        variety_dimension=compared.dimension,
        orbits=known_orbits(compared.deciding),
        components=components,
        remarks=remarks,
        engine_version=current().version if uses_engine else "",
        seconds=clock().seconds,
        unfinished="; ".join(limits),
        proved=compared.proved,
        rest_dimension=compared.rest_dimension,
    )


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

    The component is unchanged if it has an ideal already, is not an orbit closure, or elimination
    did not finish.

    Raises
    ------
    ContradictionError
        If dimension or degree differ from the known values.
    """
    if component.ideal is not None or component.orbit is None:
        return component
    orbit_methods = model.orbit_methods()
    assert orbit_methods is not None  # the component has an orbit
    try:
        orbit_closure = orbit_methods.orbit_closure(component.orbit)
        variety = closure(orbit_closure, field=field, strategy="elimination")
    except errors.TimeLimitError:
        return component
    if variety.ideal is None or variety.degree is None:
        return component
    _compare_with_elimination(component, variety)  # raises if they contradict each other
    return replace(component, degree=variety.degree, ideal=variety.ideal)


def _compare_with_elimination(component: Component, variety: Closure) -> None:
    """Raise ContradictionError if a component, an orbit closure, has another dimension or degree
    than the closure of its parametrization by elimination, which knows nothing of the group.

    A degree that is not known is not compared.
    """
    same_dimension = component.dimension == variety.dimension
    same_degree = component.degree in (None, variety.degree)
    if not (same_dimension and same_degree):
        raise errors.ContradictionError(
            f"the {component.description} has dimension {component.dimension} and degree"
            f" {component.degree} by its group action and formula, but {variety.dimension} and"
            f" {variety.degree} by elimination"
        )

"""The singular locus of the closure of an image: by fibres, orbits, double points, minors.

Which methods run is decided in :func:`_planned_methods`. Those that look at orbits of a group
belong to the model (``maps.locus.OrbitMethods``); double points are found in
``maps.double_points``, and the Jacobian criterion on the whole variety is here. Any two that ran
are compared, and the result comes from the last one that finished.

``LocusFindings`` are what one method found. Its ``components`` are the irreducible components of
the singular locus, or ``None`` if the method did not finish. A ``MeasuredPrime`` is the triple of a
prime ideal with its dimension and degree. Texts that say why a method does not apply
(``model.no_orbits()``, ``model.no_fibres(field)``) are empty if it does; the error for it is
MethodUnavailableError. Methods that disagree, or a component that is not an orbit closure, are a
ContradictionError.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from math import comb
from typing import Any, Literal, Unpack, overload

from m2bridge import errors
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.ring import is_homogeneous
from m2bridge.convert import m2_syntax
from m2bridge.convert.answers import answer_until_limit
from m2bridge.convert.fields import as_field
from m2bridge.convert.printing import (
    degree_summary,
    generator_lines,
    ideal_macaulay2,
    polynomial_text,
)
from m2bridge.engine import Engine, RunOptions, computation, current
from m2bridge.engine.script import Script, render
from m2bridge.ideals import MAX_SHOWN_EQUATION_CHARS
from m2bridge.ideals.ideal import Ideal
from m2bridge.ideals.measured_primes import MeasuredPrime, measured_primes_in, proved_before_limit
from m2bridge.ideals.program import explain_factoring_errors, ideal_sort_key, tidy
from m2bridge.ideals.singular_locus_result import (
    IdealSingularLocus,
    IrreducibleComponent,
    bound_text,
)
from m2bridge.ideals.varieties import most_minors
from m2bridge.limits import clock, limited, turn
from m2bridge.maps.closure import (
    MAX_QUICK_COORDINATES,
    MAX_SHORT_ELIMINATION_SECONDS,
    Closure,
    Strategy,
    closure,
)
from m2bridge.maps.completeness import elimination_values, linear_reduction
from m2bridge.maps.double_points import closure_dimension, double_points, why_no_double_points
from m2bridge.maps.locus import (
    ORIGIN,
    ZERO,
    ComparedFindings,
    Component,
    LocusFindings,
    OrbitMethods,
    OrbitStatus,
    known_orbits,
    method_words,
)
from m2bridge.maps.model import Model
from m2bridge.maps.polynomial_map_model import Case, IdealModel, as_model
from m2bridge.results import MAX_SHOWN_GENERATORS
from m2bridge.results.base import Proof, Result, result_json
from m2bridge.results.sheet import (
    Block,
    Facts,
    Sheet,
    Table,
    computed_by,
    in_brackets,
    printable,
    value_text,
)

SingularLocusMethod = Literal["auto", "fibres", "orbits", "double-points", "jacobian", "all"]

MAX_LINEAR_ALGEBRA_SECONDS = 20.0
"""Seconds of linear algebra, before elimination has the rest of the time."""


@overload
def singular_locus(
    case: Ideal,
    *,
    field: CoefficientField | str = ...,
    coordinates: str | None = ...,
    method: SingularLocusMethod = ...,
    ideals: bool = ...,
    engine: Engine | None = ...,
    timeout: float | None = ...,
) -> IdealSingularLocus[Ideal]: ...
@overload
def singular_locus(
    case: Case,
    *,
    field: CoefficientField | str = ...,
    coordinates: str | None = ...,
    method: SingularLocusMethod = ...,
    ideals: bool = ...,
    engine: Engine | None = ...,
    timeout: float | None = ...,
) -> SingularLocus: ...
@computation
def singular_locus(
    case: Case | Ideal,
    *,
    field: CoefficientField | str = QQ,
    coordinates: str | None = None,
    method: SingularLocusMethod = "auto",
    ideals: bool = False,
    **options: Unpack[RunOptions],
) -> SingularLocus | IdealSingularLocus[Ideal]:
    """Compute the singular locus of the Zariski closure, or of a variety.

    Parameters
    ----------
    case : a model, a PolynomialMap, a mapping ``{"x": expression}`` or an Ideal
        Of an ideal this is ``ideal.singular_locus()``, by the Jacobian criterion.
    field : CoefficientField or str
        QQ, or a prime field such as ``"GF(7)"``, over which the map is taken.
    coordinates : str, optional
        The name of the coordinates, for models that offer a choice.
    engine : Engine, optional
        A Macaulay2 to use; without one, the Macaulay2 of the ``with`` block around it, else one
        that the process shares.
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
        remain undecided. Of an ideal an IdealSingularLocus.

    Raises
    ------
    InvalidCaseError
        If the method is not for an ideal, or the field is not its field.
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
    >>> singular_locus(ideal("y^2 - x^3")).components[0].ideal.generators
    (x, y)
    """
    errors.check_choice("method", method, SingularLocusMethod)
    errors.check_flag("ideals", ideals)
    field = as_field(field)
    model = as_model(case, coordinates)
    model.check_field(field)
    if isinstance(model, IdealModel):
        model.check_method(method, ("auto", "all", "jacobian"))
        return model.ideal.singular_locus()
    plan = _planned_methods(method, model, field)
    findings: list[LocusFindings] = []
    orbit_methods = model.orbit_methods()
    if "double-points" in plan:
        findings += _by_double_points(model, required=method == "double-points")
        # of many coordinates the Jacobian criterion, as a second opinion, may take long
        finished = any(finding.components is not None for finding in findings)
        takes_long = model.coordinate_count > 6
        if method == "auto" and finished and takes_long:
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
    field: CoefficientField | str = QQ,
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
    field : CoefficientField or str
        QQ, or a prime field such as ``"GF(7)"``, over which the map is taken.
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
    field = as_field(field)
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
        with turn(0.5):
            primes = double_points(model)
    except (errors.MethodUnavailableError, errors.TimeLimitError, errors.MemoryLimitError):
        return None
    # The locus is one of the cone: its components have dimensions one more, and the apex,
    # which is not a point of projective space, is left out.
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
    long, there are bounds at orbits, which need no ideal. MethodUnavailableError if the method that
    was asked for by its name does not apply.
    """
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
        return ("double-points",)
    orbit_methods = model.orbit_methods()
    if orbit_methods is not None:
        return _planned_methods_at_orbits(method, model, orbit_methods, field)
    # expands the map, which large models with orbits do without
    if method == "jacobian" or why_no_double_points(model, field):
        return ("jacobian",)
    return ("double-points", "jacobian")


def _planned_methods_at_orbits(
    method: SingularLocusMethod, model: Model, orbit_methods: OrbitMethods, field: CoefficientField
) -> tuple[str, ...]:
    """Return the names of the methods to try, in order, for a model whose orbits are known;
    ``method`` is not ``double-points``, and applies to the model.
    """
    fibres_apply = not model.no_fibres(field)
    is_large = field == QQ and model.coordinate_count > MAX_QUICK_COORDINATES
    # fibres decide without the ideal, so that `auto` computes no ideal of many coordinates
    if method == "fibres" or (method == "auto" and is_large and fibres_apply):
        return ("fibres",)
    # bounds, which need no ideal, come first where the ideal may not be found in time
    at_orbits = ("bounds", "orbits") if is_large else ("orbits",)
    if method == "orbits" or (method == "auto" and is_large):
        ideal_takes_long = orbit_methods.independent_count > 20  # more than seconds
        return ("bounds",) if is_large and ideal_takes_long else at_orbits
    # the other methods: `all`, `jacobian`, and `auto` for few coordinates
    if method == "jacobian" or not fibres_apply:
        return (*at_orbits, "jacobian")
    return ("fibres", *at_orbits, "jacobian")


def _by_double_points(model: Model, *, required: bool) -> list[LocusFindings]:
    """Return the findings by double points in a list; none if the method does not apply to the map
    and is not ``required``, which is an error where it was asked for by its name.
    """
    # elimination and the Jacobian criterion have the rest of the time, if they are to run too
    try:
        with nullcontext() if required else turn(0.5):
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


def _findings_by_ideal(
    plan: tuple[str, ...], model: Model, field: CoefficientField, second_opinion: bool
) -> list[LocusFindings]:
    """Return the findings of the methods of the plan that need the ideal of the closure, in order.

    As a second opinion only, ``jacobian`` is left out where it is expensive and ``orbits`` gave
    findings.
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
        # the minors of the size of the codimension, of the Jacobian matrix of the generators
        coordinate_count = len(ideal.ring.variables)
        codimension = coordinate_count - dimension
        minor_count = comb(len(ideal.generators), codimension) * comb(coordinate_count, codimension)
        is_expensive = minor_count > 500
        found_at_orbits = len(findings) > 0
        if "jacobian" in plan and not (second_opinion and found_at_orbits and is_expensive):
            findings.append(_by_jacobian(model, ideal, dimension))
    except (errors.TimeLimitError, errors.MemoryLimitError) as limit:
        findings.append(LocusFindings(methods, dimension, unfinished=str(limit)))
    return findings


def _closure_with_whole_ideal(model: Model, field: CoefficientField) -> Closure:
    """Return the closure with its whole ideal, unless the time does not suffice.

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
    """Return findings by the Jacobian criterion for the ideal I of the closure, with selected
    minors, or all if they are few.

    Hypothesis: I is prime, so that the variety is equidimensional and reduced. I is prime if it is
    the kernel of a ring map to a domain; where relations of the source leave that open, Macaulay2
    decides first. A reducible variety is singular where one of its components is singular, and
    where two of its components meet: then the criterion is applied to each component.
    """
    # A closure that is the whole space is smooth.
    if dimension == len(ideal.ring.variables):
        return LocusFindings("jacobian", dimension, components=())
    if model.polynomial_map.maybe_reducible and not ideal.is_prime():
        locus = ideal.singular_locus()
        components = None
        if locus.components is not None:
            components = components_of_primes(model, _measured_primes(locus.components))
        return LocusFindings(
            "jacobian",
            dimension,
            components=components,
            unfinished=locus.unfinished,
            proved=components_of_primes(model, _measured_primes(locus.proved)),
            rest_dimension=locus.rest_dimension,
        )
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


def _measured_primes(components: Iterable[IrreducibleComponent[Ideal]]) -> list[MeasuredPrime]:
    """Return the prime ideals of components with their dimensions and degrees."""
    return [(one.ideal, one.dimension, one.degree) for one in components]


def jacobian_script(model: Model, *, field: CoefficientField) -> Script:
    """Return the Macaulay2 program of the Jacobian criterion, elimination included."""
    independent = linear_reduction(model, field).reduced
    return _criterion_script(model, elimination_values(independent, field=field))


def _criterion_script(model: Model, ideal: Mapping[str, object]) -> Script:
    """Return the Macaulay2 program of the Jacobian criterion for an ideal, by the values of the
    template for an ideal that is known, or for its elimination.
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

    ``ideals`` says whether components are to have their ideals; for models without orbits, whose
    methods find the ideals first, they always have them. If one method suffices, the limits of
    others are remarks; otherwise the result is ``unfinished``.
    """
    compared = ComparedFindings(tuple(findings))  # raises if two methods disagree
    components = compared.components  # `None` if no method finished
    remarks, limits = compared.agreement, compared.limits
    if one_method_suffices and components is not None:
        remarks, limits = (*remarks, *limits), ()
    keep_ideals = ideals or model.orbit_methods() is None
    if components is not None and keep_ideals:
        components = tuple(_with_ideal(component, model, field) for component in components)
    elif components is not None:
        components = tuple(replace(component, ideal=None) for component in components)
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


def _with_ideal(component: Component, model: Model, field: CoefficientField) -> Component:
    """Return the component with its ideal and degree, by elimination of its parametrization, where
    it is an orbit closure without ideal, and elimination finishes.
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
    # elimination knows nothing of the group; a degree that is not known is not compared
    same_dimension = component.dimension == variety.dimension
    same_degree = component.degree in (None, variety.degree)
    if not (same_dimension and same_degree):
        raise errors.ContradictionError(
            f"the {component.description} has dimension {component.dimension} and degree"
            f" {component.degree} by its group action and formula, but {variety.dimension} and"
            f" {variety.degree} by elimination"
        )
    return replace(component, degree=variety.degree, ideal=variety.ideal)


SINGULAR = {True: "singular", False: "smooth", None: "undecided"}
"""The words for whether a point is singular."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SingularLocus(Result):
    """The singular locus of the Zariski closure.

    Parameters
    ----------
    model : Model
    field : CoefficientField
    method : str
        The names of the methods that finished; of all that ran if none did.
    variety_dimension : int or None
        Affine dimension of the closure itself.
    orbits : tuple of OrbitStatus
        Every orbit of nonzero points, or those that were done if the computation is ``unfinished``;
        empty for models whose orbits are not known.
    components : tuple of Component or None
        ``None`` when the computation did not finish or left orbits undecided; empty when the
        closure is smooth.
    remarks : tuple of str
        Which methods were compared, and which assumptions were made.
    engine_version : str
        Empty if no engine was asked.
    seconds : float
    unfinished : str
        Empty, or the limit that was reached, or the orbits that are undecided.
    proved : tuple of Component
        If the Jacobian criterion reached a limit: components that were proved until then.
    rest_dimension : int or None
        In that case an upper bound for the dimension of all further components; −1 if there are no
        further ones. ``None`` in all other cases, or if no bound is known.

    Examples
    --------
    >>> from sympy import symbols
    >>> u, v = symbols("u v")
    >>> umbrella = PolynomialMap.from_expressions([u, v], {"x": u * v, "y": u, "z": v**2})
    >>> locus = singular_locus(umbrella)
    >>> locus.variety_dimension, locus.dimension
    (2, 1)
    """

    model: Model
    field: CoefficientField
    method: str
    variety_dimension: int | None
    orbits: tuple[OrbitStatus, ...]
    components: tuple[Component, ...] | None
    remarks: tuple[str, ...]
    engine_version: str
    seconds: float
    unfinished: str = ""
    proved: tuple[Component, ...] = ()
    rest_dimension: int | None = None

    @property
    def dimension(self) -> int | None:
        """Affine dimension of the singular locus; −1 when it is empty, ``None`` if not known."""
        if self.components is None:
            return None
        return max((component.dimension for component in self.components), default=-1)

    @property
    def zero_tangent_dimension(self) -> int | None:
        """Tangent dimension of the closure at the zero function; ``None`` unless orbits are listed.

        It is the number of linearly independent coordinates, since the closure is a cone: at zero
        only linear equations have a differential that is not zero.
        """
        orbit_methods = self.model.orbit_methods()
        if orbit_methods is None or not self.orbits:
            return None
        return orbit_methods.independent_count

    def proof(self) -> Proof:
        """Return whether all components are known."""
        if self.components is None:
            return Proof(False, self.unfinished or "some orbits are undecided")
        return Proof(True, "; ".join((f"by {method_words(self.method)}", *self.remarks)))

    def __repr__(self) -> str:
        return in_brackets(self, "model", "field", "variety_dimension", "dimension")

    def to_sheet(self) -> Sheet:
        """Return the dimensions, a table of the orbits, the components, and the ideals that were
        computed.
        """
        title = f"Singular locus of the Zariski closure of the {self.model.title}"
        blocks: list[Block] = [Facts(_facts(self))]
        if self.orbits:
            orbit = self.orbits[0].orbit  # all orbits of a family have the same header and legend
            rows = [
                (*one.orbit.cells, one.dimension, one.tangent.cell, SINGULAR[one.singular])
                for one in self.orbits
            ]
            # the last column, without a name, says whether the orbit is singular
            header = (*orbit.HEADER, "dimension", "tangent dimension", "")
            blocks.append(Table(header, rows, orbit.LEGEND))
        components = self.components or self.proved
        if components:
            blocks += _component_blocks(components)
        return Sheet(f"{title}, over {self.field}", blocks, _formulas(self))

    def to_json(self) -> dict[str, Any]:
        """Return orbits, components, and the methods that were compared, for ``json.dumps``."""
        components = None
        if self.components is not None:
            components = [_component_json(component) for component in self.components]
        engine = self.engine_version or None
        return result_json(self.model.case, self.field, engine, self.seconds) | {
            "dimension": self.dimension,
            "variety_dimension": self.variety_dimension,
            "method": self.method,
            "orbits": [status.to_json() for status in self.orbits],
            "zero_tangent_dimension": self.zero_tangent_dimension,
            "components": components,
            "remarks": list(self.remarks),
            "unfinished": self.unfinished or None,
            "proved": [_component_json(c) for c in self.proved],
            "rest_dimension": self.rest_dimension,
            **self.proof()._asdict(),
        }

    def to_macaulay2(self) -> str:
        """Return Macaulay2 programs for the computed ideals of components; else a comment."""
        programs = []
        for component in self.components or ():
            if component.ideal is not None:
                comment = f"-- {printable(component.description)}"
                programs.append(f"{comment}\n{ideal_macaulay2(component.ideal)}")
        return "\n\n".join(programs) or "-- no ideals were computed; ask for them with --ideals"


def zero_text(tangent: int | None, dimension: int | None) -> str | None:
    """Return in words the tangent dimension at zero, and whether zero is singular on a closure of
    this dimension; ``None`` if one of them is not known.
    """
    if tangent is None or dimension is None:
        return None
    # The tangent space at a smooth point is as large as the variety, and nowhere smaller.
    kind = SINGULAR[tangent > dimension]  # "singular" or "smooth"
    return f"{kind}; its tangent space has dimension {tangent}"


def _facts(locus: SingularLocus) -> list[tuple[str, object]]:
    """Return names and values of the results about the singular locus."""
    facts: list[tuple[str, object]] = []
    if locus.dimension == -1:
        facts.append(("singular locus", "empty: the closure is smooth"))
    elif locus.dimension is not None:
        facts.append(("singular locus", f"dimension {locus.dimension}"))
    if locus.variety_dimension is not None:
        facts.append(("closure", f"dimension {locus.variety_dimension}"))
    return [
        *facts,
        ("zero function", zero_text(locus.zero_tangent_dimension, locus.variety_dimension)),
        (
            "computed by",
            computed_by(locus.engine_version, locus.seconds, method_words(locus.method)),
        ),
        *(("remark", remark) for remark in locus.remarks),
        ("not finished", locus.unfinished or None),
        # how large further components can be, which were not found
        ("not decided", bound_text(locus.rest_dimension)),
    ]


def _component_json(component: Component) -> dict[str, Any]:
    """Return a component for ``json.dumps``."""
    generators = None
    if component.ideal is not None:
        generators = [polynomial_text(generator) for generator in component.ideal.generators]
    return {
        "description": component.description,
        "orbit": None if component.orbit is None else component.orbit.to_json(),
        "dimension": component.dimension,
        "degree": component.degree,
        "generators": generators,
    }


def _component_blocks(components: Sequence[Component]) -> Iterator[Block]:
    """Yield a table of the components, then the generators of each ideal that was computed."""
    header = ("component of the singular locus", "dimension", "degree", "equations")
    # without ideals the last column, the equations, would be empty
    has_ideals = any(component.ideal is not None for component in components)
    column_count = 4 if has_ideals else 3
    rows = []
    for component in components:
        equations = "–"
        if component.ideal is not None:
            generators = component.ideal.generators
            texts = ", ".join(map(polynomial_text, generators[:MAX_SHOWN_GENERATORS]))
            equations = f"V({texts})"
            # of many or long generators the number of each degree is shown
            if len(generators) > MAX_SHOWN_GENERATORS or len(texts) > MAX_SHOWN_EQUATION_CHARS:
                equations = degree_summary(component.ideal.generator_degrees)
        degree = value_text(component.degree)
        row = (component.description, component.dimension, degree, equations)
        rows.append(row[:column_count])
    yield Table(header[:column_count], rows)
    for component in components:
        if component.ideal is not None:
            yield generator_lines(component.ideal, f"{component.description}:")


def _formulas(locus: SingularLocus) -> list[str]:
    """Return one formula in LaTeX, if the components are known: their union, each with its
    dimension and degree; those without a name of their own are C_1, C_2, …, by their places.
    """
    if locus.components is None:
        return []
    components = []
    for number, component in enumerate(locus.components, 1):
        name = f"C_{{{number}}}"
        if component.orbit is not None:
            name = rf"\overline{{\mathcal O_{{({','.join(map(str, component.orbit.cells))})}}}}"
        elif component.description in (ZERO, ORIGIN):
            name = r"\{0\}"
        degree = "" if component.degree is None else rf",\ \deg {component.degree}"
        components.append(rf"{name}\;(\dim {component.dimension}{degree})")
    union = r" \;\cup\; ".join(components) or r"\varnothing"
    return [rf"\operatorname{{Sing}} = {union}"]


def components_of_primes(model: Model, primes: Iterable[MeasuredPrime]) -> tuple[Component, ...]:
    """Return the components with these prime ideals, by decreasing dimension, then by
    description.
    """
    components = []
    for prime, dimension, degree in primes:
        components.append(_component_of_prime(model, Ideal.of(prime), dimension, degree))
    components.sort(key=lambda component: (-component.dimension, component.description))
    return tuple(components)


def _component_of_prime(model: Model, prime: Ideal, dimension: int, degree: int) -> Component:
    """Return the variety of a prime ideal, over a perfect field, as a component of the singular
    locus, with its orbit if the model knows orbits and the variety is not the point zero.

    The point zero has no orbit, and only its description says what it is: in a model that knows
    orbits the zero function, since coordinates are coefficients of functions there; in any other
    model the origin of the space of the coordinates.
    """
    # A prime ideal of dimension 0 that is generated by monomials is generated by all variables: its
    # point is zero.
    is_zero = dimension == 0 and all(len(generator) == 1 for generator in prime.generators)
    orbit_methods = model.orbit_methods()
    orbit = None
    if is_zero:
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
    elif dimension > 0:
        description = f"irreducible component of dimension {dimension}"
    else:  # over a perfect field the degree is the number of points over the algebraic closure
        description = "a point"
        if degree > 1:
            description = f"{degree} points, conjugate over {prime.ring.field}"
    return Component(
        description=description, orbit=orbit, dimension=dimension, degree=degree, ideal=prime
    )

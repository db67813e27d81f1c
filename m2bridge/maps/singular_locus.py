"""The singular locus of the closure of an image: by fibres, by orbits, and by the Jacobian
criterion.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain, combinations
from math import comb
from typing import Any, Literal, Unpack

from m2bridge import errors
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.ring import is_homogeneous
from m2bridge.convert import macaulay2
from m2bridge.convert.answers import answer_until_limit
from m2bridge.convert.notation import (
    degree_summary,
    generator_lines,
    ideal_macaulay2,
    polynomial_text,
)
from m2bridge.engine import RunOptions, computation, current
from m2bridge.engine.script import Script, render
from m2bridge.ideals.ideal import Ideal
from m2bridge.ideals.varieties import (
    IdealSingularLocus,
    Measured,
    bound_text,
    measured,
    most_minors,
    proved_until,
)
from m2bridge.limits import clock
from m2bridge.maps.closure import closure
from m2bridge.maps.completeness import elimination_values, linear_reduction
from m2bridge.maps.map_model import Case, as_model
from m2bridge.maps.model import Model
from m2bridge.maps.statement import ORIGIN, ZERO, Component, LocusFindings, OrbitStatus, compare
from m2bridge.results.base import Result, result_json
from m2bridge.results.sheet import SHOWN, Block, Facts, Sheet, Table, computed_by, printable


@dataclass(frozen=True, slots=True)
class SingularLocus(Result):
    """The singular locus of the Zariski closure.

    Parameters
    ----------
    model : Model
    field : CoefficientField
    method : str
        The methods that ran.
    variety_dimension : int or None
        Affine dimension of the closure itself.
    orbits : tuple of OrbitStatus
        Every orbit of nonzero points, or those that were done if the computation is ``unfinished``;
        empty for models whose orbits are not known.
    components : tuple of Component or None
        ``None`` when the computation did not finish or left orbits undecided; empty when the
        closure is smooth.
    remarks : tuple of str
        What was compared, what was assumed.
    engine_version : str
        Empty if no engine was asked.
    seconds : float
    unfinished : str
        Empty, or the limit that was reached, or the orbits that are undecided.
    proved : tuple of Component
        If the Jacobian criterion reached a limit: components that were proved until then.
    rest_dimension : int or None
        In that case an upper bound for the dimension of the others; −1 if there are none.

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
        """Affine dimension of the singular locus; −1 when it is empty."""
        return (
            None
            if self.components is None
            else max((c.dimension for c in self.components), default=-1)
        )

    @property
    def zero_tangent_dimension(self) -> int | None:
        """Tangent dimension of the closure at the zero function, where orbits are listed."""
        orbit_methods = self.model.orbit_methods()
        return (
            orbit_methods.independent_count if orbit_methods is not None and self.orbits else None
        )

    def to_sheet(self) -> Sheet:
        """Dimensions, a table of the orbits, the components, and their ideals where they were
        computed.
        """
        title = (
            f"Singular locus of the Zariski closure of the {self.model.title}, over {self.field}"
        )
        blocks: list[Block] = [Facts(_facts(self))]
        if self.orbits:
            orbit = self.orbits[0].orbit
            header = (*orbit.HEADER, "dimension", "tangent dimension", "")
            blocks.append(
                Table(header, [_orbit_row(status) for status in self.orbits], orbit.LEGEND)
            )
        if components := self.components or self.proved:
            columns = ("component of the singular locus", "dimension", "degree", "equations")
            shown = 4 if any(component.ideal for component in components) else 3
            blocks.append(Table(columns[:shown], [_component_row(c)[:shown] for c in components]))
            blocks += [generator_lines(c.ideal, f"{c.description}:") for c in components if c.ideal]
        return Sheet(title, blocks, _formulas(self))

    def to_json(self) -> dict[str, Any]:
        """Orbits, components, and what was compared."""
        return result_json(
            self.model.case, self.field, self.engine_version or None, self.seconds
        ) | {
            "dimension": self.dimension,
            "variety_dimension": self.variety_dimension,
            "method": self.method,
            "orbits": [status.to_json() for status in self.orbits],
            "zero_tangent_dimension": self.zero_tangent_dimension,
            "components": (
                None if self.components is None else [_component_json(c) for c in self.components]
            ),
            "remarks": list(self.remarks),
            "unfinished": self.unfinished or None,
            "proved": [_component_json(c) for c in self.proved],
            "rest_dimension": self.rest_dimension,
        }

    def to_macaulay2(self) -> str:
        """Macaulay2 programs for the ideals of the components, where they were computed."""
        programs = []
        for component in self.components or ():
            if component.ideal is not None:
                comment = f"-- {printable(component.description)}"
                programs.append(f"{comment}\n{ideal_macaulay2(component.ideal)}")
        return "\n\n".join(programs) or "-- no ideals were computed; ask for them with --ideals"


def zero_text(tangent: int | None, dimension: int | None) -> str | None:
    """The tangent dimension at zero, and whether zero is singular, in words."""
    if tangent is None or dimension is None:
        return None
    return (
        f"{'singular' if tangent > dimension else 'smooth'}, with a tangent space of dimension"
        f" {tangent}"
    )


SHORT = 60
"""Characters of equations that are shown in a table."""


def _facts(locus: SingularLocus) -> list[tuple[str, object]]:
    dimension = locus.dimension
    shown = "empty: the closure is smooth" if dimension == -1 else f"dimension {dimension}"
    return [
        ("singular locus", None if dimension is None else shown),
        (
            "closure",
            None if locus.variety_dimension is None else f"dimension {locus.variety_dimension}",
        ),
        ("zero", zero_text(locus.zero_tangent_dimension, locus.variety_dimension)),
        ("computed by", computed_by(locus.engine_version, locus.seconds, locus.method)),
        *(("remark", remark) for remark in locus.remarks),
        ("not finished", locus.unfinished or None),
        ("not decided", bound_text(locus.rest_dimension)),
    ]


def _component_json(component: Component) -> dict[str, Any]:
    orbit, ideal = component.orbit, component.ideal
    return {
        "description": component.description,
        "orbit": None if orbit is None else orbit.to_json(),
        "dimension": component.dimension,
        "degree": component.degree,
        "generators": (
            None
            if ideal is None
            else [polynomial_text(generator) for generator in ideal.generators]
        ),
    }


def _orbit_row(status: OrbitStatus) -> tuple[object, ...]:
    singular = {True: "singular", False: "smooth", None: "undecided"}[status.singular]
    return (*status.orbit.cells, status.dimension, status.tangent.cell, singular)


def _component_row(component: Component) -> tuple[object, ...]:
    """The generators where they are few and short, else their degrees."""
    equations, ideal = "–", component.ideal
    if ideal is not None:
        equations = f"V({', '.join(map(polynomial_text, ideal.generators[:SHOWN]))})"
        if len(ideal.generators) > SHOWN or len(equations) > SHORT + len("V()"):
            equations = degree_summary(ideal.generator_degrees)
    return (
        component.description,
        component.dimension,
        "–" if component.degree is None else component.degree,
        equations,
    )


def _formulas(locus: SingularLocus) -> list[str]:
    """The components and their dimensions."""
    if locus.components is None:
        return []
    parts = [
        _component_latex(component, number) for number, component in enumerate(locus.components, 1)
    ]
    return [r"\operatorname{Sing} = " + (r" \;\cup\; ".join(parts) or r"\varnothing")]


def _component_latex(component: Component, number: int) -> str:
    closure = r"\{0\}" if component.description in (ZERO, ORIGIN) else rf"C_{{{number}}}"
    if component.orbit is not None:
        closure = rf"\overline{{\mathcal O_{{({','.join(map(str, component.orbit.cells))})}}}}"
    degree = "" if component.degree is None else rf",\ \deg {component.degree}"
    return rf"{closure}\;(\dim {component.dimension}{degree})"


Method = Literal["auto", "fibres", "orbits", "jacobian", "all"]

FEW_COORDINATES = 12
"""``auto`` computes the ideal too, as a second opinion, when there are at most this many
coordinates;
"""
MOST_ELIMINATED = 20
"""``orbits`` computes the ideal when there are at most this many independent coordinates, which
takes seconds,
"""
FEW_MINORS = 500
"""and ``auto`` decomposes the singular locus, as a third opinion, when the criterion takes at most
this many minors.
"""


@computation
def singular_locus(
    case: Case,
    *,
    field: CoefficientField = QQ,
    coordinates: str | None = None,
    method: Method = "auto",
    ideals: bool = False,
    **options: Unpack[RunOptions],
) -> SingularLocus:
    """Compute the singular locus of the Zariski closure.

    Parameters
    ----------
    case : a model or a PolynomialMap
    engine : Engine, optional
        A Macaulay2 to use; without one, that of the ``with`` block around it, else one that the
        process shares.
    method : {"auto", "fibres", "orbits", "jacobian", "all"}
        ``fibres``: the fibre of the parametrization over one point of each orbit, for models whose
        orbits are known and whose fibres decide smoothness. ``orbits``: the Jacobian criterion at
        one point of each orbit; over QQ, with more than 12 coordinates, by tangent vectors and
        equations of low degree, by the whole ideal with at most 20 independent coordinates, and
        over GF(p). ``jacobian``: the Jacobian criterion on the whole variety, decomposed into
        irreducible components. ``auto``: the first of these that applies, with the others as second
        opinions where they are cheap. ``all``: all that apply.
    ideals : bool
        Compute the ideals of the components too.
    timeout : float, optional
        Seconds for the whole computation.

    Returns
    -------
    SingularLocus
        With ``unfinished`` set, and what was found until then, if a limit was reached or orbits
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
    errors.check_choice("method", method, Method)
    model = as_model(case, coordinates)
    model.check_field(field)
    plan = _plan(method, model, field)
    findings: list[LocusFindings] = []
    orbit_methods = model.orbit_methods()
    if orbit_methods is not None and "fibres" in plan:
        findings.append(orbit_methods.by_fibres())
    if orbit_methods is not None and "bounds" in plan:
        findings.append(orbit_methods.by_bounds())
    if "orbits" in plan or "jacobian" in plan:
        findings += _from_ideal(plan, model, field, second_opinion=method == "auto")
    return _result(findings, model, field, ideals, second_opinion=method != "all")


@computation
def projective_singular_locus(
    case: Case,
    *,
    field: CoefficientField = QQ,
    coordinates: str | None = None,
    **options: Unpack[RunOptions],
) -> IdealSingularLocus[Ideal]:
    """Compute the singular locus of the projective variety over which the Zariski closure is the
    cone.

    Raises
    ------
    MethodUnavailableError
        If the closure is no cone, or its ideal is not proved to be found.
    """
    model = as_model(case, coordinates)
    model.check_field(field)
    variety = closure(model, field=field)
    if variety.ideal is None:
        raise variety.incomplete()
    ideal = variety.whole_ideal()
    # The ideal of a cone is homogeneous, over an infinite field; over GF(p) this is asked of the
    # ideal too.
    mixed = next(
        (generator for generator in ideal.generators if not is_homogeneous(generator)), None
    )
    if mixed is not None:
        raise errors.MethodUnavailableError(
            f"the closure of the {model.title} is not a cone, so that no projective variety belongs"
            f" to it: {polynomial_text(mixed):.60} is not homogeneous; leave --projective out"
        )
    return ideal.projective().singular_locus(title=model.title)


def _plan(method: Method, model: Model, field: CoefficientField) -> tuple[str, ...]:
    """The methods to try, in order; the Jacobian criterion at orbits costs nothing once the ideal
    is known.

    At orbits there are bounds without the ideal, where the ideal may take long.

    Raises
    ------
    MethodUnavailableError
        If the chosen method does not apply.
    """
    no_orbits, no_fibres = model.no_orbits(), model.no_fibres(field)
    if (method == "fibres" and no_fibres) or (method == "orbits" and no_orbits):
        # where there is none, no other method applies either, and it says why
        _ = model.polynomial_map
        other = "jacobian" if no_orbits else "orbits"
        raise errors.MethodUnavailableError(f"{no_orbits or no_fibres}; use --method {other}")
    orbit_methods = model.orbit_methods()
    large = orbit_methods is not None and field == QQ and model.coordinate_count > FEW_COORDINATES
    if method == "fibres" or (method == "auto" and large and not no_fibres):
        return ("fibres",)
    orbits = () if orbit_methods is None else ("bounds", "orbits") if large else ("orbits",)
    if method == "orbits" or (method == "auto" and large):
        many = orbit_methods is not None and orbit_methods.independent_count > MOST_ELIMINATED
        return ("bounds",) if large and many else orbits
    fibres = () if no_fibres or method == "jacobian" else ("fibres",)
    return (*fibres, *orbits, "jacobian")


def _from_ideal(
    plan: tuple[str, ...], model: Model, field: CoefficientField, second_opinion: bool
) -> list[LocusFindings]:
    """The findings of the methods that need the ideal of the closure."""
    methods = " and ".join(name for name in plan if name in ("orbits", "jacobian"))
    dimension, findings, orbit_methods = None, [], model.orbit_methods()
    try:
        variety = closure(model, field=field, strategy="elimination")
        ideal, dimension = variety.ideal, variety.dimension
        if ideal is None or dimension is None:
            instead = (
                "" if "fibres" in plan or model.no_fibres(field) else "; --method fibres needs none"
            )
            reason = f"{variety.unfinished} (while computing the ideal of the closure{instead})"
            return [LocusFindings(methods, dimension, (), None, reason)]
        if orbit_methods is not None and "orbits" in plan:
            findings.append(orbit_methods.by_orbits(ideal, dimension))
        width, size = len(ideal.ring.variables), len(ideal.ring.variables) - dimension
        # those that the criterion takes
        minors = comb(len(ideal.generators), size) * comb(width, size)
        too_expensive = second_opinion and findings and minors > FEW_MINORS
        if "jacobian" in plan and not too_expensive:
            findings.append(_by_jacobian(model, ideal, dimension))
    except (errors.TimeLimitError, errors.MemoryLimitError) as limit:
        findings.append(LocusFindings(methods, dimension, (), None, str(limit)))
    return findings


def _by_jacobian(model: Model, ideal: Ideal, dimension: int) -> LocusFindings:
    """Findings by the Jacobian criterion, with selected minors of the Jacobian matrix, or all if
    they are few.

    Hypothesis: I is prime, so the variety is equidimensional and reduced. It is so where I is the
    kernel of a ring map to a domain; where relations of the source leave that open, Macaulay2
    decides first.

    Raises
    ------
    MethodUnavailableError
        If the variety is reducible.
    ContradictionError
        If the orbits of the model are known, and a component of the singular locus is not an orbit
        closure.
    """
    if dimension == len(ideal.ring.variables):
        return LocusFindings("jacobian", dimension, (), ())
    if model.polynomial_map.maybe_reducible and not ideal.is_prime():
        raise errors.MethodUnavailableError(
            "the closure of the image is reducible, and the Jacobian criterion is for irreducible"
            " varieties: take the components of the source one by one"
        )
    values = {"title": model.title, "most_minors": most_minors("auto")} | macaulay2.ring_values(
        ideal
    )
    answer, late = answer_until_limit(render("jacobian_criterion", values=values))
    if late:
        primes, rest = proved_until(answer)
        proved = _components(model, primes)
        return LocusFindings(
            "jacobian", dimension, (), None, late, proved=proved, rest_dimension=rest
        )
    found = _components(model, measured(answer, "minimal_primes", "dimensions", "degrees"))
    return LocusFindings("jacobian", dimension, (), found)


def _components(model: Model, primes: Iterable[Measured]) -> tuple[Component, ...]:
    components = [
        _component(model, Ideal.of(prime), dimension, degree) for prime, dimension, degree in primes
    ]
    return tuple(
        sorted(components, key=lambda component: (-component.dimension, component.description))
    )


def jacobian_script(model: Model, *, field: CoefficientField) -> Script:
    """Return the complete Macaulay2 program, elimination included."""
    values = elimination_values(linear_reduction(model, field).reduced, field=field) | {
        "title": model.title,
        "most_minors": most_minors("auto"),
    }
    return render("jacobian_criterion", values=values)


def _component(model: Model, prime: Ideal, dimension: int, degree: int) -> Component:
    """The variety of a prime ideal over a perfect field; if it is finite, its degree is its number
    of points.
    """
    orbit_methods = model.orbit_methods()
    if dimension == 0 and all(len(g) == 1 for g in prime.generators):
        return Component(ORIGIN if orbit_methods is None else ZERO, None, 0, degree, prime)
    if orbit_methods is None:
        points = "a point" if degree == 1 else f"{degree} points, conjugate over {prime.ring.field}"
        description = (
            points if dimension == 0 else f"irreducible component of dimension {dimension}"
        )
        return Component(description, None, dimension, degree, prime)
    orbit = orbit_methods.identify(prime, dimension)
    if orbit is None:
        raise errors.ContradictionError(
            f"a minimal prime of dimension {dimension} and degree {degree} of the singular locus is"
            " not an orbit closure, although the singular locus is invariant under the group"
        )
    return Component(f"closure of the orbit {orbit}", orbit, dimension, degree, prime)


def _result(
    findings: list[LocusFindings],
    model: Model,
    field: CoefficientField,
    ideals: bool,
    second_opinion: bool,
) -> SingularLocus:
    """Compare what the methods found, and take the last word of those that finished.

    With ``second_opinion``, a method that does not finish leaves the result of another one
    standing.
    """
    for first, second in combinations(findings, 2):
        compare(first, second)
    finished = [f for f in findings if f.components is not None]
    limits = [f"{f.method}: {f.unfinished}" for f in findings if f.unfinished]
    excused = second_opinion and bool(finished)
    remarks = [f"{' and '.join(f.method for f in finished)} agree"] if len(finished) > 1 else []
    components = finished[-1].components if finished else None
    partial = next(
        (f for f in findings if components is None and f.rest_dimension is not None), None
    )
    ideals = ideals or model.orbit_methods() is None
    if components is not None:
        components = tuple(
            _with_ideal(c, model, field) if ideals else replace(c, ideal=None) for c in components
        )
    return SingularLocus(
        model,
        field,
        " and ".join(f.method for f in finished or findings),
        next(
            (f.dimension for f in reversed(finished or findings) if f.dimension is not None), None
        ),
        known_orbits(finished or findings),
        components,
        tuple(remarks + (limits if excused else [])),
        current().version if ideals or any(f.uses_engine for f in findings) else "",
        clock().seconds,
        "" if excused else "; ".join(limits),
        () if partial is None else partial.proved,
        None if partial is None else partial.rest_dimension,
    )


def known_orbits(findings: Iterable[LocusFindings]) -> tuple[OrbitStatus, ...]:
    """The status of each orbit by the last method that decided it; methods may have looked at some
    orbits only.
    """
    statuses: dict[Any, OrbitStatus] = {}
    for status in chain.from_iterable(f.statuses for f in findings):
        if status.singular is not None or status.orbit not in statuses:
            statuses[status.orbit] = status
    return tuple(statuses[orbit] for orbit in sorted(statuses))


def _with_ideal(component: Component, model: Model, field: CoefficientField) -> Component:
    """The component with its ideal and degree by elimination; unchanged if that did not finish.

    Raises
    ------
    ContradictionError
        If dimension or degree differ from what is known.
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
    if variety.dimension != component.dimension or component.degree not in (None, variety.degree):
        raise errors.ContradictionError(
            f"the {component.description} has dimension {component.dimension} and degree"
            f" {component.degree} by its group action and formula, but {variety.dimension} and"
            f" {variety.degree} by elimination"
        )
    return replace(component, degree=variety.degree, ideal=variety.ideal)

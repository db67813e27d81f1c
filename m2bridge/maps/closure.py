"""The Zariski closure of the image of a polynomial map: its ideal; with generic fibre and base
locus of the map.
"""

from dataclasses import dataclass, replace
from math import prod
from typing import Any, Unpack

from m2bridge import errors
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.linear_algebra import sparse_rank
from m2bridge.algebra.polynomial_map import PolynomialMap, random_point
from m2bridge.algebra.schur import Representation
from m2bridge.algebra.sparse_polynomial import gradient_of_terms
from m2bridge.convert.answers import Answer, answer_until_limit
from m2bridge.engine import RunOptions, computation, current
from m2bridge.engine.script import Script, render
from m2bridge.ideals.ideal import Ideal
from m2bridge.implicitization.implicitize import Implicitization
from m2bridge.implicitization.multigraded_map import MultigradedMap
from m2bridge.limits import clock, share, watched
from m2bridge.maps import completeness, lattice
from m2bridge.maps.closure_result import Closure, Strategy
from m2bridge.maps.map_model import Case, as_model
from m2bridge.maps.model import Model
from m2bridge.maps.rank import best_value, jacobian_findings
from m2bridge.results.base import Result
from m2bridge.results.known import NOTHING, Known, together
from m2bridge.results.sheet import Facts, Sheet, printable

BY_ELIMINATION = "all generators: elimination by Macaulay2"
FEW_MONOMIALS = 12
"""``auto`` finds monomial equations of more than so many coordinates by lattices; of fewer, degree
by degree.
"""

TANGENT_POINTS = 3
"""Points of the image at which the equations are differentiated: at a special one they may have a
smaller rank.
"""
MOST_DEGREE = 1000
"""Largest ``max_degree`` that is accepted; far above what can be computed."""


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
    """Compute the ideal of the Zariski closure of the image, by multigraded implicitization or by
    elimination.

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
    coordinates, weights : str, for models that offer a choice
    strategy : {"auto", "multigraded", "lattice", "elimination", "ungraded-elimination"}
        ``multigraded`` gives all minimal generators up to a degree, over QQ, without an engine.
        ``auto`` does the same and then proves by Macaulay2 that there are no others, if that is
        possible within the limits (a minute when there are none) and ``max_degree`` is not given;
        where the map has no positive grading, its parameters satisfy relations, or the field is not
        QQ, it is ``elimination``. ``elimination`` gives the coordinates the degrees of their images
        where that makes the map homogeneous, so that Macaulay2 uses the Hilbert function;
        ``ungraded-elimination`` never does. ``lattice`` is for maps whose coordinates are scalars
        times monomials; 4ti2 or Normaliz finds the binomials, or Macaulay2 where neither is there;
        ``auto`` takes it with more than 12 coordinates.
    max_degree : int, optional
        For ``multigraded`` and ``auto``: the last degree. When left out, the largest degree ≤ 4 in
        which there are at most 10^5 monomials in linearly independent coordinates.
    timeout : float, optional
        Seconds for the whole computation.

    Returns
    -------
    Closure
        With ``unfinished`` set, and what was found until then, if a limit was reached.

    Raises
    ------
    InvalidCaseError
        If an option is wrong, the map has no reduction modulo p, or its relations have no common
        zero.
    EngineNotFoundError
        If Macaulay2 is needed, none is given, and there is none here.
    EngineError
        If Macaulay2 failed in another way than by reaching a limit; TimeLimitError if a limit on
        time was reached before anything was found.

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
    # First what needs no equations, in a part of the time, so that there is something to show.
    dimension = _dimension_by_ranks(model, field=field)
    try:
        source = _graded(model, strategy, field, max_degree)
        if source is None or _prefers_lattice(source, strategy, max_degree):
            way = resolve(strategy) if source is None else "lattice"
            return _by_macaulay2(model, field, way, dimension)
        return _multigraded(source, model, strategy, max_degree, dimension)
    except errors.TimeLimitError as limit:
        if dimension.is_open:
            raise
        way = "multigraded" if strategy == "auto" and field == QQ else resolve(strategy)
        return Closure(
            model=model,
            field=field,
            strategy=way,
            equations=None,
            known_dimension=dimension,
            degree=None,
            hilbert_series=None,
            engine_version="",
            seconds=clock().seconds,
            unfinished=str(limit),
        )


def _dimension_by_ranks(model: Model, *, field: CoefficientField) -> Known:
    """The best answer by ranks of the differential, computed in at most half of the time."""
    with share(0.5):
        best = best_value(jacobian_findings(model, field=field))
    return NOTHING if best is None else replace(best.known, because="ranks of the differential")


def _prefers_lattice(source: MultigradedMap, strategy: Strategy, max_degree: int | None) -> bool:
    """Whether ``auto`` takes the ideal of a lattice: for monomials in many coordinates, where a
    program is there.
    """
    if (
        strategy != "auto"
        or max_degree is not None
        or not lattice.is_monomial(source.polynomial_map)
    ):
        return False
    return (
        len(source.polynomial_map.coordinates) > FEW_MONOMIALS
        and lattice.markov_program() is not None
    )


def _by_macaulay2(
    model: Model, field: CoefficientField, strategy: Strategy, dimension: Known
) -> Closure:
    """The ideal by elimination, or that of a lattice, as far as it is found within the limits."""
    if strategy == "lattice":
        independent = completeness.linear_reduction(model, field).reduced
        script, reason = lattice.lattice_script(independent, field=field, title=model.title)
    else:
        script, reason = closure_script(model, field=field, strategy=strategy), BY_ELIMINATION
    answer, late = answer_until_limit(script)
    if "generators" in answer and any(g.is_ground for g in answer.ideal("generators").generators):
        raise completeness.empty_source()
    return read_closure(
        answer,
        model,
        field=field,
        strategy=strategy,
        version=current().version,
        dimension=dimension,
        unfinished=late,
        reason=reason,
    )


def check_options(strategy: Strategy, *, field: CoefficientField, max_degree: int | None) -> None:
    """Raise InvalidCaseError for a strategy that does not exist, or a degree or field that it does
    not take.
    """
    resolve(strategy)
    if strategy == "multigraded" and field != QQ:
        raise errors.InvalidCaseError(
            "field", f"multigraded implicitization is over QQ, not {field}; use elimination"
        )
    if max_degree is None:
        return
    if (
        not isinstance(max_degree, int)
        or isinstance(max_degree, bool)
        or not 1 <= max_degree <= MOST_DEGREE
    ):
        shown = (
            f", not {max_degree!r}"
            if not isinstance(max_degree, int) or abs(max_degree) <= MOST_DEGREE
            else ""
        )
        raise errors.InvalidCaseError(
            "max_degree", f"must be an integer from 1 to {MOST_DEGREE}{shown}"
        )
    if strategy not in ("auto", "multigraded") or field != QQ:
        raise errors.InvalidCaseError(
            "max_degree", "only the strategy multigraded, over QQ, goes up to a degree"
        )


def _graded(
    model: Model, strategy: Strategy, field: CoefficientField, max_degree: int | None
) -> MultigradedMap | None:
    """The graded map, if the multigraded way is to be taken; for ``auto`` where it can lead to all
    generators.
    """
    if strategy == "multigraded" or max_degree is not None:
        return completeness.graded_source(model)
    if strategy != "auto" or field != QQ:
        return None
    try:
        source = completeness.graded_source(model)
    except (
        errors.MethodUnavailableError
    ):  # the documented fallback of auto: relations, or no grading
        return None
    return source if source.grading.is_standard else None


def _multigraded(
    source: MultigradedMap,
    model: Model,
    strategy: Strategy,
    max_degree: int | None,
    dimension: Known,
) -> Closure:
    """Equations degree by degree, by the core above low degrees; and the proof that they are all
    where it is wanted.
    """
    auto = strategy == "auto"
    if auto and max_degree is None:
        equations = completeness.all_equations(source, model, rank=dimension.lower)
    elif auto and max_degree is not None and (core := model.core()) is not None:
        equations = completeness.equations_by_core(source, max_degree, core)
    else:
        equations = completeness.low_degree_equations(source, max_degree)
    series = equations.series
    return Closure(
        model=model,
        field=QQ,
        strategy="multigraded",
        equations=equations.implicitization,
        known_dimension=_multigraded_dimension(equations, dimension),
        degree=None if series is None else series.degree,
        hilbert_series=series,
        engine_version=equations.engine_version,
        seconds=clock().seconds,
        unfinished=equations.unfinished,
        completeness_reason=equations.remark,
        all_generators=equations.all_generators,
        representations=_representations(equations, model),
    )


def _representations(
    equations: completeness.Equations, model: Model
) -> tuple[Representation, ...] | None:
    """All that are proved, or those of the generators found.

    Raises
    ------
    ContradictionError
        If they are different in the degrees that are known.
    """
    known = equations.representations
    orbits = equations.implicitization.orbits
    found = model.representations(
        {(orbit.degree, orbit.multidegree): len(orbit.polynomials) for orbit in orbits}
    )
    if known is None or found is None:
        return found
    # In a degree that was computed the known ones are those that were found, each of them and no
    # other. Above these degrees there may be generators that are known by their representations
    # alone.
    higher = equations.implicitization.higher
    not_computed = set() if higher is None else set(higher.counts)
    last = equations.implicitization.max_degree
    computed = [one for one in known if one.degree <= last and one.degree not in not_computed]
    if set(found) != set(computed):
        raise errors.ContradictionError(
            "the representations of the core are not those of the generators in each multidegree"
        )
    return known


def _multigraded_dimension(equations: completeness.Equations, ranks: Known) -> Known:
    """The dimension: ranks of the differential below, the equations above.

    At a point of the image the tangent space has at least the dimension of the closure, and lies in
    the kernel of the differentials of all equations. Where a random point does not show it, another
    one is tried.
    """
    if equations.series is not None:
        proved = Known.exactly(equations.series.dimension, "the Hilbert series of the ideal")
        together(ranks, proved)
        return proved
    if ranks.status != "lower bound":
        return ranks
    try:
        for seed in range(1, 1 + TANGENT_POINTS):
            dimension = together(ranks, _tangent_bound(equations.implicitization, seed))
            if dimension.exact is not None:
                return dimension
    except errors.TimeLimitError:
        pass
    return ranks


def _tangent_bound(implicitization: Implicitization, seed: int) -> Known:
    """The number of coordinates less the rank of the equations at a random point of the image."""
    computed = replace(implicitization, higher=None)
    parameters = random_point(implicitization.source.polynomial_map, 9, seed)
    images = implicitization.source.integral_images
    point = [
        sum(c * prod(map(pow, parameters, exponents)) for exponents, c in image.items())
        for image in images
    ]
    gradients = (gradient_of_terms(g, point) for g in watched(computed.sparse_generators()))
    return Known.at_most(len(point) - sparse_rank(gradients), "equations at a point")


def resolve(strategy: Strategy) -> Strategy:
    """The strategy of elimination that ``auto`` stands for, and all others unchanged."""
    errors.check_choice("strategy", strategy, Strategy)
    return "elimination" if strategy == "auto" else strategy


def closure_script(model: Model, *, field: CoefficientField, strategy: Strategy = "auto") -> Script:
    """The Macaulay2 program for the ideal in linearly independent coordinates."""
    independent = completeness.linear_reduction(model, field).reduced
    values = completeness.elimination_values(
        independent, field=field, graded=resolve(strategy) == "elimination"
    )
    return render("closure", ("wire", "invariants"), values | {"title": model.title})


def read_closure(
    answer: Answer,
    model: Model,
    field: CoefficientField,
    strategy: Strategy,
    version: str,
    dimension: Known = NOTHING,
    unfinished: str = "",
    reason: str = BY_ELIMINATION,
) -> Closure:
    """The closure from what Macaulay2 said, possibly only the first part of it.

    The ideal is carried from the independent coordinates to all of them, and the linear relations
    are added.
    """
    reduction, ideal, series = completeness.linear_reduction(model, field), None, None
    if "generators" in answer:
        target = model.polynomial_map.target(field=field)
        carried = (
            generator.set_ring(target.sympy_ring)
            for generator in answer.ideal("generators").generators
        )
        linear = reduction.linear_forms(model.polynomial_map, field=field)
        ideal = Ideal(target, linear + tuple(sorted(carried, key=lambda g: sum(g.LM))))
    if "dimension" in answer:
        dimension = Known.exactly(answer.integer("dimension"))
    degree = answer.integer("degree") if "degree" in answer else None
    if "hilbert_numerator" in answer:
        series = HilbertSeries.from_numerator(
            answer.integer_pairs("hilbert_numerator"), len(reduction.basis)
        )
    return Closure(
        model=model,
        field=field,
        strategy=strategy,
        equations=ideal,
        known_dimension=dimension,
        degree=degree,
        hilbert_series=series,
        engine_version=version,
        seconds=clock().seconds,
        unfinished=unfinished,
        completeness_reason=reason if ideal else "",
    )


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
        Of the parameters at which all coordinates vanish; −1 when there are none. The projective
        map is not defined there.
    source_irreducible : bool or None
        Where it is reducible, different parts can have fibres of different dimensions; ``None`` if
        not decided.
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
        """The dimension of an irreducible source less that of the image; ``None`` where the latter
        is only bounded.
        """
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
        facts = [
            (name, "empty" if d == -1 else f"dimension {d}")
            for name, d in dimensions.items()
            if d is not None
        ]
        if not self.source_irreducible:
            undecided = (
                "it was not decided whether the source is irreducible; so no generic fibre is given"
            )
            reducible = "the source is reducible; so there is no one generic fibre"
            facts.append(("remark", undecided if self.source_irreducible is None else reducible))
        sheet = self.closure.to_sheet()
        title = "\n".join(filter(None, [self.title, sheet.title]))
        return replace(sheet, title=title, blocks=[Facts(facts), *sheet.blocks])

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
    """Closure of the image, dimension of the generic fibre and of the base locus.

    Parameters
    ----------
    polynomial_map : PolynomialMap
        Where its source is reducible, no generic fibre is given.
    engine : Engine, optional
        A Macaulay2 to use; without one, that of the ``with`` block around it, else one that the
        process shares.
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
    >>> powers = {"x": s**3, "y": s**2 * t, "z": s * t**2, "w": t**3}
    >>> cubic = PolynomialMap.from_expressions([s, t], powers)
    >>> result = image(cubic)
    >>> result.closure.degree, result.generic_fibre_dimension, result.base_locus_dimension
    (3, 0, 0)
    """
    title = printable(title)
    with share(CLOSURE_PART):
        result = closure(polynomial_map, field=field, strategy=strategy, max_degree=max_degree)
    answer, late = answer_until_limit(base_locus_script(polynomial_map, field=field, title=title))
    dimension = answer.integer("source_dimension") if "source_dimension" in answer else None
    if dimension == -1:
        raise completeness.empty_source()
    irreducible: bool | None = True
    if polynomial_map.maybe_reducible:
        irreducible = (
            answer.boolean("source_irreducible") if "source_irreducible" in answer else None
        )
    return Image(
        replace(result, seconds=clock().seconds),
        title,
        dimension,
        answer.integer("base_locus_dimension") if "base_locus_dimension" in answer else None,
        irreducible,
        "; ".join(filter(None, (result.unfinished, late and f"base locus: {late}"))),
    )


implicitize = image
"""The same under its other name."""


def base_locus_script(
    polynomial_map: PolynomialMap, *, field: CoefficientField, title: str = ""
) -> Script:
    """The Macaulay2 program for the dimensions of source and base locus."""
    values = completeness.elimination_values(polynomial_map, field=field) | {
        "title": title or "a polynomial map"
    }
    return render("base_locus", values=values)

"""The answers to the questions about one closure, and programs to run by hand.

The questions themselves, which name, select and summarize the answers without SymPy, are in
questions.py. The checkers of their certificates are in checker/, and share only the words with this
module. What a question asks, and the limits on it, depend on the case alone, not on the time, so
that everybody gets the same certificate: all or nothing. A case that is too large is a
TooLargeError, and one for which a theorem does not hold a NotApplicableError.
"""

from contextlib import suppress
from typing import Any, NamedTuple

from m2bridge.algebra.determinantal import monomial_count
from m2bridge.algebra.differential import tangent_dimension
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.ring import is_homogeneous, total_degree
from m2bridge.certificates.form import Content
from m2bridge.convert.answers import answer_to
from m2bridge.engine import current
from m2bridge.engine.script import Script
from m2bridge.errors import (
    InvalidCaseError,
    MethodUnavailableError,
    NotApplicableError,
    ParseError,
    TimeLimitError,
    TooLargeError,
)
from m2bridge.families.attention.hypotheses import (
    WORDS,
    why_not_several_tokens,
    why_not_two_dimensions,
)
from m2bridge.families.attention.ideal import representations
from m2bridge.families.attention.ideal.sections import (
    CoreSize,
    largest_minor_degree,
    sections_series,
)
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.observations.by_degree import can_be_eliminated, degree_for
from m2bridge.families.attention.orbits.fibres import fibres_script
from m2bridge.families.attention.orbits.orbits import flatten, orbits, representative
from m2bridge.families.attention.orbits.parametrization import multigraded_attention
from m2bridge.families.attention.orbits.singular_orbits import orbit_script
from m2bridge.families.attention.polar.chern_integrals import has_short_polar_degrees
from m2bridge.families.attention.polar.theorem import are_loci_observed
from m2bridge.families.attention.sizes import CoordinateSystem, dimension_formula
from m2bridge.implicitization.implicitize import Implicitization, implicitize
from m2bridge.limits import clock, limited, share
from m2bridge.maps.closure import Closure, closure, closure_script, read_closure
from m2bridge.maps.degrees.polar_degrees import PolarDegrees, polar_degrees
from m2bridge.maps.degrees.slices import slices_program
from m2bridge.maps.equations import check_representations, default_max_degree
from m2bridge.maps.polynomial_map_model import as_model
from m2bridge.maps.singular_locus import jacobian_script

MAX_EQUATION_COORDINATES = 400
"""The largest number of coordinates, which grows as d³ d'; larger cases are refused."""


def standalone(
    computation: str,
    model: SingleLayerAttention,
    *,
    field: CoefficientField = QQ,
    coordinates: CoordinateSystem | None = None,
    method: str = "orbits",
) -> str:
    """Return the text of the complete Macaulay2 program for a computation, for ``M2 --script``.

    Elimination gives dimension and closure, by one program. The program for polar degrees counts
    points in slices, modulo a prime that it draws at random unless the variable ``givenPrime`` is a
    prime. Polar degrees and fibres are over QQ only; ``method`` is of the singular locus.
    """
    if computation == "fibres":
        if model.t == 1:
            raise MethodUnavailableError("the method of fibres is for t ≥ 2")
        if field != QQ:
            raise InvalidCaseError("field", f"must be QQ for fibres, not {field}")
        # fibres are the same in all coordinates
        return fibres_script(model).standalone()
    checked_model = as_model(model, coordinates)
    if computation == "polar-degrees":
        if field != QQ:
            raise InvalidCaseError("field", f"must be QQ for polar degrees, not {field}")
        return slices_program(checked_model).standalone()
    if computation in ("closure", "dimension"):
        return closure_script(checked_model, field=field).standalone()
    # "singular-locus" is left
    if method == "jacobian":
        return jacobian_script(checked_model, field=field).standalone()
    if method != "orbits":
        raise InvalidCaseError(
            "method", f"no script for the method '{method}': use orbits or jacobian"
        )
    if checked_model.no_orbits():
        raise MethodUnavailableError(
            "orbits classify functions of attention with t ≥ 2 only; use --method jacobian"
        )
    return orbit_script(checked_model, field=field).standalone()


def observe_closure(model: SingleLayerAttention) -> Closure:
    """Compute the closure, and all of its invariants.

    In few coordinates elimination has a part of the time at first. Then linear algebra is tried,
    which counts if it finds the whole ideal, and elimination has the rest.
    """
    # the block sets no limit: it starts the clock for the seconds of the result
    with limited(None):
        # without a limit a minute of elimination, and five minutes of linear algebra
        if can_be_eliminated(model.coordinate_count):
            with suppress(TimeLimitError), share(0.5, otherwise=60.0):
                return _closure_by_elimination(model)
        with suppress(TimeLimitError), share(0.5, otherwise=300.0):
            variety = closure(model)
            is_whole = variety.ideal is not None and variety.completeness.proved
            if is_whole and variety.degree is not None and variety.hilbert_series is not None:
                return variety
        return _closure_by_elimination(model)


def _closure_by_elimination(model: SingleLayerAttention) -> Closure:
    """Return the closure with all that elimination finds."""
    answer = answer_to(closure_program(model))
    return read_closure(answer, as_model(model), QQ, "elimination", current().version)


def closure_program(model: SingleLayerAttention) -> Script:
    """Return the program of the elimination over QQ, in the coordinates of the model."""
    return closure_script(as_model(model), field=QQ)


def closure_content(model: SingleLayerAttention, observed: Closure) -> Content:
    """Return the invariants, and the generators from which a checker recomputes them."""
    ideal, series = observed.ideal, observed.hilbert_series
    dimension, degree = observed.dimension, observed.degree
    if ideal is None or series is None or dimension is None or degree is None:
        raise ParseError("the answer about a closure is not complete")
    # The tangent dimension is the same at all points of an orbit, so a checker needs one point. For
    # one token there are no orbits: a sentence has the last degree in which a checker recomputes
    # the ideal, and says that higher generators, of which there are none, are left to elimination.
    tangent_dimensions: list[dict[str, Any]] = []
    if model.t > 1:
        trusted = tuple(WORDS.lemmas[name] for name in WORDS.closure["trusted"])
        attention = model.parametrization()
        for orbit in orbits(model):
            point = attention.evaluate(flatten(*representative(orbit, model)))
            tangent = tangent_dimension(ideal.generators, point)
            tangent_dimensions.append({"orbit": list(orbit.cells), "dimension": tangent})
    else:
        # 0 for the zero ideal, which has no generators
        largest_degree = max(map(total_degree, ideal.generators), default=0)
        # a checker compares Hilbert functions up to the last degree with few monomials, in any case
        last_checked = max(largest_degree, default_max_degree(len(ideal.ring.variables)))
        trusted = (WORDS.closure["one-token"].format(degree=last_checked),)
    answer = {
        "dimension": dimension,
        "degree": degree,
        "generator_degrees": {str(n): count for n, count in ideal.generator_degrees.items()},
        "homogeneous": all(map(is_homogeneous, ideal.generators)),
        "hilbert_series": series.to_json(),
    }
    evidence = {
        "coordinates": list(ideal.ring.variables),
        "generators": list(observed.generator_texts()),
        "tangent_dimensions": tangent_dimensions,
    }
    return Content(answer, evidence, trusted)


class CertifiedEquations(NamedTuple):
    """Equations of the closure up to a degree, and the results proved for all degrees."""

    equations: Implicitization
    series: HilbertSeries | None  # of the whole ideal, if it is proved
    all_generators: bool  # whether it is proved that there are no generators of higher degree


def are_equations_within_reach(model: SingleLayerAttention) -> bool:
    """Return whether equations up to a degree can be computed."""
    return model.t >= 2 and model.independent_count <= MAX_EQUATION_COORDINATES


def _proved_for_all_degrees(
    model: SingleLayerAttention, equations: Implicitization
) -> tuple[HilbertSeries | None, bool]:
    """Return what is proved about all degrees: the Hilbert series, and whether generators are all.

    The proof is by the core, a smaller variety that determines the ideal of the closure, and whose
    coordinate ring is known in all degrees (docs/completeness.md). The equations up to a degree are
    compared with it. The series is ``None`` if the proof is too large for a checker, or needs
    values of the Hilbert function beyond the equations; then nothing is said about generators.
    """
    core = CoreSize.of(model)
    last = equations.max_degree
    # a coordinate is the coefficient of a quadratic monomial in one product l_i v_k
    core_coordinates = core.columns * core.rows * monomial_count(core.variables, 2)
    ring = representations.coordinate_ring(core)
    # ``bound`` is the last degree in which a checker has to compute, with all monomials: up to two
    # million of them take it minutes
    if monomial_count(core_coordinates, ring.bound) > 2_000_000:
        return None, False
    if ring.all_sections_from > last + 1:
        # Below the degree ``all_sections_from`` the Hilbert function is not the number of sections,
        # and the equations have its values up to the degree ``last`` only.
        return None, False
    series = representations.hilbert_series(model)
    generators = representations.representations(model)
    check_representations(equations, [series.value(n) for n in range(last + 1)], generators)
    # minors that vanish identically in the core can be generators too
    largest_degree = max([largest_minor_degree(model), *(part.degree for part in generators)])
    return series, last >= largest_degree


def observe_equations(model: SingleLayerAttention) -> CertifiedEquations:
    """Compute the ideal up to a degree, and try to prove its series and that generators are all."""
    reason = why_not_several_tokens(model)
    if reason:
        raise NotApplicableError(f"the question {reason}")
    if not are_equations_within_reach(model):
        limit = f"at most {MAX_EQUATION_COORDINATES} coordinates"
        raise TooLargeError(
            f"equations up to a degree: {limit}; 'm2bridge closure' has no such limit"
        )
    equations = implicitize(multigraded_attention(model), degree_for(model))
    # a certificate says all or nothing
    if equations.stopped_early:
        # the TimeLimitError of the limit that was reached
        raise clock().late(f"degree {equations.max_degree + 1}")
    if not equations.exact:
        raise MethodUnavailableError("a rank over QQ was not found")
    series, all_generators = _proved_for_all_degrees(model, equations)
    return CertifiedEquations(equations=equations, series=series, all_generators=all_generators)


def equations_content(model: SingleLayerAttention, observed: CertifiedEquations) -> Content:
    """Return the results up to the degree, and those about all degrees that are proved."""
    # The representations that minimal generators form, by their numbers: one multidegree stands for
    # all that permutations of the indices make of it, its orbit.
    counts = {}
    for orbit in observed.equations.orbits:
        counts[orbit.degree, orbit.multidegree] = len(orbit.polynomials)
    generators = representations.from_multidegrees(model, counts)
    # The series of sections has the same Hilbert polynomial, so the same dimension and degree.
    sections = sections_series(model, dimension_formula(model))
    equations, series = observed.equations, observed.series
    generator_counts = {str(n): count for n, count in equations.generator_counts.items()}
    answer = {
        "dimension": sections.dimension,
        "degree": sections.degree,
        "max_degree": equations.max_degree,
        "hilbert_function": list(equations.hilbert_function),
        "generators_up_to_degree": generator_counts,
        "hilbert_coefficients": list(sections.hilbert_coefficients),
        "hilbert_series": None,
        "all_generators": observed.all_generators,
        "representations": [part.type_json() for part in generators],
    }
    lemma_names = WORDS.closure["up-to-a-degree"]
    if series is not None:
        answer["hilbert_series"] = series.to_json()
        lemma_names = WORDS.closure["for-all-degrees"]
    # a checker computes the equations again, so there is no evidence
    return Content(answer, {}, tuple(WORDS.lemmas[name] for name in lemma_names))


def are_polar_degrees_within_reach(model: SingleLayerAttention) -> bool:
    """Return whether t, d ≥ 2, as the theorem needs, and the case is not too large."""
    if why_not_two_dimensions(model) or not are_loci_observed(model):
        return False
    return has_short_polar_degrees(model)


def observe_polar_degrees(model: SingleLayerAttention) -> PolarDegrees:
    """Compute the polar degrees by the theorem, with the strata on which it relies."""
    reason = why_not_two_dimensions(model)
    if reason:
        raise NotApplicableError(f"the question {reason}")
    if not are_loci_observed(model):
        reason = "the orbits of this case are too many to be observed"
        raise TooLargeError(f"{reason}; 'm2bridge polar-degrees' needs none")
    return polar_degrees(model, method="theorem")


def polar_content(model: SingleLayerAttention, observed: PolarDegrees) -> Content:
    """Return the polar degrees, and the strata of the source on which they rely."""
    names = ("polar_degrees", "generic_ed_degree", "dual_dimension", "dual_degree")
    data = observed.to_json()
    loci = []
    for locus in data["loci"]:
        # results have the text "(1, 1, 0)" for people, certificates the list [1, 1, 0]
        orbit = [int(number) for number in locus["orbit"].strip("()").split(",")]
        loci.append(locus | {"orbit": orbit})
    answer = {name: data[name] for name in names}
    evidence = {"loci": loci, "generic_fibre_points": data["generic_fibre_points"]}
    return Content(answer, evidence, observed.theorem.rests_on)

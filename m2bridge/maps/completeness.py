"""The proof that the generators up to a degree are all that the ideal of a closure has.

The generators of low degree are found by linear algebra in :mod:`m2bridge.maps.equations`, in
independent coordinates: those that remain when linear relations are split off. That they are all is
proved by a core, a smaller case that decides; by elimination modulo a prime; by the one minimal
prime of the equations; or by the height, where the closure is a hypersurface. The height is also
used the other way round: fewer equations than the codimension are not all. The proofs are in
docs/computing-closures.md and docs/representations.md, each in short at its function.

``Equations`` are generators up to ``implicitization.max_degree``, with three texts that may be
empty: ``others`` proves that there are more, ``remark`` is what is claimed and why, ``unfinished``
the limit that was reached. ``rank`` is a lower bound for the dimension of the closure, by ranks of
the differential; ``None`` if it is not known. Representations are of all generators but linear
forms. A limit that is reached before a function has a result is a TimeLimitError or
MemoryLimitError, and methods that disagree are a ContradictionError.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import islice
from typing import Any, NamedTuple

from sympy.polys.rings import PolyElement

from m2bridge import errors
from m2bridge.algebra import FACTORING_CHARACTERISTIC_BOUND
from m2bridge.algebra.determinantal import monomial_count
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.numbers import primes_from
from m2bridge.algebra.polynomial_map import (
    LinearReduction,
    PolynomialMap,
    in_sparse_coordinates,
    reduce_linearly,
)
from m2bridge.algebra.schur import Representation, generator_counts
from m2bridge.algebra.sparse_polynomial import Terms
from m2bridge.convert import m2_syntax
from m2bridge.convert.answers import Answer, answer_to
from m2bridge.convert.m2_syntax import all_to_macaulay2
from m2bridge.engine import current
from m2bridge.engine.script import Script, render
from m2bridge.ideals.ideal import Ideal
from m2bridge.ideals.program import question
from m2bridge.implicitization.elimination import linear_part
from m2bridge.implicitization.implicitize import HigherDegrees, Implicitization, implicitize
from m2bridge.implicitization.multigraded_map import MultigradedMap
from m2bridge.limits import check_deadline_in, clock, share, turn
from m2bridge.maps.equations import (
    MAX_SEARCHED_MONOMIALS,
    Equations,
    check_representations,
    default_max_degree,
    extend_to_degree,
    graded_source,
    hypersurface_equation,
    low_degree_equations,
    scope,
)
from m2bridge.maps.jacobian_rank import differentiable, upper_bound
from m2bridge.maps.model import Core, Model
from m2bridge.results.sheet import m2_list, plural

MAX_ALL_DEGREES_MONOMIALS = 10_000_000
"""The largest number of monomials of a degree whose generators are all written: minutes."""

UNDECIDED = "(Macaulay2 did not decide within the limits whether there are others)"
NOT_FOUND = "(Macaulay2 did not find them within the limits)"


@lru_cache(maxsize=4)
def linear_reduction(model: Model, field: CoefficientField = QQ) -> LinearReduction:
    """Return the linear relations of the images, and the map in independent coordinates."""
    return reduce_linearly(model.polynomial_map, field=field)


def ideal_in_all_coordinates(
    generators: Iterable[PolyElement], model: Model, field: CoefficientField = QQ
) -> Ideal:
    """Return the ideal in the ring of all coordinates that the linear equations of the closure and
    polynomials in the independent coordinates generate together.
    """
    target = model.polynomial_map.target(field=field)
    linear = linear_reduction(model, field).linear_forms(model.polynomial_map, field=field)
    # the ring of all coordinates contains the ring of the independent ones, by their names
    nonlinear = [generator.set_ring(target.sympy_ring) for generator in generators]
    return Ideal(target, (*linear, *nonlinear))


def empty_source_error() -> errors.InvalidCaseError:
    """Return the error for relations among the parameters that have no common zero."""
    return errors.InvalidCaseError("relations", "they have no common zero: the source is empty")


def elimination_values(
    independent: PolynomialMap, *, field: CoefficientField, graded: bool = True
) -> dict[str, object]:
    """Return the values for templates that compute the ideal of the closure by elimination, for the
    map in independent coordinates.

    With ``graded`` the coordinates have the degrees of their images, if these are homogeneous.
    MethodUnavailableError if the radical of the relations is needed, and the characteristic is too
    large for that.
    """
    if independent.maybe_reducible and field.characteristic >= FACTORING_CHARACTERISTIC_BOUND:
        raise errors.MethodUnavailableError(
            f"over {field} Macaulay2 finds no radical of the relations:"
            f" use p < {FACTORING_CHARACTERISTIC_BOUND}"
        )
    variables = independent.source.variables
    # together, so that a parameter and a coordinate never become the same name
    names = all_to_macaulay2(variables + independent.coordinates)
    parameters, targets = names[: len(variables)], names[len(variables) :]

    def texts(polynomials: Iterable[PolyElement]) -> list[str]:
        """Polynomials in the parameters, as Macaulay2 has them."""
        return [m2_syntax.polynomial(f, parameters) for f in check_deadline_in(polynomials)]

    relations, images = texts(independent.relations), texts(independent.images)
    degrees = ""  # then all degrees are 1
    if graded and independent.image_degrees:
        degrees = m2_list(independent.image_degrees)
    # Macaulay2 knows no kernels of maps to a ring without variables: one parameter that is zero
    shown_parameters = parameters or ("noParameter",)
    if not parameters:
        relations.append("noParameter")
    return {
        "field": m2_syntax.field(field),
        "parameters": ", ".join(shown_parameters),
        "relations": m2_syntax.sequence(relations) if relations else "",
        "radical": independent.maybe_reducible,
        "images": m2_syntax.sequence(images),
        "coordinates": ", ".join(targets),
        "degrees": degrees,
    }


def all_equations(source: MultigradedMap, model: Model, *, rank: int | None) -> Equations:
    """Return the equations with the proof that they are all, or as far as they are found.

    Let I be the ideal of the closure, and K the ideal of the image of the map modulo p, generated
    in degrees ≤ N. H_I is the Hilbert function of the quotient by I, and I_{≤N} the part of I in
    degrees ≤ N. Reduction modulo p carries the integral elements of I into K, so H_K ≤ H_I. If both
    agree in degrees ≤ N, reduction carries I_{≤N} onto K_{≤N}, whose multiples are all of K; so the
    ideal J generated by I_{≤N} has H_J ≤ H_K. Hence H_I ≤ H_J ≤ H_K ≤ H_I, and J = I, for every
    degree. No luck enters: an unlucky prime makes the proof fail, not the claim; then the next
    smaller prime is tried, and at last one minimal prime of the equations.

    K is found by elimination of a map with few terms: the same map in other linear coordinates, in
    which the closure has the same Hilbert function, or another map whose closure over QQ is the
    same (:meth:`Model.eliminated`). The argument holds for each of these maps. Where the model
    knows a core, the core is used, and elimination, which takes longer still, is not tried.

    Fewer outputs, or the height, may show that there are generators of higher degree; ``others``
    says so then. If fewer outputs show it, K is not looked for in many coordinates, unless a limit
    says how long it may take.

    Hypotheses: standard grading, so that all ideals are homogeneous; free parameters, or minors of
    a generic matrix as relations (the quotient over ZZ is torsion free).

    Source: ours, proved in the documentation of m2bridge.
    """
    core = model.core()
    if core is None:
        # a single equation is searched up to a larger degree than all generators are
        hypersurface = hypersurface_equation(source, rank)
        if hypersurface is not None:
            return hypersurface
    equations = low_degree_equations(source, max_degree=None, part=0.5)
    is_limited = clock().remaining is not None
    with turn(1.0):
        if core is not None:
            return prove_by_core(equations, core)
        return _prove_without_core(equations, model, rank=rank, is_limited=is_limited)


def _prove_without_core(
    equations: Equations, model: Model, *, rank: int | None, is_limited: bool
) -> Equations:
    """Return the equations of low degree with the proof that they are all, by Macaulay2; or with a
    proof that there are generators of higher degree, or the limit that was reached.
    """
    low = equations.implicitization
    try:
        # each is a proof, in words, that there are generators of higher degree, or empty
        by_outputs = further_generators_of_fewer_outputs(model, low.max_degree)
        others = by_outputs or reason_by_height(low, model, "the closure")
        equations = equations.with_others(others)
        independent_count = len(linear_part(low.source).basis)
        # Without a limit, elimination in so many coordinates might not end: one token, d = 3 and
        # d' = 2 mean 20 coordinates, for which minutes of processor time do not suffice.
        if by_outputs and independent_count >= 20 and not is_limited:
            reason = f"the others take minutes, or do not end, in {independent_count} coordinates"
            # `more` is the advice how to give more time
            return replace(equations, unfinished=f"{reason}; {clock().more}")
        # the rest of the time is for the minimal prime
        with share(0.75):
            by_elimination = _by_elimination(equations, model)
        if not by_elimination.all_generators:
            by_minimal_prime = _by_minimal_prime(equations, rank)
            if by_minimal_prime.all_generators:
                return replace(by_minimal_prime, engine_version=current().version)
        return by_elimination
    except (errors.TimeLimitError, errors.MemoryLimitError) as limit:
        return _ended_by_limit(equations, limit)


def further_generators_of_fewer_outputs(model: Model, degree: int) -> str:
    """Return the proof, in words, that one or two outputs have generators above a degree; empty if
    that is not shown. Minimal generators for fewer outputs are minimal generators for all outputs
    (:meth:`Model.fewer_outputs`).
    """
    for outputs, name in ((1, "the closure of one output"), (2, "the closure of two outputs")):
        smaller = model.fewer_outputs(outputs)
        if smaller is None:
            break
        source = graded_source(smaller)
        # the next degree is searched too, where that is quick
        monomials_above = monomial_count(len(linear_part(source).basis), degree + 1)
        is_quick = monomials_above <= MAX_SEARCHED_MONOMIALS
        low = implicitize(source, degree + 1 if is_quick else degree)
        if low.stopped_early:  # with more outputs it would take longer still
            break
        count_above = low.generator_counts.get(degree + 1, 0)
        if count_above:
            return f"{name} has {plural(count_above, 'generator')} of degree {degree + 1}"
        reason = reason_by_height(low, smaller, name)
        if reason:
            return reason
    return ""


def reason_by_height(low: Implicitization, model: Model, closure_in_words: str) -> str:
    """Return the proof, in words, that a closure has generators of higher degree than was searched;
    empty if that is not shown.

    There are further generators if fewer than the codimension were found: an ideal with k
    generators has height at most k (Krull; Matsumura, *Commutative Ring Theory*, Theorem 13.5).
    Linear equations are split off.
    """
    independent_count = len(linear_part(low.source).basis)
    # an upper bound that needs no computation, such as the number of parameters
    dimension_at_most = upper_bound(model, differentiable(model)).value
    # in the space that the linear equations define
    codimension_at_least = independent_count - dimension_at_most
    nonlinear = sum(count for degree, count in low.generator_counts.items() if degree > 1)
    if nonlinear >= codimension_at_least:
        return ""
    generators = f"{plural(nonlinear, 'generator')} of degree ≤ {low.max_degree}"
    return f"{closure_in_words}, of codimension ≥ {codimension_at_least}, has {generators}"


def _by_elimination(equations: Equations, model: Model) -> Equations:
    """Return the equations with the proof by the ideals of the image modulo primes
    (:func:`all_equations`): they are all if they have the Hilbert function of the closure modulo p
    up to the largest degree of its generators there. If no prime gives a proof, ``unfinished`` says
    why.
    """
    equations = replace(equations, engine_version=current().version)
    unlucky_primes = []
    # after five unlucky primes the proof is given up
    for prime in islice(_elimination_primes(_eliminated_map(model)), 5):
        try:
            answer = answer_to(completeness_script(model, field=CoefficientField(prime)))
            series, largest_degree = _graded_ideal_in(answer, len(linear_reduction(model).basis))
        except (errors.TimeLimitError, errors.MemoryLimitError) as limit:
            return _ended_by_limit(equations, limit)
        # the proof can succeed only if both Hilbert functions agree in the degrees known so far
        if equations.has_hilbert_function(series):
            equations = extend_to_degree(largest_degree, equations)
            if largest_degree > equations.implicitization.max_degree:
                # time did not suffice for the degree up to which the proof compares
                return equations
        if equations.has_hilbert_function(series):
            return equations.as_complete(series, _elimination_proof(model, prime, largest_degree))
        # Modulo this prime the closure has more equations of low degree than over QQ.
        unlucky_primes.append(str(prime))
    primes = ", ".join(unlucky_primes)
    unfinished = f"the primes {primes} are unlucky for this map; elimination needs none"
    return replace(equations, unfinished=unfinished)


class GradedIdeal(NamedTuple):
    """The numbers of a homogeneous ideal, found by Macaulay2, that a proof compares."""

    series: HilbertSeries  # of the quotient by the ideal
    largest_degree: int  # of a minimal generator; 0 if the ideal is zero


def _graded_ideal_in(answer: Answer, variable_count: int) -> GradedIdeal:
    """Return the ideal of an answer of Macaulay2, in ``variable_count`` variables."""
    # from exponents to coefficients, over (1 − T)^n in n variables
    numerator = answer.integer_pairs("hilbert_numerator")
    series = HilbertSeries.from_numerator(numerator, variable_count)
    return GradedIdeal(series, answer.integer("largest_degree"))


def _elimination_proof(model: Model, prime: int, largest_degree: int) -> str:
    """Return in words why the equations are all: the ideal modulo the prime has generators up to
    ``largest_degree`` only, and in these degrees the same Hilbert function.
    """
    elimination = f"elimination modulo {prime} gives"
    if len(linear_reduction(model).basis) < len(model.polynomial_map.coordinates):
        elimination += ", in addition to linear ones,"
    if largest_degree == 0:
        return f"{elimination} no generators"
    generators = f"generators of degree ≤ {largest_degree}"
    return f"{elimination} {generators} and the same Hilbert function there"


def _by_minimal_prime(equations: Equations, rank: int | None) -> Equations:
    """Return the equations with the proof by their only minimal prime P, if it succeeds.

    The ideal I of the closure is prime and contains the equations, so it contains a minimal prime
    of the ideal that they generate, which is P. The rank of the differential is at most the
    dimension of the closure, and this is at most the dimension of V(P), since P is contained in I;
    where the rank is the dimension of V(P), both primes have the same dimension, so they are equal.
    Where P has further generators, they are found too.

    If there are several minimal primes, or P has another dimension, or the time does not suffice
    for all generators of P, the equations have no such proof.
    """
    ideal = equations.implicitization.ideal()
    libraries = ("wire", "invariants")
    script = question("one_minimal_prime", {"givenIdeal": ideal}, libraries=libraries)
    answer = answer_to(script)  # the number of minimal primes, and invariants if it is one
    if answer.integer("count") != 1 or answer.integer("dimension") != rank:
        return equations
    series, largest_degree = _graded_ideal_in(answer, len(ideal.ring.variables))
    equations = extend_to_degree(largest_degree, equations)
    # time did not suffice for the generators of P of that degree
    if largest_degree > equations.implicitization.max_degree:
        return equations
    if not equations.has_hilbert_function(series):
        raise errors.ContradictionError(
            "the minimal prime of the equations is not their ideal in the known degrees"
        )
    return equations.as_complete(
        series,
        f"up to degree {largest_degree} they have one minimal prime, of the dimension of the"
        " closure, and it has no others",
    )


def _ended_by_limit(equations: Equations, limit: Exception) -> Equations:
    """Return the equations, unfinished since a limit ended the proof of completeness."""
    claim = NOT_FOUND if equations.others else UNDECIDED
    return replace(equations, remark=f"{equations.remark} {claim}", unfinished=str(limit))


def completeness_script(model: Model, *, field: CoefficientField) -> Script:
    """Return the Macaulay2 program for the ideal of the image over a prime field."""
    values = elimination_values(_eliminated_map(model), field=field)
    values["title"] = f"{model.title}, over {field}"
    return render("completeness", libraries=("wire", "invariants"), values=values)


@lru_cache(maxsize=4)
def _eliminated_map(model: Model) -> PolynomialMap:
    """Return the map of ``model.eliminated()``, in independent coordinates with sparse images."""
    return in_sparse_coordinates(linear_reduction(model.eliminated()).reduced)


def _elimination_primes(parametrization: PolynomialMap) -> Iterator[int]:
    """Yield odd primes that divide no numerator or denominator, from the quickest one downwards."""
    polynomials: Sequence[Any] = (*parametrization.images, *parametrization.relations)
    # modulo a prime in a numerator the map has fewer terms, which is unlucky more often
    avoided = {2}  # numbers that no prime may divide
    for polynomial in polynomials:
        for coefficient in polynomial.values():
            avoided |= {int(coefficient.numerator), int(coefficient.denominator)}
    return primes_from(32003, avoided)  # the largest for which Macaulay2 is quickest


def prove_by_core(equations: Equations, core: Core) -> Equations:
    """Return the equations of low degree with Hilbert series and representations by the core.

    Generators of higher degree are added where there are few monomials; where all of them are
    added, or none exist, the result says that its generators are all, else that the representations
    are. Where a limit was reached, or the core decided nothing, ``unfinished`` says so.
    """
    low = equations.implicitization
    try:
        independent_count = len(linear_part(low.source).basis)
        with share(0.9):  # the rest of the time is for what is made of the results below
            series = core.hilbert_series()
            equations = replace(equations, series=series)
            representations = core.representations()
            equations = replace(equations, representations=representations)
    except (errors.TimeLimitError, errors.MethodUnavailableError, errors.TooLargeError) as limit:
        return replace(equations, unfinished=str(limit))
    # the largest degree of a generator; 0 if there are only linear forms
    largest = max((one.degree for one in representations), default=0)
    # the Hilbert function in all degrees that are compared or continued to
    values = list(map(series.value, range(max(largest, low.max_degree) + 1)))
    check_representations(low, values, representations)  # raises if they differ
    # with more monomials, generators of higher degree are given by their representations alone
    has_few_monomials = monomial_count(independent_count, largest) <= MAX_ALL_DEGREES_MONOMIALS
    if has_few_monomials and largest > low.max_degree:
        equations = _continue_by_core(equations, values, representations)
    last = equations.implicitization.max_degree
    if last >= largest:
        claim = f"show that they have degree ≤ {largest}" if largest else "satisfy no equation"
        return equations.as_complete(series, f"{core.name} {claim} (docs/representations.md)")
    polynomials = f"as polynomials up to degree {last}"
    remark = f"all generators as representations, by {core.name}; {polynomials}"
    return replace(equations, remark=remark, unfinished="")


def equations_by_core(source: MultigradedMap, max_degree: int, core: Core) -> Equations:
    """Return all minimal generators of degree ≤ max_degree, above low degrees by the core; linear
    algebra finds them in low degrees, and in all degrees where the core decides nothing.
    """
    last_low_degree = min(max_degree, default_max_degree(len(linear_part(source).basis)))
    low = low_degree_equations(source, last_low_degree)
    if low.unfinished:
        return low
    equations = low
    for n in range(last_low_degree + 1, max_degree + 1):
        try:
            values, representations = core.up_to(n)
        except errors.TimeLimitError:
            return replace(equations, unfinished=str(clock().late(f"degree {n}")))
        except (errors.MethodUnavailableError, errors.TooLargeError):  # the core decides nothing
            return low_degree_equations(source, max_degree)
        check_representations(low.implicitization, values, representations)  # raises if they differ
        # each degree continues the low ones, since the representations are all of degree ≤ n
        equations = replace(low, representations=representations)
        equations = _continue_by_core(equations, values, representations)
    return equations


def _continue_by_core(
    equations: Equations, values: Sequence[int], representations: Sequence[Representation]
) -> Equations:
    """Return the equations of low degree, continued by generators that are computed when they are
    asked for, with the values H(0), …, H(N) and the representations in degrees ≤ N.
    """
    low = equations.implicitization
    of_higher_degree = (one for one in representations if one.degree > low.max_degree)
    counts = generator_counts(of_higher_degree)
    higher = HigherDegrees(counts, partial(_higher_generators, low, values, representations))
    implicitization = low.continue_with(values, higher)
    return replace(equations, implicitization=implicitization, remark=scope(implicitization))


def _higher_generators(
    low: Implicitization, values: Sequence[int], representations: Sequence[Representation]
) -> Iterator[tuple[Terms, ...]]:
    """Return an iterator over the generators above the degree of ``low``, by linear algebra, those
    of one multidegree as a tuple, after a comparison with the values and representations.

    Lowering operators would give them from highest weight vectors, but with many more terms.
    """
    last_degree = len(values) - 1
    implicitization = implicitize(low.source, last_degree)
    if implicitization.stopped_early:
        raise clock().late(f"degree {implicitization.max_degree + 1}")
    check_representations(implicitization, values, representations)  # raises if they differ
    return implicitization.generators_by_multidegree(above=low.max_degree)

"""Minimal generators up to a degree, and the proof that there are no others: by a core, or by elimination mod p."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import islice
from typing import Any

from m2bridge import errors
from m2bridge.algebra.determinantal import monomial_count
from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.algebra.hilbert_series import HilbertSeries
from m2bridge.algebra.numbers import primes_from
from m2bridge.algebra.polynomial_map import LinearReduction, PolynomialMap, in_sparse_coordinates, reduce_linearly
from m2bridge.algebra.schur import Representation
from m2bridge.algebra.sparse_polynomial import Terms
from m2bridge.convert import macaulay2
from m2bridge.convert.macaulay2 import all_to_macaulay2
from m2bridge.engine import Engine
from m2bridge.engine.script import Script, render
from m2bridge.engine.wire import answer_to
from m2bridge.ideals.program import question
from m2bridge.implicitization.elimination import linear_part
from m2bridge.implicitization.implicitize import HigherDegrees, Implicitization, implicitize
from m2bridge.implicitization.multigraded_map import MultigradedMap, multigraded
from m2bridge.limits import clock, share, watched
from m2bridge.maps.model import Core, Model

LARGEST_FACTORED = 2**29
"""Macaulay2 factors polynomials, and so finds radicals, modulo primes below this number."""


@lru_cache(maxsize=4)
def linear_reduction(model: Model, field: CoefficientField = QQ) -> LinearReduction:
    """The map of a model in linearly independent coordinates over a field."""
    return reduce_linearly(model.polynomial_map, field=field)


def empty_source() -> errors.InvalidCaseError:
    """The error for relations that no parameters satisfy."""
    return errors.InvalidCaseError("relations", "they have no common zero: the source is empty")


def elimination_values(
    independent: PolynomialMap, *, field: CoefficientField, graded: bool = True
) -> dict[str, object]:
    """Return the values for templates that compute the ideal of the closure by elimination.

    Macaulay2 knows no kernels of maps to a ring without variables; so a map without parameters gets one that is zero.

    Raises
    ------
    MethodUnavailableError
        If the radical of the relations is needed, and the characteristic is too large for that.
    """
    if independent.maybe_reducible and field.characteristic >= LARGEST_FACTORED:
        raise errors.MethodUnavailableError(
            f"over {field} Macaulay2 finds no radical of the relations: use p < {LARGEST_FACTORED}"
        )
    names = all_to_macaulay2(independent.source.variables + independent.coordinates)
    parameters, targets = names[: len(independent.source.variables)], names[len(independent.source.variables) :]
    degrees = independent.image_degrees if graded else None
    relations = [macaulay2.polynomial(relation, parameters) for relation in watched(independent.relations)]
    images = [macaulay2.polynomial(image, parameters) for image in watched(independent.images)]
    if not parameters:
        parameters, relations = ("noParameter",), [*relations, "noParameter"]
    return {
        "field": macaulay2.field(field),
        "parameters": ", ".join(parameters),
        "relations": macaulay2.sequence(relations) if relations else "",
        "radical": independent.maybe_reducible,
        "images": macaulay2.sequence(images),
        "coordinates": ", ".join(targets),
        "degrees": "{" + ", ".join(map(str, degrees)) + "}" if degrees else "",
    }


PROOF_SECONDS = 60.0
"""How long a proof of completeness may take when no limit was given."""
PRIMES = 5
"""How many primes may be unlucky for a map before the proof is given up."""


def all_equations(
    source: MultigradedMap, model: Model, core: Core | None, engine: Engine, rank: int | None
) -> Equations:
    """The equations of low degree and the proof that they are all, or those of higher degree; as far as the time goes.

    Raises
    ------
    TimeLimitError
        If the limit was reached before anything was found.
    """
    if core is None and (hypersurface := hypersurface_equation(source, rank)) is not None:
        return hypersurface
    return prove_complete(low_degree_equations(source, None, part=0.5), model, core, engine=engine, rank=rank)


def prove_complete(
    equations: Equations, model: Model, core: Core | None = None, *, engine: Engine, rank: int | None = None
) -> Equations:
    """Try to prove that the generators found are all, by a core of the model, modulo a prime, or by one minimal prime.

    Let K be the ideal of the image of the map modulo p, generated in degrees ≤ N. Reduction modulo p carries the
    integral elements of I into K, so H_K ≤ H_I. If both agree in degrees ≤ N, reduction carries I_{≤N} onto K_{≤N},
    whose multiples are all of K; so the ideal J generated by I_{≤N} has H_J ≤ H_K. Hence H_I ≤ H_J ≤ H_K ≤ H_I, and
    J = I, for every degree. No luck enters: an unlucky prime makes the proof fail, not the claim; then the next smaller
    prime is tried.

    K is found by elimination, in linear coordinates with few terms: the closures of a map in two systems of linear
    coordinates correspond, with their Hilbert functions, and the above is about any of them. Where the model knows a
    core, linear algebra proves it instead, or nothing does: then elimination, in more coordinates, would take longer
    still; see :class:`m2bridge.maps.model.Core`.

    Where it is seen that generators are missing, those of higher degree are found too, as far as the time goes.

    Hypotheses: standard grading, so that all ideals are homogeneous; free parameters, or minors of a generic matrix as
    relations (the quotient over ZZ is torsion free).

    Source: ours, proved in the documentation of m2bridge.
    """
    with share(1.0, otherwise=PROOF_SECONDS):
        if core is not None:
            return prove_by_core(equations, core)
        try:
            with share(0.75):
                result = _by_elimination(equations, model, engine)
            if result.all_generators:
                return result
            proved = _by_minimal_prime(equations, rank, engine)
            return replace(proved, engine_version=engine.version) if proved.all_generators else result
        except (errors.TimeLimitError, errors.MemoryLimitError) as limit:
            return _undecided(equations, limit)


def _by_elimination(equations: Equations, model: Model, engine: Engine) -> Equations:
    equations = replace(equations, engine_version=engine.version)
    independent = len(linear_reduction(model).basis)
    unlucky = []
    for field in map(CoefficientField, islice(_primes(_eliminated_map(model)), PRIMES)):
        try:
            answer = answer_to(completeness_script(model, field=field), engine=engine)
        except (errors.TimeLimitError, errors.MemoryLimitError) as limit:
            return _undecided(equations, limit)
        series = HilbertSeries.from_numerator(answer.integer_pairs("hilbert_numerator"), independent)
        largest = answer.integer("largest_degree")
        if largest > equations.implicitization.max_degree and _continues(series, equations):
            equations = up_to(largest, equations)
            if largest > equations.implicitization.max_degree:
                return equations
        if _continues(series, equations):
            besides = ", besides the linear ones," if independent < len(model.polynomial_map.coordinates) else ""
            generated = f"generators of degree ≤ {largest} and the same Hilbert function there"
            elimination = f"elimination modulo {field.characteristic} gives{besides}"
            remark = f"all generators: {elimination} {generated if largest else 'no generators'}"
            return replace(equations, series=series, all_generators=True, remark=remark, unfinished="")
        unlucky.append(str(field.characteristic))
    primes = ", ".join(unlucky)
    return replace(equations, unfinished=f"the primes {primes} are unlucky for this map; elimination needs none")


def _by_minimal_prime(equations: Equations, rank: int | None, engine: Engine) -> Equations:
    """The proof by the one minimal prime P of the equations found, if it has the dimension of the closure.

    The ideal I of the closure is prime and contains these equations, so it contains a minimal prime of theirs, which is
    P. The rank of the differential is at most dim I, and dim I at most dim P; where the rank is dim P, both primes have
    the same dimension, so they are equal. Where P has further generators, they are found too.

    Raises
    ------
    TimeLimitError, MemoryLimitError
        If the limit was reached.
    """
    ideal = equations.implicitization.ideal()
    answer = answer_to(
        question("one_minimal_prime", {"givenIdeal": ideal}, None, ("wire", "invariants")), engine=engine
    )
    if answer.integer("count") != 1 or answer.integer("dimension") != rank:
        return equations
    series = HilbertSeries.from_numerator(answer.integer_pairs("hilbert_numerator"), len(ideal.ring.variables))
    largest = answer.integer("largest_degree")
    equations = up_to(largest, equations)
    if largest > equations.implicitization.max_degree:
        return equations
    if not _continues(series, equations):
        raise errors.ContradictionError("the minimal prime of the equations is not their ideal in the known degrees")
    remark = (
        f"all generators: those of degree ≤ {largest} have one minimal prime, of the dimension of the closure, and it "
        "has no others"
    )
    return replace(equations, series=series, all_generators=True, remark=remark, unfinished="")


def _undecided(equations: Equations, limit: Exception) -> Equations:
    remark = f"{equations.remark} (Macaulay2 did not decide within the limits whether there are others)"
    return replace(equations, remark=remark, unfinished=str(limit))


def _continues(series: HilbertSeries, equations: Equations) -> bool:
    """Whether the series continues the Hilbert function over QQ; if not, its prime is unlucky."""
    return all(series.value(n) == h for n, h in enumerate(equations.implicitization.hilbert_function))


def completeness_script(model: Model, *, field: CoefficientField) -> Script:
    """The Macaulay2 program that computes the ideal of the image modulo a prime."""
    values = elimination_values(_eliminated_map(model), field=field) | {"title": f"{model.title}, over {field}"}
    return render("completeness", ("wire", "invariants"), values)


@lru_cache(maxsize=4)
def _eliminated_map(model: Model) -> PolynomialMap:
    """The map as it is eliminated: independent coordinates, with few terms."""
    return in_sparse_coordinates(linear_reduction(model).reduced)


def _primes(parametrization: PolynomialMap) -> Iterator[int]:
    """Primes that divide no coefficient of the map, from 32003 downwards, for which Macaulay2 is quickest."""
    polynomials: Sequence[Any] = (*parametrization.images, *parametrization.relations)
    coefficients = {c for polynomial in polynomials for c in polynomial.values()}
    numbers = {int(n) for c in coefficients for n in (c.numerator, c.denominator)}
    return (p for p in primes_from(32003) if p > 2 and all(n % p for n in numbers))


MOST_MONOMIALS = 10_000_000
"""Of one degree, in which all generators are written out: more take longer than minutes."""


def prove_by_core(equations: Equations, core: Core) -> Equations:
    """The Hilbert series and all representations by the core, and generators as far as these show to be necessary.

    Raises
    ------
    ContradictionError
        If they are not what was computed in the degrees that are known.
    """
    low = equations.implicitization
    try:
        coordinates = len(linear_part(low.source).independent)
        with share(0.9):  # the rest is for what was found until then
            equations = replace(equations, series=(series := core.hilbert_series()))
            equations = replace(equations, representations=(parts := core.representations()))
    except (errors.TimeLimitError, errors.MethodUnavailableError, errors.TooLargeError) as limit:
        return replace(equations, unfinished=str(limit))
    needed = max((part.degree for part in parts), default=0)
    values = [series.value(n) for n in range(max(needed, low.max_degree) + 1)]
    check_representations(low, values, parts)
    reachable = monomial_count(coordinates, needed) <= MOST_MONOMIALS
    if reachable and needed > low.max_degree:
        equations = _continued(equations, values, parts)
    last = equations.implicitization.max_degree
    if last >= needed:
        generated = (
            f"{core.name} show that they have degree ≤ {needed}" if needed else f"{core.name} satisfy no equation"
        )
        remark = f"all generators: {generated} (docs/representations.md)"
        return replace(equations, all_generators=True, remark=remark, unfinished="")
    remark = f"all generators as representations, by {core.name}; as polynomials those of degree ≤ {last}"
    late = str(clock().late(f"degree {last + 1}")) if reachable else ""
    return replace(equations, remark=remark, unfinished=late)


def equations_by_core(source: MultigradedMap, max_degree: int, core: Core) -> Equations:
    """All minimal generators of degree ≤ max_degree: above low degrees by the core, as far as the time goes.

    Raises
    ------
    TimeLimitError
        If the limit was reached before the first degree was begun.
    """
    lowest = min(max_degree, default_max_degree(len(linear_part(source).independent)))
    equations = known = low_degree_equations(source, lowest)
    if known.unfinished:
        return known
    for n in range(lowest + 1, max_degree + 1):
        try:
            values, parts = core.up_to(n)
        except errors.TimeLimitError:
            return replace(equations, unfinished=str(clock().late(f"degree {n}")))
        except (errors.MethodUnavailableError, errors.TooLargeError):
            return low_degree_equations(source, max_degree)
        check_representations(known.implicitization, values, parts)
        equations = _continued(replace(known, representations=parts), values, parts)
    return equations


def _continued(equations: Equations, values: Sequence[int], parts: Sequence[Representation]) -> Equations:
    """The equations up to the degree of the last value, which are these representations."""
    low, counts = equations.implicitization, Counter[int]()
    for part in parts:
        counts[part.degree] += part.dimension if part.degree > low.max_degree else 0
    implicitization = low.continued(values, HigherDegrees(+counts, partial(_written_out, low, values, parts)))
    return replace(equations, implicitization=implicitization, remark=scope(implicitization))


def _written_out(low: Implicitization, values: Sequence[int], parts: Sequence[Representation]) -> Iterator[Terms]:
    """The generators above low degrees, multidegree by multidegree; lowering operators give many more terms.

    Raises
    ------
    ContradictionError
        If they are others than the representations.
    TimeLimitError
        If the limit was reached.
    """
    found = implicitize(low.source, len(values) - 1)
    if found.stopped_early:
        raise clock().late(f"degree {found.max_degree + 1}")
    check_representations(found, values, parts)
    return (terms for terms in found.sparse_generators() if len(terms[0][0]) > low.max_degree)


def check_representations(low: Implicitization, values: Sequence[int], parts: Iterable[Representation]) -> None:
    """Compare values of the Hilbert function and representations with what was computed in low degrees.

    Raises
    ------
    ContradictionError
        If they differ.
    """
    if low.hilbert_function != (values := tuple(values[: low.max_degree + 1])):
        raise errors.ContradictionError(f"the Hilbert function {values} does not continue the values computed")
    counts: Counter[int] = Counter()
    for part in parts:
        counts[part.degree] += part.dimension
    for n in range(2, low.max_degree + 1):
        if counts[n] != (computed := low.generator_counts.get(n, 0)):
            said = f"representations have {counts[n]} generators of degree {n}"
            raise errors.ContradictionError(f"{said}, not {computed}")


LARGEST_DEGREE = 4
MOST_MONOMIALS_OF_A_DEGREE = 100_000


@dataclass(frozen=True, slots=True)
class Equations:
    """Minimal generators up to some degree, and what is known about generators of higher degree.

    Parameters
    ----------
    implicitization : Implicitization
    series : HilbertSeries or None
        Of the whole ideal, where it is proved.
    all_generators : bool
        Whether it is proved that there are none of higher degree.
    representations : tuple of Representation, optional
        All minimal generators but linear forms, where they are proved to be these.
    engine_version : str
        Of the Macaulay2 that took part in the proof; empty if none was asked.
    remark : str
        How completeness was proved, or that it was not.
    unfinished : str
        Empty, or the limit that was reached.
    """

    implicitization: Implicitization
    series: HilbertSeries | None = None
    all_generators: bool = False
    representations: tuple[Representation, ...] | None = None
    engine_version: str = ""
    remark: str = ""
    unfinished: str = ""


def graded_source(model: Model) -> MultigradedMap:
    """The free parametrization of a model with its finest grading, and the symmetries that the model knows.

    Raises
    ------
    MethodUnavailableError
        If the parameters satisfy relations or the map has no positive grading.
    """
    return multigraded(model.free_map, model.symmetries(), model.grading())


def default_max_degree(
    coordinates: int, monomials: int = MOST_MONOMIALS_OF_A_DEGREE, largest: int = LARGEST_DEGREE
) -> int:
    """The largest N ≤ ``largest`` for which there are at most this many monomials of degree N; at least 1."""
    fitting = (n for n in range(largest, 1, -1) if monomial_count(coordinates, n) <= monomials)
    return next(fitting, 1)


def low_degree_equations(source: MultigradedMap, max_degree: int | None, part: float = 1.0) -> Equations:
    """All minimal generators of degree ≤ max_degree, or of the degrees that a part of the time left suffices for.

    Where a degree was not reached, ``unfinished`` says so.

    Raises
    ------
    TimeLimitError
        If the limit was reached before the first degree was begun.
    """
    degree = default_max_degree(len(linear_part(source).independent)) if max_degree is None else max_degree
    with share(part) as clock:
        implicitization = implicitize(source, degree)
    late = str(clock.late(f"degree {implicitization.max_degree + 1}")) if implicitization.stopped_early else ""
    return Equations(implicitization, remark=scope(implicitization), unfinished=late)


LARGEST_HYPERSURFACE = 100
"""The equation of a hypersurface is searched up to this degree, as far as time and the number of monomials go."""
BY_HEIGHT = (
    "all generators: by a rank of the differential the closure is a hypersurface, besides linear equations; it is "
    "irreducible, so that the equation of least degree generates its ideal"
)


def hypersurface_equation(source: MultigradedMap, rank: int | None) -> Equations | None:
    """The one equation, where a rank of the differential is one less than the number of independent coordinates.

    The closure is irreducible of at least that dimension, and an equation shows that it is no larger. A prime ideal of
    height 1 in a factorial ring is principal (Matsumura, *Commutative Ring Theory*, Theorem 20.1), and what is of least
    degree in it is a multiple of the generator by a scalar. ``None`` if the closure is not seen to be a hypersurface,
    or the search reached a limit.

    Raises
    ------
    ContradictionError
        If there are several equations of that degree.
    """
    count = len(linear_part(source).independent)
    if rank != count - 1:
        return None
    try:
        with share(0.5, otherwise=PROOF_SECONDS):
            largest = default_max_degree(count, largest=LARGEST_HYPERSURFACE)
            implicitization = implicitize(source, largest, first=True)
    except errors.TimeLimitError:
        return None
    degree = implicitization.max_degree
    series = HilbertSeries.from_numerator({0: 1, degree: -1}, count)
    equations = Equations(implicitization, series, all_generators=True, remark=BY_HEIGHT)
    if all(orbit.degree == 1 for orbit in implicitization.orbits):
        return None
    if not _continues(series, equations):
        raise errors.ContradictionError("the closure is a hypersurface, but has several equations of least degree")
    return equations


def up_to(degree: int, equations: Equations) -> Equations:
    """The generators up to a higher degree, or as far as time suffices, with the limit; no fewer than are known."""
    found = equations.implicitization
    if degree <= found.max_degree:
        return equations
    with suppress(errors.TimeLimitError):
        found = max(found, implicitize(found.source, degree), key=lambda one: one.max_degree)
    late = "" if found.max_degree == degree else f"generators of degree {degree} may exist; {clock().more}"
    return replace(equations, implicitization=found, remark=scope(found), unfinished=late)


def scope(implicitization: Implicitization) -> str:
    """The claim about generators up to a degree, in words."""
    grading, last = implicitization.source.grading, implicitization.max_degree
    weights = "" if grading.is_standard else f", the coordinates having degrees {', '.join(map(str, grading.degrees))}"
    return f"all minimal generators of degree ≤ {last}{weights}; nothing is claimed about higher degrees"

"""Polar degrees: the classes of the conormal variety, whose sum is the generic ED degree.

By a theorem of the family, where it has one; else Macaulay2 counts modulo random primes, with
random numbers: points of the source in general slices, which need free parameters, or the bidegree
of the conormal variety, which needs the ideal. What each means is in docs/polar-degrees.md.

``PolarDegrees`` are the result. Its field ``theorem`` has the numbers and the method in words, also
where they are counted. It is ``unfinished`` where a limit left only some numbers, or one prime. The
outcome modulo a prime, ``CountedDegrees``, is the result or the error that the count raised.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any, Literal, Unpack

from m2bridge.algebra.field import QQ
from m2bridge.algebra.numbers import integer_coefficients
from m2bridge.algebra.ring import GeneratingSet, is_homogeneous
from m2bridge.convert import m2_syntax
from m2bridge.convert.answers import answer_to
from m2bridge.engine import RunOptions, computation, current
from m2bridge.engine.script import Script
from m2bridge.errors import (
    InvalidCaseError,
    MemoryLimitError,
    MethodUnavailableError,
    TimeLimitError,
    TooLargeError,
    check_choice,
    check_kind,
)
from m2bridge.ideals.ideal import Ideal
from m2bridge.ideals.program import question
from m2bridge.limits import clock, limited, share
from m2bridge.maps.closure import closure
from m2bridge.maps.degrees.counting_primes import (
    MAX_CHEAP_SECONDS,
    MAX_COUNTING_PRIMES,
    MIN_AGREEING_PRIMES,
    deciding_primes,
    disagreement_error,
    leading_primes,
    modulo_primes,
    primes_for,
    with_given_prime,
)
from m2bridge.maps.degrees.polar_result import PolarDegrees
from m2bridge.maps.degrees.slices import by_slices
from m2bridge.maps.model import Model, PolarData
from m2bridge.maps.polynomial_map_model import Case, as_model
from m2bridge.results.sheet import printable

MAX_SLICES_SECONDS = 20.0
"""Seconds of ``auto`` for points in slices, before it tries the conormal variety."""
MAX_CONORMAL_SECONDS = 60.0
"""Seconds of ``auto`` for the conormal variety, before slices have the rest of the time."""

PolarMethod = Literal["auto", "theorem", "slices", "conormal"]


@computation
def polar_degrees(
    case: Case | Ideal,
    *,
    method: PolarMethod = "auto",
    title: str = "",
    **options: Unpack[RunOptions],
) -> PolarDegrees:
    """Compute the polar degrees of the projective variety of a cone, or of a projective closure.

    Parameters
    ----------
    case : a model, a PolynomialMap or an Ideal over QQ
    engine : Engine, optional
        A Macaulay2 to use; without one, that of the ``with`` block around it, else one that the
        process shares.
    method : {"auto", "theorem", "slices", "conormal"}
        ``theorem``: by a theorem of the family. ``slices``: points of the source are counted where
        a general linear space meets the image and a general linear space of hyperplanes is tangent;
        the parameters must be free. ``conormal``: by the bidegree of the conormal variety, from the
        ideal. The last two count modulo two random primes, drawn for each input, or three where
        that is quick, with random choices. The numbers are right for all but finitely many primes
        and all but few of the choices, so this is not a proof. ``auto`` is ``conormal`` for an
        ideal; for a map ``theorem`` if there is one, else ``conormal`` if the parameters satisfy
        relations, else ``slices`` for 20 seconds, ``conormal`` for 60 (each at most 3/10 of the
        time that is left), and ``slices`` again.
    timeout : float, optional
        Seconds for the whole computation.
    title : str
        The variety of an ideal in words.

    Raises
    ------
    InvalidCaseError
        If there is no such method, or it is not for this case.
    MethodUnavailableError
        If no theorem is known, slices are asked for and the parameters satisfy relations, the
        points counted are not isolated, or the ideal of the closure is not known completely.
    TooLargeError
        If the case is too large.
    TimeLimitError, MemoryLimitError
        If a limit was reached before any number was found.

    Source: Kleiman's theorem on general translates, *Compositio Math.* 28, 1974, for counting.

    Examples
    --------
    >>> cubic = ideal("x*z - y^2", "x*w - y*z", "y*w - z^2")
    >>> polar_degrees(cubic).degrees
    (3, 4)
    """
    check_choice("method", method, PolarMethod)
    check_kind("title", title, str, "a text")
    if isinstance(case, Ideal):
        if method not in ("auto", "conormal"):
            raise InvalidCaseError("method", f"'{method}' is not for ideals: use conormal")
        # an ideal is no case of a family
        degrees = _by_ideal(case, printable(title) or "variety of an ideal", case=None)
        return replace(degrees, of_ideal=True, coordinates=case.ring.variables)
    model = as_model(case)
    theorem = model.polar_theorem() if method in ("auto", "theorem") else None
    if theorem is not None:
        return _by_theorem(model, theorem)
    if method == "theorem":
        raise MethodUnavailableError(
            f"no theorem gives the polar degrees of the {model.title}: use slices or conormal"
        )
    # Slices are taken in the space of the parameters, which relations do not leave free.
    needs_ideal = method == "conormal" or (method == "auto" and model.free_map.relations)
    if needs_ideal:
        return _by_closure(model)
    if method == "auto":
        return _by_quicker_method(model)
    return _by_random_slices(model)


def _by_theorem(model: Model, theorem: PolarData) -> PolarDegrees:
    """Return the polar degrees that a theorem gives for a model."""
    # N + 1 coordinates of a cone are homogeneous coordinates of P^N; an affine space of dimension N
    # is a part of P^N
    ambient = model.coordinate_count if theorem.closure else model.coordinate_count - 1
    return PolarDegrees(
        title=model.title,
        case=model.case,
        ambient=ambient,
        dimension=len(theorem.degrees) - 1,
        method="theorem",
        closure=theorem.closure,
        theorem=theorem,
        seconds=clock().seconds,
    )


def _by_quicker_method(model: Model) -> PolarDegrees:
    """Return the polar degrees by slices or by the conormal variety: by the first that ends in the
    time that it has.

    Slices have a short time, then the conormal variety has; then slices take as long as they need.
    Which of the methods is quicker is not seen from the map: slices have few variables where the
    dimension of the variety is small, and the conormal variety has few equations where the
    codimension is small.
    """
    methods = ((_by_random_slices, MAX_SLICES_SECONDS), (_by_closure, MAX_CONORMAL_SECONDS))
    for compute, seconds in methods:
        # a limit, or a method that is not available, leaves the case to the next one
        with suppress(TimeLimitError, MemoryLimitError, TooLargeError, MethodUnavailableError):
            with share(0.3), limited(seconds):  # the shorter of both
                degrees = compute(model)
            if not degrees.unfinished:
                # the seconds of the whole computation, not of this method only
                return replace(degrees, seconds=clock().seconds)
    return _by_random_slices(model)


def second_opinion(case: Case) -> PolarDegrees:
    """Return the polar degrees by slices, to be compared with those of a theorem.

    Two primes are enough if they agree. A third one would guard against two primes that give the
    same wrong numbers, but the comparison with the theorem does that too.
    """
    degrees_modulo, primes = by_slices(as_model(case))
    # no time is cheap enough for a third prime
    return _agreed_by_random_primes(degrees_modulo, primes, cheap_seconds=0.0)


def _by_random_slices(model: Model) -> PolarDegrees:
    """Return the polar degrees by points in random slices, modulo random primes."""
    degrees_modulo, primes = by_slices(model)
    return _agreed_by_random_primes(degrees_modulo, primes)


def _by_closure(model: Model) -> PolarDegrees:
    """Return the polar degrees by the conormal variety, from the equations of the closure.

    Raises
    ------
    MethodUnavailableError, TimeLimitError
        If the ideal of the closure is not proved to be found completely.
    """
    variety = closure(model)
    if variety.ideal is None or not variety.completeness.proved:
        raise variety.incomplete()
    # The closure of an image is irreducible if the source is, and then its ideal is prime.
    is_prime = not model.polynomial_map.maybe_reducible
    return _by_ideal(variety.ideal, model.title, model.case, prime=is_prime)


def _by_ideal(
    ideal: GeneratingSet, title: str, case: dict[str, Any] | None, *, prime: bool = False
) -> PolarDegrees:
    """Return the polar degrees of the variety of an ideal over QQ, by its conormal variety.

    Parameters
    ----------
    ideal : GeneratingSet
    title : str
        The variety in words.
    case : dict or None
        The numbers that define the case, for JSON.
    prime : bool
        Whether the ideal is known to be prime over QQ; else Macaulay2 decomposes it.

    Raises
    ------
    InvalidCaseError
        If the field is not QQ, or the projective variety is empty.
    """
    if ideal.ring.field != QQ:
        raise InvalidCaseError("field", f"must be QQ for polar degrees, not {ideal.ring.field}")

    script = conormal_script(ideal, title, prime=prime)

    def degrees_modulo(modulus: int) -> PolarDegrees:
        """The polar degrees by the conormal variety modulo a prime number."""
        return _by_conormal(with_given_prime(script, modulus), ideal, title, case)

    primes = primes_for(map(integer_coefficients, ideal.generators_or_zero))
    return _agreed_by_random_primes(degrees_modulo, primes)


CountedDegrees = PolarDegrees | InvalidCaseError | MethodUnavailableError
"""The outcome modulo one prime: the numbers, or the error that says why there are none."""


def _agreed_by_random_primes(
    degrees_modulo: Callable[[int], PolarDegrees],
    primes: Iterator[int],
    *,
    cheap_seconds: float = MAX_CHEAP_SECONDS,
) -> PolarDegrees:
    """Return the result that most random primes give: at least two primes more than all those with
    other results, or three more if primes take little time.

    Modulo a prime the variety can change, for example from a conic to two lines, even if the prime
    divides no coefficient. If time does not suffice for a second prime, the numbers are those of
    the first one, the text says so, and the result is unfinished.

    Parameters
    ----------
    degrees_modulo : function
        Returns the polar degrees modulo a prime.
    primes : iterator of int
        Random primes, without end.
    cheap_seconds : float
        If two primes take less than this number of seconds, a third one has to agree.

    Raises
    ------
    InvalidCaseError, MethodUnavailableError
        If enough primes give such an error; MethodUnavailableError also if no result is that of
        enough primes.
    TimeLimitError, MemoryLimitError
        If the limit was reached before any numbers were found, or while too few primes agreed.
    """
    # outcomes[prime] = the polar degrees modulo the prime, or the error that the count raised
    outcomes: dict[int, CountedDegrees] = {}
    begin = clock().seconds
    for prime in islice(primes, MAX_COUNTING_PRIMES):
        try:
            outcomes[prime] = _outcome_modulo(degrees_modulo, prime)
        except (TimeLimitError, MemoryLimitError) as limit:
            return _agreed_before_limit(outcomes, limit)
        outcome = outcomes[prime]
        if isinstance(outcome, PolarDegrees) and outcome.unfinished:
            finished = {other: outcomes[other] for other in outcomes if other != prime}
            return _agreed_with_unfinished(finished, prime, outcome)
        agreeing = deciding_primes(
            _comparable_values(outcomes), clock().seconds - begin, cheap_seconds
        )
        if agreeing:
            return _common_outcome(outcomes, agreeing)
    raise disagreement_error(outcomes)


def _outcome_modulo(degrees_modulo: Callable[[int], PolarDegrees], prime: int) -> CountedDegrees:
    """Return the numbers modulo one prime, or the error that says why there are none."""
    try:
        return degrees_modulo(prime)
    except (InvalidCaseError, MethodUnavailableError) as reason:
        return reason


def _comparable_values(outcomes: Mapping[int, CountedDegrees]) -> dict[int, object]:
    """Return for each prime the value by which its outcome is compared with those of other primes.

    It is the dimension with the polar degrees, or the class of the error.
    """
    values: dict[int, object] = {}
    for prime, outcome in outcomes.items():
        if isinstance(outcome, PolarDegrees):
            values[prime] = outcome.dimension, outcome.degrees
        else:
            values[prime] = type(outcome)
    return values


def _common_outcome(
    outcomes: Mapping[int, CountedDegrees], primes: tuple[int, ...]
) -> PolarDegrees:
    """Return the common result of ``primes``; its text names the primes of ``outcomes`` that gave
    other numbers.

    Raises
    ------
    InvalidCaseError, MethodUnavailableError
        If their common outcome is this error.
    """
    outcome = outcomes[primes[0]]
    if not isinstance(outcome, PolarDegrees):
        raise outcome
    method_text = f"{outcome.theorem.known}, {modulo_primes(primes, outcomes)}"
    # the numbers of all primes that agree, with the method and the primes in words
    numbers = replace(outcome.theorem, known=method_text)
    return replace(outcome, theorem=numbers, primes=primes, seconds=clock().seconds)


def _agreed_with_unfinished(
    finished: Mapping[int, CountedDegrees], prime: int, unfinished: PolarDegrees
) -> PolarDegrees:
    """Return the result where the count modulo the last prime reached a limit.

    Parameters
    ----------
    finished : mapping from prime to outcome
        The outcomes modulo the primes before.
    prime : int
    unfinished : PolarDegrees
        The outcome modulo the last prime, which may have some of the numbers. It is the result if
        no prime finished.

    Raises
    ------
    InvalidCaseError, MethodUnavailableError
        If this error is the outcome of enough of the primes before.
    TimeLimitError
        The limit, if there are no numbers, or too few of the primes before agree.
    """
    if not finished and unfinished.degrees:
        return _common_outcome({prime: unfinished}, (prime,))
    return _agreed_before_limit(finished, TimeLimitError(unfinished.unfinished))


def _agreed_before_limit(
    finished: Mapping[int, CountedDegrees], limit: TimeLimitError | MemoryLimitError
) -> PolarDegrees:
    """Return the result by the primes that finished before a limit.

    An outcome is the result if at least two primes more have it than have different ones. The
    numbers of a single prime are an unfinished result. ``finished`` has the outcome modulo each of
    these primes.

    Raises
    ------
    InvalidCaseError, MethodUnavailableError
        If this error is the outcome of enough primes.
    TimeLimitError, MemoryLimitError
        The limit, if no prime finished, too few agree, or a single one gave an error.
    """
    if not finished:
        raise limit
    agreeing = leading_primes(_comparable_values(finished), MIN_AGREEING_PRIMES)
    if agreeing:
        return _common_outcome(finished, agreeing)
    first_prime, *further_primes = finished
    # an error modulo one prime decides nothing: the variety may have changed there
    if further_primes or not isinstance(finished[first_prime], PolarDegrees):
        raise limit
    return replace(_common_outcome(finished, (first_prime,)), unfinished=str(limit))


def _by_conormal(
    script: Script, ideal: GeneratingSet, title: str, case: dict[str, Any] | None
) -> PolarDegrees:
    """Return the polar degrees by the conormal variety, modulo the prime that the program has.

    ``script`` is the program of :func:`conormal_script` with a prime. Its answer has a number and a
    list for each irreducible component of the projective variety: ``dimensions``, that of the
    affine cone over it, and ``polar_degrees``, its δ_0, δ_1, …. ``ideal`` is the ideal over QQ;
    ``title`` and ``case`` are for the result.

    Raises
    ------
    InvalidCaseError
        If the projective variety is empty.
    """
    answer = answer_to(script)
    version = current().version
    # an affine cone has one dimension more than its projective variety
    dimension = max(answer.integers("dimensions"), default=0) - 1
    if dimension < 0:
        raise InvalidCaseError("ideal", "the projective variety is empty")
    degrees_of_components = answer.integer_lists("polar_degrees")
    degrees = _sums_by_index(degrees_of_components, dimension + 1)  # δ_0, …, δ_n
    method_text = "by the conormal variety"
    if len(degrees_of_components) > 1:
        method_text += f", the sum over {len(degrees_of_components)} irreducible components"
    # N variables are homogeneous coordinates of P^(N−1). If the ideal is not homogeneous, the
    # variety is the closure in P^N.
    is_cone = all(map(is_homogeneous, ideal.generators))
    variable_count = len(ideal.ring.variables)
    return PolarDegrees(
        title=title,
        case=case,
        ambient=variable_count - 1 if is_cone else variable_count,
        dimension=dimension,
        method="conormal",
        # δ_n comes first
        theorem=PolarData(degrees=tuple(reversed(degrees)), known=method_text, rests_on=()),
        engine_version=version,
        seconds=clock().seconds,
        closure=not is_cone,
    )


def _sums_by_index(degrees_of_components: Iterable[Sequence[int]], size: int) -> list[int]:
    """Return δ_0, …, δ_(size − 1) of a variety, each the sum over its irreducible components.

    A component is given by its list δ_0, δ_1, …. It may be shorter than ``size``; entries from
    index ``size`` on are zero, and left out.
    """
    sums = [0] * size
    for degrees in degrees_of_components:
        for i, degree in enumerate(degrees[:size]):
            sums[i] += degree
    return sums


def conormal_script(ideal: GeneratingSet, title: str, *, prime: bool) -> Script:
    """Return the Macaulay2 program for the conormal variety of an ideal over QQ, modulo a prime
    number p that is given to the program when it runs.

    ``prime`` says whether the ideal is known to be prime; else it is decomposed.
    """
    # The program reduces the generators modulo p. Denominators are cleared, so that it can do so
    # for every p.
    integral = map(integer_coefficients, ideal.generators_or_zero)
    generators = tuple(map(ideal.ring.sympy_ring.from_dict, integral))
    integral_ideal = GeneratingSet(ideal.ring, generators)
    variables = ", ".join(m2_syntax.all_to_macaulay2(ideal.ring.variables))
    values = {
        "title": title,
        # for the template a text is true unless it is empty
        "prime": "true" if prime else "",
        # In the program ``coefficients'`` is ZZ/p.
        "ring": f"coefficients'[{variables}]",
    }
    return question(name="polar_conormal", ideals={"givenIdeal": integral_ideal}, values=values)

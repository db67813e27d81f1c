"""Polar degrees: the classes of the conormal variety, whose sum is the generic ED degree.

By a theorem of the family, where it has one; else Macaulay2 counts modulo random primes, with
random numbers: points of the source in general slices, which need free parameters, or the bidegree
of the conormal variety, which needs the ideal. What each means is in docs/polar-degrees.md.
"""

from collections.abc import Callable, Iterator, Mapping
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
)
from m2bridge.ideals.ideal import Ideal
from m2bridge.ideals.program import question
from m2bridge.limits import clock, limited, share
from m2bridge.maps.closure import closure
from m2bridge.maps.degrees.counting_primes import (
    MAX_CHEAP_SECONDS,
    MAX_COUNTING_PRIMES,
    MIN_AGREEING_PRIMES,
    deciding,
    leading,
    modulo_primes,
    primes_for,
    too_few,
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
        a general linear space meets the image and a general linear space of hyperplanes is tangent.
        ``conormal``: by the bidegree of the conormal variety, from the ideal. Both compute modulo
        two random primes, drawn for each input, or three where that is quick, with random numbers:
        the numbers are right for all but finitely many primes, and but for few of the choices. So
        this is not a proof. ``auto`` is the first that is available.
    timeout : float, optional
        Seconds for the whole computation.
    title : str
        The variety of an ideal in words.

    Raises
    ------
    InvalidCaseError
        If there is no such method, or it is not for this case.
    MethodUnavailableError
        If no theorem is known, slices are asked for and the source has relations, or the points
        counted are not isolated.
    TooLargeError
        If the case is too large.

    Source: Kleiman's theorem on general translates, *Compositio Math.* 28, 1974, for counting.

    Examples
    --------
    >>> cubic = ideal("x*z - y^2", "x*w - y*z", "y*w - z^2")
    >>> polar_degrees(cubic).degrees
    (3, 4)
    """
    check_choice("method", method, PolarMethod)
    if isinstance(case, Ideal):
        if method not in ("auto", "conormal"):
            raise InvalidCaseError("method", f"'{method}' is not for ideals: use conormal")
        found = _of_ideal(case, printable(title) or "variety of an ideal", None)
        return replace(found, of_ideal=True)
    model = as_model(case)
    theorem = model.polar_theorem() if method in ("auto", "theorem") else None
    if theorem is not None:
        return PolarDegrees(
            title=model.title,
            case=model.case,
            # a projective closure has one coordinate more
            ambient=model.coordinate_count - 1 + theorem.closure,
            dimension=len(theorem.degrees) - 1,
            method="theorem",
            closure=theorem.closure,
            theorem=theorem,
            seconds=clock().seconds,
        )
    if method == "theorem":
        raise MethodUnavailableError(
            f"no theorem gives the polar degrees of the {model.title}: use slices or conormal"
        )
    # Slices are taken in the space of the parameters, which relations do not leave free.
    by_ideal = method == "conormal" or (method == "auto" and model.free_map.relations)
    if by_ideal:
        return _of_closure(model)
    if method == "auto":
        return _by_the_quicker(model)
    return _in_slices(model)


def _by_the_quicker(model: Model) -> PolarDegrees:
    """Slices for a short time, else the conormal variety, else slices as long as they take.

    Which of them is quicker is not seen from the map: slices have few variables where the variety
    is small, and the conormal variety has few equations where its codimension is.
    """
    ways = ((_in_slices, MAX_SLICES_SECONDS), (_of_closure, MAX_CONORMAL_SECONDS))
    for compute, seconds in ways:
        with suppress(TimeLimitError, MemoryLimitError, TooLargeError, MethodUnavailableError):
            with share(0.3), limited(seconds):
                found = compute(model)
            if not found.unfinished:
                return replace(found, seconds=clock().seconds)
    return _in_slices(model)


def second_opinion(case: Case) -> PolarDegrees:
    """Return the numbers by slices modulo two primes, a third one only if these give others.

    A third prime guards against two that are wrong alike, which the numbers of a theorem do too.
    """
    return _of_random_primes(*by_slices(as_model(case)), cheap=0.0)


def _in_slices(model: Model) -> PolarDegrees:
    return _of_random_primes(*by_slices(model))


def _of_closure(model: Model) -> PolarDegrees:
    """The polar degrees by the equations of the closure, which has to be known completely."""
    variety = closure(model)
    if variety.ideal is None or not variety.completeness.proved:
        raise variety.incomplete()
    # The closure of an image is irreducible if the source is.
    prime = not model.polynomial_map.maybe_reducible
    return _of_ideal(variety.ideal, model.title, model.case, prime=prime)


def _of_ideal(
    ideal: GeneratingSet, title: str, case: dict[str, Any] | None, *, prime: bool = False
) -> PolarDegrees:
    """Return them by the conormal variety; ``prime``: the ideal is known to be prime over QQ."""
    if ideal.ring.field != QQ:
        raise InvalidCaseError("field", f"must be QQ for polar degrees, not {ideal.ring.field}")

    script = conormal_script(ideal, title, prime=prime)

    def found(modulo: int) -> PolarDegrees:
        return _by_conormal(with_given_prime(script, modulo), ideal, title, case)

    primes = primes_for(map(integer_coefficients, ideal.generators_or_zero))
    return _of_random_primes(found, primes)


CountedDegrees = PolarDegrees | InvalidCaseError | MethodUnavailableError


def _of_random_primes(
    found: Callable[[int], PolarDegrees], primes: Iterator[int], *, cheap: float = MAX_CHEAP_SECONDS
) -> PolarDegrees:
    """Return the numbers that most random primes give, by two or three primes more than any others.

    Modulo a prime the variety can change, for example from a conic to two lines, even if the prime
    divides no coefficient. If time does not suffice for a second prime, the numbers are those of
    the first one, the text says so, and the result is unfinished.

    Raises
    ------
    InvalidCaseError, MethodUnavailableError
        If the primes give this instead; if no numbers are those of enough primes.
    """
    outcomes: dict[int, CountedDegrees] = {}
    begin = clock().seconds
    for prime in islice(primes, MAX_COUNTING_PRIMES):
        try:
            outcomes[prime] = _outcome(found, prime)
        except (TimeLimitError, MemoryLimitError) as limit:
            return _until_limit(outcomes, limit)
        last = outcomes[prime]
        if isinstance(last, PolarDegrees) and last.unfinished:
            return _until_limit(outcomes, None)
        agreeing = deciding(_kinds(outcomes), clock().seconds - begin, cheap)
        if agreeing:
            return _agreed(outcomes, agreeing)
    raise too_few(outcomes)


def _outcome(found: Callable[[int], PolarDegrees], prime: int) -> CountedDegrees:
    """Return the numbers modulo one prime, or the reason why there are none."""
    try:
        return found(prime)
    except (InvalidCaseError, MethodUnavailableError) as reason:
        return reason


def _kinds(outcomes: Mapping[int, CountedDegrees]) -> dict[int, object]:
    """Return what is compared of each outcome: the numbers, or the kind of error."""
    kinds: dict[int, object] = {}
    for prime, outcome in outcomes.items():
        kinds[prime] = type(outcome)
        if isinstance(outcome, PolarDegrees):
            kinds[prime] = outcome.dimension, outcome.degrees
    return kinds


def _agreed(outcomes: Mapping[int, CountedDegrees], primes: tuple[int, ...]) -> PolarDegrees:
    """Return the common result of these primes; its text names primes that give other numbers."""
    outcome = outcomes[primes[0]]
    if not isinstance(outcome, PolarDegrees):
        raise outcome
    known = f"{outcome.theorem.known}, {modulo_primes(primes, outcomes)}"
    theorem = replace(outcome.theorem, known=known)
    return replace(outcome, theorem=theorem, primes=primes, seconds=clock().seconds)


def _until_limit(
    outcomes: Mapping[int, CountedDegrees], limit: TimeLimitError | MemoryLimitError | None
) -> PolarDegrees:
    """Return the result at a limit; without ``limit``, the last prime reached it while counting.

    Raises
    ------
    TimeLimitError, MemoryLimitError
        The limit, where no prime gives numbers or they give different ones.
    """
    finished = dict(outcomes)
    unfinished = str(limit)
    if limit is None:
        last, outcome = finished.popitem()
        assert isinstance(outcome, PolarDegrees)
        if not finished:
            return _agreed(outcomes, (last,))
        unfinished = outcome.unfinished
        limit = TimeLimitError(unfinished)
    agreeing = leading(_kinds(finished), MIN_AGREEING_PRIMES) if finished else ()
    if agreeing:
        return _agreed(finished, agreeing)
    alone = leading(_kinds(finished), 1) if len(finished) == 1 else ()
    if not alone:
        raise limit
    return replace(_agreed(finished, alone), unfinished=unfinished)


def _by_conormal(
    script: Script, ideal: GeneratingSet, title: str, case: dict[str, Any] | None
) -> PolarDegrees:
    """Return them by the conormal variety modulo the prime that the program has."""
    answer = answer_to(script)
    version = current().version
    last = max(answer.integers("dimensions"), default=0) - 1
    if last < 0:
        raise InvalidCaseError("ideal", "the projective variety is empty")
    # δ_0, δ_1, … of each irreducible component; those above its dimension are zero.
    components = answer.integer_lists("polar_degrees")
    degrees = [0] * (last + 1)
    for component in components:
        for i, value in enumerate(component[: last + 1]):
            degrees[last - i] += value
    known = "by the conormal variety"
    if len(components) > 1:
        known += f", the sum over {len(components)} irreducible components"
    cone = all(map(is_homogeneous, ideal.generators))
    variables = len(ideal.ring.variables)
    return PolarDegrees(
        title=title,
        case=case,
        ambient=variables - 1 if cone else variables,
        dimension=last,
        method="conormal",
        theorem=PolarData(tuple(degrees), known, ()),
        engine_version=version,
        seconds=clock().seconds,
        closure=not cone,
    )


def conormal_script(ideal: GeneratingSet, title: str, *, prime: bool) -> Script:
    """The Macaulay2 program that computes the conormal variety of an ideal over QQ, modulo a prime
    that it is given.
    """
    variables = ", ".join(m2_syntax.all_to_macaulay2(ideal.ring.variables))
    # the program takes the generators modulo its prime, which must divide no denominator
    integral = map(integer_coefficients, ideal.generators_or_zero)
    generators = tuple(map(ideal.ring.sympy_ring.from_dict, integral))
    values = {
        "title": title,
        "prime": "true" if prime else "",
        "ring": f"coefficients'[{variables}]",
    }
    return question("polar_conormal", {"givenIdeal": GeneratingSet(ideal.ring, generators)}, values)

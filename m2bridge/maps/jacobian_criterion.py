"""The singular locus of a closure by the Jacobian criterion: minors, minimal primes, and the orbits that they are."""

from math import comb

from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.linear_span import reduce_linearly
from m2bridge.convert import macaulay2
from m2bridge.convert.macaulay2 import all_to_macaulay2
from m2bridge.engine import Engine
from m2bridge.engine.answer import answer_to
from m2bridge.engine.script import Script, render
from m2bridge.errors import ContradictionError, MemoryLimitError, MethodUnavailableError, TimeLimitError, TooLargeError
from m2bridge.ideals.ideal import Ideal
from m2bridge.maps.closure_result import Closure
from m2bridge.maps.elimination import elimination_values
from m2bridge.maps.model import Model
from m2bridge.maps.orbits import ORIGIN, ZERO, Component, LocusFindings

MAX_MINORS = 20_000


def minor_count(found: Closure) -> int:
    """Number of minors of the Jacobian matrix that the criterion takes."""
    assert found.ideal is not None
    assert found.codimension is not None
    codimension = found.codimension
    return comb(len(found.ideal.generators), codimension) * comb(len(found.ideal.ring.variables), codimension)


def by_jacobian(found: Closure, *, engine: Engine) -> LocusFindings:
    """Findings from the minimal primes of I + minors(codimension, Jacobian of I).

    Hypothesis: I is prime, so the variety is equidimensional and reduced. It is so where I is the kernel of a ring map
    to a domain; where relations of the source leave that open, Macaulay2 decides first.

    Raises
    ------
    MethodUnavailableError
        If the variety is reducible.
    TooLargeError
        If there are too many minors.
    ContradictionError
        If the orbits of the model are known, and a component of the singular locus is not an orbit closure.
    """
    if minor_count(found) > MAX_MINORS:
        raise TooLargeError(
            f"the Jacobian criterion takes {minor_count(found)} minors here, more than {MAX_MINORS}{_instead(found)}"
        )
    assert found.ideal is not None
    if found.codimension == 0:
        return LocusFindings("jacobian", found.dimension, (), ())
    try:
        return LocusFindings("jacobian", found.dimension, (), _components(found, found.ideal, engine))
    except (TimeLimitError, MemoryLimitError) as limit:
        return LocusFindings("jacobian", found.dimension, (), None, str(limit))


def _instead(found: Closure) -> str:
    """The method that applies to the case, if there is one."""
    orbit_methods = found.model.orbit_methods()
    if orbit_methods is None:
        return ""
    return f"; use --method {'orbits' if found.model.no_fibres(found.field) else 'fibres'}"


def _components(found: Closure, ideal: Ideal, engine: Engine) -> tuple[Component, ...]:
    title = found.model.title
    if found.model.polynomial_map.maybe_reducible:
        _check_prime(ideal, engine)
    answer = answer_to(_script(ideal, title), engine=engine)
    primes = map(Ideal.of, answer.ideals("minimal_primes"))
    measured = zip(primes, answer.integers("dimensions"), answer.integers("degrees"), strict=True)
    components = (_component(found, prime, dimension, degree) for prime, dimension, degree in measured)
    return tuple(sorted(components, key=lambda component: (-component.dimension, component.description)))


def jacobian_script(model: Model, *, field: CoefficientField) -> Script:
    """The complete Macaulay2 program, elimination included."""
    independent = reduce_linearly(model.polynomial_map, field=field).reduced
    return render("jacobian_criterion", values=elimination_values(independent, field=field) | {"title": model.title})


def _check_prime(ideal: Ideal, engine: Engine) -> None:
    if not ideal.is_prime(engine=engine):
        raise MethodUnavailableError(
            "the closure of the image is reducible, and the Jacobian criterion is for irreducible varieties: take the "
            "components of the source one by one"
        )


def _script(ideal: Ideal, title: str) -> Script:
    """The Macaulay2 program for an ideal that is known."""
    names = all_to_macaulay2(ideal.ring.variables)
    values = {
        "title": title,
        "field": macaulay2.field(ideal.ring.field),
        "coordinates": ", ".join(names),
        "generators": macaulay2.sequence(macaulay2.polynomial(g, names) for g in ideal.generators),
    }
    return render("jacobian_criterion", values=values)


def _component(found: Closure, prime: Ideal, dimension: int, degree: int) -> Component:
    orbit_methods = found.model.orbit_methods()
    is_origin = dimension == 0 and all(len(g) == 1 for g in prime.generators)
    if orbit_methods is None:
        description = ORIGIN if is_origin else _described(dimension, degree, prime.ring.field)
        return Component(description, None, dimension, degree, prime)
    if is_origin:
        return Component(ZERO, None, 0, degree, prime)
    orbit = orbit_methods.identify(prime, dimension)
    if orbit is None:
        raise ContradictionError(
            f"a minimal prime of dimension {dimension} and degree {degree} of the singular locus is not an orbit "
            "closure, although the singular locus is invariant under the group"
        )
    return Component(f"closure of the orbit {orbit}", orbit, dimension, degree, prime)


def _described(dimension: int, degree: int, field: CoefficientField) -> str:
    """The variety of a prime ideal over a perfect field; if it is finite, its degree is its number of points."""
    if dimension > 0:
        return f"irreducible component of dimension {dimension}"
    return "a point" if degree == 1 else f"{degree} points, conjugate over {field}"

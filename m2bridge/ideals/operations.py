"""Saturations, quotients, intersections, elimination ideals."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Symbol

from m2bridge.algebra.ring import Ideal, PolynomialRing
from m2bridge.convert.names import all_to_macaulay2
from m2bridge.engine import Engine
from m2bridge.errors import ConversionError
from m2bridge.ideals.comparison import principal
from m2bridge.ideals.construct import flat
from m2bridge.ideals.program import ask, tidy


def saturate(ideal: Ideal, other: object, engine: Engine | None = None, timeout: float | None = None) -> Ideal:
    """What some power of another ideal, or of a polynomial, multiplies into the ideal."""
    return _with_other("ideal_saturation", ideal, other, engine, timeout)


def quotient(ideal: Ideal, other: object, engine: Engine | None = None, timeout: float | None = None) -> Ideal:
    """What another ideal, or a polynomial, multiplies into the ideal."""
    return _with_other("ideal_quotient", ideal, other, engine, timeout)


def _with_other(name: str, ideal: Ideal, other: object, engine: Engine | None, timeout: float | None) -> Ideal:
    second = other if isinstance(other, Ideal) else principal(ideal, other)
    answer = ask(name, {"givenIdeal": ideal, "otherIdeal": second}, engine, timeout)
    return tidy(answer.ideal(name.removeprefix("ideal_")))


def intersect(
    ideal: Ideal, others: Sequence[Ideal | Sequence[Ideal]], engine: Engine | None = None, timeout: float | None = None
) -> Ideal:
    """The intersection with other ideals."""
    if not others:
        return ideal
    named = {f"ideal{number}": given for number, given in enumerate((ideal, *flat(others)))}
    answer = ask("ideal_intersection", named, engine, timeout, {"names": f"({', '.join(named)})"})
    return tidy(answer.ideal("intersection"))


def eliminate(
    ideal: Ideal,
    variables: Sequence[str | Symbol | Sequence[str | Symbol]],
    engine: Engine | None = None,
    timeout: float | None = None,
) -> Ideal:
    """What the ideal contains in the other variables, as an ideal of their ring."""
    names = list(dict.fromkeys(map(str, flat(variables))))
    if unknown := [name for name in names if name not in ideal.ring.variables]:
        raise ConversionError(f"{unknown[0]!r:.60} is not a variable of {ideal.ring}")
    kept = [place for place, name in enumerate(ideal.ring.variables) if name not in names]
    written = dict(zip(ideal.ring.variables, all_to_macaulay2(ideal.ring.variables), strict=True))
    listed = f"{{{', '.join(written[name] for name in names)}}}"
    found = ask("ideal_elimination", {"givenIdeal": ideal}, engine, timeout, {"eliminated": listed}).ideal(
        "elimination"
    )
    smaller = PolynomialRing(ideal.ring.field, tuple(ideal.ring.variables[place] for place in kept))
    generators = tuple(
        smaller.sympy_ring.from_dict({tuple(m[place] for place in kept): c for m, c in generator.items()})
        for generator in found.generators
    )
    return tidy(Ideal(smaller, generators))

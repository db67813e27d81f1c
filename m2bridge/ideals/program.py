"""A question about ideals of one ring, as a Macaulay2 program."""

from __future__ import annotations

from collections.abc import Mapping

from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ
from m2bridge.algebra.ring import Ideal, total_degree
from m2bridge.clock import clock, limited
from m2bridge.convert import macaulay2
from m2bridge.engine import Engine, given_or_own, given_or_shared
from m2bridge.engine.answer import Answer, parse
from m2bridge.errors import ConversionError
from m2bridge.render import Script, render

RING = "givenRing"
"""The ring of all ideals of a question, in its program."""


def ask(
    name: str,
    ideals: dict[str, Ideal],
    engine: Engine | None,
    timeout: float | None,
    values: Mapping[str, str] | None = None,
    libraries: tuple[str, ...] = ("wire",),
) -> Answer:
    """What the program of this name answers.

    Raises
    ------
    ConversionError
        If the ideals are not of one ring.
    EngineError
        If Macaulay2 does not answer within the limits.
    """
    script = question(name, ideals, values, libraries)
    with limited(timeout), given_or_own(given_or_shared(engine)) as engine:
        return parse(engine.run(script, clock().remaining).records)


def question(
    name: str,
    ideals: dict[str, Ideal],
    values: Mapping[str, str] | None = None,
    libraries: tuple[str, ...] = ("wire",),
) -> Script:
    """The program ``templates/<name>.m2.j2`` for these ideals, by the names that they have in it.

    Raises
    ------
    ConversionError
        If the ideals are not of one ring.
    """
    check_one_ring(*ideals.values())
    ring = next(iter(ideals.values())).ring
    written = {given: macaulay2.ideal(ideal, RING) for given, ideal in ideals.items()}
    return render(name, libraries, {"ring": macaulay2.ring(ring), "ideals": written, **(values or {})})


def check_one_ring(*ideals: Ideal) -> None:
    """Raise ConversionError if the ideals are of different rings, or something is no ideal."""
    first = ideals[0].ring
    for other in ideals[1:]:
        check_ideal(other)
        if other.ring != first:
            raise ConversionError(f"ideals of different rings, {first} and {other.ring}")


def check_ideal(given: object) -> None:
    """Raise ConversionError if it is no ideal."""
    if not isinstance(given, Ideal):
        raise ConversionError(f"a {type(given).__name__} is not an ideal: make one by m2bridge.ideal")


def tidy(ideal: Ideal) -> Ideal:
    """The ideal with its generators in an order that all versions of Macaulay2 share: by degree, the largest first.

    Over QQ leading coefficients are positive.
    """
    signed = (-g if ideal.ring.field == QQ and g.LC < 0 else g for g in ideal.generators)
    return Ideal(ideal.ring, tuple(sorted(signed, key=_rank)))


def _rank(polynomial: PolyElement) -> tuple[int, list[tuple[int, ...]]]:
    """Smaller for lower degrees, and for larger monomials of the same degree."""
    return total_degree(polynomial), [m[::-1] for m in polynomial.monoms()]

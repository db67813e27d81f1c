"""What the theorems for all sizes rest on, computed by Macaulay2 in one run."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from sympy.polys.rings import PolyElement

from m2bridge.clock import clock
from m2bridge.engine import Engine
from m2bridge.engine.answer import Answer, parse
from m2bridge.errors import ParseError
from m2bridge.families.attention.all_sizes.basis import Basis
from m2bridge.families.attention.all_sizes.fibre_theorem import BASE_CASES, BaseCase
from m2bridge.families.attention.all_sizes.polynomials import Generators, Polynomial, primitive
from m2bridge.families.attention.fibres import nonzero_part
from m2bridge.families.attention.orbits import Orbit
from m2bridge.render import Script, render


def base_ideals(engine: Engine) -> Basis:
    """Compute the thirteen ideals and the two identities, in one run.

    Raises
    ------
    EngineError
        If Macaulay2 failed or reached a limit.
    """
    answer = parse(engine.run(base_ideals_script(), clock().remaining).records)
    return Basis(
        {base: _generators(answer, base) for base in BASE_CASES},
        answer.boolean("base_locus_empty"),
        answer.boolean("family_without_real_points") and answer.boolean("family_tends_to_the_orbit"),
    )


@cache
def base_ideals_script() -> Script:
    """The Macaulay2 program."""
    return render(
        "all_sizes",
        ("wire", "fibres"),
        {
            "d": 2,
            "charts": "{(1,1), (1,2)}",
            "unknowns": "z_2",
            "zeros": "{}",
            "boundary": nonzero_part(BOUNDARY.orbit, BOUNDARY.model),
            "cases": [(base, *nonzero_part(base.orbit, base.model), _unknowns(base)) for base in BASE_CASES],
        },
    )


BOUNDARY = BaseCase(Orbit(1, 1, 1), 2)
"""Where the family of boundary points lives."""


def _unknowns(base: BaseCase) -> str:
    return ", ".join(f"z_{q}" for q in range(2, base.d + 1))


def _generators(answer: Answer, base: BaseCase) -> Generators:
    ideal = answer.ideal(str(base))
    if ideal.ring.variables != tuple(f"z_{q}" for q in range(2, base.d + 1)):
        raise ParseError(f"the ideal of {base} is in other unknowns: {', '.join(ideal.ring.variables)}")
    return frozenset(_integral(generator) for generator in ideal.generators)


def _integral(polynomial: PolyElement) -> Polynomial:
    return primitive({monomial: Fraction(int(c.numerator), int(c.denominator)) for monomial, c in polynomial.terms()})

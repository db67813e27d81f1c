"""The fibre ideals of the base cases, by FLINT, from the coordinates of functions."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from m2bridge.checker.algebra import groebner_basis, ring
from m2bridge.families.attention.checker.case import Case, Orbit, function, representative
from m2bridge.families.attention.checker.observations import weights

Base = tuple[Orbit, int]  # an orbit, and d; d' = s and a = r
Basis = list[list[list[Any]]]  # polynomials as terms: exponents and coefficient, in decreasing order

POINT, TWO_POINTS, SQUARES = "z = V_1", "z_2² − z_2 and the other unknowns", "all monomials of degree 2"
_SIZES = {(1, 1, 0): (2, 3, 4), (1, 1, 1): (2, 3), (1, 2, 0): (3, 4), (1, 2, 1): (2, 3)}
_SIZES |= {(2, 1, 0): (3, 4), (2, 1, 1): (2, 3)}
BASES: tuple[Base, ...] = tuple((orbit, d) for orbit, sizes in _SIZES.items() for d in sizes)


def label(base: Base) -> str:
    """Such as ``(1, 1, 0) at d = 3``."""
    return f"{base[0]} at d = {base[1]}"


def evidence() -> list[dict[str, Any]]:
    """All of them."""
    return [dict(zip("rsm", orbit, strict=True)) | {"d": d, "groebner_basis": ideal((orbit, d))} for orbit, d in BASES]


@cache
def ideal(base: Base) -> Basis:
    """All (A', V') with A'_11 = V'_11 = 1, V'_1 = (1, z_2, …, z_d), and the function of the representative."""
    orbit, d = base
    context, c = ring(d - 1), function(representative(orbit))
    new = function(weights(c, (1, *context.gens()), Case(d, orbit[1], orbit[0], 2)))
    return _reduced((new.get(at, 0) - c.get(at, 0) for at in new.keys() | c.keys()), context)


def is_ideal(base: Base, kind: str) -> bool:
    """Whether the ideal of a base case is the one of this kind."""
    orbit, d = base
    context, V = ring(d - 1), representative(orbit)[1]
    z = context.gens()
    generators = {
        POINT: [z[q - 1] - V.get((0, q), 0) for q in range(1, d)],
        TWO_POINTS: [z[0] ** 2 - z[0], *z[1:]],
        SQUARES: [x * y for x in z for y in z],
    }
    return ideal(base) == _reduced(generators[kind], context)


def _reduced(polynomials: Iterable[Any], context: Any) -> Basis:
    """The reduced Gröbner basis, coefficients coprime integers, the leading ones positive; it names the ideal."""
    basis = groebner_basis((context.constant(1) * f for f in polynomials), context).autoreduction(groebner=True)
    listed = [[(list(map(int, exponents)), int(c)) for exponents, c in f.terms()] for f in basis]
    listed.sort(key=lambda terms: (sum(terms[0][0]), [-e for e in reversed(terms[0][0])]), reverse=True)
    return [[[at, str(c if terms[0][1] > 0 else -c)] for at, c in terms] for terms in listed]

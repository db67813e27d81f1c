"""Ideals as lists of SymPy's and FLINT's polynomials."""

from __future__ import annotations

from typing import Any

import flint
from sympy import Poly, Symbol
from sympy.polys.rings import PolyElement

from m2bridge.algebra.ring import Ideal
from m2bridge.errors import ConversionError


def to_sympy(ideal: Ideal) -> list[Poly]:
    """The generators as ``Poly``; the zero polynomial where there are none."""
    symbols = [Symbol(name) for name in ideal.ring.variables]
    return [Poly.from_dict(dict(g), *symbols, domain=ideal.ring.field.domain) for g in _generators(ideal)]


def to_flint(ideal: Ideal) -> list[Any]:
    """The generators as ``fmpq_mpoly`` or ``nmod_mpoly``; the zero polynomial where there are none."""
    names, order = ideal.ring.variables, flint.Ordering.degrevlex
    if foreign := [name for name in names if not name.isascii()]:
        raise ConversionError(f"FLINT takes names in ASCII only, not {foreign[0]!r:.60}")
    if p := ideal.ring.field.characteristic:
        domain = ideal.ring.field.domain
        modular = flint.nmod_mpoly_ctx.get(names, modulus=p, ordering=order)
        return [modular.from_dict({m: int(domain.to_int(c)) % p for m, c in g.items()}) for g in _generators(ideal)]
    rational = flint.fmpq_mpoly_ctx.get(names, order)
    return [
        rational.from_dict({m: flint.fmpq(int(c.numerator), int(c.denominator)) for m, c in g.items()})
        for g in _generators(ideal)
    ]


def _generators(ideal: Ideal) -> tuple[PolyElement, ...]:
    return ideal.generators or (ideal.ring.sympy_ring.zero,)

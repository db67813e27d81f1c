"""Polynomials of SymPy and residue classes of python-flint can be pickled and copied.

As they are, they cannot: SymPy 1.14 changes a dictionary while it goes through it (``PolyRing.__getstate__``) and has a
local function in its finite fields, and python-flint 0.9 says nothing of ``nmod``.
"""

from __future__ import annotations

import copyreg
from typing import Any

import flint
from sympy.polys.domains.finitefield import FiniteField
from sympy.polys.rings import PolyElement, PolyRing

from m2bridge.algebra import residues


def _ring(ring: PolyRing) -> tuple[Any, ...]:
    return type(ring), (ring.symbols, ring.domain, ring.order)


def _element(element: PolyElement) -> tuple[Any, ...]:
    return PolyRing.from_dict, (element.ring, dict(element))


def _field(field: FiniteField) -> tuple[Any, ...]:
    return FiniteField, (int(field.mod), field.sym)


def _residue(residue: flint.nmod) -> tuple[Any, ...]:
    return flint.nmod, (int(residue), residue.modulus())


for _kind in (PolyRing, residues.PolyRing):
    copyreg.pickle(_kind, _ring)
for _kind in (PolyElement, residues.PolyElement):
    copyreg.pickle(_kind, _element)
copyreg.pickle(FiniteField, _field)
copyreg.pickle(flint.nmod, _residue)

"""Polynomials of SymPy and residue classes of python-flint can be pickled and copied.

As they are, they cannot: SymPy 1.14 changes a dictionary while it goes through it (``PolyRing.__getstate__``) and has a
local function in its finite fields, and python-flint 0.9 says nothing of ``nmod``. What is written names these classes
only, so whoever reads it needs no m2bridge.
"""

from __future__ import annotations

import copyreg
from typing import Any

import flint
from sympy.polys.domains.finitefield import FiniteField
from sympy.polys.rings import PolyElement, PolyRing


def _ring(ring: PolyRing) -> tuple[Any, ...]:
    return PolyRing, (ring.symbols, ring.domain, ring.order)


def _element(element: PolyElement) -> tuple[Any, ...]:
    return PolyRing.from_dict, (element.ring, dict(element))


def _field(field: FiniteField) -> tuple[Any, ...]:
    return FiniteField, (int(field.mod), field.sym)


def _residue(residue: flint.nmod) -> tuple[Any, ...]:
    return flint.nmod, (int(residue), residue.modulus())


copyreg.pickle(PolyRing, _ring)
copyreg.pickle(PolyElement, _element)
copyreg.pickle(FiniteField, _field)
copyreg.pickle(flint.nmod, _residue)

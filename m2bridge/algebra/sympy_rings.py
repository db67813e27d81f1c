"""SymPy's polynomial rings and their elements: residues are written as their field says, and all can be pickled.

As they are, they cannot be pickled or copied: SymPy 1.14 changes a dictionary while it goes through it
(``PolyRing.__getstate__``) and has a local function in its finite fields; python-flint 0.9 says nothing of ``nmod``.
"""

import copyreg
from collections.abc import Callable
from typing import Any

import flint
from sympy import ZZ
from sympy.polys import rings
from sympy.polys.domains.finitefield import FiniteField


class PolyElement(rings.PolyElement):  # type: ignore[misc]
    """A polynomial; SymPy writes those over GF(p) with the residues that FLINT says, 0 to p − 1."""

    def str(self, *style: Any) -> str:
        """SymPy's text."""
        domain = self.ring.domain
        if not domain.is_FiniteField:
            return str(super().str(*style))
        integers = self.ring.clone(domain=ZZ)
        return str(integers.from_dict({m: ZZ(domain.to_int(c)) for m, c in self.items()}).str(*style))


class PolyRing(rings.PolyRing):  # type: ignore[misc]
    """A ring of such polynomials, equal to SymPy's own; it has the same name because that is part of the hash."""

    @property
    def dtype(self) -> Callable[[Any], PolyElement]:
        """The constructor of elements."""
        return self._dtype  # type: ignore[no-any-return]

    @dtype.setter
    def dtype(self, _: object) -> None:
        self._dtype = PolyElement(self, ()).new


def entry_text(element: Any) -> str:
    """The text of an element of any ring in a list; residues are those of least absolute value."""
    modulus = element.modulus() if isinstance(element, flint.nmod) else getattr(element, "mod", None)
    if not isinstance(modulus, int):
        return str(element)
    residue = int(element) % modulus
    return str(residue if 2 * residue <= modulus else residue - modulus)


def _ring(ring: rings.PolyRing) -> tuple[Any, ...]:
    return type(ring), (ring.symbols, ring.domain, ring.order)


def _element(element: rings.PolyElement) -> tuple[Any, ...]:
    return rings.PolyRing.from_dict, (element.ring, dict(element))


def _field(field: FiniteField) -> tuple[Any, ...]:
    return FiniteField, (int(field.mod), field.sym)


def _residue(residue: flint.nmod) -> tuple[Any, ...]:
    return flint.nmod, (int(residue), residue.modulus())


for _kind in (rings.PolyRing, PolyRing):
    copyreg.pickle(_kind, _ring)
for _kind in (rings.PolyElement, PolyElement):
    copyreg.pickle(_kind, _element)
copyreg.pickle(FiniteField, _field)
copyreg.pickle(flint.nmod, _residue)

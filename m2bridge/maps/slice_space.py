"""An affine-linear space of dimension 3, in which a closure is cut, and the box that is looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational

from flint import fmpq
from sympy import Expr, sympify
from sympy.polys.rings import PolyElement

from m2bridge.algebra.evaluation import substitute
from m2bridge.algebra.field import QQ
from m2bridge.algebra.ring import PolynomialRing, total_degree
from m2bridge.errors import ConversionError, InvalidCaseError

Span = tuple[Rational | int, Rational | int]
Given = Mapping[str, Expr | Rational | int]

LARGEST = 10**100
"""No end of an interval is larger, nor is its length smaller than the inverse: floats can show it."""


@dataclass(frozen=True, slots=True)
class SliceSpace:
    """The coordinates of a closure as polynomials of degree ≤ 1 in three variables, and an interval for each."""

    ring: PolynomialRing
    forms: Mapping[str, PolyElement]
    box: Mapping[str, tuple[fmpq, fmpq]]

    @classmethod
    def of(cls, names: Sequence[str], given: Given, box: Mapping[str, Span] | Span) -> SliceSpace:
        """The space in which some coordinates are given; the others are variables of their own.

        Raises
        ------
        InvalidCaseError
            If a name is not a coordinate, there are not three variables, an expression is not of degree ≤ 1, or the
            box is not one.
        """
        variables = _variables(names, given)
        ring = PolynomialRing(QQ, variables)
        forms = {name: _form(name, given.get(name), ring) for name in names}
        return cls(ring, forms, _box(variables, box))

    def restricted(self, polynomials: Sequence[PolyElement]) -> list[PolyElement]:
        """Polynomials in the coordinates on the space, without those that are zero there."""
        images = list(self.forms.values())
        return [value for value in (substitute(p, images) for p in polynomials) if value]


def _variables(names: Sequence[str], given: Given) -> tuple[str, ...]:
    """Coordinates that are not given, and what expressions hold, in the order in which they mention it."""
    if unknown := [name for name in given if name not in names]:
        listed = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        raise InvalidCaseError("coordinates", f"'{unknown[0]:.60}' is not a coordinate: they are {listed}")
    own = [str(s) for value in given.values() for s in sorted(sympify(value, strict=True).free_symbols, key=str)]
    if used := [name for name in own if name in names]:
        raise InvalidCaseError("coordinates", f"'{used[0]}' is a coordinate: call the variable otherwise")
    variables = tuple(dict.fromkeys([*own, *(name for name in names if name not in given)]))
    if len(variables) != 3:
        listed = ", ".join(variables[:8]) + (", …" if len(variables) > 8 else "") or "none"
        raise InvalidCaseError("coordinates", f"leave {len(variables)} variables, and a surface is in three: {listed}")
    return variables


def _form(name: str, given: Expr | Rational | int | None, ring: PolynomialRing) -> PolyElement:
    if given is None:
        return ring.sympy_ring.gens[ring.variables.index(name)]
    try:
        form = ring.polynomial(given)
    except ConversionError as reason:
        raise InvalidCaseError("coordinates", f"{name}: {reason}") from None
    if total_degree(form) > 1:
        raise InvalidCaseError("coordinates", f"{name}: '{given}' is not of degree at most 1")
    return form


def _box(variables: Sequence[str], box: Mapping[str, Span] | Span) -> dict[str, tuple[fmpq, fmpq]]:
    spans = box if isinstance(box, Mapping) else dict.fromkeys(variables, box)
    if wrong := set(spans) ^ set(variables):
        raise InvalidCaseError("box", f"has one interval for each of {', '.join(variables)}; look at '{min(wrong)}'")
    found = {}
    for name in variables:
        low, high = (Fraction(int(end.numerator), int(end.denominator)) for end in spans[name])
        if low >= high:
            raise InvalidCaseError("box", f"from {low!s:.60} to {high!s:.60} is not an interval for {name}")
        if max(-low, high) > LARGEST or LARGEST * (high - low) < 1:
            raise InvalidCaseError(
                "box",
                f"ends are at most {LARGEST:.0e}, and its length is at least the inverse: floats show it",
            )
        found[name] = (fmpq(low.numerator, low.denominator), fmpq(high.numerator, high.denominator))
    return found

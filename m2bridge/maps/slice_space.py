"""The space of dimension 3 by which a closure is cut, and a box in it.

A slice is the part of the closure in the space. On the space every coordinate of the closure is a
polynomial of degree ≤ 1 in three variables; some of them are coordinates themselves. What does not
define such a space, or a box, is an InvalidCaseError.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Rational

from flint import fmpq
from sympy import Expr, SympifyError, sympify
from sympy.polys.rings import PolyElement

from m2bridge.algebra.field import QQ
from m2bridge.algebra.numbers import flint_rational, fraction
from m2bridge.algebra.polynomial_map import substitute
from m2bridge.algebra.ring import PolynomialRing, first_names, total_degree
from m2bridge.errors import ConversionError, InvalidCaseError, check_kind, class_with_article
from m2bridge.maps.model import Model, WithoutRealWeights

MAX_INTERVAL_END = 10**100
"""The largest end of an interval; its length is at least the inverse, so that floats suffice."""

Span = tuple[Rational | int, Rational | int]
"""The ends of an interval."""
Values = Mapping[str, Expr | Rational | int]
"""The values of some coordinates: numbers, or expressions in the variables of a slice."""


@dataclass(frozen=True, slots=True)
class SliceSpace:
    """An affine-linear space of dimension 3 among the points of a closure, and a box in it."""

    ring: PolynomialRing  # of polynomials in the three variables, over QQ
    forms: Mapping[str, PolyElement]  # every coordinate of the closure, in their order
    box: Mapping[str, tuple[fmpq, fmpq]]  # the interval of each variable

    @classmethod
    def of(cls, names: Sequence[str], values: Values, box: Mapping[str, Span] | Span) -> SliceSpace:
        """Return the space in which some coordinates have given values; one without a value is a
        variable of its own name. One interval is for all three variables.
        """
        variables = _slice_variables(names, values)
        ring = PolynomialRing(QQ, variables)
        forms = {name: _coordinate_form(name, values.get(name), ring) for name in names}
        intervals = box if isinstance(box, Mapping) else dict.fromkeys(variables, box)
        missing_or_unknown = set(intervals) ^ set(variables)
        if missing_or_unknown:
            first = min(map(str, missing_or_unknown))
            reason = f"has one interval for each of {', '.join(variables)}; look at '{first}'"
            raise InvalidCaseError("box", reason)
        ends = {name: _rational_interval(name, intervals[name]) for name in variables}
        return cls(ring, forms, ends)

    def restrict(self, polynomials: Sequence[PolyElement]) -> list[PolyElement]:
        """Return polynomials in the coordinates, but for those that are zero on the space, as
        polynomials in its variables.
        """
        on_the_space = map(self._substitute, polynomials)
        return [polynomial for polynomial in on_the_space if polynomial != 0]

    def _substitute(self, polynomial: PolyElement) -> PolyElement:
        """Return a polynomial in the coordinates as a polynomial in the variables of the space."""
        return substitute(polynomial, list(self.forms.values()))

    def criterion(self, model: Model) -> WithoutRealWeights | None:
        """Return the criterion of a model for points without real weights, on the space, if it has
        one.
        """
        criterion = model.without_real_weights()
        if criterion is None:
            return None
        zero = tuple(self.restrict(criterion.zero))
        return WithoutRealWeights(
            zero=zero, positive=self._substitute(criterion.positive), reason=criterion.reason
        )


def _slice_variables(names: Sequence[str], values: Values) -> tuple[str, ...]:
    """Return the three variables of a slice: the symbols in values, then coordinates
    without value.
    """
    check_kind("coordinates", values, Mapping, "a dictionary of values by coordinates")
    variables: dict[str, None] = {}  # a set whose elements keep their order
    for name, value in values.items():
        if not isinstance(name, str):  # such as a symbol of SymPy
            kind = class_with_article(type(name))
            reason = f"a coordinate is named by text, one of {first_names(names)}, not by {kind}"
            raise InvalidCaseError("coordinates", reason)
        if name not in names:
            reason = f"'{name:.60}' is not a coordinate: they are {first_names(names)}"
            raise InvalidCaseError("coordinates", reason)
        try:
            symbols = sympify(value, strict=True).free_symbols
        except SympifyError:  # text too, which SymPy would run as a program
            reason = f"{name}: {value!r:.60} is neither a number nor an expression"
            raise InvalidCaseError("coordinates", reason) from None
        variables |= dict.fromkeys(sorted(map(str, symbols)))
    for name in variables:
        if name in names:
            reason = f"'{name}' is a coordinate: give the variable another name"
            raise InvalidCaseError("coordinates", reason)
    variables |= dict.fromkeys(name for name in names if name not in values)
    if len(variables) != 3:
        reason = f"leave {len(variables)} variables, and a surface is in three"
        raise InvalidCaseError("coordinates", f"{reason}: {first_names(tuple(variables))}")
    return tuple(variables)


def _coordinate_form(
    name: str, value: Expr | Rational | int | None, ring: PolynomialRing
) -> PolyElement:
    """Return the value of a coordinate, or the variable of its name, as a polynomial of degree at
    most 1.
    """
    if value is None:
        return ring.sympy_ring.gens[ring.variables.index(name)]
    try:
        form = ring.polynomial(value)
    except ConversionError as reason:
        raise InvalidCaseError("coordinates", f"{name}: {reason}") from None
    if total_degree(form) > 1:
        raise InvalidCaseError("coordinates", f"{name}: '{value}' is not of degree at most 1")
    return form


def _rational_interval(name: str, interval: Span) -> tuple[fmpq, fmpq]:
    """Return the two ends of the interval of a variable, which are exact, and which floats can
    represent with the length.
    """
    try:
        low, high = map(fraction, interval)
    except (TypeError, ValueError, AttributeError):  # such as 1, (1,) and (0.5, 1)
        reason = f"{interval!r:.60} is not an interval for {name}: give two integers or fractions"
        raise InvalidCaseError("box", reason) from None
    if low >= high:
        reason = f"from {low!s:.60} to {high!s:.60} is not an interval for {name}"
        raise InvalidCaseError("box", reason)
    # since low < high, this maximum is the larger absolute value of the two ends
    too_far_out = max(-low, high) > MAX_INTERVAL_END
    too_short = MAX_INTERVAL_END * (high - low) < 1
    if too_far_out or too_short:
        reason = f"ends are at most {MAX_INTERVAL_END:.0e}, and its length is at least the inverse"
        raise InvalidCaseError("box", f"{reason}: floats show it")
    return flint_rational(low), flint_rational(high)

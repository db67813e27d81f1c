"""Numbers that a layer, or the value matrix M, adds to a dimension: piecewise polynomials on sets of integers (isl).

A dimension of a network is a sum: a number for M, and one for each layer. The variables are those of the *end*

    n = d_0, s = the least of all widths, e = d_l, h = the number of hidden widths,

and those of a *layer* k

    n = d_0, r = r_k, s = s_{k+1}, x = α_k, p = how many earlier layers have α = 1, k, t.

Source: Verdoolaege, *isl: An Integer Set Library for the Polyhedral Model*, ICMS 2010.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import islpy as isl

from m2bridge.errors import ContradictionError

Pieces = Sequence[tuple[str, str]]
"""Conditions, which exclude each other, and numbers, in the language of isl."""
Point = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """A piecewise polynomial; isl takes it to be 0 outside of the domain.

    Parameters
    ----------
    domain : set of points
    polynomial : PwQPolynomial
    known : dict
        Values that were computed.
    """

    domain: isl.Set
    polynomial: isl.PwQPolynomial
    known: dict[Point, int] = field(default_factory=dict, compare=False)

    def __call__(self, at: Point) -> int:
        """The value at a point.

        Raises
        ------
        ContradictionError
            If it is not in the domain.
        """
        if at not in self.known:
            point = isl.Point.zero(self.domain.get_space())
            for place, number in enumerate(at):
                point = point.set_coordinate_val(isl.dim_type.set, place, isl.Val(number))
            if not isl.Set.from_point(point).is_subset(self.domain):
                raise ContradictionError(f"no number is given for {at}")
            self.known[at] = int(self.polynomial.eval(point).to_python())
        return self.known[at]

    def equals(self, other: Function, where: isl.Set) -> bool:
        """Whether both are defined, and the same polynomials, on this set; ``False`` says nothing."""
        if not (where.is_subset(self.domain) and where.is_subset(other.domain)):
            return False
        first, second = self.polynomial, other.polynomial
        pieces = (piece for piece, _ in first.sub(second).intersect_domain(where).get_pieces())
        parts = (isl.Set.from_basic_set(part) for piece in pieces for part in piece.make_disjoint().get_basic_sets())
        return all(first.intersect_domain(part).sub(second.intersect_domain(part)).is_zero() for part in parts)


@dataclass(frozen=True, slots=True)
class Space:
    """Variables, and which of their values occur."""

    names: str
    condition: str

    def where(self, condition: str = "") -> isl.Set:
        """All values that occur and satisfy a condition."""
        return isl.Set(f"{{ [{self.names}] : {self.condition}{f' and ({condition})' if condition else ''} }}")

    def function(self, pieces: Pieces) -> Function:
        """A function on the values that occur and satisfy one of the conditions.

        Raises
        ------
        ContradictionError
            If two of the conditions are satisfied somewhere.
        """
        domain, listed = self.where("1 = 0"), []
        for condition, number in pieces:
            piece = self.where(condition)
            if not domain.is_disjoint(piece):
                raise ContradictionError(f"two numbers are given where {condition}")
            domain = domain.union(piece)
            listed.append(f"[{self.names}] -> {number} : {condition or '1 = 1'}")
        return Function(domain, isl.PwQPolynomial(f"{{ {'; '.join(listed)} }}").intersect_domain(domain))


END = Space("n, s, e, h", "1 <= s <= n and s <= e and 0 <= h and (h >= 1 or s = n or s = e)")
LAYER = Space("n, r, s, x, p, k, t", "1 <= s <= r <= n and 1 <= x <= r and 0 <= p < k and 1 <= t and (k >= 2 or r = n)")

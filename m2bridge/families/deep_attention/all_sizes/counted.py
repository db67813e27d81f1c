"""Numbers that a layer, or the value matrix M, adds to a dimension: piecewise polynomials on sets of integers (isl).

A dimension of a network is a sum: a number for M, and one for each layer. The variables are those of the *end*

    n = d_0, s = the least of all widths, e = d_l, h = the number of hidden widths,

and those of a *layer* k

    n = d_0, r = r_k, s = s_{k+1}, x = α_k, p = how many earlier layers have α = 1, k, t.

Source: Verdoolaege, *isl: An Integer Set Library for the Polyhedral Model*, ICMS 2010.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import islpy as isl

from m2bridge.errors import ContradictionError
from m2bridge.families.deep_attention.model import DeepAttention

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


FREE, FILLED = "s + 2*x <= r", "s + 2*x > r"
SEEN = "t >= 2 and p = 0"
"""Where all of an attention matrix of lightning attention matters, and not its symmetric part only."""

MATRICES: Pieces = (
    (FREE, "n^2 - (n - x)^2"),
    (FILLED, "(r - s)*(n - r) + r^2 - (r - x)^2"),
)
FORMS: Pieces = (
    (FREE, "1/2 * (n*(n + 1) - (n - 2*x)*(n - 2*x + 1))"),
    (f"{FILLED} and 2*x <= r", "(r - s)*(n - r) + 1/2 * (r*(r + 1) - (r - 2*x)*(r - 2*x + 1))"),
    (f"{FILLED} and 2*x > r", "(r - s)*(n - r) + 1/2 * r*(r + 1)"),
)
"""Quadratic forms of rank at most 2x."""


def _less(pieces: Pieces, condition: str, scalings: int) -> Iterator[tuple[str, str]]:
    for where, number in pieces:
        yield f"({where}) and {condition}", f"{number} - {scalings}"


LAYERS: Mapping[str, Pieces] = {
    "virtual_weights": MATRICES,
    "lightning": (*_less(MATRICES, f"({SEEN})", 1), *_less(FORMS, f"not ({SEEN})", 1)),
    "softmax": (*_less(MATRICES, "t >= 2", 0), ("t = 1", "0")),
}
"""By what is counted: virtual weights, or functions of lightning or softmax attention."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What M and a layer add to a dimension."""

    end: Function
    layer: Function


@cache
def counted(what: str) -> Counted:
    """By the names in :data:`LAYERS`: subspaces of dimension s and maps on them, and the layers."""
    return Counted(END.function([("", "s*(n - s) + s*e")]), LAYER.function(LAYERS[what]))


@cache
def spans() -> Function:
    """The dimension of the subspace with this layer, from that of the one behind it."""
    return LAYER.function([(FREE, "s + 2*x"), (FILLED, "r")])


@dataclass(frozen=True, slots=True)
class Path:
    """The variables of a network: of its end, and of its layers from the last to the first."""

    end: Point
    layers: tuple[Point, ...]

    @classmethod
    def of(cls, network: DeepAttention) -> Path:
        """Those of a network with one head and without skip connections."""
        d, span, layers = network.widths, min(network.widths), []
        alphas = [min(a, *d[:k]) for k, a in enumerate(network.a, 1)]
        for k in range(network.layers, 0, -1):
            layers.append((d[0], min(d[:k]), span, alphas[k - 1], alphas[: k - 1].count(1), k, network.t))
            span = spans()(layers[-1])
        return cls((d[0], min(d), d[-1], network.layers - 1), tuple(layers))

    def total(self, end: Function, layer: Function) -> int:
        """The sum of what the end and all layers add."""
        return end(self.end) + sum(map(layer, self.layers))

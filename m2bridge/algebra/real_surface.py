"""The real points of a surface f = 0 in a box, cut into cells by a cylindrical algebraic decomposition.

A cell lies over a cell of the plane, which lies over an interval of the line; on each the number of roots over it is
constant, so that a cell is the graph of one root, and it is drawn as a grid of points. Only cells of full dimension are
listed: the others are in their closures, or are vertical lines.

Source: Collins (1975); for cells of full dimension the projection of Brown, J. Symbolic Comput. 32 (2001), is enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from flint import ctx, fmpq, fmpq_mpoly

from m2bridge.algebra.real_roots import (
    PRECISION,
    Box,
    Interval,
    as_float,
    boundaries,
    degree_in,
    factors,
    fractions_between,
    leading_coefficient,
    middle,
    names_of,
    nodes,
    pieces,
    rational_roots,
    real_roots,
)
from m2bridge.clock import watched
from m2bridge.errors import ContradictionError

Point = tuple[float, ...]

TRIED = 12
"""Fractions for x, and a quarter of them for y, among which a rational point is looked for."""


@dataclass(frozen=True, slots=True)
class Patch:
    """One cell of a real surface.

    Parameters
    ----------
    points : tuple of tuple of tuple of float
        A grid of points of the cell, in the order of the variables.
    sample : mapping from variable to number
        A point of the cell: rational numbers, and a ball of FLINT that contains an exact real root.
    rational : mapping from variable to rational, or None
        A rational point of the cell, where one was found.
    """

    points: tuple[tuple[Point, ...], ...]
    sample: Mapping[str, Any]
    rational: Mapping[str, fmpq] | None


def patches(surface: fmpq_mpoly, box: Box, cuts: Sequence[fmpq_mpoly], fineness: int) -> tuple[Patch, ...]:
    """The cells of an irreducible surface in an open box; on each the sign of every polynomial in ``cuts`` is constant.

    Cuts that vanish on the surface do not cut it.

    Parameters
    ----------
    fineness : int
        About how many points there are along the box.
    """
    with ctx.workprec(PRECISION):
        return tuple(_Decomposition.of(surface, box, cuts, fineness).patches())


@dataclass(frozen=True, slots=True)
class _Decomposition:
    """Of a surface, in variables x, y, z: z is the one over the plane."""

    surface: fmpq_mpoly
    box: Box
    x: str
    y: str
    z: str
    curves: list[fmpq_mpoly]
    fineness: int

    @classmethod
    def of(cls, surface: fmpq_mpoly, box: Box, cuts: Sequence[fmpq_mpoly], fineness: int) -> _Decomposition:
        x, y, z = _order(surface)
        crossings = [surface.resultant(cut, z) for cut in cuts]
        curves = factors([*boundaries(surface, z, box[z]), *crossings])
        return cls(surface, box, x, y, z, curves, fineness)

    def patches(self) -> Iterator[Patch]:
        for span in watched(pieces(factors(self._critical()), self.x, self.box[self.x])):
            yield from self._over(span)

    def _critical(self) -> list[fmpq_mpoly]:
        """Polynomials in x whose roots are where the curves of the plane cross, turn, or leave the box."""
        own = [b for curve in self.curves for b in boundaries(curve, self.y, self.box[self.y])]
        return own + [p.resultant(q, self.y) for p, q in watched(combinations(self.curves, 2)) if _both(p, q, self.y)]

    def _over(self, span: Interval) -> Iterator[Patch]:
        """The cells over an interval of x; over each node they are the same in number."""
        columns = [self._column(x) for x in watched(self._nodes(self.x, span))]
        count = _same(map(len, columns))
        for strip in range(count):
            roots = _same(len(points) for column in columns for points in column[strip])
            for root in range(roots):
                grid = tuple(tuple(points[root] for points in column[strip]) for column in columns)
                yield Patch(grid, *self._samples(span, strip, root))

    def _column(self, x: fmpq) -> list[list[list[Point]]]:
        """For each interval of y the nodes, and the points over each."""
        restricted = self.surface.subs({self.x: x})
        return [
            [
                [self._point(x, y, z) for z in self._roots(restricted.subs({self.y: y}))]
                for y in self._nodes(self.y, span, least=5)
            ]
            for span in self._strips(x)
        ]

    def _strips(self, x: fmpq) -> list[Interval]:
        return pieces((curve.subs({self.x: x}) for curve in self.curves), self.y, self.box[self.y])

    def _nodes(self, variable: str, span: Interval, least: int = 7) -> list[fmpq]:
        """Along y their number must not depend on x, where the interval may shrink to a point."""
        low, high = self.box[variable]
        part = 0.5 if variable == self.y else as_float((span[1] - span[0]) / (high - low))
        return nodes(span, max(least, round(self.fineness * part)))

    def _roots(self, polynomial: fmpq_mpoly) -> list[Any]:
        return real_roots(polynomial, self.z, self.box[self.z])

    def _point(self, x: fmpq, y: fmpq, z: Any) -> Point:
        places = {self.x: x, self.y: y, self.z: z}
        return tuple(as_float(places[name]) for name in names_of(self.surface))

    def _samples(self, span: Interval, strip: int, root: int) -> tuple[Mapping[str, Any], Mapping[str, fmpq] | None]:
        x = middle(span)
        y = middle(self._strips(x)[strip])
        over = self.surface.subs({self.x: x, self.y: y})
        return {self.x: x, self.y: y, self.z: self._roots(over)[root]}, self._rational(span, strip, root)

    def _rational(self, span: Interval, strip: int, root: int) -> Mapping[str, fmpq] | None:
        """A rational point of the cell among a few candidates."""
        for x in watched(fractions_between(span, TRIED)):
            for y in fractions_between(self._strips(x)[strip], TRIED // 4):
                over = self.surface.subs({self.x: x, self.y: y})
                for z in rational_roots(over, self.z, self.box[self.z]):
                    if self._roots(over)[root].contains(z):
                        return {self.x: x, self.y: y, self.z: z}
        return None


def _order(surface: fmpq_mpoly) -> tuple[str, str, str]:
    """Last the variable in which the surface is a graph, or nearly: a constant leading coefficient, a small degree."""

    def price(name: str) -> tuple[bool, bool, int]:
        degree = degree_in(surface, name)
        return degree == 0, not leading_coefficient(surface, name).is_constant(), degree

    names = names_of(surface)
    last = min(names, key=price)
    first, second = (name for name in names if name != last)
    return first, second, last


def _both(p: fmpq_mpoly, q: fmpq_mpoly, variable: str) -> bool:
    return degree_in(p, variable) > 0 and degree_in(q, variable) > 0


def _same(counts: Iterator[int]) -> int:
    """A number that a decomposition keeps constant."""
    seen = set(counts)
    if len(seen) != 1:
        raise ContradictionError(f"the number of real roots over a cell is not constant: {sorted(seen)}")
    return seen.pop()

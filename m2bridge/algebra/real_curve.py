"""The real points of curves and points in a box of space, given by prime ideals over QQ.

A curve is looked at over one coordinate u that is not constant on it. The other coordinates are roots of the generators
of its plane projections, which are elimination ideals; those combinations of roots belong to the curve at which all
generators of its ideal vanish. Between the roots of the discriminants of the projections branches do not cross.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from flint import arb, ctx, fmpq, fmpq_mpoly
from sympy import groebner
from sympy.polys.orderings import lex
from sympy.polys.rings import PolyElement

from m2bridge.algebra.real_roots import (
    PRECISION,
    Box,
    Interval,
    as_float,
    ball,
    boundaries,
    factors,
    fractions_between,
    middle,
    nodes,
    pieces,
    rational_roots,
    real_roots,
    to_flint,
)
from m2bridge.algebra.ring import Ideal
from m2bridge.clock import watched
from m2bridge.errors import ContradictionError

TRIED = 12
"""Fractions among which a rational point of a branch is looked for."""

Spot = Mapping[str, Any]
"""A point: for each variable a rational number, or a ball of FLINT that contains it."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A part of a real curve, or a point, on which no sign changes.

    Parameters
    ----------
    points : tuple of tuple of float
        In the order of the variables; only one for a point.
    sample : mapping from variable to number
        A point of it: rational numbers, and balls of FLINT that contain exact real roots.
    rational : mapping from variable to rational, or None
        A rational point of it, where one was found.
    """

    points: tuple[tuple[float, ...], ...]
    sample: Spot
    rational: Mapping[str, fmpq] | None


def branches(prime: Ideal, box: Box, cuts: Sequence[PolyElement], fineness: int) -> tuple[Branch, ...]:
    """The real branches of a curve, or the real points, of a prime ideal of dimension 1 or 0.

    Parameters
    ----------
    cuts
        Polynomials whose signs are constant on each branch; those that vanish on the curve do not cut it.
    fineness : int
        About how many points there are along the box.
    """
    ideal = _Variety(prime)
    base = next((name for name in prime.ring.variables if not ideal.eliminated(name)), None)
    with ctx.workprec(PRECISION):
        if base is None:
            return _isolated(ideal, box)
        return tuple(_over(ideal, base, box, cuts, fineness))


class _Variety:
    """A prime ideal with its elimination ideals."""

    def __init__(self, prime: Ideal) -> None:
        self.prime = prime
        self.names = prime.ring.variables
        self.generators = to_flint(prime.generators)

    def eliminated(self, *kept: str, more: Sequence[PolyElement] = ()) -> list[fmpq_mpoly]:
        """Generators of the elimination ideal in the variables that are kept, of the ideal with ``more``."""
        ring = self.prime.ring.sympy_ring
        gone = [name for name in self.names if name not in kept]
        order = [ring.symbols[self.names.index(name)] for name in (*gone, *kept)]
        basis = groebner([g.as_expr() for g in (*self.prime.generators, *more)], *order, order=lex)
        inside = [g for g in basis.exprs if not {str(s) for s in g.free_symbols} & set(gone)]
        return to_flint(ring.from_expr(g) for g in inside)

    def projections(self, base: str | None) -> dict[str, fmpq_mpoly]:
        """For each other variable the equation that holds between it and the base."""
        found = {}
        for name in self.names:
            if name != base:
                (found[name],) = self.eliminated(*filter(None, (base, name)))
        return found

    def points(self, over: Spot, box: Box, projections: Mapping[str, fmpq_mpoly]) -> list[Spot]:
        """The real points of the box over a point of the base, or all of them; in the order of the coordinates."""
        roots = [real_roots(p.subs(dict(over)), name, box[name]) for name, p in projections.items()]
        spots = [{**over, **dict(zip(projections, values, strict=True))} for values in product(*roots)]
        return [spot for spot in spots if all(ball(g, spot).contains(0) for g in self.generators)]

    def rational(self, over: Spot, box: Box, projections: Mapping[str, fmpq_mpoly]) -> list[Mapping[str, fmpq]]:
        """Those points over a rational point of the base that are rational."""
        roots = [rational_roots(p.subs(dict(over)), name, box[name]) for name, p in projections.items()]
        spots = [{**over, **dict(zip(projections, values, strict=True))} for values in product(*roots)]
        return [spot for spot in spots if all(g(*(spot[name] for name in self.names)) == 0 for g in self.generators)]


def _over(ideal: _Variety, base: str, box: Box, cuts: Sequence[PolyElement], fineness: int) -> list[Branch]:
    projections = ideal.projections(base)
    critical = [b for name, p in projections.items() for b in boundaries(p, name, box[name])]
    critical += [g for cut in cuts for g in ideal.eliminated(base, more=[cut])]
    found = []
    for span in watched(pieces(factors(critical), base, box[base])):
        part = as_float((span[1] - span[0]) / (box[base][1] - box[base][0]))
        places = nodes(span, max(5, round(2 * fineness * part)))
        tracks = [ideal.points({base: place}, box, projections) for place in watched(places)]
        sample = ideal.points({base: middle(span)}, box, projections)
        if len({len(track) for track in (*tracks, sample)}) != 1:
            raise ContradictionError("the number of real points over an interval is not constant on a curve")
        exact = _rational_points(ideal, base, span, box, projections, sample)
        for number, spot in enumerate(sample):
            line = tuple(_point(track[number], ideal.names) for track in tracks)
            found.append(Branch(line, spot, exact.get(number)))
    return found


def _rational_points(
    ideal: _Variety,
    base: str,
    span: Interval,
    box: Box,
    projections: Mapping[str, fmpq_mpoly],
    sample: list[Spot],
) -> dict[int, Mapping[str, fmpq]]:
    """For branches, by number, a rational point among those over a few fractions."""
    found: dict[int, Mapping[str, fmpq]] = {}
    for place in watched(fractions_between(span, TRIED)):
        spots = ideal.points({base: place}, box, projections)
        for exact in ideal.rational({base: place}, box, projections):
            found.setdefault(_number(exact, spots), exact)
        if len(found) == len(sample):
            break
    return found


def _number(exact: Mapping[str, fmpq], spots: Sequence[Spot]) -> int:
    """Which of the points a rational one is."""
    return next(n for n, spot in enumerate(spots) if all(arb(spot[name]).contains(v) for name, v in exact.items()))


def _isolated(ideal: _Variety, box: Box) -> tuple[Branch, ...]:
    projections = ideal.projections(None)
    spots = ideal.points({}, box, projections)
    exact = {_number(point, spots): point for point in ideal.rational({}, box, projections)}
    return tuple(Branch((_point(spot, ideal.names),), spot, exact.get(n)) for n, spot in enumerate(spots))


def _point(spot: Spot, names: Sequence[str]) -> tuple[float, ...]:
    return tuple(as_float(spot[name]) for name in names)

"""Real curves and surfaces in a box: real roots, isolated exactly, and the pieces that they
bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from math import cos, pi, prod
from typing import Any

from flint import Ordering, arb, ctx, fmpq, fmpq_mpoly, fmpq_mpoly_ctx, fmpq_poly
from sympy import groebner
from sympy.polys.orderings import lex
from sympy.polys.rings import PolyElement

from m2bridge.algebra.numbers import flint_rational
from m2bridge.algebra.ring import GeneratingSet
from m2bridge.errors import ContradictionError
from m2bridge.limits import watched

Interval = tuple[fmpq, fmpq]
Box = Mapping[str, Interval]
"""For each variable the open interval that is looked at."""

PRECISION = 128
"""Bits of roots; intervals between them may be as small as a power of :data:`CLOSE`."""
LARGEST_DENOMINATOR = 200
CLOSE = fmpq(1, 10**7)
"""How far the first and the last node are from the ends of an interval, of its length."""


def to_flint(polynomials: Iterable[PolyElement]) -> list[fmpq_mpoly]:
    """SymPy's polynomials over QQ as FLINT's, in the same variables."""
    listed = list(polynomials)
    if not listed:
        return []
    names = tuple(str(symbol) for symbol in listed[0].ring.symbols)
    context = fmpq_mpoly_ctx.get(names, Ordering.lex)
    return [
        context.from_dict({monomial: flint_rational(c) for monomial, c in p.items()})
        for p in listed
    ]


def degree_in(polynomial: fmpq_mpoly, variable: str) -> int:
    """Return the degree in one variable; 0 for the zero polynomial."""
    return max(0, int(polynomial.degrees()[_names(polynomial).index(variable)]))


def _names(polynomial: fmpq_mpoly) -> tuple[str, ...]:
    """The variables of its ring."""
    return tuple(polynomial.context().names())


def leading_coefficient(polynomial: fmpq_mpoly, variable: str) -> fmpq_mpoly:
    """The coefficient of the highest power of a variable."""
    place, degree = _names(polynomial).index(variable), degree_in(polynomial, variable)
    kept = {
        (*monomial[:place], 0, *monomial[place + 1 :]): coefficient
        for monomial, coefficient in polynomial.to_dict().items()
        if monomial[place] == degree
    }
    return polynomial.context().from_dict(kept)


def factors(polynomials: Iterable[fmpq_mpoly]) -> list[fmpq_mpoly]:
    """The different irreducible factors of those that are not zero."""
    irreducible: dict[str, fmpq_mpoly] = {}
    for polynomial in watched(polynomials):
        if not polynomial.is_zero():
            irreducible |= {str(factor): factor for factor, _ in polynomial.factor()[1]}
    return list(irreducible.values())


def boundaries(polynomial: fmpq_mpoly, variable: str, interval: Interval) -> list[fmpq_mpoly]:
    """Return polynomials without the variable, which vanish where the real roots in the interval
    may change.

    They may change in number or in order. The polynomials are the leading coefficient, the
    discriminant, and the values at both ends. Source: Brown, *Improved projection for cylindrical
    algebraic decomposition*, J. Symbolic Comput. 32 (2001).
    """
    degree = degree_in(polynomial, variable)
    if degree == 0:
        return [polynomial]
    discriminant = [polynomial.discriminant(variable)] if degree > 1 else []
    ends = [polynomial.subs({variable: end}) for end in interval]
    return [leading_coefficient(polynomial, variable), *discriminant, *ends]


def real_roots(
    polynomial: fmpq_mpoly, variable: str, interval: Interval, *, exact: bool = False
) -> list[Any]:
    """The different real roots in an open interval, in increasing order, of a polynomial in one
    variable alone.

    They are balls of FLINT; if ``exact``, rational ones are rational numbers.
    """
    univariate = _univariate(polynomial, variable)
    if univariate.degree() < 1:
        return []
    roots = [root.real for root, _ in univariate.numer().complex_roots() if root.imag == 0]
    low, high = map(arb, interval)
    inside = sorted((root for root in roots if low < root < high), key=lambda root: root.mid())
    rational = [root for root, _ in univariate.roots()] if exact else []
    return [next((number for number in rational if root.contains(number)), root) for root in inside]


def _univariate(polynomial: fmpq_mpoly, variable: str) -> fmpq_poly:
    place = _names(polynomial).index(variable)
    coefficients = {
        monomial[place]: coefficient for monomial, coefficient in polynomial.to_dict().items()
    }
    return fmpq_poly(
        [coefficients.get(power, 0) for power in range(max(coefficients, default=0) + 1)]
    )


def pieces(polynomials: Iterable[fmpq_mpoly], variable: str, interval: Interval) -> list[Interval]:
    """The open intervals between the real roots of polynomials in one variable, which are rounded
    to their precision.

    The polynomials are irreducible, so that no two roots are the same.
    """
    roots = sorted(
        near(root) for p in watched(polynomials) for root in real_roots(p, variable, interval)
    )
    return list(pairwise(dict.fromkeys([interval[0], *roots, interval[1]])))


def nodes(interval: Interval, count: int) -> list[fmpq]:
    """Places in an open interval, denser at its ends, where roots move fast."""
    low, high = interval
    inner = [near(arb((1 - cos(pi * k / (count - 1))) / 2)) for k in range(1, count - 1)]
    return [low + (high - low) * part for part in (CLOSE, *inner, 1 - CLOSE)]


def middle(interval: Interval) -> fmpq:
    """A rational number in the middle third of an interval, with a small denominator if there is
    one.
    """
    low, high = interval
    return fractions_between((low + (high - low) / 3, high - (high - low) / 3), 1)[0]


def fractions_between(interval: Interval, count: int) -> list[fmpq]:
    """Rational numbers in an open interval, with small denominators as far as there are enough of
    them.

    They keep away from its ends, which may be rounded.
    """
    away = (interval[1] - interval[0]) / 100
    low, high = interval[0] + away, interval[1] - away
    fractions: list[fmpq] = []
    for denominator in range(1, LARGEST_DENOMINATOR + 1):
        first, last = (low * denominator).floor(), (high * denominator).ceil()
        candidates = (
            fmpq(numerator, denominator) for numerator in range(int(first), int(last) + 1)
        )
        fractions += [c for c in candidates if low < c < high and c.q == denominator]
        if len(fractions) >= count:
            return fractions[:count]
    return [low + (high - low) * fmpq(2 * k + 1, 2 * count) for k in range(count)]


def near(number: arb) -> fmpq:
    """The middle of a ball."""
    mantissa, exponent = number.mid().man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(exponent)


def as_float(number: Any) -> float:
    """The nearest floating-point number."""
    return float(number.mid()) if isinstance(number, arb) else int(number.p) / int(number.q)


def ball(polynomial: fmpq_mpoly, values: Mapping[str, Any]) -> arb:
    """Return the value at a point that is known up to balls."""
    point = [arb(values[name]) for name in _names(polynomial)]
    terms = (
        prod(
            (value**e for value, e in zip(point, monomial, strict=True) if e),
            start=arb(coefficient),
        )
        for monomial, coefficient in polynomial.to_dict().items()
    )
    return sum(terms, arb(0))


TRIED = 12
"""Fractions among which a rational point of a branch is looked for."""

Point = tuple[float, ...]
Spot = Mapping[str, Any]
"""A point: for each variable a rational number, or a ball of FLINT that contains it."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A part of a real surface or curve, or a point, on which no sign changes.

    Parameters
    ----------
    points : tuple of tuple of points
        A grid on a surface; one line on a curve; a point alone in its line. Coordinates are in the
        order of variables.
    sample : mapping from variable to number
        A point of it: rational numbers, and balls of FLINT that contain exact real roots.
    rational : mapping from variable to rational, or None
        A rational point of it, where one was found.
    """

    points: tuple[tuple[Point, ...], ...]
    sample: Spot
    rational: Mapping[str, fmpq] | None


def branches(
    prime: GeneratingSet, box: Box, cuts: Sequence[PolyElement], fineness: int
) -> tuple[Cell, ...]:
    """The real branches of a curve, or the real points, of a prime ideal of dimension 1 or 0.

    Parameters
    ----------
    cuts
        Polynomials whose signs are constant on each branch; those that vanish on the curve do not
        cut it.
    fineness : int
        About how many points there are along the box.
    """
    with ctx.workprec(PRECISION):
        return tuple(_Branches(prime, box).cells(cuts, fineness))


class _Branches:
    """The real points of a prime ideal in a box: over the line of one variable, or finitely
    many.
    """

    def __init__(self, prime: GeneratingSet, box: Box) -> None:
        self.prime, self.box, self.names = prime, box, prime.ring.variables
        self.generators = to_flint(prime.generators)
        self.base = next(((name,) for name in self.names if not self.eliminated(name)), ())
        # the equation between each other variable and the base
        self.projections: dict[str, fmpq_mpoly] = {}
        for name in self.names:
            if name not in self.base:
                (self.projections[name],) = self.eliminated(*self.base, name)

    def eliminated(self, *kept: str, more: Sequence[PolyElement] = ()) -> list[fmpq_mpoly]:
        """Generators of the elimination ideal in the variables that are kept, of the ideal with
        ``more``.
        """
        ring = self.prime.ring.sympy_ring
        gone = [name for name in self.names if name not in kept]
        order = [ring.symbols[self.names.index(name)] for name in (*gone, *kept)]
        basis = groebner([g.as_expr() for g in (*self.prime.generators, *more)], *order, order=lex)
        inside = [g for g in basis.exprs if not {str(s) for s in g.free_symbols} & set(gone)]
        return to_flint(ring.from_expr(g) for g in inside)

    def points(self, over: Spot, *, exact: bool = False) -> list[Spot]:
        """Return the real points over a point of the base, in the order of the coordinates."""
        projections = self.projections.items()
        roots = [
            real_roots(p.subs(dict(over)), name, self.box[name], exact=exact)
            for name, p in projections
        ]
        spots = (
            {**over, **dict(zip(self.projections, values, strict=True))}
            for values in product(*roots)
        )
        return [spot for spot in spots if all(ball(g, spot).contains(0) for g in self.generators)]

    def rational(self, spot: Spot) -> Spot | None:
        """Return a point if its coordinates are rational, and it is exactly on the variety."""
        numbers = [spot[name] for name in self.names]
        is_rational = all(isinstance(number, fmpq) for number in numbers)
        return spot if is_rational and all(g(*numbers) == 0 for g in self.generators) else None

    def cells(self, cuts: Sequence[PolyElement], fineness: int) -> Iterator[Cell]:
        if not self.base:
            for spot in self.points({}, exact=True):
                yield Cell(((_point(spot, self.names),),), spot, self.rational(spot))
            return
        (base,) = self.base
        critical = [
            b for name, p in self.projections.items() for b in boundaries(p, name, self.box[name])
        ]
        critical += [g for cut in cuts for g in self.eliminated(base, more=[cut])]
        for span in watched(pieces(factors(critical), base, self.box[base])):
            part = as_float((span[1] - span[0]) / (self.box[base][1] - self.box[base][0]))
            places = nodes(span, max(5, round(2 * fineness * part)))
            tracks = [self.points({base: place}) for place in watched(places)]
            sample = self.points({base: middle(span)})
            _same(map(len, (*tracks, sample)))
            exact = self._rational_on(base, span, len(sample))
            for number, spot in enumerate(sample):
                yield Cell(
                    (tuple(_point(track[number], self.names) for track in tracks),),
                    spot,
                    exact.get(number),
                )

    def _rational_on(self, base: str, span: Interval, count: int) -> dict[int, Spot]:
        """A rational point of each branch, by number, among those over a few fractions."""
        points: dict[int, Spot] = {}
        for place in watched(fractions_between(span, TRIED)):
            spots = enumerate(self.points({base: place}, exact=True))
            points = {
                n: rational for n, spot in spots if (rational := self.rational(spot))
            } | points
            if len(points) == count:
                break
        return points


def _point(spot: Spot, names: Sequence[str]) -> Point:
    return tuple(as_float(spot[name]) for name in names)


def patches(
    surface: fmpq_mpoly, box: Box, cuts: Sequence[fmpq_mpoly], fineness: int
) -> tuple[Cell, ...]:
    """The cells of an irreducible surface in an open box; on each the sign of every polynomial in
    ``cuts`` is constant.

    Cuts that vanish on the surface do not cut it.

    Parameters
    ----------
    fineness : int
        About how many points there are along the box.
    """
    with ctx.workprec(PRECISION):
        return tuple(_Decomposition(surface, box, cuts, fineness).patches())


class _Decomposition:
    """A decomposition of a surface in variables x, y, z: z is the one over the plane."""

    def __init__(
        self, surface: fmpq_mpoly, box: Box, cuts: Sequence[fmpq_mpoly], fineness: int
    ) -> None:
        self.surface, self.box, self.fineness = surface, box, fineness
        self.x, self.y, self.z = _order(surface)
        crossings = [surface.resultant(cut, self.z) for cut in cuts]
        self.curves = factors([*boundaries(surface, self.z, box[self.z]), *crossings])

    def patches(self) -> Iterator[Cell]:
        # Roots of these polynomials in x are where the curves of the plane cross, turn, or leave
        # the box.
        critical = [b for curve in self.curves for b in boundaries(curve, self.y, self.box[self.y])]
        upright = [curve for curve in self.curves if degree_in(curve, self.y) > 0]
        critical += [p.resultant(q, self.y) for p, q in watched(combinations(upright, 2))]
        for span in watched(pieces(factors(critical), self.x, self.box[self.x])):
            yield from self._over(span)

    def _over(self, span: Interval) -> Iterator[Cell]:
        """The cells over an interval of x; over each node they are the same in number."""
        low, high = self.box[self.x]
        part = as_float((span[1] - span[0]) / (high - low))
        columns = [
            self._column(x) for x in watched(nodes(span, max(7, round(self.fineness * part))))
        ]
        inside = middle(span)
        strips, section = self._strips(inside), self.surface.subs({self.x: inside})
        _same(iter([len(strips), *map(len, columns)]))
        for strip, interval in enumerate(strips):
            roots = _same(len(points) for column in columns for points in column[strip])
            for root in range(roots):
                grid = tuple(tuple(points[root] for points in column[strip]) for column in columns)
                sample = self._spots(inside, section, middle(interval))[root]
                yield Cell(grid, sample, self._rational(span, strip, root))

    def _column(self, x: fmpq) -> list[list[list[Point]]]:
        """The nodes in each interval of y, and the points over each.

        The number of nodes must not depend on x, where the interval may shrink to a point.
        """
        names, section, count = (
            _names(self.surface),
            self.surface.subs({self.x: x}),
            max(5, round(self.fineness / 2)),
        )
        return [
            [
                [_point(spot, names) for spot in self._spots(x, section, y)]
                for y in nodes(interval, count)
            ]
            for interval in self._strips(x)
        ]

    def _strips(self, x: fmpq) -> list[Interval]:
        return pieces((curve.subs({self.x: x}) for curve in self.curves), self.y, self.box[self.y])

    def _spots(self, x: fmpq, section: fmpq_mpoly, y: fmpq, *, exact: bool = False) -> list[Spot]:
        """The points over a point of the plane, from the section of the surface at x."""
        heights = real_roots(section.subs({self.y: y}), self.z, self.box[self.z], exact=exact)
        return [{self.x: x, self.y: y, self.z: z} for z in heights]

    def _rational(self, span: Interval, strip: int, root: int) -> Mapping[str, fmpq] | None:
        """A rational point of the cell among a few candidates."""
        for x in watched(fractions_between(span, TRIED)):
            section = self.surface.subs({self.x: x})
            for y in fractions_between(self._strips(x)[strip], TRIED // 4):
                spot = self._spots(x, section, y, exact=True)[root]
                if isinstance(spot[self.z], fmpq):
                    return spot
        return None


def _order(surface: fmpq_mpoly) -> tuple[str, str, str]:
    """The order, last the variable in which the surface is a graph, or nearly: a constant leading
    coefficient.
    """

    def price(name: str) -> tuple[bool, bool, int]:
        degree = degree_in(surface, name)
        return degree == 0, not leading_coefficient(surface, name).is_constant(), degree

    names = _names(surface)
    last = min(names, key=price)
    first, second = (name for name in names if name != last)
    return first, second, last


def _same(counts: Iterator[int]) -> int:
    """The number that a decomposition keeps constant, of real roots or points."""
    seen = set(counts)
    if len(seen) != 1:
        raise ContradictionError(
            f"the number of real roots over a cell is not constant: {sorted(seen)}"
        )
    return seen.pop()
